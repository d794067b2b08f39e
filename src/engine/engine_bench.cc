// From opening to the first tile, on a made file of STROBE_BENCH_MB (100) with TPU-like events, in
// the page cache: never seen, warm, and by a second engine that finds columns.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "src/base/ids.h"
#include "src/base/log.h"
#include "src/engine/engine.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::engine {
namespace {

namespace fs = std::filesystem;
constexpr int kLines = 16;

struct Corpus {
  fs::path root;
  int64_t end_ps = 0;
  uint64_t bytes = 0;
  uint64_t events = 0;

  Corpus() {
    SetLogLevel("error");
    std::string pattern = (fs::temp_directory_path() / "strobe-bench-XXXXXX").string();
    STROBE_CHECK(mkdtemp(pattern.data()) != nullptr);
    root = pattern;
    const char* text = std::getenv("STROBE_BENCH_MB");
    const int64_t megabytes = text == nullptr ? 100 : std::atoll(text);
    const int64_t per_line = megabytes * 1'000'000 / (kLines * 34);
    SeededRandom random(9);
    xplane::XSpaceBuilder space;
    for (int l = 0; l < kLines; ++l) {
      xplane::PlaneBuilder& plane = space.AddPlane("/device:TPU:" + std::to_string(l));
      std::vector<int64_t> names;
      for (int n = 0; n < 500; ++n) {
        names.push_back(plane.AddEventMetadata("%fusion." + std::to_string(n) + " = f32[8]",
                                               "fusion." + std::to_string(n)));
      }
      const int64_t offset_stat = plane.StatId("device_offset_ps");
      const int64_t duration_stat = plane.StatId("device_duration_ps");
      xplane::LineBuilder& line = plane.AddLine(3, "XLA Ops", 0);
      int64_t now = 0;
      for (int64_t e = 0; e < per_line; ++e) {
        const uint64_t dice = random.Next();
        const int64_t duration = static_cast<int64_t>(dice % 2'000'000);
        line.AddEvent(names[(dice >> 32) % names.size()], now, duration)
            .AddStat(offset_stat, now)
            .AddStat(duration_stat, duration);
        now += duration + static_cast<int64_t>((dice >> 21) % 300'000);
      }
      end_ps = std::max(end_ps, now);
      events += static_cast<uint64_t>(per_line);
    }
    const fs::path session = root / "logs" / "plugins" / "profile" / "s";
    fs::create_directories(session);
    const std::string serialized = space.Serialize();
    bytes = serialized.size();
    std::ofstream(session / "host0.xplane.pb", std::ios::binary) << serialized;
    fs::last_write_time(session / "host0.xplane.pb",
                        fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  ~Corpus() { fs::remove_all(root); }
};

const Corpus& TheCorpus() {
  static const Corpus corpus;
  return corpus;
}

std::unique_ptr<Engine> MakeEngine(const std::string& cache_directory) {
  auto engine = Engine::Create({.roots = {(TheCorpus().root / "logs").string()},
                                .cache_directory = cache_directory,
                                .rescan_interval_ms = 0},
                               SystemClock());
  STROBE_CHECK(engine->Refresh().ok());
  return engine;
}

int WholeLevel() {
  int level = 10;
  while ((int64_t{1} << level) < TheCorpus().end_ps) ++level;
  return level;
}

size_t FirstTile(Engine& engine) {
  const auto session = engine.Open(engine.Sessions()[0].entry.id);
  STROBE_CHECK(session.ok());
  return (*(*session)->Tile(0, 0, 0, WholeLevel(), 0, {}))->size();
}

void BM_FirstTileOfNeverSeenFile(benchmark::State& state) {
  TheCorpus();
  for (auto _ : state) {
    const auto engine = MakeEngine("");
    benchmark::DoNotOptimize(FirstTile(*engine));
  }
  state.counters["MB"] = static_cast<double>(TheCorpus().bytes) / 1e6;
}
BENCHMARK(BM_FirstTileOfNeverSeenFile)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_EverythingDecoded(benchmark::State& state) {
  for (auto _ : state) {
    const auto engine = MakeEngine("");
    const auto session = engine->Open(engine->Sessions()[0].entry.id);
    STROBE_CHECK((*session)->Lines(600'000).complete);
  }
  state.counters["MB"] = static_cast<double>(TheCorpus().bytes) / 1e6;
  state.counters["events"] = static_cast<double>(TheCorpus().events);
}
BENCHMARK(BM_EverythingDecoded)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void BM_FirstTileFromColumns(benchmark::State& state) {
  const std::string cache = (TheCorpus().root / "cache").string();
  {
    const auto engine = MakeEngine(cache);
    const auto session = engine->Open(engine->Sessions()[0].entry.id);
    STROBE_CHECK((*session)->Lines(600'000).complete);
    while (engine->Sessions()[0].state == xplane::CompletenessState::kUnread) {
      std::this_thread::yield();
    }
  }
  uint64_t hits = 0;
  for (auto _ : state) {
    const auto engine = MakeEngine(cache);
    benchmark::DoNotOptimize(FirstTile(*engine));
    hits += engine->stats().column_file_hits;
  }
  STROBE_CHECK(hits >= static_cast<uint64_t>(state.iterations()));
}
BENCHMARK(BM_FirstTileFromColumns)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_WarmTile(benchmark::State& state) {
  const auto engine = MakeEngine("");
  const auto session = *engine->Open(engine->Sessions()[0].entry.id);
  STROBE_CHECK(session->Lines(600'000).complete);
  const int level = WholeLevel() - 6;
  int64_t index = 0;
  uint32_t plane = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(*session->Tile(0, plane, 0, level, index, {}));
    if (++plane == kLines) {
      plane = 0;
      ++index;  // never the same tile again
    }
  }
}
BENCHMARK(BM_WarmTile)->Unit(benchmark::kMicrosecond)->Iterations(kLines * 60);

void BM_SameTileAgain(benchmark::State& state) {
  const auto engine = MakeEngine("");
  const std::string id = engine->Sessions()[0].entry.id;
  FirstTile(*engine);
  for (auto _ : state) {
    // As a request does it: the session by its id, then the tile.
    const auto session = *engine->Open(id);
    benchmark::DoNotOptimize(*session->Tile(0, 0, 0, WholeLevel(), 0, {}));
  }
}
BENCHMARK(BM_SameTileAgain)->Unit(benchmark::kMicrosecond);

void BM_Overview(benchmark::State& state) {
  double seconds = 0;
  for (auto _ : state) {
    const auto engine = MakeEngine("");
    const auto session = *engine->Open(engine->Sessions()[0].entry.id);
    STROBE_CHECK(session->Lines(600'000).complete);
    const int64_t begin_ns = SystemClock().MonotonicNanos();
    STROBE_CHECK(session->FirstOverview({}).ok());
    const double took = static_cast<double>(SystemClock().MonotonicNanos() - begin_ns) / 1e9;
    state.SetIterationTime(took);
    seconds += took;
  }
  state.counters["ns/event"] =
      seconds * 1e9 / static_cast<double>(state.iterations() * TheCorpus().events);
}
BENCHMARK(BM_Overview)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(5);

}  // namespace
}  // namespace strobe::engine
