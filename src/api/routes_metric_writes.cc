// Where jobs send what they record: Google's Cloud Logging form and OTLP over HTTP.
#include <fmt/format.h>

#include <algorithm>

#include "src/api/app.h"
#include "src/api/caller.h"
#include "src/api/metric_entries.h"
#include "src/api/v1alpha_support.h"
#include "src/base/json_writer.h"
#include "src/base/log.h"
#include "src/catalog/metrics.h"
#include "src/catalog/rules.h"

namespace strobe::api {
namespace {

using catalog::Key;
using catalog::MetricsTaken;
using catalog::Run;
using catalog::Transaction;
using Context = std::shared_ptr<AppContext>;

constexpr std::string_view kProtobufType = "application/x-protobuf";

// The run where it was said to be, else the one of this name anywhere in the project: exporters do
// not always know the location.
Result<std::optional<Key>> FindRun(Transaction& transaction, const RunRecords& records) {
  const Key key{records.project, records.location, "", records.run};
  STROBE_ASSIGN_OR_RETURN(const std::optional<Run> there, transaction.Find<Run>(key));
  if (there) return std::optional<Key>(key);
  STROBE_ASSIGN_OR_RETURN(
      const std::vector<Run> found,
      transaction.Select<Run>("project = ? AND id = ? ORDER BY create_unix_ns DESC",
                              {records.project, records.run}, 1));
  if (found.empty()) return std::optional<Key>();
  return std::optional<Key>(found[0].key());
}

struct Written {
  MetricsTaken taken;
  int64_t configs = 0;
  int64_t unknown_run = 0;  // points and configs of runs that are not there
};

Result<Written> WriteRecords(const Context& context, const ReadRecords& read) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  Written written;
  const Status done = catalog->Write([&](Transaction& transaction) -> Status {
    written = {};
    for (const RunRecords& records : read.runs) {
      STROBE_ASSIGN_OR_RETURN(const std::optional<Key> key, FindRun(transaction, records));
      if (!key) {
        for (const auto& batch : records.batches) {
          written.unknown_run += static_cast<int64_t>(batch.points.size());
        }
        written.unknown_run += static_cast<int64_t>(records.configs.size());
        continue;
      }
      STROBE_ASSIGN_OR_RETURN(const MetricsTaken taken,
                              catalog::AppendMetrics(transaction, *key, records.batches));
      written.taken.points += taken.points;
      written.taken.repeated += taken.repeated;
      written.taken.refused += taken.refused;
      if (records.configs.empty()) continue;
      STROBE_ASSIGN_OR_RETURN(const int64_t configs,
                              catalog::SetRunConfigs(transaction, *key, records.configs));
      written.configs += configs;
    }
    return OkStatus();
  });
  if (!done.ok()) return done;
  return written;
}

// Who may not write into one of the projects writes into none. Without any entry there is nothing
// to allow.
Status CheckProjects(const Request& request, const ReadRecords& read) {
  for (const RunRecords& records : read.runs) {
    STROBE_RETURN_IF_ERROR(CheckRight(request, records.project, Right::kEdit));
  }
  return OkStatus();
}

std::string TakenJson(const Written& written, const ReadRecords& read) {
  JsonWriter json;
  json.BeginObject();
  json.Key("points").Int(written.taken.points);
  json.Key("repeated").Int(written.taken.repeated);
  json.Key("refused").Int(written.taken.refused);
  json.Key("configs").Int(written.configs);
  json.Key("unknown_run").Int(written.unknown_run);
  json.Key("ignored").Int(read.ignored);
  json.EndObject();
  return json.TakeText();
}

// Jobs are not to fail over what cannot be kept: it is counted, told and logged.
void LogLosses(const Request& request, const Written& written) {
  if (written.taken.refused == 0 && written.unknown_run == 0) return;
  LogWarning("metrics.not_kept", {{"request", request.request_id},
                                  {"refused", written.taken.refused},
                                  {"unknown_run", written.unknown_run}});
}

Result<Response> WriteLogEntries(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const ReadRecords read,
                          ReadLogEntries(request.body, context->clock->NowUnixNanos()));
  STROBE_RETURN_IF_ERROR(CheckProjects(request, read));
  STROBE_ASSIGN_OR_RETURN(const Written written, WriteRecords(context, read));
  LogLosses(request, written);
  return MlResponse(R"({"strobe":)" + TakenJson(written, read) + "}");
}

Result<Response> TakeOtlp(const Context& context, const Request& request, OtlpSignal signal) {
  const std::string_view type = request.HeaderValue("content-type");
  const bool protobuf = EqualsIgnoreCase(TrimSpaces(type.substr(0, type.find(';'))), kProtobufType);
  STROBE_ASSIGN_OR_RETURN(const ReadRecords read,
                          ReadOtlp(request.body, signal, protobuf, context->clock->NowUnixNanos()));
  STROBE_RETURN_IF_ERROR(CheckProjects(request, read));
  STROBE_ASSIGN_OR_RETURN(const Written written, WriteRecords(context, read));
  LogLosses(request, written);
  if (!protobuf) return MlResponse(R"({"strobe":)" + TakenJson(written, read) + "}");
  // An empty message: everything was taken.
  Response response = MlResponse("");
  response.content_type = kProtobufType;
  return response;
}

}  // namespace

void AddMetricWriteRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back(
      MlRoute({.method = Method::kPost,
               .pattern = "/v2/entries:write",
               .access = {Need::kEdit, Object::kInBody},
               .operation_id = "writeLogEntries",
               .summary = "Metrics and configs as Google's logging client sends them.",
               .request_schema = "MlMessage",
               .response_schema = "MlMessage"},
              [context](const Request& r) { return WriteLogEntries(context, r); }));
  routes->push_back(
      MlRoute({.method = Method::kPost,
               .pattern = "/v1/metrics",
               .access = {Need::kEdit, Object::kInBody},
               .operation_id = "otlpMetrics",
               .summary = "Gauges and sums by OTLP/HTTP, as JSON or protobuf.",
               .request_schema = "MlMessage",
               .response_schema = "MlMessage"},
              [context](const Request& r) { return TakeOtlp(context, r, OtlpSignal::kMetrics); }));
  routes->push_back(
      MlRoute({.method = Method::kPost,
               .pattern = "/v1/logs",
               .access = {Need::kEdit, Object::kInBody},
               .operation_id = "otlpLogs",
               .summary = "Configs by OTLP/HTTP, as JSON or protobuf.",
               .request_schema = "MlMessage",
               .response_schema = "MlMessage"},
              [context](const Request& r) { return TakeOtlp(context, r, OtlpSignal::kLogs); }));
}

}  // namespace strobe::api
