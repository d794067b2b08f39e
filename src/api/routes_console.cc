// The console: every GET address that nothing else takes.
#include "src/api/app.h"

namespace strobe::api {

void AddConsoleRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes) {
  routes->push_back({.pattern = std::string(kAnyPath),
                     .access = kPublicAccess,
                     .operation_id = "console",
                     .tag = "console",
                     .summary = "The console and its files.",
                     .response_type = "text/html",
                     .handler = [context](const Request& request) -> Result<Response> {
                       return context->console->Serve(request);
                     }});
}

}  // namespace strobe::api
