#include "src/api/xprof_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/base/json_writer.h"

namespace strobe::api {
namespace {

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

uint32_t DecodeUtf8(std::string_view text, size_t length) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  switch (length) {
    case 2:
      return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    case 3:
      return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    case 4:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 |
             (byte(3) & 0x3f);
    default:
      return byte(0);
  }
}

void AppendCodePoint(uint32_t code, std::string* out) {
  switch (code) {
    case '"':
      *out += "\\\"";
      return;
    case '\\':
      *out += "\\\\";
      return;
    case '\n':
      *out += "\\n";
      return;
    case '\r':
      *out += "\\r";
      return;
    case '\t':
      *out += "\\t";
      return;
    case '\b':
      *out += "\\b";
      return;
    case '\f':
      *out += "\\f";
      return;
    default:
      break;
  }
  if (code >= 0x20 && code < 0x7f) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x10000) {
    *out += fmt::format("\\u{:04x}", code);
  } else {
    code -= 0x10000;
    *out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
  }
}

}  // namespace

std::string PythonJsonString(std::string_view text) {
  const std::string valid = ToValidUtf8(text);
  std::string out = "\"";
  for (std::string_view rest = valid; !rest.empty();) {
    const size_t length = std::max<size_t>(1, ValidUtf8Length(rest));
    const uint32_t code = DecodeUtf8(rest, length);
    // Python writes DEL as itself.
    if (code == 0x7f) {
      out.push_back('\x7f');
    } else {
      AppendCodePoint(code, &out);
    }
    rest.remove_prefix(length);
  }
  return out + "\"";
}

std::string PythonJsonStrings(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ", ";
    out += PythonJsonString(text);
  }
  return out + "]";
}

std::string PythonJsonHosts(const std::vector<std::string>& hosts) {
  std::string out = "[";
  for (const std::string& host : hosts) {
    if (out.size() > 1) out += ", ";
    out += "{\"hostname\": " + PythonJsonString(host) + "}";
  }
  return out + "]";
}

std::vector<std::string> XprofHosts(const xplane::SessionEntry& entry, std::string_view tool) {
  std::vector<std::string> hosts;
  for (const xplane::SessionFile& file : entry.files) hosts.push_back(file.host);
  std::sort(hosts.begin(), hosts.end());
  if (hosts.size() <= 1) return hosts;
  if (IsOneOf(tool, {"overview_page", "pod_viewer", "smart_suggestion"})) {
    return {std::string(kAllHosts)};
  }
  if (IsOneOf(tool, {"input_pipeline_analyzer", "framework_op_stats", "kernel_stats",
                     "megascale_stats"})) {
    hosts.emplace_back(kAllHosts);
    std::sort(hosts.begin(), hosts.end());
  }
  return hosts;
}

std::vector<std::string> XprofToolsFor(const tools::SessionFacts& facts,
                                       const std::vector<tools::ToolDescriptor>& tools) {
  const std::pair<std::string_view, bool> offered[] = {
      {"overview_page", true},
      {"trace_viewer@", true},
      {"graph_viewer", facts.has_hlo_modules},
      {"op_profile", true},
      {"input_pipeline_analyzer", true},
      {"kernel_stats", facts.has_gpu_plane},
      {"memory_profile", true},
      {"memory_viewer", facts.has_hlo_modules},
      {"roofline_model", true},
      {"perf_counters", facts.has_counters},
      {"framework_op_stats", true},
      {"hlo_stats", true},
      {"megascale_stats", facts.has_dcn_events},
      {"kernel_utilization", facts.has_counters},
      {"utilization_viewer", facts.has_counters},
  };
  std::vector<std::string> names;
  for (const auto& [name, fits] : offered) {
    const bool served = std::ranges::find(tools, name, &tools::ToolDescriptor::id) != tools.end();
    if (fits && served) names.emplace_back(name);
  }
  return names;
}

bool XprofReads(engine::OpenedSession& session, const std::vector<size_t>& hosts) {
  using xplane::CompletenessState;
  const std::vector<engine::FileState> files = session.files();
  for (size_t h = 0; h < files.size(); ++h) {
    if (!hosts.empty() && std::ranges::find(hosts, h) == hosts.end()) continue;
    // To XProf an empty file is a profile of nothing.
    const bool empty = files[h].file.size_bytes == 0;
    if (!empty && files[h].state != CompletenessState::kComplete &&
        files[h].state != CompletenessState::kUnread) {
      return false;
    }
  }
  return true;
}

std::vector<std::string> XprofToolsOf(engine::OpenedSession& session,
                                      const std::vector<tools::ToolDescriptor>& tools) {
  if (!XprofReads(session)) return {};
  return XprofToolsFor(session.Input()->facts(), tools);
}

std::string XprofModuleList(engine::OpenedSession& session) {
  std::string names;
  for (const hlo::ModuleSet::Entry& module : session.Input()->Modules()->entries()) {
    if (!names.empty()) names += ',';
    names += module.key;
  }
  return names.empty() ? "NO_MODULE" : names;
}

}  // namespace strobe::api
