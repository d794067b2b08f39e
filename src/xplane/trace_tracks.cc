#include "src/xplane/trace_tracks.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

#include "src/base/hash.h"

namespace strobe::xplane {
namespace {

constexpr int64_t kMaxTimeNs = int64_t{1} << 62;
constexpr __int128 kMaxPs = static_cast<__int128>(1) << 62;
// Relative times below this fit into picoseconds without a shift.
constexpr int64_t kMaxUnshiftedNs = (int64_t{1} << 61) / 1000;
constexpr std::string_view kCountersLine = "_counters_";
// Keys of lines that are no thread of the trace; a tid never begins with a zero byte.
constexpr std::string_view kCountersKey("\0counters", 9);
constexpr std::string_view kAsyncKey("\0async ", 7);
constexpr std::string_view kAnnotationKey("\0annotation ", 12);
constexpr std::string_view kGpuAnnotation = "gpu_user_annotation";

// XFlow: the direction in two bits, the id in 56.
constexpr uint64_t kFlowIn = 1;
constexpr uint64_t kFlowOut = 2;
constexpr uint64_t kFlowInOut = 3;
constexpr uint64_t kFlowIdMask = (uint64_t{1} << 56) - 1;

uint64_t FlowValue(std::string_view category, std::string_view id, uint64_t direction) {
  const std::string key = std::string(category) + '\0' + std::string(id);
  return direction | ((Hash64(key) & kFlowIdMask) << 2);
}

bool ParseInteger(std::string_view text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

int64_t Clamp(__int128 ps) { return static_cast<int64_t>(std::clamp(ps, -kMaxPs, kMaxPs)); }

// The order of `parts` by `less`; equal ones keep theirs.
template <typename Parts, typename Less>
std::vector<size_t> SortedOrder(const Parts& parts, Less less) {
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (less(parts[a], parts[b])) return true;
    return !less(parts[b], parts[a]) && a < b;
  });
  return order;
}

template <typename T>
void Reorder(const std::vector<size_t>& order, std::vector<T>* parts) {
  std::vector<T> sorted;
  sorted.reserve(parts->size());
  for (const size_t index : order) sorted.push_back((*parts)[index]);
  *parts = std::move(sorted);
}

constexpr auto kShownBefore = [](const auto& a, const auto& b) {
  return a.sort_index < b.sort_index;
};

template <typename A, typename B>
bool Earlier(const A& a, const B& b) {
  return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.time_sub_ps < b.time_sub_ps;
}

}  // namespace

TraceTracks::Process* TraceTracks::ProcessOf(std::string_view pid) {
  const auto found = process_of_.find(pid);
  if (found != process_of_.end()) return &processes_[found->second];
  if (processes_.size() >= kMaxTraceProcesses) return nullptr;
  process_of_.emplace(pid, processes_.size());
  Process& process = processes_.emplace_back();
  process.pid = pid;
  return &process;
}

TraceTracks::Thread* TraceTracks::ThreadOf(Process* process, std::string_view key,
                                           std::string_view tid) {
  const auto found = process->thread_of.find(key);
  if (found != process->thread_of.end()) return &process->threads[found->second];
  if (thread_count_ >= kMaxTraceThreads) return nullptr;
  ++thread_count_;
  process->thread_of.emplace(key, process->threads.size());
  Thread& thread = process->threads.emplace_back();
  thread.tid = tid;
  return &thread;
}

void TraceTracks::AddMetadata(const TraceEvent& event, uint64_t offset) {
  Process* const process = ProcessOf(event.pid);
  if (process == nullptr || event.args_size == 0) return;
  std::string name;
  std::string labels;
  int64_t sort_index = 0;
  (void)args_parser_.ForEach(json_.substr(offset + event.args_offset, event.args_size),
                             [&](const Arg& arg) {
                               if (arg.key == "name") name = arg.text;
                               if (arg.key == "labels") labels = arg.text;
                               if (arg.key != "sort_index") return;
                               if (arg.type == Arg::Type::kInt) sort_index = arg.int_value;
                               if (arg.type == Arg::Type::kUint) {
                                 sort_index = static_cast<int64_t>(arg.uint_value);
                               }
                             });
  if (event.name == "process_name") process->name = name;
  if (event.name == "process_labels") process->labels = labels;
  if (event.name == "process_sort_index") process->sort_index = sort_index;
  if (!event.name.starts_with("thread_")) return;
  Thread* const thread = ThreadOf(process, event.tid, event.tid);
  if (thread == nullptr) return;
  if (event.name == "thread_name") thread->name = name;
  if (event.name == "thread_sort_index") thread->sort_index = sort_index;
}

