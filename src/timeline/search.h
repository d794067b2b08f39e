// Search by name over all events: names first (each once), then events by the number of their name.
//
//   STROBE_ASSIGN_OR_RETURN(const NamePattern pattern, NamePattern::Parse("/fus.*3/"));
//   const std::vector<uint8_t> matches = pattern.Match(plane.event_metadata);
//   EventSearch search({.limit = 1000, .window_start_ps = 0, .window_end_ps = end});
//   search.AddLine({.host = 0, .plane = 1, .line = 2, .columns = &line, .matches = matches});
//   const EventSearchResult result = search.Finish();
//
// `total` and `density` are exact, whatever the limit. Events without a place in time (aggregated
// ones) are not searched. Where one stands among the hits is found in the same pass (`near`). Cost:
// 2-4 ns an event of planes where some name matches, nothing elsewhere. Memory: `limit` hits. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/xplane/profile_file.h"

namespace re2 {
class RE2;
}

namespace strobe::timeline {

// What to look for: a substring, or an RE2 expression when the text begins and ends with a slash.
// Both ignore case; `(?-i)` inside an expression switches that off.
class NamePattern {
 public:
  // Longer patterns are mistakes, and expressions beyond it could cost much to compile.
  static constexpr size_t kMaxPatternBytes = 1024;

  // INVALID_ARGUMENT: SEARCH_EMPTY, SEARCH_TOO_LONG, SEARCH_PATTERN (with what RE2 says).
  static Result<NamePattern> Parse(std::string_view text);
  // A substring, whatever characters it has.
  static Result<NamePattern> Literal(std::string_view text);
  ~NamePattern();
  NamePattern(NamePattern&&) noexcept;
  NamePattern& operator=(NamePattern&&) noexcept;

  bool Matches(std::string_view name) const;
  // 1 for each entry whose name or display name matches. Time is linear in the text, whatever the
  // expression.
  std::vector<uint8_t> Match(const std::vector<xplane::EventMetadata>& metadata) const;

 private:
  NamePattern();
  std::string lower_;                // substring form
  std::unique_ptr<re2::RE2> regex_;  // expression form
};

struct FoundEvent {
  int64_t start_ps = 0;  // session time
  int64_t duration_ps = 0;
  uint32_t host = 0;
  uint32_t plane = 0;
  uint32_t line = 0;
  uint32_t event = 0;
  bool operator==(const FoundEvent&) const = default;
};

struct EventSearchOptions {
  static constexpr size_t kDensityParts = 256;
  size_t limit = 1000;
  int64_t window_start_ps = 0;  // what density divides
  int64_t window_end_ps = 0;
  // Only events that touch [from, to) count.
  std::optional<int64_t> from_ps = std::nullopt;
  std::optional<int64_t> to_ps = std::nullopt;
  // Where this event would stand among the hits; of a time alone `is_event` is false.
  struct Near {
    FoundEvent at;
    bool is_event = false;
  };
  std::optional<Near> near = std::nullopt;
};

struct SearchLine {
  uint32_t host = 0;
  uint32_t plane = 0;
  uint32_t line = 0;
  int64_t shift_ps = 0;  // session time = file time + shift
  const xplane::LineColumns* columns = nullptr;
  static constexpr uint8_t kAsk = 2;
  std::span<const uint8_t> matches;  // by metadata index: 0 no, 1 yes, kAsk: `decides` says
  std::function<bool(uint32_t event)> decides = {};
};

struct EventSearchResult {
  uint64_t total = 0;
  std::vector<FoundEvent> hits;  // the first `limit` by start, then host, plane, line, event
  std::vector<uint64_t>
      density;  // by start, kDensityParts parts; what begins outside counts at the ends
  // Of EventSearchOptions::near.
  uint64_t rank = 0;  // hits before it
  bool is_hit = false;
  std::optional<FoundEvent> previous;
  std::optional<FoundEvent> next;
};

class EventSearch {
 public:
  explicit EventSearch(const EventSearchOptions& options);

  // `used` (same size as `matches`, may be empty) gets a 1 for each name that has a hit.
  Status AddLine(const SearchLine& line, std::span<uint8_t> used, const CancelToken& cancel);
  EventSearchResult Finish();

 private:
  Status SearchStretch(const SearchLine& line, uint32_t first, uint32_t last,
                       std::span<uint8_t> used, const CancelToken& cancel);
  void SearchRow(const SearchLine& line, uint32_t first, uint32_t last, std::span<uint8_t> used);
  void SearchAsking(const SearchLine& line, uint32_t first, uint32_t last, std::span<uint8_t> used);
  uint64_t CountPart(const SearchLine& line, uint32_t first, uint32_t last,
                     std::span<uint8_t> used);
  uint32_t NearBorder(const SearchLine& line, uint32_t first, uint32_t last) const;
  void NoteNear(const FoundEvent& hit);
  void LookAround(const SearchLine& line, uint32_t first, uint32_t border, uint32_t last);
  size_t PartOf(const SearchLine& line, uint32_t event) const;
  bool Offer(const FoundEvent& event);

  const EventSearchOptions options_;
  EventSearchResult result_;
  std::vector<FoundEvent> heap_;  // the latest on top
};

}  // namespace strobe::timeline
