#include "src/tools/agent_events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "src/base/text.h"
#include "src/tools/agent_event_filter.h"
#include "src/tools/agent_event_walk.h"

namespace strobe::tools {
namespace {

// Whole-number options that may be left out.
Result<std::optional<int64_t>> Optional(const ToolOptions& options, std::string_view name) {
  const std::string& text = options.Text(name);
  if (text.empty()) return std::optional<int64_t>();
  double number = 0;
  if (!ParseNumberText(text, &number) || std::fabs(number) > 9e18) {
    return InvalidArgumentError("OPTION_INVALID",
                                "The option " + std::string(name) + " must be a whole number.")
        .Where(text.substr(0, 100));
  }
  return std::optional(static_cast<int64_t>(number));
}

// What events a question is about.
struct EventSelection {
  Pattern planes;
  Pattern events;
  EventFilter filter;
  std::optional<int64_t> start_ps;
  std::optional<int64_t> end_ps;
  std::optional<int64_t> min_duration_ps;
  std::optional<int64_t> max_duration_ps;
  bool overlap = false;

  bool InWindow(int64_t start, int64_t duration) const {
    const int64_t end = start + duration;
    if (min_duration_ps && duration < *min_duration_ps) return false;
    if (max_duration_ps && duration > *max_duration_ps) return false;
    if (!overlap) return (!start_ps || start >= *start_ps) && (!end_ps || end <= *end_ps);
    if (duration == 0) return (!start_ps || start >= *start_ps) && (!end_ps || start <= *end_ps);
    if (start_ps && end <= *start_ps) return false;
    const bool instant = start_ps && end_ps && *start_ps == *end_ps && start == *start_ps;
    return !end_ps || start < *end_ps || instant;
  }
};

Status CheckOrder(const std::optional<int64_t>& low, const std::optional<int64_t>& high,
                  std::string_view names) {
  if (!low || !high || *low <= *high) return OkStatus();
  return InvalidArgumentError("OPTION_INVALID",
                              "Of " + std::string(names) + " the first is the greater one.");
}

Result<EventSelection> SelectionOf(const ToolOptions& options) {
  EventSelection selection;
  STROBE_ASSIGN_OR_RETURN(selection.planes, Pattern::Compile(options.Text("plane_regex")));
  STROBE_ASSIGN_OR_RETURN(selection.events, Pattern::Compile(options.Text("event_regex")));
  STROBE_ASSIGN_OR_RETURN(selection.filter, EventFilter::Parse(options.Text("filter")));
  STROBE_ASSIGN_OR_RETURN(selection.start_ps, Optional(options, "start_time_ps"));
  STROBE_ASSIGN_OR_RETURN(selection.end_ps, Optional(options, "end_time_ps"));
  STROBE_ASSIGN_OR_RETURN(selection.min_duration_ps, Optional(options, "min_duration_ps"));
  STROBE_ASSIGN_OR_RETURN(selection.max_duration_ps, Optional(options, "max_duration_ps"));
  STROBE_RETURN_IF_ERROR(
      CheckOrder(selection.start_ps, selection.end_ps, "start_time_ps and end_time_ps"));
  STROBE_RETURN_IF_ERROR(CheckOrder(selection.min_duration_ps, selection.max_duration_ps,
                                    "min_duration_ps and max_duration_ps"));
  const std::string window = AsciiLower(Trimmed(options.Text("window_semantics")));
  if (window != "containment" && window != "overlap") {
    return InvalidArgumentError("OPTION_INVALID",
                                "The option window_semantics must be containment or overlap.")
        .Where(window.substr(0, 100));
  }
  selection.overlap = window == "overlap";
  return selection;
}

// Whether names match, found out once for each name of a plane.
class NameMatcher {
 public:
  NameMatcher(const EventSelection& selection, const Track& track)
      : selection_(selection),
        track_(track),
        known_(track.plane().event_metadata.size(), kUnknown) {}

  bool Matches(uint32_t event) {
    const uint32_t index = track_.columns().name[event];
    if (known_[index] == kUnknown) {
      const std::string_view name = track_.RawName(event);
      const bool digits =
          !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
      known_[index] = digits ? kEach : (selection_.events.Found(name) ? kYes : kNo);
    }
    if (known_[index] == kEach) return selection_.events.Found(track_.EventName(event));
    return known_[index] == kYes;
  }

