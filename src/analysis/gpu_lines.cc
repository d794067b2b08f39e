#include "src/analysis/gpu_lines.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "src/analysis/derived_line.h"
#include "src/analysis/event_stats.h"
#include "src/hlo/hlo_module.h"

namespace strobe::analysis {
namespace {

constexpr std::string_view kGpuPrefix = "/device:GPU:";
constexpr std::string_view kHostThreadsPlane = "/host:CPU";
constexpr std::string_view kScopeTreePlane = "/host:__ScopeRangeCallStack__";
constexpr double kPicosecondsPerMicrosecond = 1e6;

// Each stream takes this many ids and places in the display order.
constexpr int64_t kLinesPerStream = 6;
constexpr int64_t kPlacesPerStream = 7;

enum Slot : size_t {
  kTfOp,
  kHloOp,
  kHloModule,
  kProgram,
  kKernelDetails,
  kCorrelation,
  kGraphExec,
  kGraph,
  kScope,
};
constexpr std::array<std::string_view, 9> kSlotNames = {
    "tf_op",          "hlo_op",         "hlo_module",         "program_id",
    "kernel_details", "correlation_id", "cuda_graph_exec_id", "cuda_graph_id",
    "scope_range_id"};

// Parents of scope ranges, from the plane that holds their tree.
using ScopeTree = std::unordered_map<int64_t, int64_t>;

ScopeTree ReadScopeTree(const xplane::ProfileFile& file) {
  ScopeTree tree;
  for (size_t p = 0; p < file.planes().size(); ++p) {
    if (file.planes()[p].name != kScopeTreePlane) continue;
    for (const xplane::Stat& stat : file.PlaneStats(p)) {
      tree.emplace(stat.metadata_id,
                   stat.type == xplane::StatType::kInt64 ? stat.int64_value : int64_t{0});
    }
    break;
  }
  return tree;
}

std::vector<std::string_view> SplitHloOps(std::string_view text) {
  std::vector<std::string_view> ops;
  for (size_t at = text.find("::"); at != std::string_view::npos; at = text.find("::")) {
    ops.push_back(text.substr(0, at));
    text.remove_prefix(at + 2);
  }
  ops.push_back(text);
  return ops;
}

// What the HLO module says of an op, kept as texts for as long as the host.
struct Symbol {
  std::string_view framework_op;  // "name:type"; empty: unknown
  std::string_view source;        // "file.py:12"
};

class SymbolTable {
 public:
  SymbolTable(const hlo::ModuleSet& modules, std::deque<std::string>* texts)
      : modules_(modules), texts_(*texts) {}

  Symbol Find(uint64_t program, std::string_view op) {
    const std::string key = std::to_string(program) + "/" + std::string(op);
    const auto [place, is_new] = symbols_.try_emplace(key);
    if (is_new) place->second = Look(program, op);
    return place->second;
  }

 private:
  Symbol Look(uint64_t program, std::string_view op) {
    const std::optional<size_t> index = modules_.FindProgram(program);
    if (!index) return {};
    const Result<std::shared_ptr<const hlo::HloModule>> module = modules_.Module(*index);
    if (!module.ok()) return {};
    const uint32_t instruction = (*module)->FindInstruction(op);
    if (instruction == hlo::kNone) return {};
    const hlo::OpMetadata metadata =
        hlo::DecodeMetadata((*module)->instruction(instruction).metadata);
    Symbol symbol;
    symbol.framework_op =
        texts_.emplace_back(std::string(metadata.op_name) + ":" + std::string(metadata.op_type));
    if (!metadata.source_file.empty()) {
      const std::string_view file = metadata.source_file;
      symbol.source = texts_.emplace_back(std::string(file.substr(file.rfind('/') + 1)) + ":" +
                                          std::to_string(metadata.source_line));
    }
    return symbol;
  }

