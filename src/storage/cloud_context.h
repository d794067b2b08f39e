// What the clients of object stores take from the machine, so that tests can give something else.
//
//   const CloudContext context = SystemCloudContext();
#pragma once

#include <functional>
#include <memory>
#include <optional>
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

// The beginning of a file that holds credentials or settings, 1 MiB of it at most; nullopt when it
// cannot be read.
std::optional<std::string> ReadSmallFile(const std::string& path);

// One HTTP client for the whole process, made when first asked for.
CloudContext SystemCloudContext();

}  // namespace strobe::storage
