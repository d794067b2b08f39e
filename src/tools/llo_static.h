// What can be said of a kernel from the compiler's schedule alone: the modes of
// get_llo_static_analysis, each the document of one module.
//
//   Value data = RegisterPressureData(module, /*as_xprof=*/false);
//
// Fields are those of XProf's answers; beyond them stand others (`whole_schedule`,
// `stall_analysis`, `stacks`). Lists are cut at kMaxLloListed, and `truncated` says so. Cost: one
// pass over the instructions and one sort.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/tools/llo_module.h"
#include "src/tools/value.h"

namespace strobe::tools {

// More than anybody reads of allocations or stalls of one kernel.
inline constexpr size_t kMaxLloListed = 10'000;

// Most first, of equal counts by name.
std::vector<std::pair<std::string, int64_t>> Descending(
    const std::map<std::string, int64_t>& counts);

// "kernel.py:33"
std::string LloFrameText(const LloFrame& frame);

Value RegionTreeData(const LloModule& module);
Value OpcodesData(const LloModule& module);
// `limit` bundles; all when it is 0 or less.
Value BundleData(const LloModule& module, int64_t limit);
// Values alive by bundle: from the instruction that makes one to the last that uses it. XProf puts
// what is not scheduled into bundle 0; ours leaves it out and counts it.
Value RegisterPressureData(const LloModule& module, bool as_xprof);
Value SpillsData(const LloModule& module);
// Why instructions wait: the letters of the annotations, and, where the compiler recorded them, the
// bundles that the binding dependence cost.
Value BdiStallsData(const LloModule& module);
Value TargetData(const LloModule& module);
Value SourceData(const LloModule& module, int64_t bundle);

}  // namespace strobe::tools
