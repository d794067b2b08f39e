#include "src/analysis/kernel_reports.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "src/base/ids.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::analysis {
namespace {

using KindKey = std::tuple<std::string, std::string, uint32_t, uint32_t>;  // name, op, regs, grid
struct Sums {
  uint64_t occurrences = 0;
  uint64_t total_ns = 0;
  uint64_t min_ns = UINT64_MAX;
  uint64_t max_ns = 0;
  bool operator==(const Sums&) const = default;
};

// More forms of a name than are remembered at a time, so that each is met anew again and again.
TEST(HeaviestKernelsTest, LaunchesOfManyFormsAreCountedOnceEach) {
  constexpr int kNames = 3;
  constexpr int kGrids = 7;
  SeededRandom random(11);
  xplane::XSpaceBuilder space;
  std::map<KindKey, Sums> truth;
  for (int p = 0; p < 2; ++p) {
    xplane::PlaneBuilder& plane = space.AddPlane("/device:GPU:" + std::to_string(p));
    xplane::LineBuilder& line = plane.AddLine(1, "Stream #1(Compute)", 0);
    for (int i = 0; i < 3000; ++i) {
      const uint64_t roll = random.Next();
      const std::string name = "kernel_" + std::to_string(roll % kNames);
      const auto registers = static_cast<uint32_t>(32 + (roll >> 8) % 2);
      const auto grid = static_cast<uint32_t>(1 + (roll >> 16) % kGrids);
      const bool has_op = (roll >> 24) % 3 != 0;
      const std::string op = (roll >> 28) % 2 == 0 ? "a/MatMul" : "b/Add";
      const uint64_t duration_ns = 2 + (roll >> 32) % 50;
      const std::string details = "regs:" + std::to_string(registers) +
                                  " grid:" + std::to_string(grid) + ",1,1 block:64,1,1";
      auto& event = line.AddEvent(plane.AddEventMetadata(name), int64_t{i} * 1'000'000,
                                  static_cast<int64_t>(duration_ns) * 1000);
      event.AddStat(plane.StatId("kernel_details"), std::string_view(details));
      if (has_op) event.AddStat(plane.StatId("tf_op"), std::string_view(op + ":Op"));
      Sums& sums = truth[{name, has_op ? op : "", registers, grid}];
      ++sums.occurrences;
      sums.total_ns += duration_ns;
      sums.min_ns = std::min(sums.min_ns, duration_ns);
      sums.max_ns = std::max(sums.max_ns, duration_ns);
    }
  }
  const std::string bytes = space.Serialize();
  const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(bytes);
  const auto host = PreparedHost::Prepare(file, *file, {}, CancelToken());
  ASSERT_TRUE(host.ok());
  hlo::ModuleSet modules;
  modules.Finish();
  HloOps ops(modules, HloOps::kWithoutCost);
  constexpr size_t kPlanes[] = {0, 1};
  const auto reports = HeaviestKernels(**host, kPlanes, &ops, 1000, CancelToken());
  ASSERT_TRUE(reports.ok()) << reports.status().ToString();
  std::map<KindKey, Sums> found;
  for (const KernelReport& report : *reports) {
    const bool is_new = found
                            .emplace(KindKey{report.name, report.op_name,
                                             report.registers_per_thread, report.grid_dim[0]},
                                     Sums{report.occurrences, report.total_duration_ns,
                                          report.min_duration_ns, report.max_duration_ns})
                            .second;
    EXPECT_TRUE(is_new) << report.name << " " << report.op_name;
  }
  EXPECT_EQ(found, truth);
}

}  // namespace
}  // namespace strobe::analysis
