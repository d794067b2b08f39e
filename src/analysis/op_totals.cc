#include "src/analysis/op_totals.h"

#include <algorithm>

#include "src/analysis/nesting.h"

namespace strobe::analysis {
namespace {

using xplane::LineColumns;

// Sums of a hostile profile wrap instead of overflowing.
void Add(int64_t* sum, int64_t more) {
  *sum = static_cast<int64_t>(static_cast<uint64_t>(*sum) + static_cast<uint64_t>(more));
}

}  // namespace

const xplane::Stat* FindStat(const std::vector<xplane::Stat>& stats, std::string_view name) {
  for (const xplane::Stat& stat : stats) {
    if (stat.name == name) return &stat;
  }
  return nullptr;
}

void OpTotals::AddLine(const xplane::ProfileFile& file, uint32_t host, uint32_t plane,
                       uint32_t line, const std::vector<uint8_t>* names) {
  const LineColumns& columns = file.Line(plane, line);
  const std::vector<xplane::EventMetadata>& metadata = file.planes()[plane].event_metadata;
  std::vector<Total> by_name(metadata.size());
  for (const LineColumns::Row& row : columns.timed_rows()) {
    for (uint32_t e = row.first; e < row.first + row.count; ++e) {
      Total& total = by_name[columns.name[e]];
      const int64_t duration_ps = columns.duration_ps[e];
      ++total.count;
      Add(&total.total_ps, duration_ps);
      Add(&total.self_ps, duration_ps);
      if (duration_ps > total.longest_ps) {
        total.longest_ps = duration_ps;
        total.longest.event = e;
      }
    }
  }
  const auto counts = [names](uint32_t name) { return names == nullptr || (*names)[name] != 0; };
  ForEachNested(columns, [&](uint32_t parent, uint32_t child) {
    // What does not count leaves its time to whatever it lies in.
    if (!counts(columns.name[child])) return;
    Add(&by_name[columns.name[parent]].self_ps, -columns.duration_ps[child]);
  });
  for (uint32_t name = 0; name < by_name.size(); ++name) {
    const Total& part = by_name[name];
    if (part.count == 0 || !counts(name)) continue;
    Total& total = totals_[metadata[name].label()];
    total.count += part.count;
    Add(&total.total_ps, part.total_ps);
    Add(&total.self_ps, part.self_ps);
    Add(&self_ps_, part.self_ps);
    if (part.longest_ps > total.longest_ps) {
      total.longest_ps = part.longest_ps;
      total.longest = {host, plane, line, part.longest.event};
    }
  }
}

std::vector<OpSummary> OpTotals::Top(const std::vector<HostInput>& hosts, size_t limit) const {
  using Entry = std::pair<std::string_view, const Total*>;
  std::vector<Entry> order;
  order.reserve(totals_.size());
  for (const auto& [name, total] : totals_) order.emplace_back(name, &total);
  const size_t shown = std::min(limit, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(shown), order.end(),
                    [](const Entry& a, const Entry& b) {
                      if (a.second->self_ps != b.second->self_ps) {
                        return a.second->self_ps > b.second->self_ps;
                      }
                      return a.first < b.first;
                    });
  std::vector<OpSummary> top;
  for (size_t i = 0; i < shown; ++i) {
    const auto& [name, total] = order[i];
    const EventRef& ref = total->longest;
    const xplane::ProfileFile& file = *hosts[ref.host].file;
    const xplane::Plane& plane = file.planes()[ref.plane];
    const uint32_t metadata = file.Line(ref.plane, ref.line).name[ref.event];
    const std::vector<xplane::Stat> metadata_stats = file.MetadataStats(ref.plane, metadata);
    const std::vector<xplane::Stat> event_stats = file.EventStats(ref.plane, ref.line, ref.event);
    const auto text_of = [&](std::string_view stat_name) {
      const xplane::Stat* stat = FindStat(event_stats, stat_name);
      if (stat == nullptr) stat = FindStat(metadata_stats, stat_name);
      return stat == nullptr ? std::string() : std::string(stat->text);
    };
    OpSummary op;
    op.name = name;
    op.hlo_category = text_of("hlo_category");
    const PlaneKind kind = ClassifyPlane(plane.name);
    op.category =
        CategorizeOp(kind, ClassifyLine(kind, plane.lines[ref.line].name), name, op.hlo_category);
    op.count = total->count;
    op.total_ps = total->total_ps;
    op.self_ps = total->self_ps;
    op.share = self_ps_ > 0 ? static_cast<double>(op.self_ps) / static_cast<double>(self_ps_) : 0;
    op.source = text_of("source");
    op.longest = ref;
    top.push_back(std::move(op));
  }
  return top;
}

std::vector<uint8_t> CategoriesOf(const xplane::ProfileFile& file, size_t plane, LineKind kind) {
  const xplane::Plane& of = file.planes()[plane];
  const PlaneKind plane_kind = ClassifyPlane(of.name);
  const bool has_categories =
      plane_kind == PlaneKind::kDevice &&
      std::any_of(of.stat_metadata.begin(), of.stat_metadata.end(),
                  [](const xplane::StatMetadata& stat) { return stat.name == "hlo_category"; });
  std::vector<uint8_t> categories(of.event_metadata.size());
  for (uint32_t m = 0; m < categories.size(); ++m) {
    std::string_view hlo_category;
    if (has_categories) {
      const std::vector<xplane::Stat> stats = file.MetadataStats(plane, m);
      if (const xplane::Stat* stat = FindStat(stats, "hlo_category")) hlo_category = stat->text;
    }
    categories[m] = static_cast<uint8_t>(
        CategorizeOp(plane_kind, kind, of.event_metadata[m].label(), hlo_category));
  }
  return categories;
}

}  // namespace strobe::analysis
