// Which machines this server may connect to when a user names them, so that nobody makes it knock
// at doors that only it can reach (its own loopback, the cloud's metadata server, the inner net).
//
//   STROBE_ASSIGN_OR_RETURN(AddressPolicy policy, AddressPolicy::Make({"10.0.0.0/8",
//   "*.tpu.example.com"})); STROBE_ASSIGN_OR_RETURN(const std::string address,
//   policy.Admit("node0.tpu.example.com"));
//   // connect to `address`, never to the name: it may mean something else by then
//
// Patterns are address ranges (CIDR) or host names, "*.example.com" for all below. A private or
// loopback address needs a range that holds it; a public one needs a range or a name, or nothing
// when no pattern was given. Link-local (with the metadata servers), multicast and unspecified
// addresses are never taken. A name is looked up once and each of its addresses must be allowed;
// IPv4 inside IPv6 is judged as IPv4. Errors: ADDRESS_PATTERN_MALFORMED, ADDRESS_NOT_ALLOWED,
// ADDRESS_UNKNOWN. Cost: one DNS look-up. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace strobe {

// 16 bytes; IPv4 as ::ffff:a.b.c.d.
using AddressBytes = std::array<uint8_t, 16>;
// Dotted IPv4 in four decimal parts, or IPv6 without brackets or zone; nullopt otherwise.
std::optional<AddressBytes> ParseAddress(std::string_view text);

enum class AddressKind : uint8_t { kPublic, kPrivate, kNever };
AddressKind KindOfAddress(const AddressBytes& address);

class AddressRange {
 public:
  // "10.0.0.0/8", "fd00::/8", or one address.
  static std::optional<AddressRange> Parse(std::string_view text);
  bool Holds(const AddressBytes& address) const;

 private:
  AddressBytes base_{};
  int bits_ = 128;
};

class AddressPolicy {
 public:
  // Addresses of a name as text.
  using LookUp = std::function<Result<std::vector<std::string>>(const std::string& host)>;
  static Result<AddressPolicy> Make(const std::vector<std::string>& patterns, LookUp look_up = {});

  // The one address to connect to.
  Result<std::string> Admit(const std::string& host) const;

 private:
  bool AddressAllowed(const AddressBytes& address, bool named) const;

  std::vector<AddressRange> ranges_;
  std::vector<std::string> names_;
  bool any_pattern_ = false;
  LookUp look_up_;
};

}  // namespace strobe
