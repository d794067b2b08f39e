#include "src/tools/llo_static.h"

#include <algorithm>
#include <array>
#include <climits>
#include <unordered_map>

#include "src/tools/agent_common.h"

namespace strobe::tools {
namespace {

constexpr std::string_view kSemantics = "static_modelled_schedule";
constexpr size_t kTopOpcodes = 20;
constexpr size_t kHottestBundles = 15;

Value Count(size_t count) { return Value::Int64(static_cast<int64_t>(count)); }

Value Names(const LloModule& module) {
  Value data = Value::Object();
  data.Set("hlo_instruction_name", Value::String(module.hlo_instruction_name));
  return data;
}

Value NamesAndModule(const LloModule& module) {
  Value data = Names(module);
  data.Set("hlo_module_name", Value::String(module.hlo_module_name));
  data.Set("hlo_module_id", Value::Int64(module.hlo_module_id));
  return data;
}

Value RegionValue(const LloModule& module, uint32_t index) {
  const LloRegion& region = module.regions[index];
  Value value = Value::Object();
  value.Set("name", Value::String(region.name));
  value.Set("kind", Value::String(region.kind));
  value.Set("ordinal", Value::Int64(region.ordinal));
  value.Set("start_bundleno", Value::Int64(region.start_bundle));
  value.Set("limit_bundleno", Value::Int64(region.limit_bundle));
  value.Set("num_instructions", Value::Int64(region.instruction_count));
  Value& children = value.Set("children", Value::List());
  for (const uint32_t child : region.children) children.Add(RegionValue(module, child));
  return value;
}

int64_t At(const std::vector<uint8_t>& counts, size_t bundle) {
  return bundle < counts.size() ? counts[bundle] : 0;
}

int64_t SumOf(const std::vector<uint8_t>& counts) {
  int64_t sum = 0;
  for (const uint8_t count : counts) sum += count;
  return sum;
}

int64_t BundlesWith(const std::vector<uint8_t>& counts) {
  return std::ranges::count_if(counts, [](uint8_t count) { return count > 0; });
}

// --- registers

std::string RegisterTypeName(uint32_t type) {
  constexpr std::array<std::string_view, 8> kNames = {"NONE", "PREG",  "SREG", "VMREG",
                                                      "VREG", "RPREG", "DREG", "CBREG"};
  return type < kNames.size() ? std::string(kNames[type]) : "REG_" + std::to_string(type);
}

struct LiveRange {
  int64_t first = 0;
  int64_t last = 0;
  uint32_t type = 0;
};

struct LiveRanges {
  std::vector<LiveRange> ranges;
  int64_t unscheduled = 0;
};

LiveRanges LiveRangesOf(const LloModule& module, bool as_xprof) {
  std::unordered_map<int32_t, LiveRange> by_ordinal;
  LiveRanges live;
  for (const LloInstruction& instruction : module.instructions) {
    if (instruction.register_type == 0 || instruction.register_id < 0) continue;
    if (instruction.bundle < 0 && !as_xprof) {
      ++live.unscheduled;
      continue;
    }
    const int64_t bundle = std::max(0, instruction.bundle);
    by_ordinal[instruction.ordinal] = {bundle, bundle, instruction.register_type};
  }
  for (const LloInstruction& instruction : module.instructions) {
    for (uint32_t o = 0; o < instruction.operand_count; ++o) {
      const auto made = by_ordinal.find(module.operands[instruction.first_operand + o]);
      if (made == by_ordinal.end()) continue;
      made->second.last = std::max<int64_t>(made->second.last, instruction.bundle);
    }
  }
  live.ranges.reserve(by_ordinal.size());
  for (const auto& [ordinal, range] : by_ordinal) live.ranges.push_back(range);
  return live;
}

// Bundles in a row in which the same number of values is alive.
struct Stretch {
  int64_t first = 0;
  int64_t limit = 0;
  int64_t total = 0;
  std::map<uint32_t, int64_t> by_type;
};

// Calls `see(first, limit, by_type, total)` for each.
template <typename See>
void ForEachStretch(const std::vector<LiveRange>& ranges, const See& see) {
  struct Change {
    int64_t bundle;
    uint32_t type;
    int delta;
  };
  std::vector<Change> changes;
  changes.reserve(2 * ranges.size());
  for (const LiveRange& range : ranges) {
    changes.push_back({range.first, range.type, 1});
    changes.push_back({range.last + 1, range.type, -1});
  }
  std::ranges::sort(changes, {}, &Change::bundle);
  std::map<uint32_t, int64_t> by_type;
  int64_t total = 0;
  for (size_t i = 0; i < changes.size();) {
    const int64_t bundle = changes[i].bundle;
    for (; i < changes.size() && changes[i].bundle == bundle; ++i) {
      by_type[changes[i].type] += changes[i].delta;
      total += changes[i].delta;
    }
    if (i < changes.size() && total > 0) see(bundle, changes[i].bundle, by_type, total);
  }
}

// The bundles with most values, of equal ones the first.
std::vector<Stretch> Hottest(const std::vector<LiveRange>& ranges) {
  const auto hotter = [](const Stretch& a, const Stretch& b) {
    return a.total != b.total ? a.total > b.total : a.first < b.first;
  };
  std::vector<Stretch> hottest;
  ForEachStretch(ranges, [&](int64_t first, int64_t limit, const auto& by_type, int64_t total) {
    if (hottest.size() == kHottestBundles && hottest.back().total >= total) return;
    hottest.push_back({first, limit, total, by_type});
    std::ranges::stable_sort(hottest, hotter);
    if (hottest.size() > kHottestBundles) hottest.pop_back();
  });
  std::vector<Stretch> bundles;
  for (const Stretch& stretch : hottest) {
    for (int64_t b = stretch.first; b < stretch.limit; ++b) {
      if (bundles.size() == kHottestBundles) return bundles;
      bundles.push_back({b, b + 1, stretch.total, stretch.by_type});
    }
  }
  return bundles;
}

std::vector<std::string> PathsOf(const LloModule& module, std::vector<int64_t> bundles) {
  std::vector<int64_t> sorted = bundles;
  std::ranges::sort(sorted);
  const std::vector<uint32_t> regions = LloRegionsOf(module, sorted);
  std::vector<std::string> paths;
  for (const int64_t bundle : bundles) {
    const auto at = std::ranges::lower_bound(sorted, bundle) - sorted.begin();
    paths.push_back(LloRegionPath(module, regions[static_cast<size_t>(at)]));
  }
  return paths;
}

// --- why instructions wait

// The letters of "bdi:R:3,O:1", in the order they come, each once.
std::vector<char> BdiCodes(std::string_view annotation) {
  constexpr std::string_view kMark = "bdi:";
  constexpr std::string_view kCodes = "ORAHFB";
  std::vector<char> codes;
  const size_t mark = annotation.find(kMark);
  if (mark == std::string_view::npos) return codes;
  std::string_view rest = annotation.substr(mark + kMark.size());
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    while (part.starts_with(' ')) part.remove_prefix(1);
    const std::string_view key = part.substr(0, part.find(':'));
    if (key.size() == part.size() || key.size() != 1) continue;
    if (kCodes.find(key[0]) == std::string_view::npos) continue;
    if (std::ranges::find(codes, key[0]) == codes.end()) codes.push_back(key[0]);
  }
  return codes;
}

std::vector<char> BdiCodesOf(const LloModule& module, const LloInstruction& instruction) {
  if (instruction.annotation < 0) return {};
  if (static_cast<size_t>(instruction.annotation) >= module.strings.size()) return {};
  return BdiCodes(module.strings[static_cast<size_t>(instruction.annotation)]);
}

struct Stall {
  const LloInstruction* instruction = nullptr;
  char binding = 'O';
  int64_t stall_bundles = 0;  // that the binding dependence cost
  int64_t slack_bundles = 0;  // more, because slots were taken
};

// The dependence that allowed the latest bundle; of several the most fundamental one.
Stall StallOf(const LloInstruction& instruction, const LloPackerInfo& info) {
  const std::pair<char, int32_t> by_weight[] = {
      {'F', info.fifo},       {'B', info.source_bus},          {'A', info.architecture_register},
      {'H', info.safe_hoist}, {'R', info.register_dependence}, {'O', info.operand_latency}};
  Stall stall{.instruction = &instruction};
  int64_t latest = INT64_MIN;
  for (const auto& [code, bundle] : by_weight) {
    if (bundle <= latest) continue;
    latest = bundle;
    stall.binding = code;
  }
  stall.stall_bundles = std::max<int64_t>(0, latest - info.earliest);
  stall.slack_bundles = std::max<int64_t>(0, info.final_bundle - latest);
  return stall;
}

// Nothing (null) when the compiler did not record it: that is not the same as no stall.
Value StallAnalysis(const LloModule& module, const std::vector<Stall>& stalls) {
  if (stalls.empty()) return {};
  std::map<char, std::pair<int64_t, int64_t>> by_code;  // instructions, bundles
  int64_t stall_bundles = 0;
  int64_t slack_bundles = 0;
  int64_t delayed = 0;
  int64_t hoisted = 0;
  for (const Stall& stall : stalls) {
    ++by_code[stall.binding].first;
    by_code[stall.binding].second += stall.stall_bundles;
    stall_bundles += stall.stall_bundles;
    slack_bundles += stall.slack_bundles;
    if (stall.stall_bundles > 0) ++delayed;
    const auto packer = static_cast<size_t>(stall.instruction->packer);
    if (module.packer_infos[packer].hoist_distance > 0) ++hoisted;
  }
  Value value = Value::Object();
  value.Set("instructions_with_packer_info", Count(stalls.size()));
  value.Set("total_stall_bundles", Value::Int64(stall_bundles));
  value.Set("total_packing_slack_bundles", Value::Int64(slack_bundles));
  value.Set("delayed_instructions", Value::Int64(delayed));
  value.Set("hoisted_instructions", Value::Int64(hoisted));
  Value& codes = value.Set("by_binding_code", Value::Object());
  for (const auto& [code, counts] : by_code) {
    Value& one = codes.Set(std::string(1, code), Value::Object());
    one.Set("instructions", Value::Int64(counts.first));
    one.Set("stall_bundles", Value::Int64(counts.second));
  }
  return value;
}

Value TopStalls(std::vector<Stall> stalls) {
  std::ranges::stable_sort(stalls, std::greater(), &Stall::stall_bundles);
  Value list = Value::List();
  for (const Stall& stall : stalls) {
    if (stall.stall_bundles == 0 || list.items().size() == kTopOpcodes) break;
    Value& one = list.Add(Value::Object());
    one.Set("ordinal", Value::Int64(stall.instruction->ordinal));
    one.Set("bundle", Value::Int64(stall.instruction->bundle));
    one.Set("opcode", Value::String(LloOpcodeName(stall.instruction->opcode)));
    one.Set("binding_code", Value::String(std::string(1, stall.binding)));
    one.Set("stall_bundles", Value::Int64(stall.stall_bundles));
    one.Set("packing_slack", Value::Int64(stall.slack_bundles));
  }
  return list;
}

std::string_view SpillKind(uint32_t pseudo_kind) {
  switch (pseudo_kind) {
    case 3:
      return "SPILL_TO_MEMORY";
    case 4:
      return "FILL_FROM_MEMORY";
    case 5:
      return "SPILL_TO_REGISTER";
    case 6:
      return "SPILL_TO_HBM";
    case 7:
      return "FILL_FROM_HBM";
    case 8:
      return "SPILL_TO_VIRTUAL";
    case 9:
      return "FILL_FROM_VIRTUAL";
    default:
      return {};
  }
}

Value StackValue(const LloSource& source) {
  Value stack = Value::Object();
  Value& frames = stack.Set("frames", Value::List());
  for (const LloFrame& frame : source.frames) {
    Value& one = frames.Add(Value::Object());
    one.Set("file", Value::String(frame.path));
    one.Set("line", Value::Int64(frame.line));
    one.Set("function", Value::String(frame.function));
  }
  stack.Set("primitive", Value::String(source.primitive));
  Value& scopes = stack.Set("scopes", Value::List());
  for (const std::string_view scope : source.scopes) scopes.Add(Value::String(scope));
  return stack;
}

Value BoundsValue(const LloBounds& bounds) {
  return Value::String("x=" + std::to_string(bounds.x) + ", y=" + std::to_string(bounds.y) +
                       ", z=" + std::to_string(bounds.z));
}

}  // namespace

