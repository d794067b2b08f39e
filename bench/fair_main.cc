// strobe_fair PORT --watched SESSION --loaded SESSION[,SESSION...] [--seconds N] [--connections N]
// [--seed N]: what one user feels of another who loads large profiles without end.
//
// User A (127.0.0.2) pans and zooms through one session that is loaded, kTilesPerSecond tiles a
// second, first alone and then while user B (127.0.0.3) opens the large sessions in a loop on
// several connections: lines, first tiles, a search, a tool. Then B closes tabs in the middle of a
// search over a session that is not loaded, and how long the server goes on for it is read from its
// counters. In between, kPanners users with addresses of their own pan at once. Prints one JSON
// object. Exits with 1 when something answers with an error.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/http_connection.h"
#include "src/base/ids.h"
#include "src/base/json_writer.h"

namespace strobe::bench {
namespace {

using nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

constexpr uint32_t kAddressA = 0x7f000002;
constexpr uint32_t kAddressB = 0x7f000003;
// One who pans quickly (a target of the server is twenty users with ten each).
constexpr int kTilesPerSecond = 20;
// A team in front of one incident.
constexpr int kPanners = 20;
constexpr int kTilesPerSecondOfPanner = 10;
constexpr uint32_t kFirstPanner = 0x7f020000;
constexpr int kClosedTabs = 10;
// What the server has to stop within after a tab was closed is a fifth of a second; looking goes on
// for much longer, to see by how much it was missed.
constexpr std::chrono::seconds kMostAfterClose{30};

struct Options {
  uint16_t port = 0;
  std::string watched;
  std::vector<std::string> loaded;
  int seconds = 30;
  int connections = 4;
  uint64_t seed = 1;
};

class Faults {
 public:
  void Add(const std::string& target, const Answer& answer) {
    const std::lock_guard lock(mutex_);
    ++count_;
    if (examples_.size() < 10) {
      examples_.push_back(target.substr(0, 200) + ": " + std::to_string(answer.status) + " " +
                          answer.body.substr(0, 200));
    }
  }
  uint64_t count() const { return count_; }
  const std::vector<std::string>& examples() const { return examples_; }

