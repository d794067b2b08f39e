#include "src/xplane/profile_file.h"

#include <new>

#include "src/wire/wire_reader.h"
#include "src/xplane/line_decoder.h"
#include "src/xplane/line_store.h"
#include "src/xplane/skeleton.h"
#include "src/xplane/stats_decoder.h"

namespace strobe::xplane {

using wire::WireField;
using wire::WireReader;
using wire::WireType;

namespace {

// Columns and tables of one file together may take this much more than the file; small files more.
// Real events take at least 8 bytes for their 24 bytes of columns.
constexpr uint64_t kHeapBytesPerFileByte = 3;
constexpr uint64_t kHeapBytesFloor = 64ull << 20;
constexpr uint64_t kColumnBytesPerEvent = 24;

const StoredLine& EmptyLine() {
  static const StoredLine kEmpty;
  return kEmpty;
}

// A line that could not be decoded at all.
const StoredLine& LostLine() {
  static const StoredLine kLost = [] {
    StoredLine lost;
    lost.columns.damaged = true;
    return lost;
  }();
  return kLost;
}

class ProfileFileImpl : public ProfileFile {
 public:
  ProfileFileImpl(std::shared_ptr<const storage::ByteSource> source,
                  std::shared_ptr<const ColumnProvider> provider)
      : source_(std::move(source)), provider_(std::move(provider)), bytes_(source_->bytes()) {}
  ~ProfileFileImpl() override {
    for (size_t slot = 0; slot < slot_count_; ++slot) delete slots_[slot].decoded;
  }

  Status Init(const OpenOptions& options) {
    for (const Damage& known : options.known_damage) damage_.Add(known);
    STROBE_ASSIGN_OR_RETURN(skeleton_, ReadSkeleton(*source_, options, &damage_));
    first_slot_.reserve(skeleton_.planes.size() + 1);
    for (const Plane& plane : skeleton_.planes) {
      first_slot_.push_back(slot_count_);
      slot_count_ += plane.lines.size();
    }
    slots_ = std::make_unique<Slot[]>(slot_count_);
    resident_bytes_ = skeleton_.table_bytes + slot_count_ * sizeof(Slot);
    return OkStatus();
  }

  const std::vector<Plane>& planes() const override { return skeleton_.planes; }
  std::optional<int64_t> origin_unix_ns() const override { return skeleton_.origin_unix_ns; }
  std::optional<Window> task_window() const override { return skeleton_.window; }
  const std::vector<std::string>& hostnames() const override { return skeleton_.hostnames; }
  const std::vector<std::string>& errors() const override { return skeleton_.errors; }
  const std::vector<std::string>& warnings() const override { return skeleton_.warnings; }
  const storage::ByteSource& source() const override { return *source_; }
  std::vector<Damage> damage() const override { return damage_.Sorted(); }
  uint64_t resident_bytes() const override { return resident_bytes_.load(); }

  const LineColumns& Line(size_t plane, size_t line) const override {
    return Stored(plane, line).columns;
  }

  bool LineDecoded(size_t plane, size_t line) const override {
    return SlotOf(plane, line).state.load(std::memory_order_acquire) == kDone;
  }

  const StoredLine& Stored(size_t plane, size_t line) const {
    Slot& slot = SlotOf(plane, line);
    uint32_t state = slot.state.load(std::memory_order_acquire);
    while (state != kDone) {
      if (state == kUntouched && TryDecode(plane, line, &slot)) break;
      slot.state.wait(kBusy, std::memory_order_acquire);
      state = slot.state.load(std::memory_order_acquire);
    }
    return *slot.stored;
  }

  Status DecodeAll(const CancelToken& cancel, std::atomic<uint64_t>* progress_bytes) const override;

  std::vector<Stat> EventStats(size_t plane, size_t line, uint32_t event) const override {
    return DecodeStats(EventRecord(plane, line, event), 4, skeleton_.planes[plane],
                       skeleton_.indexes[plane]);
  }
  std::vector<Stat> MetadataStats(size_t plane, uint32_t event_metadata) const override {
    return DecodeStats(MetadataRecord(plane, event_metadata), 5, skeleton_.planes[plane],
                       skeleton_.indexes[plane]);
  }
  std::vector<int64_t> MetadataChildIds(size_t plane, uint32_t event_metadata) const override;
  std::vector<Stat> PlaneStats(size_t plane) const override;
  std::vector<Stat> EventStatColumn(size_t plane, size_t line,
                                    std::string_view stat_name) const override;
  uint64_t EventOccurrences(size_t plane, size_t line, uint32_t event) const override;
  uint64_t EventOffset(size_t plane, size_t line, uint32_t event) const override {
    const StoredLine& stored = Stored(plane, line);
    STROBE_CHECK(event < stored.columns.event_count());
    return skeleton_.planes[plane].lines[line].bytes.offset + stored.OffsetOf(event);
  }

