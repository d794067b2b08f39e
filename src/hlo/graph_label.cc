#include "src/hlo/graph_label.h"

#include <simdjson.h>

#include <algorithm>

#include "src/hlo/attribute_text.h"
#include "src/hlo/hlo_printer.h"
#include "src/hlo/literal.h"

namespace strobe::hlo {
namespace {

bool HasType(const Shape& shape, ElementType type) {
  if (shape.type == type) return true;
  return std::any_of(shape.elements.begin(), shape.elements.end(),
                     [type](const Shape& element) { return HasType(element, type); });
}

bool HasManyDimensions(const Shape& shape) {
  if (shape.dimensions.size() > 1) return true;
  return std::any_of(shape.elements.begin(), shape.elements.end(), HasManyDimensions);
}

std::string JoinedLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text.append("<br/>");
    text.append(line);
  }
  return text;
}

using simdjson::dom::element;

std::string_view JsonText(element object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

double JsonNumber(element object, std::string_view key, double otherwise) {
  double number = 0;
  return object[key].get(number) == simdjson::SUCCESS ? number : otherwise;
}

std::string ShortNumber(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.6g", value);
  return buffer;
}

void ConvolutionLines(element config, std::vector<std::string>* lines) {
  const double scale = JsonNumber(config, "conv_result_scale", 0);
  if (scale != 1) lines->push_back("conv_result_scale=" + ShortNumber(scale));
  const double side = JsonNumber(config, "side_input_scale", 0);
  if (side != 0 && side != 1) lines->push_back("side_input_scale=" + ShortNumber(side));
  std::string mode(JsonText(config, "activation_mode"));
  std::transform(mode.begin(), mode.end(), mode.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (mode.empty() || mode == "knone") mode = "none";
  lines->push_back("activation_mode=" + mode);
  element algorithm;
  std::string text = "eng0{}";
  if (config["algorithm"].get(algorithm) == simdjson::SUCCESS) {
    const std::string_view id = JsonText(algorithm, "algo_id");
    text = "eng" + std::string(id.empty() ? "0" : id) + "{";
    simdjson::dom::object knobs;
    bool first = true;
    if (algorithm["tuning_knobs"].get(knobs) == simdjson::SUCCESS) {
      for (const auto& [key, value] : knobs) {
        std::string_view setting;
        if (value.get(setting) != simdjson::SUCCESS) continue;
        if (!first) text.push_back(',');
        first = false;
        text.append("k").append(key).append("=").append(setting);
      }
    }
    text.push_back('}');
  }
  lines->push_back("algo=" + text);
}

// What matters of the settings of convolutions by library; empty for all else.
std::vector<std::string> LibraryCallLines(const Instruction& instruction) {
  std::vector<std::string> lines;
  if (instruction.opcode != Opcode::kCustomCall || instruction.backend_config.empty() ||
      !Message(instruction.record).Bytes(28).starts_with("__cudnn$conv")) {
    return lines;
  }
  simdjson::dom::parser parser;
  element config;
  if (parser.parse(simdjson::padded_string(instruction.backend_config)).get(config) !=
      simdjson::SUCCESS) {
    return lines;
  }
  element part;
  if (config["cudnn_conv_backend_config"].get(part) == simdjson::SUCCESS) config = part;
  ConvolutionLines(config, &lines);
  return lines;
}

// What a value is made by, looking through calls and tuples.
uint32_t SourceOf(const HloModule& module, uint32_t value) {
  constexpr int kMaxSteps = 1000;
  std::vector<int64_t> index;  // into the tuples around the value, innermost last
  for (int step = 0; step < kMaxSteps; ++step) {
    const Instruction& at = module.instruction(value);
    const auto operands = module.operands(value);
    if (at.opcode == Opcode::kGetTupleElement && !operands.empty()) {
      index.push_back(at.number);
      value = operands[0];
    } else if (at.opcode == Opcode::kCall && !module.calls(value).empty()) {
      value = module.computation(module.calls(value)[0]).root;
    } else if (at.opcode == Opcode::kTuple && !index.empty() && index.back() >= 0 &&
               index.back() < static_cast<int64_t>(operands.size())) {
      value = operands[static_cast<size_t>(index.back())];
      index.pop_back();
    } else {
      break;
    }
  }
  return value;
}

// Where a parameter of a called computation comes from.
std::string ArgumentText(const HloModule& module, uint32_t parameter) {
  const Computation& computation = module.computation(module.instruction(parameter).computation);
  if (computation.caller == kNone ||
      module.instruction(computation.caller).opcode != Opcode::kCall) {
    return {};
  }
  const auto operands = module.operands(computation.caller);
  const int64_t number = module.instruction(parameter).number;
  if (number < 0 || number >= static_cast<int64_t>(operands.size())) return {};
  const uint32_t from = SourceOf(module, operands[static_cast<size_t>(number)]);
  const Instruction& argument = module.instruction(from);
  const std::string place = argument.computation == module.entry()
                                ? std::string("the ENTRY computation")
                                : std::string(module.computation(argument.computation).name);
  return "<br/><i>from " + std::string(argument.name) + " in " + place + "</i>";
}

}  // namespace

std::string Sanitized(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<':
        out.append("&lt;");
        break;
      case '>':
        out.append("&gt;");
        break;
      case '"':
        out.append("&quot;");
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

bool IsSmall(const Shape& shape) {
  constexpr int64_t kSmallElements = 4096;
  return HasType(shape, ElementType::kOpaque) || HasType(shape, ElementType::kToken) ||
         ElementCountRecursive(shape) < kSmallElements;
}

bool IsEffectiveScalar(const Shape& shape) {
  return shape.is_array() && std::all_of(shape.dimensions.begin(), shape.dimensions.end(),
                                         [](int64_t size) { return size == 1; });
}

bool IsFused(const HloModule& module, uint32_t instruction) {
  const Computation& computation = module.computation(module.instruction(instruction).computation);
  return computation.is_fusion && computation.caller != kNone;
}

bool IsFusedScalarBroadcast(const HloModule& module, uint32_t index) {
  if (module.instruction(index).opcode != Opcode::kBroadcast || !IsFused(module, index)) {
    return false;
  }
  const auto operands = module.operands(index);
  return !operands.empty() && module.instruction(operands[0]).opcode == Opcode::kConstant &&
         IsEffectiveScalar(module.shape_of(operands[0]));
}

std::string_view TrivialComputation(const HloModule& module, uint32_t computation) {
  const Computation& called = module.computation(computation);
  if (called.instructions.count != 3 || called.root == kNone) return {};
  const auto operands = module.operands(called.root);
  if (operands.size() != 2 || !IsEffectiveScalar(module.shape_of(called.root))) return {};
  uint64_t numbers = 0;
  for (const uint32_t operand : operands) {
    const Instruction& parameter = module.instruction(operand);
    if (parameter.opcode != Opcode::kParameter || parameter.number < 0 || parameter.number > 1 ||
        !IsEffectiveScalar(module.shape_of(operand))) {
      return {};
    }
    numbers |= uint64_t{1} << parameter.number;
  }
  if (numbers != 3) return {};
  switch (module.instruction(called.root).opcode) {
    case Opcode::kAdd:
      return "add";
    case Opcode::kMultiply:
      return "multiply";
    case Opcode::kMinimum:
      return "min";
    case Opcode::kMaximum:
      return "max";
    case Opcode::kXor:
      return "xor";
    case Opcode::kAnd:
      return "and";
    case Opcode::kOr:
      return "or";
    case Opcode::kCompare: {
      const std::string_view direction = Message(module.instruction(called.root).record).Bytes(63);
      if (direction == "LE") return "less-or-equal";
      if (direction == "GE") return "greater-or-equal";
      if (direction == "GT") return "greater-than";
      if (direction == "LT") return "less-than";
      if (direction == "EQ") return "equal-to";
      return direction == "NE" ? "not-equal-to" : "";
    }
    default:
      return {};
  }
}

std::string NodeTitle(const HloModule& module, uint32_t index) {
  const Instruction& instruction = module.instruction(index);
  if (instruction.opcode == Opcode::kParameter) {
    return "<b>Parameter " + std::to_string(instruction.number) + "</b>" +
           ArgumentText(module, index);
  }
  if (instruction.name.starts_with(instruction.opcode_text)) {
    return "<b>" + Sanitized(instruction.name) + "</b>";
  }
  std::string opcode(instruction.opcode_text);
  if (instruction.opcode == Opcode::kFusion) {
    opcode.append(":").append(Message(instruction.record).Bytes(11));
  }
  return "<b>" + Sanitized(instruction.name) + "</b><br/>" + Sanitized(opcode);
}

std::string NodeTooltip(const HloModule& module, uint32_t index) {
  const Instruction& instruction = module.instruction(index);
  if (instruction.metadata.empty()) return {};
  const OpMetadata metadata = DecodeMetadata(instruction.metadata);
  std::string text;
  const auto line = [&text](const std::string& part) {
    if (!text.empty()) text.push_back('\n');
    text.append(part);
  };
  if (!metadata.op_name.empty()) line(Sanitized(metadata.op_name));
  if (!metadata.op_type.empty()) line("op_type: " + Sanitized(metadata.op_type));
  if (!metadata.source_file.empty() && metadata.source_line != 0) {
    line("source: " + std::string(metadata.source_file) + ":" +
         std::to_string(metadata.source_line));
  }
  for (const SourceFrame& frame : module.Frames(metadata.stack_frame_id)) {
    line(std::string(frame.file) + ":" + std::string(frame.function) + ":" +
         std::to_string(frame.line) +
         (frame.column != 0 ? ":" + std::to_string(frame.column) : std::string()));
  }
  return text;
}

std::string NodeAttributes(const HloModule& module, uint32_t index, bool with_shape,
                           bool groups_as_reference) {
  const Instruction& instruction = module.instruction(index);
  PrintOptions options;
  options.calls = false;
  options.separator = "\x01";
  options.groups_as_reference = groups_as_reference;
  std::string attributes;
  AppendAttributes(module, index, options, &attributes);
  std::vector<std::string> lines;
  size_t at = 0;
  while (at < attributes.size()) {
    const size_t end = std::min(attributes.find('\x01', at + 1), attributes.size());
    std::string line = attributes.substr(at + 1, end - at - 1);
    constexpr size_t kMaxDeviceText = 128;
    if (line.size() > kMaxDeviceText &&
        (line.starts_with("replica_groups=") || line.starts_with("source_target_pairs="))) {
      line = line.substr(0, kMaxDeviceText - 3) + "...";
    }
    lines.push_back(Sanitized(line));
    at = end;
  }
  if (with_shape) {
    const Shape& shape = module.shape_of(index);
    constexpr size_t kMaxShapeText = 64;
    std::string text;
    AppendShape(shape, instruction.opcode != Opcode::kTuple && HasManyDimensions(shape), &text);
    if (text.size() > kMaxShapeText) text = text.substr(0, kMaxShapeText - 3) + "...";
    lines.push_back(Sanitized(text));
  }
  return JoinedLines(lines);
}

std::string NodeBackendConfig(const HloModule& module, uint32_t index, bool always) {
  const Instruction& instruction = module.instruction(index);
  const std::vector<std::string> lines = LibraryCallLines(instruction);
  if (!lines.empty()) return (lines.size() > 1 ? "<br/>" : "") + JoinedLines(lines);
  if (!always || instruction.backend_config.empty()) return {};
  std::string text = "backend_config=\"";
  AppendBackendConfig(instruction.backend_config, &text, /*quoted=*/false);
  return text + "\"";
}

std::string TrivialCalls(const HloModule& module, uint32_t index) {
  if (module.instruction(index).opcode == Opcode::kFusion) return {};
  std::vector<std::string> lines;
  const auto calls = module.calls(index);
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string_view name = TrivialComputation(module, calls[i]);
    if (name.empty()) continue;
    lines.push_back("Subcomputation" + (calls.size() == 1 ? "" : " " + std::to_string(i)) +
                    ": <b>" + std::string(name) + "</b>");
  }
  return JoinedLines(lines);
}

std::string ConstantText(const HloModule& module, uint32_t constant, const Shape& shape) {
  const Shape& own = module.shape_of(constant);
  if (shape.is_array() && ElementCount(shape) == 0) {
    return "{} (" + ShapeTextWithoutLayout(own) + ")";
  }
  constexpr int64_t kMaxElements = 8;
  constexpr size_t kMaxText = 64;
  const Message record(module.instruction(constant).record);
  if (shape.is_array() && ElementCount(own) <= kMaxElements && record.Has(8)) {
    std::string literal;
    AppendLiteral(record.Bytes(8), false, &literal);
    if (literal.size() <= kMaxText) return ShapeTextWithoutLayout(shape) + " " + literal;
  }
  const std::string_view name = module.instruction(constant).name;
  return (name.starts_with("constant") ? "" : "constant ") + std::string(name) + " " +
         ShapeTextWithoutLayout(shape);
}

NodeColor OpcodeColor(const HloModule& module, uint32_t index) {
  switch (module.instruction(index).opcode) {
    // Free outside of fusions, a rearrangement within them.
    case Opcode::kBitcast:
      return IsFused(module, index) ? NodeColor::kGreen : NodeColor::kWhite;
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kReshape:
    case Opcode::kDynamicReshape:
    case Opcode::kReverse:
    case Opcode::kTranspose:
    case Opcode::kCopy:
    case Opcode::kCopyStart:
    case Opcode::kCopyDone:
      return NodeColor::kGreen;
    case Opcode::kBroadcast:
    case Opcode::kDynamicUpdateSlice:
      return NodeColor::kYellow;
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone: {
      const uint32_t computation = AsyncComputation(module, index);
      if (computation == kNone) return NodeColor::kBrown;
      const uint32_t wrapped = module.computation(computation).root;
      return IsAsync(module.instruction(wrapped).opcode) ? NodeColor::kBrown
                                                         : OpcodeColor(module, wrapped);
    }
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kFft:
    case Opcode::kTriangularSolve:
    case Opcode::kCholesky:
      return NodeColor::kDarkBlue;
    case Opcode::kReducePrecision:
      return NodeColor::kRed;
    case Opcode::kParameter:
      return IsSmall(module.shape_of(index)) ? NodeColor::kOrange : NodeColor::kDarkOrange;
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kGather:
    case Opcode::kSelectAndScatter:
      return NodeColor::kPurple;
    case Opcode::kDomain:
    case Opcode::kFusion:
    case Opcode::kMap:
    case Opcode::kGetDimensionSize:
    case Opcode::kSetDimensionSize:
      return NodeColor::kGray;
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllGatherDone:
    case Opcode::kAllReduce:
    case Opcode::kReduceScatter:
    case Opcode::kAllReduceStart:
    case Opcode::kAllReduceDone:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kRaggedAllToAll:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kPartitionId:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kReplicaId:
      return NodeColor::kBrown;
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kCustomCall:
    case Opcode::kWhile:
      return NodeColor::kDarkGreen;
    default:
      return NodeColor::kWhite;
  }
}

}  // namespace strobe::hlo
