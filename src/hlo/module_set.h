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
// What is decoded is kept until DropDecoded, or until others need the room: kMaxDecodedBytes, least
// recently asked for first. Whoever holds a module keeps it alive.
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
  // Of one session; a module of 37,000 instructions takes some 10 MB.
  static constexpr uint64_t kMaxDecodedBytes = uint64_t{1} << 30;

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
  // The schedule of a TPU kernel, as the compiler dumped it; `file_name` as
  // "fusion.6.llo_module.pb".
  void AddLloFile(std::string_view file_name, std::string_view bytes,
                  std::shared_ptr<const void> owner);
  void Finish();

  struct LloFile {
    std::string name;  // of the file, without its ending
    std::string_view bytes;
  };
  const std::vector<LloFile>& llo_files() const { return llo_files_; }
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

  // What the decoded modules take that the set still holds.
  uint64_t resident_bytes() const;
  void DropDecoded() const;
  // For tests.
  void set_max_decoded_bytes(uint64_t bytes) { max_decoded_bytes_ = bytes; }

 private:
  struct Slot {
    std::mutex decoding;  // one decodes, the others wait
    // Guarded by the set's mutex_:
    std::shared_ptr<const HloModule> module;
    std::optional<Status> error;
    uint64_t bytes = 0;
    uint64_t asked_at = 0;
  };
  // The module or error that is known; null when it must be decoded.
  std::optional<Result<std::shared_ptr<const HloModule>>> Known(size_t index) const;
  std::vector<Entry> entries_;
  std::vector<LloFile> llo_files_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::vector<std::unique_ptr<Slot>> slots_;
  uint64_t max_decoded_bytes_ = kMaxDecodedBytes;
  mutable std::mutex mutex_;  // guards what slots hold, and the two below
  mutable uint64_t decoded_bytes_ = 0;
  mutable uint64_t asked_ = 0;
};

}  // namespace strobe::hlo
