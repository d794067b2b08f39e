// Which build of the program is running, for what is kept on disk and only good for the build that
// made it (encoded answers, say): a new build makes it again.
//
//   if (header.build_id != BuildIdHash()) return Unusable("they are of another build.");
//
// The number comes from the build id that the linker writes (--build-id): it changes with any
// change of code or data and is the same for equal programs. 0 when there is none: then nothing of
// the kind should be kept. Cost: once, a walk over the program's headers.
#pragma once

#include <cstdint>

namespace strobe {

uint64_t BuildIdHash();

}  // namespace strobe
