#include "src/analysis/overview.h"

#include <algorithm>

#include "src/analysis/busy_time.h"
#include "src/analysis/op_totals.h"
#include "src/analysis/session_window.h"
#include "src/analysis/steps.h"

namespace strobe::analysis {
namespace {

using xplane::Plane;

// Lines that say what a device was doing: op lines, else the streams of a GPU, else modules.
std::vector<uint32_t> BusyLines(const Plane& plane) {
  for (const LineKind wanted : {LineKind::kOps, LineKind::kStream, LineKind::kModules}) {
    std::vector<uint32_t> lines;
    for (uint32_t l = 0; l < plane.lines.size(); ++l) {
      const bool fits = ClassifyLine(PlaneKind::kDevice, plane.lines[l].name) == wanted;
      if (fits && !IsDerivedLine(plane, plane.lines[l])) lines.push_back(l);
    }
    if (!lines.empty()) return lines;
  }
  return {};
}

// A device of its own: not a part of a chip (SparseCore, "#Chip" counters) or a virtual one.
std::string DeviceKind(std::string_view plane_name) {
  if (plane_name.find(" SparseCore") != std::string_view::npos) return "";
  if (plane_name.starts_with("/device:TPU:")) return "TPU";
  if (plane_name.starts_with("/device:GPU:")) return "GPU";
  if (plane_name.starts_with("/device:CUSTOM:") || plane_name.starts_with("/custom:")) {
    return "custom";
  }
  return "";
}

std::string DeviceName(const std::vector<xplane::Stat>& stats) {
  for (const std::string_view name : {"device_type_string", "gpu_device_name", "device_vendor"}) {
    const xplane::Stat* stat = FindStat(stats, name);
    if (stat != nullptr && !stat->text.empty()) return std::string(stat->text);
  }
  return "";
}

// Everything on a GPU's streams but copies and fills: kernels are what makes it busy.
std::vector<uint8_t> KernelNames(const Plane& plane) {
  std::vector<uint8_t> names(plane.event_metadata.size());
  for (size_t n = 0; n < names.size(); ++n) {
    const std::string_view name = plane.event_metadata[n].label();
    names[n] = !name.starts_with("Memcpy") && !name.starts_with("Memset");
  }
  return names;
}

class OverviewMaker {
 public:
  OverviewMaker(const std::vector<HostInput>& hosts, const OverviewOptions& options)
      : hosts_(hosts), options_(options) {}

  Overview Make() {
    const TimeWindow window = SessionWindow(hosts_, /*decode=*/true);
    overview_.window_start_ps = window.start_ps;
    overview_.window_end_ps = window.end_ps;
    for (uint32_t h = 0; h < hosts_.size(); ++h) {
      if (hosts_[h].file == nullptr) continue;
      CountEvents(*hosts_[h].file);
      AddDevices(h);
    }
    AddHostOps();
    StepsFound steps = FindSteps(hosts_, options_.max_steps);
    overview_.steps = std::move(steps.steps);
    overview_.steps_reason = std::move(steps.reason);
    ListOps();
    if (window.length_ps() > 0) {
      for (DeviceSummary& device : overview_.devices) {
        device.busy_share =
            static_cast<double>(device.busy_ps) / static_cast<double>(window.length_ps());
      }
    }
    return std::move(overview_);
  }

 private:
  void CountEvents(const xplane::ProfileFile& file) {
    for (size_t p = 0; p < file.planes().size(); ++p) {
      for (size_t l = 0; l < file.planes()[p].lines.size(); ++l) {
        overview_.event_count += file.Line(p, l).event_count();
      }
    }
  }

  void AddDevices(uint32_t host) {
    const xplane::ProfileFile& file = *hosts_[host].file;
    for (const size_t p : DisplayPlanes(file.planes())) {
      const Plane& plane = file.planes()[p];
      if (ClassifyPlane(plane.name) != PlaneKind::kDevice) continue;
      has_device_planes_ = true;
      const std::vector<uint32_t> lines = BusyLines(plane);
      const std::string kind = DeviceKind(plane.name);
      const std::vector<uint8_t> kernels =
          kind == "GPU" ? KernelNames(plane) : std::vector<uint8_t>();
      BusyTime busy;
      for (const uint32_t l : lines) {
        busy.AddLine(file.Line(p, l), kernels.empty() ? nullptr : &kernels);
        const LineKind line_kind = ClassifyLine(PlaneKind::kDevice, plane.lines[l].name);
        if (line_kind != LineKind::kModules) {
          device_ops_.AddLine(file, host, static_cast<uint32_t>(p), l, nullptr);
        }
      }
      if (kind.empty()) continue;
      DeviceSummary device = MakeDevice(host, static_cast<uint32_t>(p), kind, busy);
      device.name = DeviceName(file.PlaneStats(p));
      overview_.devices.push_back(std::move(device));
    }
  }

