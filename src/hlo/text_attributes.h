// Attributes of an instruction in HLO text, as fields of its message. Part of the text parser.
//
//   AttributeReader reader("fusion", max_depth);
//   STROBE_RETURN_IF_ERROR(reader.Read(&cursor));       // ", kind=kLoop, calls=%f, metadata={...}"
//   reader.TakeRecord()                                 // fields but ids
//
// An instruction like "custom-call-start" stands for an async-start around a custom call: its
// attributes are read with `wrapped` set, and those of the call come out by TakeWrappedRecord.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/hlo/opcode.h"
#include "src/hlo/text_cursor.h"

namespace strobe::hlo {

// A name that must be resolved, and where it stands.
struct TextName {
  std::string_view name;
  TextCursor place;
};

class AttributeReader {
 public:
  AttributeReader(Opcode opcode, bool wrapped, int max_depth)
      : opcode_(opcode), wrapped_(wrapped), max_depth_(max_depth) {}

  // All of ", key=value" that come next.
  Status Read(TextCursor* cursor);

  std::string TakeRecord();
  std::string TakeWrappedRecord();
  std::vector<TextName> calls;
  std::vector<TextName> wrapped_calls;
  std::vector<TextName> controls;
  std::vector<std::string_view> unknown;

 private:
  Status ReadOne(std::string_view key, TextCursor* cursor);
  bool IsCallKey(std::string_view key) const;
  Status ReadCalls(std::string_view key, TextCursor* cursor);
  Status ReadNames(TextCursor* cursor, std::vector<TextName>* names);
  Status ReadCommon(std::string_view key, TextCursor* cursor, bool* known);
  Status ReadNumber(std::string_view key, TextCursor* cursor, bool* known);
  Status ReadWord(std::string_view key, TextCursor* cursor, bool* known);
  Status ReadStructured(std::string_view key, TextCursor* cursor, bool* known);
  Status ReadDimensionNumbers(std::string_view key, TextCursor* cursor, bool* known);
  Status ReadSlices(TextCursor* cursor);
  Status ReadPrecision(TextCursor* cursor);
  Status ReadDomain(TextCursor* cursor);
  Status ReadAccuracy(TextCursor* cursor);
  Status ReadLayoutConstraints(TextCursor* cursor);

  const Opcode opcode_;  // of the wrapped instruction when there is one
  const bool wrapped_;
  const int max_depth_;
  std::string record_;  // of the instruction that has the attributes of its opcode
  std::string outer_;   // of the async-start around it
  std::map<uint32_t, std::string> groups_;  // messages that several attributes fill
  std::string sharding_;
  std::string inner_sharding_;
  std::string frontend_;
  std::string inner_frontend_;
  bool has_sharding_ = false;
  bool has_frontend_ = false;
  bool any_read_ = false;
};

}  // namespace strobe::hlo
