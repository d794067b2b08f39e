// Makes profiles of devices and prepares them, for tests of op metrics.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/op_metrics.h"
#include "src/analysis/prepared_host.h"
#include "src/hlo/module_set.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::analysis {

// A profile that a test made, prepared; with the modules it carries.
struct PreparedForTest {
  explicit PreparedForTest(xplane::XSpaceBuilder& space)
      : file(xplane::MustOpen(space.Serialize())) {
    Result<std::shared_ptr<const PreparedHost>> prepared =
        PreparedHost::Prepare(file, *file, {}, CancelToken());
    EXPECT_TRUE(prepared.ok()) << prepared.status().ToString();
    if (prepared.ok()) host = *prepared;
    modules.AddEmbedded(*file, file);
    modules.Finish();
  }
  std::shared_ptr<xplane::ProfileFile> file;
  std::shared_ptr<const PreparedHost> host;
  hlo::ModuleSet modules;
};

// Describes an op of a TPU plane: what its metadata entry says.
struct TpuOp {
  std::string_view name;
  std::string_view category = "fusion";
  uint64_t symbol = 0;  // 0: none
  uint64_t program = 7;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  std::string_view framework_op = {};
};

inline int64_t AddTpuOp(xplane::PlaneBuilder* plane, const TpuOp& op) {
  const std::string expression = "%" + std::string(op.name) + " = f32[8] op(x)";
  const int64_t id = plane->AddEventMetadata(expression, op.name);
  xplane::StatSink& stats = plane->EventMetadataStats(id);
  stats.AddStat(plane->StatId("program_id"), op.program);
  if (op.symbol != 0) stats.AddStat(plane->StatId("symbol_id"), op.symbol);
  stats.AddStat(plane->StatId("hlo_category"), op.category);
  if (op.flops != 0) stats.AddStat(plane->StatId("flops"), op.flops);
  if (op.bytes != 0) stats.AddStat(plane->StatId("bytes_accessed"), op.bytes);
  if (!op.framework_op.empty()) stats.AddStat(plane->StatId("tf_op"), op.framework_op);
  return id;
}

inline const OpMetrics* FindOp(const OpMetricsDb& db, std::string_view name) {
  for (const OpMetrics& op : db.ops) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

// What must hold of any op metrics of one plane or host.
inline void ExpectSane(const OpMetricsDb& db) {
  uint64_t self_ps = 0;
  uint64_t idle_ps = 0;
  for (const OpMetrics& op : db.ops) {
    EXPECT_LE(op.self_time_ps, op.time_ps) << op.name;
    if (op.category == kIdle) {
      idle_ps += op.self_time_ps;
    } else {
      self_ps += op.self_time_ps;
      EXPECT_GT(op.occurrences, 0u) << op.name;
    }
  }
  EXPECT_EQ(self_ps, db.total_op_time_ps);
  EXPECT_EQ(self_ps + idle_ps, db.total_time_ps);
}

}  // namespace strobe::analysis
