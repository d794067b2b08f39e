#include "src/tools/memory_profile.h"

#include <gtest/gtest.h>

#include "src/tools/input_for_test.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

class Log {
 public:
  Log() : plane_(space_.AddPlane("/host:CPU", 1)), line_(plane_.AddLine(7, "allocator", 500)) {}

  void Add(bool allocation, int64_t offset_ps, int64_t address, int64_t size, int64_t heap) {
    const int64_t kind =
        plane_.AddEventMetadata(allocation ? "MemoryAllocation" : "MemoryDeallocation");
    xplane::StatSink& sink = line_.AddEvent(kind, offset_ps, 0);
    sink.AddStat(plane_.StatId("allocator_name"), std::string_view("GPU_0_bfc"));
    sink.AddStat(plane_.StatId("bytes_reserved"), int64_t{0});
    sink.AddStat(plane_.StatId("bytes_allocated"), heap);
    sink.AddStat(plane_.StatId("bytes_available"), 10'000 - heap);
    sink.AddStat(plane_.StatId("peak_bytes_in_use"), int64_t{9'000});
    sink.AddStat(plane_.StatId("requested_bytes"), size - 1);
    sink.AddStat(plane_.StatId("allocation_bytes"), size);
    sink.AddStat(plane_.StatId("addr"), address);
    if (allocation) sink.AddStat(plane_.StatId("tf_op"), std::string_view("matmul"));
  }
  std::string Bytes() { return space_.Serialize(); }

 private:
  xplane::XSpaceBuilder space_;
  xplane::PlaneBuilder& plane_;
  xplane::LineBuilder& line_;
};

TEST(MemoryProfileTest, PeakAndWhatIsInIt) {
  Log log;
  // 1,000 bytes were there before; then two equal blocks of 300 and one of 200, of which one block
  // of 300 goes.
  log.Add(true, 10, 0x100, 300, 1'300);
  log.Add(true, 20, 0x200, 300, 1'600);
  log.Add(true, 30, 0x300, 200, 1'800);
  log.Add(false, 40, 0x200, 300, 1'500);
  TestSession session;
  session.AddHost("h", log.Bytes());
  const auto result = session.Ask(MakeMemoryProfileTool(), {});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  const Value* allocator = result->document.Find("memoryProfilePerAllocator")->Find("GPU_0_bfc");
  ASSERT_NE(allocator, nullptr);
  const Value& summary = *allocator->Find("profileSummary");
  EXPECT_EQ(summary.Find("peakStats")->Find("peakBytesInUse")->int_value(), 1'800);
  EXPECT_EQ(summary.Find("peakStatsTimePs")->int_value(), 30);
  EXPECT_EQ(summary.Find("memoryCapacity")->int_value(), 10'000);
  EXPECT_EQ(summary.Find("peakBytesUsageLifetime")->int_value(), 9'000);
  const auto& active = allocator->Find("activeAllocations")->items();
  ASSERT_EQ(active.size(), 3u);
  // What was there before the step is one block; equal blocks are one row.
  EXPECT_EQ(active[0].Find("specialIndex")->int_value(), 0);
  EXPECT_EQ(allocator->Find("specialAllocations")->items()[0].Find("allocationBytes")->int_value(),
            1'000);
  EXPECT_EQ(active[1].Find("numOccurrences")->int_value(), 2);
  EXPECT_EQ(active[2].Find("numOccurrences")->int_value(), 1);
  const auto& curve = allocator->Find("sampledTimelineSnapshots")->items();
  ASSERT_EQ(curve.size(), 4u);
  // The deallocation says only an address; the rest is that of its allocation.
  EXPECT_EQ(curve[3].Find("activityMetadata")->Find("tfOpName")->string_value(), "matmul");
}

TEST(MemoryProfileTest, OneHostOnlyAndWhyThereIsNothing) {
  TestSession session;
  Log empty;
  session.AddHost("a", empty.Bytes());
  const auto result = session.Ask(MakeMemoryProfileTool(), {});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->notices.size(), 1u);
  EXPECT_EQ(result->notices[0].name, "NO_ALLOCATIONS");
  TestSession two;
  two.AddHost("a", empty.Bytes());
  two.AddHost("b", empty.Bytes());
  EXPECT_EQ(two.Ask(MakeMemoryProfileTool(), {}).status().name(), "MEMORY_PROFILE_ONE_HOST");
}

}  // namespace
}  // namespace strobe::tools
