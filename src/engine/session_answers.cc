// Completeness, overview and tiles of an opened session.
#include <algorithm>

#include "src/analysis/op_totals.h"
#include "src/base/hash.h"
#include "src/engine/opened_session.h"
#include "src/engine/parallel.h"
#include "src/timeline/pyramid_codec.h"

namespace strobe::engine {
namespace {

// Hashing stops to look whether anybody still waits after so many bytes: some milliseconds.
constexpr size_t kHashStride = 32 << 20;

Result<std::string> ContentHash(const xplane::SessionFile& file, const xplane::ProfileFile& profile,
                                const CancelToken& cancel) {
  std::shared_ptr<const storage::ByteSource> on_disk;
  std::string_view bytes = profile.source().bytes();
  if (file.format != xplane::FileFormat::kXplane) {
    Result<std::shared_ptr<const storage::ByteSource>> opened = storage::OpenMappedFile(file.path);
    if (!opened.ok()) return std::string();  // it is gone since; the record says nothing of it
    on_disk = *opened;
    bytes = on_disk->bytes();
  }
  Hasher hasher;
  for (size_t at = 0; at < bytes.size(); at += kHashStride) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    hasher.Add(bytes.substr(at, kHashStride));
  }
  return "xxh3:" + hasher.Digest128().ToHex();
}

}  // namespace

Status SessionState::DecodeAll(const CancelToken& cancel) {
  {
    std::lock_guard lock(load_mutex_);
    if (loaded_whole_) return cancel.Check();
  }
  // Round two waits for the lines that others were at in round one.
  const size_t count = load_order_.size();
  const auto decode = [&](size_t i) {
    if (cancel.cancelled()) return;
    const LineSlot& slot = load_order_[i % count];
    const HostState& host = hosts_[slot.host];
    if (i < count && !Claim(host, slot.plane, slot.line)) return;
    host.profile->Line(slot.plane, slot.line);
  };
  ParallelFor(parts_->executor, Executor::Priority::kInteractive, 2 * count, decode,
              CallerPart::kWaits, cancel);
  STROBE_RETURN_IF_ERROR(cancel.Check());
  parts_->make_room();
  return OkStatus();
}

Result<std::shared_ptr<const xplane::Completeness>> SessionState::CompletenessRecord(
    const CancelToken& cancel) {
  {
    std::lock_guard lock(answers_mutex_);
    if (completeness_ != nullptr) return completeness_;
  }
  return completeness_flight_.Do("", cancel, [&] { return ComputeCompleteness(cancel); });
}

SingleFlight<xplane::Completeness>::Answer SessionState::ComputeCompleteness(
    const CancelToken& cancel) {
  {
    std::lock_guard lock(answers_mutex_);
    if (completeness_ != nullptr) return completeness_;
  }
  STROBE_RETURN_IF_ERROR(DecodeAll(cancel));
  std::vector<xplane::HostCompleteness> records;
  for (const HostState& host : hosts_) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    if (host.profile == nullptr) {
      records.push_back(xplane::FailedHost(host.file, *host.error));
      if (host.writing) records.back().state = xplane::CompletenessState::kWriting;
      continue;
    }
    // The column cache hashes the profile's bytes, which are the file's when it is a plain one.
    std::optional<Hash128> known;
    if (host.file.format == xplane::FileFormat::kXplane) {
      known = parts_->columns.KnownHash(host.identity);
    }
    std::string hash;
    if (known) {
      hash = "xxh3:" + known->ToHex();
    } else {
      STROBE_ASSIGN_OR_RETURN(hash, ContentHash(host.file, *host.profile, cancel));
    }
    xplane::HostCompleteness record = xplane::CheckHost(host.file, *host.profile, std::move(hash));
    if (host.profile->origin_unix_ns()) record.clock_offset_ps = host.shift_ps;
    records.push_back(std::move(record));
  }
  STROBE_RETURN_IF_ERROR(CheckColumns());
  auto answer = std::make_shared<const xplane::Completeness>(xplane::Combine(std::move(records)));
  std::lock_guard lock(answers_mutex_);
  completeness_ = answer;
  return answer;
}

Result<std::shared_ptr<const analysis::Overview>> SessionState::FirstOverview(
    const CancelToken& cancel) {
  return overview_flight_.Do("", cancel, [&]() -> SingleFlight<analysis::Overview>::Answer {
    {
      std::lock_guard lock(answers_mutex_);
      if (overview_ != nullptr) return overview_;
    }
    STROBE_RETURN_IF_ERROR(DecodeAll(cancel));
    auto answer = std::make_shared<const analysis::Overview>(analysis::MakeOverview(hosts(), {}));
    STROBE_RETURN_IF_ERROR(CheckColumns());
    std::lock_guard lock(answers_mutex_);
    overview_ = answer;
    return answer;
  });
}

