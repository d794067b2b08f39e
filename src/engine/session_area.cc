// Totals, gaps and flows of an opened session.
#include <algorithm>
#include <map>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "src/analysis/event_links.h"
#include "src/analysis/nesting.h"
#include "src/engine/opened_session.h"
#include "src/engine/parallel.h"
#include "src/timeline/arrows.h"
#include "src/timeline/gaps.h"
#include "src/timeline/range_totals.h"
#include "src/timeline/rows.h"

namespace strobe::engine {
namespace {

using analysis::EventRef;
using analysis::LineKind;
using analysis::PlaneKind;
using timeline::NameTotal;
using timeline::SaturatingAdd;
using xplane::LineColumns;

// What threads did in a gap: more than this nobody reads.
constexpr size_t kMaxMeanwhile = 3;
constexpr int kCategoryCount = static_cast<int>(analysis::OpCategory::kMarker) + 1;
constexpr std::string_view kArrowsKey = "timeline.arrows";

int64_t Back(int64_t session_ps, int64_t shift_ps) {
  int64_t file_ps = 0;
  return __builtin_sub_overflow(session_ps, shift_ps, &file_ps) ? session_ps : file_ps;
}

void AddTo(AreaTotals::Sum* sum, const NameTotal& total) {
  sum->count += total.count;
  sum->total_ps = SaturatingAdd(sum->total_ps, total.total_ps);
  sum->self_ps = SaturatingAdd(sum->self_ps, total.self_ps);
}

struct MergedName {
  NameTotal total;
  uint8_t category = 0;
  uint32_t host = 0;  // of the longest event
  uint32_t plane = 0;
};

// The names with most self time; the others are one sum.
void KeepLargestNames(const std::unordered_map<std::string_view, MergedName>& names, size_t limit,
                      AreaTotals* totals) {
  std::vector<std::pair<std::string_view, const MergedName*>> sorted;
  for (const auto& [name, merged] : names) sorted.emplace_back(name, &merged);
  const size_t kept = std::min(limit, sorted.size());
  std::partial_sort(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(kept), sorted.end(),
                    [](const auto& a, const auto& b) {
                      if (a.second->total.self_ps != b.second->total.self_ps) {
                        return a.second->total.self_ps > b.second->total.self_ps;
                      }
                      return a.first < b.first;
                    });
  totals->name_count = sorted.size();
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto& [name, merged] = sorted[i];
    const NameTotal& total = merged->total;
    if (i >= kept) {
      AddTo(&totals->other_names, total);
      continue;
    }
    totals->names.push_back(
        {.name = std::string(name),
         .category = static_cast<analysis::OpCategory>(merged->category),
         .sum = {total.count, total.total_ps, total.self_ps},
         .longest = {merged->host, merged->plane, total.longest_line, total.longest_event},
         .longest_ps = total.longest_ps});
  }
}

// Which lines of a plane count: each moment once.
std::vector<uint32_t> CountedLines(const xplane::Plane& plane, const std::vector<uint32_t>& order) {
  const PlaneKind kind = analysis::ClassifyPlane(plane.name);
  const auto pick = [&](auto&& wanted) {
    std::vector<uint32_t> lines;
    for (const uint32_t l : order) {
      if (analysis::IsDerivedLine(plane, plane.lines[l])) continue;
      if (wanted(analysis::ClassifyLine(kind, plane.lines[l].name))) lines.push_back(l);
    }
    return lines;
  };
  if (kind != PlaneKind::kDevice) {
    return pick([](LineKind line) { return line != LineKind::kCounter; });
  }
  auto lines =
      pick([](LineKind line) { return line == LineKind::kOps || line == LineKind::kStream; });
  if (lines.empty()) lines = pick([](LineKind line) { return line == LineKind::kModules; });
  if (lines.empty()) lines = pick([](LineKind line) { return line != LineKind::kCounter; });
  return lines;
}

}  // namespace

std::vector<LineRef> SessionState::LinesOfSide(bool devices, uint64_t* left_out) const {
  std::vector<LineRef> lines;
  for (uint32_t h = 0; h < hosts_.size(); ++h) {
    for (const uint32_t p : hosts_[h].planes) {
      const xplane::Plane& plane = hosts_[h].profile->planes()[p];
      const PlaneKind kind = analysis::ClassifyPlane(plane.name);
      if (kind == PlaneKind::kMetadata || (kind == PlaneKind::kDevice) != devices) continue;
      const std::vector<uint32_t>& order = hosts_[h].views[p]->order;
      const std::vector<uint32_t> counted = CountedLines(plane, order);
      *left_out += order.size() - counted.size();
      for (const uint32_t l : counted) lines.push_back({h, p, l});
    }
  }
  return lines;
}

