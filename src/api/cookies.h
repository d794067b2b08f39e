// The cookies of ours, and the addresses that must not be logged as they are.
//
//   const std::string_view session = CookieValue(request, SessionCookieName(request.secure));
//   response.headers.emplace_back("Set-Cookie", MakeCookie(name, value, secure, kForSession));
//
// With TLS names begin with __Host-: browsers then take such a cookie only from us, for every path,
// and never without TLS. All are HttpOnly and SameSite=Lax.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/api/request.h"

namespace strobe::api {

std::string SessionCookieName(bool secure);
std::string LinkCookieName(bool secure);
std::string OidcCookieName(bool secure);
std::string_view CookieValue(const Request& request, std::string_view name);

inline constexpr int64_t kCookieOfBrowserSession = -1;
inline constexpr int64_t kCookieForgotten = 0;
std::string MakeCookie(std::string_view name, std::string_view value, bool secure,
                       int64_t max_age_s);

// The address without what must not be in a log: tokens of share links, codes and tokens of the
// sign-in.
std::string RedactTarget(std::string_view target);

}  // namespace strobe::api
