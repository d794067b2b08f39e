// JSON as protobuf's JSON mapping has it, checked against a description of the message: what
// Google's clients send and read.
//
//   STROBE_ASSIGN_OR_RETURN(std::string body, NormalizeMessage(request.body, RunMessage()));
//   // {"display_name": "a", "junk": 1, "runPhase": 1} -> {"displayName":"a","runPhase":"ACTIVE"}
//
// Field names may come in snake or camel case, enums as words or numbers, numbers as numbers or
// text. Unknown fields and nulls are left out. What comes back is in one spelling: camel case, enum
// words, times with nine digits, keys sorted. Errors: BODY_NOT_JSON, FIELD_MALFORMED with the
// field's path. Limits: the server's body size, kMaxMessageDepth, kMaxMapEntries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace strobe::api {

// Our deepest message has five levels.
inline constexpr int kMaxMessageDepth = 16;
// Labels and configs; Google allows 64 labels, configs of large frameworks have some hundred.
inline constexpr size_t kMaxMapEntries = 4096;

struct EnumSpec {
  std::string_view name;
  // The first is the unspecified one, number 0; it is left out like an unset field.
  std::vector<std::string_view> words;
};

enum class FieldType : uint8_t {
  kString,
  kBool,
  kInt32,
  kDouble,
  kTimestamp,
  kDuration,
  kEnum,
  kMessage,
  kStringMap,
  kMessageMap,
};

struct MessageSpec;

struct FieldSpec {
  std::string_view name;  // camel case
  FieldType type = FieldType::kString;
  const MessageSpec* message = nullptr;
  const EnumSpec* words = nullptr;
  bool repeated = false;
};

struct MessageSpec {
  std::string_view name;
  std::vector<FieldSpec> fields;
};

// A JSON object in the one spelling; an empty body is an empty object.
Result<std::string> NormalizeMessage(std::string_view json, const MessageSpec& message);

// What an update changes: "*" or empty is everything (`everything` is then true), else the paths in
// camel case. Errors: MASK_MALFORMED, MASK_FIELD_UNKNOWN.
struct UpdateMask {
  bool everything = true;
  bool given = false;
  std::vector<std::string> paths;
  bool Names(std::string_view top_level_field) const;
};
Result<UpdateMask> ParseUpdateMask(std::string_view text, const MessageSpec& message);

// `changes` laid over `current` as the mask says; both in the one spelling. Without a mask the
// fields that `changes` has are taken.
std::string ApplyMask(std::string_view current, std::string_view changes, const UpdateMask& mask);

std::string ToCamelCase(std::string_view name);

}  // namespace strobe::api
