// OTLP's binary form as its JSON: a walk over the wire format along a table of the fields that are
// looked at; all others are skipped.
#include <nlohmann/json.hpp>
#include <vector>

#include "src/api/metric_entries.h"
#include "src/base/utf8.h"
#include "src/wire/wire_reader.h"

namespace strobe::api {
namespace {

using Json = nlohmann::json;
using wire::WireField;
using wire::WireType;

enum class Kind : uint8_t { kText, kBool, kInteger, kDouble, kMessage };

struct Message;

struct Field {
  uint32_t number = 0;
  const char* name = "";
  Kind kind = Kind::kText;
  const Message* message = nullptr;
  bool repeated = false;
};

struct Message {
  std::vector<Field> fields;
};

// AnyValue and KeyValue hold each other, so they are tied after they are made.
struct ValueMessages {
  Message any;
  Message list;
  Message map;
  Message pair;

  ValueMessages() {
    any.fields = {{1, "stringValue"},
                  {2, "boolValue", Kind::kBool},
                  {3, "intValue", Kind::kInteger},
                  {4, "doubleValue", Kind::kDouble},
                  {5, "arrayValue", Kind::kMessage, &list},
                  {6, "kvlistValue", Kind::kMessage, &map}};
    list.fields = {{1, "values", Kind::kMessage, &any, true}};
    map.fields = {{1, "values", Kind::kMessage, &pair, true}};
    pair.fields = {{1, "key"}, {2, "value", Kind::kMessage, &any}};
  }
};

const ValueMessages& Values() {
  static const ValueMessages values;
  return values;
}

const Message& MetricsRequest() {
  static const Message point{{{3, "timeUnixNano", Kind::kInteger},
                              {4, "asDouble", Kind::kDouble},
                              {6, "asInt", Kind::kInteger},
                              {7, "attributes", Kind::kMessage, &Values().pair, true}}};
  static const Message gauge{{{1, "dataPoints", Kind::kMessage, &point, true}}};
  static const Message metric{{{1, "name"},
                               {3, "unit"},
                               {5, "gauge", Kind::kMessage, &gauge},
                               {7, "sum", Kind::kMessage, &gauge}}};
  static const Message scope{{{2, "metrics", Kind::kMessage, &metric, true}}};
  static const Message resource{{{1, "attributes", Kind::kMessage, &Values().pair, true}}};
  static const Message part{{{1, "resource", Kind::kMessage, &resource},
                             {2, "scopeMetrics", Kind::kMessage, &scope, true}}};
  static const Message request{{{1, "resourceMetrics", Kind::kMessage, &part, true}}};
  return request;
}

const Message& LogsRequest() {
  static const Message record{{{1, "timeUnixNano", Kind::kInteger},
                               {5, "body", Kind::kMessage, &Values().any},
                               {6, "attributes", Kind::kMessage, &Values().pair, true}}};
  static const Message scope{{{2, "logRecords", Kind::kMessage, &record, true}}};
  static const Message resource{{{1, "attributes", Kind::kMessage, &Values().pair, true}}};
  static const Message part{
      {{1, "resource", Kind::kMessage, &resource}, {2, "scopeLogs", Kind::kMessage, &scope, true}}};
  static const Message request{{{1, "resourceLogs", Kind::kMessage, &part, true}}};
  return request;
}

// As deep as the JSON that is made of it may be: half of it, as each level is an object in a list.
constexpr int kMaxDepth = 16;

Status Malformed(std::string_view why) {
  return InvalidArgumentError("ENTRIES_MALFORMED", "The body is not the protobuf it should be.")
      .Where(std::string(why))
      .Hint("Send an OTLP export request, or its JSON as application/json.");
}

Result<Json> ToJson(std::string_view bytes, const Message& message, int depth);

Result<Json> ValueOf(const WireField& field, const Field& known, int depth) {
  const bool number = field.type != WireType::kBytes;
  switch (known.kind) {
    case Kind::kText:
      if (number) return Malformed(known.name);
      return Json(ToValidUtf8(field.bytes));
    case Kind::kMessage:
      if (number) return Malformed(known.name);
      return ToJson(field.bytes, *known.message, depth + 1);
    case Kind::kBool:
      if (!number) return Malformed(known.name);
      return Json(field.value != 0);
    case Kind::kInteger:
      if (!number) return Malformed(known.name);
      // 64-bit integers are texts in protobuf's JSON.
      return Json(std::to_string(field.signed_value()));
    case Kind::kDouble:
      if (field.type != WireType::kFixed64) return Malformed(known.name);
      if (const std::string_view word = WordOfNumber(field.double_value()); !word.empty()) {
        return Json(std::string(word));
      }
      return Json(field.double_value());
  }
  return Malformed(known.name);
}

Result<Json> ToJson(std::string_view bytes, const Message& message, int depth) {
  if (depth > kMaxDepth) return Malformed("too deep");
  Json json = Json::object();
  wire::WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    for (const Field& known : message.fields) {
      if (known.number != field.number) continue;
      STROBE_ASSIGN_OR_RETURN(Json value, ValueOf(field, known, depth));
      if (known.repeated) {
        json[known.name].push_back(std::move(value));
      } else {
        json[known.name] = std::move(value);
      }
    }
  }
  if (reader.error() != wire::WireError::kNone)
    return Malformed(wire::WireErrorText(reader.error()));
  return json;
}

}  // namespace

Result<std::string> OtlpToJson(std::string_view bytes, OtlpSignal signal) {
  STROBE_ASSIGN_OR_RETURN(
      const Json json,
      ToJson(bytes, signal == OtlpSignal::kMetrics ? MetricsRequest() : LogsRequest(), 0));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace strobe::api
