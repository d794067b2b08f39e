#include <zlib.h>

#include <algorithm>
#include <memory>

#include "src/capture/archive_entries.h"
#include "src/capture/target.h"

namespace strobe::capture {
namespace {

constexpr uint32_t kEntryMagic = 0x02014b50;
constexpr uint32_t kLocalMagic = 0x04034b50;
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50;
constexpr uint32_t kLocator64Magic = 0x07064b50;
constexpr size_t kEndBytes = 22;
constexpr size_t kLocator64Bytes = 20;
constexpr size_t kEnd64Bytes = 56;
constexpr size_t kEntryBytes = 46;
constexpr size_t kLocalBytes = 30;
constexpr size_t kMaxCommentBytes = 65'535;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kEncryptedFlag = 1;
constexpr uint16_t kZip64Field = 1;
constexpr uint32_t kIn64 = 0xffffffff;
constexpr uint32_t kUnixKindMask = 0170000;
constexpr uint32_t kUnixFile = 0100000;
constexpr uint32_t kUnixDirectory = 0040000;
constexpr size_t kStepBytes = 128 * 1024;

// Little-endian; the caller has checked that the bytes are there.
template <typename Number>
Number ReadAt(std::string_view bytes, size_t at) {
  Number number = 0;
  for (size_t i = 0; i < sizeof(Number); ++i) {
    number |= static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[at + i]))
                                  << (8 * i));
  }
  return number;
}

struct ZipEntry {
  std::string_view path;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t packed_bytes = 0;
  uint64_t size_bytes = 0;
  uint64_t local_at = 0;
  uint32_t unix_mode = 0;  // 0: not told
};

struct Directory {
  uint64_t at = 0;
  uint64_t size_bytes = 0;
  uint64_t entries = 0;
};

Result<Directory> FindDirectory(std::string_view bytes) {
  if (bytes.size() < kEndBytes) return ArchiveDamaged("the zip is too short");
  const size_t first = bytes.size() - std::min(bytes.size(), kEndBytes + kMaxCommentBytes);
  for (size_t at = bytes.size() - kEndBytes;; --at) {
    const bool fits = ReadAt<uint32_t>(bytes, at) == kEndMagic &&
                      at + kEndBytes + ReadAt<uint16_t>(bytes, at + 20) == bytes.size();
    if (fits) {
      Directory directory = {.at = ReadAt<uint32_t>(bytes, at + 16),
                             .size_bytes = ReadAt<uint32_t>(bytes, at + 12),
                             .entries = ReadAt<uint16_t>(bytes, at + 10)};
      if (at >= kLocator64Bytes &&
          ReadAt<uint32_t>(bytes, at - kLocator64Bytes) == kLocator64Magic) {
        const auto end64 = ReadAt<uint64_t>(bytes, at - kLocator64Bytes + 8);
        if (end64 > bytes.size() || bytes.size() - end64 < kEnd64Bytes ||
            ReadAt<uint32_t>(bytes, end64) != kEnd64Magic) {
          return ArchiveDamaged("the zip's large directory is not where it should be");
        }
        directory = {.at = ReadAt<uint64_t>(bytes, end64 + 48),
                     .size_bytes = ReadAt<uint64_t>(bytes, end64 + 40),
                     .entries = ReadAt<uint64_t>(bytes, end64 + 32)};
      }
      if (directory.at > bytes.size() || directory.size_bytes > bytes.size() - directory.at) {
        return ArchiveDamaged("the zip's directory lies behind its end");
      }
      return directory;
    }
    if (at == first) return ArchiveDamaged("the zip has no directory; it was cut short");
  }
}

