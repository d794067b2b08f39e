#include "src/base/fair_queue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace strobe {
namespace {

using Priority = FairQueue::Priority;
constexpr int64_t kMilli = 1'000'000;

// A pool whose time is told by the test: each task is a user and how long it takes.
class FairQueueTest : public testing::Test {
 protected:
  void Ask(FairQueue& queue, const std::string& user, int64_t duration_ns,
           Priority priority = Priority::kInteractive) {
    ASSERT_TRUE(
        queue.Push(priority, user, now_ns_, [this, duration_ns] { duration_ns_ = duration_ns; })
            .ok());
  }
  // Takes the next task and keeps it running.
  std::string Begin(FairQueue& queue) {
    std::optional<FairQueue::Taken> taken = queue.Take(now_ns_);
    if (!taken) return "";
    running_.push_back(*std::move(taken));
    return running_.back().user;
  }
  void End(FairQueue& queue, size_t which) {
    queue.Finish(running_[which], now_ns_);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
  }
  // One thread's work on the next task, from its begin to its end.
  std::string Serve(FairQueue& queue) {
    std::optional<FairQueue::Taken> taken = queue.Take(now_ns_);
    if (!taken) return "";
    taken->task();
    now_ns_ += duration_ns_;
    queue.Finish(*taken, now_ns_);
    had_ns_[taken->user] += duration_ns_;
    return taken->user;
  }

  int64_t now_ns_ = 1'000'000'000'000;
  int64_t duration_ns_ = 0;
  std::vector<FairQueue::Taken> running_;
  std::map<std::string, int64_t> had_ns_;
};

TEST_F(FairQueueTest, UsersGetTheSameTimeHoweverMuchTheyAsk) {
  FairQueue queue({.threads = 1});
  for (int i = 0; i < 400; ++i) Ask(queue, "greedy", 50 * kMilli);
  for (int i = 0; i < 400; ++i) Ask(queue, "quick", 5 * kMilli);
  for (int i = 0; i < 220; ++i) ASSERT_NE(Serve(queue), "");
  EXPECT_LE(std::abs(had_ns_["greedy"] - had_ns_["quick"]), 50 * kMilli);
  EXPECT_GT(had_ns_["quick"], 900 * kMilli);
}

TEST_F(FairQueueTest, WhoComesToAFullQueueIsServedNext) {
  FairQueue queue({.threads = 1});
  for (int i = 0; i < 1000; ++i) Ask(queue, "greedy", 50 * kMilli);
  EXPECT_EQ(Serve(queue), "greedy");
  EXPECT_EQ(Begin(queue), "greedy");
  now_ns_ += 20 * kMilli;
  Ask(queue, "ada", 5 * kMilli);
  now_ns_ += 30 * kMilli;
  End(queue, 0);
  // Not after the 998 that came before.
  EXPECT_EQ(Serve(queue), "ada");
  EXPECT_EQ(Serve(queue), "greedy");
}

TEST_F(FairQueueTest, WorkCountsWhileItRuns) {
  FairQueue queue({.threads = 3});
  Ask(queue, "long", 0);
  Ask(queue, "long", 0);
  EXPECT_EQ(Begin(queue), "long");
  Ask(queue, "other", 0);
  now_ns_ += 10 * kMilli;
  // What runs has not ended, and nobody knows how long it will take.
  EXPECT_EQ(Begin(queue), "other");
  EXPECT_EQ(Begin(queue), "long");
  EXPECT_EQ(Begin(queue), "");
}

TEST_F(FairQueueTest, OfOneUserFirstComeFirstServed) {
  FairQueue queue({.threads = 1});
  std::string order;
  for (const char c : {'a', 'b', 'c'}) {
    ASSERT_TRUE(
        queue.Push(Priority::kInteractive, "ada", now_ns_, [&order, c] { order += c; }).ok());
  }
  while (Serve(queue) != "") {
  }
  EXPECT_EQ(order, "abc");
}

TEST_F(FairQueueTest, NothingIsSavedUpByBeingAway) {
  FairQueue queue({.threads = 1});
  for (int i = 0; i < 300; ++i) Ask(queue, "there", 10 * kMilli);
  Ask(queue, "away", 10 * kMilli);
  for (int i = 0; i < 100; ++i) ASSERT_NE(Serve(queue), "");
  // 980 ms behind in what it had, but it asked for nothing meanwhile.
  for (int i = 0; i < 100; ++i) Ask(queue, "away", 10 * kMilli);
  had_ns_.clear();
  for (int i = 0; i < 100; ++i) ASSERT_NE(Serve(queue), "");
  EXPECT_EQ(had_ns_["away"], had_ns_["there"]);
}

TEST_F(FairQueueTest, WhatWasTooMuchIsForgottenBeyondABound) {
  FairQueue queue({.threads = 3, .max_waiting = 8192});
  Ask(queue, "long", 0);
  Ask(queue, "long", 0);
  ASSERT_EQ(Begin(queue), "long");
  ASSERT_EQ(Begin(queue), "long");
  // Two threads for half a minute, while another user has one.
  for (int i = 0; i < 5000; ++i) Ask(queue, "steady", 10 * kMilli);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(Serve(queue), "steady");
  End(queue, 0);
  End(queue, 0);
  Ask(queue, "long", 10 * kMilli);
  int before = 0;
  while (Serve(queue) == "steady") ++before;
  EXPECT_GE(before, 1);
  EXPECT_LE(before, FairQueue::kMaxDebtNs / (10 * kMilli) + 1);
}

TEST_F(FairQueueTest, InteractiveGoesFirstAndBackgroundDoesNotStarve) {
  FairQueue queue({.threads = 1});
  for (int i = 0; i < 100; ++i) Ask(queue, "ada", kMilli);
  Ask(queue, "bob", kMilli, Priority::kBackground);
  for (int i = 0; i < FairQueue::kInteractiveTurns; ++i) EXPECT_EQ(Serve(queue), "ada");
  EXPECT_EQ(Serve(queue), "bob");
  EXPECT_EQ(Serve(queue), "ada");
  EXPECT_EQ(queue.counts(Priority::kBackground).served, 1u);
  EXPECT_EQ(queue.counts(Priority::kBackground).waiting, 0u);
}

TEST_F(FairQueueTest, BackgroundWorkIsSharedAsWell) {
  FairQueue queue({.threads = 1});
  for (int i = 0; i < 100; ++i) Ask(queue, "loads in a loop", 10 * kMilli, Priority::kBackground);
  EXPECT_EQ(Serve(queue), "loads in a loop");
  for (int i = 0; i < 10; ++i) Ask(queue, "ada", 10 * kMilli, Priority::kBackground);
  had_ns_.clear();
  for (int i = 0; i < 20; ++i) ASSERT_NE(Serve(queue), "");
  EXPECT_EQ(had_ns_["ada"], 100 * kMilli);
}

TEST_F(FairQueueTest, TheLastQuarterOfTheThreadsIsForWhoHasNoneRunning) {
  FairQueue queue({.threads = 8});
  for (int i = 0; i < 20; ++i) Ask(queue, "greedy", 0);
  for (int i = 0; i < 20; ++i) Ask(queue, "greedy", 0, Priority::kBackground);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Begin(queue), "greedy");
  EXPECT_EQ(Begin(queue), "");
  Ask(queue, "ada", 0);
  Ask(queue, "ada", 0);
  Ask(queue, "bob", 0);
  EXPECT_EQ(Begin(queue), "ada");
  EXPECT_EQ(Begin(queue), "bob");
  EXPECT_EQ(Begin(queue), "");
  // A thread of the greedy one comes free: the last quarter is still taken.
  now_ns_ += kMilli;
  End(queue, 0);
  EXPECT_EQ(Begin(queue), "");
  End(queue, 0);
  End(queue, 0);
  EXPECT_EQ(Begin(queue), "ada");
}

