#include "src/base/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>

#include "src/base/hash.h"

namespace strobe {
namespace {

constexpr std::string_view kGnuNote("GNU\0", 4);

size_t Padded(size_t size_bytes) { return (size_bytes + 3) & ~size_t{3}; }

// The build id among the notes of one segment; empty when it is not there.
std::string_view FindBuildId(std::string_view notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof(note));
    const size_t name_at = sizeof(note);
    const size_t text_at = name_at + Padded(note.n_namesz);
    const size_t next_at = text_at + Padded(note.n_descsz);
    if (next_at > notes.size()) return {};
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(name_at, note.n_namesz) == kGnuNote) {
      return notes.substr(text_at, note.n_descsz);
    }
    notes.remove_prefix(next_at);
  }
  return {};
}

// The first object is the program itself.
int TakeProgram(dl_phdr_info* info, size_t /*size*/, void* hash) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const std::string_view build_id =
        FindBuildId({reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr),
                     static_cast<size_t>(segment.p_memsz)});
    if (!build_id.empty()) *static_cast<uint64_t*>(hash) = Hash64(build_id);
  }
  return 1;
}

}  // namespace

uint64_t BuildIdHash() {
  static const uint64_t kHash = [] {
    uint64_t hash = 0;
    dl_iterate_phdr(TakeProgram, &hash);
    return hash;
  }();
  return kHash;
}

}  // namespace strobe
