#include "src/tools/agent_counters.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace strobe::tools {
namespace {

// Counters that could not be read are all ones.
constexpr double kAllOnes = 18446744073709551615.0;
constexpr double kAllOnesFloor = kAllOnes * 0.999;

struct Usage {
  double percent = 0;
  double busiest_percent = 0;  // of any one sample
  int64_t samples = 0;
};

std::optional<Usage> UsageOf(const std::vector<TableRow>& rows) {
  double achieved = 0;
  double peak = 0;
  Usage usage;
  for (const TableRow& row : rows) {
    const double one = row.Number("achieved");
    const double most = row.Number("peak");
    if (one >= kAllOnesFloor || most >= kAllOnesFloor || most < 0) continue;
    ++usage.samples;
    achieved += one;
    peak += most;
    if (most > 0) usage.busiest_percent = std::max(usage.busiest_percent, one * 100.0 / most);
  }
  if (usage.samples == 0 || (peak <= 0 && achieved != 0)) return std::nullopt;
  usage.percent = peak > 0 ? RoundTo(achieved * 100.0 / peak, 2) : 0;
  usage.busiest_percent = peak > 0 ? RoundTo(usage.busiest_percent, 2) : 0;
  return usage;
}

class Utilization {
 public:
  explicit Utilization(std::map<std::string, std::vector<TableRow>> rows)
      : rows_(std::move(rows)) {}

  Value Document() const;

 private:
  // Of the first of the names that has rows, alone or as "NAME - core N".
  std::optional<double> PercentOf(std::initializer_list<std::string_view> names) const;
  // Mean over "PREFIX0", "PREFIX1" ...
  std::vector<double> Numbered(std::string_view prefix) const;
  std::optional<double> Mxu() const;
  double Idleness() const;

  const std::map<std::string, std::vector<TableRow>> rows_;
};

std::optional<double> Utilization::PercentOf(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    std::vector<TableRow> all;
    for (const auto& [known, rows] : rows_) {
      if (known == name || known.starts_with(std::string(name) + " - core ")) {
        for (const TableRow& row : rows) all.push_back(row);
      }
    }
    if (all.empty()) continue;
    const std::optional<Usage> usage = UsageOf(all);
    return usage ? std::optional(usage->percent) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<double> Utilization::Numbered(std::string_view prefix) const {
  std::vector<double> percents;
  for (const auto& [name, rows] : rows_) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    if (name.find_first_not_of("0123456789", prefix.size()) != std::string::npos) continue;
    if (const std::optional<double> percent = PercentOf({name})) percents.push_back(*percent);
  }
  return percents;
}

std::optional<double> Utilization::Mxu() const {
  if (const std::optional<double> average = PercentOf({"Avg MXU Busy"})) return average;
  const std::vector<double> all = Numbered("MXU");
  return all.empty() ? std::nullopt : std::optional(RoundTo(MeanOf(all), 2));
}

double Utilization::Idleness() const {
  if (const std::optional<double> idle = PercentOf({"No MXU Busy"})) return *idle;
  const std::vector<double> all = Numbered("MXU");
  if (!all.empty()) return std::max(0.0, RoundTo(100 - std::ranges::max(all), 2));
  const std::optional<double> average = PercentOf({"Avg MXU Busy"});
  return average ? RoundTo(100 - *average, 2) : 100.0;
}

Value Utilization::Document() const {
  Value document = Value::Object();
  const auto set = [&](std::string_view name, const std::optional<double>& percent) {
    if (percent) document.Set(std::string(name) + "_percent", Value::Double(*percent));
  };
  const std::vector<double> xlu = Numbered("XLU");
  set("hbm_bandwidth_utilization", PercentOf({"HBM Rd+Wr (per chip)", "HBM Rd+Wr"}));
  set("ici_read_utilization", PercentOf({"ICI (Read)"}));
  set("ici_write_utilization", PercentOf({"ICI (Write)"}));
  set("vector_alu_utilization", PercentOf({"Vector ALUs"}));
  set("scalar_unit_utilization", PercentOf({"Scalar Unit"}));
  set("vmem_cmem_stores_utilization", PercentOf({"Vmem Stores", "Vmem/Cmem Stores"}));
  set("vmem_loads_utilization", PercentOf({"Vmem Loads"}));
  set("cmem_loads_utilization", PercentOf({"Cmem Loads"}));
  set("xlu_utilization",
      xlu.empty() ? std::nullopt : std::optional<double>(RoundTo(MeanOf(xlu), 2)));
  set("mxu_utilization", Mxu());
  set("idleness", Idleness());
  Value metrics = Value::Object();
  Value busiest = Value::Object();
  int64_t samples = 0;
  for (const auto& [name, rows] : rows_) {
    const std::optional<Usage> usage = UsageOf(rows);
    if (!usage) continue;
    metrics.Set(name, Value::Double(usage->percent));
    busiest.Set(name, Value::Double(usage->busiest_percent));
    samples = std::max(samples, usage->samples);
  }
  Value& window = document.Set("measurement_window", Value::Object());
  window.Set("basis", Value::String("whole_capture"));
  window.Set("samples_per_metric", Value::Int64(samples));
  window.Set("aggregation", Value::String("cycle_weighted_sum_achieved_over_sum_peak"));
  window.Set("note", Value::String("Over the whole capture with the time between kernels; "
                                   "peak_sample_percent is the busiest single sample."));
  window.Set("for_per_kernel_utilization_use", Value::String("get_kernel_utilization"));
  document.Set("metrics", std::move(metrics));
  document.Set("peak_sample_percent", std::move(busiest));
  return document;
}

Result<ToolResult> RunGetUtilizationViewer(const ToolQuestion& question, ToolInput& input,
                                           const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(ToolResult viewer, context.Ask("utilization_viewer"));
  if (viewer.tables.empty() || viewer.tables[0].rows().empty()) {
    return DocumentResult(NoData("The profile has no hardware performance counters."), viewer);
  }
  const Table& table = viewer.tables[0];
  const auto host = static_cast<double>(question.options.Integer("host_index"));
  const auto device = static_cast<double>(question.options.Integer("device"));
  const auto node = static_cast<double>(question.options.Integer("node"));
  std::map<std::string, std::vector<TableRow>> rows;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    const TableRow row(table, i);
    if (row.Number("host") != host || row.Number("device") != device ||
        row.Number("node") != node) {
      continue;
    }
    if (const std::string name = row.Text("name"); !name.empty()) rows[name].push_back(row);
  }
  if (rows.empty()) {
    return DocumentResult(NoData("There are counters, but none of host " + FixedText(host, 0) +
                                 ", device " + FixedText(device, 0) + ", node " +
                                 FixedText(node, 0) + "."));
  }
  return DocumentResult(Utilization(std::move(rows)).Document());
}

