// Requests that a serving program answered: how long each took and where its time went.
//
//   STROBE_ASSIGN_OR_RETURN(InferenceStats stats, MakeInferenceStats(input, hosts, cancel));
//   for (const ModelInference& model : stats.models) model.average.latency_ps();
//
// The rules are XProf's: which events are requests and batches (BatchingSessionRun, TfrtModelRun,
// ServingModelRun, SessionRun and RunGraph, roots that the program marks itself), how a request's
// time is shared out over preprocessing, transfers, device and idling, how models are told apart.
//
// Cost: one pass over the host events; stats of request events only. A profile without requests
// costs the names of its events.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/tools/tool_input.h"

namespace strobe::tools {

struct InferenceRequest {
  int64_t id = -1;  // group; -1: an average
  size_t host = 0;  // index in the session
  int32_t model = 0;
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  int64_t device_ps = 0;
  int64_t write_ps = 0;  // host to device
  int64_t read_ps = 0;   // device to host
  int64_t batching_delay_ps = 0;
  int64_t batching_size = 0;
  int64_t preprocessing_ps = 0;
  int64_t batch_formation_ps = 0;
  int64_t runtime_ps = 0;
  int64_t postprocessing_ps = 0;
  int64_t idle_ps = 0;
  int32_t tensor_pattern = -1;   // of its host; -1: none is known
  int64_t tensor_ps = 0;         // time spent on laying its tensors out and copying them
  std::vector<int64_t> batches;  // sorted
  int64_t latency_ps() const { return end_ps - start_ps; }
};

struct InferenceBatch {
  int64_t id = -1;
  size_t host = 0;
  int32_t model = -1;
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  int64_t delay_ps = 0;
  int64_t padding = 0;
  int64_t size_after_padding = 0;
  int64_t device_ps = 0;
  int32_t tensor_pattern = -1;
  int64_t tensor_ps = 0;
  std::vector<int64_t> requests;  // sorted
  int64_t latency_ps() const { return end_ps - start_ps; }
  double Efficiency() const;
};

struct BatchSizeTotals {
  int64_t batch_size = 0;
  InferenceRequest request;  // averages
  InferenceBatch batch;
  double request_throughput = 0;
  double batch_throughput = 0;
};

struct BatchingParameters {
  int64_t num_batch_threads = 0;
  int64_t max_batch_size = 0;
  int64_t batch_timeout_micros = 0;
  int64_t max_enqueued_batches = 0;
  std::string allowed_batch_sizes;
};

// Which tensors a request or batch moved between host and device: for each event that laid out or
// copied one, its name, shapes and layout.
struct TensorPattern {
  std::string pattern;            // lines, sorted
  std::vector<int64_t> times_ps;  // of each request or batch that had it, shortest first
  // The time below which that share (in percent) of them stays, as XProf picks it.
  int64_t PercentilePs(double percentile) const;
};

struct ModelInference {
  std::string name;
  std::vector<InferenceRequest> requests;  // shortest first
  std::vector<InferenceBatch> batches;     // shortest first
  double request_throughput = 0;           // a second
  double average_latency_us = 0;
  double batch_throughput = 0;
  double average_batch_latency_us = 0;
  InferenceRequest average_request;  // whole picoseconds
  InferenceBatch average_batch;
  std::vector<BatchSizeTotals> by_batch_size;
  // Most often first. With batches theirs alone: those of requests stand in their batch.
  std::vector<TensorPattern> tensor_patterns;
};

struct InferenceStats {
  std::vector<ModelInference> models;  // by name; "ALL" when no model is named
  std::map<std::string, BatchingParameters> parameters;
  bool HasRequests() const;
  bool HasBatches() const;
  bool HasTensorPatterns() const;
};

// Of the hosts given (indices into input.hosts()).
Result<InferenceStats> MakeInferenceStats(ToolInput& input, std::span<const size_t> hosts,
                                          const CancelToken& cancel);

}  // namespace strobe::tools
