// What of a decoded line can be kept and given back later: the columns and the place of each event
// in the source. Written by the column file, read back through a ColumnProvider.
//
//   // Write: every line of a file, decoded as needed.
//   const StoredLine& stored = StoredLineOf(*file, plane, line);
//   // Read: lines that the provider has are not decoded again.
//   STROBE_ASSIGN_OR_RETURN(auto file, OpenWithColumns(source, {}, provider));
//
// The provider must have checked that the stored lines belong to the same bytes (content hash) and
// are undamaged (checksums): the indexes in `columns.name` are trusted. Spans and views inside a
// StoredLine must live as long as the provider. A stored line that is `columns.damaged` is ignored
// and decoded from the bytes again, so that its damage is reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "src/base/status.h"
#include "src/storage/byte_source.h"
#include "src/xplane/profile_file.h"

namespace strobe::xplane {

struct StoredLine {
  LineColumns columns;
  // Of each event's record (its tag) from the start of the line's bytes (Line::bytes.offset): the
  // low 32 bits, and the next 8 for lines longer than 4 GiB (else empty).
  std::span<const uint32_t> event_offset;
  std::span<const uint8_t> event_offset_high;

  uint64_t OffsetOf(size_t event) const {
    uint64_t offset = event_offset[event];
    if (!event_offset_high.empty()) offset |= uint64_t{event_offset_high[event]} << 32;
    return offset;
  }
};

class ColumnProvider {
 public:
  virtual ~ColumnProvider() = default;
  // nullptr when there is nothing for this line. Called from any thread, at most once a line.
  virtual const StoredLine* Find(size_t plane, size_t line) const = 0;
};

// As ProfileFile::Open; lines come from `provider` where it has them. Holds on to the provider.
Result<std::shared_ptr<ProfileFile>> OpenWithColumns(
    std::shared_ptr<const storage::ByteSource> source, const OpenOptions& options,
    std::shared_ptr<const ColumnProvider> provider);

// Decodes the line if need be. `file` must come from Open or OpenWithColumns.
const StoredLine& StoredLineOf(const ProfileFile& file, size_t plane, size_t line);

}  // namespace strobe::xplane
