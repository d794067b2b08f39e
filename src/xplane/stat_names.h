// Which stats a plane's table knows: asked before every event is looked at for one.
#pragma once

#include <algorithm>
#include <string_view>

#include "src/xplane/profile_file.h"

namespace strobe::xplane {

inline bool KnowsStat(const Plane& plane, std::string_view name) {
  return std::ranges::any_of(plane.stat_metadata,
                             [&](const StatMetadata& stat) { return stat.name == name; });
}

}  // namespace strobe::xplane
