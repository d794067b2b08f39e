// Metrics and configs of runs as the console and scripts ask for them: what there is, and curves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "src/api/app.h"
#include "src/api/caller.h"
#include "src/api/json_answers.h"
#include "src/api/v1alpha_support.h"
#include "src/base/json_writer.h"
#include "src/catalog/metric_series.h"
#include "src/catalog/rules.h"

namespace strobe::api {
namespace {

using catalog::Key;
using catalog::MetricCurve;
using catalog::Run;
using catalog::Series;
using catalog::SeriesBy;
using catalog::StoredPoint;
using catalog::Transaction;
using Context = std::shared_ptr<AppContext>;
using Json = nlohmann::json;

constexpr size_t kMaxHostsNamed = 64;
// A chart of more lines is not read by anybody.
constexpr size_t kMaxNamesAnswered = 100;
constexpr size_t kMaxOtherRuns = 15;
constexpr size_t kMaxHostsSplit = 64;
// Folded in memory at once, some 100 MB: two hundred hosts of long curves.
constexpr size_t kMaxPointsFolded = 2'000'000;
constexpr int64_t kDefaultPoints = 500;
constexpr int64_t kMaxPoints = 5000;
constexpr int64_t kMsNs = 1'000'000;

Key RunKeyOf(const Request& request) {
  return {std::string(request.Param("project")), std::string(request.Param("location")), "",
          std::string(request.Param("run"))};
}

void WriteNumberOrNull(JsonWriter& json, std::string_view key, double value) {
  json.Key(key);
  if (std::isfinite(value)) {
    json.Double(value);
  } else {
    json.Null();
  }
}

void WriteMsOrNull(JsonWriter& json, std::string_view key, int64_t unix_ns) {
  json.Key(key);
  if (unix_ns == 0) {
    json.Null();
  } else {
    json.Int(unix_ns / kMsNs);
  }
}

void WriteStepOrNull(JsonWriter& json, std::string_view key, bool has_steps, int64_t step) {
  json.Key(key);
  if (has_steps) {
    json.SafeInt(step);
  } else {
    json.Null();
  }
}

// Curves of one name and one set of labels.
using Group = std::vector<MetricCurve>;

std::vector<Group> GroupsOf(std::vector<MetricCurve> curves) {
  std::vector<Group> groups;
  for (MetricCurve& curve : curves) {
    const bool same = !groups.empty() && groups.back()[0].name == curve.name &&
                      groups.back()[0].labels == curve.labels;
    if (!same) groups.emplace_back();
    groups.back().push_back(std::move(curve));
  }
  return groups;
}

// Several hosts as one.
struct Summary {
  int64_t points = 0;
  int64_t kept = 0;
  int64_t not_finite = 0;
  bool has_steps = false;
  int64_t first_step = 0;
  int64_t last_step = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  double last = std::nan("");
  double minimum = std::nan("");
  double maximum = std::nan("");
  double sum = 0;

