// From a session's document to the capture it asks for, and the route that begins it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/api/caller.h"
#include "src/api/run_captures.h"
#include "src/api/run_place.h"
#include "src/api/v1alpha_support.h"
#include "src/catalog/time_text.h"
#include "src/storage/place.h"

namespace strobe::api {
namespace {

using catalog::Key;
using catalog::Operation;
using catalog::ProfilerSession;
using catalog::ProfilerTarget;
using catalog::Run;
using catalog::Transaction;
using Json = nlohmann::json;

constexpr int64_t kMsNs = 1'000'000;

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// "HOST_TRACER_LEVEL_VERBOSE" of {..., VERBOSE} by its place among the words.
uint32_t LevelOf(const Json& document, const char* field, std::initializer_list<const char*> words,
                 uint32_t absent) {
  const std::string word = Text(document, field);
  uint32_t level = 0;
  for (const char* const known : words) {
    if (word.ends_with(std::string("_LEVEL_") + known)) return level;
    ++level;
  }
  return absent;
}

Result<int64_t> DurationMsOf(const Json& document) {
  const std::string text = Text(document, "duration");
  if (text.empty()) {
    return InvalidArgumentError("CAPTURE_DURATION_MISSING",
                                "A capture needs to know how long it takes.")
        .Hint("Send \"duration\": \"5s\".");
  }
  STROBE_ASSIGN_OR_RETURN(const int64_t duration_ns, catalog::ParseDuration(text));
  return duration_ns / kMsNs;
}

// "projects/.../profilerTargets/T" and "T" are the same target; the SDK knows display names only.
std::string TargetId(const std::string& name) { return name.substr(name.rfind('/') + 1); }

// The hostname may say its own port, as several jobs on one machine need it.
std::string AddressOf(const ProfilerTarget& target, int64_t port) {
  const std::string& host = target.hostname;
  const bool bracketed = host.starts_with('[');
  const size_t colons = static_cast<size_t>(std::count(host.begin(), host.end(), ':'));
  if (bracketed ? host.find("]:") != std::string::npos : colons == 1) return host;
  return !bracketed && colons > 1 ? fmt::format("[{}]:{}", host, port)
                                  : fmt::format("{}:{}", host, port);
}

Result<std::vector<ProfilerTarget>> TargetsOf(Transaction& transaction, const Run& run,
                                              const Json& document) {
  std::vector<ProfilerTarget> targets;
  const Json names = document.value("profilerTargets", Json::array());
  if (names.size() > capture::kMaxTargets) {
    return InvalidArgumentError(
        "CAPTURE_TOO_MANY_TARGETS",
        fmt::format("A capture has at most {} targets.", capture::kMaxTargets));
  }
  for (const Json& name : names) {
    STROBE_ASSIGN_OR_RETURN(ProfilerTarget target,
                            transaction.Get<ProfilerTarget>({run.project, run.location, run.id,
                                                             TargetId(name.get<std::string>())}));
    targets.push_back(std::move(target));
  }
  if (!names.empty()) return targets;
  return transaction.Select<ProfilerTarget>(
      "project = ? AND location = ? AND run = ? ORDER BY node_index, id",
      {run.project, run.location, run.id}, static_cast<int64_t>(capture::kMaxTargets));
}

Status CheckPlace(AppContext& context, const Run& run, std::string* real) {
  if (run.storage_path.empty()) {
    return FailedPreconditionError("RUN_NO_STORAGE", "The run names no place for its profiles.")
        .Where(run.id)
        .Hint("Set artifacts.gcsPath.");
  }
  STROBE_ASSIGN_OR_RETURN(*real, PlaceBelowRoots(*context.engine, run.storage_path));
  if (!storage::IsBucketPlace(*real)) {
    // The folder of the run may be a link that leads elsewhere.
    STROBE_RETURN_IF_ERROR(PlaceBelowRoots(*context.engine, *real + "/" + run.id).status());
  }
  if (context.access != nullptr && context.projects->OfPath(*real + "/" + run.id) != run.project) {
    return FailedPreconditionError("STORAGE_OUTSIDE_ROOTS",
                                   "The run's profiles lie in the folder of another project.")
        .Where(run.storage_path.substr(0, 200))
        .Hint("Ask whoever runs this server which folder belongs to the project.");
  }
  return OkStatus();
}

}  // namespace

Result<RunCapturePlan> PlanRunCapture(Transaction& transaction, AppContext& context,
                                      const ProfilerSession& session) {
  STROBE_ASSIGN_OR_RETURN(
      const Run run, transaction.Get<Run>({session.project, session.location, "", session.run}));
  const Json document = Json::parse(session.body, nullptr, /*allow_exceptions=*/false);
  STROBE_CHECK(document.is_object());
  RunCapturePlan plan;
  plan.session = session.key();
  plan.storage_path = run.storage_path;
  STROBE_RETURN_IF_ERROR(CheckPlace(context, run, &plan.request.root));
  plan.request.run = run.id;
  plan.request.session = session.id;
  STROBE_ASSIGN_OR_RETURN(plan.request.duration_ms, DurationMsOf(document));
  plan.request.host_tracer_level =
      LevelOf(document, "hostTracerLevel", {"DISABLED", "CRITICAL", "INFO", "VERBOSE"}, 2);
  plan.request.device_tracer_level =
      LevelOf(document, "deviceTracerLevel", {"DISABLED", "ENABLED"}, 1);
  plan.request.python_tracer_level =
      LevelOf(document, "pythonTracerLevel", {"DISABLED", "ENABLED"}, 0);
  const int64_t given_port = document.value("xprofServerPort", int64_t{0});
  const int64_t port = given_port == 0 ? kDefaultProfilerPort : given_port;
  STROBE_ASSIGN_OR_RETURN(const std::vector<ProfilerTarget> targets,
                          TargetsOf(transaction, run, document));
  if (targets.empty()) {
    return FailedPreconditionError("RUN_NO_TARGETS", "The run has no profiler target to ask.")
        .Where(run.id)
        .Hint("Make one with the host on which the job's profiler listens.");
  }
  const Json names = document.value("profilerTargets", Json::array());
  for (size_t i = 0; i < targets.size(); ++i) {
    plan.request.targets.push_back(AddressOf(targets[i], port));
    plan.targets.push_back(names.empty() ? catalog::ChildName(targets[i].key(), "profilerTargets")
                                         : names[i].get<std::string>());
  }
  STROBE_RETURN_IF_ERROR(capture::CheckCaptureRequest(plan.request));
  return plan;
}

Result<Response> StartRunCapture(AppContext& context, const Request& request, const Key& parent) {
  STROBE_RETURN_IF_ERROR(CheckRight(request, parent.project, Right::kCapture));
  STROBE_ASSIGN_OR_RETURN(const std::string kind, SessionKindOf(request.body));
  if (context.run_captures == nullptr) {
    return UnavailableError("RUN_CAPTURE_NOT_OFFERED", "This server does not offer captures.");
  }
  if (kind == "SNAPSHOT") {
    return FailedPreconditionError("SWEEP_NOT_ACTIVE",
                                   "A snapshot needs continuous profiling, and none is on.")
        .Where(parent.run)
        .Hint("Capture on demand (KIND_ON_DEMAND).");
  }
  RunCapturePlan plan;
  return Mutate(
      context, request, parent, "create",
      [&](Transaction& transaction, Operation* operation) -> Result<std::string> {
        Key key = parent;
        if (key.id.empty()) key.id = catalog::MakeUuid(transaction.random());
        const int64_t now = transaction.clock().NowUnixNanos();
        STROBE_ASSIGN_OR_RETURN(
            ProfilerSession session,
            MakeCaptureSession(request.body, key, catalog::MakeUuid(transaction.random()), now));
        STROBE_ASSIGN_OR_RETURN(plan, PlanRunCapture(transaction, context, session));
        std::vector<TargetSession> targets;
        for (const std::string& target : plan.targets) targets.push_back({target, "PENDING"});
        SetTargetSessions(targets, now, &session);
        session.operation = operation->id;
        const std::string name = catalog::ChildName(key, "profilerSessions");
        STROBE_RETURN_IF_ERROR(NamingResource(transaction.Insert(session), name));
        operation->target = name;
        operation->run = key.run;
        operation->lease_unix_ns = now + catalog::kLeaseNs;
        plan.operation = operation->id;
        plan.base_url = BaseUrlOf(request);
        return std::string();
      },
      [&](const Operation&) { context.run_captures->Launch(std::move(plan)); });
}

}  // namespace strobe::api
