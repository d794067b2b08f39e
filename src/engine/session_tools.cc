// Tools of an opened session: their input, and each answer computed once and kept.
#include <algorithm>
#include <filesystem>

#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/engine/opened_session.h"
#include "src/engine/parallel.h"
#include "src/engine/sidecar_modules.h"
#include "src/engine/work_limit.h"
#include "src/tools/registry.h"
#include "src/tools/result_codec.h"

namespace strobe::engine {
namespace {

using Answer = Result<std::shared_ptr<const tools::ToolResult>>;

// Hashing stops to look whether anybody still waits after so many bytes: some milliseconds.
constexpr size_t kHashStride = 32 << 20;

// Folders of the session's files, each once, in the order of the hosts.
std::vector<std::string> FoldersOf(const xplane::SessionEntry& entry) {
  std::vector<std::string> folders;
  for (const xplane::SessionFile& file : entry.files) {
    std::string folder = std::filesystem::path(file.path).parent_path().string();
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(std::move(folder));
  }
  return folders;
}

// A profile without planes: what XProf makes of a file of 0 bytes. Its one record, an empty host
// name, says nothing.
std::shared_ptr<xplane::ProfileFile> EmptyProfile() {
  auto opened = xplane::ProfileFile::Open(storage::OwnBytes(std::string("\x22\x00", 2)), {});
  STROBE_CHECK(opened.ok());
  return std::move(opened).value();
}

Status LimitError(WorkLimit::Reached reached, const EngineParts& parts) {
  if (reached == WorkLimit::Reached::kTime) {
    return ResourceExhaustedError(
               "TOOL_LIMIT_TIME",
               "The tool took longer than " + std::to_string(parts.tool_max_seconds) + " s.")
        .Hint(
            "Ask about fewer hosts or a shorter part; strobe serve --tool-timeout raises the "
            "limit.");
  }
  return ResourceExhaustedError(
             "TOOL_LIMIT_MEMORY",
             "The tool needed more than " + std::to_string(parts.tool_max_bytes >> 20) + " MiB.")
      .Hint(
          "Ask about fewer hosts or a shorter part; strobe serve --tool-memory raises the limit.");
}

void AppendPart(std::string_view part, std::string* key) {
  *key += std::to_string(part.size()) + ':' + std::string(part) + ';';
}

}  // namespace

Result<const tools::ToolDescriptor*> LookUpTool(const std::string& id) {
  if (const tools::ToolDescriptor* tool = tools::FindTool(id)) return tool;
  std::string known;
  for (const tools::ToolDescriptor& tool : tools::AllTools()) {
    known += (known.empty() ? "" : ", ") + tool.id;
  }
  return NotFoundError("TOOL_UNKNOWN", "There is no tool of that name.")
      .Where(id.substr(0, 100))
      .Hint(known.empty() ? "There are no tools." : "There are: " + known + ".");
}

Answer OpenedSession::Tool(const std::string& id, const tools::ToolQuestion& question,
                           const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const tools::ToolDescriptor* const tool, LookUpTool(id));
  return RunTool(*tool, question, cancel);
}

std::shared_ptr<tools::SessionInput> SessionState::ToolInputs() {
  std::call_once(inputs_once_, [this] {
    tools::SessionInput::Parts parts;
    parts.name = entry_.xprof_run();
    parts.max_prepared_bytes = parts_->max_prepared_bytes;
    parts.open_apart = [weak = weak_from_this()](size_t host, const CancelToken& cancel)
        -> Result<std::shared_ptr<const xplane::ProfileFile>> {
      const std::shared_ptr<SessionState> session = weak.lock();
      if (session == nullptr) return std::shared_ptr<const xplane::ProfileFile>();
      return session->OpenApart(host, cancel);
    };
    parts.host_done = [weak = weak_from_this()](size_t host) {
      if (const std::shared_ptr<SessionState> session = weak.lock()) session->MarkHostDone(host);
    };
    parts.parallel = [shared = parts_](size_t count, const std::function<void(size_t)>& work) {
      const Executor::Priority priority =
          shared->executor->PriorityHere(Executor::Priority::kInteractive);
      ParallelFor(shared->executor, priority, count, work);
    };
    auto modules = std::make_shared<hlo::ModuleSet>();
    for (const HostState& host : hosts_) {
      std::shared_ptr<xplane::ProfileFile> profile = host.profile;
      std::optional<Status> error = host.error;
      if (error && error->name() == "XPLANE_EMPTY") {
        profile = EmptyProfile();
        error.reset();
      }
      parts.hosts.push_back({.name = host.file.host,
                             .file = profile.get(),
                             .shift_ps = host.shift_ps,
                             .error = std::move(error)});
      parts.owners.push_back(profile);
      parts.op_lines.push_back(host.op_lines);
      if (host.profile != nullptr) modules->AddEmbedded(*host.profile, host.profile);
    }
    std::string mark;
    for (const std::string& folder : FoldersOf(entry_)) {
      mark += AddSidecarModules(folder, modules.get());
    }
    for (const std::string& folder : parts_->xla_dump_directories) {
      mark += AddDumpedModules(folder, modules.get());
    }
    modules->Finish();
    parts.modules = std::move(modules);
    auto made = std::make_shared<tools::SessionInput>(std::move(parts));
    const std::lock_guard lock(inputs_mutex_);
    inputs_ = std::move(made);
    modules_mark_ = std::move(mark);
  });
  return ToolInputsIfMade();
}

