// An HttpClient that answers from a function, and an environment from a map.
//
//   FakeHttp http([](const HttpRequest& request) -> Result<HttpAnswer> { return HttpAnswer{200, {},
//   ""}; }); CloudContext context = TestContext({{"AWS_REGION", "eu-west-1"}}, &clock, http);
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/storage/cloud_context.h"

namespace strobe::storage {

struct SentRequest {
  std::string method;
  std::string url;
  HttpHeaders headers;
  std::string body;
  std::string Header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return "";
  }
};

class FakeHttp : public HttpClient {
 public:
  using Answer = std::function<Result<HttpAnswer>(const SentRequest&)>;
  explicit FakeHttp(Answer answer) : answer_(std::move(answer)) {}
  Result<HttpAnswer> Send(const HttpRequest& request, const CancelToken& cancel) override {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    const std::lock_guard lock(mutex_);
    sent.push_back({request.method, request.url, request.headers, std::string(request.body)});
    return answer_(sent.back());
  }
  std::vector<SentRequest> sent;

 private:
  std::mutex mutex_;
  const Answer answer_;
};

struct TestCloud {
  std::map<std::string, std::string> environment;
  FakeClock clock;
  SeededRandom random{1};
  FakeWaiter waiter{clock};
  std::shared_ptr<FakeHttp> http;

  CloudContext context() {
    CloudContext context;
    context.environment = [this](const char* name) {
      const auto found = environment.find(name);
      return found == environment.end() ? std::string() : found->second;
    };
    context.clock = &clock;
    context.random = &random;
    context.waiter = &waiter;
    context.http = http;
    return context;
  }
};

}  // namespace strobe::storage
