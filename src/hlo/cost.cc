#include "src/hlo/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/hlo/category.h"
#include "src/hlo/hlo_order.h"
#include "src/hlo/message.h"

namespace strobe::hlo {
namespace {

constexpr int64_t kPointerBytes = 8;
constexpr float kUnknown = -1;
// Fields of an instruction.
constexpr uint32_t kWindow = 15, kDimensions = 14, kTarget = 28, kDot = 30, kFftLength = 32;

bool HasLayout(const Shape& shape) {
  if (shape.is_tuple()) return std::ranges::all_of(shape.elements, HasLayout);
  return shape.has_layout || !shape.is_array();
}

// What the estimates take as the size of a value: no tiles; a tuple is its table of pointers.
int64_t SizeBytes(const Shape& shape) {
  if (!HasLayout(shape)) return 0;
  if (shape.is_tuple()) return kPointerBytes * static_cast<int64_t>(shape.elements.size());
  if (shape.type == ElementType::kOpaque) return kPointerBytes;
  if (!shape.is_array()) return 0;
  const int64_t bits = shape.layout.element_size_bits;
  const int64_t count = ElementCount(shape);
  return bits > 0 ? (count * bits + 7) / 8 : count * ElementBytes(shape.type);
}

bool InMainMemory(const Shape& shape) { return shape.has_layout && shape.layout.memory_space == 0; }

template <typename Visit>
void ForEachLeaf(const Shape& shape, Visit visit) {
  if (!shape.is_tuple()) return visit(shape);
  for (const Shape& element : shape.elements) ForEachLeaf(element, visit);
}

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

// Sums over a computation, to be taken over by what calls it.
struct Sums {
  float flops = 0;
  float transcendentals = 0;
  float bytes = 0;
};

class CostWalk {
 public:
  CostWalk(const HloModule& module, CostModel model)
      : module_(module),
        gpu_(model == CostModel::kGpu),
        sums_(module.computations().size()),
        utilization_(module.instructions().size(), 0) {
    cost_.instructions.resize(module.instructions().size());
  }

  ModuleCost Run() {
    if (module_.entry() != kNone) Computation(module_.entry());
    return std::move(cost_);
  }

 private:
  // How much of each operand is used, and the bytes of each, while an instruction is worked on.
  struct Work {
    uint32_t index;
    const Instruction* instruction;
    InstructionCost* cost;
    std::vector<float> operand_bytes;
    float output_bytes = 0;
    // Set when the parts of a tuple are known by themselves.
    std::optional<int64_t> tuple_written;
    std::vector<std::optional<int64_t>> tuple_read;
  };

  Sums Computation(uint32_t computation);
  void Visit(uint32_t index);
  void Start(Work* work) const;
  void Handle(Work* work);
  bool HandleMemory(Work* work);
  bool HandleArithmetic(Work* work);
  void HandleCalls(Work* work);
  void HandleFusion(Work* work);
  void HandleCustomCall(Work* work);
  void HandleReduceWindow(Work* work);
  void HandleSelectAndScatter(Work* work);
  void HandleGather(Work* work, uint32_t gather) const;
  void HandleScatter(Work* work, uint32_t scatter);
  void HandleAllReduce(Work* work) const;
  void HandleConcatenate(Work* work) const;
  void Finish(Work* work) const;
  void FusionOutputs(Work* work, uint32_t root);
  void FusionUtilizations(Work* work, uint32_t computation);
  void FusionParameters(Work* work, uint32_t computation);
  float ParameterReadBytes(uint32_t parameter, int depth) const;
  int64_t GenericParameterReadBytes(uint32_t parameter, int depth) const;

