// The tree of an op profile while it is built: groups of ops, the ops, what is fused into them.
//
//   OpProfileTree tree(OpGrouping::kByProgram, &stats.program_names);
//   for (const OpMetrics& op : db.ops) tree.Add(op);
//   Value root = tree.Finish(peaks, total_time_ps);
//
// Groups that hold one another (root, program, scopes) take the self time of their ops; groups of
// like ops (category, duplicates) take what the ops took. Memory: 600 B a node.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/op_metrics.h"
#include "src/analysis/op_stats.h"
#include "src/tools/value.h"

namespace strobe::tools {

enum class OpGrouping : uint8_t { kByProgram, kByCategory, kByProvenance };

class OpProfileTree {
 public:
  OpProfileTree(OpGrouping grouping, const std::map<uint64_t, std::string>* program_names);
  OpProfileTree(const OpProfileTree&) = delete;
  OpProfileTree& operator=(const OpProfileTree&) = delete;

  void Add(const analysis::OpMetrics& op);
  // `total_time_ps`: what shares are taken of.
  Value Finish(const analysis::PerfEnv& perf, uint64_t total_time_ps);

  // Children of a category, group or op that are kept.
  static constexpr size_t kMaxChildren = 100;

 private:
  struct Node {
    std::string name;
    analysis::OpMetrics metrics;
    const analysis::OpMetrics* op = nullptr;  // what it stands for
    bool is_group_of_duplicates = false;      // shows the first of its ops
    size_t child_count = 0;                   // before pruning
    std::vector<Node*> children;
    std::map<std::string, Node*, std::less<>> scopes;
    std::map<std::string, Node*, std::less<>> categories;
    std::map<std::string, Node*, std::less<>> duplicates;
  };

  Node* NewNode(Node* parent, std::string_view name);
  Node* Program(uint64_t program_id);
  // A child by name among `known`, made when it is not there.
  Node* Group(Node* parent, std::map<std::string, Node*, std::less<>>* known,
              std::string_view name);
  Node* ScopeOf(const analysis::OpMetrics& op, Node* parent);
  void AddFused(const analysis::OpMetrics& op, Node* node);
  void Prune(Node* node, int level);
  // Groups of one op become that op; others are named after their first.
  void NameGroups(Node* node);
  Value Print(const Node& node, const analysis::PerfEnv& perf, uint64_t total_time_ps) const;

  const OpGrouping grouping_;
  const std::map<uint64_t, std::string>* const program_names_;
  std::deque<Node> nodes_;
  Node* root_;
  std::map<uint64_t, Node*> programs_;
};

// "a/b/c:type" -> {"a", "b", "c"}.
std::vector<std::string_view> ProvenanceParts(std::string_view provenance);

// The JSON under frontend_attributes={kernel_metadata="{...\"xprof_metadata\":...}"} of an
// expression; empty when it has none.
std::string KernelMetadata(std::string_view expression);

}  // namespace strobe::tools
