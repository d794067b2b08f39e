// Bytes too many for memory: a file without a name that vanishes with its last holder.
//
//   STROBE_ASSIGN_OR_RETURN(ScratchFile scratch, ScratchFile::Create(directory));
//   STROBE_RETURN_IF_ERROR(Inflate(input, [&](std::string_view part) { return
//   scratch.Append(part); })); STROBE_ASSIGN_OR_RETURN(auto source,
//   std::move(scratch).Finish(original_path));
//
// Cost: one write a part, then a mapping. The space is given back by the kernel even after a crash.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/storage/byte_source.h"
#include "src/storage/file_descriptor.h"

namespace strobe::storage {

class ScratchFile {
 public:
  // Creates `directory` (mode 0700) when it is not there.
  static Result<ScratchFile> Create(const std::string& directory);
  Status Append(std::string_view bytes);
  uint64_t size_bytes() const { return size_bytes_; }
  // `path` is what the source's identity and errors name: the file these bytes were made from.
  Result<std::shared_ptr<const ByteSource>> Finish(const std::string& path) &&;

 private:
  ScratchFile(FileDescriptor file, std::string directory)
      : file_(std::move(file)), directory_(std::move(directory)) {}
  FileDescriptor file_;
  std::string directory_;
  uint64_t size_bytes_ = 0;
};

}  // namespace strobe::storage
