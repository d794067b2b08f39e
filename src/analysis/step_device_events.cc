// The device side of step_events.h: markers, streams of a GPU, all-reduces of a TPU core.
#include <algorithm>
#include <optional>
#include <set>

#include "src/analysis/nesting.h"
#include "src/analysis/op_totals.h"
#include "src/analysis/step_events.h"
#include "src/xplane/stat_names.h"

namespace strobe::analysis {
namespace {

using xplane::LineColumns;
using xplane::ProfileFile;
using xplane::Stat;

// XProf's ids of derived lines: the first one holds the steps of a GPU.
constexpr uint32_t kFirstDerivedLine = 0xdeadbeef;
constexpr uint32_t kDerivedLines = 290;  // last one: the host's XLA regions

bool IsDerivedId(int64_t id) {
  return static_cast<uint32_t>(id) - kFirstDerivedLine < kDerivedLines;
}

std::vector<Stat> ColumnIfKnown(const ProfileFile& file, size_t plane, size_t line,
                                std::string_view name) {
  if (!xplane::KnowsStat(file.planes()[plane], name)) return {};
  return file.EventStatColumn(plane, line, name);
}

bool Has(const std::vector<Stat>& column, uint32_t event) {
  return !column.empty() && column[event].type != xplane::StatType::kNone;
}

uint32_t CoreOf(const DevicePlaneMetrics& device) {
  const auto id = static_cast<uint32_t>(device.plane_id);
  return device.kind == DeviceKind::kSparseCore ? kSparseCoreIndexStart + id : id;
}

bool HoldsMarkers(const PreparedLine& line, DeviceKind kind) {
  if (static_cast<uint32_t>(line.id) == kFirstDerivedLine) return true;
  return (kind == DeviceKind::kTensorCore && line.name == "Steps") ||
         (kind == DeviceKind::kSparseCore && line.name == "Sparse Core Steps");
}

// When an event ran on the device: by its own stats when it has both, else as the line says.
class DeviceTimes {
 public:
  DeviceTimes(const ProfileFile& file, size_t plane, size_t line)
      : columns_(file.Line(plane, line)),
        offset_(ColumnIfKnown(file, plane, line, "device_offset_ps")),
        duration_(ColumnIfKnown(file, plane, line, "device_duration_ps")) {}

  bool HasOwn(uint32_t e) const { return Has(offset_, e) && Has(duration_, e); }
  StepSpan Of(uint32_t e) const {
    if (!HasOwn(e)) return {columns_.start_ps[e], EventEnd(columns_, e)};
    return {offset_[e].IntOrUint(), offset_[e].IntOrUint() + duration_[e].IntOrUint()};
  }

