#include "src/tools/trace_view_legacy.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/event_links.h"
#include "src/analysis/event_order.h"
#include "src/analysis/host_event.h"

namespace strobe::tools {

using analysis::AddedEvent;
using analysis::AddedStat;
using analysis::PreparedLine;

namespace {

constexpr uint32_t kHostProcess = 701;
constexpr std::array<std::string_view, 3> kDevicePrefixes = {
    "/device:GPU:", "/device:TPU:", "/device:CUSTOM:"};
constexpr std::array<std::string_view, 8> kInternalStats = {
    "_pt", "_p", "_ct", "_c", "_r", "flops", "program_id", "symbol_id"};
constexpr size_t kEventsPerCheck = 1 << 14;

// What an event says of itself, sorted by name; each name once. A number is written as a text.
class Arguments {
 public:
  struct Entry {
    std::string_view name;
    TraceView::Argument argument;
  };

  // Replaces what has the name.
  void Set(TraceView& view, std::string_view name, TraceView::Argument argument) {
    const auto at = Place(name);
    if (at != entries_.end() && at->name == name) {
      argument.name = at->argument.name;
      at->argument = argument;
      return;
    }
    argument.name = view.Intern(name);
    entries_.insert(at, {view.Text(argument.name), argument});
  }
  void SetText(TraceView& view, std::string_view name, std::string_view text) {
    TraceView::Argument argument;
    argument.kind = TraceView::Argument::Kind::kText;
    argument.text = view.Intern(text);
    Set(view, name, argument);
  }
  void SetInteger(TraceView& view, std::string_view name, int64_t value) {
    TraceView::Argument argument;
    argument.integer = value;
    Set(view, name, argument);
  }
  void Erase(std::string_view name) {
    const auto at = Place(name);
    if (at != entries_.end() && at->name == name) entries_.erase(at);
  }
  const TraceView::Argument* Find(std::string_view name) const {
    const auto at = std::ranges::lower_bound(entries_, name, {}, &Entry::name);
    return at != entries_.end() && at->name == name ? &at->argument : nullptr;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry>::iterator Place(std::string_view name) {
    return std::ranges::lower_bound(entries_, name, {}, &Entry::name);
  }
  std::vector<Entry> entries_;
};

std::string SixDigits(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%g", value);
  return buffer;
}

std::string TextOf(const TraceView& view, const TraceView::Argument& argument) {
  switch (argument.kind) {
    case TraceView::Argument::Kind::kInt64:
      return std::to_string(argument.integer);
    case TraceView::Argument::Kind::kUint64:
      return std::to_string(argument.unsigned_integer);
    case TraceView::Argument::Kind::kDouble:
      return SixDigits(argument.number);
    case TraceView::Argument::Kind::kText:
      return std::string(view.Text(argument.text));
  }
  return {};
}

bool IsInternal(std::string_view name) {
  return std::ranges::find(kInternalStats, name) != kInternalStats.end();
}

class LegacyTrace {
 public:
  LegacyTrace(const analysis::PreparedHost& host, const CancelToken& cancel, TraceView* view)
      : host_(host), file_(host.file()), cancel_(cancel), view_(*view) {}

  Status Run(uint64_t most) {
    const std::vector<std::pair<size_t, uint32_t>> planes = Shown();
    FindLatest(planes, most);
    for (const auto& [plane, process] : planes) STROBE_RETURN_IF_ERROR(AddPlane(plane, process));
    std::ranges::stable_sort(view_.processes, {}, &TraceView::Process::id);
    if (is_cut_) {
      KeepFirst(most);
    }
    return OkStatus();
  }

 private:
  // Lines stand one after the other, each nearly in order of time.
  void KeepFirst(uint64_t most) {
    struct Place {
      int64_t start_ps;
      uint32_t event;
    };
    std::vector<Place> order(view_.events.size());
    for (uint32_t e = 0; e < order.size(); ++e) order[e] = {view_.events[e].start_ps, e};
    analysis::SortRuns(&order,
                       [](const Place& a, const Place& b) { return a.start_ps < b.start_ps; });
    std::vector<TraceView::Event> kept;
    kept.reserve(std::min<uint64_t>(most, order.size()));
    for (const Place& place : order) {
      if (kept.size() == most) break;
      kept.push_back(view_.events[place.event]);
    }
    view_.events = std::move(kept);
  }

