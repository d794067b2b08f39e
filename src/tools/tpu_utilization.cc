#include "src/tools/tpu_utilization.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace strobe::tools {
namespace {

constexpr std::string_view kV6e = "TPU v6 Lite";
constexpr std::string_view kV7x = "TPU v7x";

// What the formulas need to know of a generation; counter ids are addresses.
struct Generation {
  bool v7x = false;
  double frequency_hz = 0;
  double peak_hbm_bytes = 0;  // a second
  uint64_t cores = 1;         // TensorCores
  uint64_t cycles_per_xlu = 1;
};

Generation GenerationOf(std::string_view device_type) {
  constexpr double kGib = 1 << 30;
  if (device_type == kV7x) return {true, 1.9e9, 3433.0 * kGib, 2, 1};
  return {false, 1.75e9, 1525.5 * kGib, 1, 4};
}

// First counter of a TensorCore, and of the power manager of a die; both count cycles.
constexpr uint64_t kDieStride = 536870912;
uint64_t CoreCounter(bool v7x, uint64_t core) {
  return v7x ? 2791874568 + core * kDieStride : 3257466888;
}
uint64_t PowerCounter(uint64_t die) { return 2847490056 + die * kDieStride; }

class Utilization {
 public:
  explicit Utilization(const TpuSample& sample)
      : sample_(sample), generation_(GenerationOf(sample.device_type)) {}

  std::vector<UtilizationRow> Rows() {
    for (uint64_t core = 0; core < generation_.cores; ++core) TensorCore(core);
    for (uint64_t core = 0; core < generation_.cores; ++core) Bandwidth(core);
    for (uint64_t core = 0; core < generation_.cores; ++core) Interconnect();
    SparseCores();
    return std::move(rows_);
  }

 private:
  void TensorCore(uint64_t core);
  void MatrixUnits(uint64_t base, double cycles);
  void TransposeUnits(uint64_t base, double cycles);
  void Bandwidth(uint64_t core);
  void Interconnect();
  void SparseCores();
  void SparseCore(uint64_t die, uint64_t core, int64_t node);

  double At(uint64_t id) const { return sample_.Of(id); }
  double Sum(uint64_t first, uint64_t count) const {
    double sum = 0;
    for (uint64_t i = 0; i < count; ++i) sum += At(first + 8 * i);
    return sum;
  }
  void Add(std::string_view name, double achieved, double peak, std::string_view unit) {
    rows_.push_back({node_, std::string(name), achieved, peak, unit});
  }
  uint64_t CoreBase(uint64_t core) const { return CoreCounter(generation_.v7x, core); }
  static uint64_t PowerBase(uint64_t die) { return PowerCounter(die); }

