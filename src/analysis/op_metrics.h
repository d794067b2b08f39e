// The op metrics database: what each operation of a plane cost, summed over its executions.
//
//   OpMetricsDb db = TpuPlaneMetrics(...).whole;      // device_op_metrics.h
//   for (const OpMetrics* op : SortedBySelfTime(db)) Use(op->name, op->self_time_ps);
//
// The fields are those of XProf's OpMetrics: an op is known by (hlo_module_id, name). Times are
// picoseconds. `flops` and the bytes are totals over all occurrences (already multiplied).
// Invariants: self_time_ps <= time_ps; total_op_time_ps is the sum of self times; ops that stand
// for idle time are named kIdle and have no occurrences.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace strobe::analysis {

inline constexpr std::string_view kIdle = "IDLE";

enum class CoreType : uint8_t { kUnknown, kTensorCore, kSparseCore };

// Numbers as in XProf's MemoryAccessed.
enum class MemorySpace : uint8_t { kUnknown = 0, kHbm = 1, kCmem = 2, kVmem = 3 };

struct MemoryAccessed {
  uint64_t space = 0;  // MemorySpace, or a number it does not know
  bool is_write = false;
  uint64_t bytes = 0;
  friend bool operator==(const MemoryAccessed&, const MemoryAccessed&) = default;
};

struct OpMetricsDb;

struct OpMetrics {
  uint64_t hlo_module_id = 0;
  std::string name;
  std::string long_name;  // the HLO expression
  std::string category;
  std::string provenance;  // framework op: "jit(f)/dot_general:" ...
  std::string deduplicated_name;
  std::string source_file;  // "file.py:118" as the trace carries it
  std::string source_stack;
  int32_t source_line = 0;  // 0: none; -1: the compiler had none for a GPU op
  uint64_t fingerprint = 0;
  CoreType core_type = CoreType::kUnknown;
  bool is_eager = false;
  bool autotuned = false;
  // Its flops and bytes come from a module that XProf cannot work out; XProf shows 0.
  bool reference_lacks_cost = false;

  uint64_t occurrences = 0;
  uint64_t time_ps = 0;
  uint64_t self_time_ps = 0;
  uint64_t normalized_time_ps = 0;
  uint64_t min_time_ps = 0;
  uint64_t dma_stall_ps = 0;
  double flops = 0;        // XProf's flops_v2
  double model_flops = 0;  // model_flops_v2
  uint64_t bytes_accessed = 0;
  double vdd_energy_j = 0;
  uint32_t num_cores = 0;
  std::vector<MemoryAccessed> memory_accessed;
  std::shared_ptr<OpMetricsDb> children;  // SparseCore ops, instructions of a fusion; null: none
};

// Time by precision, for the overview.
struct PrecisionStats {
  uint64_t compute_16bit_ps = 0;
  uint64_t compute_32bit_ps = 0;
};

struct OpMetricsDb {
  std::vector<OpMetrics> ops;
  uint64_t total_time_ps = 0;
  uint64_t total_op_time_ps = 0;
  uint64_t normalized_total_op_time_ps = 0;
  uint64_t idle_time_ps = 0;
  uint64_t busy_time_ps = 0;
  // The same where custom calls of which no flops are known count as idle.
  uint64_t idle_time_high_confidence_ps = 0;
  uint64_t busy_time_high_confidence_ps = 0;
  uint64_t host_infeed_enqueue_duration_ps = 0;          // total_host_infeed_enq_duration_ps
  uint64_t host_infeed_enqueue_start_difference_ps = 0;  // ..._start_timestamp_ps_diff
  PrecisionStats precision;
};

// Adds databases: key (hlo_module_id, name), sums as XProf's combiner makes them, the first
// non-empty text wins. `add_cores` sums num_cores as well.
class OpMetricsCombiner {
 public:
  explicit OpMetricsCombiner(OpMetricsDb* into);
  void Add(const OpMetricsDb& from, bool add_cores);

 private:
  OpMetrics& Place(const OpMetrics& op, bool add_cores);

  OpMetricsDb* const into_;
  // By hash of the key; the keys stand in `into_`.
  std::unordered_multimap<uint64_t, size_t> index_;
};

// Sets flops, bytes and memory of ops whose cost XProf lacks to 0, as it has them.
void DropCostsThatReferenceLacks(OpMetricsDb* db);

// Heaviest self time first, equal ones by name. Pointers into `db`.
std::vector<const OpMetrics*> SortedBySelfTime(const OpMetricsDb& db);

// 0 when |divisor| is below 1e-10: the division that all of XProf's ratios use.
inline double SafeDivide(double dividend, double divisor) {
  return divisor < 1e-10 && divisor > -1e-10 ? 0 : dividend / divisor;
}

}  // namespace strobe::analysis
