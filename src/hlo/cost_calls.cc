// Costs of instructions that run other computations, or libraries.
#include <algorithm>
#include <string_view>

#include "src/hlo/cost_walk.h"

namespace strobe::hlo {
namespace {

constexpr float kUnknown = -1;
// Fields of an instruction.
constexpr uint32_t kWindow = 15, kTarget = 28;

bool IsGemm(std::string_view target) {
  return target == "__cublas$gemm" || target.starts_with("__cublas$lt$matmul");
}

bool IsConvolutionCall(std::string_view target) {
  return target == "__cudnn$convForward" || target == "__cudnn$convBackwardInput" ||
         target == "__cudnn$convBackwardFilter" || target == "__cudnn$convBiasActivationForward" ||
         target == "__cudnn$convForwardGraph";
}

// The numbers of "name":["1","2"] in the settings of a library call.
std::vector<int64_t> NumbersOf(std::string_view config, std::string_view name) {
  std::vector<int64_t> numbers;
  const size_t at = config.find(name);
  if (at == std::string_view::npos) return numbers;
  const size_t open = config.find('[', at);
  const size_t close = config.find(']', at);
  if (open == std::string_view::npos || close == std::string_view::npos) return numbers;
  int64_t number = -1;
  for (const char c : config.substr(open, close - open + 1)) {
    if (c >= '0' && c <= '9') {
      // A dimension has few digits; what is more is no dimension.
      number = std::min<int64_t>(1'000'000, std::max<int64_t>(number, 0) * 10 + (c - '0'));
    } else if (number >= 0) {
      numbers.push_back(number);
      number = -1;
    }
  }
  return numbers;
}

}  // namespace

// Instructions that run other computations.
void CostWalk::HandleCalls(Work* work) {
  const uint32_t index = work->index;
  InstructionCost& cost = *work->cost;
  const auto times = [&cost](const Sums& sums, int64_t count) {
    cost.flops = sums.flops * static_cast<float>(count);
    cost.transcendentals = sums.transcendentals * static_cast<float>(count);
  };
  const auto take = [&cost](const Sums& sums) {
    cost.flops = sums.flops;
    cost.transcendentals = sums.transcendentals;
    cost.bytes_accessed = sums.bytes;
  };
  switch (work->instruction->opcode) {
    case Opcode::kFusion:
      return HandleFusion(work);
    case Opcode::kCustomCall:
      return HandleCustomCall(work);
    case Opcode::kMap:
      return times(SumsOfCall(index, 0), ElementCount(ShapeOf(index)));
    case Opcode::kReduce:
      return HandleReduce(work);
    case Opcode::kReduceWindow:
      return HandleReduceWindow(work);
    case Opcode::kSelectAndScatter:
      return HandleSelectAndScatter(work);
    case Opcode::kCall:
    case Opcode::kAsyncStart:
      return take(SumsOfCall(index, 0));
    case Opcode::kWhile: {
      Sums sums = SumsOfCall(index, 0);
      const Sums other = SumsOfCall(index, 1);
      sums.flops += other.flops;
      sums.transcendentals += other.transcendentals;
      sums.bytes += other.bytes;
      return take(sums);
    }
    case Opcode::kConditional: {
      Sums most;
      for (size_t i = 0; i < module_.calls(index).size(); ++i) {
        const Sums branch = SumsOfCall(index, i);
        most.flops = std::max(most.flops, branch.flops);
        most.transcendentals = std::max(most.transcendentals, branch.transcendentals);
        most.bytes = std::max(most.bytes, branch.bytes);
      }
      return take(most);
    }
    default:
      return;
  }
}

void CostWalk::HandleReduce(Work* work) {
  const uint32_t index = work->index;
  const int64_t output = ElementCount(FirstShape(ShapeOf(index)));
  const auto count = static_cast<float>(OperandElements(index, 0) - output);
  const Sums sums = SumsOfCall(index, 0);
  work->cost->flops = sums.flops * count;
  work->cost->transcendentals = sums.transcendentals * count;
  if (!gpu_) return;
  // Each result begins with the initial value, so that is read, and computed, as often.
  int64_t bytes = 0;
  ForEachLeaf(ShapeOf(index), [&](const Shape& leaf) { bytes += CostSizeBytes(leaf); });
  work->output_bytes = static_cast<float>(bytes);
  const auto operands = module_.operands(index);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i >= operands.size() / 2) {
      work->operand_bytes[i] = static_cast<float>(output * ElementBytes(ShapeOf(operands[i]).type));
      SetUtilization(index, i, static_cast<float>(output));
    }
    bytes += static_cast<int64_t>(work->operand_bytes[i]);
  }
  work->cost->bytes_accessed = static_cast<float>(bytes);
}

