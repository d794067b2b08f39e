// One event of the Chrome trace event format, read from its JSON text.
//
//   TraceEventParser parser;
//   TraceEvent event;
//   if (parser.Parse(text, &event)) Use(event.phase, event.name, ...);     // views until next
//   Parse ArgsParser args; args.ForEach(args_text, [&](const Arg& arg) { ... });
//
// Times are exact: decimals become picoseconds without passing through a double. The text is copied
// into a padded buffer first, so it may lie at the end of a mapping and may change under us. Cost:
// about 0.5 us an event. Limits: kMaxEventBytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace strobe::xplane {

// An event with a name of 1 MB must pass; more than this is no event.
inline constexpr size_t kMaxTraceEventBytes = size_t{64} << 20;

struct TraceEvent {
  char phase = 0;
  std::string_view name;
  std::string_view category;
  std::string_view id;   // as text; local and global ids of "id2" too
  std::string_view pid;  // as text, without quotes; empty when absent
  std::string_view tid;
  std::optional<__int128> time_ps;
  std::optional<__int128> duration_ps;
  std::string_view bind_id;
  bool flow_in = false;
  bool flow_out = false;
  bool binds_to_enclosing = false;  // "bp": "e"
  // Where the args object lies in the event's text; size 0 when there is none.
  size_t args_offset = 0;
  size_t args_size = 0;
};

class TraceEventParser {
 public:
  TraceEventParser();
  ~TraceEventParser();
  TraceEventParser(const TraceEventParser&) = delete;
  TraceEventParser& operator=(const TraceEventParser&) = delete;
  // False when the text is not an object of valid JSON.
  bool Parse(std::string_view text, TraceEvent* event);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Arg {
  enum class Type : uint8_t { kText, kInt, kUint, kDouble };
  std::string_view key;
  Type type = Type::kText;
  std::string_view text;  // kText: a string, or the JSON of an object, array or null
  int64_t int_value = 0;
  uint64_t uint_value = 0;
  double double_value = 0;
};

class ArgsParser {
 public:
  ArgsParser();
  ~ArgsParser();
  ArgsParser(const ArgsParser&) = delete;
  ArgsParser& operator=(const ArgsParser&) = delete;
  // Calls `take` for each member of the object; false when it is no valid JSON (members before the
  // mistake were given).
  bool ForEach(std::string_view args, const std::function<void(const Arg&)>& take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strobe::xplane
