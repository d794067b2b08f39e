#include "src/tools/trace_view.h"

#include <array>

namespace strobe::tools {

std::string_view TraceView::CategoryName(uint8_t category) {
  static constexpr std::array<std::string_view, 17> kNames = {"",
                                                              "",
                                                              "tf_exec",
                                                              "tfrt_exec",
                                                              "batch_sched",
                                                              "PjRt",
                                                              "as_batch_sched",
                                                              "tfrt_rt",
                                                              "tpu_embed",
                                                              "gpu_launch",
                                                              "batcher",
                                                              "tpu_stream",
                                                              "tpu_launch",
                                                              "pathways_exec",
                                                              "pjrt_library_call",
                                                              "threadpool_event",
                                                              "jax_serving"};
  return category < kNames.size() ? kNames[category] : std::string_view();
}

uint64_t TraceView::ApproximateBytes() const {
  uint64_t bytes = events.capacity() * sizeof(Event) + arguments.capacity() * sizeof(Argument);
  for (const std::string& text : texts_) bytes += text.size() + 2 * sizeof(std::string);
  return bytes;
}

}  // namespace strobe::tools
