#include <algorithm>
#include <charconv>

#include "src/capture/archive_entries.h"
#include "src/capture/target.h"

namespace strobe::capture {
namespace {

constexpr size_t kNameBytes = 100;
constexpr size_t kSizeAt = 124;
constexpr size_t kSizeBytes = 12;
constexpr size_t kChecksumAt = 148;
constexpr size_t kChecksumBytes = 8;
constexpr size_t kKindAt = 156;
constexpr size_t kMagicAt = 257;
constexpr size_t kPrefixAt = 345;
constexpr size_t kPrefixBytes = 155;

std::string_view UpToNul(std::string_view field) { return field.substr(0, field.find('\0')); }

// Octal text, or GNU's binary form with the first bit set.
bool ReadNumber(std::string_view field, uint64_t* number) {
  *number = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (size_t i = 1; i < field.size(); ++i) {
      if (*number >> 55 != 0) return false;
      *number = *number << 8 | static_cast<unsigned char>(field[i]);
    }
    return field[0] == '\x80';
  }
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  size_t digits = 0;
  for (; digits < field.size() && field[digits] >= '0' && field[digits] <= '7'; ++digits) {
    *number = *number * 8 + static_cast<uint64_t>(field[digits] - '0');
  }
  return digits == field.size() || field[digits] == '\0' || field[digits] == ' ';
}

bool ChecksumFits(std::string_view block) {
  uint64_t told = 0;
  if (!ReadNumber(block.substr(kChecksumAt, kChecksumBytes), &told)) return false;
  uint64_t sum = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= kChecksumAt && i < kChecksumAt + kChecksumBytes;
    sum += own ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum == told;
}

}  // namespace

Status TarReader::Feed(std::string_view bytes) {
  while (!bytes.empty() && in_ != In::kEnd) {
    if (in_ == In::kHeader) {
      const size_t taken = std::min(bytes.size(), kBlockBytes - block_.size());
      block_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (block_.size() < kBlockBytes) return OkStatus();
      STROBE_RETURN_IF_ERROR(TakeHeader());
      block_.clear();
      continue;
    }
    uint64_t& left = in_ == In::kPadding ? padding_bytes_ : left_bytes_;
    const std::string_view part = bytes.substr(0, std::min<uint64_t>(bytes.size(), left));
    bytes.remove_prefix(part.size());
    left -= part.size();
    if (in_ == In::kFile) STROBE_RETURN_IF_ERROR(entries_.Take(part));
    if (in_ == In::kExtension) extension_.append(part);
    if (left > 0) continue;
    if (in_ == In::kPadding) {
      in_ = In::kHeader;
    } else {
      STROBE_RETURN_IF_ERROR(EndContent());
    }
  }
  return OkStatus();
}

Status TarReader::TakeHeader() {
  if (block_.find_first_not_of('\0') == std::string::npos) {
    in_ = In::kEnd;
    return OkStatus();
  }
  const std::string_view block = block_;
  if (!ChecksumFits(block)) return ArchiveDamaged("the checksum of a tar's entry is wrong");
  STROBE_RETURN_IF_ERROR(entries_.Count());
  if (!ReadNumber(block.substr(kSizeAt, kSizeBytes), &size_bytes_)) {
    return ArchiveDamaged("the size of a tar's entry is no number");
  }
  if (has_next_size_) size_bytes_ = next_size_bytes_;
  // No file is larger; the sum below cannot run over.
  if (size_bytes_ > uint64_t{1} << 50) return ArchiveDamaged("a file in the tar has no real size");
  std::string path(UpToNul(block.substr(0, kNameBytes)));
  const std::string_view prefix = UpToNul(block.substr(kPrefixAt, kPrefixBytes));
  // GNU's own form has other things where ustar has the prefix.
  const bool ustar = block.substr(kMagicAt, 6) == std::string_view("ustar\0", 6);
  if (ustar && !prefix.empty()) path = std::string(prefix) + "/" + path;
  left_bytes_ = size_bytes_;
  padding_bytes_ = (kBlockBytes - size_bytes_ % kBlockBytes) % kBlockBytes;
  const char kind = block[kKindAt];
  const bool extension = kind == 'x' || kind == 'g' || kind == 'L' || kind == 'K';
  if (!extension) {
    if (!next_path_.empty()) path = std::move(next_path_);
    next_path_.clear();
    has_next_size_ = false;
  }
  STROBE_RETURN_IF_ERROR(BeginEntry(kind, std::move(path)));
  if (left_bytes_ == 0) return EndContent();
  return OkStatus();
}

Status TarReader::BeginEntry(char kind, std::string path) {
  switch (kind) {
    case '\0':
    case '0':
    case '7':
      in_ = In::kFile;
      return entries_.Begin(path, size_bytes_);
    case '5':
      in_ = In::kPassed;
      return SafeArchivePath(path, entries_.limits().max_path_bytes).status();
    case 'x':
    case 'g':
    case 'L':
    case 'K':
      if (size_bytes_ > kMaxExtensionBytes) return ArchiveDamaged("a name is too long");
      in_ = In::kExtension;
      extension_kind_ = kind;
      extension_.clear();
      return OkStatus();
    default:
      return InvalidArgumentError("ARCHIVE_ENTRY_KIND",
                                  "The archive holds a link, a device or another thing that is no "
                                  "file; nothing of it was taken.")
          .Where(CleanText(path))
          .Hint("Follow links when making it (tar -h), and leave other things out.");
  }
}

// "26 path=some/long/name\n" ...
Status TarReader::TakePax() {
  std::string_view rest = extension_;
  while (!rest.empty()) {
    size_t length = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<size_t>(end - rest.data());
    if (error != std::errc() || length <= digits + 2 || length > rest.size() ||
        rest[digits] != ' ' || rest[length - 1] != '\n') {
      return ArchiveDamaged("a pax header makes no sense");
    }
    const std::string_view record = rest.substr(digits + 1, length - digits - 2);
    rest.remove_prefix(length);
    const size_t equals = record.find('=');
    const std::string_view key = record.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? "" : record.substr(equals + 1);
    if (key == "path") next_path_ = value;
    if (key != "size") continue;
    const auto [last, wrong] =
        std::from_chars(value.data(), value.data() + value.size(), next_size_bytes_);
    if (wrong != std::errc() || last != value.data() + value.size()) {
      return ArchiveDamaged("a pax header's size is no number");
    }
    has_next_size_ = true;
  }
  return OkStatus();
}

Status TarReader::EndContent() {
  const In ended = in_;
  in_ = padding_bytes_ > 0 ? In::kPadding : In::kHeader;
  if (ended == In::kFile) return entries_.End();
  if (ended != In::kExtension) return OkStatus();
  if (extension_kind_ == 'x') return TakePax();
  if (extension_kind_ == 'L') next_path_ = UpToNul(extension_);
  return OkStatus();  // global headers and names of links are of no use here
}

Status TarReader::Finish() const {
  // One that was cut between two entries would pass for a session of fewer hosts.
  return in_ == In::kEnd ? OkStatus() : ArchiveDamaged("the tar has no end; it was cut short");
}

}  // namespace strobe::capture
