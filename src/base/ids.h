// Ids that do not collide: a time part that sorts and a random part.
//
//   IdMaker ids(SystemClock(), SystemRandom());
//   ids.Make("op")            // "op-0193c2f7a1b4-7k2m9q0d"
//   ids.MakeSessionName()     // "2026_11_29_14_31_07_482_9f3a": XProf's form with milliseconds and
//   a random part
//
// Two captures that start in the same millisecond still differ (16 random bits in the name; 40 in
// ids).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/clock.h"

namespace strobe {

class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t Next() = 0;
};

// Seeded from the kernel. Thread-safe. Lives for ever.
Random& SystemRandom();

// Repeats itself for the same seed (SplitMix64). Not thread-safe; for tests and generators.
class SeededRandom : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t Next() override;

 private:
  uint64_t state_;
};

class IdMaker {
 public:
  IdMaker(const Clock& clock, Random& random) : clock_(clock), random_(random) {}
  std::string Make(std::string_view prefix) const;
  std::string MakeSessionName() const;

 private:
  const Clock& clock_;
  Random& random_;
};

}  // namespace strobe
