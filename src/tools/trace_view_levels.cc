#include "src/tools/trace_view_levels.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "src/analysis/event_links.h"
#include "src/analysis/event_order.h"

namespace strobe::tools {

using EventId = TraceHost::EventId;

namespace {

constexpr size_t kLevels = kLevelResolutionsPs.size();
constexpr size_t kEventsPerCheck = 1 << 16;

void SetBit(uint16_t* bits, uint16_t bit, bool value) {
  *bits = static_cast<uint16_t>(value ? *bits | bit : *bits & ~bit);
}

VisibleEvent VisibleOf(const TraceHost& host, EventId id) {
  const TraceHost::Line& line = host.lines()[id.line];
  VisibleEvent event;
  event.start_ps = line.StartOf(id.event);
  event.end_ps = event.start_ps + line.DurationOf(id.event);
  if (const uint64_t flow = host.FlowOf(line, id.event)) {
    event.flow_id = analysis::FlowIdOf(flow);
    event.flow = static_cast<TraceView::FlowDirection>(analysis::FlowDirectionOf(flow));
  }
  return event;
}

}  // namespace

size_t FlowTable::PlaceOf(uint64_t id) const {
  const size_t mask = slots_.size() - 1;
  // Fibonacci hashing: ids count up, or are addresses.
  size_t place = (id * 0x9e3779b97f4a7c15ULL) >> 32 & mask;
  while (slots_[place].used && slots_[place].id != id) place = (place + 1) & mask;
  return place;
}

void FlowTable::Resize(size_t expected_flows) {
  constexpr size_t kFewest = 16;
  std::vector<Slot> old(std::bit_ceil(std::max(kFewest, 2 * expected_flows)));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.used) slots_[PlaceOf(slot.id)] = slot;
  }
}

FlowBits& FlowTable::At(uint64_t id) {
  size_t place = PlaceOf(id);
  if (!slots_[place].used) {
    if (2 * (count_ + 1) > slots_.size()) {
      Resize(slots_.size());
      place = PlaceOf(id);
    }
    ++count_;
    slots_[place].id = id;
    slots_[place].used = true;
  }
  return slots_[place].bits;
}

const FlowBits* FlowTable::Find(uint64_t id) const {
  const Slot& slot = slots_[PlaceOf(id)];
  return slot.used ? &slot.bits : nullptr;
}

size_t VisibleRow::DepthAt(int64_t start_ps) const {
  size_t depth = 0;
  while (depth < ends_ps_.size() && ends_ps_[depth] > start_ps) ++depth;
  return depth;
}

void VisibleRow::Draw(size_t depth, int64_t end_ps) {
  ends_ps_.resize(depth);
  ends_ps_.push_back(end_ps);
}

bool VisibleRow::Show(const VisibleEvent& event, int64_t resolution_ps, FlowBits* flow,
                      size_t level) {
  bool shows = event.end_ps - event.start_ps >= resolution_ps;
  const size_t depth = DepthAt(event.start_ps);
  if (!shows) {
    shows = depth >= ends_ps_.size() || event.start_ps - ends_ps_[depth] >= resolution_ps;
  }
  if (event.flow != TraceView::FlowDirection::kNone) {
    const auto bit = static_cast<uint16_t>(1u << level);
    const bool is_first = (flow->open & bit) == 0;
    if (is_first) {
      flow->open |= bit;
      SetBit(&flow->open_shown, bit, shows);
    }
    if (!shows) {
      // An arrow binds to the end of its event.
      if (is_first) {
        SetBit(&flow->open_shown, bit, !has_flow_ || event.end_ps - last_flow_ps_ >= resolution_ps);
      }
      shows = (flow->open_shown & bit) != 0;
    }
    if (event.flow == TraceView::FlowDirection::kIn) SetBit(&flow->open, bit, false);
    if (shows) {
      has_flow_ = true;
      last_flow_ps_ = event.end_ps;
    }
  }
  if (shows) Draw(depth, event.end_ps);
  return shows;
}

void VisibleRow::Mark(const VisibleEvent& event, FlowBits* flow, size_t level) {
  if (event.flow != TraceView::FlowDirection::kNone && flow != nullptr) {
    const auto bit = static_cast<uint16_t>(1u << level);
    if (event.flow == TraceView::FlowDirection::kIn) {
      SetBit(&flow->open, bit, false);
    } else if ((flow->open & bit) == 0) {
      flow->open |= bit;
      flow->open_shown |= bit;
    }
    has_flow_ = true;
    last_flow_ps_ = event.end_ps;
  }
  Draw(DepthAt(event.start_ps), event.end_ps);
}

