// What a custom call computes, judged by its HLO text: XLA's cost model gives such kernels no
// floating point operations at all, which must not be read as idle hardware.
//
//   const CustomCallCost cost = DeriveCustomCallCost(expression, category, name);
//   if (cost.provenance == Provenance::kDerivedFromShapes) Use(*cost.flops);
//
// A matrix product is recognised when two operands of at least two dimensions contract to the
// result's last two; attention by a word in the name and three operands that fit. Annotations
// (sharding, placement) cost nothing. Everything else is opaque. One execution; no layout, no
// padding. Cost: linear in the text; at most kMaxOperands operands are looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strobe::tools {

enum class Provenance : uint8_t { kCostModel, kDerivedFromShapes, kOpaqueCustomCall };
// "xla_cost_model", "derived_from_shapes", "opaque_custom_call".
std::string_view ProvenanceName(Provenance provenance);

struct CustomCallCost {
  std::optional<double> flops;
  std::optional<double> bytes;
  Provenance provenance = Provenance::kCostModel;
};

// Whether the op is a custom call at all, by any of its three texts.
bool IsCustomCall(std::string_view expression, std::string_view category, std::string_view name);
CustomCallCost DeriveCustomCallCost(std::string_view expression, std::string_view category,
                                    std::string_view name);

struct TextShape {
  std::string element_type;
  std::vector<int64_t> dimensions;
};
inline constexpr size_t kMaxOperands = 10;

// "%x = f32[8,4]{1,0} dot(f32[8,2] %a, f32[2,4] %b)": the result's shape (of a tuple the largest
// part) and those of the operands; scalars ("f32[]") are left out.
struct ExpressionShapes {
  std::optional<TextShape> result;
  std::vector<TextShape> operands;
};
ExpressionShapes ParseExpressionShapes(std::string_view expression);

}  // namespace strobe::tools
