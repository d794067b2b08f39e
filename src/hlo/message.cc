#include "src/hlo/message.h"

#include <bit>

namespace strobe::hlo {

using wire::WireField;
using wire::WireReader;
using wire::WireType;

void Message::Reset(std::string_view bytes) {
  fields_.clear();
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) fields_.push_back(field);
  ok_ = reader.error() == wire::WireError::kNone;
}

const WireField* Message::Find(uint32_t number) const {
  for (auto field = fields_.rbegin(); field != fields_.rend(); ++field) {
    if (field->number == number) return &*field;
  }
  return nullptr;
}

int64_t Message::Int(uint32_t number, int64_t otherwise) const {
  const WireField* field = Find(number);
  return field == nullptr || field->type == WireType::kBytes ? otherwise : field->signed_value();
}

float Message::Float(uint32_t number) const {
  const WireField* field = Find(number);
  if (field == nullptr || field->type != WireType::kFixed32) return 0;
  return std::bit_cast<float>(static_cast<uint32_t>(field->value));
}

double Message::Double(uint32_t number) const {
  const WireField* field = Find(number);
  return field == nullptr || field->type != WireType::kFixed64 ? 0 : field->double_value();
}

std::string_view Message::Bytes(uint32_t number) const {
  const WireField* field = Find(number);
  return field == nullptr || field->type != WireType::kBytes ? std::string_view() : field->bytes;
}

std::vector<std::string_view> Message::All(uint32_t number) const {
  std::vector<std::string_view> all;
  for (const WireField& field : fields_) {
    if (field.number == number && field.type == WireType::kBytes) all.push_back(field.bytes);
  }
  return all;
}

std::vector<int64_t> Message::Ints(uint32_t number) const {
  std::vector<int64_t> all;
  for (const WireField& field : fields_) {
    if (field.number == number) AppendInts(field, &all);
  }
  return all;
}

void AppendInts(const WireField& field, std::vector<int64_t>* out) {
  if (field.type == WireType::kVarint) out->push_back(field.signed_value());
  if (field.type != WireType::kBytes) return;
  const auto* at = reinterpret_cast<const uint8_t*>(field.bytes.data());
  const uint8_t* const end = at + field.bytes.size();
  while (at < end) {
    uint64_t value = 0;
    wire::WireError error = wire::WireError::kNone;
    at = wire::DecodeVarintBounded(at, end, &value, &error);
    if (at == nullptr) return;
    out->push_back(static_cast<int64_t>(value));
  }
}

}  // namespace strobe::hlo
