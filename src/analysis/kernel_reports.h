// The kernels that ran on the GPUs: each kind once, with how often and how long it ran.
//
//   STROBE_ASSIGN_OR_RETURN(std::vector<KernelReport> reports,
//                           HeaviestKernels(host, planes, &hlo_ops, OpStats::kMaxKernels, cancel));
//
// Launches are one kind when they agree in everything but time: name, grid, block, registers,
// memory, op. Planes are read side by side. Cost: 60 ns an event of the streams, 300 ns when its
// name was not launched alike among the last four; 120 B a kind of a plane, twice while planes are
// added up.
#pragma once

#include <cstdint>
#include <span>
#include <string>
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
// How a kernel was launched, as the details have it but without the occupancy: launches of one name
// and op that agree in it are one kind.
std::string LaunchOf(const KernelReport& report);
// By the kernel's name.
bool UsesTensorCore(std::string_view kernel_name);
// By the op's name: a matrix product or a convolution.
bool IsTensorCoreEligible(std::string_view op_name);
// An einsum of two operands.
bool IsEinsumEligible(std::string_view equation);

// By total time, of equal ones in the order of their description; at most `limit`.
Result<std::vector<KernelReport>> HeaviestKernels(const PreparedHost& host,
                                                  std::span<const size_t> planes, HloOps* ops,
                                                  size_t limit, const CancelToken& cancel);

}  // namespace strobe::analysis
