#include "src/base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>

namespace strobe {
namespace {

Status Fail() {
  return NotFoundError("THING_MISSING", "There is no thing.").Where("shelf 3").Hint("Buy one.");
}

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgumentError("ODD", "Expected an even number.");
  return value / 2;
}

Result<int> Quarter(int value) {
  STROBE_ASSIGN_OR_RETURN(const int half, Half(value));
  STROBE_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status Both(const Status& first, const Status& second) {
  STROBE_RETURN_IF_ERROR(first);
  STROBE_RETURN_IF_ERROR(second);
  return OkStatus();
}

TEST(StatusTest, OkHasNoDetail) {
  const Status status = OkStatus();
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kOk);
  EXPECT_EQ(status.name(), "OK");
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.ToString(), "OK");
}

TEST(StatusTest, WhereAndHintOfAnOkStatusDoNothing) {
  const Status status = OkStatus().Where("here").Hint("do it");
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.where(), "");
  EXPECT_EQ(status.hint(), "");
}

TEST(StatusTest, CarriesEveryPart) {
  const Status status = Fail();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.name(), "THING_MISSING");
  EXPECT_EQ(status.message(), "There is no thing.");
  EXPECT_EQ(status.where(), "shelf 3");
  EXPECT_EQ(status.hint(), "Buy one.");
  EXPECT_EQ(status.ToString(), "THING_MISSING: There is no thing. (shelf 3) Buy one.");
}

TEST(StatusTest, CopyIsDeepAndMoveIsCheap) {
  Status original = Fail();
  Status copy = original;
  copy = std::move(copy).Where("elsewhere");
  EXPECT_EQ(original.where(), "shelf 3");
  EXPECT_EQ(copy.where(), "elsewhere");
  Status assigned;
  assigned = original;
  EXPECT_EQ(assigned.name(), "THING_MISSING");
  const Status moved = std::move(original);
  EXPECT_EQ(moved.name(), "THING_MISSING");
  EXPECT_EQ(sizeof(Status), sizeof(void*));
}

TEST(StatusTest, SelfAssignmentKeepsTheDetail) {
  Status status = Fail();
  const Status& same = status;
  status = same;
  EXPECT_EQ(status.name(), "THING_MISSING");
}

TEST(StatusTest, EveryCodeHasItsOwnNameAndAnHttpStatus) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(StatusCode::kDataLoss); ++code) {
    const auto status_code = static_cast<StatusCode>(code);
    EXPECT_TRUE(names.insert(StatusCodeName(status_code)).second) << code;
    const int http = HttpStatusOf(status_code);
    EXPECT_GE(http, status_code == StatusCode::kOk ? 200 : 400) << code;
    EXPECT_LT(http, 600) << code;
  }
  EXPECT_EQ(names.count("UNKNOWN"), 0u);
  EXPECT_EQ(HttpStatusOf(StatusCode::kNotFound), 404);
  EXPECT_EQ(HttpStatusOf(StatusCode::kInvalidArgument), 400);
  EXPECT_EQ(HttpStatusOf(StatusCode::kResourceExhausted), 429);
}

TEST(StatusTest, ErrnoMapsToCodes) {
  EXPECT_EQ(ErrnoError("X", "open", ENOENT).code(), StatusCode::kNotFound);
  EXPECT_EQ(ErrnoError("X", "open", EACCES).code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(ErrnoError("X", "write", ENOSPC).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoError("X", "mkdir", EEXIST).code(), StatusCode::kAlreadyExists);
  const Status status = ErrnoError("DISK", "read the disk", EIO);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message().substr(0, 15), "read the disk: ");
}

TEST(StatusTest, MacrosStopAtTheFirstError) {
  EXPECT_TRUE(Both(OkStatus(), OkStatus()).ok());
  EXPECT_EQ(Both(Fail(), InternalError("SECOND", "")).name(), "THING_MISSING");
  EXPECT_EQ(Both(OkStatus(), InternalError("SECOND", "")).name(), "SECOND");
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status().name(), "ODD");
  EXPECT_EQ(Quarter(7).status().name(), "ODD");
}

TEST(ResultTest, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result.status().ok());
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 7);
}

TEST(ResultDeathTest, ValueOfAnErrorIsOurBug) {
  const Result<int> result = Fail();
  EXPECT_DEATH((void)result.value(), "internal check failed");
}

TEST(ResultDeathTest, OkStatusIsNoResult) {
  EXPECT_DEATH((void)Result<int>(OkStatus()), "internal check failed");
}

}  // namespace
}  // namespace strobe
