// An answer of a tool (docs/api/v1.md) as text for people: aligned tables, Markdown, indented JSON.
//
//   ToolAnswerText(json_text, TextStyle::kTable)
//
// Names come from profiles, so everything passes Printable(). Pure functions. The text of an answer
// that is not what the API says is SERVER_ANSWER_BROKEN.
#pragma once

#include <string>
#include <string_view>

#include "src/base/status.h"

namespace strobe::cli {

enum class TextStyle : uint8_t { kTable, kMarkdown };

struct ToolText {
  std::string out;      // for standard output
  std::string remarks;  // for standard error: notices, rows left out
  bool partial = false;
};

Result<ToolText> ToolAnswerText(std::string_view answer_json, TextStyle style);
// {"tools": [...]} of all tools, or of one session.
Result<std::string> ToolListText(std::string_view tools_json, TextStyle style);

}  // namespace strobe::cli
