// What an opened session keeps beside its columns for the next time, and what it knows of a line
// from then.
#include "src/base/log.h"
#include "src/engine/opened_session.h"
#include "src/timeline/pyramid_codec.h"
#include "src/timeline/rows.h"

namespace strobe::engine {
namespace {

constexpr std::string_view kPyramidEnding = xplane::ColumnCache::kSideEndings[0];
constexpr std::string_view kFirstLookEnding = xplane::ColumnCache::kSideEndings[1];

// The coarsest level at which one tile holds the session, and the two below: what a screen of 500
// to 4,000 pixels and the small map ask for.
constexpr int kFirstLookLevels = 3;

LineFacts FactsOf(uint32_t plane, uint32_t line, const xplane::LineColumns& columns) {
  return {.plane = plane,
          .line = line,
          .event_count = columns.event_count(),
          .row_count = static_cast<uint32_t>(columns.timed_rows().size()),
          .window = analysis::LineWindow(columns),
          .display_id = columns.display_id,
          .display_name = std::string(columns.display_name)};
}

}  // namespace

// What was kept is worth nothing without kept columns: those are decoded anew, then.
void SessionState::FindKept(HostState* host) {
  if (host->columns == nullptr) return;
  const Hash128& content_hash = host->columns->content_hash();
  const auto open = [&]<typename File>(std::string_view ending, std::shared_ptr<const File>* kept) {
    auto mapped = storage::OpenMappedFile(parts_->columns.SidePath(content_hash, ending));
    if (!mapped.ok()) return;
    auto file = File::Open(*std::move(mapped), content_hash, host->shift_ps);
    if (file.ok()) {
      *kept = *std::move(file);
    } else {
      LogInfo("engine.kept_file_ignored",
              {{"file", host->file.path}, {"reason", file.status().ToString()}});
    }
  };
  open(kPyramidEnding, &host->pyramids);
  open(kFirstLookEnding, &host->first_look);
}

// For the next time. Builds what nobody has looked at yet.
Status SessionState::KeepPyramids(const HostState& host, const CancelToken& cancel) {
  const std::optional<Hash128> content_hash = parts_->columns.KnownHash(host.identity);
  if (!content_hash) return OkStatus();
  STROBE_ASSIGN_OR_RETURN(
      PyramidWriter writer,
      PyramidWriter::Create(parts_->columns.SidePath(*content_hash, kPyramidEnding), *content_hash,
                            host.shift_ps));
  for (const uint32_t p : host.planes) {
    for (const uint32_t l : host.views[p]->order) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      // Lines that are damaged are decoded each time and have no columns kept either.
      if (host.profile->Line(p, l).damaged) continue;
      STROBE_RETURN_IF_ERROR(writer.Add(p, l, timeline::EncodePyramids(Pyramids(host, p, l))));
    }
  }
  return std::move(writer).Commit();
}

// For the next time, too: facts of every line, and the tiles of the whole session at the levels
// that a screen asks for first. Called with everything decoded.
Status SessionState::KeepFirstLook(uint32_t h, const CancelToken& cancel) {
  const HostState& host = hosts_[h];
  const std::optional<Hash128> content_hash = parts_->columns.KnownHash(host.identity);
  if (!content_hash) return OkStatus();
  FirstLookWriter writer(*content_hash, host.shift_ps,
                         analysis::HostWindow(*host.profile, /*decode=*/false));
  for (const uint32_t p : host.planes) {
    for (const uint32_t l : host.views[p]->order) {
      writer.AddLine(FactsOf(p, l, host.profile->Line(p, l)));
    }
  }
  const analysis::TimeWindow window = Window();
  int whole_level = timeline::kMinTileLevel;
  while (whole_level < timeline::kMaxTileLevel &&
         (window.end_ps - window.start_ps) >> whole_level > 0) {
    ++whole_level;
  }
  bool fits = true;
  for (int level = whole_level;
       fits && level > whole_level - kFirstLookLevels && level >= timeline::kMinTileLevel;
       --level) {
    for (const uint32_t p : host.planes) {
      const auto chunks = static_cast<uint32_t>(
          (host.views[p]->order.size() + timeline::kLinesPerChunk - 1) / timeline::kLinesPerChunk);
      for (uint32_t chunk = 0; fits && chunk < chunks; ++chunk) {
        for (int64_t i = window.start_ps >> level; fits && i <= window.end_ps >> level; ++i) {
          STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const std::string> tile,
                                  EncodeChunk(h, p, chunk, level, i, cancel));
          fits = writer.AddTile({.plane = p, .chunk = chunk, .level = level, .index = i}, *tile);
        }
      }
    }
  }
  STROBE_RETURN_IF_ERROR(CheckColumns());
  return std::move(writer).Commit(parts_->columns.SidePath(*content_hash, kFirstLookEnding));
}