void CostWalk::HandleReduceWindow(Work* work) {
  const auto windows = Message(Message(work->instruction->record).Bytes(kWindow)).All(1);
  const Shape& shape = FirstShape(ShapeOf(work->index));
  int64_t window_elements = 1;
  int reducing = 0;
  int padded = 0;
  ptrdiff_t broadcast = -1;  // a dimension that is reduced whole and spread again
  for (size_t d = 0; d < windows.size(); ++d) {
    const Message window(windows[d]);
    const int64_t size = window.Int(1);
    const int64_t low = window.Int(3);
    const int64_t high = window.Int(4);
    window_elements *= size;
    reducing += size != 1;
    padded += low != 0 || high != 0;
    if (broadcast < 0 && size != 1 && low != 0 && low == high && size == 2 * low + 1 &&
        d < shape.dimensions.size() && low == shape.dimensions[d] - 1) {
      broadcast = static_cast<ptrdiff_t>(d);
    }
  }
  const int64_t output = ElementCount(shape);
  int64_t count = (window_elements - 1) * output;
  if (reducing == 1 && padded == 1 && broadcast >= 0 && ShapeOf(work->index).is_array()) {
    const int64_t size = shape.dimensions[static_cast<size_t>(broadcast)];
    count = output / std::max<int64_t>(1, size) + (size - 1);
  }
  const Sums sums = SumsOfCall(work->index, 0);
  work->cost->flops = sums.flops * static_cast<float>(count);
  work->cost->transcendentals = sums.transcendentals * static_cast<float>(count);
}

void CostWalk::HandleSelectAndScatter(Work* work) {
  int64_t window_elements = 1;
  for (const auto window : Message(Message(work->instruction->record).Bytes(kWindow)).All(1)) {
    window_elements *= Message(window).Int(1);
  }
  const int64_t source = OperandElements(work->index, 1);
  const Sums select = SumsOfCall(work->index, 0);
  const Sums scatter = SumsOfCall(work->index, 1);
  const auto selections = static_cast<float>(source * (window_elements - 1));
  work->cost->flops = select.flops * selections + scatter.flops * static_cast<float>(source);
  work->cost->transcendentals =
      select.transcendentals * selections + scatter.transcendentals * static_cast<float>(source);
}

// A setting that the reference's compiler no longer has: it refuses the whole of them.
bool CostWalk::IsCompatible(uint32_t index) const {
  return module_.instruction(index).backend_config.find("\"mx_mode\"") == std::string_view::npos;
}

void CostWalk::HandleCustomCall(Work* work) {
  const std::string_view target = Message(work->instruction->record).Bytes(kTarget);
  const auto operands = module_.operands(work->index);
  const Shape& output = FirstShape(ShapeOf(work->index));
  InstructionCost& cost = *work->cost;
  if (gpu_ && IsGemm(target) && operands.size() >= 2) {
    if (!IsCompatible(work->index)) cost_.reference_fails = true;
    cost.flops = static_cast<float>(
        DotFlops(ShapeOf(operands[0]), output,
                 NumbersOf(work->instruction->backend_config, "lhs_contracting_dimensions")));
    return;
  }
  if (gpu_ && IsConvolutionCall(target) && operands.size() >= 2) {
    cost.flops = static_cast<float>(ConvolutionFlops(module_, work->index, output));
    if (ShapeOf(work->index).is_tuple()) {
      // The second part of the result is scratch memory.
      const auto size = static_cast<float>(CostSizeBytes(output));
      cost.bytes_accessed -= work->output_bytes;
      cost.bytes_accessed += size;
      work->output_bytes = size;
    }
    return;
  }
  cost.known = false;
  cost.flops = kUnknown;
  cost.bytes_accessed = kUnknown;
}

}  // namespace strobe::hlo