Result<std::vector<LineRef>> SessionState::LinesToCount(const TotalsQuery& query,
                                                        AreaTotals* totals) const {
  if (!query.lines.empty()) {
    for (const LineRef& line : query.lines) {
      STROBE_RETURN_IF_ERROR(CheckLine(line.host, line.plane, line.line));
    }
    totals->side = AreaSide::kAuto;
    return query.lines;
  }
  totals->side = query.side;
  if (query.side != AreaSide::kHosts) {
    std::vector<LineRef> lines = LinesOfSide(true, &totals->lines_left_out);
    const bool any = std::ranges::any_of(lines, [&](const LineRef& ref) {
      const HostState& host = hosts_[ref.host];
      return !timeline::SlicesOf(host.profile->Line(ref.plane, ref.line),
                                 Back(totals->from_ps, host.shift_ps),
                                 Back(totals->to_ps, host.shift_ps))
                  .empty();
    });
    totals->side = AreaSide::kDevices;
    if (any || query.side == AreaSide::kDevices) return lines;
  }
  totals->lines_left_out = 0;
  totals->side = AreaSide::kHosts;
  return LinesOfSide(false, &totals->lines_left_out);
}

std::pair<int64_t, int64_t> SessionState::ClipToWindow(std::optional<int64_t> from_ps,
                                                       std::optional<int64_t> to_ps) const {
  const analysis::TimeWindow window = Window();
  const int64_t from =
      std::clamp(from_ps.value_or(window.start_ps), window.start_ps, window.end_ps);
  const int64_t to = std::clamp(to_ps.value_or(window.end_ps), window.start_ps, window.end_ps);
  return {from, std::max(from, to)};
}

std::vector<AreaPiece> SessionState::PiecesOf(const std::vector<LineRef>& lines, int64_t from_ps,
                                              int64_t to_ps) const {
  std::vector<AreaPiece> pieces;
  for (const LineRef& ref : lines) {
    const HostState& host = hosts_[ref.host];
    const xplane::Plane& plane = host.profile->planes()[ref.plane];
    const LineKind kind =
        analysis::ClassifyLine(analysis::ClassifyPlane(plane.name), plane.lines[ref.line].name);
    for (const timeline::TotalSlice& slice :
         timeline::SlicesOf(host.profile->Line(ref.plane, ref.line), Back(from_ps, host.shift_ps),
                            Back(to_ps, host.shift_ps))) {
      pieces.push_back({{ref.host, ref.plane, kind}, ref.line, slice});
    }
  }
  return pieces;
}

// A few shares of pieces rather than one task each: every share has sums of its own to add into.
Result<AreaSums> SessionState::SumPieces(const std::vector<AreaPiece>& pieces,
                                         const CancelToken& cancel) const {
  const size_t share_count =
      std::min<size_t>(pieces.size(), 2 * std::thread::hardware_concurrency());
  std::vector<AreaSums> shares(share_count);
  ParallelFor(parts_->executor, Executor::Priority::kInteractive, share_count, [&](size_t w) {
    for (size_t i = w; i < pieces.size() && !cancel.cancelled(); i += share_count) {
      const auto& [group, line, slice] = pieces[i];
      const xplane::ProfileFile& profile = *hosts_[group.host].profile;
      std::vector<NameTotal>& names = shares[w].names[group];
      names.resize(profile.planes()[group.plane].event_metadata.size());
      shares[w].lines[{group.host, group.plane, line}].Add(
          timeline::AddTotals(profile.Line(group.plane, line), slice, line, names));
    }
  });
  STROBE_RETURN_IF_ERROR(cancel.Check());
  AreaSums all;
  for (AreaSums& share : shares) {
    for (auto& [key, names] : share.names) {
      std::vector<NameTotal>& into = all.names[key];
      if (into.empty()) {
        into = std::move(names);
      } else {
        for (size_t n = 0; n < names.size(); ++n) into[n].Add(names[n]);
      }
    }
    for (const auto& [ref, total] : share.lines) all.lines[ref].Add(total);
  }
  return all;
}

