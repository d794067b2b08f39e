// strobe_load PORT [--users N] [--seconds N] [--seed N] [--think_ms N] [--abandon PERCENT]: people
// who look at profiles, all at once.
//
// Each user has a connection of its own, opens sessions (popular ones more often), pans and zooms
// by tiles, searches, asks for totals, events and tools, and waits a little between. Some requests
// are abandoned in the middle, as by a tab that is closed. Prints one JSON object: requests, errors
// with examples, and for each kind of request the number and its latency in milliseconds (p50, p99,
// p99.9, worst). An error is every answer but 200 and 304, and every connection that breaks without
// having been abandoned by us.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/http_connection.h"
#include "src/base/ids.h"
#include "src/base/json_writer.h"

namespace strobe::bench {
namespace {

using nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

struct LoadOptions {
  uint16_t port = 0;
  int users = 200;
  int seconds = 120;
  uint64_t seed = 1;
  double think_ms = 300;
  double abandon_percent = 1;
};

constexpr size_t kMaxExamples = 20;
// Users come from addresses of their own, 127.1.0.0 and on, as people do: a server without access
// control tells them apart by that.
constexpr uint32_t kFirstAddress = 0x7f010000;

// What all users measured.
class Results {
 public:
  void Add(const std::string& kind, double ms) {
    const std::lock_guard lock(mutex_);
    latencies_[kind].push_back(static_cast<float>(ms));
  }
  void AddAbandoned() { ++abandoned_; }
  void AddError(const std::string& what) {
    const std::lock_guard lock(mutex_);
    ++errors_;
    if (examples_.size() < kMaxExamples) examples_.push_back(what);
  }
  std::string ToJson(double seconds) {
    JsonWriter out;
    std::vector<float> all;
    for (const auto& [kind, values] : latencies_)
      all.insert(all.end(), values.begin(), values.end());
    latencies_["all"] = all;
    out.BeginObject();
    out.Key("seconds").Double(seconds);
    out.Key("requests").Uint(all.size());
    out.Key("requests_per_s").Double(static_cast<double>(all.size()) / seconds);
    out.Key("abandoned").Uint(abandoned_);
    out.Key("errors").Uint(errors_);
    out.Key("error_examples").BeginArray();
    for (const std::string& example : examples_) out.String(example);
    out.EndArray();
    out.Key("kinds").BeginObject();
    for (auto& [kind, values] : latencies_) {
      std::ranges::sort(values);
      const auto at = [&values](double share) {
        if (values.empty()) return 0.0;
        const auto index = static_cast<size_t>(share * static_cast<double>(values.size()));
        return static_cast<double>(values[std::min(index, values.size() - 1)]);
      };
      out.Key(kind).BeginObject();
      out.Key("count").Uint(values.size());
      out.Key("p50_ms").Double(at(0.5));
      out.Key("p99_ms").Double(at(0.99));
      out.Key("p999_ms").Double(at(0.999));
      out.Key("worst_ms").Double(at(1));
      out.EndObject();
    }
    out.EndObject();
    out.EndObject();
    return out.TakeText();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<float>> latencies_;
  std::vector<std::string> examples_;
  uint64_t errors_ = 0;
  std::atomic<uint64_t> abandoned_{0};
};

class User {
 public:
  User(const LoadOptions& options, int number, const std::vector<std::string>& sessions,
       SteadyClock::time_point end, Results* results)
      : options_(options),
        sessions_(sessions),
        end_(end),
        results_(*results),
        random_(options.seed * 1'000'003 + static_cast<uint64_t>(number)),
        connection_(options.port, kFirstAddress + static_cast<uint32_t>(number)) {}

  void Run() {
    Think();  // they do not all come at once
    while (Going()) LookAtOneSession();
  }

 private:
  struct Chunk {
    std::string address;  // "0.1.0"
    std::string line;     // one of its lines
    std::string plane;
  };

