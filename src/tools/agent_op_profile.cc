#include "src/tools/agent_op_profile.h"

#include <algorithm>
#include <array>

#include "src/base/text.h"
#include "src/tools/agent_custom_call.h"
#include "src/tools/agent_profile_tree.h"

namespace strobe::tools {
namespace {

struct LeafOp {
  std::string name;      // path from the root
  std::string instance;  // last part of the path
  std::string category;
  double time_ms = 0;  // 4 digits
  double occurrences = 1;
  double flops = 0;
  double bytes = 0;
  Provenance provenance = Provenance::kCostModel;
  std::string source_file;
  int64_t source_line = 0;
  std::string stack_frame;
};

struct CategoryTotal {
  std::string name;
  std::vector<size_t> ops = {};  // indices, as sorted
  double time_ms = 0;
  double flops = 0;
  double bytes = 0;
};

double AccessedBytes(const Value& node) {
  double bytes = 0;
  if (const Value* array = MetricsOf(node).Find("rawBytesAccessedArray")) {
    for (const Value& part : array->items()) bytes += part.AsNumber();
  }
  return bytes;
}

// The category of a node that does not say its own, guessed from its name.
std::string GuessedCategory(const std::string& name) {
  constexpr std::array<std::string_view, 10> kKinds = {
      "custom-call", "fusion",  "convolution", "dot",   "reduce",
      "copy",        "reshape", "broadcast",   "while", "tuple"};
  const std::string lower = AsciiLower(name);
  for (const std::string_view kind : kKinds) {
    if (lower.find(kind) != std::string::npos) return std::string(kind);
  }
  if (!name.starts_with('%')) return "unknown";
  std::string base = name.substr(1);
  return base.substr(0, base.find_first_of("._"));
}

std::string CategoryOf(const Value& node) {
  const Value* xla = ObjectIn(node, "xla");
  if (xla != nullptr) {
    if (std::string category = TextIn(*xla, "category"); !category.empty()) return category;
  }
  const std::string name = TextIn(node, "name");
  if (node.Find("category") != nullptr) return "Category: " + name;
  return GuessedCategory(name);
}

LeafOp LeafOf(const Value& node, const std::string& path) {
  LeafOp op;
  op.name = path;
  op.instance = path.substr(path.rfind('/') + 1);
  op.category = CategoryOf(node);
  op.time_ms = RoundTo(RawTimePs(node) / 1e9, 4);
  op.occurrences = std::max(1.0, NumberIn(MetricsOf(node), "occurrences"));
  op.flops = NumberIn(MetricsOf(node), "rawFlops");
  op.bytes = AccessedBytes(node);
  const Value* xla = ObjectIn(node, "xla");
  const std::string expression = xla == nullptr ? "" : TextIn(*xla, "expression");
  if (IsCustomCall(expression, op.category, path)) {
    const CustomCallCost cost = DeriveCustomCallCost(expression, op.category, path);
    op.provenance = expression.empty() ? Provenance::kOpaqueCustomCall : cost.provenance;
    const bool known = op.provenance != Provenance::kOpaqueCustomCall;
    op.flops = known ? cost.flops.value_or(0) * op.occurrences : 0;
    op.bytes = known ? cost.bytes.value_or(0) * op.occurrences : 0;
  }
  const Value* source = xla == nullptr ? nullptr : ObjectIn(*xla, "sourceInfo");
  if (source != nullptr) {
    op.source_file = TextIn(*source, "fileName");
    op.source_line = static_cast<int64_t>(NumberIn(*source, "lineNumber"));
    op.stack_frame = TextIn(*source, "stackFrame");
  }
  return op;
}

void CollectLeaves(const Value& node, const std::string& prefix, int depth,
                   std::vector<LeafOp>* ops) {
  if (depth > kMaxProfileDepth) return;
  const std::string name = TextIn(node, "name");
  const std::string path = prefix.empty() ? name : prefix + "/" + name;
  if (!IsLeafOp(node)) {
    for (const Value& child : ChildrenOf(node)) CollectLeaves(child, path, depth + 1, ops);
    return;
  }
  if (RawTimePs(node) > 0) ops->push_back(LeafOf(node, path));
}

// Asks for a view, then builds it.
class OpProfileView {
 public:
  OpProfileView(const AgentContext& context, const Value& root, Normalization normalization)
      : context_(context), root_(root), normalization_(normalization) {
    CollectLeaves(root, "", 0, &ops_);
    sort_by_ = AsciiLower(Trimmed(context.options().Text("sort_by")));
    std::ranges::stable_sort(ops_, std::greater(), [&](const LeafOp& op) { return KeyOf(op); });
    total_ms_ = RawTimePs(root) / 1e9;
    GroupByCategory();
  }

