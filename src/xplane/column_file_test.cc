#include "src/xplane/column_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "src/storage/atomic_file.h"
#include "src/storage/test_directory.h"
#include "src/wire/compress.h"
#include "src/xplane/column_cache.h"
#include "src/xplane/column_format.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

using column_format::Entry;
using column_format::Header;
using storage::TestDirectory;

// Nested, overlapping, aggregated, negative, without metadata, with stats; an empty line; an empty
// plane.
std::string RichSpace() {
  XSpaceBuilder space;
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  const int64_t step = host.AddEventMetadata("step");
  const int64_t op = host.AddEventMetadata("op", "shown op");
  LineBuilder& python = host.AddLine(1, "python", 1000);
  for (int64_t i = 0; i < 500; ++i) {
    python.AddEvent(step, i * 1000, 900).AddStat(host.StatId("step_num"), i);
    python.AddEvent(op, i * 1000 + 100, 300).AddStat(host.StatId("text"), std::string_view("x"));
    python.AddEvent(op, i * 1000 + 200, 1000);
  }
  python.AddAggregatedEvent(op, 42, 7);
  python.AddEvent(999, 600'000, -5);
  python.SetDisplay(77, "late name");
  host.AddLine(2, "empty", 0);
  space.AddPlane("Task Environment");
  PlaneBuilder& device = space.AddPlane("/device:TPU:0");
  LineBuilder& ops = device.AddLine(3, "XLA Ops", 0);
  for (int64_t i = 0; i < 100; ++i) {
    ops.AddEvent(device.AddEventMetadata("fusion." + std::to_string(i % 7)), i * 50, 50);
  }
  return space.Serialize();
}

void ExpectSame(const ProfileFile& a, const ProfileFile& b) {
  ASSERT_EQ(a.planes().size(), b.planes().size());
  for (size_t p = 0; p < a.planes().size(); ++p) {
    ASSERT_EQ(a.planes()[p].lines.size(), b.planes()[p].lines.size());
    for (size_t l = 0; l < a.planes()[p].lines.size(); ++l) {
      const LineColumns& x = a.Line(p, l);
      const LineColumns& y = b.Line(p, l);
      const auto same = [](auto s, auto t) { return std::ranges::equal(s, t); };
      EXPECT_TRUE(same(x.start_ps, y.start_ps) && same(x.duration_ps, y.duration_ps) &&
                  same(x.name, y.name));
      EXPECT_TRUE(std::ranges::equal(x.rows, y.rows, [](const auto& r, const auto& s) {
        return r.first == s.first && r.count == s.count;
      }));
      EXPECT_EQ(x.first_start_ps, y.first_start_ps);
      EXPECT_EQ(x.last_end_ps, y.last_end_ps);
      EXPECT_EQ(x.out_of_order, y.out_of_order);
      EXPECT_EQ(x.overlapping, y.overlapping);
      EXPECT_EQ(x.negative, y.negative);
      EXPECT_EQ(x.saturated, y.saturated);
      EXPECT_EQ(x.aggregated, y.aggregated);
      EXPECT_EQ(x.crowded, y.crowded);
      EXPECT_EQ(x.missing_metadata, y.missing_metadata);
      EXPECT_TRUE(std::ranges::equal(x.stat_ids.bits, y.stat_ids.bits));
      EXPECT_EQ(x.display_name, y.display_name);
      EXPECT_EQ(x.display_id, y.display_id);
      for (uint32_t e = 0; e < x.event_count(); e += 17) {
        EXPECT_EQ(a.EventOffset(p, l, e), b.EventOffset(p, l, e));
        EXPECT_EQ(a.EventStats(p, l, e).size(), b.EventStats(p, l, e).size());
      }
    }
  }
}

class ColumnFileTest : public testing::Test {
 protected:
  ColumnFileTest() : space_(RichSpace()), hash_(Hash128Of(space_)) {
    profile_ = MustOpen(space_);
    path_ = directory_.path() + "/c.col";
    EXPECT_TRUE(WriteColumnFile(*profile_, hash_, path_, CancelToken()).ok());
    file_ = TestDirectory::Read(path_);
  }

  struct Reopened {
    Status status;  // of Open and Approve
    std::shared_ptr<ColumnFile> columns;
    std::shared_ptr<ProfileFile> profile;
  };
  Reopened Reopen(std::string bytes) const { return ReopenFor(std::move(bytes), space_, hash_); }
  static Reopened ReopenFor(std::string bytes, const std::string& space, const Hash128& hash) {
    Reopened reopened;
    auto columns = ColumnFile::Open(std::make_shared<ExactBytes>(bytes), hash, space.size());
    reopened.status = columns.status();
    if (!columns.ok()) return reopened;
    reopened.columns = *columns;
    auto profile =
        OpenWithColumns(std::make_shared<ExactBytes>(space), OpenOptions{}, reopened.columns);
    EXPECT_TRUE(profile.ok());
    reopened.profile = *profile;
    reopened.status = reopened.columns->Approve(*reopened.profile);
    return reopened;
  }

  // Puts the checksums of header and directory right again after a change.
  static std::string Resealed(std::string file) {
    auto header = column_format::Load<Header>(file, 0);
    header.directory_hash = Hash64(std::string_view(file).substr(header.directory_offset));
    header.header_hash =
        Hash64(column_format::BytesOf(header).substr(0, sizeof(Header) - sizeof(uint64_t)));
    file.replace(0, sizeof(Header), column_format::BytesOf(header));
    return file;
  }
  template <typename Change>
  std::string WithHeader(Change change) const {
    std::string file = file_;
    auto header = column_format::Load<Header>(file, 0);
    change(&header);
    header.header_hash =
        Hash64(column_format::BytesOf(header).substr(0, sizeof(Header) - sizeof(uint64_t)));
    return file.replace(0, sizeof(Header), column_format::BytesOf(header));
  }
  template <typename Change>
  std::string WithEntry(size_t index, Change change) const {
    std::string file = file_;
    const auto header = column_format::Load<Header>(file, 0);
    const size_t at = header.directory_offset + index * sizeof(Entry);
    auto entry = column_format::Load<Entry>(file, at);
    change(&entry, &file);
    file.replace(at, sizeof(Entry), column_format::BytesOf(entry));
    return Resealed(file);
  }

  const TestDirectory directory_;
  const std::string space_;
  const Hash128 hash_;
  std::shared_ptr<ProfileFile> profile_;
  std::string path_;
  std::string file_;
};

TEST_F(ColumnFileTest, GivesBackEveryColumn) {
  const Reopened reopened = Reopen(file_);
  ASSERT_TRUE(reopened.status.ok()) << reopened.status.ToString();
  EXPECT_EQ(reopened.columns->line_count(), 3u);
  ExpectSame(*profile_, *reopened.profile);
  EXPECT_EQ(reopened.columns->rejected_lines(), 0u);
  EXPECT_NE(reopened.columns->Find(0, 0), nullptr);
  EXPECT_NE(reopened.columns->Find(0, 1), nullptr);
  EXPECT_NE(reopened.columns->Find(2, 0), nullptr);
  EXPECT_EQ(reopened.columns->Find(1, 0), nullptr);
  EXPECT_EQ(reopened.columns->Find(0, 2), nullptr);
  // What is given is the file's own bytes, not decoded ones.
  EXPECT_EQ(&reopened.profile->Line(0, 0), &reopened.columns->Find(0, 0)->columns);
  EXPECT_EQ(reopened.profile->Line(0, 0).display_name, "late name");
  EXPECT_EQ(reopened.profile->Line(0, 0).missing_metadata, 1u);
}

TEST_F(ColumnFileTest, NothingBeforeApproval) {
  const auto columns = ColumnFile::Open(std::make_shared<ExactBytes>(file_), hash_, space_.size());
  ASSERT_TRUE(columns.ok());
  EXPECT_EQ((*columns)->Find(0, 0), nullptr);
}

TEST_F(ColumnFileTest, ProfileOfNothing) {
  XSpaceBuilder space;
  space.AddPlane("empty");
  const std::string bytes = space.Serialize();
  const std::string path = directory_.path() + "/empty.col";
  ASSERT_TRUE(WriteColumnFile(*MustOpen(bytes), Hash128Of(bytes), path, CancelToken()).ok());
  const Reopened reopened = ReopenFor(TestDirectory::Read(path), bytes, Hash128Of(bytes));
  EXPECT_TRUE(reopened.status.ok()) << reopened.status.ToString();
}

TEST_F(ColumnFileTest, SizeIsBoundedBefore) { EXPECT_LE(file_.size(), ColumnFileBytes(*profile_)); }

TEST_F(ColumnFileTest, CancelledWriteLeavesNothing) {
  CancelSource source;
  source.Cancel();
  const std::string path = directory_.path() + "/none.col";
  EXPECT_EQ(WriteColumnFile(*profile_, hash_, path, source.token()).name(), "CANCELLED");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ColumnFileTest, EveryTruncationIsRejected) {
  for (size_t size = 0; size < file_.size(); size += size < 400 ? 1 : 977) {
    const Reopened reopened = Reopen(file_.substr(0, size));
    ASSERT_FALSE(reopened.status.ok()) << size;
    ASSERT_TRUE(reopened.status.name() == "COLUMNS_NOT_OURS" ||
                reopened.status.name() == "COLUMNS_TRUNCATED")
        << reopened.status.ToString();
  }
  EXPECT_EQ(Reopen(file_ + "x").status.name(), "COLUMNS_TRUNCATED");
}

TEST_F(ColumnFileTest, EveryFlippedByteIsRejectedOrLeavesTheLineToTheDecoder) {
  const auto header = column_format::Load<Header>(file_, 0);
  for (size_t at = 0; at < file_.size(); at += at < 600 ? 1 : 131) {
    std::string damaged = file_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    const Reopened reopened = Reopen(damaged);
    const bool in_block = at >= sizeof(Header) && at < header.directory_offset;
    ASSERT_EQ(reopened.status.ok(), in_block) << at << reopened.status.ToString();
    if (in_block && at % 7 == 0) ExpectSame(*profile_, *reopened.profile);
  }
}

TEST_F(ColumnFileTest, DamagedBlockIsDecodedAgainAndCounted) {
  const auto header = column_format::Load<Header>(file_, 0);
  const auto entry = column_format::Load<Entry>(file_, header.directory_offset);
  std::string damaged = file_;
  damaged[entry.block_offset + 5] ^= 1;
  const Reopened reopened = Reopen(damaged);
  ASSERT_TRUE(reopened.status.ok());
  ExpectSame(*profile_, *reopened.profile);
  EXPECT_EQ(reopened.columns->rejected_lines(), 1u);
  EXPECT_EQ(reopened.columns->Find(0, 0), nullptr);
  EXPECT_NE(reopened.columns->Find(2, 0), nullptr);
}

TEST_F(ColumnFileTest, OtherVersionsAndOtherProfilesAreNamed) {
  EXPECT_EQ(Reopen(WithHeader([](Header* h) { ++h->version; })).status.name(), "COLUMNS_VERSION");
  EXPECT_EQ(Reopen(WithHeader([](Header* h) { ++h->source_bytes; })).status.name(),
            "COLUMNS_OTHER_PROFILE");
  EXPECT_EQ(Reopen(WithHeader([](Header* h) { ++h->content_hash_low; })).status.name(),
            "COLUMNS_OTHER_PROFILE");
  EXPECT_EQ(Reopen(WithHeader([](Header* h) { ++h->skeleton_hash; })).status.name(),
            "COLUMNS_OTHER_PROFILE");
  EXPECT_EQ(Reopen("hello world, this is no column file").status.name(), "COLUMNS_NOT_OURS");
}

TEST_F(ColumnFileTest, DirectoryThatMakesNoSenseIsNamed) {
  const auto corrupt = [&](const std::string& file) {
    const Reopened reopened = Reopen(file);
    return std::string(reopened.status.name());
  };
  using E = Entry*;
  using F = std::string*;
  for (const std::string& file :
       {WithEntry(0, [](E e, F) { e->block_offset += 8; }),
        WithEntry(0, [](E e, F) { e->block_offset = 0; }),
        WithEntry(0, [](E e, F) { e->block_offset = ~uint64_t{63}; }),
        WithEntry(0, [](E e, F) { e->block_bytes += 8; }),
        WithEntry(0, [](E e, F) { e->event_count = ~uint64_t{0} / 8; }),
        WithEntry(0, [](E e, F) { e->event_count -= 1; }),
        WithEntry(0, [](E e, F) { e->row_count = ~uint32_t{0}; }),
        WithEntry(0, [](E e, F) { e->has_high_offsets = 2; }),
        WithEntry(0, [](E e, F) { e->aggregated = e->event_count + 1; }),
        WithEntry(1, [](E e, F) { e->aggregated = 1; }), WithEntry(1, [](E e, F) { e->line = 0; }),
        WithHeader([](Header* h) { h->directory_offset = ~uint64_t{0}; }),
        WithHeader([](Header* h) { h->directory_offset = 0; }),
        WithHeader([](Header* h) { h->line_count += 1; }),
        WithHeader([](Header* h) { h->header_bytes += 1; })}) {
    EXPECT_EQ(corrupt(file), "COLUMNS_CORRUPT");
  }
  EXPECT_EQ(corrupt(WithHeader([](Header* h) { ++h->directory_hash; })), "COLUMNS_CHECKSUM");
}

TEST_F(ColumnFileTest, EntriesThatDoNotFitTheSkeletonAreNamed) {
  using E = Entry*;
  using F = std::string*;
  for (const std::string& file :
       {WithEntry(2, [](E e, F) { e->plane = 9; }), WithEntry(1, [](E e, F) { e->line = 9; }),
        WithEntry(0, [](E e, F) { e->metadata_count += 1; }),
        WithEntry(0, [](E e, F) { e->line_bytes += 1; })}) {
    EXPECT_EQ(Reopen(file).status.name(), "COLUMNS_OTHER_PROFILE");
  }
  // The same columns for a profile with another skeleton.
  XSpaceBuilder other;
  other.AddPlane("/host:CPU").AddLine(1, "python", 0);
  const std::string bytes = other.Serialize();
  const std::string file = WithHeader([&](Header* h) {
    h->source_bytes = bytes.size();
    h->content_hash_high = Hash128Of(bytes).high;
    h->content_hash_low = Hash128Of(bytes).low;
  });
  const Reopened reopened = ReopenFor(file, bytes, Hash128Of(bytes));
  EXPECT_EQ(reopened.status.name(), "COLUMNS_OTHER_PROFILE");
  EXPECT_EQ(reopened.profile->Line(0, 0).event_count(), 0u);
}

// Blocks whose checksum is right but whose contents would lead somewhere else.
TEST_F(ColumnFileTest, ContentsAreCheckedBehindTheChecksum) {
  const auto with_block = [&](auto change) {
    return WithEntry(0, [&](Entry* entry, std::string* file) {
      const column_format::BlockLayout layout(entry->event_count, entry->has_high_offsets != 0,
                                              entry->row_count, entry->display_name_bytes);
      char* const block = file->data() + entry->block_offset;
      change(block, layout);
      const Hash128 hash = Hash128Of(std::string_view(block, entry->block_bytes));
      entry->block_hash_high = hash.high;
      entry->block_hash_low = hash.low;
    });
  };
  const auto set = [](char* at, auto value) { std::memcpy(at, &value, sizeof(value)); };
  using Layout = column_format::BlockLayout;
  const std::string files[] = {
      with_block([&](char* b, const Layout& l) { set(b + l.name, uint32_t{1000}); }),
      with_block([&](char* b, const Layout& l) { set(b + l.offset, ~uint32_t{0}); }),
      with_block([&](char* b, const Layout& l) { set(b + l.start, int64_t{1} << 63); }),
      with_block([&](char* b, const Layout& l) { set(b + l.start + 8, int64_t{0}); }),
      with_block([&](char* b, const Layout& l) { set(b + l.duration, int64_t{-1}); }),
      with_block([&](char* b, const Layout& l) { set(b + l.duration, int64_t{1} << 62); }),
      with_block([&](char* b, const Layout& l) { set(b + l.rows, uint32_t{1}); }),
      with_block([&](char* b, const Layout& l) { set(b + l.rows + 4, ~uint32_t{0}); }),
  };
  for (const std::string& file : files) {
    const Reopened reopened = Reopen(file);
    ASSERT_TRUE(reopened.status.ok()) << reopened.status.ToString();
    EXPECT_EQ(reopened.columns->Find(0, 0), nullptr);
    EXPECT_EQ(reopened.columns->rejected_lines(), 1u);
    ExpectSame(*profile_, *reopened.profile);
  }
}

TEST_F(ColumnFileTest, DamagedLinesAreNotStored) {
  const std::string cut = space_.substr(0, space_.size() - 700);
  const auto profile = MustOpen(cut);
  const std::string path = directory_.path() + "/cut.col";
  ASSERT_TRUE(WriteColumnFile(*profile, Hash128Of(cut), path, CancelToken()).ok());
  ASSERT_FALSE(profile->damage().empty());
  const Reopened reopened = ReopenFor(TestDirectory::Read(path), cut, Hash128Of(cut));
  ASSERT_TRUE(reopened.status.ok()) << reopened.status.ToString();
  ExpectSame(*profile, *reopened.profile);
  EXPECT_EQ(reopened.profile->damage().size(), profile->damage().size());
}

TEST_F(ColumnFileTest, ChangedProfileIsNotKept) {
  const std::string source_path = directory_.Write("p.xplane.pb", space_);
  const auto mapped = storage::OpenMappedFile(source_path);
  ASSERT_TRUE(mapped.ok());
  const auto profile = ProfileFile::Open(*mapped, {});
  ASSERT_TRUE(profile.ok());
  ASSERT_EQ(truncate(source_path.c_str(), 100), 0);
  const std::string path = directory_.path() + "/changed.col";
  EXPECT_EQ(WriteColumnFile(**profile, hash_, path, CancelToken()).name(), "FILE_CHANGED");
  EXPECT_FALSE(std::filesystem::exists(path));
}

class ColumnCacheTest : public testing::Test {
 protected:
  ColumnCacheTest() : clock_(SystemClock().NowUnixNanos() + 3600LL * 1'000'000'000) {}

  std::unique_ptr<ColumnCache> MakeCache(uint64_t max_bytes = uint64_t{1} << 30) {
    return std::make_unique<ColumnCache>(
        ColumnCache::Options{.directory = directory_.path() + "/cache",
                             .max_bytes = max_bytes,
                             .min_source_bytes = 0},
        clock_);
  }
  SessionFile WriteProfile(const std::string& name, const std::string& bytes) {
    SessionFile file;
    file.path = directory_.Write(name, bytes);
    return file;
  }
  CachedProfile Open(ColumnCache* cache, const SessionFile& file) {
    auto opened = cache->OpenHostFile(file, directory_.path(), CancelToken());
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return *opened;
  }
  // Opens and stores.
  void Fill(ColumnCache* cache, const SessionFile& file) {
    const CachedProfile opened = Open(cache, file);
    const Status stored = cache->Store(opened.identity, *opened.profile, CancelToken());
    EXPECT_TRUE(stored.ok()) << stored.ToString();
    clock_.AdvanceNanos(1'000'000'000);
  }
  std::string ColumnPathOf(const ColumnCache& cache, const std::string& bytes) {
    return cache.ColumnPath(Hash128Of(bytes));
  }

  const TestDirectory directory_;
  FakeClock clock_;
};

std::string NumberedSpace(int number) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:" + std::to_string(number));
  LineBuilder& line = plane.AddLine(1, "t", 0);
  for (int64_t i = 0; i < 200; ++i) line.AddEvent(plane.AddEventMetadata("a"), i * 10, 5);
  return space.Serialize();
}

TEST_F(ColumnCacheTest, SecondOpenDecodesNothing) {
  const auto cache = MakeCache();
  const SessionFile file = WriteProfile("h.xplane.pb", RichSpace());
  EXPECT_FALSE(Open(cache.get(), file).from_cache);
  Fill(cache.get(), file);
  const CachedProfile again = Open(cache.get(), file);
  EXPECT_TRUE(again.from_cache);
  ExpectSame(*MustOpen(RichSpace()), *again.profile);
  // Another process, later.
  EXPECT_TRUE(Open(MakeCache().get(), file).from_cache);
  EXPECT_EQ(cache->stats().hits, 1u);
  EXPECT_EQ(cache->stats().misses, 2u);
  EXPECT_EQ(cache->stats().stored, 1u);
  EXPECT_GT(cache->stats().bytes, 0u);
}

TEST_F(ColumnCacheTest, SameBytesUnderAnotherPathShareTheirColumns) {
  const auto cache = MakeCache();
  const SessionFile first = WriteProfile("a.xplane.pb", RichSpace());
  const SessionFile second = WriteProfile("b.xplane.pb", RichSpace());
  Fill(cache.get(), first);
  Fill(cache.get(), second);
  EXPECT_EQ(cache->stats().stored, 1u);
  EXPECT_TRUE(Open(cache.get(), first).from_cache);
  EXPECT_TRUE(Open(cache.get(), second).from_cache);
}

TEST_F(ColumnCacheTest, ChangedFileIsNotTheOldOne) {
  const auto cache = MakeCache();
  const SessionFile file = WriteProfile("h.xplane.pb", NumberedSpace(1));
  Fill(cache.get(), file);
  ASSERT_TRUE(Open(cache.get(), file).from_cache);
  WriteProfile("h.xplane.pb", NumberedSpace(2));
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, file.path.c_str(), times, 0), 0);
  const CachedProfile opened = Open(cache.get(), file);
  EXPECT_FALSE(opened.from_cache);
  EXPECT_EQ(opened.profile->planes()[0].name, "/host:2");
}

