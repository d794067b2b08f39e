#include "src/tools/memory_profile.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace strobe::tools {
namespace {

using xplane::Stat;
using xplane::StatType;

struct Activity {
  bool allocation = true;
  int64_t requested_bytes = 0;
  int64_t allocation_bytes = 0;
  uint64_t address = 0;
  std::string op_name;
  int64_t step = -1;
  std::string region;
  std::string data_type;
  std::string shape;
};

struct MemoryStats {
  int64_t stack_bytes = 0;
  int64_t heap_bytes = 0;
  int64_t free_bytes = 0;
  double fragmentation = 0;
  int64_t peak_bytes = 0;
  int64_t used() const { return stack_bytes + heap_bytes; }
};

struct Snapshot {
  int64_t offset_ps = 0;
  MemoryStats stats;
  Activity activity;
};

struct ActiveAllocation {
  int64_t snapshot = -1;  // index, negative: a special one
  int64_t special = -1;
  int64_t occurrences = 1;
};

struct Allocator {
  std::vector<Snapshot> snapshots;
  int64_t lifetime_peak_bytes = 0;
  MemoryStats peak;
  int64_t peak_time_ps = 0;
  int64_t capacity_bytes = 0;
  std::vector<Activity> special;
  std::vector<ActiveAllocation> active;
  std::vector<size_t> sampled;  // of the snapshots
};

// Names of TensorFlow's element types; from 100 on they are references to them.
std::string DataTypeText(int64_t type) {
  constexpr std::string_view kNames[] = {"INVALID",
                                         "float",
                                         "double",
                                         "int32",
                                         "uint8",
                                         "int16",
                                         "int8",
                                         "string",
                                         "complex64",
                                         "int64",
                                         "bool",
                                         "qint8",
                                         "quint8",
                                         "qint32",
                                         "bfloat16",
                                         "qint16",
                                         "quint16",
                                         "uint16",
                                         "complex128",
                                         "half",
                                         "resource",
                                         "variant",
                                         "uint32",
                                         "uint64",
                                         "float8_e5m2",
                                         "float8_e4m3fn",
                                         "float8_e4m3fnuz",
                                         "float8_e4m3b11fnuz",
                                         "float8_e5m2fnuz",
                                         "int4",
                                         "uint4",
                                         "int2",
                                         "uint2"};
  constexpr int64_t kReference = 100;
  const std::string suffix = type > kReference ? "_ref" : "";
  if (type > kReference) type -= kReference;
  if (type < 0 || type >= static_cast<int64_t>(std::size(kNames))) {
    return "unknown data type " + std::to_string(type);
  }
  return std::string(kNames[type]) + suffix;
}

// An integer as XProf reads it here: only one that is stored signed.
int64_t Signed(const Stat& stat) { return stat.type == StatType::kInt64 ? stat.int64_value : 0; }

class MemoryReader {
 public:
  explicit MemoryReader(bool as_xprof) : as_xprof_(as_xprof) {}

  Status Read(const analysis::PreparedHost& host, const CancelToken& cancel) {
    for (size_t p = 0; p < host.file().planes().size(); ++p) {
      const xplane::Plane& plane = host.file().planes()[p];
      if (plane.name != "/host:CPU") continue;
      for (size_t l = 0; l < plane.lines.size(); ++l) {
        STROBE_RETURN_IF_ERROR(cancel.Check());
        ReadLine(host, p, l);
      }
    }
    return OkStatus();
  }
  std::map<std::string, Allocator>& allocators() { return allocators_; }

