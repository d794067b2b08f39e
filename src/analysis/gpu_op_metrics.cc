#include "src/analysis/gpu_op_metrics.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "src/analysis/gpu_event_stats.h"
#include "src/analysis/line_order.h"
#include "src/analysis/tf_op_name.h"
#include "src/analysis/trace_lines.h"

namespace strobe::analysis {
namespace {

// Kernels of one op that follow each other.
struct Run {
  const OpMetrics* op = nullptr;
  uint64_t program_id = 0;
  int64_t group = 0;
  bool is_eager = false;
  uint64_t occurrences = 0;
  uint64_t time_ps = 0;
  double vdd_energy_j = 0;
  uint64_t flops = 0;  // what the events say, of one execution
  uint64_t bytes_accessed = 0;
};

class GpuPlane {
 public:
  GpuPlane(const PreparedHost& host, size_t plane, HloOps* ops)
      : host_(host), plane_(plane), ops_(ops), reader_(host.file(), plane) {}

  OpMetricsDb& db() { return db_; }

  void AddLine(size_t line) {
    const xplane::LineColumns& columns = host_.file().Line(plane_, line);
    const PreparedLine& prepared = host_.planes()[plane_].lines[line];
    const int64_t base_ps = host_.file().planes()[plane_].lines[line].base_ps;
    const LineBytes bytes(host_.file(), plane_, line);
    ForEachInOrder(columns, [&](uint32_t event) {
      const int64_t offset_ps = columns.start_ps[event] - base_ps;
      first_ps_ = std::min(first_ps_, offset_ps);
      last_ps_ = std::max(last_ps_, offset_ps + columns.duration_ps[event]);
      GpuEvent gpu = reader_.Read(bytes.Record(event));
      const int64_t group = prepared.GroupOf(event);
      if (group != kNoGroup) gpu.group = group;
      gpu.is_eager |= IsEager(prepared, event);
      const auto duration_ps = static_cast<uint64_t>(columns.duration_ps[event]);
      if (gpu.is_hlo_op()) {
        AddHloEvent(gpu, duration_ps);
      } else if (gpu.is_framework_op()) {
        Close();
        AddFrameworkEvent(gpu,
                          host_.file().planes()[plane_].event_metadata[columns.name[event]].name,
                          duration_ps);
      }
    });
    Close();
  }

  uint64_t span_ps() const {
    return last_ps_ > first_ps_ && last_ps_ != 0 ? static_cast<uint64_t>(last_ps_ - first_ps_) : 0;
  }

 private:
  static bool IsEager(const PreparedLine& line, uint32_t event) {
    return event < line.is_eager.size() && line.is_eager[event] > 0;
  }

  void AddHloEvent(const GpuEvent& gpu, uint64_t duration_ps) {
    if (!gpu.program_id) return;
    const OpMetrics* op = Find(*gpu.program_id, gpu.hlo_op);
    if (op == nullptr) return;  // nobody knows what it is
    // Without a group nothing says that two kernels belong together.
    const bool same = run_.op == op && gpu.group.has_value() && *gpu.group == run_.group;
    if (!same) Close();
    if (run_.occurrences == 0) {
      run_.op = op;
      run_.program_id = *gpu.program_id;
      run_.group = gpu.group.value_or(0);
      run_.is_eager = gpu.is_eager;
    }
    ++run_.occurrences;
    run_.time_ps += duration_ps;
    run_.vdd_energy_j += gpu.vdd_energy_j;
    if (gpu.flops != 0) run_.flops = gpu.flops;
    if (gpu.bytes_accessed != 0) run_.bytes_accessed = gpu.bytes_accessed;
  }

  // The modules are shared with other planes, which costs a lock.
  const OpMetrics* Find(uint64_t program_id, std::string_view name) {
    const auto [known, is_new] = found_.try_emplace({program_id, name}, nullptr);
    if (is_new) known->second = ops_->Find(program_id, name);
    return known->second;
  }

