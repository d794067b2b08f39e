// What connects events: producers and consumers, launches and kernels, roots and asynchronous
// events, as they stand in the stats of a line's events or follow from older conventions.
//
//   LinkReader reader(file, plane, host_hash);
//   if (reader.knows_any()) {
//     LineLinks links = reader.Read(line);       // links.links, links.flows, links.regions ...
//   }
//
// Older conventions are those that XProf rewrites before grouping: serving batches are roots,
// requests of TPU queues and program launches are producers and consumers, a thread pool's start
// and stop make a region. Cost: about 15 ns an event of a plane that knows such stats; nothing
// otherwise. Memory: 24 B a link, 16 B a flow.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/analysis/event_order.h"
#include "src/analysis/event_stats.h"
#include "src/analysis/host_event.h"
#include "src/analysis/prepared_host.h"

namespace strobe::analysis {

// Bits of a flow: XProf's encoding.
inline constexpr uint64_t kFlowIn = 1;
inline constexpr uint64_t kFlowOut = 2;
inline constexpr int kFlowIdShift = 2;
inline constexpr int kFlowCategoryShift = 58;
inline constexpr uint64_t kFlowIdMask = (uint64_t{1} << 56) - 1;
inline constexpr uint64_t FlowIdOf(uint64_t flow) { return flow >> kFlowIdShift & kFlowIdMask; }
inline constexpr uint8_t FlowDirectionOf(uint64_t flow) { return flow & 3; }
inline constexpr uint8_t FlowCategoryOf(uint64_t flow) {
  return static_cast<uint8_t>(flow >> kFlowCategoryShift);
}

enum class LinkKind : uint8_t {
  kProducer,     // type, id
  kConsumer,     // type, id
  kRoot,         // type: level
  kAsync,        // not nested
  kCorrelation,  // id
};

struct Link {
  uint32_t event = 0;  // of the file; beyond its events: regions
  LinkKind kind = LinkKind::kRoot;
  bool has_process = false;
  int32_t type = 0;
  int32_t process = 0;
  uint64_t id = 0;
};

// A region of a thread pool: from start to stop.
struct PoolRegion {
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  uint64_t id = 0;
};

struct LineLinks {
  std::vector<Link> links;     // sorted by event, regions last
  std::vector<FlowEnd> flows;  // sorted by event, regions last
  std::vector<PoolRegion> regions;
  std::vector<EventAddition> additions;  // run_id, where it is rewritten
  std::vector<int32_t> file_groups;      // group_id that the file has; empty: none
};

class LinkReader {
 public:
  // `host_hash` keeps the flows of hosts apart.
  LinkReader(const xplane::ProfileFile& file, size_t plane, uint64_t host_hash);

  bool knows_any() const { return slots_.knows_any() || has_rewrites_; }
  LineLinks Read(size_t line) const;

 private:
  enum Rewrite : uint8_t;
  struct Context;

  void PlanRewrites();
  void Plan(std::string_view event_name, Rewrite rewrite);
  void ReadEvent(Context* context, uint32_t event) const;
  void ApplyRewrite(Context* context, uint32_t event, Rewrite rewrite) const;
  void ReadModule(Context* context) const;
  void Emit(Context* context, uint32_t event) const;
  void ReadRegions(const LineBytes& bytes, size_t line, LineLinks* out) const;
  uint64_t FlowId(uint64_t id, uint64_t context_type) const;

  const xplane::ProfileFile& file_;
  const size_t plane_;
  const uint64_t host_hash_;
  const StatSlots slots_;
  const StatSlots own_;  // those that link without more: not the parts of older conventions
  const bool is_device_;
  std::optional<uint64_t> tensor_core_;  // device ordinal of a TensorCore plane
  bool has_rewrites_ = false;
  bool has_regions_ = false;
  std::vector<uint8_t> rewrites_;  // by event metadata
  std::vector<uint8_t> regions_;   // by event metadata: 1 start, 2 stop
};

// Names of planes, as XProf matches them.
bool IsXprofHostPlane(std::string_view name);
bool IsXprofDevicePlane(std::string_view name);
// "/device:TPU:3" -> 3; "/device:TPU:0 SparseCore 1" -> 1 for the second.
std::optional<uint64_t> TensorCoreOf(std::string_view plane_name);
std::optional<uint64_t> SparseCoreOf(std::string_view plane_name);

}  // namespace strobe::analysis
