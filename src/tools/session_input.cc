#include "src/tools/session_input.h"

#include <algorithm>
#include <chrono>

#include "src/analysis/combine_op_stats.h"
#include "src/xplane/stat_names.h"

namespace strobe::tools {
namespace {

constexpr auto kCancelPoll = std::chrono::milliseconds(20);

bool KnowsEvent(const xplane::Plane& plane, std::string_view prefix) {
  return std::ranges::any_of(plane.event_metadata, [&](const xplane::EventMetadata& event) {
    return event.name.starts_with(prefix);
  });
}

uint64_t BytesOf(const analysis::PreparedHost& host) { return host.resident_bytes(); }

uint64_t BytesOf(const analysis::OpMetricsDb& db) {
  uint64_t bytes = sizeof(db);
  for (const analysis::OpMetrics& op : db.ops) {
    bytes += sizeof(op) + op.name.size() + op.long_name.size() + op.category.size() +
             op.provenance.size() + op.deduplicated_name.size() + op.source_file.size() +
             op.source_stack.size() + op.memory_accessed.size() * sizeof(analysis::MemoryAccessed);
    if (op.children != nullptr) bytes += BytesOf(*op.children);
  }
  return bytes;
}

uint64_t BytesOf(const analysis::OpStats& stats) {
  // What a map's node takes beside its value.
  constexpr uint64_t kNodeBytes = 64;
  uint64_t bytes = sizeof(stats) + BytesOf(stats.device_ops) + BytesOf(stats.host_ops) +
                   BytesOf(stats.complete_steps_ops);
  for (const analysis::Step& step : stats.steps.steps) {
    bytes += sizeof(step);
    for (const auto& [core, part] : step.cores) {
      bytes += sizeof(part) + kNodeBytes * (1 + part.category_ps.size());
    }
    for (const auto& [core, reduces] : step.all_reduces) {
      bytes += kNodeBytes + reduces.size() * sizeof(analysis::AllReduceTime);
    }
    if (step.ops != nullptr) bytes += BytesOf(*step.ops);
  }
  for (const analysis::KernelReport& kernel : stats.kernels) {
    bytes += sizeof(kernel) + kernel.name.size() + kernel.op_name.size();
  }
  return bytes;
}

}  // namespace

SessionFacts FactsOf(const std::vector<ToolHost>& hosts, const hlo::ModuleSet& modules) {
  SessionFacts facts;
  facts.host_count = hosts.size();
  facts.has_sidecar_modules =
      std::ranges::any_of(modules.entries(), &hlo::ModuleSet::Entry::from_file);
  for (const ToolHost& host : hosts) {
    if (host.file == nullptr) continue;
    for (const xplane::Plane& plane : host.file->planes()) {
      if (plane.name.starts_with("/host:CPU")) {
        facts.has_host_plane = true;
        facts.has_dcn_events |= KnowsEvent(plane, "MegaScale:");
        facts.has_allocations |= KnowsEvent(plane, "MemoryAllocation");
        facts.has_serving_requests |=
            KnowsEvent(plane, "BatchingSessionRun") || KnowsEvent(plane, "TfrtModelRun") ||
            KnowsEvent(plane, "ServingModelRun") || KnowsEvent(plane, "SessionRun");
      }
      facts.has_gpu_plane |= plane.name.starts_with("/device:GPU:");
      if (plane.name.starts_with("/device:TPU:")) {
        facts.has_tpu_plane = true;
        facts.has_counters |= xplane::KnowsStat(plane, "counter_value");
      }
      if (plane.name == hlo::kMetadataPlane) {
        facts.has_hlo_modules |=
            xplane::KnowsStat(plane, "Hlo Proto") || xplane::KnowsStat(plane, "HLO Proto");
      }
    }
  }
  return facts;
}

SessionInput::SessionInput(Parts parts)
    : parts_(std::move(parts)),
      facts_(FactsOf(parts_.hosts, *parts_.modules)),
      prepared_(parts_.hosts.size()),
      for_trace_(parts_.hosts.size()),
      stats_(parts_.hosts.size()) {}

Status SessionInput::CheckHost(size_t host) const {
  STROBE_CHECK(host < parts_.hosts.size());
  const ToolHost& known = parts_.hosts[host];
  if (known.file != nullptr) return OkStatus();
  if (known.error) return *known.error;
  return FailedPreconditionError("HOST_UNREADABLE", "The host's profile could not be opened.")
      .Where(known.name);
}

template <typename T>
Result<std::shared_ptr<const T>> SessionInput::Once(
    Slot<T>* slot, const CancelToken& cancel,
    const std::function<Result<std::shared_ptr<const T>>()>& compute) {
  std::unique_lock lock(mutex_);
  while (slot->running) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    changed_.wait_for(lock, kCancelPoll);
  }
  if (slot->value != nullptr) return slot->value;
  if (slot->error) return *slot->error;
  slot->running = true;
  lock.unlock();
  Result<std::shared_ptr<const T>> made = compute();
  const uint64_t bytes = made.ok() ? BytesOf(**made) : 0;
  lock.lock();
  slot->running = false;
  if (made.ok()) {
    slot->value = *made;
    slot->bytes = bytes;
  } else if (made.status().code() != StatusCode::kCancelled) {
    slot->error = made.status();
  }
  changed_.notify_all();
  return made;
}

