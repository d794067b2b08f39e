// overview_page, input_pipeline_analyzer, pod_viewer and smart_suggestion over op stats made by
// hand: every expected number is worked out in the test.
#include <gtest/gtest.h>

#include "src/analysis/step_sequence_for_test.h"
#include "src/tools/input_pipeline_analysis.h"
#include "src/tools/input_pipeline_analyzer.h"
#include "src/tools/overview_page.h"
#include "src/tools/pod_viewer.h"
#include "src/tools/smart_suggestion.h"
#include "src/tools/step_tools_input_for_test.h"

namespace strobe::tools {
namespace {

using analysis::CoreStep;
using analysis::EventType;
using analysis::OpMetrics;
using analysis::OpStats;
using analysis::Step;

constexpr uint64_t kMs = 1'000'000'000;

// A host without devices: `steps` of 10 ms, 6 of them computing, 3 waiting for input.
OpStats CpuHost(size_t steps, int64_t first = 0) {
  OpStats stats;
  stats.run.hardware = analysis::HardwareType::kCpuOnly;
  stats.run.device_type = "CPU";
  stats.run.host_count = stats.run.task_count = 1;
  stats.cores[analysis::kGenericCore].hostname = "worker";
  for (size_t i = 0; i < steps; ++i) {
    Step& step = stats.steps.steps.emplace_back();
    step.step_num = first + static_cast<int64_t>(i);
    CoreStep& core = step.cores[analysis::kGenericCore];
    core.step_num = step.step_num;
    core.step_name = "train " + std::to_string(step.step_num);
    core.begin_ps = step.step_num * static_cast<int64_t>(10 * kMs);
    core.duration_ps = 10 * kMs;
    core.type_ps[static_cast<size_t>(EventType::kHostCompute)] = 6 * kMs;
    core.type_ps[static_cast<size_t>(EventType::kHostWaitInput)] = 3 * kMs;
    core.type_ps[static_cast<size_t>(EventType::kUnknown)] = 1 * kMs;
  }
  return stats;
}

OpStats TpuHost() {
  OpStats stats;
  stats.run.hardware = analysis::HardwareType::kTpu;
  stats.run.device_type = "TPU v6 Lite";
  stats.run.device_core_count = 2;
  stats.run.host_count = stats.run.task_count = 1;
  stats.cores[1] = {.hostname = "worker", .device_ordinal = 0};
  stats.cores[2] = {.hostname = "worker", .device_ordinal = 1};
  Step& step = stats.steps.steps.emplace_back();
  step.step_num = 3;
  for (const uint32_t core : {1u, 2u}) {
    CoreStep& part = step.cores[core];
    part.is_tpu = true;
    part.step_num = 3;
    part.duration_ps = 100 * kMs;
    part.category_ps["infeed"] = (core == 1 ? 10 : 30) * kMs;
    part.category_ps["fusion"] = 40 * kMs;
    part.category_ps["all-gather"] = (core == 1 ? 35 : 15) * kMs;
    part.category_ps["IDLE"] = 15 * kMs;
  }
  return stats;
}

TEST(InputPipeline, GenericStepsAreSharedOut) {
  OpStatsInput input({CpuHost(3)});
  const ToolResult result = Ask(MakeInputPipelineAnalyzerTool(), input, true);
  ASSERT_EQ(result.tables.size(), 5u);
  EXPECT_TRUE(result.tables[0].empty()) << "the longest infeed is a matter of TPUs";
  const Table& steps = result.tables[1];
  ASSERT_EQ(steps.rows().size(), 3u);
  EXPECT_EQ(TextAt(steps, 1, "stepnum"), "train 1");
  EXPECT_DOUBLE_EQ(NumberAt(steps, 1, "hostComputeTimeMs"), 6);
  EXPECT_DOUBLE_EQ(NumberAt(steps, 1, "infeedTimeMs"), 3);
  EXPECT_DOUBLE_EQ(NumberAt(steps, 1, "otherTimeMs"), 1);
  EXPECT_DOUBLE_EQ(NumberAt(steps, 1, "stepTimeMs"), 10);
  EXPECT_EQ(steps.subjects()[1].step, 1);
  EXPECT_EQ(PropertyOf(steps, "steptime_ms_average"), "10.0");
  EXPECT_EQ(PropertyOf(steps, "infeed_time_ms_avg"), "3.0");
  EXPECT_NE(PropertyOf(steps, "input_conclusion").find("Input limits the steps: 30.0 %"),
            std::string::npos);
}

TEST(InputPipeline, TpuStepsTakeTheCoreThatWaitedLongest) {
  OpStatsInput input({TpuHost()});
  const ToolResult result = Ask(MakeInputPipelineAnalyzerTool(), input, true);
  const Table& cores = result.tables[0];
  ASSERT_EQ(cores.rows().size(), 2u);
  EXPECT_EQ(TextAt(cores, 0, "0"), "3");
  EXPECT_EQ(TextAt(cores, 1, "0"), "worker:1");
  const Table& steps = result.tables[1];
  ASSERT_EQ(steps.rows().size(), 1u);
  EXPECT_DOUBLE_EQ(NumberAt(steps, 0, "tcInfeedTimeMs"), 30);
  EXPECT_DOUBLE_EQ(NumberAt(steps, 0, "tcComputeTimeMs"), 100 - 30 - 15);
  EXPECT_DOUBLE_EQ(NumberAt(steps, 0, "tcIdleTimeMs"), 100 - 55 - 30);
  EXPECT_DOUBLE_EQ(NumberAt(steps, 0, "infeedPercentAverage"), 20);
  EXPECT_EQ(PropertyOf(steps, "active_steptime_ms_average"), "65.00") << "mean of 75 and 55";
}

TEST(InputPipeline, XprofLeavesOutTheFirstAndLastStepOfOneHost) {
  OpStatsInput one({CpuHost(8)});
  EXPECT_EQ(Ask(MakeInputPipelineAnalyzerTool(), one, true).tables[1].rows().size(), 6u);
  EXPECT_EQ(Ask(MakeInputPipelineAnalyzerTool(), one, false).tables[1].rows().size(), 8u);
  OpStatsInput five({CpuHost(5)});
  EXPECT_EQ(Ask(MakeInputPipelineAnalyzerTool(), five, true).tables[1].rows().size(), 5u);
  OpStatsInput two({CpuHost(8), CpuHost(8)});
  EXPECT_EQ(Ask(MakeInputPipelineAnalyzerTool(), two, true).tables[1].rows().size(), 8u);
}

TEST(InputPipeline, OneStepHasNoDeviation) {
  OpStatsInput input({CpuHost(1)});
  const ToolResult xprof = Ask(MakeInputPipelineAnalyzerTool(), input, true);
  EXPECT_EQ(PropertyOf(xprof.tables[1], "host_compute_time_ms_sdv"), "0.0");
  EXPECT_EQ(PropertyOf(xprof.tables[1], "compile_time_ms_sdv"), "-nan");
  const ToolResult ours = Ask(MakeInputPipelineAnalyzerTool(), input, false);
  EXPECT_EQ(PropertyOf(ours.tables[1], "compile_time_ms_sdv"), "0.0");
  EXPECT_NE(FindNotice(ours, "ONE_STEP"), nullptr);
}

TEST(InputPipeline, ProfileWithoutStepsSaysWhatGivesSteps) {
  OpStatsInput input({CpuHost(0)});
  const ToolResult result = Ask(MakeInputPipelineAnalyzerTool(), input, false);
  const Notice* notice = FindNotice(result, "NO_STEPS");
  ASSERT_NE(notice, nullptr);
  EXPECT_NE(notice->hint.find("StepTraceAnnotation"), std::string::npos);
  EXPECT_TRUE(result.tables[1].rows().empty());
}

TEST(InputPipeline, StepsOfOneHostOnlyAreNotThoseOfTwo) {
  OpStatsInput input({CpuHost(8), CpuHost(0)});
  const ToolResult result = Ask(MakeInputPipelineAnalyzerTool(), input, false);
  const Notice* notice = FindNotice(result, "NO_STEPS");
  ASSERT_NE(notice, nullptr);
  EXPECT_NE(notice->hint.find("one host"), std::string::npos);
}

TEST(InputPipeline, HostOpsAreScaledByTheEnqueueRatio) {
  OpStats stats = TpuHost();
  const auto add = [&](std::string name, std::string category, uint64_t self_ms) {
    OpMetrics& op = stats.host_ops.ops.emplace_back();
    op.name = std::move(name);
    op.category = std::move(category);
    op.occurrences = 2;
    op.time_ps = op.self_time_ps = self_ms * kMs;
  };
  add("InfeedEnqueueTuple", "InfeedEnqueueTuple", 10);
  add("Iterator::TFRecord", "Dataset", 20);
  add("Iterator::Prefetch::TFRecord", "Dataset", 5);
  add("Iterator::Map", "Dataset", 25);
  add("MatMul", "MatMul", 1000);
  // Enqueueing took a quarter of the host's time.
  stats.host_ops.host_infeed_enqueue_duration_ps = 25;
  stats.host_ops.host_infeed_enqueue_start_difference_ps = 100;
  OpStatsInput input({stats});
  const Table table = Ask(MakeInputPipelineAnalyzerTool(), input, true).tables[2];
  ASSERT_EQ(table.rows().size(), 4u);
  EXPECT_EQ(TextAt(table, 0, "opName"), "Iterator::Map");
  EXPECT_EQ(TextAt(table, 0, "category"), "Preprocessing");
  EXPECT_EQ(TextAt(table, 1, "category"), "Demanded file read");
  EXPECT_EQ(TextAt(table, 3, "category"), "Advanced file read");
  EXPECT_DOUBLE_EQ(NumberAt(table, 0, "selfTimeInPercent"), 25.0 / 60.0);
  // 10 ms enqueue, so 30 ms for the rest, shared out as 20 : 5 : 25.
  EXPECT_EQ(PropertyOf(table, "enqueue_us"), "10000.000");
  EXPECT_EQ(PropertyOf(table, "demanded_file_read_us"), "12000.000");
  EXPECT_EQ(PropertyOf(table, "advanced_file_read_us"), "3000.000");
  EXPECT_EQ(PropertyOf(table, "preprocessing_us"), "15000.000");
}

TEST(PodViewer, TpuCategoriesBecomeKindsOfTime) {
  OpStatsInput input({TpuHost()});
  const ToolResult xprof = Ask(MakePodViewerTool(), input, true);
  ASSERT_EQ(xprof.shape, ToolResult::Shape::kDocument);
  const Value* steps = xprof.document.Find("podStatsSequence")->Find("podStatsMap");
  ASSERT_EQ(steps->items().size(), 1u);
  const Value* core = steps->items()[0].Find("podStatsPerCore")->Find("2");
  ASSERT_NE(core, nullptr);
  EXPECT_EQ(core->Find("hostName")->string_value(), "worker");
  EXPECT_DOUBLE_EQ(core->Find("totalDurationUs")->AsNumber(), 100'000);
  const Value* times = core->Find("stepBreakdownUs");
  EXPECT_DOUBLE_EQ(times->Find("1")->AsNumber(), 55'000) << "an all-gather computes, there";
  EXPECT_DOUBLE_EQ(times->Find("3")->AsNumber(), 0);
  EXPECT_DOUBLE_EQ(times->Find("6")->AsNumber(), 30'000);
  EXPECT_DOUBLE_EQ(times->Find("9")->AsNumber(), 15'000);
  EXPECT_EQ(core->Find("bottleneck")->string_value(), "Device compute");
  // Ours knows an all-gather for a collective.
  const Table table = Ask(MakePodViewerTool(), input, false).tables[0];
  ASSERT_EQ(table.rows().size(), 2u);
  EXPECT_DOUBLE_EQ(NumberAt(table, 0, "collectivesUs"), 35'000);
  EXPECT_DOUBLE_EQ(NumberAt(table, 0, "deviceComputeUs"), 40'000);
  EXPECT_EQ(table.subjects()[0].step, 3);
  EXPECT_EQ(table.subjects()[0].host, "worker");
}

TEST(PodViewer, PartsSumToTheStep) {
  OpStatsInput input({CpuHost(4), CpuHost(4)});
  const Table table = Ask(MakePodViewerTool(), input, false).tables[0];
  ASSERT_EQ(table.rows().size(), 8u);
  for (size_t row = 0; row < table.rows().size(); ++row) {
    double sum = 0;
    for (const std::string_view id :
         {"deviceComputeUs", "deviceToDeviceUs", "collectivesUs", "hostComputeUs", "kernelLaunchUs",
          "inputUs", "outputUs", "compilationUs", "allOthersUs"}) {
      sum += NumberAt(table, row, id);
    }
    EXPECT_DOUBLE_EQ(sum, NumberAt(table, row, "totalDurationUs"));
  }
}

// 2 TensorCores at 100 TFLOP/s and 1,000 GB/s: ops of 10 ms with 4e11 flops, 2e9 HBM bytes.
OpStats HostWithPeaks() {
  OpStats stats = TpuHost();
  stats.perf.peak_tera_flops_per_second = 100;
  stats.perf.peak_hbm_gbps = 1000;
  OpMetrics& op = stats.complete_steps_ops.ops.emplace_back();
  op.name = "fusion";
  op.category = "fusion";
  op.occurrences = 1;
  op.flops = 4e11;
  op.model_flops = 3e11;
  op.memory_accessed = {{.space = 1, .bytes = 1'500'000'000},
                        {.space = 1, .is_write = true, .bytes = 500'000'000},
                        {.space = 3, .bytes = 9'000'000'000}};
  OpMetrics& loop = stats.complete_steps_ops.ops.emplace_back();
  loop.name = "while";
  loop.category = "while";
  loop.occurrences = 1;
  loop.flops = 1e15;  // those of its body, which count there
  stats.complete_steps_ops.total_time_ps = 10 * kMs;
  return stats;
}

TEST(Overview, BytesWithoutABreakdownGoToHbm) {
  OpStats stats = HostWithPeaks();
  for (OpMetrics& op : stats.complete_steps_ops.ops) {
    op.memory_accessed.clear();
    op.bytes_accessed = op.category == "while" ? 7'000'000'000 : 4'000'000'000;
  }
  const size_t counted = stats.complete_steps_ops.ops.size() - 1;
  ASSERT_EQ(counted, 1u);
  OpStatsInput input({std::move(stats)});
  const Table ours = Ask(MakeOverviewPageTool(), input, false).tables[0];
  // 4e9 bytes in 10 ms are 400 GB/s of 1,000; 4e11 flops over them allow 100 TFLOP/s.
  EXPECT_EQ(PropertyOf(ours, "memory_bw_utilization_relative_to_hw_limit"), "40.0%");
  EXPECT_EQ(PropertyOf(ours, "flop_rate_utilization_relative_to_roofline"), "40.0%");
}

TEST(Overview, RatesStandAgainstTheLimitsOfTheHardware) {
  OpStatsInput input({HostWithPeaks()});
  const Table ours = Ask(MakeOverviewPageTool(), input, false).tables[0];
  // 4e11 flops in 10 ms are 40 TFLOP/s. 200 flops a byte would allow 200 TFLOP/s, so the peak is
  // the limit.
  EXPECT_EQ(PropertyOf(ours, "flop_rate_utilization_relative_to_roofline"), "40.0%");
  // 2e9 bytes in 10 ms are 200 GB/s.
  EXPECT_EQ(PropertyOf(ours, "memory_bw_utilization_relative_to_hw_limit"), "20.0%");
  EXPECT_EQ(PropertyOf(ours, "program_goodput_percent"), "30.0%");
  const Table xprof = Ask(MakeOverviewPageTool(), input, true).tables[0];
  EXPECT_EQ(PropertyOf(xprof, "flop_rate_utilization_relative_to_roofline"), "0.0%");
  EXPECT_EQ(PropertyOf(xprof, "memory_bw_utilization_relative_to_hw_limit"), "0.0%");
  EXPECT_EQ(xprof.FindProperty("program_goodput_percent"), nullptr);
}

TEST(Overview, UnknownPeaksAreNotZeroPercent) {
  OpStatsInput input({TpuHost()});
  const Table ours = Ask(MakeOverviewPageTool(), input, false).tables[0];
  EXPECT_EQ(PropertyOf(ours, "flop_rate_utilization_relative_to_roofline"), "unknown");
  EXPECT_EQ(PropertyOf(ours, "mxu_utilization_percent"), "unknown");
  const Table xprof = Ask(MakeOverviewPageTool(), input, true).tables[0];
  EXPECT_EQ(PropertyOf(xprof, "mxu_utilization_percent"), "0.0%");
}

TEST(Overview, BottleneckOfTpuStepsIsToldByOursAlone) {
  OpStatsInput input({TpuHost()});
  const Table ours = Ask(MakeOverviewPageTool(), input, false).tables[3];
  EXPECT_EQ(PropertyOf(ours, "bottleneck"), "host") << "30 % of the step waits for input";
  EXPECT_NE(PropertyOf(ours, "idle_statement").find("15.0 %"), std::string::npos);
  const Table xprof = Ask(MakeOverviewPageTool(), input, true).tables[3];
  EXPECT_EQ(PropertyOf(xprof, "bottleneck"), "");
  EXPECT_EQ(PropertyOf(xprof, "statement"), "");
}

TEST(Overview, HasSevenTablesOfWhichOneIsEmpty) {
  OpStatsInput input({CpuHost(3)});
  const ToolResult result = Ask(MakeOverviewPageTool(), input, true);
  ASSERT_EQ(result.tables.size(), 7u);
  EXPECT_TRUE(result.tables[5].empty());
  EXPECT_EQ(PropertyOf(result.tables[2], "task_count"), "1 (num tasks per host = 1)");
  EXPECT_EQ(PropertyOf(result.tables[2], "is_training"), "false");
  EXPECT_EQ(PropertyOf(result.tables[0], "device_duty_cycle_percent"), "0.0%");
  EXPECT_EQ(PropertyOf(result.tables[3], "bottleneck"), "host");
}

const RuleOutcome& Rule(const std::vector<RuleOutcome>& outcomes, std::string_view name) {
  for (const RuleOutcome& outcome : outcomes) {
    if (outcome.rule == name) return outcome;
  }
  static const RuleOutcome none;
  ADD_FAILURE() << "no rule " << name;
  return none;
}

TEST(SmartSuggestion, HasTwelveRulesAndKnowsNothingOfAnEmptyProfile) {
  const std::vector<RuleOutcome> outcomes = JudgeSuggestions({});
  EXPECT_EQ(outcomes.size(), 12u);
  for (const RuleOutcome& outcome : outcomes) {
    EXPECT_FALSE(outcome.known) << outcome.rule;
    EXPECT_FALSE(outcome.applies) << outcome.rule;
  }
}

TEST(SmartSuggestion, ThresholdsAreThoseOfTheReference) {
  SuggestionSignals signals;
  signals.mxu_percent = 71;
  signals.hbm_percent = 49;
  EXPECT_TRUE(Rule(JudgeSuggestions(signals), "ComputeBoundRule").applies);
  EXPECT_FALSE(Rule(JudgeSuggestions(signals), "MemoryBoundRule").applies);
  signals = {.mxu_percent = 49, .hbm_percent = 71};
  EXPECT_TRUE(Rule(JudgeSuggestions(signals), "MemoryBoundRule").applies);
  signals = {.mxu_percent = 49, .hbm_percent = 49};
  signals.idle_percent = 11;
  signals.sparse_core_percent = 11;
  EXPECT_TRUE(Rule(JudgeSuggestions(signals), "TensorCoreIdleBoundRule").applies);
  EXPECT_TRUE(Rule(JudgeSuggestions(signals), "SparseCoreBoundRule").applies);
  signals = {.input_percent = 11};
  EXPECT_TRUE(Rule(JudgeSuggestions(signals), "InputBoundRule").applies);
  signals.enqueue_percent = 30;
  signals.non_enqueue_percent = 70;
  EXPECT_FALSE(Rule(JudgeSuggestions(signals), "InputBoundRule").applies);
  EXPECT_TRUE(Rule(JudgeSuggestions(signals), "HostProcessingBoundRule").applies);
  EXPECT_TRUE(Rule(JudgeSuggestions(signals), "DataTransferBoundRule").applies);
  signals = {.collective_percent = 30, .shuffle_percent = 30};
  signals.async_done_percent = 11;
  signals.memory_percent = 49;
  signals.debug_print_percent = 5;
  signals.barrier_percent = 10;
  const std::vector<RuleOutcome> outcomes = JudgeSuggestions(signals);
  for (const std::string_view rule :
       {"CollectiveBoundRule", "DataShuffleBoundRule", "SparseCoreOffloadRule", "DebugPrintRule",
        "BarrierCoresRule"}) {
    EXPECT_TRUE(Rule(outcomes, rule).applies) << rule;
    EXPECT_FALSE(Rule(outcomes, rule).suggestion.empty()) << rule;
  }
  signals.barrier_percent = 9.9;
  EXPECT_FALSE(Rule(JudgeSuggestions(signals), "BarrierCoresRule").applies);
}

TEST(SmartSuggestion, OursShowsEveryRuleXprofOnlyWhatApplies) {
  OpStatsInput input({TpuHost()});
  const ToolResult xprof = Ask(MakeSmartSuggestionTool(), input, true);
  EXPECT_EQ(xprof.shape, ToolResult::Shape::kDocument);
  EXPECT_TRUE(xprof.document.Find("suggestions")->items().empty());
  const ToolResult ours = Ask(MakeSmartSuggestionTool(), input, false);
  ASSERT_EQ(ours.tables.size(), 1u);
  EXPECT_EQ(ours.tables[0].rows().size(), 12u);
  // 30 % of the step waits for input and no input operation is known.
  ASSERT_FALSE(ours.document.Find("suggestions")->items().empty());
  EXPECT_EQ(ours.document.Find("suggestions")->items()[0].Find("ruleName")->string_value(),
            "InputBoundRule");
}

TEST(Summary, SampleDeviation) {
  const StepSummary summary = Summarize({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(summary.average, 5);
  EXPECT_NEAR(summary.standard_deviation, 2.13809, 1e-5);  // sqrt(32 / 7)
  EXPECT_EQ(summary.minimum, 2);
  EXPECT_EQ(summary.maximum, 9);
  EXPECT_EQ(Summarize({}).average, 0);
}

}  // namespace
}  // namespace strobe::tools
