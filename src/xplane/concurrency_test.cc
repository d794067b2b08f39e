// Many threads on one file: every line is decoded once, and all see the same columns.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "src/base/ids.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

constexpr size_t kThreads = 8;

std::string ManyLines() {
  SeededRandom random(77);
  XSpaceBuilder space;
  for (int p = 0; p < 4; ++p) {
    PlaneBuilder& plane = space.AddPlane("plane");
    const int64_t name = plane.AddEventMetadata("op");
    for (int l = 0; l < 40; ++l) {
      LineBuilder& line = plane.AddLine(l, "line", 0);
      const auto events = static_cast<int64_t>(random.Next() % 400);
      for (int64_t e = 0; e < events; ++e) {
        const auto jitter = static_cast<int64_t>(random.Next() % 300);
        line.AddEvent(e % 9 == 0 ? 55 : name, e * 100 + jitter, 250).AddStat(plane.StatId("s"), e);
      }
    }
  }
  return space.Serialize();
}

// Runs `work(thread index)` on all threads at once.
template <typename Work>
void OnAllThreads(Work work) {
  std::atomic<size_t> ready{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ++ready;
      while (ready.load() < kThreads) std::this_thread::yield();
      work(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

uint64_t Fingerprint(const ProfileFile& file, size_t p, size_t l) {
  const LineColumns& line = file.Line(p, l);
  uint64_t sum = line.missing_metadata * 7 + line.overlapping * 13 + line.rows.size();
  for (uint32_t e = 0; e < line.event_count(); ++e) {
    sum = sum * 31 + static_cast<uint64_t>(line.start_ps[e] + line.duration_ps[e]) + line.name[e];
  }
  return sum;
}

TEST(ConcurrencyTest, AllThreadsSeeTheSameColumns) {
  const std::string bytes = ManyLines();
  const std::shared_ptr<ProfileFile> alone = MustOpen(bytes);
  std::vector<uint64_t> expected;
  for (size_t at = 0; at < 160; ++at) expected.push_back(Fingerprint(*alone, at / 40, at % 40));
  for (int round = 0; round < 3; ++round) {
    const std::shared_ptr<ProfileFile> shared = MustOpen(bytes);
    std::atomic<int> different{0};
    OnAllThreads([&](size_t thread) {
      SeededRandom random(thread % 2);  // half of them in the same order: the worst for waiting
      for (int i = 0; i < 100; ++i) {
        const size_t at = random.Next() % 160;
        if (Fingerprint(*shared, at / 40, at % 40) != expected[at]) ++different;
        if (shared->Line(at / 40, at % 40).event_count() > 0) {
          (void)shared->EventStats(at / 40, at % 40, 0);
          (void)shared->EventStatColumn(at / 40, at % 40, "s");
        }
        (void)shared->damage();
        (void)shared->resident_bytes();
      }
    });
    EXPECT_EQ(different.load(), 0);
  }
}

TEST(ConcurrencyTest, DecodeAllIsSharedWork) {
  const std::string bytes = ManyLines();
  const std::shared_ptr<ProfileFile> file = MustOpen(bytes);
  std::atomic<uint64_t> progress{0};
  OnAllThreads([&](size_t) {
    EXPECT_TRUE(file->DecodeAll(CancelToken(), &progress).ok());
    for (size_t at = 0; at < 160; ++at) EXPECT_TRUE(file->LineDecoded(at / 40, at % 40));
  });
  uint64_t all = 0;
  for (const Plane& plane : file->planes()) {
    for (const Line& line : plane.lines) all += line.bytes.size_bytes;
  }
  EXPECT_EQ(progress.load(), all);
  const uint64_t resident = file->resident_bytes();
  EXPECT_TRUE(file->DecodeAll(CancelToken(), nullptr).ok());
  EXPECT_EQ(file->resident_bytes(), resident);
}

}  // namespace
}  // namespace strobe::xplane
