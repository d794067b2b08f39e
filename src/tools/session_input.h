// The input of tools over opened profile files: what is computed is kept and computed once, however
// many tools ask at the same time.
//
//   SessionInput input({.name = "run/s1", .hosts = hosts, .files = owners, .modules = modules});
//   Result<ToolResult> result = tool->run(question, input, cancel);
//
// A computation that is cancelled by its asker is begun anew by the next one who waits. Results of
// combining are kept for the last kMaxCombinations choices of hosts. Op stats of many hosts are
// made host by host; where `open_apart` says so nothing else of a host stays. Memory:
// resident_bytes().
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/tools/tool_input.h"

namespace strobe::tools {

class SessionInput : public ToolInput {
 public:
  struct Parts {
    std::string name;
    std::vector<ToolHost> hosts;
    std::vector<std::shared_ptr<const void>> owners;  // keep hosts[i].file alive
    std::shared_ptr<const hlo::ModuleSet> modules;    // finished; never null
    // Prepared hosts beyond this are let go as soon as their op stats are made, so that a session
    // of hundreds of hosts fits.
    uint64_t max_prepared_bytes = uint64_t{2} << 30;
    // For work on one host side by side.
    Parallel parallel;
    // Opens a host's file once more, to be let go as soon as the host is summed up: for sessions
    // that do not fit into memory. Answers null when the host is worked on as it is opened; may be
    // empty.
    std::function<Result<std::shared_ptr<const xplane::ProfileFile>>(size_t host,
                                                                     const CancelToken& cancel)>
        open_apart;
    // Told of each host that was prepared or summed up; may be empty. Any thread.
    std::function<void(size_t host)> host_done;
    // By host, what was read of op lines already; empty, or nullptr for a host: nothing.
    std::vector<std::shared_ptr<analysis::OpLineCache>> op_lines;
  };
  // Choices of hosts whose combined stats are kept.
  static constexpr size_t kMaxCombinations = 8;

  explicit SessionInput(Parts parts);

  const std::vector<ToolHost>& hosts() const override { return parts_.hosts; }
  const SessionFacts& facts() const override { return facts_; }
  std::string_view session_name() const override { return parts_.name; }
  Result<std::shared_ptr<const analysis::PreparedHost>> Prepared(
      size_t host, const CancelToken& cancel) override;
  Result<std::shared_ptr<const analysis::PreparedHost>> PreparedForTrace(
      size_t host, const CancelToken& cancel) override;
  Result<std::shared_ptr<const analysis::OpStats>> HostOpStats(size_t host,
                                                               const CancelToken& cancel) override;
  Result<std::shared_ptr<const analysis::OpStats>> CombinedOpStats(
      std::span<const size_t> hosts, const CancelToken& cancel) override;
  std::shared_ptr<const hlo::ModuleSet> Modules() override { return parts_.modules; }

  uint64_t resident_bytes() const;
  // Lets go of everything computed that nobody computes at this moment; it is made again when asked
  // for.
  void DropComputed();

 private:
  // One value that the first asker computes while the others wait.
  template <typename T>
  struct Slot {
    bool running = false;
    std::shared_ptr<const T> value;
    uint64_t bytes = 0;           // of the value, nearly
    std::optional<Status> error;  // of the input, kept; cancellation is not
  };
  template <typename T>
  Result<std::shared_ptr<const T>> Once(
      Slot<T>* slot, const CancelToken& cancel,
      const std::function<Result<std::shared_ptr<const T>>()>& compute);
  Status CheckHost(size_t host) const;
  // Null: the host is not to be worked on apart.
  Result<std::shared_ptr<const analysis::OpStats>> OpStatsApart(size_t host,
                                                                const CancelToken& cancel) const;
  analysis::PrepareOptions OptionsOf(size_t host, bool op_lines) const;
  void BoundPrepared(size_t host);
  uint64_t PreparedBytesLocked() const;

  const Parts parts_;
  SessionFacts facts_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::vector<Slot<analysis::PreparedHost>> prepared_;
  std::vector<Slot<analysis::PreparedHost>> for_trace_;
  std::vector<Slot<analysis::OpStats>> stats_;
  struct Combination {
    std::vector<size_t> hosts;
    std::shared_ptr<Slot<analysis::OpStats>> slot;
  };
  std::deque<Combination> combined_;
};

// Facts of opened files; hosts without a file are counted and say nothing else.
SessionFacts FactsOf(const std::vector<ToolHost>& hosts, const hlo::ModuleSet& modules);

}  // namespace strobe::tools
