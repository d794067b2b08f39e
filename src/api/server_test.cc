#include "src/api/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "src/api/http_client_for_test.h"
#include "src/base/log.h"

namespace strobe::api {
namespace {

// Lets a test hold a handler where it wants it.
class Gate {
 public:
  void Open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

class ServerTest : public testing::Test {
 protected:
  void SetUp() override { SetLogLevel("off"); }
  void TearDown() override {
    held_.Open();
    server_.reset();
    SetLogLevel("info");
  }

  std::vector<Route> MakeTestRoutes() {
    std::vector<Route> routes;
    const auto add = [&](Method method, std::string pattern,
                         std::function<Result<Response>(const Request&)> handler) {
      Route route{.access = kPublicAccess};
      route.method = method;
      route.pattern = std::move(pattern);
      route.handler = std::move(handler);
      routes.push_back(std::move(route));
    };
    add(Method::kGet, "/small",
        [](const Request&) -> Result<Response> { return JsonResponse("{\"a\":1}"); });
    add(Method::kGet, "/large", [this](const Request&) -> Result<Response> {
      Response response = TextResponse(large_);
      response.ranges = true;
      response.revalidate = true;
      return response;
    });
    add(Method::kPost, "/echo",
        [](const Request& request) -> Result<Response> { return TextResponse(request.body); });
    add(Method::kGet, "/held", [this](const Request&) -> Result<Response> {
      entered_.set_value();
      held_.Wait();
      return JsonResponse("{}");
    });
    add(Method::kGet, "/busy", [this](const Request&) -> Result<Response> {
      ++busy_;
      held_.Wait();
      return JsonResponse("{}");
    });
    add(Method::kGet, "/work", routes.back().handler);
    routes.back().run_on = RunOn::kWorkPool;
    add(Method::kGet, "/until-cancelled", [this](const Request& request) -> Result<Response> {
      entered_.set_value();
      while (!request.cancel.cancelled()) std::this_thread::yield();
      cancelled_.set_value();
      return request.cancel.Check();
    });
    add(Method::kGet, "/throws",
        [](const Request&) -> Result<Response> { throw std::runtime_error("as a library might"); });
    add(Method::kGet, "/stream", [](const Request&) -> Result<Response> {
      return StreamResponse("text/plain", [](StreamWriter& out) {
        for (int i = 0; i < 100; ++i) {
          if (!out.Write("part " + std::to_string(i) + "\n")) return;
        }
      });
    });
    add(Method::kGet, "/torn", [](const Request&) -> Result<Response> {
      return StreamResponse("text/plain", [](StreamWriter& out) {
        out.Write("the first half");
        out.Fail();
      });
    });
    add(Method::kGet, "/endless", [this](const Request&) -> Result<Response> {
      return StreamResponse("text/plain", [this](StreamWriter& out) {
        const std::string part(64 * 1024, 'x');
        while (out.Write(part)) written_bytes_.fetch_add(part.size());
        cancelled_.set_value();
      });
    });
    return routes;
  }

  void StartServer(ServerOptions options = {}) {
    router_ = std::make_unique<Router>(MakeTestRoutes());
    metrics_ = std::make_unique<HttpMetrics>(router_->routes().size() + 1);
    Result<std::unique_ptr<Server>> server = Server::Start(options, {.router = *router_,
                                                                     .guard = guard_,
                                                                     .metrics = *metrics_,
                                                                     .clock = SystemClock(),
                                                                     .ids = ids_});
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(server).value();
  }
  uint16_t port() const { return server_->port(); }

