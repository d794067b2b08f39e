// Reads tiles back, with every offset checked: for tests, benchmarks and tools that look at what
// the page gets.
//
//   const std::optional<DecodedTile> tile = ReadTile(bytes);
//   for (const DecodedRect& rect : tile->lines[0].rects) Use(rect.row, rect.start_ps, rect.count);
//
// nullopt when the bytes are no tile of docs/formats/tiles.md. Cost: a copy of everything, which
// takes at most some ten times the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strobe::timeline {

struct DecodedRect {
  uint32_t row = 0;
  uint64_t start_units = 0;
  uint64_t end_units = 0;
  uint32_t event = 0;
  uint32_t count = 1;
  uint8_t fill = 0;
  bool merged = false;
  bool begins_before = false;
  bool ends_after = false;
  std::string_view name;  // lives as long as the tile
  uint8_t category = 0;
};

struct DecodedLine {
  uint32_t line = 0;
  uint32_t row_count = 0;
  std::vector<DecodedRect> rects;
};

struct DecodedTile {
  int level = 0;
  int64_t index = 0;
  int unit_shift = 0;  // one unit is 2^unit_shift ps
  size_t name_count = 0;
  std::shared_ptr<const std::string> text;  // of all names
  std::vector<DecodedLine> lines;
};

std::optional<DecodedTile> ReadTile(std::string_view bytes);

}  // namespace strobe::timeline
