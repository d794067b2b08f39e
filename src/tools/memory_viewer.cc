#include "src/tools/memory_viewer.h"

#include "src/tools/module_choice.h"

namespace strobe::tools {
namespace {

using hlo::HloModule;
using hlo::MemoryUse;

constexpr double kMib = 1 << 20;

Value Mib(int64_t bytes) { return Value::Double(static_cast<double>(bytes) / kMib); }

// Members of a document in which what is zero or empty is left out.
class Members {
 public:
  explicit Members(Value* object) : object_(object) {}
  void Text(std::string_view name, std::string_view text) {
    if (!text.empty()) object_->Set(name, Value::String(text));
  }
  void Number(std::string_view name, int64_t value) {
    if (value != 0) object_->Set(name, Value::Int32(value));
  }
  void Mebibytes(std::string_view name, int64_t bytes) {
    if (bytes != 0) object_->Set(name, Mib(bytes));
  }
  void List(std::string_view name, Value list) {
    if (!list.items().empty()) object_->Set(name, std::move(list));
  }

 private:
  Value* object_;
};

// Where in the program's source an instruction comes from; empty: not known.
Value SourceInfo(const HloModule& module, const hlo::OpMetadata& metadata) {
  Value info = Value::Object();
  Members members(&info);
  const std::string frames = FrameText(module, metadata);
  if (!metadata.source_file.empty()) {
    members.Text("fileName", metadata.source_file);
    members.Number("lineNumber", metadata.source_line);
  } else if (!frames.empty()) {
    const hlo::SourceFrame first = module.Frames(metadata.stack_frame_id).front();
    members.Text("fileName", first.file);
    members.Number("lineNumber", first.line);
  }
  members.Text("stackFrame", frames);
  return info;
}

void AddSource(const HloModule& module, const hlo::OpMetadata& metadata, Value* object) {
  Value info = SourceInfo(module, metadata);
  if (!info.items().empty()) object->Set("sourceInfo", std::move(info));
}

Value HeapObject(const HloModule& module, const hlo::HeapBuffer& buffer, size_t number) {
  Value object = Value::Object();
  Members members(&object);
  object.Set("numbered", Value::Int32(static_cast<int64_t>(number)));
  object.Set("label", Value::String(buffer.label));
  members.Number("logicalBufferId", buffer.id);
  members.Mebibytes("logicalBufferSizeMib", buffer.size_bytes);
  members.Mebibytes("unpaddedShapeMib", buffer.unpadded_bytes);
  if (buffer.instruction == hlo::kNone) return object;
  const hlo::Instruction& instruction = module.instruction(buffer.instruction);
  const hlo::OpMetadata metadata = hlo::DecodeMetadata(instruction.metadata);
  members.Text("instructionName", buffer.name);
  members.Text("shapeString", buffer.shape);
  members.Text("tfOpName", metadata.op_name);
  members.Text("groupName", buffer.category);
  members.Text("opCode", instruction.opcode_text);
  AddSource(module, metadata, &object);
  return object;
}

void AddPeak(const HloModule& module, const MemoryUse& use, Value* document) {
  Members members(document);
  Value heap = Value::List();
  Value by_size = Value::List();
  Value to_size = Value::List();
  Value from_size = Value::List();
  std::vector<int64_t> place(use.peak.size());
  for (size_t i = 0; i < use.peak.size(); ++i) {
    heap.Add(HeapObject(module, use.peak[i], i));
    const uint32_t index = use.peak_by_size[i];
    by_size.Add(HeapObject(module, use.peak[index], index));
    from_size.Add(Value::Int32(index));
    place[index] = static_cast<int64_t>(i);
  }
  for (const int64_t at : place) to_size.Add(Value::Int32(at));
  members.List("maxHeap", std::move(heap));
  members.List("maxHeapBySize", std::move(by_size));
  members.List("maxHeapToBySize", std::move(to_size));
  members.List("bySizeToMaxHeap", std::move(from_size));
}

Value Sizes(const std::vector<int64_t>& sizes) {
  Value list = Value::List();
  for (const int64_t bytes : sizes) list.Add(Mib(bytes));
  return list;
}

void AddCurves(const MemoryUse& use, Value* document) {
  Members members(document);
  members.List("heapSizes", Sizes(use.heap_bytes));
  members.List("unpaddedHeapSizes", Sizes(use.unpadded_bytes));
  Value names = Value::List();
  for (const std::string_view name : use.event_names) names.Add(Value::String(name));
  members.List("hloInstructionNames", std::move(names));
  Value spans = Value::Object();
  for (const hlo::BufferSpan& span : use.spans) {
    Value one = Value::Object();
    Members(&one).Number("start", span.start);
    Members(&one).Number("limit", span.limit);
    spans.Set(std::to_string(span.id), std::move(one));
  }
  if (!spans.items().empty()) document->Set("logicalBufferSpans", std::move(spans));
}

Value AllocationObject(const HloModule& module, const hlo::Allocation& allocation) {
  Value object = Value::Object();
  if (allocation.index != 0) object.Set("id", Value::Int64(allocation.index));
  Members members(&object);
  members.Mebibytes("sizeMib", allocation.size_bytes);
  Value attributes = Value::List();
  if (allocation.entry_parameter) attributes.Add(Value::String("entry computation parameter"));
  if (allocation.maybe_live_out) attributes.Add(Value::String("may-be live out"));
  if (allocation.reusable()) attributes.Add(Value::String("reusable"));
  members.List("attributes", std::move(attributes));
  Value buffers = Value::List();
  std::string common;
  bool all_one = true;
  for (const hlo::LogicalBuffer& buffer : allocation.assigned) {
    Value one = Value::Object();
    Members fields(&one);
    if (buffer.id != 0) one.Set("id", Value::Int64(buffer.id));
    const bool known = buffer.instruction != hlo::kNone;
    const std::string shape =
        known ? hlo::ShapeText(hlo::BufferShape(module, buffer)) : std::string();
    fields.Text("shape", shape);
    fields.Mebibytes("sizeMib", buffer.size_bytes);
    if (known) fields.Text("hloName", module.instruction(buffer.instruction).name);
    Value index = Value::List();
    for (const int64_t part : buffer.shape_index) index.Add(Value::Int64(part));
    fields.List("shapeIndex", std::move(index));
    all_one = all_one && (buffers.items().empty() || shape == common);
    common = shape;
    buffers.Add(std::move(one));
  }
  members.List("logicalBuffers", std::move(buffers));
  if (all_one) members.Text("commonShape", common);
  return object;
}

std::string BlockName(const HloModule& module, const hlo::BufferBlock& block) {
  if (block.instruction == hlo::kNone) return std::string(block.category);
  std::string name(module.instruction(block.instruction).name);
  if (block.shape_index.empty()) return name;
  name.push_back('{');
  for (size_t i = 0; i < block.shape_index.size(); ++i) {
    if (i > 0) name.push_back(',');
    name += std::to_string(block.shape_index[i]);
  }
  return name + "}";
}

void AddBlocks(const HloModule& module, const MemoryUse& use, Value* document) {
  const std::vector<std::string_view> colors = BlockColors(use);
  Value blocks = Value::List();
  for (size_t i = 0; i < use.blocks.size(); ++i) {
    const hlo::BufferBlock& block = use.blocks[i];
    Value object = Value::Object();
    Members members(&object);
    members.Number("logicalBufferId", block.id);
    members.Text("name", BlockName(module, block));
    members.Number("offset", block.offset_bytes);
    members.Number("size", block.size_bytes);
    members.Number("unpaddedSize", block.unpadded_bytes);
    members.Number("startStep", block.start);
    members.Number("endStep", block.end);
    members.Text("category", block.category);
    if (block.instruction != hlo::kNone) {
      const hlo::OpMetadata metadata =
          hlo::DecodeMetadata(module.instruction(block.instruction).metadata);
      members.Text("tfOpName", metadata.op_name);
      AddSource(module, metadata, &object);
    }
    members.Text("shapeString", block.shape);
    members.Text("color", colors[i]);
    blocks.Add(std::move(object));
  }
  Members(document).List("bufferBlocks", std::move(blocks));
}

Value Document(const HloModule& module, const MemoryUse& use) {
  Value document = Value::Object();
  AddCurves(use, &document);
  AddPeak(module, use, &document);
  Members members(&document);
  members.Text("moduleName", module.name());
  members.Text("entryComputationName", module.computation(module.entry()).name);
  members.Mebibytes("peakHeapMib", use.peak_bytes);
  members.Mebibytes("peakUnpaddedHeapMib", use.peak_unpadded_bytes);
  members.Number("peakHeapSizePosition", use.peak_position);
  members.Mebibytes("entryComputationParametersMib", use.entry_parameter_bytes);
  members.Mebibytes("nonReusableMib", use.non_reusable_bytes);
  members.Mebibytes("maybeLiveOutMib", use.maybe_live_out_bytes);
  Value lifetimes = Value::List();
  for (const hlo::Allocation& allocation : use.indefinite) {
    lifetimes.Add(AllocationObject(module, allocation));
  }
  members.List("indefiniteLifetimes", std::move(lifetimes));
  members.Mebibytes("totalBufferAllocationMib", use.total_bytes);
  members.Mebibytes("indefiniteBufferAllocationMib", use.indefinite_bytes);
  members.Mebibytes("maxScopedVmemAllocationMib", use.scoped_vmem_bytes);
  if (use.scoped_vmem_instruction != hlo::kNone) {
    members.Text("maxScopedVmemInstructionName",
                 module.instruction(use.scoped_vmem_instruction).name);
  }
  AddBlocks(module, use, &document);
  return document;
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const ModuleChoice choice,
                          ChooseModule(question.options, *input.Modules(), false, cancel));
  const bool page = !question.options.Text("view_memory_allocation_timeline").empty();
  ToolResult result;
  result.shape = page ? ToolResult::Shape::kText : ToolResult::Shape::kDocument;
  if (page) result.content_type = "text/html";
  result.document = Value::Object();
  if (choice.no_modules) {
    if (page) result.text = NoTimelinePage(question.as_xprof);
    result.notices.push_back({Notice::Severity::kInfo, "NO_MODULES",
                              "The profile has no HLO modules.",
                              "Capture with enable_hlo_proto on."});
    return result;
  }
  hlo::MemoryOptions options;
  options.memory_space = question.options.Integer("memory_space", 0);
  STROBE_ASSIGN_OR_RETURN(const MemoryUse use, hlo::ReplayMemory(*choice.module, options));
  if (!use.has_assignment) {
    result.notices.push_back(
        {Notice::Severity::kInfo, "NO_BUFFER_ASSIGNMENT",
         "The module says nothing of its buffers; it was taken before they were assigned.",
         "Use the module that the profile carries, or a dump of after_optimizations with "
         "--xla_dump_hlo_as_proto."});
  }
  if (page) {
    result.text = AllocationTimelinePage(*choice.module, use, question.as_xprof);
  } else {
    result.document = Document(*choice.module, use);
  }
  return result;
}

}  // namespace

ToolDescriptor MakeMemoryViewerTool() {
  ToolDescriptor tool;
  tool.id = "memory_viewer";
  tool.title = "Memory viewer";
  tool.question = "How full is the memory while a program runs, and what fills it at the peak?";
  tool.options = ModuleOptions();
  tool.options.push_back({.name = "memory_space",
                          .type = OptionType::kInteger,
                          .default_value = "0",
                          .description = "0: main memory; on TPU 1: VMEM, 5: host memory."});
  tool.options.push_back({.name = "view_memory_allocation_timeline",
                          .description = "Any text: the allocation timeline as a page."});
  tool.scope = HostScope::kAllHosts;
  tool.cost = CostClass::kModules;
  tool.applies = HaveModules;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