 private:
  const LineColumns& columns_;
  const std::vector<Stat> offset_;
  const std::vector<Stat> duration_;
};

StepSpan DeviceTimeOf(const AddedEvent& event, bool* own_clock) {
  std::optional<int64_t> offset, duration;
  for (const AddedStat& stat : event.stats) {
    if (stat.name == "device_offset_ps") offset = stat.integer;
    if (stat.name == "device_duration_ps") duration = stat.integer;
  }
  *own_clock = offset.has_value() && duration.has_value();
  if (*own_clock) return {*offset, *offset + *duration};
  return {event.start_ps, event.start_ps + event.duration_ps};
}

void AddMarker(int64_t group, uint32_t core, const StepSpan& span, StepRecords* markers) {
  StepRecord& record = (*markers)[group];
  record.device_marker.TakeLonger(span);
  record.core_markers[core].TakeLonger(span);
}

// `origin_unix_ns` stays when the markers have a clock of their own.
StepRecords MarkersOf(const PreparedHost& host, size_t plane, size_t line, uint32_t core,
                      int64_t* origin_unix_ns) {
  StepRecords markers;
  const PreparedLine& prepared = host.planes()[plane].lines[line];
  bool own_clock = false;
  if (prepared.from_file) {
    const DeviceTimes times(host.file(), plane, line);
    const size_t events = host.file().Line(plane, line).event_count();
    for (uint32_t e = 0; e < events; ++e) {
      const int64_t group = prepared.GroupOf(e);
      if (group == kNoGroup) continue;
      own_clock |= times.HasOwn(e);
      AddMarker(group, core, times.Of(e), &markers);
    }
  }
  for (const AddedEvent& event : prepared.events) {
    if (event.group == kNoGroup) continue;
    bool own = false;
    const StepSpan span = DeviceTimeOf(event, &own);
    own_clock |= own;
    AddMarker(event.group, core, span, &markers);
  }
  const std::vector<xplane::Line>& lines = host.file().planes()[plane].lines;
  if (!own_clock && line < lines.size()) {
    *origin_unix_ns = OriginOf(lines[line]);
  }
  return markers;
}

// One stream of a GPU: what has a correlation id was run for somebody.
void AddStream(const PreparedHost& host, size_t plane, size_t line_index, uint32_t core,
               StepRecords* records) {
  const ProfileFile& file = host.file();
  const PreparedLine& prepared = host.planes()[plane].lines[line_index];
  if (!prepared.from_file || prepared.groups.empty()) return;
  const std::vector<Stat> correlation = ColumnIfKnown(file, plane, line_index, "correlation_id");
  if (correlation.empty()) return;
  const std::vector<Stat> shapes = ColumnIfKnown(file, plane, line_index, "shape");
  const LineColumns& line = file.Line(plane, line_index);
  const std::vector<xplane::EventMetadata>& names = file.planes()[plane].event_metadata;
  for (uint32_t e = 0; e < line.event_count(); ++e) {
    // An unsigned id reads as 0 there and counts as one.
    if (!Has(correlation, e) || correlation[e].int64_value < 0) continue;
    const int32_t group = prepared.groups[e];
    if (group < 0) continue;
    const std::string_view name = names[line.name[e]].name;
    const EventType type =
        ClassifyGpuEvent(name, Has(shapes, e) ? shapes[e].text : std::string_view());
    StepRecord& record = (*records)[group];
    record.spans.push_back({type, line.start_ps[e], EventEnd(line, e)});
    if (type == EventType::kDeviceCollectives) {
      record.all_reduces[core].push_back(
          {.name = std::string(name),
           .occurrences = 1,
           .duration_ps = static_cast<uint64_t>(line.duration_ps[e])});
    }
  }
}

// Collectives that carry a unique id: equal ids on all cores are one collective.
void AddAllReduces(const PreparedHost& host, size_t plane, size_t line_index, uint32_t core,
                   StepRecords* records) {
  const ProfileFile& file = host.file();
  const std::vector<Stat> ids = ColumnIfKnown(file, plane, line_index, "all_reduce_unique_id");
  if (ids.empty()) return;
  const std::vector<Stat> durations = ColumnIfKnown(file, plane, line_index, "device_duration_ps");
  const LineColumns& line = file.Line(plane, line_index);
  const std::vector<xplane::EventMetadata>& names = file.planes()[plane].event_metadata;
  std::map<uint32_t, uint64_t> size_by_name;
  for (uint32_t e = 0; e < line.event_count(); ++e) {
    const int64_t group = host.planes()[plane].lines[line_index].GroupOf(e);
    if (group == kNoGroup || !Has(ids, e)) continue;
    const uint32_t name = line.name[e];
    const auto [size, is_new] = size_by_name.try_emplace(name, 0);
    if (is_new) {
      const std::vector<Stat> stats = file.MetadataStats(plane, name);
      const Stat* bytes = FindStat(stats, "bytes_accessed");
      if (bytes != nullptr) size->second = static_cast<uint64_t>(bytes->IntOrUint());
    }
    const int64_t duration_ps = Has(durations, e) ? durations[e].IntOrUint() : line.duration_ps[e];
    (*records)[group].all_reduces[core].push_back(
        {.id = static_cast<uint64_t>(ids[e].IntOrUint()),
         .name = std::string(names[name].label()),
         .byte_size = size->second,
         .occurrences = 1,
         .duration_ps = static_cast<uint64_t>(duration_ps)});
  }
}

// Steps in which the core ran anything at all, even ops that are not counted.
std::set<int64_t> GroupsOf(const PreparedLine& line) {
  std::set<int64_t> groups;
  int32_t last = -1;
  for (const int32_t group : line.groups) {
    if (group != last && group >= 0) groups.insert(group);
    last = group;
  }
  return groups;
}

const std::shared_ptr<const GroupOps>& NoOps() {
  static const auto empty = std::make_shared<const GroupOps>();
  return empty;
}

}  // namespace

StepRecords DeviceStepRecords(const PreparedHost& host, const DevicePlaneMetrics& device,
                              int64_t* origin_unix_ns) {
  const uint32_t core = CoreOf(device);
  const std::vector<PreparedLine>& lines = host.planes()[device.plane].lines;
  const bool is_gpu = device.kind == DeviceKind::kGpu;
  const std::string_view op_line =
      device.kind == DeviceKind::kSparseCore ? "Sparse Core Ops" : "XLA Ops";
  StepRecords markers;
  StepRecords records;
  for (size_t l = 0; l < lines.size(); ++l) {
    if (HoldsMarkers(lines[l], device.kind)) {
      markers = MarkersOf(host, device.plane, l, core, origin_unix_ns);
    } else if (IsDerivedId(lines[l].id) || !lines[l].from_file) {
      continue;
    } else if (is_gpu) {
      AddStream(host, device.plane, l, core, &records);
    } else if (lines[l].name == op_line) {
      for (const int64_t group : GroupsOf(lines[l])) records[group].ops[core] = NoOps();
      AddAllReduces(host, device.plane, l, core, &records);
    }
  }
  for (const auto& [group, ops] : device.by_group) {
    if (group != kNoGroup) records[group].ops[core] = ops;
  }
  // A plane whose steps hold nothing says nothing about the steps of the others.
  if (!records.empty()) IntersectSteps(std::move(markers), &records);
  return records;
}

}  // namespace strobe::analysis
