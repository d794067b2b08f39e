// Questions to tools as anybody may send them: options of every tool, hosts, and which rows of a
// table are wanted. Whatever the text, it is a question or a named error, and a view of the table.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/api/request.h"
#include "src/api/table_query.h"
#include "src/api/tool_question.h"
#include "src/tools/registry.h"

namespace strobe::api {
namespace {

tools::Table MakeTable() {
  tools::Table table("ops", "Operations");
  table.AddColumn({.id = "name", .type = tools::ColumnType::kString});
  table.AddColumn({.id = "n"});
  table.AddColumn({.id = "b", .type = tools::ColumnType::kBoolean});
  table.AddRow({"fusion.3", 12.5, true});
  table.AddRow({"", tools::Cell(31).Format("0x1f"), tools::Cell()});
  table.AddRow({tools::Cell(), 1e300, false});
  return table;
}

void CheckNamed(const Status& status) {
  STROBE_CHECK(!status.name().empty() && !status.message().empty());
}

void Ask(const Request& request) {
  static const std::vector<std::string> hosts = {"h0", "h1"};
  for (const tools::ToolDescriptor& tool : tools::AllTools()) {
    const Result<tools::ToolQuestion> question = ParseToolQuestion(tool, hosts, request.query);
    if (!question.ok()) {
      CheckNamed(question.status());
      continue;
    }
    STROBE_CHECK(!question->hosts.empty() && question->hosts.size() <= hosts.size());
    STROBE_CHECK(!question->options.CanonicalText().empty() || tool.options.empty());
  }
}

void Select(const Request& request) {
  static const tools::Table table = MakeTable();
  const Result<TableQuery> query = ParseTableQuery(request.query);
  if (!query.ok()) return CheckNamed(query.status());
  const tools::Table* const tables[] = {&table};
  if (const Status checked = CheckTableQuery(*query, tables); !checked.ok()) CheckNamed(checked);
  const TableView view = SelectRows(table, *query);
  STROBE_CHECK(view.rows.size() <= table.rows().size());
  for (const size_t column : view.columns) STROBE_CHECK(column < table.columns().size());
  for (const size_t row : PageOf(view.rows, *query, kDefaultPageRows)) {
    STROBE_CHECK(row < table.rows().size());
  }
}

}  // namespace
}  // namespace strobe::api

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strobe::api;
  std::string target = "/x?";
  target.append(reinterpret_cast<const char*>(data), size);
  Request request;
  if (!SetTarget(target, &request).ok()) return 0;
  Ask(request);
  Select(request);
  return 0;
}
