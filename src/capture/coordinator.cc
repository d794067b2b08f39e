#include "src/capture/coordinator.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "src/base/log.h"

namespace strobe::capture {
namespace {

// How often waiting targets are looked at.
constexpr int64_t kTickMs = 20;
constexpr int64_t kReportPeriodMs = 100;
// Several targets: how long the quick ones wait for the slow ones to be connected ...
constexpr int64_t kGatherMs = 1'000;
// ... and how far ahead the common start lies: enough for the request to arrive everywhere, and
// short, because a target that waits for its start time listens to nobody.
constexpr int64_t kStartLeadMs = 1'000;
constexpr int64_t kFirstPauseMs = 200;
constexpr int64_t kMaxPauseMs = 2'000;
// Terminate before the recording has begun may go unheard, so it is repeated.
constexpr int64_t kTerminateRepeatMs = 1'000;
constexpr int64_t kAfterStartMs = 50;
// Collecting takes up to 4 x the recording in a heavy job (seen: 12 s recorded, 50 s until
// answered).
constexpr int64_t kCollectFactor = 5;

// Which targets this program is recording right now, to say who holds one that is busy.
class OwnCaptures {
 public:
  static OwnCaptures& Get() {
    static auto* const own = new OwnCaptures;
    return *own;
  }
  void Add(const std::string& authority, const std::string& session) {
    std::lock_guard lock(mutex_);
    sessions_[authority].insert(session);
  }
  void Remove(const std::string& authority, const std::string& session) {
    std::lock_guard lock(mutex_);
    const auto found = sessions_.find(authority);
    if (found == sessions_.end()) return;
    found->second.erase(session);
    if (found->second.empty()) sessions_.erase(found);
  }
  // Another session of ours that records there, or empty.
  std::string HolderBeside(const std::string& authority, const std::string& session) {
    std::lock_guard lock(mutex_);
    const auto found = sessions_.find(authority);
    if (found == sessions_.end()) return "";
    for (const std::string& other : found->second) {
      if (other != session) return other;
    }
    return "";
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> sessions_;
};

std::string Seconds(int64_t milliseconds) {
  const int64_t tenths = (milliseconds + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string Quoted(const std::string& text) {
  return text.empty() ? std::string() : " (it says: \"" + text + "\")";
}

// The common reasons in plain words; gRPC's own text for the others.
std::string WhyUnreachable(const std::string& text) {
  const auto says = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (says("Connection refused")) return ": nobody listens there (connection refused).";
  if (says("DNS resolution failed")) return ": its name is not known (DNS).";
  if (says("No route to host") || says("Network is unreachable")) {
    return ": there is no way to it through the network.";
  }
  return Quoted(text) + ".";
}

}  // namespace

Coordinator::Coordinator(const CaptureRequest& request, std::vector<Target> targets,
                         SessionWriter writer, const CaptureContext& context,
                         const CancelToken& cancel,
                         const std::function<void(const CaptureProgress&)>& on_progress)
    : request_(request),
      writer_(std::move(writer)),
      session_id_(writer_.session_name()),
      context_(context),
      cancel_(cancel),
      on_progress_(on_progress),
      begin_ms_(context.clock.MonotonicNanos() / 1'000'000) {
  runs_.resize(targets.size());
  progress_.duration_ms = request.duration_ms;
  progress_.targets.resize(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    progress_.targets[i].target = targets[i].text;
    runs_[i].target = std::move(targets[i]);
  }
}

Coordinator::~Coordinator() {
  for (const TargetRun& run : runs_) {
    OwnCaptures::Get().Remove(run.target.authority, session_id_);
  }
}

int64_t Coordinator::NowMs() const {
  return context_.clock.MonotonicNanos() / 1'000'000 - begin_ms_;
}

void Coordinator::Run() {
  for (TargetRun& run : runs_) {
    run.channel = ProfilerChannel::Open(run.target, request_.connect_timeout_ms);
    run.channel->link();  // begins to connect
  }
  while (!AllEnded()) {
    Tick();
    Report(/*always=*/false);
    TakeOutcomes(AllEnded() ? 0 : kTickMs);
  }
  WarnOfSharedProcesses();
  if (hosts_saved_ == 0) writer_.RemoveIfEmpty();
  Report(/*always=*/true);
}

bool Coordinator::AllEnded() const {
  return std::all_of(runs_.begin(), runs_.end(),
                     [](const TargetRun& run) { return run.phase == Phase::kEnded; });
}

void Coordinator::Tick() {
  const int64_t now_ms = NowMs();
  if (cancel_.cancelled()) TickCancel(now_ms);
  TickConnecting(now_ms);
  for (size_t i = 0; i < runs_.size(); ++i) {
    TargetRun& run = runs_[i];
    if (run.phase == Phase::kPausing && now_ms >= run.retry_at_ms) StartCall(i, now_ms);
    if (run.phase == Phase::kCalling) TickCalling(i, now_ms);
  }
}

void Coordinator::TickConnecting(int64_t now_ms) {
  std::vector<Link> links(runs_.size(), Link::kFailed);
  bool any = false;
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].phase != Phase::kConnecting) continue;
    links[i] = runs_[i].channel->link();
    // A call over a failed connection ends at once and says what was wrong.
    if (links[i] == Link::kFailed) StartCall(i, now_ms);
    any = any || links[i] != Link::kFailed;
  }
  if (!any || !ReadyToStart(now_ms, links)) return;
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].phase != Phase::kConnecting) continue;
    if (links[i] == Link::kReady) {
      StartCall(i, now_ms);
    } else if (now_ms >= request_.connect_timeout_ms) {
      End(i, TargetState::kFailed,
          "No connection within " + Seconds(request_.connect_timeout_ms) + ".",
          "Is the address right and reachable from here (network policy, firewall), and does a "
          "profiler server listen there?");
    }
  }
}

