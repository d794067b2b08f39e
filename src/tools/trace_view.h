// A part of a trace as a viewer shows it: processes, threads, events with arguments, counters and
// flows.
//
//   TraceView view;
//   TraceView::Event& event = view.events.emplace_back();
//   event.name = view.Intern("fusion.3");
//   event.start_ps = 1000;
//   view.AddArgument(event, {.name = view.Intern("uid"), .kind = kInt64, .integer = 0});
//
// Filled by the tools trace_viewer and trace_viewer@, written by the api module (JSON, packed
// protobuf). Texts are interned: an event is one fixed record, its arguments stand in one common
// array. Cost: 88 B an event, 24 B an argument. Times are picoseconds of the file's time.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace strobe::tools {

struct TraceView {
  // Which of XProf's two viewers is answered: they differ in the JSON around the events.
  enum class Form : uint8_t { kStreaming, kLegacy };
  enum class Encoding : uint8_t { kJson, kPacked };  // as asked by `format`

  struct Thread {
    uint64_t id = 0;
    std::string name;
  };
  struct Process {
    uint32_t id = 0;
    std::string name;
    std::vector<Thread> threads;  // by id
  };

  struct Argument {
    enum class Kind : uint8_t { kInt64, kUint64, kDouble, kText };
    uint32_t name = 0;  // text
    Kind kind = Kind::kInt64;
    // A text argument that is shown as the event's stack frame instead, when it is the first.
    bool stack_frame = false;
    union {
      int64_t integer = 0;
      uint64_t unsigned_integer;
      double number;
      uint32_t text;
    };
  };

  enum class EventKind : uint8_t { kComplete, kAsync, kCounter };
  enum class FlowDirection : uint8_t { kNone = 0, kIn = 1, kOut = 2, kThrough = 3 };

  struct Event {
    EventKind kind = EventKind::kComplete;
    FlowDirection flow = FlowDirection::kNone;
    uint8_t flow_category = 0;
    bool has_group = false;
    bool has_arguments = false;  // an argument list is written even when it is empty
    uint32_t process = 0;        // id
    uint64_t thread = 0;         // id; of complete events
    uint32_t name = 0;           // text
    uint32_t serial = 0;         // tells events of one time apart; 0 for the first
    int64_t start_ps = 0;
    int64_t duration_ps = 0;
    int64_t group = 0;
    uint64_t flow_id = 0;
    uint64_t first_argument = 0;
    uint32_t argument_count = 0;
  };

  Form form = Form::kStreaming;
  Encoding encoding = Encoding::kJson;
  std::vector<Process> processes;  // by id
  std::vector<Event> events;       // in the order in which they are written
  std::vector<Argument> arguments;
  std::vector<uint32_t> stack_frames;  // texts, in the order of their numbers 1, 2, ...
  std::vector<std::pair<std::string, bool>> details;
  bool has_span = false;      // false: the trace has no event
  int64_t full_start_ps = 0;  // of the whole trace
  int64_t full_end_ps = 0;
  bool filtered_by_visibility = true;

  // The number of a text; the same text gives the same number.
  uint32_t Intern(std::string_view text) {
    const auto known = text_numbers_.find(text);
    if (known != text_numbers_.end()) return known->second;
    const auto number = static_cast<uint32_t>(texts_.size());
    const std::string& kept = texts_.emplace_back(text);
    text_numbers_.emplace(kept, number);
    return number;
  }
  std::string_view Text(uint32_t number) const { return texts_[number]; }
  size_t text_count() const { return texts_.size(); }

  // Arguments of one event must be added one after the other.
  void AddArgument(Event& event, const Argument& argument) {
    if (event.argument_count == 0) event.first_argument = arguments.size();
    arguments.push_back(argument);
    ++event.argument_count;
    event.has_arguments = true;
  }

  // Gives a text a number among the stack frames, once.
  void AddStackFrame(std::string_view text) {
    const uint32_t number = Intern(text);
    if (is_frame_.size() <= number) is_frame_.resize(number + 1);
    if (!is_frame_[number]) stack_frames.push_back(number);
    is_frame_[number] = true;
  }

  uint64_t ApproximateBytes() const;
  // Name of a flow's category; empty for generic, legacy and unknown ones.
  static std::string_view CategoryName(uint8_t category);

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, uint32_t> text_numbers_;
  std::vector<bool> is_frame_;  // by text
};

}  // namespace strobe::tools
