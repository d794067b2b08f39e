#include "src/xplane/profile_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <limits>
#include <string>
#include <vector>

#include "src/wire/wire_writer.h"
#include "src/xplane/line_store.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

using ::strobe::wire::AppendBytesField;
using ::strobe::wire::AppendSignedField;

TEST(ProfileFileTest, ReadsPlanesLinesAndEventsInFileOrder) {
  XSpaceBuilder space;
  PlaneBuilder& host = space.AddPlane("/host:CPU", 7);
  const int64_t run = host.AddEventMetadata("run");
  const int64_t step = host.AddEventMetadata("step", "Step (shown)");
  LineBuilder& thread = host.AddLine(-42, "python", 5);
  thread.AddEvent(step, 1000, 500);
  thread.AddEvent(run, 1500, 250);
  thread.SetDisplay(9, "main thread");
  host.AddLine(3, "empty", 5);
  space.AddPlane("/host:CPU", 7);
  space.AddHostname("node0").AddError("e1").AddWarning("w1").AddWarning("w2");
  const std::shared_ptr<ProfileFile> file = MustOpen(space.Serialize());

  ASSERT_EQ(file->planes().size(), 2u) << "planes of one name and id stay apart";
  const Plane& plane = file->planes()[0];
  EXPECT_EQ(plane.name, "/host:CPU");
  EXPECT_EQ(plane.id, 7);
  ASSERT_EQ(plane.lines.size(), 2u);
  EXPECT_EQ(plane.lines[0].id, -42);
  EXPECT_EQ(plane.lines[0].name, "python");
  EXPECT_EQ(plane.lines[0].base_ps, 5000);
  EXPECT_FALSE(file->LineDecoded(0, 0));
  const LineColumns& line = file->Line(0, 0);
  EXPECT_TRUE(file->LineDecoded(0, 0));
  ASSERT_EQ(line.event_count(), 2u);
  EXPECT_EQ(line.start_ps[0], 6000);
  EXPECT_EQ(line.duration_ps[0], 500);
  EXPECT_EQ(plane.event_metadata[line.name[0]].label(), "Step (shown)");
  EXPECT_EQ(plane.event_metadata[line.name[1]].label(), "run");
  EXPECT_EQ(line.display_name, "main thread");
  EXPECT_EQ(line.display_id, 9);
  EXPECT_EQ(line.first_start_ps, 6000);
  EXPECT_EQ(line.last_end_ps, 6750);
  EXPECT_EQ(file->Line(0, 1).event_count(), 0u);
  EXPECT_TRUE(file->Line(0, 1).rows.empty());
  EXPECT_EQ(file->hostnames(), std::vector<std::string>{"node0"});
  EXPECT_EQ(file->errors(), std::vector<std::string>{"e1"});
  EXPECT_EQ(file->warnings().size(), 2u);
  EXPECT_TRUE(file->damage().empty());
}

