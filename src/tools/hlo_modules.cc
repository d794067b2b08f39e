#include "src/tools/hlo_modules.h"

#include "src/hlo/buffer_assignment.h"
#include "src/hlo/module_set.h"
#include "src/tools/module_choice.h"

namespace strobe::tools {
namespace {

using hlo::HloModule;

// Memory spaces that compilers use, in the order of the columns.
struct Space {
  int64_t space;
  const char* id;
  const char* label;
  const char* description;
};
constexpr Space kSpaces[] = {
    {0, "peak_main_bytes", "Peak memory", "Fullest point of main memory (HBM) by the compiler."},
    {1, "peak_vmem_bytes", "Peak VMEM", "Fullest point of a TPU core's vector memory."},
    {5, "peak_host_bytes", "Peak host memory", "Fullest point of host memory used by the program."},
};

Table MakeTable() {
  Table table("modules", "HLO modules");
  const auto text = [&](const char* id, const char* label, const char* description) {
    table.AddColumn(
        {.id = id, .label = label, .type = ColumnType::kString, .description = description});
  };
  const auto count = [&](const char* id, const char* label, const char* unit,
                         const char* description) {
    table.AddColumn({.id = id, .label = label, .unit = unit, .description = description});
  };
  text("module", "Module", "Key of the module: its name and program id.");
  text("program_id", "Program id", "As events name it; a text because it has 64 bits.");
  text("source", "Source", "Where the module comes from: the profile or a file beside it.");
  count("instructions", "Instructions", "count", "Instructions of all computations.");
  count("computations", "Computations", "count", "Computations, with fused ones.");
  count("entry_parameters", "Entry parameters", "count", "Parameters of the entry computation.");
  count("hlo_bytes", "Size", "bytes", "Bytes of the module itself.");
  table.AddColumn({.id = "scheduled",
                   .label = "Scheduled",
                   .type = ColumnType::kBoolean,
                   .description = "The order of execution is in the module."});
  for (const Space& space : kSpaces) count(space.id, space.label, "bytes", space.description);
  count("total_allocation_bytes", "Allocated", "bytes", "All allocations in main memory.");
  text("error", "Error", "Why the module could not be read.");
  return table;
}

int64_t EntryParameters(const HloModule& module) {
  const hlo::Range range = module.computation(module.entry()).instructions;
  int64_t count = 0;
  for (uint32_t i = range.first; i < range.first + range.count; ++i) {
    count += module.instruction(i).opcode == hlo::Opcode::kParameter ? 1 : 0;
  }
  return count;
}

void AddMemory(const HloModule& module, bool wanted, std::vector<Cell>* cells) {
  Cell total;
  for (const Space& space : kSpaces) {
    cells->emplace_back();
    if (!wanted || module.buffer_assignment().empty()) continue;
    hlo::MemoryOptions options;
    options.memory_space = space.space;
    const Result<hlo::MemoryUse> use = hlo::ReplayMemory(module, options);
    if (!use.ok()) continue;
    if (use->total_bytes > 0 || use->peak_bytes > 0) cells->back() = Cell(use->peak_bytes);
    if (space.space == 0) total = Cell(use->total_bytes);
  }
  cells->push_back(total);
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  ToolResult result;
  Table table = MakeTable();
  const std::shared_ptr<const hlo::ModuleSet> modules = input.Modules();
  const bool memory = question.options.Flag("memory");
  for (size_t i = 0; i < modules->entries().size(); ++i) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    const hlo::ModuleSet::Entry& entry = modules->entries()[i];
    std::vector<Cell> cells = {entry.key, std::to_string(entry.program_id),
                               entry.from_file ? "file" : "profile"};
    const auto module = modules->Module(i);
    if (module.ok()) {
      cells.emplace_back(static_cast<uint64_t>((*module)->instructions().size()));
      cells.emplace_back(static_cast<uint64_t>((*module)->computations().size()));
      cells.emplace_back(EntryParameters(**module));
      cells.emplace_back(static_cast<uint64_t>(entry.hlo_proto.size()));
      cells.emplace_back((*module)->is_scheduled());
      AddMemory(**module, memory, &cells);
      cells.emplace_back();
    } else {
      cells.resize(table.columns().size());
      cells[table.ColumnIndex("hlo_bytes")] = Cell(static_cast<uint64_t>(entry.hlo_proto.size()));
      cells[table.ColumnIndex("error")] = Cell(module.status().ToString());
      result.partial = true;
    }
    RowSubject subject;
    subject.hlo_module_id = entry.program_id;
    table.AddRow(std::move(cells), std::move(subject));
  }
  if (modules->empty()) {
    result.notices.push_back(
        {Notice::Severity::kInfo, "NO_MODULES", "The profile has no HLO modules.",
         "Capture with enable_hlo_proto on, or put *.hlo_proto.pb files beside "
         "the profile."});
  }
  result.shape = ToolResult::Shape::kTable;
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace

ToolDescriptor MakeHloModulesTool() {
  ToolDescriptor tool;
  tool.id = "hlo_modules";
  tool.title = "HLO modules";
  tool.question = "Which programs ran, how large are they, and how much memory do they need?";
  tool.options = {{.name = "memory",
                   .type = OptionType::kBoolean,
                   .default_value = "true",
                   .description = "Work out peak memory; off: only sizes."}};
  tool.scope = HostScope::kAllHosts;
  tool.listed_by_xprof = false;
  tool.cost = CostClass::kModules;
  tool.applies = HaveModules;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
