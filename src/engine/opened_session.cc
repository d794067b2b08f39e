#include "src/engine/opened_session.h"

#include <algorithm>

#include "src/base/log.h"
#include "src/engine/host_clock.h"
#include "src/engine/parallel.h"

namespace strobe::engine {
namespace {

// What the reader says of a file of 0 bytes.
constexpr std::string_view kEmptyFile = "XPLANE_EMPTY";

using xplane::CompletenessState;

Status WritingError(const xplane::SessionFile& file) {
  return UnavailableError("SESSION_FILE_WRITING", "The file is still being written.")
      .Where(file.path)
      .Hint("It is read as soon as it stops changing.");
}

// The reader speaks of its argument, the file; whoever asks for a session gave none. What a file
// holds is never a fault of the request (400) nor a reason to try again later (429).
Status OfStoredFile(const Status& error) {
  const bool content = error.code() == StatusCode::kInvalidArgument ||
                       error.name() == "COMPRESS_TOO_LARGE" || error.name() == "XSPACE_TOO_LARGE";
  if (!content) return error;
  return DataLossError(error.name(), std::string(error.message()))
      .Where(std::string(error.where()))
      .Hint(std::string(error.hint()));
}

}  // namespace

SessionState::SessionState(const IndexedSession& session, std::shared_ptr<EngineParts> parts)
    : parts_(std::move(parts)),
      entry_(session.entry),
      version_(session.version),
      hosts_(session.files.size()) {}

std::shared_ptr<SessionState> SessionState::Open(const IndexedSession& session,
                                                 const std::string& scratch_directory,
                                                 std::shared_ptr<EngineParts> parts,
                                                 xplane::UnpackProgress* progress) {
  auto state = std::make_shared<SessionState>(session, parts);
  state->scratch_directory_ = scratch_directory;
  ParallelFor(
      parts->executor, Executor::Priority::kInteractive, session.files.size(),
      [&](size_t h) {
        state->OpenHost(&state->hosts_[h], session.files[h], scratch_directory, progress);
      },
      CallerPart::kWaits);
  state->Arrange();
  return state;
}

void SessionState::OpenHost(HostState* host, const IndexedFile& file,
                            const std::string& scratch_directory,
                            xplane::UnpackProgress* progress) {
  host->file = file.file;
  if (file.error) {
    host->error = *file.error;
    return;
  }
  if (!file.settled) {
    host->writing = true;
    host->error = WritingError(file.file);
    return;
  }
  Result<xplane::CachedProfile> opened =
      parts_->columns.OpenHostFile(file.file, scratch_directory, stop_loading_.token(), progress);
  if (!opened.ok()) {
    host->error = OfStoredFile(opened.status());
    LogWarning("engine.host_failed",
               {{"file", file.file.path}, {"error", opened.status().ToString()}});
    return;
  }
  if (opened->identity != file.identity) {  // replaced since the session's version was taken
    host->writing = true;
    host->error = WritingError(file.file);
    return;
  }
  host->profile = std::move(opened->profile);
  host->op_lines = std::make_shared<analysis::OpLineCache>(*host->profile);
  host->identity = std::move(opened->identity);
  host->from_columns = opened->from_cache;
  host->columns = std::move(opened->columns);
}

Status SessionState::CheckColumns() const {
  for (const HostState& host : hosts_) {
    if (host.columns == nullptr || host.columns->whole()) continue;
    return UnavailableError("COLUMNS_LOST",
                            "The cached columns of the profile were cut short while in use.")
        .Where(host.file.path)
        .Hint(
            "Ask again: the profile itself is read anew. Nothing but Strobe should write to its "
            "cache directory.");
  }
  for (const HostState& host : hosts_) {
    if (host.file.remote == nullptr || host.profile == nullptr) continue;
    STROBE_RETURN_IF_ERROR(host.profile->source().CheckUnchanged());
  }
  return OkStatus();
}

// After all hosts are open: clocks, display order, and what to load in which order.
void SessionState::Arrange() {
  std::vector<std::optional<int64_t>> origins;
  for (const HostState& host : hosts_) {
    origins.push_back(host.profile ? host.profile->origin_unix_ns() : std::nullopt);
  }
  const ClockAlignment clock = AlignClocks(origins);
  origin_unix_ns_ = clock.origin_unix_ns;
  for (uint32_t h = 0; h < hosts_.size(); ++h) {
    HostState& host = hosts_[h];
    if (host.profile == nullptr) continue;
    host.shift_ps = clock.shift_ps[h];
    FindKept(&host);
    total_bytes_ += host.profile->source().bytes().size();
    const std::vector<xplane::Plane>& planes = host.profile->planes();
    host.views.resize(planes.size());
    for (const size_t p : analysis::DisplayPlanes(planes)) {
      host.planes.push_back(static_cast<uint32_t>(p));
      auto view = std::make_unique<PlaneView>();
      for (const size_t l : analysis::DisplayLines(planes[p])) {
        view->order.push_back(static_cast<uint32_t>(l));
        load_order_.push_back({h, static_cast<uint32_t>(p), static_cast<uint32_t>(l)});
      }
      view->pyramids = std::make_unique<LinePyramids[]>(planes[p].lines.size());
      host.views[p] = std::move(view);
    }
  }
  for (const HostState& host : hosts_) {
    known_windows_.push_back(host.first_look != nullptr ? host.first_look->window()
                                                        : std::optional<analysis::TimeWindow>());
  }
  all_known_ = EveryLineIsKnown();
}

bool SessionState::EveryLineIsKnown() const {
  return std::ranges::all_of(load_order_, [this](const LineSlot& slot) {
    const std::shared_ptr<const FirstLook>& look = hosts_[slot.host].first_look;
    return look != nullptr && look->Line(slot.plane, slot.line) != nullptr;
  });
}

bool SessionState::only_empty_files() const {
  return std::ranges::all_of(hosts_, [](const HostState& host) {
    return host.profile == nullptr && host.error && host.error->name() == kEmptyFile;
  });
}

std::optional<Status> SessionState::failure() const {
  std::optional<Status> first;
  for (const HostState& host : hosts_) {
    if (host.profile != nullptr) return std::nullopt;
    if (!first) first = host.error;
  }
  return first;
}

uint64_t SessionState::resident_bytes() const {
  uint64_t bytes = pyramid_bytes_.load();
  for (const HostState& host : hosts_) {
    if (host.profile == nullptr) continue;
    bytes += host.profile->resident_bytes() + host.profile->source().owned_bytes() +
             host.op_lines->resident_bytes();
  }
  if (const auto inputs = ToolInputsIfMade()) bytes += inputs->resident_bytes();
  return bytes;
}

void SessionState::StartLoading() {
  loaders_left_ = parts_->loaders;
  for (int i = 0; i < parts_->loaders; ++i) QueueLoader();
}

void SessionState::QueueLoader() {
  const std::weak_ptr<SessionState> weak = weak_from_this();
  const Status queued = parts_->executor->Submit(Executor::Priority::kBackground, [weak] {
    if (const std::shared_ptr<SessionState> state = weak.lock()) state->LoadSome();
  });
  // Lines are decoded when asked for all the same.
  if (!queued.ok()) LeaveLoading(/*whole=*/false);
}

// The last loader to leave finishes.
void SessionState::LeaveLoading(bool whole) {
  if (!whole) load_broken_off_ = true;
  if (loaders_left_.fetch_sub(1) == 1) FinishLoading(!load_broken_off_);
}

bool SessionState::Claim(const HostState& host, uint32_t plane, uint32_t line) const {
  return !host.views[plane]->pyramids[line].claimed.exchange(true);
}

// One turn of the background work; the next one queues behind what others want. Two rounds: lines
// that nobody works at, then all, which waits for those that were left out.
void SessionState::LoadSome() {
  uint64_t turn_bytes = 0;
  while (turn_bytes < kBytesPerTurn) {
    if (stop_loading_.cancelled()) return LeaveLoading(/*whole=*/false);
    const size_t next = next_to_load_.fetch_add(1);
    const bool first_round = next < load_order_.size();
    if (next >= 2 * load_order_.size()) return LeaveLoading(/*whole=*/true);
    const LineSlot& slot = load_order_[next % load_order_.size()];
    const HostState& host = hosts_[slot.host];
    if (first_round && !Claim(host, slot.plane, slot.line)) continue;
    Pyramids(host, slot.plane, slot.line);
    if (!first_round) continue;
    turn_bytes += BytesOf(slot);
    loaded_bytes_ += BytesOf(slot);
  }
  if (!parts_->make_room()) {
    LogWarning("engine.over_budget",
               {{"session", entry_.id}, {"resident_bytes", resident_bytes()}});
    return LeaveLoading(/*whole=*/false);
  }
  QueueLoader();
}

uint64_t SessionState::BytesOf(const LineSlot& slot) const {
  const xplane::Plane& plane = hosts_[slot.host].profile->planes()[slot.plane];
  return plane.lines[slot.line].bytes.size_bytes;
}

void SessionState::FinishLoading(bool whole) {
  const bool fits = parts_->make_room();
  {
    std::lock_guard lock(load_mutex_);
    loading_done_ = true;
    loaded_whole_ = whole;
  }
  loaded_.notify_all();
  if (!whole || !fits) return;
  const std::weak_ptr<SessionState> weak = weak_from_this();
  const Status queued = parts_->executor->Submit(Executor::Priority::kBackground, [weak] {
    if (const std::shared_ptr<SessionState> state = weak.lock()) state->KeepAndJudge();
  });
  if (!queued.ok()) LogDebug("engine.not_kept", {{"session", entry_.id}});
}

std::pair<CompletenessState, std::string> SessionState::Judge() const {
  {
    std::lock_guard lock(answers_mutex_);
    if (completeness_ != nullptr) {
      return {completeness_->state,
              completeness_->reasons.empty() ? "" : completeness_->reasons[0]};
    }
  }
  bool partial = false;
  std::string reason;
  for (const FileState& file : files()) {
    if (file.state == CompletenessState::kWriting) return {file.state, file.state_reason};
    if (file.state == CompletenessState::kUnread || partial) continue;
    partial = file.state != CompletenessState::kComplete;
    reason = file.state_reason;
  }
  if (failure()) return {CompletenessState::kDamaged, reason};
  return {partial ? CompletenessState::kPartial : CompletenessState::kUnread, reason};
}

LoadProgress SessionState::progress() const {
  LoadProgress progress;
  progress.total_bytes = total_bytes_;
  std::lock_guard lock(load_mutex_);
  if (failure()) {
    progress.stage = LoadStage::kFailed;
  } else if (loading_done_) {
    progress.stage = LoadStage::kReady;
  } else {
    progress.stage = LoadStage::kDecoding;
  }
  // Tables and skeletons are read when the session opens; they count with the last line.
  progress.done_bytes = loaded_whole_ ? total_bytes_ : std::min(loaded_bytes_.load(), total_bytes_);
  return progress;
}

std::vector<FileState> SessionState::files() const {
  std::vector<FileState> files;
  std::shared_ptr<const xplane::Completeness> record;
  {
    std::lock_guard lock(answers_mutex_);
    record = completeness_;
  }
  for (size_t h = 0; h < hosts_.size(); ++h) {
    FileState state;
    state.file = hosts_[h].file;
    if (hosts_[h].writing) {
      state.state = CompletenessState::kWriting;
      state.state_reason = hosts_[h].error->message();
    } else if (hosts_[h].error) {
      state.state = CompletenessState::kDamaged;
      state.state_reason = hosts_[h].error->ToString();
    } else if (record != nullptr && h < record->hosts.size()) {
      state.state = record->hosts[h].state;
      if (!record->hosts[h].damage.empty()) {
        state.state_reason = record->hosts[h].damage[0].status.ToString();
      }
    } else if (const std::vector<xplane::Damage> damage = hosts_[h].profile->damage();
               !damage.empty()) {
      state.state = CompletenessState::kPartial;
      state.state_reason = damage[0].status.ToString();
    }
    files.push_back(std::move(state));
  }
  return files;
}

std::vector<analysis::HostInput> SessionState::hosts() const {
  std::vector<analysis::HostInput> inputs;
  for (const HostState& host : hosts_) {
    inputs.push_back(
        {.host = host.file.host, .file = host.profile.get(), .shift_ps = host.shift_ps});
  }
  return inputs;
}

analysis::TimeWindow SessionState::Window() const {
  return analysis::SessionWindow(hosts(), /*decode=*/false, known_windows_);
}

LineTree SessionState::Lines(int64_t wait_ms) {
  LineTree tree;
  {
    std::unique_lock lock(load_mutex_);
    const auto known = [this] { return loading_done_ || all_known_; };
    loaded_.wait_for(lock, std::chrono::milliseconds(wait_ms), known);
    tree.complete = known();
  }
  for (uint32_t h = 0; h < hosts_.size(); ++h) tree.hosts.push_back(DescribeHost(h));
  const analysis::TimeWindow window = Window();
  tree.window_start_ps = window.start_ps;
  tree.window_end_ps = window.end_ps;
  return tree;
}

HostInfo SessionState::DescribeHost(uint32_t h) const {
  const HostState& host = hosts_[h];
  HostInfo info = {.host = h, .name = host.file.host, .error = host.error, .planes = {}};
  if (host.profile == nullptr) return info;
  for (const uint32_t p : host.planes) {
    const xplane::Plane& plane = host.profile->planes()[p];
    PlaneInfo described;
    described.plane = p;
    described.name = plane.name;
    described.kind = analysis::ClassifyPlane(plane.name);
    const std::vector<uint32_t>& order = host.views[p]->order;
    described.chunk_count = static_cast<uint32_t>((order.size() + timeline::kLinesPerChunk - 1) /
                                                  timeline::kLinesPerChunk);
    uint64_t events = 0;
    bool all_known = true;
    for (size_t position = 0; position < order.size(); ++position) {
      LineInfo line = DescribeLine(host, p, order[position]);
      line.chunk = static_cast<uint32_t>(position / timeline::kLinesPerChunk);
      all_known = all_known && line.event_count.has_value();
      events += line.event_count.value_or(0);
      described.lines.push_back(std::move(line));
    }
    if (all_known) described.event_count = events;
    info.planes.push_back(std::move(described));
  }
  return info;
}

Status SessionState::CheckHost(uint32_t host) const {
  if (host >= hosts_.size()) {
    return NotFoundError("HOST_UNKNOWN", "The session has no host " + std::to_string(host) + ".")
        .Where(entry_.path)
        .Hint("It has " + std::to_string(hosts_.size()) + "; hosts are counted from 0.");
  }
  return hosts_[host].profile == nullptr ? *hosts_[host].error : OkStatus();
}

Status SessionState::CheckLine(uint32_t host, uint32_t plane, uint32_t line) const {
  STROBE_RETURN_IF_ERROR(CheckHost(host));
  const std::vector<xplane::Plane>& planes = hosts_[host].profile->planes();
  if (plane < planes.size() && line < planes[plane].lines.size()) return OkStatus();
  return NotFoundError("LINE_UNKNOWN", "The session has no line " + std::to_string(host) + "." +
                                           std::to_string(plane) + "." + std::to_string(line) + ".")
      .Where(entry_.path)
      .Hint("Ask for the session's lines; ids change when a file changes.");
}

Status SessionState::CheckEvent(const analysis::EventRef& ref) const {
  STROBE_RETURN_IF_ERROR(CheckLine(ref.host, ref.plane, ref.line));
  const size_t count = hosts_[ref.host].profile->Line(ref.plane, ref.line).event_count();
  if (ref.event < count) return OkStatus();
  return NotFoundError("EVENT_UNKNOWN", "The line has no event " + std::to_string(ref.event) + ".")
      .Where(hosts_[ref.host].file.path)
      .Hint("It has " + std::to_string(count) + " events; ids change when a file changes.");
}

}  // namespace strobe::engine
