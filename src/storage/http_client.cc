#include "src/storage/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "src/storage/checksum.h"

namespace strobe::storage {
namespace {

constexpr int kCancelLookMs = 100;
constexpr int kPollMs = 1000;
// An answer of more headers than this is no object store's.
constexpr size_t kMaxHeaderBytes = 64 * 1024;

struct Transfer {
  const HttpRequest* request = nullptr;
  HttpAnswer answer;
  std::string_view unsent;
  size_t header_bytes = 0;
  bool too_large = false;
  char error_text[CURL_ERROR_SIZE] = {};
  CURL* handle = nullptr;
  curl_slist* header_list = nullptr;
  CURLcode code = CURLE_OK;
  bool done = false;  // guarded by the client's mutex
};

size_t TakeBody(char* data, size_t size, size_t count, void* user) {
  auto* const transfer = static_cast<Transfer*>(user);
  const size_t bytes = size * count;
  if (transfer->answer.body.size() + bytes > transfer->request->max_body_bytes) {
    transfer->too_large = true;
    return 0;
  }
  transfer->answer.body.append(data, bytes);
  return bytes;
}

size_t TakeHeader(char* data, size_t size, size_t count, void* user) {
  auto* const transfer = static_cast<Transfer*>(user);
  std::string_view line(data, size * count);
  transfer->header_bytes += line.size();
  if (transfer->header_bytes > kMaxHeaderBytes) return 0;
  if (line.starts_with("HTTP/")) transfer->answer.headers.clear();  // of a 100 Continue
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return line.size();
  std::string name(line.substr(0, colon));
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && static_cast<unsigned char>(value.back()) <= ' ') value.remove_suffix(1);
  transfer->answer.headers.emplace_back(std::move(name), std::string(value));
  return line.size();
}

size_t GiveBody(char* out, size_t size, size_t count, void* user) {
  auto* const transfer = static_cast<Transfer*>(user);
  const size_t bytes = std::min(size * count, transfer->unsent.size());
  std::copy_n(transfer->unsent.data(), bytes, out);
  transfer->unsent.remove_prefix(bytes);
  return bytes;
}

// Sending again from the start, on a connection that turned out to be closed.
int RewindBody(void* user, curl_off_t offset, int origin) {
  auto* const transfer = static_cast<Transfer*>(user);
  const std::string_view body = transfer->request->body;
  if (origin != SEEK_SET || offset < 0 || static_cast<size_t>(offset) > body.size()) {
    return CURL_SEEKFUNC_FAIL;
  }
  transfer->unsent = body.substr(static_cast<size_t>(offset));
  return CURL_SEEKFUNC_OK;
}

Status ErrorOf(const Transfer& transfer) {
  const std::string where = UrlForPeople(transfer.request->url);
  if (transfer.too_large) {
    return OutOfRangeError("OBJECT_ANSWER_TOO_LARGE",
                           "The answer is longer than the " +
                               std::to_string(transfer.request->max_body_bytes) +
                               " bytes that were expected.")
        .Where(where);
  }
  const std::string why =
      transfer.error_text[0] != '\0' ? transfer.error_text : curl_easy_strerror(transfer.code);
  switch (transfer.code) {
    case CURLE_OPERATION_TIMEDOUT:
      return DeadlineExceededError("OBJECT_STORE_TIMEOUT",
                                   "The store did not answer in time: " + why + ".")
          .Where(where)
          .Hint("Try again; if this goes on, look at the network and the store.");
    case CURLE_PARTIAL_FILE:
      return DataLossError("OBJECT_BODY_SHORT", "The answer was cut short: " + why + ".")
          .Where(where)
          .Hint("Try again; if this goes on, look at the network or a proxy on the way.");
    default:
      return UnavailableError("OBJECT_STORE_UNREACHABLE",
                              "The store cannot be reached: " + why + ".")
          .Where(where)
          .Hint(
              "Check the address (AWS_ENDPOINT_URL, STORAGE_EMULATOR_HOST), the network and the "
              "proxy settings.");
  }
}

class CurlClient : public HttpClient {
 public:
  explicit CurlClient(const HttpClientOptions& options) : options_(options) {
    static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
    STROBE_CHECK(initialised == CURLE_OK);
    multi_ = curl_multi_init();
    STROBE_CHECK(multi_ != nullptr);
    curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                      static_cast<long>(options.max_connections));
    thread_ = std::thread([this] { Run(); });
  }

