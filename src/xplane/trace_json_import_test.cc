#include "src/xplane/trace_json_import.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "src/wire/compress.h"
#include "src/xplane/json_cursor.h"
#include "src/xplane/session.h"
#include "src/xplane/test_bytes.h"

namespace strobe::xplane {
namespace {

struct Imported {
  TraceImport import;
  std::shared_ptr<ProfileFile> file;
};

Imported Import(std::string_view json) {
  // Bytes that end where the allocation ends: nothing may be read behind them.
  const ExactBytes exact(json);
  auto import = ImportTraceJson(exact.bytes(), CancelToken());
  EXPECT_TRUE(import.ok()) << import.status().ToString();
  Imported imported;
  if (!import.ok()) return imported;
  imported.import = *std::move(import);
  if (!imported.import.xspace.empty()) imported.file = MustOpen(imported.import.xspace);
  return imported;
}

Status ImportError(std::string_view json) { return ImportTraceJson(json, CancelToken()).status(); }

std::string StatText(const Stat& stat) {
  switch (stat.type) {
    case StatType::kDouble:
      return std::to_string(stat.number);
    case StatType::kInt64:
    case StatType::kUint64:
      return std::to_string(stat.IntOrUint());
    default:
      return "'" + std::string(stat.text) + "'";
  }
}

// "plane/line: name@start+duration key=value ..." for every event.
std::vector<std::string> Describe(const ProfileFile& file) {
  std::vector<std::string> all;
  for (size_t p = 0; p < file.planes().size(); ++p) {
    const Plane& plane = file.planes()[p];
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      const LineColumns& line = file.Line(p, l);
      for (uint32_t e = 0; e < line.event_count(); ++e) {
        std::string text = std::string(plane.name) + "/" + std::string(plane.lines[l].name) + ": ";
        text += std::string(plane.event_metadata[line.name[e]].name) + "@" +
                std::to_string(line.start_ps[e]) + "+" + std::to_string(line.duration_ps[e]);
        for (const Stat& stat : file.EventStats(p, l, e)) {
          text += " " + std::string(stat.name) + "=" + StatText(stat);
        }
        all.push_back(text);
      }
    }
  }
  return all;
}

using Texts = std::vector<std::string>;

TEST(MicrosToPicosTest, IsExact) {
  const auto ps = [](std::string_view text) {
    const auto value = MicrosToPicos(text);
    return value ? std::to_string(static_cast<int64_t>(*value)) : std::string("none");
  };
  EXPECT_EQ(ps("0"), "0");
  EXPECT_EQ(ps("1"), "1000000");
  EXPECT_EQ(ps("-1.5"), "-1500000");
  EXPECT_EQ(ps("0.000001"), "1");
  EXPECT_EQ(ps("9.9999999999999995e-07"), "1");
  EXPECT_EQ(ps("13.470000000000001"), "13470000");
  EXPECT_EQ(ps("52.709000000000003"), "52709000");
  EXPECT_EQ(ps("99.9999995"), "100000000");
  EXPECT_EQ(ps("99.9999994999999"), "99999999");
  EXPECT_EQ(ps("0.0000004"), "0");
  EXPECT_EQ(ps("1e3"), "1000000000");
  EXPECT_EQ(ps("1.25E+2"), "125000000");
  EXPECT_EQ(ps("1712345678901.234567"), "1712345678901234567");
  EXPECT_EQ(ps("1e-400"), "0");
  EXPECT_EQ(ps("0e400"), "0");
  EXPECT_EQ(ps("1e400"), "none");
  EXPECT_EQ(ps("0.0000000000000000000000000000000000000001"), "0");
  EXPECT_EQ(ps("5.0000000000000000000000000000000000000001"), "5000000");
  for (const char* bad : {"", "-", ".", "e5", "1e", "1e+", "abc", "1x", "NaN", "1 ", "--1"}) {
    EXPECT_EQ(ps(bad), "none") << bad;
  }
}

TEST(TraceJsonTest, SlicesInstantsAndNames) {
  const Imported imported = Import(R"({"displayTimeUnit":"ns","traceEvents":[
    {"ph":"X","pid":7,"tid":70,"ts":1.5,"dur":2.25,"name":"later named","args":{"step_num":"3"}},
    {"ph":"M","pid":7,"name":"process_name","args":{"name":"/host:CPU"}},
    {"ph":"M","pid":7,"tid":70,"name":"thread_name","args":{"name":"python"}},
    {"ph":"i","pid":7,"tid":70,"ts":2,"name":"now","s":"t"},
    {"ph":"I","pid":8,"tid":1,"ts":3,"name":"old instant","cat":"c"},
    {}]})");
  EXPECT_EQ(imported.import.events, 3u);
  EXPECT_EQ(
      Describe(*imported.file),
      (Texts{"/host:CPU/python: later named@1500000+2250000 step_num='3'",
             "/host:CPU/python: now@2000000+0", "process 8/1: old instant@3000000+0 cat='c'"}));
  EXPECT_EQ(imported.file->planes()[0].id, 7);
  EXPECT_EQ(imported.file->planes()[0].lines[0].id, 70);
  EXPECT_TRUE(imported.file->warnings().empty());
  EXPECT_TRUE(imported.import.damage.empty());
}

