#include "src/hlo/buffer_assignment.h"

#include <simdjson.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>

#include "src/hlo/attribute_text.h"
#include "src/hlo/message.h"

namespace strobe::hlo {
namespace {

using wire::WireField;
using wire::WireReader;
using wire::WireType;

struct Event {
  int64_t kind = 0;
  int64_t buffer = 0;
  int64_t canonical = 0;
  std::string_view instruction;
};
constexpr int64_t kAlloc = 0, kFree = 1, kShareWith = 2;

struct Buffer {
  LogicalBuffer logical;
  uint32_t allocation = 0;  // index into allocations
  int64_t unpadded_bytes = 0;
  int64_t references = 0;
  Buffer* canonical = nullptr;
  Buffer* shown = nullptr;  // of a canonical one: who stands for its memory now
  std::optional<std::pair<int64_t, int64_t>> span;
  bool seen = false;
  std::list<int64_t>::iterator live;
  bool is_live = false;
};

class Replay {
 public:
  Replay(const HloModule& module, const MemoryOptions& options)
      : module_(module), options_(options) {}

  Result<MemoryUse> Run();

 private:
  Status ReadAssignment();
  Status ReadAllocation(std::string_view bytes);
  Status ReadTrace(std::string_view bytes);
  Status Count(uint64_t more);
  const std::vector<Event>* PickTrace(int64_t* trace_index) const;
  Status ReplayTrace(const std::vector<Event>& events);
  void Grow(Buffer* buffer, int64_t event_count);
  Status Shrink(Buffer* buffer);
  void CollectPeak();
  void AddPeakBuffer(const Buffer& buffer);
  void CollectAllocations();
  void CollectBlocks();
  void FindScopedMemory();
  Buffer* Find(int64_t id) {
    const auto found = buffers_.find(id);
    return found == buffers_.end() ? nullptr : &found->second;
  }
  // Follows shares; a chain longer than this is a circle of damaged data.
  static Buffer* Canonical(Buffer* buffer) {
    constexpr int kMaxChain = 10'000;
    for (int i = 0; i < kMaxChain && buffer->canonical != nullptr; ++i) buffer = buffer->canonical;
    return buffer;
  }

  const HloModule& module_;
  const MemoryOptions& options_;
  MemoryUse use_;
  uint64_t records_ = 0;
  std::unordered_map<int64_t, uint32_t> instructions_;
  struct Definition {
    int64_t size = 0;
    int64_t color = 0;
    uint32_t instruction = kNone;
    std::vector<int64_t> index;
  };
  std::unordered_map<int64_t, Definition> definitions_;
  std::vector<Allocation> allocations_;
  std::map<int64_t, Buffer> buffers_;
  std::vector<std::vector<Event>> traces_;
  std::vector<int64_t> trace_of_allocation_;  // -1: none
  std::list<int64_t> live_;
  std::vector<int64_t> peak_ids_;
  int64_t heap_ = 0;
  int64_t unpadded_ = 0;
  int64_t small_bytes_ = 0;
};

Status Replay::Count(uint64_t more) {
  records_ += more;
  if (records_ <= options_.max_records) return OkStatus();
  return ResourceExhaustedError("HLO_LIMIT_BUFFERS", "The buffer assignment has more than " +
                                                         std::to_string(options_.max_records) +
                                                         " buffers and events.")
      .Where(std::string(module_.name()))
      .Hint("Raise MemoryOptions::max_records if the module is a real one.");
}

Status Replay::ReadAssignment() {
  for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
    instructions_[module_.instruction(i).id] = i;
  }
  // Buffers come before the allocations that place them, in whatever order they are written.
  for (int pass = 0; pass < 2; ++pass) {
    WireReader reader(module_.buffer_assignment());
    WireField field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kBytes) continue;
      if (pass == 0 && field.number == 1) {
        STROBE_RETURN_IF_ERROR(Count(1));
        const Message buffer(field.bytes);
        const Message place(buffer.Bytes(3));
        Definition& definition = definitions_[buffer.Int(1)];
        definition.size = buffer.Int(2);
        definition.color = buffer.Int(4);
        definition.index = place.Ints(3);
        const auto instruction = instructions_.find(place.Int(4));
        if (instruction != instructions_.end()) definition.instruction = instruction->second;
        if (definition.instruction == kNone && !place.Bytes(2).empty()) {
          definition.instruction = module_.FindInstruction(place.Bytes(2));
        }
      }
      if (pass == 1 && field.number == 3) STROBE_RETURN_IF_ERROR(ReadAllocation(field.bytes));
      if (pass == 1 && field.number == 4) STROBE_RETURN_IF_ERROR(ReadTrace(field.bytes));
    }
  }
  return OkStatus();
}

