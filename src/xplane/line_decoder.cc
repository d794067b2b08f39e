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
// Shorter lines are not worth a system call.
constexpr uint64_t kShortLineBytes = 1 << 20;
// The number of events of a long line is estimated from so much of its beginning.
constexpr uint64_t kSampleBytes = 64 * 1024;
constexpr uint64_t kMaxEventsPerLine = std::numeric_limits<uint32_t>::max() - 1;

// Tags as they stand in the bytes: field number << 3 | wire type.
constexpr uint8_t kLineEventTag = 4 << 3 | 2;
constexpr uint8_t kEventMetadataIdTag = 1 << 3;
constexpr uint8_t kEventOffsetTag = 2 << 3;
constexpr uint8_t kEventDurationTag = 3 << 3;
constexpr uint8_t kEventStatTag = 4 << 3 | 2;

constexpr uint8_t kStatIdTag = 1 << 3;

// The stat ids met, modulo 128: the low seven bits of an id are those of its first byte. A stat
// that does not begin with its id may be any.
struct StatIds {
  uint64_t low = 0;
  uint64_t high = 0;

  void Add(const uint8_t* stat, uint64_t length) {
    if (length < 2 || stat[0] != kStatIdTag) [[unlikely]] {
      low = high = ~uint64_t{0};
      return;
    }
    const uint64_t bit = uint64_t{1} << (stat[1] & 63);
    const bool is_high = (stat[1] & 64) != 0;
    low |= is_high ? 0 : bit;
    high |= is_high ? bit : 0;
  }
};

struct Event {
  uint64_t metadata_id = 0;
  uint64_t offset_ps = 0;
  uint64_t duration_ps = 0;
  bool aggregated = false;
};

// An event in canonical form whose record begins at `at` (its tag). Needs kFastReadBytes readable
// bytes behind `end`'s furthest reach: the caller keeps away from the end of the file. Returns the
// position behind the event, nullptr when the careful path must look at it.
inline const uint8_t* ReadEventFast(const uint8_t* at, const uint8_t* line_end, Event* event,
                                    StatIds* stat_ids) {
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
    p += 2;
    if (stat_length >= 0x80) [[unlikely]] {
      if (*p >= 0x80) return nullptr;
      stat_length = (stat_length & 0x7f) | uint64_t{*p++} << 7;
    }
    stat_ids->Add(p, stat_length);
    p += stat_length;
  }
  return p == end ? end : nullptr;
}

// What the loop over events keeps in registers.
struct Progress {
  uint64_t count = 0;
  int64_t previous_start = std::numeric_limits<int64_t>::min();
  int64_t previous_duration = 0;
  int64_t first_start = std::numeric_limits<int64_t>::max();
  int64_t last_end = std::numeric_limits<int64_t>::min();
  uint64_t out_of_order = 0;
  uint64_t missing = 0;
  StatIds stat_ids;
  bool must_sort = false;
  bool nests = false;

  void AddTimed(int64_t start, int64_t duration) {
    out_of_order += start < previous_start;
    must_sort |=
        start < previous_start || (start == previous_start && duration > previous_duration);
    nests |= start < last_end;
    previous_start = start;
    previous_duration = duration;
    first_start = std::min(first_start, start);
    last_end = std::max(last_end, start + duration);
  }
};

