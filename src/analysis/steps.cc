#include "src/analysis/steps.h"

#include <algorithm>

#include "src/analysis/nesting.h"
#include "src/analysis/op_totals.h"

namespace strobe::analysis {
namespace {

using xplane::LineColumns;

struct Place {
  uint32_t host = 0;
  uint32_t plane = 0;
  uint32_t line = 0;
  bool derived = false;
};

class StepCollector {
 public:
  explicit StepCollector(size_t max_items) : max_items_(max_items) {}

  void Add(StepItem item) {
    sum_ps_ += static_cast<double>(item.duration_ps);
    summary_.min_ps =
        summary_.count == 0 ? item.duration_ps : std::min(summary_.min_ps, item.duration_ps);
    summary_.max_ps = std::max(summary_.max_ps, item.duration_ps);
    ++summary_.count;
    if (summary_.items.size() < max_items_) summary_.items.push_back(std::move(item));
  }
  bool full() const { return summary_.items.size() >= max_items_; }
  StepSummary Finish(std::string source) {
    summary_.source = std::move(source);
    if (summary_.count > 0) {
      summary_.mean_ps = static_cast<int64_t>(sum_ps_ / static_cast<double>(summary_.count));
    }
    return std::move(summary_);
  }

 private:
  const size_t max_items_;
  double sum_ps_ = 0;
  StepSummary summary_;
};

StepItem ItemOf(const HostInput& host, const Place& place, uint32_t event, std::string name) {
  const LineColumns& line = host.file->Line(place.plane, place.line);
  return {.name = std::move(name),
          .start_ps = line.start_ps[event] + host.shift_ps,
          .duration_ps = line.duration_ps[event],
          .event = {place.host, place.plane, place.line, event}};
}

std::optional<Place> FindStepsLine(const std::vector<HostInput>& hosts) {
  std::optional<Place> derived;
  for (uint32_t h = 0; h < hosts.size(); ++h) {
    if (hosts[h].file == nullptr) continue;
    const std::vector<xplane::Plane>& planes = hosts[h].file->planes();
    for (const size_t p : DisplayPlanes(planes)) {
      for (uint32_t l = 0; l < planes[p].lines.size(); ++l) {
        const PlaneKind kind = ClassifyPlane(planes[p].name);
        if (ClassifyLine(kind, planes[p].lines[l].name) != LineKind::kSteps) continue;
        if (hosts[h].file->Line(p, l).timed_rows().empty()) continue;
        const Place place = {h, static_cast<uint32_t>(p), l,
                             IsDerivedLine(planes[p], planes[p].lines[l])};
        if (!place.derived) return place;
        if (!derived) derived = place;
      }
    }
  }
  return derived;
}

StepSummary FromStepsLine(const std::vector<HostInput>& hosts, const Place& place,
                          size_t max_items) {
  const HostInput& host = hosts[place.host];
  const xplane::Plane& plane = host.file->planes()[place.plane];
  const LineColumns& line = host.file->Line(place.plane, place.line);
  const LineColumns::Row row = line.timed_rows()[0];
  StepCollector collector(max_items);
  for (uint32_t e = row.first; e < row.first + row.count; ++e) {
    const std::string_view label = plane.event_metadata[line.name[e]].label();
    collector.Add(ItemOf(host, place, e, std::string(label)));
  }
  return collector.Finish("Steps line of " + std::string(plane.name));
}

// The line with most events whose name carries step_num, on the first host that has any.
std::optional<Place> FindAnnotatedLine(const std::vector<HostInput>& hosts,
                                       std::vector<uint8_t>* names) {
  for (uint32_t h = 0; h < hosts.size(); ++h) {
    if (hosts[h].file == nullptr) continue;
    std::optional<Place> best;
    uint64_t best_count = 0;
    const std::vector<xplane::Plane>& planes = hosts[h].file->planes();
    for (uint32_t p = 0; p < planes.size(); ++p) {
      if (ClassifyPlane(planes[p].name) != PlaneKind::kHost) continue;
      for (uint32_t l = 0; l < planes[p].lines.size(); ++l) {
        const std::vector<uint8_t> marked = NamesWithStat(*hosts[h].file, p, l, "step_num");
        if (marked.empty()) continue;
        uint64_t count = 0;
        for (const uint32_t name : hosts[h].file->Line(p, l).name) count += marked[name];
        if (count <= best_count) continue;
        best_count = count;
        best = {h, p, l, false};
        *names = marked;
      }
    }
    if (best) return best;
  }
  return std::nullopt;
}

StepSummary FromAnnotations(const std::vector<HostInput>& hosts, const Place& place,
                            const std::vector<uint8_t>& names, size_t max_items) {
  const HostInput& host = hosts[place.host];
  const xplane::Plane& plane = host.file->planes()[place.plane];
  const LineColumns& line = host.file->Line(place.plane, place.line);
  std::vector<uint32_t> events;
  for (const LineColumns::Row& row : line.timed_rows()) {
    for (uint32_t e = row.first; e < row.first + row.count; ++e) {
      if (names[line.name[e]] != 0) events.push_back(e);
    }
  }
  std::sort(events.begin(), events.end(), [&](uint32_t a, uint32_t b) {
    if (line.start_ps[a] != line.start_ps[b]) return line.start_ps[a] < line.start_ps[b];
    return a < b;
  });
  StepCollector collector(max_items);
  int64_t busy_until_ps = INT64_MIN;
  for (const uint32_t e : events) {
    if (line.start_ps[e] < busy_until_ps) continue;  // inside another step
    std::string name;
    if (!collector.full()) {
      const std::vector<xplane::Stat> stats = host.file->EventStats(place.plane, place.line, e);
      if (const xplane::Stat* stat = FindStat(stats, "step_num")) {
        // Numbers in XPlane; text where the profile came as trace JSON.
        name = stat->text.empty() ? std::to_string(stat->IntOrUint()) : std::string(stat->text);
      } else {
        name = plane.event_metadata[line.name[e]].label();
      }
    }
    busy_until_ps = EventEnd(line, e);
    collector.Add(ItemOf(host, place, e, std::move(name)));
  }
  return collector.Finish("step_num annotations of " + std::string(plane.name));
}

uint64_t CountModuleRuns(const std::vector<HostInput>& hosts) {
  uint64_t runs = 0;
  for (const HostInput& host : hosts) {
    if (host.file == nullptr) continue;
    for (size_t p = 0; p < host.file->planes().size(); ++p) {
      const xplane::Plane& plane = host.file->planes()[p];
      const PlaneKind kind = ClassifyPlane(plane.name);
      for (size_t l = 0; l < plane.lines.size(); ++l) {
        if (ClassifyLine(kind, plane.lines[l].name) != LineKind::kModules) continue;
        if (!IsDerivedLine(plane, plane.lines[l])) runs += host.file->Line(p, l).event_count();
      }
    }
  }
  return runs;
}

}  // namespace

std::vector<uint8_t> NamesWithStat(const xplane::ProfileFile& file, uint32_t plane, uint32_t line,
                                   std::string_view stat_name) {
  const xplane::Plane& of = file.planes()[plane];
  const bool known =
      std::any_of(of.stat_metadata.begin(), of.stat_metadata.end(),
                  [&](const xplane::StatMetadata& stat) { return stat.name == stat_name; });
  if (!known) return {};
  constexpr uint32_t kNone = UINT32_MAX;
  const LineColumns& columns = file.Line(plane, line);
  std::vector<uint32_t> longest(of.event_metadata.size(), kNone);
  for (const LineColumns::Row& row : columns.timed_rows()) {
    for (uint32_t e = row.first; e < row.first + row.count; ++e) {
      uint32_t& best = longest[columns.name[e]];
      if (best == kNone || columns.duration_ps[e] > columns.duration_ps[best]) best = e;
    }
  }
  std::vector<uint8_t> names(longest.size());
  bool any = false;
  for (size_t n = 0; n < longest.size(); ++n) {
    if (longest[n] == kNone) continue;
    names[n] = FindStat(file.EventStats(plane, line, longest[n]), stat_name) != nullptr;
    any = any || names[n] != 0;
  }
  if (!any) names.clear();
  return names;
}

StepsFound FindSteps(const std::vector<HostInput>& hosts, size_t max_items) {
  StepsFound found;
  if (const std::optional<Place> place = FindStepsLine(hosts)) {
    found.steps = FromStepsLine(hosts, *place, max_items);
    return found;
  }
  std::vector<uint8_t> names;
  if (const std::optional<Place> place = FindAnnotatedLine(hosts, &names)) {
    found.steps = FromAnnotations(hosts, *place, names, max_items);
    return found;
  }
  found.reason =
      "The profile marks no steps: it has neither a Steps line nor host events with a step_num "
      "stat. Wrap each step in jax.profiler.StepTraceAnnotation to see them.";
  if (const uint64_t runs = CountModuleRuns(hosts); runs > 0) {
    found.reason += " (" + std::to_string(runs) +
                    " runs of XLA modules were recorded; a module is not a step.)";
  }
  return found;
}

}  // namespace strobe::analysis
