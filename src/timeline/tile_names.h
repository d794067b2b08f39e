// The name table of one tile: every name once, in the order of first use.
//
//   TileNames names;
//   rect.name = names.IndexOf(metadata_index);
//   names.Finish(plane.event_metadata, categories);     // fills entries() and text()
//
// Cost: a hash probe a rectangle, nothing for runs of the same name. Limit: kMaxTileNames; what
// does not fit shares the last entry, "…".
#pragma once

#include <cstdint>
#include <span>
#include <string>
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
  uint16_t IndexOf(uint32_t metadata_index) {
    if (metadata_index == last_metadata_) return last_index_;
    return Find(metadata_index);
  }
  // Metadata indices beyond the tables get an empty name of category 0.
  void Finish(const std::vector<xplane::EventMetadata>& metadata,
              std::span<const uint8_t> category_of_metadata);

  const std::vector<Entry>& entries() const { return entries_; }
  const std::string& text() const { return text_; }

 private:
  uint16_t Find(uint32_t metadata_index);
  void Grow();

  static constexpr uint32_t kNone = 0xffffffff;
  struct Slot {
    uint32_t metadata = kNone;
    uint16_t index = 0;
  };
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::vector<uint32_t> metadata_of_name_;
  bool overflow_ = false;
  uint64_t last_metadata_ = UINT64_MAX;  // equal to no index
  uint16_t last_index_ = 0;
  std::vector<Entry> entries_;
  std::string text_;
};

}  // namespace strobe::timeline
