// smart_suggestion: what probably limits the program, and what to try.
//
//   const ToolDescriptor tool = MakeSmartSuggestionTool();
//
// Twelve rules, each a threshold on numbers that other tools show. XProf's open build registers one
// of them (BarrierCoresRule), so that is all that is asked as XProf. Our own API gives all: a
// document with the suggestions that apply, and a table of every rule with the number it looked at,
// its threshold and whether it applies, so that a suggestion can be checked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeSmartSuggestionTool();

// What the rules look at; nullopt: the profile does not tell.
struct SuggestionSignals {
  std::optional<double> mxu_percent;    // use of the matrix unit
  std::optional<double> hbm_percent;    // use of the memory bandwidth
  std::optional<double> input_percent;  // of the step time
  double enqueue_percent = 0;           // of the input time
  double non_enqueue_percent = 0;
  std::optional<double> collective_percent;  // of the cores' step time
  std::optional<double> shuffle_percent;
  std::optional<double> idle_percent;  // TensorCore, of the step time
  std::optional<double> sparse_core_percent;
  std::optional<double> async_done_percent;  // of the device's op time
  std::optional<double> memory_percent;      // peak of the device memory in use
  std::optional<double> debug_print_percent;
  std::optional<double> barrier_percent;
  std::vector<std::string> debug_print_stragglers;  // hosts that stand out
  std::vector<std::string> barrier_stragglers;
};

struct RuleOutcome {
  std::string rule;
  std::string signal;  // "MXU 81.0 %, HBM 20.0 %"; empty: not known
  std::string threshold;
  bool known = false;
  bool applies = false;
  std::string suggestion;  // when it applies
};

// Every rule, in the order in which they are shown.
std::vector<RuleOutcome> JudgeSuggestions(const SuggestionSignals& signals);

}  // namespace strobe::tools
