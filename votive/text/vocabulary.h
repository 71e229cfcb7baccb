// What a model file says about its tokenizer (GGUF's tokenizer.ggml.* keys), already read into plain values. Nothing here is checked: `Tokenizer` does that.
// Not here: reading files (io) and the meaning of the values (tokenizer.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace votive {

/// GGUF's token types, as the numbers stand in the file.
enum class TokenType : int { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct Vocabulary {
  std::string model;  ///< "gpt2" (byte-level BPE) or "llama" (SentencePiece)
  std::string pre;    ///< which pattern cuts text into words: "smollm", "llama-bpe", "gpt-2", "qwen2" …; byte-level BPE only
  std::vector<std::string> tokens;  ///< spelled as in the file: "Ġthe", "▁the", "<0x0A>", "<|im_end|>"
  std::vector<float> scores;        ///< one per token where model is "llama": the higher, the earlier it is merged
  std::vector<int> types;           ///< TokenType, one per token; may be empty
  std::vector<std::string> merges;  ///< "left right", the most urgent first; byte-level BPE only

  std::optional<int> bos, eos, unknown, padding;
  std::optional<int> end_of_turn, end_of_message;  ///< found by their usual spelling where the file does not say
  std::optional<bool> add_bos, add_eos;            ///< a missing one means what the model's kind usually means
  std::optional<bool> add_space_prefix;            ///< SentencePiece: a space before the first word

  std::string chat_template;  ///< Jinja text; chat.h knows the usual ones
};

}  // namespace votive
