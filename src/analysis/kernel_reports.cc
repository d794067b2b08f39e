#include "src/analysis/kernel_reports.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "src/analysis/gpu_event_stats.h"
#include "src/analysis/line_order.h"
#include "src/analysis/tf_op_name.h"
#include "src/analysis/trace_lines.h"
#include "src/base/hash.h"

namespace strobe::analysis {
namespace {

constexpr std::array<std::string_view, 24> kTensorCoreNames = {
    "16816",
    "c1688",
    "conv1x1",
    "conv2d_c1_k1",
    "dgrad_1x1_stride_2x2",
    "direct_group",
    "first_layer_wgrad_kernel",
    "h1688",
    "h884",
    "hmma",
    "i16832",
    "i8816",
    "s884",
    "s1688",
    "xmma_gemm",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_sparse_gemm",
    "xmma_warp_specialized_implicit_gemm",
    // Matrix units of AMD, and kernels that XLA generates for products.
    "Cijk_",
    "Custom_Cijk_",
    "gemm_fusion",
    "mfma",
    "wmma",
};

constexpr std::array<std::string_view, 13> kEligibleEndings = {
    "Conv2D",
    "Conv2DBackpropFilter",
    "Conv2DBackpropInput",
    "Conv3D",
    "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropFilter",
    "DepthwiseConv2dNativeBackpropInput",
    "/MatMul",
    "FusedMatMul",
    "/CudnnRNN",
    "XlaDot",
    "dot_general",
    "conv_general_dilated",
};

constexpr std::array<std::string_view, 4> kEligibleParts = {
    "BatchMatMul",
    "CudnnRNNV",
    "CudnnRNNForward",
    "CudnnRNNBackprop",
};

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

void ParseDimensions(std::string_view text, uint32_t (&dimensions)[3]) {
  uint32_t parsed[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    const size_t comma = text.find(',');
    if ((i < 2) != (comma != std::string_view::npos)) return;
    if (!ParseNumber(text.substr(0, comma), &parsed[i])) return;
    if (i < 2) text.remove_prefix(comma + 1);
  }
  std::ranges::copy(parsed, dimensions);
}

void ParsePair(std::string_view key, std::string_view value, KernelReport* report) {
  uint32_t number = 0;
  if (key == "block") return ParseDimensions(value, report->block_dim);
  if (key == "grid") return ParseDimensions(value, report->grid_dim);
  if (key == "occ_pct") {
    double percent = 0;
    if (ParseNumber(value, &percent)) report->occupancy_percent = percent;
    return;
  }
  if (!ParseNumber(value, &number)) return;
  if (key == "regs") report->registers_per_thread = number;
  if (key == "static_shared") report->static_shmem_bytes = number;
  if (key == "dynamic_shared") report->dynamic_shmem_bytes = number;
}

}  // namespace

void ParseKernelDetails(std::string_view details, KernelReport* report) {
  for (size_t i = 0; i < 3; ++i) report->block_dim[i] = report->grid_dim[i] = 1;
  while (!details.empty()) {
    const size_t end = details.find_first_of(" \n");
    const std::string_view token = details.substr(0, end);
    details.remove_prefix(end == std::string_view::npos ? details.size() : end + 1);
    const size_t colon = token.find(':');
    if (colon == std::string_view::npos || token.find(':', colon + 1) != std::string_view::npos) {
      continue;
    }
    ParsePair(token.substr(0, colon), token.substr(colon + 1), report);
  }
}

std::string LaunchOf(const KernelReport& report) {
  const auto joined = [](const uint32_t(&dimensions)[3]) {
    return std::to_string(dimensions[0]) + "," + std::to_string(dimensions[1]) + "," +
           std::to_string(dimensions[2]);
  };
  return "regs:" + std::to_string(report.registers_per_thread) +
         " static_shared:" + std::to_string(report.static_shmem_bytes) +
         " dynamic_shared:" + std::to_string(report.dynamic_shmem_bytes) +
         " grid:" + joined(report.grid_dim) + " block:" + joined(report.block_dim);
}

bool UsesTensorCore(std::string_view kernel_name) {
  return std::ranges::any_of(kTensorCoreNames, [&](std::string_view part) {
    return kernel_name.find(part) != std::string_view::npos;
  });
}

bool IsTensorCoreEligible(std::string_view op_name) {
  return op_name.ends_with("XlaDotV2") ||
         std::ranges::any_of(kEligibleEndings,
                             [&](std::string_view end) { return op_name.ends_with(end); }) ||
         std::ranges::any_of(kEligibleParts, [&](std::string_view part) {
           return op_name.find(part) != std::string_view::npos;
         });
}

bool IsEinsumEligible(std::string_view equation) {
  const size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos) return false;
  if (equation.find("->", arrow + 2) != std::string_view::npos) return false;
  return std::ranges::count(equation.substr(0, arrow), ',') == 1;
}