  const Shape& ShapeOf(uint32_t index) const { return module_.shape_of(index); }
  int64_t Size(uint32_t index) const { return SizeBytes(ShapeOf(index)); }
  int64_t OperandSize(uint32_t index, size_t operand) const {
    const auto operands = module_.operands(index);
    return operand < operands.size() ? Size(operands[operand]) : 0;
  }
  int64_t OperandElements(uint32_t index, size_t operand) const {
    const auto operands = module_.operands(index);
    return operand < operands.size() ? ElementCount(ShapeOf(operands[operand])) : 0;
  }
  // Of the first part when it is a tuple.
  const Shape& FirstShape(const Shape& shape) const {
    return shape.is_tuple() && !shape.elements.empty() ? shape.elements[0] : shape;
  }
  uint32_t Called(uint32_t index, size_t which) const {
    const auto calls = module_.calls(index);
    return which < calls.size() ? calls[which] : kNone;
  }
  Sums SumsOfCall(uint32_t index, size_t which) {
    const uint32_t computation = Called(index, which);
    return computation == kNone ? Sums() : Computation(computation);
  }
  static void SetNoBytes(Work* work) {
    work->cost->bytes_accessed = 0;
    work->output_bytes = 0;
    std::ranges::fill(work->operand_bytes, 0.0f);
  }
  void SetUtilization(uint32_t index, size_t operand, float share) {
    auto& shares = shares_[index];
    shares.resize(module_.operands(index).size(), 1.0f);
    if (operand < shares.size()) shares[operand] = share;
  }
  float UtilizationOf(uint32_t index, size_t operand) const {
    const auto found = shares_.find(index);
    return found == shares_.end() ? 1.0f : found->second[operand];
  }
  bool IsCompatible(uint32_t index) const;

