// Speed and memory of reading alone: skeleton, all lines to columns, one stat as a column, and row
// layout. Prints bytes of the file a second.
//
//   build/x/strobe_xplane_bench --benchmark_filter=Decode
//
// Input: 128 MB made from a seed in the shapes of real files, in memory (warm). STROBE_BENCH_FILE
// names a real file to read in their place.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>

#include "src/base/ids.h"
#include "src/storage/byte_source.h"
#include "src/xplane/profile_file.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

constexpr size_t kBytes = 128'000'000;
enum Shape : int64_t { kTpu, kGpu, kHost };

void FillTpuLine(SeededRandom& random, size_t bytes, PlaneBuilder& plane, LineBuilder& line) {
  const int64_t flops = plane.StatId("flops");
  const int64_t queue = plane.StatId("queue");
  int64_t at = 5'000'000'000'000;
  for (size_t size = 0; size < bytes;) {
    const auto duration = static_cast<int64_t>(200'000 + random.Next() % 9'000'000);
    const auto name = static_cast<int64_t>(1 + random.Next() % 600);
    StatSink& stats = line.AddEvent(name, at, duration);
    stats.AddStat(flops, random.Next() % 100'000);
    size += 24;
    if (random.Next() % 10 < 4) {
      stats.AddStat(queue, static_cast<int64_t>(random.Next() % 1000));
      size += 8;
    }
    at += duration + static_cast<int64_t>(random.Next() % 4 == 0 ? random.Next() % 100'000 : 0);
  }
}

void FillGpuLine(SeededRandom& random, size_t bytes, PlaneBuilder& plane, LineBuilder& line) {
  const int64_t ids[] = {plane.StatId("correlation_id"), plane.StatId("kernel_details"),
                         plane.StatId("hlo_op"), plane.StatId("group_id")};
  int64_t at = 0;
  for (size_t size = 0; size < bytes; size += 80) {
    const auto duration = static_cast<int64_t>(1'000'000 + random.Next() % 90'000'000);
    StatSink& stats = line.AddEvent(static_cast<int64_t>(1 + random.Next() % 200), at, duration);
    stats.AddStat(ids[0], random.Next() % 1'000'000);
    stats.AddStat(ids[1], std::string_view("regs:32 grid:128,1,1 block:256,1,1"));
    stats.AddRefStat(ids[2], 5 + random.Next() % 100);
    stats.AddStat(ids[3], static_cast<int64_t>(random.Next() % 300));
    if (random.Next() % 3 == 0) stats.AddStat(ids[3], random.Next() % 1000);
    at += duration + static_cast<int64_t>(random.Next() % 3'000'000);
  }
}

// Calls nested up to 12 deep, a stat on a third of them.
void FillHostLine(SeededRandom& random, size_t bytes, PlaneBuilder& plane, LineBuilder& line) {
  const int64_t source = plane.StatId("_src");
  int64_t at = 0;
  for (size_t size = 0; size < bytes;) {
    const auto depth = 1 + random.Next() % 12;
    const int64_t outer = 1'000'000 + static_cast<int64_t>(random.Next() % 50'000'000);
    for (uint64_t d = 0; d < depth; ++d) {
      const auto inset = static_cast<int64_t>(d) * 20'000;
      StatSink& stats = line.AddEvent(static_cast<int64_t>(1 + random.Next() % 2000), at + inset,
                                      outer - 2 * inset);
      if (random.Next() % 3 == 0) stats.AddStat(source, int64_t{1});
      size += 19;
    }
    at += outer;
  }
}

std::string MakeFile(Shape shape) {
  SeededRandom random(20261129);
  XSpaceBuilder space;
  const size_t planes = shape == kHost ? 1 : 4;
  const size_t lines = shape == kGpu ? 4 : (shape == kHost ? 16 : 2);
  for (size_t p = 0; p < planes; ++p) {
    PlaneBuilder& plane = space.AddPlane("/device:" + std::to_string(p));
    for (int i = 0; i < 2000; ++i) plane.AddEventMetadata("fusion." + std::to_string(i));
    for (size_t l = 0; l < lines; ++l) {
      LineBuilder& line = plane.AddLine(static_cast<int64_t>(l), "line " + std::to_string(l), 0);
      const size_t bytes = kBytes / planes / lines;
      if (shape == kTpu) FillTpuLine(random, bytes, plane, line);
      if (shape == kGpu) FillGpuLine(random, bytes, plane, line);
      if (shape == kHost) FillHostLine(random, bytes, plane, line);
    }
  }
  return space.Serialize();
}

std::shared_ptr<const storage::ByteSource> Input(int64_t shape) {
  static std::shared_ptr<const storage::ByteSource> made;
  static int64_t made_shape = -1;
  if (made_shape == shape) return made;
  const char* path = std::getenv("STROBE_BENCH_FILE");
  if (path == nullptr) {
    made.reset();
    made = storage::OwnBytes(MakeFile(static_cast<Shape>(shape)));
  } else if (auto mapped = storage::OpenMappedFile(path); mapped.ok()) {
    made = *mapped;
  }
  made_shape = shape;
  return made;
}

std::shared_ptr<ProfileFile> OpenInput(int64_t shape) {
  auto file = ProfileFile::Open(Input(shape), OpenOptions{});
  STROBE_CHECK(file.ok());
  return *file;
}

uint64_t CountEvents(const ProfileFile& file) {
  uint64_t events = 0;
  for (size_t p = 0; p < file.planes().size(); ++p) {
    for (size_t l = 0; l < file.planes()[p].lines.size(); ++l) {
      events += file.Line(p, l).event_count();
    }
  }
  return events;
}

void BM_Skeleton(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(OpenInput(state.range(0)));
}
BENCHMARK(BM_Skeleton)->Arg(kTpu)->Arg(kGpu)->Arg(kHost)->Unit(benchmark::kMillisecond);

void BM_DecodeAll(benchmark::State& state) {
  uint64_t events = 0;
  uint64_t resident = 0;
  const uint64_t bytes = Input(state.range(0))->bytes().size();
  for (auto _ : state) {
    const std::shared_ptr<ProfileFile> file = OpenInput(state.range(0));
    STROBE_CHECK(file->DecodeAll(CancelToken(), nullptr).ok());
    state.PauseTiming();
    events = CountEvents(*file);
    resident = file->resident_bytes();
    state.ResumeTiming();
  }
  const auto count = static_cast<double>(std::max<uint64_t>(events, 1));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
  state.counters["events"] = count;
  state.counters["B/event"] = static_cast<double>(bytes) / count;
  state.counters["resident B/event"] = static_cast<double>(resident) / count;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak RSS / file"] =
      static_cast<double>(usage.ru_maxrss) * 1024 / static_cast<double>(bytes);
}
BENCHMARK(BM_DecodeAll)->Arg(kTpu)->Arg(kGpu)->Arg(kHost)->Unit(benchmark::kMillisecond);

void BM_EventStatColumn(benchmark::State& state) {
  const std::shared_ptr<ProfileFile> file = OpenInput(state.range(0));
  uint64_t bytes = 0;
  for (auto _ : state) {
    const std::string_view name = file->planes()[0].stat_metadata[0].name;
    benchmark::DoNotOptimize(file->EventStatColumn(0, 0, name));
    bytes += file->planes()[0].lines[0].bytes.size_bytes;
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(BM_EventStatColumn)->Arg(kTpu)->Arg(kGpu)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strobe::xplane
