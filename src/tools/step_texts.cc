#include "src/tools/step_texts.h"

#include <cstdio>

namespace strobe::tools {
namespace {

std::string Anchor(std::string_view url, std::string_view text) {
  std::string html = "<a href=\"";
  html += url;
  html += "\" target=\"_blank\">";
  html += text;
  html += "</a>";
  return html;
}

std::string OneDigit(double value) { return FixedDigits(value, 1); }

constexpr std::string_view kNotMeasuredXprof =
    "No step time measured. Therefore we cannot tell where the performance bottleneck is.";
constexpr std::string_view kNotMeasuredOurs =
    "No step was measured, so nothing can be said about what limits it.";

std::string OurInputStatement(const Bottleneck& bottleneck) {
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
  return std::string(kNotMeasuredOurs);
}

std::string ShareStatement(double percent, std::string_view ours, std::string_view xprof,
                           Wording wording) {
  if (wording == Wording::kXprof) {
    return OneDigit(percent) + " % of the total step time sampled is spent on '" +
           std::string(xprof) + "'";
  }
  return OneDigit(percent) + " % of the step time goes into " + std::string(ours) + ".";
}

}  // namespace

const std::string_view kNoDeviceTrace =
    "No TensorCore device trace was collected. This might happen if your job hadn't been run on "
    "the device when sampling was turned on. You could try the sampling again later.";

std::string FixedDigits(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string Percent(double value) { return value >= 0 ? OneDigit(value) + "%" : "unknown"; }

std::string InputStatement(const Bottleneck& bottleneck, Wording wording) {
  if (wording == Wording::kOurs) return OurInputStatement(bottleneck);
  const std::string waiting = OneDigit(bottleneck.input_percent) +
                              "% of the total step time sampled is waiting for input. Therefore, ";
  switch (bottleneck.input) {
    case Verdict::kHost:
      return "Your program is HIGHLY input-bound because " + waiting +
             "you should first focus on reducing the input time.";
    case Verdict::kBoth:
      return "Your program is MODERATELY input-bound because " + waiting +
             "you would need to reduce both the input time and other time.";
    case Verdict::kPotentially:
      return "Your program is POTENTIALLY input-bound because " +
             OneDigit(bottleneck.all_other_percent) +
             "% of the total step time sampled is spent on 'All Others' time (which could be due "
             "to I/O or Python execution or both).";
    case Verdict::kDevice:
      return "Your program is NOT input-bound because only " + waiting +
             "you should focus on reducing other time.";
    case Verdict::kUnknown:
      break;
  }
  return std::string(kNotMeasuredXprof);
}

std::string OutputStatement(const Bottleneck& bottleneck, Wording wording) {
  if (!bottleneck.measured || bottleneck.output == Verdict::kDevice) return "";
  const bool highly = bottleneck.output == Verdict::kHost;
  const std::string share = OneDigit(bottleneck.output_percent);
  if (wording == Wording::kOurs) {
    return std::string(highly ? "Output limits the steps: " : "Output slows the steps down: ") +
           share + " % of the step time.";
  }
  return std::string("Your program is ") + (highly ? "HIGHLY" : "MODERATELY") +
         " output-bound because " + share +
         "% of the total step time sampled is spent on output. Therefore, you " +
         (highly ? "should first focus on reducing the output time."
                 : "would need to reduce both the output time and other time.");
}

std::string CollectivesStatement(const Bottleneck& bottleneck, Wording wording) {
  if (bottleneck.collectives == Level::kNo) return "";
  return ShareStatement(bottleneck.collectives_percent, "collectives between devices",
                        "Device Collective Communication", wording) +
         (wording == Wording::kXprof ? "." : "");
}

std::string KernelLaunchStatement(const Bottleneck& bottleneck, bool tf_data, Wording wording) {
  if (bottleneck.kernel_launch == Level::kNo) return "";
  std::string statement = ShareStatement(bottleneck.kernel_launch_percent, "launching kernels",
                                         "Kernel Launch", wording);
  if (wording == Wording::kOurs) return statement;
  statement += ".";
  if (tf_data) {
    statement +=
        " It could be due to CPU contention with tf.data. In this case, you may try to set the "
        "environment variable TF_GPU_THREAD_MODE=gpu_private.";
  }
  return statement;
}

std::string AllOtherStatement(const Bottleneck& bottleneck, Wording wording) {
  if (bottleneck.all_other == Level::kNo) return "";
  std::string statement =
      ShareStatement(bottleneck.all_other_percent, "no recorded work", "All Others", wording);
  if (wording == Wording::kXprof) {
    statement += " time. This could be due to Python execution overhead.";
  }
  return statement;
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

std::string PrecisionStatement(const analysis::PrecisionStats& precision, Wording wording) {
  constexpr double kLowShare = 10;
  const uint64_t total_ps = precision.compute_16bit_ps + precision.compute_32bit_ps;
  if (total_ps == 0) return "";
  const double percent =
      100.0 * static_cast<double>(precision.compute_16bit_ps) / static_cast<double>(total_ps);
  if (percent >= kLowShare) return "";
  if (wording == Wording::kOurs) {
    return OneDigit(percent) + " % of the device's compute time is 16 bit wide.";
  }
  return "Only " + OneDigit(percent) +
         "% of device computation is 16 bit. So you might want to replace more 32-bit Ops by "
         "16-bit Ops to improve performance (if the reduced accuracy is acceptable).";
}

std::string NextStep(const Bottleneck& bottleneck, const InputTime& input_time, Wording wording) {
  const bool input_matters = bottleneck.input == Verdict::kHost ||
                             bottleneck.input == Verdict::kBoth ||
                             bottleneck.input == Verdict::kPotentially;
  if (wording == Wording::kOurs) {
    if (!input_matters) return "The input pipeline needs no attention.";
    return input_time.UsesTfData() ? "See the table of host operations for what the input costs."
                                   : "No input operation is known on the host: look at the host's "
                                     "threads in the timeline while the device waits.";
  }
  if (!input_matters) return "You may skip the rest of this page.";
  if (input_time.UsesTfData()) {
    return "Look at Section 3 for the breakdown of input time on the host.";
  }
  return "Consider using " + Anchor("https://www.tensorflow.org/guide/data", "the tf.data API") +
         " to enable profiler's host-side analysis for input pipeline. Profiler currently does not "
         "support custom input pipeline (please ignore Section 3 below).";
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

std::vector<std::string> InputAdvice(Wording wording) {
  if (wording == Wording::kOurs) {
    return {"Enqueue: send fewer and larger arrays to the device at once.",
            "Preprocessing: use more workers, or preprocess before the run.",
            "Reading ahead: raise the number of elements and files that are read ahead.",
            "Reading on demand: prefetch, so that the device does not wait for a file.",
            "Anything else: annotate the loader with jax.profiler.TraceAnnotation to see it here."};
  }
  const std::string dataset = "https://www.tensorflow.org/api_docs/python/tf/data/Dataset#";
  const std::string records =
      "https://www.tensorflow.org/api_docs/python/tf/data/TFRecordDataset#class_tfrecorddataset";
  const std::string intro = "https://www.tensorflow.org/programmers_guide/datasets";
  return {
      "Enqueuing data: you may want to combine small input data chunks into fewer but larger "
      "chunks.",
      "Data preprocessing: you may increase num_parallel_calls in " +
          Anchor(dataset + "map", "Dataset map()") + " or preprocess the data OFFLINE.",
      "Reading data from files in advance: you may tune parameters in the following tf.data "
      "API (" +
          Anchor(dataset + "prefetch", "prefetch size") + ", " +
          Anchor(dataset + "interleave", "interleave cycle_length") + ", " +
          Anchor(records, "reader buffer_size") + ")",
      "Reading data from files on demand: you should read data IN ADVANCE using the following "
      "tf.data API (" +
          Anchor(dataset + "prefetch", "prefetch") + ", " +
          Anchor(dataset + "interleave", "interleave") + ", " + Anchor(records, "reader buffer") +
          ")",
      "Other data reading or processing: you may consider using the " +
          Anchor(intro, "tf.data API") + " (if you are not using it now)"};
}

std::vector<std::string> StepWarnings(const analysis::StepDatabase& steps, size_t visible_steps) {
  std::vector<std::string> warnings;
  if (steps.use_incomplete_step) {
    warnings.emplace_back(
        "Incomplete step observed and hence the step time is unknown.Instead, we use the trace "
        "duration as the step time. This may happen if your profiling duration is shorter than the "
        "step time. In this case, you may try to profile longer.");
  } else if (visible_steps == 0 && steps.empty_intersect) {
    warnings.emplace_back(
        "Although there are steps observed on some host(s), the intersection of the steps over all "
        "hosts is empty (because the differences among individual host's step sequences are too "
        "big). Consequently, the overall step time is unknown.");
  } else if (visible_steps == 0) {
    warnings.emplace_back(
        "No step marker observed and hence the step time is unknown. This may happen if (1) "
        "training steps are not instrumented (e.g., if you are not using Keras) or (2) the "
        "profiling duration is shorter than the step time. For (1), you need to add step "
        "instrumentation; for (2), you may try to profile longer.");
  }
  if (steps.steps_dropped > 0) {
    warnings.push_back(std::to_string(steps.steps_dropped) +
                       " steps dropped. This might happen when you profile many hosts and/or many "
                       "steps. You could try to profile shorter or reduce the number of hosts you "
                       "profile.");
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
