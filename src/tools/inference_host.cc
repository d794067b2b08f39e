#include "src/tools/inference_host.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "src/analysis/event_span.h"
#include "src/analysis/nesting.h"
#include "src/analysis/op_totals.h"
#include "src/analysis/steps.h"

namespace strobe::tools {
namespace {

using analysis::EventSpan;
using analysis::EventType;
using analysis::FindStat;
using analysis::PreparedHost;
using analysis::PreparedLine;
using xplane::LineColumns;
using xplane::Stat;

enum class Kind : uint8_t {
  kOther,
  kBatchingSessionRun,
  kTfrtModelRun,
  kServingModelRun,
  kSessionRun,
  kRunGraph,
  kProcessBatch,
  kPadding,   // concatenates the inputs of a batch
  kSchedule,  // queues a request for a batch
  kWrite,
  kRead,
  kWriteIssued,
  kWriteDone,
  kReadIssued,
  kReadDone,
  kExecute,
  kLaunch,
  kTensor,  // lays a tensor out for the device or back, or copies it from there
  kCallbacks
};

// Of one request or batch; models have some ten inputs and outputs.
constexpr size_t kMaxTensorLines = 1000;

struct KindName {
  std::string_view name;
  Kind kind;
};

constexpr KindName kKindNames[] = {
    {"BatchingSessionRun", Kind::kBatchingSessionRun},
    {"TfrtModelRun", Kind::kTfrtModelRun},
    {"ServingModelRun", Kind::kServingModelRun},
    {"SessionRun", Kind::kSessionRun},
    {"RunGraph", Kind::kRunGraph},
    {"ProcessBatch", Kind::kProcessBatch},
    {"OrbaxServing::ProcessBatch", Kind::kProcessBatch},
    {"ConcatInputTensors", Kind::kPadding},
    {"OrbaxServing::ConcatInputBuffers", Kind::kPadding},
    {"MergeInputTensors", Kind::kPadding},
    {"BrainSessionRun", Kind::kPadding},
    {"ScheduleWithSplit", Kind::kSchedule},
    {"ScheduleWithoutSplit", Kind::kSchedule},
    {"ScheduleWithEagerSplit", Kind::kSchedule},
    {"ASBSQueue::Schedule", Kind::kSchedule},
    {"WriteHbm", Kind::kWrite},
    {"TransferH2DRequest", Kind::kWrite},
    {"TransferPreprocessedH2DRequest", Kind::kWrite},
    {"ReadHbm", Kind::kRead},
    {"TransferD2HRequest", Kind::kRead},
    {"tpu::System::TransferToDevice=>IssueEvent", Kind::kWriteIssued},
    {"tpu::System::TransferToDevice=>IssueEvent=>Done", Kind::kWriteDone},
    {"tpu::System::TransferFromDevice=>IssueEvent", Kind::kReadIssued},
    {"tpu::System::TransferFromDevice=>IssueEvent=>Done", Kind::kReadDone},
    {"TPUPartitionedCallOp-ExecuteLocal", Kind::kExecute},
    {"TPUPartitionedCallOp-ExecuteRemote", Kind::kExecute},
    {"TPUPartitionedCallOp-InitializeVarOnTPU", Kind::kExecute},
    {"tpu::System::Execute", Kind::kExecute},
    {"DoEnqueueProgram", Kind::kLaunch},
    {"DoEnqueueContinuationProgram", Kind::kLaunch},
    {"Linearize", Kind::kTensor},
    {"Delinearize", Kind::kTensor},
    {"TransferBufferFromDevice-FastPath", Kind::kTensor},
    {"CompleteCallbacks", Kind::kCallbacks},
};

Kind KindOf(std::string_view name) {
  for (const KindName& known : kKindNames) {
    if (known.name == name) return known.kind;
  }
  return Kind::kOther;
}

bool IsRequest(Kind kind) { return kind >= Kind::kBatchingSessionRun && kind <= Kind::kRunGraph; }

int64_t SignedOf(const Stat* stat) { return stat == nullptr ? 0 : stat->int64_value; }

std::string TextOf(const Stat& stat) {
  switch (stat.type) {
    case xplane::StatType::kString:
    case xplane::StatType::kRef:
    case xplane::StatType::kBytes:
      return std::string(stat.text);
    case xplane::StatType::kUint64:
      return std::to_string(stat.uint64_value);
    case xplane::StatType::kInt64:
      return std::to_string(stat.int64_value);
    case xplane::StatType::kDouble:
      return std::to_string(stat.number);
    case xplane::StatType::kNone:
      break;
  }
  return "";
}

// An event of the host that has a group and a kind.
struct HostEvent {
  Kind kind = Kind::kOther;
  int64_t group = 0;
  int64_t begin_ps = 0;
  int64_t end_ps = 0;
  uint32_t line = 0;
  uint32_t event = 0;
  bool user_root = false;
};

// Moments of one group inside of a request.
struct Moments {
  std::optional<int64_t> schedule_ps, concat_ps, execute_ps, launch_ps, callback_ps;
};

struct OpenRequest {
  InferenceRequest request;
  bool has_span = false;
  std::vector<EventSpan> spans;
  std::map<int64_t, Moments> moments;  // by group
};

struct OpenBatch {
  InferenceBatch batch;
  std::vector<EventSpan> spans;
};

class HostReader {
 public:
  HostReader(const PreparedHost& prepared, size_t host) : prepared_(prepared), host_(host) {}

