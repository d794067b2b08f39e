// Sessions found by themselves: looks into the storage of each run, on a schedule with back-off and
// on request, and keeps the catalogue's sessions as what is there.
//
//   Scanner scanner(catalog, list_found, clock);
//   scanner.Start();                 // a thread of its own; Stop() or the destructor ends it
//   scanner.ScanRun(key);            // now
//
// A session that nobody announced gets the kind SCANNED; one that a client announced gets its path,
// hosts and size. When its files go, a scanned session goes too, an announced one loses them. Files
// are only looked at, never changed. What belongs to a run: all below <path>/<run id>; and, as
// several runs may share a path, all else below it that lies in no other run's folder.
// A run that goes on is looked at every kFirstIntervalNs, doubling to kActiveIntervalNs while
// nothing changes; one that has ended to kEndedIntervalNs. Errors of a run's storage are kept with
// the run. Thread-safe. Limits: kMaxFoundPerRun.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/base/clock.h"
#include "src/base/status.h"
#include "src/catalog/catalog.h"

namespace strobe::catalog {

inline constexpr int64_t kFirstIntervalNs = 5'000'000'000;
inline constexpr int64_t kActiveIntervalNs = 30'000'000'000;
inline constexpr int64_t kEndedIntervalNs = 3600'000'000'000;
// How often what has long ended (operations, request ids, tokens, sign-ins) is forgotten.
inline constexpr int64_t kForgetIntervalNs = 3600'000'000'000;
// As many as the walk of a directory gives at most.
inline constexpr size_t kMaxFoundPerRun = 100'000;

struct FoundSession {
  std::string path;       // of the session's folder
  std::string name;       // its last part
  std::string viewer_id;  // under which the server shows it
  std::vector<std::string> hosts;
  uint64_t size_bytes = 0;
  int64_t modified_unix_ns = 0;
  std::string completeness;
};

// All sessions below the run's storage path that its project may see. Errors are shown with the
// run.
using ListFound = std::function<Result<std::vector<FoundSession>>(const Run& run)>;

class Scanner {
 public:
  Scanner(Catalog& catalog, ListFound list_found, const Clock& clock);
  ~Scanner();
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  void Start();
  void Stop();
  // Every run whose time has come, at most `limit`; how many were looked at.
  Result<size_t> ScanDue(size_t limit);
  Status ScanRun(const Key& key);

 private:
  void Loop();
  void ForgetOld();
  Status Apply(const Key& key, std::vector<FoundSession> found);

  Catalog& catalog_;
  const ListFound list_found_;
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace strobe::catalog
