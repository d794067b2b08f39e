#include "src/xplane/line_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "src/wire/wire_reader.h"
#include "src/xplane/row_layout.h"
#include "src/xplane/skeleton.h"

namespace strobe::xplane {

using wire::DecodeVarintFast;
using wire::WireError;
using wire::WireField;
using wire::WireReader;
using wire::WireType;

namespace {

// Decoded bytes are given back to the system in pieces of this size, so that a mapped line is never
// wholly resident beside its columns.
constexpr uint64_t kReleaseBytes = 32ull << 20;
// Lines up to this are counted exactly; for longer ones a sample is enough.
constexpr uint64_t kCountExactlyBytes = 64 * 1024;
constexpr uint64_t kSampleBytes = 16 * 1024;
constexpr uint64_t kMaxEventsPerLine = std::numeric_limits<uint32_t>::max() - 1;

// Tags as they stand in the bytes: field number << 3 | wire type.
constexpr uint8_t kLineEventTag = 4 << 3 | 2;
constexpr uint8_t kEventMetadataIdTag = 1 << 3;
constexpr uint8_t kEventOffsetTag = 2 << 3;
constexpr uint8_t kEventDurationTag = 3 << 3;
constexpr uint8_t kEventStatTag = 4 << 3 | 2;

struct Event {
  uint64_t metadata_id = 0;
  uint64_t offset_ps = 0;
  uint64_t duration_ps = 0;
  bool aggregated = false;
};

// An event in canonical form whose record begins at `at` (its tag). Needs kFastReadBytes readable
// bytes behind `end`'s furthest reach: the caller keeps away from the end of the file. Returns the
// position behind the event, nullptr when the careful path must look at it.
inline const uint8_t* ReadEventFast(const uint8_t* at, const uint8_t* line_end, Event* event) {
  uint64_t length = at[1];
  const uint8_t* p = at + 2;
  if (length >= 0x80) [[unlikely]] {
    if (at[2] >= 0x80) return nullptr;
    length = (length & 0x7f) | uint64_t{at[2]} << 7;
    p = at + 3;
  }
  if (length > static_cast<uint64_t>(line_end - p)) [[unlikely]]
    return nullptr;
  const uint8_t* end = p + length;
  event->metadata_id = 0;
  event->offset_ps = 0;
  event->duration_ps = 0;
  // Each of these may read a field of the next record when this one has ended; then p is beyond
  // `end` and the event goes to the careful path.
  if (*p == kEventMetadataIdTag) {
    p = DecodeVarintFast(p + 1, &event->metadata_id);
    if (p == nullptr) [[unlikely]]
      return nullptr;
  }
  if (*p == kEventOffsetTag) {
    p = DecodeVarintFast(p + 1, &event->offset_ps);
    if (p == nullptr) [[unlikely]]
      return nullptr;
  }
  if (*p == kEventDurationTag) {
    p = DecodeVarintFast(p + 1, &event->duration_ps);
    if (p == nullptr) [[unlikely]]
      return nullptr;
  }
  while (p < end && *p == kEventStatTag) {
    uint64_t stat_length = p[1];
    if (stat_length >= 0x80) [[unlikely]] {
      if (p[2] >= 0x80) return nullptr;
      stat_length = ((stat_length & 0x7f) | uint64_t{p[2]} << 7) + 1;
    }
    p += 2 + stat_length;
  }
  return p == end ? end : nullptr;
}

class Decoder {
 public:
  Decoder(const LineDecodeInput& input, DecodedLine* out)
      : input_(input),
        out_(*out),
        file_(input.source.bytes()),
        bytes_(file_.substr(input.line.bytes.offset, input.line.bytes.size_bytes)),
        begin_(reinterpret_cast<const uint8_t*>(bytes_.data())),
        end_(begin_ + bytes_.size()),
        absent_name_(static_cast<uint32_t>(input.plane.event_metadata.size() - 1)),
        base_ps_(input.line.base_ps) {}

  void Run() {
    if (!Allocate(EstimateEvents())) {
      out_.damage = OutOfMemoryDamage(PlaceAt(0));
    } else {
      DecodeEvents();
    }
    Release(released_, bytes_.size());
    if (late_timestamp_) MoveToLateBase();
    Finish();
  }

 private:
  DamagePlace PlaceAt(uint64_t offset) const {
    return {input_.line.bytes.offset + offset, input_.plane.name, input_.line.label()};
  }
  uint64_t OffsetOf(const uint8_t* at) const { return static_cast<uint64_t>(at - begin_); }

