#include "src/tools/agent_roofline.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "src/base/text.h"
#include "src/tools/agent_custom_call.h"
#include "src/tools/agent_profile_tree.h"

namespace strobe::tools {
namespace {

constexpr std::string_view kOpaque = "CustomCall (opaque)";
// Rates in tables are rounded; sums of them agree within this part.
constexpr double kRelativeTolerance = 1e-3;
constexpr double kGibiPerGiga = 1.073741824;  // 2^30 / 10^9

struct SpaceColumns {
  std::string_view bound_by;
  std::string_view bandwidth;
  std::string_view intensity;
  std::string_view ridge;
};
constexpr std::array<SpaceColumns, 6> kSpaces = {{
    {"HBM", "hbm_bw", "hbm_operational_intensity", "hbm_ridge_point"},
    {"Shm/L1", "hbm_bw", "hbm_operational_intensity", ""},
    {"CMEM Read", "cmem_read_bw", "cmem_read_operational_intensity", "cmem_read_ridge_point"},
    {"CMEM Write", "cmem_write_bw", "cmem_write_operational_intensity", "cmem_write_ridge_point"},
    {"VMEM Read", "vmem_read_bw", "vmem_read_operational_intensity", "vmem_read_ridge_point"},
    {"VMEM Write", "vmem_write_bw", "vmem_write_operational_intensity", "vmem_write_ridge_point"},
}};

const SpaceColumns* SpaceOf(std::string_view bound_by) {
  const auto found = std::ranges::find(kSpaces, bound_by, &SpaceColumns::bound_by);
  return found == kSpaces.end() ? nullptr : &*found;
}

// What a row says of one op or of the program, and what follows once its operations are known
// better.
struct Placement {
  std::string bound_by;
  double flop_rate_gflops = 0;
  double intensity = 0;
  double bottleneck_intensity = 0;
  double roofline = 0;
  double compute = 0;
  double memory = 0;
  double optimal_gflops = 0;
};

Placement PlacementOf(const TableRow& row) {
  Placement place;
  place.bound_by = row.Text("bound_by");
  if (place.bound_by.empty()) place.bound_by = "Unknown";
  place.flop_rate_gflops = row.Number("measured_flop_rate");
  place.intensity = row.Number("operational_intensity");
  place.bottleneck_intensity = row.Number("bottleneck_operational_intensity");
  place.roofline = row.Number("roofline_efficiency");
  place.compute = row.Number("compute_efficiency");
  place.memory = row.Number("max_mem_bw_utilization");
  place.optimal_gflops = row.Number("optimal_flop_rate");
  return place;
}

double BottleneckIntensity(const TableRow& row, const Placement& place,
                           std::optional<double> flops_scale) {
  if (place.bound_by == "Compute") return place.intensity;
  const SpaceColumns* space = SpaceOf(place.bound_by);
  if (space == nullptr) return row.Number("bottleneck_operational_intensity");
  const double bandwidth = row.Number(space->bandwidth);
  if (bandwidth > 0) return place.flop_rate_gflops / (bandwidth * kGibiPerGiga);
  const double intensity = row.Number(space->intensity);
  if (flops_scale && intensity > 0) return intensity * *flops_scale;
  return row.Number("bottleneck_operational_intensity");
}

// The place under another rate of operations; `place->intensity` is set before.
void Replace(const TableRow& row, double peak_gflops, std::optional<double> flops_scale,
             Placement* place) {
  const std::string backend = place->bound_by;
  if (peak_gflops > 0) place->compute = place->flop_rate_gflops / peak_gflops;
  place->roofline = std::max(place->compute, place->memory);
  if (place->compute >= place->memory) {
    place->bound_by = "Compute";
  } else if (backend == "Compute" || backend == "Unknown") {
    place->bound_by = "HBM";
  }
  place->bottleneck_intensity = BottleneckIntensity(row, *place, flops_scale);
  if (place->roofline > 0) place->optimal_gflops = place->flop_rate_gflops / place->roofline;
}

struct Operation {
  size_t row = 0;
  std::string name;
  Placement place;
  Provenance provenance = Provenance::kCostModel;
  double self_time_us = 0;
  double derived_flops = 0;
  double derived_bytes = 0;
  double replaced_flops = 0;  // of the cost model, that no longer count
};

class Roofline {
 public:
  Roofline(const AgentContext& context, const Table& table)
      : context_(context), table_(table), program_(table, 0), place_(PlacementOf(program_)) {
    device_ = DeviceInformation(table);
    peak_gflops_ = NumberIn(device_, "peak_flop_rate");
    rate_column_ =
        program_.Number("measured_flop_rate") > 0 ? "measured_flop_rate" : "model_flop_rate";
  }