  // Planes and their processes.
  std::vector<std::pair<size_t, uint32_t>> Shown() const {
    std::vector<std::pair<size_t, uint32_t>> shown;
    const auto& planes = file_.planes();
    const auto host = std::ranges::find(planes, "/host:CPU", &xplane::Plane::name);
    if (host != planes.end()) shown.emplace_back(host - planes.begin(), kHostProcess);
    for (const std::string_view prefix : kDevicePrefixes) {
      const size_t before = shown.size();
      for (size_t p = 0; p < planes.size(); ++p) {
        if (!planes[p].name.starts_with(prefix)) continue;
        shown.emplace_back(p, static_cast<uint32_t>(1 + static_cast<uint64_t>(planes[p].id)));
      }
      if (shown.size() > before) break;
    }
    return shown;
  }

  // Of very many events those that begin late are not made at all.
  void FindLatest(const std::vector<std::pair<size_t, uint32_t>>& planes, uint64_t most) {
    uint64_t count = 0;
    std::vector<int64_t> starts;
    const auto each = [&](auto visit) {
      for (const auto& [plane, process] : planes) {
        for (size_t l = 0; l < host_.planes()[plane].lines.size(); ++l) {
          visit(plane, l, host_.planes()[plane].lines[l]);
        }
      }
    };
    each([&](size_t, size_t, const PreparedLine& line) {
      count += (line.from_file ? line.file_event_count : 0) + line.events.size() +
               line.derived_events.size();
    });
    if (count <= most) return;
    starts.reserve(count);
    each([&](size_t plane, size_t l, const PreparedLine& line) {
      if (IsLeftOut(line)) return;
      if (line.from_file) {
        const xplane::LineColumns& columns = file_.Line(plane, l);
        const auto& metadata = file_.planes()[plane].event_metadata;
        const std::vector<uint8_t> hidden = HiddenNames(metadata);
        for (size_t e = 0; e < columns.event_count(); ++e) {
          if (hidden[columns.name[e]] == 0) starts.push_back(columns.start_ps[e]);
        }
      }
      for (const AddedEvent& event : line.events) starts.push_back(event.start_ps);
      for (const analysis::DerivedEvent& event : line.derived_events) {
        starts.push_back(event.start_ps);
      }
    });
    if (starts.size() <= most || most == 0) return;
    const auto last = starts.begin() + static_cast<ptrdiff_t>(most - 1);
    std::nth_element(starts.begin(), last, starts.end());
    latest_ps_ = *last;
    is_cut_ = true;
  }

  static std::string_view NameOf(const PreparedLine& line) {
    return line.display_name.empty() ? line.name : line.display_name;
  }
  // The older viewer has no line of asynchronous ops.
  static bool IsLeftOut(const PreparedLine& line) { return NameOf(line) == "Async XLA Ops"; }

  static std::vector<uint8_t> HiddenNames(const std::vector<xplane::EventMetadata>& names) {
    std::vector<uint8_t> hidden(names.size());
    for (size_t m = 0; m < hidden.size(); ++m) {
      hidden[m] = analysis::HostEventOf(names[m].name) == analysis::HostEvent::kInternal ? 1 : 0;
    }
    return hidden;
  }

  Status AddPlane(size_t plane, uint32_t process) {
    const xplane::Plane& source = file_.planes()[plane];
    auto known = std::ranges::find(view_.processes, process, &TraceView::Process::id);
    if (known == view_.processes.end()) {
      view_.processes.emplace_back();
      known = std::prev(view_.processes.end());
    }
    known->id = process;
    known->name = source.name;
    hidden_ = HiddenNames(source.event_metadata);
    of_names_.assign(hidden_.size(), Arguments());
    known_names_.assign(hidden_.size(), false);
    const bool drops_empty =
        !host_.grouped_before() &&
        (source.name.starts_with(kDevicePrefixes[0]) || analysis::TensorCoreOf(source.name));
    const auto& lines = host_.planes()[plane].lines;
    for (size_t l = 0; l < lines.size(); ++l) {
      const PreparedLine& line = lines[l];
      const size_t made = line.events.size() + line.derived_events.size();
      if (drops_empty && (line.from_file ? line.file_event_count : 0) + made == 0) continue;
      const auto thread = static_cast<uint32_t>(line.display_id != 0 ? line.display_id : line.id);
      SetThread(thread, std::string(NameOf(line)), &*known);
      if (!IsLeftOut(line)) STROBE_RETURN_IF_ERROR(AddLine(plane, l, process, thread));
    }
    std::ranges::stable_sort(known->threads, {}, &TraceView::Thread::id);
    return OkStatus();
  }

