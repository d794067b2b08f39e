#include "src/xplane/skeleton.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "src/base/json_writer.h"
#include "src/wire/wire_reader.h"
#include "src/xplane/plane_reader.h"
#include "src/xplane/stats_decoder.h"

namespace strobe::xplane {

using wire::WireError;
using wire::WireField;
using wire::WireReader;
using wire::WireType;

namespace {

// Nobody measured anything by a wall clock before 1973, and no profile lasts three years.
constexpr int64_t kFirstWallClockNs = 100'000'000'000'000'000;
// Tables of real files take less than a tenth of the file; small files may have more.
constexpr double kTableBytesPerFileByte = 1.5;
constexpr uint64_t kTableBytesFloor = 64ull << 20;
constexpr size_t kMaxTexts = 1000;           // errors, warnings, hostnames; each
constexpr size_t kMaxTextBytes = 64 * 1024;  // of one of them
constexpr uint32_t kMaxBadTopFields = 64;
// A plane that claims more was damaged; with less, the file may just have been cut short.
constexpr uint64_t kMaxClaimedBytes = uint64_t{1} << 40;

bool IsWallClock(int64_t timestamp_ns) { return timestamp_ns >= kFirstWallClockNs; }

constexpr std::string_view kHlo = "an HLO module of a program";

void KeepText(std::string_view text, std::vector<std::string>* texts) {
  if (texts->size() < kMaxTexts) texts->emplace_back(text.substr(0, kMaxTextBytes));
}

class SpaceReader {
 public:
  SpaceReader(const storage::ByteSource& source, const OpenOptions& options, DamageLog* damage)
      : source_(source),
        file_(source.bytes()),
        options_(options),
        damage_(*damage),
        planes_(source, options, &budget_, damage) {
    budget_.limit_bytes =
        std::max(kTableBytesFloor,
                 static_cast<uint64_t>(static_cast<double>(file_.size()) * kTableBytesPerFileByte));
    // From line to line it jumps over events: around each place a disk would read megabytes of
    // them.
    source_.Advise(0, file_.size(), storage::ByteSource::Access::kRandom);
  }
  ~SpaceReader() { source_.Advise(0, file_.size(), storage::ByteSource::Access::kNormal); }
  SpaceReader(const SpaceReader&) = delete;
  SpaceReader& operator=(const SpaceReader&) = delete;

  Skeleton Read() {
    WireReader reader(file_);
    WireField field;
    while (reader.Next(&field) && ReadField(field)) {
    }
    if (reader.error() != WireError::kNone) ReadBroken(reader);
    skeleton_.table_bytes = budget_.used_bytes;
    for (const PlaneIndex& index : skeleton_.indexes) {
      skeleton_.table_bytes += index.event_ids.heap_bytes() + index.stat_ids.heap_bytes();
    }
    return std::move(skeleton_);
  }

  bool understood() const { return understood_ || planes_.understood(); }

 private:
  bool ReadField(const WireField& field) {
    if (field.number > 4) return true;
    if (field.type != WireType::kBytes) {
      damage_.Add(WrongTypeDamage("a plane or a text", {field.offset, {}, {}}));
      return ++bad_fields_ <= kMaxBadTopFields;
    }
    if (field.number == 1) return ReadPlane(field.bytes, false);
    understood_ = true;
    if (field.number == 2) KeepText(field.bytes, &skeleton_.errors);
    if (field.number == 3) KeepText(field.bytes, &skeleton_.warnings);
    if (field.number == 4) KeepText(field.bytes, &skeleton_.hostnames);
    return true;
  }

  bool ReadPlane(std::string_view bytes, bool clipped) {
    const auto offset = static_cast<uint64_t>(bytes.data() - file_.data());
    if (skeleton_.planes.size() >= options_.max_planes ||
        !budget_.Take(sizeof(Plane) + sizeof(PlaneIndex) + sizeof(EventMetadata))) {
      damage_.Add(LimitDamage("The profile has too many planes.", {offset, {}, {}}));
      return false;
    }
    planes_.Read(bytes, clipped, &skeleton_.planes.emplace_back(),
                 &skeleton_.indexes.emplace_back());
    return true;
  }

