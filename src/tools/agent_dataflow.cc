#include "src/tools/agent_dataflow.h"

#include <algorithm>
#include <deque>
#include <map>

#include "src/base/text.h"
#include "src/hlo/message.h"
#include "src/tools/agent_common.h"

namespace strobe::tools {
namespace {

// Of HloInstructionProto.
constexpr uint32_t kCustomCallTargetField = 28;
// Fusions in fusions do not go deeper in real programs.
constexpr int kMaxFusionDepth = 20;

// Work by any of these words in the opcode; "reduce" so includes reduce-scatter and all-reduce.
const std::vector<std::string_view> kComputeWords = {"convolution",
                                                     "dot",
                                                     "reduce",
                                                     "scatter",
                                                     "gather",
                                                     "fft",
                                                     "triangular-solve",
                                                     "cholesky",
                                                     "sort",
                                                     "topk",
                                                     "batch-norm",
                                                     "all-to-all",
                                                     "collective-permute",
                                                     "collective-broadcast"};

std::vector<int64_t> Rest(const std::vector<int64_t>& index) {
  return {index.begin() + 1, index.end()};
}

std::vector<int64_t> Under(int64_t first, const std::vector<int64_t>& index) {
  std::vector<int64_t> all = {first};
  all.insert(all.end(), index.begin(), index.end());
  return all;
}

}  // namespace

bool CustomCallComputes(std::string_view target) {
  static const std::vector<std::string_view> kAlways = {"tpu_custom_call",
                                                        "mosaic_gpu",
                                                        "__gpu$xla.gpu.triton",
                                                        "__gpu$xla.gpu.ptx",
                                                        "__cublas",
                                                        "__cudnn",
                                                        "__onednn",
                                                        "sparsedense",
                                                        "__op$",
                                                        "edge_tpu_pallas_kernel"};
  static const std::vector<std::string_view> kNever = {"allocatebuffer",
                                                       "pin",
                                                       "unpin",
                                                       "createbuffer",
                                                       "movetodevice",
                                                       "movetohost",
                                                       "x64splitlow",
                                                       "x64splithigh",
                                                       "x64combine",
                                                       "control_dep",
                                                       "nopcustomcalltarget",
                                                       "barrier",
                                                       "barrierstart",
                                                       "barrierend",
                                                       "trace",
                                                       "windowprefetch",
                                                       "getrngseed",
                                                       "padtostatic",
                                                       "slicetodynamic",
                                                       "setbound",
                                                       "assumegatherindicesinbound",
                                                       "assumescatterindicesinbound",
                                                       "hostexecute",
                                                       "hostcallback",
                                                       "xla_ffi_python_cpu_callback",
                                                       "sendtohost",
                                                       "recvfromhost",
                                                       "spmdfulltoshardshape",
                                                       "spmdshardtofullshape",
                                                       "xla.sdy.funcresultsharding",
                                                       "xla.sdy.globaltolocalshape",
                                                       "xla.sdy.localtoglobalshape"};
  const std::string name = AsciiLower(target);
  for (const std::string_view start : kAlways) {
    if (name.starts_with(start)) return true;
  }
  if (std::ranges::find(kNever, name) != kNever.end()) return false;
  return !ContainsAnyOf(name, {"sharding", "placement", "metadata", "control_dep"}) &&
         !name.starts_with("annotate") && !name.starts_with("_spmdinternalop_");
}

std::string_view CustomCallTarget(const hlo::HloModule& module, uint32_t instruction) {
  return hlo::Message(module.instruction(instruction).record).Bytes(kCustomCallTargetField);
}

DataFlow::DataFlow(const hlo::HloModule& module)
    : module_(module), callers_(module.computations().size()) {
  for (uint32_t i = 0; i < module.instructions().size(); ++i) {
    for (const uint32_t called : module.calls(i)) callers_[called].push_back(i);
  }
}

bool DataFlow::InsideFusion(uint32_t instruction) const {
  return module_.computation(module_.instruction(instruction).computation).is_fusion;
}

// The called computation that gives what the loop gives; the other one is the condition.
uint32_t DataFlow::BodyOf(uint32_t loop) const {
  for (const uint32_t called : module_.calls(loop)) {
    const uint32_t root = module_.computation(called).root;
    if (root != hlo::kNone && module_.instruction(root).shape == module_.instruction(loop).shape) {
      return called;
    }
  }
  return module_.calls(loop).empty() ? hlo::kNone : module_.calls(loop)[0];
}

uint32_t DataFlow::ParameterOf(uint32_t computation, int64_t number) const {
  const hlo::Range inside = module_.computation(computation).instructions;
  for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
    if (Opcode(i) == "parameter" && module_.instruction(i).number == number) return i;
  }
  return hlo::kNone;
}

