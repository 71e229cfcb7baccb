// Encoding and decoding with vocabularies so small that each expected id can be counted off in the test.
#include "votive/text/tokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "tests/text/tiny_vocabulary.h"
#include "votive/base/error.h"

namespace votive {
namespace {

using Ids = std::vector<int>;

constexpr EncodeOptions bare{.add_special = false};

// In the byte alphabet 'a' is 97 − 33 = 64, 'b' 65, 'c' 66, and the space, the 33rd of the unprintable, 94 + 94 + 32 = 220. Merges begin at 256.
TEST(ByteLevelBpe, MergesByRankAndNotFromTheLeft) {
  const Tokenizer t(tiny_byte_level({"b c", "a b", "a bc"}));
  EXPECT_EQ(t.encode("abc", bare), (Ids{258}));  // b c first, then a bc
  EXPECT_EQ(t.encode("abab", bare), (Ids{257, 257}));
  EXPECT_EQ(t.encode("babc", bare), (Ids{65, 258}));
}
TEST(ByteLevelBpe, MergesEqualPairsFromTheLeft) { EXPECT_EQ(Tokenizer(tiny_byte_level({"a a"})).encode("aaa", bare), (Ids{256, 64})); }
TEST(ByteLevelBpe, DoesNotMergeAcrossWords) {
  const Tokenizer t(tiny_byte_level({"a Ġ", "Ġ b"}));
  EXPECT_EQ(t.encode("a b", bare), (Ids{64, 257}));  // "a" and " b" are two words: "a " never forms, though its rank is lower
}
TEST(ByteLevelBpe, TakesAWholeWordForLlama3EvenIfNoMergeMakesIt) {
  Vocabulary v = tiny_byte_level({"a b"}, "llama-bpe");
  v.tokens[256 + 1] = "abc", v.types[256 + 1] = 1;  // instead of <|end|>: a token that no merge leads to
  v.eos.reset();
  EXPECT_EQ(Tokenizer(v).encode("abc", bare), (Ids{257}));
  v.pre = "qwen2";
  EXPECT_EQ(Tokenizer(v).encode("abc", bare), (Ids{256, 66}));
}
TEST(ByteLevelBpe, LooksForAWholeWordAsTheAlphabetSpellsIt) {
  Vocabulary v = tiny_byte_level({}, "llama-bpe");
  v.tokens.insert(v.tokens.end(), {" a", "Ġa", "b c", "<x>"});  // 258 … 261
  v.types.insert(v.types.end(), {1, 1, 1, 3});
  EXPECT_EQ(Tokenizer(v).encode(" a", bare), (Ids{259}));
  EXPECT_EQ(Tokenizer(v).encode("b c", bare), (Ids{65, 220, 66}));
  EXPECT_EQ(Tokenizer(v).encode("<x>", {.add_special = false, .parse_special = false}).size(), 3u) << "a control token is no word";
}

TEST(Tokenizer, ThatWasMovedStillEncodes) {
  Tokenizer first(tiny_byte_level({"a b"}));
  const Tokenizer second = std::move(first);
  EXPECT_EQ(first.encode("ab", bare), (Ids{256}));  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(second.encode("ab", bare), (Ids{256}));
}
TEST(ByteLevelBpe, LeavesOutAByteThatHasNoTokenAndMergesAroundIt) {
  Vocabulary v = tiny_byte_level({"a b"});
  v.tokens[66] = "unreachable";  // no "c"
  EXPECT_EQ(Tokenizer(v).encode("acb", bare), (Ids{256}));
}
TEST(ByteLevelBpe, BringsTextIntoNormalFormCForQwenAlone) {
  EXPECT_EQ(Tokenizer(tiny_byte_level({}, "qwen2")).decode(Tokenizer(tiny_byte_level({}, "qwen2")).encode("e\u0301", bare)), "é");
  EXPECT_EQ(Tokenizer(tiny_byte_level({}, "llama-bpe")).decode(Tokenizer(tiny_byte_level({}, "llama-bpe")).encode("e\u0301", bare)),
            "e\u0301");
}

// Tokens begin at 259: ▁ 259, a 260, b 261, …
TEST(SentencePiece, PutsASpaceBeforeTheFirstWordAndMergesByScore) {
  const Tokenizer t(tiny_sentence_piece({"ab", "▁a", "▁", "a", "b"}));
  EXPECT_EQ(t.encode("ab", bare), (Ids{261, 259}));  // "ab" scores higher than "▁a"
  EXPECT_EQ(t.encode("a b", bare), (Ids{260, 261, 263}));
  EXPECT_EQ(t.encode("ab"), (Ids{1, 261, 259}));  // BOS, unless the file says otherwise
  EXPECT_EQ(t.decode(t.encode("a b")), "a b");
}
TEST(SentencePiece, PutsNoSpaceWhereTheFileSaysSo) {
  Vocabulary v = tiny_sentence_piece({"▁", "a"});
  v.add_space_prefix = false;
  EXPECT_EQ(Tokenizer(v).encode("a", bare), (Ids{260}));
  EXPECT_EQ(Tokenizer(v).decode(Ids{259, 260}), " a");
}
TEST(SentencePiece, SpellsWhatHasNoTokenInBytes) {
  const Tokenizer t(tiny_sentence_piece({"▁"}));
  EXPECT_EQ(t.encode("é\n", bare), (Ids{259, 3 + 0xC3, 3 + 0xA9, 3 + 0x0A}));
  EXPECT_EQ(t.encode("\xff", bare), (Ids{259, 3 + 0xFF}));
  EXPECT_EQ(t.decode(t.encode("é\xff\n")), "é\xff\n");
}
TEST(SentencePiece, SaysUnknownOnceForARunThatHasNeitherTokensNorBytes) {
  Vocabulary v = tiny_sentence_piece({"▁", "a"});
  for (std::size_t i = 3; i < 259; ++i) v.types[i] = 5;
  EXPECT_EQ(Tokenizer(v).encode("xya", bare), (Ids{259, 0, 260}));
}
TEST(SentencePiece, MergesAcrossSpacesWhereTheVocabularyHasSuchTokens) {
  const Tokenizer t(tiny_sentence_piece({"a▁", "a▁b", "▁", "a", "b"}));
  EXPECT_EQ(t.encode("a b", bare), (Ids{261, 260}));
}

TEST(Tokenizer, ReadsControlTokensInTextOnlyWhenTold) {
  const Tokenizer t(tiny_byte_level({}));
  EXPECT_EQ(t.encode("<|end|>", bare).size(), 7u);
  EXPECT_EQ(t.encode("a<|end|>a", {.add_special = false, .parse_special = true}), (Ids{64, 256, 64}));
}
TEST(Tokenizer, ReadsUserDefinedTokensAlways) { EXPECT_EQ(Tokenizer(tiny_byte_level({})).encode("a<think>", bare), (Ids{64, 257})); }
TEST(Tokenizer, ReadsTheLongestSpecialTokenOfTheLeftmost) {
  Vocabulary v = tiny_byte_level({});
  v.tokens.insert(v.tokens.end(), {"<<", "<<<"});
  v.types.insert(v.types.end(), {4, 4});
  EXPECT_EQ(Tokenizer(v).encode("<<<<<", bare), (Ids{259, 258}));
}
TEST(Tokenizer, ReadsNoControlTokenWhereTextIsLiteral) {
  const Tokenizer t(tiny_byte_level({}));
  const std::string text = "<|end|><|end|>a<|end|>";
  const TextRange literal[] = {{7, 14}, {20, 21}};  // the second; one byte of the third
  const Ids ids = t.encode(text, {.add_special = false, .parse_special = true, .literal = literal});
  EXPECT_EQ(ids.size(), 1u + 7 + 1 + 7);
  EXPECT_EQ(ids[0], 256);
  EXPECT_EQ(t.decode(ids, {.special = true}), text);
}
TEST(Tokenizer, LeavesControlTokensOutOfTheTextUnlessAsked) {
  const Tokenizer t(tiny_byte_level({}));
  EXPECT_EQ(t.decode(Ids{64, 256, 257}), "a<think>");
  EXPECT_EQ(t.decode(Ids{64, 256}, {.special = true}), "a<|end|>");
}
TEST(Tokenizer, PutsEosAtTheEndWhereTheFileAsksForIt) {
  Vocabulary v = tiny_byte_level({});
  v.add_eos = true;
  EXPECT_EQ(Tokenizer(v).encode("a"), (Ids{64, 256}));
  EXPECT_EQ(Tokenizer(v).encode(""), (Ids{256}));
  EXPECT_EQ(Tokenizer(v).encode("", bare), (Ids{}));
}
TEST(Tokenizer, KnowsWhichTokensEndAReply) {
  Vocabulary v = tiny_byte_level({});
  v.tokens.insert(v.tokens.end(), {"<|im_end|>", "<|im_start|>"});
  v.types.insert(v.types.end(), {3, 3});
  const Tokenizer t(v);
  EXPECT_EQ(t.end_of_turn(), 258);
  EXPECT_TRUE(t.is_end_of_generation(256));  // EOS
  EXPECT_TRUE(t.is_end_of_generation(258));
  EXPECT_FALSE(t.is_end_of_generation(259));
  EXPECT_FALSE(t.is_end_of_generation(257));
  EXPECT_TRUE(t.is_special(256));
  EXPECT_FALSE(t.is_special(257));
  EXPECT_EQ(t.token(220), "Ġ");
  EXPECT_EQ(t.piece(220), " ");
  EXPECT_EQ(t.find("<|im_start|>"), 259);
  EXPECT_EQ(t.size(), 260);
}

TEST(Tokenizer, GivesBackEveryByteOfAnyText) {
  const Tokenizer byte_level(tiny_byte_level({"a b", "Ġ a"}, "llama-bpe")),
      sentence_piece(tiny_sentence_piece({"▁", "a", "b", "ab", "▁a"}));
  std::mt19937 random(4);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 40, '\0');
    for (char& c : text) c = random() % 2 ? "ab <|"[random() % 5] : static_cast<char>(random() % 256);
    ASSERT_EQ(byte_level.decode(byte_level.encode(text)), text);
    ASSERT_EQ(sentence_piece.decode(sentence_piece.encode(text)), text);
  }
}
TEST(Tokenizer, ReplacesBrokenBytesWhenAsked) {
  const Tokenizer t(tiny_byte_level({}));
  EXPECT_EQ(t.decode(t.encode("a\xf0\x9f\x98"
                              "b\xff",
                              {.ill_formed = IllFormed::replace})),
            "a\uFFFD"
            "b\uFFFD");
}
TEST(ByteLevelBpe, FindsWhatAMergeMakesWhereverItStands) {
  Vocabulary vocabulary = tiny_byte_level({"a b", "c d", "ab cd"});
  std::swap(vocabulary.tokens[256], vocabulary.tokens[257]);
  const Tokenizer tokenizer(vocabulary);
  EXPECT_EQ(tokenizer.encode("ab", bare), (Ids{257}));
  EXPECT_EQ(tokenizer.encode("cd", bare), (Ids{256}));
  EXPECT_EQ(tokenizer.encode("abcd", bare), (Ids{258}));
}