// Sums of names over planes, and of everything by category.
void SessionState::DescribeNames(const AreaSums& sums, size_t limit, AreaTotals* totals) {
  std::unordered_map<std::string_view, MergedName> names;
  std::vector<AreaTotals::Sum> categories(kCategoryCount);
  for (const auto& [key, entries] : sums.names) {
    const HostState& host = hosts_[key.host];
    const std::vector<uint8_t>& category_of = Categories(host, key.plane, key.kind);
    const auto& metadata = host.profile->planes()[key.plane].event_metadata;
    for (size_t n = 0; n < entries.size(); ++n) {
      const NameTotal& entry = entries[n];
      if (entry.longest_ps < 0) continue;
      MergedName& merged = names[metadata[n].label()];
      if (entry.longest_ps > merged.total.longest_ps) {
        merged.host = key.host;
        merged.plane = key.plane;
        merged.category = category_of[n];
      }
      merged.total.Add(entry);
      AddTo(&categories[category_of[n]], entry);
      AddTo(&totals->sum, entry);
    }
  }
  KeepLargestNames(names, limit, totals);
  for (int c = 0; c < kCategoryCount; ++c) {
    if (categories[c].count == 0 && categories[c].self_ps == 0) continue;
    totals->categories.push_back({static_cast<analysis::OpCategory>(c), categories[c]});
  }
  std::ranges::sort(totals->categories, [](const auto& a, const auto& b) {
    return std::tie(b.sum.self_ps, a.category) < std::tie(a.sum.self_ps, b.category);
  });
}

Result<AreaTotals> SessionState::Totals(const TotalsQuery& query, const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(DecodeAll(cancel));
  AreaTotals totals;
  std::tie(totals.from_ps, totals.to_ps) = ClipToWindow(query.from_ps, query.to_ps);
  STROBE_ASSIGN_OR_RETURN(const std::vector<LineRef> lines, LinesToCount(query, &totals));
  STROBE_ASSIGN_OR_RETURN(const AreaSums sums,
                          SumPieces(PiecesOf(lines, totals.from_ps, totals.to_ps), cancel));
  DescribeNames(sums, query.limit, &totals);
  DescribeLines(sums.lines, query.limit, &totals);
  STROBE_RETURN_IF_ERROR(MeasureDevices(sums.lines, cancel, &totals));
  STROBE_RETURN_IF_ERROR(CheckColumns());
  return totals;
}

void SessionState::DescribeLines(const std::map<LineRef, timeline::LineTotal>& by_line,
                                 size_t limit, AreaTotals* totals) const {
  for (const auto& [ref, total] : by_line) {
    const xplane::Plane& plane = hosts_[ref.host].profile->planes()[ref.plane];
    totals->lines.push_back(
        {ref, std::string(plane.lines[ref.line].label()), total.count, total.busy_ps});
    AreaTotals::Plane* const last = totals->planes.empty() ? nullptr : &totals->planes.back();
    if (last == nullptr || last->host != ref.host || last->plane != ref.plane) {
      totals->planes.push_back(
          {ref.host, ref.plane, std::string(plane.name), total.count, total.busy_ps});
    } else {
      last->count += total.count;
      last->busy_ps = SaturatingAdd(last->busy_ps, total.busy_ps);
    }
  }
  totals->line_count = totals->lines.size();
  std::ranges::sort(totals->lines, [](const auto& a, const auto& b) {
    return std::tie(b.busy_ps, a.line) < std::tie(a.busy_ps, b.line);
  });
  if (totals->lines.size() > limit) totals->lines.resize(limit);
}

// Streams of a device run side by side: its busy time is not the sum of theirs.
Status SessionState::MeasureDevices(const std::map<LineRef, timeline::LineTotal>& by_line,
                                    const CancelToken& cancel, AreaTotals* totals) const {
  std::vector<Status> statuses(totals->planes.size());
  ParallelFor(
      parts_->executor, Executor::Priority::kInteractive, totals->planes.size(), [&](size_t i) {
        AreaTotals::Plane& plane = totals->planes[i];
        const HostState& host = hosts_[plane.host];
        if (analysis::ClassifyPlane(plane.name) != PlaneKind::kDevice) return;
        std::vector<timeline::GapLine> lines;
        for (auto at = by_line.lower_bound({plane.host, plane.plane, 0});
             at != by_line.end() && at->first.host == plane.host && at->first.plane == plane.plane;
             ++at) {
          lines.push_back({&host.profile->Line(plane.plane, at->first.line), 0});
        }
        if (lines.size() < 2) return;
        const auto gaps = timeline::FindGaps(lines,
                                             {.from_ps = Back(totals->from_ps, host.shift_ps),
                                              .to_ps = Back(totals->to_ps, host.shift_ps),
                                              .limit = 0},
                                             cancel);
        statuses[i] = gaps.status();
        if (gaps.ok()) plane.busy_ps = totals->to_ps - totals->from_ps - gaps->total_ps;
      });
  for (const Status& status : statuses) STROBE_RETURN_IF_ERROR(status);
  return OkStatus();
}

