// The engine's OpenedSession: files held open as they were, lines decoded in the background, and
// every answer computed once however many ask for it.
//
// Split over several files: opened_session.cc (opening, loading, lines), session_answers.cc
// (completeness, overview, tiles, search), session_events.cc (single events), session_tools.cc
// (tools), session_rows.cc (events of a row), session_area.cc (totals, gaps, flows),
// session_search.cc, session_curves.cc (counters, marks), session_export.cc, session_kept.cc (what
// is kept for the next time).
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "src/analysis/op_line_facts.h"
#include "src/analysis/session_window.h"
#include "src/analysis/steps.h"
#include "src/base/executor.h"
#include "src/engine/engine.h"
#include "src/engine/first_look.h"
#include "src/engine/pyramid_file.h"
#include "src/engine/session_index.h"
#include "src/engine/single_flight.h"
#include "src/engine/tile_cache.h"
#include "src/engine/tool_cache.h"
#include "src/timeline/arrows.h"
#include "src/timeline/range_totals.h"
#include "src/timeline/search.h"
#include "src/timeline/search_expression.h"
#include "src/timeline/tile.h"
#include "src/tools/session_input.h"
#include "src/xplane/column_cache.h"

namespace strobe::engine {

// What sessions share. Kept alive by every session, so that one that a request still holds may
// outlive the engine (it can be let go then, no longer asked).
struct EngineParts {
  EngineParts(uint64_t tile_cache_bytes, xplane::ColumnCache::Options column_options,
              ToolCache::Options result_options, const Clock& used_clock)
      : clock(used_clock),
        tiles(tile_cache_bytes),
        columns(std::move(column_options), used_clock),
        results(std::move(result_options), used_clock) {}

  const Clock& clock;
  TileCache tiles;
  xplane::ColumnCache columns;
  ToolCache results;
  SingleFlight<tools::ToolResult> tool_flight;
  int64_t tool_max_seconds = 0;  // EngineOptions
  int64_t tool_max_bytes = 0;
  std::atomic<uint64_t> tool_results_computed{0};
  // Prepared hosts of one session beyond this are let go once they are summed up.
  uint64_t max_prepared_bytes = uint64_t{2} << 30;
  // Sessions of several hosts whose undecoded bytes are more than this are combined host by host,
  // each opened apart and let go.
  uint64_t max_combined_bytes = uint64_t{4} << 30;
  std::vector<std::string> xla_dump_directories;
  SingleFlight<std::string> tile_flight;
  std::atomic<uint64_t> tiles_encoded{0};
  std::atomic<uint64_t> tile_cache_hits{0};
  // Called when a session has grown; evicts others. False when the budget is spent all the same.
  std::function<bool()> make_room = [] { return true; };
  Executor* executor = nullptr;  // the engine's; nullptr once it is gone
  int loaders = 1;               // background tasks that decode one session side by side
};

// The pyramids of one line, made when first needed.
struct LinePyramids {
  std::once_flag once;
  std::atomic<bool> claimed{false};  // somebody decodes the line or has done so
  std::atomic<bool> ready{false};
  std::vector<timeline::RowPyramid> rows;
};

// What totals of an area are summed by: names of one plane on lines of one kind, since categories
// depend on both.
struct AreaGroup {
  uint32_t host = 0;
  uint32_t plane = 0;
  analysis::LineKind kind = analysis::LineKind::kOther;
  friend auto operator<=>(const AreaGroup&, const AreaGroup&) = default;
};
struct AreaPiece {
  AreaGroup group;
  uint32_t line = 0;
  timeline::TotalSlice slice;
};
struct AreaSums {
  std::map<AreaGroup, std::vector<timeline::NameTotal>> names;  // by event metadata
  std::map<LineRef, timeline::LineTotal> lines;
};

class SessionState : public OpenedSession, public std::enable_shared_from_this<SessionState> {
 public:
  // Reads the skeletons of all hosts. Never fails: a host that cannot be opened is named.
  static std::shared_ptr<SessionState> Open(const IndexedSession& session,
                                            const std::string& scratch_directory,
                                            std::shared_ptr<EngineParts> parts,
                                            xplane::UnpackProgress* progress);
  SessionState(const IndexedSession& session, std::shared_ptr<EngineParts> parts);

