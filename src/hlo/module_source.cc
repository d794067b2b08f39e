#include "src/hlo/module_source.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "src/wire/wire_reader.h"

namespace strobe::hlo {
namespace {

using wire::WireField;
using wire::WireReader;
using wire::WireType;
using xplane::Stat;
using xplane::StatType;

// Both spellings are written; the first is what older runtimes use.
bool IsHloStat(std::string_view name) { return name == "Hlo Proto" || name == "HLO Proto"; }

}  // namespace

std::string ModuleEntry::Key() const { return name + "(" + std::to_string(program_id) + ")"; }

bool ProgramIdOfName(std::string_view name, uint64_t* program_id) {
  if (name.size() < 3 || name.back() != ')') return false;
  const size_t open = name.rfind('(');
  if (open == std::string_view::npos) return false;
  const std::string_view digits = name.substr(open + 1, name.size() - open - 2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  *program_id = value;
  return true;
}

std::string_view ModuleNameOf(std::string_view hlo_proto) {
  WireReader outer(hlo_proto);
  WireField field;
  while (outer.Next(&field)) {
    if (field.number != 1 || field.type != WireType::kBytes) continue;
    WireReader module(field.bytes);
    WireField part;
    while (module.Next(&part)) {
      if (part.number == 1 && part.type == WireType::kBytes) return part.bytes;
    }
  }
  return {};
}

std::vector<ModuleEntry> ModulesOf(const xplane::ProfileFile& file) {
  std::vector<ModuleEntry> modules;
  std::unordered_set<std::string> keys;
  const std::vector<xplane::Plane>& planes = file.planes();
  for (size_t p = 0; p < planes.size(); ++p) {
    if (planes[p].name != kMetadataPlane) continue;
    for (uint32_t m = 0; m < planes[p].event_metadata.size(); ++m) {
      const xplane::EventMetadata& metadata = planes[p].event_metadata[m];
      if (!metadata.present || modules.size() >= kMaxModules) continue;
      ModuleEntry entry;
      bool found = false;
      entry.program_id = static_cast<uint64_t>(metadata.id);
      uint64_t of_name = 0;
      if (ProgramIdOfName(metadata.name, &of_name)) entry.program_id = of_name;
      for (const Stat& stat : file.MetadataStats(p, m)) {
        if (IsHloStat(stat.name) &&
            (stat.type == StatType::kBytes || stat.type == StatType::kString)) {
          entry.hlo_proto = stat.text;
          found = true;
        }
        if (stat.name == "program_id") {
          entry.program_id = static_cast<uint64_t>(stat.IntOrUint());
        }
      }
      if (!found) continue;
      entry.name = ModuleNameOf(entry.hlo_proto);
      if (entry.name.empty()) entry.name = metadata.name.substr(0, metadata.name.rfind('('));
      if (keys.insert(entry.Key()).second) modules.push_back(std::move(entry));
    }
  }
  return modules;
}

std::vector<ModuleEntry> MergeModules(const std::vector<std::vector<ModuleEntry>>& hosts) {
  std::vector<std::pair<std::string, ModuleEntry>> keyed;
  for (const std::vector<ModuleEntry>& host : hosts) {
    for (const ModuleEntry& entry : host) keyed.emplace_back(entry.Key(), entry);
  }
  std::sort(keyed.begin(), keyed.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ModuleEntry> merged;
  for (size_t i = 0; i < keyed.size(); ++i) {
    if (i > 0 && keyed[i].first == keyed[i - 1].first) continue;
    merged.push_back(std::move(keyed[i].second));
  }
  return merged;
}

}  // namespace strobe::hlo