// ---- get_perf_counters ----

struct CounterRow {
  TableRow row;
  uint64_t value = 0;
};

// The hexadecimal text is exact, the number beside it is not.
uint64_t CounterValue(const TableRow& row) {
  const Cell* cell = row.Find("Value");
  if (cell == nullptr) return 0;
  const std::string& text = cell->formatted;
  uint64_t value = 0;
  if (text.starts_with("0x")) {
    const auto [end, error] =
        std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error == std::errc() && end == text.data() + text.size()) return value;
  }
  const double number = row.Number("Value");
  if (number <= 0) return 0;
  return number >= kAllOnes ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(number);
}

std::string HexText(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

struct CounterFilters {
  Pattern kernel = {};
  Pattern counter = {};
  Pattern set = {};
  std::string chip = {};
  bool non_zero_only = true;

  bool Passes(const CounterRow& counter_row) const {
    const TableRow& row = counter_row.row;
    if (non_zero_only &&
        (counter_row.value == 0 || counter_row.value == std::numeric_limits<uint64_t>::max())) {
      return false;
    }
    return (chip.empty() || row.Text("Chip") == chip) && kernel.Found(row.Text("Kernel")) &&
           (counter.Found(row.Text("Counter")) || counter.Found(row.Text("Description"))) &&
           set.Found(row.Text("Set"));
  }
};

Value CounterRowValue(const CounterRow& counter) {
  Value value = Value::Object();
  value.Set("host", Value::String(counter.row.Text("Host")));
  value.Set("chip", Value::Int64(static_cast<int64_t>(counter.row.Number("Chip"))));
  value.Set("kernel", Value::String(counter.row.Text("Kernel")));
  value.Set("sample", Value::Int64(static_cast<int64_t>(counter.row.Number("Sample"))));
  value.Set("counter", Value::String(counter.row.Text("Counter")));
  value.Set("value", Value::Uint64(counter.value));
  value.Set("value_hex", Value::String(HexText(counter.value)));
  value.Set("description", Value::String(counter.row.Text("Description")));
  value.Set("set", Value::String(counter.row.Text("Set")));
  return value;
}

struct CounterCensus {
  int64_t non_zero = 0;
  int64_t all_ones = 0;
  std::set<std::string> hosts;
  std::set<int64_t> chips;
  std::set<std::string> kernels;
  std::set<std::string> counters;

  void Add(const CounterRow& counter) {
    const bool ones = counter.value == std::numeric_limits<uint64_t>::max();
    all_ones += ones ? 1 : 0;
    non_zero += !ones && counter.value > 0 ? 1 : 0;
    if (const std::string host = counter.row.Text("Host"); !host.empty()) hosts.insert(host);
    chips.insert(static_cast<int64_t>(counter.row.Number("Chip")));
    if (const std::string text = counter.row.Text("Kernel"); !text.empty()) kernels.insert(text);
    if (const std::string text = counter.row.Text("Counter"); !text.empty()) counters.insert(text);
  }
};

Result<ToolResult> RunGetPerfCounters(const ToolQuestion& question, ToolInput& input,
                                      const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  const ToolOptions& options = question.options;
  CounterFilters filters{.chip = options.Text("chip_id"),
                         .non_zero_only = options.Flag("non_zero_only")};
  STROBE_ASSIGN_OR_RETURN(filters.kernel, Pattern::Compile(options.Text("kernel_filter"), true));
  STROBE_ASSIGN_OR_RETURN(filters.counter, Pattern::Compile(options.Text("counter_filter"), true));
  STROBE_ASSIGN_OR_RETURN(filters.set, Pattern::Compile(options.Text("set_filter"), true));
  STROBE_ASSIGN_OR_RETURN(ToolResult counters, context.Ask("perf_counters"));
  const Table none;
  const Table& table = counters.tables.empty() ? none : counters.tables[0];
  CounterCensus census;
  std::vector<CounterRow> matched;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    CounterRow counter{.row = TableRow(table, i)};
    counter.value = CounterValue(counter.row);
    census.Add(counter);
    if (filters.Passes(counter)) matched.push_back(counter);
  }
  std::vector<size_t> order(matched.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) {
    const CounterRow& counter = matched[i];
    return std::tuple(counter.value != std::numeric_limits<uint64_t>::max(), counter.value,
                      counter.row.Text("Counter"), counter.row.Text("Kernel"));
  });
  const int64_t limit = options.Integer("limit");
  const size_t shown = limit < 0 ? LimitOf(0, order.size())
                                 : std::min(static_cast<size_t>(limit), LimitOf(0, order.size()));
  Value document = Value::Object();
  document.Set("status", Value::String(table.rows().empty() ? "NO_PERF_COUNTERS" : "OK"));
  Value& summary = document.Set("summary", Value::Object());
  const auto count = [&](std::string_view name, size_t number) {
    summary.Set(name, Value::Int64(static_cast<int64_t>(number)));
  };
  count("total_rows", table.rows().size());
  summary.Set("non_zero_rows", Value::Int64(census.non_zero));
  summary.Set("sentinel_all_ones_rows", Value::Int64(census.all_ones));
  count("matched_rows", matched.size());
  count("returned_rows", shown);
  count("unique_kernels", census.kernels.size());
  count("unique_counters", census.counters.size());
  Value& hosts = summary.Set("hosts", Value::List());
  for (const std::string& host : census.hosts) hosts.Add(Value::String(host));
  Value& chips = summary.Set("chips", Value::List());
  for (const int64_t chip : census.chips) chips.Add(Value::Int64(chip));
  Value& list = document.Set("counters", Value::List());
  for (size_t i = 0; i < shown; ++i) list.Add(CounterRowValue(matched[order[i]]));
  return DocumentResult(std::move(document), counters);
}

