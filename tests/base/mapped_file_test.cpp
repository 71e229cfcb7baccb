// Files are mapped whole, outlive their handle through the owner, and every refusal names the path and the cause.
#include "votive/base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "votive/base/error.h"

namespace votive {
namespace {

struct MappedFiles : testing::Test {
  std::string folder = testing::TempDir() + "votive-mapped-XXXXXX";
  MappedFiles() {
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
  }
  ~MappedFiles() override { ::system(("rm -rf '" + folder + "'").c_str()) == 0 ? void() : std::abort(); }

  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
    return folder + "/" + name;
  }
};

std::string text_of(const MappedFile& file) { return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}; }

void expect_refusal(const std::string& path, int code) {
  try {
    const MappedFile file(path);
    FAIL() << path << " was mapped";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Io);
    EXPECT_EQ(error.value(), std::strerror(code));
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(std::strerror(code)), std::string::npos) << error.what();
  }
}

TEST_F(MappedFiles, ShowTheBytesOfTheFile) {
  const std::string bytes("GGUF\0\xff after a zero", 20);
  const MappedFile mapped(file("some", bytes));
  EXPECT_EQ(text_of(mapped), bytes);
  EXPECT_EQ(mapped.path(), folder + "/some");
}

TEST_F(MappedFiles, OfManyPagesAreWhole) {
  std::string bytes(100001, 'x');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 % 251);
  EXPECT_EQ(text_of(MappedFile(file("large", bytes))), bytes);
}

TEST_F(MappedFiles, ThatWereMovedHaveNoBytes) {
  MappedFile first(file("some", "text"));
  const MappedFile second = std::move(first);
  EXPECT_TRUE(first.bytes().empty());  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(text_of(second), "text");
}

TEST_F(MappedFiles, LiveAsLongAsTheLastOwner) {
  std::shared_ptr<const std::byte> owner;
  {
    const MappedFile mapped(file("kept", "still here"));
    const MappedFile copy = mapped;
    owner = copy.owner();
  }
  ::unlink((folder + "/kept").c_str());
  EXPECT_EQ(std::memcmp(owner.get(), "still here", 10), 0);
}

TEST_F(MappedFiles, OfNoBytesGiveAnEmptySpan) { EXPECT_TRUE(MappedFile(file("empty", "")).bytes().empty()); }

TEST_F(MappedFiles, ThatDoNotExistAreRefused) {
  expect_refusal(folder + "/none", ENOENT);
  expect_refusal("", ENOENT);
  expect_refusal(file("plain", "x") + "/below", ENOTDIR);
}

TEST_F(MappedFiles, AreNeitherFoldersNorDevicesNorPipes) {
  expect_refusal(folder, EISDIR);
  expect_refusal("/dev/null", EINVAL);
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ::alarm(10);  // a pipe without a writer must not block
  expect_refusal(pipe, EINVAL);
  ::alarm(0);
}

TEST_F(MappedFiles, ThatMayNotBeReadAreRefused) {
  const std::string path = file("secret", "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  if (::geteuid() != 0) return expect_refusal(path, EACCES);
  // root reads everything: look from a child that is not root.
  EXPECT_EXIT(
      {
        ::chmod(folder.c_str(), 0755);
        if (::setuid(65534) != 0) std::_Exit(2);
        try {
          const MappedFile mapped(path);
        } catch (const Error& error) { std::_Exit(error.kind() == ErrorKind::Io && error.value() == std::strerror(EACCES) ? 0 : 3); }
        std::_Exit(4);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(MappedFiles, LeaveNoDescriptorOpen) {
  const std::string path = file("once", "x");
  const int before = ::dup(0);
  ::close(before);
  const MappedFile mapped(path);
  expect_refusal(folder, EISDIR);
  const int after = ::dup(0);
  ::close(after);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace votive
