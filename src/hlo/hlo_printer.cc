#include "src/hlo/hlo_printer.h"

#include <optional>

#include "src/hlo/attribute_text.h"
#include "src/hlo/hlo_order.h"
#include "src/hlo/literal.h"

namespace strobe::hlo {
namespace {

constexpr size_t kNumberEvery = 5;  // operands

void AppendName(std::string_view name, const PrintOptions& options, std::string* out) {
  if (options.percent) out->push_back('%');
  out->append(name);
}

void AppendOperands(const HloModule& module, uint32_t index, const PrintOptions& options,
                    std::string* out) {
  const Instruction& instruction = module.instruction(index);
  if (instruction.opcode == Opcode::kConstant) {
    const Message record(instruction.record);
    if (record.Has(kLiteralTextField)) {
      out->append(record.Bytes(kLiteralTextField));
    } else {
      AppendLiteral(record.Bytes(8), options.large_constants, out);
    }
    return;
  }
  if (instruction.opcode == Opcode::kParameter) {
    out->append(std::to_string(instruction.number));
    return;
  }
  const auto operands = module.operands(index);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) out->append(", ");
    if (options.operand_numbers && i > 0 && i % kNumberEvery == 0) {
      out->append("/*index=").append(std::to_string(i)).append("*/");
    }
    if (options.operand_shapes) {
      AppendShape(module.shape_of(operands[i]), true, out);
      out->push_back(' ');
    }
    AppendName(module.instruction(operands[i]).name, options, out);
  }
}

// "(p0: f32[8], p1: s32[]) -> f32[8]" of a computation.
void AppendSignature(const HloModule& module, const Computation& computation, std::string* out) {
  // Parameters by number; damaged numbers keep the order of the file.
  std::vector<uint32_t> parameters;
  const Range range = computation.instructions;
  for (uint32_t i = range.first; i < range.first + range.count; ++i) {
    if (module.instruction(i).opcode == Opcode::kParameter) parameters.push_back(i);
  }
  std::vector<uint32_t> sorted = parameters;
  for (const uint32_t p : parameters) {
    const int64_t number = module.instruction(p).number;
    if (number >= 0 && number < static_cast<int64_t>(sorted.size())) {
      sorted[static_cast<size_t>(number)] = p;
    }
  }
  out->push_back('(');
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0) out->append(", ");
    out->append(module.instruction(sorted[i]).name).append(": ");
    AppendShape(module.shape_of(sorted[i]), false, out);
  }
  out->append(") -> ");
  AppendShape(module.shape_of(computation.root), false, out);
}

void AppendFrameTables(const StackFrames& frames, std::string* out) {
  const auto names = [out](std::string_view title, const std::vector<std::string_view>& table) {
    out->append(title).push_back('\n');
    for (size_t i = 0; i < table.size(); ++i) {
      out->append(std::to_string(i + 1)).append(" \"");
      AppendEscaped(table[i], out);
      out->append("\"\n");
    }
    out->push_back('\n');
  };
  names("FileNames", frames.files);
  names("FunctionNames", frames.functions);
  out->append("FileLocations\n");
  for (size_t i = 0; i < frames.locations.size(); ++i) {
    const StackFrames::Location& at = frames.locations[i];
    out->append(std::to_string(i + 1));
    out->append(" {file_name_id=" + std::to_string(at.file) +
                " function_name_id=" + std::to_string(at.function) +
                " line=" + std::to_string(at.line) + " end_line=" + std::to_string(at.end_line) +
                " column=" + std::to_string(at.column) +
                " end_column=" + std::to_string(at.end_column) + "}\n");
  }
  out->append("\nStackFrames\n");
  for (size_t i = 0; i < frames.frames.size(); ++i) {
    // The text counts parents from 1 where the bytes say 0 for none.
    out->append(std::to_string(i + 1));
    out->append(" {file_location_id=" + std::to_string(frames.frames[i].location) +
                " parent_frame_id=" + std::to_string(frames.frames[i].parent + 1) + "}\n");
  }
  out->append("\n\n");
}

std::vector<Shape> ProgramShapes(std::string_view program_shape, Shape* result) {
  std::vector<Shape> parameters;
  int64_t budget = 1'000'000;  // shapes of one signature
  const Message message(program_shape);
  for (const std::string_view bytes : message.All(1)) {
    Result<Shape> shape = ParseShapeMessage(bytes, &budget);
    if (!shape.ok()) return parameters;
    parameters.push_back(std::move(*shape));
  }
  Result<Shape> shape = ParseShapeMessage(message.Bytes(2), &budget);
  if (shape.ok()) *result = std::move(*shape);
  return parameters;
}

void AppendAliases(const Message& module, std::string* out) {
  const auto aliases = Message(module.Bytes(8)).All(1);
  if (!aliases.empty()) {
    out->append(", input_output_alias={ ");
    for (size_t i = 0; i < aliases.size(); ++i) {
      const Message entry(aliases[i]);
      if (i > 0) out->append(", ");
      AppendBraced(entry.Ints(1), out);
      out->append(": (" + std::to_string(entry.Int(2)) + ", ");
      AppendBraced(entry.Ints(3), out);
      out->append(entry.Int(4) == 2 ? ", must-alias)" : ", may-alias)");
    }
    out->append(" }");
  }
  const auto donors = Message(module.Bytes(18)).All(1);
  if (donors.empty()) return;
  out->append(", buffer_donor={ ");
  for (size_t i = 0; i < donors.size(); ++i) {
    const Message entry(donors[i]);
    if (i > 0) out->append(", ");
    out->append("(" + std::to_string(entry.Int(1)) + ", ");
    AppendBraced(entry.Ints(2), out);
    out->push_back(')');
  }
  out->append(" }");
}

