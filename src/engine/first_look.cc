#include "src/engine/first_look.h"

#include <cstring>

#include "src/base/build_id.h"
#include "src/storage/atomic_file.h"
#include "src/xplane/column_format.h"

namespace strobe::engine {
namespace {

using xplane::column_format::BytesOf;

constexpr char kMagic[8] = {'S', 'T', 'R', 'O', 'B', 'L', 'O', 'K'};
constexpr uint64_t kVersion = 1;

struct Header {
  char magic[8];
  uint64_t version;
  uint64_t build;
  uint64_t content_hash_high;
  uint64_t content_hash_low;
  int64_t shift_ps;
  uint64_t index_offset;
  uint64_t index_hash;
  uint64_t header_hash;  // of all before
};
static_assert(sizeof(Header) == 72);

// One line of the index; its display name follows.
struct LineEntry {
  uint32_t plane;
  uint32_t line;
  uint64_t event_count;
  uint32_t row_count;
  uint32_t has_window;
  int64_t start_ps;
  int64_t end_ps;
  int64_t display_id;
  uint64_t display_name_bytes;
};
static_assert(sizeof(LineEntry) == 56);

struct TileEntry {
  uint32_t plane;
  uint32_t chunk;
  int64_t level;
  int64_t index;
  uint64_t offset;  // from the first tile
  uint64_t size_bytes;
  uint64_t hash;
};
static_assert(sizeof(TileEntry) == 48);

struct IndexHead {
  uint64_t has_window;
  int64_t start_ps;
  int64_t end_ps;
  uint64_t line_count;
  uint64_t tile_count;
};

// False when there is no whole T left.
template <typename T>
bool Take(std::string_view* left, T* value) {
  if (left->size() < sizeof(T)) return false;
  std::memcpy(value, left->data(), sizeof(T));
  left->remove_prefix(sizeof(T));
  return true;
}

uint64_t HashOf(const Header& header) {
  return Hash64(BytesOf(header).substr(0, offsetof(Header, header_hash)));
}

Status Unusable(std::string_view why) {
  return DataLossError("FIRST_LOOK_UNUSABLE",
                       "What was kept for the first screen is of no use: " + std::string(why));
}

}  // namespace

Result<std::shared_ptr<const FirstLook>> FirstLook::Open(
    std::shared_ptr<const storage::ByteSource> source, const Hash128& content_hash,
    int64_t shift_ps) {
  std::string_view left = source->bytes();
  Header header = {};
  if (!Take(&left, &header)) return Unusable("the file is cut short.");
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || header.version != kVersion ||
      header.header_hash != HashOf(header)) {
    return Unusable("the header is damaged or of another version.");
  }
  if (header.build == 0 || header.build != BuildIdHash()) {
    return Unusable("another build of the program made it.");
  }
  if (header.content_hash_high != content_hash.high ||
      header.content_hash_low != content_hash.low || header.shift_ps != shift_ps) {
    return Unusable("it belongs to another profile.");
  }
  if (header.index_offset > left.size()) return Unusable("the file is cut short.");
  const std::string_view index = left.substr(header.index_offset);
  if (Hash64(index) != header.index_hash) return Unusable("the index is damaged.");
  auto look = std::make_shared<FirstLook>();
  STROBE_RETURN_IF_ERROR(look->ReadIndex(index, header.index_offset));
  look->source_ = std::move(source);
  return std::shared_ptr<const FirstLook>(std::move(look));
}

