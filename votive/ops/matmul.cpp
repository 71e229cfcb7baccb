// Rules of products: matmul, linear and packed weights. What the numbers are is CONTRACT.md 4.4 and D15.
#include "votive/ops/matmul.h"

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/as_one.h"
#include "votive/ops/few.h"
#include "votive/ops/ops.h"

namespace votive {

namespace {

Shape leading(const Shape& shape, int dropped) { return Shape(std::span(shape.begin(), static_cast<std::size_t>(shape.rank() - dropped))); }

bool is_weight_only(const Meta& x) { return is_quantised(x.dtype) || x.packing != Packing::none; }

/// dtype rules of a product; gives the dtype of its result. `b` may be quantised or packed.
DType product_dtype(std::string_view op, const Argument& a, const Argument& b) {
  require_floating(op, a);
  require_present(op, b);
  if (is_quantised(b.meta.dtype)) {
    if (a.meta.dtype != DType::f64) return a.meta.dtype;
    throw error_about(ErrorKind::DTypeMismatch, op, {a, b})
        .detail(text::format("{} and {}: quantised weights multiply f16, bf16 and f32", describe(a), describe(b)))
        .hint(text::format("Cast one, e.g. {}.to(f32)", a.name));
  }
  if (b.meta.packing == Packing::none) require_floating(op, b);
  return require_common_dtype(op, a, b);
}

[[noreturn]] void refuse_inner(std::string_view op, const Argument& a, const Argument& b, Size inner_a, Size inner_b, std::string hint) {
  Error error = error_about(ErrorKind::ShapeMismatch, op, {a, b})
                    .detail(text::format("{} and {} share no inner size ({}, {})", describe(a), describe(b), inner_a, inner_b));
  if (!hint.empty()) error.hint(std::move(hint));
  throw error;
}

void check_bias(std::string_view op, const Argument& bias, DType dtype, Size n, const Argument& x) {
  if (!bias.meta.present) return;
  require_floating(op, bias);
  if (bias.meta.dtype != dtype) {
    throw error_about(ErrorKind::DTypeMismatch, op, {x, bias})
        .detail(text::format("{} beside a product in {}", describe(bias), to_string(dtype)))
        .hint(text::format("Cast it, e.g. {}.to({})", bias.name, to_string(dtype)));
  }
  require_same_device(op, x, bias);
  require_shape(op, bias, {n});
}

}  // namespace

namespace {

/// The shape of a product of matrices, batch axes broadcast.
Shape product_shape(std::string_view op, const Argument& a, const Argument& b) {
  const Meta &x = a.meta, &w = b.meta;
  require_rank(op, a, 2);
  if (is_weight_only(w)) {
    require_rank(op, b, 2, 2);
  } else {
    require_rank(op, b, 2);
  }
  const Size k = x.shape.back(), inner = w.shape[w.shape.rank() - 2], n = w.shape.back();
  if (k != inner) refuse_inner(op, a, b, k, inner, n == k ? "Did you mean transpose(b)?" : "");
  if (x.shape.rank() == 2 && w.shape.rank() == 2) return {x.shape[0], n};
  const Meta batch_a{.shape = leading(x.shape, 2)}, batch_b{.shape = leading(w.shape, 2)};
  Shape shape = require_broadcast(op, {"the batch of a", 1, batch_a}, {"the batch of b", 2, batch_b});
  shape.push_back(x.shape[x.shape.rank() - 2]);
  shape.push_back(n);
  return shape;
}

bool is_matrix(const Shape& shape) {
  Size batches = 1;
  for (int axis = 0; axis + 2 < shape.rank(); ++axis) batches *= shape[axis];
  return batches == 1;
}

/// [..., k] as [rows, k]
Tensor rows_of(const Tensor& x) {
  Size rows = 1;
  for (int axis = 0; axis + 1 < x.rank(); ++axis) rows *= x.shape()[axis];
  return reshape(x, {rows, x.shape().back()});
}

}  // namespace

Meta Matmul::result(const Meta& a, const Meta& b, const Meta& bias) const {
  const Argument x{"a", 1, a}, w{"b", 2, b}, c{"bias", 3, bias};
  const DType product = product_dtype(info.name, x, w);
  const DType dtype = keeps_sum && product != DType::f64 ? DType::f32 : product;
  require_same_device(info.name, x, w);
  const Meta y{.dtype = dtype, .shape = product_shape(info.name, x, w), .device = a.device};
  check_bias(info.name, c, dtype, b.shape.back(), x);
  return y;
}

// da = dy·bᵀ, db = aᵀ·dy. Transposed operands are views; a weight that every batch shares gets one product over all rows.
Tensors Matmul::gradient(const Backward& b) const {
  const Tensor& dy = b.dy();
  Tensors gradients(3);
  if (b.wants(0)) {
    const Tensor w = transpose(b.x(1));
    const bool quantised = is_quantised(w.dtype());
    gradients[0] = b.to_input(matmul(dy, is_weight_only(w.meta()) ? w.to(quantised ? DType::f32 : w.dtype()) : w), 0);
  }
  if (b.wants(1)) {
    const Tensor& a = b.x(0);
    if (is_matrix(b.meta(1).shape)) {
      gradients[1] = reshape(matmul(transpose(rows_of(a)), rows_of(dy)), b.meta(1).shape).to(b.meta(1).dtype);
    } else {
      gradients[1] = b.to_input(matmul(transpose(a), dy), 1);
    }
  }
  if (b.wants(2)) gradients[2] = b.to_input(dy, 2);
  return gradients;
}

Meta IntegerMatmul::result(const Meta& a, const Meta& b) const {
  const Argument x{"a", 1, a}, w{"b", 2, b};
  require_same_device(info.name, x, w);
  return {.dtype = dtype, .shape = product_shape(info.name, x, w), .device = a.device};
}

Meta Prepack::result(const Meta& w) const {
  const Argument argument{"w", 1, w};
  require_unpacked(info.name, argument);
  if (!is_quantised(w.dtype)) require_floating(info.name, argument);
  require_rank(info.name, argument, 2, 2);
  Meta y = w;
  y.packing = is_quantised(w.dtype) ? Packing::rows16 : Packing::panels;
  return y;
}

namespace {

/// CONTRACT.md 4.6: 8-bit integers sum in i32 while no sum can leave it, wider ones in i64 or u64.
DType integer_dtype(std::string_view op, const Argument& a, const Argument& b, std::optional<DType> out, Size k) {
  const bool narrow = block_bytes(a.meta.dtype) == 1 && block_bytes(b.meta.dtype) == 1;
  const DType common = require_common_dtype(op, a, b);
  const DType wide = is_unsigned_integer(common) ? DType::u64 : DType::i64;
  const DType dtype = out.value_or(narrow ? DType::i32 : wide);
  if (dtype != wide && !(narrow && (dtype == DType::i32 || dtype == DType::i64))) {
    throw error_about(ErrorKind::DTypeMismatch, op, {a, b})
        .detail(text::format("out {} of {} and {}", to_string(dtype), describe(a), describe(b)))
        .accepted(narrow ? "i32, i64" : std::string(to_string(wide)));
  }
  if (dtype == DType::i32) {
    const auto most = [](DType d) { return d == DType::u8 ? Size{255} : Size{128}; };
    const Size limit = ((Size{1} << 31) - 1) / (most(a.meta.dtype) * most(b.meta.dtype));
    if (k > limit) {
      throw error_about(ErrorKind::InvalidArgument, op, {a, b})
          .detail(text::format("sums of {} products of {} and {} may not fit i32", k, to_string(a.meta.dtype), to_string(b.meta.dtype)))
          .limit(text::format("an inner size of {}", limit))
          .hint("Pass out = i64");
    }
  }
  return dtype;
}

[[noreturn]] void refuse_out(std::string_view op, const Argument& a, const Argument& b, DType out, DType dtype) {
  const bool half = dtype == DType::f16 || dtype == DType::bf16;
  throw error_about(ErrorKind::DTypeMismatch, op, {a, b})
      .detail(text::format("out {} of {} and {}", to_string(out), describe(a), describe(b)))
      .accepted(half ? text::format("{}, f32", to_string(dtype)) : std::string(to_string(dtype)));
}

}  // namespace

// a vector is a row on the left and a column on the right, and its axis is dropped from the result
Tensor product_of(std::string_view op, const Tensor& a, const Tensor& b, std::optional<DType> out) {
  return as_one(op, [&] {
    // Two matrices of one floating dtype, which leave nothing to be refused or arranged.
    const bool floats_alike = a.defined() && b.defined() && !out && a.rank() == 2 && b.rank() == 2 && is_floating(a.dtype()) &&
                              a.dtype() == b.dtype() && a.device() == b.device() && a.shape()[1] == b.shape()[0];
    if (floats_alike && a.packing() == Packing::none && b.packing() == Packing::none) return apply(Matmul{}, a, b, Tensor());
    const Meta meta_a = a.meta(), meta_b = b.meta();
    const Argument x{"a", 1, meta_a}, w{"b", 2, meta_b};
    const bool integers = meta_a.present && meta_b.present && is_integer(meta_a.dtype) && is_integer(meta_b.dtype);
    const Size k = meta_a.shape.empty() ? 0 : meta_a.shape.back();
    const DType dtype = integers ? integer_dtype(op, x, w, out, k) : product_dtype(op, x, w);
    const bool half = dtype == DType::f16 || dtype == DType::bf16;
    if (!integers && out && *out != dtype && !(half && *out == DType::f32)) refuse_out(op, x, w, *out, dtype);
    require_same_device(op, x, w);
    require_rank(op, x, 1);
    require_rank(op, w, is_weight_only(meta_b) ? 2 : 1);
    const Matmul floats{.keeps_sum = out && *out != dtype};
    if (is_weight_only(meta_b)) {
      const int rank = b.rank();
      if (rank == 2 && b.strides()[0] != 1 && b.size(0) != 1) {
        throw error_about(ErrorKind::ShapeMismatch, op, {x, w})
            .detail(text::format("{} runs its blocks along its last axis, and the inner size is axis 0", describe(w)))
            .hint("Did you mean transpose(b)?");
      }
      if (a.rank() == 1) return select(apply(floats, unsqueeze(a.to(dtype), 0), b, Tensor()), -2, 0);
      return apply(floats, a.to(dtype), b, Tensor());
    }
    const bool row = a.rank() == 1, column = b.rank() == 1;
    const Size inner = meta_b.shape[column ? 0 : b.rank() - 2];
    if (k != inner) refuse_inner(op, x, w, k, inner, !column && meta_b.shape.back() == k ? "Did you mean transpose(b)?" : "");
    const Tensor left = row ? unsqueeze(a, 0) : a, right = column ? unsqueeze(b, 1) : b;
    Tensor y = integers ? apply(IntegerMatmul{dtype}, left, right) : apply(floats, left.to(dtype), right.to(dtype), Tensor());
    if (column) y = select(y, -1, 0);
    return row ? select(y, column ? -1 : -2, 0) : y;
  });
}

Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options) {
  auto* const loop = options.out ? nullptr : few_loop<Matmul>(0, a);
  if (loop != nullptr && b.is_small_and_dense() && b.dtype() == a.dtype() && b.device() == Device::cpu && a.rank() == 2 && b.rank() == 2) {
    const Size m = a.shape()[0], n = b.shape()[1], k = a.shape()[1];
    if (k == b.shape()[0] && m * n * block_bytes(a.dtype()) <= static_cast<Size>(small_and_dense_bytes)) {
      const Matmul op;
      return apply_few(
          op,
          [&] {
            Tensor y = m == k && n == k ? Tensor::allocate_like(a) : Tensor::allocate("matmul", {.dtype = a.dtype(), .shape = {m, n}});
            loop(a.first(), b.first(), y.mutable_first(), m, n, k);
            return y;
          },
          a, b, Tensor());
    }
  }
  return product_of("matmul", a, b, options.out);
}

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias) {
  return as_one("linear", [&] {
    const Meta meta_x = x.meta(), meta_w = w.meta(), meta_bias = bias.meta();
    const Argument a{"x", 1, meta_x}, b{"w", 2, meta_w}, c{"bias", 3, meta_bias};
    const DType dtype = product_dtype("linear", a, b);
    require_same_device("linear", a, b);
    require_rank("linear", a, 1);
    require_rank("linear", b, 2, 2);
    const Size n = meta_w.shape[0], k = meta_w.shape[1];
    if (meta_x.shape.back() != k)
      refuse_inner("linear", a, b, meta_x.shape.back(), k, n == meta_x.shape.back() ? "Did you mean transpose(w)?" : "");
    check_bias("linear", c, dtype, n, a);
    if (is_quantised(meta_w.dtype) && w.strides()[1] != 1 && k != 1) {
      throw error_about(ErrorKind::ShapeMismatch, "linear", {b})
          .detail(text::format("{} is a transposed view, whose blocks do not run along its last axis", describe(b)))
          .hint("Did you mean transpose(w)?");
    }
    // rows of every batch axis at once: the order of additions does not depend on how many there are
    Size rows = 1;
    for (int axis = 0; axis + 1 < meta_x.shape.rank(); ++axis) rows *= meta_x.shape[axis];
    Shape shape = meta_x.shape;
    shape.back() = n;
    const Tensor wide = meta_w.packing == Packing::none && !is_quantised(meta_w.dtype) ? w.to(dtype) : w;
    const Tensor y = apply(Matmul{}, reshape(x.to(dtype), {rows, k}), transpose(wide), bias);
    return reshape(y, shape);
  });
}

Tensor prepack(const Tensor& w) {
  const Prepack op;
  const Meta meta = w.meta();
  require_present(op.info.name, {"w", 1, meta});
  if (meta.packing != Packing::none || meta.device != Device::cpu) return w;
  if (!is_quantised(meta.dtype)) {
    require_floating(op.info.name, {"w", 1, meta});
    // Of one row or column there is nothing to arrange, and which of its axes is k could not be told from its strides.
    if (meta.shape.rank() != 2 || meta.shape[0] < 2 || meta.shape[1] < 2) return w;
    return apply(op, w);
  }
  op.result(meta);
  if (w.strides()[1] != 1 && w.size(1) != 1) {
    throw error_about(ErrorKind::ShapeMismatch, op.info.name, {{"w", 1, meta}})
        .detail(text::format("{} is a transposed view, whose blocks do not run along its last axis", describe(Argument{"w", 1, meta})))
        .hint("Take the view after prepack()");
  }
  return apply(op, w);
}

}  // namespace votive
