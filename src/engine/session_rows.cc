// The events that a row of a tool's table is about.
#include <algorithm>

#include "src/engine/opened_session.h"
#include "src/engine/parallel.h"
#include "src/timeline/rows.h"
#include "src/xplane/stat_names.h"

namespace strobe::engine {
namespace {

using tools::RowSubject;
using xplane::LineColumns;
using xplane::Plane;
using xplane::ProfileFile;
using xplane::Stat;

// Framework ops are written as "jit(f)/dot_general:" or "name:Type"; rows have the name alone.
std::string_view WithoutType(std::string_view op) { return op.substr(0, op.find(':')); }

std::string_view TextOf(const std::vector<Stat>& stats, std::string_view name) {
  for (const Stat& stat : stats) {
    if (stat.name == name) return stat.text;
  }
  return {};
}

std::optional<uint64_t> ProgramOf(const std::vector<Stat>& stats) {
  for (const Stat& stat : stats) {
    if (stat.name == "program_id") return static_cast<uint64_t>(stat.IntOrUint());
  }
  return std::nullopt;
}

// "a::b::fusion.3": kernels of a graph carry the path to their op.
bool NamesOp(std::string_view stat, std::string_view op) {
  return stat == op || (stat.size() > op.size() + 2 && stat.ends_with(op) &&
                        stat.substr(stat.size() - op.size() - 2, 2) == "::");
}

// What is known of the events of one name, before any event is looked at.
struct NameMatch {
  std::vector<uint8_t> op;         // by event metadata: it is the op by name
  std::vector<uint8_t> framework;  // by event metadata: its tf_op is the framework op
  std::vector<uint8_t> program;    // by event metadata: 0 not known, 1 the same, 2 another
  bool any_op = false;
  bool any_framework = false;
};

NameMatch MatchNames(const ProfileFile& file, size_t p, const RowSubject& subject) {
  const Plane& plane = file.planes()[p];
  const size_t count = plane.event_metadata.size();
  NameMatch match{.op = std::vector<uint8_t>(count),
                  .framework = std::vector<uint8_t>(count),
                  .program = std::vector<uint8_t>(count)};
  const bool wants_stats = (!subject.framework_op.empty() && xplane::KnowsStat(plane, "tf_op")) ||
                           (subject.hlo_module_id != 0 && xplane::KnowsStat(plane, "program_id"));
  for (uint32_t m = 0; m < count; ++m) {
    const xplane::EventMetadata& metadata = plane.event_metadata[m];
    if (!metadata.present) continue;
    if (!subject.op_name.empty()) {
      match.op[m] = metadata.label() == subject.op_name || metadata.name == subject.op_name;
      match.any_op |= match.op[m] != 0;
    }
    const bool relevant = subject.op_name.empty() || match.op[m] != 0;
    if (!relevant) continue;
    const std::vector<Stat> stats = wants_stats ? file.MetadataStats(p, m) : std::vector<Stat>();
    if (!subject.framework_op.empty()) {
      // An op that no framework op stands behind goes by its own name.
      const std::string_view framework = WithoutType(TextOf(stats, "tf_op"));
      match.framework[m] = framework.empty() ? metadata.label() == subject.framework_op
                                             : framework == WithoutType(subject.framework_op);
      match.any_framework |= match.framework[m] != 0;
    }
    const std::optional<uint64_t> program = ProgramOf(stats);
    if (program && subject.hlo_module_id != 0) {
      match.program[m] = *program == subject.hlo_module_id ? 1 : 2;
    }
  }
  return match;
}

// Which events of one line the subject means; empty: none.
std::vector<uint8_t> MatchLine(const ProfileFile& file, size_t p, size_t l, const NameMatch& names,
                               const RowSubject& subject) {
  const LineColumns& columns = file.Line(p, l);
  std::vector<uint8_t> wanted(columns.event_count());
  const bool by_name = names.any_op || names.any_framework;
  for (size_t e = 0; e < wanted.size(); ++e) {
    const uint32_t name = columns.name[e];
    const bool fits = subject.op_name.empty() ? names.framework[name] != 0 : names.op[name] != 0;
    wanted[e] = fits && names.program[name] != 2;
  }
  // Where names say nothing, the events' own stats do (kernels, thunks).
  if (!by_name) {
    const std::string_view stat_name = subject.op_name.empty() ? "tf_op" : "hlo_op";
    const std::string_view text = subject.op_name.empty() ? WithoutType(subject.framework_op)
                                                          : std::string_view(subject.op_name);
    if (!xplane::KnowsStat(file.planes()[p], stat_name)) return {};
    const std::vector<Stat> column = file.EventStatColumn(p, l, stat_name);
    for (size_t e = 0; e < std::min(wanted.size(), column.size()); ++e) {
      const std::string_view value =
          subject.op_name.empty() ? WithoutType(column[e].text) : column[e].text;
      wanted[e] = !value.empty() && NamesOp(value, text);
    }
  }
  if (std::ranges::find(wanted, 1) == wanted.end()) return {};
  if (subject.hlo_module_id == 0 || !xplane::KnowsStat(file.planes()[p], "program_id"))
    return wanted;
  const std::vector<Stat> programs = file.EventStatColumn(p, l, "program_id");
  for (size_t e = 0; e < std::min(wanted.size(), programs.size()); ++e) {
    if (programs[e].type == xplane::StatType::kNone) continue;
    wanted[e] &= static_cast<uint64_t>(programs[e].IntOrUint()) == subject.hlo_module_id;
  }
  return wanted;
}

// The best `limit` of many, by time or by length.
class Best {
 public:
  Best(size_t limit, bool longest) : limit_(limit), longest_(longest) {}
  void Add(SearchHit hit) {
    if (limit_ == 0) return;
    if (hits_.size() < limit_) {
      hits_.push_back(std::move(hit));
      std::ranges::push_heap(hits_, order());
      return;
    }
    if (!order()(hit, hits_.front())) return;
    std::ranges::pop_heap(hits_, order());
    hits_.back() = std::move(hit);
    std::ranges::push_heap(hits_, order());
  }
  std::vector<SearchHit> Take() {
    std::ranges::sort_heap(hits_, order());
    return std::move(hits_);
  }