  void Add(const MetricCurve& curve) {
    const bool first = points == 0;
    points += curve.point_count;
    kept += curve.kept_count;
    not_finite += curve.not_finite_count;
    if (first || curve.first_unix_ns < first_ns) first_ns = curve.first_unix_ns;
    if (first || curve.last_unix_ns > last_ns) {
      last_ns = curve.last_unix_ns;
      last = catalog::NumberOf(curve.last);
    }
    if (curve.has_steps != 0) {
      first_step = has_steps ? std::min(first_step, curve.first_step) : curve.first_step;
      last_step = has_steps ? std::max(last_step, curve.last_step) : curve.last_step;
      has_steps = true;
    }
    if (curve.minimum.empty()) return;
    minimum = std::fmin(minimum, catalog::NumberOf(curve.minimum));
    maximum = std::fmax(maximum, catalog::NumberOf(curve.maximum));
    sum += catalog::NumberOf(curve.sum);
  }
};

void WriteMetric(JsonWriter& json, const Group& group) {
  Summary summary;
  for (const MetricCurve& curve : group) summary.Add(curve);
  json.BeginObject();
  json.Key("name").String(group[0].name);
  json.Key("unit").String(group[0].unit);
  json.Key("labels").Raw(group[0].labels);
  json.Key("hosts").BeginArray();
  for (size_t i = 0; i < group.size() && i < kMaxHostsNamed; ++i) json.String(group[i].host);
  json.EndArray();
  json.Key("host_count").Uint(group.size());
  json.Key("point_count").Int(summary.points);
  json.Key("kept_count").Int(summary.kept);
  WriteStepOrNull(json, "first_step", summary.has_steps, summary.first_step);
  WriteStepOrNull(json, "last_step", summary.has_steps, summary.last_step);
  WriteMsOrNull(json, "first_unix_ms", summary.first_ns);
  WriteMsOrNull(json, "last_unix_ms", summary.last_ns);
  WriteNumberOrNull(json, "last", summary.last);
  WriteNumberOrNull(json, "min", summary.minimum);
  const auto finite = static_cast<double>(summary.points - summary.not_finite);
  WriteNumberOrNull(json, "mean", summary.sum / finite);
  WriteNumberOrNull(json, "max", summary.maximum);
  json.Key("not_finite_count").Int(summary.not_finite);
  json.EndObject();
}

void WriteConfigs(JsonWriter& json, std::string_view key, const Json& map) {
  json.Key(key).BeginObject();
  if (map.is_object()) {
    for (const auto& [name, value] : map.items()) {
      json.Key(name).String(value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  json.EndObject();
}

// Those of the run itself, and over them what came as entries and records.
Json ConfigsOf(const Run& run, const std::vector<catalog::RunConfig>& configs) {
  const Json body = Json::parse(run.body, nullptr, /*allow_exceptions=*/false);
  Json all = body.is_object() ? body.value("configs", Json::object()) : Json::object();
  for (const catalog::RunConfig& config : configs) all["userConfigs"][config.id] = config.value;
  return all;
}

Result<Response> GetMetrics(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  const Key key = RunKeyOf(request);
  Run run;
  std::vector<MetricCurve> curves;
  std::vector<catalog::RunConfig> configs;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(run, transaction.Get<Run>(key));
    STROBE_ASSIGN_OR_RETURN(curves, catalog::MetricCurvesOf(transaction, key));
    STROBE_ASSIGN_OR_RETURN(configs, catalog::RunConfigsOf(transaction, key));
    return OkStatus();
  }));
  const bool truncated = static_cast<int64_t>(curves.size()) >= catalog::kMaxCurvesPerRun;
  const std::vector<Group> groups = GroupsOf(std::move(curves));
  const Json all = ConfigsOf(run, configs);
  JsonWriter json;
  json.BeginObject();
  json.Key("run").String(catalog::RunName(key));
  json.Key("start_unix_ms").Int(run.create_unix_ns / kMsNs);
  WriteMsOrNull(json, "end_unix_ms", run.end_unix_ns);
  json.Key("metrics").BeginArray();
  for (const Group& group : groups) WriteMetric(json, group);
  json.EndArray();
  json.Key("metric_count").Uint(groups.size());
  json.Key("truncated").Bool(truncated);
  json.Key("configs").BeginObject();
  WriteConfigs(json, "software", all.value("softwareConfigs", Json::object()));
  WriteConfigs(json, "hardware", all.value("hardwareConfigs", Json::object()));
  WriteConfigs(json, "user", all.value("userConfigs", Json::object()));
  json.EndObject();
  json.EndObject();
  return MlResponse(json.TakeText());
}

// ---- curves

struct SeriesRequest {
  std::vector<Key> runs;
  std::set<std::string> names;  // empty: all
  catalog::SeriesQuery query;
  bool split = false;
};

Status ParameterMalformed(std::string_view name, std::string_view value, std::string hint) {
  return InvalidArgumentError("PARAMETER_MALFORMED",
                              fmt::format("The parameter \"{}\" cannot be read.", name))
      .Where(std::string(value.substr(0, 128)))
      .Hint(std::move(hint));
}

// What the caller may not see answers as what is not there.
Status AddRun(const Request& request, const std::string& name, SeriesRequest* out) {
  Key key;
  if (!catalog::ParseRunName(name, &key)) {
    return ParameterMalformed("with", name,
                              "Expected projects/P/locations/L/machineLearningRuns/R.");
  }
  if (out->runs.size() > kMaxOtherRuns) {
    return InvalidArgumentError("PARAMETER_MALFORMED",
                                fmt::format("At most {} other runs.", kMaxOtherRuns));
  }
  if (!HasRight(request, key.project, Right::kView)) {
    return NotFoundError("RUN_NOT_FOUND", "There is no run of this name.").Where(key.id);
  }
  const bool twice = std::any_of(out->runs.begin(), out->runs.end(), [&](const Key& there) {
    return there.project == key.project && there.location == key.location && there.id == key.id;
  });
  if (!twice) out->runs.push_back(std::move(key));
  return OkStatus();
}

Result<SeriesRequest> ReadSeriesRequest(const Request& request) {
  SeriesRequest out;
  out.runs.push_back(RunKeyOf(request));
  const std::string_view by = request.Query("by").value_or("step");
  if (by != "step" && by != "time") return ParameterMalformed("by", by, "Expected step or time.");
  out.query.by = by == "step" ? SeriesBy::kStep : SeriesBy::kTime;
  const std::string_view split = request.Query("split").value_or("");
  if (!split.empty() && split != "host") {
    return ParameterMalformed("split", split, "Expected host.");
  }
  out.split = !split.empty();
  out.query.max_points = static_cast<size_t>(request.QueryInt("points").value_or(kDefaultPoints));
  out.query.from = request.QueryInt("from");
  out.query.to = request.QueryInt("to");
  for (const auto& [name, value] : request.query) {
    if (name == "name" && !value.empty()) out.names.insert(value);
    if (name == "with") STROBE_RETURN_IF_ERROR(AddRun(request, value, &out));
  }
  return out;
}

struct NamedSeries {
  Key run;
  const MetricCurve* curve = nullptr;  // one of them: name, unit, labels
  std::string host;                    // of a curve for itself
  size_t host_count = 0;
  Series series;
};

void WriteValues(JsonWriter& json, std::string_view key, const std::vector<double>& values) {
  json.Key(key).BeginArray();
  for (const double value : values) json.Double(value);  // NaN is null
  json.EndArray();
}

void WriteIntegers(JsonWriter& json, std::string_view key, const std::vector<int64_t>& values) {
  json.Key(key).BeginArray();
  for (const int64_t value : values) json.Int(value);
  json.EndArray();
}

void WriteSeries(JsonWriter& json, const NamedSeries& named, bool split) {
  json.BeginObject();
  json.Key("run").String(catalog::RunName(named.run));
  json.Key("name").String(named.curve->name);
  json.Key("unit").String(named.curve->unit);
  json.Key("labels").Raw(named.curve->labels);
  json.Key("host");
  if (split) {
    json.String(named.host);
  } else {
    json.Null();
  }
  json.Key("host_count").Uint(named.host_count);
  json.Key("point_count").Int(named.series.point_count);
  json.Key("bucket_width");
  if (named.series.bucket_width) {
    json.Int(*named.series.bucket_width);
  } else {
    json.Null();
  }
  WriteIntegers(json, "x", named.series.x);
  WriteValues(json, "min", named.series.minimum);
  WriteValues(json, "mean", named.series.mean);
  WriteValues(json, "max", named.series.maximum);
  WriteIntegers(json, "count", named.series.count);
  json.EndObject();
}

// Reads one run after the other and writes curves as they are made, so that the points of one
// metric are in memory at a time.
class SeriesAnswer {
 public:
  SeriesAnswer(Transaction& transaction, const SeriesRequest& request)
      : transaction_(transaction), request_(request) {
    series_.BeginArray();
    runs_.BeginArray();
  }

