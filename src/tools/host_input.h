// What the host did in each step to get input: the time that the thread of the steps spent in input
// functions, and how much of it no device worked in.
//
//   STROBE_ASSIGN_OR_RETURN(const HostInput input, HostInputOf(question, session, "", cancel));
//   for (const HostInputStep& step : input.steps) Use(step.number, step.waited_ps);
//
// JAX programs call their input pipeline from Python, where no event type says that it is one;
// XProf counts such time as "all others", and input as 0 %. Here a step is an event with `step_num`
// on a host thread, and input is what that thread did inside it under a name like load_batch,
// next_batch, tokenize, data_loader or IteratorGetNext (kInputNames, or a pattern of the asker's).
// Nested and overlapping events count once. Device work are the outermost events of device planes,
// and of the CPU device's threads (tf_XLA...). Of several hosts the longest of each step counts.
//
// Cost: one walk over the host's lines; the device lines only when there is input. Limits:
// kMaxHostInputSteps. Errors: PATTERN_INVALID, CANCELLED.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/tools/input_pipeline_analysis.h"
#include "src/tools/tool.h"

namespace strobe::tools {

inline constexpr size_t kMaxHostInputSteps = 1'000'000;
extern const std::string_view kInputNames;  // RE2

struct HostInputStep {
  int64_t number = 0;
  int64_t duration_ps = 0;
  int64_t input_ps = 0;   // inside input functions
  int64_t waited_ps = 0;  // of it, while no device worked
};

struct HostInputEvents {
  std::string name;
  uint64_t count = 0;
  int64_t total_ps = 0;
};

struct HostInput {
  std::vector<HostInputStep> steps;     // by number
  std::vector<HostInputEvents> events;  // most time first
  bool any() const { return !events.empty(); }
};

// `pattern` empty: kInputNames.
Result<HostInput> HostInputOf(const ToolQuestion& question, ToolInput& input,
                              std::string_view pattern, const CancelToken& cancel);

// Counts the waiting as input of the steps of the same number, takes it from what was not
// explained, and judges anew.
void AddHostInput(const HostInput& input, InputPipelineAnalysis* analysis);

// AnalyzeInputPipeline, and with it what the hosts waited for input unless XProf's numbers are
// asked for; `host_input` (which may be null) gets what was found.
Result<InputPipelineAnalysis> AnalyzeSteps(const ToolQuestion& question, ToolInput& input,
                                           const analysis::OpStats& stats,
                                           std::span<const analysis::Step> steps,
                                           const CancelToken& cancel, std::string_view pattern = {},
                                           HostInput* host_input = nullptr);

}  // namespace strobe::tools
