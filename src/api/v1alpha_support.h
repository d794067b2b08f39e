// What all routes of the ML Diagnostics API share: Google's error shape, names in both spellings,
// list parameters, and changes that answer with an operation.
//
//   routes->push_back(MlRoute({.method = Method::kPost, .pattern = ...}, [context](const Request&
//   r)
//       -> Result<Response> {
//     return Mutate(*context, r, KeyOf(r), "create", [&](Transaction& transaction, Operation* o)
//         -> Result<std::string> { ...; return TypedJson(RunJson(run), "MachineLearningRun"); });
//   }));
//
// Mutate runs everything in one transaction: what is changed, the operation, the request id and the
// audit record. It answers when the commit is durable.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/api/app.h"
#include "src/catalog/catalog.h"
#include "src/catalog/rules.h"

namespace strobe::api {

inline constexpr std::string_view kMlTypePrefix =
    "type.googleapis.com/google.cloud.hypercomputecluster.v1alpha.";
inline constexpr int64_t kDefaultPageSizeRuns = 10;
inline constexpr int64_t kDefaultPageSizeEvents = 50;

// {"error": {"code": 409, "message", "status", "details": [...]}}. An ALREADY_EXISTS carries
// ResourceInfo with `where` as the resource's name. No true, false or null is in it: the SDK reads
// some of these bodies as Python.
Response GoogleErrorResponse(const Status& error, int http_status = 0);
// The route as given, its handler's errors in Google's shape.
Route MlRoute(Route route, std::function<Result<Response>(const Request&)> handler);

// A query parameter in camel or snake case.
std::string_view QueryEither(const Request& request, std::string_view camel_name);
// {project}, {location}, {run}, {id} of the matched route.
catalog::Key KeyOf(const Request& request);
// `parent` with filter, order and paging of the request. Errors: PAGE_SIZE_MALFORMED.
Result<catalog::ListQuery> ListQueryOf(const Request& request, catalog::Key parent,
                                       int64_t default_page_size);
// Under which the client reached us: what answers link to.
std::string BaseUrlOf(const Request& request);
// {"<field>": [...], "nextPageToken": "..."}
std::string ListJson(std::string_view field, const std::vector<std::string>& items,
                     std::string_view next_page_token);
Response MlResponse(std::string json);

// UNAVAILABLE when the server has none.
Result<catalog::Catalog*> CatalogOf(const AppContext& context);

std::string TypedJson(std::string_view json, std::string_view message);
std::string EmptyTypedJson();
std::string OperationResourceJson(const catalog::Operation& operation);

using MutateWork = std::function<Result<std::string>(catalog::Transaction&, catalog::Operation*)>;
// `parent` has project and location; `work` sets the operation's target and returns the response.
// With an empty response the operation is left open; `on_committed` then begins its work, and is
// not called for a request that was answered before.
Result<Response> Mutate(AppContext& context, const Request& request, const catalog::Key& parent,
                        std::string_view verb, const MutateWork& work,
                        const std::function<void(const catalog::Operation&)>& on_committed = {});
// For creates: an ALREADY_EXISTS names the whole resource.
Status NamingResource(Status status, const std::string& resource_name);

}  // namespace strobe::api