  ~CurlClient() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
    for (CURL* const handle : idle_) curl_easy_cleanup(handle);
    curl_multi_cleanup(multi_);
  }

  Result<HttpAnswer> Send(const HttpRequest& request, const CancelToken& cancel) override {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    Transfer transfer;
    transfer.request = &request;
    transfer.unsent = request.body;
    std::unique_lock lock(mutex_);
    waiting_.push_back(&transfer);
    curl_multi_wakeup(multi_);
    bool cancelled = false;
    while (!transfer.done) {
      done_.wait_for(lock, std::chrono::milliseconds(kCancelLookMs));
      if (!transfer.done && !cancelled && cancel.cancelled()) {
        cancelled = true;
        dropped_.push_back(&transfer);
        curl_multi_wakeup(multi_);
      }
    }
    lock.unlock();
    if (cancelled) STROBE_RETURN_IF_ERROR(cancel.Check());
    if (transfer.code != CURLE_OK) return ErrorOf(transfer);
    return std::move(transfer.answer);
  }

 private:
  void Prepare(Transfer* transfer) {
    const HttpRequest& request = *transfer->request;
    if (idle_.empty()) {
      transfer->handle = curl_easy_init();
      STROBE_CHECK(transfer->handle != nullptr);
    } else {
      transfer->handle = idle_.back();
      idle_.pop_back();
    }
    CURL* const h = transfer->handle;
    curl_easy_setopt(h, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    if (!options_.authorities_file.empty()) {
      curl_easy_setopt(h, CURLOPT_CAINFO, options_.authorities_file.c_str());
    }
    curl_easy_setopt(h, CURLOPT_ERRORBUFFER, transfer->error_text);
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout_ms));
    curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
    curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(options_.low_speed_bytes));
    curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options_.low_speed_seconds));
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, TakeBody);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, TakeHeader);
    curl_easy_setopt(h, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(h, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    if (request.method == "HEAD") curl_easy_setopt(h, CURLOPT_NOBODY, 1L);
    if (!request.body.empty() || request.method == "PUT" || request.method == "POST") {
      curl_easy_setopt(h, CURLOPT_UPLOAD, 1L);
      curl_easy_setopt(h, CURLOPT_READFUNCTION, GiveBody);
      curl_easy_setopt(h, CURLOPT_READDATA, transfer);
      curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, RewindBody);
      curl_easy_setopt(h, CURLOPT_SEEKDATA, transfer);
      curl_easy_setopt(h, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    for (const auto& [name, value] : request.headers) {
      // A header without a value is sent only with the semicolon.
      const std::string line = value.empty() ? name + ";" : name + ": " + value;
      transfer->header_list = curl_slist_append(transfer->header_list, line.c_str());
    }
    // No waiting for "100 Continue": the stores take what is signed.
    transfer->header_list = curl_slist_append(transfer->header_list, "Expect:");
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, transfer->header_list);
    curl_easy_setopt(h, CURLOPT_PRIVATE, transfer);
  }

  void Finish(Transfer* transfer, CURLcode code) {
    long status = 0;
    curl_easy_getinfo(transfer->handle, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(multi_, transfer->handle);
    curl_easy_reset(transfer->handle);
    idle_.push_back(transfer->handle);
    curl_slist_free_all(transfer->header_list);
    {
      std::lock_guard lock(mutex_);
      transfer->code = code;
      transfer->answer.status = static_cast<int>(status);
      transfer->done = true;
      running_.erase(transfer);
    }
    done_.notify_all();
  }

  void Run() {
    while (true) {
      std::deque<Transfer*> start;
      std::vector<Transfer*> drop;
      {
        std::lock_guard lock(mutex_);
        start.swap(waiting_);
        for (Transfer* const transfer : start) running_.insert({transfer, true});
        for (Transfer* const transfer : dropped_) {
          if (running_.contains(transfer)) drop.push_back(transfer);
        }
        dropped_.clear();
        if (stopping_ && running_.empty()) return;
      }
      for (Transfer* const transfer : start) {
        Prepare(transfer);
        curl_multi_add_handle(multi_, transfer->handle);
      }
      for (Transfer* const transfer : drop) Finish(transfer, CURLE_ABORTED_BY_CALLBACK);
      int running = 0;
      curl_multi_perform(multi_, &running);
      int left = 0;
      while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        Transfer* transfer = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        Finish(transfer, message->data.result);
      }
      curl_multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
    }
  }

  const HttpClientOptions options_;
  CURLM* multi_ = nullptr;
  std::vector<CURL*> idle_;  // the thread's
  std::mutex mutex_;
  std::condition_variable done_;
  std::deque<Transfer*> waiting_;
  std::vector<Transfer*> dropped_;
  std::map<Transfer*, bool> running_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

std::string_view HttpAnswer::Header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return "";
}

std::shared_ptr<HttpClient> MakeHttpClient(const HttpClientOptions& options) {
  return std::make_shared<CurlClient>(options);
}

std::string PercentEncode(std::string_view text, bool keep_slashes) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || (c == '/' && keep_slashes);
    if (plain) {
      encoded += c;
      continue;
    }
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

std::string PercentDecodeText(std::string_view text) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      decoded += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

std::string UrlForPeople(std::string_view url) {
  url = url.substr(0, url.find('?'));
  // user:password@ has no business in an address, but may stand there.
  const size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) {
    const size_t host = scheme + 3;
    const size_t at = url.substr(host, url.find('/', host) - host).rfind('@');
    if (at != std::string_view::npos) {
      return std::string(url.substr(0, host)) + std::string(url.substr(host + at + 1));
    }
  }
  return std::string(url);
}

}  // namespace strobe::storage
