#include "src/analysis/op_stats_facts.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "src/analysis/device_op_metrics.h"
#include "src/analysis/device_peaks.h"
#include "src/analysis/op_totals.h"
#include "src/analysis/tf_op_name.h"
#include "src/wire/wire_reader.h"

namespace strobe::analysis {
namespace {

constexpr std::string_view kGpuPrefix = "/device:GPU:";
constexpr std::string_view kTpuPrefix = "/device:TPU:";
constexpr std::string_view kHostPlane = "/host:CPU";

std::vector<size_t> PlanesWithPrefix(const xplane::ProfileFile& file, std::string_view prefix) {
  std::vector<size_t> planes;
  for (size_t p = 0; p < file.planes().size(); ++p) {
    if (file.planes()[p].name.starts_with(prefix)) planes.push_back(p);
  }
  return planes;
}

std::string HostnameOf(const xplane::ProfileFile& file) {
  return file.hostnames().empty() ? "localhost" : file.hostnames()[0];
}

bool ParseCoreDetails(std::string_view bytes, CoreDetails* core) {
  wire::WireReader reader(bytes);
  wire::WireField field;
  while (reader.Next(&field)) {
    const auto number = static_cast<uint32_t>(field.value);
    if (field.number == 1 && field.type == wire::WireType::kBytes) core->hostname = field.bytes;
    if (field.type != wire::WireType::kVarint) continue;
    if (field.number == 2) core->device_ordinal = number;
    if (field.number == 3) core->core_num = number;
    if (field.number == 4) core->local_chip_id = number;
    if (field.number == 5) core->global_chip_id = number;
    if (field.number == 6) core->global_core_id = number;
    if (field.number == 7) core->is_sparse_core = number != 0;
  }
  return reader.error() == wire::WireError::kNone;
}

bool HasGradientScope(std::string_view name) {
  return std::ranges::any_of(NameScopes(name), [](std::string_view scope) {
    if (!scope.starts_with("gradient")) return false;
    scope.remove_prefix(8);
    return scope == "_tape" || scope.starts_with("s");
  });
}

bool HasTransposeScope(std::string_view name) {
  constexpr std::string_view kTranspose = "transpose(";
  for (size_t at = name.find(kTranspose); at != std::string_view::npos;
       at = name.find(kTranspose, at + 1)) {
    if (at == 0 || name[at - 1] == '/') return true;
  }
  return false;
}

}  // namespace

size_t HostPlaneOf(const xplane::ProfileFile& file) {
  for (size_t p = 0; p < file.planes().size(); ++p) {
    if (file.planes()[p].name == kHostPlane) return p;
  }
  return std::string::npos;
}

RunEnvironment RunEnvironmentOf(const xplane::ProfileFile& file) {
  RunEnvironment run;
  run.host_count = run.task_count = 1;
  run.hostnames = {HostnameOf(file)};
  if (const auto window = file.task_window()) {
    const int64_t length_ps = window->end_ps - window->start_ps;
    run.profile_duration_ms = length_ps > 0 ? static_cast<uint64_t>(length_ps / 1'000'000'000) : 0;
  }
  const std::vector<size_t> gpus = PlanesWithPrefix(file, kGpuPrefix);
  if (!gpus.empty()) {
    run.hardware = HardwareType::kGpu;
    run.device_type = GpuModelName(ReadGpuCapabilities(file, gpus[0]));
    if (run.device_type.empty()) run.device_type = "GPU";
    run.device_core_count = static_cast<uint32_t>(gpus.size());
    return run;
  }
  std::vector<size_t> cores = PlanesWithPrefix(file, kTpuPrefix);
  std::erase_if(cores, [&](size_t p) { return TensorCoreNumber(file.planes()[p].name) < 0; });
  if (!cores.empty()) {
    run.hardware = HardwareType::kTpu;
    run.device_core_count = static_cast<uint32_t>(cores.size());
    const std::vector<xplane::Stat> stats = file.PlaneStats(cores[0]);
    if (const xplane::Stat* type = FindStat(stats, "device_type_string")) {
      run.device_type = type->text;
    }
    return run;
  }
  run.hardware = HardwareType::kCpuOnly;
  run.device_type = "CPU";
  return run;
}

PerfEnv PerfEnvOf(const xplane::ProfileFile& file) {
  const std::vector<size_t> planes = DevicePlanesOf(file);
  if (planes.empty()) return {};
  return file.planes()[planes[0]].name.starts_with(kTpuPrefix) ? TpuPerfEnv(file, planes[0])
                                                               : GpuPerfEnv(file, planes[0]);
}

std::map<uint32_t, CoreDetails> CoresOf(const xplane::ProfileFile& file) {
  std::map<uint32_t, CoreDetails> cores;
  const std::string hostname = HostnameOf(file);
  if (PlanesWithPrefix(file, kTpuPrefix).empty()) cores[kGenericCore].hostname = hostname;
  for (const size_t plane : DevicePlanesOf(file)) {
    const std::vector<xplane::Stat> stats = file.PlaneStats(plane);
    const xplane::Stat* details = FindStat(stats, "core_details");
    CoreDetails core;
    if (details == nullptr || !ParseCoreDetails(details->text, &core)) continue;
    core.hostname = hostname;
    core.is_sparse_core = SparseCoreNumber(file.planes()[plane].name) >= 0;
    cores[static_cast<uint32_t>(file.planes()[plane].id)] = std::move(core);
  }
  return cores;
}

std::map<uint64_t, std::string> ProgramNamesOf(const hlo::ModuleSet& modules) {
  std::map<uint64_t, std::string> names;
  for (const hlo::ModuleSet::Entry& entry : modules.entries()) {
    names.try_emplace(entry.program_id, entry.name);
  }
  return names;
}

Diagnostics DiagnosticsOf(const xplane::ProfileFile& file) {
  const auto unique = [](const std::vector<std::string>& texts) {
    const std::set<std::string> sorted(texts.begin(), texts.end());
    return std::vector<std::string>(sorted.begin(), sorted.end());
  };
  return {{}, unique(file.warnings()), unique(file.errors())};
}

CounterAverages CountersOf(const xplane::ProfileFile& file) {
  CounterAverages counters;
  const size_t plane = HostPlaneOf(file);
  if (plane == std::string::npos) return counters;
  const std::vector<xplane::Stat> stats = file.PlaneStats(plane);
  if (const xplane::Stat* mxu = FindStat(stats, "matrix_unit_utilization_percent")) {
    counters.matrix_unit_utilization_percent = mxu->number;
  }
  if (const xplane::Stat* hbm = FindStat(stats, "hbm_utilization_percent")) {
    counters.hbm_utilization_percent = hbm->number;
  }
  return counters;
}

bool IsGradientOp(std::string_view op_name, std::string_view op_type) {
  if (IsTensorFlowOpType(op_type) && IsTensorFlowOpName(op_name)) {
    return HasGradientScope(op_name);
  }
  return (IsJaxOpNameAndType(op_name, op_type) || op_type.empty()) && HasTransposeScope(op_name);
}

bool IsTraining(const hlo::ModuleSet& modules) {
  for (size_t m = 0; m < modules.entries().size(); ++m) {
    // Files beside a profile may be of other runs; XProf looks into the profile alone.
    if (modules.entries()[m].from_file) continue;
    // Most modules do not even hold the words.
    const std::string_view bytes = modules.entries()[m].hlo_proto;
    if (bytes.find("transpose(") == std::string_view::npos &&
        bytes.find("gradient") == std::string_view::npos) {
      continue;
    }
    const Result<std::shared_ptr<const hlo::HloModule>> module = modules.Module(m);
    if (!module.ok()) continue;
    for (const hlo::Instruction& instruction : (*module)->instructions()) {
      const hlo::OpMetadata metadata = hlo::DecodeMetadata(instruction.metadata);
      if (IsGradientOp(metadata.op_name, metadata.op_type)) return true;
    }
  }
  return false;
}

double DecodeStepMilliseconds(const PreparedHost& host) {
  const xplane::ProfileFile& file = host.file();
  const size_t host_plane = HostPlaneOf(file);
  if (host_plane == std::string::npos ||
      std::ranges::none_of(file.planes()[host_plane].event_metadata,
                           [](const xplane::EventMetadata& event) {
                             return event.name.starts_with("WizServable");
                           })) {
    return 0;
  }
  double total_ps = 0;
  double count = 0;
  for (const size_t plane : DevicePlanesOf(file)) {
    const xplane::Plane& described = file.planes()[plane];
    for (size_t l = 0; l < described.lines.size(); ++l) {
      if (!described.lines[l].name.starts_with("XLA Modules")) continue;
      const xplane::LineColumns& line = file.Line(plane, l);
      for (uint32_t event = 0; event < line.event_count(); ++event) {
        if (!described.event_metadata[line.name[event]].name.starts_with("jit_generate")) continue;
        total_ps += static_cast<double>(line.duration_ps[event]);
        count += 1;
      }
    }
  }
  return SafeDivide(total_ps, count) / 1e9;
}

}  // namespace strobe::analysis
