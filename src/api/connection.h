// Inside of the server only: one accepted socket, and what connections share.
//
// Everything of a connection happens on its strand except the handler, which gets a shared
// Exchange and posts its answer back. States: idle -> head -> body -> handling -> writing (or
// streaming) -> idle, or lingering and closed.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <condition_variable>
#include <functional>
#include <latch>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "src/api/server.h"
#include "src/base/executor.h"

namespace strobe::api {

class Connection {
 public:
  virtual ~Connection() = default;
  virtual void Start() = 0;
  // Answers with this error and closes.
  virtual void Refuse(const Status& error, int status) = 0;
  // From any thread: stop when idle, end streams, close after the answer under way.
  virtual void Drain() = 0;
  // From any thread: cancel and close now; `closed` counts down when it is done.
  virtual void Abort(std::shared_ptr<std::latch> closed) = 0;
};

// Threads for event streams: each mostly waits, so it must not hold a handler thread.
class StreamThreads {
 public:
  explicit StreamThreads(size_t limit) : limit_(limit) {}
  ~StreamThreads() { Stop(); }
  // False when all are taken, or after Stop.
  bool Run(std::function<void()> work);
  // Waits for all that run.
  void Stop();

 private:
  struct Entry {
    std::thread thread;
    std::atomic<bool> done{false};
  };
  void Reap();

  const size_t limit_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> entries_;
  bool stopped_ = false;
};

struct ServerShared {
  ServerShared(ServerOptions o, Server::Parts p)
      : options(std::move(o)), parts(p), streams(options.max_streams) {}

  const ServerOptions options;
  Server::Parts parts;
  std::atomic<bool> draining{false};

  // False when a limit is met; `error` then says which.
  bool Admit(const std::string& peer, std::shared_ptr<Connection> connection, Status* error);
  void Remove(const Connection* connection, const std::string& peer);
  bool WaitUntilEmpty(int64_t timeout_ms);
  std::vector<std::shared_ptr<Connection>> Snapshot();
  // Null: plain HTTP. Connections keep the certificate they began with.
  std::shared_ptr<boost::asio::ssl::context> Tls();
  Status LoadTls();

  std::mutex mutex;
  std::shared_ptr<boost::asio::ssl::context> tls;
  std::atomic<uint16_t> http2_port{0};          // where HTTP/2 is led to; 0: nowhere
  std::map<uint16_t, std::string> http2_peers;  // by the port that a connection has there
  std::condition_variable changed;
  std::unordered_map<const Connection*, std::weak_ptr<Connection>> connections;
  std::map<std::string, size_t> by_peer;

  StreamThreads streams;
  // By HttpMetrics::PoolIndex: for RunOn::kPool and RunOn::kWorkPool.
  std::array<std::unique_ptr<Executor>, HttpMetrics::kPools> pools;
};

std::shared_ptr<Connection> MakeConnection(boost::asio::ip::tcp::socket socket, std::string peer,
                                           std::shared_ptr<ServerShared> shared);

}  // namespace strobe::api
