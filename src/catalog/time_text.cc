#include "src/catalog/time_text.h"

#include <fmt/format.h>

#include <chrono>

namespace strobe::catalog {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;

// Takes exactly `digits` digits off the front.
bool TakeNumber(std::string_view* text, size_t digits, int* out) {
  if (text->size() < digits) return false;
  int value = 0;
  for (size_t i = 0; i < digits; ++i) {
    const char c = (*text)[i];
    if (c < '0' || c > '9') return false;
    value = value * 10 + (c - '0');
  }
  text->remove_prefix(digits);
  *out = value;
  return true;
}

bool TakeChar(std::string_view* text, std::string_view any_of) {
  if (text->empty() || any_of.find(text->front()) == std::string_view::npos) return false;
  text->remove_prefix(1);
  return true;
}

// ".5" -> 500,000,000; more than nine digits are cut, as nothing finer is kept.
bool TakeFraction(std::string_view* text, int64_t* nanos) {
  *nanos = 0;
  if (!TakeChar(text, ".")) return true;
  int64_t scale = kNanosPerSecond / 10;
  size_t digits = 0;
  while (!text->empty() && text->front() >= '0' && text->front() <= '9') {
    *nanos += (text->front() - '0') * scale;
    scale /= 10;
    ++digits;
    text->remove_prefix(1);
  }
  return digits > 0;
}

bool TakeZone(std::string_view* text, int* offset_s) {
  *offset_s = 0;
  if (TakeChar(text, "Zz")) return true;
  if (text->empty()) return false;
  const bool negative = text->front() == '-';
  int hours = 0;
  int minutes = 0;
  if (!TakeChar(text, "+-") || !TakeNumber(text, 2, &hours) || !TakeChar(text, ":") ||
      !TakeNumber(text, 2, &minutes) || hours > 23 || minutes > 59) {
    return false;
  }
  *offset_s = (hours * 3600 + minutes * 60) * (negative ? -1 : 1);
  return true;
}

}  // namespace

Result<int64_t> ParseTimestamp(std::string_view text) {
  const Status malformed =
      InvalidArgumentError("TIME_MALFORMED", "A time is not one we can read.")
          .Where(std::string(text.substr(0, 64)))
          .Hint("Write it as in 2026-11-29T10:15:00Z, between the years 1678 and 2262.");
  if (text == kNoTime) return int64_t{0};
  std::string_view rest = text;
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offset_s = 0;
  int64_t nanos = 0;
  if (!TakeNumber(&rest, 4, &year) || !TakeChar(&rest, "-") || !TakeNumber(&rest, 2, &month) ||
      !TakeChar(&rest, "-") || !TakeNumber(&rest, 2, &day) || !TakeChar(&rest, "Tt ") ||
      !TakeNumber(&rest, 2, &hour) || !TakeChar(&rest, ":") || !TakeNumber(&rest, 2, &minute) ||
      !TakeChar(&rest, ":") || !TakeNumber(&rest, 2, &second) || !TakeFraction(&rest, &nanos) ||
      !TakeZone(&rest, &offset_s) || !rest.empty()) {
    return malformed;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  // 60 is a leap second; it reads as the second after.
  if (!date.ok() || year < 1678 || year > 2261 || hour > 23 || minute > 59 || second > 60) {
    return malformed;
  }
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = days * 86'400 + hour * 3600 + minute * 60 + second - offset_s;
  return seconds * kNanosPerSecond + nanos;
}

std::string FormatTimestamp(int64_t unix_ns) {
  int64_t seconds = unix_ns / kNanosPerSecond;
  int64_t nanos = unix_ns % kNanosPerSecond;
  if (nanos < 0) {
    nanos += kNanosPerSecond;
    --seconds;
  }
  const auto point = std::chrono::sys_seconds(std::chrono::seconds(seconds));
  const auto day = std::chrono::floor<std::chrono::days>(point);
  const std::chrono::year_month_day date(day);
  const int64_t in_day = (point - day).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     in_day / 3600, in_day / 60 % 60, in_day % 60, nanos);
}

Result<int64_t> ParseDuration(std::string_view text) {
  const Status malformed =
      InvalidArgumentError("DURATION_MALFORMED", "A duration is not one we can read.")
          .Where(std::string(text.substr(0, 64)))
          .Hint("Write seconds with an s, as in \"5s\" or \"0.5s\".");
  std::string_view rest = text;
  const bool negative = TakeChar(&rest, "-");
  int64_t seconds = 0;
  bool digits = false;
  while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
    seconds = seconds * 10 + (rest.front() - '0');
    if (seconds > kMaxDurationSeconds) return malformed;
    digits = true;
    rest.remove_prefix(1);
  }
  int64_t nanos = 0;
  if (!digits || !TakeFraction(&rest, &nanos) || rest != "s") return malformed;
  const int64_t total = seconds * kNanosPerSecond + nanos;
  return negative ? -total : total;
}

std::string FormatDuration(int64_t duration_ns) {
  const std::string sign = duration_ns < 0 ? "-" : "";
  const uint64_t whole =
      duration_ns < 0 ? -static_cast<uint64_t>(duration_ns) : static_cast<uint64_t>(duration_ns);
  const uint64_t nanos = whole % kNanosPerSecond;
  if (nanos == 0) return fmt::format("{}{}s", sign, whole / kNanosPerSecond);
  // Three, six or nine digits, as protobuf's JSON has them.
  std::string fraction = fmt::format("{:09}", nanos);
  while (fraction.ends_with("000")) fraction.resize(fraction.size() - 3);
  return fmt::format("{}{}.{}s", sign, whole / kNanosPerSecond, fraction);
}

}  // namespace strobe::catalog