EventColumns& ThreadScratch() {
  thread_local EventColumns scratch;
  return scratch;
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
        max_events_(std::min(input.max_events, kMaxEventsPerLine)),
        base_ps_(input.line.base_ps) {}

  void Run() {
    if (Start()) {
      DecodeEvents();
    } else {
      out_.damage = OutOfMemoryDamage(PlaceAt(0));
    }
    Release(bytes_.size());
    if (late_timestamp_) MoveToLateBase();
    Finish();
  }

 private:
  DamagePlace PlaceAt(uint64_t offset) const {
    return {input_.line.bytes.offset + offset, input_.plane.name, input_.line.label()};
  }
  uint64_t OffsetOf(const uint8_t* at) const { return static_cast<uint64_t>(at - begin_); }
  // Lines beyond 4 GiB need a few more bits of each event's place.
  bool high() const { return bytes_.size() > std::numeric_limits<uint32_t>::max(); }
  int64_t* starts() { return columns_->start_ps.data(); }
  int64_t* durations() { return columns_->duration_ps.data(); }

  bool Start();
  uint64_t EstimateEvents() const;
  bool Resize(uint64_t capacity);
  bool MakeRoom(uint64_t offset);
  void DecodeEvents();
  const uint8_t* DecodeRun(const uint8_t* at, const uint8_t* until);
  const uint8_t* ReadFieldCarefully(const uint8_t* at, Event* event, bool* is_event);
  bool ReadEventCarefully(std::string_view record, uint64_t offset, Event* event);
  void ReadLineField(const WireField& field);
  void ReportOverrun(const WireReader& reader, uint64_t offset);
  void Saturate(int64_t offset_ps, int64_t* start, int64_t* duration);
  void Release(uint64_t to);
  void MoveToLateBase();
  void Finish();
  bool Place();
  bool PlaceFromScratch(const RowLayout* layout);
  template <typename T>
  std::span<const T> Permute(const RowLayout& layout, Column<T>* column);

  const LineDecodeInput& input_;
  DecodedLine& out_;
  const std::string_view file_;
  const std::string_view bytes_;
  const uint8_t* const begin_;
  const uint8_t* const end_;
  const uint32_t absent_name_;
  const uint64_t max_events_;
  int64_t base_ps_;

  EventColumns* columns_ = nullptr;  // the thread's scratch, or the line's own
  uint64_t capacity_ = 0;
  Progress progress_;
  bool stopped_ = false;  // by damage or a limit
  uint64_t released_ = 0;
  std::optional<int64_t> late_timestamp_;
  uint64_t negative_ = 0;
  uint64_t saturated_ = 0;
  std::vector<uint32_t> untimed_;
};

uint64_t Decoder::EstimateEvents() const {
  WireReader reader(bytes_.substr(0, kSampleBytes));
  WireField field;
  uint64_t events = 0;
  uint64_t first = 0;
  while (reader.Next(&field)) {
    if (field.number != 4) continue;
    if (events++ == 0) first = field.offset;
  }
  const double each = static_cast<double>(reader.offset() - first) /
                      static_cast<double>(std::max<uint64_t>(events, 1));
  return static_cast<uint64_t>(static_cast<double>(bytes_.size()) / std::max(each, 2.0) * 1.04) +
         64;
}

bool Decoder::Start() {
  // An event has at least two bytes.
  uint64_t estimate = bytes_.size() / 2 + 1;
  if (estimate > kScratchEvents) estimate = EstimateEvents();
  columns_ = estimate <= kScratchEvents && !high() ? &ThreadScratch() : &out_.own;
  if (columns_ == &out_.own) return Resize(std::min(estimate, max_events_));
  if (columns_->event_offset.size() < kScratchEvents && !Resize(kScratchEvents)) return false;
  capacity_ = std::min<uint64_t>(kScratchEvents, max_events_);
  return true;
}

bool Decoder::Resize(uint64_t capacity) {
  if (!columns_->name.Resize(capacity) || !columns_->start_ps.Resize(capacity) ||
      !columns_->duration_ps.Resize(capacity) || !columns_->event_offset.Resize(capacity) ||
      (high() && !columns_->event_offset_high.Resize(capacity))) {
    return false;
  }
  capacity_ = capacity;
  return true;
}

// Called when the columns are full. False: the line ends here.
bool Decoder::MakeRoom(uint64_t offset) {
  if (capacity_ >= max_events_) {
    out_.damage = LimitDamage(
        fmt::format("The line has more than {} events, each of a few bytes.", max_events_),
        PlaceAt(offset));
    return false;
  }
  const uint64_t wanted = std::min(max_events_, capacity_ + capacity_ / 4 + 256);
  EventColumns* scratch = columns_;
  columns_ = &out_.own;
  const uint64_t filled = capacity_;
  if (!Resize(wanted)) {
    // What was decoded so far is lost with the memory that it needs.
    columns_ = scratch;
    out_.damage = OutOfMemoryDamage(PlaceAt(offset));
    return false;
  }
  if (scratch != columns_) {
    std::copy_n(scratch->name.data(), filled, columns_->name.data());
    std::copy_n(scratch->start_ps.data(), filled, columns_->start_ps.data());
    std::copy_n(scratch->duration_ps.data(), filled, columns_->duration_ps.data());
    std::copy_n(scratch->event_offset.data(), filled, columns_->event_offset.data());
  }
  return true;
}

