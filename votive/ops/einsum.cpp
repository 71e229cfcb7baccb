// Products of many shapes, all composed of matmul, mul and sum, so that their bits and gradients are those of these: einsum and the calls that are
// special cases of it. No operation of its own is here but the diagonal view that a repeated label needs.
#include <algorithm>
#include <array>
#include <string>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/check.h"
#include "votive/ops/matmul.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

namespace {

/// Axes i < j of the same size as one, at i: elements (…, k, …, k, …).
struct Diagonal {
  int i, j;

  static constexpr OpInfo info{"diagonal", Class::exact};
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const {
    const Shape& shape = b.meta().shape;
    Shape mask = Shape::filled(shape.rank(), 1);
    mask[i] = mask[j] = shape[i];
    const Tensor on = reshape(eye(shape[i], DType::boolean, {.device = b.meta().device}), mask);
    const Tensor dy = broadcast_to(unsqueeze(b.dy(), j), shape);
    return {where(broadcast_to(on, shape), dy, zeros_like(dy))};
  }
};

Tensor diagonal_of(const Tensor& x, int i, int j) {
  Layout layout = x.layout();
  layout.strides[i] += layout.strides[j];
  layout.shape.erase(j);
  layout.strides.erase(j);
  return record(Diagonal{i, j}, Tensor::view(x, layout), x);
}

Size product(const Shape& shape, int from, int to) {
  Size n = 1;
  for (int axis = from; axis < to; ++axis) n *= shape[axis];
  return n;
}

bool is_half(DType d) { return d == DType::f16 || d == DType::bf16; }

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
  const Meta left = a.meta(), right = x.meta();
  require_present("mv", {"a", 1, left});
  require_present("mv", {"x", 2, right});
  require_rank("mv", {"a", 1, left}, 2, 2);
  require_rank("mv", {"x", 2, right}, 1, 1);
  return product_of("mv", a, x);
}

Tensor vecdot(const Tensor& a, const Tensor& b) {
  const Meta x = a.meta(), y = b.meta();
  require_present("vecdot", {"a", 1, x});
  require_present("vecdot", {"b", 2, y});
  require_rank("vecdot", {"a", 1, x}, 1, max_rank - 1);
  require_rank("vecdot", {"b", 2, y}, 1, max_rank - 1);
  return select(select(product_of("vecdot", unsqueeze(a, -2), unsqueeze(b, -1)), -1, 0), -1, 0);
}

Tensor inner(const Tensor& a, const Tensor& b) {
  const Meta x = a.meta(), y = b.meta();
  require_present("inner", {"a", 1, x});
  require_present("inner", {"b", 2, y});
  require_rank("inner", {"a", 1, x}, 1);
  require_rank("inner", {"b", 2, y}, 1);
  Shape result;
  for (int axis = 0; axis + 1 < a.rank(); ++axis) result.push_back(a.shape()[axis]);
  for (int axis = 0; axis + 1 < b.rank(); ++axis) result.push_back(b.shape()[axis]);
  const Tensor left = reshape(a, {product(a.shape(), 0, a.rank() - 1), a.shape().back()});
  const Tensor right = reshape(b, {product(b.shape(), 0, b.rank() - 1), b.shape().back()});
  return reshape(product_of("inner", left, transpose(right)), result);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  const Meta x = a.meta(), y = b.meta();
  require_number("outer", {"a", 1, x});
  require_number("outer", {"b", 2, y});
  require_common_dtype("outer", {"a", 1, x}, {"b", 2, y});
  require_same_device("outer", {"a", 1, x}, {"b", 2, y});
  require_rank("outer", {"a", 1, x}, 1, 1);
  require_rank("outer", {"b", 2, y}, 1, 1);
  return mul(unsqueeze(a, 1), b);
}

