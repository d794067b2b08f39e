// Costs of fusions: what is inside, as often as it is computed, and the bytes at the edges.
#include <algorithm>
#include <cmath>
#include <set>

#include "src/hlo/category.h"
#include "src/hlo/cost_walk.h"
#include "src/hlo/hlo_order.h"

namespace strobe::hlo {

void CostWalk::HandleFusion(Work* work) {
  const uint32_t computation = Called(work->index, 0);
  if (computation == kNone || module_.computation(computation).root == kNone) return;
  const uint32_t root = module_.computation(computation).root;
  if (Message(work->instruction->record).Bytes(11) == "kCustom") {
    const Range inside = module_.computation(computation).instructions;
    for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
      if (module_.instruction(i).opcode == Opcode::kGather) return HandleGather(work, i);
      if (module_.instruction(i).opcode == Opcode::kScatter) return HandleScatter(work, i);
    }
  }
  const Sums sums = Computation(computation);
  work->cost->flops = sums.flops;
  work->cost->transcendentals = sums.transcendentals;
  FusionOutputs(work, root);
  if (gpu_) {
    FusionUtilizations(work, computation);
  } else {
    const Range inside = module_.computation(computation).instructions;
    for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) utilization_[i] = 1;
  }
  FusionParameters(work, computation);
}

void CostWalk::FusionOutputs(Work* work, uint32_t root) {
  InstructionCost& cost = *work->cost;
  cost.bytes_accessed = 0;
  // What is updated in place writes the update only.
  const auto written = [&](uint32_t part, const Shape& shape) {
    if (part != kNone && module_.instruction(part).opcode == Opcode::kDynamicUpdateSlice) {
      SetUtilization(part, 0, 0.0f);
      return OperandSize(part, 1);
    }
    return CostSizeBytes(shape);
  };
  const Shape& shape = ShapeOf(work->index);
  if (!shape.is_tuple()) {
    const int64_t size = shape.is_array() ? written(root, shape) : 0;
    cost.bytes_accessed += static_cast<float>(size);
    work->output_bytes = static_cast<float>(size);
    return;
  }
  const bool root_is_tuple = module_.instruction(root).opcode == Opcode::kTuple;
  const auto parts = module_.operands(root);
  float output = 0;
  int64_t in_main_memory = 0;
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    const Shape& element = shape.elements[i];
    if (element.is_array()) {
      const int64_t size = written(root_is_tuple && i < parts.size() ? parts[i] : kNone, element);
      cost.bytes_accessed += static_cast<float>(size);
      output += static_cast<float>(size);
      if (InMainMemory(element)) in_main_memory += size;
      continue;
    }
    ForEachLeaf(element, [&](const Shape& leaf) {
      const int64_t size = leaf.is_array() ? CostSizeBytes(leaf) : 0;
      cost.bytes_accessed += static_cast<float>(size);
      output += static_cast<float>(size);
      if (InMainMemory(leaf)) in_main_memory += size;
    });
  }
  work->output_bytes = output;
  work->tuple_written = in_main_memory;
}

// How often each instruction inside is computed: from the root down, an elementwise user passes on
// its own; any other user asks for as much of its operand as it uses.
void CostWalk::FusionUtilizations(Work* work, uint32_t computation) {
  const uint32_t root = module_.computation(computation).root;
  std::vector<uint32_t> order = InstructionPostOrder(module_, computation);
  std::ranges::reverse(order);
  std::unordered_map<uint32_t, std::set<uint32_t>> roots;  // whose use is elementwise down to here
  std::unordered_map<uint32_t, float> root_utilization;
  for (const uint32_t i : order) utilization_[i] = 0;
  root_utilization[root] = 1;
  roots[root].insert(root);
  float flops = 0;
  for (const uint32_t i : order) {
    const std::set<uint32_t>& own_roots = roots[i];
    for (const uint32_t r : own_roots) utilization_[i] += root_utilization[r];
    if (cost_.instructions[i].known) flops += utilization_[i] * cost_.instructions[i].flops;
    const Opcode opcode = module_.instruction(i).opcode;
    const bool passes_on =
        opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement || IsElementwise(module_, i);
    const auto operands = module_.operands(i);
    for (size_t o = 0; o < operands.size(); ++o) {
      const uint32_t operand = operands[o];
      if (passes_on) {
        if (operand != i) roots[operand].insert(own_roots.begin(), own_roots.end());
        continue;
      }
      roots[operand].insert(operand);
      const int64_t elements = ElementCountRecursive(ShapeOf(operand));
      float share = utilization_[i] * UtilizationOf(i, o);
      share = elements == 0 ? 0.0f
                            : static_cast<float>(std::ceil(share * static_cast<float>(elements)) /
                                                 static_cast<float>(elements));
      root_utilization[operand] += share;
    }
  }
  work->cost->flops = flops;
}

