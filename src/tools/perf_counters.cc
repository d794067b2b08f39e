#include "src/tools/perf_counters.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <optional>

#include "src/base/text.h"
#include "src/tools/tpu_counter_names.h"
#include "src/tools/utilization_viewer.h"

namespace strobe::tools {
namespace {

using xplane::Stat;
using xplane::StatType;

Table MakeTable() {
  Table table("perf_counters", "Performance counters");
  const auto add = [&](const char* id, const char* label, ColumnType type, const char* text) {
    table.AddColumn({.id = id, .label = label, .type = type, .description = text});
  };
  add("Host", "Host", ColumnType::kString, "Host whose profile has the counter.");
  add("Chip", "Chip", ColumnType::kNumber, "Global id of the chip, else id of the device.");
  add("Kernel", "Kernel", ColumnType::kString, "Name of the sample, the profiled kernel.");
  add("Sample", "Sample", ColumnType::kNumber, "Id of the sample.");
  add("Counter", "Counter", ColumnType::kString, "Name of the counter.");
  add("Value", "Value (Hex)", ColumnType::kNumber, "What was counted; shown in hexadecimal.");
  add("Description", "Description", ColumnType::kString, "What the counter counts.");
  add("Set", "Set", ColumnType::kString, "Groups that the counter belongs to.");
  return table;
}

std::optional<int64_t> ChipOf(const xplane::ProfileFile& file, size_t plane) {
  std::optional<int64_t> chip;
  std::optional<int64_t> device;
  for (const Stat& stat : file.PlaneStats(plane)) {
    if (stat.name == "global_chip_id") chip = stat.IntOrUint();
    if (stat.name == "device_id") device = stat.IntOrUint();
  }
  return chip ? chip : device;
}

class CounterRows {
 public:
  CounterRows(const ToolQuestion& question, Table* table) : question_(question), table_(table) {}

  Status AddHost(const ToolHost& host, const xplane::ProfileFile& file, const CancelToken& cancel) {
    for (size_t p = 0; p < file.planes().size(); ++p) {
      const std::string_view name = file.planes()[p].name;
      if (!name.starts_with("/device:TPU:") && !name.starts_with("/device:GPU:")) continue;
      const std::optional<int64_t> chip = ChipOf(file, p);
      if (!chip) continue;
      for (size_t l = 0; l < file.planes()[p].lines.size(); ++l) {
        STROBE_RETURN_IF_ERROR(cancel.Check());
        AddLine(host, file, p, l, *chip);
      }
    }
    return OkStatus();
  }
  bool cut() const { return cut_; }

 private:
  void AddLine(const ToolHost& host, const xplane::ProfileFile& file, size_t p, size_t l,
               int64_t chip) {
    const auto values = file.EventStatColumn(p, l, "counter_value");
    std::vector<std::pair<uint64_t, uint32_t>> order;  // rows stand in the order of the file
    for (uint32_t e = 0; e < values.size(); ++e) {
      if (values[e].type != StatType::kNone) order.emplace_back(file.EventOffset(p, l, e), e);
    }
    if (order.empty()) return;
    std::ranges::sort(order);
    const auto descriptions = file.EventStatColumn(p, l, "performance_counter_description");
    const auto sets = file.EventStatColumn(p, l, "performance_counter_sets");
    const auto ids = file.EventStatColumn(p, l, "performance_counter_id");
    const xplane::LineColumns& line = file.Line(p, l);
    const xplane::Line& about = file.planes()[p].lines[l];
    for (const auto& [offset, e] : order) {
      if (table_->rows().size() >= kMaxCounterRows) {
        cut_ = true;
        return;
      }
      const xplane::EventMetadata& metadata = file.planes()[p].event_metadata[line.name[e]];
      const int64_t value = values[e].IntOrUint();
      char hex[24];
      std::snprintf(hex, sizeof(hex), "0x%llx", static_cast<unsigned long long>(value));
      std::string_view description = descriptions[e].text;
      std::string_view set = sets[e].text;
      AddNote(file, p, line.name[e], ids[e], &description, &set);
      table_->AddRow({host.name, chip, about.name, about.id, AsciiLower(metadata.name),
                      Cell(value).Format(hex), description, set},
                     {.op_name = {}, .framework_op = {}, .host = host.name});
    }
  }

  // XProf's table goes before what the event says, ours fills what it leaves out.
  void AddNote(const xplane::ProfileFile& file, size_t plane, uint32_t metadata, const Stat& id,
               std::string_view* description, std::string_view* set) const {
    uint64_t counter = static_cast<uint64_t>(id.IntOrUint());
    if (counter == 0) {
      counter = static_cast<uint64_t>(file.planes()[plane].event_metadata[metadata].id);
    }
    const CounterNote* note = NoteOfCounter(counter);
    if (note == nullptr) return;
    if (question_.as_xprof || description->empty()) *description = note->description;
    if (question_.as_xprof || set->empty()) *set = note->sets;
  }

  const ToolQuestion& question_;
  Table* table_;
  bool cut_ = false;
};

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  ToolResult result;
  if (question.options.Text("names_only") == "1") {
    result.shape = ToolResult::Shape::kDocument;
    STROBE_ASSIGN_OR_RETURN(result.document,
                            CounterNamesDocument(question.options.Text("device_type")));
    return result;
  }
  result.shape = ToolResult::Shape::kTable;
  Table table = MakeTable();
  CounterRows rows(question, &table);
  for (const size_t host : question.hosts) {
    const ToolHost& known = input.hosts()[host];
    if (known.file == nullptr) {
      result.partial = true;
      result.notices.push_back({Notice::Severity::kError, "HOST_UNREADABLE",
                                known.name + " could not be read; its counters are missing.", ""});
      continue;
    }
    STROBE_RETURN_IF_ERROR(rows.AddHost(known, *known.file, cancel));
  }
  if (rows.cut()) {
    result.partial = true;
    result.notices.push_back(
        {Notice::Severity::kWarning, "COUNTER_ROWS_CUT",
         "The table shows the first " + std::to_string(kMaxCounterRows) + " counter values.",
         "Ask for one host at a time."});
  }
  if (table.rows().empty()) AddCounterNotice(input.facts(), &result);
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace

Result<Value> CounterNamesDocument(std::string_view device_type) {
  STROBE_ASSIGN_OR_RETURN(const std::vector<TpuCounter>* const counters,
                          TpuCountersOf(device_type));
  Value list = Value::List();
  for (const TpuCounter& counter : *counters) {
    Value one = Value::Object();
    one.Set("name", Value::String(counter.name));
    one.Set("val", Value::Int32(static_cast<int64_t>(counter.id)));
    list.Add(std::move(one));
  }
  return list;
}

ToolDescriptor MakePerfCountersTool() {
  ToolDescriptor tool;
  tool.id = "perf_counters";
  tool.title = "Performance counters";
  tool.question = "What did the hardware counters of the devices count?";
  tool.options = {{.name = "names_only",
                   .description = "1: the names of all counters of device_type, no values."},
                  {.name = "device_type", .description = "v6e or v7x; for names_only."}};
  tool.applies = CounterApplicability;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
