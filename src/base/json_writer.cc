#include "src/base/json_writer.h"

#include <charconv>
#include <cmath>

#include "src/base/status.h"

namespace strobe {

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (need_comma_[depth_]) text_ += ',';
  need_comma_[depth_] = true;
}

void JsonWriter::AppendEscaped(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  size_t run = 0;  // start of the bytes not yet copied
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\') {
      ++i;
      continue;
    }
    const size_t length = byte < 0x80 ? 0 : ValidUtf8Length(text.substr(i));
    if (length > 0) {
      i += length;
      continue;
    }
    text_.append(text.substr(run, i - run));
    if (byte == '"')
      text_ += "\\\"";
    else if (byte == '\\')
      text_ += "\\\\";
    else if (byte == '\n')
      text_ += "\\n";
    else if (byte == '\t')
      text_ += "\\t";
    else if (byte == '\r')
      text_ += "\\r";
    else if (byte >= 0x80)
      text_ += "\xEF\xBF\xBD";
    else {
      text_ += "\\u00";
      text_ += kHex[byte >> 4];
      text_ += kHex[byte & 15];
    }
    run = ++i;
  }
  text_.append(text.substr(run));
  text_ += '"';
}

JsonWriter& JsonWriter::BeginObject() {
  BeforeValue();
  text_ += '{';
  STROBE_CHECK(depth_ + 1 < kMaxDepth);
  need_comma_[++depth_] = false;
  return *this;
}

JsonWriter& JsonWriter::EndObject() {
  STROBE_CHECK(depth_ > 0 && !after_key_);
  --depth_;
  text_ += '}';
  return *this;
}

JsonWriter& JsonWriter::BeginArray() {
  BeforeValue();
  text_ += '[';
  STROBE_CHECK(depth_ + 1 < kMaxDepth);
  need_comma_[++depth_] = false;
  return *this;
}

JsonWriter& JsonWriter::EndArray() {
  STROBE_CHECK(depth_ > 0 && !after_key_);
  --depth_;
  text_ += ']';
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  STROBE_CHECK(!after_key_);
  BeforeValue();
  AppendEscaped(key);
  text_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  BeforeValue();
  AppendEscaped(text);
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) {
  BeforeValue();
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  text_.append(buffer, end);
  return *this;
}

JsonWriter& JsonWriter::Uint(uint64_t value) {
  BeforeValue();
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  text_.append(buffer, end);
  return *this;
}

JsonWriter& JsonWriter::SafeInt(int64_t value) {
  if (value <= kMaxSafeInteger && value >= -kMaxSafeInteger) return Int(value);
  return String(std::to_string(value));
}

JsonWriter& JsonWriter::SafeUint(uint64_t value) {
  if (value <= static_cast<uint64_t>(kMaxSafeInteger)) return Uint(value);
  return String(std::to_string(value));
}

JsonWriter& JsonWriter::Double(double value) {
  if (!std::isfinite(value)) return Null();
  BeforeValue();
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  text_.append(buffer, end);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  BeforeValue();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  BeforeValue();
  text_ += "null";
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  BeforeValue();
  text_.append(json);
  return *this;
}

}  // namespace strobe
