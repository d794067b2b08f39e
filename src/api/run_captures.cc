#include "src/api/run_captures.h"

#include <algorithm>
#include <chrono>

#include "src/api/operation_progress.h"
#include "src/api/session_lookup.h"
#include "src/api/v1alpha_support.h"
#include "src/base/json_writer.h"
#include "src/base/log.h"
#include "src/catalog/time_text.h"

namespace strobe::api {

using capture::TargetProgress;
using capture::TargetState;
using catalog::Operation;
using catalog::ProfilerSession;
using catalog::Transaction;

namespace {

// The keeper looks this often what has to be written.
constexpr std::chrono::milliseconds kTick{250};
// A catalogue that is away for a moment does not lose the end of a capture.
constexpr int kMaxEndTries = 5;
constexpr int64_t kMsNs = 1'000'000;

catalog::Key OperationKeyOf(const RunCapturePlan& plan) {
  return {plan.session.project, plan.session.location, "", plan.operation};
}
catalog::Key RunKeyOf(const RunCapturePlan& plan) {
  return {plan.session.project, plan.session.location, "", plan.session.run};
}

bool IsOver(TargetState state) {
  return state == TargetState::kSaved || state == TargetState::kEmpty ||
         state == TargetState::kFailed || state == TargetState::kCancelled;
}

Status Interrupted() {
  return Status(StatusCode::kAborted, "OPERATION_INTERRUPTED",
                "The server was stopped before the capture was over.");
}

bool AllSucceeded(const std::vector<TargetSession>& targets) {
  return std::all_of(targets.begin(), targets.end(),
                     [](const TargetSession& target) { return target.phase == "SUCCEEDED"; });
}

}  // namespace

// One capture that runs here. The mutex guards what both its thread and the keeper use.
struct RunCaptures::Running {
  explicit Running(RunCapturePlan given) : plan(std::move(given)) {}
  const RunCapturePlan plan;
  std::string queue_id;  // set once, before anybody else sees it

  std::mutex mutex;
  capture::CaptureProgress progress;
  std::vector<TargetSession> targets;  // parallel to those of the plan
  std::vector<bool> whole;             // saved before anybody cancelled
  bool cancel_asked = false;
  bool changed = true;  // some target's phase
  int64_t written_ns = 0;
};

struct RunCaptures::State {
  explicit State(Parts given) : parts(std::move(given)) {}
  const Parts parts;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::shared_ptr<Running>> ongoing;  // by operation
  bool stopping = false;

