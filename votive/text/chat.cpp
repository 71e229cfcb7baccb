// A family is a test on the template's text and a function that writes. Where a family comes in variants (spaces around [INST], a system
// message of its own), the string literals of the template say which it is.
#include "votive/text/chat.h"

#include <algorithm>
#include <utility>

#include "votive/base/error.h"
#include "votive/base/refuse_memory.h"
#include "votive/base/text.h"

namespace votive {
namespace {

using Messages = std::span<const ChatMessage>;

// The string literals within {{ }} and {% %}, in order.
std::vector<std::string> literals_of(std::string_view jinja) {
  std::vector<std::string> literals;
  bool in_code = false;
  for (std::size_t i = 0; i < jinja.size(); ++i) {
    const std::string_view two = jinja.substr(i, 2);
    if (two == "{#") {
      i = std::min(jinja.find("#}", i), jinja.size() - 1) + 1;
    } else if (two == "{{" || two == "{%") {
      in_code = true;
      ++i;
    } else if (in_code && (two == "}}" || two == "%}")) {
      in_code = false;
      ++i;
    } else if (in_code && (two[0] == '\'' || two[0] == '"')) {
      std::string& literal = literals.emplace_back();
      for (const char quote = two[0]; ++i < jinja.size() && jinja[i] != quote;) {
        if (jinja[i] == '\\' && i + 1 < jinja.size())
          ++i, literal.push_back(jinja[i] == 'n' ? '\n' : jinja[i] == 't' ? '\t' : jinja[i]);
        else
          literal.push_back(jinja[i]);
      }
    }
  }
  return literals;
}

// As Python's str.strip, for the white space that prompts have.
std::string_view stripped(std::string_view text, std::string_view what = " \t\n\v\f\r") {
  const std::size_t begin = text.find_first_not_of(what);
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(what) - begin + 1);
}
std::string_view without_leading(std::string_view text, char c) { return text.substr(std::min(text.find_first_not_of(c), text.size())); }

class Writer {
 public:
  template <class... Part>
  Writer& mark(const Part&... part) {
    ((prompt_.text += part), ...);
    return *this;
  }
  Writer& words(std::string_view content) {
    if (!content.empty()) prompt_.literal.push_back({prompt_.text.size(), prompt_.text.size() + content.size()});
    prompt_.text += content;
    return *this;
  }
  ChatPrompt take() { return std::move(prompt_); }

 private:
  ChatPrompt prompt_;
};

Error refused(std::string detail) { return Error(ErrorKind::InvalidArgument, "chat").arg("messages", 1).detail(std::move(detail)); }

// The optional system message is taken off; what follows must be user, assistant, user, …
const ChatMessage* take_system(Messages& messages) {
  const ChatMessage* const system = messages.front().role == "system" ? &messages.front() : nullptr;
  if (system) messages = messages.subspan(1);
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (messages[i].role != (i % 2 == 0 ? "user" : "assistant"))
      throw refused(text::format("the template wants user and assistant in turn, but message {} after the system message is of '{}'", i,
                                 messages[i].role));
  return system;
}

}  // namespace

struct ChatTemplate::Family {
  const char* name;
  bool (*recognises)(std::string_view jinja);
  void (*write)(const ChatTemplate&, Messages, const ChatOptions&, Writer&);
};

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }
template <class... Part>
bool has_any(std::string_view text, const Part&... part) {
  return (has(text, part) || ...);
}

bool is_qwen3(std::string_view t) {
  return has(t, "ns.last_query_index") && has(t, "enable_thinking is false") && !has_any(t, "bos_token", "'<think>\\n'");
}
bool is_chatml(std::string_view t) {
  // Templates that do more than they seem to: other separators, thoughts, dates, tools by default, trimmed words.
  return has(t, "<|im_start|>") && has(t, "<|im_end|>") &&
         !has_any(t, "<|im_sep|>", "<end_of_utterance>", "think>", "strftime_now", "function calling AI", "strip(", "content'] | trim",
                  "content | trim");
}
bool is_llama31(std::string_view t) {
  return has(t, "<|start_header_id|>") && has(t, R"("Today Date: " + date_string)") && has(t, "26 Jul 2024");
}
bool is_llama3(std::string_view t) {
  return has(t, "<|start_header_id|>") && has(t, "<|eot_id|>") && !has_any(t, "tool", "function", "Date");
}
bool is_llama2(std::string_view t) {
  // `false == true` guards Meta's old system message; without it a template brings one of its own.
  return has(t, "[INST]") && has(t, "<<SYS>>") && has(t, "content.strip()") && (has(t, "false == true") || !has(t, "system_message = '"));
}
bool is_mistral(std::string_view t) {
  const bool placed = has_any(t, "loop.last and system_message", "loop.first and system_message");
  return has(t, "[INST]") && has(t, "[/INST]") && has(t, "bos_token") && !has_any(t, "<<SYS>>", "[SYSTEM_PROMPT]") &&
         (placed || !has(t, "system"));
}
bool is_zephyr(std::string_view t) {
  return has(t, "'<|user|>\\n'") && has(t, "'<|assistant|>\\n'") && has(t, "eos_token") &&
         !has_any(t, "<|end|>", "bos_token", "trim", "strip");
}
bool is_gemma(std::string_view t) { return has(t, "<start_of_turn>") && has(t, "<end_of_turn>") && has(t, "first_user_prefix"); }

}  // namespace

