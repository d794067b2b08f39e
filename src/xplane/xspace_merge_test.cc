#include "src/xplane/xspace_merge.h"

#include <gtest/gtest.h>

#include <map>

#include "src/wire/wire_writer.h"
#include "src/xplane/host_source.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

std::shared_ptr<ProfileFile> Merge(const std::vector<std::string>& parts,
                                   uint64_t* damaged_parts = nullptr) {
  XSpaceMerger merger;
  for (const std::string& part : parts) EXPECT_TRUE(merger.Add(part).ok());
  if (damaged_parts != nullptr) *damaged_parts = merger.damaged_parts();
  auto merged = std::move(merger).Finish();
  EXPECT_TRUE(merged.ok());
  return MustOpen(*merged);
}

// "name@start+duration{stat=value}" of every event of a line.
std::vector<std::string> Events(const ProfileFile& file, size_t plane, size_t line) {
  std::vector<std::string> events;
  const LineColumns& columns = file.Line(plane, line);
  for (uint32_t e = 0; e < columns.event_count(); ++e) {
    std::string text(file.planes()[plane].event_metadata[columns.name[e]].name);
    text +=
        "@" + std::to_string(columns.start_ps[e]) + "+" + std::to_string(columns.duration_ps[e]);
    for (const Stat& stat : file.EventStats(plane, line, e)) {
      text += "{" + std::string(stat.name) + "=";
      text += stat.text.empty() ? std::to_string(stat.IntOrUint()) : std::string(stat.text);
      text += "}";
    }
    events.push_back(text);
  }
  return events;
}

TEST(XSpaceMergeTest, OnePartStaysWhatItIs) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU", 3);
  LineBuilder& line = plane.AddLine(-7, "python", 5);
  line.SetDisplay(9, "shown");
  line.AddEvent(plane.AddEventMetadata("a"), 100, 10).AddStat(plane.StatId("n"), int64_t{4});
  plane.PlaneStats().AddStat(plane.StatId("p"), uint64_t{1});
  space.AddHostname("h").AddError("e").AddWarning("w");
  const auto file = Merge({space.Serialize()});
  ASSERT_EQ(file->planes().size(), 1u);
  EXPECT_EQ(file->planes()[0].id, 3);
  EXPECT_EQ(file->planes()[0].lines[0].id, -7);
  // Written behind the events, so known after decoding.
  EXPECT_EQ(file->Line(0, 0).display_name, "shown");
  EXPECT_EQ(file->Line(0, 0).display_id, 9);
  EXPECT_EQ(Events(*file, 0, 0), (std::vector<std::string>{"a@5100+10{n=4}"}));
  EXPECT_EQ(file->PlaneStats(0).size(), 1u);
  EXPECT_EQ(file->hostnames(), (std::vector<std::string>{"h"}));
  EXPECT_EQ(file->errors(), (std::vector<std::string>{"e"}));
  EXPECT_EQ(file->warnings(), (std::vector<std::string>{"w"}));
}

TEST(XSpaceMergeTest, IdsThatMeanOtherThingsGetNewOnes) {
  std::vector<std::string> parts;
  // The same names under other ids in each part; refs and metadata stats go with them.
  for (const bool swapped : {false, true}) {
    XSpaceBuilder space;
    PlaneBuilder& plane = space.AddPlane("/host:CPU");
    for (const char* name : {"a", "b"})
      plane.AddEventMetadata(swapped ? (*name == 'a' ? "b" : "a") : name);
    for (const char* name : {"n", "text"})
      plane.StatId(swapped ? (*name == 'n' ? "text" : "n") : name);
    const auto ref = static_cast<uint64_t>(plane.StatId(swapped ? "word two" : "word one"));
    plane.EventMetadataStats(plane.AddEventMetadata("a")).AddStat(plane.StatId("n"), int64_t{77});
    LineBuilder& line = plane.AddLine(1, "t", 0);
    const int64_t begin = swapped ? 1000 : 0;
    line.AddEvent(plane.AddEventMetadata("a"), begin, 1).AddStat(plane.StatId("n"), int64_t{1});
    line.AddEvent(plane.AddEventMetadata("b"), begin + 10, 1).AddRefStat(plane.StatId("text"), ref);
    parts.push_back(space.Serialize());
  }
  const auto file = Merge(parts);
  ASSERT_EQ(file->planes().size(), 1u);
  ASSERT_EQ(file->planes()[0].lines.size(), 1u);
  EXPECT_EQ(Events(*file, 0, 0),
            (std::vector<std::string>{"a@0+1{n=1}", "b@10+1{text=word one}", "a@1000+1{n=1}",
                                      "b@1010+1{text=word two}"}));
  // "a" is the same in both parts, its stat included: one entry, and the absent one.
  EXPECT_EQ(file->planes()[0].event_metadata.size(), 3u);
  for (uint32_t i = 0; i < 2; ++i) {
    if (file->planes()[0].event_metadata[i].name != "a") continue;
    ASSERT_EQ(file->MetadataStats(0, i).size(), 1u);
    EXPECT_EQ(file->MetadataStats(0, i)[0].name, "n");
    EXPECT_EQ(file->MetadataStats(0, i)[0].IntOrUint(), 77);
  }
}

