// x[…]: first a view by integers and ranges, then one index_select over the axes that tensors choose from, merged into one.
#include "votive/ops/index_syntax.h"

#include <algorithm>

#include "votive/base/text.h"
#include "votive/ops/ops.h"
#include "votive/ops/views.h"

namespace votive {

Meta Locate::result(std::span<const Tensor> indices) const {
  Meta y{.dtype = DType::i64, .shape = {}, .device = indices.front().device()};
  for (const Tensor& i : indices) y.shape = broadcast_shape(info.name, y.shape, i.shape());
  return y;
}

namespace {

/// A list of entries read against a tensor's shape.
struct Plan {
  struct Step {
    enum class Kind : std::uint8_t { whole, range, integer, added, chosen } kind;
    Size at = 0;  // of an integer, from the front
    Range range = {};
  };
  std::vector<Step> steps;  // one per axis of x, and one per new axis
  Tensors indices;          // of the chosen axes, in order
  Locate locate{};
  int first = -1;       // axis of the view at which the choice stands when nothing parts it
  bool parted = false;  // by a range, ellipsis or newaxis
};

class Reading {
 public:
  Reading(std::string_view op, const Tensor& x, std::span<const Index> at) : op_(op), x_(x.meta()) {
    int used = 0, ellipses = 0, axes = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto& what = at[i].what();
      const auto* tensor = std::get_if<Tensor>(&what);
      if (tensor != nullptr) check(*tensor, i);
      if (std::holds_alternative<Ellipsis>(what))
        ++ellipses;
      else if (tensor != nullptr && tensor->dtype() == DType::boolean)
        used += tensor->rank();
      else if (!std::holds_alternative<NewAxis>(what))
        ++used;
      any_chosen_ = any_chosen_ || tensor != nullptr;
      axes += std::holds_alternative<NewAxis>(what) ? 1 : 0;
    }
    const int rank = x_.shape.rank();
    if (used > rank || ellipses > 1 || rank + axes > max_rank) {
      throw error_about(ellipses <= 1 && used <= rank ? ErrorKind::ShapeMismatch : ErrorKind::InvalidArgument, op_, {{"x", 1, x_}})
          .detail(ellipses > 1             ? std::string("more than one ellipsis")
                  : rank + axes > max_rank ? text::format("{} new axes for {}; there can be {} axes", axes, describe(x_), max_rank)
                                           : text::format("entries for {} axes, and {} has {}", used, describe(x_), rank));
    }
    for (std::size_t i = 0; i < at.size(); ++i) take(at[i], i, rank - used);
    if (ellipses == 0) whole(rank - used);
  }
  Plan plan() && { return std::move(plan_); }

 private:
  using Kind = Plan::Step::Kind;

  void check(const Tensor& t, std::size_t entry) const {
    const Meta meta = t.meta();
    const std::string name = text::format("at[{}]", entry);
    const Argument argument{name, 2, meta};
    if (meta.present && meta.dtype == DType::boolean) {
      if (meta.shape.rank() == 0) {
        throw error_about(ErrorKind::ShapeMismatch, op_, {argument})
            .detail(text::format("the mask {} has no axes to choose along", describe(argument)));
      }
    } else if (meta.present && !is_integer(meta.dtype)) {
      throw error_about(ErrorKind::DTypeMismatch, op_, {argument})
          .detail(describe(argument))
          .accepted("integers, and bool for masks")
          .hint(text::format("Use {0}.to(i64) for positions or ne({0}, 0) for a mask", name));
    } else {
      require_index(op_, argument);
    }
    require_same_device(op_, {"x", 1, x_}, argument);
  }

  void take(const Index& index, std::size_t entry, int left) {
    const auto& what = index.what();
    if (const auto* tensor = std::get_if<Tensor>(&what)) {
      choose(*tensor, entry);
    } else if (const auto* at = std::get_if<Size>(&what)) {
      integer(*at);
    } else if (const auto* range = std::get_if<Range>(&what)) {
      basic();
      plan_.steps.push_back({Kind::range, 0, *range});
      ++axis_, ++made_;
    } else if (std::holds_alternative<NewAxis>(what)) {
      basic();
      plan_.steps.push_back({Kind::added});
      ++made_;
    } else {
      basic();
      whole(left);
    }
  }

