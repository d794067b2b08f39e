#include "src/analysis/duty_cycle.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "src/analysis/line_order.h"
#include "src/analysis/nesting.h"
#include "src/analysis/op_totals.h"

namespace strobe::analysis {
namespace {

struct Stretch {
  int64_t start_ps;
  int64_t end_ps;
};

// The length of the union of stretches that come by their start.
class UnionLength {
 public:
  void Add(int64_t start_ps, int64_t end_ps) {
    const int64_t from = std::max(start_ps, reached_ps_);
    if (end_ps <= from) return;
    length_ps_ += static_cast<uint64_t>(end_ps - from);
    reached_ps_ = end_ps;
  }
  uint64_t length_ps() const { return length_ps_; }

 private:
  int64_t reached_ps_ = std::numeric_limits<int64_t>::min();
  uint64_t length_ps_ = 0;
};

// Where one line alone makes a chip busy its events are added up as they come; where several do,
// their stretches are kept and united at the end.
class Tracker {
 public:
  explicit Tracker(bool keeps) : keeps_(keeps) {}

  void Add(int64_t start_ps, int64_t end_ps, bool is_active) {
    first_ps_ = std::min(first_ps_, start_ps);
    last_ps_ = std::max(last_ps_, end_ps);
    if (!is_active) return;
    if (!keeps_) {
      busy_.Add(start_ps, end_ps);
    } else if (!kept_.empty() && start_ps >= kept_.back().start_ps &&
               start_ps <= kept_.back().end_ps) {
      // In time order but for the change of lines, so most fall into the last stretch.
      kept_.back().end_ps = std::max(kept_.back().end_ps, end_ps);
    } else {
      kept_.push_back({start_ps, end_ps});
    }
  }

  // Both keep.
  void AddAll(const Tracker& other) {
    first_ps_ = std::min(first_ps_, other.first_ps_);
    last_ps_ = std::max(last_ps_, other.last_ps_);
    SortIfNeeded();
    const auto middle = static_cast<ptrdiff_t>(kept_.size());
    kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
    if (std::ranges::is_sorted(other.kept_, {}, &Stretch::start_ps)) {
      std::ranges::inplace_merge(kept_, kept_.begin() + middle, {}, &Stretch::start_ps);
    }
  }

  void AddTotal(uint64_t* busy_sum_ps, uint64_t* idle_sum_ps) {
    if (first_ps_ > last_ps_) return;
    SortIfNeeded();
    for (const Stretch& stretch : kept_) busy_.Add(stretch.start_ps, stretch.end_ps);
    *busy_sum_ps += busy_.length_ps();
    *idle_sum_ps += static_cast<uint64_t>(last_ps_ - first_ps_) - busy_.length_ps();
  }

 private:
  // One line's stretches come in order, so that there is seldom anything to sort.
  void SortIfNeeded() {
    if (!std::ranges::is_sorted(kept_, {}, &Stretch::start_ps)) {
      std::ranges::sort(kept_, {}, &Stretch::start_ps);
    }
  }

  bool keeps_;
  UnionLength busy_;
  std::vector<Stretch> kept_;
  int64_t first_ps_ = std::numeric_limits<int64_t>::max();
  int64_t last_ps_ = std::numeric_limits<int64_t>::min();
};

// The plain duty cycle, and the one of high confidence.
struct Trackers {
  explicit Trackers(bool keeps) : plain(keeps), confident(keeps) {}

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

// Of the op lines those that the duty cycle is taken from.
bool IsDutyLine(std::string_view name) { return name == "XLA Ops" || name == "Sparse Core Ops"; }

size_t OpLinesOf(const xplane::Plane& plane) {
  return static_cast<size_t>(std::ranges::count_if(
      plane.lines, [](const xplane::Line& line) { return IsDutyLine(line.name); }));
}

void AddPlane(const xplane::ProfileFile& file, size_t plane, Trackers* trackers) {
  const xplane::Plane& described = file.planes()[plane];
  for (size_t l = 0; l < described.lines.size(); ++l) {
    const std::string_view name = described.lines[l].name;
    const bool ops = name == "XLA Ops";
    if (!IsDutyLine(name) && name != "XLA Modules" && name != "Sparse Core Modules") continue;
    const std::vector<uint8_t> duty = ops ? DutyOfEntries(file, plane) : std::vector<uint8_t>();
    AddLine(file.Line(plane, l), IsDutyLine(name), ops ? &duty : nullptr, trackers);
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
  const std::vector<xplane::Plane>& described = host.file().planes();
  // By plane of `planes`: its chip, if one is known.
  std::vector<std::optional<uint32_t>> chip_of(planes.size());
  std::map<uint32_t, size_t> planes_of_chip;
  for (size_t i = 0; i < planes.size(); ++i) {
    const auto core = cores.find(static_cast<uint32_t>(described[planes[i]].id));
    if (core == cores.end()) continue;
    chip_of[i] = core->second.local_chip_id;
    ++planes_of_chip[core->second.local_chip_id];
  }
  std::vector<Trackers> of_planes;
  for (size_t i = 0; i < planes.size(); ++i) {
    const bool shares_chip = chip_of[i] && planes_of_chip[*chip_of[i]] > 1;
    of_planes.emplace_back(shares_chip || OpLinesOf(described[planes[i]]) > 1);
  }
  STROBE_RETURN_IF_ERROR(ForEachPiece(host.parallel(), planes.size(), [&](size_t i) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    AddPlane(host.file(), planes[i], &of_planes[i]);
    return OkStatus();
  }));
  DutyCycle all;
  std::map<uint32_t, Trackers> shared;
  for (size_t i = 0; i < planes.size(); ++i) {
    if (chip_of[i] && planes_of_chip[*chip_of[i]] > 1) {
      shared.try_emplace(*chip_of[i], true).first->second.AddAll(of_planes[i]);
    } else {
      of_planes[i].AddTotal(&all);
    }
  }
  for (auto& [chip, trackers] : shared) trackers.AddTotal(&all);
  return all;
}

}  // namespace strobe::analysis
