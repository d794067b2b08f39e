#include "src/analysis/derived_line.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "src/analysis/event_order.h"
#include "src/analysis/tf_op_name.h"

namespace strobe::analysis {
namespace {

constexpr int64_t kPicosecondsPerNanosecond = 1000;

// What viewers call a framework op: its type, so that ops of one type share a colour.
std::string FrameworkOpLabel(const FrameworkOp& op) {
  if (op.category == FrameworkCategory::kUnknown) {
    const size_t end = op.name.find_last_not_of(" \t\n\v\f\r");
    return std::string(op.name.substr(0, end == std::string_view::npos ? 0 : end + 1));
  }
  if (op.category == FrameworkCategory::kTfData) {
    const size_t last = op.name.rfind("::");
    const std::string_view tail =
        last == std::string_view::npos ? op.name : op.name.substr(last + 2);
    return "Iterator::" + std::string(tail);
  }
  return std::string(op.type);
}

}  // namespace

bool IsDerivedId(int64_t line_id) {
  const auto id = static_cast<int32_t>(line_id);
  return id >= kDerivedIdBase && id <= kLastStreamLinesId;
}

uint32_t DerivedNames::Find(std::string_view text) {
  const auto [place, is_new] = by_text_.try_emplace(text, static_cast<uint32_t>(names_->size()));
  if (is_new) names_->push_back({text, {}});
  return place->second;
}

uint32_t DerivedNames::FindCopy(std::string_view text) {
  const auto known = by_text_.find(text);
  return known != by_text_.end() ? known->second : Find(texts_.emplace_back(text));
}

void DerivedNames::SetDisplay(uint32_t name, std::string_view text) {
  if (!has_display(name)) (*names_)[name].display = texts_.emplace_back(text);
}

void DerivedLine::Expand(uint32_t name, TimeSpan span, int64_t group,
                         std::optional<int64_t> scope) {
  ExpandLevel(0, name, span, group, scope);
}

void DerivedLine::Expand(std::span<const uint32_t> levels, TimeSpan span, int64_t group,
                         std::span<const int64_t> scopes) {
  if (levels.empty()) return;
  for (size_t level = 0; level < levels.size(); ++level) {
    ExpandLevel(level, levels[level], span, group,
                level < scopes.size() ? std::optional(scopes[level]) : std::nullopt);
  }
  Close(levels.size());
}

void DerivedLine::ExpandLevel(size_t level, uint32_t name, TimeSpan span, int64_t group,
                              std::optional<int64_t> scope) {
  if (open_.size() <= level) open_.resize(level + 1);
  const Open last = open_[level];
  const bool same = last.is_open && last.name == name && last.group == group &&
                    (!scope || !last.scope || *scope == *last.scope);
  // Without a group only what follows closely is the same event.
  const bool near =
      same && (is_gpu_ || group != kNoGroup ||
               events_[last.event].span.end_ps + 2 * events_[last.event].span.duration_ps() >=
                   span.start_ps);
  if (near) {
    TimeSpan& known = events_[last.event].span;
    known.start_ps = std::min(known.start_ps, span.start_ps);
    known.end_ps = std::max(known.end_ps, span.end_ps);
    return;
  }
  Close(level);
  open_[level] = {true, static_cast<uint32_t>(events_.size()), name, group, scope};
  events_.push_back({span, name, static_cast<int32_t>(group)});
}

void DerivedLine::Shorten(size_t level) {
  if (level >= open_.size() || !open_[level].is_open) return;
  size_t deepest = level;
  while (deepest + 1 < open_.size() && open_[deepest + 1].is_open) ++deepest;
  if (deepest == level) return;
  const int64_t most_ns =
      events_[open_[deepest].event].span.duration_ps() / kPicosecondsPerNanosecond - 1;
  int64_t shorter_ns = 0;
  std::optional<TimeSpan> outer;
  for (size_t at = level; at <= deepest; ++at) {
    TimeSpan& span = events_[open_[at].event].span;
    if (shorter_ns < most_ns && outer == span) ++shorter_ns;
    outer = span;
    if (shorter_ns > 0) {
      span.end_ps = std::max(span.start_ps, span.end_ps - shorter_ns * kPicosecondsPerNanosecond);
    }
  }
}

void DerivedLine::Close(size_t level) {
  Shorten(level);
  for (size_t at = level; at < open_.size(); ++at) open_[at] = Open();
  if (level > 0) return;
  for (DerivedLine* line : dependents_) line->Close(0);
}

void DerivedLine::SetStat(size_t level, std::string_view name, int64_t value) {
  if (level >= open_.size() || !open_[level].is_open) return;
  std::vector<AddedStat>& stats = stats_[open_[level].event];
  auto stat = std::ranges::find(stats, name, &AddedStat::name);
  if (stat == stats.end()) stat = stats.insert(stats.end(), AddedStat());
  stat->name = name;
  stat->integer = value;
  stat->number = static_cast<double>(value);
}

// Places of the events in order of time; empty when they stand so already, as they most often do.
std::vector<uint32_t> DerivedLine::InOrder() const {
  const auto earlier = [](const Made& left, const Made& right) {
    return left.span.start_ps != right.span.start_ps
               ? left.span.start_ps < right.span.start_ps
               : left.span.duration_ps() > right.span.duration_ps();
  };
  std::vector<uint32_t> order;
  if (std::ranges::is_sorted(events_, earlier)) return order;
  order.resize(events_.size());
  std::iota(order.begin(), order.end(), 0u);
  SortRuns(&order, [&](uint32_t a, uint32_t b) { return earlier(events_[a], events_[b]); });
  return order;
}

PreparedLine DerivedLine::Described(int64_t timestamp_ns) const {
  PreparedLine line;
  line.id = id_;
  line.name = name_;
  line.timestamp_ns = timestamp_ns;
  line.from_file = false;
  line.derived = true;
  return line;
}

PreparedLine DerivedLine::Take(const DerivedNames& names, int64_t timestamp_ns) {
  if (!stats_.empty()) return TakeAdded(names, timestamp_ns);
  PreparedLine line = Described(timestamp_ns);
  const std::vector<uint32_t> order = InOrder();
  line.derived_names = names.all();
  line.derived_events.resize(events_.size());
  for (size_t i = 0; i < events_.size(); ++i) {
    const Made& made = events_[order.empty() ? i : order[i]];
    line.derived_events[i] = {made.span.start_ps, made.span.duration_ps(), made.name, made.group};
  }
  events_ = {};
  return line;
}

PreparedLine DerivedLine::TakeAdded(const DerivedNames& names, int64_t timestamp_ns) {
  PreparedLine line = Described(timestamp_ns);
  const std::vector<uint32_t> order = InOrder();
  line.events.resize(events_.size());
  for (uint32_t i = 0; i < events_.size(); ++i) {
    const uint32_t place = order.empty() ? i : order[i];
    const Made& made = events_[place];
    AddedEvent& event = line.events[i];
    event.name = names.Text(made.name);
    event.display_name = names.Display(made.name);
    event.start_ps = made.span.start_ps;
    event.duration_ps = made.span.duration_ps();
    event.group = made.group;
    const auto stats = stats_.find(place);
    if (stats != stats_.end()) event.stats = std::move(stats->second);
  }
  events_ = {};
  stats_.clear();
  return line;
}

const FrameworkOpLines::Parts& FrameworkOpLines::PartsOf(std::string_view full_name) {
  const auto [place, is_new] = parts_.try_emplace(full_name);
  Parts& parts = place->second;
  if (!is_new) return parts;
  const FrameworkOp op = ParseFrameworkOp(full_name);
  if (op.category == FrameworkCategory::kTensorFlow || op.category == FrameworkCategory::kJax) {
    parts.has_scopes = true;
    for (const std::string_view scope : NameScopes(op.name)) {
      parts.scopes.push_back(names_.Find(scope));
    }
  }
  parts.op = names_.Find(full_name);
  if (!names_.has_display(parts.op)) names_.SetDisplay(parts.op, FrameworkOpLabel(op));
  return parts;
}

void FrameworkOpLines::Expand(std::string_view full_name, TimeSpan span, int64_t group) {
  const Parts& parts = PartsOf(full_name);
  if (parts.has_scopes) scopes_.Expand(parts.scopes, span, group);
  ops_.Expand(parts.op, span, group);
}

void SortPlaneEvents(std::vector<PlaneEvent>* events) {
  // Not stable on purpose: XProf sorts so, and what it derives depends on how ties fall.
  std::sort(events->begin(), events->end(), [](const PlaneEvent& a, const PlaneEvent& b) {
    return a.start_ps != b.start_ps ? a.start_ps < b.start_ps : a.duration_ps < b.duration_ps;
  });
}

void AppendPlaneEvents(const xplane::ProfileFile& file, size_t plane, uint32_t line,
                       std::vector<PlaneEvent>* events) {
  const xplane::LineColumns& columns = file.Line(plane, line);
  const EventOrder order = FileOrder(LineBytes(file, plane, line), columns);
  for (size_t position = 0; position < order.size(); ++position) {
    const uint32_t event = order[position];
    events->push_back({columns.start_ps[event], columns.duration_ps[event], line, event});
  }
}

int64_t PlaneTimestampNs(const xplane::Plane& plane) {
  int64_t earliest = std::numeric_limits<int64_t>::max();
  for (const xplane::Line& line : plane.lines) earliest = std::min(earliest, line.timestamp_ns);
  return plane.lines.empty() ? 0 : earliest;
}

}  // namespace strobe::analysis
