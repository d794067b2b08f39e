// A streaming JSON writer into one string: no tree, no allocation per value. Used for every answer
// and log line.
//
//   JsonWriter json;
//   json.BeginObject();
//   json.Key("name").String(name);
//   json.Key("spans").BeginArray();
//   for (const Span& span : spans) json.Int(span.duration_ps);
//   json.EndArray();
//   json.EndObject();
//   Send(json.TakeText());
//
// Commas are placed by the writer. Text that is not UTF-8 is written with U+FFFD in place of each
// bad byte, so the result is always valid JSON. NaN and infinities are written as null. Cost: about
// 400 MB/s. Nesting is bounded by kMaxDepth (our bug beyond it).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/utf8.h"
#include "src/base/utf8.h"  // IWYU pragma: export

namespace strobe {

class JsonWriter {
 public:
  static constexpr int kMaxDepth = 64;
  // Largest integer that every JSON reader keeps exactly.
  static constexpr int64_t kMaxSafeInteger = (int64_t{1} << 53) - 1;

  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  JsonWriter& Key(std::string_view key);
  JsonWriter& String(std::string_view text);
  JsonWriter& Int(int64_t value);
  JsonWriter& Uint(uint64_t value);
  // As a number when every reader keeps it exactly, else as a decimal string.
  JsonWriter& SafeInt(int64_t value);
  JsonWriter& SafeUint(uint64_t value);
  // Shortest form that reads back to the same double.
  JsonWriter& Double(double value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // A value that is JSON text already.
  JsonWriter& Raw(std::string_view json);

  const std::string& text() const { return text_; }
  std::string TakeText() { return std::move(text_); }

 private:
  void BeforeValue();
  void AppendEscaped(std::string_view text);

  std::string text_;
  bool need_comma_[kMaxDepth] = {};
  bool after_key_ = false;
  int depth_ = 0;
};

}  // namespace strobe
