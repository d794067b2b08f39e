#include "src/analysis/tpu_lines.h"

#include <algorithm>
#include <array>
#include <queue>
#include <unordered_map>
#include <vector>

#include "src/analysis/derived_line.h"
#include "src/analysis/event_stats.h"
#include "src/analysis/host_offload.h"

namespace strobe::analysis {
namespace {

// Planes up to here are put into one list and sorted: 0.1 s.
constexpr uint64_t kExactOrderEvents = uint64_t{1} << 20;
// Events between two looks at the cancel flag.
constexpr size_t kEventsPerCheck = 1 << 16;

enum Slot : size_t { kTfOp, kSource, kAsync };
constexpr std::array<std::string_view, 3> kSlotNames = {"tf_op", "source", "_a"};

// What a name says of all its events.
struct NameFacts {
  std::string_view framework_op;
  std::string_view source;
  bool is_async = false;
  bool is_offload = false;
  // Whether its events carry stats of their own that say more; found out at the first one.
  bool checked = false;
  bool own_stats = false;
  bool matters() const { return !framework_op.empty() || !source.empty() || is_offload; }
};

std::string_view TextOf(const xplane::Stat& stat) {
  return stat.type == xplane::StatType::kString || stat.type == xplane::StatType::kRef
             ? stat.text
             : std::string_view();
}

class TpuPlane {
 public:
  TpuPlane(const xplane::ProfileFile& file, size_t plane, PreparedPlane* prepared,
           std::deque<std::string>* texts)
      : file_(file),
        plane_(plane),
        source_(file.planes()[plane]),
        prepared_(*prepared),
        slots_(source_, kSlotNames),
        names_(texts),
        ops_(kFrameworkOpsId, "Framework Ops", {}, false),
        scopes_(kNameScopeId, "Framework Name Scope", {&ops_}, false),
        op_lines_(&names_, &scopes_, &ops_),
        sources_(kSourceId, "Source code", {}, false),
        offload_(texts) {}

  Status Run(const CancelToken& cancel) {
    LookAtNames();
    STROBE_RETURN_IF_ERROR(EventCount() <= kExactOrderEvents ? WalkExactly(cancel) : Walk(cancel));
    scopes_.Close(0);
    const int64_t timestamp_ns = PlaneTimestampNs(source_);
    for (DerivedLine* line : {&scopes_, &ops_, &sources_}) {
      if (!line->empty()) prepared_.lines.push_back(line->Take(names_, timestamp_ns));
    }
    for (PreparedLine& line : offload_.Take(timestamp_ns)) {
      prepared_.lines.push_back(std::move(line));
    }
    return OkStatus();
  }

 private:
  void LookAtNames() {
    facts_.resize(source_.event_metadata.size());
    for (uint32_t m = 0; m < facts_.size(); ++m) {
      const xplane::EventMetadata& metadata = source_.event_metadata[m];
      NameFacts& facts = facts_[m];
      for (const xplane::Stat& stat : file_.MetadataStats(plane_, m)) {
        if (stat.name == kSlotNames[kTfOp]) facts.framework_op = TextOf(stat);
        if (stat.name == kSlotNames[kSource]) facts.source = TextOf(stat);
        if (stat.name == kSlotNames[kAsync]) facts.is_async = stat.IntOrUint() != 0;
      }
      facts.is_offload = IsHostOffload(metadata.name, metadata.display_name);
    }
  }

  uint64_t EventCount() const {
    uint64_t count = 0;
    for (const PreparedLine& line : prepared_.lines) {
      count += line.from_file ? line.file_event_count : line.events.size();
    }
    return count;
  }

  // All events in one list, so that equal times fall as they do with XProf.
  Status WalkExactly(const CancelToken& cancel) {
    std::vector<PlaneEvent> events;
    for (uint32_t l = 0; l < source_.lines.size(); ++l) {
      const PreparedLine& line = prepared_.lines[l];
      if (line.from_file) {
        AppendPlaneEvents(file_, plane_, l, &events);
        continue;
      }
      for (uint32_t e = 0; e < line.events.size(); ++e) {
        events.push_back({line.events[e].start_ps, line.events[e].duration_ps, l, e});
      }
    }
    STROBE_RETURN_IF_ERROR(cancel.Check());
    SortPlaneEvents(&events);
    for (const PlaneEvent& event : events) {
      if (!prepared_.lines[event.line].from_file) {
        AddRewritten(prepared_.lines[event.line].events[event.event]);
        continue;
      }
      NameFacts& facts = facts_[file_.Line(plane_, event.line).name[event.event]];
      if (!facts.checked) CheckOwnStats(event.line, event.event, &facts);
      if (facts.matters() || facts.own_stats) Add(event);
    }
    return cancel.Check();
  }

