#include "src/base/parallel.h"

#include <gtest/gtest.h>

#include "src/base/threads_for_test.h"

namespace strobe {
namespace {

TEST(ParallelTest, EveryPieceRunsOnce) {
  for (const Parallel& parallel : {Parallel(), ThreadsForTest(3)}) {
    for (const size_t count : {0, 1, 2, 1000}) {
      std::vector<int> runs(count);
      const Status status = ForEachPiece(parallel, count, [&](size_t piece) {
        ++runs[piece];
        return OkStatus();
      });
      EXPECT_TRUE(status.ok());
      EXPECT_EQ(runs, std::vector<int>(count, 1));
    }
  }
}

TEST(ParallelTest, TheFirstErrorIsReturnedWhoeverMeetsItFirst) {
  for (const Parallel& parallel : {Parallel(), ThreadsForTest(4)}) {
    const Status status = ForEachPiece(parallel, 100, [](size_t piece) -> Status {
      if (piece % 7 != 6) return OkStatus();
      return InvalidArgumentError("PIECE", std::to_string(piece));
    });
    EXPECT_EQ(status.name(), "PIECE");
    EXPECT_EQ(status.message(), "6");
  }
}

}  // namespace
}  // namespace strobe
