// An engine with sessions made by hand, for tests of the API alone: what it answers is known
// exactly, and what it is asked can be looked at.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/engine.h"

namespace strobe::api {

// What tools made for tests see: facts that can be set, hosts by name, no profile behind them.
class FakeInput final : public tools::ToolInput {
 public:
  explicit FakeInput(const xplane::SessionEntry& entry) : name_(entry.xprof_run()) {
    for (const xplane::SessionFile& file : entry.files)
      hosts_.push_back({.name = file.host, .error = {}});
    facts_value.host_count = hosts_.size();
  }
  const std::vector<tools::ToolHost>& hosts() const override { return hosts_; }
  const tools::SessionFacts& facts() const override { return facts_value; }
  std::string_view session_name() const override { return name_; }
  Result<std::shared_ptr<const analysis::PreparedHost>> Prepared(size_t,
                                                                 const CancelToken&) override {
    return UnimplementedError("FAKE", "There is no profile.");
  }
  Result<std::shared_ptr<const analysis::OpStats>> HostOpStats(size_t,
                                                               const CancelToken&) override {
    return std::make_shared<const analysis::OpStats>();
  }
  Result<std::shared_ptr<const analysis::OpStats>> CombinedOpStats(std::span<const size_t>,
                                                                   const CancelToken&) override {
    return std::make_shared<const analysis::OpStats>();
  }
  std::shared_ptr<const hlo::ModuleSet> Modules() override { return modules_; }

  tools::SessionFacts facts_value;

 private:
  std::string name_;
  std::vector<tools::ToolHost> hosts_;
  std::shared_ptr<const hlo::ModuleSet> modules_ = std::make_shared<const hlo::ModuleSet>();
};

class FakeSession final : public engine::OpenedSession {
 public:
  explicit FakeSession(xplane::SessionEntry entry)
      : input(std::make_shared<FakeInput>(entry)), entry_(std::move(entry)) {}

