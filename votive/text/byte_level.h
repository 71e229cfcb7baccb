// Byte-level BPE (GPT-2's): a token spells its bytes in an alphabet of 256 printable characters; text is cut into words, words into bytes,
// bytes are merged. Not here: control tokens (tokenizer.h).
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "votive/text/merges.h"
#include "votive/text/splitter.h"
#include "votive/text/token_index.h"
#include "votive/text/vocabulary.h"

namespace votive::text {

/// The bytes that a spelling stands for: "Ġthe" is " the". A spelling with a character outside the alphabet stands for itself.
std::string bytes_of_byte_level(std::string_view spelling);

class ByteLevelBpe {
 public:
  /// `pieces` are the tokens' bytes; all three must outlive this. Throws where a merge names no token or the pre-tokenizer is not known.
  ByteLevelBpe(const Vocabulary& vocabulary, const TokenIndex& index, const std::vector<std::string>& pieces);

  /// Appends the ids of a text without control tokens. A byte that the vocabulary has no token for is left out.
  void encode(std::string_view text, std::vector<int>& ids) const;

  const Splitter::Habits& habits() const { return splitter_.habits(); }

 private:
  bool is_normal(int id) const;
  void find_whole_words() const;
  int token_spelled(std::string_view bytes) const;
  void merge_bytes(std::string_view bytes, std::vector<int>& ids) const;

  const Vocabulary& vocabulary_;
  const TokenIndex& index_;
  const std::vector<std::string>& pieces_;
  Splitter splitter_;
  Merges merges_;
  std::array<int, 256> byte_token_;
  // Words that surely become one token: a shortcut, never another answer. To find them is to merge the whole vocabulary once, which only a long text is worth.
  mutable std::mutex
      finding_whole_words_;  // not a once_flag, whose second call waits for ever after an exception where pthread_once does not unwind
  mutable std::atomic<bool> whole_words_found_{false};
  mutable TokenIndex whole_word_;
};

}  // namespace votive::text
