#include "src/tools/trace_view_host.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "src/analysis/event_links.h"
#include "src/analysis/host_event.h"

namespace strobe::tools {

using analysis::AddedEvent;
using analysis::AddedStat;
using analysis::FlowEnd;
using analysis::PreparedLine;
using analysis::RawStat;
using analysis::StatValues;

namespace {

// Processes of a trace viewer.
constexpr uint32_t kFirstDevice = 1;
constexpr uint32_t kLastDevice = 500;
constexpr uint32_t kFirstCustom = 501;
constexpr uint32_t kHostThreads = 701;

constexpr std::string_view kHostPrefix = "/host:CPU";
constexpr std::string_view kGpuPrefix = "/device:GPU:";
constexpr std::string_view kTpuPrefix = "/device:TPU:";
constexpr std::string_view kCustomPrefix = "/device:CUSTOM:";
constexpr std::string_view kCounterLine = "_counters_";
constexpr std::string_view kHiddenCounterPrefix = "counters_";

constexpr size_t kLongestLongName = 10'000;

enum Slot : size_t { kStepName, kAsync, kLongName, kHloText };
constexpr std::array<std::string_view, 4> kSlotNames = {"step_name", "_a", "long_name", "hlo_text"};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsTpuCore(std::string_view name) {
  return Contains(name, kTpuPrefix) || Contains(name, "TensorNode") || Contains(name, "TPU Core");
}

bool IsTpuPart(std::string_view name) {
  return Contains(name, "#Chip") && (Contains(name, "Host Interface") || Contains(name, "HBM") ||
                                     Contains(name, "ICI Router"));
}

}  // namespace

std::string LongNameText(std::string_view name) {
  if (name.size() <= kLongestLongName) return std::string(name);
  return std::string(name.substr(0, kLongestLongName)) + "...<truncated>";
}

Result<std::shared_ptr<const TraceHost>> TraceHost::Of(
    std::shared_ptr<const analysis::PreparedHost> host, std::string_view name,
    const CancelToken& cancel) {
  const std::string key = "trace:" + std::string(name);
  if (std::shared_ptr<const void> known = host->FindAttached(key)) {
    return std::static_pointer_cast<const TraceHost>(known);
  }
  std::shared_ptr<TraceHost> made(new TraceHost());
  // The host keeps what is made of it, so this must not keep the host.
  made->host_ = std::shared_ptr<const analysis::PreparedHost>(host.get(), [](const void*) {});
  made->planes_.resize(host->planes().size());
  made->AddPlanes(name);
  STROBE_RETURN_IF_ERROR(made->Measure(cancel));
  STROBE_RETURN_IF_ERROR(made->NumberEqualTimes(cancel));
  made->CollectFrames();
  const uint64_t bytes = made->resident_bytes();
  return std::static_pointer_cast<const TraceHost>(host->Attach(key, std::move(made), bytes));
}

void TraceHost::AddPlanes(std::string_view name) {
  const auto& planes = host_->file().planes();
  std::vector<size_t> hosts;
  bool has_gpu = false;
  for (size_t p = 0; p < planes.size(); ++p) {
    if (planes[p].name.starts_with(kHostPrefix)) hosts.push_back(p);
    has_gpu |= planes[p].name.starts_with(kGpuPrefix);
  }
  std::ranges::stable_sort(hosts, {}, [&](size_t p) { return planes[p].name; });
  uint32_t next = kHostThreads;
  for (const size_t p : hosts) AddPlane(p, next++, name);
  const std::string_view device_prefix = has_gpu ? kGpuPrefix : kTpuPrefix;
  for (size_t p = 0; p < planes.size(); ++p) {
    if (!planes[p].name.starts_with(device_prefix)) continue;
    const auto process = static_cast<uint32_t>(kFirstDevice + static_cast<uint64_t>(planes[p].id));
    AddPlane(p, process > kLastDevice ? kFirstDevice : process, name);
  }
  for (size_t p = 0; p < planes.size(); ++p) {
    if (!planes[p].name.starts_with(kCustomPrefix)) continue;
    AddPlane(p, static_cast<uint32_t>(kFirstCustom + static_cast<uint64_t>(planes[p].id)), name);
  }
  std::ranges::stable_sort(processes_, {}, &Process::id);
  for (Process& process : processes_) {
    std::ranges::stable_sort(process.threads, {}, &TraceView::Thread::id);
  }
}

void TraceHost::AddPlane(size_t plane, uint32_t process, std::string_view name) {
  const xplane::Plane& source = host_->file().planes()[plane];
  const auto& lines = host_->planes()[plane].lines;
  // Preparation takes the empty lines of devices away.
  const bool drops_empty = !host_->grouped_before() && (source.name.starts_with(kGpuPrefix) ||
                                                        analysis::TensorCoreOf(source.name));
  const bool any = std::ranges::any_of(lines, [&](const PreparedLine& line) {
    return !drops_empty || !line.events.empty() || !line.derived_events.empty() ||
           (line.from_file && line.file_event_count > 0);
  });
  if (!any) return;
  PlaneFacts& facts = planes_[plane];
  facts.slots = std::make_unique<analysis::StatSlots>(source, std::span(kSlotNames));
  facts.names_steps = facts.slots->knows(kStepName);
  facts.used.resize(source.event_metadata.size());
  for (size_t m = 0; m < source.event_metadata.size(); ++m) {
    if (analysis::HostEventOf(source.event_metadata[m].name) != analysis::HostEvent::kInternal) {
      continue;
    }
    if (facts.hidden.empty()) facts.hidden.resize(source.event_metadata.size());
    facts.hidden[m] = 1;
  }
  auto known = std::ranges::find(processes_, process, &Process::id);
  if (known == processes_.end()) {
    processes_.push_back({process, {}, {}, false});
    known = std::prev(processes_.end());
  }
  known->name =
      name.empty() ? std::string(source.name) : std::string(name) + " " + std::string(source.name);
  known->is_tpu_core = IsTpuCore(known->name);
  const bool is_tpu = known->is_tpu_core || IsTpuPart(known->name);
  for (size_t l = 0; l < lines.size(); ++l) AddLine(plane, l, process);
  for (Line& line : lines_) line.is_tpu |= line.process == process && is_tpu;
}

void TraceHost::AddLine(size_t plane, size_t index, uint32_t process) {
  const PreparedLine& prepared = host_->planes()[plane].lines[index];
  Line line;
  line.plane = static_cast<uint32_t>(plane);
  line.index = static_cast<uint32_t>(index);
  line.prepared = &prepared;
  line.process = process;
  if (prepared.from_file) {
    line.columns = &host_->file().Line(plane, index);
    line.file_count = static_cast<uint32_t>(line.columns->event_count());
  }
  if (line.count() == 0 || prepared.name.starts_with(kHiddenCounterPrefix)) return;
  line.thread = static_cast<uint32_t>(prepared.display_id != 0 ? prepared.display_id : prepared.id);
  line.is_counter = prepared.name == kCounterLine;
  if (!line.is_counter) {
    Process& shown = *std::ranges::find(processes_, process, &Process::id);
    const std::string& name = prepared.display_name.empty() ? prepared.name : prepared.display_name;
    const auto known = std::ranges::find(shown.threads, line.thread, &TraceView::Thread::id);
    if (known == shown.threads.end()) {
      shown.threads.push_back({line.thread, name});
    } else {
      known->name = name;
    }
    FindAsync(&line);
  }
  lines_.push_back(std::move(line));
}

// Flows of events that are marked asynchronous are drawn in a row of their own.
void TraceHost::FindAsync(Line* line) const {
  const PlaneFacts& facts = planes_[line->plane];
  if (!facts.slots->knows(kAsync) || !line->prepared->from_file) return;
  const analysis::LineBytes bytes(host_->file(), line->plane, line->index);
  StatValues values;
  for (const FlowEnd& flow : line->prepared->flows) {
    if (flow.event >= line->file_count) break;
    if (!line->async.empty() && line->async.back() == flow.event) continue;
    facts.slots->Read(bytes.Record(flow.event), &values);
    if (values.has(kAsync)) line->async.push_back(flow.event);
  }
}

bool TraceHost::is_tpu() const { return std::ranges::any_of(processes_, &Process::is_tpu_core); }

std::string_view TraceHost::NameOf(const Line& line, uint32_t event) const {
  if (const AddedEvent* added = line.Added(event)) {
    for (const AddedStat& stat : added->stats) {
      if (stat.name == kSlotNames[kStepName] && !stat.text.empty()) return stat.text;
    }
    return added->display_name.empty() ? added->name : added->display_name;
  }
  if (const analysis::DerivedEvent* derived = line.Derived(event)) {
    return (*line.prepared->derived_names)[derived->name].label();
  }
  if (!line.prepared->additions.empty()) {
    const AddedStat* step = line.prepared->FindAddition(event, kSlotNames[kStepName]);
    if (step != nullptr && !step->text.empty()) return step->text;
  }
  const PlaneFacts& facts = planes_[line.plane];
  if (facts.names_steps) {
    StatValues values;
    const analysis::LineBytes bytes(host_->file(), line.plane, line.index);
    facts.slots->Read(bytes.Record(event), &values);
    if (values.has(kStepName)) {
      const std::string_view step = facts.slots->Text(values[kStepName]);
      if (!step.empty()) return step;
    }
  }
  return host_->file().planes()[line.plane].event_metadata[line.columns->name[event]].label();
}

std::string_view TraceHost::TrackNameOf(const Line& line, uint32_t event) const {
  const std::string_view name = NameOf(line, event);
  return name.size() > kLongestTrackName && !line.is_counter ? std::string_view() : name;
}

TraceView::EventKind TraceHost::KindOf(const Line& line, uint32_t event) const {
  if (line.is_counter) return TraceView::EventKind::kCounter;
  return std::ranges::binary_search(line.async, event) ? TraceView::EventKind::kAsync
                                                       : TraceView::EventKind::kComplete;
}

uint64_t TraceHost::FlowOf(const Line& line, uint32_t event) const {
  const std::vector<FlowEnd>& flows = line.prepared->flows;
  if (flows.empty() || line.is_counter) return 0;
  // Where each event has one, its place is known.
  if (event < flows.size() && flows[event].event == event &&
      (event + 1 == flows.size() || flows[event + 1].event != event)) {
    return flows[event].flow;
  }
  const auto after = std::ranges::upper_bound(flows, event, {}, &FlowEnd::event);
  if (after == flows.begin()) return 0;
  const FlowEnd& last = *std::prev(after);
  return last.event == event ? last.flow : 0;
}

bool TraceHost::Before(EventId a, EventId b) const {
  const Line& x = lines_[a.line];
  const Line& y = lines_[b.line];
  const int64_t start_x = x.StartOf(a.event);
  const int64_t start_y = y.StartOf(b.event);
  if (start_x != start_y) return start_x < start_y;
  const int64_t duration_x = x.DurationOf(a.event);
  const int64_t duration_y = y.DurationOf(b.event);
  if (duration_x != duration_y) return duration_x > duration_y;
  if (x.process != y.process) return x.process < y.process;
  const bool complete_x = KindOf(x, a.event) == TraceView::EventKind::kComplete;
  const bool complete_y = KindOf(y, b.event) == TraceView::EventKind::kComplete;
  if (complete_x != complete_y) return complete_x;
  return complete_x && x.thread < y.thread;
}

Status TraceHost::Measure(const CancelToken& cancel) {
  int64_t first_ps = std::numeric_limits<int64_t>::max();
  int64_t last_ps = 0;
  for (const Line& line : lines_) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    PlaneFacts& facts = planes_[line.plane];
    for (uint32_t event = 0; event < line.count(); ++event) {
      if (event < line.file_count) {
        const uint32_t name = line.columns->name[event];
        if (!facts.hidden.empty() && facts.hidden[name] != 0) continue;
        facts.used[name] = 1;
      }
      ++event_count_;
      const int64_t start_ps = line.StartOf(event);
      // What lies before time 0 is no part of the span.
      if (start_ps >= 0) first_ps = std::min(first_ps, start_ps);
      last_ps = std::max(last_ps, start_ps + line.DurationOf(event));
    }
  }
  if (event_count_ == 0) return OkStatus();
  first_ps_ = first_ps == std::numeric_limits<int64_t>::max() ? 0 : first_ps;
  last_ps_ = last_ps;
  return OkStatus();
}

