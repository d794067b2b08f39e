// Signing in, share links, tokens and keys through the router, as browsers and programs use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "src/api/access_for_test.h"
#include "src/api/access_pages.h"
#include "src/api/finish.h"
#include "src/api/guard.h"
#include "src/api/jwt.h"
#include "src/api/service_key.h"

namespace strobe::api {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr char kPassword[] = "correct horse battery";

class AccessApiTest : public testing::Test, protected AccessFixture {
 protected:
  AccessApiTest() {
    MakeUser("ada");
    Bind("alpha", "user:ada", "admin");
    MakeUser("bob");
  }
  std::string Code(const std::string& user) {
    return Token({.kind = "ONE_TIME", .subject = "user:" + user});
  }
  static std::string HeaderOf(const Response& response, std::string_view wanted) {
    for (const auto& [name, value] : response.headers) {
      if (name == wanted) return value;
    }
    return "";
  }
  static std::string SetCookie(const Response& response) {
    return HeaderOf(response, "Set-Cookie");
  }
  static std::string CookieOf(const Response& response) {
    const std::string whole = SetCookie(response);
    return whole.substr(0, whole.find(';'));
  }
  Response SignInWith(const json& body, std::vector<Header> headers = {}) {
    return Send("POST", "/api/v1/sign-in", headers, body.dump());
  }
  // A browser that is signed in: its cookie, and the token of its pages.
  std::vector<Header> Browser(const std::string& user) {
    const Response in =
        SignInWith({{"user", user}, {"code", Code(user)}, {"new_password", kPassword}});
    EXPECT_EQ(in.status, 200) << Body(in);
    std::vector<Header> headers = {{"cookie", CookieOf(in)}};
    const json me = json::parse(Body(Send("GET", "/api/v1/me", headers)));
    headers.push_back({"x-strobe-csrf", me["csrf_token"].get<std::string>()});
    return headers;
  }
  std::string MakeLink(const std::vector<Header>& by, const json& body) {
    const Response made = Send("POST", "/api/v1/links", by, body.dump());
    EXPECT_EQ(made.status, 201) << Body(made);
    return json::parse(Body(made)).value("path", "");
  }
};

TEST_F(AccessApiTest, OneTimeCodeSetsThePasswordOnce) {
  const std::string code = Code("ada");
  const json body = {{"user", "Ada"}, {"code", code}, {"new_password", kPassword}};
  const Response in = SignInWith(body);
  ASSERT_EQ(in.status, 200) << Body(in);
  EXPECT_THAT(SetCookie(in), HasSubstr("; HttpOnly; SameSite=Lax"));
  EXPECT_EQ(Send("GET", "/api/v1/sessions", {{"cookie", CookieOf(in)}}).status, 200);
  EXPECT_EQ(SignInWith(body).error_name, "SIGN_IN_FAILED") << "the code is used up";
  EXPECT_EQ(SignInWith({{"user", "ada"}, {"password", kPassword}}).status, 200);
  EXPECT_EQ(SignInWith({{"user", "ada"}, {"password", "wrong wrong wrong"}}).status, 401);
  // A code is no token.
  EXPECT_EQ(Send("GET", "/api/v1/sessions", {Bearer(Code("ada"))}).status, 401);
}

TEST_F(AccessApiTest, CookiesOfTlsBindTheHost) {
  Request request = MakeRequest("POST", "/api/v1/sign-in").value();
  request.secure = true;
  request.body = json{{"user", "ada"}, {"code", Code("ada")}, {"new_password", kPassword}}.dump();
  const Response in = router_->Run(router_->Find(request), request);
  EXPECT_THAT(SetCookie(in), HasSubstr("__Host-strobe_session=sts_"));
  EXPECT_THAT(SetCookie(in), HasSubstr("; Secure"));
  EXPECT_THAT(SetCookie(in), HasSubstr("; Path=/"));
  EXPECT_THAT(SetCookie(in), Not(HasSubstr("Domain")));
}

TEST_F(AccessApiTest, EverySignInMakesANewSessionAndEndsTheOld) {
  const std::vector<Header> first = Browser("ada");
  const Response second = SignInWith({{"user", "ada"}, {"password", kPassword}}, {first[0]});
  EXPECT_NE(CookieOf(second), first[0].value);
  EXPECT_EQ(Send("GET", "/api/v1/me", {first[0]}).status, 401);
  EXPECT_EQ(Send("GET", "/api/v1/me", {{"cookie", CookieOf(second)}}).status, 200);
}

TEST_F(AccessApiTest, PeopleAreTakenToTheSignInAndProgramsAreRefused) {
  const Response page = Send("GET", "/runs?q=a%20b&x=1", {{"accept", "text/html,*/*;q=0.8"}});
  EXPECT_EQ(page.status, 303);
  EXPECT_EQ(HeaderOf(page, "Location"), "/sign-in?return=/runs%3Fq%3Da%2520b%26x%3D1");
  EXPECT_EQ(Send("GET", "/runs", {{"accept", "application/json"}}).status, 401);
  EXPECT_EQ(Send("GET", "/runs", {}).status, 401);
  EXPECT_EQ(Send("POST", "/api/v1/links", {{"accept", "text/html"}}, "{}").status, 401);
}

TEST_F(AccessApiTest, GuessingLocksTheNameWhetherItExistsOrNot) {
  for (const std::string user : {"ada", "no-such-user"}) {
    for (int i = 0; i < kFreeFailures; ++i) {
      EXPECT_EQ(SignInWith({{"user", user}, {"password", "wrong wrong wrong"}}).error_name,
                "SIGN_IN_FAILED");
    }
    const Response locked = SignInWith({{"user", user}, {"password", "wrong wrong wrong"}});
    EXPECT_EQ(locked.error_name, "SIGN_IN_LOCKED");
    EXPECT_EQ(locked.status, 429);
  }
  // The right one is of no use meanwhile.
  EXPECT_EQ(
      SignInWith({{"user", "ada"}, {"code", Code("ada")}, {"new_password", kPassword}}).error_name,
      "SIGN_IN_LOCKED");
}

TEST_F(AccessApiTest, OneAddressMayTrySoOftenOnly) {
  std::string last;
  for (int i = 0; i <= kMaxTriesAMinute; ++i) {
    last = SignInWith(
               {{"user", "u" + std::to_string(i)}, {"code", "stb_x"}, {"new_password", kPassword}})
               .error_name;
  }
  EXPECT_EQ(last, "SIGN_IN_TOO_OFTEN");
}

TEST_F(AccessApiTest, ChangesByCookieNeedTheTokenOfOurPage) {
  const std::vector<Header> browser = Browser("ada");
  const std::string link = json{{"session", sessions_.at("alpha/one").id}}.dump();
  EXPECT_EQ(Send("POST", "/api/v1/links", {browser[0]}, link).error_name, "CSRF_TOKEN_MISSING");
  EXPECT_EQ(Send("POST", "/api/v1/links", browser, link).status, 201);
  std::vector<Header> foreign = browser;
  foreign.push_back({"origin", "https://evil.example"});
  EXPECT_EQ(Send("POST", "/api/v1/links", foreign, link).error_name, "ORIGIN_NOT_ALLOWED");
  // A foreign page cannot sign anybody in either.
  EXPECT_EQ(
      SignInWith({{"user", "ada"}, {"password", kPassword}}, {{"origin", "https://evil.example"}})
          .error_name,
      "ORIGIN_NOT_ALLOWED");
  // XProf's captures by GET: from our own pages only.
  const std::string capture = "/capture_profile?service_addr=127.0.0.1:1";
  EXPECT_EQ(Send("GET", capture, {browser[0]}).error_name, "CSRF_TOKEN_MISSING");
  EXPECT_EQ(Send("GET", capture, {browser[0], {"sec-fetch-site", "cross-site"}}).error_name,
            "ORIGIN_NOT_ALLOWED");
}

TEST_F(AccessApiTest, SigningOutEndsTheSession) {
  const std::vector<Header> browser = Browser("ada");
  const Response out = Send("POST", "/api/v1/sign-out", browser, "{}");
  EXPECT_EQ(out.status, 200);
  EXPECT_THAT(SetCookie(out), HasSubstr("Max-Age=0"));
  EXPECT_EQ(Send("GET", "/api/v1/me", browser).status, 401);
}

TEST_F(AccessApiTest, SignInsEndByThemselves) {
  const std::vector<Header> browser = Browser("ada");
  Write([](catalog::Transaction& t) {
    return t.sql().Run("UPDATE sign_in_sessions SET last_used_unix_ns = 1", {}).status();
  });
  Write([](catalog::Transaction& t) { return catalog::MoveAccessVersion(t); });
  EXPECT_EQ(Send("GET", "/api/v1/me", browser).status, 401) << "idle";
}

TEST_F(AccessApiTest, ARoleTakenAwayCountsAtOnce) {
  const std::vector<Header> by = {Bearer(Token({.subject = "user:ada"}))};
  const std::string session = "/api/v1/sessions/" + sessions_.at("alpha/one").id;
  EXPECT_EQ(Send("GET", session, by).status, 200);
  Write([](catalog::Transaction& t) { return catalog::UnbindRole(t, "alpha|user:ada|admin"); });
  EXPECT_EQ(Send("GET", session, by).error_name, "SESSION_UNKNOWN");
}

// ---- share links

TEST_F(AccessApiTest, ALinkOpensItsSessionAndNothingBesideIt) {
  const std::vector<Header> ada = {Bearer(Token({.subject = "user:ada"}))};
  const std::string own = sessions_.at("alpha/one").id;
  const std::string view = "/s/" + own + "/timeline?t=1,2";
  const std::string path =
      MakeLink(ada, {{"session", own}, {"view", view}, {"audience", "ANYONE"}});
  const Response opened = Send("GET", path, {});
  ASSERT_EQ(opened.status, 303) << Body(opened);
  EXPECT_EQ(opened.headers[0].second, view);
  const std::vector<Header> holder = {{"cookie", CookieOf(opened)}};
  const std::string session = "/api/v1/sessions/" + own;
  EXPECT_EQ(Send("GET", session, holder).status, 200);
  EXPECT_EQ(Send("GET", session + "/tools", holder).status, 200) << "another tool of the session";
  EXPECT_EQ(Send("GET", "/api/v1/sessions", holder).status, 401) << "the list";
  EXPECT_EQ(Send("GET", "/api/v1/sessions/" + sessions_.at("alpha/two").id, holder).error_name,
            "SESSION_UNKNOWN")
      << "a sibling";
  EXPECT_EQ(Send("POST", "/api/v1/captures", holder, "{}").status, 401);
  EXPECT_EQ(Send("GET", "/api/v1/access/users", holder).status, 401);
  const json config = json::parse(Body(Send("GET", "/api/v1/config", holder)));
  EXPECT_TRUE(config["roots"].empty()) << "folders of the machine";
}

TEST_F(AccessApiTest, ALinkEditedByOneByteOpensNothing) {
  const std::vector<Header> ada = {Bearer(Token({.subject = "user:ada"}))};
  const std::string own = sessions_.at("alpha/one").id;
  const std::string path = MakeLink(ada, {{"session", own}, {"audience", "ANYONE"}});
  ASSERT_EQ(Send("GET", path, {}).status, 303);
  for (size_t i = 3; i < path.size(); ++i) {
    std::string edited = path;
    edited[i] = edited[i] == 'A' ? 'B' : 'A';
    const Response refused = Send("GET", edited, {});
    EXPECT_EQ(refused.status, 404) << edited;
    EXPECT_EQ(Send("GET", "/api/v1/sessions/" + own, {{"x-strobe-link", edited.substr(3)}}).status,
              401);
  }
  // Nor does a record that was changed behind our back.
  Write([](catalog::Transaction& t) {
    return t.sql().Run("UPDATE share_links SET target = 'id1', view = '/s/id1'", {}).status();
  });
  Write([](catalog::Transaction& t) { return catalog::MoveAccessVersion(t); });
  EXPECT_EQ(Send("GET", path, {}).status, 404);
}

TEST_F(AccessApiTest, LinksExpireAndAreTakenBackAndSayWhomToAsk) {
  const std::vector<Header> ada = {Bearer(Token({.subject = "user:ada"}))};
  const std::string own = sessions_.at("alpha/one").id;
  const std::string expired = Link({.project = "alpha",
                                    .kind = "SESSION",
                                    .target = own,
                                    .view = "/s/" + own,
                                    .audience = "ANYONE",
                                    .expire_unix_ns = 1,
                                    .created_by = "user:ada"});
  const Response over = Send("GET", "/l/" + expired, {});
  EXPECT_EQ(over.status, 403);
  EXPECT_THAT(Body(over), HasSubstr("time is over"));
  EXPECT_THAT(Body(over), HasSubstr("Ask ada"));

  const std::string path = MakeLink(ada, {{"session", own}, {"audience", "ANYONE"}});
  const std::string token = path.substr(3);
  EXPECT_EQ(Send("GET", "/api/v1/sessions/" + own, {{"x-strobe-link", token}}).status, 200);
  EXPECT_EQ(Send("DELETE", "/api/v1/links/" + ShareLinkId(token), ada).status, 200);
  const Response revoked = Send("GET", path, {});
  EXPECT_EQ(revoked.status, 403);
  EXPECT_THAT(Body(revoked), HasSubstr("taken back"));
  EXPECT_EQ(Send("GET", "/api/v1/sessions/" + own, {{"x-strobe-link", token}}).status, 401);
}

TEST_F(AccessApiTest, ALinkEndsWithTheRightOfWhoMadeIt) {
  const std::vector<Header> ada = {Bearer(Token({.subject = "user:ada"}))};
  const std::string own = sessions_.at("alpha/one").id;
  const std::string path = MakeLink(ada, {{"session", own}, {"audience", "ANYONE"}});
  EXPECT_EQ(Send("GET", path, {}).status, 303);
  Write([](catalog::Transaction& t) { return catalog::UnbindRole(t, "alpha|user:ada|admin"); });
  EXPECT_EQ(Send("GET", path, {}).status, 403);
}

TEST_F(AccessApiTest, LinksAreForThoseWhoAreSignedInUnlessSaidOtherwise) {
  const std::vector<Header> ada = {Bearer(Token({.subject = "user:ada"}))};
  const std::vector<Header> bob = {Bearer(Token({.subject = "user:bob"}))};
  const std::string own = sessions_.at("alpha/one").id;
  const std::string path = MakeLink(ada, {{"session", own}});
  const Response asked = Send("GET", path, {});
  EXPECT_EQ(asked.status, 303);
  EXPECT_EQ(asked.headers[0].second, "/sign-in?return=/s/" + own);
  EXPECT_EQ(Send("GET", "/api/v1/sessions/" + own, {{"cookie", CookieOf(asked)}}).status, 401);
  EXPECT_EQ(Send("GET", "/api/v1/sessions/" + own, bob).status, 404);
  EXPECT_EQ(Send("GET", "/api/v1/sessions/" + own, {bob[0], {"cookie", CookieOf(asked)}}).status,
            200);
}

TEST_F(AccessApiTest, LinksAreMadeByThoseWhoMayShare) {
  Bind("alpha", "user:bob", "editor");
  const std::vector<Header> bob = {Bearer(Token({.subject = "user:bob"}))};
  const auto make = [&](const json& body) {
    return Send("POST", "/api/v1/links", bob, body.dump()).error_name;
  };
  const std::string own = sessions_.at("alpha/one").id;
  EXPECT_EQ(make({{"session", own}, {"audience", "ANYONE"}}), "RIGHT_MISSING");
  EXPECT_EQ(make({{"session", sessions_.at("beta/one").id}}), "SESSION_UNKNOWN");
  EXPECT_EQ(make({{"session", own}, {"view", "https://evil.example/"}}), "LINK_VIEW");
  EXPECT_EQ(make({{"session", own}, {"view", "//evil.example/"}}), "LINK_VIEW");
  EXPECT_EQ(make({{"session", own}, {"view", "/s/" + own + "x"}}), "LINK_VIEW");
  EXPECT_EQ(
      make({{"run", "projects/alpha/locations/l/machineLearningRuns/r"}, {"audience", "ANYONE"}}),
      "RUN_NOT_FOUND");
  EXPECT_EQ(make(json::object()), "LINK_TARGET");
}

TEST_F(AccessApiTest, LinksToRunsLeadToThePageOfTheRun) {
  Write([](catalog::Transaction& t) {
    catalog::Run run;
    run.project = "alpha";
    run.location = "local";
    run.id = "r1";
    run.body = "{}";
    run.state = "ACTIVE";
    return t.Insert(run);
  });
  const std::vector<Header> ada = {Bearer(Token({.subject = "user:ada"}))};
  const std::string run = "projects/alpha/locations/local/machineLearningRuns/r1";
  const std::string page = "/runs/alpha/local/r1";
  const auto leads_to = [&](const json& body) {
    return Send("GET", MakeLink(ada, body), ada).headers[0].second;
  };
  EXPECT_EQ(leads_to({{"run", run}}), page);
  EXPECT_EQ(leads_to({{"run", run}, {"view", page + "?tab=metrics"}}), page + "?tab=metrics");
  for (const char* view : {"/runs/alpha/local/r2", "/runs/alpha/local/r11", "/s/x", "//evil/"}) {
    const Response refused =
        Send("POST", "/api/v1/links", ada, json({{"run", run}, {"view", view}}).dump());
    EXPECT_EQ(refused.error_name, "LINK_VIEW") << view;
  }
}

TEST_F(AccessApiTest, SessionsSayWhoseTheyAre) {
  const std::vector<Header> ada = {Bearer(Token({.subject = "user:ada"}))};
  const std::string address = "/api/v1/sessions/" + sessions_.at("alpha/one").id;
  EXPECT_EQ(json::parse(Body(Send("GET", address, ada))).value("project", ""), "alpha");
  const json list = json::parse(Body(Send("GET", "/api/v1/sessions", ada)));
  ASSERT_FALSE(list["sessions"].empty());
  EXPECT_EQ(list["sessions"][0].value("project", ""), "alpha");
}

TEST_F(AccessApiTest, PeopleGetAPageThatSaysWhomToAsk) {
  const Response refused =
      Send("GET", "/api/v1/access/users",
           {{"accept", "text/html,*/*;q=0.8"}, Bearer(Token({.subject = "user:bob"}))});
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(Body(refused), HasSubstr("<h1>You may not open this</h1>"));
  EXPECT_THAT(Body(refused), HasSubstr("ops@example.com"));
}

TEST_F(AccessApiTest, RefusalsNameTheAdministrators) {
  Bind("alpha", "user:bob", "viewer");
  const Response refused =
      Send("POST", "/api/v1/captures", {Bearer(Token({.subject = "user:bob"}))}, "{}");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(Body(refused), HasSubstr("ops@example.com"));
  const Response edit = Send("POST", "/v1alpha/projects/alpha/locations/l/machineLearningRuns",
                             {Bearer(Token({.subject = "user:bob"}))}, "{}");
  EXPECT_EQ(edit.status, 403);
  EXPECT_THAT(Body(edit), HasSubstr("(ada)"));
}

TEST_F(AccessApiTest, PagesShowTextAsText) {
  EXPECT_THAT(Body(RefusalPage(403, "<script>", "a&b", "\"'")), Not(HasSubstr("<script>\n")));
  EXPECT_THAT(Body(RefusalPage(403, "<script>alert(1)</script>", "", "")),
              HasSubstr("&lt;script&gt;"));
  EXPECT_EQ(Send("GET", "/sign-in", {}).status, 200);
  EXPECT_THAT(Body(Send("GET", "/sign-in", {})), Not(HasSubstr("style=")));
  EXPECT_EQ(Send("GET", "/sign-in/page.js", {}).content_type, "text/javascript; charset=utf-8");
}

// ---- what must not be logged

TEST(RedactTest, SecretsLeaveTheAddress) {
  EXPECT_EQ(RedactTarget("/l/abc.def?x=1"), "/l/-?x=1");
  EXPECT_EQ(RedactTarget("/sign-in/callback?code=secret&state=secret&x=y"),
            "/sign-in/callback?code=-&state=-&x=y");
  EXPECT_EQ(RedactTarget("/x?ACCESS_TOKEN=secret"), "/x?ACCESS_TOKEN=-");
  EXPECT_EQ(RedactTarget("/x?%74oken=secret"), "/x?%74oken=-");
  EXPECT_EQ(RedactTarget("/api/v1/sessions?q=llama"), "/api/v1/sessions?q=llama");
}

TEST(RedactTest, OnlyOurOwnPathsAreLedTo) {
  for (const char* bad : {"", "//evil.example", "https://evil.example", "/\\evil.example",
                          "javascript:alert(1)", "/a b", "/a\nb", "/a\"b", "/\xC3\xA4"}) {
    EXPECT_FALSE(IsLocalPath(bad)) << bad;
  }
  EXPECT_TRUE(IsLocalPath("/s/abc?t=1#x"));
}

// ---- key files and tokens

TEST_F(AccessApiTest, KeyFilesGetTokensAndSignForThemselves) {
  MakeUser("root");
  Bind("*", "user:root", "admin");
  const std::vector<Header> root = {Bearer(Token({.subject = "user:root"}))};
  const auto post = [&](const std::string& target, const json& body) {
    return Send("POST", "/api/v1/access/" + target, root, body.dump());
  };
  ASSERT_EQ(post("service-accounts", {{"name", "trainer"}}).status, 200);
  ASSERT_EQ(
      post("roles", {{"project", "alpha"}, {"subject", "service:trainer"}, {"role", "viewer"}})
          .status,
      200);
  const Response made = post("service-accounts/trainer/keys", {{"server", "https://s.example/"}});
  ASSERT_EQ(made.status, 201) << Body(made);
  const json file = json::parse(Body(made));
  EXPECT_EQ(file["type"], "service_account");
  EXPECT_EQ(file["token_uri"], "https://s.example/token");

  access_->set_verify_jwt(
      [this](std::string_view jwt) { return VerifyServiceJwt(*catalog_, SystemClock(), jwt); });
  const int64_t now = SystemClock().NowUnixNanos() / 1'000'000'000;
  const auto assertion = [&](int64_t issued, int64_t expires, const std::string& issuer) {
    return SignJwt(json{{"alg", "RS256"}, {"kid", file["private_key_id"]}}.dump(),
                   json{{"iss", issuer},
                        {"iat", issued},
                        {"exp", expires},
                        {"aud", "https://oauth2.googleapis.com/token"},
                        {"scope", ""}}
                       .dump(),
                   file["private_key"])
        .value();
  };
  const std::string mail = file["client_email"];
  const std::string good = assertion(now, now + 3600, mail);
  const auto token = [&](const std::string& text) {
    return Send(
        "POST", "/token", {},
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" + text);
  };
  const Response answer = token(good);
  ASSERT_EQ(answer.status, 200) << Body(answer);
  const std::string access_token = json::parse(Body(answer))["access_token"];
  const std::string session = "/api/v1/sessions/" + sessions_.at("alpha/one").id;
  EXPECT_EQ(Send("GET", session, {Bearer(access_token)}).status, 200);
  EXPECT_EQ(Send("GET", session, {Bearer(good)}).status, 200) << "signed by itself";
  EXPECT_EQ(token(assertion(now - 7200, now - 3600, mail)).error_name, "JWT_EXPIRED");
  EXPECT_EQ(token(assertion(now, now + 86400, mail)).error_name, "JWT_EXPIRED");
  EXPECT_EQ(token(assertion(now, now + 3600, "other" + mail)).error_name, "SERVICE_KEY_UNKNOWN");
  std::string edited = good;
  edited[edited.size() - 3] = edited[edited.size() - 3] == 'A' ? 'B' : 'A';
  EXPECT_EQ(token(edited).status, 400);

  const std::string key = file["private_key_id"];
  ASSERT_EQ(Send("DELETE", "/api/v1/access/service-accounts/trainer/keys/" + key, root).status,
            200);
  EXPECT_EQ(token(good).error_name, "SERVICE_KEY_UNKNOWN");
  EXPECT_EQ(Send("GET", session, {Bearer(access_token)}).status, 401) << "it ended with the key";
}

TEST_F(AccessApiTest, TokensAreMadeForOneselfOnly) {
  const std::vector<Header> ada = {Bearer(Token({.subject = "user:ada"}))};
  const auto create = [&](const json& body) {
    return Send("POST", "/api/v1/access/tokens", ada, body.dump());
  };
  const Response own = create({{"name", "ci"}, {"rights", "view"}});
  ASSERT_EQ(own.status, 201);
  const json token = json::parse(Body(own));
  EXPECT_EQ(create({{"subject", "user:bob"}}).status, 403);
  EXPECT_EQ(create({{"subject", "service:x"}}).status, 403);
  const std::vector<Header> narrow = {Bearer(token["token"])};
  EXPECT_EQ(Send("POST", "/api/v1/access/tokens", narrow, "{}").error_name, "TOKEN_NARROW");
  // Only hashes are kept and listed.
  const std::string list = Body(Send("GET", "/api/v1/access/tokens", ada));
  EXPECT_THAT(list, HasSubstr(token["id"].get<std::string>()));
  EXPECT_THAT(list, Not(HasSubstr(token["token"].get<std::string>())));
  EXPECT_EQ(Send("DELETE", "/api/v1/access/tokens/" + token["id"].get<std::string>(), ada).status,
            200);
  EXPECT_EQ(Send("GET", "/api/v1/sessions", narrow).error_name, "TOKEN_REVOKED");
}

TEST_F(AccessApiTest, EveryChangeAndDenialIsRecorded) {
  const std::vector<Header> ada = {Bearer(Token({.subject = "user:ada"}))};
  const int64_t before = catalog::VerifyAudit(*catalog_)->records;
  Send("POST", "/api/v1/links", ada, json{{"session", sessions_.at("alpha/one").id}}.dump());
  Send("GET", "/api/v1/sessions/" + sessions_.at("beta/one").id, ada);
  Send("GET", "/api/v1/sessions", ada);
  Send("GET", "/api/v1/sessions", {});
  const Result<catalog::AuditVerdict> verdict = catalog::VerifyAudit(*catalog_);
  EXPECT_TRUE(verdict->whole);
  EXPECT_EQ(verdict->records - before, 2) << "the link and the denial, no reading";
}

// Threads are shared by whom a request is counted for: the subject once it is proved, else the
// address, so that made-up credentials bring no share of their own.
TEST_F(AccessApiTest, RequestsCountForTheSubjectOnceItIsProved) {
  const auto user_of = [&](const std::vector<Header>& headers) {
    Request request = MakeRequest("GET", "/api/v1/sessions").value();
    request.headers = headers;
    request.peer = "192.0.2.7";
    return router_->UserOf(request);
  };
  const std::vector<Header> browser = Browser("ada");
  EXPECT_EQ(Send("GET", "/api/v1/sessions", browser).status, 200);
  EXPECT_EQ(user_of(browser), "user:ada");
  const std::string token = Token({.subject = "user:ada"});
  EXPECT_EQ(user_of({Bearer(token)}), "192.0.2.7") << "nobody has seen it yet";
  EXPECT_EQ(Send("GET", "/api/v1/sessions", {Bearer(token)}).status, 200);
  EXPECT_EQ(user_of({Bearer(token)}), "user:ada");
  EXPECT_EQ(user_of({Bearer(token + "x")}), "192.0.2.7");
  EXPECT_EQ(user_of({Bearer("made up")}), "192.0.2.7");
  EXPECT_EQ(user_of({{"cookie", browser[0].value + "x"}}), "192.0.2.7");
  EXPECT_EQ(user_of({}), "192.0.2.7");
  Request anybody = MakeRequest("GET", "/").value();
  anybody.peer = "192.0.2.8";
  EXPECT_EQ(open_router_->UserOf(anybody), "192.0.2.8") << "the local mode";
}

// A page of the timeline asks for hundreds of tiles: deciding must not be felt.
TEST_F(AccessApiTest, DecidingCostsMicroseconds) {
  const std::vector<Header> browser = Browser("ada");
  Request request =
      MakeRequest("GET", "/api/v1/sessions/" + sessions_.at("alpha/one").id + "/tiles/0.0.0/0/0")
          .value();
  request.headers = browser;
  const Match match = router_->Find(request);
  ASSERT_NE(match.route, nullptr);
  request.params = match.params;
  constexpr int kTimes = 20'000;
  const int64_t began_ns = SystemClock().MonotonicNanos();
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_FALSE(access_->Enter(*match.route, request).has_value());
  }
  const double each_us =
      static_cast<double>(SystemClock().MonotonicNanos() - began_ns) / 1e3 / kTimes;
  std::printf("authorisation of a tile: %.1f us\n", each_us);
  // The aim is 50; a machine that is shared, or a sanitizer, may take some times that.
  EXPECT_LT(each_us, 1000);
}

TEST(JwtTest, OnlyTheRightSignatureCounts) {
  const KeyPair pair = MakeKeyPair().value();
  const KeyPair other = MakeKeyPair().value();
  const std::string text =
      SignJwt(R"({"alg":"RS256","kid":"k"})", R"({"iss":"i","exp":2000000000})", pair.private_pem)
          .value();
  const Jwt jwt = ParseJwt(text).value();
  EXPECT_TRUE(VerifyJwtSignature(jwt, pair.public_pem).ok());
  EXPECT_EQ(VerifyJwtSignature(jwt, other.public_pem).name(), "JWT_SIGNATURE");
  for (const char* algorithm : {"none", "HS256", "RS512", "ES256", ""}) {
    Jwt confused = jwt;
    confused.algorithm = algorithm;
    EXPECT_EQ(VerifyJwtSignature(confused, pair.public_pem).name(), "JWT_ALGORITHM") << algorithm;
  }
  for (size_t i = 0; i < text.size(); i += 7) {
    std::string edited = text;
    edited[i] = edited[i] == 'A' ? 'B' : 'A';
    const Result<Jwt> parsed = ParseJwt(edited);
    EXPECT_FALSE(parsed.ok() && VerifyJwtSignature(*parsed, pair.public_pem).ok()) << i;
  }
  for (const char* bad : {"", ".", "..", "a.b.c", "e30.e30.", "e30.e30", "e30.e30.AA.AA"}) {
    EXPECT_FALSE(ParseJwt(bad).ok()) << bad;
  }
  EXPECT_EQ(CheckJwtTimes(jwt, 2'000'000'100).name(), "JWT_EXPIRED");
  EXPECT_TRUE(CheckJwtTimes(jwt, 1'900'000'000).ok());
}

TEST(JwtTest, ReadsKeysOfProviders) {
  // RFC 7515, appendix A.3: ES256 with its key as JWK.
  const std::string pem =
      JwkToPem(R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
               R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})")
          .value();
  const std::string text =
      "eyJhbGciOiJFUzI1NiJ9."
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
      "fQ."
      "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
  EXPECT_TRUE(VerifyJwtSignature(ParseJwt(text).value(), pem).ok());
  EXPECT_FALSE(JwkToPem(R"({"kty":"oct","k":"AAAA"})").ok());
  EXPECT_FALSE(JwkToPem("[]").ok());
}

}  // namespace
}  // namespace strobe::api
