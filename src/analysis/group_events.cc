#include "src/analysis/group_events.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "src/analysis/grouper.h"

namespace strobe::analysis {

bool IsStepLineName(std::string_view name) {
  return name == "Steps" || name == "Sparse Core Steps";
}

bool IsModuleLineName(std::string_view name) {
  return name == "XLA Modules" || name == "Sparse Core Modules";
}

ptrdiff_t TpuGroupingLine(const xplane::ProfileFile& file, size_t plane) {
  ptrdiff_t steps = -1;
  ptrdiff_t modules = -1;
  const auto& lines = file.planes()[plane].lines;
  for (size_t l = 0; l < lines.size(); ++l) {
    if (IsStepLineName(lines[l].name)) steps = static_cast<ptrdiff_t>(l);
    if (IsModuleLineName(lines[l].name)) modules = static_cast<ptrdiff_t>(l);
  }
  const auto has_events = [&](ptrdiff_t line) {
    return line >= 0 && file.Line(plane, static_cast<size_t>(line)).event_count() > 0;
  };
  if (has_events(steps)) return steps;
  return has_events(modules) ? modules : -1;
}

// Steps of functions that tf.data captured are no steps of the model.
void Grouper::FindCapturedSteps() {
  if (!knows_context_[kStepId]) return;
  StatValues values;
  ForEachOfType(HostEvent::kCapturedFunction, [&](Node node) {
    if (ReadContext(node, &values) && values.has(kStepId)) {
      captured_steps_.insert(values[kStepId].IntOnly());
    }
  });
}

// The first executor event of each iteration of a loop is a root, and causes the others.
void Grouper::FindLoopRoots() {
  if (!knows_context_[kStepId] || !knows_context_[kIterNum]) return;
  using Iterations = std::map<int64_t, std::vector<Node>>;
  std::map<int64_t, Iterations> loops;
  StatValues values;
  ForEachOfType(HostEvent::kExecutorProcess, [&](Node node) {
    if (!ReadContext(node, &values) || !values.has(kStepId) || !values.has(kIterNum)) return;
    const int64_t step = values[kStepId].IntOnly();
    if (captured_steps_.contains(step)) return;
    loops[step][values[kIterNum].IntOnly()].push_back(node);
  });
  const auto by_start = [&](Node a, Node b) { return forest_.StartOf(a) < forest_.StartOf(b); };
  for (auto& [step, iterations] : loops) {
    if (iterations.size() == 1 && iterations.begin()->first == 0) continue;  // no loop
    for (auto& [number, nodes] : iterations) {
      const auto first = std::ranges::min_element(nodes, by_start);
      const Node root = *first;
      nodes.erase(first);
      loop_roots_.push_back(root);
      forest_.AddLink({root}, std::move(nodes));
    }
  }
  std::ranges::stable_sort(loop_roots_, by_start);
}

bool Grouper::FindContextStat(Node node, ContextSlot slot, RawStat* value, size_t* plane) const {
  if (!knows_context_[slot]) return false;
  StatValues values;
  return forest_.SearchUpwards(node, /*include_self=*/true, [&](Node at) {
    if (!ReadContext(at, &values) || !values.has(slot)) return false;
    *value = values[slot];
    *plane = forest_.line(at.line).plane;
    return true;
  });
}

bool Grouper::IsImplicitRoot(Node node) const {
  switch (TypeOf(node)) {
    case HostEvent::kFunctionRun:
    case HostEvent::kSessionRun:
    case HostEvent::kRunGraph:
    case HostEvent::kExecutorProcess:
      return true;
    default:
      break;
  }
  const EventForest::Line& line = forest_.line(node.line);
  const std::string_view name = file_.planes()[line.plane].lines[line.line].name;
  return IsStepLineName(name) || IsModuleLineName(name);
}

// "train 12": the kind of graph or the root's own name, and the number that it carries.
std::string Grouper::NameOf(int64_t group, Node root) const {
  std::string name;
  RawStat stat;
  size_t plane = 0;
  if (FindContextStat(root, kGraphType, &stat, &plane)) {
    name = std::string(facts_[plane].context->Text(stat)) + " ";
  } else if (!IsImplicitRoot(root)) {
    const EventForest::Line& line = forest_.line(root.line);
    const uint32_t event = forest_.EventOf(root);
    name = std::string(file_.planes()[line.plane].event_metadata[line.columns->name[event]].name) +
           " ";
  }
  int64_t number = group;
  if (FindContextStat(root, kIterNum, &stat, &plane) ||
      FindContextStat(root, kStepNum, &stat, &plane)) {
    number = stat.IntOnly();
  }
  return name + std::to_string(number);
}

// A root below another of its level is part of that one's group. Of another level it is a group of
// its own.
bool Grouper::NeedsGrouping(Node node) const {
  if (forest_.GroupOf(node) >= 0) return false;
  if (root_levels_.empty()) return true;
  const auto known = root_levels_.find(node.key());
  const int32_t level = known == root_levels_.end() ? 0 : known->second;
  return !forest_.SearchUpwards(node, /*include_self=*/false, [&](Node above) {
    const auto root = root_levels_.find(above.key());
    return root != root_levels_.end() && root->second == level;
  });
}

Status Grouper::Process(int64_t group, Node root) {
  if (static_cast<uint64_t>(group) >= max_groups_ || group >= std::numeric_limits<int32_t>::max()) {
    return ResourceExhaustedError("PREPARE_LIMIT_GROUPS",
                                  "The profile has more steps or requests than the limit of " +
                                      std::to_string(max_groups_) + ".")
        .Hint("Capture for a shorter time.");
  }
  if (group % 1024 == 0) STROBE_RETURN_IF_ERROR(cancel_.Check());
  std::set<int64_t> met;
  forest_.Propagate(root, static_cast<int32_t>(group), [&](int32_t other) { met.insert(other); });
  Group& made = result_.groups[group];
  for (const int64_t other : met) {
    made.children.push_back(other);
    result_.groups[other].parents.push_back(group);
  }
  made.name = NameOf(group, root);
  if (!IsImplicitRoot(root)) {
    const EventForest::Line& line = forest_.line(root.line);
    AddedStat stat;
    stat.name = "step_name";
    stat.kind = AddedStat::Kind::kString;
    stat.text = made.name;
    result_.lines[line.plane][line.line].additions.push_back(
        {forest_.EventOf(root), std::move(stat)});
  }
  return OkStatus();
}

Status Grouper::CreateGroups() {
  int64_t group = 0;
  if (!loop_roots_.empty()) {
    for (const Node root : loop_roots_) STROBE_RETURN_IF_ERROR(Process(group++, root));
    roots_.clear();
  }
  std::ranges::stable_sort(roots_, [](const Root& a, const Root& b) {
    return a.level != b.level ? a.level > b.level : a.start_ps < b.start_ps;
  });
  StatValues values;
  for (const Root& root : roots_) {
    if (!captured_steps_.empty() && ReadContext(root.node, &values) && values.has(kStepId) &&
        captured_steps_.contains(values[kStepId].IntOnly())) {
      continue;
    }
    if (NeedsGrouping(root.node)) STROBE_RETURN_IF_ERROR(Process(group++, root.node));
  }
  // When no host reached any TensorCore, their steps are counted in lock step.
  for (const std::vector<Node>& core : tensor_cores_) {
    for (const Node node : core) {
      if (!NeedsGrouping(node)) return OkStatus();
    }
  }
  for (const std::vector<Node>& core : tensor_cores_) {
    int64_t step = group;
    for (const Node node : core) {
      if (NeedsGrouping(node)) STROBE_RETURN_IF_ERROR(Process(step++, node));
    }
  }
  return OkStatus();
}

// Eager: below an EagerExecute that runs no compiled function.
int8_t Grouper::EagernessOf(Node node) const {
  if (!has_eager_) return 0;
  Node found;
  const bool below = forest_.SearchUpwards(node, /*include_self=*/true, [&](Node at) {
    found = at;
    return TypeOf(at) == HostEvent::kEagerExecute;
  });
  if (!below) return 0;
  StatValues values;
  if (!ReadContext(found, &values) || !values.has(kIsFunc)) return 0;
  return values[kIsFunc].IntOnly() == 0 ? 1 : 0;
}

void Grouper::MarkEager() {
  const auto mark = [&](Node node) {
    const EventForest::Line& line = forest_.line(node.line);
    const uint32_t event = forest_.EventOf(node);
    std::vector<int8_t>& marks = result_.lines[line.plane][line.line].is_eager;
    if (marks.empty()) marks.assign(line.columns->event_count(), PreparedLine::kNotMarked);
    marks[event] = EagernessOf(node);
  };
  for (const Kernel& kernel : kernels_) mark(kernel.node);
  ForEachOfType(HostEvent::kFrameworkOp, mark);
}

void Grouper::Store() {
  for (uint32_t l = 0; l < forest_.line_count(); ++l) {
    const EventForest::Line& line = forest_.line(l);
    const size_t count = line.columns->event_count();
    std::vector<int32_t> groups = forest_.TakeGroups(l);
    const bool any = std::ranges::any_of(groups, [](int32_t group) { return group >= 0; });
    if (!any) continue;
    GroupingResult::LineResult& out = result_.lines[line.plane][line.line];
    if (line.order.is_identity()) {
      out.groups = std::move(groups);
      continue;
    }
    out.groups.resize(count, static_cast<int32_t>(kNoGroup));
    out.region_groups.resize(groups.size() - count, static_cast<int32_t>(kNoGroup));
    for (size_t p = 0; p < groups.size(); ++p) {
      const uint32_t event = line.order[p];
      (event < count ? out.groups[event] : out.region_groups[event - count]) = groups[p];
    }
  }
  for (auto& [id, group] : result_.groups) {
    for (std::vector<int64_t>* list : {&group.parents, &group.children}) {
      std::ranges::sort(*list);
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  }
}

Status Grouper::Run() {
  result_.lines.resize(file_.planes().size());
  for (size_t p = 0; p < file_.planes().size(); ++p) {
    result_.lines[p].resize(file_.planes()[p].lines.size());
  }
  LookAtPlanes();
  if (HasLoops()) {
    result_.skipped = true;
    return OkStatus();
  }
  STROBE_RETURN_IF_ERROR(BuildForest());
  STROBE_RETURN_IF_ERROR(CreateGroups());
  MarkEager();
  Store();
  return OkStatus();
}

Status GroupEvents(const xplane::ProfileFile& file,
                   const std::vector<std::vector<LineLinks>>& links, uint64_t max_groups,
                   const CancelToken& cancel, GroupingResult* result) {
  return Grouper(file, links, max_groups, cancel, result).Run();
}

}  // namespace strobe::analysis
