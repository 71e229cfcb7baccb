// The file has scores, not merges: every way to cut a token into two tokens is a merge, ranked by the score of the whole.
#include "votive/text/sentence_piece.h"

#include <algorithm>
#include <functional>

#include "votive/base/error.h"
#include "votive/base/text.h"
#include "votive/base/utf8.h"

namespace votive::text {
namespace {

constexpr std::string_view space_mark = "\xE2\x96\x81";  // ▁

std::string with_marks(std::string_view text, bool prefix) {
  std::string marked;
  marked.reserve(text.size() + text.size() / 2);
  if (prefix) marked += space_mark;
  for (const char c : text) c == ' ' ? void(marked += space_mark) : marked.push_back(c);
  return marked;
}

// Where a word ends that begins at 0: before the first mark that follows another character.
std::size_t word_end(std::string_view marked) {
  std::size_t at = 0;
  while (marked.substr(at).starts_with(space_mark)) at += space_mark.size();
  return std::min(marked.find(space_mark, at), marked.size());
}

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

}  // namespace

std::string bytes_of_sentence_piece(std::string_view spelling, bool is_byte) {
  if (is_byte) {
    const bool formed = spelling.size() == 6 && spelling.starts_with("<0x") && spelling[5] == '>';
    const int high = formed ? hex_digit(spelling[3]) : -1, low = formed ? hex_digit(spelling[4]) : -1;
    if (high < 0 || low < 0)
      throw Error(ErrorKind::InvalidFile, "tokenizer")
          .detail(text::format("the byte token '{}' is not spelled <0x00> … <0xFF>", shown(spelling, 80)));
    return std::string(1, static_cast<char>(high * 16 + low));
  }
  std::string bytes;
  for (std::size_t at = 0; at < spelling.size();) {
    const bool mark = spelling.substr(at).starts_with(space_mark);
    bytes.push_back(mark ? ' ' : spelling[at]);
    at += mark ? space_mark.size() : 1;
  }
  return bytes;
}

SentencePiece::SentencePiece(const Vocabulary& vocabulary, const std::vector<std::string>& pieces, int unknown)
    : token_(vocabulary.tokens), unknown_(unknown) {
  byte_token_.fill(-1);
  std::vector<int> merging;
  std::vector<float> scores;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const int type = vocabulary.types.empty() ? 1 : vocabulary.types[id];
    const std::string_view spelling = vocabulary.tokens[id];
    if (type == static_cast<int>(TokenType::byte)) byte_token_[static_cast<unsigned char>(pieces[id][0])] = static_cast<int>(id);
    if (type != static_cast<int>(TokenType::normal) || spelling.empty()) continue;
    token_.add(static_cast<int>(id));  // never crowded: the index of all tokens, which has more of them in as many slots, was not
    merging.push_back(static_cast<int>(id));
    scores.push_back(vocabulary.scores[id]);
    if (word_end(spelling) != spelling.size()) spaces_begin_words_ = false;
  }
  std::sort(scores.begin(), scores.end(), std::greater<>());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());

  std::vector<Merges::Rule> rules;
  for (const int id : merging) {
    const std::string_view spelling = vocabulary.tokens[static_cast<std::size_t>(id)];
    const float score = vocabulary.scores[static_cast<std::size_t>(id)];
    const auto rank = static_cast<int>(std::lower_bound(scores.begin(), scores.end(), score, std::greater<>()) - scores.begin());
    for (std::size_t cut = static_cast<std::size_t>(utf8_step(spelling).bytes); cut < spelling.size();
         cut += static_cast<std::size_t>(utf8_step(spelling.substr(cut)).bytes)) {
      const int left = token_.find(spelling.substr(0, cut)), right = token_.find(spelling.substr(cut));
      if (left != TokenIndex::none && right != TokenIndex::none) rules.push_back({left, right, rank, id});
    }
  }
  merges_ = Merges(rules, static_cast<int>(pieces.size()));
}

void SentencePiece::encode(std::string_view text, bool prefix, std::vector<int>& ids) const {
  const std::string marked = with_marks(text, prefix);
  std::vector<int> scratch;
  for (std::string_view rest = marked; !rest.empty();) {
    const std::size_t end = spaces_begin_words_ ? word_end(rest) : rest.size();
    encode_word(rest.substr(0, end), scratch, ids);
    rest.remove_prefix(end);
  }
}

void SentencePiece::encode_word(std::string_view word, std::vector<int>& scratch, std::vector<int>& ids) const {
  // Neighbours merge only between characters that have tokens; the bytes of any other stand between them.
  scratch.clear();
  const auto merge = [&] {
    merges_.apply(scratch);
    ids.insert(ids.end(), scratch.begin(), scratch.end());
    scratch.clear();
  };
  while (!word.empty()) {
    const std::string_view character = word.substr(0, static_cast<std::size_t>(utf8_step(word).bytes));
    word.remove_prefix(character.size());
    if (const int token = token_.find(character); token != TokenIndex::none) {
      scratch.push_back(token);
      continue;
    }
    merge();
    const bool spelled_in_bytes =
        std::all_of(character.begin(), character.end(), [&](char c) { return byte_token_[static_cast<unsigned char>(c)] >= 0; });
    if (spelled_in_bytes) {
      for (const char c : character) ids.push_back(byte_token_[static_cast<unsigned char>(c)]);
    } else if (unknown_ >= 0 && (ids.empty() || ids.back() != unknown_)) {
      ids.push_back(unknown_);
    }
  }
  merge();
}

}  // namespace votive::text
