#include "src/storage/scratch_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "src/storage/atomic_file.h"

namespace strobe::storage {

Result<ScratchFile> ScratchFile::Create(const std::string& directory) {
  STROBE_RETURN_IF_ERROR(MakeDirectories(directory));
  FileDescriptor file(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.valid()) return ScratchFile(std::move(file), directory);
  // Not every file system can make files without a name.
  std::string name = directory + "/" + std::string(kTemporaryPrefix) + "XXXXXX";
  file = FileDescriptor(mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) {
    return ErrnoError("SCRATCH_NOT_WRITABLE", "Cannot make a scratch file", errno)
        .Where(directory)
        .Hint("Check the free space and permissions of the scratch directory.");
  }
  unlink(name.c_str());
  return ScratchFile(std::move(file), directory);
}

Status ScratchFile::Append(std::string_view bytes) {
  STROBE_RETURN_IF_ERROR(WriteAll(file_, bytes, directory_));
  size_bytes_ += bytes.size();
  return OkStatus();
}

Result<std::shared_ptr<const ByteSource>> ScratchFile::Finish(const std::string& path) && {
  return MapDescriptor(std::move(file_), path);
}

}  // namespace strobe::storage
