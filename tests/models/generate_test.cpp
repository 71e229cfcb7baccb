// Generation on the real model: what a user relies on. The model is looked for in the cache; without it the tests say so and are counted as skipped.
#include "votive/models/generate.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <thread>

#include "cache.h"
#include "tests/models/tiny_llama.h"
#include "votive/votive.h"

namespace votive::models {
namespace {

const LanguageModel* model() {
  static const std::optional<LanguageModel> loaded = [] {
    const auto path = cached("SmolLM2-135M-Instruct.Q4_1.gguf");
    return path ? std::optional(load(*path)) : std::nullopt;
  }();
  return loaded ? &*loaded : nullptr;
}

std::string text_of(Generation generation) {
  std::string text;
  for (const std::string& piece : generation) text += piece;
  return text;
}

template <class Call>
ErrorKind kind_of(Call call) {
  try {
    call();
  } catch (const Error& error) { return error.kind(); }
  return ErrorKind::Internal;
}

#define NEED_MODEL() \
  if (model() == nullptr) GTEST_SKIP() << "SmolLM2-135M-Instruct.Q4_1.gguf is not in the cache: ./dev model gets it"

TEST(Generate, GivesTheSameTextEveryTimeAndOnAnyNumberOfThreads) {
  NEED_MODEL();
  const GenerateOptions options{.max_tokens = 12, .temperature = 0.8, .top_k = 40, .top_p = 0.9, .seed = 5};
  const int before = threads();
  set_threads(1);
  const std::string once = text_of(model()->generate("The sea was", options));
  set_threads(3);
  EXPECT_EQ(text_of(model()->generate("The sea was", options)), once);
  set_threads(before);
  EXPECT_FALSE(once.empty());
  GenerateOptions other = options;
  other.seed = 6;
  EXPECT_NE(text_of(model()->generate("The sea was", other)), once);
}

TEST(Generate, TwoThreadsOfAProgramMayUseOneModel) {
  NEED_MODEL();
  const GenerateOptions options{.max_tokens = 8};
  const std::string alone = text_of(model()->generate("Once upon a time", options));
  std::string a, b;
  std::thread other([&] { a = text_of(model()->generate("Once upon a time", options)); });
  b = text_of(model()->generate("Once upon a time", options));
  other.join();
  EXPECT_EQ(a, alone);
  EXPECT_EQ(b, alone);
}

TEST(Generate, EndsBeforeAStopStringAlsoWhenItComesInPieces) {
  NEED_MODEL();
  const std::string whole = text_of(model()->generate("The sea was", {.max_tokens = 20}));
  ASSERT_GT(whole.size(), 20u);
  const std::string stop = whole.substr(9, 7);
  Generation generation = model()->generate("The sea was", {.max_tokens = 20, .stop = {"never said", stop}});
  std::string text;
  for (const std::string& piece : generation) text += piece;
  EXPECT_EQ(text, whole.substr(0, whole.find(stop)));
  EXPECT_EQ(generation.finish(), Finish::stop_string);
}

TEST(Generate, MakesAsManyTokensAsAskedAndCountsThem) {
  NEED_MODEL();
  Generation generation = model()->generate("The sea was", {.max_tokens = 5});
  while (generation.next().has_value()) {}
  EXPECT_EQ(generation.finish(), Finish::max_tokens);
  EXPECT_EQ(generation.statistics().generated_tokens, 5);
  EXPECT_EQ(static_cast<Size>(generation.tokens().size()), generation.statistics().prompt_tokens + 5);
  EXPECT_EQ(text_of(model()->generate("The sea was", {.max_tokens = 0})), "");
}

TEST(Generate, AnswersAQuestionByTheModelsOwnTemplate) {
  NEED_MODEL();
  const ChatMessage messages[] = {{"user", "What is the capital of France? Answer in one word."}};
  EXPECT_NE(text_of(model()->chat(messages, {.max_tokens = 24})).find("Paris"), std::string::npos);
}

TEST(Generate, IsAtItsEndOnceItWasMovedAway) {
  NEED_MODEL();
  Generation first = model()->generate("The sea was", {.max_tokens = 2});
  Generation second = std::move(first);
  EXPECT_FALSE(first.next().has_value());  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(first.statistics().generated_tokens, 0);
  EXPECT_TRUE(first.tokens().empty());
  auto at = second.begin();
  for (int i = 0; i < 6; ++i) ++at;
  EXPECT_TRUE(at == second.end());
}

TEST(Generate, RefusesWhatCannotBeMeant) {
  NEED_MODEL();
  EXPECT_EQ(kind_of([] { model()->generate("", {}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { model()->generate("x", {.max_tokens = -1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { model()->generate("x", {.temperature = -1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { model()->generate("x", {.temperature = std::nan("")}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { model()->generate("x", {.top_p = 0}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { model()->generate(std::vector<int>(10000, 5), {}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { text_of(model()->generate(std::vector<int>{-1}, {.max_tokens = 1})); }), ErrorKind::IndexOutOfRange);
}

TEST(Load, OfAFileThatIsWrongTwiceAlwaysNamesTheSameFault) {
  TinyFile file(Recipe{});  // without a vocabulary
  file.tensors.erase("blk.1.ffn_down.weight");
  const std::string path = testing::TempDir() + "wrong_twice.gguf";
  std::ofstream(path, std::ios::binary) << file.bytes();
  const int before = threads();
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    for (int i = 0; i < 20; ++i) {
      try {
        load(path);
        ADD_FAILURE() << "was loaded";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::InvalidFile);
        EXPECT_NE(std::string(error.what()).find("tokenizer.ggml.model"), std::string::npos) << error.what();
      }
    }
  }
  set_threads(before);
  std::remove(path.c_str());
}

// ---- the sampler, on logits written here ----

TEST(Sampler, TakesTheLikeliestAtTemperatureZeroAndTheLowestIdOnTies) {
  EXPECT_EQ(Sampler({})(tensor({0, 100, 9}, f32), {}), 1);  // rten#1089: [0, 100, 9] at T = 0
  EXPECT_EQ(Sampler({})(tensor({7, 3, 7}, f32), {}), 0);
}

TEST(Sampler, RefusesNanLogits) {
  const Tensor logits = tensor({0, std::numeric_limits<double>::quiet_NaN()}, f32);
  EXPECT_EQ(kind_of([&] { Sampler({.temperature = 1})(logits, {}); }), ErrorKind::NonFinite);
  EXPECT_EQ(kind_of([&] { Sampler({})(logits, {}); }), ErrorKind::NonFinite);
}

TEST(Sampler, DrawsInProportionToTheProbabilities) {
  const Tensor logits = tensor({0.0, std::log(2.0), std::log(5.0)}, f32);  // 1 : 2 : 5
  Sampler sampler({.temperature = 1, .seed = 3});
  int counts[3] = {};
  for (int i = 0; i < 8000; ++i) ++counts[sampler(logits, {})];
  // Four standard deviations of a binomial count.
  EXPECT_NEAR(counts[0], 1000, 4 * std::sqrt(8000 * 0.125 * 0.875));
  EXPECT_NEAR(counts[1], 2000, 4 * std::sqrt(8000 * 0.25 * 0.75));
}

// The sums of its weights are made on the caller's thread, whose program may round as it likes.
TEST(Sampler, ChoosesTheSameTokensInWhateverEnvironmentTheCallerHas) {
  const Tensor logits = randn({3000}, {.seed = 9});
  const auto draw = [&] {
    Sampler sampler({.temperature = 1.3, .top_p = 0.93, .seed = 5});
    std::vector<int> ids;
    for (int i = 0; i < 400; ++i) ids.push_back(sampler(logits, {}));
    return ids;
  };
  const std::vector<int> expected = draw();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const std::vector<int> found = draw();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(found, expected);
  }
}

TEST(Sampler, KeepsOnlyWhatTopKTopPAndMinPAllow) {
  const Tensor logits = tensor({0.0, std::log(2.0), std::log(5.0), std::log(0.01)}, f32);
  Sampler one({.temperature = 1, .top_k = 1}), most({.temperature = 1, .top_p = 0.62}), near({.temperature = 1, .min_p = 0.3});
  bool second = false;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(one(logits, {}), 2);
    EXPECT_EQ(most(logits, {}), 2);  // 5 of 8.01 is 0.624
    const int id = near(logits, {});
    EXPECT_TRUE(id == 1 || id == 2) << id;
    second = second || id == 1;
  }
  EXPECT_TRUE(second);
}

TEST(Sampler, PenalisesWhatWasSaid) {
  const int said[] = {2};
  EXPECT_EQ(Sampler({.repetition_penalty = 2})(tensor({0, 3, 5}, f32), said), 1);
  EXPECT_EQ(Sampler({.repetition_penalty = 2})(tensor({-3, -9, -2}, f32), said), 0);
  EXPECT_EQ(Sampler({.repetition_penalty = 2, .repetition_window = 0})(tensor({0, 3, 5}, f32), said), 2);
}

// Of 0.5, 0.3, 0.15 and 0.05 a share of 0.9 takes three tokens: the two likeliest alone fall short of it.
TEST(Sampler, KeepsTheFewestTokensThatReachTopP) {
  const Tensor logits = tensor({std::log(0.15), std::log(0.5), std::log(0.05), std::log(0.3)}, f32);
  for (const auto& [share, kept] : {std::pair{0.4, 1}, {0.6, 2}, {0.79, 2}, {0.81, 3}, {0.9, 3}, {0.96, 4}, {1.0, 4}}) {
    Sampler sampler({.temperature = 1, .top_p = share, .seed = 3});
    std::vector<int> drawn(4);
    for (int i = 0; i < 600; ++i) ++drawn[static_cast<std::size_t>(sampler(logits, {}))];
    const bool expected[] = {kept >= 3, kept >= 1, kept >= 4, kept >= 2};
    for (std::size_t id = 0; id < 4; ++id) EXPECT_EQ(drawn[id] > 0, expected[id]) << "token " << id << " of a share of " << share;
  }
}

// ---- the cache ----

TEST(KvCache, HoldsWhatWasWrittenAndGrowsInPlace) {
  KvCache cache({.layers = 1, .batch = 1, .key_heads = 1, .head_size = 2, .capacity = 600});
  for (int step = 0; step < 300; ++step) {
    const Tensor k = full({1, 1, 2, 2}, step), v = full({1, 1, 2, 2}, -step);
    const KvCache::Layer all = cache.write(0, k, v);
    cache.advance(2);
    ASSERT_EQ(all.keys.shape(), (Shape{1, 1, 2 * step + 2, 2}));
    if (step % 50 == 0) {
      const std::vector<float> keys = all.keys.to_host<float>();
      for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(keys[i], static_cast<float>(i / 4));
    }
  }
  EXPECT_EQ(kind_of([&] { cache.write(0, ones({1, 1, 1, 2}), ones({1, 1, 1, 2})); }), ErrorKind::InvalidArgument);
  cache.truncate(3);
  EXPECT_EQ(cache.length(), 3);
  EXPECT_EQ(kind_of([&] { cache.write(0, ones({1, 2, 1, 2}), ones({1, 2, 1, 2})); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { cache.truncate(4); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { KvCache({.layers = 0}); }), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace votive::models
