// Tensors in NumPy's own file form (.npy, versions 1 to 3).
//
//   STROBE_ASSIGN_OR_RETURN(const NpyTensor tensor, ReadNpy(bytes, FindNumberFormat("bfloat16")));
//   tensor.BitsAt(0);
//   std::string file = NpyFile(*format, {128, 64}, values);
//
// Types that NumPy does not have (bfloat16, float8) are written by it as plain bytes ("V2"): the
// caller says what they are, and that must be of the same size. Cost: nothing is copied; `bytes`
// must outlive the tensor. Limits: no structured types, no objects; 32 dimensions. Errors:
// NPY_MALFORMED, NPY_TYPE_UNKNOWN, NPY_TRUNCATED, with what was expected.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/tools/number_format.h"

namespace strobe::tools {

struct NpyTensor {
  const NumberFormat* format = nullptr;
  std::vector<uint64_t> shape;
  bool column_major = false;
  bool big_endian = false;
  uint64_t count = 0;
  std::string_view data;  // count * format->size_bytes

  uint64_t BitsAt(uint64_t index) const;
};

// `assumed`: what elements of plain bytes are, or nullptr. Named types stand for themselves.
Result<NpyTensor> ReadNpy(std::string_view bytes, const NumberFormat* assumed);

// A whole file, row-major, little-endian; values are bits of the type.
std::string NpyFile(const NumberFormat& format, std::span<const uint64_t> shape,
                    std::span<const uint64_t> values);

}  // namespace strobe::tools
