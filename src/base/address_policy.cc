#include "src/base/address_policy.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include "src/base/text.h"

namespace strobe {
namespace {

// A name with more addresses than this is no machine of anybody's cluster.
constexpr size_t kMaxAddressesOfName = 64;
constexpr size_t kMaxHostBytes = 255;

constexpr AddressBytes kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0};

bool IsMapped(const AddressBytes& address) {
  return std::equal(address.begin(), address.begin() + 12, kMappedPrefix.begin());
}

AddressBytes Mapped(const uint8_t* four) {
  AddressBytes address = kMappedPrefix;
  std::copy_n(four, 4, address.begin() + 12);
  return address;
}

bool In(const AddressBytes& address, std::string_view range) {
  return AddressRange::Parse(range)->Holds(address);
}

AddressKind KindOfIpv4(const AddressBytes& address) {
  for (const std::string_view range : {"0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4",
                                       "192.0.0.192", "100.100.100.200", "168.63.129.16"}) {
    if (In(address, range)) return AddressKind::kNever;
  }
  for (const std::string_view range :
       {"10.0.0.0/8", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10",
        "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"}) {
    if (In(address, range)) return AddressKind::kPrivate;
  }
  return AddressKind::kPublic;
}

std::string Lowered(std::string_view text) {
  std::string lower = AsciiLower(text);
  if (lower.ends_with('.')) lower.pop_back();
  return lower;
}

Result<std::vector<std::string>> LookUpByDns(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = AF_UNSPEC;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  if (error != 0) {
    return UnavailableError("ADDRESS_UNKNOWN",
                            std::string("The name has no address: ") + gai_strerror(error) + ".")
        .Where(host.substr(0, kMaxHostBytes));
  }
  std::vector<std::string> addresses;
  for (const addrinfo* at = list.get(); at != nullptr; at = at->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(at->ai_addr, at->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      addresses.emplace_back(text.data());
    }
  }
  return addresses;
}

bool NameFits(std::string_view pattern, std::string_view host) {
  if (!pattern.starts_with("*.")) return pattern == host;
  pattern.remove_prefix(1);
  return host.size() > pattern.size() && host.ends_with(pattern);
}

Status NotAllowed(const std::string& host) {
  return PermissionDeniedError("ADDRESS_NOT_ALLOWED",
                               "This server may not connect to this machine.")
      .Where(host.substr(0, kMaxHostBytes))
      .Hint("Whoever runs the server allows ranges and names with --allow-targets.");
}

}  // namespace

std::optional<AddressBytes> ParseAddress(std::string_view text) {
  const std::string copy(text.substr(0, kMaxHostBytes));
  in_addr v4{};
  if (inet_pton(AF_INET, copy.c_str(), &v4) == 1) {
    return Mapped(reinterpret_cast<const uint8_t*>(&v4));
  }
  in6_addr v6{};
  if (inet_pton(AF_INET6, copy.c_str(), &v6) != 1) return std::nullopt;
  AddressBytes address{};
  std::memcpy(address.data(), &v6, address.size());
  return address;
}

AddressKind KindOfAddress(const AddressBytes& address) {
  if (IsMapped(address)) return KindOfIpv4(address);
  // IPv4 in other clothes: NAT64, 6to4, the old compatible form.
  if (In(address, "64:ff9b::/96") || (In(address, "::/96") && !In(address, "::/127"))) {
    return KindOfIpv4(Mapped(address.data() + 12));
  }
  if (In(address, "2002::/16")) return KindOfIpv4(Mapped(address.data() + 2));
  for (const std::string_view range : {"::", "fe80::/10", "ff00::/8", "fd00:ec2::/32",
                                       "fd20:ce::/32", "2001::/32", "64:ff9b:1::/48"}) {
    if (In(address, range)) return AddressKind::kNever;
  }
  for (const std::string_view range :
       {"::1", "fc00::/7", "fec0::/10", "2001:db8::/32", "3fff::/20", "100::/64"}) {
    if (In(address, range)) return AddressKind::kPrivate;
  }
  return In(address, "2000::/3") ? AddressKind::kPublic : AddressKind::kNever;
}