  bool empty() const { return ops_.empty(); }
  Result<Value> Make() const;

 private:
  double KeyOf(const LeafOp& op) const {
    if (sort_by_ == "flops") return op.flops;
    return sort_by_ == "bytes" ? op.bytes : op.time_ms;
  }
  double KeyOf(const CategoryTotal& category) const {
    if (sort_by_ == "flops") return category.flops;
    return sort_by_ == "bytes" ? category.bytes : category.time_ms;
  }
  int64_t top_n() const { return context_.options().Integer("top_n"); }

  void GroupByCategory();
  Value OpValue(const LeafOp& op) const;
  Value SummaryValue() const;
  Value CategoryNames() const;
  Value OpsOf(const CategoryTotal& category, size_t limit) const;
  Result<Value> OneCategory(const std::string& wanted) const;
  Value Flat() const;
  Value Categories() const;
  Value Grouped() const;
  Result<Value> Tree() const;
  Value TreeNode(const Value& node, const std::string& prefix, int levels) const;
  double FractionOf(double time_ms) const {
    return total_ms_ > 0 ? RoundTo(time_ms / total_ms_, 4) : 0;
  }

  const AgentContext& context_;
  const Value& root_;
  const Normalization normalization_;
  std::string sort_by_;
  double total_ms_ = 0;
  std::vector<LeafOp> ops_;
  std::vector<CategoryTotal> categories_;
};

void OpProfileView::GroupByCategory() {
  for (size_t i = 0; i < ops_.size(); ++i) {
    auto found = std::ranges::find(categories_, ops_[i].category, &CategoryTotal::name);
    if (found == categories_.end()) {
      categories_.push_back({.name = ops_[i].category});
      found = categories_.end() - 1;
    }
    found->ops.push_back(i);
    found->time_ms += ops_[i].time_ms;
    found->flops += ops_[i].flops;
    found->bytes += ops_[i].bytes;
  }
  for (CategoryTotal& category : categories_) category.time_ms = RoundTo(category.time_ms, 4);
  std::ranges::stable_sort(categories_, std::greater(),
                           [&](const CategoryTotal& category) { return KeyOf(category); });
}

Value OpProfileView::OpValue(const LeafOp& op) const {
  Value value = Value::Object();
  value.Set("name", Value::String(op.name));
  value.Set("category", Value::String(op.category));
  value.Set("total_self_time_ms", Value::Double(op.time_ms));
  value.Set("occurrences", Value::Int64(static_cast<int64_t>(op.occurrences)));
  value.Set("flops", Value::Double(op.flops));
  value.Set("bytes_accessed", Value::Double(op.bytes));
  value.Set("flops_provenance", Value::String(ProvenanceName(op.provenance)));
  if (!op.source_file.empty()) value.Set("source_file", Value::String(op.source_file));
  if (op.source_line > 0) value.Set("source_line", Value::Int64(op.source_line));
  if (!op.stack_frame.empty()) value.Set("stack_frame", Value::String(op.stack_frame));
  SetPerStep(normalization_, op.time_ms, &value);
  return value;
}

Value OpProfileView::SummaryValue() const {
  Value list = Value::List();
  for (const CategoryTotal& category : categories_) {
    Value& value = list.Add(Value::Object());
    value.Set("category", Value::String(category.name));
    value.Set("total_self_time_ms", Value::Double(category.time_ms));
    value.Set("fraction_of_total_time", Value::Double(FractionOf(category.time_ms)));
    value.Set("total_flops", Value::Double(category.flops));
    value.Set("bytes_accessed", Value::Double(category.bytes));
    value.Set("op_count", Value::Int64(static_cast<int64_t>(category.ops.size())));
    value.Set("top_op", Value::String(ops_[category.ops.front()].instance));
    SetPerStep(normalization_, category.time_ms, &value);
  }
  return list;
}

Value OpProfileView::CategoryNames() const {
  Value names = Value::List();
  for (const CategoryTotal& category : categories_) names.Add(Value::String(category.name));
  return names;
}

Value OpProfileView::OpsOf(const CategoryTotal& category, size_t limit) const {
  Value list = Value::List();
  for (size_t i = 0; i < limit; ++i) {
    const LeafOp& op = ops_[category.ops[i]];
    Value& value = list.Add(OpValue(op));
    value.Set("category_fraction",
              Value::Double(category.time_ms > 0 ? RoundTo(op.time_ms / category.time_ms, 4) : 0));
  }
  return list;
}

Result<Value> OpProfileView::OneCategory(const std::string& wanted) const {
  const std::string lower = AsciiLower(Trimmed(wanted));
  auto found = std::ranges::find_if(categories_, [&](const CategoryTotal& category) {
    return AsciiLower(category.name) == lower;
  });
  if (found == categories_.end()) {
    found = std::ranges::find_if(categories_, [&](const CategoryTotal& category) {
      return AsciiLower(category.name).find(lower) != std::string::npos;
    });
  }
  if (found == categories_.end()) {
    std::string names;
    for (const CategoryTotal& category : categories_) {
      names += (names.empty() ? "" : ", ") + category.name;
    }
    return NotFoundError("CATEGORY_UNKNOWN", "The op profile has no such category.")
        .Where(wanted.substr(0, 100))
        .Hint("It has: " + names + ".");
  }
  Value document = Value::Object();
  document.Set("category", Value::String(found->name));
  document.Set("total_self_time_ms", Value::Double(found->time_ms));
  document.Set("fraction_of_total_time", Value::Double(FractionOf(found->time_ms)));
  document.Set("operations", OpsOf(*found, LimitOf(top_n(), found->ops.size())));
  const std::string& top = ops_[found->ops.front()].instance;
  Value& hints = document.Set("navigation_hints", Value::Object());
  hints.Set("inspect_top_op_ast",
            Value::String("strobe get_hlo_neighborhood SESSION --instruction_name='" + top + "'"));
  hints.Set("inspect_graph",
            Value::String("strobe get_graph_viewer SESSION --node_name='" + top + "'"));
  hints.Set("back_to_categories",
            Value::String("strobe get_hlo_op_profile SESSION --view=category"));
  return document;
}

Value OpProfileView::Flat() const {
  Value list = Value::List();
  const size_t limit = LimitOf(top_n(), ops_.size());
  for (size_t i = 0; i < limit; ++i) list.Add(OpValue(ops_[i]));
  return list;
}

Value OpProfileView::Categories() const {
  static const std::vector<std::string_view> kCommunication = {"all-gather", "all-reduce",
                                                               "reduce-scatter", "collective"};
  Value document = Value::Object();
  document.Set("total_profile_time_ms", Value::Double(RoundTo(total_ms_, 4)));
  document.Set("category_summary", SummaryValue());
  Value& hints = document.Set("navigation_hints", Value::Object());
  const std::string ask = "strobe get_hlo_op_profile SESSION --category='";
  hints.Set("drill_down_into_top_category", Value::String(ask + categories_.front().name + "'"));
  hints.Set("view_grouped_ops", Value::String("strobe get_hlo_op_profile SESSION --view=grouped"));
  hints.Set("available_categories", CategoryNames());
  for (const CategoryTotal& category : categories_) {
    if (!ContainsAnyOf(AsciiLower(category.name), kCommunication)) continue;
    hints.Set("drill_down_into_communication", Value::String(ask + category.name + "'"));
    break;
  }
  document.Set("normalization", NormalizationValue(normalization_));
  return document;
}

Value OpProfileView::Grouped() const {
  constexpr int64_t kMostPerCategory = 5;
  Value document = Value::Object();
  document.Set("total_profile_time_ms", Value::Double(RoundTo(total_ms_, 4)));
  document.Set("category_summary", SummaryValue());
  Value& groups = document.Set("grouped_operations", Value::Object());
  for (const CategoryTotal& category : categories_) {
    groups.Set(category.name,
               OpsOf(category, LimitOf(std::min(top_n(), kMostPerCategory), category.ops.size())));
  }
  Value& hints = document.Set("navigation_hints", Value::Object());
  hints.Set("drill_down_category",
            Value::String("strobe get_hlo_op_profile SESSION --category='CATEGORY'"));
  hints.Set("inspect_op_neighborhood",
            Value::String("strobe get_hlo_neighborhood SESSION --instruction_name='OP'"));
  hints.Set("inspect_roofline", Value::String("strobe get_roofline_model SESSION"));
  hints.Set("explore_tree",
            Value::String("strobe get_hlo_op_profile SESSION --view=tree --depth=2"));
  hints.Set("available_categories", CategoryNames());
  document.Set("normalization", NormalizationValue(normalization_));
  return document;
}

std::string NodeName(const Value& node) {
  const std::string name = TextIn(node, "name");
  return name.empty() ? "root" : name;
}

Value OpProfileView::TreeNode(const Value& node, const std::string& prefix, int levels) const {
  Value value = Value::Object();
  const std::string name = NodeName(node);
  const std::string path = prefix.empty() ? name : prefix + "/" + name;
  const double time_ms = RoundTo(RawTimePs(node) / 1e9, 4);
  value.Set("name", Value::String(name));
  value.Set("path", Value::String(path));
  value.Set("total_self_time_ms", Value::Double(time_ms));
  SetPerStep(normalization_, time_ms, &value);
  if (const Value* xla = ObjectIn(node, "xla")) {
    if (const std::string category = TextIn(*xla, "category"); !category.empty()) {
      value.Set("category", Value::String(category));
    }
    if (const double flops = NumberIn(MetricsOf(node), "rawFlops"); flops > 0) {
      value.Set("flops", Value::Double(flops));
    }
  }
  std::vector<const Value*> children;
  for (const Value& child : ChildrenOf(node)) {
    if (RawTimePs(child) > 0) children.push_back(&child);
  }
  std::ranges::stable_sort(children, std::greater(), [](const Value* c) { return RawTimePs(*c); });
  if (levels > 1 && !children.empty()) {
    Value& list = value.Set("children", Value::List());
    for (const Value* child : children) list.Add(TreeNode(*child, path, levels - 1));
  }
  if (!ChildrenOf(node).empty()) {
    value.Set("child_count", Value::Int64(static_cast<int64_t>(ChildrenOf(node).size())));
    value.Set("has_children", Value::Bool(true));
  }
  return value;
}

// A path may begin with the root's own name or an alias of it.
std::vector<std::string> PathParts(std::string_view path, const std::string& root) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    if (slash != 0) parts.push_back(AsciiLower(path.substr(0, slash)));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  if (!parts.empty() && (parts[0] == "root" || parts[0] == "by_category" ||
                         parts[0] == "by_program" || parts[0] == AsciiLower(root))) {
    parts.erase(parts.begin());
  }
  return parts;
}

Result<Value> OpProfileView::Tree() const {
  const std::string asked = context_.options().Text("path");
  const Value* node = &root_;
  std::string path = NodeName(root_);
  for (const std::string& part : PathParts(asked, path)) {
    const auto found = std::ranges::find_if(ChildrenOf(*node), [&](const Value& child) {
      return AsciiLower(TextIn(child, "name")).find(part) != std::string::npos;
    });
    if (found == ChildrenOf(*node).end()) {
      return NotFoundError("PATH_UNKNOWN", "The op profile has no node of that path.")
          .Where(asked.substr(0, 200))
          .Hint("available_child_paths of --view=tree names those there are.");
    }
    node = &*found;
    path += "/" + NodeName(*node);
  }
  const int64_t asked_depth = context_.options().Integer("depth");
  const int depth =
      static_cast<int>(asked_depth > 0 ? std::min<int64_t>(asked_depth, kMaxProfileDepth) : 2);
  Value document = Value::Object();
  document.Set("current_path", Value::String(path));
  document.Set("depth_limit", Value::Int64(depth));
  document.Set("total_self_time_ms", Value::Double(RoundTo(RawTimePs(*node) / 1e9, 4)));
  document.Set("tree", TreeNode(*node, "", depth));
  Value paths = Value::List();
  for (const Value& child : ChildrenOf(*node)) {
    if (RawTimePs(child) > 0) paths.Add(Value::String(path + "/" + TextIn(child, "name")));
  }
  Value& hints = document.Set("navigation_hints", Value::Object());
  hints.Set("navigate_deeper_into_child",
            Value::String(paths.items().empty()
                              ? "No child has time of its own."
                              : "strobe get_hlo_op_profile SESSION --view=tree --path='" +
                                    paths.items()[0].string_value() +
                                    "' --depth=" + std::to_string(depth)));
  hints.Set("switch_to_program_tree",
            Value::String("strobe get_hlo_op_profile SESSION --view=tree --path='by_program'"));
  hints.Set("available_child_paths", std::move(paths));
  document.Set("normalization", NormalizationValue(normalization_));
  return document;
}

Result<Value> OpProfileView::Make() const {
  const std::string& category = context_.options().Text("category");
  if (!category.empty()) return OneCategory(category);
  const std::string view = AsciiLower(Trimmed(context_.options().Text("view")));
  if (view == "flat") return Flat();
  if (view == "category" || view == "summary") return Categories();
  if (view == "tree") return Tree();
  return Grouped();
}

Status CheckChoice(const AgentContext& context, std::string_view option,
                   const std::vector<std::string_view>& choices) {
  const std::string given = AsciiLower(Trimmed(context.options().Text(option)));
  std::string all;
  for (const std::string_view choice : choices) {
    if (given == choice) return OkStatus();
    all += (all.empty() ? "" : ", ") + std::string(choice);
  }
  return InvalidArgumentError("OPTION_INVALID",
                              "The option " + std::string(option) + " must be one of " + all + ".")
      .Where(given.substr(0, 100));
}

Status NoOps() {
  return NotFoundError("NO_OPS", "The profile has no device operation with time.")
      .Hint("Capture while the device works, with device tracing on.");
}

Result<ToolResult> RunGetHloOpProfile(const ToolQuestion& question, ToolInput& input,
                                      const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_RETURN_IF_ERROR(
      CheckChoice(context, "view", {"grouped", "category", "summary", "flat", "tree"}));
  STROBE_RETURN_IF_ERROR(CheckChoice(context, "sort_by", {"time", "flops", "bytes"}));
  // Unlike XProf's tree view, a path that begins by_category changes to that tree.
  std::map<std::string, std::string> options;
  if (AsciiLower(question.options.Text("path")).starts_with("by_category") && !question.as_xprof) {
    options["group_by"] = "category";
  }
  STROBE_ASSIGN_OR_RETURN(ToolResult profile, context.Ask("op_profile", options));
  const Value* root = OpProfileRoot(profile.document);
  if (root == nullptr) return NoOps();
  const OpProfileView view(context, *root, NormalizationOf(context));
  if (view.empty()) return NoOps();
  STROBE_ASSIGN_OR_RETURN(Value document, view.Make());
  return DocumentResult(std::move(document), profile);
}

}  // namespace

ToolDescriptor MakeGetHloOpProfileTool() {
  ToolDescriptor tool = AgentTool(
      "get_hlo_op_profile", "Op profile for agents", "Where does the device time go?",
      {{.name = "top_n",
        .type = OptionType::kInteger,
        .default_value = "15",
        .description = "How many ops; grouped shows at most 5 of each category."},
       {.name = "view",
        .default_value = "grouped",
        .description = "grouped, category, summary, flat or tree."},
       {.name = "category", .description = "Only this category, or the first that contains it."},
       {.name = "path", .description = "Of --view=tree: names from the root, with slashes."},
       {.name = "depth",
        .type = OptionType::kInteger,
        .default_value = "2",
        .description = "Of --view=tree: levels."},
       {.name = "sort_by", .default_value = "time", .description = "time, flops or bytes."}});
  tool.run = RunGetHloOpProfile;
  return tool;
}

}  // namespace strobe::tools
