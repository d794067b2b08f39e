// Uploads: create, send parts, finish, look, remove.
#include <nlohmann/json.hpp>

#include "src/api/app.h"
#include "src/api/caller.h"
#include "src/api/json_answers.h"
#include "src/api/session_lookup.h"
#include "src/base/log.h"
#include "src/capture/upload.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;
using nlohmann::json;

// Unpacking runs at some hundred megabytes a second, sending to a bucket at what the link gives.
constexpr int64_t kFinishTimeoutMs = 60 * 60 * 1000;

Result<capture::UploadTable*> TableOf(const Context& context) {
  if (context->uploads != nullptr) return context->uploads;
  return FailedPreconditionError("UPLOADS_NOT_OFFERED",
                                 "This server has no place to put uploads into.")
      .Hint("Start it with a directory that it may write to, or with --uploads PLACE.");
}

// The project of the folder that an upload asks for: a folder of the place may belong to another.
Status CheckMayUpload(const Context& context, const Request& request,
                      const capture::UploadTable& table, const capture::UploadRequest& upload) {
  const std::string project(context->projects->OfPath(table.options().place + "/" + upload.run));
  return CheckRight(request, project, Right::kEdit);
}

// The upload that the address names, when the caller may touch it.
Result<capture::UploadState> UploadOf(const Context& context, const Request& request,
                                      capture::UploadTable& table) {
  STROBE_ASSIGN_OR_RETURN(capture::UploadState state, table.Get(std::string(request.Param("id"))));
  STROBE_RETURN_IF_ERROR(CheckMayUpload(context, request, table, state.request));
  return state;
}

std::string UploadJson(const capture::UploadState& state) {
  JsonWriter json;
  json.BeginObject();
  json.Key("id").String(state.id);
  json.Key("name").String(state.request.name);
  json.Key("size_bytes").SafeUint(state.request.size_bytes);
  json.Key("offset_bytes").SafeUint(state.offset_bytes);
  json.Key("part_max_bytes").SafeUint(capture::kMaxPartBytes);
  json.Key("expires_unix_ms").Int(state.expires_unix_ms);
  WriteTextOrNull(json, "sha256", state.sha256_hex);
  json.EndObject();
  return json.TakeText();
}

Response UploadResponse(const capture::UploadState& state, int status) {
  Response response = JsonResponse(UploadJson(state), status);
  response.cache_control = "no-store";
  response.revalidate = false;
  return response;
}

Status Malformed(const std::string& field, const std::string& expected) {
  return InvalidArgumentError("FIELD_MALFORMED",
                              "The field \"" + field + "\" is not what it must be.")
      .Where(field)
      .Hint("Expected " + expected + ".");
}

// A number of bytes: an integer, or decimal digits where it may exceed 2^53.
bool ReadBytes(const json& value, uint64_t* bytes) {
  if (value.is_number_unsigned()) {
    *bytes = value.get<uint64_t>();
    return true;
  }
  if (!value.is_string()) return false;
  const std::optional<int64_t> number = ParseInt64(value.get_ref<const std::string&>());
  if (!number || *number < 0) return false;
  *bytes = static_cast<uint64_t>(*number);
  return true;
}

Result<capture::UploadRequest> ParseUploadBody(std::string_view body) {
  const json parsed = json::parse(body.begin(), body.end(), nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) {
    return InvalidArgumentError("BODY_NOT_JSON", "The body is not a JSON object.")
        .Hint("Send {\"name\": \"host.xplane.pb\", \"size_bytes\": 1000}.");
  }
  capture::UploadRequest request;
  for (const auto& [key, value] : parsed.items()) {
    if (key == "size_bytes") {
      if (!ReadBytes(value, &request.size_bytes)) return Malformed(key, "a number of bytes");
      continue;
    }
    std::string* const text = key == "name"      ? &request.name
                              : key == "sha256"  ? &request.sha256_hex
                              : key == "run"     ? &request.run
                              : key == "session" ? &request.session
                                                 : nullptr;
    if (text == nullptr) {
      return InvalidArgumentError("FIELD_UNKNOWN", "The body has a field that is not known.")
          .Where(key.substr(0, 64))
          .Hint("Known: name, size_bytes, sha256, run, session.");
    }
    if (value.is_null()) continue;
    if (!value.is_string()) return Malformed(key, "a string");
    *text = value.get<std::string>();
  }
  return request;
}

Result<Response> CreateUpload(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(capture::UploadTable * table, TableOf(context));
  STROBE_ASSIGN_OR_RETURN(const capture::UploadRequest parsed, ParseUploadBody(request.body));
  STROBE_RETURN_IF_ERROR(CheckMayUpload(context, request, *table, parsed));
  STROBE_ASSIGN_OR_RETURN(const capture::UploadState state, table->Create(parsed));
  Response response = UploadResponse(state, 201);
  response.headers.emplace_back("Location", "/api/v1/uploads/" + state.id);
  return response;
}

