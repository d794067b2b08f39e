// The first overview of real profiles against what is known of them: facts planted in the jobs that
// made them (their TRUTH files), and figures that other readers give.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/analysis/overview.h"
#include "src/storage/byte_source.h"
#include "src/xplane/test_bytes.h"

namespace strobe::analysis {
namespace {

constexpr double kPicosPerMilli = 1e9;

struct OpenedHost {
  std::shared_ptr<xplane::ProfileFile> file;
  Overview overview;
};

OpenedHost Look(const std::string& path_in_corpus) {
  OpenedHost opened;
  const auto source = storage::OpenMappedFile(xplane::CorpusDirectory() / path_in_corpus);
  EXPECT_TRUE(source.ok()) << source.status().ToString();
  if (!source.ok()) return opened;
  auto file = xplane::ProfileFile::Open(*source, {});
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  if (!file.ok()) return opened;
  opened.file = *file;
  opened.overview = MakeOverview({{.host = "h", .file = opened.file.get()}}, {});
  return opened;
}

int64_t Median(std::vector<StepItem> items) {
  std::sort(items.begin(), items.end(),
            [](const StepItem& a, const StepItem& b) { return a.duration_ps < b.duration_ps; });
  const size_t middle = items.size() / 2;
  return items.size() % 2 == 1 ? items[middle].duration_ps
                               : (items[middle - 1].duration_ps + items[middle].duration_ps) / 2;
}

TEST(RealOverviewTest, TpuInferenceWaitsForHostCopies) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  const Overview overview =
      Look("sessions/tpu-v6e-4-inference/plugins/profile/2025_06_01_00_00_00/host0.xplane.pb")
          .overview;
  EXPECT_EQ(overview.event_count, 26'723u);
  ASSERT_EQ(overview.devices.size(), 4u);
  double duty = 0;
  for (const DeviceSummary& device : overview.devices) {
    EXPECT_EQ(device.kind, "TPU");
    EXPECT_EQ(device.name, "TPU v6 Lite");
    duty += static_cast<double>(device.busy_ps) /
            static_cast<double>(device.active_end_ps - device.active_start_ps) / 4;
    EXPECT_NEAR(*device.busy_share, static_cast<double>(device.busy_ps) / 98.645e12, 1e-4);
  }
  EXPECT_NEAR(duty, 0.865, 0.001) << "XProf's duty cycle of this profile";
  EXPECT_EQ(overview.top_ops_by, "device");
  double host_copies = 0;
  for (const OpSummary& op : overview.top_ops) {
    if (op.hlo_category != "copy-done") continue;
    host_copies += op.share;
    EXPECT_EQ(op.category, OpCategory::kDataMovement);
  }
  EXPECT_NEAR(host_copies, 0.965, 0.005);
  EXPECT_FALSE(overview.steps.has_value());
  EXPECT_NE(overview.steps_reason.find("runs of XLA modules"), std::string::npos);
  EXPECT_NEAR(static_cast<double>(overview.window_end_ps - overview.window_start_ps) / 1e12, 98.645,
              0.001);
}

TEST(RealOverviewTest, StallsOfAnInputBoundJob) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  const struct {
    const char* session;
    double mean_ms, median_ms, max_from_ms, max_to_ms;
  } runs[] = {{"2026_11_29_19_23_55", 37.82, 26.40, 270, 280},
              {"2026_11_29_19_21_35", 39.74, 28.23, 288, 296}};
  for (const auto& run : runs) {
    const Overview overview = Look(std::string("sessions/cpu-jax-mlp-stall/plugins/profile/") +
                                   run.session + "/strobe-host-0.xplane.pb")
                                  .overview;
    ASSERT_TRUE(overview.steps.has_value());
    const StepSummary& steps = *overview.steps;
    EXPECT_EQ(steps.count, 40u);
    EXPECT_EQ(steps.items[0].name, "0");
    EXPECT_EQ(steps.items[39].name, "39");
    EXPECT_NEAR(static_cast<double>(steps.mean_ps) / kPicosPerMilli, run.mean_ms, 0.02);
    EXPECT_NEAR(static_cast<double>(Median(steps.items)) / kPicosPerMilli, run.median_ms, 0.02);
    EXPECT_EQ(steps.max_ps, steps.items[25].duration_ps) << "step 25 compiles";
    EXPECT_GT(static_cast<double>(steps.max_ps) / kPicosPerMilli, run.max_from_ms);
    EXPECT_LT(static_cast<double>(steps.max_ps) / kPicosPerMilli, run.max_to_ms);
    for (const size_t hiccup : {10, 20, 30}) {
      EXPECT_GT(steps.items[hiccup].duration_ps, Median(steps.items) + 55e9);
    }
    EXPECT_EQ(overview.top_ops_by, "host");
    ASSERT_EQ(overview.devices.size(), 1u);
    EXPECT_EQ(overview.devices[0].kind, "CPU");
    EXPECT_LT(*overview.devices[0].busy_share, 0.25) << "three quarters of the job is sleep";
  }
}

TEST(RealOverviewTest, ShardedTransformerSpendsItsTimeInAllReduces) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  const Overview overview = Look(
                                "sessions/cpu-jax-transformer-4dev/plugins/profile/"
                                "2026_11_29_19_21_38/strobe-host-0.xplane.pb")
                                .overview;
  ASSERT_TRUE(overview.steps.has_value());
  EXPECT_EQ(overview.steps->count, 20u);
  EXPECT_NEAR(static_cast<double>(Median(overview.steps->items)) / kPicosPerMilli, 27.65, 0.02);
  EXPECT_EQ(overview.event_count, 47'961u);
  uint64_t events = 0;
  int64_t total_ps = 0;
  for (const OpSummary& op : overview.top_ops) {
    if (!op.name.starts_with("all-reduce")) continue;
    EXPECT_EQ(op.count, 80u) << op.name;
    EXPECT_EQ(op.category, OpCategory::kCollective);
    events += op.count;
    total_ps += op.total_ps;
    if (op.name == "all-reduce.8") {
      EXPECT_NEAR(static_cast<double>(op.total_ps) / kPicosPerMilli, 187.8, 0.1);
    }
  }
  EXPECT_EQ(events, 1040u);
  EXPECT_NEAR(static_cast<double>(total_ps) / kPicosPerMilli, 1477.6, 0.2);
}

TEST(RealOverviewTest, CapturesFromOutsideHaveOnlyWholeSteps) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  const Overview plain = Look(
                             "sessions/cpu-jax-on-demand/plugins/profile/on_demand_1500ms/"
                             "strobe-host-0.xplane.pb")
                             .overview;
  ASSERT_TRUE(plain.steps.has_value());
  EXPECT_EQ(plain.steps->count, 131u);
  EXPECT_EQ(plain.steps->items.front().name, "370");
  EXPECT_EQ(plain.steps->items.back().name, "500");
  EXPECT_EQ(plain.event_count, 8'249u);
  EXPECT_NEAR(static_cast<double>(plain.window_end_ps - plain.window_start_ps) / kPicosPerMilli,
              1500.9, 0.1);
}

TEST(RealOverviewTest, TheStragglerIsSeenInTheAllReduceOfTheOther) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  const std::string session = "sessions/cpu-jax-two-process/plugins/profile/two_hosts/";
  const double expected_ms[] = {575.4, 121.9};
  for (int host = 0; host < 2; ++host) {
    const Overview overview =
        Look(session + "strobe-host-" + std::to_string(host) + ".xplane.pb").overview;
    ASSERT_TRUE(overview.steps.has_value());
    EXPECT_EQ(overview.steps->count, 15u);
    const auto op = std::find_if(overview.top_ops.begin(), overview.top_ops.end(),
                                 [](const OpSummary& o) { return o.name == "all-reduce.3"; });
    ASSERT_NE(op, overview.top_ops.end());
    EXPECT_EQ(op->count, 15u);
    EXPECT_NEAR(static_cast<double>(op->total_ps) / kPicosPerMilli, expected_ms[host], 0.1);
  }
}

TEST(RealOverviewTest, EightGpusOfWhichTwoRanKernels) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  const Overview overview = Look(
                                "sessions/gpu-v100-multi-worker/plugins/profile/"
                                "2020_12_01_00_00_00/34.83.195.179_6003.xplane.pb")
                                .overview;
  ASSERT_EQ(overview.devices.size(), 8u);
  EXPECT_EQ(std::count_if(overview.devices.begin(), overview.devices.end(),
                          [](const DeviceSummary& device) { return device.busy_ps > 0; }),
            2);
  EXPECT_EQ(overview.event_count, 23'128u);
}

}  // namespace
}  // namespace strobe::analysis