  void TakeProgress(Running& running, const capture::CaptureProgress& progress, bool cancelled);
  void Write(Running& running);
  void End(Running& running, const Result<capture::CaptureResult>& result, bool cancelled);
  Status WriteEnd(Running& running, const Result<capture::CaptureResult>& result, bool cancelled);
  // Why a capture that was stopped was stopped.
  Status WhyStopped(Running& running);
  std::vector<TargetSession> FinalTargets(Running& running,
                                          const Result<capture::CaptureResult>& result,
                                          bool cancelled);
};

namespace {

std::string ProgressJson(const RunCapturePlan& plan, const capture::CaptureProgress& progress) {
  JsonWriter json;
  json.BeginObject();
  json.Key("stage").String(CaptureStageOf(progress.targets));
  json.Key("elapsed").String(catalog::FormatDuration(progress.elapsed_ms * kMsNs));
  json.Key("duration").String(catalog::FormatDuration(plan.request.duration_ms * kMsNs));
  json.Key("steps").BeginArray();
  for (size_t i = 0; i < plan.targets.size(); ++i) {
    const TargetProgress target =
        i < progress.targets.size() ? progress.targets[i] : TargetProgress{};
    json.BeginObject();
    const bool waiting = target.state == TargetState::kConnecting;
    json.Key("state").String(waiting ? "WAITING" : IsOver(target.state) ? "DONE" : "IN_PROGRESS");
    json.Key("target").String(plan.targets[i]);
    json.Key("stage").String(capture::TargetStateName(target.state));
    json.Key("receivedBytes").String(std::to_string(target.received_bytes));
    if (!target.message.empty()) json.Key("message").String(target.message);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.TakeText();
}

}  // namespace

void RunCaptures::State::TakeProgress(Running& running, const capture::CaptureProgress& progress,
                                      bool cancelled) {
  const int64_t now = parts.clock->NowUnixNanos();
  const std::lock_guard lock(running.mutex);
  running.progress = progress;
  for (size_t i = 0; i < running.targets.size() && i < progress.targets.size(); ++i) {
    const TargetProgress& from = progress.targets[i];
    TargetSession& to = running.targets[i];
    const bool over = IsOver(from.state);
    // What is saved is the session's only once the whole session is published.
    std::string phase = from.state == TargetState::kConnecting ? "PENDING" : "ACTIVE";
    if (over && from.state != TargetState::kSaved) {
      phase = from.state == TargetState::kCancelled ? "CANCELLED" : "FAILED";
    } else if (cancelled && !over) {
      phase = "CANCELLING";
    }
    if (from.state == TargetState::kSaved && !cancelled) running.whole[i] = true;
    if (from.state != TargetState::kConnecting && to.start_unix_ns == 0) to.start_unix_ns = now;
    if (over && to.end_unix_ns == 0) to.end_unix_ns = now;
    running.changed = running.changed || phase != to.phase;
    to.phase = std::move(phase);
  }
}

// Lease, progress and phases, when it is time. A session that somebody deleted stays deleted.
void RunCaptures::State::Write(Running& running) {
  std::vector<TargetSession> targets;
  std::string progress;
  bool with_session = false;
  {
    const std::lock_guard lock(running.mutex);
    const int64_t now = parts.clock->MonotonicNanos();
    const int64_t since = now - running.written_ns;
    if (running.written_ns != 0 && since < (running.changed ? kWriteEveryNs : kRenewEveryNs)) {
      return;
    }
    with_session = running.changed;
    running.changed = false;
    running.written_ns = now;
    targets = running.targets;
    progress = ProgressJson(running.plan, running.progress);
  }
  bool stop = false;
  const Status written = parts.catalog->Write([&](Transaction& transaction) -> Status {
    stop = false;
    STROBE_ASSIGN_OR_RETURN(std::optional<Operation> operation,
                            transaction.Find<Operation>(OperationKeyOf(running.plan)));
    // Ended by another server, which took this one for dead.
    if (!operation || operation->done != 0) {
      stop = true;
      return OkStatus();
    }
    stop = operation->cancel_requested != 0;
    operation->lease_unix_ns = transaction.clock().NowUnixNanos() + catalog::kLeaseNs;
    operation->progress = progress;
    STROBE_RETURN_IF_ERROR(transaction.Update(*operation));
    if (!with_session) return OkStatus();
    STROBE_ASSIGN_OR_RETURN(std::optional<ProfilerSession> session,
                            transaction.Find<ProfilerSession>(running.plan.session));
    if (!session) return OkStatus();
    SetTargetSessions(targets, transaction.clock().NowUnixNanos(), &*session);
    session->etag = catalog::MakeUuid(transaction.random());
    return transaction.Update(*session);
  });
  if (!written.ok()) LogWarning("run_capture.not_noted", {{"reason", written.ToString()}});
  if (written.ok() && stop) {
    {
      const std::lock_guard lock(running.mutex);
      running.cancel_asked = true;
    }
    (void)parts.operations->Cancel(running.queue_id);
  }
}

std::vector<TargetSession> RunCaptures::State::FinalTargets(
    Running& running, const Result<capture::CaptureResult>& result, bool cancelled) {
  const int64_t now = parts.clock->NowUnixNanos();
  const std::lock_guard lock(running.mutex);
  std::vector<TargetSession> targets = running.targets;
  const std::vector<TargetProgress>& ends =
      result.ok() ? result->targets : running.progress.targets;
  for (size_t i = 0; i < targets.size(); ++i) {
    TargetSession& target = targets[i];
    const TargetProgress end = i < ends.size() ? ends[i] : TargetProgress{};
    target.message = end.message;
    if (!end.hint.empty()) target.message += (target.message.empty() ? "" : " ") + end.hint;
    if (target.end_unix_ns == 0) target.end_unix_ns = now;
    const bool saved = result.ok() && end.state == TargetState::kSaved;
    if (saved && (running.whole[i] || !cancelled)) {
      target.phase = "SUCCEEDED";
    } else if (saved || (cancelled && end.state != TargetState::kFailed &&
                         end.state != TargetState::kEmpty)) {
      target.phase = "CANCELLED";
      target.error_code = catalog::RpcCodeOf(StatusCode::kCancelled);
    } else {
      target.phase = "FAILED";
      const StatusCode code = result.ok() ? StatusCode::kUnavailable : result.status().code();
      target.error_code = catalog::RpcCodeOf(code);
      if (target.message.empty() && !result.ok()) target.message = result.status().message();
    }
  }
  return targets;
}

Status RunCaptures::State::WhyStopped(Running& running) {
  bool asked = false;
  {
    const std::lock_guard lock(running.mutex);
    asked = running.cancel_asked;
  }
  bool server_stops = false;
  {
    const std::lock_guard lock(mutex);
    server_stops = stopping;
  }
  if (!asked && server_stops) return Interrupted();
  const Result<queue::OperationState> shown = parts.operations->Get(running.queue_id);
  if (asked || (shown.ok() && shown->cancelled)) {
    return CancelledError("OPERATION_CANCELLED",
                          "The capture was cancelled; what was recorded before is kept.");
  }
  return DeadlineExceededError("OPERATION_DEADLINE",
                               "The capture did not end within its time limit.");
}

Status RunCaptures::State::WriteEnd(Running& running, const Result<capture::CaptureResult>& result,
                                    bool cancelled) {
  const std::vector<TargetSession> targets = FinalTargets(running, result, cancelled);
  const bool stopped = cancelled && !AllSucceeded(targets);
  const Status why = stopped ? WhyStopped(running) : OkStatus();
  std::string progress;
  {
    const std::lock_guard lock(running.mutex);
    if (result.ok()) running.progress.targets = result->targets;
    progress = ProgressJson(running.plan, running.progress);
  }
  return parts.catalog->Write([&](Transaction& transaction) -> Status {
    const int64_t now = transaction.clock().NowUnixNanos();
    STROBE_ASSIGN_OR_RETURN(std::optional<ProfilerSession> session,
                            transaction.Find<ProfilerSession>(running.plan.session));
    if (session) {
      SetTargetSessions(targets, now, &*session);
      session->etag = catalog::MakeUuid(transaction.random());
      STROBE_RETURN_IF_ERROR(transaction.Update(*session));
    }
    STROBE_ASSIGN_OR_RETURN(std::optional<Operation> operation,
                            transaction.Find<Operation>(OperationKeyOf(running.plan)));
    if (!operation || operation->done != 0) return OkStatus();
    operation->progress = progress;
    if (stopped) {
      catalog::Fail(now, why, &*operation);
    } else if (!result.ok() || !session) {
      catalog::Fail(now,
                    !result.ok() ? result.status()
                                 : NotFoundError("PROFILER_SESSION_NOT_FOUND",
                                                 "The session was deleted meanwhile."),
                    &*operation);
    } else {
      const ChildContext child{.storage_path = running.plan.storage_path,
                               .base_url = running.plan.base_url};
      catalog::Finish(now, TypedJson(SessionJson(*session, child), "ProfilerSession"), &*operation);
    }
    return transaction.Update(*operation);
  });
}

void RunCaptures::State::End(Running& running, const Result<capture::CaptureResult>& result,
                             bool cancelled) {
  if (result.ok() && parts.scan_run) {
    const Status scanned = parts.scan_run(RunKeyOf(running.plan));
    if (!scanned.ok()) LogWarning("run_capture.not_scanned", {{"reason", scanned.ToString()}});
  }
  Status written;
  for (int i = 0; i < kMaxEndTries; ++i) {
    written = WriteEnd(running, result, cancelled);
    if (written.ok() || written.code() != StatusCode::kUnavailable) break;
  }
  // The lease lapses, and a keeper ends the operation.
  if (!written.ok()) LogWarning("run_capture.end_not_noted", {{"reason", written.ToString()}});
  const std::lock_guard lock(mutex);
  ongoing.erase(running.plan.operation);
  changed.notify_all();
}

RunCaptures::RunCaptures(Parts parts) : state_(std::make_shared<State>(std::move(parts))) {
  STROBE_CHECK(state_->parts.catalog != nullptr && state_->parts.operations != nullptr &&
               state_->parts.clock != nullptr && state_->parts.capture);
}

RunCaptures::~RunCaptures() { Stop(); }

void RunCaptures::Start() {
  STROBE_CHECK(!keeper_.joinable());
  keeper_ = std::thread([this] { Loop(); });
}

void RunCaptures::Stop() {
  std::vector<std::string> queue_ids;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    for (const auto& [operation, running] : state_->ongoing) queue_ids.push_back(running->queue_id);
  }
  state_->changed.notify_all();
  for (const std::string& id : queue_ids) (void)state_->parts.operations->Cancel(id);
  if (keeper_.joinable()) keeper_.join();
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->ongoing.empty(); });
}

