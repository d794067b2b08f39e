// Detectors: patterns in the compiled program that cost time and can be avoided.
//
//   detect_layout_mismatch_copies      copies between two stages that want other layouts
//   detect_unfused_reshapes            large reshapes, copies, converts ... next to compute
//   detect_unfused_updates             chains and groups of small ops that should be one
//   detect_unnecessary_convert_reduce  sums raised to f32 only to be lowered again
//   detect_unnecessary_convert_dynamic_scale  values raised to f32 twice on the way to FP8
//
// Each looks at the HLO graph of every module and takes time and bytes of ops from the profile, by
// module and instruction. The answer says in detection_state whether it was DETECTED, NOT_DETECTED
// or NOT_EVALUATED (with the reason: a missing graph is no clean bill); {bottlenecks_found,
// inefficient_ops, message} are XProf's fields. Cost: linear in the modules. Limits:
// kMaxFindings.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "src/hlo/hlo_module.h"
#include "src/tools/agent_common.h"
#include "src/tools/agent_dataflow.h"

namespace strobe::tools {

inline constexpr size_t kMaxFindings = 1'000;

ToolDescriptor MakeDetectLayoutMismatchCopiesTool();
ToolDescriptor MakeDetectUnfusedReshapesTool();
ToolDescriptor MakeDetectUnfusedUpdatesTool();
ToolDescriptor MakeDetectUnnecessaryConvertReduceTool();
ToolDescriptor MakeDetectUnnecessaryConvertDynamicScaleTool();

// What the profile says of an instruction, summed over its executions.
struct OpCost {
  double self_time_ms = 0;
  double bytes = 0;
  int64_t occurrences = 0;
};
class OpCosts {
 public:
  static Result<OpCosts> Of(const AgentContext& context);
  const OpCost* Find(uint64_t program_id, std::string_view instruction) const;
  bool empty() const { return costs_.empty(); }

 private:
  void Collect(const Value& node, int depth);
  std::map<std::pair<uint64_t, std::string>, OpCost> costs_;
};

// A finding, worst first by time and then bytes.
struct Finding {
  double self_time_ms = 0;
  double bytes = 0;
  Value value;
};

// Calls `look` for each readable module and makes the answer of what it found.
using ModuleLook = std::function<void(const DataFlow& flow, const hlo::ModuleSet::Entry& entry,
                                      const OpCosts& costs, std::vector<Finding>* findings)>;
// Called once after the last module, for what is seen only across modules.
using ModulesDone = std::function<void(std::vector<Finding>* findings)>;
Result<ToolResult> RunDetector(const AgentContext& context, const ModuleLook& look,
                               const ModulesDone& done = {});

// Name, module, time and bytes: what all findings have.
Value FindingValue(const DataFlow& flow, const hlo::ModuleSet::Entry& entry, uint32_t instruction,
                   const OpCost* cost);

}  // namespace strobe::tools
