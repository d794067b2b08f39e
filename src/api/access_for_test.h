// A server's access control over a fake engine and a real catalogue, for tests: two tenants, their
// sessions, runs and operations, and callers of every kind.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/api/access_control.h"
#include "src/api/app.h"
#include "src/api/cookies.h"
#include "src/api/fake_engine_for_test.h"
#include "src/api/planted_tools_for_test.h"
#include "src/api/share_link.h"
#include "src/api/sign_in.h"
#include "src/base/log.h"
#include "src/capture/upload.h"
#include "src/catalog/audit.h"
#include "src/catalog/rules.h"
#include "src/catalog/secret.h"
#include "src/storage/test_directory.h"

namespace strobe::api {

class AccessFixture {
 public:
  AccessFixture() : engine_({directory_.path()}), console_("") {
    SetLogLevel("off");
    auto opened = catalog::Catalog::Open({.place = directory_.path() + "/catalog.db"},
                                         SystemClock(), SystemRandom());
    STROBE_CHECK(opened.ok());
    catalog_ = std::move(opened).value();
    for (const char* project : {"alpha", "beta"}) {
      for (const char* name : {"one", "two"}) {
        sessions_[std::string(project) + "/" + name] =
            engine_.Add(std::string(project) + "/run", name, {"host0"});
      }
    }
    plain_ = engine_.Add("other", "plain", {"host0"});
    context_ = std::make_shared<AppContext>();
    context_->engine = &engine_;
    context_->operations = operations_.get();
    context_->catalog = catalog_.get();
    context_->clock = &SystemClock();
    context_->console = &console_;
    context_->tools = &PlantedTools();
    context_->uploads = &uploads_;
    context_->capture = [](const capture::CaptureRequest&, const CancelToken&,
                           const std::function<void(const capture::CaptureProgress&)>&)
        -> Result<capture::CaptureResult> {
      return UnavailableError("CAPTURE_NOTHING_SAVED", "This is a test.");
    };
    context_->projects = std::make_shared<ProjectMap>(std::vector<ProjectMap::Folder>{
        {directory_.path() + "/alpha", "alpha"}, {directory_.path() + "/beta", "beta"}});
    access_ =
        std::make_unique<AccessControl>(AccessControl::Parts{.catalog = catalog_.get(),
                                                             .engine = &engine_,
                                                             .operations = operations_.get(),
                                                             .projects = context_->projects,
                                                             .clock = &SystemClock(),
                                                             .random = &SystemRandom()},
                                        AccessControl::Options{.contact = "Ask ops@example.com."});
    sign_in_ = std::make_unique<SignIn>(*access_);
    context_->access = access_.get();
    context_->sign_in = sign_in_.get();
    routes_ = MakeRoutes(context_);
    metrics_ = std::make_unique<HttpMetrics>(routes_.size() + 1);
    context_->metrics = metrics_.get();
    router_ = std::make_unique<Router>(routes_, access_.get());
    open_router_ = std::make_unique<Router>(routes_);
  }
  ~AccessFixture() { SetLogLevel("info"); }

  void Write(const std::function<Status(catalog::Transaction&)>& work) {
    const Status done = catalog_->Write(work);
    ASSERT_TRUE(done.ok()) << done.ToString();
    access_->Forget();
  }
  void MakeUser(const std::string& name) {
    Write([&](catalog::Transaction& t) { return t.Insert(catalog::User{.id = name}); });
  }
  void Bind(const std::string& project, const std::string& subject, const std::string& role) {
    Write([&](catalog::Transaction& t) {
      return catalog::BindRole(t, project, subject, role, "test");
    });
  }
  std::string Token(catalog::TokenSpec spec) {
    std::string text;
    Write([&](catalog::Transaction& t) -> Status {
      STROBE_ASSIGN_OR_RETURN(const catalog::IssuedToken issued, catalog::IssueToken(t, spec));
      text = issued.text;
      return OkStatus();
    });
    return text;
  }
  static Header Bearer(const std::string& token) { return {"authorization", "Bearer " + token}; }
  // A share link made by `owner`; its token.
  std::string Link(catalog::ShareLink link) {
    link.id = "link" + std::to_string(++links_);
    if (link.expire_unix_ns == 0)
      link.expire_unix_ns = SystemClock().NowUnixNanos() + kLinkDefaultNs;
    Write([&](catalog::Transaction& t) { return t.Insert(link); });
    return ShareLinkToken(access_->LinkKey().value(), link);
  }

  Response Ask(const Router& router, std::string_view method, const std::string& target,
               const std::vector<Header>& headers, std::string body) {
    Result<Request> made = MakeRequest(method, target);
    STROBE_CHECK(made.ok());
    Request request = std::move(made).value();
    request.headers = headers;
    request.headers.push_back({"host", "127.0.0.1"});
    request.body = std::move(body);
    request.peer = "192.0.2.1";
    request.request_id = "r-1";
    return router.Run(router.Find(request), request);
  }
  Response Send(std::string_view method, const std::string& target,
                const std::vector<Header>& headers, std::string body = "") {
    return Ask(*router_, method, target, headers, std::move(body));
  }
  std::string Body(const Response& response) {
    return response.body == nullptr ? "" : *response.body;
  }

  storage::TestDirectory directory_;
  FakeEngine engine_;
  StaticFiles console_;
  std::unique_ptr<catalog::Catalog> catalog_;
  IdMaker ids_{SystemClock(), SystemRandom()};
  std::unique_ptr<queue::OperationTable> operations_ =
      queue::OperationTable::Create({}, SystemClock(), ids_);
  capture::UploadTable uploads_{
      {.place = directory_.path(), .staging_directory = directory_.path()},
      SystemClock(),
      ids_,
      std::make_shared<storage::PlaceOpener>(storage::SystemCloudContext())};
  std::map<std::string, xplane::SessionEntry> sessions_;
  xplane::SessionEntry plain_;
  std::shared_ptr<AppContext> context_;
  std::unique_ptr<AccessControl> access_;
  std::unique_ptr<SignIn> sign_in_;
  std::vector<Route> routes_;
  std::unique_ptr<HttpMetrics> metrics_;
  std::unique_ptr<Router> router_;
  std::unique_ptr<Router> open_router_;
  int links_ = 0;
};

}  // namespace strobe::api