void TraceTracks::AddAsync(Process* process, const TraceEvent& event, Item item) {
  const std::string_view category = event.category.empty() ? "async" : event.category;
  const std::string key = std::string(kAsyncKey) + std::string(category);
  Thread* const thread = ThreadOf(process, key, "");
  if (thread == nullptr) {
    ++beyond_limit_;
    return;
  }
  if (thread->name.empty()) thread->name = std::string(category) + " (async)";
  thread->sort_index = std::numeric_limits<int32_t>::max();  // behind the threads
  const std::string group = std::string(category) + '\0' + std::string(event.id);
  item.group = groups_.emplace(group, static_cast<int32_t>(groups_.size())).first->second;
  thread->ends.push_back(item);
}

void TraceTracks::AddFlow(Thread* thread, const TraceEvent& event, Time time) {
  const uint64_t direction =
      event.phase == 's' ? kFlowOut : (event.phase == 'f' ? kFlowIn : kFlowInOut);
  thread->flows.push_back({.time_ns = time.ns,
                           .time_sub_ps = time.sub_ps,
                           .to_enclosing = event.phase != 'f' || event.binds_to_enclosing,
                           .value = FlowValue(event.category, event.id, direction),
                           .name = Intern(event.name)});
}

void TraceTracks::Add(const TraceEvent& event, uint64_t offset) {
  if (event.phase == 'M') return AddMetadata(event, offset);
  if (std::string_view("XBEiICbensftSTpF").find(event.phase) == std::string_view::npos ||
      event.phase == 0) {
    ++other_phases_[event.phase];
    return;
  }
  if (!event.time_ps || *event.time_ps / 1000 > kMaxTimeNs || *event.time_ps / 1000 < -kMaxTimeNs) {
    ++without_time_;
    return;
  }
  Process* const process = event_count_ < kMaxTraceEvents ? ProcessOf(event.pid) : nullptr;
  const bool counter = event.phase == 'C';
  const bool async = std::string_view("benSTpF").find(event.phase) != std::string_view::npos;
  const bool annotation = event.category == kGpuAnnotation;
  is_torch_ |= IsTorchCategory(event.category);
  std::string key(counter ? kCountersKey : event.tid);
  if (annotation) key.insert(0, kAnnotationKey);
  Thread* const thread = process == nullptr || async
                             ? nullptr
                             : ThreadOf(process, key, counter || annotation ? "" : event.tid);
  if (annotation && thread != nullptr) {
    thread->name = "Annotations of stream " + std::string(event.tid);
  }
  if (process == nullptr || (thread == nullptr && !async)) {
    ++beyond_limit_;
    return;
  }
  ++event_count_;
  const __int128 remainder = (*event.time_ps % 1000 + 1000) % 1000;
  const Time time = {static_cast<int64_t>((*event.time_ps - remainder) / 1000),
                     static_cast<uint16_t>(remainder)};
  first_ns_ = std::min(first_ns_, time.ns);
  last_ns_ = std::max(last_ns_, time.ns);
  Item item = {.time_ns = time.ns,
               .time_sub_ps = time.sub_ps,
               .phase = event.phase,
               .name = Intern(event.name),
               .category = Intern(event.category),
               .duration_ps = Clamp(event.duration_ps.value_or(0)),
               .args = {offset + event.args_offset, static_cast<uint32_t>(event.args_size)}};
  if (async) return AddAsync(process, event, item);
  if (event.phase == 's' || event.phase == 't' || event.phase == 'f') {
    return AddFlow(thread, event, time);
  }
  if (!event.bind_id.empty() && (event.flow_in || event.flow_out)) {
    const uint64_t direction = (event.flow_in ? kFlowIn : 0) | (event.flow_out ? kFlowOut : 0);
    thread->flows.push_back({.time_ns = time.ns,
                             .time_sub_ps = time.sub_ps,
                             .value = FlowValue("bind", event.bind_id, direction),
                             .name = item.name});
  }
  if (counter) thread->name = kCountersLine;
  auto& list = event.phase == 'B' || event.phase == 'E' ? thread->ends : thread->items;
  list.push_back(item);
}

