// XProf's routes that compute: /data, /data_csv.
//
// Statuses and texts are XProf's. What its converters cannot answer is 404 `No Data`, whatever the
// reason, but for graph_viewer, whose messages reach the client with 500. XProf takes a profile
// whole or not at all; so do these routes (our own API answers with what can be read).
#include <algorithm>
#include <numeric>

#include "src/api/app.h"
#include "src/api/xprof_answers.h"
#include "src/api/xprof_json.h"
#include "src/api/xprof_runs.h"
#include "src/base/log.h"
#include "src/storage/byte_source.h"
#include "src/tools/session_input.h"
#include "src/wire/compress.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;
using tools::ToolDescriptor;
using tools::ToolResult;

constexpr std::string_view kNoData = "No Data";

// Parameters of the routes themselves, not of the tools.
bool IsRouteParameter(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "run", "tag", "host", "hosts", "session_path", "run_path", "use_saved_result", "tqx"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

bool IsTraceViewer(std::string_view tag) { return tag == "trace_viewer" || tag == "trace_viewer@"; }

// Tools that answer an unreadable profile as one that has nothing.
bool AnswersUnreadable(std::string_view tool) {
  return tool == "perf_counters" || tool == "smart_suggestion";
}

// An answer that is not data, as XProf words it.
struct Refusal {
  int status = 404;
  std::string text;
};

struct Asked {
  std::string tag;
  std::string run;
  const ToolDescriptor* tool = nullptr;
  std::shared_ptr<engine::OpenedSession> session;
  tools::ToolQuestion question;
};

std::vector<std::string> SplitCommas(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    if (comma == text.size()) return parts;
    text.remove_prefix(comma + 1);
  }
}

// The hosts that are asked for, as indices into the entry's files.
Result<std::vector<size_t>> ChooseHosts(const xplane::SessionEntry& entry, const Request& request,
                                        const std::string& tag, const std::string& run,
                                        Refusal* refusal) {
  const auto refuse = [&](std::string text) {
    *refusal = {404, std::move(text)};
    return NotFoundError("XPROF_HOST_UNKNOWN", refusal->text);
  };
  const std::string_view many = request.Query("hosts").value_or("");
  const std::string_view one = request.Query("host").value_or("");
  std::vector<std::string> names;
  if (!many.empty()) {
    if (!IsTraceViewer(tag)) {
      return refuse("Host must be specified for tool " + tag + " in run " + run);
    }
    names = SplitCommas(many);
  } else if (!one.empty() && one != kAllHosts) {
    names.emplace_back(one);
  }
  std::vector<size_t> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(entry.files, name, &xplane::SessionFile::host);
    if (found == entry.files.end()) {
      return refuse("No xplane file found for host: " + name + " in run: " + run);
    }
    chosen.push_back(static_cast<size_t>(found - entry.files.begin()));
  }
  if (names.empty()) {
    for (size_t i = 0; i < entry.files.size(); ++i) chosen.push_back(i);
  }
  return chosen;
}

std::map<std::string, std::string> ToolParameters(const Request& request) {
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : request.query) {
    // Of a repeated one the first counts, as everywhere.
    if (!IsRouteParameter(name)) given.try_emplace(name, value);
  }
  return given;
}

// What is asked for, or why there is nothing to ask.
Result<Asked> Understand(const Context& context, const Request& request, Refusal* refusal) {
  const auto refuse = [&](int status, std::string text) {
    *refusal = {status, std::move(text)};
    return NotFoundError("XPROF_REFUSED", refusal->text);
  };
  Asked asked;
  asked.tag = std::string(request.Query("tag").value_or(""));
  const std::optional<std::string_view> run = request.Query("run");
  if (!run) return refuse(500, "'NoneType' object has no attribute 'rstrip'");
  asked.run = std::string(*run);
  STROBE_RETURN_IF_ERROR(CheckInsideRoots(*context->engine, request));
  const std::optional<xplane::SessionEntry> entry =
      FindXprofRun(*context->engine, request, asked.run);
  if (!entry || entry->files.empty()) {
    return refuse(404, "No xplane file found for run: " + asked.run +
                           ", tool: " + (asked.tag.empty() ? "None" : asked.tag));
  }
  STROBE_ASSIGN_OR_RETURN(asked.question.hosts,
                          ChooseHosts(*entry, request, asked.tag, asked.run, refusal));
  asked.tool = FindToolIn(*context, asked.tag);
  if (asked.tool == nullptr) return refuse(404, std::string(kNoData));
  // It alone insists on being told.
  if (asked.tool->id == "megascale_stats" && request.Query("host").value_or("").empty()) {
    return refuse(404, std::string(kNoData));
  }
  asked.question.as_xprof = true;
  STROBE_ASSIGN_OR_RETURN(asked.question.options,
                          tools::ToolOptions::Parse(asked.tool->options, ToolParameters(request),
                                                    tools::ToolOptions::Policy::kLenient));
  Result<std::shared_ptr<engine::OpenedSession>> opened = context->engine->OpenForTools(entry->id);
  if (opened.ok()) {
    asked.session = std::move(opened).value();
  } else if (asked.tool->id == "graph_viewer") {
    return refuse(500, std::string(opened.status().message()));
  } else if (!AnswersUnreadable(asked.tool->id)) {
    return refuse(404, std::string(kNoData));
  }
  return asked;
}

