#include "src/xplane/perfetto_import.h"

#include <map>
#include <new>
#include <optional>
#include <unordered_map>

#include "src/wire/wire_reader.h"
#include "src/xplane/perfetto_tracks.h"

namespace strobe::xplane {
namespace {

using wire::WireField;
using wire::WireReader;
using wire::WireType;

// How often a cancelled import looks up.
constexpr uint64_t kPacketsBetweenChecks = 1024;
// Of arguments within arguments.
constexpr int kMaxArgumentDepth = 8;
// Planes of an XSpace have fields up to this.
constexpr uint32_t kLastPlaneField = 6;

constexpr uint64_t kRealtimeClock = 1;
constexpr uint64_t kBootClock = 6;
constexpr uint64_t kFirstSequenceClock = 64;
constexpr uint64_t kLastSequenceClock = 127;

// A clock of one sequence: its times as those of the trace.
struct SequenceClock {
  int64_t trace_ns = 0;  // of `value`
  int64_t value = 0;
  int64_t multiplier_ns = 1;
  bool is_incremental = false;
  int64_t last = 0;
};

struct Sequence {
  // Texts by number, of each kind.
  std::unordered_map<uint64_t, uint32_t> categories;
  std::unordered_map<uint64_t, uint32_t> names;
  std::unordered_map<uint64_t, uint32_t> argument_names;
  std::unordered_map<uint64_t, uint32_t> texts;
  std::map<uint64_t, SequenceClock> clocks;
  uint64_t default_track = 0;
  uint64_t default_clock = kBootClock;

  void Clear() { *this = Sequence{.clocks = std::move(clocks)}; }
};

uint32_t TextOf(const std::unordered_map<uint64_t, uint32_t>& texts, uint64_t id) {
  const auto found = texts.find(id);
  return found == texts.end() ? 0 : found->second;
}

class Importer {
 public:
  Importer(std::string_view bytes, const CancelToken& cancel) : bytes_(bytes), cancel_(cancel) {}

  Result<TraceImport> Run() {
    WireReader reader(bytes_);
    WireField field;
    uint64_t packets = 0;
    while (reader.Next(&field)) {
      if (field.number != 1 || field.type != WireType::kBytes) continue;
      if (++packets % kPacketsBetweenChecks == 0) STROBE_RETURN_IF_ERROR(cancel_.Check());
      ReadPacket(field.bytes);
    }
    STROBE_RETURN_IF_ERROR(cancel_.Check());
    if (packets == 0) {
      return InvalidArgumentError("PERFETTO_NOT_A_TRACE", "The bytes are no Perfetto trace.")
          .Where("offset 0")
          .Hint("Expected packets as Perfetto writes them, not compressed as a whole.");
    }
    TraceImport import;
    import.events = tracks_.event_count();
    if (reader.error() != wire::WireError::kNone) {
      Damage damage;
      damage.status =
          DataLossError("PERFETTO_TRUNCATED", "The trace ends in the middle of a packet, after " +
                                                  std::to_string(packets) + " packets.")
              .Where("offset " + std::to_string(reader.error_offset()))
              .Hint("Copy the file again from where it was made, or record again.");
      damage.offset_bytes = reader.error_offset();
      import.damage.push_back(std::move(damage));
    }
    STROBE_ASSIGN_OR_RETURN(import.xspace, tracks_.ToXSpace(base_unix_ns_, cancel_));
    return import;
  }

 private:
  struct Packet {
    std::optional<uint64_t> timestamp;
    std::optional<uint64_t> clock;
    uint32_t sequence = 0;
    uint64_t flags = 0;
    std::string_view event;
    std::string_view other;  // a name for what else it holds
  };