Status Replay::ReadAllocation(std::string_view bytes) {
  const Message message(bytes);
  Allocation allocation;
  allocation.index = message.Int(1);
  allocation.size_bytes = message.Int(2);
  allocation.thread_local_ = message.Bool(3);
  allocation.entry_parameter = message.Bool(5);
  allocation.maybe_live_out = message.Bool(7);
  allocation.color = message.Int(8);
  allocation.is_tuple = message.Bool(11);
  allocation.constant = message.Bool(12);
  for (const std::string_view part : message.All(9)) {
    STROBE_RETURN_IF_ERROR(Count(1));
    const Message assigned(part);
    const auto found = definitions_.find(assigned.Int(1));
    if (found == definitions_.end()) continue;
    LogicalBuffer logical{found->first,    found->second.instruction, found->second.index,
                          assigned.Int(3), assigned.Int(2),           found->second.color};
    allocation.assigned.push_back(logical);
    if (logical.instruction == kNone) continue;
    Buffer buffer;
    buffer.unpadded_bytes = BufferUnpaddedBytes(BufferShape(module_, logical));
    buffer.logical = std::move(logical);
    buffer.logical.size_bytes = found->second.size;
    buffer.allocation = static_cast<uint32_t>(allocations_.size());
    buffers_[buffer.logical.id] = std::move(buffer);
  }
  allocations_.push_back(std::move(allocation));
  return OkStatus();
}

Status Replay::ReadTrace(std::string_view bytes) {
  std::vector<Event> events;
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number != 1 || field.type != WireType::kBytes) continue;
    STROBE_RETURN_IF_ERROR(Count(1));
    Event event;
    WireReader parts(field.bytes);
    WireField part;
    while (parts.Next(&part)) {
      if (part.number == 1) event.kind = part.signed_value();
      if (part.number == 2) event.buffer = part.signed_value();
      if (part.number == 4) event.instruction = part.bytes;
      if (part.number == 5) event.canonical = part.signed_value();
    }
    events.push_back(event);
  }
  traces_.push_back(std::move(events));
  return OkStatus();
}

// What the trace says of its allocation is not to be trusted: the first event's buffer tells it.
const std::vector<Event>* Replay::PickTrace(int64_t* trace_index) const {
  for (size_t a = 0; a < allocations_.size(); ++a) {
    if (allocations_[a].color != options_.memory_space || allocations_[a].indefinite()) continue;
    if (trace_of_allocation_[a] >= 0) {
      *trace_index = trace_of_allocation_[a];
      return &traces_[static_cast<size_t>(*trace_index)];
    }
  }
  const std::vector<Event>* best = nullptr;
  int64_t most = 0;
  for (size_t t = 0; t < traces_.size(); ++t) {
    const int64_t count =
        std::count_if(traces_[t].begin(), traces_[t].end(), [this](const Event& event) {
          const auto found = buffers_.find(event.buffer);
          return found != buffers_.end() && found->second.logical.color == options_.memory_space;
        });
    if (count > most) {
      most = count;
      best = &traces_[t];
      *trace_index = static_cast<int64_t>(t);
    }
  }
  return best;
}

void Replay::Grow(Buffer* buffer, int64_t event_count) {
  if (!buffer->is_live) {
    buffer->live = live_.insert(live_.end(), buffer->logical.id);
    buffer->is_live = true;
  }
  heap_ += buffer->logical.size_bytes;
  unpadded_ += buffer->unpadded_bytes;
  const auto position = static_cast<int64_t>(use_.heap_bytes.size()) - 1;
  if (heap_ > use_.peak_bytes) {
    use_.peak_bytes = heap_;
    use_.peak_unpadded_bytes = unpadded_;
    use_.peak_position = position;
  }
  buffer->span = {position, event_count - 1};
}

