// Votive's token ids against Hugging Face's tokenizers and llama.cpp: the golden lines of README.md beside this file, six vocabularies.
// SmolLM2's comes from the model (VOTIVE_MODEL), the others from the cache that bench/peers/build.sh fills (VOTIVE_PEERS). What is not there
// is skipped, with a line that says so. Not here: why a tokenizer does what it does (tests/text).
#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "votive/io/gguf.h"
#include "votive/text/tokenizer.h"

namespace votive {
namespace {

const std::string golden = VOTIVE_SOURCE_DIR "/tests/golden/tokens/";

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string unescaped(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text += line[i];
      continue;
    }
    const char kind = line[++i];
    if (kind == 'x') {
      unsigned byte = 0;
      std::from_chars(&line[i + 1], &line[i + 1] + 2, byte, 16);
      text += static_cast<char>(byte);
      i += 2;
    } else {
      text += kind == 'n' ? '\n' : kind == 't' ? '\t' : kind == 'r' ? '\r' : kind;
    }
  }
  return text;
}

std::string written(const std::vector<int>& ids) {
  std::string text;
  for (const int id : ids) text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

// The checksum of zlib and PNG, written from its definition: reflected polynomial EDB88320, start and end inverted.
std::string crc32(std::string_view text) {
  std::uint32_t sum = 0xffffffffu;
  for (const char c : text) {
    sum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (0xedb88320u & (0u - (sum & 1u)));
  }
  std::array<char, 9> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x", ~sum);
  return digits.data();
}

std::vector<std::string> strings(const io::GgufFile& file, std::string_view key) {
  const io::GgufValue* value = file.find(key);
  if (value == nullptr) return {};
  const std::vector<std::string_view> views = value->strings();
  return {views.begin(), views.end()};
}

std::optional<int> id(const io::GgufFile& file, std::string_view key) {
  const io::GgufValue* value = file.find(key);
  return value == nullptr ? std::nullopt : std::optional<int>(static_cast<int>(value->integer()));
}

std::optional<bool> flag(const io::GgufFile& file, std::string_view key) {
  const io::GgufValue* value = file.find(key);
  return value == nullptr ? std::nullopt : std::optional<bool>(value->boolean());
}

Tokenizer open(const std::string& path) {
  const io::GgufFile file(path);
  Vocabulary vocabulary;
  vocabulary.model = file.at("tokenizer.ggml.model").string();
  if (const io::GgufValue* pre = file.find("tokenizer.ggml.pre")) vocabulary.pre = pre->string();
  vocabulary.tokens = strings(file, "tokenizer.ggml.tokens");
  vocabulary.merges = strings(file, "tokenizer.ggml.merges");
  if (const io::GgufValue* scores = file.find("tokenizer.ggml.scores")) {
    for (const double score : scores->numbers()) vocabulary.scores.push_back(static_cast<float>(score));
  }
  for (const Size type : file.at("tokenizer.ggml.token_type").integers()) vocabulary.types.push_back(static_cast<int>(type));
  vocabulary.bos = id(file, "tokenizer.ggml.bos_token_id");
  vocabulary.eos = id(file, "tokenizer.ggml.eos_token_id");
  vocabulary.unknown = id(file, "tokenizer.ggml.unknown_token_id");
  vocabulary.add_bos = flag(file, "tokenizer.ggml.add_bos_token");
  vocabulary.add_space_prefix = flag(file, "tokenizer.ggml.add_space_prefix");
  return Tokenizer(std::move(vocabulary));
}

struct Source {
  const char* name;
  const char* file;  ///< under VOTIVE_PEERS; the model itself where empty
};

void PrintTo(const Source& source, std::ostream* out) { *out << source.name; }

std::string path_of(const Source& source) {
  const char* place = std::getenv(*source.file == '\0' ? "VOTIVE_MODEL" : "VOTIVE_PEERS");
  if (place == nullptr) return {};
  const std::string path = *source.file == '\0' ? std::string(place) : std::string(place) + "/" + source.file;
  return std::filesystem::exists(path) ? path : std::string();
}

class TokenIds : public ::testing::TestWithParam<Source> {
 protected:
  void SetUp() override {
    path_ = path_of(GetParam());
    if (path_.empty()) {
      GTEST_SKIP() << "1 vocabulary not compared, " << GetParam().name << ": "
                   << (*GetParam().file == '\0' ? "VOTIVE_MODEL names no file" : "VOTIVE_PEERS names no cache of bench/peers/build.sh");
    }
  }

  // The first column of a row counts: `tokenizers`, and llama.cpp too where the row has no second one.
  void compare(const std::string& group, const std::string& mode, const EncodeOptions& options) {
    const Tokenizer tokenizer = open(path_);
    const bool in_full = *GetParam().file == '\0';
    const std::string base = golden + GetParam().name + "/" + group + ".", suffix = in_full ? ".ids" : ".crc32";
    const std::vector<std::string> lines = read_lines(golden + group + ".txt");
    const std::vector<std::string> rows = read_lines(base + mode + suffix), special = read_lines(base + "special" + suffix);
    ASSERT_EQ(lines.size(), rows.size());
    ASSERT_EQ(lines.size(), special.size());
    ASSERT_GE(lines.size(), group == "lines" ? 2000u : 200u);
    int shown = 0;
    for (std::size_t i = 0; i < lines.size() && shown < 5; ++i) {
      const std::string& row = rows[i] == "=" ? special[i] : rows[i];
      const std::string expected = row.substr(0, row.find(" | "));
      const std::string ids = written(tokenizer.encode(unescaped(lines[i]), options));
      const std::string got = in_full ? ids : crc32(ids);
      if (got != expected) ++shown;
      EXPECT_EQ(got, expected) << group << ".txt:" << i + 1 << ": " << lines[i] << "\nids " << ids;
    }
  }

  std::string path_;
};

TEST_P(TokenIds, AreThoseOfTwoOtherProgramsOnTwoThousandLines) {
  compare("lines", "special", {.add_special = false, .parse_special = true});
}

TEST_P(TokenIds, AreTheSameWhenSpecialTokensAreOrdinaryText) { compare("lines", "plain", {.add_special = false, .parse_special = false}); }

TEST_P(TokenIds, OfBytesThatAreNotUtf8AreThoseOfTheReplacedText) {
  compare("invalid", "special", {.add_special = false, .parse_special = true, .ill_formed = IllFormed::replace});
}

INSTANTIATE_TEST_SUITE_P(Golden, TokenIds,
                         ::testing::Values(Source{"smollm2", ""}, Source{"llama3", "vocab-llama3.gguf"},
                                           Source{"qwen3", "vocab-qwen3.gguf"}, Source{"mistral", "vocab-mistral.gguf"},
                                           Source{"llama2", "llama.cpp/models/ggml-vocab-llama-spm.gguf"},
                                           Source{"gpt2", "llama.cpp/models/ggml-vocab-gpt-2.gguf"}),
                         [](const auto& test) { return std::string(test.param.name); });

// The test vector of every description of this checksum; the golden files' own sums were made by zlib.
TEST(TokenIdsChecksum, OfTheDigitsOneToNineIsTheKnownOne) { EXPECT_EQ(crc32("123456789"), "cbf43926"); }

}  // namespace
}  // namespace votive
