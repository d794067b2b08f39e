// perf_counters, utilization_viewer and kernel_utilization over counters planted by hand.
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "src/hlo/corpus_for_test.h"
#include "src/tools/document_for_test.h"
#include "src/tools/input_for_test.h"
#include "src/tools/kernel_utilization.h"
#include "src/tools/perf_counters.h"
#include "src/tools/tpu_counter_names.h"
#include "src/tools/utilization_viewer.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

constexpr uint64_t kCycles = 3257466888;  // of the TensorCore of v6e

// One chip, one sample of 1,000 cycles.
std::string CounterProfile(const std::map<uint64_t, uint64_t>& counters) {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& plane = space.AddPlane("/device:TPU:3", 2);
  plane.PlaneStats().AddStat(plane.StatId("device_id"), uint64_t{3});
  plane.PlaneStats().AddStat(plane.StatId("global_chip_id"), uint64_t{11});
  plane.PlaneStats().AddStat(plane.StatId("device_type_string"), std::string_view("TPU v6 Lite"));
  xplane::LineBuilder& line = plane.AddLine(40, "kernel_a", 0);
  for (const auto& [id, value] : counters) {
    const int64_t event = plane.AddEventMetadata("COUNTER_" + std::to_string(id));
    xplane::StatSink& sink = line.AddEvent(event, 0, 2'000'000);
    sink.AddStat(plane.StatId("performance_counter_id"), id);
    sink.AddStat(plane.StatId("counter_value"), value);
  }
  return space.Serialize();
}

std::string TextAt(const Table& table, size_t row, std::string_view column) {
  return std::get<std::string>(table.rows()[row][table.ColumnIndex(column)].value);
}
double NumberAt(const Table& table, size_t row, std::string_view column) {
  return std::get<double>(table.rows()[row][table.ColumnIndex(column)].value);
}

TEST(PerfCountersTest, ARowACounterInTheOrderOfTheFile) {
  TestSession session;
  session.AddHost("h", CounterProfile({{kCycles, 1000}, {kCycles + 1688, 26}}));
  const auto result = session.Ask(MakePerfCountersTool(), {}, /*as_xprof=*/false);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  const Table& table = result->tables[0];
  ASSERT_EQ(table.rows().size(), 2u);
  EXPECT_EQ(TextAt(table, 0, "Counter"), "counter_3257466888");
  EXPECT_EQ(NumberAt(table, 0, "Chip"), 11);
  EXPECT_EQ(NumberAt(table, 0, "Sample"), 40);
  EXPECT_EQ(TextAt(table, 0, "Kernel"), "kernel_a");
  EXPECT_EQ(TextAt(table, 0, "Set"), "cycle_counter_window");
  EXPECT_EQ(NumberAt(table, 1, "Value"), 26);
  EXPECT_EQ(table.rows()[1][table.ColumnIndex("Value")].formatted, "0x1a");
  EXPECT_EQ(TextAt(table, 1, "Set"), "");
}

TEST(PerfCountersTest, NamesEqualThoseOfTheReference) {
  const std::filesystem::path corpus = xplane::CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  for (const std::string device : {"v6e", "v7x"}) {
    const std::string theirs =
        hlo::UnpackedFile(corpus / "xprof_goldens" / "2.24.2" / "_server" /
                          ("perf_counters.names_only=1,device_type=" + device + ".json.gz"));
    const Result<Value> ours = CounterNamesDocument(device);
    ASSERT_TRUE(ours.ok());
    EXPECT_EQ(DocumentDifference(*ours, theirs), "") << device;
  }
  EXPECT_EQ(CounterNamesDocument("").status().name(), "COUNTER_DEVICE_MISSING");
  EXPECT_EQ(CounterNamesDocument("v5e").status().name(), "COUNTER_DEVICE_UNKNOWN");
}

TEST(UtilizationViewerTest, ShareOfWhatCouldBeDone) {
  TestSession session;
  // 300 of 2 x 1,000 scalar instructions; 100 cycles with one MXU busy, 400 with both.
  session.AddHost("h", CounterProfile({{kCycles, 1000},
                                       {kCycles + 80, 100},
                                       {kCycles + 88, 200},
                                       {kCycles + 520, 100},
                                       {kCycles + 528, 400},
                                       {kCycles + 464, 50}}));
  const auto result = session.Ask(MakeUtilizationViewerTool(), {});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  const Table& table = result->tables[0];
  std::map<std::string, std::pair<double, double>> rows;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    rows.try_emplace(TextAt(table, i, "name"),
                     std::pair{NumberAt(table, i, "achieved"), NumberAt(table, i, "peak")});
    EXPECT_EQ(NumberAt(table, i, "device"), 3);
  }
  EXPECT_EQ(rows.at("Scalar Unit"), (std::pair{300.0, 2000.0}));
  EXPECT_EQ(rows.at("Avg MXU Busy"), (std::pair{450.0, 1000.0}));
  // A multiplication from the LMR in BF16 keeps a unit busy for 4 cycles.
  EXPECT_EQ(rows.at("MXU0"), (std::pair{200.0, 1000.0}));
  EXPECT_EQ(rows.at("MXU BF16"), (std::pair{200.0, 2000.0}));
  EXPECT_EQ(rows.at("XLU0").second, 250.0);
}

TEST(KernelUtilizationTest, PercentOfEachUnit) {
  TestSession session;
  session.AddHost(
      "h", CounterProfile(
               {{kCycles, 1000}, {kCycles + 528, 420}, {kCycles + 464, 30}, {kCycles + 480, 20}}));
  const auto result = session.Ask(MakeKernelUtilizationTool(), {});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  const Value& device = result->document.Find("devices")->items()[0];
  EXPECT_EQ(device.Find("device_id")->int_value(), 3);
  const Value& kernel = device.Find("kernels")->items()[0];
  EXPECT_EQ(kernel.Find("mxu_utilization")->AsNumber(), 42);
  EXPECT_EQ(kernel.Find("duration_us")->AsNumber(), 2);
  // 30 x 4 cycles of BF16, 20 x 2 of 8-bit integers.
  EXPECT_EQ(kernel.Find("mxu_cycles_breakdown")->Find("BF16")->AsNumber(), 75);
  EXPECT_EQ(kernel.Find("mxu_cycles_breakdown")->Find("Int8")->AsNumber(), 25);
  EXPECT_FALSE(kernel.Find("mxu_is_anomaly")->bool_value());
}

TEST(CounterToolsTest, WithoutCountersTheySayHowToGetThem) {
  TestSession session;
  xplane::XSpaceBuilder space;
  space.AddPlane("/device:TPU:0", 1);
  session.AddHost("h", space.Serialize());
  for (const ToolDescriptor& tool :
       {MakePerfCountersTool(), MakeUtilizationViewerTool(), MakeKernelUtilizationTool()}) {
    const auto result = session.Ask(tool, {});
    ASSERT_TRUE(result.ok()) << tool.id;
    ASSERT_EQ(result->notices.size(), 1u) << tool.id;
    EXPECT_EQ(result->notices[0].name, "NO_COUNTERS");
    EXPECT_FALSE(result->notices[0].hint.empty());
  }
}

}  // namespace
}  // namespace strobe::tools