  Status AddRun(const Key& key) {
    STROBE_ASSIGN_OR_RETURN(const Run run, transaction_.Get<Run>(key));
    runs_.BeginObject();
    runs_.Key("run").String(catalog::RunName(key));
    runs_.Key("display_name").String(run.display_name);
    runs_.Key("start_unix_ms").Int(run.create_unix_ns / kMsNs);
    WriteMsOrNull(runs_, "end_unix_ms", run.end_unix_ns);
    runs_.EndObject();
    STROBE_ASSIGN_OR_RETURN(std::vector<MetricCurve> curves,
                            catalog::MetricCurvesOf(transaction_, key));
    for (const Group& group : GroupsOf(std::move(curves))) {
      const std::string& name = group[0].name;
      if (!request_.names.empty() && !request_.names.contains(name)) continue;
      if (!answered_.contains(name) && answered_.size() >= kMaxNamesAnswered) {
        truncated_ = true;
        continue;
      }
      answered_.insert(name);
      STROBE_RETURN_IF_ERROR(AddGroup(key, group));
    }
    return OkStatus();
  }

  std::string Finish() {
    series_.EndArray();
    runs_.EndArray();
    JsonWriter json;
    json.BeginObject();
    json.Key("by").String(request_.query.by == SeriesBy::kStep ? "step" : "time");
    json.Key("points").Uint(request_.query.max_points);
    json.Key("truncated").Bool(truncated_);
    json.Key("without_steps").BeginArray();
    for (const std::string& name : without_steps_) json.String(name);
    json.EndArray();
    json.Key("absent").BeginArray();
    for (const std::string& name : request_.names) {
      if (!answered_.contains(name)) json.String(name);
    }
    json.EndArray();
    json.Key("runs").Raw(runs_.text());
    json.Key("series").Raw(series_.text());
    json.EndObject();
    return json.TakeText();
  }

