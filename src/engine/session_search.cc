// Search over all events of an opened session: by name, or by an expression.
#include <algorithm>

#include "src/engine/opened_session.h"
#include "src/timeline/rows.h"
#include "src/timeline/search.h"
#include "src/timeline/search_expression.h"

namespace strobe::engine {
namespace {

using timeline::EventSearch;
using timeline::FoundEvent;

// Names that have a hit, each once however many planes and metadata entries have it.
void NoteUsed(const xplane::Plane& plane, const std::vector<uint8_t>& used,
              std::set<std::string_view>* names) {
  for (size_t n = 0; n < used.size(); ++n) {
    if (used[n] != 0) names->insert(plane.event_metadata[n].label());
  }
}

}  // namespace

SearchHit SessionState::DescribeHit(const FoundEvent& hit) const {
  const analysis::EventRef ref{hit.host, hit.plane, hit.line, hit.event};
  return {.event = ref,
          .name = NameOfEvent(ref),
          .start_ps = hit.start_ps,
          .duration_ps = hit.duration_ps};
}

Status SessionState::SearchNames(const timeline::NamePattern& pattern, EventSearch* search,
                                 std::set<std::string_view>* names, const CancelToken& cancel) {
  for (uint32_t h = 0; h < hosts_.size(); ++h) {
    const HostState& host = hosts_[h];
    for (const uint32_t p : host.planes) {
      const xplane::Plane& plane = host.profile->planes()[p];
      const std::vector<uint8_t> matches = pattern.Match(plane.event_metadata);
      if (std::ranges::find(matches, 1) == matches.end()) continue;
      std::vector<uint8_t> used(matches.size());
      for (const uint32_t l : host.views[p]->order) {
        STROBE_RETURN_IF_ERROR(search->AddLine({.host = h,
                                                .plane = p,
                                                .line = l,
                                                .shift_ps = host.shift_ps,
                                                .columns = &host.profile->Line(p, l),
                                                .matches = matches},
                                               used, cancel));
      }
      NoteUsed(plane, used, names);
    }
  }
  return OkStatus();
}

Status SessionState::SearchExpressions(const timeline::SearchExpression& expression,
                                       EventSearch* search, std::set<std::string_view>* names,
                                       const CancelToken& cancel) {
  for (uint32_t h = 0; h < hosts_.size(); ++h) {
    const HostState& host = hosts_[h];
    for (const uint32_t p : host.planes) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      const timeline::PlaneSearch plane(expression, *host.profile, p, host.file.host);
      if (plane.hopeless()) continue;
      const xplane::Plane& described = host.profile->planes()[p];
      std::vector<uint8_t> used(described.event_metadata.size());
      for (const uint32_t l : host.views[p]->order) {
        STROBE_RETURN_IF_ERROR(cancel.Check());
        const timeline::LineSearch line(plane, l);
        if (!line.any()) continue;
        timeline::SearchLine searched{.host = h,
                                      .plane = p,
                                      .line = l,
                                      .shift_ps = host.shift_ps,
                                      .columns = &host.profile->Line(p, l),
                                      .matches = line.matches()};
        if (line.asks()) searched.decides = [&line](uint32_t event) { return line.Decides(event); };
        STROBE_RETURN_IF_ERROR(search->AddLine(searched, used, cancel));
      }
      NoteUsed(described, used, names);
    }
  }
  return OkStatus();
}

Result<SearchResult> SessionState::Search(const SearchQuery& query, const CancelToken& cancel) {
  std::optional<timeline::NamePattern> pattern;
  std::optional<timeline::SearchExpression> expression;
  if (query.expression) {
    STROBE_ASSIGN_OR_RETURN(expression, timeline::SearchExpression::Parse(query.text));
  } else {
    STROBE_ASSIGN_OR_RETURN(pattern, timeline::NamePattern::Parse(query.text));
  }
  STROBE_RETURN_IF_ERROR(DecodeAll(cancel));
  const analysis::TimeWindow window = Window();
  timeline::EventSearchOptions options{.limit = query.limit,
                                       .window_start_ps = window.start_ps,
                                       .window_end_ps = window.end_ps,
                                       .from_ps = query.from_ps,
                                       .to_ps = query.to_ps};
  const bool wants_near = query.near || query.near_ps;
  if (query.near) {
    STROBE_RETURN_IF_ERROR(CheckEvent(*query.near));
    const HostState& host = hosts_[query.near->host];
    const xplane::LineColumns& columns = host.profile->Line(query.near->plane, query.near->line);
    options.near = timeline::EventSearchOptions::Near{
        .at = {.start_ps =
                   timeline::SaturatingAdd(columns.start_ps[query.near->event], host.shift_ps),
               .duration_ps = columns.duration_ps[query.near->event],
               .host = query.near->host,
               .plane = query.near->plane,
               .line = query.near->line,
               .event = query.near->event},
        .is_event = true};
  } else if (query.near_ps) {
    options.near =
        timeline::EventSearchOptions::Near{.at = {.start_ps = *query.near_ps}, .is_event = false};
  }
  EventSearch search(options);
  std::set<std::string_view> names;
  STROBE_RETURN_IF_ERROR(expression ? SearchExpressions(*expression, &search, &names, cancel)
                                    : SearchNames(*pattern, &search, &names, cancel));
  timeline::EventSearchResult found = search.Finish();
  SearchResult result;
  result.total = found.total;
  result.names = names.size();
  result.truncated = found.total > found.hits.size();
  result.density = std::move(found.density);
  for (const FoundEvent& hit : found.hits) result.hits.push_back(DescribeHit(hit));
  if (wants_near) {
    SearchNear near{.rank = found.rank, .is_hit = found.is_hit};
    if (found.previous) near.previous = DescribeHit(*found.previous);
    if (found.next) near.next = DescribeHit(*found.next);
    result.near = std::move(near);
  }
  STROBE_RETURN_IF_ERROR(CheckColumns());
  return result;
}

}  // namespace strobe::engine
