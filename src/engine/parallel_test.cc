#include "src/engine/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/base/clock.h"
#include "src/base/work_owner.h"

namespace strobe::engine {
namespace {

using Priority = Executor::Priority;

// Occupies a thread until told to go on.
class Held {
 public:
  void Occupy(Executor& executor, const std::string& user) {
    ASSERT_TRUE(executor
                    .Submit(Priority::kInteractive, user,
                            [this] {
                              entered_.set_value();
                              go_on_.get_future().wait();
                            })
                    .ok());
    entered_.get_future().wait();
  }
  void GoOn() { go_on_.set_value(); }

 private:
  std::promise<void> entered_;
  std::promise<void> go_on_;
};

TEST(ParallelForTest, EveryPieceIsDoneOnceWhoeverDoesIt) {
  Executor executor({.threads = 2});
  for (const CallerPart part : {CallerPart::kHelps, CallerPart::kWaits}) {
    std::vector<std::atomic<int>> done(1000);
    ParallelFor(&executor, Priority::kInteractive, done.size(), [&](size_t i) { ++done[i]; }, part);
    for (const std::atomic<int>& times : done) ASSERT_EQ(times, 1);
    ParallelFor(nullptr, Priority::kInteractive, done.size(), [&](size_t i) { ++done[i]; }, part);
    for (const std::atomic<int>& times : done) ASSERT_EQ(times, 2);
  }
}

TEST(ParallelForTest, ACallerThatWaitsLeavesItToTheExecutorInItsUsersName) {
  Executor executor({.threads = 2});
  const std::thread::id caller = std::this_thread::get_id();
  const WorkOwner::Scope scope("user:ada");
  std::atomic<int> here{0};
  std::atomic<int> hers{0};
  const auto look = [&](size_t) {
    here += std::this_thread::get_id() == caller ? 1 : 0;
    hers += WorkOwner::Current() == "user:ada" ? 1 : 0;
  };
  ParallelFor(&executor, Priority::kInteractive, 100, look, CallerPart::kWaits);
  ParallelFor(&executor, Priority::kInteractive, 1, look, CallerPart::kWaits);
  EXPECT_EQ(here, 0);
  EXPECT_EQ(hers, 101);
}

TEST(ParallelForTest, ThreadsOfTheExecutorHelpThemselves) {
  // With one thread, waiting for it on it would be for ever.
  Executor executor({.threads = 1});
  std::atomic<int> done{0};
  ParallelFor(
      &executor, Priority::kInteractive, 3,
      [&](size_t) {
        ParallelFor(
            &executor, Priority::kInteractive, 3, [&](size_t) { ++done; }, CallerPart::kWaits);
      },
      CallerPart::kWaits);
  EXPECT_EQ(done, 9);
}

TEST(ParallelForTest, LongLoopsOfUsersTakeTurns) {
  FakeClock clock;
  Held held;  // outlives the threads that are in it
  Executor executor({.threads = 1, .clock = &clock});
  held.Occupy(executor, "another");
  constexpr size_t kPieces = 8;
  std::string order;  // one thread writes it
  const auto loop = [&](char user) {
    const WorkOwner::Scope scope(std::string(1, user));
    ParallelFor(
        &executor, Priority::kInteractive, kPieces,
        [&, user](size_t) {
          order += user;
          clock.AdvanceNanos(kHelperTurnNs);
        },
        CallerPart::kWaits);
  };
  std::thread ada(loop, 'a');
  std::thread bob(loop, 'b');
  const size_t each = std::min<size_t>(kPieces, std::max(1u, std::thread::hardware_concurrency()));
  while (executor.queued_tasks() < 2 * each) std::this_thread::yield();
  held.GoOn();
  ada.join();
  bob.join();
  ASSERT_EQ(order.size(), 2 * kPieces);
  int lead = 0;
  for (const char user : order) {
    lead += user == 'a' ? 1 : -1;
    EXPECT_LE(std::abs(lead), 1) << order;
  }
}

TEST(ParallelForTest, WhenTheClientHasGoneNobodyWaitsForAThread) {
  Held held;  // outlives the threads that are in it
  Executor executor({.threads = 1});
  held.Occupy(executor, "another");
  CancelSource gone;
  gone.Cancel();
  std::atomic<int> ended{0};
  // The only thread is taken: the pieces are ended by the caller.
  ParallelFor(
      &executor, Priority::kInteractive, 100, [&](size_t) { ++ended; }, CallerPart::kWaits,
      gone.token());
  EXPECT_EQ(ended, 100);
  held.GoOn();
}

TEST(ParallelForTest, WhatTheExecutorLetsFallTheCallerDoes) {
  Held held;  // outlives the threads that are in it
  auto executor = std::make_unique<Executor>(Executor::Options{.threads = 1});
  held.Occupy(*executor, "another");
  std::atomic<int> done{0};
  Executor* const pool = executor.get();
  std::thread caller([&] {
    ParallelFor(pool, Priority::kInteractive, 100, [&](size_t) { ++done; }, CallerPart::kWaits);
  });
  while (pool->queued_tasks() == 0) std::this_thread::yield();
  std::thread stop([&] { executor.reset(); });
  // The destructor empties the queue before it waits for what runs.
  caller.join();
  EXPECT_EQ(done, 100);
  held.GoOn();
  stop.join();
}

TEST(ParallelForTest, WhatTheExecutorHasNoRoomForTheCallerDoes) {
  Held held;  // outlives the threads that are in it
  Executor executor({.threads = 1, .max_queued_tasks = 1});
  held.Occupy(executor, "another");
  ASSERT_TRUE(executor.Submit(Priority::kInteractive, [] {}).ok());
  std::atomic<int> done{0};
  ParallelFor(&executor, Priority::kInteractive, 10, [&](size_t) { ++done; }, CallerPart::kWaits);
  EXPECT_EQ(done, 10);
  held.GoOn();
}

}  // namespace
}  // namespace strobe::engine
