// SentencePiece BPE (Llama 2, Mistral 7B): a space is spelled "▁", characters merge by the score of what they become, and a character
// without a token becomes its bytes. Not here: unigram models (GGUF's "t5") and control tokens (tokenizer.h).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "votive/text/merges.h"
#include "votive/text/token_index.h"
#include "votive/text/vocabulary.h"

namespace votive::text {

/// The bytes that a token stands for: "▁the" is " the", a byte token "<0x0A>" is "\n". Throws where a byte token is spelled otherwise.
std::string bytes_of_sentence_piece(std::string_view spelling, bool is_byte);

class SentencePiece {
 public:
  /// `unknown` is the token of a character that has neither a token nor byte tokens; −1 where there is none. The vocabulary must outlive this.
  SentencePiece(const Vocabulary& vocabulary, const std::vector<std::string>& pieces, int unknown);

  /// Appends the ids of a text without control tokens, with a space before it where `prefix` says so.
  void encode(std::string_view text, bool prefix, std::vector<int>& ids) const;

 private:
  void encode_word(std::string_view word, std::vector<int>& scratch, std::vector<int>& ids) const;

  Merges merges_;
  TokenIndex token_;  // those that merging may meet: by spelling
  std::array<int, 256> byte_token_;
  int unknown_;
  bool spaces_begin_words_ = true;  // no token has "▁" after another character, so no merge crosses a word's beginning
};

}  // namespace votive::text
