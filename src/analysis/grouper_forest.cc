#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "src/analysis/grouper.h"

namespace strobe::analysis {
namespace {

// A link with this many producers and as many consumers says nothing about what caused what.
constexpr size_t kCrowd = 64;

constexpr std::string_view kHostThreadsPlane = "/host:CPU";
constexpr std::string_view kTpuPrefix = "/device:TPU:";

constexpr std::array<std::string_view, 5> kContextNames = {"graph_type", "iter_num", "step_num",
                                                           "id", "is_func"};

// The order of the file's events with regions among them, if there are any. By time where the file
// is not: parts that were merged leave an outer event behind what it contains.
EventOrder OrderWithRegions(const xplane::ProfileFile& file, size_t plane, size_t line,
                            const std::vector<PoolRegion>& regions) {
  const xplane::LineColumns& columns = file.Line(plane, line);
  const LineBytes bytes(file, plane, line);
  EventOrder order = FileOrder(bytes, columns);
  if (regions.empty() && columns.out_of_order == 0) return order;
  const size_t count = columns.event_count();
  std::vector<uint32_t> events(count + regions.size());
  for (size_t i = 0; i < events.size(); ++i) {
    events[i] = i < count ? order[i] : static_cast<uint32_t>(i);
  }
  const auto start_of = [&](uint32_t event) {
    return event < count ? columns.start_ps[event] : regions[event - count].start_ps;
  };
  const auto duration_of = [&](uint32_t event) {
    return event < count ? columns.duration_ps[event]
                         : regions[event - count].end_ps - regions[event - count].start_ps;
  };
  std::ranges::stable_sort(events, [&](uint32_t a, uint32_t b) {
    const int64_t start_a = start_of(a);
    const int64_t start_b = start_of(b);
    return start_a != start_b ? start_a < start_b : duration_of(a) > duration_of(b);
  });
  return EventOrder(std::move(events));
}

// Positions by event; empty when they are the same.
std::vector<uint32_t> PositionsOf(const EventOrder& order) {
  std::vector<uint32_t> positions;
  if (order.is_identity()) return positions;
  positions.resize(order.size());
  for (size_t p = 0; p < order.size(); ++p) positions[order[p]] = static_cast<uint32_t>(p);
  return positions;
}

}  // namespace

size_t Grouper::ContextHash::operator()(const ContextKey& key) const {
  uint64_t x = key.id * 0x9e3779b97f4a7c15ULL;
  x ^= (uint64_t{static_cast<uint32_t>(key.type)} << 32 | static_cast<uint32_t>(key.process)) +
       (key.has_process ? 1 : 0) + (x >> 29);
  x *= 0xbf58476d1ce4e5b9ULL;
  return static_cast<size_t>(x ^ x >> 31);
}

void Grouper::LookAtPlanes() {
  facts_.resize(file_.planes().size());
  for (size_t p = 0; p < facts_.size(); ++p) {
    const xplane::Plane& plane = file_.planes()[p];
    PlaneFacts& facts = facts_[p];
    facts.types.reserve(plane.event_metadata.size());
    for (const xplane::EventMetadata& metadata : plane.event_metadata) {
      const HostEvent type = HostEventOf(metadata.name);
      facts.types.push_back(type);
      facts.has_typed |= type == HostEvent::kTraceContext || type == HostEvent::kExecutorProcess ||
                         type == HostEvent::kEagerExecute || type == HostEvent::kFrameworkOp ||
                         type == HostEvent::kCapturedFunction;
      has_eager_ |= type == HostEvent::kEagerExecute;
    }
    facts.context = std::make_unique<StatSlots>(plane, std::span(kContextNames));
    for (size_t slot = 0; slot < kContextNames.size(); ++slot) {
      knows_context_[slot] |= facts.context->knows(slot);
    }
  }
}

bool Grouper::HasLoops() const {
  return std::ranges::any_of(facts_, [](const PlaneFacts& facts) {
    return std::ranges::find(facts.types, HostEvent::kLoop) != facts.types.end();
  });
}

HostEvent Grouper::TypeOf(Node node) const {
  const EventForest::Line& line = forest_.line(node.line);
  const uint32_t event = line.order[node.position];
  if (event >= line.columns->event_count()) return HostEvent::kUnknown;
  return facts_[line.plane].types[line.columns->name[event]];
}

bool Grouper::ReadContext(Node node, StatValues* values) const {
  const EventForest::Line& line = forest_.line(node.line);
  const uint32_t event = line.order[node.position];
  const StatSlots& slots = *facts_[line.plane].context;
  if (event >= line.columns->event_count() || !slots.knows_any()) return false;
  slots.Read(LineBytes(file_, line.plane, line.line).Record(event), values);
  return !values->empty();
}

uint32_t Grouper::AddLine(size_t plane, size_t line, bool nested) {
  EventForest::Line one;
  one.plane = static_cast<uint32_t>(plane);
  one.line = static_cast<uint32_t>(line);
  one.columns = &file_.Line(plane, line);
  one.regions = &links_[plane][line].regions;
  one.order = OrderWithRegions(file_, plane, line, *one.regions);
  one.nested = nested;
  if (nested) {
    const std::vector<uint32_t> positions = PositionsOf(one.order);
    for (const Link& link : links_[plane][line].links) {
      if (link.kind != LinkKind::kAsync) continue;
      one.outside.push_back(positions.empty() ? link.event : positions[link.event]);
    }
    std::ranges::sort(one.outside);
  }
  return forest_.AddLine(std::move(one));
}

void Grouper::AddContext(const Link& link, Node node) {
  const ContextKey key = {link.type, link.has_process, link.process, link.id};
  const auto [place, is_new] = contexts_.try_emplace(key);
  if (is_new) context_order_.push_back(key);
  auto& side = link.kind == LinkKind::kProducer ? place->second.producers : place->second.consumers;
  side.push_back(node);
}

void Grouper::AddRoot(Node node, int32_t level) {
  if (!root_levels_.emplace(node.key(), level).second) return;
  roots_.push_back({node, level, forest_.StartOf(node)});
}

void Grouper::AddLinks(uint32_t forest_line, size_t plane, size_t line) {
  const EventOrder& order = forest_.line(forest_line).order;
  const std::vector<uint32_t> positions = PositionsOf(order);
  const bool host = file_.planes()[plane].name == kHostThreadsPlane;
  for (const Link& link : links_[plane][line].links) {
    const Node node = {forest_line, positions.empty() ? link.event : positions[link.event]};
    switch (link.kind) {
      case LinkKind::kProducer:
      case LinkKind::kConsumer:
        AddContext(link, node);
        break;
      case LinkKind::kRoot:
        if (forest_.line(forest_line).nested) AddRoot(node, link.type);
        break;
      case LinkKind::kCorrelation:
        // Names that mean something else are neither launches nor kernels.
        if (TypeOf(node) != HostEvent::kUnknown) break;
        if (host) {
          launches_[link.id] = node;
        } else {
          kernels_.push_back({link.id, node});
        }
        break;
      case LinkKind::kAsync:
        break;
    }
  }
}

void Grouper::AddTypedRoots(uint32_t forest_line, size_t plane) {
  const auto& types = facts_[plane].types;
  if (std::ranges::find(types, HostEvent::kTraceContext) == types.end()) return;
  const auto count = static_cast<uint32_t>(forest_.line(forest_line).order.size());
  for (uint32_t position = 0; position < count; ++position) {
    const Node node = {forest_line, position};
    if (TypeOf(node) == HostEvent::kTraceContext) AddRoot(node, 1);
  }
}

void Grouper::AddPlane(size_t plane) {
  for (size_t l = 0; l < file_.planes()[plane].lines.size(); ++l) {
    if (links_[plane][l].links.empty() && !facts_[plane].has_typed) continue;
    if (file_.Line(plane, l).event_count() == 0) continue;
    const uint32_t line = AddLine(plane, l, /*nested=*/true);
    AddLinks(line, plane, l);
    AddTypedRoots(line, plane);
  }
}

// Gives the links of a line's events to the events of the grouping line that they lie in.
void Grouper::Attribute(size_t plane, size_t line, const std::vector<Node>& parents) {
  const std::vector<Link>& links = links_[plane][line].links;
  if (links.empty()) return;
  const xplane::LineColumns& columns = file_.Line(plane, line);
  std::vector<const Link*> ordered;
  for (const Link& link : links) {
    const bool context = link.kind == LinkKind::kProducer || link.kind == LinkKind::kConsumer;
    if (context && link.event < columns.event_count()) ordered.push_back(&link);
  }
  std::ranges::stable_sort(ordered, {},
                           [&](const Link* link) { return columns.start_ps[link->event]; });
  size_t at = 0;
  for (const Link* link : ordered) {
    const int64_t start_ps = columns.start_ps[link->event];
    const int64_t end_ps = start_ps + columns.duration_ps[link->event];
    const auto end_of = [&](Node node) {
      return forest_.line(node.line).EndOf(forest_.EventOf(node));
    };
    while (at < parents.size() && end_of(parents[at]) <= start_ps) ++at;
    if (at == parents.size()) return;
    if (forest_.StartOf(parents[at]) <= start_ps && end_ps <= end_of(parents[at])) {
      AddContext(*link, parents[at]);
    }
  }
}

void Grouper::AddTpuPlane(size_t plane) {
  const std::string_view name = file_.planes()[plane].name;
  const bool tensor_core = TensorCoreOf(name).has_value();
  if (!tensor_core && !SparseCoreOf(name)) return;
  const ptrdiff_t grouping = TpuGroupingLine(file_, plane);
  if (grouping < 0) return;
  const auto grouping_line = static_cast<size_t>(grouping);
  const uint32_t line = AddLine(plane, grouping_line, /*nested=*/false);
  AddLinks(line, plane, grouping_line);
  std::vector<Node> parents;
  for (uint32_t p = 0; p < forest_.line(line).order.size(); ++p) parents.push_back({line, p});
  for (size_t l = 0; l < file_.planes()[plane].lines.size(); ++l) {
    if (l != grouping_line) Attribute(plane, l, parents);
  }
  if (tensor_core) tensor_cores_.push_back(std::move(parents));
}

// Iterators belong to the executor event of the same step and iteration.
void Grouper::ConnectExecutors() {
  if (!knows_context_[kStepId] || !knows_context_[kIterNum]) return;
  using Key = std::pair<uint64_t, uint64_t>;
  std::map<Key, Node> executors;
  StatValues values;
  const auto key_of = [&](Node node, Key* key) {
    if (!ReadContext(node, &values) || !values.has(kStepId) || !values.has(kIterNum)) return false;
    *key = {values[kStepId].IntOrUint(), values[kIterNum].IntOrUint()};
    return true;
  };
  Key key;
  ForEachOfType(HostEvent::kExecutorProcess, [&](Node node) {
    if (key_of(node, &key)) executors[key] = node;
  });
  if (executors.empty()) return;
  ForEachOfType(HostEvent::kIteratorGetNext, [&](Node node) {
    if (!key_of(node, &key)) return;
    const auto executor = executors.find(key);
    if (executor != executors.end()) forest_.AddLink({executor->second}, {node});
  });
}

void Grouper::ConnectKernels() {
  std::unordered_map<uint64_t, std::vector<Node>> launched;
  for (const Kernel& kernel : kernels_) {
    if (launches_.contains(kernel.correlation)) {
      launched[kernel.correlation].push_back(kernel.node);
    }
  }
  for (auto& [correlation, nodes] : launched) {
    forest_.AddLink({launches_.at(correlation)}, std::move(nodes));
  }
}

void Grouper::ConnectContexts() {
  for (const ContextKey& key : context_order_) {
    ContextGroup& group = contexts_.at(key);
    if (group.producers.size() >= kCrowd && group.consumers.size() >= kCrowd) continue;
    forest_.AddLink(std::move(group.producers), std::move(group.consumers));
  }
  contexts_.clear();
}

Status Grouper::BuildForest() {
  for (size_t p = 0; p < file_.planes().size(); ++p) {
    STROBE_RETURN_IF_ERROR(cancel_.Check());
    if (file_.planes()[p].name.starts_with(kTpuPrefix)) {
      AddTpuPlane(p);
    } else {
      AddPlane(p);
    }
  }
  ConnectExecutors();
  ConnectKernels();
  ConnectContexts();
  FindCapturedSteps();
  FindLoopRoots();
  STROBE_RETURN_IF_ERROR(cancel_.Check());
  const bool walked =
      !roots_.empty() || !loop_roots_.empty() || !tensor_cores_.empty() || has_eager_;
  if (walked) forest_.Finish();
  return OkStatus();
}

}  // namespace strobe::analysis