  uint64_t EstimateEvents() const;
  bool Allocate(uint64_t capacity);
  bool GrowTo(uint64_t capacity);
  void DecodeEvents();
  const uint8_t* DecodeRun(const uint8_t* at, const uint8_t* until);
  const uint8_t* ReadFieldCarefully(const uint8_t* at);
  bool ReadEventCarefully(std::string_view record, uint64_t offset, Event* event);
  void ReadLineField(const WireField& field);
  void ReportOverrun(const WireReader& reader, uint64_t offset);
  bool Append(const Event& event, uint64_t offset);
  void Release(uint64_t from, uint64_t to);
  void MoveToLateBase();
  void Finish();
  bool MakeRows(LineColumns* columns);
  template <typename T>
  bool Permute(const Column<uint32_t>& source, Column<T>* column);

  const LineDecodeInput& input_;
  DecodedLine& out_;
  const std::string_view file_;
  const std::string_view bytes_;
  const uint8_t* const begin_;
  const uint8_t* const end_;
  const uint32_t absent_name_;
  int64_t base_ps_;

  uint64_t count_ = 0;
  uint64_t capacity_ = 0;
  bool stopped_ = false;  // by damage or a limit
  uint64_t released_ = 0;
  std::optional<int64_t> late_timestamp_;