  // Why nothing of the session could be opened; nullopt when some host works.
  std::optional<Status> failure() const;
  // COLUMNS_LOST when a column file was cut short under us, and why an object of a bucket could not
  // be fetched. Asked after an answer was computed and before it is kept; the engine then opens the
  // session anew.
  Status CheckColumns() const;
  void StartLoading();
  void StopLoading() { stop_loading_.Cancel(); }
  uint64_t resident_bytes() const;
  // Lets go of what tools worked out and can work out again; returns how much.
  uint64_t DropToolInputs();
  // What the list of sessions says of it: judged once the completeness record is there.
  std::pair<xplane::CompletenessState, std::string> Judge() const;

  const xplane::SessionEntry& entry() const override { return entry_; }
  const std::string& version() const override { return version_; }
  std::optional<int64_t> origin_unix_ns() const override { return origin_unix_ns_; }
  std::vector<FileState> files() const override;
  LoadProgress progress() const override;
  std::vector<analysis::HostInput> hosts() const override;
  LineTree Lines(int64_t wait_ms) override;
  Result<std::shared_ptr<const xplane::Completeness>> CompletenessRecord(
      const CancelToken& cancel) override;
  Result<std::shared_ptr<const analysis::Overview>> FirstOverview(
      const CancelToken& cancel) override;
  Result<std::shared_ptr<const std::string>> Tile(uint32_t host, uint32_t plane, uint32_t chunk,
                                                  int level, int64_t index,
                                                  const CancelToken& cancel) override;
  Result<EventDetail> Event(const analysis::EventRef& ref) override;
  Result<Neighbours> NeighboursAt(uint32_t host, uint32_t plane, uint32_t line,
                                  int64_t at_ps) override;
  Result<Neighbours> NeighboursOf(const analysis::EventRef& ref) override;
  Result<SearchResult> Search(const SearchQuery& query, const CancelToken& cancel) override;
  Result<AreaTotals> Totals(const TotalsQuery& query, const CancelToken& cancel) override;
  Result<AreaGaps> Gaps(const GapsQuery& query, const CancelToken& cancel) override;
  Result<AreaFlows> Flows(const FlowsQuery& query, const CancelToken& cancel) override;
  Result<CounterList> Counters(const CancelToken& cancel) override;
  Result<CounterCurve> Counter(const CounterQuery& query, const CancelToken& cancel) override;
  Result<SessionMarks> Marks(const MarksQuery& query, const CancelToken& cancel) override;
  Status CheckExport(const ExportQuery& query) const override;
  Result<ExportSummary> Export(const ExportQuery& query, const ExportSink& sink,
                               const CancelToken& cancel) override;
  std::shared_ptr<tools::ToolInput> Input() override { return ToolInputs(); }
  Result<std::shared_ptr<const tools::ToolResult>> RunTool(const tools::ToolDescriptor& tool,
                                                           const tools::ToolQuestion& question,
                                                           const CancelToken& cancel) override;
  std::optional<ToolProgress> ProgressOfTool(const std::string& tool_id) const override;
  Result<SubjectEvents> EventsOfSubject(const tools::RowSubject& subject, const SubjectQuery& query,
                                        const CancelToken& cancel) override;
  // Nothing was opened, and only because there is nothing in the files.
  bool only_empty_files() const;

 private:
  // Background work goes to the back of the queue after so many bytes (about 10 ms), so that
  // sessions load side by side.
  static constexpr uint64_t kBytesPerTurn = 8 << 20;

  struct PlaneView {
    std::vector<uint32_t> order;  // lines in display order
    std::mutex mutex;             // guards categories
    std::map<analysis::LineKind, std::vector<uint8_t>> categories;
    std::unique_ptr<LinePyramids[]> pyramids;  // by line
  };
  struct HostState {
    xplane::SessionFile file;
    std::shared_ptr<xplane::ProfileFile> profile;  // nullptr: `error` says why
    std::optional<Status> error;
    bool writing = false;
    storage::FileIdentity identity;
    bool from_columns = false;                          // nothing new to write to the cache
    std::shared_ptr<const xplane::ColumnFile> columns;  // when from_columns
    std::shared_ptr<const PyramidFile> pyramids;        // kept ones; nullptr: none
    std::shared_ptr<const FirstLook> first_look;        // likewise
    std::shared_ptr<analysis::OpLineCache> op_lines;    // made with the profile
    int64_t shift_ps = 0;
    std::string content_hash;                       // guarded by answers_mutex_; empty: not known
    std::vector<uint32_t> planes;                   // in display order
    std::vector<std::unique_ptr<PlaneView>> views;  // by plane; nullptr when not shown
  };
  struct LineSlot {
    uint32_t host = 0;
    uint32_t plane = 0;
    uint32_t line = 0;
  };

