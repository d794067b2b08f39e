// Where the time of the steps went, and what the host did to bring input: what
// input_pipeline_analyzer, overview_page and smart_suggestion show.
//
//   const InputPipelineAnalysis analysis = AnalyzeInputPipeline(stats, VisibleSteps(stats,
//   question)); analysis.bottleneck.input_percent;
//
// The formulas are XProf's. A TPU is judged by the categories of its ops, everything else by the
// types of its events. Pure functions of the op stats; cost: the steps' cores and the host ops.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/op_stats.h"
#include "src/analysis/tpu_step.h"
#include "src/tools/tool.h"

namespace strobe::tools {

// Mean, deviation of a sample (n - 1), least and largest.
struct StepSummary {
  uint64_t count = 0;
  double average = 0;
  double standard_deviation = 0;
  double minimum = 0;
  double maximum = 0;
  // XProf divides 0 by 0 for one value of 0 and prints "-nan".
  bool undefined_deviation() const { return count == 1 && maximum == 0 && minimum == 0; }
};
StepSummary Summarize(const std::vector<double>& values);

// One step of a GPU or CPU.
struct GenericStep {
  int64_t number = 0;
  std::string name;  // the number when it has none
  double step_ms = 0;
  double unknown_ms = 0;
  double host_wait_input_ms = 0;
  double host_to_device_ms = 0;
  double output_ms = 0;
  double device_compute_ms = 0;
  double device_to_device_ms = 0;
  double device_collectives_ms = 0;
  double host_compute_ms = 0;
  double host_prepare_ms = 0;
  double host_compile_ms = 0;
  double InputMs() const { return host_wait_input_ms + host_to_device_ms; }
};

enum class InputOpCategory : uint8_t {
  kEnqueue,
  kDemandedFileRead,
  kAdvancedFileRead,
  kPreprocessing,
  kUnknown
};
std::string_view InputOpCategoryName(InputOpCategory category);

struct InputOp {
  std::string name;
  uint64_t count = 0;
  double time_ms = 0;
  double time_fraction = 0;  // of all input ops' self time
  double self_time_ms = 0;
  double self_time_fraction = 0;
  InputOpCategory category = InputOpCategory::kUnknown;
};

// Input time on the host, scaled so that enqueueing and the rest stand as they do in the steps.
struct InputTime {
  double enqueue_us = 0;
  double demanded_file_read_us = 0;
  double advanced_file_read_us = 0;
  double preprocessing_us = 0;
  double unclassified_us = 0;
  double NonEnqueueUs() const {
    return demanded_file_read_us + advanced_file_read_us + preprocessing_us + unclassified_us;
  }
  bool UsesTfData() const {
    return demanded_file_read_us > 0 || advanced_file_read_us > 0 || preprocessing_us > 0;
  }
};

enum class Verdict : uint8_t { kUnknown, kHost, kBoth, kPotentially, kDevice };  // of input, output
enum class Level : uint8_t { kNo, kModerate, kHigh };

// Shares of the sum of all step times, in percent, and what they mean.
struct Bottleneck {
  bool measured = false;  // false: no step has a time
  double input_percent = 0;
  double output_percent = 0;
  double compute_percent = 0;
  double idle_percent = 0;  // TPU: idle although not waiting for input
  double collectives_percent = 0;
  double kernel_launch_percent = 0;
  double all_other_percent = 0;
  double all_reduce_compute_percent = 0;  // TPU
  double all_reduce_sync_percent = 0;     // TPU
  double scv0_percent = 0;                // TPU
  Verdict input = Verdict::kUnknown;
  Verdict output = Verdict::kDevice;
  Level collectives = Level::kNo;
  Level kernel_launch = Level::kNo;
  Level all_other = Level::kNo;
  bool idle = false;        // TPU: enough to be told
  bool all_reduce = false;  // TPU: enough beside the input to be told
};

struct InputPipelineAnalysis {
  bool is_tpu = false;
  bool has_sparse_core = false;
  std::string hardware_type;
  StepSummary step_time_ms;
  StepSummary input_percent;
  std::vector<GenericStep> generic_steps;           // !is_tpu
  std::vector<analysis::TpuStepDetails> tpu_steps;  // is_tpu
  std::vector<InputOp> input_ops;                   // heaviest self time first
  InputTime input_time;
  Bottleneck bottleneck;
};

// The steps that a question sees. XProf leaves out the first and the last of more than five steps
// of one GPU or CPU host, because they may be incomplete; ours only when asked as XProf.
std::span<const analysis::Step> VisibleSteps(const analysis::OpStats& stats,
                                             const ToolQuestion& question);

InputPipelineAnalysis AnalyzeInputPipeline(const analysis::OpStats& stats,
                                           std::span<const analysis::Step> steps);

// The generic judgement, which XProf's overview also makes of a TPU's steps (it then knows none).
Bottleneck JudgeGenericSteps(const std::vector<GenericStep>& steps);
Bottleneck JudgeTpuSteps(const std::vector<analysis::TpuStepDetails>& steps);

}  // namespace strobe::tools
