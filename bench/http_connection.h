// One kept HTTP connection to a server on loopback, blocking: what the load tools ask with.
//
//   Connection connection(port);
//   const Answer answer = connection.Get("/api/v1/sessions", /*abandon=*/false);
//
// Sends no header but Host, so answers are not compressed and have a length. A kept connection that
// was closed meanwhile is opened anew once. Waits at most kTimeoutSeconds.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace strobe::bench {

// Longer than any answer may take (the server gives up at 120 s).
inline constexpr int kTimeoutSeconds = 150;

struct Answer {
  int status = 0;  // 0: the connection broke
  std::string body;
};

class Connection {
 public:
  // `source`: the address of the loopback network to come from; 0: the usual one.
  explicit Connection(uint16_t port, uint32_t source = 0) : port_(port), source_(source) {}
  ~Connection() { Close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Asks and does not wait; Close() then is a tab that is closed in the middle.
  bool Send(const std::string& target) {
    return (socket_ >= 0 || Open()) && SendAll("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" +
                                               std::to_string(port_) + "\r\n\r\n");
  }
  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
    buffer_.clear();
  }

  // `abandon`: sends the request and goes away.
  Answer Get(const std::string& target, bool abandon) {
    // A kept connection may have been closed meanwhile; a new one is tried once.
    for (int attempt = 0; attempt < 2; ++attempt) {
      const bool kept = socket_ >= 0;
      if (!kept && !Open()) return {};
      if (!Send(target)) {
        Close();
        if (kept) continue;
        return {};
      }
      if (abandon) {
        Close();
        return {.status = -1, .body = ""};
      }
      Answer answer = Read();
      if (answer.status == 0 && kept && buffer_.empty()) {
        Close();
        continue;
      }
      return answer;
    }
    return {};
  }

 private:
  bool Open() {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (source_ != 0) {
      sockaddr_in from{};
      from.sin_family = AF_INET;
      from.sin_addr.s_addr = htonl(source_);
      if (bind(socket_, reinterpret_cast<sockaddr*>(&from), sizeof(from)) != 0) {
        Close();
        return false;
      }
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{.tv_sec = kTimeoutSeconds, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return true;
    Close();
    return false;
  }
  bool SendAll(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  bool Fill() {
    char bytes[65536];
    const ssize_t got = recv(socket_, bytes, sizeof(bytes), 0);
    if (got <= 0) return false;
    buffer_.append(bytes, static_cast<size_t>(got));
    return true;
  }
  // An answer with a length, as all those are that we ask for.
  Answer Read() {
    size_t head_end = 0;
    while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Fill()) return {};
    }
    const std::string head = buffer_.substr(0, head_end);
    Answer answer;
    answer.status = head.size() > 12 ? std::atoi(head.c_str() + 9) : 0;
    const size_t at = head.find("Content-Length: ");
    const size_t length =
        at == std::string::npos ? 0 : std::strtoull(head.c_str() + at + 16, nullptr, 10);
    while (buffer_.size() < head_end + 4 + length) {
      if (!Fill()) return {};
    }
    answer.body = buffer_.substr(head_end + 4, length);
    buffer_.erase(0, head_end + 4 + length);
    if (head.find("Connection: close") != std::string::npos) Close();
    return answer;
  }

  const uint16_t port_;
  const uint32_t source_;
  int socket_ = -1;
  std::string buffer_;
};

}  // namespace strobe::bench
