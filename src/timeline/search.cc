#include "src/timeline/search.h"

#include <re2/re2.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "src/timeline/rows.h"

namespace strobe::timeline {
namespace {

using xplane::LineColumns;
using Int128 = __int128;

constexpr size_t kParts = EventSearchOptions::kDensityParts;
// Compiled expressions larger than this are refused by RE2.
constexpr int64_t kMaxRegexBytes = 4 << 20;
// Events looked at between two looks at the cancel flag: about a millisecond.
constexpr uint32_t kCancelStride = 1 << 19;
// The same where events are asked one by one: some milliseconds.
constexpr uint32_t kAskingStride = 1 << 15;

char LowerOf(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ContainsIgnoringCase(std::string_view text, std::string_view lower) {
  if (lower.empty() || lower.size() > text.size()) return lower.empty();
  const size_t last = text.size() - lower.size();
  for (size_t at = 0; at <= last; ++at) {
    if (LowerOf(text[at]) != lower[0]) continue;
    size_t i = 1;
    while (i < lower.size() && LowerOf(text[at + i]) == lower[i]) ++i;
    if (i == lower.size()) return true;
  }
  return false;
}

bool Earlier(const FoundEvent& a, const FoundEvent& b) {
  return std::tie(a.start_ps, a.host, a.plane, a.line, a.event) <
         std::tie(b.start_ps, b.host, b.plane, b.line, b.event);
}

int64_t ToFileTime(int64_t session_ps, int64_t shift_ps) {
  const Int128 value = static_cast<Int128>(session_ps) - shift_ps;
  constexpr Int128 kMin = std::numeric_limits<int64_t>::min();
  constexpr Int128 kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(value, kMin, kMax));
}

}  // namespace

NamePattern::NamePattern() = default;
NamePattern::~NamePattern() = default;
NamePattern::NamePattern(NamePattern&&) noexcept = default;
NamePattern& NamePattern::operator=(NamePattern&&) noexcept = default;

Result<NamePattern> NamePattern::Parse(std::string_view text) {
  if (text.empty() || text == "//") {
    return InvalidArgumentError("SEARCH_EMPTY", "The search text is empty.")
        .Hint("Give a part of a name, or an expression between slashes such as /fus.*3/.");
  }
  if (text.size() > kMaxPatternBytes) {
    return InvalidArgumentError(
        "SEARCH_TOO_LONG",
        "The search text has " + std::to_string(text.size()) + " bytes; at most 1024 are taken.");
  }
  const bool is_regex = text.size() > 2 && text.front() == '/' && text.back() == '/';
  if (!is_regex) return Literal(text);
  NamePattern pattern;
  re2::RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  options.set_max_mem(kMaxRegexBytes);
  options.set_dot_nl(true);
  const std::string_view body = text.substr(1, text.size() - 2);
  pattern.regex_ = std::make_unique<re2::RE2>(re2::StringPiece(body.data(), body.size()), options);
  if (!pattern.regex_->ok()) {
    return InvalidArgumentError("SEARCH_PATTERN", "The expression cannot be understood: " +
                                                      pattern.regex_->error() + ".")
        .Where(std::string(body))
        .Hint("The syntax is RE2's (no look-around, no back references).");
  }
  return pattern;
}

Result<NamePattern> NamePattern::Literal(std::string_view text) {
  NamePattern pattern;
  pattern.lower_.assign(text);
  for (char& c : pattern.lower_) c = LowerOf(c);
  return pattern;
}

bool NamePattern::Matches(std::string_view name) const {
  if (regex_ != nullptr) {
    return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *regex_);
  }
  return ContainsIgnoringCase(name, lower_);
}

std::vector<uint8_t> NamePattern::Match(const std::vector<xplane::EventMetadata>& metadata) const {
  std::vector<uint8_t> matches(metadata.size());
  for (size_t n = 0; n < metadata.size(); ++n) {
    const xplane::EventMetadata& entry = metadata[n];
    matches[n] =
        Matches(entry.name) || (!entry.display_name.empty() && Matches(entry.display_name));
  }
  return matches;
}

EventSearch::EventSearch(const EventSearchOptions& options) : options_(options) {
  result_.density.resize(kParts);
}

