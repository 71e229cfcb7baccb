// Logits of SmolLM2 against PyTorch's in f32 on the dequantised weights (tests/golden/logits, made by tools/oracle/logits.py).
// The contract's products keep 15 bits of the activations (D15), so the two differ by less than 0.1, and hardly ever in the likeliest token.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "cache.h"
#include "votive/votive.h"

namespace votive {
namespace {

struct Golden {
  double perplexity = 0;
  struct Top {
    int position, best;
    double best_logit;
  };
  struct Sample {
    int position, id;
    double logit;
  };
  std::vector<Top> top;
  std::vector<Sample> samples;
};

Golden read_golden(const std::string& path) {
  Golden golden;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "perplexity") words >> golden.perplexity;
    if (kind == "top") {
      Golden::Top t{};
      words >> t.position >> t.best >> t.best_logit;
      golden.top.push_back(t);
    }
    if (kind == "sample") {
      Golden::Sample s{};
      words >> s.position >> s.id >> s.logit;
      golden.samples.push_back(s);
    }
  }
  return golden;
}

TEST(Logits, OfThreeTextsAreThoseOfPyTorchWithinATenth) {
  const auto path = cached("SmolLM2-135M-Instruct.Q4_1.gguf");
  if (!path) GTEST_SKIP() << "SmolLM2-135M-Instruct.Q4_1.gguf is not in the cache: ./dev model gets it";
  const models::LanguageModel model = models::load(*path);
  int positions = 0, agreeing = 0;
  for (const std::string name : {"english", "code", "multilingual"}) {
    const std::string base = std::string(VOTIVE_SOURCE_DIR) + "/tests/golden/logits/" + name;
    const Golden golden = read_golden(base + ".golden");
    std::ifstream file(base + ".ids");
    std::vector<std::int32_t> ids;
    for (std::int32_t id; file >> id;) ids.push_back(id);
    ASSERT_EQ(ids.size(), 512u);
    ASSERT_EQ(golden.top.size(), 512u);
    ASSERT_GE(golden.samples.size(), 300u);
    models::KvCache cache = model.network().make_cache(1, 512);
    const Tensor logits = model.network()(from_host<std::int32_t>(ids, {1, 512}, i32), cache);
    const Size V = logits.shape()[2];
    const std::vector<float> values = logits.to_host<float>();
    const auto at = [&](int position, int id) { return static_cast<double>(values[static_cast<std::size_t>(position * V + id)]); };
    double largest = 0, surprise = 0;
    for (const auto& top : golden.top) {
      const float* row = values.data() + top.position * V;
      agreeing += std::max_element(row, row + V) - row == top.best;
      ++positions;
      largest = std::max(largest, std::fabs(at(top.position, top.best) - top.best_logit));
    }
    for (const auto& sample : golden.samples) largest = std::max(largest, std::fabs(at(sample.position, sample.id) - sample.logit));
    for (int t = 0; t < 511; ++t) {
      double sum = 0;
      for (Size v = 0; v < V; ++v) sum += std::exp(at(t, static_cast<int>(v)) - golden.top[static_cast<std::size_t>(t)].best_logit);
      surprise += std::log(sum) + golden.top[static_cast<std::size_t>(t)].best_logit - at(t, ids[static_cast<std::size_t>(t) + 1]);
    }
    const double perplexity = std::exp(surprise / 511);
    std::printf("%s: largest difference %.4f, perplexity %.4f (PyTorch %.4f)\n", name.c_str(), largest, perplexity, golden.perplexity);
    EXPECT_LE(largest, 0.1) << name;
    EXPECT_NEAR(perplexity / golden.perplexity, 1.0, 0.0005) << name;
  }
  std::printf("likeliest token equal at %d of %d positions\n", agreeing, positions);
  EXPECT_GE(agreeing, positions * 0.999);
}

}  // namespace
}  // namespace votive
