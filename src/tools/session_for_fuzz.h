// A tiny session with something for every tool, made in memory, without GoogleTest: for fuzzers.
//
//   static const std::shared_ptr<SessionInput> session = TinySession();
//
// Two hosts: a TPU with two steps, ops with costs, a module, a kernel's schedule and a counter; a
// host thread with requests, allocations and input ops; a GPU with kernels.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/hlo/hlo_text_parser.h"
#include "src/storage/byte_source.h"
#include "src/tools/session_input.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {

inline std::string TinyModule() {
  constexpr std::string_view kText =
      "HloModule jit_f\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = "
      "f32[] "
      "add(a, b)\n}\n\nENTRY e {\n  p = bf16[8,8]{1,0} parameter(0)\n  c = f32[8,8]{1,0} "
      "convert(p)\n  k = f32[8,8]{1,0} copy(c)\n  d = f32[8,8]{1,0} dot(k, c), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  z = f32[] constant(0)\n  ROOT r = "
      "f32[8] "
      "reduce(d, z), dimensions={1}, to_apply=add\n}\n";
  Result<hlo::HloText> text = hlo::HloProtoFromText(kText);
  STROBE_CHECK(text.ok());
  return text->hlo_proto;
}

// An LLO module: top region [0,4) with a load in bundle 0 whose value a store uses in bundle 3.
inline std::string TinyLlo() {
  using namespace std::string_literals;
  const std::string load = "\x0a\x0c\x0a\x0a\x08\x01\x10\x32\x20\x00\x38\x02\x40\x04"s;
  const std::string store = "\x0a\x0c\x0a\x0a\x08\x02\x10\x42\x1a\x02\x10\x01\x20\x06"s;
  const std::string top = load + store + "\x28\x00\x30\x04"s;
  return "\x0a\x01k\x12"s + static_cast<char>(top.size()) + top;
}

inline std::string TinyTpuHost() {
  constexpr int64_t kNs = 1000;
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& tpu = space.AddPlane("/device:TPU:0");
  xplane::LineBuilder& steps = tpu.AddLine(1, "Steps", 0);
  xplane::LineBuilder& modules = tpu.AddLine(2, "XLA Modules", 0);
  xplane::LineBuilder& ops = tpu.AddLine(3, "XLA Ops", 0);
  const int64_t dot = tpu.AddEventMetadata("%d = f32[8,8]{1,0} dot(%k, %c)", "d");
  tpu.EventMetadataStats(dot)
      .AddStat(tpu.StatId("flops"), uint64_t{1024})
      .AddStat(tpu.StatId("bytes_accessed"), uint64_t{768})
      .AddStat(tpu.StatId("hlo_category"), "convolution")
      .AddStat(tpu.StatId("program_id"), uint64_t{7})
      .AddStat(tpu.StatId("source"), "train.py:12");
  const int64_t copy = tpu.AddEventMetadata("%k = f32[8,8]{1,0} copy(%c)", "k");
  for (int64_t step = 0; step < 2; ++step) {
    const int64_t at = step * 100 * kNs;
    steps.AddEvent(tpu.AddEventMetadata(std::to_string(step)), at, 90 * kNs);
    modules.AddEvent(tpu.AddEventMetadata("jit_f(7)"), at, 80 * kNs)
        .AddStat(tpu.StatId("run_id"), int64_t{step + 1});
    ops.AddEvent(copy, at, 10 * kNs);
    ops.AddEvent(dot, at + 20 * kNs, 50 * kNs);
  }
  tpu.AddLine(4, "_counters_", 0)
      .AddEvent(tpu.AddEventMetadata("counter"), 0, kNs)
      .AddStat(tpu.StatId("counter_value"), uint64_t{3});
  xplane::PlaneBuilder& host = space.AddPlane("/host:CPU");
  xplane::LineBuilder& thread = host.AddLine(7, "main", 0);
  thread.AddEvent(host.AddEventMetadata("IteratorGetNext"), 0, 5 * kNs);
  thread.AddEvent(host.AddEventMetadata("MemoryAllocation"), 6 * kNs, kNs)
      .AddStat(host.StatId("bytes_allocated"), int64_t{64})
      .AddStat(host.StatId("allocator_name"), "BFC")
      .AddStat(host.StatId("bytes_available"), int64_t{1000});
  thread.AddEvent(host.AddEventMetadata("TfrtModelRun"), 10 * kNs, 60 * kNs);
  xplane::PlaneBuilder& metadata = space.AddPlane("/host:metadata");
  metadata.EventMetadataStats(metadata.AddEventMetadata("jit_f(7)"))
      .AddBytesStat(metadata.StatId("Hlo Proto"), TinyModule())
      .AddBytesStat(metadata.StatId("llo_proto"), TinyLlo());
  return space.Serialize();
}

inline std::string TinyGpuHost() {
  constexpr int64_t kNs = 1000;
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& gpu = space.AddPlane("/device:GPU:0");
  xplane::LineBuilder& stream = gpu.AddLine(9, "Stream #9(Compute)", 0);
  for (int64_t i = 0; i < 3; ++i) {
    stream.AddEvent(gpu.AddEventMetadata("loop_add_fusion"), i * 10 * kNs, 4 * kNs)
        .AddStat(gpu.StatId("correlation_id"), uint64_t(i))
        .AddStat(gpu.StatId("hlo_op"), "add.1")
        .AddStat(gpu.StatId("hlo_module"), "jit_g")
        .AddStat(gpu.StatId("kernel_details"), "regs:16 grid:1,1,1 block:32,1,1 occ_pct:50");
  }
  return space.Serialize();
}

inline std::shared_ptr<SessionInput> TinySession() {
  SessionInput::Parts parts;
  parts.name = "tiny";
  auto modules = std::make_shared<hlo::ModuleSet>();
  const std::pair<const char*, std::string> hosts[] = {{"h0", TinyTpuHost()},
                                                       {"h1", TinyGpuHost()}};
  for (const auto& [name, bytes] : hosts) {
    Result<std::shared_ptr<xplane::ProfileFile>> file =
        xplane::ProfileFile::Open(storage::OwnBytes(bytes), {});
    STROBE_CHECK(file.ok());
    parts.hosts.push_back({.name = name, .file = file->get(), .error = {}});
    modules->AddEmbedded(**file, *file);
    parts.owners.push_back(*file);
  }
  modules->Finish();
  parts.modules = std::move(modules);
  return std::make_shared<SessionInput>(std::move(parts));
}

}  // namespace strobe::tools
