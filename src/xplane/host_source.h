// The XSpace bytes of a host file, whatever the file's format.
//
//   STROBE_ASSIGN_OR_RETURN(HostSource host, OpenHostSource(file, scratch_directory, cancel));
//   STROBE_ASSIGN_OR_RETURN(auto profile, ProfileFile::Open(host.source, {.known_damage =
//   host.damage}));
//
// A plain file is mapped; an object of a bucket comes as it is looked at (lazy_object.h); gzip,
// zstd and xz are inflated into a file without a name; Riegeli records and trace JSON and Perfetto
// traces become an XSpace in memory. What was readable before damage is there, with the Damage that
// says so. Errors: those of storage, wire/compress, wire/riegeli, trace_json_import and
// perfetto_import, with the file's path.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/storage/byte_source.h"
#include "src/xplane/profile_file.h"
#include "src/xplane/session.h"

namespace strobe::xplane {

struct HostSource {
  std::shared_ptr<const storage::ByteSource> source;
  // Of the file on disk, also when `source` is made from it.
  storage::FileIdentity identity;
  std::vector<Damage> damage;
};

// How far the unpacking of compressed files has come; for whoever looks on from another thread.
struct UnpackProgress {
  std::atomic<uint32_t> unpacking{0};   // files that are being unpacked now
  std::atomic<uint64_t> read_bytes{0};  // of compressed files
};

// gzip, zstd and xz: unpacking takes seconds, and nothing is known before it has ended.
bool IsCompressed(FileFormat format);

Result<HostSource> OpenHostSource(const SessionFile& file, const std::string& scratch_directory,
                                  const CancelToken& cancel, UnpackProgress* progress = nullptr);

// By the first bytes, for a file whose name says nothing: kXplane when they are none of the others.
FileFormat DetectFileFormat(std::string_view head);

// Whether a file of JSON, compressed by gzip or not, is a Chrome trace: by its first 64 KiB.
bool HoldsTraceJson(std::string_view bytes);

}  // namespace strobe::xplane
