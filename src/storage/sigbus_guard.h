// Keeps the process alive when a mapped file is cut short: reads of lost pages give zeros.
//
// A page of a mapping that lies behind the new end of its file raises SIGBUS. This guard installs
// one handler for the process; for addresses inside registered mappings it lays zero pages over the
// fault and marks the mapping as faulted. Any other SIGBUS goes to the handler that was there
// before.
//
//   const std::optional<size_t> slot = GuardMapping(data, size);
//   ... read ...
//   if (MappingFaulted(*slot)) ...   // some of what was read were zeros, not the file
//   UnguardMapping(*slot);           // before munmap
//
// Cost: registering is a scan for a free slot; nothing at all while no fault happens. The handler
// takes no lock and allocates nothing. A handler installed over ours later must pass on what is not
// its own.
#pragma once

#include <cstddef>
#include <optional>

namespace strobe::storage {

// Mappings guarded at once. A session of 256 hosts with column files takes 512; the kernel's own
// limit (vm.max_map_count) is 65,530 areas.
inline constexpr size_t kMaxGuardedMappings = 16384;

// nullopt when all slots are taken.
std::optional<size_t> GuardMapping(const void* begin, size_t size_bytes);
void UnguardMapping(size_t slot);
bool MappingFaulted(size_t slot);

}  // namespace strobe::storage
