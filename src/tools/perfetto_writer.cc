#include "src/tools/perfetto_writer.h"

#include "src/wire/wire_writer.h"

namespace strobe::tools {
namespace {

using wire::AppendBytesField;
using wire::AppendDoubleField;
using wire::AppendFixed64Field;
using wire::AppendSignedField;
using wire::AppendVarintField;

// Fields of a packet.
constexpr uint32_t kTimestamp = 8, kSequence = 10, kEvent = 11, kInterned = 12, kFlags = 13,
                   kTrackDescriptor = 60;
// Of an event.
constexpr uint32_t kArgument = 4, kType = 9, kNameId = 10, kTrack = 11, kDoubleCounter = 44,
                   kFlowIds = 47, kFlowEnds = 48;
constexpr uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;
// Of a node of a hash map beside its text.
constexpr size_t kNodeBytes = 64;

}  // namespace

uint64_t PerfettoWriter::Intern(Interner* interner, std::string_view text) {
  const auto [at, added] = interner->ids.try_emplace(std::string(text), 0);
  if (added) {
    at->second = ++last_id_;
    interned_bytes_ += text.size() + kNodeBytes;
    std::string entry;
    AppendVarintField(1, at->second, &entry);
    AppendBytesField(2, text, &entry);
    AppendBytesField(interner->field, entry, &interned_);
  }
  return at->second;
}

void PerfettoWriter::ForgetTexts() {
  for (Interner* interner : {&event_names_, &argument_names_, &texts_}) interner->ids.clear();
  interned_bytes_ = 0;
  first_ = true;
}

void PerfettoWriter::WritePacket(std::string_view fields) {
  // The first packet clears what readers may know of the sequence; all need what was interned.
  constexpr uint64_t kCleared = 1, kNeedsState = 2;
  std::string packet(fields);
  AppendVarintField(kSequence, 1, &packet);
  AppendVarintField(kFlags, first_ ? kCleared | kNeedsState : kNeedsState, &packet);
  first_ = false;
  AppendBytesField(1, packet, &trace_);
}

void PerfettoWriter::WriteTrack(std::string_view descriptor) {
  std::string packet;
  AppendBytesField(kTrackDescriptor, descriptor, &packet);
  WritePacket(packet);
}

uint64_t PerfettoWriter::AddTrack(std::string_view name, uint64_t parent) {
  std::string descriptor;
  AppendVarintField(1, ++last_track_, &descriptor);
  AppendBytesField(2, name, &descriptor);
  if (parent != kNoTrack) AppendVarintField(5, parent, &descriptor);
  WriteTrack(descriptor);
  return last_track_;
}

uint64_t PerfettoWriter::AddCounterTrack(std::string_view name, uint64_t parent,
                                         std::string_view unit, std::string_view share_key) {
  std::string counter;
  if (unit == "count" || unit == "bytes") {
    AppendVarintField(3, unit == "count" ? 2 : 3, &counter);
  } else {
    AppendBytesField(6, unit, &counter);
  }
  if (!share_key.empty()) AppendBytesField(7, share_key, &counter);
  std::string descriptor;
  AppendVarintField(1, ++last_track_, &descriptor);
  AppendBytesField(2, name, &descriptor);
  if (parent != kNoTrack) AppendVarintField(5, parent, &descriptor);
  AppendBytesField(8, counter, &descriptor);
  WriteTrack(descriptor);
  return last_track_;
}

std::string PerfettoWriter::Arguments(const std::vector<PerfettoArgument>& arguments) {
  std::string fields;
  for (const PerfettoArgument& argument : arguments) {
    std::string one;
    AppendVarintField(1, Intern(&argument_names_, argument.name), &one);
    if (const auto* truth = std::get_if<bool>(&argument.value)) {
      AppendVarintField(2, *truth ? 1 : 0, &one);
    } else if (const auto* whole = std::get_if<uint64_t>(&argument.value)) {
      AppendVarintField(3, *whole, &one);
    } else if (const auto* signed_whole = std::get_if<int64_t>(&argument.value)) {
      AppendSignedField(4, *signed_whole, &one);
    } else if (const auto* real = std::get_if<double>(&argument.value)) {
      AppendDoubleField(5, *real, &one);
    } else {
      AppendVarintField(17, Intern(&texts_, std::get<std::string>(argument.value)), &one);
    }
    AppendBytesField(kArgument, one, &fields);
  }
  return fields;
}

void PerfettoWriter::WriteEvent(int64_t time_ns, std::string_view event) {
  std::string packet;
  AppendSignedField(kTimestamp, time_ns, &packet);
  AppendBytesField(kEvent, event, &packet);
  if (!interned_.empty()) AppendBytesField(kInterned, interned_, &packet);
  interned_.clear();
  WritePacket(packet);
}

void PerfettoWriter::Slice(uint64_t track, int64_t start_ns, int64_t end_ns, std::string_view name,
                           const std::vector<PerfettoArgument>& arguments,
                           const PerfettoFlows& flows) {
  std::string begin = Arguments(arguments);
  AppendVarintField(kType, kBegin, &begin);
  AppendVarintField(kNameId, Intern(&event_names_, name), &begin);
  AppendVarintField(kTrack, track, &begin);
  for (const uint64_t flow : flows.in) AppendFixed64Field(kFlowEnds, flow, &begin);
  if (flows.leave_at_begin) {
    for (const uint64_t flow : flows.out) AppendFixed64Field(kFlowIds, flow, &begin);
  }
  WriteEvent(start_ns, begin);
  std::string end;
  AppendVarintField(kType, kEnd, &end);
  AppendVarintField(kTrack, track, &end);
  if (!flows.leave_at_begin) {
    for (const uint64_t flow : flows.out) AppendFixed64Field(kFlowIds, flow, &end);
  }
  WriteEvent(end_ns, end);
}

void PerfettoWriter::Instant(uint64_t track, int64_t time_ns, std::string_view name,
                             const std::vector<PerfettoArgument>& arguments,
                             const PerfettoFlows& flows) {
  std::string event = Arguments(arguments);
  AppendVarintField(kType, kInstant, &event);
  AppendVarintField(kNameId, Intern(&event_names_, name), &event);
  AppendVarintField(kTrack, track, &event);
  for (const uint64_t flow : flows.out) AppendFixed64Field(kFlowIds, flow, &event);
  for (const uint64_t flow : flows.in) AppendFixed64Field(kFlowEnds, flow, &event);
  WriteEvent(time_ns, event);
}

void PerfettoWriter::Count(uint64_t track, int64_t time_ns, double value) {
  std::string event;
  AppendVarintField(kType, kCounter, &event);
  AppendVarintField(kTrack, track, &event);
  AppendDoubleField(kDoubleCounter, value, &event);
  WriteEvent(time_ns, event);
}

}  // namespace strobe::tools