  // Whether the lines of all these hosts would not fit.
  bool IsTooLarge(const std::vector<size_t>& hosts) const;
  Result<std::shared_ptr<const xplane::ProfileFile>> OpenApart(size_t host,
                                                               const CancelToken& cancel) const;
  void OpenHost(HostState* host, const IndexedFile& file, const std::string& scratch_directory,
                xplane::UnpackProgress* progress);
  void Arrange();
  void FindKept(HostState* host);
  Status KeepPyramids(const HostState& host, const CancelToken& cancel);
  Status KeepFirstLook(uint32_t host, const CancelToken& cancel);
  bool EveryLineIsKnown() const;
  // True for the first to ask: the line is theirs to decode. Others do better to take another one
  // first than to wait for it.
  bool Claim(const HostState& host, uint32_t plane, uint32_t line) const;
  void QueueLoader();
  void LoadSome();
  void LeaveLoading(bool whole);
  void FinishLoading(bool whole);
  void KeepAndJudge();
  void SumUpGpuOps(const CancelToken& cancel);
  void MarkDamage(const std::vector<size_t>& hosts, tools::ToolResult* result) const;
  uint64_t BytesOf(const LineSlot& slot) const;

  friend class SessionExporter;  // session_export.cc

  // Read once and kept.
  struct KeptCounters {
    struct One {
      CounterInfo info;
      timeline::CounterSeries series;
    };
    bool truncated = false;
    std::vector<One> counters;
    uint64_t resident_bytes() const;
  };
  Result<std::shared_ptr<const KeptCounters>> ReadCounters(const CancelToken& cancel);
  Result<std::shared_ptr<const analysis::StepsFound>> StepsOfAll(const CancelToken& cancel);
  SearchHit DescribeHit(const timeline::FoundEvent& hit) const;
  Status SearchNames(const timeline::NamePattern& pattern, timeline::EventSearch* search,
                     std::set<std::string_view>* names, const CancelToken& cancel);
  Status SearchExpressions(const timeline::SearchExpression& expression,
                           timeline::EventSearch* search, std::set<std::string_view>* names,
                           const CancelToken& cancel);

  Status CheckHost(uint32_t host) const;
  Status CheckLine(uint32_t host, uint32_t plane, uint32_t line) const;
  Status CheckEvent(const analysis::EventRef& ref) const;
  analysis::TimeWindow Window() const;
  HostInfo DescribeHost(uint32_t host) const;
  LineInfo DescribeLine(const HostState& host, uint32_t plane, uint32_t line) const;
  Neighbours NeighboursOfKnown(const analysis::EventRef& ref) const;