  const std::string large_ = std::string(3'000'000, 'a') + "end";
  Gate held_;
  std::promise<void> entered_;
  std::promise<void> cancelled_;
  std::atomic<int> busy_{0};
  std::atomic<uint64_t> written_bytes_{0};
  Guard guard_{GuardOptions{}};
  IdMaker ids_{SystemClock(), SystemRandom()};
  std::unique_ptr<Router> router_;
  std::unique_ptr<HttpMetrics> metrics_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, AnswersManyRequestsOnOneConnection) {
  StartServer();
  TestClient client(port());
  for (int i = 0; i < 20; ++i) {
    const TestAnswer answer = client.Get("/small");
    ASSERT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "{\"a\":1}");
    EXPECT_EQ(answer.Get("connection"), "keep-alive");
    ExpectStrictHeaders(answer);
  }
  EXPECT_EQ(metrics_->accepted_connections.load(), 1u);
}

TEST_F(ServerTest, AnswersPipelinedRequestsInOrder) {
  StartServer();
  TestClient client(port());
  std::string all;
  for (int i = 0; i < 10; ++i) {
    const std::string body = "number " + std::to_string(i);
    all += client.Head("POST", "/echo",
                       "Content-Type: application/json\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n") +
           body;
    all += client.Head("GET", "/small", "");
  }
  ASSERT_TRUE(client.Send(all));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(client.Read().body, "number " + std::to_string(i));
    EXPECT_EQ(client.Read().body, "{\"a\":1}");
  }
}

TEST_F(ServerTest, SendsLargeBodiesWholeRangesAndHeads) {
  StartServer();
  TestClient client(port());
  const TestAnswer whole = client.Get("/large");
  EXPECT_EQ(whole.body, large_);
  const TestAnswer part = client.Get("/large", "Range: bytes=-3\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "end");
  EXPECT_EQ(part.Get("content-range"), "bytes 3000000-3000002/3000003");
  EXPECT_EQ(client.Get("/large", "Range: bytes=9999999-\r\n").status, 416);
  client.Send(client.Head("HEAD", "/large", ""));
  const TestAnswer head = client.Read(/*no_body=*/true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Get("content-length"), "3000003");
  ExpectStrictHeaders(head);
  const TestAnswer packed = client.Get("/large", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(packed.Get("content-encoding"), "gzip");
  EXPECT_LT(packed.body.size(), 100'000u);
  EXPECT_EQ(client.Get("/large", "If-None-Match: " + whole.Get("etag") + "\r\n").status, 304);
}

TEST_F(ServerTest, RefusesWhatBreaksALimitByName) {
  StartServer({.max_body_bytes = 1000});
  {
    TestClient client(port());
    const TestAnswer answer = client.Get("/small", "X-Long: " + std::string(20'000, 'x') + "\r\n");
    EXPECT_EQ(answer.status, 431);
    EXPECT_NE(answer.body.find("HEADERS_TOO_LARGE"), std::string::npos);
    ExpectStrictHeaders(answer);
    EXPECT_TRUE(client.AtEnd());
  }
  {
    TestClient client(port());
    const TestAnswer answer = client.Get("/small?q=" + std::string(9000, 'x'));
    EXPECT_EQ(answer.status, 414);
    EXPECT_NE(answer.body.find("TARGET_TOO_LONG"), std::string::npos);
  }
  {
    TestClient client(port());
    const TestAnswer answer = client.Post("/echo", std::string(1001, 'x'));
    EXPECT_EQ(answer.status, 413);
    EXPECT_NE(answer.body.find("BODY_TOO_LARGE"), std::string::npos);
    ExpectStrictHeaders(answer);
  }
  {
    TestClient client(port());
    client.Send("BLAH blah\r\n\r\n");
    const TestAnswer answer = client.Read();
    EXPECT_EQ(answer.status, 400);
    EXPECT_NE(answer.body.find("REQUEST_MALFORMED"), std::string::npos);
    ExpectStrictHeaders(answer);
  }
}

TEST_F(ServerTest, RefusesRequestsThatCouldSmuggleAnother) {
  StartServer();
  for (const std::string_view headers :
       {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n", "Content-Length: -1\r\n"}) {
    TestClient client(port());
    client.Send(
        client.Head("POST", "/echo", "Content-Type: application/json\r\n" + std::string(headers)) +
        "0\r\n\r\n");
    const TestAnswer answer = client.Read();
    EXPECT_EQ(answer.status, 400) << headers;
    EXPECT_TRUE(client.AtEnd()) << headers;
  }
}

TEST_F(ServerTest, ClosesSlowHeadsWithATimeout) {
  StartServer({.header_timeout_ms = 50});
  TestClient client(port());
  client.Send("GET /small HTTP/1.1\r\nHost: 127");
  const TestAnswer answer = client.Read();
  EXPECT_EQ(answer.status, 408);
  EXPECT_NE(answer.body.find("REQUEST_TIMEOUT"), std::string::npos);
  EXPECT_TRUE(client.AtEnd());
  EXPECT_EQ(metrics_->timed_out_connections.load(), 1u);
}

TEST_F(ServerTest, ClosesSlowBodiesAndIdleConnections) {
  StartServer({.idle_timeout_ms = 50, .body_timeout_ms = 50});
  TestClient slow(port());
  slow.Send(slow.Head("POST", "/echo", "Content-Type: application/json\r\nContent-Length: 10\r\n") +
            "abc");
  EXPECT_EQ(slow.Read().status, 408);
  TestClient idle(port());
  EXPECT_EQ(idle.Get("/small").status, 200);
  EXPECT_TRUE(idle.AtEnd());
}

TEST_F(ServerTest, EndsARequestAtItsDeadline) {
  StartServer({.request_deadline_ms = 50});
  TestClient client(port());
  const TestAnswer answer = client.Get("/until-cancelled");
  EXPECT_EQ(answer.status, 504);
  EXPECT_NE(answer.body.find("REQUEST_DEADLINE"), std::string::npos);
  cancelled_.get_future().wait();
}

TEST_F(ServerTest, CancelsWhenTheClientLeaves) {
  StartServer();
  TestClient client(port());
  client.Send(client.Head("GET", "/until-cancelled", ""));
  entered_.get_future().wait();
  client.Close();
  cancelled_.get_future().wait();
}

// 127.0.0.2 and .3: other addresses of this machine, so other users to the server.
constexpr uint32_t kOtherAddress = INADDR_LOOPBACK + 1;
constexpr uint32_t kThirdAddress = INADDR_LOOPBACK + 2;

std::vector<std::unique_ptr<TestClient>> AskAtOnce(uint16_t port, int count,
                                                   const std::string& target) {
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<TestClient>(port));
    clients.back()->Send(clients.back()->Head("GET", target, ""));
  }
  return clients;
}

TEST_F(ServerTest, OneUserLeavesThreadsForTheNext) {
  StartServer({.handler_threads = 4});
  const auto greedy = AskAtOnce(port(), 10, "/busy");
  while (busy_ < 3) std::this_thread::yield();
  // Without the rule the fourth thread would be taken too, and these would wait for ever.
  EXPECT_EQ(TestClient(port(), kOtherAddress).Get("/small").status, 200);
  EXPECT_EQ(TestClient(port(), kThirdAddress).Get("/small").status, 200);
  EXPECT_EQ(busy_, 3);
  while (metrics_->pools[0].waiting < 7) std::this_thread::yield();
  EXPECT_EQ(metrics_->pools[0].running, 3);
  held_.Open();
  for (const auto& client : greedy) EXPECT_EQ(client->Read().status, 200);
  EXPECT_EQ(metrics_->pools[0].waiting, 0);
}

TEST_F(ServerTest, LongWorkLeavesThePageItsThreads) {
  StartServer({.handler_threads = 1, .work_threads = 1});
  const auto busy = AskAtOnce(port(), 3, "/work");
  while (busy_ < 1) std::this_thread::yield();
  EXPECT_EQ(TestClient(port()).Get("/small").status, 200);
  held_.Open();
  for (const auto& client : busy) EXPECT_EQ(client->Read().status, 200);
  EXPECT_EQ(metrics_->pools[1].served, 3u);
}

TEST_F(ServerTest, WhatNobodyWaitsForAnyMoreIsNotBegun) {
  StartServer({.handler_threads = 1});
  auto clients = AskAtOnce(port(), 1, "/busy");
  while (busy_ < 1) std::this_thread::yield();
  // A page that was moved on, or closed: its requests wait, and their connections end.
  for (auto& stale : AskAtOnce(port(), 5, "/busy")) stale->Close();
  while (metrics_->clients_left < 5) std::this_thread::yield();
  held_.Open();
  EXPECT_EQ(clients[0]->Read().status, 200);
  EXPECT_EQ(TestClient(port()).Get("/small").status, 200);
  EXPECT_EQ(busy_, 1);
  EXPECT_EQ(metrics_->pools[0].abandoned, 5u);
}

TEST_F(ServerTest, SurvivesAHandlerThatThrows) {
  StartServer();
  TestClient client(port());
  const TestAnswer answer = client.Get("/throws");
  EXPECT_EQ(answer.status, 500);
  EXPECT_NE(answer.body.find("HANDLER_FAILED"), std::string::npos);
  EXPECT_EQ(client.Get("/small").status, 200);
}

TEST_F(ServerTest, StreamsInChunksAndGoesOn) {
  StartServer();
  TestClient client(port());
  const TestAnswer answer = client.Get("/stream");
  EXPECT_EQ(answer.Get("transfer-encoding"), "chunked");
  std::string expected;
  for (int i = 0; i < 100; ++i) expected += "part " + std::to_string(i) + "\n";
  EXPECT_EQ(answer.body, expected);
  ExpectStrictHeaders(answer);
  EXPECT_EQ(client.Get("/small").status, 200);
}

TEST_F(ServerTest, StreamsToHttp10UntilTheEnd) {
  StartServer();
  TestClient client(port());
  client.Send("GET /stream HTTP/1.0\r\n\r\n");
  const TestAnswer answer = client.Read();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Get("transfer-encoding"), "");
  EXPECT_NE(answer.body.find("part 99\n"), std::string::npos);
}

TEST_F(ServerTest, HoldsBackAStreamWhoseClientDoesNotReadAndEndsIt) {
  StartServer({.write_timeout_ms = 200});
  TestClient client(port());
  client.Send(client.Head("GET", "/endless", ""));
  EXPECT_EQ(client.ReadHead().status, 200);
  // The kernel's buffers and our own fill, then the writer waits until the time limit ends it.
  cancelled_.get_future().wait();
  EXPECT_GT(written_bytes_.load(), 0u);
  EXPECT_LT(written_bytes_.load(), 64u << 20);
}

// The last chunk is missing, so that no client takes the half for the whole.
TEST_F(ServerTest, AStreamThatFailsBreaksTheConnectionOff) {
  StartServer();
  TestClient client(port());
  ASSERT_TRUE(client.Send(client.Head("GET", "/torn", "")));
  EXPECT_EQ(client.ReadHead().status, 200);
  std::string body;
  EXPECT_TRUE(client.ReadChunk(&body));
  EXPECT_EQ(body, "the first half");
  EXPECT_TRUE(client.AtEnd());
  EXPECT_EQ(client.unread(), "");
}

TEST_F(ServerTest, ServesManyClientsAtOnce) {
  StartServer();
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 64; ++t) {
    threads.emplace_back([this, &good] {
      TestClient client(port());
      for (int i = 0; i < 20; ++i) {
        if (client.Get("/small").status == 200 && client.Get("/stream").status == 200) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 64 * 20);
}

TEST_F(ServerTest, RefusesConnectionsBeyondTheLimit) {
  StartServer({.max_connections = 3});
  TestClient first(port());
  TestClient second(port());
  TestClient third(port());
  for (TestClient* client : {&first, &second, &third}) {
    ASSERT_EQ(client->Get("/small").status, 200);
  }
  TestClient fourth(port());
  const TestAnswer answer = fourth.Read();
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("TOO_MANY_CONNECTIONS"), std::string::npos);
  EXPECT_TRUE(fourth.AtEnd());
  EXPECT_EQ(metrics_->refused_connections.load(), 1u);
}

TEST_F(ServerTest, FinishesWhatRunsAtShutdown) {
  StartServer();
  TestClient idle(port());
  EXPECT_EQ(idle.Get("/small").status, 200);
  TestClient busy(port());
  busy.Send(busy.Head("GET", "/held", ""));
  entered_.get_future().wait();
  const uint16_t old_port = port();
  std::thread shutdown([this] { server_->Shutdown(); });
  // The idle connection ends at once, the busy one gets its answer.
  EXPECT_TRUE(idle.AtEnd());
  held_.Open();
  const TestAnswer answer = busy.Read();
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(busy.AtEnd());
  shutdown.join();
  EXPECT_FALSE(TestClient(old_port).connected());
}

TEST_F(ServerTest, EndsStreamsAndCancelsStragglersAtShutdown) {
  StartServer({.drain_timeout_ms = 50});
  TestClient straggler(port());
  straggler.Send(straggler.Head("GET", "/until-cancelled", ""));
  entered_.get_future().wait();
  TestClient stream(port());
  stream.Send(stream.Head("GET", "/stream", ""));
  EXPECT_EQ(stream.Read().status, 200);
  server_->Shutdown();
  cancelled_.get_future().wait();
  EXPECT_TRUE(straggler.AtEnd());
}

TEST_F(ServerTest, DoesNotWaitForAHalfSentRequestAtShutdown) {
  // Were it waited for, this test would run into its time limit.
  StartServer({.header_timeout_ms = 3'600'000, .drain_timeout_ms = 3'600'000});
  TestClient half(port());
  EXPECT_EQ(half.Get("/small").status, 200);
  half.Send("GET /small HTTP/1.1\r\nHo");
  TestClient witness(port());  // its answer shows that the bytes before were seen
  EXPECT_EQ(witness.Get("/small").status, 200);
  server_->Shutdown();
  EXPECT_TRUE(half.Read().status == 408 || half.AtEnd());
}

TEST_F(ServerTest, SaysWhyItCannotListen) {
  StartServer();
  const Server::Parts parts{.router = *router_,
                            .guard = guard_,
                            .metrics = *metrics_,
                            .clock = SystemClock(),
                            .ids = ids_};
  const auto taken = Server::Start({.port = port()}, parts);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.status().name(), "LISTEN_FAILED");
  const auto wrong = Server::Start({.address = "nowhere"}, parts);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().name(), "LISTEN_ADDRESS_INVALID");
}

TEST_F(ServerTest, AnswersExpectContinue) {
  StartServer();
  TestClient client(port());
  client.Send(client.Head(
      "POST", "/echo",
      "Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n"));
  EXPECT_EQ(client.Read().status, 100);
  client.Send("{}");
  EXPECT_EQ(client.Read().body, "{}");
}

}  // namespace
}  // namespace strobe::api