  void ReadBroken(const WireReader& reader) {
    WireField field;
    uint64_t claimed_bytes = 0;
    if (!reader.Clipped(&field, &claimed_bytes) || field.number != 1) {
      damage_.Add(
          reader.error() == WireError::kOverrun
              ? TruncatedDamage("a field of the profile", file_.size(), {file_.size(), {}, {}})
              : WireDamage(reader.error(), "a plane", {reader.error_offset(), {}, {}}));
      return;
    }
    const bool absurd = claimed_bytes > kMaxClaimedBytes;
    if (absurd) {
      damage_.Add(LengthDamage("a plane", claimed_bytes, field.bytes.size(),
                               {reader.error_offset(), {}, {}}));
    }
    (void)ReadPlane(field.bytes, !absurd);
  }

  const storage::ByteSource& source_;
  const std::string_view file_;
  const OpenOptions& options_;
  DamageLog& damage_;
  TableBudget budget_;
  PlaneReader planes_;
  Skeleton skeleton_;
  bool understood_ = false;
  uint32_t bad_fields_ = 0;
};

// profile_start_time and profile_stop_time of the first `Task Environment` plane, wall clock ns.
struct TaskTimes {
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
};
TaskTimes ReadTaskTimes(std::string_view bytes, const Skeleton& skeleton) {
  TaskTimes times;
  for (size_t p = 0; p < skeleton.planes.size() && times.start_ns == 0; ++p) {
    const Plane& plane = skeleton.planes[p];
    if (plane.name != "Task Environment") continue;
    for (const ByteRange& range : plane.stats) {
      Stat stat;
      if (!DecodeStat(bytes.substr(range.offset, range.size_bytes), plane, skeleton.indexes[p],
                      &stat)) {
        continue;
      }
      const int64_t value = stat.IntOrUint();
      if (!IsWallClock(value)) continue;
      if (stat.name == "profile_start_time") times.start_ns = value;
      if (stat.name == "profile_stop_time") times.stop_ns = value;
    }
  }
  return times;
}

bool HasEvents(std::string_view line_bytes) {
  WireReader reader(line_bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number == 4) return true;
  }
  // A first event that is cut short.
  uint64_t claimed_bytes = 0;
  return reader.Clipped(&field, &claimed_bytes) && field.number == 4;
}

void PlaceInTime(std::string_view bytes, Skeleton* skeleton) {
  const TaskTimes times = ReadTaskTimes(bytes, *skeleton);
  int64_t earliest_ns = std::numeric_limits<int64_t>::max();
  if (times.start_ns != 0) {
    skeleton->origin_unix_ns = times.start_ns;
  } else {
    for (const Plane& plane : skeleton->planes) {
      for (const Line& line : plane.lines) {
        if (!IsWallClock(line.timestamp_ns) || line.timestamp_ns >= earliest_ns) continue;
        if (HasEvents(bytes.substr(line.bytes.offset, line.bytes.size_bytes))) {
          earliest_ns = line.timestamp_ns;
        }
      }
    }
    if (earliest_ns != std::numeric_limits<int64_t>::max()) skeleton->origin_unix_ns = earliest_ns;
  }
  if (times.start_ns != 0 && times.stop_ns >= times.start_ns) {
    skeleton->window = {.start_ps = 0, .end_ps = LineBasePs(times.stop_ns, times.start_ns)};
  }
  for (Plane& plane : skeleton->planes) {
    for (Line& line : plane.lines) {
      line.base_ps = LineBasePs(line.timestamp_ns, skeleton->origin_unix_ns);
    }
  }
}

// Printable UTF-8 without control characters; every profile has some within its first bytes.
bool LooksLikeText(std::string_view bytes) {
  if (bytes.size() < 3) return false;
  constexpr size_t kLookAtBytes = 512;
  const std::string_view head = bytes.substr(0, kLookAtBytes);
  size_t at = 0;
  while (at < head.size()) {
    const auto byte = static_cast<unsigned char>(head[at]);
    const bool control = byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
    if (control || byte == 0x7f) return false;
    const size_t length = ValidUtf8Length(bytes.substr(at, 4));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

// A dumped module lies beside profiles and is protobuf too: where a plane has its number, an HLO
// module has its name, then that of its entry, then computations.
bool LooksLikeHlo(std::string_view bytes) {
  constexpr uint32_t kModuleFields[] = {1, 2, 3};  // name, entry_computation_name, computations
  WireReader space(bytes);
  WireField field;
  if (!space.Next(&field) || field.number != 1 || field.type != WireType::kBytes) return false;
  WireReader module(field.bytes);
  for (const uint32_t number : kModuleFields) {
    if (!module.Next(&field) || field.number != number || field.type != WireType::kBytes) {
      return false;
    }
  }
  return true;
}

std::string_view WhatItLooksLike(std::string_view bytes) {
  const auto starts = [&](std::string_view magic) { return bytes.starts_with(magic); };
  if (starts("\x1f\x8b")) return "gzip data";
  if (starts("\x28\xb5\x2f\xfd")) return "zstd data";
  if (starts(std::string_view("\xfd"
                              "7zXZ",
                              5))) {
    return "xz data";
  }
  if (starts("BZh")) return "bzip2 data";
  if (starts("PK\x03\x04")) return "a zip archive";
  if (starts("\x7f"
             "ELF")) {
    return "a program";
  }
  if (starts("\x89PNG")) return "a picture";
  if (starts("SQLite format 3")) return "a SQLite database";
  if (LooksLikeHlo(bytes)) return kHlo;
  if (!LooksLikeText(bytes)) return {};
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  const char begin = first == std::string_view::npos ? ' ' : bytes[first];
  if (begin == '{' || begin == '[') return "JSON text";
  return begin == '<' ? "HTML or XML text" : "text";
}

Status NotAProfile(std::string_view found) {
  Status status =
      InvalidArgumentError("XPLANE_NOT_A_PROFILE",
                           fmt::format("Expected an XSpace profile (xplane.pb), found {}.", found))
          .Where("offset 0");
  if (found == kHlo) {
    return status.Hint(
        "HLO modules belong to a profile: put the file beside its .xplane.pb as "
        "<module>.hlo_proto.pb, or name the folder with --xla-dump-to.");
  }
  return status.Hint(
      "Compressed profiles are read when their name ends with .xplane.pb.gz, .zst or .xz; "
      "trace JSON when it ends with .trace.json or .trace.json.gz.");
}

}  // namespace

int64_t LineBasePs(int64_t timestamp_ns, std::optional<int64_t> origin_unix_ns) {
  constexpr int64_t kMaxNs = kMaxTimePs / 1000;
  int64_t relative_ns = timestamp_ns;
  // Both are positive here, so the difference cannot overflow.
  if (IsWallClock(timestamp_ns) && origin_unix_ns) relative_ns = timestamp_ns - *origin_unix_ns;
  return std::clamp(relative_ns, -kMaxNs, kMaxNs) * 1000;
}

Status CheckNotSomethingElse(std::string_view bytes) {
  const std::string_view found = WhatItLooksLike(bytes);
  return found.empty() ? OkStatus() : NotAProfile(found);
}

Result<Skeleton> ReadSkeleton(const storage::ByteSource& source, const OpenOptions& options,
                              DamageLog* damage) {
  const std::string_view bytes = source.bytes();
  if (bytes.empty()) {
    return DataLossError("XPLANE_EMPTY", "The file is empty (0 bytes).")
        .Hint("The capture failed or is not finished; look at its log, or capture again.");
  }
  STROBE_RETURN_IF_ERROR(CheckNotSomethingElse(bytes));
  SpaceReader reader(source, options, damage);
  Skeleton skeleton = reader.Read();
  if (!reader.understood() && !damage->empty()) {
    if (!options.known_damage.empty()) return options.known_damage.front().status;
    const Damage first = damage->Sorted().front();
    if (first.status.name() == "XPLANE_TRUNCATED") return first.status;
    return NotAProfile(fmt::format("bytes that make no sense ({})", first.status.message()));
  }
  PlaceInTime(bytes, &skeleton);
  return skeleton;
}

}  // namespace strobe::xplane
