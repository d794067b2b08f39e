// All HLO modules of a session: embedded ones of every host and those from files beside it; each is
// decoded when it is first asked for, once.
//
//   ModuleSet set;
//   set.AddEmbedded(*file, file);                       // of each host, in host order
//   set.AddFile("jit_f(3).hlo_proto.pb", bytes, owner); // sidecars
//   set.Finish();
//   if (const std::optional<size_t> index = set.FindProgram(3)) {
//     STROBE_ASSIGN_OR_RETURN(std::shared_ptr<const HloModule> module, set.Module(*index));
//   }
//
// Fill first, then Finish, then share: the const part is thread-safe. Modules are sorted by key; of
// two with one key the first added counts. Cost: nothing but names until a module is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/hlo/hlo_module.h"
#include "src/hlo/module_source.h"
#include "src/xplane/profile_file.h"

namespace strobe::hlo {

class ModuleSet {
 public:
  struct Entry {
    std::string key;   // "jit_f(3)"; of a file its stem
    std::string name;  // of the module
    uint64_t program_id = 0;
    std::string_view hlo_proto;
    bool from_file = false;
  };

  // `owner` keeps the bytes alive.
  void AddEmbedded(const xplane::ProfileFile& file, std::shared_ptr<const void> owner);
  void AddFile(std::string_view file_name, std::string_view bytes,
               std::shared_ptr<const void> owner);
  void Finish();

  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  std::optional<size_t> FindProgram(uint64_t program_id) const;
  std::optional<size_t> FindKey(std::string_view key) const;
  // As XProf looks modules up: the first key that contains the text.
  std::optional<size_t> FindKeyContaining(std::string_view text) const;
  // By the module's own name, for events that carry no program id.
  std::optional<size_t> FindName(std::string_view name) const;
  // HLO_* errors of HloModule::Read; the same error each time.
  Result<std::shared_ptr<const HloModule>> Module(size_t index) const;

 private:
  struct Slot {
    std::once_flag once;
    std::shared_ptr<const HloModule> module;
    Status error;
  };
  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<const void>> owners_;
  mutable std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace strobe::hlo
