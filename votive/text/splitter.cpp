// The patterns stand as the models' tokenizer.json publish them. Before PCRE2 sees them, their classes are written out so that they mean on
// every machine what they mean to Hugging Face's tokenizers (0.23): Unicode 16. PCRE2's own \s is ASCII, and with PCRE2_UCP takes in
// U+180E, which is no White_Space; its \p{L} and \p{N} are of the library's Unicode version (10.42: Unicode 14), so the later ones are added.
#include "votive/text/splitter.h"

#include <pcre2.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "votive/base/error.h"
#include "votive/base/text.h"
#include "votive/base/utf8.h"

namespace votive::text {
namespace {

struct Family {
  std::vector<std::string_view> names;
  std::vector<std::string_view> patterns;
  Splitter::Habits habits;
};

constexpr std::string_view gpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Published as two steps, every digit by itself and then gpt2 between digits. In one step a digit ends a text, so the look-ahead stops there too.
constexpr std::string_view smollm = R"(\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+)";

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone"}, {smollm}, {}},
      {{"llama-bpe", "llama3", "llama-v3"}, {llama3}, {.whole_words = true, .add_bos = true}},
      {{"gpt-2", "phi-2", "olmo", "mpt"}, {gpt2}, {}},
      {{"qwen2"}, {qwen2}, {.nfc = true}},
      // Files older than tokenizer.ggml.pre: no model was trained with this, but it is what llama.cpp has always cut them by.
      {{"default", ""}, {R"([\p{P}\$\+<=>\^~\|]+)", gpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"}, {}},
  };
  return all;
}

constexpr std::string_view white_space = R"(\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
// Unicode's general categories L and N, 16.0 less 14.0; nothing has ever left either.
constexpr std::string_view young_letters =
    R"(\x{1c89}-\x{1c8a}\x{a7cb}-\x{a7cd}\x{a7da}-\x{a7dc}\x{105c0}-\x{105f3}\x{10d4a}-\x{10d65}\x{10d6f}-\x{10d85}\x{10ec2}-\x{10ec4})"
    R"(\x{1123f}-\x{11240}\x{11380}-\x{11389}\x{1138b}\x{1138e}\x{11390}-\x{113b5}\x{113b7}\x{113d1}\x{113d3}\x{11bc0}-\x{11be0}\x{11f02})"
    R"(\x{11f04}-\x{11f10}\x{11f12}-\x{11f33}\x{1342f}\x{13441}-\x{13446}\x{13460}-\x{143fa}\x{16100}-\x{1611d}\x{16d40}-\x{16d6c}\x{18cff})"
    R"(\x{1b132}\x{1b155}\x{1df25}-\x{1df2a}\x{1e030}-\x{1e06d}\x{1e4d0}-\x{1e4eb}\x{1e5d0}-\x{1e5ed}\x{1e5f0}\x{2b739}\x{2ebf0}-\x{2ee5d})"
    R"(\x{31350}-\x{323af})";
constexpr std::string_view young_numbers =
    R"(\x{10d40}-\x{10d49}\x{116d0}-\x{116e3}\x{11bf0}-\x{11bf9}\x{11f50}-\x{11f59}\x{16130}-\x{16139}\x{16d70}-\x{16d79}\x{1ccf0}-\x{1ccf9})"
    R"(\x{1d2c0}-\x{1d2d3}\x{1e4f0}-\x{1e4f9}\x{1e5f1}-\x{1e5fa})";

std::string with_classes_written_out(std::string_view pattern) {
  struct Class {
    std::string_view name, open, close;
    std::string members;
  };
  static const Class classes[] = {
      {R"(\s)", "[", "]", std::string(white_space)},
      {R"(\S)", "[^", "]", std::string(white_space)},  // never within brackets
      {R"(\p{L})", "[", "]", R"(\p{L})" + std::string(young_letters)},
      {R"(\p{N})", "[", "]", R"(\p{N})" + std::string(young_numbers)},
  };
  std::string out;
  bool in_brackets = false;
  while (!pattern.empty()) {
    const auto* const found =
        std::find_if(std::begin(classes), std::end(classes), [&](const Class& c) { return pattern.starts_with(c.name); });
    if (found != std::end(classes)) {
      out += in_brackets ? found->members : text::format("{}{}{}", found->open, found->members, found->close);
      pattern.remove_prefix(found->name.size());
      continue;
    }
    const std::size_t bytes = pattern[0] == '\\' ? 2 : 1;
    if (pattern[0] == '[') in_brackets = true;
    if (pattern[0] == ']') in_brackets = false;
    out += pattern.substr(0, bytes);
    pattern.remove_prefix(bytes);
  }
  return out;
}

struct Freed {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

// Every pattern above takes time linear in what it matches; the limits are the second lock on that door, for PCRE2 versions not met yet.
std::unique_ptr<pcre2_match_context, Freed> limits_for(std::size_t bytes) {
  std::unique_ptr<pcre2_match_context, Freed> context(pcre2_match_context_create(nullptr));
  if (!context) throw Error(ErrorKind::OutOfMemory, "encode");
  pcre2_set_match_limit(context.get(), static_cast<std::uint32_t>(std::min<std::size_t>(UINT32_MAX, 10'000'000 + 16 * bytes)));
  pcre2_set_depth_limit(context.get(), 1'000);
  pcre2_set_heap_limit(context.get(), 64 * 1024);  // KiB
  return context;
}

}  // namespace

struct Splitter::Pattern {
  std::unique_ptr<pcre2_code, Freed> code;

