// The command line: names of options, help, and which function runs. Only the parse*.cc see CLI11.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>

#include "src/api/app.h"
#include "src/base/log.h"
#include "src/cli/agent_command.h"
#include "src/cli/agent_files.h"
#include "src/cli/command.h"
#include "src/cli/numeric_parity_command.h"
#include "src/cli/parse_access.h"
#include "src/cli/parse_resources.h"
#include "src/cli/text.h"
#include "src/tools/agent_tools.h"
#include "src/tools/registry.h"

namespace strobe::cli {
namespace {

using Action = std::function<Result<int>()>;

// CLI11's own check of this names the largest double there is.
CLI::Validator NotNegative() {
  return CLI::Validator(
      [](const std::string& text) {
        return text.starts_with('-') ? std::string("must be 0 or more") : std::string();
      },
      "UINT");
}

// Of what the user typed, in an error.
constexpr size_t kMaxShownArgumentBytes = 128;

constexpr const char* kExamples =
    "Examples:\n"
    "  strobe serve ~/logs                          look at the profiles below ~/logs\n"
    "  strobe capture 127.0.0.1:9012 --into ~/logs  record 2 s of a running job\n"
    "  strobe inspect ~/logs/plugins/profile/run1   what a session has and lacks\n"
    "  strobe events run.xplane.pb --line Ops --from 10ms --to 20ms --csv\n"
    "  strobe tools run.xplane.pb                   which tools apply, and why others do not\n"
    "  strobe hlo_stats run.xplane.pb --sort=-total_self_time --limit 20\n"
    "\n"
    "Exit codes: 0 done; 1 failed; 2 wrong usage; 3 not found; 4 done, but the profile or the\n"
    "capture is damaged or not whole. Of tools: 1 internal, 2 usage, 3 path, 4 invalid value.\n";

void AddServe(CLI::App& app, ServeOptions& options, Action& action) {
  CLI::App* command = app.add_subcommand("serve", "Serve the console and the API.");
  command
      ->add_option("PLACE", options.roots,
                   "Log directories, sessions, single profile files, s3://BUCKET/PREFIX or "
                   "gs://BUCKET/PREFIX")
      ->required();
  command->add_option("--listen", options.listen, "ADDRESS:PORT; port 0 takes any free one")
      ->capture_default_str();
  command->add_option("--otlp-listen", options.otlp_listen,
                      "ADDRESS:PORT for what jobs export by gRPC (OTLP, Google's logging client)");
  command->add_flag("--insecure-no-auth", options.insecure_no_auth,
                    "Allow addresses beyond loopback without access control");
  AddServeAccess(*command, options);
  command->add_option("--allow-host", options.allow_hosts,
                      "Another name under which browsers may reach the server");
  command->add_option("--cache", options.cache_directory,
                      "Where decoded columns are kept (default ~/.cache/strobe)");
  command->add_flag("--no-cache", options.no_cache, "Keep nothing on disk");
  command->add_option("--catalog", options.catalog,
                      "Where runs are kept: a file or postgresql://... (default "
                      "~/.local/state/strobe/catalog.db, or STROBE_CATALOG; with --no-cache in "
                      "memory)");
  command->add_option("--cache-size", options.cache_size, "Limit of the cache, such as 20G")
      ->capture_default_str();
  command->add_option(
      "--memory", options.memory,
      "Limit for opened sessions, such as 8G (default 60 % of the machine's or container's)");
  command->add_option("--threads", options.threads, "Threads that decode (default one a core)")
      ->check(CLI::Range(1, 256));
  command
      ->add_option("--tool-timeout", options.tool_timeout_seconds,
                   "Seconds that one answer of a tool may take; 0: no limit")
      ->check(NotNegative())
      ->capture_default_str();
  command->add_option("--tool-memory", options.tool_memory,
                      "What one answer of a tool may hold, such as 4G (default as --memory)");
  command->add_option("--log-level", options.log_level, "debug, info, warning, error or off")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  command->add_option("--console-dir", options.console_directory,
                      "The built console (default: beside the program, or STROBE_CONSOLE_DIR)");
  command->add_option("--capture-target", options.capture_target,
                      "HOST:PORT that the console's capture dialog offers first");
  command->add_option("--xla-dump-to", options.xla_dump_directories,
                      "Folder that --xla_dump_to or --xla_jf_dump_to filled, for its modules");
  command->add_option("--uploads", options.uploads,
                      "Where uploads go: one of the places, or a folder below it (default the "
                      "first that may be written to)");
  command->add_flag("--sample", options.sample,
                    "Say in the console that these are sample profiles");
  command->footer(
      "Examples:\n"
      "  strobe serve ~/logs                       every profile below ~/logs\n"
      "  strobe serve ~/logs /data/more --listen 127.0.0.1:9000\n"
      "  strobe serve profile.xplane.pb.gz         one file\n"
      "  strobe serve s3://profiles/team-a         a bucket (gs:// too)\n");
  command->callback([&] { action = [&options] { return RunServe(options); }; });
}

void AddList(CLI::App& app, ListCommandOptions& options, Action& action) {
  CLI::App* command =
      app.add_subcommand("ls", "List the sessions below a directory or in a bucket.");
  command
      ->add_option("PLACE", options.path, "Log directory, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX")
      ->required();
  command->add_flag("--json", options.json, "As the API's SessionList");
  command->footer(
      "Examples:\n"
      "  strobe ls ~/logs\n"
      "  strobe ls ~/logs --json | jq -r '.sessions[].name'\n");
  command->callback([&] { action = [&options] { return RunList(options); }; });
}

void AddInspect(CLI::App& app, InspectOptions& options, Action& action) {
  CLI::App* command = app.add_subcommand(
      "inspect", "Show planes, lines, counts, spans and completeness; 4 when not whole.");
  command->add_option("SESSION", options.path, "Session directory or profile file")->required();
  command->add_flag("--json", options.json, "As the API's objects");
  command->footer(
      "Examples:\n"
      "  strobe inspect ~/logs/plugins/profile/run1\n"
      "  strobe inspect profile.xplane.pb.zst --json | jq .completeness.state\n");
  command->callback([&] { action = [&options] { return RunInspect(options); }; });
}

void AddEvents(CLI::App& app, EventsOptions& options, Action& action) {
  CLI::App* command = app.add_subcommand(
      "events", "Print events, line by line in time order; 4 when the profile is not whole.");
  command->add_option("SESSION", options.path, "Session directory or profile file")->required();
  command->add_option("--host", options.host, "Only hosts whose name holds this, in any case");
  command->add_option("--plane", options.plane, "Only planes whose name holds this");
  command->add_option("--line", options.line, "Only lines whose name holds this");
  command->add_option("--name", options.name, "Only events whose name holds this");
  command->add_option("--from", options.from, "Only events that end at or after it, such as 10ms");
  command->add_option("--to", options.to, "Only events that begin before it");
  command->add_option("--limit", options.limit, "At most so many; 0 for all")
      ->check(NotNegative())
      ->capture_default_str();
  auto* json = command->add_flag_callback(
      "--json", [&options] { options.format = EventFormat::kJson; }, "One JSON object");
  command
      ->add_flag_callback(
          "--csv", [&options] { options.format = EventFormat::kCsv; }, "Times in picoseconds")
      ->excludes(json);
  command->footer(
      "Examples:\n"
      "  strobe events ~/logs/plugins/profile/run1 --name fusion --limit 20\n"
      "  strobe events run.xplane.pb --plane TPU:0 --line Ops --from 10ms --to 20ms --csv\n");
  command->callback([&] { action = [&options] { return RunEvents(options); }; });
}

void AddExport(CLI::App& app, ExportCommandOptions& options, Action& action) {
  CLI::App* command =
      app.add_subcommand("export", "Write events as a trace that other programs open.");
  command
      ->add_option("SESSION", options.place,
                   "Session directory, profile file, or http://HOST:PORT/RUN")
      ->required();
  command->add_option("--format", options.format, "chrome (default) or perfetto")
      ->check(CLI::IsMember({"chrome", "perfetto"}));
  command->add_option("-o,--output", options.output, "File (default: standard output)");
  command->add_option("--line", options.lines, "Only these lines, such as 0.1.2")->delimiter(',');
  command->add_option("--from", options.from, "Only events that end after it, such as 10ms");
  command->add_option("--to", options.to, "Only events that begin before it");
  command->add_flag("--no-stats", options.no_stats, "Without arguments");
  command->add_flag("--no-flows", options.no_flows, "Without arrows");
  command->add_flag("--force", options.force, "Replace the file");
  command->footer(
      "Examples:\n"
      "  strobe export ~/logs/plugins/profile/run1 -o run1.trace.json\n"
      "  strobe export http://127.0.0.1:8080/run1 --format perfetto -o run1.pftrace\n"
      "  strobe export run.xplane.pb --from 10ms --to 20ms | gzip > view.json.gz\n");
  command->callback([&] { action = [&options] { return RunExport(options); }; });
}

void AddCapture(CLI::App& app, CaptureOptions& options, Action& action) {
  CLI::App* command = app.add_subcommand(
      "capture", "Record a profile from running jobs; 4 when some target gave none.");
  command
      ->add_option("TARGET", options.targets,
                   "HOST:PORT of each job's profiler server, separated by commas or blanks")
      ->delimiter(',')
      ->required();
  command->add_option("--duration", options.duration, "How long, such as 2s or 500ms")
      ->capture_default_str();
  command
      ->add_option("--into", options.into,
                   "Log directory or bucket (s3://, gs://) that gets the session")
      ->required();
  command->add_option("--run", options.run, "Folder below it");
  command->add_option("--session", options.session, "Name (default: the time and a random part)");
  command->add_option("--host-tracer-level", options.host_tracer_level, "0 off to 3 all")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command->add_option("--device-tracer-level", options.device_tracer_level, "0 off, 1 on")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command->add_option("--python-tracer-level", options.python_tracer_level, "0 off, 1 on")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command->add_option("--option", options.options,
                      "KEY=VALUE for the profiler, as often as needed");
  command->add_flag("--json", options.json, "The result as JSON");
  command->footer(
      "Examples:\n"
      "  strobe capture 127.0.0.1:9012 --into ~/logs\n"
      "  strobe capture host1:9012,host2:9012 --duration 5s --into ~/logs --run resnet\n"
      "  strobe capture host1:9012 --into ~/logs --option tpu_trace_mode=TRACE_COMPUTE\n");
  command->callback([&] { action = [&options] { return RunCaptureCommand(options); }; });
}

void AddUpload(CLI::App& app, UploadCommandOptions& options, Action& action) {
  CLI::App* command = app.add_subcommand(
      "upload", "Send a profile, or a session as zip or tar, to a server; it can be resumed.");
  command->add_option("FILE", options.path, "Profile file, or a zip or tar of one session")
      ->required();
  command->add_option("--server", options.server, "http://HOST:PORT or https://")->capture_default_str();
  command->add_option("--run", options.run, "Folder that gets the session");
  command->add_option("--session", options.session,
                      "Name (default: the archive's folder, or a new one)");
  command->add_option("--resume", options.resume, "Id of an upload that was broken off");
  command->add_flag("--json", options.json, "The finished operation as JSON");
  command->footer(
      "Examples:\n"
      "  strobe upload host0.xplane.pb --run llama\n"
      "  tar -czf - -C ~/logs/plugins/profile run1 > run1.tgz && strobe upload run1.tgz\n");
  command->callback([&] { action = [&options] { return RunUpload(options); }; });
}

const std::map<std::string, ToolFormat> kToolFormats = {
    {"table", ToolFormat::kTable}, {"json", ToolFormat::kJson},   {"csv", ToolFormat::kCsv},
    {"md", ToolFormat::kMarkdown}, {"xprof", ToolFormat::kXprof}, {"raw", ToolFormat::kRaw}};

void AddTools(CLI::App& app, ToolsOptions& options, Action& action) {
  CLI::App* command =
      app.add_subcommand("tools", "List the tools, or which of them apply to a session.");
  command->add_option("SESSION", options.place,
                      "Session directory, profile file, or http://HOST:PORT/RUN");
  command->add_option("--format", options.format, "table, json or md")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, ToolFormat>{{"table", ToolFormat::kTable},
                                            {"json", ToolFormat::kJson},
                                            {"md", ToolFormat::kMarkdown}}));
  command->footer(
      "Examples:\n"
      "  strobe tools\n"
      "  strobe tools ~/logs/plugins/profile/run1\n"
      "  strobe tools http://127.0.0.1:8080/llama/run1\n");
  command->callback([&] { action = [&options] { return RunTools(options); }; });
}