// Whether calls may be sent; sets the common start the first time that they may.
bool Coordinator::ReadyToStart(int64_t now_ms, const std::vector<Link>& links) {
  if (started_) return true;
  const auto ready = std::count(links.begin(), links.end(), Link::kReady);
  const auto waiting = std::count(links.begin(), links.end(), Link::kConnecting);
  const int64_t gather_ms = std::min(kGatherMs, request_.connect_timeout_ms);
  if (waiting > 0 && (now_ms < gather_ms || ready == 0)) {
    return now_ms >= request_.connect_timeout_ms;
  }
  started_ = true;
  if (ready + waiting > 1) {
    start_at_ms_ = now_ms + kStartLeadMs;
    start_unix_ns_ = context_.clock.NowUnixNanos() + kStartLeadMs * 1'000'000;
  }
  return true;
}

void Coordinator::StartCall(size_t i, int64_t now_ms) {
  TargetRun& run = runs_[i];
  const int64_t lead_ms = std::max<int64_t>(0, start_at_ms_ - now_ms);
  const bool late = start_at_ms_ > 0 && lead_ms == 0;
  run.connected = run.channel->link() == Link::kReady;
  run.phase = Phase::kCalling;
  run.record_from_ms = now_ms + lead_ms;
  if (run.pause_ms == 0 && late) {
    Shown(i).message =
        "It was connected late: it starts " + Seconds(now_ms - start_at_ms_) + " after the others.";
  }
  ProfileCall call{.duration_ms = request_.duration_ms,
                   .start_unix_ns = lead_ms > 0 ? start_unix_ns_ : 0,
                   .session_id = session_id_,
                   .host_name = run.target.file_host_port(),
                   .host_tracer_level = request_.host_tracer_level,
                   .device_tracer_level = request_.device_tracer_level,
                   .python_tracer_level = request_.python_tracer_level,
                   .options = request_.options};
  const int64_t deadline_ms =
      request_.answer_grace_ms + kCollectFactor * request_.duration_ms + lead_ms;
  OwnCaptures::Get().Add(run.target.authority, session_id_);
  run.channel->StartProfile(call, deadline_ms, [mailbox = mailbox_, i](CallOutcome outcome) {
    {
      std::lock_guard lock(mailbox->mutex);
      mailbox->outcomes.emplace_back(i, std::move(outcome));
    }
    mailbox->filled.notify_one();
  });
}

