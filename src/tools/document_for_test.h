// Compares a document with the JSON that XProf gave for it.
//
//   EXPECT_EQ(DocumentDifference(result->document, json_text), "");
//
// Members may stand in any order; 64-bit integers are texts in XProf's JSON; numbers agree within
// 1e-9 of their size. The answer names the first place that differs.
#pragma once

#include <simdjson.h>

#include <cmath>
#include <string>
#include <string_view>

#include "src/tools/value.h"

namespace strobe::tools {

inline std::string Shown(simdjson::dom::element theirs) {
  return simdjson::to_string(theirs).substr(0, 200);
}

inline std::string ElementDifference(const std::string& path, const Value& ours,
                                     simdjson::dom::element theirs) {
  using Kind = Value::Kind;
  using Type = simdjson::dom::element_type;
  const auto differs = [&](const std::string& what) {
    return path + ": ours " + what + ", theirs " + Shown(theirs);
  };
  switch (ours.kind()) {
    case Kind::kNull:
      return theirs.is_null() ? "" : differs("null");
    case Kind::kBool:
      return theirs.is_bool() && bool(theirs) == ours.bool_value() ? "" : differs("a truth");
    case Kind::kInt64:
    case Kind::kUint64: {
      const std::string text = ours.kind() == Kind::kInt64 ? std::to_string(ours.int_value())
                                                           : std::to_string(ours.uint_value());
      std::string_view other;
      return theirs.get(other) == simdjson::SUCCESS && other == text ? "" : differs(text);
    }
    case Kind::kInt32:
    case Kind::kDouble: {
      double other = 0;
      const double number = ours.AsNumber();
      if (theirs.get(other) != simdjson::SUCCESS) return differs(std::to_string(number));
      const double scale = std::max(std::fabs(other), std::fabs(number));
      return std::fabs(other - number) <= 1e-9 * scale ? "" : differs(std::to_string(number));
    }
    case Kind::kString: {
      std::string_view other;
      return theirs.get(other) == simdjson::SUCCESS && other == ours.string_value()
                 ? ""
                 : differs(ours.string_value());
    }
    case Kind::kList: {
      if (theirs.type() != Type::ARRAY) return differs("a list");
      const simdjson::dom::array list = theirs.get_array().value();
      if (list.size() != ours.items().size()) {
        return path + ": ours " + std::to_string(ours.items().size()) + " items, theirs " +
               std::to_string(list.size());
      }
      size_t i = 0;
      for (const simdjson::dom::element item : list) {
        std::string difference =
            ElementDifference(path + "/" + std::to_string(i), ours.items()[i], item);
        if (!difference.empty()) return difference;
        ++i;
      }
      return "";
    }
    case Kind::kObject: {
      if (theirs.type() != Type::OBJECT) return differs("an object");
      const simdjson::dom::object object = theirs.get_object().value();
      for (size_t i = 0; i < ours.names().size(); ++i) {
        simdjson::dom::element item;
        if (object.at_key(ours.names()[i]).get(item) != simdjson::SUCCESS) {
          return path + "/" + ours.names()[i] + ": ours only";
        }
        std::string difference =
            ElementDifference(path + "/" + ours.names()[i], ours.items()[i], item);
        if (!difference.empty()) return difference;
      }
      for (const auto& field : object) {
        if (ours.Find(field.key) == nullptr) {
          return path + "/" + std::string(field.key) + ": theirs only, " + Shown(field.value);
        }
      }
      return "";
    }
  }
  return "";
}

inline std::string DocumentDifference(const Value& ours, const std::string& json) {
  simdjson::dom::parser parser;
  simdjson::dom::element theirs;
  if (parser.parse(json).get(theirs) != simdjson::SUCCESS) return "theirs is no JSON";
  return ElementDifference("", ours, theirs);
}

}  // namespace strobe::tools