Status Replay::Shrink(Buffer* buffer) {
  if (buffer->is_live) {
    live_.erase(buffer->live);
    buffer->is_live = false;
  }
  heap_ -= buffer->logical.size_bytes;
  unpadded_ -= buffer->unpadded_bytes;
  if (heap_ < 0) {
    return DataLossError("HLO_TRACE_FREED_TWICE",
                         "Expected the heap trace to free what it allocated, found it freeing "
                         "more.")
        .Where("buffer " + std::to_string(buffer->logical.id))
        .Hint("The buffer assignment is damaged; dump the module again.");
  }
  // A buffer that shares ends with its own free, whoever keeps the memory on.
  if (buffer->span && buffer->canonical == nullptr) {
    buffer->span->second = static_cast<int64_t>(use_.heap_bytes.size()) - 1;
  }
  return OkStatus();
}

Status Replay::ReplayTrace(const std::vector<Event>& events) {
  const auto count = static_cast<int64_t>(events.size());
  std::optional<uint32_t> allocation;
  bool mixed = false;
  // The peak's buffers are collected in a second run, which stops there.
  for (int pass = 0; pass < 2; ++pass) {
    const int64_t stop = pass == 0 ? count : std::min(count, use_.peak_position + 1);
    if (pass == 1) {
      live_.clear();
      for (auto& [id, buffer] : buffers_) {
        buffer.references = 0;
        buffer.canonical = nullptr;
        buffer.shown = nullptr;
        buffer.is_live = false;
      }
    }
    const MemoryUse kept = pass == 1 ? std::move(use_) : MemoryUse{};
    std::map<int64_t, std::optional<std::pair<int64_t, int64_t>>> spans;
    if (pass == 1) {
      for (auto& [id, buffer] : buffers_) spans[id] = buffer.span;
      use_ = MemoryUse{};
      heap_ = unpadded_ = 0;
    }
    for (int64_t e = 0; e < stop; ++e) {
      const Event& event = events[static_cast<size_t>(e)];
      use_.heap_bytes.push_back(heap_);
      use_.unpadded_bytes.push_back(unpadded_);
      use_.event_names.push_back(event.instruction);
      Buffer* buffer = Find(event.buffer);
      if (buffer == nullptr) continue;
      buffer->seen = true;
      if (allocation && *allocation != buffer->allocation) mixed = true;
      allocation = buffer->allocation;
      if (event.kind == kAlloc) {
        ++Canonical(buffer)->references;
        Grow(buffer, count);
      } else if (event.kind == kFree) {
        Buffer* canonical = Canonical(buffer);
        if (buffer->canonical != nullptr && buffer->span) buffer->span->second = e;
        if (--canonical->references == 0) {
          STROBE_RETURN_IF_ERROR(
              Shrink(canonical->shown != nullptr ? canonical->shown : canonical));
        }
        if (canonical->references < 0) {
          return DataLossError("HLO_TRACE_FREED_TWICE",
                               "Expected the heap trace to free a buffer once.")
              .Where("buffer " + std::to_string(event.buffer))
              .Hint("The buffer assignment is damaged; dump the module again.");
        }
      } else if (event.kind == kShareWith) {
        Buffer* other = Find(event.canonical);
        if (other == nullptr || Canonical(other) == buffer) continue;
        buffer->canonical = other;
        // When all others are gone the memory is taken again, by this one.
        if (++Canonical(other)->references == 1) {
          Canonical(other)->shown = buffer;
          Grow(buffer, count);
        }
      }
    }
    if (pass == 0) {
      use_.heap_bytes.push_back(heap_);
      use_.unpadded_bytes.push_back(unpadded_);
      use_.event_names.push_back({});
    } else {
      peak_ids_.assign(live_.begin(), live_.end());
      use_ = kept;
      for (auto& [id, buffer] : buffers_) buffer.span = spans[id];
    }
  }
  if (mixed || !allocation) {
    return InvalidArgumentError("HLO_TRACE_MIXED",
                                "Expected the heap trace to work in one allocation.")
        .Where(std::string(module_.name()))
        .Hint("The buffer assignment is of a kind that cannot be replayed.");
  }
  return OkStatus();
}

