#include "src/storage/sigbus_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

#include "src/base/status.h"

namespace strobe::storage {
namespace {

// Zero pages laid at one fault. Behind the end of a cut file everything is gone, so a window saves
// faults; after a read error of the disk it costs at most this much good data of a mapping that is
// marked as bad anyway.
constexpr size_t kFaultWindowBytes = 256 * 1024;
constexpr uintptr_t kPageBytes = 4096;

struct Slot {
  std::atomic<bool> taken = false;
  std::atomic<uintptr_t> begin = 0;  // 0 while not in use
  std::atomic<uintptr_t> end = 0;
  std::atomic<bool> faulted = false;
};

Slot g_slots[kMaxGuardedMappings];
std::atomic<size_t> g_used_slots = 0;  // slots at and beyond this index were never taken
std::atomic<size_t> g_next_slot = 0;   // where to look first; only a hint
struct sigaction g_previous;

// True when the address was ours and reads as zero from now on.
bool CoverFault(uintptr_t address) {
  const size_t used = g_used_slots.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) {
    Slot& slot = g_slots[i];
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    const uintptr_t end = slot.end.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= end) continue;
    const uintptr_t page = address & ~(kPageBytes - 1);
    const uintptr_t mapping_end = (end + kPageBytes - 1) & ~(kPageBytes - 1);
    const auto cover = [page](uintptr_t limit) {
      // The bare system call: safe in a signal handler, and not taken by a thread checker for a
      // write to the page, which only the kernel replaces.
      return syscall(SYS_mmap, page, limit - page, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != -1;
    };
    slot.faulted.store(true, std::memory_order_release);
    // Too many areas already: one area to the end replaces them all.
    return cover(std::min<uintptr_t>(mapping_end, page + kFaultWindowBytes)) || cover(mapping_end);
  }
  return false;
}

void PassOn(int signal_number, siginfo_t* info, void* context) {
  if ((g_previous.sa_flags & SA_SIGINFO) != 0 && g_previous.sa_sigaction != nullptr) {
    g_previous.sa_sigaction(signal_number, info, context);
    return;
  }
  if (g_previous.sa_handler != SIG_DFL && g_previous.sa_handler != SIG_IGN) {
    g_previous.sa_handler(signal_number);
    return;
  }
  // The instruction runs again and ends the process as it would have without us.
  signal(signal_number, SIG_DFL);
}

void HandleSigbus(int signal_number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool covered = CoverFault(reinterpret_cast<uintptr_t>(info->si_addr));
  errno = saved_errno;
  if (!covered) PassOn(signal_number, info, context);
}

void InstallHandler() {
  struct sigaction action = {};
  action.sa_sigaction = HandleSigbus;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  STROBE_CHECK(sigaction(SIGBUS, &action, &g_previous) == 0);
}

}  // namespace

std::optional<size_t> GuardMapping(const void* begin, size_t size_bytes) {
  static std::once_flag installed;
  std::call_once(installed, InstallHandler);
  const size_t first = g_next_slot.load(std::memory_order_relaxed);
  for (size_t step = 0; step < kMaxGuardedMappings; ++step) {
    const size_t i = (first + step) % kMaxGuardedMappings;
    bool expected = false;
    if (g_slots[i].taken.load() || !g_slots[i].taken.compare_exchange_strong(expected, true)) {
      continue;
    }
    g_next_slot.store((i + 1) % kMaxGuardedMappings, std::memory_order_relaxed);
    size_t used = g_used_slots.load();
    while (used <= i && !g_used_slots.compare_exchange_weak(used, i + 1)) {
    }
    g_slots[i].faulted.store(false);
    // The end first: the handler looks at a slot only when its begin is set.
    const auto address = reinterpret_cast<uintptr_t>(begin);
    g_slots[i].end.store(address + size_bytes, std::memory_order_release);
    g_slots[i].begin.store(address, std::memory_order_release);
    return i;
  }
  return std::nullopt;
}

void UnguardMapping(size_t slot) {
  STROBE_CHECK(slot < kMaxGuardedMappings && g_slots[slot].taken.load());
  g_slots[slot].begin.store(0, std::memory_order_release);
  g_slots[slot].end.store(0, std::memory_order_release);
  g_slots[slot].taken.store(false, std::memory_order_release);
  g_next_slot.store(slot, std::memory_order_relaxed);
}

bool MappingFaulted(size_t slot) {
  STROBE_CHECK(slot < kMaxGuardedMappings);
  return g_slots[slot].faulted.load(std::memory_order_acquire);
}

}  // namespace strobe::storage
