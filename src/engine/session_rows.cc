// The events that a row of a tool's table is about.
#include <algorithm>

#include "src/engine/opened_session.h"
#include "src/engine/parallel.h"
#include "src/engine/row_match.h"
#include "src/timeline/rows.h"

namespace strobe::engine {
namespace {

using tools::RowSubject;
using xplane::LineColumns;
using xplane::Plane;

// What the row counts of an event: the device's own account where there is one.
int64_t TimeOfRow(const SearchHit& hit) { return hit.device_duration_ps.value_or(hit.duration_ps); }

// The best `limit` of many, by time or by length.
class Best {
 public:
  Best(size_t limit, bool longest) : limit_(limit), longest_(longest) {}
  void Add(SearchHit hit) {
    if (limit_ == 0) return;
    if (hits_.size() < limit_) {
      hits_.push_back(std::move(hit));
      std::ranges::push_heap(hits_, order());
      return;
    }
    if (!order()(hit, hits_.front())) return;
    std::ranges::pop_heap(hits_, order());
    hits_.back() = std::move(hit);
    std::ranges::push_heap(hits_, order());
  }
  std::vector<SearchHit> Take() {
    std::ranges::sort_heap(hits_, order());
    return std::move(hits_);
  }

 private:
  std::function<bool(const SearchHit&, const SearchHit&)> order() const {
    const auto place = [](const SearchHit& hit) {
      return std::tuple(hit.start_ps, hit.event.host, hit.event.plane, hit.event.line,
                        hit.event.event);
    };
    if (!longest_) {
      return [place](const SearchHit& a, const SearchHit& b) { return place(a) < place(b); };
    }
    return [place](const SearchHit& a, const SearchHit& b) {
      if (TimeOfRow(a) != TimeOfRow(b)) return TimeOfRow(a) > TimeOfRow(b);
      return place(a) < place(b);
    };
  }

  const size_t limit_;
  const bool longest_;
  std::vector<SearchHit> hits_;
};

bool IsStepLine(const Plane& plane, uint32_t line) {
  return analysis::ClassifyLine(analysis::ClassifyPlane(plane.name), plane.lines[line].name) ==
         analysis::LineKind::kSteps;
}

}  // namespace

// Groups of one host's line; nullptr when the row is not about a step.
Result<const analysis::PreparedPlane*> SessionState::GroupsOf(
    const RowSubject& subject, size_t host, size_t plane, const CancelToken& cancel,
    std::shared_ptr<const analysis::PreparedHost>* prepared) {
  if (subject.step < 0) return nullptr;
  if (*prepared == nullptr) {
    STROBE_ASSIGN_OR_RETURN(*prepared, ToolInputs()->Prepared(host, cancel));
  }
  return &(*prepared)->planes()[plane];
}

Result<SubjectEvents> SessionState::EventsOfSubject(const RowSubject& subject,
                                                    const SubjectQuery& query,
                                                    const CancelToken& cancel) {
  SubjectEvents found;
  const bool by_step_only =
      subject.op_name.empty() && subject.framework_op.empty() && subject.step >= 0;
  if (subject.op_name.empty() && subject.framework_op.empty() && !by_step_only) {
    found.reason = "The row is about nothing that has events of its own.";
    return found;
  }
  STROBE_RETURN_IF_ERROR(DecodeHosts(query.hosts, cancel));
  // Kernels name ops of programs; the modules say what these are.
  const std::shared_ptr<const hlo::ModuleSet> modules = ToolInputs()->Modules();
  analysis::HloOps ops(*modules, analysis::HloOps::kWithoutCost);
  Best best(query.limit, query.longest_first);
  for (const size_t h : query.hosts) {
    const HostState& host = hosts_[h];
    if (host.profile == nullptr) continue;
    if (!subject.host.empty() && host.file.host != subject.host) continue;
    std::shared_ptr<const analysis::PreparedHost> prepared;
    for (const uint32_t p : host.planes) {
      std::optional<RowMatcher> matcher;
      if (!by_step_only) matcher.emplace(*host.profile, p, subject, &ops);
      if (matcher && !matcher->any_possible()) continue;
      STROBE_ASSIGN_OR_RETURN(const analysis::PreparedPlane* const groups,
                              GroupsOf(subject, h, p, cancel, &prepared));
      for (const uint32_t l : host.views[p]->order) {
        STROBE_RETURN_IF_ERROR(cancel.Check());
        if (matcher ? !matcher->Takes(l) : !IsStepLine(host.profile->planes()[p], l)) continue;
        const LineColumns& columns = host.profile->Line(p, l);
        const std::vector<uint8_t> wanted =
            matcher ? matcher->Match(l) : std::vector<uint8_t>(columns.event_count(), 1);
        if (wanted.empty()) continue;
        const DeviceTimes device_times(*host.profile, p, l);
        for (uint32_t e = 0; e < wanted.size(); ++e) {
          if (wanted[e] == 0) continue;
          const bool grouped =
              groups != nullptr && l < groups->lines.size() && groups->lines[l].from_file;
          if (grouped && groups->lines[l].GroupOf(e) != subject.step) continue;
          const std::optional<int64_t> device_ps = device_times.DurationOf(e);
          found.has_device_times |= device_ps.has_value();
          ++found.total;
          found.total_duration_ps += columns.duration_ps[e];
          found.total_device_duration_ps += device_ps.value_or(columns.duration_ps[e]);
          best.Add({.event = {static_cast<uint32_t>(h), p, l, e},
                    .name = {},
                    .start_ps = timeline::SaturatingAdd(columns.start_ps[e], host.shift_ps),
                    .duration_ps = columns.duration_ps[e],
                    .device_duration_ps = device_ps});
        }
      }
    }
  }
  found.events = best.Take();
  found.truncated = found.total > found.events.size();
  for (SearchHit& hit : found.events) {
    const xplane::ProfileFile& profile = *hosts_[hit.event.host].profile;
    const uint32_t name = profile.Line(hit.event.plane, hit.event.line).name[hit.event.event];
    hit.name = profile.planes()[hit.event.plane].event_metadata[name].label();
  }
  if (found.total == 0) found.reason = "No event of the profile is one that this row counts.";
  STROBE_RETURN_IF_ERROR(CheckColumns());
  return found;
}

}  // namespace strobe::engine
