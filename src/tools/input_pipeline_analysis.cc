#include "src/tools/input_pipeline_analysis.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

namespace strobe::tools {
namespace {

using analysis::CoreStep;
using analysis::EventType;
using analysis::OpMetrics;
using analysis::OpMetricsDb;
using analysis::OpStats;
using analysis::SafeDivide;
using analysis::Step;
using analysis::TpuStepDetails;

constexpr size_t kMinStepsToDrop = 5;
// Percent of the step time.
constexpr double kHighlyInputBound = 20, kModeratelyInputBound = 5;
constexpr double kHighlyOutputBound = 20, kModeratelyOutputBound = 5;
constexpr double kHigh = 15, kModerate = 3;  // kernel launch, collectives, all others
constexpr double kIdleTold = 3;
constexpr double kAllReduceTold = 6;

double Milliseconds(uint64_t ps) { return static_cast<double>(ps) / 1e9; }
double Microseconds(uint64_t ps) { return static_cast<double>(ps) / 1e6; }

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

GenericStep MakeGenericStep(const CoreStep& core) {
  const auto ms = [&](EventType type) {
    return Milliseconds(core.type_ps[static_cast<size_t>(type)]);
  };
  GenericStep step;
  step.number = core.step_num;
  step.name = core.step_name.empty() ? std::to_string(core.step_num) : core.step_name;
  step.step_ms = Milliseconds(core.duration_ps);
  step.unknown_ms = ms(EventType::kUnknown);
  step.host_wait_input_ms = ms(EventType::kHostWaitInput);
  step.host_to_device_ms = ms(EventType::kHostToDevice) + ms(EventType::kDeviceWaitHost);
  step.output_ms = ms(EventType::kDeviceToHost);
  step.device_compute_ms = ms(EventType::kDeviceCompute16) + ms(EventType::kDeviceCompute32);
  step.device_to_device_ms = ms(EventType::kDeviceToDevice) + ms(EventType::kDeviceWaitDevice);
  step.device_collectives_ms = ms(EventType::kDeviceCollectives);
  step.host_compute_ms = ms(EventType::kHostCompute);
  step.host_prepare_ms = ms(EventType::kHostPrepare);
  step.host_compile_ms = ms(EventType::kHostCompile);
  return step;
}

// A step takes as long as its slowest TensorCore.
StepSummary SummarizeStepTimes(std::span<const Step> steps) {
  std::vector<double> times;
  for (const Step& step : steps) {
    double longest_ms = 0;
    for (const auto& [core, part] : step.cores) {
      if (part.is_tpu && core >= analysis::kSparseCoreIndexStart) continue;
      longest_ms = std::max(longest_ms, Milliseconds(part.duration_ps));
    }
    times.push_back(longest_ms);
  }
  return Summarize(times);
}

void AnalyzeGeneric(std::span<const Step> steps, InputPipelineAnalysis* analysis) {
  std::vector<double> input_percent;
  for (const Step& step : steps) {
    // Hosts of a GPU or CPU tell everything under one core; of several hosts the first counts.
    const auto core = step.cores.find(analysis::kGenericCore);
    if (core == step.cores.end()) continue;
    const GenericStep& made = analysis->generic_steps.emplace_back(MakeGenericStep(core->second));
    input_percent.push_back(100.0 * SafeDivide(made.InputMs(), made.step_ms));
  }
  analysis->input_percent = Summarize(input_percent);
}

void AnalyzeTpu(const OpStats& stats, std::span<const Step> steps,
                InputPipelineAnalysis* analysis) {
  for (const auto& [core, details] : stats.cores) {
    analysis->has_sparse_core |= details.is_sparse_core;
  }
  std::vector<double> input_percent;
  for (const Step& step : steps) {
    analysis->tpu_steps.push_back(analysis::ComputeTpuStepDetails(step));
    input_percent.push_back(analysis->tpu_steps.back().infeed_percent_maximum);
  }
  analysis->input_percent = Summarize(input_percent);
}

// nullopt: no input op.
std::optional<InputOpCategory> CategoryOf(const OpMetrics& op) {
  const std::string type = LowerCase(op.category);
  if (type == "enqueue") return InputOpCategory::kEnqueue;
  if (type == "read") return InputOpCategory::kDemandedFileRead;
  if (type == "preprocessing") return InputOpCategory::kPreprocessing;
  if (type == "unknown") return InputOpCategory::kUnknown;
  if (op.category.starts_with("InfeedEnqueue") || op.category == "MemcpyHToD") {
    return InputOpCategory::kEnqueue;
  }
  if (op.category != "Dataset") return std::nullopt;
  const std::string_view name = op.name;
  constexpr std::string_view kReaders[] = {"::TFRecord", "::TextLine", "::FixedLengthRecord",
                                           "::SSTable",  "::RecordIO", "::ArrayRecord"};
  constexpr std::string_view kAhead[] = {"::MemoryReader", "::MemoryWriter", "::Interleave",
                                         "::Prefetch", "::ParallelMap"};
  const bool reads =
      std::ranges::any_of(kReaders, [&](std::string_view end) { return name.ends_with(end); });
  if (!reads) return InputOpCategory::kPreprocessing;
  const bool ahead = std::ranges::any_of(
      kAhead, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
  return ahead ? InputOpCategory::kAdvancedFileRead : InputOpCategory::kDemandedFileRead;
}

// Host-to-device time over step time.
double EnqueueRatio(const OpMetricsDb& host_ops, const InputPipelineAnalysis& analysis) {
  if (host_ops.host_infeed_enqueue_start_difference_ps > 0) {
    return SafeDivide(static_cast<double>(host_ops.host_infeed_enqueue_duration_ps),
                      static_cast<double>(host_ops.host_infeed_enqueue_start_difference_ps));
  }
  if (analysis.step_time_ms.average <= 0 || analysis.is_tpu) return 0;
  std::vector<double> host_to_device;
  for (const GenericStep& step : analysis.generic_steps) {
    host_to_device.push_back(step.host_to_device_ms);
  }
  return SafeDivide(Summarize(host_to_device).average, analysis.step_time_ms.average);
}

void AnalyzeHostOps(const OpMetricsDb& host_ops, InputPipelineAnalysis* analysis) {
  struct Chosen {
    const OpMetrics* op;
    InputOpCategory category;
  };
  std::vector<Chosen> chosen;
  uint64_t total_ps = 0;
  for (const OpMetrics* op : analysis::SortedBySelfTime(host_ops)) {
    const std::optional<InputOpCategory> category = CategoryOf(*op);
    if (!category) continue;
    chosen.push_back({op, *category});
    total_ps += op->self_time_ps;
  }
  if (chosen.empty()) return;
  double self_us[5] = {};
  const auto total = static_cast<double>(total_ps);
  for (const auto& [op, category] : chosen) {
    analysis->input_ops.push_back(
        {.name = op->name,
         .count = op->occurrences,
         .time_ms = Milliseconds(op->time_ps),
         .time_fraction = SafeDivide(static_cast<double>(op->time_ps), total),
         .self_time_ms = Milliseconds(op->self_time_ps),
         .self_time_fraction = SafeDivide(static_cast<double>(op->self_time_ps), total),
         .category = category});
    self_us[static_cast<size_t>(category)] += Microseconds(op->self_time_ps);
  }
  const double enqueue_us = self_us[0];
  const double other_us = self_us[1] + self_us[2] + self_us[3];
  const double ratio = std::min(1.0, EnqueueRatio(host_ops, *analysis));
  const double non_enqueue_us = ratio != 0.0 ? enqueue_us * (1.0 - ratio) / ratio : other_us;
  InputTime& time = analysis->input_time;
  time.enqueue_us = enqueue_us;
  time.demanded_file_read_us = SafeDivide(non_enqueue_us * self_us[1], other_us);
  time.advanced_file_read_us = SafeDivide(non_enqueue_us * self_us[2], other_us);
  time.preprocessing_us = SafeDivide(non_enqueue_us * self_us[3], other_us);
  time.unclassified_us = std::max(0.0, non_enqueue_us - time.demanded_file_read_us -
                                           time.advanced_file_read_us - time.preprocessing_us);
}

Verdict JudgeInput(double input_percent, double all_other_percent) {
  if (input_percent >= kHighlyInputBound) return Verdict::kHost;
  if (input_percent >= kModeratelyInputBound) return Verdict::kBoth;
  return all_other_percent >= kModerate ? Verdict::kPotentially : Verdict::kDevice;
}

Verdict JudgeOutput(double percent) {
  if (percent >= kHighlyOutputBound) return Verdict::kHost;
  return percent >= kModeratelyOutputBound ? Verdict::kBoth : Verdict::kDevice;
}

Level JudgeLevel(double percent) {
  if (percent >= kHigh) return Level::kHigh;
  return percent >= kModerate ? Level::kModerate : Level::kNo;
}

}  // namespace

StepSummary Summarize(const std::vector<double>& values) {
  StepSummary summary;
  summary.count = values.size();
  if (values.empty()) return summary;
  double sum = 0, squares = 0;
  summary.minimum = summary.maximum = values.front();
  for (const double value : values) {
    sum += value;
    squares += value * value;
    summary.minimum = std::min(summary.minimum, value);
    summary.maximum = std::max(summary.maximum, value);
  }
  const auto count = static_cast<double>(values.size());
  summary.average = sum / count;
  if (summary.minimum != summary.maximum) {
    summary.standard_deviation =
        std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1)));
  }
  return summary;
}

