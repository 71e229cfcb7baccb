// Every truncation and every change of one byte of a small valid file: it opens and can be read, or it is refused by votive::Error. Nothing else.
// Under AddressSanitizer the byte after the last is poisoned, so that a read of it ends the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/hostile/mapped_bytes.h"
#include "tests/hostile/refusal.h"
#include "tests/hostile/small_files.h"

namespace votive::io {
namespace {

template <class File>
struct Counts {
  int opened = 0, refused = 0;
  std::size_t peak_bytes = 0;

  void open(const MappedBytes& bytes, std::size_t size) {
    bytes.with_mapping([&](const MappedFile& mapped) {
      Outcome outcome = outcome_of([&] { File once(mapped); });
      peak_bytes = std::max(peak_bytes, outcome.peak_bytes);
      if (!outcome.error.has_value()) {
        ++opened;
        const Outcome read = outcome_of([&] { read_all(File(mapped)); });
        if (!read.error.has_value()) return;
        outcome.error = read.error;
      } else {
        ++refused;
      }
      const ErrorKind kind = outcome.error->kind();
      ASSERT_TRUE(kind == ErrorKind::InvalidFile || kind == ErrorKind::Unsupported) << outcome.error->what();
      ASSERT_FALSE(outcome.error->position().size() > 1);
    });
    ASSERT_LE(peak_bytes, size + allowance);
  }
};

template <class File>
void expect_every_truncation_refused(const std::string& bytes) {
  MappedBytes file(bytes);
  Counts<File> counts;
  counts.open(file, bytes.size());
  ASSERT_EQ(counts.opened, 1) << "the whole file must open";
  for (std::size_t size = bytes.size(); size-- > 0;) {
    file.cut(size);
    counts.open(file, size);
    if (testing::Test::HasFatalFailure()) FAIL() << "cut to " << size;
  }
  EXPECT_EQ(counts.refused, static_cast<int>(bytes.size())) << "a shortened file was taken";
}

template <class File>
void expect_every_change_opened_or_refused(const std::string& bytes) {
  MappedBytes file(bytes);
  Counts<File> counts;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int change = 1; change < 256; ++change) {
      file.change(at, static_cast<char>(bytes[at] ^ change));
      counts.open(file, bytes.size());
      if (testing::Test::HasFatalFailure()) FAIL() << "byte " << at << " changed by " << change;
    }
    file.change(at, bytes[at]);
  }
  EXPECT_EQ(counts.opened + counts.refused, static_cast<int>(bytes.size()) * 255);
  EXPECT_GT(counts.opened, 0);
  EXPECT_GT(counts.refused, 0);
  testing::Test::RecordProperty("opened", counts.opened);
  testing::Test::RecordProperty("refused", counts.refused);
  testing::Test::RecordProperty("peak_bytes", std::to_string(counts.peak_bytes));
}

TEST(EveryByte, OfASmallGgufMayBeMissing) { expect_every_truncation_refused<GgufFile>(small_gguf()); }
TEST(EveryByte, OfASmallSafetensorsMayBeMissing) { expect_every_truncation_refused<SafetensorsFile>(small_safetensors()); }
TEST(EveryByte, OfASmallGgufMayBeAnother) { expect_every_change_opened_or_refused<GgufFile>(small_gguf()); }
TEST(EveryByte, OfASmallSafetensorsMayBeAnother) { expect_every_change_opened_or_refused<SafetensorsFile>(small_safetensors()); }

// The numbers that get past careless checks, at every byte: counts, lengths, sizes, offsets.
TEST(EveryByte, OfASmallGgufMayBeginAnExtremeNumber) {
  const std::string bytes = small_gguf();
  MappedBytes file(bytes);
  Counts<GgufFile> counts;
  for (std::size_t at = 4; at + 8 <= bytes.size(); ++at) {
    for (const std::uint64_t number : {~std::uint64_t{0}, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1, std::uint64_t{1} << 32,
                                       ~std::uint64_t{0} - 31, std::uint64_t{1} << 61}) {
      std::string changed = bytes;
      std::memcpy(changed.data() + at, &number, 8);
      file.set(changed);
      counts.open(file, bytes.size());
      if (testing::Test::HasFatalFailure()) FAIL() << number << " at byte " << at;
    }
  }
  EXPECT_GT(counts.refused, counts.opened);
}

}  // namespace
}  // namespace votive::io
