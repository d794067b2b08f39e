// Counters of an opened session, and its steps and modules as marks.
#include <algorithm>
#include <limits>
#include <map>

#include "src/engine/opened_session.h"
#include "src/timeline/rows.h"

namespace strobe::engine {
namespace {

using timeline::CounterSeries;
using timeline::SaturatingAdd;
using xplane::LineColumns;

std::string CounterId(uint32_t host, uint32_t plane, const CounterSeries& series, size_t number) {
  return std::to_string(host) + "." + std::to_string(plane) + "." +
         (series.line ? std::to_string(*series.line) : "m") + "." + std::to_string(number);
}

CounterInfo Describe(uint32_t host, uint32_t plane, const CounterSeries& series, size_t number,
                     bool shares_group) {
  CounterInfo info;
  info.id = CounterId(host, plane, series, number);
  info.kind = series.kind;
  info.name = shares_group ? series.name : series.group;
  info.group = shares_group ? series.group : "";
  if (series.kind == timeline::SeriesKind::kMemory) {
    info.name = series.name;
    info.group = series.group;
  }
  info.host = host;
  info.plane = plane;
  info.line = series.line;
  info.unit = series.unit;
  info.samples = series.time_ps.size();
  info.start_ps = series.time_ps.front();
  info.end_ps = series.time_ps.back();
  const auto [least, most] = std::ranges::minmax(series.value);
  info.min = least;
  info.max = most;
  return info;
}

// Evenly spread ones of the events [first, last).
template <typename Take>
void TakeSpread(uint64_t count, size_t limit, Take take) {
  const uint64_t shown = std::min<uint64_t>(count, limit);
  for (uint64_t i = 0; i < shown; ++i) take(i * count / shown);
}

bool Touches(int64_t start_ps, int64_t duration_ps, int64_t from_ps, int64_t to_ps) {
  if (start_ps >= to_ps) return false;
  return start_ps >= from_ps || SaturatingAdd(start_ps, duration_ps) > from_ps;
}

}  // namespace

uint64_t SessionState::KeptCounters::resident_bytes() const {
  uint64_t bytes = sizeof(*this);
  for (const One& one : counters) {
    bytes += sizeof(one) + one.series.time_ps.capacity() * sizeof(int64_t) +
             one.series.value.capacity() * sizeof(double);
  }
  return bytes;
}

Result<std::shared_ptr<const SessionState::KeptCounters>> SessionState::ReadCounters(
    const CancelToken& cancel) {
  return counters_flight_.Do("", cancel, [&]() -> SingleFlight<KeptCounters>::Answer {
    {
      const std::lock_guard lock(answers_mutex_);
      if (counters_ != nullptr) return counters_;
    }
    STROBE_RETURN_IF_ERROR(DecodeAll(cancel));
    auto kept = std::make_shared<KeptCounters>();
    uint64_t samples = 0;
    for (uint32_t h = 0; h < hosts_.size(); ++h) {
      const HostState& host = hosts_[h];
      for (const uint32_t p : host.planes) {
        const xplane::Plane& plane = host.profile->planes()[p];
        const analysis::PlaneKind kind = analysis::ClassifyPlane(plane.name);
        timeline::CounterReader reader(*host.profile, p, host.shift_ps,
                                       kMaxCounterSamples - samples);
        for (const uint32_t l : host.views[p]->order) {
          if (analysis::ClassifyLine(kind, plane.lines[l].name) != analysis::LineKind::kCounter) {
            continue;
          }
          STROBE_RETURN_IF_ERROR(reader.AddCounterLine(l, cancel));
        }
        STROBE_RETURN_IF_ERROR(reader.AddMemory(cancel));
        kept->truncated |= reader.truncated();
        std::vector<CounterSeries> all = std::move(reader).Finish();
        std::map<std::pair<std::optional<uint32_t>, std::string>, int> of_group;
        for (const CounterSeries& series : all) ++of_group[{series.line, series.group}];
        for (size_t i = 0; i < all.size(); ++i) {
          if (kept->counters.size() == kMaxCounters) {
            kept->truncated = true;
            break;
          }
          samples += all[i].time_ps.size();
          const bool shares = of_group[{all[i].line, all[i].group}] > 1;
          kept->counters.push_back({Describe(h, p, all[i], i, shares), std::move(all[i])});
        }
      }
    }
    STROBE_RETURN_IF_ERROR(CheckColumns());
    pyramid_bytes_ += kept->resident_bytes();
    const std::lock_guard lock(answers_mutex_);
    counters_ = kept;
    return counters_;
  });
}

Result<CounterList> SessionState::Counters(const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const auto kept, ReadCounters(cancel));
  CounterList list;
  list.truncated = kept->truncated;
  for (const KeptCounters::One& one : kept->counters) list.counters.push_back(one.info);
  return list;
}

