#include "src/cli/api_client.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "src/api/app.h"
#include "src/api/request.h"
#include "src/base/clock.h"
#include "src/cli/answer_stream.h"
#include "src/cli/open_session.h"
#include "src/storage/http_client.h"
#include "src/wire/compress.h"

namespace strobe::cli {
namespace {

using nlohmann::json;

Status Broken(std::string message) {
  return UnavailableError("SERVER_ANSWER_BROKEN", std::move(message))
      .Hint("Is it a Strobe server, of this release?");
}

StatusCode CodeOf(std::string_view name) {
  for (int code = 0; code <= static_cast<int>(StatusCode::kDataLoss); ++code) {
    if (StatusCodeName(static_cast<StatusCode>(code)) == name) return static_cast<StatusCode>(code);
  }
  return StatusCode::kInternal;
}

// The error object of an answer, else its text.
Status ErrorOf(int status, std::string_view body) {
  const json parsed = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_object() && parsed.contains("error") && parsed["error"].is_object()) {
    const json& error = parsed["error"];
    const auto text = [&error](const char* key) {
      return error.contains(key) && error[key].is_string() ? error[key].get<std::string>()
                                                           : std::string();
    };
    // Google's shape has the code's name as status, and ours in the details.
    if (error.contains("status") && error["status"].is_string()) {
      std::string name = text("status");
      for (const json& detail : error.value("details", json::array())) {
        if (detail.is_object()) name = detail.value("reason", name);
      }
      return Status(CodeOf(text("status")), name, text("message"));
    }
    const StatusCode code = CodeOf(text("code"));
    if (code != StatusCode::kOk) {
      return Status(code, text("name"), text("message")).Where(text("where")).Hint(text("hint"));
    }
  }
  const std::string message(body.substr(0, 300));
  if (status == 404) return NotFoundError("NO_DATA", message);
  return InternalError("SERVER_FAILED", message.empty() ? "The server failed." : message)
      .Where("HTTP status " + std::to_string(status));
}

// ---- this process

class LocalClient final : public ApiClient {
 public:
  explicit LocalClient(CommandSession session) : opened_(std::move(session)), console_("") {
    session_ = opened_.summary.entry.id;
    xprof_run_ = opened_.summary.entry.xprof_run();
    context_->engine = opened_.engine.get();
    context_->clock = &SystemClock();
    context_->console = &console_;
    router_ = std::make_unique<api::Router>(api::MakeRoutes(context_));
  }
  Result<ApiReply> Get(const std::string& target) override { return Send("GET", target, ""); }
  Result<ApiReply> Send(const std::string& method, const std::string& target,
                        const std::string& body_sent) override {
    STROBE_ASSIGN_OR_RETURN(api::Request request, api::MakeRequest(method, target));
    request.body = body_sent;
    const api::Response response = router_->Run(router_->Find(request), request);
    const std::string body = response.body == nullptr ? "" : *response.body;
    if (response.status >= 400) return ErrorOf(response.status, body);
    return ApiReply{response.content_type, body};
  }
  Status Download(const std::string& target,
                  const std::function<Status(std::string_view)>& sink) override {
    STROBE_ASSIGN_OR_RETURN(api::Request request, api::MakeRequest("GET", target));
    const api::Response response = router_->Run(router_->Find(request), request);
    const std::string body = response.body == nullptr ? "" : *response.body;
    if (response.status >= 400) return ErrorOf(response.status, body);
    if (!response.stream) return sink(body);
    SinkWriter writer(sink);
    response.stream(writer);
    return writer.status();
  }

 private:
  // A stream's other end in this process.
  class SinkWriter final : public api::StreamWriter {
   public:
    explicit SinkWriter(const std::function<Status(std::string_view)>& sink) : sink_(sink) {}
    bool Write(std::string bytes) override {
      if (status_.ok()) status_ = sink_(bytes);
      return status_.ok();
    }
    void Fail() override {
      if (status_.ok()) status_ = Broken("The answer ends in the middle.");
    }
    const CancelToken& cancel() const override { return cancel_; }
    const Status& status() const { return status_; }

   private:
    const std::function<Status(std::string_view)>& sink_;
    const CancelToken cancel_;
    Status status_;
  };

