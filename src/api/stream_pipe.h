// The bounded pipe between a handler that streams and the connection that sends.
//
//   StreamPipe pipe(cancel, kMaxStreamAheadBytes, [] { post(PumpStream); });
//   pipe.Write("data: ...\n\n");            // on the stream's thread; blocks while too far ahead
//   std::string bytes = pipe.Take(&finished, &failed);   // on the connection's strand
//
// `Abandon` (the client went away, the server stops) wakes the writer and makes it fail.
// Thread-safe; one writer, one taker.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "src/api/response.h"
#include "src/base/cancel.h"

namespace strobe::api {

class StreamPipe final : public StreamWriter {
 public:
  StreamPipe(CancelSource cancel, size_t max_ahead_bytes, std::function<void()> wake_taker)
      : cancel_(std::move(cancel)),
        token_(cancel_.token()),
        max_ahead_bytes_(max_ahead_bytes),
        wake_taker_(std::move(wake_taker)) {}

  bool Write(std::string bytes) override {
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [this] { return abandoned_ || waiting_.size() < max_ahead_bytes_; });
      if (abandoned_) return false;
      waiting_ += bytes;
    }
    wake_taker_();
    return true;
  }

  void Fail() override {
    const std::lock_guard lock(mutex_);
    failed_ = true;
  }

  const CancelToken& cancel() const override { return token_; }

  void Finish() {
    {
      const std::lock_guard lock(mutex_);
      finished_ = true;
    }
    wake_taker_();
  }

  void Abandon() {
    cancel_.Cancel();
    {
      const std::lock_guard lock(mutex_);
      abandoned_ = true;
    }
    room_.notify_all();
  }

  // All that waits; `finished` when nothing will follow it, `failed` when it is not whole then.
  std::string Take(bool* finished, bool* failed) {
    std::string bytes;
    {
      const std::lock_guard lock(mutex_);
      bytes.swap(waiting_);
      *finished = finished_;
      *failed = failed_;
    }
    room_.notify_all();
    return bytes;
  }

 private:
  CancelSource cancel_;
  const CancelToken token_;
  const size_t max_ahead_bytes_;
  const std::function<void()> wake_taker_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::string waiting_;
  bool finished_ = false;
  bool failed_ = false;
  bool abandoned_ = false;
};

}  // namespace strobe::api
