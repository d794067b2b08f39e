// Any bytes as an answer, cut into pieces of a size that the first byte gives: an answer or a named
// error, the same one however it is cut.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/capture/answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using strobe::capture::Answer;
  using strobe::capture::ByteChain;
  if (size == 0) return 0;
  const size_t piece_bytes = 1 + data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string_view> pieces;
  for (size_t at = 0; at < bytes.size(); at += piece_bytes) {
    pieces.push_back(bytes.substr(at, piece_bytes));
  }
  const ByteChain cut(pieces);
  const ByteChain whole({bytes});
  const strobe::Result<Answer> first = strobe::capture::ReadAnswer(cut);
  const strobe::Result<Answer> second = strobe::capture::ReadAnswer(whole);
  STROBE_CHECK(first.ok() == second.ok());
  if (!first.ok()) {
    STROBE_CHECK(first.status().name() == "CAPTURE_BAD_ANSWER");
    STROBE_CHECK(first.status().where() == second.status().where());
    return 0;
  }
  STROBE_CHECK(first->has_events == second->has_events);
  STROBE_CHECK(first->xspace_bytes == second->xspace_bytes);
  STROBE_CHECK(first->hostnames == second->hostnames);
  STROBE_CHECK(first->process_ids == second->process_ids);
  uint64_t copied = 0;
  for (const strobe::capture::ByteSpan& span : first->xspace) {
    const strobe::Status status = cut.ForEachPiece(span, [&](std::string_view piece) {
      copied += piece.size();
      return strobe::OkStatus();
    });
    STROBE_CHECK(status.ok());
  }
  STROBE_CHECK(copied == first->xspace_bytes);
  return 0;
}
