// strobe serve: the engine, the operations and the server, until a signal comes.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "src/api/access_control.h"
#include "src/api/app.h"
#include "src/api/export_bridge.h"
#include "src/api/guard.h"
#include "src/api/https_client.h"
#include "src/api/oidc.h"
#include "src/api/openapi.h"
#include "src/api/run_captures.h"
#include "src/api/run_place.h"
#include "src/api/server.h"
#include "src/api/service_key.h"
#include "src/api/sign_in.h"
#include "src/base/address_policy.h"
#include "src/base/log.h"
#include "src/capture/export_receiver.h"
#include "src/capture/staged_capture.h"
#include "src/capture/upload.h"
#include "src/catalog/catalog.h"
#include "src/catalog/scanner.h"
#include "src/cli/bucket_capture.h"
#include "src/cli/command.h"
#include "src/cli/serve_settings.h"
#include "src/cli/signals.h"
#include "src/cli/text.h"

namespace strobe::cli {
namespace {

namespace fs = std::filesystem;

std::string ExecutableDirectory() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? "" : path.parent_path().string();
}

Result<std::vector<std::string>> CheckRoots(const std::vector<std::string>& roots,
                                            storage::PlaceOpener& places) {
  std::vector<std::string> real;
  for (const std::string& root : roots) {
    if (storage::IsBucketPlace(root)) {
      STROBE_ASSIGN_OR_RETURN(const storage::Place place, places.Open(root));
      real.push_back(place.text);
      continue;
    }
    std::error_code error;
    const fs::path path = fs::canonical(root, error);
    if (error) {
      return NotFoundError("ROOT_NOT_FOUND", "There is no such directory or file.")
          .Where(root)
          .Hint(
              "Give a directory that holds plugins/profile, one profile file, or "
              "s3://BUCKET/PREFIX.");
    }
    real.push_back(path.string());
  }
  return real;
}

Result<engine::EngineOptions> MakeEngineOptions(
    const ServeOptions& options, const std::shared_ptr<storage::PlaceOpener>& places) {
  engine::EngineOptions engine_options;
  engine_options.places = places;
  STROBE_ASSIGN_OR_RETURN(engine_options.roots, CheckRoots(options.roots, *places));
  if (!options.no_cache) {
    engine_options.cache_directory =
        options.cache_directory.empty()
            ? DefaultCacheDirectory(Environment("XDG_CACHE_HOME"), Environment("HOME"))
            : options.cache_directory;
  }
  STROBE_ASSIGN_OR_RETURN(engine_options.cache_max_bytes, ParseSizeBytes(options.cache_size));
  // The rest is for what is not charged: the system's file cache above all.
  constexpr uint64_t kBudgetPercent = 60;
  engine_options.memory_budget_bytes = UsableMemoryBytes() / 100 * kBudgetPercent;
  if (!options.memory.empty()) {
    STROBE_ASSIGN_OR_RETURN(engine_options.memory_budget_bytes, ParseSizeBytes(options.memory));
  }
  engine_options.threads = options.threads > 0
                               ? options.threads
                               : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  engine_options.xla_dump_directories = options.xla_dump_directories;
  engine_options.tool_max_seconds = options.tool_timeout_seconds;
  engine_options.tool_max_bytes = static_cast<int64_t>(engine_options.memory_budget_bytes);
  if (!options.tool_memory.empty()) {
    STROBE_ASSIGN_OR_RETURN(const uint64_t tool_bytes, ParseSizeBytes(options.tool_memory));
    engine_options.tool_max_bytes = static_cast<int64_t>(tool_bytes);
  }
  return engine_options;
}

// Where uploads go: the place named, else the first directory that may be written to, else the
// first bucket; empty: nowhere.
Result<std::string> FindUploadPlace(const ServeOptions& options,
                                    const std::vector<std::string>& roots) {
  std::string reason;
  const std::vector<std::string> writable = api::WritableRoots(roots, &reason);
  if (!options.uploads.empty()) {
    std::error_code error;
    const std::string place = storage::IsBucketPlace(options.uploads)
                                  ? options.uploads
                                  : fs::canonical(options.uploads, error).string();
    // Anywhere else nobody would see what was uploaded.
    const bool shown = std::ranges::any_of(roots, [&place](const std::string& root) {
      return place == root || place.starts_with(root + "/");
    });
    if (!error && shown) return place;
    return InvalidArgumentError("UPLOADS_PLACE",
                                "Uploads can only go to one of the places that are served.")
        .Where(options.uploads)
        .Hint("Name one of the served directories or buckets, or a folder below it.");
  }
  if (options.sample) return std::string();  // the samples are to stay what they are
  for (const std::string& root : writable) {
    if (!storage::IsBucketPlace(root)) return root;
  }
  return writable.empty() ? std::string() : writable.front();
}

// A folder of ours for what is not published yet.
std::string StagingDirectory(engine::Engine& engine) {
  const std::string& cache = engine.options().cache_directory;
  return cache.empty() ? fs::temp_directory_path().string() : cache;
}

constexpr std::string_view kInMemory = ":memory:";

// OK when the folder of the file is there, made if need be, and may be written into.
Status MakeFolderOf(const std::string& place) {
  const fs::path folder = fs::absolute(place).parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && access(folder.c_str(), W_OK) != 0) error = {errno, std::generic_category()};
  if (!error) return OkStatus();
  return UnavailableError("CATALOG_UNAVAILABLE", "The catalogue's folder cannot be written.")
      .Where(folder.string() + ": " + error.message())
      .Hint("Name another place with --catalog.");
}