  Status DecodeAll(const CancelToken& cancel);
  Status DecodeHosts(const std::vector<size_t>& hosts, const CancelToken& cancel);
  std::shared_ptr<tools::SessionInput> ToolInputs();
  std::shared_ptr<tools::SessionInput> ToolInputsIfMade() const;
  Result<const analysis::PreparedPlane*> GroupsOf(
      const tools::RowSubject& subject, size_t host, size_t plane, const CancelToken& cancel,
      std::shared_ptr<const analysis::PreparedHost>* prepared);
  std::pair<int64_t, int64_t> ClipToWindow(std::optional<int64_t> from_ps,
                                           std::optional<int64_t> to_ps) const;
  std::vector<LineRef> LinesOfSide(bool devices, uint64_t* left_out) const;
  Result<std::vector<LineRef>> LinesToCount(const TotalsQuery& query, AreaTotals* totals) const;
  std::vector<AreaPiece> PiecesOf(const std::vector<LineRef>& lines, int64_t from_ps,
                                  int64_t to_ps) const;
  Result<AreaSums> SumPieces(const std::vector<AreaPiece>& pieces, const CancelToken& cancel) const;
  void DescribeNames(const AreaSums& sums, size_t limit, AreaTotals* totals);
  void DescribeLines(const std::map<LineRef, timeline::LineTotal>& by_line, size_t limit,
                     AreaTotals* totals) const;
  Status MeasureDevices(const std::map<LineRef, timeline::LineTotal>& by_line,
                        const CancelToken& cancel, AreaTotals* totals) const;
  std::string NameOfEvent(const analysis::EventRef& ref) const;
  std::vector<AreaGaps::Meanwhile> Meanwhile(uint32_t host, int64_t from_ps, int64_t to_ps) const;
  Result<std::shared_ptr<const timeline::ArrowSet>> Arrows(uint32_t host,
                                                           const CancelToken& cancel);
  AreaFlows::Item DescribeArrow(uint32_t host, const timeline::Arrow& arrow) const;
  Result<std::string> HashOfHost(size_t host, const CancelToken& cancel);
  Result<std::string> ResultKey(const tools::ToolDescriptor& tool,
                                const tools::ToolQuestion& question, const CancelToken& cancel);
  SingleFlight<tools::ToolResult>::Answer ComputeTool(const tools::ToolDescriptor& tool,
                                                      const tools::ToolQuestion& question,
                                                      const std::string& key,
                                                      const CancelToken& cancel);
  SingleFlight<xplane::Completeness>::Answer ComputeCompleteness(const CancelToken& cancel);
  Result<std::shared_ptr<const std::string>> EncodeChunk(uint32_t host, uint32_t plane,
                                                         uint32_t chunk, int level, int64_t index,
                                                         const CancelToken& cancel);
  const std::vector<uint8_t>& Categories(const HostState& host, uint32_t plane,
                                         analysis::LineKind kind);
  std::vector<timeline::RowPyramid> MakePyramids(const HostState& host, uint32_t plane,
                                                 uint32_t line) const;
  std::span<const timeline::RowPyramid> Pyramids(const HostState& host, uint32_t plane,
                                                 uint32_t line);

  const std::shared_ptr<EngineParts> parts_;
  xplane::SessionEntry entry_;
  std::string scratch_directory_;
  const std::string version_;
  std::optional<int64_t> origin_unix_ns_;
  std::vector<HostState> hosts_;  // fixed once opened
  std::vector<LineSlot> load_order_;
  std::vector<std::optional<analysis::TimeWindow>> known_windows_;  // by host, from first looks
  bool all_known_ = false;  // first looks tell of every line, so nobody need wait for decoding

  CancelSource stop_loading_;
  std::atomic<size_t> next_to_load_{0};  // from the size of load_order_ on: its second round
  std::atomic<uint64_t> loaded_bytes_{0};
  std::atomic<int> loaders_left_{0};
  std::atomic<bool> load_broken_off_{false};
  std::atomic<uint64_t> pyramid_bytes_{0};
  uint64_t total_bytes_ = 0;
  mutable std::mutex load_mutex_;
  std::condition_variable loaded_;
  bool loading_done_ = false;  // guarded by load_mutex_
  bool loaded_whole_ = false;  // likewise; false when it was stopped or memory ran out

  SingleFlight<KeptCounters> counters_flight_;
  SingleFlight<analysis::StepsFound> steps_flight_;
  SingleFlight<xplane::Completeness> completeness_flight_;
  SingleFlight<analysis::Overview> overview_flight_;
  mutable std::mutex answers_mutex_;
  std::shared_ptr<const xplane::Completeness> completeness_;
  std::shared_ptr<const analysis::Overview> overview_;
  std::shared_ptr<const KeptCounters> counters_;
  std::shared_ptr<const analysis::StepsFound> steps_;

  // What is being computed for a tool.
  struct RunningTool {
    std::string tool;
    std::atomic<ToolProgress::Stage> stage{ToolProgress::Stage::kDecoding};
    std::vector<size_t> hosts;
    std::unique_ptr<std::atomic<bool>[]> done;  // by place in `hosts`
  };
  class RunningMark;  // session_tools.cc
  void MarkHostDone(size_t host) const;
  mutable std::mutex running_mutex_;
  std::vector<std::shared_ptr<RunningTool>> running_;  // guarded by running_mutex_; oldest first

  std::once_flag inputs_once_;
  mutable std::mutex inputs_mutex_;  // guards the two that follow
  std::shared_ptr<tools::SessionInput> inputs_;
  std::string modules_mark_;  // changes with the files that hold modules
};

}  // namespace strobe::engine