 private:
  enum State : uint32_t { kUntouched, kBusy, kDone };
  struct Slot {
    std::atomic<uint32_t> state{kUntouched};
    DecodedLine* decoded = nullptr;      // ours
    const StoredLine* stored = nullptr;  // of `decoded` or of the provider
  };

  Slot& SlotOf(size_t plane, size_t line) const {
    STROBE_CHECK(plane < skeleton_.planes.size() && line < skeleton_.planes[plane].lines.size());
    return slots_[first_slot_[plane] + line];
  }
  // False when another thread is at it.
  bool TryDecode(size_t plane, size_t line, Slot* slot) const;
  void Decode(size_t plane, size_t line, Slot* slot) const;

  std::string_view RecordAt(uint64_t offset, uint64_t end) const;
  std::string_view EventRecord(size_t plane, size_t line, uint32_t event) const {
    const ByteRange& range = skeleton_.planes[plane].lines[line].bytes;
    return RecordAt(EventOffset(plane, line, event), range.offset + range.size_bytes);
  }
  std::string_view MetadataRecord(size_t plane, uint32_t event_metadata) const {
    STROBE_CHECK(plane < skeleton_.planes.size() &&
                 event_metadata < skeleton_.planes[plane].event_metadata.size());
    const ByteRange& range = skeleton_.planes[plane].event_metadata[event_metadata].record;
    return bytes_.substr(range.offset, range.size_bytes);
  }
  uint64_t EventsAffordable() const {
    const uint64_t limit = std::max(kHeapBytesFloor, kHeapBytesPerFileByte * bytes_.size());
    const uint64_t used = resident_bytes_.load();
    return used < limit ? (limit - used) / kColumnBytesPerEvent : 0;
  }

