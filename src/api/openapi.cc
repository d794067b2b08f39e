#include "src/api/openapi.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "src/api/app.h"

namespace strobe::api {
namespace {

// Keys in the order they are written here, so that the file reads well and differs little.
using Json = nlohmann::ordered_json;

Json SchemaRef(const std::string& name) { return Json{{"$ref", "#/components/schemas/" + name}}; }

Json PathParameters(const std::string& pattern) {
  Json parameters = Json::array();
  for (size_t open = pattern.find('{'); open != std::string::npos;
       open = pattern.find('{', open + 1)) {
    const size_t close = pattern.find('}', open);
    const std::string name = pattern.substr(open + 1, close - open - 1);
    const bool number =
        name == "host" || name == "plane" || name == "chunk" || name == "level" || name == "index";
    parameters.push_back(Json{{"name", name},
                              {"in", "path"},
                              {"required", true},
                              {"schema", Json{{"type", number ? "integer" : "string"}}}});
  }
  return parameters;
}

Json QueryParameter(const QueryParam& param) {
  Json schema{{"type", param.type == ParamType::kInteger ? "integer" : "string"}};
  if (param.minimum) schema["minimum"] = *param.minimum;
  if (param.maximum) schema["maximum"] = *param.maximum;
  Json json{{"name", param.name}, {"in", "query"}, {"description", param.description}};
  json["required"] = param.required;
  json["schema"] = schema;
  return json;
}

Json ContentOf(const Route& route) {
  Json media = Json::object();
  if (!route.response_schema.empty()) media["schema"] = SchemaRef(route.response_schema);
  return Json{{route.response_type, media}};
}

Json JsonBody(Json schema) {
  return Json{{"required", true},
              {"content", Json{{"application/json", Json{{"schema", std::move(schema)}}}}}};
}

Json DescribeRoute(const Route& route) {
  Json parameters = PathParameters(route.pattern);
  for (const QueryParam& param : route.query) parameters.push_back(QueryParameter(param));
  Json json{{"operationId", route.operation_id},
            {"tags", Json::array({route.tag})},
            {"summary", route.summary},
            {"x-need", std::string(NeedName(route.access.need))},
            {"x-object", std::string(ObjectName(route.access.object))}};
  if (!parameters.empty()) json["parameters"] = parameters;
  if (!route.request_schema.empty()) {
    json["requestBody"] = JsonBody(SchemaRef(route.request_schema));
  } else if (route.method == Method::kPost && route.pattern.starts_with("/api/v1/")) {
    // What is posted must be declared as JSON, also when nothing is said.
    json["requestBody"] = JsonBody(Json{{"type", "object"}});
  }
  json["responses"] = Json{
      {std::to_string(route.success_status),
       Json{{"description", route.summary}, {"content", ContentOf(route)}}},
      {"default",
       Json{{"description", "A named error."},
            {"content", Json{{"application/json", Json{{"schema", SchemaRef("ErrorAnswer")}}}}}}}};
  return json;
}

}  // namespace

std::string OpenApiJson(const std::vector<Route>& routes) {
  Json paths = Json::object();
  for (const Route& route : routes) {
    // The console's addresses are pages for people, not part of the API.
    if (route.pattern == kAnyPath || !route.documented) continue;
    paths[route.pattern][ToLowerAscii(MethodName(route.method))] = DescribeRoute(route);
  }
  const Json document{
      {"openapi", "3.1.0"},
      {"info",
       Json{{"title", "Strobe"},
            {"version", std::string(kVersion)},
            {"description",
             "Profiles of JAX and XLA programs. Times are integer picoseconds relative to the "
             "session's origin; integers that can exceed 2^53 are decimal strings; unknown is "
             "null. docs/api/v1.md says what the fields mean."},
            {"license", Json{{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers", Json::array({Json{{"url", "/"}}})},
      {"paths", paths},
      {"components", Json{{"schemas", Json::parse(SchemasJson())}}}};
  return document.dump(2) + "\n";
}

}  // namespace strobe::api
