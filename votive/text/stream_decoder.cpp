// Keeps back the bytes of a character that is not complete yet: never more than three.
#include "votive/base/utf8.h"
#include "votive/text/tokenizer.h"

namespace votive {

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, const DecodeOptions& options)
    : tokenizer_(tokenizer), options_(options), at_beginning_(options.begins_text) {}

std::string StreamDecoder::push(int id) {
  const std::string bytes = tokenizer_.decode({&id, 1}, {.special = options_.special, .begins_text = at_beginning_});
  // A special token that is left out does not begin the text; a lone space that was taken away does.
  if (options_.special || !tokenizer_.is_special(id)) at_beginning_ = at_beginning_ && tokenizer_.piece(id).empty();
  waiting_ += bytes;
  return take(false);
}

std::string StreamDecoder::finish() {
  at_beginning_ = options_.begins_text;
  return take(true);
}

std::string StreamDecoder::take(bool all) {
  std::string out;
  std::string_view rest = waiting_;
  while (!rest.empty()) {
    const text::Utf8Step step = text::utf8_step(rest);
    if (step.kind == text::Utf8Step::cut_short && !all) break;
    out += step.kind == text::Utf8Step::character ? rest.substr(0, static_cast<std::size_t>(step.bytes)) : std::string_view("\xEF\xBF\xBD");
    rest.remove_prefix(static_cast<std::size_t>(step.bytes));
  }
  waiting_ = std::string(rest);
  return out;
}

}  // namespace votive
