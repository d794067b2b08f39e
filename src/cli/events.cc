// strobe events: events of a session, filtered, line by line in time order.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/api/json_answers.h"
#include "src/api/request.h"
#include "src/cli/command.h"
#include "src/cli/open_session.h"
#include "src/cli/text.h"

namespace strobe::cli {
namespace {

// Output is gathered up to this size before it is written.
constexpr size_t kFlushBytes = 1 << 20;

struct Filter {
  std::string host;  // all lower case
  std::string plane;
  std::string line;
  std::string name;
  int64_t from_ps = INT64_MIN;
  int64_t to_ps = INT64_MAX;
};

bool Holds(std::string_view text, const std::string& lower_part) {
  return lower_part.empty() || api::ToLowerAscii(text).find(lower_part) != std::string::npos;
}

struct FoundEvent {
  analysis::EventRef ref;
  int64_t start_ps = 0;
  int64_t duration_ps = 0;
  std::string_view host;
  std::string_view plane;
  std::string_view line;
  std::string_view name;
};

// Prints in one of three forms; keeps count of the limit.
class Printer {
 public:
  Printer(EventFormat format, uint64_t limit)
      : format_(format),
        limit_(limit),
        table_({"EVENT", "START", "DURATION", "PLANE", "LINE", "NAME"},
               {false, true, true, false, false, false}) {
    if (format_ == EventFormat::kCsv) {
      text_ = "event,start_ps,duration_ps,host,plane,line,name\n";
    } else if (format_ == EventFormat::kJson) {
      text_ = "{\"events\":[";
    }
  }

  // False when the limit is reached and this one is not printed.
  bool Add(const FoundEvent& event) {
    if (limit_ > 0 && printed_ >= limit_) {
      truncated_ = true;
      return false;
    }
    switch (format_) {
      case EventFormat::kTable:
        AddTableRow(event);
        break;
      case EventFormat::kCsv:
        AddCsv(event);
        break;
      case EventFormat::kJson:
        AddJson(event);
        break;
    }
    ++printed_;
    if (text_.size() > kFlushBytes) Flush();
    return true;
  }

  void End() {
    if (format_ == EventFormat::kJson) {
      text_ += fmt::format("{}],\"truncated\":{}}}\n", printed_ > 0 ? "\n" : "",
                           truncated_ ? "true" : "false");
    }
    if (format_ == EventFormat::kTable) FlushTable();
    Flush();
    if (truncated_ && format_ != EventFormat::kJson) {
      PrintError(fmt::format("Only the first {} events; --limit 0 prints all.\n", printed_));
    }
    if (printed_ == 0 && format_ == EventFormat::kTable) PrintError("No event fits.\n");
  }

 private:
  void AddTableRow(const FoundEvent& event) {
    table_.AddRow({api::EventId(event.ref), FormatDurationPs(event.start_ps),
                   FormatDurationPs(event.duration_ps), Printable(event.plane, 32),
                   Printable(event.line, 32), Printable(event.name, 80)});
    // Columns are as wide as the rows of one batch need.
    if (++batch_ >= kTableBatch) FlushTable();
  }

  void FlushTable() {
    if (!table_.empty()) text_ += table_.ToText();
    batch_ = 0;
    table_ = Table({"EVENT", "START", "DURATION", "PLANE", "LINE", "NAME"},
                   {false, true, true, false, false, false});
  }

  void AddCsv(const FoundEvent& event) {
    text_ += fmt::format("{},{},{},{},{},{},{}\n", api::EventId(event.ref), event.start_ps,
                         event.duration_ps, CsvField(event.host), CsvField(event.plane),
                         CsvField(event.line), CsvField(event.name));
  }

  void AddJson(const FoundEvent& event) {
    JsonWriter json;
    json.BeginObject();
    json.Key("event").String(api::EventId(event.ref));
    json.Key("start_ps").SafeInt(event.start_ps);
    json.Key("duration_ps").SafeInt(event.duration_ps);
    json.Key("host").String(event.host);
    json.Key("plane").String(event.plane);
    json.Key("line").String(event.line);
    json.Key("name").String(event.name);
    json.EndObject();
    text_ += printed_ > 0 ? ",\n" : "\n";
    text_ += json.text();
  }

  void Flush() {
    PrintOut(text_);
    text_.clear();
  }