void AppendHeader(const HloModule& module, std::string* out) {
  const Message record(module.record());
  out->append("HloModule ").append(module.name());
  if (module.is_scheduled()) out->append(", is_scheduled=true");
  AppendAliases(record, out);
  if (record.Has(4)) {
    Shape result;
    const std::vector<Shape> parameters = ProgramShapes(record.Bytes(4), &result);
    out->append(", entry_computation_layout={(");
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (i > 0) out->append(", ");
      if (i > 0 && i % kNumberEvery == 0) {
        out->append("/*index=").append(std::to_string(i)).append("*/");
      }
      AppendShape(parameters[i], true, out);
    }
    out->append(")->");
    AppendShape(result, true, out);
    out->push_back('}');
  }
  out->append(record.Bytes(kHeaderTextField));
  std::string frontend;
  if (AppendFrontendAttributes(record.Bytes(19), &frontend)) {
    out->append(", frontend_attributes=").append(frontend);
  }
  out->append("\n\n");
}

bool IsSingleInstruction(const HloModule& module, uint32_t computation) {
  const Computation& called = module.computation(computation);
  for (uint32_t i = called.instructions.first;
       i < called.instructions.first + called.instructions.count; ++i) {
    if (i != called.root && module.instruction(i).opcode != Opcode::kParameter) return false;
  }
  return true;
}

}  // namespace

uint32_t AsyncComputation(const HloModule& module, uint32_t instruction) {
  // A done follows its updates to the start. The chain is short; a circle ends at the bound.
  constexpr int kMaxChain = 1000;
  uint32_t at = instruction;
  for (int step = 0; step < kMaxChain && IsAsync(module.instruction(at).opcode); ++step) {
    if (!module.calls(at).empty()) return module.calls(at)[0];
    if (module.operands(at).empty()) return kNone;
    at = module.operands(at)[0];
  }
  return kNone;
}

uint32_t AsyncWrapped(const HloModule& module, uint32_t instruction) {
  if (!IsAsync(module.instruction(instruction).opcode)) return kNone;
  const uint32_t computation = AsyncComputation(module, instruction);
  if (computation == kNone || !IsSingleInstruction(module, computation)) return kNone;
  return module.computation(computation).root;
}

std::string ShownOpcode(const HloModule& module, uint32_t index) {
  const Instruction& instruction = module.instruction(index);
  const uint32_t wrapped = AsyncWrapped(module, index);
  if (wrapped == kNone) return std::string(instruction.opcode_text);
  std::string text(module.instruction(wrapped).opcode_text);
  text.append(instruction.opcode == Opcode::kAsyncStart    ? "-start"
              : instruction.opcode == Opcode::kAsyncUpdate ? "-update"
                                                           : "-done");
  return text;
}

void AppendInstruction(const HloModule& module, uint32_t index, const PrintOptions& options,
                       std::string* out, const FrameTable* frames) {
  const Instruction& instruction = module.instruction(index);
  AppendName(instruction.name, options, out);
  out->append(" = ");
  AppendShape(module.shape_of(index), true, out);
  out->push_back(' ');
  if (IsAsync(instruction.opcode)) {
    out->append(ShownOpcode(module, index));
  } else {
    out->append(instruction.opcode_text);
  }
  out->push_back('(');
  AppendOperands(module, index, options, out);
  out->push_back(')');
  AppendAttributes(module, index, options, out);
  if (options.metadata && !instruction.metadata.empty()) {
    std::string text;
    OpMetadata metadata = DecodeMetadata(instruction.metadata);
    if (frames != nullptr) metadata.stack_frame_id = frames->IdOf(metadata.stack_frame_id);
    if (AppendMetadata(metadata, &text)) {
      out->append(", metadata={").append(text).append("}");
    }
  }
  if (options.backend_config && !instruction.backend_config.empty()) {
    out->append(", backend_config=");
    AppendBackendConfig(instruction.backend_config, out);
  }
}

void AppendComputation(const HloModule& module, uint32_t index, const PrintOptions& options,
                       std::string* out, const FrameTable* frames) {
  const Computation& computation = module.computation(index);
  if (index == module.entry()) out->append("ENTRY ");
  AppendName(computation.name, options, out);
  out->push_back(' ');
  if (options.signatures) {
    AppendSignature(module, computation, out);
    out->push_back(' ');
  }
  out->append("{\n");
  for (const uint32_t i : PrintOrder(module, index)) {
    out->append("  ");
    if (i == computation.root) out->append("ROOT ");
    AppendInstruction(module, i, options, out, frames);
    out->push_back('\n');
  }
  out->push_back('}');
  if (!computation.execution_thread.empty() && computation.execution_thread != "main") {
    out->append(", execution_thread=\"").append(computation.execution_thread).append("\"");
  }
}

void AppendModule(const HloModule& module, const PrintOptions& options, std::string* out) {
  AppendHeader(module, out);
  std::optional<FrameTable> frames;
  if (options.metadata && !module.stack_frames().empty()) {
    frames = FrameTable::Of(module);
    if (!frames->frames().empty()) AppendFrameTables(frames->frames(), out);
  }
  for (const uint32_t c : ComputationPostOrder(module)) {
    const Computation& computation = module.computation(c);
    // Its one instruction stands in the async-start that calls it.
    if (computation.is_async && IsSingleInstruction(module, c)) continue;
    AppendComputation(module, c, options, out, frames.has_value() ? &*frames : nullptr);
    out->append("\n\n");
  }
}

std::string ModuleText(const HloModule& module, const PrintOptions& options) {
  std::string text;
  AppendModule(module, options, &text);
  return text;
}

}  // namespace strobe::hlo
