// GPT-2's alphabet: printable bytes of Latin-1 spell themselves, the other 68 are spelled U+0100, U+0101, … in order.
#include "votive/text/byte_level.h"

#include <algorithm>

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

// characters()[byte] is the character that spells a byte.
const std::array<char32_t, 256>& characters() {
  static const auto table = [] {
    std::array<char32_t, 256> character_of{};
    for (std::size_t c = 0; c < alphabet_end; ++c)
      if (alphabet()[c] >= 0) character_of[static_cast<std::size_t>(alphabet()[c])] = static_cast<char32_t>(c);
    return character_of;
  }();
  return table;
}

Merges merges_of(const Vocabulary& vocabulary, const TokenIndex& index) {
  const auto refuse = [&](std::size_t i, const std::string& why) {
    return Error(ErrorKind::InvalidFile, "tokenizer")
        .detail(text::format("merge {} of {}, '{}', {}", i, vocabulary.merges.size(), shown(vocabulary.merges[i], 80), why))
        .hint("Convert the model again: its vocabulary and its merges do not belong together");
  };
  std::vector<Merges::Rule> rules;
  rules.reserve(vocabulary.merges.size());
  std::string both;
  int joined = TokenIndex::none;
  for (std::size_t i = 0; i < vocabulary.merges.size(); ++i) {
    const std::string_view merge = vocabulary.merges[i];
    const std::size_t space = merge.find(' ', 1);  // a token may begin with a space, but not be empty
    if (space == merge.npos || space + 1 == merge.size()) throw refuse(i, "is not two tokens with a space between");
    const int left = index.find(merge.substr(0, space)), right = index.find(merge.substr(space + 1));
    if (left == TokenIndex::none || right == TokenIndex::none) throw refuse(i, "joins something that is not a token");
    both.assign(merge.substr(0, space)).append(merge.substr(space + 1));
    // Vocabularies are made merge by merge, so what this one makes mostly follows what the last one made.
    ++joined;
    if (static_cast<std::size_t>(joined) >= vocabulary.tokens.size() || vocabulary.tokens[static_cast<std::size_t>(joined)] != both) {
      joined = index.find(both);
    }
    if (joined == TokenIndex::none) throw refuse(i, "makes something that is not a token");
    rules.push_back({left, right, static_cast<int>(i), joined});
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
    : vocabulary_(vocabulary), index_(index), pieces_(pieces), splitter_(vocabulary.pre), merges_(merges_of(vocabulary, index)) {
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::string spelling;
    append_utf8(characters()[byte], spelling);
    byte_token_[byte] = index.find(spelling);  // none is -1
  }
}

void ByteLevelBpe::merge_bytes(std::string_view bytes, std::vector<int>& ids) const {
  ids.clear();
  for (const char byte : bytes)
    if (const int token = byte_token_[static_cast<unsigned char>(byte)]; token >= 0) ids.push_back(token);
  merges_.apply(ids);
}

bool ByteLevelBpe::is_normal(int id) const {
  return vocabulary_.types.empty() || vocabulary_.types[static_cast<std::size_t>(id)] == static_cast<int>(TokenType::normal);
}

void ByteLevelBpe::find_whole_words() const {
  if (whole_words_found_.load(std::memory_order_acquire)) return;
  const std::lock_guard guard(finding_whole_words_);
  if (whole_words_found_.load(std::memory_order_relaxed)) return;
  whole_word_ = TokenIndex(pieces_);
  std::vector<int> ids;
  for (int id = 0; id < static_cast<int>(pieces_.size()); ++id) {
    const std::string& piece = pieces_[static_cast<std::size_t>(id)];
    if (!is_normal(id) || piece.empty()) continue;
    if (!std::all_of(piece.begin(), piece.end(), [&](char byte) { return byte_token_[static_cast<unsigned char>(byte)] >= 0; })) continue;
    merge_bytes(piece, ids);
    if (ids.size() == 1 && ids[0] == id) whole_word_.add(id);
  }
  whole_words_found_.store(true, std::memory_order_release);
}

int ByteLevelBpe::token_spelled(std::string_view bytes) const {
  std::string spelling;
  for (const char byte : bytes) append_utf8(characters()[static_cast<unsigned char>(byte)], spelling);
  const int id = index_.find(spelling);
  return id != TokenIndex::none && is_normal(id) ? id : TokenIndex::none;
}

// To merge 50 000 tokens takes 25 ms; each megabyte of text that finds its words whole saves 15 (2-core Zen 4).
constexpr std::size_t long_text = std::size_t{1} << 20;

void ByteLevelBpe::encode(std::string_view text, std::vector<int>& ids) const {
  std::string normal;
  if (habits().nfc && may_change_in_nfc(text)) text = normal = nfc(text);
  const bool look_up = !habits().whole_words && text.size() >= long_text;
  if (look_up) find_whole_words();
  std::vector<int> word;
  for (const std::string_view piece : splitter_.split(text)) {
    const int whole = habits().whole_words ? token_spelled(piece) : look_up ? whole_word_.find(piece) : TokenIndex::none;
    if (whole != TokenIndex::none) {
      ids.push_back(whole);
      continue;
    }
    merge_bytes(piece, word);
    ids.insert(ids.end(), word.begin(), word.end());
  }
}

}  // namespace votive::text
