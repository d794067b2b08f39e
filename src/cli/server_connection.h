// One connection of the command line to a server, plain or by TLS.
//
//   STROBE_ASSIGN_OR_RETURN(ServerAddress server,
//   ParseServerAddress("https://strobe.example/llama")); STROBE_ASSIGN_OR_RETURN(auto connection,
//   ServerConnection::Open(server, CaFileOf("")));
//   STROBE_RETURN_IF_ERROR(connection->Send(request));
//   STROBE_ASSIGN_OR_RETURN(size_t got, connection->Receive(buffer, sizeof(buffer)));  // 0: the
//   end
//
// The certificate must be for the host of the address, from an authority of the file given or else
// of the system's; TLS 1.2 at least. Blocking, kTimeoutSeconds a step. Errors: URL_MALFORMED,
// SERVER_UNREACHABLE, SERVER_CERTIFICATE (what is wrong with it, as a sentence), SERVER_NOT_TLS,
// CA_FILE (it holds no certificates).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace strobe::cli {

// A tool that nobody asked yet, on a large session.
inline constexpr int kTimeoutSeconds = 600;

struct ServerAddress {
  bool tls = false;
  std::string host;
  std::string port;
  std::string path;  // "" or "/..."
};
bool IsServerAddress(std::string_view place);
Result<ServerAddress> ParseServerAddress(std::string_view url);

// The file that was given, else STROBE_CA_FILE of the environment, else "": the system's.
std::string CaFileOf(const std::string& given);

class ServerConnection {
 public:
  static Result<std::unique_ptr<ServerConnection>> Open(const ServerAddress& server,
                                                        const std::string& ca_file);
  virtual ~ServerConnection() = default;
  virtual Status Send(std::string_view bytes) = 0;
  virtual Result<size_t> Receive(char* buffer, size_t size) = 0;
};

}  // namespace strobe::cli
