// The path of a request without sockets: bytes -> parser -> guard -> router -> answer. Whatever
// comes in, the answer has its strict headers and a head that nothing broke out of.
#include <cstddef>
#include <cstdint>

#include "src/api/app.h"
#include "src/api/capture_body.h"
#include "src/api/fake_engine_for_test.h"
#include "src/api/finish.h"
#include "src/api/guard.h"
#include "src/api/server.h"
#include "src/base/log.h"
#include "src/catalog/catalog.h"

namespace strobe::api {
namespace {

// Runs that inputs create stay in the catalogue's memory: the world is made anew before it fills.
constexpr int kInputsOfOneWorld = 20'000;

struct World {
  World() : engine({"/nonexistent"}), console("") {
    SetLogLevel("off");
    engine.Add("run", "session", {"host0", "host1"});
    context->engine = &engine;
    context->operations = operations.get();
    context->clock = &SystemClock();
    context->console = &console;
    context->catalog = catalog.get();
    router = std::make_unique<Router>(MakeRoutes(context));
    metrics = std::make_unique<HttpMetrics>(context->route_names.size());
    context->metrics = metrics.get();
  }
  FakeEngine engine;
  IdMaker ids{SystemClock(), SystemRandom()};
  std::unique_ptr<queue::OperationTable> operations =
      queue::OperationTable::Create({}, SystemClock(), ids);
  std::unique_ptr<catalog::Catalog> catalog =
      std::move(*catalog::Catalog::Open({.place = ":memory:"}, SystemClock(), SystemRandom()));
  StaticFiles console;
  std::unique_ptr<HttpMetrics> metrics;
  Guard guard{GuardOptions{}};
  std::shared_ptr<AppContext> context = std::make_shared<AppContext>();
  std::unique_ptr<Router> router;
};

void CheckHead(const WireResponse& wire) {
  const size_t end = wire.head.find("\r\n\r\n");
  STROBE_CHECK(wire.head.starts_with("HTTP/1."));
  STROBE_CHECK(end == wire.head.size() - 4);
  STROBE_CHECK(wire.head.find("\r\nContent-Security-Policy: ") != std::string::npos);
  STROBE_CHECK(wire.head.find("\r\nX-Content-Type-Options: nosniff\r\n") != std::string::npos);
  for (size_t at = 0; (at = wire.head.find('\n', at)) != std::string::npos; ++at) {
    STROBE_CHECK(at > 0 && wire.head[at - 1] == '\r');
  }
}

}  // namespace
}  // namespace strobe::api

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strobe::api;
  static std::unique_ptr<World> world;
  static int inputs = 0;
  if (inputs++ % kInputsOfOneWorld == 0) world = std::make_unique<World>();
  strobe::Result<Request> request =
      ParseWholeRequest(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!request.ok()) return 0;
  request->request_id = "r-fuzz";
  int status = 0;
  const strobe::Status guarded = world->guard.Check(*request, &status);
  if (!guarded.ok()) {
    CheckHead(Finish(*request, ErrorResponse(guarded, "r-fuzz", status), {}));
  }
  // On even when the guard refuses: the fuzzer should not have to find the right Host first.
  const Match match = world->router->Find(*request);
  CheckHead(Finish(*request, world->router->Run(match, *request), {}));
  (void)ParseCaptureBody(request->body, {"/srv/logs"}).ok();
  return 0;
}