bool Readable(const Asked& asked) {
  if (asked.session == nullptr) return false;
  // Its modules come from files of their own.
  if (asked.tool->id == "graph_viewer") return true;
  // These leave out hosts that cannot be read: the one of the whole session, the other of its
  // choice.
  std::vector<size_t> any = asked.question.hosts;
  if (asked.tool->id == "megascale_stats") {
    any.resize(asked.session->entry().files.size());
    std::iota(any.begin(), any.end(), size_t{0});
  }
  if (asked.tool->id == "megascale_stats" || asked.tool->id == "utilization_viewer") {
    return std::ranges::any_of(any,
                               [&](size_t host) { return XprofReads(*asked.session, {host}); });
  }
  return XprofReads(*asked.session, asked.question.hosts);
}

// What a tool answers for a profile of no device.
Result<std::shared_ptr<const ToolResult>> RunOnNothing(const ToolDescriptor& tool,
                                                       tools::ToolQuestion question,
                                                       const CancelToken& cancel) {
  // One empty host name: the smallest profile that says nothing.
  STROBE_ASSIGN_OR_RETURN(
      const std::shared_ptr<xplane::ProfileFile> file,
      xplane::ProfileFile::Open(storage::OwnBytes(std::string("\x22\x00", 2)), {}));
  auto modules = std::make_shared<hlo::ModuleSet>();
  modules->Finish();
  tools::SessionInput nothing({.name = "",
                               .hosts = {{.name = "", .file = file.get(), .error = {}}},
                               .owners = {file},
                               .modules = std::move(modules)});
  question.hosts = {0};
  STROBE_ASSIGN_OR_RETURN(ToolResult result, tool.run(question, nothing, cancel));
  return std::make_shared<const ToolResult>(std::move(result));
}

Result<std::shared_ptr<const ToolResult>> Compute(const Asked& asked, const Request& request,
                                                  Refusal* refusal) {
  const auto refuse = [&](int status, std::string_view text) {
    *refusal = {status, std::string(text)};
    return NotFoundError("XPROF_REFUSED", refusal->text);
  };
  const bool readable = Readable(asked);
  if (!readable && !AnswersUnreadable(asked.tool->id)) return refuse(404, kNoData);
  Result<std::shared_ptr<const ToolResult>> result =
      !readable ? RunOnNothing(*asked.tool, asked.question, request.cancel)
                : asked.session->RunTool(*asked.tool, asked.question, request.cancel);
  if (!result.ok()) {
    if (result.status().code() == StatusCode::kCancelled) return result;
    LogInfo("xprof.no_data",
            {{"run", asked.run}, {"tool", asked.tool->id}, {"error", result.status().ToString()}});
    if (asked.tool->id == "graph_viewer") return refuse(500, result.status().message());
    return refuse(404, kNoData);
  }
  // Damage inside lines shows only once they were read.
  if (!readable || Readable(asked)) return result;
  if (!AnswersUnreadable(asked.tool->id)) return refuse(404, kNoData);
  return RunOnNothing(*asked.tool, asked.question, request.cancel);
}

Response Answer(const ToolResult& result) {
  Result<XprofBody> body = MakeXprofBody(result);
  if (!body.ok()) {
    LogWarning("xprof.not_written", {{"error", body.status().ToString()}});
    return XprofAnswer(std::string(kNoData), "text/plain", 404);
  }
  return XprofAnswer(std::move(body->bytes), body->content_type);
}

// The same, for what will be asked again. These routes pack every answer, as XProf does.
Response KeptAnswer(const Context& context, const std::shared_ptr<const ToolResult>& result) {
  if (const std::optional<EncodedAnswer> known = context->encoded->Find(result)) {
    Response response = XprofAnswer("", known->content_type);
    response.body = known->body;
    response.gzip_body = known->gzip_body;
    return response;
  }
  Response response = Answer(*result);
  if (response.status != 200) return response;
  response.gzip_body = std::make_shared<const std::string>(wire::GzipCompress(*response.body));
  context->encoded->Keep(result, {.body = response.body,
                                  .gzip_body = response.gzip_body,
                                  .content_type = response.content_type});
  return response;
}