  const HloModule& module_;
  const bool gpu_;
  ModuleCost cost_;
  std::vector<std::optional<Sums>> sums_;
  std::vector<float> utilization_;                           // of instructions of fusions
  std::unordered_map<uint32_t, std::vector<float>> shares_;  // of operands, where not all 1
  int depth_ = 0;
};

Sums CostWalk::Computation(uint32_t computation) {
  if (sums_[computation].has_value()) return *sums_[computation];
  if (depth_ >= kMaxCallDepth) return Sums();
  sums_[computation] = Sums();  // what a circle finds
  ++depth_;
  Sums sums;
  for (const uint32_t i : InstructionPostOrder(module_, computation)) {
    Visit(i);
    const InstructionCost& cost = cost_.instructions[i];
    sums.flops += cost.flops;
    sums.transcendentals += cost.transcendentals;
    sums.bytes += cost.bytes_accessed;
  }
  --depth_;
  sums_[computation] = sums;
  return sums;
}

void CostWalk::Start(Work* work) const {
  work->cost->visited = true;
  work->output_bytes = static_cast<float>(Size(work->index));
  float bytes = work->output_bytes;
  for (const uint32_t operand : module_.operands(work->index)) {
    const auto size = static_cast<float>(Size(operand));
    bytes += size;
    work->operand_bytes.push_back(size);
  }
  work->tuple_read.resize(work->operand_bytes.size());
  work->cost->bytes_accessed = bytes;
}

// 8-bit numbers are twice as fast as 16-bit ones on most units, 4-bit ones four times.
float FlopDivisor(int bits) { return bits == 8 ? 2.0f : (bits == 4 ? 4.0f : 1.0f); }

void CostWalk::Finish(Work* work) const {
  InstructionCost& cost = *work->cost;
  const auto operands = module_.operands(work->index);
  int bits = 0;
  if (work->instruction->opcode == Opcode::kCustomCall) {
    const std::string_view target = Message(work->instruction->record).Bytes(kTarget);
    if (target.starts_with("__cublas$lt$matmul") && !operands.empty()) {
      bits = ElementBits(ShapeOf(operands[0]).type);
    }
  } else {
    for (const uint32_t operand : operands) {
      bits = std::max(bits, ElementBits(ShapeOf(operand).type));
    }
  }
  cost.device_flops = cost.flops - (cost.flops - cost.flops / FlopDivisor(bits));
  if (static_cast<int64_t>(cost.bytes_accessed) <= 0) return;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = ShapeOf(operands[i]);
    if (work->tuple_read[i].has_value()) {
      cost.bytes_read += *work->tuple_read[i];
    } else if (!shape.is_tuple() && InMainMemory(shape)) {
      cost.bytes_read += static_cast<int64_t>(work->operand_bytes[i]);
    }
  }
  const Shape& shape = ShapeOf(work->index);
  if (work->tuple_written.has_value()) {
    cost.bytes_written = *work->tuple_written;
  } else if (!shape.is_tuple() && InMainMemory(shape)) {
    cost.bytes_written = static_cast<int64_t>(work->output_bytes);
  }
}

void CostWalk::Visit(uint32_t index) {
  if (cost_.instructions[index].visited) return;
  Work work{.index = index,
            .instruction = &module_.instruction(index),
            .cost = &cost_.instructions[index],
            .operand_bytes = {},
            .tuple_written = {},
            .tuple_read = {}};
  Start(&work);
  Handle(&work);
  Finish(&work);
}

void CostWalk::Handle(Work* work) {
  if (HandleMemory(work) || HandleArithmetic(work)) return;
  HandleCalls(work);
}

// Instructions that move bytes, or none.
bool CostWalk::HandleMemory(Work* work) {
  const uint32_t index = work->index;
  switch (work->instruction->opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kDomain:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
      SetNoBytes(work);
      return true;
    case Opcode::kTuple:
      work->cost->bytes_accessed = work->output_bytes;
      std::ranges::fill(work->operand_bytes, 0.0f);
      return true;
    case Opcode::kSlice:
      work->cost->bytes_accessed = static_cast<float>(Size(index) * 2);
      if (!work->operand_bytes.empty()) work->operand_bytes[0] = work->output_bytes;
      SetUtilization(index, 0,
                     static_cast<float>(static_cast<double>(ElementCount(ShapeOf(index))) /
                                        static_cast<double>(OperandElements(index, 0))));
      return true;
    case Opcode::kDynamicSlice:
      work->cost->bytes_accessed = static_cast<float>(Size(index) * 2 + OperandSize(index, 1));
      if (!work->operand_bytes.empty()) work->operand_bytes[0] = work->output_bytes;
      SetUtilization(index, 0,
                     static_cast<float>(static_cast<double>(ElementCount(ShapeOf(index))) /
                                        static_cast<double>(OperandElements(index, 0))));
      return true;
    case Opcode::kDynamicUpdateSlice: {
      const int64_t update = OperandSize(index, 1);
      work->cost->bytes_accessed = static_cast<float>(update * 2 + OperandSize(index, 2));
      work->output_bytes = static_cast<float>(update);
      if (!work->operand_bytes.empty()) work->operand_bytes[0] = 0;
      const auto whole = static_cast<double>(ElementCount(ShapeOf(index)));
      SetUtilization(
          index, 0,
          static_cast<float>((whole - static_cast<double>(OperandElements(index, 1))) / whole));
      return true;
    }
    case Opcode::kInfeed: {
      int64_t size = 0;
      ForEachLeaf(ShapeOf(index), [&](const Shape& leaf) { size += SizeBytes(leaf); });
      work->output_bytes = work->cost->bytes_accessed = static_cast<float>(size);
      work->tuple_written = size;
      return true;
    }
    case Opcode::kOutfeed: {
      float bytes = 0;
      const auto operands = module_.operands(index);
      for (size_t i = 0; i < operands.size(); ++i) {
        int64_t size = 0;
        ForEachLeaf(ShapeOf(operands[i]), [&](const Shape& leaf) { size += SizeBytes(leaf); });
        work->operand_bytes[i] = static_cast<float>(size);
        work->tuple_read[i] = size;
        bytes += static_cast<float>(size);
      }
      work->cost->bytes_accessed = bytes;
      return true;
    }
    case Opcode::kGather:
      HandleGather(work, index);
      return true;
    case Opcode::kScatter:
      HandleScatter(work, index);
      return true;
    default:
      return false;
  }
}

void CostWalk::HandleGather(Work* work, uint32_t gather) const {
  const int64_t output = Size(gather);
  const int64_t indices = OperandSize(gather, 1);
  work->cost->bytes_accessed = static_cast<float>(output * 2 + indices);
  work->output_bytes = static_cast<float>(output);
  if (work->operand_bytes.size() > 1) {
    work->operand_bytes[0] = static_cast<float>(output);
    work->operand_bytes[1] = static_cast<float>(indices);
  }
}

void CostWalk::HandleScatter(Work* work, uint32_t scatter) {
  const size_t count = module_.operands(scatter).size() / 2;
  int64_t updates = 0;
  for (size_t i = 0; i < count; ++i) {
    const int64_t size = OperandSize(scatter, count + 1 + i);
    updates += size;
    if (count + 1 + i >= work->operand_bytes.size()) continue;
    work->operand_bytes[i] = work->operand_bytes[count + 1 + i] = static_cast<float>(size);
  }
  work->cost->bytes_accessed = static_cast<float>(updates * 3 + OperandSize(scatter, count));
  work->output_bytes = static_cast<float>(updates);
  const auto elements = static_cast<float>(OperandElements(scatter, count + 1));
  const Sums applied = SumsOfCall(scatter, 0);
  work->cost->flops = applied.flops * elements;
  work->cost->transcendentals = applied.transcendentals * elements;
}

bool IsTranscendental(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtanh:
    case Opcode::kCosh:
    case Opcode::kSinh:
    case Opcode::kErf:
    case Opcode::kTan:
    case Opcode::kExp:
    case Opcode::kLog:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kSqrt:
    case Opcode::kCbrt:
    case Opcode::kRsqrt:
    case Opcode::kTanh:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kExpm1:
    case Opcode::kLog1p:
    case Opcode::kAtan2:
      return true;
    default:
      return false;
  }
}

