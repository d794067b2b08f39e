#include "src/base/fair_queue.h"

#include <algorithm>
#include <utility>

namespace strobe {
namespace {

constexpr size_t kInteractive = static_cast<size_t>(FairQueue::Priority::kInteractive);
constexpr size_t kBackground = static_cast<size_t>(FairQueue::Priority::kBackground);

}  // namespace

bool FairQueue::User::idle() const {
  return waiting[kInteractive].empty() && waiting[kBackground].empty() &&
         running[kInteractive] + running[kBackground] == 0;
}

int64_t FairQueue::User::VirtualAt(int64_t now_ns) const {
  const int64_t count = running[kInteractive] + running[kBackground];
  return finished_ns + count * now_ns - sum_of_started_ns;
}

FairQueue::FairQueue(Options options)
    : options_(options),
      spare_threads_(options.threads / 4),
      max_background_(options.max_background > 0 ? options.max_background
                                                 : std::max(1, options.threads - 1)) {
  STROBE_CHECK(options_.threads > 0);
}

Status FairQueue::Push(Priority priority, std::string_view name, int64_t now_ns,
                       std::function<void()> task) {
  Counts& counts = counts_[static_cast<size_t>(priority)];
  if (counts.waiting >= options_.max_waiting) {
    ++counts.refused;
    return ResourceExhaustedError(
               "EXECUTOR_QUEUE_FULL",
               "Too much work is waiting (" + std::to_string(counts.waiting) + " tasks).")
        .Hint("Try again in a few seconds.");
  }
  auto at = users_.find(name);
  if (at == users_.end()) {
    if (users_.size() >= kMaxIdleUsers) ForgetIdle();
    at = users_.emplace(std::string(name), User{}).first;
  }
  User& user = at->second;
  std::deque<Task>& waiting = user.waiting[static_cast<size_t>(priority)];
  if (options_.max_waiting_of_user > 0 && waiting.size() >= options_.max_waiting_of_user) {
    ++counts.refused;
    return ResourceExhaustedError("EXECUTOR_USER_QUEUE_FULL",
                                  "Too much of your own work is waiting (" +
                                      std::to_string(waiting.size()) + " tasks).")
        .Hint("Wait for some answers before you ask for more.");
  }
  if (user.idle()) {
    RaiseFloor(now_ns);
    user.finished_ns = std::clamp(user.finished_ns, floor_ns_, floor_ns_ + kMaxDebtNs);
  }
  waiting.push_back({.number = next_number_++, .work = std::move(task)});
  ++counts.waiting;
  return OkStatus();
}

std::optional<FairQueue::Taken> FairQueue::Take(int64_t now_ns) {
  const bool background_waits = counts_[kBackground].waiting > 0;
  if (background_waits && interactive_turns_ >= kInteractiveTurns) {
    if (auto taken = TakeOf(Priority::kBackground, now_ns)) return taken;
  }
  if (auto taken = TakeOf(Priority::kInteractive, now_ns)) {
    if (background_waits) ++interactive_turns_;
    return taken;
  }
  return TakeOf(Priority::kBackground, now_ns);
}

bool FairQueue::MayBegin(Priority priority, const User& user) const {
  const int64_t free = options_.threads - static_cast<int64_t>(running());
  if (free <= 0) return false;
  if (priority == Priority::kBackground) {
    return free > spare_threads_ &&
           static_cast<int64_t>(counts_[kBackground].running) < max_background_;
  }
  return free > spare_threads_ || user.running[kInteractive] == 0;
}

std::optional<FairQueue::Taken> FairQueue::TakeOf(Priority priority, int64_t now_ns) {
  const auto p = static_cast<size_t>(priority);
  if (counts_[p].waiting == 0) return std::nullopt;
  Users::iterator best = users_.end();
  std::pair<int64_t, uint64_t> best_rank;
  for (auto at = users_.begin(); at != users_.end(); ++at) {
    const User& user = at->second;
    if (user.waiting[p].empty() || !MayBegin(priority, user)) continue;
    const std::pair rank{user.VirtualAt(now_ns), user.waiting[p].front().number};
    if (best != users_.end() && rank >= best_rank) continue;
    best = at;
    best_rank = rank;
  }
  if (best == users_.end()) return std::nullopt;
  User& user = best->second;
  Taken taken{.task = std::move(user.waiting[p].front().work),
              .priority = priority,
              .user = best->first,
              .started_ns = now_ns};
  user.waiting[p].pop_front();
  ++user.running[p];
  user.sum_of_started_ns += now_ns;
  --counts_[p].waiting;
  ++counts_[p].running;
  if (priority == Priority::kBackground) interactive_turns_ = 0;
  return taken;
}

void FairQueue::Finish(const Taken& taken, int64_t now_ns) {
  const auto p = static_cast<size_t>(taken.priority);
  const auto at = users_.find(taken.user);
  STROBE_CHECK(at != users_.end() && at->second.running[p] > 0);
  User& user = at->second;
  --user.running[p];
  user.sum_of_started_ns -= taken.started_ns;
  user.finished_ns += now_ns - taken.started_ns;
  --counts_[p].running;
  ++counts_[p].served;
  if (user.idle() && user.finished_ns <= floor_ns_) users_.erase(at);
}

void FairQueue::Clear() {
  for (auto& [name, user] : users_) {
    for (std::deque<Task>& waiting : user.waiting) waiting.clear();
  }
  for (Counts& counts : counts_) counts.waiting = 0;
}

void FairQueue::RaiseFloor(int64_t now_ns) {
  std::optional<int64_t> least;
  for (const auto& [name, user] : users_) {
    if (user.idle()) continue;
    const int64_t at_ns = user.VirtualAt(now_ns);
    least = std::min(least.value_or(at_ns), at_ns);
  }
  if (least) floor_ns_ = std::max(floor_ns_, *least);
}

void FairQueue::ForgetIdle() {
  std::erase_if(users_, [](const auto& entry) { return entry.second.idle(); });
}

}  // namespace strobe
