// Events of a Perfetto trace, sorted into processes and tracks and put together: begin and end
// become slices, counters a line of samples.
//
//   PerfettoTracks tracks;
//   tracks.TrackOf(uuid).name = "XLA Ops";
//   tracks.AddArgument(tracks.Intern("flops"), uint64_t{5});     // of the event that follows
//   tracks.Add({.time_ns = 10, .track = uuid, .type = PerfettoTracks::kBegin, .name = name});
//   std::string xspace = tracks.ToXSpace(base_unix_ns, cancel);
//
// A process becomes a plane, and so does a track without a process that others lie in; their tracks
// are lines, named by the way to them. Counters go to a line `_counters_`. Arguments become stats,
// flows the stat `flow`. Cost: about 0.5 us an event. Memory: 56 B an event, 16 B an argument. What
// the limits make us leave out is counted and told in XSpace.warnings.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/xplane/text_table.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {

// Far above what a trace of 2 GB holds; bounds our memory at 8 GB.
inline constexpr uint64_t kMaxPerfettoEvents = 64'000'000;
inline constexpr uint64_t kMaxPerfettoArguments = 256'000'000;
inline constexpr size_t kMaxPerfettoTracks = 1'000'000;

class PerfettoTracks {
 public:
  static constexpr uint8_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4, kComplete = 5;

  struct Event {
    int64_t time_ns = 0;
    uint64_t track = 0;  // uuid
    uint8_t type = 0;
    uint32_t name = 0;        // texts by Intern
    uint32_t category = 0;    // likewise
    double value = 0;         // kCounter
    int64_t duration_ns = 0;  // kComplete
  };
  struct Track {
    uint64_t parent = 0;  // uuid; 0: none
    std::string name;
    bool has_process = false;
    bool has_thread = false;
    int64_t pid = 0;
    int64_t tid = 0;
    bool is_counter = false;
    bool is_incremental = false;
    int64_t unit_multiplier = 1;
  };

  PerfettoTracks() { Intern(""); }

  uint32_t Intern(std::string_view text) { return texts_.Intern(text); }
  std::string_view TextOf(uint32_t id) const { return texts_[id]; }
  // Beyond the limit of tracks: one that stands for all others.
  Track& TrackOf(uint64_t uuid);
  void NameProcess(int64_t pid, std::string_view name) { processes_[pid] = name; }
  void NameThread(int64_t tid, std::string_view name) { threads_[tid] = name; }

  // Of the next event.
  void AddArgument(uint32_t name, uint64_t value) { Push(name, ArgumentType::kUint, value); }
  void AddArgument(uint32_t name, int64_t value) {
    Push(name, ArgumentType::kInt, static_cast<uint64_t>(value));
  }
  void AddArgument(uint32_t name, double value);
  void AddText(uint32_t name, std::string_view text) {
    Push(name, ArgumentType::kText, Intern(text));
  }
  void AddFlow(uint64_t id, bool ends) { flows_.push_back({events_.size(), id, ends}); }
  void Add(const Event& event);
  // Arguments and flows that no event took.
  void DropPending();

  uint64_t event_count() const { return events_.size(); }
  void Count(std::string_view what) { ++left_out_[std::string(what)]; }

  // `base_unix_ns`: wall clock of time 0, 0 when unknown.
  Result<std::string> ToXSpace(int64_t base_unix_ns, const CancelToken& cancel);

 private:
  enum class ArgumentType : uint8_t { kUint, kInt, kDouble, kText };
  struct Argument {
    uint32_t name = 0;
    ArgumentType type = ArgumentType::kUint;
    uint64_t bits = 0;
  };
  struct Stored {
    Event event;
    uint64_t first_argument = 0;
    uint32_t argument_count = 0;
    uint32_t track = 0;  // number
  };
  struct Flow {
    uint64_t event = 0;
    uint64_t id = 0;
    bool ends = false;
  };
  struct Item {
    uint64_t event = 0;  // index in events_
    int64_t duration_ns = 0;
    uint64_t end = kNoEnd;  // event with further arguments
    bool unfinished = false;
  };
  static constexpr uint64_t kNoEnd = ~uint64_t{0};
  struct Place {
    std::string plane;  // key
    std::string plane_name;
    std::string line_name;
    int64_t plane_id = 0;
    int64_t line_id = 0;
  };
  struct Planned {
    std::string name;
    int64_t id = 0;
    std::vector<uint32_t> tracks;  // numbers
  };

  void Push(uint32_t name, ArgumentType type, uint64_t bits);
  Place PlaceOf(uint32_t track) const;
  std::vector<Item> MatchEnds(const std::vector<uint64_t>& events);
  void WriteArguments(uint64_t event, PlaneBuilder* plane, StatSink* sink) const;
  void WriteLine(const std::vector<uint64_t>& events, const Place& place, int64_t timestamp_ns,
                 PlaneBuilder* plane);
  void WriteCounters(const std::vector<uint32_t>& tracks,
                     const std::vector<std::vector<uint64_t>>& by_track, int64_t timestamp_ns,
                     PlaneBuilder* plane);
  int64_t StartPs(int64_t time_ns) const;

  TextTable texts_;
  std::deque<Track> tracks_;
  std::vector<uint64_t> uuids_;
  std::unordered_map<uint64_t, uint32_t> track_ids_;
  std::map<int64_t, std::string> processes_;
  std::map<int64_t, std::string> threads_;
  std::vector<Stored> events_;
  std::vector<Argument> arguments_;
  uint64_t pending_from_ = 0;  // arguments_ of the next event begin here
  std::vector<Flow> flows_;
  std::unordered_map<uint64_t, std::vector<std::pair<uint64_t, bool>>> flows_of_;  // by event
  std::map<std::string, uint64_t> left_out_;
  int64_t first_ns_ = INT64_MAX;
  int64_t last_ns_ = INT64_MIN;
  int64_t shift_ns_ = 0;
};

}  // namespace strobe::xplane