TEST_F(ColumnCacheTest, YoungFileIsHashedAgain) {
  const auto cache = MakeCache();
  const SessionFile file = WriteProfile("h.xplane.pb", RichSpace());
  const timespec now = {.tv_sec = clock_.NowUnixNanos() / 1'000'000'000, .tv_nsec = 0};
  const timespec times[2] = {now, now};
  ASSERT_EQ(utimensat(AT_FDCWD, file.path.c_str(), times, 0), 0);
  Fill(cache.get(), file);
  EXPECT_FALSE(Open(cache.get(), file).from_cache);
  clock_.AdvanceNanos(ColumnCache::kYoungFileNs);
  Fill(cache.get(), file);
  EXPECT_TRUE(Open(cache.get(), file).from_cache);
}

TEST_F(ColumnCacheTest, DamageIsIgnoredAndMadeGood) {
  const auto cache = MakeCache();
  const std::string space = RichSpace();
  const SessionFile file = WriteProfile("h.xplane.pb", space);
  Fill(cache.get(), file);
  const std::string path = ColumnPathOf(*cache, space);
  const std::string good = TestDirectory::Read(path);
  for (const std::string& bad : {std::string(), std::string("x"), good.substr(0, good.size() / 2),
                                 std::string(good.size(), '\0'), good + "tail"}) {
    directory_.Write(std::filesystem::relative(path, directory_.path()), bad);
    const CachedProfile opened = Open(cache.get(), file);
    EXPECT_FALSE(opened.from_cache);
    ExpectSame(*MustOpen(space), *opened.profile);
    Fill(cache.get(), file);
    EXPECT_TRUE(Open(cache.get(), file).from_cache);
  }
  EXPECT_GT(cache->stats().rejected, 4u);
}

TEST_F(ColumnCacheTest, DamagedBlockIsFoundWhenUsedAndMadeGood) {
  const auto cache = MakeCache();
  const std::string space = RichSpace();
  const SessionFile file = WriteProfile("h.xplane.pb", space);
  Fill(cache.get(), file);
  const std::string path = ColumnPathOf(*cache, space);
  std::string damaged = TestDirectory::Read(path);
  damaged[sizeof(Header) + 200] ^= 1;
  directory_.Write(std::filesystem::relative(path, directory_.path()), damaged);
  const CachedProfile opened = Open(cache.get(), file);
  EXPECT_TRUE(opened.from_cache);
  ExpectSame(*MustOpen(space), *opened.profile);
  EXPECT_FALSE(std::filesystem::exists(path));
  Fill(cache.get(), file);
  EXPECT_TRUE(Open(cache.get(), file).from_cache);
}

TEST_F(ColumnCacheTest, DamagedIdentityIsIgnored) {
  const auto cache = MakeCache();
  const SessionFile file = WriteProfile("h.xplane.pb", RichSpace());
  Fill(cache.get(), file);
  const storage::FileIdentity identity = *storage::IdentifyFile(file.path);
  const std::string path = cache->IdentityPath(identity);
  const std::string good = TestDirectory::Read(path);
  ASSERT_TRUE(cache->KnownHash(identity).has_value());
  for (size_t at = 0; at <= good.size(); ++at) {
    std::string bad = good;
    if (at < bad.size()) {
      bad[at] ^= 1;
    } else {
      bad.pop_back();
    }
    directory_.Write(std::filesystem::relative(path, directory_.path()), bad);
    EXPECT_FALSE(cache->KnownHash(identity).has_value()) << at;
  }
}

TEST_F(ColumnCacheTest, LeastRecentlyUsedGoesFirst) {
  const auto unbounded = MakeCache();
  std::vector<SessionFile> files;
  for (int i = 0; i < 4; ++i) {
    files.push_back(WriteProfile(std::to_string(i) + ".xplane.pb", NumberedSpace(i)));
    Fill(unbounded.get(), files.back());
  }
  const uint64_t one = unbounded->stats().bytes / 4;
  // 0 is used again, so 1 is the oldest.
  ASSERT_TRUE(Open(unbounded.get(), files[0]).from_cache);
  const auto bounded = MakeCache(3 * one + one / 2);
  EXPECT_EQ(bounded->stats().evicted, 1u);
  EXPECT_TRUE(Open(bounded.get(), files[0]).from_cache);
  EXPECT_FALSE(Open(bounded.get(), files[1]).from_cache);
  EXPECT_TRUE(Open(bounded.get(), files[2]).from_cache);
  EXPECT_TRUE(Open(bounded.get(), files[3]).from_cache);
  // Storing keeps the bound, and an open file stays readable when its columns go.
  const CachedProfile held = Open(bounded.get(), files[2]);
  for (int i = 10; i < 20; ++i) {
    Fill(bounded.get(), WriteProfile(std::to_string(i) + ".xplane.pb", NumberedSpace(i)));
    EXPECT_LE(bounded->stats().bytes, 3 * one + one / 2);
  }
  EXPECT_FALSE(Open(bounded.get(), files[2]).from_cache);
  ExpectSame(*MustOpen(NumberedSpace(2)), *held.profile);
}

TEST_F(ColumnCacheTest, ColumnsLargerThanTheCacheAreNotWritten) {
  const auto cache = MakeCache(100);
  const SessionFile file = WriteProfile("h.xplane.pb", RichSpace());
  const CachedProfile opened = Open(cache.get(), file);
  EXPECT_EQ(cache->Store(opened.identity, *opened.profile, CancelToken()).name(),
            "COLUMNS_TOO_LARGE");
}

TEST_F(ColumnCacheTest, OtherVersionsFilesCountAndGo) {
  const auto cache = MakeCache();
  Fill(cache.get(), WriteProfile("h.xplane.pb", RichSpace()));
  const std::string old_file = "cache/columns/" + std::string(32, 'a') + ".v0.col";
  const std::string path = directory_.Write(old_file, std::string(1 << 20, 'x'));
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const auto bounded = MakeCache(500'000);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(bounded->stats().evicted, 1u);
}

TEST_F(ColumnCacheTest, CacheThatCannotBeWrittenIsNoError) {
  // A file where the directory should be.
  directory_.Write("cache", "in the way");
  const auto blocked = MakeCache();
  const SessionFile file = WriteProfile("h.xplane.pb", RichSpace());
  const CachedProfile opened = Open(blocked.get(), file);
  EXPECT_FALSE(opened.from_cache);
  EXPECT_FALSE(blocked->Store(opened.identity, *opened.profile, CancelToken()).ok());
  ExpectSame(*MustOpen(RichSpace()), *opened.profile);
  // No cache at all.
  ColumnCache none({.directory = ""}, clock_);
  const CachedProfile plain = Open(&none, file);
  EXPECT_FALSE(plain.from_cache);
  EXPECT_TRUE(none.Store(plain.identity, *plain.profile, CancelToken()).ok());
}

TEST_F(ColumnCacheTest, ReadOnlyCacheIsStillRead) {
  const SessionFile file = WriteProfile("h.xplane.pb", RichSpace());
  const SessionFile other = WriteProfile("i.xplane.pb", NumberedSpace(5));
  Fill(MakeCache().get(), file);
  const std::string cache_path = directory_.path() + "/cache";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache_path)) {
    ASSERT_EQ(chmod(entry.path().c_str(), entry.is_directory() ? 0555 : 0444), 0);
  }
  ASSERT_EQ(chmod(cache_path.c_str(), 0555), 0);
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  // Root may write everywhere, so it becomes somebody else for a moment.
  const uid_t user = geteuid();
  if (user == 0) ASSERT_EQ(seteuid(65534), 0);
  const auto cache = MakeCache();
  const auto hit = cache->OpenHostFile(file, directory_.path(), CancelToken());
  const auto miss = cache->OpenHostFile(other, directory_.path(), CancelToken());
  const Status stored =
      miss.ok() ? cache->Store(miss->identity, *miss->profile, CancelToken()) : miss.status();
  if (user == 0) ASSERT_EQ(seteuid(0), 0);
  ASSERT_TRUE(hit.ok() && miss.ok());
  EXPECT_TRUE(hit->from_cache);
  EXPECT_FALSE(miss->from_cache);
  EXPECT_EQ(stored.name(), "FILE_NOT_WRITABLE");
  for (const char* folder : {"", "/columns", "/identities"}) {
    ASSERT_EQ(chmod((cache_path + folder).c_str(), 0755), 0);
  }
}

