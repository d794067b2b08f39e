// What a change sends: the flags of gcloud's commands, and NAME=VALUE for everything else.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/api/request.h"
#include "src/catalog/time_text.h"
#include "src/cli/resource_command.h"

namespace strobe::cli {
namespace {

using Json = nlohmann::json;

Status FlagMalformed(std::string_view flag, std::string_view value, std::string hint) {
  return InvalidArgumentError("FLAG_MALFORMED", fmt::format("{} cannot be read.", flag))
      .Where(std::string(value.substr(0, 128)))
      .Hint(std::move(hint));
}

std::vector<std::string> Split(const std::vector<std::string>& values, char between) {
  std::vector<std::string> parts;
  for (const std::string& value : values) {
    for (size_t begin = 0; begin <= value.size();) {
      const size_t end = std::min(value.find(between, begin), value.size());
      if (end > begin) parts.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return parts;
}

// NAME=VALUE pairs into the map at `path` ("/labels"); nothing when there are none.
Status PutMap(std::string_view flag, const std::vector<std::string>& values, const char* path,
              Json* body) {
  for (const std::string& pair : Split(values, ',')) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return FlagMalformed(flag, pair, "Write NAME=VALUE, with commas between several.");
    }
    (*body)[Json::json_pointer(path)][pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return OkStatus();
}

std::string Upper(std::string_view text) {
  std::string upper;
  for (const char c : text) {
    upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
  }
  return upper;
}

// "xprof" and "xprof:sessionId=X".
Status PutTools(const std::vector<std::string>& tools, Json* body) {
  for (const std::string& text : tools) {
    const size_t colon = std::min(text.find(':'), text.size());
    const std::string tool = text.substr(0, colon);
    if (tool != "xprof" && tool != "smon") {
      return FlagMalformed("--tools", text, "Write xprof, xprof:sessionId=ID or smon.");
    }
    Json entry{{tool, Json::object()}};
    if (colon < text.size()) {
      const size_t equals = text.find('=', colon);
      if (equals == std::string::npos) {
        return FlagMalformed("--tools", text, "Write xprof:sessionId=ID.");
      }
      entry[tool][text.substr(colon + 1, equals - colon - 1)] = text.substr(equals + 1);
    }
    (*body)["tools"].push_back(std::move(entry));
  }
  return OkStatus();
}

// "info" and gcloud's own "host-tracer-level-info" are HOST_TRACER_LEVEL_INFO.
void PutLevel(const std::string& value, const char* prefix, const char* field, Json* body) {
  if (value.empty()) return;
  std::string word = Upper(value);
  if (!word.starts_with(prefix)) word = prefix + word;
  (*body)[field] = word;
}

Status PutRun(const ResourceOptions& options, Json* body) {
  if (!options.display_name.empty()) (*body)["displayName"] = options.display_name;
  if (!options.run_group.empty()) (*body)["runGroup"] = options.run_group;
  if (!options.gcs_path.empty()) (*body)["artifacts"]["gcsPath"] = options.gcs_path;
  if (!options.orchestrator.empty()) (*body)["orchestrator"] = Upper(options.orchestrator);
  if (!options.run_phase.empty()) (*body)["runPhase"] = Upper(options.run_phase);
  STROBE_RETURN_IF_ERROR(PutTools(options.tools, body));
  STROBE_RETURN_IF_ERROR(PutMap("--labels", options.labels, "/labels", body));
  STROBE_RETURN_IF_ERROR(
      PutMap("--configs-software", options.software, "/configs/softwareConfigs", body));
  STROBE_RETURN_IF_ERROR(
      PutMap("--configs-hardware", options.hardware, "/configs/hardwareConfigs", body));
  return PutMap("--configs-user", options.user, "/configs/userConfigs", body);
}

Status PutCapture(const ResourceOptions& options, Json* body) {
  const std::string run = fmt::format("projects/{}/locations/{}/machineLearningRuns/{}",
                                      options.project, options.location, options.run);
  if (options.verb == "capture") {
    (*body)["kind"] =
        "KIND_" + Upper(options.capture_kind.empty() ? "on-demand" : options.capture_kind);
    (*body)["name"] = run + "/profilerSessions/" + options.id;
  }
  for (const std::string& target : Split(options.targets, ',')) {
    const bool whole = target.find('/') != std::string::npos;
    (*body)["profilerTargets"].push_back(whole ? target : run + "/profilerTargets/" + target);
  }
  if (!options.duration.empty()) {
    STROBE_ASSIGN_OR_RETURN((*body)["duration"], DurationText(options.duration));
  }
  PutLevel(options.host_level, "HOST_TRACER_LEVEL_", "hostTracerLevel", body);
  PutLevel(options.device_level, "DEVICE_TRACER_LEVEL_", "deviceTracerLevel", body);
  PutLevel(options.python_level, "PYTHON_TRACER_LEVEL_", "pythonTracerLevel", body);
  if (options.xprof_server_port != 0) (*body)["xprofServerPort"] = options.xprof_server_port;
  return OkStatus();
}

void PutTarget(const ResourceOptions& options, Json* body) {
  if (!options.hostname.empty()) (*body)["hostname"] = options.hostname;
  if (options.node_index != 0) (*body)["nodeIndex"] = options.node_index;
  if (options.is_master) (*body)["isMaster"] = true;
}

// NAME=VALUE pairs; dots go below, true and false are booleans.
Status PutFields(const ResourceOptions& options, Json* body) {
  for (const std::string& field : options.fields) {
    const size_t equals = field.find('=');
    if (equals == std::string::npos || equals == 0) {
      return InvalidArgumentError("FIELD_MALFORMED", "A field is NAME=VALUE.")
          .Where(field.substr(0, 128))
          .Hint("Write for example --set displayName=llama --set artifacts.gcsPath=/logs.");
    }
    Json* at = body;
    const std::string name = field.substr(0, equals);
    for (size_t begin = 0; begin <= name.size();) {
      const size_t dot = std::min(name.find('.', begin), name.size());
      at = &(*at)[name.substr(begin, dot - begin)];
      if (!at->is_null() && !at->is_object() && dot < name.size()) {
        return InvalidArgumentError("FIELD_MALFORMED", "A field is given twice in two forms.")
            .Where(name);
      }
      begin = dot + 1;
    }
    const std::string value = field.substr(equals + 1);
    if (value == "true" || value == "false") {
      *at = options.kind == ResourceKind::kTarget ? Json(value == "true") : Json(value);
    } else {
      *at = value;
    }
  }
  return OkStatus();
}

}  // namespace

Result<std::string> DurationText(std::string_view text) {
  const Status malformed =
      FlagMalformed("--duration", text, "Write for example 5s, 500ms, 2m or 1h.");
  constexpr int64_t kMsNs = 1'000'000;
  int64_t unit_ns = 1000 * kMsNs;
  std::string_view number = text;
  if (number.ends_with("ms")) {
    unit_ns = kMsNs;
    number.remove_suffix(2);
  } else if (number.ends_with('s')) {
    number.remove_suffix(1);
  } else if (number.ends_with('m')) {
    unit_ns = 60 * 1000 * kMsNs;
    number.remove_suffix(1);
  } else if (number.ends_with('h')) {
    unit_ns = 3600 * 1000 * kMsNs;
    number.remove_suffix(1);
  }
  const std::optional<int64_t> whole = api::ParseInt64(number);
  // No capture takes longer than a day.
  if (!whole || *whole < 0 || *whole > 86'400'000) return malformed;
  return catalog::FormatDuration(*whole * unit_ns);
}

Result<std::string> ResourceBody(const ResourceOptions& options) {
  Json body = Json::object();
  if (options.kind == ResourceKind::kRun) STROBE_RETURN_IF_ERROR(PutRun(options, &body));
  if (options.kind == ResourceKind::kSession) STROBE_RETURN_IF_ERROR(PutCapture(options, &body));
  if (options.kind == ResourceKind::kTarget) PutTarget(options, &body);
  STROBE_RETURN_IF_ERROR(PutFields(options, &body));
  if (!options.etag.empty()) body["etag"] = options.etag;
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace strobe::cli
