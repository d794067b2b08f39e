// Appends protobuf wire format to a string: for importers, generators, requests and tests.
//
//   std::string message;
//   AppendVarintField(1, id, &message);
//   AppendBytesField(2, name, &message);
//
// Cost: a byte at a time into a growing string; negative integers take 10 bytes, as in protobuf.
// Limits: nothing is checked; field numbers must be 1 to 2^29 - 1.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/wire/wire_reader.h"

namespace strobe::wire {

inline void AppendVarint(uint64_t value, std::string* out) {
  char buffer[kMaxVarintBytes];
  size_t size = 0;
  while (value >= 0x80) {
    buffer[size++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  buffer[size++] = static_cast<char>(value);
  out->append(buffer, size);
}

inline size_t VarintSize(uint64_t value) {
  return static_cast<size_t>((std::bit_width(value | 1) + 6) / 7);
}

inline void AppendTag(uint32_t number, WireType type, std::string* out) {
  AppendVarint((uint64_t{number} << 3) | static_cast<uint64_t>(type), out);
}

inline void AppendVarintField(uint32_t number, uint64_t value, std::string* out) {
  AppendTag(number, WireType::kVarint, out);
  AppendVarint(value, out);
}

inline void AppendSignedField(uint32_t number, int64_t value, std::string* out) {
  AppendVarintField(number, static_cast<uint64_t>(value), out);
}

inline void AppendBytesField(uint32_t number, std::string_view bytes, std::string* out) {
  AppendTag(number, WireType::kBytes, out);
  AppendVarint(bytes.size(), out);
  out->append(bytes);
}

inline void AppendFixed64Field(uint32_t number, uint64_t value, std::string* out) {
  AppendTag(number, WireType::kFixed64, out);
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

inline void AppendDoubleField(uint32_t number, double value, std::string* out) {
  AppendFixed64Field(number, std::bit_cast<uint64_t>(value), out);
}

}  // namespace strobe::wire
