// The pure parts: addresses, headers, matching, and fitting answers to requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/api/finish.h"
#include "src/api/guard.h"
#include "src/api/request.h"
#include "src/api/router.h"
#include "src/api/server.h"

namespace strobe::api {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TargetTest, SplitsBeforeDecoding) {
  const Request request = MakeRequest("GET", "/a%2Fb/c%20d/?q=x+y%26z&q=2&empty").value();
  EXPECT_THAT(request.segments, testing::ElementsAre("a/b", "c d"));
  EXPECT_EQ(request.Query("q"), "x y&z");
  EXPECT_EQ(request.Query("empty"), "");
  EXPECT_FALSE(request.Query("none").has_value());
}

TEST(TargetTest, TakesTheXprofPrefixOff) {
  for (const char* target : {"/data/plugin/profile", "/data/plugin/profile/"}) {
    const Request request = MakeRequest("GET", target).value();
    EXPECT_TRUE(request.segments.empty()) << target;
    EXPECT_TRUE(request.below_xprof_prefix);
  }
  EXPECT_THAT(MakeRequest("GET", "/data/plugin/profile/runs").value().segments,
              testing::ElementsAre("runs"));
  EXPECT_EQ(MakeRequest("GET", "/data/plugin/profiles").value().segments.size(), 3u);
}

TEST(TargetTest, RefusesWhatIsNoPath) {
  for (const char* target :
       {"", "runs", "http://x/", "*", "/%", "/%4", "/%zz", "/%00", "/a%0a", "/?q=%0d", "/a#b"}) {
    const auto request = MakeRequest("GET", target);
    ASSERT_FALSE(request.ok()) << target;
    EXPECT_EQ(request.status().name(), "TARGET_MALFORMED") << target;
  }
  std::string many = "/?";
  for (int i = 0; i < 65; ++i) many += "a=1&";
  EXPECT_FALSE(MakeRequest("GET", many).ok());
  EXPECT_EQ(MakeRequest("GET", "/" + std::string(kMaxTargetBytes, 'a')).status().name(),
            "TARGET_TOO_LONG");
}

TEST(RouterTest, MatchesSegmentsWithSeveralNames) {
  std::vector<std::pair<std::string, std::string>> params;
  EXPECT_TRUE(MatchSegment("{h}.{p}.{c}", "0.12.3", &params));
  EXPECT_EQ(params[1].second, "12");
  params.clear();
  EXPECT_TRUE(MatchSegment("{id}:cancel", "op-1:cancel", &params));
  EXPECT_EQ(params[0].second, "op-1");
  for (const char* text : {"", ".", "0.1", "..", "0..1"}) {
    params.clear();
    EXPECT_FALSE(MatchSegment("{h}.{p}.{c}", text, &params)) << text;
  }
  params.clear();
  EXPECT_FALSE(MatchSegment("{id}:cancel", ":cancel", &params));
  EXPECT_FALSE(MatchSegment("{id}:cancel", "op-1", &params));
}

TEST(FinishTest, ChoosesTheEncodingThatIsAccepted) {
  EXPECT_TRUE(AcceptsEncoding("gzip, deflate, br", "gzip"));
  EXPECT_TRUE(AcceptsEncoding("br;q=1.0, GZIP ; q=0.5", "gzip"));
  EXPECT_TRUE(AcceptsEncoding("*", "gzip"));
  EXPECT_FALSE(AcceptsEncoding("gzip;q=0", "gzip"));
  EXPECT_FALSE(AcceptsEncoding("gzip; q=0.000, *", "gzip"));
  EXPECT_FALSE(AcceptsEncoding("*;q=0", "gzip"));
  EXPECT_FALSE(AcceptsEncoding("", "gzip"));
  EXPECT_FALSE(AcceptsEncoding("xgzip", "gzip"));
}

TEST(FinishTest, MatchesEtagsOfAnyEncoding) {
  EXPECT_TRUE(MatchesEtag("\"abc\"", "abc"));
  EXPECT_TRUE(MatchesEtag("W/\"abc-gzip\"", "abc"));
  EXPECT_TRUE(MatchesEtag("\"x\", \"abc-br\"", "abc"));
  EXPECT_TRUE(MatchesEtag("*", "abc"));
  EXPECT_FALSE(MatchesEtag("\"abcd\"", "abc"));
  EXPECT_FALSE(MatchesEtag("\"abc-x\"", "abc"));
  EXPECT_FALSE(MatchesEtag("", "abc"));
  EXPECT_FALSE(MatchesEtag("*", ""));
}

