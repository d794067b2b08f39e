// Captures a profile from N running jobs at once: JAX's profiler service on every target, one new
// session on disk.
//
//   CaptureRequest request{.targets = {"127.0.0.1:9012"}, .duration_ms = 2000, .root =
//   "/srv/logs"}; Result<CaptureResult> result = Capture(request, cancel, [](const CaptureProgress&
//   p) { Show(p); });
//
// Each target ends in saved, empty, failed (with cause and remedy) or cancelled; one that fails
// does not spoil the others. Bytes come inline (emit_xspace), without a size limit on the message,
// and are written under a temporary name, synced and renamed: a reader never sees half a file.
// Cancelling sends Terminate and keeps what was recorded so far. Cost: waits duration plus
// collection; memory: the answer of each target while it is written. Limits: CaptureLimits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/capture/target.h"

namespace strobe::capture {

inline constexpr size_t kMaxTargets = 1024;
inline constexpr int64_t kMaxDurationMs = 60 * 60 * 1000;

struct CaptureRequest {
  std::vector<std::string> targets;  // host:port, [v6]:port
  int64_t duration_ms = 2000;
  std::string root;     // log directory
  std::string run;      // folder below the root, may be empty
  std::string session;  // empty: a new name with milliseconds and a random part
  bool bare = false;    // into <root>/<session> itself, for who puts it elsewhere afterwards
  uint32_t host_tracer_level = 2;
  uint32_t device_tracer_level = 1;
  uint32_t python_tracer_level = 0;
  // advanced_configuration, sent as written.
  std::map<std::string, std::variant<std::string, bool, int64_t>> options;
  // How long to wait for a connection, and for a target that is busy with another profile.
  int64_t connect_timeout_ms = 10'000;
  // How long a target may take to answer, beyond the recording and 5 x its duration for collecting.
  int64_t answer_grace_ms = 60'000;
};

enum class TargetState : uint8_t {
  kConnecting,
  kRecording,
  kCollecting,
  kSaved,
  kEmpty,
  kFailed,
  kCancelled
};
std::string_view TargetStateName(TargetState state);

struct TargetProgress {
  std::string target;
  TargetState state = TargetState::kConnecting;
  uint64_t received_bytes = 0;
  std::string message;  // cause in words when failed, what is odd when saved
  std::string hint;     // what to do
  std::string file;     // path below the root once saved
};

struct CaptureProgress {
  int64_t elapsed_ms = 0;
  int64_t duration_ms = 0;
  std::vector<TargetProgress> targets;
};

struct CaptureResult {
  std::string session_name;
  std::string session_path;  // absolute
  std::vector<TargetProgress> targets;
  size_t hosts_saved = 0;
};

struct CaptureContext {
  const Clock& clock;
  const IdMaker& ids;
  // Says no, or sets grpc_address to the one address that may be connected to; empty: as given.
  std::function<Status(Target&)> admit = {};
};

// Everything that can be said about a request without touching network or disk. Errors:
// CAPTURE_NO_TARGET, CAPTURE_BAD_TARGET, CAPTURE_TOO_MANY_TARGETS, CAPTURE_BAD_DURATION,
// CAPTURE_BAD_NAME, CAPTURE_BAD_OPTION.
Status CheckCaptureRequest(const CaptureRequest& request);

// The longest that Capture can take: the time limit for an operation around it.
int64_t MaxCaptureMs(const CaptureRequest& request);

// Errors before anything is sent: those of CheckCaptureRequest, CAPTURE_ROOT and
// CAPTURE_SESSION_EXISTS. When no target gave anything: CAPTURE_NOTHING_SAVED with each cause, or
// CAPTURE_CANCELLED. With at least one file the result is OK, after a cancel too. `on_progress`
// runs on the calling thread, at least every 200 ms and once at the end, with the final states.
Result<CaptureResult> Capture(const CaptureRequest& request, const CaptureContext& context,
                              const CancelToken& cancel,
                              const std::function<void(const CaptureProgress&)>& on_progress);

}  // namespace strobe::capture
