#include "src/engine/trace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <map>

#include "src/wire/wire_reader.h"

namespace strobe::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using wire::WireField;
using wire::WireReader;
using xplane::Stat;
using xplane::StatType;

Stat Text(std::string_view name, std::string_view text) {
  Stat stat;
  stat.name = name;
  stat.type = StatType::kString;
  stat.text = text;
  return stat;
}
Stat Whole(std::string_view name, int64_t value) {
  Stat stat;
  stat.name = name;
  stat.type = StatType::kInt64;
  stat.int64_value = value;
  return stat;
}

// All of a small trace: nested slices, a flow, a counter, strange names.
std::string WriteSample(TraceWriter& trace) {
  const uint64_t process = trace.AddProcess("/device:TPU:0");
  const uint64_t ops = trace.AddTrack(process, "XLA Ops");
  const std::vector<Stat> arguments = {Text("source", "a\"b\xff"), Whole("bytes", -3),
                                       Whole("bytes", int64_t{1} << 60)};
  const TraceFlow begins{7, true};
  const TraceFlow ends{7, false};
  trace.Slice({.track = ops,
               .start_ps = 1'234'567,
               .duration_ps = 2'000'000,
               .name = "outer",
               .arguments = arguments,
               .flows = {&begins, 1}});
  trace.Slice({.track = ops,
               .start_ps = 2'000'000,
               .duration_ps = 0,
               .name = "inner",
               .flows = {&ends, 1}});
  const uint64_t counter = trace.AddCounter(process, "memory", "used");
  trace.Count(counter, 3'000'000, 1.5);
  std::string text = trace.Take();
  trace.Count(counter, -1'000'500, 2);
  trace.Finish({.events = 4, .events_without_time = 1, .hosts_not_read = {"host7"}});
  return text + trace.Take();
}

TEST(ChromeTraceWriterTest, IsJsonThatSaysEverythingExactly) {
  const auto trace =
      MakeChromeTraceWriter({.session = "run/s1", .origin_unix_ns = 1'700'000'000'000'000'000});
  const std::string text = WriteSample(*trace);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const simdjson::padded_string padded(text);
  ASSERT_EQ(parser.parse(padded).get(root), simdjson::SUCCESS) << text;
  EXPECT_EQ(root["baseTimeNanoseconds"].get_int64().value(), 1'700'000'000'000'000'000);
  EXPECT_EQ(root["otherData"]["hosts_not_read"].at(0).get_string().value(), "host7");
  std::vector<std::string> phases;
  for (const auto event : root["traceEvents"].get_array()) {
    phases.emplace_back(event["ph"].get_string().value());
  }
  EXPECT_THAT(phases, ElementsAre("M", "M", "M", "M", "X", "s", "X", "f", "C", "C"));
  EXPECT_THAT(text, HasSubstr("\"ts\":1.234567,\"dur\":2,\"name\":\"outer\""));
  EXPECT_THAT(text, HasSubstr("\"ts\":2,\"dur\":0,\"name\":\"inner\""));
  EXPECT_THAT(text, HasSubstr("\"ts\":-1.0005"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "{\"source\":\"a\\\"b\xEF\xBF\xBD\",\"bytes\":-3,\"bytes #2\":\"1152921504606846976\"}"));
  EXPECT_THAT(text, HasSubstr("\"id\":\"0x0000000000000007\""));
  EXPECT_THAT(text, HasSubstr("{\"used\":1.5}"));
}

TEST(ChromeTraceWriterTest, AnEmptyTraceIsJsonToo) {
  const auto trace = MakeChromeTraceWriter({});
  trace->Finish({});
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const simdjson::padded_string padded(trace->Take());
  ASSERT_EQ(parser.parse(padded).get(root), simdjson::SUCCESS);
  EXPECT_EQ(root["traceEvents"].get_array().size(), 0u);
}

// What a reader of Perfetto's schema makes of it; independent of the writer.
struct ReadEvent {
  uint64_t timestamp_ns = 0;
  uint64_t type = 0;  // 1 begin, 2 end, 3 instant, 4 counter
  uint64_t track = 0;
  std::string name;
  double counter = 0;
  std::map<std::string, std::string> arguments;
  std::vector<uint64_t> flows;
  std::vector<uint64_t> flow_ends;
};
struct ReadTrace {
  std::map<uint64_t, std::string> tracks;
  std::map<uint64_t, uint64_t> parents;
  std::vector<ReadEvent> events;
  int cleared = 0;
};

class PerfettoReader {
 public:
  ReadTrace Read(std::string_view bytes) {
    ForEach(bytes, [&](const WireField& field) {
      EXPECT_EQ(field.number, 1u);
      Packet(field.bytes);
    });
    return std::move(trace_);
  }

