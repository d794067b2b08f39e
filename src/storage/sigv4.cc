#include "src/storage/sigv4.h"

#include <time.h>

#include <algorithm>
#include <map>

#include "src/base/text.h"
#include "src/storage/checksum.h"

namespace strobe::storage {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;

std::string Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

std::string AmazonTime(int64_t unix_ns) {
  const auto seconds = static_cast<time_t>(unix_ns / kNanosPerSecond);
  struct tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[32];
  const size_t size = strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &parts);
  return std::string(text, size);
}

int64_t ParseTimeNs(std::string_view text) {
  const std::string copy(text.substr(0, 64));
  struct tm parts = {};
  const char* rest = strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) {
    parts = {};
    rest = strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S", &parts);
  }
  if (rest == nullptr) return 0;
  int64_t nanos = static_cast<int64_t>(timegm(&parts)) * kNanosPerSecond;
  if (*rest == '.') {
    int64_t unit = kNanosPerSecond / 10;
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest) {
      nanos += (*rest - '0') * unit;
      unit /= 10;
    }
  }
  return nanos;
}

std::string CanonicalQuery(std::vector<std::pair<std::string, std::string>> query) {
  for (auto& [name, value] : query) {
    name = PercentEncode(name, false);
    value = PercentEncode(value, false);
  }
  std::sort(query.begin(), query.end());
  std::string text;
  for (const auto& [name, value] : query) {
    if (!text.empty()) text += '&';
    text += name + "=" + value;
  }
  return text;
}

HttpHeaders SignV4(const RequestToSign& request, const AwsCredentials& credentials,
                   const std::string& region, const std::string& service, int64_t now_unix_ns) {
  HttpHeaders headers = request.headers;
  if (credentials.anonymous) return headers;
  const std::string time = AmazonTime(now_unix_ns);
  const std::string day = time.substr(0, 8);
  headers.emplace_back("x-amz-date", time);
  headers.emplace_back("x-amz-content-sha256", request.payload_sha256);
  if (!credentials.session_token.empty()) {
    headers.emplace_back("x-amz-security-token", credentials.session_token);
  }
  std::map<std::string, std::string> sorted = {{"host", request.host}};
  for (const auto& [name, value] : headers) sorted[AsciiLower(name)] = Trimmed(value);
  std::string canonical_headers;
  std::string signed_names;
  for (const auto& [name, value] : sorted) {
    canonical_headers += name + ":" + value + "\n";
    signed_names += (signed_names.empty() ? "" : ";") + name;
  }
  const std::string canonical = request.method + "\n" + PercentEncode(request.path, true) + "\n" +
                                CanonicalQuery(request.query) + "\n" + canonical_headers + "\n" +
                                signed_names + "\n" + request.payload_sha256;
  const std::string scope = day + "/" + region + "/" + service + "/aws4_request";
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n" + HexOf(Sha256(canonical));
  std::string key = HmacSha256("AWS4" + credentials.secret_access_key, day);
  key = HmacSha256(key, region);
  key = HmacSha256(key, service);
  key = HmacSha256(key, "aws4_request");
  headers.emplace_back("authorization", "AWS4-HMAC-SHA256 Credential=" + credentials.access_key_id +
                                            "/" + scope + ", SignedHeaders=" + signed_names +
                                            ", Signature=" + HexOf(HmacSha256(key, to_sign)));
  return headers;
}

}  // namespace strobe::storage
