// pod_viewer: each step on each core of all hosts, and what it spent its time on.
//
//   const ToolDescriptor tool = MakePodViewerTool();
//
// As XProf: its protobuf-like document. Our own API: the same as one table, a row a step and core,
// in which all collectives count as such, not only all-reduce and all-to-all.
#pragma once

#include <cstdint>
#include <string_view>

#include "src/analysis/step_database.h"
#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakePodViewerTool();

// XProf's nine kinds of step time; its id is the index + 1.
inline constexpr size_t kPodKinds = 9;
std::string_view PodKindName(size_t kind);

struct PodTimes {
  uint64_t time_ps[kPodKinds] = {};
  std::string_view bottleneck;  // name of the largest; of equal ones the last by name
};
PodTimes PodTimesOf(const analysis::CoreStep& step, bool as_xprof);

// Categories of HLO ops that bring data from core to core.
bool IsCollectiveCategory(std::string_view category);

}  // namespace strobe::tools
