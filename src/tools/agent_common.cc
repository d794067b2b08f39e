#include "src/tools/agent_common.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "src/base/text.h"
#include "src/tools/registry.h"

namespace strobe::tools {
namespace {

std::string ShortestText(double number) {
  if (number == std::floor(number) && std::fabs(number) < 1e15) {
    return std::to_string(static_cast<int64_t>(number));
  }
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), number);
  return std::string(buffer, error == std::errc() ? end : buffer);
}

Result<ToolResult> AskWith(const AgentContext& context, std::string_view tool,
                           const std::vector<size_t>& hosts,
                           const std::map<std::string, std::string>& given) {
  const ToolDescriptor* found = FindTool(tool);
  if (found == nullptr || !found->run) {
    return UnimplementedError("TOOL_MISSING", "This build has no tool of that name.")
        .Where(std::string(tool));
  }
  STROBE_ASSIGN_OR_RETURN(ToolOptions options,
                          ToolOptions::Parse(found->options, given, ToolOptions::Policy::kLenient));
  ToolQuestion question;
  question.options = std::move(options);
  question.hosts = hosts;
  question.as_xprof = context.question.as_xprof;
  if (found->scope == HostScope::kOneHost) question.hosts.resize(1);
  if (found->scope == HostScope::kAllHosts) {
    question.hosts.resize(context.input.hosts().size());
    std::iota(question.hosts.begin(), question.hosts.end(), size_t{0});
  }
  return found->run(question, context.input, context.cancel);
}

}  // namespace

Result<ToolResult> AgentContext::Ask(std::string_view tool,
                                     const std::map<std::string, std::string>& options) const {
  STROBE_CHECK(!question.hosts.empty());
  return AskWith(*this, tool, question.hosts, options);
}

Result<ToolResult> AgentContext::AskHost(std::string_view tool, size_t host,
                                         const std::map<std::string, std::string>& options) const {
  return AskWith(*this, tool, {host}, options);
}

const Cell* TableRow::Find(std::string_view column) const {
  const size_t index = table_.ColumnIndex(column);
  if (index >= table_.columns().size() || row_ >= table_.rows().size()) return nullptr;
  return &table_.rows()[row_][index];
}

double TableRow::Number(std::string_view column) const {
  const Cell* cell = Find(column);
  if (cell == nullptr) return 0;
  if (const auto* number = std::get_if<double>(&cell->value)) return *number;
  if (const auto* truth = std::get_if<bool>(&cell->value)) return *truth ? 1 : 0;
  double parsed = 0;
  const auto* text = std::get_if<std::string>(&cell->value);
  return text != nullptr && ParseNumberText(*text, &parsed) ? parsed : 0;
}

std::string TableRow::Text(std::string_view column) const {
  const Cell* cell = Find(column);
  if (cell == nullptr) return {};
  if (const auto* text = std::get_if<std::string>(&cell->value)) return *text;
  if (const auto* number = std::get_if<double>(&cell->value)) return ShortestText(*number);
  if (const auto* truth = std::get_if<bool>(&cell->value)) return *truth ? "true" : "false";
  return {};
}

double NumberIn(const Value& object, std::string_view name) {
  const Value* member = object.Find(name);
  if (member == nullptr) return 0;
  double parsed = 0;
  if (member->kind() == Value::Kind::kString) {
    return ParseNumberText(member->string_value(), &parsed) ? parsed : 0;
  }
  return member->AsNumber();
}

std::string TextIn(const Value& object, std::string_view name) {
  const Value* member = object.Find(name);
  return member == nullptr ? std::string() : member->string_value();
}

const Value* ObjectIn(const Value& object, std::string_view name) {
  const Value* member = object.Find(name);
  return member != nullptr && member->kind() == Value::Kind::kObject ? member : nullptr;
}

bool ParseNumberText(std::string_view text, double* number) {
  text = Trimmed(text);
  if (text.ends_with('%')) text.remove_suffix(1);
  if (text.starts_with("0x") || text.starts_with("0X")) {
    uint64_t bits = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    *number = static_cast<double>(bits);
    return error == std::errc() && end == text.data() + text.size() && text.size() > 2;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(*number);
}

std::string FixedText(double value, int places) {
  // 400 bytes hold the longest double with 60 places.
  char buffer[400];
  const int size = std::snprintf(buffer, sizeof(buffer), "%.*f", places, value);
  return std::string(buffer, static_cast<size_t>(std::clamp<int>(size, 0, sizeof(buffer) - 1)));
}

double RoundTo(double value, int places) {
  if (!std::isfinite(value)) return value;
  return std::strtod(FixedText(value, places).c_str(), nullptr);
}

std::string PercentText(double fraction) { return FixedText(fraction * 100.0, 2) + "%"; }

double MeanOf(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double SampleDeviationOf(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = MeanOf(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

void SetTruncation(size_t total, size_t returned, Value* document) {
  document->Set("truncated", Value::Bool(returned < total));
  document->Set("total_records", Value::Int64(static_cast<int64_t>(total)));
  document->Set("returned_records", Value::Int64(static_cast<int64_t>(returned)));
}

ToolResult DocumentResult(Value document) {
  ToolResult result;
  result.shape = ToolResult::Shape::kDocument;
  result.document = std::move(document);
  return result;
}

ToolResult DocumentResult(Value document, const ToolResult& source) {
  ToolResult result = DocumentResult(std::move(document));
  result.notices = source.notices;
  result.partial = source.partial;
  return result;
}

ToolResult TextResult(std::string text) {
  ToolResult result;
  result.shape = ToolResult::Shape::kText;
  result.text = std::move(text);
  result.content_type = "text/plain";
  return result;
}

Value NoData(std::string_view message) {
  Value document = Value::Object();
  document.Set("status", Value::String("NO_DATA"));
  document.Set("message", Value::String(message));
  return document;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool ContainsAnyOf(std::string_view text, const std::vector<std::string_view>& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

Result<Pattern> Pattern::Compile(std::string_view expression, bool ignore_case) {
  if (expression.size() > kMaxPatternBytes) {
    return InvalidArgumentError(
        "PATTERN_INVALID",
        "The expression is longer than " + std::to_string(kMaxPatternBytes) + " bytes.");
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!ignore_case);
  options.set_dot_nl(true);
  Pattern pattern;
  pattern.compiled_ = std::make_shared<const re2::RE2>(
      re2::StringPiece(expression.data(), expression.size()), options);
  if (!pattern.compiled_->ok()) {
    return InvalidArgumentError("PATTERN_INVALID",
                                "Not a regular expression: " + pattern.compiled_->error() + ".")
        .Where(std::string(expression.substr(0, 100)))
        .Hint("The syntax is that of RE2; put a backslash before characters meant literally.");
  }
  return pattern;
}

bool Pattern::Found(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

size_t LimitOf(int64_t asked, size_t total) {
  const size_t limit = asked <= 0 ? total : std::min<size_t>(static_cast<size_t>(asked), total);
  return std::min(limit, kMaxListedRecords);
}

OptionSpec MarkdownOption() {
  return {.name = "output_format",
          .default_value = "json",
          .choices = {"json", "markdown"},
          .description = "json, or markdown for people."};
}

ToolDescriptor AgentTool(std::string_view id, std::string_view title, std::string_view question,
                         std::vector<OptionSpec> options) {
  ToolDescriptor tool;
  tool.id = id;
  tool.title = title;
  tool.question = question;
  tool.options = std::move(options);
  tool.listed_by_xprof = false;
  tool.listed = false;
  return tool;
}

}  // namespace strobe::tools