TEST(TraceJsonTest, ArgumentsOfEveryType) {
  const Imported imported = Import(R"([{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"a","args":{
    "text":"a \"quote\" \u00fc","int":-5,"big":18446744073709551615,"huge":123456789012345678901,
    "real":0.5,"yes":true,"no":false,"nothing":null,"list":[1, "x"],"object":{"k": [ ]}}}])");
  EXPECT_EQ(Describe(*imported.file),
            (Texts{"process 1/1: a@0+1000000 text='a \"quote\" ü' int=-5 big=-1 "
                   "huge='123456789012345678901' real=0.500000 yes=1 no=0 nothing='null' "
                   "list='[1, \"x\"]' object='{\"k\": [ ]}'"}));
}

TEST(TraceJsonTest, BeginAndEndAreMatchedByTime) {
  const Imported imported = Import(R"([
    {"ph":"E","pid":1,"tid":1,"ts":90,"args":{"result":1}},
    {"ph":"B","pid":1,"tid":1,"ts":10,"name":"outer"},
    {"ph":"B","pid":1,"tid":1,"ts":20,"name":"inner"},
    {"ph":"E","pid":1,"tid":1,"ts":30},
    {"ph":"E","pid":1,"tid":1,"ts":5},
    {"ph":"B","pid":1,"tid":1,"ts":95,"name":"open"},
    {"ph":"B","pid":1,"tid":1,"ts":99,"name":"open too"}])");
  EXPECT_EQ(Describe(*imported.file), (Texts{"process 1/1: outer@10000000+80000000 result=1",
                                             "process 1/1: open@95000000+4000000 unfinished=1",
                                             "process 1/1: open too@99000000+0 unfinished=1",
                                             "process 1/1: inner@20000000+10000000"}));
  ASSERT_EQ(imported.file->warnings().size(), 1u);
  EXPECT_EQ(imported.file->warnings()[0].substr(0, 8), "1 events");
}

TEST(TraceJsonTest, AsynchronousEventsGoByCategoryAndId) {
  const Imported imported = Import(R"([
    {"ph":"b","cat":"net","id":"0x1","pid":1,"tid":1,"ts":10,"name":"get"},
    {"ph":"b","cat":"net","id":"0x2","pid":1,"tid":2,"ts":11,"name":"put"},
    {"ph":"n","cat":"net","id":"0x1","pid":1,"tid":1,"ts":12,"name":"half"},
    {"ph":"e","cat":"net","id":"0x1","pid":1,"tid":9,"ts":20,"name":"get"},
    {"ph":"e","cat":"net","id":"0x2","pid":1,"tid":9,"ts":30,"name":"put"},
    {"ph":"S","id":5,"pid":1,"tid":1,"ts":1,"name":"old"},
    {"ph":"F","id":5,"pid":1,"tid":1,"ts":4,"name":"old"}])");
  const Texts found = Describe(*imported.file);
  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()),
            (std::set<std::string>{"process 1/net (async): get@10000000+10000000 cat='net'",
                                   "process 1/net (async): put@11000000+19000000 cat='net'",
                                   "process 1/net (async): half@12000000+0 cat='net'",
                                   "process 1/async (async): old@1000000+3000000"}));
}

