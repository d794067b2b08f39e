// Where a profile's bytes stop making sense, in words: one place that makes every Damage.
//
//   damage.Add(WireDamage(reader.error(), "an event", offset, {&plane.name, &line.name}));
//
// Names: XPLANE_TRUNCATED (the file ends early), XPLANE_BAD_LENGTH (a length leads out of its
// message), XPLANE_BAD_VARINT, XPLANE_BAD_TAG, XPLANE_WRONG_TYPE, XPLANE_GROUP (all DATA_LOSS), and
// LIMIT_EXCEEDED, OUT_OF_MEMORY (RESOURCE_EXHAUSTED). At most kMaxDamage are kept and the rest
// counted.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/wire/wire_reader.h"
#include "src/xplane/profile_file.h"

namespace strobe::xplane {

// Where in the tree of messages; names are raw bytes of the file.
struct DamagePlace {
  uint64_t offset_bytes = 0;
  std::string_view plane;
  std::string_view line;
};

// The file ends inside `what`.
Damage TruncatedDamage(std::string_view what, uint64_t file_bytes, const DamagePlace& place);
// `what` says it is `claimed_bytes` long where only `left_bytes` remain.
Damage LengthDamage(std::string_view what, uint64_t claimed_bytes, uint64_t left_bytes,
                    const DamagePlace& place);
Damage WireDamage(wire::WireError error, std::string_view what, const DamagePlace& place);
// A known field with a wire type that it never has.
Damage WrongTypeDamage(std::string_view what, const DamagePlace& place);
Damage LimitDamage(std::string message, const DamagePlace& place);
Damage OutOfMemoryDamage(const DamagePlace& place);

// Thread-safe collection.
class DamageLog {
 public:
  // More than a person reads; each costs about 500 bytes.
  static constexpr size_t kMaxDamage = 1000;

  void Add(Damage damage);
  // Sorted by offset; when some were not kept, a last entry XPLANE_MORE_DAMAGE counts them.
  std::vector<Damage> Sorted() const;
  bool empty() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Damage> kept_;
  uint64_t dropped_ = 0;
};

}  // namespace strobe::xplane