// ---- gaps ---------------------------------------------------------------------------------------

std::string SessionState::NameOfEvent(const EventRef& ref) const {
  const xplane::ProfileFile& profile = *hosts_[ref.host].profile;
  const uint32_t name = profile.Line(ref.plane, ref.line).name[ref.event];
  return std::string(profile.planes()[ref.plane].event_metadata[name].label());
}

// What the threads of a host did in a span of its file's time.
std::vector<AreaGaps::Meanwhile> SessionState::Meanwhile(uint32_t h, int64_t from_ps,
                                                         int64_t to_ps) const {
  std::vector<AreaGaps::Meanwhile> all;
  const HostState& host = hosts_[h];
  for (const uint32_t p : host.planes) {
    const xplane::Plane& plane = host.profile->planes()[p];
    if (analysis::ClassifyPlane(plane.name) != PlaneKind::kHost) continue;
    for (const uint32_t l : CountedLines(plane, host.views[p]->order)) {
      const LineColumns& columns = host.profile->Line(p, l);
      if (timeline::SlicesOf(columns, from_ps, to_ps).empty()) continue;
      // Few names occur in a gap, and a plane may know very many.
      std::map<uint32_t, AreaGaps::Meanwhile> names;
      std::map<uint32_t, int64_t> longest_ps;
      timeline::ForEachSelf(columns, {from_ps, to_ps, true}, [&](uint32_t e, int64_t self_ps) {
        AreaGaps::Meanwhile& name = names[columns.name[e]];
        ++name.count;
        name.self_ps = SaturatingAdd(name.self_ps, self_ps);
        int64_t& longest = longest_ps.try_emplace(columns.name[e], -1).first->second;
        if (self_ps <= longest) return;
        longest = self_ps;
        name.longest = {h, p, l, e};
      });
      for (auto& [n, name] : names) {
        if (name.self_ps == 0) continue;
        name.name = plane.event_metadata[n].label();
        name.thread = plane.lines[l].label();
        all.push_back(std::move(name));
      }
    }
  }
  const size_t kept = std::min(all.size(), kMaxMeanwhile);
  std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(kept), all.end(),
                    [](const auto& a, const auto& b) { return a.self_ps > b.self_ps; });
  all.resize(kept);
  return all;
}

Result<AreaGaps> SessionState::Gaps(const GapsQuery& query, const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(CheckLine(query.host, query.plane, 0));
  STROBE_RETURN_IF_ERROR(DecodeAll(cancel));
  const HostState& host = hosts_[query.host];
  const xplane::Plane& plane = host.profile->planes()[query.plane];
  AreaGaps answer;
  answer.plane_name = plane.name;
  std::tie(answer.from_ps, answer.to_ps) = ClipToWindow(query.from_ps, query.to_ps);
  std::vector<timeline::GapLine> lines;
  for (const uint32_t l : CountedLines(plane, host.views[query.plane]->order)) {
    lines.push_back({&host.profile->Line(query.plane, l), l});
  }
  STROBE_ASSIGN_OR_RETURN(const timeline::GapList found,
                          timeline::FindGaps(lines,
                                             {.from_ps = Back(answer.from_ps, host.shift_ps),
                                              .to_ps = Back(answer.to_ps, host.shift_ps),
                                              .limit = query.limit},
                                             cancel));
  answer.count = found.count;
  answer.total_ps = found.total_ps;
  answer.gaps.resize(found.longest.size());
  ParallelFor(parts_->executor, Executor::Priority::kInteractive, found.longest.size(),
              [&](size_t i) {
                if (cancel.cancelled()) return;
                const timeline::Gap& gap = found.longest[i];
                AreaGaps::Item& item = answer.gaps[i];
                item.start_ps = SaturatingAdd(gap.start_ps, host.shift_ps);
                item.end_ps = SaturatingAdd(gap.end_ps, host.shift_ps);
                const auto name = [&](const std::optional<timeline::GapEdge>& edge,
                                      std::optional<EventRef>* ref, std::string* text) {
                  if (!edge) return;
                  *ref = EventRef{query.host, query.plane, edge->line, edge->event};
                  *text = NameOfEvent(**ref);
                };
                name(gap.before, &item.before, &item.before_name);
                name(gap.after, &item.after, &item.after_name);
                item.meanwhile = Meanwhile(query.host, gap.start_ps, gap.end_ps);
              });
  STROBE_RETURN_IF_ERROR(cancel.Check());
  STROBE_RETURN_IF_ERROR(CheckColumns());
  return answer;
}

// ---- flows --------------------------------------------------------------------------------------