Tensor kron(const Tensor& a, const Tensor& b) {
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
  return reshape(mul(reshape(a, left), reshape(b, right)), result);
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::span<const int> axes_a, std::span<const int> axes_b) {
  constexpr std::string_view op = "tensordot";
  const Meta x = a.meta(), y = b.meta();
  const Argument left{"a", 1, x}, right{"b", 2, y};
  require_unblocked(op, left);
  require_unblocked(op, right);
  require_same_device(op, left, right);
  if (axes_a.size() != axes_b.size()) {
    throw error_about(ErrorKind::InvalidArgument, op, {left, right})
        .detail(format("{} axes of a and {} of b", axes_a.size(), axes_b.size()));
  }
  const auto ordered = [&](const Argument& t, std::span<const int> axes, std::vector<int>& summed, std::vector<int>& free) {
    std::uint32_t seen = 0;
    for (const int axis : axes) {
      summed.push_back(normalise_axis(op, axis, t.meta.shape.rank()));
      if ((seen >> summed.back() & 1) != 0)
        throw error_about(ErrorKind::InvalidAxis, op, {t}).detail(format("axis {} is named twice", axis));
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
          .detail(format("axis {} of {} and axis {} of {} have sizes {} and {}", axes_a[i], describe(left), axes_b[i], describe(right),
                         size_a, size_b));
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
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::initializer_list<int> axes_a, std::initializer_list<int> axes_b) {
  return tensordot(a, b, std::span(axes_a.begin(), axes_a.size()), std::span(axes_b.begin(), axes_b.size()));
}

Tensor tensordot(const Tensor& a, const Tensor& b, int axes) {
  const Meta x = a.meta(), y = b.meta();
  require_present("tensordot", {"a", 1, x});
  require_present("tensordot", {"b", 2, y});
  if (axes < 0 || axes > a.rank() || axes > b.rank()) {
    throw error_about(ErrorKind::InvalidArgument, "tensordot", {{"a", 1, x}, {"b", 2, y}})
        .value(format("{}", axes))
        .detail(format("{} axes of {} and {}", axes, describe(x), describe(y)));
  }
  std::vector<int> last, first;
  for (int i = 0; i < axes; ++i) {
    last.push_back(a.rank() - axes + i);
    first.push_back(i);
  }
  return tensordot(a, b, std::span<const int>(last), std::span<const int>(first));
}

namespace {

Tensor add_product(std::string_view op, int rank, const Tensor& c, const Tensor& a, const Tensor& b, AddMatmulOptions options) {
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
        .detail(format("{} and {} differ in axis 0", describe(left), describe(right)));
  }
  const DType dtype = meta_a.dtype;
  Tensor y = product_of(op, a, b, is_half(dtype) ? std::optional(DType::f32) : std::nullopt);
  if (options.alpha != 1) y = y * static_cast<double>(options.alpha);
  const Meta sum{.dtype = dtype, .shape = y.shape(), .device = y.device()};
  if (require_broadcast(op, {"the product", 2, sum}, added) != y.shape()) {
    throw error_about(ErrorKind::ShapeMismatch, op, {added})
        .detail(format("{} does not broadcast to {}", describe(added), to_string(y.shape())));
  }
  if (options.beta != 0) {
    const Tensor wide = c.to(y.dtype());
    y = (options.beta != 1 ? wide * static_cast<double>(options.beta) : wide) + y;
  }
  return y.to(dtype);
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
        .detail(format("{} and {} share no inner size ({}, {})", describe(a), describe(c), meta_1.shape.back(), meta_w.shape[1]));
  }
  const Size outputs = meta_w.shape[0], i = meta_w.shape[1], j = meta_w.shape[2], rows = product(meta_1.shape, 0, meta_1.shape.rank() - 1);
  if (meta_bias.present) require_shape(op, d, {outputs});
  const std::optional<DType> out = is_half(meta_1.dtype) ? std::optional(DType::f32) : std::nullopt;
  const Tensor weights = reshape(permute(w, {1, 0, 2}), {i, outputs * j});
  const Tensor first = reshape(product_of(op, reshape(x1, {rows, i}), weights, out), {rows, outputs, j});
  Tensor y = select(product_of(op, first, reshape(x2, {rows, j, 1}).to(first.dtype())), -1, 0);
  if (meta_bias.present) y = y + bias.to(y.dtype());
  shape.back() = outputs;
  return reshape(y, shape).to(meta_1.dtype);
}

Tensor trace(const Tensor& x, Size offset) {
  const Meta meta = x.meta();
  const Argument a{"x", 1, meta};
  require_plain("trace", a);
  require_rank("trace", a, 2);
  const int rank = meta.shape.rank();
  const Size m = meta.shape[rank - 2], n = meta.shape[rank - 1];
  const Size row = offset < 0 ? (offset < -m ? m : -offset) : 0, column = offset > 0 ? std::min(offset, n) : 0;
  const Size size = std::min(m - row, n - column);
  const Tensor square = narrow(narrow(x, rank - 2, row, size), rank - 1, column, size);
  return sum(diagonal_of(square, rank - 2, rank - 1), {.axis = -1});
}

// ---- einsum ----

namespace {

/// Labels are 0 … 51 for A … Z, a … z, and from 52 on the axes of an ellipsis, the last one highest.
constexpr int letters = 52, most_labels = letters + max_rank;
using Labels = std::vector<int>;

std::string label_text(int label) {
  return label >= letters ? "..." : std::string(1, static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26));
}

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
int place(const Labels& labels, int label) { return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin()); }

