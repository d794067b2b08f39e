// The work of GroupEvents (group_events.h), in its two halves: building the forest of events from
// the links of a profile (grouper_forest.cc), and making groups from its roots (group_events.cc).
//
//   Grouper grouper(file, links, max_groups, cancel, &result);
//   STROBE_RETURN_IF_ERROR(grouper.Run());
//
// Internal to this module. One use each.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "src/analysis/event_forest.h"
#include "src/analysis/group_events.h"
#include "src/analysis/host_event.h"

namespace strobe::analysis {

class Grouper {
 public:
  Grouper(const xplane::ProfileFile& file, const std::vector<std::vector<LineLinks>>& links,
          uint64_t max_groups, const CancelToken& cancel, GroupingResult* result)
      : file_(file), links_(links), max_groups_(max_groups), cancel_(cancel), result_(*result) {}

  Status Run();

 private:
  using Node = EventForest::Node;
  // Stats that name a group or decide about it; they are read of few events.
  enum ContextSlot : size_t { kGraphType, kIterNum, kStepNum, kStepId, kIsFunc, kContextSlots };

  struct PlaneFacts {
    std::vector<HostEvent> types;  // by event metadata
    std::unique_ptr<StatSlots> context;
    bool has_typed = false;  // has events that matter without any link
  };
  struct Kernel {
    uint64_t correlation = 0;
    Node node;
  };
  struct Root {
    Node node;
    int32_t level = 0;
    int64_t start_ps = 0;
  };
  struct ContextKey {
    int32_t type = 0;
    bool has_process = false;
    int32_t process = 0;
    uint64_t id = 0;
    friend bool operator==(const ContextKey&, const ContextKey&) = default;
  };
  struct ContextHash {
    size_t operator()(const ContextKey& key) const;
  };
  struct ContextGroup {
    std::vector<Node> producers;
    std::vector<Node> consumers;
  };

  // grouper_forest.cc
  void LookAtPlanes();
  bool HasLoops() const;
  Status BuildForest();
  void AddPlane(size_t plane);
  void AddTpuPlane(size_t plane);
  uint32_t AddLine(size_t plane, size_t line, bool nested);
  void AddLinks(uint32_t forest_line, size_t plane, size_t line);
  void AddTypedRoots(uint32_t forest_line, size_t plane);
  void AddRoot(Node node, int32_t level);
  void AddContext(const Link& link, Node node);
  void Attribute(size_t plane, size_t line, const std::vector<Node>& parents);
  void ConnectExecutors();
  void ConnectKernels();
  void ConnectContexts();

  // group_events.cc
  void FindCapturedSteps();
  void FindLoopRoots();
  Status CreateGroups();
  Status CreateTpuGroups();
  Status Process(int64_t group, Node root);
  bool NeedsGrouping(Node node) const;
  bool IsImplicitRoot(Node node) const;
  std::string NameOf(int64_t group, Node root) const;
  bool FindContextStat(Node node, ContextSlot slot, RawStat* value, size_t* plane) const;
  void MarkEager();
  int8_t EagernessOf(Node node) const;
  void Store();

  HostEvent TypeOf(Node node) const;
  bool ReadContext(Node node, StatValues* values) const;
  template <typename Visit>
  void ForEachOfType(HostEvent type, Visit visit) const {
    for (uint32_t l = 0; l < forest_.line_count(); ++l) {
      if (!facts_[forest_.line(l).plane].has_typed) continue;
      const auto count = static_cast<uint32_t>(forest_.line(l).order.size());
      for (uint32_t p = 0; p < count; ++p) {
        if (TypeOf({l, p}) == type) visit(Node{l, p});
      }
    }
  }

  const xplane::ProfileFile& file_;
  const std::vector<std::vector<LineLinks>>& links_;
  const uint64_t max_groups_;
  const CancelToken& cancel_;
  GroupingResult& result_;

  std::vector<PlaneFacts> facts_;
  EventForest forest_;
  std::unordered_map<ContextKey, ContextGroup, ContextHash> contexts_;
  std::vector<ContextKey> context_order_;
  std::unordered_map<uint64_t, Node> launches_;  // the last one of a correlation id counts
  std::vector<Kernel> kernels_;
  std::vector<Root> roots_;
  std::unordered_map<uint64_t, int32_t> root_levels_;  // by node
  std::vector<Node> loop_roots_;
  std::unordered_set<int64_t> captured_steps_;
  std::vector<std::vector<Node>> tensor_cores_;
  std::array<bool, kContextSlots> knows_context_ = {};
  bool has_eager_ = false;
};

}  // namespace strobe::analysis
