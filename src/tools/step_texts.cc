#include "src/tools/step_texts.h"

#include <cstdio>

namespace strobe::tools {
namespace {

std::string OneDigit(double value) { return FixedDigits(value, 1); }

constexpr std::string_view kNotMeasured =
    "No step was measured, so nothing can be said about what limits it.";

std::string ShareStatement(double percent, std::string_view what) {
  return OneDigit(percent) + " % of the step time goes into " + std::string(what) + ".";
}

}  // namespace

const std::string_view kNoDeviceTrace =
    "No device was recorded: nothing ran on the devices during the capture, or the capture saw the "
    "host only. Capture again while the job runs.";

std::string FixedDigits(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string Percent(double value) { return value >= 0 ? OneDigit(value) + "%" : "unknown"; }

std::string InputStatement(const Bottleneck& bottleneck) {
  const std::string input = OneDigit(bottleneck.input_percent) + " % of the step time";
  switch (bottleneck.input) {
    case Verdict::kHost:
      return "Input limits the steps: " + input + " goes into waiting for it. Shorten that first.";
    case Verdict::kBoth:
      return "Input slows the steps down: " + input + " goes into waiting for it.";
    case Verdict::kPotentially:
      return OneDigit(bottleneck.all_other_percent) +
             " % of the step time belongs to no recorded work: it may be input or Python.";
    case Verdict::kDevice:
      return "Input does not limit the steps: it takes " + input + ".";
    case Verdict::kUnknown:
      break;
  }
  return std::string(kNotMeasured);
}

std::string OutputStatement(const Bottleneck& bottleneck) {
  if (!bottleneck.measured || bottleneck.output == Verdict::kDevice) return "";
  const bool highly = bottleneck.output == Verdict::kHost;
  return std::string(highly ? "Output limits the steps: " : "Output slows the steps down: ") +
         OneDigit(bottleneck.output_percent) + " % of the step time.";
}

std::string CollectivesStatement(const Bottleneck& bottleneck) {
  if (bottleneck.collectives == Level::kNo) return "";
  return ShareStatement(bottleneck.collectives_percent, "collectives between devices");
}

std::string KernelLaunchStatement(const Bottleneck& bottleneck) {
  if (bottleneck.kernel_launch == Level::kNo) return "";
  return ShareStatement(bottleneck.kernel_launch_percent, "launching kernels");
}

std::string AllOtherStatement(const Bottleneck& bottleneck) {
  if (bottleneck.all_other == Level::kNo) return "";
  return ShareStatement(bottleneck.all_other_percent, "no recorded work");
}

std::string IdleStatement(const Bottleneck& bottleneck) {
  if (!bottleneck.idle) return "";
  return OneDigit(bottleneck.idle_percent) +
         " % of the step time the TensorCores wait for the host, but not for input. Dispatch more "
         "work at once: larger jitted functions, several steps in one call.";
}

std::string AllReduceStatement(const Bottleneck& bottleneck) {
  if (!bottleneck.all_reduce) return "";
  return OneDigit(bottleneck.all_reduce_sync_percent) +
         " % of the step time a core waits in an all-reduce for slower cores, " +
         OneDigit(bottleneck.all_reduce_compute_percent) + " % is the all-reduce itself.";
}

std::string PrecisionStatement(const analysis::PrecisionStats& precision) {
  constexpr double kLowShare = 10;
  const uint64_t total_ps = precision.compute_16bit_ps + precision.compute_32bit_ps;
  if (total_ps == 0) return "";
  const double percent =
      100.0 * static_cast<double>(precision.compute_16bit_ps) / static_cast<double>(total_ps);
  if (percent >= kLowShare) return "";
  return OneDigit(percent) + " % of the device's compute time is 16 bit wide.";
}

std::string NextStep(const Bottleneck& bottleneck, const InputTime& input_time) {
  const bool input_matters = bottleneck.input == Verdict::kHost ||
                             bottleneck.input == Verdict::kBoth ||
                             bottleneck.input == Verdict::kPotentially;
  if (!input_matters) return "The input pipeline needs no attention.";
  return input_time.UsesTfData() ? "See the table of host operations for what the input costs."
                                 : "No input operation is known on the host: look at the host's "
                                   "threads in the timeline while the device waits.";
}

std::string_view VerdictWord(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHost:
      return "host";
    case Verdict::kBoth:
    case Verdict::kPotentially:
      return "both";
    case Verdict::kDevice:
      return "device";
    case Verdict::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view LevelWord(Level level) {
  switch (level) {
    case Level::kModerate:
      return "moderate";
    case Level::kHigh:
      return "high";
    case Level::kNo:
      break;
  }
  return "no";
}

std::vector<std::string> InputAdvice() {
  return {"Enqueue: send fewer and larger arrays to the device at once.",
          "Preprocessing: use more workers, or preprocess before the run.",
          "Reading ahead: raise the number of elements and files that are read ahead.",
          "Reading on demand: prefetch, so that the device does not wait for a file.",
          "Anything else: annotate the loader with jax.profiler.TraceAnnotation to see it here."};
}

std::vector<std::string> StepWarnings(const analysis::StepDatabase& steps, size_t visible_steps) {
  std::vector<std::string> warnings;
  if (steps.use_incomplete_step) {
    warnings.emplace_back(
        "Only a part of a step was recorded, so the step time is not known; the length of the "
        "trace stands in for it. Capture for longer than one step.");
  } else if (visible_steps == 0 && steps.empty_intersect) {
    warnings.emplace_back(
        "The hosts recorded steps, but none in common: their sequences differ too much. The step "
        "time of the whole is not known.");
  } else if (visible_steps == 0) {
    warnings.emplace_back(
        "No step is marked, so the step time is not known. Mark each step with "
        "jax.profiler.StepTraceAnnotation, or capture for longer than one step.");
  }
  if (steps.steps_dropped > 0) {
    warnings.push_back(std::to_string(steps.steps_dropped) +
                       " steps were left out because not every host has them. Capture for a "
                       "shorter time, or look at fewer hosts.");
  }
  return warnings;
}

std::vector<Notice> StepNotices(const analysis::OpStats& stats, const ToolQuestion& question) {
  std::vector<Notice> notices;
  const size_t count = stats.steps.steps.size();
  if (stats.steps.empty_intersect) {
    notices.push_back({Notice::Severity::kWarning, "STEPS_NOT_IN_COMMON",
                       "The hosts have steps, but none that all of them recorded.",
                       "Start the capture on all hosts together, or ask for one host."});
  } else if (count == 0 && question.hosts.size() > 1) {
    notices.push_back({Notice::Severity::kWarning, "NO_STEPS",
                       "No step was recorded by all of the chosen hosts.",
                       "Ask for one host to see its own steps. Steps come from "
                       "jax.profiler.StepTraceAnnotation around each step, or from the Steps line "
                       "of a TPU."});
  } else if (count == 0) {
    notices.push_back({Notice::Severity::kWarning, "NO_STEPS",
                       "The profile marks no complete step, so there is no step time.",
                       "Wrap each step in jax.profiler.StepTraceAnnotation(\"train\", step_num=n) "
                       "and capture for longer than one step."});
  } else if (count == 1) {
    notices.push_back({Notice::Severity::kInfo, "ONE_STEP",
                       "The profile has one step: averages and deviations say nothing.",
                       "Capture several steps."});
  }
  return notices;
}

void AddHostNotices(const analysis::OpStats& stats, ToolResult* result) {
  for (const std::string& error : stats.diagnostics.errors) {
    result->notices.push_back({Notice::Severity::kError, "PROFILE_ERROR", error, ""});
    result->partial = true;
  }
  for (const std::string& warning : stats.diagnostics.warnings) {
    result->notices.push_back({Notice::Severity::kWarning, "PROFILE_WARNING", warning, ""});
  }
}

}  // namespace strobe::tools
