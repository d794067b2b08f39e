// The source frame tables as text shows them: only frames that instructions use, numbered in the
// order of first use.
//
//   const FrameTable table = FrameTable::Of(module);
//   table.IdOf(metadata.stack_frame_id)   // its number in the text, 0 when it has none
//
// The text of a module numbers frames anew, because passes drop instructions but not frames. Cost:
// one walk over the instructions' metadata. Circles in a damaged table end.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "src/hlo/hlo_module.h"

namespace strobe::hlo {

class FrameTable {
 public:
  static FrameTable Of(const HloModule& module);

  int64_t IdOf(int64_t frame_id) const;
  // With the new numbers; a parent is 0 when there is none.
  const StackFrames& frames() const { return frames_; }

 private:
  StackFrames frames_;
  std::vector<int64_t> ids_;  // by old frame id - 1
};

}  // namespace strobe::hlo
