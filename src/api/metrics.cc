#include "src/api/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "src/base/status.h"

namespace strobe::api {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

std::string EscapeLabel(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c != '\n') out.push_back(c);
  }
  return out;
}

// One metric with a sample for each pool.
template <typename Field>
void AppendByPool(const std::array<HttpMetrics::Pool, HttpMetrics::kPools>& pools,
                  std::string_view name, std::string_view type, std::string_view help, Field field,
                  std::string* out) {
  *out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  for (size_t p = 0; p < pools.size(); ++p) {
    *out += fmt::format("{}{{class=\"{}\"}} {}\n", name, HttpMetrics::kPoolNames[p],
                        (pools[p].*field).load(kRelaxed));
  }
}

void AppendPools(const std::array<HttpMetrics::Pool, HttpMetrics::kPools>& pools,
                 std::string* out) {
  using Pool = HttpMetrics::Pool;
  AppendByPool(pools, "strobe_requests_waiting", "gauge", "Requests waiting for a thread.",
               &Pool::waiting, out);
  AppendByPool(pools, "strobe_requests_running", "gauge", "Requests on a thread.", &Pool::running,
               out);
  AppendByPool(pools, "strobe_requests_served_total", "counter", "Requests that had a thread.",
               &Pool::served, out);
  AppendByPool(pools, "strobe_requests_refused_total", "counter",
               "Requests refused because too many waited.", &Pool::refused, out);
  AppendByPool(pools, "strobe_requests_abandoned_total", "counter",
               "Requests that nobody waited for any more when their turn came.", &Pool::abandoned,
               out);
}

}  // namespace

HttpMetrics::HttpMetrics(size_t route_count) {
  for (size_t i = 0; i < route_count; ++i) routes_.push_back(std::make_unique<PerRoute>());
}

void HttpMetrics::Record(size_t route, int status, double seconds, uint64_t sent_bytes) {
  STROBE_CHECK(route < routes_.size());
  PerRoute& per_route = *routes_[route];
  const size_t status_class = static_cast<size_t>(std::clamp(status / 100, 1, 5) - 1);
  per_route.by_status[status_class].fetch_add(1, kRelaxed);
  const auto bucket = std::lower_bound(kBuckets.begin(), kBuckets.end(), seconds);
  per_route.by_latency[static_cast<size_t>(bucket - kBuckets.begin())].fetch_add(1, kRelaxed);
  per_route.nanos.fetch_add(static_cast<uint64_t>(seconds * 1e9), kRelaxed);
  per_route.sent_bytes.fetch_add(sent_bytes, kRelaxed);
}

void HttpMetrics::AppendText(const std::vector<std::string>& names, std::string* out) const {
  STROBE_CHECK(names.size() == routes_.size());
  *out +=
      "# HELP strobe_http_requests_total Requests answered, by route and status class.\n"
      "# TYPE strobe_http_requests_total counter\n";
  for (size_t i = 0; i < routes_.size(); ++i) {
    for (size_t c = 0; c < kStatusClasses; ++c) {
      const uint64_t count = routes_[i]->by_status[c].load(kRelaxed);
      if (count == 0) continue;
      *out += fmt::format("strobe_http_requests_total{{route=\"{}\",status=\"{}xx\"}} {}\n",
                          EscapeLabel(names[i]), c + 1, count);
    }
  }
  *out +=
      "# HELP strobe_http_request_seconds Time from the whole request to the last byte sent.\n"
      "# TYPE strobe_http_request_seconds histogram\n";
  for (size_t i = 0; i < routes_.size(); ++i) {
    const std::string label = EscapeLabel(names[i]);
    uint64_t total = 0;
    std::string lines;
    for (size_t b = 0; b <= kBuckets.size(); ++b) {
      total += routes_[i]->by_latency[b].load(kRelaxed);
      const std::string bound = b < kBuckets.size() ? fmt::format("{}", kBuckets[b]) : "+Inf";
      lines += fmt::format("strobe_http_request_seconds_bucket{{route=\"{}\",le=\"{}\"}} {}\n",
                           label, bound, total);
    }
    if (total == 0) continue;
    *out += lines;
    *out += fmt::format("strobe_http_request_seconds_sum{{route=\"{}\"}} {}\n", label,
                        static_cast<double>(routes_[i]->nanos.load(kRelaxed)) / 1e9);
    *out += fmt::format("strobe_http_request_seconds_count{{route=\"{}\"}} {}\n", label, total);
  }
  *out +=
      "# HELP strobe_http_sent_bytes_total Bytes of answers sent, by route.\n"
      "# TYPE strobe_http_sent_bytes_total counter\n";
  for (size_t i = 0; i < routes_.size(); ++i) {
    const uint64_t bytes = routes_[i]->sent_bytes.load(kRelaxed);
    if (bytes == 0) continue;
    *out += fmt::format("strobe_http_sent_bytes_total{{route=\"{}\"}} {}\n", EscapeLabel(names[i]),
                        bytes);
  }
  const auto gauge = [out](std::string_view name, std::string_view help, int64_t value) {
    AppendMetric(out, name, "gauge", help, static_cast<double>(value));
  };
  const auto counter = [out](std::string_view name, std::string_view help, uint64_t value) {
    AppendMetric(out, name, "counter", help, static_cast<double>(value));
  };
  gauge("strobe_http_open_connections", "Connections open now.", open_connections.load());
  gauge("strobe_http_running_requests", "Requests being answered now.", running_requests.load());
  gauge("strobe_http_open_streams", "Event streams open now.", open_streams.load());
  counter("strobe_http_clients_left_total", "Clients that left before they had their answer.",
          clients_left.load());
  AppendPools(pools, out);
  counter("strobe_http_accepted_connections_total", "Connections accepted.",
          accepted_connections.load());
  counter("strobe_http_refused_connections_total", "Connections refused because of a limit.",
          refused_connections.load());
  counter("strobe_http_timed_out_connections_total", "Connections closed for being too slow.",
          timed_out_connections.load());
}

void AppendMetric(std::string* out, std::string_view name, std::string_view type,
                  std::string_view help, double value) {
  *out += fmt::format("# HELP {} {}\n# TYPE {} {}\n{} {}\n", name, help, name, type, name, value);
}

uint64_t ResidentBytes() {
  FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0;
  unsigned long long resident = 0;
  const int read = std::fscanf(file, "%llu %llu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace strobe::api
