#include "src/api/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "src/base/hash.h"
#include "src/wire/compress.h"

namespace strobe::api {
namespace {

// Weight of one entry of Accept-Encoding; 1 when none is given, 0 when it cannot be read.
bool WeightIsZero(std::string_view parameters) {
  const size_t q = parameters.find("q=");
  if (q == std::string_view::npos) return false;
  std::string_view value = TrimSpaces(parameters.substr(q + 2));
  return value.find_first_not_of("0.") == std::string_view::npos;
}

std::string_view StripEtag(std::string_view entry) {
  entry = TrimSpaces(entry);
  if (entry.starts_with("W/")) entry.remove_prefix(2);
  if (entry.size() >= 2 && entry.front() == '"' && entry.back() == '"') {
    entry = entry.substr(1, entry.size() - 2);
  }
  return entry;
}

bool Compressible(std::string_view type) {
  return type.starts_with("text/") || type.starts_with("application/json") ||
         type.starts_with("application/octet-stream") || type.starts_with("image/svg+xml") ||
         type.starts_with("application/wasm") || type.starts_with("application/manifest+json");
}

void AppendHeader(std::string& head, std::string_view name, std::string_view value) {
  head += name;
  head += ": ";
  // A value never breaks out of its line, whatever a file or user was called.
  for (const char c : value) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) head.push_back(c);
  }
  head += "\r\n";
}

struct Encoded {
  Body body;
  std::string_view encoding;  // empty: identity
};

Encoded Encode(const Request& request, const Response& response) {
  if (response.body == nullptr || response.compression == Compression::kNever) {
    return {response.body, ""};
  }
  if (response.compression == Compression::kAlways) {
    if (response.gzip_body) return {response.gzip_body, "gzip"};
    return {std::make_shared<const std::string>(wire::GzipCompress(*response.body)), "gzip"};
  }
  const std::string_view accepted = request.HeaderValue("accept-encoding");
  if (response.brotli_body && AcceptsEncoding(accepted, "br")) return {response.brotli_body, "br"};
  if (!AcceptsEncoding(accepted, "gzip")) return {response.body, ""};
  if (response.gzip_body) return {response.gzip_body, "gzip"};
  if (response.body->size() <= kMinCompressedBytes || !Compressible(response.content_type)) {
    return {response.body, ""};
  }
  Body packed = std::make_shared<const std::string>(wire::GzipCompress(*response.body));
  if (packed->size() >= response.body->size()) return {response.body, ""};
  return {std::move(packed), "gzip"};
}

// Applies Range where it may; returns true when the answer became 206 or 416.
bool ApplyRange(const Request& request, const Response& response, WireResponse* wire,
                std::string* range_headers) {
  const std::string_view header = request.HeaderValue("range");
  if (!response.ranges || header.empty() || response.status != 200 || response.body == nullptr) {
    return false;
  }
  const std::string_view if_range = request.HeaderValue("if-range");
  if (!if_range.empty() && if_range != "\"" + response.etag + "\"") return false;
  ByteSpan span;
  const size_t size = response.body->size();
  switch (ParseRange(header, size, &span)) {
    case RangeOutcome::kWhole:
      return false;
    case RangeOutcome::kUnsatisfiable:
      wire->status = 416;
      wire->body = nullptr;
      AppendHeader(*range_headers, "Content-Range", fmt::format("bytes */{}", size));
      return true;
    case RangeOutcome::kPart:
      wire->status = 206;
      wire->body = response.body;
      wire->body_offset = span.offset;
      wire->body_length = span.length;
      AppendHeader(*range_headers, "Content-Range",
                   fmt::format("bytes {}-{}/{}", span.offset, span.offset + span.length - 1, size));
      return true;
  }
  return false;
}

void AppendFixedHeaders(const Request& request, const Response& response,
                        const FinishOptions& options, std::string& head) {
  AppendHeader(head, "Date", HttpDate(options.now_unix_seconds));
  AppendHeader(head, "Server", "strobe");
  AppendHeader(head, "X-Request-Id", request.request_id);
  AppendHeader(head, "Content-Security-Policy", kContentSecurityPolicy);
  AppendHeader(head, "X-Content-Type-Options", "nosniff");
  AppendHeader(head, "X-Frame-Options", "SAMEORIGIN");
  AppendHeader(head, "Referrer-Policy", "same-origin");
  AppendHeader(head, "Cross-Origin-Opener-Policy", "same-origin");
  AppendHeader(head, "Cross-Origin-Resource-Policy", "same-origin");
  if (request.secure) {
    AppendHeader(head, "Strict-Transport-Security", "max-age=31536000; includeSubDomains");
  }
  AppendHeader(head, "Cache-Control", response.cache_control);
  for (const auto& [name, value] : response.headers) AppendHeader(head, name, value);
}

std::string StatusLine(const Request& request, int status) {
  return fmt::format("HTTP/1.{} {} {}\r\n", request.http_1_0 ? 0 : 1, status, ReasonPhrase(status));
}

}  // namespace