Result<std::shared_ptr<const std::string>> SessionState::Tile(uint32_t host, uint32_t plane,
                                                              uint32_t chunk, int level,
                                                              int64_t index,
                                                              const CancelToken& cancel) {
  const std::string key = version_ + "/" + std::to_string(host) + "." + std::to_string(plane) +
                          "." + std::to_string(chunk) + "/" + std::to_string(level) + "/" +
                          std::to_string(index);
  if (std::shared_ptr<const std::string> tile = parts_->tiles.Find(key)) {
    ++parts_->tile_cache_hits;
    return tile;
  }
  return parts_->tile_flight.Do(key, cancel, [&]() -> SingleFlight<std::string>::Answer {
    // Another asker may have finished between the look above and here.
    if (std::shared_ptr<const std::string> tile = parts_->tiles.Find(key)) return tile;
    STROBE_ASSIGN_OR_RETURN(std::shared_ptr<const std::string> tile,
                            EncodeChunk(host, plane, chunk, level, index, cancel));
    STROBE_RETURN_IF_ERROR(CheckColumns());
    ++parts_->tiles_encoded;
    parts_->tiles.Insert(key, tile);
    return tile;
  });
}

Result<std::shared_ptr<const std::string>> SessionState::EncodeChunk(uint32_t h, uint32_t p,
                                                                     uint32_t chunk, int level,
                                                                     int64_t index,
                                                                     const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(CheckHost(h));
  const HostState& host = hosts_[h];
  if (host.first_look != nullptr) {
    auto kept = host.first_look->Tile({.plane = p, .chunk = chunk, .level = level, .index = index});
    if (kept != nullptr) return kept;
  }
  const size_t first = size_t{chunk} * timeline::kLinesPerChunk;
  const bool known = p < host.views.size() && host.views[p] != nullptr &&
                     (first < host.views[p]->order.size() || first == 0);
  if (!known) {
    return NotFoundError("CHUNK_UNKNOWN", "The session has no chunk " + std::to_string(h) + "." +
                                              std::to_string(p) + "." + std::to_string(chunk) + ".")
        .Where(entry_.path)
        .Hint("Ask for the session's lines; each names its chunk.");
  }
  const std::vector<uint32_t>& order = host.views[p]->order;
  const size_t count = std::min(timeline::kLinesPerChunk, order.size() - first);
  std::vector<uint32_t> cold;
  for (size_t i = 0; i < count; ++i) {
    if (!host.views[p]->pyramids[order[first + i]].ready) cold.push_back(order[first + i]);
  }
  const auto prepare = [&](size_t i) {
    if (cancel.cancelled()) return;
    Claim(host, p, cold[i]);
    Pyramids(host, p, cold[i]);
  };
  ParallelFor(parts_->executor, Executor::Priority::kInteractive, cold.size(), prepare,
              CallerPart::kWaits, cancel);
  STROBE_RETURN_IF_ERROR(cancel.Check());

  const xplane::Plane& plane = host.profile->planes()[p];
  const analysis::PlaneKind kind = analysis::ClassifyPlane(plane.name);
  std::vector<timeline::TileLine> lines;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t l = order[first + i];
    lines.push_back({.line_index = l,
                     .columns = &host.profile->Line(p, l),
                     .pyramids = Pyramids(host, p, l),
                     .metadata = &plane.event_metadata,
                     .category_of_metadata =
                         Categories(host, p, analysis::ClassifyLine(kind, plane.lines[l].name))});
  }
  STROBE_ASSIGN_OR_RETURN(
      std::string bytes,
      timeline::EncodeTile({.level = level, .index = index, .shift_ps = host.shift_ps}, lines));
  return std::make_shared<const std::string>(std::move(bytes));
}

const std::vector<uint8_t>& SessionState::Categories(const HostState& host, uint32_t plane,
                                                     analysis::LineKind kind) {
  PlaneView& view = *host.views[plane];
  std::lock_guard lock(view.mutex);
  const auto [at, is_new] = view.categories.try_emplace(kind);
  if (is_new) {
    at->second = analysis::CategoriesOf(*host.profile, plane, kind);
    pyramid_bytes_ += at->second.size();
  }
  return at->second;
}

// From the kept ones when they are there and whole, else built.
std::vector<timeline::RowPyramid> SessionState::MakePyramids(const HostState& host, uint32_t plane,
                                                             uint32_t line) const {
  const xplane::LineColumns& columns = host.profile->Line(plane, line);
  if (host.pyramids != nullptr) {
    const std::string_view kept = host.pyramids->Find(plane, line);
    auto rows = timeline::DecodePyramids(
        kept, columns, host.profile->planes()[plane].event_metadata.size(), host.shift_ps);
    if (rows.ok()) return *std::move(rows);
  }
  std::vector<timeline::RowPyramid> rows;
  rows.reserve(columns.timed_rows().size());
  for (const xplane::LineColumns::Row& row : columns.timed_rows()) {
    rows.push_back(timeline::RowPyramid::Build(columns, row, host.shift_ps));
  }
  return rows;
}

std::span<const timeline::RowPyramid> SessionState::Pyramids(const HostState& host, uint32_t plane,
                                                             uint32_t line) {
  LinePyramids& pyramids = host.views[plane]->pyramids[line];
  std::call_once(pyramids.once, [&] {
    uint64_t bytes = 0;
    pyramids.rows = MakePyramids(host, plane, line);
    for (const timeline::RowPyramid& row : pyramids.rows) {
      bytes += sizeof(timeline::RowPyramid) + row.resident_bytes();
    }
    pyramid_bytes_ += bytes;
    pyramids.ready = true;
  });
  return pyramids.rows;
}

}  // namespace strobe::engine
