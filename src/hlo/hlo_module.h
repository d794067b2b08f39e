// An HLO module, read: computations, instructions by index, operands, users, calls, shapes,
// schedule and source frames. Everything else stays where it is in the bytes and is decoded when it
// is asked for.
//
//   STROBE_ASSIGN_OR_RETURN(const HloModule module, HloModule::Read(bytes, ReadLimits{}, owner));
//   for (const uint32_t user : module.users(module.FindInstruction("fusion.3")))
//     Print(module.instruction(user).name);
//
// Instructions of all computations stand in one table, computation by computation, in the order of
// the file; an index is good as long as the module. Names, texts and records are views into the
// bytes, which `owner` keeps alive (or the caller does, when it is null).
//
// Cost: about 150 B an instruction; 37,026 instructions (12 MB) in about 30 ms. Limits: ReadLimits;
// beyond them HLO_LIMIT_*. Damage is a named error (HLO_*), never a module with dangling indices.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/status.h"
#include "src/hlo/opcode.h"
#include "src/hlo/shape.h"

namespace strobe::hlo {

inline constexpr uint32_t kNone = 0xffffffff;

// What a file may make the reader allocate. The largest modules of real jobs have some 500,000
// instructions; an empty instruction takes 2 bytes of input and 150 of memory, hence the bounds.
struct ReadLimits {
  uint32_t max_instructions = 4'000'000;
  uint32_t max_computations = 1'000'000;
  int64_t max_shapes = 4'000'000;
  uint64_t max_links = 64'000'000;  // operands, calls, control edges, schedule entries
};

struct Range {
  uint32_t first = 0;
  uint32_t count = 0;
};

struct Instruction {
  std::string_view name;  // without %
  std::string_view opcode_text;
  std::string_view record;  // the whole message, for its attributes (message.h)
  std::string_view metadata;
  std::string_view backend_config;
  int64_t id = 0;
  uint32_t shape = 0;  // HloModule::shape
  uint32_t computation = 0;
  Range operands;
  Range control_predecessors;
  Range calls;
  Range users;
  int64_t number = 0;  // of a parameter; index of a get-tuple-element
  Opcode opcode = Opcode::kUnknown;
};

struct Computation {
  std::string_view name;
  std::string_view execution_thread;  // empty: the main one
  std::string_view program_shape;     // message: 1 parameters, 2 result, 3 names
  int64_t id = 0;
  Range instructions;
  uint32_t root = kNone;
  uint32_t caller = kNone;  // the first instruction that calls it
  Range schedule;
  bool is_scheduled = false;
  bool is_fusion = false;
  bool is_async = false;  // called by an async-start
};

// Where the program came from, per instruction.
struct OpMetadata {
  std::string_view op_type;
  std::string_view op_name;
  std::string_view source_file;
  std::string_view deduplicated_name;
  std::string_view scheduling_name;
  int64_t source_line = 0;
  int64_t source_end_line = 0;
  int64_t source_column = 0;
  int64_t source_end_column = 0;
  int64_t stack_frame_id = 0;  // 1-based, 0: none
};
OpMetadata DecodeMetadata(std::string_view bytes);

// The tables that stack_frame_id points into; all ids are 1-based, 0 means none.
struct StackFrames {
  struct Location {
    int64_t file = 0;
    int64_t function = 0;
    int64_t line = 0;
    int64_t column = 0;
    int64_t end_line = 0;
    int64_t end_column = 0;
  };
  struct Frame {
    int64_t location = 0;
    int64_t parent = 0;
  };
  std::vector<std::string_view> files;
  std::vector<std::string_view> functions;
  std::vector<Location> locations;
  std::vector<Frame> frames;
  bool empty() const {
    return files.empty() && functions.empty() && locations.empty() && frames.empty();
  }
};

// One frame of a source stack, resolved.
struct SourceFrame {
  std::string_view file;
  std::string_view function;
  int64_t line = 0;
  int64_t column = 0;
};

class HloModule {
 public:
  // `hlo_proto` is an HloProto: what a profile carries and what a compiler dumps.
  static Result<HloModule> Read(std::string_view hlo_proto, const ReadLimits& limits,
                                std::shared_ptr<const void> owner = nullptr);
  // The same for bytes that the module is to keep.
  static Result<HloModule> ReadOwned(std::string hlo_proto, const ReadLimits& limits);

  HloModule(HloModule&&) noexcept = default;
  HloModule& operator=(HloModule&&) noexcept = default;
  HloModule(const HloModule&) = delete;
  HloModule& operator=(const HloModule&) = delete;

  std::string_view name() const { return name_; }
  int64_t id() const { return id_; }
  std::string_view hlo_proto() const { return bytes_; }
  std::string_view record() const { return record_; }  // the module's message
  std::string_view buffer_assignment() const { return buffer_assignment_; }
  bool is_scheduled() const { return is_scheduled_; }

  const std::vector<Instruction>& instructions() const { return instructions_; }
  const std::vector<Computation>& computations() const { return computations_; }
  const Instruction& instruction(uint32_t i) const { return instructions_[i]; }
  const Computation& computation(uint32_t c) const { return computations_[c]; }
  uint32_t entry() const { return entry_; }
  const Shape& shape(uint32_t s) const { return shapes_[s]; }
  const Shape& shape_of(uint32_t instruction) const {
    return shapes_[instructions_[instruction].shape];
  }
  const StackFrames& stack_frames() const { return frames_; }

  std::span<const uint32_t> operands(uint32_t i) const { return Links(instructions_[i].operands); }
  // Each once, in the order of the file.
  std::span<const uint32_t> users(uint32_t i) const { return Links(instructions_[i].users); }
  std::span<const uint32_t> control_predecessors(uint32_t i) const {
    return Links(instructions_[i].control_predecessors);
  }
  // Indices of computations.
  std::span<const uint32_t> calls(uint32_t i) const { return Links(instructions_[i].calls); }
  std::span<const uint32_t> schedule(uint32_t c) const { return Links(computations_[c].schedule); }

  // By name, with or without %; kNone when there is none.
  uint32_t FindInstruction(std::string_view name) const;
  uint32_t FindComputation(std::string_view name) const;

  // The frames of an instruction, innermost first; at most kMaxFrames.
  static constexpr size_t kMaxFrames = 1000;
  std::vector<SourceFrame> Frames(int64_t stack_frame_id) const;

  uint64_t resident_bytes() const;

 private:
  friend class ModuleReader;
  HloModule() = default;
  std::span<const uint32_t> Links(Range range) const {
    return std::span(links_).subspan(range.first, range.count);
  }

  std::shared_ptr<const void> owner_;
  std::string_view bytes_;
  std::string_view record_;
  std::string_view buffer_assignment_;
  std::string_view name_;
  int64_t id_ = 0;
  uint32_t entry_ = kNone;
  bool is_scheduled_ = false;
  std::vector<Computation> computations_;
  std::vector<Instruction> instructions_;
  std::vector<Shape> shapes_;
  std::vector<uint32_t> links_;
  StackFrames frames_;
};

}  // namespace strobe::hlo
