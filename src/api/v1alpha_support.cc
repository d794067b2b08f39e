#include "src/api/v1alpha_support.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/hash.h"
#include "src/base/json_writer.h"
#include "src/catalog/audit.h"
#include "src/catalog/time_text.h"

namespace strobe::api {
namespace {

using catalog::Operation;

void WriteDetails(JsonWriter& json, const Status& error) {
  json.Key("details").BeginArray();
  if (error.code() == StatusCode::kAlreadyExists && !error.where().empty()) {
    json.BeginObject();
    json.Key("@type").String("type.googleapis.com/google.rpc.ResourceInfo");
    json.Key("resourceName").String(error.where());
    json.Key("description").String(error.message());
    json.EndObject();
  }
  json.BeginObject();
  json.Key("@type").String("type.googleapis.com/google.rpc.ErrorInfo");
  json.Key("reason").String(error.name());
  json.Key("domain").String("strobe");
  if (!error.where().empty() || !error.hint().empty()) {
    json.Key("metadata").BeginObject();
    if (!error.where().empty()) json.Key("where").String(error.where());
    if (!error.hint().empty()) json.Key("hint").String(error.hint());
    json.EndObject();
  }
  json.EndObject();
  json.EndArray();
}

// Same method, address and body: the same request. The id itself is not part of it.
std::string FingerprintOf(const Request& request) {
  Hasher hasher;
  hasher.Add(MethodName(request.method));
  hasher.Add(request.path);
  for (const auto& [name, value] : request.query) {
    if (name == "requestId" || name == "request_id") continue;
    hasher.Add(fmt::format("{}:{}={}", value.size(), name, value));
  }
  hasher.Add(request.body);
  return hasher.Digest128().ToHex();
}

}  // namespace

Response GoogleErrorResponse(const Status& error, int http_status) {
  int status = http_status != 0 ? http_status : HttpStatusOf(error.code());
  // Google's mapping differs from ours here.
  if (http_status == 0 && error.code() == StatusCode::kFailedPrecondition) status = 400;
  std::string message(error.message());
  if (!error.where().empty()) message += fmt::format(" ({})", error.where());
  if (!error.hint().empty()) message += fmt::format(" {}", error.hint());
  JsonWriter json;
  json.BeginObject();
  json.Key("error").BeginObject();
  json.Key("code").Int(status);
  json.Key("message").String(message);
  json.Key("status").String(StatusCodeName(error.code()));
  WriteDetails(json, error);
  json.EndObject();
  json.EndObject();
  Response response = JsonResponse(json.TakeText(), status);
  response.cache_control = "no-store";
  response.revalidate = false;
  response.error_name = std::string(error.name());
  return response;
}

Route MlRoute(Route route, std::function<Result<Response>(const Request&)> handler) {
  route.tag = "ml-diagnostics";
  route.handler = [handler = std::move(handler)](const Request& request) -> Result<Response> {
    Result<Response> result = handler(request);
    if (result.ok()) return result;
    return GoogleErrorResponse(result.status());
  };
  return route;
}

std::string_view QueryEither(const Request& request, std::string_view camel_name) {
  std::string snake;
  for (const char c : camel_name) {
    if (c >= 'A' && c <= 'Z') {
      snake += '_';
      snake += static_cast<char>(c - 'A' + 'a');
    } else {
      snake += c;
    }
  }
  for (const auto& [name, value] : request.query) {
    if (name == camel_name || name == snake) return value;
  }
  return "";
}

catalog::Key KeyOf(const Request& request) {
  return {std::string(request.Param("project")), std::string(request.Param("location")),
          std::string(request.Param("run")), std::string(request.Param("id"))};
}

Result<catalog::ListQuery> ListQueryOf(const Request& request, catalog::Key parent,
                                       int64_t default_page_size) {
  catalog::ListQuery query;
  query.parent = std::move(parent);
  query.filter = QueryEither(request, "filter");
  query.order_by = QueryEither(request, "orderBy");
  query.page_token = QueryEither(request, "pageToken");
  query.page_size = default_page_size;
  const std::string_view size = QueryEither(request, "pageSize");
  if (!size.empty()) {
    const std::optional<int64_t> parsed = ParseInt64(size);
    if (!parsed) {
      return InvalidArgumentError("PAGE_SIZE_MALFORMED", "The page size is not an integer.")
          .Where(std::string(size.substr(0, 32)));
    }
    // 0 is proto's unset.
    if (*parsed != 0) query.page_size = *parsed;
  }
  return query;
}

std::string BaseUrlOf(const Request& request) {
  return (request.secure ? "https://" : "http://") + std::string(request.HeaderValue("host"));
}

std::string ListJson(std::string_view field, const std::vector<std::string>& items,
                     std::string_view next_page_token) {
  JsonWriter json;
  json.BeginObject();
  if (!items.empty()) {
    json.Key(field).BeginArray();
    for (const std::string& item : items) json.Raw(item);
    json.EndArray();
  }
  if (!next_page_token.empty()) json.Key("nextPageToken").String(next_page_token);
  json.EndObject();
  return json.TakeText();
}

Response MlResponse(std::string json) {
  Response response = JsonResponse(std::move(json));
  // Whoever polls must see the newest.
  response.cache_control = "no-store";
  response.revalidate = false;
  return response;
}

Result<catalog::Catalog*> CatalogOf(const AppContext& context) {
  if (context.catalog != nullptr) return context.catalog;
  return UnavailableError("CATALOG_NOT_OPEN", "This server keeps no runs.")
      .Hint("Start it with --catalog FILE or --catalog postgresql://...");
}

std::string TypedJson(std::string_view json, std::string_view message) {
  STROBE_CHECK(json.size() >= 2 && json.front() == '{');
  const std::string_view rest = json.substr(1);
  return fmt::format("{{\"@type\":\"{}{}\"{}{}", kMlTypePrefix, message, rest == "}" ? "" : ",",
                     rest);
}

std::string EmptyTypedJson() { return R"({"@type":"type.googleapis.com/google.protobuf.Empty"})"; }

std::string OperationResourceJson(const Operation& operation) {
  JsonWriter json;
  json.BeginObject();
  json.Key("name").String(catalog::OperationName(operation.key()));
  json.Key("metadata").BeginObject();
  json.Key("@type").String(std::string(kMlTypePrefix) + "OperationMetadata");
  json.Key("createTime").String(catalog::FormatTimestamp(operation.create_unix_ns));
  if (operation.end_unix_ns != 0) {
    json.Key("endTime").String(catalog::FormatTimestamp(operation.end_unix_ns));
  }
  json.Key("target").String(operation.target);
  json.Key("verb").String(operation.verb);
  json.Key("requestedCancellation").Bool(operation.cancel_requested != 0);
  json.Key("apiVersion").String("v1alpha");
  if (!operation.progress.empty()) json.Key("progress").Raw(operation.progress);
  json.EndObject();
  json.Key("done").Bool(operation.done != 0);
  if (operation.done != 0 && operation.error_code != 0) {
    json.Key("error").BeginObject();
    json.Key("code").Int(operation.error_code);
    json.Key("message").String(operation.error_message);
    json.EndObject();
  } else if (operation.done != 0) {
    json.Key("response").Raw(operation.response);
  }
  json.EndObject();
  return json.TakeText();
}

Result<Response> Mutate(AppContext& context, const Request& request, const catalog::Key& parent,
                        std::string_view verb, const MutateWork& work,
                        const std::function<void(const Operation&)>& on_committed) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(context));
  const std::string_view request_id = QueryEither(request, "requestId");
  const std::string fingerprint = FingerprintOf(request);
  Operation operation;
  bool fresh = false;
  const auto change = [&](catalog::Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(const std::optional<Operation> answered,
                            catalog::FindAnswered(transaction, parent, request_id, fingerprint));
    fresh = !answered;
    if (answered) {
      operation = *answered;
      return OkStatus();
    }
    operation = catalog::MakeOperation(transaction, parent, "", verb);
    STROBE_ASSIGN_OR_RETURN(std::string response, work(transaction, &operation));
    if (!response.empty()) {
      catalog::Finish(transaction.clock().NowUnixNanos(), std::move(response), &operation);
    }
    STROBE_RETURN_IF_ERROR(transaction.Insert(operation));
    return catalog::RememberAnswered(transaction, operation, request_id, fingerprint);
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*catalog, request.trail.get(), change));
  if (fresh && on_committed) on_committed(operation);
  return MlResponse(OperationResourceJson(operation));
}

Status NamingResource(Status status, const std::string& resource_name) {
  if (status.code() != StatusCode::kAlreadyExists) return status;
  return std::move(status).Where(resource_name);
}

}  // namespace strobe::api
