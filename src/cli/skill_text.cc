// What install_skills tells an agent. The list of tools is made from the registry, so that it names
// what this program has.
#include <string>

#include "src/cli/agent_files.h"
#include "src/tools/agent_tools.h"
#include "src/tools/registry.h"

namespace strobe::cli {
namespace {

constexpr std::string_view kSkill = R"(---
name: strobe
description: Analyse JAX and XLA profiles (XPlane) with the strobe command line. Use it when asked why a training or serving step is slow, what an accelerator waits for, what fills its memory, or what changed between two profiles.
---

# Reading a profile with strobe

Every command is `strobe TOOL SESSION [--option=value]` and prints JSON that begins with `capture`: which run and
hosts it is about. SESSION is a log directory (its newest run), a run directory, one profile file, or
`http://HOST:PORT/RUN` of a server. `strobe TOOL --help` lists options; `references/tools.md` lists all tools.

Exit codes: 0 done (also when there is nothing to say: see `status`), 1 internal, 2 usage, 3 no such path or
content, 4 a value that cannot be used. Errors are JSON too: `code`, `error`, `hint`.

## Order of work

1. `inspect_capture`: what was recorded. Without device lines no statement about the device is possible; say so
   and name the capture option that is missing.
2. `get_kpi_metrics`, then `get_overview`: step time, idle, duty cycle, utilisation. A value `unknown` or `N/A`
   was not measured. It is not zero.
3. `get_step_trace`: is every step slow, or a few? A large deviation means looking at single steps, not at means.
4. `check_host_boundness`: when the device waits for the host, stop looking at kernels. Look at the host with
   `aggregate_xplane_events --plane_regex=host`.
5. Device-bound: `get_top_hlo_ops`, `get_roofline_model` (what limits each op), `get_hlo_op_profile
   --view=category`. Communication: `analyze_async_overlap` says how much of it is hidden.
6. Memory: `get_memory_profile`, then `get_peak_allocations`.
7. One op: `get_hlo_neighborhood SESSION NAME` shows what feeds and uses it; `get_hlo_module_content` the text.
8. Anything else: `query_events_db SESSION "SELECT ..."` asks all events in SQL; without a query it names the
   columns. Aggregate in SQL instead of listing events.
9. Two profiles: `diff_sessions BEFORE AFTER`.

## Rules for statements

- Quote the number, its unit, and the command it came from. Per-step values and totals are different fields.
- Sums of events count nested and parallel ones each by itself: use `self_time_ps`, or `busy_ps` of
  `aggregate_xplane_events`, for time that passed.
- Several hosts are taken together unless `--host` names one. A slow host hides in a mean: compare hosts first.
- XLA has no cost model for custom calls (Pallas): 0 flops of them does not mean that they idle.
- `detect_*` with `NOT_EVALUATED` found no graph to look at. That is no clean bill.
- Rank advice by the share of step time it can remove. Below 5% it is not worth a finding.
)";

std::string_view TypeName(tools::OptionType type) {
  switch (type) {
    case tools::OptionType::kString:
      return "text";
    case tools::OptionType::kBoolean:
      return "true or false";
    case tools::OptionType::kInteger:
      return "integer";
    case tools::OptionType::kNumber:
      return "number";
  }
  return "text";
}

}  // namespace

std::string SkillText() { return std::string(kSkill); }

std::string SkillToolsText() {
  std::string text = "# Tools\n";
  for (const bool agents : {true, false}) {
    text += agents ? "\n## For agents (short answers)\n" : "\n## Tables (--format=json)\n";
    for (const tools::ToolDescriptor& tool : tools::AllTools()) {
      if (tools::IsAgentTool(tool.id) != agents || (!agents && !tool.listed)) continue;
      text += "\n### " + tool.id + "\n\n" + tool.question + "\n";
      if (!tool.options.empty()) text += "\n";
      for (const tools::OptionSpec& option : tool.options) {
        text += "- `--" + option.name + "` (" + std::string(TypeName(option.type));
        if (!option.default_value.empty()) text += ", default `" + option.default_value + "`";
        text += "): " + option.description + "\n";
      }
    }
  }
  return text;
}

}  // namespace strobe::cli
