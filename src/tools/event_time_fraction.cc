#include "src/tools/event_time_fraction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "src/analysis/step_events.h"

namespace strobe::tools {
namespace {

using analysis::DeviceKind;
using analysis::PreparedHost;

constexpr std::string_view kBarrier = "barrier-cores";
constexpr uint64_t kEmptyBarrierPs = 1250;  // what a barrier that nobody waited in shows
constexpr double kMinStepRatio = 0.01;

// Of one host: step -> plane -> share of the step.
using Fractions = std::map<int64_t, std::map<std::string, double>>;

struct StepShares {
  Fractions fractions;
  std::map<int64_t, uint64_t> step_ps;
};

std::vector<uint8_t> NamesWith(const xplane::Plane& plane, std::string_view text, bool* any) {
  std::vector<uint8_t> marked;
  for (const xplane::EventMetadata& event : plane.event_metadata) {
    marked.push_back(event.name.find(text) != std::string_view::npos);
    *any |= marked.back() != 0;
  }
  return marked;
}

DeviceKind KindOf(std::string_view plane_name) {
  if (plane_name.starts_with("/device:GPU:")) return DeviceKind::kGpu;
  return plane_name.find(" SparseCore") == std::string_view::npos ? DeviceKind::kTensorCore
                                                                  : DeviceKind::kSparseCore;
}

void AddPlane(const PreparedHost& host, size_t p, std::string_view event_name, StepShares* shares) {
  const xplane::Plane& plane = host.file().planes()[p];
  bool any = false;
  const std::vector<uint8_t> marked = NamesWith(plane, event_name, &any);
  if (!any) return;
  analysis::DevicePlaneMetrics device;
  device.plane = p;
  device.plane_id = plane.id;
  device.kind = KindOf(plane.name);
  int64_t origin_ns = 0;
  const analysis::StepRecords steps = analysis::DeviceStepRecords(host, device, &origin_ns);
  for (size_t l = 0; l < plane.lines.size() && !steps.empty(); ++l) {
    const analysis::PreparedLine& prepared = host.planes()[p].lines[l];
    if (!prepared.from_file) continue;
    const xplane::LineColumns& line = host.file().Line(p, l);
    if (std::ranges::none_of(line.name, [&](uint32_t name) { return marked[name] != 0; })) continue;
    const std::vector<xplane::Stat> durations =
        host.file().EventStatColumn(p, l, "device_duration_ps");
    for (uint32_t e = 0; e < line.event_count(); ++e) {
      if (marked[line.name[e]] == 0 || durations[e].type == xplane::StatType::kNone) continue;
      const auto step = steps.find(prepared.GroupOf(e));
      if (step == steps.end()) continue;
      const uint64_t step_ps = step->second.StepTime().duration_ps();
      const auto duration_ps = static_cast<uint64_t>(durations[e].IntOrUint());
      if (step_ps == 0) continue;
      if (event_name == kBarrier && (duration_ps == 0 || duration_ps == kEmptyBarrierPs)) continue;
      shares->fractions[step->first][std::string(plane.name)] +=
          static_cast<double>(duration_ps) / static_cast<double>(step_ps);
      shares->step_ps[step->first] = step_ps;
    }
  }
}

// Steps at the ends of the profile may be cut.
void DropIncomplete(StepShares* shares) {
  Fractions& fractions = shares->fractions;
  if (fractions.size() >= 3) {
    fractions.erase(fractions.begin());
    fractions.erase(std::prev(fractions.end()));
  } else if (fractions.size() == 2) {
    const auto first = fractions.begin();
    const auto second = std::next(first);
    const auto first_ps = static_cast<double>(shares->step_ps[first->first]);
    const auto second_ps = static_cast<double>(shares->step_ps[second->first]);
    if (second_ps < kMinStepRatio * first_ps) {
      fractions.erase(second);
    } else if (first_ps < kMinStepRatio * second_ps) {
      fractions.erase(first);
    }
  }
}

void Collect(const StepShares& shares, const std::string& host, EventTimeFractions* found) {
  for (const auto& [step, by_plane] : shares.fractions) {
    double sum = 0;
    for (const auto& [plane, fraction] : by_plane) {
      found->by_chip[plane].push_back(fraction);
      sum += fraction;
    }
    found->by_host[host].push_back(sum / static_cast<double>(by_plane.size()));
  }
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

double EventTimeFractions::MeanPercent() const {
  double sum = 0;
  size_t count = 0;
  for (const auto& [chip, fractions] : by_chip) {
    for (const double fraction : fractions) sum += fraction;
    count += fractions.size();
  }
  return count == 0 ? 0 : 100.0 * sum / static_cast<double>(count);
}

Result<EventTimeFractions> FindEventTimeFractions(ToolInput& input, std::span<const size_t> hosts,
                                                  std::string_view event_name,
                                                  const CancelToken& cancel) {
  EventTimeFractions found;
  for (const size_t h : hosts) {
    STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const PreparedHost> prepared,
                            input.Prepared(h, cancel));
    StepShares shares;
    const std::vector<xplane::Plane>& planes = prepared->file().planes();
    for (size_t p = 0; p < planes.size(); ++p) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      if (planes[p].name.starts_with("/device:")) AddPlane(*prepared, p, event_name, &shares);
    }
    DropIncomplete(&shares);
    Collect(shares, input.hosts()[h].name, &found);
  }
  return found;
}

std::vector<Straggler> FindStragglers(const std::map<std::string, double>& percent_by_host) {
  constexpr size_t kMinHosts = 3;
  constexpr double kScale = 0.6745, kLeastDeviation = 0.1, kLimit = 3.5, kSame = 1e-6;
  if (percent_by_host.size() < kMinHosts) return {};
  std::vector<double> values;
  for (const auto& [host, percent] : percent_by_host) values.push_back(percent);
  const double median = Median(values);
  for (double& value : values) value = std::abs(value - median);
  const double deviation = Median(values);
  std::vector<Straggler> stragglers;
  for (const auto& [host, percent] : percent_by_host) {
    double score = 0;
    if (deviation > 0) {
      score = kScale * (percent - median) / std::max(deviation, kLeastDeviation);
    } else if (std::abs(percent - median) > kSame) {
      score = std::numeric_limits<double>::infinity();
    }
    if (std::abs(score) > kLimit) stragglers.push_back({host, percent, score});
  }
  return stragglers;
}

}  // namespace strobe::tools
