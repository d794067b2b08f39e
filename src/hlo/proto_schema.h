// What the fields of an HloProto are called, for writing one as text (proto_text.h).
//
//   const SchemaMessage& root = HloSchema::Get().root();
//   if (const SchemaField* field = root.Find(1)) Print(field->name);     // "hlo_module"
//
// Made once from a table in the .cc (84 messages, 25 enums); immutable, so thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace strobe::hlo {

struct SchemaMessage;
struct SchemaEnum;

enum class SchemaType : uint8_t {
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kBool,
  kFloat,
  kDouble,
  kString,  // bytes too: both are written escaped
  kEnum,
  kMessage,
};

struct SchemaField {
  uint32_t number = 0;
  std::string_view name;
  SchemaType type = SchemaType::kInt64;
  bool repeated = false;
  bool presence = false;  // written even when it has the default value
  const SchemaMessage* message = nullptr;
  const SchemaEnum* values = nullptr;
};

struct SchemaEnum {
  std::map<int64_t, std::string_view> names;
};

struct SchemaMessage {
  std::string_view name;
  bool map_entry = false;
  std::vector<SchemaField> fields;  // by number
  const SchemaField* Find(uint32_t number) const;
};

class HloSchema {
 public:
  static const HloSchema& Get();
  const SchemaMessage& root() const { return *root_; }  // HloProto
  const std::map<std::string_view, SchemaMessage>& messages() const { return messages_; }

 private:
  HloSchema();
  std::map<std::string_view, SchemaMessage> messages_;
  std::map<std::string_view, SchemaEnum> enums_;
  const SchemaMessage* root_ = nullptr;
};

}  // namespace strobe::hlo