// Begins and ends, in the order of time, make slices; those of one group are nested.
void TraceTracks::MatchEnds(Thread* thread, uint64_t* unmatched) {
  std::vector<Item>& ends = thread->ends;
  if (ends.empty()) return;
  Reorder(SortedOrder(ends, Earlier<Item, Item>), &ends);
  std::unordered_map<int32_t, std::vector<size_t>> open;
  const auto length_ps = [](const Item& from, const Item& to) {
    return Clamp((static_cast<__int128>(to.time_ns) - from.time_ns) * 1000 + to.time_sub_ps -
                 from.time_sub_ps);
  };
  for (const Item& end : ends) {
    std::vector<size_t>& stack = open[end.group];
    switch (end.phase) {
      case 'B':
      case 'b':
      case 'S':
        stack.push_back(thread->items.size());
        thread->items.push_back(end);
        thread->items.back().unfinished = true;
        break;
      case 'E':
      case 'e':
      case 'F': {
        if (stack.empty()) {
          ++*unmatched;
          break;
        }
        Item& begin = thread->items[stack.back()];
        begin.duration_ps = length_ps(begin, end);
        begin.unfinished = false;
        if (end.args.size > 0) thread->end_args[stack.back()] = end.args;
        stack.pop_back();
        break;
      }
      default:  // n, T, p: an instant within
        thread->items.push_back(end);
        thread->items.back().duration_ps = 0;
    }
  }
  for (Item& item : thread->items) {
    if (item.unfinished) item.duration_ps = length_ps(item, ends.back());
  }
  ends.clear();
}

int64_t TraceTracks::StartPs(int64_t time_ns, uint16_t sub_ps) const {
  return Clamp((static_cast<__int128>(time_ns) - shift_ns_) * 1000 + sub_ps);
}

// For each item (which are sorted by start) the flows that begin, pass or end in it.
std::vector<std::vector<uint64_t>> TraceTracks::PlaceFlows(const Thread& thread,
                                                           std::vector<Flow>* loose) const {
  std::vector<std::vector<uint64_t>> placed(thread.flows.empty() ? 0 : thread.items.size());
  std::vector<Flow> flows = thread.flows;
  Reorder(SortedOrder(flows, Earlier<Flow, Flow>), &flows);
  std::vector<size_t> open;  // items that have begun, innermost last
  size_t next = 0;
  for (const Flow& flow : flows) {
    for (; next < thread.items.size() && !Earlier(flow, thread.items[next]); ++next) {
      open.push_back(next);
    }
    const int64_t now_ps = StartPs(flow.time_ns, flow.time_sub_ps);
    while (!open.empty()) {
      const Item& item = thread.items[open.back()];
      if (StartPs(item.time_ns, item.time_sub_ps) + item.duration_ps >= now_ps) break;
      open.pop_back();
    }
    const bool starts_now =
        !open.empty() && !Earlier(thread.items[open.back()], flow);  // begins exactly here
    if (!open.empty() && (flow.to_enclosing || starts_now)) {
      placed[open.back()].push_back(flow.value);
    } else if (!flow.to_enclosing && next < thread.items.size()) {
      placed[next].push_back(flow.value);
    } else {
      loose->push_back(flow);
    }
  }
  return placed;
}

void TraceTracks::WriteArgs(const ArgsRange& range, PlaneBuilder* plane, StatSink* sink,
                            TorchKernel* kernel) {
  if (range.size == 0) return;
  const bool valid =
      args_parser_.ForEach(json_.substr(range.offset, range.size), [&](const Arg& arg) {
        if (kernel != nullptr) kernel->Take(arg);
        const int64_t id = plane->StatId(arg.key);
        switch (arg.type) {
          case Arg::Type::kText:
            sink->AddStat(id, arg.text);
            break;
          case Arg::Type::kInt:
            sink->AddStat(id, arg.int_value);
            break;
          case Arg::Type::kUint:
            sink->AddStat(id, arg.uint_value);
            break;
          case Arg::Type::kDouble:
            sink->AddStat(id, arg.double_value);
            break;
        }
      });
  if (!valid) ++bad_args_;
}

void TraceTracks::WriteTorch(const Item& item, const TorchKernel& kernel, PlaneBuilder* plane,
                             StatSink* sink) const {
  const std::string& category = texts_[item.category];
  if (const std::optional<int64_t> step = TorchStep(texts_[item.name])) {
    sink->AddStat(plane->StatId("_r"), int64_t{1}).AddStat(plane->StatId("step_num"), *step);
  }
  if (!HasTorchCorrelation(category)) return;
  if (kernel.correlation()) sink->AddStat(plane->StatId("correlation_id"), *kernel.correlation());
  const std::string details = category == "kernel" ? kernel.Details() : "";
  if (!details.empty()) {
    sink->AddStat(plane->StatId("kernel_details"), std::string_view(details));
  }
}

