#include "src/tools/agent_detect.h"

#include <algorithm>

#include "src/hlo/shape.h"
#include "src/tools/agent_profile_tree.h"

namespace strobe::tools {
namespace {

Value StagesValue(const DataFlow& flow, const std::vector<Stage>& stages) {
  Value list = Value::List();
  for (const Stage& stage : stages) {
    Value& one = list.Add(Value::Object());
    one.Set("name", Value::String(flow.module().instruction(stage.instruction).name));
    one.Set("opcode", Value::String(flow.Opcode(stage.instruction)));
    one.Set("distance", Value::Int64(stage.distance));
  }
  return list;
}

std::vector<int64_t> MinorToMajor(const hlo::Shape& shape) {
  if (shape.has_layout) return shape.layout.minor_to_major;
  std::vector<int64_t> order;
  for (size_t i = shape.dimensions.size(); i-- > 0;) order.push_back(static_cast<int64_t>(i));
  return order;
}

bool LayoutsDiffer(const hlo::Shape& a, const hlo::Shape& b) {
  if (!a.is_tuple() && !b.is_tuple()) return MinorToMajor(a) != MinorToMajor(b);
  if (a.elements.size() != b.elements.size()) return true;
  for (size_t i = 0; i < a.elements.size(); ++i) {
    if (LayoutsDiffer(a.elements[i], b.elements[i])) return true;
  }
  return false;
}

// A vector of a TPU is 512 bytes: the minor dimension fills whole ones.
bool FillsLanes(const hlo::Shape& shape) {
  constexpr int64_t kVectorBits = 4096;
  const int bits = hlo::ElementBits(shape.type);
  if (shape.dimensions.empty() || bits <= 0) return true;
  const std::vector<int64_t> order = MinorToMajor(shape);
  const int64_t minor =
      order.empty() ? shape.dimensions.back() : shape.dimensions[static_cast<size_t>(order[0])];
  return minor % std::max<int64_t>(1, kVectorBits / bits) == 0;
}

void LookForLayoutCopies(const DataFlow& flow, const hlo::ModuleSet::Entry& entry,
                         const OpCosts& costs, std::vector<Finding>* findings) {
  const hlo::HloModule& module = flow.module();
  for (uint32_t i = 0; i < module.instructions().size(); ++i) {
    if (flow.Opcode(i) != "copy" || module.operands(i).empty() || flow.InsideFusion(i)) continue;
    const OpCost* cost = costs.Find(entry.program_id, module.instruction(i).name);
    if (cost == nullptr && !costs.empty()) continue;
    const hlo::Shape& source = module.shape_of(module.operands(i)[0]);
    const hlo::Shape& target = module.shape_of(i);
    // A copy between equal layouts is no mismatch; it is another kind of copy.
    if (!LayoutsDiffer(source, target)) continue;
    const std::vector<Stage> before = flow.StagesBefore(i);
    const std::vector<Stage> after = flow.StagesAfter(i);
    if (before.empty() || after.empty()) continue;
    Value value = FindingValue(flow, entry, i, cost);
    value.Set("source_shape", Value::String(hlo::ShapeText(source)));
    value.Set("target_shape", Value::String(hlo::ShapeText(target)));
    value.Set("layout_mismatch", Value::Bool(true));
    value.Set("source_minor_dim_optimal", Value::Bool(FillsLanes(source)));
    value.Set("target_minor_dim_optimal", Value::Bool(FillsLanes(target)));
    value.Set("upstream_stages", StagesValue(flow, before));
    value.Set("downstream_stages", StagesValue(flow, after));
    value.Set("recommendation",
              Value::String("Let producer and consumer agree on a layout: transpose the weights "
                            "once, change the order of dimensions in the product, or pad the "
                            "minor dimension to whole vectors."));
    findings->push_back({cost == nullptr ? 0 : cost->self_time_ms,
                         cost == nullptr ? 0 : cost->bytes, std::move(value)});
  }
}

// ---- unfused reshapes ----

bool IsFormatting(std::string_view opcode) {
  return opcode == "reshape" || opcode == "transpose" || opcode == "copy" ||
         opcode == "broadcast" || opcode == "slice" || opcode == "pad" || opcode == "convert";
}

// Bytes that one execution reads and writes, by shapes.
double BytesByShape(const hlo::HloModule& module, uint32_t instruction) {
  auto bytes = static_cast<double>(hlo::PaddedSizeBytes(module.shape_of(instruction)));
  for (const uint32_t operand : module.operands(instruction)) {
    bytes += static_cast<double>(hlo::PaddedSizeBytes(module.shape_of(operand)));
  }
  return bytes;
}

// The nearest user that computes, through what only renames the value.
uint32_t ComputingUser(const DataFlow& flow, uint32_t instruction) {
  std::vector<FlowState> states = flow.Consumers({instruction, {}});
  for (size_t i = 0; i < states.size() && i < kMaxStates; ++i) {
    const uint32_t at = states[i].instruction;
    if (flow.Computes(at)) return at;
    const std::string_view opcode = flow.Opcode(at);
    if (opcode == "fusion" || opcode == "custom-call") return at;
    if (opcode != "bitcast" && opcode != "get-tuple-element" && opcode != "tuple") continue;
    for (FlowState& next : flow.Consumers(states[i])) {
      if (std::ranges::find(states, next) == states.end()) states.push_back(std::move(next));
    }
  }
  return hlo::kNone;
}

void LookForReshapes(double min_bytes, const DataFlow& flow, const hlo::ModuleSet::Entry& entry,
                     const OpCosts& costs, std::vector<Finding>* findings) {
  const hlo::HloModule& module = flow.module();
  for (uint32_t i = 0; i < module.instructions().size(); ++i) {
    if (!IsFormatting(flow.Opcode(i)) || flow.InsideFusion(i)) continue;
    const OpCost* cost = costs.Find(entry.program_id, module.instruction(i).name);
    if (cost == nullptr && !costs.empty()) continue;
    const double bytes = cost != nullptr && cost->bytes > 0 ? cost->bytes : BytesByShape(module, i);
    if (bytes < min_bytes) continue;
    const uint32_t user = ComputingUser(flow, i);
    if (user == hlo::kNone) continue;
    Value value = FindingValue(flow, entry, i, cost);
    value.Set("bytes_accessed", Value::Double(bytes));
    value.Set("hbm_materialization_overhead", Value::Bool(true));
    value.Set("downstream_compute", Value::String(module.instruction(user).name));
    value.Set("recommendation",
              Value::String("Fold it into the computation that uses it: an einsum that takes the "
                            "operand as it is, or an order of dimensions that needs no change."));
    findings->push_back({cost == nullptr ? 0 : cost->self_time_ms, bytes, std::move(value)});
  }
}

Result<ToolResult> RunLayout(const ToolQuestion& question, ToolInput& input,
                             const CancelToken& cancel) {
  return RunDetector({question, input, cancel}, LookForLayoutCopies);
}

Result<ToolResult> RunReshapes(const ToolQuestion& question, ToolInput& input,
                               const CancelToken& cancel) {
  const double min_bytes = question.options.Number("min_bytes_accessed", 10 * 1024 * 1024);
  return RunDetector({question, input, cancel},
                     [min_bytes](const DataFlow& flow, const hlo::ModuleSet::Entry& entry,
                                 const OpCosts& costs, std::vector<Finding>* findings) {
                       LookForReshapes(min_bytes, flow, entry, costs, findings);
                     });
}

Value NotEvaluated(std::string_view reason) {
  Value document = Value::Object();
  document.Set("detection_state", Value::String("NOT_EVALUATED"));
  document.Set("bottlenecks_found", Value::Bool(false));
  document.Set("inefficient_ops", Value::List());
  document.Set("message", Value::String(reason));
  return document;
}

}  // namespace

Result<OpCosts> OpCosts::Of(const AgentContext& context) {
  OpCosts costs;
  const Result<ToolResult> profile = context.Ask("op_profile");
  STROBE_RETURN_IF_ERROR(context.cancel.Check());
  if (!profile.ok()) return costs;
  if (const Value* root = OpProfileRoot(profile->document)) costs.Collect(*root, 0);
  return costs;
}

void OpCosts::Collect(const Value& node, int depth) {
  if (depth > kMaxProfileDepth) return;
  for (const Value& child : ChildrenOf(node)) Collect(child, depth + 1);
  const Value* xla = ObjectIn(node, "xla");
  if (!IsLeafOp(node) || xla == nullptr || RawTimePs(node) <= 0) return;
  const Value* program = xla->Find("programId");
  std::string name = TextIn(node, "name");
  if (name.starts_with('%')) name.erase(0, 1);
  OpCost& cost = costs_[{program == nullptr ? 0 : program->uint_value(), std::move(name)}];
  cost.self_time_ms += RawTimePs(node) / 1e9;
  const Value* metrics = ObjectIn(node, "metrics");
  if (metrics == nullptr) return;
  cost.occurrences += static_cast<int64_t>(NumberIn(*metrics, "occurrences"));
  if (const Value* array = metrics->Find("rawBytesAccessedArray")) {
    for (const Value& part : array->items()) cost.bytes += part.AsNumber();
  }
}

const OpCost* OpCosts::Find(uint64_t program_id, std::string_view instruction) const {
  const auto found = costs_.find({program_id, std::string(instruction)});
  return found == costs_.end() ? nullptr : &found->second;
}

Value FindingValue(const DataFlow& flow, const hlo::ModuleSet::Entry& entry, uint32_t instruction,
                   const OpCost* cost) {
  const hlo::Instruction& record = flow.module().instruction(instruction);
  Value value = Value::Object();
  value.Set("instruction_name", Value::String(record.name));
  value.Set("opcode", Value::String(record.opcode_text));
  value.Set("module_name", Value::String(entry.key));
  value.Set("program_id", Value::Uint64(entry.program_id));
  value.Set("computation", Value::String(flow.module().computation(record.computation).name));
  value.Set("total_self_time_ms", Value::Double(cost == nullptr ? 0 : cost->self_time_ms));
  value.Set("occurrences", Value::Int64(cost == nullptr ? 0 : cost->occurrences));
  value.Set("bytes_accessed", Value::Double(cost == nullptr ? 0 : cost->bytes));
  const hlo::OpMetadata metadata = hlo::DecodeMetadata(record.metadata);
  if (!metadata.op_name.empty()) value.Set("op_name", Value::String(metadata.op_name));
  if (!metadata.source_file.empty()) {
    value.Set("source_file", Value::String(metadata.source_file));
    value.Set("source_line", Value::Int64(metadata.source_line));
  }
  return value;
}

Result<ToolResult> RunDetector(const AgentContext& context, const ModuleLook& look,
                               const ModulesDone& done) {
  const std::shared_ptr<const hlo::ModuleSet> set = context.input.Modules();
  if (set->empty()) {
    return DocumentResult(NotEvaluated(
        "The session has no HLO modules to look at. Capture with the compiled program, or put "
        "*.hlo_proto.pb beside the profile."));
  }
  STROBE_ASSIGN_OR_RETURN(const OpCosts costs, OpCosts::Of(context));
  std::vector<Finding> findings;
  ToolResult result;
  size_t looked_at = 0;
  for (size_t i = 0; i < set->entries().size(); ++i) {
    STROBE_RETURN_IF_ERROR(context.cancel.Check());
    const auto module = set->Module(i);
    if (!module.ok()) {
      result.partial = true;
      result.notices.push_back(
          {.severity = Notice::Severity::kWarning,
           .name = std::string(module.status().name()),
           .message = set->entries()[i].key + ": " + std::string(module.status().message()),
           .hint = std::string(module.status().hint())});
      continue;
    }
    ++looked_at;
    look(DataFlow(**module), set->entries()[i], costs, &findings);
  }
  if (done) done(&findings);
  result.shape = ToolResult::Shape::kDocument;
  if (looked_at == 0) {
    result.document = NotEvaluated("No HLO module of the session can be read.");
    return result;
  }
  std::ranges::stable_sort(findings, std::greater(), [](const Finding& finding) {
    return std::pair(finding.self_time_ms, finding.bytes);
  });
  const size_t shown =
      std::min(LimitOf(context.options().Integer("limit"), findings.size()), kMaxFindings);
  Value document = Value::Object();
  document.Set("detection_state", Value::String(findings.empty() ? "NOT_DETECTED" : "DETECTED"));
  document.Set("bottlenecks_found", Value::Bool(!findings.empty()));
  Value& list = document.Set("inefficient_ops", Value::List());
  for (size_t i = 0; i < shown; ++i) list.Add(std::move(findings[i].value));
  document.Set(
      "message",
      Value::String(findings.empty() ? "None found in " + std::to_string(looked_at) + " modules."
                                     : std::to_string(findings.size()) + " found in " +
                                           std::to_string(looked_at) + " modules."));
  SetTruncation(findings.size(), shown, &document);
  document.Set("modules_evaluated", Value::Int64(static_cast<int64_t>(looked_at)));
  document.Set("profile_times_known", Value::Bool(!costs.empty()));
  result.document = std::move(document);
  return result;
}

ToolDescriptor MakeDetectLayoutMismatchCopiesTool() {
  ToolDescriptor tool = AgentTool("detect_layout_mismatch_copies", "Copies for another layout",
                                  "Which copies only change the layout between two computations?",
                                  {{.name = "limit",
                                    .type = OptionType::kInteger,
                                    .default_value = "50",
                                    .description = "How many to list; 0: all."}});
  tool.cost = CostClass::kModules;
  tool.run = RunLayout;
  return tool;
}

ToolDescriptor MakeDetectUnfusedReshapesTool() {
  ToolDescriptor tool =
      AgentTool("detect_unfused_reshapes", "Reshapes that are not fused",
                "Which large reshapes, copies and converts stand alone before a computation?",
                {{.name = "limit",
                  .type = OptionType::kInteger,
                  .default_value = "75",
                  .description = "How many to list; 0: all."},
                 {.name = "min_bytes_accessed",
                  .type = OptionType::kInteger,
                  .default_value = "10485760",
                  .description = "Smaller ones are left out."}});
  tool.cost = CostClass::kModules;
  tool.run = RunReshapes;
  return tool;
}

}  // namespace strobe::tools
