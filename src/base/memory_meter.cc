#include "src/base/memory_meter.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STROBE_MEMORY_BY_HOOKS 1
#include <sanitizer/allocator_interface.h>
#endif
#endif

namespace strobe {
namespace {

struct ThreadMeter {
  MemoryMeter* meter = nullptr;
  int64_t pending_bytes = 0;  // not yet told to the meter
};
// Trivial, so that it can be used before and after everything else of a thread.
constinit thread_local ThreadMeter thread_meter;

}  // namespace

void CountMemory(int64_t bytes) {
  ThreadMeter& mine = thread_meter;
  mine.pending_bytes += bytes;
  if (mine.pending_bytes < MemoryMeter::kSlackBytes &&
      mine.pending_bytes > -MemoryMeter::kSlackBytes) {
    return;
  }
  mine.meter->held_bytes_.fetch_add(mine.pending_bytes, std::memory_order_relaxed);
  mine.pending_bytes = 0;
}

namespace {

#ifndef STROBE_MEMORY_BY_HOOKS
void CountAllocated(void* memory) {
  if (thread_meter.meter == nullptr) return;
  CountMemory(static_cast<int64_t>(::malloc_usable_size(memory)));
}
#endif

void CountFreed(void* memory) {
  if (thread_meter.meter == nullptr || memory == nullptr) return;
  CountMemory(-static_cast<int64_t>(::malloc_usable_size(memory)));
}

}  // namespace

MemoryMeter* MemoryMeter::Current() { return thread_meter.meter; }

MemoryMeter::Scope::Scope(MemoryMeter* meter) : outer_(thread_meter.meter) {
#ifdef STROBE_MEMORY_BY_HOOKS
  static const bool installed = [] {
    const auto allocated = [](const volatile void* memory, size_t size_bytes) {
      if (thread_meter.meter != nullptr && memory != nullptr) {
        CountMemory(static_cast<int64_t>(size_bytes));
      }
    };
    const auto freed = [](const volatile void* memory) { CountFreed(const_cast<void*>(memory)); };
    return __sanitizer_install_malloc_and_free_hooks(allocated, freed) != 0;
  }();
  (void)installed;
#endif
  // What is pending belongs to the meter that was in force.
  if (outer_ != nullptr) outer_->held_bytes_.fetch_add(thread_meter.pending_bytes);
  thread_meter = {.meter = meter, .pending_bytes = 0};
}

MemoryMeter::Scope::~Scope() {
  if (thread_meter.meter != nullptr) {
    thread_meter.meter->held_bytes_.fetch_add(thread_meter.pending_bytes);
  }
  thread_meter = {.meter = outer_, .pending_bytes = 0};
}

#ifndef STROBE_MEMORY_BY_HOOKS
// For the operators below, which are outside of the namespace.
namespace memory_meter_internal {
void Allocated(void* memory) { CountAllocated(memory); }
void Freed(void* memory) { CountFreed(memory); }
}  // namespace memory_meter_internal
#endif

}  // namespace strobe

#ifndef STROBE_MEMORY_BY_HOOKS
// The other forms of new and delete end in these, but for those with an alignment, which allocate
// and free by themselves.
void* operator new(size_t size_bytes) {
  for (;;) {
    if (void* memory = std::malloc(size_bytes == 0 ? 1 : size_bytes)) {
      strobe::memory_meter_internal::Allocated(memory);
      return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* memory) noexcept {
  strobe::memory_meter_internal::Freed(memory);
  std::free(memory);
}

void operator delete(void* memory, size_t /*size_bytes*/) noexcept { ::operator delete(memory); }
#endif
