// Reading the trees that op_profile answers, and over what their sums are.
//
//   const Value* root = OpProfileRoot(profile.document);      // nullptr: nothing took time
//   for (const Value& child : ChildrenOf(*root)) Use(RawTimePs(child), IsLeafOp(child));
//
// Cost: linear in what is looked at. Limits: kMaxProfileDepth.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/tools/agent_common.h"

namespace strobe::tools {

// The tree that has time, by category or else by program; nullptr: neither has.
const Value* OpProfileRoot(const Value& profile);
// HLO text by op name, with and without %.
std::map<std::string, std::string> OpExpressions(const Value& profile);

const Value& MetricsOf(const Value& node);  // {} when it has none
double RawTimePs(const Value& node);
const std::vector<Value>& ChildrenOf(const Value& node);
// Whether its time is its own: no child has any.
bool IsLeafOp(const Value& node);

// Nothing real nests deeper: category, program, op, duplicates, instructions of a fusion.
inline constexpr int kMaxProfileDepth = 200;

// How many steps and cores the sums of an op profile are over.
struct Normalization {
  int64_t steps = 0;  // 0: unknown
  int64_t cores = 0;
};
Normalization NormalizationOf(const AgentContext& context);
Value NormalizationValue(const Normalization& normalization);
// per_step_time_ms and per_step_per_core_time_ms, when there are steps.
void SetPerStep(const Normalization& normalization, double total_ms, Value* value);

}  // namespace strobe::tools
