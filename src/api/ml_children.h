// What is below a run, between JSON and the catalogue's records: profiler targets, profiler
// sessions, monitored events.
//
//   STROBE_ASSIGN_OR_RETURN(ProfilerSession session, MakeSession(body, key, etag, now));
//   STROBE_RETURN_IF_ERROR(UpdateSession(body, mask, etag, now, &session));
//   SessionJson(session, {.storage_path = run.storage_path, .base_url = "http://host:8080"});
//
// Errors: those of NormalizeMessage and ParseUpdateMask, ETAG_MISMATCH, TARGET_NO_HOSTNAME,
// SESSION_BY_CAPTURE (only a POST begins a capture).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/catalog/resource.h"

namespace strobe::api {

// What answers need besides the record.
struct ChildContext {
  std::string storage_path;  // of the run
  std::string base_url;      // under which the client reached us
};

// An empty id becomes hostname and node index.
Result<catalog::ProfilerTarget> MakeTarget(std::string_view body, const catalog::Key& key,
                                           std::string etag, int64_t now_unix_ns);
std::string TargetJson(const catalog::ProfilerTarget& target);
// The targets that a run's workload names; at most kMaxWorkloadTargets.
inline constexpr size_t kMaxWorkloadTargets = 10'000;
std::vector<catalog::ProfilerTarget> WorkloadTargets(const catalog::Run& run);

Result<catalog::ProfilerSession> MakeSession(std::string_view body, const catalog::Key& key,
                                             std::string etag, int64_t now_unix_ns);
// KIND_ON_DEMAND and the like: a session that begins with a capture of ours.
bool IsCaptureKind(std::string_view kind);
Result<std::string> SessionKindOf(std::string_view body);
Result<catalog::ProfilerSession> MakeCaptureSession(std::string_view body, const catalog::Key& key,
                                                    std::string etag, int64_t now_unix_ns);
Status UpdateSession(std::string_view body, std::string_view update_mask, std::string etag,
                     int64_t now_unix_ns, catalog::ProfilerSession* session);
std::string SessionJson(const catalog::ProfilerSession& session, const ChildContext& context);

// How far the capture of one of a session's targets is.
struct TargetSession {
  std::string target = {};  // as the session names it
  std::string phase = {};   // PENDING, ACTIVE, SUCCEEDED ...
  int64_t start_unix_ns = 0;
  int64_t end_unix_ns = 0;
  int error_code = 0;  // google.rpc.Code; 0: nothing to tell
  std::string message = {};
};
// State, start and end of the session follow.
void SetTargetSessions(const std::vector<TargetSession>& targets, int64_t now_unix_ns,
                       catalog::ProfilerSession* session);
// What was not over ends so; for sessions whose server has gone.
void EndTargetSessions(std::string_view phase, int error_code, std::string_view message,
                       int64_t now_unix_ns, catalog::ProfilerSession* session);

Result<catalog::MonitoredEvent> MakeEvent(std::string_view body, const catalog::Key& key,
                                          std::string etag, int64_t now_unix_ns);
Status UpdateEvent(std::string_view body, std::string_view update_mask, std::string etag,
                   int64_t now_unix_ns, catalog::MonitoredEvent* event);
std::string EventJson(const catalog::MonitoredEvent& event);

}  // namespace strobe::api