TEST(ProfileFileTest, StatsOfEveryType) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("p");
  const int64_t name = plane.AddEventMetadata("op");
  plane.EventMetadataStats(name).AddStat(plane.StatId("flops"), uint64_t{1} << 63);
  const int64_t text_id = plane.StatId("some text");
  plane.AddLine(1, "l", 0)
      .AddEvent(name, 0, 10)
      .AddStat(plane.StatId("u"), uint64_t{18446744073709551615u})
      .AddStat(plane.StatId("i"), int64_t{-3})
      .AddStat(plane.StatId("d"), 2.5)
      .AddStat(plane.StatId("s"), std::string_view("word"))
      .AddBytesStat(plane.StatId("b"), std::string_view("\0\1", 2))
      .AddRefStat(plane.StatId("r"), static_cast<uint64_t>(text_id))
      .AddRefStat(plane.StatId("dangling"), 999)
      .AddStat(12345, int64_t{1});
  plane.PlaneStats().AddStat(plane.StatId("core_count"), uint64_t{8});
  const std::shared_ptr<ProfileFile> file = MustOpen(space.Serialize());

  const std::vector<Stat> stats = file->EventStats(0, 0, 0);
  ASSERT_EQ(stats.size(), 8u);
  EXPECT_EQ(stats[0].type, StatType::kUint64);
  EXPECT_EQ(stats[0].name, "u");
  EXPECT_EQ(stats[0].IntOrUint(), -1);
  EXPECT_EQ(stats[1].IntOrUint(), -3);
  EXPECT_EQ(stats[2].number, 2.5);
  EXPECT_EQ(stats[2].IntOrUint(), 0);
  EXPECT_EQ(stats[3].text, "word");
  EXPECT_EQ(stats[4].type, StatType::kBytes);
  EXPECT_EQ(stats[4].text.size(), 2u);
  EXPECT_EQ(stats[5].type, StatType::kRef);
  EXPECT_EQ(stats[5].text, "some text");
  EXPECT_EQ(stats[5].uint64_value, static_cast<uint64_t>(text_id));
  EXPECT_EQ(stats[6].text, "");
  EXPECT_EQ(stats[7].name, "");
  EXPECT_EQ(stats[7].metadata_id, 12345);
  ASSERT_EQ(file->PlaneStats(0).size(), 1u);
  EXPECT_EQ(file->PlaneStats(0)[0].uint64_value, 8u);
  ASSERT_EQ(file->MetadataStats(0, 0).size(), 1u);
  EXPECT_EQ(file->MetadataStats(0, 0)[0].uint64_value, uint64_t{1} << 63);
}

TEST(ProfileFileTest, OneStatAsAColumnFindsEveryIdOfThatName) {
  // Two ids with one name, as merged profiles have it.
  std::string plane;
  AppendBytesField(2, "p", &plane);
  XSpaceBuilder unused;
  LineBuilder line(1, "l", 0);
  line.AddEvent(1, 0, 5).AddStat(10, int64_t{7});
  line.AddEvent(1, 10, 5).AddStat(11, uint64_t{8}).AddStat(10, int64_t{9});
  line.AddEvent(1, 20, 5).AddStat(12, int64_t{1});
  line.AddEvent(1, 30, 5);
  AppendBytesField(3, line.Serialize(), &plane);
  for (const auto& [id, name] :
       {std::pair<int64_t, const char*>{10, "bytes"}, {11, "bytes"}, {12, "other"}}) {
    std::string record, entry;
    AppendSignedField(1, id, &record);
    AppendBytesField(2, name, &record);
    AppendSignedField(1, id, &entry);
    AppendBytesField(2, record, &entry);
    AppendBytesField(5, entry, &plane);
  }
  std::string space;
  AppendBytesField(1, plane, &space);
  const std::shared_ptr<ProfileFile> file = MustOpen(space);
  const std::vector<Stat> column = file->EventStatColumn(0, 0, "bytes");
  ASSERT_EQ(column.size(), 4u);
  EXPECT_EQ(column[0].IntOrUint(), 7);
  EXPECT_EQ(column[1].IntOrUint(), 8) << "the first one of the event counts";
  EXPECT_EQ(column[2].type, StatType::kNone);
  EXPECT_EQ(column[3].type, StatType::kNone);
  EXPECT_EQ(file->EventStatColumn(0, 0, "unknown").size(), 4u);
}

