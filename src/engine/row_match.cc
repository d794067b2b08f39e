#include "src/engine/row_match.h"

#include <algorithm>
#include <string>

#include "src/analysis/device_op_metrics.h"
#include "src/analysis/kernel_reports.h"
#include "src/analysis/line_kind.h"
#include "src/analysis/tf_op_name.h"
#include "src/analysis/trace_lines.h"
#include "src/xplane/stat_names.h"

namespace strobe::engine {
namespace {

using analysis::GpuEvent;
using analysis::OpMetrics;
using analysis::ParseFrameworkOp;
using tools::RowSubject;
using xplane::LineColumns;
using xplane::Plane;
using xplane::Stat;

constexpr std::string_view kTpuPrefix = "/device:TPU:";
// Kernels shorter than this are in no row.
constexpr int64_t kShortestKernelPs = 1000;

// Framework ops are written as "jit(f)/dot_general:" or "name:Type"; rows have the name alone.
std::string_view WithoutType(std::string_view op) { return op.substr(0, op.find(':')); }

std::string_view TextOf(const std::vector<Stat>& stats, std::string_view name) {
  for (const Stat& stat : stats) {
    if (stat.name == name) return stat.text;
  }
  return {};
}

std::optional<uint64_t> ProgramOf(const std::vector<Stat>& stats) {
  for (const Stat& stat : stats) {
    if (stat.name == "program_id") return static_cast<uint64_t>(stat.IntOrUint());
  }
  return std::nullopt;
}

// "a::b::fusion.3": kernels of a graph carry the path to their op.
bool NamesOp(std::string_view stat, std::string_view op) {
  return stat == op || (stat.size() > op.size() + 2 && stat.ends_with(op) &&
                        stat.substr(stat.size() - op.size() - 2, 2) == "::");
}

bool IsNone(const std::vector<uint8_t>& wanted) {
  return std::ranges::find(wanted, 1) == wanted.end();
}

}  // namespace

RowMatcher::RowMatcher(const xplane::ProfileFile& file, size_t plane, const RowSubject& subject,
                       analysis::HloOps* ops)
    : file_(file), plane_(plane), subject_(subject), ops_(*ops) {
  if (subject.side == RowSubject::Side::kHost) {
    if (analysis::ClassifyPlane(file.planes()[plane].name) == analysis::PlaneKind::kHost) {
      kind_ = Kind::kHostOp;
      FindHostOps();
    }
    return;
  }
  kind_ = Kind::kByName;
  if (subject.side == RowSubject::Side::kDevice) {
    const std::vector<size_t> devices = analysis::DevicePlanesOf(file);
    if (std::ranges::find(devices, plane) == devices.end()) {
      kind_ = Kind::kNone;
    } else if (!file.planes()[plane].name.starts_with(kTpuPrefix)) {
      kind_ = subject.launch.empty() ? Kind::kGpuOp : Kind::kKernel;
    }
  }
  if (kind_ == Kind::kByName) FindNames();
}

bool RowMatcher::Takes(size_t line) const {
  const Plane& plane = file_.planes()[plane_];
  if (kind_ == Kind::kNone) return false;
  if (kind_ == Kind::kByName) return !analysis::IsDerivedLine(plane, plane.lines[line]);
  return !analysis::IsDerivedLineId(plane.lines[line].id);
}

std::vector<uint8_t> RowMatcher::Match(size_t line) const {
  switch (kind_) {
    case Kind::kNone:
      return {};
    case Kind::kByName:
      return MatchByName(line);
    case Kind::kGpuOp:
    case Kind::kKernel:
      return MatchGpu(line);
    case Kind::kHostOp:
      return MatchHost(line);
  }
  return {};
}

void RowMatcher::FindHostOps() {
  const auto& entries = file_.planes()[plane_].event_metadata;
  const std::string_view op = subject_.op_name;
  names_.op.resize(entries.size());
  for (size_t m = 0; m < entries.size(); ++m) {
    if (!entries[m].present || op.empty()) continue;
    const analysis::FrameworkOp framework = ParseFrameworkOp(entries[m].name);
    names_.op[m] =
        entries[m].name == op || entries[m].label() == op ||
        (framework.category != analysis::FrameworkCategory::kUnknown && framework.name == op);
  }
}

void RowMatcher::FindNames() {
  const Plane& plane = file_.planes()[plane_];
  const size_t count = plane.event_metadata.size();
  names_.op.resize(count);
  names_.framework.resize(count);
  names_.program.resize(count);
  const bool wants_stats = (!subject_.framework_op.empty() && xplane::KnowsStat(plane, "tf_op")) ||
                           (subject_.hlo_module_id != 0 && xplane::KnowsStat(plane, "program_id"));
  for (uint32_t m = 0; m < count; ++m) {
    const xplane::EventMetadata& metadata = plane.event_metadata[m];
    if (!metadata.present) continue;
    if (!subject_.op_name.empty()) {
      names_.op[m] = metadata.label() == subject_.op_name || metadata.name == subject_.op_name;
      names_.any_op |= names_.op[m] != 0;
    }
    const bool relevant = subject_.op_name.empty() || names_.op[m] != 0;
    if (!relevant) continue;
    const std::vector<Stat> stats =
        wants_stats ? file_.MetadataStats(plane_, m) : std::vector<Stat>();
    if (!subject_.framework_op.empty()) {
      // An op that no framework op stands behind goes by its own name.
      const std::string_view framework = WithoutType(TextOf(stats, "tf_op"));
      names_.framework[m] = framework.empty() ? metadata.label() == subject_.framework_op
                                              : framework == WithoutType(subject_.framework_op);
      names_.any_framework |= names_.framework[m] != 0;
    }
    const std::optional<uint64_t> program = ProgramOf(stats);
    if (program && subject_.hlo_module_id != 0) {
      names_.program[m] = *program == subject_.hlo_module_id ? 1 : 2;
    }
  }
}

std::vector<uint8_t> RowMatcher::MatchByName(size_t line) const {
  const LineColumns& columns = file_.Line(plane_, line);
  std::vector<uint8_t> wanted(columns.event_count());
  for (size_t e = 0; e < wanted.size(); ++e) {
    const uint32_t name = columns.name[e];
    const bool fits = subject_.op_name.empty() ? names_.framework[name] != 0 : names_.op[name] != 0;
    wanted[e] = fits && names_.program[name] != 2;
  }
  // Where names say nothing, the events' own stats do (kernels, thunks).
  if (!names_.any_op && !names_.any_framework) {
    const bool by_framework = subject_.op_name.empty();
    const std::string_view stat_name = by_framework ? "tf_op" : "hlo_op";
    const std::string_view text =
        by_framework ? WithoutType(subject_.framework_op) : std::string_view(subject_.op_name);
    if (!xplane::KnowsStat(file_.planes()[plane_], stat_name)) return {};
    const std::vector<Stat> column = file_.EventStatColumn(plane_, line, stat_name);
    for (size_t e = 0; e < std::min(wanted.size(), column.size()); ++e) {
      const std::string_view value = by_framework ? WithoutType(column[e].text) : column[e].text;
      wanted[e] = !value.empty() && NamesOp(value, text);
    }
  }
  if (IsNone(wanted)) return {};
  MatchPrograms(line, &wanted);
  return wanted;
}

void RowMatcher::MatchPrograms(size_t line, std::vector<uint8_t>* wanted) const {
  if (subject_.hlo_module_id == 0 || !xplane::KnowsStat(file_.planes()[plane_], "program_id")) {
    return;
  }
  const std::vector<Stat> programs = file_.EventStatColumn(plane_, line, "program_id");
  for (size_t e = 0; e < std::min(wanted->size(), programs.size()); ++e) {
    if (programs[e].type == xplane::StatType::kNone) continue;
    (*wanted)[e] &= static_cast<uint64_t>(programs[e].IntOrUint()) == subject_.hlo_module_id;
  }
}

std::vector<uint8_t> RowMatcher::MatchGpu(size_t line) const {
  const LineColumns& columns = file_.Line(plane_, line);
  const analysis::GpuEventReader reader(file_, plane_);
  if (!reader.AnyMayOccur(columns)) return {};
  const analysis::LineBytes bytes(file_, plane_, line);
  const auto& entries = file_.planes()[plane_].event_metadata;
  std::vector<uint8_t> wanted(columns.event_count());
  for (uint32_t e = 0; e < wanted.size(); ++e) {
    const std::string_view kernel = entries[columns.name[e]].name;
    if (kind_ == Kind::kKernel) {
      if (kernel != subject_.op_name || columns.duration_ps[e] < kShortestKernelPs) continue;
      wanted[e] = IsKernel(reader.Read(bytes.Record(e)));
    } else {
      wanted[e] = IsGpuOp(reader.Read(bytes.Record(e)), kernel);
    }
  }
  return IsNone(wanted) ? std::vector<uint8_t>() : wanted;
}

const OpMetrics* RowMatcher::FindOp(const GpuEvent& gpu) const {
  if (!gpu.program_id) return nullptr;
  const auto [known, is_new] = found_.try_emplace({*gpu.program_id, gpu.hlo_op}, nullptr);
  if (is_new) known->second = ops_.Find(*gpu.program_id, gpu.hlo_op);
  return known->second;
}

// As GPU op metrics have it: the op of the program that the event names, else of its framework op
// and the kernel.
bool RowMatcher::IsGpuOp(const GpuEvent& gpu, std::string_view kernel) const {
  if (gpu.is_hlo_op()) {
    const OpMetrics* const op = FindOp(gpu);
    if (op == nullptr) return false;  // nobody knows what it is, so no row counts it
    if (subject_.hlo_module_id != 0 && *gpu.program_id != subject_.hlo_module_id) return false;
    if (!subject_.op_name.empty()) return op->name == subject_.op_name;
    const std::string_view name =
        op->provenance.empty() ? std::string_view(op->name) : ParseFrameworkOp(op->provenance).name;
    return name == subject_.framework_op;
  }
  if (!gpu.is_framework_op() || subject_.hlo_module_id != 0) return false;
  const std::string_view name = ParseFrameworkOp(gpu.framework_op).name;
  if (subject_.op_name.empty()) return name == subject_.framework_op;
  const std::string_view wanted = subject_.op_name;
  return wanted.size() == name.size() + 1 + kernel.size() && wanted.starts_with(name) &&
         wanted[name.size()] == '/' && wanted.ends_with(kernel);
}

// As kernel reports have it. Of a kernel the op is known exactly, none is one too.
bool RowMatcher::IsKernel(const GpuEvent& gpu) const {
  if (!gpu.is_kernel()) return false;
  const auto [known, is_new] = launches_.try_emplace(gpu.kernel_details, false);
  if (is_new) {
    analysis::KernelReport details;
    analysis::ParseKernelDetails(gpu.kernel_details, &details);
    known->second = analysis::LaunchOf(details) == subject_.launch;
  }
  if (!known->second) return false;
  std::string_view name;
  if (gpu.is_framework_op()) name = ParseFrameworkOp(gpu.framework_op).name;
  if (gpu.is_hlo_op()) {
    if (const OpMetrics* const op = FindOp(gpu); op != nullptr) {
      name = op->provenance;
      if (name.ends_with(':')) name.remove_suffix(1);
    }
  }
  return name == subject_.framework_op;
}

std::vector<uint8_t> RowMatcher::MatchHost(size_t line) const {
  const LineColumns& columns = file_.Line(plane_, line);
  const std::string_view op = subject_.op_name;
  const analysis::StatScanner scanner(file_, plane_, {"tf_op"});
  const bool scan = scanner.AnyMayOccur(columns);
  const analysis::LineBytes bytes(file_, plane_, line);
  std::vector<uint8_t> wanted(columns.event_count());
  for (uint32_t e = 0; e < wanted.size(); ++e) {
    wanted[e] = names_.op[columns.name[e]];
    if (wanted[e] != 0 || !scan) continue;
    scanner.Scan(bytes.Record(e), [&](size_t, const Stat& stat) {
      wanted[e] |= static_cast<uint8_t>(ParseFrameworkOp(stat.text).name == op);
    });
  }
  return IsNone(wanted) ? std::vector<uint8_t>() : wanted;
}

DeviceTimes::DeviceTimes(const xplane::ProfileFile& file, size_t plane, size_t line)
    : scanner_(file, plane, {"device_offset_ps", "device_duration_ps"}),
      any_(scanner_.AnyMayOccur(file.Line(plane, line))),
      bytes_(file, plane, line) {}

std::optional<int64_t> DeviceTimes::DurationOf(uint32_t event) const {
  if (!any_) return std::nullopt;
  bool has_offset = false;
  std::optional<int64_t> duration_ps;
  scanner_.Scan(bytes_.Record(event), [&](size_t wanted, const Stat& stat) {
    if (wanted == 0) has_offset = true;
    if (wanted == 1) duration_ps = std::max<int64_t>(0, stat.IntOrUint());
  });
  return has_offset ? duration_ps : std::nullopt;
}

}  // namespace strobe::engine