  DeviceSummary MakeDevice(uint32_t host, uint32_t p, std::string kind, const BusyTime& busy) {
    const xplane::ProfileFile& file = *hosts_[host].file;
    const Plane& plane = file.planes()[p];
    DeviceSummary device;
    device.host = host;
    device.plane = p;
    device.plane_name = plane.name;
    device.kind = std::move(kind);
    device.busy_ps = busy.Total();
    std::optional<TimeWindow> active;
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      if (IsDerivedLine(plane, plane.lines[l])) continue;
      const std::optional<TimeWindow> line = LineWindow(file.Line(p, l));
      if (!line) continue;
      if (!active) active = line;
      active->start_ps = std::min(active->start_ps, line->start_ps);
      active->end_ps = std::max(active->end_ps, line->end_ps);
    }
    if (active) {
      device.active_start_ps = active->start_ps + hosts_[host].shift_ps;
      device.active_end_ps = active->end_ps + hosts_[host].shift_ps;
    }
    return device;
  }

  // A CPU-only profile: events that carry hlo_op are its ops, and the CPU is its device.
  void AddHostOps() {
    if (!device_ops_.empty() || has_device_planes_) return;
    for (uint32_t h = 0; h < hosts_.size(); ++h) {
      if (hosts_[h].file == nullptr) continue;
      const xplane::ProfileFile& file = *hosts_[h].file;
      for (const size_t p : DisplayPlanes(file.planes())) {
        if (ClassifyPlane(file.planes()[p].name) == PlaneKind::kHost) {
          AddHostOpsOfPlane(file, h, static_cast<uint32_t>(p));
        }
      }
    }
  }

  void AddHostOpsOfPlane(const xplane::ProfileFile& file, uint32_t host, uint32_t plane) {
    BusyTime busy;
    bool any = false;
    for (uint32_t l = 0; l < file.planes()[plane].lines.size(); ++l) {
      const std::vector<uint8_t> names = NamesWithStat(file, plane, l, "hlo_op");
      if (names.empty()) continue;
      any = true;
      host_ops_.AddLine(file, host, plane, l, &names);
      busy.AddLine(file.Line(plane, l), &names);
    }
    if (!any) return;
    overview_.devices.push_back(MakeDevice(host, plane, "CPU", busy));
  }

  void AddAllHostEvents() {
    for (uint32_t h = 0; h < hosts_.size(); ++h) {
      if (hosts_[h].file == nullptr) continue;
      const xplane::ProfileFile& file = *hosts_[h].file;
      for (uint32_t p = 0; p < file.planes().size(); ++p) {
        if (ClassifyPlane(file.planes()[p].name) != PlaneKind::kHost) continue;
        for (uint32_t l = 0; l < file.planes()[p].lines.size(); ++l) {
          host_ops_.AddLine(file, h, p, l, nullptr);
        }
      }
    }
  }

  void ListOps() {
    const bool device = !device_ops_.empty();
    if (!device && host_ops_.empty()) AddAllHostEvents();
    const OpTotals& totals = device ? device_ops_ : host_ops_;
    overview_.top_ops_by = device ? "device" : "host";
    overview_.top_ops = totals.Top(hosts_, options_.max_ops);
    overview_.top_ops_total_ps = totals.self_ps();
    if (totals.empty()) {
      overview_.top_ops_reason = "The profile has no events on device op lines or host threads.";
    }
  }

  const std::vector<HostInput>& hosts_;
  const OverviewOptions& options_;
  Overview overview_;
  bool has_device_planes_ = false;
  OpTotals device_ops_;
  OpTotals host_ops_;
};

}  // namespace

Overview MakeOverview(const std::vector<HostInput>& hosts, const OverviewOptions& options) {
  return OverviewMaker(hosts, options).Make();
}

}  // namespace strobe::analysis
