#include "src/analysis/event_links.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace strobe::analysis {
namespace {

enum Slot : size_t {
  kProducerType,
  kProducerId,
  kConsumerType,
  kConsumerId,
  kConsumerPid,
  kRootLevel,
  kAsyncFlag,
  kCorrelation,
  kGroup,
  kFlow,
  kOwnSlots,
  kStepId = kOwnSlots,
  kIterNum,
  kRequestId,
  kQueueAddress,
  kDeviceOrdinal,
  kQueueId,
  kRunId,
  kCoreType,
};

constexpr std::array<std::string_view, 18> kSlotNames = {"_pt",
                                                         "_p",
                                                         "_ct",
                                                         "_c",
                                                         "_pid",
                                                         "_r",
                                                         "_a",
                                                         "correlation_id",
                                                         "group_id",
                                                         "flow",
                                                         "id",
                                                         "iter_num",
                                                         "request_id",
                                                         "queue_addr",
                                                         "device_ordinal",
                                                         "queue_id",
                                                         "run_id",
                                                         "core_type"};

// XProf's ContextType.
constexpr int32_t kLegacyContext = 1;
constexpr int32_t kGpuLaunchContext = 9;
constexpr int32_t kTpuStreamContext = 11;
constexpr int32_t kTpuLaunchContext = 12;
constexpr uint64_t kLastContext = 16;

constexpr uint64_t kRunIdMask = (uint64_t{1} << 27) - 1;
constexpr uint8_t kRegionStart = 1;
constexpr uint8_t kRegionStop = 2;

// Names for the parts of a key, so that equal numbers of different queues do not meet.
constexpr uint64_t kExecutorKey = 0x45786563;

uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2));
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::optional<uint64_t> WholeNumber(std::string_view digits) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

constexpr std::string_view kTpuPrefix = "/device:TPU:";

}  // namespace

