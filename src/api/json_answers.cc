#include "src/api/json_answers.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "src/analysis/stat_unit.h"
#include "src/api/request.h"
#include "src/api/response.h"

namespace strobe::api {
namespace {

using analysis::EventRef;

void WriteStrings(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.Key(key).BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

void WriteNumberOrNull(JsonWriter& json, std::string_view key, std::optional<uint64_t> value) {
  json.Key(key);
  if (value) {
    json.SafeUint(*value);
  } else {
    json.Null();
  }
}

void WriteDamage(JsonWriter& json, const xplane::Damage& damage) {
  json.BeginObject();
  json.Key("name").String(damage.status.name());
  json.Key("message").String(damage.status.message());
  WriteTextOrNull(json, "hint", damage.status.hint());
  json.Key("offset_bytes").SafeUint(damage.offset_bytes);
  WriteTextOrNull(json, "plane", damage.plane);
  WriteTextOrNull(json, "line", damage.line);
  json.EndObject();
}

void WriteHostCounts(JsonWriter& json, const xplane::HostCompleteness& host) {
  // Of a file that could not be opened nothing is known, which is not the same as 0.
  const bool known = !host.open_error.has_value();
  const auto count = [&](std::string_view key, uint64_t value) {
    WriteNumberOrNull(json, key, known ? std::optional<uint64_t>(value) : std::nullopt);
  };
  count("events", host.events);
  count("lines", host.lines);
  count("planes", host.planes);
  WriteStrings(json, "empty_planes", host.empty_planes);
  count("events_out_of_order", host.events_out_of_order);
  count("events_beyond_window", host.events_beyond_window);
  count("events_overlapping", host.events_overlapping);
  count("events_negative", host.events_negative);
  count("events_saturated", host.events_saturated);
  count("events_aggregated", host.events_aggregated);
  count("missing_metadata", host.missing_metadata);
}

void WriteHostCompleteness(JsonWriter& json, const xplane::HostCompleteness& host) {
  json.BeginObject();
  json.Key("host").String(host.host);
  json.Key("file").String(host.file);
  json.Key("format").String(host.format);
  json.Key("size_bytes").SafeUint(host.size_bytes);
  json.Key("readable_bytes").SafeUint(host.readable_bytes);
  WriteTextOrNull(json, "content_hash", host.content_hash);
  json.Key("state").String(xplane::CompletenessStateName(host.state));
  json.Key("window");
  if (host.window) {
    json.BeginObject();
    json.Key("start_ps").Int(host.window->start_ps);
    json.Key("end_ps").Int(host.window->end_ps);
    json.Key("source").String(host.window_source);
    json.EndObject();
  } else {
    json.Null();
  }
  json.Key("clock_offset_ps");
  if (host.clock_offset_ps) {
    json.SafeInt(*host.clock_offset_ps);
  } else {
    json.Null();
  }
  WriteHostCounts(json, host);
  WriteStrings(json, "errors", host.errors);
  WriteStrings(json, "warnings", host.warnings);
  json.Key("damage").BeginArray();
  if (host.open_error) {
    WriteDamage(json, {.status = *host.open_error, .offset_bytes = 0, .plane = "", .line = ""});
  }
  for (const xplane::Damage& damage : host.damage) WriteDamage(json, damage);
  json.EndArray();
  json.EndObject();
}

std::string_view HostName(const std::vector<std::string>& hosts, uint32_t host) {
  return host < hosts.size() ? std::string_view(hosts[host]) : std::string_view();
}

void WriteSteps(JsonWriter& json, const analysis::Overview& overview) {
  json.Key("steps");
  if (!overview.steps) {
    json.Null();
    return;
  }
  const analysis::StepSummary& steps = *overview.steps;
  json.BeginObject();
  json.Key("source").String(steps.source);
  json.Key("count").SafeUint(steps.count);
  json.Key("mean_ps").Int(steps.mean_ps);
  json.Key("min_ps").Int(steps.min_ps);
  json.Key("max_ps").Int(steps.max_ps);
  json.Key("items").BeginArray();
  for (const analysis::StepItem& item : steps.items) {
    json.BeginObject();
    json.Key("name").String(item.name);
    json.Key("start_ps").Int(item.start_ps);
    json.Key("duration_ps").Int(item.duration_ps);
    json.Key("line").String(
        fmt::format("{}.{}.{}", item.event.host, item.event.plane, item.event.line));
    json.Key("event").String(EventId(item.event));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void WriteTopOps(JsonWriter& json, const analysis::Overview& overview) {
  json.Key("top_ops").BeginArray();
  for (const analysis::OpSummary& op : overview.top_ops) {
    json.BeginObject();
    json.Key("name").String(op.name);
    json.Key("category").String(analysis::OpCategoryName(op.category));
    WriteTextOrNull(json, "hlo_category", op.hlo_category);
    json.Key("count").SafeUint(op.count);
    json.Key("total_ps").SafeInt(op.total_ps);
    json.Key("self_ps").SafeInt(op.self_ps);
    json.Key("share").Double(op.share);
    WriteTextOrNull(json, "source", op.source);
    json.Key("event").String(EventId(op.longest));
    json.EndObject();
  }
  json.EndArray();
  WriteTextOrNull(json, "top_ops_by", overview.top_ops_by);
  json.Key("top_ops_total_ps").SafeInt(overview.top_ops_total_ps);
  WriteTextOrNull(json, "top_ops_reason", overview.top_ops_reason);
}

void WriteLine(JsonWriter& json, std::string_view plane_id, const engine::LineInfo& line) {
  json.BeginObject();
  json.Key("id").String(fmt::format("{}.{}", plane_id, line.line));
  json.Key("name").String(line.name);
  json.Key("display_name").String(line.display_name.empty() ? line.name : line.display_name);
  json.Key("thread_id").String(std::to_string(line.thread_id));
  json.Key("kind").String(analysis::LineKindName(line.kind));
  json.Key("derived").Bool(line.derived);
  WriteNumberOrNull(json, "row_count", line.row_count);
  WriteNumberOrNull(json, "event_count", line.event_count);
  json.Key("start_ps");
  if (line.event_count && *line.event_count > 0) {
    json.Int(line.start_ps);
    json.Key("end_ps").Int(line.end_ps);
  } else {
    json.Null();
    json.Key("end_ps").Null();
  }
  json.Key("chunk").Uint(line.chunk);
  json.EndObject();
}

void WriteTargets(JsonWriter& json, const std::vector<queue::OperationTarget>& targets) {
  json.Key("targets").BeginArray();
  for (const queue::OperationTarget& target : targets) {
    json.BeginObject();
    json.Key("target").String(target.target);
    json.Key("state").String(target.state);
    json.Key("received_bytes").SafeUint(target.received_bytes);
    WriteTextOrNull(json, "message", target.message);
    WriteTextOrNull(json, "hint", target.hint);
    WriteTextOrNull(json, "file", target.file);
    json.EndObject();
  }
  json.EndArray();
}

void WriteResult(JsonWriter& json, const std::vector<std::pair<std::string, std::string>>& result) {
  json.Key("result");
  if (result.empty()) {
    json.Null();
    return;
  }
  json.BeginObject();
  for (const auto& [key, value] : result) {
    json.Key(key);
    // The one field of a result that counts something.
    const std::optional<int64_t> number =
        key == "hosts_saved" ? ParseInt64(value) : std::optional<int64_t>();
    if (number) {
      json.Int(*number);
    } else if (value.empty()) {
      json.Null();
    } else {
      json.String(value);
    }
  }
  json.EndObject();
}

std::string Hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

}  // namespace

void WriteTextOrNull(JsonWriter& json, std::string_view key, std::string_view text) {
  json.Key(key);
  if (text.empty()) {
    json.Null();
  } else {
    json.String(text);
  }
}

void WriteWindow(JsonWriter& json, int64_t start_ps, int64_t end_ps) {
  json.BeginObject();
  json.Key("start_ps").Int(start_ps);
  json.Key("end_ps").Int(end_ps);
  json.EndObject();
}

std::string RelativePath(const xplane::SessionEntry& entry) {
  std::string_view path = entry.path;
  if (path.starts_with(entry.root)) {
    path.remove_prefix(entry.root.size());
    while (path.starts_with('/')) path.remove_prefix(1);
  }
  return std::string(path);
}

void WriteSessionFields(JsonWriter& json, const engine::SessionSummary& summary) {
  const xplane::SessionEntry& entry = summary.entry;
  json.Key("id").String(entry.id);
  json.Key("run").String(entry.run);
  json.Key("name").String(entry.name);
  json.Key("hosts").BeginArray();
  for (const xplane::SessionFile& file : entry.files) json.String(file.host);
  json.EndArray();
  json.Key("host_count").Uint(entry.files.size());
  json.Key("size_bytes").SafeUint(entry.size_bytes);
  json.Key("modified_unix_ms").Int(entry.modified_unix_ns / 1'000'000);
  json.Key("state").String(xplane::CompletenessStateName(summary.state));
  WriteTextOrNull(json, "state_reason", summary.state_reason);
  json.Key("root").String(entry.root);
  json.Key("path").String(RelativePath(entry));
}

void WriteSessionSummary(JsonWriter& json, const engine::SessionSummary& summary) {
  json.BeginObject();
  WriteSessionFields(json, summary);
  json.EndObject();
}

void WriteFileStates(JsonWriter& json, const std::vector<engine::FileState>& files) {
  json.BeginArray();
  for (const engine::FileState& state : files) {
    const std::string& path = state.file.path;
    json.BeginObject();
    json.Key("host").String(state.file.host);
    json.Key("file").String(path.substr(path.rfind('/') + 1));
    json.Key("format").String(xplane::FileFormatName(state.file.format));
    json.Key("size_bytes").SafeUint(state.file.size_bytes);
    json.Key("state").String(xplane::CompletenessStateName(state.state));
    WriteTextOrNull(json, "state_reason", state.state_reason);
    json.EndObject();
  }
  json.EndArray();
}

void WriteCompleteness(JsonWriter& json, const xplane::Completeness& record) {
  json.BeginObject();
  json.Key("state").String(xplane::CompletenessStateName(record.state));
  WriteStrings(json, "reasons", record.reasons);
  WriteNumberOrNull(json, "hosts_expected", record.hosts_expected);
  WriteTextOrNull(json, "hosts_expected_reason", record.hosts_expected_reason);
  json.Key("hosts_received").Uint(record.hosts.size());
  json.Key("hosts").BeginArray();
  for (const xplane::HostCompleteness& host : record.hosts) WriteHostCompleteness(json, host);
  json.EndArray();
  json.EndObject();
}

void WriteOverview(JsonWriter& json, const analysis::Overview& overview,
                   const std::vector<std::string>& hosts) {
  json.BeginObject();
  json.Key("duration_ps").Int(overview.window_end_ps - overview.window_start_ps);
  json.Key("window");
  WriteWindow(json, overview.window_start_ps, overview.window_end_ps);
  json.Key("hosts").BeginArray();
  for (uint32_t h = 0; h < hosts.size(); ++h) {
    uint64_t devices = 0;
    for (const analysis::DeviceSummary& device : overview.devices) devices += device.host == h;
    json.BeginObject();
    json.Key("host").String(hosts[h]);
    json.Key("device_count").Uint(devices);
    json.EndObject();
  }
  json.EndArray();
  json.Key("devices").BeginArray();
  for (const analysis::DeviceSummary& device : overview.devices) {
    json.BeginObject();
    json.Key("host").String(HostName(hosts, device.host));
    json.Key("plane").String(device.plane_name);
    json.Key("kind").String(device.kind);
    WriteTextOrNull(json, "name", device.name);
    json.Key("busy_ps").Int(device.busy_ps);
    json.Key("busy_share");
    if (device.busy_share) {
      json.Double(*device.busy_share);
    } else {
      json.Null();
    }
    json.EndObject();
  }
  json.EndArray();
  json.Key("event_count").SafeUint(overview.event_count);
  WriteSteps(json, overview);
  WriteTextOrNull(json, "steps_reason", overview.steps_reason);
  WriteTopOps(json, overview);
  json.EndObject();
}

void WriteLineTree(JsonWriter& json, const engine::LineTree& tree, std::string_view version) {
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("complete").Bool(tree.complete);
  json.Key("window");
  WriteWindow(json, tree.window_start_ps, tree.window_end_ps);
  json.Key("hosts").BeginArray();
  for (const engine::HostInfo& host : tree.hosts) {
    json.BeginObject();
    json.Key("id").String(std::to_string(host.host));
    json.Key("host").String(host.name);
    json.Key("error");
    if (host.error) {
      json.Raw(ErrorJson(*host.error, ""));
    } else {
      json.Null();
    }
    json.Key("planes").BeginArray();
    for (const engine::PlaneInfo& plane : host.planes) {
      const std::string id = fmt::format("{}.{}", host.host, plane.plane);
      json.BeginObject();
      json.Key("id").String(id);
      json.Key("name").String(plane.name);
      json.Key("kind").String(analysis::PlaneKindName(plane.kind));
      json.Key("chunks").Uint(plane.chunk_count);
      WriteNumberOrNull(json, "event_count", plane.event_count);
      json.Key("lines").BeginArray();
      for (const engine::LineInfo& line : plane.lines) WriteLine(json, id, line);
      json.EndArray();
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

std::string_view StatTypeName(xplane::StatType type) {
  switch (type) {
    case xplane::StatType::kNone:
      return "none";
    case xplane::StatType::kDouble:
      return "double";
    case xplane::StatType::kUint64:
      return "uint64";
    case xplane::StatType::kInt64:
      return "int64";
    case xplane::StatType::kString:
      return "string";
    case xplane::StatType::kBytes:
      return "bytes";
    case xplane::StatType::kRef:
      return "ref";
  }
  return "none";
}

void WriteStatValue(JsonWriter& json, const xplane::Stat& stat, bool* truncated) {
  *truncated = false;
  switch (stat.type) {
    case xplane::StatType::kNone:
      json.Null();
      return;
    case xplane::StatType::kDouble:
      json.Double(stat.number);
      return;
    case xplane::StatType::kUint64:
      json.SafeUint(stat.uint64_value);
      return;
    case xplane::StatType::kInt64:
      json.SafeInt(stat.int64_value);
      return;
    case xplane::StatType::kBytes:
      json.BeginObject();
      json.Key("size_bytes").Uint(stat.text.size());
      json.Key("hex").String(Hex(stat.text.substr(0, kMaxStatHexBytes)));
      json.EndObject();
      return;
    case xplane::StatType::kString:
    case xplane::StatType::kRef:
      *truncated = stat.text.size() > kMaxStatTextBytes;
      json.String(stat.text.substr(0, kMaxStatTextBytes));
      return;
  }
}

void WriteEventDetail(JsonWriter& json, const engine::EventDetail& event) {
  json.BeginObject();
  json.Key("id").String(EventId(event.ref));
  json.Key("name").String(event.name);
  json.Key("full_name").String(event.full_name);
  json.Key("host").String(event.host);
  json.Key("plane").String(event.plane);
  json.Key("line").String(event.line);
  json.Key("start_ps").Int(event.start_ps);
  json.Key("duration_ps").Int(event.duration_ps);
  json.Key("self_ps").Int(event.self_ps);
  json.Key("depth").Uint(event.depth);
  json.Key("occurrences").SafeUint(event.occurrences);
  WriteTextOrNull(json, "parent", event.parent ? EventId(*event.parent) : "");
  json.Key("offset_bytes").String(std::to_string(event.offset_bytes));
  json.Key("stats").BeginArray();
  for (const engine::EventStat& stat : event.stats) {
    json.BeginObject();
    json.Key("name").String(stat.stat.name);
    json.Key("value");
    bool truncated = false;
    WriteStatValue(json, stat.stat, &truncated);
    json.Key("type").String(StatTypeName(stat.stat.type));
    WriteTextOrNull(json, "unit", analysis::StatUnit(stat.stat.name));
    json.Key("origin").String(stat.from_metadata ? "metadata" : "event");
    if (truncated) json.Key("truncated").Bool(true);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

namespace {

void WriteHit(JsonWriter& json, const engine::SearchHit& hit) {
  json.BeginObject();
  json.Key("event").String(EventId(hit.event));
  json.Key("name").String(hit.name);
  json.Key("start_ps").Int(hit.start_ps);
  json.Key("duration_ps").Int(hit.duration_ps);
  json.Key("line").String(fmt::format("{}.{}.{}", hit.event.host, hit.event.plane, hit.event.line));
  json.EndObject();
}

void WriteHitOrNull(JsonWriter& json, std::string_view key,
                    const std::optional<engine::SearchHit>& hit) {
  json.Key(key);
  if (hit) {
    WriteHit(json, *hit);
  } else {
    json.Null();
  }
}

}  // namespace

void WriteSearchResult(JsonWriter& json, const engine::SearchResult& result,
                       std::string_view query) {
  json.BeginObject();
  json.Key("query").String(query);
  json.Key("total").SafeUint(result.total);
  json.Key("names").SafeUint(result.names);
  json.Key("hits").BeginArray();
  for (const engine::SearchHit& hit : result.hits) WriteHit(json, hit);
  json.EndArray();
  json.Key("truncated").Bool(result.truncated);
  json.Key("density").BeginArray();
  for (const uint64_t count : result.density) json.SafeUint(count);
  json.EndArray();
  json.Key("near");
  if (result.near) {
    json.BeginObject();
    json.Key("rank").SafeUint(result.near->rank);
    json.Key("is_hit").Bool(result.near->is_hit);
    WriteHitOrNull(json, "previous", result.near->previous);
    WriteHitOrNull(json, "next", result.near->next);
    json.EndObject();
  } else {
    json.Null();
  }
  json.EndObject();
}

void WriteOperation(JsonWriter& json, const queue::OperationState& operation) {
  json.BeginObject();
  json.Key("id").String(operation.id);
  json.Key("kind").String(operation.kind);
  json.Key("done").Bool(operation.done);
  json.Key("cancelled").Bool(operation.cancelled);
  json.Key("created_unix_ms").Int(operation.created_unix_ms);
  json.Key("updated_unix_ms").Int(operation.updated_unix_ms);
  json.Key("deadline_unix_ms");
  if (operation.deadline_unix_ms > 0) {
    json.Int(operation.deadline_unix_ms);
  } else {
    json.Null();
  }
  json.Key("progress").BeginObject();
  json.Key("stage").String(operation.stage);
  json.Key("done").SafeUint(operation.progress_done);
  json.Key("total").SafeUint(operation.progress_total);
  json.Key("unit").String(operation.progress_unit);
  json.EndObject();
  WriteTargets(json, operation.targets);
  WriteResult(json, operation.result);
  json.Key("error");
  if (operation.error) {
    json.Raw(ErrorJson(*operation.error, ""));
  } else {
    json.Null();
  }
  json.EndObject();
}

std::string EventId(const EventRef& ref) {
  return fmt::format("{}.{}.{}.{}", ref.host, ref.plane, ref.line, ref.event);
}

Result<EventRef> ParseEventId(std::string_view text) {
  std::array<uint32_t, 4> parts{};
  std::string_view rest = text;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t dot = i + 1 < parts.size() ? rest.find('.') : rest.size();
    const std::optional<uint32_t> value =
        dot == std::string_view::npos ? std::nullopt : ParseUint32(rest.substr(0, dot));
    if (!value) {
      return InvalidArgumentError("EVENT_ID_MALFORMED", "This is not the id of an event.")
          .Where(std::string(text.substr(0, 64)))
          .Hint("Expected host.plane.line.event, four numbers, such as 0.1.2.55.");
    }
    parts[i] = *value;
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  return EventRef{parts[0], parts[1], parts[2], parts[3]};
}

std::string LineId(const engine::LineRef& line) {
  return fmt::format("{}.{}.{}", line.host, line.plane, line.line);
}

Result<std::vector<engine::LineRef>> ParseLineIds(std::string_view text) {
  // As many as an address of 8 KiB holds.
  constexpr size_t kMaxLines = 1000;
  std::vector<engine::LineRef> lines;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const Result<EventRef> ref = ParseEventId(std::string(one) + ".0");
    if (!ref.ok() || lines.size() == kMaxLines) {
      return InvalidArgumentError("LINE_ID_MALFORMED", "This is not the id of a line.")
          .Where(std::string(one.substr(0, 64)))
          .Hint("Expected host.plane.line, three numbers, such as 0.1.2; at most 1000 of them.");
    }
    lines.push_back({ref->host, ref->plane, ref->line});
  }
  return lines;
}

}  // namespace strobe::api
