// A session for tests of tools: profiles given as bytes, modules given as files.
//
//   TestSession session;
//   session.AddHost("host-0", space.Serialize());
//   session.AddModule("jit_f(3)", bytes);
//   Result<ToolResult> result = session.Ask(MakeGraphViewerTool(), {{"type", "pb"}});
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/tools/session_input.h"
#include "src/tools/tool.h"
#include "src/xplane/test_bytes.h"

namespace strobe::tools {

class TestSession {
 public:
  void AddHost(std::string_view name, std::string_view profile) {
    const auto file = xplane::MustOpen(profile);
    parts_.hosts.push_back({.name = std::string(name), .file = file.get()});
    parts_.owners.push_back(file);
    modules_->AddEmbedded(*file, file);
  }
  void AddModule(std::string_view key, std::string_view hlo_proto) {
    modules_->AddFile(std::string(key) + ".hlo_proto.pb", hlo_proto, nullptr);
  }

  ToolInput& input() {
    if (input_ == nullptr) {
      modules_->Finish();
      parts_.name = "run/test";
      parts_.modules = modules_;
      input_ = std::make_unique<SessionInput>(parts_);
    }
    return *input_;
  }

  Result<ToolResult> Ask(const ToolDescriptor& tool,
                         const std::map<std::string, std::string>& options, bool as_xprof = true) {
    ToolQuestion question;
    STROBE_ASSIGN_OR_RETURN(
        question.options, ToolOptions::Parse(tool.options, options, ToolOptions::Policy::kLenient));
    question.as_xprof = as_xprof;
    for (size_t i = 0; i < input().hosts().size(); ++i) question.hosts.push_back(i);
    return tool.run(question, input(), CancelToken());
  }

 private:
  SessionInput::Parts parts_;
  std::shared_ptr<hlo::ModuleSet> modules_ = std::make_shared<hlo::ModuleSet>();
  std::unique_ptr<SessionInput> input_;
};

}  // namespace strobe::tools
