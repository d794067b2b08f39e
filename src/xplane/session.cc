#include "src/xplane/session.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>

#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/storage/file_descriptor.h"
#include "src/xplane/host_source.h"
#include "src/xplane/session_files.h"

namespace strobe::xplane {
namespace {

// Enough to tell any of the formats.
constexpr size_t kHeadBytes = 512;

int64_t ModifiedNs(const struct stat& info) {
  return static_cast<int64_t>(info.st_mtim.tv_sec) * 1000000000LL + info.st_mtim.tv_nsec;
}

std::string Join(const std::string& directory, std::string_view name) {
  std::string path = directory;
  if (path.empty() || path.back() != '/') path += '/';
  return path += name;
}

// Directories are looked through every few seconds; what is wrong with one is said once. Beyond
// this many none is said any more.
constexpr size_t kMaxToldDirectories = 1024;

bool NotToldYet(const std::string& path) {
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  return told.size() < kMaxToldDirectories && told.insert(path).second;
}

struct Entry {
  std::string name;
  bool maybe_directory = false;
  bool link = false;
};

// The entries of a directory, sorted; nullopt (and errno) when it cannot be read.
std::optional<std::vector<Entry>> ReadDirectory(const std::string& path, struct stat* info) {
  DIR* const directory = opendir(path.c_str());
  if (directory == nullptr) return std::nullopt;
  std::vector<Entry> entries;
  if (fstat(dirfd(directory), info) == 0) {
    while (const dirent* const entry = readdir(directory)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      entries.push_back({.name = std::string(name),
                         .maybe_directory = entry->d_type == DT_DIR || entry->d_type == DT_LNK ||
                                            entry->d_type == DT_UNKNOWN,
                         .link = entry->d_type == DT_LNK});
    }
  }
  closedir(directory);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

class Lister {
 public:
  Lister(std::string root, const ListOptions& options)
      : root_(std::move(root)), options_(options) {}

  Result<std::vector<SessionEntry>> List() {
    struct stat info = {};
    if (stat(root_.c_str(), &info) != 0) return CannotRead(errno);
    if (!S_ISDIR(info.st_mode)) return ListFile(info);
    Visit({root_, 0, false});
    if (root_errno_ != 0) return CannotRead(root_errno_);
    // Links last, so that a directory reached both ways is known by its real path.
    while (!pending_.empty() || !links_.empty()) {
      std::deque<Directory>& next = pending_.empty() ? links_ : pending_;
      const Directory directory = std::move(next.front());
      next.pop_front();
      Visit(directory);
    }
    if (cut_) {
      LogWarning(
          "sessions.limit",
          {{"root", root_}, {"directories", visited_.size()}, {"sessions", sessions_.size()}});
    }
    std::sort(sessions_.begin(), sessions_.end(), [](const SessionEntry& a, const SessionEntry& b) {
      return std::tie(b.modified_unix_ns, a.path) < std::tie(a.modified_unix_ns, b.path);
    });
    return std::move(sessions_);
  }

 private:
  struct Directory {
    std::string path;
    uint32_t depth = 0;
    bool is_session = false;
  };

  Status CannotRead(int error_number) const {
    const bool missing = error_number == ENOENT || error_number == ENOTDIR;
    return ErrnoError(missing ? "LOG_DIRECTORY_NOT_FOUND" : "LOG_DIRECTORY_NOT_READABLE",
                      "Cannot read the log directory", error_number)
        .Where(root_)
        .Hint("Give a directory that holds plugins/profile/<session>, a session or one file.");
  }

  void Visit(const Directory& directory) {
    if (visited_.size() >= options_.max_directories || sessions_.size() >= options_.max_sessions) {
      cut_ = true;
      return;
    }
    struct stat info = {};
    const std::optional<std::vector<Entry>> entries = ReadDirectory(directory.path, &info);
    if (!entries) {
      if (directory.path == root_) root_errno_ = errno;
      // Not a directory after all (a link to a file, or to itself) is nothing to tell.
      if (errno != ENOTDIR && errno != ENOENT && errno != ELOOP && NotToldYet(directory.path)) {
        LogWarning("sessions.directory_skipped",
                   {{"directory", directory.path},
                    {"reason", ErrnoError("X", "cannot read it", errno).message()}});
      }
      return;
    }
    if (!visited_.emplace(info.st_dev, info.st_ino).second) return;
    const bool is_root = directory.path == root_;
    const bool is_session = directory.is_session || (is_root && BelowProfile(root_));
    if (is_session || is_root) AddSession(directory.path, *entries, info, is_session);
    if (is_session) return;
    if (is_root) AddLooseTraces(*entries);
    const bool holds_sessions = IsProfileDirectory(directory.path);
    if (directory.depth >= options_.max_depth) {
      cut_ = true;
      return;
    }
    for (const Entry& entry : *entries) {
      if (!entry.maybe_directory) continue;
      (entry.link ? links_ : pending_)
          .push_back({Join(directory.path, entry.name), directory.depth + 1, holds_sessions});
    }
  }

  // `<anything>/plugins/profile`
  static bool IsProfileDirectory(const std::string& path) {
    return path.ends_with("/plugins/profile");
  }
  static bool BelowProfile(const std::string& path) {
    return IsProfileDirectory(path.substr(0, path.rfind('/')));
  }

  void AddSession(const std::string& path, const std::vector<Entry>& entries,
                  const struct stat& info, bool even_if_empty) {
    SessionFiles files;
    for (const Entry& entry : entries) {
      SessionFile file;
      struct stat file_info = {};
      file.path = Join(path, entry.name);
      if (!ParseFileName(entry.name, &file) || stat(file.path.c_str(), &file_info) != 0 ||
          !S_ISREG(file_info.st_mode)) {
        continue;
      }
      file.size_bytes = static_cast<uint64_t>(file_info.st_size);
      file.modified_unix_ns = ModifiedNs(file_info);
      files.Add(std::move(file));
    }
    if (files.empty() && !even_if_empty) return;
    SessionEntry session = MakeEntry(path);
    session.modified_unix_ns = files.empty() ? ModifiedNs(info) : 0;
    std::move(files).MoveInto(&session);
    sessions_.push_back(std::move(session));
  }

  // Traces that other programs left right in the root, each of them a session.
  void AddLooseTraces(const std::vector<Entry>& entries) {
    size_t looked_at = 0;
    for (const Entry& entry : entries) {
      SessionFile file;
      struct stat info = {};
      file.path = Join(root_, entry.name);
      if (ParseFileName(entry.name, &file) || !ParseJsonName(entry.name, &file) ||
          stat(file.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
        continue;
      }
      if (++looked_at > kMaxLooseTraces) {
        LogWarning("sessions.loose_traces", {{"root", root_}, {"limit", kMaxLooseTraces}});
        return;
      }
      const auto source = storage::OpenMappedFile(file.path);
      if (!source.ok() || !HoldsTraceJson((*source)->bytes())) continue;
      file.size_bytes = static_cast<uint64_t>(info.st_size);
      file.modified_unix_ns = ModifiedNs(info);
      SessionEntry session = MakeEntry(file.path);
      SessionFiles files;
      files.Add(std::move(file));
      std::move(files).MoveInto(&session);
      sessions_.push_back(std::move(session));
    }
  }

  SessionEntry MakeEntry(const std::string& path) const {
    SessionEntry session;
    session.id = ToBase32(Hash64(path));
    session.root = root_;
    session.path = path;
    session.name = path.substr(path.rfind('/') + 1);
    const size_t layout = path.rfind("/plugins/profile/");
    if (layout != std::string::npos && layout > root_.size() && path.starts_with(root_)) {
      const size_t begin = root_ == "/" ? 1 : root_.size() + 1;
      session.run = path.substr(begin, layout - begin);
    }
    return session;
  }

  // One file alone.
  Result<std::vector<SessionEntry>> ListFile(const struct stat& info) {
    SessionFile file;
    file.path = root_;
    file.size_bytes = static_cast<uint64_t>(info.st_size);
    file.modified_unix_ns = ModifiedNs(info);
    const std::string name = root_.substr(root_.rfind('/') + 1);
    if (!ParseFileName(name, &file)) STROBE_RETURN_IF_ERROR(Sniff(name, &file));
    SessionEntry session = MakeEntry(root_);
    session.run.clear();
    SessionFiles files;
    files.Add(std::move(file));
    std::move(files).MoveInto(&session);
    sessions_.push_back(std::move(session));
    return std::move(sessions_);
  }

  // A file whose name says nothing: its first bytes say what it is.
  Status Sniff(const std::string& name, SessionFile* file) const {
    STROBE_ASSIGN_OR_RETURN(const auto source, storage::OpenMappedFile(root_));
    file->format = DetectFileFormat(source->bytes().substr(0, kHeadBytes));
    const bool json_name = name.ends_with(".json.gz");
    if (file->format == FileFormat::kXplaneGzip && (json_name || HoldsTraceJson(source->bytes()))) {
      file->format = FileFormat::kTraceJsonGzip;
    }
    file->host = name.substr(0, name.find('.', 1));
    return OkStatus();
  }

  const std::string root_;
  const ListOptions options_;
  std::deque<Directory> pending_;
  std::deque<Directory> links_;
  std::set<std::pair<dev_t, ino_t>> visited_;
  std::vector<SessionEntry> sessions_;
  int root_errno_ = 0;
  bool cut_ = false;
};

// Absolute, without "." and "..", without a slash at the end; links stay as they are.
Result<std::string> Normalise(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (path.empty() || error) {
    return InvalidArgumentError("LOG_DIRECTORY_NOT_FOUND",
                                "Expected the path of a directory or file.");
  }
  std::string text = absolute.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

}  // namespace

std::string_view FileFormatName(FileFormat format) {
  switch (format) {
    case FileFormat::kXplane:
      return "xplane.pb";
    case FileFormat::kXplaneGzip:
      return "xplane.pb.gz";
    case FileFormat::kXplaneZstd:
      return "xplane.pb.zst";
    case FileFormat::kXplaneXz:
      return "xplane.pb.xz";
    case FileFormat::kRiegeli:
      return "xplane.riegeli";
    case FileFormat::kTraceJsonGzip:
      return "trace.json.gz";
    case FileFormat::kTraceJson:
      return "trace.json";
    case FileFormat::kPerfetto:
      return "perfetto-trace";
    case FileFormat::kPerfettoGzip:
      return "perfetto-trace.gz";
  }
  return "unknown";
}

Result<std::vector<SessionEntry>> ListSessions(const std::string& path,
                                               const ListOptions& options) {
  STROBE_ASSIGN_OR_RETURN(std::string root, Normalise(path));
  return Lister(std::move(root), options).List();
}

}  // namespace strobe::xplane
