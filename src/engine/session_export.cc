// An opened session, or a part of it, written as a trace.
#include <algorithm>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>

#include "src/base/hash.h"
#include "src/engine/opened_session.h"
#include "src/engine/trace_writer.h"
#include "src/timeline/rows.h"

namespace strobe::engine {
namespace {

using timeline::EventRange;
using timeline::SaturatingAdd;
using xplane::LineColumns;
using xplane::Stat;

// Events written between two looks at the cancel flag and at what waits to be sent.
constexpr uint64_t kEventsPerLook = 256;
// Stats of event metadata that are kept while a line is written; a line has few names that repeat.
constexpr size_t kMaxKeptMetadata = 4096;

int64_t FileTime(int64_t session_ps, int64_t shift_ps) {
  int64_t file_ps = 0;
  if (!__builtin_sub_overflow(session_ps, shift_ps, &file_ps)) return file_ps;
  return shift_ps > 0 ? INT64_MIN : INT64_MAX;
}

// One number for an arrow, the same at both of its ends.
uint64_t FlowIdOf(uint32_t host, const timeline::Arrow& arrow) {
  const uint32_t parts[] = {host,           arrow.from.plane, arrow.from.line, arrow.from.event,
                            arrow.to.plane, arrow.to.line,    arrow.to.event};
  return Hash64(std::string_view(reinterpret_cast<const char*>(parts), sizeof(parts)));
}

// The events of several rows in order of time, the outer rows first.
class RowMerge {
 public:
  RowMerge(const LineColumns& columns, std::span<const EventRange> rows) : columns_(columns) {
    for (uint32_t row = 0; row < rows.size(); ++row) Push(row, rows[row].first, rows[row].last);
  }
  bool Next(uint32_t* event) {
    if (heap_.empty()) return false;
    const Head head = heap_.top();
    heap_.pop();
    *event = head.event;
    Push(head.row, head.event + 1, head.last);
    return true;
  }

 private:
  struct Head {
    int64_t start_ps = 0;
    uint32_t row = 0;
    uint32_t event = 0;
    uint32_t last = 0;
    bool operator<(const Head& other) const {  // the earliest on top
      return std::tie(other.start_ps, other.row) < std::tie(start_ps, row);
    }
  };
  void Push(uint32_t row, uint32_t event, uint32_t last) {
    if (event < last) heap_.push({columns_.start_ps[event], row, event, last});
  }

  const LineColumns& columns_;
  std::priority_queue<Head> heap_;
};

}  // namespace

class SessionExporter {
 public:
  SessionExporter(SessionState& session, const ExportQuery& query, const ExportSink& sink,
                  const CancelToken& cancel)
      : session_(session), query_(query), sink_(sink), cancel_(cancel) {
    for (const LineRef& line : query.lines) chosen_.insert(line);
  }

  Result<ExportSummary> Run() {
    TraceWriterOptions options{.session = session_.entry_.xprof_run(),
                               .origin_unix_ns = session_.origin_unix_ns_,
                               .first_ps = FirstPs()};
    writer_ = query_.format == ExportFormat::kChrome ? MakeChromeTraceWriter(std::move(options))
                                                     : MakePerfettoTraceWriter(std::move(options));
    for (uint32_t h = 0; h < session_.hosts_.size(); ++h) {
      const SessionState::HostState& host = session_.hosts_[h];
      if (host.profile == nullptr) {
        summary_.hosts_not_read.push_back(host.file.host);
        continue;
      }
      STROBE_RETURN_IF_ERROR(WriteHost(h));
      STROBE_RETURN_IF_ERROR(session_.CheckColumns());
    }
    writer_->Finish({.events = summary_.events,
                     .events_without_time = summary_.events_without_time,
                     .hosts_not_read = summary_.hosts_not_read});
    STROBE_RETURN_IF_ERROR(Send());
    return summary_;
  }