bool EventSearch::Offer(const FoundEvent& event) {
  if (heap_.size() < options_.limit) {
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end(), Earlier);
    return true;
  }
  if (heap_.empty() || !Earlier(event, heap_.front())) return false;
  std::pop_heap(heap_.begin(), heap_.end(), Earlier);
  heap_.back() = event;
  std::push_heap(heap_.begin(), heap_.end(), Earlier);
  return true;
}

Status EventSearch::AddLine(const SearchLine& line, std::span<uint8_t> used,
                            const CancelToken& cancel) {
  const LineColumns& columns = *line.columns;
  const int64_t from = options_.from_ps ? ToFileTime(*options_.from_ps, line.shift_ps)
                                        : std::numeric_limits<int64_t>::min();
  const int64_t to = options_.to_ps ? ToFileTime(*options_.to_ps, line.shift_ps)
                                    : std::numeric_limits<int64_t>::max();
  for (const LineColumns::Row& row : columns.timed_rows()) {
    const EventRange range = EventsTouching(columns, row, from, to);
    if (!options_.near) {
      STROBE_RETURN_IF_ERROR(SearchStretch(line, range.first, range.last, used, cancel));
      continue;
    }
    const uint32_t border = NearBorder(line, range.first, range.last);
    const uint64_t before = result_.total;
    STROBE_RETURN_IF_ERROR(SearchStretch(line, range.first, border, used, cancel));
    result_.rank += result_.total - before;
    STROBE_RETURN_IF_ERROR(SearchStretch(line, border, range.last, used, cancel));
    if (!line.decides) LookAround(line, range.first, border, range.last);
  }
  return OkStatus();
}

Status EventSearch::SearchStretch(const SearchLine& line, uint32_t first, uint32_t last,
                                  std::span<uint8_t> used, const CancelToken& cancel) {
  const bool asks = static_cast<bool>(line.decides);
  while (first < last) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    const uint32_t end = std::min(last - first, asks ? kAskingStride : kCancelStride) + first;
    if (asks) {
      SearchAsking(line, first, end, used);
    } else {
      SearchRow(line, first, end, used);
    }
    first = end;
  }
  return OkStatus();
}

// The first event of the row that does not come before `near`. Events of one row that begin
// together are few: all but one have no length.
uint32_t EventSearch::NearBorder(const SearchLine& line, uint32_t first, uint32_t last) const {
  const LineColumns& columns = *line.columns;
  const FoundEvent& near = options_.near->at;
  uint32_t at = FirstStartingAt(columns, first, last, ToFileTime(near.start_ps, line.shift_ps));
  if (!options_.near->is_event) return at;
  for (; at < last; ++at) {
    const FoundEvent event{.start_ps = SaturatingAdd(columns.start_ps[at], line.shift_ps),
                           .host = line.host,
                           .plane = line.plane,
                           .line = line.line,
                           .event = at};
    if (!Earlier(event, near)) break;
  }
  return at;
}

// The hits next to `near` in one row; the nearest of all rows stay.
void EventSearch::LookAround(const SearchLine& line, uint32_t first, uint32_t border,
                             uint32_t last) {
  const LineColumns& columns = *line.columns;
  const auto fits = [&](uint32_t e) { return line.matches[columns.name[e]] != 0; };
  const auto found = [&](uint32_t e) {
    return FoundEvent{.start_ps = SaturatingAdd(columns.start_ps[e], line.shift_ps),
                      .duration_ps = columns.duration_ps[e],
                      .host = line.host,
                      .plane = line.plane,
                      .line = line.line,
                      .event = e};
  };
  const FoundEvent& near = options_.near->at;
  const auto is_near = [&](uint32_t e) {
    return options_.near->is_event && e == near.event && line.line == near.line &&
           line.plane == near.plane && line.host == near.host;
  };
  for (uint32_t e = border; e-- > first;) {
    // What comes after the nearest so far is all that is of interest.
    if (result_.previous && !Earlier(*result_.previous, found(e))) break;
    if (!fits(e)) continue;
    result_.previous = found(e);
    break;
  }
  for (uint32_t e = border; e < last; ++e) {
    if (is_near(e)) {
      result_.is_hit = fits(e);
      continue;
    }
    if (result_.next && !Earlier(found(e), *result_.next)) break;
    if (!fits(e)) continue;
    result_.next = found(e);
    break;
  }
}

