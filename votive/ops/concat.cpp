// Taking tensors apart and putting them together, and the verb that writes into one that exists.
#include <algorithm>
#include <cstdlib>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"
#include "votive/ops/views.h"

namespace votive {

namespace {

/// Parts of `each` elements of an axis, the last one perhaps smaller; one part at least.
std::vector<Tensor> parts_of(std::string_view op, const Tensor& x, int axis, Size each) {
  const Size n = x.shape()[axis];
  std::vector<Tensor> parts;
  for (Size start = 0; start < n;) {
    const Size part = std::min(each, n - start);
    parts.push_back(narrowed(op, x, axis, start, part));
    start += part;
  }
  if (parts.empty()) parts.push_back(x);
  return parts;
}

}  // namespace

std::vector<Tensor> split(const Tensor& x, std::span<const Size> sizes, int axis) {
  const Meta meta = x.meta();
  require_present("split", {"x", 1, meta});
  const int at = normalise_axis("split", axis, meta.shape.rank());
  Size rest = meta.shape[at];
  for (const Size n : sizes) {
    if (n < 0 || n > rest) rest = -1;
    if (rest < 0) break;
    rest -= n;
  }
  if (rest != 0) {
    throw error_about(ErrorKind::ShapeMismatch, "split", {{"x", 1, meta}})
        .detail(text::format("sizes {} are not the parts of axis {} of {}, which has {}",
                             to_string(Shape(sizes.first(std::min<std::size_t>(sizes.size(), max_rank)))), axis, describe(meta),
                             meta.shape[at]));
  }
  std::vector<Tensor> parts;
  Size start = 0;
  for (const Size n : sizes) {
    parts.push_back(narrowed("split", x, at, start, n));
    start += n;
  }
  return parts;
}

std::vector<Tensor> split(const Tensor& x, std::initializer_list<Size> sizes, int axis) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}

std::vector<Tensor> split(const Tensor& x, Size size, int axis) {
  const Meta meta = x.meta();
  require_present("split", {"x", 1, meta});
  const int at = normalise_axis("split", axis, meta.shape.rank());
  if (size < 1) throw error_about(ErrorKind::InvalidArgument, "split", {{"x", 1, meta}}).detail(text::format("parts of size {}", size));
  return parts_of("split", x, at, size);
}

std::vector<Tensor> chunk(const Tensor& x, Size chunks, int axis) {
  const Meta meta = x.meta();
  require_present("chunk", {"x", 1, meta});
  const int at = normalise_axis("chunk", axis, meta.shape.rank());
  if (chunks < 1) throw error_about(ErrorKind::InvalidArgument, "chunk", {{"x", 1, meta}}).detail(text::format("{} chunks", chunks));
  const Size n = meta.shape[at];
  return parts_of("chunk", x, at, n / chunks + (n % chunks != 0 ? 1 : 0));
}

namespace {

std::string named(std::size_t i) { return text::format("x[{}]", i); }

/// What concat and stack ask of their list before shapes: the common dtype and one device. Floats join first, so that an integer meets the float it has
/// to fit: the order of the list decides nothing (CONTRACT.md 1.2).
DType require_list(std::string_view op, std::span<const Tensor> x) {
  if (x.empty()) throw Error(ErrorKind::InvalidArgument, op).detail("no tensors");
  for (std::size_t i = 0; i < x.size(); ++i) require_unblocked(op, {named(i), static_cast<int>(i) + 1, x[i].meta()});
  std::string so_far;
  Meta joined;
  for (const bool floats : {true, false}) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Meta meta = x[i].meta();
      if ((is_floating(meta.dtype) || is_float8(meta.dtype)) != floats) continue;
      const std::string name = named(i);
      if (so_far.empty()) {
        so_far = name;
        joined = meta;
        continue;
      }
      joined.dtype = require_common_dtype(op, {so_far, 1, joined}, {name, static_cast<int>(i) + 1, meta});
      so_far += text::format(", {}", name);
      if (so_far.size() > 40) so_far = text::format("x[0..{}]", i);
    }
  }
  const Meta first = x.front().meta();
  for (std::size_t i = 1; i < x.size(); ++i) {
    const Meta meta = x[i].meta();
    require_same_device(op, {named(0), 1, first}, {named(i), static_cast<int>(i) + 1, meta});
  }
  return joined.dtype;
}

}  // namespace

Tensor concatenated(Concat op, DType dtype, std::span<const Tensor> x) try {
  std::vector<Tensor> parts;
  parts.reserve(x.size());
  for (const Tensor& part : x) parts.push_back(part.to(dtype));
  return apply_list(op, std::span<const Tensor>(parts));
} catch (const std::bad_alloc&) { detail::refuse_memory(op_name(op)); }

