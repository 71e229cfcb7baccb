// Einstein's notation as a composition of diagonals, sums, matmul and mul, so that its bits and gradients are those of these: operands from left to right,
// two at a time. Not here: a search for a cheaper order.
#include <algorithm>
#include <string>

#include "votive/base/text.h"
#include "votive/ops/as_one.h"
#include "votive/ops/check.h"
#include "votive/ops/matmul.h"
#include "votive/ops/ops.h"

namespace votive {

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
    if (terms.size() != operands.size()) throw refuse(text::format("{} terms for {} operands", terms.size(), operands.size()));
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
    return Error(ErrorKind::InvalidArgument, "einsum").value(text_).detail(text::format("\"{}\": {}", text::shown(text_), detail));
  }

 private:
  int letter(char c) const {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    throw refuse(text::format("'{}' is no label", text::shown(std::string(1, c))));
  }

  Labels labels_of(const std::string& term, int rank) {
    Labels labels;
    const std::size_t dots = term.find("...");
    const int named = static_cast<int>(term.size()) - (dots == std::string::npos ? 0 : 3);
    if (dots == std::string::npos ? named != rank : named > rank)
      throw refuse(text::format("term \"{}\" for an operand of {} axes", text::shown(term), rank));
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
      if (has(output_, label)) throw refuse(text::format("'{}' twice in the result", label_text(label)));
      if (std::none_of(inputs_.begin(), inputs_.end(), [&](const Labels& l) { return has(l, label); }))
        throw refuse(text::format("'{}' of the result is in no operand", label_text(label)));
      output_.push_back(label);
    }
    if (output_.size() > max_rank) throw refuse(text::format("{} axes in the result", output_.size()));
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

/// A repeated label's axes become their diagonal, which comes last.
Labelled without_repeats(const Tensor& x, const Labels& labels) {
  Labelled t{x, labels};
  for (std::size_t i = 0; i < t.labels.size();) {
    const auto repeated = std::find(t.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, t.labels.end(), t.labels[i]);
    if (repeated == t.labels.end()) {
      ++i;
      continue;
    }
    const int label = t.labels[i], first = static_cast<int>(i), second = static_cast<int>(repeated - t.labels.begin());
    if (t.x.shape()[first] != t.x.shape()[second]) {
      throw error_about(ErrorKind::ShapeMismatch, "einsum", {{"operand", 1, x.meta()}})
          .detail(text::format("label '{}' has sizes {} and {} in {}", label_text(label), t.x.shape()[first], t.x.shape()[second],
                               describe(x.meta())));
    }
    t.x = diagonal(t.x, {.a = first, .b = second});
    t.labels.erase(repeated);
    t.labels.erase(t.labels.begin() + first);
    t.labels.push_back(label);
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
            .detail(text::format("label '{}' has sizes {} and {}", label_text(label), size_of(a, label), size_of(b, label)));
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
  if (labels.size() > max_rank) throw equation.refuse(text::format("{} axes between two steps", labels.size()));
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
  return as_one("einsum", [&] {
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
  });
}

}  // namespace votive
