// One host's profile, opened: planes, lines, metadata tables, and the events of a line as columns.
//
// Opening reads only the skeleton (milliseconds for 1 GB: lines are skipped by their length). A
// line is decoded when it is first asked for, once, by whoever asks first; `DecodeAll` does the
// rest in the background. The bytes stay where they are: names are references into the source,
// stats are decoded on demand from the offset kept for each event.
//
//   STROBE_ASSIGN_OR_RETURN(std::shared_ptr<ProfileFile> file, ProfileFile::Open(source, {}));
//   for (size_t p = 0; p < file->planes().size(); ++p) {
//     for (size_t l = 0; l < file->planes()[p].lines.size(); ++l) {
//       const LineColumns& line = file->Line(p, l);
//       for (const LineColumns::Row& row : line.rows)
//         for (uint32_t e = row.first; e < row.first + row.count; ++e) Use(line.start_ps[e],
//         line.duration_ps[e]);
//     }
//   }
//
// Thread-safe. Cost: 24 B an event resident, decode 0.6-1.5 GB/s a core. Damage never fails a whole
// file: what came before it is served and `damage()` says what was lost. Semantics of XPlane:
// planes and lines keep file order; ids are not unique, so everything is addressed by index.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/storage/byte_source.h"

namespace strobe::xplane {

// A part of the source's bytes.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

struct EventMetadata {
  int64_t id = 0;
  std::string_view name;          // raw bytes of the file, not necessarily UTF-8
  std::string_view display_name;  // empty when the file gives none
  std::string_view metadata;      // opaque bytes
  ByteRange record;               // the whole message, for its stats and child ids on demand
  bool present = true;            // false: stands for every id the plane has no entry for
  // display_name when there is one, else name.
  std::string_view label() const { return display_name.empty() ? name : display_name; }
};

struct StatMetadata {
  int64_t id = 0;
  std::string_view name;
  std::string_view description;
};

enum class StatType : uint8_t { kNone, kDouble, kUint64, kInt64, kString, kBytes, kRef };

// One stat, decoded. `text` holds strings, bytes and the resolved text of a ref.
struct Stat {
  std::string_view name;
  int64_t metadata_id = 0;
  StatType type = StatType::kNone;
  double number = 0;
  uint64_t uint64_value = 0;  // kUint64 and kRef (the id)
  int64_t int64_value = 0;
  std::string_view text;

  // XProf's "IntOrUint": the integer whichever way it was stored, 0 for other types.
  int64_t IntOrUint() const {
    return type == StatType::kUint64 ? static_cast<int64_t>(uint64_value)
                                     : (type == StatType::kInt64 ? int64_value : 0);
  }
};

// What is known of a line without decoding it.
struct Line {
  int64_t id = 0;
  std::string_view name;
  std::string_view display_name;  // known after decoding when the file writes it behind the events
  int64_t display_id = 0;
  int64_t timestamp_ns = 0;  // as written
  int64_t base_ps = 0;       // timestamp relative to the file's origin
  ByteRange bytes;
  std::string_view label() const { return display_name.empty() ? name : display_name; }
};

struct Plane {
  int64_t id = 0;
  std::string_view name;
  std::vector<Line> lines;
  // Dense; LineColumns::name indexes it. One entry an id (of two with one id the later counts).
  // The last entry always is the one with `present == false` (id 0, no text): events whose
  // metadata id is not in the table point to it.
  std::vector<EventMetadata> event_metadata;
  std::vector<StatMetadata> stat_metadata;
  std::vector<ByteRange> stats;  // plane stats, one record each
  ByteRange bytes;
};

// Which stats the events of a line may carry: their ids modulo 128. What it denies is certain, so
// that whoever looks for a stat leaves out the lines that have none.
struct StatIdFilter {
  uint64_t bits[2] = {~uint64_t{0}, ~uint64_t{0}};
  bool MayContain(int64_t id) const { return (bits[id >> 6 & 1] >> (id & 63) & 1) != 0; }
};

// The events of one line. They are stored row by row: row 0 holds the outermost events in time
// order, row 1 those nested in (or overlapping) them, and so on. Events of one row never overlap
// (zero-length ones may touch). Index e is the event's stable id.
//
// Events without a place of their own are kept apart in one last row, in file order, where they may
// overlap: those with num_occurrences instead of an offset (they start at the line's base), and
// those beyond the limit of nested rows. `timed_rows()` leaves that row out.
struct LineColumns {
  struct Row {
    uint32_t first = 0;
    uint32_t count = 0;
  };
  std::span<const Row> rows;
  std::span<const uint32_t> name;        // index into Plane::event_metadata
  std::span<const int64_t> start_ps;     // relative to the file's origin
  std::span<const int64_t> duration_ps;  // never negative
  size_t event_count() const { return name.size(); }
  // Rows whose events do not overlap.
  std::span<const Row> timed_rows() const {
    return rows.first(rows.size() - (aggregated + crowded > 0 ? 1 : 0));
  }

