// Which well-known host event a name is, as XProf's grouping and viewers distinguish them.
//
//   HostEventOf("EagerExecute")        -> HostEvent::kEagerExecute
//   HostEventOf("model/MatMul:MatMul") -> HostEvent::kFrameworkOp
//
// Pure functions of names; a name nobody knows is kUnknown. Cost: one hash look-up, and a parse of
// the name when it contains a colon.
#pragma once

#include <cstdint>
#include <string_view>

namespace strobe::analysis {

enum class HostEvent : uint8_t {
  kUnknown,
  kOther,  // known to XProf, but of no consequence here
  kTraceContext,
  kSessionRun,
  kFunctionRun,
  kRunGraph,
  kEagerExecute,
  kExecutorProcess,
  kInternal,  // hidden from viewers
  kCapturedFunction,
  kLoop,
  kIteratorGetNext,
  kIterator,
  kFrameworkOp,
};

HostEvent HostEventOf(std::string_view name);

}  // namespace strobe::analysis
