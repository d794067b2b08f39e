#include "src/queue/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <set>
#include <stdexcept>
#include <thread>

namespace strobe::queue {
namespace {

// Far above any machine's hiccup; a test that needs it has failed.
constexpr int64_t kLongMs = 30'000;

class OperationTest : public testing::Test {
 protected:
  std::unique_ptr<OperationTable> MakeTable(OperationOptions options = {}) {
    return OperationTable::Create(options, clock_, ids_);
  }

  static OperationState WaitUntilDone(OperationTable& table, const std::string& id) {
    uint64_t seen = 0;
    for (;;) {
      Result<OperationState> state = table.WaitForChange(id, seen, kLongMs);
      STROBE_CHECK(state.ok());
      if (state->done) return *state;
      seen = state->revision;
    }
  }

  FakeClock clock_;
  SeededRandom random_{7};
  IdMaker ids_{clock_, random_};
};

// Work that stands still until told to go on or until cancelled. Outlives the table that runs it.
class Gate {
 public:
  std::function<Status(OperationHandle&)> Work() {
    return [this](OperationHandle& handle) {
      while (!open_.load()) {
        if (handle.cancel().cancelled()) return handle.cancel().Check();
        std::this_thread::yield();
      }
      return OkStatus();
    };
  }
  void Open() { open_ = true; }

 private:
  std::atomic<bool> open_ = false;
};

TEST_F(OperationTest, RunsAndShowsProgressAndResult) {
  auto table = MakeTable();
  std::promise<void> seen_half;
  const Result<std::string> id = table->Start(
      "capture", 5000, {OperationTarget{"a:1", "", 0, "", "", ""}}, [&](OperationHandle& handle) {
        handle.Update([](OperationState& state) {
          state.stage = "recording";
          state.progress_done = 1;
          state.progress_total = 2;
          state.targets[0].received_bytes = 99;
        });
        seen_half.get_future().wait();
        handle.Update([](OperationState& state) { state.result = {{"session", "s"}}; });
        return OkStatus();
      });
  ASSERT_TRUE(id.ok());
  uint64_t seen = 0;
  OperationState state;
  do {
    state = *table->WaitForChange(*id, seen, kLongMs);
    seen = state.revision;
  } while (state.progress_done == 0);
  EXPECT_FALSE(state.done);
  EXPECT_EQ(state.stage, "recording");
  EXPECT_EQ(state.targets[0].received_bytes, 99u);
  EXPECT_EQ(state.deadline_unix_ms, state.created_unix_ms + 5000);
  seen_half.set_value();
  state = WaitUntilDone(*table, *id);
  EXPECT_FALSE(state.error.has_value());
  EXPECT_FALSE(state.cancelled);
  EXPECT_THAT(state.result, testing::ElementsAre(testing::Pair("session", "s")));
}

TEST_F(OperationTest, WorkCannotForgeWhatTheTableAnswersFor) {
  auto table = MakeTable();
  const std::string id = *table->Start("capture", 5000, {}, [&](OperationHandle& handle) {
    handle.Update([](OperationState& state) {
      state.id = "other";
      state.kind = "other";
      state.done = true;
      state.cancelled = true;
      state.revision = 0;
      state.deadline_unix_ms = 0;
    });
    return OkStatus();
  });
  const OperationState state = WaitUntilDone(*table, id);
  EXPECT_EQ(state.id, id);
  EXPECT_EQ(state.kind, "capture");
  EXPECT_FALSE(state.cancelled);
  EXPECT_EQ(state.revision, 3u);  // started, updated, finished
  EXPECT_NE(state.deadline_unix_ms, 0);
}

TEST_F(OperationTest, ErrorIsKept) {
  auto table = MakeTable();
  const std::string id = *table->Start("capture", 5000, {}, [](OperationHandle&) {
    return UnavailableError("CAPTURE_NOTHING_SAVED", "Nobody answered.").Hint("Start the job.");
  });
  const OperationState state = WaitUntilDone(*table, id);
  ASSERT_TRUE(state.error.has_value());
  EXPECT_EQ(state.error->name(), "CAPTURE_NOTHING_SAVED");
  EXPECT_EQ(state.error->hint(), "Start the job.");
}

TEST_F(OperationTest, ExceptionOfTheWorkBecomesAnError) {
  auto table = MakeTable();
  const std::string id = *table->Start("capture", 5000, {}, [](OperationHandle&) -> Status {
    throw std::runtime_error("out of luck");
  });
  const OperationState state = WaitUntilDone(*table, id);
  ASSERT_TRUE(state.error.has_value());
  EXPECT_EQ(state.error->name(), "OPERATION_CRASHED");
  EXPECT_THAT(std::string(state.error->message()), testing::HasSubstr("out of luck"));
}

TEST_F(OperationTest, CancelReachesTheWorkAndIsIdempotent) {
  Gate gate;
  auto table = MakeTable();
  const std::string id = *table->Start("capture", 5000, {}, gate.Work());
  EXPECT_FALSE(table->Get(id)->cancelled);
  EXPECT_TRUE(table->Cancel(id)->cancelled);
  const OperationState state = WaitUntilDone(*table, id);
  EXPECT_TRUE(state.cancelled);
  ASSERT_TRUE(state.error.has_value());
  EXPECT_EQ(state.error->code(), StatusCode::kCancelled);
  const Result<OperationState> again = table->Cancel(id);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->revision, state.revision);
}

TEST_F(OperationTest, CancelAfterTheEndChangesNothing) {
  auto table = MakeTable();
  const std::string id =
      *table->Start("capture", 5000, {}, [](OperationHandle&) { return OkStatus(); });
  WaitUntilDone(*table, id);
  EXPECT_FALSE(table->Cancel(id)->cancelled);
}

TEST_F(OperationTest, DeadlineCancelsAndIsNamed) {
  Gate gate;
  auto table = MakeTable();
  const std::string id = *table->Start("capture", 5000, {}, gate.Work());
  clock_.AdvanceNanos(4'999 * 1'000'000LL);
  // Not yet due: another operation may run to its end meanwhile.
  Gate other;
  other.Open();
  WaitUntilDone(*table, *table->Start("capture", 5000, {}, other.Work()));
  EXPECT_FALSE(table->Get(id)->done);
  clock_.AdvanceNanos(2 * 1'000'000LL);
  const OperationState state = WaitUntilDone(*table, id);
  ASSERT_TRUE(state.error.has_value());
  EXPECT_EQ(state.error->name(), "OPERATION_DEADLINE");
  EXPECT_FALSE(state.cancelled);  // nobody asked for it
}

TEST_F(OperationTest, AtMostSoManyRun) {
  Gate gate;
  auto table = MakeTable({.max_running = 2, .max_finished = 10});
  const std::string first = *table->Start("capture", 5000, {}, gate.Work());
  const std::string second = *table->Start("capture", 5000, {}, gate.Work());
  const Result<std::string> third = table->Start("capture", 5000, {}, gate.Work());
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.status().name(), "OPERATIONS_TOO_MANY");
  EXPECT_EQ(third.status().code(), StatusCode::kResourceExhausted);
  gate.Open();
  WaitUntilDone(*table, first);
  WaitUntilDone(*table, second);
  EXPECT_TRUE(table->Start("capture", 5000, {}, gate.Work()).ok());
}

TEST_F(OperationTest, ForgetsTheOldestFinishedNeverARunningOne) {
  Gate gate;
  auto table = MakeTable({.max_running = 4, .max_finished = 3});
  const std::string running = *table->Start("capture", 5000, {}, gate.Work());
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) {
    ids.push_back(*table->Start("sweep", 5000, {}, [](OperationHandle&) { return OkStatus(); }));
    WaitUntilDone(*table, ids.back());
  }
  const std::vector<OperationState> states = table->List();
  ASSERT_EQ(states.size(), 4u);
  EXPECT_EQ(states[0].id, ids[5]);  // newest first
  EXPECT_EQ(states[2].id, ids[3]);
  EXPECT_EQ(states[3].id, running);
  EXPECT_EQ(table->Get(ids[0]).status().name(), "OPERATION_UNKNOWN");
  gate.Open();
}

