// One suite for every ObjectStore: memory, a directory, the faulty one behind retries, and, where
// the environment names them, a real S3 server and a GCS emulator (tests/stores starts both):
//   STROBE_TEST_S3=s3://bucket with AWS_ENDPOINT_URL and keys,
//   STROBE_TEST_GCS=gs://bucket with STORAGE_EMULATOR_HOST.
#include "src/storage/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <thread>

#include "src/storage/checksum.h"
#include "src/storage/directory_store.h"
#include "src/storage/faulty_store.h"
#include "src/storage/memory_store.h"
#include "src/storage/place.h"
#include "src/storage/retrying_store.h"
#include "src/storage/test_directory.h"

namespace strobe::storage {
namespace {

using ::testing::ElementsAre;

std::string Env(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Pattern(size_t size_bytes, uint64_t seed) {
  SeededRandom random(seed);
  std::string bytes(size_bytes, '\0');
  for (size_t i = 0; i + 8 <= size_bytes; i += 8) {
    const uint64_t word = random.Next();
    std::copy_n(reinterpret_cast<const char*>(&word), 8, bytes.data() + i);
  }
  return bytes;
}

// A store and what keeps it alive.
struct Subject {
  std::shared_ptr<ObjectStore> store;
  std::string prefix;  // tests keep below it, since a bucket may be shared
  bool has_checksums = true;
  bool plain_keys = false;  // the store takes no key that is no clean path
  // The emulator of GCS looks at conditions only of what is written in one request.
  bool conditions_of_parts = true;
  // SeaweedFS keeps keys as a tree of folders and lists "a/b" before "a.b"; Amazon does not.
  bool in_order = true;
};

class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string& kind = GetParam();
    if (kind == "memory") {
      subject_.store = std::make_shared<MemoryStore>(clock_);
    } else if (kind == "directory") {
      subject_.store = std::make_shared<DirectoryStore>(directory_.path());
      subject_.has_checksums = false;
      subject_.plain_keys = true;
    } else if (kind == "faulty") {
      auto faulty = std::make_shared<FaultyStore>(
          std::make_shared<MemoryStore>(clock_),
          // Stale versions and corrupt parts are the caller's to deal with; the soak has them.
          FaultyOptions{.seed = 11, .per_mille = 250, .kinds = kHealed}, waiter_);
      subject_.store = Retrying(faulty);
    } else {
      const bool s3 = kind.ends_with("s3");
      const char* const variable = s3 ? "STROBE_TEST_S3" : "STROBE_TEST_GCS";
      const std::string place = Env(variable);
      if (place.empty()) {
        GTEST_SKIP() << "NOT TESTED: " << kind << ": " << variable << " names no server";
      }
      Result<Place> opened = opener_.Open(place);
      ASSERT_TRUE(opened.ok()) << opened.status().ToString();
      subject_.store = opened->store;
      if (kind.starts_with("faulty")) {
        subject_.store = Retrying(std::make_shared<FaultyStore>(
            subject_.store, FaultyOptions{.seed = 5, .per_mille = 200, .kinds = kHealed}, waiter_));
      }
      subject_.has_checksums = false;  // not for what was written in parts
      subject_.conditions_of_parts = s3;
      subject_.in_order = !s3;
      subject_.prefix = "conformance-" + ToHex() + "/";
    }
  }

  // What retries put right by themselves.
  static constexpr uint32_t kHealed = ((1U << kFaultKinds) - 1) &
                                      ~(1U << static_cast<uint32_t>(Fault::kStaleVersion)) &
                                      ~(1U << static_cast<uint32_t>(Fault::kCorruptBody)) &
                                      ~(1U << static_cast<uint32_t>(Fault::kNotFoundAfterList));

