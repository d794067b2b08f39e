// Events of a Chrome trace, sorted into processes and threads and put together: begin and end
// become slices, flows find the slices they belong to.
//
//   TraceTracks tracks(json_text);
//   tracks.Add(event, event_offset);            // in file order
//   std::string xspace = tracks.ToXSpace(base_unix_ns, cancel);
//
// One process becomes a plane named as the trace names it, one thread a line; asynchronous events
// go to a line per category, counters to a line `_counters_`. PyTorch's traces get the names and
// stats that tools know (torch_trace.h); annotations of its GPUs go to lines of their own, since
// they are no work. Arguments become stats; they are read from the text again when written, so that
// an event takes about 56 bytes here. Limits: kMax* below; what they or the format make us leave
// out is counted and told in XSpace.warnings.
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
#include "src/xplane/torch_trace.h"
#include "src/xplane/trace_event.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {

// Far above what a trace of 2 GB holds; bounds our memory at 4 GB.
inline constexpr uint64_t kMaxTraceEvents = 64'000'000;
inline constexpr size_t kMaxTraceProcesses = 100'000;
inline constexpr size_t kMaxTraceThreads = 1'000'000;

class TraceTracks {
 public:
  explicit TraceTracks(std::string_view json) : json_(json) {}

  // `offset` is that of the event's text in the JSON.
  void Add(const TraceEvent& event, uint64_t offset);
  // A text in the list of events that is no event.
  void AddMalformed() { ++malformed_; }
  uint64_t event_count() const { return event_count_; }

  // `base_unix_ns`: wall clock of time 0, 0 when unknown.
  Result<std::string> ToXSpace(int64_t base_unix_ns, const CancelToken& cancel);

 private:
  struct ArgsRange {
    uint64_t offset = 0;
    uint32_t size = 0;
  };
  // A slice, an instant or a counter sample; or one end of a slice before they are matched.
  struct Item {
    int64_t time_ns = 0;  // rounded down
    uint16_t time_sub_ps = 0;
    char phase = 0;
    bool unfinished = false;
    uint32_t name = 0;
    uint32_t category = 0;
    int32_t group = -1;  // asynchronous: index of its id
    int64_t duration_ps = 0;
    ArgsRange args;
  };
  struct Flow {
    int64_t time_ns = 0;
    uint16_t time_sub_ps = 0;
    bool to_enclosing = true;
    uint64_t value = 0;  // of the `flow` stat
    uint32_t name = 0;
  };
  struct Thread {
    std::string tid;
    std::string name;
    int64_t sort_index = 0;
    std::vector<Item> items;
    std::vector<Item> ends;  // B and E, or the asynchronous kinds
    std::vector<Flow> flows;
    // End arguments of matched slices, by index in `items`.
    std::unordered_map<size_t, ArgsRange> end_args;
  };
  struct Process {
    std::string pid;
    std::string name;
    std::string labels;
    int64_t sort_index = 0;
    std::deque<Thread> threads;
    std::map<std::string, size_t, std::less<>> thread_of;
  };
  struct Time {
    int64_t ns = 0;
    uint16_t sub_ps = 0;
  };

  Process* ProcessOf(std::string_view pid);
  Thread* ThreadOf(Process* process, std::string_view key, std::string_view tid);
  uint32_t Intern(std::string_view text) { return texts_.Intern(text); }
  void AddMetadata(const TraceEvent& event, uint64_t offset);
  void AddAsync(Process* process, const TraceEvent& event, Item item);
  void AddFlow(Thread* thread, const TraceEvent& event, Time time);
  static void MatchEnds(Thread* thread, uint64_t* unmatched);
  void Warn(XSpaceBuilder* space) const;
  void WriteThread(Thread* thread, int64_t line_id, int64_t timestamp_ns, PlaneBuilder* plane);
  void WriteArgs(const ArgsRange& range, PlaneBuilder* plane, StatSink* sink,
                 TorchKernel* kernel = nullptr);
  void WriteTorch(const Item& item, const TorchKernel& kernel, PlaneBuilder* plane,
                  StatSink* sink) const;
  std::string PlaneNameOf(const Process& process);
  int64_t StartPs(int64_t time_ns, uint16_t sub_ps) const;
  std::vector<std::vector<uint64_t>> PlaceFlows(const Thread& thread,
                                                std::vector<Flow>* loose) const;

  const std::string_view json_;
  std::deque<Process> processes_;
  std::map<std::string, size_t, std::less<>> process_of_;
  TextTable texts_;
  std::unordered_map<std::string, int32_t> groups_;
  ArgsParser args_parser_;
  size_t thread_count_ = 0;
  uint64_t event_count_ = 0;
  int64_t shift_ns_ = 0;  // taken off every time
  int64_t first_ns_ = INT64_MAX;
  int64_t last_ns_ = INT64_MIN;
  uint64_t malformed_ = 0;
  uint64_t without_time_ = 0;
  uint64_t beyond_limit_ = 0;
  uint64_t unmatched_ = 0;
  uint64_t bad_args_ = 0;
  bool is_torch_ = false;
  bool has_host_plane_ = false;
  std::map<char, uint64_t> other_phases_;
};

}  // namespace strobe::xplane
