#include "src/api/metric_entries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "src/catalog/access_rules.h"
#include "src/catalog/time_text.h"

namespace strobe::api {
namespace {

using catalog::kNoStep;
using catalog::MetricBatch;
using Json = nlohmann::json;

constexpr std::string_view kConfigNamespace = "mlrun_configs";
constexpr std::string_view kMetricLog = "ml_diagnostics_metric";
constexpr std::string_view kStepGauge = "training_step";
// Twice the depth of the deepest message; what lies deeper is left out.
constexpr int kMaxJsonDepth = 32;
constexpr double kMaxExactStep = 9007199254740992.0;  // 2^53

Status Malformed(std::string what) {
  return InvalidArgumentError("ENTRIES_MALFORMED", std::move(what))
      .Hint("Send what Google's logging client or an OTLP exporter sends.");
}

Json Parse(std::string_view text) {
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) {
    return depth <= kMaxJsonDepth;
  };
  return Json::parse(text.begin(), text.end(), shallow, /*allow_exceptions=*/false);
}

const Json& Member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

// Protobuf's JSON may spell a field either way.
const Json& Either(const Json& object, const char* camel, const char* snake) {
  const Json& first = Member(object, camel);
  return first.is_null() ? Member(object, snake) : first;
}

std::string Text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "";
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Numbers may come as texts, and those that JSON has no number for as words.
std::optional<double> Number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  const double number = catalog::NumberOf(text);
  if (std::isnan(number)) return std::nullopt;
  return number;
}

int64_t StepOf(const Json& value) {
  const std::optional<double> number = Number(value);
  if (!number || !(std::fabs(*number) <= kMaxExactStep)) return kNoStep;
  return static_cast<int64_t>(*number);
}

// Sorts points into runs and curves.
class Collector {
 public:
  struct Whose {
    std::string project;
    std::string location;
    std::string run;
  };

  void AddPoint(const Whose& whose, MetricBatch curve, const catalog::MetricPoint& point) {
    const size_t run = RunOf(whose);
    const CurveKey key{run, curve.name, curve.host, curve.labels};
    const auto [found, fresh] = curves_.try_emplace(key, out_.runs[run].batches.size());
    std::vector<MetricBatch>& batches = out_.runs[run].batches;
    if (fresh) batches.push_back(std::move(curve));
    batches[found->second].points.push_back(point);
  }
  void AddConfig(const Whose& whose, const std::string& name, const Json& value) {
    out_.runs[RunOf(whose)].configs[name] = Text(value);
  }
  void Ignore() { ++out_.ignored; }
  ReadRecords Take() { return std::move(out_); }

 private:
  using CurveKey = std::tuple<size_t, std::string, std::string, std::map<std::string, std::string>>;

  size_t RunOf(const Whose& whose) {
    const auto key = std::tuple(whose.project, whose.location, whose.run);
    const auto [found, fresh] = runs_.try_emplace(key, out_.runs.size());
    if (fresh) {
      out_.runs.push_back({.project = whose.project, .location = whose.location, .run = whose.run});
    }
    return found->second;
  }

  ReadRecords out_;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> runs_;
  std::map<CurveKey, size_t> curves_;
};

// "host0", or "host0/3" of the fourth process: several of one machine are told apart.
std::string HostName(const std::string& hostname, const std::string& process) {
  return process.empty() ? hostname : hostname + "/" + process;
}

// What says where a point is from and what it is; the rest are labels.
void TakeLabel(const std::string& name, const std::string& value, MetricBatch* curve,
               std::string* process) {
  if (name == "unit") {
    curve->unit = value;
  } else if (name == "hostname") {
    curve->host = value;
  } else if (name == "process_index") {
    *process = value;
  } else if (name != "accelerator_type" && name != "accelerator_labels") {
    curve->labels[name] = value;
  }
}

