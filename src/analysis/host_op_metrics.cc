#include "src/analysis/host_op_metrics.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/analysis/device_op_metrics.h"
#include "src/analysis/line_order.h"
#include "src/analysis/stat_scan.h"
#include "src/analysis/tf_op_name.h"
#include "src/analysis/trace_lines.h"

namespace strobe::analysis {
namespace {

enum Wanted : size_t { kStageId, kStageCategory, kFrameworkOp, kEager };

// An op as the host ran it; the id is that of a pipeline stage, else 0.
struct HostOp {
  std::string_view name;
  std::string_view type;
  int64_t id = 0;
};

// A begin or an end of an op on one thread.
struct Activity {
  int64_t at_ps;
  uint32_t op;  // running number of the event on its line
  bool is_end;
};

class ThreadOps {
 public:
  void Add(const HostOp& op, bool is_eager, int64_t start_ps, int64_t duration_ps) {
    const auto number = static_cast<uint32_t>(ops_.size());
    ops_.push_back({op, is_eager});
    activities_.push_back({start_ps, number, false});
    activities_.push_back({start_ps + duration_ps, number, true});
  }

  OpMetricsDb Finish() {
    OpMetricsDb db;
    std::ranges::stable_sort(activities_, {}, &Activity::at_ps);
    std::map<std::pair<int64_t, std::string_view>, size_t> places;
    for (const Activity& activity : activities_) {
      if (!activity.is_end) {
        stack_.push_back({activity.op, activity.at_ps, 0});
        continue;
      }
      std::optional<Open> open = Pop(activity.op);
      // What overlaps without nesting has lost its begin.
      if (!open) continue;
      const auto time_ps = static_cast<uint64_t>(activity.at_ps - open->start_ps);
      Enter(activity.op, time_ps, open->children_ps, &places, &db);
      if (!stack_.empty()) stack_.back().children_ps += time_ps;
      if (IsInfeedEnqueue(ops_[activity.op].op.type)) {
        Infeed(open->start_ps, activity.at_ps, &db);
      }
    }
    const uint64_t span_ps =
        activities_.empty()
            ? 0
            : static_cast<uint64_t>(activities_.back().at_ps - activities_.front().at_ps);
    SetTotalTimeAndIdle(span_ps, &db);
    return db;
  }

 private:
  struct Entry {
    HostOp op;
    bool is_eager;
  };
  struct Open {
    uint32_t op;
    int64_t start_ps;
    uint64_t children_ps;
  };

  std::optional<Open> Pop(uint32_t op) {
    while (!stack_.empty()) {
      const Open open = stack_.back();
      stack_.pop_back();
      if (open.op == op) return open;
    }
    return std::nullopt;
  }

  void Enter(uint32_t number, uint64_t time_ps, uint64_t children_ps,
             std::map<std::pair<int64_t, std::string_view>, size_t>* places, OpMetricsDb* db) {
    const Entry& entry = ops_[number];
    const auto [place, is_new] = places->try_emplace({entry.op.id, entry.op.name}, db->ops.size());
    if (is_new) {
      OpMetrics& added = db->ops.emplace_back();
      added.hlo_module_id = static_cast<uint64_t>(entry.op.id);
      added.name = entry.op.name;
      added.num_cores = 1;
    }
    OpMetrics& op = db->ops[place->second];
    if (op.category.empty()) op.category = entry.op.type;
    op.is_eager |= entry.is_eager;
    ++op.occurrences;
    op.time_ps += time_ps;
    const uint64_t self_ps = time_ps - std::min(time_ps, children_ps);
    op.self_time_ps += self_ps;
    db->total_op_time_ps += self_ps;
  }

  void Infeed(int64_t start_ps, int64_t end_ps, OpMetricsDb* db) {
    if (last_infeed_end_ps_ > last_infeed_start_ps_) {
      db->host_infeed_enqueue_duration_ps +=
          static_cast<uint64_t>(last_infeed_end_ps_ - last_infeed_start_ps_);
      db->host_infeed_enqueue_start_difference_ps +=
          static_cast<uint64_t>(start_ps - last_infeed_start_ps_);
    }
    last_infeed_start_ps_ = start_ps;
    last_infeed_end_ps_ = end_ps;
  }

