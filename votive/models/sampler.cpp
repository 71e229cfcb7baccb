// Sampling on the host, in f32 with the portable exponential, so that a seed gives the same text on every machine.
#include "votive/models/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/numerics/math.h"
#include "votive/numerics/random.h"

namespace votive::models {

namespace {

void require(bool good, const char* name, double value, const char* accepted) {
  if (good) return;
  throw Error(ErrorKind::InvalidArgument, "generate")
      .arg(name, 0)
      .value(text::format("{}", value))
      .detail(text::format("{} is {}", name, value))
      .accepted(accepted);
}

void penalise(std::vector<float>& logits, std::span<const int> recent, float penalty, Size window) {
  const std::size_t n = std::min(recent.size(), static_cast<std::size_t>(window));
  std::vector<int> ids(recent.end() - static_cast<std::ptrdiff_t>(n), recent.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (int id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= logits.size()) continue;
    float& logit = logits[static_cast<std::size_t>(id)];
    logit = logit > 0 ? logit / penalty : logit * penalty;
  }
}

struct Candidate {
  int id;
  float logit, weight;
};

/// The likeliest first; equal logits by id. At least one, at most `n`.
std::vector<Candidate> likeliest(const std::vector<float>& logits, std::size_t n) {
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](int a, int b) {
    const float x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  if (n < order.size()) {
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(), before);
    order.resize(n);
  }
  std::sort(order.begin(), order.end(), before);
  std::vector<Candidate> candidates;
  candidates.reserve(order.size());
  for (int id : order) candidates.push_back({id, logits[static_cast<std::size_t>(id)], 0});
  return candidates;
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options) : options_(options) {
  require(options.temperature >= 0 && std::isfinite(options.temperature), "temperature", options.temperature, "a finite number from 0 on");
  require(options.top_k >= 0, "top_k", static_cast<double>(options.top_k), "0 (all) or more");
  require(options.top_p > 0 && options.top_p <= 1, "top_p", options.top_p, "above 0, up to 1");
  require(options.min_p >= 0 && options.min_p < 1, "min_p", options.min_p, "from 0, below 1");
  require(options.repetition_penalty > 0 && std::isfinite(options.repetition_penalty), "repetition_penalty", options.repetition_penalty,
          "a finite number above 0");
  require(options.repetition_window >= 0, "repetition_window", static_cast<double>(options.repetition_window), "0 or more");
}

int Sampler::operator()(const Tensor& logits, std::span<const int> recent) {
  const FloatEnvironment environment;
  std::vector<float> values = logits.to_host<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      throw Error(ErrorKind::NonFinite, "generate")
          .position({static_cast<Size>(i)})
          .detail(text::format("the logit of token {} is NaN", i));
    }
  }
  if (values.empty()) throw Error(ErrorKind::EmptyReduction, "generate").detail("no logits to choose from");
  if (options_.repetition_penalty != 1.0) {
    penalise(values, recent, static_cast<float>(options_.repetition_penalty), options_.repetition_window);
  }
  if (options_.temperature == 0.0) return static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());

  const std::size_t k = options_.top_k > 0 ? std::min(values.size(), static_cast<std::size_t>(options_.top_k)) : values.size();
  std::vector<Candidate> candidates = likeliest(values, k);
  const auto temperature = static_cast<float>(options_.temperature);
  float total = 0;
  for (Candidate& c : candidates) {
    c.weight = numerics::exp_f32((c.logit - candidates[0].logit) / temperature);
    total += c.weight;
  }
  // A +inf logit makes inf − inf: it is the only choice then, shared among equals.
  if (std::isnan(total)) {
    total = 0;
    for (Candidate& c : candidates) {
      c.weight = c.logit == candidates[0].logit ? 1.0f : 0.0f;
      total += c.weight;
    }
  }
  std::size_t kept = candidates.size();
  if (options_.top_p < 1.0) {
    const float enough = static_cast<float>(options_.top_p) * total;
    float sum = 0;
    for (std::size_t i = 0; i < kept; ++i) {
      sum += candidates[i].weight;
      if (sum >= enough) kept = i + 1;
    }
  }
  if (options_.min_p > 0.0) {
    const float least = static_cast<float>(options_.min_p) * candidates[0].weight;
    while (kept > 1 && candidates[kept - 1].weight < least) --kept;
  }
  candidates.resize(kept);
  float mass = 0;
  for (const Candidate& c : candidates) mass += c.weight;

  const float target = numerics::uniform_f32(numerics::random_word32(options_.seed, 0, draws_++, 0)) * mass;
  float sum = 0;
  for (const Candidate& c : candidates) {
    sum += c.weight;
    if (target < sum) return c.id;
  }
  return candidates.back().id;
}

}  // namespace votive::models
