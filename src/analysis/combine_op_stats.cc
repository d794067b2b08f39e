#include "src/analysis/combine_op_stats.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "src/analysis/step_alignment.h"

namespace strobe::analysis {
namespace {

constexpr uint32_t kMaxCoresPerHost = 1000;  // XProf's, so that an id can be read

uint32_t GlobalCore(size_t host, uint32_t core) {
  return static_cast<uint32_t>(host) * kMaxCoresPerHost + core;
}

bool HasDevice(const OpStats& stats) {
  return stats.run.hardware == HardwareType::kGpu || stats.run.hardware == HardwareType::kTpu;
}

// A host without devices among hosts that have them only coordinates: it has no steps of its own.
std::vector<const StepDatabase*> WorkersOf(const std::vector<const OpStats*>& hosts) {
  const bool any_device =
      std::ranges::any_of(hosts, [](const OpStats* host) { return HasDevice(*host); });
  std::vector<const StepDatabase*> workers;
  for (const OpStats* host : hosts) {
    workers.push_back(any_device && !HasDevice(*host) ? nullptr : &host->steps);
  }
  return workers;
}

void AddStep(size_t host, const Step& from, Step* into) {
  if (into->step_name.empty()) into->step_name = from.step_name;
  for (const auto& [core, part] : from.cores) {
    CoreStep& added = into->cores[GlobalCore(host, core)];
    added = part;
    added.step_num = into->step_num;
  }
  for (const auto& [core, all_reduces] : from.all_reduces) {
    into->all_reduces[GlobalCore(host, core)] = all_reduces;
  }
}

// The ops of a step over all hosts. One host's are shared, not copied.
void AddStepOps(const std::vector<const StepDatabase*>& workers, const StepAlignment& alignment,
                size_t index, Step* into) {
  std::vector<std::shared_ptr<const StepOps>> parts;
  for (size_t h = 0; h < workers.size(); ++h) {
    if (workers[h] == nullptr) continue;
    const Step& from = workers[h]->steps[alignment.first_step[h] + index];
    if (from.ops != nullptr) parts.push_back(from.ops);
  }
  if (parts.size() < 2) {
    if (!parts.empty()) into->ops = parts.front();
    return;
  }
  auto ops = std::make_shared<StepOps>();
  for (const auto& part : parts) ops->Add(*part);
  into->ops = std::move(ops);
}

void CombineSteps(const std::vector<const OpStats*>& hosts, OpStats* all) {
  const std::vector<const StepDatabase*> workers = WorkersOf(hosts);
  const StepAlignment alignment = AlignSteps(workers);
  StepDatabase& steps = all->steps;
  steps.empty_intersect = alignment.empty_intersect;
  steps.steps.resize(alignment.step_count);
  for (size_t h = 0; h < workers.size(); ++h) {
    if (workers[h] != nullptr) steps.use_incomplete_step |= workers[h]->use_incomplete_step;
  }
  StepOpsSum complete;
  for (size_t i = 0; i < alignment.step_count; ++i) {
    Step& step = steps.steps[i];
    step.step_num = static_cast<int64_t>(i);
    for (size_t h = 0; h < workers.size(); ++h) {
      if (workers[h] == nullptr) continue;
      AddStep(h, workers[h]->steps[alignment.first_step[h] + i], &step);
    }
    AddStepOps(workers, alignment, i, &step);
    if (step.ops != nullptr && !steps.use_incomplete_step) {
      complete.Add(*step.ops);
    }
  }
  all->complete_steps_ops = complete.Finish();
}

void CombineRun(const RunEnvironment& from, RunEnvironment* into) {
  std::set<std::string> names(into->hostnames.begin(), into->hostnames.end());
  names.insert(from.hostnames.begin(), from.hostnames.end());
  into->hostnames.assign(names.begin(), names.end());
  into->host_count = static_cast<uint32_t>(into->hostnames.size());
  if (from.device_type != "CPU" && from.device_type != "Device") {
    into->device_type = from.device_type;
    into->device_core_count += from.device_core_count;
    into->replica_count = std::max(into->replica_count, from.replica_count);
    into->num_cores_per_replica = std::max(into->num_cores_per_replica, from.num_cores_per_replica);
  } else if (into->device_type.empty()) {
    into->device_type = from.device_type;
  }
  into->hardware = std::max(into->hardware, from.hardware);
  into->task_count += from.task_count;
  if (into->profile_duration_ms == 0) into->profile_duration_ms = from.profile_duration_ms;
  into->host_trace_level = from.host_trace_level;
  into->is_training = from.is_training;  // the last host's, as XProf has it
  into->flags.insert(from.flags.begin(), from.flags.end());
}

void CombinePerf(const PerfEnv& from, PerfEnv* into) {
  if (from.peak_tera_flops_per_second > 0) {
    into->peak_tera_flops_per_second = from.peak_tera_flops_per_second;
  }
  if (from.peak_hbm_gbps > 0) into->peak_hbm_gbps = from.peak_hbm_gbps;
  if (into->peak_bandwidths_gbps.empty()) into->peak_bandwidths_gbps = from.peak_bandwidths_gbps;
  if (from.ridge_point > 0) into->ridge_point = from.ridge_point;
}

void CombineCounters(const std::vector<const OpStats*>& hosts, CounterAverages* all) {
  const auto mean = [&](std::optional<double> CounterAverages::* member) -> std::optional<double> {
    double sum = 0;
    bool any = false;
    for (const OpStats* host : hosts) {
      any |= (host->counters.*member).has_value();
      sum += (host->counters.*member).value_or(0);
    }
    if (!any) return std::nullopt;
    return sum / static_cast<double>(hosts.size());  // over all hosts, as XProf divides
  };
  all->matrix_unit_utilization_percent = mean(&CounterAverages::matrix_unit_utilization_percent);
  all->hbm_utilization_percent = mean(&CounterAverages::hbm_utilization_percent);
}

void CombineFunctions(const TfFunctionTotals& from, TfFunctionTotals* into) {
  if (from.expensive_call_percent > into->expensive_call_percent) *into = from;
}

void Append(const std::vector<std::string>& from, std::vector<std::string>* into) {
  into->insert(into->end(), from.begin(), from.end());
}

// Everything that tells kernels apart but their times.
auto IdentityOf(const KernelReport& kernel) {
  return std::tie(kernel.name, kernel.grid_dim[0], kernel.grid_dim[1], kernel.grid_dim[2],
                  kernel.block_dim[0], kernel.block_dim[1], kernel.block_dim[2],
                  kernel.registers_per_thread, kernel.static_shmem_bytes,
                  kernel.dynamic_shmem_bytes, kernel.uses_tensor_core,
                  kernel.is_op_tensor_core_eligible, kernel.op_name);
}

void KeepHeaviestKernels(std::vector<KernelReport>* kernels) {
  std::ranges::sort(*kernels, [](const KernelReport& left, const KernelReport& right) {
    if (left.total_duration_ns != right.total_duration_ns) {
      return left.total_duration_ns > right.total_duration_ns;
    }
    return IdentityOf(left) < IdentityOf(right);
  });
  if (kernels->size() > OpStats::kMaxKernels) kernels->resize(OpStats::kMaxKernels);
}

}  // namespace

OpStats CombineOpStats(const std::vector<const OpStats*>& hosts) {
  if (hosts.empty()) return OpStats();
  if (hosts.size() == 1) return *hosts.front();
  OpStats all;
  all.has_complete_steps = true;
  OpMetricsCombiner device(&all.device_ops);
  OpMetricsCombiner host_ops(&all.host_ops);
  for (size_t h = 0; h < hosts.size(); ++h) {
    const OpStats& from = *hosts[h];
    host_ops.Add(from.host_ops, /*add_cores=*/false);
    device.Add(from.device_ops, /*add_cores=*/true);
    CombineRun(from.run, &all.run);
    CombinePerf(from.perf, &all.perf);
    Append(from.diagnostics.info, &all.diagnostics.info);
    Append(from.diagnostics.warnings, &all.diagnostics.warnings);
    Append(from.diagnostics.errors, &all.diagnostics.errors);
    all.kernels.insert(all.kernels.end(), from.kernels.begin(), from.kernels.end());
    all.program_names.insert(from.program_names.begin(), from.program_names.end());
    CombineFunctions(from.tf_functions, &all.tf_functions);
    for (const auto& [core, details] : from.cores) all.cores[GlobalCore(h, core)] = details;
    all.disaggregated_prefill_latency_ms =
        std::max(all.disaggregated_prefill_latency_ms, from.disaggregated_prefill_latency_ms);
  }
  CombineSteps(hosts, &all);
  CombineCounters(hosts, &all.counters);
  KeepHeaviestKernels(&all.kernels);
  return all;
}

}  // namespace strobe::analysis