  const xplane::SessionEntry& entry() const override { return entry_; }
  const std::string& version() const override { return version_; }
  std::optional<int64_t> origin_unix_ns() const override { return 1748736000000000000; }
  std::vector<engine::FileState> files() const override {
    std::vector<engine::FileState> states;
    for (const xplane::SessionFile& file : entry_.files) {
      states.push_back({file, xplane::CompletenessState::kComplete, ""});
    }
    return states;
  }
  engine::LoadProgress progress() const override { return {engine::LoadStage::kReady, 1000, 1000}; }
  std::vector<analysis::HostInput> hosts() const override {
    return {{.host = "host0", .file = nullptr, .shift_ps = 0}};
  }
  engine::LineTree Lines(int64_t wait_ms) override {
    last_wait_ms = wait_ms;
    engine::LineTree tree;
    tree.complete = true;
    tree.window_end_ps = 5'000'000;
    engine::LineInfo decoded;
    decoded.name = "XLA Ops";
    decoded.thread_id = -3;
    decoded.kind = analysis::LineKind::kOps;
    decoded.row_count = 1;
    decoded.event_count = 2;
    decoded.end_ps = 5'000'000;
    engine::LineInfo waiting;
    waiting.line = 1;
    waiting.name = "Steps";
    waiting.display_name = "Schritte";
    engine::PlaneInfo plane;
    plane.plane = 1;
    plane.name = "/device:TPU:0";
    plane.kind = analysis::PlaneKind::kDevice;
    plane.chunk_count = 1;
    plane.lines = {decoded, waiting};
    engine::HostInfo host;
    host.name = "host0";
    host.planes = {plane};
    engine::HostInfo broken;
    broken.host = 1;
    broken.name = "host1";
    broken.error = DataLossError("XPLANE_TRUNCATED", "Cut off.");
    tree.hosts = {host, broken};
    return tree;
  }
  Result<std::shared_ptr<const xplane::Completeness>> CompletenessRecord(
      const CancelToken&) override {
    auto record = std::make_shared<xplane::Completeness>();
    record->state = xplane::CompletenessState::kPartial;
    record->reasons = {"host1: cut off"};
    record->hosts_expected_reason = "the profile does not say";
    xplane::HostCompleteness host;
    host.host = "host0";
    host.file = "host0.xplane.pb";
    host.format = "xplane.pb";
    host.state = xplane::CompletenessState::kComplete;
    host.window = xplane::ProfileFile::Window{0, 5};
    host.window_source = "Task Environment";
    host.events = 26723;
    host.damage = {{DataLossError("X", "y"), 77, "/host:CPU", "python"}};
    xplane::HostCompleteness failed;
    failed.host = "host1";
    failed.state = xplane::CompletenessState::kDamaged;
    failed.open_error = DataLossError("XPLANE_NOT_A_PROFILE", "This is text.");
    record->hosts = {host, failed};
    return std::shared_ptr<const xplane::Completeness>(record);
  }
  Result<std::shared_ptr<const analysis::Overview>> FirstOverview(const CancelToken&) override {
    auto overview = std::make_shared<analysis::Overview>();
    overview->window_end_ps = 5'000'000;
    overview->event_count = 2;
    overview->devices = {{0, 1, "/device:TPU:0", "TPU", "", 4'000'000, 0.8}};
    analysis::StepSummary steps;
    steps.source = "Steps line";
    steps.count = 1;
    steps.items = {{"1", 0, 5, {0, 1, 0, 0}}};
    overview->steps = steps;
    analysis::OpSummary op;
    op.name = "fusion.3";
    op.total_ps = int64_t{1} << 60;
    op.longest = {0, 1, 2, 55};
    overview->top_ops = {op};
    overview->top_ops_by = "device";
    return std::shared_ptr<const analysis::Overview>(overview);
  }
  Result<std::shared_ptr<const std::string>> Tile(uint32_t host, uint32_t plane, uint32_t chunk,
                                                  int level, int64_t index,
                                                  const CancelToken&) override {
    if (plane != 1) return NotFoundError("TILE_UNKNOWN", "There is no such plane.");
    ++tiles;
    return std::make_shared<const std::string>("STL1 " + std::to_string(host) + " " +
                                               std::to_string(chunk) + " " + std::to_string(level) +
                                               " " + std::to_string(index));
  }
  Result<engine::EventDetail> Event(const analysis::EventRef& ref) override {
    if (ref.event > 99) return NotFoundError("EVENT_UNKNOWN", "No event has that id.");
    engine::EventDetail event;
    event.ref = ref;
    event.name = "fusion.3";
    event.parent = analysis::EventRef{0, 1, 1, 3};
    const auto add = [&](std::string_view name, xplane::StatType type, bool from_metadata) {
      engine::EventStat stat;
      stat.stat.name = name;
      stat.stat.type = type;
      stat.stat.uint64_value = uint64_t{1} << 60;
      stat.stat.int64_value = -5;
      stat.stat.number = 0.5;
      stat.stat.text = long_text_;
      stat.from_metadata = from_metadata;
      event.stats.push_back(stat);
    };
    add("bytes_accessed", xplane::StatType::kUint64, true);
    add("group_id", xplane::StatType::kInt64, false);
    add("share", xplane::StatType::kDouble, false);
    add("hlo", xplane::StatType::kString, false);
    add("blob", xplane::StatType::kBytes, false);
    add("nothing", xplane::StatType::kNone, false);
    return event;
  }
  Result<engine::Neighbours> NeighboursAt(uint32_t host, uint32_t plane, uint32_t line,
                                          int64_t at_ps) override {
    return engine::Neighbours{analysis::EventRef{host, plane, line, static_cast<uint32_t>(at_ps)},
                              std::nullopt, analysis::EventRef{host, plane, line, 9}};
  }
  Result<engine::Neighbours> NeighboursOf(const analysis::EventRef& ref) override {
    return engine::Neighbours{ref, std::nullopt, std::nullopt};
  }
  Result<engine::SearchResult> Search(const engine::SearchQuery& query,
                                      const CancelToken&) override {
    last_query = query;
    engine::SearchResult result;
    result.total = 1;
    result.names = 1;
    result.hits = {{{0, 1, 2, 55}, "fusion.3", 3, 4}};
    result.density = {0, 1};
    if (query.near || query.near_ps) {
      result.near = engine::SearchNear{.rank = 17, .is_hit = true, .previous = result.hits[0]};
    }
    return result;
  }

  Result<engine::AreaTotals> Totals(const engine::TotalsQuery& query, const CancelToken&) override {
    last_totals = query;
    engine::AreaTotals totals;
    totals.from_ps = query.from_ps.value_or(0);
    totals.to_ps = query.to_ps.value_or(100);
    totals.side = query.side;
    totals.sum = {.count = 3, .total_ps = 60, .self_ps = 50};
    totals.name_count = 2;
    totals.names = {{.name = "fusion.3",
                     .category = analysis::OpCategory::kFusion,
                     .sum = {2, 50, 40},
                     .longest = {0, 1, 2, 55},
                     .longest_ps = 30}};
    totals.other_names = {1, 10, 10};
    totals.categories = {{analysis::OpCategory::kFusion, {3, 60, 50}}};
    totals.line_count = 1;
    totals.lines = {{{0, 1, 2}, "XLA Ops", 3, 50}};
    totals.planes = {{0, 1, "/device:TPU:0", 3, 50}};
    totals.lines_left_out = 4;
    return totals;
  }
  Result<engine::AreaGaps> Gaps(const engine::GapsQuery& query, const CancelToken&) override {
    engine::AreaGaps gaps;
    gaps.plane_name = "/device:TPU:" + std::to_string(query.plane);
    gaps.count = 9;
    gaps.total_ps = 90;
    gaps.gaps = {{.start_ps = 10,
                  .end_ps = 40,
                  .before = std::nullopt,
                  .before_name = "",
                  .after = analysis::EventRef{query.host, query.plane, 2, 7},
                  .after_name = "dot",
                  .meanwhile = {{"next_batch", "python", 25, 1, {0, 3, 1, 4}}}}};
    return gaps;
  }
  Result<engine::AreaFlows> Flows(const engine::FlowsQuery& query, const CancelToken&) override {
    last_flows = query;
    engine::AreaFlows flows;
    flows.total = 2;
    flows.flows = {{{{0, 3, 1, 4}, 2, 5, 6, "Launch"}, {{0, 1, 2, 55}, 0, 9, 30, "fusion.3"}}};
    return flows;
  }

