// Who asks, when a proxy stands in front: its X-Forwarded-For and X-Forwarded-Proto count, those of
// anybody else do not.
//
//   STROBE_ASSIGN_OR_RETURN(const TrustedProxies proxies, TrustedProxies::Make({"10.0.0.0/8"}));
//   const ForwardedOrigin origin = proxies.OriginOf(request);   // request.peer is the connection's
//
// The last address that no trusted proxy has is the client. Errors: PROXY_MALFORMED.
#pragma once

#include <string>
#include <vector>

#include "src/api/request.h"
#include "src/base/address_policy.h"
#include "src/base/status.h"

namespace strobe::api {

struct ForwardedOrigin {
  std::string peer;
  bool secure = false;
};

class TrustedProxies {
 public:
  static Result<TrustedProxies> Make(const std::vector<std::string>& ranges);
  ForwardedOrigin OriginOf(const Request& request) const;

 private:
  bool Trusted(std::string_view address) const;
  std::vector<AddressRange> ranges_;
};

}  // namespace strobe::api
