// Whose work a pool of threads does next: the one place where Strobe decides it.
//
//   FairQueue queue({.threads = 8});
//   STROBE_RETURN_IF_ERROR(queue.Push(Priority::kInteractive, "user:ada", now_ns, task));
//   if (std::optional<FairQueue::Taken> next = queue.Take(now_ns)) {
//     next->task();
//     queue.Finish(*next, later_ns);
//   }
//
// Rules, in their order:
//  1. What a person waits for goes before what can wait. Only when kInteractiveTurns of it went
//     first while background work waited, one piece of that gets its turn: nothing starves.
//  2. Among users the one goes first who had the least time on the threads, by virtual time: work
//     that runs counts as it runs, so its length need not be known. Whoever comes back after a
//     pause begins where the least of those at work stands: nothing is saved up by being away, and
//     at most kMaxDebtNs of what was had too much is remembered.
//  3. Of one user, first come first served.
//  4. The last quarter of the threads (none of fewer than four) takes only interactive work, of
//     users who have none running. So a user who sends work without end, however long each piece
//     is, leaves threads for the next to come.
//
// Limits, each a named error for the caller and never a wait: `max_waiting` tasks a priority,
// `max_waiting_of_user` of one user (so that nobody fills the queue for all), `max_background`
// threads at once. Users with nothing to do are forgotten beyond kMaxIdleUsers.
// Not thread-safe and without a clock: Executor (executor.h) locks it and tells the time, tests
// tell any. Cost: a look at every user who has something waiting, some 10 ns each.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace strobe {

class FairQueue {
 public:
  enum class Priority : uint8_t { kInteractive, kBackground };
  static constexpr size_t kPriorities = 2;
  // Background work is some percent of all then: enough to come to an end, too little to be felt.
  static constexpr int kInteractiveTurns = 16;
  // A long search must not lock its user out for as long as it took.
  static constexpr int64_t kMaxDebtNs = 2'000'000'000;
  // A name and a number each; a team has some hundred.
  static constexpr size_t kMaxIdleUsers = 1024;

  struct Options {
    int threads = 2;
    int max_background = 0;  // 0: all threads but one, and at least one
    // Far above what a page asks at once; a longer queue only hides that the server is too slow.
    size_t max_waiting = 4096;       // of each priority
    size_t max_waiting_of_user = 0;  // likewise; 0: as many as of all
  };
  struct Taken {
    std::function<void()> task;
    Priority priority = Priority::kInteractive;
    std::string user;
    int64_t started_ns = 0;
  };
  struct Counts {
    uint64_t waiting = 0;
    uint64_t running = 0;
    uint64_t served = 0;   // came to their end
    uint64_t refused = 0;  // met a limit
  };

  explicit FairQueue(Options options);

  // RESOURCE_EXHAUSTED: EXECUTOR_QUEUE_FULL, EXECUTOR_USER_QUEUE_FULL.
  Status Push(Priority priority, std::string_view user, int64_t now_ns, std::function<void()> task);
  // What to do next on a free thread; nullopt: nothing, or nothing that may begin now.
  std::optional<Taken> Take(int64_t now_ns);
  // Each that was taken, exactly once.
  void Finish(const Taken& taken, int64_t now_ns);
  // Drops what waits.
  void Clear();

  const Counts& counts(Priority priority) const { return counts_[static_cast<size_t>(priority)]; }
  uint64_t waiting() const { return counts_[0].waiting + counts_[1].waiting; }
  uint64_t running() const { return counts_[0].running + counts_[1].running; }
  size_t users() const { return users_.size(); }

 private:
  struct Task {
    uint64_t number = 0;  // in order of coming
    std::function<void()> work;
  };
  struct User {
    std::array<std::deque<Task>, kPriorities> waiting;
    std::array<int64_t, kPriorities> running{};
    int64_t finished_ns = 0;        // virtual time, without what runs
    int64_t sum_of_started_ns = 0;  // of what runs
    bool idle() const;
    int64_t VirtualAt(int64_t now_ns) const;
  };
  using Users = std::map<std::string, User, std::less<>>;

  std::optional<Taken> TakeOf(Priority priority, int64_t now_ns);
  bool MayBegin(Priority priority, const User& user) const;
  void RaiseFloor(int64_t now_ns);
  void ForgetIdle();

  const Options options_;
  const int64_t spare_threads_;
  const int64_t max_background_;
  Users users_;
  std::array<Counts, kPriorities> counts_{};
  int64_t floor_ns_ = 0;  // where the least of those at work stood when it was last asked
  int interactive_turns_ = 0;
  uint64_t next_number_ = 0;
};

}  // namespace strobe