 private:
  void ReadLine(const analysis::PreparedHost& host, size_t p, size_t l) {
    const xplane::ProfileFile& file = host.file();
    const xplane::Plane& plane = file.planes()[p];
    const xplane::LineColumns& line = file.Line(p, l);
    const analysis::PreparedLine& prepared = host.planes()[p].lines[l];
    struct Place {
      uint64_t offset;
      uint32_t event;
      bool allocation;
    };
    std::vector<Place> places;  // the summary depends on the order of the file
    for (uint32_t e = 0; e < line.event_count(); ++e) {
      const std::string_view name = plane.event_metadata[line.name[e]].name;
      if (name != "MemoryAllocation" && name != "MemoryDeallocation") continue;
      places.push_back({file.EventOffset(p, l, e), e, name == "MemoryAllocation"});
    }
    std::ranges::sort(places, {}, &Place::offset);
    // Of a line that is written anew the events say which one of the file they are.
    std::unordered_map<uint32_t, int64_t> groups;
    if (!prepared.from_file && !places.empty()) {
      for (const analysis::AddedEvent& added : prepared.events) {
        if (added.source_line == l) groups[added.source_event] = added.group;
      }
    }
    for (const Place& place : places) {
      Snapshot snapshot;
      snapshot.offset_ps = line.start_ps[place.event] - plane.lines[l].base_ps;
      snapshot.activity.allocation = place.allocation;
      std::string id;
      for (const Stat& stat : file.EventStats(p, l, place.event)) {
        ReadStat(stat, &snapshot, &id);
      }
      int64_t group = analysis::kNoGroup;
      if (prepared.from_file) {
        group = prepared.GroupOf(place.event);
      } else if (const auto found = groups.find(place.event); found != groups.end()) {
        group = found->second;
      }
      if (group != analysis::kNoGroup) snapshot.activity.step = group;
      Add(id, std::move(snapshot));
    }
  }

  int64_t Number(const Stat& stat) const { return as_xprof_ ? Signed(stat) : stat.IntOrUint(); }

  void ReadStat(const Stat& stat, Snapshot* snapshot, std::string* id) const {
    MemoryStats& stats = snapshot->stats;
    Activity& activity = snapshot->activity;
    const std::string_view name = stat.name;
    if (name == "index_on_host" || name == "device_ordinal") {
      *id = std::to_string(Number(stat));
    } else if (name == "allocator_name") {
      *id = stat.text;
    } else if (name == "bytes_reserved") {
      stats.stack_bytes = Number(stat);
    } else if (name == "bytes_allocated") {
      stats.heap_bytes = Number(stat);
    } else if (name == "bytes_available") {
      stats.free_bytes = Number(stat);
    } else if (name == "fragmentation") {
      stats.fragmentation = stat.number;
    } else if (name == "peak_bytes_in_use") {
      stats.peak_bytes = Number(stat);
    } else if (name == "requested_bytes") {
      activity.requested_bytes = Number(stat);
    } else if (name == "allocation_bytes") {
      activity.allocation_bytes = Number(stat);
    } else if (name == "addr") {
      activity.address = static_cast<uint64_t>(Number(stat));
    } else if (name == "tf_op") {
      activity.op_name = stat.text;
    } else if (name == "group_id") {
      activity.step = Number(stat);
    } else if (name == "region_type") {
      activity.region = stat.text;
    } else if (name == "data_type") {
      activity.data_type = DataTypeText(Number(stat));
    } else if (name == "shape") {
      activity.shape = stat.text;
    }
  }

  void Add(const std::string& id, Snapshot snapshot) {
    Allocator& allocator = allocators_[id];
    const MemoryStats& stats = snapshot.stats;
    allocator.lifetime_peak_bytes = stats.peak_bytes;
    if (stats.used() >= allocator.peak.peak_bytes) {
      allocator.peak = stats;
      allocator.peak.peak_bytes = stats.used();
      allocator.peak_time_ps = snapshot.offset_ps;
      allocator.capacity_bytes = stats.used() + stats.free_bytes;
    }
    allocator.snapshots.push_back(std::move(snapshot));
  }

