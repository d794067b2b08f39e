#include "src/storage/lazy_object.h"

#include <gtest/gtest.h>

#include <thread>

#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/base/log.h"
#include "src/storage/memory_store.h"
#include "src/storage/test_directory.h"

namespace strobe::storage {
namespace {

std::string Pattern(size_t size_bytes) {
  SeededRandom random(9);
  std::string bytes(size_bytes, '\0');
  for (char& c : bytes) c = static_cast<char>(random.Next());
  return bytes;
}

// Counts reads, and can refuse or falsify them.
class WatchedStore : public MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  Result<ReadAnswer> Read(const std::string& key, const ReadQuery& query,
                          const CallOptions& call) override {
    reads.fetch_add(1);
    Result<ReadAnswer> answer = MemoryStore::Read(key, query, call);
    if (fail_from != 0 && query.offset >= fail_from) {
      return UnavailableError("OBJECT_STORE_UNREACHABLE", "no route").Where(key);
    }
    if (flip && answer.ok()) answer->bytes[7] = static_cast<char>(answer->bytes[7] ^ 1);
    return answer;
  }
  std::atomic<int> reads{0};
  uint64_t fail_from = 0;
  bool flip = false;
};

class LazyObjectThreads : public ::testing::Test {
 protected:
  LazyObjectThreads() { SetLogLevel("off"); }
  ~LazyObjectThreads() override { SetLogLevel("info"); }

  std::shared_ptr<const ByteSource> Open(const std::string& bytes) {
    EXPECT_TRUE(store_->Put("k", bytes, {}, {}).ok());
    const ObjectInfo info = *store_->Stat("k", {});
    Result<std::shared_ptr<const ByteSource>> source = OpenLazyObject(
        {.store = store_, .info = info, .path = "memory://test/k", .fetcher = fetcher_},
        directory_.path());
    EXPECT_TRUE(source.ok()) << source.status().ToString();
    return *source;
  }

  FakeClock clock_;
  TestDirectory directory_;
  std::shared_ptr<WatchedStore> store_ = std::make_shared<WatchedStore>(clock_);
  std::shared_ptr<ObjectFetcher> fetcher_ =
      std::make_shared<ObjectFetcher>(ObjectFetcher::Options{.threads = 4});
};

TEST_F(LazyObjectThreads, OnlyWhatIsLookedAtIsFetched) {
  const std::string bytes = Pattern(20 * kPieceBytes + 777);
  const auto source = Open(bytes);
  ASSERT_EQ(source->bytes().size(), bytes.size());
  EXPECT_EQ(store_->reads, 0);
  EXPECT_EQ(source->bytes()[5 * kPieceBytes + 3], bytes[5 * kPieceBytes + 3]);
  EXPECT_EQ(source->bytes()[5 * kPieceBytes + 9], bytes[5 * kPieceBytes + 9]);
  EXPECT_EQ(source->bytes().back(), bytes.back());
  EXPECT_EQ(store_->reads, 2);
  EXPECT_EQ(source->owned_bytes(), kPieceBytes + 777);
  EXPECT_TRUE(source->CheckUnchanged().ok());
}

TEST_F(LazyObjectThreads, AllOfItComesInTheBackgroundAndManyReadAtOnce) {
  const std::string bytes = Pattern(12 * kPieceBytes + 1);
  const auto source = Open(bytes);
  FetchAll(*source);
  std::vector<std::thread> readers;
  std::atomic<int> same{0};
  for (int i = 0; i < 6; ++i) {
    readers.emplace_back([&] { same += source->bytes() == bytes ? 1 : 0; });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(same, 6);
  EXPECT_EQ(store_->reads, 13);
  EXPECT_TRUE(source->CheckUnchanged().ok());
}

TEST_F(LazyObjectThreads, WhatCannotBeFetchedReadsAsZerosAndIsTold) {
  const std::string bytes = Pattern(3 * kPieceBytes);
  store_->fail_from = 2 * kPieceBytes;
  const auto source = Open(bytes);
  EXPECT_EQ(source->bytes()[kPieceBytes], bytes[kPieceBytes]);
  EXPECT_TRUE(source->CheckUnchanged().ok());
  EXPECT_EQ(source->bytes()[2 * kPieceBytes + 5], '\0');
  EXPECT_EQ(source->CheckUnchanged().name(), "OBJECT_STORE_UNREACHABLE");
  EXPECT_TRUE(source->CutShort());
}

TEST_F(LazyObjectThreads, AReplacedObjectIsTold) {
  const auto source = Open(Pattern(2 * kPieceBytes));
  ASSERT_TRUE(store_->Put("k", "other", {}, {}).ok());
  EXPECT_EQ(source->bytes()[0], '\0');
  EXPECT_EQ(source->CheckUnchanged().name(), "OBJECT_CHANGED");
}

TEST_F(LazyObjectThreads, ACorruptByteIsFoundOnceAllHasCome) {
  const std::string bytes = Pattern(2 * kPieceBytes);
  store_->flip = true;
  const auto source = Open(bytes);
  FetchAll(*source);
  (void)(source->bytes() == bytes);
  while (source->CheckUnchanged().ok()) std::this_thread::yield();
  EXPECT_EQ(source->CheckUnchanged().name(), "OBJECT_CORRUPT");
}

TEST_F(LazyObjectThreads, LettingGoInTheMiddleIsFine) {
  for (int i = 0; i < 12; ++i) {
    const auto source = Open(Pattern(4 * kPieceBytes / (1 + static_cast<size_t>(i) % 3)));
    FetchAll(*source);
    (void)source->bytes()[0];
  }
  fetcher_.reset();
  EXPECT_TRUE(store_->Stat("k", {}).ok());
}

TEST_F(LazyObjectThreads, AnEmptyObject) {
  const auto source = Open("");
  EXPECT_TRUE(source->bytes().empty());
  EXPECT_EQ(source->identity().path, "memory://test/k");
}

TEST_F(LazyObjectThreads, IdentitiesTellVersionsApart) {
  RemoteObject object;
  object.path = "s3://b/k";
  object.info.version = "1";
  const FileIdentity first = IdentityOf(object);
  object.info.version = "2";
  EXPECT_NE(IdentityOf(object), first);
}

}  // namespace
}  // namespace strobe::storage
