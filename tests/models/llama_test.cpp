// Llama and Qwen2 from files made here, against the papers' formulas in double, loop by loop and without a tensor; and what the reader refuses.
// Real weights and text are in logits_test.cpp.
#include "votive/models/llama.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>

#include "tests/models/tiny_llama.h"
#include "votive/ops/ops.h"

namespace votive::models {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

/// The model as its papers write it: RMSNorm (Zhang, Sennrich 2019), rotary positions (Su et al. 2021), grouped heads (Ainslie et al. 2023),
/// SwiGLU (Shazeer 2020). One row for each position.
class Formulas {
 public:
  Formulas(const TinyFile& file, const Recipe& recipe) : file_(file), r_(recipe) {}

  Rows logits(std::span<const std::int32_t> ids) const {
    Rows x;
    for (std::int32_t id : ids) {
      const double* row = tensor("token_embd.weight").data() + static_cast<std::size_t>(id) * r_.width;
      x.emplace_back(row, row + r_.width);
    }
    for (std::size_t layer = 0; layer < r_.layers; ++layer) {
      const std::string at = "blk." + std::to_string(layer) + ".";
      add(x, product(attention(normalised(x, at + "attn_norm.weight"), at), at + "attn_output"));
      const Rows h = normalised(x, at + "ffn_norm.weight");
      Rows gate = product(h, at + "ffn_gate");
      const Rows up = product(h, at + "ffn_up");
      for (std::size_t t = 0; t < gate.size(); ++t)
        for (std::size_t i = 0; i < r_.hidden; ++i) gate[t][i] *= up[t][i] / (1 + std::exp(-gate[t][i]));
      add(x, product(gate, at + "ffn_down"));
    }
    return product(normalised(x, "output_norm.weight"), r_.own_output ? "output" : "token_embd");
  }

 private:
  const Row& tensor(const std::string& name) const { return file_.tensors.at(name).values; }

  static void add(Rows& x, const Rows& y) {
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += y[t][i];
  }

  Rows normalised(Rows x, const std::string& weight) const {
    const Row& w = tensor(weight);
    for (Row& row : x) {
      const double squares = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
      const double root = std::sqrt(squares / static_cast<double>(r_.width) + static_cast<double>(1e-5f));
      for (std::size_t i = 0; i < r_.width; ++i) row[i] *= w[i] / root;
    }
    return x;
  }

  Rows product(const Rows& x, const std::string& name) const {
    const Row& w = tensor(name + ".weight");
    const std::size_t k = x[0].size(), n = w.size() / k;
    const bool biased = r_.biases && file_.tensors.contains(name + ".bias");
    Rows y;
    for (const Row& row : x) {
      Row& sums = y.emplace_back(biased ? tensor(name + ".bias") : Row(n));
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < k; ++j) sums[i] += w[i * k + j] * row[j];
    }
    return y;
  }

  void rotate(double* head, std::size_t position) const {
    const std::size_t R = r_.turning();
    for (std::size_t i = 0; i < R / 2; ++i) {
      double angle = static_cast<double>(position) / r_.scale * std::pow(r_.base, -2.0 * static_cast<double>(i) / static_cast<double>(R));
      if (r_.factors) angle /= tensor("rope_freqs.weight")[i];
      double& a = head[r_.halves ? i : 2 * i];
      double& b = head[r_.halves ? i + R / 2 : 2 * i + 1];
      const double a0 = a, b0 = b;
      a = a0 * std::cos(angle) - b0 * std::sin(angle);
      b = a0 * std::sin(angle) + b0 * std::cos(angle);
    }
  }

