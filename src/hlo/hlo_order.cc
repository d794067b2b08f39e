#include "src/hlo/hlo_order.h"

namespace strobe::hlo {
namespace {

enum class Visit : uint8_t { kNew, kOpen, kDone };

// Appends what is called (directly or not) from `computation`, callees first.
void AppendCallees(const HloModule& module, uint32_t computation, std::vector<bool>* seen,
                   std::vector<uint32_t>* order) {
  struct Frame {
    uint32_t computation;
    uint32_t next;  // instruction
  };
  std::vector<Frame> stack;
  const auto push = [&](uint32_t instruction) {
    const auto calls = module.calls(instruction);
    for (size_t i = calls.size(); i-- > 0;) {
      if ((*seen)[calls[i]]) continue;
      (*seen)[calls[i]] = true;
      stack.push_back({calls[i], module.computation(calls[i]).instructions.first});
    }
  };
  const Range own = module.computation(computation).instructions;
  for (uint32_t i = own.first; i < own.first + own.count; ++i) {
    push(i);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const Range range = module.computation(frame.computation).instructions;
      if (frame.next == range.first + range.count) {
        order->push_back(frame.computation);
        stack.pop_back();
      } else {
        push(frame.next++);
      }
    }
  }
}

}  // namespace

std::vector<uint32_t> ComputationPostOrder(const HloModule& module) {
  const size_t count = module.computations().size();
  std::vector<bool> called(count, false);
  for (uint32_t i = 0; i < module.instructions().size(); ++i) {
    for (const uint32_t c : module.calls(i)) called[c] = true;
  }
  std::vector<uint32_t> order;
  order.reserve(count);
  std::vector<bool> seen(count, false);
  for (uint32_t c = 0; c < count; ++c) {
    if (called[c] || seen[c]) continue;
    seen[c] = true;
    AppendCallees(module, c, &seen, &order);
    order.push_back(c);
  }
  // Computations that only call each other in a circle: no sound module has them.
  for (uint32_t c = 0; c < count; ++c) {
    if (!seen[c]) {
      seen[c] = true;
      order.push_back(c);
    }
  }
  return order;
}

std::vector<uint32_t> InstructionPostOrder(const HloModule& module, uint32_t computation) {
  const Range range = module.computation(computation).instructions;
  std::vector<Visit> state(range.count, Visit::kNew);
  std::vector<uint32_t> order;
  order.reserve(range.count);
  std::vector<uint32_t> stack;
  const auto visit = [&](uint32_t root) {
    stack.push_back(root);
    while (!stack.empty()) {
      const uint32_t current = stack.back();
      Visit& visited = state[current - range.first];
      if (visited != Visit::kNew) {
        stack.pop_back();
        if (visited == Visit::kOpen) {
          visited = Visit::kDone;
          order.push_back(current);
        }
        continue;
      }
      visited = Visit::kOpen;
      const auto push = [&](uint32_t next) {
        if (state[next - range.first] == Visit::kNew) stack.push_back(next);
      };
      const auto operands = module.operands(current);
      for (size_t i = operands.size(); i-- > 0;) push(operands[i]);
      for (const uint32_t before : module.control_predecessors(current)) push(before);
    }
  };
  for (uint32_t i = range.first; i < range.first + range.count; ++i) {
    if (module.users(i).empty()) visit(i);
  }
  // Without users only in a sound module; circles still have to appear.
  for (uint32_t i = range.first; i < range.first + range.count; ++i) {
    if (state[i - range.first] == Visit::kNew) visit(i);
  }
  return order;
}

std::vector<uint32_t> PrintOrder(const HloModule& module, uint32_t computation) {
  if (module.computation(computation).is_scheduled) {
    const auto schedule = module.schedule(computation);
    return {schedule.begin(), schedule.end()};
  }
  return InstructionPostOrder(module, computation);
}

}  // namespace strobe::hlo
