// What the step tools say in words about the shares of the step time.
//
//   InputStatement(bottleneck);
//
// The sentences are our own on every route; words that programs read ("host", "both", "moderate")
// are XProf's. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/op_stats.h"
#include "src/tools/input_pipeline_analysis.h"
#include "src/tools/tool.h"

namespace strobe::tools {

std::string FixedDigits(double value, int digits);  // "%.1f"
std::string Percent(double value);                  // "12.3%", "unknown" below 0

std::string InputStatement(const Bottleneck& bottleneck);
std::string OutputStatement(const Bottleneck& bottleneck);
std::string CollectivesStatement(const Bottleneck& bottleneck);
std::string KernelLaunchStatement(const Bottleneck& bottleneck);
std::string AllOtherStatement(const Bottleneck& bottleneck);
std::string IdleStatement(const Bottleneck& bottleneck);       // TPU; ours alone shows it
std::string AllReduceStatement(const Bottleneck& bottleneck);  // TPU; ours alone shows it
std::string PrecisionStatement(const analysis::PrecisionStats& precision);
std::string NextStep(const Bottleneck& bottleneck, const InputTime& input_time);

std::string_view VerdictWord(Verdict verdict);  // "host", "both", "device", "unknown"
std::string_view LevelWord(Level level);        // "no", "moderate", "high"

// Ways to a faster input pipeline: the recommendation table of input_pipeline_analyzer.
std::vector<std::string> InputAdvice();

// Why there is no step time, as XProf's diagnostics have it.
std::vector<std::string> StepWarnings(const analysis::StepDatabase& steps, size_t visible_steps);
extern const std::string_view kNoDeviceTrace;  // when a device left no trace

// Ours: why there are no steps, or what is odd about them, and what to do.
std::vector<Notice> StepNotices(const analysis::OpStats& stats, const ToolQuestion& question);
// The errors of the op stats (hosts that could not be read) as notices; marks the result partial.
void AddHostNotices(const analysis::OpStats& stats, ToolResult* result);

}  // namespace strobe::tools