std::string_view InputOpCategoryName(InputOpCategory category) {
  switch (category) {
    case InputOpCategory::kEnqueue:
      return "Enqueue";
    case InputOpCategory::kDemandedFileRead:
      return "Demanded file read";
    case InputOpCategory::kAdvancedFileRead:
      return "Advanced file read";
    case InputOpCategory::kPreprocessing:
      return "Preprocessing";
    case InputOpCategory::kUnknown:
      break;
  }
  return "Unknown";
}

std::span<const Step> VisibleSteps(const OpStats& stats, const ToolQuestion& question) {
  const std::span<const Step> all = stats.steps.steps;
  const bool one_host = question.hosts.size() == 1;
  const bool drops = question.as_xprof && one_host &&
                     stats.run.hardware != analysis::HardwareType::kTpu &&
                     all.size() > kMinStepsToDrop;
  return drops ? all.subspan(1, all.size() - 2) : all;
}

InputPipelineAnalysis AnalyzeInputPipeline(const OpStats& stats, std::span<const Step> steps) {
  InputPipelineAnalysis analysis;
  analysis.is_tpu = stats.run.hardware == analysis::HardwareType::kTpu;
  analysis.hardware_type = analysis::HardwareTypeName(stats.run.hardware);
  analysis.step_time_ms = SummarizeStepTimes(steps);
  if (analysis.is_tpu) {
    AnalyzeTpu(stats, steps, &analysis);
  } else {
    AnalyzeGeneric(steps, &analysis);
  }
  AnalyzeHostOps(stats.host_ops, &analysis);
  analysis.bottleneck = analysis.is_tpu ? JudgeTpuSteps(analysis.tpu_steps)
                                        : JudgeGenericSteps(analysis.generic_steps);
  return analysis;
}

