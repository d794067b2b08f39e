#include "src/tools/agent_top_ops.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "src/base/text.h"
#include "src/tools/agent_custom_call.h"
#include "src/tools/agent_profile_tree.h"

namespace strobe::tools {
namespace {

struct TopOp {
  std::string path;  // with what is shown in brackets
  std::string raw_path;
  std::string name;
  const Value* node = nullptr;
  std::string category;
  double time_ms = 0;
  double occurrences = 0;
  std::optional<double> flops;
  std::optional<double> bytes;
  Provenance provenance = Provenance::kCostModel;
};

bool IsIdle(const TopOp& op) {
  const std::string name = AsciiLower(Trimmed(op.path));
  return AsciiLower(Trimmed(op.category)) == "idle" || name == "idle" || name.ends_with("/idle") ||
         name.find("/idle/") != std::string::npos;
}

std::string TargetIn(const std::string& expression) {
  constexpr std::string_view kKey = "custom_call_target=\"";
  const size_t begin = expression.find(kKey);
  if (begin == std::string::npos) return {};
  const size_t end = expression.find('"', begin + kKey.size());
  return end == std::string::npos
             ? std::string()
             : expression.substr(begin + kKey.size(), end - begin - kKey.size());
}

// The name, and where it says little, in brackets what would.
std::string LabelOf(const std::string& name, const Value& xla) {
  const std::string category = AsciiLower(TextIn(xla, "category"));
  const bool custom = category == "custom-call" || category == "custom_call";
  std::string more = TextIn(xla, "provenance");
  if (!more.empty()) {
    if (!custom && name != "IDLE" && name != "idle" && name != "unknown" && !name.empty()) {
      return name;
    }
  } else {
    more = custom ? TargetIn(TextIn(xla, "expression")) : "";
  }
  return more.empty() || more == name ? name : name + " [" + more + "]";
}

bool NameMatches(const TopOp& op, const std::string& wanted) {
  const std::string leaf = op.name.starts_with('%') ? op.name.substr(1) : op.name;
  std::string dashes = wanted;
  std::string underscores = wanted;
  std::ranges::replace(dashes, '_', '-');
  std::ranges::replace(underscores, '-', '_');
  for (const std::string& candidate : {wanted, dashes, underscores}) {
    const std::string ending = "/" + candidate;
    if (op.path == candidate || op.path.ends_with(ending) || op.raw_path == candidate ||
        op.raw_path.ends_with(ending)) {
      return true;
    }
    const std::string clean = candidate.starts_with('%') ? candidate.substr(1) : candidate;
    if (leaf == clean || leaf.starts_with(clean + ".")) return true;
  }
  return false;
}

TopOp TopOpOf(const Value& node, const Value& xla, const std::string& prefix) {
  TopOp op;
  op.name = TextIn(node, "name");
  const std::string before = prefix.empty() ? "" : prefix + "/";
  op.path = before + LabelOf(op.name, xla);
  op.raw_path = before + op.name;
  op.node = &node;
  op.category = TextIn(xla, "category");
  op.time_ms = RawTimePs(node) / 1e9;
  op.flops = 0;
  op.bytes = 0;
  if (const Value* metrics = ObjectIn(node, "metrics")) {
    op.occurrences = NumberIn(*metrics, "occurrences");
    op.flops = NumberIn(*metrics, "rawFlops");
    if (const Value* array = metrics->Find("rawBytesAccessedArray")) {
      for (const Value& part : array->items()) *op.bytes += part.AsNumber();
    }
  }
  const std::string expression = TextIn(xla, "expression");
  if (IsCustomCall(expression, op.category, op.name)) {
    const CustomCallCost cost = DeriveCustomCallCost(expression, op.category, op.name);
    const bool derived = cost.provenance == Provenance::kDerivedFromShapes;
    op.provenance = derived ? cost.provenance : Provenance::kOpaqueCustomCall;
    op.flops = derived ? cost.flops : std::nullopt;
    op.bytes = derived ? cost.bytes : std::nullopt;
  }
  return op;
}

void Collect(const Value& node, const std::string& prefix, const std::string& wanted, int depth,
             std::vector<TopOp>* ops) {
  if (depth > kMaxProfileDepth) return;
  const Value* xla = ObjectIn(node, "xla");
  if (IsLeafOp(node)) {
    if (xla == nullptr || (RawTimePs(node) <= 0 && wanted.empty())) return;
    TopOp op = TopOpOf(node, *xla, prefix);
    if (wanted.empty() || NameMatches(op, wanted)) ops->push_back(std::move(op));
    return;
  }
  const std::string name = TextIn(node, "name");
  std::string below = prefix;
  if (!name.ends_with(" and its duplicate(s)")) below += (below.empty() ? "" : "/") + name;
  for (const Value& child : ChildrenOf(node)) Collect(child, below, wanted, depth + 1, ops);
}

Value OptionalNumber(const std::optional<double>& number) {
  return number ? Value::Double(*number) : Value::Null();
}

Value TopOpValue(const TopOp& op, const Normalization& normalization) {
  Value value = Value::Object();
  value.Set("name", Value::String(op.path));
  value.Set("category", Value::String(op.category));
  value.Set("total_self_time_ms", Value::Double(op.time_ms));
  value.Set("occurrences", Value::Int64(static_cast<int64_t>(op.occurrences)));
  value.Set("flops", OptionalNumber(op.flops));
  value.Set("bytes_accessed", OptionalNumber(op.bytes));
  value.Set("flops_provenance", Value::String(ProvenanceName(op.provenance)));
  const Value* xla = ObjectIn(*op.node, "xla");
  if (const Value* source = ObjectIn(*xla, "sourceInfo")) {
    value.Set("source_file", Value::String(TextIn(*source, "fileName")));
    value.Set("source_line", Value::Int64(static_cast<int64_t>(NumberIn(*source, "lineNumber"))));
    if (const std::string stack = TextIn(*source, "stackFrame"); !stack.empty()) {
      value.Set("stack_frame", Value::String(stack));
    }
  }
  value.Set("instruction", Value::String(op.name));
  if (const Value* program = xla->Find("programId")) value.Set("program_id", *program);
  SetPerStep(normalization, op.time_ms, &value);
  return value;
}

using Key = std::function<double(const TopOp&)>;

// The first `limit` by the key, of those that have it.
Value Ranked(std::vector<const TopOp*> ops, const Key& key, int64_t limit,
             const Normalization& normalization, bool* cut) {
  std::ranges::stable_sort(ops, std::greater(), [&](const TopOp* op) { return key(*op); });
  const size_t shown = LimitOf(limit, ops.size());
  *cut |= shown < ops.size();
  Value list = Value::List();
  for (size_t i = 0; i < shown; ++i) list.Add(TopOpValue(*ops[i], normalization));
  return list;
}

Value TopOpsDocument(const AgentContext& context, const std::vector<TopOp>& ops,
                     bool has_programs) {
  const Normalization normalization = NormalizationOf(context);
  std::vector<const TopOp*> all;
  std::vector<const TopOp*> with_cost;
  double total_ms = 0;
  bool opaque = false;
  for (const TopOp& op : ops) {
    all.push_back(&op);
    total_ms += op.time_ms;
    opaque |= op.provenance == Provenance::kOpaqueCustomCall;
    if (!IsIdle(op) && op.provenance != Provenance::kOpaqueCustomCall && op.flops) {
      with_cost.push_back(&op);
    }
  }
  const int64_t limit = context.options().Integer("limit");
  bool cut = false;
  Value document = Value::Object();
  document.Set("top_by_time",
               Ranked(all, [](const TopOp& op) { return op.time_ms; }, limit, normalization, &cut));
  const size_t shown = document.Find("top_by_time")->items().size();
  document.Set(
      "top_by_flops",
      Ranked(with_cost, [](const TopOp& op) { return *op.flops; }, limit, normalization, &cut));
  document.Set("top_by_bytes_accessed",
               Ranked(
                   with_cost, [](const TopOp& op) { return op.bytes.value_or(0); }, limit,
                   normalization, &cut));
  document.Set("total_matched", Value::Int64(static_cast<int64_t>(ops.size())));
  SetTruncation(ops.size(), shown, &document);
  document.Set("truncated", Value::Bool(cut));
  document.Set("total_self_time_ms_all_records",
               Value::Double(context.question.as_xprof ? RoundTo(total_ms, 4) : total_ms));
  if (ops.empty()) {
    document.Set("has_by_program", Value::Bool(has_programs));
    return document;
  }
  Value& meaning = document.Set("metric_semantics", Value::Object());
  meaning.Set("source", Value::String("op_profile"));
  meaning.Set("total_self_time_ms",
              Value::String("Core time of the op itself, over all steps and cores."));
  meaning.Set("flops", Value::String("Of the cost model, not normalized to bf16 as in "
                                     "get_roofline_model; of custom calls from their shapes."));
  meaning.Set("bytes_accessed", Value::String("Summed over memory spaces."));
  if (opaque) {
    document.Set("guidance",
                 Value::String("Opaque custom calls have no operations and bytes and stand in "
                               "top_by_time only; ask get_kernel_utilization about them."));
  }
  document.Set("normalization", NormalizationValue(normalization));
  return document;
}

Result<ToolResult> RunGetTopHloOps(const ToolQuestion& question, ToolInput& input,
                                   const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(ToolResult profile, context.Ask("op_profile"));
  std::vector<TopOp> ops;
  const std::string wanted(Trimmed(question.options.Text("op_name")));
  if (const Value* root = OpProfileRoot(profile.document)) Collect(*root, "", wanted, 0, &ops);
  if (const std::string category = AsciiLower(Trimmed(question.options.Text("category_filter")));
      !category.empty()) {
    std::erase_if(ops,
                  [&](const TopOp& op) { return AsciiLower(Trimmed(op.category)) != category; });
  }
  const bool has_programs = ObjectIn(profile.document, "byProgram") != nullptr;
  return DocumentResult(TopOpsDocument(context, ops, has_programs), profile);
}

// "%fusion.3 = ..." names the op; else the text's beginning, else the column's.
std::string OpNameOf(const TableRow& row) {
  const std::string expression = row.Text("hlo_op_expression");
  const size_t percent = expression.find('%');
  if (percent != std::string::npos) {
    const size_t end = expression.find_first_of("%=", percent + 1);
    if (end != std::string::npos && expression[end] == '=' && end > percent + 2 &&
        expression[end - 1] == ' ') {
      return std::string(Trimmed(expression.substr(percent + 1, end - percent - 2)));
    }
  }
  constexpr size_t kShownBytes = 80;
  if (!expression.empty()) return std::string(Trimmed(expression.substr(0, kShownBytes)));
  return row.Text("hlo_op_name");
}

// "<div ...>file.py:12</div>" as file and line.
void SetSource(const std::string& cell, Value* value) {
  std::string text;
  bool in_tag = false;
  for (const char c : cell) {
    if (c == '<') in_tag = true;
    if (!in_tag) text += c;
    if (c == '>') in_tag = false;
  }
  const size_t colon = text.rfind(':');
  double line = 0;
  const bool has_line =
      colon != std::string::npos && ParseNumberText(text.substr(colon + 1), &line);
  value->Set("source_file", Value::String(has_line ? text.substr(0, colon) : text));
  value->Set("source_line", Value::Int64(has_line ? static_cast<int64_t>(line) : 0));
}

Value ProgramId(const std::string& text) {
  uint64_t id = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return Value::String(text);
    id = id * 10 + static_cast<uint64_t>(c - '0');
  }
  return text.empty() ? Value::Uint64(0) : Value::Uint64(id);
}

// Operations of all executions: the rate times the time.
double FlopsOf(const TableRow& row) {
  return RoundTo(row.Number("model_flop_rate") * row.Number("total_time") * 1000.0, 0);
}

Value StatsRecord(const TableRow& row, const Normalization& normalization) {
  Value value = Value::Object();
  value.Set("rank", Value::Int64(static_cast<int64_t>(row.Number("rank"))));
  value.Set("program_id", ProgramId(row.Text("program_id")));
  value.Set("category", Value::String(row.Text("category")));
  value.Set("op_name", Value::String(OpNameOf(row)));
  value.Set("tf_op_name", Value::String(Trimmed(row.Text("tf_op_name"))));
  value.Set("occurrences", Value::Int64(static_cast<int64_t>(row.Number("occurrences"))));
  value.Set("total_time_us", Value::Double(row.Number("total_time")));
  value.Set("total_self_time_us", Value::Double(row.Number("total_self_time")));
  value.Set("self_time_percent", Value::Double(row.Number("total_self_time_percent")));
  value.Set("measured_flop_rate", Value::Double(row.Number("model_flop_rate")));
  value.Set("normalized_flop_rate", Value::Double(row.Number("normalized_flop_rate")));
  value.Set("flops", Value::Double(FlopsOf(row)));
  value.Set("measured_memory_bw_gbs", Value::Double(row.Number("measured_memory_bw")));
  value.Set("bound_by", Value::String(row.Text("bound_by")));
  SetSource(row.Text("source_info"), &value);
  value.Set("core_type", Value::String(Trimmed(row.Text("core_type"))));
  value.Set("parent_op_name", Value::String(Trimmed(row.Text("parent_op_name"))));
  SetPerStep(normalization, row.Number("total_self_time") / 1000.0, &value);
  return value;
}

double StatsKey(const TableRow& row, const std::string& sort_by) {
  if (sort_by == "total_time") return row.Number("total_time");
  if (sort_by == "occurrences") return row.Number("occurrences");
  if (sort_by == "flops") return FlopsOf(row);
  if (sort_by == "bandwidth") return row.Number("measured_memory_bw");
  return row.Number("total_self_time");
}

Result<ToolResult> RunGetHloStats(const ToolQuestion& question, ToolInput& input,
                                  const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(ToolResult stats, context.Ask("hlo_stats"));
  const std::string category = AsciiLower(Trimmed(question.options.Text("category_filter")));
  const bool nested_too = question.options.Flag("include_nested");
  std::vector<size_t> rows;
  size_t nested = 0;
  double total_self_us = 0;
  size_t top_level = 0;
  const Table none;
  const Table& table = stats.tables.empty() ? none : stats.tables[0];
  for (size_t i = 0; i < table.rows().size(); ++i) {
    const TableRow row(table, i);
    if (AsciiLower(row.Text("category")).find(category) == std::string::npos) continue;
    const bool is_nested = !row.Text("parent_op_name").empty() && row.Number("rank") == 0;
    nested += is_nested ? 1 : 0;
    if (is_nested && !nested_too) continue;
    rows.push_back(i);
    if (is_nested) continue;
    ++top_level;
    total_self_us += row.Number("total_self_time");
  }
  Value document = Value::Object();
  if (rows.empty()) {
    document = NoData(nested > 0 ? "Only operations nested in others match; --include_nested=true "
                                   "lists them."
                                 : "The profile has no operation that matches.");
  }
  const std::string sort_by = AsciiLower(Trimmed(question.options.Text("sort_by")));
  std::ranges::stable_sort(rows, std::greater(),
                           [&](size_t i) { return StatsKey(TableRow(table, i), sort_by); });
  const size_t shown = LimitOf(question.options.Integer("limit"), rows.size());
  const Normalization normalization = NormalizationOf(context);
  Value& records = document.Set("records", Value::List());
  for (size_t i = 0; i < shown; ++i) {
    records.Add(StatsRecord(TableRow(table, rows[i]), normalization));
  }
  SetTruncation(rows.size(), shown, &document);
  document.Set("top_level_records", Value::Int64(static_cast<int64_t>(top_level)));
  document.Set("nested_records_hidden",
               Value::Int64(static_cast<int64_t>(nested_too ? 0 : nested)));
  document.Set("total_self_time_ms_all_records", Value::Double(total_self_us / 1000.0));
  document.Set("normalization", NormalizationValue(normalization));
  return DocumentResult(std::move(document), stats);
}

std::string NameOf(const Value& node) {
  const std::string name = TextIn(node, "name");
  return name.empty() ? "Unknown" : name;
}

void CollectNodes(const Value& node, int depth, std::vector<const Value*>* nodes) {
  if (depth > kMaxProfileDepth || RawTimePs(node) <= 0) return;
  nodes->push_back(&node);
  for (const Value& child : ChildrenOf(node)) CollectNodes(child, depth + 1, nodes);
}

Result<ToolResult> RunGetProfileSummary(const ToolQuestion& question, ToolInput& input,
                                        const CancelToken& cancel) {
  constexpr size_t kShown = 10;
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(ToolResult profile, context.Ask("op_profile"));
  const Value* root = OpProfileRoot(profile.document);
  const double total_s = root == nullptr ? 0 : RawTimePs(*root) / 1e12;
  std::vector<const Value*> nodes;
  if (root != nullptr) CollectNodes(*root, 0, &nodes);
  // XProf stops at the first ten it meets; ours takes the ten heaviest.
  if (question.as_xprof && nodes.size() > kShown) nodes.resize(kShown);
  std::ranges::stable_sort(nodes, std::greater(), [](const Value* n) { return RawTimePs(*n); });
  nodes.resize(std::min(nodes.size(), kShown));
  std::string text = "Profile Summary for " + std::string(input.session_name()) +
                     "\nTotal Time: " + FixedText(total_s, 4) +
                     " s\n\nTop Operations (by self time):\n| Name | Self Time (s) | Fraction |\n"
                     "|---|---|---|";
  Value document = Value::Object();
  document.Set("status", Value::String("SUCCESS"));
  document.Set("session_id", Value::String(input.session_name()));
  document.Set("total_time_s", Value::Double(RoundTo(total_s, 6)));
  Value& top = document.Set("top_operations", Value::List());
  for (const Value* node : nodes) {
    const std::string name = NameOf(*node);
    const double time_s = RawTimePs(*node) / 1e12;
    const double fraction = total_s > 0 ? time_s / total_s : 0;
    Value& value = top.Add(Value::Object());
    value.Set("name", Value::String(name));
    value.Set("self_time_s", Value::Double(RoundTo(time_s, 6)));
    value.Set("fraction", Value::Double(RoundTo(fraction, 6)));
    std::string escaped;
    for (const char c : name) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
    text += "\n| " + escaped + " | " + FixedText(time_s, 4) + " | " + FixedText(fraction * 100, 1) +
            "% |";
  }
  document.Set("summary_markdown", Value::String(text));
  document.Set("markdown_summary", Value::String(text));
  document.Set("truncated", Value::Bool(false));
  Value& notes = document.Set("notes", Value::List());
  if (root == nullptr) {
    notes.Add(
        Value::String("The profile has no device operation with time; capture while the "
                      "device works, with device tracing on."));
  }
  return DocumentResult(std::move(document));
}

}  // namespace

