#include "src/xplane/column_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "src/base/log.h"
#include "src/storage/atomic_file.h"

namespace strobe::xplane {
namespace {

constexpr std::string_view kColumnsFolder = "/columns";
constexpr std::string_view kIdentitiesFolder = "/identities";
constexpr std::string_view kIdentityMagic = "STROBEID";
// An object of a bucket below this is brought here whole in less time than asking for its parts.
constexpr uint64_t kFetchWholeBytes = 32 << 20;
// The content is hashed in pieces of this size, each given back to the system behind it.
constexpr uint64_t kHashPieceBytes = 32 << 20;
constexpr uint64_t kWritePieceBytes = 4 << 20;
constexpr std::string_view kUnpackedEnding = ColumnCache::kSideEndings[2];
// Temporary files of a process that died; no write takes as long.
constexpr int64_t kStaleTemporaryNs = 3600LL * 1'000'000'000;

std::string VersionSuffix(std::string_view kind) {
  return ".v" + std::to_string(kColumnFormatVersion) + std::string(kind);
}

void AppendNumber(uint64_t value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The hash of the whole content, without holding a mapped file in memory beside its columns.
Result<Hash128> HashContent(const storage::ByteSource& source, const CancelToken& cancel) {
  const std::string_view bytes = source.bytes();
  Hasher hasher;
  for (uint64_t at = 0; at < bytes.size(); at += kHashPieceBytes) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    const std::string_view piece = bytes.substr(at, kHashPieceBytes);
    hasher.Add(piece);
    source.Advise(at, piece.size(), storage::ByteSource::Access::kDontNeed);
  }
  return hasher.Digest128();
}

// The identity as bytes: all that must agree, then the hash, then a checksum.
std::string EncodeIdentity(const storage::FileIdentity& identity) {
  std::string out(kIdentityMagic);
  AppendNumber(identity.size_bytes, &out);
  AppendNumber(static_cast<uint64_t>(identity.modified_unix_ns), &out);
  AppendNumber(static_cast<uint64_t>(identity.changed_unix_ns), &out);
  AppendNumber(identity.inode, &out);
  AppendNumber(identity.device, &out);
  AppendNumber(identity.path.size(), &out);
  out += identity.path;
  return out;
}

// Marks a file as used now; on a read-only cache it stays as it is.
void Touch(const std::string& path, int64_t now_unix_ns) {
  const timespec now = {.tv_sec = now_unix_ns / 1'000'000'000,
                        .tv_nsec = now_unix_ns % 1'000'000'000};
  const timespec times[2] = {now, now};
  (void)utimensat(AT_FDCWD, path.c_str(), times, 0);
}

struct CacheFile {
  std::string path;
  uint64_t size_bytes = 0;
  int64_t used_unix_ns = 0;
};

bool UsedBefore(const CacheFile& a, const CacheFile& b) {
  return std::tie(a.used_unix_ns, a.path) < std::tie(b.used_unix_ns, b.path);
}

// Files of a folder that are ours, least recently used first.
std::vector<CacheFile> ListFiles(const std::string& folder, std::string_view suffix) {
  std::vector<CacheFile> files;
  DIR* const directory = opendir(folder.c_str());
  if (directory == nullptr) return files;
  while (const dirent* const entry = readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name.starts_with('.') || !name.ends_with(suffix)) continue;
    struct stat info = {};
    if (fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode)) {
      continue;
    }
    files.push_back({.path = folder + "/" + std::string(name),
                     .size_bytes = static_cast<uint64_t>(info.st_size),
                     .used_unix_ns = static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 +
                                     info.st_mtim.tv_nsec});
  }
  closedir(directory);
  std::sort(files.begin(), files.end(), UsedBefore);
  return files;
}

// Whether the profile's bytes are in the file, but not as they stand there.
bool IsPacked(const SessionFile& file) {
  if (file.remote != nullptr) return false;
  return file.format == FileFormat::kXplaneGzip || file.format == FileFormat::kXplaneZstd ||
         file.format == FileFormat::kXplaneXz || file.format == FileFormat::kRiegeli;
}

void LogIgnored(std::string_view what, const Status& status) {
  LogWarning("columns.ignored", {{"while", what}, {"reason", status.ToString()}});
}

}  // namespace

