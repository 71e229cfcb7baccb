// Messages to the prompt that a chat model was trained on. The template that a model file carries is a Jinja program; it is not run but
// recognised, and what it would write is written here. Not here: running Jinja, tools, pictures. A template that is not surely one of the
// known ones is refused: a prompt that is nearly right makes a model that is nearly right.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "votive/text/tokenizer.h"

namespace votive {

struct ChatMessage {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;
};

struct ChatPrompt {
  std::string text;
  std::vector<TextRange> literal;  ///< the messages' own words: a "<|im_end|>" that somebody wrote there is text, and ends nothing
};

struct ChatOptions {
  bool reply = true;  ///< ends with what begins the assistant's next message
};

class ChatTemplate {
 public:
  /// From the text of a Jinja template, and how BOS and EOS are spelled. Throws Error{Unsupported} naming what is known.
  ChatTemplate(std::string_view jinja, std::string bos, std::string eos);
  /// The one in the model's file.
  explicit ChatTemplate(const Tokenizer& tokenizer);

  std::string_view name() const;  ///< "chatml", "llama3", …

  /// What Hugging Face's apply_chat_template writes, with a system message where the template brings its own (SmolLM2, Qwen2.5).
  /// Where a template asks for today's date it writes the one that it falls back to, so that a prompt does not change overnight.
  /// Throws Error{InvalidArgument} for an unknown role, no message, or an order that the template refuses.
  ChatPrompt prompt(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

  /// The prompt's ids; BOS and all other control tokens are the template's.
  std::vector<int> encode(const Tokenizer& tokenizer, std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

 private:
  struct Family;
  static const Family families[];

  const Family* family_ = nullptr;
  std::string bos_, eos_;

  // What the families' published variants differ in.
  std::string system_;              // the template's own system message, where the first message is none
  std::string open_, close_, say_;  // around a user's message, and before a reply
  std::string after_reply_;
  bool begins_with_bos_ = false, always_replies_ = false, trims_replies_ = false;
  enum class SystemPlace { none, first, last } system_place_ = SystemPlace::none;  // in which user message the system message is put
};

}  // namespace votive
