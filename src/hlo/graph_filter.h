// Which nodes of a module a graph shows, and how. Part of hlo_graph.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "src/hlo/hlo_module.h"

namespace strobe::hlo {

enum class NodeState : uint8_t {
  kHidden,
  kNormal,
  kHighlighted,
  kSomeOperandsHidden,
  kAllOperandsHidden,
  kSomeUsersHidden,
};

class GraphFilter {
 public:
  // All of a computation and of what it calls.
  static GraphFilter Everything() { return GraphFilter(); }
  // Instructions of the root's computation within `radius` steps along operands and users. Users of
  // a value with more than 16 of them are not followed, operands of tuples neither. What is called
  // from shown instructions is shown.
  static GraphFilter Around(const HloModule& module, uint32_t root, int radius);

  NodeState Of(const HloModule& module, uint32_t instruction) const;
  bool Shows(const HloModule& module, uint32_t instruction) const {
    return Of(module, instruction) != NodeState::kHidden;
  }

 private:
  uint32_t computation_ = kNone;  // kNone: everything
  std::unordered_map<uint32_t, NodeState> states_;
};

}  // namespace strobe::hlo