  static void SetThread(uint32_t id, const std::string& name, TraceView::Process* process) {
    const auto known = std::ranges::find(process->threads, id, &TraceView::Thread::id);
    if (known == process->threads.end()) {
      process->threads.push_back({id, name});
    } else {
      known->name = name;
    }
  }

  Status AddLine(size_t plane, size_t index, uint32_t process, uint32_t thread) {
    const PreparedLine& line = host_.planes()[plane].lines[index];
    if (line.from_file) {
      const xplane::LineColumns& columns = file_.Line(plane, index);
      const analysis::LineBytes bytes(file_, plane, index);
      const analysis::EventOrder order = analysis::FileOrder(bytes, columns);
      for (size_t position = 0; position < order.size(); ++position) {
        if (position % kEventsPerCheck == 0) STROBE_RETURN_IF_ERROR(cancel_.Check());
        if (columns.start_ps[order[position]] > latest_ps_) continue;
        AddFileEvent(plane, index, order[position], columns, process, thread);
      }
    }
    for (size_t i = 0; i < line.events.size(); ++i) {
      if (i % kEventsPerCheck == 0) STROBE_RETURN_IF_ERROR(cancel_.Check());
      if (line.events[i].start_ps <= latest_ps_) AddAddedEvent(plane, line, i, process, thread);
    }
    for (uint32_t i = 0; i < line.derived_events.size(); ++i) {
      if (i % kEventsPerCheck == 0) STROBE_RETURN_IF_ERROR(cancel_.Check());
      if (line.derived_events[i].start_ps > latest_ps_) break;
      AddDerivedEvent(line, i, process, thread);
    }
    return OkStatus();
  }

  // What a name says of each of its events.
  const Arguments& OfName(size_t plane, uint32_t name) {
    Arguments& known = of_names_[name];
    if (known_names_[name]) return known;
    known_names_[name] = true;
    const xplane::EventMetadata& metadata = file_.planes()[plane].event_metadata[name];
    if (!metadata.display_name.empty()) known.SetText(view_, "long_name", metadata.name);
    for (const xplane::Stat& stat : file_.MetadataStats(plane, name)) Add(stat, &known);
    return known;
  }

  void AddFileEvent(size_t plane, size_t index, uint32_t event, const xplane::LineColumns& columns,
                    uint32_t process, uint32_t thread) {
    const uint32_t metadata_index = columns.name[event];
    if (hidden_[metadata_index] != 0) return;
    const xplane::EventMetadata& metadata = file_.planes()[plane].event_metadata[metadata_index];
    const PreparedLine& line = host_.planes()[plane].lines[index];
    arguments_ = OfName(plane, metadata_index);
    for (const xplane::Stat& stat : file_.EventStats(plane, index, event)) Add(stat, &arguments_);
    arguments_.Erase("group_id");
    auto at = std::ranges::lower_bound(line.additions, event, {}, &analysis::EventAddition::event);
    for (; at != line.additions.end() && at->event == event; ++at) Add(at->stat, &arguments_);
    if (event < line.is_eager.size() && line.is_eager[event] != PreparedLine::kNotMarked) {
      arguments_.SetInteger(view_, "is_eager", line.is_eager[event]);
    }
    AddLinks(line, event);
    TraceView::Event& out = Append(metadata.label(), process, thread);
    out.start_ps = columns.start_ps[event];
    out.duration_ps = columns.duration_ps[event];
  }

  void AddAddedEvent(size_t plane, const PreparedLine& line, size_t i, uint32_t process,
                     uint32_t thread) {
    const AddedEvent& event = line.events[i];
    arguments_ = Arguments();
    if (!event.display_name.empty()) arguments_.SetText(view_, "long_name", event.name);
    if (event.source_line != AddedEvent::kNone) {
      const uint32_t name = file_.Line(plane, event.source_line).name[event.source_event];
      for (const xplane::Stat& stat : file_.MetadataStats(plane, name)) Add(stat, &arguments_);
    }
    for (const AddedStat& stat : event.stats) {
      if (!IsInternal(stat.name)) Add(stat, &arguments_);
    }
    const auto number = static_cast<uint32_t>(line.from_file ? line.file_event_count + i : i);
    AddLinks(line, number);
    TraceView::Event& out =
        Append(event.display_name.empty() ? event.name : event.display_name, process, thread);
    out.start_ps = event.start_ps;
    out.duration_ps = event.duration_ps;
  }

