#include "src/cli/api_client.h"

#include <gtest/gtest.h>

#include "src/cli/tool_text.h"
#include "src/wire/compress.h"

namespace strobe::cli {
namespace {

TEST(ServerAddressTest, ReadsWhatPeopleWrite) {
  const ServerAddress plain = ParseServerAddress("http://127.0.0.1:8080/llama/run1").value();
  EXPECT_EQ(plain.host, "127.0.0.1");
  EXPECT_EQ(plain.port, "8080");
  EXPECT_EQ(plain.path, "/llama/run1");
  const ServerAddress v6 = ParseServerAddress("http://[::1]:7/s/a%20b?x#y").value();
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.path, "/s/a b");
  EXPECT_EQ(ParseServerAddress("http://host").value().port, "80");
  EXPECT_FALSE(plain.tls);
  const ServerAddress tls = ParseServerAddress("https://strobe.example/llama").value();
  EXPECT_TRUE(tls.tls);
  EXPECT_EQ(tls.port, "443");
  EXPECT_EQ(tls.path, "/llama");
  for (const char* bad :
       {"https://", "https://h:0/", "http://", "http://:1/", "http://h:x/", "http://h:0/",
        "http://h:65536/", "http://u@h:1/", "http://[::1", "ftp://h"}) {
    EXPECT_EQ(ParseServerAddress(bad).status().name(), "URL_MALFORMED") << bad;
  }
}

TEST(HttpAnswerTest, ReadsBodiesOfEachKind) {
  const HttpAnswer sized =
      ParseHttpAnswer("HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\ncontent-length: 3\r\n\r\na,b")
          .value();
  EXPECT_EQ(sized.status, 200);
  EXPECT_EQ(sized.content_type, "text/csv");
  EXPECT_EQ(sized.body, "a,b");
  EXPECT_EQ(ParseHttpAnswer("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "3;x=1\r\nabc\r\n0A\r\n0123456789\r\n0\r\n\r\n")
                .value()
                .body,
            "abc0123456789");
  EXPECT_EQ(ParseHttpAnswer("HTTP/1.0 200 OK\r\n\r\nto the end").value().body, "to the end");
  const std::string packed = wire::GzipCompress("packed text");
  EXPECT_EQ(ParseHttpAnswer("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " +
                            std::to_string(packed.size()) + "\r\n\r\n" + packed)
                .value()
                .body,
            "packed text");
}

TEST(HttpAnswerTest, NamesWhatIsNoAnswer) {
  for (const char* bad :
       {"", "hello", "HTTP/1.1", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        "HTTP/1.1 xyz OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"}) {
    EXPECT_EQ(ParseHttpAnswer(bad).status().name(), "SERVER_ANSWER_BROKEN") << bad;
  }
}

TEST(PercentEncodeTest, EncodesWhatIsNotPlain) {
  EXPECT_EQ(PercentEncode("trace_viewer@ a/b&c=\xc3\xbc"), "trace_viewer%40%20a%2Fb%26c%3D%C3%BC");
}

constexpr std::string_view kAnswer =
    R"json({"partial": true, "document": null, "text": null,
  "notices": [{"severity": "warning", "name": "NO_STEPS", "message": "No \u001b[31msteps.", "hint": "Mark."}],
  "tables": [{"id": "ops", "title": "Operations", "properties": {"device": "TPU"}, "row_count": 9,
    "columns": [{"label": "Op", "type": "string"}, {"label": "Time (us)", "type": "number"}],
    "rows": [["a|b", 12.5], ["c", {"value": 31, "text": "0x1f"}], [null, 1e300]]}]})json";

TEST(ToolTextTest, AlignsTables) {
  const ToolText text = ToolAnswerText(kAnswer, TextStyle::kTable).value();
  EXPECT_NE(text.out.find("Operations\n  device: TPU\n"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("a|b"), std::string::npos);
  EXPECT_NE(text.out.find("0x1f"), std::string::npos);
  EXPECT_NE(text.remarks.find("3 of 9 rows"), std::string::npos) << text.remarks;
  EXPECT_NE(text.remarks.find("warning: NO_STEPS: No "), std::string::npos);
  EXPECT_EQ(text.remarks.find('\x1b'), std::string::npos);
  EXPECT_TRUE(text.partial);
}

TEST(ToolTextTest, WritesMarkdown) {
  const ToolText text = ToolAnswerText(kAnswer, TextStyle::kMarkdown).value();
  EXPECT_NE(text.out.find("| Op | Time (us) |\n|---|---:|\n| a\\|b | 12.5 |\n| c | 0x1f |\n"),
            std::string::npos)
      << text.out;
}

TEST(ToolTextTest, NamesWhatIsNoAnswer) {
  for (const char* bad : {"", "[]", "{}", R"({"tables": [1]})", R"({"tables": 1})"}) {
    EXPECT_FALSE(ToolAnswerText(bad, TextStyle::kTable).ok()) << bad;
  }
  EXPECT_FALSE(ToolListText("{}", TextStyle::kTable).ok());
  EXPECT_NE(ToolListText(R"({"tools": [{"id": "x", "question": "Why?"}]})", TextStyle::kTable)
                .value()
                .find("Why?"),
            std::string::npos);
}

}  // namespace
}  // namespace strobe::cli