TEST_F(ColumnCacheTest, PackedProfilesAreUnpackedOnce) {
  const auto cache = MakeCache();
  SessionFile file = WriteProfile("h.xplane.pb.gz", wire::GzipCompress(RichSpace()));
  file.format = FileFormat::kXplaneGzip;
  const std::string kept = cache->SidePath(Hash128Of(RichSpace()), ".unpacked");
  const auto keep = [&] {
    const CachedProfile opened = Open(cache.get(), file);
    if (!opened.from_cache) {
      ASSERT_TRUE(cache->Store(opened.identity, *opened.profile, CancelToken()).ok());
    }
    const Status status =
        cache->KeepUnpacked(file, opened.identity, *opened.profile, CancelToken());
    ASSERT_TRUE(status.ok()) << status.ToString();
    clock_.AdvanceNanos(1'000'000'000);
  };
  keep();
  ASSERT_EQ(ReadWholeFile(kept), RichSpace());
  CachedProfile again = Open(cache.get(), file);
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.profile->source().identity().path, kept) << "nothing was inflated";
  EXPECT_EQ(again.identity.path, file.path);
  ExpectSame(*MustOpen(RichSpace()), *again.profile);

  // Damage in the kept bytes is found before they are used, and made good.
  std::string damaged = RichSpace();
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  ASSERT_TRUE(storage::WriteFileAtomically(kept, damaged, {}).ok());
  again = Open(cache.get(), file);
  EXPECT_NE(again.profile->source().identity().path, kept);
  ExpectSame(*MustOpen(RichSpace()), *again.profile);
  keep();
  EXPECT_EQ(ReadWholeFile(kept), RichSpace());

  // They count, and go like the columns.
  EXPECT_GT(cache->stats().bytes, RichSpace().size());
  MakeCache(1)->Evict();
  EXPECT_FALSE(std::filesystem::exists(kept));
}