 private:
  enum : uint8_t { kUnknown, kYes, kNo, kEach };
  const EventSelection& selection_;
  const Track& track_;
  std::vector<uint8_t> known_;
};

bool Selected(const EventSelection& selection, const Track& track, NameMatcher* names,
              uint32_t event) {
  const int64_t start_ps = track.StartPs(event);
  const int64_t duration_ps = track.columns().duration_ps[event];
  if (!selection.InWindow(start_ps, duration_ps) || !names->Matches(event)) return false;
  if (selection.filter.empty()) return true;
  const std::string name = track.EventName(event);
  return selection.filter.Matches({.plane = track.plane().name,
                                   .line = track.line().label(),
                                   .event = name,
                                   .offset_ps = start_ps,
                                   .duration_ps = duration_ps});
}

Value SessionOrigin(const AgentContext& context) {
  for (const size_t host : context.question.hosts) {
    const ToolHost& known = context.input.hosts()[host];
    if (known.file == nullptr || !known.file->origin_unix_ns()) continue;
    return Value::Int64(*known.file->origin_unix_ns() - known.shift_ps / 1000);
  }
  return Value::Null();
}

Result<ToolResult> RunListXplaneEvents(const ToolQuestion& question, ToolInput& input,
                                       const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const EventSelection selection, SelectionOf(question.options));
  const size_t most = LimitOf(question.options.Integer("max_events"), kMaxListedRecords);
  const int64_t offset = std::max<int64_t>(0, question.options.Integer("offset"));
  int64_t matched = 0;
  Value events = Value::List();
  const auto visit = [&](const Track& track) -> Status {
    if (!selection.planes.Found(track.plane().name)) return OkStatus();
    NameMatcher names(selection, track);
    for (const uint32_t event : InTimeOrder(track.columns())) {
      if (!Selected(selection, track, &names, event)) continue;
      if (++matched <= offset || events.items().size() >= most) continue;
      Value& value = events.Add(Value::Object());
      value.Set("plane", Value::String(track.plane().name));
      value.Set("line_id", Value::String(track.line().name));
      value.Set("event", Value::String(track.EventName(event)));
      value.Set("offset_ps", Value::Int64(track.StartPs(event)));
      value.Set("duration_ps", Value::Int64(track.columns().duration_ps[event]));
      if (question.hosts.size() > 1) value.Set("host", Value::String(track.host_name()));
    }
    return OkStatus();
  };
  STROBE_RETURN_IF_ERROR(ForEachTrack(context, visit));
  const auto returned = static_cast<int64_t>(events.items().size());
  Value document = Value::Object();
  document.Set("events", std::move(events));
  document.Set("returned", Value::Int64(returned));
  document.Set("total_matched", Value::Int64(matched));
  document.Set("truncated", Value::Bool(matched > returned + offset));
  document.Set("origin_unix_ns", SessionOrigin(context));
  return DocumentResult(std::move(document));
}

// ---- aggregate_xplane_events ----

struct Execution {
  uint32_t plane = 0;  // counted over hosts
  Interval interval;
  friend auto operator<=>(const Execution&, const Execution&) = default;
};

Result<std::vector<std::string>> GroupFields(std::string_view text) {
  constexpr std::array<std::string_view, 4> kFields = {"event", "plane", "line", "host"};
  std::vector<std::string> fields;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string field = AsciiLower(Trimmed(text.substr(0, comma)));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (field.empty()) continue;
    if (std::ranges::find(kFields, field) == kFields.end()) {
      return InvalidArgumentError("OPTION_INVALID",
                                  "group_by takes event, plane, line and host, with commas.")
          .Where(field.substr(0, 100));
    }
    if (std::ranges::find(fields, field) == fields.end()) fields.push_back(field);
  }
  if (fields.empty()) {
    return InvalidArgumentError("OPTION_INVALID", "group_by names no field.");
  }
  return fields;
}

// Between neighbours in proportion, as numpy does it.
double Percentile(const std::vector<int64_t>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  const double rest = place - static_cast<double>(low);
  return static_cast<double>(sorted[low]) + rest * static_cast<double>(sorted[high] - sorted[low]);
}

int64_t BusyPs(std::vector<Execution> executions) {
  std::ranges::sort(executions);
  int64_t busy = 0;
  for (size_t i = 0; i < executions.size();) {
    Interval open = executions[i].interval;
    const uint32_t plane = executions[i].plane;
    for (++i; i < executions.size() && executions[i].plane == plane &&
              executions[i].interval.start <= open.end;
         ++i) {
      open.end = std::max(open.end, executions[i].interval.end);
    }
    busy += open.end - open.start;
  }
  return busy;
}

