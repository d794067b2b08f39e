#include "src/capture/session_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "src/base/text.h"
#include "src/storage/atomic_file.h"

namespace strobe::capture {
namespace {

constexpr std::string_view kProfileDirectory = "plugins/profile";
constexpr std::string_view kExtension = ".xplane.pb";
// Names carry milliseconds and 16 random bits: a second try is rare, a ninth means something else.
constexpr int kMaxNameTries = 8;
// How much is written between two looks at the progress.
constexpr uint64_t kTickBytes = 8 << 20;
// As everybody else makes them in a log directory; the umask narrows it.
constexpr mode_t kDirectoryPermissions = 0777;

Status BadRoot(const std::string& root, const std::string& why) {
  return FailedPreconditionError(
             "CAPTURE_ROOT", "The capture cannot be written into \"" + root + "\": " + why + ".")
      .Hint("Name a log directory that this program may write to.");
}

bool Exists(const std::string& path) {
  struct stat info = {};
  return lstat(path.c_str(), &info) == 0;
}

// `path` and those above it that do not exist yet, the innermost first.
std::vector<std::string> MissingDirectories(std::filesystem::path path) {
  std::vector<std::string> missing;
  while (!path.empty() && !Exists(path.string())) {
    missing.push_back(path.string());
    if (path == path.parent_path()) break;
    path = path.parent_path();
  }
  return missing;
}

void RemoveEmpty(const std::vector<std::string>& innermost_first) {
  for (const std::string& path : innermost_first) {
    if (rmdir(path.c_str()) != 0 && errno != ENOENT) return;  // somebody uses it
  }
}

// Whether `parent` can be made and written to: 0 or errno. What was `missing` of it goes again and
// is made with the first file, so that a capture that is killed leaves nothing.
int TryDirectories(const std::string& parent, const std::vector<std::string>& missing) {
  int refused = 0;
  // Another capture that tries the same may take away what we have just made.
  for (int i = 0; i < kMaxNameTries; ++i) {
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    refused = error.value();
    if (refused == 0 && access(parent.c_str(), W_OK | X_OK) != 0) refused = errno;
    if (refused != ENOENT) break;
  }
  RemoveEmpty(missing);
  return refused;
}

}  // namespace

Result<SessionWriter> SessionWriter::Prepare(const std::string& root, const std::string& run,
                                             const std::string& session, const IdMaker& ids) {
  STROBE_RETURN_IF_ERROR(CheckRun(run));
  return PrepareIn(
      root,
      run.empty() ? std::string(kProfileDirectory) : run + "/" + std::string(kProfileDirectory),
      session, ids);
}

Result<SessionWriter> SessionWriter::PrepareBare(const std::string& folder,
                                                 const std::string& session, const IdMaker& ids) {
  return PrepareIn(folder, "", session, ids);
}

Result<SessionWriter> SessionWriter::PrepareIn(const std::string& root,
                                               const std::string& below_root,
                                               const std::string& session, const IdMaker& ids) {
  if (!session.empty()) STROBE_RETURN_IF_ERROR(CheckName("session", session));
  if (root.empty() || root.find('\0') != std::string::npos) {
    return BadRoot(CleanText(root), "it is not a path");
  }
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(root, error).lexically_normal().string();
  if (error) return BadRoot(root, error.message());
  const std::string parent =
      below_root.empty() ? absolute : (std::filesystem::path(absolute) / below_root).string();
  std::vector<std::string> made = MissingDirectories(parent);
  const int refused = TryDirectories(parent, made);
  if (refused != 0) return BadRoot(root, std::generic_category().message(refused));
  SessionWriter writer(parent, below_root, ids);
  writer.made_above_ = std::move(made);
  writer.NameSession(session.empty() ? ids.MakeSessionName() : session);
  if (!session.empty() && Exists(writer.session_path_)) {
    return AlreadyExistsError("CAPTURE_SESSION_EXISTS",
                              "There is already a session \"" + session + "\".")
        .Where(writer.session_path_)
        .Hint("Choose another name, or leave it out to get a new one.");
  }
  return writer;
}

void SessionWriter::NameSession(const std::string& name) {
  session_name_ = name;
  session_path_ = parent_ + "/" + name;
}

Status SessionWriter::MakeSessionDirectory() {
  if (made_directory_) return OkStatus();
  const std::string first_name = session_name_;
  for (int i = 0; i < kMaxNameTries; ++i) {
    if (mkdir(session_path_.c_str(), kDirectoryPermissions) == 0) {
      made_directory_ = true;
      return OkStatus();
    }
    if (errno == ENOENT) {
      // The parent is made with the first file; or another capture took it away as empty.
      std::error_code error;
      std::filesystem::create_directories(parent_, error);
      if (!error) continue;
      errno = error.value();
    }
    if (errno != EEXIST) {
      return ErrnoError("CAPTURE_NOT_SAVED", "Cannot make the session's directory", errno)
          .Where(session_path_);
    }
    // Somebody took the name since we looked. The recording is worth more than its name.
    const std::string fresh = ids_->MakeSessionName();
    const bool fits = first_name.size() + 1 + fresh.size() <= kMaxNameBytes;
    NameSession(fits ? first_name + "_" + fresh : fresh);
  }
  return AlreadyExistsError("CAPTURE_NOT_SAVED", "No free name was found for the session.")
      .Where(parent_);
}

std::string SessionWriter::ClaimHostName(const Target& target,
                                         const std::vector<std::string>& answered, bool add_port) {
  std::string name = target.file_host();
  if (target.is_loopback) {
    // "localhost" is everybody's name; the machine's own says where the profile is from.
    name = !answered.empty() && IsSafeName(answered.front()) ? answered.front()
                                                             : target.file_host_port();
  }
  if (!IsSafeName(name)) name = "host_" + std::to_string(target.port);
  const std::string with_port = name + "_" + std::to_string(target.port);
  std::string claimed = add_port && name != target.file_host_port() ? with_port : name;
  if (claimed_.contains(AsciiLower(claimed))) claimed = with_port;
  for (int i = 2; claimed_.contains(AsciiLower(claimed)); ++i) {
    claimed = with_port + "_" + std::to_string(i);
  }
  claimed_.insert(AsciiLower(claimed));
  return claimed;
}

Result<std::string> SessionWriter::SaveHost(const std::string& host_name, const ByteChain& chain,
                                            const std::vector<ByteSpan>& spans,
                                            const std::function<void()>& tick) {
  STROBE_RETURN_IF_ERROR(MakeSessionDirectory());
  const std::string file_name = host_name + std::string(kExtension);
  STROBE_ASSIGN_OR_RETURN(
      storage::AtomicFile file,
      storage::AtomicFile::Create(session_path_ + "/" + file_name, {.replace = false}));
  uint64_t since_tick = 0;
  for (const ByteSpan& span : spans) {
    STROBE_RETURN_IF_ERROR(chain.ForEachPiece(span, [&](std::string_view piece) {
      since_tick += piece.size();
      if (since_tick >= kTickBytes) {
        since_tick = 0;
        tick();
      }
      return file.Append(piece);
    }));
  }
  STROBE_RETURN_IF_ERROR(std::move(file).Commit());
  return (below_root_.empty() ? "" : below_root_ + "/") + session_name_ + "/" + file_name;
}

void SessionWriter::RemoveIfEmpty() {
  if (made_directory_ && rmdir(session_path_.c_str()) != 0) return;
  made_directory_ = false;
  RemoveEmpty(made_above_);
  made_above_.clear();
}

}  // namespace strobe::capture
