// Operations: every long thing a user starts has an id, progress in real units, a deadline, can be
// cancelled, and ends in a result or a named error.
//
//   OperationTable table(options, clock, ids);
//   STROBE_ASSIGN_OR_RETURN(std::string id, table.Start("capture", deadline_ms, [](OperationHandle&
//   handle) { ... })); table.Get(id); table.Cancel(id); table.WaitForChange(id, seen_revision,
//   timeout_ms);
//
// In-process form: operations live in memory; finished ones are kept until `max_finished`. Each
// runs on a thread of its own (captures mostly wait); at most `max_running`, beyond it
// RESOURCE_EXHAUSTED. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/base/status.h"

namespace strobe::queue {

struct OperationTarget {
  std::string target;
  std::string state;  // connecting, recording, collecting, saved, failed, cancelled, empty
  uint64_t received_bytes = 0;
  std::string message;
  std::string hint;
  std::string file;
};

struct OperationState {
  std::string id;
  std::string kind;
  std::string project;  // whose it is; empty: of nobody
  bool done = false;
  bool cancelled = false;
  int64_t created_unix_ms = 0;
  int64_t updated_unix_ms = 0;
  int64_t deadline_unix_ms = 0;
  std::string stage;
  uint64_t progress_done = 0;
  uint64_t progress_total = 0;
  std::string progress_unit;
  std::vector<OperationTarget> targets;
  // At the end: a flat result, or an error.
  std::vector<std::pair<std::string, std::string>> result;
  std::optional<Status> error;
  uint64_t revision = 0;  // grows with each change
};

class OperationHandle {
 public:
  virtual ~OperationHandle() = default;
  virtual const CancelToken& cancel() const = 0;
  virtual int64_t deadline_unix_ms() const = 0;
  // Changes the visible state under the table's lock.
  virtual void Update(const std::function<void(OperationState&)>& change) = 0;
};

struct OperationOptions {
  size_t max_running = 32;
  size_t max_finished = 1000;
};

class OperationTable {
 public:
  static std::unique_ptr<OperationTable> Create(OperationOptions options, const Clock& clock,
                                                const IdMaker& ids);
  virtual ~OperationTable() = default;  // cancels and joins what runs

  // `work` returns OK (having set `result`) or the error the operation ends with.
  virtual Result<std::string> Start(const std::string& kind, int64_t timeout_ms,
                                    std::vector<OperationTarget> targets,
                                    std::function<Status(OperationHandle&)> work,
                                    std::string project = "") = 0;
  virtual std::vector<OperationState> List() = 0;                 // newest first
  virtual Result<OperationState> Get(const std::string& id) = 0;  // OPERATION_UNKNOWN
  virtual Result<OperationState> Cancel(const std::string& id) = 0;
  // Returns as soon as the revision exceeds `seen_revision`, or after the timeout with the state as
  // it is.
  virtual Result<OperationState> WaitForChange(const std::string& id, uint64_t seen_revision,
                                               int64_t timeout_ms) = 0;
};

}  // namespace strobe::queue
