#include "src/xplane/damage_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/json_writer.h"

namespace strobe::xplane {

namespace {

constexpr size_t kMaxNameBytes = 200;  // a name may be a megabyte; a message must stay readable
constexpr std::string_view kCutHint =
    "The file was probably cut short while it was written or copied: copy or capture it again. "
    "What was read before this place is shown.";
constexpr std::string_view kDamagedHint =
    "The file was damaged after it was written, or is not a profile: copy or capture it again. "
    "What was read before this place is shown.";

std::string Readable(std::string_view name) {
  if (name.size() <= kMaxNameBytes) return ToValidUtf8(name);
  return ToValidUtf8(name.substr(0, kMaxNameBytes)) + "...";
}

Damage MakeDamage(Status status, std::string_view hint, const DamagePlace& place) {
  Damage damage;
  damage.offset_bytes = place.offset_bytes;
  damage.plane = Readable(place.plane);
  damage.line = Readable(place.line);
  std::string where = fmt::format("offset {}", place.offset_bytes);
  if (!damage.plane.empty()) where += fmt::format(", plane \"{}\"", damage.plane);
  if (!damage.line.empty()) where += fmt::format(", line \"{}\"", damage.line);
  damage.status = std::move(status).Where(std::move(where)).Hint(std::string(hint));
  return damage;
}

std::string_view WireErrorName(wire::WireError error) {
  switch (error) {
    case wire::WireError::kBadVarint:
      return "XPLANE_BAD_VARINT";
    case wire::WireError::kBadTag:
      return "XPLANE_BAD_TAG";
    case wire::WireError::kBadType:
      return "XPLANE_WRONG_TYPE";
    case wire::WireError::kGroup:
      return "XPLANE_GROUP";
    case wire::WireError::kNone:
    case wire::WireError::kOverrun:
      break;
  }
  return "XPLANE_BAD_LENGTH";
}

}  // namespace

Damage TruncatedDamage(std::string_view what, uint64_t file_bytes, const DamagePlace& place) {
  return MakeDamage(DataLossError("XPLANE_TRUNCATED",
                                  fmt::format("The file ends after {} bytes, in the middle of {}.",
                                              file_bytes, what)),
                    kCutHint, place);
}

Damage LengthDamage(std::string_view what, uint64_t claimed_bytes, uint64_t left_bytes,
                    const DamagePlace& place) {
  return MakeDamage(
      DataLossError("XPLANE_BAD_LENGTH",
                    fmt::format("The length of {} says {} bytes where only {} are left.", what,
                                claimed_bytes, left_bytes)),
      kDamagedHint, place);
}

Damage WireDamage(wire::WireError error, std::string_view what, const DamagePlace& place) {
  return MakeDamage(DataLossError(WireErrorName(error), fmt::format("Expected {}, but {}.", what,
                                                                    wire::WireErrorText(error))),
                    kDamagedHint, place);
}

Damage WrongTypeDamage(std::string_view what, const DamagePlace& place) {
  return MakeDamage(
      DataLossError("XPLANE_WRONG_TYPE",
                    fmt::format("Expected {}, but the field has another wire type.", what)),
      kDamagedHint, place);
}

Damage LimitDamage(std::string message, const DamagePlace& place) {
  return MakeDamage(ResourceExhaustedError("LIMIT_EXCEEDED", std::move(message)),
                    "No profiler writes such a file; the rest of this part is not read.", place);
}

Damage OutOfMemoryDamage(const DamagePlace& place) {
  return MakeDamage(
      ResourceExhaustedError("OUT_OF_MEMORY", "The system has no memory for the events of a line."),
      "Close other sessions or give the server more memory, then open the session again.", place);
}

void DamageLog::Add(Damage damage) {
  const std::lock_guard lock(mutex_);
  if (kept_.size() < kMaxDamage) {
    kept_.push_back(std::move(damage));
  } else {
    ++dropped_;
  }
}

std::vector<Damage> DamageLog::Sorted() const {
  const std::lock_guard lock(mutex_);
  std::vector<Damage> result = kept_;
  // The same order whichever thread found which first.
  std::sort(result.begin(), result.end(), [](const Damage& a, const Damage& b) {
    if (a.offset_bytes != b.offset_bytes) return a.offset_bytes < b.offset_bytes;
    if (a.line != b.line) return a.line < b.line;
    return a.status.message() < b.status.message();
  });
  if (dropped_ > 0) {
    Damage rest;
    rest.status = DataLossError("XPLANE_MORE_DAMAGE",
                                fmt::format("{} more damaged places are not listed.", dropped_))
                      .Hint(std::string(kDamagedHint));
    rest.offset_bytes = result.back().offset_bytes;
    result.push_back(std::move(rest));
  }
  return result;
}

bool DamageLog::empty() const {
  const std::lock_guard lock(mutex_);
  return kept_.empty();
}

}  // namespace strobe::xplane
