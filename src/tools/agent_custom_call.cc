#include "src/tools/agent_custom_call.h"

#include <array>
#include <cctype>
#include <charconv>

#include "src/base/text.h"
#include "src/hlo/shape.h"
#include "src/tools/agent_common.h"

namespace strobe::tools {
namespace {

const std::vector<std::string_view> kAnnotationTargets = {
    "analyzelayout", "allocatebuffer", "sharding", "spmd",          "x64combine",
    "x64split",      "pinned_host",    "annotate", "device_barrier"};
const std::vector<std::string_view> kAttentionWords = {
    "attention", "splash", "flash", "sdpa", "mha", "gqa", "paged", "qk", "softmax"};

double ElementBytesOf(const std::string& type) {
  const hlo::ElementType known = hlo::ElementTypeOf(type);
  const int bits = hlo::ElementBits(known);
  // A type of the future is taken as 16 bits wide, what accelerators mostly compute in.
  if (known == hlo::ElementType::kInvalid || bits == 0) return 2;
  return bits / 8.0;
}

double ElementsOf(const TextShape& shape, size_t leave_last = 0) {
  double elements = 1;
  for (size_t i = 0; i + leave_last < shape.dimensions.size(); ++i) {
    elements *= static_cast<double>(shape.dimensions[i]);
  }
  return elements;
}

double BytesOf(const TextShape& shape) {
  return ElementBytesOf(shape.element_type) * ElementsOf(shape);
}

int64_t Last(const TextShape& shape, size_t from_end) {
  return shape.dimensions[shape.dimensions.size() - from_end];
}

// The length that two operands contract over to give rows x columns; 0: they do not.
int64_t Contraction(int64_t rows, int64_t columns, const TextShape& a, const TextShape& b) {
  const auto has = [](const TextShape& shape, int64_t size) {
    return Last(shape, 2) == size || Last(shape, 1) == size;
  };
  if (!has(a, rows) || !has(b, columns)) return 0;
  const int64_t inner_a = Last(a, 2) == rows ? Last(a, 1) : Last(a, 2);
  const int64_t inner_b = Last(b, 1) == columns ? Last(b, 2) : Last(b, 1);
  return inner_a == inner_b && inner_a > 0 ? inner_a : 0;
}

std::optional<CustomCallCost> MatrixProduct(const TextShape& result,
                                            const std::vector<TextShape>& operands) {
  const int64_t rows = Last(result, 2);
  const int64_t columns = Last(result, 1);
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t j = i + 1; j < operands.size(); ++j) {
      int64_t inner = Contraction(rows, columns, operands[i], operands[j]);
      if (inner == 0) inner = Contraction(columns, rows, operands[i], operands[j]);
      if (inner == 0) continue;
      CustomCallCost cost;
      cost.flops = 2.0 * ElementsOf(result) * static_cast<double>(inner);
      cost.bytes = BytesOf(result) + BytesOf(operands[i]) + BytesOf(operands[j]);
      cost.provenance = Provenance::kDerivedFromShapes;
      return cost;
    }
  }
  return std::nullopt;
}

// Scores and weighted sum: twice a product of queries x keys x depth.
std::optional<CustomCallCost> Attention(const TextShape& result,
                                        const std::vector<TextShape>& operands) {
  const int64_t queries = Last(result, 2);
  const int64_t depth = Last(result, 1);
  for (size_t q = 0; q < operands.size(); ++q) {
    if (Last(operands[q], 2) != queries || Last(operands[q], 1) != depth) continue;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (k == q || Last(operands[k], 1) != depth) continue;
      const int64_t keys = Last(operands[k], 2);
      for (size_t v = 0; v < operands.size(); ++v) {
        if (v == q || v == k || Last(operands[v], 2) != keys || Last(operands[v], 1) != depth) {
          continue;
        }
        CustomCallCost cost;
        cost.flops = 4.0 * ElementsOf(result) * static_cast<double>(keys);
        cost.bytes =
            BytesOf(result) + BytesOf(operands[q]) + BytesOf(operands[k]) + BytesOf(operands[v]);
        cost.provenance = Provenance::kDerivedFromShapes;
        return cost;
      }
    }
  }
  return std::nullopt;
}

bool ParseDimensions(std::string_view text, std::vector<int64_t>* dimensions) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view part = Trimmed(text.substr(0, comma));
    int64_t size = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
    if (error != std::errc() || end != part.data() + part.size() || size < 0) return false;
    dimensions->push_back(size);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return !dimensions->empty();
}

// All "type[d,d]" of a text, in order.
std::vector<TextShape> ShapesIn(std::string_view text) {
  std::vector<TextShape> shapes;
  for (size_t open = text.find('['); open != std::string_view::npos;
       open = text.find('[', open + 1)) {
    size_t begin = open;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 ||
                         text[begin - 1] == '_')) {
      --begin;
    }
    const size_t close = text.find(']', open);
    if (close == std::string_view::npos) break;
    if (begin == open || std::isalpha(static_cast<unsigned char>(text[begin])) == 0) continue;
    TextShape shape;
    shape.element_type = AsciiLower(text.substr(begin, open - begin));
    if (!ParseDimensions(text.substr(open + 1, close - open - 1), &shape.dimensions)) continue;
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