// The names of all counters of a device: a question about no run at all.
bool AsksCounterNames(const Request& request) {
  return request.Query("tag").value_or("") == "perf_counters" &&
         request.Query("names_only").value_or("") == "1";
}

Response CounterNames(const Context& context, const Request& request) {
  const ToolDescriptor* const tool = FindToolIn(*context, "perf_counters");
  if (tool == nullptr) return XprofAnswer(std::string(kNoData), "text/plain", 404);
  tools::ToolQuestion question;
  question.as_xprof = true;
  const Result<tools::ToolOptions> options = tools::ToolOptions::Parse(
      tool->options, ToolParameters(request), tools::ToolOptions::Policy::kLenient);
  if (!options.ok()) return XprofAnswer(std::string(kNoData), "text/plain", 404);
  question.options = *options;
  const Result<std::shared_ptr<const ToolResult>> result =
      RunOnNothing(*tool, std::move(question), request.cancel);
  if (!result.ok()) {
    return XprofAnswer(std::string(result.status().message()), "text/plain", 500);
  }
  return Answer(**result);
}

Result<Response> Data(const Context& context, const Request& request) {
  if (AsksCounterNames(request)) return CounterNames(context, request);
  Refusal refusal;
  Result<Asked> asked = Understand(context, request, &refusal);
  if (!asked.ok()) {
    if (refusal.text.empty()) return asked.status();
    return XprofAnswer(std::move(refusal.text), "text/plain", refusal.status);
  }
  const Result<std::shared_ptr<const ToolResult>> result = Compute(*asked, request, &refusal);
  if (!result.ok()) {
    if (refusal.text.empty()) return result.status();
    return XprofAnswer(std::move(refusal.text), "text/plain", refusal.status);
  }
  return asked->tool->stored ? KeptAnswer(context, *result) : Answer(**result);
}

// Errors keep their text and become 500, but for "No Data".
Response CsvRefusal(Refusal refusal) {
  if (refusal.text == kNoData) return XprofAnswer("No Data Found", "text/plain", 404);
  return XprofAnswer(std::move(refusal.text), "text/plain", 500);
}

Result<Response> DataCsv(const Context& context, const Request& request) {
  Refusal refusal;
  Result<Asked> asked = Understand(context, request, &refusal);
  if (!asked.ok()) {
    if (refusal.text.empty()) return asked.status();
    return CsvRefusal(std::move(refusal));
  }
  const Result<std::shared_ptr<const ToolResult>> result = Compute(*asked, request, &refusal);
  if (!result.ok()) {
    if (refusal.text.empty()) return result.status();
    return CsvRefusal(std::move(refusal));
  }
  Result<std::string> csv = XprofCsv(**result);
  if (!csv.ok()) {
    const bool not_json = csv.status().code() == StatusCode::kInvalidArgument;
    return XprofAnswer(std::string(csv.status().message()), "text/plain", not_json ? 400 : 500);
  }
  Response response = XprofAnswer(std::move(csv).value(), "text/csv");
  const std::string name = XprofCsvName(asked->tag, asked->run, request.Query("host").value_or(""));
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + name + "\"");
  return response;
}

std::vector<QueryParam> DataQueries() {
  return {{.name = "run", .description = "Run name, from /runs."},
          {.name = "tag", .description = "Name of the tool, from /run_tools."},
          {.name = "host", .description = "A host, or ALL_HOSTS; absent: all."},
          {.name = "hosts", .description = "Hosts, comma separated; trace viewers only."},
          {.name = "session_path", .description = "One session's directory, inside the roots."},
          {.name = "run_path", .description = "A directory of sessions, inside the roots."}};
}

}  // namespace

const ToolDescriptor* FindToolIn(const AppContext& context, std::string_view name) {
  if (name.ends_with('^')) name.remove_suffix(1);
  for (const ToolDescriptor& tool : *context.tools) {
    if (tool.id == name || std::ranges::find(tool.aliases, name) != tool.aliases.end()) {
      return &tool;
    }
  }
  return nullptr;
}

void AddXprofDataRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back({.pattern = "/data",
                     .access = {Need::kView, Object::kXprofRun},
                     .operation_id = "xprofData",
                     .tag = "xprof",
                     .summary = "XProf: what a tool answers; its options are parameters too.",
                     .query = DataQueries(),
                     .run_on = RunOn::kWorkPool,
                     .handler = [context](const Request& r) { return Data(context, r); }});
  routes->push_back({.pattern = "/data_csv",
                     .access = {Need::kView, Object::kXprofRun},
                     .operation_id = "xprofDataCsv",
                     .tag = "xprof",
                     .summary = "XProf: the first table of a tool's answer as CSV.",
                     .query = DataQueries(),
                     .response_type = "text/csv",
                     .run_on = RunOn::kWorkPool,
                     .handler = [context](const Request& r) { return DataCsv(context, r); }});
}

}  // namespace strobe::api