TEST(XSpaceMergeTest, SameNameOtherContentsStaysApart) {
  std::vector<std::string> parts;
  for (const int64_t program : {1, 2}) {
    XSpaceBuilder space;
    PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
    const int64_t id = plane.AddEventMetadata("fusion.1");
    plane.EventMetadataStats(id).AddStat(plane.StatId("program_id"), program);
    plane.AddLine(1, "XLA Ops", 0).AddEvent(id, program * 100, 1);
    parts.push_back(space.Serialize());
  }
  const auto file = Merge(parts);
  const LineColumns& line = file->Line(0, 0);
  ASSERT_EQ(line.event_count(), 2u);
  EXPECT_EQ(file->MetadataStats(0, line.name[0])[0].IntOrUint(), 1);
  EXPECT_EQ(file->MetadataStats(0, line.name[1])[0].IntOrUint(), 2);
}

TEST(XSpaceMergeTest, LinesKeepTheirAbsoluteTime) {
  const auto part = [](int64_t timestamp_ns, int64_t offset_ps) {
    XSpaceBuilder space;
    PlaneBuilder& plane = space.AddPlane("/host:CPU");
    LineBuilder& line = plane.AddLine(1, "t", timestamp_ns);
    line.AddEvent(plane.AddEventMetadata("a"), offset_ps, 5);
    line.AddAggregatedEvent(plane.AddEventMetadata("sum"), 3, 50);
    return space.Serialize();
  };
  const auto file = Merge({part(100, 7), part(40, 1), part(300, 9)});
  EXPECT_EQ(file->planes()[0].lines[0].timestamp_ns, 40);
  const LineColumns& line = file->Line(0, 0);
  EXPECT_EQ(line.aggregated, 3u);
  std::vector<int64_t> starts;
  for (size_t e = 0; e + line.aggregated < line.event_count(); ++e) {
    starts.push_back(line.start_ps[e]);
  }
  EXPECT_EQ(starts, (std::vector<int64_t>{40'001, 100'007, 300'009}));
  EXPECT_EQ(file->EventOccurrences(0, 0, static_cast<uint32_t>(line.event_count() - 1)), 3u);
}

TEST(XSpaceMergeTest, PlanesByNameLinesById) {
  const auto part = [](std::vector<std::pair<const char*, int64_t>> lines) {
    XSpaceBuilder space;
    for (const auto& [name, id] : lines) {
      PlaneBuilder& plane = space.AddPlane(name);
      plane.AddLine(id, "t" + std::to_string(id), 0).AddEvent(plane.AddEventMetadata("e"), 0, 1);
    }
    return space.Serialize();
  };
  // Two planes of one name in one part stay two.
  const auto file =
      Merge({part({{"x", 1}, {"y", 1}, {"x", 2}}), part({{"z", 5}, {"x", 1}, {"x", 3}})});
  ASSERT_EQ(file->planes().size(), 4u);
  std::string seen;
  for (const Plane& plane : file->planes()) {
    seen += std::string(plane.name) + ":";
    for (const Line& line : plane.lines) seen += std::to_string(line.id) + ",";
  }
  EXPECT_EQ(seen, "x:1,y:1,x:2,3,z:5,");
  EXPECT_EQ(file->Line(0, 0).event_count(), 2u);
}

TEST(XSpaceMergeTest, PlaneStatsAndTextsOfLaterPartsOnlyWhenNew) {
  const auto part = [](uint64_t value, const char* extra) {
    XSpaceBuilder space;
    PlaneBuilder& plane = space.AddPlane("Task Environment");
    plane.PlaneStats().AddStat(plane.StatId("profile_start_time"), value);
    plane.PlaneStats().AddStat(plane.StatId(extra), value);
    space.AddHostname("host").AddWarning("lost").AddWarning(extra);
    return space.Serialize();
  };
  const auto file = Merge({part(1, "one"), part(2, "two")});
  std::string stats;
  for (const Stat& stat : file->PlaneStats(0)) {
    stats += std::string(stat.name) + "=" + std::to_string(stat.IntOrUint()) + " ";
  }
  EXPECT_EQ(stats, "profile_start_time=1 one=1 two=2 ");
  EXPECT_EQ(file->hostnames(), (std::vector<std::string>{"host"}));
  EXPECT_EQ(file->warnings(), (std::vector<std::string>{"lost", "one", "two"}));
}

TEST(XSpaceMergeTest, AnyCutOfAPartIsMergedUpToThere) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  LineBuilder& line = plane.AddLine(1, "t", 1000);
  for (int64_t i = 0; i < 20; ++i) line.AddEvent(plane.AddEventMetadata("a"), i * 10, 5);
  const std::string whole = space.Serialize();
  for (size_t size = 0; size < whole.size(); ++size) {
    XSpaceMerger merger;
    ASSERT_TRUE(merger.Add(whole).ok());
    ASSERT_TRUE(merger.Add(whole.substr(0, size)).ok());
    const auto merged = std::move(merger).Finish();
    ASSERT_TRUE(merged.ok());
    const auto file = MustOpen(*merged);
    ASSERT_GE(file->Line(0, 0).event_count(), 20u);
    ASSERT_LE(file->Line(0, 0).event_count(), 40u);
  }
  uint64_t damaged = 0;
  Merge({whole, whole.substr(0, whole.size() - 3)}, &damaged);
  EXPECT_EQ(damaged, 1u);
}

TEST(XSpaceMergeTest, UnknownFieldsAreKept) {
  std::string space;
  std::string plane;
  wire::AppendBytesField(2, "p", &plane);
  wire::AppendBytesField(99, "of the plane", &plane);
  wire::AppendBytesField(1, plane, &space);
  wire::AppendVarintField(77, 12345, &space);
  XSpaceMerger merger;
  ASSERT_TRUE(merger.Add(space).ok());
  const auto merged = std::move(merger).Finish();
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(*merged, space);
}

// A real ring capture; the numbers are those of its TRUTH file and of the tests' Python reader.
TEST(XSpaceMergeTest, RealRingCapture) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  const auto sessions = ListSessions((corpus / "sessions/cpu-jax-ring").string(), {});
  ASSERT_TRUE(sessions.ok());
  ASSERT_EQ(sessions->size(), 1u);
  ASSERT_EQ((*sessions)[0].files.size(), 1u);
  EXPECT_EQ((*sessions)[0].files[0].host, "strobe-host-0");
  const auto opened = OpenHostFile((*sessions)[0].files[0], testing::TempDir(), CancelToken());
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  const ProfileFile& file = **opened;
  EXPECT_TRUE(file.damage().empty());
  ASSERT_EQ(file.planes().size(), 2u);
  EXPECT_EQ(file.planes()[0].name, "/host:CPU");
  EXPECT_EQ(file.planes()[1].name, "Task Environment");
  ASSERT_EQ(file.planes()[0].lines.size(), 2u);
  std::map<std::string_view, size_t> line_of;
  for (size_t l = 0; l < 2; ++l) line_of[file.planes()[0].lines[l].name] = l;
  ASSERT_TRUE(line_of.contains("python"));
  const size_t python = line_of["python"];
  EXPECT_EQ(file.Line(0, python).event_count(), 5392u);
  EXPECT_EQ(file.Line(0, 1 - python).event_count(), 2100u);
  const LineColumns& line = file.Line(0, python);
  std::map<std::string_view, size_t> counts;
  std::map<int64_t, int64_t> payload_of_step;
  std::vector<int64_t> steps;
  for (uint32_t e = 0; e < line.event_count(); ++e) {
    const std::string_view name = file.planes()[0].event_metadata[line.name[e]].name;
    ++counts[name];
    for (const Stat& stat : file.EventStats(0, python, e)) {
      const std::string text(stat.text);
      const int64_t value = text.empty() ? stat.IntOrUint() : std::stoll("0" + text);
      if (name == "train" && stat.name == "step_num") steps.push_back(value);
      if (name == "payload" && stat.name == "n") payload_of_step[value / 7] = value;
    }
  }
  EXPECT_EQ(counts["train"], 300u);
  EXPECT_EQ(counts["payload"], 300u);
  EXPECT_EQ(counts["PjitFunction(<lambda>)"], 600u);
  std::sort(steps.begin(), steps.end());
  ASSERT_EQ(steps.size(), 300u);
  ASSERT_EQ(payload_of_step.size(), 300u);
  for (int64_t i = 0; i < 300; ++i) {
    EXPECT_EQ(steps[static_cast<size_t>(i)], i);
    EXPECT_EQ(payload_of_step[i], 7 * i);
  }
}

}  // namespace
}  // namespace strobe::xplane
