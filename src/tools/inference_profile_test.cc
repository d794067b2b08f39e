// Requests of a made-up model server: how long they took and where their time went.
#include "src/tools/inference_profile.h"

#include <gtest/gtest.h>

#include "src/tools/event_time_fraction.h"
#include "src/tools/inference_stats.h"
#include "src/tools/overview_analysis.h"
#include "src/tools/session_input.h"
#include "src/tools/step_tools_input_for_test.h"

namespace strobe::tools {
namespace {

using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::XSpaceBuilder;

constexpr int64_t kMs = 1'000'000'000;

// Over profiles that are made in memory.
class MadeSession {
 public:
  explicit MadeSession(const std::vector<std::string>& hosts) {
    SessionInput::Parts parts;
    parts.name = "made";
    for (const std::string& bytes : hosts) {
      std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(bytes);
      parts.hosts.push_back(
          {.name = "host" + std::to_string(parts.hosts.size()), .file = file.get()});
      parts.owners.push_back(std::move(file));
    }
    auto modules = std::make_shared<hlo::ModuleSet>();
    modules->Finish();
    parts.modules = std::move(modules);
    input_ = std::make_unique<SessionInput>(std::move(parts));
  }
  ToolInput& input() { return *input_; }

 private:
  std::unique_ptr<SessionInput> input_;
};

struct Request {
  int64_t start_ms;
  int64_t length_ms;
  std::string model;
};

// Each request writes in its second millisecond, launches in its fourth, runs a module for 3 ms
// from its fifth on, and reads in its ninth.
std::string Server(const std::vector<Request>& requests) {
  XSpaceBuilder space;
  PlaneBuilder& tpu = space.AddPlane("/device:TPU:0", 2);
  LineBuilder& modules = tpu.AddLine(2, "XLA Modules", 0);
  PlaneBuilder& host = space.AddPlane("/host:CPU", 5);
  LineBuilder& line = host.AddLine(1, "server", 0);
  const auto launch_stats = [](PlaneBuilder& plane, xplane::StatSink& event, uint64_t run) {
    event.AddStat(plane.StatId("run_id"), run)
        .AddStat(plane.StatId("queue_id"), uint64_t{0})
        .AddStat(plane.StatId("core_type"), uint64_t{0});
  };
  for (size_t i = 0; i < requests.size(); ++i) {
    const int64_t at = requests[i].start_ms * kMs;
    line.AddEvent(host.AddEventMetadata("ServingModelRun"), at, requests[i].length_ms * kMs)
        .AddStat(host.StatId("_r"), int64_t{1})
        .AddStat(host.StatId("step_num"), static_cast<int64_t>(i))
        .AddStat(host.StatId("model_id"), requests[i].model);
    line.AddEvent(host.AddEventMetadata("TransferH2DRequest"), at + kMs, kMs);
    xplane::StatSink& launch =
        line.AddEvent(host.AddEventMetadata("DoEnqueueProgram"), at + 3 * kMs, kMs / 2);
    launch.AddStat(host.StatId("device_ordinal"), int64_t{0});
    launch_stats(host, launch, i + 1);
    launch_stats(tpu, modules.AddEvent(tpu.AddEventMetadata("jit_serve(1)"), at + 4 * kMs, 3 * kMs),
                 i + 1);
    line.AddEvent(host.AddEventMetadata("TransferD2HRequest"), at + 8 * kMs, kMs);
  }
  return space.Serialize();
}

TEST(InferenceProfile, TellsWhereTheTimeOfARequestGoes) {
  MadeSession session({Server({{100, 10, "a:1"}, {200, 14, "b:1"}, {300, 12, "a:1"}})});
  const ToolResult result = Ask(MakeInferenceProfileTool(), session.input(), true);
  ASSERT_EQ(result.tables.size(), 3u);
  ASSERT_EQ(result.tables[0].rows().size(), 2u);
  EXPECT_EQ(TextAt(result.tables[0], 0, "model_name"), "a:1");
  EXPECT_EQ(PropertyOf(result.tables[0], "hasBatching"), "false");
  const Table& a = result.tables[1];
  ASSERT_EQ(a.rows().size(), 3u) << "two requests and their average";
  EXPECT_EQ(TextAt(a, 0, "percentile"), "0.000");
  EXPECT_EQ(TextAt(a, 1, "percentile"), "50.000");
  EXPECT_DOUBLE_EQ(NumberAt(a, 0, "latency_ms"), 10);
  EXPECT_DOUBLE_EQ(NumberAt(a, 0, "data_transfer_h2d"), 1);
  EXPECT_DOUBLE_EQ(NumberAt(a, 0, "data_transfer_d2h"), 1);
  EXPECT_DOUBLE_EQ(NumberAt(a, 0, "device_compute"), 3);
  EXPECT_DOUBLE_EQ(NumberAt(a, 0, "host_postprocess"), 2) << "3 ms less the read";
  EXPECT_DOUBLE_EQ(NumberAt(a, 0, "idle time"), 2) << "between write and run";
  EXPECT_EQ(TextAt(a, 2, "percentile"), "Average");
  EXPECT_EQ(TextAt(a, 2, "request_id"), "N/A");
  EXPECT_DOUBLE_EQ(NumberAt(a, 2, "latency_ms"), 11);
  EXPECT_EQ(PropertyOf(a, "averageLatencyMs"), "11.000");
  EXPECT_EQ(PropertyOf(a, "throughput"), "9.4") << "2 between 100 and 312 ms";
  EXPECT_EQ(a.subjects()[0].host, "host0");
  EXPECT_GE(a.subjects()[0].step, 0);
}

TEST(InferenceProfile, SamplesByTheColumnAskedFor) {
  std::vector<Request> requests;
  for (int64_t i = 0; i < 100; ++i) requests.push_back({100 * (i + 1), 10 + i % 50, "m"});
  MadeSession session({Server(requests)});
  const Table table = Ask(MakeInferenceProfileTool(), session.input(), true).tables[1];
  // Of 100 requests: one each at 50, 75, 90 and 99 %; then the average.
  ASSERT_EQ(table.rows().size(), 5u);
  EXPECT_EQ(TextAt(table, 0, "percentile"), "50.000");
  EXPECT_EQ(TextAt(table, 3, "percentile"), "99.000");
  EXPECT_DOUBLE_EQ(NumberAt(table, 0, "latency_ms"), 35);
  const Table by_idle = Ask(MakeInferenceProfileTool(), session.input(), false,
                            {{"request_column", "Host postprocess"}})
                            .tables[1];
  EXPECT_EQ(by_idle.rows().size(), 5u);
}

TEST(InferenceProfile, WithoutRequestsThereIsOneEmptyModel) {
  XSpaceBuilder space;
  space.AddPlane("/host:CPU");
  MadeSession session({space.Serialize()});
  const ToolResult result = Ask(MakeInferenceProfileTool(), session.input(), true);
  ASSERT_EQ(result.tables.size(), 2u);
  EXPECT_EQ(TextAt(result.tables[0], 0, "model_name"), "ALL");
  ASSERT_EQ(result.tables[1].rows().size(), 1u);
  EXPECT_EQ(TextAt(result.tables[1], 0, "percentile"), "Average");
  EXPECT_NE(FindNotice(result, "NO_REQUESTS"), nullptr);
}

TEST(InferenceProfile, LatencyRowsHaveTheRealAverage) {
  InferenceStats stats;
  ModelInference& model = stats.models.emplace_back();
  for (int64_t i = 1; i <= 4; ++i) {
    InferenceRequest& request = model.requests.emplace_back();
    request.end_ps = i * 10 * kMs;
    request.device_ps = i * kMs;
    request.read_ps = kMs;
  }
  const std::vector<LatencyRow> rows = LatencyRows(stats);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_DOUBLE_EQ(rows[0].total_ms, 25);
  EXPECT_DOUBLE_EQ(rows[0].device_ms, 2.5);
  EXPECT_DOUBLE_EQ(rows[0].communication_ms, 1);
  EXPECT_DOUBLE_EQ(rows[0].host_ms, 21.5);
  EXPECT_EQ(rows[1].label, "50.0%");
  EXPECT_DOUBLE_EQ(rows[1].total_ms, 30) << "the one at half of the list";
  EXPECT_DOUBLE_EQ(rows[5].total_ms, 40);
}

// Steps of 10 ms with a barrier in each: 1, 2, 3 and 4 ms.
std::string Barriers(int64_t more_ms) {
  XSpaceBuilder space;
  PlaneBuilder& tpu = space.AddPlane("/device:TPU:0", 2);
  LineBuilder& steps = tpu.AddLine(1, "Steps", 0);
  LineBuilder& ops = tpu.AddLine(3, "XLA Ops", 0);
  const int64_t barrier = tpu.AddEventMetadata("barrier-cores.1");
  for (int64_t s = 0; s < 4; ++s) {
    steps.AddEvent(tpu.AddEventMetadata(std::to_string(s)), s * 20 * kMs, 10 * kMs)
        .AddStat(tpu.StatId("group_id"), s);
    ops.AddEvent(barrier, s * 20 * kMs, (s + 1 + more_ms) * kMs)
        .AddStat(tpu.StatId("group_id"), s)
        .AddStat(tpu.StatId("device_duration_ps"), static_cast<uint64_t>((s + 1 + more_ms) * kMs));
  }
  space.AddPlane("/host:CPU").StatId("group_id");
  return space.Serialize();
}

TEST(EventTimeFraction, LeavesOutTheStepsAtTheEnds) {
  MadeSession session({Barriers(0)});
  const std::vector<size_t> hosts = {0};
  const auto found = FindEventTimeFractions(session.input(), hosts, "barrier-cores", CancelToken());
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->by_chip.size(), 1u);
  const std::vector<double>& chip = found->by_chip.begin()->second;
  ASSERT_EQ(chip.size(), 2u);
  EXPECT_DOUBLE_EQ(chip[0], 0.2);
  EXPECT_DOUBLE_EQ(chip[1], 0.3);
  EXPECT_NEAR(found->MeanPercent(), 25, 1e-9);
  const auto other = FindEventTimeFractions(session.input(), hosts, "debug_print", CancelToken());
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->MeanPercent(), 0);
}

