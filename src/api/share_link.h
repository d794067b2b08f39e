// Share links: an address that opens one session, one run or one exact view, and nothing beside it.
//
//   const std::string token = ShareLinkToken(key, link);        // "<id>.<signature>"
//   ShareLinkId(token)                                          // "<id>"
//   if (!ShareLinkGenuine(key, link, token)) ...                // edited, or another's
//
// The signature covers everything that the link says, so that neither a byte of it nor the record
// in the catalogue can be changed unnoticed. The key is made once and kept in the catalogue.
// Cost: 2 us. Limits: kMaxLinksHeld for one browser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/catalog/access_records.h"

namespace strobe::api {

// A cookie of this many stays below 1 KiB; the oldest goes first.
inline constexpr size_t kMaxLinksHeld = 8;
inline constexpr int64_t kLinkLongestNs = 366LL * 24 * 3600 * 1'000'000'000;
inline constexpr int64_t kLinkDefaultNs = 30LL * 24 * 3600 * 1'000'000'000;

std::string ShareLinkToken(std::string_view key, const catalog::ShareLink& link);
std::string ShareLinkId(std::string_view token);
bool ShareLinkGenuine(std::string_view key, const catalog::ShareLink& link, std::string_view token);

// The tokens of the cookie, newest first; at most kMaxLinksHeld.
std::vector<std::string> SplitLinkTokens(std::string_view cookie);
// The cookie's text with one more.
std::string AddLinkToken(std::string_view cookie, const std::string& token);

// "/s/abc?x=1": a path of this server and nothing that a browser reads as another one.
bool IsLocalPath(std::string_view path);

}  // namespace strobe::api
