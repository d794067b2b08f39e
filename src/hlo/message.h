// Random access to the fields of one small protobuf message, for attributes that are decoded only
// when they are printed or computed with.
//
//   const Message window(record.Bytes(15));
//   for (const std::string_view dimension : window.All(1)) Use(Message(dimension).Int(2));
//
// The bytes are walked once when the object is made; a field costs a walk over the (few) fields.
// Of a field that stands more than once, Int, Bytes and Double give the last, as protobuf has it.
// Damage ends the walk: the fields before it are there, `ok()` says so. Memory: 48 B a field.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/wire/wire_reader.h"

namespace strobe::hlo {

class Message {
 public:
  Message() = default;
  explicit Message(std::string_view bytes) { Reset(bytes); }
  void Reset(std::string_view bytes);

  bool Has(uint32_t number) const { return Find(number) != nullptr; }
  int64_t Int(uint32_t number, int64_t otherwise = 0) const;
  bool Bool(uint32_t number) const { return Int(number) != 0; }
  float Float(uint32_t number) const;
  double Double(uint32_t number) const;
  std::string_view Bytes(uint32_t number) const;
  // Every occurrence of a length-delimited field.
  std::vector<std::string_view> All(uint32_t number) const;
  // A repeated integer field, packed or not.
  std::vector<int64_t> Ints(uint32_t number) const;

  bool ok() const { return ok_; }
  const std::vector<wire::WireField>& fields() const { return fields_; }

 private:
  const wire::WireField* Find(uint32_t number) const;

  std::vector<wire::WireField> fields_;
  bool ok_ = true;
};

// Appends the integers of one occurrence of a repeated field, packed or not.
void AppendInts(const wire::WireField& field, std::vector<int64_t>* out);

}  // namespace strobe::hlo
