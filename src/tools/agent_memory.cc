#include "src/tools/agent_memory.h"

#include <algorithm>
#include <functional>

namespace strobe::tools {
namespace {

constexpr double kBytesPerGib = 1073741824.0;

// The allocator that came fullest; -1: not measured.
struct FullestAllocator {
  double capacity = -1;  // of any
  double peak = -1;
  double stack = -1;
  double heap = -1;
  double free = -1;
  double fragmentation = -1;
  std::string name;
  std::string host;

  bool measured() const { return capacity > 0 && peak > 0; }
};

FullestAllocator FullestOf(const Value& profile) {
  FullestAllocator fullest;
  const Value* allocators = ObjectIn(profile, "memoryProfilePerAllocator");
  if (allocators == nullptr) return fullest;
  for (size_t i = 0; i < allocators->names().size(); ++i) {
    const Value* summary = ObjectIn(allocators->items()[i], "profileSummary");
    if (summary == nullptr) continue;
    if (summary->Find("memoryCapacity") != nullptr) {
      fullest.capacity = std::max(fullest.capacity, NumberIn(*summary, "memoryCapacity"));
    }
    const Value* peak = ObjectIn(*summary, "peakStats");
    if (peak == nullptr || NumberIn(*peak, "peakBytesInUse") <= fullest.peak) continue;
    fullest.peak = NumberIn(*peak, "peakBytesInUse");
    fullest.stack = NumberIn(*peak, "stackReservedBytes");
    fullest.heap = NumberIn(*peak, "heapAllocatedBytes");
    fullest.free = NumberIn(*peak, "freeMemoryBytes");
    fullest.fragmentation = NumberIn(*peak, "fragmentation");
    fullest.name = allocators->names()[i];
  }
  return fullest;
}

Value Gib(double bytes, bool zero_too) {
  const bool known = zero_too ? bytes >= 0 : bytes > 0;
  return Value::Double(known ? RoundTo(bytes / kBytesPerGib, 2) : -1.0);
}

Result<ToolResult> RunGetMemoryProfile(const ToolQuestion& question, ToolInput& input,
                                       const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  FullestAllocator fullest;
  ToolResult result;
  // The first host that measured anything, unless there is none.
  for (const size_t host : question.hosts) {
    Result<ToolResult> profile = context.AskHost("memory_profile", host);
    STROBE_RETURN_IF_ERROR(cancel.Check());
    if (!profile.ok()) {
      if (question.hosts.size() == 1) return profile.status();
      result.partial = true;
      result.notices.push_back({.severity = Notice::Severity::kWarning,
                                .name = std::string(profile.status().name()),
                                .message = std::string(profile.status().message()),
                                .hint = std::string(profile.status().hint())});
      continue;
    }
    FullestAllocator one = FullestOf(profile->document);
    one.host = input.hosts()[host].name;
    if (fullest.host.empty() || one.measured()) fullest = std::move(one);
    if (fullest.measured()) break;
  }
  Value document = Value::Object();
  const Value capacity = Gib(fullest.capacity, false);
  const Value peak = Gib(fullest.peak, false);
  const double share = capacity.double_value() > 0 && peak.double_value() > 0
                           ? RoundTo(peak.double_value() / capacity.double_value() * 100, 2)
                           : -1.0;
  document.Set("memory_capacity_gib", capacity);
  document.Set("peak_memory_usage_gib", peak);
  Value& details = document.Set("peak_usage_details", Value::Object());
  details.Set("stack_reservation_gib", Gib(fullest.stack, true));
  details.Set("heap_allocation_gib", Gib(fullest.heap, true));
  details.Set("free_memory_gib", Gib(fullest.free, true));
  details.Set(
      "fragmentation_percent",
      Value::Double(fullest.fragmentation >= 0 ? RoundTo(fullest.fragmentation * 100, 2) : -1.0));
  details.Set("utilization_percent", Value::Double(share));
  document.Set("measured", Value::Bool(fullest.measured()));
  document.Set("host", Value::String(fullest.host));
  document.Set("allocator", Value::String(fullest.name));
  document.Set("oom_risk", Value::String(OomRisk(fullest.capacity, fullest.peak,
                                                 std::max(0.0, fullest.fragmentation), 0)));
  if (fullest.measured()) {
    document.Set("memory_capacity_bytes", Value::Int64(static_cast<int64_t>(fullest.capacity)));
    document.Set("peak_memory_usage_bytes", Value::Int64(static_cast<int64_t>(fullest.peak)));
  }
  result.shape = ToolResult::Shape::kDocument;
  result.document = std::move(document);
  return result;
}

// ---- get_peak_allocations ----

struct Buffer {
  std::string instruction;
  double size_mib = 0;
  size_t count = 1;
  std::string shape = {};
  std::string opcode = {};
  std::string group = {};
};

struct ModulePeak {
  std::string name;
  double total_mib = 0;
  std::vector<Buffer> buffers = {};
};

// "copy.12" is one of "copy.*"; names of other forms stand for themselves.
std::string BaseName(const std::string& instruction) {
  const size_t dot = instruction.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == instruction.size()) return instruction;
  const auto is_word = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool number =
      std::ranges::all_of(instruction.substr(dot + 1), [](char c) { return c >= '0' && c <= '9'; });
  const bool word = std::ranges::all_of(instruction.substr(0, dot), is_word) &&
                    !(instruction[0] >= '0' && instruction[0] <= '9');
  return number && word ? instruction.substr(0, dot) + ".*" : instruction;
}

// As "%g" of a size.
std::string ShortNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", number);
  return text;
}