std::vector<std::pair<std::string, int64_t>> Descending(
    const std::map<std::string, int64_t>& counts) {
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, int64_t>::second);
  return sorted;
}

std::string LloFrameText(const LloFrame& frame) {
  return (frame.path.empty() ? "?" : std::string(frame.path)) + ":" + std::to_string(frame.line);
}

Value RegionTreeData(const LloModule& module) {
  Value data = NamesAndModule(module);
  data.Set("root", RegionValue(module, 0));
  return data;
}

Value OpcodesData(const LloModule& module) {
  std::map<std::string, int64_t> opcodes;
  std::map<std::string, int64_t> categories;
  std::map<std::string, std::string_view> category_of;
  for (const LloInstruction& instruction : module.instructions) {
    const std::string name = LloOpcodeName(instruction.opcode);
    const std::string_view category = LloCategory(instruction.opcode);
    ++opcodes[name];
    ++categories[std::string(category)];
    category_of[name] = category;
  }
  Value data = NamesAndModule(module);
  data.Set("total_instructions", Count(module.instructions.size()));
  Value& top = data.Set("top_opcodes", Value::List());
  for (const auto& [name, count] : Descending(opcodes)) {
    if (top.items().size() >= kTopOpcodes) break;
    Value& value = top.Add(Value::Object());
    value.Set("opcode", Value::String(name));
    value.Set("count", Value::Int64(count));
    value.Set("category", Value::String(category_of[name]));
  }
  Value& list = data.Set("categories", Value::List());
  for (const auto& [name, count] : Descending(categories)) {
    Value& value = list.Add(Value::Object());
    value.Set("category", Value::String(name));
    value.Set("count", Value::Int64(count));
  }
  return data;
}

