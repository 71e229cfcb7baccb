// What an example gives as text, and what its inputs are while it is tried with other dtypes. Not here: which examples there are.
#include "tests/docs/examples.h"

#include <fmt/format.h>

#include "votive/ops/ops.h"

namespace votive::docs {

namespace {

struct State {
  Trial trial;
  std::vector<Tensor> leaves;
};
State* current = nullptr;

}  // namespace

Outcome outcome(const Tensor& x) {
  std::string text = to_string(x);
  const std::size_t colon = text.find(": ");
  return {colon == std::string::npos ? text : text.substr(colon + 2), {x}};
}

Outcome outcome(const std::vector<Tensor>& list) {
  std::string text;
  for (const Tensor& x : list) text += (text.empty() ? "" : ", ") + outcome(x).text;
  return {text, list};
}

Outcome outcome(const std::pair<Tensor, Tensor>& pair) { return outcome(std::vector<Tensor>{pair.first, pair.second}); }
Outcome outcome(const std::string& text) { return {text, {}}; }
Outcome outcome(double value) { return {fmt::format("{}", value), {}}; }
Outcome outcome(bool value) { return {value ? "true" : "false", {}}; }
Outcome outcome(const Shape& shape) { return {std::string(to_string(shape)), {}}; }

Trying::Trying(const Trial& trial) { current = new State{trial, {}}; }
Trying::~Trying() { delete std::exchange(current, nullptr); }
const std::vector<Tensor>& Trying::leaves() const { return current->leaves; }

bool trying() { return current != nullptr && current->trial.dtype.has_value(); }
DType tried_dtype() { return *current->trial.dtype; }
Device tried_device() { return current->trial.device; }

Tensor made(const Tensor& x, bool varied) {
  if (current == nullptr) return x;
  const Trial& trial = current->trial;
  Tensor y = varied && trial.dtype ? x.to(*trial.dtype) : x;
  y = y.to(trial.device);
  if (trial.gradient && is_floating(y.dtype())) {
    y = y.require_grad();
    current->leaves.push_back(y);
  }
  return y;
}

}  // namespace votive::docs
