// Totals of all of 30 million events (STROBE_BENCH_EVENTS) over 64 lines, on one thread.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <deque>

#include "src/base/ids.h"
#include "src/timeline/gaps.h"
#include "src/timeline/line_for_test.h"
#include "src/timeline/range_totals.h"

namespace strobe::timeline {
namespace {

struct TotalsCorpus {
  std::deque<LineForTest> lines;
  int64_t end_ps = 0;
  static constexpr size_t kNames = 2000;

  TotalsCorpus() {
    const char* text = std::getenv("STROBE_BENCH_EVENTS");
    const int64_t events = text == nullptr ? 30'000'000 : std::atoll(text);
    SeededRandom random(2);
    std::vector<EventForTest> row;
    for (int l = 0; l < 64; ++l) {
      row.clear();
      int64_t now = 0;
      for (int64_t e = 0; e < events / 64; ++e) {
        const uint64_t dice = random.Next();
        row.push_back({now, 1000, static_cast<uint32_t>(dice % kNames)});
        now += 1000 + static_cast<int64_t>((dice >> 32) % 5000);
      }
      end_ps = std::max(end_ps, now);
      lines.emplace_back().AddRow(row);
    }
  }
};

const TotalsCorpus& Corpus() {
  static const TotalsCorpus* corpus = new TotalsCorpus;
  return *corpus;
}

void BM_Totals(benchmark::State& state) {
  const TotalsCorpus& corpus = Corpus();
  LineTotal sum;
  for (auto _ : state) {
    sum = {};
    std::vector<NameTotal> names(TotalsCorpus::kNames);
    for (uint32_t l = 0; l < corpus.lines.size(); ++l) {
      const xplane::LineColumns& columns = corpus.lines[l].columns();
      for (const TotalSlice& slice : SlicesOf(columns, 0, corpus.end_ps)) {
        sum.Add(AddTotals(columns, slice, l, names));
      }
    }
  }
  state.counters["events"] = static_cast<double>(sum.count);
}
BENCHMARK(BM_Totals)->Unit(benchmark::kMillisecond);

void BM_GapsOfOneLine(benchmark::State& state) {
  const TotalsCorpus& corpus = Corpus();
  const GapLine line{&corpus.lines[0].columns(), 0};
  uint64_t gaps = 0;
  for (auto _ : state) {
    const auto found = FindGaps({&line, 1}, {.from_ps = 0, .to_ps = corpus.end_ps}, {});
    STROBE_CHECK(found.ok());
    gaps = found->count;
  }
  state.counters["gaps"] = static_cast<double>(gaps);
}
BENCHMARK(BM_GapsOfOneLine)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strobe::timeline
