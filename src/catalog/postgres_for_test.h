// A PostgreSQL server of one test's own, in a temporary directory, reached by a socket in it.
//
//   const std::string place = PlaceForTest(GetParam(), directory_.path(), "the catalogue");
//   if (place.empty()) GTEST_SKIP();
//   Catalog::Open({.place = place}, ...)
//
// From Debian's postgresql packages; run as the user postgres when the test runs as root, which
// PostgreSQL refuses to be. Ends with the process. Takes about a second to start.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/catalog/sql.h"

namespace strobe::catalog {

class PostgresForTest {
 public:
  static PostgresForTest& Shared() {
    static PostgresForTest server;
    return server;
  }
  PostgresForTest(const PostgresForTest&) = delete;
  PostgresForTest& operator=(const PostgresForTest&) = delete;
  ~PostgresForTest() {
    if (running_) Run(programs_ + "/pg_ctl -D " + folder_ + "/data -m immediate -w stop");
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  bool running() const { return running_; }
  const std::string& reason() const { return reason_; }
  // The address of an empty database; empty when it could not be made.
  std::string NewDatabase() {
    const std::string name = "test" + std::to_string(++databases_);
    if (!Run(programs_ + "/createdb -h " + folder_ + " -U strobe " + name)) return "";
    return "postgresql:///" + name + "?host=" + folder_ + "&user=strobe";
  }

 private:
  PostgresForTest() {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& version :
         std::filesystem::directory_iterator("/usr/lib/postgresql", ignored)) {
      if (std::filesystem::exists(version.path() / "bin/initdb")) {
        found.push_back((version.path() / "bin").string());
      }
    }
    if (found.empty()) {
      reason_ = "PostgreSQL is not installed (Debian's package postgresql)";
      return;
    }
    programs_ = *std::max_element(found.begin(), found.end());
    std::string folder = "/tmp/strobe-pg-XXXXXX";  // short: a socket's path has 107 bytes
    if (mkdtemp(folder.data()) == nullptr) {
      reason_ = "no temporary directory";
      return;
    }
    folder_ = folder;
    if (geteuid() == 0 && std::system(("chown postgres " + folder_).c_str()) != 0) {
      reason_ = "there is no user postgres to run it as";
      return;
    }
    running_ = Run(programs_ + "/initdb -D " + folder_ +
                   "/data -A trust -U strobe -E UTF8 "
                   "--locale=C.UTF-8 --no-sync") &&
               Run(programs_ + "/pg_ctl -D " + folder_ + "/data -l " + folder_ +
                   "/log -w -o \"-k " + folder_ + " -c listen_addresses= -c fsync=off\" start");
    if (!running_) reason_ = "PostgreSQL did not start";
  }
  static bool Run(const std::string& command) {
    const std::string as = geteuid() == 0 ? "runuser -u postgres -- " : "";
    return std::system((as + command + " >/dev/null 2>&1").c_str()) == 0;
  }

  std::string programs_;
  std::string folder_;
  std::string reason_;
  bool running_ = false;
  int databases_ = 0;
};

// Where an empty catalogue of this dialect can be opened; empty, and said loudly, where PostgreSQL
// is not to be had. `what` is tested on it.
inline std::string PlaceForTest(SqlDialect dialect, const std::string& directory,
                                const char* what) {
  if (dialect == SqlDialect::kSqlite) return directory + "/catalog.db";
  PostgresForTest& server = PostgresForTest::Shared();
  if (!server.running()) {
    std::fprintf(stderr, "NOT TESTED: %s on PostgreSQL: %s\n", what, server.reason().c_str());
    return "";
  }
  std::string place = server.NewDatabase();
  STROBE_CHECK(!place.empty());
  return place;
}

}  // namespace strobe::catalog
