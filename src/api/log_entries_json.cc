// Google's logging request in protobuf's binary form as its JSON: what the SDK's gRPC client sends.
#include <nlohmann/json.hpp>

#include "src/api/metric_entries.h"
#include "src/base/utf8.h"
#include "src/catalog/time_text.h"
#include "src/wire/wire_reader.h"

namespace strobe::api {
namespace {

using Json = nlohmann::json;
using wire::WireField;
using wire::WireType;

// google.protobuf.Struct nests; what the reader of the JSON leaves out need not be made.
constexpr int kMaxDepth = 16;

Status Malformed(std::string_view why) {
  return InvalidArgumentError("ENTRIES_MALFORMED", "The body is not the protobuf it should be.")
      .Where(std::string(why));
}

// Calls `take` with every field of a message.
template <typename Take>
Status ForEachField(std::string_view bytes, const Take& take) {
  wire::WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) STROBE_RETURN_IF_ERROR(take(field));
  if (reader.error() == wire::WireError::kNone) return OkStatus();
  return Malformed(wire::WireErrorText(reader.error()));
}

std::string Text(const WireField& field) { return ToValidUtf8(field.bytes); }

Result<Json> StructOf(std::string_view bytes, int depth);

Result<Json> ValueOf(std::string_view bytes, int depth) {
  if (depth > kMaxDepth) return Malformed("too deep");
  Json value;
  STROBE_RETURN_IF_ERROR(ForEachField(bytes, [&](const WireField& field) -> Status {
    const bool message = field.type == WireType::kBytes;
    if (field.number == 2 && field.type == WireType::kFixed64) {
      const std::string_view word = WordOfNumber(field.double_value());
      value = word.empty() ? Json(field.double_value()) : Json(std::string(word));
    }
    if (field.number == 3 && message) value = Text(field);
    if (field.number == 4 && !message) value = field.value != 0;
    if (field.number == 5 && message) {
      STROBE_ASSIGN_OR_RETURN(value, StructOf(field.bytes, depth + 1));
    }
    if (field.number == 6 && message) {
      value = Json::array();
      return ForEachField(field.bytes, [&](const WireField& entry) -> Status {
        if (entry.number != 1 || entry.type != WireType::kBytes) return OkStatus();
        STROBE_ASSIGN_OR_RETURN(Json each, ValueOf(entry.bytes, depth + 1));
        value.push_back(std::move(each));
        return OkStatus();
      });
    }
    return OkStatus();
  }));
  return value;
}

// Field 1 of `bytes` is a map; `read` makes a value of a text or a message.
template <typename Read>
Result<Json> MapOf(std::string_view bytes, uint32_t number, const Read& read) {
  Json map = Json::object();
  STROBE_RETURN_IF_ERROR(ForEachField(bytes, [&](const WireField& field) -> Status {
    if (field.number != number || field.type != WireType::kBytes) return OkStatus();
    std::string key;
    Json value;
    STROBE_RETURN_IF_ERROR(ForEachField(field.bytes, [&](const WireField& part) -> Status {
      if (part.type != WireType::kBytes) return OkStatus();
      if (part.number == 1) key = Text(part);
      if (part.number == 2) {
        STROBE_ASSIGN_OR_RETURN(value, read(part));
      }
      return OkStatus();
    }));
    map[key] = std::move(value);
    return OkStatus();
  }));
  return map;
}

Result<Json> TextMapOf(std::string_view bytes, uint32_t number) {
  return MapOf(bytes, number, [](const WireField& part) { return Result<Json>(Json(Text(part))); });
}

Result<Json> StructOf(std::string_view bytes, int depth) {
  return MapOf(bytes, 1, [depth](const WireField& part) { return ValueOf(part.bytes, depth + 1); });
}

Result<Json> ResourceOf(std::string_view bytes) {
  STROBE_ASSIGN_OR_RETURN(Json labels, TextMapOf(bytes, 2));
  return Json{{"labels", std::move(labels)}};
}

Result<Json> TimeOf(std::string_view bytes) {
  int64_t seconds = 0;
  int64_t nanos = 0;
  STROBE_RETURN_IF_ERROR(ForEachField(bytes, [&](const WireField& field) {
    if (field.number == 1) seconds = field.signed_value();
    if (field.number == 2) nanos = field.signed_value();
    return OkStatus();
  }));
  constexpr int64_t kLatest = 9'000'000'000;  // in the year 2255
  if (seconds < 0 || seconds > kLatest || nanos < 0 || nanos > 999'999'999) return Json();
  return Json(catalog::FormatTimestamp(seconds * 1'000'000'000 + nanos));
}

Result<Json> EntryOf(std::string_view bytes) {
  Json entry = Json::object();
  STROBE_RETURN_IF_ERROR(ForEachField(bytes, [&](const WireField& field) -> Status {
    if (field.type != WireType::kBytes) return OkStatus();
    if (field.number == 12) entry["logName"] = Text(field);
    if (field.number == 8) {
      STROBE_ASSIGN_OR_RETURN(entry["resource"], ResourceOf(field.bytes));
    }
    if (field.number == 9) {
      STROBE_ASSIGN_OR_RETURN(entry["timestamp"], TimeOf(field.bytes));
    }
    if (field.number == 6) {
      STROBE_ASSIGN_OR_RETURN(entry["jsonPayload"], StructOf(field.bytes, 0));
    }
    return OkStatus();
  }));
  return entry;
}

}  // namespace

Result<std::string> LogEntriesToJson(std::string_view bytes) {
  Json request{{"entries", Json::array()}};
  STROBE_RETURN_IF_ERROR(ForEachField(bytes, [&](const WireField& field) -> Status {
    if (field.type != WireType::kBytes) return OkStatus();
    if (field.number == 1) request["logName"] = Text(field);
    if (field.number == 2) {
      STROBE_ASSIGN_OR_RETURN(request["resource"], ResourceOf(field.bytes));
    }
    if (field.number == 4) {
      if (request["entries"].size() >= kMaxEntries) return Malformed("too many entries");
      STROBE_ASSIGN_OR_RETURN(Json entry, EntryOf(field.bytes));
      request["entries"].push_back(std::move(entry));
    }
    return OkStatus();
  }));
  return request.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace strobe::api
