// The one way to log: an event name and typed fields, written as one JSON object a line to standard
// error.
//
//   LogInfo("session.opened", {{"session", id}, {"files", 3}, {"took_ms", 12.5}});
//   LogWarning("cache.ignored", {{"reason", "checksum differs"}, {"file", path}});
//
// Never log secrets: values are written as given. Cost: about 2 us a line, asynchronous to nothing;
// keep it out of loops over events. Lines are cut at kMaxLogLineBytes. Thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace strobe {

inline constexpr size_t kMaxLogLineBytes = 16 * 1024;

struct LogField {
  using Value = std::variant<int64_t, double, bool, std::string>;
  std::string_view key;
  Value value;

  LogField(std::string_view k, std::string_view v) : key(k), value(std::string(v)) {}
  LogField(std::string_view k, const char* v) : key(k), value(std::string(v)) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, bool v) : key(k), value(v) {}
  LogField(std::string_view k, double v) : key(k), value(v) {}
  template <typename Integer>
    requires std::is_integral_v<Integer>
  LogField(std::string_view k, Integer v) : key(k), value(static_cast<int64_t>(v)) {}
};

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError, kOff };

// "debug", "info", "warning", "error", "off"; anything else leaves the level as it is and returns
// false.
bool SetLogLevel(std::string_view name);

void LogDebug(std::string_view event, std::initializer_list<LogField> fields = {});
void LogInfo(std::string_view event, std::initializer_list<LogField> fields = {});
void LogWarning(std::string_view event, std::initializer_list<LogField> fields = {});
void LogError(std::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace strobe