  HostInference Read() {
    if (!FindPlane()) return {};
    CollectEvents();
    if (any_request_) {
      OpenRequests();
      SetTimespans();
      AddSchedules();
      OpenBatches();
      AddDeviceWork();
      AddDelays();
      ShareOut();
      AddTensors();
    }
    ReadParameters();
    return Finish();
  }

 private:
  const std::vector<xplane::Plane>& planes() const { return prepared_.file().planes(); }
  std::vector<Stat> StatsOf(const HostEvent& event) const {
    return prepared_.file().EventStats(plane_, event.line, event.event);
  }
  const analysis::Group* GroupOf(int64_t id) const {
    const auto found = prepared_.groups().find(id);
    return found == prepared_.groups().end() ? nullptr : &found->second;
  }

  bool FindPlane() {
    for (plane_ = 0; plane_ < planes().size(); ++plane_) {
      if (planes()[plane_].name == "/host:CPU") return true;
    }
    return false;
  }

  void CollectEvents() {
    std::vector<Kind> kinds;
    for (const xplane::EventMetadata& event : planes()[plane_].event_metadata) {
      kinds.push_back(KindOf(event.name));
    }
    for (uint32_t l = 0; l < planes()[plane_].lines.size(); ++l) CollectLine(l, kinds);
  }

  void CollectLine(uint32_t l, const std::vector<Kind>& kinds) {
    const PreparedLine& prepared = prepared_.planes()[plane_].lines[l];
    if (!prepared.from_file || prepared.groups.empty()) return;
    const LineColumns& line = prepared_.file().Line(plane_, l);
    const std::vector<uint8_t> roots =
        analysis::NamesWithStat(prepared_.file(), static_cast<uint32_t>(plane_), l, "_r");
    for (uint32_t e = 0; e < line.event_count(); ++e) {
      const int32_t group = prepared.groups[e];
      if (group < 0) continue;
      const uint32_t name = line.name[e];
      const bool may_be_root = !roots.empty() && roots[name] != 0;
      if (kinds[name] == Kind::kOther && !may_be_root) continue;
      HostEvent event = {kinds[name], group, line.start_ps[e], analysis::EventEnd(line, e), l, e};
      if (may_be_root) {
        const std::vector<Stat> stats = StatsOf(event);
        const int64_t root = SignedOf(FindStat(stats, "_r"));
        event.user_root =
            root == -1 || (root == 1 && planes()[plane_].event_metadata[name].name.starts_with(
                                            "ModelServerRequest_"));
      }
      if (event.kind == Kind::kOther && !event.user_root) continue;
      any_request_ |= event.user_root || IsRequest(event.kind);
      present_[static_cast<size_t>(event.kind)] = true;
      events_.push_back(event);
    }
  }

