#include "src/capture/upload.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "src/base/log.h"
#include "src/capture/publish.h"
#include "src/capture/target.h"
#include "src/storage/atomic_file.h"
#include "src/storage/byte_source.h"
#include "src/storage/file_descriptor.h"
#include "src/xplane/session_files.h"

namespace strobe::capture {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kStagingFolder = ".strobe-uploads";
constexpr std::string_view kModuleEnding = ".hlo_proto.pb";
constexpr size_t kSha256HexBytes = 64;
constexpr size_t kMaxNoteBytes = 64 * 1024;
constexpr size_t kHashStepBytes = 1 << 20;

Status Unknown(const std::string& id) {
  return NotFoundError("UPLOAD_UNKNOWN", "There is no such upload.")
      .Where(CleanText(id, 64))
      .Hint("It was finished, taken away, or nobody continued it for a day. Begin again.");
}

Status NotKept(const std::string& path, int error_number) {
  return ErrnoError("UPLOAD_NOT_KEPT", "The upload cannot be kept", error_number)
      .Where(path)
      .Hint("Check the free space and the permissions where the server puts uploads.");
}

std::string NoteOf(const UploadRequest& request) {
  const json note = {{"name", request.name},
                     {"size_bytes", request.size_bytes},
                     {"sha256", request.sha256_hex},
                     {"run", request.run},
                     {"session", request.session}};
  return note.dump();
}

std::optional<UploadRequest> ReadNote(const std::string& text) {
  const json note = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!note.is_object()) return std::nullopt;
  const auto word = [&note](const char* key) {
    const auto found = note.find(key);
    return found != note.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const auto size = note.find("size_bytes");
  if (size == note.end() || !size->is_number_unsigned()) return std::nullopt;
  return UploadRequest{.name = word("name"),
                       .size_bytes = size->get<uint64_t>(),
                       .sha256_hex = word("sha256"),
                       .run = word("run"),
                       .session = word("session")};
}

// "host", of "host.xplane.pb.gz"; what cannot be a file's name becomes "host".
std::string HostOf(const xplane::SessionFile& parsed) {
  return IsSafeName(parsed.host) ? parsed.host : "host";
}

// Writes the profiles of an archive into a folder; all must lie in one folder of it.
class StagingTaker : public ArchiveTaker {
 public:
  StagingTaker(std::string folder, UploadedSession* session)
      : folder_(std::move(folder)), session_(session) {}

  Result<bool> Begin(const std::string& path, uint64_t) override {
    const size_t slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    const std::string within = slash == std::string::npos ? "" : path.substr(0, slash);
    xplane::SessionFile parsed;
    const bool profile = xplane::ParseFileName(name, &parsed);
    const bool module = name.ends_with(kModuleEnding) && name.size() <= kMaxNameBytes;
    if ((!profile && !module) || name.starts_with('.') || name.size() > kMaxNameBytes) {
      ++session_->left_out;
      return false;
    }
    if (profile) {
      if (within_ && *within_ != within) {
        return InvalidArgumentError("UPLOAD_SEVERAL_SESSIONS",
                                    "The archive has profiles in more than one folder.")
            .Where(CleanText(*within_) + " and " + CleanText(within))
            .Hint("Upload one session at a time.");
      }
      within_ = within;
      hosts_.insert(parsed.host);
      session_->hosts = hosts_.size();
    } else {
      modules_.emplace_back(within, name);
    }
    path_ = folder_ + "/" + name;
    // Modules may lie in another folder than the profiles and have the same name there.
    file_ =
        storage::FileDescriptor(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file_.valid() && errno == EEXIST && module) return false;
    if (!file_.valid()) return NotKept(path_, errno);
    return true;
  }
  Status Take(std::string_view bytes) override { return storage::WriteAll(file_, bytes, path_); }
  Status End() override {
    if (fsync(file_.get()) != 0) return NotKept(path_, errno);
    file_.Close();
    return OkStatus();
  }

  // Of the folder that held the profiles; empty: none that could be a session's name.
  std::string SessionName() const {
    const std::string name = within_ ? within_->substr(within_->rfind('/') + 1) : "";
    return IsSafeName(name) ? name : "";
  }
  // Modules that do not lie with the profiles are none of the session's.
  void DropForeignModules() {
    for (const auto& [within, name] : modules_) {
      if (within_ && within == *within_) continue;
      unlink((folder_ + "/" + name).c_str());
      ++session_->left_out;
    }
  }

