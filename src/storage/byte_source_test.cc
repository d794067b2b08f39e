#include "src/storage/byte_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "src/storage/scratch_file.h"
#include "src/storage/sigbus_guard.h"
#include "src/storage/test_directory.h"

namespace strobe::storage {
namespace {

constexpr size_t kPageBytes = 4096;

uint64_t SumOf(std::string_view bytes) {
  uint64_t sum = 0;
  for (const char c : bytes) sum += static_cast<uint8_t>(c);
  return sum;
}

TEST(ByteSourceTest, MapsAFile) {
  const TestDirectory directory;
  const std::string path = directory.Write("a.bin", "hello");
  const auto source = OpenMappedFile(path);
  ASSERT_TRUE(source.ok()) << source.status().ToString();
  EXPECT_EQ((*source)->bytes(), "hello");
  EXPECT_EQ((*source)->identity().path, path);
  EXPECT_EQ((*source)->identity().size_bytes, 5u);
  EXPECT_EQ((*source)->identity(), *IdentifyFile(path));
  EXPECT_EQ((*source)->owned_bytes(), 0u);
  EXPECT_TRUE((*source)->CheckUnchanged().ok());
}

TEST(ByteSourceTest, EmptyFileHasEmptyBytes) {
  const TestDirectory directory;
  const auto source = OpenMappedFile(directory.Write("empty", ""));
  ASSERT_TRUE(source.ok());
  EXPECT_TRUE((*source)->bytes().empty());
  EXPECT_TRUE((*source)->CheckUnchanged().ok());
  (*source)->Advise(0, 100, ByteSource::Access::kWillNeed);
}

TEST(ByteSourceTest, NamedErrors) {
  const TestDirectory directory;
  const std::string missing = directory.path() + "/missing";
  EXPECT_EQ(OpenMappedFile(missing).status().name(), "FILE_NOT_FOUND");
  EXPECT_EQ(OpenMappedFile(missing).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(OpenMappedFile(missing).status().where(), missing);
  EXPECT_EQ(IdentifyFile(missing).status().name(), "FILE_NOT_FOUND");
  EXPECT_EQ(OpenMappedFile(directory.path()).status().name(), "FILE_NOT_REGULAR");
  EXPECT_EQ(IdentifyFile(directory.path()).status().name(), "FILE_NOT_REGULAR");
  const std::string pipe = directory.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(OpenMappedFile(pipe).status().name(), "FILE_NOT_REGULAR");
  const std::string below_a_file = directory.Write("file", "x") + "/child";
  EXPECT_EQ(OpenMappedFile(below_a_file).status().name(), "FILE_NOT_FOUND");
}

TEST(ByteSourceTest, UnreadableFileIsNamed) {
  const TestDirectory directory;
  const std::string path = directory.Write("secret", "x");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  // Root may read everything, so it becomes somebody else for a moment.
  const uid_t user = geteuid();
  if (user == 0) ASSERT_EQ(seteuid(65534), 0);
  const Status status = OpenMappedFile(path).status();
  if (user == 0) ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(status.name(), "FILE_NOT_READABLE");
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
}

TEST(ByteSourceTest, SurvivesTruncationWhileMapped) {
  const TestDirectory directory;
  const std::string bytes(64 * kPageBytes, 'x');
  const std::string path = directory.Write("cut", bytes);
  const auto source = OpenMappedFile(path);
  ASSERT_TRUE(source.ok());
  ASSERT_EQ(truncate(path.c_str(), 2 * kPageBytes + 10), 0);
  // What is left is read, the rest of its page and the lost pages are zeros.
  EXPECT_EQ(SumOf((*source)->bytes()), (2 * kPageBytes + 10) * uint64_t{'x'});
  EXPECT_EQ((*source)->bytes()[2 * kPageBytes + 9], 'x');
  EXPECT_EQ((*source)->bytes()[2 * kPageBytes + 10], '\0');
  EXPECT_EQ((*source)->bytes().back(), '\0');
  const Status status = (*source)->CheckUnchanged();
  EXPECT_EQ(status.name(), "FILE_CHANGED");
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_NE(status.where().find("8202 now"), std::string_view::npos) << status.where();
}

TEST(ByteSourceTest, RemembersTheFaultWhenTheFileGrowsBack) {
  const TestDirectory directory;
  const std::string bytes(8 * kPageBytes, 'x');
  const std::string path = directory.Write("cut", bytes);
  const auto source = OpenMappedFile(path);
  ASSERT_TRUE(source.ok());
  struct stat before = {};
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(SumOf((*source)->bytes()), 0u);
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(bytes.size())), 0);
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_EQ((*source)->CheckUnchanged().name(), "FILE_CHANGED");
}

TEST(ByteSourceTest, ManyThreadsHitTheLostPagesAtOnce) {
  const TestDirectory directory;
  const std::string path = directory.Write("cut", std::string(1024 * kPageBytes, 'x'));
  const auto source = OpenMappedFile(path);
  ASSERT_TRUE(source.ok());
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  std::vector<std::thread> threads;
  std::vector<uint64_t> sums(4, 1);
  for (size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] { sums[t] = SumOf((*source)->bytes()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, std::vector<uint64_t>(4, 0));
}

TEST(ByteSourceTest, RewritingInPlaceIsSeen) {
  const TestDirectory directory;
  const std::string path = directory.Write("a", "hello");
  const timespec past[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), past, 0), 0);
  const auto source = OpenMappedFile(path);
  ASSERT_TRUE(source.ok());
  EXPECT_TRUE((*source)->CheckUnchanged().ok());
  directory.Write("a", "HELLO");
  EXPECT_EQ((*source)->CheckUnchanged().name(), "FILE_CHANGED");
}

