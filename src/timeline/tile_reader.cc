#include "src/timeline/tile_reader.h"

#include <algorithm>
#include <cstring>

namespace strobe::timeline {
namespace {

constexpr size_t kHeaderBytes = 32;
constexpr size_t kLineBytes = 16;
constexpr size_t kRectBytes = 16;
constexpr size_t kNameBytes = 8;

template <typename T>
T Load(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

struct Layout {
  size_t lines = 0;
  size_t rects = 0;
  size_t names = 0;
  size_t text = 0;
  size_t text_bytes = 0;
  size_t merged = 0;
  size_t rects_at = 0;
  size_t rows_at = 0;
  size_t merged_at = 0;
  size_t names_at = 0;
};

std::optional<Layout> LayoutOf(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with("STL1") || bytes[4] != 1) return {};
  Layout layout;
  layout.lines = Load<uint16_t>(bytes, 6);
  layout.rects = Load<uint32_t>(bytes, 16);
  layout.names = Load<uint32_t>(bytes, 20);
  layout.text_bytes = Load<uint32_t>(bytes, 24);
  layout.merged = Load<uint32_t>(bytes, 28);
  layout.rects_at = kHeaderBytes + layout.lines * kLineBytes;
  layout.rows_at = layout.rects_at + layout.rects * kRectBytes;
  layout.merged_at = layout.rows_at + (layout.rects * 2 + 3) / 4 * 4;
  layout.names_at = layout.merged_at + layout.merged * 4;
  layout.text = layout.names_at + layout.names * kNameBytes;
  if (layout.text + layout.text_bytes != bytes.size()) return {};
  return layout;
}

struct Name {
  std::string_view text;
  uint8_t category = 0;
};

// `text` is that of all names.
std::optional<std::vector<Name>> ReadNames(std::string_view bytes, const Layout& layout,
                                           std::string_view text) {
  std::vector<Name> names;
  for (size_t n = 0; n < layout.names; ++n) {
    const size_t at = layout.names_at + n * kNameBytes;
    const size_t offset = Load<uint32_t>(bytes, at);
    const size_t length = Load<uint16_t>(bytes, at + 4);
    if (offset + length > layout.text_bytes) return {};
    names.push_back({text.substr(offset, length), Load<uint8_t>(bytes, at + 6)});
  }
  return names;
}

}  // namespace

std::optional<DecodedTile> ReadTile(std::string_view bytes) {
  const std::optional<Layout> layout = LayoutOf(bytes);
  if (!layout) return {};
  DecodedTile tile;
  tile.text = std::make_shared<const std::string>(bytes.substr(layout->text, layout->text_bytes));
  const std::optional<std::vector<Name>> names = ReadNames(bytes, *layout, *tile.text);
  if (!names) return {};

  tile.level = Load<uint8_t>(bytes, 5);
  tile.index = Load<int64_t>(bytes, 8);
  tile.unit_shift = std::max(0, tile.level - 31);
  tile.name_count = names->size();
  size_t next_rect = 0;
  size_t next_merged = 0;
  for (size_t l = 0; l < layout->lines; ++l) {
    const size_t at = kHeaderBytes + l * kLineBytes;
    DecodedLine line;
    line.line = Load<uint32_t>(bytes, at);
    line.row_count = Load<uint32_t>(bytes, at + 4);
    const size_t total = Load<uint32_t>(bytes, at + 12);
    if (Load<uint32_t>(bytes, at + 8) != next_rect || next_rect + total > layout->rects) return {};
    for (size_t end = next_rect + total; next_rect < end; ++next_rect) {
      const size_t rect_at = layout->rects_at + next_rect * kRectBytes;
      DecodedRect rect;
      rect.row = Load<uint16_t>(bytes, layout->rows_at + next_rect * 2);
      rect.start_units = Load<uint32_t>(bytes, rect_at);
      rect.end_units = Load<uint32_t>(bytes, rect_at + 4);
      rect.event = Load<uint32_t>(bytes, rect_at + 8);
      const size_t name = Load<uint16_t>(bytes, rect_at + 12);
      rect.fill = Load<uint8_t>(bytes, rect_at + 14);
      const uint8_t flags = Load<uint8_t>(bytes, rect_at + 15);
      rect.merged = (flags & 1) != 0;
      rect.begins_before = (flags & 2) != 0;
      rect.ends_after = (flags & 4) != 0;
      if (name >= names->size() || rect.row >= line.row_count) return {};
      rect.name = (*names)[name].text;
      rect.category = (*names)[name].category;
      if (rect.merged) {
        if (next_merged >= layout->merged) return {};
        rect.count = Load<uint32_t>(bytes, layout->merged_at + next_merged++ * 4);
      }
      line.rects.push_back(std::move(rect));
    }
    tile.lines.push_back(std::move(line));
  }
  if (next_rect != layout->rects || next_merged != layout->merged) return {};
  return tile;
}

}  // namespace strobe::timeline
