#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "src/engine/session_for_test.h"
#include "src/xplane/perfetto_import.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/trace_json_import.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using xplane::LineBuilder;
using xplane::PlaneBuilder;

// A device with nested ops, steps, modules and counters; a host thread that launches them.
std::string Profile() {
  xplane::XSpaceBuilder space;
  PlaneBuilder& device = space.AddPlane("/device:TPU:0");
  const int64_t outer = device.AddEventMetadata("while.1");
  const int64_t inner = device.AddEventMetadata("%fusion.3 = f32[]", "fusion.3");
  device.EventMetadataStats(inner).AddStat(device.StatId("flops"), uint64_t{64});
  LineBuilder& steps = device.AddLine(1, "Steps", 0);
  for (int s = 0; s < 4; ++s) {
    steps.AddEvent(device.AddEventMetadata(std::to_string(s)), s * 1'000'000, 900'000);
  }
  LineBuilder& modules = device.AddLine(2, "XLA Modules", 0);
  modules.AddEvent(device.AddEventMetadata("jit_f(1)"), 0, 3'000'000);
  LineBuilder& ops = device.AddLine(3, "XLA Ops", 0);
  for (int e = 0; e < 10; ++e) {
    ops.AddEvent(outer, e * 100'000, 50'000);
    ops.AddEvent(inner, e * 100'000 + 10'001, 20'000)
        .AddStat(device.StatId("bytes_accessed"), static_cast<uint64_t>(e))
        .AddStat(device.StatId("flow"), uint64_t{(static_cast<uint64_t>(e + 1) << 2) | 1});
  }
  LineBuilder& counters = device.AddLine(4, "_counters_", 0);
  for (int e = 0; e < 5; ++e) {
    counters.AddEvent(device.AddEventMetadata("HBM"), e * 1000, 0)
        .AddStat(device.StatId("bytes"), static_cast<uint64_t>(e * 10));
  }
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  LineBuilder& python = host.AddLine(7, "python", 0);
  for (int e = 0; e < 10; ++e) {
    python.AddEvent(host.AddEventMetadata("Launch"), e * 100'000, 5'000)
        .AddStat(host.StatId("flow"), uint64_t{(static_cast<uint64_t>(e + 1) << 2) | 2});
  }
  LineBuilder& overlapping = host.AddLine(8, "async", 0);
  overlapping.AddEvent(host.AddEventMetadata("a"), 0, 100'000);
  overlapping.AddEvent(host.AddEventMetadata("b"), 50'000, 100'000);
  return space.Serialize();
}

struct Exported {
  std::string bytes;
  ExportSummary summary;
};

Exported MustExport(OpenedSession* session, const ExportQuery& query) {
  Exported exported;
  const Result<ExportSummary> done = session->Export(
      query,
      [&](std::string piece) {
        exported.bytes += piece;
        return true;
      },
      CancelToken());
  EXPECT_TRUE(done.ok()) << done.status().ToString();
  if (done.ok()) exported.summary = *done;
  EXPECT_EQ(exported.bytes.size(), exported.summary.size_bytes);
  return exported;
}

std::shared_ptr<xplane::ProfileFile> ReadBack(const std::string& json) {
  const auto import = xplane::ImportTraceJson(json, CancelToken());
  EXPECT_TRUE(import.ok()) << import.status().ToString();
  if (!import.ok()) return nullptr;
  EXPECT_TRUE(import->damage.empty());
  return xplane::MustOpen(import->xspace);
}

// "plane/line: name@start+duration" of every event, sorted.
std::vector<std::string> EventsOf(const xplane::ProfileFile& file, bool with_rows = true) {
  std::vector<std::string> events;
  for (size_t p = 0; p < file.planes().size(); ++p) {
    const xplane::Plane& plane = file.planes()[p];
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      std::string line(plane.lines[l].label());
      if (!with_rows) line = line.substr(0, line.rfind(" ("));
      const xplane::LineColumns& columns = file.Line(p, l);
      for (uint32_t e = 0; e < columns.event_count(); ++e) {
        events.push_back(std::string(plane.name) + "/" + line + ": " +
                         std::string(plane.event_metadata[columns.name[e]].label()) + "@" +
                         std::to_string(columns.start_ps[e]) + "+" +
                         std::to_string(columns.duration_ps[e]));
      }
    }
  }
  std::ranges::sort(events);
  return events;
}

TEST(SessionExportTest, ChromeGivesBackEveryEventExactly) {
  const std::string bytes = Profile();
  const SessionForTest made({{"host0", bytes}});
  const Exported exported = MustExport(made.session(), {});
  const auto original = xplane::MustOpen(bytes);
  const auto back = ReadBack(exported.bytes);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(EventsOf(*back, /*with_rows=*/false), EventsOf(*original, /*with_rows=*/false));
  EXPECT_EQ(exported.summary.events, EventsOf(*original).size());
  // Stats of the event, of its metadata, and the long name.
  EXPECT_THAT(exported.bytes, HasSubstr("\"bytes_accessed\":9"));
  EXPECT_THAT(exported.bytes, HasSubstr("\"flops\":64"));
  EXPECT_THAT(exported.bytes, HasSubstr("\"long_name\":\"%fusion.3 = f32[]\""));
  // Ten launches with ten ops: as many arrows as begin end.
  const auto count = [&](std::string_view text) {
    size_t found = 0;
    for (size_t at = 0; (at = exported.bytes.find(text, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("\"ph\":\"s\""), 10u);
  EXPECT_EQ(count("\"ph\":\"f\""), 10u);
}

// What our own reader of the format finds: every event, in whole nanoseconds.
TEST(SessionExportTest, PerfettoGivesBackEveryEvent) {
  const std::string bytes = Profile();
  const SessionForTest made({{"host0", bytes}});
  const Exported exported = MustExport(made.session(), {.format = ExportFormat::kPerfetto});
  const auto import = xplane::ImportPerfetto(exported.bytes, CancelToken());
  ASSERT_TRUE(import.ok()) << import.status().ToString();
  EXPECT_TRUE(import->damage.empty());
  const auto back = xplane::MustOpen(import->xspace);
  EXPECT_TRUE(back->warnings().empty()) << ::testing::PrintToString(back->warnings());
  // Times within a nanosecond of what they were, the same names on the same lines.
  const std::vector<std::string> found = EventsOf(*back, /*with_rows=*/false);
  std::vector<std::string> wanted = EventsOf(*xplane::MustOpen(bytes), /*with_rows=*/false);
  for (std::string& event : wanted) {
    const size_t at = event.rfind("@");
    const size_t plus = event.rfind("+");
    const int64_t start = std::stoll(event.substr(at + 1, plus - at - 1));
    const int64_t end = start + std::stoll(event.substr(plus + 1));
    const int64_t floor_start = start / 1000 * 1000;
    event = event.substr(0, at) + "@" + std::to_string(floor_start) + "+" +
            std::to_string(end / 1000 * 1000 - floor_start);
    // Counters are named by their series there.
    if (event.find("_counters_: HBM") != std::string::npos)
      event.replace(event.find("HBM"), 3, "HBM: bytes");
  }
  std::ranges::sort(wanted);
  EXPECT_EQ(found, wanted);
}

TEST(SessionExportTest, OnlyTheLinesAndTheSpanThatWereAskedFor) {
  const SessionForTest made({{"host0", Profile()}});
  const Exported ops = MustExport(made.session(), {.lines = {{0, 0, 2}}});
  const auto back = ReadBack(ops.bytes);
  ASSERT_EQ(back->planes().size(), 1u);
  ASSERT_EQ(back->planes()[0].lines.size(), 1u);
  EXPECT_EQ(ops.summary.events, 20u);
  // The other ends of the arrows are not written.
  EXPECT_THAT(ops.bytes, Not(HasSubstr("\"ph\":\"f\"")));
  // Those that touch the span: three outer ones and an inner one between.
  const Exported span = MustExport(
      made.session(),
      {.lines = {{0, 0, 2}}, .from_ps = 140'000, .to_ps = 310'000, .stats = false, .flows = false});
  EXPECT_EQ(span.summary.events, 4u);
  EXPECT_THAT(span.bytes, Not(HasSubstr("args\":{\"bytes")));
  EXPECT_EQ(made.session()->CheckExport({.lines = {{0, 9, 0}}}).name(), "LINE_UNKNOWN");
}

TEST(SessionExportTest, GoesInPiecesAndStopsWhenNobodyTakesThem) {
  xplane::XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  LineBuilder& line = plane.AddLine(1, "python", 0);
  const int64_t name = plane.AddEventMetadata("call");
  for (int e = 0; e < 50'000; ++e) line.AddEvent(name, e * 1000, 500);
  const SessionForTest made({{"host0", space.Serialize()}});
  for (const ExportFormat format : {ExportFormat::kChrome, ExportFormat::kPerfetto}) {
    size_t pieces = 0;
    size_t largest = 0;
    const Result<ExportSummary> done = made.session()->Export(
        {.format = format},
        [&](std::string piece) {
          ++pieces;
          largest = std::max(largest, piece.size());
          return true;
        },
        CancelToken());
    ASSERT_TRUE(done.ok());
    EXPECT_EQ(done->events, 50'000u);
    EXPECT_GT(pieces, 5u);
    EXPECT_LT(largest, 2 * kExportPieceBytes);
    size_t taken = 0;
    const Result<ExportSummary> stopped = made.session()->Export(
        {.format = format}, [&](const std::string&) { return ++taken < 2; }, CancelToken());
    EXPECT_EQ(stopped.status().name(), "CANCELLED");
    EXPECT_EQ(taken, 2u);
  }
}

TEST(SessionExportTest, AHostThatCannotBeReadIsNamed) {
  const SessionForTest made({{"host0", Profile()}, {"host1", "This is text."}});
  const Exported exported = MustExport(made.session(), {});
  EXPECT_THAT(exported.summary.hosts_not_read, ElementsAre("host1"));
  EXPECT_THAT(exported.bytes, HasSubstr("\"hosts_not_read\":[\"host1\"]"));
  EXPECT_THAT(exported.bytes, HasSubstr("host0 /device:TPU:0"));
}

TEST(SessionSearchTest, ExpressionsOverTheWholeSession) {
  const SessionForTest made({{"host0", Profile()}, {"host1", Profile()}});
  const auto search = [&](SearchQuery query) {
    query.expression = true;
    const Result<SearchResult> found = made.session()->Search(query, CancelToken());
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    return found.ok() ? *found : SearchResult();
  };
  const SearchResult found = search({.text = "stat:bytes_accessed>=7 and host:host1", .limit = 2});
  EXPECT_EQ(found.total, 3u);
  EXPECT_EQ(found.names, 1u);
  ASSERT_EQ(found.hits.size(), 2u);
  EXPECT_EQ(found.hits[0].name, "fusion.3");
  EXPECT_EQ(found.hits[0].event.host, 1u);
  EXPECT_EQ(found.hits[0].start_ps, 710'001);
  const SearchResult near = search({.text = "Launch", .near = found.hits[0].event, .limit = 0});
  ASSERT_TRUE(near.near.has_value());
  EXPECT_EQ(near.total, 20u);
  EXPECT_EQ(near.near->rank, 16u);
  EXPECT_FALSE(near.near->is_hit);
  EXPECT_EQ(near.near->previous->start_ps, 700'000);
  EXPECT_EQ(near.near->next->start_ps, 800'000);
  const Result<SearchResult> plain =
      made.session()->Search({.text = "launch", .near_ps = 100'000}, CancelToken());
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->near->rank, 2u);
  EXPECT_EQ(plain->near->next->start_ps, 100'000);
  EXPECT_EQ(
      made.session()->Search({.text = "(", .expression = true}, CancelToken()).status().name(),
      "SEARCH_EXPRESSION");
}

TEST(SessionCurvesTest, CountersAndMarks) {
  const SessionForTest made({{"host0", Profile()}});
  const Result<CounterList> list = made.session()->Counters(CancelToken());
  ASSERT_TRUE(list.ok()) << list.status().ToString();
  ASSERT_EQ(list->counters.size(), 1u);
  const CounterInfo& counter = list->counters[0];
  EXPECT_EQ(counter.name, "HBM");
  EXPECT_EQ(counter.group, "");
  EXPECT_EQ(counter.unit, "bytes");
  EXPECT_EQ(counter.samples, 5u);
  EXPECT_EQ(counter.max, 40);
  EXPECT_EQ(counter.line, 3u);
  const Result<CounterCurve> curve = made.session()->Counter(
      {.id = counter.id, .from_ps = 1000, .to_ps = 5000, .buckets = 2}, CancelToken());
  ASSERT_TRUE(curve.ok());
  EXPECT_EQ(curve->buckets.before->value, 0);
  EXPECT_THAT(curve->buckets.max, ElementsAre(20, 40));
  EXPECT_EQ(made.session()->Counter({.id = "0.0.9.9"}, CancelToken()).status().name(),
            "COUNTER_UNKNOWN");

  const Result<SessionMarks> marks =
      made.session()->Marks({.from_ps = 950'000, .to_ps = 3'500'000, .limit = 2}, CancelToken());
  ASSERT_TRUE(marks.ok()) << marks.status().ToString();
  EXPECT_EQ(marks->steps.total, 3u);
  ASSERT_EQ(marks->steps.items.size(), 2u);
  EXPECT_EQ(marks->steps.items[0].name, "1");
  EXPECT_EQ(marks->steps_line, (LineRef{0, 0, 0}));
  ASSERT_EQ(marks->modules.size(), 1u);
  EXPECT_EQ(marks->modules[0].list.items[0].name, "jit_f(1)");
}

TEST(SessionCurvesTest, ASessionWithoutStepsSaysWhy) {
  xplane::XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  plane.AddLine(1, "python", 0).AddEvent(plane.AddEventMetadata("call"), 0, 5);
  const SessionForTest made({{"host0", space.Serialize()}});
  const Result<SessionMarks> marks = made.session()->Marks({}, CancelToken());
  ASSERT_TRUE(marks.ok());
  EXPECT_EQ(marks->steps_source, "");
  EXPECT_NE(marks->steps_reason, "");
  EXPECT_TRUE(marks->modules.empty());
}

}  // namespace
}  // namespace strobe::engine