TEST(FinishTest, ReadsRanges) {
  struct Case {
    std::string_view header;
    RangeOutcome outcome;
    size_t offset;
    size_t length;
  };
  for (const Case& c : std::vector<Case>{{"bytes=0-0", RangeOutcome::kPart, 0, 1},
                                         {"bytes=5-", RangeOutcome::kPart, 5, 5},
                                         {"bytes=-3", RangeOutcome::kPart, 7, 3},
                                         {"bytes=-99", RangeOutcome::kPart, 0, 10},
                                         {"bytes=2-99", RangeOutcome::kPart, 2, 8},
                                         {"bytes=10-", RangeOutcome::kUnsatisfiable, 0, 0},
                                         {"bytes=-0", RangeOutcome::kUnsatisfiable, 0, 0},
                                         {"bytes=3-2", RangeOutcome::kWhole, 0, 0},
                                         {"bytes=0-1,3-4", RangeOutcome::kWhole, 0, 0},
                                         {"bytes=a-b", RangeOutcome::kWhole, 0, 0},
                                         {"bytes=-", RangeOutcome::kWhole, 0, 0},
                                         {"bytes=--3", RangeOutcome::kWhole, 0, 0},
                                         {"lines=1-2", RangeOutcome::kWhole, 0, 0}}) {
    ByteSpan span;
    EXPECT_EQ(ParseRange(c.header, 10, &span), c.outcome) << c.header;
    if (c.outcome != RangeOutcome::kPart) continue;
    EXPECT_EQ(span.offset, c.offset) << c.header;
    EXPECT_EQ(span.length, c.length) << c.header;
  }
  ByteSpan span;
  EXPECT_EQ(ParseRange("bytes=0-", 0, &span), RangeOutcome::kUnsatisfiable);
}

WireResponse FinishGet(const std::vector<Header>& headers, Response response) {
  Request request = MakeRequest("GET", "/").value();
  request.headers = headers;
  return Finish(request, std::move(response), {.now_unix_seconds = 784111777});
}