std::optional<double> MeanOf(const Json& values) {
  if (!values.is_array()) return Number(values);
  double sum = 0;
  size_t count = 0;
  for (const Json& each : values) {
    const std::optional<double> number = Number(each);
    if (!number) continue;
    sum += *number;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

int64_t TimeOf(const Json& value, int64_t otherwise) {
  if (!value.is_string()) return otherwise;
  const Result<int64_t> time = catalog::ParseTimestamp(value.get<std::string>());
  return time.ok() && *time != 0 ? *time : otherwise;
}

void ReadLogEntry(const Json& entry, const Json& request, int64_t now_unix_ns,
                  Collector* collector) {
  const Json& own_resource = Member(entry, "resource");
  const Json& resource = own_resource.is_object() ? own_resource : Member(request, "resource");
  const Json& labels = Member(resource, "labels");
  const Json& payload = Either(entry, "jsonPayload", "json_payload");
  const Json& own_log = Either(entry, "logName", "log_name");
  const std::string log =
      Text(own_log.is_null() ? Either(request, "logName", "log_name") : own_log);
  const std::string what = Text(Member(labels, "namespace"));
  Collector::Whose whose{Text(Member(labels, "project_id")), Text(Member(labels, "location")),
                         Text(Member(labels, "node_id"))};
  if (whose.project.empty() && log.starts_with("projects/")) {
    whose.project = log.substr(9, log.find('/', 9) - 9);
  }
  if (!log.ends_with(kMetricLog) || what.empty() || whose.run.empty() || whose.project.empty() ||
      !payload.is_object()) {
    return collector->Ignore();
  }
  if (what == kConfigNamespace) {
    const Json& configs = Member(payload, "userConfigs");
    if (!configs.is_object()) return collector->Ignore();
    for (const auto& [name, value] : configs.items()) collector->AddConfig(whose, name, value);
    return;
  }
  const std::optional<double> value = MeanOf(Member(payload, "values"));
  if (!value) return collector->Ignore();
  MetricBatch curve{.name = what};
  std::string process;
  for (const auto& [name, label] : payload.items()) {
    if (name == "values" || name == "step_index") continue;
    TakeLabel(name, Text(label), &curve, &process);
  }
  curve.host = HostName(curve.host, process);
  collector->AddPoint(whose, std::move(curve),
                      {.unix_ns = TimeOf(Member(entry, "timestamp"), now_unix_ns),
                       .step = StepOf(Member(payload, "step_index")),
                       .value = *value});
}

// ---- OTLP

// {"stringValue": "a"} and its kin; what is no scalar is told as JSON.
Json AnyValue(const Json& value) {
  for (const char* kind : {"stringValue", "boolValue", "intValue", "doubleValue"}) {
    const Json& found = Member(value, kind);
    if (!found.is_null()) return found;
  }
  const Json& list = Member(Member(value, "kvlistValue"), "values");
  if (!list.is_array()) return Json();
  Json object = Json::object();
  for (const Json& entry : list)
    object[Text(Member(entry, "key"))] = AnyValue(Member(entry, "value"));
  return object;
}

using Attributes = std::map<std::string, Json>;

Attributes AttributesOf(const Json& holder) {
  Attributes attributes;
  for (const Json& entry : Member(holder, "attributes")) {
    attributes[Text(Member(entry, "key"))] = AnyValue(Member(entry, "value"));
  }
  return attributes;
}

std::string TakeText(Attributes* attributes, const char* name) {
  const auto found = attributes->find(name);
  if (found == attributes->end()) return "";
  std::string text = Text(found->second);
  attributes->erase(found);
  return text;
}

// The point's own word counts before the resource's.
Collector::Whose WhoseOf(Attributes resource, Attributes* point) {
  Collector::Whose whose;
  whose.run = TakeText(point, "node_id");
  if (whose.run.empty()) whose.run = TakeText(&resource, "host.name");
  whose.location = TakeText(point, "location");
  if (whose.location.empty()) whose.location = TakeText(&resource, "cloud.region");
  whose.project = TakeText(point, "project_id");
  if (whose.project.empty()) whose.project = TakeText(&resource, "project_id");
  if (whose.project.empty()) whose.project = catalog::kDefaultProject;
  return whose;
}

int64_t NanosOf(const Json& value, int64_t otherwise) {
  const std::string text = Text(value);
  int64_t nanos = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || nanos > std::numeric_limits<int64_t>::max() / 10 - 9)
      return otherwise;
    nanos = nanos * 10 + (c - '0');
  }
  return nanos == 0 ? otherwise : nanos;
}

const Json& DataPointsOf(const Json& metric) {
  for (const char* kind : {"gauge", "sum"}) {
    const Json& points = Either(Member(metric, kind), "dataPoints", "data_points");
    if (points.is_array()) return points;
  }
  static const Json none = Json::array();
  return none;
}

// An exporter sends what all gauges had last: the step among them is the step of all.
int64_t StepOfRequest(const Json& resource_metrics) {
  for (const Json& scope : Either(resource_metrics, "scopeMetrics", "scope_metrics")) {
    for (const Json& metric : Member(scope, "metrics")) {
      if (Text(Member(metric, "name")) != kStepGauge) continue;
      for (const Json& point : DataPointsOf(metric)) {
        const Json& real = Either(point, "asDouble", "as_double");
        return StepOf(real.is_null() ? Either(point, "asInt", "as_int") : real);
      }
    }
  }
  return kNoStep;
}

