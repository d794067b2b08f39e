#include "src/cli/answer_stream.h"

#include <gtest/gtest.h>

namespace strobe::cli {
namespace {

struct Taken {
  Status status;
  std::string body;
};

// In pieces of `step` bytes.
Taken TakeAll(std::string_view bytes, size_t step) {
  Taken taken;
  AnswerStream answer([&](std::string_view part) {
    taken.body += part;
    return OkStatus();
  });
  for (size_t at = 0; at < bytes.size() && taken.status.ok(); at += step) {
    taken.status = answer.Feed(bytes.substr(at, step));
  }
  if (taken.status.ok()) taken.status = answer.Finish();
  return taken;
}

TEST(AnswerStreamTest, EveryFormInPiecesOfEverySize) {
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n "
      "world\r\n0\r\n\r\n";
  const std::string with_length = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world";
  const std::string to_the_end = "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nhello world";
  for (const std::string& answer : {chunked, with_length, to_the_end}) {
    for (size_t step = 1; step <= answer.size(); ++step) {
      const Taken taken = TakeAll(answer, step);
      EXPECT_TRUE(taken.status.ok()) << step << taken.status.ToString();
      EXPECT_EQ(taken.body, "hello world") << step;
    }
  }
}

TEST(AnswerStreamTest, WhatEndsInTheMiddleIsNotWhole) {
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n";
  for (size_t size = 1; size + 1 < chunked.size(); ++size) {
    EXPECT_EQ(TakeAll(std::string_view(chunked).substr(0, size), 7).status.name(),
              "SERVER_ANSWER_BROKEN")
        << size;
  }
  EXPECT_EQ(TakeAll("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", 3).status.name(),
            "SERVER_ANSWER_BROKEN");
  EXPECT_EQ(TakeAll("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 3).status.name(),
            "SERVER_ANSWER_BROKEN");
  EXPECT_EQ(TakeAll("SMTP", 3).status.name(), "SERVER_ANSWER_BROKEN");
}

TEST(AnswerStreamTest, ErrorsBecomeTheStatusThatTheyWere) {
  const std::string body =
      R"({"error":{"code":"NOT_FOUND","name":"LINE_UNKNOWN","message":"No line.","where":null,"hint":null}})";
  const Taken taken =
      TakeAll("HTTP/1.1 404 Not Found\r\nContent-Length: " + std::to_string(body.size()) +
                  "\r\n\r\n" + body,
              10);
  EXPECT_EQ(taken.status.name(), "LINE_UNKNOWN");
  EXPECT_EQ(taken.body, "");
}

}  // namespace
}  // namespace strobe::cli
