// Every route of the table, by every kind of caller, on an object of the caller's own project and
// on one of a foreign one: what the real router answers is held against a second, small model of
// what the rules say. A route that is added is in the matrix by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "src/api/access_for_test.h"

namespace strobe::api {
namespace {

using catalog::RightSet;

// What a caller saw. kHidden: as if the object did not exist.
enum class Seen : uint8_t { kAllowed, kNotSignedIn, kForbidden, kHidden };

std::string Word(Seen seen) {
  switch (seen) {
    case Seen::kAllowed:
      return "allowed";
    case Seen::kNotSignedIn:
      return "401";
    case Seen::kForbidden:
      return "403";
    case Seen::kHidden:
      return "hidden";
  }
  return "";
}

struct Kind {
  std::string name;
  std::vector<Header> headers;
  bool valid = true;  // the credential is one
  bool signed_in = true;
  bool narrowed = false;
  bool csrf = true;  // sends what a page of ours sends
  RightSet everywhere = 0;
  std::map<std::string, RightSet> in;  // by project
  std::set<std::string> link_sessions;
  bool run_link = false;  // of alpha's run1

  RightSet In(const std::string& project) const {
    const auto found = in.find(project);
    return everywhere | (found == in.end() ? 0 : found->second);
  }
  bool AnyLink() const { return run_link || !link_sessions.empty(); }
};

constexpr RightSet kViewer = 1;
constexpr RightSet kEditor = 1 | 2 | 4;
constexpr RightSet kProjectAdmin = kEditor | 16;
constexpr RightSet kAnalyst = 8;

RightSet NeededBit(Need need) {
  switch (need) {
    case Need::kEdit:
      return 2;
    case Need::kCapture:
      return 4;
    case Need::kReadAnalysis:
      return 8;
    case Need::kAdmin:
      return 16;
    default:
      return 1;
  }
}

class AccessMatrixTest : public testing::Test, protected AccessFixture {
 protected:
  AccessMatrixTest() {
    MakeObjects();
    MakeCallers();
  }