Result<std::vector<TraceTrack>> TracksOf(const TraceHost& host, const CancelToken& cancel) {
  // Named tracks come before threads.
  using Key = std::tuple<uint32_t, bool, uint32_t, std::string_view>;
  std::map<Key, TraceTrack> tracks;
  for (uint32_t l = 0; l < host.lines().size(); ++l) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    const TraceHost::Line& line = host.lines()[l];
    TraceTrack* thread = nullptr;
    for (uint32_t event = 0; event < line.count(); ++event) {
      if (host.IsHidden(line, event)) continue;
      const bool is_thread = host.KindOf(line, event) == TraceView::EventKind::kComplete;
      TraceTrack* track = thread;
      if (!is_thread || thread == nullptr) {
        const std::string_view name =
            is_thread ? std::string_view() : host.TrackNameOf(line, event);
        const uint32_t number = is_thread ? line.thread : 0;
        track = &tracks[Key{line.process, is_thread, number, name}];
        track->process = line.process;
        track->is_thread = is_thread;
        track->thread = number;
        track->name = name;
        if (is_thread) thread = track;
      }
      track->events.push_back({l, event});
    }
  }
  std::vector<TraceTrack> out;
  for (auto& [key, track] : tracks) out.push_back(std::move(track));
  STROBE_RETURN_IF_ERROR(ForEachPiece(host.prepared().parallel(), out.size(), [&](size_t t) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    analysis::SortRuns(&out[t].events, [&](EventId a, EventId b) { return host.Before(a, b); });
    return OkStatus();
  }));
  return out;
}

namespace {

// What hosts' flows look like at each level.
class FlowLevels {
 public:
  explicit FlowLevels(size_t levels) : levels_(levels) {}

  // `events`: all that have flows, in time order.
  void Read(const TraceHost& host, const std::vector<std::pair<EventId, uint32_t>>& events,
            const std::vector<TraceTrack>& tracks) {
    struct Level {
      std::vector<VisibleRow> rows;  // by track
      std::vector<VisibleCounter> counters;
    };
    std::vector<Level> levels(levels_);
    for (Level& level : levels) {
      level.rows.resize(tracks.size());
      level.counters.resize(tracks.size());
    }
    table_ = FlowTable(events.size());
    for (const auto& [id, track] : events) {
      const VisibleEvent event = VisibleOf(host, id);
      FlowBits& flow = table_.At(event.flow_id);
      const bool is_thread = tracks[track].is_thread;
      size_t level = 0;
      for (; level + 1 < levels_; ++level) {
        const bool shows =
            is_thread
                ? levels[level].rows[track].Show(event, kLevelResolutionsPs[level], &flow, level)
                : levels[level].counters[track].Show(event.start_ps, kLevelResolutionsPs[level]);
        Judge(level, shows, &flow);
        if (shows) break;
      }
      for (++level; level + 1 < levels_; ++level) {
        if (is_thread) {
          levels[level].rows[track].Mark(event, &flow, level);
        } else {
          levels[level].counters[track].Mark(event.start_ps);
        }
        Judge(level, true, &flow);
      }
    }
  }

  bool Shows(size_t level, uint64_t flow_id) const {
    const FlowBits* const flow = table_.Find(flow_id);
    return flow != nullptr && (flow->shown >> level & 1) != 0;
  }

 private:
  // The first event of a flow decides.
  static void Judge(size_t level, bool shows, FlowBits* flow) {
    const auto bit = static_cast<uint16_t>(1u << level);
    if ((flow->seen & bit) != 0) return;
    flow->seen |= bit;
    SetBit(&flow->shown, bit, shows);
  }

  const size_t levels_;
  FlowTable table_;
};

class LevelMaker {
 public:
  // Works out the first `levels` levels; what shows at none of them but the last has that one.
  LevelMaker(const TraceHost& host, size_t levels, std::vector<std::vector<uint8_t>>* by_line)
      : host_(host), levels_(levels), by_line_(*by_line), flow_levels_(levels) {}