// A text so long that words are looked up whole gives what its pieces give, which are merged byte by byte; words that no merge makes are among the tokens.
// What counts is the length from one special token to the next: there is none in it.
TEST(Tokenizer, EncodesALongTextAsItsPieces) {
  Vocabulary vocabulary = tiny_byte_level({"a b", "Ġ c", "ab c", "Ġc ab", "d a"});
  vocabulary.tokens.push_back("Ġabd");
  vocabulary.types.push_back(1);
  const Tokenizer tokenizer(vocabulary);
  const std::vector<std::string> words = {" abc", " cab", " abd", " da", " dab", " \xE9", " abc abc", " bad", "\n"};
  std::string text;
  Ids want;
  for (std::size_t i = 0; text.size() < (std::size_t{1} << 20) + 1000; i = i * 31 + 7) {
    const std::string& word = words[i % words.size()];
    text += word;
    const Ids ids = tokenizer.encode(word, bare);
    want.insert(want.end(), ids.begin(), ids.end());
  }
  EXPECT_TRUE(tokenizer.encode(text, bare) == want);
  EXPECT_TRUE(tokenizer.encode(text, bare) == want) << "the second time";
}

TEST(Tokenizer, EncodesAMegabyteOfOneLetter) {
  const std::string text(1 << 20, 'a');
  std::vector<std::string> doublings, tokens{"▁", "a"};
  for (std::size_t n = 1; n <= 256; n *= 2) {
    doublings.push_back(std::string(n, 'a') + " " + std::string(n, 'a'));
    tokens.push_back(std::string(2 * n, 'a'));
  }
  EXPECT_EQ(Tokenizer(tiny_byte_level(doublings)).encode(text, bare), Ids(2048, 256 + 8));
  // By score the pairs come first as well: 2¹¹ tokens of 512 letters after the mark.
  const Ids ids = Tokenizer(tiny_sentence_piece(tokens)).encode(text, bare);
  EXPECT_EQ(ids.size(), 1u + 2048);
  EXPECT_EQ(ids.back(), 261 + 8);
}