Value BundleData(const LloModule& module, int64_t limit) {
  size_t total = std::max(module.spills.size(), module.fills.size());
  for (const LloUnit& unit : module.units) total = std::max(total, unit.used.size());
  const size_t shown = LimitOf(limit, total);
  Value data = NamesAndModule(module);
  data.Set("total_bundles", Count(total));
  data.Set("shown_bundles", Count(shown));
  data.Set("truncated", Value::Bool(shown < total));
  Value& totals = data.Set("whole_schedule", Value::Object());
  for (const LloUnit& unit : module.units) {
    const auto used = static_cast<double>(SumOf(unit.used));
    const double slots = static_cast<double>(unit.available) * static_cast<double>(total);
    totals.Set(std::string(unit.name) + "_percent",
               Value::Double(slots > 0 ? RoundTo(100 * used / slots, 2) : 0));
  }
  std::vector<int64_t> numbers(shown);
  for (size_t b = 0; b < shown; ++b) numbers[b] = static_cast<int64_t>(b);
  const std::vector<uint32_t> regions = LloRegionsOf(module, numbers);
  Value& bundles = data.Set("bundles", Value::List());
  for (size_t b = 0; b < shown; ++b) {
    Value& value = bundles.Add(Value::Object());
    value.Set("bundle", Count(b));
    value.Set("semantics", Value::String(kSemantics));
    value.Set("region_path", Value::String(LloRegionPath(module, regions[b])));
    int64_t used = 0;
    int64_t available = 0;
    for (const LloUnit& unit : module.units) {
      const std::string name(unit.name);
      value.Set(name + "_used", Value::Int64(At(unit.used, b)));
      value.Set(name + "_avail", Value::Int64(unit.available));
      used += At(unit.used, b);
      available += unit.available;
    }
    value.Set("spill", Value::Int64(At(module.spills, b)));
    value.Set("fill", Value::Int64(At(module.fills, b)));
    value.Set("util_pct", Value::Int64(available > 0 ? 100 * used / available : 0));
  }
  return data;
}

