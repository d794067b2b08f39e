// A profiler server for tests that behaves as JAX's was seen to behave, and as badly as a test
// asks.
//
//   FakeProfilerServer server({.xspace = MakeXSpace({.hostname = "node0", .process_id = 7})});
//   Capture({.targets = {server.target()}, ...});
//   EXPECT_EQ(server.requests()[0].opts().version(), 1u);
//
// Recording lasts opts.duration_ms and nothing else; Terminate with the request's session id ends
// it; a second Profile meanwhile is INTERNAL "Another profiling session active."; a cancelled call
// frees the profiler. Faults are set in the Script. CuttingRelay and SilentListener are peers that
// fail below gRPC. All ports are free ones on 127.0.0.1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "profiler_service.pb.h"

namespace strobe::capture::testing {

struct XSpaceSpec {
  std::string hostname = "node0";
  int64_t process_id = 4711;  // 0: no such stat
  int events = 3;
  uint64_t padding_bytes = 0;  // about this much more, in events with large stats
  std::string error = {};
};
std::string MakeXSpace(const XSpaceSpec& spec);

class FakeProfilerServer {
 public:
  struct Script {
    std::string xspace = {};
    bool empty_trace = false;
    int tool_data = 0;
    // Answers "busy" to this many calls first.
    int busy_times = 0;
    // With another code than 0 (OK) every Profile fails so, after the recording if `fail_late`.
    int fail_code = 0;
    std::string fail_message = {};
    bool fail_late = false;
    // Never answers; with `deaf` it ignores Terminate too.
    bool hangs = false;
    bool deaf = false;
    int64_t collecting_ms = 0;
    bool without_service = false;
  };

  explicit FakeProfilerServer(Script script);
  ~FakeProfilerServer();
  FakeProfilerServer(const FakeProfilerServer&) = delete;
  FakeProfilerServer& operator=(const FakeProfilerServer&) = delete;

  int port() const;
  std::string target() const;  // "127.0.0.1:port"
  std::vector<tensorflow::ProfileRequest> requests() const;
  std::vector<std::string> terminated() const;  // session ids, as they came
  // Blocks until a recording runs (it may be waiting for its start time).
  void WaitUntilRecording() const;
  // Breaks every connection and call, as when the process is killed.
  void Kill();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Passes bytes between a client and a server, and resets the connection once `cut_after_bytes` have
// gone to the client.
class CuttingRelay {
 public:
  CuttingRelay(int server_port, uint64_t cut_after_bytes);
  ~CuttingRelay();
  std::string target() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void Serve();
  void Relay(int client);

  const int server_port_;
  const uint64_t cut_after_bytes_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

// Takes connections and never says a word.
class SilentListener {
 public:
  SilentListener();
  ~SilentListener();
  std::string target() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int listener_ = -1;
  int port_ = 0;
};

// A port on which nobody listens (it was free a moment ago).
int UnusedPort();

}  // namespace strobe::capture::testing
