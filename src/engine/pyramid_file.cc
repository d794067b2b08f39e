#include "src/engine/pyramid_file.h"

#include <cstring>

#include "src/timeline/pyramid_codec.h"
#include "src/xplane/column_format.h"

namespace strobe::engine {
namespace {

using xplane::column_format::BytesOf;

constexpr char kMagic[8] = {'S', 'T', 'R', 'O', 'B', 'P', 'Y', 'R'};

struct Header {
  char magic[8];
  uint64_t version;
  uint64_t content_hash_high;
  uint64_t content_hash_low;
  int64_t shift_ps;
  uint64_t directory_offset;
  uint64_t directory_bytes;
  uint64_t directory_hash;
  uint64_t header_hash;  // of all before
};
static_assert(sizeof(Header) == 72);

struct Entry {
  uint32_t plane;
  uint32_t line;
  uint64_t offset;
  uint64_t size_bytes;
  uint64_t hash;
};
static_assert(sizeof(Entry) == 32);

uint64_t HashOf(const Header& header) {
  return Hash64(BytesOf(header).substr(0, offsetof(Header, header_hash)));
}

Status Unusable(std::string_view why) {
  return DataLossError("PYRAMIDS_UNUSABLE", "The kept pyramids are of no use: " + std::string(why));
}

}  // namespace

Result<std::shared_ptr<const PyramidFile>> PyramidFile::Open(
    std::shared_ptr<const storage::ByteSource> source, const Hash128& content_hash,
    int64_t shift_ps) {
  const std::string_view bytes = source->bytes();
  Header header = {};
  if (bytes.size() < sizeof(header)) return Unusable("the file is cut short.");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 ||
      header.version != timeline::kPyramidFormatVersion || header.header_hash != HashOf(header)) {
    return Unusable("the header is damaged or of another version.");
  }
  if (header.content_hash_high != content_hash.high ||
      header.content_hash_low != content_hash.low || header.shift_ps != shift_ps) {
    return Unusable("they belong to another profile.");
  }
  if (header.directory_offset > bytes.size() ||
      header.directory_bytes > bytes.size() - header.directory_offset ||
      header.directory_bytes % sizeof(Entry) != 0 ||
      header.directory_bytes / sizeof(Entry) > kMaxLines) {
    return Unusable("the file is cut short.");
  }
  const std::string_view directory = bytes.substr(header.directory_offset, header.directory_bytes);
  if (Hash64(directory) != header.directory_hash) return Unusable("the directory is damaged.");
  auto file = std::make_shared<PyramidFile>();
  for (size_t at = 0; at < directory.size(); at += sizeof(Entry)) {
    Entry entry = {};
    std::memcpy(&entry, directory.data() + at, sizeof(entry));
    if (entry.offset > header.directory_offset ||
        entry.size_bytes > header.directory_offset - entry.offset) {
      return Unusable("the directory makes no sense.");
    }
    file->places_[{entry.plane, entry.line}] = {entry.offset, entry.size_bytes, entry.hash};
  }
  file->source_ = std::move(source);
  return std::shared_ptr<const PyramidFile>(std::move(file));
}

std::string_view PyramidFile::Find(uint32_t plane, uint32_t line) const {
  const auto found = places_.find({plane, line});
  if (found == places_.end()) return {};
  const std::string_view bytes =
      source_->bytes().substr(found->second.offset, found->second.size_bytes);
  if (Hash64(bytes) == found->second.hash) return bytes;
  damaged_.Discard(*source_);
  return {};
}

PyramidWriter::PyramidWriter(storage::AtomicFile file, const Hash128& content_hash,
                             int64_t shift_ps)
    : file_(std::move(file)), content_hash_(content_hash), shift_ps_(shift_ps) {}

Result<PyramidWriter> PyramidWriter::Create(const std::string& path, const Hash128& content_hash,
                                            int64_t shift_ps) {
  STROBE_ASSIGN_OR_RETURN(
      storage::AtomicFile file,
      storage::AtomicFile::Create(path, {.permissions = 0600, .durable = false}));
  const Header empty = {};
  STROBE_RETURN_IF_ERROR(file.Append(BytesOf(empty)));
  return PyramidWriter(std::move(file), content_hash, shift_ps);
}

Status PyramidWriter::Add(uint32_t plane, uint32_t line, std::string_view bytes) {
  const Entry entry = {.plane = plane,
                       .line = line,
                       .offset = file_.size_bytes(),
                       .size_bytes = bytes.size(),
                       .hash = Hash64(bytes)};
  directory_ += BytesOf(entry);
  return file_.Append(bytes);
}

Status PyramidWriter::Commit() && {
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = timeline::kPyramidFormatVersion;
  header.content_hash_high = content_hash_.high;
  header.content_hash_low = content_hash_.low;
  header.shift_ps = shift_ps_;
  header.directory_offset = file_.size_bytes();
  header.directory_bytes = directory_.size();
  header.directory_hash = Hash64(directory_);
  header.header_hash = HashOf(header);
  STROBE_RETURN_IF_ERROR(file_.Append(directory_));
  STROBE_RETURN_IF_ERROR(file_.WriteAt(0, BytesOf(header)));
  return std::move(file_).Commit();
}

}  // namespace strobe::engine