  int64_t first_start_ps = 0;  // over all events but aggregated ones; 0 when there are none
  int64_t last_end_ps = 0;
  StatIdFilter stat_ids;
  // Irregularities met while decoding; all of them are shown in the completeness record.
  uint64_t out_of_order = 0;      // began before their predecessor in the file
  uint64_t overlapping = 0;       // began inside an event of their row's parent and outlived it
  uint64_t negative = 0;          // negative duration (taken as 0)
  uint64_t saturated = 0;         // time outside +-2^62 ps (clamped)
  uint64_t aggregated = 0;        // num_occurrences instead of an offset: no place in time
  uint64_t crowded = 0;           // beyond kMaxRows rows of nesting or overlap
  uint64_t missing_metadata = 0;  // their metadata id has no entry
  bool damaged = false;           // the line's bytes end early or make no sense from some point on
  std::string_view display_name;  // from behind the events, empty if none
  int64_t display_id = 0;         // likewise, 0 if none

  // More rows than anybody can look at; a real Python stack is at most about 1,000 deep.
  static constexpr size_t kMaxRows = 4096;
};

// A place where the bytes stopped making sense.
struct Damage {
  Status status;  // named error with what was expected and what to do
  uint64_t offset_bytes = 0;
  std::string plane;  // empty when not inside one
  std::string line;
};

struct OpenOptions {
  // Damage met before the bytes were made (a compressed file cut short); damage() tells it too.
  std::vector<Damage> known_damage;
  // More than any profiler writes; beyond it the rest is reported as damage (LIMIT_EXCEEDED), not
  // read.
  uint32_t max_planes = 100'000;
  uint32_t max_lines_per_plane = 1'000'000;
  uint32_t max_metadata_per_plane = 50'000'000;
};

class ProfileFile {
 public:
  // Reads the skeleton. Fails only when nothing at all can be understood: XPLANE_EMPTY (0 bytes),
  // XPLANE_NOT_A_PROFILE (text, JSON, an archive, random bytes), with what was found instead and
  // what to do.
  static Result<std::shared_ptr<ProfileFile>> Open(
      std::shared_ptr<const storage::ByteSource> source, const OpenOptions& options);
  virtual ~ProfileFile() = default;

  virtual const std::vector<Plane>& planes() const = 0;
  // Wall clock of time 0 of this file; nullopt when the file has only relative times.
  virtual std::optional<int64_t> origin_unix_ns() const = 0;
  // profile_start_time / profile_stop_time of the `Task Environment` plane, relative to the origin.
  struct Window {
    int64_t start_ps = 0;
    int64_t end_ps = 0;
  };
  virtual std::optional<Window> task_window() const = 0;
  virtual const std::vector<std::string>& hostnames() const = 0;  // XSpace.hostnames
  virtual const std::vector<std::string>& errors() const = 0;     // XSpace.errors
  virtual const std::vector<std::string>& warnings() const = 0;
  virtual const storage::ByteSource& source() const = 0;

  // Decodes on first use (waits if another thread is at it). The reference lives as long as the
  // file.
  virtual const LineColumns& Line(size_t plane, size_t line) const = 0;
  virtual bool LineDecoded(size_t plane, size_t line) const = 0;
  // Decodes every line; stops early when cancelled (CANCELLED). `progress` counts bytes done.
  virtual Status DecodeAll(const CancelToken& cancel,
                           std::atomic<uint64_t>* progress_bytes) const = 0;

  // Where the file is damaged so far; complete once everything is decoded.
  virtual std::vector<Damage> damage() const = 0;

  // Own stats of an event, in file order; empty when the record is damaged. Cost: the bytes of that
  // event.
  virtual std::vector<Stat> EventStats(size_t plane, size_t line, uint32_t event) const = 0;
  virtual std::vector<Stat> MetadataStats(size_t plane, uint32_t event_metadata) const = 0;
  virtual std::vector<int64_t> MetadataChildIds(size_t plane, uint32_t event_metadata) const = 0;
  virtual std::vector<Stat> PlaneStats(size_t plane) const = 0;
  // One stat of every event of a line as a column: entry e belongs to event e, type kNone when it
  // has none. `stat_name` is the exact name. Cost: one walk over the line's bytes, none when
  // LineColumns::stat_ids denies the stat.
  virtual std::vector<Stat> EventStatColumn(size_t plane, size_t line,
                                            std::string_view stat_name) const = 0;
  // num_occurrences of an aggregated event, else 1.
  virtual uint64_t EventOccurrences(size_t plane, size_t line, uint32_t event) const = 0;
  // Offset of the event's record in the source.
  virtual uint64_t EventOffset(size_t plane, size_t line, uint32_t event) const = 0;

  // Heap that columns and tables hold now, for memory accounting (mapped files not counted).
  virtual uint64_t resident_bytes() const = 0;
};

}  // namespace strobe::xplane
