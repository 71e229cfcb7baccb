// Byte-level BPE (GPT-2's): a token spells its bytes in an alphabet of 256 printable characters; text is cut into words, words into bytes,
// bytes are merged. Not here: control tokens (tokenizer.h).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "votive/text/merges.h"
#include "votive/text/splitter.h"
#include "votive/text/vocabulary.h"

namespace votive::text {

/// Where each token's spelling stands in a vocabulary.
using TokenIndex = std::unordered_map<std::string_view, int>;

/// The bytes that a spelling stands for: "Ġthe" is " the". A spelling with a character outside the alphabet stands for itself.
std::string bytes_of_byte_level(std::string_view spelling);

class ByteLevelBpe {
 public:
  /// `pieces` are the tokens' bytes and must outlive this. Throws where a merge names no token or the pre-tokenizer is not known.
  ByteLevelBpe(const Vocabulary& vocabulary, const TokenIndex& index, const std::vector<std::string>& pieces);

  /// Appends the ids of a text without control tokens. A byte that the vocabulary has no token for is left out.
  void encode(std::string_view text, std::vector<int>& ids) const;

  const Splitter::Habits& habits() const { return splitter_.habits(); }

 private:
  Splitter splitter_;
  Merges merges_;
  std::array<int, 256> byte_token_;
  std::unordered_map<std::string_view, int> whole_word_;  // words that surely become one token: a shortcut, never another answer
};

}  // namespace votive::text
