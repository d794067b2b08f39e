// Names of framework operations: "name:type" as TensorFlow and JAX leave them in traces.
//
//   const FrameworkOp op = ParseFrameworkOp("jit(f)/dot_general:");
//   // op.name "jit(f)/dot_general", op.type "dot_general", op.category kJax
//
// Texts are views into what was given. Cost: one walk over the name. Rules: XProf's (tf_op_utils).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace strobe::analysis {

enum class FrameworkCategory : uint8_t {
  kUnknown,
  kTensorFlow,
  kJax,
  kTfData,
  kMemcpyHToD,
  kMemcpyDToH,
  kMemcpyDToD,
  kMemcpyHToH,
  kInputPipeline,
};

struct FrameworkOp {
  FrameworkCategory category = FrameworkCategory::kUnknown;
  std::string_view name;
  std::string_view type;  // empty: unknown
};

inline constexpr std::string_view kDatasetOp = "Dataset";

FrameworkOp ParseFrameworkOp(std::string_view full_name);

bool IsTensorFlowOpName(std::string_view name);
bool IsTensorFlowOpType(std::string_view type);
bool IsJaxOpType(std::string_view type);  // "dot_general", "conv[...]"
// The last part of the name holds the type.
bool IsJaxOpNameAndType(std::string_view name, std::string_view type);

// "InfeedEnqueue", "InfeedEnqueueTuple" ...
bool IsInfeedEnqueue(std::string_view type);

// "a/b/c" -> {"a", "b"}.
std::vector<std::string_view> NameScopes(std::string_view name);

}  // namespace strobe::analysis
