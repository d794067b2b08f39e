#include "src/cli/text.h"

#include <gtest/gtest.h>

#include "src/cli/command.h"
#include "src/cli/serve_settings.h"

namespace strobe::cli {
namespace {

TEST(TextTest, ReadsDurations) {
  EXPECT_EQ(ParseDurationMs("2s").value(), 2000);
  EXPECT_EQ(ParseDurationMs("500ms").value(), 500);
  EXPECT_EQ(ParseDurationMs("1m").value(), 60'000);
  EXPECT_EQ(ParseDurationMs("1.5h").value(), 5'400'000);
  EXPECT_EQ(ParseDurationMs("3").value(), 3000);
  EXPECT_EQ(ParseDurationMs("1500us").value(), 2);
  for (const char* text : {"", "s", "-2s", "2 s", "2x", "1e99s", "nan", "inf", "0x10"}) {
    EXPECT_EQ(ParseDurationMs(text).status().name(), "DURATION_MALFORMED") << text;
  }
}

TEST(TextTest, ReadsTimesExactly) {
  EXPECT_EQ(ParseTimePs("9223372036854775807").value(), INT64_MAX);
  EXPECT_EQ(ParseTimePs("-5").value(), -5);
  EXPECT_EQ(ParseTimePs("12.5ms").value(), 12'500'000'000);
  EXPECT_EQ(ParseTimePs("40us").value(), 40'000'000);
  EXPECT_EQ(ParseTimePs("3s").value(), 3'000'000'000'000);
  for (const char* text : {"", "x", "1e30s", "99999999999s", "5 ms"}) {
    EXPECT_EQ(ParseTimePs(text).status().name(), "TIME_MALFORMED") << text;
  }
}

TEST(TextTest, ReadsSizes) {
  EXPECT_EQ(ParseSizeBytes("65536").value(), 65536u);
  EXPECT_EQ(ParseSizeBytes("20G").value(), 20ULL << 30);
  EXPECT_EQ(ParseSizeBytes("1.5MiB").value(), 1572864u);
  EXPECT_FALSE(ParseSizeBytes("-1").ok());
  EXPECT_FALSE(ParseSizeBytes("9999999T").ok());
}

TEST(TextTest, FormatsForPeople) {
  EXPECT_EQ(FormatDurationPs(2'300'000), "2.300 us");
  EXPECT_EQ(FormatDurationPs(98'123'456'789'012), "98.123 s");
  EXPECT_EQ(FormatDurationPs(-1'500), "-1.500 ns");
  EXPECT_EQ(FormatDurationPs(7), "7 ps");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCounted(1, "event", "events"), "1 event");
  EXPECT_EQ(FormatCounted(0, "event", "events"), "0 events");
  EXPECT_EQ(FormatCounted(1234, "row is", "rows are"), "1,234 rows are");
  EXPECT_EQ(FormatUnixMillis(1764426660000), "2025-11-29 14:31:00");
}

TEST(TextTest, LetsNoNameMoveTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(Printable("\xe2\x80\xae"
                      "x"),
            "\\xe2\\x80\\xaex");
  EXPECT_EQ(Printable("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(Printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(Printable("abcdef", 4), "abc\xe2\x80\xa6");
  EXPECT_EQ(Printable("abcd", 4), "abcd");
  EXPECT_EQ(DisplayWidth(Printable(std::string(1 << 20, 'x'), 80)), 80u);
}

TEST(TextTest, QuotesCsv) {
  EXPECT_EQ(CsvField("plain"), "plain");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"x\""), "\"say \"\"x\"\"\"");
}

TEST(TextTest, AlignsTables) {
  Table table({"NAME", "SIZE"}, {false, true});
  table.AddRow({"gr\xc3\xbcn", "5"});
  table.AddRow({"x", "1,234"});
  EXPECT_EQ(table.ToText(), "NAME   SIZE\ngr\xc3\xbcn      5\nx     1,234\n");
}

TEST(TextTest, PrintsErrorsWithPlaceAndAdvice) {
  EXPECT_EQ(ErrorText(NotFoundError("X_UNKNOWN", "No x.").Where("a\nb").Hint("Make one.")),
            "error: X_UNKNOWN: No x. (a\\x0ab)\n  Make one.\n");
}

TEST(ExitCodeTest, FollowsTheKindOfError) {
  EXPECT_EQ(ExitCodeOf(InvalidArgumentError("X", "")), kExitUsage);
  EXPECT_EQ(ExitCodeOf(NotFoundError("X", "")), kExitNotFound);
  EXPECT_EQ(ExitCodeOf(DataLossError("X", "")), kExitPartial);
  EXPECT_EQ(ExitCodeOf(InternalError("X", "")), kExitFailed);
}

TEST(ServeSettingsTest, RefusesWhatOtherMachinesReach) {
  EXPECT_EQ(ParseListen("127.0.0.1:0", Protection::kNone)->port, 0);
  EXPECT_EQ(ParseListen("[::1]:8080", Protection::kNone)->host, "::1");
  EXPECT_EQ(ParseListen("localhost:1", Protection::kNone)->host, "localhost");
  for (const char* text : {"0.0.0.0:80", "[::]:80", "10.0.0.1:80"}) {
    EXPECT_EQ(ParseListen(text, Protection::kNone).status().name(), "LISTEN_NOT_LOOPBACK") << text;
    EXPECT_TRUE(ParseListen(text, Protection::kInsecureByWish).ok()) << text;
  }
  for (const char* text :
       {"", "8080", ":80", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80", "name:80"}) {
    EXPECT_EQ(ParseListen(text, Protection::kInsecureByWish).status().name(), "LISTEN_MALFORMED")
        << text;
  }
}

TEST(ServeSettingsTest, FindsTheCacheDirectory) {
  EXPECT_EQ(DefaultCacheDirectory("/c", "/h"), "/c/strobe");
  EXPECT_EQ(DefaultCacheDirectory("relative", "/h"), "/h/.cache/strobe");
  EXPECT_EQ(DefaultCacheDirectory("", ""), "");
}

}  // namespace
}  // namespace strobe::cli