TEST_F(ColumnCacheTest, WhatADamagedFileHeldIsNotKept) {
  const auto cache = MakeCache();
  const std::string packed = wire::GzipCompress(RichSpace());
  SessionFile file = WriteProfile("h.xplane.pb.gz", packed.substr(0, packed.size() - 9));
  file.format = FileFormat::kXplaneGzip;
  const CachedProfile opened = Open(cache.get(), file);
  ASSERT_FALSE(opened.profile->damage().empty());
  (void)cache->Store(opened.identity, *opened.profile, CancelToken());
  EXPECT_TRUE(cache->KeepUnpacked(file, opened.identity, *opened.profile, CancelToken()).ok());
  EXPECT_FALSE(Open(cache.get(), file).profile->damage().empty());
}

TEST_F(ColumnCacheTest, SmallProfilesAreNotKept) {
  ColumnCache cache({.directory = directory_.path() + "/cache", .min_source_bytes = 1 << 20},
                    clock_);
  const SessionFile file = WriteProfile("h.xplane.pb", RichSpace());
  const CachedProfile opened = Open(&cache, file);
  EXPECT_TRUE(cache.Store(opened.identity, *opened.profile, CancelToken()).ok());
  EXPECT_EQ(cache.stats().stored, 0u);
}

// Every real profile comes back from its column file as it was decoded.
TEST_F(ColumnCacheTest, RealProfiles) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  const auto cache = MakeCache();
  const auto sessions = ListSessions((corpus / "sessions").string(), {});
  ASSERT_TRUE(sessions.ok());
  size_t checked = 0;
  for (const SessionEntry& session : *sessions) {
    for (const SessionFile& file : session.files) {
      // The large one is the benchmark's.
      if (file.format == FileFormat::kXplaneXz) continue;
      const CachedProfile first = Open(cache.get(), file);
      const Status stored = cache->Store(first.identity, *first.profile, CancelToken());
      ASSERT_TRUE(stored.ok()) << stored.ToString();
      const CachedProfile second = Open(cache.get(), file);
      ASSERT_TRUE(second.from_cache) << file.path;
      ExpectSame(*first.profile, *second.profile);
      ++checked;
    }
  }
  EXPECT_GT(checked, 10u);
}

}  // namespace
}  // namespace strobe::xplane
