#include "src/tools/megascale_slack.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "src/hlo/message.h"
#include "src/tools/megascale_stats.h"

namespace strobe::tools {
namespace {

using hlo::HloModule;
using hlo::Message;
using hlo::Opcode;

constexpr int64_t kPsPerNs = 1000;

struct Span {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t end_ns() const { return start_ns + duration_ns; }
};

// What is known of one send or recv operation from its module.
struct DcnOp {
  Opcode opcode = Opcode::kUnknown;
  int64_t channel = 0;
  std::string rendezvous;
  std::string transfer_type;
  int64_t bytes = 0;
};

// A rendezvous as it goes along.
struct State {
  std::string transfer_type;
  std::string send_op;
  int64_t start_ns = 0;
  int64_t before_ns = 0;  // time of all operations before the send
  int64_t stall_ns = 0;
  int64_t group_size = 0;
  Span send, send_done, recv, recv_done;
};

struct Sums {
  SlackSummary last;  // names and bytes of the last occurrence
  uint64_t slack_us = 0, observed_us = 0, stall_us = 0;
  int64_t send_ns = 0, send_done_ns = 0, recv_ns = 0, recv_done_ns = 0;
  uint64_t count = 0;
};

std::string FrontendAttribute(const Message& record, std::string_view name) {
  for (const std::string_view bytes : Message(record.Bytes(68)).All(1)) {
    const Message entry(bytes);
    if (entry.Bytes(1) == name) return std::string(entry.Bytes(2));
  }
  return {};
}

DcnOp DescribeOp(const HloModule& module, uint32_t index) {
  const hlo::Instruction& instruction = module.instruction(index);
  const Message record(instruction.record);
  DcnOp op;
  op.opcode = instruction.opcode;
  op.channel = record.Int(26);
  op.rendezvous = FrontendAttribute(record, "_xla_host_transfer_rendezvous");
  op.transfer_type = FrontendAttribute(record, "_xla_megascale_transfer_type");
  op.bytes = hlo::UnpaddedSizeBytes(module.shape_of(index));
  return op;
}

uint64_t TransmittedBytes(std::string_view type, int64_t group_size, int64_t bytes) {
  if (group_size <= 0) return 0;
  const auto group = static_cast<double>(group_size);
  const auto size = static_cast<double>(bytes);
  double sent = 0;
  if (type == "ONE_TO_ONE") sent = group * size;
  if (type == "ALL_GATHER") sent = (group - 1) * size / group;
  if (type == "ALL_REDUCE") sent = 2 * ((group - 1) / group) * size;
  if (type == "ALL_TO_ALL") sent = ((group - 1) / group) * size;
  if (type == "REDUCE_SCATTER") sent = (group - 1) * size;
  return static_cast<uint64_t>(sent);
}

// Endpoints that take part, from the stat dcn_collective_info of the operation.
int64_t GroupSize(std::string_view info) {
  const Message message(info);
  if (!message.All(3).empty()) return 1;
  const std::vector<std::string_view> groups = message.All(2);
  return groups.empty() ? 0 : static_cast<int64_t>(Message(groups.front()).All(1).size());
}

class SlackReader {
 public:
  SlackReader(const xplane::ProfileFile& file, const hlo::ModuleSet& modules, bool as_xprof)
      : file_(file), modules_(modules), as_xprof_(as_xprof) {}

  Result<std::vector<SlackSummary>> Read(const CancelToken& cancel) {
    for (size_t p = 0; p < file_.planes().size(); ++p) {
      if (file_.planes()[p].name != "/device:TPU:0") continue;
      STROBE_RETURN_IF_ERROR(ReadPlane(p, cancel));
      break;
    }
    std::vector<SlackSummary> rows;
    for (const std::string& name : order_) rows.push_back(Mean(sums_.at(name)));
    return rows;
  }

 private:
  struct ModuleRun {
    int64_t start_ps;
    int64_t end_ps;
    std::string_view name;
  };

