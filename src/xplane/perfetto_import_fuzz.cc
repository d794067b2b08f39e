// Any bytes as a Perfetto trace: ends, and what it makes is an XSpace.
#include <cstddef>
#include <cstdint>

#include "src/storage/byte_source.h"
#include "src/xplane/perfetto_import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strobe;
  using namespace strobe::xplane;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)LooksLikePerfetto(bytes);
  auto import = ImportPerfetto(bytes, CancelToken());
  if (!import.ok() || import->xspace.empty()) return 0;
  const auto file = ProfileFile::Open(storage::OwnBytes(std::move(import->xspace)), {});
  STROBE_CHECK(file.ok());
  STROBE_CHECK((*file)->DecodeAll(CancelToken(), nullptr).ok());
  STROBE_CHECK((*file)->damage().empty());
  return 0;
}