void Replay::AddPeakBuffer(const Buffer& buffer) {
  if (buffer.logical.size_bytes < options_.small_buffer_bytes) {
    small_bytes_ += buffer.logical.size_bytes;
    return;
  }
  HeapBuffer object;
  object.id = buffer.logical.id;
  object.instruction = buffer.logical.instruction;
  const Instruction& instruction = module_.instruction(object.instruction);
  object.name = instruction.name;
  if (!buffer.logical.shape_index.empty()) AppendBraced(buffer.logical.shape_index, &object.name);
  object.shape = ShapeText(BufferShape(module_, buffer.logical));
  object.label = std::string(instruction.name) + ": " + object.shape + " # " +
                 std::string(DecodeMetadata(instruction.metadata).op_name);
  object.category = allocations_[buffer.allocation].category();
  object.size_bytes = buffer.logical.size_bytes;
  object.unpadded_bytes = buffer.unpadded_bytes;
  use_.peak.push_back(std::move(object));
}

void Replay::CollectPeak() {
  int64_t indefinite = 0;
  for (const Allocation& allocation : allocations_) {
    if (allocation.color != options_.memory_space || !allocation.indefinite() ||
        allocation.thread_local_) {
      continue;
    }
    const Buffer* best = nullptr;
    for (const LogicalBuffer& assigned : allocation.assigned) {
      const Buffer* buffer = Find(assigned.id);
      if (buffer == nullptr) continue;
      const int64_t least = best == nullptr ? 0 : best->logical.size_bytes;
      if (buffer->logical.size_bytes > least) best = buffer;
    }
    if (best == nullptr) continue;
    indefinite += allocation.size_bytes;
    // Other memory spaces show only what the trace has.
    if (options_.memory_space == 0) AddPeakBuffer(*best);
  }
  for (int64_t& bytes : use_.heap_bytes) bytes += indefinite;
  for (int64_t& bytes : use_.unpadded_bytes) bytes += indefinite;
  use_.peak_bytes += indefinite;
  use_.peak_unpadded_bytes += indefinite;
  for (const int64_t id : peak_ids_) AddPeakBuffer(buffers_[id]);
  if (small_bytes_ != 0) {
    HeapBuffer small;
    small.label = "small (<" + std::to_string(options_.small_buffer_bytes) + " bytes)";
    small.size_bytes = small_bytes_;
    use_.peak.push_back(std::move(small));
  }
  for (uint32_t i = 0; i < use_.peak.size(); ++i) use_.peak_by_size.push_back(i);
  // Equal sizes stand as the library's sort leaves them: the reference uses the same one.
  std::sort(use_.peak_by_size.begin(), use_.peak_by_size.end(), [this](uint32_t a, uint32_t b) {
    return use_.peak[a].size_bytes > use_.peak[b].size_bytes;
  });
  for (const auto& [id, buffer] : buffers_) {
    if (buffer.seen && buffer.span) {
      use_.spans.push_back({id, buffer.span->first, buffer.span->second});
    }
  }
}

void Replay::CollectAllocations() {
  for (const Allocation& allocation : allocations_) {
    if (allocation.color != options_.memory_space) continue;
    if (!allocation.reusable()) use_.non_reusable_bytes += allocation.size_bytes;
    if (allocation.entry_parameter) use_.entry_parameter_bytes += allocation.size_bytes;
    if (allocation.maybe_live_out) use_.maybe_live_out_bytes += allocation.size_bytes;
    if (allocation.thread_local_) continue;
    use_.total_bytes += allocation.size_bytes;
    if (!allocation.indefinite()) continue;
    use_.indefinite_bytes += allocation.size_bytes;
    use_.indefinite.push_back(allocation);
  }
}