TEST(EventTimeFraction, HostsThatStandOut) {
  EXPECT_TRUE(FindStragglers({{"a", 1}, {"b", 90}}).empty()) << "two hosts tell nothing";
  const std::vector<Straggler> found =
      FindStragglers({{"a", 10}, {"b", 10.2}, {"c", 9.8}, {"d", 10.1}, {"e", 40}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].host, "e");
}

// Each request lays its input out in 1 ms and gets its output in `copy_ms`.
struct Moved {
  std::string model;
  std::string shapes;
  int64_t copy_ms;
  bool layout = true;
};

std::string MovingServer(const std::vector<Moved>& requests) {
  XSpaceBuilder space;
  PlaneBuilder& host = space.AddPlane("/host:CPU", 5);
  LineBuilder& line = host.AddLine(1, "server", 0);
  for (size_t i = 0; i < requests.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) * 100 * kMs;
    line.AddEvent(host.AddEventMetadata("ServingModelRun"), at, 50 * kMs)
        .AddStat(host.StatId("_r"), int64_t{1})
        .AddStat(host.StatId("step_num"), static_cast<int64_t>(i))
        .AddStat(host.StatId("model_id"), requests[i].model);
    line.AddEvent(host.AddEventMetadata("TransferBufferFromDevice-FastPath"), at + 20 * kMs,
                  requests[i].copy_ms * kMs)
        .AddStat(host.StatId("tensor_shapes"), requests[i].shapes)
        .AddStat(host.StatId("tensor_layout"), "{0}");
    xplane::StatSink& linearize = line.AddEvent(host.AddEventMetadata("Linearize"), at + kMs, kMs);
    linearize.AddStat(host.StatId("tensor_shapes"), "f32[8]");
    if (requests[i].layout) linearize.AddStat(host.StatId("tensor_layout"), "{0}");
  }
  return space.Serialize();
}

