// The catalogue asked through the API's routes in this process: administration without a server.
#include <nlohmann/json.hpp>

#include "src/api/app.h"
#include "src/base/clock.h"
#include "src/catalog/audit.h"
#include "src/cli/api_client.h"

namespace strobe::cli {
namespace {

class CatalogClient final : public ApiClient {
 public:
  explicit CatalogClient(std::unique_ptr<catalog::Catalog> catalog)
      : catalog_(std::move(catalog)), console_("") {
    context_->catalog = catalog_.get();
    context_->clock = &SystemClock();
    context_->console = &console_;
    router_ = std::make_unique<api::Router>(api::MakeRoutes(context_));
  }
  Result<ApiReply> Get(const std::string& target) override { return Send("GET", target, ""); }
  Result<ApiReply> Send(const std::string& method, const std::string& target,
                        const std::string& body_sent) override {
    STROBE_ASSIGN_OR_RETURN(api::Request request, api::MakeRequest(method, target));
    request.body = body_sent;
    const api::Match match = router_->Find(request);
    if (match.route != nullptr && match.route->access.audit == api::Audit::kAlways) {
      request.trail = std::make_shared<catalog::AuditTrail>(
          catalog::AuditTrail{.record = {.actor = "command-line",
                                         .action = match.route->operation_id,
                                         .object = request.path,
                                         .outcome = "DONE",
                                         .http_status = match.route->success_status}});
    }
    const api::Response response = router_->Run(match, request);
    const std::string body = response.body == nullptr ? "" : *response.body;
    if (request.trail != nullptr && request.trail->written.empty()) {
      catalog::AuditTrail trail = *request.trail;
      trail.record.outcome = response.status < 400 ? "DONE" : "FAILED";
      trail.record.http_status = response.status;
      trail.record.detail = response.error_name;
      STROBE_RETURN_IF_ERROR(catalog::WriteAudited(
          *catalog_, &trail, [](catalog::Transaction&) { return OkStatus(); }));
    }
    if (response.status >= 400) return ErrorOfAnswer(response.status, body);
    return ApiReply{response.content_type, body};
  }

 private:
  std::unique_ptr<catalog::Catalog> catalog_;
  api::StaticFiles console_;
  std::shared_ptr<api::AppContext> context_ = std::make_shared<api::AppContext>();
  std::unique_ptr<api::Router> router_;
};

}  // namespace

Result<std::unique_ptr<ApiClient>> OpenCatalogClient(const std::string& place) {
  STROBE_ASSIGN_OR_RETURN(std::unique_ptr<catalog::Catalog> catalog,
                          catalog::Catalog::Open({.place = place}, SystemClock(), SystemRandom()));
  return std::unique_ptr<ApiClient>(std::make_unique<CatalogClient>(std::move(catalog)));
}

}  // namespace strobe::cli