bool IsXprofHostPlane(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kPrefixes = {
      "/host:CPU", "Host CPUs",           "/host:tfstreamz", "/host:metadata",
      "Syscalls",  "/host:python-tracer", "/host:CUPTI",     "/host:__ScopeRangeCallStack__"};
  return std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool IsXprofDevicePlane(std::string_view name) {
  if (IsXprofHostPlane(name)) return false;
  return name.starts_with("/device") || name.starts_with("#Chip") || name.starts_with("/custom:");
}

std::optional<uint64_t> TensorCoreOf(std::string_view plane_name) {
  if (!plane_name.starts_with(kTpuPrefix)) return std::nullopt;
  return WholeNumber(plane_name.substr(kTpuPrefix.size()));
}

std::optional<uint64_t> SparseCoreOf(std::string_view plane_name) {
  constexpr std::string_view kWord = " SparseCore";
  const size_t word = plane_name.find(kWord);
  if (word == std::string_view::npos || !TensorCoreOf(plane_name.substr(0, word))) {
    return std::nullopt;
  }
  std::string_view rest = plane_name.substr(word + kWord.size());
  const size_t last_blank = rest.rfind(' ');
  if (last_blank == std::string_view::npos) return std::nullopt;
  // Between the word and the number may stand one word of letters.
  const std::string_view middle = rest.substr(0, last_blank);
  const bool plain = middle.empty() || (middle.size() > 1 && middle[0] == ' ' &&
                                        std::ranges::all_of(middle.substr(1), [](char c) {
                                          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                                        }));
  return plain ? WholeNumber(rest.substr(last_blank + 1)) : std::nullopt;
}

// What an older convention makes of an event with a certain name.
enum LinkReader::Rewrite : uint8_t {
  kKeep,
  kBatchRoot,         // _r = 2
  kBatchSessionRoot,  // _r = 1
  kExecutorProducer,
  kExecutorConsumer,
  kQueueProducer,
  kQueueConsumer,
  kProgramProducer,
  kProgramConsumer,
  kMaskRunId,
};

struct LinkReader::Context {
  Context(const LineBytes& bytes_of, const xplane::LineColumns& columns_of, LineLinks* links)
      : bytes(bytes_of), columns(columns_of), out(links) {}
  const LineBytes& bytes;
  const xplane::LineColumns& columns;
  LineLinks* const out;
  bool is_module_line = false;
  StatValues values;
};

LinkReader::LinkReader(const xplane::ProfileFile& file, size_t plane, uint64_t host_hash)
    : file_(file),
      plane_(plane),
      host_hash_(host_hash),
      slots_(file.planes()[plane], kSlotNames),
      own_(file.planes()[plane], std::span(kSlotNames).first(kOwnSlots)),
      is_device_(IsXprofDevicePlane(file.planes()[plane].name)),
      tensor_core_(TensorCoreOf(file.planes()[plane].name)) {
  PlanRewrites();
}

void LinkReader::Plan(std::string_view event_name, Rewrite rewrite) {
  const auto& metadata = file_.planes()[plane_].event_metadata;
  for (size_t m = 0; m < metadata.size(); ++m) {
    if (!metadata[m].present || metadata[m].name != event_name) continue;
    if (rewrites_.empty()) rewrites_.resize(metadata.size(), kKeep);
    rewrites_[m] = rewrite;
    has_rewrites_ = true;
  }
}

void LinkReader::PlanRewrites() {
  Plan("ProcessBatch", kBatchRoot);
  Plan("OrbaxServing::ProcessBatch", kBatchRoot);
  Plan("BatchingSessionRun", kBatchSessionRoot);
  if (slots_.knows(kStepId) && slots_.knows(kIterNum)) {
    Plan("ExecutorState::Process", kExecutorProducer);
    Plan("TpuExecuteOp", kExecutorConsumer);
  }
  if (slots_.knows(kRequestId) && slots_.knows(kQueueAddress)) {
    Plan("EnqueueRequestLocked", kQueueProducer);
    for (const char* name :
         {"RunProgramRequest", "HostCallbackRequest", "TransferH2DRequest",
          "TransferPreprocessedH2DRequest", "TransferD2HRequest", "OnDeviceSendRequest",
          "OnDeviceRecvRequest", "OnDeviceSendRecvLocalRequest", "CustomWait",
          "OnDeviceSendRequestMulti", "OnDeviceRecvRequestMulti", "PjrtAsyncWait"}) {
      Plan(name, kQueueConsumer);
    }
  }
  if (slots_.knows(kRunId)) {
    Plan("DoEnqueueContinuationProgram", kMaskRunId);
    // Without the other two only the number is rewritten; ApplyRewrite looks for them.
    Plan("DoEnqueueProgram", kProgramProducer);
    Plan("CompleteCallbacks", kProgramConsumer);
  }
  const auto& metadata = file_.planes()[plane_].event_metadata;
  for (size_t m = 0; m < metadata.size(); ++m) {
    uint8_t mark = 0;
    if (metadata[m].name == "ThreadpoolListener::StartRegion") mark = kRegionStart;
    if (metadata[m].name == "ThreadpoolListener::StopRegion") mark = kRegionStop;
    if (mark == 0 || !metadata[m].present) continue;
    if (regions_.empty()) regions_.resize(metadata.size());
    regions_[m] = mark;
  }
  has_regions_ = std::ranges::find(regions_, kRegionStart) != regions_.end() &&
                 std::ranges::find(regions_, kRegionStop) != regions_.end() &&
                 slots_.knows(kConsumerId);
}

uint64_t LinkReader::FlowId(uint64_t id, uint64_t context_type) const {
  return Mix(Mix(host_hash_, id), context_type) & kFlowIdMask;
}

void LinkReader::ApplyRewrite(Context* context, uint32_t event, Rewrite rewrite) const {
  using xplane::StatType;
  StatValues& values = context->values;
  const auto override_stat = [&](size_t slot, uint64_t value) {
    // Set keeps the first, so a rewritten stat is put in before the others by a copy.
    StatValues fresh;
    fresh.Set(slot, {StatType::kInt64, value, {}});
    for (size_t s = 0; s < kSlotNames.size(); ++s) {
      if (values.has(s)) fresh.Set(s, values[s]);
    }
    values = fresh;
  };
  const auto connect = [&](bool producer, int32_t type, uint64_t id) {
    override_stat(producer ? kProducerType : kConsumerType, static_cast<uint64_t>(type));
    override_stat(producer ? kProducerId : kConsumerId, id);
  };
  switch (rewrite) {
    case kKeep:
      return;
    case kBatchRoot:
    case kBatchSessionRoot:
      override_stat(kRootLevel, rewrite == kBatchRoot ? 2 : 1);
      return;
    case kExecutorProducer:
    case kExecutorConsumer: {
      if (!values.has(kStepId) || !values.has(kIterNum)) return;
      const uint64_t id =
          Mix(Mix(kExecutorKey, values[kStepId].IntOrUint()), values[kIterNum].IntOrUint());
      connect(rewrite == kExecutorProducer, kLegacyContext, id);
      return;
    }
    case kQueueProducer:
    case kQueueConsumer: {
      if (!values.has(kRequestId) || !values.has(kQueueAddress)) return;
      const uint64_t id =
          Mix(Mix(2, values[kRequestId].IntOrUint()), values[kQueueAddress].IntOrUint());
      connect(rewrite == kQueueProducer, kTpuStreamContext, id);
      return;
    }
    case kProgramProducer:
    case kProgramConsumer:
    case kMaskRunId: {
      if (!values.has(kRunId)) return;
      const uint64_t run = values[kRunId].IntOrUint() & kRunIdMask;
      override_stat(kRunId, run);
      AddedStat stat;
      stat.name = "run_id";
      stat.integer = static_cast<int64_t>(run);
      stat.number = static_cast<double>(run);
      context->out->additions.push_back({event, std::move(stat)});
      if (rewrite == kMaskRunId || !values.has(kDeviceOrdinal) || !values.has(kQueueId)) return;
      const uint64_t core = values.has(kCoreType) ? values[kCoreType].IntOrUint() : 0;
      const uint64_t id = Mix(
          Mix(Mix(values[kDeviceOrdinal].IntOrUint(), values[kQueueId].IntOrUint()), run), core);
      connect(rewrite == kProgramProducer, kTpuLaunchContext, id);
      return;
    }
  }
}

// Modules of a TensorCore are the consumers of the programs that were enqueued for it.
void LinkReader::ReadModule(Context* context) const {
  StatValues& values = context->values;
  if (!values.has(kRunId) || !values.has(kQueueId)) return;
  const uint64_t core = values.has(kCoreType) ? values[kCoreType].IntOrUint() : 0;
  const uint64_t id =
      Mix(Mix(Mix(*tensor_core_, values[kQueueId].IntOrUint()), values[kRunId].IntOrUint()), core);
  StatValues fresh;
  fresh.Set(kConsumerType, {xplane::StatType::kInt64, kTpuLaunchContext, {}});
  fresh.Set(kConsumerId, {xplane::StatType::kInt64, id, {}});
  for (size_t s = 0; s < kSlotNames.size(); ++s) {
    if (values.has(s)) fresh.Set(s, values[s]);
  }
  values = fresh;
}

void LinkReader::Emit(Context* context, uint32_t event) const {
  const StatValues& values = context->values;
  LineLinks& out = *context->out;
  const auto add_flow = [&](uint64_t id, uint64_t direction, uint64_t type) {
    out.flows.push_back({event, type << kFlowCategoryShift | id << kFlowIdShift | direction});
  };
  if (values.has(kFlow)) out.flows.push_back({event, values[kFlow].IntOrUint()});
  if (values.has(kCorrelation)) {
    // XProf reads it unsigned here and either way below.
    add_flow(Mix(host_hash_, values[kCorrelation].UintOnly()) & kFlowIdMask,
             is_device_ ? kFlowIn : kFlowOut, kGpuLaunchContext);
    out.links.push_back(
        {.event = event, .kind = LinkKind::kCorrelation, .id = values[kCorrelation].IntOrUint()});
  }
  if (values.has(kAsyncFlag) && values[kAsyncFlag].IntOnly() != 0) {
    out.links.push_back({.event = event, .kind = LinkKind::kAsync});
  }
  if (values.has(kRootLevel)) {
    out.links.push_back({.event = event,
                         .kind = LinkKind::kRoot,
                         .type = static_cast<int32_t>(values[kRootLevel].IntOnly())});
  }
  const bool has_process = values.has(kConsumerPid);
  const auto process =
      static_cast<int32_t>(has_process ? values[kConsumerPid].IntOnly() : int64_t{0});
  for (const bool producer : {true, false}) {
    const size_t type_slot = producer ? kProducerType : kConsumerType;
    const size_t id_slot = producer ? kProducerId : kConsumerId;
    if (!values.has(type_slot) || !values.has(id_slot)) continue;
    const uint64_t id = values[id_slot].IntOrUint();
    const uint64_t type = values[type_slot].IntOrUint();
    const uint64_t safe_type = type <= kLastContext ? type : 0;
    add_flow(FlowId(id, safe_type), producer ? kFlowOut : kFlowIn, safe_type);
    out.links.push_back({.event = event,
                         .kind = producer ? LinkKind::kProducer : LinkKind::kConsumer,
                         .has_process = has_process,
                         .type = static_cast<int32_t>(values[type_slot].IntOnly()),
                         .process = process,
                         .id = id});
  }
  if (values.has(kGroup)) {
    const uint64_t group = values[kGroup].IntOrUint();
    if (group <= uint64_t{std::numeric_limits<int32_t>::max()}) {
      if (out.file_groups.empty()) {
        out.file_groups.resize(context->columns.event_count(), static_cast<int32_t>(kNoGroup));
      }
      out.file_groups[event] = static_cast<int32_t>(group);
    }
  }
}

void LinkReader::ReadEvent(Context* context, uint32_t event) const {
  slots_.Read(context->bytes.Record(event), &context->values);
  const auto rewrite =
      rewrites_.empty() ? kKeep : static_cast<Rewrite>(rewrites_[context->columns.name[event]]);
  if (context->is_module_line) ReadModule(context);
  if (rewrite != kKeep) ApplyRewrite(context, event, rewrite);
  if (!context->values.empty()) Emit(context, event);
}

// Regions lie between a start with an id and every stop until the next such start. The start is
// what is linked: recorded answers have neither a flow nor a step on a region itself.
void LinkReader::ReadRegions(const LineBytes& bytes, size_t line, LineLinks* out) const {
  const xplane::LineColumns& columns = file_.Line(plane_, line);
  const bool any = std::ranges::any_of(columns.name, [&](uint32_t m) { return regions_[m] != 0; });
  if (!any) return;
  const EventOrder order = FileOrder(bytes, columns);
  StatValues values;
  PoolRegion open;
  for (size_t p = 0; p < order.size(); ++p) {
    const uint32_t event = order[p];
    const uint8_t mark = regions_[columns.name[event]];
    if (mark == kRegionStart) {
      slots_.Read(bytes.Record(event), &values);
      if (!values.has(kConsumerId)) continue;
      open.start_ps = columns.start_ps[event];
      open.id = values[kConsumerId].IntOrUint();
    } else if (mark == kRegionStop && open.start_ps != 0) {
      open.end_ps = std::max(columns.start_ps[event], open.start_ps);
      out->regions.push_back(open);
    }
  }
}

LineLinks LinkReader::Read(size_t line) const {
  LineLinks out;
  if (!knows_any()) return out;
  const xplane::LineColumns& columns = file_.Line(plane_, line);
  const LineBytes bytes(file_, plane_, line);
  Context context(bytes, columns, &out);
  context.is_module_line = tensor_core_.has_value() && slots_.knows(kQueueId) &&
                           slots_.knows(kRunId) &&
                           file_.planes()[plane_].lines[line].name == "XLA Modules";
  if (context.is_module_line || own_.MayOccurIn(columns)) {
    for (uint32_t event = 0; event < columns.event_count(); ++event) ReadEvent(&context, event);
  } else if (has_rewrites_) {
    // Only what an older convention names can link.
    for (uint32_t event = 0; event < columns.event_count(); ++event) {
      if (rewrites_[columns.name[event]] != kKeep) ReadEvent(&context, event);
    }
  }
  if (has_regions_) ReadRegions(bytes, line, &out);
  return out;
}

}  // namespace strobe::analysis
