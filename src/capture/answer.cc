#include "src/capture/answer.h"

#include <algorithm>
#include <cstring>

#include "src/capture/target.h"

namespace strobe::capture {
namespace {

using wire::WireError;
using wire::WireType;

// Longest thing read at once: a tag and a varint.
constexpr size_t kPeekBytes = 2 * wire::kMaxVarintBytes;
// A stat metadata entry whose name is longer than this is not the one looked for.
constexpr size_t kMaxStatMetadataBytes = 512;
// A plane's integer stat is far shorter.
constexpr size_t kMaxStatBytes = 64;
constexpr size_t kMaxHostnameBytes = 253;
constexpr size_t kMaxProcessIds = 16;

// Field numbers of XSpace, XPlane, XLine, XStat and of map entries.
constexpr uint32_t kSpacePlanes = 1, kSpaceErrors = 2, kSpaceWarnings = 3, kSpaceHostnames = 4;
constexpr uint32_t kPlaneLines = 3, kPlaneStatMetadata = 5, kPlaneStats = 6;
constexpr uint32_t kLineEvents = 4;
constexpr uint32_t kStatMetadataId = 1, kStatUint64 = 3, kStatInt64 = 4;
constexpr uint32_t kEntryKey = 1, kEntryValue = 2, kMetadataName = 2;
constexpr uint32_t kAnswerToolData = 6, kAnswerEmpty = 7, kAnswerXSpace = 8;
constexpr std::string_view kProcessIdStat = "process_id";

Status BadAnswer(std::string_view what, const ChainReader& reader) {
  return DataLossError("CAPTURE_BAD_ANSWER", "The target's answer is not a profile: its " +
                                                 std::string(what) + " cannot be read (" +
                                                 std::string(WireErrorText(reader.error())) + ").")
      .Where("byte " + std::to_string(reader.error_offset()) + " of the answer")
      .Hint(
          "Is the target a JAX or TensorFlow profiler server? If it is, try again; the answer "
          "may have been damaged on its way.");
}

class XSpaceScan {
 public:
  XSpaceScan(const ByteChain& chain, Answer* answer) : chain_(chain), answer_(answer) {}

  Status ScanSpace(const ByteSpan& span) {
    ChainReader reader(chain_, span);
    ChainReader::Field field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kBytes) continue;
      if (field.number == kSpacePlanes) STROBE_RETURN_IF_ERROR(ScanPlane(field.bytes));
      if (field.number == kSpaceErrors || field.number == kSpaceWarnings) TakeNote(field.bytes);
      if (field.number == kSpaceHostnames && answer_->hostnames.size() < kMaxAnswerHostnames) {
        answer_->hostnames.push_back(chain_.CopyText(field.bytes, kMaxHostnameBytes));
      }
    }
    return reader.error() == WireError::kNone ? OkStatus() : BadAnswer("XSpace", reader);
  }

 private:
  struct NumberStat {
    int64_t metadata_id = 0;
    int64_t value = 0;
  };

  void TakeNote(const ByteSpan& text) {
    if (answer_->notes.size() >= kMaxAnswerNotes) return;
    answer_->notes.push_back(CleanText(chain_.CopyText(text, 400)));
  }

  Status ScanPlane(const ByteSpan& span) {
    ++answer_->plane_count;
    std::vector<NumberStat> stats;
    int64_t process_id_key = 0;
    bool key_known = false;
    ChainReader reader(chain_, span);
    ChainReader::Field field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kBytes) continue;
      if (field.number == kPlaneLines && !answer_->has_events) {
        STROBE_RETURN_IF_ERROR(ScanLine(field.bytes));
      }
      if (field.number == kPlaneStatMetadata && !key_known) {
        key_known = ReadProcessIdKey(field.bytes, &process_id_key);
      }
      if (field.number == kPlaneStats && stats.size() < kMaxStatBytes) {
        stats.push_back(ReadNumberStat(field.bytes));
      }
    }
    if (reader.error() != WireError::kNone) return BadAnswer("XPlane", reader);
    for (const NumberStat& stat : stats) {
      if (key_known && stat.metadata_id == process_id_key) AddProcessId(stat.value);
    }
    return OkStatus();
  }

  // Only as far as the first event.
  Status ScanLine(const ByteSpan& span) {
    ChainReader reader(chain_, span);
    ChainReader::Field field;
    while (reader.Next(&field)) {
      if (field.number == kLineEvents && field.type == WireType::kBytes) {
        answer_->has_events = true;
        return OkStatus();
      }
    }
    return reader.error() == WireError::kNone ? OkStatus() : BadAnswer("XLine", reader);
  }

  bool ReadProcessIdKey(const ByteSpan& span, int64_t* key) const {
    if (span.size_bytes > kMaxStatMetadataBytes) return false;
    const std::string entry = chain_.CopyText(span, kMaxStatMetadataBytes);
    wire::WireReader reader(entry);
    wire::WireField field;
    bool found = false;
    int64_t number = 0;
    while (reader.Next(&field)) {
      if (field.number == kEntryKey && field.type == WireType::kVarint) {
        number = field.signed_value();
      }
      if (field.number != kEntryValue || field.type != WireType::kBytes) continue;
      wire::WireReader value_reader(field.bytes);
      wire::WireField inner;
      while (value_reader.Next(&inner)) {
        if (inner.number == kMetadataName && inner.type == WireType::kBytes) {
          found = inner.bytes == kProcessIdStat;
        }
      }
    }
    if (found) *key = number;
    return found;
  }

  NumberStat ReadNumberStat(const ByteSpan& span) const {
    NumberStat stat;
    if (span.size_bytes > kMaxStatBytes) return stat;
    const std::string bytes = chain_.CopyText(span, kMaxStatBytes);
    wire::WireReader reader(bytes);
    wire::WireField field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kVarint) continue;
      if (field.number == kStatMetadataId) stat.metadata_id = field.signed_value();
      if (field.number == kStatUint64 || field.number == kStatInt64) {
        stat.value = field.signed_value();
      }
    }
    return stat;
  }

  void AddProcessId(int64_t id) {
    std::vector<int64_t>& ids = answer_->process_ids;
    if (ids.size() < kMaxProcessIds && std::find(ids.begin(), ids.end(), id) == ids.end()) {
      ids.push_back(id);
    }
  }

  const ByteChain& chain_;
  Answer* const answer_;
};

}  // namespace

