#include "src/hlo/module_set.h"

#include <algorithm>

namespace strobe::hlo {
namespace {

constexpr std::string_view kSidecarEnding = ".hlo_proto.pb";
constexpr std::string_view kLloEnding = ".llo_module.pb";

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

void ModuleSet::AddLloFile(std::string_view file_name, std::string_view bytes,
                           std::shared_ptr<const void> owner) {
  if (file_name.ends_with(kLloEnding)) file_name.remove_suffix(kLloEnding.size());
  llo_files_.push_back({std::string(file_name), bytes});
  owners_.push_back(std::move(owner));
}

void ModuleSet::Finish() {
  std::ranges::stable_sort(llo_files_, {}, &LloFile::name);
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

std::optional<Result<std::shared_ptr<const HloModule>>> ModuleSet::Known(size_t index) const {
  Slot& slot = *slots_[index];
  const std::lock_guard lock(mutex_);
  slot.asked_at = ++asked_;
  if (slot.module != nullptr) return slot.module;
  if (slot.error) return *slot.error;
  return std::nullopt;
}

Result<std::shared_ptr<const HloModule>> ModuleSet::Module(size_t index) const {
  STROBE_CHECK(index < slots_.size());
  if (auto known = Known(index)) return *std::move(known);
  Slot& slot = *slots_[index];
  const std::lock_guard one(slot.decoding);
  if (auto known = Known(index)) return *std::move(known);
  Result<HloModule> read = HloModule::Read(entries_[index].hlo_proto, ReadLimits{});
  if (!read.ok()) {
    const std::lock_guard lock(mutex_);
    slot.error = read.status().Where(entries_[index].key);
    return *slot.error;
  }
  auto module = std::make_shared<const HloModule>(std::move(*read));
  std::vector<std::shared_ptr<const HloModule>> dropped;  // freed after the lock
  const std::lock_guard lock(mutex_);
  slot.module = module;
  slot.bytes = module->resident_bytes();
  decoded_bytes_ += slot.bytes;
  while (decoded_bytes_ > max_decoded_bytes_) {
    Slot* oldest = nullptr;
    for (const std::unique_ptr<Slot>& other : slots_) {
      if (other->module == nullptr || other.get() == &slot) continue;
      if (oldest == nullptr || other->asked_at < oldest->asked_at) oldest = other.get();
    }
    if (oldest == nullptr) break;
    decoded_bytes_ -= oldest->bytes;
    dropped.push_back(std::move(oldest->module));
    oldest->module = nullptr;
  }
  return module;
}

uint64_t ModuleSet::resident_bytes() const {
  const std::lock_guard lock(mutex_);
  return decoded_bytes_;
}

void ModuleSet::DropDecoded() const {
  std::vector<std::shared_ptr<const HloModule>> dropped;  // freed after the lock
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot->module == nullptr) continue;
    dropped.push_back(std::move(slot->module));
    slot->module = nullptr;
  }
  decoded_bytes_ = 0;
}

}  // namespace strobe::hlo
