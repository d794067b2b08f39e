#include "src/base/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <string>

#include "src/base/cancel.h"

namespace strobe {
namespace {

using Priority = Executor::Priority;

// Occupies a worker until told to go on.
struct Gate {
  std::promise<void> entered;
  std::promise<void> open;
  std::function<void()> Task() {
    return [this] {
      entered.set_value();
      open.get_future().wait();
    };
  }
};

TEST(ExecutorTest, RunsEverythingThatWasTaken) {
  Executor executor({.threads = 3});
  std::atomic<int> sum = 0;
  for (int i = 1; i <= 1000; ++i) {
    const Priority priority = i % 2 == 0 ? Priority::kInteractive : Priority::kBackground;
    ASSERT_TRUE(executor.Submit(priority, [&sum, i] { sum += i; }).ok());
  }
  executor.WaitUntilIdle();
  EXPECT_EQ(sum, 500500);
  EXPECT_EQ(executor.queued_tasks(), 0u);
}

TEST(ExecutorTest, TasksKnowTheirPriority) {
  Executor executor({.threads = 1});
  const Executor other({.threads = 1});
  EXPECT_EQ(executor.PriorityHere(Priority::kBackground), Priority::kBackground);
  for (const Priority priority : {Priority::kBackground, Priority::kInteractive}) {
    Priority seen = Priority::kInteractive;
    Priority seen_of_other = Priority::kBackground;
    ASSERT_TRUE(executor
                    .Submit(priority,
                            [&] {
                              seen = executor.PriorityHere(Priority::kInteractive);
                              seen_of_other = other.PriorityHere(Priority::kInteractive);
                            })
                    .ok());
    executor.WaitUntilIdle();
    EXPECT_EQ(seen, priority);
    EXPECT_EQ(seen_of_other, Priority::kInteractive);
  }
}

TEST(ExecutorTest, InteractiveGoesFirst) {
  Gate gate;
  Executor executor({.threads = 1});
  ASSERT_TRUE(executor.Submit(Priority::kInteractive, gate.Task()).ok());
  gate.entered.get_future().wait();
  std::string order;
  ASSERT_TRUE(executor.Submit(Priority::kBackground, [&] { order += 'b'; }).ok());
  ASSERT_TRUE(executor.Submit(Priority::kInteractive, [&] { order += 'i'; }).ok());
  ASSERT_TRUE(executor.Submit(Priority::kBackground, [&] { order += 'c'; }).ok());
  ASSERT_TRUE(executor.Submit(Priority::kInteractive, [&] { order += 'j'; }).ok());
  EXPECT_EQ(executor.queued_tasks(), 4u);
  gate.open.set_value();
  executor.WaitUntilIdle();
  EXPECT_EQ(order, "ijbc");
}

TEST(ExecutorTest, BackgroundLeavesAThreadForInteractive) {
  Gate first;
  Executor executor({.threads = 2});
  ASSERT_TRUE(executor.Submit(Priority::kBackground, first.Task()).ok());
  first.entered.get_future().wait();
  std::atomic<bool> second_ran = false;
  ASSERT_TRUE(executor.Submit(Priority::kBackground, [&] { second_ran = true; }).ok());
  // The other thread must take this although background work waits in front of it in time.
  std::promise<bool> seen;
  ASSERT_TRUE(
      executor.Submit(Priority::kInteractive, [&] { seen.set_value(second_ran.load()); }).ok());
  EXPECT_FALSE(seen.get_future().get());
  first.open.set_value();
  executor.WaitUntilIdle();
  EXPECT_TRUE(second_ran);
}

TEST(ExecutorTest, FullQueueIsAnErrorPerPriority) {
  Gate gate;
  Executor executor({.threads = 1, .max_queued_tasks = 2});
  ASSERT_TRUE(executor.Submit(Priority::kInteractive, gate.Task()).ok());
  gate.entered.get_future().wait();
  ASSERT_TRUE(executor.Submit(Priority::kInteractive, [] {}).ok());
  ASSERT_TRUE(executor.Submit(Priority::kInteractive, [] {}).ok());
  const Status full = executor.Submit(Priority::kInteractive, [] {});
  EXPECT_EQ(full.name(), "EXECUTOR_QUEUE_FULL");
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(executor.Submit(Priority::kBackground, [] {}).ok());
  gate.open.set_value();
  executor.WaitUntilIdle();
  EXPECT_TRUE(executor.Submit(Priority::kInteractive, [] {}).ok());
}

TEST(ExecutorTest, DestructorFinishesRunningAndDropsQueued) {
  std::atomic<bool> finished = false;
  std::atomic<bool> queued_ran = false;
  Gate gate;
  {
    Executor executor({.threads = 1});
    ASSERT_TRUE(executor
                    .Submit(Priority::kInteractive,
                            [&, wait = gate.Task()] {
                              wait();
                              // The destructor has emptied the queues or will before it joins.
                              while (executor.queued_tasks() > 0) std::this_thread::yield();
                              finished = true;
                            })
                    .ok());
    gate.entered.get_future().wait();
    ASSERT_TRUE(executor.Submit(Priority::kBackground, [&] { queued_ran = true; }).ok());
    gate.open.set_value();
  }
  EXPECT_TRUE(finished);
  EXPECT_FALSE(queued_ran);
}

TEST(ExecutorTest, TaskMaySubmitMore) {
  Executor executor({.threads = 2});
  std::atomic<int> runs = 0;
  std::function<void(int)> step = [&](int left) {
    ++runs;
    if (left == 0) return;
    ASSERT_TRUE(executor.Submit(Priority::kBackground, [&step, left] { step(left - 1); }).ok());
  };
  ASSERT_TRUE(executor.Submit(Priority::kInteractive, [&] { step(50); }).ok());
  executor.WaitUntilIdle();
  EXPECT_EQ(runs, 51);
}

TEST(CancelTest, TokensSeeTheirSource) {
  EXPECT_FALSE(CancelToken().cancelled());
  EXPECT_TRUE(CancelToken().Check().ok());
  CancelSource source;
  const CancelToken token = source.token();
  const CancelToken copy = token;
  EXPECT_TRUE(copy.Check().ok());
  source.Cancel();
  EXPECT_TRUE(token.cancelled());
  EXPECT_EQ(copy.Check().name(), "CANCELLED");
  EXPECT_EQ(copy.Check().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace strobe
