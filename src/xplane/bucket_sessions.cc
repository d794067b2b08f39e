#include "src/xplane/bucket_sessions.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/xplane/session_files.h"

namespace strobe::xplane {
namespace {

constexpr std::string_view kLayout = "plugins/profile/";

class BucketLister {
 public:
  BucketLister(const storage::Place& place, const std::shared_ptr<storage::ObjectFetcher>& fetcher,
               const ListOptions& options, const Clock& clock)
      : place_(place), fetcher_(fetcher), options_(options), now_ns_(clock.NowUnixNanos()) {}

  Result<BucketListing> List(const CancelToken& cancel) {
    const storage::CallOptions call = {.cancel = cancel};
    STROBE_RETURN_IF_ERROR(storage::ForEachObject(*place_.store, place_.FolderPrefix(), call,
                                                  [this](const storage::ObjectInfo& object) {
                                                    ++listing_.objects;
                                                    return Take(object);
                                                  }));
    if (listing_.objects == 0 && !place_.prefix.empty()) {
      STROBE_RETURN_IF_ERROR(TakeObjectItself(call));
    }
    return Finish();
  }

 private:
  struct Folder {
    SessionFiles files;
    bool being_written = false;
  };

  // The folder of the session that a key belongs to; empty: none.
  std::string FolderOf(std::string_view key) const {
    const size_t slash = key.rfind('/');
    const std::string_view folder = slash == std::string_view::npos ? "" : key.substr(0, slash);
    if (folder == place_.prefix) return std::string(folder);  // profiles right at the place
    const size_t parent_end = folder.rfind('/');
    if (parent_end == std::string_view::npos) return "";
    const std::string_view parent = folder.substr(0, parent_end + 1);
    const bool fits = parent == kLayout || parent.ends_with("/" + std::string(kLayout));
    return fits ? std::string(folder) : "";
  }

  SessionFile FileOf(const storage::ObjectInfo& object, SessionFile parsed) const {
    parsed.path = place_.store->name() + "/" + object.key;
    parsed.size_bytes = object.size_bytes;
    parsed.modified_unix_ns = object.modified_unix_ns;
    parsed.remote = std::make_shared<storage::RemoteObject>(storage::RemoteObject{
        .store = place_.store, .info = object, .path = parsed.path, .fetcher = fetcher_});
    return parsed;
  }

  bool Take(const storage::ObjectInfo& object) {
    const std::string_view name = std::string_view(object.key).substr(object.key.rfind('/') + 1);
    SessionFile file;
    const bool mark = name == kWritingMark;
    if (!mark && !ParseFileName(name, &file)) return true;
    const std::string folder = FolderOf(object.key);
    if (folder.empty() && !(place_.prefix.empty() && object.key == name)) return true;
    if (!folders_.contains(folder) && folders_.size() >= options_.max_sessions) {
      listing_.cut = true;
      return false;
    }
    Folder& found = folders_[folder];
    if (mark) {
      found.being_written = now_ns_ - object.modified_unix_ns < kWritingMarkNs;
    } else {
      found.files.Add(FileOf(object, std::move(file)));
    }
    return true;
  }

  // The place is no folder: perhaps it is one profile.
  Status TakeObjectItself(const storage::CallOptions& call) {
    const Result<storage::ObjectInfo> object = place_.store->Stat(place_.prefix, call);
    if (!object.ok()) {
      return object.status().name() == "OBJECT_NOT_FOUND" ? OkStatus() : object.status();
    }
    ++listing_.objects;
    SessionFile file;
    const std::string name = place_.prefix.substr(place_.prefix.rfind('/') + 1);
    if (!ParseFileName(name, &file)) {
      file.host = name.substr(0, name.find('.', 1));
      file.format = FileFormat::kXplane;
    }
    folders_[place_.prefix].files.Add(FileOf(*object, std::move(file)));
    return OkStatus();
  }

  BucketListing Finish() {
    for (auto& [folder, found] : folders_) {
      if (found.being_written || found.files.empty()) continue;
      SessionEntry entry;
      entry.root = place_.text;
      entry.path = place_.store->name() + (folder.empty() ? "" : "/" + folder);
      entry.id = ToBase32(Hash64(entry.path));
      entry.name = entry.path.substr(entry.path.rfind('/') + 1);
      const size_t layout = folder.rfind(kLayout);
      const size_t root_bytes = place_.FolderPrefix().size();
      if (layout != std::string::npos && layout > root_bytes) {
        entry.run = folder.substr(root_bytes, layout - root_bytes - 1);
      }
      std::move(found.files).MoveInto(&entry);
      listing_.sessions.push_back(std::move(entry));
    }
    std::sort(listing_.sessions.begin(), listing_.sessions.end(),
              [](const SessionEntry& a, const SessionEntry& b) {
                return std::tie(b.modified_unix_ns, a.path) < std::tie(a.modified_unix_ns, b.path);
              });
    if (listing_.cut) {
      LogWarning("sessions.limit", {{"root", place_.text}, {"sessions", folders_.size()}});
    }
    return std::move(listing_);
  }

  const storage::Place& place_;
  const std::shared_ptr<storage::ObjectFetcher>& fetcher_;
  const ListOptions options_;
  const int64_t now_ns_;
  std::map<std::string, Folder> folders_;
  BucketListing listing_;
};

}  // namespace

Result<BucketListing> ListBucketSessions(const storage::Place& place,
                                         const std::shared_ptr<storage::ObjectFetcher>& fetcher,
                                         const ListOptions& options, const Clock& clock,
                                         const CancelToken& cancel) {
  return BucketLister(place, fetcher, options, clock).List(cancel);
}

}  // namespace strobe::xplane