  explicit Pattern(std::string_view published) {
    const std::string pattern = with_classes_written_out(published);
    int error = 0;
    PCRE2_SIZE at = 0;
    code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF, &error, &at, nullptr));
    if (!code) throw Error(ErrorKind::Internal, "tokenizer").detail(text::format("PCRE2 refuses a pattern: error {} at {}", error, at));
    pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // where it fails, pcre2_match interprets: slower, same pieces
  }

  // What the pattern does not match is a piece too.
  void split(std::string_view subject, std::vector<std::size_t>& ends, std::size_t base, pcre2_match_data* data,
             pcre2_match_context* limits) const {
    const auto* const bytes = reinterpret_cast<PCRE2_SPTR>(subject.data());
    for (std::size_t at = 0; at < subject.size();) {
      const int found = pcre2_match(code.get(), bytes, subject.size(), at, PCRE2_NO_UTF_CHECK, data, limits);
      if (found < 0 && found != PCRE2_ERROR_NOMATCH)
        throw Error(ErrorKind::Unsupported, "encode")
            .detail(text::format("cutting {} bytes into words stops with PCRE2 error {}", subject.size(), found));
      const PCRE2_SIZE* const match = pcre2_get_ovector_pointer(data);
      if (found < 0 || match[1] == match[0]) return ends.push_back(base + subject.size());
      if (match[0] > at) ends.push_back(base + match[0]);
      ends.push_back(base + match[1]);
      at = match[1];
    }
  }
};

Splitter::Splitter(std::string_view pre) {
  std::string known;
  for (const Family& family : families()) {
    for (const std::string_view name : family.names) {
      if (name == pre) {
        habits_ = family.habits;
        for (const std::string_view pattern : family.patterns) patterns_.push_back(std::make_shared<const Pattern>(pattern));
        return;
      }
      if (!name.empty()) known += (known.empty() ? "" : ", ") + std::string(name);
    }
  }
  throw Error(ErrorKind::Unsupported, "tokenizer")
      .detail(text::format("the pre-tokenizer '{}' is not known", pre))
      .value(std::string(pre))
      .accepted(known);
}

std::vector<std::string_view> Splitter::split(std::string_view text) const {
  // PCRE2 must be given UTF-8. A control character has the classes of U+FFFD in all patterns, and one byte for one keeps the positions.
  std::string_view subject = text;
  std::string repaired;
  if (std::size_t at = well_formed_prefix(text); at < text.size()) {
    repaired = text;
    for (; at < text.size(); at += well_formed_prefix(text.substr(at))) repaired[at++] = '\x01';
    subject = repaired;
  }

  const auto limits = limits_for(text.size());
  std::vector<std::size_t> ends{text.size()};
  for (const auto& pattern : patterns_) {
    const std::unique_ptr<pcre2_match_data, Freed> data(pcre2_match_data_create_from_pattern(pattern->code.get(), nullptr));
    if (!data) throw Error(ErrorKind::OutOfMemory, "encode");
    std::vector<std::size_t> finer;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      pattern->split(subject.substr(begin, end - begin), finer, begin, data.get(), limits.get());
      begin = end;
    }
    ends = std::move(finer);
  }

  std::vector<std::string_view> pieces;
  pieces.reserve(ends.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    pieces.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

}  // namespace votive::text
