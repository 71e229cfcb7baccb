// A language model as its user sees it: a file in, text out, piece by piece.
#pragma once

#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "votive/models/llama.h"
#include "votive/models/sampler.h"
#include "votive/text/chat.h"
#include "votive/text/tokenizer.h"

namespace votive::models {

struct GenerateOptions {
  Size max_tokens = 256;
  double temperature = 0.0;
  Size top_k = 0;
  double top_p = 1.0;
  double min_p = 0.0;
  double repetition_penalty = 1.0;
  Size repetition_window = 64;
  std::uint64_t seed = 0;
  std::vector<std::string> stop = {};  ///< text at which to end; it is not part of the result
  bool parse_special = false;          ///< control tokens spelled in the prompt are tokens
  bool add_special = true;             ///< BOS where the model's file asks for it
};

/// What ended a generation.
enum class Finish { running, end_of_text, max_tokens, stop_string, context_full };
std::string_view to_string(Finish finish);

struct GenerationStatistics {
  Size prompt_tokens = 0, generated_tokens = 0;
  double prompt_seconds = 0, decode_seconds = 0;
};

class LanguageModel;

/// Text as it comes: `for (auto piece : model.generate("…")) …`. Pieces are whole UTF-8 characters. Moves, does not copy; one that was moved from is at its end.
class Generation {
 public:
  Generation(const LanguageModel& model, std::vector<int> prompt, GenerateOptions options);
  ~Generation();
  Generation(Generation&&) noexcept;
  Generation& operator=(Generation&&) noexcept;

  /// The next piece, or nothing at the end. A piece is never empty.
  std::optional<std::string> next();
  Finish finish() const;
  const GenerationStatistics& statistics() const;
  std::span<const int> tokens() const;  ///< prompt and generated ids

  class Iterator {
   public:
    using value_type = std::string;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(Generation& generation) : generation_(&generation) { ++*this; }
    const std::string& operator*() const { return piece_; }
    Iterator& operator++() {
      if (generation_ == nullptr) return *this;
      std::optional<std::string> piece = generation_->next();
      if (piece.has_value()) {
        piece_ = std::move(*piece);
      } else {
        generation_ = nullptr;
      }
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& a, std::default_sentinel_t) { return a.generation_ == nullptr; }

   private:
    Generation* generation_ = nullptr;
    std::string piece_;
  };
  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Weights, tokenizer and chat template of one file. A value; copies share everything, and threads may generate from one at the same time.
class LanguageModel {
 public:
  LanguageModel(Llama network, const Tokenizer& tokenizer);
  // As of Tokenizer: what is moved stays as it was.
  LanguageModel(const LanguageModel&) = default;
  LanguageModel& operator=(const LanguageModel&) = default;

  const Llama& network() const { return *network_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }

  /// Throws Error{InvalidArgument} for an empty prompt without BOS, a prompt longer than the context, options out of range.
  Generation generate(std::string_view prompt, const GenerateOptions& options = {}) const;
  Generation generate(std::vector<int> prompt, const GenerateOptions& options = {}) const;
  /// The answer to a conversation, by the model's own template.
  Generation chat(std::span<const ChatMessage> messages, const GenerateOptions& options = {}) const;

 private:
  std::shared_ptr<const Llama> network_;
  Tokenizer tokenizer_;
};

/// Reads a GGUF file. Throws Error{Io}, Error{InvalidFile}, Error{Unsupported}.
LanguageModel load(const std::string& path, const LoadOptions& options = {});

}  // namespace votive::models
