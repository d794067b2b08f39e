// A tool's input with op stats that the test makes by hand, and no profile behind them.
//
//   OpStatsInput input(stats);
//   const ToolResult result = Ask(MakePodViewerTool(), input, /*as_xprof=*/true);
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/combine_op_stats.h"
#include "src/tools/tool.h"
#include "src/tools/tool_input.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {

class OpStatsInput : public ToolInput {
 public:
  explicit OpStatsInput(std::vector<analysis::OpStats> stats) {
    file_ = xplane::MustOpen(Empty());
    for (size_t h = 0; h < stats.size(); ++h) {
      hosts_.push_back({.name = "host" + std::to_string(h), .file = file_.get()});
      stats_.push_back(std::make_shared<const analysis::OpStats>(std::move(stats[h])));
    }
    auto modules = std::make_shared<hlo::ModuleSet>();
    modules->Finish();
    modules_ = std::move(modules);
  }

  const std::vector<ToolHost>& hosts() const override { return hosts_; }
  const SessionFacts& facts() const override { return facts_; }
  std::string_view session_name() const override { return "test"; }
  Result<std::shared_ptr<const analysis::PreparedHost>> Prepared(
      size_t host, const CancelToken& cancel) override {
    return analysis::PreparedHost::Prepare(file_, *file_, {}, cancel);
  }
  Result<std::shared_ptr<const analysis::OpStats>> HostOpStats(size_t host,
                                                               const CancelToken&) override {
    return stats_[host];
  }
  Result<std::shared_ptr<const analysis::OpStats>> CombinedOpStats(std::span<const size_t> hosts,
                                                                   const CancelToken&) override {
    if (hosts.size() == 1) return stats_[hosts[0]];
    std::vector<const analysis::OpStats*> parts;
    for (const size_t host : hosts) parts.push_back(stats_[host].get());
    return std::make_shared<const analysis::OpStats>(analysis::CombineOpStats(parts));
  }
  std::shared_ptr<const hlo::ModuleSet> Modules() override { return modules_; }

 private:
  static std::string Empty() {
    xplane::XSpaceBuilder space;
    space.AddPlane("/host:CPU");
    return space.Serialize();
  }

  std::shared_ptr<xplane::ProfileFile> file_;
  std::vector<ToolHost> hosts_;
  std::vector<std::shared_ptr<const analysis::OpStats>> stats_;
  std::shared_ptr<const hlo::ModuleSet> modules_;
  SessionFacts facts_;
};

inline ToolResult Ask(const ToolDescriptor& tool, ToolInput& input, bool as_xprof,
                      const std::map<std::string, std::string>& options = {}) {
  ToolQuestion question;
  const auto parsed = ToolOptions::Parse(tool.options, options, ToolOptions::Policy::kStrict);
  EXPECT_TRUE(parsed.ok());
  if (parsed.ok()) question.options = *parsed;
  for (size_t h = 0; h < input.hosts().size(); ++h) question.hosts.push_back(h);
  question.as_xprof = as_xprof;
  const Result<ToolResult> result = tool.run(question, input, CancelToken());
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() ? *result : ToolResult();
}

inline std::string PropertyOf(const Table& table, std::string_view name) {
  const std::string* value = table.FindProperty(name);
  return value == nullptr ? "(none)" : *value;
}

inline double NumberAt(const Table& table, size_t row, std::string_view column) {
  const size_t index = table.ColumnIndex(column);
  EXPECT_LT(index, table.columns().size()) << column;
  if (index >= table.columns().size() || row >= table.rows().size()) return -1;
  const double* number = std::get_if<double>(&table.rows()[row][index].value);
  EXPECT_NE(number, nullptr) << column;
  return number == nullptr ? -1 : *number;
}

inline std::string TextAt(const Table& table, size_t row, std::string_view column) {
  const size_t index = table.ColumnIndex(column);
  EXPECT_LT(index, table.columns().size()) << column;
  if (index >= table.columns().size() || row >= table.rows().size()) return "(none)";
  const std::string* text = std::get_if<std::string>(&table.rows()[row][index].value);
  return text == nullptr ? "(none)" : *text;
}

inline const Notice* FindNotice(const ToolResult& result, std::string_view name) {
  for (const Notice& notice : result.notices) {
    if (notice.name == name) return &notice;
  }
  return nullptr;
}

}  // namespace strobe::tools
