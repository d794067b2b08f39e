#include "src/cli/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace strobe::cli {
namespace {

// Ends a child that neither signal ended.
constexpr unsigned kHangSeconds = 60;

TEST(SignalsTest, FirstStopsAndSecondKills) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        // A shell that runs the tests in the background has them ignore it.
        signal(SIGINT, SIG_DFL);
        alarm(kHangSeconds);
        const StopSignals signals;
        std::atomic<bool> done{false};
        std::atomic<int> stops{0};
        std::thread watcher([&] { StopOnSignal(signals, done, [&stops] { ++stops; }); });
        kill(getpid(), SIGINT);
        while (stops.load() == 0) std::this_thread::yield();
        if (stops.load() != 1) std::_Exit(3);
        kill(getpid(), SIGINT);  // nothing sets `done`: only the signal can end this
        watcher.join();
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(SignalsTest, EndsWithWhatItWatches) {
  const StopSignals signals;
  std::atomic<bool> done{true};
  StopOnSignal(signals, done, [] { FAIL(); });
}

}  // namespace
}  // namespace strobe::cli