  void whole(int axes) {
    for (int i = 0; i < axes; ++i) plan_.steps.push_back({Kind::whole});
    axis_ += axes, made_ += axes;
  }

  /// An entry that is no part of a choice: another tensor or integer after it is parted from those before.
  void basic() { open_ = false; }
  void joins_choice() {
    if (!any_chosen_) return;
    if (plan_.first < 0) plan_.first = made_;
    plan_.parted = plan_.parted || (began_ && !open_);
    began_ = open_ = true;
  }

  void integer(Size at) {
    const Size n = x_.shape[axis_];
    if (at < -n || at >= n) {
      throw error_about(ErrorKind::IndexOutOfRange, op_, {{"x", 1, x_}})
          .value(text::format("{}", at))
          .detail(n == 0 ? text::format("index {} of axis {} of {}, which is empty", at, axis_, describe(x_))
                         : text::format("index {} of axis {} of {}; valid range is {}..{}", at, axis_, describe(x_), -n, n - 1));
    }
    joins_choice();
    plan_.steps.push_back({Kind::integer, at < 0 ? at + n : at});
    ++axis_;
  }

  void choose(const Tensor& t, std::size_t entry) {
    joins_choice();
    if (t.dtype() != DType::boolean) return add_index(t, entry);
    for (int i = 0; i < t.rank(); ++i) {
      if (t.shape()[i] == x_.shape[axis_ + i]) continue;
      const Meta mask = t.meta();
      throw error_about(ErrorKind::ShapeMismatch, op_, {{"x", 1, x_}, {text::format("at[{}]", entry), 2, mask}})
          .detail(text::format("the mask {} and the axes from {} of {} differ", describe(mask), axis_, describe(x_)));
    }
    const Tensor found = nonzero(t);
    for (int i = 0; i < t.rank(); ++i) add_index(select(found, 1, i), entry);
  }

  void add_index(const Tensor& indices, std::size_t entry) {
    plan_.steps.push_back({Kind::chosen});
    plan_.locate.entries[plan_.indices.size()] = static_cast<std::int8_t>(std::min<std::size_t>(entry, 127));
    plan_.locate.axes[plan_.indices.size()] = static_cast<std::int8_t>(axis_);
    plan_.locate.sizes.push_back(x_.shape[axis_++]);
    plan_.indices.push_back(indices);
  }

  std::string_view op_;
  Meta x_;
  Plan plan_;
  int axis_ = 0;  // of x
  int made_ = 0;  // axes of the result so far, the choice's left out
  bool any_chosen_ = false, began_ = false, open_ = false;
};

/// What ranges, integers and new axes make of a layout; chosen axes come as they are, and their places are noted.
Layout viewed(std::string_view op, const Meta& x, const Plan& plan, Layout layout, std::vector<int>* chosen) {
  int axis = 0;
  Meta now = x;
  for (const Plan::Step& step : plan.steps) {
    switch (step.kind) {
      case Plan::Step::Kind::whole: ++axis; break;
      case Plan::Step::Kind::range:
        now.shape = layout.shape;
        layout = sliced_by(op, now, {.axis = axis, .start = step.range.start, .stop = step.range.stop, .step = step.range.step}, layout);
        ++axis;
        break;
      case Plan::Step::Kind::integer:
        layout = sliced(layout, axis, step.at, 1, 1);
        layout.shape.erase(axis);
        layout.strides.erase(axis);
        break;
      case Plan::Step::Kind::added:
        layout.shape.insert(axis, 1);
        layout.strides.insert(axis, 1);
        ++axis;
        break;
      case Plan::Step::Kind::chosen:
        if (chosen != nullptr) chosen->push_back(axis);
        ++axis;
        break;
    }
  }
  return layout;
}

Tensor indexed(std::string_view op, const Tensor& x, std::span<const Index> at) {
  const Meta meta = elements_meta(op, x);
  const Plan plan = Reading(op, x, at).plan();
  std::vector<int> chosen;
  const Layout checked = viewed(op, meta, plan, x.layout(), &chosen);
  const bool same = checked.shape == meta.shape && checked.strides == x.strides() && checked.offset == x.offset();
  const Tensor y = same ? x : view_of(op, x, [&](const Layout& l) { return viewed(op, meta, plan, l, nullptr); });
  if (chosen.empty()) return y;
  Size choices = 1;
  for (const Size n : plan.locate.sizes) {
    if (__builtin_mul_overflow(choices, n, &choices))
      throw error_about(ErrorKind::SizeOverflow, op, {{"x", 1, meta}}).detail("the chosen axes have more than 2^63 - 1 positions");
  }
  const Tensor positions = apply_list(plan.locate, std::span<const Tensor>(plan.indices));
  const int rank = y.rank(), k = static_cast<int>(chosen.size()), place = plan.parted ? 0 : plan.first;
  if (rank - k + positions.rank() > max_rank) {
    throw error_about(ErrorKind::ShapeMismatch, op, {{"x", 1, meta}})
        .detail(text::format("the result would have {} axes; there can be {}", rank - k + positions.rank(), max_rank));
  }
  // the chosen axes next to each other at `place`, then as one
  std::vector<int> order;
  for (int axis = 0; axis < rank; ++axis) {
    if (std::find(chosen.begin(), chosen.end(), axis) == chosen.end()) order.push_back(axis);
  }
  order.insert(order.begin() + place, chosen.begin(), chosen.end());
  Tensor merged = std::is_sorted(order.begin(), order.end()) ? y : permuted_to(op, y, order);
  if (k > 1) {
    Shape shape;
    for (int axis = 0; axis < rank; ++axis) {
      if (axis == place) shape.push_back(choices);
      if (axis < place || axis >= place + k) shape.push_back(merged.shape()[axis]);
    }
    merged = reshaped_to(op, merged, shape);
  }
  return index_select(merged, positions, place);
}

}  // namespace

