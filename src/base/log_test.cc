#include "src/base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace strobe {
namespace {

class LogTest : public testing::Test {
 protected:
  void TearDown() override { SetLogLevel("info"); }
};

TEST_F(LogTest, WritesOneJsonObjectALine) {
  testing::internal::CaptureStderr();
  LogWarning(
      "cache.ignored",
      {{"reason", "a \"quote\"\n\xff {} %"}, {"count", 3}, {"took_ms", 1.5}, {"fatal", false}});
  const std::string text = testing::internal::GetCapturedStderr();
  ASSERT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const auto line = nlohmann::json::parse(text);
  EXPECT_EQ(line["event"], "cache.ignored");
  EXPECT_EQ(line["level"], "warning");
  EXPECT_EQ(line["reason"], "a \"quote\"\n\xEF\xBF\xBD {} %");
  EXPECT_EQ(line["count"], 3);
  EXPECT_EQ(line["took_ms"], 1.5);
  EXPECT_EQ(line["fatal"], false);
  EXPECT_TRUE(line.contains("time"));
}

TEST_F(LogTest, LevelHidesWhatIsBelow) {
  ASSERT_TRUE(SetLogLevel("error"));
  testing::internal::CaptureStderr();
  LogInfo("hidden");
  LogWarning("hidden");
  LogError("shown");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  EXPECT_NE(text.find("shown"), std::string::npos);
  EXPECT_FALSE(SetLogLevel("loud"));
}

TEST_F(LogTest, LongTextIsCut) {
  testing::internal::CaptureStderr();
  LogError("long", {{"text", std::string(10 * kMaxLogLineBytes, 'x')}});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_LT(text.size(), kMaxLogLineBytes + 500);
  EXPECT_EQ(nlohmann::json::parse(text)["text"].get<std::string>().size(), kMaxLogLineBytes);
}

}  // namespace
}  // namespace strobe