  bool Going() const { return SteadyClock::now() < end_; }
  double Share() {
    return static_cast<double>(random_.Next() >> 11) / static_cast<double>(uint64_t{1} << 53);
  }
  void Think() {
    const double ms = std::min(5000.0, -std::log(1 - Share()) * options_.think_ms);
    std::this_thread::sleep_until(std::min(
        end_, SteadyClock::now() + std::chrono::microseconds(static_cast<int64_t>(ms * 1000))));
  }

  std::optional<std::string> Ask(const std::string& kind, const std::string& target) {
    if (!Going()) return std::nullopt;
    const bool abandon = Share() * 100 < options_.abandon_percent;
    const auto begin = SteadyClock::now();
    Answer answer = connection_.Get(target, abandon);
    if (abandon) {
      results_.AddAbandoned();
      return std::nullopt;
    }
    results_.Add(kind,
                 std::chrono::duration<double, std::milli>(SteadyClock::now() - begin).count());
    if (answer.status == 200) return std::move(answer.body);
    results_.AddError(
        kind + " " + target.substr(0, 200) + ": " +
        (answer.status == 0 ? "the connection broke" : std::to_string(answer.status)) + " " +
        answer.body.substr(0, 200));
    return std::nullopt;
  }

  void LookAtOneSession() {
    // The k-th session is looked at with a weight of 1/k, nearly.
    const double rank = std::pow(static_cast<double>(sessions_.size() + 1), Share()) - 1;
    const std::string& id = sessions_[std::min(sessions_.size() - 1, static_cast<size_t>(rank))];
    base_ = "/api/v1/sessions/" + id;
    if (!Ask("session", base_)) return Think();
    if (!ReadLines()) return Think();
    ShowTiles();
    const int actions = 5 + static_cast<int>(random_.Next() % 20);
    for (int i = 0; i < actions && Going(); ++i) {
      Think();
      Act();
    }
  }

  bool ReadLines() {
    const std::optional<std::string> text = Ask("lines", base_ + "/lines?wait_ms=2000");
    if (!text) return false;
    const json lines = json::parse(*text, nullptr, false);
    if (!lines.is_object()) {
      results_.AddError("lines: no JSON");
      return false;
    }
    version_ = lines["version"].get<std::string>();
    start_ps_ = lines["window"]["start_ps"].get<int64_t>();
    end_ps_ = std::max(lines["window"]["end_ps"].get<int64_t>(), start_ps_ + 1024);
    chunks_.clear();
    for (const json& host : lines["hosts"]) {
      for (const json& plane : host["planes"]) {
        if (plane["lines"].empty()) continue;
        const std::string id = plane["id"].get<std::string>();
        for (int chunk = 0; chunk < plane["chunks"].get<int>(); ++chunk) {
          chunks_.push_back(
              {id + "." + std::to_string(chunk), plane["lines"][0]["id"].get<std::string>(), id});
        }
      }
    }
    view_start_ps_ = start_ps_;
    view_end_ps_ = end_ps_;
    return !chunks_.empty();
  }

  // What a page asks for: the tiles that cover the view, of a few chunks.
  void ShowTiles() {
    const auto length = static_cast<uint64_t>(std::max<int64_t>(1, view_end_ps_ - view_start_ps_));
    int level = 10;
    while (level < 62 && (uint64_t{1} << level) < length) ++level;
    for (size_t c = 0; c < std::min<size_t>(3, chunks_.size()); ++c) {
      for (int64_t index = view_start_ps_ >> level; index <= (view_end_ps_ - 1) >> level; ++index) {
        if (!Going()) return;
        Ask("tile", base_ + "/tiles/" + chunks_[c].address + "/" + std::to_string(level) + "/" +
                        std::to_string(index) + "?v=" + version_);
      }
    }
  }

