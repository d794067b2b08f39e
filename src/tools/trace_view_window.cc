#include "src/tools/trace_view_window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "src/analysis/event_links.h"
#include "src/analysis/event_order.h"
#include "src/tools/trace_view_levels.h"

namespace strobe::tools {

using EventId = TraceHost::EventId;
using Line = TraceHost::Line;

namespace {

constexpr double kPicosecondsPerMillisecond = 1e9;
constexpr size_t kEventsPerCheck = 1 << 16;

// As XProf converts: the fraction is cut, what is below 0 becomes later than everything.
int64_t PicosecondsOf(double milliseconds) {
  const double value = milliseconds * kPicosecondsPerMillisecond;
  if (!(value > -1)) return std::numeric_limits<int64_t>::max();
  if (value >= 9.2e18) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value);
}

struct Bounds {
  int64_t begin_ps = 0;
  int64_t end_ps = 0;
  int64_t resolution_ps = 0;
  bool instant() const { return begin_ps == end_ps; }
};

Bounds BoundsOf(const TraceHost& host, const TraceWindow& window) {
  Bounds bounds;
  bounds.begin_ps = PicosecondsOf(window.start_ms);
  bounds.end_ps = std::max(PicosecondsOf(window.end_ms), bounds.begin_ps);
  bounds.begin_ps = std::max(bounds.begin_ps, host.first_ps());
  if (bounds.end_ps == 0 || bounds.end_ps > host.last_ps()) bounds.end_ps = host.last_ps();
  bounds.end_ps = std::max(bounds.end_ps, bounds.begin_ps);
  if (window.resolution != 0 && host.event_count() >= kThinnedFrom) {
    bounds.resolution_ps = std::llround(static_cast<double>(bounds.end_ps - bounds.begin_ps) /
                                        static_cast<double>(window.resolution));
  }
  return bounds;
}

// The finest level whose events can be told apart in the window.
size_t LastLevelOf(const Bounds& bounds) {
  size_t level = 0;
  while (level < kLevelResolutionsPs.size() && bounds.resolution_ps < kLevelResolutionsPs[level]) {
    ++level;
  }
  return level;
}

// Sorts events into their tracks.
class Tracks {
 public:
  explicit Tracks(const TraceHost& host) : host_(host) {}

  uint32_t Of(EventId id) {
    const Line& line = host_.lines()[id.line];
    const bool is_thread = host_.KindOf(line, id.event) == TraceView::EventKind::kComplete;
    if (is_thread && id.line < by_line_.size() && by_line_[id.line] != kUnknown) {
      return by_line_[id.line];
    }
    const std::string_view name =
        is_thread ? std::string_view() : host_.TrackNameOf(line, id.event);
    const Key key{line.process, is_thread, is_thread ? line.thread : 0, name};
    const auto [place, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(events_.size()));
    if (is_new) {
      events_.emplace_back();
      is_thread_.push_back(is_thread);
    }
    if (is_thread) {
      if (by_line_.size() <= id.line) by_line_.resize(id.line + 1, kUnknown);
      by_line_[id.line] = place->second;
    }
    return place->second;
  }
  void Add(EventId id) { events_[Of(id)].push_back(id); }
  bool is_thread(uint32_t track) const { return is_thread_[track]; }
  std::vector<EventId>& events(uint32_t track) { return events_[track]; }
  size_t size() const { return events_.size(); }
  void SortEach() {
    for (std::vector<EventId>& events : events_) {
      analysis::SortRuns(&events, [&](EventId a, EventId b) { return host_.Before(a, b); });
    }
  }
  // In drawing order.
  std::vector<EventId> Take() {
    std::vector<EventId> all;
    for (const auto& [key, number] : numbers_) {
      all.insert(all.end(), events_[number].begin(), events_[number].end());
    }
    return all;
  }

 private:
  using Key = std::tuple<uint32_t, bool, uint32_t, std::string_view>;
  static constexpr uint32_t kUnknown = 0xffffffff;
  const TraceHost& host_;
  std::map<Key, uint32_t> numbers_;
  std::vector<std::vector<EventId>> events_;
  std::vector<uint8_t> is_thread_;
  std::vector<uint32_t> by_line_;
};

class WindowReader {
 public:
  WindowReader(const TraceHost& host, const Bounds& bounds, bool full_dma,
               const TraceLevels* levels)
      : host_(host),
        bounds_(bounds),
        full_dma_(full_dma),
        levels_(levels),
        last_level_(LastLevelOf(bounds)),
        tracks_(host) {}

