// What jobs send about themselves, in the forms they send it, as records of runs: entries of
// Google's Cloud Logging as the ML Diagnostics SDK writes them, and OTLP metrics and logs.
//
//   STROBE_ASSIGN_OR_RETURN(std::vector<RunRecords> records, ReadLogEntries(request.body));
//   for (const RunRecords& of_run : records) ...  // whose, points by curve, configs
//
// An entry of the SDK: the resource's labels say project, location, run (node_id) and the metric's
// name (namespace), the payload has the values, step_index, unit and labels. Values of several
// accelerators are averaged, as the SDK itself does with lists. The namespace mlrun_configs holds
// configs. OTLP: gauges and sums; the attribute node_id, else host.name of the resource, is the
// run; a gauge training_step of the same request gives the others their step. Everything else
// (texts, histograms) is counted in `ignored`. Pure. Errors: BODY_NOT_JSON, ENTRIES_MALFORMED,
// ENTRIES_TOO_MANY.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/catalog/metrics.h"

namespace strobe::api {

// The body's limit alone would allow some ten thousand.
inline constexpr size_t kMaxEntries = 20'000;

struct RunRecords {
  std::string project = {};
  std::string location = {};  // empty: not told
  std::string run = {};
  std::vector<catalog::MetricBatch> batches = {};
  std::map<std::string, std::string> configs = {};
};

struct ReadRecords {
  std::vector<RunRecords> runs;
  int64_t ignored = 0;  // entries and points that are nothing of ours
};

// `now_unix_ns` is the time of entries that have none.
Result<ReadRecords> ReadLogEntries(std::string_view body, int64_t now_unix_ns);

enum class OtlpSignal : uint8_t { kMetrics, kLogs };
// `protobuf`: the binary form, else JSON.
Result<ReadRecords> ReadOtlp(std::string_view body, OtlpSignal signal, bool protobuf,
                             int64_t now_unix_ns);

// The binary form as the JSON of the same message. Errors: ENTRIES_MALFORMED.
Result<std::string> OtlpToJson(std::string_view bytes, OtlpSignal signal);

// A number as protobuf's JSON has it: those that JSON has none for are the words NaN, Infinity.
std::string_view WordOfNumber(double value);  // empty: a number like any other
// The same of Google's logging request (WriteLogEntriesRequest); only what ReadLogEntries reads.
Result<std::string> LogEntriesToJson(std::string_view bytes);

}  // namespace strobe::api
