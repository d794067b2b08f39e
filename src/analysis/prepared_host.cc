#include "src/analysis/prepared_host.h"

#include <algorithm>

#include "src/analysis/event_links.h"
#include "src/analysis/gpu_lines.h"
#include "src/analysis/group_events.h"
#include "src/analysis/op_line_facts.h"
#include "src/analysis/tpu_grouping.h"
#include "src/analysis/tpu_lines.h"
#include "src/base/hash.h"
#include "src/hlo/module_set.h"

namespace strobe::analysis {
namespace {

constexpr std::string_view kTpuPrefix = "/device:TPU:";
constexpr std::string_view kRegionName = "ThreadpoolListener::Region";

bool KnowsGroups(const xplane::Plane& plane) {
  return std::ranges::any_of(plane.stat_metadata, [](const xplane::StatMetadata& stat) {
    return stat.name == "group_id";
  });
}

}  // namespace

// Builds a PreparedHost.
class HostPreparer {
 public:
  HostPreparer(std::shared_ptr<const void> owner, const xplane::ProfileFile& file,
               const PrepareOptions& options, const CancelToken& cancel)
      : file_(file), options_(options), cancel_(cancel), host_(new PreparedHost()) {
    host_->owner_ = std::move(owner);
    host_->file_ = &file;
    host_->parallel_ = options.parallel;
    host_->op_lines_ = options.op_lines_read != nullptr ? options.op_lines_read
                                                        : std::make_shared<OpLineCache>(file);
  }

  Result<std::shared_ptr<const PreparedHost>> Run() {
    CopyLines();
    STROBE_RETURN_IF_ERROR(ReadLinks());
    host_->grouped_before_ = GroupedBefore();
    if (!host_->grouped_before_) {
      STROBE_RETURN_IF_ERROR(MakeGroups());
      STROBE_RETURN_IF_ERROR(DeriveLines());
    }
    for (PreparedPlane& plane : host_->planes_) {
      for (PreparedLine& line : plane.lines) {
        std::ranges::stable_sort(line.additions, {}, &EventAddition::event);
        line.additions.shrink_to_fit();
        line.flows.shrink_to_fit();
      }
    }
    return std::shared_ptr<const PreparedHost>(std::move(host_));
  }

 private:
  void CopyLines() {
    for (size_t p = 0; p < file_.planes().size(); ++p) {
      PreparedPlane& plane = host_->planes_.emplace_back();
      for (size_t l = 0; l < file_.planes()[p].lines.size(); ++l) {
        const xplane::LineColumns& columns = file_.Line(p, l);
        const xplane::Line& line = file_.planes()[p].lines[l];
        PreparedLine& prepared = plane.lines.emplace_back();
        prepared.id = line.id;
        prepared.display_id = columns.display_id != 0 ? columns.display_id : line.display_id;
        prepared.name = line.name;
        prepared.display_name =
            !columns.display_name.empty() ? columns.display_name : line.display_name;
        prepared.timestamp_ns = line.timestamp_ns;
        prepared.file_event_count = static_cast<uint32_t>(columns.event_count());
      }
    }
  }

  // A profile that was grouped when it was written says so by the stat in every plane.
  bool GroupedBefore() const {
    return std::ranges::all_of(file_.planes(), [](const xplane::Plane& plane) {
      return (!IsXprofDevicePlane(plane.name) && !IsXprofHostPlane(plane.name)) ||
             KnowsGroups(plane);
    });
  }

  Status ReadLinks() {
    const uint64_t host_hash = file_.hostnames().empty() ? 0 : Hash64(file_.hostnames().front());
    links_.resize(file_.planes().size());
    std::vector<std::unique_ptr<const LinkReader>> readers(links_.size());
    std::vector<std::pair<size_t, size_t>> lines;
    for (size_t p = 0; p < file_.planes().size(); ++p) {
      links_[p].resize(file_.planes()[p].lines.size());
      readers[p] = std::make_unique<LinkReader>(file_, p, host_hash);
      for (size_t l = 0; readers[p]->knows_any() && l < links_[p].size(); ++l) {
        lines.emplace_back(p, l);
      }
    }
    STROBE_RETURN_IF_ERROR(ForEachPiece(options_.parallel, lines.size(), [&](size_t i) {
      const auto [p, l] = lines[i];
      STROBE_RETURN_IF_ERROR(cancel_.Check());
      links_[p][l] = readers[p]->Read(l);
      host_->planes_[p].lines[l].groups = std::move(links_[p][l].file_groups);
      return OkStatus();
    }));
    if (GroupedBefore()) KeepFileFlows();
    return OkStatus();
  }

  // Of a profile that is grouped already nothing is added: neither flows nor regions.
  void KeepFileFlows() {
    for (size_t p = 0; p < links_.size(); ++p) {
      const StatSlots slots(file_.planes()[p], {"flow"});
      for (size_t l = 0; slots.knows_any() && l < links_[p].size(); ++l) {
        const LineBytes bytes(file_, p, l);
        StatValues values;
        for (uint32_t e = 0; e < host_->planes_[p].lines[l].file_event_count; ++e) {
          slots.Read(bytes.Record(e), &values);
          if (values.has(0)) {
            host_->planes_[p].lines[l].flows.push_back({e, values[0].IntOrUint()});
          }
        }
      }
    }
  }

  void AddRegions(const LineLinks& links, PreparedLine* line) {
    for (const PoolRegion& region : links.regions) {
      AddedEvent& event = line->events.emplace_back();
      event.name = kRegionName;
      event.start_ps = region.start_ps;
      event.duration_ps = region.end_ps - region.start_ps;
    }
  }

