// Text to token ids and back, for the vocabularies that GGUF files carry: byte-level BPE (SmolLM2, Llama 3, GPT-2, Qwen) and SentencePiece
// BPE (Llama 2, Mistral 7B). It wants to give the ids that the model was trained with, to the last one. Not here: reading the file (io).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "votive/text/vocabulary.h"

namespace votive {

/// Bytes begin … end of a text.
struct TextRange {
  std::size_t begin, end;
};

/// What encode makes of bytes that are not UTF-8.
enum class IllFormed {
  keep,     ///< the bytes themselves, so that decode gives them back
  replace,  ///< U+FFFD for each beginning of a character (Unicode, chapter 3.9; Python's "replace"): what Hugging Face's tokenizers are given
};

struct EncodeOptions {
  bool add_special = true;     ///< BOS before and EOS after the text, where the model's file asks for them
  bool parse_special = false;  ///< "<|im_end|>" in the text is the control token of that name, not ten letters and signs
  IllFormed ill_formed = IllFormed::keep;
  std::span<const TextRange> literal = {};  ///< with parse_special: where control tokens are text all the same; in order
};

struct DecodeOptions {
  bool special = false;     ///< write control tokens as they are spelled; otherwise they are left out
  bool begins_text = true;  ///< the ids begin a text: the space that SentencePiece put before the first word goes again
};

/// A value; copies share the tables, and any number of threads may use one.
class Tokenizer {
 public:
  /// Checks every number and name of the vocabulary. Throws Error{InvalidFile} for what contradicts itself (counts, doubled tokens, merges of
  /// no tokens, ids out of range, scores that are no numbers) and Error{Unsupported} for a model or a pre-tokenizer that is not known.
  explicit Tokenizer(Vocabulary vocabulary);
  // What is moved stays as it was, too: no handle is ever without tables.
  Tokenizer(const Tokenizer&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;

  /// The ids of a text. Equal to Hugging Face's tokenizers on UTF-8, and to llama.cpp's where the two agree.
  /// Bytes that are not UTF-8 are kept, where words are cut as if U+FFFD stood there. decode(encode(text)) = text, except that a byte without
  /// a token is left out (SmolLM2 lacks 21 of 256, none printable), that Qwen's vocabularies bring text into normal form C, and that
  /// SentencePiece reads "▁" as a space.
  /// O(n log n). Throws Error{SizeOverflow} from 2³⁰ bytes on.
  std::vector<int> encode(std::string_view text, const EncodeOptions& options = {}) const;

  /// The bytes of the ids, not necessarily UTF-8: StreamDecoder gives characters. Throws Error{IndexOutOfRange}.
  std::string decode(std::span<const int> ids, const DecodeOptions& options = {}) const;

  int size() const;
  std::string_view token(int id) const;  ///< as the file spells it: "Ġthe"
  std::string_view piece(int id) const;  ///< the bytes it stands for: " the"
  std::optional<int> find(std::string_view spelling) const;
  bool is_special(int id) const;            ///< a control token or the unknown token: no text of its own
  bool is_end_of_generation(int id) const;  ///< EOS, end of turn or of message: a model that says it has finished

  std::optional<int> bos() const;
  std::optional<int> eos() const;
  std::optional<int> end_of_turn() const;
  bool adds_bos() const;
  bool adds_eos() const;
  const std::string& chat_template() const;

 private:
  struct Tables;
  std::shared_ptr<const Tables> tables_;
};

/// Ids in, whole UTF-8 characters out: for text that is shown while it is made. What was pushed is what was decoded, except that bytes which
/// cannot become UTF-8 are U+FFFD, one for each beginning of a character (as Unicode's chapter 3.9 recommends, and as Python does).
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, const DecodeOptions& options = {});

  std::string push(int id);  ///< the characters that are complete now; may be empty
  std::string finish();      ///< what is left: U+FFFD for a character that never ended. Ready for the next text afterwards

 private:
  std::string take(bool all);

  Tokenizer tokenizer_;
  DecodeOptions options_;
  std::string waiting_;
  bool at_beginning_;
};

}  // namespace votive