  Result<engine::CounterList> Counters(const CancelToken&) override {
    engine::CounterList list;
    list.counters = {{.id = "0.1.3.0",
                      .name = "used",
                      .group = "memory",
                      .plane = 1,
                      .line = 3,
                      .unit = "bytes",
                      .samples = 2,
                      .end_ps = 9,
                      .min = 1.5,
                      .max = 3},
                     {.id = "0.1.m.0",
                      .kind = timeline::SeriesKind::kMemory,
                      .name = "in use",
                      .plane = 1,
                      .samples = 1}};
    return list;
  }
  Result<engine::CounterCurve> Counter(const engine::CounterQuery& query,
                                       const CancelToken&) override {
    last_counter = query;
    if (query.id != "0.1.3.0") return NotFoundError("COUNTER_UNKNOWN", "No counter.");
    timeline::CounterSeries series;
    series.time_ps = {-5, 1, 2};
    series.value = {7, 1.5, 3};
    return engine::CounterCurve{query.id,
                                timeline::SummarizeSeries(series, query.from_ps.value_or(0),
                                                          query.to_ps.value_or(10), query.buckets)};
  }
  Result<engine::SessionMarks> Marks(const engine::MarksQuery& query, const CancelToken&) override {
    last_marks = query;
    engine::SessionMarks marks;
    marks.steps_source = "Steps";
    marks.steps_line = engine::LineRef{0, 1, 0};
    marks.steps = {.total = 10, .items = {{"1", 0, 5, {0, 1, 0, 0}}}};
    marks.modules = {{.line = {0, 1, 1}, .list = {.total = 1, .items = {{"jit_f(1)", 0, 4, {}}}}}};
    return marks;
  }
  Status CheckExport(const engine::ExportQuery& query) const override {
    for (const engine::LineRef& line : query.lines) {
      if (line.plane != 1) return NotFoundError("LINE_UNKNOWN", "No line.");
    }
    return OkStatus();
  }
  // "piece 0 ", "piece 1 " and so on; without stats it fails behind the first.
  Result<engine::ExportSummary> Export(const engine::ExportQuery& query,
                                       const engine::ExportSink& sink,
                                       const CancelToken& cancel) override {
    engine::ExportSummary done;
    for (uint64_t i = 0; i < export_pieces; ++i) {
      if (cancel.cancelled() || !sink("piece " + std::to_string(i) + " ")) {
        export_stopped = true;
        return CancelledError("CANCELLED", "Nobody takes it.");
      }
      if (!query.stats) return DataLossError("COLUMNS_LOST", "Lost.");
      ++done.events;
    }
    return done;
  }

  std::shared_ptr<tools::ToolInput> Input() override { return input; }
  Result<std::shared_ptr<const tools::ToolResult>> RunTool(const tools::ToolDescriptor& tool,
                                                           const tools::ToolQuestion& question,
                                                           const CancelToken& cancel) override {
    if (tool.scope == tools::HostScope::kOneHost && question.hosts.size() != 1) {
      return InvalidArgumentError("TOOL_NEEDS_ONE_HOST", "One host.");
    }
    Result<tools::ToolResult> made = tool.run(question, *input, cancel);
    if (!made.ok()) return made.status();
    return std::make_shared<const tools::ToolResult>(std::move(*made));
  }

  std::optional<engine::ToolProgress> ProgressOfTool(const std::string& tool_id) const override {
    if (tool_id != "op_profile") return std::nullopt;
    engine::ToolProgress progress;
    progress.stage = engine::ToolProgress::Stage::kHosts;
    progress.hosts_total = 256;
    progress.hosts_done = 3;
    progress.failed = {{"host1", DataLossError("XPLANE_NOT_A_PROFILE", "This is text.")}};
    return progress;
  }