// A place that somebody named has to work. Without one, a user who has no folder of their own still
// sees profiles: runs are kept in memory then, and the log says so.
Result<std::unique_ptr<catalog::Catalog>> OpenCatalog(const ServeOptions& options) {
  std::string place = options.catalog;
  if (place.empty()) place = Environment("STROBE_CATALOG");
  const bool named = !place.empty();
  if (!named && options.no_cache) place = kInMemory;
  if (place.empty()) {
    place = DefaultCatalogPlace(Environment("XDG_STATE_HOME"), Environment("HOME"));
  }
  if (place != kInMemory && !catalog::IsPostgresPlace(place)) {
    const Status made = MakeFolderOf(place);
    if (!made.ok() && named) return made;
    if (!made.ok()) {
      LogWarning("catalog.no_folder", {{"reason", made.ToString()}});
      place = kInMemory;
    }
  }
  if (place == kInMemory) {
    LogInfo("catalog.in_memory", {{"hint", "runs are forgotten at the end; see --catalog"}});
  }
  if (place == kInMemory && options.access) {
    return FailedPreconditionError("ACCESS_NEEDS_CATALOG",
                                   "Users and tokens would be forgotten at the end.")
        .Hint("Name a file or postgresql://... with --catalog.");
  }
  return catalog::Catalog::Open({.place = place}, SystemClock(), SystemRandom());
}

// Profiles of runs are shown only below the server's roots.
// With access control, of those only what belongs to the run's own project. `projects` is null
// without.
Result<std::vector<catalog::FoundSession>> FindBelowRoots(engine::Engine& engine,
                                                          const api::ProjectMap* projects,
                                                          const catalog::Run& run) {
  const std::string& storage_path = run.storage_path;
  const bool bucket = storage::IsBucketPlace(storage_path);
  STROBE_ASSIGN_OR_RETURN(const std::string real, api::PlaceBelowRoots(engine, storage_path));
  STROBE_RETURN_IF_ERROR(engine.Refresh());
  std::vector<catalog::FoundSession> found;
  for (const engine::SessionSummary& summary : engine.Sessions()) {
    if (!summary.entry.path.starts_with(real + "/") || summary.entry.files.empty()) continue;
    if (projects != nullptr && projects->OfPath(summary.entry.path) != run.project) continue;
    catalog::FoundSession session;
    std::string base = storage_path;
    while (bucket && base.ends_with('/')) base.pop_back();
    session.path = base + summary.entry.path.substr(real.size());
    session.name = summary.entry.name;
    session.viewer_id = summary.entry.id;
    for (const xplane::SessionFile& file : summary.entry.files) session.hosts.push_back(file.host);
    session.size_bytes = summary.entry.size_bytes;
    session.modified_unix_ns = summary.entry.modified_unix_ns;
    session.completeness = xplane::CompletenessStateName(summary.state);
    found.push_back(std::move(session));
  }
  return found;
}

// Every connection and every opened file takes a descriptor, and the usual soft limit of 1024 is
// below max_connections alone. Far more than the server's own limits add up to is of no use.
constexpr rlim_t kWantedDescriptors = 65'536;

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, kWantedDescriptors);
  if (limit.rlim_cur >= wanted) return;
  const auto before = static_cast<uint64_t>(limit.rlim_cur);
  limit.rlim_cur = wanted;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    LogWarning("descriptors.limit_kept",
               {{"limit", before}, {"reason", std::generic_category().message(errno)}});
  }
}