analysis::PrepareOptions SessionInput::OptionsOf(size_t host, bool op_lines) const {
  analysis::PrepareOptions options;
  options.op_lines = op_lines;
  options.parallel = parts_.parallel;
  if (host < parts_.op_lines.size()) options.op_lines_read = parts_.op_lines[host];
  return options;
}

Result<std::shared_ptr<const analysis::PreparedHost>> SessionInput::Prepared(
    size_t host, const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(CheckHost(host));
  {
    const std::lock_guard lock(mutex_);
    if (for_trace_[host].value != nullptr) return for_trace_[host].value;
  }
  using Answer = Result<std::shared_ptr<const analysis::PreparedHost>>;
  return Once<analysis::PreparedHost>(&prepared_[host], cancel, [&]() -> Answer {
    Answer prepared = analysis::PreparedHost::Prepare(parts_.owners[host], *parts_.hosts[host].file,
                                                      OptionsOf(host, /*op_lines=*/false), cancel);
    if (parts_.host_done) parts_.host_done(host);
    return prepared;
  });
}

Result<std::shared_ptr<const analysis::PreparedHost>> SessionInput::PreparedForTrace(
    size_t host, const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(CheckHost(host));
  return Once<analysis::PreparedHost>(&for_trace_[host], cancel, [&] {
    return analysis::PreparedHost::Prepare(parts_.owners[host], *parts_.hosts[host].file,
                                           OptionsOf(host, /*op_lines=*/true), cancel);
  });
}

Result<std::shared_ptr<const analysis::OpStats>> SessionInput::HostOpStats(
    size_t host, const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(CheckHost(host));
  using Answer = Result<std::shared_ptr<const analysis::OpStats>>;
  return Once<analysis::OpStats>(&stats_[host], cancel, [&]() -> Answer {
    STROBE_ASSIGN_OR_RETURN(auto apart, OpStatsApart(host, cancel));
    if (apart != nullptr) return apart;
    STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const analysis::PreparedHost> prepared,
                            Prepared(host, cancel));
    STROBE_ASSIGN_OR_RETURN(analysis::OpStats stats,
                            analysis::MakeOpStats(*prepared, *parts_.modules, cancel));
    BoundPrepared(host);
    return std::make_shared<const analysis::OpStats>(std::move(stats));
  });
}

Result<std::shared_ptr<const analysis::OpStats>> SessionInput::OpStatsApart(
    size_t host, const CancelToken& cancel) const {
  if (!parts_.open_apart) return std::shared_ptr<const analysis::OpStats>();
  STROBE_ASSIGN_OR_RETURN(const auto file, parts_.open_apart(host, cancel));
  if (file == nullptr) return std::shared_ptr<const analysis::OpStats>();
  analysis::PrepareOptions options;
  options.parallel = parts_.parallel;
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const analysis::PreparedHost> prepared,
                          analysis::PreparedHost::Prepare(file, *file, options, cancel));
  STROBE_ASSIGN_OR_RETURN(analysis::OpStats stats,
                          analysis::MakeOpStats(*prepared, *parts_.modules, cancel));
  if (parts_.host_done) parts_.host_done(host);
  return std::make_shared<const analysis::OpStats>(std::move(stats));
}

