// Rules of products: matmul, linear and packed weights. What the numbers are is CONTRACT.md 4.4 and D15.
#include "votive/ops/matmul.h"

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

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
        .detail(format("{} and {}: quantised weights multiply f16, bf16 and f32", describe(a), describe(b)))
        .hint(format("Cast one, e.g. {}.to(f32)", a.name));
  }
  if (b.meta.packing == Packing::none) {
    require_floating(op, b);
  } else if (a.meta.dtype != b.meta.dtype) {
    require_same_dtype(op, b, a);
  }
  return require_common_dtype(op, a, b);
}

[[noreturn]] void refuse_inner(std::string_view op, const Argument& a, const Argument& b, Size inner_a, Size inner_b, std::string hint) {
  Error error = error_about(ErrorKind::ShapeMismatch, op, {a, b})
                    .detail(format("{} and {} share no inner size ({}, {})", describe(a), describe(b), inner_a, inner_b));
  if (!hint.empty()) error.hint(std::move(hint));
  throw error;
}

void check_bias(std::string_view op, const Argument& bias, DType dtype, Size n, const Argument& x) {
  if (!bias.meta.present) return;
  require_floating(op, bias);
  if (bias.meta.dtype != dtype) {
    throw error_about(ErrorKind::DTypeMismatch, op, {x, bias})
        .detail(format("{} beside a product in {}", describe(bias), to_string(dtype)))
        .hint(format("Cast it, e.g. {}.to({})", bias.name, to_string(dtype)));
  }
  require_same_device(op, x, bias);
  require_shape(op, bias, {n});
}

}  // namespace

Meta Matmul::result(const Meta& a, const Meta& b, const Meta& bias) const {
  const Argument x{"a", 1, a}, w{"b", 2, b}, c{"bias", 3, bias};
  const DType dtype = product_dtype(info.name, x, w);
  require_same_device(info.name, x, w);
  require_rank(info.name, x, 2);
  if (is_weight_only(b)) {
    require_rank(info.name, w, 2, 2);
  } else {
    require_rank(info.name, w, 2);
  }
  const Size k = a.shape.back(), inner = b.shape[b.shape.rank() - 2], n = b.shape.back();
  if (k != inner) refuse_inner(info.name, x, w, k, inner, n == k ? "Did you mean transpose(b)?" : "");
  const Meta batch_a{.shape = leading(a.shape, 2)}, batch_b{.shape = leading(b.shape, 2)};
  Meta y{.dtype = dtype,
         .shape = require_broadcast(info.name, {"the batch of a", 1, batch_a}, {"the batch of b", 2, batch_b}),
         .device = a.device};
  y.shape.push_back(a.shape[a.shape.rank() - 2]);
  y.shape.push_back(n);
  check_bias(info.name, c, dtype, n, x);
  return y;
}

Meta Prepack::result(const Meta& w) const {
  const Argument argument{"w", 1, w};
  require_unpacked(info.name, argument);
  if (!is_quantised(w.dtype)) {
    throw error_about(ErrorKind::DTypeMismatch, info.name, {argument}).detail(describe(argument)).accepted("quantised dtypes");
  }
  require_rank(info.name, argument, 2, 2);
  Meta y = w;
  y.packing = Packing::rows16;
  return y;
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  const Meta meta_a = a.meta(), meta_b = b.meta();
  const Argument x{"a", 1, meta_a}, w{"b", 2, meta_b};
  const DType dtype = product_dtype("matmul", x, w);
  require_same_device("matmul", x, w);
  require_rank("matmul", x, 1);
  require_rank("matmul", w, is_weight_only(meta_b) ? 2 : 1);
  if (is_weight_only(meta_b)) {
    const int rank = b.rank();
    if (rank == 2 && b.strides()[0] != 1 && b.size(0) != 1) {
      throw error_about(ErrorKind::ShapeMismatch, "matmul", {x, w})
          .detail(format("{} runs its blocks along its last axis, and the inner size is axis 0", describe(w)))
          .hint("Did you mean transpose(b)?");
    }
    if (a.rank() == 1) return select(apply(Matmul{}, unsqueeze(a, 0), b, Tensor()), -2, 0);
    return apply(Matmul{}, a, b, Tensor());
  }
  // a vector is a row on the left and a column on the right, and its axis is dropped from the result
  const bool row = a.rank() == 1, column = b.rank() == 1;
  const Tensor left = (row ? unsqueeze(a, 0) : a).to(dtype);
  const Tensor right = (column ? unsqueeze(b, 1) : b).to(dtype);
  Tensor y = apply(Matmul{}, left, right, Tensor());
  if (column) y = select(y, -1, 0);
  return row ? select(y, column ? -1 : -2, 0) : y;
}

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias) {
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
        .detail(format("{} is a transposed view, whose blocks do not run along its last axis", describe(b)))
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
}

Tensor prepack(const Tensor& w) {
  const Prepack op;
  const Meta meta = w.meta();
  require_present(op.info.name, {"w", 1, meta});
  if (meta.packing != Packing::none || meta.device != Device::cpu) return w;
  if (!is_quantised(meta.dtype)) {  // the kernel packs floats as it goes, at a cost that many rows share
    require_floating(op.info.name, {"w", 1, meta});
    return w;
  }
  op.result(meta);
  if (w.strides()[1] != 1 && w.size(1) != 1) {
    throw error_about(ErrorKind::ShapeMismatch, op.info.name, {{"w", 1, meta}})
        .detail(format("{} is a transposed view, whose blocks do not run along its last axis", describe(Argument{"w", 1, meta})))
        .hint("Take the view after prepack()");
  }
  return apply(op, w);
}

}  // namespace votive
