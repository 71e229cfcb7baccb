// Checks a vocabulary once, then joins the parts: special tokens are cut out of the text, the rest goes to one of the two encoders.
#include "votive/text/tokenizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <variant>

#include "votive/base/error.h"
#include "votive/base/refuse_memory.h"
#include "votive/base/text.h"
#include "votive/base/utf8.h"
#include "votive/text/byte_level.h"
#include "votive/text/sentence_piece.h"
#include "votive/text/special_tokens.h"

namespace votive {

namespace {

// Real tokens have at most a few hundred bytes. The limit keeps a file from making look-ups quadratic with one token of a megabyte.
constexpr std::size_t longest_token = 1024;
constexpr std::size_t longest_text = std::size_t{1} << 30;  // positions are 32-bit, and "▁" makes three bytes of one

constexpr std::array turn_ends = {"<|eot_id|>",         "<|im_end|>",    "<|end|>",         "<end_of_turn>",
                                  "<end_of_utterance>", "<|endoftext|>", "<|end_of_text|>", "<EOT>"};
constexpr std::array generation_ends = {"<|eot_id|>",         "<|im_end|>", "<|end|>",       "<end_of_turn>",
                                        "<end_of_utterance>", "<|eom_id|>", "<|endoftext|>", "</s>",
                                        "<|end_of_text|>",    "<EOT>",      "<|return|>",    "<|call|>"};

Error invalid(std::string detail) {
  return Error(ErrorKind::InvalidFile, "tokenizer")
      .detail(std::move(detail))
      .hint("Convert the model again, or take the file from where it was published");
}

void check_counts(const Vocabulary& v) {
  const std::size_t count = v.tokens.size();
  if (v.model != "gpt2" && v.model != "llama")
    throw Error(ErrorKind::Unsupported, "tokenizer")
        .detail(text::format("the tokenizer model '{}' is not known", text::shown(v.model, 80)))
        .value(v.model)
        .accepted("gpt2, llama");
  if (count == 0) throw invalid("the vocabulary has no tokens");
  if (count > longest_text || v.merges.size() > longest_text)
    throw Error(ErrorKind::SizeOverflow, "tokenizer").detail(text::format("{} tokens and {} merges", count, v.merges.size()));
  if (!v.types.empty() && v.types.size() != count) throw invalid(text::format("{} tokens but {} token types", count, v.types.size()));
  if (!v.scores.empty() && v.scores.size() != count) throw invalid(text::format("{} tokens but {} scores", count, v.scores.size()));
  if (v.model == "llama" && v.scores.empty())
    throw invalid("a SentencePiece vocabulary without scores says nothing about the order of merges");
}

void check_values(const Vocabulary& v) {
  for (std::size_t i = 0; i < v.tokens.size(); ++i)
    if (v.tokens[i].size() > longest_token)
      throw Error(ErrorKind::Unsupported, "tokenizer")
          .detail(text::format("token {} is {} bytes long", i, v.tokens[i].size()))
          .limit(text::format("{} bytes", longest_token))
          .accepted(text::format("at most {} bytes", longest_token));
  for (std::size_t i = 0; i < v.types.size(); ++i)
    if (v.types[i] < 0 || v.types[i] > 6) throw invalid(text::format("token {} has the type {}, known are 1 to 6", i, v.types[i]));
  for (std::size_t i = 0; i < v.scores.size(); ++i)
    if (!std::isfinite(v.scores[i])) throw invalid(text::format("token {} has the score {}", i, v.scores[i]));
  const auto check_id = [&](std::string_view name, const std::optional<int>& id) {
    if (id && (*id < 0 || static_cast<std::size_t>(*id) >= v.tokens.size()))
      throw invalid(text::format("the {} token is {}, the vocabulary has {} tokens", name, *id, v.tokens.size()));
  };
  check_id("BOS", v.bos);
  check_id("EOS", v.eos);
  check_id("unknown", v.unknown);
  check_id("end-of-turn", v.end_of_turn);
  check_id("end-of-message", v.end_of_message);
  // Not padding: published files have it one past the end, and nothing here pads.
}

text::TokenIndex index_of(const Vocabulary& v) {
  text::TokenIndex index(v.tokens);
  for (std::size_t i = 0; i < v.tokens.size(); ++i) {
    if (v.tokens[i].empty()) continue;  // published files have them where ids were left free; no text becomes one
    const int first = index.add(static_cast<int>(i));
    if (first == text::TokenIndex::crowded)
      throw invalid(
          text::format("token {}, '{}', and hundreds before it were made to be hard to tell apart", i, text::shown(v.tokens[i], 80)));
    if (first != text::TokenIndex::none)
      throw invalid(text::format("tokens {} and {} are both '{}'", first, i, text::shown(v.tokens[i], 80)));
  }
  return index;
}

// A file without types: SentencePiece's three first tokens and its byte tokens are known by their spelling.
std::vector<int> types_by_spelling(const Vocabulary& v) {
  std::vector<int> types(v.tokens.size(), static_cast<int>(TokenType::normal));
  const auto set = [&](const std::optional<int>& id, TokenType type) {
    if (id) types[static_cast<std::size_t>(*id)] = static_cast<int>(type);
  };
  set(v.unknown, TokenType::unknown);
  set(v.bos, TokenType::control);
  set(v.eos, TokenType::control);
  for (std::size_t i = 0; v.model == "llama" && i < types.size(); ++i)
    if (v.tokens[i].size() == 6 && v.tokens[i].starts_with("<0x") && v.tokens[i].ends_with(">"))
      types[i] = static_cast<int>(TokenType::byte);
  return types;
}

}  // namespace

struct Tokenizer::Tables {
  Vocabulary vocabulary;
  text::TokenIndex index;  // views of vocabulary.tokens
  std::vector<std::string> pieces;
  std::vector<bool> ends_generation;
  text::SpecialTokens special;
  std::variant<std::monostate, text::ByteLevelBpe, text::SentencePiece> encoder;