void Coordinator::TickCalling(size_t i, int64_t now_ms) {
  TargetRun& run = runs_[i];
  if (!run.connected) return;  // its call is about to say why
  const TargetState before = Shown(i).state;
  // Refused and busy calls come back within milliseconds: do not flash "recording" for them.
  const bool settled = now_ms >= run.record_from_ms + kAfterStartMs;
  if (run.terminated || now_ms >= run.record_from_ms + request_.duration_ms) {
    Shown(i).state = TargetState::kCollecting;
  } else if (settled) {
    Shown(i).state = TargetState::kRecording;
    if (run.pause_ms > 0) Shown(i).message.clear(), Shown(i).hint.clear();
  }
  if (Shown(i).state != before) state_changed_ = true;
}

void Coordinator::TickCancel(int64_t now_ms) {
  if (cancelled_at_ms_ < 0) {
    cancelled_at_ms_ = now_ms;
    LogInfo("capture.cancel", {{"session", session_id_}, {"elapsed_ms", now_ms}});
  }
  for (size_t i = 0; i < runs_.size(); ++i) {
    TargetRun& run = runs_[i];
    if (run.phase == Phase::kConnecting || run.phase == Phase::kPausing) {
      End(i, TargetState::kCancelled, "Cancelled before the recording began.", "");
      continue;
    }
    if (run.phase != Phase::kCalling) continue;
    if (!run.terminated) {
      run.terminated = true;
      run.terminated_after_ms =
          std::clamp<int64_t>(now_ms - run.record_from_ms, 0, request_.duration_ms);
      run.terminate_at_ms = std::max(now_ms, run.record_from_ms + kAfterStartMs);
    }
    if (now_ms >= run.terminate_at_ms) {
      run.channel->Terminate(session_id_);
      run.terminate_at_ms = now_ms + kTerminateRepeatMs;
    }
    const int64_t patience_ms =
        request_.answer_grace_ms + kCollectFactor * run.terminated_after_ms + kStartLeadMs;
    if (now_ms >= cancelled_at_ms_ + patience_ms) run.channel->DropProfile();
  }
}

void Coordinator::TakeOutcomes(int64_t wait_ms) {
  std::deque<std::pair<size_t, CallOutcome>> outcomes;
  {
    std::unique_lock lock(mailbox_->mutex);
    mailbox_->filled.wait_for(lock, std::chrono::milliseconds(wait_ms),
                              [this] { return !mailbox_->outcomes.empty(); });
    outcomes.swap(mailbox_->outcomes);
  }
  // All of them are shown as arrived before the first is written.
  for (const auto& [i, outcome] : outcomes) {
    if (outcome.bytes != nullptr) Shown(i).received_bytes = outcome.bytes->size_bytes();
  }
  while (!outcomes.empty()) {
    auto [i, outcome] = std::move(outcomes.front());
    outcomes.pop_front();  // its bytes are freed as soon as they are written
    HandleOutcome(i, std::move(outcome));
  }
}

void Coordinator::HandleOutcome(size_t i, CallOutcome outcome) {
  if (outcome.code != CallCode::kOk) {
    OwnCaptures::Get().Remove(runs_[i].target.authority, session_id_);
  }
  switch (outcome.code) {
    case CallCode::kOk:
      HandleAnswer(i, outcome);
      break;
    case CallCode::kBusy:
      HandleBusy(i);
      break;
    default:
      HandleFailure(i, outcome);
      break;
  }
}

void Coordinator::HandleBusy(size_t i) {
  TargetRun& run = runs_[i];
  const std::string own = OwnCaptures::Get().HolderBeside(run.target.authority, session_id_);
  const std::string holder = own.empty() ? "(by this or another tool, or by the job itself)"
                                         : "(by this program: session " + own + ")";
  Shown(i).message = "busy: another profile is being taken " + holder + ".";
  Shown(i).hint =
      "Wait until it ends and try again. If nobody else captures, the job itself is inside "
      "start_trace() or records continuously.";
  const int64_t now_ms = NowMs();
  run.pause_ms = run.pause_ms == 0 ? kFirstPauseMs : std::min(2 * run.pause_ms, kMaxPauseMs);
  if (cancel_.cancelled()) {
    End(i, TargetState::kCancelled, "Cancelled while the target was busy.", "");
  } else if (now_ms + run.pause_ms > request_.connect_timeout_ms) {
    End(i, TargetState::kFailed, Shown(i).message, Shown(i).hint);
  } else {
    run.phase = Phase::kPausing;
    run.retry_at_ms = now_ms + run.pause_ms;
    Shown(i).state = TargetState::kConnecting;
    state_changed_ = true;
  }
}

