// Counters of a session as curves, and its steps and modules as marks. Part of engine.h, which see.
//
//   STROBE_ASSIGN_OR_RETURN(const CounterList list, session->Counters(cancel));
//   STROBE_ASSIGN_OR_RETURN(const CounterCurve curve,
//                           session->Counter({.id = list.counters[0].id, .buckets = 500}, cancel));
//   STROBE_ASSIGN_OR_RETURN(const SessionMarks marks, session->Marks({.limit = 500}, cancel));
//
// Times are session time. Samples are read once and kept, 16 B each, charged to the session; at
// most kMaxCounterSamples, and the list says when there were more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/overview.h"
#include "src/engine/area.h"
#include "src/timeline/counter_series.h"

namespace strobe::engine {

// 256 MB; a counter that is read every millisecond has as many in four hours.
inline constexpr uint64_t kMaxCounterSamples = 16'000'000;
inline constexpr size_t kMaxCounters = 10'000;

struct CounterInfo {
  std::string id;  // opaque
  timeline::SeriesKind kind = timeline::SeriesKind::kCounter;
  std::string name;
  std::string group;  // empty: the only one of its name
  uint32_t host = 0;
  uint32_t plane = 0;
  std::optional<uint32_t> line;  // none of memory
  std::string unit;              // empty: not known
  uint64_t samples = 0;
  int64_t start_ps = 0;  // of the first and last sample
  int64_t end_ps = 0;
  double min = 0;
  double max = 0;
};

struct CounterList {
  bool truncated = false;
  std::vector<CounterInfo> counters;  // by host, plane and line
};

struct CounterQuery {
  std::string id;
  std::optional<int64_t> from_ps = std::nullopt;
  std::optional<int64_t> to_ps = std::nullopt;
  size_t buckets = 1000;  // 1 to SeriesBuckets::kMaxBuckets
};

struct CounterCurve {
  std::string id;
  timeline::SeriesBuckets buckets;
};

struct MarksQuery {
  std::optional<int64_t> from_ps = std::nullopt;
  std::optional<int64_t> to_ps = std::nullopt;
  size_t limit = 500;  // of each list
};

struct SessionMarks {
  struct Item {
    std::string name;
    int64_t start_ps = 0;
    int64_t duration_ps = 0;
    analysis::EventRef event;
  };
  struct List {
    uint64_t total = 0;
    std::vector<Item> items;  // by time; evenly spread ones when there are more
  };
  struct Modules {
    LineRef line;
    List list;
  };
  std::string steps_source;  // empty: there are none
  std::string steps_reason;  // why
  std::optional<LineRef> steps_line;
  List steps;
  std::vector<Modules> modules;  // one line for each device that has one
};

}  // namespace strobe::engine
