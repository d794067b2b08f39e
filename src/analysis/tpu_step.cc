#include "src/analysis/tpu_step.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace strobe::analysis {
namespace {

uint64_t SumOf(const CoreStep& core, std::initializer_list<std::string_view> categories) {
  uint64_t sum_ps = 0;
  for (const std::string_view category : categories) {
    const auto found = core.category_ps.find(std::string(category));
    if (found != core.category_ps.end()) sum_ps += found->second;
  }
  return sum_ps;
}

double Milliseconds(double ps) { return ps / 1e9; }
double Milliseconds(uint64_t ps) { return static_cast<double>(ps) / 1e9; }

// Mean, least and largest of what was added.
struct Spread {
  uint64_t count = 0;
  double sum = 0;
  double least = 0;
  double most = 0;
  void Add(double value) {
    least = count == 0 ? value : std::min(least, value);
    most = count == 0 ? value : std::max(most, value);
    sum += value;
    ++count;
  }
  void AddPs(uint64_t value) { Add(static_cast<double>(value)); }
  double Mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

// What the cores of one step add up to.
class StepAcross {
 public:
  explicit StepAcross(const Step& step) : all_reduces_(SplitAllReduces(step.all_reduces)) {}

  void AddSparseCore(const CoreStep& core) {
    const uint64_t idle_ps = SumOf(core, {kIdle});
    sc_step_.AddPs(core.duration_ps);
    sc_compute_.AddPs(core.duration_ps - idle_ps);
    sc_idle_.AddPs(idle_ps);
  }

  void AddTensorCore(uint32_t id, const CoreStep& core) {
    const TpuCoreBreakdown tpu = BreakDownTpuCore(core);
    step_.AddPs(core.duration_ps);
    // No infeed share of SparseCoreV0's wait is known from a trace: all of it is compute.
    longest_scv0_wait_ps_ = std::max(longest_scv0_wait_ps_, tpu.scv0_wait_ps);
    outfeed_.AddPs(tpu.outfeed_ps);
    busy_.AddPs(tpu.busy_ps);
    const auto split = all_reduces_.find(id);
    if (split != all_reduces_.end() &&
        split->second.compute_ps + split->second.sync_ps >
            longest_all_reduce_.compute_ps + longest_all_reduce_.sync_ps) {
      longest_all_reduce_ = split->second;
    }
    infeed_percent_.Add(100.0 * static_cast<double>(tpu.infeed_ps) /
                        static_cast<double>(core.duration_ps));
    const uint64_t host_transfer_ps = tpu.host_send_ps + tpu.host_recv_ps;
    const uint64_t waiting_ps =
        tpu.infeed_ps + tpu.outfeed_ps + host_transfer_ps + tpu.idle_ps + tpu.scv0_wait_ps;
    unhindered_.AddPs(core.duration_ps - waiting_ps);
    host_transfer_.AddPs(host_transfer_ps);
    if (tpu.infeed_ps > longest_infeed_ps_) {
      longest_infeed_ps_ = tpu.infeed_ps;
      longest_infeed_core_ = id;
    }
  }

  TpuStepDetails Finish(int64_t step_number) const {
    TpuStepDetails details;
    details.step_number = step_number;
    details.tc_outfeed_ms = Milliseconds(outfeed_.Mean());
    details.tc_compute_ms = Milliseconds(unhindered_.least);
    details.tc_busy_ms = Milliseconds(busy_.Mean());
    details.host_transfer_ms = Milliseconds(host_transfer_.most);
    details.tc_infeed_ms = Milliseconds(longest_infeed_ps_);
    details.longest_infeed_core = longest_infeed_core_;
    details.scv0_compute_ms = Milliseconds(longest_scv0_wait_ps_);
    // All-reduce times are not known yet when XProf takes the idle time.
    if (step_.count > 0) {
      details.tc_idle_ms = std::max(0.0, Milliseconds(step_.least) - details.NonIdleMs());
    }
    details.all_reduce_compute_ms = Milliseconds(longest_all_reduce_.compute_ps);
    details.all_reduce_sync_ms = Milliseconds(longest_all_reduce_.sync_ps);
    details.infeed_percent_average = infeed_percent_.Mean();
    details.infeed_percent_minimum = infeed_percent_.least;
    details.infeed_percent_maximum = infeed_percent_.most;
    details.sc_compute_ms = Milliseconds(sc_compute_.least);
    details.sc_idle_ms = Milliseconds(sc_idle_.Mean());
    details.sc_step_ms = Milliseconds(sc_step_.Mean());
    return details;
  }

