// From the bytes of one line to its columns, in one pass.
//
//   DecodedLine line;
//   DecodeLine({.file = bytes, .line = plane.lines[l], .events = index.event_ids, ...}, &line);
//   Use(line.stored.columns);
//
// Events whose fields stand in the order protobuf writes them, far enough from the end of the file,
// take a path without a branch on the length of a number and skip their stats by length; all others
// take the careful path. Both check every length. At the first event that makes no sense the line
// ends, and what came before it is kept.
//
// Cost: 15-25 ns an event of 30 B; 24 B of memory an event. Lines of up to kScratchEvents are
// decoded into memory of the thread (7 MB, kept) and copied to their rows in the arena; longer ones
// straight into columns of their own, allocated once by an estimate and given back behind the last
// event, and copied column by column only when events nest.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "src/storage/byte_source.h"
#include "src/xplane/column_memory.h"
#include "src/xplane/damage_report.h"
#include "src/xplane/id_map.h"
#include "src/xplane/line_arena.h"
#include "src/xplane/line_store.h"
#include "src/xplane/profile_file.h"

namespace strobe::xplane {

inline constexpr size_t kScratchEvents = 256 * 1024;

struct EventColumns {
  Column<uint32_t> name;
  Column<int64_t> start_ps;
  Column<int64_t> duration_ps;
  Column<uint32_t> event_offset;
  Column<uint8_t> event_offset_high;  // only for lines beyond 4 GiB
};

// Owns what `stored` refers to, or has it in the arena; must not move once it is decoded.
struct DecodedLine {
  DecodedLine() = default;
  DecodedLine(const DecodedLine&) = delete;
  DecodedLine& operator=(const DecodedLine&) = delete;

  StoredLine stored;
  std::vector<LineColumns::Row> rows;
  EventColumns own;  // of a long line
  std::optional<Damage> damage;

  // In the arena or not.
  uint64_t heap_bytes() const {
    return sizeof(*this) + rows.capacity() * sizeof(LineColumns::Row) +
           stored.columns.name.size_bytes() + stored.columns.start_ps.size_bytes() +
           stored.columns.duration_ps.size_bytes() + stored.event_offset.size_bytes() +
           stored.event_offset_high.size_bytes();
  }
};

struct LineDecodeInput {
  const storage::ByteSource& source;
  const Plane& plane;
  const Line& line;
  const IdMap& event_ids;
  LineArena& arena;
  std::optional<int64_t> origin_unix_ns;
  bool clipped = false;     // the line's bytes end before its length says; already reported
  uint64_t max_events = 0;  // what the memory budget allows
};

void DecodeLine(const LineDecodeInput& input, DecodedLine* line);

}  // namespace strobe::xplane
