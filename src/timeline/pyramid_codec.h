// Pyramids of a line as bytes, so that they can be kept beside the columns and need not be built
// again.
//
//   const std::string bytes = EncodePyramids(rows);                 // rows: of line.timed_rows()
//   Result<std::vector<RowPyramid>> again = DecodePyramids(bytes, line, metadata_count, shift_ps);
//
// The bytes are those of this machine's numbers (little endian), without a checksum: whoever keeps
// them adds one. Decoding checks that every array has the length and every index the range that the
// line's rows ask for, so that damaged bytes give PYRAMID_CORRUPT and never a wrong access. Cost:
// one copy, 0.6 to 4 B an event. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/timeline/tile.h"

namespace strobe::timeline {

// Counts up with any change of the bytes or of what Build makes.
inline constexpr uint32_t kPyramidFormatVersion = 1;

std::string EncodePyramids(std::span<const RowPyramid> rows);

// `metadata_count`: entries of the plane's event metadata, a bound for names. `shift_ps`: that the
// pyramids must have been built for.
Result<std::vector<RowPyramid>> DecodePyramids(std::string_view bytes,
                                               const xplane::LineColumns& line,
                                               uint64_t metadata_count, int64_t shift_ps);

}  // namespace strobe::timeline
