// Which events a viewer can tell apart at a resolution, and the coarsest level at which each shows.
//
//   VisibleRow row;
//   FlowTable flows;
//   if (row.Show(event, resolution_ps, &flows.At(event.flow_id), 0)) Draw(event);   // in time
//   order
//
//   STROBE_ASSIGN_OR_RETURN(auto levels, TraceLevels::Of(host, last_level, cancel));
//   levels->LevelOf(line, event)                                  // 0: shown at a second a pixel
//
// The rules are XProf's. An event shows when it is long enough, when nothing was drawn at its depth
// of nesting, or when that ended long enough ago. All events of a flow show or hide together.
// Resolutions of levels: 1 s, 0.1 s ... 1 ps.
//
// Cost: 20-60 ns an event and row state; levels: 30 ns (coarse) to 150 ns an event once, rows side
// by side where the host says how; 1 B an event kept with the host, 32-64 B a flow while they are
// worked out. Not thread-safe but for TraceLevels once made.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/tools/trace_view_host.h"

namespace strobe::tools {

inline constexpr std::array<int64_t, 13> kLevelResolutionsPs = {1'000'000'000'000,
                                                                100'000'000'000,
                                                                10'000'000'000,
                                                                1'000'000'000,
                                                                100'000'000,
                                                                10'000'000,
                                                                1'000'000,
                                                                100'000,
                                                                10'000,
                                                                1'000,
                                                                100,
                                                                10,
                                                                1};
// Events of one time beyond this many cannot be addressed: XProf leaves them out.
inline constexpr uint32_t kMaxSerial = 255;

// An event as far as visibility depends on it.
struct VisibleEvent {
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  uint64_t flow_id = 0;
  TraceView::FlowDirection flow = TraceView::FlowDirection::kNone;
};

// A flow at up to 16 levels, a bit each.
struct FlowBits {
  uint16_t open = 0;        // it has begun and not ended
  uint16_t open_shown = 0;  // while open: whether it shows
  uint16_t seen = 0;        // it was judged
  uint16_t shown = 0;       // and found to show, at its first event
};
static_assert(kLevelResolutionsPs.size() <= 16);

// Flows by id.
class FlowTable {
 public:
  // `expected_flows`: that many are added without moving any.
  explicit FlowTable(size_t expected_flows = 0) { Resize(expected_flows); }
  // Made when there is none. Valid until the next one is made.
  FlowBits& At(uint64_t id);
  const FlowBits* Find(uint64_t id) const;
  size_t size() const { return count_; }

 private:
  struct Slot {
    uint64_t id = 0;
    bool used = false;
    FlowBits bits;
  };
  size_t PlaceOf(uint64_t id) const;
  void Resize(size_t expected_flows);

  std::vector<Slot> slots_;  // a power of two, at most half of them used
  size_t count_ = 0;
};

// One row of a viewer: a thread, with its nesting.
class VisibleRow {
 public:
  // Whether it shows at the resolution; what shows is remembered. `flow`: of the event's flow; not
  // read when it has none.
  bool Show(const VisibleEvent& event, int64_t resolution_ps, FlowBits* flow, size_t level);
  // It shows for another reason. Null: nobody will ask this row about flows.
  void Mark(const VisibleEvent& event, FlowBits* flow, size_t level);

 private:
  size_t DepthAt(int64_t start_ps) const;
  void Draw(size_t depth, int64_t end_ps);

  std::vector<int64_t> ends_ps_;  // of what was drawn last, by depth
  int64_t last_flow_ps_ = 0;
  bool has_flow_ = false;
};

// A row of counter values or asynchronous events.
class VisibleCounter {
 public:
  bool Show(int64_t start_ps, int64_t resolution_ps) {
    if (has_last_ && start_ps - last_ps_ < resolution_ps) return false;
    Mark(start_ps);
    return true;
  }
  void Mark(int64_t start_ps) {
    has_last_ = true;
    last_ps_ = start_ps;
  }

 private:
  int64_t last_ps_ = 0;
  bool has_last_ = false;
};

// Events that are drawn in one row, in the order of TraceHost::Before.
struct TraceTrack {
  uint32_t process = 0;
  bool is_thread = true;
  uint32_t thread = 0;
  std::string_view name;  // of counters and asynchronous events
  std::vector<TraceHost::EventId> events;
};
// All shown events of a host by track: processes ascending, named tracks before threads.
Result<std::vector<TraceTrack>> TracksOf(const TraceHost& host, const CancelToken& cancel);

class TraceLevels {
 public:
  // Levels up to `last_level` are told exactly; of what shows only at finer ones no more than that.
  // A second, finer question works all of them out.
  static Result<std::shared_ptr<const TraceLevels>> Of(const TraceHost& host, size_t last_level,
                                                       const CancelToken& cancel);
  uint8_t LevelOf(uint32_t line, uint32_t event) const { return levels_[line][event]; }

 private:
  std::vector<std::vector<uint8_t>> levels_;  // by line and event
};

}  // namespace strobe::tools
