#include "src/cli/resource_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/cli/api_client.h"
#include "src/cli/command.h"
#include "src/cli/text.h"

namespace strobe::cli {
namespace {

using Json = nlohmann::json;

struct KindFacts {
  std::string_view collection;
  std::string_view id_query;
  std::string_view columns;
};

KindFacts FactsOf(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::kRun:
      return {"machineLearningRuns", "machineLearningRunId",
              "name.basename(),displayName,state,runSet,createTime,artifacts.gcsPath"};
    case ResourceKind::kTarget:
      return {"profilerTargets", "profilerTargetId", "name.basename(),hostname,nodeIndex"};
    case ResourceKind::kSession:
      return {"profilerSessions", "profilerSessionId",
              "name.basename(),kind,state,createTime,sizeBytes,dashboardUri"};
    case ResourceKind::kEvent:
      return {"monitoredEvents", "monitoredEventId",
              "name.basename(),type,startTime,endTime,displayName"};
    case ResourceKind::kOperation:
      return {"operations", "", "name.basename(),metadata.verb,done,metadata.target"};
  }
  return {};
}

bool IsBelowRun(ResourceKind kind) {
  return kind != ResourceKind::kRun && kind != ResourceKind::kOperation;
}

std::string Collection(const ResourceOptions& options) {
  std::string path = fmt::format("/v1alpha/projects/{}/locations/{}",
                                 PercentEncode(options.project), PercentEncode(options.location));
  if (IsBelowRun(options.kind)) {
    path += "/machineLearningRuns/" + PercentEncode(options.run);
  }
  return path + "/" + std::string(FactsOf(options.kind).collection);
}

// NAME=VALUE pairs as a JSON object; dots go below, true and false are booleans.
Result<std::string> BodyOf(const ResourceOptions& options) {
  Json body = Json::object();
  for (const std::string& field : options.fields) {
    const size_t equals = field.find('=');
    if (equals == std::string::npos || equals == 0) {
      return InvalidArgumentError("FIELD_MALFORMED", "A field is NAME=VALUE.")
          .Where(field.substr(0, 128))
          .Hint("Write for example --set displayName=llama --set artifacts.gcsPath=/logs.");
    }
    Json* at = &body;
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
  if (!options.etag.empty()) body["etag"] = options.etag;
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Json> Ask(ApiClient& client, const std::string& method, const std::string& target,
                 const std::string& body = "") {
  STROBE_ASSIGN_OR_RETURN(const ApiReply reply, client.Send(method, target, body));
  Json json = Json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return UnavailableError("SERVER_ANSWER_BROKEN", "The server's answer is no JSON object.");
  }
  return json;
}

Status Print(const ResourceOptions& options, const Json& items, bool one) {
  std::string format = options.format;
  if (format.empty()) format = one ? "yaml" : "table";
  if (format == "table" || format == "csv" || format == "value") {
    format += "(" + std::string(FactsOf(options.kind).columns) + ")";
  }
  STROBE_ASSIGN_OR_RETURN(
      const std::string text,
      FormatResources(items.dump(-1, ' ', false, Json::error_handler_t::replace), format, one));
  PrintOut(text);
  return OkStatus();
}

Result<int> List(ApiClient& client, const ResourceOptions& options) {
  const KindFacts facts = FactsOf(options.kind);
  Json items = Json::array();
  std::string page_token;
  do {
    std::string target = fmt::format(
        "{}?pageSize={}&filter={}&orderBy={}&pageToken={}", Collection(options), options.page_size,
        PercentEncode(options.filter), PercentEncode(options.order_by), PercentEncode(page_token));
    if (options.refresh && page_token.empty()) target += "&refresh=true";
    STROBE_ASSIGN_OR_RETURN(const Json page, Ask(client, "GET", target));
    for (const Json& item : page.value(std::string(facts.collection), Json::array())) {
      if (options.limit == 0 || items.size() < options.limit) items.push_back(item);
    }
    page_token = page.value("nextPageToken", std::string());
  } while (!page_token.empty() && (options.limit == 0 || items.size() < options.limit));
  if (items.empty() && (options.format.empty() || options.format.starts_with("table"))) {
    PrintError("Listed 0 items.\n");
    return int{kExitOk};
  }
  STROBE_RETURN_IF_ERROR(Print(options, items, /*one=*/false));
  return int{kExitOk};
}

// The resource inside an operation's answer, or the answer itself.
Json ResultOf(const Json& answer) {
  if (!answer.contains("response")) return answer;
  Json resource = answer["response"];
  resource.erase("@type");
  return resource;
}

}  // namespace

Result<int> RunResource(const ResourceOptions& options) {
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> client,
                          OpenApiClient(options.server, {}, /*needs_session=*/false));
  if (IsBelowRun(options.kind) && options.run.empty()) {
    return InvalidArgumentError("USAGE", "The run is missing.")
        .Hint("Add --run ID; --run - lists those of all runs.");
  }
  if (options.verb == "list") return List(*client, options);
  const std::string collection = Collection(options);
  const std::string one = collection + "/" + PercentEncode(options.id);
  Json answer;
  if (options.verb == "describe") {
    STROBE_ASSIGN_OR_RETURN(answer, Ask(*client, "GET", one));
  } else if (options.verb == "create") {
    std::string target = collection;
    if (!options.id.empty()) {
      target += fmt::format("?{}={}", FactsOf(options.kind).id_query, PercentEncode(options.id));
    }
    STROBE_ASSIGN_OR_RETURN(const std::string body, BodyOf(options));
    STROBE_ASSIGN_OR_RETURN(answer, Ask(*client, "POST", target, body));
  } else if (options.verb == "update") {
    STROBE_ASSIGN_OR_RETURN(const std::string body, BodyOf(options));
    STROBE_ASSIGN_OR_RETURN(
        answer,
        Ask(*client, "PATCH", one + "?updateMask=" + PercentEncode(options.update_mask), body));
  } else if (options.verb == "cancel") {
    STROBE_RETURN_IF_ERROR(Ask(*client, "POST", one + ":cancel", "{}").status());
    PrintError("Asked " + Printable(options.id) + " to stop.\n");
    return int{kExitOk};
  } else {
    STROBE_RETURN_IF_ERROR(
        Ask(*client, "DELETE", one + (options.force ? "?force=true" : "")).status());
    PrintError("Deleted " + Printable(options.id) + ".\n");
    return int{kExitOk};
  }
  const Json shown = options.kind == ResourceKind::kOperation ? answer : ResultOf(answer);
  STROBE_RETURN_IF_ERROR(Print(options, Json::array({shown}), /*one=*/true));
  return int{kExitOk};
}

}  // namespace strobe::cli
