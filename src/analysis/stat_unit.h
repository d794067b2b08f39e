// Units of well-known stats, so that every surface shows them alike.
//
//   StatUnit("bytes_accessed")  -> "B"
//   StatUnit("duration_us")     -> "us"
//   StatUnit("program_id")      -> ""   (none, or nobody knows)
//
// From the exact name where XProf defines one, else from a unit at the end of the name. Pure.
#pragma once

#include <string_view>

namespace strobe::analysis {

std::string_view StatUnit(std::string_view stat_name);

}  // namespace strobe::analysis
