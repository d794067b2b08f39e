// Reads a profiler server's answer where it lies: in the many pieces in which it came over the
// network.
//
//   ByteChain chain(pieces);
//   STROBE_ASSIGN_OR_RETURN(Answer answer, ReadAnswer(chain));
//   for (const ByteSpan& span : answer.xspace) chain.ForEachPiece(span, write_to_file);
//
// A ProfileResponse is {6 tool_data, 7 empty_trace, 8 xspace}; the XSpace can have gigabytes. It is
// never joined or parsed whole: its skeleton (planes, their stats, the first event of a line) is
// walked over the pieces, so an answer is in memory once and no more. The walk also proves that the
// message is framed as an XSpace before it becomes a file.
//
// Cost: 20-60 ns a field of the skeleton (planes, lines, metadata entries; not events):
// milliseconds for 200 MB. Limits: strings taken out of the answer are cut or bounded (kMax...).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/wire/wire_reader.h"

namespace strobe::capture {

struct ByteSpan {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

// Pieces that are read as if they were one string. Does not own the bytes.
class ByteChain {
 public:
  explicit ByteChain(std::vector<std::string_view> pieces);

  uint64_t size_bytes() const { return size_bytes_; }
  // Copies up to `capacity` bytes from `offset` on; returns how many there were.
  size_t Copy(uint64_t offset, size_t capacity, char* out) const;
  std::string CopyText(const ByteSpan& span, size_t max_bytes) const;
  // Calls `use` for each piece of the span in order, until it returns an error.
  Status ForEachPiece(const ByteSpan& span,
                      const std::function<Status(std::string_view)>& use) const;

 private:
  size_t PieceAt(uint64_t offset) const;

  std::vector<std::string_view> pieces_;
  std::vector<uint64_t> starts_;  // of each piece
  uint64_t size_bytes_ = 0;
  mutable size_t last_piece_ = 0;  // reads go forward, so the next is here or right behind
};

// As wire::WireReader, over a part of a chain; the value of a kBytes field is a span.
class ChainReader {
 public:
  ChainReader(const ByteChain& chain, const ByteSpan& span)
      : chain_(chain), at_(span.offset), end_(span.offset + span.size_bytes) {}

  struct Field {
    uint32_t number = 0;
    wire::WireType type = wire::WireType::kVarint;
    uint64_t value = 0;
    ByteSpan bytes;
  };
  // The next field, or false at the end or at the first error.
  bool Next(Field* field);
  wire::WireError error() const { return error_; }
  uint64_t error_offset() const { return at_; }

 private:
  const ByteChain& chain_;
  uint64_t at_;
  uint64_t end_;
  wire::WireError error_ = wire::WireError::kNone;
};

inline constexpr size_t kMaxAnswerHostnames = 16;
inline constexpr size_t kMaxAnswerNotes = 8;

struct Answer {
  bool empty_trace = false;      // the server says that it saw nothing
  uint64_t tool_data_count = 0;  // old servers answer with ready-made tool data
  std::vector<ByteSpan> xspace;  // usually one; several are one message in several parts
  uint64_t xspace_bytes = 0;
  // From the XSpace:
  bool has_events = false;
  uint64_t plane_count = 0;
  std::vector<std::string> hostnames;
  std::vector<int64_t> process_ids;  // distinct; who answered
  std::vector<std::string> notes;    // the XSpace's own errors and warnings
};

// Error: CAPTURE_BAD_ANSWER with the offset at which it stops being what was expected.
Result<Answer> ReadAnswer(const ByteChain& chain);

}  // namespace strobe::capture
