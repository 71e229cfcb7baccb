// Tensors from nothing but numbers: constants, ranges, nested lists and flat host data.
#include "votive/ops/create.h"

#include <cmath>
#include <cstring>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"
#include "votive/ops/check.h"
#include "votive/ops/literal.h"
#include "votive/ops/ops.h"
#include "votive/ops/views.h"

namespace votive {

namespace {

Meta new_meta(std::string_view op, const Shape& shape, DType dtype, CreateOptions options) {
  if (is_quantised(dtype)) {
    throw Error(ErrorKind::Unsupported, op)
        .detail(text::format("{} is made by quantisation and read from files", to_string(dtype)))
        .dtype(to_string(dtype))
        .accepted("dtypes of single elements");
  }
  checked_count(op, shape, block_bytes(dtype));
  return {.dtype = dtype, .shape = shape, .device = options.device};
}

double as_double(Literal value) {
  switch (value.kind()) {
    case Literal::Kind::floating: return value.as_floating();
    case Literal::Kind::signed_integer: return static_cast<double>(value.as_signed());
    default: return static_cast<double>(value.as_unsigned());
  }
}

}  // namespace

namespace {

Tensor filled(std::string_view op, const Meta& meta, Literal value) { return apply(Fill{meta, literal_bits(op, value, meta.dtype), op}); }

/// The meta of a new tensor like x.
Meta like(std::string_view op, const Tensor& x) {
  const Meta meta = x.meta();
  require_unblocked(op, {"x", 1, meta});
  return new_meta(op, meta.shape, meta.dtype, {.device = meta.device});
}

Tensor with_any_values(const char* op, const Meta& meta) {
  if (meta.dtype == DType::boolean) return apply(Fill{meta, 0, op});  // a bool is 0 or 1, whatever the memory held
  return Tensor::allocate(op, meta);
}

}  // namespace

Tensor full(const Shape& shape, Literal value, DType dtype, CreateOptions options) {
  return filled("full", new_meta("full", shape, dtype, options), value);
}

Tensor zeros(const Shape& shape, DType dtype, CreateOptions options) {
  return apply(Fill{new_meta("zeros", shape, dtype, options), 0, "zeros"});
}

Tensor ones(const Shape& shape, DType dtype, CreateOptions options) { return filled("ones", new_meta("ones", shape, dtype, options), 1); }

Tensor empty(const Shape& shape, DType dtype, CreateOptions options) {
  return with_any_values("empty", new_meta("empty", shape, dtype, options));
}

Tensor zeros_like(const Tensor& x) { return apply(Fill{like("zeros_like", x), 0, "zeros_like"}); }
Tensor ones_like(const Tensor& x) { return filled("ones_like", like("ones_like", x), 1); }
Tensor full_like(const Tensor& x, Literal value) { return filled("full_like", like("full_like", x), value); }
Tensor empty_like(const Tensor& x) { return with_any_values("empty_like", like("empty_like", x)); }

Tensor eye(Size n, Size m, Size offset, DType dtype, CreateOptions options) {
  const Meta meta = new_meta("eye", {n, m}, dtype, options);
  const Layout at = diagonal_of(Layout::contiguous(meta.shape), 0, 1, offset);
  const Tensor one = filled("eye", {.dtype = dtype, .shape = {}, .device = options.device}, 1);
  return apply(Place{"eye", meta.shape, at}, Tensor::view(one, broadcast_layout(one.layout(), at.shape)));
}

Tensor eye(Size n, DType dtype, CreateOptions options) { return eye(n, n, 0, dtype, options); }

namespace {

using Wide = __int128;

Wide as_wide(Literal value) {
  return value.kind() == Literal::Kind::unsigned_integer ? Wide{value.as_unsigned()} : Wide{value.as_signed()};
}

/// A float is rounded to the dtype, and refused where that would make it infinite: the rule of literals, for values that were computed of them.
void require_finite_in(std::string_view op, double value, DType dtype) {
  if (is_floating(dtype) || is_float8(dtype)) literal_bits(op, value, dtype, "Give a wider dtype");
}

[[noreturn]] void refuse_range(std::string detail) { throw Error(ErrorKind::InvalidArgument, "arange").detail(std::move(detail)); }

Size checked_size(std::string_view op, double n) {
  if (n >= 0x1p63) throw Error(ErrorKind::SizeOverflow, op).detail(text::format("{} elements", n));
  return n > 0 ? static_cast<Size>(n) : 0;
}

Tensor arange_of_integers(Wide start, Wide stop, Wide step, DType dtype, CreateOptions options) {
  if (step == 0) refuse_range("step is 0");
  const Wide distance = stop - start;
  Wide n = distance / step + (distance % step != 0 && (distance < 0) == (step < 0) ? 1 : 0);
  if (n < 0) n = 0;
  if (n > INT64_MAX) throw Error(ErrorKind::SizeOverflow, "arange").detail("more than 2^63 - 1 elements");
  Arange op{.meta = new_meta("arange", {static_cast<Size>(n)}, dtype, options), .integer = is_integer(dtype)};
  const Wide last = n == 0 ? start : start + (n - 1) * step;
  if (op.integer) {
    for (const Wide end : {start, last}) {
      const Literal value = end < 0 ? Literal(static_cast<std::int64_t>(end)) : Literal(static_cast<std::uint64_t>(end));
      if (n != 0 && (end < INT64_MIN || !fits(value, dtype))) literal_bits("arange", value, dtype, "Give a wider dtype");
    }
  }
  op.first = static_cast<std::int64_t>(static_cast<std::uint64_t>(start));
  op.integer_step = static_cast<std::int64_t>(static_cast<std::uint64_t>(step));
  op.start = static_cast<double>(start);
  op.step = static_cast<double>(step);
  if (n != 0) {
    require_finite_in("arange", op.start, dtype);
    require_finite_in("arange", static_cast<double>(last), dtype);
  }
  return apply(op);
}

}  // namespace

Tensor arange(Literal start, Literal stop, Literal step, std::optional<DType> dtype, CreateOptions options) {
  const FloatEnvironment environment;
  bool floating = false;
  for (const Literal& value : {start, stop, step}) {
    if (value.kind() == Literal::Kind::boolean) {
      throw Error(ErrorKind::DTypeMismatch, "arange").detail(text::format("{} is a bool and not a number", to_string(value)));
    }
    floating |= value.kind() == Literal::Kind::floating;
  }
  const DType result = dtype.value_or(floating ? DType::f32 : DType::i64);
  if (result == DType::boolean) {
    throw Error(ErrorKind::DTypeMismatch, "arange").detail("bool has no ranges").dtype("bool").accepted("integers and floats");
  }
  if (!floating) return arange_of_integers(as_wide(start), as_wide(stop), as_wide(step), result, options);
  if (is_integer(result)) {
    for (const Literal& value : {start, stop, step}) {
      if (value.kind() == Literal::Kind::floating)
        literal_bits("arange", value, result, "Give integers, or cast the range, e.g. arange(0.0, 1.0, 0.3).to(i32)");
    }
  }
  const double a = as_double(start), b = as_double(stop), s = as_double(step);
  if (s == 0 || !std::isfinite(s)) refuse_range(text::format("step is {}", s));
  if (!std::isfinite(a) || !std::isfinite(b)) refuse_range(text::format("the range from {} to {} is not finite", a, b));
  const Size n = checked_size("arange", std::ceil((b - a) / s));
  if (n != 0) {
    require_finite_in("arange", a, result);
    require_finite_in("arange", std::fma(static_cast<double>(n - 1), s, a), result);
  }
  return apply(Arange{.meta = new_meta("arange", {n}, result, options), .integer = false, .start = a, .step = s});
}

Tensor linspace(double start, double stop, Size n, DType dtype, CreateOptions options) {
  const FloatEnvironment environment;
  if (!is_floating(dtype)) {
    throw Error(ErrorKind::DTypeMismatch, "linspace")
        .detail(to_string(dtype).data())
        .dtype(to_string(dtype))
        .accepted("f16, bf16, f32, f64");
  }
  if (!std::isfinite(start) || !std::isfinite(stop)) {
    throw Error(ErrorKind::InvalidArgument, "linspace").detail(text::format("the range from {} to {} is not finite", start, stop));
  }
  Arange op{.meta = new_meta("linspace", {n}, dtype, options),
            .integer = false,
            .start = start,
            .stop = stop,
            .hit_stop = n > 1,
            .called = "linspace"};
  for (const double end : {start, stop}) require_finite_in("linspace", end, dtype);
  const double distance = stop - start, steps = static_cast<double>(n - 1);
  if (n > 1)
    op.step =
        std::isfinite(distance) ? distance / steps : stop / steps - start / steps;  // ends near ±1e308 are further apart than a double
  return apply(op);
}

Tensor logspace(double start, double stop, Size n, double base, DType dtype, CreateOptions options) {
  const FloatEnvironment environment;
  if (!is_floating(dtype)) {
    throw Error(ErrorKind::DTypeMismatch, "logspace")
        .detail(to_string(dtype).data())
        .dtype(to_string(dtype))
        .accepted("f16, bf16, f32, f64");
  }
  if (!std::isfinite(start) || !std::isfinite(stop) || !(base > 0) || !std::isfinite(base)) {
    throw Error(ErrorKind::InvalidArgument, "logspace")
        .detail(text::format("base {} from {} to {}", base, start, stop))
        .accepted("finite ends, base > 0");
  }
  new_meta("logspace", {n}, DType::f64, options);
  for (const double end : {start, stop}) require_finite_in("logspace", numerics::pow_f64(base, end), dtype);
  const Tensor exponents = linspace(start, stop, n, DType::f64, options);
  return pow(full({}, base, DType::f64, options), exponents).to(dtype);
}

std::vector<Tensor> meshgrid(std::span<const Tensor> x, MeshgridOptions options) {
  constexpr std::string_view op = "meshgrid";
  if (x.size() > static_cast<std::size_t>(max_rank))
    throw Error(ErrorKind::InvalidArgument, op).detail(text::format("{} vectors; there can be {} axes", x.size(), max_rank));
  Shape shape;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::string name = text::format("x[{}]", i);
    const Meta meta = x[i].meta();
    const Argument argument{name, static_cast<int>(i) + 1, meta};
    require_unblocked(op, argument);
    require_rank(op, argument, 0, 1);
    shape.push_back(count(meta.shape));
  }
  const bool exchanged = options.indexing == Indexing::xy && x.size() >= 2;
  if (exchanged) std::swap(shape[0], shape[1]);
  std::vector<Tensor> grids;
  for (int i = 0; i < static_cast<int>(x.size()); ++i) {
    const int axis = exchanged && i < 2 ? 1 - i : i;
    Shape one = Shape::filled(shape.rank(), 1);
    one[axis] = shape[axis];
    grids.push_back(broadcasted_to(op, reshaped_to(op, x[static_cast<std::size_t>(i)], one), shape));
  }
  return grids;
}