Value AggregateValue(const std::vector<std::string>& fields, const std::vector<std::string>& key,
                     const std::vector<Execution>& executions) {
  std::vector<int64_t> durations;
  std::vector<double> numbers;
  int64_t total = 0;
  for (const Execution& execution : executions) {
    durations.push_back(execution.interval.end - execution.interval.start);
    numbers.push_back(static_cast<double>(durations.back()));
    total += durations.back();
  }
  std::ranges::sort(durations);
  Value value = Value::Object();
  for (size_t i = 0; i < fields.size(); ++i) value.Set(fields[i], Value::String(key[i]));
  value.Set("count", Value::Int64(static_cast<int64_t>(durations.size())));
  value.Set("total_duration_ps", Value::Int64(total));
  value.Set("avg_duration_ps",
            Value::Double(static_cast<double>(total) / static_cast<double>(durations.size())));
  value.Set("min_duration_ps", Value::Int64(durations.front()));
  value.Set("p50_duration_ps", Value::Double(Percentile(durations, 0.5)));
  value.Set("p90_duration_ps", Value::Double(Percentile(durations, 0.9)));
  value.Set("p99_duration_ps", Value::Double(Percentile(durations, 0.99)));
  value.Set("max_duration_ps", Value::Int64(durations.back()));
  value.Set("std_dev_ps", Value::Double(SampleDeviationOf(numbers)));
  value.Set("busy_ps", Value::Int64(BusyPs(executions)));
  return value;
}

Result<ToolResult> RunAggregateXplaneEvents(const ToolQuestion& question, ToolInput& input,
                                            const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const EventSelection selection, SelectionOf(question.options));
  STROBE_ASSIGN_OR_RETURN(const std::vector<std::string> fields,
                          GroupFields(question.options.Text("group_by")));
  std::map<std::vector<std::string>, std::vector<Execution>> groups;
  int64_t scanned = 0;
  uint32_t plane_number = 0;
  const auto visit = [&](const Track& track) -> Status {
    if (track.line_index() == 0) ++plane_number;
    if (!selection.planes.Found(track.plane().name) || scanned > kMaxEventsScanned) {
      return OkStatus();
    }
    NameMatcher names(selection, track);
    const xplane::LineColumns& columns = track.columns();
    for (uint32_t event = 0; event < columns.event_count(); ++event) {
      if (++scanned > kMaxEventsScanned) break;
      if (!Selected(selection, track, &names, event)) continue;
      std::vector<std::string> key;
      for (const std::string& field : fields) {
        if (field == "event") key.push_back(track.EventName(event));
        if (field == "plane") key.emplace_back(track.plane().name);
        if (field == "line") key.emplace_back(track.line().label());
        if (field == "host") key.push_back(track.host_name());
      }
      const int64_t start_ps = track.StartPs(event);
      groups[std::move(key)].push_back(
          {.plane = plane_number,
           .interval = {.start = start_ps, .end = start_ps + columns.duration_ps[event]}});
    }
    return OkStatus();
  };
  STROBE_RETURN_IF_ERROR(ForEachTrack(context, visit));
  std::vector<Value> rows;
  for (const auto& [key, executions] : groups) {
    rows.push_back(AggregateValue(fields, key, executions));
  }
  std::ranges::stable_sort(rows, std::greater(), [](const Value& row) {
    return row.Find("total_duration_ps")->int_value();
  });
  const auto count = static_cast<int64_t>(rows.size());
  Value document = Value::Object();
  Value& aggregates = document.Set("aggregates", Value::List());
  for (Value& row : rows) aggregates.Add(std::move(row));
  document.Set("returned", Value::Int64(count));
  document.Set("total_matched", Value::Int64(count));
  document.Set("events_scanned", Value::Int64(scanned));
  document.Set("truncated", Value::Bool(scanned > kMaxEventsScanned));
  return DocumentResult(std::move(document));
}

// ---- inspect_capture ----

// What the recorded lines suffice for.
struct CaptureUse {
  bool device = false;
  bool llo = false;
  bool counters = false;
};

void JudgeLine(std::string_view plane, std::string_view line, CaptureUse* use) {
  static const std::vector<std::string_view> kLloLines = {
      "Pallas Primitives", "Source Lines",      "Source code",      "LLO Instructions",
      "SALU Instructions", "VALU Instructions", "EUP Instructions", "XLU Instructions",
      "VLD Instructions",  "VST Instructions"};
  const bool device = ContainsAnyOf(plane, {"/device:", "TPU:", "GPU:"});
  use->device |= device && (line == "XLA Modules" || line == "XLA Ops" || line == "XLA TraceMe");
  use->llo |= std::ranges::find(kLloLines, line) != kLloLines.end() ||
              line.find("MXU") != std::string_view::npos;
  use->counters |= ContainsAnyOf(line, {"_counters_", "TC Stats", "SC Stats", "CMN Stats"});
}

