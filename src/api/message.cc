#include "src/api/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/api/request.h"
#include "src/base/utf8.h"
#include "src/catalog/time_text.h"

namespace strobe::api {
namespace {

using Json = nlohmann::json;

Status Malformed(const std::string& path, std::string_view expected) {
  return InvalidArgumentError("FIELD_MALFORMED",
                              fmt::format("The field \"{}\" is not what it must be.", path))
      .Where(path)
      .Hint(fmt::format("Expected {}.", expected));
}

const FieldSpec* FindFieldSpec(const MessageSpec& message, std::string_view name) {
  const std::string camel = ToCamelCase(name);
  for (const FieldSpec& field : message.fields) {
    if (field.name == camel) return &field;
  }
  return nullptr;
}

Status CheckTextValue(const std::string& path, const std::string& text) {
  if (text.find('\0') != std::string::npos) return Malformed(path, "text without zero bytes");
  return OkStatus();
}

Result<Json> NormalizeObject(const Json& value, const MessageSpec& message, const std::string& path,
                             int depth);

Result<Json> NormalizeEnum(const Json& value, const EnumSpec& words, const std::string& path) {
  if (value.is_number_integer()) {
    const auto number = value.get<int64_t>();
    if (number >= 0 && static_cast<size_t>(number) < words.words.size()) {
      return Json(std::string(words.words[static_cast<size_t>(number)]));
    }
  } else if (value.is_string()) {
    for (const std::string_view word : words.words) {
      if (word == value.get_ref<const std::string&>()) return value;
    }
  }
  std::string known;
  for (const std::string_view word : words.words) {
    known += (known.empty() ? "one of " : ", ") + std::string(word);
  }
  return Malformed(path, known);
}

Result<Json> NormalizeInteger(const Json& value, const std::string& path) {
  std::optional<int64_t> number;
  if (value.is_number_integer()) number = value.get<int64_t>();
  if (value.is_string()) number = ParseInt64(value.get_ref<const std::string&>());
  if (value.is_number_float() && std::floor(value.get<double>()) == value.get<double>() &&
      std::fabs(value.get<double>()) < 1e15) {
    number = static_cast<int64_t>(value.get<double>());
  }
  if (!number || *number < INT32_MIN || *number > INT32_MAX) {
    return Malformed(path, "a 32-bit integer");
  }
  return Json(*number);
}

Result<Json> NormalizeTime(const Json& value, FieldType type, const std::string& path) {
  const bool duration = type == FieldType::kDuration;
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    const Result<int64_t> parsed =
        duration ? catalog::ParseDuration(text) : catalog::ParseTimestamp(text);
    if (parsed.ok()) {
      if (!duration && *parsed == 0) return Json();  // Google's "no time"
      return Json(duration ? catalog::FormatDuration(*parsed) : catalog::FormatTimestamp(*parsed));
    }
  }
  return Malformed(path, duration ? "a duration such as \"5s\" or \"0.5s\""
                                  : "a time such as \"2026-11-29T10:15:00Z\"");
}

Result<Json> NormalizeMap(const Json& value, const FieldSpec& field, const std::string& path,
                          int depth) {
  if (!value.is_object() || value.size() > kMaxMapEntries) {
    return Malformed(path, fmt::format("an object of at most {} entries", kMaxMapEntries));
  }
  Json map = Json::object();
  for (const auto& [key, entry] : value.items()) {
    const std::string at = path + "." + key.substr(0, 64);
    STROBE_RETURN_IF_ERROR(CheckTextValue(at, key));
    if (field.type == FieldType::kMessageMap) {
      STROBE_ASSIGN_OR_RETURN(map[key], NormalizeObject(entry, *field.message, at, depth + 1));
      continue;
    }
    if (!entry.is_string()) return Malformed(at, "a string");
    STROBE_RETURN_IF_ERROR(CheckTextValue(at, entry.get_ref<const std::string&>()));
    map[key] = entry;
  }
  return map;
}

Result<Json> NormalizeValue(const Json& value, const FieldSpec& field, const std::string& path,
                            int depth) {
  switch (field.type) {
    case FieldType::kString:
      if (!value.is_string()) return Malformed(path, "a string");
      STROBE_RETURN_IF_ERROR(CheckTextValue(path, value.get_ref<const std::string&>()));
      return value;
    case FieldType::kBool:
      if (value.is_boolean()) return value;
      return Malformed(path, "true or false");
    case FieldType::kInt32:
      return NormalizeInteger(value, path);
    case FieldType::kDouble:
      if (value.is_number()) return value;
      return Malformed(path, "a number");
    case FieldType::kTimestamp:
    case FieldType::kDuration:
      return NormalizeTime(value, field.type, path);
    case FieldType::kEnum:
      return NormalizeEnum(value, *field.words, path);
    case FieldType::kMessage:
      return NormalizeObject(value, *field.message, path, depth + 1);
    case FieldType::kStringMap:
    case FieldType::kMessageMap:
      return NormalizeMap(value, field, path, depth);
  }
  return Malformed(path, "something else");
}

Result<Json> NormalizeField(const Json& value, const FieldSpec& field, const std::string& path,
                            int depth) {
  if (!field.repeated) return NormalizeValue(value, field, path, depth);
  if (!value.is_array()) return Malformed(path, "a list");
  Json list = Json::array();
  for (size_t i = 0; i < value.size(); ++i) {
    STROBE_ASSIGN_OR_RETURN(Json entry,
                            NormalizeValue(value[i], field, fmt::format("{}[{}]", path, i), depth));
    list.push_back(std::move(entry));
  }
  return list;
}

Result<Json> NormalizeObject(const Json& value, const MessageSpec& message, const std::string& path,
                             int depth) {
  if (depth > kMaxMessageDepth) return Malformed(path, "fewer levels");
  if (!value.is_object()) return Malformed(path.empty() ? "body" : path, "an object");
  Json object = Json::object();
  for (const auto& [key, entry] : value.items()) {
    const FieldSpec* field = FindFieldSpec(message, key);
    if (field == nullptr || entry.is_null()) continue;
    const std::string at =
        path.empty() ? std::string(field->name) : path + "." + std::string(field->name);
    STROBE_ASSIGN_OR_RETURN(Json normal, NormalizeField(entry, *field, at, depth));
    const bool unset = normal.is_null() ||
                       (field->type == FieldType::kEnum && !field->repeated &&
                        normal == field->words->words.front()) ||
                       (field->type == FieldType::kString && !field->repeated && normal == "") ||
                       (field->repeated && normal.empty());
    if (!unset) object[std::string(field->name)] = std::move(normal);
  }
  return object;
}

Json ParseStored(std::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json::object();
}

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const size_t dot = path.find('.');
    parts.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    path.remove_prefix(dot + 1);
  }
}