Status RunCaptures::Work(const std::shared_ptr<State>& state,
                         const std::shared_ptr<Running>& running, queue::OperationHandle& handle) {
  const Result<capture::CaptureResult> result =
      state->parts.capture(running->plan.request, running->plan.operation, handle.cancel(),
                           [&](const capture::CaptureProgress& progress) {
                             state->TakeProgress(*running, progress, handle.cancel().cancelled());
                             ShowCaptureProgress(progress, handle);
                           });
  if (result.ok()) {
    handle.Update([&result](queue::OperationState& shown) {
      shown.stage = "done";
      shown.result = {{"session_name", result->session_name},
                      {"hosts_saved", std::to_string(result->hosts_saved)}};
    });
  }
  const bool cancelled = handle.cancel().cancelled();
  state->End(*running, result, cancelled);
  return result.ok() ? OkStatus() : result.status();
}

void RunCaptures::Launch(RunCapturePlan plan) {
  auto running = std::make_shared<Running>(std::move(plan));
  std::vector<queue::OperationTarget> shown;
  for (size_t i = 0; i < running->plan.targets.size(); ++i) {
    running->targets.push_back({running->plan.targets[i], "PENDING"});
    running->whole.push_back(false);
    queue::OperationTarget target;
    target.target = running->plan.request.targets[i];
    target.state = "connecting";
    shown.push_back(std::move(target));
  }
  Status refused = OkStatus();
  {
    // Held, so that the work cannot end before it is in the map.
    const std::lock_guard lock(state_->mutex);
    if (state_->stopping) {
      refused = Interrupted();
    } else {
      const Result<std::string> id = state_->parts.operations->Start(
          "capture", capture::MaxCaptureMs(running->plan.request), std::move(shown),
          [state = state_, running](queue::OperationHandle& handle) {
            {
              const std::lock_guard wait(state->mutex);
            }
            return Work(state, running, handle);
          },
          running->plan.session.project);
      if (id.ok()) {
        running->queue_id = *id;
        state_->ongoing[running->plan.operation] = running;
        return;
      }
      refused = id.status();
    }
  }
  state_->End(*running, refused, /*cancelled=*/false);
}