ColumnCache::ColumnCache(Options options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  if (!options_.directory.empty()) Evict();
}

std::string ColumnCache::ColumnPath(const Hash128& content_hash) const {
  return options_.directory + std::string(kColumnsFolder) + "/" + content_hash.ToHex() +
         VersionSuffix(".col");
}

std::string ColumnCache::SidePath(const Hash128& content_hash, std::string_view ending) const {
  if (options_.directory.empty()) return "";
  return options_.directory + std::string(kColumnsFolder) + "/" + content_hash.ToHex() +
         VersionSuffix(ending);
}

std::string ColumnCache::IdentityPath(const storage::FileIdentity& identity) const {
  return options_.directory + std::string(kIdentitiesFolder) + "/" +
         Hash128Of(EncodeIdentity(identity)).ToHex() + VersionSuffix(".id");
}

std::optional<Hash128> ColumnCache::KnownHash(const storage::FileIdentity& identity) const {
  if (options_.directory.empty()) return std::nullopt;
  const std::string path = IdentityPath(identity);
  const auto file = storage::OpenMappedFile(path);
  if (!file.ok()) {
    if (file.status().code() != StatusCode::kNotFound) LogIgnored("reading", file.status());
    return std::nullopt;
  }
  const std::string_view bytes = (*file)->bytes();
  const std::string expected = EncodeIdentity(identity);
  if (bytes.size() != expected.size() + 3 * sizeof(uint64_t) || !bytes.starts_with(expected)) {
    LogIgnored("reading",
               DataLossError("COLUMNS_CORRUPT", "An identity makes no sense.").Where(path));
    return std::nullopt;
  }
  uint64_t numbers[3];
  std::copy_n(bytes.data() + expected.size(), sizeof(numbers), reinterpret_cast<char*>(numbers));
  if (Hash64(bytes.substr(0, bytes.size() - sizeof(uint64_t))) != numbers[2]) {
    LogIgnored("reading",
               DataLossError("COLUMNS_CHECKSUM", "An identity's checksum differs.").Where(path));
    return std::nullopt;
  }
  Touch(path, clock_.NowUnixNanos());
  return Hash128{numbers[0], numbers[1]};
}

Status ColumnCache::Remember(const storage::FileIdentity& identity,
                             const Hash128& content_hash) const {
  // It could change again without a trace.
  if (clock_.NowUnixNanos() - identity.modified_unix_ns < kYoungFileNs) return OkStatus();
  std::string bytes = EncodeIdentity(identity);
  AppendNumber(content_hash.high, &bytes);
  AppendNumber(content_hash.low, &bytes);
  AppendNumber(Hash64(bytes), &bytes);
  return storage::WriteFileAtomically(IdentityPath(identity), bytes,
                                      {.permissions = 0600, .durable = false});
}

Status ColumnCache::Prepare() const {
  STROBE_RETURN_IF_ERROR(
      storage::MakeDirectories(options_.directory + std::string(kColumnsFolder)));
  return storage::MakeDirectories(options_.directory + std::string(kIdentitiesFolder));
}

std::shared_ptr<ColumnFile> ColumnCache::FindColumns(const storage::FileIdentity& identity,
                                                     const storage::ByteSource& source) {
  if (options_.directory.empty()) return nullptr;
  const std::optional<Hash128> content_hash = KnownHash(identity);
  if (!content_hash) return nullptr;
  const std::string path = ColumnPath(*content_hash);
  auto mapped = storage::OpenMappedFile(path);
  if (!mapped.ok()) {
    if (mapped.status().code() != StatusCode::kNotFound) LogIgnored("opening", mapped.status());
    return nullptr;
  }
  auto columns = ColumnFile::Open(*std::move(mapped), *content_hash, source.bytes().size());
  if (!columns.ok()) {
    ++rejected_;
    LogIgnored("opening", columns.status());
    return nullptr;
  }
  Touch(path, clock_.NowUnixNanos());
  return *std::move(columns);
}

