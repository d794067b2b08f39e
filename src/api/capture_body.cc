#include "src/api/capture_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace strobe::api {
namespace {

using Json = nlohmann::json;
using capture::CaptureRequest;

// Levels of XLA's tracers go to 3; what is far beyond is a mistake.
constexpr uint64_t kMaxTracerLevel = 100;
constexpr size_t kMaxOptions = 256;

Status Malformed(std::string_view field, std::string_view expected) {
  return InvalidArgumentError("FIELD_MALFORMED",
                              fmt::format("The field \"{}\" is not what it must be.", field))
      .Where(std::string(field))
      .Hint(fmt::format("Expected {}.", expected));
}

Status ReadText(const Json& value, std::string_view field, std::string* out) {
  if (value.is_null()) return OkStatus();
  if (!value.is_string()) return Malformed(field, "a string");
  *out = value.get<std::string>();
  return OkStatus();
}

Status ReadLevel(const Json& value, std::string_view field, uint32_t* out) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > kMaxTracerLevel) {
    return Malformed(field, "an integer from 0 to 100");
  }
  *out = value.get<uint32_t>();
  return OkStatus();
}

Status ReadTargets(const Json& value, CaptureRequest* request) {
  if (!value.is_array()) return Malformed("targets", "a list of \"HOST:PORT\"");
  for (const Json& target : value) {
    if (!target.is_string()) return Malformed("targets", "a list of \"HOST:PORT\"");
    request->targets.push_back(target.get<std::string>());
  }
  return OkStatus();
}

Status ReadDuration(const Json& value, CaptureRequest* request) {
  if (!value.is_number_integer()) {
    return Malformed("duration_ms", "an integer of milliseconds");
  }
  request->duration_ms =
      value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{capture::kMaxDurationMs}
          ? capture::kMaxDurationMs + 1
          : value.get<int64_t>();
  return OkStatus();
}

Status ReadOptions(const Json& value, CaptureRequest* request) {
  if (value.is_null()) return OkStatus();
  if (!value.is_object() || value.size() > kMaxOptions) {
    return Malformed("options", "an object of at most 256 strings, booleans and integers");
  }
  for (const auto& [key, option] : value.items()) {
    if (option.is_string()) {
      request->options[key] = option.get<std::string>();
    } else if (option.is_boolean()) {
      request->options[key] = option.get<bool>();
    } else if (option.is_number_integer()) {
      request->options[key] = option.get<int64_t>();
    } else {
      return Malformed("options." + key, "a string, a boolean or an integer");
    }
  }
  return OkStatus();
}

Status ReadField(const std::string& key, const Json& value, CaptureRequest* request) {
  if (key == "targets") return ReadTargets(value, request);
  if (key == "duration_ms") return ReadDuration(value, request);
  if (key == "session") return ReadText(value, key, &request->session);
  if (key == "run") return ReadText(value, key, &request->run);
  if (key == "root") return ReadText(value, key, &request->root);
  if (key == "host_tracer_level") return ReadLevel(value, key, &request->host_tracer_level);
  if (key == "device_tracer_level") return ReadLevel(value, key, &request->device_tracer_level);
  if (key == "python_tracer_level") return ReadLevel(value, key, &request->python_tracer_level);
  if (key == "options") return ReadOptions(value, request);
  return InvalidArgumentError("FIELD_UNKNOWN", "The body has a field that is not known.")
      .Where(key.substr(0, 64))
      .Hint(
          "Known: targets, duration_ms, session, run, root, host_tracer_level, "
          "device_tracer_level, python_tracer_level, options.");
}

}  // namespace

Result<CaptureRequest> ParseCaptureBody(std::string_view body,
                                        const std::vector<std::string>& roots) {
  // Depth is bounded by the size of the body, which the server limits.
  const Json json = Json::parse(body.begin(), body.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) {
    return InvalidArgumentError("BODY_NOT_JSON", "The body is not a JSON object.")
        .Hint("Send {\"targets\": [\"127.0.0.1:9012\"], \"duration_ms\": 2000}.");
  }
  CaptureRequest request;
  for (const auto& [key, value] : json.items()) {
    STROBE_RETURN_IF_ERROR(ReadField(key, value, &request));
  }
  STROBE_RETURN_IF_ERROR(capture::CheckCaptureRequest(request));
  STROBE_CHECK(!roots.empty());
  if (request.root.empty()) request.root = roots.front();
  if (std::find(roots.begin(), roots.end(), request.root) == roots.end()) {
    return PermissionDeniedError("ROOT_NOT_ALLOWED", "Captures go only below the server's roots.")
        .Where(request.root.substr(0, 300))
        .Hint("Take one of capture_roots of /api/v1/config, or leave root out.");
  }
  return request;
}

}  // namespace strobe::api
