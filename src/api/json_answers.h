// The engine's types as the JSON of docs/api/v1.md. The command line prints the same.
//
//   JsonWriter json;
//   WriteSessionSummary(json, summary);
//
// Pure functions. Unknown is null, never 0. Text from profiles is made valid UTF-8 by the writer.
#pragma once

#include <string>
#include <vector>

#include "src/base/json_writer.h"
#include "src/engine/engine.h"
#include "src/queue/operation.h"

namespace strobe::api {

// Longer strings of an event are cut and say so.
inline constexpr size_t kMaxStatTextBytes = 64 * 1024;
inline constexpr size_t kMaxStatHexBytes = 64;

void WriteTextOrNull(JsonWriter& json, std::string_view key, std::string_view text);
void WriteWindow(JsonWriter& json, int64_t start_ps, int64_t end_ps);

// Without the closing brace, so that the detail can go on.
void WriteSessionFields(JsonWriter& json, const engine::SessionSummary& summary);
void WriteSessionSummary(JsonWriter& json, const engine::SessionSummary& summary);
// The session's path below its root.
std::string RelativePath(const xplane::SessionEntry& entry);

void WriteFileStates(JsonWriter& json, const std::vector<engine::FileState>& files);
void WriteCompleteness(JsonWriter& json, const xplane::Completeness& record);
void WriteOverview(JsonWriter& json, const analysis::Overview& overview,
                   const std::vector<std::string>& hosts);
void WriteLineTree(JsonWriter& json, const engine::LineTree& tree, std::string_view version);
void WriteEventDetail(JsonWriter& json, const engine::EventDetail& event);
void WriteSearchResult(JsonWriter& json, const engine::SearchResult& result,
                       std::string_view query);
void WriteStatValue(JsonWriter& json, const xplane::Stat& stat, bool* truncated);
std::string_view StatTypeName(xplane::StatType type);

void WriteOperation(JsonWriter& json, const queue::OperationState& operation);

// "h.p.l.e" and back.
std::string EventId(const analysis::EventRef& ref);
Result<analysis::EventRef> ParseEventId(std::string_view text);
// "0.1.2" for host, plane and line; and a list of such ids with commas between (LINE_ID_MALFORMED).
std::string LineId(const engine::LineRef& line);
Result<std::vector<engine::LineRef>> ParseLineIds(std::string_view text);

}  // namespace strobe::api
