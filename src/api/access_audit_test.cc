// Every route that changes the catalogue writes the change and its audit record together: when the
// record cannot be written nothing is changed, and else there is exactly one that tells it as it
// was.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "src/api/access_for_test.h"

namespace strobe::api {
namespace {

using nlohmann::json;

constexpr char kPassword[] = "correct horse battery";
constexpr char kRun[] = "/v1alpha/projects/alpha/locations/local/machineLearningRuns";

// Recorded after they were done, because what they change are files and what runs, not the
// catalogue.
const std::set<std::string>& OfFiles() {
  static const std::set<std::string> ids = {
      "startCapture", "cancelOperation",    "createUpload",       "finishUpload",
      "removeUpload", "xprofGenerateCache", "xprofCaptureProfile"};
  return ids;
}

class AccessAuditTest : public testing::Test, protected AccessFixture {
 protected:
  AccessAuditTest() {
    MakeUser("root");
    Bind("*", "user:root", "admin");
    root_ = {Bearer(Token({.subject = "user:root"}))};
    EXPECT_EQ(Send("GET", "/api/v1/me", root_).status, 200);  // notes the token's use
    EXPECT_TRUE(access_->LinkKey().ok());
  }

  std::string Dump() {
    std::string text;
    Write([&](catalog::Transaction& transaction) -> Status {
      text.clear();
      STROBE_ASSIGN_OR_RETURN(
          const catalog::SqlRows tables,
          transaction.sql().Run("SELECT name FROM sqlite_master WHERE type = 'table'", {}));
      for (const auto& table : tables.rows) {
        const std::string& name = std::get<std::string>(table.at(0));
        text += "== " + name + "\n";
        STROBE_ASSIGN_OR_RETURN(
            const catalog::SqlRows rows,
            transaction.sql().Run("SELECT * FROM " + name + " ORDER BY rowid", {}));
        for (const auto& row : rows.rows) {
          for (const catalog::SqlValue& value : row) {
            const auto* number = std::get_if<int64_t>(&value);
            text += (number ? std::to_string(*number) : std::get<std::string>(value)) + "|";
          }
          text += "\n";
        }
      }
      return OkStatus();
    });
    return text;
  }
  void SetHead(const std::string& value) {
    Write([&](catalog::Transaction& t) -> Status {
      STROBE_ASSIGN_OR_RETURN(const auto head, t.Find<catalog::AccessSetting>(kHead));
      if (value.empty()) return head ? t.Delete<catalog::AccessSetting>(kHead) : OkStatus();
      const catalog::AccessSetting next{kHead.id, value};
      return head ? t.Update(next) : t.Insert(next);
    });
  }
  std::string Head() {
    std::string value;
    Write([&](catalog::Transaction& t) -> Status {
      STROBE_ASSIGN_OR_RETURN(const auto head, t.Find<catalog::AccessSetting>(kHead));
      value = head ? head->value : "";
      return OkStatus();
    });
    return value;
  }
  catalog::AuditRecord LastRecord() {
    std::vector<catalog::AuditRecord> found;
    Write([&](catalog::Transaction& t) -> Status {
      STROBE_ASSIGN_OR_RETURN(found,
                              t.Select<catalog::AuditRecord>("1 = 1 ORDER BY id DESC", {}, 1));
      return OkStatus();
    });
    return found.empty() ? catalog::AuditRecord() : found.front();
  }

  // First with a chain that cannot be written, then as it should be; the answer's body.
  json Change(std::string_view method, const std::string& target, const json& body,
              const std::vector<Header>& by, const std::string& detail = "") {
    const std::string text = body.is_null() ? "" : body.dump();
    const std::string head = Head();
    SetHead("spoiled");
    const std::string before = Dump();
    const Response refused = Send(method, target, by, text);
    EXPECT_EQ(refused.error_name, "AUDIT_DAMAGED")
        << method << " " << target << " " << refused.status << " " << Body(refused);
    EXPECT_EQ(Dump(), before) << target << " changed something without a record";
    SetHead(head);
    const int64_t records = catalog::VerifyAudit(*catalog_)->records;
    const Response done = Send(method, target, by, text);
    EXPECT_LT(done.status, 400) << method << " " << target << " " << Body(done);
    const Result<catalog::AuditVerdict> verdict = catalog::VerifyAudit(*catalog_);
    EXPECT_TRUE(verdict->whole) << verdict->fault;
    EXPECT_EQ(verdict->records - records, 1) << target;
    const catalog::AuditRecord record = LastRecord();
    EXPECT_EQ(record.outcome, "DONE") << target;
    EXPECT_EQ(record.http_status, done.status) << target;
    EXPECT_EQ(record.request_id, "r-1") << target;
    EXPECT_EQ(record.peer, "192.0.2.1") << target;
    if (!detail.empty()) EXPECT_NE(record.detail.find(detail), std::string::npos) << record.detail;
    seen_.insert(record.action);
    const std::string answer = Body(done);
    return json::parse(answer, nullptr, /*allow_exceptions=*/false);
  }
  json Change(std::string_view method, const std::string& target, const json& body = {}) {
    return Change(method, target, body, root_);
  }