void Decoder::Release(uint64_t to) {
  if (bytes_.size() < kShortLineBytes || to <= released_) return;
  input_.source.Advise(input_.line.bytes.offset + released_, to - released_,
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
    Release(OffsetOf(at));
  }
}

// |base| <= 2^62, so base + offset fits in 64 bits when the offset is within +-2^62 too.
inline bool OutsideTime(int64_t time) {
  return static_cast<uint64_t>(time) + uint64_t{kMaxTimePs} > 2 * uint64_t{kMaxTimePs};
}

void Decoder::Saturate(int64_t offset_ps, int64_t* start, int64_t* duration) {
  bool saturated = OutsideTime(offset_ps);
  offset_ps = std::clamp(offset_ps, -kMaxTimePs, kMaxTimePs - 1);
  saturated |= OutsideTime(offset_ps + base_ps_);
  *start = std::clamp(offset_ps + base_ps_, -kMaxTimePs, kMaxTimePs);
  if (*duration < 0) {
    *duration = 0;
    ++negative_;
  }
  const int64_t longest = std::min(kMaxTimePs - 1, kMaxTimePs - std::max<int64_t>(*start, 0));
  if (*duration > longest) {
    *duration = longest;
    saturated = true;
  }
  saturated_ += saturated;
}

// Decodes what begins before `until`. Returns where the next field begins.
const uint8_t* Decoder::DecodeRun(const uint8_t* at, const uint8_t* until) {
  // The fast path may read this far behind the end of an event.
  constexpr size_t kReach = 4 * wire::kFastReadBytes;
  const auto* file_end = reinterpret_cast<const uint8_t*>(file_.data()) + file_.size();
  const uint8_t* fast_end =
      static_cast<size_t>(file_end - begin_) > kReach ? std::min(end_, file_end - kReach) : begin_;
  Progress now = progress_;
  // Kept in registers: the stores below could change what members point to, for all a compiler
  // knows.
  uint32_t* names = columns_->name.data();
  int64_t* begins = starts();
  int64_t* lengths = durations();
  uint32_t* offsets = columns_->event_offset.data();
  uint64_t capacity = capacity_;
  const IdMap& ids = input_.event_ids;
  const int64_t base_ps = base_ps_;
  const bool is_high = high();
  while (at < until) {
    Event event;
    const uint8_t* next = nullptr;
    if (at < fast_end && *at == kLineEventTag) [[likely]]
      next = ReadEventFast(at, fast_end, &event, &now.stat_ids);
    if (next == nullptr) [[unlikely]] {
      Event careful;
      bool is_event = false;
      progress_.count = now.count;
      progress_.stat_ids = now.stat_ids;
      next = ReadFieldCarefully(at, &careful, &is_event);
      now.stat_ids = progress_.stat_ids;
      if (stopped_) break;
      if (!is_event) {
        at = next;
        continue;
      }
      event = careful;
    }
    if (now.count == capacity) [[unlikely]] {
      if (!MakeRoom(OffsetOf(at))) {
        stopped_ = true;
        break;
      }
      names = columns_->name.data();
      begins = starts();
      lengths = durations();
      offsets = columns_->event_offset.data();
      capacity = capacity_;
    }
    uint32_t name = ids.Find(static_cast<int64_t>(event.metadata_id));
    now.missing += name == IdMap::kAbsent;
    name = std::min(name, absent_name_);
    auto duration = static_cast<int64_t>(event.duration_ps);
    const auto offset_ps = static_cast<int64_t>(event.offset_ps);
    int64_t start = static_cast<int64_t>(event.offset_ps + static_cast<uint64_t>(base_ps));
    // A duration of 2^62 or more, or below 0, has one of its two highest bits set.
    if (OutsideTime(offset_ps) || OutsideTime(start) || (event.duration_ps >> 62) != 0 ||
        start + duration > kMaxTimePs) [[unlikely]] {
      Saturate(offset_ps, &start, &duration);
    }
    const uint64_t offset = OffsetOf(at);
    const uint64_t i = now.count++;
    names[i] = name;
    begins[i] = start;
    lengths[i] = duration;
    offsets[i] = static_cast<uint32_t>(offset);
    if (is_high) [[unlikely]] {
      columns_->event_offset_high.data()[i] = static_cast<uint8_t>(offset >> 32);
    }
    at = next;
    if (event.aggregated) [[unlikely]] {
      untimed_.push_back(static_cast<uint32_t>(i));
      continue;
    }
    now.AddTimed(start, duration);
  }
  progress_ = now;
  return at;
}

