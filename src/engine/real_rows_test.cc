// The events of a table row are those that the row counted, over every real session: rows of
// hlo_stats and kernel_stats count executions, so count and time agree; a row of framework_op_stats
// on devices counts how often that of its HLO ops ran that ran most, so its time agrees and its
// events are at least as many. Times are compared in the one that the row is summed from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "src/base/log.h"
#include "src/engine/engine.h"
#include "src/tools/registry.h"
#include "src/xplane/test_bytes.h"

namespace strobe::engine {
namespace {

using tools::RowSubject;
using tools::Table;

constexpr size_t kFirstRows = 15;
constexpr size_t kSampledRows = 40;  // of a table, besides the first
constexpr size_t kMaxShown = 5;      // of a table, of those that differ

struct ToolColumns {
  const char* tool;
  const char* name;
  const char* time_us;
};
constexpr ToolColumns kTools[] = {{"hlo_stats", "hlo_op_name", "total_time"},
                                  {"kernel_stats", "kernel_name", "total_duration_us"},
                                  {"framework_op_stats", "operation", "total_time"}};

double NumberAt(const Table& table, size_t row, std::string_view column) {
  const auto* number = std::get_if<double>(&table.rows()[row][table.ColumnIndex(column)].value);
  return number == nullptr ? 0 : *number;
}

std::string TextAt(const Table& table, size_t row, std::string_view column) {
  const auto* text = std::get_if<std::string>(&table.rows()[row][table.ColumnIndex(column)].value);
  return text == nullptr ? "" : *text;
}

// What differs between a row and its events; empty: nothing.
std::string Difference(const Table& table, size_t row, const ToolColumns& columns,
                       const SubjectEvents& found) {
  const double count = NumberAt(table, row, "occurrences");
  const double time_us = NumberAt(table, row, columns.time_us);
  const RowSubject& subject = table.subjects()[row];
  const bool by_device = found.has_device_times && subject.side == RowSubject::Side::kDevice;
  const double events_us =
      static_cast<double>(by_device ? found.total_device_duration_ps : found.total_duration_ps) /
      1e6;
  const bool is_kernel = !subject.launch.empty();
  const bool is_many = subject.op_name.empty();
  // Rows of kernels are summed from whole nanoseconds.
  const double slack_us = is_kernel ? 1e-3 * count : 1e-9 * time_us + 1e-6;
  const auto total = static_cast<double>(found.total);
  const bool count_agrees = is_many ? total >= count : total == count;
  if (count_agrees && std::abs(events_us - time_us) <= slack_us) return "";
  return "row " + std::to_string(count) + " times, " + std::to_string(time_us) + " us; events " +
         std::to_string(total) + ", " + std::to_string(events_us) + " us";
}

TEST(RealRows, EventsOfARowAreThoseThatItCounted) {
  const std::filesystem::path corpus = xplane::CorpusDirectory();
  if (!std::filesystem::is_directory(corpus / "sessions")) {
    GTEST_SKIP() << "NOT TESTED: the real profiles are not at ../shared/data or $STROBE_CORPUS";
  }
  const std::unique_ptr<Engine> engine = Engine::Create(
      {.roots = {(corpus / "sessions").string()}, .cache_directory = ""}, SystemClock());
  ASSERT_TRUE(engine->Refresh().ok());
  size_t looked = 0;
  for (const SessionSummary& summary : engine->Sessions()) {
    // A million events of hosts, and no row of these tools.
    if (summary.entry.run.find("cpu-jax-large") != std::string::npos) continue;
    auto opened = engine->OpenForTools(summary.entry.id);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    OpenedSession& session = **opened;
    for (const ToolColumns& columns : kTools) {
      const tools::ToolDescriptor& tool = *tools::FindTool(columns.tool);
      if (tool.applies && !tool.applies(session.Input()->facts()).applies) continue;
      tools::ToolQuestion question;
      for (size_t h = 0; h < session.Input()->hosts().size(); ++h) question.hosts.push_back(h);
      question.options =
          tools::ToolOptions::Parse(tool.options, {}, tools::ToolOptions::Policy::kStrict).value();
      const auto result = session.RunTool(tool, question, CancelToken());
      ASSERT_TRUE(result.ok()) << result.status().ToString();
      const Table& table = (*result)->tables[0];
      const size_t step = std::max<size_t>(1, table.rows().size() / kSampledRows);
      size_t rows = 0;
      size_t wrong = 0;
      for (size_t row = 0; row < table.rows().size(); row += row < kFirstRows ? 1 : step) {
        const std::string name = TextAt(table, row, columns.name);
        if (name == "IDLE") continue;  // stands for the time in which nothing ran
        ++rows;
        const auto found = session.EventsOfSubject(
            table.subjects()[row], {.hosts = question.hosts, .limit = 1}, CancelToken());
        ASSERT_TRUE(found.ok()) << found.status().ToString();
        const std::string differs = Difference(table, row, columns, *found);
        if (differs.empty()) continue;
        if (++wrong > kMaxShown) continue;
        ADD_FAILURE() << summary.entry.run << " " << columns.tool << " " << name << " (row " << row
                      << "): " << differs;
      }
      looked += rows;
      EXPECT_EQ(wrong, 0u) << "of " << rows << " rows of " << summary.entry.run << " "
                           << columns.tool;
    }
  }
  EXPECT_GE(looked, 200u);
}

}  // namespace
}  // namespace strobe::engine