void ReadOtlpMetric(const Json& metric, const Attributes& resource, int64_t step,
                    int64_t now_unix_ns, Collector* collector) {
  const std::string name = Text(Member(metric, "name"));
  if (name == kStepGauge) return;
  const Json& points = DataPointsOf(metric);
  if (points.empty()) return collector->Ignore();
  for (const Json& point : points) {
    const Json& real = Either(point, "asDouble", "as_double");
    const std::optional<double> value =
        Number(real.is_null() ? Either(point, "asInt", "as_int") : real);
    Attributes attributes = AttributesOf(point);
    const Collector::Whose whose = WhoseOf(resource, &attributes);
    if (!value || whose.run.empty()) {
      collector->Ignore();
      continue;
    }
    MetricBatch curve{.name = name, .unit = Text(Member(metric, "unit"))};
    std::string process;
    const Json own_step = attributes.contains("step") ? attributes["step"] : Json();
    attributes.erase("step");
    for (const auto& [key, label] : attributes) TakeLabel(key, Text(label), &curve, &process);
    curve.host = HostName(curve.host, process);
    collector->AddPoint(
        whose, std::move(curve),
        {.unix_ns = NanosOf(Either(point, "timeUnixNano", "time_unix_nano"), now_unix_ns),
         .step = own_step.is_null() ? step : StepOf(own_step),
         .value = *value});
  }
}

void ReadOtlpLog(const Json& log, const Attributes& resource, Collector* collector) {
  Attributes attributes = AttributesOf(log);
  const Collector::Whose whose = WhoseOf(resource, &attributes);
  Json body = AnyValue(Member(log, "body"));
  if (body.is_string()) {
    body = Parse(body.get<std::string>());
  }
  const bool configs = TakeText(&attributes, "namespace") == kConfigNamespace;
  const Json& map = Member(body, "userConfigs").is_object() ? Member(body, "userConfigs") : body;
  if (!configs || whose.run.empty() || !map.is_object()) return collector->Ignore();
  for (const auto& [name, value] : map.items()) collector->AddConfig(whose, name, value);
}

Result<Json> ParseObject(std::string_view body) {
  Json json = Parse(body);
  if (!json.is_object()) {
    return InvalidArgumentError("BODY_NOT_JSON", "The body is not a JSON object.");
  }
  return json;
}

Status TooMany() {
  return ResourceExhaustedError("ENTRIES_TOO_MANY", "A request brings at most " +
                                                        std::to_string(kMaxEntries) + " entries.")
      .Hint("Send them in several requests.");
}

}  // namespace

std::string_view WordOfNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return "";
}

Result<ReadRecords> ReadLogEntries(std::string_view body, int64_t now_unix_ns) {
  STROBE_ASSIGN_OR_RETURN(const Json request, ParseObject(body));
  const Json& entries = Member(request, "entries");
  if (!entries.is_array()) return Malformed("The field \"entries\" is no list.");
  if (entries.size() > kMaxEntries) return TooMany();
  Collector collector;
  for (const Json& entry : entries) ReadLogEntry(entry, request, now_unix_ns, &collector);
  return collector.Take();
}

Result<ReadRecords> ReadOtlp(std::string_view body, OtlpSignal signal, bool protobuf,
                             int64_t now_unix_ns) {
  std::string as_json;
  if (protobuf) {
    STROBE_ASSIGN_OR_RETURN(as_json, OtlpToJson(body, signal));
  }
  STROBE_ASSIGN_OR_RETURN(const Json request, ParseObject(protobuf ? as_json : body));
  const bool metrics = signal == OtlpSignal::kMetrics;
  const Json& list = metrics ? Either(request, "resourceMetrics", "resource_metrics")
                             : Either(request, "resourceLogs", "resource_logs");
  Collector collector;
  size_t entries = 0;
  for (const Json& part : list) {
    const Attributes resource = AttributesOf(Member(part, "resource"));
    const int64_t step = metrics ? StepOfRequest(part) : kNoStep;
    for (const Json& scope : metrics ? Either(part, "scopeMetrics", "scope_metrics")
                                     : Either(part, "scopeLogs", "scope_logs")) {
      for (const Json& item :
           metrics ? Member(scope, "metrics") : Either(scope, "logRecords", "log_records")) {
        entries += metrics ? std::max<size_t>(DataPointsOf(item).size(), 1) : 1;
        if (entries > kMaxEntries) return TooMany();
        if (metrics) {
          ReadOtlpMetric(item, resource, step, now_unix_ns, &collector);
        } else {
          ReadOtlpLog(item, resource, &collector);
        }
      }
    }
  }
  return collector.Take();
}

}  // namespace strobe::api
