#include "src/tools/value.h"

namespace strobe::tools {

Value Value::Bool(bool value) {
  Value made;
  made.kind_ = Kind::kBool;
  made.integer_ = value ? 1 : 0;
  return made;
}

Value Value::Int32(int64_t value) {
  Value made;
  made.kind_ = Kind::kInt32;
  made.integer_ = static_cast<uint64_t>(value);
  return made;
}

Value Value::Int64(int64_t value) {
  Value made;
  made.kind_ = Kind::kInt64;
  made.integer_ = static_cast<uint64_t>(value);
  return made;
}

Value Value::Uint64(uint64_t value) {
  Value made;
  made.kind_ = Kind::kUint64;
  made.integer_ = value;
  return made;
}

Value Value::Double(double value) {
  Value made;
  made.kind_ = Kind::kDouble;
  made.number_ = value;
  return made;
}

Value Value::String(std::string_view value) {
  Value made;
  made.kind_ = Kind::kString;
  made.text_ = value;
  return made;
}

Value Value::List() {
  Value made;
  made.kind_ = Kind::kList;
  return made;
}

Value Value::Object() {
  Value made;
  made.kind_ = Kind::kObject;
  return made;
}

double Value::AsNumber() const {
  switch (kind_) {
    case Kind::kDouble:
      return number_;
    case Kind::kUint64:
      return static_cast<double>(integer_);
    case Kind::kInt32:
    case Kind::kInt64:
    case Kind::kBool:
      return static_cast<double>(static_cast<int64_t>(integer_));
    default:
      return 0;
  }
}

Value& Value::Add(Value item) { return items_.emplace_back(std::move(item)); }

Value& Value::Set(std::string_view name, Value value) {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return items_[i] = std::move(value);
  }
  names_.emplace_back(name);
  return items_.emplace_back(std::move(value));
}

Value& Value::AddMember(std::string_view name, Value value) {
  names_.emplace_back(name);
  return items_.emplace_back(std::move(value));
}

const Value* Value::Find(std::string_view name) const {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return &items_[i];
  }
  return nullptr;
}

}  // namespace strobe::tools