  static std::string ToHex() {
    return HexOf(std::to_string(SystemRandom().Next() % 1'000'000'007));
  }
  std::shared_ptr<ObjectStore> Retrying(std::shared_ptr<ObjectStore> raw) {
    return std::make_shared<RetryingStore>(std::move(raw), RetryPolicy{.max_attempts = 12}, clock_,
                                           random_, waiter_);
  }
  ObjectStore& store() { return *subject_.store; }
  std::string Key(const std::string& name) const { return subject_.prefix + name; }
  ObjectInfo PutOk(const std::string& name, std::string_view bytes) {
    Result<ObjectInfo> put = store().Put(Key(name), bytes, {}, {});
    EXPECT_TRUE(put.ok()) << put.status().ToString();
    return put.ok() ? *put : ObjectInfo();
  }
  std::vector<std::string> AllKeys(const std::string& prefix, uint32_t page_keys,
                                   size_t* pages = nullptr) {
    std::vector<std::string> keys;
    ListQuery query = {.prefix = Key(prefix), .max_keys = page_keys};
    do {
      Result<ListPage> page = store().List(query, {});
      EXPECT_TRUE(page.ok()) << page.status().ToString();
      if (!page.ok()) break;
      EXPECT_LE(page->objects.size(), page_keys);
      for (const ObjectInfo& object : page->objects) {
        keys.push_back(object.key.substr(subject_.prefix.size()));
      }
      query.page_token = page->next_page_token;
      if (pages != nullptr) ++*pages;
    } while (!query.page_token.empty());
    return keys;
  }

  TestDirectory directory_;
  FakeClock clock_;
  SeededRandom random_{3};
  FakeWaiter waiter_{clock_};
  PlaceOpener opener_{SystemCloudContext()};
  Subject subject_;
};

TEST_P(Conformance, WhatIsWrittenIsRead) {
  const std::string bytes = Pattern(100'000, 1);
  const ObjectInfo put = PutOk("run/host.xplane.pb", bytes);
  EXPECT_FALSE(put.version.empty());
  EXPECT_EQ(put.size_bytes, bytes.size());
  const Result<ObjectInfo> stat = store().Stat(Key("run/host.xplane.pb"), {});
  ASSERT_TRUE(stat.ok()) << stat.status().ToString();
  EXPECT_EQ(stat->size_bytes, bytes.size());
  EXPECT_EQ(stat->version, put.version);
  EXPECT_GT(stat->modified_unix_ns, 0);
  const Result<ReadAnswer> whole = ReadWhole(store(), Key("run/host.xplane.pb"), 1 << 20, {});
  ASSERT_TRUE(whole.ok()) << whole.status().ToString();
  EXPECT_TRUE(whole->bytes == bytes);
  if (subject_.has_checksums) EXPECT_EQ(whole->info.crc32c, Crc32c(bytes));
}

TEST_P(Conformance, ReadsAnyRange) {
  const std::string bytes = Pattern(10'000, 2);
  const ObjectInfo put = PutOk("ranges", bytes);
  for (const auto& [offset, length] : {std::pair<uint64_t, uint64_t>{0, 1},
                                       {0, 10'000},
                                       {9'999, 1},
                                       {5'000, 1'000},
                                       {9'000, 5'000},
                                       {1, 9'998}}) {
    const Result<ReadAnswer> read = store().Read(
        Key("ranges"), {.offset = offset, .length = length, .if_version = put.version}, {});
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_TRUE(read->bytes == bytes.substr(offset, length)) << offset << "+" << length;
    EXPECT_EQ(read->info.size_bytes, bytes.size());
  }
  const Result<ReadAnswer> behind =
      store().Read(Key("ranges"), {.offset = 10'000, .length = 1}, {});
  EXPECT_EQ(behind.status().name(), "OBJECT_RANGE");
}

TEST_P(Conformance, AnEmptyObjectIsOne) {
  PutOk("empty", "");
  const Result<ReadAnswer> read = store().Read(Key("empty"), {}, {});
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->bytes, "");
  EXPECT_EQ(read->info.size_bytes, 0);
  const Result<ObjectInfo> stat = store().Stat(Key("empty"), {});
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat->size_bytes, 0);
}

TEST_P(Conformance, WhatIsNotThereIsNamed) {
  EXPECT_EQ(store().Stat(Key("none"), {}).status().name(), "OBJECT_NOT_FOUND");
  EXPECT_EQ(store().Read(Key("none"), {}, {}).status().name(), "OBJECT_NOT_FOUND");
  EXPECT_TRUE(store().Delete(Key("none"), {}).ok());
  PutOk("gone", "x");
  EXPECT_TRUE(store().Delete(Key("gone"), {}).ok());
  EXPECT_EQ(store().Stat(Key("gone"), {}).status().name(), "OBJECT_NOT_FOUND");
  EXPECT_THAT(AllKeys("gone", 10), ElementsAre());
}

TEST_P(Conformance, KeysThatCannotBeAreRefused) {
  for (const std::string& key : {std::string(), std::string(1025, 'k'), std::string("a\nb"),
                                 std::string("a\xff"), std::string("a\0b", 3)}) {
    EXPECT_EQ(store().Stat(key, {}).status().name(), "OBJECT_KEY_INVALID");
    EXPECT_EQ(store().Put(key, "x", {}, {}).status().name(), "OBJECT_KEY_INVALID");
  }
  if (!subject_.plain_keys) return;
  for (const char* const key : {"../up", "a/../../up", "/etc/passwd", "a//b", "a/./b", "a/"}) {
    EXPECT_EQ(store().Put(key, "x", {}, {}).status().name(), "OBJECT_KEY_INVALID") << key;
  }
}

TEST_P(Conformance, OddKeysComeBackAsTheyWere) {
  std::vector<std::string> names = {"odd/a b+c.pb",  "odd/%41%2f",     "odd/ä€𝄞",
                                    "odd/a&b=c?d#e", "odd/quote\"'<>", "odd/~!*()$,;:@"};
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) PutOk(name, name);
  EXPECT_THAT(AllKeys("odd/", 1000), ::testing::ElementsAreArray(names));
  for (const std::string& name : names) {
    const Result<ReadAnswer> read = store().Read(Key(name), {}, {});
    ASSERT_TRUE(read.ok()) << name << ": " << read.status().ToString();
    EXPECT_EQ(read->bytes, name);
  }
}

TEST_P(Conformance, ListsInPagesInTheOrderOfKeys) {
  std::vector<std::string> names;
  for (int i = 0; i < 25; ++i) {
    names.push_back("list/" + std::string(i % 3 == 0 ? "a/" : "") + std::to_string(100 + i));
    PutOk(names.back(), "x");
  }
  names.emplace_back("list/a.b");  // between "list/a/" and others by bytes: '.' comes before '/'
  PutOk(names.back(), "x");
  std::sort(names.begin(), names.end());
  for (const uint32_t page_keys : {1U, 7U, 1000U}) {
    size_t pages = 0;
    std::vector<std::string> listed = AllKeys("list/", page_keys, &pages);
    if (!subject_.in_order) std::sort(listed.begin(), listed.end());
    EXPECT_THAT(listed, ::testing::ElementsAreArray(names)) << page_keys;
    EXPECT_GE(pages, names.size() / page_keys);
  }
  EXPECT_THAT(AllKeys("list/a.", 10), ElementsAre("list/a.b"));
  EXPECT_THAT(AllKeys("nothing/", 10), ElementsAre());
}

TEST_P(Conformance, ListsBehindAKeyAndByFolder) {
  for (const char* const name : {"tree/a/1", "tree/a/2", "tree/b/1", "tree/c", "tree/d/1"}) {
    PutOk(name, "x");
  }
  const Result<ListPage> behind =
      store().List({.prefix = Key("tree/"), .start_after = Key("tree/b/1")}, {});
  ASSERT_TRUE(behind.ok()) << behind.status().ToString();
  ASSERT_EQ(behind->objects.size(), 2);
  EXPECT_EQ(behind->objects[0].key, Key("tree/c"));
  const Result<ListPage> folders = store().List({.prefix = Key("tree/"), .delimiter = "/"}, {});
  ASSERT_TRUE(folders.ok()) << folders.status().ToString();
  EXPECT_THAT(folders->prefixes, ElementsAre(Key("tree/a/"), Key("tree/b/"), Key("tree/d/")));
  ASSERT_EQ(folders->objects.size(), 1);
  EXPECT_EQ(folders->objects[0].key, Key("tree/c"));
}

TEST_P(Conformance, WritesOnlyIfAbsent) {
  const WriteOptions absent = {.condition = Condition::Absent()};
  Result<ObjectInfo> first = store().Put(Key("once"), "first", absent, {});
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_EQ(store().Put(Key("once"), "second", absent, {}).status().name(), "OBJECT_EXISTS");
  const Result<ReadAnswer> read = store().Read(Key("once"), {}, {});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->bytes, "first");
}

TEST_P(Conformance, WritesOnlyOverTheVersionKnown) {
  const ObjectInfo first = PutOk("versions", "first");
  const WriteOptions known = {.condition = Condition::Version(first.version)};
  const Result<ObjectInfo> second = store().Put(Key("versions"), "second!", known, {});
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_NE(second->version, first.version);
  EXPECT_EQ(store().Put(Key("versions"), "third", known, {}).status().name(), "OBJECT_CHANGED");
  EXPECT_EQ(store().Read(Key("versions"), {.if_version = first.version}, {}).status().name(),
            "OBJECT_CHANGED");
  const Result<ReadAnswer> read =
      store().Read(Key("versions"), {.if_version = second->version}, {});
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->bytes, "second!");
}

TEST_P(Conformance, ManyWritersOfOneNameOneWins) {
  constexpr int kWriters = 8;
  std::vector<std::thread> threads;
  std::array<bool, kWriters> won{};
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&, i] {
      won[static_cast<size_t>(i)] =
          store().Put(Key("race"), std::to_string(i), {.condition = Condition::Absent()}, {}).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::count(won.begin(), won.end(), true), 1);
  const Result<ReadAnswer> read = store().Read(Key("race"), {}, {});
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(won[static_cast<size_t>(std::stoi(read->bytes))]);
}

TEST_P(Conformance, LargeObjectsAreWrittenInParts) {
  const std::string bytes = Pattern(2 * kUploadPartBytes + 12'345, 3);
  ObjectWriter writer(store(), Key("large"), {.condition = Condition::Absent()});
  for (size_t at = 0; at < bytes.size(); at += 1'000'000) {
    ASSERT_TRUE(writer.Append(std::string_view(bytes).substr(at, 1'000'000)).ok());
  }
  EXPECT_EQ(store().Stat(Key("large"), {}).status().name(), "OBJECT_NOT_FOUND");
  const Result<ObjectInfo> written = writer.Commit();
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  const Result<ReadAnswer> read = ReadWhole(store(), Key("large"), bytes.size(), {});
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_TRUE(read->bytes == bytes);
  if (!subject_.conditions_of_parts) return;
  ObjectWriter again(store(), Key("large"), {.condition = Condition::Absent()});
  Status status = again.Append(bytes);
  if (status.ok()) status = again.Commit().status();
  EXPECT_EQ(status.name(), "OBJECT_EXISTS");
}

TEST_P(Conformance, AnAbandonedWriteLeavesNothing) {
  {
    ObjectWriter writer(store(), Key("half/object"), {});
    ASSERT_TRUE(writer.Append(Pattern(kUploadPartBytes + 1, 4)).ok());
  }
  EXPECT_THAT(AllKeys("half/", 10), ElementsAre());
}

TEST_P(Conformance, ACancelledCallEnds) {
  CancelSource cancel;
  cancel.Cancel();
  const CallOptions call = {.cancel = cancel.token()};
  EXPECT_EQ(store().Stat(Key("x"), call).status().name(), "CANCELLED");
  EXPECT_EQ(store().Put(Key("x"), "x", {}, call).status().name(), "CANCELLED");
}

INSTANTIATE_TEST_SUITE_P(Stores, Conformance,
                         ::testing::Values("memory", "directory", "faulty", "s3", "gcs",
                                           "faulty_s3", "faulty_gcs"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace strobe::storage