 private:
  const std::map<uint32_t, AllReduceSplit> all_reduces_;
  Spread step_, outfeed_, busy_, infeed_percent_, unhindered_, host_transfer_;
  Spread sc_step_, sc_compute_, sc_idle_;
  uint64_t longest_scv0_wait_ps_ = 0;
  uint64_t longest_infeed_ps_ = 0;
  std::optional<uint32_t> longest_infeed_core_;
  AllReduceSplit longest_all_reduce_;
};

}  // namespace

TpuCoreBreakdown BreakDownTpuCore(const CoreStep& core) {
  TpuCoreBreakdown tpu;
  uint64_t total_ps = 0;
  for (const auto& [category, time_ps] : core.category_ps) {
    if (category != kIdle) total_ps += time_ps;
  }
  tpu.infeed_ps = SumOf(core, {"infeed"});
  tpu.outfeed_ps = SumOf(core, {"outfeed"});
  tpu.scv0_outfeed_ps = SumOf(core, {"sparsecorev0 outfeed"});
  // Infeed from SparseCoreV0 does the same transformation as the outfeed to it: what it takes
  // longer is waiting.
  const uint64_t scv0_infeed_ps = SumOf(core, {"sparsecorev0 infeed"});
  tpu.scv0_transform_ps = std::min(scv0_infeed_ps, tpu.scv0_outfeed_ps);
  tpu.scv0_wait_ps = scv0_infeed_ps - tpu.scv0_transform_ps;
  if (scv0_infeed_ps == 0) {
    tpu.scv0_wait_ps = SumOf(core, {"sparsecorev0 infeed wait"});
    tpu.scv0_transform_ps = SumOf(core, {"sparsecorev0 infeed transform"});
  }
  tpu.all_reduce_ps = SumOf(core, {"all-reduce", "all-reduce fusion", "all-to-all"});
  tpu.send_ps = SumOf(core, {"send", "send-done"});
  tpu.recv_ps = SumOf(core, {"recv", "recv-done"});
  tpu.host_send_ps = SumOf(core, {"host send", "host send-done"});
  tpu.host_recv_ps = SumOf(core, {"host recv", "host recv-done"});
  tpu.megacore_fusion_ps = SumOf(core, {"megacore fusion"});
  tpu.idle_ps = core.duration_ps - std::min(core.duration_ps, total_ps);
  const uint64_t off_duty_ps = tpu.idle_ps + tpu.infeed_ps + tpu.outfeed_ps + tpu.host_send_ps +
                               tpu.host_recv_ps + tpu.megacore_fusion_ps + tpu.scv0_wait_ps +
                               SumOf(core, {"async-done"});
  tpu.busy_ps = core.duration_ps - std::min(core.duration_ps, off_duty_ps);
  return tpu;
}

std::map<uint32_t, AllReduceSplit> SplitAllReduces(
    const std::map<uint32_t, std::vector<AllReduceTime>>& by_core) {
  std::unordered_map<uint64_t, uint64_t> shortest_ps;  // by id
  for (const auto& [core, all_reduces] : by_core) {
    for (const AllReduceTime& time : all_reduces) {
      const auto [known, is_new] = shortest_ps.try_emplace(time.id, time.duration_ps);
      if (!is_new) known->second = std::min(known->second, time.duration_ps);
    }
  }
  std::map<uint32_t, AllReduceSplit> splits;
  for (const auto& [core, all_reduces] : by_core) {
    AllReduceSplit& split = splits[core];
    for (const AllReduceTime& time : all_reduces) {
      split.compute_ps += shortest_ps[time.id];
      split.sync_ps += time.duration_ps - shortest_ps[time.id];
    }
  }
  return splits;
}

TpuStepDetails ComputeTpuStepDetails(const Step& step) {
  StepAcross across(step);
  int64_t number = -1;
  for (const auto& [core, part] : step.cores) {
    if (number < 0) number = part.step_num;
    if (core >= kSparseCoreIndexStart && part.is_tpu) {
      across.AddSparseCore(part);
    } else {
      across.AddTensorCore(core, part);
    }
  }
  return across.Finish(number);
}

}  // namespace strobe::analysis