  const hlo::ModuleSet& modules_;
  std::deque<std::string>& texts_;
  std::unordered_map<std::string, Symbol> symbols_;
};

// Derived lines of one stream.
class StreamLines {
 public:
  StreamLines(const xplane::ProfileFile& file, size_t plane, int64_t first_id,
              const std::string& suffix, const ScopeTree& scopes, SymbolTable* symbols,
              DerivedNames* names)
      : slots_(file.planes()[plane], kSlotNames),
        tree_(scopes),
        symbols_(*symbols),
        names_(*names),
        ops_(first_id + 1, "Framework Ops" + suffix, {}, true),
        name_scopes_(first_id, "Framework Name Scope" + suffix, {&ops_}, true),
        op_lines_(&names_, &name_scopes_, &ops_),
        hlo_ops_(first_id + 3, "XLA Ops" + suffix, {}, true),
        modules_(first_id + 2, "XLA Modules" + suffix, {&name_scopes_, &hlo_ops_}, true),
        sources_(first_id + 5, "Source code" + suffix, {}, true) {}

  void Add(const PlaneEvent& event, const PreparedLine& line, const LineBytes& bytes) {
    slots_.Read(bytes.Record(event.event), &values_);
    const bool kernel = !Text(kKernelDetails).empty() || values_.has(kGraphExec);
    if (!kernel) return;
    const TimeSpan span = {event.start_ps, event.start_ps + event.duration_ps};
    const int64_t group = line.GroupOf(event.event);
    const std::string_view module = Text(kHloModule);
    const bool is_xla = values_.has(kHloOp);
    ReadScopes(!module.empty() || is_xla);
    if (!module.empty()) {
      modules_.Expand(ModuleName(module), span, group,
                      scopes_.empty() ? std::nullopt : std::optional(scopes_.back()));
    }
    if (is_xla) {
      AddHlo(module, span, group);
    } else if (const std::string_view op = Text(kTfOp); !op.empty()) {
      op_lines_.Expand(op, span, group);
    }
  }

  // The lines that have events, by id.
  std::vector<PreparedLine> Take(int64_t timestamp_ns) {
    std::vector<PreparedLine> lines;
    for (DerivedLine* line : {&name_scopes_, &ops_, &modules_, &hlo_ops_, &sources_}) {
      if (!line->empty()) lines.push_back(line->Take(names_, timestamp_ns));
    }
    return lines;
  }

 private:
  std::string_view Text(size_t slot) const {
    return values_.has(slot) ? slots_.Text(values_[slot]) : std::string_view();
  }

  // The event's scope range and those around it, innermost first.
  void ReadScopes(bool wanted) {
    scopes_.clear();
    if (!wanted || !values_.has(kScope)) return;
    int64_t scope = values_[kScope].IntOnly();
    scopes_.push_back(scope);
    std::unordered_set<int64_t> visited;
    for (auto parent = tree_.find(scope); parent != tree_.end(); parent = tree_.find(scope)) {
      scope = parent->second;
      if (!visited.insert(scope).second) return;
      scopes_.push_back(scope);
    }
  }

  uint32_t ModuleName(std::string_view module) {
    if (!values_.has(kProgram)) return names_.Find(module);
    return names_.FindCopy(std::string(module) + "(" +
                           std::to_string(values_[kProgram].IntOrUint()) + ")");
  }

  void AddHlo(std::string_view module, TimeSpan span, int64_t group) {
    const std::vector<std::string_view> levels = SplitHloOps(Text(kHloOp));
    const std::string prefix = values_.has(kProgram)
                                   ? std::to_string(values_[kProgram].IntOrUint()) + "/"
                                   : std::string(module) + "/";
    std::vector<uint32_t> names;
    for (const std::string_view level : levels) {
      names.push_back(names_.FindCopy(prefix + std::string(level)));
      if (!names_.has_display(names.back())) names_.SetDisplay(names.back(), level);
    }
    std::vector<int64_t> by_level;
    if (scopes_.size() == levels.size()) by_level.assign(scopes_.rbegin(), scopes_.rend());
    hlo_ops_.Expand(names, span, group, by_level);
    if (values_.has(kGraph) && values_[kGraph].UintOnly() != 0) {
      const size_t level = levels.size() - 1;
      hlo_ops_.SetStat(level, "cuda_graph_id", static_cast<int64_t>(values_[kGraph].UintOnly()));
      if (values_.has(kCorrelation)) {
        hlo_ops_.SetStat(level, "correlation_id",
                         static_cast<int64_t>(values_[kCorrelation].IntOrUint()));
      }
    }
    if (!values_.has(kProgram)) return;
    const Symbol symbol = symbols_.Find(values_[kProgram].IntOrUint(), levels.back());
    if (!symbol.framework_op.empty()) {
      op_lines_.Expand(symbol.framework_op, span, group);
    }
    if (!symbol.source.empty()) sources_.Expand(names_.Find(symbol.source), span, group);
  }

