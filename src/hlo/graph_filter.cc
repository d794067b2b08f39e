#include "src/hlo/graph_filter.h"

#include <algorithm>
#include <deque>

namespace strobe::hlo {
namespace {

constexpr size_t kMaxUsers = 16;

}  // namespace

GraphFilter GraphFilter::Around(const HloModule& module, uint32_t root, int radius) {
  GraphFilter filter;
  filter.computation_ = module.instruction(root).computation;
  std::unordered_map<uint32_t, NodeState>& states = filter.states_;
  struct Step {
    uint32_t instruction;
    int depth;
  };
  std::deque<Step> work = {{root, 0}};
  // A node is reached again until its first turn; once a depth is enough.
  std::unordered_map<uint32_t, int> queued_depth = {{root, 0}};
  while (!work.empty()) {
    const auto [index, depth] = work.front();
    work.pop_front();
    states[index] = NodeState::kNormal;
    if (depth == radius) continue;
    const Opcode opcode = module.instruction(index).opcode;
    const auto push = [&](uint32_t next, int next_depth) {
      if (states.contains(next)) return;
      const auto [at, added] = queued_depth.try_emplace(next, next_depth);
      if (!added && at->second == next_depth) return;
      at->second = next_depth;
      work.push_back({next, next_depth});
    };
    if (index == root || opcode != Opcode::kTuple) {
      for (const uint32_t operand : module.operands(index)) {
        // What a bitcast stands for is as near as its user.
        const bool free =
            opcode == Opcode::kBitcast || module.instruction(operand).opcode == Opcode::kBitcast;
        push(operand, free ? depth : depth + 1);
      }
    }
    if (opcode == Opcode::kConstant) continue;
    if (module.users(index).size() > kMaxUsers) {
      states[index] = NodeState::kSomeUsersHidden;
      continue;
    }
    for (const uint32_t user : module.users(index)) push(user, depth + 1);
  }
  const auto shown = [&](uint32_t i) {
    return states.contains(i) || module.instruction(i).opcode == Opcode::kConstant;
  };
  for (auto& [index, state] : states) {
    const auto operands = module.operands(index);
    const auto count = static_cast<size_t>(std::count_if(operands.begin(), operands.end(), shown));
    if (count > 0 && count < operands.size()) state = NodeState::kSomeOperandsHidden;
    if (count == 0 && !operands.empty()) state = NodeState::kAllOperandsHidden;
    const auto users = module.users(index);
    if (state == NodeState::kSomeUsersHidden && std::all_of(users.begin(), users.end(), shown)) {
      state = NodeState::kNormal;
    }
  }
  states[root] = NodeState::kHighlighted;
  return filter;
}

NodeState GraphFilter::Of(const HloModule& module, uint32_t instruction) const {
  if (computation_ == kNone || module.instruction(instruction).computation != computation_) {
    return NodeState::kNormal;
  }
  const auto found = states_.find(instruction);
  return found == states_.end() ? NodeState::kHidden : found->second;
}

}  // namespace strobe::hlo
