#include "src/api/cookies.h"

#include <algorithm>
#include <array>

namespace strobe::api {
namespace {

std::string Named(std::string_view name, bool secure) {
  return (secure ? "__Host-" : "") + std::string(name);
}

constexpr std::string_view kLinkPath = "/l/";
constexpr std::array<std::string_view, 9> kSecretQueries = {
    "code",  "state",     "token",         "access_token", "id_token",
    "nonce", "assertion", "client_secret", "password"};

}  // namespace

std::string SessionCookieName(bool secure) { return Named("strobe_session", secure); }
std::string LinkCookieName(bool secure) { return Named("strobe_links", secure); }
std::string OidcCookieName(bool secure) { return Named("strobe_oidc", secure); }

std::string_view CookieValue(const Request& request, std::string_view name) {
  for (const Header& header : request.headers) {
    if (header.name != "cookie") continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = TrimSpaces(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const size_t equals = pair.find('=');
      if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
        return pair.substr(equals + 1);
      }
    }
  }
  return {};
}

std::string MakeCookie(std::string_view name, std::string_view value, bool secure,
                       int64_t max_age_s) {
  std::string text(name);
  text += "=";
  text += value;
  text += "; Path=/; HttpOnly; SameSite=Lax";
  if (secure) text += "; Secure";
  if (max_age_s >= 0) text += "; Max-Age=" + std::to_string(max_age_s);
  return text;
}

std::string RedactTarget(std::string_view target) {
  const size_t question = std::min(target.find('?'), target.size());
  std::string path(target.substr(0, question));
  if (path.starts_with(kLinkPath)) path = std::string(kLinkPath) + "-";
  if (question == target.size()) return path;
  std::string query;
  std::string_view rest = target.substr(question + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string name;
    // A name that does not decode is shown as it is, without its value.
    const bool read = PercentDecode(pair.substr(0, equals), true, &name);
    const bool secret = !read || std::find(kSecretQueries.begin(), kSecretQueries.end(),
                                           ToLowerAscii(name)) != kSecretQueries.end();
    if (!query.empty()) query += '&';
    query += pair.substr(0, equals);
    if (equals < pair.size()) query += secret ? "=-" : std::string(pair.substr(equals));
  }
  return path + "?" + query;
}

}  // namespace strobe::api