  explicit Tables(Vocabulary given) : vocabulary(std::move(given)) {
    Vocabulary& v = vocabulary;
    check_counts(v);
    check_values(v);
    index = index_of(v);
    fill_in_defaults();

    pieces.reserve(v.tokens.size());
    for (std::size_t i = 0; i < v.tokens.size(); ++i) {
      const int type = v.types[i];
      const bool spelled_out = type == static_cast<int>(TokenType::control) || type == static_cast<int>(TokenType::user_defined) ||
                               type == static_cast<int>(TokenType::unknown);
      pieces.push_back(spelled_out         ? v.tokens[i]
                       : v.model == "gpt2" ? text::bytes_of_byte_level(v.tokens[i])
                                           : text::bytes_of_sentence_piece(v.tokens[i], type == static_cast<int>(TokenType::byte)));
      if (spelled_out) special.add(v.tokens[i], static_cast<int>(i));
    }
    if (v.model == "gpt2") {
      const Splitter::Habits habits = encoder.emplace<text::ByteLevelBpe>(v, index, pieces).habits();
      if (!v.add_bos) v.add_bos = habits.add_bos && v.bos;
    } else {
      encoder.emplace<text::SentencePiece>(v, pieces, v.unknown.value_or(-1));
      if (!v.add_bos) v.add_bos = v.bos.has_value();
    }
    if (*v.add_bos && !v.bos) throw invalid("texts shall begin with BOS, but the vocabulary names no such token");
    if (v.add_eos.value_or(false) && !v.eos) throw invalid("texts shall end with EOS, but the vocabulary names no such token");
    mark_ends();
  }

  using Splitter = text::Splitter;

  void fill_in_defaults() {
    Vocabulary& v = vocabulary;
    const auto named = [&](std::string_view spelling) -> std::optional<int> {
      const int id = index.find(spelling);
      return id == text::TokenIndex::none ? std::nullopt : std::optional(id);
    };
    if (v.model == "llama") {
      if (!v.unknown) v.unknown = named("<unk>");
      if (!v.bos) v.bos = named("<s>");
      if (!v.eos) v.eos = named("</s>");
    }
    if (v.types.empty()) v.types = types_by_spelling(v);
    for (const char* spelling : turn_ends)
      if (!v.end_of_turn) v.end_of_turn = named(spelling);
    if (!v.end_of_message) v.end_of_message = named("<|eom_id|>");
  }

  void mark_ends() {
    ends_generation.resize(vocabulary.tokens.size());
    for (const std::optional<int>& id : {vocabulary.eos, vocabulary.end_of_turn, vocabulary.end_of_message})
      if (id) ends_generation[static_cast<std::size_t>(*id)] = true;
    for (const char* spelling : generation_ends)
      if (const int id = index.find(spelling); id != text::TokenIndex::none && is_special(id))
        ends_generation[static_cast<std::size_t>(id)] = true;
  }

  bool is_special(int id) const {
    const int type = vocabulary.types[static_cast<std::size_t>(id)];
    return type == static_cast<int>(TokenType::control) || type == static_cast<int>(TokenType::unknown);
  }

