#include "src/api/connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>

#include "src/api/cookies.h"
#include "src/api/finish.h"
#include "src/api/stream_pipe.h"
#include "src/base/log.h"
#include "src/base/work_owner.h"

namespace strobe::api {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Parser = http::request_parser<http::string_body>;

// After an answer that closes, what the client still sends is read and dropped for this long, so
// that a reset does not overtake the answer.
constexpr int64_t kLingerMs = 2000;
constexpr size_t kLingerBytes = 4 * 1024 * 1024;
constexpr size_t kReadBytes = 8 * 1024;
// How long a server that stops waits for the rest of a request: a round trip or two.
constexpr int64_t kDrainReadMs = 1'000;
constexpr int kUnsupportedMediaType = 415;
// Exporters send every minute or so and keep their connection; ten times that is a lost one.
constexpr int64_t kTunnelIdleMs = 600'000;
constexpr size_t kTunnelBytes = 16 * 1024;

// What a request and its handler share; outlives the connection when the client leaves.
struct Exchange {
  Request request;
  Match match;
  CancelSource cancel;
  std::string user;  // whose share of the threads it is taken from
  int64_t started_ns = 0;
};

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

Status ConvertRequest(http::request<http::string_body>& message, Request* request) {
  request->method = ParseMethod(View(message.method_string()));
  request->http_1_0 = message.version() == 10;
  request->headers.clear();
  for (const auto& field : message) {
    request->headers.push_back(
        {ToLowerAscii(View(field.name_string())), std::string(View(field.value()))});
  }
  request->body = std::move(message.body());
  return SetTarget(View(message.target()), request);
}

Status MalformedError(const ErrorCode& error) {
  return InvalidArgumentError("REQUEST_MALFORMED", "The request is not HTTP/1.1 that makes sense.")
      .Where(error.message())
      .Hint("Look at what is between the client and the server.");
}

// The named error and HTTP status of a failed read; an OK status means: close without a word.
Status ReadError(const ErrorCode& error, const ServerOptions& options, int* status) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    *status = 431;
    return InvalidArgumentError("HEADERS_TOO_LARGE", "The head of the request is too large.")
        .Hint(fmt::format("At most {} bytes are taken.", options.max_header_bytes));
  }
  if (error == http::error::body_limit) {
    *status = 413;
    return InvalidArgumentError("BODY_TOO_LARGE", "The body of the request is too large.")
        .Hint(fmt::format("At most {} bytes are taken.", options.max_body_bytes));
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != make_error_code(http::error::end_of_stream).category()) {
    return OkStatus();
  }
  *status = 400;
  return MalformedError(error);
}

