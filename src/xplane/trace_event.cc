#include "src/xplane/trace_event.h"

#include <simdjson.h>

#include <cstring>

#include "src/xplane/json_cursor.h"

namespace strobe::xplane {
namespace {

namespace ondemand = simdjson::ondemand;

// A copy of a text with the room behind it that the parser may read.
class PaddedText {
 public:
  simdjson::padded_string_view Set(std::string_view text) {
    const size_t needed = text.size() + simdjson::SIMDJSON_PADDING;
    if (buffer_.size() < needed) buffer_.resize(needed + needed / 2);
    std::memcpy(buffer_.data(), text.data(), text.size());
    std::memset(buffer_.data() + text.size(), 0, simdjson::SIMDJSON_PADDING);
    return simdjson::padded_string_view(buffer_.data(), text.size(), buffer_.size());
  }
  size_t OffsetOf(std::string_view part) const {
    return static_cast<size_t>(part.data() - buffer_.data());
  }

 private:
  std::string buffer_;
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// A string's content, or the text of a number or literal; empty for objects and arrays.
bool ScalarText(ondemand::value& value, std::string_view* text) {
  ondemand::json_type type;
  if (value.type().get(type)) return false;
  switch (type) {
    case ondemand::json_type::string:
      return !value.get_string().get(*text);
    case ondemand::json_type::object:
    case ondemand::json_type::array:
      *text = {};
      return true;
    default:
      *text = Trim(value.raw_json_token());
      return true;
  }
}

bool ReadTime(ondemand::value& value, std::optional<__int128>* time) {
  std::string_view text;
  if (!ScalarText(value, &text)) return false;
  *time = MicrosToPicos(text);
  return true;
}

bool ReadTruth(ondemand::value& value, bool* truth) {
  std::string_view text;
  if (!ScalarText(value, &text)) return false;
  *truth = text == "true";
  return true;
}

// "id2": {"local": "0x1"} or {"global": ...}.
bool ReadId2(ondemand::value& value, std::string_view* id) {
  ondemand::object object;
  if (value.get_object().get(object)) return true;  // of another type: no id
  for (auto member : object) {
    ondemand::value inner;
    if (member.value().get(inner) || !ScalarText(inner, id)) return false;
  }
  return true;
}

bool ReadMember(std::string_view key, ondemand::value& value, const PaddedText& text,
                TraceEvent* event) {
  if (key == "ph") {
    std::string_view phase;
    if (!ScalarText(value, &phase)) return false;
    event->phase = phase.size() == 1 ? phase[0] : '\0';
    return true;
  }
  if (key == "name") return ScalarText(value, &event->name);
  if (key == "cat") return ScalarText(value, &event->category);
  if (key == "id") return ScalarText(value, &event->id);
  if (key == "id2") return ReadId2(value, &event->id);
  if (key == "pid") return ScalarText(value, &event->pid);
  if (key == "tid") return ScalarText(value, &event->tid);
  if (key == "ts") return ReadTime(value, &event->time_ps);
  if (key == "dur") return ReadTime(value, &event->duration_ps);
  if (key == "bind_id") return ScalarText(value, &event->bind_id);
  if (key == "flow_in") return ReadTruth(value, &event->flow_in);
  if (key == "flow_out") return ReadTruth(value, &event->flow_out);
  if (key == "bp") {
    std::string_view binding;
    if (!ScalarText(value, &binding)) return false;
    event->binds_to_enclosing = binding == "e";
    return true;
  }
  if (key == "args") {
    ondemand::object object;
    if (value.get_object().get(object)) return true;  // not an object: ignored
    std::string_view json;
    if (object.raw_json().get(json)) return false;
    event->args_offset = text.OffsetOf(json);
    event->args_size = Trim(json).size();
  }
  return true;
}

bool ReadArg(ondemand::value& value, Arg* arg) {
  ondemand::json_type type;
  if (value.type().get(type)) return false;
  arg->type = Arg::Type::kText;
  switch (type) {
    case ondemand::json_type::string:
      return !value.get_string().get(arg->text);
    case ondemand::json_type::object: {
      ondemand::object object;
      return !value.get_object().get(object) && !object.raw_json().get(arg->text);
    }
    case ondemand::json_type::array: {
      ondemand::array array;
      return !value.get_array().get(array) && !array.raw_json().get(arg->text);
    }
    case ondemand::json_type::boolean: {
      bool truth = false;
      if (value.get_bool().get(truth)) return false;
      arg->type = Arg::Type::kUint;
      arg->uint_value = truth ? 1 : 0;
      return true;
    }
    case ondemand::json_type::null:
      arg->text = "null";
      return true;
    case ondemand::json_type::number: {
      // Integers beyond 64 bits keep their digits as text.
      arg->text = Trim(value.raw_json_token());
      ondemand::number number;
      if (value.get_number().get(number)) return true;
      if (number.is_double()) {
        arg->type = Arg::Type::kDouble;
        arg->double_value = number.get_double();
      } else if (number.is_int64()) {
        arg->type = Arg::Type::kInt;
        arg->int_value = number.get_int64();
      } else {
        arg->type = Arg::Type::kUint;
        arg->uint_value = number.get_uint64();
      }
      return true;
    }
  }
  return false;
}

}  // namespace

struct TraceEventParser::State {
  ondemand::parser parser;
  PaddedText text;
};

TraceEventParser::TraceEventParser() : state_(std::make_unique<State>()) {}
TraceEventParser::~TraceEventParser() = default;

bool TraceEventParser::Parse(std::string_view text, TraceEvent* event) {
  *event = TraceEvent();
  if (text.size() > kMaxTraceEventBytes) return false;
  ondemand::document document;
  if (state_->parser.iterate(state_->text.Set(text)).get(document)) return false;
  ondemand::object object;
  if (document.get_object().get(object)) return false;
  for (auto member : object) {
    std::string_view key;
    ondemand::value value;
    if (member.unescaped_key().get(key) || member.value().get(value)) return false;
    if (!ReadMember(key, value, state_->text, event)) return false;
  }
  return true;
}

struct ArgsParser::State {
  ondemand::parser parser;
  PaddedText text;
};

ArgsParser::ArgsParser() : state_(std::make_unique<State>()) {}
ArgsParser::~ArgsParser() = default;

bool ArgsParser::ForEach(std::string_view args, const std::function<void(const Arg&)>& take) {
  ondemand::document document;
  if (args.size() > kMaxTraceEventBytes ||
      state_->parser.iterate(state_->text.Set(args)).get(document)) {
    return false;
  }
  ondemand::object object;
  if (document.get_object().get(object)) return false;
  for (auto member : object) {
    Arg arg;
    ondemand::value value;
    if (member.unescaped_key().get(arg.key) || member.value().get(value)) return false;
    if (!ReadArg(value, &arg)) return false;
    take(arg);
  }
  return true;
}

}  // namespace strobe::xplane
