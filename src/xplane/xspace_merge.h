// Puts XSpaces that are parts of one profile together, as XProf does for Riegeli files.
//
//   XSpaceMerger merger;
//   for (std::string_view part : parts) STROBE_RETURN_IF_ERROR(merger.Add(part));
//   STROBE_ASSIGN_OR_RETURN(std::string xspace, std::move(merger).Finish());
//
// What belongs together: planes of one name; in them lines of one id; the k-th of several in one
// part goes with the k-th of the others. Events are appended in the order of the parts and keep
// their absolute time: the line begins at the earliest timestamp of its parts and offsets are moved
// to it. Metadata entries that are the same but for their id become one; an id that means something
// else in a later part gets a new one, in events, stats, refs and children alike. Plane stats, host
// names, errors and warnings of later parts are added when they are new.
//
// Differences from XProf, on purpose: entries of one name but other contents stay apart (XProf
// keeps the first), refs are moved with their ids (XProf leaves them), aggregated events are never
// moved in time, and the order of planes and lines is that of the parts (XProf reverses it).
//
// Cost: parts whose ids and timestamps agree, as those of one recorder do, are copied; others are
// written anew, about 100 MB/s. Memory: the events twice while finishing. A part that makes no
// sense from some place on is merged up to there and counted in `damaged_parts`.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/wire/wire_reader.h"

namespace strobe::xplane {

class XSpaceMerger {
 public:
  // `part` may go away afterwards.
  Status Add(std::string_view part);
  uint64_t parts() const { return parts_; }
  uint64_t damaged_parts() const { return damaged_parts_; }
  // The error is our limit: a merged profile of more than 2^40 bytes.
  Result<std::string> Finish() &&;

 private:
  using IdMap = std::unordered_map<int64_t, int64_t>;
  struct Segment {
    int64_t timestamp_ns = 0;
    std::string events;  // tagged records
  };
  struct Line {
    int64_t id = 0;
    std::string name;
    std::string display_name;
    int64_t display_id = 0;
    int64_t duration_ps = 0;
    std::string unknown;
    std::vector<Segment> segments;
    uint64_t last_part = 0;
  };
  // One of the two metadata tables.
  struct Table {
    std::map<int64_t, std::string> entries;           // id to message without its id
    std::unordered_map<std::string, int64_t> ids_of;  // the other way round
    int64_t next_id = 1;
  };
  struct Plane {
    int64_t id = 0;
    std::string name;
    std::deque<Line> lines;
    std::unordered_map<int64_t, std::vector<size_t>> lines_of;
    Table event_metadata;
    Table stat_metadata;
    std::vector<std::pair<int64_t, std::string>> stats;
    std::string unknown;
    uint64_t last_part = 0;
  };
  struct Remap {
    IdMap events;
    IdMap stats;
    bool identity = true;
  };
  struct RawPlane;
  struct RawLine;

  void AddPlane(std::string_view bytes);
  Plane& PlaneFor(const RawPlane& raw);
  Line& LineFor(Plane* plane, const RawLine& raw);
  Remap MergeTables(const RawPlane& raw, Plane* plane);
  void MergeLine(std::string_view bytes, const Remap& remap, Plane* plane);
  void MergePlaneStats(const RawPlane& raw, const Remap& remap, Plane* plane);
  void AddText(uint32_t field, std::string_view text);
  static int64_t Insert(int64_t id, std::string content, Table* table);
  static std::string WriteLine(const Line& line);
  static std::string WritePlane(Plane* plane);

  std::deque<Plane> planes_;
  std::map<std::string, std::vector<size_t>, std::less<>> planes_of_;
  std::unordered_set<std::string> texts_;
  std::string top_;  // texts and unknown fields, tagged
  uint64_t parts_ = 0;
  uint64_t damaged_parts_ = 0;
  uint64_t input_bytes_ = 0;
  bool damaged_ = false;  // the part that is being added
};

}  // namespace strobe::xplane