Result<std::shared_ptr<const analysis::OpStats>> SessionInput::CombinedOpStats(
    std::span<const size_t> hosts, const CancelToken& cancel) {
  if (hosts.size() == 1) return HostOpStats(hosts[0], cancel);
  const std::vector<size_t> chosen(hosts.begin(), hosts.end());
  std::shared_ptr<Slot<analysis::OpStats>> slot;
  {
    const std::lock_guard lock(mutex_);
    for (const Combination& known : combined_) {
      if (known.hosts == chosen) slot = known.slot;
    }
    if (slot == nullptr) {
      slot = std::make_shared<Slot<analysis::OpStats>>();
      combined_.push_back({chosen, slot});
      if (combined_.size() > kMaxCombinations) combined_.pop_front();
    }
  }
  using Answer = Result<std::shared_ptr<const analysis::OpStats>>;
  return Once<analysis::OpStats>(slot.get(), cancel, [&]() -> Answer {
    std::vector<std::shared_ptr<const analysis::OpStats>> held;
    std::vector<const analysis::OpStats*> parts;
    std::vector<std::string> failures;
    Status first_error;
    for (const size_t host : chosen) {
      Answer part = HostOpStats(host, cancel);
      if (part.ok()) {
        held.push_back(*part);
        parts.push_back(held.back().get());
        continue;
      }
      if (part.status().code() == StatusCode::kCancelled) return part.status();
      if (first_error.ok()) first_error = part.status();
      failures.push_back(parts_.hosts[host].name + ": " + std::string(part.status().message()));
    }
    if (parts.empty()) return first_error;
    analysis::OpStats all = analysis::CombineOpStats(parts);
    for (std::string& failure : failures) all.diagnostics.errors.push_back(std::move(failure));
    return std::make_shared<const analysis::OpStats>(std::move(all));
  });
}

uint64_t SessionInput::PreparedBytesLocked() const {
  uint64_t bytes = 0;
  for (const auto* slots : {&prepared_, &for_trace_}) {
    for (const auto& slot : *slots) bytes += slot.value ? slot.bytes : 0;
  }
  return bytes;
}

uint64_t SessionInput::resident_bytes() const {
  const uint64_t module_bytes = parts_.modules->resident_bytes();
  const std::lock_guard lock(mutex_);
  uint64_t bytes = module_bytes + PreparedBytesLocked();
  for (const auto& slot : stats_) bytes += slot.value ? slot.bytes : 0;
  for (const Combination& known : combined_) bytes += known.slot->value ? known.slot->bytes : 0;
  return bytes;
}

// With several hosts, one that is summed up is no longer needed by the tools of op stats.
void SessionInput::BoundPrepared(size_t host) {
  std::vector<std::shared_ptr<const analysis::PreparedHost>> dropped;  // freed after the lock
  const std::lock_guard lock(mutex_);
  if (PreparedBytesLocked() <= parts_.max_prepared_bytes) return;
  for (auto* slots : {&prepared_, &for_trace_}) {
    if ((*slots)[host].running) continue;
    dropped.push_back(std::move((*slots)[host].value));
    (*slots)[host].value = nullptr;
  }
}

void SessionInput::DropComputed() {
  parts_.modules->DropDecoded();
  std::vector<std::shared_ptr<const void>> dropped;  // freed after the lock
  const std::lock_guard lock(mutex_);
  const auto drop = [&dropped](auto& slot) {
    if (slot.running || slot.value == nullptr) return;
    dropped.push_back(std::move(slot.value));
    slot.value = nullptr;
  };
  for (auto& slot : prepared_) drop(slot);
  for (auto& slot : for_trace_) drop(slot);
  for (auto& slot : stats_) drop(slot);
  for (Combination& known : combined_) drop(*known.slot);
}

}  // namespace strobe::tools
