#include "src/tools/inference_profile.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "src/tools/inference_stats.h"
#include "src/tools/step_texts.h"

namespace strobe::tools {
namespace {

double Milliseconds(int64_t ps) { return static_cast<double>(ps) / 1e9; }

// Percentiles that are shown of many requests: [at, at + width).
struct WantedPercentile {
  double at;
  double width;
};
constexpr WantedPercentile kWanted[] = {{50, 1},   {75, 1},      {90, 1},
                                        {99, 0.5}, {99.9, 0.05}, {99.99, 0.005}};
constexpr size_t kMaxPerPercentile = 10;
constexpr size_t kMaxShownWhole = std::size(kWanted) * kMaxPerPercentile;

template <typename T>
struct Sample {
  const T* one;
  double percentile;
};

template <typename T>
std::vector<Sample<T>> Choose(const std::vector<const T*>& sorted) {
  std::vector<Sample<T>> samples;
  const auto percentile = [&](size_t i) {
    return 100.0 * static_cast<double>(i) / static_cast<double>(sorted.size());
  };
  if (sorted.size() <= kMaxShownWhole) {
    for (size_t i = 0; i < sorted.size(); ++i) samples.push_back({sorted[i], percentile(i)});
    return samples;
  }
  for (const WantedPercentile& wanted : kWanted) {
    size_t taken = 0;
    for (size_t i = 0; i < sorted.size() && taken < kMaxPerPercentile; ++i) {
      const double here = percentile(i);
      if (here < wanted.at || here >= wanted.at + wanted.width) continue;
      samples.push_back({sorted[i], here});
      ++taken;
    }
  }
  return samples;
}

template <typename T>
struct SortColumn {
  std::string_view label;
  double (*value)(const T&);
};

constexpr SortColumn<InferenceRequest> kRequestColumns[] = {
    {"Latency", [](const InferenceRequest& r) { return Milliseconds(r.latency_ps()); }},
    {"Request delay for batching",
     [](const InferenceRequest& r) { return Milliseconds(r.batching_delay_ps); }},
    {"Request size",
     [](const InferenceRequest& r) { return static_cast<double>(r.batching_size); }},
    {"Host preprocess", [](const InferenceRequest& r) { return Milliseconds(r.preprocessing_ps); }},
    {"Host batch formation",
     [](const InferenceRequest& r) { return Milliseconds(r.batch_formation_ps); }},
    {"Host runtime", [](const InferenceRequest& r) { return Milliseconds(r.runtime_ps); }},
    {"Data transfer H2D", [](const InferenceRequest& r) { return Milliseconds(r.write_ps); }},
    {"Data transfer D2H", [](const InferenceRequest& r) { return Milliseconds(r.read_ps); }},
    {"Device compute", [](const InferenceRequest& r) { return Milliseconds(r.device_ps); }},
    {"Host postprocess",
     [](const InferenceRequest& r) { return Milliseconds(r.postprocessing_ps); }},
    {"Idle time", [](const InferenceRequest& r) { return Milliseconds(r.idle_ps); }},
};

constexpr SortColumn<InferenceBatch> kBatchColumns[] = {
    {"Latency", [](const InferenceBatch& b) { return Milliseconds(b.latency_ps()); }},
    {"Batching delay", [](const InferenceBatch& b) { return Milliseconds(b.delay_ps); }},
    {"Padding amount", [](const InferenceBatch& b) { return static_cast<double>(b.padding); }},
    {"Batch size after padding",
     [](const InferenceBatch& b) { return static_cast<double>(b.size_after_padding); }},
    {"Batching efficiency", [](const InferenceBatch& b) { return b.Efficiency(); }},
};

// By the column of that label; an unknown label is the latency, in which order they come.
template <typename T, size_t N>
std::vector<const T*> SortedBy(const std::vector<T>& all, std::string_view label,
                               const SortColumn<T> (&columns)[N]) {
  std::vector<const T*> sorted;
  for (const T& one : all) sorted.push_back(&one);
  for (const SortColumn<T>& column : columns) {
    if (column.label != label || label == "Latency") continue;
    std::ranges::stable_sort(sorted, [&](const T* left, const T* right) {
      return column.value(*left) < column.value(*right);
    });
  }
  return sorted;
}

Column Time(std::string_view id, std::string_view label, std::string_view what) {
  return {.id = std::string(id),
          .label = std::string(label),
          .unit = "ms",
          .description = std::string(what)};
}

std::string HostName(const ToolInput& input, size_t host) {
  return host < input.hosts().size() ? input.hosts()[host].name : std::string();
}

class RequestTable {
 public:
  RequestTable(const ToolInput& input, bool batching, const ModelInference& model)
      : input_(input), batching_(batching), table_("requests", "Requests of " + model.name) {
    table_.SetProperty("throughput", FixedDigits(model.request_throughput, 1));
    table_.SetProperty("averageLatencyMs", FixedDigits(model.average_latency_us / 1e3, 3));
    table_.AddColumn(TextColumn("percentile", "Percentile"));
    table_.AddColumn(TextColumn("request_id", "Request ID"));
    table_.AddColumn(Time("latency_ms", "Latency", "First to last host event of the request."));
    if (batching_) {
      table_.AddColumn({.id = "batching_request_size", .label = "Request size", .unit = "count"});
      table_.AddColumn(Time("host_batch_formation", "Host batch formation",
                            "From the request's start to the start of its batch."));
      table_.AddColumn(TextColumn("throughput", "Throughput"));
    }
    table_.AddColumn(
        Time("host_preprocessing", "Host preprocess", "Until the first program is executed."));
    table_.AddColumn(Time("host_runtime", "Host runtime", "From execution to launch."));
    table_.AddColumn(Time("data_transfer_h2d", "Data transfer H2D", "Writes to the device."));
    table_.AddColumn(Time("data_transfer_d2h", "Data transfer D2H", "Reads from the device."));
    table_.AddColumn(Time("device_compute", "Device compute", "Runs of XLA modules."));
    table_.AddColumn(Time("host_postprocess", "Host postprocess",
                          "From the last result of the device to the end."));
    table_.AddColumn(Time("idle time", "Idle time", "Time in which nothing is recorded."));
    table_.AddColumn(TextColumn("trace_viewer_url", "Trace Viewer URL"));
  }