  const bool as_xprof_;
  std::map<std::string, Allocator> allocators_;
};

// Events outside of steps belong to the step that comes next.
void FillSteps(std::vector<Snapshot>* snapshots) {
  int64_t last = -1;
  for (Snapshot& snapshot : *snapshots) {
    if (snapshot.activity.step == -1) {
      snapshot.activity.step = last + 1;
    } else {
      last = snapshot.activity.step;
    }
  }
}

// A deallocation says only an address; the allocation there says the rest.
void FillDeallocations(std::vector<Snapshot>* snapshots) {
  std::unordered_map<uint64_t, const Activity*> allocated;
  for (Snapshot& snapshot : *snapshots) {
    Activity& activity = snapshot.activity;
    if (activity.allocation) {
      allocated.try_emplace(activity.address, &activity);
      continue;
    }
    const auto found = allocated.find(activity.address);
    if (found == allocated.end()) continue;
    activity.op_name = found->second->op_name;
    activity.region = found->second->region;
    activity.data_type = found->second->data_type;
    activity.shape = found->second->shape;
    allocated.erase(found);
  }
}

// All snapshots, or the fullest of each of kMaxMemorySamples stretches.
void Sample(Allocator* allocator) {
  const auto count = static_cast<int64_t>(allocator->snapshots.size());
  if (count <= kMaxMemorySamples) {
    for (int64_t i = 0; i < count; ++i) allocator->sampled.push_back(static_cast<size_t>(i));
    return;
  }
  const int64_t width = count / kMaxMemorySamples;
  const int64_t narrow = kMaxMemorySamples * (width + 1) - count;  // stretches of `width`
  int64_t start = 0;
  for (int64_t i = 0; i < kMaxMemorySamples; ++i) {
    const int64_t end = start + width + (i < narrow ? 0 : 1);
    int64_t best = start;
    for (int64_t s = start + 1; s < end; ++s) {
      const auto used = [&](int64_t at) {
        return allocator->snapshots[static_cast<size_t>(at)].stats.used();
      };
      if (used(s) > used(best)) best = s;
    }
    allocator->sampled.push_back(static_cast<size_t>(best));
    start = end;
  }
}

Activity SpecialAllocation(int64_t bytes, int64_t step, std::string_view name,
                           std::string_view region) {
  Activity activity;
  activity.requested_bytes = bytes;
  activity.allocation_bytes = bytes;
  activity.op_name = name;
  activity.step = step;
  activity.region = region;
  activity.data_type = DataTypeText(0);
  activity.shape = "unknown";
  return activity;
}

auto Likeness(const Activity& activity) {
  return std::tuple(-activity.allocation_bytes, -activity.requested_bytes,
                    std::string_view(activity.op_name), std::string_view(activity.region),
                    std::string_view(activity.data_type), std::string_view(activity.shape));
}

class PeakFinder {
 public:
  explicit PeakFinder(Allocator* allocator) : allocator_(allocator) {}

  void Find() {
    for (const Snapshot& snapshot : allocator_->snapshots) {
      if (snapshot.stats.used() == allocator_->peak.peak_bytes) step_ = snapshot.activity.step;
    }
    CollectActive();
    AddSpecial();
    Merge();
    KeepReferenced();
  }

 private:
  struct Item {
    int64_t index;  // of a snapshot; negative: special -1 - index
    const Activity* activity;
  };

  void CollectActive() {
    unmapped_bytes_ = allocator_->peak.heap_bytes;
    std::map<uint64_t, Item> active;
    for (size_t i = 0; i < allocator_->snapshots.size(); ++i) {
      const Snapshot& snapshot = allocator_->snapshots[i];
      if (snapshot.offset_ps > allocator_->peak_time_ps) break;
      const Activity& activity = snapshot.activity;
      if (activity.step != step_) continue;
      if (activity.allocation) {
        active[activity.address] = {static_cast<int64_t>(i), &activity};
        unmapped_bytes_ -= activity.allocation_bytes;
      } else if (active.erase(activity.address) != 0) {
        unmapped_bytes_ += activity.allocation_bytes;
      }
      // What is freed of earlier steps neither adds nor takes: it was unmapped before and is gone.
    }
    for (const auto& [address, item] : active) items_.push_back(item);
  }

  void AddSpecial() {
    const int64_t stack_bytes = allocator_->peak.stack_bytes;
    if (unmapped_bytes_ > 0) {
      allocator_->special.push_back(SpecialAllocation(
          unmapped_bytes_, step_, "unused preallocated device memory", "persist/dynamic"));
    }
    if (stack_bytes > 0) {
      allocator_->special.push_back(SpecialAllocation(stack_bytes, step_, "stack", "stack"));
    }
    for (size_t i = 0; i < allocator_->special.size(); ++i) {
      items_.push_back({-1 - static_cast<int64_t>(i), &allocator_->special[i]});
    }
  }

