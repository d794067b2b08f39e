#include "src/api/trusted_proxies.h"

#include <algorithm>

namespace strobe::api {

Result<TrustedProxies> TrustedProxies::Make(const std::vector<std::string>& ranges) {
  TrustedProxies proxies;
  for (const std::string& text : ranges) {
    const std::optional<AddressRange> range = AddressRange::Parse(text);
    if (!range) {
      return InvalidArgumentError("PROXY_MALFORMED", "This is no address or range of addresses.")
          .Where(text.substr(0, 128))
          .Hint("Write for example 127.0.0.1 or 10.0.0.0/8.");
    }
    proxies.ranges_.push_back(*range);
  }
  return proxies;
}

bool TrustedProxies::Trusted(std::string_view address) const {
  const std::optional<AddressBytes> bytes = ParseAddress(address);
  return bytes && std::any_of(ranges_.begin(), ranges_.end(),
                              [&](const AddressRange& range) { return range.Holds(*bytes); });
}

ForwardedOrigin TrustedProxies::OriginOf(const Request& request) const {
  ForwardedOrigin origin{.peer = request.peer};
  if (!Trusted(request.peer)) return origin;
  // What the nearest proxy said stands last; several headers are one list.
  std::vector<std::string> hops;
  for (const Header& header : request.headers) {
    if (header.name != "x-forwarded-for") continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      hops.emplace_back(TrimSpaces(rest.substr(0, comma)));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  for (auto hop = hops.rbegin(); hop != hops.rend() && Trusted(origin.peer); ++hop) {
    if (!ParseAddress(*hop)) break;
    origin.peer = *hop;
  }
  origin.secure = request.HeaderCount("x-forwarded-proto") == 1 &&
                  EqualsIgnoreCase(request.HeaderValue("x-forwarded-proto"), "https");
  return origin;
}

}  // namespace strobe::api
