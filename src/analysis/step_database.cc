#include "src/analysis/step_database.h"

#include <algorithm>
#include <limits>

#include "src/analysis/step_events.h"
#include "src/analysis/tpu_step.h"

namespace strobe::analysis {
namespace {

bool HasInfeed(const std::vector<DevicePlaneMetrics>& devices) {
  for (const DevicePlaneMetrics& device : devices) {
    for (const OpMetrics& op : device.whole.ops) {
      if (op.category == "infeed" || op.category == "sparsecorev0 infeed") return true;
    }
  }
  return false;
}

CoreStep MakeTpuCoreStep(int64_t number, const StepRecord& record, const StepSpan& time,
                         const GroupOps& ops) {
  CoreStep step;
  step.step_num = number;
  step.step_name = record.name;
  step.begin_ps = time.begin_ps;
  step.duration_ps = time.duration_ps();
  step.is_tpu = true;
  ops.AddCategoryTimes(&step.category_ps);
  const uint64_t op_ps = ops.OpTimePs();
  step.category_ps[std::string(kIdle)] += time.duration_ps() - std::min(time.duration_ps(), op_ps);
  return step;
}

Step MakeTpuStep(int64_t number, StepRecord* record) {
  Step step;
  step.step_num = number;
  step.step_name = record->name;
  const StepSpan time = record->StepTime();
  if (time.duration_ps() == 0) return step;
  auto ops = std::make_shared<StepOps>();
  for (const auto& [core, group] : record->ops) {
    const bool is_sparse = core >= kSparseCoreIndexStart;
    const StepSpan on_core = is_sparse ? record->StepTimeOn(core) : time;
    step.cores.emplace(core, MakeTpuCoreStep(number, *record, on_core, *group));
    if (!is_sparse) ops->AddCore(group, on_core.duration_ps());
  }
  step.ops = std::move(ops);
  step.all_reduces = std::move(record->all_reduces);
  return step;
}

// False: nothing was computed in the step, so it is left out.
bool MakeGenericStep(int64_t number, bool has_device, StepRecord* record, PrecisionStats* precision,
                     Step* step) {
  const StepSpan time = record->StepTime();
  const ExclusiveTimes times = SumExclusive(record->spans, time.begin_ps, time.end_ps);
  const auto at = [](EventType type) { return static_cast<size_t>(type); };
  precision->compute_16bit_ps += times.whole_ps[at(EventType::kDeviceCompute16)];
  precision->compute_32bit_ps += times.whole_ps[at(EventType::kDeviceCompute32)];
  const bool computed = has_device ? times.present[at(EventType::kDeviceCompute16)] ||
                                         times.present[at(EventType::kDeviceCompute32)]
                                   : times.present[at(EventType::kHostCompute)];
  if (!computed || time.duration_ps() == 0) return false;
  CoreStep core;
  core.step_num = number;
  core.step_name = record->name;
  core.begin_ps = time.begin_ps;
  core.duration_ps = time.duration_ps();
  core.type_ps = times.inside_ps;
  const uint64_t known_ps = times.InsideTotal();
  if (known_ps < core.duration_ps) core.type_ps[0] += core.duration_ps - known_ps;
  step->step_num = number;
  step->step_name = record->name;
  step->cores.emplace(kGenericCore, std::move(core));
  step->all_reduces = std::move(record->all_reduces);
  return true;
}

// Input that comes without an infeed shows as idle time of the cores: the share of it for which the
// host waited for input, or sent it, becomes infeed (XProf's MayFixTpuStepAnalysis).
void MoveHostInputIntoInfeed(const StepRecords& host_steps, StepDatabase* database) {
  for (Step& step : database->steps) {
    const auto host = host_steps.find(step.step_num);
    if (host == host_steps.end() || host->second.input_ps == 0) continue;
    const double idle_ms = ComputeTpuStepDetails(step).tc_idle_ms;
    const double ratio =
        std::min(SafeDivide(static_cast<double>(host->second.input_ps) / 1e9, idle_ms), 1.0);
    for (auto& [core, part] : step.cores) {
      if (core >= kSparseCoreIndexStart) continue;
      uint64_t& infeed_ps = part.category_ps["infeed"];
      uint64_t& idle_ps = part.category_ps[std::string(kIdle)];
      if (idle_ps == 0) continue;
      infeed_ps = static_cast<uint64_t>(static_cast<double>(idle_ps) * ratio);
      idle_ps -= infeed_ps;
    }
  }
}

// What each plane says of its steps. `origin_unix_ns` is the last plane's that tells one.
Result<std::vector<StepRecords>> RecordsOfPlanes(const PreparedHost& host,
                                                 const std::vector<DevicePlaneMetrics>& devices,
                                                 const CancelToken& cancel,
                                                 int64_t* origin_unix_ns) {
  constexpr int64_t kNotTold = std::numeric_limits<int64_t>::min();
  std::vector<StepRecords> records(devices.size());
  std::vector<int64_t> origins(devices.size(), kNotTold);
  STROBE_RETURN_IF_ERROR(ForEachPiece(host.parallel(), devices.size(), [&](size_t i) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    records[i] = DeviceStepRecords(host, devices[i], &origins[i]);
    return OkStatus();
  }));
  for (const int64_t origin : origins) {
    if (origin != kNotTold) *origin_unix_ns = origin;
  }
  return records;
}

Result<StepDatabase> MakeTpuSteps(const PreparedHost& host,
                                  const std::vector<DevicePlaneMetrics>& devices,
                                  const CancelToken& cancel) {
  StepDatabase database;
  STROBE_ASSIGN_OR_RETURN(std::vector<StepRecords> of_planes,
                          RecordsOfPlanes(host, devices, cancel, &database.origin_unix_ns));
  StepRecords records;
  for (StepRecords& of_plane : of_planes) {
    if (!of_plane.empty()) IntersectSteps(std::move(of_plane), &records);
  }
  std::vector<std::pair<int64_t, StepRecord*>> ordered;
  for (auto& [number, record] : records) ordered.emplace_back(number, &record);
  database.steps.resize(ordered.size());
  STROBE_RETURN_IF_ERROR(ForEachPiece(host.parallel(), ordered.size(), [&](size_t i) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    database.steps[i] = MakeTpuStep(ordered[i].first, ordered[i].second);
    return OkStatus();
  }));
  if (database.steps.empty() || HasInfeed(devices)) return database;
  STROBE_ASSIGN_OR_RETURN(const StepRecords host_steps,
                          HostStepRecords(host, HostSpans::kInputOnly, cancel));
  MoveHostInputIntoInfeed(host_steps, &database);
  return database;
}