int64_t CeilingLog2(int64_t value) {
  return value <= 1 ? 0 : std::bit_width(static_cast<uint64_t>(value - 1));
}

// Instructions whose operations follow from their shapes.
bool CostWalk::HandleArithmetic(Work* work) {
  const uint32_t index = work->index;
  const Instruction& instruction = *work->instruction;
  InstructionCost& cost = *work->cost;
  const Message record(instruction.record);
  switch (instruction.opcode) {
    case Opcode::kDot:
      cost.flops =
          static_cast<float>(module_.operands(index).empty()
                                 ? 0
                                 : DotFlops(ShapeOf(module_.operands(index)[0]), ShapeOf(index),
                                            Message(record.Bytes(kDot)).Ints(1)));
      return true;
    case Opcode::kConvolution:
      cost.flops = static_cast<float>(ConvolutionFlops(module_, index, ShapeOf(index)));
      return true;
    case Opcode::kFft: {
      int64_t factors = 1;
      for (const int64_t length : record.Ints(kFftLength)) {
        factors *= length < 1 ? 0 : std::bit_width(static_cast<uint64_t>(length)) - 1;
      }
      cost.flops = static_cast<float>(8 * factors * OperandElements(index, 0));
      return true;
    }
    case Opcode::kTriangularSolve:
    case Opcode::kCholesky: {
      if (module_.operands(index).empty()) return true;
      const Shape& a = ShapeOf(module_.operands(index)[0]);
      const int64_t n = a.dimensions.empty() ? 0 : a.dimensions.back();
      const float half = static_cast<float>(SizeBytes(a)) / 2.0f;
      if (instruction.opcode == Opcode::kCholesky) {
        cost.bytes_accessed = half + half;
        cost.flops = static_cast<float>(n * ElementCount(a) / 3);
        return true;
      }
      cost.bytes_accessed = work->output_bytes + half + static_cast<float>(OperandSize(index, 1));
      cost.flops = static_cast<float>(2 * n * OperandElements(index, 1));
      return true;
    }
    case Opcode::kSort: {
      const int64_t elements = OperandElements(index, 0);
      cost.flops = static_cast<float>(elements * CeilingLog2(elements));
      return true;
    }
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
      cost.transcendentals = static_cast<float>(ElementCountRecursive(ShapeOf(index)));
      return true;
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      HandleAllReduce(work);
      return true;
    case Opcode::kConcatenate:
      if (gpu_) HandleConcatenate(work);
      return true;
    case Opcode::kConstant:
    case Opcode::kMap:
    case Opcode::kFusion:
    case Opcode::kCopy:
      return instruction.opcode == Opcode::kCopy;
    default:
      break;
  }
  if (!IsElementwise(module_, index)) return false;
  const Shape& shape = ShapeOf(index);
  if (gpu_) {
    cost.flops = static_cast<float>(CyclesPerElement(instruction.opcode, shape.type) *
                                    ElementCountRecursive(shape));
  } else if (IsTranscendental(instruction.opcode)) {
    cost.transcendentals = static_cast<float>(ElementCount(shape));
  } else {
    cost.flops = static_cast<float>(ElementCount(shape));
  }
  return true;
}