  const StatSlots slots_;
  const ScopeTree& tree_;
  SymbolTable& symbols_;
  DerivedNames& names_;
  DerivedLine ops_;
  DerivedLine name_scopes_;
  FrameworkOpLines op_lines_;
  DerivedLine hlo_ops_;
  DerivedLine modules_;
  DerivedLine sources_;
  StatValues values_;
  std::vector<int64_t> scopes_;
};

class GpuPlane {
 public:
  GpuPlane(const GpuLinesInput& input, size_t plane, const ScopeTree& scopes, SymbolTable* symbols,
           PreparedPlane* prepared, std::deque<std::string>* texts)
      : input_(input),
        plane_(plane),
        source_(input.file.planes()[plane]),
        scopes_(scopes),
        symbols_(*symbols),
        prepared_(*prepared),
        names_(texts),
        timestamp_ns_(PlaneTimestampNs(source_)) {}

  Status Run(const CancelToken& cancel) {
    if (AnyGroups()) {
      std::vector<PlaneEvent> events;
      for (uint32_t l = 0; l < source_.lines.size(); ++l) {
        if (!IsDerivedId(source_.lines[l].id)) AppendPlaneEvents(input_.file, plane_, l, &events);
      }
      SortPlaneEvents(&events);
      FillGroups(events);
      DeriveSteps(events);
    }
    STROBE_RETURN_IF_ERROR(cancel.Check());
    return input_.options.op_lines ? DeriveStreams(cancel) : OkStatus();
  }

 private:
  bool AnyGroups() const {
    for (size_t l = 0; l < source_.lines.size(); ++l) {
      if (IsDerivedId(source_.lines[l].id)) continue;
      const std::vector<int32_t>& groups = prepared_.lines[l].groups;
      if (std::ranges::any_of(groups, [](int32_t group) { return group >= 0; })) return true;
    }
    return false;
  }

  // What has no group belongs to the latest one.
  void FillGroups(const std::vector<PlaneEvent>& events) {
    int64_t latest = kNoGroup;
    for (const PlaneEvent& event : events) {
      PreparedLine& line = prepared_.lines[event.line];
      const int64_t group = line.GroupOf(event.event);
      if (group != kNoGroup) {
        latest = group;
      } else if (latest != kNoGroup) {
        if (line.groups.empty()) {
          line.groups.assign(line.file_event_count, static_cast<int32_t>(kNoGroup));
        }
        line.groups[event.event] = static_cast<int32_t>(latest);
      }
    }
  }

  void DeriveSteps(const std::vector<PlaneEvent>& events) {
    DerivedLine steps(kStepsId, "Steps", {}, true);
    int64_t last = kNoGroup;
    uint32_t name = 0;
    for (const PlaneEvent& event : events) {
      const int64_t group = prepared_.lines[event.line].GroupOf(event.event);
      if (group == kNoGroup) continue;
      if (group != last) name = names_.FindCopy(std::to_string(group));
      last = group;
      steps.Expand(name, {event.start_ps, event.start_ps + event.duration_ps}, group);
    }
    if (steps.empty()) return;
    PreparedLine line = steps.TakeAdded(names_, timestamp_ns_);
    for (AddedEvent& event : line.events) {
      const auto group = input_.groups.find(event.group);
      if (group == input_.groups.end()) continue;
      AddedStat& step_name = event.stats.emplace_back();
      step_name.name = "step_name";
      step_name.kind = AddedStat::Kind::kString;
      step_name.text = group->second.name;
    }
    prepared_.lines.push_back(std::move(line));
  }

