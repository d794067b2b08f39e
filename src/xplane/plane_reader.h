// Reads one plane of the skeleton: its lines' heads and its metadata tables.
//
//   PlaneReader reader(source, options, &table_budget, &damage);
//   reader.Read(plane_bytes, clipped, &plane, &index);
//
// A first pass counts, so that tables are allocated once. A bad metadata entry is reported and left
// out; a bad field of the plane itself ends the plane there.
#pragma once

#include <cstdint>
#include <string_view>

#include "src/storage/byte_source.h"
#include "src/wire/wire_reader.h"
#include "src/xplane/skeleton.h"

namespace strobe::xplane {

// Heap that the tables of one file may take.
struct TableBudget {
  uint64_t used_bytes = 0;
  uint64_t limit_bytes = 0;
  bool Take(uint64_t bytes) {
    if (bytes > limit_bytes - used_bytes) return false;
    used_bytes += bytes;
    return true;
  }
};

class PlaneReader {
 public:
  // A plane with more damaged fields than this makes no sense any more; each report costs 2 us.
  static constexpr uint32_t kMaxBadFields = 64;

  // Tables are fetched from the disk in pieces of this size. More would fetch the bodies of HLO
  // modules, which stand among them and are not read yet.
  static constexpr uint64_t kTableFetchBytes = 1 << 20;

  PlaneReader(const storage::ByteSource& source, const OpenOptions& options, TableBudget* budget,
              DamageLog* damage)
      : source_(source),
        file_(source.bytes()),
        options_(options),
        budget_(*budget),
        damage_(*damage) {}

  // `clipped`: the file ends before the plane does, which is reported here.
  void Read(std::string_view bytes, bool clipped, Plane* plane, PlaneIndex* index);
  // Whether any field of any plane could be read.
  bool understood() const { return understood_; }

 private:
  void ReserveTables(std::string_view bytes);
  // False: a limit was hit, the rest of the plane is not read.
  bool ReadField(const wire::WireField& field);
  bool AddLine(std::string_view bytes, bool clipped);
  void ReadLineHead(std::string_view bytes, Line* line);
  bool AddEventMetadata(std::string_view entry);
  bool AddStatMetadata(std::string_view entry);
  bool ReadEntry(std::string_view entry, std::string_view what, int64_t* id,
                 std::string_view* record);
  void Finish(const wire::WireReader& reader, bool clipped);
  DamagePlace PlaceOf(std::string_view at) const;
  void AddBad(Damage damage);
  bool OverLimit(std::string_view what, std::string_view at);

  const storage::ByteSource& source_;
  const std::string_view file_;
  const OpenOptions& options_;
  TableBudget& budget_;
  DamageLog& damage_;
  Plane* plane_ = nullptr;
  PlaneIndex* index_ = nullptr;
  bool understood_ = false;
  uint32_t bad_fields_ = 0;
};

}  // namespace strobe::xplane
