// Some stats of many events, without decoding the others.
//
//   const StatScanner scanner(file, plane, {"hlo_op", "program_id"});
//   if (scanner.KnowsAny()) scanner.Scan(line, event, [&](size_t wanted, const xplane::Stat& stat)
//   {
//     if (wanted == 0) op = stat.text;
//   });
//
// `wanted` is the index into the names; a stat that an event has twice is visited twice, in file
// order. Cost: 20 ns an event and 5 ns a stat that nobody asked for. Memory: 1 B for each stat id
// up to kDenseIds. A damaged record ends its own visit.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/wire/wire_reader.h"
#include "src/xplane/profile_file.h"

namespace strobe::analysis {

class StatScanner {
 public:
  StatScanner(const xplane::ProfileFile& file, size_t plane, std::vector<std::string_view> names);

  // Whether the plane has a stat of that name at all.
  bool Knows(size_t wanted) const { return known_[wanted]; }
  bool KnowsAny() const { return knows_any_; }

  template <typename Visit>
  void Scan(size_t line, uint32_t event, Visit visit) const {
    wire::WireReader reader(EventBytes(line, event));
    wire::WireField field;
    xplane::Stat stat;
    while (reader.Next(&field)) {
      if (field.number != 4 || field.type != wire::WireType::kBytes) continue;
      const size_t wanted = SlotOf(PeekId(field.bytes));
      if (wanted == kUnwanted || !Decode(field.bytes, &stat)) continue;
      visit(wanted, stat);
    }
  }

 private:
  static constexpr uint8_t kUnwanted = 0xff;
  static constexpr int64_t kDenseIds = 65536;

  std::string_view EventBytes(size_t line, uint32_t event) const;
  static int64_t PeekId(std::string_view stat);
  bool Decode(std::string_view bytes, xplane::Stat* stat) const;
  size_t SlotOf(int64_t id) const {
    if (id >= 0 && static_cast<uint64_t>(id) < slots_.size())
      return slots_[static_cast<size_t>(id)];
    if (far_slots_.empty()) return kUnwanted;
    const auto found = far_slots_.find(id);
    return found == far_slots_.end() ? kUnwanted : found->second;
  }

  const xplane::ProfileFile& file_;
  const size_t plane_;
  const std::vector<std::string_view> names_;
  std::vector<bool> known_;
  bool knows_any_ = false;
  std::vector<uint8_t> slots_;                          // by stat id
  std::unordered_map<int64_t, uint8_t> far_slots_;      // ids beyond kDenseIds
  std::unordered_map<int64_t, std::string_view> refs_;  // texts that refs point to
};

}  // namespace strobe::analysis
