// The op tools over the real sessions: what must hold of any profile, and XProf's recorded answers.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/hlo/corpus_for_test.h"
#include "src/tools/session_for_test.h"

namespace strobe::tools {
namespace {

using analysis::kIdle;
using analysis::OpMetrics;
using analysis::OpMetricsDb;
using xplane::CorpusDirectory;

const std::vector<xplane::SessionEntry>& Sessions() {
  static const std::vector<xplane::SessionEntry> sessions = [] {
    Result<std::vector<xplane::SessionEntry>> listed =
        xplane::ListSessions(CorpusDirectory() / "sessions", {});
    EXPECT_TRUE(listed.ok());
    return listed.ok() ? std::move(*listed) : std::vector<xplane::SessionEntry>();
  }();
  return sessions;
}

// One million events of a CPU: the others hold the same and are quicker.
bool IsLarge(const xplane::SessionEntry& session) {
  return session.run.find("cpu-jax-large") != std::string::npos;
}

void ExpectSane(const OpMetricsDb& db, bool is_host) {
  uint64_t self_ps = 0;
  uint64_t idle_ps = 0;
  for (const OpMetrics& op : db.ops) {
    EXPECT_LE(op.self_time_ps, op.time_ps) << op.name;
    (op.category == kIdle ? idle_ps : self_ps) += op.self_time_ps;
    // The shortest execution is by the clock of the device, the sum by that of the trace.
    EXPECT_LE(static_cast<double>(op.min_time_ps), static_cast<double>(op.time_ps) * (1 + 1e-6))
        << op.name;
  }
  EXPECT_EQ(self_ps, db.total_op_time_ps);
  EXPECT_EQ(self_ps + idle_ps, db.total_time_ps) << (is_host ? "host" : "device");
}

TEST(RealOpToolsTest, PartsAddUpToWholes) {
  STROBE_NEED_CORPUS(CorpusDirectory());
  size_t with_ops = 0;
  for (const xplane::SessionEntry& entry : Sessions()) {
    if (IsLarge(entry)) continue;
    SCOPED_TRACE(entry.path);
    const auto session = OpenSessionForTest(entry);
    std::vector<size_t> hosts;
    for (size_t h = 0; h < session->hosts().size(); ++h) hosts.push_back(h);
    const auto stats = session->CombinedOpStats(hosts, CancelToken());
    ASSERT_TRUE(stats.ok()) << stats.status().ToString();
    ExpectSane((*stats)->device_ops, false);
    ExpectSane((*stats)->host_ops, true);
    with_ops += (*stats)->device_ops.total_op_time_ps > 0;

    // The rows of hlo_stats are the busy time of the devices.
    const ToolResult hlo = MustAnswer("hlo_stats", *session);
    double busy_us = 0;
    for (size_t row = 0; row < hlo.tables[0].rows().size(); ++row) {
      const RowForTest r(hlo.tables[0], row);
      if (r.Text("parent_op_name").empty()) busy_us += r.Number("total_self_time");
    }
    const double expected_us = static_cast<double>((*stats)->device_ops.total_op_time_ps) / 1e6;
    EXPECT_NEAR(busy_us, expected_us, 1e-9 * expected_us);

    // The shares of a table with idle time are the whole, or there is no time at all.
    const ToolResult framework = MustAnswer("framework_op_stats", *session);
    double device_share = 0;
    for (size_t row = 0; row < framework.tables[0].rows().size(); ++row) {
      device_share += RowForTest(framework.tables[0], row).Number("device_total_self_time_percent");
    }
    EXPECT_TRUE(device_share == 0 || std::abs(device_share - 1) < 1e-9) << device_share;
  }
  EXPECT_GE(with_ops, 4u);
}

// A tree's children take no more than it does; groups of ops exactly as much.
void ExpectTreeSane(const Value& node, int depth) {
  const Value* children = node.Find("children");
  if (children == nullptr || children->items().empty() || node.Find("xla") != nullptr) return;
  double sum = 0;
  for (const Value& child : children->items()) {
    sum += child.Find("metrics")->Find("rawTime")->AsNumber();
    ExpectTreeSane(child, depth + 1);
  }
  const double whole = node.Find("metrics")->Find("rawTime")->AsNumber();
  EXPECT_LE(sum, whole * (1 + 1e-9)) << node.Find("name")->string_value() << " at " << depth;
}

TEST(RealOpToolsTest, TreesAddUp) {
  STROBE_NEED_CORPUS(CorpusDirectory());
  for (const xplane::SessionEntry& entry : Sessions()) {
    if (IsLarge(entry)) continue;
    SCOPED_TRACE(entry.path);
    const auto session = OpenSessionForTest(entry);
    for (const char* group_by : {"program", "category", "provenance"}) {
      const Value document = MustAnswer("op_profile", *session, {{"group_by", group_by}}).document;
      for (const Value& value : document.items()) {
        if (value.kind() == Value::Kind::kObject) ExpectTreeSane(value, 0);
      }
    }
  }
}

// Columns that tell rows apart, and columns that depend on the order of rows that tie.
struct TableKeys {
  std::vector<std::string> keys;
  std::set<std::string> skipped = {"rank"};
};

std::string KeyOf(const std::vector<std::string>& cells, const std::vector<size_t>& columns) {
  std::string key;
  for (const size_t column : columns) key += cells[column] + "|";
  return key;
}

std::string TextOf(const simdjson::dom::element& value) {
  if (value.is_string()) return std::string(std::string_view(value));
  if (value.is_bool()) return bool(value) ? "true" : "false";
  if (value.is_null()) return "null";
  return std::to_string(double(value));
}

std::string TextOf(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  if (const auto* truth = std::get_if<bool>(&cell.value)) return *truth ? "true" : "false";
  if (const auto* number = std::get_if<double>(&cell.value)) return std::to_string(*number);
  return "null";
}

void ExpectSameTable(const simdjson::dom::element& golden, const Table& table,
                     const TableKeys& keys) {
  std::vector<size_t> key_columns;
  for (const std::string& key : keys.keys) key_columns.push_back(table.ColumnIndex(key));
  ASSERT_EQ(golden["cols"].get_array().size(), table.columns().size());
  std::multimap<std::string, size_t> rows;
  for (size_t row = 0; row < table.rows().size(); ++row) {
    std::vector<std::string> cells;
    for (const Cell& cell : table.rows()[row]) cells.push_back(TextOf(cell));
    rows.emplace(KeyOf(cells, key_columns), row);
  }
  ASSERT_EQ(golden["rows"].get_array().size(), table.rows().size());
  for (const simdjson::dom::element row : golden["rows"].get_array()) {
    std::vector<std::string> cells;
    std::vector<simdjson::dom::element> values;
    for (const simdjson::dom::element cell : row["c"].get_array()) {
      values.push_back(cell["v"]);
      cells.push_back(TextOf(values.back()));
    }
    const std::string key = KeyOf(cells, key_columns);
    const auto found = rows.find(key);
    ASSERT_NE(found, rows.end()) << key;
    const std::vector<Cell>& ours = table.rows()[found->second];
    rows.erase(found);
    for (size_t c = 0; c < values.size(); ++c) {
      const std::string& id = table.columns()[c].id;
      if (keys.skipped.contains(id) || id.starts_with("cumulative") ||
          id.find("_cumulative") != std::string::npos) {
        continue;
      }
      if (!values[c].is_number()) {
        EXPECT_EQ(TextOf(ours[c]), cells[c]) << key << " " << id;
        continue;
      }
      const double expected = double(values[c]);
      const auto* number = std::get_if<double>(&ours[c].value);
      ASSERT_NE(number, nullptr) << id;
      EXPECT_NEAR(*number, expected, 1e-9 * std::abs(expected)) << key << " " << id;
    }
  }
}

TEST(RealOpToolsTest, TablesAreXprofsOwn) {
  STROBE_NEED_CORPUS(CorpusDirectory());
  const std::map<std::string, TableKeys> tools = {
      {"hlo_stats", {{"program_id", "hlo_op_name", "core_type", "parent_op_name"}}},
      {"framework_op_stats", {{"host_or_device", "type", "operation", "total_self_time"}}},
      {"kernel_stats", {{"kernel_name", "grid_dim", "block_dim", "total_duration_us"}}},
      {"roofline_model",
       {{"step", "include_infeed_outfeed", "hlo_module_id", "category", "operation"}}}};
  std::map<std::string, std::shared_ptr<SessionInput>> opened;
  size_t compared = 0;
  for (const auto& [tool, keys] : tools) {
    for (const hlo::Golden& golden : hlo::GoldensOf(tool)) {
      const bool combined = golden.Of("host").empty() || golden.Of("host") == "ALL_HOSTS";
      if (golden.status != 200 || !combined || !golden.request.starts_with("/data?")) continue;
      const xplane::SessionEntry* entry = nullptr;
      for (const xplane::SessionEntry& session : Sessions()) {
        if (session.xprof_run() == golden.session + "/" + golden.run) entry = &session;
      }
      if (entry == nullptr || IsLarge(*entry)) continue;
      SCOPED_TRACE(tool + " " + golden.session + "/" + golden.run);
      std::shared_ptr<SessionInput>& session = opened[entry->path];
      if (session == nullptr) session = OpenSessionForTest(*entry);
      const ToolResult result = MustAnswer(tool, *session, {}, /*as_xprof=*/true);
      simdjson::dom::parser parser;
      simdjson::dom::element document;
      const std::string json = hlo::UnpackedFile(golden.file);
      ASSERT_EQ(parser.parse(json).get(document), simdjson::SUCCESS);
      if (document.is_array()) {
        size_t index = 0;
        for (const simdjson::dom::element part : document.get_array()) {
          if (tool == "roofline_model" && index == 1) break;  // notes
          ExpectSameTable(part, result.tables[index++], keys);
        }
      } else {
        ExpectSameTable(document, result.tables[0], keys);
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 60u);
}

}  // namespace
}  // namespace strobe::tools
