// The real profiles against what an independent reader (protobuf's own classes, in
// tests/python/xplane_reader.py) counted in them.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <set>
#include <string>

#include "src/wire/compress.h"
#include "src/xplane/test_bytes.h"

namespace strobe::xplane {
namespace {

using simdjson::dom::element;

constexpr const char* kGolden = "tests/golden/sessions.json";
#ifdef STROBE_ASAN
// Unoptimised and sanitized, the stats of two million events take minutes.
constexpr size_t kMaxEventsForStats = 20'000;
#else
constexpr size_t kMaxEventsForStats = 10'000'000;
#endif

int64_t NumberOr(element object, std::string_view key, int64_t otherwise) {
  int64_t value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? value : otherwise;
}

std::string_view TextOr(element object, std::string_view key, std::string_view otherwise) {
  std::string_view value;
  return object[key].get(value) == simdjson::SUCCESS ? value : otherwise;
}

std::string Unpacked(const std::filesystem::path& path) {
  const std::string bytes = ReadWholeFile(path);
  const wire::Compression kind = wire::DetectCompression(bytes);
  if (kind == wire::Compression::kNone) return bytes;
  std::string unpacked;
  const auto done = wire::Inflate(
      kind, bytes, {},
      [&](std::string_view part) {
        unpacked += part;
        return OkStatus();
      },
      CancelToken());
  EXPECT_TRUE(done.ok() && !done->partial);
  return unpacked;
}

void CheckRows(const LineColumns& line) {
  uint64_t next = 0;
  for (const LineColumns::Row& row : line.rows) {
    EXPECT_EQ(row.first, next);
    next += row.count;
  }
  EXPECT_EQ(next, line.event_count());
  for (const LineColumns::Row& row : line.timed_rows()) {
    for (uint32_t e = row.first + 1; e < row.first + row.count; ++e) {
      ASSERT_GE(line.start_ps[e], line.start_ps[e - 1] + line.duration_ps[e - 1]);
    }
  }
}

void CheckLine(const ProfileFile& file, size_t p, size_t l, element expected) {
  const Line& line = file.planes()[p].lines[l];
  const LineColumns& columns = file.Line(p, l);
  EXPECT_EQ(line.id, NumberOr(expected, "id", 0));
  EXPECT_EQ(line.name, TextOr(expected, "name", ""));
  EXPECT_EQ(line.timestamp_ns, NumberOr(expected, "timestamp_ns", 0));
  const std::string_view display =
      columns.display_name.empty() ? line.display_name : columns.display_name;
  EXPECT_EQ(display, TextOr(expected, "display_name", ""));
  EXPECT_EQ(columns.display_id != 0 ? columns.display_id : line.display_id,
            NumberOr(expected, "display_id", 0));
  EXPECT_EQ(static_cast<int64_t>(columns.event_count()), NumberOr(expected, "events", -1));
  EXPECT_EQ(static_cast<int64_t>(columns.aggregated), NumberOr(expected, "aggregated", 0));
  EXPECT_EQ(static_cast<int64_t>(columns.out_of_order),
            NumberOr(expected, "starts_before_previous", 0));
  EXPECT_FALSE(columns.damaged);
  EXPECT_EQ(columns.saturated, 0u);
  const int64_t shift = line.timestamp_ns * 1000 - line.base_ps;
  if (columns.event_count() > columns.aggregated) {
    EXPECT_EQ(columns.first_start_ps + shift, NumberOr(expected, "first_ps", -1));
    EXPECT_EQ(columns.last_end_ps + shift, NumberOr(expected, "last_ps", -1));
  }
  int64_t durations = 0;
  int64_t offsets = 0;
  int64_t zero = 0;
  std::set<uint32_t> names;
  for (size_t e = 0; e < columns.event_count(); ++e) {
    durations += columns.duration_ps[e];
    offsets += columns.start_ps[e] - line.base_ps;
    names.insert(columns.name[e]);
    zero += columns.duration_ps[e] == 0;
  }
  EXPECT_EQ(durations, NumberOr(expected, "sum_duration_ps", -1));
  EXPECT_EQ(offsets, NumberOr(expected, "sum_offset_ps", -1));
  EXPECT_EQ(static_cast<int64_t>(names.size()), NumberOr(expected, "distinct_names", 0));
  EXPECT_EQ(zero, NumberOr(expected, "zero_duration", 0));
  CheckRows(columns);
  if (columns.event_count() > kMaxEventsForStats) return;
  int64_t stats = 0;
  for (uint32_t e = 0; e < columns.event_count(); ++e) {
    stats += static_cast<int64_t>(file.EventStats(p, l, e).size());
  }
  EXPECT_EQ(stats, NumberOr(expected, "event_stats", 0));
}

void CheckPlane(const ProfileFile& file, size_t p, element expected) {
  const Plane& plane = file.planes()[p];
  EXPECT_EQ(plane.name, TextOr(expected, "name", ""));
  EXPECT_EQ(plane.id, NumberOr(expected, "id", 0));
  EXPECT_EQ(static_cast<int64_t>(plane.event_metadata.size()),
            NumberOr(expected, "event_metadata", -2) + 1);
  EXPECT_EQ(static_cast<int64_t>(plane.stat_metadata.size()),
            NumberOr(expected, "stat_metadata", -1));
  const std::vector<Stat> stats = file.PlaneStats(p);
  const simdjson::dom::array names = expected["stats"].get_array();
  ASSERT_EQ(stats.size(), names.size());
  for (size_t s = 0; s < stats.size(); ++s) {
    EXPECT_EQ(stats[s].name, names.at(s).get_string().value());
  }
  const simdjson::dom::array lines = expected["lines"].get_array();
  ASSERT_EQ(plane.lines.size(), lines.size());
  for (size_t l = 0; l < plane.lines.size(); ++l) {
    SCOPED_TRACE(std::string(plane.lines[l].name));
    CheckLine(file, p, l, lines.at(l).value());
  }
}

TEST(RealProfilesTest, AgreeWithTheIndependentReader) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  simdjson::dom::parser parser;
  element golden;
  ASSERT_EQ(parser.load(kGolden).get(golden), simdjson::SUCCESS)
      << "the real profiles are here but " << kGolden
      << " is not: run tests/python/make_expected.py";
  size_t checked = 0;
  for (const auto& [key, expected] : golden.get_object()) {
    if (TextOr(expected, "kind", "") != "xplane") continue;
    SCOPED_TRACE(std::string(key));
    const std::shared_ptr<ProfileFile> file = MustOpen(Unpacked(corpus / "sessions" / key));
    ASSERT_NE(file, nullptr);
    ASSERT_TRUE(file->DecodeAll(CancelToken(), nullptr).ok());
    EXPECT_TRUE(file->damage().empty());
    EXPECT_EQ(static_cast<int64_t>(file->errors().size()), NumberOr(expected, "errors", -1));
    EXPECT_EQ(static_cast<int64_t>(file->warnings().size()), NumberOr(expected, "warnings", -1));
    const simdjson::dom::array hosts = expected["hostnames"].get_array();
    ASSERT_EQ(file->hostnames().size(), hosts.size());
    for (size_t h = 0; h < hosts.size(); ++h) {
      EXPECT_EQ(file->hostnames()[h], hosts.at(h).get_string().value());
    }
    const simdjson::dom::array planes = expected["planes"].get_array();
    ASSERT_EQ(file->planes().size(), planes.size());
    for (size_t p = 0; p < planes.size(); ++p) {
      SCOPED_TRACE(std::string(file->planes()[p].name));
      CheckPlane(*file, p, planes.at(p).value());
    }
    ++checked;
  }
  EXPECT_GE(checked, 14u);
}

TEST(RealProfilesTest, TheDamagedFileSaysWhereAndServesTheRest) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  const auto opened =
      OpenBytes(ReadWholeFile(corpus / "broken" / "tpu_inference.utf8-damaged.xplane.pb"));
  if (!opened.ok()) {
    EXPECT_EQ(opened.status().name(), "XPLANE_NOT_A_PROFILE") << opened.status().ToString();
    return;
  }
  ASSERT_TRUE((*opened)->DecodeAll(CancelToken(), nullptr).ok());
  const std::vector<Damage> damage = (*opened)->damage();
  ASSERT_FALSE(damage.empty());
  EXPECT_TRUE(damage.front().status.name().starts_with("XPLANE_"));
  EXPECT_FALSE(damage.front().status.hint().empty());
}

}  // namespace
}  // namespace strobe::xplane