ToolDescriptor MakeGetTopHloOpsTool() {
  ToolDescriptor tool = AgentTool(
      "get_top_hlo_ops", "Top ops", "Which ops take most time, operations and bytes?",
      {{.name = "limit",
        .type = OptionType::kInteger,
        .default_value = "10",
        .description = "How many in each list; 0: all."},
       {.name = "category_filter", .description = "Only ops of this category, in any case."},
       {.name = "op_name", .description = "Only ops of this name, with or without number."}});
  tool.run = RunGetTopHloOps;
  return tool;
}

ToolDescriptor MakeGetHloStatsTool() {
  ToolDescriptor tool =
      AgentTool("get_hlo_stats", "HLO statistics for agents", "What did each HLO op cost?",
                {{.name = "limit",
                  .type = OptionType::kInteger,
                  .default_value = "20",
                  .description = "How many records; 0: all."},
                 {.name = "sort_by",
                  .default_value = "self_time",
                  .description = "self_time, total_time, occurrences, flops or bandwidth."},
                 {.name = "category_filter", .description = "Only categories that contain this."},
                 {.name = "include_nested",
                  .type = OptionType::kBoolean,
                  .default_value = "false",
                  .description = "Also operations inside others (SparseCore)."}});
  tool.run = RunGetHloStats;
  return tool;
}

ToolDescriptor MakeGetProfileSummaryTool() {
  ToolDescriptor tool = AgentTool("get_profile_summary", "Summary",
                                  "What are the ten heaviest parts of the profile?", {});
  tool.aliases = {"export_json"};
  tool.run = RunGetProfileSummary;
  return tool;
}

}  // namespace strobe::tools