// Copies what is at the path, or takes it away where `from` has none.
void CopyPath(const Json& from, const std::vector<std::string>& parts, Json* to) {
  const Json* source = &from;
  for (const std::string& part : parts) {
    source = source != nullptr && source->is_object() && source->contains(part) ? &(*source)[part]
                                                                                : nullptr;
  }
  Json* target = to;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (!target->is_object()) *target = Json::object();
    if (source == nullptr && !target->contains(parts[i])) return;
    target = &(*target)[parts[i]];
  }
  if (!target->is_object()) *target = Json::object();
  if (source == nullptr) {
    target->erase(parts.back());
  } else {
    (*target)[parts.back()] = *source;
  }
}

}  // namespace

std::string ToCamelCase(std::string_view name) {
  std::string camel;
  bool upper = false;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
    } else {
      camel += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      upper = false;
    }
  }
  return camel;
}

Result<std::string> NormalizeMessage(std::string_view json, const MessageSpec& message) {
  if (json.empty()) return std::string("{}");
  const Json parsed = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded() || !parsed.is_object()) {
    return InvalidArgumentError("BODY_NOT_JSON", "The body is not a JSON object.")
        .Hint(fmt::format("Send a {} as JSON.", message.name));
  }
  STROBE_ASSIGN_OR_RETURN(const Json normal, NormalizeObject(parsed, message, "", 0));
  return normal.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool UpdateMask::Names(std::string_view top_level_field) const {
  if (everything) return true;
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    return std::string_view(path).substr(0, path.find('.')) == top_level_field;
  });
}

Result<UpdateMask> ParseUpdateMask(std::string_view text, const MessageSpec& message) {
  UpdateMask mask;
  text = TrimSpaces(text);
  if (text.empty()) return mask;
  mask.given = true;
  if (text == "*") return mask;
  mask.everything = false;
  for (bool more = true; more;) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = TrimSpaces(text.substr(0, comma));
    more = comma < text.size();
    text.remove_prefix(std::min(comma + 1, text.size()));
    std::string path;
    const MessageSpec* inside = &message;
    for (const std::string& name : SplitPath(part)) {
      const FieldSpec* field = inside == nullptr ? nullptr : FindFieldSpec(*inside, name);
      // Below a map are keys of the user's own.
      if (field == nullptr && inside != nullptr) {
        return InvalidArgumentError("MASK_FIELD_UNKNOWN", "The update mask names no field of this.")
            .Where(std::string(part.substr(0, 128)))
            .Hint(fmt::format("Name fields of {} separated by commas, or \"*\".", message.name));
      }
      path += (path.empty() ? "" : ".") + (field == nullptr ? name : std::string(field->name));
      inside = field != nullptr && field->type == FieldType::kMessage ? field->message : nullptr;
    }
    mask.paths.push_back(std::move(path));
  }
  return mask;
}

std::string ApplyMask(std::string_view current, std::string_view changes, const UpdateMask& mask) {
  if (mask.everything && mask.given) return std::string(changes);
  Json merged = ParseStored(current);
  const Json update = ParseStored(changes);
  if (!mask.given) {
    for (const auto& [key, value] : update.items()) merged[key] = value;
  }
  for (const std::string& path : mask.paths) CopyPath(update, SplitPath(path), &merged);
  return merged.dump();
}

}  // namespace strobe::api
