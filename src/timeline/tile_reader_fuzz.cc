// Any bytes as a tile: a tile whose rectangles are in order of their offsets, or nothing; never a
// read outside of the bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/base/status.h"
#include "src/timeline/tile_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto tile = strobe::timeline::ReadTile(bytes);
  if (!tile) return 0;
  size_t rects = 0;
  for (const auto& line : tile->lines) rects += line.rects.size();
  // A rectangle takes bytes of its own, so that no few bytes make many.
  STROBE_CHECK(rects <= size);
  return 0;
}