std::shared_ptr<tools::SessionInput> SessionState::ToolInputsIfMade() const {
  const std::lock_guard lock(inputs_mutex_);
  return inputs_;
}

uint64_t SessionState::DropToolInputs() {
  const std::shared_ptr<tools::SessionInput> inputs = ToolInputsIfMade();
  if (inputs == nullptr) return 0;
  const uint64_t before = inputs->resident_bytes();
  inputs->DropComputed();
  const uint64_t after = inputs->resident_bytes();
  return before - std::min(before, after);
}

Result<std::string> SessionState::HashOfHost(size_t h, const CancelToken& cancel) {
  HostState& host = hosts_[h];
  {
    const std::lock_guard lock(answers_mutex_);
    if (!host.content_hash.empty()) return host.content_hash;
  }
  std::string hash;
  if (const std::optional<Hash128> known = parts_->columns.KnownHash(host.identity)) {
    hash = known->ToHex();
  } else {
    Hasher hasher;
    const std::string_view bytes = host.profile->source().bytes();
    for (size_t at = 0; at < bytes.size(); at += kHashStride) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      hasher.Add(bytes.substr(at, kHashStride));
    }
    hash = hasher.Digest128().ToHex();
  }
  const std::lock_guard lock(answers_mutex_);
  host.content_hash = hash;
  return hash;
}

// Everything that the answer depends on. Names of hosts and of the run stand in answers too.
Result<std::string> SessionState::ResultKey(const tools::ToolDescriptor& tool,
                                            const tools::ToolQuestion& question,
                                            const CancelToken& cancel) {
  std::string key;
  AppendPart(tool.id, &key);
  AppendPart(std::to_string(tool.version), &key);
  AppendPart(question.as_xprof ? "xprof" : "", &key);
  AppendPart(question.options.CanonicalText(), &key);
  AppendPart(entry_.xprof_run(), &key);
  AppendPart(std::to_string(hosts_.size()), &key);
  for (const size_t h : question.hosts) {
    AppendPart(hosts_[h].file.host, &key);
    AppendPart(std::to_string(hosts_[h].shift_ps), &key);
    if (hosts_[h].profile == nullptr) {
      // Of what cannot be read only the version tells one state from another.
      AppendPart("unreadable " + version_, &key);
      continue;
    }
    STROBE_ASSIGN_OR_RETURN(const std::string hash, HashOfHost(h, cancel));
    AppendPart(hash, &key);
  }
  const std::lock_guard lock(inputs_mutex_);
  AppendPart(modules_mark_, &key);
  return key;
}

bool SessionState::IsTooLarge(const std::vector<size_t>& hosts) const {
  if (hosts.size() < 2) return false;
  {
    const std::lock_guard lock(load_mutex_);
    if (loaded_whole_) return false;
  }
  uint64_t bytes = 0;
  for (const size_t h : hosts) {
    const HostState& host = hosts_[h];
    // Kept columns are mapped: the system can take their pages back.
    if (host.profile != nullptr && !host.from_columns)
      bytes += host.profile->source().bytes().size();
  }
  return bytes > parts_->max_combined_bytes;
}