size_t EventSearch::PartOf(const SearchLine& line, uint32_t event) const {
  const Int128 window =
      std::max<Int128>(1, static_cast<Int128>(options_.window_end_ps) - options_.window_start_ps);
  const Int128 offset =
      static_cast<Int128>(line.columns->start_ps[event]) + line.shift_ps - options_.window_start_ps;
  return static_cast<size_t>(std::clamp<Int128>(offset * kParts / window, 0, kParts - 1));
}

// As SearchRow where events have to be asked: each once.
void EventSearch::SearchAsking(const SearchLine& line, uint32_t first, uint32_t last,
                               std::span<uint8_t> used) {
  const LineColumns& columns = *line.columns;
  bool full = options_.limit == 0;
  for (uint32_t e = first; e < last; ++e) {
    const uint32_t name = columns.name[e];
    const uint8_t match = line.matches[name];
    if (match == 0 || (match == SearchLine::kAsk && !line.decides(e))) continue;
    ++result_.total;
    ++result_.density[PartOf(line, e)];
    if (!used.empty()) used[name] = 1;
    const FoundEvent hit{.start_ps = SaturatingAdd(columns.start_ps[e], line.shift_ps),
                         .duration_ps = columns.duration_ps[e],
                         .host = line.host,
                         .plane = line.plane,
                         .line = line.line,
                         .event = e};
    if (options_.near) NoteNear(hit);
    if (!full) full = !Offer(hit);
  }
}

// LookAround for one hit.
void EventSearch::NoteNear(const FoundEvent& hit) {
  const FoundEvent& near = options_.near->at;
  const bool is_before = Earlier(hit, near);
  if (!is_before && options_.near->is_event && !Earlier(near, hit)) {
    result_.is_hit = true;
  } else if (is_before) {
    if (!result_.previous || Earlier(*result_.previous, hit)) result_.previous = hit;
  } else if (!result_.next || Earlier(hit, *result_.next)) {
    result_.next = hit;
  }
}

void EventSearch::SearchRow(const SearchLine& line, uint32_t first, uint32_t last,
                            std::span<uint8_t> used) {
  const LineColumns& columns = *line.columns;
  // Hits first, until the rest of the row is later than all that are kept.
  bool full = options_.limit == 0;
  for (uint32_t e = first; e < last && !full; ++e) {
    if (line.matches[columns.name[e]] == 0) continue;
    full = !Offer({.start_ps = SaturatingAdd(columns.start_ps[e], line.shift_ps),
                   .duration_ps = columns.duration_ps[e],
                   .host = line.host,
                   .plane = line.plane,
                   .line = line.line,
                   .event = e});
  }
  // Then counts: the borders of the parts are found by search, so no event is divided.
  const Int128 window =
      std::max<Int128>(1, static_cast<Int128>(options_.window_end_ps) - options_.window_start_ps);
  uint32_t e = first;
  while (e < last) {
    const Int128 offset =
        static_cast<Int128>(columns.start_ps[e]) + line.shift_ps - options_.window_start_ps;
    const Int128 part = std::clamp<Int128>(offset * kParts / window, 0, kParts - 1);
    uint32_t next = last;
    if (part < kParts - 1) {
      const Int128 next_start = ((part + 1) * window + kParts - 1) / kParts;
      const Int128 border = next_start + options_.window_start_ps - line.shift_ps;
      constexpr Int128 kMax = std::numeric_limits<int64_t>::max();
      next = FirstStartingAt(columns, e, last, static_cast<int64_t>(std::min(border, kMax)));
      next = std::max(next, e + 1);
    }
    const uint64_t count = CountPart(line, e, next, used);
    result_.density[static_cast<size_t>(part)] += count;
    result_.total += count;
    e = next;
  }
}

uint64_t EventSearch::CountPart(const SearchLine& line, uint32_t first, uint32_t last,
                                std::span<uint8_t> used) {
  const uint32_t* name = line.columns->name.data();
  const uint8_t* matches = line.matches.data();
  uint64_t count = 0;
  if (used.empty()) {
    for (uint32_t e = first; e < last; ++e) count += matches[name[e]];
    return count;
  }
  uint8_t* used_names = used.data();
  for (uint32_t e = first; e < last; ++e) {
    const uint8_t match = matches[name[e]];
    count += match;
    if (match != 0) used_names[name[e]] = 1;
  }
  return count;
}

EventSearchResult EventSearch::Finish() {
  std::sort_heap(heap_.begin(), heap_.end(), Earlier);
  result_.hits = std::move(heap_);
  heap_.clear();
  return std::move(result_);
}

}  // namespace strobe::timeline
