#include "src/cli/parse_access.h"

#include <CLI/CLI.hpp>

namespace strobe::cli {
namespace {

using Action = std::function<Result<int>()>;

struct Verb {
  std::string name;
  std::string help;
  bool id = true;
};

CLI::App* AddVerb(CLI::App& group, const std::string& noun, const Verb& verb,
                  AccessOptions& options, Action& action) {
  CLI::App* command = group.add_subcommand(verb.name, verb.help);
  if (verb.id) command->add_option("NAME", options.id, "Its name or id")->required();
  if (noun != "access") {
    command->add_option("--server", options.server,
                        "http:// or https://HOST:PORT of a server, with STROBE_TOKEN; else the catalogue");
  }
  command->add_option("--catalog", options.catalog,
                      "A file or postgresql://... (default as of strobe serve)");
  if (verb.name == "list") {
    command->add_option("--filter", options.filter, "As in subject=\"user:ada\"");
    command->add_option("--limit", options.limit, "At most so many; 0 for all");
    command->add_option("--format", options.format, "yaml, json, table, csv or value");
  }
  command->callback([&options, &action, noun, name = verb.name] {
    options.noun = noun;
    options.verb = name;
    action = [&options] { return RunAccess(options); };
  });
  return command;
}

CLI::App* AddNoun(CLI::App& app, const std::string& noun, const std::string& help,
                  const std::string& examples) {
  CLI::App* group = app.add_subcommand(noun, help)->group("Access");
  group->require_subcommand(1);
  group->footer("Examples:\n" + examples);
  return group;
}

void AddPeople(CLI::App& app, AccessOptions& options, Action& action) {
  CLI::App* users = AddNoun(app, "users", "People who may sign in.",
                            "  strobe users create ada --display-name \"Ada L.\"\n"
                            "  strobe users disable ada\n");
  AddVerb(*users, "users", {"list", "List them.", false}, options, action);
  CLI::App* create =
      AddVerb(*users, "users", {"create", "Make one; prints a one-time code."}, options, action);
  create->add_option("--display-name", options.display_name, "As shown to others");
  create->add_option("--email", options.email, "Address");
  AddVerb(*users, "users", {"reset", "Print a one-time code for a new password."}, options, action);
  AddVerb(*users, "users", {"disable", "Keep one out."}, options, action);
  AddVerb(*users, "users", {"enable", "Let one in again."}, options, action);
  AddVerb(*users, "users", {"sign-out", "End all sign-ins of one."}, options, action);
  AddVerb(*users, "users", {"delete", "Forget one."}, options, action);

  CLI::App* groups = AddNoun(app, "groups", "Groups of users and service accounts.",
                             "  strobe groups create vision\n"
                             "  strobe groups add vision user:ada\n");
  AddVerb(*groups, "groups", {"list", "List them with members.", false}, options, action);
  AddVerb(*groups, "groups", {"create", "Make one."}, options, action)
      ->add_option("--display-name", options.display_name, "As shown to others");
  for (const Verb& verb : {Verb{"add", "Take one in."}, Verb{"remove", "Take one out."}}) {
    AddVerb(*groups, "groups", verb, options, action)
        ->add_option("SUBJECT", options.subject, "user:NAME or service:NAME")
        ->required();
  }
  AddVerb(*groups, "groups", {"delete", "Forget one."}, options, action);

  CLI::App* roles = AddNoun(app, "roles", "Who may do what in which project.",
                            "  strobe roles grant user:ada editor --project vision\n"
                            "  strobe roles grant group:ops admin --project \"*\"\n");
  AddVerb(*roles, "roles", {"list", "List those of a project.", false}, options, action)
      ->add_option("--project", options.project, "Project; * for those of all")
      ->capture_default_str();
  for (const Verb& verb :
       {Verb{"grant", "Give a role.", false}, Verb{"take", "Take a role away.", false}}) {
    CLI::App* command = AddVerb(*roles, "roles", verb, options, action);
    command->add_option("SUBJECT", options.subject, "user:, group: or service:NAME")->required();
    command->add_option("ROLE", options.role, "viewer, editor, admin or analysis-reader")
        ->required();
    command->add_option("--project", options.project, "Project; * for all")->capture_default_str();
  }
}

void AddMachines(CLI::App& app, AccessOptions& options, Action& action) {
  CLI::App* accounts =
      AddNoun(app, "service-accounts",
              "Accounts of jobs and programs, with key files for Google's clients.",
              "  strobe service-accounts create trainer\n"
              "  strobe service-accounts create-key trainer --url https://strobe.example.com --out "
              "k.json\n");
  const std::string noun = "service-accounts";
  AddVerb(*accounts, noun, {"list", "List them.", false}, options, action);
  AddVerb(*accounts, noun, {"create", "Make one."}, options, action)
      ->add_option("--display-name", options.display_name, "As shown to others");
  AddVerb(*accounts, noun, {"delete", "Forget one with keys and tokens."}, options, action);
  AddVerb(*accounts, noun, {"keys", "List its keys."}, options, action);
  CLI::App* key = AddVerb(*accounts, noun, {"create-key", "Make a key file."}, options, action);
  key->add_option("--url", options.view, "Address of the server, for token_uri")->required();
  key->add_option("--out", options.out, "File to write; default standard output");
  key->add_option("--project", options.project, "project_id of the file")->capture_default_str();
  key->add_option("--days", options.days, "How long it lives; default for ever");
  AddVerb(*accounts, noun, {"revoke-key", "Take a key back."}, options, action)
      ->add_option("KEY", options.subject, "Its id")
      ->required();

  CLI::App* tokens = AddNoun(app, "tokens", "Tokens for programs.",
                             "  strobe tokens create --subject service:ci --rights view\n"
                             "  strobe tokens revoke ID\n");
  AddVerb(*tokens, "tokens", {"list", "List them.", false}, options, action)
      ->add_option("--subject", options.subject, "Whose");
  CLI::App* token =
      AddVerb(*tokens, "tokens", {"create", "Make one; prints it once.", false}, options, action);
  token->add_option("--subject", options.subject, "service:NAME; default oneself");
  token->add_option("--name", options.display_name, "What it is for");
  token->add_option("--rights", options.rights, "Only these, such as view,edit");
  token->add_option("--project", options.project, "Only in this project");
  token->add_option("--days", options.days, "How long it lives (default 90)");
  AddVerb(*tokens, "tokens", {"revoke", "Take one back."}, options, action);
}

void AddLinks(CLI::App& app, AccessOptions& options, Action& action) {
  CLI::App* links = AddNoun(app, "links", "Share links of a server.",
                            "  strobe links create --session ID --server http://127.0.0.1:8080\n"
                            "  strobe links revoke ID --server http://127.0.0.1:8080\n");
  AddVerb(*links, "links", {"list", "List those of a project.", false}, options, action)
      ->add_option("--project", options.project, "Project")
      ->capture_default_str();
  CLI::App* create =
      AddVerb(*links, "links", {"create", "Make one; prints its address.", false}, options, action);
  create->add_option("--session", options.session, "Id of the session that it opens");
  create->add_option("--run", options.run, "Full name of the run that it opens");
  create->add_option("--view", options.view, "The console's address from /s/ on");
  create->add_option("--audience", options.audience, "SIGNED_IN or ANYONE")
      ->check(CLI::IsMember({"SIGNED_IN", "ANYONE"}));
  create->add_option("--days", options.days, "How long it lives (default 30)");
  AddVerb(*links, "links", {"revoke", "Take one back."}, options, action);
}

}  // namespace

void AddServeAccess(CLI::App& serve, ServeOptions& options) {
  serve.add_flag("--access", options.access,
                 "Ask for a sign-in or token; users, roles and tokens are in the catalogue (see "
                 "strobe access create-admin)");
  serve.add_option("--access-contact", options.access_contact,
                   "Whom to ask for a right, shown to those who lack it");
  serve.add_option("--project", options.projects,
                   "NAME=DIR: profiles below DIR belong to project NAME; others to \"default\"");
  CLI::Option* certificate =
      serve.add_option("--tls-cert", options.tls_certificate,
                       "PEM file: certificate and chain; read again on SIGHUP");
  CLI::Option* key = serve.add_option("--tls-key", options.tls_key, "PEM file: its private key");
  certificate->needs(key);
  key->needs(certificate);
  serve.add_option("--oidc-issuer", options.oidc_issuer, "OIDC provider to sign in with");
  serve.add_option("--oidc-client-id", options.oidc_client_id, "This server's id at the provider");
  serve.add_option("--oidc-client-secret-file", options.oidc_client_secret_file,
                   "File with the secret in its first line");
  serve.add_option("--oidc-name", options.oidc_name, "What the sign-in page calls the provider");
  serve.add_option("--public-url", options.public_url,
                   "https://... under which browsers reach this server; for the provider");
  serve.add_option("--trusted-proxy", options.trusted_proxies,
                   "Address or range of a proxy whose X-Forwarded-For and -Proto count");
  serve.add_option("--allow-targets", options.allow_targets,
                   "Range (10.0.0.0/8) or host (*.example.com) that captures may go to; with "
                   "--access private addresses need one");
}

void AddAccessCommands(CLI::App& app, AccessOptions& options, Action& action) {
  CLI::App* access = AddNoun(app, "access", "Begin with access control.",
                             "  strobe access create-admin ada\n"
                             "  strobe serve ~/logs --access --listen 0.0.0.0:8080\n");
  AddVerb(*access, "access",
          {"create-admin", "Make an administrator of the server; prints a one-time code."}, options,
          action);
  AddPeople(app, options, action);
  AddMachines(app, options, action);
  AddLinks(app, options, action);
  CLI::App* audit = AddNoun(app, "audit", "What was done and what was refused.",
                            "  strobe audit list --filter 'outcome=\"DENIED\"' --limit 20\n"
                            "  strobe audit verify\n");
  AddVerb(*audit, "audit", {"list", "List records, newest first.", false}, options, action);
  AddVerb(*audit, "audit", {"verify", "Look whether the chain is whole; 4 when not.", false},
          options, action)
      ->add_option("--head", options.head, "A hash kept elsewhere that must be in the chain");
}

}  // namespace strobe::cli