void CostWalk::HandleAllReduce(Work* work) const {
  const Shape& shape = ShapeOf(work->index);
  int64_t output = 0;
  int64_t elements = 0;
  ForEachLeaf(shape, [&](const Shape& leaf) {
    if (!leaf.is_array()) return;
    output += SizeBytes(leaf);
    elements += ElementCount(leaf);
  });
  int64_t bytes = output;
  for (const uint32_t operand : module_.operands(work->index)) bytes += Size(operand);
  work->output_bytes = static_cast<float>(output);
  work->cost->bytes_accessed = static_cast<float>(bytes);
  if (!gpu_) {
    work->cost->flops = static_cast<float>(elements);
    return;
  }
  const uint32_t reducer = Called(work->index, 0);
  const Opcode opcode = reducer == kNone || module_.computation(reducer).root == kNone
                            ? Opcode::kUnknown
                            : module_.instruction(module_.computation(reducer).root).opcode;
  work->cost->flops = static_cast<float>(CyclesPerElement(opcode, shape.type) * elements);
}

void CostWalk::HandleConcatenate(Work* work) const {
  const std::vector<int64_t> dimensions = Message(work->instruction->record).Ints(kDimensions);
  const int64_t dimension = dimensions.empty() ? 0 : dimensions[0];
  // A comparison and a branch an element; where a warp straddles operands it runs both branches,
  // for which this stands.
  constexpr int64_t kBranch = 6, kDivergent = 400, kWarp = 32;
  int64_t cycles = kBranch;
  if (dimension > 0) {
    for (const uint32_t operand : module_.operands(work->index)) {
      const Shape& shape = ShapeOf(operand);
      if (static_cast<size_t>(dimension) < shape.dimensions.size() &&
          shape.dimensions[static_cast<size_t>(dimension)] % kWarp != 0) {
        cycles = kDivergent;
      }
    }
  }
  work->cost->flops = static_cast<float>(cycles * ElementCountRecursive(ShapeOf(work->index)));
}

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
      return times(SumsOfCall(index, 0),
                   OperandElements(index, 0) - ElementCount(FirstShape(ShapeOf(index))));
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
      const auto size = static_cast<float>(SizeBytes(output));
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

