// A session, or a part of it, as a trace that other programs read. Part of engine.h, which see.
//
//   const ExportQuery query{.format = ExportFormat::kChrome, .lines = {{0, 1, 2}}};
//   STROBE_RETURN_IF_ERROR(session->CheckExport(query));      // before anything is sent
//   STROBE_ASSIGN_OR_RETURN(const ExportSummary done, session->Export(query, [&](std::string piece)
//   {
//     return out.Write(std::move(piece));
//   }, cancel));
//
// Written in pieces of about kExportPieceBytes, line by line in display order, so that memory does
// not grow with the events; a sink that answers false ends it with CANCELLED. Events that touch the
// span are written whole. A host that could not be opened is named in the summary and in formats
// that have a place for it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/engine/area.h"

namespace strobe::engine {

inline constexpr size_t kExportPieceBytes = 256 << 10;

enum class ExportFormat : uint8_t { kChrome, kPerfetto };

struct ExportQuery {
  ExportFormat format = ExportFormat::kChrome;
  std::vector<LineRef> lines = {};  // empty: all that are shown
  std::optional<int64_t> from_ps = std::nullopt;
  std::optional<int64_t> to_ps = std::nullopt;
  bool stats = true;  // as arguments
  bool flows = true;
};

struct ExportSummary {
  uint64_t events = 0;
  uint64_t events_without_time = 0;  // aggregated ones: they have no place in a timeline
  uint64_t size_bytes = 0;
  std::vector<std::string> hosts_not_read;
};

// False: nobody wants more.
using ExportSink = std::function<bool(std::string piece)>;

}  // namespace strobe::engine