  // In the order of the kinds as XProf's tables list them, then as they stand in the file.
  template <typename Visit>
  void ForKind(Kind kind, Visit visit) const {
    if (!present_[static_cast<size_t>(kind)]) return;
    for (const HostEvent& event : events_) {
      if (event.kind == kind) visit(event);
    }
  }

  int32_t ModelIndex(const std::string& model) {
    if (model.empty()) return -1;
    const auto [known, is_new] =
        model_index_.try_emplace(model, static_cast<int32_t>(result_.models.size()));
    if (is_new) result_.models.push_back(model);
    return known->second;
  }
  std::string ModelOf(int64_t group) const {
    const auto found = model_of_group_.find(group);
    return found == model_of_group_.end() ? std::string() : found->second;
  }

  void ReadModel(const HostEvent& event) {
    const std::vector<Stat> stats = StatsOf(event);
    if (const Stat* model = FindStat(stats, "model_id")) {
      model_of_group_[event.group] = TextOf(*model);
    }
  }

  void OpenRequests() {
    ForKind(Kind::kProcessBatch,
            [&](const HostEvent& event) { batch_groups_.insert(event.group); });
    for (const Kind kind : {Kind::kSessionRun, Kind::kTfrtModelRun, Kind::kServingModelRun}) {
      ForKind(kind, [&](const HostEvent& event) { ReadModel(event); });
    }
    for (const HostEvent& event : events_) {
      if (event.user_root) ReadModel(event);
    }
    const auto open = [&](const HostEvent& event) {
      if (batch_groups_.contains(event.group) || requests_.contains(event.group)) return;
      OpenOne(event);
    };
    if (present_[static_cast<size_t>(Kind::kBatchingSessionRun)]) {
      ForKind(Kind::kBatchingSessionRun, open);
    } else if (present_[static_cast<size_t>(Kind::kTfrtModelRun)]) {
      ForKind(Kind::kTfrtModelRun, open);
    } else if (present_[static_cast<size_t>(Kind::kServingModelRun)]) {
      ForKind(Kind::kServingModelRun, open);
    } else {
      ForKind(Kind::kSessionRun, open);
      ForKind(Kind::kRunGraph, open);
    }
    for (const HostEvent& event : events_) {
      if (event.user_root) open(event);
    }
  }

  void OpenOne(const HostEvent& event) {
    InferenceRequest& request = requests_[event.group].request;
    request.id = event.group;
    request.host = host_;
    const analysis::Group* group = GroupOf(event.group);
    if (group == nullptr) return;
    request.batches = group->children;
    std::ranges::sort(request.batches);
    if (event.kind == Kind::kBatchingSessionRun) {
      if (!group->children.empty()) request.model = ModelIndex(ModelOf(group->children.front()));
      return;
    }
    if (!event.user_root || model_of_group_.contains(event.group)) {
      request.model = ModelIndex(ModelOf(event.group));
      return;
    }
    if (group->children.empty()) return;
    // One request may go to several models; then it belongs to none.
    int32_t common = -1;
    bool same = true;
    for (const int64_t child : group->children) {
      const int32_t model = ModelIndex(ModelOf(child));
      if (common == -1) {
        common = model;
      } else {
        same &= model == common;
      }
    }
    request.model = same ? common : -1;
  }

  // A request lasts from the first to the last host event of its group.
  void SetTimespans() {
    const std::vector<PreparedLine>& lines = prepared_.planes()[plane_].lines;
    for (size_t l = 0; l < planes()[plane_].lines.size(); ++l) {
      const PreparedLine& prepared = lines[l];
      int64_t last_group = analysis::kNoGroup;
      OpenRequest* last = nullptr;
      const auto extend = [&](int64_t group, int64_t begin_ps, int64_t end_ps) {
        if (group < 0) return;
        if (group != last_group) {
          last_group = group;
          const auto found = requests_.find(group);
          last = found == requests_.end() ? nullptr : &found->second;
        }
        if (last != nullptr) Extend(begin_ps, end_ps, last);
      };
      if (prepared.from_file && !prepared.groups.empty()) {
        const LineColumns& line = prepared_.file().Line(plane_, l);
        for (uint32_t e = 0; e < line.event_count(); ++e) {
          extend(prepared.groups[e], line.start_ps[e], analysis::EventEnd(line, e));
        }
      }
      for (const analysis::AddedEvent& event : prepared.events) {
        extend(event.group, event.start_ps, event.start_ps + event.duration_ps);
      }
    }
  }

