// Texts and colours of graph nodes. Part of hlo_graph; split off because it knows attributes, the
// other files only structure.
#pragma once

#include <string>

#include "src/hlo/hlo_graph.h"

namespace strobe::hlo {

// < > and " as entities, for labels in HTML-like form.
std::string Sanitized(std::string_view text);
// One word for a computation of two scalars, "add"; empty when it is none.
std::string_view TrivialComputation(const HloModule& module, uint32_t computation);
// First line(s) of a node: its name, and its opcode when the name does not tell it.
std::string NodeTitle(const HloModule& module, uint32_t instruction);
std::string NodeTooltip(const HloModule& module, uint32_t instruction);
// Attributes one a line; with the shape when `with_shape`.
std::string NodeAttributes(const HloModule& module, uint32_t instruction, bool with_shape,
                           bool groups_as_reference);
std::string NodeBackendConfig(const HloModule& module, uint32_t instruction, bool always);
// "Subcomputation: <b>add</b>".
std::string TrivialCalls(const HloModule& module, uint32_t instruction);
// A constant as an operand of the shape that it is used with.
std::string ConstantText(const HloModule& module, uint32_t constant, const Shape& shape);
// The colour by opcode; parameters and merged ones are for the caller.
NodeColor OpcodeColor(const HloModule& module, uint32_t instruction);

bool IsSmall(const Shape& shape);
bool IsEffectiveScalar(const Shape& shape);
bool IsFused(const HloModule& module, uint32_t instruction);
// A broadcast within a fusion of a constant with one element.
bool IsFusedScalarBroadcast(const HloModule& module, uint32_t instruction);

}  // namespace strobe::hlo
