// SIGINT and SIGTERM as something to wait for, instead of a handler.
//
//   StopSignals signals;           // in main, before threads start: they inherit the mask
//   const int signal = signals.Wait();
//   signals.LetSecondOneKill();    // a second Ctrl-C ends the process at once
//
// One object a process.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace strobe::cli {

class StopSignals {
 public:
  // `also` is one more that Wait returns, such as SIGHUP.
  explicit StopSignals(int also = 0) {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    if (also != 0) sigaddset(&set_, also);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~StopSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int Wait() const {
    int signal = 0;
    sigwait(&set_, &signal);
    return signal;
  }
  // True as soon as one came; false after the time.
  bool WaitFor(long timeout_ms) const {
    const timespec limit{.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1'000'000};
    return sigtimedwait(&set_, nullptr, &limit) > 0;
  }
  void LetSecondOneKill() const { pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

// How soon a signal, or the end of what is watched, is noticed.
inline constexpr long kSignalSliceMs = 100;

// For a thread of its own: calls `stop` at the first signal and lets a second one end the process,
// so that what cannot be stopped in good order does not hold the user's terminal. Returns when
// `done` is set.
inline void StopOnSignal(const StopSignals& signals, const std::atomic<bool>& done,
                         const std::function<void()>& stop) {
  while (!done.load()) {
    if (!signals.WaitFor(kSignalSliceMs)) continue;
    stop();
    signals.LetSecondOneKill();
    // This thread alone takes the second signal, so it stays.
    while (!done.load()) std::this_thread::sleep_for(std::chrono::milliseconds(kSignalSliceMs));
  }
}

}  // namespace strobe::cli