TEST_F(FairQueueTest, BackgroundKeepsToItsThreads) {
  FairQueue queue({.threads = 4, .max_background = 2});
  for (int i = 0; i < 5; ++i) Ask(queue, "ada", 0, Priority::kBackground);
  EXPECT_EQ(Begin(queue), "ada");
  EXPECT_EQ(Begin(queue), "ada");
  EXPECT_EQ(Begin(queue), "");
  Ask(queue, "ada", 0);
  EXPECT_EQ(Begin(queue), "ada");
  EXPECT_EQ(queue.counts(Priority::kBackground).running, 2u);
  EXPECT_EQ(queue.counts(Priority::kInteractive).running, 1u);
}

TEST_F(FairQueueTest, ALimitIsAnErrorThatSaysWhose) {
  FairQueue queue({.threads = 1, .max_waiting = 3, .max_waiting_of_user = 2});
  Ask(queue, "greedy", 0);
  Ask(queue, "greedy", 0);
  const auto push = [&](const std::string& user) {
    return queue.Push(Priority::kInteractive, user, now_ns_, [] {});
  };
  EXPECT_EQ(push("greedy").name(), "EXECUTOR_USER_QUEUE_FULL");
  EXPECT_TRUE(push("ada").ok());
  EXPECT_EQ(push("bob").name(), "EXECUTOR_QUEUE_FULL");
  EXPECT_EQ(push("bob").code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(queue.counts(Priority::kInteractive).refused, 3u);
  EXPECT_EQ(queue.counts(Priority::kInteractive).waiting, 3u);
  queue.Clear();
  EXPECT_EQ(queue.waiting(), 0u);
  EXPECT_TRUE(push("greedy").ok());
}

TEST_F(FairQueueTest, UsersWithNothingToDoAreForgotten) {
  FairQueue queue({.threads = 1});
  for (size_t i = 0; i < 3 * FairQueue::kMaxIdleUsers; ++i) {
    Ask(queue, "user" + std::to_string(i), kMilli);
    ASSERT_NE(Serve(queue), "");
    ASSERT_LE(queue.users(), FairQueue::kMaxIdleUsers);
  }
}

}  // namespace
}  // namespace strobe
