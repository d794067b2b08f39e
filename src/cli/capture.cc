// strobe capture: records a profile from running jobs into a log directory.
#include "src/capture/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "src/api/json_answers.h"
#include "src/api/request.h"
#include "src/cli/bucket_capture.h"
#include "src/cli/command.h"
#include "src/cli/signals.h"
#include "src/cli/text.h"

namespace strobe::cli {
namespace {

using capture::CaptureProgress;
using capture::CaptureRequest;
using capture::CaptureResult;
using capture::TargetState;

Status AddOption(std::string_view text, CaptureRequest* request) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return InvalidArgumentError("OPTION_MALFORMED", "An option is KEY=VALUE.")
        .Where(std::string(text.substr(0, 128)))
        .Hint("Write for example --option tpu_trace_mode=TRACE_COMPUTE.");
  }
  const std::string key(text.substr(0, equals));
  const std::string_view value = text.substr(equals + 1);
  if (value == "true" || value == "false") {
    request->options[key] = value == "true";
  } else if (const std::optional<int64_t> number = api::ParseInt64(value)) {
    request->options[key] = *number;
  } else {
    request->options[key] = std::string(value);
  }
  return OkStatus();
}

Result<CaptureRequest> MakeRequest(const CaptureOptions& options) {
  CaptureRequest request;
  request.targets = options.targets;
  STROBE_ASSIGN_OR_RETURN(request.duration_ms, ParseDurationMs(options.duration));
  request.root = options.into;
  request.run = options.run;
  request.session = options.session;
  request.host_tracer_level = options.host_tracer_level;
  request.device_tracer_level = options.device_tracer_level;
  request.python_tracer_level = options.python_tracer_level;
  for (const std::string& option : options.options) {
    STROBE_RETURN_IF_ERROR(AddOption(option, &request));
  }
  STROBE_RETURN_IF_ERROR(capture::CheckCaptureRequest(request));
  return request;
}

std::string ProgressLine(const CaptureProgress& progress) {
  size_t open = 0;
  uint64_t received_bytes = 0;
  std::string_view stage = "saving";
  for (const capture::TargetProgress& target : progress.targets) {
    received_bytes += target.received_bytes;
    if (target.state == TargetState::kConnecting || target.state == TargetState::kRecording ||
        target.state == TargetState::kCollecting) {
      if (open++ == 0) stage = capture::TargetStateName(target.state);
    }
  }
  return fmt::format("{} {:.1f} of {:.1f} s, {} of {} targets open, {} received", stage,
                     static_cast<double>(std::min(progress.elapsed_ms, progress.duration_ms)) / 1e3,
                     static_cast<double>(progress.duration_ms) / 1e3, open, progress.targets.size(),
                     FormatBytes(received_bytes));
}

// Redraws one line on a terminal; elsewhere says each stage once.
class ProgressPrinter {
 public:
  void Show(const CaptureProgress& progress) {
    const std::string line = ProgressLine(progress);
    if (terminal_) {
      PrintError("\r" + line + "\x1b[K");
      drawn_ = true;
      return;
    }
    const std::string stage = line.substr(0, line.find(' '));
    if (stage != last_stage_) PrintError(line + "\n");
    last_stage_ = stage;
  }
  void End() {
    if (drawn_) PrintError("\r\x1b[K");
  }

 private:
  const bool terminal_ = ErrorIsTerminal();
  bool drawn_ = false;
  std::string last_stage_;
};

void PrintTargets(const std::vector<capture::TargetProgress>& targets) {
  Table table({"TARGET", "RESULT", "RECEIVED", "FILE"}, {false, false, true, false});
  for (const capture::TargetProgress& target : targets) {
    table.AddRow({Printable(target.target, 60), std::string(capture::TargetStateName(target.state)),
                  FormatBytes(target.received_bytes), Printable(target.file)});
  }
  PrintOut(table.ToText());
  for (const capture::TargetProgress& target : targets) {
    if (target.message.empty()) continue;
    PrintOut(Printable(target.target, 60) + ": " + Printable(target.message) + "\n");
    if (!target.hint.empty()) PrintOut("  " + Printable(target.hint) + "\n");
  }
}

void PrintResultJson(const CaptureResult& result) {
  JsonWriter json;
  json.BeginObject();
  json.Key("session_name").String(result.session_name);
  json.Key("session_path").String(result.session_path);
  json.Key("hosts_saved").Uint(result.hosts_saved);
  json.Key("targets").BeginArray();
  for (const capture::TargetProgress& target : result.targets) {
    json.BeginObject();
    json.Key("target").String(target.target);
    json.Key("state").String(capture::TargetStateName(target.state));
    json.Key("received_bytes").SafeUint(target.received_bytes);
    api::WriteTextOrNull(json, "message", target.message);
    api::WriteTextOrNull(json, "hint", target.hint);
    api::WriteTextOrNull(json, "file", target.file);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  PrintOut(json.TakeText() + "\n");
}

}  // namespace

Result<int> RunCaptureCommand(const CaptureOptions& options) {
  const StopSignals signals;
  STROBE_ASSIGN_OR_RETURN(const CaptureRequest request, MakeRequest(options));
  CancelSource cancel;
  std::atomic<bool> done{false};
  std::thread watcher([&] {
    StopOnSignal(signals, done, [&cancel] {
      PrintError(
          "\nStopping; what was recorded so far is kept. Again: ends at once, without it.\n");
      cancel.Cancel();
    });
  });
  const IdMaker ids(SystemClock(), SystemRandom());
  storage::PlaceOpener places(storage::SystemCloudContext());
  ProgressPrinter printer;
  std::vector<capture::TargetProgress> last_targets;
  const Result<CaptureResult> result =
      CaptureIntoPlace(request, {.clock = SystemClock(), .ids = ids}, places, cancel.token(),
                       [&](const CaptureProgress& progress) {
                         printer.Show(progress);
                         last_targets = progress.targets;
                       });
  printer.End();
  done.store(true);
  watcher.join();
  if (!result.ok()) {
    if (!options.json && !last_targets.empty()) PrintTargets(last_targets);
    return result.status();
  }
  if (options.json) {
    PrintResultJson(*result);
  } else {
    PrintTargets(result->targets);
    PrintOut("Session   " + Printable(result->session_path) + "\n");
  }
  return result->hosts_saved == result->targets.size() ? int{kExitOk} : int{kExitPartial};
}

}  // namespace strobe::cli
