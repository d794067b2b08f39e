#include "src/xplane/host_source.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/storage/scratch_file.h"
#include "src/wire/compress.h"
#include "src/wire/riegeli.h"
#include "src/xplane/perfetto_import.h"
#include "src/xplane/trace_json_import.h"
#include "src/xplane/xspace_merge.h"

namespace strobe::xplane {
namespace {

using storage::ByteSource;

wire::Compression CompressionOf(FileFormat format) {
  switch (format) {
    case FileFormat::kXplaneGzip:
    case FileFormat::kTraceJsonGzip:
    case FileFormat::kPerfettoGzip:
      return wire::Compression::kGzip;
    case FileFormat::kXplaneZstd:
      return wire::Compression::kZstd;
    case FileFormat::kXplaneXz:
      return wire::Compression::kXz;
    case FileFormat::kXplane:
    case FileFormat::kRiegeli:
    case FileFormat::kTraceJson:
    case FileFormat::kPerfetto:
      break;
  }
  return wire::Compression::kNone;
}

// Says in which file it happened, in front of the place within.
Status InFile(const Status& status, const std::string& path) {
  const std::string where(status.where());
  if (where.find(path) != std::string::npos) return status;
  return status.Where(where.empty() ? path : path + ", " + where);
}

class Opener {
 public:
  Opener(const SessionFile& file, const std::string& scratch_directory, const CancelToken& cancel,
         UnpackProgress* progress)
      : file_(file),
        scratch_directory_(scratch_directory),
        cancel_(cancel),
        progress_(progress != nullptr ? progress : &own_progress_) {}

  Result<HostSource> Open() {
    if (file_.remote != nullptr) {
      STROBE_RETURN_IF_ERROR(OpenRemote());
    } else {
      STROBE_ASSIGN_OR_RETURN(host_.source, storage::OpenMappedFile(file_.path));
    }
    host_.identity = host_.source->identity();
    if (host_.source->bytes().empty()) {
      if (file_.format == FileFormat::kXplane) return std::move(host_);  // the decoder says so
      return DataLossError("FILE_EMPTY", "The file is empty (0 bytes).")
          .Where(file_.path)
          .Hint("The capture failed or is not finished; look at its log, or capture again.");
    }
    const Status status = Convert();
    if (!status.ok()) return InFile(status, file_.path);
    return std::move(host_);
  }

 private:
  // The object that was listed or none; its checksum is asked for where listings do not tell it.
  Status OpenRemote() {
    storage::RemoteObject object = *file_.remote;
    STROBE_ASSIGN_OR_RETURN(storage::ObjectInfo now,
                            object.store->Stat(object.info.key, {.cancel = cancel_}));
    if (now.version != object.info.version) return storage::ObjectChanged(object.path);
    object.info.crc32c = now.crc32c;
    object.info.md5_hex = std::move(now.md5_hex);
    STROBE_ASSIGN_OR_RETURN(host_.source, storage::OpenLazyObject(object, scratch_directory_));
    if (file_.format != FileFormat::kXplane) storage::FetchAll(*host_.source);
    return OkStatus();
  }

  Status Convert() {
    switch (file_.format) {
      case FileFormat::kXplane:
        return OkStatus();
      case FileFormat::kXplaneGzip:
      case FileFormat::kXplaneZstd:
      case FileFormat::kXplaneXz:
        return Inflate();
      case FileFormat::kRiegeli:
        return MergeRecords();
      case FileFormat::kTraceJsonGzip:
        STROBE_RETURN_IF_ERROR(Inflate());
        return Import(&ImportTraceJson);
      case FileFormat::kTraceJson:
        return Import(&ImportTraceJson);
      case FileFormat::kPerfettoGzip:
        STROBE_RETURN_IF_ERROR(Inflate());
        return Import(&ImportPerfetto);
      case FileFormat::kPerfetto:
        return Import(&ImportPerfetto);
    }
    return OkStatus();
  }

  Status Inflate() {
    STROBE_ASSIGN_OR_RETURN(storage::ScratchFile scratch,
                            storage::ScratchFile::Create(scratch_directory_));
    const wire::ByteSink sink = [&](std::string_view part) { return scratch.Append(part); };
    ++progress_->unpacking;
    const Result<wire::Inflated> unpacked =
        wire::Inflate(CompressionOf(file_.format), host_.source->bytes(), wire::InflateLimits(),
                      sink, cancel_, &progress_->read_bytes);
    --progress_->unpacking;
    STROBE_ASSIGN_OR_RETURN(const wire::Inflated inflated, unpacked);
    // Zeros of pages that were lost under us must not pass for the file.
    STROBE_RETURN_IF_ERROR(host_.source->CheckUnchanged());
    if (inflated.partial) {
      AddDamage(inflated.problem, inflated.output_bytes);
    }
    STROBE_ASSIGN_OR_RETURN(host_.source, std::move(scratch).Finish(file_.path));
    return OkStatus();
  }

  void AddDamage(Status status, uint64_t offset_bytes) {
    Damage damage;
    damage.status = std::move(status);
    damage.offset_bytes = offset_bytes;
    host_.damage.push_back(std::move(damage));
  }

