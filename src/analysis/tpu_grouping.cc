#include "src/analysis/tpu_grouping.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "src/analysis/event_order.h"
#include "src/analysis/group_events.h"

namespace strobe::analysis {
namespace {

constexpr std::string_view kIdle = "step_idle_time_ps";
constexpr std::string_view kDeviceOffset = "device_offset_ps";
constexpr std::string_view kDeviceDuration = "device_duration_ps";

AddedStat CopyOf(const xplane::Stat& stat) {
  AddedStat copy;
  copy.name = stat.name;
  switch (stat.type) {
    case xplane::StatType::kDouble:
      copy.kind = AddedStat::Kind::kDouble;
      copy.number = stat.number;
      break;
    case xplane::StatType::kUint64:
      copy.kind = AddedStat::Kind::kUint64;
      copy.integer = static_cast<int64_t>(stat.uint64_value);
      copy.number = static_cast<double>(stat.uint64_value);
      break;
    case xplane::StatType::kInt64:
      copy.kind = AddedStat::Kind::kInt64;
      copy.integer = stat.int64_value;
      copy.number = static_cast<double>(stat.int64_value);
      break;
    default:
      copy.kind = AddedStat::Kind::kString;
      copy.text = stat.text;
      break;
  }
  return copy;
}

AddedStat* FindStat(AddedEvent* event, std::string_view name) {
  const auto found = std::ranges::find(event->stats, name, &AddedStat::name);
  return found == event->stats.end() ? nullptr : &*found;
}

void SetInteger(AddedEvent* event, std::string_view name, int64_t value) {
  AddedStat* stat = FindStat(event, name);
  if (stat == nullptr) {
    stat = &event->stats.emplace_back();
    stat->name = name;
  }
  stat->kind = AddedStat::Kind::kInt64;
  stat->integer = value;
  stat->number = static_cast<double>(value);
  stat->text.clear();
}

struct Span {
  int64_t start_ps = 0;
  int64_t end_ps = 0;
};

// On the device's clock when the event says so.
std::optional<Span> DeviceSpan(AddedEvent* event) {
  const AddedStat* offset = FindStat(event, kDeviceOffset);
  const AddedStat* duration = FindStat(event, kDeviceDuration);
  if (offset == nullptr || duration == nullptr) return std::nullopt;
  return Span{offset->integer, offset->integer + duration->integer};
}

class StepMerger {
 public:
  StepMerger(const xplane::ProfileFile& file, size_t plane, size_t line, PreparedLine* prepared)
      : file_(file), plane_(plane), line_(line), prepared_(*prepared) {}

  void Run(const std::map<int64_t, Group>& groups) {
    const xplane::LineColumns& columns = file_.Line(plane_, line_);
    const LineBytes bytes(file_, plane_, line_);
    const EventOrder order = FileOrder(bytes, columns);
    for (size_t p = 0; p < order.size(); ++p) {
      const int64_t group = prepared_.GroupOf(order[p]);
      if (group == kNoGroup) {
        open_ = false;
        idle_ps_ = 0;
      } else if (open_ && merged_.back().group == group) {
        Extend(Copy(columns, order[p]));
      } else {
        Begin(Copy(columns, order[p]));
      }
    }
    if (merged_.empty()) return;  // no step has a group: the line stays as it is
    for (AddedEvent& event : merged_) {
      const auto group = groups.find(event.group);
      if (group == groups.end()) continue;
      AddedStat& name = event.stats.emplace_back();
      name.name = "step_name";
      name.kind = AddedStat::Kind::kString;
      name.text = group->second.name;
    }
    std::ranges::stable_sort(merged_, {}, &AddedEvent::start_ps);
    prepared_.from_file = false;
    prepared_.events = std::move(merged_);
    prepared_.groups.clear();
    prepared_.flows.clear();
    prepared_.additions.clear();
    prepared_.is_eager.clear();
  }

 private:
  AddedEvent Copy(const xplane::LineColumns& columns, uint32_t event) const {
    AddedEvent copy;
    const xplane::EventMetadata& metadata =
        file_.planes()[plane_].event_metadata[columns.name[event]];
    copy.name = metadata.name;
    copy.display_name = metadata.display_name;
    copy.start_ps = columns.start_ps[event];
    copy.duration_ps = columns.duration_ps[event];
    copy.group = prepared_.GroupOf(event);
    copy.source_line = static_cast<uint32_t>(line_);
    copy.source_event = event;
    for (const xplane::Stat& stat : file_.EventStats(plane_, line_, event)) {
      if (stat.type == xplane::StatType::kNone || stat.type == xplane::StatType::kBytes ||
          stat.name == "group_id") {
        continue;
      }
      copy.stats.push_back(CopyOf(stat));
    }
    return copy;
  }

