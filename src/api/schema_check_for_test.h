// Holds a JSON value against a schema of openapi.json: the part of JSON Schema that ours use.
// Fields that the schema does not name are faults too, so that the description cannot fall behind.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace strobe::api {

inline bool FitsType(const nlohmann::json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  return type == "null" && value.is_null();
}

// Empty when it fits, else where and why not.
inline std::string CheckSchema(const nlohmann::json& value, const nlohmann::json& schema,
                               const nlohmann::json& schemas, const std::string& at = "$") {
  if (schema.contains("$ref")) {
    const std::string ref = schema["$ref"];
    const std::string name = ref.substr(ref.rfind('/') + 1);
    if (!schemas.contains(name)) return at + ": no schema " + name;
    return CheckSchema(value, schemas[name], schemas, at);
  }
  if (schema.contains("oneOf")) {
    std::string all;
    for (const auto& option : schema["oneOf"]) {
      const std::string fault = CheckSchema(value, option, schemas, at);
      if (fault.empty()) return "";
      all += fault + "; ";
    }
    return all;
  }
  if (schema.contains("type")) {
    bool fits = false;
    if (schema["type"].is_array()) {
      for (const auto& type : schema["type"]) fits = fits || FitsType(value, type);
    } else {
      fits = FitsType(value, schema["type"]);
    }
    if (!fits) return at + ": " + value.dump().substr(0, 60) + " is not " + schema["type"].dump();
  }
  if (schema.contains("enum")) {
    bool known = false;
    for (const auto& option : schema["enum"]) known = known || option == value;
    if (!known) return at + ": " + value.dump() + " is none of " + schema["enum"].dump();
  }
  if (value.is_array() && schema.contains("items")) {
    for (size_t i = 0; i < value.size(); ++i) {
      const std::string fault =
          CheckSchema(value[i], schema["items"], schemas, at + "[" + std::to_string(i) + "]");
      if (!fault.empty()) return fault;
    }
  }
  if (!value.is_object() || !schema.contains("properties")) return "";
  for (const auto& required : schema["required"]) {
    if (!value.contains(required)) return at + ": no " + required.dump();
  }
  for (const auto& [key, field] : value.items()) {
    if (!schema["properties"].contains(key)) return at + ": unknown field " + key;
    const std::string fault =
        CheckSchema(field, schema["properties"][key], schemas, at + "." + key);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace strobe::api