TEST(InferenceProfile, CountsTheTensorsThatRequestsMove) {
  std::vector<Moved> requests;
  for (int64_t i = 0; i < 20; ++i) requests.push_back({"m:1", "bf16[4]", i + 1});
  requests.push_back({"m:1", "bf16[4,4]", 2});
  requests.push_back({"m:1", "bf16[4]", 9, /*layout=*/false});
  requests.push_back({"n:1", "bf16[4]", 5});
  MadeSession session({MovingServer(requests)});
  const Result<InferenceStats> stats =
      MakeInferenceStats(session.input(), std::vector<size_t>{0}, CancelToken());
  ASSERT_TRUE(stats.ok()) << stats.status().ToString();
  ASSERT_EQ(stats->models.size(), 2U);
  const std::vector<TensorPattern>& patterns = stats->models[0].tensor_patterns;
  ASSERT_EQ(patterns.size(), 2U);
  EXPECT_EQ(patterns[0].pattern,
            "Linearize f32[8] {0}\nTransferBufferFromDevice-FastPath bf16[4] {0}");
  ASSERT_EQ(patterns[0].times_ps.size(), 20U);
  // Copies of 1 to 20 ms, each with 1 ms of laying out: the 11th, 16th and 20th of 20.
  EXPECT_EQ(patterns[0].PercentilePs(50), 12 * kMs);
  EXPECT_EQ(patterns[0].PercentilePs(75), 17 * kMs);
  EXPECT_EQ(patterns[0].PercentilePs(99.9), 21 * kMs);
  EXPECT_EQ(patterns[1].times_ps, std::vector<int64_t>{3 * kMs});
  ASSERT_EQ(stats->models[1].tensor_patterns.size(), 1U);
}

}  // namespace
}  // namespace strobe::tools