Status FirstLook::ReadIndex(std::string_view index, uint64_t tile_bytes) {
  IndexHead head = {};
  if (!Take(&index, &head)) return Unusable("the index is cut short.");
  if (head.has_window != 0) window_ = {head.start_ps, head.end_ps};
  // Every round takes bytes of the index, so neither loop outlasts it.
  for (uint64_t i = 0; i < head.line_count; ++i) {
    LineEntry entry = {};
    if (!Take(&index, &entry) || entry.display_name_bytes > index.size()) {
      return Unusable("the index is cut short.");
    }
    LineFacts facts = {.plane = entry.plane,
                       .line = entry.line,
                       .event_count = entry.event_count,
                       .row_count = entry.row_count,
                       .window = {},
                       .display_id = entry.display_id,
                       .display_name = std::string(index.substr(0, entry.display_name_bytes))};
    if (entry.has_window != 0) facts.window = {entry.start_ps, entry.end_ps};
    index.remove_prefix(entry.display_name_bytes);
    lines_.insert_or_assign({entry.plane, entry.line}, std::move(facts));
  }
  for (uint64_t i = 0; i < head.tile_count; ++i) {
    TileEntry entry = {};
    if (!Take(&index, &entry)) return Unusable("the index is cut short.");
    if (entry.offset > tile_bytes || entry.size_bytes > tile_bytes - entry.offset) {
      return Unusable("the index makes no sense.");
    }
    const TileAddress address = {.plane = entry.plane,
                                 .chunk = entry.chunk,
                                 .level = static_cast<int>(entry.level),
                                 .index = entry.index};
    tiles_.insert_or_assign(address, Place{entry.offset, entry.size_bytes, entry.hash});
  }
  return OkStatus();
}

const LineFacts* FirstLook::Line(uint32_t plane, uint32_t line) const {
  const auto found = lines_.find({plane, line});
  return found == lines_.end() ? nullptr : &found->second;
}

std::shared_ptr<const std::string> FirstLook::Tile(const TileAddress& address) const {
  const auto found = tiles_.find(address);
  if (found == tiles_.end()) return nullptr;
  // Copied first and judged then: the file may be cut under us.
  auto bytes = std::make_shared<const std::string>(
      source_->bytes().substr(sizeof(Header) + found->second.offset, found->second.size_bytes));
  if (Hash64(*bytes) == found->second.hash) return bytes;
  damaged_.Discard(*source_);
  return nullptr;
}

FirstLookWriter::FirstLookWriter(const Hash128& content_hash, int64_t shift_ps,
                                 const std::optional<analysis::TimeWindow>& window)
    : content_hash_(content_hash), shift_ps_(shift_ps), window_(window) {}

void FirstLookWriter::AddLine(const LineFacts& facts) {
  const LineEntry entry = {.plane = facts.plane,
                           .line = facts.line,
                           .event_count = facts.event_count,
                           .row_count = facts.row_count,
                           .has_window = facts.window.has_value() ? 1u : 0u,
                           .start_ps = facts.window ? facts.window->start_ps : 0,
                           .end_ps = facts.window ? facts.window->end_ps : 0,
                           .display_id = facts.display_id,
                           .display_name_bytes = facts.display_name.size()};
  line_index_ += BytesOf(entry);
  line_index_ += facts.display_name;
  ++line_count_;
}

bool FirstLookWriter::AddTile(const TileAddress& address, std::string_view bytes) {
  if (bytes.size() > FirstLook::kMaxBytes - tiles_.size()) return false;
  const TileEntry entry = {.plane = address.plane,
                           .chunk = address.chunk,
                           .level = address.level,
                           .index = address.index,
                           .offset = tiles_.size(),
                           .size_bytes = bytes.size(),
                           .hash = Hash64(bytes)};
  tile_index_ += BytesOf(entry);
  tiles_ += bytes;
  ++tile_count_;
  return true;
}

Status FirstLookWriter::Commit(const std::string& path) && {
  const IndexHead head = {.has_window = window_.has_value() ? 1u : 0u,
                          .start_ps = window_ ? window_->start_ps : 0,
                          .end_ps = window_ ? window_->end_ps : 0,
                          .line_count = line_count_,
                          .tile_count = tile_count_};
  std::string index(BytesOf(head));
  index += line_index_;
  index += tile_index_;
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.build = BuildIdHash();
  header.content_hash_high = content_hash_.high;
  header.content_hash_low = content_hash_.low;
  header.shift_ps = shift_ps_;
  header.index_offset = tiles_.size();
  header.index_hash = Hash64(index);
  header.header_hash = HashOf(header);
  STROBE_ASSIGN_OR_RETURN(
      storage::AtomicFile file,
      storage::AtomicFile::Create(path, {.permissions = 0600, .durable = false}));
  STROBE_RETURN_IF_ERROR(file.Append(BytesOf(header)));
  STROBE_RETURN_IF_ERROR(file.Append(tiles_));
  STROBE_RETURN_IF_ERROR(file.Append(index));
  return std::move(file).Commit();
}

}  // namespace strobe::engine