  Status ReadPlane(size_t p, const CancelToken& cancel) {
    const xplane::Plane& plane = file_.planes()[p];
    plane_ = p;
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      if (plane.lines[l].name != "XLA Modules") continue;
      const xplane::LineColumns& line = file_.Line(p, l);
      for (uint32_t e = 0; e < line.event_count(); ++e) {
        runs_.push_back({line.start_ps[e], line.start_ps[e] + line.duration_ps[e],
                         plane.event_metadata[line.name[e]].name});
      }
    }
    std::ranges::stable_sort(runs_, {}, &ModuleRun::start_ps);
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      if (plane.lines[l].name != "XLA Ops") continue;
      STROBE_RETURN_IF_ERROR(cancel.Check());
      const xplane::LineColumns& line = file_.Line(p, l);
      std::vector<std::pair<uint64_t, uint32_t>> order;
      for (uint32_t e = 0; e < line.event_count(); ++e) {
        if (IsDcn(line.name[e])) order.emplace_back(file_.EventOffset(p, l, e), e);
      }
      std::ranges::sort(order);
      for (const auto& [offset, e] : order) {
        STROBE_RETURN_IF_ERROR(Visit(line.name[e],
                                     {line.start_ps[e] / kPsPerNs, line.duration_ps[e] / kPsPerNs},
                                     line.start_ps[e]));
      }
    }
    return OkStatus();
  }

  bool IsDcn(uint32_t metadata) {
    const auto [at, added] = is_dcn_.try_emplace(metadata, false);
    if (added) {
      for (const xplane::Stat& stat : file_.MetadataStats(plane_, metadata)) {
        if (stat.name == "hlo_category") {
          at->second = stat.text.find("host send") != std::string_view::npos ||
                       stat.text.find("host recv") != std::string_view::npos;
        }
        if (stat.name == "dcn_collective_info") group_size_[metadata] = GroupSize(stat.text);
      }
    }
    return at->second;
  }

  // The operation of an event, from the module that runs at that time.
  const DcnOp* OpOf(uint32_t metadata, int64_t start_ps) {
    const auto after = std::ranges::upper_bound(runs_, start_ps, {}, &ModuleRun::start_ps);
    if (after == runs_.begin() || std::prev(after)->end_ps < start_ps) return nullptr;
    const std::string_view name = std::prev(after)->name;
    const auto [at, added] = ops_.try_emplace({name, metadata});
    if (!added) return at->second ? &*at->second : nullptr;
    const std::optional<size_t> index = modules_.FindKey(name);
    if (!index) return nullptr;
    const auto module = modules_.Module(*index);
    if (!module.ok()) return nullptr;
    const xplane::EventMetadata& about = file_.planes()[plane_].event_metadata[metadata];
    const uint32_t instruction = (*module)->FindInstruction(about.label());
    if (instruction == hlo::kNone) return nullptr;
    at->second = DescribeOp(**module, instruction);
    return &*at->second;
  }

  Status Visit(uint32_t metadata, Span span, int64_t start_ps) {
    const DcnOp* op = OpOf(metadata, start_ps);
    if (op == nullptr) return OkStatus();
    std::string rendezvous = op->rendezvous;
    // Operations that do not say it have the name that their channel had last.
    if (rendezvous.empty()) {
      const auto found = channels_.find(op->channel);
      if (found == channels_.end()) return OkStatus();
      rendezvous = found->second;
    } else {
      channels_[op->channel] = rendezvous;
    }
    if (states_.size() >= kMaxRendezvous && !states_.contains(rendezvous)) {
      return ResourceExhaustedError(
                 "MEGASCALE_LIMIT_RENDEZVOUS",
                 "The program has more than " + std::to_string(kMaxRendezvous) + " rendezvous.")
          .Hint("No real program has; the profile is damaged.");
    }
    State& state = states_[rendezvous];
    const std::string_view name = file_.planes()[plane_].event_metadata[metadata].label();
    state.stall_ns += span.duration_ns;
    switch (op->opcode) {
      case Opcode::kSend:
        state.start_ns = span.start_ns;
        state.transfer_type = op->transfer_type;
        state.before_ns = total_ns_;
        state.stall_ns = span.duration_ns;
        state.send_op = name;
        state.send = span;
        state.group_size = group_size_.contains(metadata) ? group_size_[metadata] : 0;
        break;
      case Opcode::kRecv:
        state.recv = span;
        break;
      case Opcode::kSendDone:
        state.send_done = span;
        break;
      case Opcode::kRecvDone:
        state.recv_done = span;
        if (state.start_ns != 0) Emit(rendezvous, state, name, op->bytes);
        break;
      default:
        break;
    }
    total_ns_ += span.duration_ns;
    return OkStatus();
  }