  std::vector<Entry> ops_;
  std::vector<Activity> activities_;
  std::vector<Open> stack_;
  int64_t last_infeed_start_ps_ = 0;
  int64_t last_infeed_end_ps_ = 0;
};

class HostOpReader {
 public:
  HostOpReader(const PreparedHost& host, size_t plane)
      : host_(host),
        plane_(plane),
        scanner_(host.file(), plane, {"_ipl_stage_id", "_ipl_stage_cat", "tf_op", "is_eager"}) {
    const auto& entries = host.file().planes()[plane].event_metadata;
    by_entry_.resize(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].name.empty()) continue;
      const FrameworkOp op = ParseFrameworkOp(entries[i].name);
      if (op.category == FrameworkCategory::kUnknown) continue;
      by_entry_[i] = HostOp{op.name, op.type, 0};
      any_named_ = true;
    }
    if (scanner_.Knows(kStageId)) FindStages();
  }

  OpMetricsDb Line(size_t line) const {
    ThreadOps ops;
    const xplane::LineColumns& columns = host_.file().Line(plane_, line);
    const bool scan =
        scanner_.MayOccur(kStageId, columns) || scanner_.MayOccur(kFrameworkOp, columns);
    if (!scan && !any_named_) return ops.Finish();
    const std::vector<uint32_t> eager = EagerEvents(line);
    const LineBytes bytes(host_.file(), plane_, line);
    ForEachInOrder(columns, [&](uint32_t event) {
      if (!scan && !by_entry_[columns.name[event]]) return;
      AddEvent(bytes, columns, event, std::ranges::binary_search(eager, event), &ops);
    });
    return ops.Finish();
  }

 private:
  // Stages are known by their id; the first event of an id tells its name.
  void FindStages() {
    const auto& lines = host_.file().planes()[plane_].lines;
    for (size_t l = 0; l < lines.size(); ++l) {
      const xplane::LineColumns& columns = host_.file().Line(plane_, l);
      if (!scanner_.MayOccur(kStageId, columns)) continue;
      const LineBytes bytes(host_.file(), plane_, l);
      ForEachInOrder(columns, [&](uint32_t event) {
        std::optional<int64_t> id;
        std::string_view category;
        bool has_category = false;
        scanner_.Scan(bytes.Record(event), [&](size_t wanted, const xplane::Stat& stat) {
          if (wanted == kStageId) id = stat.IntOrUint();
          if (wanted == kStageCategory) {
            category = stat.text;
            has_category = true;
          }
        });
        if (!id || !has_category) return;
        const std::string_view name =
            host_.file().planes()[plane_].event_metadata[columns.name[event]].name;
        if (!name.empty()) stages_.try_emplace(*id, HostOp{name, category, *id});
      });
    }
  }

  std::vector<uint32_t> EagerEvents(size_t line) const {
    std::vector<uint32_t> events;
    const std::vector<int8_t>& marks = host_.planes()[plane_].lines[line].is_eager;
    for (uint32_t event = 0; event < marks.size(); ++event) {
      if (marks[event] > 0) events.push_back(event);
    }
    return events;
  }

  void AddEvent(const LineBytes& bytes, const xplane::LineColumns& columns, uint32_t event,
                bool is_eager, ThreadOps* ops) const {
    std::optional<int64_t> stage;
    std::string_view framework_op;
    scanner_.Scan(bytes.Record(event), [&](size_t wanted, const xplane::Stat& stat) {
      if (wanted == kStageId) stage = stat.IntOrUint();
      if (wanted == kFrameworkOp) framework_op = stat.text;
      if (wanted == kEager) is_eager |= stat.IntOrUint() != 0;
    });
    const int64_t start_ps = columns.start_ps[event];
    const int64_t duration_ps = columns.duration_ps[event];
    if (stage) {
      const auto found = stages_.find(*stage);
      if (found != stages_.end()) ops->Add(found->second, is_eager, start_ps, duration_ps);
    } else if (const std::optional<HostOp>& op = by_entry_[columns.name[event]]) {
      ops->Add(*op, is_eager, start_ps, duration_ps);
    }
    if (framework_op.empty()) return;
    const FrameworkOp op = ParseFrameworkOp(framework_op);
    ops->Add({op.name, op.type, 0}, false, start_ps, duration_ps);
  }

