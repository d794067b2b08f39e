#include "src/storage/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "src/storage/test_directory.h"

namespace strobe::storage {
namespace {

size_t CountFiles(const std::string& directory) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    count += entry.exists() ? 1 : 0;
  }
  return count;
}

TEST(AtomicFileTest, WritesAndReplaces) {
  const TestDirectory directory;
  const std::string path = directory.path() + "/out.bin";
  ASSERT_TRUE(WriteFileAtomically(path, "one", {}).ok());
  EXPECT_EQ(TestDirectory::Read(path), "one");
  ASSERT_TRUE(WriteFileAtomically(path, "two", {.durable = false}).ok());
  EXPECT_EQ(TestDirectory::Read(path), "two");
  EXPECT_EQ(CountFiles(directory.path()), 1u);
}

TEST(AtomicFileTest, NothingIsSeenBeforeCommit) {
  const TestDirectory directory;
  const std::string path = directory.Write("out.bin", "old");
  auto file = AtomicFile::Create(path, {});
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Append("new ").ok());
  ASSERT_TRUE(file->Append("text").ok());
  ASSERT_TRUE(file->WriteAt(0, "NEW").ok());
  EXPECT_EQ(file->size_bytes(), 8u);
  EXPECT_EQ(TestDirectory::Read(path), "old");
  ASSERT_TRUE((*std::move(file)).Commit().ok());
  EXPECT_EQ(TestDirectory::Read(path), "NEW text");
}

TEST(AtomicFileTest, AbandonedWriteLeavesNothing) {
  const TestDirectory directory;
  {
    auto file = AtomicFile::Create(directory.path() + "/out.bin", {});
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append("half").ok());
    EXPECT_EQ(CountFiles(directory.path()), 1u);
  }
  EXPECT_EQ(CountFiles(directory.path()), 0u);
}

TEST(AtomicFileTest, WithoutReplaceTheFirstWins) {
  const TestDirectory directory;
  const std::string path = directory.path() + "/out.bin";
  ASSERT_TRUE(WriteFileAtomically(path, "first", {.replace = false}).ok());
  const Status second = WriteFileAtomically(path, "second", {.replace = false});
  EXPECT_EQ(second.name(), "FILE_EXISTS");
  EXPECT_EQ(second.code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(TestDirectory::Read(path), "first");
  EXPECT_EQ(CountFiles(directory.path()), 1u);
}

TEST(AtomicFileTest, PermissionsAreAsAsked) {
  const TestDirectory directory;
  const std::string path = directory.path() + "/private";
  ASSERT_TRUE(WriteFileAtomically(path, "x", {.permissions = 0600}).ok());
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST(AtomicFileTest, NamesAreBounded) {
  const TestDirectory directory;
  const std::string base = directory.path() + "/";
  EXPECT_TRUE(WriteFileAtomically(base + std::string(kMaxFileNameBytes, 'n'), "x", {}).ok());
  for (const std::string& name : {std::string(kMaxFileNameBytes + 1, 'n'), std::string(),
                                  std::string("."), std::string(".."), std::string("a\0b", 3)}) {
    EXPECT_EQ(WriteFileAtomically(base + name, "x", {}).name(), "FILE_NAME_INVALID") << name;
  }
}

TEST(AtomicFileTest, MissingDirectoryIsNamed) {
  const TestDirectory directory;
  const Status status = WriteFileAtomically(directory.path() + "/none/out.bin", "x", {});
  EXPECT_EQ(status.name(), "FILE_NOT_WRITABLE");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_FALSE(status.hint().empty());
}

TEST(AtomicFileTest, CommitOverADirectoryFailsAndCleansUp) {
  const TestDirectory directory;
  std::filesystem::create_directory(directory.path() + "/taken");
  EXPECT_EQ(WriteFileAtomically(directory.path() + "/taken", "x", {}).name(), "FILE_NOT_WRITABLE");
  EXPECT_EQ(CountFiles(directory.path()), 1u);
}

TEST(AtomicFileTest, MakesDirectories) {
  const TestDirectory directory;
  const std::string path = directory.path() + "/a/b/c";
  EXPECT_TRUE(MakeDirectories(path).ok());
  EXPECT_TRUE(MakeDirectories(path).ok());
  EXPECT_TRUE(MakeDirectories(path + "/").ok());
  EXPECT_TRUE(MakeDirectories("/").ok());
  EXPECT_TRUE(std::filesystem::is_directory(path));
  const std::string file = directory.Write("file", "x");
  EXPECT_EQ(MakeDirectories(file + "/below").name(), "DIRECTORY_NOT_WRITABLE");
  EXPECT_EQ(MakeDirectories(file).name(), "DIRECTORY_NOT_WRITABLE");
}

TEST(AtomicFileTest, StaleTemporariesGoByAge) {
  const TestDirectory directory;
  const std::string old_file = directory.Write(std::string(kTemporaryPrefix) + "aaaaaa", "x");
  directory.Write("keep.col", "x");
  struct stat info = {};
  ASSERT_EQ(stat(old_file.c_str(), &info), 0);
  const int64_t written_ns =
      static_cast<int64_t>(info.st_mtim.tv_sec) * 1000000000LL + info.st_mtim.tv_nsec;
  constexpr int64_t kHourNs = 3600LL * 1000000000LL;
  EXPECT_EQ(RemoveStaleTemporaries(directory.path(), written_ns + kHourNs - 1, kHourNs), 0);
  EXPECT_EQ(RemoveStaleTemporaries(directory.path(), written_ns + kHourNs, kHourNs), 1);
  EXPECT_EQ(CountFiles(directory.path()), 1u);
  EXPECT_EQ(RemoveStaleTemporaries(directory.path() + "/none", written_ns, 0), 0);
}

}  // namespace
}  // namespace strobe::storage
