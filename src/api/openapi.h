// The OpenAPI 3.1 description, generated from the table of routes and the schemas.
//
//   const std::string text = OpenApiJson(routes);
//
// Served at /api/v1/openapi.json and kept in docs/api/openapi.json; tests check that both are the
// same, that every route is described, and that real answers fit the schemas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/api/router.h"

namespace strobe::api {

std::string OpenApiJson(const std::vector<Route>& routes);
// The JSON object below components/schemas.
std::string_view SchemasJson();

}  // namespace strobe::api