  const PreparedHost& host_;
  const size_t plane_;
  const StatScanner scanner_;
  std::vector<std::optional<HostOp>> by_entry_;
  bool any_named_ = false;
  std::unordered_map<int64_t, HostOp> stages_;
};

}  // namespace

Result<OpMetricsDb> HostOpMetrics(const PreparedHost& host, size_t plane,
                                  const CancelToken& cancel) {
  const HostOpReader reader(host, plane);
  OpMetricsDb db;
  OpMetricsCombiner combiner(&db);
  const auto& lines = host.file().planes()[plane].lines;
  std::vector<OpMetricsDb> of_lines(lines.size());
  STROBE_RETURN_IF_ERROR(ForEachPiece(host.parallel(), lines.size(), [&](size_t l) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    of_lines[l] = IsDerivedLineId(lines[l].id) ? ThreadOps().Finish() : reader.Line(l);
    return OkStatus();
  }));
  for (const OpMetricsDb& of_line : of_lines) combiner.Add(of_line, false);
  return db;
}

TfFunctionTotals TfFunctionsOf(const PreparedHost& host, size_t plane) {
  struct Times {
    uint64_t all_ps = 0;
    uint64_t expensive_ps = 0;
  };
  struct Open {
    int64_t end_ps;
    Times* times;
    bool is_expensive;
  };
  TfFunctionTotals totals;
  const StatScanner scanner(host.file(), plane, {"tf_function_call"});
  if (!scanner.KnowsAny()) return totals;
  std::map<std::string_view, Times> functions;
  const xplane::Plane& described = host.file().planes()[plane];
  for (size_t l = 0; l < described.lines.size(); ++l) {
    const xplane::LineColumns& columns = host.file().Line(plane, l);
    if (!scanner.AnyMayOccur(columns)) continue;
    const LineBytes bytes(host.file(), plane, l);
    std::vector<Open> stack;
    ForEachInOrder(columns, [&](uint32_t event) {
      std::string_view mode;
      scanner.Scan(bytes.Record(event),
                   [&](size_t, const xplane::Stat& stat) { mode = stat.text; });
      if (mode.empty()) return;
      const int64_t start_ps = columns.start_ps[event];
      const auto duration_ps = static_cast<uint64_t>(columns.duration_ps[event]);
      while (!stack.empty() && stack.back().end_ps <= start_ps) stack.pop_back();
      // Self time: a call inside takes its time from the one around it.
      if (!stack.empty()) {
        Open& around = stack.back();
        around.times->all_ps -= std::min(around.times->all_ps, duration_ps);
        if (around.is_expensive) {
          around.times->expensive_ps -= std::min(around.times->expensive_ps, duration_ps);
        }
      }
      Times& times = functions[described.event_metadata[columns.name[event]].name];
      const bool is_expensive = mode == "eager" || mode.starts_with("traced-");
      times.all_ps += duration_ps;
      if (is_expensive) times.expensive_ps += duration_ps;
      stack.push_back({start_ps + columns.duration_ps[event], &times, is_expensive});
    });
  }
  for (const auto& [name, times] : functions) {
    const double percent = SafeDivide(100.0 * static_cast<double>(times.expensive_ps),
                                      static_cast<double>(times.all_ps));
    if (percent <= totals.expensive_call_percent) continue;
    totals.expensive_call_percent = percent;
    totals.worst_function = name;
  }
  return totals;
}

}  // namespace strobe::analysis
