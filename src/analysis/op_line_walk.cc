#include "src/analysis/op_line_walk.h"

#include <algorithm>
#include <limits>

namespace strobe::analysis {
namespace {

enum Wanted : size_t {
  kDeviceOffset,
  kDeviceDuration,
  kScale,
  kDmaStall,
  kMinDuration,
  kEnergy,
  kOffloadCore,
  kOffloadStart,
  kGroupId,
};

std::vector<std::string_view> WantedNames(bool with_groups) {
  std::vector<std::string_view> names = {
      "device_offset_ps", "device_duration_ps", "Time Scale Multiplier", "dma_stall_duration_ps",
      "min_duration_ps",  "vdd_energy_j",       "offload_core_id",       "tc_offload_start_id"};
  if (with_groups) names.emplace_back("group_id");
  return names;
}

}  // namespace

OpLineWalk::OpLineWalk(const PreparedHost& host, size_t plane, size_t line,
                       const CancelToken& cancel)
    : host_(host),
      plane_(plane),
      line_(line),
      cancel_(cancel),
      columns_(host.file().Line(plane, line)),
      prepared_(host.planes()[plane].lines[line]),
      bytes_(host.file(), plane, line),
      scanner_(host.file(), plane, WantedNames(prepared_.groups.empty())),
      scans_(scanner_.AnyMayOccur(columns_)),
      shift_ps_(WrittenShiftPs(host.file().planes()[plane].lines[line].timestamp_ns,
                               host.file().planes()[plane].lines[line].base_ps)),
      read_groups_(prepared_.groups.empty()) {}

OpEventStats OpLineWalk::StatsOf(uint32_t event) const {
  OpEventStats stats;
  if (!read_groups_) stats.group = prepared_.groups[event];
  if (!scans_) return stats;
  scanner_.Scan(bytes_.Record(event), [&](size_t wanted, const xplane::Stat& stat) {
    switch (wanted) {
      case kDeviceOffset:
        stats.device_offset_ps = stat.IntOrUint();
        stats.has_device_offset = true;
        break;
      case kDeviceDuration:
        stats.device_duration_ps = stat.IntOrUint();
        stats.has_device_duration = true;
        break;
      case kScale:
        stats.scale = stat.number;
        stats.has_scale = true;
        break;
      case kDmaStall:
        stats.dma_stall_ps = stat.IntOrUint();
        break;
      case kMinDuration:
        stats.min_ps = stat.IntOrUint();
        stats.has_min = true;
        break;
      case kEnergy:
        stats.vdd_energy_j += stat.number;
        break;
      case kOffloadCore:
        stats.offload_core = stat.IntOrUint();
        stats.has_offload_core = true;
        break;
      case kOffloadStart:
        stats.offload_start = stat.IntOrUint();
        stats.has_offload_start = true;
        break;
      case kGroupId:
        stats.group = stat.IntOrUint();
        break;
      default:
        break;
    }
  });
  return stats;
}

Span OpLineWalk::SpanOf(uint32_t event, const OpEventStats& stats) const {
  if (stats.has_device_offset && stats.has_device_duration) {
    return {stats.device_offset_ps, std::max<int64_t>(0, stats.device_duration_ps)};
  }
  return {columns_.start_ps[event] + shift_ps_, columns_.duration_ps[event]};
}

void OpLineWalk::AddBasics(const Open& open, OpSums* sums) const {
  const auto time_ps = static_cast<uint64_t>(open.span.duration_ps);
  ++sums->occurrences;
  sums->time_ps += time_ps;
  // Children that overlap each other may add up to more than their parent.
  sums->self_ps += time_ps - std::min(time_ps, open.children_ps);
}

void OpLineWalk::Close(const Open& open, OpAccumulator* sums) const {
  OpSums& op = sums->At(columns_.name[open.event], open.group);
  AddBasics(open, &op);
  op.unscaled_ps += static_cast<uint64_t>(open.span.duration_ps);
  // The shortest is told as the line has it, whatever the device says.
  op.min_ps = std::min(op.min_ps, static_cast<uint64_t>(columns_.duration_ps[open.event]));
}

void OpLineWalk::CloseScanned(const Open& open, const OpEventStats& stats,
                              const OnOffload& on_offload, OpAccumulator* sums) const {
  const uint32_t metadata = columns_.name[open.event];
  OpSums& op = sums->At(metadata, open.group);
  AddBasics(open, &op);
  if (columns_.aggregated > 0) {
    const uint64_t count = host_.file().EventOccurrences(plane_, line_, open.event);
    if (count > 1) op.occurrences += count - 1;
  }
  const auto time_ps = static_cast<uint64_t>(open.span.duration_ps);
  if (stats.has_scale) {
    op.normalized_ps += static_cast<uint64_t>(static_cast<double>(time_ps) * stats.scale);
  } else {
    op.unscaled_ps += time_ps;
  }
  const int64_t min_ps = stats.has_min ? stats.min_ps : columns_.duration_ps[open.event];
  op.min_ps = std::min(op.min_ps, static_cast<uint64_t>(std::max<int64_t>(0, min_ps)));
  op.dma_stall_ps += static_cast<uint64_t>(std::max<int64_t>(0, stats.dma_stall_ps));
  op.vdd_energy_j += stats.vdd_energy_j;
  if (on_offload && stats.has_offload_core && stats.has_offload_start) {
    on_offload(metadata, stats.offload_core, stats.offload_start);
  }
}

Status OpLineWalk::Run(Events events, OpAccumulator* sums, const OnOffload& on_offload) {
  STROBE_RETURN_IF_ERROR(cancel_.Check());
  if (columns_.aggregated > 0) return RunScanned(events, sums, on_offload);
  std::shared_ptr<const OpLineFacts> facts;
  if (scans_) {
    STROBE_ASSIGN_OR_RETURN(facts, host_.op_lines().Of(plane_, line_, cancel_));
    if (facts->any_others() || (read_groups_ && facts->any_groups())) {
      return RunScanned(events, sums, on_offload);
    }
  }
  const bool own_times = facts != nullptr && facts->any_own_times();
  // One row holds no event within another, so nothing has children. A table larger than the line
  // costs more to lay out than the line to walk.
  if (ignores_groups_ && !own_times && columns_.rows.size() == 1 && !columns_.crowded &&
      sums->whole().size() <= columns_.event_count() && RunFlat(sums)) {
    return OkStatus();
  }
  if (ignores_groups_) {
    RunWhole(own_times ? facts.get() : nullptr, sums);
    return OkStatus();
  }
  RunPlain(events, own_times ? facts.get() : nullptr, sums);
  return OkStatus();
}

void OpLineWalk::RunPlain(Events events, const OpLineFacts* facts, OpAccumulator* sums) {
  const int32_t* groups = prepared_.groups.empty() ? nullptr : prepared_.groups.data();
  stack_.clear();
  ForEachInOrder(columns_, [&](uint32_t event) {
    const int64_t group = groups == nullptr ? kNoGroup : groups[event];
    NoteGroup(group);
    const Span span = facts != nullptr && facts->HasOwnTime(event)
                          ? facts->OwnSpan(event)
                          : Span{columns_.start_ps[event] + shift_ps_, columns_.duration_ps[event]};
    Track(span);
    if (events == kGroupedOnly && group == kNoGroup) return;
    while (!stack_.empty() && !stack_.back().span.Includes(span)) {
      Close(stack_.back(), sums);
      stack_.pop_back();
    }
    if (!stack_.empty()) stack_.back().children_ps += static_cast<uint64_t>(span.duration_ps);
    stack_.push_back({span, 0, group, event});
  });
  for (; !stack_.empty(); stack_.pop_back()) Close(stack_.back(), sums);
}

bool OpLineWalk::RunFlat(OpAccumulator* sums) {
  // A third of OpSums: the tables of all ops together stay close to the processor.
  struct Brief {
    uint64_t occurrences = 0;
    uint64_t time_ps = 0;
    uint64_t min_ps = std::numeric_limits<uint64_t>::max();
  };
  std::vector<Brief> briefs(sums->whole().size());
  std::vector<uint32_t> order;
  const uint64_t count = columns_.event_count();
  const uint32_t* const name = columns_.name.data();
  const int64_t* const start_ps = columns_.start_ps.data();
  const int64_t* const duration_ps = columns_.duration_ps.data();
  for (uint64_t event = 0; event < count; ++event) {
    Brief& brief = briefs[name[event]];
    if (brief.occurrences++ == 0) [[unlikely]] {
      // What takes no time at the very end of another lies within it, and is closed before it.
      if (duration_ps[event] == 0 && event > 0 &&
          start_ps[event] == start_ps[event - 1] + duration_ps[event - 1]) {
        return false;
      }
      order.push_back(name[event]);
    }
    const auto time_ps = static_cast<uint64_t>(duration_ps[event]);
    brief.time_ps += time_ps;
    brief.min_ps = std::min(brief.min_ps, time_ps);
  }
  for (const uint32_t metadata : order) {
    const Brief& brief = briefs[metadata];
    sums->Whole(metadata).Add({.occurrences = brief.occurrences,
                               .time_ps = brief.time_ps,
                               .self_ps = brief.time_ps,
                               .unscaled_ps = brief.time_ps,
                               .min_ps = brief.min_ps});
  }
  if (count > 0) {
    first_ps_ = std::min(first_ps_, start_ps[0] + shift_ps_);
    last_ps_ = std::max(last_ps_, columns_.last_end_ps + shift_ps_);
  }
  return true;
}

void OpLineWalk::RunWhole(const OpLineFacts* facts, OpAccumulator* sums) {
  struct Level {
    Span span;
    uint64_t children_ps;
    uint32_t event;
  };
  std::vector<Level> levels(16);
  size_t depth = 0;
  // Copies, because the compiler must take members for changed by every sum.
  int64_t first_ps = first_ps_;
  int64_t last_ps = last_ps_;
  const int64_t shift_ps = shift_ps_;
  const uint32_t* const name = columns_.name.data();
  const int64_t* const start_ps = columns_.start_ps.data();
  const int64_t* const duration_ps = columns_.duration_ps.data();
  const auto close = [&](const Level& level) {
    const auto time_ps = static_cast<uint64_t>(level.span.duration_ps);
    OpSums& op = sums->Whole(name[level.event]);
    ++op.occurrences;
    op.time_ps += time_ps;
    op.unscaled_ps += time_ps;
    op.self_ps += time_ps - std::min(time_ps, level.children_ps);
    op.min_ps = std::min(op.min_ps, static_cast<uint64_t>(duration_ps[level.event]));
  };
  ForEachInOrder(columns_, [&](uint32_t event) {
    const Span span = facts != nullptr && facts->HasOwnTime(event)
                          ? facts->OwnSpan(event)
                          : Span{start_ps[event] + shift_ps, duration_ps[event]};
    first_ps = std::min(first_ps, span.start_ps);
    last_ps = std::max(last_ps, span.end_ps());
    while (depth > 0 && !levels[depth - 1].span.Includes(span)) close(levels[--depth]);
    if (depth > 0) levels[depth - 1].children_ps += static_cast<uint64_t>(span.duration_ps);
    if (depth == levels.size()) levels.resize(2 * depth);
    levels[depth++] = {span, 0, event};
  });
  while (depth > 0) close(levels[--depth]);
  first_ps_ = first_ps;
  last_ps_ = last_ps;
}

Status OpLineWalk::RunScanned(Events events, OpAccumulator* sums, const OnOffload& on_offload) {
  stack_.clear();
  extras_.clear();
  const auto close = [&] {
    CloseScanned(stack_.back(), extras_.back(), on_offload, sums);
    stack_.pop_back();
    extras_.pop_back();
  };
  STROBE_RETURN_IF_ERROR(Visit([&](uint32_t event, const Span& span, const OpEventStats& stats) {
    if (events == kGroupedOnly && stats.group == kNoGroup) return;
    while (!stack_.empty() && !stack_.back().span.Includes(span)) close();
    if (!stack_.empty()) stack_.back().children_ps += static_cast<uint64_t>(span.duration_ps);
    stack_.push_back({span, 0, ignores_groups_ ? kNoGroup : stats.group, event});
    extras_.push_back(stats);
  }));
  while (!stack_.empty()) close();
  return OkStatus();
}

}  // namespace strobe::analysis
