// Serials of a TraceHost: which of the events that begin at one picosecond an event is.
#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <tuple>

#include "src/analysis/event_order.h"
#include "src/tools/trace_view_host.h"

namespace strobe::tools {
namespace {

using Line = TraceHost::Line;

// Time is cut into pieces of about this many events, so that one piece is sorted within the cache.
constexpr size_t kEventsPerPiece = 1 << 16;
// One time of so many is looked at to find where to cut.
constexpr size_t kEventsPerSample = 1 << 11;

// Events of one line that are in order of time: a row, those that preparation added, or (through
// `order`) what is in no order of its own.
struct Run {
  uint32_t line = 0;
  uint32_t first = 0;
  uint32_t count = 0;
  std::vector<uint32_t> order;

  uint32_t Event(size_t at) const {
    return order.empty() ? first + static_cast<uint32_t>(at) : order[at];
  }
};

int64_t StartAt(const Line& line, const Run& run, size_t at) { return line.StartOf(run.Event(at)); }

void AddRun(const Line& line, Run run, std::vector<Run>* runs) {
  if (run.count == 0) return;
  for (uint32_t at = 1; at < run.count; ++at) {
    if (StartAt(line, run, at) >= StartAt(line, run, at - 1)) continue;
    run.order.resize(run.count);
    for (uint32_t i = 0; i < run.count; ++i) run.order[i] = run.first + i;
    std::ranges::stable_sort(run.order, {}, [&](uint32_t event) { return line.StartOf(event); });
    break;
  }
  runs->push_back(std::move(run));
}

std::vector<Run> RunsOf(const std::vector<Line>& lines) {
  std::vector<Run> runs;
  for (uint32_t l = 0; l < lines.size(); ++l) {
    const Line& line = lines[l];
    if (line.columns != nullptr) {
      for (const xplane::LineColumns::Row& row : line.columns->rows) {
        AddRun(line, {l, row.first, row.count, {}}, &runs);
      }
    }
    AddRun(line, {l, line.file_count, line.derived_from() - line.file_count, {}}, &runs);
    AddRun(line, {l, line.derived_from(), line.count() - line.derived_from(), {}}, &runs);
  }
  return runs;
}

// Times at which pieces begin, but the first.
std::vector<int64_t> CutsOf(const std::vector<Line>& lines, const std::vector<Run>& runs) {
  std::vector<int64_t> samples;
  for (const Run& run : runs) {
    for (size_t at = kEventsPerSample / 2; at < run.count; at += kEventsPerSample) {
      samples.push_back(StartAt(lines[run.line], run, at));
    }
  }
  std::ranges::sort(samples);
  std::vector<int64_t> cuts;
  constexpr size_t kSamplesPerPiece = kEventsPerPiece / kEventsPerSample;
  for (size_t i = kSamplesPerPiece; i < samples.size(); i += kSamplesPerPiece) {
    if (cuts.empty() || samples[i] > cuts.back()) cuts.push_back(samples[i]);
  }
  return cuts;
}

size_t FirstFrom(const Line& line, const Run& run, int64_t time_ps) {
  size_t low = 0;
  size_t high = run.count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (StartAt(line, run, middle) < time_ps) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The place of a line's events among those of one time and duration: the rest of TraceHost::Before,
// then the line's number.
class LineRanks {
 public:
  explicit LineRanks(const std::vector<Line>& lines) : ranks_(2 * lines.size()) {
    using Key = std::tuple<uint32_t, bool, uint32_t, uint32_t>;
    std::vector<Key> keys;
    for (uint32_t l = 0; l < lines.size(); ++l) {
      keys.emplace_back(lines[l].process, false, lines[l].thread, l);
      keys.emplace_back(lines[l].process, true, 0, l);
    }
    std::ranges::sort(keys);
    for (uint32_t rank = 0; rank < keys.size(); ++rank) {
      const auto [process, apart, thread, line] = keys[rank];
      ranks_[2 * line + (apart ? 1 : 0)] = rank;
      lines_.push_back(line);
    }
  }
  // `apart`: counters and asynchronous events.
  uint32_t Of(uint32_t line, bool apart) const { return ranks_[2 * line + (apart ? 1 : 0)]; }
  uint32_t LineOf(uint32_t rank) const { return lines_[rank]; }

 private:
  std::vector<uint32_t> ranks_;
  std::vector<uint32_t> lines_;  // by rank
};

struct Timed {
  int64_t start_ps = 0;
  int64_t duration_ps = 0;
  uint32_t rank = 0;
  uint32_t event = 0;

  bool operator<(const Timed& other) const {
    if (start_ps != other.start_ps) return start_ps < other.start_ps;
    if (duration_ps != other.duration_ps) return duration_ps > other.duration_ps;
    return rank != other.rank ? rank < other.rank : event < other.event;
  }
};

}  // namespace

Status TraceHost::NumberEqualTimes(const CancelToken& cancel) {
  const std::vector<Run> runs = RunsOf(lines_);
  const std::vector<int64_t> cuts = CutsOf(lines_, runs);
  const LineRanks ranks(lines_);
  for (Line& line : lines_) line.serials.resize(line.count());
  std::vector<std::atomic<bool>> used(lines_.size());
  const auto number = [&](std::vector<Timed>* events) {
    // Runs one after the other, each nearly in order.
    analysis::SortRuns(events, std::less<Timed>());
    uint32_t serial = 0;
    for (size_t i = 1; i < events->size(); ++i) {
      const Timed& event = (*events)[i];
      serial = event.start_ps == (*events)[i - 1].start_ps ? serial + 1 : 0;
      if (serial == 0) continue;
      const uint32_t line = ranks.LineOf(event.rank);
      used[line].store(true, std::memory_order_relaxed);
      lines_[line].serials[event.event] =
          static_cast<uint16_t>(std::min<uint32_t>(serial, kMostSerial));
    }
  };
  // Events of one time are in one piece, so pieces know nothing of each other.
  STROBE_RETURN_IF_ERROR(ForEachPiece(host_->parallel(), cuts.size() + 1, [&](size_t piece) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    std::vector<Timed> events;
    events.reserve(2 * kEventsPerPiece);
    for (const Run& run : runs) {
      const Line& line = lines_[run.line];
      size_t at = piece == 0 ? 0 : FirstFrom(line, run, cuts[piece - 1]);
      const int64_t end_ps =
          piece < cuts.size() ? cuts[piece] : std::numeric_limits<int64_t>::max();
      for (; at < run.count; ++at) {
        const uint32_t event = run.Event(at);
        const int64_t start_ps = line.StartOf(event);
        if (start_ps >= end_ps) break;
        if (IsHidden(line, event)) continue;
        const bool apart = KindOf(line, event) != TraceView::EventKind::kComplete;
        events.push_back({start_ps, line.DurationOf(event), ranks.Of(run.line, apart), event});
      }
    }
    number(&events);
    return OkStatus();
  }));
  for (size_t l = 0; l < lines_.size(); ++l) {
    if (!used[l]) lines_[l].serials = {};
  }
  return OkStatus();
}

}  // namespace strobe::tools