void Coordinator::HandleFailure(size_t i, const CallOutcome& outcome) {
  const TargetRun& run = runs_[i];
  const bool recording = run.connected && Shown(i).state != TargetState::kConnecting;
  const int64_t waited_ms = std::max<int64_t>(0, NowMs() - run.record_from_ms);
  switch (outcome.code) {
    case CallCode::kCancelled:
      if (run.terminated) {
        End(i, TargetState::kCancelled, "Cancelled; the target did not give what it had recorded.",
            "");
        return;
      }
      End(i, TargetState::kFailed,
          "The target gave the recording up" + Quoted(outcome.message) + ".",
          "Try again; see the job's own log for the reason.");
      return;
    case CallCode::kDeadline:
      End(i, TargetState::kFailed, "No answer " + Seconds(waited_ms) + " after the start.",
          "The job may hang, or have far more events than it can collect in that time: record "
          "for a shorter time, or with a lower host tracer level.");
      return;
    case CallCode::kUnimplemented:
      End(i, TargetState::kFailed,
          "Something answers there, but it is not a profiler server" + Quoted(outcome.message) +
              ".",
          "Name the port given to jax.profiler.start_server(port).");
      return;
    case CallCode::kUnavailable:
      if (recording) {
        End(i, TargetState::kFailed,
            "The connection was lost " + Seconds(waited_ms) + " after the start" +
                Quoted(outcome.message) + ".",
            "The job has probably ended or was killed; what it had recorded is lost.");
      } else {
        End(i, TargetState::kFailed, "It cannot be reached" + WhyUnreachable(outcome.message),
            "Is the job running, and did it call jax.profiler.start_server() with this port?");
      }
      return;
    default:
      End(i, TargetState::kFailed, "The target refused" + Quoted(outcome.message) + ".",
          "See the job's own log for the reason.");
      return;
  }
}

void Coordinator::HandleAnswer(size_t i, const CallOutcome& outcome) {
  const ByteChain chain(outcome.bytes->pieces());
  const Result<Answer> answer = ReadAnswer(chain);
  if (!answer.ok()) {
    LogWarning("capture.bad_answer",
               {{"target", runs_[i].target.authority}, {"error", answer.status().ToString()}});
    End(i, TargetState::kFailed,
        std::string(answer.status().message()) + " (" + std::string(answer.status().where()) + ")",
        std::string(answer.status().hint()));
    return;
  }
  if (answer->xspace_bytes == 0 && answer->tool_data_count > 0) {
    End(i, TargetState::kFailed,
        "The target answered with tool data of an old kind instead of a profile.",
        "It runs a version from before profiles were sent in the answer; let the job write the "
        "profile itself and open it from there.");
    return;
  }
  if (!answer->has_events) {
    const bool cancelled = runs_[i].terminated;
    End(i, cancelled ? TargetState::kCancelled : TargetState::kEmpty,
        cancelled ? "Cancelled before anything was recorded."
                  : "Nothing happened in the job while it was recorded; nothing was written.",
        cancelled ? ""
                  : "The job was idle or waiting. Record for longer, or while it runs steps; with "
                    "every tracer level at 0 nothing is recorded.");
    return;
  }
  Save(i, chain, *answer);
}