  void ReadPacket(std::string_view bytes) {
    Packet packet;
    WireReader reader(bytes);
    WireField field;
    // First what the rest of the packet depends on, wherever it stands.
    while (reader.Next(&field)) {
      if (field.number == 10) packet.sequence = static_cast<uint32_t>(field.value);
      if (field.number == 13) packet.flags = field.value;
      if (field.number == 41 && field.value != 0) packet.flags |= 1;
    }
    Sequence& sequence = sequences_[packet.sequence];
    if ((packet.flags & 1) != 0) sequence.Clear();
    reader = WireReader(bytes);
    while (reader.Next(&field)) ReadField(field, &sequence, &packet);
    if (!packet.event.empty()) {
      ReadEvent(packet, &sequence);
    } else if (!packet.other.empty()) {
      tracks_.Count(packet.other);
    }
  }

  void ReadField(const WireField& field, Sequence* sequence, Packet* packet) {
    switch (field.number) {
      case 8:
        packet->timestamp = field.value;
        return;
      case 58:
        packet->clock = field.value;
        return;
      case 10:
      case 13:
      case 41:
      case 3:  // trusted uid, pid
      case 79:
      case 42:  // previous packet dropped
      case 36:  // synchronization marker
      case 33:  // trace config
      case 45:  // system info
      case 35:  // trace stats
      case 87:  // first packet on sequence
      case 89:  // trace uuid
      case 98:  // machine id
        return;
      case 12:
        ReadInterned(field.bytes, sequence);
        return;
      case 59:
        ReadDefaults(field.bytes, sequence);
        return;
      case 60:
        ReadTrack(field.bytes);
        return;
      case 6:
        ReadClocks(field.bytes, sequence);
        return;
      case 2:
        ReadProcessTree(field.bytes);
        return;
      case 43:
        ReadProcess(field.bytes, nullptr);
        return;
      case 44:
        ReadThread(field.bytes, nullptr);
        return;
      case 11:
        packet->event = field.bytes;
        return;
      case 1:
        packet->other = "packets of kernel events (scheduling and the like) were left out";
        return;
      case 50:
        packet->other = "compressed packets were left out; record or save without compression";
        return;
      default:
        packet->other = "packets that hold no track events were left out";
    }
  }

  void ReadInterned(std::string_view bytes, Sequence* sequence) {
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      std::unordered_map<uint64_t, uint32_t>* texts = nullptr;
      if (field.number == 1) texts = &sequence->categories;
      if (field.number == 2) texts = &sequence->names;
      if (field.number == 3) texts = &sequence->argument_names;
      if (field.number == 29) texts = &sequence->texts;
      if (texts == nullptr || field.type != WireType::kBytes) continue;
      WireReader entry(field.bytes);
      WireField part;
      uint64_t id = 0;
      std::string_view text;
      while (entry.Next(&part)) {
        if (part.number == 1) id = part.value;
        if (part.number == 2 && part.type == WireType::kBytes) text = part.bytes;
      }
      (*texts)[id] = tracks_.Intern(text);
    }
  }