Value RegisterPressureData(const LloModule& module, bool as_xprof) {
  const LiveRanges live = LiveRangesOf(module, as_xprof);
  std::map<uint32_t, int64_t> peaks;
  ForEachStretch(live.ranges, [&](int64_t, int64_t, const auto& by_type, int64_t) {
    for (const auto& [type, count] : by_type) peaks[type] = std::max(peaks[type], count);
  });
  Value data = Names(module);
  data.Set("total_live_ranges", Count(live.ranges.size()));
  if (!as_xprof) data.Set("unscheduled_values", Value::Int64(live.unscheduled));
  Value& by_type = data.Set("peak_by_register_type", Value::Object());
  for (const auto& [type, count] : peaks) by_type.Set(RegisterTypeName(type), Value::Int64(count));
  const std::vector<Stretch> hottest = Hottest(live.ranges);
  std::vector<int64_t> bundles;
  for (const Stretch& one : hottest) bundles.push_back(one.first);
  const std::vector<std::string> paths = PathsOf(module, bundles);
  Value& list = data.Set("hottest_bundles", Value::List());
  for (size_t i = 0; i < hottest.size(); ++i) {
    Value& value = list.Add(Value::Object());
    value.Set("bundle", Value::Int64(hottest[i].first));
    value.Set("region", Value::String(paths[i]));
    value.Set("total_live", Value::Int64(hottest[i].total));
    Value& types = value.Set("by_type", Value::Object());
    for (const auto& [type, count] : hottest[i].by_type) {
      if (count > 0) types.Set(RegisterTypeName(type), Value::Int64(count));
    }
  }
  return data;
}

