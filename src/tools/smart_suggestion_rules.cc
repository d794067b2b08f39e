// The rules of smart_suggestion.h: thresholds are XProf's, sentences ours.
#include <functional>
#include <utility>

#include "src/tools/smart_suggestion.h"
#include "src/tools/step_texts.h"

namespace strobe::tools {
namespace {

using Signals = SuggestionSignals;

constexpr double kBusyUnit = 70, kFreeUnit = 50;  // percent of MXU and HBM
constexpr double kInputBound = 10, kEnqueueBound = 30, kHostProcessingBound = 50;
constexpr double kCollectiveBound = 30, kShuffleBound = 30;
constexpr double kIdleBound = 10, kSparseCoreBound = 10;
constexpr double kAsyncDoneBound = 10, kMemoryFree = 50;
constexpr double kDebugPrintBound = 5, kBarrierBound = 10;
constexpr double kNothing = 1e-6;

std::string Share(std::string_view what, double percent) {
  return std::string(what) + " " + FixedDigits(percent, 1) + " %";
}

std::string Units(const Signals& signals) {
  if (!signals.mxu_percent || !signals.hbm_percent) return "";
  return Share("MXU", *signals.mxu_percent) + ", " + Share("HBM", *signals.hbm_percent);
}

std::string Input(const Signals& signals) {
  if (!signals.input_percent) return "";
  return Share("input", *signals.input_percent) + " of the step time, of which " +
         Share("enqueue", signals.enqueue_percent) + ", " +
         Share("processing", signals.non_enqueue_percent);
}

std::string One(std::string_view what, const std::optional<double>& percent) {
  return percent ? Share(what, *percent) : std::string();
}

bool UnitsFree(const Signals& signals) {
  return signals.mxu_percent && signals.hbm_percent && *signals.mxu_percent < kFreeUnit &&
         *signals.hbm_percent < kFreeUnit;
}

bool InputBound(const Signals& signals) {
  return signals.input_percent && *signals.input_percent > kInputBound;
}

std::string Stragglers(const std::vector<std::string>& hosts) {
  if (hosts.empty()) return "";
  std::string text = " These hosts stand out:";
  for (const std::string& host : hosts) text += " " + host;
  return text + ".";
}

struct Rule {
  std::string_view name;
  std::string_view threshold;
  std::string (*signal)(const Signals&);  // empty: not known
  bool (*applies)(const Signals&);
  std::string (*suggestion)(const Signals&);
};

std::string Constant(std::string_view text) { return std::string(text); }

const Rule kUnitRules[] = {
    {"ComputeBoundRule", "MXU > 70 %, HBM < 50 %", Units,
     [](const Signals& s) {
       return s.mxu_percent && s.hbm_percent && *s.mxu_percent > kBusyUnit &&
              *s.hbm_percent < kFreeUnit;
     },
     [](const Signals& s) {
       return "The matrix units are busy (" + Units(s) +
              "): the program computes. Fewer or cheaper operations help: lower precision, less "
              "recomputation, a sharding that spreads the matrix products further.";
     }},
    {"MemoryBoundRule", "HBM > 70 %, MXU < 50 %", Units,
     [](const Signals& s) {
       return s.mxu_percent && s.hbm_percent && *s.hbm_percent > kBusyUnit &&
              *s.mxu_percent < kFreeUnit;
     },
     [](const Signals& s) {
       return "The memory is busy (" + Units(s) +
              "): the program moves data. Let fusions touch each array once, use narrower types, "
              "larger batches, kernels that keep their data on the chip.";
     }},
};

const Rule kInputRules[] = {
    {"InputBoundRule", "input > 10 %, nothing known of the host's input operations", Input,
     [](const Signals& s) {
       return InputBound(s) && s.enqueue_percent < kNothing && s.non_enqueue_percent < kNothing;
     },
     [](const Signals& s) {
       return "The steps wait for input (" + Input(s) +
              "), and no input operation is known. Annotate the data loader, then look at what it "
              "does while the device waits.";
     }},
    {"HostProcessingBoundRule", "input > 10 %, processing >= 50 % of it", Input,
     [](const Signals& s) {
       return InputBound(s) && s.non_enqueue_percent >= kHostProcessingBound;
     },
     [](const Signals& s) {
       return "The steps wait for the host to prepare input (" + Input(s) +
              "). Read ahead, use more workers, preprocess before the run.";
     }},
    {"DataTransferBoundRule", "input > 10 %, enqueue >= 30 % of it", Input,
     [](const Signals& s) { return InputBound(s) && s.enqueue_percent >= kEnqueueBound; },
     [](const Signals& s) {
       return "The steps wait for data on its way to the device (" + Input(s) +
              "). Send narrower types and fewer, larger arrays; start the transfer of the next "
              "batch before this step ends.";
     }},
};

const Rule kStepRules[] = {
    {"CollectiveBoundRule", "collectives >= 30 % of the step time",
     [](const Signals& s) { return One("collectives", s.collective_percent); },
     [](const Signals& s) { return s.collective_percent.value_or(0) >= kCollectiveBound; },
     [](const Signals& s) {
       return Share("Collectives take", *s.collective_percent) +
              " of the step time. Overlap them with compute, reduce the bytes they move, look for "
              "the core that the others wait for.";
     }},
    {"DataShuffleBoundRule", "data movement >= 30 % of the step time",
     [](const Signals& s) { return One("data movement", s.shuffle_percent); },
     [](const Signals& s) { return s.shuffle_percent.value_or(0) >= kShuffleBound; },
     [](const Signals& s) {
       return Share("Slices, gathers, pads and the like take", *s.shuffle_percent) +
              " of the step time. Choose layouts that need no copy, keep arrays contiguous in the "
              "dimension that is cut.";
     }},
    {"TensorCoreIdleBoundRule", "MXU < 50 %, HBM < 50 %, TensorCore idle > 10 % of the step time",
     [](const Signals& s) {
       return s.idle_percent && !Units(s).empty() ? Share("idle", *s.idle_percent) + ", " + Units(s)
                                                  : std::string();
     },
     [](const Signals& s) { return UnitsFree(s) && s.idle_percent.value_or(0) > kIdleBound; },
     [](const Signals& s) {
       return Share("The TensorCores are idle", *s.idle_percent) +
              " of the step time. Dispatch ahead of the device, compile more of the step into one "
              "program, keep Python out of the step.";
     }},
    {"SparseCoreBoundRule", "MXU < 50 %, HBM < 50 %, SparseCore > 10 % of the step time",
     [](const Signals& s) {
       return s.sparse_core_percent && !Units(s).empty()
                  ? Share("SparseCore", *s.sparse_core_percent) + ", " + Units(s)
                  : std::string();
     },
     [](const Signals& s) {
       return UnitsFree(s) && s.sparse_core_percent.value_or(0) > kSparseCoreBound;
     },
     [](const Signals& s) {
       return Share("The SparseCores work", *s.sparse_core_percent) +
              " of the step time while the TensorCores have room. Make embedding tables smaller, "
              "or place them so that the SparseCores share the work evenly.";
     }},
    {"SparseCoreOffloadRule", "waits for async collectives > 10 %, peak memory < 50 %",
     [](const Signals& s) {
       if (!s.async_done_percent || !s.memory_percent) return std::string();
       return Share("waits for async collectives", *s.async_done_percent) + ", " +
              Share("peak memory", *s.memory_percent);
     },
     [](const Signals& s) {
       return s.async_done_percent && s.memory_percent && *s.async_done_percent > kAsyncDoneBound &&
              *s.memory_percent < kMemoryFree;
     },
     [](const Signals& s) {
       return Share("Waiting for asynchronous collectives takes", *s.async_done_percent) +
              " of the device's time and memory is free. Let the SparseCores run collectives "
              "beside the TensorCores.";
     }},
    {"DebugPrintRule", "debug_print >= 5 % of the step time",
     [](const Signals& s) { return One("debug_print", s.debug_print_percent); },
     [](const Signals& s) { return s.debug_print_percent.value_or(0) >= kDebugPrintBound; },
     [](const Signals& s) {
       return Share("jax.debug.print takes", *s.debug_print_percent) +
              " of the step time. Remove it, or print in few steps." +
              Stragglers(s.debug_print_stragglers);
     }},
};

const Rule kBarrierRule = {
    "BarrierCoresRule", "barrier-cores >= 10 % of the step time",
    [](const Signals& s) { return One("barrier-cores", s.barrier_percent); },
    [](const Signals& s) { return s.barrier_percent.value_or(0) >= kBarrierBound; },
    [](const Signals& s) {
      return Share("The cores wait for each other at barriers", *s.barrier_percent) +
             " of the step time. Look for uneven work: sharding, input, a slow host." +
             Stragglers(s.barrier_stragglers);
    }};

RuleOutcome Judge(const Rule& rule, const Signals& signals) {
  RuleOutcome outcome;
  outcome.rule = Constant(rule.name);
  outcome.threshold = Constant(rule.threshold);
  outcome.signal = rule.signal(signals);
  outcome.known = !outcome.signal.empty();
  outcome.applies = outcome.known && rule.applies(signals);
  if (outcome.applies) outcome.suggestion = rule.suggestion(signals);
  return outcome;
}

}  // namespace

std::vector<RuleOutcome> JudgeSuggestions(const SuggestionSignals& signals) {
  std::vector<RuleOutcome> outcomes = {Judge(kBarrierRule, signals)};
  for (const Rule& rule : kUnitRules) outcomes.push_back(Judge(rule, signals));
  for (const Rule& rule : kInputRules) outcomes.push_back(Judge(rule, signals));
  for (const Rule& rule : kStepRules) outcomes.push_back(Judge(rule, signals));
  return outcomes;
}

}  // namespace strobe::tools
