// What the tools for agents share: asking other tools, reading their answers, writing numbers.
//
//   const AgentContext context{question, input, cancel};
//   STROBE_ASSIGN_OR_RETURN(const ToolResult overview, context.Ask("overview_page"));
//   const TableRow program(overview.tables[0], 0);
//   document.Set("step_time_ms", Value::Double(RoundTo(program.Number("avg"), 4)));
//
// The agent tools answer under the names of XProf's command line (get_overview, get_top_hlo_ops
// ...) and do no arithmetic that another tool of the registry does: they ask it and reshape its
// answer. Fields that XProf has keep its names, its rounding and its texts for numbers ("12.3%");
// fields that are ours say the unit in the name and hold plain numbers.
//
// Cost: that of the tools asked. Limits: kMaxPatternBytes, kMaxListedRecords.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/tools/table.h"
#include "src/tools/tool.h"
#include "src/tools/value.h"

namespace re2 {
class RE2;
}

namespace strobe::tools {

struct AgentContext {
  const ToolQuestion& question;
  ToolInput& input;
  const CancelToken& cancel;

  // The answer of another tool about the same hosts, or as many of them as it takes. Options are
  // read leniently, as XProf's routes read them. TOOL_MISSING when there is no such tool.
  Result<ToolResult> Ask(std::string_view tool,
                         const std::map<std::string, std::string>& options = {}) const;
  // Likewise of one host.
  Result<ToolResult> AskHost(std::string_view tool, size_t host,
                             const std::map<std::string, std::string>& options = {}) const;
  const ToolOptions& options() const { return question.options; }
};

// One row of a table by the ids of its columns. Missing cells are 0 and "".
class TableRow {
 public:
  TableRow(const Table& table, size_t row) : table_(table), row_(row) {}
  const Cell* Find(std::string_view column) const;  // nullptr: no such column
  double Number(std::string_view column) const;     // also of a text that is a number
  std::string Text(std::string_view column) const;  // also of a number, shortest form

 private:
  const Table& table_;
  const size_t row_;
};

// Members of objects; 0, "" and nullptr when they are missing or of another kind.
double NumberIn(const Value& object, std::string_view name);
std::string TextIn(const Value& object, std::string_view name);
const Value* ObjectIn(const Value& object, std::string_view name);

// A text as a number: "12.5", "12.5%", "0x1F"; false for anything else.
bool ParseNumberText(std::string_view text, double* number);

// Rounded to decimal places by its exact binary value, ties to even, as Python's round().
double RoundTo(double value, int places);
// "12.34%" of a fraction.
std::string PercentText(double fraction);
std::string FixedText(double value, int places);

// Mean and sample standard deviation (0 of fewer than two).
double MeanOf(const std::vector<double>& values);
double SampleDeviationOf(const std::vector<double>& values);

// The records that list tools count: truncated, total_records, returned_records.
void SetTruncation(size_t total, size_t returned, Value* document);

ToolResult DocumentResult(Value document);
// Made from the answer of another tool: with its notices, partial when it is.
ToolResult DocumentResult(Value document, const ToolResult& source);
ToolResult TextResult(std::string text);
// {status, message} of a session that has nothing to say.
Value NoData(std::string_view message);

std::string_view Trimmed(std::string_view text);
bool ContainsAnyOf(std::string_view text, const std::vector<std::string_view>& parts);

// A regular expression of the asker, found anywhere in a text. PATTERN_INVALID, with the place.
inline constexpr size_t kMaxPatternBytes = 10'000;
class Pattern {
 public:
  static Result<Pattern> Compile(std::string_view expression, bool ignore_case = false);
  bool Found(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> compiled_;
};

// No answer lists more, whatever the limit asked for: what an agent reads is smaller by far.
inline constexpr size_t kMaxListedRecords = 1'000'000;
// The limit of an option: 0 and less mean all.
size_t LimitOf(int64_t asked, size_t total);

// Descriptors have much in common.
OptionSpec MarkdownOption();  // output_format: json, or markdown
ToolDescriptor AgentTool(std::string_view id, std::string_view title, std::string_view question,
                         std::vector<OptionSpec> options);

}  // namespace strobe::tools