Result<ToolResult> RunInspectCapture(const ToolQuestion& question, ToolInput& input,
                                     const CancelToken& cancel) {
  CaptureUse use;
  Value planes = Value::List();
  for (const size_t index : question.hosts) {
    const ToolHost& host = input.hosts()[index];
    if (host.file == nullptr) continue;
    for (size_t p = 0; p < host.file->planes().size(); ++p) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      const xplane::Plane& plane = host.file->planes()[p];
      Value lines = Value::List();
      int64_t total = 0;
      for (size_t l = 0; l < plane.lines.size(); ++l) {
        const auto count = static_cast<int64_t>(host.file->Line(p, l).event_count());
        total += count;
        Value& line = lines.Add(Value::Object());
        line.Set("name", Value::String(plane.lines[l].name));
        line.Set("event_count", Value::Int64(count));
        if (count > 0) JudgeLine(plane.name, plane.lines[l].name, &use);
      }
      use.llo |= plane.name.find("/host:metadata") != std::string_view::npos &&
                 std::ranges::any_of(plane.stat_metadata, [](const xplane::StatMetadata& stat) {
                   return stat.name == "llo_proto";
                 });
      Value& value = planes.Add(Value::Object());
      value.Set("name", Value::String(plane.name));
      value.Set("lines", std::move(lines));
      value.Set("total_events", Value::Int64(total));
      if (question.hosts.size() > 1) value.Set("host", Value::String(host.name));
    }
  }
  Value document = Value::Object();
  document.Set("session_id", Value::String(input.session_name()));
  document.Set("planes", std::move(planes));
  document.Set("capture_valid_for_device_analysis", Value::Bool(use.device));
  document.Set("capture_valid_for_llo_analysis", Value::Bool(use.llo));
  document.Set("capture_valid_for_counter_sampling", Value::Bool(use.counters));
  return DocumentResult(std::move(document));
}

std::vector<OptionSpec> SelectionOptions() {
  return {{.name = "plane_regex", .default_value = ".*", .description = "Found in plane names."},
          {.name = "event_regex", .default_value = ".*", .description = "Found in event names."},
          {.name = "start_time_ps", .description = "Session time from which on."},
          {.name = "end_time_ps", .description = "Session time up to which."},
          {.name = "window_semantics",
           .default_value = "containment",
           .description = "containment: wholly in the window; overlap: partly."},
          {.name = "min_duration_ps", .description = "Shorter events are left out."},
          {.name = "max_duration_ps", .description = "Longer events are left out."},
          {.name = "filter",
           .description = "Conditions such as: duration > 5us AND event CONTAINS copy."}};
}

}  // namespace

ToolDescriptor MakeListXplaneEventsTool() {
  std::vector<OptionSpec> options = SelectionOptions();
  options.push_back({.name = "max_events",
                     .type = OptionType::kInteger,
                     .default_value = "100",
                     .description = "How many to list; 0 and less: all."});
  options.push_back({.name = "offset",
                     .type = OptionType::kInteger,
                     .default_value = "0",
                     .description = "How many to pass over first."});
  ToolDescriptor tool = AgentTool("list_xplane_events", "Events",
                                  "Which events of the timeline match?", std::move(options));
  tool.stored = false;
  tool.run = RunListXplaneEvents;
  return tool;
}

ToolDescriptor MakeAggregateXplaneEventsTool() {
  std::vector<OptionSpec> options = SelectionOptions();
  options.push_back({.name = "group_by",
                     .default_value = "event",
                     .description = "event, line, plane, host, or several with commas."});
  ToolDescriptor tool =
      AgentTool("aggregate_xplane_events", "Events, added up",
                "How often and how long did each kind of event run?", std::move(options));
  tool.run = RunAggregateXplaneEvents;
  return tool;
}

ToolDescriptor MakeInspectCaptureTool() {
  ToolDescriptor tool = AgentTool("inspect_capture", "Contents of the capture",
                                  "What was recorded, and what does it suffice for?", {});
  tool.aliases = {"list_xplane_lines", "check_kernel_profiling"};
  tool.run = RunInspectCapture;
  return tool;
}

}  // namespace strobe::tools
