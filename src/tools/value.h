// A typed tree of values: what tools answer when their answer is no table (op profiles, memory
// curves, suggestions).
//
//   Value profile = Value::Object();
//   profile.Set("deviceType", Value::String("TPU"));
//   profile.Set("rawTime", Value::Int64(12));
//   Value& children = profile.Set("children", Value::List());
//   children.Add(std::move(child));
//
// The kinds are those of a protobuf message, so that the XProf-compatible routes can print one as
// protobuf's own JSON does (64-bit integers quoted) while our own API prints plain numbers. Members
// keep the order in which they were set; Set of a name that is there replaces it. No JSON here.
// Cost: 64 B a value; Find is linear in the members of one object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strobe::tools {

class Value {
 public:
  enum class Kind : uint8_t {
    kNull,
    kBool,
    kInt32,
    kInt64,
    kUint64,
    kDouble,
    kString,
    kList,
    kObject
  };

  Value() = default;
  static Value Null() { return Value(); }
  static Value Bool(bool value);
  static Value Int32(int64_t value);  // also uint32: printed as a plain number everywhere
  static Value Int64(int64_t value);
  static Value Uint64(uint64_t value);
  static Value Double(double value);
  static Value String(std::string_view value);
  static Value List();
  static Value Object();

  Kind kind() const { return kind_; }
  bool bool_value() const { return integer_ != 0; }
  int64_t int_value() const { return static_cast<int64_t>(integer_); }
  uint64_t uint_value() const { return integer_; }
  double double_value() const { return number_; }
  const std::string& string_value() const { return text_; }
  // Any number as a double, else 0.
  double AsNumber() const;

  // Lists. References are valid until the next Add.
  Value& Add(Value item);
  const std::vector<Value>& items() const { return items_; }
  std::vector<Value>& items() { return items_; }

  // Objects. References are valid until the next Set.
  Value& Set(std::string_view name, Value value);
  // As Set for a name that is known to be new: does not look for it.
  Value& AddMember(std::string_view name, Value value);
  const Value* Find(std::string_view name) const;  // nullptr: no such member
  const std::vector<std::string>& names() const {
    return names_;
  }  // items()[i] belongs to names()[i]

  friend bool operator==(const Value&, const Value&) = default;

 private:
  Kind kind_ = Kind::kNull;
  uint64_t integer_ = 0;
  double number_ = 0;
  std::string text_;
  std::vector<std::string> names_;
  std::vector<Value> items_;
};

}  // namespace strobe::tools
