// Builds lines that repeat what others measured at a coarser grain: scopes, framework ops, modules,
// source lines, steps.
//
//   DerivedNames names(&plane_texts);
//   DerivedLine ops(kFrameworkOpsId, "Framework Ops", {}, /*is_gpu=*/true);
//   DerivedLine scopes(kNameScopeId, "Framework Name Scope", {&ops}, /*is_gpu=*/true);
//   scopes.Expand({names.Find("jit(f)"), names.Find("layer")}, span, group);
//
// An event of the same name and group extends the last one of its level, else a new one begins and
// ends those of deeper levels and of dependent lines. Events of several levels that cover the same
// time are made shorter by a nanosecond a level, so that viewers nest them as meant. The rules are
// XProf's (derived_timeline). Cost: about 30 ns an event; 24 B for each event made.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/analysis/prepared_host.h"

namespace strobe::analysis {

// Ids of derived lines: 32-bit integers, so negative.
inline constexpr int64_t kDerivedIdBase = static_cast<int32_t>(0xdeadbeef);
inline constexpr int64_t kStepsId = kDerivedIdBase;
inline constexpr int64_t kLaunchStatsId = kDerivedIdBase + 1;
inline constexpr int64_t kNameScopeId = kDerivedIdBase + 2;
inline constexpr int64_t kFrameworkOpsId = kDerivedIdBase + 3;
inline constexpr int64_t kSourceId = kDerivedIdBase + 7;
inline constexpr int64_t kHostOffloadId = kDerivedIdBase + 8;
inline constexpr int64_t kLastHostOffloadId = kDerivedIdBase + 48;
inline constexpr int64_t kStreamLinesId = kDerivedIdBase + 290;
inline constexpr int64_t kLastStreamLinesId = kStreamLinesId + 99;
bool IsDerivedId(int64_t line_id);

struct TimeSpan {
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  int64_t duration_ps() const { return end_ps - start_ps; }
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

// Names of derived events of one plane. The same text is the same name.
class DerivedNames {
 public:
  // `texts` keeps what has to be copied.
  explicit DerivedNames(std::deque<std::string>* texts) : texts_(*texts) {}

  // `text` outlives the names (it belongs to the file).
  uint32_t Find(std::string_view text);
  uint32_t FindCopy(std::string_view text);
  // Sets what is displayed instead, unless that is set already.
  void SetDisplay(uint32_t name, std::string_view text);
  bool has_display(uint32_t name) const { return !Display(name).empty(); }
  std::string_view Text(uint32_t name) const { return (*names_)[name].text; }
  std::string_view Display(uint32_t name) const { return (*names_)[name].display; }
  // All of them; grows as long as names are looked up.
  std::shared_ptr<const std::vector<DerivedName>> all() const { return names_; }

 private:
  std::deque<std::string>& texts_;
  const std::shared_ptr<std::vector<DerivedName>> names_ =
      std::make_shared<std::vector<DerivedName>>();
  std::unordered_map<std::string_view, uint32_t> by_text_;
};

class DerivedLine {
 public:
  DerivedLine(int64_t id, std::string name, std::vector<DerivedLine*> dependents, bool is_gpu)
      : id_(id), name_(std::move(name)), dependents_(std::move(dependents)), is_gpu_(is_gpu) {}

  // One level, or several from the outermost inwards.
  void Expand(uint32_t name, TimeSpan span, int64_t group, std::optional<int64_t> scope = {});
  void Expand(std::span<const uint32_t> levels, TimeSpan span, int64_t group,
              std::span<const int64_t> scopes = {});
  // Ends the open events from this level inwards.
  void Close(size_t level);
  void SetStat(size_t level, std::string_view name, int64_t value);

  bool empty() const { return events_.empty(); }
  int64_t id() const { return id_; }
  // Moves the events out, sorted by time. As `derived_events` unless one has stats.
  PreparedLine Take(const DerivedNames& names, int64_t timestamp_ns);
  // As `events`, for callers who add to them.
  PreparedLine TakeAdded(const DerivedNames& names, int64_t timestamp_ns);

 private:
  struct Open {
    bool is_open = false;
    uint32_t event = 0;
    uint32_t name = 0;
    int64_t group = kNoGroup;
    std::optional<int64_t> scope;
  };
  struct Made {
    TimeSpan span;
    uint32_t name = 0;
    int32_t group = static_cast<int32_t>(kNoGroup);
  };

  void ExpandLevel(size_t level, uint32_t name, TimeSpan span, int64_t group,
                   std::optional<int64_t> scope);
  void Shorten(size_t level);
  std::vector<uint32_t> InOrder() const;
  PreparedLine Described(int64_t timestamp_ns) const;

  const int64_t id_;
  const std::string name_;
  const std::vector<DerivedLine*> dependents_;
  const bool is_gpu_;
  std::vector<Open> open_;  // by level
  std::vector<Made> events_;
  std::unordered_map<uint32_t, std::vector<AddedStat>> stats_;  // of the few that have some
};

// The lines for scopes and ops from a framework op's full name, "scope/scope/op:type". Each name is
// taken apart once.
class FrameworkOpLines {
 public:
  // All outlive this.
  FrameworkOpLines(DerivedNames* names, DerivedLine* scopes, DerivedLine* ops)
      : names_(*names), scopes_(*scopes), ops_(*ops) {}

  // `full_name` outlives the names.
  void Expand(std::string_view full_name, TimeSpan span, int64_t group);

 private:
  struct Parts {
    std::vector<uint32_t> scopes;
    bool has_scopes = false;
    uint32_t op = 0;
  };
  const Parts& PartsOf(std::string_view full_name);

  DerivedNames& names_;
  DerivedLine& scopes_;
  DerivedLine& ops_;
  std::unordered_map<std::string_view, Parts> parts_;
};

// An event of a plane, for walking several lines in time order.
struct PlaneEvent {
  int64_t start_ps = 0;
  int64_t duration_ps = 0;
  uint32_t line = 0;
  uint32_t event = 0;
};
// The events of a line in the order of the file.
void AppendPlaneEvents(const xplane::ProfileFile& file, size_t plane, uint32_t line,
                       std::vector<PlaneEvent>* events);
// By start, of two that start together the shorter first; equal ones fall as with XProf, when all
// of its events are given in its order.
void SortPlaneEvents(std::vector<PlaneEvent>* events);

// The earliest timestamp of a plane's lines; 0 when it has none.
int64_t PlaneTimestampNs(const xplane::Plane& plane);

}  // namespace strobe::analysis