  const TpuSample& sample_;
  const Generation generation_;
  int64_t node_ = 0;
  std::vector<UtilizationRow> rows_;
};

void Utilization::TensorCore(uint64_t core) {
  node_ = static_cast<int64_t>(core);
  const uint64_t base = CoreBase(core);
  const uint64_t power = PowerBase(core);
  const double cycles = generation_.v7x ? At(power) : At(base);
  if (cycles == 0) return;
  if (generation_.v7x) {
    Add("Clocks Skipped", At(power + 8), cycles, "cycles");
    Add("Ext Throttle Clocks Skipped", At(power + 32), cycles, "cycles");
    Add("LDIDT Droop Clocks Skipped", At(power + 56), cycles, "cycles");
  }
  Add("Scalar Unit", Sum(base + 80, 2), 2 * cycles, "instructions");
  Add("Vector ALUs", Sum(base + 248, 4), 4 * cycles, "instructions");
  Add("VPU Utilization", Sum(base + 1688, 20), 4 * cycles, "instructions");
  Add("Vmem Stores", At(base + 280), cycles, "instructions");
  Add("Vmem Loads", Sum(base + 296, 2), 2 * cycles, "instructions");
  MatrixUnits(base, cycles);
  TransposeUnits(base, cycles);
}

void Utilization::MatrixUnits(uint64_t base, double cycles) {
  const uint64_t busy = base + (generation_.v7x ? 448 : 512);
  Add("No MXU Busy", At(busy), cycles, "cycles");
  Add("1 MXU Busy", At(busy + 8), cycles, "cycles");
  Add("2 MXU Busy", At(busy + 16), cycles, "cycles");
  Add("Avg MXU Busy", 0.5 * At(busy + 8) + At(busy + 16), cycles, "cycles");
  double bf16[2];
  double f8[2] = {};
  double i8[2] = {};
  double i4[2] = {};
  for (uint64_t unit = 0; unit < 2; ++unit) {
    const auto of = [&](uint64_t offset) { return At(base + offset + 8 * unit); };
    // Weights: cycles that a multiplication of the kind keeps a unit busy.
    if (generation_.v7x) {
      bf16[unit] = 4 * of(432) + 8 * of(400) + 4 * of(384);
      f8[unit] = 8 * of(416);
    } else {
      bf16[unit] = 4 * of(464) + 8 * of(416) + 8 * of(400) + 4 * of(384);
      i8[unit] = 2 * of(480) + 8 * of(432);
      i4[unit] = 2 * of(496) + 8 * of(448);
    }
  }
  Add("MXU0", bf16[0] + f8[0] + i8[0] + i4[0], cycles, "cycles");
  Add("MXU1", bf16[1] + f8[1] + i8[1] + i4[1], cycles, "cycles");
  Add("MXU BF16", bf16[0] + bf16[1], 2 * cycles, "cycles");
  if (generation_.v7x) {
    Add("MXU E4M3 + E5M2", f8[0] + f8[1], 2 * cycles, "cycles");
  } else {
    Add("MXU I8", i8[0] + i8[1], 2 * cycles, "cycles");
    Add("MXU I4", i4[0] + i4[1], 2 * cycles, "cycles");
  }
  Add("MXU matpush", Sum(base + (generation_.v7x ? 488 : 552), 2), 2 * cycles, "cycles");
}

void Utilization::TransposeUnits(uint64_t base, double cycles) {
  const uint64_t busy = base + (generation_.v7x ? 584 : 648);
  Add("No XLU Busy", At(busy), cycles, "cycles");
  Add("1 XLU Busy", At(busy + 8), cycles, "cycles");
  Add("2 XLUs Busy", At(busy + 16), cycles, "cycles");
  Add("Avg XLU Busy", 0.5 * At(busy + 8) + At(busy + 16), cycles, "cycles");
  // Whole instructions that fit, as XProf counts them.
  const auto peak = static_cast<double>(static_cast<uint64_t>(cycles) / generation_.cycles_per_xlu);
  const uint64_t rotate = base + (generation_.v7x ? 520 : 584);
  for (uint64_t unit = 0; unit < 2; ++unit) {
    double sum = 0;  // rotate/permute, setting of patterns, transposes, packed ones
    for (uint64_t kind = 0; kind < 4; ++kind) sum += At(rotate + 16 * kind + 8 * unit);
    Add(unit == 0 ? "XLU0" : "XLU1", sum, peak, "instructions");
  }
}

void Utilization::Bandwidth(uint64_t core) {
  const double cycles = At(CoreBase(core));
  if (cycles == 0) return;
  constexpr double kBeatBytes = 32;
  double reads = 0;
  double writes = 0;
  const uint64_t stacks = generation_.v7x ? 4 : 2;
  for (uint64_t stack = 0; stack < stacks; ++stack) {
    for (uint64_t channel = 0; channel < 16; ++channel) {
      const uint64_t id = generation_.v7x
                              ? 2705724472 + core * 536870912 + stack * 2097152 + channel * 131072
                              : 3019980856 + stack * 33554432 + channel * 2097152;
      reads += Sum(id, 2);
      writes += Sum(id - 32, 4);
    }
  }
  reads *= kBeatBytes;
  writes *= kBeatBytes;
  const double total = reads + writes;
  node_ = 0;
  Add("HBM Rd+Wr - core " + std::to_string(core), total,
      generation_.peak_hbm_bytes * cycles / generation_.frequency_hz, "bytes");
  if (total <= 0) return;
  node_ = static_cast<int64_t>(core);
  Add("HBM Read Ratio", reads, total, "percent");
  Add("HBM Write Ratio", writes, total, "percent");
}

void Utilization::Interconnect() {
  constexpr double kFlitBytes = 128;
  constexpr double kPeakBytes = 294947368421.0526;  // a second
  constexpr double kClockHz = 1e9;                  // whatever the real clock is
  double reads = 0;
  double writes = 0;
  if (generation_.v7x) {
    for (uint64_t router = 0; router < 4; ++router) {
      reads += At(3238449440 + router * 32768);
      writes += At(3238449440 + router * 32768 + 56);
    }
  } else {
    reads = At(2953257136) + At(2953257192);
    writes = At(2953257248) + At(2953257304);
  }
  const double cycles = generation_.v7x ? At(PowerBase(0)) : At(CoreBase(0));
  const double peak = kPeakBytes * (cycles / kClockHz);
  node_ = 0;
  Add("ICI (Read)", kFlitBytes * reads, peak, "bytes");
  Add("ICI (Write)", kFlitBytes * writes, peak, "bytes");
}

void Utilization::SparseCores() {
  const uint64_t dies = generation_.v7x ? 2 : 1;
  for (uint64_t die = 0; die < dies; ++die) {
    for (uint64_t core = 0; core < 2; ++core) {
      SparseCore(die, core, static_cast<int64_t>(die * 2 + core));
    }
  }
}

void Utilization::SparseCore(uint64_t die, uint64_t core, int64_t node) {
  constexpr uint64_t kTiles = 16;
  node_ = node;
  const bool v7x = generation_.v7x;
  const uint64_t scalar =
      v7x ? 2792513544 + die * 536870912 + core * 27262976 : 3490185224 + core * 44040192;
  const uint64_t scalar_stride = v7x ? 1048576 : 2097152;
  const uint64_t vector = v7x ? 2809282576 + die * 536870912 + core * 27262976 : scalar + 952;
  const uint64_t vector_stride = v7x ? 524288 : scalar_stride;
  const uint64_t sequencer =
      v7x ? 2817921032 + die * 536870912 + core * 27262976 : 3532193800 + core * 44040192;
  const double peak = kTiles * At(scalar);
  const auto tiles = [&](std::string_view name, uint64_t first, uint64_t stride) {
    double sum = 0;
    for (uint64_t tile = 0; tile < kTiles; ++tile) sum += At(first + tile * stride);
    Add(name, sum, peak, "instructions");
  };
  const uint64_t issue = v7x ? 8 : 480;
  const uint64_t slots = v7x ? 24 : 496;
  tiles("TEC Scalar Issue", scalar + issue, scalar_stride);
  tiles("TEC Scalar Issue: S0 slot", scalar + slots, scalar_stride);
  tiles("TEC Scalar Issue: S1 slot", scalar + slots + 8, scalar_stride);
  tiles("TEC Scalar Issue: Smisc slot", scalar + slots + 16, scalar_stride);
  tiles("SC Vector Issue", vector, vector_stride);
  // XProf writes three of the v6e labels without a blank.
  const std::string gap = v7x ? ": " : ":";
  tiles("SC Vector Issue" + gap + "V0 Slot", vector + 8, vector_stride);
  tiles("SC Vector Issue: V1 Slot", vector + 16, vector_stride);
  tiles("SC Vector Issue: V2 Slot", vector + 24, vector_stride);
  tiles("SC Vector Issue: VLD Slot", vector + 32, vector_stride);
  tiles("SC Vector Issue: VST Slot", vector + 40, vector_stride);
  // Last come VRES and VEX, at 48 and 56 in both generations.
  tiles("SC Vector Issue" + gap + "VEX Slot", vector + 56, vector_stride);
  tiles("SC Vector Issue" + gap + "VRES Slot", vector + 48, vector_stride);
  const double cycles = At(sequencer);
  Add("SCS Scalar Issue", At(sequencer + 8), cycles, "instructions");
  Add("SCS: S0 Slot", At(sequencer + 24), cycles, "instructions");
  Add("SCS: S1 Slot", At(sequencer + 32), cycles, "instructions");
  Add("SCS: Smisc Slot", At(sequencer + 40), cycles, "instructions");
}

// A counter's value: the real number when it is not 0, else the whole one; never negative.
double ValueOf(const xplane::Stat& stat) {
  double value = stat.type == xplane::StatType::kDouble ? stat.number : 0;
  if (value == 0) {
    value = stat.type == xplane::StatType::kUint64 ? static_cast<double>(stat.uint64_value)
                                                   : static_cast<double>(stat.IntOrUint());
  }
  return std::max(value, 0.0);
}

// Stats of the metadata of events, which stand for what the event itself does not say.
struct Fallback {
  std::optional<uint64_t> id;
  std::optional<double> value;
};

Fallback FallbackOf(const xplane::ProfileFile& file, size_t plane, uint32_t metadata) {
  Fallback fallback;
  for (const xplane::Stat& stat : file.MetadataStats(plane, metadata)) {
    if (stat.name == "performance_counter_id") {
      fallback.id = static_cast<uint64_t>(stat.IntOrUint());
    }
    if (stat.name == "counter_value") fallback.value = ValueOf(stat);
  }
  return fallback;
}

void ReadLine(const xplane::ProfileFile& file, size_t p, size_t l, TpuSample* sample) {
  const xplane::Plane& plane = file.planes()[p];
  const xplane::LineColumns& line = file.Line(p, l);
  const auto values = file.EventStatColumn(p, l, "counter_value");
  const auto ids = file.EventStatColumn(p, l, "performance_counter_id");
  std::unordered_map<uint32_t, Fallback> fallbacks;
  for (uint32_t e = 0; e < line.event_count(); ++e) {
    const auto [at, added] = fallbacks.try_emplace(line.name[e]);
    if (added) at->second = FallbackOf(file, p, line.name[e]);
    const Fallback& fallback = at->second;
    if (values[e].type == xplane::StatType::kNone && !fallback.value) continue;
    uint64_t id = ids[e].type != xplane::StatType::kNone ? static_cast<uint64_t>(ids[e].IntOrUint())
                                                         : fallback.id.value_or(0);
    if (id == 0) id = static_cast<uint64_t>(plane.event_metadata[line.name[e]].id);
    if (sample->counters.size() >= kMaxCountersPerSample) return;
    sample->counters[id] =
        values[e].type != xplane::StatType::kNone ? ValueOf(values[e]) : *fallback.value;
  }
}

}  // namespace

