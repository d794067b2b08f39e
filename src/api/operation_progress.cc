#include "src/api/operation_progress.h"

#include <algorithm>

namespace strobe::api {

using capture::TargetState;

queue::OperationTarget OperationTargetOf(const capture::TargetProgress& progress) {
  return {.target = progress.target,
          .state = std::string(capture::TargetStateName(progress.state)),
          .received_bytes = progress.received_bytes,
          .message = progress.message,
          .hint = progress.hint,
          .file = progress.file};
}

std::string CaptureStageOf(const std::vector<capture::TargetProgress>& targets) {
  for (const TargetState state :
       {TargetState::kConnecting, TargetState::kRecording, TargetState::kCollecting}) {
    for (const capture::TargetProgress& target : targets) {
      if (target.state == state) return std::string(capture::TargetStateName(state));
    }
  }
  return "saving";
}

void ShowCaptureProgress(const capture::CaptureProgress& progress, queue::OperationHandle& handle) {
  handle.Update([&progress](queue::OperationState& state) {
    state.stage = CaptureStageOf(progress.targets);
    state.progress_done =
        static_cast<uint64_t>(std::clamp<int64_t>(progress.elapsed_ms, 0, progress.duration_ms));
    state.progress_total = static_cast<uint64_t>(progress.duration_ms);
    state.progress_unit = "ms";
    state.targets.clear();
    for (const auto& target : progress.targets) state.targets.push_back(OperationTargetOf(target));
  });
}

}  // namespace strobe::api