Tensor index(const Tensor& x, std::span<const Index> at) { return indexed("index", x, at); }
Tensor index(const Tensor& x, std::initializer_list<Index> at) { return index(x, std::span(at.begin(), at.size())); }

Tensor index_put(const Tensor& x, std::span<const Index> at, const Tensor& source, IndexPutOptions options) {
  constexpr std::string_view op = "index_put";
  const Meta meta = elements_meta(op, x);
  const bool by_tensors = std::any_of(at.begin(), at.end(), [](const Index& i) { return std::holds_alternative<Tensor>(i.what()); });
  if (!by_tensors && !options.accumulate) {
    const Plan plan = Reading(op, x, at).plan();
    return overlaid(op, x, source, viewed(op, meta, plan, Layout::contiguous(meta.shape), nullptr));
  }
  const Meta from = source.meta();
  const Argument a{"x", 1, meta}, s{"source", 3, from};
  if (options.accumulate) require_number(op, a);
  require_unblocked(op, s);
  if (common_dtype(meta.dtype, from.dtype) != meta.dtype) {
    throw error_about(ErrorKind::DTypeMismatch, op, {a, s})
        .detail(text::format("{} does not hold every value of {}", describe(a), describe(s)))
        .hint(text::format("Cast it, e.g. source.to({})", to_string(meta.dtype)));
  }
  require_same_device(op, a, s);
  // where each update goes: the same index of the row-major numbers of x's elements
  const Size n = count(meta.shape);
  const Tensor numbers = arange(0, n, 1, DType::i64, {.device = meta.device});
  const Tensor places = indexed(op, reshape(numbers, meta.shape), at);
  const Meta part{.dtype = meta.dtype, .shape = places.shape(), .device = meta.device};
  if (require_broadcast(op, {"x[...]", 1, part}, s) != places.shape()) {
    throw error_about(ErrorKind::ShapeMismatch, op, {a, s})
        .detail(text::format("{} does not broadcast to {}, the shape of x[...]", describe(s), to_string(places.shape())));
  }
  const Tensor flat = reshaped_to(op, x, {n});
  const Tensor updates = reshaped_to(op, broadcasted_to(op, source.to(meta.dtype), places.shape()), {places.count()});
  const Tensor targets = reshape(places, {places.count()});
  return reshaped_to(op, options.accumulate ? index_add(flat, targets, updates) : index_copy(flat, targets, updates), meta.shape);
}

Tensor index_put(const Tensor& x, std::initializer_list<Index> at, const Tensor& source, IndexPutOptions options) {
  return index_put(x, std::span(at.begin(), at.size()), source, options);
}

}  // namespace votive
