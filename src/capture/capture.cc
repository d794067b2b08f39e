#include "src/capture/capture.h"

#include <utility>

#include "src/base/log.h"
#include "src/capture/coordinator.h"
#include "src/capture/session_writer.h"
#include "src/capture/target.h"

namespace strobe::capture {
namespace {

// More options than all profilers together know; longer values than any of them takes.
constexpr size_t kMaxOptions = 64;
constexpr size_t kMaxOptionBytes = 4096;
constexpr size_t kMaxCausesInMessage = 5;
// What everything beside waiting for the targets may take: writing what they sent.
constexpr int64_t kWritingAllowanceMs = 600'000;

Status CheckOptions(const CaptureRequest& request) {
  if (request.options.size() > kMaxOptions) {
    return InvalidArgumentError("CAPTURE_BAD_OPTION", "More than 64 options were given.");
  }
  for (const auto& [key, value] : request.options) {
    const auto* const text = std::get_if<std::string>(&value);
    if (IsSafeName(key) && (text == nullptr || text->size() <= kMaxOptionBytes)) continue;
    return InvalidArgumentError("CAPTURE_BAD_OPTION",
                                "The option \"" + CleanText(key, 100) + "\" cannot be sent.")
        .Hint("Names are letters, digits, '.', '_' and '-'; values have at most 4096 bytes.");
  }
  return OkStatus();
}

Status NothingSaved(const CaptureProgress& progress, bool cancelled) {
  if (cancelled) {
    return CancelledError("CAPTURE_CANCELLED", "The capture was cancelled before anything came.");
  }
  std::string causes;
  for (size_t i = 0; i < progress.targets.size() && i < kMaxCausesInMessage; ++i) {
    const TargetProgress& target = progress.targets[i];
    causes += (i == 0 ? "" : " ") + target.target + ": " + target.message;
  }
  if (progress.targets.size() > kMaxCausesInMessage) {
    causes +=
        " And " + std::to_string(progress.targets.size() - kMaxCausesInMessage) + " more targets.";
  }
  return UnavailableError("CAPTURE_NOTHING_SAVED", "No target gave a profile. " + causes)
      .Hint(progress.targets.front().hint);
}

}  // namespace

std::string_view TargetStateName(TargetState state) {
  switch (state) {
    case TargetState::kConnecting:
      return "connecting";
    case TargetState::kRecording:
      return "recording";
    case TargetState::kCollecting:
      return "collecting";
    case TargetState::kSaved:
      return "saved";
    case TargetState::kEmpty:
      return "empty";
    case TargetState::kFailed:
      return "failed";
    case TargetState::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

Status CheckCaptureRequest(const CaptureRequest& request) {
  STROBE_ASSIGN_OR_RETURN(const std::vector<Target> targets, ParseTargets(request.targets));
  if (request.duration_ms < 1 || request.duration_ms > kMaxDurationMs) {
    return InvalidArgumentError("CAPTURE_BAD_DURATION",
                                "The duration is " + std::to_string(request.duration_ms) +
                                    " ms; expected 1 to " + std::to_string(kMaxDurationMs) + ".")
        .Hint("A few seconds show some steps of most jobs.");
  }
  if (!request.session.empty()) STROBE_RETURN_IF_ERROR(CheckName("session", request.session));
  STROBE_RETURN_IF_ERROR(CheckRun(request.run));
  return CheckOptions(request);
}

int64_t MaxCaptureMs(const CaptureRequest& request) {
  // Connecting or busy, the common start, the recording and its answer, or a cancelled one's.
  return request.connect_timeout_ms + 2 * (request.answer_grace_ms + 6 * request.duration_ms) +
         kWritingAllowanceMs;
}

Result<CaptureResult> Capture(const CaptureRequest& request, const CaptureContext& context,
                              const CancelToken& cancel,
                              const std::function<void(const CaptureProgress&)>& on_progress) {
  STROBE_RETURN_IF_ERROR(CheckCaptureRequest(request));
  STROBE_ASSIGN_OR_RETURN(std::vector<Target> targets, ParseTargets(request.targets));
  if (context.admit) {
    for (Target& target : targets) STROBE_RETURN_IF_ERROR(context.admit(target));
  }
  STROBE_ASSIGN_OR_RETURN(
      SessionWriter writer,
      request.bare
          ? SessionWriter::PrepareBare(request.root, request.session, context.ids)
          : SessionWriter::Prepare(request.root, request.run, request.session, context.ids));
  LogInfo("capture.start", {{"session", writer.session_name()},
                            {"targets", targets.size()},
                            {"duration_ms", request.duration_ms}});
  Coordinator coordinator(request, std::move(targets), std::move(writer), context, cancel,
                          on_progress);
  coordinator.Run();
  if (coordinator.hosts_saved() == 0) {
    return NothingSaved(coordinator.progress(), cancel.cancelled());
  }
  return CaptureResult{.session_name = coordinator.writer().session_name(),
                       .session_path = coordinator.writer().session_path(),
                       .targets = coordinator.progress().targets,
                       .hosts_saved = coordinator.hosts_saved()};
}

}  // namespace strobe::capture
