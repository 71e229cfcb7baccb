// Products by their usual names, all composed of matmul, mul and sum, so that their bits and gradients are those of these. No operation of its own is here.
#include <algorithm>

#include "votive/base/text.h"
#include "votive/ops/as_one.h"
#include "votive/ops/check.h"
#include "votive/ops/matmul.h"
#include "votive/ops/ops.h"

namespace votive {

namespace {

Size product(const Shape& shape, int from, int to) {
  Size n = 1;
  for (int axis = from; axis < to; ++axis) n *= shape[axis];
  return n;
}

bool is_half(DType d) { return d == DType::f16 || d == DType::bf16; }

/// The last sizes of two operands whose axes are moved before product_of() sees them, in words of the call. A wrong dtype or device is left to product_of().
void require_inner(std::string_view op, const Argument& a, const Argument& b) {
  const Meta &x = a.meta, &y = b.meta;
  const bool alike = (is_floating(x.dtype) && is_floating(y.dtype)) || (is_integer(x.dtype) && is_integer(y.dtype));
  if (!alike || x.device != y.device || x.shape.back() == y.shape.back()) return;
  throw error_about(ErrorKind::ShapeMismatch, op, {a, b})
      .detail(text::format("{} and {} share no inner size ({}, {})", describe(a), describe(b), x.shape.back(), y.shape.back()));
}

}  // namespace

// ---- named products ----

Tensor dot(const Tensor& a, const Tensor& b) {
  const Meta x = a.meta(), y = b.meta();
  require_present("dot", {"a", 1, x});
  require_present("dot", {"b", 2, y});
  require_rank("dot", {"a", 1, x}, 1, 1);
  require_rank("dot", {"b", 2, y}, 1, 1);
  return product_of("dot", a, b);
}

Tensor mv(const Tensor& a, const Tensor& x) {
  return as_one("mv", [&] {
    const Meta left = a.meta(), right = x.meta();
    require_present("mv", {"a", 1, left});
    require_present("mv", {"x", 2, right});
    require_rank("mv", {"a", 1, left}, 2, 2);
    require_rank("mv", {"x", 2, right}, 1, 1);
    require_inner("mv", {"a", 1, left}, {"x", 2, right});
    return product_of("mv", a, x);
  });
}

Tensor vecdot(const Tensor& a, const Tensor& b) {
  return as_one("vecdot", [&] {
    const Meta x = a.meta(), y = b.meta();
    require_present("vecdot", {"a", 1, x});
    require_present("vecdot", {"b", 2, y});
    require_rank("vecdot", {"a", 1, x}, 1, max_rank - 1);
    require_rank("vecdot", {"b", 2, y}, 1, max_rank - 1);
    require_inner("vecdot", {"a", 1, x}, {"b", 2, y});
    return select(select(product_of("vecdot", unsqueeze(a, -2), unsqueeze(b, -1)), -1, 0), -1, 0);
  });
}

Tensor inner(const Tensor& a, const Tensor& b) {
  const Meta x = a.meta(), y = b.meta();
  require_present("inner", {"a", 1, x});
  require_present("inner", {"b", 2, y});
  require_rank("inner", {"a", 1, x}, 1);
  require_rank("inner", {"b", 2, y}, 1);
  require_inner("inner", {"a", 1, x}, {"b", 2, y});
  Shape result;
  for (int axis = 0; axis + 1 < a.rank(); ++axis) result.push_back(a.shape()[axis]);
  for (int axis = 0; axis + 1 < b.rank(); ++axis) result.push_back(b.shape()[axis]);
  const Tensor left = reshape(a, {product(a.shape(), 0, a.rank() - 1), a.shape().back()});
  const Tensor right = reshape(b, {product(b.shape(), 0, b.rank() - 1), b.shape().back()});
  return reshape(product_of("inner", left, transpose(right)), result);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  return as_one("outer", [&] {
    const Meta x = a.meta(), y = b.meta();
    require_number("outer", {"a", 1, x});
    require_number("outer", {"b", 2, y});
    require_common_dtype("outer", {"a", 1, x}, {"b", 2, y});
    require_same_device("outer", {"a", 1, x}, {"b", 2, y});
    require_rank("outer", {"a", 1, x}, 1, 1);
    require_rank("outer", {"b", 2, y}, 1, 1);
    return mul(unsqueeze(a, 1), b);
  });
}

Tensor kron(const Tensor& a, const Tensor& b) {
  return as_one("kron", [&] {
    const Meta x = a.meta(), y = b.meta();
    require_number("kron", {"a", 1, x});
    require_number("kron", {"b", 2, y});
    require_common_dtype("kron", {"a", 1, x}, {"b", 2, y});
    require_same_device("kron", {"a", 1, x}, {"b", 2, y});
    require_rank("kron", {"a", 1, x}, 0, max_rank / 2);
    require_rank("kron", {"b", 2, y}, 0, max_rank / 2);
    const int rank = std::max(a.rank(), b.rank());
    Shape left, right, result;
    for (int axis = 0; axis < rank; ++axis) {
      const int in_a = axis - (rank - a.rank()), in_b = axis - (rank - b.rank());
      const Size m = in_a < 0 ? 1 : a.shape()[in_a], n = in_b < 0 ? 1 : b.shape()[in_b];
      left.push_back(m);
      left.push_back(1);
      right.push_back(1);
      right.push_back(n);
      result.push_back(checked_count("kron", {m, n}));
    }
    checked_count("kron", result, sizeof(double));
    const Tensor p = reshape(a, left), q = reshape(b, right);
    if (is_checked()) [[unlikely]] {  // in the result's own shape, so that an error names a position of the result
      const Shape joint = broadcast_shape("kron", left, right);
      return mul(reshape(broadcast_to(p, joint), result), reshape(broadcast_to(q, joint), result));
    }
    return reshape(mul(p, q), result);
  });
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::span<const int> axes_a, std::span<const int> axes_b) {
  constexpr std::string_view op = "tensordot";
  return as_one(op, [&] {
    const Meta x = a.meta(), y = b.meta();
    const Argument left{"a", 1, x}, right{"b", 2, y};
    require_unblocked(op, left);
    require_unblocked(op, right);
    require_same_device(op, left, right);
    if (axes_a.size() != axes_b.size()) {
      throw error_about(ErrorKind::InvalidArgument, op, {left, right})
          .detail(text::format("{} axes of a and {} of b", axes_a.size(), axes_b.size()));
    }
    const auto ordered = [&](const Argument& t, std::span<const int> axes, std::vector<int>& summed, std::vector<int>& free) {
      std::uint32_t seen = 0;
      for (const int axis : axes) {
        summed.push_back(normalise_axis(op, axis, t.meta.shape.rank()));
        if ((seen >> summed.back() & 1) != 0)
          throw error_about(ErrorKind::InvalidAxis, op, {t}).detail(text::format("axis {} is named twice", axis));
        seen |= 1u << summed.back();
      }
      for (int axis = 0; axis < t.meta.shape.rank(); ++axis)
        if ((seen >> axis & 1) == 0) free.push_back(axis);
    };
    std::vector<int> summed_a, summed_b, free_a, free_b;
    ordered(left, axes_a, summed_a, free_a);
    ordered(right, axes_b, summed_b, free_b);
    Size k = 1, m = 1, n = 1;
    for (std::size_t i = 0; i < summed_a.size(); ++i) {
      const Size size_a = x.shape[summed_a[i]], size_b = y.shape[summed_b[i]];
      if (size_a != size_b) {
        throw error_about(ErrorKind::ShapeMismatch, op, {left, right})
            .detail(text::format("axis {} of {} and axis {} of {} have sizes {} and {}", axes_a[i], describe(left), axes_b[i],
                                 describe(right), size_a, size_b));
      }
      k *= size_a;
    }
    Shape result;
    for (const int axis : free_a) {
      m *= x.shape[axis];
      result.push_back(x.shape[axis]);
    }
    for (const int axis : free_b) {
      n *= y.shape[axis];
      result.push_back(y.shape[axis]);
    }
    std::vector<int> order_a = free_a, order_b = summed_b;
    order_a.insert(order_a.end(), summed_a.begin(), summed_a.end());
    order_b.insert(order_b.end(), free_b.begin(), free_b.end());
    return reshape(product_of(op, reshape(permute(a, order_a), {m, k}), reshape(permute(b, order_b), {k, n})), result);
  });
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::initializer_list<int> axes_a, std::initializer_list<int> axes_b) {
  return as_one("tensordot",
                [&] { return tensordot(a, b, std::span(axes_a.begin(), axes_a.size()), std::span(axes_b.begin(), axes_b.size())); });
}

Tensor tensordot(const Tensor& a, const Tensor& b, int axes) {
  return as_one("tensordot", [&] {
    const Meta x = a.meta(), y = b.meta();
    require_present("tensordot", {"a", 1, x});
    require_present("tensordot", {"b", 2, y});
    if (axes < 0 || axes > a.rank() || axes > b.rank()) {
      throw error_about(ErrorKind::InvalidArgument, "tensordot", {{"a", 1, x}, {"b", 2, y}})
          .value(text::format("{}", axes))
          .detail(text::format("{} axes of {} and {}", axes, describe(x), describe(y)));
    }
    std::vector<int> last, first;
    for (int i = 0; i < axes; ++i) {
      last.push_back(a.rank() - axes + i);
      first.push_back(i);
    }
    return tensordot(a, b, std::span<const int>(last), std::span<const int>(first));
  });
}

namespace {

Tensor add_product(std::string_view op, int rank, const Tensor& c, const Tensor& a, const Tensor& b, AddMatmulOptions options) {
  return as_one(op, [&] {
    const Meta meta_c = c.meta(), meta_a = a.meta(), meta_b = b.meta();
    const Argument added{"c", 1, meta_c}, left{"a", 2, meta_a}, right{"b", 3, meta_b};
    require_floating(op, added);
    require_floating(op, left);
    require_floating(op, right);
    require_same_dtype(op, added, left);
    require_same_dtype(op, left, right);
    require_same_device(op, added, left);
    require_rank(op, left, rank, rank);
    require_rank(op, right, rank, rank);
    if (rank == 3 && meta_a.shape[0] != meta_b.shape[0]) {
      throw error_about(ErrorKind::ShapeMismatch, op, {left, right})
          .detail(text::format("{} and {} differ in axis 0", describe(left), describe(right)));
    }
    const DType dtype = meta_a.dtype;
    Tensor y = product_of(op, a, b, is_half(dtype) ? std::optional(DType::f32) : std::nullopt);
    if (options.alpha != 1) y = y * static_cast<double>(options.alpha);
    const Meta sum{.dtype = dtype, .shape = y.shape(), .device = y.device()};
    if (require_broadcast(op, {"the product", 2, sum}, added) != y.shape()) {
      throw error_about(ErrorKind::ShapeMismatch, op, {added})
          .detail(text::format("{} does not broadcast to {}", describe(added), to_string(y.shape())));
    }
    if (options.beta != 0) {
      const Tensor wide = c.to(y.dtype());
      y = (options.beta != 1 ? wide * static_cast<double>(options.beta) : wide) + y;
    }
    return y.to(dtype);
  });
}

}  // namespace

Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, AddMatmulOptions options) {
  return add_product("addmm", 2, c, a, b, options);
}
Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, AddMatmulOptions options) {
  return add_product("baddbmm", 3, c, a, b, options);
}

Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& w, const Tensor& bias) {
  constexpr std::string_view op = "bilinear";
  return as_one(op, [&] {
    const Meta meta_1 = x1.meta(), meta_2 = x2.meta(), meta_w = w.meta(), meta_bias = bias.meta();
    const Argument a{"x1", 1, meta_1}, b{"x2", 2, meta_2}, c{"w", 3, meta_w}, d{"bias", 4, meta_bias};
    for (const Argument& t : {a, b, c}) require_floating(op, t);
    for (const Argument& t : {b, c, d}) {
      require_same_dtype(op, a, t);
      require_same_device(op, a, t);
    }
    require_rank(op, a, 1);
    require_rank(op, c, 3, 3);
    Shape shape = meta_1.shape;
    shape.back() = meta_w.shape[2];
    require_shape(op, b, shape);
    if (meta_1.shape.back() != meta_w.shape[1]) {
      throw error_about(ErrorKind::ShapeMismatch, op, {a, c})
          .detail(text::format("{} and {} share no inner size ({}, {})", describe(a), describe(c), meta_1.shape.back(), meta_w.shape[1]));
    }
    const Size outputs = meta_w.shape[0], i = meta_w.shape[1], j = meta_w.shape[2],
               rows = product(meta_1.shape, 0, meta_1.shape.rank() - 1);
    if (meta_bias.present) require_shape(op, d, {outputs});
    const std::optional<DType> out = is_half(meta_1.dtype) ? std::optional(DType::f32) : std::nullopt;
    const Tensor weights = reshape(permute(w, {1, 0, 2}), {i, outputs * j});
    const Tensor first = reshape(product_of(op, reshape(x1, {rows, i}), weights, out), {rows, outputs, j});
    Tensor y = select(product_of(op, first, reshape(x2, {rows, j, 1}).to(first.dtype())), -1, 0);
    if (meta_bias.present) y = y + bias.to(y.dtype());
    shape.back() = outputs;
    return reshape(y, shape).to(meta_1.dtype);
  });
}

Tensor trace(const Tensor& x, Size offset) {
  return as_one("trace", [&] {
    const Meta meta = x.meta();
    const Argument a{"x", 1, meta};
    require_plain("trace", a);
    require_rank("trace", a, 2);
    return sum(diagonal(x, {.offset = offset}), {.axis = -1});
  });
}

}  // namespace votive