// Numbers that do not fit into the entry itself.
Status TakeZip64(std::string_view extra, ZipEntry* entry, bool local64) {
  const bool size64 = entry->size_bytes == kIn64;
  const bool packed64 = entry->packed_bytes == kIn64;
  if (!size64 && !packed64 && !local64) return OkStatus();
  while (extra.size() >= 4) {
    const auto id = ReadAt<uint16_t>(extra, 0);
    const size_t length = ReadAt<uint16_t>(extra, 2);
    if (length > extra.size() - 4) break;
    std::string_view field = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != kZip64Field) continue;
    for (auto& [wanted, number] :
         {std::pair(size64, &entry->size_bytes), std::pair(packed64, &entry->packed_bytes),
          std::pair(local64, &entry->local_at)}) {
      if (!wanted) continue;
      if (field.size() < 8) return ArchiveDamaged("a zip entry's large size is missing");
      *number = ReadAt<uint64_t>(field, 0);
      field.remove_prefix(8);
    }
    return OkStatus();
  }
  return ArchiveDamaged("a zip entry's large size is missing");
}

Result<ZipEntry> ReadEntry(std::string_view* directory) {
  const std::string_view bytes = *directory;
  if (bytes.size() < kEntryBytes || ReadAt<uint32_t>(bytes, 0) != kEntryMagic) {
    return ArchiveDamaged("an entry of the zip's directory makes no sense");
  }
  const size_t name_bytes = ReadAt<uint16_t>(bytes, 28);
  const size_t extra_bytes = ReadAt<uint16_t>(bytes, 30);
  const size_t comment_bytes = ReadAt<uint16_t>(bytes, 32);
  const size_t total = kEntryBytes + name_bytes + extra_bytes + comment_bytes;
  if (bytes.size() < total) return ArchiveDamaged("the zip's directory ends early");
  ZipEntry entry;
  entry.flags = ReadAt<uint16_t>(bytes, 8);
  entry.method = ReadAt<uint16_t>(bytes, 10);
  entry.crc = ReadAt<uint32_t>(bytes, 16);
  entry.packed_bytes = ReadAt<uint32_t>(bytes, 20);
  entry.size_bytes = ReadAt<uint32_t>(bytes, 24);
  entry.local_at = ReadAt<uint32_t>(bytes, 42);
  constexpr uint8_t kUnixMaker = 3;
  if (static_cast<uint8_t>(bytes[5]) == kUnixMaker) {
    entry.unix_mode = ReadAt<uint32_t>(bytes, 38) >> 16;
  }
  entry.path = bytes.substr(kEntryBytes, name_bytes);
  STROBE_RETURN_IF_ERROR(TakeZip64(bytes.substr(kEntryBytes + name_bytes, extra_bytes), &entry,
                                   entry.local_at == kIn64));
  directory->remove_prefix(total);
  return entry;
}

Result<std::string_view> ContentOf(std::string_view bytes, const ZipEntry& entry) {
  if (entry.local_at > bytes.size() || bytes.size() - entry.local_at < kLocalBytes ||
      ReadAt<uint32_t>(bytes, entry.local_at) != kLocalMagic) {
    return ArchiveDamaged("a file is not where the zip's directory says");
  }
  const uint64_t begin = entry.local_at + kLocalBytes +
                         ReadAt<uint16_t>(bytes, entry.local_at + 26) +
                         ReadAt<uint16_t>(bytes, entry.local_at + 28);
  if (begin > bytes.size() || entry.packed_bytes > bytes.size() - begin) {
    return ArchiveDamaged("a file lies behind the zip's end");
  }
  return bytes.substr(begin, entry.packed_bytes);
}

class Inflater {
 public:
  Inflater() { STROBE_CHECK(inflateInit2(&stream_, -MAX_WBITS) == Z_OK); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // Gives every part of the text to `take`.
  template <typename Take>
  Status Run(std::string_view packed, const Take& take) {
    const auto out = std::make_unique<unsigned char[]>(kStepBytes);
    int code = Z_OK;
    while (code != Z_STREAM_END) {
      if (stream_.avail_in == 0) {
        const size_t step = std::min(packed.size(), kStepBytes);
        stream_.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(packed.data()));
        stream_.avail_in = static_cast<uInt>(step);
        packed.remove_prefix(step);
      }
      stream_.next_out = out.get();
      stream_.avail_out = static_cast<uInt>(kStepBytes);
      code = inflate(&stream_, Z_NO_FLUSH);
      const size_t made = kStepBytes - stream_.avail_out;
      const bool stuck = code == Z_BUF_ERROR || (made == 0 && packed.empty() && code == Z_OK);
      if ((code != Z_OK && code != Z_STREAM_END) || (stuck && stream_.avail_in == 0)) {
        return ArchiveDamaged("a file in the zip cannot be unpacked");
      }
      STROBE_RETURN_IF_ERROR(
          take(std::string_view(reinterpret_cast<const char*>(out.get()), made)));
    }
    return OkStatus();
  }