Result<Response> GetUpload(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(capture::UploadTable * table, TableOf(context));
  STROBE_ASSIGN_OR_RETURN(const capture::UploadState state, UploadOf(context, request, *table));
  return UploadResponse(state, 200);
}

Result<Response> AppendPart(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(capture::UploadTable * table, TableOf(context));
  STROBE_RETURN_IF_ERROR(UploadOf(context, request, *table).status());
  const auto offset = static_cast<uint64_t>(request.QueryInt("offset").value_or(0));
  STROBE_ASSIGN_OR_RETURN(const capture::UploadState state,
                          table->Append(std::string(request.Param("id")), offset, request.body));
  return UploadResponse(state, 200);
}

Result<Response> RemoveUpload(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(capture::UploadTable * table, TableOf(context));
  STROBE_RETURN_IF_ERROR(UploadOf(context, request, *table).status());
  STROBE_RETURN_IF_ERROR(table->Remove(std::string(request.Param("id"))));
  return JsonResponse("{}");
}

Status RunFinish(const Context& context, capture::UploadTable& table, const std::string& id,
                 queue::OperationHandle& handle) {
  handle.Update([](queue::OperationState& state) { state.stage = "unpacking"; });
  STROBE_ASSIGN_OR_RETURN(const capture::UploadedSession session,
                          table.Finish(id, handle.cancel()));
  const std::string session_id = FindSessionId(*context->engine, session.session_path);
  handle.Update([&](queue::OperationState& state) {
    state.stage = "done";
    state.result = {{"session", session_id},
                    {"session_name", session.session_name},
                    {"hosts_saved", std::to_string(session.hosts)}};
  });
  return OkStatus();
}

Result<Response> FinishUpload(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(capture::UploadTable * table, TableOf(context));
  const std::string upload(request.Param("id"));
  STROBE_ASSIGN_OR_RETURN(const capture::UploadState waiting, UploadOf(context, request, *table));
  const std::string project(
      context->projects->OfPath(table->options().place + "/" + waiting.request.run));
  STROBE_ASSIGN_OR_RETURN(const std::string id,
                          context->operations->Start(
                              "upload", kFinishTimeoutMs, {},
                              [context, table, upload](queue::OperationHandle& handle) {
                                return RunFinish(context, *table, upload, handle);
                              },
                              project));
  STROBE_ASSIGN_OR_RETURN(const queue::OperationState state, context->operations->Get(id));
  JsonWriter json;
  WriteOperation(json, state);
  Response response = JsonResponse(json.TakeText(), 202);
  response.cache_control = "no-store";
  response.headers.emplace_back("Location", "/api/v1/operations/" + id);
  return response;
}

}  // namespace

void AddUploadRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back({.method = Method::kPost,
                     .pattern = "/api/v1/uploads",
                     .access = {Need::kEdit, Object::kInBody, Audit::kAlways},
                     .operation_id = "createUpload",
                     .tag = "upload",
                     .summary = "Begin to upload a profile, or a session as a zip or tar.",
                     .request_schema = "UploadRequest",
                     .response_schema = "Upload",
                     .success_status = 201,
                     .handler = [context](const Request& r) { return CreateUpload(context, r); }});
  routes->push_back({.pattern = "/api/v1/uploads/{id}",
                     .access = {Need::kEdit, Object::kInBody},
                     .operation_id = "getUpload",
                     .tag = "upload",
                     .summary = "How much of an upload has come: where to go on.",
                     .response_schema = "Upload",
                     .handler = [context](const Request& r) { return GetUpload(context, r); }});
  routes->push_back(
      {.method = Method::kPut,
       .pattern = "/api/v1/uploads/{id}",
       .access = {Need::kEdit, Object::kInBody},
       .operation_id = "appendUpload",
       .tag = "upload",
       .summary = "The next part, as application/octet-stream; it begins where the last one ended.",
       .query = {{.name = "offset",
                  .type = ParamType::kInteger,
                  .description = "Where the part begins: the upload's offset_bytes.",
                  .required = true,
                  .minimum = 0}},
       .response_schema = "Upload",
       .handler = [context](const Request& r) { return AppendPart(context, r); }});
  routes->push_back({.method = Method::kPost,
                     .pattern = "/api/v1/uploads/{id}:finish",
                     .access = {Need::kEdit, Object::kInBody, Audit::kAlways},
                     .operation_id = "finishUpload",
                     .tag = "upload",
                     .summary = "Make the session of what has come.",
                     .response_schema = "Operation",
                     .success_status = 202,
                     .handler = [context](const Request& r) { return FinishUpload(context, r); }});
  routes->push_back({.method = Method::kDelete,
                     .pattern = "/api/v1/uploads/{id}",
                     .access = {Need::kEdit, Object::kInBody, Audit::kAlways},
                     .operation_id = "removeUpload",
                     .tag = "upload",
                     .summary = "Take away what has come of an upload.",
                     .response_schema = "Empty",
                     .handler = [context](const Request& r) { return RemoveUpload(context, r); }});
}

}  // namespace strobe::api
