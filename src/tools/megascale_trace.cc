#include "src/tools/megascale_trace.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "src/tools/megascale_perfetto.h"

namespace strobe::tools {
namespace {

using xplane::Stat;
using xplane::StatType;

constexpr int64_t kPsPerNs = 1000;
constexpr std::string_view kMegascalePlane = "/device:CUSTOM:Megascale Trace";

// Stats that are plumbing of the profiler, not of interest to a reader.
bool IsHidden(std::string_view name) {
  constexpr std::string_view kHidden[] = {"_c",          "_ct",       "_p",
                                          "_pt",         "flops",     "flow",
                                          "_a",          "_r",        "kernel_details",
                                          "program_id",  "symbol_id", "source",
                                          "source_stack"};
  return std::ranges::find(kHidden, name) != std::end(kHidden);
}

void AddArgument(const Stat& stat, std::vector<PerfettoArgument>* arguments) {
  if (IsHidden(stat.name)) return;
  PerfettoArgument argument;
  argument.name = stat.name;
  switch (stat.type) {
    case StatType::kUint64:
      argument.value = stat.uint64_value;
      break;
    case StatType::kInt64:
      argument.value = stat.int64_value;
      break;
    case StatType::kDouble:
      argument.value = stat.number;
      break;
    case StatType::kString:
    case StatType::kRef:
      argument.value = std::string(stat.text);
      break;
    case StatType::kBytes:
    case StatType::kNone:
      argument.value = std::string();  // messages mean nothing to a reader
      break;
  }
  arguments->push_back(std::move(argument));
}

std::optional<int64_t> NumberAfter(std::string_view text, std::string_view prefix) {
  const size_t at = text.find(prefix);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + prefix.size());
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// n of exactly "/device:TPU:<n>".
std::optional<int64_t> TpuNumber(std::string_view plane) {
  constexpr std::string_view kPrefix = "/device:TPU:";
  if (!plane.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = plane.substr(kPrefix.size());
  const std::optional<int64_t> number = NumberAfter(plane, kPrefix);
  if (!number || std::to_string(*number) != digits) return std::nullopt;
  return number;
}

int LineKind(std::string_view name) {
  constexpr std::pair<std::string_view, int> kLines[] = {{"Steps", kStepsLine},
                                                         {"XLA Modules", kModulesLine},
                                                         {"XLA Ops", kOpsLine},
                                                         {"XLA TraceMe", kTraceMeLine}};
  for (const auto& [known, kind] : kLines) {
    if (known == name) return kind;
  }
  return 0;
}

class Loader {
 public:
  Loader(const xplane::ProfileFile& file, bool as_xprof) : file_(file), as_xprof_(as_xprof) {}

  Result<std::vector<TpuTracks>> Load(const CancelToken& cancel) {
    std::map<int64_t, TpuTracks> tpus;
    for (size_t p = 0; p < file_.planes().size(); ++p) {
      const std::optional<int64_t> number = TpuNumber(file_.planes()[p].name);
      if (number) STROBE_RETURN_IF_ERROR(LoadTpu(p, *number, cancel, &tpus[*number]));
    }
    for (size_t p = 0; p < file_.planes().size(); ++p) {
      if (file_.planes()[p].name == kMegascalePlane) {
        STROBE_RETURN_IF_ERROR(LoadCollectives(p, cancel, &tpus));
      }
    }
    std::vector<TpuTracks> all;
    for (auto& [number, tpu] : tpus) {
      Finish(&tpu);
      all.push_back(std::move(tpu));
    }
    return all;
  }

 private:
  Result<TraceEvent> EventOf(size_t p, size_t l, uint32_t e) {
    if (++events_ > kMaxPerfettoEvents) {
      return ResourceExhaustedError(
                 "MEGASCALE_TRACE_TOO_LARGE",
                 "The trace has more than " + std::to_string(kMaxPerfettoEvents) + " events.")
          .Hint("Capture for a shorter time; the timeline shows traces of any size.");
    }
    const xplane::Plane& plane = file_.planes()[p];
    const xplane::LineColumns& line = file_.Line(p, l);
    const xplane::EventMetadata& metadata = plane.event_metadata[line.name[e]];
    TraceEvent event;
    event.start_ps =
        line.start_ps[e] - plane.lines[l].base_ps + plane.lines[l].timestamp_ns * kPsPerNs;
    event.duration_ps = line.duration_ps[e];
    event.name = metadata.label();
    if (!metadata.display_name.empty()) {
      event.arguments.push_back({"long_name", std::string(metadata.name)});
    }
    for (const Stat& stat : file_.MetadataStats(p, line.name[e])) {
      AddArgument(stat, &event.arguments);
    }
    for (const Stat& stat : file_.EventStats(p, l, e)) AddArgument(stat, &event.arguments);
    return event;
  }

  std::vector<uint32_t> FileOrder(size_t p, size_t l) const {
    std::vector<std::pair<uint64_t, uint32_t>> offsets;
    for (uint32_t e = 0; e < file_.Line(p, l).event_count(); ++e) {
      offsets.emplace_back(file_.EventOffset(p, l, e), e);
    }
    std::ranges::sort(offsets);
    std::vector<uint32_t> order;
    for (const auto& [offset, e] : offsets) order.push_back(e);
    return order;
  }

  Status LoadTpu(size_t p, int64_t number, const CancelToken& cancel, TpuTracks* tpu) {
    const xplane::Plane& plane = file_.planes()[p];
    tpu->id = number;
    tpu->name = plane.name;
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      const int kind = LineKind(plane.lines[l].name);
      const size_t count = kind == 0 ? 0 : file_.Line(p, l).event_count();
      if (count == 0) continue;
      STROBE_RETURN_IF_ERROR(cancel.Check());
      EventTrack& track = tpu->lines[kind];
      track.name = std::to_string(kind) + ". " + std::string(plane.lines[l].name);
      for (const uint32_t e : FileOrder(p, l)) {
        STROBE_ASSIGN_OR_RETURN(TraceEvent event, EventOf(p, l, e));
        track.events.push_back(std::move(event));
      }
    }
    return OkStatus();
  }

  // Collectives name their device in a numbering of their own; both are paired by rank.
  Status LoadCollectives(size_t p, const CancelToken& cancel, std::map<int64_t, TpuTracks>* tpus) {
    std::map<int64_t, std::map<std::string, EventTrack>> by_device;
    for (size_t l = 0; l < file_.planes()[p].lines.size(); ++l) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      for (const uint32_t e : FileOrder(p, l)) {
        STROBE_ASSIGN_OR_RETURN(TraceEvent event, EventOf(p, l, e));
        const std::string key(event.Text("graph_key"));
        const std::optional<int64_t> device = NumberAfter(key, "device_");
        if (!device || key.find("_gid_") == std::string::npos) continue;
        EventTrack& track = by_device[*device][key];
        track.name = key.substr(0, key.find('$'));
        track.graph_key = key;
        track.events.push_back(std::move(event));
      }
    }
    auto tpu = tpus->begin();
    for (auto& [device, tracks] : by_device) {
      if (tpu == tpus->end()) break;
      for (auto& [key, track] : tracks) tpu->second.collectives.push_back(std::move(track));
      ++tpu;
    }
    return OkStatus();
  }