 private:
  std::mutex mutex_;
  uint64_t count_ = 0;
  std::vector<std::string> examples_;
};

std::optional<json> GetJson(Connection& connection, const std::string& target, Faults* faults) {
  const Answer answer = connection.Get(target, false);
  json body = json::parse(answer.body, nullptr, false);
  if (answer.status == 200 && body.is_object()) return body;
  faults->Add(target, answer);
  return std::nullopt;
}

std::string Base(const std::string& session) { return "/api/v1/sessions/" + session; }

struct View {
  std::string version;
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  std::vector<std::string> chunks;  // "0.1.0"
};

View ReadView(const json& lines) {
  View view;
  view.version = lines["version"].get<std::string>();
  view.start_ps = lines["window"]["start_ps"].get<int64_t>();
  view.end_ps = std::max(lines["window"]["end_ps"].get<int64_t>(), view.start_ps + 1024);
  for (const json& host : lines["hosts"]) {
    for (const json& plane : host["planes"]) {
      for (int chunk = 0; chunk < plane["chunks"].get<int>(); ++chunk) {
        view.chunks.push_back(plane["id"].get<std::string>() + "." + std::to_string(chunk));
      }
    }
  }
  return view;
}

int LevelOf(uint64_t length_ps) {
  int level = 10;
  while (level < 62 && (uint64_t{1} << level) < length_ps) ++level;
  return level;
}

std::string TileOf(const std::string& session, const View& view, const std::string& chunk,
                   int level, int64_t at_ps) {
  return Base(session) + "/tiles/" + chunk + "/" + std::to_string(level) + "/" +
         std::to_string(at_ps >> level) + "?v=" + view.version;
}

struct Latencies {
  std::vector<double> ms;
  double At(double share) {
    if (ms.empty()) return 0;
    std::ranges::sort(ms);
    return ms[std::min(ms.size() - 1, static_cast<size_t>(share * static_cast<double>(ms.size())))];
  }
};

struct Panner {
  uint32_t address = kAddressA;
  int per_second = kTilesPerSecond;
  int seconds = 1;
  uint64_t seed = 1;
};

// A tile at a random place of the last seven zooms, again and again at an even pace. What comes
// late begins the next one late, but none is left out.
Latencies Pan(const Options& options, const View& view, const Panner& panner, Faults* faults) {
  SeededRandom random(panner.seed);
  Connection connection(options.port, panner.address);
  const auto length = static_cast<uint64_t>(view.end_ps - view.start_ps);
  const int whole = LevelOf(length);
  Latencies latencies;
  const auto begin = SteadyClock::now();
  const auto end = begin + std::chrono::seconds(panner.seconds);
  for (auto next = begin; next < end; next += std::chrono::milliseconds(1000 / panner.per_second)) {
    std::this_thread::sleep_until(next);
    const std::string& chunk = view.chunks[random.Next() % view.chunks.size()];
    const int level = std::max(10, whole - static_cast<int>(random.Next() % 7));
    const std::string target = TileOf(options.watched, view, chunk, level,
                                      view.start_ps + static_cast<int64_t>(random.Next() % length));
    const auto asked = SteadyClock::now();
    const Answer answer = connection.Get(target, false);
    latencies.ms.push_back(
        std::chrono::duration<double, std::milli>(SteadyClock::now() - asked).count());
    if (answer.status != 200) faults->Add(target, answer);
  }
  return latencies;
}

Latencies PanTogether(const Options& options, const View& view, Faults* faults) {
  std::vector<Latencies> each(kPanners);
  std::vector<std::thread> threads;
  for (int i = 0; i < kPanners; ++i) {
    threads.emplace_back([&, i] {
      each[static_cast<size_t>(i)] = Pan(options, view,
                                         {.address = kFirstPanner + static_cast<uint32_t>(i) + 1,
                                          .per_second = kTilesPerSecondOfPanner,
                                          .seconds = options.seconds,
                                          .seed = options.seed + 100 + static_cast<uint64_t>(i)},
                                         faults);
    });
  }
  Latencies all;
  for (int i = 0; i < kPanners; ++i) {
    threads[static_cast<size_t>(i)].join();
    const std::vector<double>& ms = each[static_cast<size_t>(i)].ms;
    all.ms.insert(all.ms.end(), ms.begin(), ms.end());
  }
  return all;
}

// User B: opens one large session after the other until told to stop.
class Loader {
 public:
  Loader(const Options& options, Faults* faults) : options_(options), faults_(*faults) {
    for (int c = 0; c < options.connections; ++c) {
      threads_.emplace_back([this, c] { Loop(static_cast<size_t>(c)); });
    }
  }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  uint64_t rounds() const { return rounds_; }
  uint64_t cold() const { return cold_; }

 private:
  void Loop(size_t number) {
    Connection connection(options_.port, kAddressB);
    for (size_t turn = number; !stop_; ++turn) {
      LoadOne(connection, options_.loaded[turn % options_.loaded.size()]);
      ++rounds_;
    }
  }
  void LoadOne(Connection& connection, const std::string& session) {
    const std::optional<json> lines =
        GetJson(connection, Base(session) + "/lines?wait_ms=0", &faults_);
    if (!lines) return;
    if (!lines->value("complete", false)) ++cold_;
    const View view = ReadView(*lines);
    for (size_t c = 0; c < view.chunks.size() && !stop_; ++c) {
      Ask(connection,
          TileOf(session, view, view.chunks[c],
                 LevelOf(static_cast<uint64_t>(view.end_ps - view.start_ps)), view.start_ps));
    }
    Ask(connection, Base(session) + "/search?q=fusion&limit=100");
    Ask(connection, Base(session) + "/tools/hlo_stats?limit=50");
  }
  void Ask(Connection& connection, const std::string& target) {
    if (stop_) return;
    const Answer answer = connection.Get(target, false);
    if (answer.status != 200) faults_.Add(target, answer);
  }

