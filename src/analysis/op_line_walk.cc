#include "src/analysis/op_line_walk.h"

#include <algorithm>

#include "src/analysis/line_order.h"

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

// Events between two looks at the token.
constexpr uint32_t kCancelEvery = 1u << 16;

}  // namespace

OpLineWalk::OpLineWalk(const PreparedHost& host, size_t plane, size_t line,
                       const CancelToken& cancel)
    : host_(host),
      plane_(plane),
      line_(line),
      cancel_(cancel),
      columns_(host.file().Line(plane, line)),
      prepared_(host.planes()[plane].lines[line]),
      scanner_(host.file(), plane, WantedNames(prepared_.groups.empty())),
      shift_ps_(WrittenShiftPs(host.file().planes()[plane].lines[line].timestamp_ns,
                               host.file().planes()[plane].lines[line].base_ps)),
      read_groups_(prepared_.groups.empty()) {}

OpEventStats OpLineWalk::StatsOf(uint32_t event) const {
  OpEventStats stats;
  if (!read_groups_) stats.group = prepared_.groups[event];
  scanner_.Scan(line_, event, [&](size_t wanted, const xplane::Stat& stat) {
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
  const auto time_ps = static_cast<uint64_t>(open.span.duration_ps);
  op.unscaled_ps += time_ps;
  op.min_ps = std::min(op.min_ps, time_ps);
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
  if (scanner_.KnowsAny() || columns_.aggregated > 0) return RunScanned(events, sums, on_offload);
  STROBE_RETURN_IF_ERROR(cancel_.Check());
  RunPlain(events, sums);
  return OkStatus();
}

void OpLineWalk::RunPlain(Events events, OpAccumulator* sums) {
  const int32_t* groups = prepared_.groups.empty() ? nullptr : prepared_.groups.data();
  stack_.clear();
  ForEachInOrder(columns_, [&](uint32_t event) {
    const int64_t group = groups == nullptr ? kNoGroup : groups[event];
    NoteGroup(group);
    const Span span = {columns_.start_ps[event] + shift_ps_, columns_.duration_ps[event]};
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
    stack_.push_back({span, 0, stats.group, event});
    extras_.push_back(stats);
  }));
  while (!stack_.empty()) close();
  return OkStatus();
}

Status OpLineWalk::Visit(
    const std::function<void(uint32_t, const Span&, const OpEventStats&)>& visit) {
  uint32_t seen = 0;
  bool cancelled = false;
  ForEachInOrder(columns_, [&](uint32_t event) {
    if (++seen % kCancelEvery == 0 && !cancel_.Check().ok()) cancelled = true;
    if (cancelled) return;
    const OpEventStats stats = StatsOf(event);
    NoteGroup(stats.group);
    const Span span = SpanOf(event, stats);
    Track(span);
    visit(event, span, stats);
  });
  return cancelled ? cancel_.Check() : OkStatus();
}

}  // namespace strobe::analysis
