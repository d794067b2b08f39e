// Answers of tools as they go over the wire, kept while their results are: asked again, an answer
// costs a look, not writing and packing megabytes of JSON.
//
//   EncodedAnswers answers;
//   if (auto known = answers.Find(result)) return Send(*known);
//   answers.Keep(result, {.body = body, .gzip_body = packed, .content_type = type});
//
// Known by the result itself (the engine gives the same object for the same question), and worth
// nothing once that is gone. Thread-safe. Cost: a hash lookup. Limits: kMaxBytes in all, bodies
// beyond a quarter of it are not kept; the oldest go first.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "src/tools/tool.h"

namespace strobe::api {

struct EncodedAnswer {
  std::shared_ptr<const std::string> body;
  std::shared_ptr<const std::string> gzip_body;
  std::string content_type;
};

class EncodedAnswers {
 public:
  // Some hundreds of tables of a usual size.
  static constexpr uint64_t kMaxBytes = 64 << 20;

  std::optional<EncodedAnswer> Find(const std::shared_ptr<const tools::ToolResult>& result) const;
  void Keep(const std::shared_ptr<const tools::ToolResult>& result, EncodedAnswer answer);
  uint64_t resident_bytes() const;

 private:
  struct Known {
    std::weak_ptr<const tools::ToolResult> result;
    EncodedAnswer answer;
    uint64_t bytes = 0;
  };
  void DropOldest();

  mutable std::mutex mutex_;  // guards everything below
  std::unordered_map<const tools::ToolResult*, Known> known_;
  std::deque<const tools::ToolResult*> order_;  // oldest first; each once
  uint64_t bytes_ = 0;
};

}  // namespace strobe::api
