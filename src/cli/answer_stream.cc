#include "src/cli/answer_stream.h"

#include <algorithm>
#include <charconv>

#include "src/api/request.h"
#include "src/cli/api_client.h"

namespace strobe::cli {
namespace {

// A size in hexadecimal and what some servers add behind it.
constexpr size_t kMaxSizeLineBytes = 1024;

Status Broken(std::string message) {
  return UnavailableError("SERVER_ANSWER_BROKEN", std::move(message))
      .Hint("Is it a Strobe server, of this release?");
}

}  // namespace

Status AnswerStream::Take(std::string_view part) {
  body_bytes_ += part.size();
  if (status_ < 400) return sink_(part);
  error_ += part.substr(0, kMaxErrorBytes - std::min(kMaxErrorBytes, error_.size()));
  return OkStatus();
}

// What stands in the head, by ParseHttpAnswer's rules; the body it would read is none.
Status AnswerStream::ReadHead() {
  std::string_view head = head_;
  if (!head.starts_with("HTTP/1.") || head.size() < 12) return Broken("The answer is not HTTP.");
  const std::optional<uint32_t> status = api::ParseUint32(head.substr(9, 3));
  if (!status) return Broken("The answer has no status.");
  status_ = static_cast<int>(*status);
  state_ = State::kBody;
  for (size_t end = head.find("\r\n"); end != std::string_view::npos; end = head.find("\r\n")) {
    head.remove_prefix(end + 2);
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = api::TrimSpaces(line.substr(std::min(colon + 1, line.size())));
    if (api::EqualsIgnoreCase(name, "content-length")) {
      const std::optional<int64_t> length = api::ParseInt64(value);
      if (!length || *length < 0) return Broken("The answer has no length that makes sense.");
      left_ = static_cast<uint64_t>(*length);
      if (*left_ == 0) state_ = State::kDone;
    }
    if (api::EqualsIgnoreCase(name, "transfer-encoding") &&
        api::EqualsIgnoreCase(value, "chunked")) {
      state_ = State::kChunkSize;
    }
    if (api::EqualsIgnoreCase(name, "content-encoding") &&
        !api::EqualsIgnoreCase(value, "identity")) {
      return Broken("The answer is compressed though it was not asked to be.");
    }
  }
  head_.clear();
  return OkStatus();
}

Status AnswerStream::Feed(std::string_view bytes) {
  if (state_ == State::kHead) {
    head_ += bytes;
    const size_t end = head_.find("\r\n\r\n");
    if (end == std::string::npos) {
      return head_.size() > kMaxHeadBytes ? Broken("The answer's head is too large.") : OkStatus();
    }
    const std::string rest = head_.substr(end + 4);
    head_.resize(end);
    STROBE_RETURN_IF_ERROR(ReadHead());
    return rest.empty() ? OkStatus() : Feed(rest);
  }
  if (state_ == State::kDone) return OkStatus();
  if (state_ != State::kBody) return FeedChunks(bytes);
  if (left_) {
    bytes = bytes.substr(0, *left_);
    *left_ -= bytes.size();
    if (*left_ == 0) state_ = State::kDone;
  }
  return Take(bytes);
}

Status AnswerStream::FeedChunks(std::string_view bytes) {
  while (!bytes.empty() && state_ != State::kDone) {
    if (state_ == State::kChunk) {
      const std::string_view part = bytes.substr(0, *left_);
      bytes.remove_prefix(part.size());
      *left_ -= part.size();
      if (*left_ == 0) state_ = State::kChunkEnd;
      STROBE_RETURN_IF_ERROR(Take(part));
      continue;
    }
    // One character of a size, or of the line's end behind a chunk.
    const char c = bytes[0];
    bytes.remove_prefix(1);
    if (state_ == State::kChunkEnd) {
      if (c == '\n') state_ = State::kChunkSize;
      continue;
    }
    if (c != '\n') {
      head_ += c;
      if (head_.size() > kMaxSizeLineBytes) return Broken("The answer's chunks make no sense.");
      continue;
    }
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(head_.data(), head_.data() + head_.size(), size, 16);
    if (error != std::errc() || end == head_.data()) {
      return Broken("The answer's chunks make no sense.");
    }
    head_.clear();
    left_ = size;
    state_ = size == 0 ? State::kDone : State::kChunk;
  }
  return OkStatus();
}

Status AnswerStream::Finish() {
  if (state_ == State::kBody && !left_) state_ = State::kDone;  // it ends with the connection
  if (state_ != State::kDone) return Broken("The answer ends in the middle.");
  return status_ < 400 ? OkStatus() : ErrorOfAnswer(status_, error_);
}

}  // namespace strobe::cli