 private:
  std::function<bool(const SearchHit&, const SearchHit&)> order() const {
    const auto place = [](const SearchHit& hit) {
      return std::tuple(hit.start_ps, hit.event.host, hit.event.plane, hit.event.line,
                        hit.event.event);
    };
    if (!longest_) {
      return [place](const SearchHit& a, const SearchHit& b) { return place(a) < place(b); };
    }
    return [place](const SearchHit& a, const SearchHit& b) {
      if (a.duration_ps != b.duration_ps) return a.duration_ps > b.duration_ps;
      return place(a) < place(b);
    };
  }

  const size_t limit_;
  const bool longest_;
  std::vector<SearchHit> hits_;
};

}  // namespace

// Groups of one host's line; nullptr when the row is not about a step.
Result<const analysis::PreparedPlane*> SessionState::GroupsOf(
    const RowSubject& subject, size_t host, size_t plane, const CancelToken& cancel,
    std::shared_ptr<const analysis::PreparedHost>* prepared) {
  if (subject.step < 0) return nullptr;
  if (*prepared == nullptr) {
    STROBE_ASSIGN_OR_RETURN(*prepared, ToolInputs()->Prepared(host, cancel));
  }
  return &(*prepared)->planes()[plane];
}

Result<SubjectEvents> SessionState::EventsOfSubject(const RowSubject& subject,
                                                    const SubjectQuery& query,
                                                    const CancelToken& cancel) {
  SubjectEvents found;
  const bool by_step_only =
      subject.op_name.empty() && subject.framework_op.empty() && subject.step >= 0;
  if (subject.op_name.empty() && subject.framework_op.empty() && !by_step_only) {
    found.reason = "The row is about nothing that has events of its own.";
    return found;
  }
  STROBE_RETURN_IF_ERROR(DecodeHosts(query.hosts, cancel));
  Best best(query.limit, query.longest_first);
  for (const size_t h : query.hosts) {
    const HostState& host = hosts_[h];
    if (host.profile == nullptr) continue;
    if (!subject.host.empty() && host.file.host != subject.host) continue;
    std::shared_ptr<const analysis::PreparedHost> prepared;
    for (const uint32_t p : host.planes) {
      const Plane& plane = host.profile->planes()[p];
      const NameMatch names = by_step_only ? NameMatch() : MatchNames(*host.profile, p, subject);
      STROBE_ASSIGN_OR_RETURN(const analysis::PreparedPlane* const groups,
                              GroupsOf(subject, h, p, cancel, &prepared));
      for (const uint32_t l : host.views[p]->order) {
        STROBE_RETURN_IF_ERROR(cancel.Check());
        const bool steps =
            analysis::ClassifyLine(analysis::ClassifyPlane(plane.name), plane.lines[l].name) ==
            analysis::LineKind::kSteps;
        if (analysis::IsDerivedLine(plane, plane.lines[l]) && !(by_step_only && steps)) continue;
        if (by_step_only && !steps) continue;
        const LineColumns& columns = host.profile->Line(p, l);
        std::vector<uint8_t> wanted = by_step_only ? std::vector<uint8_t>(columns.event_count(), 1)
                                                   : MatchLine(*host.profile, p, l, names, subject);
        for (uint32_t e = 0; e < wanted.size(); ++e) {
          if (wanted[e] == 0) continue;
          const bool grouped =
              groups != nullptr && l < groups->lines.size() && groups->lines[l].from_file;
          if (grouped && groups->lines[l].GroupOf(e) != subject.step) continue;
          ++found.total;
          found.total_duration_ps += columns.duration_ps[e];
          best.Add({.event = {static_cast<uint32_t>(h), p, l, e},
                    .name = {},
                    .start_ps = timeline::SaturatingAdd(columns.start_ps[e], host.shift_ps),
                    .duration_ps = columns.duration_ps[e]});
        }
      }
    }
  }
  found.events = best.Take();
  found.truncated = found.total > found.events.size();
  for (SearchHit& hit : found.events) {
    const ProfileFile& profile = *hosts_[hit.event.host].profile;
    const uint32_t name = profile.Line(hit.event.plane, hit.event.line).name[hit.event.event];
    hit.name = profile.planes()[hit.event.plane].event_metadata[name].label();
  }
  if (found.total == 0) found.reason = "No event of the profile carries the name of this row.";
  STROBE_RETURN_IF_ERROR(CheckColumns());
  return found;
}

}  // namespace strobe::engine
