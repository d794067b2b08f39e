// The kernels that ran on the GPUs: each kind once, with how often and how long it ran.
//
//   KernelTotals totals;
//   STROBE_RETURN_IF_ERROR(totals.AddPlane(host, plane, &hlo_ops, cancel));
//   std::vector<KernelReport> reports = totals.Heaviest(OpStats::kMaxKernels);
//
// Launches are one kind when they agree in everything but time: name, grid, block, registers,
// memory, op. Cost: 150 ns an event of the streams, 300 B a kind.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "src/analysis/hlo_ops.h"
#include "src/analysis/op_stats.h"
#include "src/analysis/prepared_host.h"
#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::analysis {

// "regs:32 static_shared:0 dynamic_shared:0 grid:3,1,1 block:128,1,1 occ_pct:100". What cannot be
// read is left as it is.
void ParseKernelDetails(std::string_view details, KernelReport* report);
// By the kernel's name.
bool UsesTensorCore(std::string_view kernel_name);
// By the op's name: a matrix product or a convolution.
bool IsTensorCoreEligible(std::string_view op_name);
// An einsum of two operands.
bool IsEinsumEligible(std::string_view equation);

class KernelTotals {
 public:
  Status AddPlane(const PreparedHost& host, size_t plane, HloOps* ops, const CancelToken& cancel);
  // By total time, of equal ones in the order of their description.
  std::vector<KernelReport> Heaviest(size_t limit) const;

 private:
  struct Less {
    bool operator()(const KernelReport& a, const KernelReport& b) const;
  };
  struct Time {
    uint64_t occurrences = 0;
    uint64_t total_ns = 0;
    uint64_t min_ns = 0;
    uint64_t max_ns = 0;
  };
  std::map<KernelReport, Time, Less> kernels_;
};

}  // namespace strobe::analysis
