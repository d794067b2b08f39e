// The pyramids of one host's lines in a file beside its columns: read once, never built again.
//
//   STROBE_ASSIGN_OR_RETURN(PyramidWriter writer, PyramidWriter::Create(path, content_hash,
//   shift_ps)); STROBE_RETURN_IF_ERROR(writer.Add(plane, line, timeline::EncodePyramids(rows)));
//   STROBE_RETURN_IF_ERROR(std::move(writer).Commit());
//
//   STROBE_ASSIGN_OR_RETURN(auto file, PyramidFile::Open(mapped, content_hash, shift_ps));
//   const std::string_view bytes = file->Find(plane, line);     // empty: build them
//
// Little endian: a header (magic, version, hash of the profile, shift, place and checksum of the
// directory, checksum), the lines' bytes, the directory (plane, line, place, size, checksum of
// each). What is damaged is not found. Errors of Open: PYRAMIDS_UNUSABLE. Cost: 32 B a line to
// open, one pass over a line's bytes to find it. Limits: kMaxLines.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/hash.h"
#include "src/base/status.h"
#include "src/engine/kept_file.h"
#include "src/storage/atomic_file.h"
#include "src/storage/byte_source.h"

namespace strobe::engine {

class PyramidFile {
 public:
  // As many as a profile may have.
  static constexpr uint64_t kMaxLines = 100'000'000;

  static Result<std::shared_ptr<const PyramidFile>> Open(
      std::shared_ptr<const storage::ByteSource> source, const Hash128& content_hash,
      int64_t shift_ps);
  // Of EncodePyramids; empty when the line is not there or its bytes are damaged.
  std::string_view Find(uint32_t plane, uint32_t line) const;

 private:
  struct Place {
    uint64_t offset = 0;
    uint64_t size_bytes = 0;
    uint64_t hash = 0;
  };
  std::shared_ptr<const storage::ByteSource> source_;
  mutable DamagedKeptFile damaged_;
  std::map<std::pair<uint32_t, uint32_t>, Place> places_;
};

class PyramidWriter {
 public:
  static Result<PyramidWriter> Create(const std::string& path, const Hash128& content_hash,
                                      int64_t shift_ps);
  Status Add(uint32_t plane, uint32_t line, std::string_view bytes);
  Status Commit() &&;

 private:
  PyramidWriter(storage::AtomicFile file, const Hash128& content_hash, int64_t shift_ps);
  storage::AtomicFile file_;
  Hash128 content_hash_;
  int64_t shift_ps_;
  std::string directory_;
};

}  // namespace strobe::engine