  void MakeObjects() {
    for (const std::string project : {"alpha", "beta", "default"}) {
      const std::string viewer =
          project == "default" ? plain_.id : sessions_.at(project + "/one").id;
      Write([&](catalog::Transaction& t) -> Status {
        catalog::Run run;
        run.project = project;
        run.location = "local";
        run.id = "run1";
        run.body = "{}";
        run.state = "ACTIVE";
        STROBE_RETURN_IF_ERROR(t.Insert(run));
        catalog::ProfilerSession session;
        session.project = project;
        session.location = "local";
        session.run = "run1";
        session.id = "s1";
        session.viewer_id = viewer;
        session.hosts = "[]";
        session.body = "{}";
        return t.Insert(session);
      });
      const auto id = operations_->Start(
          "test", 60'000, {}, [](queue::OperationHandle&) { return OkStatus(); }, project);
      operation_[project] = id.value();
    }
  }

  void AddCaller(const std::string& name, const std::string& subject, RightSet everywhere,
                 std::map<std::string, RightSet> in) {
    callers_.push_back({.name = name,
                        .headers = {Bearer(Token({.subject = subject}))},
                        .everywhere = everywhere,
                        .in = std::move(in)});
  }

  void MakeCallers() {
    struct Person {
      std::string name, project, role;
    };
    for (const Person& person :
         {Person{"viewer", "alpha", "viewer"}, Person{"editor", "alpha", "editor"},
          Person{"admin", "alpha", "admin"}, Person{"analyst", "alpha", "analysis-reader"},
          Person{"root", "*", "admin"}, Person{"watcher", "*", "viewer"},
          Person{"stranger", "beta", "admin"}, Person{"plain", "default", "editor"},
          Person{"gone", "alpha", "admin"}}) {
      MakeUser(person.name);
      Bind(person.project, "user:" + person.name, person.role);
    }
    MakeUser("nobody");
    Write([](catalog::Transaction& t) { return t.Insert(catalog::Group{.id = "team"}); });
    Write([](catalog::Transaction& t) { return t.Insert(catalog::ServiceAccount{.id = "bot"}); });
    Bind("alpha", "group:team", "editor");
    Write([](catalog::Transaction& t) { return catalog::AddMember(t, "team", "service:bot"); });

    callers_.push_back({.name = "anonymous", .signed_in = false});
    AddCaller("viewer", "user:viewer", 0, {{"alpha", kViewer}});
    AddCaller("editor", "user:editor", 0, {{"alpha", kEditor}});
    AddCaller("admin", "user:admin", 0, {{"alpha", kProjectAdmin}});
    AddCaller("analyst", "user:analyst", 0, {{"alpha", kAnalyst}});
    AddCaller("server admin", "user:root", kProjectAdmin, {});
    AddCaller("server viewer", "user:watcher", kViewer, {});
    AddCaller("other tenant", "user:stranger", 0, {{"beta", kProjectAdmin}});
    AddCaller("default project", "user:plain", 0, {{"default", kEditor}});
    AddCaller("no role", "user:nobody", 0, {});
    AddCaller("service account in a group", "service:bot", 0, {{"alpha", kEditor}});
    AddCredentials();
    AddLinks();
  }

  void AddCredentials() {
    Kind narrow{.name = "token to view only",
                .headers = {Bearer(Token({.subject = "user:admin", .rights = "view"}))},
                .narrowed = true,
                .in = {{"alpha", kViewer}}};
    callers_.push_back(narrow);
    callers_.push_back({.name = "token for another project",
                        .headers = {Bearer(Token({.subject = "user:admin", .project = "beta"}))},
                        .narrowed = true});
    const std::string basic = "Basic dXNlcjo=";  // "user:" without a token
    callers_.push_back(
        {.name = "basic without a token", .headers = {{"authorization", basic}}, .valid = false});
    const std::string expired = Token({.subject = "user:admin", .lifetime_ns = 1});
    callers_.push_back({.name = "expired", .headers = {Bearer(expired)}, .valid = false});
    const std::string revoked = Token({.subject = "user:admin"});
    Write([&](catalog::Transaction& t) {
      return catalog::RevokeToken(t, catalog::ParseSecretToken("stb", revoked)->id);
    });
    callers_.push_back({.name = "revoked", .headers = {Bearer(revoked)}, .valid = false});
    const std::string disabled = Token({.subject = "user:gone"});
    Write([](catalog::Transaction& t) -> Status {
      STROBE_ASSIGN_OR_RETURN(catalog::User user, t.Get<catalog::User>({"", "", "", "gone"}));
      user.disabled = 1;
      return t.Update(user);
    });
    callers_.push_back({.name = "disabled", .headers = {Bearer(disabled)}, .valid = false});

    for (const bool csrf : {true, false}) {
      const NewSession session = sign_in_->ForUser({.user = "editor"}, nullptr).value();
      Kind cookie{.name = csrf ? "cookie" : "cookie without the page's token",
                  .headers = {{"cookie", "strobe_session=" + session.text}},
                  .csrf = csrf,
                  .in = {{"alpha", kEditor}}};
      if (csrf) {
        Request request = MakeRequest("GET", "/api/v1/me").value();
        request.headers = cookie.headers;
        cookie.headers.push_back({"x-strobe-csrf", access_->Identify(request).value()->csrf_token});
      }
      callers_.push_back(cookie);
    }
  }

  void AddLinks() {
    const std::string own = sessions_.at("alpha/one").id;
    callers_.push_back({.name = "link for anyone",
                        .headers = {{"x-strobe-link", Link({.project = "alpha",
                                                            .kind = "SESSION",
                                                            .target = own,
                                                            .view = "/s/" + own,
                                                            .audience = "ANYONE",
                                                            .created_by = "user:admin"})}},
                        .signed_in = false,
                        .link_sessions = {own}});
    const std::string restricted = Link({.project = "alpha",
                                         .kind = "SESSION",
                                         .target = own,
                                         .view = "/s/" + own,
                                         .audience = "SIGNED_IN",
                                         .created_by = "user:editor"});
    callers_.push_back({.name = "link without a sign-in",
                        .headers = {{"x-strobe-link", restricted}},
                        .signed_in = false});
    callers_.push_back(
        {.name = "link and sign-in",
         .headers = {Bearer(Token({.subject = "user:nobody"})), {"x-strobe-link", restricted}},
         .link_sessions = {own}});
    callers_.push_back(
        {.name = "link to a run",
         .headers = {Bearer(Token({.subject = "user:nobody"})),
                     {"x-strobe-link",
                      Link({.project = "alpha",
                            .kind = "RUN",
                            .target = "projects/alpha/locations/local/machineLearningRuns/run1",
                            .view = "/",
                            .audience = "SIGNED_IN",
                            .created_by = "user:editor"})}},
         .link_sessions = {own},
         .run_link = true});
  }

  // The address of the route for an object of this project.
  std::string TargetOf(const Route& route, const std::string& project) {
    std::string target;
    const std::string_view pattern = route.pattern;
    for (size_t at = 0; at < pattern.size();) {
      if (pattern[at] != '{') {
        target += pattern[at++];
        continue;
      }
      const size_t close = pattern.find('}', at);
      target += ValueOf(route, std::string(pattern.substr(at + 1, close - at - 1)), project);
      at = close + 1;
    }
    if (target == kAnyPath) target = "/";
    std::string query;
    const auto add = [&query](const std::string& name, const std::string& value) {
      query += (query.empty() ? "?" : "&") + name + "=" + value;
    };
    for (const QueryParam& param : route.query) {
      if (param.name == "run") add("run", project + "/run/one");
      if (param.name == "service_addr") add("service_addr", "127.0.0.1:1");
      if (param.name == "sessions") {
        add("sessions",
            sessions_.at(project + "/one").id + "," + sessions_.at(project + "/two").id);
      } else if (param.name == "session_path" && route.operation_id == "xprofGenerateCache") {
        add("session_path", sessions_.at(project + "/one").path);
      } else if (param.name == "project") {
        add("project", project);
      } else if (param.required && param.name != "run") {
        add(param.name, param.type == ParamType::kInteger ? "1" : "x");
      }
    }
    return target + query;
  }

  std::string ValueOf(const Route& route, const std::string& name, const std::string& project) {
    if (name == "project") return project;
    if (name == "location") return "local";
    if (name == "run") return "run1";
    if (name == "token") return "x.y";
    if (name != "id") return "1";
    if (route.pattern.starts_with("/api/v1/uploads/")) return UploadOf(project);
    switch (route.access.object) {
      case Object::kSession:
        return sessions_.at(project + "/one").id;
      case Object::kOperation:
        return operation_.at(project);
      case Object::kProject:
      case Object::kDefaultProject:
        return "run1";
      default:
        return "nothing-of-this-name";  // so that no cell changes what the next one sees
    }
  }

  // An upload of this project; one that was taken away is begun again.
  std::string UploadOf(const std::string& project) {
    std::string& id = upload_[project];
    if (id.empty() || !uploads_.Get(id).ok()) {
      id = uploads_.Create({.name = "h.xplane.pb", .size_bytes = 9, .run = project}).value().id;
    }
    return id;
  }

  std::string BodyOf(const Route& route, const std::string& project) {
    if (route.operation_id == "startCapture") {
      return R"({"targets":["127.0.0.1:1"],"run":")" + project + R"(/captured","root":")" +
             directory_.path() + "\"}";
    }
    if (route.operation_id == "createUpload") {
      return R"({"name":"h.xplane.pb","size_bytes":9,"run":")" + project + "\"}";
    }
    if (route.operation_id == "bindRole") {
      return R"({"project":")" + project + R"(","subject":"user:nosuchuser","role":"viewer"})";
    }
    if (route.operation_id == "writeLogEntries") {
      return R"({"entries":[{"logName":"projects/x/logs/ml_diagnostics_metric","resource":{"labels":{
          "project_id":")" +
             project + R"(","location":"local","namespace":"loss","node_id":"run1"}},
          "jsonPayload":{"values":[1]}}]})";
    }
    if (route.operation_id == "otlpMetrics" || route.operation_id == "otlpLogs") {
      const std::string resource = R"({"resource":{"attributes":[
          {"key":"project_id","value":{"stringValue":")" +
                                   project + R"("}},
          {"key":"host.name","value":{"stringValue":"run1"}}]},)";
      if (route.operation_id == "otlpMetrics") {
        return R"({"resourceMetrics":[)" + resource + R"("scopeMetrics":[{"metrics":[
            {"name":"loss","gauge":{"dataPoints":[{"asDouble":1}]}}]}]}]})";
      }
      return R"({"resourceLogs":[)" + resource + R"("scopeLogs":[{"logRecords":[
          {"attributes":[{"key":"namespace","value":{"stringValue":"mlrun_configs"}}],
           "body":{"stringValue":"{\"a\":1}"}}]}]}]})";
    }
    if (route.operation_id == "createLink") {
      return R"({"session":")" + sessions_.at(project + "/one").id + "\"}";
    }
    return "{}";
  }

  Seen Look(const Response& response) {
    static const std::set<std::string> hidden = {"PROJECT_UNKNOWN", "SESSION_UNKNOWN",
                                                 "OPERATION_UNKNOWN", "UPLOAD_UNKNOWN"};
    // The sign-in answers 401 to whoever comes: it is reached by all.
    if (response.error_name == "SIGN_IN_FAILED") return Seen::kAllowed;
    if (response.status == 401) return Seen::kNotSignedIn;
    if (response.status == 403) return Seen::kForbidden;
    return hidden.contains(response.error_name) ? Seen::kHidden : Seen::kAllowed;
  }

  // ---- the model

  Seen InProject(const Kind& kind, const std::string& project, RightSet bit, bool link_opens) {
    if ((kind.In(project) & bit) != 0 || (bit == kViewer && link_opens)) return Seen::kAllowed;
    if (!kind.signed_in && !kind.AnyLink()) return Seen::kNotSignedIn;
    return kind.In(project) == 0 && !link_opens ? Seen::kHidden : Seen::kForbidden;
  }

  // A right somewhere opens the door; the project of the body decides.
  Seen InBody(const Route& route, const Kind& kind, const std::string& project, RightSet bit) {
    const bool anywhere = (kind.everywhere & bit) != 0 ||
                          std::any_of(kind.in.begin(), kind.in.end(), [bit](const auto& entry) {
                            return (entry.second & bit) != 0;
                          });
    if (!anywhere) return kind.signed_in ? Seen::kForbidden : Seen::kNotSignedIn;
    if (route.operation_id == "unbindRole") return Seen::kAllowed;  // nothing of this name
    const std::string asked = route.operation_id == "xprofCaptureProfile" ? "default" : project;
    if ((kind.In(asked) & bit) != 0) return Seen::kAllowed;
    return kind.In(asked) == 0 ? Seen::kHidden : Seen::kForbidden;
  }

  Seen Expected(const Route& route, const Kind& kind, const std::string& project) {
    const Need need = route.access.need;
    if (need == Need::kPublic) return Seen::kAllowed;
    if (!kind.valid) return Seen::kNotSignedIn;
    Seen seen = Seen::kAllowed;
    const RightSet bit = NeededBit(need);
    if (need == Need::kAnyone) {
      seen = kind.signed_in || kind.AnyLink() ? Seen::kAllowed : Seen::kNotSignedIn;
    } else if (need == Need::kSignedIn) {
      seen = kind.signed_in ? Seen::kAllowed : Seen::kNotSignedIn;
    } else {
      seen = OnObject(route, kind, project, bit);
    }
    const bool changes = route.method != Method::kGet || need >= Need::kEdit;
    // The gate stands before the handler that reads the body.
    const bool let_in = route.access.object == Object::kInBody && seen == Seen::kHidden;
    if (let_in && !kind.csrf && changes) return Seen::kForbidden;
    if (seen != Seen::kAllowed) return seen;
    if (!kind.csrf && changes) return Seen::kForbidden;
    // A token of few rights makes no other tokens.
    if (route.operation_id == "createToken" && kind.narrowed) return Seen::kForbidden;
    return Seen::kAllowed;
  }

  Seen OnObject(const Route& route, const Kind& kind, const std::string& project, RightSet bit) {
    const std::string one = sessions_.at(project + "/one").id;
    const std::string two = sessions_.at(project + "/two").id;
    switch (route.access.object) {
      case Object::kNone:
      case Object::kServer:
        if ((kind.everywhere & bit) != 0) return Seen::kAllowed;
        return kind.signed_in ? Seen::kForbidden : Seen::kNotSignedIn;
      case Object::kSession:
        return InProject(kind, project, bit, kind.link_sessions.contains(one));
      case Object::kSessions: {
        const Seen first = InProject(kind, project, bit, kind.link_sessions.contains(one));
        if (first != Seen::kAllowed) return first;
        return InProject(kind, project, bit, kind.link_sessions.contains(two));
      }
      case Object::kXprofRun:
        return kind.signed_in || kind.AnyLink() ? Seen::kAllowed : Seen::kNotSignedIn;
      case Object::kProject: {
        const bool of_run = route.pattern.find("machineLearningRuns/{") != std::string::npos ||
                            route.pattern.starts_with("/api/v1/runs/");
        const bool opens =
            kind.run_link && of_run && project == "alpha" && route.method == Method::kGet;
        return InProject(kind, project, bit, opens);
      }
      case Object::kDefaultProject:
        return InProject(kind, "default", bit, false);
      case Object::kOperation:
        if (!kind.signed_in) return Seen::kNotSignedIn;
        return InProject(kind, project, bit, false);
      case Object::kInBody:
        return InBody(route, kind, project, bit);
    }
    return Seen::kForbidden;
  }

  std::map<std::string, std::string> operation_;
  std::map<std::string, std::string> upload_;
  std::vector<Kind> callers_;
};