  int64_t previous_start_ = std::numeric_limits<int64_t>::min();
  int64_t previous_duration_ = 0;
  int64_t first_start_ = std::numeric_limits<int64_t>::max();
  int64_t last_end_ = std::numeric_limits<int64_t>::min();
  uint64_t out_of_order_ = 0;
  uint64_t negative_ = 0;
  uint64_t saturated_ = 0;
  uint64_t missing_ = 0;
  bool must_sort_ = false;
  bool nests_ = false;
  std::vector<uint32_t> untimed_;
};

uint64_t Decoder::EstimateEvents() const {
  const bool exactly = bytes_.size() <= kCountExactlyBytes;
  WireReader reader(exactly ? bytes_ : bytes_.substr(0, kSampleBytes));
  WireField field;
  uint64_t events = 0;
  uint64_t first = 0;
  while (reader.Next(&field)) {
    if (field.number != 4) continue;
    if (events++ == 0) first = field.offset;
  }
  if (exactly) return events + 1;  // one more when the last is cut short
  const double each = static_cast<double>(reader.offset() - first) /
                      static_cast<double>(std::max<uint64_t>(events, 1));
  return static_cast<uint64_t>(static_cast<double>(bytes_.size()) / std::max(each, 2.0) * 1.04) +
         64;
}

bool Decoder::Allocate(uint64_t capacity) {
  return GrowTo(std::min({capacity, input_.max_events, kMaxEventsPerLine}));
}

bool Decoder::GrowTo(uint64_t capacity) {
  // Lines beyond 4 GiB need a few more bits of each event's place.
  const bool high = bytes_.size() > std::numeric_limits<uint32_t>::max();
  if (!out_.name.Resize(capacity) || !out_.start_ps.Resize(capacity) ||
      !out_.duration_ps.Resize(capacity) || !out_.event_offset.Resize(capacity) ||
      (high && !out_.event_offset_high.Resize(capacity))) {
    return false;
  }
  capacity_ = capacity;
  return true;
}

void Decoder::Release(uint64_t from, uint64_t to) {
  if (bytes_.size() < kReleaseBytes || to <= from) return;
  input_.source.Advise(input_.line.bytes.offset + from, to - from,
                       storage::ByteSource::Access::kDontNeed);
  released_ = to;
}

void Decoder::DecodeEvents() {
  const uint8_t* at = begin_;
  while (at < end_ && !stopped_) {
    const uint64_t left = static_cast<uint64_t>(end_ - at);
    const uint8_t* until = at + std::min(left, kReleaseBytes);
    if (left > kReleaseBytes) {
      input_.source.Advise(input_.line.bytes.offset + OffsetOf(until),
                           std::min(left - kReleaseBytes, kReleaseBytes),
                           storage::ByteSource::Access::kWillNeed);
    }
    at = DecodeRun(at, until);
    Release(released_, OffsetOf(at));
  }
}

// Decodes what begins before `until`. Returns where the next field begins.
const uint8_t* Decoder::DecodeRun(const uint8_t* at, const uint8_t* until) {
  // The fast path may read this far behind the end of an event.
  constexpr size_t kReach = 4 * wire::kFastReadBytes;
  const auto* file_end = reinterpret_cast<const uint8_t*>(file_.data()) + file_.size();
  const uint8_t* fast_end =
      static_cast<size_t>(file_end - begin_) > kReach ? std::min(end_, file_end - kReach) : begin_;
  Event event;
  while (at < until && !stopped_) {
    if (at < fast_end && *at == kLineEventTag) [[likely]] {
      const uint8_t* next = ReadEventFast(at, fast_end, &event);
      if (next != nullptr) [[likely]] {
        if (!Append(event, OffsetOf(at))) [[unlikely]]
          return at;
        at = next;
        continue;
      }
    }
    at = ReadFieldCarefully(at);
  }
  return at;
}

const uint8_t* Decoder::ReadFieldCarefully(const uint8_t* at) {
  const uint64_t offset = OffsetOf(at);
  WireReader reader(bytes_.substr(offset));
  WireField field;
  if (!reader.Next(&field)) {
    ReportOverrun(reader, offset);
    stopped_ = true;
    return at;
  }
  const WireType expected = field.number == 2 || field.number == 4 || field.number == 11
                                ? WireType::kBytes
                                : WireType::kVarint;
  const bool known = field.number <= 4 || (field.number >= 9 && field.number <= 11);
  if (known && field.type != expected) {
    out_.damage = WrongTypeDamage("a known field of a line", PlaceAt(offset));
    stopped_ = true;
    return at;
  }
  if (field.number == 4) {
    Event event;
    if (!ReadEventCarefully(field.bytes, offset, &event) || !Append(event, offset)) {
      stopped_ = true;
      return at;
    }
  } else {
    ReadLineField(field);
  }
  return at + reader.offset();
}

void Decoder::ReportOverrun(const WireReader& reader, uint64_t offset) {
  WireField field;
  uint64_t claimed_bytes = 0;
  if (reader.error() == WireError::kOverrun && input_.clipped) return;
  if (reader.Clipped(&field, &claimed_bytes)) {
    out_.damage = LengthDamage(field.number == 4 ? "an event" : "a field of the line",
                               claimed_bytes, field.bytes.size(), PlaceAt(offset));
  } else {
    out_.damage =
        WireDamage(reader.error(), "an event or another field of a line", PlaceAt(offset));
  }
}

bool Decoder::ReadEventCarefully(std::string_view record, uint64_t offset, Event* event) {
  WireReader reader(record);
  WireField field;
  bool has_offset = false;
  while (reader.Next(&field)) {
    if (field.number > 5) continue;
    if (field.type != (field.number == 4 ? WireType::kBytes : WireType::kVarint)) {
      out_.damage = WrongTypeDamage("a known field of an event", PlaceAt(offset));
      return false;
    }
    if (field.number == 1) event->metadata_id = field.value;
    if (field.number == 3) event->duration_ps = field.value;
    // Offset and number of occurrences exclude each other; the last one counts.
    if (field.number == 2) {
      event->offset_ps = field.value;
      has_offset = true;
      event->aggregated = false;
    }
    if (field.number == 5) {
      event->aggregated = true;
      has_offset = false;
    }
  }
  if (!has_offset) event->offset_ps = 0;
  if (reader.error() == WireError::kNone) return true;
  out_.damage = WireDamage(reader.error(), "a field of an event", PlaceAt(offset));
  return false;
}

// Fields in front of the events were read with the skeleton already.
void Decoder::ReadLineField(const WireField& field) {
  if (count_ == 0) return;
  if (field.number == 3) late_timestamp_ = field.signed_value();
  if (field.number == 10) out_.stored.columns.display_id = field.signed_value();
  if (field.number == 11) out_.stored.columns.display_name = field.bytes;
}

// False when the line ends here because of a limit.
inline bool Decoder::Append(const Event& event, uint64_t offset) {
  if (count_ == capacity_) [[unlikely]] {
    const uint64_t limit = std::min(input_.max_events, kMaxEventsPerLine);
    stopped_ = true;
    if (count_ >= limit) {
      out_.damage =
          LimitDamage(fmt::format("The line has more than {} events, each of a few bytes.", limit),
                      PlaceAt(offset));
      return false;
    }
    if (!GrowTo(std::min(limit, count_ + count_ / 4 + 256))) {
      out_.damage = OutOfMemoryDamage(PlaceAt(offset));
      return false;
    }
    stopped_ = false;
  }
  uint32_t name = input_.event_ids.Find(static_cast<int64_t>(event.metadata_id));
  if (name == IdMap::kAbsent) [[unlikely]] {
    name = absent_name_;
    ++missing_;
  }
  auto duration = static_cast<int64_t>(event.duration_ps);
  auto start = static_cast<int64_t>(event.offset_ps);
  if (duration < 0) [[unlikely]] {
    duration = 0;
    ++negative_;
  }
  // |base| <= 2^62, so the sum fits in 64 bits when the offset is within +-2^62 too.
  const auto outside = [](int64_t time) {
    return static_cast<uint64_t>(time) + uint64_t{kMaxTimePs} > 2 * uint64_t{kMaxTimePs};
  };
  bool saturated = outside(start);
  if (saturated) [[unlikely]]
    start = std::clamp(start, -kMaxTimePs, kMaxTimePs - 1);
  start += base_ps_;
  if (outside(start)) [[unlikely]] {
    start = std::clamp(start, -kMaxTimePs, kMaxTimePs);
    saturated = true;
  }
  if (duration > kMaxTimePs - start) [[unlikely]] {
    duration = kMaxTimePs - start;
    saturated = true;
  }
  saturated_ += saturated;

  const uint64_t i = count_++;
  out_.name.data()[i] = name;
  out_.start_ps.data()[i] = start;
  out_.duration_ps.data()[i] = duration;
  out_.event_offset.data()[i] = static_cast<uint32_t>(offset);
  if (out_.event_offset_high.data() != nullptr) [[unlikely]] {
    out_.event_offset_high.data()[i] = static_cast<uint8_t>(offset >> 32);
  }
  if (event.aggregated) [[unlikely]] {
    untimed_.push_back(static_cast<uint32_t>(i));
    return true;
  }
  out_of_order_ += start < previous_start_;
  must_sort_ |=
      start < previous_start_ || (start == previous_start_ && duration > previous_duration_);
  nests_ |= start < last_end_;
  previous_start_ = start;
  previous_duration_ = duration;
  first_start_ = std::min(first_start_, start);
  last_end_ = std::max(last_end_, start + duration);
  return true;
}

// The timestamp stands behind the events, which only a hand-made file does: move them.
void Decoder::MoveToLateBase() {
  const int64_t base_ps = LineBasePs(*late_timestamp_, input_.origin_unix_ns);
  const auto move = [&](int64_t time) {
    int64_t moved = 0;
    if (__builtin_add_overflow(time - base_ps_, base_ps, &moved)) {
      moved = time > base_ps_ ? kMaxTimePs : -kMaxTimePs;
    }
    return std::clamp(moved, -kMaxTimePs, kMaxTimePs);
  };
  for (uint64_t i = 0; i < count_; ++i) {
    const int64_t end = move(out_.start_ps.data()[i] + out_.duration_ps.data()[i]);
    out_.start_ps.data()[i] = move(out_.start_ps.data()[i]);
    out_.duration_ps.data()[i] = end - out_.start_ps.data()[i];
  }
  if (count_ > untimed_.size()) {
    first_start_ = move(first_start_);
    last_end_ = move(last_end_);
  }
}

template <typename T>
bool Decoder::Permute(const Column<uint32_t>& source, Column<T>* column) {
  Column<T> sorted;
  if (!sorted.Resize(count_)) return false;
  const uint32_t* from = source.data();
  const T* old = column->data();
  T* fresh = sorted.data();
  for (uint64_t i = 0; i < count_; ++i) fresh[i] = old[from[i]];
  *column = std::move(sorted);
  return true;
}

bool Decoder::MakeRows(LineColumns* columns) {
  if (count_ == 0) return true;
  if (!nests_ && !must_sort_ && untimed_.empty()) {
    out_.rows.push_back({0, static_cast<uint32_t>(count_)});
    return true;
  }
  RowLayout layout;
  if (!LayOutRows(out_.start_ps.view(), out_.duration_ps.view(), !must_sort_, untimed_, &layout)) {
    return false;
  }
  columns->overlapping = layout.overlapping;
  columns->crowded = layout.crowded;
  out_.rows = std::move(layout.rows);
  return Permute(layout.source, &out_.start_ps) && Permute(layout.source, &out_.duration_ps) &&
         Permute(layout.source, &out_.name) && Permute(layout.source, &out_.event_offset) &&
         (out_.event_offset_high.size() == 0 || Permute(layout.source, &out_.event_offset_high));
}

void Decoder::Finish() {
  LineColumns& columns = out_.stored.columns;
  columns.aggregated = untimed_.size();
  const bool fits = GrowTo(count_) && MakeRows(&columns);
  if (!fits) {
    out_.damage = OutOfMemoryDamage(PlaceAt(0));
    count_ = 0;
    out_.rows.clear();
    (void)GrowTo(0);
    columns = LineColumns();
  }
  if (count_ > untimed_.size()) {
    columns.first_start_ps = first_start_;
    columns.last_end_ps = last_end_;
  }
  columns.rows = out_.rows;
  columns.name = out_.name.view();
  columns.start_ps = out_.start_ps.view();
  columns.duration_ps = out_.duration_ps.view();
  columns.out_of_order = out_of_order_;
  columns.negative = negative_;
  columns.saturated = saturated_;
  columns.missing_metadata = missing_;
  columns.damaged = out_.damage.has_value() || input_.clipped;
  out_.stored.event_offset = out_.event_offset.view();
  out_.stored.event_offset_high = out_.event_offset_high.view();
}

}  // namespace

void DecodeLine(const LineDecodeInput& input, DecodedLine* line) { Decoder(input, line).Run(); }

}  // namespace strobe::xplane