std::optional<AddressRange> AddressRange::Parse(std::string_view text) {
  const size_t slash = text.find('/');
  const std::optional<AddressBytes> base = ParseAddress(text.substr(0, slash));
  if (!base) return std::nullopt;
  AddressRange range;
  range.base_ = *base;
  if (slash == std::string_view::npos) return range;
  const std::string_view digits = text.substr(slash + 1);
  int bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const bool v4 = text.substr(0, slash).find(':') == std::string_view::npos;
  if (error != std::errc() || end != digits.data() + digits.size() || bits < 0 ||
      bits > (v4 ? 32 : 128)) {
    return std::nullopt;
  }
  range.bits_ = v4 ? bits + 96 : bits;
  return range;
}

bool AddressRange::Holds(const AddressBytes& address) const {
  // A range of IPv6 must not hold IPv4 addresses by accident.
  if (bits_ < 96 && IsMapped(address) && !IsMapped(base_)) return false;
  const auto bytes = static_cast<size_t>(bits_ / 8);
  if (!std::equal(base_.begin(), base_.begin() + static_cast<ptrdiff_t>(bytes), address.begin())) {
    return false;
  }
  const int rest = bits_ % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<uint8_t>(0xFF << (8 - rest));
  return (base_[bytes] & mask) == (address[bytes] & mask);
}

Result<AddressPolicy> AddressPolicy::Make(const std::vector<std::string>& patterns,
                                          LookUp look_up) {
  AddressPolicy policy;
  policy.look_up_ = look_up ? std::move(look_up) : LookUpByDns;
  for (const std::string& pattern : patterns) {
    policy.any_pattern_ = true;
    if (const std::optional<AddressRange> range = AddressRange::Parse(pattern)) {
      policy.ranges_.push_back(*range);
      continue;
    }
    const std::string name = Lowered(pattern);
    const std::string_view rest =
        name.starts_with("*.") ? std::string_view(name).substr(2) : std::string_view(name);
    const bool fits = !rest.empty() && std::all_of(rest.begin(), rest.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    });
    if (!fits) {
      return InvalidArgumentError("ADDRESS_PATTERN_MALFORMED",
                                  "This is neither a range of addresses nor a host name.")
          .Where(pattern.substr(0, kMaxHostBytes))
          .Hint("Write for example 10.0.0.0/8, node0.example.com or *.example.com.");
    }
    policy.names_.push_back(name);
  }
  return policy;
}

bool AddressPolicy::AddressAllowed(const AddressBytes& address, bool named) const {
  const AddressKind kind = KindOfAddress(address);
  if (kind == AddressKind::kNever) return false;
  if (std::any_of(ranges_.begin(), ranges_.end(),
                  [&](const AddressRange& range) { return range.Holds(address); })) {
    return true;
  }
  return kind == AddressKind::kPublic && (named || !any_pattern_);
}

Result<std::string> AddressPolicy::Admit(const std::string& host) const {
  if (host.empty() || host.size() > kMaxHostBytes || host.find('\0') != std::string::npos) {
    return NotAllowed(host);
  }
  const std::string name = Lowered(host);
  if (const std::optional<AddressBytes> address = ParseAddress(name)) {
    if (AddressAllowed(*address, false)) return name;
    return NotAllowed(host);
  }
  const bool named = std::any_of(names_.begin(), names_.end(), [&](const std::string& pattern) {
    return NameFits(pattern, name);
  });
  // A name that no pattern knows is not even asked for, unless ranges may hold its address.
  if (any_pattern_ && !named && ranges_.empty()) return NotAllowed(host);
  STROBE_ASSIGN_OR_RETURN(const std::vector<std::string> found, look_up_(name));
  if (found.empty() || found.size() > kMaxAddressesOfName) return NotAllowed(host);
  for (const std::string& text : found) {
    const std::optional<AddressBytes> address = ParseAddress(text);
    if (!address || !AddressAllowed(*address, named)) return NotAllowed(host);
  }
  return found.front();
}

}  // namespace strobe
