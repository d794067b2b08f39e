// Whatever the bytes: a module is read or refused by name, and what was read can be printed, drawn
// and replayed.
#include <cstdlib>
#include <string_view>

#include "src/hlo/buffer_assignment.h"
#include "src/hlo/hlo_graph.h"
#include "src/hlo/hlo_printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strobe;
  using namespace strobe::hlo;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ReadLimits limits{.max_instructions = 10'000,
                          .max_computations = 1'000,
                          .max_shapes = 10'000,
                          .max_links = 100'000};
  const Result<HloModule> module = HloModule::Read(bytes, limits);
  if (!module.ok()) {
    if (module.status().name().empty()) std::abort();
    return 0;
  }
  PrintOptions options;
  options.metadata = true;
  (void)ModuleText(*module, options).size();
  (void)ModuleText(*module, PrintOptions::Short()).size();
  const GraphOptions graph_options{.radius = 3, .backend_configs = true, .max_nodes = 1'000};
  for (const std::string_view name :
       {module->computation(module->entry()).name, module->instruction(0).name}) {
    const Result<HloGraph> graph = MakeGraph(*module, name, graph_options);
    if (graph.ok()) (void)DotText(*graph).size();
    (void)NeighboursOf(*module, name);
  }
  for (const int64_t space : {0, 1}) {
    (void)ReplayMemory(*module, {.memory_space = space, .max_records = 10'000});
  }
  return 0;
}