// "--group_by" and "--group-by".
std::string OptionNames(const std::string& name) {
  std::string dashed = name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return dashed == name ? "--" + name : "--" + name + ",--" + dashed;
}

// An option of the tool that is called as one of ours is given only as --option name=value.
void AddToolOption(CLI::App& command, const tools::OptionSpec& spec, ToolCommandOptions& options) {
  const std::string names = OptionNames(spec.name);
  if (command.get_option_no_throw("--" + spec.name) != nullptr) return;
  std::string help = spec.description;
  if (!spec.choices.empty()) {
    help += help.empty() ? "One of " : " One of ";
    for (size_t i = 0; i < spec.choices.size(); ++i) {
      help += (i > 0 ? ", " : "") + (spec.choices[i].empty() ? "\"\"" : spec.choices[i]);
    }
    help += ".";
  }
  if (!spec.default_value.empty()) help += " Default " + spec.default_value + ".";
  command.add_option_function<std::string>(
      names,
      [&options, name = spec.name](const std::string& value) {
        options.tool_options[name] = value;
      },
      help);
}

void AddOneTool(CLI::App& app, const tools::ToolDescriptor& tool, ToolCommandOptions& options,
                Action& action) {
  CLI::App* command = app.add_subcommand(tool.id, tool.question)->group("Tools");
  for (const std::string& alias : tool.aliases) command->alias(alias);
  command
      ->add_option("SESSION", options.place,
                   "Session directory, profile file, or http://HOST:PORT/RUN")
      ->required();
  command->add_option("--host", options.hosts, "Only these hosts")->delimiter(',');
  command->add_option("--format", options.format, "table, json, csv, md, xprof or raw")
      ->transform(CLI::CheckedTransformer(kToolFormats));
  command->add_option("--table", options.table, "Only this table, by id or number");
  command->add_option("--columns", options.columns, "Only these columns")->delimiter(',');
  command->add_option("--sort", options.sort, "Columns; - in front: descending")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--filter", options.filters, "COLUMN:HOW:VALUE; eq ne lt le gt ge contains");
  command->add_option("--offset", options.offset, "Rows to leave out");
  command->add_option_function<uint64_t>(
      "--limit", [&options](const uint64_t& limit) { options.limit = limit; },
      "At most so many rows");
  command->add_flag("--as-xprof", options.as_xprof, "XProf's numbers where ours differ");
  command->add_option("--xla-dump-to", options.xla_dump_directories,
                      "Folder that --xla_dump_to or --xla_jf_dump_to filled, for its modules");
  command->add_option_function<std::vector<std::string>>(
      "--option",
      [&options](const std::vector<std::string>& pairs) {
        for (const std::string& pair : pairs) {
          const size_t equals = pair.find('=');
          if (equals == std::string::npos) throw CLI::ValidationError("--option", "is NAME=VALUE");
          options.tool_options[pair.substr(0, equals)] = pair.substr(equals + 1);
        }
      },
      "NAME=VALUE of the tool, as often as needed");
  for (const tools::OptionSpec& spec : tool.options) AddToolOption(*command, spec, options);
  command->footer("Examples:\n  strobe " + tool.id + " ~/logs/plugins/profile/run1\n  strobe " +
                  tool.id + " http://127.0.0.1:8080/run1 --format json\n");
  command->callback([&options, &action, id = tool.id] {
    options.tool = id;
    action = [&options] { return RunTool(options); };
  });
}

