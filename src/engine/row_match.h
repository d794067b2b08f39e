// Which events of a plane a row of a tool's table counted.
//
//   RowMatcher matcher(file, plane, subject, &hlo_ops);
//   if (matcher.any_possible()) wanted = matcher.Match(line);   // one byte an event; empty: none
//
// Rows of device ops and of host ops are told by RowSubject::side, and take events as their tools
// do: on GPUs each event says its op itself (gpu_op_metrics.h), on TPUs its metadata does
// (plane_ops.h), on the host its name or its stat tf_op (host_op_metrics.h). A subject without a
// side takes any plane by name.
//
// Cost: a look at each metadata entry; 60 ns an event of GPUs, 10 ns of others. Memory: 3 B a
// metadata entry, 1 B an event of the line asked for. Texts are views into the file, which outlives
// the matcher, as do the subject and the ops. For one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/event_stats.h"
#include "src/analysis/gpu_event_stats.h"
#include "src/analysis/hlo_ops.h"
#include "src/analysis/stat_scan.h"
#include "src/tools/table.h"
#include "src/xplane/profile_file.h"

namespace strobe::engine {

class RowMatcher {
 public:
  RowMatcher(const xplane::ProfileFile& file, size_t plane, const tools::RowSubject& subject,
             analysis::HloOps* ops);

  // False: no event of the plane can be the row's.
  bool any_possible() const { return kind_ != Kind::kNone; }
  // Whether the row's tool takes the line: copies of others count nothing.
  bool Takes(size_t line) const;
  std::vector<uint8_t> Match(size_t line) const;

 private:
  enum class Kind : uint8_t { kNone, kByName, kGpuOp, kKernel, kHostOp };
  struct Names {
    std::vector<uint8_t> op;         // by event metadata: it is the op by name
    std::vector<uint8_t> framework;  // by event metadata: its tf_op is the framework op
    std::vector<uint8_t> program;    // by event metadata: 0 not known, 1 the same, 2 another
    bool any_op = false;
    bool any_framework = false;
  };

  void FindNames();
  void FindHostOps();
  std::vector<uint8_t> MatchByName(size_t line) const;
  void MatchPrograms(size_t line, std::vector<uint8_t>* wanted) const;
  std::vector<uint8_t> MatchGpu(size_t line) const;
  std::vector<uint8_t> MatchHost(size_t line) const;
  bool IsGpuOp(const analysis::GpuEvent& gpu, std::string_view kernel) const;
  bool IsKernel(const analysis::GpuEvent& gpu) const;
  const analysis::OpMetrics* FindOp(const analysis::GpuEvent& gpu) const;

  const xplane::ProfileFile& file_;
  const size_t plane_;
  const tools::RowSubject& subject_;
  analysis::HloOps& ops_;
  Kind kind_ = Kind::kNone;
  Names names_;
  mutable std::map<std::pair<uint64_t, std::string_view>, const analysis::OpMetrics*> found_;
  mutable std::map<std::string_view, bool> launches_;  // whether kernel details are the row's
};

// How long events ran by the device's own account (device_duration_ps), where they say so.
class DeviceTimes {
 public:
  DeviceTimes(const xplane::ProfileFile& file, size_t plane, size_t line);
  std::optional<int64_t> DurationOf(uint32_t event) const;

 private:
  const analysis::StatScanner scanner_;
  const bool any_;
  const analysis::LineBytes bytes_;
};

}  // namespace strobe::engine
