#include "src/tools/agent_hlo_query.h"

#include <algorithm>
#include <deque>
#include <map>

#include "src/base/text.h"
#include "src/hlo/cost.h"
#include "src/hlo/hlo_graph.h"
#include "src/hlo/hlo_printer.h"
#include "src/tools/agent_modules.h"
#include "src/tools/agent_neighborhood.h"

namespace strobe::tools {
namespace {

struct OpcodeTotal {
  int64_t count = 0;
  double bytes = 0;
  double flops = 0;
};

class GraphQuery {
 public:
  GraphQuery(const hlo::HloModule& module, const ToolOptions& options)
      : module_(module),
        options_(options),
        cost_(hlo::CostOf(module, hlo::CostModel::kGeneric)),
        computation_(WithoutPercent(options.Text("comp_name"))),
        pattern_(AsciiLower(options.Text("name_pattern"))),
        limit_(LimitOf(options.Integer("limit", 50), kMaxListedRecords)) {}

  Result<Value> Answer(const std::string& mode) const {
    if (mode == "summary") return Summary();
    if (mode == "opcode_stats") return OpcodeStats();
    if (mode == "fusion_blockers") return FusionBlockers();
    if (mode == "critical_path" || mode == "hotspots") return Heaviest();
    if (mode == "call_tree") return CallTree();
    if (mode == "shortest_path") return ShortestPath();
    if (mode == "sql") {
      return UnimplementedError("MODE_UNKNOWN", "SQL is not understood here.")
          .Hint("mode=find takes opcode, comp_name, name_pattern and category.");
    }
    return Found();
  }

 private:
  static std::string WithoutPercent(const std::string& name) {
    return name.starts_with('%') ? name.substr(1) : name;
  }
  const hlo::Instruction& At(uint32_t i) const { return module_.instruction(i); }
  std::string_view ComputationName(uint32_t i) const {
    return module_.computation(At(i).computation).name;
  }
  // In the asked computation, or where none is asked a kernel of its own.
  bool InScope(uint32_t i) const {
    if (!computation_.empty()) return ComputationName(i) == computation_;
    const hlo::Computation& computation = module_.computation(At(i).computation);
    return !computation.is_fusion && !IsApplied(At(i).computation);
  }
  // A computation that an instruction applies to elements: the sum of a reduction.
  bool IsApplied(uint32_t computation) const {
    const uint32_t caller = module_.computation(computation).caller;
    if (caller == hlo::kNone) return false;
    const std::string_view opcode = At(caller).opcode_text;
    return opcode != "while" && opcode != "call" && opcode != "conditional" &&
           !opcode.starts_with("async");
  }
  bool NameMatches(uint32_t i) const {
    if (pattern_.empty()) return true;
    return AsciiLower(At(i).name).find(pattern_) != std::string::npos ||
           AsciiLower(At(i).opcode_text).find(pattern_) != std::string::npos ||
           AsciiLower(hlo::DecodeMetadata(At(i).metadata).op_name).find(pattern_) !=
               std::string::npos;
  }
  double Bytes(uint32_t i) const { return cost_.instructions[i].bytes_accessed; }
  double Flops(uint32_t i) const { return cost_.instructions[i].flops; }

  Value Head(std::string_view mode) const {
    Value document = Value::Object();
    document.Set("status", Value::String("SUCCESS"));
    document.Set("mode", Value::String(mode));
    return document;
  }
  std::map<std::string, OpcodeTotal> Totals() const;
  Value TotalsValue(size_t limit) const;
  Value Row(uint32_t i) const;
  Value Summary() const;
  Value OpcodeStats() const;
  Value FusionBlockers() const;
  Value Heaviest() const;
  Value CallTree() const;
  Value Found() const;
  Result<Value> ShortestPath() const;
  std::vector<uint32_t> Path(uint32_t from, uint32_t to) const;

