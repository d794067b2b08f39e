#include "src/api/encoded_answers.h"

#include <utility>

namespace strobe::api {

std::optional<EncodedAnswer> EncodedAnswers::Find(
    const std::shared_ptr<const tools::ToolResult>& result) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(result.get());
  // Another result may lie where one was that is gone.
  if (found == known_.end() || found->second.result.lock() != result) return std::nullopt;
  return found->second.answer;
}

void EncodedAnswers::Keep(const std::shared_ptr<const tools::ToolResult>& result,
                          EncodedAnswer answer) {
  const uint64_t bytes = answer.body->size() + answer.gzip_body->size();
  if (bytes > kMaxBytes / 4) return;
  const std::lock_guard lock(mutex_);
  const auto [slot, is_new] = known_.try_emplace(result.get());
  if (is_new) order_.push_back(result.get());
  bytes_ += bytes - slot->second.bytes;
  slot->second = {.result = result, .answer = std::move(answer), .bytes = bytes};
  while (bytes_ > kMaxBytes) DropOldest();
}

void EncodedAnswers::DropOldest() {
  const auto oldest = known_.find(order_.front());
  order_.pop_front();
  bytes_ -= oldest->second.bytes;
  known_.erase(oldest);
}

uint64_t EncodedAnswers::resident_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace strobe::api