namespace {

// A kind of kernel, with numbers in place of its texts.
struct Kind {
  uint32_t name = 0;
  uint32_t op_name = 0;
  uint32_t registers_per_thread = 0;
  uint32_t static_shmem_bytes = 0;
  uint32_t dynamic_shmem_bytes = 0;
  uint32_t block_dim[3] = {0, 0, 0};
  uint32_t grid_dim[3] = {0, 0, 0};
  uint32_t flags = 0;  // kUsesTensorCore, kIsEligible
  friend bool operator==(const Kind&, const Kind&) = default;
};
constexpr uint32_t kUsesTensorCore = 1;
constexpr uint32_t kIsEligible = 2;
static_assert(sizeof(Kind) == 12 * sizeof(uint32_t), "hashed as it lies in memory");

struct KindHash {
  size_t operator()(const Kind& kind) const {
    return static_cast<size_t>(Hash64({reinterpret_cast<const char*>(&kind), sizeof(kind)}));
  }
};

struct Totals {
  uint64_t occurrences = 0;
  uint64_t total_ns = 0;
  uint64_t min_ns = 0;
  uint64_t max_ns = 0;
  double occupancy_percent = 0;  // of the first launch

  void Add(const Totals& other) {
    if (occurrences == 0) {
      *this = other;
      return;
    }
    min_ns = std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
    total_ns += other.total_ns;
    occurrences += other.occurrences;
  }
};

// Kinds are kept in parts by their hash, so that planes can be added up side by side.
constexpr size_t kParts = 16;
using Part = std::unordered_map<Kind, Totals, KindHash>;
using Parts = std::array<Part, kParts>;
size_t PartOf(size_t hash) { return hash >> 60; }
static_assert(kParts == 16 && sizeof(size_t) == 8);

// Numbers of texts that belong to others; the same text has the same number.
class Texts {
 public:
  uint32_t NumberOf(std::string_view text) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = numbers_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return place->second;
  }
  std::string_view Text(uint32_t number) const { return texts_[number]; }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string_view, uint32_t> numbers_;
  std::vector<std::string_view> texts_;
};

class PlaneKernels {
 public:
  PlaneKernels(const xplane::ProfileFile& file, size_t plane, HloOps* ops, Texts* names,
               Texts* op_names, Parts* parts)
      : file_(file),
        plane_(plane),
        reader_(file, plane),
        ops_(*ops),
        op_names_(*op_names),
        parts_(*parts) {
    for (const xplane::EventMetadata& metadata : file.planes()[plane].event_metadata) {
      names_.push_back(
          {names->NumberOf(metadata.name), UsesTensorCore(metadata.name) ? kUsesTensorCore : 0});
    }
    seen_.resize(names_.size());
  }