// Captures go where users say; who can be told apart from the machine's owner is held to the list.
Result<std::function<Status(capture::Target&)>> MakeTargetGuard(const ServeOptions& options) {
  if (!options.access && options.allow_targets.empty()) {
    return std::function<Status(capture::Target&)>();
  }
  STROBE_ASSIGN_OR_RETURN(AddressPolicy policy, AddressPolicy::Make(options.allow_targets));
  return std::function<Status(capture::Target&)>(
      [policy = std::move(policy)](capture::Target& target) -> Status {
        STROBE_ASSIGN_OR_RETURN(const std::string address, policy.Admit(target.host));
        const bool v6 = address.find(':') != std::string::npos;
        target.grpc_address = v6 ? fmt::format("ipv6:%5B{}%5D:{}", address, target.port)
                                 : fmt::format("ipv4:{}:{}", address, target.port);
        return OkStatus();
      });
}

// Everything of access control that a server holds; empty without --access.
struct AccessParts {
  std::unique_ptr<api::AccessControl> control;
  std::unique_ptr<api::SignIn> sign_in;
  std::unique_ptr<api::OidcProvider> oidc;
};

Result<std::string> ReadSecret(const std::string& path) {
  std::ifstream file(path);
  std::string secret;
  if (!std::getline(file, secret) || secret.empty()) {
    return NotFoundError("SECRET_NOT_READ", "The file with the client's secret cannot be read.")
        .Where(path);
  }
  return secret;
}

Result<std::unique_ptr<api::OidcProvider>> MakeOidc(const ServeOptions& options) {
  if (options.oidc_issuer.empty()) return std::unique_ptr<api::OidcProvider>();
  STROBE_RETURN_IF_ERROR(api::CheckFetchUrl(options.oidc_issuer));
  api::OidcOptions oidc{.issuer = options.oidc_issuer,
                        .client_id = options.oidc_client_id,
                        .public_url = options.public_url};
  while (oidc.public_url.ends_with('/')) oidc.public_url.pop_back();
  if (oidc.client_id.empty() || oidc.public_url.empty()) {
    return InvalidArgumentError("OIDC_OPTIONS", "A provider needs more to be said.")
        .Hint("Add --oidc-client-id and --public-url, the address that browsers use.");
  }
  if (!options.oidc_client_secret_file.empty()) {
    STROBE_ASSIGN_OR_RETURN(oidc.client_secret, ReadSecret(options.oidc_client_secret_file));
  }
  return std::make_unique<api::OidcProvider>(std::move(oidc), SystemClock());
}

Result<AccessParts> MakeAccess(const ServeOptions& options, catalog::Catalog& catalog,
                               engine::Engine& engine, queue::OperationTable& operations,
                               api::AppContext* context) {
  AccessParts parts;
  if (!options.access) return parts;
  parts.control = std::make_unique<api::AccessControl>(
      api::AccessControl::Parts{.catalog = &catalog,
                                .engine = &engine,
                                .operations = &operations,
                                .projects = context->projects,
                                .clock = &SystemClock(),
                                .random = &SystemRandom()},
      api::AccessControl::Options{.contact = options.access_contact});
  STROBE_ASSIGN_OR_RETURN(parts.oidc, MakeOidc(options));
  parts.control->set_verify_jwt(
      [&catalog, oidc = parts.oidc.get()](std::string_view jwt) -> Result<std::string> {
        Result<std::string> service = api::VerifyServiceJwt(catalog, SystemClock(), jwt);
        if (service.ok() || oidc == nullptr || service.status().name() != "SERVICE_KEY_UNKNOWN") {
          return service;
        }
        return api::SubjectOfIdToken(catalog, *oidc, jwt);
      });
  parts.sign_in = std::make_unique<api::SignIn>(*parts.control);
  context->access = parts.control.get();
  context->sign_in = parts.sign_in.get();
  context->oidc = parts.oidc.get();
  if (parts.oidc != nullptr) context->provider_name = options.oidc_name;
  return parts;
}

Protection ProtectionOf(const ServeOptions& options) {
  if (options.access) return Protection::kAccessControl;
  return options.insecure_no_auth ? Protection::kInsecureByWish : Protection::kNone;
}

