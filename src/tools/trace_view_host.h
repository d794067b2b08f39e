// One host as the trace viewers show it: which lines are drawn where, and what tells its events
// apart.
//
//   STROBE_ASSIGN_OR_RETURN(auto host, TraceHost::Of(prepared, "host0", cancel));
//   for (const TraceHost::Line& line : host->lines()) ... host->NameOf(line, event) ...
//
// Made once for a prepared host and kept with it. An event is a line and a number: events of the
// file first, then those that preparation added and derived. Serials tell events that begin at the
// same picosecond apart, over all lines of the host: 0 for the first, and so on (kMostSerial and
// more are one).
//
// Cost of making: about 40 ns an event (finding equal times), side by side where the prepared host
// says how. Memory: 2 B an event of the lines that share times. Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/event_stats.h"
#include "src/analysis/prepared_host.h"
#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/tools/trace_view.h"

namespace strobe::tools {

class TraceHost {
 public:
  struct Line {
    uint32_t plane = 0;
    uint32_t index = 0;  // in the prepared plane
    const analysis::PreparedLine* prepared = nullptr;
    const xplane::LineColumns* columns = nullptr;  // nullptr: all events are added ones
    uint32_t file_count = 0;                       // events of the columns
    uint32_t process = 0;
    uint32_t thread = 0;
    bool is_counter = false;
    bool is_tpu = false;            // of a TPU core or what belongs to it
    std::vector<uint32_t> async;    // asynchronous events, sorted
    std::vector<uint16_t> serials;  // by event; empty: all are 0
    // Events of the file, added ones, derived ones: in this order.
    uint32_t derived_from() const {
      return file_count + static_cast<uint32_t>(prepared->events.size());
    }
    uint32_t count() const {
      return derived_from() + static_cast<uint32_t>(prepared->derived_events.size());
    }
    const analysis::AddedEvent* Added(uint32_t event) const {
      return event < file_count || event >= derived_from() ? nullptr
                                                           : &prepared->events[event - file_count];
    }
    const analysis::DerivedEvent* Derived(uint32_t event) const {
      return event < derived_from() ? nullptr : &prepared->derived_events[event - derived_from()];
    }
    int64_t StartOf(uint32_t event) const {
      if (event < file_count) return columns->start_ps[event];
      const analysis::DerivedEvent* derived = Derived(event);
      return derived != nullptr ? derived->start_ps : Added(event)->start_ps;
    }
    int64_t DurationOf(uint32_t event) const {
      if (event < file_count) return columns->duration_ps[event];
      const analysis::DerivedEvent* derived = Derived(event);
      return derived != nullptr ? derived->duration_ps : Added(event)->duration_ps;
    }
  };
  struct Process {
    uint32_t id = 0;
    std::string name;
    std::vector<TraceView::Thread> threads;  // by id
    bool is_tpu_core = false;
  };
  struct EventId {
    uint32_t line = 0;
    uint32_t event = 0;
  };

  // `name`: of the host, written before the names of its planes; empty: planes alone.
  static Result<std::shared_ptr<const TraceHost>> Of(
      std::shared_ptr<const analysis::PreparedHost> host, std::string_view name,
      const CancelToken& cancel);

  const analysis::PreparedHost& prepared() const { return *host_; }
  const std::vector<Line>& lines() const { return lines_; }
  const std::vector<Process>& processes() const { return processes_; }  // by id
  bool is_tpu() const;
  uint64_t event_count() const { return event_count_; }  // shown ones
  // Of all shown events; both 0 when there are none.
  int64_t first_ps() const { return first_ps_; }
  int64_t last_ps() const { return last_ps_; }

  // Events that viewers never show.
  bool IsHidden(const Line& line, uint32_t event) const {
    if (event >= line.file_count) return false;
    const std::vector<uint8_t>& hidden = planes_[line.plane].hidden;
    return !hidden.empty() && hidden[line.columns->name[event]] != 0;
  }
  // What the event is called: its step's name, its display name or its name.
  std::string_view NameOf(const Line& line, uint32_t event) const;
  // What the track of a counter or an asynchronous event is called: long names of the latter are
  // kept elsewhere by XProf, so that all of them share one track.
  std::string_view TrackNameOf(const Line& line, uint32_t event) const;
  TraceView::EventKind KindOf(const Line& line, uint32_t event) const;
  // The flow that is drawn, encoded; 0: none.
  uint64_t FlowOf(const Line& line, uint32_t event) const;
  static constexpr uint16_t kMostSerial = 0xffff;
  uint32_t SerialOf(const Line& line, uint32_t event) const {
    return line.serials.empty() ? 0 : line.serials[event];
  }
  // The order of events of one host: time, longer first, place.
  bool Before(EventId a, EventId b) const;
  // Texts that are shown as stack frames anywhere in the host: long names.
  const std::vector<std::string>& frames() const { return frames_; }

  uint64_t resident_bytes() const;

 private:
  struct PlaneFacts {
    std::vector<uint8_t> hidden;  // by event metadata; empty: none
    std::vector<uint8_t> used;    // by event metadata
    bool names_steps = false;     // events of the file may carry step_name
    std::unique_ptr<analysis::StatSlots> slots;
  };

  TraceHost() = default;
  void AddPlanes(std::string_view name);
  void AddPlane(size_t plane, uint32_t process, std::string_view name);
  void AddLine(size_t plane, size_t line, uint32_t process);
  void FindAsync(Line* line) const;
  Status Measure(const CancelToken& cancel);
  Status NumberEqualTimes(const CancelToken& cancel);
  void CollectFrames();

  std::shared_ptr<const analysis::PreparedHost> host_;
  std::vector<PlaneFacts> planes_;
  std::vector<Line> lines_;
  std::vector<Process> processes_;
  std::vector<std::string> frames_;
  uint64_t event_count_ = 0;
  int64_t first_ps_ = 0;
  int64_t last_ps_ = 0;
};

// The longest name that makes a track of its own.
inline constexpr size_t kLongestTrackName = 32;
// Texts of arguments up to this long are never frames.
inline constexpr size_t kLongestPlainText = 16;
// A long name as it is shown: cut when it is very long.
std::string LongNameText(std::string_view name);

}  // namespace strobe::tools