  const catalog::Key kHead{"", "", "", "audit-head"};
  std::vector<Header> root_;
  std::set<std::string> seen_;  // actions
};

TEST_F(AccessAuditTest, NoRouteChangesTheCatalogueWithoutItsRecord) {
  const std::string access = "/api/v1/access/";
  Change("POST", access + "users", {{"name", "New"}}, root_, "new");
  for (const char* what : {"disable", "enable", "signOut"}) {
    Change("POST", access + "users/new:" + what, json::object());
  }
  const json code = Change("POST", access + "users/new:reset", json::object());
  Change("POST", access + "groups", {{"name", "g"}}, root_, "g");
  Change("POST", access + "groups/g/members", {{"subject", "user:new"}}, root_, "user:new");
  Change("DELETE", access + "groups/g/members/user:new");
  Change("POST", access + "roles",
         {{"project", "alpha"}, {"subject", "user:new"}, {"role", "editor"}}, root_, "editor");
  EXPECT_EQ(LastRecord().project, "alpha");
  Change("POST", access + "service-accounts", {{"name", "bot"}}, root_, "bot");
  const json key = Change("POST", access + "service-accounts/bot/keys", {{"server", "http://x"}});
  Change("DELETE", access + "service-accounts/bot/keys/" + key.value("private_key_id", ""));
  const json token = Change("POST", access + "tokens", {{"subject", "service:bot"}}, root_, "bot");
  Change("DELETE", access + "tokens/" + token.value("id", ""));
  const json link = Change("POST", "/api/v1/links", {{"session", sessions_.at("alpha/one").id}},
                           root_, "SESSION");
  EXPECT_EQ(LastRecord().project, "alpha");
  Change("DELETE", "/api/v1/links/" + link.value("id", ""));

  // Signing in, changing the password, signing out.
  Change("POST", "/api/v1/sign-in",
         {{"user", "new"}, {"code", code["one_time_code"]}, {"new_password", kPassword}}, {});
  EXPECT_EQ(LastRecord().object, "user:new");
  Change("POST", "/api/v1/sign-in", {{"user", "new"}, {"password", kPassword}}, {});
  const auto browser = [&] {
    const Response in =
        Send("POST", "/api/v1/sign-in", {}, json{{"user", "new"}, {"password", kPassword}}.dump());
    std::string cookie;
    for (const auto& [name, value] : in.headers) {
      if (name == "Set-Cookie") cookie = value.substr(0, value.find(';'));
    }
    std::vector<Header> headers = {{"cookie", cookie}};
    const json me = json::parse(Body(Send("GET", "/api/v1/me", headers)));
    headers.push_back({"x-strobe-csrf", me.value("csrf_token", "")});
    return headers;
  };
  Change("POST", "/api/v1/sign-out", json::object(), browser());
  Change("POST", "/api/v1/me/password",
         {{"password", kPassword}, {"new_password", "another horse battery"}}, browser());

  Change("DELETE", access + "roles/alpha%7Cuser:new%7Ceditor");
  Change("DELETE", access + "groups/g");
  Change("DELETE", access + "service-accounts/bot");
  Change("DELETE", access + "users/new");

  // Runs and what is below them, in both dialects.
  const json made = Change("POST", std::string(kRun) + "?machineLearningRunId=r1",
                           {{"displayName", "one"}, {"artifacts", {{"gcsPath", "/nowhere"}}}});
  const std::string run = std::string(kRun) + "/r1";
  EXPECT_EQ(LastRecord().project, "alpha");
  Change("PATCH", run + "?updateMask=displayName", {{"displayName", "two"}});
  Change("POST", run + "/profilerTargets?profilerTargetId=t1",
         {{"hostname", "h"}, {"nodeIndex", 0}});
  Change("POST", run + "/profilerSessions?profilerSessionId=s1",
         {{"kind", "KIND_PROGRAMMATIC"}, {"profilerTargets", {"t1"}}});
  Change("PATCH", run + "/profilerSessions/s1?updateMask=*",
         {{"kind", "KIND_PROGRAMMATIC"}, {"profilerTargets", {"t1"}}});
  Change("POST", run + "/monitoredEvents?monitoredEventId=e1",
         {{"type", "PERFORMANCE_DEGRADATION"}, {"startTime", "2026-01-01T00:00:00Z"}});
  Change("PATCH", run + "/monitoredEvents/e1?updateMask=displayName", {{"displayName", "x"}});
  Change("DELETE", run + "/monitoredEvents/e1");
  Change("DELETE", run + "/profilerSessions/s1");
  Change("DELETE", run + "/profilerTargets/t1");
  Change("DELETE", run + "?force=true");
  const std::string operation = "/v1alpha/" + made.value("name", "");
  Change("POST", operation + ":cancel", json::object());
  Change("DELETE", operation);
  Change("PATCH", "/v1/machineLearningRuns?allowMissing=true",
         {{"logicalId", "job"}, {"displayName", "job"}});
  Change("PATCH", "/v1/machineLearningRuns/job", {{"workload", {{"state", "STATE_SUCCEEDED"}}}});

  // A new route is either above or among those of files.
  size_t routes = 0;
  for (const Route& route : routes_) {
    if (route.access.audit != Audit::kAlways) continue;
    ++routes;
    EXPECT_TRUE(seen_.contains(route.operation_id) != OfFiles().contains(route.operation_id))
        << route.operation_id;
  }
  EXPECT_TRUE(seen_.contains("signIn") && seen_.contains("signInByCode"));
  std::printf("audit: %zu audited routes, %zu kinds of change each refused without its record\n",
              routes, seen_.size());
}

// What was refused before anything was written has its record all the same.
TEST_F(AccessAuditTest, FailuresAndDenialsAreRecordedAsWhatTheyAre) {
  Send("POST", "/api/v1/access/users", root_, R"({"name":"root"})");
  EXPECT_EQ(LastRecord().outcome, "FAILED");
  EXPECT_EQ(LastRecord().detail, "USER_EXISTS");
  MakeUser("bob");
  Bind("beta", "user:bob", "viewer");
  Send("DELETE", std::string(kRun) + "/r1", {Bearer(Token({.subject = "user:bob"}))});
  EXPECT_EQ(LastRecord().outcome, "DENIED");
  EXPECT_EQ(LastRecord().actor, "user:bob");
}

}  // namespace
}  // namespace strobe::api
