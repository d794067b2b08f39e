// What a thread allocates inside a scope is counted, and nothing else.
#include "src/base/memory_meter.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace strobe {
namespace {

constexpr int64_t kMib = 1 << 20;

// So many bytes that the compiler cannot leave out.
std::vector<char> Held(int64_t size_bytes) {
  std::vector<char> bytes(static_cast<size_t>(size_bytes));
  asm volatile("" : : "g"(bytes.data()) : "memory");
  return bytes;
}

TEST(MemoryMeterTest, CountsWhatIsHeldAndWhatIsLetGo) {
  MemoryMeter meter;
  std::vector<char> kept;
  {
    const MemoryMeter::Scope scope(&meter);
    EXPECT_EQ(MemoryMeter::Current(), &meter);
    kept = Held(8 * kMib);
    EXPECT_NEAR(meter.held_bytes(), 8 * kMib, kMib);
    {
      const std::vector<char> passing = Held(16 * kMib);
    }
    EXPECT_NEAR(meter.held_bytes(), 8 * kMib, kMib);
  }
  EXPECT_EQ(MemoryMeter::Current(), nullptr);
  const std::vector<char> outside = Held(32 * kMib);
  EXPECT_NEAR(meter.held_bytes(), 8 * kMib, kMib);
}

TEST(MemoryMeterTest, ManySmallPiecesAddUp) {
  MemoryMeter meter;
  const MemoryMeter::Scope scope(&meter);
  std::vector<std::unique_ptr<std::string>> pieces;
  for (int i = 0; i < 10'000; ++i) pieces.push_back(std::make_unique<std::string>(1'000, 'x'));
  EXPECT_GT(meter.held_bytes(), 10 * 1'000'000);
  pieces.clear();
  pieces.shrink_to_fit();
  EXPECT_LE(meter.held_bytes(), MemoryMeter::kSlackBytes);
}

TEST(MemoryMeterTest, TheInnermostScopeCounts) {
  MemoryMeter outer;
  MemoryMeter inner;
  const MemoryMeter::Scope scope(&outer);
  const std::vector<char> first = Held(2 * kMib);
  {
    const MemoryMeter::Scope nested(&inner);
    const std::vector<char> second = Held(4 * kMib);
    EXPECT_NEAR(inner.held_bytes(), 4 * kMib, kMib);
    {
      const MemoryMeter::Scope none(nullptr);
      const std::vector<char> third = Held(64 * kMib);
      EXPECT_NEAR(inner.held_bytes(), 4 * kMib, kMib);
    }
  }
  EXPECT_NEAR(outer.held_bytes(), 2 * kMib, kMib);
}

TEST(MemoryMeterTest, ThreadsCountForOneMeter) {
  MemoryMeter meter;
  const MemoryMeter::Scope scope(&meter);
  std::vector<std::vector<char>> parts(4);
  std::vector<std::thread> threads;
  for (std::vector<char>& part : parts) {
    threads.emplace_back([&part, asked = MemoryMeter::Current()] {
      const MemoryMeter::Scope mine(asked);
      part = Held(4 * kMib);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NEAR(meter.held_bytes(), 16 * kMib, kMib);
}

}  // namespace
}  // namespace strobe