 private:
  struct LineWork {
    uint32_t host = 0;
    uint32_t plane = 0;
    uint32_t line = 0;
    const xplane::ProfileFile* file = nullptr;
    const LineColumns* columns = nullptr;
    int64_t shift_ps = 0;
    std::shared_ptr<const timeline::ArrowSet> arrows;  // nullptr: none end on this line
    std::unordered_map<uint32_t, std::vector<Stat>> metadata_stats;
  };

  // When the earliest line begins, as far as that is known without decoding it.
  int64_t FirstPs() const {
    int64_t first_ps = std::min<int64_t>(0, session_.Window().start_ps);
    for (const SessionState::HostState& host : session_.hosts_) {
      if (host.profile == nullptr) continue;
      for (const xplane::Plane& plane : host.profile->planes()) {
        for (const xplane::Line& line : plane.lines) {
          const int64_t base_ps = SaturatingAdd(line.base_ps, host.shift_ps);
          if (base_ps > -analysis::kMaxPlausiblePs) first_ps = std::min(first_ps, base_ps);
        }
      }
    }
    return first_ps;
  }

  bool IsChosen(const LineRef& line) const { return chosen_.empty() || chosen_.contains(line); }

  Status WriteHost(uint32_t h) {
    const SessionState::HostState& host = session_.hosts_[h];
    const auto wanted = [&](uint32_t p, uint32_t l) { return IsChosen({h, p, l}); };
    const bool any = std::ranges::any_of(host.planes, [&](uint32_t p) {
      return std::ranges::any_of(host.views[p]->order, [&](uint32_t l) { return wanted(p, l); });
    });
    if (!any) return OkStatus();
    STROBE_RETURN_IF_ERROR(FindArrows(h));
    for (const uint32_t p : host.planes) {
      process_ = 0;
      for (const uint32_t l : host.views[p]->order) {
        if (!wanted(p, l)) continue;
        STROBE_RETURN_IF_ERROR(cancel_.Check());
        STROBE_RETURN_IF_ERROR(WriteLine(h, p, l));
      }
    }
    arrows_ = nullptr;
    session_.parts_->make_room();
    return OkStatus();
  }

  // Which lines have arrows at all, so that others need not ask for each event.
  Status FindArrows(uint32_t h) {
    arrow_lines_.clear();
    if (!query_.flows) return OkStatus();
    STROBE_ASSIGN_OR_RETURN(arrows_, session_.Arrows(h, cancel_));
    for (const timeline::Arrow& arrow : arrows_->arrows()) {
      arrow_lines_.insert({arrow.from.plane, arrow.from.line});
      arrow_lines_.insert({arrow.to.plane, arrow.to.line});
    }
    return OkStatus();
  }

  uint64_t ProcessOf(uint32_t h, uint32_t p) {
    if (process_ != 0) return process_;
    const SessionState::HostState& host = session_.hosts_[h];
    std::string name(host.profile->planes()[p].name);
    // Of one host the name alone, so that it means to readers what it meant to us.
    if (session_.hosts_.size() > 1) name = host.file.host + " " + name;
    process_ = writer_->AddProcess(name);
    return process_;
  }

  EventRange Clip(const LineColumns& columns, const LineColumns::Row& row, int64_t shift_ps) const {
    if (!query_.from_ps && !query_.to_ps) return {row.first, row.first + row.count};
    const int64_t from = query_.from_ps ? FileTime(*query_.from_ps, shift_ps) : INT64_MIN;
    const int64_t to = query_.to_ps ? FileTime(*query_.to_ps, shift_ps) : INT64_MAX;
    return timeline::EventsTouching(columns, row, from, to);
  }