  static void Extend(int64_t begin_ps, int64_t end_ps, OpenRequest* open) {
    InferenceRequest& request = open->request;
    request.start_ps = open->has_span ? std::min(request.start_ps, begin_ps) : begin_ps;
    request.end_ps = open->has_span ? std::max(request.end_ps, end_ps) : end_ps;
    open->has_span = true;
  }

  // The request of the group itself and those that wait for it.
  template <typename Visit>
  void ForRequestsOf(int64_t group, Visit visit) {
    const auto own = requests_.find(group);
    if (own != requests_.end()) visit(&own->second);
    const analysis::Group* known = GroupOf(group);
    if (known == nullptr) return;
    for (const int64_t parent : known->parents) {
      const auto found = requests_.find(parent);
      if (found != requests_.end()) visit(&found->second);
    }
  }

  void AddSpan(int64_t group, const EventSpan& span) {
    ForRequestsOf(group, [&](OpenRequest* request) { request->spans.push_back(span); });
    const auto batch = batches_.find(group);
    if (batch != batches_.end()) batch->second.spans.push_back(span);
  }

  void AddSchedules() {
    ForKind(Kind::kSchedule, [&](const HostEvent& event) {
      ForRequestsOf(event.group, [&](OpenRequest* request) {
        request->moments[event.group].schedule_ps = event.begin_ps;
      });
      const auto request = requests_.find(event.group);
      if (request == requests_.end()) return;
      const std::vector<Stat> stats = StatsOf(event);
      if (const Stat* size = FindStat(stats, "batching_input_task_size")) {
        request->second.request.batching_size = size->int64_value;
      }
    });
  }

  void OpenBatches() {
    ForKind(Kind::kProcessBatch, [&](const HostEvent& event) {
      const analysis::Group* group = GroupOf(event.group);
      if (group == nullptr) return;
      InferenceBatch& batch = batches_[event.group].batch;
      batch.id = event.group;
      batch.host = host_;
      batch.start_ps = event.begin_ps;
      batch.end_ps = event.end_ps;
      batch.requests = group->parents;
      std::ranges::sort(batch.requests);
      if (batch.requests.empty()) return;
      const auto request = requests_.find(batch.requests.front());
      if (request != requests_.end()) batch.model = request->second.request.model;
    });
    ForKind(Kind::kPadding, [&](const HostEvent& event) {
      ForRequestsOf(event.group, [&](OpenRequest* request) {
        request->moments[event.group].concat_ps = event.begin_ps;
      });
      const auto batch = batches_.find(event.group);
      if (batch == batches_.end()) return;
      const std::vector<Stat> stats = StatsOf(event);
      const Stat* padding = FindStat(stats, "padding_amount");
      const Stat* size = FindStat(stats, "batch_size_after_padding");
      if (padding == nullptr || size == nullptr) return;
      batch->second.batch.padding = padding->int64_value;
      batch->second.batch.size_after_padding = size->int64_value;
    });
  }

  // Transfers that are told by two events with one context id.
  void AddPairedTransfers(Kind issued, Kind done, EventType type) {
    struct Transfer {
      const HostEvent* issued = nullptr;
      const HostEvent* done = nullptr;
    };
    std::map<int64_t, Transfer> transfers;
    const auto context_of = [&](const HostEvent& event) -> std::optional<int64_t> {
      const std::vector<Stat> stats = StatsOf(event);
      const Stat* context = FindStat(stats, "_c");
      if (context == nullptr) return std::nullopt;
      return context->int64_value;
    };
    ForKind(issued, [&](const HostEvent& event) {
      if (const auto context = context_of(event)) transfers[*context] = {&event, nullptr};
    });
    ForKind(done, [&](const HostEvent& event) {
      const auto context = context_of(event);
      if (!context) return;
      const auto found = transfers.find(*context);
      if (found == transfers.end()) return;
      if (found->second.issued->begin_ps < event.begin_ps) found->second.done = &event;
    });
    for (const auto& [context, transfer] : transfers) {
      if (transfer.done == nullptr) continue;
      AddSpan(transfer.issued->group, {type, transfer.issued->begin_ps, transfer.done->end_ps});
    }
  }

