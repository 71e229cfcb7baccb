// GPT-2's alphabet: printable bytes of Latin-1 spell themselves, the other 68 are spelled U+0100, U+0101, … in order.
#include "votive/text/byte_level.h"

#include "votive/base/error.h"
#include "votive/base/text.h"
#include "votive/base/utf8.h"
#include "votive/text/normal_form.h"

namespace votive::text {
namespace {

bool spells_itself(int byte) { return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD); }

constexpr std::size_t alphabet_end = 0x100 + 68;

// alphabet()[c] is the byte that character c spells, or −1.
const std::array<int, alphabet_end>& alphabet() {
  static const auto table = [] {
    std::array<int, alphabet_end> byte_of;
    byte_of.fill(-1);
    std::size_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) byte_of[spells_itself(byte) ? static_cast<std::size_t>(byte) : next++] = byte;
    return byte_of;
  }();
  return table;
}

Merges merges_of(const Vocabulary& vocabulary, const TokenIndex& index) {
  const auto refuse = [&](std::size_t i, std::string why) {
    return Error(ErrorKind::InvalidFile, "tokenizer")
        .detail(format("merge {} of {}, '{}', {}", i, vocabulary.merges.size(), vocabulary.merges[i].substr(0, 80), why))
        .hint("Convert the model again: its vocabulary and its merges do not belong together");
  };
  std::vector<Merges::Rule> rules;
  rules.reserve(vocabulary.merges.size());
  for (std::size_t i = 0; i < vocabulary.merges.size(); ++i) {
    const std::string_view merge = vocabulary.merges[i];
    const std::size_t space = merge.find(' ', 1);  // a token may begin with a space, but not be empty
    if (space == merge.npos || space + 1 == merge.size()) throw refuse(i, "is not two tokens with a space between");
    const auto left = index.find(merge.substr(0, space)), right = index.find(merge.substr(space + 1));
    if (left == index.end() || right == index.end()) throw refuse(i, "joins something that is not a token");
    const auto joined = index.find(std::string(left->first) + std::string(right->first));
    if (joined == index.end()) throw refuse(i, "makes something that is not a token");
    rules.push_back({left->second, right->second, static_cast<int>(i), joined->second});
  }
  return Merges(rules, static_cast<int>(vocabulary.tokens.size()));
}

}  // namespace

std::string bytes_of_byte_level(std::string_view spelling) {
  std::string bytes;
  for (std::string_view rest = spelling; !rest.empty();) {
    const Utf8Step step = utf8_step(rest);
    if (step.kind != Utf8Step::character) return std::string(spelling);
    const char32_t c = utf8_code_point(rest);
    if (c >= alphabet_end || alphabet()[c] < 0) return std::string(spelling);
    bytes.push_back(static_cast<char>(alphabet()[c]));
    rest.remove_prefix(static_cast<std::size_t>(step.bytes));
  }
  return bytes;
}

ByteLevelBpe::ByteLevelBpe(const Vocabulary& vocabulary, const TokenIndex& index, const std::vector<std::string>& pieces)
    : splitter_(vocabulary.pre), merges_(merges_of(vocabulary, index)) {
  byte_token_.fill(-1);
  for (std::size_t c = 0; c < alphabet_end; ++c) {
    std::string spelling;
    append_utf8(static_cast<char32_t>(c), spelling);
    const auto token = index.find(spelling);
    if (alphabet()[c] >= 0 && token != index.end()) byte_token_[static_cast<std::size_t>(alphabet()[c])] = token->second;
  }

  std::vector<int> ids;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const bool normal = vocabulary.types.empty() || vocabulary.types[id] == static_cast<int>(TokenType::normal);
    if (!normal || pieces[id].empty()) continue;
    if (!habits().whole_words) {
      ids.clear();
      for (const char byte : pieces[id]) ids.push_back(byte_token_[static_cast<unsigned char>(byte)]);
      if (std::erase(ids, -1) > 0) continue;
      merges_.apply(ids);
      if (ids.size() != 1 || ids[0] != static_cast<int>(id)) continue;
    }
    whole_word_.emplace(pieces[id], static_cast<int>(id));
  }
}

void ByteLevelBpe::encode(std::string_view text, std::vector<int>& ids) const {
  std::string normal;
  if (habits().nfc && may_change_in_nfc(text)) text = normal = nfc(text);
  std::vector<int> word;
  for (const std::string_view piece : splitter_.split(text)) {
    if (const auto whole = whole_word_.find(piece); whole != whole_word_.end()) {
      ids.push_back(whole->second);
      continue;
    }
    word.clear();
    for (const char byte : piece)
      if (const int token = byte_token_[static_cast<unsigned char>(byte)]; token >= 0) word.push_back(token);
    merges_.apply(word);
    ids.insert(ids.end(), word.begin(), word.end());
  }
}

}  // namespace votive::text