  Status MakeGroups() {
    GroupingResult grouping;
    STROBE_RETURN_IF_ERROR(GroupEvents(file_, links_, options_.max_groups, cancel_, &grouping));
    for (size_t p = 0; p < links_.size(); ++p) {
      for (size_t l = 0; l < links_[p].size(); ++l) {
        PreparedLine& line = host_->planes_[p].lines[l];
        LineLinks& links = links_[p][l];
        AddRegions(links, &line);
        line.flows = std::move(links.flows);
        line.additions = std::move(links.additions);
        if (!grouping.skipped) TakeGroups(&grouping.lines[p][l], &line);
        links = LineLinks();
      }
    }
    host_->groups_ = std::move(grouping.groups);
    if (!grouping.skipped) STROBE_RETURN_IF_ERROR(GroupTpu());
    return OkStatus();
  }

  static void TakeGroups(GroupingResult::LineResult* from, PreparedLine* line) {
    if (line->groups.empty()) {
      line->groups = std::move(from->groups);
    } else {
      for (size_t e = 0; e < from->groups.size(); ++e) {
        if (from->groups[e] >= 0) line->groups[e] = from->groups[e];
      }
    }
    for (size_t i = 0; i < from->region_groups.size(); ++i) {
      line->events[i].group = from->region_groups[i];
    }
    std::ranges::move(from->additions, std::back_inserter(line->additions));
    line->is_eager = std::move(from->is_eager);
  }

  Status GroupTpu() {
    const auto& planes = file_.planes();
    const bool is_tpu = std::ranges::any_of(
        planes, [](const xplane::Plane& plane) { return plane.name.starts_with(kTpuPrefix); });
    if (!is_tpu) return OkStatus();
    return ForEachPiece(options_.parallel, planes.size(), [&](size_t p) {
      STROBE_RETURN_IF_ERROR(cancel_.Check());
      if (IsXprofDevicePlane(planes[p].name)) {
        GroupTpuPlane(file_, p, host_->groups_, &host_->planes_[p]);
      }
      return OkStatus();
    });
  }

  Status DeriveLines() {
    hlo::ModuleSet modules;
    modules.AddEmbedded(file_, host_->owner_);
    modules.Finish();
    host_->texts_.resize(file_.planes().size());
    STROBE_RETURN_IF_ERROR(DeriveGpuLines({file_, modules, host_->groups_, options_}, cancel_,
                                          &host_->planes_, &host_->texts_));
    if (!options_.op_lines) return OkStatus();
    return ForEachPiece(options_.parallel, file_.planes().size(), [&](size_t p) {
      if (!TensorCoreOf(file_.planes()[p].name)) return OkStatus();
      return DeriveTpuLines(file_, p, cancel_, &host_->planes_[p], &host_->texts_[p]);
    });
  }

  const xplane::ProfileFile& file_;
  const PrepareOptions& options_;
  const CancelToken& cancel_;
  std::shared_ptr<PreparedHost> host_;
  std::vector<std::vector<LineLinks>> links_;
};

const AddedStat* PreparedLine::FindAddition(uint32_t event, std::string_view stat_name) const {
  auto at = std::ranges::lower_bound(additions, event, {}, &EventAddition::event);
  for (; at != additions.end() && at->event == event; ++at) {
    if (at->stat.name == stat_name) return &at->stat;
  }
  return nullptr;
}

Result<std::shared_ptr<const PreparedHost>> PreparedHost::Prepare(std::shared_ptr<const void> owner,
                                                                  const xplane::ProfileFile& file,
                                                                  const PrepareOptions& options,
                                                                  const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(file.DecodeAll(cancel, nullptr));
  return HostPreparer(std::move(owner), file, options, cancel).Run();
}

std::shared_ptr<const void> PreparedHost::FindAttached(std::string_view key) const {
  const std::lock_guard lock(attached_mutex_);
  const auto found = attached_.find(key);
  return found == attached_.end() ? nullptr : found->second;
}

std::shared_ptr<const void> PreparedHost::Attach(std::string_view key,
                                                 std::shared_ptr<const void> value,
                                                 uint64_t size_bytes) const {
  const std::lock_guard lock(attached_mutex_);
  const auto [place, is_new] = attached_.try_emplace(std::string(key), std::move(value));
  if (is_new) attached_bytes_ += size_bytes;
  return place->second;
}

uint64_t PreparedHost::resident_bytes() const {
  uint64_t bytes = sizeof(*this);
  {
    const std::lock_guard lock(attached_mutex_);
    bytes += attached_bytes_;
  }
  for (const PreparedPlane& plane : planes_) {
    bytes += plane.lines.capacity() * sizeof(PreparedLine);
    for (const PreparedLine& line : plane.lines) {
      bytes += line.groups.capacity() * sizeof(int32_t) + line.is_eager.capacity();
      bytes += line.flows.capacity() * sizeof(FlowEnd);
      bytes += line.additions.capacity() * sizeof(EventAddition);
      bytes += line.events.capacity() * sizeof(AddedEvent);
      bytes += line.derived_events.capacity() * sizeof(DerivedEvent);
      for (const AddedEvent& event : line.events) {
        bytes += event.stats.capacity() * sizeof(AddedStat);
      }
    }
  }
  for (const std::deque<std::string>& texts : texts_) {
    for (const std::string& text : texts) bytes += sizeof(text) + text.capacity();
  }
  for (const auto& [id, group] : groups_) {
    bytes += sizeof(group) + 64 + group.name.capacity() +
             (group.parents.capacity() + group.children.capacity()) * sizeof(int64_t);
  }
  return bytes;
}

}  // namespace strobe::analysis
