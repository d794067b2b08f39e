// What stands on a store that fails in twelve ways: no wrong byte, no lost write, no double one.
#include "src/storage/faulty_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "src/storage/memory_store.h"
#include "src/storage/retrying_store.h"

namespace strobe::storage {
namespace {

constexpr uint64_t kSeeds = 1000;
constexpr int kSteps = 30;

std::string Content(uint64_t seed, int step) {
  return std::string(20 + seed % 50, static_cast<char>('a' + step % 26)) + std::to_string(seed) +
         "-" + std::to_string(step);
}

// One seeded run against the faulty store, with a model beside it of what may be there. A call that
// failed for good may have happened or not: both stay possible until a later one tells.
class SeededRun {
 public:
  explicit SeededRun(uint64_t seed)
      : seed_(seed),
        random_(seed ^ 0xabcdef),
        memory_(std::make_shared<MemoryStore>(clock_)),
        faulty_(std::make_shared<FaultyStore>(
            memory_, FaultyOptions{.seed = seed, .per_mille = 300}, waiter_)),
        store_(faulty_, RetryPolicy{.max_attempts = 4}, clock_, random_, waiter_) {}

  void Go() {
    for (int step = 0; step < kSteps; ++step) {
      const std::string key = "k" + std::to_string(random_.Next() % 4);
      switch (random_.Next() % 5) {
        case 0:
          return_ok_ &= Write(key, Content(seed_, step), Condition::None());
          break;
        case 1:
          return_ok_ &= Write(key, Content(seed_, step), Condition::Absent());
          break;
        case 2:
          Delete(key);
          break;
        case 3:
          Read(key);
          break;
        default:
          List();
      }
    }
    faulty_->set_per_mille(0);
    for (const auto& [key, states] : possible_) Read(key);
    EXPECT_EQ(memory_->open_uploads(), 0);
  }

  const FaultyStore& faulty() const { return *faulty_; }

 private:
  using State = std::optional<std::string>;

  std::vector<State>& Possible(const std::string& key) {
    auto [at, is_new] = possible_.try_emplace(key);
    if (is_new) at->second.push_back(std::nullopt);
    return at->second;
  }

  bool Write(const std::string& key, const std::string& bytes, const Condition& condition) {
    std::vector<State>& states = Possible(key);
    const Result<ObjectInfo> put = store_.Put(key, bytes, {.condition = condition}, {});
    if (put.ok()) {
      if (condition.kind == Condition::Kind::kAbsent) {
        // It can only have been absent before.
        EXPECT_TRUE(std::ranges::find(states, State()) != states.end()) << Where(key);
      }
      states = {bytes};
    } else if (put.status().name() == "OBJECT_EXISTS") {
      EXPECT_TRUE(std::ranges::any_of(states, [](const State& s) { return s.has_value(); }))
          << Where(key);
      std::erase(states, State());
    } else {
      states.push_back(bytes);
    }
    return put.ok();
  }

  void Delete(const std::string& key) {
    std::vector<State>& states = Possible(key);
    if (store_.Delete(key, {}).ok()) {
      states = {std::nullopt};
    } else {
      states.push_back(std::nullopt);
    }
  }

  void Read(const std::string& key) {
    const std::vector<State>& states = Possible(key);
    const Result<ReadAnswer> read = ReadWhole(store_, key, 1 << 20, {});
    if (read.ok()) {
      EXPECT_TRUE(std::ranges::find(states, State(read->bytes)) != states.end())
          << Where(key) << " gave " << read->bytes;
      return;
    }
    // An error is always one of those that say what it is.
    const std::string_view name = read.status().name();
    EXPECT_TRUE(name == "OBJECT_NOT_FOUND" || name == "OBJECT_CHANGED" ||
                name == "OBJECT_CORRUPT" || IsRetryable(read.status()))
        << read.status().ToString();
  }

  void List() {
    const Result<ListPage> page = store_.List({}, {});
    if (!page.ok()) {
      EXPECT_TRUE(IsRetryable(page.status())) << page.status().ToString();
      return;
    }
    for (const ObjectInfo& object : page->objects) {
      const std::vector<State>& states = Possible(object.key);
      EXPECT_TRUE(std::ranges::any_of(states, [](const State& s) { return s.has_value(); }))
          << Where(object.key);
    }
  }

  std::string Where(const std::string& key) const {
    return "seed " + std::to_string(seed_) + ", " + key;
  }

