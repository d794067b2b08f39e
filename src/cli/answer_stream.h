// An HTTP answer taken piece by piece, for those that are larger than memory.
//
//   AnswerStream answer([&](std::string_view part) { return file.Append(part); });
//   while (!answer.done() && more) STROBE_RETURN_IF_ERROR(answer.Feed(bytes));
//   STROBE_RETURN_IF_ERROR(answer.Finish());     // whether it was whole, and not an error
//
// Chunked, with a length, or to the end of the connection. The body of an answer of 400 and more is
// kept and becomes the error that it tells of. Errors: SERVER_ANSWER_BROKEN, the sink's own.
// Memory: the head (kMaxHeadBytes) and one error. Pure but for the sink.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace strobe::cli {

class AnswerStream {
 public:
  static constexpr size_t kMaxHeadBytes = 64 * 1024;
  static constexpr size_t kMaxErrorBytes = 1024 * 1024;

  explicit AnswerStream(std::function<Status(std::string_view)> sink) : sink_(std::move(sink)) {}

  Status Feed(std::string_view bytes);
  Status Finish();
  bool done() const { return state_ == State::kDone; }
  uint64_t body_bytes() const { return body_bytes_; }

 private:
  enum class State : uint8_t { kHead, kBody, kChunkSize, kChunk, kChunkEnd, kDone };

  Status ReadHead();
  Status FeedChunks(std::string_view bytes);
  Status Take(std::string_view part);

  const std::function<Status(std::string_view)> sink_;
  State state_ = State::kHead;
  std::string head_;  // also the size line of a chunk
  int status_ = 0;
  std::optional<uint64_t> left_;  // of the body, or of the chunk
  uint64_t body_bytes_ = 0;
  std::string error_;
};

}  // namespace strobe::cli
