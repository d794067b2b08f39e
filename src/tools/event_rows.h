// The events of a session as rows of one table, for questions in SQL.
//
//   EventRows rows(context);
//   for (STROBE_RETURN_IF_ERROR(rows.First()); !rows.AtEnd(); STROBE_RETURN_IF_ERROR(rows.Next()))
//     Use(rows.Cell(EventColumn::kStartNs));
//
// The columns are those of the events database of XProf's command line, by its names, and before
// them ours: host, plane, line, name and exact times. Times count from the session's origin. What
// stands in no stat of an event is looked up: its step among the groups, the module that was
// running on the device, its self time among the events inside it; each only when the column is
// read, so that a question pays for what it names.
//
// Cost: about 20 ns an event, and 0.5-2 us for one whose stats are read. Limits: kMaxEventRows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/prepared_host.h"
#include "src/tools/agent_common.h"
#include "src/tools/agent_event_walk.h"

namespace strobe::tools {

// More than any capture that a person takes at once; beyond it the question has to name hosts.
inline constexpr uint64_t kMaxEventRows = 200'000'000;

enum class EventColumn : uint8_t {
  kHost,
  kPlane,
  kLine,
  kName,
  kStartPs,
  kDurationPs,
  kSelfTimePs,
  kDevice,
  kStreamId,
  kThreadId,
  kThreadName,
  kCorrelationId,
  kKernelName,
  kKernelDetails,
  kTfOpName,
  kTfOpType,
  kHloOp,
  kHloModule,
  kStartNs,
  kEndNs,
  kSelfTimeNs,
  kStep,
  kCategory,
  kFlops,
  kMemoryAccessed,
  kTraceArgs,
  kFlow,
  kSourceLine,
  kDcnSrcSliceId,
  kDcnDstSliceId,
  kDcnSrcLogicalDeviceId,
  kDcnDstLogicalDeviceId,
  kDcnCollectiveName,
  kDcnDurationUs,
  kDcnPayloadSizeBytes,
};

struct EventColumnSpec {
  EventColumn column;
  std::string_view name;
  bool is_text;
  std::string_view description;
};
// In the order of EventColumn.
std::span<const EventColumnSpec> EventColumns();

struct EventCell {
  enum class Kind : uint8_t { kNull, kInteger, kText };
  Kind kind = Kind::kNull;
  int64_t integer = 0;
  std::string text = {};
};

class EventRows {
 public:
  // `context` is used for as long as the rows are. Hosts that cannot be read have no rows.
  explicit EventRows(const AgentContext& context) : context_(context) {}

  // Errors: CANCELLED, EVENTS_LIMIT.
  Status First();
  Status Next();
  bool AtEnd() const { return at_end_; }
  uint64_t row() const { return row_; }
  // Of the row it stands on; not at the end. An error when a host cannot be prepared.
  Result<EventCell> Cell(EventColumn column);

 private:
  enum class Place : uint8_t { kHostThread, kGpuStream, kTpuLine, kOther };

  const ToolHost& host() const { return context_.input.hosts()[context_.question.hosts[host_]]; }
  const xplane::Plane& plane() const { return host().file->planes()[plane_]; }
  Status SkipEmpty();
  void EnterLine();
  void LoadStats();
  const xplane::Stat* FindStat(std::initializer_list<std::string_view> names);
  EventCell StatCell(std::initializer_list<std::string_view> names);
  EventCell FrameworkCell(bool type);
  EventCell HloOp();
  EventCell HloModule();
  EventCell TraceArgs();
  Result<EventCell> Step();
  Result<EventCell> Flow();
  Result<const analysis::PreparedLine*> Prepared();
  int64_t SelfPs();
  int64_t StartPs() const { return columns_->start_ps[event_] + host().shift_ps; }

  const AgentContext& context_;
  bool at_end_ = true;
  uint64_t row_ = 0;
  size_t host_ = 0;
  size_t plane_ = 0;
  size_t line_ = 0;
  uint32_t event_ = 0;
  const xplane::LineColumns* columns_ = nullptr;
  Place place_ = Place::kOther;
  std::string device_;
  bool stats_loaded_ = false;
  std::vector<xplane::Stat> stats_;  // the event's own, then those of its metadata
  std::vector<int64_t> self_ps_;     // of the line; empty: not worked out
  std::shared_ptr<const analysis::PreparedHost> prepared_;
  size_t prepared_host_ = SIZE_MAX;
  std::vector<uint32_t> modules_in_order_;  // events of `XLA Modules` of the plane
  size_t modules_line_ = SIZE_MAX;
  std::pair<size_t, size_t> modules_of_ = {SIZE_MAX, SIZE_MAX};  // host and plane
};

}  // namespace strobe::tools