std::string Upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

// The tools for agents take the options of XProf's command line and no others of ours, whose names
// would stand in their way.
void AddAgentSession(CLI::App* command, AgentCommandOptions& options) {
  command->add_option("SESSION,--session_id,--session_dir,--session_path,--source", options.place,
                      "Log or run directory, profile file, run of --logdir, or "
                      "http://HOST:PORT/RUN");
  command->add_option("--logdir", options.logdir, "Log directory; its newest run by default");
  command->add_option("--host,--hosts", options.hosts, "Only these hosts")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void AddOutputPath(CLI::App* command, AgentCommandOptions& options) {
  command->add_option("--output_path,--output-path,--db_path", options.output_path,
                      "File to write; it must not be there yet");
}

// Commands for agents that answer with files; the registry has no such tools.
void AddAgentFiles(CLI::App& app, AgentCommandOptions& session, AgentFileOptions& options,
                   Action& action) {
  CLI::App* proto = app.add_subcommand("get_xspace_proto", "The profile of a host, uncompressed.")
                        ->group("Tools for agents");
  AddAgentSession(proto, session);
  AddOutputPath(proto, session);
  proto->callback([&] { action = [&session] { return RunGetXspaceProto(session); }; });

  CLI::App* upload = app.add_subcommand("upload_trace", "Copy a profile file into a log directory.")
                         ->group("Tools for agents");
  upload->add_option("FILE,--file_path", options.file, "Profile file")->required();
  upload->add_option("--logdir", options.logdir, "Log directory to copy into");
  upload->add_option("--run_name,--run-name", options.run_name, "Name of the run it becomes")
      ->capture_default_str();
  upload->add_flag("--force", options.force, "Replace a file of that name");
  upload->callback([&] { action = [&options] { return RunUploadTrace(options); }; });

  CLI::App* skills = app.add_subcommand("install_skills", "Write what agents should know of this.")
                         ->group("Tools for agents");
  skills->add_option("--target_dir,--target-dir", options.target_directory, "Directory to fill")
      ->capture_default_str();
  skills->add_flag("--force", options.force, "Replace files of these names");
  skills->callback([&] { action = [&options] { return RunInstallSkills(options); }; });
}

void AddNumericParity(CLI::App& app, NumericParityOptions& options, Action& action) {
  CLI::App* verify = app.add_subcommand("verify_numerical_parity",
                                        "Whether two kernels' results are the same numbers; 1 "
                                        "when they are not.")
                         ->group("Tools for agents");
  verify->add_option("--reference", options.reference, "Results of one: .npy, or a directory");
  verify->add_option("--candidate", options.candidate, "Results of the other, likewise");
  verify
      ->add_option("--max_allowed_ulp,--max-allowed-ulp", options.max_ulp,
                   "No element may be further apart")
      ->capture_default_str();
  verify
      ->add_option("--p99_9_allowed_ulp,--p99-9-allowed-ulp", options.p99_9_ulp,
                   "Nor 99.9 % of them further than this")
      ->capture_default_str();
  verify->callback([&] { action = [&options] { return RunVerifyNumericalParity(options); }; });

  CLI::App* make = app.add_subcommand("make_parity_inputs",
                                      "Write inputs on which two kernels should be compared.")
                       ->group("Tools for agents");
  make->add_option("--shapes", options.shapes, "One for each input, such as \"[(128,256)]\"");
  make->add_option("--tier", options.tier, "fast_agent, presubmit or deep_fuzzing")
      ->capture_default_str();
  make->add_option("--seed", options.seed, "The same seed gives the same inputs")
      ->capture_default_str();
  make->add_option("--output_dir,--output-dir", options.output_directory, "Directory to fill");
  make->callback([&] { action = [&options] { return RunMakeParityInputs(options); }; });
  for (CLI::App* command : {verify, make}) {
    command->add_option("--dtype_str,--dtype-str,--dtype", options.dtype, "Type of the elements")
        ->capture_default_str();
  }
}

void AddAgentTool(CLI::App& app, const tools::ToolDescriptor& tool, AgentCommandOptions& options,
                  Action& action) {
  CLI::App* command = app.add_subcommand(tool.id, tool.question)->group("Tools for agents");
  for (const std::string& alias : tool.aliases) command->alias(alias);
  AddAgentSession(command, options);
  if (tool.id == "create_events_db" || tool.id == "llo_load") AddOutputPath(command, options);
  if (tool.id == "diff_sessions") {
    command->add_option("--baseline_session_id", options.place, "The session before");
    command->add_option("OPTIMIZED,--optimized_session_id", options.second, "The session after");
  }
  command->add_option("--xla-dump-to,--xla_dump_to", options.xla_dump_directories,
                      "Folder that --xla_dump_to or --xla_jf_dump_to filled, for its modules");
  command->add_flag("--bypass_cache", options.bypass_cache, "Accepted; nothing is stored");
  command->add_flag("--as-xprof,--as_xprof", options.as_xprof, "XProf's numbers where ours differ");
  for (const tools::OptionSpec& spec : tool.options) {
    // What the question is about may stand behind the session, without its name.
    const bool positional = spec.name == "query" || spec.name == "instruction_name";
    CLI::Option* option = command->add_option_function<std::string>(
        (positional ? Upper(spec.name) + "," : "") + OptionNames(spec.name),
        [&options, name = spec.name](const std::string& value) {
          options.tool_options[name] = value;
        },
        spec.description);
    // A truth may stand alone: "--include_summary".
    if (spec.type == tools::OptionType::kBoolean) option->expected(0, 1)->default_str("true");
  }
  command->callback([&options, &action, id = tool.id] {
    options.tool = id;
    action = [&options] { return RunAgentTool(options); };
  });
}

void AddSmall(CLI::App& app, Action& action) {
  app.add_subcommand("version", "Print the version.")->callback([&] {
    action = []() -> Result<int> {
      PrintOut("strobe " + std::string(api::kVersion) + "\n");
      return int{kExitOk};
    };
  });
  app.add_subcommand("openapi", "Print the description of the API.")->callback([&] {
    action = [] { return RunOpenApi(); };
  });
}

void AddHelp(CLI::App& app, std::string& topic, Action& action) {
  CLI::App* command = app.add_subcommand("help", "Explain a command, with examples.");
  command->add_option("COMMAND", topic, "Name of a command");
  command->callback([&] {
    action = [&app, &topic]() -> Result<int> {
      if (topic.empty()) {
        app.clear();  // else CLI11 explains the command that was parsed: this one
        PrintOut(app.help());
        return int{kExitOk};
      }
      const std::vector<CLI::App*> found = app.get_subcommands(
          [&topic](const CLI::App* candidate) { return candidate->get_name() == topic; });
      if (found.empty()) {
        return InvalidArgumentError("USAGE", "There is no such command.")
            .Where(topic.substr(0, kMaxShownArgumentBytes))
            .Hint("Type \"strobe help\" for the list of commands.");
      }
      PrintOut(found.front()->help("strobe"));
      return int{kExitOk};
    };
  });
}

// For each command that may ask a server by https.
void AddCaFile(CLI::App& app, std::string& ca_file) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    AddCaFile(*command, ca_file);
    const bool asks = command->get_option_no_throw("--server") != nullptr ||
                      command->get_option_no_throw("SESSION") != nullptr ||
                      command->get_option_no_throw("--session_id") != nullptr;
    if (!asks || command->get_option_no_throw("--ca-file") != nullptr) continue;
    command->add_option("--ca-file", ca_file,
                        "Certificates of the authorities to trust for https:// (default "
                        "STROBE_CA_FILE, else the system's)");
  }
}

