#include "src/api/request.h"

#include <algorithm>
#include <charconv>

namespace strobe::api {
namespace {

constexpr std::string_view kXprofPrefix = "/data/plugin/profile";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Status Malformed(std::string_view what) {
  return InvalidArgumentError("TARGET_MALFORMED", std::string(what))
      .Hint("Expected a path that begins with \"/\", with %XX escapes of two hex digits.");
}

Status SplitPath(std::string_view path, std::vector<std::string>* segments) {
  segments->clear();
  // One trailing slash means the same as none, as in XProf.
  if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  size_t at = 1;
  while (at <= path.size() && path.size() > 1) {
    const size_t slash = std::min(path.find('/', at), path.size());
    std::string decoded;
    if (!PercentDecode(path.substr(at, slash - at), false, &decoded)) {
      return Malformed("The path of the address has a broken or forbidden %XX escape.");
    }
    segments->push_back(std::move(decoded));
    at = slash + 1;
  }
  return OkStatus();
}

Status SplitQuery(std::string_view query, Request* request) {
  request->query.clear();
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    if (request->query.size() >= kMaxQueryParameters) {
      return Malformed("The address has more than 64 query parameters.");
    }
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string name;
    std::string value;
    if (!PercentDecode(pair.substr(0, equals), true, &name) ||
        (equals < pair.size() && !PercentDecode(pair.substr(equals + 1), true, &value))) {
      return Malformed("The query of the address has a broken or forbidden %XX escape.");
    }
    request->query.emplace_back(std::move(name), std::move(value));
  }
  return OkStatus();
}

}  // namespace

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
    case Method::kOptions:
      return "OPTIONS";
    case Method::kOther:
      break;
  }
  return "OTHER";
}

Method ParseMethod(std::string_view name) {
  for (const Method method : {Method::kGet, Method::kHead, Method::kPost, Method::kPut,
                              Method::kPatch, Method::kDelete, Method::kOptions}) {
    if (name == MethodName(method)) return method;
  }
  return Method::kOther;
}

std::string_view Request::HeaderValue(std::string_view lower_case_name) const {
  for (const Header& header : headers) {
    if (header.name == lower_case_name) return header.value;
  }
  return {};
}

size_t Request::HeaderCount(std::string_view lower_case_name) const {
  return static_cast<size_t>(std::count_if(
      headers.begin(), headers.end(), [&](const Header& h) { return h.name == lower_case_name; }));
}

std::optional<std::string_view> Request::Query(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return std::string_view(value);
  }
  return std::nullopt;
}

std::string_view Request::Param(std::string_view name) const {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  return {};
}

std::optional<int64_t> Request::QueryInt(std::string_view name) const {
  const std::optional<std::string_view> text = Query(name);
  return text.has_value() ? ParseInt64(*text) : std::nullopt;
}

Status SetTarget(std::string_view target, Request* request) {
  request->target = std::string(target.substr(0, kMaxTargetBytes));
  request->segments.clear();
  request->query.clear();
  if (target.size() > kMaxTargetBytes) {
    return InvalidArgumentError("TARGET_TOO_LONG", "The address of the request is too long.")
        .Hint("At most 8192 bytes are taken.");
  }
  if (target.empty() || target.front() != '/') {
    return Malformed("The address of the request is not a path.");
  }
  const size_t question = std::min(target.find('?'), target.size());
  std::string_view path = target.substr(0, question);
  const size_t fragment = path.find('#');
  if (fragment != std::string_view::npos) return Malformed("An address sent holds no \"#\".");
  request->below_xprof_prefix = false;
  if (path.starts_with(kXprofPrefix) &&
      (path.size() == kXprofPrefix.size() || path[kXprofPrefix.size()] == '/')) {
    path.remove_prefix(kXprofPrefix.size());
    if (path.empty()) path = "/";
    request->below_xprof_prefix = true;
  }
  request->path = std::string(path);
  STROBE_RETURN_IF_ERROR(SplitPath(path, &request->segments));
  return SplitQuery(target.substr(std::min(question + 1, target.size())), request);
}

Result<Request> MakeRequest(std::string_view method, std::string_view target) {
  Request request;
  request.method = ParseMethod(method);
  STROBE_RETURN_IF_ERROR(SetTarget(target, &request));
  return request;
}

bool PercentDecode(std::string_view text, bool plus_is_space, std::string* out) {
  out->clear();
  out->reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return false;
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return false;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    out->push_back(c);
  }
  return true;
}

std::optional<int64_t> ParseInt64(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<uint32_t> ParseUint32(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string ToLowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ToLowerAscii(a) == ToLowerAscii(b);
}

std::string_view TrimSpaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace strobe::api