std::optional<HostSource> ColumnCache::FindUnpacked(const SessionFile& file,
                                                    const CancelToken& cancel) const {
  if (options_.directory.empty() || !IsPacked(file)) return std::nullopt;
  const auto packed = storage::OpenMappedFile(file.path);
  if (!packed.ok()) return std::nullopt;
  const storage::FileIdentity identity = (*packed)->identity();
  const std::optional<Hash128> content_hash = KnownHash(identity);
  if (!content_hash) return std::nullopt;
  const std::string path = SidePath(*content_hash, kUnpackedEnding);
  auto unpacked = storage::OpenMappedFile(path);
  if (!unpacked.ok()) {
    if (unpacked.status().code() != StatusCode::kNotFound) LogIgnored("opening", unpacked.status());
    return std::nullopt;
  }
  const auto found = HashContent(**unpacked, cancel);
  if (!found.ok()) return std::nullopt;
  if (*found != *content_hash) {
    LogIgnored("opening",
               DataLossError("COLUMNS_CHECKSUM", "The bytes of a kept profile have another hash.")
                   .Where(path));
    unlink(path.c_str());
    return std::nullopt;
  }
  Touch(path, clock_.NowUnixNanos());
  return HostSource{.source = *std::move(unpacked), .identity = identity, .damage = {}};
}

Result<CachedProfile> ColumnCache::OpenHostFile(const SessionFile& file,
                                                const std::string& scratch_directory,
                                                const CancelToken& cancel,
                                                UnpackProgress* progress) {
  std::optional<HostSource> unpacked = FindUnpacked(file, cancel);
  if (unpacked && progress != nullptr) progress->read_bytes += file.size_bytes;
  if (!unpacked) {
    STROBE_ASSIGN_OR_RETURN(unpacked, OpenHostSource(file, scratch_directory, cancel, progress));
  }
  HostSource host = *std::move(unpacked);
  CachedProfile opened;
  opened.identity = host.identity;
  OpenOptions options;
  options.known_damage = std::move(host.damage);
  const std::shared_ptr<ColumnFile> columns = FindColumns(host.identity, *host.source);
  // With columns only what is looked at is needed of an object far away.
  if (columns == nullptr || host.source->bytes().size() < kFetchWholeBytes) {
    storage::FetchAll(*host.source);
  }
  const std::shared_ptr<const storage::ByteSource> source = host.source;
  auto profile = OpenWithColumns(std::move(host.source), options, columns);
  // Bytes that could not be fetched read as zeros, and what was made of those is no finding.
  if (file.remote != nullptr) STROBE_RETURN_IF_ERROR(source->CheckUnchanged());
  if (!profile.ok()) {
    const std::string where(profile.status().where());
    return profile.status().Where(where.empty() ? file.path : file.path + ", " + where);
  }
  opened.profile = *std::move(profile);
  if (columns != nullptr) {
    const Status approved = columns->Approve(*opened.profile);
    opened.from_cache = approved.ok();
    if (approved.ok()) opened.columns = columns;
    if (!approved.ok()) {
      ++rejected_;
      LogIgnored("opening", approved);
    }
  }
  ++(opened.from_cache ? hits_ : misses_);
  return opened;
}

Status ColumnCache::Store(const storage::FileIdentity& identity, const ProfileFile& profile,
                          const CancelToken& cancel) {
  if (options_.directory.empty() || profile.source().bytes().size() < options_.min_source_bytes) {
    return OkStatus();
  }
  Status status = Write(identity, profile, cancel);
  if (!status.ok() && status.code() != StatusCode::kCancelled) LogIgnored("writing", status);
  return status;
}

