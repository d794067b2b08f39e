#include "src/timeline/counter_series.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "src/timeline/rows.h"

namespace strobe::timeline {
namespace {

using xplane::LineColumns;
using xplane::Plane;
using xplane::Stat;
using xplane::StatType;
using Int128 = __int128;

// Events read between two looks at the cancel flag: some milliseconds.
constexpr uint32_t kCancelStride = 1 << 14;
constexpr uint32_t kMemoryKey = std::numeric_limits<uint32_t>::max();

constexpr uint8_t kNoMemory = 0, kAllocatorEvent = 1, kTorchMemory = 2;

// What connects events is no measurement.
bool IsLink(std::string_view name) {
  return name.starts_with('_') || name == "flow" || name == "group_id" || name == "correlation_id";
}

bool HoldsIgnoringCase(std::string_view text, std::string_view lower) {
  const auto equal = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(), equal) != text.end();
}

struct MemoryValues {
  std::string allocator;
  std::optional<double> used_bytes;
  std::optional<double> reserved_bytes;  // of PyTorch: what it holds from the system
};

// The runtime's events say who owns the memory by name or number.
MemoryValues ReadAllocator(const std::vector<Stat>& stats) {
  MemoryValues values;
  for (const Stat& stat : stats) {
    if (stat.name == "allocator_name") values.allocator = stat.text;
    if (stat.name == "index_on_host" || stat.name == "device_ordinal") {
      values.allocator = std::to_string(stat.IntOrUint());
    }
    if (stat.name == "bytes_reserved" || stat.name == "bytes_allocated") {
      values.used_bytes = values.used_bytes.value_or(0) + NumberOf(stat).value_or(0);
    }
  }
  return values;
}

MemoryValues ReadTorch(const std::vector<Stat>& stats) {
  constexpr double kCpuDevice = 0;  // c10::DeviceType
  MemoryValues values;
  double type = kCpuDevice;
  int64_t device = 0;
  for (const Stat& stat : stats) {
    if (stat.name == "Total Allocated") values.used_bytes = NumberOf(stat);
    if (stat.name == "Total Reserved") values.reserved_bytes = NumberOf(stat);
    if (stat.name == "Device Type") type = NumberOf(stat).value_or(kCpuDevice);
    if (stat.name == "Device Id") device = stat.IntOrUint();
  }
  values.allocator = type == kCpuDevice ? "CPU" : "GPU " + std::to_string(device);
  if (type == kCpuDevice) values.reserved_bytes.reset();  // it has no pool of its own
  return values;
}

}  // namespace

std::optional<double> NumberOf(const Stat& stat) {
  switch (stat.type) {
    case StatType::kDouble:
      return stat.number;
    case StatType::kUint64:
      return static_cast<double>(stat.uint64_value);
    case StatType::kInt64:
      return static_cast<double>(stat.int64_value);
    default:
      return std::nullopt;
  }
}

std::string_view SeriesKindName(SeriesKind kind) {
  return kind == SeriesKind::kMemory ? "memory" : "counter";
}

std::string_view UnitOfCounter(std::string_view name) {
  if (HoldsIgnoringCase(name, "bytes") || HoldsIgnoringCase(name, "memory")) return "bytes";
  if (name.find('%') != std::string_view::npos || HoldsIgnoringCase(name, "percent"))
    return "percent";
  return {};
}

void CounterReader::Add(SeriesKind kind, std::optional<uint32_t> line, const Key& key,
                        int64_t time_ps, double value) {
  if (samples_ >= max_samples_) {
    truncated_ = true;
    return;
  }
  ++samples_;
  CounterSeries& series = series_[{line.value_or(kMemoryKey), key}];
  if (series.time_ps.empty()) {
    series.kind = kind;
    series.line = line;
    series.group = key.first;
    series.name = key.second;
    series.unit = kind == SeriesKind::kMemory ? "bytes" : UnitOfCounter(key.second);
    if (series.unit.empty()) series.unit = UnitOfCounter(key.first);
  }
  series.time_ps.push_back(SaturatingAdd(time_ps, shift_ps_));
  series.value.push_back(value);
}

Status CounterReader::AddCounterLine(uint32_t line, const CancelToken& cancel) {
  const Plane& plane = file_.planes()[plane_];
  const LineColumns& columns = file_.Line(plane_, line);
  for (const LineColumns::Row& row : columns.timed_rows()) {
    for (uint32_t e = row.first; e < row.first + row.count; ++e) {
      if (e % kCancelStride == 0) STROBE_RETURN_IF_ERROR(cancel.Check());
      const std::string group(plane.event_metadata[columns.name[e]].label());
      for (const Stat& stat : file_.EventStats(plane_, line, e)) {
        const std::optional<double> value = NumberOf(stat);
        if (!value || IsLink(stat.name)) continue;
        Add(SeriesKind::kCounter, line, {group, std::string(stat.name)}, columns.start_ps[e],
            *value);
      }
    }
  }
  return OkStatus();
}