TEST(FinishTest, CompressesOnlyWhatGainsByIt) {
  const std::vector<Header> gzip = {{"accept-encoding", "gzip"}};
  EXPECT_THAT(FinishGet(gzip, JsonResponse(std::string(2000, ' '))).head,
              HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_THAT(FinishGet(gzip, JsonResponse(std::string(1000, ' '))).head,
              Not(HasSubstr("Content-Encoding")));
  EXPECT_THAT(FinishGet({}, JsonResponse(std::string(2000, ' '))).head,
              Not(HasSubstr("Content-Encoding")));
  Response image = JsonResponse(std::string(2000, ' '));
  image.content_type = "image/png";
  EXPECT_THAT(FinishGet(gzip, image).head, Not(HasSubstr("Content-Encoding")));
}

TEST(FinishTest, KeepsOneEtagForEachEncoding) {
  const Response response = JsonResponse(std::string(2000, ' '));
  const std::string plain = FinishGet({}, response).head;
  const std::string packed = FinishGet({{"accept-encoding", "gzip"}}, response).head;
  const std::string etag = plain.substr(plain.find("ETag: \"") + 7, 16);
  EXPECT_THAT(packed, HasSubstr("ETag: \"" + etag + "-gzip\""));
  const WireResponse same = FinishGet({{"if-none-match", "\"" + etag + "-gzip\""}}, response);
  EXPECT_EQ(same.status, 304);
  EXPECT_TRUE(same.body_view().empty());
  EXPECT_THAT(same.head, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(same.head, HasSubstr("ETag: \"" + etag + "\""));
}

TEST(FinishTest, NeverLetsAValueBreakOutOfItsHeader) {
  Response response = JsonResponse("{}");
  response.headers.emplace_back("Location", "/a\r\nSet-Cookie: x=1");
  EXPECT_THAT(FinishGet({}, response).head, HasSubstr("Location: /aSet-Cookie: x=1\r\n"));
}

TEST(FinishTest, WritesDatesAsHttpDoes) {
  EXPECT_EQ(HttpDate(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(GuardTest, KnowsLoopbackNames) {
  const Guard loopback(GuardOptions{});
  for (const char* host : {"localhost", "LOCALHOST:80", "app.localhost:1", "127.0.0.1:8080",
                           "127.8.9.1", "[::1]:80", "localhost."}) {
    EXPECT_TRUE(loopback.HostAllowed(host)) << host;
  }
  for (const char* host :
       {"", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "[::2]",
        "127.0.0.1:80:80", "127.0.0.1:x", "[::1", "0.0.0.0", "2130706433"}) {
    EXPECT_FALSE(loopback.HostAllowed(host)) << host;
  }
}

TEST(GuardTest, TakesAddressesButNoForeignNamesWhenOpen) {
  const Guard open(GuardOptions{.listen_address = "0.0.0.0", .extra_hosts = {"Box"}});
  EXPECT_TRUE(open.HostAllowed("10.0.0.1:8080"));
  EXPECT_TRUE(open.HostAllowed("box:8080"));
  EXPECT_FALSE(open.HostAllowed("evil.example"));
}

TEST(GuardTest, TakesChangesFromOurPagesOnly) {
  const Guard guard(GuardOptions{});
  Request request = MakeRequest("POST", "/").value();
  int status = 0;
  const auto check = [&](std::vector<Header> headers) {
    headers.push_back({"host", "localhost:8"});
    headers.push_back({"content-type", "application/json; charset=utf-8"});
    request.headers = std::move(headers);
    return std::string(guard.Check(request, &status).name());
  };
  EXPECT_EQ(check({}), "OK");
  EXPECT_EQ(check({{"origin", "http://localhost:8"}}), "OK");
  EXPECT_EQ(check({{"origin", "http://localhost:9"}}), "ORIGIN_NOT_ALLOWED");
  EXPECT_EQ(check({{"origin", "null"}}), "ORIGIN_NOT_ALLOWED");
  EXPECT_EQ(check({{"sec-fetch-site", "same-origin"}}), "OK");
  EXPECT_EQ(check({{"sec-fetch-site", "cross-site"}}), "ORIGIN_NOT_ALLOWED");
  EXPECT_EQ(check({{"sec-fetch-site", "same-site"}}), "ORIGIN_NOT_ALLOWED");
  EXPECT_EQ(status, 403);
}

TEST(GuardTest, TakesXprofsPostWithoutABodyButNotFromForeignPages) {
  const Guard guard(GuardOptions{});
  int status = 0;
  Request request = MakeRequest("POST", "/data/plugin/profile/generate_cache?x=1").value();
  request.headers = {{"host", "localhost:8"}};
  EXPECT_TRUE(guard.Check(request, &status).ok());
  request.headers.push_back({"origin", "http://evil.example"});
  EXPECT_EQ(guard.Check(request, &status).name(), "ORIGIN_NOT_ALLOWED");
  request = MakeRequest("POST", "/api/v1/captures").value();
  request.headers = {{"host", "localhost:8"}};
  EXPECT_EQ(guard.Check(request, &status).name(), "CONTENT_TYPE_NOT_JSON");
}

TEST(ParseWholeRequestTest, ReadsOneRequestAndNamesWhatIsWrong) {
  const Result<Request> request = ParseWholeRequest(
      "POST /echo?q=1 HTTP/1.1\r\nHost: a\r\nX-Two: b\r\nContent-Length: 2\r\n\r\n{}");
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  EXPECT_EQ(request->method, Method::kPost);
  EXPECT_EQ(request->body, "{}");
  EXPECT_EQ(request->HeaderValue("x-two"), "b");
  EXPECT_EQ(ParseWholeRequest("GET / HTTP/1.1\r\nHost: a\r\n").status().name(),
            "REQUEST_INCOMPLETE");
  EXPECT_EQ(ParseWholeRequest("\x01\x02\r\n\r\n").status().name(), "REQUEST_MALFORMED");
}

}  // namespace
}  // namespace strobe::api