void CostWalk::HandleFusion(Work* work) {
  const uint32_t computation = Called(work->index, 0);
  if (computation == kNone || module_.computation(computation).root == kNone) return;
  const uint32_t root = module_.computation(computation).root;
  if (Message(work->instruction->record).Bytes(11) == "kCustom") {
    const Range inside = module_.computation(computation).instructions;
    for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
      if (module_.instruction(i).opcode == Opcode::kGather) return HandleGather(work, i);
      if (module_.instruction(i).opcode == Opcode::kScatter) return HandleScatter(work, i);
    }
  }
  const Sums sums = Computation(computation);
  work->cost->flops = sums.flops;
  work->cost->transcendentals = sums.transcendentals;
  FusionOutputs(work, root);
  if (gpu_) {
    FusionUtilizations(work, computation);
  } else {
    const Range inside = module_.computation(computation).instructions;
    for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) utilization_[i] = 1;
  }
  FusionParameters(work, computation);
}

void CostWalk::FusionOutputs(Work* work, uint32_t root) {
  InstructionCost& cost = *work->cost;
  cost.bytes_accessed = 0;
  // What is updated in place writes the update only.
  const auto written = [&](uint32_t part, const Shape& shape) {
    if (part != kNone && module_.instruction(part).opcode == Opcode::kDynamicUpdateSlice) {
      SetUtilization(part, 0, 0.0f);
      return OperandSize(part, 1);
    }
    return SizeBytes(shape);
  };
  const Shape& shape = ShapeOf(work->index);
  if (!shape.is_tuple()) {
    const int64_t size = shape.is_array() ? written(root, shape) : 0;
    cost.bytes_accessed += static_cast<float>(size);
    work->output_bytes = static_cast<float>(size);
    return;
  }
  const bool root_is_tuple = module_.instruction(root).opcode == Opcode::kTuple;
  const auto parts = module_.operands(root);
  float output = 0;
  int64_t in_main_memory = 0;
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    const Shape& element = shape.elements[i];
    if (element.is_array()) {
      const int64_t size = written(root_is_tuple && i < parts.size() ? parts[i] : kNone, element);
      cost.bytes_accessed += static_cast<float>(size);
      output += static_cast<float>(size);
      if (InMainMemory(element)) in_main_memory += size;
      continue;
    }
    ForEachLeaf(element, [&](const Shape& leaf) {
      const int64_t size = leaf.is_array() ? SizeBytes(leaf) : 0;
      cost.bytes_accessed += static_cast<float>(size);
      output += static_cast<float>(size);
      if (InMainMemory(leaf)) in_main_memory += size;
    });
  }
  work->output_bytes = output;
  work->tuple_written = in_main_memory;
}

// How often each instruction inside is computed: from the root down, an elementwise user passes on
// its own; any other user asks for as much of its operand as it uses.
void CostWalk::FusionUtilizations(Work* work, uint32_t computation) {
  const uint32_t root = module_.computation(computation).root;
  std::vector<uint32_t> order = InstructionPostOrder(module_, computation);
  std::ranges::reverse(order);
  std::unordered_map<uint32_t, std::set<uint32_t>> roots;  // whose use is elementwise down to here
  std::unordered_map<uint32_t, float> root_utilization;
  for (const uint32_t i : order) utilization_[i] = 0;
  root_utilization[root] = 1;
  roots[root].insert(root);
  float flops = 0;
  for (const uint32_t i : order) {
    const std::set<uint32_t>& own_roots = roots[i];
    for (const uint32_t r : own_roots) utilization_[i] += root_utilization[r];
    flops += utilization_[i] * cost_.instructions[i].flops;
    const Opcode opcode = module_.instruction(i).opcode;
    const bool passes_on =
        opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement || IsElementwise(module_, i);
    const auto operands = module_.operands(i);
    for (size_t o = 0; o < operands.size(); ++o) {
      const uint32_t operand = operands[o];
      if (passes_on) {
        if (operand != i) roots[operand].insert(own_roots.begin(), own_roots.end());
        continue;
      }
      roots[operand].insert(operand);
      const int64_t elements = ElementCountRecursive(ShapeOf(operand));
      float share = utilization_[i] * UtilizationOf(i, o);
      share = elements == 0 ? 0.0f
                            : static_cast<float>(std::ceil(share * static_cast<float>(elements)) /
                                                 static_cast<float>(elements));
      root_utilization[operand] += share;
    }
  }
  work->cost->flops = flops;
}

