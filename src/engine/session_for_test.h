// One session of hosts made by hand, opened by an engine of its own, for tests of what sessions
// answer.
//
//   SessionForTest made({{"host0", bytes}});
//   made.session()->Search(...);
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "src/base/log.h"
#include "src/engine/engine.h"

namespace strobe::engine {

class SessionForTest {
 public:
  explicit SessionForTest(const std::map<std::string, std::string>& bytes_by_host,
                          const std::string& extension = ".xplane.pb") {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "strobe-session-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    const std::filesystem::path folder = root_ / "plugins" / "profile" / "s1";
    std::filesystem::create_directories(folder);
    for (const auto& [host, bytes] : bytes_by_host) {
      std::ofstream(folder / (host + extension), std::ios::binary) << bytes;
    }
    engine_ = Engine::Create(
        {.roots = {root_.string()}, .cache_directory = "", .rescan_interval_ms = 0, .settle_ms = 0},
        SystemClock());
    EXPECT_TRUE(engine_->Refresh().ok());
    const std::vector<SessionSummary> sessions = engine_->Sessions();
    EXPECT_EQ(sessions.size(), 1u);
    if (sessions.size() != 1) return;
    Result<std::shared_ptr<OpenedSession>> opened = engine_->Open(sessions[0].entry.id);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    if (opened.ok()) session_ = *opened;
  }
  SessionForTest(const SessionForTest&) = delete;
  SessionForTest& operator=(const SessionForTest&) = delete;
  ~SessionForTest() {
    session_.reset();
    engine_.reset();
    std::filesystem::remove_all(root_);
  }

  OpenedSession* session() const { return session_.get(); }
  Engine* engine() const { return engine_.get(); }

 private:
  std::filesystem::path root_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<OpenedSession> session_;
};

}  // namespace strobe::engine
