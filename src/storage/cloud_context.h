// What the clients of object stores take from the machine, so that tests can give something else.
//
//   const CloudContext context = SystemCloudContext();
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/storage/http_client.h"
#include "src/storage/retry.h"

namespace strobe::storage {

struct CloudContext {
  std::function<std::string(const char*)> environment;  // "" when it is not set
  const Clock* clock = nullptr;
  Random* random = nullptr;
  Waiter* waiter = nullptr;
  std::shared_ptr<HttpClient> http;
  RetryPolicy retry = {};
};

// One HTTP client for the whole process, made when first asked for.
CloudContext SystemCloudContext();

}  // namespace strobe::storage
