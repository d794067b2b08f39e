// Search over 30 million events (STROBE_BENCH_EVENTS): a common name, a rare one, all of them.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <deque>

#include "src/base/ids.h"
#include "src/timeline/line_for_test.h"
#include "src/timeline/search.h"

namespace strobe::timeline {
namespace {

struct SearchCorpus {
  std::deque<LineForTest> lines;
  std::vector<std::string> names;
  std::vector<xplane::EventMetadata> metadata{2000};
  int64_t end_ps = 0;

  SearchCorpus() {
    const char* text = std::getenv("STROBE_BENCH_EVENTS");
    const int64_t events = text == nullptr ? 30'000'000 : std::atoll(text);
    for (size_t n = 0; n < metadata.size(); ++n) names.push_back("fusion." + std::to_string(n));
    for (size_t n = 0; n < metadata.size(); ++n) metadata[n].name = names[n];
    SeededRandom random(2);
    std::vector<EventForTest> row;
    for (int l = 0; l < 64; ++l) {
      row.clear();
      int64_t now = 0;
      for (int64_t e = 0; e < events / 64; ++e) {
        const uint64_t dice = random.Next();
        row.push_back({now, 1000, static_cast<uint32_t>(dice % metadata.size())});
        now += 1000 + static_cast<int64_t>((dice >> 32) % 5000);
      }
      end_ps = std::max(end_ps, now);
      lines.emplace_back().AddRow(row);
    }
  }
};

void BM_Search(benchmark::State& state, const char* text) {
  static const SearchCorpus* corpus = new SearchCorpus;
  uint64_t total = 0;
  for (auto _ : state) {
    const Result<NamePattern> pattern = NamePattern::Parse(text);
    const std::vector<uint8_t> matches = pattern->Match(corpus->metadata);
    std::vector<uint8_t> used(matches.size());
    EventSearch search({.window_end_ps = corpus->end_ps});
    for (uint32_t l = 0; l < corpus->lines.size(); ++l) {
      const Status status = search.AddLine(
          {.line = l, .columns = &corpus->lines[l].columns(), .matches = matches}, used, {});
      STROBE_CHECK(status.ok());
    }
    total = search.Finish().total;
  }
  state.counters["hits"] = static_cast<double>(total);
}
BENCHMARK_CAPTURE(BM_Search, every_event, "fusion")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Search, one_name, "fusion.777")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Search, expression, "/fus.*3/")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strobe::timeline
