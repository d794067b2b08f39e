#include "src/api/server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <future>
#include <thread>
#include <vector>

#include "src/api/connection.h"
#include "src/base/log.h"

namespace strobe::api {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// Beyond the limit of connections this many more get an answer that says so; the rest are closed.
constexpr size_t kRefusalsAtOnce = 64;
// After accept() failed for want of descriptors: long enough for some to be given back.
constexpr std::chrono::milliseconds kAcceptPause{50};

class ServerImpl final : public Server {
 public:
  ServerImpl(ServerOptions options, Parts parts)
      : shared_(std::make_shared<ServerShared>(std::move(options), parts)),
        work_(asio::make_work_guard(io_)),
        acceptor_(asio::make_strand(io_)),
        retry_(acceptor_.get_executor()) {}

  ~ServerImpl() override { Shutdown(); }

  Status Listen() {
    const ServerOptions& options = shared_->options;
    STROBE_RETURN_IF_ERROR(shared_->LoadTls());
    const std::string text = options.address == "localhost" ? "127.0.0.1" : options.address;
    ErrorCode error;
    const auto address = asio::ip::make_address(text, error);
    if (error) {
      return InvalidArgumentError("LISTEN_ADDRESS_INVALID", "The address to listen on is not one.")
          .Where(options.address)
          .Hint("Expected an IP address such as 127.0.0.1, 0.0.0.0 or ::1.");
    }
    const tcp::endpoint endpoint(address, options.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return UnavailableError("LISTEN_FAILED", "Cannot listen: " + error.message() + ".")
          .Where(options.address + ":" + std::to_string(options.port))
          .Hint("Another program may hold the port; choose another one, or 0 for any free one.");
    }
    port_ = acceptor_.local_endpoint().port();
    MakePools();
    asio::post(acceptor_.get_executor(), [this] { Accept(); });
    for (int i = 0; i < options.io_threads; ++i) {
      threads_.emplace_back([this] { io_.run(); });
    }
    return OkStatus();
  }

  uint16_t port() const override { return port_; }
  bool draining() const override { return shared_->draining.load(); }
  Status ReloadTls() override { return shared_->LoadTls(); }
  void LeadHttp2To(uint16_t port) override { shared_->http2_port.store(port); }
  std::string PeerOfHttp2(std::string_view address) const override {
    const std::optional<uint32_t> port = ParseUint32(address.substr(address.rfind(':') + 1));
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->http2_peers.find(static_cast<uint16_t>(port.value_or(0)));
    return found == shared_->http2_peers.end() ? "" : found->second;
  }

  void Shutdown() override {
    const std::lock_guard lock(shutdown_mutex_);
    if (shutdown_done_) return;
    shutdown_done_ = true;
    shared_->draining.store(true);
    StopAccepting();
    for (const auto& connection : shared_->Snapshot()) connection->Drain();
    if (!shared_->WaitUntilEmpty(shared_->options.drain_timeout_ms)) AbortAll();
    // Streams end by their cancel tokens, which the io threads set; handlers are waited for last,
    // so that no io thread meets an executor that is gone.
    shared_->streams.Stop();
    work_.reset();
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
    for (std::unique_ptr<Executor>& pool : shared_->pools) pool.reset();
    threads_.clear();
  }

 private:
  // Returns when every request has been told to stop; the io threads still run then.
  void AbortAll() {
    const std::vector<std::shared_ptr<Connection>> left = shared_->Snapshot();
    LogWarning("http.shutdown_forced", {{"connections", left.size()}});
    const auto closed = std::make_shared<std::latch>(static_cast<ptrdiff_t>(left.size()));
    for (const auto& connection : left) connection->Abort(closed);
    closed->wait();
  }

  void MakePools() {
    const ServerOptions& options = shared_->options;
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const int work_threads =
        options.work_threads > 0 ? options.work_threads : std::max(kMinWorkThreads, cores);
    Executor::Options pool{.threads = options.handler_threads,
                           .max_queued_tasks = kMaxWaitingRequests,
                           .max_queued_tasks_of_user = kMaxWaitingRequestsOfUser};
    shared_->pools[0] = std::make_unique<Executor>(pool);
    pool.threads = work_threads;
    pool.niceness = kWorkNiceness;
    shared_->pools[1] = std::make_unique<Executor>(pool);
  }

  void StopAccepting() {
    if (threads_.empty()) return;
    std::promise<void> closed;
    asio::post(acceptor_.get_executor(), [this, &closed] {
      ErrorCode ignored;
      acceptor_.close(ignored);
      retry_.cancel();
      closed.set_value();
    });
    closed.get_future().wait();
  }

  void Accept() {
    if (!acceptor_.is_open()) return;
    acceptor_.async_accept(asio::make_strand(io_), [this](ErrorCode error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        Take(std::move(socket));
      } else {
        // Out of file descriptors, or the client was gone already.
        LogWarning("http.accept_failed", {{"reason", error.message()}});
        AcceptLater();
        return;
      }
      Accept();
    });
  }

  void AcceptLater() {
    retry_.expires_after(kAcceptPause);
    retry_.async_wait([this](ErrorCode error) {
      if (!error) Accept();
    });
  }

  void Take(tcp::socket socket) {
    ErrorCode error;
    const tcp::endpoint remote = socket.remote_endpoint(error);
    if (error) return;
    socket.set_option(tcp::no_delay(true), error);
    const std::string peer = remote.address().to_string();
    HttpMetrics& metrics = shared_->parts.metrics;
    metrics.accepted_connections.fetch_add(1);
    std::shared_ptr<Connection> connection = MakeConnection(std::move(socket), peer, shared_);
    Status refusal;
    if (shared_->Admit(peer, connection, &refusal)) {
      connection->Start();
      return;
    }
    metrics.refused_connections.fetch_add(1);
    if (!refusal.ok()) connection->Refuse(refusal, 503);
  }

