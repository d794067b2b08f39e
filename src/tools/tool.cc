#include "src/tools/tool.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "src/base/text.h"

namespace strobe::tools {
namespace {

template <typename Number>
bool ParseNumber(std::string_view text, Number* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

std::string_view TypeName(OptionType type) {
  switch (type) {
    case OptionType::kBoolean:
      return "true or false";
    case OptionType::kInteger:
      return "a whole number";
    case OptionType::kNumber:
      return "a number";
    case OptionType::kString:
      return "a text";
  }
  return "";
}

Status CheckValue(const OptionSpec& spec, const std::string& text) {
  bool good = true;
  int64_t integer = 0;
  double number = 0;
  if (spec.type == OptionType::kBoolean)
    good = AsciiLower(text) == "true" || AsciiLower(text) == "false";
  if (spec.type == OptionType::kInteger) good = ParseNumber(text, &integer);
  if (spec.type == OptionType::kNumber) good = ParseNumber(text, &number);
  std::string expected(TypeName(spec.type));
  if (good && !spec.choices.empty() &&
      std::ranges::find(spec.choices, text) == spec.choices.end()) {
    good = false;
    expected = "one of " + Joined(spec.choices);
  }
  if (good) return OkStatus();
  return InvalidArgumentError("OPTION_INVALID",
                              "The option " + spec.name + " must be " + expected + ".")
      .Where(spec.name + "=" + text.substr(0, 100));
}

}  // namespace

Result<ToolOptions> ToolOptions::Parse(const std::vector<OptionSpec>& specs,
                                       const std::map<std::string, std::string>& given,
                                       Policy policy) {
  ToolOptions options;
  for (const OptionSpec& spec : specs) options.values_[spec.name] = spec.default_value;
  for (const auto& [name, text] : given) {
    const auto spec = std::ranges::find(specs, name, &OptionSpec::name);
    if (spec == specs.end()) {
      if (policy == Policy::kLenient) continue;
      std::vector<std::string> names;
      for (const OptionSpec& known : specs) names.push_back(known.name);
      return InvalidArgumentError("OPTION_UNKNOWN", "This tool has no option of that name.")
          .Where(name.substr(0, 100))
          .Hint(names.empty() ? "It takes no options." : "It takes: " + Joined(names) + ".");
    }
    if (policy == Policy::kStrict) STROBE_RETURN_IF_ERROR(CheckValue(*spec, text));
    options.values_[name] = spec->type == OptionType::kBoolean ? AsciiLower(text) : text;
    options.given_[name] = true;
  }
  return options;
}

const std::string& ToolOptions::Text(std::string_view name) const {
  static const std::string none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}

bool ToolOptions::Flag(std::string_view name) const { return AsciiLower(Text(name)) == "true"; }

int64_t ToolOptions::Integer(std::string_view name, int64_t otherwise) const {
  int64_t value = 0;
  return ParseNumber(Text(name), &value) ? value : otherwise;
}

double ToolOptions::Number(std::string_view name, double otherwise) const {
  double value = 0;
  return ParseNumber(Text(name), &value) ? value : otherwise;
}

bool ToolOptions::Given(std::string_view name) const { return given_.contains(name); }

std::string ToolOptions::CanonicalText() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    // Lengths keep values that hold "&" or "=" apart.
    text += name + "=" + std::to_string(value.size()) + ":" + value + "&";
  }
  return text;
}

namespace {

uint64_t BytesOf(const Value& value) {
  uint64_t bytes = sizeof(Value) + value.string_value().size();
  for (const std::string& name : value.names()) bytes += sizeof(std::string) + name.size();
  for (const Value& item : value.items()) bytes += BytesOf(item);
  return bytes;
}

uint64_t BytesOf(const Table& table) {
  uint64_t bytes = 0;
  for (const auto& row : table.rows()) {
    for (const Cell& cell : row) {
      bytes += sizeof(Cell) + cell.formatted.size();
      if (const auto* text = std::get_if<std::string>(&cell.value)) bytes += text->size();
    }
  }
  for (const RowSubject& subject : table.subjects()) {
    bytes += sizeof(RowSubject) + subject.op_name.size() + subject.framework_op.size() +
             subject.launch.size();
  }
  return bytes;
}

}  // namespace

uint64_t ToolResult::ApproximateBytes() const {
  uint64_t bytes = sizeof(ToolResult) + text.size() + BytesOf(document);
  for (const Table& table : tables) bytes += BytesOf(table);
  return bytes;
}

}  // namespace strobe::tools