  OpMetrics& Place(uint64_t program_id, std::string_view name, bool* is_new) {
    const auto [place, added] =
        places_.try_emplace({program_id, std::string(name)}, db_.ops.size());
    *is_new = added;
    if (added) db_.ops.emplace_back();
    return db_.ops[place->second];
  }

  void Close() {
    if (run_.op == nullptr) return;
    const OpMetrics& one = *run_.op;
    bool is_new = false;
    OpMetrics& op = Place(run_.program_id, one.name, &is_new);
    if (is_new) {
      op = one;
      op.hlo_module_id = run_.program_id;
      op.flops = op.model_flops = 0;
      op.bytes_accessed = 0;
      op.memory_accessed.clear();
      op.is_eager = run_.is_eager;
      op.num_cores = 1;
    }
    const auto count = static_cast<double>(run_.occurrences);
    op.occurrences += run_.occurrences;
    op.time_ps += run_.time_ps;
    op.self_time_ps += run_.time_ps;
    op.vdd_energy_j += run_.vdd_energy_j;
    db_.total_op_time_ps += run_.time_ps;
    const auto told = static_cast<double>(run_.flops);
    op.flops += (one.flops > 0 ? one.flops : told) * count;
    op.model_flops += (one.model_flops > 0 ? one.model_flops : told) * count;
    op.bytes_accessed +=
        (one.bytes_accessed > 0 ? one.bytes_accessed : run_.bytes_accessed) * run_.occurrences;
    for (size_t i = 0; i < one.memory_accessed.size(); ++i) {
      if (i >= op.memory_accessed.size()) {
        op.memory_accessed.push_back(one.memory_accessed[i]);
        op.memory_accessed[i].bytes = 0;
      }
      op.memory_accessed[i].bytes += one.memory_accessed[i].bytes * run_.occurrences;
    }
    run_ = Run();
  }

  void AddFrameworkEvent(const GpuEvent& gpu, std::string_view kernel, uint64_t duration_ps) {
    const FrameworkOp framework = ParseFrameworkOp(gpu.framework_op);
    bool is_new = false;
    const std::string name = std::string(framework.name) + "/" + std::string(kernel);
    OpMetrics& op = Place(0, name, &is_new);
    if (is_new) {
      op.name = name;
      op.category = framework.type.empty() ? "unknown" : std::string(framework.type);
      op.provenance = gpu.framework_op;
      op.is_eager = gpu.is_eager;
      op.num_cores = 1;
    }
    ++op.occurrences;
    op.time_ps += duration_ps;
    op.self_time_ps += duration_ps;
    db_.total_op_time_ps += duration_ps;
  }

  const PreparedHost& host_;
  const size_t plane_;
  HloOps* const ops_;
  const GpuEventReader reader_;
  OpMetricsDb db_;
  std::map<std::pair<uint64_t, std::string>, size_t> places_;
  std::map<std::pair<uint64_t, std::string_view>, const OpMetrics*> found_;
  Run run_;
  int64_t first_ps_ = std::numeric_limits<int64_t>::max();
  int64_t last_ps_ = 0;
};

}  // namespace

Result<DevicePlaneMetrics> GpuMetrics(const PreparedHost& host, size_t plane, HloOps* ops,
                                      const CancelToken& cancel) {
  DevicePlaneMetrics metrics;
  metrics.plane = plane;
  metrics.plane_id = host.file().planes()[plane].id;
  metrics.kind = DeviceKind::kGpu;
  GpuPlane gpu(host, plane, ops);
  const auto& lines = host.file().planes()[plane].lines;
  for (size_t l = 0; l < lines.size(); ++l) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    if (!IsDerivedLineId(lines[l].id)) gpu.AddLine(l);
  }
  SetTotalTimeAndIdle(gpu.span_ps(), &gpu.db());
  metrics.whole = std::move(gpu.db());
  return metrics;
}

}  // namespace strobe::analysis