 private:
  const std::string folder_;
  UploadedSession* const session_;
  std::optional<std::string> within_;
  std::set<std::string> hosts_;
  std::vector<std::pair<std::string, std::string>> modules_;
  std::string path_;
  storage::FileDescriptor file_;
};

}  // namespace

UploadTable::UploadTable(UploadOptions options, const Clock& clock, const IdMaker& ids,
                         std::shared_ptr<storage::PlaceOpener> places)
    : options_(std::move(options)),
      staging_(
          (storage::IsBucketPlace(options_.place) ? options_.staging_directory : options_.place) +
          "/" + std::string(kStagingFolder)),
      clock_(clock),
      ids_(ids),
      places_(std::move(places)) {}

UploadState UploadTable::StateOf(const std::string& id, const Entry& entry) const {
  UploadState state;
  state.id = id;
  state.request = entry.request;
  state.offset_bytes = entry.offset_bytes;
  state.expires_unix_ms = (entry.touched_unix_ns + kUploadIdleNs) / 1'000'000;
  return state;
}

Result<UploadState> UploadTable::Create(const UploadRequest& request) {
  STROBE_RETURN_IF_ERROR(CheckRun(request.run));
  if (!request.session.empty()) STROBE_RETURN_IF_ERROR(CheckName("session", request.session));
  if (request.size_bytes == 0 || request.size_bytes > options_.max_upload_bytes) {
    return ResourceExhaustedError(
               "UPLOAD_TOO_LARGE",
               "An upload has 1 to " + std::to_string(options_.max_upload_bytes) + " bytes.")
        .Where(std::to_string(request.size_bytes) + " bytes")
        .Hint("Compress the profile (gzip, zstd), or upload the session's hosts one by one.");
  }
  const bool hash_fits =
      request.sha256_hex.empty() ||
      (request.sha256_hex.size() == kSha256HexBytes &&
       request.sha256_hex.find_first_not_of("0123456789abcdef") == std::string::npos);
  if (!hash_fits || request.name.empty() || request.name.size() > kMaxNameBytes) {
    return InvalidArgumentError(
        "UPLOAD_MALFORMED",
        "An upload needs the file's name, at most 200 bytes, and, if any, a "
        "SHA-256 of 64 small hex digits.");
  }
  (void)RemoveStale();
  auto entry = std::make_shared<Entry>();
  entry->request = request;
  entry->touched_unix_ns = clock_.NowUnixNanos();
  const std::string id = ids_.Make("up");
  std::lock_guard lock(mutex_);
  if (entries_.size() >= kMaxOpenUploads) {
    return ResourceExhaustedError("UPLOADS_TOO_MANY", "Too many uploads are open.")
        .Hint("Finish or remove one, or wait until an abandoned one is taken away.");
  }
  STROBE_RETURN_IF_ERROR(storage::MakeDirectories(FolderOf(id)));
  STROBE_RETURN_IF_ERROR(storage::WriteFileAtomically(FolderOf(id) + "/note.json", NoteOf(request),
                                                      {.permissions = 0600}));
  const storage::FileDescriptor data(
      open((FolderOf(id) + "/data").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!data.valid()) return NotKept(FolderOf(id), errno);
  entries_[id] = entry;
  LogInfo("upload.created", {{"upload", id}, {"size_bytes", request.size_bytes}});
  return StateOf(id, *entry);
}

// One of an earlier process: what lies there is hashed again.
Result<std::shared_ptr<UploadTable::Entry>> UploadTable::FindOnDisk(const std::string& id) {
  if (!IsSafeName(id)) return Unknown(id);
  const auto note = storage::OpenMappedFile(FolderOf(id) + "/note.json");
  if (!note.ok() || (*note)->bytes().size() > kMaxNoteBytes) return Unknown(id);
  const std::optional<UploadRequest> request = ReadNote(std::string((*note)->bytes()));
  const auto data = storage::OpenMappedFile(FolderOf(id) + "/data");
  if (!request || !data.ok()) return Unknown(id);
  auto entry = std::make_shared<Entry>();
  entry->request = *request;
  for (std::string_view rest = (*data)->bytes(); !rest.empty();) {
    const std::string_view step = rest.substr(0, kHashStepBytes);
    entry->hash.Add(step);
    rest.remove_prefix(step.size());
  }
  entry->offset_bytes = (*data)->bytes().size();
  entry->touched_unix_ns = (*data)->identity().modified_unix_ns;
  return entry;
}

Result<std::shared_ptr<UploadTable::Entry>> UploadTable::Find(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found != entries_.end()) return found->second;
  STROBE_ASSIGN_OR_RETURN(std::shared_ptr<Entry> entry, FindOnDisk(id));
  entries_[id] = entry;
  return entry;
}

