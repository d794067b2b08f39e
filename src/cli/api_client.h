// The API as the command line asks it: of a server by its address, or of this very process over
// files, through the same routes. Whatever answers, the text is the same.
//
//   STROBE_ASSIGN_OR_RETURN(std::unique_ptr<ApiClient> client, OpenApiClient("run.xplane.pb", {}));
//   STROBE_ASSIGN_OR_RETURN(ApiReply reply, client->Get("/api/v1/sessions/" + client->session()));
//
// A place is a path (session directory or profile file; nothing is written), or
// http://HOST:PORT/RUN, http://HOST:PORT/s/ID of the console, http://HOST:PORT/api/v1/sessions/ID;
// https:// as well.
// An error of the API comes back as the Status it was. Errors besides: SERVER_UNREACHABLE,
// SERVER_ANSWER_BROKEN, those of ServerConnection and of OpenCommandSession. Limits:
// kMaxReplyBytes, kTimeoutSeconds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/cli/server_connection.h"

namespace strobe::cli {

// The largest answers are exports of tables: some hundred megabytes.
inline constexpr uint64_t kMaxReplyBytes = uint64_t{4} << 30;

struct ApiReply {
  std::string content_type;
  std::string body;
};

class ApiClient {
 public:
  virtual ~ApiClient() = default;
  // `target` is path and query. Answers of 400 and more are errors.
  virtual Result<ApiReply> Get(const std::string& target) = 0;
  // Any method; a body is JSON. METHOD_NOT_OFFERED where only asking is possible.
  virtual Result<ApiReply> Send(const std::string& method, const std::string& target,
                                const std::string& body) {
    if (method == "GET") return Get(target);
    return UnimplementedError("METHOD_NOT_OFFERED", "Nothing can be changed here.");
  }
  // GET of an answer that may be larger than memory, piece by piece; what was written when it fails
  // is not whole.
  virtual Status Download(const std::string& target,
                          const std::function<Status(std::string_view)>& sink) {
    STROBE_ASSIGN_OR_RETURN(const ApiReply reply, Get(target));
    return sink(reply.body);
  }
  const std::string& session() const { return session_; }      // id
  const std::string& xprof_run() const { return xprof_run_; }  // as XProf's routes name it

 protected:
  std::string session_;
  std::string xprof_run_;
};

struct ApiClientOptions {
  std::vector<std::string> xla_dump_directories;  // of files only
  std::string token;    // for a server with access control; empty: STROBE_TOKEN of the environment
  std::string ca_file;  // of authorities for https; empty: STROBE_CA_FILE, else the system's
};

// The token that was given, else STROBE_TOKEN of the environment.
std::string TokenOf(const std::string& given);

// `needs_session`: the place must name one; else a server's own address is enough.
Result<std::unique_ptr<ApiClient>> OpenApiClient(const std::string& place,
                                                 const ApiClientOptions& options,
                                                 bool needs_session = true);

// The catalogue's own addresses, without a server: whoever may open it may do everything. Each
// change is written into its audit chain.
Result<std::unique_ptr<ApiClient>> OpenCatalogClient(const std::string& place);

// "a b" -> "a%20b", for one value of a query or one part of a path.
std::string PercentEncode(std::string_view text);

// One HTTP answer from its bytes: status, headers, body whole, chunked or to the end.
// SERVER_ANSWER_BROKEN.
struct HttpAnswer {
  int status = 0;
  std::string content_type;
  std::string body;
};
Result<HttpAnswer> ParseHttpAnswer(std::string_view bytes);

// The error that an answer of 400 and more tells of.
Status ErrorOfAnswer(int status, std::string_view body);

}  // namespace strobe::cli
