// Any text as a question in SQL: rows or an error with a name, within its steps, time and memory;
// and no file beside the process's own is opened: what SQLite asks the system to open is counted.
#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/base/clock.h"
#include "src/tools/agent_sql.h"
#include "src/tools/session_for_fuzz.h"

namespace strobe::tools {
namespace {

constexpr int64_t kMaxNanos = 10'000'000'000;
constexpr int64_t kMaxMemoryBytes = int64_t{64} << 20;

int opened_files = 0;
sqlite3_vfs watched = {};
const sqlite3_vfs* real = nullptr;

int CountOpen(sqlite3_vfs* /*self*/, sqlite3_filename name, sqlite3_file* file, int flags,
              int* out_flags) {
  ++opened_files;
  return real->xOpen(const_cast<sqlite3_vfs*>(real), name, file, flags, out_flags);
}

void* RefuseLibrary(sqlite3_vfs* /*self*/, const char* /*path*/) {
  ++opened_files;
  return nullptr;
}

bool WatchFiles() {
  real = sqlite3_vfs_find(nullptr);
  STROBE_CHECK(real != nullptr);
  watched = *real;
  watched.zName = "watched";
  watched.xOpen = CountOpen;
  watched.xDlOpen = RefuseLibrary;
  STROBE_CHECK(sqlite3_vfs_register(&watched, 1) == SQLITE_OK);
  return true;
}

void Ask(std::string_view sql) {
  static const bool watching = WatchFiles();
  static const std::shared_ptr<SessionInput> session = TinySession();
  static const ToolDescriptor tool = MakeQueryEventsDbTool();
  STROBE_CHECK(watching);
  ToolQuestion question;
  Result<ToolOptions> options = ToolOptions::Parse(tool.options,
                                                   {{"query", std::string(sql)},
                                                    {"max_steps", "50000"},
                                                    {"max_seconds", "2"},
                                                    {"max_memory_mib", "32"}},
                                                   ToolOptions::Policy::kStrict);
  STROBE_CHECK(options.ok());
  question.options = *std::move(options);
  question.hosts = {0, 1};
  const int64_t begin = SystemClock().MonotonicNanos();
  sqlite3_memory_highwater(1);
  const Result<ToolResult> result = tool.run(question, *session, CancelToken());
  STROBE_CHECK(SystemClock().MonotonicNanos() - begin < kMaxNanos);
  STROBE_CHECK(sqlite3_memory_highwater(0) < kMaxMemoryBytes);
  STROBE_CHECK(sqlite3_memory_used() < (1 << 20));
  STROBE_CHECK(opened_files == 0);
  if (!result.ok()) STROBE_CHECK(!result.status().name().empty());
}

}  // namespace
}  // namespace strobe::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  strobe::tools::Ask(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
