#include "src/analysis/hlo_ops.h"

#include <optional>
#include <utility>

#include "src/hlo/category.h"
#include "src/hlo/hlo_order.h"
#include "src/hlo/hlo_printer.h"

namespace strobe::analysis {
namespace {

// Expressions of custom calls can be hundreds of megabytes.
constexpr size_t kMaxExpressionBytes = 1'000'000;
// Real modules nest fusions 3 deep; a circle in a damaged module ends here.
constexpr int kMaxFusionDepth = 16;

std::string FullName(const hlo::OpMetadata& metadata) {
  if (metadata.op_name.empty() && metadata.op_type.empty()) return {};
  return std::string(metadata.op_name) + ":" + std::string(metadata.op_type);
}

void SetSource(const hlo::HloModule& module, const hlo::OpMetadata& metadata, OpMetrics* op) {
  const std::vector<hlo::SourceFrame> frames = module.Frames(metadata.stack_frame_id);
  for (const hlo::SourceFrame& frame : frames) {
    op->source_stack += std::string(frame.file) + ":" + std::to_string(frame.line) + ":" +
                        std::to_string(frame.column) + "\n";
  }
  if (!metadata.source_file.empty()) {
    op->source_line = static_cast<int32_t>(metadata.source_line);
    op->source_file =
        std::string(metadata.source_file) + ":" + std::to_string(metadata.source_line);
  } else if (!frames.empty()) {
    op->source_line = static_cast<int32_t>(frames[0].line);
    op->source_file = std::string(frames[0].file) + ":" + std::to_string(frames[0].line);
  } else {
    op->source_line = -1;
  }
}

void SetCost(const hlo::InstructionCost& cost, OpMetrics* op) {
  if (!cost.known) return;
  op->model_flops = static_cast<double>(static_cast<int64_t>(cost.flops));
  op->flops = static_cast<double>(static_cast<int64_t>(cost.device_flops));
  op->bytes_accessed = static_cast<uint64_t>(std::max(0.0f, cost.bytes_accessed));
  const auto hbm = static_cast<uint64_t>(MemorySpace::kHbm);
  if (cost.bytes_read > 0) {
    op->memory_accessed.push_back({hbm, false, static_cast<uint64_t>(cost.bytes_read)});
  }
  if (cost.bytes_written > 0) {
    op->memory_accessed.push_back({hbm, true, static_cast<uint64_t>(cost.bytes_written)});
  }
}

}  // namespace

std::string HloExpression(const hlo::HloModule& module, uint32_t instruction) {
  hlo::PrintOptions options;
  options.backend_config = false;
  options.operand_shapes = true;
  std::string text;
  hlo::AppendInstruction(module, instruction, options, &text);
  if (text.size() > kMaxExpressionBytes) text.resize(kMaxExpressionBytes);
  return text;
}

HloOps::Program& HloOps::ProgramOf(uint64_t program_id) {
  const auto [at, is_new] = programs_.try_emplace(program_id);
  if (!is_new) return at->second;
  const std::optional<size_t> index = modules_.FindProgram(program_id);
  if (!index) return at->second;
  Result<std::shared_ptr<const hlo::HloModule>> module = modules_.Module(*index);
  if (!module.ok()) return at->second;  // the tools of modules say why
  at->second.module = *module;
  if (with_cost_ == kWithCost) at->second.cost = hlo::CostOf(**module, hlo::CostModel::kGpu);
  return at->second;
}

const OpMetrics& HloOps::OpOf(Program* program, uint64_t program_id, uint32_t instruction) {
  const auto [at, is_new] = program->ops.try_emplace(instruction);
  OpMetrics& op = at->second;
  if (!is_new) return op;
  const hlo::HloModule& module = *program->module;
  const hlo::OpMetadata metadata = hlo::DecodeMetadata(module.instruction(instruction).metadata);
  op.hlo_module_id = program_id;
  op.name = module.instruction(instruction).name;
  op.category = hlo::HloCategoryOf(module, instruction);
  op.provenance = FullName(metadata);
  op.deduplicated_name = metadata.deduplicated_name;
  op.long_name = HloExpression(module, instruction);
  SetSource(module, metadata, &op);
  if (!program->cost.instructions.empty()) {
    SetCost(program->cost.instructions[instruction], &op);
    op.reference_lacks_cost = program->cost.reference_fails;
  }
  return op;
}

const OpMetrics* HloOps::Find(uint64_t program_id, std::string_view name) {
  const std::lock_guard lock(mutex_);
  Program& program = ProgramOf(program_id);
  if (program.module == nullptr) return nullptr;
  const uint32_t instruction = program.module->FindInstruction(name);
  return instruction == hlo::kNone ? nullptr : &OpOf(&program, program_id, instruction);
}

void HloOps::AddInside(const hlo::HloModule& module, uint32_t fusion, int depth,
                       OpMetricsDb* into) const {
  const auto calls = module.calls(fusion);
  if (calls.empty() || depth == 0) return;
  for (const uint32_t i : hlo::InstructionPostOrder(module, calls[0])) {
    const hlo::Instruction& instruction = module.instruction(i);
    if (instruction.opcode == hlo::Opcode::kParameter ||
        instruction.opcode == hlo::Opcode::kTuple) {
      continue;
    }
    const hlo::OpMetadata metadata = hlo::DecodeMetadata(instruction.metadata);
    OpMetrics& child = into->ops.emplace_back();
    child.name = instruction.name;
    child.category = hlo::HloCategoryOf(module, i);
    child.deduplicated_name = metadata.deduplicated_name;
    child.provenance = std::string(metadata.op_name) + ":" + std::string(metadata.op_type);
    child.num_cores = 1;
    child.occurrences = 1;
    child.long_name = HloExpression(module, i);
    if (instruction.opcode != hlo::Opcode::kFusion) continue;
    auto inside = std::make_shared<OpMetricsDb>();
    AddInside(module, i, depth - 1, inside.get());
    if (!inside->ops.empty()) child.children = std::move(inside);
  }
}

void HloOps::AddFusedChildren(OpMetrics* op) {
  const std::lock_guard lock(mutex_);
  Program& program = ProgramOf(op->hlo_module_id);
  if (program.module == nullptr) return;
  const uint32_t instruction = program.module->FindInstruction(op->name);
  if (instruction == hlo::kNone ||
      program.module->instruction(instruction).opcode != hlo::Opcode::kFusion) {
    return;
  }
  auto children = op->children == nullptr ? std::make_shared<OpMetricsDb>()
                                          : std::make_shared<OpMetricsDb>(*op->children);
  AddInside(*program.module, instruction, kMaxFusionDepth, children.get());
  if (!children->ops.empty()) op->children = std::move(children);
}

}  // namespace strobe::analysis