std::vector<Tensor> meshgrid(std::initializer_list<Tensor> x, MeshgridOptions options) {
  return meshgrid(std::span(x.begin(), x.size()), options);
}

Meta OneHot::result(const Meta& ids) const {
  const Argument argument{"ids", 1, ids};
  require_index(info.name, argument);
  require_rank(info.name, argument, 0, max_rank - 1);
  if (classes < 0) throw error_about(ErrorKind::InvalidArgument, info.name, {argument}).detail(text::format("{} classes", classes));
  Shape shape = ids.shape;
  shape.push_back(classes);
  return new_meta(info.name, shape, dtype, {.device = ids.device});
}

Tensor one_hot(const Tensor& ids, Size classes, DType dtype) {
  const OneHot op{classes, dtype};
  op.result(ids.meta());
  if (classes == 0 && ids.count() != 0) {  // no element to write, but no id either that could be one
    const Meta meta = ids.meta();
    throw error_about(ErrorKind::IndexOutOfRange, "one_hot", {{"ids", 1, meta}})
        .detail(text::format("ids {} and no classes", describe(meta)));
  }
  return apply(op, ids);
}

namespace {

void measure(const Nested& values, int depth, Shape& shape) {
  if (!values.is_list()) return;
  if (depth == shape.rank()) shape.push_back(static_cast<Size>(values.list().size()));
  if (!values.list().empty()) measure(values.list().front(), depth + 1, shape);
}

void collect(const Nested& values, int depth, const Shape& shape, DType dtype, std::vector<std::uint64_t>& bits) {
  const bool is_leaf = depth == shape.rank();
  if (values.is_list() == is_leaf || (values.is_list() && static_cast<Size>(values.list().size()) != shape[depth])) {
    throw Error(ErrorKind::ShapeMismatch, "tensor")
        .detail(values.is_list() ? text::format("a list of {} at depth {} where {}", values.list().size(), depth,
                                                is_leaf ? std::string("a number was") : text::format("the first has {}", shape[depth]))
                                 : text::format("the number {} at depth {} where the first is a list", to_string(values.value()), depth));
  }
  if (is_leaf) {
    bits.push_back(literal_bits("tensor", values.value(), dtype));
    return;
  }
  for (const Nested& inner : values.list()) collect(inner, depth + 1, shape, dtype, bits);
}

// Both devices of today keep their tensors in host memory; a device that does not gets its bytes here.
Tensor upload(const char* op, const Meta& meta, const std::byte* bytes, std::size_t n) {
  Tensor y = Tensor::allocate(op, meta);
  std::byte* to = y.mutable_buffer() + y.offset() * block_bytes(meta.dtype);
  if (meta.dtype == DType::boolean) {
    for (std::size_t i = 0; i < n; ++i) to[i] = bytes[i] != std::byte{0} ? std::byte{1} : std::byte{0};
  } else if (n != 0) {
    std::memcpy(to, bytes, n);
  }
  return y;
}

}  // namespace