  Status WriteLine(uint32_t h, uint32_t p, uint32_t l) {
    const SessionState::HostState& host = session_.hosts_[h];
    session_.Claim(host, p, l);
    const LineColumns& columns = host.profile->Line(p, l);
    const xplane::Plane& plane = host.profile->planes()[p];
    for (const LineColumns::Row& row : columns.rows.subspan(columns.timed_rows().size())) {
      summary_.events_without_time += row.count;
    }
    std::vector<EventRange> rows;
    for (const LineColumns::Row& row : columns.timed_rows()) {
      rows.push_back(Clip(columns, row, host.shift_ps));
    }
    while (!rows.empty() && rows.back().count() == 0) rows.pop_back();
    if (rows.empty()) return OkStatus();
    LineWork work{.host = h, .plane = p, .line = l};
    work.file = host.profile.get();
    work.columns = &columns;
    work.shift_ps = host.shift_ps;
    if (arrow_lines_.contains({p, l})) work.arrows = arrows_;
    const analysis::LineKind kind =
        analysis::ClassifyLine(analysis::ClassifyPlane(plane.name), plane.lines[l].name);
    if (kind == analysis::LineKind::kCounter) return WriteCounters(work, rows);
    const std::string name(columns.display_name.empty() ? plane.lines[l].label()
                                                        : columns.display_name);
    // What overlaps cannot be nested: each row is a track of its own then.
    if (columns.overlapping == 0) {
      return WriteRows(&work, rows, writer_->AddTrack(ProcessOf(h, p), name));
    }
    for (size_t row = 0; row < rows.size(); ++row) {
      if (rows[row].count() == 0) continue;
      const std::string shown = row == 0 ? name : name + " (" + std::to_string(row + 1) + ")";
      STROBE_RETURN_IF_ERROR(
          WriteRows(&work, {&rows[row], 1}, writer_->AddTrack(ProcessOf(h, p), shown)));
    }
    return OkStatus();
  }

  Status WriteRows(LineWork* work, std::span<const EventRange> rows, uint64_t track) {
    RowMerge merge(*work->columns, rows);
    uint32_t event = 0;
    while (merge.Next(&event)) {
      WriteEvent(work, track, event);
      STROBE_RETURN_IF_ERROR(Look());
    }
    return OkStatus();
  }

  void WriteEvent(LineWork* work, uint64_t track, uint32_t event) {
    const LineColumns& columns = *work->columns;
    const xplane::EventMetadata& metadata =
        work->file->planes()[work->plane].event_metadata[columns.name[event]];
    std::vector<Stat> arguments;
    if (query_.stats) {
      arguments = work->file->EventStats(work->plane, work->line, event);
      const std::vector<Stat>& more = MetadataStats(work, columns.name[event]);
      arguments.insert(arguments.end(), more.begin(), more.end());
      if (!metadata.display_name.empty() && metadata.display_name != metadata.name) {
        Stat& full = arguments.emplace_back();
        full.name = "long_name";
        full.type = xplane::StatType::kString;
        full.text = metadata.name;
      }
    }
    std::vector<TraceFlow> flows;
    if (work->arrows != nullptr) flows = FlowsOf(*work, event);
    writer_->Slice({.track = track,
                    .start_ps = SaturatingAdd(columns.start_ps[event], work->shift_ps),
                    .duration_ps = columns.duration_ps[event],
                    .name = metadata.label(),
                    .arguments = arguments,
                    .flows = flows});
    ++summary_.events;
  }

  const std::vector<Stat>& MetadataStats(LineWork* work, uint32_t name) {
    if (work->metadata_stats.size() > kMaxKeptMetadata) work->metadata_stats.clear();
    const auto [at, is_new] = work->metadata_stats.try_emplace(name);
    if (is_new) at->second = work->file->MetadataStats(work->plane, name);
    return at->second;
  }

  // Those of which both ends are written.
  std::vector<TraceFlow> FlowsOf(const LineWork& work, uint32_t event) const {
    std::vector<TraceFlow> flows;
    for (const timeline::Arrow& arrow : work.arrows->Of(work.plane, work.line, event)) {
      const bool begins = arrow.from.plane == work.plane && arrow.from.line == work.line &&
                          arrow.from.event == event;
      const timeline::ArrowEnd& other = begins ? arrow.to : arrow.from;
      if (!IsWritten(work.host, other)) continue;
      flows.push_back({.id = FlowIdOf(work.host, arrow), .begins = begins});
    }
    return flows;
  }

