// Combining the op stats of 8 hosts with 61,000 steps each, the shape on which the reference takes
// hours.
#include <benchmark/benchmark.h>

#include "src/analysis/combine_op_stats.h"
#include "src/analysis/step_alignment.h"
#include "src/analysis/step_sequence_for_test.h"

namespace strobe::analysis {
namespace {

std::vector<OpStats> Hosts(size_t steps, size_t ops) {
  std::vector<OpStats> hosts;
  for (size_t h = 0; h < 8; ++h) {
    hosts.push_back(HostWithSteps(static_cast<int64_t>(h), steps, ops, static_cast<int64_t>(h)));
  }
  return hosts;
}

void BM_CombineEightHosts(benchmark::State& state) {
  const std::vector<OpStats> hosts = Hosts(static_cast<size_t>(state.range(0)), 10);
  for (auto _ : state) benchmark::DoNotOptimize(CombineOpStats(Pointers(hosts)));
  state.SetItemsProcessed(state.iterations() * state.range(0) * 8);
}
BENCHMARK(BM_CombineEightHosts)->Arg(1'000)->Arg(61'000)->Unit(benchmark::kMillisecond);

void BM_AlignEightHosts(benchmark::State& state) {
  const std::vector<OpStats> hosts = Hosts(static_cast<size_t>(state.range(0)), 0);
  std::vector<const StepDatabase*> databases;
  for (const OpStats& host : hosts) databases.push_back(&host.steps);
  for (auto _ : state) benchmark::DoNotOptimize(AlignSteps(databases));
  state.SetItemsProcessed(state.iterations() * state.range(0) * 8);
}
BENCHMARK(BM_AlignEightHosts)->Arg(61'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strobe::analysis