TEST(ProfileFileTest, TheStatsOfALineAreKnownWithoutReadingThem) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("p");
  const int64_t name = plane.AddEventMetadata("e");
  LineBuilder& some = plane.AddLine(1, "some", 0);
  // More events than the careful path reads at the end of the file.
  for (int i = 0; i < 100; ++i) {
    some.AddEvent(name, i * 10, 5).AddStat(3, int64_t{i}).AddStat(200, std::string_view("text"));
  }
  plane.AddLine(2, "none", 0).AddEvent(name, 0, 5);
  plane.AddLine(3, "last", 0).AddEvent(name, 0, 5).AddStat(-1, uint64_t{1});
  const std::shared_ptr<ProfileFile> file = MustOpen(space.Serialize());
  const StatIdFilter& stats = file->Line(0, 0).stat_ids;
  EXPECT_TRUE(stats.MayContain(3));
  EXPECT_TRUE(stats.MayContain(200));
  EXPECT_TRUE(stats.MayContain(200 - 128)) << "told modulo 128 only";
  EXPECT_FALSE(stats.MayContain(4));
  EXPECT_FALSE(stats.MayContain(0));
  for (int64_t id = 0; id < 128; ++id) EXPECT_FALSE(file->Line(0, 1).stat_ids.MayContain(id));
  EXPECT_TRUE(file->Line(0, 2).stat_ids.MayContain(-1));
  EXPECT_FALSE(file->Line(0, 2).stat_ids.MayContain(1));
}

TEST(ProfileFileTest, AStatThatDoesNotBeginWithItsIdMayBeAny) {
  for (const size_t padding : {0, 500}) {  // read carefully, and fast
    std::string stat, event, line, plane, space;
    AppendSignedField(4, 7, &stat);
    AppendSignedField(1, 5, &stat);
    AppendSignedField(1, 1, &event);
    AppendBytesField(4, stat, &event);
    AppendBytesField(4, event, &line);
    AppendBytesField(3, line, &plane);
    AppendBytesField(1, plane, &space);
    if (padding > 0) AppendBytesField(999, std::string(padding, 'x'), &space);
    const std::shared_ptr<ProfileFile> file = MustOpen(space);
    EXPECT_TRUE(file->Line(0, 0).stat_ids.MayContain(5));
    EXPECT_TRUE(file->Line(0, 0).stat_ids.MayContain(99));
  }
}

TEST(ProfileFileTest, MissingAndRepeatedMetadata) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("p");
  plane.AddEventMetadata("known");
  LineBuilder& line = plane.AddLine(1, "l", 0);
  line.AddEvent(1, 0, 1);
  line.AddEvent(2, 2, 1);
  line.AddEvent(-1, 4, 1);
  line.AddEvent(std::numeric_limits<int64_t>::min(), 6, 1);
  line.AddEvent(std::numeric_limits<int64_t>::max(), 8, 1);
  std::string bytes = space.Serialize();
  const std::shared_ptr<ProfileFile> file = MustOpen(bytes);
  const LineColumns& columns = file->Line(0, 0);
  const auto& table = file->planes()[0].event_metadata;
  ASSERT_EQ(table.size(), 2u);
  EXPECT_FALSE(table.back().present);
  EXPECT_EQ(columns.missing_metadata, 4u);
  EXPECT_EQ(table[columns.name[0]].name, "known");
  for (size_t e = 1; e < 5; ++e) EXPECT_FALSE(table[columns.name[e]].present);
}

std::string MetadataEntry(int64_t key, const std::string& name) {
  std::string record, entry;
  AppendBytesField(2, name, &record);
  AppendSignedField(1, key, &entry);
  AppendBytesField(2, record, &entry);
  return entry;
}

TEST(ProfileFileTest, IdsMayBeAnythingAndTheLaterOfTwoCounts) {
  std::string plane;
  LineBuilder line(0, "", 0);
  const std::vector<int64_t> ids = {-5, int64_t{1} << 62, 0, 3000000, -5};
  for (size_t i = 0; i < ids.size(); ++i) line.AddEvent(ids[i], static_cast<int64_t>(i) * 10, 1);
  AppendBytesField(3, line.Serialize(), &plane);
  for (size_t i = 0; i < ids.size(); ++i) {
    AppendBytesField(4, MetadataEntry(ids[i], "name" + std::to_string(i)), &plane);
  }
  std::string space;
  AppendBytesField(1, plane, &space);
  const std::shared_ptr<ProfileFile> file = MustOpen(space);
  const auto& table = file->planes()[0].event_metadata;
  ASSERT_EQ(table.size(), 5u) << "four ids and the absent one";
  const LineColumns& columns = file->Line(0, 0);
  EXPECT_EQ(table[columns.name[0]].name, "name4");
  EXPECT_EQ(table[columns.name[1]].name, "name1");
  EXPECT_EQ(table[columns.name[2]].name, "name2");
  EXPECT_EQ(table[columns.name[3]].name, "name3");
  EXPECT_EQ(columns.missing_metadata, 0u);
}