  Status Run(const CancelToken& cancel) {
    STROBE_ASSIGN_OR_RETURN(const std::vector<TraceTrack> tracks, TracksOf(host_, cancel));
    std::vector<std::pair<EventId, uint32_t>> flows;
    for (uint32_t t = 0; t < tracks.size(); ++t) {
      for (const EventId id : tracks[t].events) {
        const TraceHost::Line& line = host_.lines()[id.line];
        if (!line.prepared->flows.empty() && host_.FlowOf(line, id.event) != 0) {
          flows.emplace_back(id, t);
        }
      }
    }
    // Tracks one after the other, each in order.
    analysis::SortRuns(
        &flows, [&](const auto& a, const auto& b) { return host_.Before(a.first, b.first); });
    STROBE_RETURN_IF_ERROR(cancel.Check());
    flow_levels_.Read(host_, flows, tracks);
    return ForEachPiece(host_.prepared().parallel(), tracks.size(),
                        [&](size_t t) { return RunTrack(tracks[t], cancel); });
  }

 private:
  Status RunTrack(const TraceTrack& track, const CancelToken& cancel) {
    std::array<VisibleRow, kLevels> rows;
    std::array<VisibleCounter, kLevels> counters;
    for (size_t i = 0; i < track.events.size(); ++i) {
      if (i % kEventsPerCheck == 0) STROBE_RETURN_IF_ERROR(cancel.Check());
      const EventId id = track.events[i];
      const VisibleEvent event = VisibleOf(host_, id);
      size_t level = 0;
      if (event.flow != TraceView::FlowDirection::kNone) {
        while (level + 1 < levels_ && !flow_levels_.Shows(level, event.flow_id) &&
               event.end_ps - event.start_ps < kLevelResolutionsPs[level]) {
          ++level;
        }
        if (level + 1 < levels_) Mark(track, event, level, &rows, &counters);
      } else {
        for (; level + 1 < levels_; ++level) {
          const bool shows =
              track.is_thread ? rows[level].Show(event, kLevelResolutionsPs[level], nullptr, level)
                              : counters[level].Show(event.start_ps, kLevelResolutionsPs[level]);
          if (shows) break;
        }
      }
      by_line_[id.line][id.event] = static_cast<uint8_t>(level);
      for (++level; level + 1 < levels_; ++level) {
        Mark(track, event, level, &rows, &counters);
      }
    }
    return OkStatus();
  }

  // Flows are judged already: rows need not know of them.
  static void Mark(const TraceTrack& track, const VisibleEvent& event, size_t level,
                   std::array<VisibleRow, kLevels>* rows,
                   std::array<VisibleCounter, kLevels>* counters) {
    if (track.is_thread) {
      (*rows)[level].Mark(event, nullptr, level);
    } else {
      (*counters)[level].Mark(event.start_ps);
    }
  }

  const TraceHost& host_;
  const size_t levels_;
  std::vector<std::vector<uint8_t>>& by_line_;  // rows of one line may be written side by side
  FlowLevels flow_levels_;
};

}  // namespace

Result<std::shared_ptr<const TraceLevels>> TraceLevels::Of(const TraceHost& host, size_t last_level,
                                                           const CancelToken& cancel) {
  constexpr std::string_view kAll = "trace_levels";
  constexpr std::string_view kCoarse = "trace_levels_coarse";
  // A first look at a trace of seconds needs no more.
  constexpr size_t kCoarseLevels = 6;
  const bool coarse = last_level + 1 < kCoarseLevels;
  for (const std::string_view key : {kAll, kCoarse}) {
    if (key == kCoarse && !coarse) continue;
    if (std::shared_ptr<const void> known = host.prepared().FindAttached(key)) {
      return std::static_pointer_cast<const TraceLevels>(known);
    }
  }
  auto made = std::make_shared<TraceLevels>();
  uint64_t bytes = sizeof(TraceLevels);
  for (const TraceHost::Line& line : host.lines()) {
    made->levels_.emplace_back(line.count());
    bytes += line.count() + sizeof(std::vector<uint8_t>);
  }
  STROBE_RETURN_IF_ERROR(
      LevelMaker(host, coarse ? kCoarseLevels : kLevels, &made->levels_).Run(cancel));
  return std::static_pointer_cast<const TraceLevels>(
      host.prepared().Attach(coarse ? kCoarse : kAll, std::move(made), bytes));
}

}  // namespace strobe::tools
