// Rules of reductions: which dtype a sum has, when an extreme of nothing is an error (CONTRACT.md 3.1).
#include "votive/ops/reduce.h"

#include "votive/base/text.h"
#include "votive/ops/few.h"
#include "votive/ops/norm.h"
#include "votive/ops/ops.h"

namespace votive {

Shape reduced_shape(const Shape& shape, std::uint32_t axes, bool keep) {
  Shape result;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if ((axes >> axis & 1) == 0) {
      result.push_back(shape[axis]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

Size joined_count(const Shape& shape, std::uint32_t axes) {
  Size n = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) n *= (axes >> axis & 1) != 0 ? shape[axis] : 1;
  return n;
}

namespace {

/// An output without an input has no extreme; no outputs at all is no error.
void refuse_empty(std::string_view op, const Argument& x, std::uint32_t axes) {
  const Shape& shape = x.meta.shape;
  Size reduced = 1;
  std::string names;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if ((axes >> axis & 1) == 0) continue;
    reduced *= shape[axis] == 0 ? 0 : 1;
    names += text::format("{}{}", names.empty() ? "" : ", ", axis);
  }
  if (reduced != 0 || count(reduced_shape(shape, axes, false)) == 0) return;
  throw error_about(ErrorKind::EmptyReduction, op, {x})
      .detail(text::format("{} over axis {} has no elements and no identity", describe(x), names));
}

}  // namespace

std::uint32_t Axes::mask(std::string_view op, int rank) const {
  if (all_) return rank == 0 ? 0u : (1u << rank) - 1u;
  std::uint32_t mask = 0;
  for (const int axis : axes_) {
    const std::uint32_t bit = 1u << normalise_axis(op, axis, rank);
    if ((mask & bit) != 0)
      throw Error(ErrorKind::InvalidAxis, op).detail(text::format("axis {} is named twice", axis)).value(text::format("{}", axis));
    mask |= bit;
  }
  return mask;
}

Meta Reduce::result(const Meta& x) const {
  const Argument argument{"x", 1, x};
  require_plain(name(), argument);
  Meta y = x;
  const DType d = x.dtype;
  switch (kind) {
    case ReduceKind::sum:
    case ReduceKind::prod:
      if (!is_floating(d)) y.dtype = is_unsigned_integer(d) ? DType::u64 : DType::i64;
      break;
    case ReduceKind::mean:
      if (!is_floating(d)) y.dtype = DType::f32;
      break;
    case ReduceKind::min:
    case ReduceKind::max: refuse_empty(name(), argument, axes); break;
    case ReduceKind::any:
    case ReduceKind::all: y.dtype = DType::boolean; break;
  }
  y.shape = reduced_shape(x.shape, axes, keep);
  return y;
}

namespace {

/// The kept axes in order, then the reduced ones.
std::vector<int> kept_first(int rank, std::uint32_t axes) {
  std::vector<int> order;
  for (const bool reduced : {false, true}) {
    for (int axis = 0; axis < rank; ++axis) {
      if (((axes >> axis & 1) != 0) == reduced) order.push_back(axis);
    }
  }
  return order;
}

}  // namespace

Tensor to_rows(const Tensor& x, std::uint32_t axes) {
  return reshape(permute(x, kept_first(x.rank(), axes)), {count(reduced_shape(x.shape(), axes, false)), joined_count(x.shape(), axes)});
}

Tensor from_rows(const Tensor& rows, const Shape& shape, std::uint32_t axes) {
  const std::vector<int> order = kept_first(shape.rank(), axes);
  Shape permuted;
  std::vector<int> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    permuted.push_back(shape[order[i]]);
    back[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  return permute(reshape(rows, permuted), back);
}

namespace {

/// [1, r₀, r₀·r₁, …] of each row.
Tensor products_before(const Tensor& rows) {
  const Tensor one = ones({rows.size(0), 1}, rows.dtype(), {.device = rows.device()});
  return concat({one, narrow(cumprod(rows, 1), 1, 0, rows.size(1) - 1)}, 1);
}

}  // namespace

Tensors Reduce::gradient(const Backward& b) const {
  const Meta& x = b.meta();
  const Tensor dy = reshape(b.dy(), reduced_shape(x.shape, axes, true));
  switch (kind) {
    case ReduceKind::sum: return {broadcast_to(dy, x.shape)};
    case ReduceKind::mean: {
      // in f32, where n is no infinity
      const double n = static_cast<double>(joined_count(x.shape, axes));
      return {broadcast_to((dy.to(inner_dtype(x.dtype)) / n).to(x.dtype), x.shape)};
    }
    case ReduceKind::min:
    case ReduceKind::max: {
      const Tensor rows = to_rows(b.x().detach(), axes);
      if (rows.count() == 0) return {zeros_like(b.x())};
      const Tensor place = kind == ReduceKind::max ? argmax(rows, {.keep = true}) : argmin(rows, {.keep = true});
      const Tensor chosen = eq(arange(0, rows.size(1), 1, DType::i64, {.device = x.device}), place);
      return {where(from_rows(chosen, x.shape, axes), dy, zeros({}, x.dtype, {.device = x.device}))};
    }
    case ReduceKind::prod: {
      const Tensor rows = to_rows(b.x().to(inner_dtype(x.dtype)), axes);
      if (rows.count() == 0) return {zeros_like(b.x())};
      // the product of all others: of those before and of those after
      const Tensor before = products_before(rows), after = flip(products_before(flip(rows, 1)), 1);
      return {(from_rows(before * after, x.shape, axes) * dy.to(rows.dtype())).to(x.dtype)};
    }
    default: detail::refuse_no_gradient(name());
  }
}

Meta ArgReduce::result(const Meta& x) const {
  const Argument argument{"x", 1, x};
  require_plain(name(), argument);
  refuse_empty(name(), argument, 1u << axis);
  return {.dtype = DType::i64, .shape = reduced_shape(x.shape, 1u << axis, keep), .device = x.device};
}

namespace {

Tensor reduce(ReduceKind kind, const Tensor& x, const ReduceOptions& options) {
  Reduce op{kind, 0, options.keep};
  const bool joins_floats = kind <= ReduceKind::max && !options.dtype;
  if (auto* const loop = joins_floats ? few_loop<Reduce>(static_cast<std::size_t>(kind), x) : nullptr) {
    const std::uint32_t all = (1u << x.rank()) - 1u;
    op.axes = options.axis.mask(op.name(), x.rank());
    if (op.axes == all) {
      return apply_few(
          op,
          [&] {
            Tensor y = Tensor::allocate(op.name().data(), {.dtype = x.dtype(), .shape = reduced_shape(x.shape(), all, op.keep)});
            loop(x.first(), y.mutable_first(), x.count());
            return y;
          },
          x);
    }
  }
  const Meta meta = x.meta();
  require_plain(op.name(), {"x", 1, meta});
  op.axes = options.axis.mask(op.name(), meta.shape.rank());
  const Tensor in = options.dtype && kind <= ReduceKind::prod ? x.to(*options.dtype) : x;
  if (options.dtype && kind > ReduceKind::prod) {
    throw Error(ErrorKind::InvalidArgument, op.name())
        .detail(text::format("dtype = {}: its result has the dtype of x", to_string(*options.dtype)))
        .hint("Cast x, e.g. x.to(f32)");
  }
  if (is_checked() && (kind == ReduceKind::sum || kind == ReduceKind::prod) && !is_floating(in.dtype()))
    require_joins_fit(op.name(), kind == ReduceKind::sum ? Joined::sums : Joined::products, false, in, op.axes);
  return apply(op, in);
}

Tensor arg_reduce(bool largest, const Tensor& x, AxisOptions options) {
  ArgReduce op{largest, 0, options.keep};
  const Meta meta = x.meta();
  require_plain(op.name(), {"x", 1, meta});
  if (options.axis) {
    op.axis = normalise_axis(op.name(), *options.axis, meta.shape.rank());
    return apply(op, x.detach());
  }
  refuse_empty(op.name(), {"x", 1, meta}, Axes().mask(op.name(), meta.shape.rank()));
  const Tensor place = apply(op, reshape(x.detach(), {x.count()}));
  return options.keep ? reshape(place, Shape::filled(meta.shape.rank(), 1)) : place.rank() == 0 ? place : reshape(place, {});
}

}  // namespace

Tensor sum(const Tensor& x, const ReduceOptions& options) { return reduce(ReduceKind::sum, x, options); }
Tensor mean(const Tensor& x, const ReduceOptions& options) { return reduce(ReduceKind::mean, x, options); }
Tensor prod(const Tensor& x, const ReduceOptions& options) { return reduce(ReduceKind::prod, x, options); }
Tensor min(const Tensor& x, const ReduceOptions& options) { return reduce(ReduceKind::min, x, options); }
Tensor max(const Tensor& x, const ReduceOptions& options) { return reduce(ReduceKind::max, x, options); }
Tensor any(const Tensor& x, const ReduceOptions& options) { return reduce(ReduceKind::any, x, options); }
Tensor all(const Tensor& x, const ReduceOptions& options) { return reduce(ReduceKind::all, x, options); }
Tensor argmax(const Tensor& x, AxisOptions options) { return arg_reduce(true, x, options); }
Tensor argmin(const Tensor& x, AxisOptions options) { return arg_reduce(false, x, options); }

}  // namespace votive
