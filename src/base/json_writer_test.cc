#include "src/base/json_writer.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/base/ids.h"

namespace strobe {
namespace {

std::string Quoted(std::string_view text) {
  JsonWriter json;
  json.String(text);
  return json.TakeText();
}

std::string Number(double value) {
  JsonWriter json;
  json.Double(value);
  return json.TakeText();
}

// A second reading of the UTF-8 rules (decode to a code point and look at it), written without the
// tables of the code under test.
size_t ReferenceUtf8Length(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<uint8_t>(text[0]);
  size_t length = 0;
  uint32_t point = 0;
  if (lead < 0x80) return 1;
  if ((lead >> 5) == 6) {
    length = 2;
    point = lead & 31u;
  } else if ((lead >> 4) == 14) {
    length = 3;
    point = lead & 15u;
  } else if ((lead >> 3) == 30) {
    length = 4;
    point = lead & 7u;
  } else {
    return 0;
  }
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte >> 6) != 2) return 0;
    point = point * 64 + (byte & 63u);
  }
  const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < smallest[length] || point > 0x10FFFF) return 0;
  if (point >= 0xD800 && point <= 0xDFFF) return 0;
  return length;
}

std::string ReferenceRepair(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = ReferenceUtf8Length(text);
    out += length > 0 ? std::string(text.substr(0, length)) : "\xEF\xBF\xBD";
    text.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

// Undoes the writer's escapes; nullopt-like empty with `ok` false when it is no JSON string.
std::string Unquote(std::string_view json, bool* ok) {
  *ok = false;
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') return "";
  json = json.substr(1, json.size() - 2);
  std::string out;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (static_cast<uint8_t>(c) < 0x20 || c == '"') return "";
    if (c != '\\') {
      out += c;
      continue;
    }
    if (++i >= json.size()) return "";
    if (json[i] == 'n') {
      out += '\n';
    } else if (json[i] == 't') {
      out += '\t';
    } else if (json[i] == 'r') {
      out += '\r';
    } else if (json[i] == '"' || json[i] == '\\') {
      out += json[i];
    } else if (json[i] == 'u' && i + 4 < json.size()) {
      int code = 0;
      const char* begin = json.data() + i + 1;
      if (std::from_chars(begin, begin + 4, code, 16).ptr != begin + 4 || code > 0x1F) return "";
      out += static_cast<char>(code);
      i += 4;
    } else {
      return "";
    }
  }
  *ok = true;
  return out;
}

TEST(JsonWriterTest, PlacesCommas) {
  JsonWriter json;
  json.BeginObject();
  json.Key("a").Int(-1);
  json.Key("b").BeginArray().Uint(1).Bool(true).Null().BeginObject().EndObject().EndArray();
  json.Key("c").Raw("[1,2]");
  json.Key("d").BeginArray().EndArray();
  json.EndObject();
  EXPECT_EQ(json.TakeText(), R"({"a":-1,"b":[1,true,null,{}],"c":[1,2],"d":[]})");
}

TEST(JsonWriterTest, EscapesWhatMustBe) {
  EXPECT_EQ(Quoted("a\"b\\c\n\t\r\x01\x1f<>&'"), "\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u001f<>&'\"");
  EXPECT_EQ(Quoted(std::string_view("\0", 1)), "\"\\u0000\"");
  EXPECT_EQ(Quoted("\x7f"), "\"\x7f\"");
  EXPECT_EQ(Quoted("Grüße 数 😀"), "\"Grüße 数 😀\"");
}

TEST(JsonWriterTest, ReplacesEachBadByte) {
  EXPECT_EQ(Quoted("a\xff"
                   "b"),
            "\"a\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(Quoted("\xc3"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(ToValidUtf8("\xed\xa0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(ToValidUtf8("\xc0\xaf"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(JsonWriterTest, ValidUtf8LengthAgreesWithDecodingForEveryLeadPair) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const char text[] = {static_cast<char>(first), static_cast<char>(second), '\x80', '\xbf'};
      for (size_t size = 1; size <= 4; ++size) {
        const std::string_view view(text, size);
        ASSERT_EQ(ValidUtf8Length(view), ReferenceUtf8Length(view))
            << first << " " << second << " " << size;
      }
    }
  }
  EXPECT_EQ(ValidUtf8Length(""), 0u);
}

TEST(JsonWriterTest, AnyBytesGiveAStringThatReadsBackRepaired) {
  SeededRandom random(1);
  // Bytes from the borders of the UTF-8 classes, so that near misses are common.
  static constexpr uint8_t kBytes[] = {0x00, 0x1f, 0x20, '"',  '\\', 0x7f, 0x80, 0x8f, 0x90,
                                       0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
                                       0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const size_t size = random.Next() % 24;
    for (size_t i = 0; i < size; ++i) {
      text += static_cast<char>(kBytes[random.Next() % sizeof(kBytes)]);
    }
    const std::string repaired = ReferenceRepair(text);
    ASSERT_EQ(ToValidUtf8(text), repaired);
    bool ok = false;
    ASSERT_EQ(Unquote(Quoted(text), &ok), repaired);
    ASSERT_TRUE(ok);
  }
}

TEST(JsonWriterTest, IntegersAtTheirLimits) {
  JsonWriter json;
  json.BeginArray();
  json.Int(std::numeric_limits<int64_t>::min()).Int(std::numeric_limits<int64_t>::max());
  json.Uint(std::numeric_limits<uint64_t>::max());
  json.SafeInt(JsonWriter::kMaxSafeInteger).SafeInt(JsonWriter::kMaxSafeInteger + 1);
  json.SafeInt(-JsonWriter::kMaxSafeInteger - 1);
  json.SafeUint(std::numeric_limits<uint64_t>::max());
  json.EndArray();
  EXPECT_EQ(json.TakeText(),
            "[-9223372036854775808,9223372036854775807,18446744073709551615,9007199254740991,"
            "\"9007199254740992\",\"-9007199254740992\",\"18446744073709551615\"]");
}

TEST(JsonWriterTest, DoublesReadBackExactly) {
  EXPECT_EQ(Number(0.1), "0.1");
  EXPECT_EQ(Number(1.0), "1");
  EXPECT_EQ(Number(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(Number(-std::numeric_limits<double>::infinity()), "null");
  SeededRandom random(2);
  for (int round = 0; round < 5000; ++round) {
    const uint64_t bits = random.Next();
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) continue;
    const std::string text = Number(value);
    double back = 0;
    ASSERT_EQ(std::from_chars(text.data(), text.data() + text.size(), back).ptr,
              text.data() + text.size());
    ASSERT_EQ(std::memcmp(&back, &value, sizeof(value)), 0) << text;
  }
}

TEST(JsonWriterDeathTest, WrongNestingIsOurBug) {
  EXPECT_DEATH(JsonWriter().EndObject(), "internal check failed");
  EXPECT_DEATH(JsonWriter().BeginObject().Key("a").Key("b"), "internal check failed");
  JsonWriter json;
  for (int i = 0; i + 1 < JsonWriter::kMaxDepth; ++i) json.BeginArray();
  EXPECT_DEATH(json.BeginArray(), "internal check failed");
}

}  // namespace
}  // namespace strobe
