// What a span of time holds: totals, gaps and flows. Part of engine.h, which see.
//
//   STROBE_ASSIGN_OR_RETURN(AreaTotals totals, session->Totals({.from_ps = a, .to_ps = b},
//   cancel)); totals.names[0]      // the name with the most self time
//
// Times are session time. Totals count each moment of a device or thread once: of a device its ops
// and kernels, not the steps, modules, scopes and other rows that repeat them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/overview.h"

namespace strobe::engine {

struct LineRef {
  uint32_t host = 0;
  uint32_t plane = 0;
  uint32_t line = 0;
  friend auto operator<=>(const LineRef&, const LineRef&) = default;
};

enum class AreaSide : uint8_t { kAuto, kDevices, kHosts };  // kAuto: devices if any ran something

struct TotalsQuery {
  std::optional<int64_t> from_ps = std::nullopt;
  std::optional<int64_t> to_ps = std::nullopt;
  AreaSide side = AreaSide::kAuto;
  std::vector<LineRef> lines = {};  // exactly these; empty: by `side`
  size_t limit = 200;               // names, and lines
};

struct AreaTotals {
  struct Sum {
    uint64_t count = 0;
    int64_t total_ps = 0;
    int64_t self_ps = 0;
  };
  struct Name {
    std::string name;
    analysis::OpCategory category = analysis::OpCategory::kOther;
    Sum sum;
    analysis::EventRef longest;
    int64_t longest_ps = 0;
  };
  struct Category {
    analysis::OpCategory category = analysis::OpCategory::kOther;
    Sum sum;
  };
  struct Line {
    LineRef line;
    std::string name;
    uint64_t count = 0;
    int64_t busy_ps = 0;
  };
  struct Plane {
    uint32_t host = 0;
    uint32_t plane = 0;
    std::string name;
    uint64_t count = 0;
    int64_t busy_ps =
        0;  // of a device: something ran on any counted line; else the sum of its lines
  };
  int64_t from_ps = 0;
  int64_t to_ps = 0;
  AreaSide side = AreaSide::kDevices;  // kAuto when lines were chosen
  Sum sum;
  uint64_t name_count = 0;  // all of them; `names` holds the first `limit`
  std::vector<Name> names;  // most self time first
  Sum other_names;          // what is not in `names`
  std::vector<Category> categories;
  uint64_t line_count = 0;
  std::vector<Line> lines;      // busiest first
  std::vector<Plane> planes;    // display order
  uint64_t lines_left_out = 0;  // they repeat what the counted lines measured
};

struct GapsQuery {
  uint32_t host = 0;
  uint32_t plane = 0;
  std::optional<int64_t> from_ps = std::nullopt;
  std::optional<int64_t> to_ps = std::nullopt;
  size_t limit = 50;
};

struct AreaGaps {
  struct Meanwhile {
    std::string name;
    std::string thread;
    int64_t self_ps = 0;  // inside the gap
    uint64_t count = 0;
    analysis::EventRef longest;
  };
  struct Item {
    int64_t start_ps = 0;
    int64_t end_ps = 0;
    std::optional<analysis::EventRef> before;
    std::string before_name;
    std::optional<analysis::EventRef> after;
    std::string after_name;
    std::vector<Meanwhile> meanwhile;  // what threads of the host did, most self time first
  };
  int64_t from_ps = 0;
  int64_t to_ps = 0;
  std::string plane_name;
  uint64_t count = 0;
  int64_t total_ps = 0;
  std::vector<Item> gaps;  // longest first
};

struct FlowsQuery {
  std::optional<analysis::EventRef> event = std::nullopt;  // flows of this one; else of the span
  std::optional<int64_t> from_ps = std::nullopt;
  std::optional<int64_t> to_ps = std::nullopt;
  size_t limit = 500;
};

struct AreaFlows {
  struct End {
    analysis::EventRef event;
    uint32_t row = 0;
    int64_t start_ps = 0;
    int64_t duration_ps = 0;
    std::string name;
  };
  struct Item {
    End from;
    End to;
  };
  uint64_t total = 0;       // `flows` are evenly spread ones of them, when there are more
  std::vector<Item> flows;  // in time order
};

}  // namespace strobe::engine