namespace {

// The names that the line's derived events have, each once.
template <typename Add>
void AddDerivedFrames(const PreparedLine& line, Add add) {
  if (line.derived_events.empty()) return;
  std::vector<uint8_t> used(line.derived_names->size());
  for (const analysis::DerivedEvent& event : line.derived_events) used[event.name] = 1;
  for (size_t name = 0; name < used.size(); ++name) {
    const analysis::DerivedName& known = (*line.derived_names)[name];
    if (used[name] != 0 && !known.display.empty()) add(known.text);
  }
}

}  // namespace

void TraceHost::CollectFrames() {
  std::set<std::string> frames;
  const auto add = [&](std::string_view text) {
    if (text.size() > kLongestPlainText) frames.insert(LongNameText(text));
  };
  for (size_t p = 0; p < planes_.size(); ++p) {
    const auto& metadata = host_->file().planes()[p].event_metadata;
    for (size_t m = 0; m < planes_[p].used.size(); ++m) {
      if (planes_[p].used[m] == 0) continue;
      if (!metadata[m].display_name.empty()) add(metadata[m].name);
      if (!planes_[p].slots->knows(kLongName) && !planes_[p].slots->knows(kHloText)) continue;
      for (const xplane::Stat& stat : host_->file().MetadataStats(p, static_cast<uint32_t>(m))) {
        if (stat.name == kSlotNames[kLongName] || stat.name == kSlotNames[kHloText]) {
          if (stat.text.size() > kLongestPlainText) frames.insert(std::string(stat.text));
        }
      }
    }
  }
  StatValues values;
  for (const Line& line : lines_) {
    for (const AddedEvent& event : line.prepared->events) {
      if (!event.display_name.empty()) add(event.name);
    }
    AddDerivedFrames(*line.prepared, add);
    const analysis::StatSlots& slots = *planes_[line.plane].slots;
    if (line.columns == nullptr || (!slots.knows(kLongName) && !slots.knows(kHloText))) continue;
    const analysis::LineBytes bytes(host_->file(), line.plane, line.index);
    for (uint32_t event = 0; event < line.file_count; ++event) {
      slots.Read(bytes.Record(event), &values);
      for (const size_t slot : {kLongName, kHloText}) {
        if (!values.has(slot)) continue;
        const std::string_view text = slots.Text(values[slot]);
        if (text.size() > kLongestPlainText) frames.insert(std::string(text));
      }
    }
  }
  frames_.assign(frames.begin(), frames.end());
}

uint64_t TraceHost::resident_bytes() const {
  uint64_t bytes = sizeof(*this) + lines_.capacity() * sizeof(Line);
  for (const Line& line : lines_) {
    bytes += line.async.capacity() * sizeof(uint32_t) + line.serials.capacity() * sizeof(uint16_t);
  }
  for (const std::string& frame : frames_) bytes += sizeof(frame) + frame.capacity();
  return bytes;
}

}  // namespace strobe::tools
