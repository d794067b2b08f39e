// What a TPU moves between its own memory and the host's while it computes: pairs of start and done
// ops, drawn in as many rows as they overlap.
//
//   HostOffloadRows rows(&texts);
//   if (IsHostOffload(name, display_name)) rows.Add(file, plane, metadata_index, span);
//   for (PreparedLine& line : rows.Take(timestamp_ns)) ...
//
// Events must come in time order. A done without its start is skipped. Rows are bounded by XProf's
// range of ids (41); what does not fit stands in the last one. Cost: 0.3 us a pair.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/analysis/derived_line.h"

namespace strobe::analysis {

bool IsHostOffload(std::string_view name, std::string_view display_name);

class HostOffloadRows {
 public:
  explicit HostOffloadRows(std::deque<std::string>* texts) : texts_(*texts) {}

  // `metadata` names the op: a start or a done.
  void Add(const xplane::ProfileFile& file, size_t plane, uint32_t metadata, TimeSpan span);
  // The rows that have events, each sorted by time.
  std::vector<PreparedLine> Take(int64_t timestamp_ns);

 private:
  struct Start {
    TimeSpan span;
    uint32_t metadata = 0;
  };
  struct Row {
    int64_t end_ps = 0;
    std::vector<AddedEvent> events;
  };
  Row& RowFor(TimeSpan span);

  std::deque<std::string>& texts_;
  std::unordered_map<std::string, std::queue<Start>> open_;
  std::vector<Row> rows_;
};

}  // namespace strobe::analysis
