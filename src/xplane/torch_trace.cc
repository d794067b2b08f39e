#include "src/xplane/torch_trace.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace strobe::xplane {
namespace {

constexpr std::string_view kGpuLabel = "GPU ";
constexpr std::string_view kStepName = "ProfilerStep#";

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "[4, 1, 1]" -> "4,1,1", however it is broken into lines; empty when it is no such list.
std::string Dimensions(std::string_view list) {
  std::string text;
  for (const char c : list) {
    if ((c >= '0' && c <= '9') || c == ',') {
      text += c;
    } else if (std::string_view("[] \t\r\n").find(c) == std::string_view::npos) {
      return "";
    }
  }
  return text;
}

int64_t WholeOf(const Arg& arg) {
  if (arg.type == Arg::Type::kInt) return arg.int_value;
  if (arg.type == Arg::Type::kUint) return static_cast<int64_t>(arg.uint_value);
  // Beyond this a double is no integer of 64 bits.
  constexpr double kMost = 9e18;
  if (arg.type == Arg::Type::kDouble && arg.double_value > -kMost && arg.double_value < kMost) {
    return static_cast<int64_t>(arg.double_value);
  }
  return 0;
}

double NumberOf(const Arg& arg) {
  return arg.type == Arg::Type::kDouble ? arg.double_value : static_cast<double>(WholeOf(arg));
}

}  // namespace

bool IsTorchCategory(std::string_view category) {
  return category == "cpu_op" || category == "kernel" || category == "gpu_memcpy";
}

bool HasTorchCorrelation(std::string_view category) {
  constexpr std::array<std::string_view, 5> kCategories = {"kernel", "gpu_memcpy", "gpu_memset",
                                                           "cuda_runtime", "cuda_driver"};
  return std::ranges::find(kCategories, category) != kCategories.end();
}

std::optional<std::string> TorchPlaneName(std::string_view labels) {
  if (labels == "CPU") return "/host:CPU";
  if (!labels.starts_with(kGpuLabel) || !IsNumber(labels.substr(kGpuLabel.size()))) {
    return std::nullopt;
  }
  return "/device:GPU:" + std::string(labels.substr(kGpuLabel.size()));
}

std::string TorchLineName(std::string_view name, std::string_view tid) {
  while (name.ends_with(' ')) name.remove_suffix(1);
  const bool is_stream = name.starts_with("stream ") || (name.empty() && IsNumber(tid));
  return is_stream ? "Stream #" + std::string(tid) : std::string(name);
}

std::optional<int64_t> TorchStep(std::string_view event_name) {
  if (!event_name.starts_with(kStepName)) return std::nullopt;
  event_name.remove_prefix(kStepName.size());
  int64_t step = 0;
  const auto [end, error] =
      std::from_chars(event_name.data(), event_name.data() + event_name.size(), step);
  if (error != std::errc() || end != event_name.data() + event_name.size()) return std::nullopt;
  return step;
}

void TorchKernel::Take(const Arg& arg) {
  if (arg.key == "grid") grid_ = Dimensions(arg.text);
  if (arg.key == "block") block_ = Dimensions(arg.text);
  if (arg.key == "registers per thread") registers_ = WholeOf(arg);
  if (arg.key == "shared memory") shared_bytes_ = WholeOf(arg);
  if (arg.key == "est. achieved occupancy %") occupancy_percent_ = NumberOf(arg);
  if (arg.key == "correlation") correlation_ = WholeOf(arg);
}

// As XProf's tracer of GPUs writes it; what PyTorch tells of shared memory is the sum of both
// kinds.
std::string TorchKernel::Details() const {
  if (grid_.empty()) return "";
  std::string text =
      "regs:" + std::to_string(registers_) + " static_shared:" + std::to_string(shared_bytes_) +
      " dynamic_shared:0 grid:" + grid_ + " block:" + (block_.empty() ? "1,1,1" : block_);
  if (occupancy_percent_) {
    std::array<char, 32> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), *occupancy_percent_).ptr;
    text += " occ_pct:" + std::string(buffer.data(), end);
  }
  return text;
}

}  // namespace strobe::xplane
