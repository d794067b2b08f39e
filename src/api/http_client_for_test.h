// A plain blocking HTTP client over a socket, for tests only: what goes over the wire is written by
// hand, so that the tests also see what a careful client would never send.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <map>
#include <string>
#include <string_view>

#include "src/api/request.h"

namespace strobe::api {

struct TestAnswer {
  int status = 0;  // 0: the connection ended without an answer
  std::map<std::string, std::string> headers;
  std::string body;
  std::string Get(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

class TestClient {
 public:
  // `source`: the address of the loopback network to come from; 0: the usual one.
  explicit TestClient(uint16_t port, uint32_t source = 0) : port_(port) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (source != 0) {
      sockaddr_in from{};
      from.sin_family = AF_INET;
      from.sin_addr.s_addr = htonl(source);
      EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&from), sizeof(from)), 0);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // A test that hangs must end with a failure, not with the time limit of the whole run.
    const timeval limit{.tv_sec = 30, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient() { Close(); }

  bool connected() const { return connected_; }
  void Close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  std::string Head(std::string_view method, std::string_view target, std::string_view headers) {
    return std::string(method) + " " + std::string(target) +
           " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) + "\r\n" + std::string(headers) +
           "\r\n";
  }

  TestAnswer Get(std::string_view target, std::string_view headers = "") {
    Send(Head("GET", target, headers));
    return Read();
  }
  TestAnswer Post(std::string_view target, std::string_view body) {
    Send(Head("POST", target,
              "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                  "\r\n") +
         std::string(body));
    return Read();
  }

  // One whole answer. `no_body`: it belongs to a HEAD.
  TestAnswer Read(bool no_body = false) {
    TestAnswer answer;
    size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Fill()) return answer;
    }
    ParseHead(buffer_.substr(0, end), &answer);
    buffer_.erase(0, end + 4);
    if (no_body || answer.status == 304 || answer.status == 204 || answer.status == 100) {
      return answer;
    }
    if (answer.Get("transfer-encoding") == "chunked") {
      while (ReadChunk(&answer.body)) {
      }
    } else if (const auto size = ParseInt64(answer.Get("content-length"))) {
      while (buffer_.size() < static_cast<size_t>(*size)) {
        if (!Fill()) break;
      }
      answer.body = buffer_.substr(0, static_cast<size_t>(*size));
      buffer_.erase(0, static_cast<size_t>(*size));
    } else {
      while (Fill()) {
      }
      answer.body.swap(buffer_);
    }
    return answer;
  }

  // Head of a chunked answer; then its chunks one by one. False at the last one.
  TestAnswer ReadHead() {
    TestAnswer answer;
    size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Fill()) return answer;
    }
    ParseHead(buffer_.substr(0, end), &answer);
    buffer_.erase(0, end + 4);
    return answer;
  }
  bool ReadChunk(std::string* out) {
    size_t end;
    while ((end = buffer_.find("\r\n")) == std::string::npos) {
      if (!Fill()) return false;
    }
    const size_t size = std::stoul(buffer_.substr(0, end), nullptr, 16);
    while (buffer_.size() < end + 2 + size + 2) {
      if (!Fill()) return false;
    }
    *out += buffer_.substr(end + 2, size);
    buffer_.erase(0, end + 2 + size + 2);
    return size > 0;
  }

  // True when the other side has closed and nothing more comes.
  bool AtEnd() {
    while (Fill()) {
    }
    return closed_;
  }
  int socket() const { return socket_; }
  const std::string& unread() const { return buffer_; }

 private:
  bool Fill() {
    char bytes[16384];
    const ssize_t size = ::recv(socket_, bytes, sizeof(bytes), 0);
    closed_ = size == 0 || (size < 0 && errno == ECONNRESET);
    if (size <= 0) return false;
    buffer_.append(bytes, static_cast<size_t>(size));
    return true;
  }

  static void ParseHead(std::string_view head, TestAnswer* answer) {
    size_t line_end = std::min(head.find("\r\n"), head.size());
    answer->status = static_cast<int>(ParseInt64(head.substr(9, 3)).value_or(0));
    while (line_end < head.size()) {
      head.remove_prefix(line_end + 2);
      line_end = std::min(head.find("\r\n"), head.size());
      const std::string_view line = head.substr(0, line_end);
      const size_t colon = line.find(": ");
      if (colon == std::string_view::npos) continue;
      answer->headers[ToLowerAscii(line.substr(0, colon))] = std::string(line.substr(colon + 2));
    }
  }

  const uint16_t port_;
  int socket_ = -1;
  bool connected_ = false;
  bool closed_ = false;
  std::string buffer_;
};

// Every answer carries them, whatever its status.
inline void ExpectStrictHeaders(const TestAnswer& answer) {
  EXPECT_NE(answer.Get("content-security-policy").find("default-src 'none'"), std::string::npos);
  EXPECT_NE(answer.Get("content-security-policy").find("frame-ancestors 'self'"),
            std::string::npos);
  EXPECT_EQ(answer.Get("content-security-policy").find("unsafe"), std::string::npos);
  EXPECT_EQ(answer.Get("x-content-type-options"), "nosniff");
  EXPECT_EQ(answer.Get("referrer-policy"), "same-origin");
  EXPECT_EQ(answer.Get("cross-origin-opener-policy"), "same-origin");
  EXPECT_EQ(answer.Get("cross-origin-resource-policy"), "same-origin");
  EXPECT_FALSE(answer.Get("x-request-id").empty());
  EXPECT_FALSE(answer.Get("cache-control").empty());
}

}  // namespace strobe::api