const ChatTemplate::Family ChatTemplate::families[] = {
    {"qwen3", is_qwen3,
     [](const ChatTemplate&, Messages messages, const ChatOptions& options, Writer& out) {
       // Earlier replies lose their thoughts; one after the last question keeps them.
       std::size_t last_question = messages.size() - 1;
       for (std::size_t i = messages.size(); i-- > 0;) {
         const std::string_view content = messages[i].content;
         if (messages[i].role != "user" || (content.starts_with("<tool_response>") && content.ends_with("</tool_response>"))) continue;
         last_question = i;
         break;
       }
       for (std::size_t i = 0; i < messages.size(); ++i) {
         out.mark("<|im_start|>", messages[i].role, "\n");
         std::string_view content = messages[i].content, thoughts;
         if (messages[i].role == "assistant") {
           constexpr std::string_view begin = "<think>", end = "</think>";
           if (const std::size_t first = content.find(end); first != content.npos) {
             thoughts = content.substr(0, first);
             thoughts = thoughts.substr(0, thoughts.find_last_not_of('\n') + 1);
             if (const std::size_t at = thoughts.rfind(begin); at != thoughts.npos) thoughts.remove_prefix(at + begin.size());
             thoughts = without_leading(thoughts, '\n');
             content = without_leading(content.substr(content.rfind(end) + end.size()), '\n');
           }
           if (i > last_question && (i + 1 == messages.size() || !thoughts.empty())) {
             out.mark("<think>\n").words(stripped(thoughts, "\n")).mark("\n</think>\n\n");
             content = without_leading(content, '\n');
           }
         }
         out.words(content).mark("<|im_end|>\n");
       }
       if (options.reply) out.mark("<|im_start|>assistant\n");
     }},
    {"chatml", is_chatml,
     [](const ChatTemplate& self, Messages messages, const ChatOptions& options, Writer& out) {
       if (self.begins_with_bos_) out.mark(self.bos_);
       if (messages.front().role != "system") out.mark(self.system_);
       for (const ChatMessage& message : messages) out.mark("<|im_start|>", message.role, "\n").words(message.content).mark("<|im_end|>\n");
       if (options.reply) out.mark("<|im_start|>assistant\n");
     }},
    {"llama3.1", is_llama31,
     [](const ChatTemplate& self, Messages messages, const ChatOptions& options, Writer& out) {
       const auto header = [&](std::string_view role) { out.mark("<|start_header_id|>", role, "<|end_header_id|>\n\n"); };
       out.mark(self.bos_);
       header("system");
       out.mark("Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n");
       if (messages.front().role == "system") {
         out.words(stripped(messages.front().content));
         messages = messages.subspan(1);
       }
       out.mark("<|eot_id|>");
       for (const ChatMessage& message : messages) {
         header(message.role);
         out.words(stripped(message.content)).mark("<|eot_id|>");
       }
       if (options.reply) header("assistant");
     }},
    {"llama3", is_llama3,
     [](const ChatTemplate& self, Messages messages, const ChatOptions& options, Writer& out) {
       out.mark(self.bos_);
       for (const ChatMessage& message : messages)
         out.mark("<|start_header_id|>", message.role, "<|end_header_id|>\n\n").words(stripped(message.content)).mark("<|eot_id|>");
       if (options.reply) out.mark("<|start_header_id|>assistant<|end_header_id|>\n\n");
     }},
    {"llama2", is_llama2,
     [](const ChatTemplate& self, Messages messages, const ChatOptions&, Writer& out) {
       const ChatMessage* system = take_system(messages);
       for (const ChatMessage& message : messages) {
         if (message.role == "assistant") {
           out.mark(" ").words(stripped(message.content)).mark(" ", self.eos_);
           continue;
         }
         out.mark(self.bos_, "[INST] ");
         if (system)
           out.mark("<<SYS>>\n").words(system->content).mark("\n<</SYS>>\n\n").words(message.content);
         else
           out.words(stripped(message.content));
         out.mark(" [/INST]");
         system = nullptr;
       }
     }},
    {"mistral", is_mistral,
     [](const ChatTemplate& self, Messages messages, const ChatOptions&, Writer& out) {
       const ChatMessage* const system = take_system(messages);
       if (system && self.system_place_ == SystemPlace::none) throw refused("the template takes no system message");
       out.mark(self.bos_);
       const std::size_t place = self.system_place_ == SystemPlace::first ? 0 : messages.size() - 1;
       for (std::size_t i = 0; i < messages.size(); ++i) {
         const std::string_view content = messages[i].content;
         if (messages[i].role == "assistant") {
           out.mark(self.say_).words(self.trims_replies_ ? stripped(content) : content).mark(self.eos_, self.after_reply_);
           continue;
         }
         out.mark(self.open_);
         if (system && i == place) out.words(system->content).mark("\n\n");
         out.words(content).mark(self.close_);
       }
     }},
    {"zephyr", is_zephyr,
     [](const ChatTemplate& self, Messages messages, const ChatOptions& options, Writer& out) {
       for (const ChatMessage& message : messages) out.mark("<|", message.role, "|>\n").words(message.content).mark(self.eos_, "\n");
       if (options.reply) out.mark("<|assistant|>\n");
     }},
    {"gemma", is_gemma,
     [](const ChatTemplate& self, Messages messages, const ChatOptions& options, Writer& out) {
       const ChatMessage* system = take_system(messages);
       out.mark(self.bos_);
       for (const ChatMessage& message : messages) {
         out.mark("<start_of_turn>", message.role == "assistant" ? "model" : "user", "\n");
         if (system) out.words(system->content).mark("\n\n");
         out.words(stripped(message.content)).mark("<end_of_turn>\n");
         system = nullptr;
       }
       if (options.reply) out.mark("<start_of_turn>model\n");
     }},
};

