// Vocabularies that a careless or hostile file may bring: each is refused by kind, with a text that names what is wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/text/tiny_vocabulary.h"
#include "votive/base/error.h"
#include "votive/text/tokenizer.h"

namespace votive {
namespace {

struct Case {
  const char* what;
  ErrorKind kind;
  const char* says;  // part of the error's text
  std::function<void(Vocabulary& byte_level, Vocabulary& sentence_piece)> spoil;
  bool of_sentence_piece = false;
};

const ErrorKind invalid = ErrorKind::InvalidFile, unsupported = ErrorKind::Unsupported;

const Case cases[] = {
    {"unknown model", unsupported, "gpt2, llama", [](auto& v, auto&) { v.model = "t5"; }},
    {"no model", unsupported, "gpt2, llama", [](auto& v, auto&) { v.model.clear(); }},
    {"a model's name of a megabyte", unsupported, "gpt2, llama", [](auto& v, auto&) { v.model.assign(1 << 20, 'x'); }},
    {"unknown pre-tokenizer", unsupported, "smollm", [](auto& v, auto&) { v.pre = "tekken"; }},
    {"no tokens", invalid, "no tokens", [](auto& v, auto&) { v.tokens.clear(); }},
    {"too few types", invalid, "259 tokens but 258 token types", [](auto& v, auto&) { v.types.pop_back(); }},
    {"too many scores", invalid, "259 tokens but 260 scores", [](auto& v, auto&) { v.scores.assign(260, 0.f); }},
    {"a type of 7", invalid, "token 3 has the type 7", [](auto& v, auto&) { v.types[3] = 7; }},
    {"a negative type", invalid, "token 3 has the type -1", [](auto& v, auto&) { v.types[3] = -1; }},
    {"one token twice", invalid, "tokens 64 and 100 are both 'a'", [](auto& v, auto&) { v.tokens[100] = "a"; }},
    {"spellings that hash to one place", invalid, "hard to tell apart",
     [](auto& v, auto&) {
       // 259 + 300 tokens have 2048 places; these want the first four.
       for (int i = 0, made = 0; made < 300; ++i) {
         const std::string spelling = "t" + std::to_string(i);
         if (std::hash<std::string_view>{}(spelling) % 2048 > 3) continue;
         v.tokens.push_back(spelling);
         v.types.push_back(1);
         ++made;
       }
     }},
    {"a token of a megabyte", unsupported, "token 5 is 1048576 bytes long", [](auto& v, auto&) { v.tokens[5].assign(1 << 20, 'x'); }},
    {"BOS past the end", invalid, "the BOS token is 259", [](auto& v, auto&) { v.bos = 259; }},
    {"negative EOS", invalid, "the EOS token is -1", [](auto& v, auto&) { v.eos = -1; }},
    {"unknown past the end", invalid, "unknown", [](auto& v, auto&) { v.unknown = std::numeric_limits<int>::max(); }},
    {"end of turn past the end", invalid, "end-of-turn", [](auto& v, auto&) { v.end_of_turn = 1 << 20; }},
    {"BOS wanted but not named", invalid, "BOS", [](auto& v, auto&) { v.add_bos = true; }},
    {"EOS wanted but not named", invalid, "EOS", [](auto& v, auto&) { v.add_eos = true, v.eos.reset(); }},
    {"a merge of one", invalid, "merge 0 of 1", [](auto& v, auto&) { v.merges[0] = "ab"; }},
    {"a merge of nothing", invalid, "merge 0 of 1", [](auto& v, auto&) { v.merges[0] = ""; }},
    {"a merge with an empty half", invalid, "merge 0 of 1", [](auto& v, auto&) { v.merges[0] = "a "; }},
    {"a merge of three", invalid, "not a token", [](auto& v, auto&) { v.merges[0] = "a b c"; }},
    {"a merge of no token", invalid, "joins something that is not a token", [](auto& v, auto&) { v.merges[0] = "a xy"; }},
    {"a merge into no token", invalid, "makes something that is not a token", [](auto& v, auto&) { v.merges[0] = "a c"; }},
    {"a merge of a megabyte", invalid, "merge 0 of 1", [](auto& v, auto&) { v.merges[0] = std::string(1 << 20, 'a') + " b"; }},
    {"no scores", invalid, "scores", [](auto&, auto& v) { v.scores.clear(); }, true},
    {"a score that is no number", invalid, "token 260 has the score nan", [](auto&, auto& v) { v.scores[260] = std::nanf(""); }, true},
    {"an infinite score", invalid, "token 260 has the score inf", [](auto&, auto& v) { v.scores[260] = INFINITY; }, true},
    {"a byte token of another spelling", invalid, "<0xG0>", [](auto&, auto& v) { v.tokens[10] = "<0xG0>"; }, true},
    {"an empty byte token", invalid, "byte token", [](auto&, auto& v) { v.tokens[10] = ""; }, true},
};

TEST(HostileVocabulary, IsRefusedByKindAndByName) {
  for (const Case& c : cases) {
    Vocabulary byte_level = tiny_byte_level({"a b"}), sentence_piece = tiny_sentence_piece({"▁", "a"});
    c.spoil(byte_level, sentence_piece);
    try {
      const Tokenizer t(c.of_sentence_piece ? sentence_piece : byte_level);
      ADD_FAILURE() << c.what << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), c.kind) << c.what << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find(c.says), std::string::npos) << c.what << ": " << error.what();
      EXPECT_LT(std::string(error.what()).size(), 1000u) << c.what;
    }
  }
}

TEST(HostileVocabulary, IsTakenWhereItIsOnlyOdd) {
  Vocabulary v = tiny_byte_level({"a b", "a b"});
  v.tokens[257] = "other";           // the same merge twice: the first counts
  v.padding = 1 << 20;               // published files have this one past the end
  v.tokens[10] = v.tokens[11] = "";  // ids left free
  v.tokens[12] = "\xff\xfe";         // no UTF-8: it stands for itself
  const Tokenizer t(v);
  EXPECT_EQ(t.encode("ab", {.add_special = false}), std::vector<int>{256});
  EXPECT_EQ(t.decode(std::vector<int>{10, 11, 12}), "\xff\xfe");
}

TEST(HostileVocabulary, CannotMakeLookUpsForSpecialTokensQuadratic) {
  // 500 control tokens that all begin alike and differ in the last byte, and a text that is their common beginning over and over.
  Vocabulary v = tiny_byte_level({});
  for (std::size_t n = 1; n <= 500; ++n) v.tokens.push_back(std::string(n, 'a') + "!"), v.types.push_back(4);
  EXPECT_EQ(Tokenizer(v).encode(std::string(20'000, 'a'), {.add_special = false}).size(), 20'000u);
}

}  // namespace
}  // namespace votive