  CommandSession opened_;
  api::StaticFiles console_;
  std::shared_ptr<api::AppContext> context_ = std::make_shared<api::AppContext>();
  std::unique_ptr<api::Router> router_;
};

// ---- a server

std::string RequestText(const ServerAddress& server, const std::string& token,
                        const std::string& method, const std::string& target,
                        const std::string& body) {
  const bool v6 = server.host.find(':') != std::string::npos;
  return method + " " + target +
         " HTTP/1.1\r\nHost: " + (v6 ? "[" + server.host + "]" : server.host) + ":" + server.port +
         "\r\nConnection: close\r\nAccept-Encoding: identity\r\n" +
         (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") +
         (body.empty() ? ""
                       : "Content-Type: application/json\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n") +
         "\r\n" + body;
}

// Where and as whom one asks.
struct Server {
  ServerAddress address;
  std::string ca_file;
  std::string token;
};

// One exchange; `take` gets what comes and says whether it wants more.
Status Exchange(const Server& server, const std::string& method, const std::string& target,
                const std::string& body,
                const std::function<Result<bool>(std::string_view)>& take) {
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<ServerConnection> connection,
                          ServerConnection::Open(server.address, server.ca_file));
  STROBE_RETURN_IF_ERROR(
      connection->Send(RequestText(server.address, server.token, method, target, body)));
  std::string buffer(256 * 1024, '\0');
  for (;;) {
    STROBE_ASSIGN_OR_RETURN(const size_t got, connection->Receive(buffer.data(), buffer.size()));
    if (got == 0) return OkStatus();
    STROBE_ASSIGN_OR_RETURN(const bool more, take(std::string_view(buffer.data(), got)));
    if (!more) return OkStatus();
  }
}

class RemoteClient final : public ApiClient {
 public:
  explicit RemoteClient(Server server) : server_(std::move(server)) {}

  Result<ApiReply> Get(const std::string& target) override { return Send("GET", target, ""); }
  Result<ApiReply> Send(const std::string& method, const std::string& target,
                        const std::string& body) override {
    std::string bytes;
    STROBE_RETURN_IF_ERROR(
        Exchange(server_, method, target, body, [&bytes](std::string_view part) -> Result<bool> {
          bytes += part;
          if (bytes.size() <= kMaxReplyBytes) return true;
          return Broken("The answer is larger than we take.");
        }));
    STROBE_ASSIGN_OR_RETURN(HttpAnswer answer, ParseHttpAnswer(bytes));
    if (answer.status >= 400) return ErrorOf(answer.status, answer.body);
    return ApiReply{std::move(answer.content_type), std::move(answer.body)};
  }

  Status Download(const std::string& target,
                  const std::function<Status(std::string_view)>& sink) override {
    AnswerStream answer(sink);
    STROBE_RETURN_IF_ERROR(
        Exchange(server_, "GET", target, "", [&answer](std::string_view part) -> Result<bool> {
          STROBE_RETURN_IF_ERROR(answer.Feed(part));
          return !answer.done();
        }));
    return answer.Finish();
  }

  // The session that the address names.
  Status FindSession() {
    std::string_view path = server_.address.path;
    while (path.ends_with('/')) path.remove_suffix(1);
    for (const std::string_view before : {"/api/v1/sessions/", "/s/"}) {
      if (!path.starts_with(before)) continue;
      path.remove_prefix(before.size());
      return UseId(std::string(path.substr(0, path.find('/'))));
    }
    if (!path.empty()) path.remove_prefix(1);
    return UseRun(std::string(path));
  }

 private:
  Status Take(const json& summary) {
    const auto text = [&summary](const char* key) { return summary.value(key, std::string()); };
    session_ = text("id");
    xprof_run_ = text("run").empty() ? text("name") : text("run") + "/" + text("name");
    return session_.empty() ? Broken("The server names no session.") : OkStatus();
  }
  Status UseId(const std::string& id) {
    STROBE_ASSIGN_OR_RETURN(const ApiReply reply, Get("/api/v1/sessions/" + PercentEncode(id)));
    const json summary = json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
    return summary.is_object() ? Take(summary) : Broken("The session is not described as JSON.");
  }
  Status UseRun(const std::string& run) {
    const size_t slash = run.rfind('/');
    const std::string name = slash == std::string::npos ? run : run.substr(slash + 1);
    STROBE_ASSIGN_OR_RETURN(const ApiReply reply,
                            Get("/api/v1/sessions?page_size=1000&q=" + PercentEncode(name)));
    const json list = json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
    if (!list.is_object() || !list.contains("sessions") || !list["sessions"].is_array()) {
      return Broken("The sessions are not listed as JSON.");
    }
    std::string known;
    std::vector<json> of_run;  // a run of one session is as good a name as the session's own
    for (const json& summary : list["sessions"]) {
      if (!summary.is_object()) continue;
      if (!run.empty() && summary.value("run", std::string()) == run) of_run.push_back(summary);
      STROBE_RETURN_IF_ERROR(Take(summary));
      if (xprof_run_ == run || session_ == run) return OkStatus();
      if (known.size() < 300) known += (known.empty() ? "" : ", ") + xprof_run_;
    }
    if (run.empty() && list["sessions"].size() == 1) return OkStatus();
    if (of_run.size() == 1) return Take(of_run.front());
    session_.clear();
    return NotFoundError("SESSION_NOT_FOUND", "The server has no session of that name.")
        .Where(run.empty() ? server_.address.host + ":" + server_.address.port : run)
        .Hint(known.empty() ? "Add the run to the address, as in http://127.0.0.1:8080/RUN/SESSION."
                            : "Add one of these to the server's address: " + known + ".");
  }