// ---- get_kernel_utilization ----

void Clamp(Value* value) { *value = Value::Double(std::clamp(value->AsNumber(), 0.0, 100.0)); }

// Keeps percentages within 0 and 100, and what is said to be idle equal to what is not busy.
void Normalize(Value* kernel) {
  double mxu = 0;
  Value* metrics = nullptr;
  for (size_t i = 0; i < kernel->names().size(); ++i) {
    if (kernel->names()[i] == "mxu_utilization") {
      Clamp(&kernel->items()[i]);
      mxu = kernel->items()[i].AsNumber();
    }
    if (kernel->names()[i] == "other_metrics") metrics = &kernel->items()[i];
  }
  if (metrics == nullptr) return;
  for (Value& metric : metrics->items()) Clamp(&metric);
  mxu = std::max(mxu, NumberIn(*metrics, "Avg MXU Busy"));
  double xlu = NumberIn(*metrics, "Avg XLU Busy");
  if (metrics->Find("Avg XLU Busy") == nullptr) {
    xlu =
        std::min(100.0, 0.5 * NumberIn(*metrics, "1 XLU Busy") + NumberIn(*metrics, "2 XLUs Busy"));
  }
  if (metrics->Find("No MXU Busy") != nullptr) {
    metrics->Set("No MXU Busy", Value::Double(100 - mxu));
  }
  if (metrics->Find("No XLU Busy") != nullptr) {
    metrics->Set("No XLU Busy", Value::Double(100 - xlu));
  }
}