// Where the operands begin: behind the result's shape, which may itself be in parentheses.
size_t OperandsBegin(std::string_view right) {
  if (!right.starts_with('(')) return right.find('(');
  int depth = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    if (right[i] == '(') ++depth;
    if (right[i] == ')' && --depth == 0) return right.find('(', i + 1);
  }
  return std::string_view::npos;
}

std::string TargetOf(std::string_view expression) {
  constexpr std::string_view kKey = "custom_call_target=\"";
  const size_t begin = expression.find(kKey);
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = expression.substr(begin + kKey.size());
  return AsciiLower(rest.substr(0, rest.find('"')));
}

// The number behind "key": in a small JSON text.
double JsonNumber(std::string_view text, std::string_view key) {
  const size_t found = text.find("\"" + std::string(key) + "\"");
  if (found == std::string_view::npos) return 0;
  const size_t colon = text.find(':', found);
  if (colon == std::string_view::npos) return 0;
  const std::string_view rest = text.substr(colon + 1);
  double number = 0;
  return ParseNumberText(rest.substr(0, rest.find_first_of(",}")), &number) ? number : 0;
}

// Pallas kernels may carry their author's estimate.
std::optional<CustomCallCost> StatedEstimate(std::string_view expression) {
  const size_t found = expression.find("\"cost_estimate\"");
  if (found == std::string_view::npos) return std::nullopt;
  const size_t open = expression.find('{', found);
  const size_t close = expression.find('}', found);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  const std::string_view body = expression.substr(open, close - open + 1);
  CustomCallCost cost;
  cost.flops = JsonNumber(body, "flops") + JsonNumber(body, "transcendentals");
  cost.bytes = JsonNumber(body, "bytes_accessed");
  if (*cost.flops <= 0 && *cost.bytes <= 0) return std::nullopt;
  return cost;
}

}  // namespace

std::string_view ProvenanceName(Provenance provenance) {
  switch (provenance) {
    case Provenance::kCostModel:
      return "xla_cost_model";
    case Provenance::kDerivedFromShapes:
      return "derived_from_shapes";
    case Provenance::kOpaqueCustomCall:
      return "opaque_custom_call";
  }
  return "";
}

bool IsCustomCall(std::string_view expression, std::string_view category, std::string_view name) {
  static const std::vector<std::string_view> kWords = {"custom-call", "custom_call"};
  return ContainsAnyOf(AsciiLower(category), kWords) || ContainsAnyOf(AsciiLower(name), kWords) ||
         ContainsAnyOf(AsciiLower(expression), kWords);
}

ExpressionShapes ParseExpressionShapes(std::string_view expression) {
  ExpressionShapes shapes;
  const size_t equals = expression.find('=');
  if (equals == std::string_view::npos) return shapes;
  const std::string_view right = Trimmed(expression.substr(equals + 1));
  const size_t open = OperandsBegin(right);
  if (open == std::string_view::npos) return shapes;
  for (TextShape& shape : ShapesIn(right.substr(0, open))) {
    const auto rank = [](const TextShape& s) {
      return std::pair(s.dimensions.size(), ElementsOf(s));
    };
    if (!shapes.result || rank(*shapes.result) < rank(shape)) shapes.result = std::move(shape);
  }
  shapes.operands = ShapesIn(right.substr(open));
  return shapes;
}

CustomCallCost DeriveCustomCallCost(std::string_view expression, std::string_view category,
                                    std::string_view name) {
  CustomCallCost cost;
  if (!IsCustomCall(expression, category, name)) return cost;
  if (ContainsAnyOf(TargetOf(expression), kAnnotationTargets) ||
      ContainsAnyOf(AsciiLower(name), kAnnotationTargets)) {
    cost.flops = 0;
    cost.bytes = 0;
    return cost;
  }
  if (std::optional<CustomCallCost> stated = StatedEstimate(expression)) return *stated;
  ExpressionShapes shapes = ParseExpressionShapes(expression);
  std::vector<TextShape> tensors;
  for (TextShape& shape : shapes.operands) {
    if (shape.dimensions.size() >= 2) tensors.push_back(std::move(shape));
  }
  if (!shapes.result && tensors.size() >= 3) {
    shapes.result = tensors.back();
    tensors.pop_back();
  }
  if (tensors.size() > kMaxOperands) tensors.resize(kMaxOperands);
  if (shapes.result && shapes.result->dimensions.size() >= 2 && tensors.size() >= 2) {
    if (auto product = MatrixProduct(*shapes.result, tensors)) return *product;
    if (tensors.size() >= 3 && (ContainsAnyOf(AsciiLower(expression), kAttentionWords) ||
                                ContainsAnyOf(AsciiLower(name), kAttentionWords))) {
      if (auto attention = Attention(*shapes.result, tensors)) return *attention;
    }
  }
  cost.provenance = Provenance::kOpaqueCustomCall;
  return cost;
}

}  // namespace strobe::tools