TEST(TraceJsonTest, CountersAreALineOfTheirOwn) {
  const Imported imported = Import(R"([
    {"ph":"C","pid":1,"tid":4,"ts":1,"name":"memory","args":{"used":10,"free":2.5}},
    {"ph":"C","pid":1,"tid":5,"ts":2,"name":"memory","args":{"used":11,"free":1.5}}])");
  EXPECT_EQ(Describe(*imported.file),
            (Texts{"process 1/_counters_: memory@1000000+0 used=10 free=2.500000",
                   "process 1/_counters_: memory@2000000+0 used=11 free=1.500000"}));
}

// The flow stat: direction in two bits (1 in, 2 out, 3 through), the id above.
TEST(TraceJsonTest, FlowsFindTheirSlices) {
  const Imported imported = Import(R"([
    {"ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"name":"outer"},
    {"ph":"X","pid":1,"tid":1,"ts":10,"dur":10,"name":"launch"},
    {"ph":"X","pid":2,"tid":7,"ts":40,"dur":5,"name":"kernel"},
    {"ph":"X","pid":2,"tid":7,"ts":45,"dur":5,"name":"next"},
    {"ph":"s","cat":"ac2g","id":9,"pid":1,"tid":1,"ts":15,"name":"ac2g"},
    {"ph":"t","cat":"ac2g","id":9,"pid":1,"tid":1,"ts":30,"name":"ac2g"},
    {"ph":"f","cat":"ac2g","id":9,"pid":2,"tid":7,"ts":40,"name":"ac2g","bp":"e"},
    {"ph":"f","cat":"ac2g","id":8,"pid":2,"tid":7,"ts":41,"name":"ac2g"},
    {"ph":"s","cat":"ac2g","id":7,"pid":1,"tid":1,"ts":500,"name":"loose"}])");
  std::map<std::string, std::vector<uint64_t>> flows;
  for (size_t p = 0; p < imported.file->planes().size(); ++p) {
    const LineColumns& line = imported.file->Line(p, 0);
    for (uint32_t e = 0; e < line.event_count(); ++e) {
      for (const Stat& stat : imported.file->EventStats(p, 0, e)) {
        if (stat.name != "flow") continue;
        const auto& metadata = imported.file->planes()[p].event_metadata[line.name[e]];
        flows[std::string(metadata.name)].push_back(stat.uint64_value);
      }
    }
  }
  ASSERT_EQ(flows.size(), 5u);
  EXPECT_EQ(flows["launch"][0] & 3, 2u);
  EXPECT_EQ(flows["outer"][0] & 3, 3u);
  EXPECT_EQ(flows["kernel"][0] & 3, 1u);
  EXPECT_EQ(flows["launch"][0] >> 2, flows["kernel"][0] >> 2);
  EXPECT_EQ(flows["launch"][0] >> 2, flows["outer"][0] >> 2);
  EXPECT_EQ(flows["kernel"].size(), 1u);
  EXPECT_EQ(flows["next"][0] & 3, 1u);
  EXPECT_NE(flows["next"][0] >> 2, flows["kernel"][0] >> 2);
  EXPECT_EQ(flows["loose"][0] & 3, 2u);
}

