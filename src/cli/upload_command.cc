// strobe upload: sends a file to a server in parts, goes on where it stopped, waits for the
// session.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "src/api/request.h"
#include "src/capture/upload.h"
#include "src/cli/api_client.h"
#include "src/cli/command.h"
#include "src/cli/text.h"
#include "src/storage/checksum.h"
#include "src/storage/file_descriptor.h"
#include "src/storage/http_client.h"
#include "src/storage/retry.h"

namespace strobe::cli {
namespace {

using nlohmann::json;

// Of one part and of one question; the server answers both within milliseconds.
constexpr int64_t kRequestTimeoutMs = 120'000;
// A lost connection is tried again this often before the command gives up and says how to resume.
constexpr int kMaxAttempts = 6;
constexpr int64_t kRetryWaitNs = 500'000'000;
constexpr int64_t kPollNs = 200'000'000;
constexpr size_t kHashStepBytes = 1 << 20;

struct Reply {
  int status = 0;
  json body;
};

std::string TextOf(const json& body, const char* key) {
  const auto found = body.find(key);
  if (found == body.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_integer() ? std::to_string(found->get<int64_t>()) : "";
}

// The server's error as the Status it was.
Status ErrorOf(const Reply& reply) {
  const auto found = reply.body.is_object() ? reply.body.find("error") : reply.body.end();
  if (!reply.body.is_object() || found == reply.body.end() || !found->is_object()) {
    return InternalError("SERVER_FAILED",
                         "The server answered with status " + std::to_string(reply.status) + ".");
  }
  const std::string code = TextOf(*found, "code");
  StatusCode status_code = StatusCode::kInternal;
  for (int i = 1; i <= static_cast<int>(StatusCode::kDataLoss); ++i) {
    if (StatusCodeName(static_cast<StatusCode>(i)) == code)
      status_code = static_cast<StatusCode>(i);
  }
  return Status(status_code, TextOf(*found, "name"), TextOf(*found, "message"))
      .Where(TextOf(*found, "where"))
      .Hint(TextOf(*found, "hint"));
}

class Uploader {
 public:
  explicit Uploader(const UploadCommandOptions& options) : options_(options) {
    base_ = options.server;
    while (base_.ends_with('/')) base_.pop_back();
  }

  Result<json> Run() {
    if (!base_.starts_with("http://") && !base_.starts_with("https://")) {
      return InvalidArgumentError("URL_MALFORMED", "The server is http://HOST:PORT.")
          .Where(options_.server.substr(0, 200));
    }
    STROBE_RETURN_IF_ERROR(OpenFile());
    // What is wrong with a certificate does not pass by trying again.
    STROBE_ASSIGN_OR_RETURN(const ServerAddress server, ParseServerAddress(base_));
    if (server.tls) STROBE_RETURN_IF_ERROR(ServerConnection::Open(server, CaFileOf("")).status());
    STROBE_RETURN_IF_ERROR(options_.resume.empty() ? Begin() : Resume());
    Status sent = SendParts();
    if (!sent.ok()) {
      return Status(sent.code(), sent.name(), std::string(sent.message()))
          .Where(std::string(sent.where()))
          .Hint("Go on with: strobe upload " + options_.path + " --server " + base_ + " --resume " +
                id_);
    }
    return Finish();
  }

 private:
  Status CannotRead(int error_number) const {
    return ErrnoError("FILE_NOT_READABLE", "Cannot read the file", error_number)
        .Where(options_.path);
  }

  Status OpenFile() {
    file_ = storage::FileDescriptor(open(options_.path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_.valid()) {
      return ErrnoError("FILE_NOT_FOUND", "Cannot open the file", errno).Where(options_.path);
    }
    storage::Sha256Stream hash;
    std::string step(kHashStepBytes, '\0');
    for (;;) {
      const ssize_t got = read(file_.get(), step.data(), step.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return CannotRead(errno);
      if (got == 0) break;
      hash.Add(std::string_view(step).substr(0, static_cast<size_t>(got)));
      size_bytes_ += static_cast<uint64_t>(got);
    }
    sha256_hex_ = hash.Hex();
    return OkStatus();
  }

  // Tries again when nobody answers or the server is stopping.
  Result<Reply> Ask(const std::string& method, const std::string& target, std::string_view body,
                    const char* type) {
    for (int attempt = 1;; ++attempt) {
      storage::HttpRequest request;
      request.method = method;
      request.url = base_ + target;
      if (method != "GET") request.headers = {{"content-type", type}};
      if (!token_.empty()) request.headers.emplace_back("authorization", "Bearer " + token_);
      request.body = body;
      request.timeout_ms = kRequestTimeoutMs;
      const Result<storage::HttpAnswer> answer = http_->Send(request, {});
      const bool lost = !answer.ok() || answer->status == 502 || answer->status == 503;
      if (!lost) {
        Reply reply = {.status = answer->status,
                       .body = json::parse(answer->body, nullptr, /*allow_exceptions=*/false)};
        return reply;
      }
      if (attempt == kMaxAttempts) {
        if (answer.ok()) return ErrorOf({.status = answer->status, .body = {}});
        return UnavailableError("SERVER_UNREACHABLE", std::string(answer.status().message()))
            .Where(base_)
            .Hint("Is it running, and is the address right?");
      }
      STROBE_RETURN_IF_ERROR(storage::SystemWaiter().Wait(kRetryWaitNs << attempt, {}));
    }
  }

  Status TakeState(const Result<Reply>& reply) {
    if (!reply.ok()) return reply.status();
    if (reply->status >= 400 || !reply->body.is_object()) return ErrorOf(*reply);
    id_ = TextOf(reply->body, "id");
    const std::optional<int64_t> offset = api::ParseInt64(TextOf(reply->body, "offset_bytes"));
    const std::optional<int64_t> part = api::ParseInt64(TextOf(reply->body, "part_max_bytes"));
    if (id_.empty() || !offset || !part || *part <= 0) return ErrorOf(*reply);
    offset_bytes_ = static_cast<uint64_t>(*offset);
    part_bytes_ = std::min(static_cast<uint64_t>(*part), capture::kMaxPartBytes);
    return OkStatus();
  }

  Status Begin() {
    json body = {{"name", options_.path.substr(options_.path.rfind('/') + 1)},
                 {"size_bytes", size_bytes_},
                 {"sha256", sha256_hex_}};
    if (!options_.run.empty()) body["run"] = options_.run;
    if (!options_.session.empty()) body["session"] = options_.session;
    return TakeState(Ask("POST", "/api/v1/uploads", body.dump(), "application/json"));
  }

  Status Resume() {
    id_ = options_.resume;
    const Result<Reply> reply = Ask("GET", Target(), "", "");
    STROBE_RETURN_IF_ERROR(TakeState(reply));
    if (TextOf(reply->body, "size_bytes") == std::to_string(size_bytes_)) return OkStatus();
    return FailedPreconditionError("UPLOAD_OTHER_FILE", "The upload was begun with another file.")
        .Where(options_.path)
        .Hint("Upload it anew, without --resume.");
  }

  std::string Target() const { return "/api/v1/uploads/" + storage::PercentEncode(id_, false); }

  Status SendParts() {
    std::string part(part_bytes_, '\0');
    while (offset_bytes_ < size_bytes_) {
      const size_t wanted = std::min<uint64_t>(part.size(), size_bytes_ - offset_bytes_);
      const ssize_t got =
          pread(file_.get(), part.data(), wanted, static_cast<off_t>(offset_bytes_));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return CannotRead(errno);
      if (got == 0) {
        return Status(StatusCode::kAborted, "FILE_CHANGED", "The file was cut short meanwhile.")
            .Where(options_.path);
      }
      const Result<Reply> reply = Ask("PUT", Target() + "?offset=" + std::to_string(offset_bytes_),
                                      std::string_view(part).substr(0, static_cast<size_t>(got)),
                                      "application/octet-stream");
      Status taken = TakeState(reply);
      // An answer that was lost: the part had come. The server says where to go on.
      if (taken.name() == "UPLOAD_OFFSET") taken = TakeState(Ask("GET", Target(), "", ""));
      STROBE_RETURN_IF_ERROR(taken);
      Show();
    }
    return OkStatus();
  }

  void Show() const {
    if (!ErrorIsTerminal()) return;
    const bool last = offset_bytes_ == size_bytes_;
    PrintError(fmt::format("\r{} of {} sent\x1b[K{}", FormatBytes(offset_bytes_),
                           FormatBytes(size_bytes_), last ? "\n" : ""));
  }

  Result<json> Finish() {
    STROBE_ASSIGN_OR_RETURN(Reply reply,
                            Ask("POST", Target() + ":finish", "{}", "application/json"));
    while (true) {
      if (reply.status >= 400 || !reply.body.is_object()) return ErrorOf(reply);
      if (reply.body.value("done", false)) break;
      STROBE_RETURN_IF_ERROR(storage::SystemWaiter().Wait(kPollNs, {}));
      STROBE_ASSIGN_OR_RETURN(reply,
                              Ask("GET", "/api/v1/operations/" + TextOf(reply.body, "id"), "", ""));
    }
    if (reply.body.contains("error") && reply.body["error"].is_object()) return ErrorOf(reply);
    return reply.body;
  }

  const UploadCommandOptions& options_;
  const std::shared_ptr<storage::HttpClient> http_ =
      storage::MakeHttpClient({.authorities_file = CaFileOf("")});
  const std::string token_ = TokenOf("");
  std::string base_;
  storage::FileDescriptor file_;
  uint64_t size_bytes_ = 0;
  std::string sha256_hex_;
  std::string id_;
  uint64_t offset_bytes_ = 0;
  uint64_t part_bytes_ = 1;
};

}  // namespace

Result<int> RunUpload(const UploadCommandOptions& options) {
  STROBE_ASSIGN_OR_RETURN(const json operation, Uploader(options).Run());
  if (options.json) {
    PrintOut(operation.dump() + "\n");
    return int{kExitOk};
  }
  const json result = operation.value("result", json::object());
  PrintOut("Session   " + Printable(TextOf(result, "session_name")) + "\n");
  const std::string id = TextOf(result, "session");
  if (!id.empty()) PrintOut("Open      " + options.server + "/s/" + id + "\n");
  return int{kExitOk};
}

}  // namespace strobe::cli