// The arrows of one host in its file's time; made once and kept with the prepared host.
Result<std::shared_ptr<const timeline::ArrowSet>> SessionState::Arrows(uint32_t h,
                                                                       const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const analysis::PreparedHost> prepared,
                          ToolInputs()->Prepared(h, cancel));
  if (const auto kept = prepared->FindAttached(kArrowsKey)) {
    return std::static_pointer_cast<const timeline::ArrowSet>(kept);
  }
  std::vector<timeline::FlowPoint> points;
  const xplane::ProfileFile& profile = prepared->file();
  for (uint32_t p = 0; p < prepared->planes().size(); ++p) {
    const auto& lines = prepared->planes()[p].lines;
    for (uint32_t l = 0; l < lines.size() && l < profile.planes()[p].lines.size(); ++l) {
      if (!lines[l].from_file || lines[l].flows.empty()) continue;
      STROBE_RETURN_IF_ERROR(cancel.Check());
      const LineColumns& columns = profile.Line(p, l);
      for (const analysis::FlowEnd& flow : lines[l].flows) {
        if (flow.event >= columns.event_count()) continue;  // an event that preparation added
        const uint8_t direction = analysis::FlowDirectionOf(flow.flow);
        points.push_back({.id = flow.flow >> analysis::kFlowIdShift,
                          .sends = (direction & analysis::kFlowOut) != 0,
                          .receives = (direction & analysis::kFlowIn) != 0,
                          .end = {p, l, flow.event, columns.start_ps[flow.event]}});
      }
    }
  }
  auto arrows = std::make_shared<const timeline::ArrowSet>(std::move(points));
  const uint64_t bytes = arrows->resident_bytes();
  return std::static_pointer_cast<const timeline::ArrowSet>(
      prepared->Attach(kArrowsKey, std::move(arrows), bytes));
}

AreaFlows::Item SessionState::DescribeArrow(uint32_t h, const timeline::Arrow& arrow) const {
  const auto describe = [&](const timeline::ArrowEnd& end) {
    const LineColumns& columns = hosts_[h].profile->Line(end.plane, end.line);
    const EventRef ref{h, end.plane, end.line, end.event};
    return AreaFlows::End{.event = ref,
                          .row = analysis::RowOf(columns, end.event),
                          .start_ps = SaturatingAdd(end.start_ps, hosts_[h].shift_ps),
                          .duration_ps = columns.duration_ps[end.event],
                          .name = NameOfEvent(ref)};
  };
  return {describe(arrow.from), describe(arrow.to)};
}

Result<AreaFlows> SessionState::Flows(const FlowsQuery& query, const CancelToken& cancel) {
  AreaFlows answer;
  if (query.event) {
    STROBE_RETURN_IF_ERROR(CheckEvent(*query.event));
    STROBE_ASSIGN_OR_RETURN(const auto arrows, Arrows(query.event->host, cancel));
    for (const timeline::Arrow& arrow :
         arrows->Of(query.event->plane, query.event->line, query.event->event)) {
      if (++answer.total <= query.limit) {
        answer.flows.push_back(DescribeArrow(query.event->host, arrow));
      }
    }
    return answer;
  }
  STROBE_RETURN_IF_ERROR(DecodeAll(cancel));
  const auto [from_ps, to_ps] = ClipToWindow(query.from_ps, query.to_ps);
  struct Found {
    uint32_t host = 0;
    std::shared_ptr<const timeline::ArrowSet> set;
    uint32_t arrow = 0;
  };
  std::vector<Found> found;
  for (uint32_t h = 0; h < hosts_.size(); ++h) {
    if (hosts_[h].profile == nullptr) continue;
    STROBE_ASSIGN_OR_RETURN(const auto arrows, Arrows(h, cancel));
    const int64_t shift_ps = hosts_[h].shift_ps;
    for (const uint32_t i : arrows->Touching(Back(from_ps, shift_ps), Back(to_ps, shift_ps))) {
      found.push_back({h, arrows, i});
    }
  }
  answer.total = found.size();
  const size_t shown = std::min(query.limit, found.size());
  for (size_t i = 0; i < shown; ++i) {
    const Found& one = found[i * found.size() / shown];
    answer.flows.push_back(DescribeArrow(one.host, one.set->arrows()[one.arrow]));
  }
  std::ranges::sort(answer.flows, [](const auto& a, const auto& b) {
    return std::tie(a.from.start_ps, a.to.start_ps) < std::tie(b.from.start_ps, b.to.start_ps);
  });
  STROBE_RETURN_IF_ERROR(CheckColumns());
  return answer;
}

}  // namespace strobe::engine
