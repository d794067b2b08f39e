#include "src/analysis/duty_cycle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "src/analysis/op_profile_for_test.h"
#include "src/base/ids.h"

namespace strobe::analysis {
namespace {

using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::XSpaceBuilder;

constexpr int64_t kWindowPs = 1000;

// Each picosecond of the window by itself: slow, and hard to get wrong.
class Chip {
 public:
  void Span(int64_t start_ps, int64_t end_ps) {
    first_ps_ = std::min(first_ps_, start_ps);
    last_ps_ = std::max(last_ps_, end_ps);
  }
  void Busy(int64_t start_ps, int64_t end_ps) {
    for (int64_t at = start_ps; at < end_ps; ++at) busy_[static_cast<size_t>(at)] = true;
  }
  uint64_t busy_ps() const { return static_cast<uint64_t>(std::ranges::count(busy_, true)); }
  uint64_t idle_ps() const { return static_cast<uint64_t>(last_ps_ - first_ps_) - busy_ps(); }

 private:
  std::vector<bool> busy_ = std::vector<bool>(2 * kWindowPs);
  int64_t first_ps_ = 2 * kWindowPs;
  int64_t last_ps_ = 0;
};

struct Expected {
  Chip plain;
  Chip confident;
};

// Ops of three kinds, some of them nested or overlapping, and a program around them.
void AddOps(PlaneBuilder* plane, int64_t line_id, SeededRandom* random, Expected* expected) {
  const int64_t fusion = AddTpuOp(plane, {.name = "fusion.1", .symbol = 1, .flops = 5});
  const int64_t infeed = AddTpuOp(plane, {.name = "infeed.1", .category = "infeed", .symbol = 2});
  const int64_t call = AddTpuOp(plane, {.name = "call.1", .category = "custom-call", .symbol = 3});
  LineBuilder& ops = plane->AddLine(line_id, "XLA Ops", 0);
  for (int i = 0; i < 40; ++i) {
    const auto start_ps = static_cast<int64_t>(random->Next() % kWindowPs);
    const auto end_ps = start_ps + static_cast<int64_t>(random->Next() % 30);
    const uint64_t kind = random->Next() % 3;
    ops.AddEvent(kind == 0 ? fusion : (kind == 1 ? infeed : call), start_ps, end_ps - start_ps);
    for (Chip* chip : {&expected->plain, &expected->confident}) chip->Span(start_ps, end_ps);
    if (kind != 1) expected->plain.Busy(start_ps, end_ps);
    if (kind == 0) expected->confident.Busy(start_ps, end_ps);
  }
}

CoreDetails OnChip(uint32_t chip) {
  CoreDetails core;
  core.local_chip_id = chip;
  return core;
}

void ExpectDuty(XSpaceBuilder& space, const std::map<uint32_t, CoreDetails>& cores,
                const std::vector<const Expected*>& chips) {
  const PreparedForTest profile(space);
  std::vector<size_t> planes(profile.file->planes().size());
  for (size_t i = 0; i < planes.size(); ++i) planes[i] = i;
  const auto duty = DutyCycleOf(*profile.host, planes, cores, CancelToken());
  ASSERT_TRUE(duty.ok());
  DutyCycle expected;
  for (const Expected* chip : chips) {
    expected.busy_ps += chip->plain.busy_ps();
    expected.idle_ps += chip->plain.idle_ps();
    expected.busy_high_confidence_ps += chip->confident.busy_ps();
    expected.idle_high_confidence_ps += chip->confident.idle_ps();
  }
  EXPECT_EQ(duty->busy_ps, expected.busy_ps);
  EXPECT_EQ(duty->idle_ps, expected.idle_ps);
  EXPECT_EQ(duty->busy_high_confidence_ps, expected.busy_high_confidence_ps);
  EXPECT_EQ(duty->idle_high_confidence_ps, expected.idle_high_confidence_ps);
}

PlaneBuilder& AddCore(XSpaceBuilder* space, int64_t id) {
  return space->AddPlane("/device:TPU:" + std::to_string(id), id);
}

class DutyCycleTest : public testing::TestWithParam<uint64_t> {
 protected:
  SeededRandom random_{GetParam()};
  XSpaceBuilder space_;
};

TEST_P(DutyCycleTest, OneLineMakesAChipBusy) {
  Expected chips[2];
  for (int64_t id = 0; id < 2; ++id) AddOps(&AddCore(&space_, id), 1, &random_, &chips[id]);
  ExpectDuty(space_, {{0, OnChip(4)}, {1, OnChip(5)}}, {&chips[0], &chips[1]});
}

TEST_P(DutyCycleTest, CoresOfOneChipAreUnited) {
  Expected shared;
  Expected unknown;
  AddOps(&AddCore(&space_, 0), 1, &random_, &shared);
  AddOps(&AddCore(&space_, 1), 1, &random_, &shared);
  AddOps(&AddCore(&space_, 2), 1, &random_, &unknown);
  ExpectDuty(space_, {{0, OnChip(4)}, {1, OnChip(4)}}, {&shared, &unknown});
}

TEST_P(DutyCycleTest, LinesOfOneCoreAreUnited) {
  Expected chip;
  PlaneBuilder& plane = AddCore(&space_, 0);
  AddOps(&plane, 1, &random_, &chip);
  AddOps(&plane, 2, &random_, &chip);
  ExpectDuty(space_, {}, {&chip});
}

TEST_P(DutyCycleTest, ProgramsOnlyWidenTheSpan) {
  Expected chip;
  PlaneBuilder& plane = AddCore(&space_, 0);
  AddOps(&plane, 1, &random_, &chip);
  const int64_t program = plane.AddEventMetadata("jit_step(7)", "");
  plane.AddLine(2, "XLA Modules", 0).AddEvent(program, 0, kWindowPs + 300);
  for (Chip* one : {&chip.plain, &chip.confident}) one->Span(0, kWindowPs + 300);
  ExpectDuty(space_, {{0, OnChip(0)}}, {&chip});
}

INSTANTIATE_TEST_SUITE_P(Seeds, DutyCycleTest, testing::Range<uint64_t>(1, 9));

TEST(DutyCycleOfNothingTest, IsNothing) {
  XSpaceBuilder space;
  AddCore(&space, 0);
  const PreparedForTest profile(space);
  const size_t planes[] = {0};
  const auto duty = DutyCycleOf(*profile.host, planes, {}, CancelToken());
  ASSERT_TRUE(duty.ok());
  EXPECT_EQ(duty->busy_ps + duty->idle_ps, 0u);
}

}  // namespace
}  // namespace strobe::analysis
