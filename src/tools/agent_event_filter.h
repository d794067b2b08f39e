// Conditions on events, as agents write them:
//
//   plane =~ "TPU" AND line = "XLA Ops" AND (duration > 5us OR event CONTAINS all-reduce)
//
//   STROBE_ASSIGN_OR_RETURN(const EventFilter filter, EventFilter::Parse(text));
//   if (filter.Matches({.plane = p, .line = l, .event = e, .offset_ps = o, .duration_ps = d})) ...
//
// Fields plane, line, line_id, event (texts: = == != CONTAINS ~ =~ !~) and duration, duration_ps,
// _ns, _us, _ms, offset_ps, start_ps, end_ps (numbers with ps, ns, us, ms or s: = == != < <= > >=);
// AND, OR, NOT (also && || !) and parentheses. The grammar and the units are those of XProf's
// command line. Cost: some 50 ns an event. Limits: kMaxFilterBytes, kMaxFilterDepth. Errors:
// FILTER_INVALID.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/tools/agent_common.h"

namespace strobe::tools {

inline constexpr size_t kMaxFilterBytes = 10'000;
inline constexpr int kMaxFilterDepth = 100;

struct EventView {
  std::string_view plane;
  std::string_view line;
  std::string_view event;
  int64_t offset_ps = 0;
  int64_t duration_ps = 0;
};

class EventFilter {
 public:
  static Result<EventFilter> Parse(std::string_view text);  // empty: everything matches
  bool Matches(const EventView& event) const;
  bool empty() const { return nodes_.empty(); }

 private:
  friend class EventFilterParser;
  enum class Kind : uint8_t { kAnd, kOr, kNot, kText, kNumber };
  enum class Field : uint8_t { kPlane, kLine, kEvent, kDuration, kStart, kEnd };
  enum class Operator : uint8_t {
    kEqual,
    kNotEqual,
    kContains,
    kMatches,
    kMatchesNot,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual
  };
  struct Node {
    Kind kind = Kind::kAnd;
    Field field = Field::kEvent;
    Operator op = Operator::kEqual;
    size_t left = 0;
    size_t right = 0;
    double number = 0;  // ps
    std::string text = {};
    Pattern pattern = {};
  };
  bool Holds(size_t node, const EventView& event) const;
  bool HoldsText(const Node& node, const EventView& event) const;
  bool HoldsNumber(const Node& node, const EventView& event) const;

  std::vector<Node> nodes_;  // the last one is the root
};

}  // namespace strobe::tools