  Status MergeRecords() {
    XSpaceMerger merger;
    const auto take = [&](std::string_view record) { return merger.Add(record); };
    STROBE_ASSIGN_OR_RETURN(
        const wire::RiegeliSummary summary,
        wire::ReadRiegeli(host_.source->bytes(), wire::RiegeliLimits(), take, cancel_));
    STROBE_RETURN_IF_ERROR(host_.source->CheckUnchanged());
    for (const wire::RiegeliDamage& damage : summary.damage) {
      AddDamage(damage.status, damage.offset_bytes);
    }
    if (merger.damaged_parts() > 0) {
      AddDamage(DataLossError("RIEGELI_RECORD_DAMAGED",
                              std::to_string(merger.damaged_parts()) + " of " +
                                  std::to_string(merger.parts()) +
                                  " records are no whole XSpace; the rest of each is left out."),
                0);
    }
    STROBE_ASSIGN_OR_RETURN(std::string xspace, std::move(merger).Finish());
    host_.source = storage::OwnBytes(std::move(xspace), file_.path);
    return OkStatus();
  }

  Status Import(Result<TraceImport> (*read)(std::string_view, const CancelToken&)) {
    STROBE_ASSIGN_OR_RETURN(TraceImport import, read(host_.source->bytes(), cancel_));
    STROBE_RETURN_IF_ERROR(host_.source->CheckUnchanged());
    for (Damage& damage : import.damage) host_.damage.push_back(std::move(damage));
    host_.source = storage::OwnBytes(std::move(import.xspace), file_.path);
    return OkStatus();
  }

  const SessionFile& file_;
  const std::string& scratch_directory_;
  const CancelToken& cancel_;
  UnpackProgress own_progress_;
  UnpackProgress* const progress_;
  HostSource host_;
};

}  // namespace

FileFormat DetectFileFormat(std::string_view head) {
  switch (wire::DetectCompression(head)) {
    case wire::Compression::kGzip:
      return FileFormat::kXplaneGzip;
    case wire::Compression::kZstd:
      return FileFormat::kXplaneZstd;
    case wire::Compression::kXz:
      return FileFormat::kXplaneXz;
    case wire::Compression::kNone:
      break;
  }
  if (wire::LooksLikeRiegeli(head)) return FileFormat::kRiegeli;
  const size_t first = head.find_first_not_of(" \t\r\n");
  // An XSpace begins with the tag of one of its four fields, never with a bracket. (0x0a, the tag
  // of a plane, is a line feed: only text with a bracket right behind its white space is JSON.)
  if (first != std::string_view::npos && (head[first] == '{' || head[first] == '[') &&
      head.find('"') != std::string_view::npos && head.find('\0') == std::string_view::npos) {
    return FileFormat::kTraceJson;
  }
  return LooksLikePerfetto(head) ? FileFormat::kPerfetto : FileFormat::kXplane;
}

namespace {

// A Chrome trace says so long before this, whatever stands in front of its events.
constexpr size_t kJsonHeadBytes = 64 * 1024;

// The first bytes of what a gzip file holds; empty when it is none.
std::string InflatedHead(std::string_view bytes) {
  std::string head;
  const wire::ByteSink take_first = [&head](std::string_view part) {
    head += part.substr(0, kJsonHeadBytes - std::min(kJsonHeadBytes, head.size()));
    return head.size() < kJsonHeadBytes ? OkStatus() : CancelledError("ENOUGH", "Enough was read.");
  };
  (void)wire::Inflate(wire::Compression::kGzip, bytes, wire::InflateLimits(), take_first,
                      CancelToken())
      .ok();
  return head;
}

}  // namespace

bool HoldsTraceJson(std::string_view bytes) {
  std::string inflated;
  std::string_view head = bytes.substr(0, kJsonHeadBytes);
  if (wire::DetectCompression(bytes) == wire::Compression::kGzip) {
    inflated = InflatedHead(bytes);
    head = inflated;
  }
  if (DetectFileFormat(head) != FileFormat::kTraceJson) return false;
  return head.find("\"traceEvents\"") != std::string_view::npos ||
         (head.find("\"ph\"") != std::string_view::npos &&
          head.find("\"ts\"") != std::string_view::npos);
}

Result<HostSource> OpenHostSource(const SessionFile& file, const std::string& scratch_directory,
                                  const CancelToken& cancel, UnpackProgress* progress) {
  return Opener(file, scratch_directory, cancel, progress).Open();
}

bool IsCompressed(FileFormat format) { return CompressionOf(format) != wire::Compression::kNone; }

Result<std::shared_ptr<ProfileFile>> OpenHostFile(const SessionFile& file,
                                                  const std::string& scratch_directory,
                                                  const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(HostSource host, OpenHostSource(file, scratch_directory, cancel));
  OpenOptions options;
  options.known_damage = std::move(host.damage);
  storage::FetchAll(*host.source);
  const std::shared_ptr<const storage::ByteSource> source = host.source;
  auto profile = ProfileFile::Open(std::move(host.source), options);
  if (file.remote != nullptr) STROBE_RETURN_IF_ERROR(source->CheckUnchanged());
  if (!profile.ok()) return InFile(profile.status(), file.path);
  return profile;
}

}  // namespace strobe::xplane