TEST(Tokenizer, RefusesIdsThatItDoesNotHave) {
  const Tokenizer t(tiny_byte_level({}));
  for (const int id : {-1, 258, 1 << 30}) {
    EXPECT_THROW(t.decode(std::span(&id, 1)), Error);
    EXPECT_THROW(t.token(id), Error);
    EXPECT_THROW(t.piece(id), Error);
    EXPECT_THROW(t.is_special(id), Error);
    EXPECT_THROW(t.is_end_of_generation(id), Error);
  }
  try {
    t.decode(Ids{64, 999});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::IndexOutOfRange);
    EXPECT_EQ(error.position(), (std::vector<Size>{1}));
    EXPECT_STREQ(error.what(), "decode: index out of range: id 999 at position 1; the vocabulary has 258 tokens.");
  }
}

TEST(StreamDecoder, NeverSplitsACharacterHoweverTheBytesAreDivided) {
  const Tokenizer t(tiny_byte_level({}));
  const std::string text = "a é 中 😀 👨‍👩‍👧\u0301 z";
  const Ids bytes = t.encode(text, bare);
  ASSERT_EQ(bytes.size(), text.size());
  StreamDecoder stream(t);
  std::string together;
  for (const int id : bytes) {
    const std::string part = stream.push(id);
    for (std::size_t at = 0; at < part.size();) {  // whole characters: each begins with a lead byte and has what that announces
      const auto lead = static_cast<unsigned char>(part[at]);
      const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      ASSERT_TRUE(lead < 0x80 || lead >= 0xC2);
      ASSERT_LE(at + length, part.size());
      at += length;
    }
    together += part;
  }
  together += stream.finish();
  EXPECT_EQ(together, text);
}
TEST(StreamDecoder, GivesTheSameTextForEverySplitIntoTwoTokens) {
  const std::string text = "é中😀";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    Vocabulary v = tiny_sentence_piece({});
    v.tokens.push_back(text.substr(0, cut)), v.tokens.push_back(text.substr(cut));  // control tokens, which may be spelled in any bytes
    v.types.insert(v.types.end(), {3, 3}), v.scores.insert(v.scores.end(), {0, 0});
    StreamDecoder stream(Tokenizer(v), {.special = true});
    const std::string first = stream.push(259);
    EXPECT_EQ(text.substr(0, first.size()), first);
    EXPECT_LT(cut - first.size(), 4u);
    const std::string second = stream.push(260);
    EXPECT_EQ(first + second, text) << cut;
    EXPECT_EQ(stream.finish(), "") << cut;
  }
}
TEST(StreamDecoder, ReplacesWhatCannotBecomeACharacter) {
  const Tokenizer t(tiny_sentence_piece({}));
  StreamDecoder stream(t, {.begins_text = false});
  EXPECT_EQ(stream.push(3 + 0xF0), "");
  EXPECT_EQ(stream.push(3 + 0x9F), "");
  EXPECT_EQ(stream.push(3 + 'a'), "\uFFFDa");
  EXPECT_EQ(stream.push(3 + 0xFF), "\uFFFD");
  EXPECT_EQ(stream.push(3 + 0xE4), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
  EXPECT_EQ(stream.finish(), "");
}
TEST(StreamDecoder, TakesTheFirstSpaceAwayAtATextsBeginningOnly) {
  const Tokenizer t(tiny_sentence_piece({"▁", "▁a"}));
  const Ids ids{1, 260, 260};
  StreamDecoder beginning(t), going_on(t, {.begins_text = false});
  std::string first, second;
  for (const int id : ids) first += beginning.push(id), second += going_on.push(id);
  EXPECT_EQ(first, "a a");
  EXPECT_EQ(first, t.decode(ids));
  EXPECT_EQ(second, " a a");
  StreamDecoder spaces(t);
  std::string third = spaces.push(259);
  third += spaces.push(260);
  EXPECT_EQ(third, t.decode(Ids{259, 260}));
}

}  // namespace
}  // namespace votive
