// What the op tools begin with: the combined op stats of the hosts asked for, and notes on what is
// missing in them.
//
//   STROBE_ASSIGN_OR_RETURN(const OpToolInput ops, ReadOpToolInput(question, input,
//   OpToolNeeds::kOps, cancel)); Use(ops.device_ops(), *ops.stats);
#pragma once

#include <memory>
#include <vector>

#include "src/analysis/op_stats.h"
#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/tools/tool.h"
#include "src/tools/tool_input.h"

namespace strobe::tools {

struct OpToolInput {
  std::shared_ptr<const analysis::OpStats> stats;
  // XProf's view, when it was asked for and differs.
  std::shared_ptr<const analysis::OpMetricsDb> reference_device_ops;
  bool partial = false;  // a host could not be read
  std::vector<Notice> notices;

  const analysis::OpMetricsDb& device_ops() const {
    return reference_device_ops != nullptr ? *reference_device_ops : stats->device_ops;
  }
};

enum class OpToolNeeds : uint8_t { kOps, kStepsToo };
Result<OpToolInput> ReadOpToolInput(const ToolQuestion& question, ToolInput& input,
                                    OpToolNeeds needs, const CancelToken& cancel);

// A note that a table of device ops is empty, why, and what would fill it; nothing when it is not.
void NoteNoDeviceOps(const analysis::OpStats& stats, std::vector<Notice>* notices);

}  // namespace strobe::tools
