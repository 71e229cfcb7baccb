// Cuts text into the words inside which byte-level BPE merges, by the pattern that each family of models was trained with.
// Not here: the merging (merges.h); bytes never change here, every byte of the text is in exactly one piece.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace votive::text {

class Splitter {
 public:
  /// A GGUF's tokenizer.ggml.pre. Throws Error{Unsupported} naming what is known.
  explicit Splitter(std::string_view pre);

  /// The pieces in order; together they are the text. Linear in the text's length.
  /// A byte that is not UTF-8 is cut as U+FFFD would be: neither letter, number nor space.
  std::vector<std::string_view> split(std::string_view text) const;

  /// What else a family's name decides: text is brought into normal form C first; a word that is a token as a whole is taken so, without
  /// merging; a text begins with BOS unless the file says otherwise.
  struct Habits {
    bool nfc = false, whole_words = false, add_bos = false;
  };
  const Habits& habits() const { return habits_; }

 private:
  struct Pattern;
  std::vector<std::shared_ptr<const Pattern>> patterns_;  // each cuts the pieces of the one before
  Habits habits_;
};

}  // namespace votive::text