const uint8_t* Decoder::ReadFieldCarefully(const uint8_t* at, Event* event, bool* is_event) {
  const uint64_t offset = OffsetOf(at);
  WireReader reader(bytes_.substr(offset));
  WireField field;
  stopped_ = true;
  if (!reader.Next(&field)) {
    ReportOverrun(reader, offset);
    return at;
  }
  const WireType expected = field.number == 2 || field.number == 4 || field.number == 11
                                ? WireType::kBytes
                                : WireType::kVarint;
  const bool known = field.number <= 4 || (field.number >= 9 && field.number <= 11);
  if (known && field.type != expected) {
    out_.damage = WrongTypeDamage("a known field of a line", PlaceAt(offset));
    return at;
  }
  *is_event = field.number == 4;
  if (*is_event && !ReadEventCarefully(field.bytes, offset, event)) return at;
  if (!*is_event) ReadLineField(field);
  stopped_ = false;
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
  while (reader.Next(&field)) {
    if (field.number > 5) continue;
    if (field.type != (field.number == 4 ? WireType::kBytes : WireType::kVarint)) {
      out_.damage = WrongTypeDamage("a known field of an event", PlaceAt(offset));
      return false;
    }
    if (field.number == 4) {
      progress_.stat_ids.Add(reinterpret_cast<const uint8_t*>(field.bytes.data()),
                             field.bytes.size());
    }
    if (field.number == 1) event->metadata_id = field.value;
    if (field.number == 3) event->duration_ps = field.value;
    // Offset and number of occurrences exclude each other; the last one counts.
    if (field.number == 2 || field.number == 5) {
      event->aggregated = field.number == 5;
      event->offset_ps = event->aggregated ? 0 : field.value;
    }
  }
  if (reader.error() == WireError::kNone) return true;
  out_.damage = WireDamage(reader.error(), "a field of an event", PlaceAt(offset));
  return false;
}

// Fields in front of the events were read with the skeleton already.
void Decoder::ReadLineField(const WireField& field) {
  if (progress_.count == 0) return;
  if (field.number == 3) late_timestamp_ = field.signed_value();
  if (field.number == 10) out_.stored.columns.display_id = field.signed_value();
  if (field.number == 11) out_.stored.columns.display_name = field.bytes;
}

// The timestamp stands behind the events, which only a hand-made file does: move them.
void Decoder::MoveToLateBase() {
  const int64_t base_ps = LineBasePs(*late_timestamp_, input_.origin_unix_ns);
  const auto move = [&](int64_t time) {
    const __int128 moved = static_cast<__int128>(time) - base_ps_ + base_ps;
    return static_cast<int64_t>(
        std::clamp<__int128>(moved, -__int128{kMaxTimePs}, __int128{kMaxTimePs}));
  };
  for (uint64_t i = 0; i < progress_.count; ++i) {
    const int64_t end = move(starts()[i] + durations()[i]);
    starts()[i] = move(starts()[i]);
    durations()[i] = end - starts()[i];
  }
  progress_.first_start = move(progress_.first_start);
  progress_.last_end = move(progress_.last_end);
}

// The column in the order of the layout. Empty when there is no memory for it.
template <typename T>
std::span<const T> Decoder::Permute(const RowLayout& layout, Column<T>* column) {
  Column<T> sorted;
  if (!sorted.Resize(progress_.count)) return {};
  const T* from = column->data();
  T* to = sorted.data();
  layout.ForEach([from, to](uint32_t event, uint32_t position) { to[position] = from[event]; });
  *column = std::move(sorted);
  return column->view();
}

