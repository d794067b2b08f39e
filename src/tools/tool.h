// What a tool is: one entry of the registry, from which HTTP, command line, MCP, console, docs and
// the report are made.
//
//   const ToolDescriptor* tool = FindTool("hlo_stats");          // registry.h
//   STROBE_ASSIGN_OR_RETURN(ToolOptions options, ToolOptions::Parse(tool->options, given, policy));
//   STROBE_ASSIGN_OR_RETURN(ToolResult result, tool->run({options, hosts}, input, cancel));
//
// A tool is a pure function of its input: no file, socket, clock or JSON. It answers with typed
// tables, a typed tree, a text or a trace view; how those are written is the business of the api
// and cli modules. What is wrong with the input of a tool is an error with a name; that a tool has
// nothing to say about a session is not an error but `notices` that say why and what to do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/tools/table.h"
#include "src/tools/tool_input.h"
#include "src/tools/value.h"

namespace strobe::tools {

struct TraceView;  // trace_view.h

enum class OptionType : uint8_t { kString, kBoolean, kInteger, kNumber };

struct OptionSpec {
  std::string name = {};
  OptionType type = OptionType::kString;
  std::string default_value = {};
  std::vector<std::string> choices = {};  // empty: any
  std::string description = {};
};

// The options of one question, complete with defaults.
class ToolOptions {
 public:
  // kStrict (our own API, command line): an unknown name or a value of the wrong type is
  // OPTION_UNKNOWN or OPTION_INVALID, which names what is accepted. kLenient (XProf-compatible
  // routes): unknown names are dropped, booleans are true only for "true" in any case, and values
  // reach the tool as they came; the tool decides as XProf does.
  enum class Policy : uint8_t { kStrict, kLenient };
  static Result<ToolOptions> Parse(const std::vector<OptionSpec>& specs,
                                   const std::map<std::string, std::string>& given, Policy policy);

  const std::string& Text(std::string_view name) const;  // "" when there is no such option
  bool Flag(std::string_view name) const;
  int64_t Integer(std::string_view name, int64_t otherwise = 0) const;
  double Number(std::string_view name, double otherwise = 0) const;
  bool Given(std::string_view name) const;  // by the asker, not by default
  // The same text for the same question: "group_by=program&x=1", sorted by name.
  std::string CanonicalText() const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, bool, std::less<>> given_;
};

enum class HostScope : uint8_t {
  kSelection,  // any choice of hosts, combined
  kAllHosts,   // always all hosts of the session
  kOneHost,    // exactly one
};

enum class CostClass : uint8_t {
  kMetadata,  // skeleton only: milliseconds
  kModules,   // HLO modules
  kEvents,    // one pass over the events
};

// Whether the tool has something to say about a session, and if not why and what would change it.
struct Applicability {
  bool applies = true;
  std::string reason = {};  // "The profile has no HLO modules."
  std::string hint = {};    // "Capture with enable_hlo_proto=true ..."
};

struct ToolQuestion {
  ToolOptions options;
  std::vector<size_t> hosts;  // indices into ToolInput::hosts(), in the order asked; never empty
  // XProf's shape and numbers where ours deliberately differ (docs/parity.md); false: our own.
  bool as_xprof = false;
};

struct Notice {
  enum class Severity : uint8_t { kInfo, kWarning, kError };
  Severity severity = Severity::kInfo;
  std::string name = {};  // "HOST_UNREADABLE", "NO_STEPS"
  std::string message = {};
  std::string hint = {};
};

struct ToolResult {
  // How XProf's route shapes the answer: one table, an array of tables, a protobuf-like tree, a
  // text.
  enum class Shape : uint8_t { kTable, kTables, kDocument, kText, kTrace };
  Shape shape = Shape::kTables;
  std::vector<Table> tables;
  Value document;
  std::string text;                               // or bytes
  std::string content_type = "application/json";  // of `text`
  std::shared_ptr<const TraceView> trace;
  std::vector<Notice> notices;
  bool partial = false;  // some host or plane could not be read; notices say which
  uint64_t ApproximateBytes() const;
};

struct ToolDescriptor {
  std::string id = {};                    // XProf's id where it has the tool
  std::vector<std::string> aliases = {};  // other names by which it is asked
  std::string title = {};
  std::string question = {};  // the question it answers, in a reader's words
  uint32_t version = 1;       // counts up whenever its answers change: stored results are dropped
  std::vector<OptionSpec> options = {};
  HostScope scope = HostScope::kSelection;
  bool offers_all_hosts = false;  // XProf's /hosts lists ALL_HOSTS for it
  bool listed_by_xprof = true;    // XProf's /run_tools lists it when it applies
  bool listed = true;             // ours does
  bool stored = true;             // the result is worth keeping (not for trace windows)
  CostClass cost = CostClass::kEvents;
  std::function<Applicability(const SessionFacts&)> applies = {};  // empty: always
  std::function<Result<ToolResult>(const ToolQuestion&, ToolInput&, const CancelToken&)> run = {};
};

}  // namespace strobe::tools