  // Streams that compute first, then those with more events.
  std::vector<uint32_t> OrderedStreams() const {
    std::vector<uint32_t> streams;
    for (uint32_t l = 0; l < source_.lines.size(); ++l) {
      if (!IsDerivedId(source_.lines[l].id)) streams.push_back(l);
    }
    const auto computes = [&](uint32_t l) {
      return source_.lines[l].name.find("Compute") != std::string_view::npos;
    };
    std::ranges::stable_sort(streams, [&](uint32_t a, uint32_t b) {
      if (computes(a) != computes(b)) return computes(a);
      return prepared_.lines[a].file_event_count > prepared_.lines[b].file_event_count;
    });
    return streams;
  }

  Status DeriveStreams(const CancelToken& cancel) {
    int64_t next_id = kStreamLinesId;
    int64_t place = 1;
    for (const uint32_t l : OrderedStreams()) {
      if (next_id + kLinesPerStream > kLastStreamLinesId) break;
      STROBE_RETURN_IF_ERROR(cancel.Check());
      const xplane::Line& source = source_.lines[l];
      StreamLines lines(input_.file, plane_, next_id, " - from #" + std::to_string(source.id),
                        scopes_, &symbols_, &names_);
      const LineBytes bytes(input_.file, plane_, l);
      std::vector<PlaneEvent> events;
      AppendPlaneEvents(input_.file, plane_, l, &events);
      SortPlaneEvents(&events);
      for (const PlaneEvent& event : events) lines.Add(event, prepared_.lines[l], bytes);
      prepared_.lines[l].display_id = place;
      for (PreparedLine& line : lines.Take(timestamp_ns_)) {
        const int64_t offset = line.id - next_id;
        // Ids leave a gap for a line that has no place of its own.
        line.display_id = place + 1 + (offset > 3 ? offset - 1 : offset);
        prepared_.lines.push_back(std::move(line));
      }
      place += kPlacesPerStream;
      next_id += kLinesPerStream;
    }
    return OkStatus();
  }

  const GpuLinesInput& input_;
  const size_t plane_;
  const xplane::Plane& source_;
  const ScopeTree& scopes_;
  SymbolTable& symbols_;
  PreparedPlane& prepared_;
  DerivedNames names_;
  const int64_t timestamp_ns_;
};

// What the host did to launch one step's work on one device.
struct Launches {
  TimeSpan span;
  uint64_t count = 0;
  int64_t longest_ps = 0;
  double sum_ps = 0;