Value SpillsData(const LloModule& module) {
  std::vector<const LloInstruction*> moves;
  for (const LloInstruction& instruction : module.instructions) {
    if (!SpillKind(instruction.pseudo_kind).empty()) moves.push_back(&instruction);
  }
  int64_t total_bytes = 0;
  int64_t spill_bytes = 0;
  for (const LloAllocation& one : module.allocations) {
    // Unsigned, for damaged files hold any size.
    total_bytes = static_cast<int64_t>(static_cast<uint64_t>(total_bytes) +
                                       static_cast<uint64_t>(one.size_bytes));
    if (one.is_spill) {
      spill_bytes = static_cast<int64_t>(static_cast<uint64_t>(spill_bytes) +
                                         static_cast<uint64_t>(one.size_bytes));
    }
  }
  Value data = Names(module);
  Value& summary = data.Set("summary", Value::Object());
  summary.Set("num_allocations", Count(module.allocations.size()));
  summary.Set("num_spill_allocations",
              Value::Int64(std::ranges::count_if(module.allocations, &LloAllocation::is_spill)));
  summary.Set("num_scoped_allocations",
              Value::Int64(std::ranges::count_if(module.allocations, &LloAllocation::is_scoped)));
  summary.Set("total_allocation_bytes", Value::Int64(total_bytes));
  summary.Set("total_spill_bytes", Value::Int64(spill_bytes));
  // XProf names them bundles, and sums the spills and fills of all.
  summary.Set("static_spill_bundles", Value::Int64(SumOf(module.spills)));
  summary.Set("static_fill_bundles", Value::Int64(SumOf(module.fills)));
  summary.Set("bundles_with_spills", Value::Int64(BundlesWith(module.spills)));
  summary.Set("bundles_with_fills", Value::Int64(BundlesWith(module.fills)));
  summary.Set("num_spill_fill_instructions", Count(moves.size()));
  Value& allocations = data.Set("allocations", Value::List());
  for (const LloAllocation& one : module.allocations) {
    if (allocations.items().size() == kMaxLloListed) break;
    Value& value = allocations.Add(Value::Object());
    value.Set("ordinal", Value::Int64(one.ordinal));
    value.Set("size", Value::Int64(one.size_bytes));
    value.Set("space", Value::Int64(one.space));
    value.Set("is_spill", Value::Bool(one.is_spill));
    value.Set("is_scoped", Value::Bool(one.is_scoped));
    value.Set("is_virtual", Value::Bool(one.is_virtual));
    value.Set("is_remote", Value::Bool(one.is_remote));
  }
  Value& list = data.Set("spill_fill_instructions", Value::List());
  for (const LloInstruction* const one : moves) {
    if (list.items().size() == kMaxLloListed) break;
    Value& value = list.Add(Value::Object());
    value.Set("ordinal", Value::Int64(one->ordinal));
    value.Set("bundle", Value::Int64(one->bundle));
    value.Set("kind", Value::String(SpillKind(one->pseudo_kind)));
    value.Set("region", Value::String(LloRegionPath(module, one->region)));
  }
  data.Set("truncated",
           Value::Bool(std::max(module.allocations.size(), moves.size()) > kMaxLloListed));
  return data;
}