  const hlo::HloModule& module_;
  const ToolOptions& options_;
  const hlo::ModuleCost cost_;
  const std::string computation_;
  const std::string pattern_;
  const size_t limit_;
};

std::map<std::string, OpcodeTotal> GraphQuery::Totals() const {
  std::map<std::string, OpcodeTotal> totals;
  for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
    if (!InScope(i)) continue;
    OpcodeTotal& total = totals[std::string(At(i).opcode_text)];
    ++total.count;
    total.bytes += Bytes(i);
    total.flops += Flops(i);
  }
  return totals;
}

Value GraphQuery::TotalsValue(size_t limit) const {
  const std::map<std::string, OpcodeTotal> totals = Totals();
  std::vector<std::pair<std::string, OpcodeTotal>> sorted(totals.begin(), totals.end());
  const std::string sort_by = options_.Text("sort_by");
  std::ranges::stable_sort(sorted, std::greater(), [&](const auto& entry) {
    const auto count = static_cast<double>(entry.second.count);
    if (sort_by == "bytes") return std::pair(entry.second.bytes, count);
    if (sort_by == "flops") return std::pair(entry.second.flops, count);
    return std::pair(count, 0.0);
  });
  Value list = Value::List();
  for (const auto& [opcode, total] : sorted) {
    if (list.items().size() >= limit) break;
    Value& one = list.Add(Value::Object());
    one.Set("opcode", Value::String(opcode));
    one.Set("count", Value::Int64(total.count));
    one.Set("total_bytes", Value::Double(total.bytes));
    one.Set("total_flops", Value::Double(total.flops));
  }
  return list;
}

Value GraphQuery::Row(uint32_t i) const {
  Value row = Value::Object();
  row.Set("id", Value::Int64(At(i).id));
  row.Set("name", Value::String(At(i).name));
  row.Set("computation_name", Value::String(ComputationName(i)));
  row.Set("opcode", Value::String(At(i).opcode_text));
  row.Set("shape", Value::String(hlo::ShapeText(module_.shape_of(i))));
  row.Set("is_fusion_blocker", Value::Int32(FusionBlockerReason(module_, i).empty() ? 0 : 1));
  row.Set("operand_count", Value::Int64(static_cast<int64_t>(module_.operands(i).size())));
  row.Set("user_count", Value::Int64(static_cast<int64_t>(module_.users(i).size())));
  row.Set("bytes_accessed", Value::Double(Bytes(i)));
  row.Set("flops", Value::Double(Flops(i)));
  std::string text;
  hlo::AppendInstruction(module_, i, hlo::PrintOptions::Short(), &text);
  row.Set("expression", Value::String(text));
  return row;
}

Value GraphQuery::Summary() const {
  int64_t edges = 0;
  int64_t fusions = 0;
  int64_t custom_calls = 0;
  int64_t blockers = 0;
  for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
    edges += static_cast<int64_t>(module_.operands(i).size());
    fusions += At(i).opcode_text == "fusion" ? 1 : 0;
    custom_calls += At(i).opcode_text == "custom-call" ? 1 : 0;
    blockers += FusionBlockerReason(module_, i).empty() ? 0 : 1;
  }
  constexpr size_t kTopOpcodes = 15;
  Value document = Head("summary");
  document.Set("entry_computation", Value::String(module_.entry() == hlo::kNone
                                                      ? std::string_view()
                                                      : module_.computation(module_.entry()).name));
  const auto count = [](size_t number) { return Value::Int64(static_cast<int64_t>(number)); };
  document.Set("computation_count", count(module_.computations().size()));
  document.Set("instruction_count", count(module_.instructions().size()));
  document.Set("edge_count", Value::Int64(edges));
  document.Set("fusion_count", Value::Int64(fusions));
  document.Set("custom_call_count", Value::Int64(custom_calls));
  document.Set("fusion_blocker_count", Value::Int64(blockers));
  document.Set("top_opcodes", TotalsValue(std::min(limit_, kTopOpcodes)));
  return document;
}

Value GraphQuery::OpcodeStats() const {
  Value document = Head("opcode_stats");
  document.Set("rows", TotalsValue(limit_));
  return document;
}

Value GraphQuery::FusionBlockers() const {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
    if (InScope(i) && NameMatches(i) && !FusionBlockerReason(module_, i).empty()) {
      found.push_back(i);
    }
  }
  std::ranges::stable_sort(found, std::greater(), [&](uint32_t i) { return Bytes(i); });
  Value list = Value::List();
  for (const uint32_t i : found) {
    if (list.items().size() >= limit_) break;
    Value& row = list.Add(Row(i));
    row.Set("reason", Value::String(FusionBlockerReason(module_, i)));
    Value producers = Value::List();
    for (const uint32_t operand : module_.operands(i))
      producers.Add(Value::String(At(operand).name));
    Value consumers = Value::List();
    for (const uint32_t user : module_.users(i)) consumers.Add(Value::String(At(user).name));
    row.Set("producers", std::move(producers));
    row.Set("consumers", std::move(consumers));
  }
  Value document = Head("fusion_blockers");
  document.Set("count", Value::Int64(static_cast<int64_t>(list.items().size())));
  document.Set("fusion_blockers", std::move(list));
  return document;
}

Value GraphQuery::Heaviest() const {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
    if (InScope(i) && NameMatches(i)) found.push_back(i);
  }
  std::ranges::stable_sort(found, std::greater(),
                           [&](uint32_t i) { return std::pair(Bytes(i), Flops(i)); });
  Value list = Value::List();
  for (const uint32_t i : found) {
    if (list.items().size() >= limit_) break;
    list.Add(Row(i));
  }
  Value document = Head("critical_path");
  document.Set("hotspots", std::move(list));
  document.Set("basis", Value::String("Estimated bytes, then operations, of one execution."));
  return document;
}

Value GraphQuery::CallTree() const {
  Value list = Value::List();
  for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
    for (const uint32_t called : module_.calls(i)) {
      const hlo::Computation& computation = module_.computation(called);
      const bool wanted = computation_.empty() || ComputationName(i) == computation_ ||
                          computation.name == computation_;
      if (!wanted || !NameMatches(i) || list.items().size() >= limit_) continue;
      Value& edge = list.Add(Value::Object());
      edge.Set("caller_comp_name", Value::String(ComputationName(i)));
      edge.Set("caller_instruction", Value::String(At(i).name));
      edge.Set("caller_opcode", Value::String(At(i).opcode_text));
      edge.Set("callee_comp_name", Value::String(computation.name));
      edge.Set("callee_instruction_count", Value::Int64(computation.instructions.count));
    }
  }
  Value document = Head("call_tree");
  document.Set("call_edges", std::move(list));
  return document;
}