Result<CounterCurve> SessionState::Counter(const CounterQuery& query, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const auto kept, ReadCounters(cancel));
  const auto found = std::ranges::find(
      kept->counters, query.id,
      [](const KeptCounters::One& one) -> const std::string& { return one.info.id; });
  if (found == kept->counters.end()) {
    return NotFoundError("COUNTER_UNKNOWN", "The session has no counter of that id.")
        .Where(query.id.substr(0, 64))
        .Hint("Ask for the session's counters; ids change when a file changes.");
  }
  const analysis::TimeWindow window = Window();
  // The last sample often is what ends the window.
  return CounterCurve{
      query.id, timeline::SummarizeSeries(found->series, query.from_ps.value_or(window.start_ps),
                                          query.to_ps.value_or(SaturatingAdd(window.end_ps, 1)),
                                          query.buckets)};
}

Result<std::shared_ptr<const analysis::StepsFound>> SessionState::StepsOfAll(
    const CancelToken& cancel) {
  return steps_flight_.Do("", cancel, [&]() -> SingleFlight<analysis::StepsFound>::Answer {
    {
      const std::lock_guard lock(answers_mutex_);
      if (steps_ != nullptr) return steps_;
    }
    STROBE_RETURN_IF_ERROR(DecodeAll(cancel));
    auto steps = std::make_shared<const analysis::StepsFound>(
        analysis::FindSteps(hosts(), std::numeric_limits<size_t>::max()));
    STROBE_RETURN_IF_ERROR(CheckColumns());
    if (steps->steps) {
      pyramid_bytes_ += steps->steps->items.size() * sizeof(analysis::StepItem);
    }
    const std::lock_guard lock(answers_mutex_);
    steps_ = steps;
    return steps_;
  });
}

Result<SessionMarks> SessionState::Marks(const MarksQuery& query, const CancelToken& cancel) {
  SessionMarks marks;
  STROBE_ASSIGN_OR_RETURN(const auto found, StepsOfAll(cancel));
  const auto [from_ps, to_ps] = ClipToWindow(query.from_ps, query.to_ps);
  marks.steps_reason = found->reason;
  if (found->steps) {
    marks.steps_source = found->steps->source;
    std::vector<const analysis::StepItem*> touching;
    for (const analysis::StepItem& step : found->steps->items) {
      if (Touches(step.start_ps, step.duration_ps, from_ps, to_ps)) touching.push_back(&step);
    }
    if (!found->steps->items.empty()) {
      const analysis::EventRef& first = found->steps->items[0].event;
      marks.steps_line = LineRef{first.host, first.plane, first.line};
    }
    marks.steps.total = touching.size();
    TakeSpread(touching.size(), query.limit, [&](uint64_t i) {
      const analysis::StepItem& step = *touching[i];
      marks.steps.items.push_back({step.name, step.start_ps, step.duration_ps, step.event});
    });
  }
  for (uint32_t h = 0; h < hosts_.size(); ++h) {
    const HostState& host = hosts_[h];
    for (const uint32_t p : host.planes) {
      const xplane::Plane& plane = host.profile->planes()[p];
      const analysis::PlaneKind kind = analysis::ClassifyPlane(plane.name);
      const auto line = std::ranges::find_if(host.views[p]->order, [&](uint32_t l) {
        return analysis::ClassifyLine(kind, plane.lines[l].name) == analysis::LineKind::kModules;
      });
      if (kind != analysis::PlaneKind::kDevice || line == host.views[p]->order.end()) continue;
      const LineColumns& columns = host.profile->Line(p, *line);
      if (columns.timed_rows().empty()) continue;
      const timeline::EventRange range = timeline::EventsTouching(
          columns, columns.timed_rows()[0], SaturatingAdd(from_ps, -host.shift_ps),
          SaturatingAdd(to_ps, -host.shift_ps));
      SessionMarks::Modules modules{.line = {h, p, *line}, .list = {}};
      modules.list.total = range.count();
      TakeSpread(range.count(), query.limit, [&](uint64_t i) {
        const auto e = static_cast<uint32_t>(range.first + i);
        const analysis::EventRef ref{h, p, *line, e};
        modules.list.items.push_back({NameOfEvent(ref),
                                      SaturatingAdd(columns.start_ps[e], host.shift_ps),
                                      columns.duration_ps[e], ref});
      });
      marks.modules.push_back(std::move(modules));
    }
  }
  STROBE_RETURN_IF_ERROR(CheckColumns());
  return marks;
}

}  // namespace strobe::engine