TEST(ByteSourceTest, DeletedOrReplacedFileStaysReadable) {
  const TestDirectory directory;
  const std::string path = directory.Write("a", "hello");
  const auto source = OpenMappedFile(path);
  ASSERT_TRUE(source.ok());
  const std::string other = directory.Write("b", "other bytes");
  ASSERT_EQ(rename(other.c_str(), path.c_str()), 0);
  EXPECT_EQ((*source)->bytes(), "hello");
  EXPECT_TRUE((*source)->CheckUnchanged().ok());
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ((*source)->bytes(), "hello");
  EXPECT_TRUE((*source)->CheckUnchanged().ok());
}

TEST(ByteSourceTest, SparseFileBeyondFourGigabytes) {
  const TestDirectory directory;
  const std::string path = directory.Write("big", "head");
  constexpr uint64_t kSize = (uint64_t{4} << 30) + 12345;
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(kSize)), 0);
  const auto source = OpenMappedFile(path);
  ASSERT_TRUE(source.ok()) << source.status().ToString();
  EXPECT_EQ((*source)->bytes().size(), kSize);
  EXPECT_EQ((*source)->bytes().substr(0, 4), "head");
  EXPECT_EQ((*source)->bytes().back(), '\0');
}

TEST(ByteSourceTest, AdviceIsOnlyAHint) {
  const TestDirectory directory;
  const auto source = OpenMappedFile(directory.Write("a", std::string(3 * kPageBytes, 'y')));
  ASSERT_TRUE(source.ok());
  using Access = ByteSource::Access;
  for (const Access access : {Access::kNormal, Access::kSequential, Access::kRandom,
                              Access::kWillNeed, Access::kDontNeed}) {
    (*source)->Advise(1, 2 * kPageBytes, access);
    (*source)->Advise(kPageBytes * 2, ~uint64_t{0}, access);
    (*source)->Advise(~uint64_t{0}, 1, access);
  }
  EXPECT_EQ(SumOf((*source)->bytes()), 3 * kPageBytes * uint64_t{'y'});
}

TEST(ByteSourceTest, OwnedBytesCount) {
  const auto source = OwnBytes(std::string(1000, 'z'), "made/from");
  EXPECT_EQ(source->bytes().size(), 1000u);
  EXPECT_GE(source->owned_bytes(), 1000u);
  EXPECT_EQ(source->identity().path, "made/from");
  EXPECT_TRUE(source->CheckUnchanged().ok());
}

TEST(SigbusGuardTest, SlotsAreGivenBackAndBounded) {
  std::vector<size_t> slots;
  static const char kByte = 0;
  while (const std::optional<size_t> slot = GuardMapping(&kByte, 1)) slots.push_back(*slot);
  EXPECT_LE(slots.size(), kMaxGuardedMappings);
  EXPECT_GT(slots.size(), kMaxGuardedMappings - 100);
  const TestDirectory directory;
  const std::string path = directory.Write("one-too-many", "x");
  EXPECT_EQ(OpenMappedFile(path).status().name(), "TOO_MANY_OPEN_FILES");
  for (const size_t slot : slots) UnguardMapping(slot);
  EXPECT_TRUE(OpenMappedFile(path).ok());
}

// A SIGBUS that is not ours must end the process as it would without us.
TEST(SigbusGuardDeathTest, ForeignFaultIsPassedOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TestDirectory directory;
  const std::string path = directory.Write("foreign", std::string(2 * kPageBytes, 'x'));
  EXPECT_DEATH(
      {
        ASSERT_TRUE(OpenMappedFile(path).ok());  // installs the handler
        const FileDescriptor file(open(path.c_str(), O_RDONLY));
        const auto* const data = static_cast<const volatile char*>(
            mmap(nullptr, 2 * kPageBytes, PROT_READ, MAP_PRIVATE, file.get(), 0));
        ASSERT_EQ(truncate(path.c_str(), 0), 0);
        (void)data[kPageBytes];
      },
      "");
}

TEST(ScratchFileTest, KeepsBytesWithoutAName) {
  const TestDirectory directory;
  auto scratch = ScratchFile::Create(directory.path() + "/new/scratch");
  ASSERT_TRUE(scratch.ok()) << scratch.status().ToString();
  ASSERT_TRUE(scratch->Append("first ").ok());
  ASSERT_TRUE(scratch->Append("second").ok());
  EXPECT_EQ(scratch->size_bytes(), 12u);
  const auto source = (*std::move(scratch)).Finish("/from/here.gz");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->bytes(), "first second");
  EXPECT_EQ((*source)->identity().path, "/from/here.gz");
  EXPECT_TRUE((*source)->CheckUnchanged().ok());
  EXPECT_TRUE(std::filesystem::is_empty(directory.path() + "/new/scratch"));
}

TEST(ScratchFileTest, NamedErrorWhereNothingCanBeMade) {
  const TestDirectory directory;
  const std::string file = directory.Write("file", "x");
  const auto scratch = ScratchFile::Create(file + "/below");
  EXPECT_EQ(scratch.status().name(), "DIRECTORY_NOT_WRITABLE");
}

}  // namespace
}  // namespace strobe::storage