TEST_F(AccessMatrixTest, EveryRouteByEveryCaller) {
  size_t cells = 0;
  size_t wrong = 0;
  for (const Route& route : routes_) {
    for (const Kind& kind : callers_) {
      // It would end what the next cells need; sign_in_test.cc has it.
      if (route.operation_id == "signOut" && kind.name.starts_with("cookie")) continue;
      for (const std::string project : {"alpha", "beta"}) {
        const std::string target = TargetOf(route, project);
        const Response response =
            Send(MethodName(route.method), target, kind.headers, BodyOf(route, project));
        const Seen expected = Expected(route, kind, project);
        const Seen seen = Look(response);
        ++cells;
        if (seen == expected) continue;
        ++wrong;
        ADD_FAILURE() << MethodName(route.method) << " " << target << " by " << kind.name << " ("
                      << project << "): expected " << Word(expected) << ", was " << Word(seen)
                      << " (" << response.status << " " << response.error_name << ")";
        if (wrong > 40) FAIL() << "and more";
      }
    }
  }
  std::printf("access matrix: %zu routes, %zu callers, %zu cells\n", routes_.size(),
              callers_.size(), cells);
  EXPECT_GE(cells, 1500u);
  const Result<catalog::AuditVerdict> verdict = catalog::VerifyAudit(*catalog_);
  EXPECT_TRUE(verdict->whole) << verdict->fault;
  EXPECT_GT(verdict->records, 0);
}