// `Stream` is a TCP socket, or TLS over one.
template <typename Stream>
class ConnectionImpl final : public Connection,
                             public std::enable_shared_from_this<ConnectionImpl<Stream>> {
 public:
  ConnectionImpl(Stream stream, std::string peer, std::shared_ptr<ServerShared> shared)
      : stream_(std::move(stream)),
        timer_(socket().get_executor()),
        peer_(std::move(peer)),
        shared_(std::move(shared)) {}

  ~ConnectionImpl() override { shared_->Remove(this, peer_); }

  void Start() override {
    asio::post(socket().get_executor(), [self = this->shared_from_this()] {
      if constexpr (kTls) {
        self->Handshake();
      } else {
        self->AwaitRequest();
      }
    });
  }

  void Refuse(const Status& error, int status) override {
    // Without a handshake there is no way to say it.
    if constexpr (kTls) return Drain();
    asio::post(socket().get_executor(), [self = this->shared_from_this(), error, status] {
      self->AnswerError(error, status);
    });
  }

  void Drain() override {
    asio::post(socket().get_executor(), [self = this->shared_from_this()] {
      if (self->state_ == State::kIdle || self->state_ == State::kLingering ||
          self->state_ == State::kTunnel) {
        self->Close();
      }
      // A request that is arriving may arrive whole; one that was left half-sent is not waited for.
      if (self->state_ == State::kReading) self->ArmTimer(kDrainReadMs);
      if (self->pipe_ != nullptr) self->pipe_->Abandon();
    });
  }

  void Abort(std::shared_ptr<std::latch> closed) override {
    asio::post(socket().get_executor(), [self = this->shared_from_this(), closed] {
      self->Close();
      closed->count_down();
    });
  }

 private:
  enum class State : uint8_t {
    kIdle,
    kReading,
    kHandling,
    kWriting,
    kStreaming,
    kLingering,
    kTunnel,
    kClosed
  };

  // The other end of a tunnel, and what is under way.
  struct Inner {
    explicit Inner(tcp::socket::executor_type executor) : socket(executor) {}
    tcp::socket socket;
    uint16_t port = 0;
    std::array<char, kTunnelBytes> outward;
    std::array<char, kTunnelBytes> inward;
  };

  static constexpr bool kTls = !std::is_same_v<Stream, tcp::socket>;

  tcp::socket& socket() { return boost::beast::get_lowest_layer(stream_); }
  const ServerOptions& options() const { return shared_->options; }
  HttpMetrics& metrics() { return shared_->parts.metrics; }

  // ---- time limits ----

  void ArmTimer(int64_t timeout_ms) {
    const uint64_t generation = ++timer_generation_;
    timer_.expires_after(std::chrono::milliseconds(timeout_ms));
    timer_.async_wait([weak = this->weak_from_this(), generation](ErrorCode error) {
      const auto self = weak.lock();
      if (!error && self != nullptr && generation == self->timer_generation_) self->OnTimeout();
    });
  }

  void DisarmTimer() {
    ++timer_generation_;
    timer_.cancel();
  }

  void OnTimeout() {
    switch (state_) {
      case State::kReading:
        metrics().timed_out_connections.fetch_add(1);
        // The read under way ends with operation_aborted, which is then ignored.
        AbandonRead();
        AnswerError(UnavailableError("REQUEST_TIMEOUT", "The request did not arrive in time.")
                        .Hint("Send the whole request at once."),
                    408);
        return;
      case State::kHandling:
        exchange_->cancel.Cancel();
        ++exchange_generation_;
        AnswerError(
            DeadlineExceededError("REQUEST_DEADLINE", "The answer took longer than a request may.")
                .Hint("Ask for less at once, or try again: work already done is kept."),
            504);
        return;
      case State::kWriting:
      case State::kStreaming:
        metrics().timed_out_connections.fetch_add(1);
        Close();
        return;
      case State::kIdle:
      case State::kLingering:
      case State::kTunnel:
        Close();
        return;
      case State::kClosed:
        return;
    }
  }

  void AbandonRead() {
    ++read_generation_;
    ErrorCode ignored;
    socket().cancel(ignored);
  }

  // ---- TLS ----

  void Handshake() {
    if constexpr (kTls) {
      state_ = State::kIdle;
      ArmTimer(options().header_timeout_ms);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](ErrorCode error) {
                                if (self->state_ == State::kClosed) return;
                                if (error) return self->Close();
                                if (self->SpeaksHttp2()) return self->Tunnel();
                                self->AwaitRequest();
                              });
    }
  }

  // ---- HTTP/2, led on to who speaks it ----

  bool SpeaksHttp2() {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(stream_.native_handle(), &name, &size);
    return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
  }

  void Tunnel() {
    state_ = State::kTunnel;
    ArmTimer(kTunnelIdleMs);
    inner_ = std::make_unique<Inner>(socket().get_executor());
    inner_->socket.async_connect(
        tcp::endpoint(asio::ip::address_v4::loopback(), shared_->http2_port.load()),
        [self = this->shared_from_this()](ErrorCode error) {
          if (error || self->state_ == State::kClosed) return self->Close();
          Inner& inner = *self->inner_;
          inner.port = inner.socket.local_endpoint(error).port();
          {
            const std::lock_guard lock(self->shared_->mutex);
            self->shared_->http2_peers[inner.port] = self->peer_;
          }
          self->Pass(self->stream_, inner.socket, inner.outward);
          self->Pass(inner.socket, self->stream_, inner.inward);
        });
  }

  // What comes from one side goes to the other, until one of them ends.
  template <typename From, typename To>
  void Pass(From& from, To& to, std::array<char, kTunnelBytes>& bytes) {
    from.async_read_some(asio::buffer(bytes), [self = this->shared_from_this(), &from, &to, &bytes](
                                                  ErrorCode error, size_t size) {
      if (error || self->state_ == State::kClosed) return self->Close();
      self->ArmTimer(kTunnelIdleMs);
      asio::async_write(to, asio::buffer(bytes.data(), size),
                        [self, &from, &to, &bytes](ErrorCode failed, size_t) {
                          if (failed || self->state_ == State::kClosed) return self->Close();
                          self->Pass(from, to, bytes);
                        });
    });
  }

  // Behind a proxy that is trusted, who asks and how is what the proxy says.
  void FindOrigin(Request* request) {
    request->peer = peer_;
    request->secure = kTls;
    if (shared_->parts.proxies == nullptr) return;
    const ForwardedOrigin origin = shared_->parts.proxies->OriginOf(*request);
    request->peer = origin.peer;
    request->secure = request->secure || origin.secure;
  }

  // ---- reading ----

  void AwaitRequest() {
    if (state_ == State::kClosed) return;
    if (shared_->draining.load()) return Close();
    exchange_ = nullptr;
    if (buffer_.size() > 0) return ReadHead();
    state_ = State::kIdle;
    ArmTimer(options().idle_timeout_ms);
    stream_.async_read_some(buffer_.prepare(kReadBytes), [self = this->shared_from_this(),
                                                          generation = ++read_generation_](
                                                             ErrorCode error, size_t size) {
      if (generation != self->read_generation_ || self->state_ == State::kClosed) return;
      if (error) return self->Close();
      self->buffer_.commit(size);
      self->ReadHead();
    });
  }

  void ReadHead() {
    state_ = State::kReading;
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(options().max_header_bytes));
    parser_->body_limit(options().max_body_bytes);
    ArmTimer(options().header_timeout_ms);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this(), generation = ++read_generation_](ErrorCode error,
                                                                           size_t) {
          if (generation != self->read_generation_ || self->state_ == State::kClosed) return;
          if (error) return self->OnReadError(error);
          self->OnHead();
        });
  }

  void OnHead() {
    if (parser_->is_done()) return Dispatch();
    ArmTimer(options().body_timeout_ms);
    const std::string_view expect = View(parser_->get()[http::field::expect]);
    if (expect.empty()) return ReadBody();
    if (!EqualsIgnoreCase(expect, "100-continue")) {
      return AnswerError(
          InvalidArgumentError("EXPECTATION_UNKNOWN", "Only \"Expect: 100-continue\" is known."),
          417);
    }
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                      [self = this->shared_from_this(), generation = ++read_generation_](
                          ErrorCode error, size_t) {
                        if (generation != self->read_generation_) return;
                        if (error) return self->Close();
                        self->ReadBody();
                      });
  }

  void ReadBody() {
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this(), generation = ++read_generation_](
                         ErrorCode error, size_t) {
                       if (generation != self->read_generation_ || self->state_ == State::kClosed)
                         return;
                       if (error) return self->OnReadError(error);
                       self->Dispatch();
                     });
  }

  void OnReadError(const ErrorCode& error) {
    int status = 400;
    const Status named = ReadError(error, options(), &status);
    if (named.ok()) return Close();
    AnswerError(named, status);
  }

  // ---- handling ----

  void Dispatch() {
    DisarmTimer();
    exchange_ = std::make_shared<Exchange>();
    Exchange& exchange = *exchange_;
    exchange.started_ns = shared_->parts.clock.MonotonicNanos();
    metrics().running_requests.fetch_add(1);
    Request& request = exchange.request;
    request.peer = peer_;
    request.request_id = shared_->parts.ids.Make("r");
    request.cancel = exchange.cancel.token();
    keep_alive_ = parser_->keep_alive();
    const Status converted = ConvertRequest(parser_->get(), &request);
    FindOrigin(&request);
    parser_.reset();
    if (!converted.ok()) {
      return AnswerError(converted, converted.name() == "TARGET_TOO_LONG" ? 414 : 400);
    }
    int status = 0;
    const Status guarded = shared_->parts.guard.Check(request, &status);
    exchange.match = shared_->parts.router.Find(request);
    // What no route takes is answered as such (404, 405), whatever type its body has.
    const bool only_type = status == kUnsupportedMediaType && exchange.match.route == nullptr;
    if (!guarded.ok() && !only_type) {
      return AnswerNow(ErrorResponse(guarded, request.request_id, status));
    }
    if (exchange.match.route == nullptr || exchange.match.route->run_on == RunOn::kIoThread) {
      return Write(RunHandler(exchange, MakeFinishOptions()));
    }
    RunOnPool(exchange.match.route->run_on == RunOn::kWorkPool ? 1 : 0);
  }

  FinishOptions MakeFinishOptions() const {
    return {.now_unix_seconds = shared_->parts.clock.NowUnixNanos() / 1'000'000'000,
            .keep_alive = keep_alive_ && !shared_->draining.load()};
  }

  void RunOnPool(size_t pool) {
    state_ = State::kHandling;
    ArmTimer(options().request_deadline_ms);
    WatchClient();
    exchange_->user = shared_->parts.router.UserOf(exchange_->request);
    HttpMetrics::Pool& counts = metrics().pools[pool];
    counts.waiting.fetch_add(1);
    const Status submitted = shared_->pools[pool]->Submit(
        Executor::Priority::kInteractive, exchange_->user,
        [self = this->shared_from_this(), exchange = exchange_, finish = MakeFinishOptions(),
         generation = ++exchange_generation_, &counts] {
          auto wire = std::make_shared<WireResponse>(self->TakeTurn(*exchange, finish, counts));
          asio::post(self->socket().get_executor(), [self, wire, generation] {
            if (generation != self->exchange_generation_) return;
            if (self->state_ != State::kHandling) return;
            self->UnwatchClient();
            self->Write(std::move(*wire));
          });
        });
    if (submitted.ok()) return;
    counts.waiting.fetch_sub(1);
    counts.refused.fetch_add(1);
    UnwatchClient();
    Response busy = ErrorResponse(
        UnavailableError("SERVER_BUSY", "The server has more requests than it can take.")
            .Hint("Try again in a second."),
        exchange_->request.request_id);
    busy.headers.emplace_back("Retry-After", "1");
    AnswerNow(std::move(busy));
  }

  // On a thread of a pool.
  WireResponse TakeTurn(Exchange& exchange, const FinishOptions& finish,
                        HttpMetrics::Pool& counts) {
    counts.waiting.fetch_sub(1);
    if (const Status gone = exchange.request.cancel.Check(); !gone.ok()) {
      counts.abandoned.fetch_add(1);
      return Finish(exchange.request, ErrorResponse(gone, exchange.request.request_id), finish);
    }
    counts.running.fetch_add(1);
    WireResponse wire = RunHandler(exchange, finish);
    counts.running.fetch_sub(1);
    counts.served.fetch_add(1);
    return wire;
  }

  WireResponse RunHandler(Exchange& exchange, const FinishOptions& finish) {
    try {
      return Finish(exchange.request, shared_->parts.router.Run(exchange.match, exchange.request),
                    finish);
    } catch (const std::exception& error) {
      // Libraries may throw (out of memory, above all); one request fails, not the server.
      LogError("http.handler_failed", {{"request_id", exchange.request.request_id},
                                       {"target", RedactTarget(exchange.request.target)},
                                       {"reason", error.what()}});
      return Finish(
          exchange.request,
          ErrorResponse(InternalError("HANDLER_FAILED", "The server met a fault of its own.")
                            .Hint("Report it with the request id and the server's log."),
                        exchange.request.request_id),
          finish);
    }
  }

  // While a handler works, a client that leaves is noticed by its end of stream.
  void WatchClient() {
    watching_ = true;
    socket().async_wait(tcp::socket::wait_read, [self = this->shared_from_this()](ErrorCode error) {
      if (error || !self->watching_) return;
      char byte;
      const ssize_t size = recv(self->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      // More bytes are the next request: it waits in the kernel until this one is answered.
      if (size > 0 || (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))) return;
      self->exchange_->cancel.Cancel();
      self->metrics().clients_left.fetch_add(1);
      if (self->pipe_ != nullptr) self->pipe_->Abandon();
    });
  }

  void UnwatchClient() {
    if (!watching_) return;
    watching_ = false;
    ErrorCode ignored;
    socket().cancel(ignored);
  }

  // ---- writing ----

  void AnswerNow(Response response) {
    Write(Finish(exchange_->request, std::move(response), MakeFinishOptions()));
  }

  void AnswerError(const Status& error, int status) {
    UnwatchClient();
    if (exchange_ == nullptr) {
      exchange_ = std::make_shared<Exchange>();
      exchange_->started_ns = shared_->parts.clock.MonotonicNanos();
      exchange_->request.request_id = shared_->parts.ids.Make("r");
      exchange_->request.peer = peer_;
      metrics().running_requests.fetch_add(1);
    }
    Response response = ErrorResponse(error, exchange_->request.request_id, status);
    response.close_connection = true;
    AnswerNow(std::move(response));
  }

  void Write(WireResponse wire) {
    DisarmTimer();
    state_ = State::kWriting;
    wire_ = std::move(wire);
    sent_bytes_ = 0;
    body_sent_ = 0;
    WriteSlice(true);
  }

  void WriteSlice(bool with_head) {
    ArmTimer(options().write_timeout_ms);
    const std::string_view body = wire_.body_view().substr(body_sent_, kWriteSliceBytes);
    body_sent_ += body.size();
    const std::array<asio::const_buffer, 2> buffers = {
        asio::buffer(wire_.head.data(), with_head ? wire_.head.size() : 0),
        asio::buffer(body.data(), body.size())};
    asio::async_write(stream_, buffers,
                      [self = this->shared_from_this()](ErrorCode error, size_t size) {
                        if (self->state_ == State::kClosed) return;
                        self->sent_bytes_ += size;
                        if (error) return self->EndExchange(true);
                        if (self->body_sent_ < self->wire_.body_length)
                          return self->WriteSlice(false);
                        if (self->wire_.stream) return self->StartStream();
                        self->EndExchange(self->wire_.close);
                      });
  }

  void EndExchange(bool close) {
    DisarmTimer();
    LogAccess();
    if (!close) return AwaitRequest();
    Linger();
  }

  void LogAccess() {
    if (exchange_ == nullptr) return;
    const Request& request = exchange_->request;
    metrics().running_requests.fetch_sub(1);
    const double seconds =
        static_cast<double>(shared_->parts.clock.MonotonicNanos() - exchange_->started_ns) / 1e9;
    const Route* route = exchange_->match.route;
    const Router& router = shared_->parts.router;
    const size_t index = route != nullptr ? router.IndexOf(route) : router.routes().size();
    metrics().Record(index, wire_.status, seconds, sent_bytes_);
    LogInfo("http.request",
            {{"request_id", request.request_id},
             {"peer", request.peer},
             {"method", MethodName(request.method)},
             {"target", RedactTarget(std::string_view(request.target).substr(0, 1024))},
             {"status", wire_.status},
             {"error", wire_.error_name},
             {"bytes", sent_bytes_},
             {"ms", seconds * 1e3},
             {"left", exchange_->cancel.cancelled()}});
    exchange_ = nullptr;
    wire_ = WireResponse();
  }

  // ---- streams ----

  void StartStream() {
    DisarmTimer();
    state_ = State::kStreaming;
    pipe_ = std::make_shared<StreamPipe>(
        exchange_->cancel, kMaxStreamAheadBytes, [weak = this->weak_from_this()] {
          if (const auto self = weak.lock()) {
            asio::post(self->socket().get_executor(), [self] { self->PumpStream(); });
          }
        });
    WatchClient();
    metrics().open_streams.fetch_add(1);
    const bool started = shared_->streams.Run(
        [pipe = pipe_, stream = wire_.stream, shared = shared_, exchange = exchange_] {
          const WorkOwner::Scope scope(exchange->user);
          stream(*pipe);
          pipe->Finish();
          shared->parts.metrics.open_streams.fetch_sub(1);
        });
    if (!started) {
      metrics().open_streams.fetch_sub(1);
      LogWarning("http.streams_exhausted", {{"limit", options().max_streams}});
      pipe_->Finish();
    }
  }

  void PumpStream() {
    if (state_ != State::kStreaming || pumping_ || pipe_ == nullptr) return;
    bool finished = false;
    bool failed = false;
    std::string bytes = pipe_->Take(&finished, &failed);
    if (bytes.empty() && !finished) return;
    pumping_ = true;
    stream_chunk_.clear();
    if (!wire_.chunked) {
      stream_chunk_ = std::move(bytes);
    } else if (!bytes.empty()) {
      stream_chunk_ = fmt::format("{:x}\r\n", bytes.size()) + bytes + "\r\n";
    }
    // Without the last chunk the other side knows that something is missing.
    if (finished && !failed && wire_.chunked) stream_chunk_ += "0\r\n\r\n";
    ArmTimer(options().write_timeout_ms);
    asio::async_write(
        stream_, asio::buffer(stream_chunk_),
        [self = this->shared_from_this(), finished, failed](ErrorCode error, size_t size) {
          self->pumping_ = false;
          if (self->state_ == State::kClosed) return;
          self->sent_bytes_ += size;
          self->DisarmTimer();
          if (error || finished) return self->EndStream(error.failed() || failed);
          self->PumpStream();
        });
  }

  void EndStream(bool failed) {
    if (failed) pipe_->Abandon();
    pipe_ = nullptr;
    UnwatchClient();
    EndExchange(failed || wire_.close || shared_->draining.load());
  }

  // ---- closing ----

  void Linger() {
    ErrorCode ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    state_ = State::kLingering;
    lingered_ = 0;
    ArmTimer(kLingerMs);
    DropInput();
  }

  void DropInput() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kReadBytes), [self = this->shared_from_this(),
                                                          generation = ++read_generation_](
                                                             ErrorCode error, size_t size) {
      if (generation != self->read_generation_ || self->state_ == State::kClosed) return;
      self->lingered_ += size;
      if (error || self->lingered_ > kLingerBytes) return self->Close();
      self->DropInput();
    });
  }

  void Close() {
    if (state_ == State::kClosed) return;
    if (exchange_ != nullptr) {
      exchange_->cancel.Cancel();
      if (state_ == State::kHandling) wire_.status = 499;
      LogAccess();
    }
    state_ = State::kClosed;
    watching_ = false;
    ++exchange_generation_;
    if (pipe_ != nullptr) pipe_->Abandon();
    pipe_ = nullptr;
    DisarmTimer();
    ErrorCode ignored;
    socket().close(ignored);
    if (inner_ == nullptr) return;
    inner_->socket.close(ignored);
    const std::lock_guard lock(shared_->mutex);
    shared_->http2_peers.erase(inner_->port);
  }

  Stream stream_;
  asio::steady_timer timer_;
  const std::string peer_;
  const std::shared_ptr<ServerShared> shared_;

  State state_ = State::kIdle;
  uint64_t timer_generation_ = 0;
  uint64_t read_generation_ = 0;
  uint64_t exchange_generation_ = 0;
  boost::beast::flat_buffer buffer_{kMaxHeaderBytes * 4};
  std::optional<Parser> parser_;
  bool keep_alive_ = false;
  bool watching_ = false;

  std::shared_ptr<Exchange> exchange_;
  WireResponse wire_;
  size_t body_sent_ = 0;
  uint64_t sent_bytes_ = 0;

  std::shared_ptr<StreamPipe> pipe_;
  std::string stream_chunk_;
  bool pumping_ = false;
  size_t lingered_ = 0;

  std::unique_ptr<Inner> inner_;  // of a tunnel
};

}  // namespace