bool Decoder::PlaceFromScratch(const RowLayout* layout) {
  const uint64_t count = progress_.count;
  auto* name = input_.arena.Allocate<uint32_t>(count);
  auto* start = input_.arena.Allocate<int64_t>(count);
  auto* duration = input_.arena.Allocate<int64_t>(count);
  auto* offset = input_.arena.Allocate<uint32_t>(count);
  if (name == nullptr || start == nullptr || duration == nullptr || offset == nullptr) return false;
  const uint32_t* from_name = columns_->name.data();
  const int64_t* from_start = starts();
  const int64_t* from_duration = durations();
  const uint32_t* from_offset = columns_->event_offset.data();
  if (layout == nullptr) {
    std::copy_n(from_name, count, name);
    std::copy_n(from_start, count, start);
    std::copy_n(from_duration, count, duration);
    std::copy_n(from_offset, count, offset);
  } else {
    layout->ForEach([=](uint32_t event, uint32_t position) {
      name[position] = from_name[event];
      start[position] = from_start[event];
      duration[position] = from_duration[event];
      offset[position] = from_offset[event];
    });
  }
  out_.stored.columns.name = {name, count};
  out_.stored.columns.start_ps = {start, count};
  out_.stored.columns.duration_ps = {duration, count};
  out_.stored.event_offset = {offset, count};
  return true;
}

// Brings the decoded events to their final order and place. False without memory for it.
bool Decoder::Place() {
  const uint64_t count = progress_.count;
  if (count == 0) return true;
  LineColumns& columns = out_.stored.columns;
  RowLayout layout;
  const bool one_row = !progress_.nests && !progress_.must_sort && untimed_.empty();
  if (one_row) {
    layout.rows.push_back({0, static_cast<uint32_t>(count)});
  } else if (!LayOutRows({starts(), count}, {durations(), count}, !progress_.must_sort, untimed_,
                         &layout)) {
    return false;
  }
  out_.rows = std::move(layout.rows);
  columns.overlapping = layout.overlapping;
  columns.crowded = layout.crowded;
  if (columns_ != &out_.own) return PlaceFromScratch(one_row ? nullptr : &layout);
  if (!Resize(count)) return false;
  EventColumns& own = out_.own;
  columns.start_ps = one_row ? own.start_ps.view() : Permute(layout, &own.start_ps);
  columns.duration_ps = one_row ? own.duration_ps.view() : Permute(layout, &own.duration_ps);
  columns.name = one_row ? own.name.view() : Permute(layout, &own.name);
  out_.stored.event_offset = one_row ? own.event_offset.view() : Permute(layout, &own.event_offset);
  if (high()) {
    out_.stored.event_offset_high =
        one_row ? own.event_offset_high.view() : Permute(layout, &own.event_offset_high);
  }
  return columns.start_ps.size() == count && columns.duration_ps.size() == count &&
         columns.name.size() == count && out_.stored.event_offset.size() == count &&
         (!high() || out_.stored.event_offset_high.size() == count);
}

void Decoder::Finish() {
  LineColumns& columns = out_.stored.columns;
  if (Place()) {
    if (progress_.count > untimed_.size()) {
      columns.first_start_ps = progress_.first_start;
      columns.last_end_ps = progress_.last_end;
    }
    columns.aggregated = untimed_.size();
    columns.out_of_order = progress_.out_of_order;
    columns.negative = negative_;
    columns.saturated = saturated_;
    columns.missing_metadata = progress_.missing;
    columns.stat_ids = {{progress_.stat_ids.low, progress_.stat_ids.high}};
    columns.rows = out_.rows;
  } else {
    out_.damage = OutOfMemoryDamage(PlaceAt(0));
    out_.own = EventColumns();
    out_.stored = StoredLine();
  }
  columns.damaged = out_.damage.has_value() || input_.clipped;
}

}  // namespace

void DecodeLine(const LineDecodeInput& input, DecodedLine* line) { Decoder(input, line).Run(); }

}  // namespace strobe::xplane
