#include "src/api/share_link.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/catalog/secret.h"

namespace strobe::api {
namespace {

// 132 bits; short addresses are copied whole.
constexpr size_t kSignatureCharacters = 22;
constexpr size_t kMaxPathBytes = 4096;

std::string Signature(std::string_view key, const catalog::ShareLink& link) {
  std::string bytes = "strobe-link-1";
  for (const std::string& field :
       {link.id, link.project, link.kind, link.target, link.view, link.audience,
        std::to_string(link.expire_unix_ns), link.created_by}) {
    bytes += fmt::format("{}:{}", field.size(), field);
  }
  return catalog::Base64UrlEncode(catalog::HmacSha256(key, bytes)).substr(0, kSignatureCharacters);
}

}  // namespace

std::string ShareLinkToken(std::string_view key, const catalog::ShareLink& link) {
  return link.id + "." + Signature(key, link);
}

std::string ShareLinkId(std::string_view token) {
  return std::string(token.substr(0, std::min(token.find('.'), token.size())));
}

bool ShareLinkGenuine(std::string_view key, const catalog::ShareLink& link,
                      std::string_view token) {
  return catalog::SameSecret(ShareLinkToken(key, link), token);
}

std::vector<std::string> SplitLinkTokens(std::string_view cookie) {
  std::vector<std::string> tokens;
  while (!cookie.empty() && tokens.size() < kMaxLinksHeld) {
    const size_t end = std::min(cookie.find('~'), cookie.size());
    if (end > 0) tokens.emplace_back(cookie.substr(0, end));
    cookie.remove_prefix(std::min(end + 1, cookie.size()));
  }
  return tokens;
}

std::string AddLinkToken(std::string_view cookie, const std::string& token) {
  std::string text = token;
  size_t held = 1;
  for (const std::string& other : SplitLinkTokens(cookie)) {
    if (other == token || held == kMaxLinksHeld) continue;
    text += "~" + other;
    ++held;
  }
  return text;
}

bool IsLocalPath(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.size() > kMaxPathBytes) return false;
  if (path.size() > 1 && (path[1] == '/' || path[1] == '\\')) return false;
  return std::all_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7F && c != '\\' && c != '"' && c != '<' &&
           c != '>' && static_cast<unsigned char>(c) < 0x80;
  });
}

}  // namespace strobe::api
