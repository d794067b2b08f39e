// A view of many lines out of many events, as the page asks for it: every chunk of the lines, two
// tiles wide (2,000 pixels), at positions and zooms all over the trace. Sizes by environment:
// STROBE_BENCH_LINES (142), STROBE_BENCH_EVENTS (32,000,000).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <deque>

#include "src/base/ids.h"
#include "src/timeline/line_for_test.h"

namespace strobe::timeline {
namespace {

int64_t FromEnvironment(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atoll(text);
}

// Of this thread: what others on the machine do is not the encoder's time.
double CpuMilliseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// TPU-like: bursts of ops of 0.1 to 100 us with short gaps, a few long ones. 64 ps clock.
struct Corpus {
  std::deque<LineForTest> lines;
  std::vector<TileLine> tile_lines;
  std::vector<xplane::EventMetadata> metadata{2000};
  std::vector<std::string> names;
  std::vector<uint8_t> categories;
  int64_t end_ps = 0;
  uint64_t events = 0;
  uint64_t pyramid_bytes = 0;
  double build_ms = 0;

  Corpus() {
    const int64_t line_count = FromEnvironment("STROBE_BENCH_LINES", 142);
    const int64_t per_line = FromEnvironment("STROBE_BENCH_EVENTS", 32'000'000) / line_count;
    SeededRandom random(11);
    for (size_t n = 0; n < metadata.size(); ++n) names.push_back("fusion." + std::to_string(n));
    for (size_t n = 0; n < metadata.size(); ++n) metadata[n].name = names[n];
    categories.assign(metadata.size(), 2);
    std::vector<EventForTest> row;
    for (int64_t l = 0; l < line_count; ++l) {
      row.clear();
      int64_t now = static_cast<int64_t>(random.Next() % 1'000'000);
      for (int64_t e = 0; e < per_line; ++e) {
        const uint64_t dice = random.Next();
        const int64_t scale = dice % 200 == 0 ? 100'000'000 : 1'000'000;
        const int64_t duration = static_cast<int64_t>((dice >> 8) % scale);
        row.push_back({now, duration, static_cast<uint32_t>((dice >> 40) % metadata.size())});
        now += duration + static_cast<int64_t>((dice >> 20) % 300'000);
      }
      end_ps = std::max(end_ps, now);
      events += row.size();
      LineForTest& line = lines.emplace_back();
      line.Reserve(row.size());
      line.AddRow(row);
      const double begin_ms = CpuMilliseconds();
      tile_lines.push_back(line.AsTileLine(metadata, categories, static_cast<uint32_t>(l)));
      build_ms += CpuMilliseconds() - begin_ms;
      pyramid_bytes += line.PyramidBytes();
    }
  }
};

const Corpus& TheCorpus() {
  static const Corpus* corpus = new Corpus;
  return *corpus;
}

// One view; returns the bytes of its tiles.
size_t EncodeView(const Corpus& corpus, int level, int64_t first_index) {
  size_t bytes = 0;
  const std::span<const TileLine> lines = corpus.tile_lines;
  for (int64_t index = first_index; index < first_index + 2; ++index) {
    for (size_t begin = 0; begin < lines.size(); begin += kLinesPerChunk) {
      const size_t count = std::min(kLinesPerChunk, lines.size() - begin);
      bytes += EncodeTile({.level = level, .index = index}, lines.subspan(begin, count))->size();
    }
  }
  return bytes;
}

void BM_ViewsAtAllZooms(benchmark::State& state) {
  const Corpus& corpus = TheCorpus();
  SeededRandom random(5);
  std::vector<double> milliseconds;
  uint64_t bytes = 0;
  int whole = 10;
  while ((int64_t{2} << whole) < corpus.end_ps) ++whole;
  for (auto _ : state) {
    // From the whole trace down to 1/2^14 of it.
    const int level = whole - static_cast<int>(random.Next() % 15);
    const int64_t tiles = (corpus.end_ps >> level) + 1;
    const int64_t index = static_cast<int64_t>(random.Next() % static_cast<uint64_t>(tiles));
    const double begin_ms = CpuMilliseconds();
    bytes += EncodeView(corpus, level, std::max<int64_t>(0, index - 1));
    milliseconds.push_back(CpuMilliseconds() - begin_ms);
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  state.counters["p50_cpu_ms"] = milliseconds[milliseconds.size() / 2];
  state.counters["p99_cpu_ms"] = milliseconds[milliseconds.size() * 99 / 100];
  state.counters["kB_view"] = static_cast<double>(bytes) / 1e3 / milliseconds.size();
  state.counters["events"] = static_cast<double>(corpus.events);
  state.counters["pyramid_B_event"] =
      static_cast<double>(corpus.pyramid_bytes) / static_cast<double>(corpus.events);
  state.counters["pyramid_build_ns_event"] =
      corpus.build_ms * 1e6 / static_cast<double>(corpus.events);
}
BENCHMARK(BM_ViewsAtAllZooms)->Unit(benchmark::kMillisecond)->Iterations(300);

// One zoom, range(0) steps below the whole trace.
void BM_ViewAtZoom(benchmark::State& state) {
  const Corpus& corpus = TheCorpus();
  int level = 10;
  while ((int64_t{2} << level) < corpus.end_ps) ++level;
  level -= static_cast<int>(state.range(0));
  const int64_t middle = (corpus.end_ps / 2) >> level;
  size_t bytes = 0;
  for (auto _ : state) bytes = EncodeView(corpus, level, std::max<int64_t>(0, middle - 1));
  state.counters["kB_view"] = static_cast<double>(bytes) / 1e3;
}
BENCHMARK(BM_ViewAtZoom)->DenseRange(0, 14, 2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strobe::timeline