  void AddDeviceWork() {
    ForKind(Kind::kRead, [&](const HostEvent& event) {
      AddSpan(event.group, {EventType::kDeviceToHost, event.begin_ps, event.end_ps});
    });
    ForKind(Kind::kWrite, [&](const HostEvent& event) {
      AddSpan(event.group, {EventType::kHostToDevice, event.begin_ps, event.end_ps});
    });
    AddPairedTransfers(Kind::kWriteIssued, Kind::kWriteDone, EventType::kHostToDevice);
    AddPairedTransfers(Kind::kReadIssued, Kind::kReadDone, EventType::kDeviceToHost);
    AddModuleRuns();
    ForKind(Kind::kExecute, [&](const HostEvent& event) {
      ForRequestsOf(event.group, [&](OpenRequest* request) {
        request->moments[event.group].execute_ps = event.begin_ps;
      });
    });
    ForKind(Kind::kLaunch, [&](const HostEvent& event) {
      ForRequestsOf(event.group, [&](OpenRequest* request) {
        std::optional<int64_t>& launch = request->moments[event.group].launch_ps;
        launch = launch ? std::min(*launch, event.begin_ps) : event.begin_ps;
      });
    });
    ForKind(Kind::kCallbacks, [&](const HostEvent& event) {
      ForRequestsOf(event.group, [&](OpenRequest* request) {
        request->moments[event.group].callback_ps = event.begin_ps;
      });
    });
  }

  // Runs of XLA modules on TensorCores are what the device computed.
  void AddModuleRuns() {
    for (size_t p = 0; p < planes().size(); ++p) {
      const std::string_view name = planes()[p].name;
      if (!name.starts_with("/device:TPU:") || name.find(' ') != std::string_view::npos) continue;
      for (size_t l = 0; l < planes()[p].lines.size(); ++l) {
        const PreparedLine& prepared = prepared_.planes()[p].lines[l];
        if (prepared.name != "XLA Modules") continue;
        for (const analysis::AddedEvent& event : prepared.events) {
          if (event.group < 0) continue;
          AddSpan(event.group, {EventType::kDeviceCompute32, event.start_ps,
                                event.start_ps + event.duration_ps});
        }
        if (!prepared.from_file || prepared.groups.empty()) continue;
        const LineColumns& line = prepared_.file().Line(p, l);
        for (uint32_t e = 0; e < line.event_count(); ++e) {
          if (prepared.groups[e] < 0) continue;
          AddSpan(prepared.groups[e],
                  {EventType::kDeviceCompute32, line.start_ps[e], analysis::EventEnd(line, e)});
        }
      }
    }
  }

  // A request waits for its first batch and lasts until the last one ends; XProf takes the first
  // known one for both.
  void AddDelays() {
    for (auto& [id, open] : requests_) {
      const InferenceBatch* batch = nullptr;
      for (const int64_t batch_id : open.request.batches) {
        const auto found = batches_.find(batch_id);
        if (batch == nullptr && found != batches_.end()) batch = &found->second.batch;
      }
      if (batch == nullptr) continue;
      open.request.batching_delay_ps = batch->start_ps - open.request.start_ps;
      open.request.end_ps = std::max(open.request.end_ps, batch->end_ps);
    }
    for (auto& [id, open] : batches_) {
      std::optional<int64_t> first_ps;
      for (const int64_t request_id : open.batch.requests) {
        const auto found = requests_.find(request_id);
        if (found == requests_.end()) continue;
        const int64_t begin_ps = found->second.request.start_ps;
        first_ps = first_ps ? std::min(*first_ps, begin_ps) : begin_ps;
      }
      if (first_ps) open.batch.delay_ps = open.batch.start_ps - *first_ps;
    }
  }