bool AcceptsEncoding(std::string_view header, std::string_view encoding) {
  bool any = false;
  while (!header.empty()) {
    const size_t comma = std::min(header.find(','), header.size());
    const std::string_view entry = header.substr(0, comma);
    header.remove_prefix(std::min(comma + 1, header.size()));
    const size_t semicolon = std::min(entry.find(';'), entry.size());
    const std::string_view name = TrimSpaces(entry.substr(0, semicolon));
    const bool refused = WeightIsZero(entry.substr(semicolon));
    if (EqualsIgnoreCase(name, encoding)) return !refused;
    if (name == "*") any = !refused;
  }
  return any;
}

bool MatchesEtag(std::string_view header, std::string_view etag) {
  if (etag.empty()) return false;
  while (!header.empty()) {
    const size_t comma = std::min(header.find(','), header.size());
    const std::string_view entry = StripEtag(header.substr(0, comma));
    header.remove_prefix(std::min(comma + 1, header.size()));
    if (entry == "*" || entry == etag) return true;
    if (entry.starts_with(etag) &&
        (entry.substr(etag.size()) == "-gzip" || entry.substr(etag.size()) == "-br")) {
      return true;
    }
  }
  return false;
}

RangeOutcome ParseRange(std::string_view header, size_t size_bytes, ByteSpan* span) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return RangeOutcome::kWhole;
  const std::string_view text = TrimSpaces(header.substr(kUnit.size()));
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos || text.find(',') != std::string_view::npos) {
    return RangeOutcome::kWhole;
  }
  const std::string_view from_text = text.substr(0, dash);
  const std::string_view to_text = text.substr(dash + 1);
  const std::optional<int64_t> from = ParseInt64(from_text);
  const std::optional<int64_t> to = ParseInt64(to_text);
  if ((!from_text.empty() && (!from || *from < 0)) || (!to_text.empty() && (!to || *to < 0))) {
    return RangeOutcome::kWhole;
  }
  if (from_text.empty()) {
    if (!to) return RangeOutcome::kWhole;
    const size_t length = std::min(static_cast<size_t>(*to), size_bytes);
    if (length == 0) return RangeOutcome::kUnsatisfiable;
    *span = {size_bytes - length, length};
    return RangeOutcome::kPart;
  }
  if (to && *to < *from) return RangeOutcome::kWhole;
  const auto first = static_cast<size_t>(*from);
  if (first >= size_bytes) return RangeOutcome::kUnsatisfiable;
  const size_t last = to ? std::min(static_cast<size_t>(*to), size_bytes - 1) : size_bytes - 1;
  *span = {first, last - first + 1};
  return RangeOutcome::kPart;
}

std::string HttpDate(int64_t unix_seconds) {
  const auto seconds = static_cast<time_t>(unix_seconds);
  tm parts{};
  gmtime_r(&seconds, &parts);
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[parts.tm_wday], parts.tm_mday,
                     kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min,
                     parts.tm_sec);
}

WireResponse Finish(const Request& request, Response response, const FinishOptions& options) {
  WireResponse wire;
  wire.status = response.status;
  wire.error_name = response.error_name;
  wire.close = response.close_connection || !options.keep_alive;
  if (response.revalidate && response.etag.empty() && response.body) {
    response.etag = ToHex64(Hash64(*response.body));
  }
  const bool reads = request.method == Method::kGet || request.method == Method::kHead;
  const bool not_modified = reads && response.revalidate && response.status == 200 &&
                            MatchesEtag(request.HeaderValue("if-none-match"), response.etag);
  std::string variable;
  std::string etag = response.etag;
  if (not_modified) {
    wire.status = 304;
  } else if (!reads || !ApplyRange(request, response, &wire, &variable)) {
    const Encoded encoded = Encode(request, response);
    wire.body = encoded.body;
    wire.body_length = encoded.body ? encoded.body->size() : 0;
    if (!encoded.encoding.empty()) {
      AppendHeader(variable, "Content-Encoding", encoded.encoding);
      if (!etag.empty()) etag += "-" + std::string(encoded.encoding);
    }
  }
  if (!response.content_type.empty() && wire.status != 304 && wire.status != 204) {
    AppendHeader(variable, "Content-Type", response.content_type);
  }
  if (response.revalidate && !etag.empty()) AppendHeader(variable, "ETag", "\"" + etag + "\"");
  if (response.ranges) AppendHeader(variable, "Accept-Ranges", "bytes");
  if (response.compression == Compression::kIfAccepted) {
    AppendHeader(variable, "Vary", "Accept-Encoding");
  }
  if (response.stream && wire.status == 200) {
    wire.chunked = !request.http_1_0;
    if (wire.chunked) {
      AppendHeader(variable, "Transfer-Encoding", "chunked");
    } else {
      wire.close = true;
    }
    if (request.method != Method::kHead) wire.stream = std::move(response.stream);
  } else if (wire.status != 304 && wire.status != 204) {
    AppendHeader(variable, "Content-Length", std::to_string(wire.body_length));
  }
  AppendHeader(variable, "Connection", wire.close ? "close" : "keep-alive");
  wire.head = StatusLine(request, wire.status);
  AppendFixedHeaders(request, response, options, wire.head);
  wire.head += variable;
  wire.head += "\r\n";
  if (request.method == Method::kHead) wire.body = nullptr;
  if (wire.body == nullptr) wire.body_length = 0;
  return wire;
}

}  // namespace strobe::api
