// Any text as trace JSON: ends, and what it makes is an XSpace.
#include <cstddef>
#include <cstdint>

#include "src/storage/byte_source.h"
#include "src/xplane/trace_json_import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strobe;
  using namespace strobe::xplane;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  auto import = ImportTraceJson(json, CancelToken());
  if (!import.ok() || import->xspace.empty()) return 0;
  const auto file = ProfileFile::Open(storage::OwnBytes(std::move(import->xspace)), {});
  STROBE_CHECK(file.ok());
  STROBE_CHECK((*file)->DecodeAll(CancelToken(), nullptr).ok());
  STROBE_CHECK((*file)->damage().empty());
  return 0;
}
