#include "src/hlo/module_set.h"

#include <algorithm>

namespace strobe::hlo {
namespace {

constexpr std::string_view kSidecarEnding = ".hlo_proto.pb";

}  // namespace

void ModuleSet::AddEmbedded(const xplane::ProfileFile& file, std::shared_ptr<const void> owner) {
  for (const ModuleEntry& module : ModulesOf(file)) {
    entries_.push_back({module.Key(), module.name, module.program_id, module.hlo_proto, false});
  }
  owners_.push_back(std::move(owner));
}

void ModuleSet::AddFile(std::string_view file_name, std::string_view bytes,
                        std::shared_ptr<const void> owner) {
  std::string_view stem = file_name;
  if (stem.ends_with(kSidecarEnding)) stem.remove_suffix(kSidecarEnding.size());
  Entry entry;
  entry.key = stem;
  entry.name = ModuleNameOf(bytes);
  ProgramIdOfName(stem, &entry.program_id);
  entry.hlo_proto = bytes;
  entry.from_file = true;
  entries_.push_back(std::move(entry));
  owners_.push_back(std::move(owner));
}

void ModuleSet::Finish() {
  std::ranges::stable_sort(entries_, {}, &Entry::key);
  const auto same = std::ranges::unique(entries_, {}, &Entry::key);
  entries_.erase(same.begin(), same.end());
  slots_.clear();
  for (size_t i = 0; i < entries_.size(); ++i) slots_.push_back(std::make_unique<Slot>());
}

std::optional<size_t> ModuleSet::FindProgram(uint64_t program_id) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].program_id == program_id) return i;
  }
  return std::nullopt;
}

std::optional<size_t> ModuleSet::FindKey(std::string_view key) const {
  const auto found = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
  if (found == entries_.end() || found->key != key) return std::nullopt;
  return static_cast<size_t>(found - entries_.begin());
}

std::optional<size_t> ModuleSet::FindKeyContaining(std::string_view text) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].key.find(text) != std::string::npos) return i;
  }
  return std::nullopt;
}

std::optional<size_t> ModuleSet::FindName(std::string_view name) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].name == name) return i;
  }
  return std::nullopt;
}

Result<std::shared_ptr<const HloModule>> ModuleSet::Module(size_t index) const {
  STROBE_CHECK(index < slots_.size());
  Slot& slot = *slots_[index];
  std::call_once(slot.once, [&] {
    Result<HloModule> read = HloModule::Read(entries_[index].hlo_proto, ReadLimits{});
    if (read.ok()) {
      slot.module = std::make_shared<const HloModule>(std::move(*read));
    } else {
      slot.error = read.status().Where(entries_[index].key);
    }
  });
  if (slot.module == nullptr) return slot.error;
  return slot.module;
}

}  // namespace strobe::hlo
