// Colour categories: from XLA's own category where the profile has one, else from the name of the
// op, the kernel or the host function.
#include <algorithm>
#include <string>

#include "src/analysis/line_kind.h"

namespace strobe::analysis {
namespace {

// Names are judged by their beginning; a name of 1 MB costs no more than this.
constexpr size_t kMaxJudgedBytes = 256;

struct Rule {
  std::string_view part;
  OpCategory category;
};

// HLO opcodes and hlo_category values, first match wins. `part` is looked for anywhere in the text.
constexpr Rule kHloRules[] = {
    {"infeed", OpCategory::kHostTransfer},
    {"outfeed", OpCategory::kHostTransfer},
    {"host send", OpCategory::kHostTransfer},
    {"host recv", OpCategory::kHostTransfer},
    {"all-reduce", OpCategory::kCollective},
    {"all-gather", OpCategory::kCollective},
    {"all-to-all", OpCategory::kCollective},
    {"all_reduce", OpCategory::kCollective},
    {"all_gather", OpCategory::kCollective},
    {"all_to_all", OpCategory::kCollective},
    {"reduce-scatter", OpCategory::kCollective},
    {"reduce_scatter", OpCategory::kCollective},
    {"collective", OpCategory::kCollective},
    {"partition-id", OpCategory::kCollective},
    {"replica-id", OpCategory::kCollective},
    {"send", OpCategory::kCollective},
    {"recv", OpCategory::kCollective},
    {"convolution", OpCategory::kMatmul},
    {"conv2d", OpCategory::kMatmul},
    {"matmul", OpCategory::kMatmul},
    {"gemm", OpCategory::kMatmul},
    {"custom-call", OpCategory::kCustomKernel},
    {"custom_call", OpCategory::kCustomKernel},
    {"custom fusion", OpCategory::kCustomKernel},
    {"dynamic-slice", OpCategory::kDataMovement},
    {"dynamic-update-slice", OpCategory::kDataMovement},
    {"data formatting", OpCategory::kDataMovement},
    {"copy", OpCategory::kDataMovement},
    {"transpose", OpCategory::kDataMovement},
    {"gather", OpCategory::kDataMovement},
    {"scatter", OpCategory::kDataMovement},
    {"concatenate", OpCategory::kDataMovement},
    {"reshape", OpCategory::kDataMovement},
    {"bitcast", OpCategory::kDataMovement},
    {"slice", OpCategory::kDataMovement},
    {"pad", OpCategory::kDataMovement},
    {"reverse", OpCategory::kDataMovement},
    {"reduce", OpCategory::kReduce},
    {"sort", OpCategory::kReduce},
    {"topk", OpCategory::kReduce},
    {"cumsum", OpCategory::kReduce},
    {"fusion", OpCategory::kFusion},
    {"elementwise", OpCategory::kFusion},
    {"wrapped_", OpCategory::kFusion},
};

// Whole opcodes, without their ".12"; for plain instructions that no rule above names.
constexpr Rule kOpcodes[] = {
    {"dot", OpCategory::kMatmul},
    {"dot_general", OpCategory::kMatmul},
    {"ragged-dot", OpCategory::kMatmul},
    {"fft", OpCategory::kCustomKernel},
    {"cholesky", OpCategory::kCustomKernel},
    {"triangular-solve", OpCategory::kCustomKernel},
    {"iota", OpCategory::kFusion},
    {"broadcast", OpCategory::kFusion},
    {"add", OpCategory::kFusion},
    {"subtract", OpCategory::kFusion},
    {"multiply", OpCategory::kFusion},
    {"divide", OpCategory::kFusion},
    {"maximum", OpCategory::kFusion},
    {"minimum", OpCategory::kFusion},
    {"exponential", OpCategory::kFusion},
    {"tanh", OpCategory::kFusion},
    {"log", OpCategory::kFusion},
    {"negate", OpCategory::kFusion},
    {"rsqrt", OpCategory::kFusion},
    {"sqrt", OpCategory::kFusion},
    {"power", OpCategory::kFusion},
    {"compare", OpCategory::kFusion},
    {"select", OpCategory::kFusion},
    {"convert", OpCategory::kFusion},
    {"clamp", OpCategory::kFusion},
    {"rng", OpCategory::kFusion},
    {"rng-bit-generator", OpCategory::kFusion},
    // Among host functions an instruction without a number is known by these only: "all-reduce" is
    // the first of its module.
    {"all-reduce", OpCategory::kCollective},
    {"all-reduce-start", OpCategory::kCollective},
    {"all-reduce-done", OpCategory::kCollective},
    {"all-gather", OpCategory::kCollective},
    {"all-gather-start", OpCategory::kCollective},
    {"all-gather-done", OpCategory::kCollective},
    {"all-to-all", OpCategory::kCollective},
    {"reduce-scatter", OpCategory::kCollective},
    {"collective-permute", OpCategory::kCollective},
    {"collective-permute-start", OpCategory::kCollective},
    {"collective-permute-done", OpCategory::kCollective},
    {"collective-broadcast", OpCategory::kCollective},
    {"partition-id", OpCategory::kCollective},
    {"replica-id", OpCategory::kCollective},
    {"custom-call", OpCategory::kCustomKernel},
    {"dynamic-slice", OpCategory::kDataMovement},
    {"dynamic-update-slice", OpCategory::kDataMovement},
    {"reduce-window", OpCategory::kReduce},
};

// GPU kernels and copies by the habits of the libraries that launch them; lower case.
constexpr Rule kKernelRules[] = {
    {"nccl", OpCategory::kCollective},
    {"rccl", OpCategory::kCollective},
    {"memcpyd2d", OpCategory::kDataMovement},
    {"memcpyp2p", OpCategory::kCollective},
    {"memcpy", OpCategory::kHostTransfer},
    {"memset", OpCategory::kDataMovement},
    {"copybuffer", OpCategory::kDataMovement},
    {"fillbuffer", OpCategory::kDataMovement},
    {"cijk_", OpCategory::kMatmul},
    {"cutlass", OpCategory::kMatmul},
    {"xmma", OpCategory::kMatmul},
    {"gemm", OpCategory::kMatmul},
    {"convol", OpCategory::kMatmul},
    {"conv2d", OpCategory::kMatmul},
    {"conv3d", OpCategory::kMatmul},
    {"winograd", OpCategory::kMatmul},
    {"wgrad", OpCategory::kMatmul},
    {"dgrad", OpCategory::kMatmul},
    {"flash", OpCategory::kCustomKernel},
    {"fmha", OpCategory::kCustomKernel},
    {"triton", OpCategory::kCustomKernel},
    {"eigen", OpCategory::kFusion},
};

// Host functions that move data to or from a device.
constexpr Rule kHostRules[] = {
    {"transferto", OpCategory::kHostTransfer},       {"transferfrom", OpCategory::kHostTransfer},
    {"transferh2d", OpCategory::kHostTransfer},      {"transferd2h", OpCategory::kHostTransfer},
    {"memcpy", OpCategory::kHostTransfer},           {"infeed", OpCategory::kHostTransfer},
    {"outfeed", OpCategory::kHostTransfer},          {"bufferfromhost", OpCategory::kHostTransfer},
    {"copytohost", OpCategory::kHostTransfer},       {"mapdmabuffer", OpCategory::kHostTransfer},
    {"toliteral", OpCategory::kHostTransfer},        {"linearize", OpCategory::kHostTransfer},
    {"devicebatchfetch", OpCategory::kHostTransfer},
};

std::string LowerPrefix(std::string_view text) {
  std::string lower(text.substr(0, kMaxJudgedBytes));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

template <size_t kSize>
OpCategory FindPart(const Rule (&rules)[kSize], std::string_view text) {
  for (const Rule& rule : rules) {
    if (text.find(rule.part) != std::string_view::npos) return rule.category;
  }
  return OpCategory::kOther;
}

OpCategory FindOpcode(std::string_view opcode) {
  for (const Rule& rule : kOpcodes) {
    if (rule.part == opcode) return rule.category;
  }
  return OpCategory::kOther;
}

// "%fusion.3 = bf16[...] fusion(...)" -> "fusion.3"; "end: dot.4" -> "dot.4".
std::string_view InstructionName(std::string_view name) {
  if (name.starts_with("end: ")) name.remove_prefix(5);
  if (name.starts_with('%')) name.remove_prefix(1);
  return name.substr(0, name.find(' '));
}

// "dot.4.remat" -> "dot".
std::string_view OpcodeOf(std::string_view instruction) {
  return instruction.substr(0, instruction.find('.'));
}

OpCategory FromHloText(std::string_view text) {
  const OpCategory exact = FindOpcode(OpcodeOf(text));
  return exact != OpCategory::kOther ? exact : FindPart(kHloRules, text);
}

// Names of the CPU backend's ops among host functions: lower-case instruction names only.
bool LooksLikeInstruction(std::string_view name) {
  if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

OpCategory FromHostName(std::string_view name) {
  const std::string_view judged = name.substr(0, kMaxJudgedBytes);
  const std::string_view instruction = InstructionName(judged);
  const bool whole = instruction.size() + (judged.starts_with("end: ") ? 5 : 0) == judged.size();
  if (whole && LooksLikeInstruction(instruction)) {
    const OpCategory exact = FindOpcode(OpcodeOf(instruction));
    if (exact != OpCategory::kOther) return exact;
    const bool has_number = instruction.find('.') != std::string_view::npos;
    if (has_number || instruction.find("fusion") != std::string_view::npos ||
        instruction.starts_with("wrapped_")) {
      const OpCategory found = FindPart(kHloRules, instruction);
      if (found != OpCategory::kOther) return found;
    }
  }
  // Python frames ("$file.py:12 f") are code whatever they are called.
  if (judged.starts_with('$')) return OpCategory::kHostCode;
  const OpCategory transfer = FindPart(kHostRules, LowerPrefix(judged));
  return transfer != OpCategory::kOther ? transfer : OpCategory::kHostCode;
}

}  // namespace

std::string_view OpCategoryName(OpCategory category) {
  switch (category) {
    case OpCategory::kOther:
      return "other";
    case OpCategory::kMatmul:
      return "matmul";
    case OpCategory::kFusion:
      return "fusion";
    case OpCategory::kCustomKernel:
      return "custom kernel";
    case OpCategory::kReduce:
      return "reduce";
    case OpCategory::kDataMovement:
      return "data movement";
    case OpCategory::kCollective:
      return "collective";
    case OpCategory::kHostTransfer:
      return "host transfer";
    case OpCategory::kHostCode:
      return "host code";
    case OpCategory::kMarker:
      return "marker";
  }
  return "other";
}

OpCategory CategorizeOp(PlaneKind plane, LineKind line, std::string_view name,
                        std::string_view hlo_category) {
  if (line == LineKind::kSteps || line == LineKind::kModules || line == LineKind::kScope ||
      line == LineKind::kSource) {
    return OpCategory::kMarker;
  }
  if (!hlo_category.empty()) {
    const OpCategory found = FromHloText(LowerPrefix(hlo_category));
    if (found != OpCategory::kOther) return found;
  }
  if (plane == PlaneKind::kHost) return FromHostName(name);
  const std::string lower = LowerPrefix(name);
  const std::string_view instruction = InstructionName(lower);
  if (line == LineKind::kStream) {
    const OpCategory kernel = FindPart(kKernelRules, lower);
    if (kernel != OpCategory::kOther) return kernel;
  }
  return FromHloText(instruction);
}

}  // namespace strobe::analysis