Bottleneck JudgeTpuSteps(const std::vector<TpuStepDetails>& steps) {
  double step = 0, input = 0, output = 0, scv0 = 0, reduce = 0, sync = 0, idle = 0;
  for (const TpuStepDetails& details : steps) {
    step += details.StepMs();
    input += details.InfeedMs();
    output += details.tc_outfeed_ms;
    scv0 += details.scv0_compute_ms;
    reduce += details.all_reduce_compute_ms;
    sync += details.all_reduce_sync_ms;
    idle += details.tc_idle_ms;
  }
  Bottleneck judged;
  if (step == 0) return judged;
  judged.measured = true;
  judged.input_percent = 100.0 * input / step;
  judged.output_percent = 100.0 * output / step;
  judged.idle_percent = 100.0 * idle / step;
  judged.scv0_percent = 100.0 * scv0 / step;
  judged.all_reduce_compute_percent = 100.0 * reduce / step;
  judged.all_reduce_sync_percent = 100.0 * sync / step;
  judged.compute_percent =
      std::max(0.0, 100.0 - judged.input_percent - judged.output_percent - judged.idle_percent);
  judged.input = JudgeInput(judged.input_percent, 0);
  judged.output = JudgeOutput(judged.output_percent);
  judged.idle = judged.idle_percent >= kIdleTold;
  judged.all_reduce =
      judged.all_reduce_compute_percent + judged.all_reduce_sync_percent - judged.input_percent >=
      kAllReduceTold;
  return judged;
}

Bottleneck JudgeGenericSteps(const std::vector<GenericStep>& steps) {
  double step = 0, input = 0, output = 0, compute = 0, collectives = 0, prepare = 0, unknown = 0;
  for (const GenericStep& details : steps) {
    step += details.step_ms;
    input += details.InputMs();
    output += details.output_ms;
    compute += details.device_compute_ms;
    collectives += details.device_collectives_ms;
    prepare += details.host_prepare_ms;
    unknown += details.unknown_ms;
  }
  Bottleneck judged;
  if (step == 0) return judged;
  judged.measured = true;
  judged.input_percent = 100.0 * input / step;
  judged.output_percent = 100.0 * output / step;
  judged.compute_percent = 100.0 * compute / step;
  judged.collectives_percent = 100.0 * collectives / step;
  judged.kernel_launch_percent = 100.0 * prepare / step;
  judged.all_other_percent = 100.0 * unknown / step;
  judged.idle_percent = std::max(0.0, 100.0 - judged.input_percent - judged.output_percent -
                                          judged.compute_percent - judged.collectives_percent);
  judged.input = JudgeInput(judged.input_percent, judged.all_other_percent);
  judged.output = JudgeOutput(judged.output_percent);
  judged.collectives = JudgeLevel(judged.collectives_percent);
  judged.kernel_launch = JudgeLevel(judged.kernel_launch_percent);
  // Time that makes the program potentially input bound is not reported a second time.
  if (judged.input != Verdict::kPotentially) {
    judged.all_other = JudgeLevel(judged.all_other_percent);
  }
  return judged;
}

}  // namespace strobe::tools
