#include "src/analysis/tpu_op_metrics.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "src/analysis/op_line_facts.h"
#include "src/analysis/op_line_walk.h"
#include "src/analysis/plane_ops.h"

namespace strobe::analysis {
namespace {

constexpr std::string_view kSparseOpLine = "Sparse Core Ops";
constexpr std::string_view kSparseModuleLine = "Sparse Core Modules";
constexpr std::string_view kStepLine = "Steps";
constexpr std::string_view kSparseStepLine = "Sparse Core Steps";

void KeepGroups(OpAccumulator* sums, const std::shared_ptr<const PlaneOps>& ops,
                std::map<int64_t, std::shared_ptr<const GroupOps>>* groups) {
  for (auto& [id, group] : sums->TakeGroups()) {
    groups->try_emplace(id, std::make_shared<const GroupOps>(ops, std::move(group)));
  }
}

struct Window {
  int64_t first_ps = std::numeric_limits<int64_t>::max();
  int64_t last_ps = std::numeric_limits<int64_t>::min();
  void Add(int64_t first, int64_t last) {
    first_ps = std::min(first_ps, first);
    last_ps = std::max(last_ps, last);
  }
  uint64_t duration_ps() const {
    return last_ps > first_ps ? static_cast<uint64_t>(last_ps) - static_cast<uint64_t>(first_ps)
                              : 0;
  }
};

void AddAddedEvents(const PreparedLine& line, int64_t shift_ps, Window* window) {
  for (const AddedEvent& event : line.events) {
    const Span span = SpanOfAdded(event, shift_ps);
    window->Add(span.start_ps, span.end_ps());
  }
  for (const DerivedEvent& event : line.derived_events) {
    window->Add(event.start_ps + shift_ps, event.start_ps + shift_ps + event.duration_ps);
  }
}

// Added lines have no line of the file; times of all lines of a file are shifted alike.
int64_t ShiftOfAdded(const PreparedHost& host, size_t plane, size_t index) {
  const auto& lines = host.file().planes()[plane].lines;
  if (index < lines.size()) return WrittenShiftPs(lines[index].timestamp_ns, lines[index].base_ps);
  return lines.empty() ? 0 : WrittenShiftPs(lines[0].timestamp_ns, lines[0].base_ps);
}

}  // namespace

Result<DevicePlaneMetrics> TensorCoreMetrics(const PreparedHost& host, size_t plane,
                                             const SparseCoreOps& sparse, DeviceGroups groups,
                                             const CancelToken& cancel) {
  const xplane::ProfileFile& file = host.file();
  DevicePlaneMetrics metrics;
  metrics.plane = plane;
  metrics.plane_id = file.planes()[plane].id;
  metrics.kind = DeviceKind::kTensorCore;

  OpAccumulator sums(file.planes()[plane].event_metadata.size());
  OpAccumulator grouped(file.planes()[plane].event_metadata.size());
  std::map<uint32_t, std::set<OffloadKey>> offloads;
  const auto on_offload = [&](uint32_t entry, int64_t core, int64_t start) {
    if (sparse.contains({core, start})) offloads[entry].insert({core, start});
  };
  Window window;
  bool groups_differ = false;
  const auto& lines = host.planes()[plane].lines;
  for (size_t l = 0; l < lines.size(); ++l) {
    const PreparedLine& line = lines[l];
    const bool steps = line.name == kStepLine || line.name == kSparseStepLine;
    if (!steps && !IsOpLine(line.name)) continue;
    if (!line.from_file) {
      AddAddedEvents(line, ShiftOfAdded(host, plane, l), &window);
      continue;
    }
    OpLineWalk walk(host, plane, l, cancel);
    if (steps) {
      STROBE_RETURN_IF_ERROR(walk.Visit([](uint32_t, const Span&, const OpEventStats&) {}));
    } else {
      if (groups == DeviceGroups::kWholeOnly) walk.IgnoreGroups();
      STROBE_RETURN_IF_ERROR(walk.Run(OpLineWalk::kAllEvents, &sums, on_offload));
      // Self time within a step counts only what belongs to a step.
      groups_differ |= walk.any_grouped() && walk.any_ungrouped();
      if (groups_differ && groups == DeviceGroups::kByGroup) {
        STROBE_RETURN_IF_ERROR(walk.Run(OpLineWalk::kGroupedOnly, &grouped));
      }
    }
    if (walk.first_ps() <= walk.last_ps()) window.Add(walk.first_ps(), walk.last_ps());
  }
  sums.Finish();
  grouped.Finish();

  const auto ops = std::make_shared<const PlaneOps>(file, plane, sums.order());
  if (groups == DeviceGroups::kByGroup) {
    KeepGroups(groups_differ ? &grouped : &sums, ops, &metrics.by_group);
  }
  PlaneOps::Places places;
  metrics.whole = ops->Build(CoreType::kTensorCore, false, &places, [&](auto add) {
    for (const uint32_t entry : sums.order()) add(entry, sums.whole()[entry]);
  });
  for (const auto& [entry, keys] : offloads) {
    const size_t place = ops->PlaceOf(entry, places);
    if (place == std::string::npos) continue;
    auto children = std::make_shared<OpMetricsDb>();
    OpMetricsCombiner combiner(children.get());
    for (const OffloadKey& key : keys) combiner.Add(*sparse.at(key), false);
    metrics.whole.ops[place].children = std::move(children);
  }
  SetTotalTimeAndIdle(window.duration_ps(), &metrics.whole);
  return metrics;
}

Result<DevicePlaneMetrics> SparseCoreMetrics(const PreparedHost& host, size_t plane,
                                             const CancelToken& cancel) {
  const xplane::ProfileFile& file = host.file();
  DevicePlaneMetrics metrics;
  metrics.plane = plane;
  metrics.plane_id = file.planes()[plane].id;
  metrics.kind = DeviceKind::kSparseCore;
  OpAccumulator sums(file.planes()[plane].event_metadata.size());
  const auto& lines = host.planes()[plane].lines;
  for (size_t l = 0; l < lines.size(); ++l) {
    if (lines[l].name != kSparseOpLine || !lines[l].from_file) continue;
    OpLineWalk walk(host, plane, l, cancel);
    STROBE_RETURN_IF_ERROR(walk.Run(OpLineWalk::kGroupedOnly, &sums));
  }
  sums.Finish();
  KeepGroups(&sums, std::make_shared<const PlaneOps>(file, plane, sums.order()), &metrics.by_group);
  return metrics;
}

namespace {

struct SparseModule {
  Span span;
  OffloadKey key;
};

Status FindModules(const PreparedHost& host, size_t plane, const CancelToken& cancel,
                   std::vector<SparseModule>* modules) {
  const auto& lines = host.planes()[plane].lines;
  for (size_t l = 0; l < lines.size(); ++l) {
    if (lines[l].name != kSparseModuleLine || !lines[l].from_file) continue;
    OpLineWalk walk(host, plane, l, cancel);
    STROBE_RETURN_IF_ERROR(walk.Visit([&](uint32_t, const Span& span, const OpEventStats& stats) {
      if (!stats.has_offload_core || !stats.has_offload_start) return;
      modules->push_back({span, {stats.offload_core, stats.offload_start}});
    }));
  }
  std::ranges::stable_sort(*modules, [](const SparseModule& a, const SparseModule& b) {
    if (a.span.start_ps != b.span.start_ps) return a.span.start_ps < b.span.start_ps;
    return a.span.duration_ps > b.span.duration_ps;
  });
  return OkStatus();
}

// The ops of all modules with one key, nested among themselves.
struct SparseRun {
  struct Open {
    Span span;
    uint64_t children_ps;
    uint32_t entry;
    OpEventStats stats;
  };
  std::vector<Open> stack;
  std::map<uint32_t, OpSums> sums;
  std::vector<uint32_t> order;
  uint64_t modules_ps = 0;

