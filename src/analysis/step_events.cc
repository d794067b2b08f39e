#include "src/analysis/step_events.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "src/analysis/nesting.h"
#include "src/analysis/op_totals.h"
#include "src/xplane/stat_names.h"

namespace strobe::analysis {
namespace {

using xplane::LineColumns;
using xplane::ProfileFile;

constexpr std::string_view kHostPlane = "/host:CPU";

bool StartsWithNoCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char left, char right) {
           return std::tolower(static_cast<unsigned char>(left)) ==
                  std::tolower(static_cast<unsigned char>(right));
         });
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// "name:InfeedEnqueueTuple" with a name and a type that TensorFlow could have written.
bool IsInfeedEnqueue(std::string_view name) {
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view type = name.substr(colon + 1);
  const std::string_view op = name.substr(0, colon);
  if (!type.starts_with("InfeedEnqueue")) return false;
  const bool type_fits =
      std::ranges::all_of(type, [](char c) { return IsWordCharacter(c) || c == '_'; });
  const bool name_fits =
      (IsWordCharacter(op[0]) || op[0] == '.') && std::ranges::all_of(op, [](char c) {
        return IsWordCharacter(c) || std::string_view("_.\\/>-").find(c) != std::string_view::npos;
      });
  return type_fits && name_fits;
}

// Copies as the GPU tracers call them; other names with a colon are framework ops.
EventType CopyType(std::string_view name) {
  if (Contains(name, ":")) return EventType::kUnknown;
  if (StartsWithNoCase(name, "MemcpyHToD")) return EventType::kHostToDevice;
  if (StartsWithNoCase(name, "MemcpyDToH")) return EventType::kDeviceToHost;
  if (StartsWithNoCase(name, "MemcpyDToD")) return EventType::kDeviceToDevice;
  if (StartsWithNoCase(name, "MemcpyHToH")) return EventType::kHostToHost;
  return EventType::kUnknown;
}

// What an event's name says of it.
struct NameKind {
  enum class Role : uint8_t { kWork, kMarker, kIgnored };
  Role role = Role::kWork;
  EventType type = EventType::kHostCompute;
};

NameKind KindOf(std::string_view name) {
  NameKind kind;
  if (IsExplicitStepMarker(name)) {
    kind.role = NameKind::Role::kMarker;
  } else if (name.starts_with("EagerExecute") || name.starts_with("EagerLocalExecute") ||
             name.starts_with("EagerKernelExecute") || name.starts_with("FunctionRun")) {
    kind.role = NameKind::Role::kIgnored;
  }
  kind.type = ClassifyHostEvent(name);
  return kind;
}

// The record of a group; events that follow each other mostly share it.
class RecordLookup {
 public:
  explicit RecordLookup(StepRecords* records) : records_(records) {}
  StepRecord& Of(int64_t group) {
    if (last_ == nullptr || group != last_group_) {
      last_group_ = group;
      last_ = &(*records_)[group];
    }
    return *last_;
  }

 private:
  StepRecords* const records_;
  int64_t last_group_ = kNoGroup;
  StepRecord* last_ = nullptr;
};

// Stages of a tf.data pipeline on one host plane.
struct PipelineStages {
  bool any = false;                                 // the plane knows _ipl_stage_name
  std::set<std::pair<int64_t, int64_t>> producers;  // (_pt, _p)
};

PipelineStages StagesOf(const ProfileFile& file, size_t plane) {
  PipelineStages stages;
  const xplane::Plane& of = file.planes()[plane];
  stages.any = xplane::KnowsStat(of, "_ipl_stage_name");
  if (!stages.any) return stages;
  for (size_t l = 0; l < of.lines.size(); ++l) {
    const std::vector<xplane::Stat> types = file.EventStatColumn(plane, l, "_pt");
    const std::vector<xplane::Stat> ids = file.EventStatColumn(plane, l, "_p");
    for (size_t e = 0; e < types.size(); ++e) {
      if (types[e].type == xplane::StatType::kNone || ids[e].type == xplane::StatType::kNone) {
        continue;
      }
      stages.producers.insert({types[e].IntOrUint(), ids[e].IntOrUint()});
    }
  }
  return stages;
}

// 1 for each event of the line that is a stage and lies in no other stage: the one that is waited
// for. Empty when the line has no stages.
std::vector<uint8_t> RootStages(const ProfileFile& file, size_t plane, size_t line_index,
                                const PipelineStages& stages) {
  if (!stages.any) return {};
  const std::vector<xplane::Stat> names =
      file.EventStatColumn(plane, line_index, "_ipl_stage_name");
  const auto is_stage = [](const xplane::Stat& stat) { return !stat.text.empty(); };
  if (std::ranges::none_of(names, is_stage)) return {};
  const std::vector<xplane::Stat> types = file.EventStatColumn(plane, line_index, "_ct");
  const std::vector<xplane::Stat> ids = file.EventStatColumn(plane, line_index, "_c");
  const LineColumns& line = file.Line(plane, line_index);
  std::vector<uint8_t> inside(line.event_count());  // of a stage, on this line or another
  for (size_t e = 0; e < inside.size(); ++e) {
    if (types[e].type == xplane::StatType::kNone || ids[e].type == xplane::StatType::kNone) {
      continue;
    }
    inside[e] = stages.producers.contains({types[e].IntOrUint(), ids[e].IntOrUint()});
  }
  // Rows go from the outside to the inside, so a parent is settled before its children.
  ForEachNested(line, [&](uint32_t parent, uint32_t child) {
    inside[child] |= static_cast<uint8_t>(inside[parent] != 0 || is_stage(names[parent]));
  });
  std::vector<uint8_t> roots(line.event_count());
  for (size_t e = 0; e < roots.size(); ++e) roots[e] = is_stage(names[e]) && inside[e] == 0;
  return roots;
}

