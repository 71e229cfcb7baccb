// What an example gives as text, and what its inputs are while it is tried with other dtypes. Not here: which examples there are.
#include "tests/docs/examples.h"

#include <fmt/format.h>

#include <limits>

#include "votive/ops/ops.h"

namespace votive::docs {

namespace {

struct State {
  Trial trial;
  std::vector<Tensor> leaves;
  int made = 0;
};
State* current = nullptr;

Tensor harmed(const Tensor& x, Harm harm) {
  const auto cast_unless = [&](DType dtype) { return x.dtype() == dtype ? x : x.to(dtype); };
  switch (harm) {
    case Harm::none: return x;
    case Harm::absent: return {};
    case Harm::empty: return x.rank() == 0 ? zeros({0}, x.dtype(), {.device = x.device()}) : narrow(x, 0, 0, 0);
    case Harm::rank_0: return zeros({}, x.dtype(), {.device = x.device()});
    case Harm::one_more_axis: return unsqueeze(x, 0);
    case Harm::longer: return x.rank() == 0 ? stack({x, x, x}) : concat({x, x, x});
    case Harm::reversed: return x.rank() == 0 ? x : flip(x);
    case Harm::nan:
      return is_floating(x.dtype()) ? full(x.shape(), std::numeric_limits<double>::quiet_NaN(), x.dtype(), {.device = x.device()}) : x;
    case Harm::least:
      if (is_integer(x.dtype())) return (zeros(x.shape(), f64) - 1e30).to(x.dtype()).to(x.device());
      return x.dtype() == boolean ? logical_not(x) : full(x.shape(), -1e4, x.dtype(), {.device = x.device()});
    case Harm::most:
      if (is_integer(x.dtype())) return (zeros(x.shape(), f64) + 1e30).to(x.dtype()).to(x.device());
      return x.dtype() == boolean ? logical_not(x) : full(x.shape(), 1e4, x.dtype(), {.device = x.device()});
    case Harm::boolean: return cast_unless(boolean);
    case Harm::bytes: return cast_unless(u8);
    case Harm::wide: return cast_unless(f64);
    case Harm::eight_bit: return cast_unless(e4m3);
    case Harm::elsewhere: return x.to(x.device() == Device(Device::cpu) ? Device(Device::reference) : Device(Device::cpu));
  }
  return x;
}

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

Trying::Trying(const Trial& trial) { current = new State{trial, {}, 0}; }
Trying::~Trying() { delete std::exchange(current, nullptr); }
const std::vector<Tensor>& Trying::leaves() const { return current->leaves; }
int Trying::count() const { return current->made; }

bool trying() { return current != nullptr && current->trial.dtype.has_value(); }
DType tried_dtype() { return *current->trial.dtype; }
Device tried_device() { return current->trial.device; }

Tensor made(const Tensor& x, bool varied) {
  if (current == nullptr) return x;
  const Trial& trial = current->trial;
  const Unchecked off;  // what is being tried is the function
  Tensor y = varied && trial.dtype ? x.to(*trial.dtype) : x;
  y = y.to(trial.device);
  if (current->made++ == trial.harmed) y = harmed(y, trial.harm);
  if (trial.gradient && y.defined() && is_floating(y.dtype())) {
    y = y.require_grad();
    current->leaves.push_back(y);
  }
  return y;
}

}  // namespace votive::docs
