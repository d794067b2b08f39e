#include "src/tools/trace_viewer.h"

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "src/tools/trace_view.h"
#include "src/tools/trace_view_legacy.h"
#include "src/tools/trace_view_window.h"
#include "src/tools/trace_view_writer.h"

namespace strobe::tools {
namespace {

// Numbers of the processes of one host; XProf's.
constexpr uint32_t kProcessesPerHost = 1000;
constexpr double kPicosecondsPerMillisecond = 1e9;
constexpr std::string_view kDefaultResolution = "8000";

Status NotANumber(std::string_view name, std::string_view text) {
  return InvalidArgumentError("TRACE_OPTION_NOT_A_NUMBER",
                              "The option " + std::string(name) + " must be a number.")
      .Where(std::string(name) + "=" + std::string(text.substr(0, 100)));
}

std::optional<double> NumberOf(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<double> ReadNumber(const ToolOptions& options, std::string_view name) {
  if (!options.Given(name)) return 0.0;
  const std::optional<double> value = NumberOf(options.Text(name));
  if (!value) return NotANumber(name, options.Text(name));
  return *value;
}

// A count: fractions are cut, what is below 0 becomes very large, as in XProf.
Result<uint64_t> ReadCount(const ToolOptions& options, std::string_view name,
                           std::string_view otherwise) {
  const std::string text(options.Given(name) ? std::string_view(options.Text(name)) : otherwise);
  const std::optional<double> value = NumberOf(text);
  if (!value || std::isnan(*value)) return NotANumber(name, text);
  if (*value <= -1 || *value >= 1.8e19) return ~uint64_t{0};
  return static_cast<uint64_t>(std::max(*value, 0.0));
}

struct Asked {
  TraceWindow window;
  std::string event_name;
  double duration_ms = 0;
  uint64_t serial = 0;
  std::string search_prefix;
  bool search_metadata = false;
};

Result<Asked> ReadOptions(const ToolOptions& options) {
  Asked asked;
  STROBE_ASSIGN_OR_RETURN(asked.window.start_ms, ReadNumber(options, "start_time_ms"));
  STROBE_ASSIGN_OR_RETURN(asked.window.end_ms, ReadNumber(options, "end_time_ms"));
  STROBE_ASSIGN_OR_RETURN(asked.duration_ms, ReadNumber(options, "duration_ms"));
  STROBE_ASSIGN_OR_RETURN(asked.window.resolution,
                          ReadCount(options, "resolution", kDefaultResolution));
  STROBE_ASSIGN_OR_RETURN(asked.serial, ReadCount(options, "unique_id", "0"));
  asked.window.full_dma = options.Flag("full_dma");
  asked.event_name = options.Text("event_name");
  asked.search_prefix = options.Text("search_prefix");
  asked.search_metadata = options.Flag("search_metadata");
  return asked;
}

int64_t Rounded(double milliseconds) {
  const double value = std::round(milliseconds * kPicosecondsPerMillisecond);
  return value > -9.2e18 && value < 9.2e18 ? static_cast<int64_t>(value) : -1;
}

class StreamingTrace {
 public:
  StreamingTrace(const Asked& asked, TraceView* view) : asked_(asked), view_(*view) {}

  Status AddHost(const TraceHost& host, uint32_t process_offset, int64_t shift_ps,
                 const CancelToken& cancel) {
    TraceWriter writer(host, process_offset, shift_ps, &view_);
    Asked own = asked_;
    Shift(shift_ps, &own);
    auto arguments = TraceWriter::Arguments::kSerial;
    std::vector<TraceHost::EventId> events;
    if (!own.event_name.empty()) {
      STROBE_ASSIGN_OR_RETURN(
          const TraceHost::EventId event,
          FindEvent(host, own.event_name, Rounded(asked_.window.start_ms) - shift_ps,
                    Rounded(own.duration_ms), own.serial, cancel));
      events.push_back(event);
      arguments = TraceWriter::Arguments::kAll;
    } else if (!own.search_prefix.empty()) {
      STROBE_ASSIGN_OR_RETURN(events,
                              EventsNamed(host, own.search_prefix, own.window.full_dma, cancel));
      if (own.search_metadata) arguments = TraceWriter::Arguments::kAll;
    } else {
      STROBE_ASSIGN_OR_RETURN(events, EventsInWindow(host, own.window, cancel));
    }
    writer.AddProcesses();
    writer.AddSpan();
    if (own.event_name.empty()) writer.AddFrames();
    view_.events.reserve(view_.events.size() + events.size());
    for (size_t i = 0; i < events.size(); ++i) {
      if (i % kEventsPerCheck == 0) STROBE_RETURN_IF_ERROR(cancel.Check());
      writer.Add(events[i], arguments);
    }
    is_tpu_ |= host.is_tpu();
    return OkStatus();
  }

  void Finish() {
    // Of a single event only its own frames are told.
    for (const TraceView::Argument& argument : view_.arguments) {
      if (argument.stack_frame) view_.AddStackFrame(std::string(view_.Text(argument.text)));
    }
    view_.details.emplace_back("mpmd_pipeline_view", false);
    if (is_tpu_) view_.details.emplace_back("full_dma", asked_.window.full_dma);
  }

 private:
  static constexpr size_t kEventsPerCheck = 1 << 16;

  // A window of the session in the host's own time.
  static void Shift(int64_t shift_ps, Asked* own) {
    if (shift_ps == 0) return;
    const double shift_ms = static_cast<double>(shift_ps) / kPicosecondsPerMillisecond;
    if (own->window.start_ms != 0) own->window.start_ms -= shift_ms;
    if (own->window.end_ms != 0) own->window.end_ms -= shift_ms;
  }

  const Asked& asked_;
  TraceView& view_;
  bool is_tpu_ = false;
};

Notice UnreadableHost(const ToolHost& host, const Status& status) {
  return {.severity = Notice::Severity::kError,
          .name = "HOST_UNREADABLE",
          .message = host.name + ": " + std::string(status.message()),
          .hint = std::string(status.hint())};
}

ToolResult ResultOf(std::shared_ptr<const TraceView> view) {
  ToolResult result;
  result.shape = ToolResult::Shape::kTrace;
  if (view->encoding == TraceView::Encoding::kPacked) {
    result.content_type = "application/octet-stream";
  }
  result.trace = std::move(view);
  return result;
}

Result<ToolResult> RunStreaming(const ToolQuestion& question, ToolInput& input,
                                const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const Asked asked, ReadOptions(question.options));
  auto view = std::make_shared<TraceView>();
  if (question.options.Text("format") == "pb") view->encoding = TraceView::Encoding::kPacked;
  StreamingTrace trace(asked, view.get());
  std::vector<Notice> notices;
  std::optional<Status> last_error;
  size_t read = 0;
  for (size_t i = 0; i < question.hosts.size(); ++i) {
    const size_t index = question.hosts[i];
    const ToolHost& known = input.hosts()[index];
    const auto add = [&]() -> Status {
      STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const analysis::PreparedHost> prepared,
                              input.PreparedForTrace(index, cancel));
      STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const TraceHost> host,
                              TraceHost::Of(prepared, known.name, cancel));
      const auto offset = static_cast<uint32_t>(kProcessesPerHost * (i + 1));
      return trace.AddHost(*host, offset, question.as_xprof ? 0 : known.shift_ps, cancel);
    };
    const Status status = add();
    if (status.ok()) {
      ++read;
      continue;
    }
    // XProf answers for all hosts or for none.
    if (question.as_xprof || status.code() == StatusCode::kCancelled) return status;
    last_error = status;
    if (status.name() != "TRACE_EVENT_NOT_FOUND") notices.push_back(UnreadableHost(known, status));
  }
  if (read == 0 && last_error) return *last_error;
  trace.Finish();
  ToolResult result = ResultOf(std::move(view));
  result.partial = !notices.empty();
  result.notices = std::move(notices);
  return result;
}

