// What PyTorch's profiler (Kineto) calls things, in the words that tools know: GPU planes and
// streams, kernels with their launch, steps.
//
//   TorchPlaneName("GPU 2")            // "/device:GPU:2"
//   TorchLineName("stream 7 ", "7")    // "Stream #7"
//   TorchKernel kernel;
//   kernel.Take(arg);                  // for each argument of a kernel
//   kernel.Details()                   // "regs:16 static_shared:0 ... grid:4,1,1 block:256,1,1"
//
// Pure functions of texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/xplane/trace_event.h"

namespace strobe::xplane {

// Whether the category is one that only PyTorch's traces have.
bool IsTorchCategory(std::string_view category);
// By the labels of a process; nullopt: it is something else.
std::optional<std::string> TorchPlaneName(std::string_view labels);
// Of a thread of a GPU's process.
std::string TorchLineName(std::string_view name, std::string_view tid);
// The number of "ProfilerStep#12".
std::optional<int64_t> TorchStep(std::string_view event_name);
// Categories of events that say which launch belongs to which kernel.
bool HasTorchCorrelation(std::string_view category);

class TorchKernel {
 public:
  void Take(const Arg& arg);
  std::optional<int64_t> correlation() const { return correlation_; }
  // The stat `kernel_details`; empty when there was no grid.
  std::string Details() const;

 private:
  std::string grid_;
  std::string block_;
  int64_t registers_ = 0;
  int64_t shared_bytes_ = 0;
  std::optional<double> occupancy_percent_;
  std::optional<int64_t> correlation_;
};

}  // namespace strobe::xplane
