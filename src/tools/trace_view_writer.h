// Puts events of a host into a TraceView, with the arguments that are asked for.
//
//   TraceWriter writer(host, /*process_offset=*/1000, /*shift_ps=*/0, &view);
//   writer.AddProcesses();
//   writer.Add({line, event}, TraceWriter::Arguments::kSerial);
//
// Cost: 50 ns an event without arguments, about 0.5 us with all of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/tools/trace_view_host.h"

namespace strobe::tools {

class TraceWriter {
 public:
  enum class Arguments : uint8_t {
    kSerial,  // what the page needs to ask for the rest
    kAll,
    kNone,  // packed form of the older viewer
  };

  TraceWriter(const TraceHost& host, uint32_t process_offset, int64_t shift_ps, TraceView* view)
      : host_(host), process_offset_(process_offset), shift_ps_(shift_ps), view_(*view) {}

  void AddProcesses();
  // Extends the view's span by the host's, joins its stack frames.
  void AddSpan();
  void AddFrames();
  void Add(TraceHost::EventId id, Arguments arguments);

 private:
  void AddAll(const TraceHost::Line& line, uint32_t event, TraceView::Event* out);
  void AddLongName(std::string_view name, TraceView::Event* out);
  void AddText(std::string_view name, std::string_view text, TraceView::Event* out);
  void AddStat(const xplane::Stat& stat, const TraceHost::Line& line, uint32_t event,
               TraceView::Event* out);
  void AddStat(const analysis::AddedStat& stat, TraceView::Event* out);

  const TraceHost& host_;
  const uint32_t process_offset_;
  const int64_t shift_ps_;
  TraceView& view_;
};

}  // namespace strobe::tools