  void Finish(TpuTracks* tpu) {
    for (auto& [kind, track] : tpu->lines) Sort(&track);
    for (EventTrack& track : tpu->collectives) Sort(&track);
    const auto iteration = [](const EventTrack& track) {
      return NumberAfter(track.graph_key, "^i").value_or(0);
    };
    std::ranges::stable_sort(tpu->collectives, [&](const EventTrack& a, const EventTrack& b) {
      return std::tuple(std::string_view(a.name), iteration(a)) <
             std::tuple(std::string_view(b.name), iteration(b));
    });
    AddRunIds(tpu);
    for (const int kind : {kOpsLine, kTraceMeLine}) {
      const auto track = tpu->lines.find(kind);
      if (track != tpu->lines.end()) GroupTiny(&track->second);
    }
  }

  // Equal events stand as the library's sort leaves them: the reference uses the same one.
  static void Sort(EventTrack* track) {
    std::sort(
        track->events.begin(), track->events.end(), [](const TraceEvent& a, const TraceEvent& b) {
          return a.start_ps != b.start_ps ? a.start_ps < b.start_ps : a.duration_ps > b.duration_ps;
        });
  }

  // Operations belong to the run of the module that began last.
  static void AddRunIds(TpuTracks* tpu) {
    std::vector<std::pair<int64_t, uint64_t>> runs;
    if (const auto modules = tpu->lines.find(kModulesLine); modules != tpu->lines.end()) {
      uint64_t next = 1;
      for (TraceEvent& event : modules->second.events) {
        const PerfettoArgument* given = event.Find("run_id");
        const auto* id = given == nullptr ? nullptr : std::get_if<uint64_t>(&given->value);
        event.run_id = id == nullptr ? next++ : *id;
        if (given == nullptr) event.arguments.push_back({"run_id", *event.run_id});
        runs.emplace_back(event.start_ps, *event.run_id);
      }
    }
    const auto assign = [&](EventTrack* track) {
      for (TraceEvent& event : track->events) {
        const auto after = std::ranges::upper_bound(runs, event.start_ps, {},
                                                    &std::pair<int64_t, uint64_t>::first);
        if (after == runs.begin()) continue;
        event.run_id = std::prev(after)->second;
        event.arguments.push_back({"run_id", *event.run_id});
      }
    };
    for (auto& [kind, track] : tpu->lines) {
      if (kind != kModulesLine) assign(&track);
    }
    for (EventTrack& track : tpu->collectives) assign(&track);
  }