  void encode(std::string_view text, IllFormed ill_formed, std::vector<int>& ids) const {
    if (text.empty()) return;
    std::string repaired;
    if (ill_formed == IllFormed::replace && text::well_formed_prefix(text) != text.size()) text = repaired = text::replace_ill_formed(text);
    if (const auto* const bpe = std::get_if<text::ByteLevelBpe>(&encoder)) return bpe->encode(text, ids);
    std::get<text::SentencePiece>(encoder).encode(text, vocabulary.add_space_prefix.value_or(true), ids);
  }

  std::size_t check(int id, std::string_view op, std::size_t position = 0) const {
    if (id < 0 || static_cast<std::size_t>(id) >= pieces.size())
      throw Error(ErrorKind::IndexOutOfRange, op)
          .arg("id", 1)
          .value(std::to_string(id))
          .position({static_cast<Size>(position)})
          .detail(text::format("id {} at position {}; the vocabulary has {} tokens", id, position, pieces.size()));
    return static_cast<std::size_t>(id);
  }
};

Tokenizer::Tokenizer(Vocabulary vocabulary) try : tables_(std::make_shared<const Tables>(std::move(vocabulary))) {
} catch (const std::bad_alloc&) { detail::refuse_memory("tokenizer"); }

std::vector<int> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const try {
  const Tables& t = *tables_;
  if (text.size() >= longest_text)
    throw Error(ErrorKind::SizeOverflow, "encode")
        .arg("text", 1)
        .detail(text::format("{} bytes of text; encode takes less than {}", text.size(), longest_text));
  std::vector<int> ids;
  ids.reserve(text.size() / 3 + 2);
  if (options.add_special && adds_bos()) ids.push_back(*bos());

  auto literal = options.literal.begin();
  const auto accept = [&](const text::SpecialTokens::Found& found) {
    if (!t.is_special(found.id)) return true;  // a user-defined token is one wherever it stands
    while (literal != options.literal.end() && literal->end <= found.begin) ++literal;
    return options.parse_special && (literal == options.literal.end() || found.begin + found.bytes <= literal->begin);
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto found = t.special.find(text, at, accept);
    t.encode(text.substr(at, found.begin - at), options.ill_formed, ids);
    if (found.id >= 0) ids.push_back(found.id);
    at = found.begin + found.bytes;
  }
  if (options.add_special && adds_eos()) ids.push_back(*eos());
  return ids;
} catch (const std::bad_alloc&) { detail::refuse_memory("encode"); }

std::string Tokenizer::decode(std::span<const int> ids, const DecodeOptions& options) const try {
  std::string bytes;
  const bool prefixed = options.begins_text && tables_->vocabulary.model == "llama" && tables_->vocabulary.add_space_prefix.value_or(true);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t id = tables_->check(ids[i], "decode", i);
    if (options.special || !is_special(ids[i])) bytes += tables_->pieces[id];
  }
  if (prefixed && bytes.starts_with(' ')) bytes.erase(0, 1);
  return bytes;
} catch (const std::bad_alloc&) { detail::refuse_memory("decode"); }

int Tokenizer::size() const { return static_cast<int>(tables_->pieces.size()); }
std::string_view Tokenizer::token(int id) const { return tables_->vocabulary.tokens[tables_->check(id, "token")]; }
std::string_view Tokenizer::piece(int id) const { return tables_->pieces[tables_->check(id, "piece")]; }
std::optional<int> Tokenizer::find(std::string_view spelling) const {
  const int id = tables_->index.find(spelling);
  return id == text::TokenIndex::none ? std::nullopt : std::optional(id);
}
bool Tokenizer::is_special(int id) const {
  tables_->check(id, "is_special");
  return tables_->is_special(id);
}
bool Tokenizer::is_end_of_generation(int id) const { return tables_->ends_generation[tables_->check(id, "is_end_of_generation")]; }
std::optional<int> Tokenizer::bos() const { return tables_->vocabulary.bos; }
std::optional<int> Tokenizer::eos() const { return tables_->vocabulary.eos; }
std::optional<int> Tokenizer::end_of_turn() const { return tables_->vocabulary.end_of_turn; }
bool Tokenizer::adds_bos() const { return tables_->vocabulary.add_bos.value_or(false); }
bool Tokenizer::adds_eos() const { return tables_->vocabulary.add_eos.value_or(false); }
const std::string& Tokenizer::chat_template() const { return tables_->vocabulary.chat_template; }

}  // namespace votive
