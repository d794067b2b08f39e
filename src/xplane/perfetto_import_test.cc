#include "src/xplane/perfetto_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "src/wire/wire_writer.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using wire::AppendBytesField;
using wire::AppendDoubleField;
using wire::AppendFixed64Field;
using wire::AppendSignedField;
using wire::AppendVarintField;

// A message being made; field numbers are those of Perfetto's schema.
class Message {
 public:
  Message& Number(uint32_t field, uint64_t value) {
    AppendVarintField(field, value, &bytes_);
    return *this;
  }
  Message& Signed(uint32_t field, int64_t value) {
    AppendSignedField(field, value, &bytes_);
    return *this;
  }
  Message& Fixed(uint32_t field, uint64_t value) {
    AppendFixed64Field(field, value, &bytes_);
    return *this;
  }
  Message& Real(uint32_t field, double value) {
    AppendDoubleField(field, value, &bytes_);
    return *this;
  }
  Message& Text(uint32_t field, std::string_view text) {
    AppendBytesField(field, text, &bytes_);
    return *this;
  }
  Message& Child(uint32_t field, const Message& child) { return Text(field, child.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

constexpr uint32_t kTime = 8, kSequence = 10, kEvent = 11, kInterned = 12, kFlags = 13,
                   kDefaults = 59, kTrack = 60, kClocks = 6;
constexpr uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;

class Trace {
 public:
  Trace& Add(const Message& packet) {
    AppendBytesField(1, packet.bytes(), &bytes_);
    return *this;
  }
  Trace& Track(uint64_t uuid, std::string_view name, uint64_t parent) {
    Message track;
    track.Number(1, uuid).Text(2, name);
    if (parent != 0) track.Number(5, parent);
    return Add(Message().Child(kTrack, track));
  }
  Trace& Event(uint64_t time_ns, uint64_t track, uint64_t type, std::string_view name) {
    Message event;
    event.Number(9, type).Number(11, track);
    if (!name.empty()) event.Text(23, name);
    return Add(Message().Number(kTime, time_ns).Number(kSequence, 1).Child(kEvent, event));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct Imported {
  TraceImport import;
  std::shared_ptr<ProfileFile> file;
};

Imported Import(std::string_view bytes) {
  const ExactBytes exact(bytes);
  Result<TraceImport> import = ImportPerfetto(exact.bytes(), CancelToken());
  EXPECT_TRUE(import.ok()) << import.status().ToString();
  if (!import.ok()) return {};
  Imported imported{std::move(*import), nullptr};
  imported.file = MustOpen(imported.import.xspace);
  return imported;
}

// "plane/line: name@start+duration stat=value ...", in the order of the file.
std::vector<std::string> Describe(const ProfileFile& file) {
  std::vector<std::string> all;
  for (size_t p = 0; p < file.planes().size(); ++p) {
    const Plane& plane = file.planes()[p];
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      const LineColumns& line = file.Line(p, l);
      for (uint32_t e = 0; e < line.event_count(); ++e) {
        std::string text = std::string(plane.name) + "/" + std::string(plane.lines[l].name) + ": " +
                           std::string(plane.event_metadata[line.name[e]].name) + "@" +
                           std::to_string(line.start_ps[e]) + "+" +
                           std::to_string(line.duration_ps[e]);
        for (const Stat& stat : file.EventStats(p, l, e)) {
          text += " " + std::string(stat.name) + "=";
          if (stat.type == StatType::kString) text += stat.text;
          if (stat.type == StatType::kUint64) text += std::to_string(stat.uint64_value);
          if (stat.type == StatType::kInt64) text += std::to_string(stat.int64_value);
          if (stat.type == StatType::kDouble) text += std::to_string(stat.number);
        }
        all.push_back(text);
      }
    }
  }
  return all;
}

TEST(PerfettoImportTest, TracksWithinTracksArePlanesAndLines) {
  Trace trace;
  trace.Track(1, "/device:TPU:0", 0)
      .Track(2, "XLA Ops", 1)
      .Track(3, "deeper", 2)
      .Track(4, "alone", 0);
  trace.Event(100, 2, kBegin, "outer").Event(150, 2, kBegin, "inner").Event(160, 2, kEnd, "");
  trace.Event(300, 2, kEnd, "").Event(5, 3, kInstant, "now").Event(7, 4, kBegin, "open");
  const Imported imported = Import(trace.bytes());
  EXPECT_EQ(imported.import.events, 6u);
  EXPECT_THAT(Describe(*imported.file),
              UnorderedElementsAre("/device:TPU:0/XLA Ops: outer@100000+200000",
                                   "/device:TPU:0/XLA Ops: inner@150000+10000",
                                   "/device:TPU:0/XLA Ops / deeper: now@5000+0",
                                   "tracks/alone: open@7000+293000 unfinished=1"));
  EXPECT_TRUE(imported.file->warnings().empty());
}

TEST(PerfettoImportTest, PacketsNeedNotBeInOrderOfTime) {
  Trace trace;
  trace.Track(1, "t", 0);
  trace.Event(30, 1, kEnd, "")
      .Event(40, 1, kEnd, "")
      .Event(10, 1, kBegin, "a")
      .Event(20, 1, kBegin, "b");
  EXPECT_THAT(Describe(*Import(trace.bytes()).file),
              ElementsAre("tracks/t: a@10000+30000", "tracks/t: b@20000+10000"));
}

TEST(PerfettoImportTest, ProcessesThreadsAndTheirNames) {
  Trace trace;
  trace.Add(Message().Child(
      kTrack, Message().Number(1, 10).Child(3, Message().Number(1, 77).Text(6, "trainer"))));
  trace.Add(
      Message().Child(kTrack, Message().Number(1, 11).Number(5, 10).Child(
                                  4, Message().Number(1, 77).Number(2, 78).Text(5, "loader"))));
  trace.Add(Message().Child(
      kTrack, Message().Number(1, 12).Child(4, Message().Number(1, 77).Number(2, 79))));
  trace.Add(
      Message().Child(2, Message().Child(2, Message().Number(1, 79).Text(2, "from the tree"))));
  trace.Track(13, "queue", 10);
  trace.Event(1, 11, kInstant, "a")
      .Event(2, 12, kInstant, "b")
      .Event(3, 10, kInstant, "c")
      .Event(4, 13, kInstant, "d");
  const Imported imported = Import(trace.bytes());
  EXPECT_THAT(Describe(*imported.file),
              UnorderedElementsAre("trainer/loader: a@1000+0", "trainer/from the tree: b@2000+0",
                                   "trainer/trainer: c@3000+0", "trainer/queue: d@4000+0"));
  EXPECT_EQ(imported.file->planes()[0].id, 77);
}

TEST(PerfettoImportTest, InternedTextsArgumentsAndFlows) {
  Trace trace;
  trace.Track(1, "t", 0);
  Message interned;
  interned.Child(1, Message().Number(1, 1).Text(2, "cat"));
  interned.Child(2, Message().Number(1, 1).Text(2, "named"));
  interned.Child(3, Message().Number(1, 1).Text(2, "key"));
  interned.Child(29, Message().Number(1, 9).Text(2, "interned text"));
  Message event;
  event.Number(9, kInstant).Number(10, 1).Number(3, 1);
  event.Child(4, Message().Number(1, 1).Number(17, 9));
  event.Child(4, Message().Text(10, "n").Signed(4, -5));
  event.Child(4, Message().Text(10, "d").Real(5, 0.5));
  event.Child(4, Message().Text(10, "s").Text(6, "text"));
  event.Child(4, Message().Text(10, "yes").Number(2, 1));
  event.Child(4, Message().Text(10, "dict").Child(11, Message().Text(10, "x").Number(3, 7)));
  event.Child(4, Message()
                     .Text(10, "list")
                     .Child(12, Message().Number(3, 1))
                     .Child(12, Message().Number(3, 2)));
  event.Fixed(47, 3);
  // The track comes from the sequence's defaults.
  trace.Add(Message()
                .Number(kTime, 5)
                .Number(kSequence, 4)
                .Number(kFlags, 1)
                .Child(kDefaults, Message().Child(11, Message().Number(11, 1)))
                .Child(kInterned, interned)
                .Child(kEvent, event));
  // Another sequence knows nothing of that, nor does this one once it is cleared.
  trace.Add(Message()
                .Number(kTime, 6)
                .Number(kSequence, 5)
                .Child(kEvent, Message().Number(9, kInstant).Number(10, 1).Number(11, 1)));
  trace.Add(
      Message()
          .Number(kTime, 7)
          .Number(kSequence, 4)
          .Number(kFlags, 1)
          .Child(kEvent, Message().Number(9, kInstant).Number(10, 1).Number(11, 1).Fixed(48, 3)));
  EXPECT_THAT(Describe(*Import(trace.bytes()).file),
              ElementsAre("tracks/t: named@5000+0 cat=cat key=interned text n=-5 d=0.500000 s=text "
                          "yes=1 dict.x=7 list[0]=1 list[1]=2 flow=15",
                          "tracks/t: @6000+0", "tracks/t: @7000+0 flow=13"));
}

TEST(PerfettoImportTest, CountersAreALineOfTheirOwn) {
  Trace trace;
  trace.Track(1, "/device:GPU:0", 0);
  trace.Add(Message().Child(
      kTrack,
      Message().Number(1, 2).Text(2, "power").Number(5, 1).Child(8, Message().Number(4, 1000))));
  trace.Add(Message().Child(
      kTrack,
      Message().Number(1, 3).Text(2, "count").Number(5, 1).Child(8, Message().Number(5, 1))));
  const auto count = [&](uint64_t time, uint64_t track, Message value) {
    trace.Add(
        Message().Number(kTime, time).Child(kEvent, value.Number(9, kCounter).Number(11, track)));
  };
  count(10, 2, Message().Number(30, 5));
  count(20, 2, Message().Real(44, 1.5));
  count(30, 3, Message().Number(30, 2));
  count(40, 3, Message().Number(30, 3));
  EXPECT_THAT(Describe(*Import(trace.bytes()).file),
              ElementsAre("/device:GPU:0/_counters_: power@10000+0 value=5000.000000",
                          "/device:GPU:0/_counters_: power@20000+0 value=1500.000000",
                          "/device:GPU:0/_counters_: count@30000+0 value=2.000000",
                          "/device:GPU:0/_counters_: count@40000+0 value=5.000000"));
}

TEST(PerfettoImportTest, ClocksOfASequenceAndOfTheWall) {
  Trace trace;
  trace.Track(1, "t", 0);
  const auto clock = [](uint64_t id, uint64_t time) {
    return Message().Number(1, id).Number(2, time);
  };
  trace.Add(
      Message()
          .Number(kSequence, 1)
          .Child(kClocks,
                 Message()
                     .Child(1, clock(6, 1'000'000))
                     .Child(1, clock(1, 1'700'000'000'000'000'000))
                     .Child(1, clock(3, 400'000))
                     .Child(1, Message().Number(1, 64).Number(2, 0).Number(3, 1).Number(4, 1000))));
  const auto event = [&](uint64_t time, uint64_t clock_id, std::string_view name) {
    trace.Add(Message()
                  .Number(kTime, time)
                  .Number(58, clock_id)
                  .Number(kSequence, 1)
                  .Child(kEvent, Message().Number(9, kInstant).Number(11, 1).Text(23, name)));
  };
  event(2, 64, "incremental");
  event(3, 64, "further");
  event(406'000, 3, "monotonic");
  const Imported imported = Import(trace.bytes());
  // 1,002 us, 1,005 us and 1,006 us of the boot clock; the first is the origin.
  EXPECT_EQ(imported.file->origin_unix_ns(), 1'700'000'000'000'002'000);
  EXPECT_THAT(Describe(*imported.file),
              ElementsAre("tracks/t: incremental@0+0", "tracks/t: further@3000000+0",
                          "tracks/t: monotonic@4000000+0"));
}

TEST(PerfettoImportTest, WhatIsLeftOutIsTold) {
  Trace trace;
  trace.Track(1, "t", 0);
  trace.Add(Message().Number(kTime, 1).Child(1, Message()));
  trace.Add(Message().Text(50, "compressed"));
  trace.Add(Message().Child(kEvent, Message().Number(9, kInstant).Number(11, 1)));
  trace.Event(5, 1, kEnd, "").Event(6, 1, 99, "kind");
  const Imported imported = Import(trace.bytes());
  EXPECT_EQ(imported.file->warnings().size(), 5u)
      << ::testing::PrintToString(imported.file->warnings());
}

TEST(PerfettoImportTest, EveryTruncationKeepsWhatCameBefore) {
  Trace trace;
  trace.Track(1, "t", 0);
  for (uint64_t i = 0; i < 5; ++i) trace.Event(i, 1, kInstant, "event");
  uint64_t most = 0;
  for (size_t size = 1; size <= trace.bytes().size(); ++size) {
    const ExactBytes cut(std::string_view(trace.bytes()).substr(0, size));
    const Result<TraceImport> import = ImportPerfetto(cut.bytes(), CancelToken());
    if (!import.ok()) {
      EXPECT_EQ(import.status().name(), "PERFETTO_NOT_A_TRACE");
      continue;
    }
    EXPECT_GE(import->events, most);
    most = import->events;
  }
  EXPECT_EQ(most, 5u);
  CancelSource gone;
  gone.Cancel();
  EXPECT_EQ(ImportPerfetto(trace.bytes(), gone.token()).status().name(), "CANCELLED");
}

TEST(PerfettoImportTest, IsToldFromAnXSpaceByItsFirstBytes) {
  Trace trace;
  trace.Track(1, "t", 0);
  EXPECT_TRUE(LooksLikePerfetto(trace.bytes()));
  Trace timed;
  timed.Event(5, 1, kInstant, "event");
  EXPECT_TRUE(LooksLikePerfetto(timed.bytes()));
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU", 7);
  plane.AddLine(1, "python", 0).AddEvent(plane.AddEventMetadata("a"), 0, 5);
  plane.PlaneStats().AddStat(plane.StatId("s"), uint64_t{1});
  EXPECT_FALSE(LooksLikePerfetto(space.Serialize()));
  EXPECT_FALSE(LooksLikePerfetto(""));
  EXPECT_FALSE(LooksLikePerfetto("\x0a"));
  EXPECT_FALSE(LooksLikePerfetto("\x0a\xff\xff\xff\xff\xff\xff"));
}

}  // namespace
}  // namespace strobe::xplane