Result<std::shared_ptr<const xplane::ProfileFile>> SessionState::OpenApart(
    size_t h, const CancelToken& cancel) const {
  std::vector<size_t> all(hosts_.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  const HostState& host = hosts_[h];
  if (host.from_columns || !IsTooLarge(all)) return std::shared_ptr<const xplane::ProfileFile>();
  STROBE_ASSIGN_OR_RETURN(xplane::CachedProfile opened,
                          parts_->columns.OpenHostFile(host.file, scratch_directory_, cancel));
  if (opened.identity == host.identity) {
    return std::shared_ptr<const xplane::ProfileFile>(std::move(opened.profile));
  }
  return UnavailableError("SESSION_FILE_WRITING", "The file is still being written.")
      .Where(host.file.path)
      .Hint("Ask again: the session is opened anew.");
}

Status SessionState::DecodeHosts(const std::vector<size_t>& hosts, const CancelToken& cancel) {
  {
    const std::lock_guard lock(load_mutex_);
    if (loaded_whole_) return cancel.Check();
  }
  std::vector<const LineSlot*> slots;
  for (const LineSlot& slot : load_order_) {
    if (std::ranges::find(hosts, size_t{slot.host}) != hosts.end()) slots.push_back(&slot);
  }
  // Round two waits for the lines that others were at in round one.
  const size_t count = slots.size();
  const auto decode = [&](size_t i) {
    if (cancel.cancelled()) return;
    const LineSlot& slot = *slots[i % count];
    if (i < count && !Claim(hosts_[slot.host], slot.plane, slot.line)) return;
    hosts_[slot.host].profile->Line(slot.plane, slot.line);
  };
  ParallelFor(parts_->executor, Executor::Priority::kInteractive, 2 * count, decode,
              CallerPart::kWaits, cancel);
  STROBE_RETURN_IF_ERROR(cancel.Check());
  parts_->make_room();
  return OkStatus();
}

std::string_view ToolStageName(ToolProgress::Stage stage) {
  switch (stage) {
    case ToolProgress::Stage::kDecoding:
      return "decoding";
    case ToolProgress::Stage::kHosts:
      return "hosts";
    case ToolProgress::Stage::kCombining:
      return "combining";
  }
  return "combining";
}

// Stands in the list of what runs as long as it lives.
class SessionState::RunningMark {
 public:
  RunningMark(SessionState& session, const std::string& tool, const std::vector<size_t>& hosts)
      : session_(session), running_(std::make_shared<RunningTool>()) {
    running_->tool = tool;
    running_->hosts = hosts;
    running_->done = std::make_unique<std::atomic<bool>[]>(hosts.size());
    const std::lock_guard lock(session_.running_mutex_);
    session_.running_.push_back(running_);
  }
  ~RunningMark() {
    const std::lock_guard lock(session_.running_mutex_);
    std::erase(session_.running_, running_);
  }
  RunningMark(const RunningMark&) = delete;
  RunningMark& operator=(const RunningMark&) = delete;
  void Enter(ToolProgress::Stage stage) { running_->stage = stage; }

 private:
  SessionState& session_;
  const std::shared_ptr<RunningTool> running_;
};

void SessionState::MarkHostDone(size_t host) const {
  const std::lock_guard lock(running_mutex_);
  for (const std::shared_ptr<RunningTool>& running : running_) {
    const auto at = std::ranges::find(running->hosts, host);
    if (at == running->hosts.end()) continue;
    running->done[static_cast<size_t>(at - running->hosts.begin())] = true;
  }
}

std::optional<ToolProgress> SessionState::ProgressOfTool(const std::string& tool_id) const {
  const std::lock_guard lock(running_mutex_);
  const auto found = std::ranges::find_if(
      running_, [&](const std::shared_ptr<RunningTool>& one) { return one->tool == tool_id; });
  if (found == running_.end()) return std::nullopt;
  const RunningTool& running = **found;
  ToolProgress progress;
  progress.stage = running.stage;
  progress.hosts_total = running.hosts.size();
  for (size_t i = 0; i < running.hosts.size(); ++i) {
    const HostState& host = hosts_[running.hosts[i]];
    if (host.profile == nullptr) progress.failed.emplace_back(host.file.host, *host.error);
    if (running.done[i] || host.profile == nullptr) ++progress.hosts_done;
  }
  return progress;
}

SingleFlight<tools::ToolResult>::Answer SessionState::ComputeTool(
    const tools::ToolDescriptor& tool, const tools::ToolQuestion& question, const std::string& key,
    const CancelToken& cancel) {
  const std::shared_ptr<tools::SessionInput> inputs = ToolInputs();
  RunningMark mark(*this, tool.id, question.hosts);
  // What a tool that does not apply reads of the events all the same it decodes by itself.
  const bool applies = tool.applies == nullptr || tool.applies(inputs->facts()).applies;
  if (tool.cost == tools::CostClass::kEvents && applies && !IsTooLarge(question.hosts)) {
    STROBE_RETURN_IF_ERROR(DecodeHosts(question.hosts, cancel));
    mark.Enter(ToolProgress::Stage::kHosts);
    // Hosts are independent of each other; what the tool does with them comes after.
    if (question.hosts.size() > 1 && tool.scope != tools::HostScope::kOneHost) {
      ParallelFor(parts_->executor, Executor::Priority::kInteractive, question.hosts.size(),
                  [&](size_t i) {
                    const size_t host = question.hosts[i];
                    if (cancel.cancelled() || hosts_[host].profile == nullptr) return;
                    // Beyond this the tool prepares them one after the other.
                    if (inputs->resident_bytes() > parts_->max_prepared_bytes) return;
                    (void)inputs->Prepared(host, cancel).ok();  // asked again by the tool
                  });
    }
  }
  mark.Enter(ToolProgress::Stage::kCombining);
  Result<tools::ToolResult> made = tool.run(question, *inputs, cancel);
  if (!made.ok()) return made.status();
  STROBE_RETURN_IF_ERROR(CheckColumns());
  ++parts_->tool_results_computed;
  MarkDamage(question.hosts, &*made);
  auto result = std::make_shared<const tools::ToolResult>(std::move(*made));
  const bool is_trace =
      result->shape == tools::ToolResult::Shape::kTrace || result->trace != nullptr;
  if (tool.stored && !is_trace) {
    parts_->results.Insert(key, result,
                           result->partial ? ToolCache::Keep::kInMemory : ToolCache::Keep::kOnDisk);
  }
  parts_->make_room();
  return result;
}

// What was damaged is missing from every tool's answer alike.
void SessionState::MarkDamage(const std::vector<size_t>& hosts, tools::ToolResult* result) const {
  for (const size_t h : hosts) {
    const HostState& host = hosts_[h];
    if (host.profile == nullptr) continue;
    const std::vector<xplane::Damage> damage = host.profile->damage();
    if (damage.empty()) continue;
    result->partial = true;
    const std::string_view said = damage.front().status.message();
    std::string message = "Host " + host.file.host + " is damaged: " + std::string(said);
    if (damage.size() > 1) message += " (" + std::to_string(damage.size()) + " places in all)";
    result->notices.push_back({tools::Notice::Severity::kWarning, "HOST_DAMAGED",
                               std::move(message) + " The answer is of what could be read.",
                               "strobe inspect says where; capture again, or choose other hosts."});
  }
}

Answer SessionState::RunTool(const tools::ToolDescriptor& tool, const tools::ToolQuestion& question,
                             const CancelToken& cancel) {
  STROBE_CHECK(!question.hosts.empty());
  for (const size_t host : question.hosts) STROBE_CHECK(host < hosts_.size());
  if (tool.scope == tools::HostScope::kOneHost && question.hosts.size() != 1) {
    return InvalidArgumentError("TOOL_NEEDS_ONE_HOST",
                                "This tool looks at one host, and more were chosen.")
        .Where(tool.id)
        .Hint("Choose one of the session's hosts.");
  }
  ToolInputs();  // before the key: it is made of the modules' files too
  STROBE_ASSIGN_OR_RETURN(const std::string key, ResultKey(tool, question, cancel));
  if (tool.stored) {
    if (auto known = parts_->results.Find(key)) return known;
  }
  return parts_->tool_flight.Do(key, cancel, [&]() -> Answer {
    if (tool.stored) {
      // Another asker may have finished between the look above and here.
      if (auto known = parts_->results.Find(key)) return known;
    }
    if (parts_->tool_max_seconds <= 0 && parts_->tool_max_bytes <= 0) {
      return ComputeTool(tool, question, key, cancel);
    }
    WorkLimit limit(cancel, parts_->clock,
                    {.seconds = parts_->tool_max_seconds, .bytes = parts_->tool_max_bytes});
    Answer answer = [&] {
      const MemoryMeter::Scope scope(limit.meter());
      return ComputeTool(tool, question, key, limit.token());
    }();
    if (answer.ok() || answer.status().code() != StatusCode::kCancelled) return answer;
    if (limit.reached() == WorkLimit::Reached::kNone) return answer;
    return LimitError(limit.reached(), *parts_).Where(tool.id);
  });
}

}  // namespace strobe::engine
