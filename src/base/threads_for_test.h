// Threads that share pieces of work, for tests that compare them with one thread.
//
//   PrepareOptions options{.parallel = ThreadsForTest(4)};
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "src/base/parallel.h"

namespace strobe {

inline Parallel ThreadsForTest(size_t threads) {
  return [threads](size_t count, const std::function<void(size_t)>& work) {
    std::atomic<size_t> next{0};
    std::vector<std::thread> running;
    for (size_t t = 0; t < threads; ++t) {
      running.emplace_back([&] {
        for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
      });
    }
    for (std::thread& thread : running) thread.join();
  };
}

}  // namespace strobe