class Equation {
 public:
  Equation(std::string_view equation, const std::vector<Tensor>& operands) : text_(equation) {
    for (const char c : equation)
      if (c != ' ') stripped_ += c;
    const std::size_t arrow = stripped_.find("->");
    std::vector<std::string> terms{""};
    for (const char c : stripped_.substr(0, arrow)) {
      if (c == ',') {
        terms.emplace_back();
      } else {
        terms.back() += c;
      }
    }
    if (terms.size() != operands.size()) throw refuse(format("{} terms for {} operands", terms.size(), operands.size()));
    for (std::size_t i = 0; i < terms.size(); ++i) inputs_.push_back(labels_of(terms[i], operands[i].rank()));
    if (arrow == std::string::npos) {
      implicit_output();
    } else {
      explicit_output(stripped_.substr(arrow + 2));
    }
  }

  const Labels& input(std::size_t i) const { return inputs_[i]; }
  const Labels& output() const { return output_; }
  /// Whether an operand from i on, or the result, needs the label.
  bool needs_later(std::size_t i, int label) const {
    if (has(output_, label)) return true;
    for (; i < inputs_.size(); ++i)
      if (has(inputs_[i], label)) return true;
    return false;
  }
  Error refuse(const std::string& detail) const {
    return Error(ErrorKind::InvalidArgument, "einsum").value(text_).detail(format("\"{}\": {}", text::shown(text_), detail));
  }

 private:
  int letter(char c) const {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    throw refuse(format("'{}' is no label", text::shown(std::string(1, c))));
  }

  Labels labels_of(const std::string& term, int rank) {
    Labels labels;
    const std::size_t dots = term.find("...");
    const int named = static_cast<int>(term.size()) - (dots == std::string::npos ? 0 : 3);
    if (dots == std::string::npos ? named != rank : named > rank)
      throw refuse(format("term \"{}\" for an operand of {} axes", text::shown(term), rank));
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (i != dots) {
        labels.push_back(letter(term[i]));
        continue;
      }
      for (int axis = rank - named; axis > 0; --axis) labels.push_back(most_labels - axis);
      ellipsis_ = std::max(ellipsis_, rank - named);
      i += 2;
    }
    return labels;
  }

  void ellipsis_labels() {
    for (int axis = ellipsis_; axis > 0; --axis) output_.push_back(most_labels - axis);
  }

  void implicit_output() {
    ellipsis_labels();
    for (int label = 0; label < letters; ++label) {
      std::ptrdiff_t times = 0;
      for (const Labels& labels : inputs_) times += std::count(labels.begin(), labels.end(), label);
      if (times == 1) output_.push_back(label);
    }
  }

  void explicit_output(const std::string& term) {
    const std::size_t dots = term.find("...");
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (i == dots) {
        ellipsis_labels();
        i += 2;
        continue;
      }
      const int label = letter(term[i]);
      if (has(output_, label)) throw refuse(format("'{}' twice in the result", label_text(label)));
      if (std::none_of(inputs_.begin(), inputs_.end(), [&](const Labels& l) { return has(l, label); }))
        throw refuse(format("'{}' of the result is in no operand", label_text(label)));
      output_.push_back(label);
    }
    if (output_.size() > max_rank) throw refuse(format("{} axes in the result", output_.size()));
  }

  std::string text_, stripped_;
  std::vector<Labels> inputs_;
  Labels output_;
  int ellipsis_ = 0;
};

/// A tensor and the labels of its axes, each once.
struct Labelled {
  Tensor x;
  Labels labels;
};

Labelled without_repeats(const Tensor& x, const Labels& labels) {
  Labelled t{x, labels};
  for (int i = 0; i < static_cast<int>(t.labels.size()); ++i) {
    for (int j = i + 1; j < static_cast<int>(t.labels.size());) {
      if (t.labels[static_cast<std::size_t>(i)] != t.labels[static_cast<std::size_t>(j)]) {
        ++j;
        continue;
      }
      if (t.x.shape()[i] != t.x.shape()[j]) {
        throw error_about(ErrorKind::ShapeMismatch, "einsum", {{"operand", 1, x.meta()}})
            .detail(format("label '{}' has sizes {} and {} in {}", label_text(t.labels[static_cast<std::size_t>(i)]), t.x.shape()[i],
                           t.x.shape()[j], describe(x.meta())));
      }
      t.x = diagonal_of(t.x, i, j);
      t.labels.erase(t.labels.begin() + j);
    }
  }
  return t;
}

/// Sums out the axes whose label `drop` says.
template <class Drop>
void sum_out(Labelled& t, Drop drop) {
  std::vector<int> axes;
  Labels kept;
  for (std::size_t i = 0; i < t.labels.size(); ++i) {
    if (drop(t.labels[i])) {
      axes.push_back(static_cast<int>(i));
    } else {
      kept.push_back(t.labels[i]);
    }
  }
  if (axes.empty()) return;
  t.x = sum(t.x, {.axis = Axes(axes)});
  t.labels = kept;
}

