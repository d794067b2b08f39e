// The engine: which sessions exist, opening them, and one answer for many askers.
//
//   Engine engine(options, SystemClock());
//   engine.Refresh();                                     // walks the roots; also done by itself
//   every few seconds STROBE_ASSIGN_OR_RETURN(std::shared_ptr<OpenedSession> session,
//   engine.Open(id)); STROBE_ASSIGN_OR_RETURN(std::shared_ptr<const std::string> tile,
//   session->Tile(0, 1, 0, 30, 12, cancel));
//
// Opening reads skeletons only; lines are decoded when asked for, the rest in the background, and
// the columns are written to the cache directory so that the next open decodes nothing. Several
// threads asking for the same thing compute it once. Limits: EngineOptions; opened sessions are
// kept least recently used within `memory_budget_bytes`. Knows neither HTTP nor who the user is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/overview.h"
#include "src/base/cancel.h"
#include "src/base/clock.h"
#include "src/base/fair_queue.h"
#include "src/base/status.h"
#include "src/engine/area.h"
#include "src/engine/curves.h"
#include "src/engine/export.h"
#include "src/storage/place.h"
#include "src/tools/tool.h"
#include "src/xplane/completeness.h"
#include "src/xplane/session.h"

namespace strobe::engine {

struct EngineOptions {
  std::vector<std::string> roots;    // directories, single files, s3://bucket/prefix, gs://...
  std::string cache_directory = "";  // columns, inflated files; empty: no column files
  uint64_t cache_max_bytes = 20ULL << 30;
  uint64_t memory_budget_bytes = 8ULL << 30;
  // On disk; a part of the cache directory beside the columns.
  uint64_t result_cache_max_bytes = 2ULL << 30;
  // Folders that --xla_dump_to filled: their modules count for every session.
  std::vector<std::string> xla_dump_directories = {};
  // One answer of a tool; beyond it TOOL_LIMIT_TIME. 0: no limit.
  int64_t tool_max_seconds = 0;
  // Heap that one answer of a tool may hold; beyond it TOOL_LIMIT_MEMORY. 0: no limit.
  int64_t tool_max_bytes = 0;
  int threads = 2;
  int64_t rescan_interval_ms = 2000;
  // A file younger than this, or still growing, is not served as whole.
  int64_t settle_ms = 1000;
  // Who opens buckets; null: with the process's own environment, when a root needs it.
  std::shared_ptr<storage::PlaceOpener> places = nullptr;
  // Buckets are listed this often, and less when a listing takes longer than a twentieth of it.
  int64_t bucket_interval_ms = 10'000;
};

struct SessionSummary {
  xplane::SessionEntry entry;
  xplane::CompletenessState state = xplane::CompletenessState::kUnread;
  std::string state_reason;
};

struct FileState {
  xplane::SessionFile file;
  xplane::CompletenessState state = xplane::CompletenessState::kUnread;
  std::string state_reason;
};

enum class LoadStage : uint8_t { kUnpacking, kIndexing, kDecoding, kReady, kFailed };
std::string_view LoadStageName(LoadStage stage);

struct LoadProgress {
  LoadStage stage = LoadStage::kIndexing;
  uint64_t done_bytes = 0;
  uint64_t total_bytes = 0;
};

struct LineInfo {
  uint32_t line = 0;  // index in its plane
  std::string name;
  std::string display_name;
  int64_t thread_id = 0;
  analysis::LineKind kind = analysis::LineKind::kOther;
  bool derived = false;
  uint32_t chunk = 0;
  // Known once the line is decoded.
  std::optional<uint32_t> row_count;
  std::optional<uint64_t> event_count;
  int64_t start_ps = 0;
  int64_t end_ps = 0;
};

struct PlaneInfo {
  uint32_t plane = 0;
  std::string name;
  analysis::PlaneKind kind = analysis::PlaneKind::kOther;
  uint32_t chunk_count = 0;
  std::optional<uint64_t> event_count;
  std::vector<LineInfo> lines;  // display order; chunk = position / kLinesPerChunk
};

struct HostInfo {
  uint32_t host = 0;
  std::string name;
  std::optional<Status> error;
  std::vector<PlaneInfo> planes;  // display order
};

struct LineTree {
  bool complete = false;
  int64_t window_start_ps = 0;
  int64_t window_end_ps = 0;
  std::vector<HostInfo> hosts;
};

struct EventStat {
  xplane::Stat stat;
  bool from_metadata = false;
};

struct EventDetail {
  analysis::EventRef ref;
  std::string name;
  std::string full_name;
  std::string host;
  std::string plane;
  std::string line;
  int64_t start_ps = 0;
  int64_t duration_ps = 0;
  int64_t self_ps = 0;
  uint32_t depth = 0;
  uint64_t occurrences = 1;
  std::optional<analysis::EventRef> parent;
  uint64_t offset_bytes = 0;
  std::vector<EventStat> stats;
};

struct Neighbours {
  std::optional<analysis::EventRef> event;     // at or nearest to the asked time
  std::optional<analysis::EventRef> previous;  // same row
  std::optional<analysis::EventRef> next;
};

struct SearchQuery {
  std::string text;         // substring, or /regex/
  bool expression = false;  // the text is one of timeline/search_expression.h
  // Where this one stands among the hits: an event, or a time.
  std::optional<analysis::EventRef> near = std::nullopt;
  std::optional<int64_t> near_ps = std::nullopt;
  std::optional<int64_t> from_ps = std::nullopt;
  std::optional<int64_t> to_ps = std::nullopt;
  size_t limit = 1000;
};

struct SearchHit {
  analysis::EventRef event;
  std::string name;
  int64_t start_ps = 0;
  int64_t duration_ps = 0;
  // By the device's own account, in the events of a row where they say so.
  std::optional<int64_t> device_duration_ps = std::nullopt;
};

struct SearchNear {
  uint64_t rank = 0;  // hits before it
  bool is_hit = false;
  std::optional<SearchHit> previous;
  std::optional<SearchHit> next;
};

struct SearchResult {
  uint64_t total = 0;
  uint64_t names = 0;
  bool truncated = false;
  std::vector<SearchHit> hits;     // time order
  std::vector<uint64_t> density;   // 256 parts of the window
  std::optional<SearchNear> near;  // when it was asked for
};

// The events that a row of a tool's table is about.
struct SubjectQuery {
  std::vector<size_t> hosts;  // indices; never empty
  size_t limit = 1000;
  bool longest_first = false;  // else in time order
};

struct SubjectEvents {
  uint64_t total = 0;
  int64_t total_duration_ps = 0;
  // The same by the device's own account, of events without one as the profile has it.
  int64_t total_device_duration_ps = 0;
  bool has_device_times = false;
  bool truncated = false;
  std::vector<SearchHit> events;
  std::string reason;  // why there are none
};

// How far the computation of a tool's answer has come. Hosts are worked on side by side.
struct ToolProgress {
  enum class Stage : uint8_t { kDecoding, kHosts, kCombining };
  Stage stage = Stage::kDecoding;
  size_t hosts_total = 0;
  size_t hosts_done = 0;
  std::vector<std::pair<std::string, Status>> failed;  // hosts that cannot be read, and why
};
std::string_view ToolStageName(ToolProgress::Stage stage);  // "decoding" ...

// A session being looked at. Thread-safe; holds its files open as they were when it was opened.
class OpenedSession {
 public:
  virtual ~OpenedSession() = default;
  virtual const xplane::SessionEntry& entry() const = 0;
  // Changes whenever a file of the session changes.
  virtual const std::string& version() const = 0;
  virtual std::optional<int64_t> origin_unix_ns() const = 0;
  virtual std::vector<FileState> files() const = 0;
  virtual LoadProgress progress() const = 0;
  // Opened files and their time shifts; entries that failed have no file. Index = host.
  virtual std::vector<analysis::HostInput> hosts() const = 0;