void RunCaptures::Cancel(const std::string& operation) {
  std::shared_ptr<Running> running;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->ongoing.find(operation);
    if (found == state_->ongoing.end()) return;
    running = found->second;
  }
  {
    const std::lock_guard lock(running->mutex);
    running->cancel_asked = true;
  }
  (void)state_->parts.operations->Cancel(running->queue_id);
}

void RunCaptures::Loop() {
  int64_t looked_ns = 0;
  while (true) {
    KeepOnce();
    const int64_t now_ns = state_->parts.clock->MonotonicNanos();
    if (looked_ns == 0 || now_ns - looked_ns > kLookForLapsedNs) {
      looked_ns = now_ns;
      EndLapsed();
    }
    std::unique_lock lock(state_->mutex);
    if (state_->changed.wait_for(lock, kTick, [this] { return state_->stopping; })) return;
  }
}

void RunCaptures::KeepOnce() {
  std::vector<std::shared_ptr<Running>> running;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [operation, each] : state_->ongoing) running.push_back(each);
  }
  for (const std::shared_ptr<Running>& each : running) state_->Write(*each);
}

void RunCaptures::EndLapsed() {
  std::vector<std::pair<std::string, std::string>> left;  // place, staging
  std::vector<Operation> lapsed;
  const Status read = state_->parts.catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(lapsed, catalog::LapsedOperations(transaction, kMaxLapsedAtOnce));
    return OkStatus();
  });
  if (!read.ok()) LogWarning("run_capture.not_looked", {{"reason", read.ToString()}});
  if (lapsed.empty()) return;
  const Status ended = state_->parts.catalog->Write([&](Transaction& transaction) -> Status {
    left.clear();
    STROBE_ASSIGN_OR_RETURN(lapsed, catalog::LapsedOperations(transaction, kMaxLapsedAtOnce));
    const int64_t now = transaction.clock().NowUnixNanos();
    for (Operation& operation : lapsed) {
      const Status why = Interrupted();
      catalog::Fail(now, why, &operation);
      STROBE_RETURN_IF_ERROR(transaction.Update(operation));
      STROBE_ASSIGN_OR_RETURN(
          std::vector<ProfilerSession> sessions,
          transaction.Select<ProfilerSession>(
              "project = ? AND location = ? AND run = ? AND operation = ?",
              {operation.project, operation.location, operation.run, operation.id}, 1));
      for (ProfilerSession& session : sessions) {
        EndTargetSessions("FAILED", operation.error_code, why.message(), now, &session);
        session.etag = catalog::MakeUuid(transaction.random());
        STROBE_RETURN_IF_ERROR(transaction.Update(session));
      }
      STROBE_ASSIGN_OR_RETURN(const std::optional<catalog::Run> run,
                              transaction.Find<catalog::Run>(
                                  {operation.project, operation.location, "", operation.run}));
      if (run) left.emplace_back(run->storage_path, operation.id);
    }
    return OkStatus();
  });
  if (!ended.ok()) {
    LogWarning("run_capture.lapsed_not_ended", {{"reason", ended.ToString()}});
    return;
  }
  for (const auto& [place, staging] : left) {
    LogInfo("run_capture.lapsed", {{"operation", staging}});
    if (state_->parts.remove_staged) state_->parts.remove_staged(place, staging);
  }
}

}  // namespace strobe::api