void Coordinator::Save(size_t i, const ByteChain& chain, const Answer& answer) {
  TargetRun& run = runs_[i];
  Shown(i).state = TargetState::kCollecting;
  const auto local = std::count_if(runs_.begin(), runs_.end(),
                                   [](const TargetRun& other) { return other.target.is_loopback; });
  const auto same_host = std::count_if(runs_.begin(), runs_.end(), [&](const TargetRun& other) {
    return other.target.host == run.target.host;
  });
  const bool add_port = same_host > 1 || (run.target.is_loopback && local > 1);
  const std::string name = writer_.ClaimHostName(run.target, answer.hostnames, add_port);
  const Result<std::string> file =
      writer_.SaveHost(name, chain, answer.xspace, [this] { Report(/*always=*/false); });
  if (!file.ok()) {
    LogError("capture.not_saved",
             {{"target", run.target.authority}, {"error", file.status().ToString()}});
    End(i, TargetState::kFailed,
        "The profile came, but could not be written: " + std::string(file.status().message()),
        std::string(file.status().hint()));
    return;
  }
  ++hosts_saved_;
  run.hostnames = answer.hostnames;
  run.process_ids = answer.process_ids;
  Shown(i).file = *file;
  End(i, TargetState::kSaved, Remarks(i, answer), "");
}

// What is odd about a profile that was saved.
std::string Coordinator::Remarks(size_t i, const Answer& answer) const {
  const TargetRun& run = runs_[i];
  std::vector<std::string> remarks;
  if (run.terminated) {
    remarks.push_back("Stopped after " + Seconds(run.terminated_after_ms) + " of " +
                      Seconds(request_.duration_ms) + ".");
  } else if (const std::string& shown = progress_.targets[i].message; !shown.empty()) {
    remarks.push_back(shown);
  }
  const auto first_part = [](const std::string& name) { return name.substr(0, name.find('.')); };
  if (run.target.is_name && !run.target.is_loopback && !answer.hostnames.empty() &&
      first_part(answer.hostnames[0]) != first_part(run.target.host)) {
    remarks.push_back("The machine that answered calls itself " +
                      CleanText(answer.hostnames[0], 100) + ".");
  }
  if (answer.process_ids.size() > 1) {
    remarks.push_back("It holds the data of " + std::to_string(answer.process_ids.size()) +
                      " processes.");
  }
  for (const std::string& note : answer.notes) remarks.push_back("The profiler says: " + note);
  std::string joined;
  for (const std::string& remark : remarks) joined += (joined.empty() ? "" : " ") + remark;
  return joined;
}

// Two listeners may share one port, and then any of them answers: two targets, one process.
void Coordinator::WarnOfSharedProcesses() {
  std::map<std::string, std::vector<size_t>> answered;
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].process_ids.empty()) continue;
    const std::string machine = runs_[i].hostnames.empty() ? "" : runs_[i].hostnames[0];
    answered[machine + "/" + std::to_string(runs_[i].process_ids[0])].push_back(i);
  }
  for (const auto& [process, targets] : answered) {
    if (targets.size() < 2) continue;
    for (const size_t i : targets) {
      const size_t other = targets[0] == i ? targets[1] : targets[0];
      TargetProgress& shown = Shown(i);
      shown.message += (shown.message.empty() ? "" : " ");
      shown.message += "Warning: the same process (" + std::to_string(runs_[i].process_ids[0]) +
                       ") answered for " + runs_[other].target.text + " too.";
      shown.hint =
          "Two names of one server, or two servers sharing one port: the profile may be another "
          "job's than the one meant.";
    }
  }
}

void Coordinator::End(size_t i, TargetState state, std::string message, std::string hint) {
  TargetProgress& shown = Shown(i);
  shown.state = state;
  shown.message = std::move(message);
  shown.hint = std::move(hint);
  runs_[i].phase = Phase::kEnded;
  runs_[i].channel.reset();
  OwnCaptures::Get().Remove(runs_[i].target.authority, session_id_);
  state_changed_ = true;
  LogInfo("capture.target", {{"session", session_id_},
                             {"target", runs_[i].target.authority},
                             {"state", TargetStateName(state)},
                             {"received_bytes", shown.received_bytes},
                             {"message", shown.message}});
}

void Coordinator::Report(bool always) {
  const int64_t now_ms = NowMs();
  if (!always && !state_changed_ && now_ms < reported_at_ms_ + kReportPeriodMs) return;
  state_changed_ = false;
  reported_at_ms_ = now_ms;
  progress_.elapsed_ms = now_ms;
  if (on_progress_ != nullptr) on_progress_(progress_);
}

}  // namespace strobe::capture