int Report(const Status& status) {
  PrintError(ErrorText(status));
  return ExitCodeOf(status);
}

}  // namespace

int ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return kExitOk;
    case StatusCode::kInvalidArgument:
    case StatusCode::kOutOfRange:
      return kExitUsage;
    case StatusCode::kNotFound:
      return kExitNotFound;
    case StatusCode::kDataLoss:
      return kExitPartial;
    default:
      return kExitFailed;
  }
}

int RunStrobe(int argc, char** argv) {
  CLI::App app("Strobe looks at profiles of JAX and XLA programs, and records them.", "strobe");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", "strobe " + std::string(api::kVersion));
  Action action;
  ServeOptions serve;
  ListCommandOptions list;
  InspectOptions inspect;
  EventsOptions events;
  ExportCommandOptions export_options;
  CaptureOptions capture;
  UploadCommandOptions upload;
  ToolsOptions tools_options;
  ToolCommandOptions tool;
  AgentCommandOptions agent_tool;
  AgentFileOptions agent_files;
  NumericParityOptions numeric_parity;
  std::string help_topic;
  AddServe(app, serve, action);
  AddList(app, list, action);
  AddInspect(app, inspect, action);
  AddEvents(app, events, action);
  AddExport(app, export_options, action);
  AddCapture(app, capture, action);
  AddUpload(app, upload, action);
  AddTools(app, tools_options, action);
  for (const tools::ToolDescriptor& entry : tools::AllTools()) {
    if (entry.listed) {
      AddOneTool(app, entry, tool, action);
    } else if (tools::IsAgentTool(entry.id)) {
      AddAgentTool(app, entry, agent_tool, action);
    }
  }
  AddAgentFiles(app, agent_tool, agent_files, action);
  AddNumericParity(app, numeric_parity, action);
  ResourceOptions resources;
  AddResources(app, resources, action);
  AccessOptions access;
  AddAccessCommands(app, access, action);
  AddSmall(app, action);
  AddHelp(app, help_topic, action);
  std::string ca_file;
  AddCaFile(app, ca_file);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);  // help and version
  } catch (const CLI::ParseError& error) {
    return Report(InvalidArgumentError("USAGE", error.what())
                      .Hint("Type \"strobe --help\" or \"strobe COMMAND --help\"."));
  }
  // Whatever asks a server looks there; nothing else runs yet.
  if (!ca_file.empty()) setenv("STROBE_CA_FILE", ca_file.c_str(), /*replace=*/1);
  // Commands print what matters themselves; `serve` sets its own level.
  SetLogLevel("warning");
  const Result<int> result = action();
  const int exit_code = result.ok() ? *result : Report(result.status());
  const bool json = list.json || inspect.json || capture.json || upload.json ||
                    events.format == EventFormat::kJson;
  if (!result.ok() && json) PrintErrorJson(result.status());
  if (!OutIsWritten()) {
    return Report(UnavailableError("OUTPUT_NOT_WRITTEN", "Standard output took not everything.")
                      .Hint("Look whether the disk is full or the reader has ended."));
  }
  return exit_code;
}

}  // namespace strobe::cli
