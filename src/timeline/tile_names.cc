#include "src/timeline/tile_names.h"

#include <bit>

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

constexpr size_t kNamesAhead = 8;

bool IsAscii(std::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

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

TileNames::TileNames() : slots_(kFirstSlots), recent_(RecentOfThread()) {
  thread_local uint32_t last_tile = 0;
  if (++last_tile == 0) {  // after 2^32 tiles the numbers begin again
    recent_.clear();
    last_tile = 1;
  }
  tile_ = last_tile;
}

std::vector<TileNames::Recent>& TileNames::RecentOfThread() {
  thread_local std::vector<Recent> recent;
  return recent;
}

uint16_t TileNames::Find(uint64_t key) {
  const uint16_t index = FindSlow(key);
  const auto metadata_index = static_cast<uint32_t>(key);
  if (metadata_index < kMaxRecent) {
    if (metadata_index >= recent_.size()) recent_.resize(std::bit_ceil(metadata_index + size_t{1}));
    recent_[metadata_index] = {
        .tile = tile_, .index = index, .category = static_cast<uint8_t>(key >> 32)};
  }
  return index;
}

uint16_t TileNames::FindSlow(uint64_t key) {
  const size_t mask = slots_.size() - 1;
  size_t at = HashOf(key) & mask;
  while (slots_[at].key != kNone && slots_[at].key != key) at = (at + 1) & mask;
  if (slots_[at].key == key) return slots_[at].index;
  if (key_of_name_.size() >= kMaxOwnNames) {
    overflow_ = true;
    return static_cast<uint16_t>(kMaxOwnNames);
  }
  const auto index = static_cast<uint16_t>(key_of_name_.size());
  slots_[at] = {key, index};
  key_of_name_.push_back(key);
  if (key_of_name_.size() * 2 > slots_.size()) Grow();
  return index;
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

void TileNames::Add(std::string_view valid_name, uint8_t category) {
  entries_.push_back({.offset = static_cast<uint32_t>(text_.size()),
                      .length = static_cast<uint16_t>(valid_name.size()),
                      .category = category});
  text_ += valid_name;
}

void TileNames::Finish(const std::vector<xplane::EventMetadata>& metadata) {
  entries_.reserve(key_of_name_.size() + 1);
  text_.reserve(key_of_name_.size() * 32);
  // The records and their texts lie anywhere; they are asked for some names ahead.
  const auto record = [&](size_t name) -> const xplane::EventMetadata* {
    if (name >= key_of_name_.size()) return nullptr;
    const auto index = static_cast<uint32_t>(key_of_name_[name]);
    return index < metadata.size() ? &metadata[index] : nullptr;
  };
  for (size_t n = 0; n < key_of_name_.size(); ++n) {
    if (const auto* ahead = record(n + 2 * kNamesAhead)) __builtin_prefetch(&ahead->name);
    if (const auto* ahead = record(n + kNamesAhead)) __builtin_prefetch(ahead->label().data());
    const auto category = static_cast<uint8_t>(key_of_name_[n] >> 32);
    const xplane::EventMetadata* own = record(n);
    const std::string_view label = own == nullptr ? std::string_view() : own->label();
    if (label.size() <= kMaxNameBytes && IsAscii(label)) {
      Add(label, category);
    } else {
      Add(ShortName(label), category);
    }
  }
  if (overflow_) Add(kMoreNames, 0);
}

}  // namespace strobe::timeline