void Replay::CollectBlocks() {
  for (size_t a = 0; a < allocations_.size(); ++a) {
    const Allocation& allocation = allocations_[a];
    if (allocation.color != options_.memory_space || allocation.indefinite() ||
        trace_of_allocation_[a] < 0) {
      continue;
    }
    BufferBlock whole;
    whole.category = allocation.category();
    whole.allocation = allocation.index;
    whole.assigned = static_cast<int64_t>(allocation.assigned.size());
    whole.size_bytes = allocation.size_bytes;
    whole.end = static_cast<int64_t>(traces_[static_cast<size_t>(trace_of_allocation_[a])].size());
    use_.blocks.push_back(std::move(whole));
    for (const LogicalBuffer& assigned : allocation.assigned) {
      const Buffer* buffer = Find(assigned.id);
      if (buffer == nullptr || !buffer->span) continue;
      BufferBlock block;
      block.id = assigned.id;
      block.instruction = assigned.instruction;
      block.shape_index = assigned.shape_index;
      block.allocation = allocation.index;
      block.category = allocation.category();
      block.offset_bytes = assigned.offset_bytes;
      block.size_bytes = buffer->logical.size_bytes;
      block.unpadded_bytes = buffer->unpadded_bytes;
      block.start = buffer->span->first;
      block.end = buffer->span->second;
      block.shape = ShapeText(BufferShape(module_, assigned));
      use_.blocks.push_back(std::move(block));
    }
  }
}

// Memory that kernels take for themselves while they run, from the backend's settings.
void Replay::FindScopedMemory() {
  constexpr int64_t kVmem = 1;
  if (options_.memory_space != kVmem) return;
  simdjson::dom::parser parser;
  for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
    const std::string_view config = module_.instruction(i).backend_config;
    if (config.find("used_scoped_memory_configs") == std::string_view::npos) continue;
    simdjson::dom::element document;
    simdjson::dom::array configs;
    if (parser.parse(simdjson::padded_string(config)).get(document) != simdjson::SUCCESS ||
        document["used_scoped_memory_configs"].get(configs) != simdjson::SUCCESS) {
      continue;
    }
    for (const simdjson::dom::element part : configs) {
      std::string_view space;
      std::string_view size;
      if (part["memory_space"].get(space) != simdjson::SUCCESS || space != "1" ||
          part["size"].get(size) != simdjson::SUCCESS) {
        continue;
      }
      const int64_t bytes = std::strtoll(std::string(size).c_str(), nullptr, 10);
      if (bytes > use_.scoped_vmem_bytes) {
        use_.scoped_vmem_bytes = bytes;
        use_.scoped_vmem_instruction = i;
      }
    }
  }
}

Result<MemoryUse> Replay::Run() {
  if (module_.buffer_assignment().empty()) return MemoryUse{};
  STROBE_RETURN_IF_ERROR(ReadAssignment());
  trace_of_allocation_.assign(allocations_.size(), -1);
  for (size_t t = 0; t < traces_.size(); ++t) {
    if (traces_[t].empty()) continue;
    const Buffer* first = Find(traces_[t][0].buffer);
    if (first != nullptr) trace_of_allocation_[first->allocation] = static_cast<int64_t>(t);
  }
  int64_t trace_index = -1;
  const std::vector<Event>* trace = PickTrace(&trace_index);
  if (trace != nullptr) STROBE_RETURN_IF_ERROR(ReplayTrace(*trace));
  use_.has_assignment = true;
  CollectPeak();
  CollectAllocations();
  CollectBlocks();
  FindScopedMemory();
  return std::move(use_);
}

}  // namespace

std::string_view Allocation::category() const {
  if (entry_parameter) return "Parameter";
  if (maybe_live_out) return "Output";
  if (thread_local_) return "Thread-local";
  return constant ? "Constant" : "Temporary";
}

const Shape& BufferShape(const HloModule& module, const LogicalBuffer& buffer) {
  const Shape& shape = module.shape_of(buffer.instruction);
  if (buffer.shape_index.empty()) return shape;
  const int64_t last = buffer.shape_index.back();
  return last >= 0 && last < static_cast<int64_t>(shape.elements.size())
             ? shape.elements[static_cast<size_t>(last)]
             : shape;
}

int64_t BufferUnpaddedBytes(const Shape& shape) {
  constexpr int64_t kPointerBytes = 8;
  if (shape.is_tuple()) return kPointerBytes * static_cast<int64_t>(shape.elements.size());
  if (!shape.is_array()) return 0;
  Shape plain;
  plain.type = shape.type;
  plain.dimensions = shape.dimensions;
  return UnpaddedSizeBytes(plain);
}

Result<MemoryUse> ReplayMemory(const HloModule& module, const MemoryOptions& options) {
  return Replay(module, options).Run();
}

}  // namespace strobe::hlo