  Rows attention(const Rows& x, const std::string& at) const {
    Rows q = product(x, at + "attn_q"), k = product(x, at + "attn_k");
    const Rows v = product(x, at + "attn_v");
    const std::size_t D = r_.head;
    Rows out(x.size(), Row(r_.heads * D));
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t h = 0; h < r_.heads; ++h) rotate(&q[t][h * D], t);
      for (std::size_t h = 0; h < r_.key_heads; ++h) rotate(&k[t][h * D], t);
    }
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t h = 0; h < r_.heads; ++h) {
        const std::size_t g = h / (r_.heads / r_.key_heads);
        Row p;
        for (std::size_t s = 0; s <= t; ++s) {
          const double score = std::inner_product(&q[t][h * D], &q[t][h * D] + D, &k[s][g * D], 0.0);
          p.push_back(std::exp(score / std::sqrt(static_cast<double>(D))));
        }
        const double sum = std::accumulate(p.begin(), p.end(), 0.0);
        for (std::size_t s = 0; s <= t; ++s)
          for (std::size_t i = 0; i < D; ++i) out[t][h * D + i] += p[s] / sum * v[s][g * D + i];
      }
    }
    return out;
  }

  const TinyFile& file_;
  Recipe r_;
};

const std::vector<std::int32_t> ids = {7, 49, 0, 13, 13, 28, 3, 41, 7};
const std::vector<std::int32_t> other_ids = {1, 2, 44, 7, 30, 30, 19, 0, 25};

/// Largest difference of two sets of logits over the largest logit of the second.
double distance(const Rows& a, const Rows& b) {
  double apart = 0, largest = 0;
  for (std::size_t t = 0; t < b.size(); ++t) {
    for (std::size_t i = 0; i < b[t].size(); ++i) {
      apart = std::isfinite(a[t][i]) ? std::max(apart, std::fabs(a[t][i] - b[t][i])) : INFINITY;
      largest = std::max(largest, std::fabs(b[t][i]));
    }
  }
  return apart / largest;
}

Tensor ids_of(std::span<const std::int32_t> values, Size batch = 1) {
  return from_host<std::int32_t>(values, {batch, static_cast<Size>(values.size()) / batch}, i32);
}

std::vector<float> at_once(const Llama& model, std::span<const std::int32_t> values = ids) {
  KvCache cache = model.make_cache();
  return model(ids_of(values), cache).to_host<float>();
}

Rows rows(const std::vector<float>& values, std::size_t width) {
  Rows result;
  for (std::size_t t = 0; t < values.size(); t += width) result.emplace_back(&values[t], &values[t] + width);
  return result;
}

Llama open(const TinyFile& file, const LoadOptions& options = {}) {
  const io::TemporaryFile made(file.bytes());
  return Llama(io::GgufFile(made.path()), options);
}

struct Case {
  const char* name;
  Recipe recipe;
  /// Readings of the same file that a careless program would make: each must be far outside the bound, or the comparison says nothing.
  std::vector<std::function<void(Recipe&)>> misreadings;
};

// f32: a product's sum of k ≤ 96 terms is within k·2⁻²⁴ of Σ|w||x|, some 10 times |y|: 6e-5 at the very worst, √k in place of k in practice.
// Nine such products follow one another; the largest difference measured is 1e-6.
constexpr double f32_bound = 1e-4;
// Q8_0: products keep 15 bits of a block's largest activation (D15): a step is off by up to 2⁻¹⁴ of it, and nine products in a row, each with
// errors of random sign, add up to some 3·2⁻¹⁴ of a logit; the largest difference measured is 2e-4.
constexpr double q8_0_bound = 1e-3;

