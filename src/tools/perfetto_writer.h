// Writes a trace for ui.perfetto.dev: tracks, slices, instants, counters, with names interned.
//
//   PerfettoWriter trace;
//   const uint64_t track = trace.AddTrack("3. XLA Ops", parent);
//   trace.Slice(track, start_ns, end_ns, "fusion.3", arguments, flows);
//   std::string bytes = trace.Take();        // as often as wanted: the pieces make one trace
//
// One packet sequence; each name and text is written once, where it first appears. Cost: some 40 B
// and the arguments an event. Memory: what was not taken yet, and the texts that were interned;
// ForgetTexts lets go of them. Field numbers: Perfetto's public TracePacket schema.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace strobe::tools {

struct PerfettoArgument {
  std::string name;
  std::variant<bool, uint64_t, int64_t, double, std::string> value;
};

// Ids of flows that begin and end at an event.
struct PerfettoFlows {
  std::vector<uint64_t> out;
  std::vector<uint64_t> in;
  // Readers want the beginning of a flow to come before its end. Flows normally leave an event at
  // its end; where the next one may begin earlier they leave at the beginning.
  bool leave_at_begin = false;
};

class PerfettoWriter {
 public:
  static constexpr uint64_t kNoTrack = 0;

  uint64_t AddTrack(std::string_view name, uint64_t parent);
  // Counters of one `share_key` have one axis.
  uint64_t AddCounterTrack(std::string_view name, uint64_t parent, std::string_view unit,
                           std::string_view share_key);
  void Slice(uint64_t track, int64_t start_ns, int64_t end_ns, std::string_view name,
             const std::vector<PerfettoArgument>& arguments, const PerfettoFlows& flows);
  void Instant(uint64_t track, int64_t time_ns, std::string_view name,
               const std::vector<PerfettoArgument>& arguments, const PerfettoFlows& flows);
  void Count(uint64_t track, int64_t time_ns, double value);

  // What was written since the last time.
  std::string Take() { return std::exchange(trace_, {}); }
  size_t pending_bytes() const { return trace_.size(); }
  // Heap of the texts that were interned, nearly.
  size_t interned_bytes() const { return interned_bytes_; }
  // Begins to intern anew, and tells readers so: the packets that follow refer to none before.
  void ForgetTexts();

 private:
  // Interned texts of one kind; new ones go into the packet being written.
  struct Interner {
    uint32_t field = 0;
    std::unordered_map<std::string, uint64_t> ids;
  };
  uint64_t Intern(Interner* interner, std::string_view text);
  std::string Arguments(const std::vector<PerfettoArgument>& arguments);
  void WriteEvent(int64_t time_ns, std::string_view event);
  void WriteTrack(std::string_view descriptor);
  void WritePacket(std::string_view fields);

  std::string trace_;
  std::string interned_;
  uint64_t last_track_ = 0;
  uint64_t last_id_ = 0;
  size_t interned_bytes_ = 0;
  bool first_ = true;
  Interner event_names_{2, {}};
  Interner argument_names_{3, {}};
  Interner texts_{29, {}};
};

}  // namespace strobe::tools