Result<ToolResult> RunLegacy(const ToolQuestion& question, ToolInput& input,
                             const CancelToken& cancel) {
  if (question.hosts.size() != 1) {
    return InvalidArgumentError("TRACE_NEEDS_ONE_HOST", "This viewer shows one host, but " +
                                                            std::to_string(question.hosts.size()) +
                                                            " were asked for.")
        .Hint("Name one host, or ask trace_viewer@.");
  }
  const size_t index = question.hosts.front();
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const analysis::PreparedHost> prepared,
                          input.PreparedForTrace(index, cancel));
  auto view = std::make_shared<TraceView>();
  if (question.options.Text("format") != "pb") {
    STROBE_RETURN_IF_ERROR(FillLegacyTrace(*prepared, kMostLegacyEvents, cancel, view.get()));
    return ResultOf(std::move(view));
  }
  view->encoding = TraceView::Encoding::kPacked;
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const TraceHost> host,
                          TraceHost::Of(prepared, input.hosts()[index].name, cancel));
  TraceWriter writer(*host, 0, 0, view.get());
  writer.AddProcesses();
  writer.AddSpan();
  STROBE_ASSIGN_OR_RETURN(const std::vector<TraceHost::EventId> events, AllEvents(*host, cancel));
  for (const TraceHost::EventId event : events) {
    writer.Add(event, TraceWriter::Arguments::kNone);
  }
  return ResultOf(std::move(view));
}

OptionSpec FormatOption() {
  return {.name = "format",
          .type = OptionType::kString,
          .default_value = "json",
          .choices = {"json", "pb"},
          .description = "JSON, or the packed form that XProf's newer page reads."};
}

}  // namespace

ToolDescriptor MakeStreamingTraceViewerTool() {
  const auto number = [](std::string name, std::string description) {
    return OptionSpec{.name = std::move(name),
                      .type = OptionType::kNumber,
                      .description = std::move(description)};
  };
  const auto flag = [](std::string name, std::string description) {
    return OptionSpec{.name = std::move(name),
                      .type = OptionType::kBoolean,
                      .default_value = "false",
                      .description = std::move(description)};
  };
  return {
      .id = "trace_viewer@",
      .title = "Trace",
      .question = "What ran when, on every thread and device?",
      .options = {number("start_time_ms", "Begin of the window."),
                  number("end_time_ms", "End of the window; 0: end of the trace."),
                  number("resolution",
                         "Bins over the window: what is shorter than one may be left out. 0: "
                         "everything. 8000 when not given."),
                  flag("full_dma", "Also the middle parts of transfers on TPUs."),
                  {.name = "event_name", .description = "One event with all its details."},
                  number("duration_ms", "Of that event."),
                  number("unique_id", "Of that event: its argument uid."),
                  {.name = "search_prefix", .description = "Events whose names begin so."},
                  flag("search_metadata", "With all details of the events found."),
                  FormatOption()},
      .scope = HostScope::kSelection,
      .stored = false,
      .cost = CostClass::kEvents,
      .run = RunStreaming,
  };
}

ToolDescriptor MakeTraceViewerTool() {
  return {
      .id = "trace_viewer",
      .title = "Trace (whole)",
      .question = "What ran when on one host, in one file?",
      .options = {FormatOption()},
      .scope = HostScope::kSelection,
      .listed_by_xprof = false,
      .listed = false,
      .stored = false,
      .cost = CostClass::kEvents,
      .run = RunLegacy,
  };
}

}  // namespace strobe::tools
