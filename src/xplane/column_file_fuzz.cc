// Any bytes as a column file must be refused or give columns that can be used. Half of the inputs
// are taken as they are; the others change bytes of a good file and put all checksums right again,
// so that the fuzzer gets behind them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/base/log.h"
#include "src/xplane/column_file.h"
#include "src/xplane/column_format.h"
#include "src/xplane/xspace_builder.h"

namespace {

using namespace strobe;
using namespace strobe::xplane;
using column_format::Entry;
using column_format::Header;

struct Good {
  std::string space;
  std::string file;
};

const Good& TheGoodFile() {
  static const Good* const good = [] {
    SetLogLevel("off");
    XSpaceBuilder space;
    PlaneBuilder& plane = space.AddPlane("/host:CPU");
    const int64_t id = plane.AddEventMetadata("a");
    for (int64_t l = 1; l <= 3; ++l) {
      LineBuilder& line = plane.AddLine(l, "t", 1000 * l);
      for (int64_t i = 0; i < 5 * l; ++i) {
        line.AddEvent(id, i * 10, 25 - i).AddStat(plane.StatId("n"), i);
      }
    }
    auto* const made = new Good;
    made->space = space.Serialize();
    const auto profile = ProfileFile::Open(storage::OwnBytes(made->space), {});
    STROBE_CHECK(profile.ok());
    const std::string path = std::filesystem::temp_directory_path() / "strobe_column_fuzz.col";
    const Hash128 hash = Hash128Of(made->space);
    STROBE_CHECK(WriteColumnFile(**profile, hash, path, CancelToken()).ok());
    std::ifstream file(path, std::ios::binary);
    made->file.assign(std::istreambuf_iterator<char>(file), {});
    return made;
  }();
  return *good;
}

void Reseal(std::string* file) {
  if (file->size() < sizeof(Header)) return;
  auto header = column_format::Load<Header>(*file, 0);
  if (header.directory_offset <= file->size()) {
    for (uint64_t at = header.directory_offset; at + sizeof(Entry) <= file->size();
         at += sizeof(Entry)) {
      auto entry = column_format::Load<Entry>(*file, at);
      if (entry.block_offset > file->size()) continue;
      const std::string_view block =
          std::string_view(*file).substr(entry.block_offset, entry.block_bytes);
      const Hash128 hash = Hash128Of(block);
      entry.block_hash_high = hash.high;
      entry.block_hash_low = hash.low;
      file->replace(at, sizeof(Entry), column_format::BytesOf(entry));
    }
    header.directory_hash = Hash64(std::string_view(*file).substr(header.directory_offset));
  }
  header.header_hash =
      Hash64(column_format::BytesOf(header).substr(0, sizeof(Header) - sizeof(uint64_t)));
  file->replace(0, sizeof(Header), column_format::BytesOf(header));
}

// Uses everything a reader of columns uses.
void Use(const ProfileFile& profile) {
  for (size_t p = 0; p < profile.planes().size(); ++p) {
    for (size_t l = 0; l < profile.planes()[p].lines.size(); ++l) {
      const LineColumns& line = profile.Line(p, l);
      uint64_t in_rows = 0;
      for (const LineColumns::Row& row : line.rows) {
        STROBE_CHECK(uint64_t{row.first} + row.count <= line.event_count());
        in_rows += row.count;
      }
      STROBE_CHECK(in_rows == line.event_count());
      (void)line.timed_rows().size();
      for (uint32_t e = 0; e < line.event_count(); ++e) {
        STROBE_CHECK(line.name[e] < profile.planes()[p].event_metadata.size());
        (void)profile.EventStats(p, l, e);
        (void)profile.EventOccurrences(p, l, e);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Good& good = TheGoodFile();
  std::string file;
  if (data[0] % 2 == 0) {
    file.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  } else {
    file = good.file;
    for (size_t at = 1; at + 3 <= size; at += 3) {
      const size_t place = (size_t{data[at]} << 8 | data[at + 1]) % file.size();
      file[place] = static_cast<char>(data[at + 2]);
    }
    Reseal(&file);
  }
  file.reserve(64);  // not within the string object: the columns must be aligned
  const auto columns =
      ColumnFile::Open(storage::OwnBytes(file), Hash128Of(good.space), good.space.size());
  if (!columns.ok()) return 0;
  const auto profile = OpenWithColumns(storage::OwnBytes(good.space), {}, *columns);
  STROBE_CHECK(profile.ok());
  (void)(*columns)->Approve(**profile);
  Use(**profile);
  return 0;
}