std::shared_ptr<Connection> MakeConnection(tcp::socket socket, std::string peer,
                                           std::shared_ptr<ServerShared> shared) {
  if (const std::shared_ptr<asio::ssl::context> tls = shared->Tls()) {
    using TlsStream = asio::ssl::stream<tcp::socket>;
    return std::make_shared<ConnectionImpl<TlsStream>>(TlsStream(std::move(socket), *tls),
                                                       std::move(peer), std::move(shared));
  }
  return std::make_shared<ConnectionImpl<tcp::socket>>(std::move(socket), std::move(peer),
                                                       std::move(shared));
}

Result<Request> ParseWholeRequest(std::string_view bytes) {
  Parser parser;
  parser.header_limit(static_cast<uint32_t>(kMaxHeaderBytes));
  parser.body_limit(kMaxBodyBytes);
  parser.eager(true);
  ErrorCode error;
  size_t used = 0;
  while (!error && used < bytes.size() && !parser.is_done()) {
    const size_t taken = parser.put(asio::buffer(bytes.data() + used, bytes.size() - used), error);
    used += taken;
    if (taken == 0) break;
  }
  if (error && error != http::error::need_more) return MalformedError(error);
  if (!parser.is_done()) {
    return InvalidArgumentError("REQUEST_INCOMPLETE", "The request ends early.");
  }
  Request request;
  STROBE_RETURN_IF_ERROR(ConvertRequest(parser.get(), &request));
  return request;
}

}  // namespace strobe::api
