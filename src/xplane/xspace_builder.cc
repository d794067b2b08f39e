#include "src/xplane/xspace_builder.h"

#include "src/base/status.h"
#include "src/wire/wire_writer.h"

namespace strobe::xplane {

using wire::AppendBytesField;
using wire::AppendDoubleField;
using wire::AppendSignedField;
using wire::AppendVarintField;

StatSink& StatSink::Append(std::string_view stat) {
  AppendBytesField(field_number_, stat, out_);
  return *this;
}

StatSink& StatSink::AddStat(int64_t metadata_id, uint64_t value) {
  std::string stat;
  AppendSignedField(1, metadata_id, &stat);
  AppendVarintField(3, value, &stat);
  return Append(stat);
}

StatSink& StatSink::AddStat(int64_t metadata_id, int64_t value) {
  std::string stat;
  AppendSignedField(1, metadata_id, &stat);
  AppendSignedField(4, value, &stat);
  return Append(stat);
}

StatSink& StatSink::AddStat(int64_t metadata_id, double value) {
  std::string stat;
  AppendSignedField(1, metadata_id, &stat);
  AppendDoubleField(2, value, &stat);
  return Append(stat);
}

StatSink& StatSink::AddStat(int64_t metadata_id, std::string_view value) {
  std::string stat;
  AppendSignedField(1, metadata_id, &stat);
  AppendBytesField(5, value, &stat);
  return Append(stat);
}

StatSink& StatSink::AddBytesStat(int64_t metadata_id, std::string_view value) {
  std::string stat;
  AppendSignedField(1, metadata_id, &stat);
  AppendBytesField(6, value, &stat);
  return Append(stat);
}

StatSink& StatSink::AddRefStat(int64_t metadata_id, uint64_t ref_id) {
  std::string stat;
  AppendSignedField(1, metadata_id, &stat);
  AppendVarintField(7, ref_id, &stat);
  return Append(stat);
}

LineBuilder::LineBuilder(int64_t id, std::string_view name, int64_t timestamp_ns) {
  if (id != 0) AppendSignedField(1, id, &head_);
  if (!name.empty()) AppendBytesField(2, name, &head_);
  if (timestamp_ns != 0) AppendSignedField(3, timestamp_ns, &head_);
}

void LineBuilder::FlushEvent() {
  if (!event_open_) return;
  AppendBytesField(4, event_, &events_);
  event_.clear();
  event_open_ = false;
}

StatSink& LineBuilder::AddEvent(int64_t metadata_id, int64_t offset_ps, int64_t duration_ps) {
  FlushEvent();
  event_open_ = true;
  AppendSignedField(1, metadata_id, &event_);
  AppendSignedField(2, offset_ps, &event_);
  if (duration_ps != 0) AppendSignedField(3, duration_ps, &event_);
  return sink_;
}

StatSink& LineBuilder::AddAggregatedEvent(int64_t metadata_id, int64_t num_occurrences,
                                          int64_t duration_ps) {
  FlushEvent();
  event_open_ = true;
  AppendSignedField(1, metadata_id, &event_);
  if (duration_ps != 0) AppendSignedField(3, duration_ps, &event_);
  AppendSignedField(5, num_occurrences, &event_);
  return sink_;
}

LineBuilder& LineBuilder::SetDisplay(int64_t display_id, std::string_view display_name) {
  tail_.clear();
  if (display_id != 0) AppendSignedField(10, display_id, &tail_);
  if (!display_name.empty()) AppendBytesField(11, display_name, &tail_);
  return *this;
}

std::string LineBuilder::Serialize() {
  std::string line;
  line.reserve(head_.size() + events_.size() + event_.size() + tail_.size() + 8);
  line += head_;
  line += events_;
  if (event_open_) AppendBytesField(4, event_, &line);
  line += tail_;
  return line;
}

PlaneBuilder::PlaneBuilder(std::string_view name, int64_t id) : name_(name), id_(id) {}

int64_t PlaneBuilder::AddEventMetadata(std::string_view name, std::string_view display_name) {
  if (const auto found = event_ids_.find(name); found != event_ids_.end()) return found->second;
  const auto id = static_cast<int64_t>(event_metadata_.size() + 1);
  event_metadata_.emplace_back(id, name, display_name);
  event_ids_.emplace(name, id);
  return id;
}

StatSink& PlaneBuilder::EventMetadataStats(int64_t metadata_id) {
  STROBE_CHECK(metadata_id >= 1 && static_cast<size_t>(metadata_id) <= event_metadata_.size());
  return event_metadata_[static_cast<size_t>(metadata_id - 1)].sink;
}

int64_t PlaneBuilder::StatId(std::string_view name) {
  if (const auto found = stat_ids_.find(name); found != stat_ids_.end()) return found->second;
  const auto id = static_cast<int64_t>(stat_ids_.size() + 1);
  stat_ids_.emplace(name, id);
  return id;
}

StatSink& PlaneBuilder::PlaneStats() { return plane_sink_; }

LineBuilder& PlaneBuilder::AddLine(int64_t id, std::string_view name, int64_t timestamp_ns) {
  return lines_.emplace_back(id, name, timestamp_ns);
}

std::string PlaneBuilder::Serialize() {
  std::string plane;
  if (id_ != 0) AppendSignedField(1, id_, &plane);
  if (!name_.empty()) AppendBytesField(2, name_, &plane);
  for (LineBuilder& line : lines_) AppendBytesField(3, line.Serialize(), &plane);
  std::string message;
  std::string entry;
  for (const Metadata& metadata : event_metadata_) {
    message.clear();
    AppendSignedField(1, metadata.id, &message);
    if (!metadata.name.empty()) AppendBytesField(2, metadata.name, &message);
    if (!metadata.display_name.empty()) AppendBytesField(4, metadata.display_name, &message);
    message += metadata.stats;
    entry.clear();
    AppendSignedField(1, metadata.id, &entry);
    AppendBytesField(2, message, &entry);
    AppendBytesField(4, entry, &plane);
  }
  std::map<int64_t, std::string_view> stat_names;
  for (const auto& [name, id] : stat_ids_) stat_names.emplace(id, name);
  for (const auto& [id, name] : stat_names) {
    message.clear();
    AppendSignedField(1, id, &message);
    AppendBytesField(2, name, &message);
    entry.clear();
    AppendSignedField(1, id, &entry);
    AppendBytesField(2, message, &entry);
    AppendBytesField(5, entry, &plane);
  }
  plane += stats_;
  return plane;
}

PlaneBuilder& XSpaceBuilder::AddPlane(std::string_view name, int64_t id) {
  return planes_.emplace_back(name, id);
}

XSpaceBuilder& XSpaceBuilder::AddError(std::string_view text) {
  AppendBytesField(2, text, &rest_);
  return *this;
}

XSpaceBuilder& XSpaceBuilder::AddWarning(std::string_view text) {
  AppendBytesField(3, text, &rest_);
  return *this;
}

XSpaceBuilder& XSpaceBuilder::AddHostname(std::string_view hostname) {
  AppendBytesField(4, hostname, &rest_);
  return *this;
}

std::string XSpaceBuilder::Serialize() {
  std::string space;
  for (PlaneBuilder& plane : planes_) AppendBytesField(1, plane.Serialize(), &space);
  space += rest_;
  return space;
}

}  // namespace strobe::xplane