  void Close() {
    const Open& open = stack.back();
    const auto [at, is_new] = sums.try_emplace(open.entry);
    if (is_new) order.push_back(open.entry);
    OpSums& op = at->second;
    const auto time_ps = static_cast<uint64_t>(open.span.duration_ps);
    ++op.occurrences;
    op.time_ps += time_ps;
    op.self_ps += time_ps - std::min(time_ps, open.children_ps);
    op.min_ps = std::min(op.min_ps, time_ps);
    if (open.stats.has_scale) {
      op.normalized_ps += static_cast<uint64_t>(static_cast<double>(time_ps) * open.stats.scale);
    } else {
      op.unscaled_ps += time_ps;
    }
    op.dma_stall_ps += static_cast<uint64_t>(std::max<int64_t>(0, open.stats.dma_stall_ps));
    op.vdd_energy_j += open.stats.vdd_energy_j;
    stack.pop_back();
  }

  void Push(const Span& span, uint32_t entry, const OpEventStats& stats) {
    while (!stack.empty() && !stack.back().span.Includes(span)) Close();
    if (!stack.empty()) stack.back().children_ps += static_cast<uint64_t>(span.duration_ps);
    stack.push_back({span, 0, entry, stats});
  }
};

}  // namespace

Status AddSparseCore(const PreparedHost& host, size_t plane, const CancelToken& cancel,
                     SparseCoreOps* ops) {
  const xplane::ProfileFile& file = host.file();
  std::vector<SparseModule> modules;
  STROBE_RETURN_IF_ERROR(FindModules(host, plane, cancel, &modules));
  if (modules.empty()) return OkStatus();
  std::map<OffloadKey, SparseRun> runs;
  const auto& lines = host.planes()[plane].lines;
  for (size_t l = 0; l < lines.size(); ++l) {
    if (lines[l].name != kSparseOpLine || !lines[l].from_file) continue;
    const xplane::LineColumns& columns = file.Line(plane, l);
    OpLineWalk walk(host, plane, l, cancel);
    size_t module = 0;
    STROBE_RETURN_IF_ERROR(
        walk.Visit([&](uint32_t event, const Span& span, const OpEventStats& stats) {
          while (module < modules.size() && modules[module].span.end_ps() < span.start_ps) {
            ++module;
          }
          if (module == modules.size() || !modules[module].span.Includes(span)) return;
          runs[modules[module].key].Push(span, columns.name[event], stats);
        }));
  }
  for (const SparseModule& module : modules) {
    const auto run = runs.find(module.key);
    if (run == runs.end()) continue;
    run->second.modules_ps += static_cast<uint64_t>(module.span.duration_ps);
  }
  for (auto& [key, run] : runs) {
    while (!run.stack.empty()) run.Close();
    const PlaneOps plane_ops(file, plane, run.order);
    PlaneOps::Places places;
    auto db = std::make_shared<OpMetricsDb>(
        plane_ops.Build(CoreType::kSparseCore, false, &places, [&](auto add) {
          for (const uint32_t entry : run.order) add(entry, run.sums.at(entry));
        }));
    SetTotalTimeAndIdle(run.modules_ps, db.get());
    (*ops)[key] = std::move(db);
  }
  return OkStatus();
}

}  // namespace strobe::analysis
