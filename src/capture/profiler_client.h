// One target's profiler service, called without waiting: the only place that sees gRPC.
//
//   std::unique_ptr<ProfilerChannel> channel = ProfilerChannel::Open(target, connect_timeout_ms);
//   while (channel->link() == Link::kConnecting) ...;
//   channel->StartProfile(call, deadline_ms, [](CallOutcome outcome) { mailbox.Put(...); });
//   channel->Terminate(session_id);   // the answer then comes early and is complete up to now
//
// Answers of any size are taken as the pieces that came off the network; nothing copies or parses
// them. Connections are plain HTTP/2 (the servers know nothing else), go to the named address
// itself (no proxy of the environment, no service records of DNS) and are not shared between
// captures, so that an old failure's back-off does not hit a new one.
//
// Callbacks run on the one thread that does everything of gRPC and must be short. Destroying a
// channel cancels its call; the callback still comes, later.
// Cost: that one thread for the whole process, none per target. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/capture/target.h"

namespace strobe::capture {

enum class Link : uint8_t { kConnecting, kReady, kFailed };

// What a call can end with, as far as we tell cases apart.
enum class CallCode : uint8_t {
  kOk,
  kCancelled,
  kDeadline,
  kBusy,           // another profile is being taken
  kUnimplemented,  // something else listens there
  kUnavailable,    // not reached, or lost
  kOther
};

// Bytes as they came; the pieces live as long as this does.
class ReceivedBytes {
 public:
  virtual ~ReceivedBytes() = default;
  virtual std::vector<std::string_view> pieces() const = 0;
  virtual uint64_t size_bytes() const = 0;
};

struct CallOutcome {
  CallCode code = CallCode::kOther;
  std::string message;  // the peer's or gRPC's words, fit to be shown
  std::shared_ptr<const ReceivedBytes> bytes;
};

struct ProfileCall {
  int64_t duration_ms = 0;
  int64_t start_unix_ns = 0;  // 0: at once
  std::string session_id;
  std::string host_name;
  uint32_t host_tracer_level = 0;
  uint32_t device_tracer_level = 0;
  uint32_t python_tracer_level = 0;
  std::map<std::string, std::variant<std::string, bool, int64_t>> options;
};

class ProfilerChannel {
 public:
  static std::unique_ptr<ProfilerChannel> Open(const Target& target, int64_t connect_timeout_ms);
  virtual ~ProfilerChannel() = default;

  // Asks for a connection if there is none.
  virtual Link link() = 0;
  // At most one at a time.
  virtual void StartProfile(const ProfileCall& call, int64_t deadline_ms,
                            std::function<void(CallOutcome)> done) = 0;
  // Drops the running call: what was recorded is lost, the target is free again soon after.
  virtual void DropProfile() = 0;
  // Asks the target to end the recording; failures show only in that no answer comes.
  virtual void Terminate(const std::string& session_id) = 0;
};

}  // namespace strobe::capture