TEST(TraceJsonTest, SortIndexesOrderWhatIsShown) {
  const Imported imported = Import(R"([
    {"ph":"X","pid":1,"tid":1,"ts":0,"name":"a"},{"ph":"X","pid":1,"tid":2,"ts":0,"name":"a"},
    {"ph":"X","pid":2,"tid":1,"ts":0,"name":"a"},
    {"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":9}},
    {"ph":"M","pid":1,"name":"process_labels","args":{"labels":"CPU"}},
    {"ph":"M","pid":1,"tid":1,"name":"thread_sort_index","args":{"sort_index":2}},
    {"ph":"M","pid":1,"tid":2,"name":"thread_sort_index","args":{"sort_index":-1}}])");
  EXPECT_EQ(Describe(*imported.file),
            (Texts{"process 2/1: a@0+0", "process 1 (CPU)/2: a@0+0", "process 1 (CPU)/1: a@0+0"}));
}

TEST(TraceJsonTest, WallClockTimesKeepEveryPicosecond) {
  // Microseconds since 1970 do not fit into picoseconds; a double would lose the fraction.
  const Imported epoch = Import(R"([
    {"ph":"X","pid":1,"tid":1,"ts":1752839462723407.123456,"dur":1,"name":"a"},
    {"ph":"X","pid":1,"tid":1,"ts":1752839462723408.123457,"dur":1,"name":"b"}])");
  EXPECT_EQ(epoch.file->planes()[0].lines[0].timestamp_ns, 1752839462723407123);
  EXPECT_EQ(Describe(*epoch.file),
            (Texts{"process 1/1: a@456+1000000", "process 1/1: b@1000457+1000000"}));
  const Imported base = Import(R"({"traceEvents":[
    {"ph":"X","pid":1,"tid":1,"ts":1428625731997.011,"dur":1,"name":"a"}],
    "baseTimeNanoseconds":1751410836000000000})");
  EXPECT_EQ(base.file->origin_unix_ns(), 1752839461731997011);
}

TEST(TraceJsonTest, StrangePidsAndTids) {
  const Imported imported = Import(R"([
    {"ph":"X","pid":"Spans","tid":"PyTorch Profiler","ts":1,"name":"a"},
    {"ph":"X","pid":"","tid":"","ts":1,"name":"b"},
    {"ph":"X","ts":1,"name":"c"},
    {"ph":"X","pid":-3,"tid":-9223372036854775808,"ts":1,"name":"d"},
    {"ph":"X","pid":{"a":1},"tid":[2],"ts":1,"name":"e"}])");
  EXPECT_EQ(imported.import.events, 5u);
  EXPECT_EQ(imported.file->planes()[0].name, "process Spans");
  EXPECT_EQ(imported.file->planes()[0].lines[0].name, "PyTorch Profiler");
}

TEST(TraceJsonTest, WhatIsLeftOutIsTold) {
  const Imported imported = Import(R"([
    {"ph":"X","pid":1,"tid":1,"ts":1,"name":"good"},
    {"ph":"X","pid":1,"tid":1,"name":"no time"},
    {"ph":"X","pid":1,"tid":1,"ts":"soon","name":"bad time"},
    {"ph":"X","pid":1,"tid":1,"ts":1e30,"name":"far"},
    {"ph":"P","pid":1,"tid":1,"ts":1,"name":"sample"},
    {"ph":"O","pid":1,"tid":1,"ts":1,"name":"object"},
    {"ph":"X","pid":1,"tid":1,"ts":tru,"name":"broken"},
    5, "text", [1,2]])");
  EXPECT_EQ(imported.import.events, 1u);
  EXPECT_EQ(imported.file->warnings().size(), 4u)
      << testing::PrintToString(imported.file->warnings());
}