TEST(ProfileFileTest, ChildIdsPackedAndNot) {
  std::string record, entry, plane, space, packed;
  AppendSignedField(6, 5, &record);
  wire::AppendVarint(300, &packed);
  wire::AppendVarint(7, &packed);
  AppendBytesField(6, packed, &record);
  AppendSignedField(1, 1, &entry);
  AppendBytesField(2, record, &entry);
  AppendBytesField(4, entry, &plane);
  AppendBytesField(1, plane, &space);
  EXPECT_EQ(MustOpen(space)->MetadataChildIds(0, 0), (std::vector<int64_t>{5, 300, 7}));
}

TEST(ProfileFileTest, AggregatedEventsAreKeptApart) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("p");
  const int64_t name = plane.AddEventMetadata("op");
  LineBuilder& line = plane.AddLine(1, "l", 1);
  line.AddAggregatedEvent(name, 17, 900).AddStat(1, int64_t{1});
  line.AddEvent(name, 100, 10);
  line.AddAggregatedEvent(name, 4, 50);
  line.AddEvent(name, 200, 10);
  const std::shared_ptr<ProfileFile> file = MustOpen(space.Serialize());
  const LineColumns& columns = file->Line(0, 0);
  ASSERT_EQ(columns.rows.size(), 2u);
  EXPECT_EQ(columns.timed_rows().size(), 1u);
  EXPECT_EQ(columns.rows[1].count, 2u);
  EXPECT_EQ(columns.aggregated, 2u);
  EXPECT_EQ(columns.first_start_ps, 1100);
  EXPECT_EQ(columns.last_end_ps, 1210);
  EXPECT_EQ(columns.out_of_order, 0u);
  EXPECT_EQ(columns.duration_ps[2], 900);
  EXPECT_EQ(file->EventOccurrences(0, 0, 0), 1u);
  EXPECT_EQ(file->EventOccurrences(0, 0, 2), 17u);
  EXPECT_EQ(file->EventOccurrences(0, 0, 3), 4u);
  EXPECT_EQ(file->EventStats(0, 0, 2).size(), 1u);
}

TEST(ProfileFileTest, TimesOutOfRangeAreClampedAndCounted) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kEdge = int64_t{1} << 62;
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("p");
  const int64_t name = plane.AddEventMetadata("op");
  LineBuilder& line = plane.AddLine(1, "l", 0);
  line.AddEvent(name, kMin, 5);
  line.AddEvent(name, -700, 5);
  line.AddEvent(name, 0, -1);
  line.AddEvent(name, 10, kMin);
  line.AddEvent(name, kEdge - 1, 10);
  line.AddEvent(name, kMax, kMax);
  for (const int64_t timestamp_ns : {kMin, kMax}) {
    plane.AddLine(2, "m", timestamp_ns).AddEvent(name, timestamp_ns > 0 ? kMax : kMin, 1);
  }
  const std::shared_ptr<ProfileFile> file = MustOpen(space.Serialize());
  const LineColumns& columns = file->Line(0, 0);
  ASSERT_EQ(columns.event_count(), 6u);
  EXPECT_EQ(columns.negative, 2u);
  EXPECT_EQ(columns.saturated, 3u);
  EXPECT_EQ(columns.first_start_ps, -kEdge);
  EXPECT_EQ(columns.last_end_ps, kEdge);
  for (size_t e = 0; e < 6; ++e) {
    EXPECT_GE(columns.duration_ps[e], 0);
    EXPECT_GE(columns.start_ps[e], -kEdge);
    EXPECT_LE(columns.start_ps[e] + columns.duration_ps[e], kEdge);
  }
  for (size_t l = 1; l < 3; ++l) {
    EXPECT_EQ(file->Line(0, l).event_count(), 1u);
    EXPECT_LE(file->Line(0, l).last_end_ps, kEdge);
    EXPECT_GE(file->Line(0, l).first_start_ps, -kEdge);
  }
}

