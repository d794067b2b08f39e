#include "bench/corpus.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "src/base/hash.h"
#include "src/base/ids.h"

namespace strobe::bench {
namespace {

// Wall clock at which every generated profile starts (2026-01-01 00:00:00 UTC).
constexpr uint64_t kStartUnixNs = 1767225600ULL * 1000000000ULL;

void PutVarint(std::string* out, uint64_t value) {
  char buffer[10];
  int length = 0;
  while (value >= 0x80) {
    buffer[length++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  buffer[length++] = static_cast<char>(value);
  out->append(buffer, static_cast<size_t>(length));
}

void PutVarintField(std::string* out, uint32_t field, uint64_t value) {
  PutVarint(out, field << 3);
  PutVarint(out, value);
}

void PutBytesField(std::string* out, uint32_t field, std::string_view value) {
  PutVarint(out, (field << 3) | 2);
  PutVarint(out, value.size());
  out->append(value);
}

// XStat fields by number: 1 metadata_id, 3 uint64, 4 int64, 5 string, 7 ref.
std::string IntStat(uint64_t id, uint64_t value) {
  std::string stat;
  PutVarintField(&stat, 1, id);
  PutVarintField(&stat, 3, value);
  return stat;
}

std::string TextStat(uint64_t id, std::string_view value) {
  std::string stat;
  PutVarintField(&stat, 1, id);
  PutBytesField(&stat, 5, value);
  return stat;
}

std::string RefStat(uint64_t id, uint64_t ref) {
  std::string stat;
  PutVarintField(&stat, 1, id);
  PutVarintField(&stat, 7, ref);
  return stat;
}

// Collects one plane; stat names get ids from 1 in the order of first use.
class PlaneWriter {
 public:
  PlaneWriter(uint64_t id, std::string_view name) {
    PutVarintField(&bytes_, 1, id);
    PutBytesField(&bytes_, 2, name);
  }
  uint64_t StatId(std::string_view name) {
    for (size_t i = 0; i < stat_names_.size(); ++i) {
      if (stat_names_[i] == name) return i + 1;
    }
    stat_names_.emplace_back(name);
    return stat_names_.size();
  }
  void AddMetadata(uint64_t id, std::string_view name, std::string_view display_name,
                   const std::vector<std::string>& stats) {
    std::string value;
    PutVarintField(&value, 1, id);
    PutBytesField(&value, 2, name);
    if (!display_name.empty()) PutBytesField(&value, 4, display_name);
    for (const std::string& stat : stats) PutBytesField(&value, 5, stat);
    AddMapEntry(4, id, value);
  }
  void AddStat(const std::string& stat) { PutBytesField(&bytes_, 6, stat); }
  void AddLine(const std::string& line) { PutBytesField(&bytes_, 3, line); }
  std::string Finish() {
    for (size_t i = 0; i < stat_names_.size(); ++i) {
      std::string value;
      PutVarintField(&value, 1, i + 1);
      PutBytesField(&value, 2, stat_names_[i]);
      AddMapEntry(5, i + 1, value);
    }
    return std::move(bytes_);
  }
  size_t size_bytes() const { return bytes_.size(); }

 private:
  void AddMapEntry(uint32_t field, uint64_t key, std::string_view value) {
    std::string entry;
    PutVarintField(&entry, 1, key);
    PutBytesField(&entry, 2, value);
    PutBytesField(&bytes_, field, entry);
  }
  std::string bytes_;
  std::vector<std::string> stat_names_;
};

// Appends events to one XLine message.
class LineWriter {
 public:
  LineWriter(uint64_t id, std::string_view name, int64_t timestamp_ns) {
    PutVarintField(&bytes_, 1, id);
    PutBytesField(&bytes_, 2, name);
    PutVarintField(&bytes_, 3, static_cast<uint64_t>(timestamp_ns));
  }
  void AddEvent(uint64_t metadata_id, uint64_t offset_ps, uint64_t duration_ps,
                std::string_view stats) {
    event_.clear();
    PutVarintField(&event_, 1, metadata_id);
    PutVarintField(&event_, 2, offset_ps);
    PutVarintField(&event_, 3, duration_ps);
    event_.append(stats);
    PutBytesField(&bytes_, 4, event_);
    ++events_;
  }
  size_t size_bytes() const { return bytes_.size(); }
  uint64_t events() const { return events_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::string event_;
  uint64_t events_ = 0;
};

void AppendStat(std::string* stats, std::string_view stat) { PutBytesField(stats, 4, stat); }

class FileWriter {
 public:
  explicit FileWriter(std::FILE* file) : file_(file) {}
  void AddPlane(std::string_view plane) {
    std::string head;
    PutVarint(&head, (1 << 3) | 2);
    PutVarint(&head, plane.size());
    Write(head);
    Write(plane);
  }
  void AddHostname(std::string_view name) {
    std::string field;
    PutBytesField(&field, 4, name);
    Write(field);
  }
  bool ok() const { return ok_; }
  CorpusFile& result() { return result_; }
  void Finish() { result_.checksum = hasher_.Digest128().ToHex(); }

 private:
  void Write(std::string_view bytes) {
    ok_ = ok_ && std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
    hasher_.Add(bytes);
    result_.size_bytes += bytes.size();
  }
  std::FILE* file_;
  Hasher hasher_;
  CorpusFile result_;
  bool ok_ = true;
};

constexpr const char* kOpKinds[] = {"fusion",    "convolution",         "copy-start",
                                    "copy-done", "all-reduce",          "custom-call",
                                    "reduce",    "dynamic-update-slice"};
constexpr const char* kCategories[] = {"loop fusion", "convolution fusion", "copy-start",
                                       "copy-done",   "all-reduce",         "custom-call",
                                       "reduce",      "data formatting"};
constexpr int kOps = 600;

void AddOpMetadata(PlaneWriter* plane, SeededRandom* random) {
  for (int i = 0; i < kOps; ++i) {
    const int kind = i % 8;
    const std::string name = std::string(kOpKinds[kind]) + "." + std::to_string(i);
    const std::string text =
        "%" + name + " = bf16[8,1024,4096]{2,1,0:T(8,128)(2,1)} " + kOpKinds[kind] +
        "(bf16[8,1024,4096]{2,1,0:T(8,128)(2,1)} %param." + std::to_string(random->Next() % 900) +
        ", bf16[4096,4096]{1,0:T(8,128)(2,1)} %param." + std::to_string(random->Next() % 900) +
        "), kind=kLoop, calls=%fused_computation." + std::to_string(i);
    plane->AddMetadata(
        static_cast<uint64_t>(i + 1), text, name,
        {TextStat(plane->StatId("hlo_category"), kCategories[kind]),
         IntStat(plane->StatId("program_id"), 42),
         IntStat(plane->StatId("symbol_id"), static_cast<uint64_t>(i + 1)),
         IntStat(plane->StatId("flops"), random->Next() % 10'000'000'000ULL),
         IntStat(plane->StatId("bytes_accessed"), random->Next() % 1'000'000'000ULL),
         TextStat(plane->StatId("tf_op"),
                  "jit(train_step)/layer_" + std::to_string(i % 32) + "/dot_general:"),
         TextStat(plane->StatId("source"), "model.py:" + std::to_string(100 + i % 400))});
  }
}

// Steps of ~2,000 ops, modules and ops on one device, until the plane has `size_bytes`.
std::string TpuPlane(int device, uint64_t size_bytes, SeededRandom* random, CorpusFile* result) {
  PlaneWriter plane(static_cast<uint64_t>(device), "/device:TPU:" + std::to_string(device));
  plane.AddStat(TextStat(plane.StatId("device_type_string"), "TPU v6 Lite"));
  AddOpMetadata(&plane, random);
  plane.AddMetadata(kOps + 1, "jit_train_step(42)", "", {});
  const uint64_t run_id_stat = plane.StatId("run_id");
  const uint64_t offset_stat = plane.StatId("device_offset_ps");
  const uint64_t duration_stat = plane.StatId("device_duration_ps");
  LineWriter steps(1, "Steps", 0);
  LineWriter modules(2, "XLA Modules", 0);
  LineWriter ops(3, "XLA Ops", 0);
  LineWriter async(4, "Async XLA Ops", 0);
  const uint64_t budget = size_bytes > plane.size_bytes() ? size_bytes - plane.size_bytes() : 0;
  uint64_t now_ps = 5'000'000;
  uint64_t step = 0;
  std::string stats;
  while (ops.size_bytes() + modules.size_bytes() + steps.size_bytes() + async.size_bytes() <
         budget) {
    const uint64_t step_start_ps = now_ps;
    for (int i = 0; i < 2000 && ops.size_bytes() + async.size_bytes() < budget; ++i) {
      const uint64_t roll = random->Next();
      const uint64_t duration_ps = 200'000 + roll % 3'000'000;
      stats.clear();
      if (roll % 5 < 2) AppendStat(&stats, IntStat(run_id_stat, step));
      if (roll % 2 == 0) AppendStat(&stats, IntStat(duration_stat, duration_ps));
      if (roll % 2 == 1) AppendStat(&stats, IntStat(offset_stat, now_ps));
      ops.AddEvent(1 + (roll >> 8) % kOps, now_ps, duration_ps, stats);
      if (roll % 64 == 0) async.AddEvent(1 + (roll >> 16) % kOps, now_ps, duration_ps * 20, "");
      now_ps += duration_ps + (roll >> 24) % 100'000;
    }
    modules.AddEvent(kOps + 1, step_start_ps, now_ps - step_start_ps, "");
    plane.AddMetadata(kOps + 2 + step, std::to_string(step), "", {});
    steps.AddEvent(kOps + 2 + step, step_start_ps, now_ps - step_start_ps, "");
    now_ps += 20'000'000 + random->Next() % 10'000'000;
    ++step;
  }
  for (LineWriter* line : {&steps, &modules, &ops, &async}) {
    plane.AddLine(line->bytes());
    result->events += line->events();
    ++result->lines;
  }
  return plane.Finish();
}

std::string GpuPlane(int device, uint64_t size_bytes, SeededRandom* random, CorpusFile* result) {
  PlaneWriter plane(static_cast<uint64_t>(device), "/device:GPU:" + std::to_string(device));
  plane.AddStat(TextStat(plane.StatId("device_vendor"), "Nvidia"));
  for (int i = 0; i < kOps; ++i) {
    plane.AddMetadata(
        static_cast<uint64_t>(i + 1),
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_" + std::to_string(i) + ">(Params)", "",
        {});
  }
  const uint64_t correlation = plane.StatId("correlation_id");
  const uint64_t details = plane.StatId("kernel_details");
  const uint64_t hlo_op = plane.StatId("hlo_op");
  const uint64_t hlo_module = plane.StatId("hlo_module");
  const uint64_t context = plane.StatId("context_id");
  std::vector<uint64_t> op_refs;
  for (int i = 0; i < 40; ++i) op_refs.push_back(plane.StatId("fusion." + std::to_string(i)));
  const uint64_t module_ref = plane.StatId("jit_train_step");
  const uint64_t budget = size_bytes > plane.size_bytes() ? size_bytes - plane.size_bytes() : 0;
  constexpr int kStreams = 4;
  for (int stream = 0; stream < kStreams; ++stream) {
    LineWriter line(
        static_cast<uint64_t>(13 + stream),
        "Stream #" + std::to_string(13 + stream) + (stream < 2 ? "(Compute)" : "(MemcpyD2D)"), 0);
    uint64_t now_ps = 1'000'000 + static_cast<uint64_t>(stream) * 77'000;
    std::string stats;
    while (line.size_bytes() < budget / kStreams) {
      const uint64_t roll = random->Next();
      const uint64_t duration_ps = 1'500'000 + roll % 40'000'000;
      stats.clear();
      AppendStat(&stats, IntStat(correlation, roll % 5'000'000));
      // An op launches kernels of its own, each with a grid of its own or one of two others.
      const uint64_t kernel = (roll >> 20) % kOps;
      const uint64_t grid = (kernel * 97 + (roll >> 12) % 3) % 4096;
      AppendStat(&stats, RefStat(hlo_op, op_refs[kernel % op_refs.size()]));
      AppendStat(&stats, RefStat(hlo_module, module_ref));
      if (roll % 10 < 3) AppendStat(&stats, IntStat(context, 1));
      AppendStat(&stats,
                 TextStat(details, "regs:64 grid:" + std::to_string(grid) + ",1,1 block:256,1,1"));
      line.AddEvent(1 + kernel, now_ps, duration_ps, stats);
      now_ps += duration_ps + (roll >> 30) % 2'000'000;
    }
    plane.AddLine(line.bytes());
    result->events += line.events();
    ++result->lines;
  }
  return plane.Finish();
}

// Threads with nested events four deep.
std::string HostPlane(int threads, uint64_t size_bytes, SeededRandom* random, CorpusFile* result) {
  PlaneWriter plane(100, "/host:CPU");
  for (int i = 0; i < kOps; ++i)
    plane.AddMetadata(static_cast<uint64_t>(i + 1),
                      "TfrtCpuExecutable::Execute_" + std::to_string(i), "", {});
  const uint64_t run_id = plane.StatId("run_id");
  const uint64_t budget = size_bytes > plane.size_bytes() ? size_bytes - plane.size_bytes() : 0;
  for (int thread = 0; thread < threads; ++thread) {
    LineWriter line(1000 + random->Next() % 1'000'000'000, "tf_XLAEigen/" + std::to_string(thread),
                    0);
    uint64_t now_ps = random->Next() % 1'000'000;
    std::string stats;
    const std::function<void(int, uint64_t, uint64_t)> nest = [&](int depth, uint64_t start_ps,
                                                                  uint64_t duration_ps) {
      stats.clear();
      if (random->Next() % 2 == 0) AppendStat(&stats, IntStat(run_id, random->Next() % 4096));
      line.AddEvent(1 + random->Next() % kOps, start_ps, duration_ps, stats);
      if (depth == 4) return;
      const uint64_t children = 1 + random->Next() % 3;
      for (uint64_t c = 0; c < children; ++c) {
        nest(depth + 1, start_ps + duration_ps * c / children + 1,
             duration_ps / children - duration_ps / children / 8 - 2);
      }
    };
    while (line.size_bytes() < budget / static_cast<uint64_t>(threads)) {
      const uint64_t duration_ps = 50'000'000 + random->Next() % 400'000'000;
      nest(1, now_ps, duration_ps);
      now_ps += duration_ps + random->Next() % 30'000'000;
    }
    plane.AddLine(line.bytes());
    result->events += line.events();
    ++result->lines;
  }
  return plane.Finish();
}

std::string EnvironmentPlane() {
  PlaneWriter plane(200, "Task Environment");
  plane.AddStat(IntStat(plane.StatId("profile_start_time"), kStartUnixNs));
  return plane.Finish();
}

void WritePlanes(const CorpusOptions& options, FileWriter* writer) {
  SeededRandom random(options.seed * 1000003 + options.host);
  const uint64_t size = options.size_bytes;
  if (options.shape == Shape::kTpu) {
    for (int d = 0; d < 4; ++d)
      writer->AddPlane(TpuPlane(d, size * 23 / 100, &random, &writer->result()));
    writer->AddPlane(HostPlane(32, size * 8 / 100, &random, &writer->result()));
  } else if (options.shape == Shape::kGpu) {
    for (int d = 0; d < 8; ++d)
      writer->AddPlane(GpuPlane(d, size * 115 / 1000, &random, &writer->result()));
    writer->AddPlane(HostPlane(32, size * 8 / 100, &random, &writer->result()));
  } else {
    writer->AddPlane(HostPlane(122, size, &random, &writer->result()));
  }
  writer->AddPlane(EnvironmentPlane());
  writer->AddHostname("host" + std::to_string(options.host));
}

}  // namespace

Result<CorpusFile> WriteCorpusFile(const CorpusOptions& options, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr)
    return ErrnoError("CORPUS_WRITE", "Could not create the file", errno).Where(path);
  FileWriter writer(file);
  WritePlanes(options, &writer);
  const bool closed = std::fclose(file) == 0;
  if (!writer.ok() || !closed)
    return ErrnoError("CORPUS_WRITE", "Could not write the file", errno).Where(path);
  writer.Finish();
  return std::move(writer.result());
}

}  // namespace strobe::bench