// Wall clock that was taken off the times of the host's lines.
int64_t HostOrigin(const PreparedHost& host) {
  for (const xplane::Plane& plane : host.file().planes()) {
    if (plane.name != "/host:CPU") continue;
    if (!plane.lines.empty()) return OriginOf(plane.lines.front());
  }
  return 0;
}

}  // namespace

Result<StepDatabase> MakeStepDatabase(const PreparedHost& host,
                                      const std::vector<DevicePlaneMetrics>& devices,
                                      const CancelToken& cancel) {
  if (!devices.empty() && devices.front().kind != DeviceKind::kGpu) {
    return MakeTpuSteps(host, devices, cancel);
  }
  StepDatabase database;
  StepRecords records;
  if (devices.empty()) {
    STROBE_ASSIGN_OR_RETURN(records, HostStepRecords(host, HostSpans::kAll, cancel));
    database.origin_unix_ns = HostOrigin(host);
  }
  STROBE_ASSIGN_OR_RETURN(std::vector<StepRecords> of_planes,
                          RecordsOfPlanes(host, devices, cancel, &database.origin_unix_ns));
  for (StepRecords& of_plane : of_planes) UniteSteps(std::move(of_plane), &records);
  for (auto& [number, record] : records) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    Step step;
    if (MakeGenericStep(number, !devices.empty(), &record, &database.precision, &step)) {
      database.steps.push_back(std::move(step));
    }
    record = StepRecord();  // its spans are not needed any more
  }
  return database;
}

OpMetricsDb CompleteStepsOps(const StepDatabase& steps) {
  StepOpsSum all;
  for (const Step& step : steps.steps) {
    if (step.ops != nullptr) all.Add(*step.ops);
  }
  return all.Finish();
}

}  // namespace strobe::analysis
