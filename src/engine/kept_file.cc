#include "src/engine/kept_file.h"

#include <unistd.h>

#include <string>

#include "src/base/log.h"

namespace strobe::engine {

void DamagedKeptFile::Discard(const storage::ByteSource& source) {
  std::call_once(once_, [&source] {
    const std::string& path = source.identity().path;
    LogWarning("engine.kept_file_ignored",
               {{"file", path}, {"reason", "A part of it has another checksum than was written."}});
    if (!path.empty()) unlink(path.c_str());
  });
}

}  // namespace strobe::engine
