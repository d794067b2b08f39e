// What is kept is found for the same result only, and within the bound.
#include "src/api/encoded_answers.h"

#include <gtest/gtest.h>

#include <vector>

namespace strobe::api {
namespace {

std::shared_ptr<const tools::ToolResult> NewResult() {
  return std::make_shared<const tools::ToolResult>();
}

EncodedAnswer Answer(size_t size_bytes) {
  const auto body = std::make_shared<const std::string>(size_bytes, 'x');
  return {.body = body, .gzip_body = std::make_shared<const std::string>(), .content_type = "t"};
}

TEST(EncodedAnswersTest, FindsWhatWasKeptForTheResultItself) {
  EncodedAnswers answers;
  const auto result = NewResult();
  EXPECT_FALSE(answers.Find(result));
  answers.Keep(result, Answer(10));
  ASSERT_TRUE(answers.Find(result));
  EXPECT_EQ(answers.Find(result)->body->size(), 10U);
  EXPECT_FALSE(answers.Find(NewResult()));
}

TEST(EncodedAnswersTest, AnotherResultAtTheSamePlaceIsAnother) {
  EncodedAnswers answers;
  // Two owners of one address, of which the first is gone: what an allocator makes of it.
  tools::ToolResult place;
  std::shared_ptr<const tools::ToolResult> first(&place, [](const tools::ToolResult*) {});
  answers.Keep(first, Answer(10));
  first.reset();
  const std::shared_ptr<const tools::ToolResult> second(&place, [](const tools::ToolResult*) {});
  EXPECT_FALSE(answers.Find(second));
  answers.Keep(second, Answer(20));
  EXPECT_EQ(answers.Find(second)->body->size(), 20U);
  EXPECT_EQ(answers.resident_bytes(), 20U);
}

TEST(EncodedAnswersTest, StaysWithinItsBoundAndTheOldestGo) {
  EncodedAnswers answers;
  std::vector<std::shared_ptr<const tools::ToolResult>> results;
  constexpr size_t kSizeBytes = 10 << 20;
  for (int i = 0; i < 9; ++i) {
    results.push_back(NewResult());
    answers.Keep(results.back(), Answer(kSizeBytes));
    EXPECT_LE(answers.resident_bytes(), EncodedAnswers::kMaxBytes);
  }
  EXPECT_FALSE(answers.Find(results.front()));
  EXPECT_TRUE(answers.Find(results.back()));
  const auto huge = NewResult();
  answers.Keep(huge, Answer(EncodedAnswers::kMaxBytes / 2));
  EXPECT_FALSE(answers.Find(huge));
}

}  // namespace
}  // namespace strobe::api