 private:
  Status AddGroup(const Key& key, const Group& group) {
    if (request_.query.by == SeriesBy::kStep &&
        std::none_of(group.begin(), group.end(),
                     [](const MetricCurve& curve) { return curve.has_steps != 0; })) {
      without_steps_.insert(group[0].name);
      return OkStatus();
    }
    std::vector<std::vector<StoredPoint>> folded;
    size_t point_count = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      if ((request_.split && i >= kMaxHostsSplit) || point_count >= kMaxPointsFolded) {
        truncated_ = true;
        break;
      }
      STROBE_ASSIGN_OR_RETURN(std::vector<StoredPoint> points,
                              catalog::PointsOf(transaction_, group[i]));
      point_count += request_.split ? 0 : points.size();
      folded.push_back(std::move(points));
      if (!request_.split) continue;
      Write(key, group[i], 1, folded);
      folded.clear();
    }
    if (!request_.split) Write(key, group[0], group.size(), folded);
    return OkStatus();
  }

  void Write(const Key& key, const MetricCurve& curve, size_t hosts,
             const std::vector<std::vector<StoredPoint>>& points) {
    const NamedSeries named{.run = key,
                            .curve = &curve,
                            .host = curve.host,
                            .host_count = hosts,
                            .series = catalog::FoldPoints(points, request_.query)};
    WriteSeries(series_, named, request_.split);
  }

  Transaction& transaction_;
  const SeriesRequest& request_;
  JsonWriter series_;
  JsonWriter runs_;
  std::set<std::string> answered_;
  std::set<std::string> without_steps_;
  bool truncated_ = false;
};

Result<Response> GetSeries(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  STROBE_ASSIGN_OR_RETURN(const SeriesRequest wanted, ReadSeriesRequest(request));
  std::string json;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    SeriesAnswer answer(transaction, wanted);
    for (const Key& key : wanted.runs) {
      STROBE_RETURN_IF_ERROR(request.cancel.Check());
      STROBE_RETURN_IF_ERROR(answer.AddRun(key));
    }
    json = answer.Finish();
    return OkStatus();
  }));
  return MlResponse(std::move(json));
}

}  // namespace

void AddRunMetricRoutes(const Context& context, std::vector<Route>* routes) {
  const std::string metrics = "/api/v1/runs/{project}/{location}/{run}/metrics";
  routes->push_back({.pattern = metrics,
                     .access = {Need::kView, Object::kProject},
                     .operation_id = "getRunMetrics",
                     .tag = "runs",
                     .summary = "What a run recorded, and how it was configured.",
                     .response_schema = "RunMetrics",
                     .handler = [context](const Request& r) { return GetMetrics(context, r); }});
  routes->push_back(
      {.pattern = metrics + "/series",
       .access = {Need::kView, Object::kProject},
       .operation_id = "getRunSeries",
       .tag = "runs",
       .summary = "Curves of one or several runs, by step or by time.",
       .query = {{.name = "by", .description = "step (default) or time."},
                 {.name = "name", .description = "A metric; may be repeated; absent: all."},
                 {.name = "with", .description = "Another run's whole name; may be repeated."},
                 {.name = "points",
                  .type = ParamType::kInteger,
                  .description = "At most so many points a curve (500).",
                  .minimum = 1,
                  .maximum = kMaxPoints},
                 {.name = "from",
                  .type = ParamType::kInteger,
                  .description = "First step, or milliseconds since 1970."},
                 {.name = "to", .type = ParamType::kInteger, .description = "Last one."},
                 {.name = "split", .description = "host: a curve for each host."}},
       .response_schema = "RunSeries",
       .handler = [context](const Request& r) { return GetSeries(context, r); }});
}

}  // namespace strobe::api