  const Options& options_;
  Faults& faults_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> rounds_{0};
  std::atomic<uint64_t> cold_{0};
  std::vector<std::thread> threads_;
};

double Metric(const std::string& text, std::string_view name) {
  const size_t at = text.find("\n" + std::string(name) + " ");
  return at == std::string::npos ? -1 : std::atof(text.c_str() + at + name.size() + 2);
}

// Closes a tab in the middle of a search that has to decode a whole session; how long the server
// goes on with it. Nullopt: the search was answered before it could be seen at work.
std::optional<double> CloseInTheMiddle(const Options& options, const std::string& session) {
  Connection looks(options.port, kAddressA);
  const auto pieces = [&](std::string_view state) {
    const std::string name = "strobe_engine_work_" + std::string(state) + "{class=\"interactive\"}";
    return Metric(looks.Get("/metrics", false).body, name);
  };
  Connection tab(options.port, kAddressB);
  tab.Send(Base(session) + "/search?q=fusion&limit=100");
  const auto sent = SteadyClock::now();
  while (pieces("running") < 1) {
    if (SteadyClock::now() - sent > std::chrono::seconds(2)) return std::nullopt;
  }
  tab.Close();
  const auto closed = SteadyClock::now();
  // The look itself is one of the requests that run.
  while (SteadyClock::now() - closed < kMostAfterClose) {
    const std::string text = looks.Get("/metrics", false).body;
    if (Metric(text, "strobe_requests_running{class=\"interactive\"}") <= 1 &&
        Metric(text, "strobe_engine_work_running{class=\"interactive\"}") == 0 &&
        Metric(text, "strobe_engine_work_waiting{class=\"interactive\"}") == 0) {
      break;
    }
  }
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - closed).count();
}

void WriteLatencies(std::string_view name, Latencies& latencies, JsonWriter* out) {
  out->Key(name).BeginObject();
  out->Key("count").Uint(latencies.ms.size());
  out->Key("p50_ms").Double(latencies.At(0.5));
  out->Key("p99_ms").Double(latencies.At(0.99));
  out->Key("worst_ms").Double(latencies.At(1));
  out->EndObject();
}

std::optional<View> OpenWatched(const Options& options, Faults* faults) {
  Connection connection(options.port, kAddressA);
  const std::string target = Base(options.watched) + "/lines?wait_ms=10000";
  std::optional<json> lines;
  do {
    lines = GetJson(connection, target, faults);
    if (!lines) return std::nullopt;
  } while (!lines->value("complete", false));
  View view = ReadView(*lines);
  if (view.chunks.empty()) return std::nullopt;
  return view;
}

int Run(const Options& options) {
  Faults faults;
  const std::optional<View> view = OpenWatched(options, &faults);
  if (!view || options.loaded.empty()) {
    std::fprintf(stderr, "strobe_fair: the sessions cannot be read: %s\n",
                 faults.examples().empty() ? "no lines" : faults.examples()[0].c_str());
    return 1;
  }
  Panner panner{.seconds = 2, .seed = options.seed};
  Pan(options, *view, panner, &faults);  // warms
  panner.seconds = options.seconds;
  ++panner.seed;
  Latencies alone = Pan(options, *view, panner, &faults);
  Latencies together = PanTogether(options, *view, &faults);
  Loader loader(options, &faults);
  ++panner.seed;
  Latencies beside = Pan(options, *view, panner, &faults);
  loader.Stop();
  Latencies closed;
  for (int i = 0; i < kClosedTabs; ++i) {
    const std::string& session = options.loaded[static_cast<size_t>(i) % options.loaded.size()];
    if (const auto ms = CloseInTheMiddle(options, session)) closed.ms.push_back(*ms);
  }
  JsonWriter out;
  out.BeginObject();
  WriteLatencies("alone", alone, &out);
  WriteLatencies("together", together, &out);
  WriteLatencies("beside", beside, &out);
  WriteLatencies("closed", closed, &out);
  out.Key("rounds").Uint(loader.rounds());
  out.Key("cold").Uint(loader.cold());
  out.Key("errors").Uint(faults.count());
  out.Key("error_examples").BeginArray();
  for (const std::string& example : faults.examples()) out.String(example);
  out.EndArray();
  out.EndObject();
  std::printf("%s\n", out.TakeText().c_str());
  return faults.count() == 0 ? 0 : 1;
}

std::vector<std::string> SplitCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

}  // namespace
}  // namespace strobe::bench

int main(int argc, char** argv) {
  strobe::bench::Options options;
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: strobe_fair PORT --watched SESSION --loaded SESSION[,SESSION...] "
                 "[--seconds N] [--connections N] [--seed N]\n");
    return 2;
  }
  options.port = static_cast<uint16_t>(std::atoi(argv[1]));
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--watched") options.watched = argv[i + 1];
    if (name == "--loaded") options.loaded = strobe::bench::SplitCommas(argv[i + 1]);
    if (name == "--seconds") options.seconds = std::atoi(argv[i + 1]);
    if (name == "--connections") options.connections = std::atoi(argv[i + 1]);
    if (name == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return strobe::bench::Run(options);
}
