// Sessions for tests of tools: made ones, and the real ones.
//
//   const std::shared_ptr<SessionInput> session = SessionForTest({{"h0", space.Serialize()}});
//   const ToolResult result = MustAnswer("hlo_stats", *session, {{"group_by", "category"}});
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/tools/registry.h"
#include "src/tools/session_input.h"
#include "src/xplane/host_source.h"
#include "src/xplane/session.h"
#include "src/xplane/test_bytes.h"

namespace strobe::tools {

inline std::shared_ptr<SessionInput> SessionForTest(
    const std::vector<std::pair<std::string, std::string>>& hosts) {
  SessionInput::Parts parts;
  parts.name = "made";
  auto modules = std::make_shared<hlo::ModuleSet>();
  for (const auto& [name, bytes] : hosts) {
    const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(bytes);
    parts.hosts.push_back({.name = name, .file = file.get(), .error = {}});
    modules->AddEmbedded(*file, file);
    parts.owners.push_back(file);
  }
  modules->Finish();
  parts.modules = std::move(modules);
  return std::make_shared<SessionInput>(std::move(parts));
}

// A session on disk; hosts that cannot be opened are there with their error.
inline std::shared_ptr<SessionInput> OpenSessionForTest(const xplane::SessionEntry& entry) {
  SessionInput::Parts parts;
  parts.name = entry.xprof_run();
  auto modules = std::make_shared<hlo::ModuleSet>();
  for (const xplane::SessionFile& file : entry.files) {
    ToolHost host;
    host.name = file.host;
    std::shared_ptr<xplane::ProfileFile> opened;
    Result<xplane::HostSource> source =
        xplane::OpenHostSource(file, std::filesystem::temp_directory_path(), CancelToken());
    if (source.ok()) {
      Result<std::shared_ptr<xplane::ProfileFile>> profile =
          xplane::ProfileFile::Open(source->source, {.known_damage = source->damage});
      if (profile.ok()) opened = *profile;
      if (!profile.ok()) host.error = profile.status();
    } else {
      host.error = source.status();
    }
    host.file = opened.get();
    if (opened != nullptr) modules->AddEmbedded(*opened, opened);
    parts.hosts.push_back(std::move(host));
    parts.owners.push_back(std::move(opened));
  }
  modules->Finish();
  parts.modules = std::move(modules);
  return std::make_shared<SessionInput>(std::move(parts));
}

inline Result<ToolResult> Answer(std::string_view tool_id, ToolInput& session,
                                 const std::map<std::string, std::string>& options = {},
                                 bool as_xprof = false, std::vector<size_t> hosts = {}) {
  const ToolDescriptor* tool = FindTool(tool_id);
  STROBE_CHECK(tool != nullptr);
  ToolQuestion question;
  STROBE_ASSIGN_OR_RETURN(
      question.options, ToolOptions::Parse(tool->options, options, ToolOptions::Policy::kLenient));
  for (size_t h = 0; hosts.empty() && h < session.hosts().size(); ++h) question.hosts.push_back(h);
  if (!hosts.empty()) question.hosts = std::move(hosts);
  question.as_xprof = as_xprof;
  return tool->run(question, session, CancelToken());
}

inline ToolResult MustAnswer(std::string_view tool_id, ToolInput& session,
                             const std::map<std::string, std::string>& options = {},
                             bool as_xprof = false, std::vector<size_t> hosts = {}) {
  Result<ToolResult> result = Answer(tool_id, session, options, as_xprof, std::move(hosts));
  EXPECT_TRUE(result.ok()) << tool_id << ": " << result.status().ToString();
  return result.ok() ? std::move(*result) : ToolResult();
}

// Cells of a row by column id.
class RowForTest {
 public:
  RowForTest(const Table& table, size_t row) : table_(table), row_(row) {}
  const Cell& operator[](std::string_view id) const {
    const size_t column = table_.ColumnIndex(id);
    STROBE_CHECK(column < table_.columns().size());
    return table_.rows()[row_][column];
  }
  double Number(std::string_view id) const { return std::get<double>((*this)[id].value); }
  std::string Text(std::string_view id) const { return std::get<std::string>((*this)[id].value); }

 private:
  const Table& table_;
  const size_t row_;
};

// The first row whose column has that text; fails the test when there is none.
inline RowForTest FindRow(const Table& table, std::string_view id, std::string_view text) {
  const size_t column = table.ColumnIndex(id);
  for (size_t row = 0; row < table.rows().size(); ++row) {
    if (table.rows()[row][column] == Cell(text)) return RowForTest(table, row);
  }
  ADD_FAILURE() << "no row with " << id << " = " << text;
  return RowForTest(table, 0);
}

}  // namespace strobe::tools
