// Where a module's values live in memory, and how full the memory is while the program runs: the
// compiler's buffer assignment, replayed.
//
//   STROBE_ASSIGN_OR_RETURN(const MemoryUse use, ReplayMemory(module, {.memory_space = 0}));
//   use.peak_bytes, use.peak_position         // where the heap is fullest
//   for (const HeapBuffer& buffer : use.peak) Print(buffer.name, buffer.size_bytes);
//
// The heap trace of the wanted memory space is replayed event by event: a buffer that shares
// another's memory counts once, and its memory is free when the last of them is. Allocations that
// live as long as the program (parameters, constants, outputs) are added to every size.
// Thread-local ones are left out, because each runs on its own stack; non_reusable_bytes counts
// them.
//
// Sizes are those of the compiler, with padding; `unpadded` ones are element count times element
// size. Cost: linear in buffers and events. Limits: MemoryOptions::max_records. Errors:
// HLO_TRACE_FREED_TWICE, HLO_TRACE_MIXED, HLO_LIMIT_BUFFERS. A module without buffer assignment
// gives a MemoryUse with has_assignment false.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/hlo/hlo_module.h"

namespace strobe::hlo {

struct MemoryOptions {
  int64_t memory_space = 0;
  int64_t small_buffer_bytes = 16 * 1024;  // smaller ones are told as one sum
  uint64_t max_records = 50'000'000;       // buffers, assignments and events together
};

// A buffer that is there at the peak.
struct HeapBuffer {
  int64_t id = -1;  // -1: all small ones together
  uint32_t instruction = kNone;
  std::string name;  // of the instruction, with {index} of its part
  std::string label;
  std::string shape;
  std::string_view category;  // "Parameter", "Output", "Thread-local", "Constant", "Temporary"
  int64_t size_bytes = 0;
  int64_t unpadded_bytes = 0;
};

struct BufferSpan {
  int64_t id = 0;
  int64_t start = 0;  // events
  int64_t limit = 0;
};

struct LogicalBuffer {
  int64_t id = 0;
  uint32_t instruction = kNone;
  std::vector<int64_t> shape_index;
  int64_t size_bytes = 0;    // of its place
  int64_t offset_bytes = 0;  // in the allocation
  int64_t color = 0;
};

struct Allocation {
  int64_t index = 0;
  int64_t size_bytes = 0;
  int64_t color = 0;
  bool thread_local_ = false;
  bool entry_parameter = false;
  bool constant = false;
  bool maybe_live_out = false;
  bool is_tuple = false;
  std::vector<LogicalBuffer> assigned;
  bool indefinite() const { return thread_local_ || entry_parameter || constant || maybe_live_out; }
  bool reusable() const { return !thread_local_ && !is_tuple; }
  std::string_view category() const;
};

// A rectangle of the allocation timeline: bytes by events.
struct BufferBlock {
  int64_t id = -1;  // -1: the allocation itself
  uint32_t instruction = kNone;
  std::vector<int64_t> shape_index;
  int64_t allocation = 0;  // its index
  int64_t assigned = 0;    // of the allocation itself: values that are placed in it
  std::string_view category;
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;
  int64_t unpadded_bytes = 0;
  int64_t start = 0;
  int64_t end = 0;
  std::string shape;
};

struct MemoryUse {
  bool has_assignment = false;
  std::vector<int64_t> heap_bytes;  // before each event, and after the last
  std::vector<int64_t> unpadded_bytes;
  std::vector<std::string_view> event_names;  // instruction of each event
  int64_t peak_bytes = 0;
  int64_t peak_unpadded_bytes = 0;
  int64_t peak_position = 0;           // event
  std::vector<HeapBuffer> peak;        // in the order of their appearance
  std::vector<uint32_t> peak_by_size;  // indices into `peak`, largest first
  std::vector<BufferSpan> spans;       // by id
  int64_t entry_parameter_bytes = 0;
  int64_t non_reusable_bytes = 0;
  int64_t maybe_live_out_bytes = 0;
  int64_t total_bytes = 0;
  int64_t indefinite_bytes = 0;
  std::vector<Allocation> indefinite;  // of the memory space, by index; without thread-local ones
  std::vector<BufferBlock> blocks;
  int64_t scoped_vmem_bytes = 0;  // the most that one instruction takes besides
  uint32_t scoped_vmem_instruction = kNone;
};

Result<MemoryUse> ReplayMemory(const HloModule& module, const MemoryOptions& options);

// The shape of a buffer: the last number of the index picks from the outermost tuple.
const Shape& BufferShape(const HloModule& module, const LogicalBuffer& buffer);
// Unpadded size as memory tools count it: of tuples the table of pointers.
int64_t BufferUnpaddedBytes(const Shape& shape);

}  // namespace strobe::hlo
