#include "src/cli/parse_resources.h"

#include <CLI/CLI.hpp>
#include <map>

namespace strobe::cli {
namespace {

using Action = std::function<Result<int>()>;

struct Group {
  std::string name;
  std::string alias;  // as gcloud names it
  std::string help;
  ResourceKind kind;
  std::vector<std::string> verbs;
};

bool BelowRun(ResourceKind kind) {
  return kind != ResourceKind::kRun && kind != ResourceKind::kOperation;
}

void AddListFlags(CLI::App& command, ResourceOptions& options, ResourceKind kind) {
  command.add_option("--filter", options.filter, "As in state=FAILED AND run_set=\"a\"");
  command.add_option("--sort-by", options.order_by,
                     "Fields, each with \" desc\" or a ~ in front if wanted");
  command.add_option("--limit", options.limit, "At most so many; 0 for all");
  command.add_option("--page-size", options.page_size, "How many a request")
      ->check(CLI::Range(1, 1000));
  command.add_flag("--uri", options.uri, "Names only");
  if (kind == ResourceKind::kSession) {
    command.add_flag("--refresh", options.refresh, "Look into the storage first");
  }
}

void AddRunFlags(CLI::App& command, ResourceOptions& options) {
  command.add_option("--display-name", options.display_name, "Name for people");
  command.add_option("--run-group", options.run_group, "Group that it belongs to");
  command.add_option("--gcs-path", options.gcs_path,
                     "Where its profiles are: a directory, s3://... or gs://...");
  command.add_option("--labels", options.labels, "NAME=VALUE,...")->allow_extra_args(false);
  command.add_option("--tools", options.tools, "xprof, xprof:sessionId=ID, smon")
      ->allow_extra_args(false);
  command.add_option("--configs-software", options.software, "NAME=VALUE,...")
      ->allow_extra_args(false);
  command.add_option("--configs-hardware", options.hardware, "NAME=VALUE,...")
      ->allow_extra_args(false);
  command.add_option("--configs-user", options.user, "NAME=VALUE,...")->allow_extra_args(false);
  command.add_option("--orchestrator", options.orchestrator, "gce, gke, slurm or custom");
  command.add_option("--run-phase", options.run_phase, "active, completed or failed");
}

void AddCaptureFlags(CLI::App& command, ResourceOptions& options) {
  command
      .add_option("--targets", options.targets,
                  "Profiler targets, commas between them (default all of the run)")
      ->allow_extra_args(false);
  command.add_option("--duration", options.duration, "How long, as in 5s, 500ms, 2m")->required();
  command.add_option("--kind", options.capture_kind, "on-demand or snapshot (default on-demand)");
  command.add_option("--host-tracer-level", options.host_level,
                     "disabled, critical, info or verbose (default info)");
  command.add_option("--device-tracer-level", options.device_level,
                     "disabled or enabled (default enabled)");
  command.add_option("--python-tracer-level", options.python_level,
                     "disabled or enabled (default disabled)");
  command.add_option("--xprof-server-port", options.xprof_server_port,
                     "Where the targets' profilers listen (default 9999)");
}

void AddTargetFlags(CLI::App& command, ResourceOptions& options) {
  command.add_option("--hostname", options.hostname,
                     "Machine on which the job's profiler listens; :PORT if not 9999");
  command.add_option("--node-index", options.node_index, "Its number in the job");
  command.add_flag("--is-master", options.is_master, "The job's first process");
}

void AddChangeFlags(CLI::App& command, const std::string& verb, ResourceOptions& options,
                    ResourceKind kind) {
  if (verb == "create" || verb == "update") {
    if (kind == ResourceKind::kRun) AddRunFlags(command, options);
    if (kind == ResourceKind::kTarget) AddTargetFlags(command, options);
    command.add_option("--set", options.fields, "NAME=VALUE, as often as needed")
        ->allow_extra_args(false);
  }
  if (verb == "capture") AddCaptureFlags(command, options);
  if (verb == "update") {
    command.add_option("--etag", options.etag, "Only if it is still this one");
    command.add_option("--update-mask", options.update_mask, "Fields; default those that are set");
  }
  if (verb == "delete" && kind == ResourceKind::kRun) {
    command.add_flag("--force", options.force, "With all that is below it");
  }
  if (verb == "create" || verb == "update" || verb == "delete" || verb == "capture") {
    command.add_flag("--async", options.no_wait, "Do not wait for the operation");
  }
}

void AddVerb(CLI::App& group, const std::string& verb, const std::string& help,
             ResourceOptions& options, ResourceKind kind, Action& action) {
  CLI::App* command = group.add_subcommand(verb, help);
  const bool list = verb == "list";
  if (!list) {
    command->add_option("ID", options.id, "Its id")->required(verb != "create");
  }
  command->add_option("--server", options.server, "http:// or https://HOST:PORT of the server")
      ->envname("STROBE_SERVER")
      ->capture_default_str();
  command->add_option("--project", options.project, "Project")->capture_default_str();
  command->add_option("--location", options.location, "Location; - lists those of all")
      ->capture_default_str();
  if (BelowRun(kind)) {
    command->add_option("--run,--machine-learning-run", options.run, "Run; - lists those of all")
        ->required();
  }
  command->add_option("--format", options.format,
                      "yaml, json, table, csv or value, with fields in brackets if wanted");
  if (list) AddListFlags(*command, options, kind);
  AddChangeFlags(*command, verb, options, kind);
  command->callback([&options, &action, verb, kind] {
    options.verb = verb;
    options.kind = kind;
    action = [&options] { return RunResource(options); };
  });
}

std::vector<Group> Groups() {
  return {{"runs",
           "machine-learning-run",
           "Runs of a server.",
           ResourceKind::kRun,
           {"list", "describe", "create", "update", "delete"}},
          {"targets",
           "profiler-target",
           "Profiler targets of a run.",
           ResourceKind::kTarget,
           {"list", "describe", "create", "delete"}},
          {"sessions",
           "profiler-session",
           "Profiler sessions of a run.",
           ResourceKind::kSession,
           {"list", "describe", "capture", "create", "update", "delete"}},
          {"monitored-events",
           "",
           "Monitored events of a run.",
           ResourceKind::kEvent,
           {"list", "describe", "create", "update", "delete"}},
          {"operations",
           "",
           "Operations of a server.",
           ResourceKind::kOperation,
           {"list", "describe", "wait", "cancel", "delete"}}};
}

}  // namespace

void AddResources(CLI::App& app, ResourceOptions& options, Action& action) {
  static const std::map<std::string, std::string> kHelp = {
      {"list", "List them."},
      {"describe", "Show one."},
      {"create", "Make one."},
      {"update", "Change one."},
      {"delete", "Forget one; profiles stay."},
      {"capture", "Record the run's jobs into a new session."},
      {"wait", "Wait until one is done, and show it."},
      {"cancel", "Ask one to stop."}};
  for (const Group& entry : Groups()) {
    CLI::App* group = app.add_subcommand(entry.name, entry.help)->group("Runs");
    if (!entry.alias.empty()) group->alias(entry.alias);
    group->require_subcommand(1);
    for (const std::string& verb : entry.verbs) {
      AddVerb(*group, verb, kHelp.at(verb), options, entry.kind, action);
    }
    std::string examples = "Examples:\n  strobe " + entry.name + " list" +
                           (BelowRun(entry.kind) ? " --run RUN" : "") +
                           " --server http://127.0.0.1:8080 --format "
                           "\"csv[no-heading](name.basename())\"\n";
    if (entry.kind == ResourceKind::kSession) {
      examples += "  strobe sessions capture s1 --run RUN --targets node0,node1 --duration 5s\n";
    }
    group->footer(examples);
  }
}

}  // namespace strobe::cli
