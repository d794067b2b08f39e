// How much heap a piece of work holds, counted as it allocates.
//
//   MemoryMeter meter;
//   {
//     const MemoryMeter::Scope scope(&meter);    // this thread counts for the meter
//     Compute();
//   }
//   meter.held_bytes();
//
// What other threads do for the work counts when they open a scope of their own with
// MemoryMeter::Current() of the thread that asked. Freeing what was allocated outside a scope
// counts too, so that figures are of the change, and can be below 0. Mapped memory (columns) is not
// heap and not counted. How: operator new and delete of the whole program look at one thread-local
// pointer; under sanitizers their hooks do the same. Cost: some ns an allocation inside a scope,
// one branch outside; the meter is behind by at most kSlackBytes a thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace strobe {

class MemoryMeter {
 public:
  static constexpr int64_t kSlackBytes = 64 * 1024;

  MemoryMeter() = default;
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;

  int64_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }

  // The meter of this thread, or nullptr.
  static MemoryMeter* Current();

  // The meter must outlive the scope. Scopes nest; the innermost counts. A null meter: nothing.
  class Scope {
   public:
    explicit Scope(MemoryMeter* meter);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    MemoryMeter* outer_;
  };

 private:
  friend void CountMemory(int64_t bytes);
  std::atomic<int64_t> held_bytes_ = 0;
};

}  // namespace strobe
