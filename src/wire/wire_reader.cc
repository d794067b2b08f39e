#include "src/wire/wire_reader.h"

namespace strobe::wire {

namespace {
constexpr uint32_t kMaxFieldNumber = (1u << 29) - 1;
}  // namespace

std::string_view WireErrorText(WireError error) {
  switch (error) {
    case WireError::kNone:
      return "no error";
    case WireError::kOverrun:
      return "a value ends behind the end of its message";
    case WireError::kBadVarint:
      return "a variable-length number does not end within 10 bytes";
    case WireError::kBadTag:
      return "a field number is out of range";
    case WireError::kBadType:
      return "a field has a wire type that does not exist";
    case WireError::kGroup:
      return "a field is a group, which this format never uses";
  }
  return "unknown error";
}

namespace internal {

const uint8_t* FinishLongVarint(const uint8_t* at, uint64_t word, uint64_t* value) {
  const uint64_t low = PackSevenBitGroups(word & 0x7f7f7f7f7f7f7f7fULL);
  const uint64_t ninth = at[8];
  if (ninth < 0x80) {
    *value = low | (ninth << 56);
    return at + 9;
  }
  const uint64_t tenth = at[9];
  if (tenth > 1) return nullptr;
  *value = low | ((ninth & 0x7f) << 56) | (tenth << 63);
  return at + 10;
}

}  // namespace internal

const uint8_t* DecodeVarintBounded(const uint8_t* at, const uint8_t* end, uint64_t* value,
                                   WireError* error) {
  uint64_t result = 0;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    if (at == end) {
      *error = WireError::kOverrun;
      return nullptr;
    }
    const uint64_t byte = *at++;
    if (i == kMaxVarintBytes - 1 && byte > 1) break;
    result |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *value = result;
      return at;
    }
  }
  *error = WireError::kBadVarint;
  return nullptr;
}

bool WireReader::ReadFixed(int size, WireField* field) {
  if (end_ - at_ < size) return Fail(WireError::kOverrun);
  field->value = 0;
  std::memcpy(&field->value, at_, static_cast<size_t>(size));
  at_ += size;
  return true;
}

bool WireReader::NextSlow(WireField* field) {
  if (error_ != WireError::kNone || at_ == end_) return false;
  field_offset_ = offset();
  uint64_t tag = 0;
  WireError error = WireError::kNone;
  const uint8_t* next = DecodeVarintBounded(at_, end_, &tag, &error);
  if (next == nullptr) return Fail(error);
  if ((tag >> 3) == 0 || (tag >> 3) > kMaxFieldNumber) return Fail(WireError::kBadTag);
  field->number = static_cast<uint32_t>(tag >> 3);
  field->type = static_cast<WireType>(tag & 7);
  field->offset = field_offset_;
  switch (tag & 7) {
    case 0: {
      next = DecodeVarintBounded(next, end_, &field->value, &error);
      if (next == nullptr) return Fail(error);
      at_ = next;
      return true;
    }
    case 1:
      at_ = next;
      return ReadFixed(8, field);
    case 2: {
      uint64_t length = 0;
      next = DecodeVarintBounded(next, end_, &length, &error);
      if (next == nullptr) return Fail(error);
      const uint64_t left = static_cast<uint64_t>(end_ - next);
      field->bytes =
          std::string_view(reinterpret_cast<const char*>(next), length < left ? length : left);
      if (length > left) {
        clipped_ = true;
        clipped_field_ = *field;
        claimed_bytes_ = length;
        return Fail(WireError::kOverrun);
      }
      at_ = next + length;
      return true;
    }
    case 5:
      at_ = next;
      return ReadFixed(4, field);
    case 3:
    case 4:
      return Fail(WireError::kGroup);
    default:
      return Fail(WireError::kBadType);
  }
}

bool WireReader::Clipped(WireField* field, uint64_t* claimed_bytes) const {
  if (!clipped_) return false;
  *field = clipped_field_;
  *claimed_bytes = claimed_bytes_;
  return true;
}

}  // namespace strobe::wire
