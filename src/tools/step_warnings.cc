#include "src/tools/step_warnings.h"

#include <string_view>

namespace strobe::tools {
namespace {

struct Words {
  std::string_view incomplete;
  std::string_view no_common_step;
  std::string_view no_step;
  std::string_view dropped;  // behind a number
};

constexpr Words kOurs = {
    "The profile holds no complete step, so the length of the profile stands for it. Capture for "
    "longer than a step takes.",
    "Hosts have steps, but none that all of them have, so step times are unknown. Capture all "
    "hosts at the same time and for longer.",
    "The profile marks no steps, so step times are unknown. Mark them in the training loop "
    "(jax.profiler.StepTraceAnnotation), or capture for longer than a step takes.",
    " steps were left out because there are too many. Capture fewer hosts, or for a shorter time."};

constexpr Words kTheirs = {
    "Incomplete step observed and hence the step time is unknown."
    "Instead, we use the trace duration as the step time. This may happen"
    " if your profiling duration is shorter than the step time. In this"
    " case, you may try to profile longer.",
    "Although there are steps observed on some host(s), the intersection of the steps over all "
    "hosts is empty (because the differences among individual host's step sequences are too big). "
    "Consequently, the overall step time is unknown.",
    "No step marker observed and hence the step time is unknown."
    " This may happen if (1) training steps are not instrumented (e.g., if"
    " you are not using Keras) or (2) the profiling duration is shorter"
    " than the step time. For (1), you need to add step instrumentation;"
    " for (2), you may try to profile longer.",
    " steps dropped. This might happen when you profile many hosts and/or many "
    "steps. You could try to profile shorter or reduce the number of hosts you profile."};

}  // namespace

std::vector<std::string> StepWarnings(const analysis::StepDatabase& steps, bool as_xprof) {
  const Words& words = as_xprof ? kTheirs : kOurs;
  std::vector<std::string> warnings;
  if (steps.use_incomplete_step) {
    warnings.emplace_back(words.incomplete);
  } else if (steps.steps.empty()) {
    warnings.emplace_back(steps.empty_intersect ? words.no_common_step : words.no_step);
  }
  if (steps.steps_dropped > 0) {
    warnings.push_back(std::to_string(steps.steps_dropped) + std::string(words.dropped));
  }
  return warnings;
}

}  // namespace strobe::tools