  void ShareOut() {
    for (auto& [id, open] : requests_) {
      AddHostSpans(&open);
      const analysis::ExclusiveTimes times = analysis::SumExclusive(open.spans, 0, 0);
      const auto ps = [&](EventType type) {
        return static_cast<int64_t>(times.whole_ps[static_cast<size_t>(type)]);
      };
      InferenceRequest& request = open.request;
      request.device_ps = ps(EventType::kDeviceCompute16) + ps(EventType::kDeviceCompute32);
      request.write_ps = ps(EventType::kHostToDevice);
      request.read_ps = ps(EventType::kDeviceToHost);
      request.preprocessing_ps = ps(EventType::kHostPreprocess);
      request.postprocessing_ps = ps(EventType::kHostPostprocess);
      request.runtime_ps = ps(EventType::kHostRuntime);
      request.batch_formation_ps = ps(EventType::kHostBatchFormation);
      request.idle_ps = ps(EventType::kUnknown);
    }
    for (auto& [id, open] : batches_) {
      const analysis::ExclusiveTimes times = analysis::SumExclusive(open.spans, 0, 0);
      open.batch.device_ps =
          static_cast<int64_t>(times.whole_ps[static_cast<size_t>(EventType::kDeviceCompute16)] +
                               times.whole_ps[static_cast<size_t>(EventType::kDeviceCompute32)]);
    }
  }

  // An end before its beginning is no time at all, at the beginning.
  static EventSpan SpanBetween(EventType type, int64_t begin_ps, int64_t end_ps) {
    return {type, begin_ps, std::max(begin_ps, end_ps)};
  }

  static void AddHostSpans(OpenRequest* open) {
    std::optional<int64_t> execute, concat, callback, schedule;
    for (const auto& [group, moments] : open->moments) {
      if (moments.execute_ps) {
        execute = execute ? std::min(*execute, *moments.execute_ps) : *moments.execute_ps;
        if (moments.launch_ps) {
          open->spans.push_back(
              SpanBetween(EventType::kHostRuntime, *moments.execute_ps, *moments.launch_ps));
        }
      }
      if (moments.concat_ps)
        concat = concat ? std::min(*concat, *moments.concat_ps) : *moments.concat_ps;
      if (moments.callback_ps) {
        callback = callback ? std::max(*callback, *moments.callback_ps) : *moments.callback_ps;
      }
      if (moments.schedule_ps && !schedule) schedule = moments.schedule_ps;
    }
    const InferenceRequest& request = open->request;
    if (execute) {
      open->spans.push_back(SpanBetween(EventType::kHostPreprocess, request.start_ps, *execute));
    }
    std::optional<int64_t> device_done = callback;
    if (!device_done) {
      for (const EventSpan& span : open->spans) {
        if (span.type != EventType::kDeviceCompute32) continue;
        device_done = device_done ? std::max(*device_done, span.end_ps) : span.end_ps;
      }
    }
    if (device_done) {
      open->spans.push_back(SpanBetween(EventType::kHostPostprocess, *device_done, request.end_ps));
    }
    if (schedule && concat) {
      open->spans.push_back(SpanBetween(EventType::kHostBatchFormation, *schedule, *concat));
    }
  }

  // The tensors of a group belong to its request, of a group that is a batch to the batch. One that
  // does not say its shapes and layout leaves the whole group without a pattern.
  void AddTensors() {
    struct Tensors {
      std::vector<std::string> lines;
      int64_t time_ps = 0;
      bool known = true;
    };
    std::map<int64_t, Tensors> by_group;
    ForKind(Kind::kTensor, [&](const HostEvent& event) {
      if (!requests_.contains(event.group) && !batches_.contains(event.group)) return;
      Tensors& tensors = by_group[event.group];
      const std::vector<Stat> stats = StatsOf(event);
      const Stat* shapes = FindStat(stats, "tensor_shapes");
      const Stat* layout = FindStat(stats, "tensor_layout");
      tensors.time_ps += event.end_ps - event.begin_ps;
      tensors.known &= shapes != nullptr && layout != nullptr;
      if (!tensors.known || tensors.lines.size() >= kMaxTensorLines) return;
      const LineColumns& line = prepared_.file().Line(plane_, event.line);
      const std::string_view name = planes()[plane_].event_metadata[line.name[event.event]].name;
      tensors.lines.push_back(std::string(name) + " " + TextOf(*shapes) + " " + TextOf(*layout));
    });
    std::map<std::string, int32_t> known;
    for (auto& [group, tensors] : by_group) {
      if (!tensors.known) continue;
      std::ranges::sort(tensors.lines);
      std::string pattern;
      for (const std::string& line : tensors.lines) pattern += (pattern.empty() ? "" : "\n") + line;
      const auto [index, is_new] =
          known.try_emplace(pattern, static_cast<int32_t>(result_.tensor_patterns.size()));
      if (is_new) result_.tensor_patterns.push_back(std::move(pattern));
      const auto set = [&, at = index->second](auto* one) {
        one->tensor_pattern = at;
        one->tensor_ps = tensors.time_ps;
      };
      if (const auto request = requests_.find(group); request != requests_.end()) {
        set(&request->second.request);
      } else {
        set(&batches_[group].batch);
      }
    }
  }

