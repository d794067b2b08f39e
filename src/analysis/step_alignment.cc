#include "src/analysis/step_alignment.h"

#include <algorithm>
#include <limits>

namespace strobe::analysis {
namespace {

struct Span {
  int64_t begin_ps = 0;
  int64_t end_ps = 0;
  bool empty() const { return begin_ps >= end_ps; }
};

// Over all cores of the step, in the clock that the hosts share.
Span SpanOf(const Step& step, int64_t shift_ps) {
  Span span;
  for (const auto& [core, part] : step.cores) {
    const int64_t end_ps = part.begin_ps + static_cast<int64_t>(part.duration_ps);
    if (span.empty()) {
      span = {part.begin_ps, end_ps};
    } else {
      span.begin_ps = std::min(span.begin_ps, part.begin_ps);
      span.end_ps = std::max(span.end_ps, end_ps);
    }
  }
  return {span.begin_ps + shift_ps, span.end_ps + shift_ps};
}

struct HostSteps {
  size_t host = 0;
  std::vector<Span> spans;
  uint64_t length_ps = 0;  // first to last
};

HostSteps SpansOf(size_t host, const StepDatabase& database, int64_t shift_ps) {
  HostSteps steps;
  steps.host = host;
  Span all;
  for (const Step& step : database.steps) {
    const Span& span = steps.spans.emplace_back(SpanOf(step, shift_ps));
    if (span.empty()) continue;
    all = all.empty()
              ? span
              : Span{std::min(all.begin_ps, span.begin_ps), std::max(all.end_ps, span.end_ps)};
  }
  steps.length_ps = static_cast<uint64_t>(all.end_ps - all.begin_ps);
  return steps;
}

// By move + (steps of the host - 1): overlap with the chief when step i of the host is taken for
// step i + move of the chief.
std::vector<uint64_t> OverlapByMove(const std::vector<Span>& host, const std::vector<Span>& chief) {
  std::vector<uint64_t> overlap(host.size() + chief.size() - 1);
  size_t h = 0, c = 0;
  while (h < host.size() && c < chief.size()) {
    if (host[h].empty()) {
      ++h;
      continue;
    }
    if (chief[c].empty()) {
      ++c;
      continue;
    }
    const int64_t from = std::max(host[h].begin_ps, chief[c].begin_ps);
    const int64_t to = std::min(host[h].end_ps, chief[c].end_ps);
    if (from < to) overlap[c + (host.size() - 1) - h] += static_cast<uint64_t>(to - from);
    const bool host_ends = host[h].end_ps <= chief[c].end_ps;
    const bool chief_ends = chief[c].end_ps <= host[h].end_ps;
    h += host_ends ? 1 : 0;
    c += chief_ends ? 1 : 0;
  }
  return overlap;
}

int64_t BestMove(const std::vector<uint64_t>& overlap, size_t host_steps, size_t chief_steps) {
  const int64_t middle = static_cast<int64_t>(host_steps) - 1;
  int64_t best = 0;
  uint64_t most = overlap[static_cast<size_t>(middle)];
  const auto look_at = [&](int64_t move) {
    const uint64_t here = overlap[static_cast<size_t>(middle + move)];
    if (here > most) {
      most = here;
      best = move;
    }
  };
  for (int64_t move = 1; move < static_cast<int64_t>(chief_steps); ++move) look_at(move);
  for (int64_t move = -1; move >= -middle; --move) look_at(move);
  return best;
}

struct Placement {
  size_t host_begin = 0;
  size_t chief_begin = 0;
  size_t count = 0;
};

Placement PlaceOnChief(const HostSteps& host, const HostSteps& chief) {
  if (host.host == chief.host) return {0, 0, chief.spans.size()};
  if (host.spans.empty()) return {};
  const int64_t move =
      BestMove(OverlapByMove(host.spans, chief.spans), host.spans.size(), chief.spans.size());
  Placement placement;
  placement.host_begin = move < 0 ? static_cast<size_t>(-move) : 0;
  placement.chief_begin = move < 0 ? 0 : static_cast<size_t>(move);
  placement.count = std::min(host.spans.size() - placement.host_begin,
                             chief.spans.size() - placement.chief_begin);
  return placement;
}

// Brings the hosts to one clock; the distance of two clocks is bounded to keep sums in range.
int64_t ShiftPs(const StepDatabase& database, const StepDatabase& first) {
  constexpr int64_t kMaxShiftNs = int64_t{1'000'000} * 1'000'000'000;  // 11 days
  int64_t shift_ns = 0;
  if (__builtin_sub_overflow(database.origin_unix_ns, first.origin_unix_ns, &shift_ns)) return 0;
  return shift_ns > kMaxShiftNs || shift_ns < -kMaxShiftNs ? 0 : shift_ns * 1000;
}

}  // namespace

StepAlignment AlignSteps(const std::vector<const StepDatabase*>& hosts) {
  StepAlignment alignment;
  alignment.first_step.resize(hosts.size());
  std::vector<HostSteps> all;
  const StepDatabase* first = nullptr;
  for (size_t h = 0; h < hosts.size(); ++h) {
    if (hosts[h] == nullptr) continue;
    if (first == nullptr) first = hosts[h];
    all.push_back(SpansOf(h, *hosts[h], ShiftPs(*hosts[h], *first)));
  }
  if (all.empty()) return alignment;
  const auto chief = std::ranges::min_element(all, {}, &HostSteps::length_ps);
  if (chief->spans.empty()) return alignment;
  size_t begin = 0;
  size_t end = std::numeric_limits<size_t>::max();
  std::vector<Placement> placements;
  for (const HostSteps& host : all) {
    const Placement& placement = placements.emplace_back(PlaceOnChief(host, *chief));
    begin = std::max(begin, placement.chief_begin);
    end = std::min(end, placement.chief_begin + placement.count);
  }
  if (begin > end) {
    alignment.empty_intersect = true;
    return alignment;
  }
  alignment.step_count = end - begin;
  for (size_t i = 0; i < all.size(); ++i) {
    alignment.first_step[all[i].host] =
        placements[i].host_begin + (begin - placements[i].chief_begin);
  }
  return alignment;
}

}  // namespace strobe::analysis
