// HLO as text, in the compiler's own form.
//
//   const std::string text = ModuleText(module, PrintOptions::Long());
//   AppendInstruction(module, i, options, &line);      // "%add.3 = f32[8]{0} add(%p.1, %p.2)"
//
// Short and Long are the two forms that the graph viewer gives (its short form leaves out %, the
// signatures of computations and control edges); both read back. Cost: about 100 MB/s of text;
// 37,026 instructions in about 0.1 s. Limits: text is at most a small multiple of the module's
// bytes, because every name and attribute is written once an instruction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/hlo/frame_table.h"
#include "src/hlo/hlo_module.h"

namespace strobe::hlo {

struct PrintOptions {
  bool percent = true;     // names begin with %
  bool signatures = true;  // computations say their parameters and result
  bool metadata = false;   // op names, source lines; tables of frames
  bool control_predecessors = true;
  bool backend_config = true;
  bool operand_shapes = false;   // "f32[8]{0} %p.1" for "%p.1"
  bool operand_numbers = true;   // every fifth operand carries /*index=5*/
  bool large_constants = false;  // else constants of more than 10 elements are {...}

  // Device groups in a place where the reference no longer looks for them are {}, as it has them.
  bool groups_as_reference = false;

  bool calls = true;                  // attributes that name computations
  std::string_view separator = ", ";  // before each attribute

  static PrintOptions Long() { return {}; }
  static PrintOptions Short() {
    PrintOptions options;
    options.percent = false;
    options.signatures = false;
    options.control_predecessors = false;
    options.operand_numbers = false;
    return options;
  }
};

std::string ModuleText(const HloModule& module, const PrintOptions& options);
void AppendModule(const HloModule& module, const PrintOptions& options, std::string* out);
// `frames` renumbers stack_frame_id as the text of the whole module does; null keeps the module's.
void AppendComputation(const HloModule& module, uint32_t computation, const PrintOptions& options,
                       std::string* out, const FrameTable* frames = nullptr);
void AppendInstruction(const HloModule& module, uint32_t instruction, const PrintOptions& options,
                       std::string* out, const FrameTable* frames = nullptr);

// The attributes that the opcode brings along: ", dimensions={0}, to_apply=%add" (attributes.cc).
void AppendAttributes(const HloModule& module, uint32_t instruction, const PrintOptions& options,
                      std::string* out);

// The instruction that an async-start, -update or -done stands for; kNone when it is none.
uint32_t AsyncWrapped(const HloModule& module, uint32_t instruction);
// The computation that it runs; kNone when unknown.
uint32_t AsyncComputation(const HloModule& module, uint32_t instruction);
// The opcode as text shows it: "all-gather-start" for an async-start around an all-gather.
std::string ShownOpcode(const HloModule& module, uint32_t instruction);

// Module field that keeps header attributes of a text that have no field in the bytes
// ("num_partitions=4"); only the parser writes it.
inline constexpr uint32_t kHeaderTextField = 1001;
// Likewise, on a constant: its value as text, when that is "{...}" or too large.
inline constexpr uint32_t kLiteralTextField = 1002;

}  // namespace strobe::hlo
