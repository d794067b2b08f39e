#include "src/tools/megascale_perfetto.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "src/tools/megascale_trace.h"
#include "src/wire/compress.h"

namespace strobe::tools {
namespace {

constexpr int64_t kPsPerNs = 1000;

// Changes of a quantity over time, made one curve.
class Curve {
 public:
  void Add(int64_t start_ns, int64_t end_ns, double amount) {
    changes_[start_ns] += amount;
    changes_[end_ns] -= amount;
  }
  bool empty() const { return changes_.empty(); }
  void Write(uint64_t track, PerfettoWriter* trace) const {
    double value = 0;
    for (const auto& [time_ns, change] : changes_) {
      value += change;
      trace->Count(track, time_ns, value);
    }
  }

 private:
  std::map<int64_t, double> changes_;
};

// "s0->1d|$c2=4096": bytes from slice to slice; what stays on a slice does not count.
double TransferredBytes(std::string_view sizes) {
  double bytes = 0;
  const auto number = [](std::string_view* text) {
    int64_t value = -1;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc()) return int64_t{-1};
    text->remove_prefix(static_cast<size_t>(end - text->data()));
    return value;
  };
  const auto take = [](std::string_view* text, std::string_view token) {
    if (!text->starts_with(token)) return false;
    text->remove_prefix(token.size());
    return true;
  };
  while (!sizes.empty()) {
    std::string_view rest = sizes.substr(1);
    const bool begins = sizes.front() == 's';
    sizes.remove_prefix(1);
    if (!begins) continue;
    const int64_t from = number(&rest);
    if (from < 0 || !take(&rest, "->")) continue;
    const int64_t to = number(&rest);
    if (to < 0 || !take(&rest, "d|$c") || number(&rest) < 0 || !take(&rest, "=")) continue;
    const int64_t size = number(&rest);
    if (size < 0) continue;
    if (from != to) bytes += static_cast<double>(size);
    sizes = rest;
  }
  return bytes;
}

struct Counters {
  Curve collectives, payload, received, sent, receive_rate, send_rate;

  void Read(const std::vector<TpuTracks>& tpus) {
    for (const TpuTracks& tpu : tpus) {
      for (const EventTrack& track : tpu.collectives) {
        for (const TraceEvent& event : track.events) ReadEvent(event);
      }
    }
  }

  void ReadEvent(const TraceEvent& event) {
    const int64_t start_ns = event.start_ps / kPsPerNs;
    const int64_t end_ns = event.end_ps() / kPsPerNs;
    if (event.name.starts_with("device_") && event.name.find("_gid_") != std::string::npos) {
      collectives.Add(start_ns, end_ns, 1);
      const int64_t size = event.Whole("input_size");
      if (size != 0) payload.Add(start_ns, end_ns, static_cast<double>(size));
    } else if (event.name == "NetworkReceive END") {
      const int64_t latency_ns = event.Whole("network_transport_latency_us") * 1000;
      Network(event, end_ns, latency_ns, &received, &receive_rate);
    } else if (event.name == "NetworkSend END") {
      Network(event, end_ns, event.Whole("action_duration_ns"), &sent, &send_rate);
    }
  }

  static void Network(const TraceEvent& event, int64_t end_ns, int64_t latency_ns, Curve* bytes,
                      Curve* rate) {
    constexpr double kMaxGigabits = 200;  // more than any network: a clock that was wrong
    const double size = TransferredBytes(event.Text("buffer_sizes"));
    if (size <= 0 || latency_ns <= 0) return;
    bytes->Add(end_ns - latency_ns, end_ns, size);
    const double gigabits = size * 8 / static_cast<double>(latency_ns);
    if (gigabits <= kMaxGigabits) rate->Add(end_ns - latency_ns, end_ns, gigabits);
  }
};

class TraceBuilder {
 public:
  std::string Build(const std::vector<TpuTracks>& tpus) {
    if (tpus.empty()) return {};
    WriteCounters(tpus);
    const uint64_t root = trace_.AddTrack("2. TPUs", PerfettoWriter::kNoTrack);
    for (const TpuTracks& tpu : tpus) WriteTpu(tpu, root);
    return trace_.Take();
  }

 private:
  void WriteCounters(const std::vector<TpuTracks>& tpus) {
    const bool any =
        std::ranges::any_of(tpus, [](const TpuTracks& tpu) { return !tpu.collectives.empty(); });
    if (!any) return;
    Counters counters;
    counters.Read(tpus);
    const uint64_t root = trace_.AddTrack("1. Global Counters", PerfettoWriter::kNoTrack);
    const uint64_t network = trace_.AddTrack("Network", root);
    const auto write = [&](const char* name, uint64_t parent, const char* unit, const char* key,
                           const Curve& curve) {
      if (!curve.empty()) curve.Write(trace_.AddCounterTrack(name, parent, unit, key), &trace_);
    };
    write("Outstanding Bytes RX", network, "bytes", "outstanding_bytes", counters.received);
    write("Outstanding Bytes TX", network, "bytes", "outstanding_bytes", counters.sent);
    write("Bandwidth RX (Gbps)", network, "Gbps", "bandwidth", counters.receive_rate);
    write("Bandwidth TX (Gbps)", network, "Gbps", "bandwidth", counters.send_rate);
    const uint64_t megascale = trace_.AddTrack("Megascale", root);
    write("Inflight Collectives", megascale, "count", "", counters.collectives);
    write("Inflight Collective Payload", megascale, "bytes", "", counters.payload);
  }

  void WriteTpu(const TpuTracks& tpu, uint64_t root) {
    const uint64_t device = trace_.AddTrack(tpu.name, root);
    for (const auto& [kind, track] : tpu.lines) WriteTrack(track, device);
    if (tpu.collectives.empty()) return;
    const uint64_t megascale = trace_.AddTrack("Megascale", device);
    for (const EventTrack& track : tpu.collectives) WriteTrack(track, megascale);
  }

  void WriteTrack(const EventTrack& track, uint64_t parent) {
    const uint64_t id = trace_.AddTrack(track.name, parent);
    for (const TraceEvent& event : track.events) {
      std::vector<PerfettoArgument> arguments = event.arguments;
      for (const uint64_t flow : event.flows.in) arguments.push_back({"flow_in", flow});
      for (const uint64_t flow : event.flows.out) arguments.push_back({"flow_out", flow});
      const int64_t start_ns = event.start_ps / kPsPerNs;
      if (event.duration_ps == 0) {
        trace_.Instant(id, start_ns, event.name, arguments, event.flows);
      } else {
        trace_.Slice(id, start_ns, event.end_ps() / kPsPerNs, event.name, arguments, event.flows);
      }
    }
  }

  PerfettoWriter trace_;
};

}  // namespace

Result<std::string> MegascalePerfetto(const xplane::ProfileFile& file, bool as_xprof,
                                      const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(std::vector<TpuTracks> tpus, LoadTpuTracks(file, as_xprof, cancel));
  AddFlows(&tpus);
  return wire::GzipCompress(TraceBuilder().Build(tpus));
}

}  // namespace strobe::tools
