#include "src/timeline/tile_names.h"

#include "src/base/utf8.h"
#include "src/timeline/tile.h"

namespace strobe::timeline {
namespace {

constexpr size_t kFirstSlots = 1024;
// Longer than any label that fits on a screen; the details show the whole name.
constexpr size_t kMaxNameBytes = 256;
// The last index is kept for "…".
constexpr size_t kMaxOwnNames = kMaxTileNames - 1;
constexpr std::string_view kMoreNames = "\xE2\x80\xA6";

size_t HashOf(uint64_t value) { return (value * 0x9E3779B97F4A7C15ULL) >> 40; }

// Valid UTF-8 of at most kMaxNameBytes, cut between characters.
std::string ShortName(std::string_view name) {
  std::string text = ToValidUtf8(name.substr(0, kMaxNameBytes + 4));
  if (text.size() <= kMaxNameBytes) return text;
  size_t end = kMaxNameBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

}  // namespace

TileNames::TileNames() : slots_(kFirstSlots) {}

uint16_t TileNames::Find(uint64_t key) {
  const size_t mask = slots_.size() - 1;
  size_t at = HashOf(key) & mask;
  while (slots_[at].key != kNone && slots_[at].key != key) at = (at + 1) & mask;
  last_key_ = key;
  if (slots_[at].key == key) return last_index_ = slots_[at].index;
  if (key_of_name_.size() >= kMaxOwnNames) {
    overflow_ = true;
    return last_index_ = static_cast<uint16_t>(kMaxOwnNames);
  }
  last_index_ = static_cast<uint16_t>(key_of_name_.size());
  slots_[at] = {key, last_index_};
  key_of_name_.push_back(key);
  if (key_of_name_.size() * 2 > slots_.size()) Grow();
  return last_index_;
}

void TileNames::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.key == kNone) continue;
    size_t at = HashOf(slot.key) & mask;
    while (slots_[at].key != kNone) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

void TileNames::Finish(const std::vector<xplane::EventMetadata>& metadata) {
  entries_.reserve(key_of_name_.size() + 1);
  const auto add = [this](std::string_view name, uint8_t category) {
    entries_.push_back({.offset = static_cast<uint32_t>(text_.size()),
                        .length = static_cast<uint16_t>(name.size()),
                        .category = category});
    text_ += name;
  };
  for (const uint64_t key : key_of_name_) {
    const auto index = static_cast<uint32_t>(key);
    const std::string name = index < metadata.size() ? ShortName(metadata[index].label()) : "";
    add(name, static_cast<uint8_t>(key >> 32));
  }
  if (overflow_) add(kMoreNames, 0);
}

}  // namespace strobe::timeline