  // Waits at most `wait_ms` for decoding to finish, then answers with what is known.
  virtual LineTree Lines(int64_t wait_ms) = 0;
  virtual Result<std::shared_ptr<const xplane::Completeness>> CompletenessRecord(
      const CancelToken& cancel) = 0;
  virtual Result<std::shared_ptr<const analysis::Overview>> FirstOverview(
      const CancelToken& cancel) = 0;
  // Encoded tile; decodes the chunk's lines when needed.
  virtual Result<std::shared_ptr<const std::string>> Tile(uint32_t host, uint32_t plane,
                                                          uint32_t chunk, int level, int64_t index,
                                                          const CancelToken& cancel) = 0;
  virtual Result<EventDetail> Event(const analysis::EventRef& ref) = 0;
  virtual Result<Neighbours> NeighboursAt(uint32_t host, uint32_t plane, uint32_t line,
                                          int64_t at_ps) = 0;
  virtual Result<Neighbours> NeighboursOf(const analysis::EventRef& ref) = 0;
  virtual Result<SearchResult> Search(const SearchQuery& query, const CancelToken& cancel) = 0;

  // How a span divides over names, categories and lines. LINE_UNKNOWN.
  virtual Result<AreaTotals> Totals(const TotalsQuery& query, const CancelToken& cancel) = 0;
  // When a device (or a host) did nothing, and what the host's threads did meanwhile.
  virtual Result<AreaGaps> Gaps(const GapsQuery& query, const CancelToken& cancel) = 0;
  // What caused what: of one event, or in a span.
  virtual Result<AreaFlows> Flows(const FlowsQuery& query, const CancelToken& cancel) = 0;

