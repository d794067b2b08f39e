// Many askers, one computation: whoever asks first computes, the others wait for the answer.
//
//   SingleFlight<std::string> flight;
//   STROBE_ASSIGN_OR_RETURN(auto tile, flight.Do(key, cancel, [&] { return Encode(); }));
//
// Nothing is kept once the last asker has its answer: caches are elsewhere. When the one who
// computes is cancelled, one of those who wait takes over. Waiting ends within kCancelLookMs of the
// asker's own cancellation.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::engine {

template <typename Value>
class SingleFlight {
 public:
  using Answer = Result<std::shared_ptr<const Value>>;
  static constexpr int kCancelLookMs = 50;

  Answer Do(const std::string& key, const CancelToken& cancel,
            const std::function<Answer()>& compute) {
    for (;;) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      std::shared_ptr<Call> call;
      bool leads = false;
      {
        std::lock_guard lock(mutex_);
        std::shared_ptr<Call>& slot = calls_[key];
        if (slot == nullptr) {
          slot = std::make_shared<Call>();
          leads = true;
        }
        call = slot;
      }
      if (leads) {
        Answer answer = compute();
        {
          std::lock_guard lock(mutex_);
          calls_.erase(key);
        }
        std::lock_guard lock(call->mutex);
        call->answer = std::make_unique<Answer>(answer);
        call->done.notify_all();
        return answer;
      }
      std::unique_lock lock(call->mutex);
      while (call->answer == nullptr) {
        STROBE_RETURN_IF_ERROR(cancel.Check());
        call->done.wait_for(lock, std::chrono::milliseconds(kCancelLookMs));
      }
      const bool given_up =
          !call->answer->ok() && call->answer->status().code() == StatusCode::kCancelled;
      if (!given_up) return *call->answer;
    }
  }

 private:
  struct Call {
    std::mutex mutex;
    std::condition_variable done;
    std::unique_ptr<Answer> answer;
  };
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Call>> calls_;
};

}  // namespace strobe::engine
