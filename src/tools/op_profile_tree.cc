#include "src/tools/op_profile_tree.h"

#include <algorithm>

#include "src/tools/roofline_metrics.h"

namespace strobe::tools {

using analysis::CoreType;
using analysis::kIdle;
using analysis::MemoryAccessed;
using analysis::MemorySpace;
using analysis::OpMetrics;
using analysis::PerfEnv;
using analysis::SafeDivide;

namespace {

void AddMemory(const OpMetrics& from, OpMetrics* into) {
  for (const MemoryAccessed& access : from.memory_accessed) {
    const auto same = std::ranges::find_if(into->memory_accessed, [&](const MemoryAccessed& known) {
      return known.space == access.space && known.is_write == access.is_write;
    });
    if (same == into->memory_accessed.end()) {
      into->memory_accessed.push_back(access);
    } else {
      same->bytes += access.bytes;
    }
  }
}

bool HasInnerOps(const OpMetrics& op) { return op.time_ps > op.self_time_ps; }

// To a node that holds the op among others: its own time, and what innermost ops did.
void AddSelf(const OpMetrics& op, OpMetrics* into) {
  into->time_ps += op.self_time_ps;
  into->self_time_ps += op.self_time_ps;
  into->normalized_time_ps += op.normalized_time_ps;
  if (HasInnerOps(op)) return;
  into->flops += op.flops;
  into->model_flops += op.model_flops;
  into->bytes_accessed += op.bytes_accessed;
  into->dma_stall_ps += op.dma_stall_ps;
  AddMemory(op, into);
}

// To a node that stands for the op, or for ops like it.
void AddWhole(const OpMetrics& op, OpMetrics* into) {
  into->occurrences += op.occurrences;
  into->time_ps += op.time_ps;
  into->self_time_ps += op.self_time_ps;
  into->normalized_time_ps += op.normalized_time_ps;
  into->flops += op.flops;
  into->model_flops += op.model_flops;
  into->bytes_accessed += op.bytes_accessed;
  into->dma_stall_ps += op.dma_stall_ps;
  AddMemory(op, into);
}

uint64_t BytesOf(const OpMetrics& op, bool hbm, bool is_write) {
  uint64_t bytes = 0;
  for (const MemoryAccessed& access : op.memory_accessed) {
    const bool is_hbm = access.space == static_cast<uint64_t>(MemorySpace::kHbm);
    if (is_hbm == hbm && access.is_write == is_write) bytes += access.bytes;
  }
  return bytes;
}

Value MetricsValue(const OpMetrics& op, const PerfEnv& perf, uint64_t total_time_ps) {
  const auto time_ps = static_cast<double>(op.time_ps);
  const double share = SafeDivide(time_ps, static_cast<double>(total_time_ps));
  const double used = SafeDivide(NormalizedFlopRate(op), perf.peak_tera_flops_per_second * 1000.0);
  Value utilizations = Value::List();
  Value raw_bytes = Value::List();
  const auto add_memory = [&](double gigabytes_per_second, size_t index) {
    const double gibi = GigaToGibi(gigabytes_per_second);
    const double peak =
        index < perf.peak_bandwidths_gbps.size() ? perf.peak_bandwidths_gbps[index] : 0;
    utilizations.Add(Value::Double(std::min(1.0, SafeDivide(gibi, GigaToGibi(peak)))));
    raw_bytes.Add(Value::Double(GibiToGiga(gibi) * PicoToNano(time_ps)));
  };
  const auto rate = [&](bool hbm, bool is_write) {
    return SafeDivide(static_cast<double>(BytesOf(op, hbm, is_write)), PicoToNano(time_ps));
  };
  add_memory(rate(true, false) + rate(true, true), 0);
  add_memory(rate(false, false), 1);
  add_memory(rate(false, true), 2);

  Value metrics = Value::Object();
  metrics.Set("flops", Value::Double(std::min(1.0, used) * share));
  metrics.Set("uncappedFlops", Value::Double(used * share));
  metrics.Set("bandwidthUtils", std::move(utilizations));
  metrics.Set("rawTime", Value::Double(time_ps));
  metrics.Set("rawFlops", Value::Double(op.model_flops));
  metrics.Set("bf16Flops", Value::Double(op.flops));
  metrics.Set("normalizedTimePs", Value::Double(static_cast<double>(op.normalized_time_ps)));
  metrics.Set("rawBytesAccessedArray", std::move(raw_bytes));
  metrics.Set("occurrences", Value::Int32(static_cast<int64_t>(op.occurrences)));
  metrics.Set("avgTimePs", Value::Double(SafeDivide(time_ps, static_cast<double>(op.occurrences))));
  return metrics;
}

// "file.py:12" -> "file.py".
std::string_view FileOf(const OpMetrics& op) {
  const size_t colon = op.source_file.rfind(':');
  return std::string_view(op.source_file).substr(0, colon);
}

bool IsFusionCategory(std::string_view category) { return category.ends_with(" fusion"); }

Value InstructionValue(const OpMetrics& op, bool is_group) {
  Value source = Value::Object();
  source.Set("fileName", Value::String(FileOf(op)));
  source.Set("lineNumber", Value::Int32(op.source_line));
  source.Set("stackFrame", Value::String(op.source_stack));
  Value xla = Value::Object();
  xla.Set("op", Value::String(""));
  xla.Set("expression", Value::String(op.long_name));
  // A group of fusions comes from no one place.
  const bool shows_origin = !is_group || !IsFusionCategory(op.category);
  xla.Set("provenance", Value::String(shows_origin ? op.provenance : ""));
  xla.Set("category", Value::String(op.category));
  if (is_group && shows_origin) {
    Value layout = Value::Object();
    layout.Set("dimensions", Value::List());
    xla.Set("layout", std::move(layout));
  }
  xla.Set("computationPrimitiveSize", Value::Int32(0));
  xla.Set("fingerprint", Value::Uint64(op.fingerprint));
  xla.Set("programId", Value::Uint64(op.hlo_module_id));
  xla.Set("sourceInfo", std::move(source));
  xla.Set("xprofKernelMetadata", Value::String(KernelMetadata(op.long_name)));
  return xla;
}

}  // namespace

std::vector<std::string_view> ProvenanceParts(std::string_view provenance) {
  std::vector<std::string_view> parts;
  while (!provenance.empty()) {
    const size_t slash = provenance.find('/');
    const std::string_view part = provenance.substr(0, slash);
    if (!part.empty()) parts.push_back(part);
    provenance.remove_prefix(slash == std::string_view::npos ? provenance.size() : slash + 1);
  }
  if (!parts.empty()) parts.back() = parts.back().substr(0, parts.back().find(':'));
  return parts;
}

OpProfileTree::OpProfileTree(OpGrouping grouping,
                             const std::map<uint64_t, std::string>* program_names)
    : grouping_(grouping), program_names_(program_names), root_(&nodes_.emplace_back()) {
  root_->name = grouping == OpGrouping::kByProgram    ? "by_program"
                : grouping == OpGrouping::kByCategory ? "by_category"
                                                      : "by_provenance";
}

OpProfileTree::Node* OpProfileTree::NewNode(Node* parent, std::string_view name) {
  Node& node = nodes_.emplace_back();
  node.name = name;
  parent->children.push_back(&node);
  return &node;
}

OpProfileTree::Node* OpProfileTree::Program(uint64_t program_id) {
  Node*& program = programs_[program_id];
  if (program == nullptr) {
    const auto name = program_names_->find(program_id);
    program = NewNode(root_, name == program_names_->end()
                                 ? "main"
                                 : name->second + "(" + std::to_string(program_id) + ")");
  }
  return program;
}

OpProfileTree::Node* OpProfileTree::Group(Node* parent,
                                          std::map<std::string, Node*, std::less<>>* known,
                                          std::string_view name) {
  const auto found = known->find(name);
  if (found != known->end()) return found->second;
  return known->emplace(std::string(name), NewNode(parent, name)).first->second;
}

OpProfileTree::Node* OpProfileTree::ScopeOf(const OpMetrics& op, Node* parent) {
  for (const std::string_view part : ProvenanceParts(op.provenance)) {
    parent = Group(parent, &parent->scopes, part);
    AddSelf(op, &parent->metrics);
  }
  return parent;
}

void OpProfileTree::AddFused(const OpMetrics& op, Node* node) {
  if (op.children == nullptr) return;
  for (const OpMetrics& child : op.children->ops) {
    Node* fused = NewNode(node, child.name);
    fused->op = &child;
    AddWhole(child, &fused->metrics);
    AddFused(child, fused);
  }
}

void OpProfileTree::Add(const OpMetrics& op) {
  const bool is_idle = op.category == kIdle;
  AddSelf(op, &root_->metrics);
  Node* parent = root_;
  if (!is_idle && grouping_ != OpGrouping::kByCategory) {
    parent = Program(op.hlo_module_id);
    AddSelf(op, &parent->metrics);
  }
  if (HasInnerOps(op)) {
    const bool offloads =
        op.children != nullptr && std::ranges::any_of(op.children->ops, [](const OpMetrics& child) {
          return child.core_type == CoreType::kSparseCore;
        });
    // Its time is in the ops inside.
    if (!offloads) return;
  }
  if (is_idle) {
    Node* leaf = NewNode(root_, op.name);
    leaf->op = &op;
    AddWhole(op, &leaf->metrics);
    return;
  }
  if (grouping_ == OpGrouping::kByProvenance && !op.provenance.empty()) {
    parent = ScopeOf(op, parent);
  }
  Node* category = Group(parent, &parent->categories, op.category);
  Node* group = Group(category, &category->duplicates,
                      op.deduplicated_name.empty() ? op.name : op.deduplicated_name);
  group->is_group_of_duplicates = true;
  Node* leaf = NewNode(group, op.name);
  leaf->op = &op;
  for (Node* node : {category, group, leaf}) AddWhole(op, &node->metrics);
  AddFused(op, leaf);
}

void OpProfileTree::Prune(Node* node, int level) {
  node->child_count = node->children.size();
  for (Node* child : node->children) Prune(child, level - 1);
  const bool by_flops = node->op != nullptr && IsFusionCategory(node->op->category);
  std::ranges::stable_sort(node->children, [by_flops](const Node* a, const Node* b) {
    return by_flops ? a->metrics.model_flops > b->metrics.model_flops
                    : a->metrics.time_ps > b->metrics.time_ps;
  });
  if (level <= 0 && node->children.size() > kMaxChildren) node->children.resize(kMaxChildren);
}

void OpProfileTree::NameGroups(Node* node) {
  if (node->op != nullptr) return;
  const bool holds_ops_only =
      !node->children.empty() &&
      std::ranges::all_of(node->children, [](const Node* child) { return child->op != nullptr; });
  if (!holds_ops_only) {
    for (Node* child : node->children) NameGroups(child);
    return;
  }
  if (node->children.size() == 1) {
    Node* only = node->children[0];
    node->name = only->name;
    node->op = only->op;
    node->metrics = only->metrics;
    node->child_count = only->child_count;
    node->is_group_of_duplicates = false;
    node->children = std::vector<Node*>(only->children);
    return;
  }
  node->is_group_of_duplicates = true;
  node->op = node->children[0]->op;
  node->name = node->children[0]->name + " and its duplicate(s)";
}

Value OpProfileTree::Print(const Node& node, const PerfEnv& perf, uint64_t total_time_ps) const {
  Value value = Value::Object();
  value.Set("name", Value::String(node.name));
  value.Set("metrics", MetricsValue(node.metrics, perf, total_time_ps));
  Value children = Value::List();
  for (const Node* child : node.children) children.Add(Print(*child, perf, total_time_ps));
  value.Set("children", std::move(children));
  if (node.op != nullptr) {
    value.Set("xla", InstructionValue(*node.op, node.is_group_of_duplicates));
  }
  value.Set("numChildren", Value::Int32(static_cast<int64_t>(node.child_count)));
  return value;
}

Value OpProfileTree::Finish(const PerfEnv& perf, uint64_t total_time_ps) {
  root_->metrics.time_ps = total_time_ps;
  // Provenance can be as deep as it likes.
  constexpr int kUnlimited = 100;
  Prune(root_, grouping_ == OpGrouping::kByProgram    ? 2
               : grouping_ == OpGrouping::kByCategory ? 1
                                                      : kUnlimited);
  NameGroups(root_);
  return Print(*root_, perf, total_time_ps);
}

}  // namespace strobe::tools