float CostWalk::ParameterReadBytes(uint32_t parameter, int depth) const {
  if (!gpu_) return static_cast<float>(GenericParameterReadBytes(parameter, depth));
  const float used = std::min(utilization_[parameter], 1.0f);
  return std::trunc(static_cast<float>(Size(parameter)) * used);
}

int64_t CostWalk::GenericParameterReadBytes(uint32_t parameter, int depth) const {
  int64_t size = 0;
  bool whole = false;  // read in full once, however many users
  const auto read_whole = [&] {
    if (!whole) size += Size(parameter);
    whole = true;
  };
  for (const uint32_t user : module_.users(parameter)) {
    const auto operands = module_.operands(user);
    switch (module_.instruction(user).opcode) {
      case Opcode::kFusion: {
        const uint32_t computation = Called(user, 0);
        if (computation == kNone || depth == 0) break;
        const Range inside = module_.computation(computation).instructions;
        for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
          const Instruction& inner = module_.instruction(i);
          if (inner.opcode != Opcode::kParameter || inner.number < 0 ||
              static_cast<size_t>(inner.number) >= operands.size() ||
              operands[static_cast<size_t>(inner.number)] != parameter) {
            continue;
          }
          size += GenericParameterReadBytes(i, depth - 1);
        }
        break;
      }
      case Opcode::kSlice:
        size += Size(user);
        break;
      case Opcode::kDynamicSlice:
        if (operands[0] == parameter) {
          size += Size(user);
        } else {
          read_whole();
        }
        break;
      case Opcode::kDynamicUpdateSlice:
        if (operands[0] != parameter) read_whole();
        break;
      case Opcode::kBroadcast:
      case Opcode::kReshape:
        size += Size(parameter);
        break;
      default:
        read_whole();
        break;
    }
  }
  return size;
}

void CostWalk::FusionParameters(Work* work, uint32_t computation) {
  InstructionCost& cost = *work->cost;
  const Range inside = module_.computation(computation).instructions;
  // Constants of more elements than these are read from memory.
  const int64_t immediate = gpu_ ? 8 : 1;
  for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
    if (module_.instruction(i).opcode != Opcode::kConstant) continue;
    if (ElementCount(ShapeOf(i)) <= immediate) continue;
    cost.bytes_accessed += static_cast<float>(Size(i)) * std::min(utilization_[i], 1.0f);
  }
  std::vector<uint32_t> parameters(work->operand_bytes.size(), kNone);
  for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
    const Instruction& inner = module_.instruction(i);
    if (inner.opcode == Opcode::kParameter && inner.number >= 0 &&
        static_cast<size_t>(inner.number) < parameters.size()) {
      parameters[static_cast<size_t>(inner.number)] = i;
    }
  }
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (parameters[p] == kNone) continue;
    const Shape& shape = ShapeOf(parameters[p]);
    int64_t size = 0;
    if (!shape.is_tuple()) {
      size = static_cast<int64_t>(ParameterReadBytes(parameters[p], kMaxCallDepth));
    } else {
      int64_t in_main_memory = 0;
      for (const uint32_t user : module_.users(parameters[p])) {
        if (module_.instruction(user).opcode != Opcode::kGetTupleElement) continue;
        const auto part = static_cast<int64_t>(ParameterReadBytes(user, kMaxCallDepth));
        size += part;
        if (InMainMemory(ShapeOf(user))) in_main_memory += part;
      }
      work->tuple_read[p] = in_main_memory;
    }
    cost.bytes_accessed += static_cast<float>(size);
    work->operand_bytes[p] = static_cast<float>(size);
  }
}

}  // namespace

ModuleCost CostOf(const HloModule& module, CostModel model) {
  return CostWalk(module, model).Run();
}

}  // namespace strobe::hlo
