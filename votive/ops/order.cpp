// Rules of orders: what sort, ranks and searches give, and what is composed of them (CONTRACT.md 3.1).
#include "votive/ops/order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "votive/base/text.h"
#include "votive/numerics/convert.h"
#include "votive/numerics/pointwise.h"
#include "votive/ops/apply.h"
#include "votive/ops/as_one.h"
#include "votive/ops/index.h"
#include "votive/ops/norm.h"
#include "votive/ops/ops.h"

namespace votive {

namespace {

[[noreturn]] void refuse_k(std::string_view op, const Argument& x, Size k, int axis) {
  throw error_about(ErrorKind::InvalidArgument, op, {x})
      .detail(text::format("k = {} of axis {} of {}, which has {}", k, axis, describe(x), x.meta.shape[axis]));
}

/// A result without an input has no order; no results at all is no error.
void refuse_empty(std::string_view op, const Argument& x, int axis) {
  if (x.meta.shape[axis] != 0) return;
  for (int a = 0; a < x.meta.shape.rank(); ++a)
    if (a != axis && x.meta.shape[a] == 0) return;
  throw error_about(ErrorKind::EmptyReduction, op, {x}).detail(text::format("{} over axis {} has no elements", describe(x), axis));
}

}  // namespace

std::pair<Meta, Meta> Sort::result(const Meta& x) const {
  const Argument argument{"x", 1, x};
  require_plain(name(), argument);
  Meta values = x;
  if (k >= 0) {
    if (k > x.shape[axis]) refuse_k(name(), argument, k, axis);
    values.shape[axis] = k;
  }
  Meta indices = values;
  indices.dtype = DType::i64;
  return {values, indices};
}

std::string_view Rank::name() const {
  constexpr std::string_view names[] = {"kthvalue", "median", "nanmedian", "mode"};
  return names[static_cast<int>(kind)];
}

Meta Rank::result(const Meta& x) const {
  const Argument argument{"x", 1, x};
  require_plain(name(), argument);
  if (kind == RankKind::kth && (k < 1 || k > x.shape[axis])) refuse_k(name(), argument, k, axis);
  refuse_empty(name(), argument, axis);
  Meta y{.dtype = DType::i64, .shape = x.shape, .device = x.device};
  y.shape[axis] = 1;
  return y;
}

Meta SearchSorted::result(const Meta& sorted, const Meta& values) const {
  return {.dtype = DType::i64, .shape = values.shape, .device = sorted.device};
}

namespace {

Sorted ordered(Sort op, const Tensor& x) {
  const Meta meta = x.meta();
  require_plain(op.name(), {"x", 1, meta});
  op.axis = normalise_axis(op.name(), op.axis, meta.shape.rank());
  // The values are gather(x, indices), and so is their gradient: nothing but the indices is saved.
  auto [values, indices] = apply_pair(op, x.detach());
  return {record(Gather{op.axis}, std::move(values), x, indices), indices};
}

Sorted ranked(Rank op, const Tensor& x, RankOptions options) {
  const Meta meta = x.meta();
  require_plain(op.name(), {"x", 1, meta});
  op.axis = normalise_axis(op.name(), options.axis, meta.shape.rank());
  const Tensor indices = apply(op, x.detach());
  const Tensor values = gather(x, indices, op.axis);
  if (options.keep) return {values, indices};
  return {squeeze(values, op.axis), squeeze(indices, op.axis)};
}

/// Along the axis, or of all elements, whose axes `keep` leaves with size 1.
Sorted middle(RankKind kind, const Tensor& x, MedianOptions options) {
  const Rank op{.kind = kind, .axis = 0};
  if (options.axis) return ranked(op, x, {*options.axis, options.keep});
  const Meta meta = x.meta();
  require_plain(op.name(), {"x", 1, meta});
  const auto [value, index] = ranked(op, reshape(x, {count(meta.shape)}), {.axis = 0});
  if (!options.keep) return {value, index};
  const Shape ones = Shape::filled(meta.shape.rank(), 1);
  return {reshape(value, ones), reshape(index, ones)};
}

Tensor search(std::string_view call, const Argument& sorted, const Argument& values, const Tensor& rows, const Tensor& wanted, bool right) {
  require_plain(call, sorted);
  require_plain(call, values);
  const DType common = require_common_dtype(call, sorted, values);
  require_same_device(call, sorted, values);
  require_rank(call, sorted, 1);
  const Shape &a = sorted.meta.shape, &b = values.meta.shape;
  bool fits = a.rank() == 1 || a.rank() == b.rank();
  for (int axis = 0; fits && a.rank() > 1 && axis < a.rank() - 1; ++axis) fits = a[axis] == b[axis];
  if (!fits) {
    throw error_about(ErrorKind::ShapeMismatch, call, {sorted, values})
        .detail(text::format("{} and {} differ before their last axes", describe(sorted), describe(values)));
  }
  return apply(SearchSorted{call, right}, rows.detach().to(common), wanted.detach().to(common));
}

}  // namespace

Sorted sort(const Tensor& x, SortOptions options) { return ordered(Sort{options.axis, options.descending}, x); }

Tensor argsort(const Tensor& x, SortOptions options) {
  const Meta meta = x.meta();
  require_plain("argsort", {"x", 1, meta});
  return sort(x.detach(), {.axis = normalise_axis("argsort", options.axis, meta.shape.rank()), .descending = options.descending}).indices;
}

Tensor msort(const Tensor& x) {
  const Meta meta = x.meta();
  require_plain("msort", {"x", 1, meta});
  require_rank("msort", {"x", 1, meta}, 1);
  return sort(x, {.axis = 0}).values;
}

Sorted topk(const Tensor& x, Size k, TopkOptions options) {
  if (k < 0) throw Error(ErrorKind::InvalidArgument, "topk").detail(text::format("k = {}", k));
  return ordered(Sort{options.axis, options.largest, k}, x);
}

Sorted kthvalue(const Tensor& x, Size k, RankOptions options) { return ranked({.kind = RankKind::kth, .axis = 0, .k = k}, x, options); }
Sorted median(const Tensor& x, MedianOptions options) { return middle(RankKind::median, x, options); }
Sorted nanmedian(const Tensor& x, MedianOptions options) { return middle(RankKind::nanmedian, x, options); }
Sorted mode(const Tensor& x, RankOptions options) { return ranked({.kind = RankKind::mode, .axis = 0}, x, options); }

Tensor searchsorted(const Tensor& sorted, const Tensor& values, SearchOptions options) {
  const Meta s = sorted.meta(), v = values.meta();
  return search("searchsorted", {"sorted", 1, s}, {"values", 2, v}, sorted, values, options.right);
}

Tensor bucketize(const Tensor& x, const Tensor& boundaries, SearchOptions options) {
  const Meta v = x.meta(), b = boundaries.meta();
  const Argument edges{"boundaries", 2, b};
  require_plain("bucketize", {"x", 1, v});
  require_plain("bucketize", edges);
  require_rank("bucketize", edges, 1, 1);
  return search("bucketize", edges, {"x", 1, v}, boundaries, x, options.right);
}

namespace {

/// Places p along the sorted axis of n elements, and the two that a quantile reads there.
struct Between {
  Tensor first, second, weight;
};

/// p is f64, at most n − 1; a row of no numbers has p = −0·q, and place 0 holds its NaN.
Between between(const Tensor& p, QuantileMethod how) {
  const Tensor below = floor(p), i = below.to(DType::i64);
  const Tensor w = p - below;
  const Tensor j = i + gt(w, 0).to(DType::i64);
  switch (how) {
    case QuantileMethod::higher: return {j, j, w};
    case QuantileMethod::nearest: return {round(p).to(DType::i64), j, w};
    default: return {i, j, w};
  }
}

Tensor quantiles(std::string_view call, const Tensor& given, std::span<const double> q, QuantileOptions options, bool skip_nan) try {
  const Meta meta = given.meta();
  const Argument argument{"x", 1, meta};
  require_number(call, argument);
  const int axis = options.axis ? normalise_axis(call, *options.axis, meta.shape.rank()) : 0;
  const Tensor x = options.axis ? given : reshape(given, {count(meta.shape)});
  refuse_empty(call, {"x", 1, x.meta()}, axis);
  for (const double each : q) {
    if (!(each >= 0 && each <= 1))
      throw error_about(ErrorKind::InvalidArgument, call, {argument}).detail(text::format("q = {}", each)).accepted("0 … 1");
  }
  const DType result = is_floating(meta.dtype) ? meta.dtype : DType::f32, inside = result == DType::f64 ? DType::f64 : DType::f32;
  const CreateOptions here{.device = meta.device};
  const auto wanted = static_cast<Size>(q.size());
  const Size n = x.shape()[axis];
  Shape along = Shape::filled(x.rank(), 1), shape = x.shape();
  shape[axis] = along[axis] = wanted;
  Tensor y = zeros(shape, result, here);
  if (n != 0 && wanted != 0) {
    const Tensor sorted = sort(x, {.axis = axis}).values;
    const Tensor fractions = reshape(from_host<double>(q, {wanted}, DType::f64, here), along);
    const Tensor numbers = sum(eq(x.detach(), x.detach()), {.axis = axis, .keep = true});
    const Tensor steps = skip_nan ? maximum(numbers - 1, 0).to(DType::f64) : full({}, static_cast<double>(n - 1), DType::f64, here);
    const Between at = between(broadcast_to(fractions * steps, shape), options.method);
    const Tensor a = gather(sorted, at.first, axis).to(inside);
    y = a;
    if (options.method == QuantileMethod::linear || options.method == QuantileMethod::midpoint) {
      const Tensor b = gather(sorted, at.second, axis).to(inside);
      const bool linear = options.method == QuantileMethod::linear;
      y = where(eq(a, b), a, linear ? a + at.weight.to(inside) * (b - a) : a * 0.5 + b * 0.5);
    }
    const Tensor last = narrow(sorted, axis, n - 1, 1).to(inside);  // a NaN, when there is one
    if (!skip_nan) y = where(ne(last, last), last, y);
    y = y.to(result);
  }
  if (options.axis || !options.keep) return y;
  Shape kept = Shape::filled(meta.shape.rank(), 1);  // all elements: the one axis of y counts q
  kept.insert(0, wanted);
  return reshape(y, kept);
} catch (const std::bad_alloc&) { detail::refuse_memory(call); }

Tensor one_quantile(std::string_view call, const Tensor& x, double q, QuantileOptions options, bool skip_nan) {
  return as_one(call, [&] {
    const Tensor y = quantiles(call, x, std::span(&q, 1), options, skip_nan);
    if (!options.axis) return options.keep ? squeeze(y, 0) : reshape(y, {});
    return options.keep ? y : squeeze(y, *options.axis);
  });
}

Tensor list_of_quantiles(std::string_view call, const Tensor& x, std::span<const double> q, QuantileOptions options, bool skip_nan) {
  return as_one(call, [&] {
    const Tensor y = quantiles(call, x, q, options, skip_nan);
    if (!options.axis) return y;
    const int axis = normalise_axis(call, *options.axis, x.rank());
    const Tensor leading = transpose(unsqueeze(y, 0), 0, axis + 1);  // [q, …, 1 at axis, …]
    return options.keep ? leading : squeeze(leading, axis + 1);
  });
}

}  // namespace

Tensor quantile(const Tensor& x, double q, QuantileOptions options) { return one_quantile("quantile", x, q, options, false); }
Tensor quantile(const Tensor& x, std::span<const double> q, QuantileOptions options) {
  return list_of_quantiles("quantile", x, q, options, false);
}
Tensor nanquantile(const Tensor& x, double q, QuantileOptions options) { return one_quantile("nanquantile", x, q, options, true); }
Tensor nanquantile(const Tensor& x, std::span<const double> q, QuantileOptions options) {
  return list_of_quantiles("nanquantile", x, q, options, true);
}

Tensor isin(const Tensor& x, const Tensor& values) {
  return as_one("isin", [&] {
    const Meta a = x.meta(), v = values.meta();
    const Argument left{"x", 1, a}, right{"values", 2, v};
    require_plain("isin", left);
    require_plain("isin", right);
    const DType common = require_common_dtype("isin", left, right);
    require_same_device("isin", left, right);
    const Tensor wanted = x.detach().to(common), sorted = sort(reshape(values.detach().to(common), {count(v.shape)})).values;
    const Tensor found = lt(searchsorted(sorted, wanted), searchsorted(sorted, wanted, {.right = true}));
    return is_floating(common) ? logical_and(found, eq(wanted, wanted)) : found;
  });
}

Unique unique(const Tensor& x) {
  return as_one("unique", [&] {
    const Meta meta = x.meta();
    require_plain("unique", {"x", 1, meta});
    const Size n = count(meta.shape);
    const CreateOptions here{.device = meta.device};
    const Tensor flat = reshape(x, {n});
    if (n == 0) return Unique{flat, zeros(meta.shape, DType::i64, here), zeros({0}, DType::i64, here)};
    const auto [values, order] = sort(flat.detach());
    const Tensor one = narrow(values, 0, 0, n - 1), next = narrow(values, 0, 1, n - 1);
    Tensor differs = ne(one, next);
    if (is_floating(meta.dtype)) differs = logical_and(differs, eq(one, one));  // after a NaN there are only NaN
    const Tensor starts = true_places(concat({full({1}, true, DType::boolean, here), differs}));
    const Tensor ends = concat({narrow(starts, 0, 1, starts.count() - 1), full({1}, n, DType::i64, here)});
    const Tensor group = searchsorted(starts, arange(0, n, 1, DType::i64, here), {.right = true}) - 1;
    const Tensor inverse = index_copy(zeros({n}, DType::i64, here), order, group);
    return Unique{index_select(flat, index_select(order, starts)), reshape(inverse, meta.shape), ends - starts};
  });
}

namespace {

/// zeros of a size that the values of a tensor decide: `op` is who asked for the memory.
Tensor new_counts(const char* op, Size n, DType dtype, Device device) {
  checked_count(op, {n}, block_bytes(dtype));
  const Meta meta{.dtype = dtype, .shape = {n}, .device = device};
  Tensor y = Tensor::allocate(op, meta);
  apply_into(Fill{meta, 0}, y);
  return y;
}

/// Of each the least f32 that is not below it: an f32 is at least the one if it is at least the other.
std::vector<float> at_least(const std::vector<double>& values) {
  std::vector<float> floats;
  floats.reserve(values.size());
  for (const double v : values) {
    const float nearest = numerics::f64_to_f32(v);
    floats.push_back(nearest < v ? numerics::nextafter_f32(nearest, std::numeric_limits<float>::infinity()) : nearest);
  }
  return floats;
}

}  // namespace

Tensor bincount(const Tensor& x, const BincountOptions& options) {
  const Meta meta = x.meta(), w = options.weights.meta();
  const Argument argument{"x", 1, meta}, weights{"weights", 2, w};
  require_integer("bincount", argument);
  if (w.present) {
    require_number("bincount", weights);
    require_same_device("bincount", argument, weights);
    require_shape("bincount", weights, meta.shape);
  }
  if (options.minimum < 0) throw Error(ErrorKind::InvalidArgument, "bincount").detail(text::format("minimum = {}", options.minimum));
  const Size n = count(meta.shape);
  const Tensor flat = reshape(x, {n});
  Size bins = options.minimum;
  if (n != 0) {
    if (is_signed_integer(meta.dtype) && min(flat).to(DType::i64).item<std::int64_t>() < 0) {
      const Size at = narrow(true_places(lt(flat, 0)), 0, 0, 1).item<std::int64_t>();
      refuse_index({"bincount", "x", 1, -1, INT64_MAX, false}, x, at, select(flat, 0, at).to(DType::i64).item<std::int64_t>());
    }
    const Tensor largest = max(flat).to(DType::u64);
    const std::uint64_t value = largest.item<std::uint64_t>();
    if (value >= INT64_MAX) throw Error(ErrorKind::SizeOverflow, "bincount").detail(text::format("element {} of x", value));
    bins = std::max(bins, static_cast<Size>(value) + 1);
  }
  const DType dtype = w.present ? w.dtype : DType::i64;
  const Tensor none = new_counts("bincount", bins, dtype, meta.device);
  if (n == 0) return none;
  return index_add(none, flat, w.present ? reshape(options.weights, {n}) : full({}, 1, dtype, {.device = meta.device}));
}

Tensor histc(const Tensor& x, Size bins, HistogramOptions options) {
  return as_one("histc", [&] {
    const Meta meta = x.meta();
    require_number("histc", {"x", 1, meta});
    const Size n = count(meta.shape);
    const auto refuse = [&](std::string detail) {
      throw error_about(ErrorKind::InvalidArgument, "histc", {{"x", 1, meta}}).detail(std::move(detail));
    };
    if (bins < 1) refuse(text::format("bins = {}", bins));
    checked_count("histc", {bins}, 16);  // edges and counts
    const DType searched = is_floating(meta.dtype) ? inner_dtype(meta.dtype) : DType::f64;
    const Tensor values = reshape(x, {n}).detach().to(searched);
    double low = options.low.value_or(n == 0 || options.low ? 0.0 : min(values).to(DType::f64).item<double>());
    double high = options.high.value_or(n == 0 || options.high ? 1.0 : max(values).to(DType::f64).item<double>());
    if (!std::isfinite(low) || !std::isfinite(high) || low > high) refuse(text::format("the range from {} to {}", low, high));
    if (low == high) {
      low -= 1;
      high += 1;
    }
    const CreateOptions here{.device = meta.device};
    std::vector<double> edges = linspace(low, high, bins + 1, DType::f64).to_host<double>();
    // what lies on the last edge belongs to the last bin
    edges.back() = numerics::nextafter_f64(high, std::numeric_limits<double>::infinity());
    const Tensor bounds = searched == DType::f64 ? from_host<double>(edges, {bins + 1}, DType::f64)
                                                 : from_host<float>(at_least(edges), {bins + 1}, DType::f32);
    // 0 before the first edge, bins + 1 from the last one on
    const Tensor bin = searchsorted(bounds.to(meta.device), values, {.right = true});
    const Tensor counts = index_add(new_counts("histc", bins + 2, DType::i64, meta.device), bin, full({}, 1, DType::i64, here));
    return contiguous(narrow(counts, 0, 1, bins));
  });
}

}  // namespace votive
