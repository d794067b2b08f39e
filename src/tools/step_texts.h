// What the step tools say in words about the shares of the step time.
//
//   InputStatement(bottleneck, Wording::kOurs);
//
// Wording::kXprof gives the answers of the XProf-compatible routes, letter for letter as recorded
// answers have them, because XProf's page and its readers know them; kOurs is what our own API and
// console say. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/op_stats.h"
#include "src/tools/input_pipeline_analysis.h"
#include "src/tools/tool.h"

namespace strobe::tools {

enum class Wording : uint8_t { kOurs, kXprof };
inline Wording WordingOf(const ToolQuestion& question) {
  return question.as_xprof ? Wording::kXprof : Wording::kOurs;
}

std::string FixedDigits(double value, int digits);  // "%.1f"
std::string Percent(double value);                  // "12.3%", "unknown" below 0

std::string InputStatement(const Bottleneck& bottleneck, Wording wording);
std::string OutputStatement(const Bottleneck& bottleneck, Wording wording);
std::string CollectivesStatement(const Bottleneck& bottleneck, Wording wording);
std::string KernelLaunchStatement(const Bottleneck& bottleneck, bool tf_data, Wording wording);
std::string AllOtherStatement(const Bottleneck& bottleneck, Wording wording);
std::string IdleStatement(const Bottleneck& bottleneck);       // TPU; ours alone shows it
std::string AllReduceStatement(const Bottleneck& bottleneck);  // TPU; ours alone shows it
std::string PrecisionStatement(const analysis::PrecisionStats& precision, Wording wording);
std::string NextStep(const Bottleneck& bottleneck, const InputTime& input_time, Wording wording);

std::string_view VerdictWord(Verdict verdict);  // "host", "both", "device", "unknown"
std::string_view LevelWord(Level level);        // "no", "moderate", "high"

// Ways to a faster input pipeline: the recommendation table of input_pipeline_analyzer.
std::vector<std::string> InputAdvice(Wording wording);

// XProf's warnings about missing steps.
std::vector<std::string> StepWarnings(const analysis::StepDatabase& steps, size_t visible_steps);
extern const std::string_view kNoDeviceTrace;  // XProf's error when a device left no trace

// Ours: why there are no steps, or what is odd about them, and what to do.
std::vector<Notice> StepNotices(const analysis::OpStats& stats, const ToolQuestion& question);
// The errors of the op stats (hosts that could not be read) as notices; marks the result partial.
void AddHostNotices(const analysis::OpStats& stats, ToolResult* result);

}  // namespace strobe::tools
