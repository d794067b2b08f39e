#include "src/cli/serve_settings.h"

#include <gtest/gtest.h>

#include "src/storage/test_directory.h"

namespace strobe::cli {
namespace {

TEST(UsableMemoryTest, TheSmallestLimitOnTheWayUpCounts) {
  storage::TestDirectory cgroup;
  const std::string self = "1:name=systemd:/x\n0::/a.slice/b.service\n";
  EXPECT_EQ(UsableMemoryBytes(1000, cgroup.path(), self), 1000u);
  cgroup.Write("a.slice/b.service/memory.max", "max\n");
  EXPECT_EQ(UsableMemoryBytes(1000, cgroup.path(), self), 1000u);
  cgroup.Write("a.slice/memory.max", "600\n");
  EXPECT_EQ(UsableMemoryBytes(1000, cgroup.path(), self), 600u);
  cgroup.Write("a.slice/b.service/memory.max", "700\n");
  EXPECT_EQ(UsableMemoryBytes(1000, cgroup.path(), self), 600u);
  // A container sees its own group as the root.
  cgroup.Write("memory.max", "500\n");
  EXPECT_EQ(UsableMemoryBytes(1000, cgroup.path(), "0::/\n"), 500u);
  EXPECT_EQ(UsableMemoryBytes(400, cgroup.path(), "0::/\n"), 400u);
  // The older kind has a number for "no limit" that is beyond any machine.
  cgroup.Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(UsableMemoryBytes(1000, cgroup.path(), ""), 500u);
  cgroup.Write("memory/memory.limit_in_bytes", "300\n");
  EXPECT_EQ(UsableMemoryBytes(1000, cgroup.path(), ""), 300u);
}

}  // namespace
}  // namespace strobe::cli
