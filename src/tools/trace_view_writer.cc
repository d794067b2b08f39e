#include "src/tools/trace_view_writer.h"

#include <algorithm>
#include <array>

#include "src/analysis/event_links.h"

namespace strobe::tools {

using analysis::AddedEvent;
using analysis::AddedStat;
using Argument = TraceView::Argument;

namespace {

// Stats that viewers never show, and those that are shown in another way.
constexpr std::array<std::string_view, 8> kInternalStats = {
    "_pt", "_p", "_ct", "_c", "_r", "flops", "program_id", "symbol_id"};
constexpr std::array<std::string_view, 3> kSpecialStats = {"flow", "group_id", "_a"};

bool IsInternal(std::string_view name) {
  return std::ranges::find(kInternalStats, name) != kInternalStats.end();
}
bool IsSpecial(std::string_view name) {
  return std::ranges::find(kSpecialStats, name) != kSpecialStats.end();
}

}  // namespace

void TraceWriter::AddProcesses() {
  for (const TraceHost::Process& process : host_.processes()) {
    TraceView::Process& shown = view_.processes.emplace_back();
    shown.id = process.id + process_offset_;
    shown.name = process.name;
    shown.threads = process.threads;
  }
}

void TraceWriter::AddSpan() {
  if (host_.event_count() == 0) return;
  const int64_t first_ps = host_.first_ps() + shift_ps_;
  const int64_t last_ps = host_.last_ps() + shift_ps_;
  const bool empty = !view_.has_span;
  view_.has_span = true;
  view_.full_start_ps = empty ? first_ps : std::min(view_.full_start_ps, first_ps);
  view_.full_end_ps = empty ? last_ps : std::max(view_.full_end_ps, last_ps);
}

void TraceWriter::AddFrames() {
  for (const std::string& frame : host_.frames()) view_.AddStackFrame(frame);
}

void TraceWriter::AddText(std::string_view name, std::string_view text, TraceView::Event* out) {
  Argument argument;
  argument.name = view_.Intern(name);
  argument.kind = Argument::Kind::kText;
  argument.stack_frame =
      text.size() > kLongestPlainText && (name == "long_name" || name == "hlo_text");
  argument.text = view_.Intern(text);
  view_.AddArgument(*out, argument);
}

void TraceWriter::AddLongName(std::string_view name, TraceView::Event* out) {
  AddText("long_name", LongNameText(name), out);
}

void TraceWriter::AddStat(const xplane::Stat& stat, const TraceHost::Line& line, uint32_t event,
                          TraceView::Event* out) {
  if (IsInternal(stat.name)) return;
  Argument argument;
  switch (stat.type) {
    case xplane::StatType::kInt64:
    case xplane::StatType::kUint64: {
      if (IsSpecial(stat.name)) return;
      argument.name = view_.Intern(stat.name);
      const AddedStat* rewritten = line.prepared->FindAddition(event, stat.name);
      if (rewritten != nullptr) {
        argument.integer = rewritten->integer;
      } else if (stat.type == xplane::StatType::kInt64) {
        argument.integer = stat.int64_value;
      } else {
        argument.kind = Argument::Kind::kUint64;
        argument.unsigned_integer = stat.uint64_value;
      }
      view_.AddArgument(*out, argument);
      return;
    }
    case xplane::StatType::kDouble:
      argument.name = view_.Intern(stat.name);
      argument.kind = Argument::Kind::kDouble;
      argument.number = stat.number;
      view_.AddArgument(*out, argument);
      return;
    case xplane::StatType::kString:
    case xplane::StatType::kRef:
      AddText(stat.name, stat.text, out);
      return;
    case xplane::StatType::kBytes:
    case xplane::StatType::kNone:
      return;
  }
}

void TraceWriter::AddStat(const AddedStat& stat, TraceView::Event* out) {
  if (IsInternal(stat.name)) return;
  Argument argument;
  argument.name = view_.Intern(stat.name);
  switch (stat.kind) {
    case AddedStat::Kind::kInt64:
      if (IsSpecial(stat.name)) return;
      argument.integer = stat.integer;
      break;
    case AddedStat::Kind::kUint64:
      if (IsSpecial(stat.name)) return;
      argument.kind = Argument::Kind::kUint64;
      argument.unsigned_integer = static_cast<uint64_t>(stat.integer);
      break;
    case AddedStat::Kind::kDouble:
      argument.kind = Argument::Kind::kDouble;
      argument.number = stat.number;
      break;
    case AddedStat::Kind::kString:
      AddText(stat.name, stat.text, out);
      return;
  }
  view_.AddArgument(*out, argument);
}

// The order is that of the names, the stats of the name, its own ones, and what preparation added.
void TraceWriter::AddAll(const TraceHost::Line& line, uint32_t event, TraceView::Event* out) {
  const xplane::ProfileFile& file = host_.prepared().file();
  if (const AddedEvent* added = line.Added(event)) {
    if (!added->display_name.empty()) AddLongName(added->name, out);
    if (added->source_line != AddedEvent::kNone) {
      const uint32_t name = file.Line(line.plane, added->source_line).name[added->source_event];
      for (const xplane::Stat& stat : file.MetadataStats(line.plane, name)) {
        AddStat(stat, line, event, out);
      }
    }
    for (const AddedStat& stat : added->stats) AddStat(stat, out);
    return;
  }
  if (const analysis::DerivedEvent* derived = line.Derived(event)) {
    const analysis::DerivedName& known = (*line.prepared->derived_names)[derived->name];
    if (!known.display.empty()) AddLongName(known.text, out);
    return;
  }
  const uint32_t name = line.columns->name[event];
  const xplane::EventMetadata& metadata = file.planes()[line.plane].event_metadata[name];
  if (!metadata.display_name.empty()) AddLongName(metadata.name, out);
  for (const xplane::Stat& stat : file.MetadataStats(line.plane, name)) {
    AddStat(stat, line, event, out);
  }
  const std::vector<xplane::Stat> stats = file.EventStats(line.plane, line.index, event);
  for (const xplane::Stat& stat : stats) AddStat(stat, line, event, out);
  const auto& additions = line.prepared->additions;
  auto at = std::ranges::lower_bound(additions, event, {}, &analysis::EventAddition::event);
  for (; at != additions.end() && at->event == event; ++at) {
    // What rewrites a stat of the file was written in its place.
    const bool in_place = std::ranges::any_of(
        stats, [&](const xplane::Stat& stat) { return stat.name == at->stat.name; });
    if (!in_place) AddStat(at->stat, out);
  }
  const std::vector<int8_t>& eager = line.prepared->is_eager;
  if (event < eager.size() && eager[event] != analysis::PreparedLine::kNotMarked) {
    Argument argument;
    argument.name = view_.Intern("is_eager");
    argument.integer = eager[event];
    view_.AddArgument(*out, argument);
  }
}

void TraceWriter::Add(TraceHost::EventId id, Arguments arguments) {
  const TraceHost::Line& line = host_.lines()[id.line];
  TraceView::Event& out = view_.events.emplace_back();
  out.kind = host_.KindOf(line, id.event);
  out.process = line.process + process_offset_;
  out.thread = line.thread;
  out.name = view_.Intern(host_.NameOf(line, id.event));
  out.start_ps = line.StartOf(id.event) + shift_ps_;
  if (out.kind == TraceView::EventKind::kCounter) {
    AddAll(line, id.event, &out);
    return;
  }
  out.duration_ps = line.DurationOf(id.event);
  if (arguments != Arguments::kNone) out.serial = host_.SerialOf(line, id.event);
  const AddedStat* shown_group = line.prepared->FindAddition(id.event, "group_id");
  const int64_t group =
      shown_group != nullptr ? shown_group->integer : line.prepared->GroupOf(id.event);
  if (group != analysis::kNoGroup) {
    out.has_group = true;
    out.group = group;
  }
  if (const uint64_t flow = host_.FlowOf(line, id.event)) {
    out.flow = static_cast<TraceView::FlowDirection>(analysis::FlowDirectionOf(flow));
    out.flow_id = analysis::FlowIdOf(flow);
    out.flow_category = analysis::FlowCategoryOf(flow);
  }
  if (arguments == Arguments::kSerial) {
    Argument serial;
    serial.name = view_.Intern("uid");
    serial.integer = out.serial;
    view_.AddArgument(out, serial);
  } else if (arguments == Arguments::kAll) {
    out.has_arguments = true;
    AddAll(line, id.event, &out);
  }
}

}  // namespace strobe::tools
