#include "src/analysis/line_kind.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "src/analysis/natural_order.h"

namespace strobe::analysis {
namespace {

// XProf gives its derived lines ids from here on; stored in 32 bits, so they appear negative.
constexpr int64_t kDerivedIdBase = static_cast<int32_t>(0xdeadbeef);
constexpr int64_t kDerivedIdCount = 290;
constexpr std::string_view kFromStream = " - from #";

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  for (std::string_view prefix : prefixes) {
    if (text.starts_with(prefix)) return true;
  }
  return false;
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> values) {
  for (std::string_view value : values) {
    if (text == value) return true;
  }
  return false;
}

// "XLA Ops - from #20" -> "XLA Ops".
std::string_view WithoutStreamSuffix(std::string_view name) {
  const size_t at = name.find(kFromStream);
  return at == std::string_view::npos ? name : name.substr(0, at);
}

bool IsGpuPlane(std::string_view plane_name) { return plane_name.starts_with("/device:GPU:"); }

int DevicePlaneRank(std::string_view name) {
  if (StartsWithAny(name, {"/device:TPU:", "/device:GPU:"})) return 0;
  if (StartsWithAny(name, {"/device:CUSTOM:", "/custom:"})) return 2;
  if (name.starts_with("#Chip")) return 3;
  return 1;
}

int PlaneRank(std::string_view name, PlaneKind kind) {
  switch (kind) {
    case PlaneKind::kDevice:
      return DevicePlaneRank(name);
    case PlaneKind::kHost:
      return name.starts_with("/host:CPU") ? 10 : 11;
    default:
      return 20;
  }
}

int LineRank(LineKind kind) {
  switch (kind) {
    case LineKind::kSteps:
      return 0;
    case LineKind::kModules:
      return 1;
    case LineKind::kOps:
      return 2;
    case LineKind::kAsync:
      return 3;
    case LineKind::kStream:
      return 4;
    case LineKind::kThread:
      return 5;
    case LineKind::kScope:
      return 6;
    case LineKind::kSource:
      return 7;
    case LineKind::kOther:
      return 8;
    case LineKind::kCounter:
      return 9;
  }
  return 10;
}

}  // namespace

std::string_view PlaneKindName(PlaneKind kind) {
  switch (kind) {
    case PlaneKind::kDevice:
      return "device";
    case PlaneKind::kHost:
      return "host";
    case PlaneKind::kMetadata:
      return "metadata";
    case PlaneKind::kOther:
      return "other";
  }
  return "other";
}

std::string_view LineKindName(LineKind kind) {
  switch (kind) {
    case LineKind::kSteps:
      return "steps";
    case LineKind::kModules:
      return "modules";
    case LineKind::kOps:
      return "ops";
    case LineKind::kAsync:
      return "async";
    case LineKind::kScope:
      return "scope";
    case LineKind::kSource:
      return "source";
    case LineKind::kStream:
      return "stream";
    case LineKind::kThread:
      return "thread";
    case LineKind::kCounter:
      return "counter";
    case LineKind::kOther:
      return "other";
  }
  return "other";
}

PlaneKind ClassifyPlane(std::string_view plane_name) {
  if (StartsWithAny(plane_name,
                    {"/host:metadata", "Task Environment", "/host:__ScopeRangeCallStack__"})) {
    return PlaneKind::kMetadata;
  }
  if (StartsWithAny(plane_name, {"/host:", "Host CPUs", "Syscalls"})) return PlaneKind::kHost;
  if (StartsWithAny(plane_name, {"/device", "#Chip", "/custom:", "/virtualdevice:"})) {
    return PlaneKind::kDevice;
  }
  return PlaneKind::kOther;
}

LineKind ClassifyLine(PlaneKind plane, std::string_view line_name) {
  const std::string_view name = WithoutStreamSuffix(line_name);
  if (name == "_counters_") return LineKind::kCounter;
  if (plane == PlaneKind::kHost) return LineKind::kThread;
  if (IsOneOf(name, {"Steps", "Sparse Core Steps"})) return LineKind::kSteps;
  if (IsOneOf(name, {"XLA Modules", "Sparse Core Modules"})) return LineKind::kModules;
  if (IsOneOf(name, {"XLA Ops", "Sparse Core Ops", "Framework Ops", "TensorFlow Ops"})) {
    return LineKind::kOps;
  }
  if (name == "Async XLA Ops" || name.starts_with("Host Offload Ops")) return LineKind::kAsync;
  if (IsOneOf(name, {"Framework Name Scope", "TensorFlow Name Scope"})) return LineKind::kScope;
  if (name == "Source code") return LineKind::kSource;
  if (name.starts_with("Stream #")) return LineKind::kStream;
  return LineKind::kOther;
}

bool IsDerivedLine(const xplane::Plane& plane, const xplane::Line& line) {
  if (ClassifyPlane(plane.name) != PlaneKind::kDevice) return false;
  const int64_t id = static_cast<int32_t>(static_cast<uint64_t>(line.id));
  const bool fits_32_bits = line.id == id || line.id == static_cast<int64_t>(uint32_t(line.id));
  if (fits_32_bits && id >= kDerivedIdBase && id < kDerivedIdBase + kDerivedIdCount) return true;
  if (line.name.find(kFromStream) != std::string_view::npos) return true;
  if (IsOneOf(line.name, {"Framework Ops", "TensorFlow Ops", "Framework Name Scope",
                          "TensorFlow Name Scope", "Source code", "Launch Stats"})) {
    return true;
  }
  // GPU tracers measure streams only; everything with an XLA name was added by post-processing.
  return IsGpuPlane(plane.name) && IsOneOf(line.name, {"Steps", "XLA Modules", "XLA Ops"});
}

std::vector<size_t> DisplayPlanes(const std::vector<xplane::Plane>& planes) {
  std::vector<size_t> order;
  std::vector<int> rank(planes.size());
  for (size_t p = 0; p < planes.size(); ++p) {
    const PlaneKind kind = ClassifyPlane(planes[p].name);
    if (kind == PlaneKind::kMetadata) continue;
    rank[p] = PlaneRank(planes[p].name, kind);
    order.push_back(p);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (rank[a] != rank[b]) return rank[a] < rank[b];
    if (planes[a].name != planes[b].name) return NaturalLess(planes[a].name, planes[b].name);
    return a < b;
  });
  return order;
}

std::vector<size_t> DisplayLines(const xplane::Plane& plane) {
  const PlaneKind plane_kind = ClassifyPlane(plane.name);
  std::vector<std::pair<bool, int>> rank;
  rank.reserve(plane.lines.size());
  for (const xplane::Line& line : plane.lines) {
    rank.emplace_back(IsDerivedLine(plane, line), LineRank(ClassifyLine(plane_kind, line.name)));
  }
  std::vector<size_t> order(plane.lines.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (rank[a] != rank[b]) return rank[a] < rank[b];
    const std::string_view left = plane.lines[a].name;
    const std::string_view right = plane.lines[b].name;
    return left != right ? NaturalLess(left, right) : a < b;
  });
  return order;
}

}  // namespace strobe::analysis
