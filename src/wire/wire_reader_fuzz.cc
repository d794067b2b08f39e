// The reader must end on any input, agree with the careful varint decoder, and find again what the
// writer wrote.
#include <cstdlib>
#include <string>

#include "src/wire/wire_reader.h"
#include "src/wire/wire_writer.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Writes every field again and reads it back.
void Walk(std::string_view bytes, int depth) {
  using strobe::wire::WireType;
  strobe::wire::WireReader reader(bytes);
  strobe::wire::WireField field;
  size_t last_offset = 0;
  while (reader.Next(&field)) {
    Require(reader.offset() > last_offset && reader.offset() <= bytes.size());
    last_offset = reader.offset();
    std::string again;
    switch (field.type) {
      case WireType::kVarint:
        strobe::wire::AppendVarintField(field.number, field.value, &again);
        break;
      case WireType::kFixed64:
        strobe::wire::AppendFixed64Field(field.number, field.value, &again);
        break;
      case WireType::kBytes:
        strobe::wire::AppendBytesField(field.number, field.bytes, &again);
        if (depth < 4) Walk(field.bytes, depth + 1);
        break;
      default:
        continue;
    }
    again.append(strobe::wire::kFastReadBytes + 1, '\0');
    strobe::wire::WireReader second(again);
    strobe::wire::WireField copy;
    Require(second.Next(&copy) && copy.number == field.number && copy.type == field.type);
    Require(copy.bytes == field.bytes || field.type != WireType::kBytes);
    Require(copy.value == field.value || field.type == WireType::kBytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Walk(std::string_view(reinterpret_cast<const char*>(data), size), 0);
  if (size >= strobe::wire::kFastReadBytes) {
    uint64_t fast = 0;
    uint64_t bounded = 0;
    strobe::wire::WireError error = strobe::wire::WireError::kNone;
    const uint8_t* a = strobe::wire::DecodeVarintFast(data, &fast);
    const uint8_t* b = strobe::wire::DecodeVarintBounded(data, data + size, &bounded, &error);
    Require(a == b && (a == nullptr || fast == bounded));
  }
  return 0;
}
