#include "src/base/build_id.h"

#include <gtest/gtest.h>

namespace strobe {
namespace {

TEST(BuildIdTest, TheProgramHasOneAndKeepsIt) {
  EXPECT_NE(BuildIdHash(), 0u) << "the program is linked without a build id";
  EXPECT_EQ(BuildIdHash(), BuildIdHash());
}

}  // namespace
}  // namespace strobe
