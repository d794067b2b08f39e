#include "src/analysis/op_line_facts.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "src/analysis/stat_scan.h"

namespace strobe::analysis {
namespace {

enum Wanted : size_t { kOffset, kDuration, kGroup, kFirstOther };

constexpr size_t kEventsPerCheck = 1 << 16;
constexpr std::chrono::milliseconds kCancelCheckInterval{20};

}  // namespace

bool IsOpLine(std::string_view name) {
  return name == "XLA Ops" || name == "Framework Ops" || name == "Sparse Core Ops";
}

Result<std::shared_ptr<const OpLineFacts>> OpLineFacts::Read(const xplane::ProfileFile& file,
                                                             size_t plane, size_t line,
                                                             const CancelToken& cancel) {
  const StatScanner scanner(file, plane,
                            {"device_offset_ps", "device_duration_ps", "group_id",
                             "Time Scale Multiplier", "dma_stall_duration_ps", "min_duration_ps",
                             "vdd_energy_j", "offload_core_id", "tc_offload_start_id"});
  const xplane::LineColumns& columns = file.Line(plane, line);
  auto facts = std::make_shared<OpLineFacts>();
  if (!scanner.AnyMayOccur(columns)) return std::shared_ptr<const OpLineFacts>(std::move(facts));
  const LineBytes bytes(file, plane, line);
  const auto count = static_cast<uint32_t>(columns.event_count());
  uint32_t owners = 0;
  for (uint32_t event = 0; event < count; ++event) {
    if (event % kEventsPerCheck == 0) STROBE_RETURN_IF_ERROR(cancel.Check());
    std::optional<int64_t> offset_ps;
    std::optional<int64_t> duration_ps;
    scanner.Scan(bytes.Record(event), [&](size_t wanted, const xplane::Stat& stat) {
      if (wanted == kOffset) offset_ps = stat.IntOrUint();
      if (wanted == kDuration) duration_ps = stat.IntOrUint();
      facts->any_groups_ |= wanted == kGroup;
      facts->any_others_ |= wanted >= kFirstOther;
    });
    if (!offset_ps || !duration_ps) continue;
    if (owners++ == 0) {
      facts->offset_ps_.resize(count);
      facts->duration_ps_.resize(count);
      facts->has_.resize(count);
    }
    facts->offset_ps_[event] = *offset_ps;
    facts->duration_ps_[event] = std::max<int64_t>(0, *duration_ps);
    facts->has_[event] = true;
  }
  facts->all_ = owners == count;
  if (facts->all_) facts->has_ = {};
  return std::shared_ptr<const OpLineFacts>(std::move(facts));
}

uint64_t OpLineFacts::resident_bytes() const {
  return sizeof(*this) + (offset_ps_.capacity() + duration_ps_.capacity()) * sizeof(int64_t) +
         has_.capacity() / 8;
}

Result<std::shared_ptr<const OpLineFacts>> OpLineCache::Of(size_t plane, size_t line,
                                                           const CancelToken& cancel) {
  const Key key{plane, line};
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    if (reading_.insert(key).second) break;
    read_.wait_for(lock, kCancelCheckInterval);
    STROBE_RETURN_IF_ERROR(cancel.Check());
  }
  lock.unlock();
  auto facts = OpLineFacts::Read(file_, plane, line, cancel);
  lock.lock();
  // Whoever waits reads it himself when this one did not come to the end.
  reading_.erase(key);
  if (facts.ok()) {
    known_.emplace(key, *facts);
    bytes_ += (*facts)->resident_bytes();
  }
  read_.notify_all();
  return facts;
}

Status OpLineCache::ReadAll(const CancelToken& cancel) {
  for (size_t p = 0; p < file_.planes().size(); ++p) {
    const xplane::Plane& plane = file_.planes()[p];
    if (!plane.name.starts_with("/device:TPU:")) continue;
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      if (!IsOpLine(plane.lines[l].name)) continue;
      STROBE_RETURN_IF_ERROR(Of(p, l, cancel).status());
    }
  }
  return OkStatus();
}

uint64_t OpLineCache::resident_bytes() const {
  const std::lock_guard lock(mutex_);
  return sizeof(*this) + bytes_;
}

}  // namespace strobe::analysis