const std::vector<Case>& cases() {
  static const auto other_pairs = [](Recipe& r) { r.halves = !r.halves; };
  static const auto other_groups = [](Recipe& r) { r.key_heads = 1; };
  static const std::vector<Case> all = {
      {"Llama", {}, {other_pairs, other_groups, [](Recipe& r) { r.base = 500000; }}},
      {"LlamaThreePointOne",
       {.rotated = 12, .base = 500000, .own_output = true, .factors = true},
       {other_pairs, [](Recipe& r) { r.rotated = 0, r.factors = false; }, [](Recipe& r) { r.factors = false; },
        [](Recipe& r) { r.own_output = false; }, [](Recipe& r) { r.base = 10000; }}},
      {"LlamaWithScaledPositions", {.scale = 4}, {other_pairs, [](Recipe& r) { r.scale = 1; }, [](Recipe& r) { r.scale = 0.25; }}},
      {"LlamaWithWiderHeads", {.head = 24, .own_output = true}, {other_pairs, [](Recipe& r) { r.rotated = 16; }}},
      {"LlamaWithAKeyForEachQuery", {.key_heads = 4}, {other_pairs}},
      {"Qwen2",
       {.architecture = "qwen2", .base = 1000000, .halves = true, .biases = true},
       {other_pairs, [](Recipe& r) { r.biases = false; }, [](Recipe& r) { r.base = 10000; }}},
      {"LlamaInQ8_0", {.quantised = true}, {other_pairs, other_groups}},
      {"Qwen2InQ8_0",
       {.architecture = "qwen2", .halves = true, .own_output = true, .biases = true, .quantised = true},
       {other_pairs, [](Recipe& r) { r.own_output = false; }}},
  };
  return all;
}

TEST(TinyLlama, GivesTheLogitsOfTheFormulas) {
  for (const Case& c : cases()) {
    const TinyFile file(c.recipe);
    const Rows expected = Formulas(file, c.recipe).logits(ids);
    const Rows logits = rows(at_once(open(file)), c.recipe.vocabulary);
    ASSERT_EQ(logits.size(), ids.size()) << c.name;
    const double bound = c.recipe.quantised ? q8_0_bound : f32_bound;
    const double apart = distance(logits, expected);
    EXPECT_LE(apart, bound) << c.name;
    RecordProperty(c.name, std::to_string(apart));
    for (std::size_t i = 0; i < c.misreadings.size(); ++i) {
      Recipe misread = c.recipe;
      c.misreadings[i](misread);
      EXPECT_GE(distance(Formulas(file, misread).logits(ids), expected), 30 * bound) << c.name << ", misreading " << i;
    }
  }
}

TEST(TinyLlama, GivesTheSameBitsForAPromptAtOnceAndInPieces) {
  for (const Case& c : cases()) {
    const Llama model = open(TinyFile(c.recipe));
    const std::vector<float> whole = at_once(model);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{4}}) {
      KvCache cache = model.make_cache();
      std::vector<float> logits;
      for (std::size_t t = 0; t < ids.size(); t += piece) {
        const auto part = std::span(ids).subspan(t, std::min(piece, ids.size() - t));
        const std::vector<float> values = model(ids_of(part), cache).to_host<float>();
        logits.insert(logits.end(), values.begin(), values.end());
      }
      ASSERT_EQ(logits.size(), whole.size()) << c.name;
      EXPECT_EQ(std::memcmp(logits.data(), whole.data(), whole.size() * sizeof(float)), 0) << c.name << ", pieces of " << piece;
    }
    KvCache cache = model.make_cache();
    const std::vector<float> last = model(ids_of(ids), cache, true).to_host<float>();
    ASSERT_EQ(last.size(), c.recipe.vocabulary) << c.name;
    EXPECT_EQ(std::memcmp(last.data(), &whole[whole.size() - last.size()], last.size() * sizeof(float)), 0) << c.name;
  }
}

TEST(TinyLlama, GivesTheSameBitsForASequenceAloneAndInABatch) {
  for (const Case& c : cases()) {
    const Llama model = open(TinyFile(c.recipe));
    std::vector<std::int32_t> both = ids;
    both.insert(both.end(), other_ids.begin(), other_ids.end());
    KvCache cache = model.make_cache(2);
    const std::vector<float> together = model(ids_of(both, 2), cache).to_host<float>();
    std::vector<float> alone = at_once(model);
    const std::vector<float> second = at_once(model, other_ids);
    EXPECT_NE(std::memcmp(alone.data(), second.data(), second.size() * sizeof(float)), 0) << c.name;
    alone.insert(alone.end(), second.begin(), second.end());
    ASSERT_EQ(together.size(), alone.size()) << c.name;
    EXPECT_EQ(std::memcmp(together.data(), alone.data(), alone.size() * sizeof(float)), 0) << c.name;
  }
}