/// t with its axes in the order of `labels`, all of them t's.
Tensor arranged(const Labelled& t, const Labels& labels) {
  std::vector<int> order;
  for (const int label : labels) order.push_back(place(t.labels, label));
  return permute(t.x, order);
}

Size size_of(const Labelled& t, int label) { return t.x.shape()[place(t.labels, label)]; }

/// Labels of size 1 in a that are wider in b, or summed there, leave a.
void drop_ones(Labelled& a, const Labelled& b) {
  for (int axis = static_cast<int>(a.labels.size()) - 1; axis >= 0; --axis) {
    const int label = a.labels[static_cast<std::size_t>(axis)];
    if (!has(b.labels, label) || a.x.shape()[axis] != 1 || size_of(b, label) == 1) continue;
    a.x = squeeze(a.x, axis);
    a.labels.erase(a.labels.begin() + axis);
  }
}

Labelled combined(Labelled a, Labelled b, const Equation& equation, std::size_t next) {
  drop_ones(a, b);
  drop_ones(b, a);
  const auto needed = [&](int label) { return equation.needs_later(next, label); };
  sum_out(a, [&](int label) { return !has(b.labels, label) && !needed(label); });
  sum_out(b, [&](int label) { return !has(a.labels, label) && !needed(label); });
  Labels batch, left, summed, right;
  for (const int label : a.labels) (!has(b.labels, label) ? left : needed(label) ? batch : summed).push_back(label);
  for (const int label : b.labels)
    if (!has(a.labels, label)) right.push_back(label);
  Shape batch_shape, left_shape, right_shape;
  Size k = 1;
  for (const auto* both : {&batch, &summed}) {
    for (const int label : *both) {
      if (size_of(a, label) != size_of(b, label)) {
        throw error_about(ErrorKind::ShapeMismatch, "einsum", {{"left", 1, a.x.meta()}, {"right", 2, b.x.meta()}})
            .detail(format("label '{}' has sizes {} and {}", label_text(label), size_of(a, label), size_of(b, label)));
      }
    }
  }
  for (const int label : batch) batch_shape.push_back(size_of(a, label));
  for (const int label : left) left_shape.push_back(size_of(a, label));
  for (const int label : right) right_shape.push_back(size_of(b, label));
  for (const int label : summed) k *= size_of(a, label);
  Labels labels = batch;
  labels.insert(labels.end(), left.begin(), left.end());
  labels.insert(labels.end(), right.begin(), right.end());
  if (labels.size() > max_rank) throw equation.refuse(format("{} axes between two steps", labels.size()));
  Shape result = batch_shape;
  for (const Size n : left_shape) result.push_back(n);
  for (const Size n : right_shape) result.push_back(n);
  const auto joined = [](Labels first, const Labels& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  if (summed.empty()) {
    Shape wide = batch_shape;
    for (const Size n : left_shape) wide.push_back(n);
    for (std::size_t i = 0; i < right.size(); ++i) wide.push_back(1);
    Shape other = batch_shape;
    for (std::size_t i = 0; i < left.size(); ++i) other.push_back(1);
    for (const Size n : right_shape) other.push_back(n);
    return {mul(reshape(arranged(a, joined(batch, left)), wide), reshape(arranged(b, joined(batch, right)), other)), labels};
  }
  Shape rows{votive::count(batch_shape), votive::count(left_shape), k}, columns{rows[0], k, votive::count(right_shape)};
  const Tensor y = product_of("einsum", reshape(arranged(a, joined(joined(batch, left), summed)), rows),
                              reshape(arranged(b, joined(joined(batch, summed), right)), columns));
  return {reshape(y, result), labels};
}

}  // namespace

Tensor einsum(std::string_view text, const std::vector<Tensor>& operands) {
  if (operands.empty()) throw Error(ErrorKind::InvalidArgument, "einsum").detail("no operands");
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Meta meta = operands[i].meta(), first = operands[0].meta();
    const Argument operand{"operand", static_cast<int>(i) + 1, meta};
    require_number("einsum", operand);
    require_same_device("einsum", {"operand", 1, first}, operand);
  }
  const Equation equation(text, operands);
  Labelled t = without_repeats(operands[0], equation.input(0));
  for (std::size_t i = 1; i < operands.size(); ++i)
    t = combined(std::move(t), without_repeats(operands[i], equation.input(i)), equation, i + 1);
  sum_out(t, [&](int label) { return !has(equation.output(), label); });
  // an axis of the result may have size 1 in every operand, but never be missing
  return arranged(t, equation.output());
}

}  // namespace votive
