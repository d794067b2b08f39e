#include "src/tools/inference_stats.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "src/tools/inference_host.h"

namespace strobe::tools {
namespace {

// Shortest first; of equal ones the earlier.
template <typename T>
void SortByLatency(std::vector<T>* all) {
  std::ranges::stable_sort(*all, [](const T& left, const T& right) {
    if (left.latency_ps() != right.latency_ps()) return left.latency_ps() < right.latency_ps();
    return left.start_ps < right.start_ps;
  });
}

// How many a second between the first start and the last end, and the mean latency.
template <typename T>
void Rate(const std::vector<T>& all, double* throughput, double* average_latency_us) {
  if (all.empty()) return;
  int64_t start_ps = all.front().start_ps;
  int64_t end_ps = all.front().end_ps;
  double latency_ps = 0;
  for (const T& one : all) {
    start_ps = std::min(start_ps, one.start_ps);
    end_ps = std::max(end_ps, one.end_ps);
    latency_ps += static_cast<double>(one.latency_ps());
  }
  const auto count = static_cast<double>(all.size());
  *average_latency_us = latency_ps / 1e6 / count;
  if (end_ps > start_ps) *throughput = count / (static_cast<double>(end_ps - start_ps) / 1e12);
}

void AddTo(const InferenceRequest& from, InferenceRequest* sum) {
  sum->end_ps += from.latency_ps();
  sum->device_ps += from.device_ps;
  sum->write_ps += from.write_ps;
  sum->read_ps += from.read_ps;
  sum->batching_delay_ps += from.batching_delay_ps;
  sum->batching_size += from.batching_size;
  sum->preprocessing_ps += from.preprocessing_ps;
  sum->batch_formation_ps += from.batch_formation_ps;
  sum->runtime_ps += from.runtime_ps;
  sum->postprocessing_ps += from.postprocessing_ps;
  sum->idle_ps += from.idle_ps;
}

InferenceRequest Averaged(InferenceRequest sum, int64_t count) {
  if (count == 0) return InferenceRequest();
  for (int64_t InferenceRequest::* member :
       {&InferenceRequest::end_ps, &InferenceRequest::device_ps, &InferenceRequest::write_ps,
        &InferenceRequest::read_ps, &InferenceRequest::batching_delay_ps,
        &InferenceRequest::batching_size, &InferenceRequest::preprocessing_ps,
        &InferenceRequest::batch_formation_ps, &InferenceRequest::runtime_ps,
        &InferenceRequest::postprocessing_ps, &InferenceRequest::idle_ps}) {
    sum.*member /= count;
  }
  return sum;
}

void AddTo(const InferenceBatch& from, InferenceBatch* sum) {
  sum->end_ps += from.latency_ps();
  sum->delay_ps += from.delay_ps;
  sum->padding += from.padding;
  sum->size_after_padding += from.size_after_padding;
  sum->device_ps += from.device_ps;
}

InferenceBatch Averaged(InferenceBatch sum, int64_t count) {
  if (count == 0) return InferenceBatch();
  for (int64_t InferenceBatch::* member :
       {&InferenceBatch::end_ps, &InferenceBatch::delay_ps, &InferenceBatch::padding,
        &InferenceBatch::size_after_padding, &InferenceBatch::device_ps}) {
    sum.*member /= count;
  }
  return sum;
}

void AggregateByBatchSize(ModelInference* model) {
  struct Totals {
    InferenceRequest request;
    InferenceBatch batch;
    int64_t requests = 0;
    int64_t batches = 0;
  };
  std::map<int64_t, Totals> by_size;
  std::map<int64_t, const InferenceBatch*> by_id;
  for (const InferenceBatch& batch : model->batches) {
    by_id[batch.id] = &batch;
    Totals& totals = by_size[batch.size_after_padding];
    AddTo(batch, &totals.batch);
    ++totals.batches;
  }
  for (const InferenceRequest& request : model->requests) {
    for (const int64_t id : request.batches) {
      const auto batch = by_id.find(id);
      if (batch == by_id.end()) continue;
      Totals& totals = by_size[batch->second->size_after_padding];
      AddTo(request, &totals.request);
      ++totals.requests;
    }
  }
  const auto requests = static_cast<double>(model->requests.size());
  const auto batches = static_cast<double>(model->batches.size());
  for (const auto& [size, totals] : by_size) {
    model->by_batch_size.push_back(
        {.batch_size = size,
         .request = Averaged(totals.request, totals.requests),
         .batch = Averaged(totals.batch, totals.batches),
         .request_throughput = analysis::SafeDivide(
             static_cast<double>(totals.requests) * model->request_throughput, requests),
         .batch_throughput = analysis::SafeDivide(
             static_cast<double>(totals.batches) * model->batch_throughput, batches)});
  }
}

void Finish(ModelInference* model) {
  SortByLatency(&model->requests);
  SortByLatency(&model->batches);
  Rate(model->requests, &model->request_throughput, &model->average_latency_us);
  Rate(model->batches, &model->batch_throughput, &model->average_batch_latency_us);
  for (const InferenceRequest& request : model->requests) AddTo(request, &model->average_request);
  for (const InferenceBatch& batch : model->batches) AddTo(batch, &model->average_batch);
  model->average_request =
      Averaged(model->average_request, static_cast<int64_t>(model->requests.size()));
  model->average_batch =
      Averaged(model->average_batch, static_cast<int64_t>(model->batches.size()));
  AggregateByBatchSize(model);
}

// Puts what a host served under the names of its models. Without any name all is one model; with
// names, what has none is left out.
class ModelTable {
 public:
  explicit ModelTable(const std::vector<HostInference>& hosts) {
    for (const HostInference& host : hosts) named_ |= !host.models.empty();
    if (!named_) models_["ALL"].name = "ALL";
    for (const HostInference& host : hosts) {
      for (const std::string& name : host.models) models_[name].name = name;
    }
  }
  void Add(HostInference host) {
    const auto add_tensors = [&](const auto& one, ModelInference* model) {
      if (one.tensor_pattern < 0) return;
      const std::string& pattern = host.tensor_patterns[static_cast<size_t>(one.tensor_pattern)];
      patterns_[model->name][pattern].push_back(one.tensor_ps);
    };
    for (InferenceRequest& request : host.requests) {
      if (ModelInference* model = Find(host, request.model)) {
        add_tensors(request, model);
        model->requests.push_back(std::move(request));
      }
    }
    for (InferenceBatch& batch : host.batches) {
      if (ModelInference* model = Find(host, batch.model)) {
        add_tensors(batch, model);
        model->batches.push_back(std::move(batch));
      }
    }
  }
  std::vector<ModelInference> Take() {
    std::vector<ModelInference> models;
    for (auto& [name, model] : models_) {
      Finish(&model);
      AddPatterns(&model);
      models.push_back(std::move(model));
    }
    return models;
  }

