#include "src/base/ids.h"

#include <sys/random.h>
#include <time.h>

#include <cstdio>

#include "src/base/hash.h"
#include "src/base/status.h"

namespace strobe {
namespace {

class KernelRandom : public Random {
 public:
  uint64_t Next() override {
    uint64_t value = 0;
    STROBE_CHECK(getrandom(&value, sizeof(value), 0) == static_cast<ssize_t>(sizeof(value)));
    return value;
  }
};

}  // namespace

Random& SystemRandom() {
  static KernelRandom* const random = new KernelRandom;
  return *random;
}

uint64_t SeededRandom::Next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

std::string IdMaker::Make(std::string_view prefix) const {
  const auto millis = static_cast<uint64_t>(clock_.NowUnixMillis());
  return std::string(prefix) + "-" + ToHex64(millis).substr(4) + "-" +
         ToBase32(random_.Next()).substr(5);
}

std::string IdMaker::MakeSessionName() const {
  const int64_t millis = clock_.NowUnixMillis();
  const time_t seconds = millis / 1000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::snprintf(text, sizeof(text), "%04d_%02d_%02d_%02d_%02d_%02d_%03d_%04x", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(millis % 1000), static_cast<unsigned>(random_.Next() & 0xFFFF));
  return text;
}

}  // namespace strobe