  Result<std::vector<EventId>> Run(const CancelToken& cancel) {
    for (uint32_t l = 0; l < host_.lines().size(); ++l) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      STROBE_RETURN_IF_ERROR(ReadLine(l, cancel));
    }
    if (bounds_.resolution_ps == 0 || bounds_.instant()) {
      tracks_.SortEach();
      return tracks_.Take();
    }
    STROBE_RETURN_IF_ERROR(cancel.Check());
    return has_flows_ ? ThinTogether() : ThinApart();
  }

 private:
  Status ReadLine(uint32_t l, const CancelToken& cancel) {
    const Line& line = host_.lines()[l];
    const bool all = bounds_.instant() || (line.is_tpu && full_dma_);
    if (line.columns != nullptr) {
      const size_t timed = line.columns->timed_rows().size();
      for (size_t r = 0; r < line.columns->rows.size(); ++r) {
        const xplane::LineColumns::Row& row = line.columns->rows[r];
        uint32_t event = row.first;
        const uint32_t end = row.first + row.count;
        const bool ordered = r < timed;
        if (ordered && !all) event = FirstEndingIn(line, row);
        for (; event < end; ++event) {
          if (ordered && line.columns->start_ps[event] > bounds_.end_ps) break;
          if (++seen_ % kEventsPerCheck == 0) STROBE_RETURN_IF_ERROR(cancel.Check());
          Consider({l, event}, line);
        }
      }
    }
    for (uint32_t event = line.file_count; event < line.count(); ++event) {
      // Derived events are in order of time.
      if (event >= line.derived_from() && line.StartOf(event) > bounds_.end_ps) break;
      if (++seen_ % kEventsPerCheck == 0) STROBE_RETURN_IF_ERROR(cancel.Check());
      Consider({l, event}, line);
    }
    return OkStatus();
  }

  // Events of a row do not overlap, so their ends are in order too.
  uint32_t FirstEndingIn(const Line& line, const xplane::LineColumns::Row& row) const {
    uint32_t low = row.first;
    uint32_t high = row.first + row.count;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (line.columns->start_ps[middle] + line.columns->duration_ps[middle] < bounds_.begin_ps) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  void Consider(EventId id, const Line& line) {
    const int64_t start_ps = line.StartOf(id.event);
    if (start_ps > bounds_.end_ps || host_.IsHidden(line, id.event)) return;
    if (levels_ != nullptr) {
      const uint8_t level = levels_->LevelOf(id.line, id.event);
      if (level > last_level_) return;
      // Coarser levels hold longer events, which may have begun earlier.
      const int64_t reach_ps = level == 0 ? bounds_.begin_ps : kLevelResolutionsPs[level - 1];
      if (start_ps < bounds_.begin_ps - reach_ps) return;
    }
    const uint64_t flow = host_.FlowOf(line, id.event);
    const bool middle = line.is_tpu && analysis::FlowDirectionOf(flow) == 3;
    if (middle && !full_dma_) return;
    const int64_t end_ps = start_ps + line.DurationOf(id.event);
    if (!middle && !bounds_.instant() && end_ps < bounds_.begin_ps) return;
    if (host_.SerialOf(line, id.event) > kMaxSerial) return;
    has_flows_ |= flow != 0;
    tracks_.Add(id);
  }

  bool Shows(EventId id, uint32_t track) {
    const Line& line = host_.lines()[id.line];
    const uint64_t flow = host_.FlowOf(line, id.event);
    if (line.is_tpu && analysis::FlowDirectionOf(flow) == 3) return true;
    const int64_t start_ps = line.StartOf(id.event);
    if (!tracks_.is_thread(track)) return counters_[track].Show(start_ps, bounds_.resolution_ps);
    VisibleEvent event;
    event.start_ps = start_ps;
    event.end_ps = start_ps + line.DurationOf(id.event);
    event.flow_id = analysis::FlowIdOf(flow);
    event.flow = static_cast<TraceView::FlowDirection>(analysis::FlowDirectionOf(flow));
    FlowBits* const bits =
        event.flow == TraceView::FlowDirection::kNone ? nullptr : &flows_.At(event.flow_id);
    return rows_[track].Show(event, bounds_.resolution_ps, bits, 0);
  }

  // Without flows no track depends on another.
  std::vector<EventId> ThinApart() {
    tracks_.SortEach();
    for (uint32_t t = 0; t < tracks_.size(); ++t) {
      std::erase_if(tracks_.events(t), [&](EventId id) { return !Shows(id, t); });
    }
    return tracks_.Take();
  }

  std::vector<EventId> ThinTogether() {
    std::vector<EventId> all;
    for (uint32_t t = 0; t < tracks_.size(); ++t) {
      std::vector<EventId>& events = tracks_.events(t);
      all.insert(all.end(), events.begin(), events.end());
      events.clear();
    }
    analysis::SortRuns(&all, [&](EventId a, EventId b) { return host_.Before(a, b); });
    for (const EventId id : all) {
      const uint32_t track = tracks_.Of(id);
      if (Shows(id, track)) tracks_.events(track).push_back(id);
    }
    return tracks_.Take();
  }

  const TraceHost& host_;
  const Bounds bounds_;
  const bool full_dma_;
  const TraceLevels* const levels_;
  const size_t last_level_;
  Tracks tracks_;
  size_t seen_ = 0;
  bool has_flows_ = false;
  std::unordered_map<uint32_t, VisibleRow> rows_;
  std::unordered_map<uint32_t, VisibleCounter> counters_;
  FlowTable flows_;
};

}  // namespace

