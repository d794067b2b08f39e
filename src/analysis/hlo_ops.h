// HLO instructions as ops: what a module says of an instruction that a trace only names.
//
//   HloOps ops(modules, HloOps::kWithCost);
//   if (const OpMetrics* op = ops.Find(program_id, "fusion.3")) Use(op->category, op->flops);
//   ops.AddFusedChildren(&metrics);        // the instructions inside a fusion, as children
//
// Numbers are those of one execution. Looked up once an instruction and kept. Thread-safe (one lock
// for all); the modules must outlive it. Cost: reading a module when it is first asked for, 5 us an
// instruction (its text), 150 B and the texts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/analysis/op_metrics.h"
#include "src/hlo/cost.h"
#include "src/hlo/module_set.h"

namespace strobe::analysis {

class HloOps {
 public:
  enum Cost : uint8_t { kWithoutCost, kWithCost };
  HloOps(const hlo::ModuleSet& modules, Cost cost) : modules_(modules), with_cost_(cost) {}

  // nullptr: no such program, module or instruction.
  const OpMetrics* Find(uint64_t program_id, std::string_view name);
  // The instructions of the fusion that the op is, and of fusions inside it; behind the children it
  // has. Nothing when it is no fusion that a module knows.
  void AddFusedChildren(OpMetrics* op);

 private:
  struct Program {
    std::shared_ptr<const hlo::HloModule> module;  // nullptr: none that can be read
    hlo::ModuleCost cost;
    std::unordered_map<uint32_t, OpMetrics> ops;  // by instruction
  };
  Program& ProgramOf(uint64_t program_id);
  const OpMetrics& OpOf(Program* program, uint64_t program_id, uint32_t instruction);
  void AddInside(const hlo::HloModule& module, uint32_t fusion, int depth, OpMetricsDb* into) const;

  const hlo::ModuleSet& modules_;
  const Cost with_cost_;
  std::mutex mutex_;  // guards what follows, and every call
  std::map<uint64_t, Program> programs_;
};

// The text of an instruction as ops show it.
std::string HloExpression(const hlo::HloModule& module, uint32_t instruction);

}  // namespace strobe::analysis