// One line of the host plane.
class HostLinePass {
 public:
  HostLinePass(const PreparedHost& host, size_t plane, size_t line, HostSpans spans,
               const std::vector<NameKind>& kinds, const PipelineStages& stages,
               StepRecords* records)
      : file_(host.file()),
        prepared_(host.planes()[plane].lines[line]),
        columns_(host.file().Line(plane, line)),
        spans_(spans),
        kinds_(kinds),
        lookup_(records) {
    if (prepared_.groups.empty()) return;
    root_stages_ = RootStages(file_, plane, line, stages);
    if (xplane::KnowsStat(file_.planes()[plane], "step_name")) {
      file_step_names_ = file_.EventStatColumn(plane, line, "step_name");
    }
  }

  void Run() {
    if (prepared_.from_file && !prepared_.groups.empty()) {
      kept_.assign(columns_.event_count(), kNotKept);
      LineColumns::Row above;
      const auto timed = columns_.timed_rows();
      for (const LineColumns::Row& row : timed) {
        RunRow(row, above);
        above = row;
      }
      if (timed.size() < columns_.rows.size()) RunRow(columns_.rows.back(), {});
    }
    for (const AddedEvent& event : prepared_.events) RunAdded(event);
  }

 private:
  static constexpr uint8_t kNotKept = 0xff;

  void RunRow(const LineColumns::Row& row, const LineColumns::Row& above) {
    uint32_t parent = above.first;
    const uint32_t parents_end = above.first + above.count;
    for (uint32_t e = row.first; e < row.first + row.count; ++e) {
      const int32_t group = prepared_.groups[e];
      if (group < 0) continue;
      while (parent + 1 < parents_end && columns_.start_ps[parent + 1] <= columns_.start_ps[e]) {
        ++parent;
      }
      RunEvent(e, group, above.count > 0 ? parent : AddedEvent::kNone);
    }
  }

  void RunEvent(uint32_t e, int32_t group, uint32_t parent) {
    const NameKind kind = kinds_[columns_.name[e]];
    const StepSpan span = {columns_.start_ps[e], EventEnd(columns_, e)};
    const std::string_view step_name = StepNameOf(e);
    if (kind.role == NameKind::Role::kMarker || !step_name.empty()) {
      StepRecord& record = lookup_.Of(group);
      record.host_marker.TakeLonger(span);
      if (!step_name.empty()) record.name = step_name;
      return;
    }
    if (kind.role == NameKind::Role::kIgnored) return;
    EventType type = kind.type;
    if (type == EventType::kHostCompute && !root_stages_.empty() && root_stages_[e] != 0) {
      type = EventType::kHostWaitInput;
    }
    AddInput(type, group, span);
    if (spans_ == HostSpans::kInputOnly) return;
    kept_[e] = static_cast<uint8_t>(type);
    // Inside of one of its kind it changes nothing; without length at its end it would (see
    // event_span.h).
    if (parent != AddedEvent::kNone && kept_[parent] == kept_[e] &&
        prepared_.groups[parent] == group && analysis::Contains(columns_, parent, e) &&
        (span.begin_ps < span.end_ps || span.end_ps < EventEnd(columns_, parent))) {
      return;
    }
    lookup_.Of(group).spans.push_back({type, span.begin_ps, span.end_ps});
  }

  void RunAdded(const AddedEvent& event) {
    if (event.group < 0) return;
    const NameKind kind = KindOf(event.name);
    const StepSpan span = {event.start_ps, event.start_ps + event.duration_ps};
    std::string_view step_name;
    for (const AddedStat& stat : event.stats) {
      if (stat.name == "step_name") step_name = stat.text;
    }
    StepRecord& record = lookup_.Of(event.group);
    if (kind.role == NameKind::Role::kMarker || !step_name.empty()) {
      record.host_marker.TakeLonger(span);
      if (!step_name.empty()) record.name = step_name;
      return;
    }
    if (kind.role == NameKind::Role::kIgnored) return;
    AddInput(kind.type, event.group, span);
    if (spans_ == HostSpans::kAll) record.spans.push_back({kind.type, span.begin_ps, span.end_ps});
  }

  void AddInput(EventType type, int64_t group, const StepSpan& span) {
    if (type == EventType::kHostWaitInput || type == EventType::kHostToDevice) {
      lookup_.Of(group).input_ps += span.duration_ps();
    }
  }