  asio::io_context io_;
  std::shared_ptr<ServerShared> shared_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  uint16_t port_ = 0;
  std::vector<std::thread> threads_;
  std::mutex shutdown_mutex_;
  bool shutdown_done_ = false;
};

}  // namespace

bool ServerShared::Admit(const std::string& peer, std::shared_ptr<Connection> connection,
                         Status* error) {
  const std::lock_guard lock(mutex);
  const size_t total = connections.size();
  size_t& of_peer = by_peer[peer];
  const bool too_many = total >= options.max_connections;
  const bool too_many_of_peer = of_peer >= options.max_connections_per_peer;
  if (too_many && total >= options.max_connections + kRefusalsAtOnce) {
    *error = OkStatus();  // closed without a word
    if (of_peer == 0) by_peer.erase(peer);
    return false;
  }
  ++of_peer;
  connections.emplace(connection.get(), connection);
  parts.metrics.open_connections.store(static_cast<int64_t>(connections.size()));
  if (!too_many && !too_many_of_peer) return true;
  *error = ResourceExhaustedError(
               too_many ? "TOO_MANY_CONNECTIONS" : "TOO_MANY_CONNECTIONS_OF_PEER",
               too_many ? "The server has as many connections as it takes."
                        : "Your address has as many connections as the server takes from one.")
               .Hint("Close some and try again in a moment.");
  return false;
}

void ServerShared::Remove(const Connection* connection, const std::string& peer) {
  {
    const std::lock_guard lock(mutex);
    if (connections.erase(connection) == 0) return;
    const auto found = by_peer.find(peer);
    if (found != by_peer.end() && --found->second == 0) by_peer.erase(found);
    parts.metrics.open_connections.store(static_cast<int64_t>(connections.size()));
  }
  changed.notify_all();
}

bool ServerShared::WaitUntilEmpty(int64_t timeout_ms) {
  std::unique_lock lock(mutex);
  return changed.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                          [this] { return connections.empty(); });
}

std::shared_ptr<asio::ssl::context> ServerShared::Tls() {
  const std::lock_guard lock(mutex);
  return tls;
}

namespace {

// Of what the client offers: HTTP/1.1, which is spoken here, else HTTP/2 when it can be led on.
int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* offered, unsigned int offered_size, void* shared) {
  static constexpr unsigned char kKnown[] = "\x08http/1.1\x02h2";
  static constexpr unsigned kHttp11Bytes = 9;
  const bool both = static_cast<const ServerShared*>(shared)->http2_port.load() != 0;
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(
      &chosen, out_size, kKnown, both ? sizeof(kKnown) - 1 : kHttp11Bytes, offered, offered_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

Status ServerShared::LoadTls() {
  if (options.tls_certificate.empty() && options.tls_key.empty()) return OkStatus();
  auto fresh = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  ErrorCode error;
  SSL_CTX_set_min_proto_version(fresh->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(fresh->native_handle(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                                  SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_alpn_select_cb(fresh->native_handle(), ChooseProtocol, this);
  // Forward secrecy only.
  bool good = SSL_CTX_set_cipher_list(fresh->native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
  fresh->use_certificate_chain_file(options.tls_certificate, error);
  if (!error) fresh->use_private_key_file(options.tls_key, asio::ssl::context::pem, error);
  good = good && !error && SSL_CTX_check_private_key(fresh->native_handle()) == 1;
  if (!good) {
    return InvalidArgumentError("TLS_FILES", "Certificate and key cannot be used: " +
                                                 (error ? error.message() : "they differ") + ".")
        .Where(options.tls_certificate + ", " + options.tls_key)
        .Hint("Expected PEM files: the certificate with its chain, and its private key.");
  }
  const std::lock_guard lock(mutex);
  tls = std::move(fresh);
  return OkStatus();
}

std::vector<std::shared_ptr<Connection>> ServerShared::Snapshot() {
  std::vector<std::shared_ptr<Connection>> live;
  const std::lock_guard lock(mutex);
  for (const auto& [raw, weak] : connections) {
    if (std::shared_ptr<Connection> connection = weak.lock()) live.push_back(std::move(connection));
  }
  return live;
}

void StreamThreads::Reap() {
  for (auto it = entries_.begin(); it != entries_.end();) {
    if ((*it)->done.load()) {
      (*it)->thread.join();
      it = entries_.erase(it);
    } else {
      ++it;
    }
  }
}

bool StreamThreads::Run(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  Reap();
  if (stopped_ || entries_.size() >= limit_) return false;
  auto entry = std::make_shared<Entry>();
  entry->thread = std::thread([entry, work = std::move(work)]() mutable {
    LowerThreadPriority(kWorkNiceness);  // an export computes for long
    work();
    work = nullptr;
    entry->done.store(true);
  });
  entries_.push_back(std::move(entry));
  return true;
}

void StreamThreads::Stop() {
  std::list<std::shared_ptr<Entry>> entries;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    entries.swap(entries_);
  }
  for (const auto& entry : entries) entry->thread.join();
}

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Parts parts) {
  auto server = std::make_unique<ServerImpl>(std::move(options), parts);
  STROBE_RETURN_IF_ERROR(server->Listen());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace strobe::api