// For gRPC, on an address of its own and by the server's TLS; null when there is neither.
Result<std::unique_ptr<capture::ExportReceiver>> StartReceiver(const ServeOptions& options,
                                                               const api::Router& router,
                                                               const IdMaker& ids,
                                                               api::Server& server) {
  const bool tls = !options.tls_certificate.empty();
  if (options.otlp_listen.empty() && !tls) return std::unique_ptr<capture::ExportReceiver>();
  if (!options.otlp_listen.empty()) {
    STROBE_RETURN_IF_ERROR(ParseListen(options.otlp_listen, ProtectionOf(options)).status());
  }
  STROBE_ASSIGN_OR_RETURN(std::unique_ptr<capture::ExportReceiver> receiver,
                          capture::ExportReceiver::Start(
                              {.address = options.otlp_listen,
                               .tls_certificate = options.tls_certificate,
                               .tls_key = options.tls_key,
                               .tunnel = tls},
                              [&router, &ids, &server, tls](const capture::ExportCall& call) {
                                return api::AnswerExport(router, ids, tls, call,
                                                         server.PeerOfHttp2(call.peer));
                              }));
  if (tls) server.LeadHttp2To(static_cast<uint16_t>(receiver->tunnel_port()));
  return receiver;
}

void WarnWithoutTls(const ServeOptions& options, const ListenAddress& listen) {
  if (!options.access || !options.tls_certificate.empty() || !options.trusted_proxies.empty() ||
      api::IsLoopbackHost(listen.host)) {
    return;
  }
  LogWarning("access.without_tls",
             {{"hint", "passwords and tokens go over the network as they are: --tls-cert"}});
}

// A new certificate is taken without a restart.
int WaitForStop(const StopSignals& signals, api::Server& server) {
  int signal = signals.Wait();
  for (; signal == SIGHUP; signal = signals.Wait()) {
    const Status reloaded = server.ReloadTls();
    LogInfo("tls.reloaded", {{"status", reloaded.ToString()}});
  }
  return signal;
}

std::string Announcement(const ListenAddress& listen, uint16_t port, bool tls) {
  // A wildcard address is no address to open; the loopback one leads to the same server.
  std::string host = listen.host;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return fmt::format("Strobe is at {}://{}:{}/ (Ctrl-C stops it)\n", tls ? "https" : "http", host,
                     port);
}

}  // namespace

