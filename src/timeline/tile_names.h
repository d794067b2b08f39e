// The name table of one tile: every name once for each category it is shown in, in the order of
// first use. The same metadata can be an operation on one line and a marker on another.
//
//   TileNames names;
//   rect.name = names.IndexOf(metadata_index, category);
//   names.Finish(plane.event_metadata);                 // fills entries() and text()
//
// Cost: one look at a table of the thread a rectangle; a hash probe for the first use of a name and
// for metadata beyond kMaxRecent. Limit: kMaxTileNames; what does not fit shares the last entry,
// "…".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/xplane/profile_file.h"

namespace strobe::timeline {

class TileNames {
 public:
  struct Entry {
    uint32_t offset = 0;
    uint16_t length = 0;
    uint8_t category = 0;
    uint8_t reserved = 0;
  };
  static_assert(sizeof(Entry) == 8);

  TileNames();
  uint16_t IndexOf(uint32_t metadata_index, uint8_t category) {
    if (metadata_index < recent_.size()) {
      const Recent& recent = recent_[metadata_index];
      if (recent.tile == tile_ && recent.category == category) return recent.index;
    }
    return Find(uint64_t{category} << 32 | metadata_index);
  }
  // Metadata indices beyond the table get an empty name.
  void Finish(const std::vector<xplane::EventMetadata>& metadata);

  const std::vector<Entry>& entries() const { return entries_; }
  const std::string& text() const { return text_; }

 private:
  // Where a name was found last. The table outlives the tile; entries of others do not count.
  struct Recent {
    uint32_t tile = 0;
    uint16_t index = 0;
    uint8_t category = 0;
  };
  // 512 KB a thread; most planes have a few thousand names.
  static constexpr size_t kMaxRecent = 65'536;

  uint16_t Find(uint64_t key);
  uint16_t FindSlow(uint64_t key);
  void Grow();
  static std::vector<Recent>& RecentOfThread();
  void Add(std::string_view valid_name, uint8_t category);

  // A key is the category above the metadata index; no category is so large.
  static constexpr uint64_t kNone = UINT64_MAX;
  struct Slot {
    uint64_t key = kNone;
    uint16_t index = 0;
  };
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::vector<uint64_t> key_of_name_;
  bool overflow_ = false;
  uint32_t tile_;
  std::vector<Recent>& recent_;
  std::vector<Entry> entries_;
  std::string text_;
};

}  // namespace strobe::timeline