  void Emit(const std::string& rendezvous, const State& state, std::string_view recv_op,
            int64_t bytes) {
    constexpr int64_t kNsPerUs = 1000;
    const auto [at, added] = sums_.try_emplace(rendezvous);
    if (added) order_.push_back(rendezvous);
    Sums& sums = at->second;
    // What other send and recv operations took in between is no time to transfer.
    const int64_t overlap_ns = total_ns_ - state.before_ns;
    const int64_t slack_ns = state.recv_done.start_ns - state.send.start_ns - overlap_ns;
    sums.slack_us += static_cast<uint64_t>(std::max<int64_t>(slack_ns, 0) / kNsPerUs);
    sums.observed_us +=
        static_cast<uint64_t>(state.recv_done.end_ns() / kNsPerUs - state.send.start_ns / kNsPerUs);
    sums.stall_us += static_cast<uint64_t>(state.stall_ns / kNsPerUs);
    sums.send_ns += state.send.duration_ns;
    sums.send_done_ns += state.send_done.duration_ns;
    sums.recv_ns += state.recv.duration_ns;
    sums.recv_done_ns += state.recv_done.duration_ns;
    ++sums.count;
    sums.last.rendezvous = rendezvous;
    sums.last.recv_op = recv_op;
    sums.last.send_op = state.send_op;
    sums.last.transfer_type = state.transfer_type;
    sums.last.transmitted_bytes = TransmittedBytes(state.transfer_type, state.group_size, bytes);
  }

  SlackSummary Mean(const Sums& sums) const {
    SlackSummary row = sums.last;
    const auto mean_us = [&](int64_t ns) { return static_cast<uint64_t>(ns / 1000) / sums.count; };
    row.occurrences = sums.count;
    row.slack_us = sums.slack_us / sums.count;
    row.observed_us = sums.observed_us / sums.count;
    row.stall_us = sums.stall_us / sums.count;
    row.send_us = mean_us(sums.send_ns);
    row.send_done_us = mean_us(sums.send_done_ns);
    row.recv_us = as_xprof_ ? mean_us(sums.recv_ns) / 1'000'000 : mean_us(sums.recv_ns);
    row.recv_done_us = mean_us(sums.recv_done_ns);
    return row;
  }

  const xplane::ProfileFile& file_;
  const hlo::ModuleSet& modules_;
  const bool as_xprof_;
  size_t plane_ = 0;
  int64_t total_ns_ = 0;
  std::vector<ModuleRun> runs_;
  std::unordered_map<uint32_t, bool> is_dcn_;
  std::unordered_map<uint32_t, int64_t> group_size_;
  std::map<std::pair<std::string_view, uint32_t>, std::optional<DcnOp>> ops_;
  std::unordered_map<int64_t, std::string> channels_;
  std::map<std::string, State> states_;
  std::map<std::string, Sums> sums_;
  std::vector<std::string> order_;
};

}  // namespace

bool HasMegascaleEvents(const xplane::ProfileFile& file) {
  for (const xplane::Plane& plane : file.planes()) {
    if (plane.name != "/host:CPU") continue;
    for (const xplane::EventMetadata& event : plane.event_metadata) {
      if (event.name.starts_with("MegaScale:")) return true;
    }
  }
  return false;
}

Result<std::vector<SlackSummary>> SlackOfHost(const xplane::ProfileFile& file,
                                              const hlo::ModuleSet& modules, bool as_xprof,
                                              const CancelToken& cancel) {
  return SlackReader(file, modules, as_xprof).Read(cancel);
}

std::vector<SlackSummary> CombineSlack(const std::vector<std::vector<SlackSummary>>& hosts) {
  std::vector<SlackSummary> all;
  std::map<std::string_view, size_t> index;
  for (const std::vector<SlackSummary>& rows : hosts) {
    for (const SlackSummary& row : rows) {
      const auto [at, added] = index.try_emplace(row.rendezvous, all.size());
      if (added) {
        all.push_back(row);
        continue;
      }
      SlackSummary& sum = all[at->second];
      const uint64_t count = sum.occurrences + row.occurrences;
      const auto mean = [&](uint64_t SlackSummary::* field) {
        sum.*field = (sum.*field * sum.occurrences + row.*field * row.occurrences) / count;
      };
      for (const auto field :
           {&SlackSummary::slack_us, &SlackSummary::observed_us, &SlackSummary::send_us,
            &SlackSummary::send_done_us, &SlackSummary::recv_us, &SlackSummary::recv_done_us,
            &SlackSummary::stall_us}) {
        mean(field);
      }
      sum.occurrences = count;
      sum.recv_op = row.recv_op;
      sum.send_op = row.send_op;
      sum.transfer_type = row.transfer_type;
      sum.transmitted_bytes = row.transmitted_bytes;
    }
  }
  return all;
}

}  // namespace strobe::tools
