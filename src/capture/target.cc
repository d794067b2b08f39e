#include "src/capture/target.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <set>

#include "src/base/json_writer.h"
#include "src/base/text.h"
#include "src/capture/capture.h"

namespace strobe::capture {
namespace {

constexpr size_t kMaxDnsNameBytes = 253;
constexpr size_t kMaxDnsLabelBytes = 63;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlphanumeric(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

Status BadTarget(std::string_view text, const std::string& why) {
  return InvalidArgumentError("CAPTURE_BAD_TARGET", "The target \"" + CleanText(text, 100) +
                                                        "\" is not host:port: " + why + ".")
      .Hint("Write it as 127.0.0.1:9012, node0.example.com:9012 or [::1]:9012, without a scheme.");
}

// Empty when `name` can be looked up in DNS, else what is wrong with it.
std::string FaultOfDnsName(std::string_view name) {
  if (name.empty()) return "there is no host";
  if (name.size() > kMaxDnsNameBytes) return "the host has more than 253 characters";
  size_t begin = 0;
  for (;;) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view label = name.substr(begin, end - begin);
    if (label.empty()) return "the host has an empty part";
    if (label.size() > kMaxDnsLabelBytes) return "a part of the host has more than 63 characters";
    if (label.front() == '-' || label.back() == '-') {
      return "a part of the host begins or ends with '-'";
    }
    for (const char c : label) {
      if (!IsAlphanumeric(c) && c != '-' && c != '_') {
        return "the host has a character other than letters, digits, '.', '-' and '_'";
      }
    }
    if (end == name.size()) {
      // Resolvers read 1.2.3, 2130706433 and 0x7f.1 as addresses: only the plain form may be one.
      const bool numeric = std::all_of(label.begin(), label.end(), IsDigit) ||
                           label.starts_with("0x") || label.starts_with("0X");
      return numeric ? "it looks like an IPv4 address but has not four parts of 0 to 255" : "";
    }
    begin = end + 1;
  }
}

Result<uint16_t> ParsePort(std::string_view text, std::string_view port) {
  if (port.empty()) return BadTarget(text, "there is no port");
  if (port.size() > 5 || !std::all_of(port.begin(), port.end(), IsDigit)) {
    return BadTarget(text, "the port is not a number from 1 to 65535");
  }
  const int number = std::stoi(std::string(port));
  if (number < 1 || number > 65535) {
    return BadTarget(text, "the port is not a number from 1 to 65535");
  }
  return static_cast<uint16_t>(number);
}

Result<Target> ParseIpv6(std::string_view text) {
  const size_t close = text.find(']');
  if (close == std::string_view::npos || close + 1 >= text.size() || text[close + 1] != ':') {
    return BadTarget(text, "expected [address]:port");
  }
  const std::string address(text.substr(1, close - 1));
  in6_addr parsed{};
  if (address.size() >= INET6_ADDRSTRLEN || inet_pton(AF_INET6, address.c_str(), &parsed) != 1) {
    return BadTarget(text, "what stands in brackets is not an IPv6 address");
  }
  Target target;
  STROBE_ASSIGN_OR_RETURN(target.port, ParsePort(text, text.substr(close + 2)));
  std::array<char, INET6_ADDRSTRLEN> canonical{};
  STROBE_CHECK(inet_ntop(AF_INET6, &parsed, canonical.data(), canonical.size()) != nullptr);
  target.text = text;
  target.host = canonical.data();
  const bool mapped_loopback = IN6_IS_ADDR_V4MAPPED(&parsed) && parsed.s6_addr[12] == 127;
  target.is_loopback = IN6_IS_ADDR_LOOPBACK(&parsed) || mapped_loopback;
  const std::string port = std::to_string(target.port);
  target.authority = "[" + target.host + "]:" + port;
  target.grpc_address = "ipv6:%5B" + target.host + "%5D:" + port;
  return target;
}

std::string WithoutColons(std::string text) {
  std::replace(text.begin(), text.end(), ':', '_');
  return text;
}

}  // namespace

std::string Target::file_host() const {
  // "::1" becomes "__1": ugly, but it says what it is.
  return WithoutColons(host);
}

std::string Target::file_host_port() const { return file_host() + "_" + std::to_string(port); }

Result<Target> ParseTarget(std::string_view text) {
  if (text.empty()) return BadTarget(text, "it is empty");
  if (text.size() > kMaxTargetBytes) return BadTarget(text, "it is too long");
  if (text.find("://") != std::string_view::npos) return BadTarget(text, "it has a scheme");
  if (text.front() == '[') return ParseIpv6(text);
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return BadTarget(text, "there is no port");
  if (text.find(':', colon + 1) != std::string_view::npos) {
    return BadTarget(text, "it has more than one ':' (an IPv6 address needs brackets)");
  }
  Target target;
  target.text = text;
  target.host = AsciiLower(text.substr(0, colon));
  STROBE_ASSIGN_OR_RETURN(target.port, ParsePort(text, text.substr(colon + 1)));
  target.authority = target.host + ":" + std::to_string(target.port);
  in_addr address{};
  if (inet_pton(AF_INET, target.host.c_str(), &address) == 1) {
    target.is_loopback = (ntohl(address.s_addr) >> 24) == 127;
    target.grpc_address = "ipv4:" + target.authority;
    return target;
  }
  if (const std::string fault = FaultOfDnsName(target.host); !fault.empty()) {
    return BadTarget(text, fault);
  }
  target.is_name = true;
  target.is_loopback = target.host == "localhost" || target.host.ends_with(".localhost");
  target.grpc_address = "dns:///" + target.authority;
  return target;
}

Result<std::vector<Target>> ParseTargets(const std::vector<std::string>& texts) {
  if (texts.empty()) {
    return InvalidArgumentError("CAPTURE_NO_TARGET", "No target was named.")
        .Hint(
            "Name the job's profiler server as host:port; a JAX job opens it with "
            "jax.profiler.start_server(port).");
  }
  if (texts.size() > kMaxTargets) {
    return InvalidArgumentError("CAPTURE_TOO_MANY_TARGETS",
                                std::to_string(texts.size()) + " targets were named; at most " +
                                    std::to_string(kMaxTargets) + " can be captured at once.");
  }
  std::vector<Target> targets;
  std::set<std::string> seen;
  for (const std::string& text : texts) {
    STROBE_ASSIGN_OR_RETURN(Target target, ParseTarget(text));
    if (!seen.insert(target.authority).second) {
      return InvalidArgumentError("CAPTURE_BAD_TARGET",
                                  "The target \"" + target.text + "\" was named twice.")
          .Hint("Name each profiler server once: it records for one caller at a time.");
    }
    targets.push_back(std::move(target));
  }
  return targets;
}

bool IsSafeName(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes) return false;
  if (name.front() == '.' || name.front() == '-') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

Status CheckName(std::string_view what, std::string_view name) {
  if (IsSafeName(name)) return OkStatus();
  return InvalidArgumentError("CAPTURE_BAD_NAME", "The " + std::string(what) + " name \"" +
                                                      CleanText(name, 100) + "\" cannot be used.")
      .Hint(
          "Use 1 to 200 letters, digits, '.', '_' and '-', beginning with a letter, a digit or "
          "'_'.");
}

Status CheckRun(std::string_view run) {
  if (run.empty()) return OkStatus();
  size_t depth = 0;
  for (size_t begin = 0; begin <= run.size();) {
    const size_t end = std::min(run.find('/', begin), run.size());
    STROBE_RETURN_IF_ERROR(CheckName("run", run.substr(begin, end - begin)));
    if (++depth > kMaxRunDepth) {
      return InvalidArgumentError("CAPTURE_BAD_NAME",
                                  "The run has more than 8 folders below one another.");
    }
    begin = end + 1;
  }
  return OkStatus();
}

std::string CleanText(std::string_view text, size_t max_bytes) {
  const bool cut = text.size() > max_bytes;
  std::string clean = ToValidUtf8(text.substr(0, max_bytes));
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return cut ? clean + "..." : clean;
}

}  // namespace strobe::capture