Result<std::vector<EventId>> EventsInWindow(const TraceHost& host, const TraceWindow& window,
                                            const CancelToken& cancel) {
  if (host.event_count() == 0) return std::vector<EventId>();
  const Bounds bounds = BoundsOf(host, window);
  std::shared_ptr<const TraceLevels> levels;
  // Without thinning every level is read, so that nobody needs to know them; but levels say how
  // long before the window the middle of a transfer may lie.
  const bool middles = window.full_dma && host.is_tpu();
  if (bounds.resolution_ps > 0 || bounds.instant() || middles) {
    STROBE_ASSIGN_OR_RETURN(levels, TraceLevels::Of(host, LastLevelOf(bounds), cancel));
  }
  return WindowReader(host, bounds, window.full_dma, levels.get()).Run(cancel);
}

Result<std::vector<EventId>> EventsNamed(const TraceHost& host, std::string_view prefix,
                                         bool full_dma, const CancelToken& cancel) {
  Tracks tracks(host);
  for (uint32_t l = 0; l < host.lines().size(); ++l) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    const Line& line = host.lines()[l];
    for (uint32_t event = 0; event < line.count(); ++event) {
      if (event % kEventsPerCheck == 0) STROBE_RETURN_IF_ERROR(cancel.Check());
      if (!host.NameOf(line, event).starts_with(prefix) || host.IsHidden(line, event)) continue;
      const bool middle = line.is_tpu && analysis::FlowDirectionOf(host.FlowOf(line, event)) == 3;
      if (middle && !full_dma) continue;
      if (host.SerialOf(line, event) <= kMaxSerial) tracks.Add({l, event});
    }
  }
  tracks.SortEach();
  return tracks.Take();
}

Result<EventId> FindEvent(const TraceHost& host, std::string_view name, int64_t start_ps,
                          int64_t duration_ps, uint64_t serial, const CancelToken& cancel) {
  const auto is_it = [&](const Line& line, uint32_t event) {
    return line.StartOf(event) == start_ps && line.DurationOf(event) == duration_ps &&
           host.SerialOf(line, event) == serial && !host.IsHidden(line, event) &&
           host.NameOf(line, event) == name;
  };
  for (uint32_t l = 0; l < host.lines().size() && serial <= kMaxSerial; ++l) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    const Line& line = host.lines()[l];
    if (line.columns != nullptr) {
      const size_t timed = line.columns->timed_rows().size();
      for (size_t r = 0; r < line.columns->rows.size(); ++r) {
        const xplane::LineColumns::Row& row = line.columns->rows[r];
        const auto starts = line.columns->start_ps.subspan(row.first, row.count);
        size_t at = 0;
        if (r < timed)
          at = static_cast<size_t>(std::ranges::lower_bound(starts, start_ps) - starts.begin());
        for (; at < starts.size() && (r >= timed || starts[at] == start_ps); ++at) {
          const auto event = static_cast<uint32_t>(row.first + at);
          if (is_it(line, event)) return EventId{l, event};
        }
      }
    }
    for (uint32_t event = line.file_count; event < line.count(); ++event) {
      if (is_it(line, event)) return EventId{l, event};
    }
  }
  return NotFoundError("TRACE_EVENT_NOT_FOUND",
                       "No event of that name begins at that time and lasts so long.")
      .Where(std::string(name.substr(0, 200)))
      .Hint("Give event_name, start_time_ms, duration_ms and unique_id as the trace has them.");
}

Result<std::vector<EventId>> AllEvents(const TraceHost& host, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const std::vector<TraceTrack> tracks, TracksOf(host, cancel));
  std::vector<EventId> all;
  for (const TraceTrack& track : tracks) {
    all.insert(all.end(), track.events.begin(), track.events.end());
  }
  return all;
}

}  // namespace strobe::tools