// XProf's routes have no ids: what is not the caller's must answer as what does not exist at all,
// byte for byte, and what is must answer as without access control.
TEST_F(AccessMatrixTest, ForeignRunsOfXprofsRoutesDoNotExist) {
  size_t cells = 0;
  for (const Route& route : routes_) {
    if (route.access.object != Object::kXprofRun || route.method != Method::kGet) continue;
    for (const Kind& kind : callers_) {
      if (!kind.valid || (!kind.signed_in && !kind.AnyLink())) continue;
      for (const std::string project : {"alpha", "beta"}) {
        const std::string run = project + "/run/one";
        const std::string query = "&tag=overview_page&host=host0";
        const std::string there = route.pattern + "?run=" + run + query;
        const std::string nowhere = route.pattern + "?run=zzzzz/run/one" + query;
        const bool may = (kind.In(project) & kViewer) != 0 ||
                         kind.link_sessions.contains(sessions_.at(project + "/one").id);
        const Response seen = Send("GET", there, kind.headers);
        const Response model = Ask(*open_router_, "GET", may ? there : nowhere, {}, "");
        EXPECT_EQ(seen.status, model.status) << there << " by " << kind.name;
        // Some of XProf's texts repeat the name that was asked for.
        std::string text = Body(seen);
        const size_t at = may ? std::string::npos : text.find(run);
        if (at != std::string::npos) text.replace(at, run.size(), "zzzzz/run/one");
        EXPECT_EQ(text, Body(model)) << there << " by " << kind.name;
        ++cells;
      }
    }
  }
  EXPECT_GT(cells, 100u);
}