TEST(TinyLlama, GivesTheSameBitsWithWeightsAsTheyLieInTheFile) {
  for (const Case& c : cases()) {
    const TinyFile file(c.recipe);
    const std::vector<float> arranged = at_once(open(file)), plain = at_once(open(file, {.prepack = false}));
    ASSERT_EQ(arranged.size(), plain.size()) << c.name;
    EXPECT_EQ(std::memcmp(arranged.data(), plain.data(), plain.size() * sizeof(float)), 0) << c.name;
  }
}

TEST(TinyLlama, ReadsWhatTheKeysSay) {
  const LlamaConfig config = open(TinyFile({.rotated = 12, .scale = 4})).config();
  EXPECT_EQ(config.architecture, "llama");
  EXPECT_EQ(config.layers, 2);
  EXPECT_EQ(config.width, 64);
  EXPECT_EQ(config.heads, 4);
  EXPECT_EQ(config.key_heads, 2);
  EXPECT_EQ(config.head_size, 16);
  EXPECT_EQ(config.vocabulary, 50);
  EXPECT_EQ(config.context, 32);
  EXPECT_EQ(config.rope_size, 12);
  EXPECT_EQ(config.rope_scale, 4.0);
}

// ---- what it refuses ----

/// Expects an error of this kind whose text has all of `parts`.
template <class Work>
void expect_refusal(ErrorKind kind, std::initializer_list<std::string> parts, Work work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what() << " lacks " << part;
    return;
  }
  ADD_FAILURE() << "nothing was refused: " << *parts.begin();
}

const Recipe full = {.architecture = "qwen2", .halves = true, .own_output = true, .factors = true, .biases = true};

TEST(TinyLlamaRefuses, AFileThatLacksATensorAndNamesIt) {
  for (const auto& [name, tensor] : TinyFile(full).tensors) {
    TinyFile file(full);
    file.tensors.erase(name);
    if (name == "output.weight" || name == "rope_freqs.weight" || name.ends_with(".bias")) {
      EXPECT_NO_THROW(open(file)) << name;
    } else {
      expect_refusal(ErrorKind::InvalidFile, {"'" + name + "'", "missing"}, [&] { open(file); });
    }
  }
  TinyFile deeper(full);
  deeper.keys["qwen2.block_count"] = 3u;
  expect_refusal(ErrorKind::InvalidFile, {"'blk.2.attn_norm.weight'", "missing"}, [&] { open(deeper); });
}

TEST(TinyLlamaRefuses, ATensorOfAnotherShapeAndNamesBoth) {
  for (const auto& [name, tensor] : TinyFile(full).tensors) {
    // Another length, another row length, and another rank; the rows of the embedding are the vocabulary, whatever they are.
    TinyFile file(full);
    if (tensor.sizes.size() == 1) {
      file.vector(name, tensor.sizes[0] + 1, 0, 1);
      expect_refusal(ErrorKind::InvalidFile, {"'" + name + "'", "[" + std::to_string(tensor.sizes[0]) + "]"}, [&] { open(file); });
      file.matrix(name, tensor.sizes[0], 1);
      expect_refusal(ErrorKind::InvalidFile, {"'" + name + "'"}, [&] { open(file); });
    } else {
      file.matrix(name, tensor.sizes[0], tensor.sizes[1] + 32);
      expect_refusal(ErrorKind::InvalidFile, {"'" + name + "'", ", " + std::to_string(tensor.sizes[1]) + "]"}, [&] { open(file); });
      file.vector(name, tensor.sizes[0] * tensor.sizes[1], 0, 1);
      expect_refusal(ErrorKind::InvalidFile, {name == "token_embd.weight" ? "token_embd.weight" : "'" + name + "'"}, [&] { open(file); });
      file.tensors[name].sizes = {};
      expect_refusal(ErrorKind::InvalidFile, {"'" + name + "'"}, [&] { open(file); });
    }
  }
  TinyFile empty(full);
  empty.matrix("token_embd.weight", 0, full.width);
  empty.matrix("output.weight", 0, full.width);
  expect_refusal(ErrorKind::InvalidFile, {"'token_embd.weight'"}, [&] { open(empty); });
}

