// Events as a trace that other programs read: Chrome trace JSON or Perfetto's protobuf, piece by
// piece.
//
//   const std::unique_ptr<TraceWriter> trace = MakeChromeTraceWriter({.session = "run1"});
//   const uint64_t process = trace->AddProcess("/device:TPU:0");
//   const uint64_t track = trace->AddTrack(process, "XLA Ops");
//   trace->Slice({.track = track, .start_ps = 0, .duration_ps = 5, .name = "fusion.3"});
//   trace->Finish({});
//   Send(trace->Take());                    // as often as wanted: the pieces make one trace
//
// Times are those of the session. Chrome's are exact; Perfetto's are whole nanoseconds, rounded
// down, and an event that loses something thereby carries `start_ps` and `duration_ps`. Slices of
// one track must be nested or apart, and come by start, the outer first. What flows begins at one
// slice and ends at another, under one id. Names and texts are made valid UTF-8. Memory: what was
// not taken, and for Perfetto at most kMaxInternedBytes of texts. Cost: 0.3-1 us an event and
// argument. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/xplane/profile_file.h"

namespace strobe::engine {

// Texts of Perfetto traces are written once each; beyond this they are forgotten and written anew.
inline constexpr size_t kMaxInternedBytes = size_t{16} << 20;
// Arguments of type bytes are shown by their first bytes, as the API does.
inline constexpr size_t kMaxShownBytes = 64;

struct TraceFlow {
  uint64_t id = 0;
  bool begins = false;  // else it ends here
};

struct TraceSlice {
  uint64_t track = 0;
  int64_t start_ps = 0;
  int64_t duration_ps = 0;
  std::string_view name = {};
  std::span<const xplane::Stat> arguments = {};
  std::span<const TraceFlow> flows = {};
};

struct TraceWriterOptions {
  std::string session = {};
  std::optional<int64_t> origin_unix_ns = std::nullopt;  // wall clock of time 0
  // Times before it are lost in Perfetto's unsigned ones: all are counted from here when negative.
  int64_t first_ps = 0;
};

// What a reader is told at the end, where the format has a place for it.
struct TraceTotals {
  uint64_t events = 0;
  uint64_t events_without_time = 0;  // aggregated ones: they have no place in a timeline
  std::vector<std::string> hosts_not_read = {};
};

class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  virtual uint64_t AddProcess(std::string_view name) = 0;
  virtual uint64_t AddTrack(uint64_t process, std::string_view name) = 0;
  // A curve; `series` tells several of one name apart and may be empty.
  virtual uint64_t AddCounter(uint64_t process, std::string_view name, std::string_view series) = 0;
  virtual void Slice(const TraceSlice& slice) = 0;
  virtual void Count(uint64_t counter, int64_t time_ps, double value) = 0;
  virtual void Finish(const TraceTotals& totals) = 0;

  virtual size_t pending_bytes() const = 0;
  virtual std::string Take() = 0;
};

std::unique_ptr<TraceWriter> MakeChromeTraceWriter(TraceWriterOptions options);
std::unique_ptr<TraceWriter> MakePerfettoTraceWriter(TraceWriterOptions options);

// Names of arguments are keys, but an event may have two stats of one name: the later ones become
// "name #2" and so on.
std::string ArgumentName(std::span<const xplane::Stat> arguments, size_t index);
// "2 bytes: 0a1b"
std::string BytesText(std::string_view bytes);

}  // namespace strobe::engine