TEST(TraceJsonTest, EveryTruncationKeepsTheEventsBefore) {
  const std::string json = R"({"metadata":{"a":[1,{"b":"}"}]},"traceEvents":[
    {"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a","args":{"x":"]}"}},
    {"ph":"X","pid":1,"tid":1,"ts":2,"dur":1,"name":"b\"\\"},
    {"ph":"X","pid":1,"tid":1,"ts":3,"dur":1,"name":"c"}],"last":[{}]})";
  size_t most = 0;
  for (size_t size = 1; size < json.size(); ++size) {
    const ExactBytes cut(std::string_view(json).substr(0, size));
    const auto import = ImportTraceJson(cut.bytes(), CancelToken());
    if (!import.ok()) {
      ASSERT_EQ(import.status().name(), "TRACE_JSON_TRUNCATED") << size;
      ASSERT_EQ(most, 0u);
      continue;
    }
    ASSERT_EQ(import->damage.size(), 1u) << size;
    ASSERT_EQ(import->damage[0].status.name(), "TRACE_JSON_TRUNCATED");
    ASSERT_GE(import->events, most);
    most = import->events;
  }
  EXPECT_EQ(most, 3u);
  EXPECT_TRUE(Import(json).import.damage.empty());
  // A list may end without its bracket, but not inside an event.
  EXPECT_TRUE(Import(R"([{"ph":"X","pid":1,"tid":1,"ts":1,"name":"a"},)").import.damage.empty());
  EXPECT_EQ(Import(R"([{"ph":"X","pid":1,"tid":1,"ts":1,"name":"a"},{"ph)").import.damage.size(),
            1u);
}

TEST(TraceJsonTest, OtherTextsAreNamed) {
  for (const char* text :
       {"", "   ", "hello", "5", "\"x\"", "{\"a\":1}", "{}", "{5:1}", "{\"a\" 1}"}) {
    EXPECT_EQ(ImportError(text).name(), "TRACE_JSON_NOT_A_TRACE") << text;
  }
  EXPECT_EQ(ImportError("{").name(), "TRACE_JSON_TRUNCATED");
  EXPECT_EQ(Import("[]").import.events, 0u);
  EXPECT_EQ(Import("{\"traceEvents\":[]}").import.events, 0u);
}

TEST(TraceJsonTest, ByteOrderMarkMarkupAndLongNames) {
  const std::string name(1'000'000, 'n');
  const Imported imported =
      Import("\xEF\xBB\xBF[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"name\":\"" + name +
             "\"},{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":2,\"name\":\"<img src=x onerror=1>\"}]");
  ASSERT_EQ(imported.import.events, 2u);
  EXPECT_EQ(imported.file->planes()[0].event_metadata[0].name, name);
  EXPECT_EQ(imported.file->planes()[0].event_metadata[1].name, "<img src=x onerror=1>");
}

TEST(TraceJsonTest, CanBeCancelled) {
  CancelSource source;
  source.Cancel();
  const auto import =
      ImportTraceJson(R"([{"ph":"X","pid":1,"tid":1,"ts":1,"name":"a"}])", source.token());
  EXPECT_EQ(import.status().name(), "CANCELLED");
}

// PyTorch's names and arguments become those that tools know.
TEST(TraceJsonTest, TorchTracesSpeakTheWordsOfTools) {
  const Imported imported = Import(R"([
    {"ph":"M","pid":5,"name":"process_labels","args":{"labels":"CPU"}},
    {"ph":"M","pid":1,"name":"process_labels","args":{"labels":"GPU 1"}},
    {"ph":"M","pid":1,"tid":7,"name":"thread_name","args":{"name":"stream 7 "}},
    {"ph":"X","cat":"user_annotation","pid":5,"tid":5,"ts":0,"dur":9,"name":"ProfilerStep#3"},
    {"ph":"X","cat":"cuda_runtime","pid":5,"tid":5,"ts":1,"dur":1,"name":"launch","args":{"correlation":44}},
    {"ph":"X","cat":"gpu_user_annotation","pid":1,"tid":7,"ts":2,"dur":5,"name":"forward"},
    {"ph":"X","cat":"kernel","pid":1,"tid":7,"ts":3,"dur":2,"name":"gemm","args":{
      "correlation":44,"registers per thread":16,"shared memory":1024,"grid":[
        4,
        1,
        1
      ],
      "block":[256,1,1],"est. achieved occupancy %":31}}])");
  ASSERT_EQ(imported.file->planes().size(), 2u);
  const Texts found = Describe(*imported.file);
  const std::set<std::string> all(found.begin(), found.end());
  EXPECT_TRUE(
      all.contains("/host:CPU/5: ProfilerStep#3@0+9000000 cat='user_annotation' _r=1 step_num=3"));
  EXPECT_TRUE(
      all.contains("/host:CPU/5: launch@1000000+1000000 cat='cuda_runtime' correlation=44 "
                   "correlation_id=44"));
  EXPECT_TRUE(
      all.contains("/device:GPU:1/Annotations of stream 7: forward@2000000+5000000 "
                   "cat='gpu_user_annotation'"));
  bool kernel = false;
  for (const std::string& text : all) {
    if (!text.starts_with("/device:GPU:1/Stream #7: gemm@3000000+2000000")) continue;
    kernel = true;
    EXPECT_NE(text.find("correlation_id=44 kernel_details='regs:16 static_shared:1024 "
                        "dynamic_shared:0 grid:4,1,1 block:256,1,1 occ_pct:31'"),
              std::string::npos)
        << text;
  }
  EXPECT_TRUE(kernel) << ::testing::PrintToString(all);
}

