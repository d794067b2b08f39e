// What a GPU event says of itself: the HLO op it belongs to, its kernel, its framework op.
//
//   const GpuEventReader reader(file, plane);
//   const GpuEvent event = reader.Read(LineBytes(file, plane, line).Record(e));
//   if (event.is_hlo_op()) Use(event.hlo_op, event.program_id);
//
// Texts are views into the file. Cost: about 60 ns an event.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/analysis/stat_scan.h"
#include "src/xplane/profile_file.h"

namespace strobe::analysis {

struct GpuEvent {
  std::string_view framework_op;  // "name:type"
  std::string_view equation;
  std::string_view tensor_shapes;
  std::string_view hlo_op;  // the innermost of "a::b::c"
  std::string_view hlo_module;
  std::string_view kernel_details;
  std::string_view memcpy_details;
  std::optional<uint64_t> program_id;
  std::optional<int64_t> group;  // as the file has it
  int64_t correlation_id = -1;
  bool is_eager = false;
  double vdd_energy_j = 0;
  uint64_t flops = 0;
  uint64_t bytes_accessed = 0;

  bool is_kernel() const { return !kernel_details.empty(); }
  bool is_hlo_op() const { return !hlo_op.empty(); }
  bool is_framework_op() const { return !framework_op.empty(); }
};

class GpuEventReader {
 public:
  GpuEventReader(const xplane::ProfileFile& file, size_t plane);
  // False is certain: no event of the line says anything.
  bool AnyMayOccur(const xplane::LineColumns& columns) const {
    return scanner_.AnyMayOccur(columns);
  }
  GpuEvent Read(const EventRecord& record) const;

 private:
  const StatScanner scanner_;
};

}  // namespace strobe::analysis
