#include "src/tools/agent_overlap.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>

namespace strobe::tools {
namespace {

constexpr std::string_view kAsyncLine = "Async XLA Ops";
constexpr std::string_view kOpsLine = "XLA Ops";
constexpr std::string_view kSparseLine = "Sparse Core Ops";

struct OpEvent {
  std::string name;
  Interval span;
};

struct PlaneOps {
  std::map<std::string, std::vector<OpEvent>> lines;
};
using PlaneKey = std::pair<std::string, std::string>;  // host, plane

struct Window {
  std::string name;
  Interval span;
};

struct Bucket {
  int64_t count = 0;
  int64_t span_ps = 0;
  int64_t exposed_ps = 0;
  int64_t hidden = 0;
  int64_t partial = 0;
  int64_t exposed = 0;

  void Add(int64_t span, int64_t not_covered, std::string_view label) {
    ++count;
    span_ps += span;
    exposed_ps += not_covered;
    (label == "hidden" ? hidden : label == "exposed" ? exposed : partial) += 1;
  }
  Value ToValue() const {
    Value value = Value::Object();
    value.Set("count", Value::Int64(count));
    value.Set("span_ps", Value::Int64(span_ps));
    value.Set("exposed_ps", Value::Int64(exposed_ps));
    value.Set("hidden", Value::Int64(hidden));
    value.Set("partial", Value::Int64(partial));
    value.Set("exposed", Value::Int64(exposed));
    return value;
  }
};

struct ExposedWindow {
  std::string host;
  std::string plane;
  std::string name;
  std::string op;
  Interval span;
  int64_t exposed_ps = 0;
  std::string_view label;
};

// ".3" at the end, or "".
std::string_view NumberSuffix(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return {};
  const std::string_view digits = name.substr(dot + 1);
  return digits.find_first_not_of("0123456789") == std::string_view::npos ? name.substr(dot)
                                                                          : std::string_view();
}

// The base of "base-start" or "base-done", with the half.
std::optional<std::pair<std::string_view, bool>> StartOrDone(std::string_view stem) {
  for (const auto& [ending, is_start] : {std::pair<std::string_view, bool>{"-start", true},
                                         std::pair<std::string_view, bool>{"-done", false}}) {
    if (stem.size() > ending.size() && stem.ends_with(ending)) {
      return std::pair(stem.substr(0, stem.size() - ending.size()), is_start);
    }
  }
  return std::nullopt;
}

class OverlapAnalysis {
 public:
  OverlapAnalysis(double hidden, double exposed) : hidden_(hidden), exposed_(exposed) {}

  Status Read(const AgentContext& context);
  Value Document(size_t most_listed);

 private:
  void AnalyzePlane(const PlaneKey& key, const PlaneOps& ops);
  std::vector<Window> WindowsOf(const PlaneOps& ops, bool* from_async_line);
  Value Concurrency() const;

