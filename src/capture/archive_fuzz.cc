// Any bytes as an uploaded archive: an error or files within the bounds, never a crash.
#include <cstdint>
#include <string_view>

#include "src/base/status.h"
#include "src/capture/archive.h"

namespace {

class BoundedTaker : public strobe::capture::ArchiveTaker {
 public:
  strobe::Result<bool> Begin(const std::string& path, uint64_t) override {
    STROBE_CHECK(!path.empty() && path.front() != '/');
    STROBE_CHECK(("/" + path + "/").find("/../") == std::string::npos);
    return true;
  }
  strobe::Status Take(std::string_view bytes) override {
    taken_ += bytes.size();
    STROBE_CHECK(taken_ <= kMaxBytes);
    return strobe::OkStatus();
  }
  strobe::Status End() override { return strobe::OkStatus(); }
  static constexpr uint64_t kMaxBytes = 1 << 20;

 private:
  uint64_t taken_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  BoundedTaker taker;
  (void)strobe::capture::ReadArchive(
      bytes, {.max_entries = 100, .max_output_bytes = BoundedTaker::kMaxBytes}, taker, {});
  return 0;
}
