// The largest real module at hand (37,026 instructions): reading, printing, a neighbourhood,
// memory.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "src/hlo/buffer_assignment.h"
#include "src/hlo/hlo_graph.h"
#include "src/hlo/hlo_printer.h"
#include "src/wire/compress.h"

namespace strobe::hlo {
namespace {

const std::string& LargestModule() {
  static const std::string* const kBytes = [] {
    const char* given = std::getenv("STROBE_CORPUS");
    const std::filesystem::path path =
        std::filesystem::path(given != nullptr ? given : "../shared/data") / "hlo" /
        "module_0040.pjit__wrapped_step_fn.sm_8.0_gpu_after_optimizations.hlo.pb.xz";
    std::ifstream file(path, std::ios::binary);
    const std::string packed((std::istreambuf_iterator<char>(file)),
                             std::istreambuf_iterator<char>());
    auto* bytes = new std::string();
    (void)wire::Inflate(
        wire::Compression::kXz, packed, {},
        [&](std::string_view part) {
          bytes->append(part);
          return OkStatus();
        },
        CancelToken());
    return bytes;
  }();
  return *kBytes;
}

// False, with the reason shown, when the module is absent.
bool Ready(benchmark::State& state) {
  if (!LargestModule().empty()) return true;
  state.SkipWithError("the real modules are absent (../shared/data or $STROBE_CORPUS)");
  return false;
}

void BM_Read(benchmark::State& state) {
  if (!Ready(state)) return;
  for (auto _ : state) {
    benchmark::DoNotOptimize(HloModule::Read(LargestModule(), {})->instructions().size());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * LargestModule().size()));
}
BENCHMARK(BM_Read)->Unit(benchmark::kMillisecond);

void BM_LongText(benchmark::State& state) {
  if (!Ready(state)) return;
  const Result<HloModule> module = HloModule::Read(LargestModule(), {});
  size_t size = 0;
  for (auto _ : state) size = ModuleText(*module, PrintOptions::Long()).size();
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * size));
}
BENCHMARK(BM_LongText)->Unit(benchmark::kMillisecond);

void BM_Neighbourhood(benchmark::State& state) {
  if (!Ready(state)) return;
  const Result<HloModule> module = HloModule::Read(LargestModule(), {});
  const std::string root(module->instruction(module->computation(module->entry()).root).name);
  for (auto _ : state) {
    benchmark::DoNotOptimize(MakeGraph(*module, root, {.radius = 2})->nodes.size());
  }
}
BENCHMARK(BM_Neighbourhood)->Unit(benchmark::kMillisecond);

void BM_ReplayMemory(benchmark::State& state) {
  if (!Ready(state)) return;
  const Result<HloModule> module = HloModule::Read(LargestModule(), {});
  for (auto _ : state) benchmark::DoNotOptimize(ReplayMemory(*module, {})->peak_bytes);
}
BENCHMARK(BM_ReplayMemory)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strobe::hlo
