// The skeleton of a profile: planes, lines and metadata tables by reference, without the events.
//
//   DamageLog damage;
//   STROBE_ASSIGN_OR_RETURN(Skeleton skeleton, ReadSkeleton(source, options, &damage));
//
// Lines are skipped by their length, so the cost is that of the metadata tables: about 20 ns an
// entry, milliseconds for 1 GB of events. From a cold disk it reads a page a line and the tables in
// pieces, not what the disk would read around them. Memory: 80 B a line or metadata entry; all
// tables together are bounded by kTableBytesPerFileByte (LIMIT_EXCEEDED beyond).
//
// Time: the origin is profile_start_time of the `Task Environment` plane when there is one, else
// the earliest line with events among those whose timestamp is a wall clock (over 10^17 ns, March
// 1973), else 0 with an unknown wall clock. Lines with a wall clock are placed relative to the
// origin; lines with a small timestamp are taken as relative to it already, also in a file that has
// both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/storage/byte_source.h"
#include "src/xplane/damage_report.h"
#include "src/xplane/id_map.h"
#include "src/xplane/profile_file.h"

namespace strobe::xplane {

// Times are kept within this, so that sums and differences of two never overflow.
inline constexpr int64_t kMaxTimePs = int64_t{1} << 62;

// What a plane needs beside its public face.
struct PlaneIndex {
  IdMap event_ids;
  IdMap stat_ids;
  // The line whose bytes end before its length says, already reported; -1 if none.
  ptrdiff_t clipped_line = -1;
};

struct Skeleton {
  std::vector<Plane> planes;
  std::vector<PlaneIndex> indexes;  // one a plane
  std::vector<std::string> hostnames;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  std::optional<int64_t> origin_unix_ns;
  std::optional<ProfileFile::Window> window;
  uint64_t table_bytes = 0;  // heap that all of this holds
};

Result<Skeleton> ReadSkeleton(const storage::ByteSource& source, const OpenOptions& options,
                              DamageLog* damage);

// Start of a line relative to the origin, kept within kMaxTimePs.
int64_t LineBasePs(int64_t timestamp_ns, std::optional<int64_t> origin_unix_ns);

// XPLANE_NOT_A_PROFILE with what the bytes look like, if they look like something else; else OK.
Status CheckNotSomethingElse(std::string_view bytes);

}  // namespace strobe::xplane
