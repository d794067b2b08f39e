// Which send, transfer and receive belong together in a megascale trace.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>

#include "src/tools/megascale_trace.h"

namespace strobe::tools {
namespace {

constexpr int64_t kTrimPs = 1000;  // what keeps the END of a receive behind the transfer's end

enum class Kind : uint8_t { kOther, kSend, kSendDone, kRecv, kRecvDone };

// The kind of an operation and the number behind its name.
std::pair<Kind, std::string> KindOf(std::string_view name) {
  constexpr std::pair<std::string_view, Kind> kKinds[] = {{"send-done", Kind::kSendDone},
                                                          {"recv-done", Kind::kRecvDone},
                                                          {"send", Kind::kSend},
                                                          {"recv", Kind::kRecv}};
  for (const auto& [word, kind] : kKinds) {
    if (!name.starts_with(word)) continue;
    std::string_view rest = name.substr(word.size());
    if (rest.starts_with('.')) rest.remove_prefix(1);
    if (rest.find_first_not_of("0123456789") != std::string_view::npos) break;
    return {kind, std::string(rest)};
  }
  return {Kind::kOther, {}};
}

std::string RendezvousIn(std::string_view long_name) {
  constexpr std::string_view kKey = "_xla_host_transfer_rendezvous=\"";
  const size_t at = long_name.find(kKey);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = long_name.substr(at + kKey.size());
  return std::string(rest.substr(0, rest.find('"')));
}

// "device_3_gid_all-reduce.7$...": what stands behind "_gid_".
std::string RendezvousOfKey(std::string_view graph_key) {
  constexpr std::string_view kKey = "_gid_";
  const size_t at = graph_key.find(kKey);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = graph_key.substr(at + kKey.size());
  return std::string(rest.substr(0, rest.find('$')));
}

bool IsGraphExecution(std::string_view name) {
  return name.starts_with("device_") && name.find("_gid_") != std::string_view::npos;
}

class FlowAdder {
 public:
  void Add(TpuTracks* tpu) {
    for (EventTrack& track : tpu->collectives) MarkLast(&track);
    CollectTransfers(tpu);
    const auto ops = tpu->lines.find(kOpsLine);
    if (ops != tpu->lines.end()) ConnectOps(&ops->second);
  }

 private:
  using Key = std::pair<uint64_t, std::string>;  // run, rendezvous
  using Queue = std::map<Key, std::deque<TraceEvent*>>;

  // The last end of each direction within each execution of a graph.
  static void MarkLast(EventTrack* track) {
    for (const TraceEvent& graph : track->events) {
      if (!IsGraphExecution(graph.name)) continue;
      for (const std::string_view name : {"HostToDevice END", "DeviceToHost END"}) {
        TraceEvent* last = nullptr;
        // Sorted by start, so the search ends behind the execution.
        const auto from =
            std::ranges::lower_bound(track->events, graph.start_ps, {}, &TraceEvent::start_ps);
        for (auto at = from; at != track->events.end() && at->start_ps <= graph.end_ps(); ++at) {
          if (at->name == name) last = &*at;
        }
        if (last != nullptr && last->Find("is_last_instance") == nullptr) {
          last->arguments.push_back({"is_last_instance", int64_t{1}});
        }
      }
    }
  }

  void CollectTransfers(TpuTracks* tpu) {
    for (EventTrack& track : tpu->collectives) {
      const std::string rendezvous = RendezvousOfKey(track.graph_key);
      for (TraceEvent& event : track.events) {
        const Key key{event.run_id.value_or(0), rendezvous};
        const bool first = event.Whole("action_index") == 0;
        const bool last = event.Find("is_last_instance") != nullptr;
        if (event.name == "DeviceToHost START" && first) to_host_[key].push_back(&event);
        if (event.name == "DeviceToHost END" && last) to_host_end_[key].push_back(&event);
        if (event.name == "HostToDevice START" && first) to_device_[key].push_back(&event);
        if (event.name == "HostToDevice END" && last) to_device_end_[key].push_back(&event);
      }
    }
  }

  void ConnectOps(EventTrack* track) {
    std::map<std::string, std::string> send_names;  // number of the operation to rendezvous
    std::map<std::string, std::string> recv_names;
    Queue sends;
    Queue recvs;
    Queue sends_for_recv;
    std::vector<TraceEvent> ends;
    for (TraceEvent& event : track->events) {
      const auto [kind, number] = KindOf(event.name);
      if (kind == Kind::kOther) continue;
      const bool is_send = kind == Kind::kSend || kind == Kind::kSendDone;
      std::map<std::string, std::string>& names = is_send ? send_names : recv_names;
      std::string rendezvous = RendezvousIn(event.Text("long_name"));
      if (kind == Kind::kSend || kind == Kind::kRecv) {
        names[number] = rendezvous;
      } else if (rendezvous.empty()) {
        rendezvous = names[number];
      }
      if (rendezvous.empty()) continue;
      const Key key{event.run_id.value_or(0), rendezvous};
      if (kind == Kind::kSend) {
        sends[key].push_back(&event);
        sends_for_recv[key].push_back(&event);
        Connect(&event, Pop(&to_host_, key));
      } else if (kind == Kind::kRecv) {
        recvs[key].push_back(&event);
        Connect(&event, Pop(&to_device_, key));
      } else if (kind == Kind::kSendDone) {
        Connect(Pop(&to_host_end_, key), &event);
        Connect(Pop(&sends, key), &event);
      } else {
        Connect(Pop(&sends_for_recv, key), &event);
        Connect(Pop(&recvs, key), &event);
        ends.push_back(EndOf(event, Pop(&to_device_end_, key)));
      }
    }
    for (TraceEvent& end : ends) track->events.push_back(std::move(end));
    std::ranges::stable_sort(track->events, {}, &TraceEvent::start_ps);
  }

  // The moment behind a recv-done that the transfer's flow ends in.
  TraceEvent EndOf(const TraceEvent& recv_done, TraceEvent* transfer) {
    TraceEvent end;
    end.start_ps = recv_done.end_ps() + kTrimPs;
    end.name = recv_done.name + " END";
    end.run_id = recv_done.run_id;
    if (transfer != nullptr) {
      transfer->duration_ps = std::max<int64_t>(0, transfer->duration_ps - kTrimPs);
      Connect(transfer, &end);
    }
    return end;
  }

  static TraceEvent* Pop(Queue* queue, const Key& key) {
    const auto found = queue->find(key);
    if (found == queue->end() || found->second.empty()) return nullptr;
    TraceEvent* event = found->second.front();
    found->second.pop_front();
    return event;
  }

  void Connect(TraceEvent* from, TraceEvent* to) {
    if (from == nullptr || to == nullptr) return;
    const uint64_t id = ++last_flow_;
    from->flows.out.push_back(id);
    to->flows.in.push_back(id);
  }

  Queue to_host_, to_host_end_, to_device_, to_device_end_;
  uint64_t last_flow_ = 0;

 public:
  void NextTpu() {
    to_host_.clear();
    to_host_end_.clear();
    to_device_.clear();
    to_device_end_.clear();
  }
};

}  // namespace

void AddFlows(std::vector<TpuTracks>* tpus) {
  FlowAdder adder;
  for (TpuTracks& tpu : *tpus) {
    adder.Add(&tpu);
    adder.NextTpu();
  }
}

}  // namespace strobe::tools