  Status Run(const CancelToken& cancel) {
    for (size_t l = 0; l < file_.planes()[plane_].lines.size(); ++l) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      if (IsDerivedLineId(file_.planes()[plane_].lines[l].id)) continue;
      const xplane::LineColumns& line = file_.Line(plane_, l);
      if (!reader_.AnyMayOccur(line)) continue;
      const LineBytes bytes(file_, plane_, l);
      ForEachInOrder(line, [&](uint32_t event) {
        if (line.duration_ps[event] >= kShortestPs) {
          AddEvent(reader_.Read(bytes.Record(event)), line.name[event],
                   static_cast<uint64_t>(line.duration_ps[event]) / 1000);
        }
      });
    }
    return OkStatus();
  }

 private:
  static constexpr int64_t kShortestPs = 1000;
  struct Name {
    uint32_t number;
    uint32_t flags;
  };
  struct Op {
    uint32_t number = 0;
    bool is_eligible = false;
    bool is_known = false;
  };

  // Launches of a name that were seen last, so that their texts are compared and not read again. A
  // kernel is launched in few forms, and in turn.
  struct Seen {
    static constexpr size_t kForms = 4;
    struct Form {
      GpuEvent event;
      Totals* totals = nullptr;
    };
    std::array<Form, kForms> forms;
    size_t next = 0;
  };
  static bool IsAlike(const GpuEvent& a, const GpuEvent& b) {
    return a.kernel_details == b.kernel_details && a.hlo_op == b.hlo_op &&
           a.framework_op == b.framework_op && a.equation == b.equation &&
           a.program_id == b.program_id;
  }

  void AddEvent(const GpuEvent& gpu, uint32_t name, uint64_t duration_ns) {
    if (!gpu.is_kernel()) return;
    Seen& seen = seen_[name];
    for (const Seen::Form& form : seen.forms) {
      if (form.totals == nullptr || !IsAlike(form.event, gpu)) continue;
      form.totals->Add({1, duration_ns, duration_ns, duration_ns, 0});
      return;
    }
    seen.forms[seen.next] = {gpu, AddKind(gpu, name, duration_ns)};
    seen.next = (seen.next + 1) % Seen::kForms;
  }

  Totals* AddKind(const GpuEvent& gpu, uint32_t name, uint64_t duration_ns) {
    KernelReport details;
    ParseKernelDetails(gpu.kernel_details, &details);
    Kind kind;
    kind.name = names_[name].number;
    kind.flags = names_[name].flags;
    kind.registers_per_thread = details.registers_per_thread;
    kind.static_shmem_bytes = details.static_shmem_bytes;
    kind.dynamic_shmem_bytes = details.dynamic_shmem_bytes;
    std::ranges::copy(details.block_dim, kind.block_dim);
    std::ranges::copy(details.grid_dim, kind.grid_dim);
    Op op = OfText({});
    if (gpu.is_framework_op()) {
      op = OfText(ParseFrameworkOp(gpu.framework_op).name);
      const bool uses_core = (kind.flags & kUsesTensorCore) != 0;
      if (op.is_eligible || uses_core || IsEinsumEligible(gpu.equation)) kind.flags |= kIsEligible;
    }
    if (gpu.is_hlo_op() && gpu.program_id) {
      if (const Op of_hlo = OfHlo(*gpu.program_id, gpu.hlo_op); of_hlo.is_known) {
        op = of_hlo;
        if (op.is_eligible) kind.flags |= kIsEligible;
      }
    }
    kind.op_name = op.number;
    const Totals once = {1, duration_ns, duration_ns, duration_ns, details.occupancy_percent};
    Totals& totals = parts_[PartOf(KindHash()(kind))][kind];
    totals.Add(once);
    return &totals;
  }

  Op OfText(std::string_view name) {
    const auto [known, is_new] = by_text_.try_emplace(name);
    if (is_new) known->second = {op_names_.NumberOf(name), IsTensorCoreEligible(name), true};
    return known->second;
  }

  Op OfHlo(uint64_t program_id, std::string_view name) {
    const auto [known, is_new] = by_hlo_.try_emplace({program_id, name});
    if (!is_new) return known->second;
    const OpMetrics* op = ops_.Find(program_id, name);
    if (op == nullptr) return known->second;
    std::string_view provenance = op->provenance;
    if (provenance.ends_with(':')) provenance.remove_suffix(1);
    known->second = OfText(provenance);
    return known->second;
  }

  const xplane::ProfileFile& file_;
  const size_t plane_;
  const GpuEventReader reader_;
  HloOps& ops_;
  Texts& op_names_;
  Parts& parts_;
  std::vector<Name> names_;  // by event metadata
  std::vector<Seen> seen_;   // likewise
  std::unordered_map<std::string_view, Op> by_text_;
  std::map<std::pair<uint64_t, std::string_view>, Op> by_hlo_;
};