  // The last of the two snapshots that TensorFlow Serving leaves of its batching parameters.
  void ReadParameters() {
    for (size_t p = 0; p < planes().size(); ++p) {
      if (planes()[p].name != "/host:tfstreamz" || planes()[p].lines.empty()) continue;
      const LineColumns& line = prepared_.file().Line(p, 0);
      if (line.event_count() != 2) return;
      const uint32_t last = line.start_ps[0] <= line.start_ps[1] ? 1 : 0;
      std::map<std::string, BatchingParameters> by_name;
      for (const Stat& stat : prepared_.file().EventStats(p, 0, last)) {
        ReadParameter(stat, &by_name);
      }
      for (const std::string& model : result_.models) {
        const size_t colon = model.rfind(':');
        const auto found =
            by_name.find(colon == std::string::npos ? model : model.substr(0, colon));
        if (found != by_name.end()) result_.parameters[model] = found->second;
      }
      return;
    }
  }

  static void ReadParameter(const Stat& stat, std::map<std::string, BatchingParameters>* by_name) {
    constexpr std::string_view kPrefix = "/tensorflow/serving/batching/";
    constexpr std::string_view kLabel = "model_name=";
    if (!stat.name.starts_with(kPrefix)) return;
    const std::string_view what = stat.name.substr(kPrefix.size());
    const size_t label = what.find(kLabel);
    const size_t end = what.rfind('}');
    if (label == std::string_view::npos || end == std::string_view::npos || end < label) return;
    std::string_view model = what.substr(label + kLabel.size(), end - label - kLabel.size());
    model = model.substr(0, model.find(", "));
    BatchingParameters& parameters = (*by_name)[std::string(model)];
    if (what.starts_with("num_batch_threads")) parameters.num_batch_threads = stat.int64_value;
    if (what.starts_with("batch_timeout_micros"))
      parameters.batch_timeout_micros = stat.int64_value;
    if (what.starts_with("max_batch_size")) parameters.max_batch_size = stat.int64_value;
    if (what.starts_with("max_enqueued_batches"))
      parameters.max_enqueued_batches = stat.int64_value;
    if (what.starts_with("allowed_batch_sizes")) parameters.allowed_batch_sizes = TextOf(stat);
  }

  HostInference Finish() {
    for (auto& [id, open] : requests_) {
      if (open.request.latency_ps() != 0) result_.requests.push_back(std::move(open.request));
    }
    for (auto& [id, open] : batches_) result_.batches.push_back(std::move(open.batch));
    return std::move(result_);
  }

  const PreparedHost& prepared_;
  const size_t host_;
  size_t plane_ = 0;
  std::vector<HostEvent> events_;
  bool any_request_ = false;
  bool present_[static_cast<size_t>(Kind::kCallbacks) + 1] = {};
  std::set<int64_t> batch_groups_;
  std::unordered_map<int64_t, std::string> model_of_group_;
  std::map<std::string, int32_t> model_index_;
  std::map<int64_t, OpenRequest> requests_;  // by group
  std::map<int64_t, OpenBatch> batches_;
  HostInference result_;
};

}  // namespace

HostInference ReadHostInference(const PreparedHost& prepared, size_t host) {
  return HostReader(prepared, host).Read();
}

}  // namespace strobe::tools
