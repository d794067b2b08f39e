#include "src/capture/archive.h"

#include <algorithm>

#include "src/capture/archive_entries.h"
#include "src/capture/target.h"
#include "src/wire/compress.h"

namespace strobe::capture {
namespace {

constexpr std::string_view kZipMagic = "PK\x03\x04";
constexpr std::string_view kEmptyZipMagic = "PK\x05\x06";
constexpr size_t kTarMagicAt = 257;
constexpr size_t kHeadBytes = 512;

bool IsTar(std::string_view head) {
  return head.size() >= kTarMagicAt + 5 && head.substr(kTarMagicAt, 5) == "ustar";
}

// The first bytes behind the compression.
std::string InflatedHead(wire::Compression compression, std::string_view bytes) {
  std::string head;
  const auto take = [&head](std::string_view part) -> Status {
    head.append(part.substr(0, kHeadBytes - head.size()));
    if (head.size() < kHeadBytes) return OkStatus();
    return CancelledError("ENOUGH", "The head is there.");
  };
  (void)wire::Inflate(compression, bytes, {}, take, {});
  return head;
}

}  // namespace

Status ArchiveDamaged(const std::string& what) {
  return DataLossError("ARCHIVE_DAMAGED", "The archive is damaged: " + what + ".")
      .Hint("Make it anew and upload it again.");
}

Status ArchiveEntries::Count() {
  STROBE_RETURN_IF_ERROR(cancel_.Check());
  if (++summary_.entries <= limits_.max_entries) return OkStatus();
  return ResourceExhaustedError(
             "ARCHIVE_TOO_LARGE",
             "The archive has more than " + std::to_string(limits_.max_entries) + " entries.")
      .Hint("Upload one session at a time.");
}

Status ArchiveEntries::Begin(std::string_view path, uint64_t size_bytes) {
  STROBE_ASSIGN_OR_RETURN(const std::string safe, SafeArchivePath(path, limits_.max_path_bytes));
  if (safe.empty()) return ArchiveDamaged("a file has no name");
  if (!paths_.insert(safe).second) {
    return InvalidArgumentError("ARCHIVE_PATH_TWICE", "A file stands twice in the archive.")
        .Where(CleanText(safe))
        .Hint("Make the archive anew.");
  }
  ++summary_.files;
  STROBE_ASSIGN_OR_RETURN(wanted_, taker_.Begin(safe, size_bytes));
  return OkStatus();
}

Status ArchiveEntries::CountOutput(uint64_t bytes) {
  summary_.output_bytes += bytes;
  STROBE_RETURN_IF_ERROR(cancel_.Check());
  const uint64_t output = summary_.output_bytes;
  if (output > limits_.max_output_bytes) {
    return ResourceExhaustedError("ARCHIVE_TOO_LARGE",
                                  "The archive unpacks to more than " +
                                      std::to_string(limits_.max_output_bytes) + " bytes.")
        .Hint("Upload the hosts of the session in several parts.");
  }
  if (output > limits_.ratio_floor_bytes && output / limits_.max_ratio > packed_bytes_) {
    return ResourceExhaustedError("ARCHIVE_TOO_LARGE", "The archive unpacks to more than " +
                                                           std::to_string(limits_.max_ratio) +
                                                           " times its size.")
        .Hint("No profile shrinks that much; if this one does, upload the files by themselves.");
  }
  return OkStatus();
}

Status ArchiveEntries::Take(std::string_view bytes) {
  return wanted_ ? taker_.Take(bytes) : OkStatus();
}

Status ArchiveEntries::End() { return wanted_ ? taker_.End() : OkStatus(); }

Result<std::string> SafeArchivePath(std::string_view path, size_t max_path_bytes) {
  const auto unsafe = [&path](const std::string& why) {
    return InvalidArgumentError("ARCHIVE_PATH_UNSAFE",
                                "A path in the archive " + why + "; nothing of it was taken.")
        .Where(CleanText(path))
        .Hint("Make the archive inside the session's folder, with relative paths.");
  };
  if (path.size() > max_path_bytes) return unsafe("is too long");
  if (path.starts_with('/')) return unsafe("is absolute");
  if (path.find('\\') != std::string_view::npos) return unsafe("holds a backslash");
  std::string safe;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == "..") return unsafe("leads out of it");
    if (part.size() == 2 && part[1] == ':') return unsafe("names a drive");
    const bool control = std::ranges::any_of(
        part, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (control) return unsafe("holds a control character");
    if (!safe.empty()) safe += '/';
    safe += part;
  }
  return safe;
}

ArchiveKind DetectArchive(std::string_view bytes) {
  if (bytes.starts_with(kZipMagic) || bytes.starts_with(kEmptyZipMagic)) return ArchiveKind::kZip;
  const wire::Compression compression = wire::DetectCompression(bytes);
  const bool tar = compression == wire::Compression::kNone
                       ? IsTar(bytes)
                       : IsTar(InflatedHead(compression, bytes));
  return tar ? ArchiveKind::kTar : ArchiveKind::kNone;
}

Result<ArchiveSummary> ReadArchive(std::string_view bytes, const ArchiveLimits& limits,
                                   ArchiveTaker& taker, const CancelToken& cancel) {
  ArchiveEntries entries(limits, bytes.size(), taker, cancel);
  switch (DetectArchive(bytes)) {
    case ArchiveKind::kZip:
      STROBE_RETURN_IF_ERROR(ReadZip(bytes, entries, cancel));
      return entries.summary();
    case ArchiveKind::kTar:
      break;
    case ArchiveKind::kNone:
      return InvalidArgumentError("ARCHIVE_NOT_ONE", "This is neither a zip nor a tar.")
          .Hint("Make one with `tar -czf` or `zip -r` in the session's folder.");
  }
  TarReader tar(entries);
  const wire::Compression compression = wire::DetectCompression(bytes);
  if (compression == wire::Compression::kNone) {
    STROBE_RETURN_IF_ERROR(entries.CountOutput(bytes.size()));
    STROBE_RETURN_IF_ERROR(tar.Feed(bytes));
  } else {
    const auto feed = [&](std::string_view part) -> Status {
      STROBE_RETURN_IF_ERROR(entries.CountOutput(part.size()));
      return tar.Feed(part);
    };
    STROBE_ASSIGN_OR_RETURN(const wire::Inflated inflated,
                            wire::Inflate(compression, bytes, {}, feed, cancel));
    if (inflated.partial) return ArchiveDamaged(std::string(inflated.problem.message()));
  }
  STROBE_RETURN_IF_ERROR(tar.Finish());
  return entries.summary();
}

}  // namespace strobe::capture