Tensor tensor(const Nested& values, DType dtype, CreateOptions options) try {
  Shape shape;
  measure(values, 0, shape);
  const Meta meta = new_meta("tensor", shape, dtype, options);
  std::vector<std::uint64_t> bits;
  collect(values, 0, shape, dtype, bits);
  const auto width = static_cast<std::size_t>(block_bytes(dtype));
  std::vector<std::byte> bytes(bits.size() * width);
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(bytes.data() + i * width, &bits[i], width);
  return upload("tensor", meta, bytes.data(), bytes.size());
} catch (const std::bad_alloc&) { detail::refuse_memory("tensor"); }

namespace {

template <class T>
bool carries(DType dtype) {
  switch (dtype) {
    case DType::boolean: return std::is_same_v<T, bool> || std::is_same_v<T, std::uint8_t>;
    case DType::u8:
    case DType::e4m3:
    case DType::e5m2: return std::is_same_v<T, std::uint8_t>;
    case DType::i8: return std::is_same_v<T, std::int8_t>;
    case DType::u16:
    case DType::f16:
    case DType::bf16: return std::is_same_v<T, std::uint16_t>;
    case DType::i16: return std::is_same_v<T, std::int16_t>;
    case DType::u32: return std::is_same_v<T, std::uint32_t>;
    case DType::i32: return std::is_same_v<T, std::int32_t>;
    case DType::u64: return std::is_same_v<T, std::uint64_t>;
    case DType::i64: return std::is_same_v<T, std::int64_t>;
    case DType::f32: return std::is_same_v<T, float>;
    case DType::f64: return std::is_same_v<T, double>;
    default: return false;
  }
}

}  // namespace