TEST(ProfileFileTest, UnknownFieldsAndOtherOrdersAreRead) {
  std::string stat, event, line, plane, space;
  AppendSignedField(1, 1, &stat);
  AppendSignedField(4, 5, &stat);
  AppendSignedField(99, 1, &event);
  AppendBytesField(4, stat, &event);
  AppendSignedField(3, 50, &event);
  wire::AppendFixed64Field(77, 1, &event);
  AppendSignedField(2, 1000, &event);
  AppendSignedField(1, 6, &event);
  AppendSignedField(5, 1, &line);  // reserved numbers of the schema
  AppendBytesField(4, event, &line);
  AppendBytesField(200, "new", &line);
  AppendSignedField(3, 2, &line);  // the timestamp behind the events
  AppendBytesField(3, line, &plane);
  AppendBytesField(2, "late name", &plane);
  AppendBytesField(1, plane, &space);
  AppendBytesField(50, "future", &space);
  const std::shared_ptr<ProfileFile> file = MustOpen(space);
  EXPECT_EQ(file->planes()[0].name, "late name");
  const LineColumns& columns = file->Line(0, 0);
  ASSERT_EQ(columns.event_count(), 1u);
  EXPECT_EQ(columns.start_ps[0], 3000);
  EXPECT_EQ(columns.duration_ps[0], 50);
  EXPECT_EQ(columns.first_start_ps, 3000);
  EXPECT_EQ(file->EventStats(0, 0, 0).size(), 1u);
  EXPECT_TRUE(file->damage().empty());
}

TEST(ProfileFileTest, HugeAndStrangeNames) {
  XSpaceBuilder space;
  const std::string long_name(1 << 20, 'n');
  PlaneBuilder& plane = space.AddPlane("p");
  const int64_t a = plane.AddEventMetadata(long_name);
  const int64_t b = plane.AddEventMetadata("<script>alert(1)</script>");
  const int64_t c = plane.AddEventMetadata("\xff\xfe broken \xc3");
  LineBuilder& line = plane.AddLine(1, "l", 0);
  line.AddEvent(a, 0, 1).AddStat(plane.StatId("s"), std::string_view(long_name));
  line.AddEvent(b, 1, 1);
  line.AddEvent(c, 2, 1);
  const std::shared_ptr<ProfileFile> file = MustOpen(space.Serialize());
  const LineColumns& columns = file->Line(0, 0);
  const auto& table = file->planes()[0].event_metadata;
  EXPECT_EQ(table[columns.name[0]].name, long_name);
  EXPECT_EQ(table[columns.name[1]].name, "<script>alert(1)</script>");
  EXPECT_EQ(table[columns.name[2]].name, "\xff\xfe broken \xc3");
  EXPECT_EQ(file->EventStats(0, 0, 0)[0].text, long_name);
}

#ifdef STROBE_ASAN
constexpr int64_t kManyEvents = 500'000;  // more takes a minute unoptimised
#else
constexpr int64_t kManyEvents = 5'000'000;
#endif