ChatTemplate::ChatTemplate(std::string_view jinja, std::string bos, std::string eos) try : bos_(std::move(bos)), eos_(std::move(eos)) {
  std::string known;
  for (const Family& family : families) {
    known += (known.empty() ? "" : ", ") + std::string(family.name);
    if (!family_ && family.recognises(jinja)) family_ = &family;
  }
  if (!family_)
    throw Error(ErrorKind::Unsupported, "chat")
        .detail(jinja.empty() ? "the model's file has no chat template" : "the model's chat template is none of those known")
        .accepted(known)
        .hint("Give the prompt as the model wants it to generate");

  begins_with_bos_ = has(jinja, "bos_token");
  always_replies_ = !has(jinja, "add_generation_prompt");
  trims_replies_ = has(jinja, R"(message["content"]|trim + eos_token)");
  if (has_any(jinja, "' ' + message['content'] + eos", R"(" " + message["content"])")) say_ = " ";
  if (has(jinja, "eos_token + ' '")) after_reply_ = " ";
  if (has(jinja, "loop.first and system_message")) system_place_ = SystemPlace::first;
  if (has(jinja, "loop.last and system_message")) system_place_ = SystemPlace::last;
  for (const std::string& literal : literals_of(jinja)) {
    const std::string_view l = literal;
    if (l.starts_with("<|im_start|>system\n") && l.ends_with("<|im_end|>\n") && system_.empty()) system_ = l;
    if (l.ends_with("[INST]") || l.ends_with("[INST] ")) open_ = l;
    if (l.starts_with("[/INST]") || l.starts_with(" [/INST]")) close_ = l;
  }
} catch (const std::bad_alloc&) { detail::refuse_memory("chat"); }

ChatTemplate::ChatTemplate(const Tokenizer& tokenizer)
    : ChatTemplate(tokenizer.chat_template(), tokenizer.bos() ? std::string(tokenizer.token(*tokenizer.bos())) : "",
                   tokenizer.eos() ? std::string(tokenizer.token(*tokenizer.eos())) : "") {}

std::string_view ChatTemplate::name() const { return family_->name; }

ChatPrompt ChatTemplate::prompt(std::span<const ChatMessage> messages, const ChatOptions& options) const try {
  if (messages.empty()) throw refused("there is no message");
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    if (role != "system" && role != "user" && role != "assistant")
      throw refused(text::format("message {} is of '{}'", i, role.substr(0, 40))).accepted("system, user, assistant");
  }
  Writer writer;
  family_->write(*this, messages, {.reply = options.reply || always_replies_}, writer);
  return writer.take();
} catch (const std::bad_alloc&) { detail::refuse_memory("chat"); }

std::vector<int> ChatTemplate::encode(const Tokenizer& tokenizer, std::span<const ChatMessage> messages, const ChatOptions& options) const {
  const ChatPrompt written = prompt(messages, options);
  return tokenizer.encode(written.text, {.add_special = false, .parse_special = true, .literal = written.literal});
}

}  // namespace votive
