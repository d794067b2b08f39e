#include "src/analysis/duty_cycle.h"

#include <algorithm>
#include <array>
#include <limits>

#include "src/analysis/line_order.h"
#include "src/analysis/nesting.h"
#include "src/analysis/op_totals.h"

namespace strobe::analysis {
namespace {

struct Stretch {
  int64_t start_ps;
  int64_t end_ps;
};

struct Tracker {
  std::vector<Stretch> active;
  int64_t first_ps = std::numeric_limits<int64_t>::max();
  int64_t last_ps = std::numeric_limits<int64_t>::min();

  void Add(int64_t start_ps, int64_t end_ps, bool is_active) {
    first_ps = std::min(first_ps, start_ps);
    last_ps = std::max(last_ps, end_ps);
    if (!is_active) return;
    // In time order but for the change of lines, so most fall into the last stretch.
    if (!active.empty() && start_ps >= active.back().start_ps && start_ps <= active.back().end_ps) {
      active.back().end_ps = std::max(active.back().end_ps, end_ps);
    } else {
      active.push_back({start_ps, end_ps});
    }
  }

  void AddAll(const Tracker& other) {
    first_ps = std::min(first_ps, other.first_ps);
    last_ps = std::max(last_ps, other.last_ps);
    active.insert(active.end(), other.active.begin(), other.active.end());
  }

  DutyCycle Total() {
    DutyCycle duty;
    if (first_ps > last_ps) return duty;
    std::ranges::sort(active, {}, &Stretch::start_ps);
    int64_t reached = std::numeric_limits<int64_t>::min();
    for (const Stretch& stretch : active) {
      const int64_t from = std::max(stretch.start_ps, reached);
      if (stretch.end_ps <= from) continue;
      duty.busy_ps += static_cast<uint64_t>(stretch.end_ps - from);
      reached = stretch.end_ps;
    }
    duty.idle_ps = static_cast<uint64_t>(last_ps - first_ps) - duty.busy_ps;
    return duty;
  }
};

// By metadata entry: 1 when its category is off duty.
std::vector<uint8_t> OffDutyEntries(const xplane::ProfileFile& file, size_t plane) {
  const size_t count = file.planes()[plane].event_metadata.size();
  std::vector<uint8_t> off(count, 0);
  for (uint32_t entry = 0; entry + 1 < count; ++entry) {
    const std::vector<xplane::Stat> stats = file.MetadataStats(plane, entry);
    const xplane::Stat* category = FindStat(stats, "hlo_category");
    off[entry] = category != nullptr && IsOffDutyCategory(category->text);
  }
  return off;
}

void AddLine(const xplane::LineColumns& line, bool active, const std::vector<uint8_t>* off,
             Tracker* tracker) {
  ForEachInOrder(line, [&](uint32_t event) {
    const bool on_duty = active && (off == nullptr || (*off)[line.name[event]] == 0);
    tracker->Add(line.start_ps[event], EventEnd(line, event), on_duty);
  });
}

}  // namespace

bool IsOffDutyCategory(std::string_view category) {
  constexpr std::array<std::string_view, 8> kOffDuty = {
      "infeed",    "outfeed",        "host send",  "host send-done",
      "host recv", "host recv-done", "async-done", "megacore fusion"};
  return std::ranges::find(kOffDuty, category) != kOffDuty.end();
}

Result<DutyCycle> DutyCycleOf(const PreparedHost& host, std::span<const size_t> planes,
                              const std::map<uint32_t, CoreDetails>& cores,
                              const CancelToken& cancel) {
  std::map<uint32_t, Tracker> chips;
  std::vector<Tracker> alone;
  for (const size_t plane : planes) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    Tracker tracker;
    const xplane::Plane& described = host.file().planes()[plane];
    for (size_t l = 0; l < described.lines.size(); ++l) {
      const std::string_view name = described.lines[l].name;
      const bool ops = name == "XLA Ops";
      const bool sparse_ops = name == "Sparse Core Ops";
      if (!ops && !sparse_ops && name != "XLA Modules" && name != "Sparse Core Modules") continue;
      const std::vector<uint8_t> off =
          ops ? OffDutyEntries(host.file(), plane) : std::vector<uint8_t>();
      AddLine(host.file().Line(plane, l), ops || sparse_ops, ops ? &off : nullptr, &tracker);
    }
    const auto core = cores.find(static_cast<uint32_t>(described.id));
    if (core == cores.end()) {
      alone.push_back(std::move(tracker));
    } else {
      chips[core->second.local_chip_id].AddAll(tracker);
    }
  }
  DutyCycle all;
  const auto add = [&all](Tracker& tracker) {
    const DutyCycle duty = tracker.Total();
    all.busy_ps += duty.busy_ps;
    all.idle_ps += duty.idle_ps;
  };
  for (auto& [chip, tracker] : chips) add(tracker);
  for (Tracker& tracker : alone) add(tracker);
  return all;
}

}  // namespace strobe::analysis
