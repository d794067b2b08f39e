#include "src/hlo/hlo_module.h"

#include "src/hlo/message.h"

namespace strobe::hlo {
namespace {

std::string_view WithoutPercent(std::string_view name) {
  return !name.empty() && name.front() == '%' ? name.substr(1) : name;
}

}  // namespace

OpMetadata DecodeMetadata(std::string_view bytes) {
  OpMetadata metadata;
  wire::WireReader reader(bytes);
  wire::WireField field;
  while (reader.Next(&field)) {
    switch (field.number) {
      case 1:
        metadata.op_type = field.bytes;
        break;
      case 2:
        metadata.op_name = field.bytes;
        break;
      case 3:
        metadata.source_file = field.bytes;
        break;
      case 4:
        metadata.source_line = field.signed_value();
        break;
      case 12:
        metadata.deduplicated_name = field.bytes;
        break;
      case 15:
        metadata.stack_frame_id = field.signed_value();
        break;
      case 16:
        metadata.scheduling_name = field.bytes;
        break;
      case 17:
        metadata.source_end_line = field.signed_value();
        break;
      case 18:
        metadata.source_column = field.signed_value();
        break;
      case 19:
        metadata.source_end_column = field.signed_value();
        break;
      default:
        break;
    }
  }
  return metadata;
}

uint32_t HloModule::FindInstruction(std::string_view name) const {
  name = WithoutPercent(name);
  for (uint32_t i = 0; i < instructions_.size(); ++i) {
    if (instructions_[i].name == name) return i;
  }
  return kNone;
}

uint32_t HloModule::FindComputation(std::string_view name) const {
  name = WithoutPercent(name);
  for (uint32_t c = 0; c < computations_.size(); ++c) {
    if (computations_[c].name == name) return c;
  }
  return kNone;
}

std::vector<SourceFrame> HloModule::Frames(int64_t stack_frame_id) const {
  std::vector<SourceFrame> frames;
  const auto text = [](const std::vector<std::string_view>& table, int64_t id) {
    return id > 0 && id <= static_cast<int64_t>(table.size()) ? table[static_cast<size_t>(id - 1)]
                                                              : std::string_view();
  };
  int64_t id = stack_frame_id;
  // A damaged table may run in circles.
  while (id > 0 && id <= static_cast<int64_t>(frames_.frames.size()) &&
         frames.size() < kMaxFrames) {
    const StackFrames::Frame& frame = frames_.frames[static_cast<size_t>(id - 1)];
    if (frame.location > 0 && frame.location <= static_cast<int64_t>(frames_.locations.size())) {
      const StackFrames::Location& at = frames_.locations[static_cast<size_t>(frame.location - 1)];
      frames.push_back(
          {text(frames_.files, at.file), text(frames_.functions, at.function), at.line, at.column});
    }
    id = frame.parent;
  }
  return frames;
}

uint64_t HloModule::resident_bytes() const {
  uint64_t bytes = computations_.capacity() * sizeof(Computation) +
                   instructions_.capacity() * sizeof(Instruction) +
                   links_.capacity() * sizeof(uint32_t) + shapes_.capacity() * sizeof(Shape);
  bytes += frames_.files.capacity() * sizeof(std::string_view) +
           frames_.functions.capacity() * sizeof(std::string_view) +
           frames_.locations.capacity() * sizeof(StackFrames::Location) +
           frames_.frames.capacity() * sizeof(StackFrames::Frame);
  return bytes;
}

}  // namespace strobe::hlo