using Entry = std::pair<const Kind, Totals>;

// Heaviest first; a total order, so that the choice does not depend on how planes were read.
bool IsHeavier(const Entry& a, const Entry& b, const Texts& names, const Texts& op_names) {
  if (a.second.total_ns != b.second.total_ns) return a.second.total_ns > b.second.total_ns;
  const auto key = [&](const Kind& kind) {
    const uint32_t(&grid)[3] = kind.grid_dim;
    const uint32_t(&block)[3] = kind.block_dim;
    return std::tuple(names.Text(kind.name), grid[0], grid[1], grid[2], block[0], block[1],
                      block[2], kind.registers_per_thread, kind.static_shmem_bytes,
                      kind.dynamic_shmem_bytes, kind.flags & kUsesTensorCore,
                      kind.flags & kIsEligible, op_names.Text(kind.op_name));
  };
  return key(a.first) < key(b.first);
}

KernelReport ReportOf(const Entry& entry, const Texts& names, const Texts& op_names) {
  const auto& [kind, totals] = entry;
  KernelReport report;
  report.name = names.Text(kind.name);
  report.op_name = op_names.Text(kind.op_name);
  report.registers_per_thread = kind.registers_per_thread;
  report.static_shmem_bytes = kind.static_shmem_bytes;
  report.dynamic_shmem_bytes = kind.dynamic_shmem_bytes;
  std::ranges::copy(kind.block_dim, report.block_dim);
  std::ranges::copy(kind.grid_dim, report.grid_dim);
  report.occupancy_percent = totals.occupancy_percent;
  report.uses_tensor_core = (kind.flags & kUsesTensorCore) != 0;
  report.is_op_tensor_core_eligible = (kind.flags & kIsEligible) != 0;
  report.occurrences = totals.occurrences;
  report.total_duration_ns = totals.total_ns;
  report.min_duration_ns = totals.min_ns;
  report.max_duration_ns = totals.max_ns;
  return report;
}

}  // namespace

Result<std::vector<KernelReport>> HeaviestKernels(const PreparedHost& host,
                                                  std::span<const size_t> planes, HloOps* ops,
                                                  size_t limit, const CancelToken& cancel) {
  Texts names;
  Texts op_names;
  std::vector<Parts> of_planes(planes.size());
  STROBE_RETURN_IF_ERROR(ForEachPiece(host.parallel(), planes.size(), [&](size_t i) {
    return PlaneKernels(host.file(), planes[i], ops, &names, &op_names, &of_planes[i]).Run(cancel);
  }));
  const auto heavier = [&](const Entry* a, const Entry* b) {
    return IsHeavier(*a, *b, names, op_names);
  };
  std::array<std::vector<const Entry*>, kParts> heaviest;
  Parts sums;
  STROBE_RETURN_IF_ERROR(ForEachPiece(host.parallel(), kParts, [&](size_t part) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    for (Parts& parts : of_planes) {
      if (sums[part].empty()) {
        sums[part] = std::move(parts[part]);
        continue;
      }
      for (const auto& [kind, totals] : parts[part]) sums[part][kind].Add(totals);
      parts[part] = Part();
    }
    std::vector<const Entry*>& chosen = heaviest[part];
    for (const Entry& entry : sums[part]) chosen.push_back(&entry);
    const auto end = chosen.begin() + static_cast<ptrdiff_t>(std::min(limit, chosen.size()));
    std::partial_sort(chosen.begin(), end, chosen.end(), heavier);
    chosen.erase(end, chosen.end());
    return OkStatus();
  }));
  std::vector<const Entry*> all;
  for (const std::vector<const Entry*>& chosen : heaviest) {
    all.insert(all.end(), chosen.begin(), chosen.end());
  }
  std::ranges::sort(all, heavier);
  if (all.size() > limit) all.resize(limit);
  std::vector<KernelReport> reports;
  for (const Entry* entry : all) reports.push_back(ReportOf(*entry, names, op_names));
  return reports;
}

}  // namespace strobe::analysis