Value BdiStallsData(const LloModule& module) {
  std::map<std::string, int64_t> histogram;
  std::vector<std::pair<const LloInstruction*, std::vector<char>>> annotated;
  std::vector<Stall> stalls;
  for (const LloInstruction& instruction : module.instructions) {
    if (instruction.packer >= 0) {
      stalls.push_back(
          StallOf(instruction, module.packer_infos[static_cast<size_t>(instruction.packer)]));
    }
    std::vector<char> codes = BdiCodesOf(module, instruction);
    if (codes.empty()) continue;
    for (const char code : codes) ++histogram[std::string(1, code)];
    annotated.emplace_back(&instruction, std::move(codes));
  }
  std::ranges::stable_sort(annotated, {}, [](const auto& one) {
    return std::pair(one.first->bundle, one.first->ordinal);
  });
  Value data = Names(module);
  data.Set("total_annotated_instructions", Count(annotated.size()));
  Value& codes = data.Set("code_histogram", Value::Object());
  for (const auto& [code, count] : histogram) codes.Set(code, Value::Int64(count));
  Value& list = data.Set("instructions", Value::List());
  for (const auto& [instruction, letters] : annotated) {
    if (list.items().size() == kMaxLloListed) break;
    Value& value = list.Add(Value::Object());
    value.Set("ordinal", Value::Int64(instruction->ordinal));
    value.Set("bundle", Value::Int64(instruction->bundle));
    Value& own = value.Set("codes", Value::List());
    for (const char letter : letters) own.Add(Value::String(std::string(1, letter)));
    value.Set("region", Value::String(LloRegionPath(module, instruction->region)));
  }
  data.Set("truncated", Value::Bool(annotated.size() > kMaxLloListed));
  data.Set("stall_analysis", StallAnalysis(module, stalls));
  data.Set("top_stalls", TopStalls(std::move(stalls)));
  return data;
}

Value TargetData(const LloModule& module) {
  Value data = Names(module);
  data.Set("has_target_arguments", Value::Bool(module.target.has_value()));
  Value& fields = data.Set("key_fields", Value::Object());
  if (module.target) {
    const LloTarget& target = *module.target;
    fields.Set("replica_count", Value::Int64(target.replica_count));
    fields.Set("reserved_hbm_usage_bytes", Value::Int64(target.reserved_hbm_bytes));
    if (!target.chip_config.empty()) {
      fields.Set("chip_config_name", Value::String(target.chip_config));
    }
    if (!target.variant.empty()) fields.Set("variant", Value::String(target.variant));
    fields.Set("platform_type", Value::Int64(target.platform_type));
    fields.Set("enhanced_barrier_enabled", Value::Bool(target.enhanced_barrier));
    if (target.chips_per_host.known) {
      fields.Set("chips_per_host_bounds", BoundsValue(target.chips_per_host));
    }
    if (target.hosts.known) fields.Set("host_bounds", BoundsValue(target.hosts));
  }
  // What the module does not carry: it stands in the compiler's own tables of chips.
  Value& absent = data.Set("catalog_only_fields", Value::List());
  for (const char* name : {"mxus / xlus per tensor core", "VMEM / SMEM / CMEM sizes",
                           "tensor-core and HBM frequencies", "HBM capacity per chip",
                           "tensor cores / sparse cores per chip"}) {
    absent.Add(Value::String(name));
  }
  // How many slots the schedule counts with, by unit: of those sizes it does say.
  Value& slots = data.Set("slots_per_bundle", Value::Object());
  for (const LloUnit& unit : module.units) {
    if (unit.available > 0) slots.Set(std::string(unit.name), Value::Int64(unit.available));
  }
  return data;
}

Value SourceData(const LloModule& module, int64_t bundle) {
  std::vector<int32_t> ordinals;
  for (const LloInstruction& instruction : module.instructions) {
    if (instruction.bundle == bundle) ordinals.push_back(instruction.ordinal);
  }
  std::ranges::sort(ordinals);
  Value data = Names(module);
  data.Set("bundle", Value::Int64(bundle));
  data.Set("region_path", Value::String(PathsOf(module, {bundle})[0]));
  Value sources = Value::List();
  Value stacks = Value::List();
  std::vector<std::string> known;
  for (const LloSource& source : module.sources) {
    if (source.frames.empty() || stacks.items().size() == kMaxLloListed) continue;
    const bool here = std::ranges::any_of(source.ordinals, [&](int32_t ordinal) {
      return std::ranges::binary_search(ordinals, ordinal);
    });
    if (!here) continue;
    stacks.Add(StackValue(source));
    std::string text = LloFrameText(source.frames.back());
    if (std::ranges::find(known, text) != known.end()) continue;
    sources.Add(Value::String(text));
    known.push_back(std::move(text));
  }
  data.Set("sources", sources);
  data.Set("frames", std::move(sources));
  data.Set("stacks", std::move(stacks));
  return data;
}

}  // namespace strobe::tools