// JAX's own trace.json.gz of a session against the xplane.pb of the same capture: the same steps at
// the same times, exact to the picosecond.
TEST(TraceJsonTest, RealJaxTraceAgreesWithItsXplane) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  const std::string base =
      (corpus / "sessions/cpu-jax-mlp-stall/plugins/profile/2026_11_29_19_23_55/strobe-host-0")
          .string();
  SessionFile file;
  file.path = base + ".trace.json.gz";
  file.format = FileFormat::kTraceJsonGzip;
  const auto trace = OpenHostFile(file, testing::TempDir(), CancelToken());
  ASSERT_TRUE(trace.ok()) << trace.status().ToString();
  file.path = base + ".xplane.pb";
  file.format = FileFormat::kXplane;
  const auto xplane = OpenHostFile(file, testing::TempDir(), CancelToken());
  ASSERT_TRUE(xplane.ok());
  EXPECT_TRUE((*trace)->damage().empty());
  EXPECT_TRUE((*trace)->warnings().empty());
  ASSERT_EQ((*trace)->planes().size(), 1u);
  EXPECT_EQ((*trace)->planes()[0].name, "/host:CPU");
  const auto steps = [](const ProfileFile& profile) {
    std::vector<std::string> found;
    for (size_t p = 0; p < profile.planes().size(); ++p) {
      if (profile.planes()[p].name != "/host:CPU") continue;
      for (size_t l = 0; l < profile.planes()[p].lines.size(); ++l) {
        const LineColumns& line = profile.Line(p, l);
        for (uint32_t e = 0; e < line.event_count(); ++e) {
          if (profile.planes()[p].event_metadata[line.name[e]].name != "train") continue;
          found.push_back(std::to_string(line.start_ps[e]) + "+" +
                          std::to_string(line.duration_ps[e]));
        }
      }
    }
    return found;
  };
  EXPECT_GT(steps(**trace).size(), 10u);
  EXPECT_EQ(steps(**trace), steps(**xplane));
}

TEST(TraceJsonTest, RealKinetoTrace) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  SessionFile file;
  file.path = (corpus / "chrome_traces/kineto-h100-qwen.json.gz").string();
  file.format = FileFormat::kTraceJsonGzip;
  const auto opened = OpenHostFile(file, testing::TempDir(), CancelToken());
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  uint64_t events = 0;
  uint64_t with_flow = 0;
  for (size_t p = 0; p < (*opened)->planes().size(); ++p) {
    for (size_t l = 0; l < (*opened)->planes()[p].lines.size(); ++l) {
      events += (*opened)->Line(p, l).event_count();
      for (const Stat& stat : (*opened)->EventStatColumn(p, l, "flow")) {
        with_flow += stat.type != StatType::kNone ? 1 : 0;
      }
    }
  }
  // 12,080 slices and 2,452 instants, counted with Python's json.
  EXPECT_GE(events, 12'080u + 2'452u);
  EXPECT_GT(with_flow, 2'000u);
  EXPECT_TRUE((*opened)->warnings().empty());
}

}  // namespace
}  // namespace strobe::xplane
