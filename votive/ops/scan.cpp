// Rules of scans, and gradients that divide by nothing: a product's zeros get their own.
#include "votive/ops/scan.h"

#include <limits>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/as_one.h"
#include "votive/ops/norm.h"
#include "votive/ops/ops.h"
#include "votive/ops/reduce.h"

namespace votive {

std::string_view Scan::name() const {
  constexpr std::string_view names[] = {"cumsum", "cumprod", "logcumsumexp"};
  return names[static_cast<int>(kind)];
}

Meta Scan::result(const Meta& x) const {
  require_plain(name(), {"x", 1, x});
  Meta y = x;
  if (is_floating(x.dtype)) return y;
  y.dtype = kind == ScanKind::logsumexp ? DType::f32 : is_unsigned_integer(x.dtype) ? DType::u64 : DType::i64;
  return y;
}

std::pair<Meta, Meta> ScanExtreme::result(const Meta& x) const {
  require_plain(name(), {"x", 1, x});
  Meta indices = x;
  indices.dtype = DType::i64;
  return {x, indices};
}

Meta Recurrence::result(const Meta& a, const Meta& b) const {
  const Argument x{"a", 1, a}, y{"b", 2, b};
  require_floating(info.name, x);
  require_floating(info.name, y);
  require_same_dtype(info.name, x, y);
  require_same_device(info.name, x, y);
  require_shape(info.name, y, a.shape);
  return b;
}

namespace {

/// [first, x[0], …, x[n−2]] along an axis.
Tensor delayed(const Tensor& x, int axis, Literal first) {
  if (x.size(axis) == 0) return x;
  Shape one = x.shape();
  one[axis] = 1;
  return concat({full(one, first, x.dtype(), {.device = x.device()}), narrow(x, axis, 0, x.size(axis) - 1)}, axis);
}

/// r[k] = g[k] + a[k+1]·r[k+1], from the end.
Tensor backwards(const Tensor& a, const Tensor& g, int axis) {
  return flip(linear_recurrence(delayed(flip(a, axis), axis, 1), flip(g, axis), axis), axis);
}

Tensor where_equal(const Tensor& a, const Tensor& b, double value, const Tensor& otherwise) {
  return where(eq(a, b), full({}, value, otherwise.dtype(), {.device = otherwise.device()}), otherwise);
}

}  // namespace

// prod: dx[i] = Π_{j<i} x[j] · r[i], r[i] = Σ_{k≥i} dy[k] · Π_{i<j≤k} x[j], a recurrence from the end.
// logsumexp: dx[i] = exp(x[i] − y[i]) · r[i], r[i] = Σ_{k≥i} dy[k] · exp(y[i] − y[k]); no factor is larger than 1.
Tensors Scan::gradient(const Backward& b) const {
  const DType dtype = b.meta().dtype, inner = inner_dtype(dtype);
  if (kind == ScanKind::sum) return {flip(cumsum(flip(b.dy(), axis), axis), axis)};
  const Tensor x = b.x().to(inner), dy = b.dy().to(inner);
  if (kind == ScanKind::prod) {
    const Tensor before = delayed(cumprod(x, axis), axis, 1);
    return {(before * backwards(x, dy, axis)).to(dtype)};
  }
  const Tensor y = dtype == inner ? b.y() : logcumsumexp(x, axis);
  const Tensor last = delayed(y, axis, 0);
  const Tensor steps = exp(where_equal(last, y, 0, last - y));
  const Tensor share = exp(where_equal(x, y, 0, x - y));
  const double nothing = -std::numeric_limits<double>::infinity();
  const Tensor dx = where_equal(x, full({}, nothing, inner, {.device = x.device()}), 0, share * backwards(steps, dy, axis));
  return {dx.to(dtype)};
}

// The positions of one extreme are a run that starts at it: its dy are summed from the run's end, and the sum is the first's.
Tensors ScanExtreme::gradient(const Backward& b) const {
  const Meta& x = b.meta();
  const DType inner = inner_dtype(x.dtype);
  const Tensor &dy = b.dy(0), &place = b.y(1);
  Shape line = Shape::filled(x.shape.rank(), 1);
  line[axis] = x.shape[axis];
  const Tensor position = reshape(arange(0, x.shape[axis], 1, DType::i64, {.device = x.device}), line);
  const Tensor same = eq(place, delayed(place, axis, -1)).to(inner);
  return {where(eq(place, position), backwards(same, dy.to(inner), axis), 0).to(x.dtype)};
}

// With g the gradient of y and r[k] = g[k] + a[k+1]·r[k+1]: db = r, da[k] = r[k]·y[k−1].
Tensors Recurrence::gradient(const Backward& b) const {
  const DType dtype = b.meta().dtype, inner = inner_dtype(dtype);
  const Tensor r = backwards(b.x(0).to(inner), b.dy().to(inner), axis);
  Tensors gradients(2);
  if (b.wants(0)) gradients[0] = (r * delayed(b.y().to(inner), axis, 0)).to(dtype);
  if (b.wants(1)) gradients[1] = r.to(dtype);
  return gradients;
}

namespace {

Tensor scan(ScanKind kind, Tensor x, int axis, const ScanOptions& options = {}) {
  Scan op{kind, 0};
  require_plain(op.name(), {"x", 1, x.meta()});
  op.axis = normalise_axis(op.name(), axis, x.rank());
  if (options.dtype) x = x.to(*options.dtype);
  const Meta y = op.result(x.meta());
  if (is_checked() && kind != ScanKind::logsumexp && !is_floating(x.dtype()))
    require_joins_fit(op.name(), kind == ScanKind::sum ? Joined::sums : Joined::products, true, x, 1u << op.axis);
  return apply(op, kind == ScanKind::logsumexp ? x.to(y.dtype) : x);
}

ScannedExtreme scan_extreme(bool largest, const Tensor& x, int axis) {
  ScanExtreme op{largest, 0};
  require_plain(op.name(), {"x", 1, x.meta()});
  op.axis = normalise_axis(op.name(), axis, x.rank());
  auto [values, indices] = apply_pair(op, x);
  return {std::move(values), std::move(indices)};
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis, const ScanOptions& options) { return scan(ScanKind::sum, x, axis, options); }
Tensor cumprod(const Tensor& x, int axis, const ScanOptions& options) { return scan(ScanKind::prod, x, axis, options); }
Tensor logcumsumexp(const Tensor& x, int axis) { return scan(ScanKind::logsumexp, x, axis); }
ScannedExtreme cummax(const Tensor& x, int axis) { return scan_extreme(true, x, axis); }
ScannedExtreme cummin(const Tensor& x, int axis) { return scan_extreme(false, x, axis); }

Tensor linear_recurrence(const Tensor& a, const Tensor& b, int axis) {
  Recurrence op{0};
  const Meta y = op.result(a.meta(), b.meta());
  op.axis = normalise_axis(op.info.name, axis, y.shape.rank());
  return apply(op, a, b);
}

Tensor diff(const Tensor& x, int n, int axis) {
  return as_one("diff", [&] {
    require_plain("diff", {"x", 1, x.meta()});
    axis = normalise_axis("diff", axis, x.rank());
    if (n < 0) throw Error(ErrorKind::InvalidArgument, "diff").detail(text::format("n = {}", n)).accepted("0 and more");
    Tensor y = x;
    for (int i = 0; i < n && y.size(axis) > 0; ++i) {
      const Size m = y.size(axis) - 1;
      const Tensor later = narrow(y, axis, 1, m), earlier = narrow(y, axis, 0, m);
      y = x.dtype() == DType::boolean ? logical_xor(later, earlier) : later - earlier;
    }
    return y;
  });
}

}  // namespace votive