  void Add(TimeSpan event) {
    if (count == 0) {
      span = event;
    } else {
      span.start_ps = std::min(span.start_ps, event.start_ps);
      span.end_ps = std::max(span.end_ps, event.end_ps);
    }
    ++count;
    longest_ps = std::max(longest_ps, event.duration_ps());
    sum_ps += static_cast<double>(event.duration_ps());
  }
};
using LaunchesByGroup = std::map<int64_t, Launches>;

std::vector<LaunchesByGroup> CollectLaunches(const GpuLinesInput& input, size_t host_plane,
                                             const PreparedPlane& host, size_t device_count) {
  std::vector<LaunchesByGroup> found(device_count);
  const xplane::Plane& plane = input.file.planes()[host_plane];
  const StatSlots slots(plane, {"device_id", "correlation_id"});
  if (!slots.knows(0) || !slots.knows(1)) return found;
  StatValues values;
  for (size_t l = 0; l < plane.lines.size(); ++l) {
    const PreparedLine& line = host.lines[l];
    if (IsDerivedId(plane.lines[l].id) || line.groups.empty()) continue;
    const xplane::LineColumns& columns = input.file.Line(host_plane, l);
    const LineBytes bytes(input.file, host_plane, l);
    for (uint32_t e = 0; e < columns.event_count(); ++e) {
      const int64_t group = line.GroupOf(e);
      // Calls of the driver's interface other than launches carry the same stats.
      if (group == kNoGroup || plane.event_metadata[columns.name[e]].name.starts_with("cu")) {
        continue;
      }
      slots.Read(bytes.Record(e), &values);
      if (!values.has(0) || !values.has(1)) continue;
      const auto device = static_cast<int64_t>(values[0].IntOrUint());
      if (device < 0 || static_cast<size_t>(device) >= device_count) continue;
      found[static_cast<size_t>(device)][group].Add(
          {columns.start_ps[e], columns.start_ps[e] + columns.duration_ps[e]});
    }
  }
  return found;
}

AddedStat NumberStat(std::string_view name, double value) {
  AddedStat stat;
  stat.name = name;
  stat.kind = AddedStat::Kind::kDouble;
  stat.number = value;
  return stat;
}

void AddLaunchStats(const GpuLinesInput& input, const LaunchesByGroup& launches,
                    int64_t timestamp_ns, PreparedPlane* plane, std::deque<std::string>* texts) {
  PreparedLine line;
  line.id = kLaunchStatsId;
  line.name = "Launch Stats";
  line.timestamp_ns = timestamp_ns;
  line.from_file = false;
  line.derived = true;
  for (const auto& [id, launch] : launches) {
    const auto group = input.groups.find(id);
    if (group == input.groups.end()) continue;
    AddedEvent& event = line.events.emplace_back();
    event.name = texts->emplace_back("Launch Stats for " + group->second.name);
    event.start_ps = launch.span.start_ps;
    event.duration_ps = launch.span.duration_ps();
    event.group = id;
    AddedStat& count = event.stats.emplace_back();
    count.name = "num_launches";
    count.integer = static_cast<int64_t>(launch.count);
    count.number = static_cast<double>(launch.count);
    event.stats.push_back(NumberStat(
        "max_launch_time_us", static_cast<double>(launch.longest_ps) / kPicosecondsPerMicrosecond));
    event.stats.push_back(
        NumberStat("avg_launch_time_us",
                   launch.sum_ps / static_cast<double>(launch.count) / kPicosecondsPerMicrosecond));
  }
  if (line.events.empty()) return;
  std::ranges::stable_sort(line.events, {}, &AddedEvent::start_ps);
  plane->lines.push_back(std::move(line));
}

}  // namespace

Status DeriveGpuLines(const GpuLinesInput& input, const CancelToken& cancel,
                      std::vector<PreparedPlane>* planes,
                      std::deque<std::deque<std::string>>* texts) {
  std::vector<size_t> devices;
  std::optional<size_t> host;
  for (size_t p = 0; p < input.file.planes().size(); ++p) {
    const std::string_view name = input.file.planes()[p].name;
    if (name.starts_with(kGpuPrefix)) devices.push_back(p);
    if (name == kHostThreadsPlane && !host) host = p;
  }
  if (devices.empty()) return OkStatus();
  const ScopeTree scopes = ReadScopeTree(input.file);
  STROBE_RETURN_IF_ERROR(ForEachPiece(input.options.parallel, devices.size(), [&](size_t i) {
    const size_t p = devices[i];
    SymbolTable symbols(input.modules, &(*texts)[p]);
    return GpuPlane(input, p, scopes, &symbols, &(*planes)[p], &(*texts)[p]).Run(cancel);
  }));
  if (!host || !input.options.op_lines) return OkStatus();
  const int64_t host_timestamp_ns = PlaneTimestampNs(input.file.planes()[*host]);
  const std::vector<LaunchesByGroup> launches =
      CollectLaunches(input, *host, (*planes)[*host], devices.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    if (launches[i].empty()) continue;
    const int64_t own_ns = PlaneTimestampNs(input.file.planes()[devices[i]]);
    AddLaunchStats(input, launches[i], std::min(own_ns, host_timestamp_ns), &(*planes)[devices[i]],
                   &(*texts)[devices[i]]);
  }
  return OkStatus();
}

}  // namespace strobe::analysis