Result<int> RunServe(const ServeOptions& options) {
  // Before any thread starts, so that all of them inherit it. Without a certificate to read again,
  // a terminal that closes ends the server as ever.
  StopSignals signals(options.tls_certificate.empty() ? 0 : SIGHUP);
  SetLogLevel(options.log_level);
  RaiseDescriptorLimit();
  STROBE_ASSIGN_OR_RETURN(const ListenAddress listen,
                          ParseListen(options.listen, ProtectionOf(options)));
  const auto places = std::make_shared<storage::PlaceOpener>(storage::SystemCloudContext());
  STROBE_ASSIGN_OR_RETURN(engine::EngineOptions engine_options, MakeEngineOptions(options, places));
  STROBE_ASSIGN_OR_RETURN(const std::string upload_place,
                          FindUploadPlace(options, engine_options.roots));
  STROBE_ASSIGN_OR_RETURN(
      const std::string console_directory,
      api::FindConsoleDirectory(options.console_directory, Environment("STROBE_CONSOLE_DIR"),
                                ExecutableDirectory()));
  const IdMaker ids(SystemClock(), SystemRandom());
  const std::unique_ptr<engine::Engine> engine =
      engine::Engine::Create(std::move(engine_options), SystemClock());
  STROBE_RETURN_IF_ERROR(engine->Refresh());
  // Before the operations, which end first.
  std::unique_ptr<capture::UploadTable> uploads;
  if (!upload_place.empty()) {
    uploads = std::make_unique<capture::UploadTable>(
        capture::UploadOptions{.place = upload_place,
                               .staging_directory = StagingDirectory(*engine)},
        SystemClock(), ids, places);
    (void)uploads->RemoveStale();
  }
  const std::unique_ptr<queue::OperationTable> operations =
      queue::OperationTable::Create({}, SystemClock(), ids);
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<catalog::Catalog> runs, OpenCatalog(options));
  api::StaticFiles console(console_directory);
  auto context = std::make_shared<api::AppContext>();
  context->engine = engine.get();
  context->operations = operations.get();
  context->uploads = uploads.get();
  context->catalog = runs.get();
  STROBE_ASSIGN_OR_RETURN(std::vector<api::ProjectMap::Folder> folders,
                          ParseProjects(options.projects));
  context->projects = std::make_shared<api::ProjectMap>(std::move(folders));
  STROBE_ASSIGN_OR_RETURN(const AccessParts access,
                          MakeAccess(options, *runs, *engine, *operations, context.get()));
  const api::ProjectMap* const projects = options.access ? context->projects.get() : nullptr;
  catalog::Scanner scanner(
      *runs,
      [&engine, projects](const catalog::Run& run) {
        return FindBelowRoots(*engine, projects, run);
      },
      SystemClock());
  STROBE_ASSIGN_OR_RETURN(const std::function<Status(capture::Target&)> admit,
                          MakeTargetGuard(options));
  context->scan_run = [&scanner](const catalog::Key& key) { return scanner.ScanRun(key); };
  context->capture = [&ids, admit, places](
                         const capture::CaptureRequest& request, const CancelToken& cancel,
                         const std::function<void(const capture::CaptureProgress&)>& progress) {
    return CaptureIntoPlace(request, {.clock = SystemClock(), .ids = ids, .admit = admit}, *places,
                            cancel, progress);
  };
  const std::string staging_directory = StagingDirectory(*engine);
  api::RunCaptures run_captures(
      {.catalog = runs.get(),
       .operations = operations.get(),
       .clock = &SystemClock(),
       .capture =
           [&ids, admit, places, staging_directory](
               const capture::CaptureRequest& request, const std::string& staging,
               const CancelToken& cancel, const api::RunCaptures::Progress& progress) {
             return capture::CaptureStaged(
                 request, {.name = staging, .bucket_directory = staging_directory},
                 {.clock = SystemClock(), .ids = ids, .admit = admit}, *places, cancel, progress);
           },
       .remove_staged =
           [&engine, staging_directory](const std::string& place, const std::string& staging) {
             const Result<std::string> real = api::PlaceBelowRoots(*engine, place);
             if (!real.ok()) return;
             capture::RemoveStaged(*real, {.name = staging, .bucket_directory = staging_directory});
           },
       .scan_run = context->scan_run});
  context->run_captures = &run_captures;
  context->clock = &SystemClock();
  context->console = &console;
  context->capture_default_target = options.capture_target;
  context->sample = options.sample;
  context->started_unix_ms = SystemClock().NowUnixMillis();
  std::atomic<bool> stopping{false};
  context->draining = [&stopping] { return stopping.load(); };
  const api::Router router(api::MakeRoutes(context), access.control.get());
  api::HttpMetrics metrics(context->route_names.size());
  context->metrics = &metrics;
  STROBE_ASSIGN_OR_RETURN(const api::TrustedProxies proxies,
                          api::TrustedProxies::Make(options.trusted_proxies));
  const api::Guard guard(
      {.listen_address = listen.host, .extra_hosts = AllowedHosts(options.allow_hosts)});
  STROBE_ASSIGN_OR_RETURN(
      const std::unique_ptr<api::Server> server,
      api::Server::Start({.address = listen.host,
                          .port = listen.port,
                          .tls_certificate = options.tls_certificate,
                          .tls_key = options.tls_key},
                         {.router = router,
                          .guard = guard,
                          .metrics = metrics,
                          .clock = SystemClock(),
                          .ids = ids,
                          .proxies = options.trusted_proxies.empty() ? nullptr : &proxies}));
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<capture::ExportReceiver> receiver,
                          StartReceiver(options, router, ids, *server));
  WarnWithoutTls(options, listen);
  scanner.Start();
  run_captures.Start();
  if (console_directory.empty()) LogWarning("console.missing", {});
  PrintOut(Announcement(listen, server->port(), !options.tls_certificate.empty()));
  if (!options.otlp_listen.empty())
    PrintOut(fmt::format("Exporters by gRPC: port {}\n", receiver->port()));
  const int signal = WaitForStop(signals, *server);
  LogInfo("server.stopping", {{"signal", signal}});
  stopping.store(true);
  signals.LetSecondOneKill();
  server->Shutdown();
  run_captures.Stop();
  LogInfo("server.stopped");
  return int{kExitOk};
}

Result<int> RunOpenApi() {
  auto context = std::make_shared<api::AppContext>();
  PrintOut(api::OpenApiJson(api::MakeRoutes(context)));
  return int{kExitOk};
}

}  // namespace strobe::cli
