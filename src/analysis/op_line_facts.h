// What the stats of an op line's events say of times, read once and kept: when each ran by the
// device's own account, and whether anything else bears on its op.
//
//   OpLineCache cache(file);
//   STROBE_ASSIGN_OR_RETURN(std::shared_ptr<const OpLineFacts> facts, cache.Of(plane, line,
//   cancel)); const Span span = facts->HasOwnTime(event) ? facts->OwnSpan(event) : ...;
//
// Profilers write device_offset_ps and device_duration_ps into every event of a TPU's ops; reading
// them costs as much as everything else that op stats do. Kept as columns they cost nothing the
// next time; the engine has them read in the background once a session is loaded.
//
// Cost: 30 ns an event once. Memory: 16 B an event of lines that have such times, else nothing.
// The cache is thread-safe; of several who ask for a line at once one reads it, the others wait.
// Errors: CANCELLED, for whoever cancelled only.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/device_span.h"
#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/xplane/profile_file.h"

namespace strobe::analysis {

// Lines of a TPU whose events are ops.
bool IsOpLine(std::string_view name);

class OpLineFacts {
 public:
  static Result<std::shared_ptr<const OpLineFacts>> Read(const xplane::ProfileFile& file,
                                                         size_t plane, size_t line,
                                                         const CancelToken& cancel);

  // Events that carry both times.
  bool any_own_times() const { return !offset_ps_.empty(); }
  bool HasOwnTime(uint32_t event) const { return !offset_ps_.empty() && (all_ || has_[event]); }
  Span OwnSpan(uint32_t event) const { return {offset_ps_[event], duration_ps_[event]}; }
  // Some event carries a time scale, a stall, a shortest time, energy or an offload.
  bool any_others() const { return any_others_; }
  bool any_groups() const { return any_groups_; }  // the stat group_id
  uint64_t resident_bytes() const;

 private:
  std::vector<int64_t> offset_ps_;
  std::vector<int64_t> duration_ps_;  // never negative
  std::vector<bool> has_;             // empty when all have
  bool all_ = true;
  bool any_others_ = false;
  bool any_groups_ = false;
};

class OpLineCache {
 public:
  // `file` outlives the cache.
  explicit OpLineCache(const xplane::ProfileFile& file) : file_(file) {}
  Result<std::shared_ptr<const OpLineFacts>> Of(size_t plane, size_t line,
                                                const CancelToken& cancel);
  // Reads those of every op line of TPUs.
  Status ReadAll(const CancelToken& cancel);
  uint64_t resident_bytes() const;

 private:
  const xplane::ProfileFile& file_;
  using Key = std::pair<size_t, size_t>;  // plane and line
  mutable std::mutex mutex_;              // guards all that follow
  std::condition_variable read_;
  std::set<Key> reading_;
  std::map<Key, std::shared_ptr<const OpLineFacts>> known_;
  uint64_t bytes_ = 0;
};

}  // namespace strobe::analysis
