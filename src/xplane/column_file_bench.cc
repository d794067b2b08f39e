// Cost of a column file: writing it, opening it warm, and the check of a line on first use.
// A profile of 200 lines with 20,000 events each (about 85 MB; $STROBE_BENCH_FILE: another one).
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "src/xplane/column_file.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

struct Sample {
  std::shared_ptr<const storage::ByteSource> source;
  std::shared_ptr<ProfileFile> profile;
  Hash128 hash;
  std::string path = std::filesystem::temp_directory_path() /
                     ("strobe_column_bench." + std::to_string(getpid()) + ".col");
  ~Sample() { std::filesystem::remove(path); }
};

std::shared_ptr<const storage::ByteSource> MakeSource() {
  if (const char* given = std::getenv("STROBE_BENCH_FILE")) {
    auto mapped = storage::OpenMappedFile(given);
    STROBE_CHECK(mapped.ok());
    return *mapped;
  }
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  for (int64_t l = 0; l < 200; ++l) {
    LineBuilder& line = plane.AddLine(l + 1, "XLA Ops", 0);
    for (int64_t i = 0; i < 20'000; ++i) {
      line.AddEvent(plane.AddEventMetadata("fusion." + std::to_string(i % 500)), i * 1'000'000,
                    900'000)
          .AddStat(plane.StatId("run_id"), i);
    }
  }
  return storage::OwnBytes(space.Serialize());
}

Sample& TheSample() {
  static Sample sample;
  if (sample.profile == nullptr) {
    sample.source = MakeSource();
    auto profile = ProfileFile::Open(sample.source, {});
    STROBE_CHECK(profile.ok());
    sample.profile = *profile;
    sample.hash = Hash128Of(sample.source->bytes());
    STROBE_CHECK(WriteColumnFile(*sample.profile, sample.hash, sample.path, CancelToken()).ok());
  }
  return sample;
}

std::shared_ptr<ColumnFile> OpenColumns(const Sample& sample) {
  auto mapped = storage::OpenMappedFile(sample.path);
  STROBE_CHECK(mapped.ok());
  auto columns = ColumnFile::Open(*mapped, sample.hash, sample.source->bytes().size());
  STROBE_CHECK(columns.ok());
  return *columns;
}

uint64_t FileBytes(const Sample& sample) { return std::filesystem::file_size(sample.path); }

void BM_WriteColumns(benchmark::State& state) {
  Sample& sample = TheSample();
  for (auto step : state) {
    STROBE_CHECK(WriteColumnFile(*sample.profile, sample.hash, sample.path, CancelToken()).ok());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * FileBytes(sample)));
}
BENCHMARK(BM_WriteColumns)->Unit(benchmark::kMillisecond);

// Everything up to the moment lines can be asked for, the profile's skeleton included.
void BM_OpenWarm(benchmark::State& state) {
  const Sample& sample = TheSample();
  for (auto step : state) {
    const auto columns = OpenColumns(sample);
    const auto profile = OpenWithColumns(sample.source, {}, columns);
    STROBE_CHECK(profile.ok() && columns->Approve(**profile).ok());
  }
  state.counters["column_file_mb"] = static_cast<double>(FileBytes(sample)) / 1e6;
}
BENCHMARK(BM_OpenWarm)->Unit(benchmark::kMillisecond);

// Opening and the first use of every line: what a view of everything costs from the cache.
void BM_OpenWarmAndUseEveryLine(benchmark::State& state) {
  const Sample& sample = TheSample();
  for (auto step : state) {
    const auto columns = OpenColumns(sample);
    const auto profile = OpenWithColumns(sample.source, {}, columns);
    STROBE_CHECK(profile.ok() && columns->Approve(**profile).ok());
    STROBE_CHECK((*profile)->DecodeAll(CancelToken(), nullptr).ok());
    STROBE_CHECK(columns->rejected_lines() == 0);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * FileBytes(sample)));
}
BENCHMARK(BM_OpenWarmAndUseEveryLine)->Unit(benchmark::kMillisecond);

// The same without the cache.
void BM_DecodeEveryLine(benchmark::State& state) {
  const Sample& sample = TheSample();
  for (auto step : state) {
    const auto profile = ProfileFile::Open(sample.source, {});
    STROBE_CHECK(profile.ok());
    STROBE_CHECK((*profile)->DecodeAll(CancelToken(), nullptr).ok());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * sample.source->bytes().size()));
}
BENCHMARK(BM_DecodeEveryLine)->Unit(benchmark::kMillisecond);

void BM_HashContent(benchmark::State& state) {
  const Sample& sample = TheSample();
  for (auto step : state) benchmark::DoNotOptimize(Hash128Of(sample.source->bytes()));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * sample.source->bytes().size()));
}
BENCHMARK(BM_HashContent)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strobe::xplane
