#include "src/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "src/base/json_writer.h"

namespace strobe {
namespace {

spdlog::logger& Logger() {
  static auto* const logger = [] {
    auto* const made =
        new spdlog::logger("strobe", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("{\"time\":\"%Y-%m-%dT%H:%M:%S.%e%z\",\"level\":\"%l\",%v}");
    made->flush_on(spdlog::level::warn);
    return made;
  }();
  return *logger;
}

void Write(spdlog::level::level_enum level, std::string_view event,
           std::initializer_list<LogField> fields) {
  if (!Logger().should_log(level)) return;
  JsonWriter json;
  json.BeginObject();
  json.Key("event").String(event);
  for (const LogField& field : fields) {
    json.Key(field.key);
    if (const auto* integer = std::get_if<int64_t>(&field.value)) json.Int(*integer);
    if (const auto* number = std::get_if<double>(&field.value)) json.Double(*number);
    if (const auto* truth = std::get_if<bool>(&field.value)) json.Bool(*truth);
    if (const auto* text = std::get_if<std::string>(&field.value)) {
      json.String(std::string_view(*text).substr(0, kMaxLogLineBytes));
    }
  }
  json.EndObject();
  // The pattern supplies the outer braces, so the object's own are taken off.
  const std::string& text = json.text();
  Logger().log(level, "{}", std::string_view(text).substr(1, text.size() - 2));
}

}  // namespace

bool SetLogLevel(std::string_view name) {
  if (name == "debug")
    Logger().set_level(spdlog::level::debug);
  else if (name == "info")
    Logger().set_level(spdlog::level::info);
  else if (name == "warning")
    Logger().set_level(spdlog::level::warn);
  else if (name == "error")
    Logger().set_level(spdlog::level::err);
  else if (name == "off")
    Logger().set_level(spdlog::level::off);
  else
    return false;
  return true;
}

void LogDebug(std::string_view event, std::initializer_list<LogField> fields) {
  Write(spdlog::level::debug, event, fields);
}
void LogInfo(std::string_view event, std::initializer_list<LogField> fields) {
  Write(spdlog::level::info, event, fields);
}
void LogWarning(std::string_view event, std::initializer_list<LogField> fields) {
  Write(spdlog::level::warn, event, fields);
}
void LogError(std::string_view event, std::initializer_list<LogField> fields) {
  Write(spdlog::level::err, event, fields);
}

}  // namespace strobe