// With everything decoded: op lines are read for the tools, the columns are written for the next
// time, and the session is judged.
// Nobody waits for either; the cache logs its own trouble.
void SessionState::KeepAndJudge() {
  const CancelToken cancel = stop_loading_.token();
  for (const HostState& host : hosts_) {
    // While the bytes are in memory still; tools begin with it.
    if (host.profile != nullptr && !host.from_columns) (void)host.op_lines->ReadAll(cancel).ok();
  }
  parts_->make_room();
  for (uint32_t h = 0; h < hosts_.size(); ++h) {
    const HostState& host = hosts_[h];
    if (host.profile == nullptr || cancel.cancelled()) continue;
    Status kept;
    if (!host.from_columns) kept = parts_->columns.Store(host.identity, *host.profile, cancel);
    if (kept.ok()) {
      kept = parts_->columns.KeepUnpacked(host.file, host.identity, *host.profile, cancel);
    }
    if (kept.ok() && host.pyramids == nullptr) kept = KeepPyramids(host, cancel);
    if (kept.ok() && host.first_look == nullptr) kept = KeepFirstLook(h, cancel);
    if (!kept.ok()) {
      LogDebug("engine.not_kept", {{"file", host.file.path}, {"reason", kept.ToString()}});
    }
  }
  const auto record = CompletenessRecord(cancel);
  if (!record.ok()) {
    LogDebug("engine.not_judged", {{"session", entry_.id}, {"reason", record.status().ToString()}});
  }
  SumUpGpuOps(cancel);
}

// Tools of a GPU's ops begin with stats of every event, which no column has: read once, before
// anybody asks. What is opened from kept columns has its answers kept too.
void SessionState::SumUpGpuOps(const CancelToken& cancel) {
  if (hosts_.size() != 1 || hosts_[0].profile == nullptr || hosts_[0].from_columns) return;
  const std::shared_ptr<tools::SessionInput> inputs = ToolInputs();
  if (!inputs->facts().has_gpu_plane || cancel.cancelled()) return;
  constexpr size_t kOnlyHost[] = {0};
  const auto ops = inputs->CombinedOps(kOnlyHost, cancel);
  if (!ops.ok()) {
    LogDebug("engine.not_summed_up", {{"session", entry_.id}, {"reason", ops.status().ToString()}});
  }
  parts_->make_room();
}

LineInfo SessionState::DescribeLine(const HostState& host, uint32_t p, uint32_t l) const {
  const xplane::Plane& plane = host.profile->planes()[p];
  const xplane::Line& line = plane.lines[l];
  LineInfo info;
  info.line = l;
  info.name = line.name;
  info.display_name = line.label();
  info.thread_id = line.display_id != 0 ? line.display_id : line.id;
  info.kind = analysis::ClassifyLine(analysis::ClassifyPlane(plane.name), line.name);
  info.derived = analysis::IsDerivedLine(plane, line);
  LineFacts facts;
  if (const LineFacts* kept = host.first_look ? host.first_look->Line(p, l) : nullptr) {
    facts = *kept;
  } else if (host.profile->LineDecoded(p, l)) {
    facts = FactsOf(p, l, host.profile->Line(p, l));
  } else {
    return info;
  }
  if (!facts.display_name.empty()) info.display_name = facts.display_name;
  if (facts.display_id != 0) info.thread_id = facts.display_id;
  info.row_count = facts.row_count;
  info.event_count = facts.event_count;
  if (facts.window) {
    info.start_ps = timeline::SaturatingAdd(facts.window->start_ps, host.shift_ps);
    info.end_ps = timeline::SaturatingAdd(facts.window->end_ps, host.shift_ps);
  }
  return info;
}

}  // namespace strobe::engine