Result<ToolResult> RunGetKernelUtilization(const ToolQuestion& question, ToolInput& input,
                                           const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  std::map<std::string, std::string> options;
  for (const auto& [ours, theirs] :
       {std::pair{"kernel_name", "kernel"}, std::pair{"duration_us", "duration_us"},
        std::pair{"force_duration", "force_duration"}, std::pair{"device", "device_id"}}) {
    if (const std::string& text = question.options.Text(ours); !text.empty()) {
      options[theirs] = text;
    }
  }
  STROBE_ASSIGN_OR_RETURN(ToolResult result, context.Ask("kernel_utilization", options));
  for (size_t i = 0; i < result.document.names().size(); ++i) {
    if (result.document.names()[i] != "devices") continue;
    for (Value& device : result.document.items()[i].items()) {
      for (size_t j = 0; j < device.names().size(); ++j) {
        if (device.names()[j] != "kernels") continue;
        for (Value& kernel : device.items()[j].items()) Normalize(&kernel);
      }
    }
  }
  result.shape = ToolResult::Shape::kDocument;
  return result;
}

}  // namespace

ToolDescriptor MakeGetUtilizationViewerTool() {
  ToolDescriptor tool = AgentTool("get_utilization_viewer", "Unit utilization for agents",
                                  "How busy were the device's units?",
                                  {{.name = "host_index",
                                    .type = OptionType::kInteger,
                                    .default_value = "0",
                                    .description = "Number of the host in the table of counters."},
                                   {.name = "device",
                                    .type = OptionType::kInteger,
                                    .default_value = "0",
                                    .description = "Number of the device on that host."},
                                   {.name = "node",
                                    .type = OptionType::kInteger,
                                    .default_value = "0",
                                    .description = "Number of the core of that device."}});
  tool.scope = HostScope::kOneHost;
  tool.run = RunGetUtilizationViewer;
  return tool;
}

ToolDescriptor MakeGetPerfCountersTool() {
  ToolDescriptor tool = AgentTool(
      "get_perf_counters", "Counters for agents", "What did the hardware counters say?",
      {{.name = "kernel_filter", .description = "Found in kernel names, in any case."},
       {.name = "counter_filter", .description = "Found in counter names or descriptions."},
       {.name = "set_filter", .description = "Found in the names of counter sets."},
       {.name = "chip_id", .description = "Only this chip."},
       {.name = "non_zero_only",
        .type = OptionType::kBoolean,
        .default_value = "true",
        .description = "Leave out zeros and values that could not be read."},
       {.name = "limit",
        .type = OptionType::kInteger,
        .default_value = "50",
        .description = "How many; less than 0: all."}});
  tool.run = RunGetPerfCounters;
  return tool;
}

ToolDescriptor MakeGetKernelUtilizationTool() {
  ToolDescriptor tool = AgentTool(
      "get_kernel_utilization", "Kernel utilization for agents",
      "How well did each kernel use the device's units?",
      {{.name = "kernel_name", .description = "Only this kernel."},
       {.name = "duration_us", .description = "Its length, where the counters do not say."},
       {.name = "force_duration",
        .type = OptionType::kBoolean,
        .default_value = "false",
        .description = "Use that length even if the counters say another."},
       {.name = "device", .description = "Only this device."}});
  tool.aliases = {"compute_utilization"};
  tool.scope = HostScope::kOneHost;
  tool.run = RunGetKernelUtilization;
  return tool;
}

}  // namespace strobe::tools
