#include "src/analysis/tf_op_name.h"

#include <algorithm>
#include <array>

namespace strobe::analysis {
namespace {

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlnum(char c) { return IsUpper(c) || IsLower(c) || IsDigit(c); }

bool StartsWithIgnoringCase(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size()) return false;
  return std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) {
    return (IsUpper(a) ? a + 32 : a) == (IsUpper(b) ? b + 32 : b);
  });
}

// "a/b/Conv2D_3" -> "Conv2D".
std::string_view DerivedType(std::string_view name) {
  const size_t slash = name.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? name : name.substr(slash + 1);
  const size_t underscore = last.rfind('_');
  if (underscore == std::string_view::npos) return last;
  const std::string_view suffix = last.substr(underscore + 1);
  const std::string_view digits =
      suffix.starts_with('-') || suffix.starts_with('+') ? suffix.substr(1) : suffix;
  const bool numeric = !digits.empty() && std::ranges::all_of(digits, IsDigit);
  return numeric ? last.substr(0, underscore) : last;
}

struct MemcpyKind {
  std::string_view prefix;
  std::string_view type;
  FrameworkCategory category;
};
constexpr std::array<MemcpyKind, 4> kMemcpys = {{
    {"MEMCPYHToD", "MemcpyHToD", FrameworkCategory::kMemcpyHToD},
    {"MEMCPYDToH", "MemcpyDToH", FrameworkCategory::kMemcpyDToH},
    {"MEMCPYDToD", "MemcpyDToD", FrameworkCategory::kMemcpyDToD},
    {"MEMCPYHToH", "MemcpyHToH", FrameworkCategory::kMemcpyHToH},
}};

}  // namespace

bool IsTensorFlowOpName(std::string_view name) {
  if (name.empty() || (!IsAlnum(name[0]) && name[0] != '.')) return false;
  return std::ranges::all_of(name, [](char c) {
    return IsAlnum(c) || c == '_' || c == '.' || c == '/' || c == '>' || c == '-' || c == '\\';
  });
}

bool IsTensorFlowOpType(std::string_view type) {
  if (type.empty() || (!IsUpper(type[0]) && type[0] != '_')) return false;
  return std::ranges::all_of(type, [](char c) { return IsAlnum(c) || c == '_'; });
}

bool IsJaxOpType(std::string_view type) {
  if (type.empty() || (!IsLower(type[0]) && type[0] != '_')) return false;
  const size_t bracket = type.find('[');
  const std::string_view word = type.substr(0, bracket);
  if (!std::ranges::all_of(word, [](char c) { return IsLower(c) || IsDigit(c) || c == '_'; })) {
    return false;
  }
  return bracket == std::string_view::npos || type.ends_with(']');
}

bool IsJaxOpNameAndType(std::string_view name, std::string_view type) {
  if (name.empty() || !IsJaxOpType(type)) return false;
  const size_t slash = name.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? name : name.substr(slash + 1);
  return last.find(type) != std::string_view::npos;
}

bool IsInfeedEnqueue(std::string_view type) {
  return type.starts_with("InfeedEnqueue");
}

FrameworkOp ParseFrameworkOp(std::string_view full_name) {
  const size_t colon = full_name.find(':');
  if (colon == std::string_view::npos) {
    for (const MemcpyKind& kind : kMemcpys) {
      if (StartsWithIgnoringCase(full_name, kind.prefix)) {
        return {kind.category, full_name, kind.type};
      }
    }
    return {FrameworkCategory::kUnknown, full_name, {}};
  }
  const std::string_view name = full_name.substr(0, colon);
  const std::string_view type = full_name.substr(colon + 1);
  if (name == "Iterator") return {FrameworkCategory::kTfData, full_name, kDatasetOp};
  if (IsTensorFlowOpName(name) && IsTensorFlowOpType(type)) {
    return {FrameworkCategory::kTensorFlow, name, type};
  }
  const std::string_view derived = type.empty() ? DerivedType(name) : type;
  if (IsJaxOpType(derived)) {
    return {FrameworkCategory::kJax, name, derived.substr(0, derived.find('['))};
  }
  if (type.empty()) return {FrameworkCategory::kTensorFlow, name, derived};
  return {FrameworkCategory::kUnknown, full_name, {}};
}

std::vector<std::string_view> NameScopes(std::string_view name) {
  std::vector<std::string_view> scopes;
  size_t begin = 0;
  for (size_t slash = name.find('/'); slash != std::string_view::npos;
       slash = name.find('/', begin)) {
    scopes.push_back(name.substr(begin, slash - begin));
    begin = slash + 1;
  }
  return scopes;
}

}  // namespace strobe::analysis
