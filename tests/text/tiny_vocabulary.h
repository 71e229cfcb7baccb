// Vocabularies of a few tokens, small enough to work out every id by hand.
#pragma once

#include <string>
#include <vector>

#include "votive/text/vocabulary.h"

namespace votive {

/// Byte-level: ids 0 … 255 are the bytes in the order of GPT-2's alphabet ('!' is 0, 'a' is 64, ' ' spelled "Ġ" is 220), then the merges' tokens
/// in order, then "<|end|>" as a control token and "<think>" as a user-defined one.
inline Vocabulary tiny_byte_level(const std::vector<std::string>& merges, std::string pre = "gpt-2") {
  Vocabulary v;
  v.model = "gpt2";
  v.pre = std::move(pre);
  const auto spell = [&](int c) {
    if (c < 0x80) return v.tokens.emplace_back(1, static_cast<char>(c));
    return v.tokens.emplace_back(std::string{static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))});
  };
  for (int c = '!'; c <= '~'; ++c) spell(c);
  for (int c = 0xA1; c <= 0xFF; ++c)
    if (c != 0xAD) spell(c);
  for (int c = 0x100; c < 0x100 + 68; ++c) spell(c);
  for (const std::string& merge : merges) {
    std::string joined = merge;
    joined.erase(joined.find(' '), 1);
    v.tokens.push_back(joined);
  }
  v.merges = merges;
  v.types.assign(v.tokens.size(), 1);
  v.tokens.push_back("<|end|>");
  v.types.push_back(3);
  v.tokens.push_back("<think>");
  v.types.push_back(4);
  v.eos = static_cast<int>(v.tokens.size()) - 2;
  return v;
}

/// SentencePiece: 0 <unk>, 1 <s>, 2 </s>, 3 … 258 the byte tokens, then `tokens` with falling scores −0, −1, −2 …
inline Vocabulary tiny_sentence_piece(const std::vector<std::string>& tokens) {
  Vocabulary v;
  v.model = "llama";
  v.tokens = {"<unk>", "<s>", "</s>"};
  v.types = {2, 3, 3};
  for (int byte = 0; byte < 256; ++byte) {
    constexpr char digit[] = "0123456789ABCDEF";
    v.tokens.push_back(std::string("<0x") + digit[byte >> 4] + digit[byte & 15] + ">");
    v.types.push_back(6);
  }
  v.scores.assign(v.tokens.size(), 0);
  for (const std::string& token : tokens) {
    v.scores.push_back(-static_cast<float>(v.tokens.size() - 259));
    v.tokens.push_back(token);
    v.types.push_back(1);
  }
  v.bos = 1;
  v.eos = 2;
  v.unknown = 0;
  return v;
}

}  // namespace votive
