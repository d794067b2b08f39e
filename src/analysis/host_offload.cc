#include "src/analysis/host_offload.h"

#include <algorithm>
#include <array>
#include <optional>

namespace strobe::analysis {
namespace {

constexpr std::array<std::string_view, 6> kOffloadOps = {"copy-start",
                                                         "copy-done",
                                                         "dynamic-slice-start",
                                                         "dynamic-slice-done",
                                                         "dynamic-update-slice-start",
                                                         "dynamic-update-slice-done"};
// The memory space of the host in the layout of a shape.
constexpr std::string_view kHostMemory = "S(5)";
constexpr size_t kMaxRows = static_cast<size_t>(kLastHostOffloadId - kHostOffloadId + 1);

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "copy-start.12" and "copy-done.12" -> "offload-copy.12".
std::string PairName(std::string_view op) {
  const size_t dot = op.rfind('.');
  const std::string_view number = dot == std::string_view::npos ? "0" : op.substr(dot + 1);
  size_t end = op.find("-start");
  if (end == std::string_view::npos) end = op.find("-done");
  return "offload-" + std::string(op.substr(0, end)) + "." + std::string(number);
}

}  // namespace

bool IsHostOffload(std::string_view name, std::string_view display_name) {
  if (!Contains(name, kHostMemory)) return false;
  return std::ranges::any_of(kOffloadOps,
                             [&](std::string_view op) { return Contains(display_name, op); });
}

// Of the rows that are free, the one that became free first; else a new one.
HostOffloadRows::Row& HostOffloadRows::RowFor(TimeSpan span) {
  Row* best = nullptr;
  int64_t earliest_ps = span.start_ps;
  for (Row& row : rows_) {
    if (row.end_ps > earliest_ps) continue;
    best = &row;
    earliest_ps = row.end_ps;
  }
  if (best == nullptr) {
    if (rows_.size() < kMaxRows) {
      rows_.emplace_back();
      rows_.back().end_ps = span.end_ps;
    }
    best = &rows_.back();
  }
  best->end_ps = std::max(best->end_ps, span.end_ps);
  return *best;
}

void HostOffloadRows::Add(const xplane::ProfileFile& file, size_t plane, uint32_t metadata,
                          TimeSpan span) {
  const std::string_view op = file.planes()[plane].event_metadata[metadata].display_name;
  const std::string name = PairName(op);
  std::queue<Start>& starts = open_[name];
  if (Contains(op, "-start")) {
    starts.push({span, metadata});
    return;
  }
  if (!Contains(op, "-done") || starts.empty()) return;
  const Start start = starts.front();
  starts.pop();
  const TimeSpan whole = {start.span.start_ps, std::max(start.span.start_ps, span.end_ps)};
  AddedEvent& event = RowFor(whole).events.emplace_back();
  event.display_name = texts_.emplace_back(name);
  event.start_ps = whole.start_ps;
  event.duration_ps = whole.duration_ps();
  AddedStat& async = event.stats.emplace_back();
  async.name = "_a";
  async.integer = 1;
  async.number = 1;
  for (const xplane::Stat& stat : file.MetadataStats(plane, metadata)) {
    if (stat.name != "raw_bytes_accessed") continue;
    AddedStat& bytes = event.stats.emplace_back();
    bytes.name = stat.name;
    bytes.integer = stat.type == xplane::StatType::kInt64 ? stat.int64_value : 0;
    bytes.number = static_cast<double>(bytes.integer);
  }
  for (const xplane::Stat& stat : file.MetadataStats(plane, start.metadata)) {
    if (stat.name != "shape_with_layout") continue;
    AddedStat& shape = event.stats.emplace_back();
    shape.name = stat.name;
    shape.kind = AddedStat::Kind::kString;
    shape.text = stat.text;
  }
}

std::vector<PreparedLine> HostOffloadRows::Take(int64_t timestamp_ns) {
  std::vector<PreparedLine> lines;
  for (size_t i = 0; i < rows_.size(); ++i) {
    PreparedLine& line = lines.emplace_back();
    line.id = kHostOffloadId + static_cast<int64_t>(i);
    line.name = "Host Offload Ops row " + std::to_string(i);
    line.timestamp_ns = timestamp_ns;
    line.from_file = false;
    line.derived = true;
    line.events = std::move(rows_[i].events);
    std::ranges::stable_sort(line.events, [](const AddedEvent& a, const AddedEvent& b) {
      return a.start_ps != b.start_ps ? a.start_ps < b.start_ps : a.duration_ps > b.duration_ps;
    });
  }
  return lines;
}

}  // namespace strobe::analysis
