// Any bytes as a profile: everything that can be asked of the file is asked, and what must hold of
// every file is checked.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "src/storage/byte_source.h"
#include "src/xplane/profile_file.h"

namespace {

using strobe::xplane::LineColumns;
using strobe::xplane::ProfileFile;

// Ends exactly where its allocation ends, so that a sanitizer sees a read behind it.
class FuzzBytes : public strobe::storage::ByteSource {
 public:
  FuzzBytes(const uint8_t* data, size_t size_bytes)
      : data_(new char[size_bytes]), size_bytes_(size_bytes) {
    if (size_bytes > 0) std::memcpy(data_.get(), data, size_bytes);
  }
  std::string_view bytes() const override { return {data_.get(), size_bytes_}; }
  const strobe::storage::FileIdentity& identity() const override { return identity_; }
  strobe::Status CheckUnchanged() const override { return strobe::OkStatus(); }
  uint64_t owned_bytes() const override { return size_bytes_; }

 private:
  std::unique_ptr<char[]> data_;
  size_t size_bytes_;
  strobe::storage::FileIdentity identity_;
};

void Require(bool condition) {
  if (!condition) std::abort();
}

// Reads every byte of a view.
void Touch(std::string_view text) {
  volatile char last = 0;
  for (const char c : text) last = c;
  (void)last;
}

void CheckLine(const ProfileFile& file, size_t p, size_t l) {
  const LineColumns& line = file.Line(p, l);
  const auto& plane = file.planes()[p];
  uint64_t next = 0;
  for (const LineColumns::Row& row : line.rows) {
    Require(row.first == next && row.count > 0);
    next += row.count;
  }
  Require(next == line.event_count());
  for (const LineColumns::Row& row : line.timed_rows()) {
    for (uint32_t e = row.first + 1; e < row.first + row.count; ++e) {
      Require(line.start_ps[e] >= line.start_ps[e - 1] + line.duration_ps[e - 1]);
    }
  }
  for (uint32_t e = 0; e < line.event_count(); ++e) {
    Require(line.name[e] < plane.event_metadata.size() && line.duration_ps[e] >= 0);
    Touch(plane.event_metadata[line.name[e]].label());
    for (const auto& stat : file.EventStats(p, l, e)) {
      Touch(stat.name);
      Touch(stat.text);
    }
    (void)file.EventOccurrences(p, l, e);
  }
  Touch(line.display_name);
  if (!plane.stat_metadata.empty()) {
    Require(file.EventStatColumn(p, l, plane.stat_metadata[0].name).size() == line.event_count());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto opened = ProfileFile::Open(std::make_shared<FuzzBytes>(data, size), {});
  if (!opened.ok()) return 0;
  const ProfileFile& file = **opened;
  for (size_t p = 0; p < file.planes().size(); ++p) {
    Touch(file.planes()[p].name);
    for (const auto& stat : file.PlaneStats(p)) Touch(stat.text);
    for (uint32_t m = 0; m < file.planes()[p].event_metadata.size(); ++m) {
      Touch(file.planes()[p].event_metadata[m].metadata);
      (void)file.MetadataStats(p, m);
      (void)file.MetadataChildIds(p, m);
    }
    for (size_t l = 0; l < file.planes()[p].lines.size(); ++l) CheckLine(file, p, l);
  }
  for (const auto& damage : file.damage()) {
    Require(!damage.status.ok() && damage.offset_bytes <= size);
  }
  return 0;
}
