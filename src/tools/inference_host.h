// Requests and batches of one host; the first half of inference_stats.h.
//
//   HostInference host = ReadHostInference(prepared, /*host=*/0);
//
// Internal to inference_stats.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/analysis/prepared_host.h"
#include "src/tools/inference_stats.h"

namespace strobe::tools {

struct HostInference {
  std::vector<std::string> models;           // InferenceRequest::model indexes it
  std::vector<std::string> tensor_patterns;  // InferenceRequest::tensor_pattern indexes it
  std::vector<InferenceRequest> requests;
  std::vector<InferenceBatch> batches;
  std::map<std::string, BatchingParameters> parameters;  // by model
};

HostInference ReadHostInference(const analysis::PreparedHost& prepared, size_t host);

}  // namespace strobe::tools