float CostWalk::ParameterReadBytes(uint32_t parameter, int depth) const {
  if (!gpu_) return static_cast<float>(GenericParameterReadBytes(parameter, depth));
  const float used = std::min(utilization_[parameter], 1.0f);
  return std::trunc(static_cast<float>(Size(parameter)) * used);
}

int64_t CostWalk::GenericParameterReadBytes(uint32_t parameter, int depth) const {
  int64_t size = 0;
  bool whole = false;  // read in full once, however many users
  const auto read_whole = [&] {
    if (!whole) size += Size(parameter);
    whole = true;
  };
  for (const uint32_t user : module_.users(parameter)) {
    const auto operands = module_.operands(user);
    switch (module_.instruction(user).opcode) {
      case Opcode::kFusion: {
        const uint32_t computation = Called(user, 0);
        if (computation == kNone || depth == 0) break;
        const Range inside = module_.computation(computation).instructions;
        for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
          const Instruction& inner = module_.instruction(i);
          if (inner.opcode != Opcode::kParameter || inner.number < 0 ||
              static_cast<size_t>(inner.number) >= operands.size() ||
              operands[static_cast<size_t>(inner.number)] != parameter) {
            continue;
          }
          size += GenericParameterReadBytes(i, depth - 1);
        }
        break;
      }
      case Opcode::kSlice:
        size += Size(user);
        break;
      case Opcode::kDynamicSlice:
        if (operands[0] == parameter) {
          size += Size(user);
        } else {
          read_whole();
        }
        break;
      case Opcode::kDynamicUpdateSlice:
        if (operands[0] != parameter) read_whole();
        break;
      case Opcode::kBroadcast:
      case Opcode::kReshape:
        size += Size(parameter);
        break;
      default:
        read_whole();
        break;
    }
  }
  return size;
}

void CostWalk::FusionParameters(Work* work, uint32_t computation) {
  InstructionCost& cost = *work->cost;
  const Range inside = module_.computation(computation).instructions;
  // Constants of more elements than these are read from memory.
  const int64_t immediate = gpu_ ? 8 : 1;
  for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
    if (module_.instruction(i).opcode != Opcode::kConstant) continue;
    if (ElementCount(ShapeOf(i)) <= immediate) continue;
    cost.bytes_accessed += static_cast<float>(Size(i)) * std::min(utilization_[i], 1.0f);
  }
  std::vector<uint32_t> parameters(work->operand_bytes.size(), kNone);
  for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
    const Instruction& inner = module_.instruction(i);
    if (inner.opcode == Opcode::kParameter && inner.number >= 0 &&
        static_cast<size_t>(inner.number) < parameters.size()) {
      parameters[static_cast<size_t>(inner.number)] = i;
    }
  }
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (parameters[p] == kNone) continue;
    const Shape& shape = ShapeOf(parameters[p]);
    int64_t size = 0;
    if (!shape.is_tuple()) {
      size = static_cast<int64_t>(ParameterReadBytes(parameters[p], kMaxCallDepth));
    } else {
      int64_t in_main_memory = 0;
      for (const uint32_t user : module_.users(parameters[p])) {
        if (module_.instruction(user).opcode != Opcode::kGetTupleElement) continue;
        const auto part = static_cast<int64_t>(ParameterReadBytes(user, kMaxCallDepth));
        size += part;
        if (InMainMemory(ShapeOf(user))) in_main_memory += part;
      }
      work->tuple_read[p] = in_main_memory;
    }
    cost.bytes_accessed += static_cast<float>(size);
    work->operand_bytes[p] = static_cast<float>(size);
  }
}

}  // namespace strobe::hlo