Value GraphQuery::Found() const {
  const std::string opcode = options_.Text("opcode");
  const std::string category = AsciiLower(options_.Text("category"));
  Value list = Value::List();
  int64_t matched = 0;
  for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
    if (!opcode.empty() && At(i).opcode_text != opcode) continue;
    if (!computation_.empty() && ComputationName(i) != computation_) continue;
    if (!NameMatches(i)) continue;
    if (!category.empty() &&
        AsciiLower(hlo::CategoryOf(module_, i)).find(category) == std::string::npos) {
      continue;
    }
    ++matched;
    if (list.items().size() < limit_) list.Add(Row(i));
  }
  Value document = Head("find");
  document.Set("count", Value::Int64(static_cast<int64_t>(list.items().size())));
  document.Set("match_count", Value::Int64(matched));
  document.Set("rows", std::move(list));
  return document;
}

// From operand to user; empty: there is none.
std::vector<uint32_t> GraphQuery::Path(uint32_t from, uint32_t to) const {
  std::map<uint32_t, uint32_t> came_from = {{from, from}};
  std::deque<uint32_t> queue = {from};
  while (!queue.empty() && !came_from.contains(to)) {
    const uint32_t at = queue.front();
    queue.pop_front();
    for (const uint32_t user : module_.users(at)) {
      if (came_from.emplace(user, at).second) queue.push_back(user);
    }
  }
  std::vector<uint32_t> path;
  if (!came_from.contains(to)) return path;
  for (uint32_t at = to;; at = came_from[at]) {
    path.push_back(at);
    if (at == from) break;
  }
  std::ranges::reverse(path);
  return path;
}

Result<Value> GraphQuery::ShortestPath() const {
  const uint32_t from = module_.FindInstruction(options_.Text("src_op"));
  const uint32_t to = module_.FindInstruction(options_.Text("dst_op"));
  if (from == hlo::kNone || to == hlo::kNone) {
    return InvalidArgumentError("INSTRUCTION_UNKNOWN",
                                "src_op and dst_op must name instructions of the module.")
        .Where(options_.Text(from == hlo::kNone ? "src_op" : "dst_op").substr(0, 200));
  }
  std::vector<uint32_t> path = Path(from, to);
  const bool forward = !path.empty();
  if (!forward) path = Path(to, from);
  Value document = Head("shortest_path");
  document.Set("found", Value::Bool(!path.empty()));
  Value list = Value::List();
  for (const uint32_t i : path) list.Add(Row(i));
  if (!path.empty()) {
    document.Set("distance", Value::Int64(static_cast<int64_t>(path.size()) - 1));
    document.Set("direction", Value::String(forward ? "downstream" : "upstream"));
    document.Set("path", std::move(list));
  }
  return document;
}

Result<ToolResult> RunQueryHloGraph(const ToolQuestion& question, ToolInput& input,
                                    const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(cancel.Check());
  const std::shared_ptr<const hlo::ModuleSet> set = input.Modules();
  STROBE_ASSIGN_OR_RETURN(const size_t index,
                          ResolveModule(*set, question.options.Text("module_name")));
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const hlo::HloModule> module, set->Module(index));
  const GraphQuery query(*module, question.options);
  STROBE_ASSIGN_OR_RETURN(Value document,
                          query.Answer(AsciiLower(Trimmed(question.options.Text("mode")))));
  document.Set("module_name", Value::String(set->entries()[index].key));
  return DocumentResult(std::move(document));
}

}  // namespace

ToolDescriptor MakeQueryHloGraphTool() {
  ToolDescriptor tool = AgentTool(
      "query_hlo_graph", "Questions about a graph", "What is in the graph of a module?",
      {{.name = "mode",
        .default_value = "summary",
        .description = "summary, opcode_stats, fusion_blockers, critical_path, call_tree, "
                       "shortest_path or find."},
       {.name = "module_name", .description = "The module's key, name or the beginning of it."},
       {.name = "opcode", .description = "Of mode=find: exactly this opcode."},
       {.name = "category", .description = "Of mode=find: categories that contain this."},
       {.name = "comp_name", .description = "Only this computation."},
       {.name = "name_pattern", .description = "Names, opcodes or op names that contain this."},
       {.name = "src_op", .description = "Of mode=shortest_path."},
       {.name = "dst_op", .description = "Of mode=shortest_path."},
       {.name = "sort_by", .default_value = "count", .description = "count, bytes or flops."},
       {.name = "limit",
        .type = OptionType::kInteger,
        .default_value = "50",
        .description = "Most rows to list; 0 and less: all."}});
  tool.cost = CostClass::kModules;
  tool.stored = false;
  tool.run = RunQueryHloGraph;
  return tool;
}

}  // namespace strobe::tools
