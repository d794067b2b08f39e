// What is done with a kept file (pyramids, a first look) in whose body damage is met: it is said
// once, and the file is removed, so that the next time the session is opened it is made anew.
//
//   if (Hash64(bytes) != place.hash) damaged_.Discard(*source_);
//
// Thread-safe. Whoever has the file mapped keeps it; its other parts, which carry hashes of their
// own, are still used.
#pragma once

#include <mutex>

#include "src/storage/byte_source.h"

namespace strobe::engine {

class DamagedKeptFile {
 public:
  void Discard(const storage::ByteSource& source);

 private:
  std::once_flag once_;
};

}  // namespace strobe::engine
