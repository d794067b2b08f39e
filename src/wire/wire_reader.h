// Walks the protobuf wire format within bounds, without a schema, a copy or an allocation.
//
//   WireReader reader(bytes);
//   WireField field;
//   while (reader.Next(&field)) {
//     if (field.number == 1 && field.type == WireType::kVarint) id = field.signed_value();
//     if (field.number == 2 && field.type == WireType::kBytes) name = field.bytes;
//   }
//   if (reader.error() != WireError::kNone) Report(reader.error(), reader.error_offset());
//
// Every byte is checked before it is read: whatever the input, the reader ends after at most one
// step a byte. A nested message is `WireReader(field.bytes)`. Fields of unknown number are given to
// the caller like any other and cost nothing to skip. Groups (deprecated, never written by the
// formats we read) are an error of their own.
//
// Who knows that bytes can be read behind the end (a message in the middle of a mapped file) says
// how many: the last fields of a short message then take the fast path too. They are never part of
// a value.
//
// Cost: about 1 ns for a field of two bytes, 3-5 ns for a long varint; a value of type kBytes is
// skipped by its length. Limits: field numbers up to 2^29 - 1, varints up to 10 bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace strobe::wire {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

enum class WireError : uint8_t {
  kNone,
  kOverrun,    // a value ends behind the end of its message
  kBadVarint,  // a varint of more than 10 bytes, or of more than 64 bits
  kBadTag,     // field number 0 or beyond 2^29 - 1
  kBadType,    // wire type 6 or 7
  kGroup,      // a group
};
std::string_view WireErrorText(WireError error);

inline constexpr int kMaxVarintBytes = 10;
// DecodeVarintFast may read this many bytes from where it starts.
inline constexpr size_t kFastReadBytes = 16;

namespace internal {
static_assert(std::endian::native == std::endian::little, "multi-byte loads assume little endian");

inline uint64_t Load64(const uint8_t* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// Packs eight groups of 7 bits (high bit of each byte already 0) into 56 bits.
inline uint64_t PackSevenBitGroups(uint64_t word) {
  word = (word & 0x007f007f007f007fULL) | ((word & 0x7f007f007f007f00ULL) >> 1);
  word = (word & 0x00003fff00003fffULL) | ((word & 0x3fff00003fff0000ULL) >> 2);
  return (word & 0x000000000fffffffULL) | ((word & 0x0fffffff00000000ULL) >> 4);
}

// The 9th and 10th byte of a long varint; nullptr when there are more, or more than 64 bits.
const uint8_t* FinishLongVarint(const uint8_t* at, uint64_t word, uint64_t* value);
}  // namespace internal

// Decodes a varint at `at` where kFastReadBytes bytes can be read. Returns the position behind it,
// nullptr when it is malformed. No branch on the length up to 8 bytes.
inline const uint8_t* DecodeVarintFast(const uint8_t* at, uint64_t* value) {
  const uint64_t word = internal::Load64(at);
  const uint64_t stops = ~word & 0x8080808080808080ULL;
  if (stops == 0) [[unlikely]] {
    return internal::FinishLongVarint(at, word, value);
  }
  // `stops ^ (stops - 1)` covers everything up to the first stop bit.
  *value = internal::PackSevenBitGroups(word & (stops ^ (stops - 1)) & 0x7f7f7f7f7f7f7f7fULL);
  return at + (std::countr_zero(stops) >> 3) + 1;
}

// Decodes a varint in [at, end). Returns nullptr when it is malformed or unfinished; `*error` says
// which.
const uint8_t* DecodeVarintBounded(const uint8_t* at, const uint8_t* end, uint64_t* value,
                                   WireError* error);

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;      // kVarint, kFixed64, kFixed32
  std::string_view bytes;  // kBytes
  size_t offset = 0;       // of the field's tag, from the start of the reader's bytes

  int64_t signed_value() const { return static_cast<int64_t>(value); }
  double double_value() const { return std::bit_cast<double>(value); }
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes, size_t readable_behind = 0)
      : begin_(reinterpret_cast<const uint8_t*>(bytes.data())),
        at_(begin_),
        end_(begin_ + bytes.size()) {
    const size_t kept_back =
        readable_behind < kFastReadBytes ? kFastReadBytes - readable_behind : 0;
    fast_end_ = bytes.size() > kept_back ? end_ - kept_back : begin_;
  }

  // The next field, or false at the end or at the first error; then it stays false.
  bool Next(WireField* field);

  WireError error() const { return error_; }
  // Offset of the field that could not be read.
  size_t error_offset() const { return field_offset_; }
  // Where the next field begins.
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }

  // After kOverrun of a kBytes field: that field with the part of it that is there. False when the
  // error was another one. `claimed_bytes` is what its length said.
  bool Clipped(WireField* field, uint64_t* claimed_bytes) const;

 private:
  bool Fail(WireError error) {
    error_ = error;
    fast_end_ = begin_;
    return false;
  }
  bool NextSlow(WireField* field);
  bool ReadFixed(int size, WireField* field);

  const uint8_t* begin_;
  const uint8_t* at_;
  const uint8_t* end_;
  const uint8_t* fast_end_;  // a field that begins before it may be read fast
  size_t field_offset_ = 0;
  WireError error_ = WireError::kNone;
  bool clipped_ = false;
  WireField clipped_field_;
  uint64_t claimed_bytes_ = 0;
};

// Most fields: a tag of one byte, and a value or a length that is far from the end.
inline bool WireReader::Next(WireField* field) {
  if (at_ >= fast_end_) return NextSlow(field);
  const uint8_t tag = *at_;
  const uint8_t type = tag & 7;
  if (tag >= 0x80 || tag < 8 || (type != 0 && type != 2)) return NextSlow(field);
  uint64_t value;
  const uint8_t* next = DecodeVarintFast(at_ + 1, &value);
  if (next == nullptr || next > end_) return NextSlow(field);
  field->number = tag >> 3;
  field->type = static_cast<WireType>(type);
  field->offset = offset();
  if (type == 0) {
    field->value = value;
    at_ = next;
    return true;
  }
  if (value > static_cast<uint64_t>(end_ - next)) return NextSlow(field);
  field->bytes = std::string_view(reinterpret_cast<const char*>(next), value);
  at_ = next + value;
  return true;
}

}  // namespace strobe::wire