Result<UploadState> UploadTable::Get(const std::string& id) {
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> entry, Find(id));
  const std::unique_lock lock(entry->mutex, std::try_to_lock);
  if (!lock.owns_lock()) {
    return UnavailableError("UPLOAD_BUSY", "The upload is being written or finished.").Where(id);
  }
  if (entry->gone) return Unknown(id);
  UploadState state = StateOf(id, *entry);
  state.sha256_hex = entry->hash.Hex();
  return state;
}

Result<UploadState> UploadTable::Append(const std::string& id, uint64_t offset_bytes,
                                        std::string_view bytes) {
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> entry, Find(id));
  const std::lock_guard lock(entry->mutex);
  if (entry->gone) return Unknown(id);
  if (offset_bytes != entry->offset_bytes) {
    return Status(StatusCode::kAborted, "UPLOAD_OFFSET",
                  "The part begins at " + std::to_string(offset_bytes) + ", but " +
                      std::to_string(entry->offset_bytes) + " bytes have come.")
        .Where(id)
        .Hint("Ask for the upload and go on at its offset_bytes.");
  }
  if (bytes.size() > entry->request.size_bytes - entry->offset_bytes) {
    return OutOfRangeError("UPLOAD_TOO_LARGE", "More bytes have come than were announced: " +
                                                   std::to_string(entry->request.size_bytes) + ".")
        .Where(id);
  }
  const std::string path = FolderOf(id) + "/data";
  const storage::FileDescriptor data(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!data.valid()) return NotKept(path, errno);
  // What an earlier write left half is written over.
  if (lseek(data.get(), static_cast<off_t>(offset_bytes), SEEK_SET) < 0)
    return NotKept(path, errno);
  const Status written = storage::WriteAll(data, bytes, path);
  if (!written.ok()) {
    (void)ftruncate(data.get(), static_cast<off_t>(offset_bytes));
    return NotKept(path, ENOSPC);
  }
  entry->hash.Add(bytes);
  entry->offset_bytes += bytes.size();
  entry->touched_unix_ns = clock_.NowUnixNanos();
  return StateOf(id, *entry);
}

Status UploadTable::StageFile(const std::string& id, const Entry& entry, const std::string& folder,
                              UploadedSession* session) {
  xplane::SessionFile parsed;
  const std::string name = entry.request.name;
  const std::string base = name.substr(name.rfind('/') + 1);
  std::string ending;
  if (xplane::ParseFileName(base, &parsed)) {
    ending = base.substr(parsed.host.size());
  } else if (xplane::ParseJsonName(base, &parsed)) {
    // What is uploaded by itself is meant to be one: PyTorch and others name them so.
    ending = ".trace" + base.substr(parsed.host.size());
  } else {
    return InvalidArgumentError("UPLOAD_NO_PROFILE",
                                "The file is neither a profile by its name nor a zip or tar.")
        .Where(CleanText(name))
        .Hint(
            "Expected NAME.xplane.pb (also .gz, .zst, .xz), NAME.json(.gz), NAME.pftrace, or an "
            "archive of a session.");
  }
  const std::string file = folder + "/" + HostOf(parsed) + ending;
  std::error_code error;
  fs::create_hard_link(FolderOf(id) + "/data", file, error);
  // Not every file system has them.
  if (error) fs::copy_file(FolderOf(id) + "/data", file, error);
  if (error) return NotKept(file, error.value());
  (void)chmod(file.c_str(), 0644);
  session->hosts = 1;
  return OkStatus();
}

Status UploadTable::StageArchive(std::string_view bytes, const std::string& folder,
                                 UploadedSession* session, const CancelToken& cancel) {
  StagingTaker taker(folder, session);
  STROBE_RETURN_IF_ERROR(ReadArchive(bytes, options_.archive, taker, cancel).status());
  if (session->hosts == 0) {
    return InvalidArgumentError("UPLOAD_NO_PROFILE", "The archive holds no profile.")
        .Where(std::to_string(session->left_out) + " other files")
        .Hint("Expected NAME.xplane.pb (also .gz, .zst, .xz) in it.");
  }
  taker.DropForeignModules();
  if (session->session_name.empty()) session->session_name = taker.SessionName();
  return OkStatus();
}

