// Paths that lead to no regular file, and files that the operating system alone makes strange. Both readers, one answer.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/hostile/refusal.h"
#include "tests/hostile/small_files.h"

namespace votive::io {
namespace {

struct Folder {
  std::string path = testing::TempDir() + "votive-XXXXXX";
  Folder() {
    if (::mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~Folder() {
    for (const char* name : {"/link", "/again", "/pipe", "/large"}) ::unlink((path + name).c_str());
    ::rmdir(path.c_str());
  }
};

void expect_io_error(const std::string& path) {
  for (const Outcome& outcome : {outcome_of([&] { GgufFile opened(path); }), outcome_of([&] { SafetensorsFile opened(path); })}) {
    ASSERT_TRUE(outcome.error.has_value()) << path;
    EXPECT_EQ(outcome.error->kind(), ErrorKind::Io) << outcome.error->what();
    EXPECT_NE(std::string(outcome.error->what()).find(path), std::string::npos) << outcome.error->what();
    EXPECT_LE(outcome.peak_bytes, allowance);
  }
}

TEST(NotAFile, AFolder) { expect_io_error(testing::TempDir()); }
TEST(NotAFile, ADeviceWithoutEnd) { expect_io_error("/dev/zero"); }
TEST(NotAFile, NothingAtAll) { expect_io_error(testing::TempDir() + "votive-is-not-here"); }
TEST(NotAFile, APathWithAFileForAFolder) {
  const TemporaryFile file(small_gguf());
  expect_io_error(file.path() + "/below");
}
TEST(NotAFile, APipeThatNobodyWritesTo) {
  const Folder folder;
  ASSERT_EQ(::mkfifo((folder.path + "/pipe").c_str(), 0600), 0);
  ::alarm(20);
  expect_io_error(folder.path + "/pipe");
  ::alarm(0);
}
TEST(NotAFile, ALinkToItself) {
  const Folder folder;
  ASSERT_EQ(::symlink((folder.path + "/link").c_str(), (folder.path + "/link").c_str()), 0);
  expect_io_error(folder.path + "/link");
}
TEST(NotAFile, ALinkToAFolder) {
  const Folder folder;
  ASSERT_EQ(::symlink(folder.path.c_str(), (folder.path + "/link").c_str()), 0);
  expect_io_error(folder.path + "/link");
}

// A link to a file is that file.
TEST(AFile, BehindTwoLinksIsRead) {
  const Folder folder;
  const TemporaryFile gguf(small_gguf());
  ASSERT_EQ(::symlink(gguf.path().c_str(), (folder.path + "/link").c_str()), 0);
  ASSERT_EQ(::symlink("link", (folder.path + "/again").c_str()), 0);
  EXPECT_EQ(GgufFile(folder.path + "/again").tensors().size(), 4u);
}

// The kernel says that these have no bytes; they are refused as empty, not read until memory ends.
TEST(AFile, ThatTheKernelMakesUpIsEmpty) {
  const Outcome outcome = outcome_of([] { GgufFile opened("/proc/self/maps"); });
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.error->kind(), ErrorKind::InvalidFile);
}

// A terabyte of nothing takes no disk and, mapped, no memory: what it says is checked against the bytes that it does not have.
TEST(AFile, OfATerabyteOfZerosIsRefusedByItsFirstBytes) {
  const Folder folder;
  const std::string path = folder.path + "/large";
  { const std::ofstream made(path); }
  if (::truncate(path.c_str(), off_t{1} << 40) != 0) GTEST_SKIP() << "this file system has no files of a terabyte";
  for (const Outcome& outcome : {outcome_of([&] { GgufFile opened(path); }), outcome_of([&] { SafetensorsFile opened(path); })}) {
    ASSERT_TRUE(outcome.error.has_value());
    EXPECT_TRUE(outcome.error->kind() == ErrorKind::InvalidFile || outcome.error->kind() == ErrorKind::Io) << outcome.error->what();
    EXPECT_LE(outcome.peak_bytes, allowance);
  }
}

}  // namespace
}  // namespace votive::io