  bool IsWritten(uint32_t h, const timeline::ArrowEnd& end) const {
    if (!IsChosen({h, end.plane, end.line})) return false;
    const SessionState::HostState& host = session_.hosts_[h];
    const LineColumns& columns = host.profile->Line(end.plane, end.line);
    const int64_t start_ps = columns.start_ps[end.event];
    if (query_.to_ps && start_ps >= FileTime(*query_.to_ps, host.shift_ps)) return false;
    if (!query_.from_ps) return true;
    const int64_t from_ps = FileTime(*query_.from_ps, host.shift_ps);
    return start_ps >= from_ps || timeline::EndOf(columns, end.event) > from_ps;
  }

  Status WriteCounters(const LineWork& work, std::span<const EventRange> rows) {
    const LineColumns& columns = *work.columns;
    std::unordered_map<std::string, uint64_t> counters;
    RowMerge merge(columns, rows);
    uint32_t event = 0;
    while (merge.Next(&event)) {
      const std::string_view group =
          work.file->planes()[work.plane].event_metadata[columns.name[event]].label();
      for (const Stat& stat : work.file->EventStats(work.plane, work.line, event)) {
        const std::optional<double> value = timeline::NumberOf(stat);
        if (!value) continue;
        const std::string key = std::string(group) + '\0' + std::string(stat.name);
        const auto [at, is_new] = counters.try_emplace(key, 0);
        if (is_new) {
          at->second = writer_->AddCounter(ProcessOf(work.host, work.plane), group, stat.name);
        }
        writer_->Count(at->second, SaturatingAdd(columns.start_ps[event], work.shift_ps), *value);
      }
      ++summary_.events;
      STROBE_RETURN_IF_ERROR(Look());
    }
    return OkStatus();
  }

  Status Look() {
    if (++looks_ % kEventsPerLook != 0) return OkStatus();
    STROBE_RETURN_IF_ERROR(cancel_.Check());
    return writer_->pending_bytes() >= kExportPieceBytes ? Send() : OkStatus();
  }

  Status Send() {
    std::string piece = writer_->Take();
    summary_.size_bytes += piece.size();
    if (sink_(std::move(piece))) return OkStatus();
    return CancelledError("CANCELLED", "The export was cancelled because nobody takes it.");
  }

  SessionState& session_;
  const ExportQuery& query_;
  const ExportSink& sink_;
  const CancelToken& cancel_;
  std::set<LineRef> chosen_;
  std::unique_ptr<TraceWriter> writer_;
  ExportSummary summary_;
  uint64_t process_ = 0;                              // of the plane being written; 0: not begun
  std::shared_ptr<const timeline::ArrowSet> arrows_;  // of the host being written
  std::set<std::pair<uint32_t, uint32_t>> arrow_lines_;
  uint64_t looks_ = 0;
};

Status SessionState::CheckExport(const ExportQuery& query) const {
  for (const LineRef& line : query.lines) {
    STROBE_RETURN_IF_ERROR(CheckLine(line.host, line.plane, line.line));
    if (hosts_[line.host].views[line.plane] != nullptr) continue;
    return NotFoundError("LINE_NOT_SHOWN", "The line is on a plane that holds no events in time.")
        .Where(std::to_string(line.host) + "." + std::to_string(line.plane) + "." +
               std::to_string(line.line))
        .Hint("Take ids from the session's lines.");
  }
  return OkStatus();
}

Result<ExportSummary> SessionState::Export(const ExportQuery& query, const ExportSink& sink,
                                           const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(CheckExport(query));
  return SessionExporter(*this, query, sink, cancel).Run();
}

}  // namespace strobe::engine