  const uint64_t seed_;
  SeededRandom random_;
  FakeClock clock_;
  FakeWaiter waiter_{clock_};
  std::shared_ptr<MemoryStore> memory_;
  std::shared_ptr<FaultyStore> faulty_;
  RetryingStore store_;
  std::map<std::string, std::vector<State>> possible_;
  bool return_ok_ = true;
};

TEST(FaultyStore, AThousandSeededRunsBreakNoPromise) {
  std::array<uint64_t, kFaultKinds> counts{};
  for (uint64_t seed = 1; seed <= kSeeds && !::testing::Test::HasFailure(); ++seed) {
    SeededRun run(seed);
    run.Go();
    const auto more = run.faulty().counts();
    for (size_t i = 0; i < kFaultKinds; ++i) counts[i] += more[i];
  }
  for (size_t i = 0; i < kFaultKinds; ++i) {
    EXPECT_GT(counts[i], 100) << FaultName(static_cast<Fault>(i)) << " was hardly ever given";
  }
}

TEST(FaultyStore, TheSameSeedGivesTheSameFaults) {
  for (const uint64_t seed : {7U, 8U}) {
    SeededRun first(seed);
    SeededRun second(seed);
    first.Go();
    second.Go();
    EXPECT_EQ(first.faulty().counts(), second.faulty().counts());
  }
}

class RetryingTest : public ::testing::Test {
 protected:
  std::shared_ptr<FaultyStore> Faulty(Fault fault, uint32_t per_mille) {
    return std::make_shared<FaultyStore>(
        memory_,
        FaultyOptions{
            .seed = 1, .per_mille = per_mille, .kinds = 1U << static_cast<uint32_t>(fault)},
        waiter_);
  }
  FakeClock clock_;
  FakeWaiter waiter_{clock_};
  SeededRandom random_{1};
  std::shared_ptr<MemoryStore> memory_ = std::make_shared<MemoryStore>(clock_);
};

TEST_F(RetryingTest, AStormOf503EndsAfterTheAttemptsAndSaysSo) {
  RetryingStore store(Faulty(Fault::kBusy, 1000), RetryPolicy{.max_attempts = 5}, clock_, random_,
                      waiter_);
  const Status status = store.Stat("k", {}).status();
  EXPECT_EQ(status.name(), "OBJECT_STORE_BUSY");
  EXPECT_NE(status.message().find("5 attempts"), std::string::npos);
  EXPECT_EQ(store.retries(), 4);
  EXPECT_GT(waiter_.waited_ns(), 0);
}

TEST_F(RetryingTest, TheBudgetBoundsWhatAllCallsTogetherRepeat) {
  RetryingStore store(Faulty(Fault::kBusy, 1000), RetryPolicy{.max_attempts = 5}, clock_, random_,
                      waiter_);
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(store.Stat("k", {}).ok());
  EXPECT_EQ(store.retries(), static_cast<uint64_t>(RetryBudget::kFull / RetryBudget::kRetryCost));
}

TEST_F(RetryingTest, TheDeadlineOfACallCountsItsRetries) {
  RetryingStore store(Faulty(Fault::kBusy, 1000),
                      RetryPolicy{.max_attempts = 1000, .base_wait_ms = 1000}, clock_, random_,
                      waiter_);
  const int64_t before_ns = clock_.MonotonicNanos();
  EXPECT_FALSE(store.Stat("k", {.timeout_ms = 10'000}).ok());
  EXPECT_LE(clock_.MonotonicNanos() - before_ns, 10'000'000'000);
}

TEST_F(RetryingTest, AnObjectThatWasListedIsLookedForAgain) {
  ASSERT_TRUE(memory_->Put("k", "bytes", {}, {}).ok());
  const std::string version = memory_->Stat("k", {})->version;
  RetryingStore store(Faulty(Fault::kNotFoundAfterList, 500), RetryPolicy(), clock_, random_,
                      waiter_);
  int found = 0;
  for (int i = 0; i < 40; ++i) found += store.Read("k", {.if_version = version}, {}).ok() ? 1 : 0;
  EXPECT_GE(found, 30);  // 7 of 8 when three tries fail by half
  // One that nobody listed is believed to be absent at once.
  EXPECT_EQ(store.Read("none", {}, {}).status().name(), "OBJECT_NOT_FOUND");
}

TEST_F(RetryingTest, AWriteThatArrivedTwiceIsKnownAsOwn) {
  RetryingStore store(Faulty(Fault::kDuplicateDelivery, 1000), RetryPolicy(), clock_, random_,
                      waiter_);
  const Result<ObjectInfo> put = store.Put("k", "mine", {.condition = Condition::Absent()}, {});
  ASSERT_TRUE(put.ok()) << put.status().ToString();
  EXPECT_EQ(store.Put("k", "other", {.condition = Condition::Absent()}, {}).status().name(),
            "OBJECT_EXISTS");
}

TEST_F(RetryingTest, ACancelEndsTheWaiting) {
  CancelSource cancel;
  struct Cancelling : Waiter {
    explicit Cancelling(CancelSource source) : source_(std::move(source)) {}
    Status Wait(int64_t, const CancelToken& token) override {
      source_.Cancel();
      return token.Check();
    }
    CancelSource source_;
  } waiter(cancel);
  RetryingStore store(Faulty(Fault::kBusy, 1000), RetryPolicy(), clock_, random_, waiter);
  EXPECT_EQ(store.Stat("k", {.cancel = cancel.token()}).status().name(), "CANCELLED");
  EXPECT_EQ(store.retries(), 1);
}

}  // namespace
}  // namespace strobe::storage
