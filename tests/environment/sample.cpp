// How the sample is chosen: small cases spread over each list, and for f32 one that is large enough for the pool. Inputs are made when they are needed.
#include "tests/environment/sample.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "tests/contract/numbers.h"
#include "votive/autograd/autograd.h"
#include "votive/base/float_environment.h"
#include "votive/ops/ops.h"

namespace votive::environment {

using contract::Case;
using contract::Input;
using contract::LayoutKind;
using contract::Rng;

namespace {

constexpr Size small = 2500, large = 90000;
constexpr std::size_t small_cases = 3;

Size elements(const Case& c) {
  Size n = 0;
  for (const Input& input : c.inputs) n += input.present ? count(input.shape) : 0;
  return n;
}

class Hash {
 public:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) state_ = (state_ ^ (word >> (8 * byte) & 0xff)) * 1099511628211u;
  }
  void add(std::string_view text) {
    for (const char c : text) state_ = (state_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  /// Every NaN is the same one.
  void add(const Tensor& x) {
    add(to_string(x.dtype()));
    for (const Size n : x.shape()) add(static_cast<std::uint64_t>(n));
    if (is_quantised(x.dtype())) return;
    const bool is_float = is_floating(x.dtype()) || is_float8(x.dtype());
    for (const std::uint64_t bits : contract::elements_of(x))
      add(is_float && std::isnan(contract::value_of(x.dtype(), bits)) ? ~std::uint64_t{0} : bits);
  }
  std::uint64_t value() const { return state_; }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 14695981039346656037u;
};

std::vector<Tensor> inputs_of(const Item& item) {
  Rng rng(item.seed);
  std::vector<Tensor> inputs;
  for (const Input& input : item.source.inputs) inputs.push_back(input.present ? contract::make(rng, input, item.layout) : Tensor());
  return inputs;
}

/// Gradients of Σ y² over every floating result, of every floating input that has a part in it.
std::vector<Tensor> gradients(const Item& item, std::vector<Tensor> inputs) {
  for (Tensor& x : inputs)
    if (x.defined() && is_floating(x.dtype())) x = x.require_grad();
  Tensor loss;
  for (const Tensor& y : item.source.call(inputs, Device::cpu)) {
    if (!y.requires_grad()) continue;
    const Tensor part = sum(square(y)).to(DType::f64);
    loss = loss.defined() ? loss + part : part;
  }
  std::vector<Tensor> found;
  if (!loss.defined()) return found;
  const Grads grads = backward(loss);
  for (const Tensor& x : inputs)
    if (grads.has(x)) found.push_back(grads[x]);
  return found;
}

std::string outcome(const Item& item, const std::vector<Tensor>& inputs, Surroundings kind, const std::function<void()>& before,
                    const std::function<void()>& after) {
  std::vector<Tensor> results;
  std::string thrown;
  before();
  try {
    const Within within(kind);
    results = item.gradient ? gradients(item, inputs) : item.source.call(inputs, Device::cpu);
  } catch (const Error& error) {
    after();
    thrown = error.kind() == ErrorKind::OutOfMemory ? "out of memory" : error.what();
  } catch (const std::exception& error) {
    after();
    thrown = error.what();
  }
  if (!thrown.empty()) return thrown;
  after();
  const FloatEnvironment calm;
  Hash hash;
  for (const Tensor& y : results) hash.add(y);
  return hash.text();
}

/// Calls that compute on the caller's thread before any kernel runs: literals, ranges, scales, weights, texts. The table's cases have few of them.
std::vector<Case> on_the_host() {
  using Outputs = std::vector<Tensor>;
  const auto call = [](auto f) { return Case{{}, [f](std::span<const Tensor>, Device) { return Outputs(f()); }, "", false}; };
  const Input matrix{.dtype = DType::f32, .shape = {4, 30}, .values = contract::Values::moderate};
  const auto of = [matrix](auto f) {
    return Case{{matrix}, [f](std::span<const Tensor> in, Device) { return Outputs(f(in[0])); }, "", false};
  };
  return {
      call([] {
        return Outputs{full({3}, 1e-40), full({3}, 0.1, f16), full({3}, 0.7, bf16), full({3}, 5e-324, f64), tensor({0.1, 1e-45, 3e38})};
      }),
      call([] {
        return Outputs{arange(0.1, 0.9, 0.1), arange(1e-310, 9e-310, 1e-310, f64), linspace(0.1, 0.7, 7), logspace(0.1, 2.3, 5)};
      }),
      call([] {
        return Outputs{rope_frequencies(64), rope_frequencies_yarn(64, {.factor = 3, .trained = 100})};
      }),
      call([] {
        return Outputs{uniform(0.1, 0.7, {40}), normal(0.1, 0.7, {40}), truncated_normal({40}), bernoulli(0.3, {40})};
      }),
      call([] {
        const Tensor n = tensor({-1, 0, 1, 2}, i32);
        return Outputs{lt(n, 5e-324), le(n, -5e-324), eq(n, 1e-310), gt(n, 0.5), ge(n, 1e300), n * 0.1, n + 1e-40, 0.1 - n};
      }),
      of([](const Tensor& x) { return Outputs{x * 0.1, x + 1e-45, x / 0.3, pow(x, 2.5), clamp(x, -0.3, 0.1), where(x > 0, x, 1e-40)}; }),
      of([](const Tensor& x) {
        return Outputs{affine(x, 0.1, 0.7), elu(x, 0.1), leaky_relu(x, 1e-40), lerp(x, -x, 0.3), celu(x, 0.7)};
      }),
      of([](const Tensor& x) {
        return Outputs{norm(x, {.p = 3}), norm(x, {.p = 0.7}), var(x, {.correction = 0.1}), quantile(x, 0.37), histc(x, 7)};
      }),
      of([](const Tensor& x) {
        const Tensor q = reshape(x, {1, 2, 10, 6});
        return Outputs{attention(q, q, q), dropout(x, 0.3), cross_entropy(x, tensor({1, 2, 3, 4}, i32), {.label_smoothing = 0.1})};
      }),
      of([](const Tensor& x) {
        const Tensor image = reshape(x, {1, 2, 6, 10});
        return Outputs{interpolate_by(image, {0.7, 1.3}, {.mode = Interpolation::linear}),
                       interpolate(image, {7, 11}, {.mode = Interpolation::cubic}),
                       interpolate(image, {4, 3}, {.mode = Interpolation::linear, .antialias = true}),
                       affine_grid(reshape(narrow(x, 1, 0, 3), {2, 2, 3}), {2, 1, 3, 7})};
      }),
      of([](const Tensor& x) {
        return Outputs{huber_loss(x, -x, {.delta = 0.3}), smooth_l1_loss(x, -x, {.beta = 0.7}),
                       local_response_norm(reshape(x, {2, 6, 10}), 3)};
      }),
      of([](const Tensor& x) {
        const std::string text = to_string(x * 1e-40) + to_string(x / 3);
        Tensor letters = Tensor::allocate("letters", {.dtype = DType::u8, .shape = {static_cast<Size>(text.size())}});
        std::memcpy(letters.mutable_buffer(), text.data(), text.size());
        return Outputs{letters};
      }),
      of([](const Tensor& x) {
        return Outputs{full({}, std::bit_cast<std::uint32_t>((select(select(x, 0, 0), 0, 0) * 1e-40).item<float>()), u32)};
      }),
      // refused, with numbers in the text
      of([](const Tensor& x) { return Outputs{x.to(f16) + 1e300}; }),
      of([](const Tensor& x) { return Outputs{x.to(u8) + 300}; }),
      of([](const Tensor& x) { return Outputs{dropout(x, 1.3)}; }),
  };
}

}  // namespace

Sample::Sample() {
  const FloatEnvironment calm;
  for (const Case& c : on_the_host()) {
    for (const bool gradient : {false, true}) {
      if (gradient && c.inputs.empty()) continue;
      items_.push_back({fmt::format("on the host {}{}", items_.size(), gradient ? " gradient" : ""), c, items_.size(),
                        LayoutKind::contiguous, gradient});
    }
  }
  for (const contract::Operation& op : contract::operations()) {
    for (const DType dtype : op.dtypes) {
      const std::string name = op.name + " " + std::string(to_string(dtype));
      Hash own;
      own.add(name);
      Rng rng(own.value());  // the same in every process, whatever VOTIVE_SEED says
      const std::vector<Case> cases = op.cases(rng, dtype);
      std::vector<const Case*> few;
      const Case* more = nullptr;
      for (const Case& c : cases) {
        const Size n = elements(c);
        if (n <= small && !(c.inputs.empty() && c.note == "large")) few.push_back(&c);
        if (n > small && n <= large && more == nullptr) more = &c;
      }
      const auto add = [&](const Case& c, std::size_t number, bool gradient) {
        if (contract::sanitized && !rng.one_in(7)) return;
        const LayoutKind layout = c.every_layout ? contract::every_layout[(number + name.size()) % 6] : LayoutKind::contiguous;
        items_.push_back({fmt::format("{} {} {}{}", name, number, c.note, gradient ? " gradient" : ""), c, rng.next(), layout, gradient});
      };
      for (std::size_t i = 0; i < std::min(small_cases, few.size()); ++i) {
        const std::size_t at = i * few.size() / small_cases;
        if (i > 0 && at == (i - 1) * few.size() / small_cases) continue;
        add(*few[at], at, false);
        if (is_floating(dtype) && !few[at]->inputs.empty()) add(*few[at], at, true);
      }
      if (more != nullptr && (dtype == DType::f32 || dtype == op.dtypes.front())) add(*more, cases.size(), false);
    }
  }
}

std::string Sample::answer(std::size_t i, Surroundings kind, const std::function<void()>& before,
                           const std::function<void()>& after) const {
  std::vector<Tensor> inputs;
  {
    const FloatEnvironment calm;
    inputs = inputs_of(items_[i]);
  }
  return outcome(items_[i], inputs, kind, before, after);
}

}  // namespace votive::environment