  void Add(const InferenceRequest& request, std::string percentile, std::string throughput) {
    const bool average = request.id < 0;
    std::vector<Cell> row = {Cell(std::move(percentile)),
                             Cell(average ? "N/A" : std::to_string(request.id)),
                             Cell(Milliseconds(request.latency_ps()))};
    if (batching_) {
      row.emplace_back(request.batching_size);
      row.emplace_back(Milliseconds(request.batching_delay_ps));
      row.emplace_back(std::move(throughput));
    }
    for (const int64_t ps :
         {request.preprocessing_ps, request.runtime_ps, request.write_ps, request.read_ps,
          request.device_ps, request.postprocessing_ps, request.idle_ps}) {
      row.emplace_back(Milliseconds(ps));
    }
    row.emplace_back("");
    RowSubject subject;
    if (!average) subject.step = request.id;
    if (!average) subject.host = HostName(input_, request.host);
    table_.AddRow(std::move(row), std::move(subject));
  }
  Table Take() { return std::move(table_); }

 private:
  const ToolInput& input_;
  const bool batching_;
  Table table_;
};

Table MakeRequestTable(const ToolInput& input, const ModelInference& model, bool batching,
                       std::string_view sort_column) {
  RequestTable table(input, batching, model);
  for (const auto& [request, percentile] :
       Choose(SortedBy(model.requests, sort_column, kRequestColumns))) {
    table.Add(*request, FixedDigits(percentile, 3), "N/A");
  }
  for (const BatchSizeTotals& totals : model.by_batch_size) {
    table.Add(totals.request, "Batch size " + std::to_string(totals.batch_size),
              FixedDigits(totals.request_throughput, 1));
  }
  table.Add(model.average_request, "Average", FixedDigits(model.request_throughput, 1));
  return table.Take();
}

void AddBatchRow(const ToolInput& input, const InferenceBatch& batch, std::string percentile,
                 std::string throughput, bool average, Table* table) {
  RowSubject subject;
  if (!average) subject.step = batch.id;
  if (!average) subject.host = HostName(input, batch.host);
  table->AddRow(
      {Cell(std::move(percentile)), Cell(average ? "N/A" : std::to_string(batch.id)),
       Cell(Milliseconds(batch.latency_ps())), Cell(batch.padding), Cell(batch.size_after_padding),
       Cell(batch.Efficiency()), Cell(Milliseconds(batch.delay_ps)), Cell(std::move(throughput)),
       Cell(Milliseconds(batch.device_ps)), Cell("")},
      std::move(subject));
}

void SetBatchingProperties(const InferenceStats& stats, const ModelInference& model, Table* table) {
  table->SetProperty("throughput", FixedDigits(model.batch_throughput, 1));
  table->SetProperty("averageLatencyMs", FixedDigits(model.average_batch_latency_us / 1e3, 3));
  const auto found = stats.parameters.find(model.name);
  table->SetProperty("hasBatchingParam", found == stats.parameters.end() ? "false" : "true");
  if (found == stats.parameters.end()) return;
  const BatchingParameters& parameters = found->second;
  table->SetProperty("batchingParamNumBatchThreads", std::to_string(parameters.num_batch_threads));
  table->SetProperty("batchingParamMaxBatchSize", std::to_string(parameters.max_batch_size));
  table->SetProperty("batchingParamBatchTimeoutMicros",
                     std::to_string(parameters.batch_timeout_micros));
  table->SetProperty("batchingParamMaxEnqueuedBatches",
                     std::to_string(parameters.max_enqueued_batches));
  table->SetProperty("batchingParamAllowedBatchSizes", parameters.allowed_batch_sizes);
}

Table MakeBatchTable(const ToolInput& input, const InferenceStats& stats,
                     const ModelInference& model, std::string_view sort_column) {
  Table table("batches", "Batches of " + model.name);
  table.AddColumn(TextColumn("percentile", "Percentile"));
  table.AddColumn(TextColumn("batch_id", "Batch ID"));
  table.AddColumn(Time("latency", "Latency", "Length of the batch."));
  table.AddColumn({.id = "padding_amount", .label = "Padding amount", .unit = "count"});
  table.AddColumn(
      {.id = "batch_size_after_padding", .label = "Batch size after padding", .unit = "count"});
  table.AddColumn({.id = "batching_efficiency",
                   .label = "Batching efficiency",
                   .unit = "fraction",
                   .description = "Share of the batch that is no padding."});
  table.AddColumn(Time("batching_delay_us", "Batching delay",
                       "From the first request's start to the batch's; milliseconds in spite of "
                       "the column's id."));
  table.AddColumn(TextColumn("throughput", "Throughput"));
  table.AddColumn(Time("device_compute", "Device compute", "Runs of XLA modules."));
  table.AddColumn(TextColumn("trace_viewer_url", "Trace Viewer URL"));
  for (const auto& [batch, percentile] :
       Choose(SortedBy(model.batches, sort_column, kBatchColumns))) {
    AddBatchRow(input, *batch, FixedDigits(percentile, 3), "N/A", false, &table);
  }
  for (const BatchSizeTotals& totals : model.by_batch_size) {
    AddBatchRow(input, totals.batch, "Batch size " + std::to_string(totals.batch_size),
                FixedDigits(totals.batch_throughput, 1), true, &table);
  }
  AddBatchRow(input, model.average_batch, "Aggregated", FixedDigits(model.batch_throughput, 1),
              true, &table);
  SetBatchingProperties(stats, model, &table);
  return table;
}

// XProf computes the same and shows none of it; its page knows the columns id, tensor_pattern,
// count and percentile, the last with all percentiles in one text.
Table MakeTensorTable(const ModelInference& model) {
  constexpr std::pair<double, const char*> kPercentiles[] = {
      {50, "p50"}, {75, "p75"}, {90, "p90"}, {95, "p95"}, {99, "p99"}, {99.9, "p99_9"}};
  Table table("tensor_patterns", "Tensors of " + model.name);
  table.AddColumn({.id = "id", .label = "ID"});
  table.AddColumn(TextColumn("tensor_pattern", "Tensor pattern",
                             "Event, shapes and layout of each tensor that was moved."));
  table.AddColumn({.id = "count",
                   .label = "Number of occurrences",
                   .unit = "count",
                   .description = "Requests with these tensors; with batches, batches."});
  for (const auto& [percentile, id] : kPercentiles) {
    table.AddColumn(NumberColumn(std::string(id) + "_ms",
                                 "Time of " + FixedDigits(percentile, 1) + " %", "ms",
                                 "Laying out and copying, of that share of them at most."));
  }
  for (size_t i = 0; i < model.tensor_patterns.size(); ++i) {
    const TensorPattern& pattern = model.tensor_patterns[i];
    std::vector<Cell> row = {Cell(static_cast<uint64_t>(i)), Cell(pattern.pattern),
                             Cell(static_cast<uint64_t>(pattern.times_ps.size()))};
    for (const auto& [percentile, id] : kPercentiles) {
      row.emplace_back(Milliseconds(pattern.PercentilePs(percentile)));
    }
    table.AddRow(std::move(row));
  }
  return table;
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const InferenceStats stats,
                          MakeInferenceStats(input, question.hosts, cancel));
  const bool batching = stats.HasBatches();
  ToolResult result;
  result.shape = ToolResult::Shape::kTables;
  Table models("models", "Models");
  models.SetProperty("hasBatching", batching ? "true" : "false");
  const bool tensors = stats.HasTensorPatterns() && !question.as_xprof;
  models.SetProperty("hasTensorPattern", tensors ? "true" : "false");
  models.AddColumn(TextColumn("model_name", "Model Name"));
  for (const ModelInference& model : stats.models) models.AddRow({Cell(model.name)});
  result.tables.push_back(std::move(models));
  for (const ModelInference& model : stats.models) {
    result.tables.push_back(
        MakeRequestTable(input, model, batching, question.options.Text("request_column")));
    if (batching) {
      result.tables.push_back(
          MakeBatchTable(input, stats, model, question.options.Text("batch_column")));
    }
    if (tensors) result.tables.push_back(MakeTensorTable(model));
  }
  if (!stats.HasRequests()) {
    result.notices.push_back(
        {Notice::Severity::kInfo, "NO_REQUESTS", "The profile has no serving requests.",
         "Requests are events named SessionRun, RunGraph, BatchingSessionRun, TfrtModelRun or "
         "ServingModelRun, or roots that the program marks with _r = -1."});
  }
  return result;
}

}  // namespace

ToolDescriptor MakeInferenceProfileTool() {
  ToolDescriptor tool;
  tool.id = "inference_profile";
  tool.version = 2;
  tool.title = "Inference profile";
  tool.question = "How long do requests take, and where does their time go?";
  tool.options = {{.name = "request_column",
                   .description = "Label of the column by whose percentiles requests are sampled; "
                                  "empty: latency."},
                  {.name = "batch_column", .description = "The same for batches."}};
  tool.scope = HostScope::kSelection;
  tool.listed_by_xprof = false;
  tool.applies = [](const SessionFacts& facts) {
    Applicability applicability;
    applicability.applies = facts.has_serving_requests;
    if (!applicability.applies) {
      applicability.reason = "The profile has no serving requests.";
      applicability.hint = "Capture while a model server answers requests.";
    }
    return applicability;
  };
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