bool HasUtilization(std::string_view device_type) {
  return device_type == kV6e || device_type == kV7x;
}

std::vector<TpuDevice> TpuDevicesOf(const xplane::ProfileFile& file) {
  std::vector<TpuDevice> devices;
  for (size_t p = 0; p < file.planes().size(); ++p) {
    if (!file.planes()[p].name.starts_with("/device:TPU:")) continue;
    TpuDevice device;
    device.plane = p;
    // A plane that does not say it has the number of its name.
    const std::string_view name = file.planes()[p].name;
    const std::string_view digits = name.substr(name.find_last_of(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), device.device_id);
    for (const xplane::Stat& stat : file.PlaneStats(p)) {
      if (stat.name == "device_id") {
        device.device_id = stat.IntOrUint();
        device.has_id = true;
      }
      if (stat.name == "device_type_string") device.device_type = stat.text;
    }
    devices.push_back(device);
  }
  return devices;
}

Result<std::vector<TpuSample>> ReadTpuSamples(const xplane::ProfileFile& file,
                                              const CancelToken& cancel) {
  std::vector<TpuSample> samples;
  for (const TpuDevice& device : TpuDevicesOf(file)) {
    if (!device.has_id || !HasUtilization(device.device_type)) continue;
    const xplane::Plane& plane = file.planes()[device.plane];
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      TpuSample sample;
      sample.plane = device.plane;
      sample.device_id = device.device_id;
      sample.device_type = device.device_type;
      sample.sample = plane.lines[l].id;
      sample.line_name = plane.lines[l].name;
      ReadLine(file, device.plane, l, &sample);
      if (!sample.counters.empty()) samples.push_back(std::move(sample));
    }
  }
  return samples;
}

TpuSample WithCycles(TpuSample sample, double duration_us) {
  const Generation generation = GenerationOf(sample.device_type);
  const double cycles = std::floor(duration_us * 1e-6 * generation.frequency_hz);
  for (uint64_t core = 0; core < generation.cores; ++core) {
    const uint64_t id = generation.v7x ? PowerCounter(core) : CoreCounter(generation.v7x, core);
    if (sample.Of(id) == 0) sample.counters[id] = cycles;
  }
  return sample;
}

std::vector<UtilizationRow> UtilizationOf(const TpuSample& sample) {
  return Utilization(sample).Rows();
}

}  // namespace strobe::tools