 private:
  z_stream stream_ = {};
};

Status UnpackEntry(std::string_view bytes, const ZipEntry& entry, ArchiveEntries& entries) {
  STROBE_ASSIGN_OR_RETURN(const std::string_view packed, ContentOf(bytes, entry));
  uint64_t made = 0;
  uLong crc = crc32(0, nullptr, 0);
  const auto take = [&](std::string_view part) -> Status {
    made += part.size();
    crc = crc32_z(crc, reinterpret_cast<const unsigned char*>(part.data()), part.size());
    if (made > entry.size_bytes) return ArchiveDamaged("a file is larger than the zip says");
    STROBE_RETURN_IF_ERROR(entries.CountOutput(part.size()));
    return entries.Take(part);
  };
  if (entry.method == kStored) {
    for (std::string_view rest = packed; !rest.empty();) {
      const std::string_view part = rest.substr(0, kStepBytes);
      rest.remove_prefix(part.size());
      STROBE_RETURN_IF_ERROR(take(part));
    }
  } else {
    STROBE_RETURN_IF_ERROR(Inflater().Run(packed, take));
  }
  if (made != entry.size_bytes) return ArchiveDamaged("a file is smaller than the zip says");
  if (static_cast<uint32_t>(crc) != entry.crc) {
    return ArchiveDamaged("the checksum of " + CleanText(entry.path) + " is wrong");
  }
  return OkStatus();
}

Status CheckEntry(const ZipEntry& entry) {
  const uint32_t kind = entry.unix_mode & kUnixKindMask;
  if (kind != 0 && kind != kUnixFile && kind != kUnixDirectory) {
    return InvalidArgumentError("ARCHIVE_ENTRY_KIND",
                                "The archive holds a link, a device or another thing that is no "
                                "file; nothing of it was taken.")
        .Where(CleanText(entry.path))
        .Hint("Follow links when making it, and leave other things out.");
  }
  const bool encrypted = (entry.flags & kEncryptedFlag) != 0;
  if (encrypted || (entry.method != kStored && entry.method != kDeflated)) {
    return UnimplementedError("ARCHIVE_PACKING_UNKNOWN",
                              encrypted ? "A file in the zip is encrypted."
                                        : "A file in the zip is packed in an unusual way.")
        .Where(CleanText(entry.path))
        .Hint("Make the zip with `zip -r`, or a tar.");
  }
  return OkStatus();
}

}  // namespace

Status ReadZip(std::string_view bytes, ArchiveEntries& entries, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const Directory directory, FindDirectory(bytes));
  std::string_view rest = bytes.substr(directory.at, directory.size_bytes);
  for (uint64_t i = 0; i < directory.entries; ++i) {
    STROBE_RETURN_IF_ERROR(entries.Count());
    STROBE_ASSIGN_OR_RETURN(const ZipEntry entry, ReadEntry(&rest));
    STROBE_RETURN_IF_ERROR(CheckEntry(entry));
    if (entry.path.ends_with('/')) {
      STROBE_RETURN_IF_ERROR(SafeArchivePath(entry.path, entries.limits().max_path_bytes).status());
      continue;
    }
    STROBE_RETURN_IF_ERROR(entries.Begin(entry.path, entry.size_bytes));
    STROBE_RETURN_IF_ERROR(UnpackEntry(bytes, entry, entries));
    STROBE_RETURN_IF_ERROR(entries.End());
  }
  return OkStatus();
}

}  // namespace strobe::capture
