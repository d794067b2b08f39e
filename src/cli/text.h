// Text for terminals and from the command line: sizes, durations, tables, and names made safe.
//
//   ParseDurationMs("1.5s")        -> 1500
//   ParseSizeBytes("20G")          -> 21474836480
//   FormatDurationPs(2'300'000)    -> "2.300 us"
//   Table table({"NAME", "SIZE"}, {false, true}); table.AddRow({...}); Print(table.ToText());
//
// Names come from profiles, which strangers may have written: Printable() makes control characters
// visible, so that no name moves the cursor or colours the terminal. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace strobe::cli {

// "2s", "500ms", "1m", "1h", "250us"; a bare number is seconds. DURATION_MALFORMED.
Result<int64_t> ParseDurationMs(std::string_view text);
// Session time: "12.5ms", "3s", "40us", "7ns", "9ps"; a bare number is picoseconds, as in the API.
// May be negative. TIME_MALFORMED.
Result<int64_t> ParseTimePs(std::string_view text);
// "512M", "20G", "1.5T", "65536"; powers of 1024. SIZE_MALFORMED.
Result<uint64_t> ParseSizeBytes(std::string_view text);

std::string FormatDurationPs(int64_t duration_ps);
std::string FormatBytes(uint64_t size_bytes);
std::string FormatCount(uint64_t count);  // 1,234,567
// "1 event", "1,234 events".
std::string FormatCounted(uint64_t count, std::string_view one, std::string_view many);
// "2026-11-29 14:31:07" UTC
std::string FormatUnixMillis(int64_t unix_ms);

// Control characters as \xNN, invalid UTF-8 as U+FFFD, longer than `max_characters` cut with an
// ellipsis (0: never cut).
std::string Printable(std::string_view text, size_t max_characters = 0);
// A CSV field, quoted when it must be. A leading = + - @ of text is kept: numbers may be negative.
std::string CsvField(std::string_view text);
// Characters as a terminal counts them, nearly: code points.
size_t DisplayWidth(std::string_view text);

class Table {
 public:
  // `right[i]`: column i is aligned to the right.
  Table(std::vector<std::string> header, std::vector<bool> right);
  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.size() <= 1; }
  std::string ToText() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// "error: NAME: message (where)\n  hint\n", safe for a terminal.
std::string ErrorText(const Status& status);
// {"error": {...}} on standard output: what a command that was asked for JSON says when it fails.
void PrintErrorJson(const Status& status);
void PrintOut(std::string_view text);
void PrintError(std::string_view text);
// False once something printed did not get out, as on a full disk.
bool OutIsWritten();
// Whether standard error is a terminal that can redraw a line.
bool ErrorIsTerminal();

}  // namespace strobe::cli
