// Finding sessions: XProf's layout on a local directory, and the files that make a session.
//
// A session is any directory `**/plugins/profile/<session>` below a root (symlinks followed once,
// loops cut), a single profile file given by itself, or a directory given by itself that holds
// profile files. Host files: <host>.xplane.pb, the same with .gz, .zst or .xz,
// <host>.xplane.riegeli, and <host>.trace.json(.gz), .pftrace, .perfetto-trace(.gz) when the host
// has none of the former. In a root itself every other NAME.json(.gz) that is a Chrome trace by its
// first bytes is a session of its own, as long as there are not more than kMaxLooseTraces.
//
//   STROBE_ASSIGN_OR_RETURN(std::vector<SessionEntry> entries, ListSessions("/srv/logs", {}));
//   STROBE_ASSIGN_OR_RETURN(HostFile opened, OpenHostFile(entries[0].files[0], temp_dir, cancel));
//
// Cost: one directory walk; 5,000 sessions in well under a second. Limits: ListOptions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/storage/byte_source.h"
#include "src/storage/lazy_object.h"
#include "src/xplane/profile_file.h"

namespace strobe::xplane {

enum class FileFormat : uint8_t {
  kXplane,
  kXplaneGzip,
  kXplaneZstd,
  kXplaneXz,
  kRiegeli,
  kTraceJsonGzip,
  kTraceJson,
  kPerfetto,
  kPerfettoGzip
};
// "xplane.pb", "xplane.pb.gz", ... as in the API.
std::string_view FileFormatName(FileFormat format);

struct SessionFile {
  std::string host;
  std::string path;
  FileFormat format = FileFormat::kXplane;
  uint64_t size_bytes = 0;
  int64_t modified_unix_ns = 0;
  // An object of a bucket; null: a file of this machine.
  std::shared_ptr<const storage::RemoteObject> remote = nullptr;
};

struct SessionEntry {
  std::string id;    // short and stable: from the absolute path
  std::string root;  // the directory that was given
  std::string path;  // absolute directory (or file) of the session
  std::string run;   // path from the root to the directory that holds plugins/profile; empty at the
                     // root itself
  std::string name;  // last component
  // XProf's run name: "<run>/<name>", or "<name>" when run is empty.
  std::string xprof_run() const { return run.empty() ? name : run + "/" + name; }
  std::vector<SessionFile> files;  // sorted by host
  int64_t modified_unix_ns = 0;    // newest file, or the directory's own when it has none
  uint64_t size_bytes = 0;
};

// Each is looked into at every walk.
inline constexpr size_t kMaxLooseTraces = 200;

struct ListOptions {
  uint32_t max_depth = 32;
  uint32_t max_directories = 1'000'000;
  uint32_t max_sessions = 100'000;
};

// `path` may be a root directory, a session directory or one file. Newest first. Unreadable
// subdirectories are logged and skipped.
Result<std::vector<SessionEntry>> ListSessions(const std::string& path, const ListOptions& options);

// Opens a host file whatever its format: compressed ones are inflated (with bomb limits) into an
// unlinked file in `scratch_directory`, trace JSON is converted to XSpace. Errors name the format
// and the place.
Result<std::shared_ptr<ProfileFile>> OpenHostFile(const SessionFile& file,
                                                  const std::string& scratch_directory,
                                                  const CancelToken& cancel);

}  // namespace strobe::xplane