  void AddDerivedEvent(const PreparedLine& line, uint32_t i, uint32_t process, uint32_t thread) {
    const analysis::DerivedEvent& event = line.derived_events[i];
    const analysis::DerivedName& name = (*line.derived_names)[event.name];
    arguments_ = Arguments();
    if (!name.display.empty()) arguments_.SetText(view_, "long_name", name.text);
    AddLinks(line, i);
    TraceView::Event& out = Append(name.label(), process, thread);
    out.start_ps = event.start_ps;
    out.duration_ps = event.duration_ps;
  }

  void Add(const xplane::Stat& stat, Arguments* arguments) {
    if (stat.type == xplane::StatType::kNone || IsInternal(stat.name)) return;
    TraceView::Argument argument;
    switch (stat.type) {
      case xplane::StatType::kInt64:
        argument.integer = stat.int64_value;
        break;
      case xplane::StatType::kUint64:
        argument.kind = TraceView::Argument::Kind::kUint64;
        argument.unsigned_integer = stat.uint64_value;
        break;
      case xplane::StatType::kDouble:
        argument.kind = TraceView::Argument::Kind::kDouble;
        argument.number = stat.number;
        break;
      case xplane::StatType::kBytes:
        return arguments->SetText(view_, stat.name, "<opaque bytes>");
      default:
        return arguments->SetText(view_, stat.name, stat.text);
    }
    arguments->Set(view_, stat.name, argument);
  }

  void Add(const AddedStat& stat, Arguments* arguments) {
    TraceView::Argument argument;
    switch (stat.kind) {
      case AddedStat::Kind::kInt64:
        argument.integer = stat.integer;
        break;
      case AddedStat::Kind::kUint64:
        argument.kind = TraceView::Argument::Kind::kUint64;
        argument.unsigned_integer = static_cast<uint64_t>(stat.integer);
        break;
      case AddedStat::Kind::kDouble:
        argument.kind = TraceView::Argument::Kind::kDouble;
        argument.number = stat.number;
        break;
      case AddedStat::Kind::kString:
        return arguments->SetText(view_, stat.name, stat.text);
    }
    arguments->Set(view_, stat.name, argument);
  }

  void AddLinks(const PreparedLine& line, uint32_t event) {
    const int64_t group = line.GroupOf(event);
    if (group != analysis::kNoGroup && arguments_.Find("group_id") == nullptr) {
      arguments_.SetInteger(view_, "group_id", group);
    }
    const auto after = std::ranges::upper_bound(line.flows, event, {}, &analysis::FlowEnd::event);
    if (after == line.flows.begin() || std::prev(after)->event != event) return;
    TraceView::Argument argument;
    argument.kind = TraceView::Argument::Kind::kUint64;
    argument.unsigned_integer = std::prev(after)->flow;
    arguments_.Set(view_, "flow", argument);
  }

  TraceView::Event& Append(std::string_view name, uint32_t process, uint32_t thread) {
    TraceView::Event& out = view_.events.emplace_back();
    out.process = process;
    out.thread = thread;
    const TraceView::Argument* const step = arguments_.Find("step_name");
    out.name = view_.Intern(step == nullptr ? std::string(name) : TextOf(view_, *step));
    for (const Arguments::Entry& entry : arguments_.entries()) {
      view_.AddArgument(out, entry.argument);
    }
    return out;
  }

  const analysis::PreparedHost& host_;
  const xplane::ProfileFile& file_;
  const CancelToken& cancel_;
  TraceView& view_;
  std::vector<uint8_t> hidden_;                              // by event metadata of the plane
  std::vector<Arguments> of_names_;                          // likewise
  std::vector<bool> known_names_;                            // likewise
  Arguments arguments_;                                      // of the event at hand
  int64_t latest_ps_ = std::numeric_limits<int64_t>::max();  // later ones are left out
  bool is_cut_ = false;
};

}  // namespace

Status FillLegacyTrace(const analysis::PreparedHost& host, uint64_t most, const CancelToken& cancel,
                       TraceView* view) {
  view->form = TraceView::Form::kLegacy;
  return LegacyTrace(host, cancel, view).Run(most);
}

}  // namespace strobe::tools