 private:
  template <typename Visit>
  static void ForEach(std::string_view bytes, Visit visit) {
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) visit(field);
    EXPECT_EQ(reader.error(), wire::WireError::kNone);
  }

  void Packet(std::string_view packet) {
    // Flags and interned texts count for the whole packet, wherever they stand.
    ForEach(packet, [&](const WireField& field) {
      if (field.number == 13 && (field.value & 1) != 0) {
        ++trace_.cleared;
        names_.clear();
      }
    });
    ForEach(packet, [&](const WireField& field) {
      if (field.number != 12) return;
      ForEach(field.bytes, [&](const WireField& entry) {
        uint64_t id = 0;
        std::string text;
        ForEach(entry.bytes, [&](const WireField& part) {
          if (part.number == 1) id = part.value;
          if (part.number == 2) text = part.bytes;
        });
        names_[{entry.number, id}] = text;
      });
    });
    uint64_t timestamp = 0;
    ForEach(packet, [&](const WireField& field) {
      if (field.number == 8) timestamp = field.value;
      if (field.number == 60) Track(field.bytes);
    });
    ForEach(packet, [&](const WireField& field) {
      if (field.number == 11) Event(timestamp, field.bytes);
    });
  }

  void Track(std::string_view descriptor) {
    uint64_t id = 0;
    uint64_t parent = 0;
    std::string name;
    ForEach(descriptor, [&](const WireField& field) {
      if (field.number == 1) id = field.value;
      if (field.number == 5) parent = field.value;
      if (field.number == 2) name = field.bytes;
    });
    trace_.tracks[id] = name;
    trace_.parents[id] = parent;
  }

  void Event(uint64_t timestamp, std::string_view bytes) {
    ReadEvent event{.timestamp_ns = timestamp};
    ForEach(bytes, [&](const WireField& field) {
      if (field.number == 9) event.type = field.value;
      if (field.number == 10) event.name = names_.at({2, field.value});
      if (field.number == 11) event.track = field.value;
      if (field.number == 44) event.counter = field.double_value();
      if (field.number == 47) event.flows.push_back(field.value);
      if (field.number == 48) event.flow_ends.push_back(field.value);
      if (field.number == 4) Argument(field.bytes, &event);
    });
    trace_.events.push_back(event);
  }

  void Argument(std::string_view bytes, ReadEvent* event) {
    std::string name;
    std::string value;
    ForEach(bytes, [&](const WireField& field) {
      if (field.number == 1) name = names_.at({3, field.value});
      if (field.number == 3) value = std::to_string(field.value);
      if (field.number == 4) value = std::to_string(field.signed_value());
      if (field.number == 5) value = std::to_string(field.double_value());
      if (field.number == 17) value = names_.at({29, field.value});
    });
    event->arguments[name] = value;
  }

  ReadTrace trace_;
  std::map<std::pair<uint32_t, uint64_t>, std::string> names_;
};

TEST(PerfettoTraceWriterTest, SaysEverythingInNanoseconds) {
  const auto trace = MakePerfettoTraceWriter({.first_ps = -1'000'500});
  const ReadTrace read = PerfettoReader().Read(WriteSample(*trace));
  EXPECT_EQ(read.cleared, 1);
  ASSERT_EQ(read.tracks.size(), 3u);
  EXPECT_EQ(read.tracks.at(2), "XLA Ops");
  EXPECT_EQ(read.parents.at(2), 1u);
  EXPECT_EQ(read.tracks.at(3), "memory: used");
  ASSERT_EQ(read.events.size(), 6u);
  // All times are 1,001 ns later, so that none is negative.
  const ReadEvent& outer = read.events[0];
  EXPECT_EQ(outer.name, "outer");
  EXPECT_EQ(outer.timestamp_ns, 1'234u + 1'001);
  EXPECT_EQ(outer.arguments.at("source"), "a\"b\xEF\xBF\xBD");
  EXPECT_EQ(outer.arguments.at("bytes"), "-3");
  EXPECT_EQ(outer.arguments.at("bytes #2"), "1152921504606846976");
  EXPECT_EQ(outer.arguments.at("start_ps"), "1234567");
  EXPECT_EQ(outer.arguments.at("duration_ps"), "2000000");
  EXPECT_THAT(outer.flows, ElementsAre(7));
  EXPECT_EQ(read.events[1].timestamp_ns, 3'234u + 1'001);
  const ReadEvent& inner = read.events[2];
  EXPECT_EQ(inner.timestamp_ns, 2'000u + 1'001);
  EXPECT_TRUE(inner.arguments.empty());
  EXPECT_THAT(inner.flow_ends, ElementsAre(7));
  EXPECT_EQ(read.events[4].counter, 1.5);
  EXPECT_EQ(read.events[5].timestamp_ns, 0u);
}

TEST(PerfettoTraceWriterTest, ForgetsTextsBeforeTheyFillTheMemory) {
  const auto trace = MakePerfettoTraceWriter({});
  const uint64_t track = trace->AddTrack(trace->AddProcess("p"), "t");
  const size_t size = 1 << 20;
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    const std::string text = std::string(size, 'x') + std::to_string(i);
    const Stat stat = Text("text", text);
    trace->Slice({.track = track,
                  .start_ps = i * 1000,
                  .duration_ps = 1000,
                  .name = "n",
                  .arguments = {&stat, 1}});
    bytes += trace->Take();
  }
  const ReadTrace read = PerfettoReader().Read(bytes);
  EXPECT_EQ(read.cleared, 3);
  ASSERT_EQ(read.events.size(), 80u);
  EXPECT_EQ(read.events[78].arguments.at("text").substr(size), "39");
}

}  // namespace
}  // namespace strobe::engine
