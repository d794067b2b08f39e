// What is wrong with the steps of op stats, for the reader of numbers that build on them.
//
//   for (const std::string& text : StepWarnings(stats.steps, question.as_xprof)) ...
//
// `as_xprof`: in XProf's own words, which clients of its routes compare; else in ours.
#pragma once

#include <string>
#include <vector>

#include "src/analysis/step_database.h"

namespace strobe::tools {

std::vector<std::string> StepWarnings(const analysis::StepDatabase& steps, bool as_xprof);

}  // namespace strobe::tools
