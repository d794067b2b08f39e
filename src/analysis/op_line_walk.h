// Walks an op line of a TPU in time order and adds every execution to the sums of its op, with self
// time by nesting.
//
//   OpLineWalk walk(host, plane, line, cancel);
//   STROBE_RETURN_IF_ERROR(walk.Run(OpLineWalk::kAllEvents, &sums));
//   walk.first_ps(), walk.last_ps()
//
// An event lies in the nearest open event that contains its device span (device_span.h). Cost: 4-10
// ns an event; 40 ns more when the plane knows stats that bear on it (device times, time scale, DMA
// stall, energy, offload ids, its own group id). Memory: 48 B for each open event.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "src/analysis/device_span.h"
#include "src/analysis/line_order.h"
#include "src/analysis/op_accumulator.h"
#include "src/analysis/op_line_facts.h"
#include "src/analysis/prepared_host.h"
#include "src/analysis/stat_scan.h"
#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::analysis {

// The stats of one event that bear on its op.
struct OpEventStats {
  int64_t device_offset_ps = 0;
  int64_t device_duration_ps = 0;
  bool has_device_offset = false;
  bool has_device_duration = false;
  bool has_scale = false;
  bool has_min = false;
  bool has_offload_core = false;
  bool has_offload_start = false;
  double scale = 1;
  int64_t dma_stall_ps = 0;
  int64_t min_ps = 0;
  double vdd_energy_j = 0;
  int64_t offload_core = 0;
  int64_t offload_start = 0;
  int64_t group = kNoGroup;
};

class OpLineWalk {
 public:
  enum Events : uint8_t { kAllEvents, kGroupedOnly };
  // Called for each execution that names what it started on another core.
  using OnOffload = std::function<void(uint32_t metadata, int64_t core, int64_t start)>;

  OpLineWalk(const PreparedHost& host, size_t plane, size_t line, const CancelToken& cancel);

  // As if no event belonged to a step: for sums of the whole alone.
  void IgnoreGroups() { ignores_groups_ = true; }
  Status Run(Events events, OpAccumulator* sums, const OnOffload& on_offload = nullptr);
  // Calls `visit(event, span, stats)` in order without summing, for callers with an order of their
  // own.
  template <typename Visitor>
  Status Visit(Visitor visit);

  // Of all events walked; first > last when there was none.
  int64_t first_ps() const { return first_ps_; }
  int64_t last_ps() const { return last_ps_; }
  bool any_grouped() const { return any_grouped_; }
  bool any_ungrouped() const { return any_ungrouped_; }

 private:
  struct Open {
    Span span;
    uint64_t children_ps = 0;
    int64_t group = kNoGroup;
    uint32_t event = 0;
  };

  // `facts` may be nullptr: no event has a time of its own.
  void RunPlain(Events events, const OpLineFacts* facts, OpAccumulator* sums);
  // The same without groups: what is summed most often, and nothing but sums.
  void RunWhole(const OpLineFacts* facts, OpAccumulator* sums);
  // As RunWhole, for a line of one row whose times are those of its columns. False: nothing was
  // added, because the order of ops needs the general way.
  bool RunFlat(OpAccumulator* sums);
  Status RunScanned(Events events, OpAccumulator* sums, const OnOffload& on_offload);
  OpEventStats StatsOf(uint32_t event) const;
  Span SpanOf(uint32_t event, const OpEventStats& stats) const;
  void Track(const Span& span) {
    first_ps_ = std::min(first_ps_, span.start_ps);
    last_ps_ = std::max(last_ps_, span.end_ps());
  }
  void NoteGroup(int64_t group) { (group == kNoGroup ? any_ungrouped_ : any_grouped_) = true; }
  void AddBasics(const Open& open, OpSums* sums) const;
  void Close(const Open& open, OpAccumulator* sums) const;
  void CloseScanned(const Open& open, const OpEventStats& stats, const OnOffload& on_offload,
                    OpAccumulator* sums) const;

  const PreparedHost& host_;
  const size_t plane_;
  const size_t line_;
  const CancelToken& cancel_;
  const xplane::LineColumns& columns_;
  const PreparedLine& prepared_;
  const LineBytes bytes_;
  const StatScanner scanner_;
  const bool scans_;  // the line may have stats that bear on its ops
  const int64_t shift_ps_;
  bool ignores_groups_ = false;
  const bool read_groups_;  // preparation has none for the line, the file may
  int64_t first_ps_ = std::numeric_limits<int64_t>::max();
  int64_t last_ps_ = std::numeric_limits<int64_t>::min();
  bool any_grouped_ = false;
  bool any_ungrouped_ = false;
  std::vector<Open> stack_;
  std::vector<OpEventStats> extras_;  // parallel to the stack
};

template <typename Visitor>
Status OpLineWalk::Visit(Visitor visit) {
  // Events between two looks at the token.
  constexpr uint32_t kCancelEvery = 1u << 16;
  uint32_t seen = 0;
  bool cancelled = false;
  ForEachInOrder(columns_, [&](uint32_t event) {
    if (++seen % kCancelEvery == 0 && !cancel_.Check().ok()) cancelled = true;
    if (cancelled) return;
    const OpEventStats stats = StatsOf(event);
    NoteGroup(stats.group);
    const Span span = SpanOf(event, stats);
    Track(span);
    visit(event, span, stats);
  });
  return cancelled ? cancel_.Check() : OkStatus();
}

}  // namespace strobe::analysis
