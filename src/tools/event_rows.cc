#include "src/tools/event_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/analysis/nesting.h"
#include "src/analysis/tf_op_name.h"

namespace strobe::tools {
namespace {

constexpr int64_t kPsInNs = 1000;
constexpr std::string_view kModulesLine = "XLA Modules";

constexpr std::array kColumns = std::to_array<EventColumnSpec>({
    {EventColumn::kHost, "host", true, "Host whose profile the event stands in."},
    {EventColumn::kPlane, "plane", true, "Plane, such as /device:TPU:0."},
    {EventColumn::kLine, "line", true, "Line of the plane: a thread, a stream, XLA Ops."},
    {EventColumn::kName, "name", true, "Name as the timeline shows it."},
    {EventColumn::kStartPs, "start_ps", false, "Begin, in ps from the session's origin."},
    {EventColumn::kDurationPs, "duration_ps", false, "Length in ps."},
    {EventColumn::kSelfTimePs, "self_time_ps", false, "Length without the events inside it."},
    {EventColumn::kDevice, "device", true, "cpu:0, gpu:N, TPU:N or the plane's name."},
    {EventColumn::kStreamId, "stream_id", false, "Id of the line of a device."},
    {EventColumn::kThreadId, "thread_id", false, "Id of the line of a host."},
    {EventColumn::kThreadName, "thread_name", true, "Name of the thread of a host."},
    {EventColumn::kCorrelationId, "correlation_id", false, "What ties a launch to its kernel."},
    {EventColumn::kKernelName, "kernel_name", true, "Full name."},
    {EventColumn::kKernelDetails, "kernel_details", true, "Grid, block and registers of a kernel."},
    {EventColumn::kTfOpName, "tf_op_name", true, "Operation of the framework."},
    {EventColumn::kTfOpType, "tf_op_type", true, "Its type, such as dot_general."},
    {EventColumn::kHloOp, "hlo_op", true, "HLO instruction."},
    {EventColumn::kHloModule, "hlo_module", true, "HLO module that was running."},
    {EventColumn::kStartNs, "start_ns", false, "Begin, in whole ns from the session's origin."},
    {EventColumn::kEndNs, "end_ns", false, "End, likewise."},
    {EventColumn::kSelfTimeNs, "self_time_ns", false, "self_time_ps in whole ns."},
    {EventColumn::kStep, "step", true, "Step it belongs to, such as train 12."},
    {EventColumn::kCategory, "category", true, "host, device, or the line of a TPU."},
    {EventColumn::kFlops, "flops", false, "Operations."},
    {EventColumn::kMemoryAccessed, "memory_accessed", false, "Bytes read and written."},
    {EventColumn::kTraceArgs, "trace_args", true, "Other stats, as name=value,..."},
    {EventColumn::kFlow, "flow", false, "Id of the flow that begins or ends here."},
    {EventColumn::kSourceLine, "source_line", true, "File and line of the program."},
    {EventColumn::kDcnSrcSliceId, "dcn_src_slice_id", false, "Sending slice."},
    {EventColumn::kDcnDstSliceId, "dcn_dst_slice_id", false, "Receiving slice."},
    {EventColumn::kDcnSrcLogicalDeviceId, "dcn_src_logical_device_id", false, "Sending device."},
    {EventColumn::kDcnDstLogicalDeviceId, "dcn_dst_logical_device_id", false, "Receiving device."},
    {EventColumn::kDcnCollectiveName, "dcn_collective_name", true, "Collective of the transfer."},
    {EventColumn::kDcnDurationUs, "dcn_duration_us", false, "Length of the transfer in us."},
    {EventColumn::kDcnPayloadSizeBytes, "dcn_payload_size_bytes", false, "Bytes transferred."},
});

// Stats that have a column of their own, or only serve to build the profile.
constexpr std::array<std::string_view, 22> kShownElsewhere = {"correlation_id",
                                                              "kernel_details",
                                                              "tf_op",
                                                              "hlo_op",
                                                              "hlo_module",
                                                              "flops",
                                                              "bytes_accessed",
                                                              "source",
                                                              "group_id",
                                                              "self_duration_ps",
                                                              "dcn_source_slice_id",
                                                              "dcn_destination_slice_id",
                                                              "dcn_source_per_slice_device_id",
                                                              "dcn_destination_per_slice_device_id",
                                                              "dcn_label",
                                                              "duration_us",
                                                              "payload_size_bytes",
                                                              "producer_type",
                                                              "producer_id",
                                                              "consumer_type",
                                                              "consumer_id",
                                                              "is_root"};

EventCell Null() { return {}; }
EventCell Integer(int64_t value) { return {.kind = EventCell::Kind::kInteger, .integer = value}; }
EventCell Text(std::string_view text) {
  return {.kind = EventCell::Kind::kText, .integer = 0, .text = std::string(text)};
}

std::string StatText(const xplane::Stat& stat) {
  switch (stat.type) {
    case xplane::StatType::kNone:
      return "";
    case xplane::StatType::kDouble:
      return fmt::format("{}", stat.number);
    case xplane::StatType::kUint64:
      return std::to_string(stat.uint64_value);
    case xplane::StatType::kInt64:
      return std::to_string(stat.int64_value);
    case xplane::StatType::kString:
    case xplane::StatType::kRef:
      return std::string(stat.text);
    case xplane::StatType::kBytes:
      return "<opaque bytes>";
  }
  return "";
}

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

std::span<const EventColumnSpec> EventColumns() { return kColumns; }

Status EventRows::First() {
  host_ = plane_ = line_ = 0;
  event_ = 0;
  row_ = 0;
  at_end_ = false;
  columns_ = nullptr;
  return SkipEmpty();
}

Status EventRows::Next() {
  ++event_;
  ++row_;
  stats_loaded_ = false;
  if (row_ >= kMaxEventRows) {
    return ResourceExhaustedError("EVENTS_LIMIT",
                                  "The session has more events than a question may look at (" +
                                      std::to_string(kMaxEventRows) + ").")
        .Hint("Name fewer hosts.");
  }
  if (event_ < columns_->event_count()) return OkStatus();
  ++line_;
  columns_ = nullptr;
  return SkipEmpty();
}

Status EventRows::SkipEmpty() {
  event_ = 0;
  stats_loaded_ = false;
  for (; host_ < context_.question.hosts.size(); ++host_, plane_ = 0, line_ = 0) {
    if (host().file == nullptr) continue;
    for (; plane_ < host().file->planes().size(); ++plane_, line_ = 0) {
      for (; line_ < plane().lines.size(); ++line_) {
        STROBE_RETURN_IF_ERROR(context_.cancel.Check());
        columns_ = &host().file->Line(plane_, line_);
        if (columns_->event_count() == 0) continue;
        EnterLine();
        return OkStatus();
      }
    }
  }
  at_end_ = true;
  return OkStatus();
}

void EventRows::EnterLine() {
  self_ps_.clear();
  const std::string_view name = plane().name;
  device_ = name;
  place_ = Place::kOther;
  if (name == "/host:CPU") {
    place_ = Place::kHostThread;
    device_ = "cpu:0";
  } else if (StartsWith(name, "/device:GPU:")) {
    place_ = Place::kGpuStream;
    device_ = "gpu:" + std::string(name.substr(std::string_view("/device:GPU:").size()));
  } else if (StartsWith(name, "/device:TPU:")) {
    place_ = Place::kTpuLine;
    device_ = name.substr(std::string_view("/device:").size());
  }
}

void EventRows::LoadStats() {
  if (stats_loaded_) return;
  stats_ = host().file->EventStats(plane_, line_, event_);
  const std::vector<xplane::Stat> shared =
      host().file->MetadataStats(plane_, columns_->name[event_]);
  stats_.insert(stats_.end(), shared.begin(), shared.end());
  stats_loaded_ = true;
}

const xplane::Stat* EventRows::FindStat(std::initializer_list<std::string_view> names) {
  LoadStats();
  for (const std::string_view name : names) {
    for (const xplane::Stat& stat : stats_) {
      if (stat.name == name) return &stat;
    }
  }
  return nullptr;
}

EventCell EventRows::StatCell(std::initializer_list<std::string_view> names) {
  const xplane::Stat* stat = FindStat(names);
  if (stat == nullptr) return Null();
  switch (stat->type) {
    case xplane::StatType::kUint64:
    case xplane::StatType::kInt64:
      return Integer(stat->IntOrUint());
    case xplane::StatType::kDouble:
      return Integer(static_cast<int64_t>(std::clamp(stat->number, -9.2e18, 9.2e18)));
    default:
      return Text(StatText(*stat));
  }
}

EventCell EventRows::FrameworkCell(bool type) {
  const xplane::Stat* stat = FindStat({"tf_op"});
  if (stat == nullptr || stat->text.empty()) return Null();
  const analysis::FrameworkOp op = analysis::ParseFrameworkOp(stat->text);
  return Text(type ? op.type : op.name);
}

EventCell EventRows::HloOp() {
  if (const xplane::Stat* stat = FindStat({"hlo_op"}); stat != nullptr) return Text(stat->text);
  if (place_ != Place::kTpuLine || !plane().lines[line_].name.ends_with("Ops")) return Null();
  const xplane::EventMetadata& metadata = plane().event_metadata[columns_->name[event_]];
  if (!metadata.display_name.empty()) return Text(metadata.display_name);
  std::string_view name = metadata.name.substr(0, metadata.name.find(" = "));
  if (StartsWith(name, "%")) name.remove_prefix(1);
  return Text(name);
}

EventCell EventRows::HloModule() {
  if (const xplane::Stat* stat = FindStat({"hlo_module"}); stat != nullptr) {
    return Text(stat->text);
  }
  if (place_ != Place::kTpuLine || !plane().lines[line_].name.ends_with("Ops")) return Null();
  if (modules_of_ != std::pair(host_, plane_)) {
    modules_of_ = {host_, plane_};
    modules_in_order_.clear();
    const std::vector<xplane::Line>& lines = plane().lines;
    const auto found = std::ranges::find(lines, kModulesLine, &xplane::Line::name);
    modules_line_ = static_cast<size_t>(found - lines.begin());
    if (found != lines.end()) {
      modules_in_order_ = InTimeOrder(host().file->Line(plane_, modules_line_));
    }
  }
  if (modules_in_order_.empty()) return Null();
  const xplane::LineColumns& modules = host().file->Line(plane_, modules_line_);
  const int64_t start_ps = columns_->start_ps[event_];
  auto after = std::ranges::upper_bound(modules_in_order_, start_ps, {},
                                        [&](uint32_t e) { return modules.start_ps[e]; });
  if (after == modules_in_order_.begin()) return Null();
  const uint32_t module = *--after;
  if (analysis::EventEnd(modules, module) < start_ps) return Null();
  return Text(plane().event_metadata[modules.name[module]].name);
}

EventCell EventRows::TraceArgs() {
  LoadStats();
  std::string text;
  for (const xplane::Stat& stat : stats_) {
    if (std::ranges::find(kShownElsewhere, stat.name) != kShownElsewhere.end()) continue;
    if (!text.empty()) text += ",";
    text += std::string(stat.name) + "=" + StatText(stat);
  }
  return text.empty() ? Null() : Text(text);
}

Result<const analysis::PreparedLine*> EventRows::Prepared() {
  if (prepared_host_ != host_) {
    STROBE_ASSIGN_OR_RETURN(
        prepared_, context_.input.Prepared(context_.question.hosts[host_], context_.cancel));
    prepared_host_ = host_;
  }
  return &prepared_->planes()[plane_].lines[line_];
}

Result<EventCell> EventRows::Step() {
  STROBE_ASSIGN_OR_RETURN(const analysis::PreparedLine* line, Prepared());
  const auto group = prepared_->groups().find(line->GroupOf(event_));
  return group == prepared_->groups().end() ? Null() : Text(group->second.name);
}

Result<EventCell> EventRows::Flow() {
  STROBE_ASSIGN_OR_RETURN(const analysis::PreparedLine* line, Prepared());
  const auto flow = std::ranges::lower_bound(line->flows, event_, {}, &analysis::FlowEnd::event);
  if (flow == line->flows.end() || flow->event != event_) return Null();
  constexpr uint64_t kIdMask = (uint64_t{1} << 56) - 1;  // above two bits of direction
  return Integer(static_cast<int64_t>(flow->flow >> 2 & kIdMask));
}

int64_t EventRows::SelfPs() {
  if (self_ps_.empty()) {
    self_ps_.assign(columns_->duration_ps.begin(), columns_->duration_ps.end());
    analysis::ForEachNested(*columns_, [&](uint32_t parent, uint32_t child) {
      self_ps_[parent] -= columns_->duration_ps[child];
    });
  }
  return std::max<int64_t>(self_ps_[event_], 0);
}

Result<EventCell> EventRows::Cell(EventColumn column) {
  const xplane::Line& line = plane().lines[line_];
  const xplane::EventMetadata& metadata = plane().event_metadata[columns_->name[event_]];
  const bool on_device = place_ == Place::kGpuStream || place_ == Place::kTpuLine;
  switch (column) {
    case EventColumn::kHost:
      return Text(host().name);
    case EventColumn::kPlane:
      return Text(plane().name);
    case EventColumn::kLine:
      return Text(line.label());
    case EventColumn::kName:
      return Text(Track(host(), context_.question.hosts[host_], plane_, line_).EventName(event_));
    case EventColumn::kStartPs:
      return Integer(StartPs());
    case EventColumn::kDurationPs:
      return Integer(columns_->duration_ps[event_]);
    case EventColumn::kSelfTimePs:
      return Integer(SelfPs());
    case EventColumn::kDevice:
      return Text(device_);
    case EventColumn::kStreamId:
      return on_device ? Integer(line.id) : Null();
    case EventColumn::kThreadId:
      return place_ == Place::kHostThread ? Integer(static_cast<uint32_t>(line.id)) : Null();
    case EventColumn::kThreadName:
      return place_ == Place::kHostThread ? Text(line.label()) : Null();
    case EventColumn::kCorrelationId:
      return StatCell({"correlation_id"});
    case EventColumn::kKernelName:
      if (place_ != Place::kTpuLine || line.name != kModulesLine) return Text(metadata.name);
      return Text("HLO Module:" + std::string(metadata.name));
    case EventColumn::kKernelDetails:
      return StatCell({"kernel_details"});
    case EventColumn::kTfOpName:
      return on_device ? FrameworkCell(false) : Null();
    case EventColumn::kTfOpType:
      return on_device ? FrameworkCell(true) : Null();
    case EventColumn::kHloOp:
      return on_device ? HloOp() : Null();
    case EventColumn::kHloModule:
      return on_device ? HloModule() : Null();
    case EventColumn::kStartNs:
      return Integer(StartPs() / kPsInNs);
    case EventColumn::kEndNs:
      return Integer(StartPs() / kPsInNs + columns_->duration_ps[event_] / kPsInNs);
    case EventColumn::kSelfTimeNs:
      return Integer(SelfPs() / kPsInNs);
    case EventColumn::kStep:
      return Step();
    case EventColumn::kCategory:
      if (place_ == Place::kHostThread) return Text("host");
      return Text(place_ == Place::kTpuLine ? line.name : std::string_view("device"));
    case EventColumn::kFlops:
      return StatCell({"flops"});
    case EventColumn::kMemoryAccessed:
      return StatCell({"bytes_accessed"});
    case EventColumn::kTraceArgs:
      return TraceArgs();
    case EventColumn::kFlow:
      return Flow();
    case EventColumn::kSourceLine:
      return StatCell({"source"});
    case EventColumn::kDcnSrcSliceId:
      return StatCell({"dcn_source_slice_id"});
    case EventColumn::kDcnDstSliceId:
      return StatCell({"dcn_destination_slice_id"});
    case EventColumn::kDcnSrcLogicalDeviceId:
      return StatCell({"dcn_source_per_slice_device_id"});
    case EventColumn::kDcnDstLogicalDeviceId:
      return StatCell({"dcn_destination_per_slice_device_id"});
    case EventColumn::kDcnCollectiveName:
      return StatCell({"dcn_label"});
    case EventColumn::kDcnDurationUs:
      return StatCell({"duration_us"});
    case EventColumn::kDcnPayloadSizeBytes:
      return StatCell({"payload_size_bytes"});
  }
  return Null();
}

}  // namespace strobe::tools
