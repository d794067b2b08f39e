// What the TensorCores of a TPU did in one step: computing, waiting for input, sending output,
// all-reducing, idling; over all cores of all hosts.
//
//   const TpuStepDetails details = ComputeTpuStepDetails(step);
//   details.tc_infeed_ms;                       // of the core that waited longest
//   const TpuCoreBreakdown core = BreakDownTpuCore(step.cores.at(0));
//
// The formulas are XProf's: the compute time of a step is what the fastest core needed when it did
// not wait for the host; the longest infeed counts; of equal all-reduces the shortest is the time
// that it takes and the excess is waiting for the others.
//
// Pure functions. Cost: the categories of the step's cores.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "src/analysis/step_database.h"

namespace strobe::analysis {

// Of one TensorCore. Categories that XProf has no group for count as busy.
struct TpuCoreBreakdown {
  uint64_t infeed_ps = 0;
  uint64_t outfeed_ps = 0;
  uint64_t scv0_wait_ps = 0;  // SparseCoreV0: the transform is taken out
  uint64_t scv0_transform_ps = 0;
  uint64_t scv0_outfeed_ps = 0;
  uint64_t all_reduce_ps = 0;  // all-reduce, all-reduce fusion, all-to-all
  uint64_t send_ps = 0;
  uint64_t recv_ps = 0;
  uint64_t host_send_ps = 0;
  uint64_t host_recv_ps = 0;
  uint64_t megacore_fusion_ps = 0;
  uint64_t idle_ps = 0;
  uint64_t busy_ps = 0;  // neither idle nor waiting for the host or the other half
};

TpuCoreBreakdown BreakDownTpuCore(const CoreStep& core);

struct TpuStepDetails {
  int64_t step_number = -1;
  double tc_compute_ms = 0;
  double tc_infeed_ms = 0;
  double tc_outfeed_ms = 0;
  double tc_idle_ms = 0;
  double tc_busy_ms = 0;  // mean over the cores
  double scv0_compute_ms = 0;
  double scv0_infeed_ms = 0;
  double host_transfer_ms = 0;
  double all_reduce_compute_ms = 0;
  double all_reduce_sync_ms = 0;
  std::optional<uint32_t> longest_infeed_core;
  double infeed_percent_average = 0;
  double infeed_percent_minimum = 0;
  double infeed_percent_maximum = 0;
  double sc_step_ms = 0;  // SparseCores
  double sc_compute_ms = 0;
  double sc_infeed_ms = 0;
  double sc_outfeed_ms = 0;
  double sc_idle_ms = 0;

  double InfeedMs() const { return tc_infeed_ms + scv0_infeed_ms; }
  double AllReduceMs() const { return all_reduce_compute_ms + all_reduce_sync_ms; }
  double NonIdleMs() const {
    return tc_compute_ms + scv0_compute_ms + InfeedMs() + AllReduceMs() + tc_outfeed_ms;
  }
  double StepMs() const { return NonIdleMs() + tc_idle_ms; }
};

TpuStepDetails ComputeTpuStepDetails(const Step& step);

// By core: its all-reduces, told apart into work and waiting.
struct AllReduceSplit {
  uint64_t compute_ps = 0;
  uint64_t sync_ps = 0;
};
std::map<uint32_t, AllReduceSplit> SplitAllReduces(
    const std::map<uint32_t, std::vector<AllReduceTime>>& by_core);

}  // namespace strobe::analysis