  void Act() {
    const double what = Share();
    if (what < 0.70) {
      Move();
      ShowTiles();
    } else if (what < 0.78) {
      static constexpr const char* kWords[] = {
          "q=fusion", "q=dot", "q=%2Fcopy.%2A%2F", "q=a",
          "expression=stat%3Aflops%3E1000%20or%20duration%3E1ms"};
      Ask("search", base_ + "/search?limit=100&" + kWords[random_.Next() % std::size(kWords)]);
    } else if (what < 0.86) {
      Ask("totals", base_ + "/totals?from_ps=" + std::to_string(view_start_ps_) +
                        "&to_ps=" + std::to_string(view_end_ps_));
    } else if (what < 0.92) {
      Ask("event", base_ + "/events?line=" + chunks_[random_.Next() % chunks_.size()].line +
                       "&at_ps=" + std::to_string(view_start_ps_));
    } else if (what < 0.94) {
      Ask("marks", base_ + "/marks");
    } else {
      static constexpr const char* kTools[] = {"overview_page", "hlo_stats", "op_profile",
                                               "framework_op_stats", "input_pipeline_analyzer"};
      Ask("tool", base_ + "/tools/" + kTools[random_.Next() % std::size(kTools)] + "?limit=50");
    }
  }

  void Move() {
    const int64_t length = view_end_ps_ - view_start_ps_;
    const double how = Share();
    if (how < 0.4 && length > 4096) {  // in
      const auto at = static_cast<int64_t>(static_cast<double>(length) * Share() * 0.7);
      view_start_ps_ += at;
      view_end_ps_ = view_start_ps_ + std::max<int64_t>(1024, length / 4);
    } else if (how < 0.6) {  // out
      view_start_ps_ = std::max(start_ps_, view_start_ps_ - length);
      view_end_ps_ = std::min(end_ps_, view_end_ps_ + length);
    } else {  // along
      const auto by = static_cast<int64_t>(static_cast<double>(length) * (Share() - 0.5));
      view_start_ps_ = std::clamp(view_start_ps_ + by, start_ps_, end_ps_ - 1024);
      view_end_ps_ = std::min(end_ps_, view_start_ps_ + length);
    }
    view_end_ps_ = std::max(view_end_ps_, view_start_ps_ + 1024);
  }

  const LoadOptions& options_;
  const std::vector<std::string>& sessions_;
  const SteadyClock::time_point end_;
  Results& results_;
  SeededRandom random_;
  Connection connection_;
  std::string base_;
  std::string version_;
  int64_t start_ps_ = 0;
  int64_t end_ps_ = 0;
  int64_t view_start_ps_ = 0;
  int64_t view_end_ps_ = 0;
  std::vector<Chunk> chunks_;
};

std::vector<std::string> ListSessions(uint16_t port) {
  std::vector<std::string> ids;
  Connection connection(port);
  std::string token;
  do {
    const Answer answer = connection.Get(
        "/api/v1/sessions?page_size=1000" + (token.empty() ? "" : "&page_token=" + token), false);
    const json list = json::parse(answer.body, nullptr, false);
    if (answer.status != 200 || !list.is_object()) return {};
    for (const json& session : list["sessions"]) ids.push_back(session["id"].get<std::string>());
    token = list.value("next_page_token", "");
  } while (!token.empty());
  std::ranges::sort(ids);
  return ids;
}

int Run(const LoadOptions& options) {
  const std::vector<std::string> sessions = ListSessions(options.port);
  if (sessions.empty()) {
    std::fprintf(stderr, "strobe_load: the server lists no sessions\n");
    return 1;
  }
  Results results;
  const auto begin = SteadyClock::now();
  const auto end = begin + std::chrono::seconds(options.seconds);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.users; ++i) {
    threads.emplace_back([&, i] { User(options, i, sessions, end, &results).Run(); });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  std::printf("%s\n", results.ToJson(seconds).c_str());
  return 0;
}

}  // namespace
}  // namespace strobe::bench

int main(int argc, char** argv) {
  strobe::bench::LoadOptions options;
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: strobe_load PORT [--users N] [--seconds N] [--seed N] [--think_ms N] "
                 "[--abandon PERCENT]\n");
    return 2;
  }
  options.port = static_cast<uint16_t>(std::atoi(argv[1]));
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--users") options.users = std::atoi(argv[i + 1]);
    if (name == "--seconds") options.seconds = std::atoi(argv[i + 1]);
    if (name == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--think_ms") options.think_ms = std::atof(argv[i + 1]);
    if (name == "--abandon") options.abandon_percent = std::atof(argv[i + 1]);
  }
  return strobe::bench::Run(options);
}
