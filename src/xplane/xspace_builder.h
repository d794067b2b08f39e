// Writes XSpace bytes: for importers of other formats, generators and tests.
//
//   XSpaceBuilder space;
//   PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
//   const int64_t op = plane.AddEventMetadata("fusion.3");
//   LineBuilder& line = plane.AddLine(1, "XLA Ops", /*timestamp_ns=*/0);
//   line.AddEvent(op, /*offset_ps=*/1000, /*duration_ps=*/500)
//       .AddStat(plane.StatId("flops"), uint64_t{42});
//   std::string bytes = space.Serialize();
//
// References stay valid as long as the XSpaceBuilder (their addresses never change). Serialize may
// be called again after more was added. Cost: about 30 ns an event and three copies of the bytes
// while serializing. Field numbers: the public XPlane schema.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

namespace strobe::xplane {

class StatSink {
 public:
  // Appends to `*out`, as field `field_number` of the message being written (4 in an event).
  explicit StatSink(std::string* out, uint32_t field_number = 4)
      : field_number_(field_number), out_(out) {}
  StatSink(const StatSink&) = delete;
  StatSink& operator=(const StatSink&) = delete;
  StatSink& AddStat(int64_t metadata_id, uint64_t value);
  StatSink& AddStat(int64_t metadata_id, int64_t value);
  StatSink& AddStat(int64_t metadata_id, double value);
  StatSink& AddStat(int64_t metadata_id, std::string_view value);
  StatSink& AddBytesStat(int64_t metadata_id, std::string_view value);
  StatSink& AddRefStat(int64_t metadata_id, uint64_t ref_id);

 private:
  StatSink& Append(std::string_view stat);

  const uint32_t field_number_;
  std::string* const out_;
};

class LineBuilder {
 public:
  LineBuilder(int64_t id, std::string_view name, int64_t timestamp_ns);
  LineBuilder(const LineBuilder&) = delete;
  LineBuilder& operator=(const LineBuilder&) = delete;
  // The sink is valid until the next AddEvent.
  StatSink& AddEvent(int64_t metadata_id, int64_t offset_ps, int64_t duration_ps);
  StatSink& AddAggregatedEvent(int64_t metadata_id, int64_t num_occurrences, int64_t duration_ps);
  LineBuilder& SetDisplay(int64_t display_id, std::string_view display_name);
  // The XLine message without tag and length.
  std::string Serialize();

 private:
  void FlushEvent();

  std::string head_;    // fields before the events
  std::string events_;  // finished ones, tagged
  std::string tail_;    // fields behind them
  std::string event_;   // the one being written
  bool event_open_ = false;
  StatSink sink_{&event_};
};

class PlaneBuilder {
 public:
  explicit PlaneBuilder(std::string_view name, int64_t id = 0);
  PlaneBuilder(const PlaneBuilder&) = delete;
  PlaneBuilder& operator=(const PlaneBuilder&) = delete;
  // Ids count from 1; the same name gives the same id.
  int64_t AddEventMetadata(std::string_view name, std::string_view display_name = "");
  // Stats of the metadata entry itself; call right after AddEventMetadata of a new name.
  StatSink& EventMetadataStats(int64_t metadata_id);
  int64_t StatId(std::string_view name);
  StatSink& PlaneStats();
  LineBuilder& AddLine(int64_t id, std::string_view name, int64_t timestamp_ns);
  std::string Serialize();

 private:
  struct Metadata {
    Metadata(int64_t i, std::string_view n, std::string_view d) : id(i), name(n), display_name(d) {}
    const int64_t id;
    const std::string name;
    const std::string display_name;
    std::string stats;
    StatSink sink{&stats, 5};
  };
  std::string name_;
  int64_t id_;
  std::map<std::string, int64_t, std::less<>> event_ids_;
  std::map<std::string, int64_t, std::less<>> stat_ids_;
  std::deque<Metadata> event_metadata_;
  std::deque<LineBuilder> lines_;
  std::string stats_;
  StatSink plane_sink_{&stats_, 6};
};

class XSpaceBuilder {
 public:
  PlaneBuilder& AddPlane(std::string_view name, int64_t id = 0);
  XSpaceBuilder& AddHostname(std::string_view hostname);
  XSpaceBuilder& AddError(std::string_view text);
  XSpaceBuilder& AddWarning(std::string_view text);
  std::string Serialize();

 private:
  std::deque<PlaneBuilder> planes_;
  std::string rest_;
};

}  // namespace strobe::xplane