std::vector<FlowState> DataFlow::Producers(const FlowState& state) const {
  std::vector<FlowState> producers;
  const uint32_t at = state.instruction;
  const std::string_view opcode = Opcode(at);
  const std::span<const uint32_t> operands = module_.operands(at);
  const auto add_root = [&](uint32_t computation) {
    if (computation == hlo::kNone) return;
    const uint32_t root = module_.computation(computation).root;
    if (root != hlo::kNone) producers.push_back({root, state.index});
  };
  if (opcode == "parameter") {
    for (const uint32_t caller : callers_[module_.instruction(at).computation]) {
      const std::span<const uint32_t> given = module_.operands(caller);
      auto number = static_cast<size_t>(std::max<int64_t>(0, module_.instruction(at).number));
      if (Opcode(caller) == "conditional") {
        const auto branches = module_.calls(caller);
        const auto branch = std::ranges::find(branches, module_.instruction(at).computation);
        number = static_cast<size_t>(branch - branches.begin()) + 1;
      }
      if (number < given.size()) producers.push_back({given[number], state.index});
      if (Opcode(caller) == "while") {
        if (const uint32_t body = BodyOf(caller); body != hlo::kNone) add_root(body);
      }
    }
  } else if (opcode == "get-tuple-element" && !operands.empty()) {
    producers.push_back({operands[0], Under(module_.instruction(at).number, state.index)});
  } else if (opcode == "tuple" && !state.index.empty() && state.index[0] >= 0 &&
             static_cast<size_t>(state.index[0]) < operands.size()) {
    producers.push_back({operands[static_cast<size_t>(state.index[0])], Rest(state.index)});
  } else if (opcode == "while" && !operands.empty()) {
    producers.push_back({operands[0], state.index});
    add_root(BodyOf(at));
  } else if (opcode == "call" || opcode == "conditional") {
    for (const uint32_t called : module_.calls(at)) add_root(called);
  } else {
    for (const uint32_t operand : operands) producers.push_back({operand, {}});
  }
  return producers;
}

std::vector<FlowState> DataFlow::Consumers(const FlowState& state) const {
  std::vector<FlowState> consumers;
  const uint32_t at = state.instruction;
  const auto enter = [&](uint32_t computation, int64_t number) {
    if (computation == hlo::kNone) return;
    const uint32_t parameter = ParameterOf(computation, number);
    if (parameter != hlo::kNone) consumers.push_back({parameter, state.index});
  };
  for (const uint32_t user : module_.users(at)) {
    const std::span<const uint32_t> operands = module_.operands(user);
    const std::string_view opcode = Opcode(user);
    if (opcode == "get-tuple-element") {
      if (state.index.empty()) {
        consumers.push_back({user, {}});
      } else if (state.index[0] == module_.instruction(user).number) {
        consumers.push_back({user, Rest(state.index)});
      }
      continue;
    }
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k] != at) continue;
      const auto number = static_cast<int64_t>(k);
      if (opcode == "tuple") {
        consumers.push_back({user, Under(number, state.index)});
      } else if (opcode == "call") {
        for (const uint32_t called : module_.calls(user)) enter(called, number);
      } else if (opcode == "while") {
        consumers.push_back({user, state.index});
        enter(BodyOf(user), 0);
      } else if (opcode == "conditional") {
        if (k > 0 && k - 1 < module_.calls(user).size()) enter(module_.calls(user)[k - 1], 0);
      } else {
        consumers.push_back({user, {}});
        break;
      }
    }
  }
  const uint32_t computation = module_.instruction(at).computation;
  if (module_.computation(computation).root != at) return consumers;
  for (const uint32_t caller : callers_[computation]) {
    const std::string_view opcode = Opcode(caller);
    if (opcode != "call" && opcode != "while" && opcode != "conditional") continue;
    consumers.push_back({caller, state.index});
    if (opcode == "while") enter(computation, 0);
  }
  return consumers;
}

