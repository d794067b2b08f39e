// Counters as curves: the samples of a counter line, of memory events, and what a screen can show
// of them.
//
//   CounterReader reader(file, plane, shift_ps, /*max_samples=*/16'000'000);
//   reader.AddCounterLine(line);                        // a `_counters_` line
//   reader.AddMemory(cancel);                           // by allocator, over all lines
//   std::vector<CounterSeries> series = std::move(reader).Finish();
//   const SeriesBuckets shown = SummarizeSeries(series[0], from_ps, to_ps, 1000);
//
// A sample's value is a numeric stat of an event; events of one name and stat are one series. Cost:
// about 0.2 us a sample to read, 2 ns to sum up. Memory: 16 B a sample. Beyond `max_samples`
// further ones are left out and `truncated()` says so. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/xplane/profile_file.h"

namespace strobe::timeline {

enum class SeriesKind : uint8_t { kCounter, kMemory };
std::string_view SeriesKindName(SeriesKind kind);

struct CounterSeries {
  SeriesKind kind = SeriesKind::kCounter;
  std::optional<uint32_t> line = std::nullopt;  // of a counter line
  std::string group;                            // what counts
  std::string name;                             // of the series within
  std::string unit;                             // "bytes", "percent"; empty: not known
  std::vector<int64_t> time_ps;                 // session time, ascending
  std::vector<double> value;
};

class CounterReader {
 public:
  CounterReader(const xplane::ProfileFile& file, uint32_t plane, int64_t shift_ps,
                uint64_t max_samples)
      : file_(file), plane_(plane), shift_ps_(shift_ps), max_samples_(max_samples) {}

  Status AddCounterLine(uint32_t line, const CancelToken& cancel);
  // What allocators had in use after each allocation and deallocation: the runtime's memory events,
  // and the memory instants of PyTorch traces.
  Status AddMemory(const CancelToken& cancel);

  bool truncated() const { return truncated_; }
  // In the order of lines, groups and names; each by time.
  std::vector<CounterSeries> Finish() &&;

 private:
  using Key = std::pair<std::string, std::string>;  // group, name

  void Add(SeriesKind kind, std::optional<uint32_t> line, const Key& key, int64_t time_ps,
           double value);
  Status AddMemoryLine(uint32_t line, const std::vector<uint8_t>& kinds, const CancelToken& cancel);

  const xplane::ProfileFile& file_;
  const uint32_t plane_;
  const int64_t shift_ps_;
  const uint64_t max_samples_;
  uint64_t samples_ = 0;
  bool truncated_ = false;
  // Lines first, memory behind them.
  std::map<std::pair<uint32_t, Key>, CounterSeries> series_;
};

struct SeriesSample {
  int64_t time_ps = 0;
  double value = 0;
};

struct SeriesBuckets {
  static constexpr size_t kMaxBuckets = 8192;
  int64_t from_ps = 0;
  int64_t to_ps = 0;
  uint64_t samples = 0;                // in the span
  std::optional<SeriesSample> before;  // the last one before the span
  // By bucket; of those without samples only `count` means something.
  std::vector<double> min;
  std::vector<double> mean;
  std::vector<double> max;
  std::vector<double> last;
  std::vector<uint64_t> count;
};

// Bucket i of n spans [from + i * (to - from) / n, from + (i + 1) * (to - from) / n). `buckets`
// must be 1 to kMaxBuckets; an empty span has one bucket's worth of nothing.
SeriesBuckets SummarizeSeries(const CounterSeries& series, int64_t from_ps, int64_t to_ps,
                              size_t buckets);

// The value of a numeric stat.
std::optional<double> NumberOf(const xplane::Stat& stat);

// By the words of its name; empty when they say nothing.
std::string_view UnitOfCounter(std::string_view name);

}  // namespace strobe::timeline
