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
    SortIfNeeded();
    const auto middle = static_cast<ptrdiff_t>(active.size());
    active.insert(active.end(), other.active.begin(), other.active.end());
    if (std::ranges::is_sorted(other.active, {}, &Stretch::start_ps)) {
      std::ranges::inplace_merge(active, active.begin() + middle, {}, &Stretch::start_ps);
    }
  }

  // One line's stretches come in order, so that there is seldom anything to sort.
  void SortIfNeeded() {
    if (!std::ranges::is_sorted(active, {}, &Stretch::start_ps)) {
      std::ranges::sort(active, {}, &Stretch::start_ps);
    }
  }

  void AddTotal(uint64_t* busy_sum_ps, uint64_t* idle_sum_ps) {
    if (first_ps > last_ps) return;
    uint64_t busy_ps = 0;
    SortIfNeeded();
    int64_t reached = std::numeric_limits<int64_t>::min();
    for (const Stretch& stretch : active) {
      const int64_t from = std::max(stretch.start_ps, reached);
      if (stretch.end_ps <= from) continue;
      busy_ps += static_cast<uint64_t>(stretch.end_ps - from);
      reached = stretch.end_ps;
    }
    *busy_sum_ps += busy_ps;
    *idle_sum_ps += static_cast<uint64_t>(last_ps - first_ps) - busy_ps;
  }
};

// The plain duty cycle, and the one of high confidence.
struct Trackers {
  Tracker plain;
  Tracker confident;

  void AddAll(const Trackers& other) {
    plain.AddAll(other.plain);
    confident.AddAll(other.confident);
  }
  void AddTotal(DutyCycle* duty) {
    plain.AddTotal(&duty->busy_ps, &duty->idle_ps);
    confident.AddTotal(&duty->busy_high_confidence_ps, &duty->idle_high_confidence_ps);
  }
};

enum Duty : uint8_t { kOnDuty, kOffDuty, kUncertain };

bool IsUncertain(const std::vector<xplane::Stat>& stats) {
  const auto is_zero = [&](std::string_view name) {
    const xplane::Stat* stat = FindStat(stats, name);
    return stat == nullptr || stat->IntOrUint() == 0;
  };
  return is_zero("flops") && is_zero("model_flops") && is_zero("uses_ici");
}

// By metadata entry.
std::vector<uint8_t> DutyOfEntries(const xplane::ProfileFile& file, size_t plane) {
  const size_t count = file.planes()[plane].event_metadata.size();
  std::vector<uint8_t> duty(count, kOnDuty);
  for (uint32_t entry = 0; entry + 1 < count; ++entry) {
    const std::vector<xplane::Stat> stats = file.MetadataStats(plane, entry);
    const xplane::Stat* category = FindStat(stats, "hlo_category");
    if (category == nullptr) continue;
    if (IsOffDutyCategory(category->text)) duty[entry] = kOffDuty;
    if (category->text == "custom-call" && IsUncertain(stats)) duty[entry] = kUncertain;
  }
  return duty;
}

void AddLine(const xplane::LineColumns& line, bool active, const std::vector<uint8_t>* duty,
             Trackers* trackers) {
  ForEachInOrder(line, [&](uint32_t event) {
    const uint8_t of_op = duty == nullptr ? uint8_t{kOnDuty} : (*duty)[line.name[event]];
    const int64_t start_ps = line.start_ps[event];
    const int64_t end_ps = EventEnd(line, event);
    trackers->plain.Add(start_ps, end_ps, active && of_op != kOffDuty);
    trackers->confident.Add(start_ps, end_ps, active && of_op == kOnDuty);
  });
}

void AddPlane(const xplane::ProfileFile& file, size_t plane, Trackers* trackers) {
  const xplane::Plane& described = file.planes()[plane];
  for (size_t l = 0; l < described.lines.size(); ++l) {
    const std::string_view name = described.lines[l].name;
    const bool ops = name == "XLA Ops";
    const bool sparse_ops = name == "Sparse Core Ops";
    if (!ops && !sparse_ops && name != "XLA Modules" && name != "Sparse Core Modules") continue;
    const std::vector<uint8_t> duty = ops ? DutyOfEntries(file, plane) : std::vector<uint8_t>();
    AddLine(file.Line(plane, l), ops || sparse_ops, ops ? &duty : nullptr, trackers);
  }
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
  std::vector<Trackers> of_planes(planes.size());
  STROBE_RETURN_IF_ERROR(ForEachPiece(host.parallel(), planes.size(), [&](size_t i) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    AddPlane(host.file(), planes[i], &of_planes[i]);
    return OkStatus();
  }));
  std::map<uint32_t, Trackers> chips;
  std::vector<Trackers> alone;
  for (size_t i = 0; i < planes.size(); ++i) {
    const auto core = cores.find(static_cast<uint32_t>(host.file().planes()[planes[i]].id));
    if (core == cores.end()) {
      alone.push_back(std::move(of_planes[i]));
    } else {
      chips[core->second.local_chip_id].AddAll(of_planes[i]);
    }
  }
  DutyCycle all;
  for (auto& [chip, trackers] : chips) trackers.AddTotal(&all);
  for (Trackers& trackers : alone) trackers.AddTotal(&all);
  return all;
}

}  // namespace strobe::analysis
