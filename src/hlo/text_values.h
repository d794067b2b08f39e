// Values of HLO text as the messages that a module's bytes have for them: shapes, literals,
// windows, shardings, device groups. Part of the text parser.
//
//   std::string shape;
//   STROBE_RETURN_IF_ERROR(ReadShapeText(&cursor, depth, &shape));    // ShapeProto
//
// Each reads from the cursor to the end of the value and appends a message, or gives
// HLO_TEXT_SYNTAX. `depth` is how deep the text may nest further. Cost: linear in the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/hlo/text_cursor.h"

namespace strobe::hlo {

// Packed or, when there are none, nothing.
void AppendPackedField(uint32_t number, const std::vector<int64_t>& values, std::string* out);

// Whether a shape comes next (else it is a name).
bool SeesShape(TextCursor cursor);
Status ReadShapeText(TextCursor* cursor, int depth, std::string* shape);

// The value of a constant of this shape, as text. False when it is a text that only shows ("{...}")
// or a kind of value that has no simple form: then the text must be kept.
bool ReadLiteralText(std::string_view text, std::string_view shape_proto, std::string* literal);

Status ReadWindowText(TextCursor* cursor, std::string* window);
Status ReadDimensionLabels(TextCursor* cursor, std::string* dimension_numbers);
Status ReadPaddingText(TextCursor* cursor, std::string* padding_config);
Status ReadSharding(TextCursor* cursor, int depth, std::string* sharding);
// {{0,1},{2,3}} or [2,2]<=[4]T(1,0), as fields of an instruction.
Status ReadDeviceGroups(TextCursor* cursor, std::string* record);
Status ReadSourceTargets(TextCursor* cursor, std::string* record);
Status ReadOutputAliasing(TextCursor* cursor, std::string* record);
// {a="1",b={...}}
Status ReadFrontendAttributes(TextCursor* cursor, std::string* attributes);
Status ReadMetadata(TextCursor* cursor, std::string* metadata);

}  // namespace strobe::hlo
