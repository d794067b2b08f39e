// Op stats do not depend on how many threads make them: made profiles of several planes, with one
// thread and with four.
#include <gtest/gtest.h>

#include <sstream>

#include "src/analysis/op_profile_for_test.h"
#include "src/analysis/op_stats.h"
#include "src/base/ids.h"
#include "src/base/threads_for_test.h"

namespace strobe::analysis {
namespace {

constexpr int kPlanes = 5;
constexpr int kSteps = 7;
constexpr int kOpsOfStep = 60;
constexpr int64_t kOpPs = 1'000'000;

std::string TpuSpace() {
  xplane::XSpaceBuilder space;
  SeededRandom random(3);
  for (int p = 0; p < kPlanes; ++p) {
    xplane::PlaneBuilder& plane = space.AddPlane("/device:TPU:" + std::to_string(p));
    std::vector<int64_t> names;
    for (uint64_t i = 0; i < 9; ++i) {
      const std::string name = "fusion." + std::to_string(i);
      names.push_back(AddTpuOp(&plane, {.name = name, .symbol = i + 1, .flops = 10 * i}));
    }
    const int64_t step_name = plane.AddEventMetadata("0");
    xplane::LineBuilder& steps = plane.AddLine(1, "Steps", 0);
    xplane::LineBuilder& ops = plane.AddLine(3, "XLA Ops", 0);
    int64_t now_ps = 0;
    for (int s = 0; s < kSteps; ++s) {
      const int64_t begin_ps = now_ps;
      for (int i = 0; i < kOpsOfStep; ++i) {
        const auto shorter = static_cast<int64_t>(random.Next() % 1000);
        xplane::StatSink& stats =
            ops.AddEvent(names[random.Next() % names.size()], now_ps, kOpPs - shorter);
        if (p % 2 == 0) {
          stats.AddStat(plane.StatId("device_offset_ps"), now_ps + 77)
              .AddStat(plane.StatId("device_duration_ps"), kOpPs - shorter - 1);
        }
        now_ps += kOpPs;
      }
      steps.AddEvent(step_name, begin_ps, now_ps - begin_ps);
    }
  }
  return space.Serialize();
}

std::string GpuSpace() {
  xplane::XSpaceBuilder space;
  SeededRandom random(4);
  for (int p = 0; p < kPlanes; ++p) {
    xplane::PlaneBuilder& plane = space.AddPlane("/device:GPU:" + std::to_string(p));
    for (int stream = 0; stream < 2; ++stream) {
      xplane::LineBuilder& line = plane.AddLine(stream, "Stream #1(Compute)", 0);
      for (int i = 0; i < 300; ++i) {
        const uint64_t roll = random.Next();
        const std::string name = "gemm_" + std::to_string(roll % 4);
        const std::string details = "regs:" + std::to_string(roll % 3) +
                                    " grid:" + std::to_string(roll / 4 % 5) + ",1,1 block:64,1,1";
        line.AddEvent(plane.AddEventMetadata(name), i * kOpPs,
                      static_cast<int64_t>(5000 * (1 + roll % 2)))
            .AddStat(plane.StatId("kernel_details"), std::string_view(details))
            .AddStat(plane.StatId("tf_op"),
                     std::string_view(roll % 2 == 0 ? "a/MatMul:MatMul" : "b/Add:Add"))
            .AddStat(plane.StatId("group_id"), static_cast<int64_t>(i / 50));
      }
    }
  }
  return space.Serialize();
}

void Describe(const OpMetricsDb& db, std::ostream& out) {
  out << db.total_time_ps << " " << db.total_op_time_ps << " " << db.busy_time_ps << "\n";
  for (const OpMetrics& op : db.ops) {
    out << op.name << " " << op.category << " " << op.occurrences << " " << op.time_ps << " "
        << op.self_time_ps << " " << op.min_time_ps << " " << op.flops << "\n";
  }
}

std::string Describe(const std::string& bytes, const Parallel& parallel) {
  const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(bytes);
  PrepareOptions options;
  options.parallel = parallel;
  const auto host = PreparedHost::Prepare(file, *file, options, CancelToken());
  EXPECT_TRUE(host.ok());
  hlo::ModuleSet modules;
  modules.Finish();
  const Result<OpStats> stats = MakeOpStats(**host, modules, CancelToken());
  EXPECT_TRUE(stats.ok());
  std::ostringstream out;
  Describe(stats->device_ops, out);
  Describe(stats->complete_steps_ops, out);
  for (const Step& step : stats->steps.steps) {
    out << step.step_num << " " << step.step_name << " " << step.cores.size() << "\n";
    for (const auto& [core, part] : step.cores) {
      out << core << " " << part.begin_ps << " " << part.duration_ps << "\n";
    }
    if (step.ops != nullptr) Describe(step.ops->Build(), out);
  }
  for (const KernelReport& kernel : stats->kernels) {
    out << kernel.name << " " << kernel.op_name << " " << kernel.registers_per_thread << " "
        << kernel.grid_dim[0] << " " << kernel.occurrences << " " << kernel.total_duration_ns << " "
        << kernel.min_duration_ns << "\n";
  }
  for (const PreparedPlane& plane : (*host)->planes()) {
    for (const PreparedLine& line : plane.lines) {
      out << line.name << " " << line.display_id << "\n";
      for (const AddedEvent& event : line.events) out << event.name << " " << event.group << "\n";
      for (const DerivedEvent& event : line.derived_events) {
        out << (*line.derived_names)[event.name].label() << " " << event.start_ps << "\n";
      }
    }
  }
  return out.str();
}

TEST(OpStatsParallelTest, ThreadsChangeNothing) {
  for (const std::string& bytes : {TpuSpace(), GpuSpace()}) {
    const std::string alone = Describe(bytes, Parallel());
    EXPECT_GT(alone.size(), 1000u);
    for (int round = 0; round < 3; ++round) EXPECT_EQ(Describe(bytes, ThreadsForTest(4)), alone);
  }
}

TEST(OpStatsParallelTest, KernelsOfOneTimeAreInTheOrderOfTheirDescription) {
  const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(GpuSpace());
  const auto host = PreparedHost::Prepare(file, *file, {}, CancelToken());
  ASSERT_TRUE(host.ok());
  hlo::ModuleSet modules;
  modules.Finish();
  const Result<OpStats> stats = MakeOpStats(**host, modules, CancelToken());
  ASSERT_TRUE(stats.ok());
  const std::vector<KernelReport>& kernels = stats->kernels;
  uint64_t launches = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    launches += kernels[i].occurrences;
    if (i == 0) continue;
    EXPECT_GE(kernels[i - 1].total_duration_ns, kernels[i].total_duration_ns);
    if (kernels[i - 1].total_duration_ns == kernels[i].total_duration_ns) {
      EXPECT_LE(kernels[i - 1].name, kernels[i].name);
    }
  }
  EXPECT_EQ(launches, uint64_t{kPlanes * 2 * 300});
}

}  // namespace
}  // namespace strobe::analysis