  Result<engine::SubjectEvents> EventsOfSubject(const tools::RowSubject& subject,
                                                const engine::SubjectQuery& query,
                                                const CancelToken&) override {
    engine::SubjectEvents found;
    last_subject = subject;
    if (subject.op_name.empty()) {
      found.reason = "Nothing.";
      return found;
    }
    found.total = 2304;
    found.total_duration_ps = 5;
    found.truncated = true;
    found.events.assign(std::min<size_t>(query.limit, 2),
                        {{0, 1, 2, 55}, subject.op_name, 3, query.longest_first ? 9 : 4});
    return found;
  }

  tools::RowSubject last_subject;
  const std::shared_ptr<FakeInput> input;
  std::atomic<int> tiles{0};
  int64_t last_wait_ms = -1;
  engine::SearchQuery last_query;
  engine::TotalsQuery last_totals;
  engine::FlowsQuery last_flows;
  engine::CounterQuery last_counter;
  engine::MarksQuery last_marks;
  std::atomic<uint64_t> export_pieces{3};
  std::atomic<bool> export_stopped{false};

 private:
  const xplane::SessionEntry entry_;
  const std::string version_ = "9f31c2d0a7e4b65d";
  const std::string long_text_ = std::string(70'000, '\x01');
};

class FakeEngine final : public engine::Engine {
 public:
  explicit FakeEngine(std::vector<std::string> roots) { options_.roots = std::move(roots); }

  // Newest last in the call order, newest first in the list.
  xplane::SessionEntry Add(const std::string& run, const std::string& name,
                           const std::vector<std::string>& hosts,
                           xplane::CompletenessState state = xplane::CompletenessState::kUnread) {
    xplane::SessionEntry entry;
    entry.id = "id" + std::to_string(summaries_.size());
    entry.root = options_.roots.empty() ? "/srv/logs" : options_.roots[0];
    entry.run = run;
    entry.name = name;
    entry.path = entry.root + (run.empty() ? "" : "/" + run) + "/plugins/profile/" + name;
    entry.modified_unix_ns = static_cast<int64_t>(1000 + summaries_.size()) * 1'000'000'000;
    for (const std::string& host : hosts) {
      xplane::SessionFile file;
      file.host = host;
      file.path = entry.path + "/" + host + ".xplane.pb";
      file.size_bytes = 1000;
      entry.size_bytes += file.size_bytes;
      entry.files.push_back(file);
    }
    summaries_.insert(summaries_.begin(), engine::SessionSummary{entry, state, ""});
    return entry;
  }

  std::optional<engine::LoadProgress> Opening(const std::string& id) override { return opening; }
  std::optional<engine::LoadProgress> opening;

  Status Refresh() override {
    if (on_refresh) on_refresh();
    return OkStatus();
  }
  std::vector<engine::SessionSummary> Sessions() override { return summaries_; }
  uint64_t list_version() override { return summaries_.size(); }
  Result<std::shared_ptr<engine::OpenedSession>> Open(const std::string& id) override {
    for (const engine::SessionSummary& summary : summaries_) {
      if (summary.entry.id != id) continue;
      if (summary.entry.files.empty()) {
        return FailedPreconditionError("SESSION_EMPTY", "The session has no profile file.");
      }
      if (summary.state == xplane::CompletenessState::kDamaged) {
        return DataLossError("XPLANE_NOT_A_PROFILE", "This is text.");
      }
      auto& session = opened_[id];
      if (session == nullptr) session = std::make_shared<FakeSession>(summary.entry);
      return std::shared_ptr<engine::OpenedSession>(session);
    }
    return NotFoundError("SESSION_UNKNOWN", "No session has the id \"" + id + "\".");
  }
  Result<std::shared_ptr<engine::OpenedSession>> OpenForTools(const std::string& id) override {
    return Open(id);
  }
  void Adopt(const xplane::SessionEntry& entry) override { adopted.push_back(entry); }
  std::vector<xplane::SessionEntry> adopted;
  Result<xplane::SessionEntry> FindByXprofRun(const std::string& run) override {
    for (const engine::SessionSummary& summary : summaries_) {
      if (summary.entry.xprof_run() == run) return summary.entry;
    }
    return NotFoundError("RUN_UNKNOWN", "No run has this name.");
  }
  const engine::EngineOptions& options() const override { return options_; }
  Stats stats() override {
    return {.opened_sessions = opened_.size(), .resident_bytes = 77, .background = {.running = 3}};
  }

  std::function<void()> on_refresh;
  std::map<std::string, std::shared_ptr<FakeSession>> opened_;

 private:
  engine::EngineOptions options_;
  std::vector<engine::SessionSummary> summaries_;
};

}  // namespace strobe::api
