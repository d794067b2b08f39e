#include "src/tools/kernel_utilization.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "src/tools/tpu_utilization.h"
#include "src/tools/utilization_viewer.h"

namespace strobe::tools {
namespace {

struct Ratio {
  double achieved = 0;
  double peak = 0;
  double percent() const { return peak == 0 ? 0 : 100 * achieved / peak; }
};

double TwoDigits(double value) { return std::round(value * 100) / 100; }
Value Percent(double percent) { return Value::Double(TwoDigits(std::clamp(percent, 0.0, 100.0))); }

// The kinds of numbers that matrix units work with: name here, name of the utilization row.
constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
    {"BF16", "MXU BF16"}, {"FP8", "MXU E4M3 + E5M2"}, {"Int4", "MXU I4"}, {"Int8", "MXU I8"}};

bool IsKind(std::string_view name) {
  return std::ranges::any_of(kKinds, [&](const auto& kind) { return kind.second == name; });
}

Value KernelValue(const TpuSample& sample, double duration_us) {
  std::map<std::string, Ratio> rows;
  for (const UtilizationRow& row : UtilizationOf(sample)) {
    std::string name = row.name;
    if (name.starts_with("HBM Rd+Wr")) name = "HBM Bandwidth Utilization";
    Ratio& ratio = rows[name];
    ratio.achieved += row.achieved;
    ratio.peak += row.peak;
  }
  double cycles = 0;
  for (const auto& [kind, name] : kKinds)
    cycles += rows.contains(std::string(name)) ? rows[std::string(name)].achieved : 0;
  Value breakdown = Value::Object();
  for (const auto& [kind, name] : kKinds) {
    const auto found = rows.find(std::string(name));
    const double part = found == rows.end() ? 0 : found->second.achieved;
    breakdown.Set(kind, Value::Double(cycles == 0 ? 0 : TwoDigits(100 * part / cycles)));
  }
  const auto busy = rows.find("Avg MXU Busy");
  const double mxu = busy == rows.end() ? 0 : busy->second.percent();
  Value metrics = Value::Object();
  for (const auto& [name, ratio] : rows) {
    if (ratio.peak > 0 && name != "Avg MXU Busy" && !IsKind(name)) {
      metrics.Set(name, Percent(ratio.percent()));
    }
  }
  Value kernel = Value::Object();
  kernel.Set("duration_us", Value::Double(duration_us));
  kernel.Set("kernel_name", Value::String("default_kernel"));
  kernel.Set("mxu_cycles_breakdown", std::move(breakdown));
  kernel.Set("mxu_is_anomaly", Value::Bool(mxu > 100));
  // Not cut off: that is how one sees that counters and clock do not fit together.
  kernel.Set("mxu_utilization", Value::Double(TwoDigits(mxu)));
  kernel.Set("other_metrics", std::move(metrics));
  return kernel;
}

// The longest counter event of the sample tells how long the kernel ran; when none has a length,
// the first operation of the device.
double DurationUs(const xplane::ProfileFile& file, const TpuSample& sample) {
  constexpr double kPsPerUs = 1e6;
  const xplane::Plane& plane = file.planes()[sample.plane];
  int64_t longest_ps = 0;
  int64_t operation_ps = 0;
  for (size_t l = 0; l < plane.lines.size(); ++l) {
    const bool own = plane.lines[l].id == sample.sample && plane.lines[l].name == sample.line_name;
    if (!own && plane.lines[l].name != "XLA Ops") continue;
    const xplane::LineColumns& line = file.Line(sample.plane, l);
    uint64_t first = ~uint64_t{0};
    for (uint32_t e = 0; e < line.event_count(); ++e) {
      if (own) {
        longest_ps = std::max(longest_ps, line.duration_ps[e]);
      } else if (const uint64_t offset = file.EventOffset(sample.plane, l, e); offset < first) {
        first = offset;
        operation_ps = line.duration_ps[e];
      }
    }
  }
  return static_cast<double>(longest_ps > 0 ? longest_ps : operation_ps) / kPsPerUs;
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  if (question.hosts.size() != 1) {
    return InvalidArgumentError(
               "KERNEL_UTILIZATION_ONE_HOST",
               "Expected one host, found " + std::to_string(question.hosts.size()) + ".")
        .Hint("Name one host.");
  }
  STROBE_ASSIGN_OR_RETURN(const xplane::ProfileFile* const file,
                          FileOfHost(input, question.hosts[0]));
  std::vector<TpuSample> samples;
  std::vector<TpuDevice> known;
  if (file != nullptr) {
    STROBE_ASSIGN_OR_RETURN(samples, ReadTpuSamples(*file, cancel));
    known = TpuDevicesOf(*file);
  }
  Value devices = Value::List();
  for (const TpuDevice& device : known) {
    Value kernels = Value::List();
    for (const TpuSample& sample : samples) {
      if (sample.plane != device.plane) continue;
      const double duration_us = DurationUs(*file, sample);
      kernels.Add(KernelValue(WithCycles(sample, duration_us), duration_us));
    }
    Value one = Value::Object();
    one.Set("device_id", Value::Int32(device.device_id));
    one.Set("device_type", Value::String(device.device_type));
    one.Set("kernels", std::move(kernels));
    devices.Add(std::move(one));
  }
  ToolResult result;
  result.shape = ToolResult::Shape::kDocument;
  result.document = Value::Object();
  result.document.Set("devices", std::move(devices));
  result.document.Set("status", Value::String("SUCCESS"));
  if (samples.empty()) AddCounterNotice(input.facts(), &result);
  return result;
}

}  // namespace

ToolDescriptor MakeKernelUtilizationTool() {
  ToolDescriptor tool;
  tool.id = "kernel_utilization";
  tool.title = "Kernel utilization";
  tool.question = "How well did each profiled kernel use the matrix units and the memory?";
  tool.scope = HostScope::kOneHost;
  tool.applies = CounterApplicability;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
