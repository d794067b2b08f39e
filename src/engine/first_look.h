// What the first screen of a host needs, kept beside its columns: how many events each line has and
// when, and the tiles of the whole session. With it a profile that was opened before is drawn at
// once; the columns themselves are checked and read behind that.
//
//   FirstLookWriter writer(content_hash, shift_ps, window);
//   writer.AddLine({.plane = 0, .line = 3, .event_count = 7});
//   writer.AddTile({.plane = 0, .chunk = 0, .level = 40, .index = 0}, bytes);   // false: it is
//   full STROBE_RETURN_IF_ERROR(std::move(writer).Commit(path));
//
//   STROBE_ASSIGN_OR_RETURN(auto look, FirstLook::Open(mapped, content_hash, shift_ps));
//   if (std::shared_ptr<const std::string> tile = look->Tile(address)) return tile;
//
// Tiles are answers of one build of the program, so the file is good for that build only
// (base/build_id.h). Layout, little endian: a header (magic, build, hash of the profile, shift,
// place and checksum of the index, checksum), the tiles, the index (window, lines, tiles with a
// checksum each). Whatever is damaged is not found and made anew. Errors of Open:
// FIRST_LOOK_UNUSABLE. Cost: about 60 B a line to open, one copy for a tile. Limits: kMaxBytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "src/analysis/session_window.h"
#include "src/base/hash.h"
#include "src/base/status.h"
#include "src/engine/kept_file.h"
#include "src/storage/byte_source.h"

namespace strobe::engine {

// What is known of a decoded line, in file time.
struct LineFacts {
  uint32_t plane = 0;
  uint32_t line = 0;
  uint64_t event_count = 0;
  uint32_t row_count = 0;
  std::optional<analysis::TimeWindow> window;
  int64_t display_id = 0;    // as LineColumns has it
  std::string display_name;  // likewise
};

struct TileAddress {
  uint32_t plane = 0;
  uint32_t chunk = 0;
  int level = 0;
  int64_t index = 0;
  auto operator<=>(const TileAddress&) const = default;
};

class FirstLook {
 public:
  // Tiles of one host: 30 chunks at three levels. Coarser ones come first.
  static constexpr uint64_t kMaxBytes = uint64_t{32} << 20;

  static Result<std::shared_ptr<const FirstLook>> Open(
      std::shared_ptr<const storage::ByteSource> source, const Hash128& content_hash,
      int64_t shift_ps);

  // analysis::HostWindow with every line decoded.
  const std::optional<analysis::TimeWindow>& window() const { return window_; }
  // nullptr when the line is not known.
  const LineFacts* Line(uint32_t plane, uint32_t line) const;
  // nullptr when the tile is not there or damaged.
  std::shared_ptr<const std::string> Tile(const TileAddress& address) const;

 private:
  struct Place {
    uint64_t offset = 0;
    uint64_t size_bytes = 0;
    uint64_t hash = 0;
  };
  Status ReadIndex(std::string_view index, uint64_t tile_bytes);

  std::shared_ptr<const storage::ByteSource> source_;
  mutable DamagedKeptFile damaged_;
  std::optional<analysis::TimeWindow> window_;
  std::map<std::pair<uint32_t, uint32_t>, LineFacts> lines_;
  std::map<TileAddress, Place> tiles_;
};

class FirstLookWriter {
 public:
  FirstLookWriter(const Hash128& content_hash, int64_t shift_ps,
                  const std::optional<analysis::TimeWindow>& window);
  void AddLine(const LineFacts& facts);
  // False, and nothing is added, when the file would become larger than FirstLook::kMaxBytes.
  [[nodiscard]] bool AddTile(const TileAddress& address, std::string_view bytes);
  // Errors: those of storage/atomic_file.h.
  Status Commit(const std::string& path) &&;

 private:
  const Hash128 content_hash_;
  const int64_t shift_ps_;
  const std::optional<analysis::TimeWindow> window_;
  std::string tiles_;
  std::string line_index_;
  std::string tile_index_;
  uint64_t line_count_ = 0;
  uint64_t tile_count_ = 0;
};

}  // namespace strobe::engine
