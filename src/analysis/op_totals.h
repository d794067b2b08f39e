// Count, total and self time of the operations of many lines, by name.
//
//   OpTotals totals;
//   totals.AddLine(file, host, plane, line, /*names=*/nullptr);
//   const std::vector<OpSummary> top = totals.Top(hosts, 100);
//
// Operations of one name are one row, whatever module or device they ran in. Self time is duration
// less that of the events directly inside. Cost: 10-20 ns an event; a line's names are folded once.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/analysis/overview.h"

namespace strobe::analysis {

class OpTotals {
 public:
  // `names`: 1 for each metadata index that counts; nullptr for all.
  void AddLine(const xplane::ProfileFile& file, uint32_t host, uint32_t plane, uint32_t line,
               const std::vector<uint8_t>* names);

  bool empty() const { return totals_.empty(); }
  int64_t self_ps() const { return self_ps_; }
  // Heaviest self time first, equal ones by name. Category and source are looked up for these only.
  std::vector<OpSummary> Top(const std::vector<HostInput>& hosts, size_t limit) const;

 private:
  struct Total {
    uint64_t count = 0;
    int64_t total_ps = 0;
    int64_t self_ps = 0;
    int64_t longest_ps = -1;
    EventRef longest;
  };
  std::unordered_map<std::string_view, Total> totals_;  // names live in the profile files
  int64_t self_ps_ = 0;
};

// Category of every event name of a plane as its lines of this kind show it: for the colours of
// tiles. Cost: the stats of each metadata entry on device planes, names only on host planes.
std::vector<uint8_t> CategoriesOf(const xplane::ProfileFile& file, size_t plane, LineKind kind);

// First stat of that name, or nullptr.
const xplane::Stat* FindStat(const std::vector<xplane::Stat>& stats, std::string_view name);

}  // namespace strobe::analysis