Status ColumnCache::Write(const storage::FileIdentity& identity, const ProfileFile& profile,
                          const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(Prepare());
  STROBE_RETURN_IF_ERROR(profile.DecodeAll(cancel, nullptr));
  const uint64_t size_bytes = ColumnFileBytes(profile);
  if (size_bytes > options_.max_bytes) {
    return ResourceExhaustedError("COLUMNS_TOO_LARGE", "The columns need " +
                                                           std::to_string(size_bytes) +
                                                           " bytes, more than the cache may hold.")
        .Where(identity.path)
        .Hint("Give the cache more room.");
  }
  STROBE_ASSIGN_OR_RETURN(const Hash128 content_hash, HashContent(profile.source(), cancel));
  STROBE_RETURN_IF_ERROR(profile.source().CheckUnchanged());
  const std::string path = ColumnPath(content_hash);
  // The same bytes may have been stored from another path.
  const auto mapped = storage::OpenMappedFile(path);
  const bool there =
      mapped.ok() && ColumnFile::Open(*mapped, content_hash, profile.source().bytes().size()).ok();
  if (!there) {
    STROBE_RETURN_IF_ERROR(WriteColumnFile(profile, content_hash, path, cancel));
    ++stored_;
  }
  Touch(path, clock_.NowUnixNanos());
  STROBE_RETURN_IF_ERROR(Remember(identity, content_hash));
  Evict();
  return OkStatus();
}

Status ColumnCache::KeepUnpacked(const SessionFile& file, const storage::FileIdentity& identity,
                                 const ProfileFile& profile, const CancelToken& cancel) {
  const std::string_view bytes = profile.source().bytes();
  if (!IsPacked(file) || options_.directory.empty() || bytes.size() > options_.max_bytes / 2) {
    return OkStatus();
  }
  // Damage of the packed file is found again only by unpacking it.
  if (!profile.damage().empty()) return OkStatus();
  const std::optional<Hash128> content_hash = KnownHash(identity);
  if (!content_hash) return OkStatus();
  const std::string path = SidePath(*content_hash, kUnpackedEnding);
  if (access(path.c_str(), F_OK) == 0) return OkStatus();
  const Status status = WriteUnpacked(path, bytes, cancel);
  if (!status.ok() && status.code() != StatusCode::kCancelled) LogIgnored("writing", status);
  if (status.ok()) Evict();
  return status;
}

Status ColumnCache::WriteUnpacked(const std::string& path, std::string_view bytes,
                                  const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(
      storage::AtomicFile file,
      storage::AtomicFile::Create(path, {.permissions = 0600, .durable = false}));
  for (uint64_t at = 0; at < bytes.size(); at += kWritePieceBytes) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    STROBE_RETURN_IF_ERROR(file.Append(bytes.substr(at, kWritePieceBytes)));
  }
  return std::move(file).Commit();
}

void ColumnCache::Evict() {
  const std::lock_guard lock(evict_mutex_);
  const std::string columns = options_.directory + std::string(kColumnsFolder);
  const std::string identities = options_.directory + std::string(kIdentitiesFolder);
  // Other versions' files count and go like ours.
  std::vector<CacheFile> files = ListFiles(columns, ".col");
  for (const std::string_view ending : kSideEndings) {
    const std::vector<CacheFile> more = ListFiles(columns, ending);
    files.insert(files.end(), more.begin(), more.end());
  }
  std::sort(files.begin(), files.end(), UsedBefore);
  uint64_t bytes = 0;
  for (const CacheFile& file : files) bytes += file.size_bytes;
  for (const CacheFile& file : files) {
    if (bytes <= options_.max_bytes) break;
    if (unlink(file.path.c_str()) != 0) continue;
    bytes -= file.size_bytes;
    ++evicted_;
  }
  bytes_.store(bytes);
  const std::vector<CacheFile> known = ListFiles(identities, ".id");
  for (size_t i = 0; i + kMaxIdentities < known.size(); ++i) unlink(known[i].path.c_str());
  for (const std::string& folder : {columns, identities}) {
    storage::RemoveStaleTemporaries(folder, clock_.NowUnixNanos(), kStaleTemporaryNs);
  }
}

ColumnCache::Stats ColumnCache::stats() const {
  return {.hits = hits_.load(),
          .misses = misses_.load(),
          .rejected = rejected_.load(),
          .stored = stored_.load(),
          .evicted = evicted_.load(),
          .bytes = bytes_.load()};
}

}  // namespace strobe::xplane
