#include "src/hlo/frame_table.h"

#include <map>
#include <string_view>
#include <tuple>

#include "src/hlo/message.h"

namespace strobe::hlo {
namespace {

// Numbers things from 1 in the order of first sight.
class Builder {
 public:
  Builder(const StackFrames& from, StackFrames* to, std::vector<int64_t>* ids)
      : from_(from), to_(*to), ids_(*ids) {
    ids_.assign(from.frames.size(), 0);
  }

  void Add(int64_t frame_id) {
    // The frame and its callers up to the first that is known already.
    std::vector<int64_t> chain;
    int64_t parent = 0;
    while (Valid(frame_id) && chain.size() <= from_.frames.size()) {
      const auto at = static_cast<size_t>(frame_id - 1);
      if (ids_[at] != 0) {
        parent = ids_[at];
        break;
      }
      chain.push_back(frame_id);
      frame_id = from_.frames[at].parent;
    }
    for (size_t i = chain.size(); i-- > 0;) {
      const auto at = static_cast<size_t>(chain[i] - 1);
      if (ids_[at] == 0) ids_[at] = AddFrame(AddLocation(from_.frames[at].location), parent);
      parent = ids_[at];
    }
  }

 private:
  bool Valid(int64_t id) const { return id > 0 && id <= static_cast<int64_t>(from_.frames.size()); }

  int64_t AddFrame(int64_t location, int64_t parent) {
    const auto [at, added] = frames_.try_emplace({location, parent}, to_.frames.size() + 1);
    if (added) to_.frames.push_back({location, parent});
    return at->second;
  }

  int64_t AddLocation(int64_t id) {
    if (id <= 0 || id > static_cast<int64_t>(from_.locations.size())) return 0;
    StackFrames::Location location = from_.locations[static_cast<size_t>(id - 1)];
    location.file = AddText(from_.files, location.file, &to_.files, &file_ids_);
    location.function = AddText(from_.functions, location.function, &to_.functions, &function_ids_);
    const auto [at, added] =
        locations_.try_emplace({location.file, location.function, location.line, location.column,
                                location.end_line, location.end_column},
                               to_.locations.size() + 1);
    if (added) to_.locations.push_back(location);
    return at->second;
  }

  static int64_t AddText(const std::vector<std::string_view>& from, int64_t id,
                         std::vector<std::string_view>* to,
                         std::map<std::string_view, int64_t>* ids) {
    if (id <= 0 || id > static_cast<int64_t>(from.size())) return 0;
    const std::string_view text = from[static_cast<size_t>(id - 1)];
    const auto [at, added] = ids->try_emplace(text, to->size() + 1);
    if (added) to->push_back(text);
    return at->second;
  }

  const StackFrames& from_;
  StackFrames& to_;
  std::vector<int64_t>& ids_;
  std::map<std::pair<int64_t, int64_t>, int64_t> frames_;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>, int64_t> locations_;
  std::map<std::string_view, int64_t> file_ids_;
  std::map<std::string_view, int64_t> function_ids_;
};

}  // namespace

FrameTable FrameTable::Of(const HloModule& module) {
  FrameTable table;
  Builder builder(module.stack_frames(), &table.frames_, &table.ids_);
  for (const Instruction& instruction : module.instructions()) {
    if (instruction.metadata.empty()) continue;
    builder.Add(DecodeMetadata(instruction.metadata).stack_frame_id);
  }
  return table;
}

int64_t FrameTable::IdOf(int64_t frame_id) const {
  return frame_id > 0 && frame_id <= static_cast<int64_t>(ids_.size())
             ? ids_[static_cast<size_t>(frame_id - 1)]
             : 0;
}

}  // namespace strobe::hlo
