#include "src/cli/text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <utility>

#include "src/api/response.h"
#include "src/base/json_writer.h"

namespace strobe::cli {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// The number and the unit behind it; false when the text is not both.
bool SplitNumber(std::string_view text, double* number, std::string_view* unit) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), *number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(*number)) return false;
  *unit = text.substr(static_cast<size_t>(end - text.data()));
  return true;
}

template <size_t N>
bool Scale(std::string_view text, const std::array<Unit, N>& units, double limit, double* out) {
  double number = 0;
  std::string_view name;
  if (!SplitNumber(text, &number, &name)) return false;
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    *out = number * unit.factor;
    return std::abs(*out) <= limit;
  }
  return false;
}

// Exact for what a double holds exactly; far above any trace and below overflow.
constexpr double kMaxPicos = 4e18;

void Write(FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

Result<int64_t> ParseDurationMs(std::string_view text) {
  static constexpr std::array kUnits = {Unit{"s", 1e3}, Unit{"ms", 1},    Unit{"us", 1e-3},
                                        Unit{"m", 6e4}, Unit{"min", 6e4}, Unit{"h", 3.6e6},
                                        Unit{"", 1e3}};
  double millis = 0;
  if (!Scale(text, kUnits, 1e15, &millis) || millis < 0) {
    return InvalidArgumentError("DURATION_MALFORMED", "This is not a duration.")
        .Where(std::string(text.substr(0, 64)))
        .Hint("Write for example 2s, 500ms or 1m.");
  }
  return static_cast<int64_t>(std::llround(millis));
}

Result<int64_t> ParseTimePs(std::string_view text) {
  static constexpr std::array kUnits = {Unit{"s", 1e12}, Unit{"ms", 1e9}, Unit{"us", 1e6},
                                        Unit{"ns", 1e3}, Unit{"ps", 1},   Unit{"m", 6e13},
                                        Unit{"", 1}};
  int64_t exact = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
  if (error == std::errc() && end == text.data() + text.size()) return exact;
  double picos = 0;
  if (!Scale(text, kUnits, kMaxPicos, &picos)) {
    return InvalidArgumentError("TIME_MALFORMED", "This is not a time.")
        .Where(std::string(text.substr(0, 64)))
        .Hint("Write for example 12.5ms, 40us or 3s; a bare number is picoseconds.");
  }
  return static_cast<int64_t>(std::llround(picos));
}

Result<uint64_t> ParseSizeBytes(std::string_view text) {
  static constexpr std::array kUnits = {
      Unit{"", 1},        Unit{"K", 0x1p10},   Unit{"M", 0x1p20},   Unit{"G", 0x1p30},
      Unit{"T", 0x1p40},  Unit{"KB", 0x1p10},  Unit{"MB", 0x1p20},  Unit{"GB", 0x1p30},
      Unit{"TB", 0x1p40}, Unit{"KiB", 0x1p10}, Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30},
      Unit{"TiB", 0x1p40}};
  double bytes = 0;
  if (!Scale(text, kUnits, 0x1p60, &bytes) || bytes < 0) {
    return InvalidArgumentError("SIZE_MALFORMED", "This is not a size.")
        .Where(std::string(text.substr(0, 64)))
        .Hint("Write for example 512M or 20G.");
  }
  return static_cast<uint64_t>(bytes);
}

std::string FormatDurationPs(int64_t duration_ps) {
  static constexpr std::array kUnits = {Unit{"s", 1e12}, Unit{"ms", 1e9}, Unit{"us", 1e6},
                                        Unit{"ns", 1e3}};
  const double value = static_cast<double>(duration_ps);
  for (const Unit& unit : kUnits) {
    if (std::abs(value) >= unit.factor) {
      return fmt::format("{:.3f} {}", value / unit.factor, unit.name);
    }
  }
  return fmt::format("{} ps", duration_ps);
}

std::string FormatBytes(uint64_t size_bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(size_bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", size_bytes)
                   : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string FormatCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string FormatCounted(uint64_t count, std::string_view one, std::string_view many) {
  return FormatCount(count) + " " + std::string(count == 1 ? one : many);
}

std::string FormatUnixMillis(int64_t unix_ms) {
  const auto seconds = static_cast<time_t>(unix_ms / 1000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string Printable(std::string_view text, size_t max_characters) {
  // What is cut anyway is not looked at: a name may have a megabyte.
  if (max_characters > 0) text = text.substr(0, max_characters * 4 + 4);
  const std::string valid = ToValidUtf8(text);
  std::string out;
  size_t characters = 0;
  for (std::string_view rest = valid; !rest.empty(); ++characters) {
    if (max_characters > 0 && characters + 1 >= max_characters && DisplayWidth(rest) > 1) {
      return out + "\xe2\x80\xa6";
    }
    const size_t length = std::max<size_t>(1, ValidUtf8Length(rest));
    const auto byte = static_cast<unsigned char>(rest[0]);
    // C1 controls are U+0080..U+009F; U+202A..U+202E and U+2066..U+2069 turn the reading direction.
    const bool c1 = length == 2 && byte == 0xc2 && static_cast<unsigned char>(rest[1]) < 0xa0;
    const bool turn = length == 3 &&
                      (rest.starts_with("\xe2\x80") || rest.starts_with("\xe2\x81")) &&
                      ((rest[1] == '\x80' && rest[2] >= '\xaa' && rest[2] <= '\xae') ||
                       (rest[1] == '\x81' && rest[2] >= '\xa6' && rest[2] <= '\xa9'));
    if (byte < 0x20 || byte == 0x7f || c1 || turn) {
      for (size_t i = 0; i < length; ++i) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest[i]));
      }
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return out;
}

std::string CsvField(std::string_view text) {
  const std::string valid = ToValidUtf8(text);
  if (valid.find_first_of(",\"\r\n") == std::string::npos) return valid;
  std::string out = "\"";
  for (const char c : valid) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out + "\"";
}

Table::Table(std::vector<std::string> header, std::vector<bool> right) : right_(std::move(right)) {
  rows_.push_back(std::move(header));
}

void Table::AddRow(std::vector<std::string> cells) {
  STROBE_CHECK(cells.size() == rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string Table::ToText() const {
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - DisplayWidth(row[i]), ' ');
      if (i > 0) line += "  ";
      line += right_[i] ? space + row[i] : row[i] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string ErrorText(const Status& status) {
  std::string out = fmt::format("error: {}: {}", status.name(), Printable(status.message()));
  if (!status.where().empty()) out += fmt::format(" ({})", Printable(status.where()));
  out += "\n";
  if (!status.hint().empty()) out += "  " + Printable(status.hint()) + "\n";
  return out;
}

void PrintErrorJson(const Status& status) {
  PrintOut("{\"error\":" + api::ErrorJson(status, "") + "}\n");
}

void PrintOut(std::string_view text) { Write(stdout, text); }
void PrintError(std::string_view text) { Write(stderr, text); }
bool OutIsWritten() { return std::ferror(stdout) == 0; }

bool ErrorIsTerminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace strobe::cli