bool DataFlow::ComputesByName(uint32_t instruction, int depth) const {
  const std::string_view opcode = Opcode(instruction);
  if (opcode == "custom-call") return CustomCallComputes(CustomCallTarget(module_, instruction));
  if (opcode == "fusion") {
    if (depth > kMaxFusionDepth) return false;
    for (const uint32_t called : module_.calls(instruction)) {
      const hlo::Range inside = module_.computation(called).instructions;
      for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
        if (ComputesByName(i, depth + 1)) return true;
      }
    }
    return false;
  }
  return ContainsAnyOf(opcode, kComputeWords);
}

bool DataFlow::Computes(uint32_t instruction) const { return ComputesByName(instruction, 0); }

std::vector<Stage> DataFlow::Search(uint32_t start, bool before) const {
  std::vector<Stage> stages;
  std::map<FlowState, int> seen = {{{start, {}}, 0}};
  std::deque<FlowState> queue = {{start, {}}};
  while (!queue.empty() && seen.size() < kMaxStates) {
    const FlowState state = std::move(queue.front());
    queue.pop_front();
    const int distance = seen[state];
    if (state.instruction != start || distance > 0) {
      const std::string_view opcode = Opcode(state.instruction);
      const bool source =
          before && (opcode == "constant" ||
                     (opcode == "parameter" &&
                      callers_[module_.instruction(state.instruction).computation].empty()));
      if (source || Computes(state.instruction)) {
        const auto known = std::ranges::find(stages, state.instruction, &Stage::instruction);
        if (known == stages.end()) stages.push_back({state.instruction, distance});
        continue;
      }
    }
    if (distance >= kMaxStageDistance) continue;
    for (FlowState& next : before ? Producers(state) : Consumers(state)) {
      if (seen.emplace(next, distance + 1).second) queue.push_back(std::move(next));
    }
  }
  return stages;
}

std::vector<FlowState> DataFlow::ProducersInside(const FlowState& state) const {
  if (Opcode(state.instruction) != "fusion") return Producers(state);
  std::vector<FlowState> producers;
  for (const uint32_t called : module_.calls(state.instruction)) {
    const uint32_t root = module_.computation(called).root;
    if (root != hlo::kNone) producers.push_back({root, state.index});
  }
  return producers;
}

std::vector<FlowState> DataFlow::ConsumersInside(const FlowState& state) const {
  std::vector<FlowState> consumers;
  for (FlowState& user : Consumers(state)) {
    if (Opcode(user.instruction) != "fusion") {
      consumers.push_back(std::move(user));
      continue;
    }
    const std::span<const uint32_t> operands = module_.operands(user.instruction);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k] != state.instruction) continue;
      for (const uint32_t called : module_.calls(user.instruction)) {
        const uint32_t parameter = ParameterOf(called, static_cast<int64_t>(k));
        if (parameter != hlo::kNone) consumers.push_back({parameter, state.index});
      }
    }
  }
  const uint32_t own = module_.instruction(state.instruction).computation;
  if (module_.computation(own).is_fusion && module_.computation(own).root == state.instruction) {
    for (const uint32_t caller : callers_[own]) consumers.push_back({caller, state.index});
  }
  return consumers;
}

std::vector<Stage> DataFlow::StagesBefore(uint32_t instruction) const {
  return Search(instruction, true);
}

std::vector<Stage> DataFlow::StagesAfter(uint32_t instruction) const {
  return Search(instruction, false);
}

}  // namespace strobe::tools
