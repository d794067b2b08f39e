// Captures that belong to a run: the session is in the catalogue from the first moment, an
// operation tells how it goes, and what was recorded is found afterwards as the session's.
//
//   RunCaptures captures({.catalog = ..., .operations = ..., .capture = ...});
//   captures.Start();                                   // the keeper; Stop() or the destructor
//   ends it context->run_captures = &captures; Response answer = StartRunCapture(*context, request,
//   key);   // POST .../profilerSessions captures.Cancel(operation_id);                      //
//   what was recorded is kept
//
// Session and operation are made in one transaction; then the work begins. While it goes on, this
// server renews the operation's lease (kLeaseNs) and writes progress at most every kWriteEveryNs.
// An operation whose lease has lapsed was its server's that was killed: the keeper of whatever
// server sees it ends it with OPERATION_INTERRUPTED, and its session's open targets with FAILED.
// Nothing half made is seen meanwhile, because a session is published whole
// (capture/staged_capture.h). A cancel that another server took is found when the lease is renewed.
// At most as many at once as the table of operations runs. Thread-safe. Errors of StartRunCapture:
// RUN_CAPTURE_NOT_OFFERED, RUN_NO_STORAGE, RUN_NO_TARGETS, PROFILER_TARGET_NOT_FOUND,
// CAPTURE_DURATION_MISSING, SWEEP_NOT_ACTIVE, those of PlaceBelowRoots and of
// capture::CheckCaptureRequest.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/api/app.h"
#include "src/api/ml_children.h"
#include "src/catalog/rules.h"

namespace strobe::api {

// Progress is looked at by people: once in this time is enough, and spares the database.
inline constexpr int64_t kWriteEveryNs = 1'000'000'000;
inline constexpr int64_t kRenewEveryNs = catalog::kLeaseNs / 5;
// How often lapsed operations are looked for, and how many are ended at once.
inline constexpr int64_t kLookForLapsedNs = 5'000'000'000;
inline constexpr int64_t kMaxLapsedAtOnce = 100;
// Where a job's profiler listens when nobody says (Google's own default).
inline constexpr int64_t kDefaultProfilerPort = 9999;

struct RunCapturePlan {
  catalog::Key session;
  std::string operation;             // id
  std::string storage_path;          // of the run
  std::string base_url;              // of the client
  capture::CaptureRequest request;   // root: the real place
  std::vector<std::string> targets;  // as the session names them; one for each of the request's
};

class RunCaptures {
 public:
  using Progress = std::function<void(const capture::CaptureProgress&)>;
  struct Parts {
    catalog::Catalog* catalog = nullptr;
    queue::OperationTable* operations = nullptr;
    const Clock* clock = nullptr;
    // `staging` is a name of this capture's own.
    std::function<Result<capture::CaptureResult>(const capture::CaptureRequest&,
                                                 const std::string& staging, const CancelToken&,
                                                 const Progress&)>
        capture = {};
    // Takes away what a killed capture left; may be empty.
    std::function<void(const std::string& place, const std::string& staging)> remove_staged = {};
    // Looks for the run's sessions now; may be empty.
    std::function<Status(const catalog::Key&)> scan_run = {};
  };

  explicit RunCaptures(Parts parts);
  ~RunCaptures();
  RunCaptures(const RunCaptures&) = delete;
  RunCaptures& operator=(const RunCaptures&) = delete;

  void Start();
  // Ends what runs here (what it has is kept) and waits for it.
  void Stop();
  // After the commit of session and operation.
  void Launch(RunCapturePlan plan);
  void Cancel(const std::string& operation);
  // What the keeper does: renews leases and writes progress; ends what has lapsed.
  void KeepOnce();
  void EndLapsed();

 private:
  struct Running;
  struct State;
  static Status Work(const std::shared_ptr<State>& state, const std::shared_ptr<Running>& running,
                     queue::OperationHandle& handle);
  void Loop();

  const std::shared_ptr<State> state_;
  std::thread keeper_;
};

// Makes session and operation, and begins. `key` may lack the id.
Result<Response> StartRunCapture(AppContext& context, const Request& request,
                                 const catalog::Key& key);

// The capture that a session's document asks for; session.id is set. For tests.
Result<RunCapturePlan> PlanRunCapture(catalog::Transaction& transaction, AppContext& context,
                                      const catalog::ProfilerSession& session);

}  // namespace strobe::api
