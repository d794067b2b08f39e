// The progress of a capture as the table of operations shows it.
//
//   ShowCaptureProgress(progress, handle);
#pragma once

#include <string>
#include <vector>

#include "src/capture/capture.h"
#include "src/queue/operation.h"

namespace strobe::api {

queue::OperationTarget OperationTargetOf(const capture::TargetProgress& progress);
// The stage of the slowest target that goes on, since it is what is waited for.
std::string CaptureStageOf(const std::vector<capture::TargetProgress>& targets);
void ShowCaptureProgress(const capture::CaptureProgress& progress, queue::OperationHandle& handle);

}  // namespace strobe::api