  // The rows of all lines side by side, in time order.
  struct Head {
    PlaneEvent event;
    uint32_t end = 0;  // of the row
  };
  static bool Later(const Head& a, const Head& b) {
    if (a.event.start_ps != b.event.start_ps) return a.event.start_ps > b.event.start_ps;
    if (a.event.duration_ps != b.event.duration_ps) {
      return a.event.duration_ps > b.event.duration_ps;
    }
    return a.event.line != b.event.line ? a.event.line > b.event.line
                                        : a.event.event > b.event.event;
  }

  // Moves to the next event of the row that may matter; false at its end.
  bool Advance(Head* head, uint32_t from) {
    const xplane::LineColumns& columns = file_.Line(plane_, head->event.line);
    for (uint32_t e = from; e < head->end; ++e) {
      NameFacts& facts = facts_[columns.name[e]];
      if (!facts.checked) CheckOwnStats(head->event.line, e, &facts);
      if (!facts.matters() && !facts.own_stats) continue;
      head->event.event = e;
      head->event.start_ps = columns.start_ps[e];
      head->event.duration_ps = columns.duration_ps[e];
      return true;
    }
    return false;
  }

  void CheckOwnStats(uint32_t line, uint32_t event, NameFacts* facts) {
    facts->checked = true;
    if (!slots_.knows_any()) return;
    StatValues values;
    slots_.Read(LineBytes(file_, plane_, line).Record(event), &values);
    facts->own_stats = !values.empty();
  }

  Status Walk(const CancelToken& cancel) {
    std::vector<Head> heads;
    for (uint32_t l = 0; l < source_.lines.size(); ++l) {
      if (!prepared_.lines[l].from_file) {
        for (const AddedEvent& event : prepared_.lines[l].events) AddRewritten(event);
        continue;
      }
      for (const xplane::LineColumns::Row& row : file_.Line(plane_, l).rows) {
        Head head;
        head.event.line = l;
        head.end = row.first + row.count;
        if (Advance(&head, row.first)) heads.push_back(head);
      }
    }
    std::ranges::make_heap(heads, Later);
    size_t count = 0;
    while (!heads.empty()) {
      if (++count % kEventsPerCheck == 0) STROBE_RETURN_IF_ERROR(cancel.Check());
      std::ranges::pop_heap(heads, Later);
      Head& head = heads.back();
      Add(head.event);
      if (Advance(&head, head.event.event + 1)) {
        std::ranges::push_heap(heads, Later);
      } else {
        heads.pop_back();
      }
    }
    return OkStatus();
  }

  // Steps have neither ops nor source lines; what their stats say is looked at all the same.
  void AddRewritten(const AddedEvent& event) {
    std::string_view op;
    std::string_view source;
    for (const AddedStat& stat : event.stats) {
      if (stat.name == kSlotNames[kTfOp]) op = stat.text;
      if (stat.name == kSlotNames[kSource]) source = stat.text;
    }
    const TimeSpan span = {event.start_ps, event.start_ps + event.duration_ps};
    if (!op.empty()) op_lines_.Expand(op, span, event.group);
    if (!source.empty()) sources_.Expand(names_.Find(source), span, event.group);
  }

  void Add(const PlaneEvent& event) {
    const uint32_t name = file_.Line(plane_, event.line).name[event.event];
    const NameFacts& facts = facts_[name];
    std::string_view op = facts.framework_op;
    std::string_view source = facts.source;
    bool is_async = facts.is_async;
    if (facts.own_stats) {
      slots_.Read(LineBytes(file_, plane_, event.line).Record(event.event), &values_);
      if (values_.has(kTfOp)) op = slots_.Text(values_[kTfOp]);
      if (values_.has(kSource)) source = slots_.Text(values_[kSource]);
      if (values_.has(kAsync)) is_async = values_[kAsync].IntOrUint() != 0;
    }
    if (is_async) return;
    const TimeSpan span = {event.start_ps, event.start_ps + event.duration_ps};
    const int64_t group = prepared_.lines[event.line].GroupOf(event.event);
    if (!op.empty()) op_lines_.Expand(op, span, group);
    if (!source.empty()) sources_.Expand(names_.Find(source), span, group);
    if (facts.is_offload) {
      offload_.Add(file_, plane_, name, span);
    }
  }

  const xplane::ProfileFile& file_;
  const size_t plane_;
  const xplane::Plane& source_;
  PreparedPlane& prepared_;
  const StatSlots slots_;
  DerivedNames names_;
  DerivedLine ops_;
  DerivedLine scopes_;
  FrameworkOpLines op_lines_;
  DerivedLine sources_;
  HostOffloadRows offload_;
  std::vector<NameFacts> facts_;  // by event metadata
  StatValues values_;
};

}  // namespace

Status DeriveTpuLines(const xplane::ProfileFile& file, size_t plane_index,
                      const CancelToken& cancel, PreparedPlane* plane,
                      std::deque<std::string>* texts) {
  return TpuPlane(file, plane_index, plane, texts).Run(cancel);
}

}  // namespace strobe::analysis