  void Merge() {
    std::ranges::stable_sort(items_, [](const Item& a, const Item& b) {
      return Likeness(*a.activity) < Likeness(*b.activity);
    });
    for (size_t i = 0; i < items_.size(); ++i) {
      ActiveAllocation active;
      active.snapshot = items_[i].index;
      if (active.snapshot < 0) active.special = -1 - active.snapshot;
      while (i + 1 < items_.size() &&
             Likeness(*items_[i].activity) == Likeness(*items_[i + 1].activity)) {
        ++active.occurrences;
        ++i;
      }
      allocator_->active.push_back(active);
    }
  }

  // Only snapshots that the table points at are kept besides the curve.
  void KeepReferenced() {
    for (ActiveAllocation& active : allocator_->active) {
      if (active.snapshot < 0) continue;
      kept_.push_back(allocator_->snapshots[static_cast<size_t>(active.snapshot)]);
      active.snapshot = static_cast<int64_t>(kept_.size()) - 1;
    }
  }

 public:
  std::vector<Snapshot> TakeKept() { return std::move(kept_); }

 private:
  Allocator* allocator_;
  int64_t step_ = 0;
  int64_t unmapped_bytes_ = 0;
  std::vector<Item> items_;
  std::vector<Snapshot> kept_;
};

Value StatsValue(const MemoryStats& stats) {
  Value value = Value::Object();
  value.Set("stackReservedBytes", Value::Int64(stats.stack_bytes));
  value.Set("heapAllocatedBytes", Value::Int64(stats.heap_bytes));
  value.Set("freeMemoryBytes", Value::Int64(stats.free_bytes));
  value.Set("fragmentation", Value::Double(stats.fragmentation));
  value.Set("peakBytesInUse", Value::Int64(stats.peak_bytes));
  return value;
}

Value ActivityValue(const Activity& activity) {
  Value value = Value::Object();
  value.Set("memoryActivity", Value::String(activity.allocation ? "ALLOCATION" : "DEALLOCATION"));
  value.Set("requestedBytes", Value::Int64(activity.requested_bytes));
  value.Set("allocationBytes", Value::Int64(activity.allocation_bytes));
  value.Set("address", Value::Uint64(activity.address));
  value.Set("tfOpName", Value::String(activity.op_name));
  value.Set("stepId", Value::Int64(activity.step));
  value.Set("regionType", Value::String(activity.region));
  value.Set("dataType", Value::String(activity.data_type));
  value.Set("tensorShape", Value::String(activity.shape));
  return value;
}

Value SnapshotValue(const Snapshot& snapshot) {
  Value value = Value::Object();
  value.Set("timeOffsetPs", Value::Int64(snapshot.offset_ps));
  value.Set("aggregationStats", StatsValue(snapshot.stats));
  value.Set("activityMetadata", ActivityValue(snapshot.activity));
  return value;
}

Value AllocatorValue(Allocator* allocator) {
  std::ranges::stable_sort(allocator->snapshots, {}, &Snapshot::offset_ps);
  FillSteps(&allocator->snapshots);
  FillDeallocations(&allocator->snapshots);
  Sample(allocator);
  PeakFinder finder(allocator);
  finder.Find();
  Value value = Value::Object();
  Value kept = Value::List();
  for (const Snapshot& snapshot : finder.TakeKept()) kept.Add(SnapshotValue(snapshot));
  value.Set("memoryProfileSnapshots", std::move(kept));
  Value summary = Value::Object();
  summary.Set("peakBytesUsageLifetime", Value::Int64(allocator->lifetime_peak_bytes));
  summary.Set("peakStats", StatsValue(allocator->peak));
  summary.Set("peakStatsTimePs", Value::Int64(allocator->peak_time_ps));
  summary.Set("memoryCapacity", Value::Int64(allocator->capacity_bytes));
  value.Set("profileSummary", std::move(summary));
  Value active = Value::List();
  for (const ActiveAllocation& one : allocator->active) {
    Value item = Value::Object();
    item.Set("snapshotIndex", Value::Int64(one.snapshot));
    item.Set("specialIndex", Value::Int64(one.special));
    item.Set("numOccurrences", Value::Int64(one.occurrences));
    active.Add(std::move(item));
  }
  value.Set("activeAllocations", std::move(active));
  Value special = Value::List();
  for (const Activity& activity : allocator->special) special.Add(ActivityValue(activity));
  value.Set("specialAllocations", std::move(special));
  Value sampled = Value::List();
  for (const size_t i : allocator->sampled) sampled.Add(SnapshotValue(allocator->snapshots[i]));
  value.Set("sampledTimelineSnapshots", std::move(sampled));
  return value;
}

// Runs of modules on the TPU cores, so that the curve can be read against them.
Value ModuleRuns(const xplane::ProfileFile& file) {
  Value runs = Value::List();
  int64_t id = 0;
  constexpr std::string_view kDevices = "/device:";
  for (size_t p = 0; p < file.planes().size(); ++p) {
    const xplane::Plane& plane = file.planes()[p];
    if (!plane.name.starts_with("/device:TPU:")) continue;
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      if (plane.lines[l].name != "XLA Modules") continue;
      const xplane::LineColumns& line = file.Line(p, l);
      std::vector<std::pair<uint64_t, uint32_t>> order;
      for (uint32_t e = 0; e < line.event_count(); ++e) {
        order.emplace_back(file.EventOffset(p, l, e), e);
      }
      std::ranges::sort(order);
      for (const auto& [offset, e] : order) {
        const int64_t start = line.start_ps[e] - plane.lines[l].base_ps;
        Value run = Value::Object();
        run.Set("name", Value::String(plane.event_metadata[line.name[e]].name));
        run.Set("startTimePs", Value::Uint64(static_cast<uint64_t>(start)));
        run.Set("endTimePs", Value::Uint64(static_cast<uint64_t>(start + line.duration_ps[e])));
        run.Set("id", Value::Uint64(static_cast<uint64_t>(id++)));
        run.Set("planeName", Value::String(plane.name.substr(kDevices.size())));
        runs.Add(std::move(run));
      }
    }
  }
  return runs;
}