TEST_F(OperationTest, UnknownIds) {
  auto table = MakeTable();
  EXPECT_EQ(table->Get("op-none").status().name(), "OPERATION_UNKNOWN");
  EXPECT_EQ(table->Cancel("").status().name(), "OPERATION_UNKNOWN");
  EXPECT_EQ(table->WaitForChange("../x", 0, 10).status().name(), "OPERATION_UNKNOWN");
  EXPECT_TRUE(table->List().empty());
}

TEST_F(OperationTest, WaitReturnsTheStateAfterItsTime) {
  Gate gate;
  auto table = MakeTable();
  const std::string id = *table->Start("capture", 5000, {}, gate.Work());
  const uint64_t revision = table->Get(id)->revision;
  const Result<OperationState> state = table->WaitForChange(id, revision, 20);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->revision, revision);
  EXPECT_FALSE(state->done);
  EXPECT_TRUE(table->WaitForChange(id, revision, -5).ok());
  gate.Open();
}

TEST_F(OperationTest, EveryWaiterSeesTheEnd) {
  Gate gate;
  auto table = MakeTable();
  const std::string id = *table->Start("capture", 5000, {}, gate.Work());
  std::vector<std::future<OperationState>> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.push_back(std::async(std::launch::async, [&] { return WaitUntilDone(*table, id); }));
  }
  gate.Open();
  for (auto& waiter : waiters) EXPECT_TRUE(waiter.get().done);
}

TEST_F(OperationTest, EndOfTheTableCancelsAndJoins) {
  std::atomic<int> ended = 0;
  {
    auto table = MakeTable();
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(table
                      ->Start("capture", 5000, {},
                              [&](OperationHandle& handle) {
                                while (!handle.cancel().cancelled()) std::this_thread::yield();
                                ++ended;
                                return handle.cancel().Check();
                              })
                      .ok());
    }
  }
  EXPECT_EQ(ended, 3);
}

TEST_F(OperationTest, ManyAtOnceFromManyThreads) {
  auto table = MakeTable({.max_running = 1000, .max_finished = 1000});
  std::vector<std::future<std::vector<std::string>>> starters;
  for (int i = 0; i < 4; ++i) {
    starters.push_back(std::async(std::launch::async, [&] {
      std::vector<std::string> started;
      for (int k = 0; k < 50; ++k) {
        started.push_back(*table->Start("x", 5000, {}, [](OperationHandle& handle) {
          for (int n = 0; n < 10; ++n) {
            handle.Update([](OperationState& state) { ++state.progress_done; });
          }
          return OkStatus();
        }));
        table->List();
      }
      return started;
    }));
  }
  std::set<std::string> all;
  for (auto& starter : starters) {
    for (const std::string& id : starter.get()) {
      EXPECT_TRUE(all.insert(id).second);
      EXPECT_EQ(WaitUntilDone(*table, id).progress_done, 10u);
    }
  }
  EXPECT_EQ(all.size(), 200u);
}

}  // namespace
}  // namespace strobe::queue
