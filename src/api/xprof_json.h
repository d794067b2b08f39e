// Answers of tools as XProf's server writes them.
//
//   XprofTableJson(table)        -> {"cols":[{"id":...}],"rows":[{"c":[{"v":1.0}]}]}
//   XprofDocumentJson(value)     -> protobuf's JSON: 64-bit integers quoted, members as the tool
//   set XprofCsv(result)             -> every field quoted, numbers as Python prints them
//
// Tables: keys sorted, every number a double ("1.0"), NaN and infinities null, properties texts; a
// table with neither columns nor properties and without rows is {}. The command line prints the
// same with --format xprof. Pure functions. Cost: about 150 MB/s.
#pragma once

#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/tools/tool.h"

namespace strobe::api {

// As nlohmann::json prints a double: shortest digits, ".0" for whole numbers, exponents from 1e15.
std::string XprofNumber(double number);
// As Python's repr of a float: exponents from 1e16.
std::string PythonNumber(double number);
// As protobuf's JSON prints a double; "NaN", "Infinity" quoted.
std::string ProtobufNumber(double number);

std::string XprofTableJson(const tools::Table& table);
std::string XprofDocumentJson(const tools::Value& value);

// The body and its type.
struct XprofBody {
  std::string bytes;
  std::string content_type;
};
// Errors: TRACE_PACK_FAILED (xprof_trace.h).
Result<XprofBody> MakeXprofBody(const tools::ToolResult& result);

// The first table. Errors: XPROF_CSV_NO_TABLE (not a table first; XProf answers 500) and
// XPROF_CSV_NOT_JSON (a text or trace; XProf answers 400).
Result<std::string> XprofCsv(const tools::ToolResult& result);
// "hlo_stats_run_0.csv": every other character than A-Za-z0-9_- becomes _.
std::string XprofCsvName(std::string_view tool, std::string_view run, std::string_view host);

}  // namespace strobe::api
