// The events of a megascale trace before they are written. Part of megascale_perfetto.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/tools/perfetto_writer.h"
#include "src/xplane/profile_file.h"

namespace strobe::tools {

struct TraceEvent {
  int64_t start_ps = 0;
  int64_t duration_ps = 0;
  std::string name;
  std::vector<PerfettoArgument> arguments;
  std::optional<uint64_t> run_id;
  PerfettoFlows flows;

  int64_t end_ps() const { return start_ps + duration_ps; }
  const PerfettoArgument* Find(std::string_view argument) const;
  // A text argument, else "".
  std::string_view Text(std::string_view argument) const;
  // A whole argument of either sign, else 0.
  int64_t Whole(std::string_view argument) const;
};

struct EventTrack {
  std::string name;
  std::string graph_key;  // of collectives
  std::vector<TraceEvent> events;
};

struct TpuTracks {
  int64_t id = 0;
  std::string name;  // of the plane
  // Steps, modules, operations, trace annotations; only those that have events.
  std::map<int, EventTrack> lines;
  std::vector<EventTrack> collectives;
};

inline constexpr int kStepsLine = 1, kModulesLine = 2, kOpsLine = 3, kTraceMeLine = 4;

// The TPUs of a file by id, their events sorted by start and then longest first, with run ids, tiny
// ones grouped.
Result<std::vector<TpuTracks>> LoadTpuTracks(const xplane::ProfileFile& file, bool as_xprof,
                                             const CancelToken& cancel);
// Connects sends, receives and network transfers (megascale_flows.cc).
void AddFlows(std::vector<TpuTracks>* tpus);

}  // namespace strobe::tools