ByteChain::ByteChain(std::vector<std::string_view> pieces) : pieces_(std::move(pieces)) {
  std::erase_if(pieces_, [](std::string_view piece) { return piece.empty(); });
  starts_.reserve(pieces_.size());
  for (const std::string_view piece : pieces_) {
    starts_.push_back(size_bytes_);
    size_bytes_ += piece.size();
  }
}

size_t ByteChain::PieceAt(uint64_t offset) const {
  STROBE_CHECK(offset < size_bytes_);
  const auto holds = [&](size_t i) {
    return i < pieces_.size() && starts_[i] <= offset && offset < starts_[i] + pieces_[i].size();
  };
  if (holds(last_piece_)) return last_piece_;
  if (holds(last_piece_ + 1)) return ++last_piece_;
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  last_piece_ = static_cast<size_t>(next - starts_.begin()) - 1;
  return last_piece_;
}

size_t ByteChain::Copy(uint64_t offset, size_t capacity, char* out) const {
  if (offset >= size_bytes_) return 0;
  size_t copied = 0;
  size_t piece = PieceAt(offset);
  size_t within = offset - starts_[piece];
  while (copied < capacity && piece < pieces_.size()) {
    const std::string_view rest = pieces_[piece].substr(within);
    const size_t count = std::min(capacity - copied, rest.size());
    std::memcpy(out + copied, rest.data(), count);
    copied += count;
    ++piece;
    within = 0;
  }
  return copied;
}

std::string ByteChain::CopyText(const ByteSpan& span, size_t max_bytes) const {
  std::string text(std::min<uint64_t>(span.size_bytes, max_bytes), '\0');
  text.resize(Copy(span.offset, text.size(), text.data()));
  return text;
}

Status ByteChain::ForEachPiece(const ByteSpan& span,
                               const std::function<Status(std::string_view)>& use) const {
  if (span.size_bytes == 0) return OkStatus();
  STROBE_CHECK(span.offset + span.size_bytes <= size_bytes_);
  uint64_t left = span.size_bytes;
  size_t piece = PieceAt(span.offset);
  size_t within = span.offset - starts_[piece];
  while (left > 0) {
    const std::string_view part =
        pieces_[piece].substr(within, std::min<uint64_t>(left, pieces_[piece].size()));
    STROBE_RETURN_IF_ERROR(use(part));
    left -= part.size();
    ++piece;
    within = 0;
  }
  return OkStatus();
}

bool ChainReader::Next(Field* field) {
  if (at_ >= end_ || error_ != WireError::kNone) return false;
  char head[kPeekBytes];
  const size_t size = chain_.Copy(at_, std::min<uint64_t>(sizeof(head), end_ - at_), head);
  const auto* const begin = reinterpret_cast<const uint8_t*>(head);
  const uint8_t* const end = begin + size;
  uint64_t tag = 0;
  const uint8_t* next = wire::DecodeVarintBounded(begin, end, &tag, &error_);
  if (next == nullptr) return false;
  const uint64_t number = tag >> 3;
  if (number == 0 || number > (1u << 29) - 1) {
    error_ = WireError::kBadTag;
    return false;
  }
  field->number = static_cast<uint32_t>(number);
  field->type = static_cast<WireType>(tag & 7);
  uint64_t skip = 0;
  switch (field->type) {
    case WireType::kVarint:
    case WireType::kBytes:
      next = wire::DecodeVarintBounded(next, end, &field->value, &error_);
      if (next == nullptr) return false;
      if (field->type == WireType::kBytes) skip = field->value;
      break;
    case WireType::kFixed64:
      skip = 8;
      break;
    case WireType::kFixed32:
      skip = 4;
      break;
    case WireType::kStartGroup:
    case WireType::kEndGroup:
      error_ = WireError::kGroup;
      return false;
    default:
      error_ = WireError::kBadType;
      return false;
  }
  const uint64_t value_at = at_ + static_cast<uint64_t>(next - begin);
  if (skip > end_ - value_at) {
    error_ = WireError::kOverrun;
    return false;
  }
  field->bytes = {value_at, skip};
  at_ = value_at + skip;
  return true;
}

Result<Answer> ReadAnswer(const ByteChain& chain) {
  Answer answer;
  ChainReader reader(chain, {0, chain.size_bytes()});
  ChainReader::Field field;
  while (reader.Next(&field)) {
    if (field.number == kAnswerToolData) ++answer.tool_data_count;
    if (field.number == kAnswerEmpty && field.type == WireType::kVarint) {
      answer.empty_trace = field.value != 0;
    }
    if (field.number == kAnswerXSpace && field.type == WireType::kBytes) {
      answer.xspace.push_back(field.bytes);
      answer.xspace_bytes += field.bytes.size_bytes;
    }
  }
  if (reader.error() != WireError::kNone) return BadAnswer("outer message", reader);
  XSpaceScan scan(chain, &answer);
  for (const ByteSpan& span : answer.xspace) STROBE_RETURN_IF_ERROR(scan.ScanSpace(span));
  return answer;
}

}  // namespace strobe::capture
