// The completeness record: what a session has, what it lacks, and every reason we know.
//
//   const HostCompleteness host = CheckHost(file, *profile, hash);    // decodes everything
//   const Completeness record = Combine({host});
//
// Nothing here guesses: unknown is nullopt with a reason. A host is partial when some of its bytes
// make no sense, when the file changed under us, or when the profiler itself reports errors; what
// is merely odd (events beyond the window, out of order, ...) is a reason but no change of state.
// Cost: decoding, then a few searches a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/xplane/profile_file.h"
#include "src/xplane/session.h"

namespace strobe::xplane {

enum class CompletenessState : uint8_t { kUnread, kComplete, kPartial, kDamaged, kEmpty, kWriting };
std::string_view CompletenessStateName(CompletenessState state);  // "complete" ...

struct LineCount {
  size_t plane = 0;
  size_t line = 0;
  uint64_t events = 0;
};

// Clocks of devices and hosts differ a little, and what runs when the profiler stops is written to
// its end. An event is counted as beyond the window when it lies farther outside than a tenth of
// the window; farther than a second in any case: the clocks we saw differ by less.
inline constexpr int64_t kWindowTolerancePs = 1'000'000'000'000;
inline constexpr int64_t kWindowPerTolerance = 10;
int64_t WindowTolerancePs(const ProfileFile::Window& window);

struct HostCompleteness {
  std::string host;
  std::string file;  // file name
  std::string format;
  uint64_t size_bytes = 0;
  // Up to the first damage; of a compressed file, counted in the unpacked bytes.
  uint64_t readable_bytes = 0;
  std::string content_hash;  // "xxh3:<32 hex digits>", empty when not computed
  CompletenessState state = CompletenessState::kUnread;
  std::optional<ProfileFile::Window> window;
  std::string window_source;  // "Task Environment" or "first and last event"
  std::optional<int64_t> clock_offset_ps;
  uint64_t planes = 0;
  uint64_t lines = 0;
  uint64_t events = 0;
  std::vector<LineCount> line_counts;     // of every line, in file order
  std::vector<std::string> empty_planes;  // have lines but no event, or are devices without lines
  uint64_t events_out_of_order = 0;
  uint64_t events_beyond_window = 0;
  uint64_t events_overlapping = 0;  // on lines where events can only follow or nest
  uint64_t events_negative = 0;
  uint64_t events_saturated = 0;
  uint64_t events_aggregated = 0;
  uint64_t events_crowded = 0;  // nested or overlapping deeper than is shown
  uint64_t missing_metadata = 0;
  std::vector<std::string> errors;  // XSpace.errors
  std::vector<std::string> warnings;
  std::vector<Damage> damage;
  std::optional<Status> open_error;  // the file could not be opened at all
};

struct Completeness {
  CompletenessState state = CompletenessState::kUnread;
  std::vector<std::string> reasons;  // sentences, worst first
  std::optional<uint64_t> hosts_expected;
  std::string hosts_expected_reason;
  std::vector<HostCompleteness> hosts;
};

// Decodes what is not decoded yet. `content_hash` may be empty.
HostCompleteness CheckHost(const SessionFile& file, const ProfileFile& profile,
                           std::string content_hash);
HostCompleteness FailedHost(const SessionFile& file, const Status& error);
Completeness Combine(std::vector<HostCompleteness> hosts);

}  // namespace strobe::xplane
