// One host's profile with its meaning worked out: which step (group) each event belongs to, which
// events flow into which, and the lines that are derived from others.
//
//   STROBE_ASSIGN_OR_RETURN(std::shared_ptr<const PreparedHost> host,
//                           PreparedHost::Prepare(file_owner, *file, {}, cancel));
//   const PreparedLine& line = host->planes()[p].lines[l];
//   const int64_t group = line.GroupOf(event);      // kNoGroup: none
//
// This is XProf's preprocessing (producer and consumer links, grouping, derived timeline) without
// changing the profile: what it adds stands beside the columns. Lines keep their index in the file;
// lines that it adds come behind them. A line that it rewrites (the merged Steps line of a TPU)
// carries its events itself and says so; a line that gains events (regions of a thread pool) has
// them beside those of its columns.
//
// Limits: PrepareOptions. Cost: about 20 ns an event of host lines, 4 ns of device lines, 4 B an
// event. Immutable, so thread-safe. Sources of the rules: xprof's preprocessing and grouping.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/parallel.h"
#include "src/base/status.h"
#include "src/xplane/profile_file.h"

namespace strobe::analysis {

class OpLineCache;  // op_line_facts.h

inline constexpr int64_t kNoGroup = -1;

// A step or request: the events that one root caused.
struct Group {
  std::string name;               // "train 12"
  std::vector<int64_t> parents;   // sorted
  std::vector<int64_t> children;  // sorted
};

// A stat that preparation adds, or copies into a derived event. `number` also holds integers up to
// 2^53; `integer` holds them exactly.
struct AddedStat {
  enum class Kind : uint8_t { kInt64, kUint64, kDouble, kString };
  std::string name;
  Kind kind = Kind::kInt64;
  int64_t integer = 0;
  double number = 0;
  std::string text;
};

// An event that is in no line of the file.
// Texts belong to the file or to the PreparedHost.
struct AddedEvent {
  std::string_view name;
  std::string_view display_name;  // empty: none
  int64_t start_ps = 0;           // file time
  int64_t duration_ps = 0;
  int64_t group = kNoGroup;
  // The event of the same plane that it stands for, when it is a copy; kNone else.
  static constexpr uint32_t kNone = 0xffffffff;
  uint32_t source_line = kNone;
  uint32_t source_event = kNone;
  // Its own stats, all of them (those of the source are copied); the group stands above.
  std::vector<AddedStat> stats;
};

// An event that preparation derived and that is nothing but a name over a time. There may be
// several for each event of the file, so it is small.
struct DerivedEvent {
  int64_t start_ps = 0;  // file time
  int64_t duration_ps = 0;
  uint32_t name = 0;  // index into PreparedLine::derived_names
  int32_t group = static_cast<int32_t>(kNoGroup);
};

// What derived events are called; texts belong to the file or to the PreparedHost.
struct DerivedName {
  std::string_view text;
  std::string_view display;  // empty: the text
  std::string_view label() const { return display.empty() ? text : display; }
};

// An end of a flow at an event. An event may have several; the last one is what viewers draw.
struct FlowEnd {
  uint32_t event = 0;
  uint64_t flow =
      0;  // XProf's encoding: bits 0-1 direction (1 in, 2 out, 3 both), 2-57 id, 58-63 category
};

// A stat added to one event of the file.
struct EventAddition {
  uint32_t event = 0;
  AddedStat stat;
};

struct PreparedLine {
  int64_t id = 0;
  int64_t display_id = 0;
  std::string name;
  std::string display_name;  // empty: the name
  int64_t timestamp_ns = 0;
  bool from_file = true;        // its columns are those of the file (same index)
  bool derived = false;         // repeats what other lines measured
  std::vector<int32_t> groups;  // by event of the file; empty: none has one
  std::vector<FlowEnd> flows;   // sorted by event; events beyond the file's are `events`
  // Sorted by event: step_name, run_id where it is rewritten, and group_id where viewers show
  // another group than GroupOf.
  std::vector<EventAddition> additions;
  // The stat is_eager by event of the file: 0, 1 or kNotMarked; empty: no event has it.
  static constexpr int8_t kNotMarked = -1;
  std::vector<int8_t> is_eager;
  // When !from_file: all events, sorted by time. Else those that the line has beside the file's;
  // they count on from the last event of the file.
  std::vector<AddedEvent> events;
  // Of lines that are derived, instead of `events` where they carry nothing else; sorted by time.
  std::vector<DerivedEvent> derived_events;
  std::shared_ptr<const std::vector<DerivedName>> derived_names;

  // `event`: of the file, or file_event_count + index into `events`.
  int64_t GroupOf(uint32_t event) const {
    if (!derived_events.empty()) return derived_events[event].group;
    if (!from_file) return events[event].group;
    if (event >= file_event_count) return events[event - file_event_count].group;
    return groups.empty() ? kNoGroup : groups[event];
  }
  uint32_t file_event_count = 0;  // when from_file

  const AddedStat* FindAddition(uint32_t event, std::string_view stat_name) const;
};

struct PreparedPlane {
  std::vector<PreparedLine> lines;  // those of the file first, with their index
};

struct PrepareOptions {
  // Scopes, framework ops, modules and source lines of devices, and launch statistics. They take as
  // long as all the rest and longer, and only viewers of a trace show them.
  bool op_lines = true;
  uint64_t max_groups = 10'000'000;
  // For planes and lines side by side, here and by whoever works on what is prepared.
  Parallel parallel;
  // What was read of the file's op lines before; nullptr: nothing.
  std::shared_ptr<OpLineCache> op_lines_read;
};

class PreparedHost {
 public:
  // `owner` keeps `file` alive. Decodes every line. Errors: CANCELLED, PREPARE_LIMIT_GROUPS.
  static Result<std::shared_ptr<const PreparedHost>> Prepare(std::shared_ptr<const void> owner,
                                                             const xplane::ProfileFile& file,
                                                             const PrepareOptions& options,
                                                             const CancelToken& cancel);

  const xplane::ProfileFile& file() const { return *file_; }
  const Parallel& parallel() const { return parallel_; }
  OpLineCache& op_lines() const { return *op_lines_; }
  const std::vector<PreparedPlane>& planes() const { return planes_; }  // index of the file
  const std::map<int64_t, Group>& groups() const { return groups_; }
  // The profile carried group ids already, so nothing was worked out anew.
  bool grouped_before() const { return grouped_before_; }

  // What a user of the host works out once and keeps with it. Two who work out the same at once
  // both may; the first result stays and is returned.
  std::shared_ptr<const void> FindAttached(std::string_view key) const;
  std::shared_ptr<const void> Attach(std::string_view key, std::shared_ptr<const void> value,
                                     uint64_t size_bytes) const;
  uint64_t resident_bytes() const;

 private:
  friend class HostPreparer;
  PreparedHost() = default;

  std::shared_ptr<const void> owner_;
  const xplane::ProfileFile* file_ = nullptr;
  Parallel parallel_;
  std::shared_ptr<OpLineCache> op_lines_;
  std::deque<std::deque<std::string>> texts_;  // that events refer to, by plane
  std::vector<PreparedPlane> planes_;
  std::map<int64_t, Group> groups_;
  bool grouped_before_ = false;
  mutable std::mutex attached_mutex_;  // guards the two below
  mutable std::map<std::string, std::shared_ptr<const void>, std::less<>> attached_;
  mutable uint64_t attached_bytes_ = 0;
};

}  // namespace strobe::analysis
