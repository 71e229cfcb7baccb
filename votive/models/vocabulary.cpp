// Key by key. What a file may leave out stays empty; what it must have (model and tokens, and merges where the model merges by them) is asked for.
#include "votive/models/vocabulary.h"

#include <limits>
#include <string>

#include "votive/base/error.h"
#include "votive/base/text.h"

namespace votive::models {
namespace {

// The largest vocabularies have some 260 000 tokens and 520 000 merges. A limit keeps a file of empty strings, eight bytes each, from costing
// five times its size.
constexpr Size most_strings = Size{1} << 22;

std::string key(std::string_view name) { return "tokenizer.ggml." + std::string(name); }

std::vector<std::string> strings(const io::GgufValue& value) {
  if (value.count() > most_strings)
    throw Error(ErrorKind::Unsupported, "tokenizer")
        .detail(text::format("'{}' has {} strings", value.key(), value.count()))
        .limit(std::to_string(most_strings))
        .accepted(text::format("at most {}", most_strings));
  const std::vector<std::string_view> views = value.strings();
  return {views.begin(), views.end()};
}

std::optional<int> id(const io::GgufFile& file, std::string_view name) {
  const io::GgufValue* const value = file.find(key(name));
  if (!value) return std::nullopt;
  const Size id = value->integer();
  // An id that no vocabulary can have is left to the tokenizer to refuse, with its name.
  return id >= 0 && id <= std::numeric_limits<int>::max() ? static_cast<int>(id) : -1;
}

std::optional<bool> flag(const io::GgufFile& file, std::string_view name) {
  const io::GgufValue* const value = file.find(key(name));
  return value ? std::optional(value->boolean()) : std::nullopt;
}

}  // namespace

Vocabulary read_vocabulary(const io::GgufFile& file) {
  Vocabulary v;
  v.model = file.at(key("model")).string();
  if (const auto* pre = file.find(key("pre"))) v.pre = pre->string();
  v.tokens = strings(file.at(key("tokens")));
  if (const auto* scores = file.find(key("scores"))) {
    if (scores->count() > most_strings) throw Error(ErrorKind::Unsupported, "tokenizer").detail(text::format("{} scores", scores->count()));
    for (const double score : scores->numbers()) v.scores.push_back(static_cast<float>(score));
  }
  if (const auto* types = file.find(key("token_type"))) {
    if (types->count() > most_strings)
      throw Error(ErrorKind::Unsupported, "tokenizer").detail(text::format("{} token types", types->count()));
    for (const Size type : types->integers()) v.types.push_back(type >= 0 && type <= 6 ? static_cast<int>(type) : -1);
  }
  if (v.model == "gpt2") v.merges = strings(file.at(key("merges")));

  v.bos = id(file, "bos_token_id");
  v.eos = id(file, "eos_token_id");
  v.unknown = id(file, "unknown_token_id");
  v.padding = id(file, "padding_token_id");
  v.end_of_turn = id(file, "eot_token_id");
  v.end_of_message = id(file, "eom_token_id");
  v.add_bos = flag(file, "add_bos_token");
  v.add_eos = flag(file, "add_eos_token");
  v.add_space_prefix = flag(file, "add_space_prefix");
  if (const auto* chat = file.find("tokenizer.chat_template")) v.chat_template = chat->string();
  return v;
}

}  // namespace votive::models