  std::string_view StepNameOf(uint32_t e) {
    if (!file_step_names_.empty() && !file_step_names_[e].text.empty()) {
      return file_step_names_[e].text;
    }
    if (prepared_.additions.empty()) return {};
    const auto first = std::lower_bound(
        prepared_.additions.begin(), prepared_.additions.end(), e,
        [](const EventAddition& addition, uint32_t event) { return addition.event < event; });
    for (auto at = first; at != prepared_.additions.end() && at->event == e; ++at) {
      if (at->stat.name == "step_name") return at->stat.text;
    }
    return {};
  }

  const ProfileFile& file_;
  const PreparedLine& prepared_;
  const LineColumns& columns_;
  const HostSpans spans_;
  const std::vector<NameKind>& kinds_;
  RecordLookup lookup_;
  std::vector<uint8_t> root_stages_;
  std::vector<xplane::Stat> file_step_names_;
  std::vector<uint8_t> kept_;  // by event: the type under which it counts
};

}  // namespace

bool IsExplicitStepMarker(std::string_view name) {
  return (name.starts_with("train") || name.starts_with("test") ||
          name.starts_with("TraceContext")) &&
         !Contains(name, "/");
}

EventType ClassifyHostEvent(std::string_view name) {
  const EventType copy = CopyType(name);
  if (copy == EventType::kHostToDevice || IsInfeedEnqueue(name)) return EventType::kHostToDevice;
  if (copy == EventType::kHostToHost) return copy;
  if (StartsWithNoCase(name, "IteratorGetNext")) return EventType::kHostWaitInput;
  return EventType::kHostCompute;
}

EventType ClassifyGpuEvent(std::string_view name, std::string_view tensor_shapes) {
  const EventType copy = CopyType(name);
  if (copy != EventType::kUnknown && copy != EventType::kHostToHost) return copy;
  if (StartsWithNoCase(name, "nccl")) return EventType::kDeviceCollectives;
  const bool is_16bit = tensor_shapes.empty() ? Contains(name, "half") || Contains(name, "fp16")
                                              : Contains(tensor_shapes, "half");
  return is_16bit ? EventType::kDeviceCompute16 : EventType::kDeviceCompute32;
}

int64_t OriginOf(const xplane::Line& line) {
  int64_t origin_ns = 0;
  if (__builtin_sub_overflow(line.timestamp_ns, line.base_ps / 1000, &origin_ns)) return 0;
  return origin_ns;
}

StepSpan StepRecord::StepTime() const {
  const bool no_device = device_marker.begin_ps == 0 && device_marker.end_ps == 0;
  if (no_device || host_marker.Includes(device_marker)) return host_marker;
  return device_marker;
}

StepSpan StepRecord::StepTimeOn(uint32_t core) const {
  const auto found = core_markers.find(core);
  return found == core_markers.end() ? StepSpan() : found->second;
}

void StepRecord::Combine(StepRecord other) {
  host_marker.TakeLonger(other.host_marker);
  device_marker.TakeLonger(other.device_marker);
  for (const auto& [core, span] : other.core_markers) core_markers[core].TakeLonger(span);
  if (name.empty()) name = std::move(other.name);
  if (spans.empty()) {
    spans = std::move(other.spans);
  } else {
    spans.insert(spans.end(), other.spans.begin(), other.spans.end());
  }
  input_ps += other.input_ps;
  for (const auto& [core, db] : other.ops) ops[core] = db;
  all_reduces.merge(other.all_reduces);
}

Result<StepRecords> HostStepRecords(const PreparedHost& host, HostSpans spans,
                                    const CancelToken& cancel) {
  StepRecords records;
  const std::vector<xplane::Plane>& planes = host.file().planes();
  const auto found =
      std::ranges::find_if(planes, [](const xplane::Plane& p) { return p.name == kHostPlane; });
  if (found == planes.end()) return records;
  const auto plane = static_cast<size_t>(found - planes.begin());
  std::vector<NameKind> kinds;
  kinds.reserve(found->event_metadata.size());
  for (const xplane::EventMetadata& event : found->event_metadata) {
    kinds.push_back(KindOf(event.name));
  }
  const PipelineStages stages = StagesOf(host.file(), plane);
  for (size_t l = 0; l < found->lines.size(); ++l) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    HostLinePass(host, plane, l, spans, kinds, stages, &records).Run();
  }
  return records;
}

void UniteSteps(StepRecords from, StepRecords* into) {
  for (auto& [step, record] : from) (*into)[step].Combine(std::move(record));
}

void IntersectSteps(StepRecords from, StepRecords* into) {
  if (into->empty()) {
    *into = std::move(from);
    return;
  }
  for (auto at = into->begin(); at != into->end();) {
    const auto other = from.find(at->first);
    if (other == from.end()) {
      at = into->erase(at);
    } else {
      at->second.Combine(std::move(other->second));
      ++at;
    }
  }
}

}  // namespace strobe::analysis
