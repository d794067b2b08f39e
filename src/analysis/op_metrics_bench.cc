// How fast the ops of a device are summed: a gate of 10 ns an event of a line whose events carry no
// stats. Device times are read from each event's record, which is another order of magnitude.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "src/analysis/device_op_metrics.h"
#include "src/analysis/prepared_host.h"
#include "src/hlo/module_set.h"
#include "src/storage/byte_source.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::analysis {
namespace {

constexpr int64_t kEvents = 3'000'000;
constexpr int64_t kOps = 2'000;

// A TPU line of loops with ops inside; `with_stats`: each event carries its device times, as those
// of real profiles do.
std::string MakeLine(bool nested, bool with_stats) {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  for (int64_t op = 0; op < kOps; ++op) {
    const std::string name = "fusion." + std::to_string(op);
    const int64_t id = plane.AddEventMetadata("%" + name + " = f32[8] fusion(x)", name);
    plane.EventMetadataStats(id)
        .AddStat(plane.StatId("program_id"), uint64_t{7})
        .AddStat(plane.StatId("symbol_id"), static_cast<uint64_t>(op + 1))
        .AddStat(plane.StatId("hlo_category"), std::string_view("loop fusion"));
  }
  xplane::LineBuilder& line = plane.AddLine(3, "XLA Ops", 0);
  const auto add = [&](int64_t op, int64_t offset_ps, int64_t duration_ps) {
    xplane::StatSink& event = line.AddEvent(op, offset_ps, duration_ps);
    if (!with_stats) return;
    event.AddStat(plane.StatId("device_offset_ps"), offset_ps)
        .AddStat(plane.StatId("device_duration_ps"), duration_ps);
  };
  int64_t at_ps = 0;
  for (int64_t e = 0; e < kEvents;) {
    const int64_t inside = nested ? 9 : 0;
    add(1 + e * 7 % kOps, at_ps, 1000 * (inside + 1));
    ++e;
    for (int64_t i = 0; i < inside && e < kEvents; ++i, ++e) {
      add(1 + e * 7 % kOps, at_ps + 1000 * i, 900);
    }
    at_ps += 1000 * (inside + 2);
  }
  return space.Serialize();
}

void SumOps(benchmark::State& state, bool nested, bool with_stats) {
  const std::shared_ptr<const storage::ByteSource> source =
      storage::OwnBytes(MakeLine(nested, with_stats));
  Result<std::shared_ptr<xplane::ProfileFile>> file = xplane::ProfileFile::Open(source, {});
  if (!file.ok()) return state.SkipWithError("cannot open");
  Result<std::shared_ptr<const PreparedHost>> host =
      PreparedHost::Prepare(*file, **file, {.op_lines = false}, CancelToken());
  if (!host.ok()) return state.SkipWithError("cannot prepare");
  hlo::ModuleSet modules;
  modules.Finish();
  (*file)->Line(0, 0);  // decodes it
  for (auto _ : state) {
    auto metrics = MakeDevicePlaneMetrics(**host, modules, CancelToken());
    benchmark::DoNotOptimize(metrics);
  }
  state.SetItemsProcessed(state.iterations() * kEvents);
}

void BM_FlatLine(benchmark::State& state) { SumOps(state, false, false); }
void BM_NestedLine(benchmark::State& state) { SumOps(state, true, false); }
void BM_NestedLineWithDeviceTimes(benchmark::State& state) { SumOps(state, true, true); }
BENCHMARK(BM_FlatLine)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_NestedLine)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_NestedLineWithDeviceTimes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strobe::analysis
