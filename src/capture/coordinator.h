// Runs one capture over all its targets: connects, starts them together, waits, stores what comes.
//
//   Coordinator coordinator(request, std::move(targets), std::move(writer), context, cancel, show);
//   coordinator.Run();
//   coordinator.progress().targets;   // how each ended
//
// One loop on the calling thread; calls complete on gRPC's threads and are handed over through a
// mailbox. A target goes connecting -> recording -> collecting -> saved | empty | failed |
// cancelled; busy ones are asked again, with a growing pause, until the connect timeout is over.
// Several targets start by one wall-clock time a second ahead (their server waits for it, and
// nothing can stop that wait, so never farther). Cancelling sends Terminate and takes the answer.
// Cost: a look at each waiting target every kTick; memory: the answers not yet written.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/capture/answer.h"
#include "src/capture/capture.h"
#include "src/capture/profiler_client.h"
#include "src/capture/session_writer.h"
#include "src/capture/target.h"

namespace strobe::capture {

class Coordinator {
 public:
  Coordinator(const CaptureRequest& request, std::vector<Target> targets, SessionWriter writer,
              const CaptureContext& context, const CancelToken& cancel,
              const std::function<void(const CaptureProgress&)>& on_progress);
  ~Coordinator();

  void Run();

  const CaptureProgress& progress() const { return progress_; }
  const SessionWriter& writer() const { return writer_; }
  size_t hosts_saved() const { return hosts_saved_; }

 private:
  enum class Phase : uint8_t { kConnecting, kPausing, kCalling, kEnded };

  struct TargetRun {
    Target target;
    std::unique_ptr<ProfilerChannel> channel;
    Phase phase = Phase::kConnecting;
    bool connected = false;  // when the call was sent
    int64_t retry_at_ms = 0;
    int64_t pause_ms = 0;
    int64_t record_from_ms = 0;  // when the recording begins, our clock
    int64_t terminate_at_ms = 0;
    bool terminated = false;
    int64_t terminated_after_ms = 0;  // of recording
    std::vector<std::string> hostnames;
    std::vector<int64_t> process_ids;
  };

  // Completed calls, filled by gRPC's threads; shared with them because a call may outlive us.
  struct Mailbox {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<std::pair<size_t, CallOutcome>> outcomes;
  };

  int64_t NowMs() const;
  TargetProgress& Shown(size_t i) { return progress_.targets[i]; }
  void Connect();
  bool AllEnded() const;
  void Tick();
  void TickConnecting(int64_t now_ms);
  bool ReadyToStart(int64_t now_ms, const std::vector<Link>& links);
  void TickCalling(size_t i, int64_t now_ms);
  void TickCancel(int64_t now_ms);
  void StartCall(size_t i, int64_t now_ms);
  void TakeOutcomes(int64_t wait_ms);
  void HandleOutcome(size_t i, CallOutcome outcome);
  void HandleBusy(size_t i);
  void HandleFailure(size_t i, const CallOutcome& outcome);
  void HandleAnswer(size_t i, const CallOutcome& outcome);
  void Save(size_t i, const ByteChain& chain, const Answer& answer);
  std::string Remarks(size_t i, const Answer& answer) const;
  void End(size_t i, TargetState state, std::string message, std::string hint);
  void WarnOfSharedProcesses();
  void Report(bool always);

  const CaptureRequest& request_;
  SessionWriter writer_;
  const std::string session_id_;  // as sent; the directory's name may have to differ
  const CaptureContext& context_;
  const CancelToken cancel_;
  const std::function<void(const CaptureProgress&)>& on_progress_;
  const int64_t begin_ms_;
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::vector<TargetRun> runs_;
  CaptureProgress progress_;
  size_t hosts_saved_ = 0;
  bool started_ = false;     // the common start is set
  int64_t start_at_ms_ = 0;  // our monotonic clock; 0 = each at once
  int64_t start_unix_ns_ = 0;
  int64_t cancelled_at_ms_ = -1;
  int64_t reported_at_ms_ = -1;
  bool state_changed_ = true;
};

}  // namespace strobe::capture