Status CounterReader::AddMemory(const CancelToken& cancel) {
  const Plane& plane = file_.planes()[plane_];
  std::vector<uint8_t> kinds(plane.event_metadata.size(), kNoMemory);
  bool any = false;
  for (size_t n = 0; n < kinds.size(); ++n) {
    const std::string_view name = plane.event_metadata[n].name;
    if (name == "MemoryAllocation" || name == "MemoryDeallocation") kinds[n] = kAllocatorEvent;
    if (name == "[memory]") kinds[n] = kTorchMemory;
    any |= kinds[n] != kNoMemory;
  }
  if (!any) return OkStatus();
  for (uint32_t l = 0; l < plane.lines.size(); ++l) {
    STROBE_RETURN_IF_ERROR(AddMemoryLine(l, kinds, cancel));
  }
  return OkStatus();
}

Status CounterReader::AddMemoryLine(uint32_t line, const std::vector<uint8_t>& kinds,
                                    const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(cancel.Check());
  const LineColumns& columns = file_.Line(plane_, line);
  for (const LineColumns::Row& row : columns.timed_rows()) {
    for (uint32_t e = row.first; e < row.first + row.count; ++e) {
      if (e % kCancelStride == 0) STROBE_RETURN_IF_ERROR(cancel.Check());
      const uint8_t kind = kinds[columns.name[e]];
      if (kind == kNoMemory) continue;
      const std::vector<Stat> stats = file_.EventStats(plane_, line, e);
      const MemoryValues values = kind == kTorchMemory ? ReadTorch(stats) : ReadAllocator(stats);
      if (values.used_bytes) {
        Add(SeriesKind::kMemory, std::nullopt, {values.allocator, "in use"}, columns.start_ps[e],
            *values.used_bytes);
      }
      if (values.reserved_bytes) {
        Add(SeriesKind::kMemory, std::nullopt, {values.allocator, "reserved"}, columns.start_ps[e],
            *values.reserved_bytes);
      }
    }
  }
  return OkStatus();
}

std::vector<CounterSeries> CounterReader::Finish() && {
  std::vector<CounterSeries> all;
  all.reserve(series_.size());
  for (auto& [key, series] : series_) {
    if (!std::ranges::is_sorted(series.time_ps)) {
      std::vector<size_t> order(series.time_ps.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::ranges::stable_sort(order, {}, [&](size_t i) { return series.time_ps[i]; });
      CounterSeries sorted = series;
      for (size_t i = 0; i < order.size(); ++i) {
        sorted.time_ps[i] = series.time_ps[order[i]];
        sorted.value[i] = series.value[order[i]];
      }
      series = std::move(sorted);
    }
    all.push_back(std::move(series));
  }
  series_.clear();
  return all;
}

SeriesBuckets SummarizeSeries(const CounterSeries& series, int64_t from_ps, int64_t to_ps,
                              size_t buckets) {
  SeriesBuckets shown;
  shown.from_ps = from_ps;
  shown.to_ps = std::max(from_ps, to_ps);
  for (auto* values : {&shown.min, &shown.mean, &shown.max, &shown.last}) values->resize(buckets);
  shown.count.resize(buckets);
  const std::vector<int64_t>& times = series.time_ps;
  const auto first = std::ranges::lower_bound(times, from_ps) - times.begin();
  if (first > 0) {
    const auto before = static_cast<size_t>(first) - 1;
    shown.before = SeriesSample{times[before], series.value[before]};
  }
  const Int128 length = static_cast<Int128>(shown.to_ps) - from_ps;
  for (auto i = static_cast<size_t>(first); i < times.size() && times[i] < shown.to_ps; ++i) {
    const Int128 offset = static_cast<Int128>(times[i]) - from_ps;
    const auto bucket = static_cast<size_t>(offset * static_cast<Int128>(buckets) / length);
    const double value = series.value[i];
    const bool is_first = shown.count[bucket] == 0;
    shown.min[bucket] = is_first ? value : std::min(shown.min[bucket], value);
    shown.max[bucket] = is_first ? value : std::max(shown.max[bucket], value);
    shown.mean[bucket] += value;
    shown.last[bucket] = value;
    ++shown.count[bucket];
    ++shown.samples;
  }
  for (size_t b = 0; b < buckets; ++b) {
    if (shown.count[b] > 0) shown.mean[b] /= static_cast<double>(shown.count[b]);
  }
  return shown;
}

}  // namespace strobe::timeline