void TraceTracks::WriteThread(Thread* thread, int64_t line_id, int64_t timestamp_ns,
                              PlaneBuilder* plane) {
  const std::string name = thread->name.empty() ? thread->tid : thread->name;
  LineBuilder& line = plane->AddLine(line_id, name, timestamp_ns);
  // Sorted, so that an outer slice comes before what it holds.
  const std::vector<size_t> order =
      SortedOrder(thread->items, [](const Item& first, const Item& second) {
        if (Earlier(first, second)) return true;
        if (Earlier(second, first)) return false;
        return first.duration_ps > second.duration_ps;
      });
  Reorder(order, &thread->items);

  std::vector<Flow> loose;
  const std::vector<std::vector<uint64_t>> flows = PlaceFlows(*thread, &loose);
  for (size_t i = 0; i < thread->items.size(); ++i) {
    const Item& item = thread->items[i];
    StatSink& sink = line.AddEvent(plane->AddEventMetadata(texts_[item.name]),
                                   StartPs(item.time_ns, item.time_sub_ps), item.duration_ps);
    if (!texts_[item.category].empty()) {
      sink.AddStat(plane->StatId("cat"), std::string_view(texts_[item.category]));
    }
    if (item.unfinished) sink.AddStat(plane->StatId("unfinished"), uint64_t{1});
    TorchKernel kernel;
    WriteArgs(item.args, plane, &sink, is_torch_ ? &kernel : nullptr);
    if (is_torch_) WriteTorch(item, kernel, plane, &sink);
    const auto end_args = thread->end_args.find(order[i]);
    if (end_args != thread->end_args.end()) WriteArgs(end_args->second, plane, &sink);
    if (flows.empty()) continue;
    for (const uint64_t flow : flows[i]) sink.AddStat(plane->StatId("flow"), flow);
  }
  for (const Flow& flow : loose) {
    line.AddEvent(plane->AddEventMetadata(texts_[flow.name]),
                  StartPs(flow.time_ns, flow.time_sub_ps), 0)
        .AddStat(plane->StatId("flow"), flow.value);
  }
}

void TraceTracks::Warn(XSpaceBuilder* space) const {
  const auto warn = [&](uint64_t count, std::string_view what) {
    if (count > 0) space->AddWarning(std::to_string(count) + " " + std::string(what));
  };
  warn(malformed_, "entries of the trace are no valid JSON objects and were left out.");
  warn(without_time_, "events have no usable time (ts) and were left out.");
  warn(beyond_limit_, "events were left out because the trace has too many events or threads.");
  warn(unmatched_, "events end something that never began and were left out.");
  warn(bad_args_, "events have arguments that are no valid JSON; some of them are missing.");
  for (const auto& [phase, count] : other_phases_) {
    // The exporter's own empty object at the end of the list.
    if (phase == 0 && count == 1) continue;
    const std::string kind = phase == 0 ? "none" : std::string(1, phase);
    warn(count,
         "events of the kind '" + kind + "' were left out; they are not shown in a timeline.");
  }
}

std::string TraceTracks::PlaneNameOf(const Process& process) {
  const std::optional<std::string> known =
      is_torch_ ? TorchPlaneName(process.labels) : std::nullopt;
  // Of several hosts in one file only the first can have the name.
  const bool is_host = known && process.labels == "CPU";
  if (known && !(is_host && std::exchange(has_host_plane_, true))) return *known;
  std::string name = process.name.empty() ? "process " + process.pid : process.name;
  if (!process.labels.empty()) name += " (" + process.labels + ")";
  return name;
}

Result<std::string> TraceTracks::ToXSpace(int64_t base_unix_ns, const CancelToken& cancel) {
  if (event_count_ == 0) first_ns_ = last_ns_ = 0;
  const bool wide = first_ns_ < -kMaxUnshiftedNs || last_ns_ > kMaxUnshiftedNs;
  shift_ns_ = base_unix_ns != 0 || wide ? first_ns_ : 0;
  const int64_t timestamp_ns = Clamp(static_cast<__int128>(base_unix_ns) + shift_ns_);
  XSpaceBuilder space;
  for (const size_t p : SortedOrder(processes_, kShownBefore)) {
    Process& process = processes_[p];
    const std::string name = PlaneNameOf(process);
    const bool is_gpu = is_torch_ && name.starts_with("/device:GPU:");
    PlaneBuilder* plane = nullptr;
    int64_t pid = 0;
    if (!ParseInteger(process.pid, &pid)) pid = 0;
    int64_t next_own_id = -1;
    for (const size_t t : SortedOrder(process.threads, kShownBefore)) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      Thread& thread = process.threads[t];
      MatchEnds(&thread, &unmatched_);
      if (thread.items.empty() && thread.flows.empty()) continue;
      if (plane == nullptr) plane = &space.AddPlane(name, pid);
      int64_t line_id = 0;
      if (!ParseInteger(thread.tid, &line_id)) line_id = next_own_id--;
      if (is_gpu && !thread.tid.empty()) thread.name = TorchLineName(thread.name, thread.tid);
      WriteThread(&thread, line_id, timestamp_ns, plane);
      thread = Thread();  // gives the memory back as the bytes grow
    }
  }
  Warn(&space);
  return space.Serialize();
}

}  // namespace strobe::xplane