  Value Document();

 private:
  void CollectOperations();
  Operation OperationOf(size_t row) const;
  void JudgeCustomCall(const TableRow& row, const std::string& expression, Operation* op) const;
  void ReplaceProgram();
  Value ProgramValue() const;
  Value OperationValue(const Operation& op) const;
  std::string SpaceUtilization(std::string_view space) const;
  Value RidgeOf(std::string_view bound_by) const;

  const AgentContext& context_;
  const Table& table_;
  const TableRow program_;
  Placement place_;
  Value device_;
  double peak_gflops_ = 0;
  std::string rate_column_;
  std::map<std::string, std::string> expressions_;
  std::vector<Operation> operations_;
  std::string provenance_ = "xla_cost_model";
  double derived_fraction_ = 0;
  bool has_opaque_ = false;
  bool replaced_ = false;
};

Operation Roofline::OperationOf(size_t index) const {
  const TableRow row(table_, index);
  Operation op;
  op.row = index;
  op.name = row.Text("operation");
  op.self_time_us = row.Number("total_self_time");
  op.place = PlacementOf(row);
  const auto known = expressions_.find(op.name);
  const std::string expression = known == expressions_.end() ? op.name : known->second;
  if (IsCustomCall(expression, row.Text("category"), op.name)) {
    JudgeCustomCall(row, expression, &op);
  }
  return op;
}

void Roofline::JudgeCustomCall(const TableRow& row, const std::string& expression,
                               Operation* op) const {
  const double time_ns = op->self_time_us * 1000.0;
  const double stated_flops = row.Number(rate_column_) * time_ns;
  const CustomCallCost cost = DeriveCustomCallCost(expression, row.Text("category"), op->name);
  op->provenance = cost.provenance;
  if (cost.provenance == Provenance::kDerivedFromShapes && cost.flops.value_or(0) > 0) {
    op->derived_flops = *cost.flops;
    op->derived_bytes = cost.bytes.value_or(0);
    op->replaced_flops = stated_flops;
    op->place.flop_rate_gflops = *cost.flops / time_ns;
    if (op->derived_bytes > 0) op->place.intensity = *cost.flops / op->derived_bytes;
    Replace(row, peak_gflops_,
            stated_flops > 0 ? std::optional(*cost.flops / stated_flops) : std::nullopt,
            &op->place);
    return;
  }
  op->provenance = Provenance::kOpaqueCustomCall;
  op->replaced_flops = stated_flops;
  op->place.bound_by = kOpaque;
  op->place.compute = 0;
  op->place.roofline = op->place.memory;
  op->place.intensity = 0;
  op->place.bottleneck_intensity = 0;
  op->place.optimal_gflops = 0;
}

void Roofline::CollectOperations() {
  if (const Result<ToolResult> profile = context_.Ask("op_profile"); profile.ok()) {
    expressions_ = OpExpressions(profile->document);
  }
  // The table says everything twice: with and without infeed and outfeed.
  std::set<std::pair<int64_t, std::string>> seen;
  for (size_t row = 1; row < table_.rows().size(); ++row) {
    const TableRow cells(table_, row);
    if (cells.Number("total_self_time") <= 0) continue;
    const auto rank = static_cast<int64_t>(cells.Number("rank"));
    if (!seen.emplace(rank, cells.Text("operation")).second) continue;
    operations_.push_back(OperationOf(row));
  }
  std::ranges::stable_sort(operations_, std::greater(), [](const Operation& op) {
    return RoundTo(op.self_time_us / 1000.0, 3);
  });
  has_opaque_ = std::ranges::any_of(operations_, [](const Operation& op) {
    return op.provenance == Provenance::kOpaqueCustomCall;
  });
}

void Roofline::ReplaceProgram() {
  double derived_flops = 0;
  double derived_bytes = 0;
  double replaced_flops = 0;
  double self_time_us = 0;
  for (const Operation& op : operations_) {
    derived_flops += op.derived_flops;
    derived_bytes += op.derived_bytes;
    replaced_flops += op.replaced_flops;
    self_time_us += op.self_time_us;
  }
  if (derived_flops <= 0) {
    if (!has_opaque_) return;
    provenance_ = "opaque_custom_call";
    if (place_.bound_by == "Unknown") place_.bound_by = kOpaque;
    return;
  }
  const double total_us = program_.Number("total_time");
  const double time_ns = (total_us > 0 ? total_us : self_time_us) * 1000.0;
  if (time_ns <= 0) return;
  const double stated = program_.Number(rate_column_) * time_ns;
  const double tolerance = kRelativeTolerance * stated;
  const bool inconsistent = replaced_flops - stated > tolerance;
  double modelled = std::max(0.0, stated - replaced_flops);
  if (modelled <= tolerance) modelled = 0;
  const double flops = modelled + derived_flops;
  const std::optional<double> scale = stated > 0 ? std::optional(flops / stated) : std::nullopt;
  derived_fraction_ = derived_flops / flops;
  provenance_ = modelled > 0 || inconsistent || has_opaque_ ? "mixed" : "derived_from_shapes";
  place_.flop_rate_gflops = flops / time_ns;
  const double bandwidth = program_.Number("measured_memory_bw");
  if (bandwidth > 0) {
    place_.intensity = place_.flop_rate_gflops / (bandwidth * kGibiPerGiga);
  } else if (place_.intensity > 0 && scale) {
    place_.intensity *= *scale;
  } else if (provenance_ == "derived_from_shapes" && derived_bytes > 0) {
    place_.intensity = flops / derived_bytes;
  }
  Replace(program_, peak_gflops_, scale, &place_);
  replaced_ = true;
}

std::string Roofline::SpaceUtilization(std::string_view space) const {
  const std::string bandwidth = std::string(space) + "_bw";
  const double stated = program_.Number(bandwidth + "_utilization");
  if (stated > 0) return PercentText(stated);
  const double peak = NumberIn(device_, "peak_" + bandwidth + "_gibs");
  if (peak > 0) return PercentText(program_.Number(bandwidth) / peak);
  return "N/A";
}

Value Roofline::RidgeOf(std::string_view bound_by) const {
  const SpaceColumns* space = SpaceOf(bound_by);
  if (space == nullptr || space->ridge.empty() || device_.Find(space->ridge) == nullptr) {
    return Value::Null();
  }
  return Value::Double(RoundTo(NumberIn(device_, space->ridge), 4));
}

void SetPlacement(const Placement& place, Value* value) {
  value->Set("operational_intensity_flop_per_byte", Value::Double(RoundTo(place.intensity, 4)));
  value->Set("bottleneck_operational_intensity_flop_per_byte",
             Value::Double(RoundTo(place.bottleneck_intensity, 4)));
  value->Set("roofline_efficiency_percent", Value::String(PercentText(place.roofline)));
  value->Set("compute_efficiency_percent", Value::String(PercentText(place.compute)));
  value->Set("max_mem_bw_utilization_percent", Value::String(PercentText(place.memory)));
  value->Set("optimal_flop_rate_gflops", Value::Double(RoundTo(place.optimal_gflops, 2)));
}

void SetRoofValues(const Placement& place, Value* value) {
  value->Set("roofline_efficiency_value", Value::Double(RoundTo(place.roofline * 100, 4)));
  value->Set("compute_efficiency_value", Value::Double(RoundTo(place.compute * 100, 4)));
  value->Set("max_mem_bw_utilization_value", Value::Double(RoundTo(place.memory * 100, 4)));
}

Value Roofline::ProgramValue() const {
  Value value = Value::Object();
  value.Set("bound_by", Value::String(place_.bound_by));
  value.Set("bound_by_ridge_point_flop_per_byte", RidgeOf(place_.bound_by));
  SetPlacement(place_, &value);
  value.Set("dma_stall_percent", Value::String(PercentText(program_.Number("dma_stall_percent"))));
  value.Set("measured_flop_rate_gflops", Value::Double(RoundTo(place_.flop_rate_gflops, 2)));
  value.Set("model_flop_rate_gflops",
            Value::Double(RoundTo(program_.Number("model_flop_rate"), 2)));
  value.Set("measured_memory_bw_gibs",
            Value::Double(RoundTo(program_.Number("measured_memory_bw"), 2)));
  value.Set("hbm_bw_gibs", Value::Double(RoundTo(program_.Number("hbm_bw"), 2)));
  for (const std::string_view space :
       {"hbm", "cmem_read", "cmem_write", "vmem_read", "vmem_write"}) {
    value.Set(std::string(space) + "_bw_utilization_percent",
              Value::String(SpaceUtilization(space)));
  }
  value.Set("total_time_ms", Value::Double(RoundTo(program_.Number("total_time") / 1000.0, 3)));
  value.Set("flops_provenance", Value::String(provenance_));
  value.Set("has_opaque_custom_calls", Value::Bool(has_opaque_));
  value.Set("derived_flops_fraction", Value::Double(RoundTo(derived_fraction_, 4)));
  if (replaced_) {
    value.Set("bound_by_provenance", Value::String("recomputed_from_derived_custom_call_flops"));
  }
  SetRoofValues(place_, &value);
  Value& meaning = value.Set("metric_semantics", Value::Object());
  meaning.Set("measured_memory_bw_gibs",
              Value::String("Bytes of all memory spaces over time; may exceed the HBM peak. "
                            "Compare hbm_bw_gibs with that."));
  meaning.Set("bound_by", Value::String("The resource used most. Check it by "
                                        "bottleneck_operational_intensity_flop_per_byte against "
                                        "bound_by_ridge_point_flop_per_byte."));
  meaning.Set("operational_intensity_flop_per_byte",
              Value::String("Over the bytes of all memory spaces, so at most the bottleneck's."));
  meaning.Set("derived_flops_fraction",
              Value::String("Part of the operations that comes from shapes of custom calls."));
  return value;
}

// The file and line out of XProf's HTML cell.
std::string SourceText(const std::string& cell) {
  const size_t title = cell.find("title=");
  if (title != std::string::npos && title + 7 < cell.size()) {
    const char quote = cell[title + 6];
    const size_t end = cell.find(quote, title + 7);
    if ((quote == '\'' || quote == '"') && end != std::string::npos && end > title + 7) {
      std::string stack = cell.substr(title + 7, end - title - 7);
      std::string shown;
      for (const char c : stack) shown += c == '\n' ? " -> " : std::string(1, c);
      return shown;
    }
  }
  std::string text;
  bool in_tag = false;
  for (const char c : cell) {
    if (c == '<') in_tag = true;
    if (!in_tag) text += c;
    if (c == '>') in_tag = false;
  }
  return std::string(Trimmed(text));
}

Value Roofline::OperationValue(const Operation& op) const {
  const TableRow row(table_, op.row);
  Value value = Value::Object();
  value.Set("rank", Value::Int64(static_cast<int64_t>(row.Number("rank"))));
  value.Set("name", Value::String(op.name));
  value.Set("category", Value::String(row.Text("category")));
  value.Set("total_self_time_ms", Value::Double(RoundTo(op.self_time_us / 1000.0, 3)));
  value.Set("total_self_time_percent",
            Value::String(PercentText(row.Number("total_self_time_percent"))));
  SetPlacement(op.place, &value);
  value.Set("dma_stall_percent", Value::String(PercentText(row.Number("dma_stall_percent"))));
  value.Set("bound_by", Value::String(op.place.bound_by));
  value.Set("flops_provenance", Value::String(ProvenanceName(op.provenance)));
  value.Set("hlo_module_id", Value::String(row.Text("hlo_module_id")));
  value.Set("source_info", Value::String(SourceText(row.Text("source_info"))));
  SetRoofValues(op.place, &value);
  return value;
}

Value Roofline::Document() {
  CollectOperations();
  ReplaceProgram();
  const double share = CustomCallSharePercent(table_);
  constexpr double kWarnSharePercent = 10.0;
  Value document = Value::Object();
  document.Set("program", ProgramValue());
  document.Set("device_info", std::move(device_));
  Value& top = document.Set("top_operations", Value::List());
  const size_t limit = LimitOf(context_.options().Integer("top_n"), operations_.size());
  for (size_t i = 0; i < limit; ++i) top.Add(OperationValue(operations_[i]));
  document.Set("total_operations_analyzed", Value::Int64(static_cast<int64_t>(operations_.size())));
  if (has_opaque_ || share >= kWarnSharePercent) {
    document.Set("custom_call_share_pct", Value::Double(share));
    document.Set("custom_call_warning", Value::String(CustomCallWarning(share)));
    document.Set("guidance", Value::String("Look at opaque kernels with aggregate_xplane_events, "
                                           "get_kernel_utilization and get_llo_analysis instead."));
  }
  return document;
}

Result<ToolResult> RunGetRooflineModel(const ToolQuestion& question, ToolInput& input,
                                       const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(ToolResult roofline, context.Ask("roofline_model"));
  ToolResult result;
  if (roofline.tables.empty()) {
    result = DocumentResult(NoData("The session has no roofline."));
  } else if (roofline.tables[0].rows().empty()) {
    Value document = NoData("The roofline has no rows: no device op has a cost.");
    document.Set("device_info", DeviceInformation(roofline.tables[0]));
    result = DocumentResult(std::move(document));
  } else {
    result = DocumentResult(Roofline(context, roofline.tables[0]).Document());
  }
  result.notices = std::move(roofline.notices);
  result.partial = roofline.partial;
  return result;
}

}  // namespace

Value DeviceInformation(const Table& roofline) {
  Value device = Value::Object();
  Value units = Value::Object();
  for (const auto& [name, text] : roofline.properties()) {
    const bool bandwidth = name.starts_with("peak_") && name.ends_with("_bw");
    const std::string shown = bandwidth ? name + "_gibs" : name;
    double number = 0;
    device.Set(shown, ParseNumberText(text, &number) ? Value::Double(number) : Value::String(text));
    if (bandwidth) units.Set(shown, Value::String("GiB/s"));
    if (name == "peak_flop_rate") units.Set(shown, Value::String("GFLOP/s"));
    if (name.ends_with("ridge_point")) units.Set(shown, Value::String("FLOP/byte"));
  }
  if (!units.names().empty()) device.Set("units", std::move(units));
  return device;
}

double CustomCallSharePercent(const Table& roofline) {
  if (roofline.rows().empty()) return 0;
  const Cell* total = TableRow(roofline, 0).Find("total_self_time_percent");
  const bool fractions =
      total == nullptr || TableRow(roofline, 0).Number("total_self_time_percent") <= 1.0 + 1e-6;
  double share = 0;
  std::set<std::pair<int64_t, std::string>> seen;
  for (size_t i = 1; i < roofline.rows().size(); ++i) {
    const TableRow row(roofline, i);
    const std::string name = row.Text("operation");
    const std::string category = AsciiLower(row.Text("category"));
    if (!name.starts_with("custom-call") && category != "custom-call" &&
        category != "custom_call") {
      continue;
    }
    if (!seen.emplace(static_cast<int64_t>(row.Number("rank")), name).second) continue;
    share += row.Number("total_self_time_percent") * (fractions ? 100.0 : 1.0);
  }
  return std::min(RoundTo(share, 2), 100.0);
}

std::string CustomCallWarning(double share_percent) {
  return FixedText(share_percent, 2) +
         "% of device self time is in custom calls. XLA cannot see into them and counts no "
         "operations, so 0 FLOP/s there does not mean idle hardware: ask get_kernel_utilization "
         "or get_llo_static_analysis about those kernels.";
}

ToolDescriptor MakeGetRooflineModelTool() {
  ToolDescriptor tool =
      AgentTool("get_roofline_model", "Roofline for agents", "What bounds the program and its ops?",
                {{.name = "top_n",
                  .type = OptionType::kInteger,
                  .default_value = "15",
                  .description = "How many operations to list."},
                 {.name = "group_by",
                  .default_value = "program",
                  .description = "Accepted for compatibility; has no effect."}});
  tool.run = RunGetRooflineModel;
  return tool;
}

}  // namespace strobe::tools
