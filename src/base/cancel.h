// Cancellation: one flag that a long piece of work looks at, and that anyone holding the source can
// set.
//
//   CancelSource source;
//   executor.Submit([token = source.token()] { while (more && !token.cancelled()) Step(); });
//   source.Cancel();   // the client went away
//
// Cost: one relaxed atomic load per look. A default token is never cancelled. Copyable,
// thread-safe.
#pragma once

#include <atomic>
#include <memory>

#include "src/base/status.h"

namespace strobe {

class CancelToken {
 public:
  CancelToken() = default;
  bool cancelled() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
  // OK, or CANCELLED with the name "CANCELLED".
  Status Check() const {
    return cancelled()
               ? CancelledError("CANCELLED", "The work was cancelled because nobody waits for it.")
               : OkStatus();
  }

 private:
  friend class CancelSource;
  explicit CancelToken(std::shared_ptr<std::atomic<bool>> flag) : flag_(std::move(flag)) {}
  std::shared_ptr<std::atomic<bool>> flag_;
};

class CancelSource {
 public:
  CancelSource() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  CancelToken token() const { return CancelToken(flag_); }
  void Cancel() { flag_->store(true); }
  bool cancelled() const { return flag_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

}  // namespace strobe