Result<UploadedSession> UploadTable::MakeSession(const std::string& id, const Entry& entry,
                                                 const CancelToken& cancel) {
  UploadedSession session;
  session.session_name = entry.request.session;
  const std::string folder = FolderOf(id) + "/session";
  std::error_code error;
  fs::remove_all(folder, error);  // of an attempt before
  STROBE_RETURN_IF_ERROR(storage::MakeDirectories(folder));
  {
    STROBE_ASSIGN_OR_RETURN(const auto data, storage::OpenMappedFile(FolderOf(id) + "/data"));
    const Status staged = DetectArchive(data->bytes()) == ArchiveKind::kNone
                              ? StageFile(id, entry, folder, &session)
                              : StageArchive(data->bytes(), folder, &session, cancel);
    if (!staged.ok()) {
      fs::remove_all(folder, error);
      return staged;
    }
  }
  const bool named = !session.session_name.empty();
  if (!named) session.session_name = ids_.MakeSessionName();
  PublishRequest publish = {.folder = folder,
                            .place = options_.place,
                            .run = entry.request.run,
                            .session = session.session_name};
  Result<std::string> path = PublishSession(publish, places_.get(), cancel);
  // A name that only the archive's folder suggested need not be kept.
  if (!path.ok() && path.status().name() == "SESSION_EXISTS" && entry.request.session.empty()) {
    session.session_name = ids_.MakeSessionName();
    publish.session = session.session_name;
    path = PublishSession(publish, places_.get(), cancel);
  }
  if (!path.ok()) {
    fs::remove_all(folder, error);
    return path.status();
  }
  session.session_path = *std::move(path);
  return session;
}

Result<UploadedSession> UploadTable::Finish(const std::string& id, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> entry, Find(id));
  const std::lock_guard lock(entry->mutex);
  if (entry->gone) return Unknown(id);
  if (entry->offset_bytes != entry->request.size_bytes) {
    return FailedPreconditionError("UPLOAD_INCOMPLETE",
                                   std::to_string(entry->offset_bytes) + " of " +
                                       std::to_string(entry->request.size_bytes) +
                                       " bytes have come.")
        .Where(id)
        .Hint("Send the rest, beginning at the offset that the upload tells.");
  }
  const std::string sha256 = entry->hash.Hex();
  if (!entry->request.sha256_hex.empty() && entry->request.sha256_hex != sha256) {
    return DataLossError("UPLOAD_HASH", "What came is not what was announced: its SHA-256 differs.")
        .Where("came: " + sha256)
        .Hint("The file changed while it was sent, or was damaged on the way. Upload it again.");
  }
  STROBE_ASSIGN_OR_RETURN(UploadedSession session, MakeSession(id, *entry, cancel));
  session.sha256_hex = sha256;
  entry->gone = true;
  std::error_code error;
  fs::remove_all(FolderOf(id), error);
  LogInfo("upload.finished", {{"upload", id}, {"path", session.session_path}});
  const std::lock_guard table_lock(mutex_);
  entries_.erase(id);
  return session;
}

Status UploadTable::Remove(const std::string& id) {
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<Entry> entry, Find(id));
  const std::lock_guard lock(entry->mutex);
  entry->gone = true;
  std::error_code error;
  fs::remove_all(FolderOf(id), error);
  const std::lock_guard table_lock(mutex_);
  entries_.erase(id);
  return OkStatus();
}

size_t UploadTable::RemoveStale() {
  const int64_t now_ns = clock_.NowUnixNanos();
  std::vector<std::string> stale;
  std::error_code error;
  for (fs::directory_iterator at(staging_, error), end; !error && at != end; at.increment(error)) {
    struct stat info = {};
    const std::string data = at->path().string() + "/data";
    // One without data died while it was made.
    const bool there = stat(data.c_str(), &info) == 0 || stat(at->path().c_str(), &info) == 0;
    const int64_t touched_ns =
        static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
    if (there && now_ns - touched_ns > kUploadIdleNs) {
      stale.push_back(at->path().filename().string());
    }
  }
  for (const std::string& id : stale) {
    LogInfo("upload.abandoned", {{"upload", id}});
    if (!Remove(id).ok()) fs::remove_all(FolderOf(id), error);
  }
  return stale.size();
}

}  // namespace strobe::capture