 private:
  void AddPatterns(ModelInference* model) {
    for (auto& [pattern, times_ps] : patterns_[model->name]) {
      std::ranges::sort(times_ps);
      model->tensor_patterns.push_back({.pattern = pattern, .times_ps = std::move(times_ps)});
    }
    std::ranges::stable_sort(model->tensor_patterns, std::greater(),
                             [](const TensorPattern& one) { return one.times_ps.size(); });
  }

  ModelInference* Find(const HostInference& host, int32_t index) {
    if (!named_) return &models_["ALL"];
    if (index < 0 || static_cast<size_t>(index) >= host.models.size()) return nullptr;
    return &models_[host.models[static_cast<size_t>(index)]];
  }

  bool named_ = false;
  std::map<std::string, ModelInference> models_;
  std::map<std::string, std::map<std::string, std::vector<int64_t>>> patterns_;  // by model
};

}  // namespace

double InferenceBatch::Efficiency() const {
  return analysis::SafeDivide(static_cast<double>(size_after_padding - padding),
                              static_cast<double>(size_after_padding));
}

int64_t TensorPattern::PercentilePs(double percentile) const {
  if (times_ps.empty()) return 0;
  const auto index = static_cast<size_t>(percentile / 100 * static_cast<double>(times_ps.size()));
  return times_ps[std::min(index, times_ps.size() - 1)];
}

bool InferenceStats::HasTensorPatterns() const {
  return std::ranges::any_of(
      models, [](const ModelInference& model) { return !model.tensor_patterns.empty(); });
}

bool InferenceStats::HasRequests() const {
  return std::ranges::any_of(models, [](const ModelInference& m) { return !m.requests.empty(); });
}

bool InferenceStats::HasBatches() const {
  return std::ranges::any_of(models, [](const ModelInference& m) { return !m.batches.empty(); });
}

Result<InferenceStats> MakeInferenceStats(ToolInput& input, std::span<const size_t> hosts,
                                          const CancelToken& cancel) {
  std::vector<HostInference> read;
  InferenceStats stats;
  for (const size_t host : hosts) {
    STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const analysis::PreparedHost> prepared,
                            input.Prepared(host, cancel));
    read.push_back(ReadHostInference(*prepared, host));
    stats.parameters.insert(read.back().parameters.begin(), read.back().parameters.end());
  }
  ModelTable table(read);
  for (HostInference& host : read) table.Add(std::move(host));
  stats.models = table.Take();
  return stats;
}

}  // namespace strobe::tools
