// Do two kernels give the same numbers? Two commands: one writes inputs, one compares what came
// out.
//
//   strobe make_parity_inputs --shapes "[(128,256),(256,64)]" --dtype_str bfloat16 --output_dir in
//   ... run both kernels on in/<batch>/input_0.npy, input_1.npy; save out_a/<batch>.npy,
//   out_b/<batch>.npy strobe verify_numerical_parity --reference out_a --candidate out_b
//   --dtype_str bfloat16
//
// Two files instead of two directories are one batch. Both print one JSON object. Exit code of the
// comparison: 0 equivalent, 1 not; else as in agent_command.h, with the names DTYPE_UNKNOWN,
// SHAPES_MALFORMED, TIER_UNKNOWN, PARITY_NOTHING_TO_COMPARE and those of tools/numeric_parity.h and
// tools/npy.h. Limits: kMaxInputBytes of inputs, kMaxParityBatches files.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"

namespace strobe::cli {

struct NumericParityOptions {
  std::string reference;  // .npy file or directory of them
  std::string candidate;
  std::string dtype = "bfloat16";
  uint64_t max_ulp = 2;
  uint64_t p99_9_ulp = 1;
  // For making inputs.
  std::string shapes;
  std::string tier = "presubmit";
  uint64_t seed = 42;
  std::string output_directory;
};

Result<int> RunVerifyNumericalParity(const NumericParityOptions& options);
Result<int> RunMakeParityInputs(const NumericParityOptions& options);

}  // namespace strobe::cli
