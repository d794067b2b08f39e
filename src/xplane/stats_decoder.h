// Decodes XStat messages on demand.
//
//   Stat stat;
//   if (DecodeStat(record_bytes, plane, index, &stat)) Use(stat.name, stat.text);
//
// Cost: about 30 ns a stat; nothing is copied, text refers to the bytes. A ref to an id without
// metadata gives an empty text, as does a stat whose own id has none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/xplane/profile_file.h"
#include "src/xplane/skeleton.h"

namespace strobe::xplane {

// False when the record is damaged; `*stat` is then unspecified.
bool DecodeStat(std::string_view record, const Plane& plane, const PlaneIndex& index, Stat* stat);

// The stats among the fields of `message`: field 4 of an event, 5 of event metadata. Empty when the
// message is damaged.
std::vector<Stat> DecodeStats(std::string_view message, uint32_t field_number, const Plane& plane,
                              const PlaneIndex& index);

// Finds one stat, by name, in many events of a plane.
class StatFinder {
 public:
  StatFinder(std::string_view stat_name, const Plane& plane, const PlaneIndex& index);
  // False: the plane does not know the name, or no event of the line has it.
  bool MayOccurIn(const StatIdFilter& line) const {
    return std::ranges::any_of(ids_, [&](int64_t id) { return line.MayContain(id); });
  }
  // The first stat of that name in an XEvent message; type kNone when there is none.
  Stat FindIn(std::string_view event) const;

 private:
  bool Wanted(int64_t id) const;

  const Plane& plane_;
  const PlaneIndex& index_;
  std::vector<int64_t> ids_;  // sorted; several ids may have one name
};

}  // namespace strobe::xplane