  const Server server_;
};

std::optional<std::string> Dechunk(std::string_view bytes) {
  std::string body;
  for (;;) {
    const size_t end = bytes.find("\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    size_t size = 0;
    const std::string_view digits = bytes.substr(0, std::min(end, bytes.find(';')));
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
    if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
    bytes.remove_prefix(end + 2);
    if (size == 0) return body;
    if (size > bytes.size() || bytes.size() - size < 2) return std::nullopt;
    body.append(bytes.substr(0, size));
    bytes.remove_prefix(size + 2);
  }
}

Result<HttpAnswer> Unpack(HttpAnswer packed) {
  HttpAnswer answer = packed;
  answer.body.clear();
  const Result<wire::Inflated> inflated = wire::Inflate(
      wire::Compression::kGzip, packed.body, {.max_output_bytes = kMaxReplyBytes},
      [&answer](std::string_view part) {
        answer.body += part;
        return OkStatus();
      },
      CancelToken());
  if (!inflated.ok() || inflated->partial) return Broken("The answer does not unpack.");
  return answer;
}

}  // namespace

std::string TokenOf(const std::string& given) {
  if (!given.empty()) return given;
  const char* const set = std::getenv("STROBE_TOKEN");
  return set == nullptr ? "" : set;
}

Status ErrorOfAnswer(int status, std::string_view body) { return ErrorOf(status, body); }

std::string PercentEncode(std::string_view text) {
  return storage::PercentEncode(text, /*keep_slashes=*/false);
}

Result<HttpAnswer> ParseHttpAnswer(std::string_view bytes) {
  const size_t head_end = bytes.find("\r\n\r\n");
  if (!bytes.starts_with("HTTP/1.") || head_end == std::string_view::npos) {
    return Broken("The answer is not HTTP.");
  }
  std::string_view head = bytes.substr(0, head_end);
  const std::string_view body = bytes.substr(head_end + 4);
  HttpAnswer answer;
  const std::optional<uint32_t> status =
      head.size() < 12 ? std::nullopt : api::ParseUint32(head.substr(9, 3));
  if (!status) return Broken("The answer has no status.");
  answer.status = static_cast<int>(*status);
  bool chunked = false;
  bool gzip = false;
  std::optional<int64_t> length;
  for (;;) {
    const size_t end = head.find("\r\n");
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 2);
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = api::TrimSpaces(line.substr(std::min(colon + 1, line.size())));
    if (api::EqualsIgnoreCase(name, "content-type")) answer.content_type = value;
    if (api::EqualsIgnoreCase(name, "content-length")) length = api::ParseInt64(value);
    if (api::EqualsIgnoreCase(name, "transfer-encoding")) {
      chunked = api::EqualsIgnoreCase(value, "chunked");
    }
    // XProf's addresses compress whatever we say.
    if (api::EqualsIgnoreCase(name, "content-encoding")) {
      gzip = api::EqualsIgnoreCase(value, "gzip");
    }
  }
  if (chunked) {
    std::optional<std::string> whole = Dechunk(body);
    if (!whole) return Broken("The answer ends in the middle.");
    answer.body = std::move(*whole);
    return gzip ? Unpack(std::move(answer)) : answer;
  }
  if (length && (*length < 0 || static_cast<uint64_t>(*length) > body.size())) {
    return Broken("The answer ends in the middle.");
  }
  answer.body = body.substr(0, length ? static_cast<size_t>(*length) : body.size());
  return gzip ? Unpack(std::move(answer)) : answer;
}

Result<std::unique_ptr<ApiClient>> OpenApiClient(const std::string& place,
                                                 const ApiClientOptions& options,
                                                 bool needs_session) {
  if (!IsServerAddress(place)) {
    STROBE_ASSIGN_OR_RETURN(CommandSession session,
                            OpenCommandSession(place, options.xla_dump_directories));
    if (session.opened == nullptr) return session.open_error;
    return std::unique_ptr<ApiClient>(std::make_unique<LocalClient>(std::move(session)));
  }
  STROBE_ASSIGN_OR_RETURN(ServerAddress server, ParseServerAddress(place));
  std::string token = TokenOf(options.token);
  if (token.find_first_of("\r\n") != std::string::npos) {
    return InvalidArgumentError("TOKEN_MALFORMED", "The token has a line break in it.");
  }
  auto client = std::make_unique<RemoteClient>(Server{.address = std::move(server),
                                                      .ca_file = CaFileOf(options.ca_file),
                                                      .token = std::move(token)});
  if (needs_session) STROBE_RETURN_IF_ERROR(client->FindSession());
  return std::unique_ptr<ApiClient>(std::move(client));
}

}  // namespace strobe::cli
