// The directory of column files: what was decoded once is mapped the next time.
//
//   ColumnCache cache({.directory = "/var/cache/strobe", .max_bytes = 20ULL << 30}, SystemClock());
//   STROBE_ASSIGN_OR_RETURN(CachedProfile opened,
//                           cache.OpenHostFile(file, scratch_directory, cancel));
//   ... in the background, when opened.from_cache is false:
//   (void)cache.Store(opened.identity, *opened.profile, cancel);   // logs its own trouble
//
// In the directory: `columns/<hash of the profile's bytes>.v2.col`, and `identities/<hash>.v2.id`,
// which tells the hash of a file that was seen before by path, size, time, inode and device, so
// that opening it again reads none of its bytes. A file that is unknown, or was written within the
// last kYoungFileNs, is opened without columns.
//
// What others derive from the columns lies beside them: `<hash>.v2<ending>`, by SidePath. It counts
// and goes like a column file. So does `<hash>.v2.unpacked`: the bytes of a profile that is
// compressed or in Riegeli records, so that opening it again unpacks nothing. They are taken only
// when their hash is the one in their name.
//
// Anything wrong with the cache (damage, another version, no permission, a full disk) is logged and
// the profile opened without it: never an error of the user. Files are touched when used; when the
// directory holds more than max_bytes the least recently used go first. Several processes may share
// a directory. Thread-safe. Cost of a hit: two small reads and a mapping; of a packed
// profile also 0.1 s a gigabyte for the hash.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "src/base/cancel.h"
#include "src/base/clock.h"
#include "src/base/hash.h"
#include "src/base/status.h"
#include "src/storage/byte_source.h"
#include "src/xplane/column_file.h"
#include "src/xplane/host_source.h"
#include "src/xplane/profile_file.h"
#include "src/xplane/session.h"

namespace strobe::xplane {

struct CachedProfile {
  std::shared_ptr<ProfileFile> profile;
  storage::FileIdentity identity;  // of the file on disk
  bool from_cache = false;
  std::shared_ptr<const ColumnFile> columns;  // when from_cache: to be asked whether it is whole
};

class ColumnCache {
 public:
  struct Options {
    std::string directory;  // made when missing; empty: nothing is kept
    uint64_t max_bytes = uint64_t{20} << 30;
    // Smaller profiles are decoded faster than a file is found.
    uint64_t min_source_bytes = uint64_t{1} << 20;
  };
  // A file changed within this may change again with the same time and size.
  static constexpr int64_t kYoungFileNs = 2'000'000'000;
  // Each is 4 KiB on disk at most.
  static constexpr size_t kMaxIdentities = 200'000;
  static constexpr std::string_view kSideEndings[] = {".pyramids", ".look", ".unpacked"};

  ColumnCache(Options options, const Clock& clock);

  // As xplane::OpenHostFile, with columns where there are some.
  Result<CachedProfile> OpenHostFile(const SessionFile& file, const std::string& scratch_directory,
                                     const CancelToken& cancel, UnpackProgress* progress = nullptr);

  // Decodes what is left and writes the columns, unless they are there already. The status is for
  // tests and operations; it has been logged.
  Status Store(const storage::FileIdentity& identity, const ProfileFile& profile,
               const CancelToken& cancel);

  // Keeps the unpacked bytes of a compressed profile or of Riegeli records whose hash is known. Not
  // those of imported traces: another version of Strobe may read more in them.
  Status KeepUnpacked(const SessionFile& file, const storage::FileIdentity& identity,
                      const ProfileFile& profile, const CancelToken& cancel);

  // Removes the least recently used files until the directory is within its bounds.
  void Evict();

  struct Stats {
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t rejected = 0;  // files found and not usable
    uint64_t stored = 0;
    uint64_t evicted = 0;
    uint64_t bytes = 0;  // in the directory when last counted
  };
  Stats stats() const;

  std::optional<Hash128> KnownHash(const storage::FileIdentity& identity) const;
  std::string ColumnPath(const Hash128& content_hash) const;
  // Where a file derived from these bytes is kept; `ending` must be one of kSideEndings. Empty when
  // nothing is kept.
  std::string SidePath(const Hash128& content_hash, std::string_view ending) const;
  std::string IdentityPath(const storage::FileIdentity& identity) const;

 private:
  std::shared_ptr<ColumnFile> FindColumns(const storage::FileIdentity& identity,
                                          const storage::ByteSource& source);
  // The unpacked bytes of a file that was kept packed; nullopt: it must be opened the long way.
  std::optional<HostSource> FindUnpacked(const SessionFile& file, const CancelToken& cancel) const;
  Status Write(const storage::FileIdentity& identity, const ProfileFile& profile,
               const CancelToken& cancel);
  static Status WriteUnpacked(const std::string& path, std::string_view bytes,
                              const CancelToken& cancel);
  Status Remember(const storage::FileIdentity& identity, const Hash128& content_hash) const;
  Status Prepare() const;

  const Options options_;
  const Clock& clock_;
  std::mutex evict_mutex_;
  std::atomic<uint64_t> hits_ = 0;
  std::atomic<uint64_t> misses_ = 0;
  std::atomic<uint64_t> rejected_ = 0;
  std::atomic<uint64_t> stored_ = 0;
  std::atomic<uint64_t> evicted_ = 0;
  std::atomic<uint64_t> bytes_ = 0;
};

}  // namespace strobe::xplane