  static bool IsTransfer(std::string_view name) {
    for (const std::string_view word : {"send-done", "recv-done", "send", "recv"}) {
      if (!name.starts_with(word)) continue;
      std::string_view rest = name.substr(word.size());
      if (rest.starts_with('.')) rest.remove_prefix(1);
      return rest.find_first_not_of("0123456789") == std::string_view::npos;
    }
    return false;
  }

  void GroupTiny(EventTrack* track) const {
    constexpr int64_t kTinyPs = 1000;
    std::vector<TraceEvent> kept;
    std::vector<TraceEvent>& events = track->events;
    for (size_t i = 0; i < events.size();) {
      const auto joins = [&](size_t at) {
        return events[at].duration_ps < kTinyPs && !IsTransfer(events[at].name) &&
               events[at].start_ps / kPsPerNs == events[i].start_ps / kPsPerNs &&
               events[at].run_id == events[i].run_id;
      };
      size_t end = i;
      while (end < events.size() && joins(end)) ++end;
      if (end - i < 2) {
        kept.push_back(std::move(events[i++]));
        continue;
      }
      TraceEvent group;
      group.start_ps = events[i].start_ps;
      group.run_id = events[i].run_id;
      group.name = std::to_string(end - i) + " events are hidden";
      std::string names;
      for (; i < end; ++i) names += (names.empty() ? "" : ", ") + events[i].name;
      group.arguments.push_back(
          {"description",
           std::string(as_xprof_ ? "If you would like to see them, please add "
                                   "&group_tiny_events=false to the URL."
                                 : "Each is shorter than 1 ns; the timeline shows them.")});
      group.arguments.push_back({"hidden_events", std::move(names)});
      kept.push_back(std::move(group));
    }
    events = std::move(kept);
  }

  const xplane::ProfileFile& file_;
  const bool as_xprof_;
  uint64_t events_ = 0;
};

}  // namespace

const PerfettoArgument* TraceEvent::Find(std::string_view argument) const {
  const auto found = std::ranges::find(arguments, argument, &PerfettoArgument::name);
  return found == arguments.end() ? nullptr : &*found;
}

std::string_view TraceEvent::Text(std::string_view argument) const {
  const PerfettoArgument* found = Find(argument);
  const auto* text = found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

int64_t TraceEvent::Whole(std::string_view argument) const {
  const PerfettoArgument* found = Find(argument);
  if (found == nullptr) return 0;
  if (const auto* whole = std::get_if<uint64_t>(&found->value)) return static_cast<int64_t>(*whole);
  const auto* whole = std::get_if<int64_t>(&found->value);
  return whole == nullptr ? 0 : *whole;
}

Result<std::vector<TpuTracks>> LoadTpuTracks(const xplane::ProfileFile& file, bool as_xprof,
                                             const CancelToken& cancel) {
  return Loader(file, as_xprof).Load(cancel);
}

}  // namespace strobe::tools