std::vector<Buffer> Aggregate(std::vector<Buffer> buffers, double min_size_mib) {
  std::vector<Buffer> all;
  double others_mib = 0;
  for (Buffer& buffer : buffers) {
    if (buffer.size_mib < min_size_mib) {
      others_mib += buffer.size_mib;
      continue;
    }
    const std::string base = BaseName(buffer.instruction);
    const auto same = std::ranges::find_if(all, [&](const Buffer& known) {
      return known.size_mib == buffer.size_mib && BaseName(known.instruction) == base;
    });
    if (same != all.end()) {
      ++same->count;
    } else {
      all.push_back(std::move(buffer));
    }
  }
  for (Buffer& buffer : all) {
    if (buffer.count < 2) continue;
    buffer.instruction = BaseName(buffer.instruction) + " (" + std::to_string(buffer.count) +
                         " occurrences of size " + ShortNumber(buffer.size_mib) + " MiB)";
    buffer.size_mib *= static_cast<double>(buffer.count);
  }
  if (others_mib > 0) {
    std::string limit = ShortNumber(min_size_mib);
    if (limit.find_first_of(".e") == std::string::npos) limit += ".0";
    all.push_back({.instruction = "Others (< " + limit + " MiB)", .size_mib = others_mib});
  }
  return all;
}

ModulePeak PeakOf(const std::string& name, const Value& viewer, double min_size_mib,
                  bool aggregate) {
  ModulePeak peak{.name = name, .total_mib = NumberIn(viewer, "totalBufferAllocationMib")};
  if (const Value* heap = viewer.Find("maxHeap")) {
    for (const Value& item : heap->items()) {
      Buffer buffer;
      buffer.instruction = TextIn(item, "instructionName");
      if (buffer.instruction.empty()) buffer.instruction = "unknown";
      buffer.size_mib = NumberIn(item, "logicalBufferSizeMib");
      buffer.shape = TextIn(item, "shapeString");
      buffer.opcode = TextIn(item, "opCode");
      buffer.group = TextIn(item, "groupName");
      peak.buffers.push_back(std::move(buffer));
    }
  }
  if (aggregate) peak.buffers = Aggregate(std::move(peak.buffers), min_size_mib);
  std::ranges::stable_sort(peak.buffers, std::greater(), &Buffer::size_mib);
  return peak;
}

Value ModulesValue(const std::vector<ModulePeak>& modules, size_t shown) {
  Value list = Value::List();
  for (size_t i = 0; i < shown; ++i) {
    Value& value = list.Add(Value::Object());
    value.Set("module_name", Value::String(modules[i].name));
    value.Set("total_hbm_mib", Value::Double(modules[i].total_mib));
    Value& buffers = value.Set("top_buffers", Value::List());
    for (const Buffer& buffer : modules[i].buffers) {
      Value& one = buffers.Add(Value::Object());
      one.Set("instruction", Value::String(buffer.instruction));
      one.Set("size_mib", Value::Double(buffer.size_mib));
      if (!buffer.shape.empty()) one.Set("shape", Value::String(buffer.shape));
      if (!buffer.opcode.empty()) one.Set("opcode", Value::String(buffer.opcode));
      if (!buffer.group.empty()) one.Set("group", Value::String(buffer.group));
    }
  }
  return list;
}

std::string Markdown(const std::vector<ModulePeak>& modules, size_t shown, bool summary) {
  std::string text = "# Peak Memory Allocations by Module\n\n";
  if (summary) {
    text += "## Session Summary\n- Total Modules: " + std::to_string(modules.size()) +
            "\n\n| Module | Total HBM (MiB) |\n| :--- | ---: |\n";
    for (size_t i = 0; i < shown; ++i) {
      text += "| `" + modules[i].name + "` | " + FixedText(modules[i].total_mib, 2) + " |\n";
    }
    text += "\n";
  }
  for (size_t i = 0; i < shown; ++i) {
    text += "## Module: `" + modules[i].name +
            "`\nTotal HBM: " + FixedText(modules[i].total_mib, 2) +
            " MiB\n\n| Instruction | Size (MiB) |\n| :--- | ---: |\n";
    for (const Buffer& buffer : modules[i].buffers) {
      text += "| `" + buffer.instruction + "` | " + FixedText(buffer.size_mib, 2) + " |\n";
    }
    text += "\n";
  }
  return text;
}