  // What can be drawn as curves, and one of them. COUNTER_UNKNOWN.
  virtual Result<CounterList> Counters(const CancelToken& cancel) = 0;
  virtual Result<CounterCurve> Counter(const CounterQuery& query, const CancelToken& cancel) = 0;
  // Steps and modules that touch a span.
  virtual Result<SessionMarks> Marks(const MarksQuery& query, const CancelToken& cancel) = 0;

  // LINE_UNKNOWN and the like, at once; Export says the same.
  virtual Status CheckExport(const ExportQuery& query) const = 0;
  // CANCELLED when the sink wants no more.
  virtual Result<ExportSummary> Export(const ExportQuery& query, const ExportSink& sink,
                                       const CancelToken& cancel) = 0;

  // The session as tools see it. Indices of its hosts are those of hosts().
  virtual std::shared_ptr<tools::ToolInput> Input() = 0;
  // What a tool answers: computed once for however many ask, and kept by content of the hosts,
  // tool, its version and options. TOOL_NEEDS_ONE_HOST, COLUMNS_LOST, CANCELLED, and the tool's own
  // errors. The question's hosts must be in range (our bug otherwise).
  virtual Result<std::shared_ptr<const tools::ToolResult>> RunTool(
      const tools::ToolDescriptor& tool, const tools::ToolQuestion& question,
      const CancelToken& cancel) = 0;
  // Of the tool's computation that runs now; nullopt: none does.
  virtual std::optional<ToolProgress> ProgressOfTool(const std::string& tool_id) const = 0;
  // By name and stats of events: exact for ops and kernels; a step means its events on the lines of
  // steps. Derived lines are left out, since they repeat what others measured.
  virtual Result<SubjectEvents> EventsOfSubject(const tools::RowSubject& subject,
                                                const SubjectQuery& query,
                                                const CancelToken& cancel) = 0;
  // By id or alias: TOOL_UNKNOWN.
  Result<std::shared_ptr<const tools::ToolResult>> Tool(const std::string& id,
                                                        const tools::ToolQuestion& question,
                                                        const CancelToken& cancel);
};

// TOOL_UNKNOWN, with what there is.
Result<const tools::ToolDescriptor*> LookUpTool(const std::string& id);

class Engine {
 public:
  static std::unique_ptr<Engine> Create(EngineOptions options, const Clock& clock);
  virtual ~Engine() = default;

  // Walks the roots now. Errors only when no root can be read.
  virtual Status Refresh() = 0;
  // The files of this session directory were written whole, by us: they need not settle. Call it
  // before Refresh.
  virtual Status MarkWhole(const std::string& session_path) { return OkStatus(); }
  // Newest first. A counter that changes whenever the list does is in `list_version`.
  virtual std::vector<SessionSummary> Sessions() = 0;
  virtual uint64_t list_version() = 0;
  // SESSION_UNKNOWN, SESSION_EMPTY, or the error of its only file.
  virtual Result<std::shared_ptr<OpenedSession>> Open(const std::string& id) = 0;
  // How far an Open of it that runs now has come: unpacking or indexing, in bytes of compressed
  // files. nullopt: none runs. Opens nothing and never waits.
  virtual std::optional<LoadProgress> Opening(const std::string& id) { return std::nullopt; }
  // As Open; a session whose files are all empty is opened too. XProf takes an empty file for a
  // profile of no device, and modules may lie beside it.
  virtual Result<std::shared_ptr<OpenedSession>> OpenForTools(const std::string& id) = 0;
  // Lets a session be opened by its id that lies inside the roots and is in no list.
  virtual void Adopt(const xplane::SessionEntry& entry) = 0;
  // By XProf's run name (newest wins when several roots have it).
  virtual Result<xplane::SessionEntry> FindByXprofRun(const std::string& run) = 0;
  virtual const EngineOptions& options() const = 0;

  struct Stats {
    uint64_t opened_sessions = 0;
    uint64_t resident_bytes = 0;
    uint64_t cache_bytes = 0;
    uint64_t column_file_hits = 0;
    uint64_t column_file_misses = 0;
    uint64_t tiles_encoded = 0;
    uint64_t tile_cache_hits = 0;
    uint64_t tool_results_computed = 0;
    uint64_t tool_result_memory_hits = 0;
    uint64_t tool_result_disk_hits = 0;
    // Pieces of work on the engine's threads: what somebody waits for, and loading.
    FairQueue::Counts interactive = {};
    FairQueue::Counts background = {};
  };
  virtual Stats stats() = 0;
};

}  // namespace strobe::engine