TEST_F(AccessMatrixTest, ListsShowWhatTheCallerMaySee) {
  for (const Kind& kind : callers_) {
    if (!kind.valid || !kind.signed_in) continue;
    const std::string list = Body(Send("GET", "/api/v1/sessions", kind.headers));
    const std::string runs = Body(Send("GET", "/runs", kind.headers));
    const std::string operations = Body(Send("GET", "/api/v1/operations", kind.headers));
    for (const std::string project : {"alpha", "beta"}) {
      const bool may = (kind.In(project) & kViewer) != 0;
      const auto holds = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
      };
      EXPECT_EQ(holds(list, "\"" + sessions_.at(project + "/one").id + "\""), may) << kind.name;
      EXPECT_EQ(holds(runs, project + "/run/one"), may) << kind.name;
      EXPECT_EQ(holds(operations, operation_.at(project)), may) << kind.name;
    }
  }
}

// The answer to a foreign session and to none at all are the same but for the id.
TEST_F(AccessMatrixTest, ForeignSessionsAndNoneLookTheSame) {
  const Kind* viewer = nullptr;
  for (const Kind& kind : callers_) {
    if (kind.name == "viewer") viewer = &kind;
  }
  ASSERT_NE(viewer, nullptr);
  const std::string foreign = sessions_.at("beta/one").id;
  for (const Route& route : routes_) {
    if (route.access.object != Object::kSession) continue;
    std::string target = TargetOf(route, "beta");
    const Response there = Send(MethodName(route.method), target, viewer->headers);
    const size_t at = target.find("/" + foreign);
    target.replace(at + 1, foreign.size(), "zzz");
    const Response none = Send(MethodName(route.method), target, viewer->headers);
    std::string text = Body(there);
    const size_t in_text = text.find(foreign);
    ASSERT_NE(in_text, std::string::npos) << target;
    text.replace(in_text, foreign.size(), "zzz");
    EXPECT_EQ(text, Body(none)) << target;
    EXPECT_EQ(there.status, none.status);
  }
}

}  // namespace
}  // namespace strobe::api