bool HasHostPlane(const ToolHost& host) {
  if (host.file == nullptr) return host.error && host.error->name() != "XPLANE_EMPTY";
  return std::ranges::find(host.file->planes(), "/host:CPU", &xplane::Plane::name) !=
         host.file->planes().end();
}

// What XProf answers when there is no host plane: no byte.
ToolResult NothingAtAll() {
  ToolResult result;
  result.shape = ToolResult::Shape::kText;
  return result;
}

Applicability Applies(const SessionFacts& facts) {
  if (facts.has_allocations) return {};
  return {false, "The host's profile has no memory allocation events.",
          "Capture with host tracer level 2 or more on a runtime that logs allocations (GPU and "
          "TPU runtimes do; JAX on CPU does not)."};
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  if (question.hosts.size() != 1) {
    return InvalidArgumentError(
               "MEMORY_PROFILE_ONE_HOST",
               "Expected one host, found " + std::to_string(question.hosts.size()) + ".")
        .Hint("Name one host; allocators of different hosts have nothing in common.");
  }
  const ToolHost& known = input.hosts()[question.hosts[0]];
  if (question.as_xprof && !HasHostPlane(known)) return NothingAtAll();
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const analysis::PreparedHost> host,
                          input.Prepared(question.hosts[0], cancel));
  MemoryReader reader(question.as_xprof);
  STROBE_RETURN_IF_ERROR(reader.Read(*host, cancel));
  Value allocators = Value::Object();
  Value ids = Value::List();
  for (auto& [id, allocator] : reader.allocators()) {
    ids.Add(Value::String(id));
    allocators.Set(id, AllocatorValue(&allocator));
  }
  ToolResult result;
  result.shape = ToolResult::Shape::kDocument;
  if (ids.items().empty()) {
    Applicability why = Applies(SessionFacts{});
    result.notices.push_back(
        {Notice::Severity::kInfo, "NO_ALLOCATIONS", std::move(why.reason), std::move(why.hint)});
  }
  result.document = Value::Object();
  result.document.Set("memoryProfilePerAllocator", std::move(allocators));
  result.document.Set("numHosts", Value::Int32(1));
  result.document.Set("memoryIds", std::move(ids));
  result.document.Set("version", Value::Int32(1));
  result.document.Set("hloModules", ModuleRuns(host->file()));
  return result;
}

}  // namespace

ToolDescriptor MakeMemoryProfileTool() {
  ToolDescriptor tool;
  tool.id = "memory_profile";
  tool.title = "Memory profile";
  tool.question = "How did the devices' memory fill over time, and what filled it at the peak?";
  tool.scope = HostScope::kOneHost;
  tool.applies = Applies;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