template <class T>
Tensor from_host(std::span<const T> values, const Shape& shape, DType dtype, CreateOptions options) {
  const Meta meta = new_meta("from_host", shape, dtype, options);
  if (!carries<T>(dtype)) {
    throw Error(ErrorKind::DTypeMismatch, "from_host")
        .detail(text::format("values of {} bytes {} do not carry {}", sizeof(T), std::is_floating_point_v<T> ? "floating" : "integer",
                             to_string(dtype)))
        .dtype(to_string(dtype))
        .hint("Give the dtype's own type; std::uint16_t carries the bits of f16 and bf16");
  }
  const Size n = count(shape);
  if (static_cast<Size>(values.size()) != n) {
    throw Error(ErrorKind::ShapeMismatch, "from_host")
        .detail(text::format("{} values for shape {}", values.size(), to_string(shape)))
        .shape(shape.to_vector());
  }
  return upload("from_host", meta, reinterpret_cast<const std::byte*>(values.data()), values.size_bytes());
}

#define X(T) template Tensor from_host<T>(std::span<const T>, const Shape&, DType, CreateOptions);
X(bool)
X(std::uint8_t)
X(std::int8_t) X(std::uint16_t) X(std::int16_t) X(std::uint32_t) X(std::int32_t) X(std::uint64_t) X(std::int64_t) X(float) X(double)
#undef X

}  // namespace votive