  void Begin(AddedEvent event) {
    if (const AddedStat* idle = FindStat(&event, kIdle)) idle_ps_ = idle->integer;
    device_ = DeviceSpan(&event);
    SetInteger(&event, kIdle, idle_ps_);
    merged_.push_back(std::move(event));
    open_ = true;
  }

  void Extend(AddedEvent event) {
    AddedEvent& step = merged_.back();
    if (const AddedStat* idle = FindStat(&event, kIdle)) idle_ps_ += idle->integer;
    if (device_) {
      const Span own =
          DeviceSpan(&event).value_or(Span{event.start_ps, event.start_ps + event.duration_ps});
      device_->start_ps = std::min(device_->start_ps, own.start_ps);
      device_->end_ps = std::max(device_->end_ps, own.end_ps);
      SetInteger(&step, kDeviceOffset, device_->start_ps);
      SetInteger(&step, kDeviceDuration, device_->end_ps - device_->start_ps);
    }
    step.duration_ps = event.start_ps + event.duration_ps - step.start_ps;
    SetInteger(&step, kIdle, idle_ps_);
  }

  const xplane::ProfileFile& file_;
  const size_t plane_;
  const size_t line_;
  PreparedLine& prepared_;
  std::vector<AddedEvent> merged_;
  std::optional<Span> device_;
  // Is not reset by a step that does not say its idle time, as in XProf.
  int64_t idle_ps_ = 0;
  bool open_ = false;
};

struct GroupSpan {
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  int64_t group = kNoGroup;
};

std::vector<GroupSpan> SpansOf(const xplane::ProfileFile& file, size_t plane, size_t line,
                               const PreparedLine& prepared) {
  std::vector<GroupSpan> spans;
  if (!prepared.from_file) {
    for (const AddedEvent& event : prepared.events) {
      spans.push_back({event.start_ps, event.start_ps + event.duration_ps, event.group});
    }
    return spans;
  }
  const xplane::LineColumns& columns = file.Line(plane, line);
  for (uint32_t event = 0; event < columns.event_count(); ++event) {
    spans.push_back({columns.start_ps[event], columns.start_ps[event] + columns.duration_ps[event],
                     prepared.GroupOf(event)});
  }
  std::ranges::stable_sort(spans, {}, &GroupSpan::start_ps);
  return spans;
}

// Both sides are in time order, so one walk along both does.
// An event of the grouping line keeps its own group, but viewers show the one it touches first.
void GroupLine(const xplane::LineColumns& columns, const std::vector<GroupSpan>& spans,
               PreparedLine* line) {
  std::vector<int32_t>* const groups = &line->groups;
  if (groups->empty()) groups->assign(columns.event_count(), static_cast<int32_t>(kNoGroup));
  for (const xplane::LineColumns::Row& row : columns.rows) {
    size_t at = 0;
    for (uint32_t event = row.first; event < row.first + row.count; ++event) {
      const int64_t start_ps = columns.start_ps[event];
      while (at < spans.size() && spans[at].end_ps < start_ps) ++at;
      if (at == spans.size()) break;
      const bool overlaps = spans[at].start_ps <= start_ps + columns.duration_ps[event];
      int32_t& group = (*groups)[event];
      if (!overlaps || group == spans[at].group || spans[at].group == kNoGroup) continue;
      if (group < 0) {
        group = static_cast<int32_t>(spans[at].group);
        continue;
      }
      AddedStat shown;
      shown.name = "group_id";
      shown.integer = spans[at].group;
      shown.number = static_cast<double>(shown.integer);
      line->additions.push_back({event, std::move(shown)});
    }
  }
}

}  // namespace

void GroupTpuPlane(const xplane::ProfileFile& file, size_t plane_index,
                   const std::map<int64_t, Group>& groups, PreparedPlane* plane) {
  const ptrdiff_t grouping = TpuGroupingLine(file, plane_index);
  if (grouping < 0) return;
  const auto& lines = file.planes()[plane_index].lines;
  ptrdiff_t steps = -1;
  for (size_t l = 0; l < lines.size(); ++l) {
    if (IsStepLineName(lines[l].name)) steps = static_cast<ptrdiff_t>(l);
  }
  if (steps >= 0) {
    const auto line = static_cast<size_t>(steps);
    StepMerger(file, plane_index, line, &plane->lines[line]).Run(groups);
  }
  const std::vector<GroupSpan> spans = SpansOf(file, plane_index, static_cast<size_t>(grouping),
                                               plane->lines[static_cast<size_t>(grouping)]);
  const bool any =
      std::ranges::any_of(spans, [](const GroupSpan& span) { return span.group != kNoGroup; });
  if (!any) return;
  for (size_t l = 0; l < lines.size(); ++l) {
    if (static_cast<ptrdiff_t>(l) == steps) continue;
    const xplane::LineColumns& columns = file.Line(plane_index, l);
    if (columns.event_count() > 0) GroupLine(columns, spans, &plane->lines[l]);
  }
}

}  // namespace strobe::analysis