TEST(TinyLlamaRefuses, AFileThatLacksAKeyAndNamesIt) {
  for (const std::string key : {"general.architecture", "llama.block_count", "llama.context_length", "llama.embedding_length",
                                "llama.feed_forward_length", "llama.attention.head_count"}) {
    TinyFile file({});
    file.keys.erase(key);
    expect_refusal(ErrorKind::InvalidFile, {"'" + key + "'", "missing"}, [&] { open(file); });
  }
}

TEST(TinyLlamaRefuses, KeysThatContradictOneAnotherOrMeanNothing) {
  const auto with = [](const std::string& key, TinyFile::Value value) {
    TinyFile file({});
    file.keys[key] = std::move(value);
    return file;
  };
  const auto refused = [&](const std::string& key, TinyFile::Value value, std::initializer_list<std::string> parts) {
    expect_refusal(ErrorKind::InvalidFile, parts, [&] { open(with(key, value)); });
  };
  refused("llama.attention.head_count_kv", 3u, {"4 query heads", "3 key heads"});
  refused("llama.attention.head_count", 6u, {"llama.embedding_length", "64", "6 heads"});
  for (const std::string key : {"llama.block_count", "llama.context_length", "llama.embedding_length", "llama.feed_forward_length",
                                "llama.attention.head_count", "llama.attention.head_count_kv", "llama.attention.key_length"}) {
    refused(key, 0u, {key, "0"});
    refused(key, "four", {key, "string"});
    refused(key, 4.5f, {key, "f32"});
  }
  refused("llama.block_count", 4294967295u, {"llama.block_count"});
  for (const std::uint32_t rotated : {0u, 15u, 18u}) refused("llama.rope.dimension_count", rotated, {"rope.dimension_count"});
  for (const float number : {0.0f, -1.0f, INFINITY, NAN}) {
    refused("llama.rope.freq_base", number, {"llama.rope.freq_base"});
    refused("llama.attention.layer_norm_rms_epsilon", number, {"llama.attention.layer_norm_rms_epsilon"});
  }
  expect_refusal(ErrorKind::Unsupported, {"yarn", "linear"}, [&] { open(with("llama.rope.scaling.type", "yarn")); });
  expect_refusal(ErrorKind::Unsupported, {"mamba"}, [&] { open(with("general.architecture", "mamba")); });
}

TEST(TinyLlamaRefuses, IdsThatTheModelOrTheCacheDoesNotHave) {
  const Llama model = open(TinyFile({}));
  KvCache cache = model.make_cache(1, 4);
  const std::vector<std::int32_t> beyond = {50}, negative = {-1}, two = {1, 2};
  expect_refusal(ErrorKind::IndexOutOfRange, {"50"}, [&] { model(ids_of(beyond), cache); });
  expect_refusal(ErrorKind::IndexOutOfRange, {"-1"}, [&] { model(ids_of(negative), cache); });
  expect_refusal(ErrorKind::ShapeMismatch, {"ids"}, [&] { model(ids_of(two, 2), cache); });
  expect_refusal(ErrorKind::InvalidArgument, {"4"}, [&] { model(ids_of(ids), cache); });
  EXPECT_EQ(cache.length(), 0);
}

}  // namespace
}  // namespace votive::models