TEST(ProfileFileTest, MillionsOfEventsOfOneNanosecond) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("p");
  const int64_t name = plane.AddEventMetadata("tick");
  LineBuilder& line = plane.AddLine(1, "l", 0);
  for (int64_t i = 0; i < kManyEvents; ++i) line.AddEvent(name, i * 1000, 1000);
  const std::string bytes = space.Serialize();
  const std::shared_ptr<ProfileFile> file = MustOpen(bytes);
  const LineColumns& columns = file->Line(0, 0);
  ASSERT_EQ(columns.event_count(), static_cast<size_t>(kManyEvents));
  EXPECT_EQ(columns.rows.size(), 1u);
  int64_t wrong = 0;
  for (int64_t i = 0; i < kManyEvents; ++i) {
    wrong += columns.start_ps[static_cast<size_t>(i)] != i * 1000;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(file->resident_bytes(), static_cast<uint64_t>(kManyEvents) * 25);
  EXPECT_EQ(file->EventOccurrences(0, 0, kManyEvents - 1), 1u);
}

// A mapping that costs only the pages that are written.
class SparseBytes : public storage::ByteSource {
 public:
  explicit SparseBytes(size_t size_bytes) : size_bytes_(size_bytes) {
    void* at = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = at == MAP_FAILED ? nullptr : static_cast<char*>(at);
  }
  ~SparseBytes() override {
    if (data_ != nullptr) munmap(data_, size_bytes_);
  }
  char* data() const { return data_; }
  std::string_view bytes() const override { return {data_, size_bytes_}; }
  const storage::FileIdentity& identity() const override { return identity_; }
  Status CheckUnchanged() const override { return OkStatus(); }
  uint64_t owned_bytes() const override { return 0; }

 private:
  char* data_ = nullptr;
  const size_t size_bytes_;
  storage::FileIdentity identity_;
};

TEST(ProfileFileTest, ALineBeyondFourGiB) {
  // Events, an unknown field of 4.5 GiB, events again.
  constexpr uint64_t kHoleBytes = uint64_t{9} << 29;
  LineBuilder first(1, "huge", 0);
  first.AddEvent(1, 100, 50).AddStat(3, int64_t{1});
  first.AddEvent(1, 120, 10);
  LineBuilder second(0, "", 0);
  second.AddEvent(1, 500, 50).AddStat(3, int64_t{2});
  second.AddEvent(1, 510, 5).AddStat(3, int64_t{3});
  std::string head = first.Serialize();
  wire::AppendTag(77, wire::WireType::kBytes, &head);
  wire::AppendVarint(kHoleBytes, &head);
  const std::string tail = second.Serialize();
  std::string start, plane_start;
  wire::AppendTag(3, wire::WireType::kBytes, &plane_start);
  wire::AppendVarint(head.size() + kHoleBytes + tail.size(), &plane_start);
  wire::AppendTag(1, wire::WireType::kBytes, &start);
  wire::AppendVarint(plane_start.size() + head.size() + kHoleBytes + tail.size(), &start);
  start += plane_start + head;
  const auto source = std::make_shared<SparseBytes>(start.size() + kHoleBytes + tail.size());
  if (source->data() == nullptr) GTEST_SKIP() << "NOT TESTED: no address space for 4.5 GiB";
  start.copy(source->data(), start.size());
  tail.copy(source->data() + start.size() + kHoleBytes, tail.size());

  const auto file = ProfileFile::Open(source, {});
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const LineColumns& line = (*file)->Line(0, 0);
  ASSERT_EQ(line.event_count(), 4u);
  EXPECT_TRUE((*file)->damage().empty());
  ASSERT_EQ(line.rows.size(), 2u);
  EXPECT_EQ(line.start_ps[1], 500);
  EXPECT_EQ(line.start_ps[3], 510);
  EXPECT_GT((*file)->EventOffset(0, 0, 1), uint64_t{1} << 32);
  EXPECT_EQ((*file)->EventStats(0, 0, 0)[0].int64_value, 1);
  EXPECT_EQ((*file)->EventStats(0, 0, 1)[0].int64_value, 2);
  EXPECT_EQ((*file)->EventStats(0, 0, 3)[0].int64_value, 3);
  EXPECT_LT((*file)->resident_bytes(), 100'000u);
}

// Gives back what another file decoded.
class Kept : public ColumnProvider {
 public:
  Kept(const ProfileFile& file, size_t plane, size_t line)
      : plane_(plane), line_(line), stored_(StoredLineOf(file, plane, line)) {}
  const StoredLine* Find(size_t plane, size_t line) const override {
    return plane == plane_ && line == line_ ? &stored_ : nullptr;
  }

 private:
  const size_t plane_;
  const size_t line_;
  const StoredLine stored_;
};

TEST(ProfileFileTest, StoredColumnsAreUsedInPlaceOfDecoding) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("p");
  const int64_t name = plane.AddEventMetadata("op");
  plane.AddLine(1, "a", 0).AddEvent(name, 5, 1).AddStat(plane.StatId("s"), int64_t{3});
  plane.AddLine(2, "b", 0).AddEvent(name, 6, 1);
  const std::string bytes = space.Serialize();
  const std::shared_ptr<ProfileFile> first = MustOpen(bytes);
  const auto provider = std::make_shared<Kept>(*first, 0, 0);
  const auto second = OpenWithColumns(std::make_shared<ExactBytes>(bytes), {}, provider);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)->Line(0, 0).start_ps.data(), first->Line(0, 0).start_ps.data());
  EXPECT_NE((*second)->Line(0, 1).start_ps.data(), first->Line(0, 1).start_ps.data());
  EXPECT_EQ((*second)->Line(0, 1).start_ps[0], 6);
  ASSERT_EQ((*second)->EventStats(0, 0, 0).size(), 1u);
  EXPECT_EQ((*second)->EventStats(0, 0, 0)[0].int64_value, 3);
}

