// What planes and lines are, judged by their names (XProf's naming rules), and the order to show
// them in.
//
//   ClassifyPlane("/device:TPU:0")   -> PlaneKind::kDevice
//   ClassifyLine(PlaneKind::kDevice, "XLA Ops") -> LineKind::kOps
//
// Pure functions of names. A name nobody knows is kOther, never an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/xplane/profile_file.h"

namespace strobe::analysis {

enum class PlaneKind : uint8_t { kDevice, kHost, kMetadata, kOther };
enum class LineKind : uint8_t {
  kSteps,
  kModules,
  kOps,
  kAsync,
  kScope,
  kSource,
  kStream,
  kThread,
  kCounter,
  kOther
};
enum class OpCategory : uint8_t {
  kOther = 0,
  kMatmul,
  kFusion,
  kCustomKernel,
  kReduce,
  kDataMovement,
  kCollective,
  kHostTransfer,
  kHostCode,
  kMarker
};

std::string_view PlaneKindName(PlaneKind kind);  // "device" ...
std::string_view LineKindName(LineKind kind);    // "steps" ...
std::string_view OpCategoryName(OpCategory category);

PlaneKind ClassifyPlane(std::string_view plane_name);
LineKind ClassifyLine(PlaneKind plane, std::string_view line_name);
// Derived lines repeat what other lines measured (XProf's derived line ids and names); totals must
// not count them again.
bool IsDerivedLine(const xplane::Plane& plane, const xplane::Line& line);
// Colour category from the hlo category when there is one (may be empty), else from the name.
OpCategory CategorizeOp(PlaneKind plane, LineKind line, std::string_view name,
                        std::string_view hlo_category);

// Indices of the planes that are shown, in display order: devices by number, then hosts, then
// others; metadata planes are left out.
std::vector<size_t> DisplayPlanes(const std::vector<xplane::Plane>& planes);
// Indices of a plane's lines in display order: steps, modules, ops, async, streams, threads by
// name, derived after measured.
std::vector<size_t> DisplayLines(const xplane::Plane& plane);

}  // namespace strobe::analysis