Meta Concat::result(std::span<const Tensor> x) const {
  Meta result{.dtype = require_list(called, x), .shape = {}, .device = x.front().device()};
  const Meta first = x.front().meta();
  const std::string first_name = named(0);
  const Argument front{first_name, 1, first};
  require_rank(called, front, 1);
  const int at = normalise_axis(called, axis, first.shape.rank());
  result.shape = first.shape;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const Meta meta = x[i].meta();
    const std::string name = named(i);
    bool fits = meta.shape.rank() == first.shape.rank();
    for (int a = 0; fits && a < first.shape.rank(); ++a) fits = a == at || meta.shape[a] == first.shape[a];
    if (!fits) {
      throw error_about(ErrorKind::ShapeMismatch, called, {front, {name, static_cast<int>(i) + 1, meta}})
          .detail(text::format("{} and {} {} differ beside axis {}", describe(front), name, describe(meta), axis));
    }
    if (meta.shape[at] > INT64_MAX - result.shape[at])
      throw Error(ErrorKind::SizeOverflow, called).detail(text::format("axis {} passes 2^63 - 1", axis));
    result.shape[at] += meta.shape[at];
  }
  checked_count(called, result.shape, block_bytes(result.dtype));
  return result;
}

Tensor concat(std::span<const Tensor> x, int axis) {
  const Meta result = Concat{axis}.result(x);
  return concatenated(Concat{normalise_axis("concat", axis, result.shape.rank())}, result.dtype, x);
}

Tensor concat(std::initializer_list<Tensor> x, int axis) { return concat(std::span(x.begin(), x.size()), axis); }

Tensor stack(std::span<const Tensor> x, int axis) {
  const DType dtype = require_list("stack", x);
  const Meta first = x.front().meta();
  require_rank("stack", {"x[0]", 1, first}, 0, max_rank - 1);
  const int at = normalise_axis("stack", axis, first.shape.rank() + 1);
  for (std::size_t i = 1; i < x.size(); ++i) {
    const Meta meta = x[i].meta();
    if (meta.shape == first.shape) continue;
    const std::string name = named(i);
    throw error_about(ErrorKind::ShapeMismatch, "stack", {{"x[0]", 1, first}, {name, static_cast<int>(i) + 1, meta}})
        .detail(text::format("x[0] {} and {} {} differ in shape", describe(first), name, describe(meta)));
  }
  std::vector<Tensor> parts;
  parts.reserve(x.size());
  for (const Tensor& part : x) parts.push_back(unsqueeze(part, at));
  return concatenated(Concat{at, "stack"}, dtype, parts);
}

Tensor stack(std::initializer_list<Tensor> x, int axis) { return stack(std::span(x.begin(), x.size()), axis); }

namespace {

/// Whether two elements may share a place: steps, from the shortest, do not each pass all that shorter ones reach. Every view that names its places once
/// passes, for they are cut out of row-major tensors.
bool overlaps_itself(const Layout& layout) {
  std::vector<std::pair<Size, Size>> steps;  // |stride|, places beyond the first
  for (int axis = 0; axis < layout.rank(); ++axis) {
    if (layout.shape[axis] == 0) return false;
    if (layout.shape[axis] > 1) steps.emplace_back(std::abs(layout.strides[axis]), layout.shape[axis] - 1);
  }
  std::sort(steps.begin(), steps.end());
  Size reach = 0;
  for (const auto& [stride, more] : steps) {
    if (stride <= reach) return true;
    reach += stride * more;
  }
  return false;
}

}  // namespace

void copy_into(Tensor& destination, const Tensor& source) {
  const Meta to = destination.meta(), from = source.meta();
  const Argument d{"destination", 1, to}, s{"source", 2, from};
  require_unblocked("copy_into", d);
  require_unblocked("copy_into", s);
  if (common_dtype(to.dtype, from.dtype) != to.dtype) {
    throw error_about(ErrorKind::DTypeMismatch, "copy_into", {d, s})
        .detail(text::format("{} does not hold every value of {}", describe(d), describe(s)))
        .hint(text::format("Cast it, e.g. source.to({})", to_string(to.dtype)));
  }
  require_same_device("copy_into", d, s);
  if (require_broadcast("copy_into", d, s) != to.shape) {
    throw error_about(ErrorKind::ShapeMismatch, "copy_into", {d, s})
        .detail(text::format("{} does not broadcast to {}", describe(s), describe(d)));
  }
  if (destination.is_borrowed()) {
    throw error_about(ErrorKind::InvalidArgument, "copy_into", {d})
        .detail(text::format("{} is memory of a file or of another owner, which is only read", describe(d)))
        .hint("Write into a tensor of your own, e.g. one from zeros()");
  }
  for (int axis = 0; axis < to.shape.rank(); ++axis) {
    if (to.shape[axis] > 1 && destination.strides()[axis] == 0) {
      throw error_about(ErrorKind::InvalidArgument, "copy_into", {d})
          .detail(text::format("{} is a broadcast view: its elements along axis {} are one", describe(d), axis))
          .hint("Write into contiguous(destination)");
    }
  }
  if (overlaps_itself(destination.layout())) {
    throw error_about(ErrorKind::InvalidArgument, "copy_into", {d})
        .detail(text::format("{} is a view whose elements share places, such as overlapping windows", describe(d)))
        .hint("Write into contiguous(destination)");
  }
  if (asks_for_gradient(destination, source)) {
    throw error_about(ErrorKind::InvalidArgument, "copy_into", {d, s})
        .detail("a write into memory has no gradient, and the destination or the source asks for one")
        .hint("Detach it, e.g. source.detach(), or build the result with concat or where");
  }
  Tensor values = source.to(to.dtype);
  if (values.shares_buffer_with(destination)) values = apply(Copy{}, values);
  apply_into(Copy{}, destination, broadcast_to(values, to.shape));
  destination.count_write();
}

}  // namespace votive
