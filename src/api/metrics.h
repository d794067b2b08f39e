// Counters of the server in Prometheus's text form: requests and latency by route, connections.
//
//   HttpMetrics metrics(router.routes().size() + 1);
//   metrics.Record(route_index, 200, seconds, sent_bytes);
//   metrics.AppendText(route_names, &out);
//
// Cost: a few relaxed atomic additions a request. Thread-safe. The number of series is bounded by
// the route table (labels are patterns, never addresses).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strobe::api {

class HttpMetrics {
 public:
  // Seconds; chosen around the 10 ms gate of a tile and the seconds of a first overview.
  static constexpr std::array<double, 12> kBuckets = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                      0.05,   0.1,   0.25,   1,     5,    30};
  static constexpr size_t kStatusClasses = 5;  // 1xx .. 5xx

  // Requests of one of the server's pools.
  static constexpr size_t kPools = 2;
  static constexpr std::array<std::string_view, kPools> kPoolNames = {"interactive", "work"};
  struct Pool {
    std::atomic<int64_t> waiting{0};
    std::atomic<int64_t> running{0};
    std::atomic<uint64_t> served{0};
    std::atomic<uint64_t> refused{0};    // met the limit of the queue
    std::atomic<uint64_t> abandoned{0};  // the client was gone, or its time over, before its turn
  };

  explicit HttpMetrics(size_t route_count);

  void Record(size_t route, int status, double seconds, uint64_t sent_bytes);
  // `names[i]` labels route i.
  void AppendText(const std::vector<std::string>& names, std::string* out) const;

  std::atomic<int64_t> open_connections{0};
  std::atomic<uint64_t> accepted_connections{0};
  std::atomic<uint64_t> refused_connections{0};
  std::atomic<uint64_t> timed_out_connections{0};
  std::atomic<int64_t> running_requests{0};
  std::atomic<int64_t> open_streams{0};
  std::atomic<uint64_t> clients_left{0};  // before they had their answer
  std::array<Pool, kPools> pools;

 private:
  struct PerRoute {
    std::array<std::atomic<uint64_t>, kStatusClasses> by_status{};
    std::array<std::atomic<uint64_t>, kBuckets.size() + 1> by_latency{};
    std::atomic<uint64_t> nanos{0};
    std::atomic<uint64_t> sent_bytes{0};
  };
  std::vector<std::unique_ptr<PerRoute>> routes_;
};

// "# HELP", "# TYPE" and one sample without labels.
void AppendMetric(std::string* out, std::string_view name, std::string_view type,
                  std::string_view help, double value);
// Memory of this process that is in RAM, from /proc; 0 when it cannot be read.
uint64_t ResidentBytes();

}  // namespace strobe::api