Result<ToolResult> RunGetPeakAllocations(const ToolQuestion& question, ToolInput& input,
                                         const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  const std::shared_ptr<const hlo::ModuleSet> set = input.Modules();
  if (set->empty()) {
    return InvalidArgumentError("NO_MODULES", "The session has no HLO modules to take memory.")
        .Hint("Capture with the compiled program, or put *.hlo_proto.pb beside the profile.");
  }
  const double min_size_mib = question.options.Number("min_size_mib", 1.0);
  const bool aggregate = question.options.Flag("aggregate_instructions");
  std::vector<ModulePeak> modules;
  ToolResult result;
  for (const hlo::ModuleSet::Entry& entry : set->entries()) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    const Result<ToolResult> viewer = context.Ask("memory_viewer", {{"module_name", entry.key}});
    if (!viewer.ok()) {
      result.partial = true;
      result.notices.push_back(
          {.severity = Notice::Severity::kWarning,
           .name = std::string(viewer.status().name()),
           .message = entry.key + ": " + std::string(viewer.status().message()),
           .hint = std::string(viewer.status().hint())});
      continue;
    }
    modules.push_back(PeakOf(entry.key, viewer->document, min_size_mib, aggregate));
  }
  std::ranges::stable_sort(modules, std::greater(), &ModulePeak::total_mib);
  const size_t shown = LimitOf(question.options.Integer("limit"), modules.size());
  const bool summary = question.options.Flag("include_summary");
  if (question.options.Text("output_format") == "markdown") {
    ToolResult text = TextResult(Markdown(modules, shown, summary));
    text.content_type = "text/markdown";
    text.notices = std::move(result.notices);
    text.partial = result.partial;
    return text;
  }
  Value document = Value::Object();
  if (summary) {
    Value& totals = document.Set("summary", Value::Object());
    totals.Set("total_modules", Value::Int64(static_cast<int64_t>(modules.size())));
    Value& top = totals.Set("top_modules", Value::List());
    for (size_t i = 0; i < shown; ++i) {
      Value& one = top.Add(Value::Object());
      one.Set("module_name", Value::String(modules[i].name));
      one.Set("total_hbm_mib", Value::Double(modules[i].total_mib));
    }
  }
  Value list = ModulesValue(modules, shown);
  if (summary) {
    document.Set("modules", std::move(list));
  } else {
    document = std::move(list);
  }
  result.shape = ToolResult::Shape::kDocument;
  result.document = std::move(document);
  return result;
}

}  // namespace

std::string_view OomRisk(double capacity_bytes, double peak_bytes, double fragmentation,
                         double largest_buffer_bytes) {
  if (capacity_bytes <= 0 || peak_bytes <= 0) return "UNKNOWN";
  const double used = peak_bytes / capacity_bytes;
  const double usable = (capacity_bytes - peak_bytes) * (1 - fragmentation);
  if (used >= 0.95 || (used >= 0.85 && usable < largest_buffer_bytes)) return "HIGH";
  if (used >= 0.80 || (fragmentation >= 0.20 && used >= 0.60)) return "MEDIUM";
  return "LOW";
}

ToolDescriptor MakeGetMemoryProfileTool() {
  ToolDescriptor tool =
      AgentTool("get_memory_profile", "Memory for agents", "How full did device memory get?", {});
  tool.run = RunGetMemoryProfile;
  return tool;
}

ToolDescriptor MakeGetPeakAllocationsTool() {
  ToolDescriptor tool = AgentTool("get_peak_allocations", "Peak allocations",
                                  "What fills device memory at each module's peak?",
                                  {{.name = "limit",
                                    .type = OptionType::kInteger,
                                    .default_value = "10",
                                    .description = "How many modules; 0: all."},
                                   {.name = "min_size_mib",
                                    .type = OptionType::kNumber,
                                    .default_value = "1.0",
                                    .description = "Smaller buffers are shown as one row."},
                                   MarkdownOption(),
                                   {.name = "include_summary",
                                    .type = OptionType::kBoolean,
                                    .default_value = "true",
                                    .description = "Also the modules alone."},
                                   {.name = "aggregate_instructions",
                                    .type = OptionType::kBoolean,
                                    .default_value = "true",
                                    .description = "Buffers of one kind and size as one row."}});
  tool.cost = CostClass::kModules;
  tool.run = RunGetPeakAllocations;
  return tool;
}

}  // namespace strobe::tools