  const double hidden_;
  const double exposed_;
  std::map<PlaneKey, PlaneOps> planes_;
  Bucket summary_;
  int64_t unpaired_ = 0;
  std::map<std::string, Bucket> by_op_;
  std::vector<std::tuple<PlaneKey, Bucket, bool>> by_plane_;
  std::vector<ExposedWindow> windows_;
};

Status OverlapAnalysis::Read(const AgentContext& context) {
  return ForEachTrack(context, [&](const Track& track) {
    const std::string_view line = track.line().label();
    if (line != kAsyncLine && line != kOpsLine && line != kSparseLine) return OkStatus();
    const std::string host = context.question.hosts.size() > 1 ? track.host_name() : "";
    std::vector<OpEvent>& events =
        planes_[{host, std::string(track.plane().name)}].lines[std::string(line)];
    for (const uint32_t event : InTimeOrder(track.columns())) {
      const int64_t start = track.StartPs(event);
      events.push_back({.name = InstructionName(track.RawName(event)),
                        .span = {start, start + track.columns().duration_ps[event]}});
    }
    return OkStatus();
  });
}

std::vector<Window> OverlapAnalysis::WindowsOf(const PlaneOps& ops, bool* from_async_line) {
  std::vector<Window> windows;
  const auto async = ops.lines.find(std::string(kAsyncLine));
  *from_async_line = async != ops.lines.end() && !async->second.empty();
  if (*from_async_line) {
    for (const OpEvent& event : async->second) windows.push_back({event.name, event.span});
    return windows;
  }
  std::vector<const OpEvent*> events;
  for (const auto& [line, all] : ops.lines) {
    if (line == kAsyncLine) continue;
    for (const OpEvent& event : all) events.push_back(&event);
  }
  std::ranges::stable_sort(events, {}, [](const OpEvent* event) { return event->span.start; });
  std::map<std::string, std::deque<const OpEvent*>> open;
  for (const OpEvent* event : events) {
    const AsyncRole role = AsyncRoleOf(event->name);
    if (role.key.empty()) continue;
    std::deque<const OpEvent*>& starts = open[role.key];
    if (role.is_start) {
      starts.push_back(event);
    } else if (starts.empty()) {
      ++unpaired_;
    } else {
      const OpEvent* start = starts.front();
      starts.pop_front();
      windows.push_back({start->name, {start->span.start, event->span.end}});
    }
  }
  for (const auto& [key, starts] : open) unpaired_ += static_cast<int64_t>(starts.size());
  return windows;
}

void OverlapAnalysis::AnalyzePlane(const PlaneKey& key, const PlaneOps& ops) {
  bool from_async_line = false;
  const std::vector<Window> windows = WindowsOf(ops, &from_async_line);
  if (windows.empty()) return;
  std::vector<Interval> compute;
  for (const auto& [line, events] : ops.lines) {
    if (line == kAsyncLine) continue;
    for (const OpEvent& event : events) {
      if (AsyncRoleOf(event.name).key.empty()) compute.push_back(event.span);
    }
  }
  const Coverage coverage(MergedIntervals(std::move(compute)));
  Bucket plane;
  for (const Window& window : windows) {
    const int64_t span = window.span.end - window.span.start;
    if (span <= 0) continue;
    const int64_t covered = coverage.Covered(window.span.start, window.span.end);
    const double ratio = static_cast<double>(covered) / static_cast<double>(span);
    const std::string_view label = ratio >= hidden_    ? "hidden"
                                   : ratio <= exposed_ ? "exposed"
                                                       : "partial";
    const std::string family = OpFamily(window.name);
    summary_.Add(span, span - covered, label);
    by_op_[family].Add(span, span - covered, label);
    plane.Add(span, span - covered, label);
    windows_.push_back({.host = key.first,
                        .plane = key.second,
                        .name = window.name,
                        .op = family,
                        .span = window.span,
                        .exposed_ps = span - covered,
                        .label = label});
  }
  by_plane_.emplace_back(key, plane, from_async_line);
}

int64_t Intersection(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  int64_t total = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    total += std::max<int64_t>(0, std::min(a[i].end, b[j].end) - std::max(a[i].start, b[j].start));
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return total;
}

// The chip of "/device:TPU:2" and of "/device:TPU:2 SparseCore 0"; -1 of other planes.
int64_t ChipOf(std::string_view plane) {
  constexpr std::string_view kTpu = "/device:TPU:";
  if (!plane.starts_with(kTpu)) return -1;
  plane.remove_prefix(kTpu.size());
  const size_t end = std::min(plane.find(' '), plane.size());
  if (end < plane.size() && !plane.substr(end).starts_with(" SparseCore")) return -1;
  double chip = 0;
  return ParseNumberText(plane.substr(0, end), &chip) ? static_cast<int64_t>(chip) : -1;
}

struct Engine {
  std::string plane;
  std::string line;
  std::vector<Interval> busy;
  int64_t busy_ps = 0;
};

Value EngineValue(const Engine& engine) {
  Value value = Value::Object();
  value.Set("plane", Value::String(engine.plane));
  value.Set("line", Value::String(engine.line));
  return value;
}

Value PairsOf(const std::vector<Engine>& engines) {
  std::vector<Value> pairs;
  for (size_t i = 0; i < engines.size(); ++i) {
    for (size_t j = i + 1; j < engines.size(); ++j) {
      const int64_t both = Intersection(engines[i].busy, engines[j].busy);
      const int64_t shorter = std::min(engines[i].busy_ps, engines[j].busy_ps);
      Value pair = Value::Object();
      pair.Set("a", EngineValue(engines[i]));
      pair.Set("b", EngineValue(engines[j]));
      pair.Set("concurrent_ps", Value::Int64(both));
      pair.Set("concurrent_ratio",
               Value::Double(shorter > 0 ? static_cast<double>(both) / static_cast<double>(shorter)
                                         : 0));
      pairs.push_back(std::move(pair));
    }
  }
  std::ranges::stable_sort(pairs, std::greater(), [](const Value& pair) {
    return pair.Find("concurrent_ps")->int_value();
  });
  Value list = Value::List();
  for (Value& pair : pairs) list.Add(std::move(pair));
  return list;
}

Value OverlapAnalysis::Concurrency() const {
  std::map<std::pair<std::string, int64_t>, std::vector<Engine>> chips;
  for (const auto& [key, ops] : planes_) {
    const int64_t chip = ChipOf(key.second);
    if (chip < 0) continue;
    for (const auto& [line, events] : ops.lines) {
      if (line == kAsyncLine) continue;
      std::vector<Interval> spans;
      for (const OpEvent& event : events) spans.push_back(event.span);
      Engine engine{.plane = key.second, .line = line, .busy = MergedIntervals(std::move(spans))};
      engine.busy_ps = TotalOf(engine.busy);
      chips[{key.first, chip}].push_back(std::move(engine));
    }
  }
  Value list = Value::List();
  for (const auto& [chip, engines] : chips) {
    if (engines.size() < 2) continue;
    Value& value = list.Add(Value::Object());
    value.Set("chip", Value::Int64(chip.second));
    Value all = Value::List();
    for (const Engine& engine : engines) {
      all.Add(EngineValue(engine)).Set("busy_ps", Value::Int64(engine.busy_ps));
    }
    value.Set("engines", std::move(all));
    value.Set("pairs", PairsOf(engines));
    if (!chip.first.empty()) value.Set("host", Value::String(chip.first));
  }
  return list;
}

Value OverlapAnalysis::Document(size_t most_listed) {
  for (const auto& [key, ops] : planes_) AnalyzePlane(key, ops);
  Value document = Value::Object();
  Value summary = summary_.ToValue();
  summary.Set("unpaired_ops", Value::Int64(unpaired_));
  summary.Set("overlap_ratio", summary_.span_ps > 0
                                   ? Value::Double(1.0 - static_cast<double>(summary_.exposed_ps) /
                                                             static_cast<double>(summary_.span_ps))
                                   : Value::Null());
  document.Set("summary", std::move(summary));
  std::vector<std::pair<std::string, Bucket>> ops(by_op_.begin(), by_op_.end());
  std::ranges::stable_sort(ops, std::greater(),
                           [](const auto& op) { return op.second.exposed_ps; });
  Value by_op = Value::Object();
  for (const auto& [name, bucket] : ops) by_op.Set(name, bucket.ToValue());
  document.Set("by_op", std::move(by_op));
  Value by_plane = Value::Object();
  for (const auto& [key, bucket, from_async_line] : by_plane_) {
    Value value = bucket.ToValue();
    value.Set("window_source",
              Value::String(from_async_line ? kAsyncLine : std::string_view("start_done_pairs")));
    if (!key.first.empty()) value.Set("host", Value::String(key.first));
    by_plane.Set(key.first.empty() ? key.second : key.first + ":" + key.second, std::move(value));
  }
  document.Set("by_plane", std::move(by_plane));
  std::ranges::stable_sort(windows_, [](const ExposedWindow& a, const ExposedWindow& b) {
    return std::tuple(-a.exposed_ps, a.host, a.plane, a.span.start) <
           std::tuple(-b.exposed_ps, b.host, b.plane, b.span.start);
  });
  Value top = Value::List();
  for (const ExposedWindow& window : windows_) {
    if (top.items().size() >= most_listed) break;
    const int64_t span = window.span.end - window.span.start;
    Value& value = top.Add(Value::Object());
    value.Set("plane", Value::String(window.plane));
    value.Set("name", Value::String(window.name));
    value.Set("op", Value::String(window.op));
    value.Set("start_ps", Value::Int64(window.span.start));
    value.Set("span_ps", Value::Int64(span));
    value.Set("exposed_ps", Value::Int64(window.exposed_ps));
    value.Set("overlap_ratio", Value::Double(static_cast<double>(span - window.exposed_ps) /
                                             static_cast<double>(span)));
    value.Set("class", Value::String(window.label));
    if (!window.host.empty()) value.Set("host", Value::String(window.host));
  }
  document.Set("top_exposed", std::move(top));
  document.Set("concurrency", Concurrency());
  Value& thresholds = document.Set("thresholds", Value::Object());
  thresholds.Set("hidden", Value::Double(hidden_));
  thresholds.Set("exposed", Value::Double(exposed_));
  document.Set("status", Value::String(planes_.empty() ? "NO_DEVICE_TIMELINE_EVENTS" : "OK"));
  if (planes_.empty()) {
    document.Set("reason", Value::String("No device has a line XLA Ops, Async XLA Ops or Sparse "
                                         "Core Ops with events."));
  }
  return document;
}

Result<ToolResult> RunAnalyzeAsyncOverlap(const ToolQuestion& question, ToolInput& input,
                                          const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  const double hidden = question.options.Number("hidden_threshold", 0.9);
  const double exposed = question.options.Number("exposed_threshold", 0.1);
  if (exposed < 0 || exposed >= hidden || hidden > 1) {
    return InvalidArgumentError(
        "OPTION_INVALID", "Thresholds must be 0 <= exposed_threshold < hidden_threshold <= 1.");
  }
  OverlapAnalysis analysis(hidden, exposed);
  STROBE_RETURN_IF_ERROR(analysis.Read(context));
  const int64_t top = std::clamp<int64_t>(question.options.Integer("top_k"), 0, kMaxListedRecords);
  Value document = analysis.Document(static_cast<size_t>(top));
  document.Set("session_id", Value::String(input.session_name()));
  return DocumentResult(std::move(document));
}

}  // namespace

Coverage::Coverage(std::vector<Interval> merged) : merged_(std::move(merged)) {
  int64_t sum = 0;
  for (const Interval& interval : merged_) {
    sums_.push_back(sum);
    sum += interval.end - interval.start;
  }
}

int64_t Coverage::Before(int64_t time) const {
  const auto after = std::ranges::upper_bound(merged_, time, {}, &Interval::start);
  if (after == merged_.begin()) return 0;
  const auto last = after - 1;
  return sums_[static_cast<size_t>(last - merged_.begin())] + std::min(time, last->end) -
         last->start;
}

int64_t Coverage::Covered(int64_t lo, int64_t hi) const {
  return hi <= lo ? 0 : Before(hi) - Before(lo);
}

std::string InstructionName(std::string_view event_name) {
  event_name = Trimmed(event_name);
  if (!event_name.starts_with('%')) return std::string(event_name);
  event_name.remove_prefix(1);
  return std::string(Trimmed(event_name.substr(0, event_name.find(" = "))));
}

AsyncRole AsyncRoleOf(std::string_view instruction) {
  const std::string_view number = NumberSuffix(instruction);
  const std::string_view stem = instruction.substr(0, instruction.size() - number.size());
  if (const auto half = StartOrDone(stem)) {
    return {std::string(half->first) + std::string(number), half->second};
  }
  if (stem == "send" || stem == "recv") return {std::string(instruction), true};
  return {};
}

std::string OpFamily(std::string_view instruction) {
  const std::string_view number = NumberSuffix(instruction);
  std::string_view base = instruction.substr(0, instruction.size() - number.size());
  if (const auto half = StartOrDone(base)) {
    base = half->first;
  } else if (base != "send" && base != "recv") {
    base = instruction;
  }
  // The last part that is no number: "fusion" of "jit.fusion.3".
  std::string_view rest = base;
  while (!rest.empty()) {
    const size_t dot = rest.rfind('.');
    const std::string_view part = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
    if (!part.empty() && part.find_first_not_of("0123456789") != std::string_view::npos) {
      return std::string(part);
    }
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(0, dot);
  }
  return std::string(base);
}

ToolDescriptor MakeAnalyzeAsyncOverlapTool() {
  ToolDescriptor tool =
      AgentTool("analyze_async_overlap", "Overlap of asynchronous work",
                "How much of copies and collectives hides behind computation?",
                {{.name = "hidden_threshold",
                  .type = OptionType::kNumber,
                  .default_value = "0.9",
                  .description = "From this covered part on a window counts as hidden."},
                 {.name = "exposed_threshold",
                  .type = OptionType::kNumber,
                  .default_value = "0.1",
                  .description = "Up to this part as exposed."},
                 {.name = "top_k",
                  .type = OptionType::kInteger,
                  .default_value = "20",
                  .description = "How many exposed windows to list."}});
  tool.run = RunAnalyzeAsyncOverlap;
  return tool;
}

}  // namespace strobe::tools