  const std::shared_ptr<const storage::ByteSource> source_;
  const std::shared_ptr<const ColumnProvider> provider_;
  const std::string_view bytes_;
  Skeleton skeleton_;
  std::vector<size_t> first_slot_;  // of each plane
  size_t slot_count_ = 0;
  std::unique_ptr<Slot[]> slots_;
  mutable DamageLog damage_;
  mutable LineArena arena_;
  mutable std::atomic<uint64_t> resident_bytes_{0};
  mutable std::atomic<uint64_t> decoded_bytes_{0};
};

bool ProfileFileImpl::TryDecode(size_t plane, size_t line, Slot* slot) const {
  uint32_t expected = kUntouched;
  if (!slot->state.compare_exchange_strong(expected, kBusy, std::memory_order_acquire)) {
    return expected == kDone;
  }
  Decode(plane, line, slot);
  decoded_bytes_ += skeleton_.planes[plane].lines[line].bytes.size_bytes;
  slot->state.store(kDone, std::memory_order_release);
  slot->state.notify_all();
  return true;
}

void ProfileFileImpl::Decode(size_t plane, size_t line, Slot* slot) const {
  if (provider_ != nullptr) {
    const StoredLine* kept = provider_->Find(plane, line);
    if (kept != nullptr && !kept->columns.damaged) {
      slot->stored = kept;
      return;
    }
  }
  const Plane& in_plane = skeleton_.planes[plane];
  const PlaneIndex& index = skeleton_.indexes[plane];
  const xplane::Line& in_line = in_plane.lines[line];
  const DamagePlace place = {in_line.bytes.offset, in_plane.name, in_line.label()};
  const bool clipped = index.clipped_line == static_cast<ptrdiff_t>(line);
  const uint64_t max_events = EventsAffordable();
  if (in_line.bytes.size_bytes == 0 || max_events == 0) {
    const bool empty = in_line.bytes.size_bytes == 0;
    slot->stored = empty && !clipped ? &EmptyLine() : &LostLine();
    if (!empty) damage_.Add(LimitDamage("The profile takes too much memory for its size.", place));
    return;
  }
  try {
    slot->decoded = new DecodedLine();
    slot->stored = &slot->decoded->stored;
    DecodeLine({.source = *source_,
                .plane = in_plane,
                .line = in_line,
                .event_ids = index.event_ids,
                .arena = arena_,
                .origin_unix_ns = skeleton_.origin_unix_ns,
                .clipped = clipped,
                .max_events = max_events},
               slot->decoded);
  } catch (const std::bad_alloc&) {
    slot->stored = &LostLine();
    damage_.Add(OutOfMemoryDamage(place));
    return;
  }
  resident_bytes_ += slot->decoded->heap_bytes();
  if (slot->decoded->damage) damage_.Add(*std::move(slot->decoded->damage));
}

Status ProfileFileImpl::DecodeAll(const CancelToken& cancel,
                                  std::atomic<uint64_t>* progress_bytes) const {
  // First what nobody is at, so that several callers share the work; then wait for the rest.
  for (const bool wait : {false, true}) {
    for (size_t plane = 0; plane < skeleton_.planes.size(); ++plane) {
      for (size_t line = 0; line < skeleton_.planes[plane].lines.size(); ++line) {
        STROBE_RETURN_IF_ERROR(cancel.Check());
        Slot& slot = SlotOf(plane, line);
        if (wait) {
          (void)Stored(plane, line);
        } else if (slot.state.load(std::memory_order_relaxed) == kUntouched) {
          (void)TryDecode(plane, line, &slot);
        }
        if (progress_bytes != nullptr) progress_bytes->store(decoded_bytes_.load());
      }
    }
  }
  return OkStatus();
}

// The content of the length-delimited field at `offset`.
std::string_view ProfileFileImpl::RecordAt(uint64_t offset, uint64_t end) const {
  WireReader reader(bytes_.substr(offset, end - offset));
  WireField field;
  return reader.Next(&field) && field.type == WireType::kBytes ? field.bytes : std::string_view();
}

std::vector<int64_t> ProfileFileImpl::MetadataChildIds(size_t plane,
                                                       uint32_t event_metadata) const {
  std::vector<int64_t> ids;
  WireReader reader(MetadataRecord(plane, event_metadata));
  WireField field;
  while (reader.Next(&field)) {
    if (field.number != 6) continue;
    if (field.type == WireType::kVarint) ids.push_back(field.signed_value());
    if (field.type != WireType::kBytes) continue;
    // Packed.
    const auto* at = reinterpret_cast<const uint8_t*>(field.bytes.data());
    const uint8_t* end = at + field.bytes.size();
    wire::WireError error = wire::WireError::kNone;
    uint64_t id = 0;
    while (at < end && (at = wire::DecodeVarintBounded(at, end, &id, &error)) != nullptr) {
      ids.push_back(static_cast<int64_t>(id));
    }
  }
  return ids;
}

std::vector<Stat> ProfileFileImpl::PlaneStats(size_t plane) const {
  STROBE_CHECK(plane < skeleton_.planes.size());
  std::vector<Stat> stats;
  for (const ByteRange& range : skeleton_.planes[plane].stats) {
    Stat stat;
    if (DecodeStat(bytes_.substr(range.offset, range.size_bytes), skeleton_.planes[plane],
                   skeleton_.indexes[plane], &stat)) {
      stats.push_back(stat);
    }
  }
  return stats;
}

std::vector<Stat> ProfileFileImpl::EventStatColumn(size_t plane, size_t line,
                                                   std::string_view stat_name) const {
  const StoredLine& stored = Stored(plane, line);
  const StatFinder finder(stat_name, skeleton_.planes[plane], skeleton_.indexes[plane]);
  const size_t count = stored.columns.event_count();
  std::vector<Stat> column(count);
  if (!finder.MayOccurIn(stored.columns.stat_ids)) return column;
  const ByteRange& range = skeleton_.planes[plane].lines[line].bytes;
  const uint64_t end = range.offset + range.size_bytes;
  for (size_t event = 0; event < count; ++event) {
    column[event] = finder.FindIn(RecordAt(range.offset + stored.OffsetOf(event), end));
  }
  return column;
}

uint64_t ProfileFileImpl::EventOccurrences(size_t plane, size_t line, uint32_t event) const {
  WireReader reader(EventRecord(plane, line, event));
  WireField field;
  uint64_t occurrences = 1;
  while (reader.Next(&field)) {
    if (field.type != WireType::kVarint) continue;
    if (field.number == 2) occurrences = 1;
    if (field.number == 5) occurrences = field.signed_value() < 0 ? 0 : field.value;
  }
  return occurrences;
}

}  // namespace

Result<std::shared_ptr<ProfileFile>> OpenWithColumns(
    std::shared_ptr<const storage::ByteSource> source, const OpenOptions& options,
    std::shared_ptr<const ColumnProvider> provider) {
  try {
    auto file = std::make_shared<ProfileFileImpl>(std::move(source), std::move(provider));
    STROBE_RETURN_IF_ERROR(file->Init(options));
    return std::shared_ptr<ProfileFile>(std::move(file));
  } catch (const std::bad_alloc&) {
    return ResourceExhaustedError("OUT_OF_MEMORY",
                                  "The system has no memory for the tables of the profile.")
        .Hint("Close other sessions or give the server more memory.");
  }
}

Result<std::shared_ptr<ProfileFile>> ProfileFile::Open(
    std::shared_ptr<const storage::ByteSource> source, const OpenOptions& options) {
  return OpenWithColumns(std::move(source), options, nullptr);
}

const StoredLine& StoredLineOf(const ProfileFile& file, size_t plane, size_t line) {
  const auto* ours = dynamic_cast<const ProfileFileImpl*>(&file);
  STROBE_CHECK(ours != nullptr);
  return ours->Stored(plane, line);
}

}  // namespace strobe::xplane