  void ReadDefaults(std::string_view bytes, Sequence* sequence) {
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number == 58) sequence->default_clock = field.value;
      if (field.number != 11 || field.type != WireType::kBytes) continue;
      WireReader event(field.bytes);
      WireField part;
      while (event.Next(&part)) {
        if (part.number == 11) sequence->default_track = part.value;
      }
    }
  }

  void ReadTrack(std::string_view bytes) {
    WireReader reader(bytes);
    WireField field;
    uint64_t uuid = 0;
    while (reader.Next(&field)) {
      if (field.number == 1) uuid = field.value;
    }
    PerfettoTracks::Track& track = tracks_.TrackOf(uuid);
    reader = WireReader(bytes);
    while (reader.Next(&field)) {
      if (field.number == 5) track.parent = field.value;
      if (field.type != WireType::kBytes) continue;
      if (field.number == 2 || field.number == 10 || field.number == 13) track.name = field.bytes;
      if (field.number == 3) ReadProcess(field.bytes, &track);
      if (field.number == 4) ReadThread(field.bytes, &track);
      if (field.number == 8) ReadCounter(field.bytes, &track);
    }
  }

  void ReadProcess(std::string_view bytes, PerfettoTracks::Track* track) {
    WireReader reader(bytes);
    WireField field;
    int64_t pid = 0;
    std::string_view command;
    std::string_view name;
    while (reader.Next(&field)) {
      if (field.number == 1) pid = field.signed_value();
      if (field.type != WireType::kBytes) continue;
      if (field.number == 2 && command.empty()) command = field.bytes;
      if (field.number == 6) name = field.bytes;
    }
    if (track != nullptr) {
      track->has_process = true;
      track->pid = pid;
    }
    if (!name.empty() || !command.empty()) tracks_.NameProcess(pid, name.empty() ? command : name);
  }

  void ReadThread(std::string_view bytes, PerfettoTracks::Track* track) {
    WireReader reader(bytes);
    WireField field;
    int64_t pid = 0;
    int64_t tid = 0;
    std::string_view name;
    while (reader.Next(&field)) {
      if (field.number == 1) pid = field.signed_value();
      if (field.number == 2) tid = field.signed_value();
      if (field.number == 5 && field.type == WireType::kBytes) name = field.bytes;
    }
    if (track != nullptr) {
      track->has_thread = true;
      track->pid = pid;
      track->tid = tid;
    }
    if (!name.empty()) tracks_.NameThread(tid, name);
  }

  static void ReadCounter(std::string_view bytes, PerfettoTracks::Track* track) {
    track->is_counter = true;
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number == 4 && field.value != 0) track->unit_multiplier = field.signed_value();
      if (field.number == 5) track->is_incremental = field.value != 0;
    }
  }

  void ReadProcessTree(std::string_view bytes) {
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kBytes || field.number > 2) continue;
      WireReader entry(field.bytes);
      WireField part;
      int64_t id = 0;
      std::string_view name;
      const uint32_t name_field = field.number == 1 ? 3 : 2;  // of a process, of a thread
      while (entry.Next(&part)) {
        if (part.number == 1) id = part.signed_value();
        if (part.number == name_field && part.type == WireType::kBytes && name.empty()) {
          name = part.bytes;
        }
      }
      if (name.empty()) continue;
      field.number == 1 ? tracks_.NameProcess(id, name) : tracks_.NameThread(id, name);
    }
  }

  // Times of all clocks at one moment.
  void ReadClocks(std::string_view bytes, Sequence* sequence) {
    struct Reading {
      uint64_t id = 0;
      int64_t value = 0;
      bool is_incremental = false;
      int64_t multiplier_ns = 1;
    };
    std::vector<Reading> readings;
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number != 1 || field.type != WireType::kBytes) continue;
      Reading& reading = readings.emplace_back();
      WireReader entry(field.bytes);
      WireField part;
      while (entry.Next(&part)) {
        if (part.number == 1) reading.id = part.value;
        if (part.number == 2) reading.value = part.signed_value();
        if (part.number == 3) reading.is_incremental = part.value != 0;
        if (part.number == 4 && part.value != 0) reading.multiplier_ns = part.signed_value();
      }
    }
    // Any clock of the system that is known already, or the trace's own, gives the moment.
    std::optional<int64_t> moment_ns;
    for (const Reading& reading : readings) {
      if (reading.id == kBootClock) moment_ns = reading.value;
    }
    for (const Reading& reading : readings) {
      const auto known = offsets_.find(reading.id);
      if (!moment_ns && known != offsets_.end()) moment_ns = reading.value + known->second;
    }
    if (!moment_ns) {
      if (readings.empty()) return;
      moment_ns = readings[0].value;
    }
    for (const Reading& reading : readings) {
      if (reading.id >= kFirstSequenceClock && reading.id <= kLastSequenceClock) {
        sequence->clocks[reading.id] = {.trace_ns = *moment_ns,
                                        .value = reading.value,
                                        .multiplier_ns = reading.multiplier_ns,
                                        .is_incremental = reading.is_incremental,
                                        .last = reading.value};
        continue;
      }
      offsets_.try_emplace(reading.id, *moment_ns - reading.value);
      if (reading.id == kRealtimeClock && base_unix_ns_ == 0) {
        base_unix_ns_ = reading.value - *moment_ns;
      }
    }
  }

  // In the trace's own time.
  int64_t TimeOf(const Packet& packet, Sequence* sequence) {
    const uint64_t clock = packet.clock.value_or(sequence->default_clock);
    const auto value = static_cast<int64_t>(*packet.timestamp);
    const auto own = sequence->clocks.find(clock);
    if (own != sequence->clocks.end()) {
      SequenceClock& known = own->second;
      known.last = known.is_incremental ? static_cast<int64_t>(static_cast<uint64_t>(known.last) +
                                                               static_cast<uint64_t>(value))
                                        : value;
      const __int128 ns = static_cast<__int128>(known.trace_ns) +
                          (static_cast<__int128>(known.last) - known.value) * known.multiplier_ns;
      constexpr __int128 kMost = INT64_MAX;
      return static_cast<int64_t>(ns > kMost ? kMost : ns < -kMost ? -kMost : ns);
    }
    const auto offset = offsets_.find(clock);
    int64_t ns = value;
    if (offset != offsets_.end() && __builtin_add_overflow(value, offset->second, &ns)) {
      return INT64_MAX;
    }
    return ns;
  }

  void ReadEvent(const Packet& packet, Sequence* sequence) {
    if (!packet.timestamp) {
      tracks_.Count("events have no usable time and were left out");
      return;
    }
    PerfettoTracks::Event event;
    event.time_ns = TimeOf(packet, sequence);
    event.track = sequence->default_track;
    char phase = 0;
    WireReader reader(packet.event);
    WireField field;
    while (reader.Next(&field)) {
      switch (field.number) {
        case 9:
          event.type = static_cast<uint8_t>(field.value);
          break;
        case 10:
          event.name = TextOf(sequence->names, field.value);
          break;
        case 23:
          if (field.type == WireType::kBytes) event.name = tracks_.Intern(field.bytes);
          break;
        case 3:
          if (field.type == WireType::kVarint) {
            event.category = TextOf(sequence->categories, field.value);
          }
          break;
        case 22:
          if (field.type == WireType::kBytes) event.category = tracks_.Intern(field.bytes);
          break;
        case 11:
          event.track = field.value;
          break;
        case 30:
          event.value = static_cast<double>(field.signed_value());
          break;
        case 44:
          event.value = field.double_value();
          break;
        case 36:
        case 47:
          tracks_.AddFlow(field.value, /*ends=*/false);
          break;
        case 42:
        case 48:
          tracks_.AddFlow(field.value, /*ends=*/true);
          break;
        case 4:
          if (field.type == WireType::kBytes) ReadArgument(field.bytes, *sequence, "", 0);
          break;
        case 6:
          if (field.type == WireType::kBytes) ReadLegacy(field.bytes, &event, &phase);
          break;
        default:
          break;
      }
    }
    if (event.type == 0) event.type = TypeOfPhase(phase);
    if (event.type == 0 || event.type > PerfettoTracks::kComplete) {
      tracks_.Count("events of a kind that a timeline does not show were left out");
      return tracks_.DropPending();
    }
    if (event.type == PerfettoTracks::kCounter) tracks_.TrackOf(event.track).is_counter = true;
    tracks_.Add(event);
  }

  static uint8_t TypeOfPhase(char phase) {
    switch (phase) {
      case 'B':
        return PerfettoTracks::kBegin;
      case 'E':
        return PerfettoTracks::kEnd;
      case 'X':
        return PerfettoTracks::kComplete;
      case 'i':
      case 'I':
        return PerfettoTracks::kInstant;
      default:
        return 0;
    }
  }

  static void ReadLegacy(std::string_view bytes, PerfettoTracks::Event* event, char* phase) {
    constexpr int64_t kMaxDurationUs = INT64_MAX / 1000;
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number == 2) *phase = static_cast<char>(field.value);
      if (field.number == 3 && field.signed_value() <= kMaxDurationUs && field.signed_value() > 0) {
        event->duration_ns = field.signed_value() * 1000;
      }
    }
  }

  // Values within values get the names on the way, with dots between.
  void ReadArgument(std::string_view bytes, const Sequence& sequence, const std::string& before,
                    int depth) {
    if (depth > kMaxArgumentDepth) return tracks_.Count("arguments are nested too deeply");
    std::string_view given;
    uint32_t interned = 0;
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number == 1) interned = TextOf(sequence.argument_names, field.value);
      if (field.number == 10 && field.type == WireType::kBytes) given = field.bytes;
    }
    uint32_t name = interned;
    std::string full = before;
    if (!given.empty()) name = tracks_.Intern(given);
    if (!before.empty()) {
      const std::string_view own = given.empty() ? tracks_.TextOf(interned) : given;
      if (!own.empty()) full += "." + std::string(own);
      name = tracks_.Intern(full);
    } else {
      full = tracks_.TextOf(name);
    }
    size_t elements = 0;
    reader = WireReader(bytes);
    while (reader.Next(&field)) {
      switch (field.number) {
        case 2:
        case 3:
        case 7:
          tracks_.AddArgument(name, field.value);
          break;
        case 4:
          tracks_.AddArgument(name, field.signed_value());
          break;
        case 5:
          if (field.type == WireType::kFixed64) tracks_.AddArgument(name, field.double_value());
          break;
        case 6:
        case 9:
          if (field.type == WireType::kBytes) tracks_.AddText(name, field.bytes);
          break;
        case 17:
          tracks_.AddText(name, tracks_.TextOf(TextOf(sequence.texts, field.value)));
          break;
        case 11:
          if (field.type == WireType::kBytes) ReadArgument(field.bytes, sequence, full, depth + 1);
          break;
        case 12:
          if (field.type == WireType::kBytes) {
            ReadArgument(field.bytes, sequence, full + "[" + std::to_string(elements++) + "]",
                         depth + 1);
          }
          break;
        default:
          break;
      }
    }
  }

  const std::string_view bytes_;
  const CancelToken& cancel_;
  PerfettoTracks tracks_;
  std::unordered_map<uint32_t, Sequence> sequences_;
  std::map<uint64_t, int64_t> offsets_;  // of the system's clocks to the trace's time
  int64_t base_unix_ns_ = 0;
};

}  // namespace

bool LooksLikePerfetto(std::string_view head) {
  WireField field;
  if (head.size() < 2 || head[0] != '\x0a') return false;
  // The packet may be cut by the end of what we were given.
  uint64_t size = 0;
  size_t at = 1;
  for (int shift = 0; at < head.size() && shift < 35; shift += 7) {
    const auto byte = static_cast<unsigned char>(head[at++]);
    size |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  WireReader reader(head.substr(at, size));
  while (reader.Next(&field)) {
    if (field.number > kLastPlaneField) return true;
    // A plane's id and name come first and are a number and a text.
    if (field.number == 1 && field.type != WireType::kVarint) return false;
  }
  return false;
}

Result<TraceImport> ImportPerfetto(std::string_view bytes, const CancelToken& cancel) {
  try {
    return Importer(bytes, cancel).Run();
  } catch (const std::bad_alloc&) {
    return ResourceExhaustedError("OUT_OF_MEMORY", "The system has no memory for this trace.")
        .Hint("Give the server more memory, or record a shorter trace.");
  }
}

}  // namespace strobe::xplane
