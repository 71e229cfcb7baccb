// The checks that result() functions share, and the one way their errors describe an argument.
#include "votive/ops/check.h"

#include <algorithm>
#include <string>

#include "votive/base/text.h"

namespace votive {

std::string describe(const Meta& meta) {
  if (!meta.present) return "no tensor";
  std::string result = text::format("{}{}", to_string(meta.dtype), to_string(meta.shape));
  if (meta.packing != Packing::none) result += " (packed)";
  if (meta.device != Device::cpu) result += text::format(" on {}", to_string(meta.device));
  return result;
}

std::string describe(const Argument& argument) { return text::format("{} {}", argument.name, describe(argument.meta)); }

Error error_about(ErrorKind kind, std::string_view op, std::initializer_list<Argument> arguments) {
  Error error(kind, op);
  if (arguments.size() == 1) error.arg(arguments.begin()->name, arguments.begin()->number);
  for (const Argument& a : arguments) {
    if (!a.meta.present) continue;
    error.dtype(to_string(a.meta.dtype)).shape(a.meta.shape.to_vector()).device(to_string(a.meta.device));
  }
  return error;
}

namespace {

Error refuse_dtype(std::string_view op, const Argument& x, std::string_view accepted) {
  return error_about(ErrorKind::DTypeMismatch, op, {x}).detail(describe(x)).accepted(std::string(accepted));
}

std::string cast_hint(const Argument& x, std::string_view to) { return text::format("Cast it, e.g. {}.to({})", x.name, to); }

}  // namespace

void detail::refuse_absent(std::string_view op, const Argument& x) {
  throw error_about(ErrorKind::InvalidArgument, op, {x}).detail(text::format("argument '{}' (#{}) is no tensor", x.name, x.number));
}

void detail::refuse_packed(std::string_view op, const Argument& x) {
  require_present(op, x);
  throw error_about(ErrorKind::Unsupported, op, {x})
      .detail(text::format("{}: only matmul, linear, embedding and to(dtype) on the cpu read a packed weight", describe(x)))
      .hint(text::format("Use the weight that was packed, or {}.to(f32)", x.name));
}

void detail::refuse_blocked(std::string_view op, const Argument& x) {
  require_unpacked(op, x);
  throw refuse_dtype(op, x, "dtypes of single elements").hint(text::format("Dequantise it, e.g. {}.to(f32)", x.name));
}

void detail::refuse_not_plain(std::string_view op, const Argument& x) {
  require_unblocked(op, x);
  throw refuse_dtype(op, x, "bool, integers, f16, bf16, f32, f64").hint(cast_hint(x, "f32"));
}

void detail::refuse_not_floating(std::string_view op, const Argument& x) {
  require_unblocked(op, x);
  throw refuse_dtype(op, x, "f16, bf16, f32, f64").hint(cast_hint(x, "f32"));
}

void detail::refuse_not_number(std::string_view op, const Argument& x) {
  require_plain(op, x);
  throw refuse_dtype(op, x, "integers, f16, bf16, f32, f64").hint(cast_hint(x, "i64"));
}

void detail::refuse_not_integer(std::string_view op, const Argument& x) {
  require_unblocked(op, x);
  throw refuse_dtype(op, x, "u8, i8, u16, i16, u32, i32, u64, i64").hint(cast_hint(x, "i64"));
}

void detail::refuse_not_index(std::string_view op, const Argument& x) {
  require_unblocked(op, x);
  throw refuse_dtype(op, x, "u8, i8, u16, i16, u32, i32, u64, i64").hint(cast_hint(x, "i64"));
}

void detail::refuse_not_bool(std::string_view op, const Argument& x) {
  require_unblocked(op, x);
  throw refuse_dtype(op, x, "bool").hint(text::format("Compare it, e.g. ne({}, 0)", x.name));
}

void detail::refuse_dtypes(std::string_view op, const Argument& x, const Argument& y) {
  throw error_about(ErrorKind::DTypeMismatch, op, {x, y})
      .detail(text::format("{} and {} differ in dtype", describe(x), describe(y)))
      .hint(text::format("Cast one, e.g. {}.to({})", y.name, to_string(x.meta.dtype)));
}

void detail::refuse_devices(std::string_view op, const Argument& x, const Argument& y) {
  throw error_about(ErrorKind::DeviceMismatch, op, {x, y})
      .detail(text::format("{} {}{} on {} and {} {}{} on {}", x.name, to_string(x.meta.dtype), to_string(x.meta.shape),
                           to_string(x.meta.device), y.name, to_string(y.meta.dtype), to_string(y.meta.shape), to_string(y.meta.device)))
      .hint(text::format("Move one, e.g. {}.to(Device::{})", y.name, to_string(x.meta.device)));
}

void detail::refuse_rank(std::string_view op, const Argument& x, int at_least, int at_most) {
  const int rank = x.meta.shape.rank();
  const std::string wanted = at_least == at_most   ? text::format("{} axes", at_least)
                             : at_most == max_rank ? text::format("at least {} axes", at_least)
                                                   : text::format("{} to {} axes", at_least, at_most);
  throw error_about(ErrorKind::ShapeMismatch, op, {x}).detail(text::format("{} has {} axes", describe(x), rank)).accepted(wanted);
}

void detail::refuse_shape(std::string_view op, const Argument& x, const Shape& shape) {
  throw error_about(ErrorKind::ShapeMismatch, op, {x}).detail(describe(x)).accepted(text::format("shape {}", to_string(shape)));
}

Shape require_broadcast(std::string_view op, const Argument& x, const Argument& y) {
  const Shape& a = x.meta.shape;
  const Shape& b = y.meta.shape;
  if (a == b) return a;
  const int rank = std::max(a.rank(), b.rank());
  Shape shape = Shape::filled(rank, 1);
  for (int axis = 0; axis < rank; ++axis) {
    const int in_a = axis - (rank - a.rank()), in_b = axis - (rank - b.rank());
    const Size m = in_a < 0 ? 1 : a[in_a], n = in_b < 0 ? 1 : b[in_b];
    if (m != n && m != 1 && n != 1) {
      throw error_about(ErrorKind::ShapeMismatch, op, {x, y})
          .detail(text::format("{} and {} do not broadcast: axis {} has {} and {}", describe(x), describe(y), axis - rank, m, n));
    }
    shape[axis] = m == 1 ? n : m;
  }
  return shape;
}

DType require_common_dtype(std::string_view op, const Argument& x, const Argument& y) {
  if (x.meta.dtype == y.meta.dtype && is_floating(x.meta.dtype)) return x.meta.dtype;
  if (const auto common = common_dtype(x.meta.dtype, y.meta.dtype)) return *common;
  Error error = error_about(ErrorKind::DTypeMismatch, op, {x, y});
  const DType a = x.meta.dtype, b = y.meta.dtype;
  if (is_integer(a) && is_integer(b)) {
    error
        .detail(
            text::format("no common dtype: {}, {}. No integer holds every {} and {}", describe(x), describe(y), to_string(a), to_string(b)))
        .hint(text::format("Cast one side, e.g. {}.to(i64)",
                           is_unsigned_integer(a) ? x.name : y.name));  // the widest there is, not the other's
  } else if (is_integer(a) || is_integer(b)) {
    const Argument& integer = is_integer(a) ? x : y;
    const Argument& other = is_integer(a) ? y : x;
    error
        .detail(text::format("no common dtype: {}, {}. {} cannot hold every {}", describe(x), describe(y), to_string(other.meta.dtype),
                             to_string(integer.meta.dtype)))
        .hint(text::format("Cast one side, e.g. {}.to(f32)", is_float8(other.meta.dtype) ? other.name : integer.name));
  } else {
    const Argument& narrow = is_float8(a) ? x : y;
    error.detail(text::format("no common dtype: {}, {}", describe(x), describe(y)))
        .hint(text::format("Cast one side, e.g. {}.to(f32)", narrow.name));
  }
  throw error;
}

}  // namespace votive