  static constexpr size_t kTableBatch = 5000;
  const EventFormat format_;
  const uint64_t limit_;
  Table table_;
  size_t batch_ = 0;
  std::string text_;
  uint64_t printed_ = 0;
  bool truncated_ = false;
};

// Prints the events of one line that fit; false when the limit is reached.
bool PrintLine(const analysis::HostInput& input, uint32_t host, uint32_t p, uint32_t l,
               const Filter& filter, Printer& printer) {
  const xplane::Plane& plane = input.file->planes()[p];
  const xplane::LineColumns& columns = input.file->Line(p, l);
  const xplane::Line& line = plane.lines[l];
  std::vector<bool> name_fits(plane.event_metadata.size(), true);
  if (!filter.name.empty()) {
    for (size_t i = 0; i < name_fits.size(); ++i) {
      const xplane::EventMetadata& metadata = plane.event_metadata[i];
      name_fits[i] = Holds(metadata.name, filter.name) || Holds(metadata.display_name, filter.name);
    }
  }
  std::vector<uint32_t> found;
  for (uint32_t e = 0; e < columns.event_count(); ++e) {
    const int64_t start = columns.start_ps[e] + input.shift_ps;
    if (start < filter.to_ps && start + columns.duration_ps[e] >= filter.from_ps &&
        name_fits[columns.name[e]]) {
      found.push_back(e);
    }
  }
  // Stored row by row; wanted in time order, the outer one of two that begin together first.
  std::sort(found.begin(), found.end(), [&](uint32_t a, uint32_t b) {
    if (columns.start_ps[a] != columns.start_ps[b]) {
      return columns.start_ps[a] < columns.start_ps[b];
    }
    return a < b;
  });
  const std::string_view label = columns.display_name.empty() ? line.label() : columns.display_name;
  for (const uint32_t e : found) {
    const FoundEvent event{.ref = {host, p, l, e},
                           .start_ps = columns.start_ps[e] + input.shift_ps,
                           .duration_ps = columns.duration_ps[e],
                           .host = input.host,
                           .plane = plane.name,
                           .line = label,
                           .name = plane.event_metadata[columns.name[e]].label()};
    if (!printer.Add(event)) return false;
  }
  return true;
}

Result<Filter> MakeFilter(const EventsOptions& options) {
  Filter filter{.host = api::ToLowerAscii(options.host),
                .plane = api::ToLowerAscii(options.plane),
                .line = api::ToLowerAscii(options.line),
                .name = api::ToLowerAscii(options.name)};
  if (!options.from.empty()) {
    STROBE_ASSIGN_OR_RETURN(filter.from_ps, ParseTimePs(options.from));
  }
  if (!options.to.empty()) {
    STROBE_ASSIGN_OR_RETURN(filter.to_ps, ParseTimePs(options.to));
  }
  if (filter.from_ps > filter.to_ps) {
    return InvalidArgumentError("TIME_RANGE_REVERSED", "The range ends before it begins.")
        .Where("--from " + options.from + " --to " + options.to)
        .Hint("--from must not be later than --to.");
  }
  return filter;
}

void PrintEvents(const std::vector<analysis::HostInput>& hosts, const Filter& filter,
                 Printer& printer) {
  for (uint32_t h = 0; h < hosts.size(); ++h) {
    const analysis::HostInput& input = hosts[h];
    if (input.file == nullptr || !Holds(input.host, filter.host)) continue;
    const std::vector<xplane::Plane>& planes = input.file->planes();
    for (const size_t p : analysis::DisplayPlanes(planes)) {
      if (!Holds(planes[p].name, filter.plane)) continue;
      for (const size_t l : analysis::DisplayLines(planes[p])) {
        const xplane::Line& line = planes[p].lines[l];
        if (!Holds(line.name, filter.line) && !Holds(line.display_name, filter.line)) continue;
        if (!PrintLine(input, h, static_cast<uint32_t>(p), static_cast<uint32_t>(l), filter,
                       printer)) {
          return;
        }
      }
    }
  }
}

}  // namespace

Result<int> RunEvents(const EventsOptions& options) {
  STROBE_ASSIGN_OR_RETURN(const Filter filter, MakeFilter(options));
  STROBE_ASSIGN_OR_RETURN(const CommandSession session, OpenCommandSession(options.path));
  if (session.opened == nullptr) {
    return ReportUnreadable(session.open_error, options.format == EventFormat::kJson);
  }
  Printer printer(options.format, options.limit);
  PrintEvents(session.opened->hosts(), filter, printer);
  printer.End();
  int exit_code = kExitOk;
  for (const engine::FileState& file : session.opened->files()) {
    if (file.state != xplane::CompletenessState::kDamaged &&
        file.state != xplane::CompletenessState::kPartial) {
      continue;
    }
    exit_code = kExitPartial;
    PrintError(fmt::format("warning: {} is {}: {}\n", Printable(file.file.path),
                           xplane::CompletenessStateName(file.state),
                           Printable(file.state_reason)));
  }
  return exit_code;
}

}  // namespace strobe::cli