TEST(ProfileFileTest, WorkCanBeCancelled) {
  XSpaceBuilder space;
  space.AddPlane("p").AddLine(1, "l", 0).AddEvent(1, 0, 1);
  const std::shared_ptr<ProfileFile> file = MustOpen(space.Serialize());
  CancelSource source;
  source.Cancel();
  std::atomic<uint64_t> progress{0};
  EXPECT_EQ(file->DecodeAll(source.token(), &progress).code(), StatusCode::kCancelled);
  EXPECT_FALSE(file->LineDecoded(0, 0));
  EXPECT_TRUE(file->DecodeAll(CancelToken(), &progress).ok());
  EXPECT_EQ(progress.load(), file->planes()[0].lines[0].bytes.size_bytes);
}

TEST(ProfileFileTest, LimitsAreNamed) {
  XSpaceBuilder space;
  for (int p = 0; p < 3; ++p) {
    PlaneBuilder& plane = space.AddPlane("p");
    for (int i = 0; i < 3; ++i) {
      plane.AddEventMetadata("m" + std::to_string(i));
      plane.StatId("s" + std::to_string(i));
      plane.AddLine(i, "l", 0);
    }
  }
  const std::string bytes = space.Serialize();
  for (int which = 0; which < 3; ++which) {
    OpenOptions options;
    if (which == 0) options.max_planes = 2;
    if (which == 1) options.max_lines_per_plane = 2;
    if (which == 2) options.max_metadata_per_plane = 2;
    const auto file = ProfileFile::Open(std::make_shared<ExactBytes>(bytes), options);
    ASSERT_TRUE(file.ok());
    const std::vector<Damage> damage = (*file)->damage();
    ASSERT_FALSE(damage.empty());
    EXPECT_EQ(damage[0].status.name(), "LIMIT_EXCEEDED");
    EXPECT_EQ(damage[0].status.code(), StatusCode::kResourceExhausted);
    EXPECT_EQ((*file)->planes().size(), which == 0 ? 2u : 3u);
    EXPECT_LE((*file)->planes()[0].lines.size(), which == 1 ? 2u : 3u);
  }
}

}  // namespace
}  // namespace strobe::xplane
