#include "src/tools/host_input.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "src/tools/agent_common.h"
#include "src/tools/agent_event_walk.h"
#include "src/tools/input_pipeline_analysis.h"

namespace strobe::tools {

const std::string_view kInputNames =
    "(?i)(next|load|get|fetch|read|prepare|make|build|shard|stage|wait_?for)[ _]?(a_|the_|next_)?"
    "(mini)?(batch|data|input|example|sample|shard)|batch_?(iter|load)|data_?load|tokeni[sz]e"
    "|iterator.?get.?next|get_?next|input[ _]?(fn|pipeline|wait|stall|iter)|infeed|collate";

namespace {

constexpr std::string_view kStepNumber = "step_num";
constexpr double kPicosPerMilli = 1e9;

struct Window {
  int64_t number = 0;
  Interval time;
};

std::optional<int64_t> NumberOf(const xplane::Stat& stat) {
  if (stat.type == xplane::StatType::kUint64 || stat.type == xplane::StatType::kInt64) {
    return stat.IntOrUint();
  }
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(stat.text.data(), stat.text.data() + stat.text.size(), number);
  if (stat.text.empty() || error != std::errc() || end != stat.text.data() + stat.text.size()) {
    return std::nullopt;
  }
  return number;
}

std::vector<Window> WindowsOf(const xplane::ProfileFile& file, size_t plane, size_t line) {
  const xplane::LineColumns& columns = file.Line(plane, line);
  const std::vector<xplane::Stat> numbers = file.EventStatColumn(plane, line, kStepNumber);
  std::vector<Window> windows;
  for (uint32_t e = 0; e < numbers.size() && e < columns.event_count(); ++e) {
    if (numbers[e].type == xplane::StatType::kNone || columns.duration_ps[e] <= 0) continue;
    const std::optional<int64_t> number = NumberOf(numbers[e]);
    if (!number || windows.size() >= kMaxHostInputSteps) continue;
    windows.push_back(
        {*number, {columns.start_ps[e], columns.start_ps[e] + columns.duration_ps[e]}});
  }
  std::ranges::sort(windows, {}, [](const Window& window) { return window.time.start; });
  return windows;
}

// Which names of the plane are those of input functions.
std::vector<bool> InputNames(const xplane::Plane& plane, const Pattern& pattern) {
  std::vector<bool> is_input;
  is_input.reserve(plane.event_metadata.size());
  for (const xplane::EventMetadata& event : plane.event_metadata) {
    is_input.push_back(pattern.Found(event.label()));
  }
  return is_input;
}

void AddOutermost(const xplane::LineColumns& columns, std::vector<Interval>* intervals) {
  const auto rows = columns.timed_rows();
  if (rows.empty()) return;
  for (uint32_t e = rows[0].first; e < rows[0].first + rows[0].count; ++e) {
    intervals->push_back({columns.start_ps[e], columns.start_ps[e] + columns.duration_ps[e]});
  }
}

// When some device worked.
Result<std::vector<Interval>> DeviceWork(const xplane::ProfileFile& file,
                                         const CancelToken& cancel) {
  std::vector<Interval> intervals;
  for (size_t p = 0; p < file.planes().size(); ++p) {
    const xplane::Plane& plane = file.planes()[p];
    const bool tpu = plane.name.starts_with("/device:TPU");
    const bool gpu = plane.name.starts_with("/device:GPU");
    const bool host = plane.name.starts_with("/host:CPU");
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      const std::string_view line = plane.lines[l].label();
      const bool works = (tpu && line == "XLA Ops") || (gpu && line.starts_with("Stream")) ||
                         (host && line.starts_with("tf_XLA"));
      if (works) AddOutermost(file.Line(p, l), &intervals);
    }
  }
  return MergedIntervals(std::move(intervals));
}

// Of sorted, disjoint intervals, what lies in [start, end).
template <typename See>
void ForEachPart(const std::vector<Interval>& merged, const Interval& window, const See& see) {
  auto at = std::ranges::upper_bound(merged, window.start, {}, &Interval::end);
  for (; at != merged.end() && at->start < window.end; ++at) {
    see(Interval{std::max(at->start, window.start), std::min(at->end, window.end)});
  }
}

int64_t Overlap(const std::vector<Interval>& merged, const Interval& window) {
  int64_t total = 0;
  ForEachPart(merged, window, [&](const Interval& part) { total += part.end - part.start; });
  return total;
}

// What is known of one thread: its steps, and its time in input functions.
struct Thread {
  std::vector<Window> windows;
  std::vector<Interval> input;  // merged
};

class Collector {
 public:
  Collector(const Pattern& pattern, const CancelToken& cancel)
      : pattern_(pattern), cancel_(cancel) {}

  Status AddHost(const xplane::ProfileFile& file) {
    std::vector<Thread> threads;
    for (size_t p = 0; p < file.planes().size(); ++p) {
      const xplane::Plane& plane = file.planes()[p];
      if (!plane.name.starts_with("/host:CPU")) continue;
      if (std::ranges::find(plane.stat_metadata, kStepNumber, &xplane::StatMetadata::name) ==
          plane.stat_metadata.end()) {
        continue;
      }
      const std::vector<bool> is_input = InputNames(plane, pattern_);
      for (size_t l = 0; l < plane.lines.size(); ++l) {
        STROBE_RETURN_IF_ERROR(cancel_.Check());
        Thread thread{.windows = WindowsOf(file, p, l), .input = {}};
        if (thread.windows.empty()) continue;
        thread.input = InputOf(file.Line(p, l), plane, is_input, thread.windows);
        threads.push_back(std::move(thread));
      }
    }
    std::vector<Interval> work;
    if (std::ranges::any_of(threads, [](const Thread& thread) { return !thread.input.empty(); })) {
      STROBE_ASSIGN_OR_RETURN(work, DeviceWork(file, cancel_));
    }
    for (const Thread& thread : threads) AddThread(thread, work);
    return OkStatus();
  }

  HostInput Finish() && {
    HostInput input;
    for (const auto& [number, step] : steps_) input.steps.push_back(step);
    for (auto& [name, events] : events_) input.events.push_back(std::move(events));
    std::ranges::stable_sort(input.events, std::greater(), &HostInputEvents::total_ps);
    return input;
  }

 private:
  std::vector<Interval> InputOf(const xplane::LineColumns& columns, const xplane::Plane& plane,
                                const std::vector<bool>& is_input,
                                const std::vector<Window>& windows) {
    std::vector<Interval> found;
    for (uint32_t e = 0; e < columns.event_count(); ++e) {
      if (!is_input[columns.name[e]] || columns.duration_ps[e] <= 0) continue;
      const Interval time = {columns.start_ps[e], columns.start_ps[e] + columns.duration_ps[e]};
      // The step that began last before it; what is a step itself is not inside one.
      auto window = std::ranges::upper_bound(windows, time.start, {},
                                             [](const Window& one) { return one.time.start; });
      if (window == windows.begin() || std::prev(window)->time.end <= time.start) continue;
      if (std::prev(window)->time == time) continue;
      found.push_back(time);
      const std::string name(plane.event_metadata[columns.name[e]].label());
      HostInputEvents& events = events_[name];
      events.name = name;
      ++events.count;
      events.total_ps += columns.duration_ps[e];
    }
    return MergedIntervals(std::move(found));
  }

  void AddThread(const Thread& thread, const std::vector<Interval>& work) {
    for (const Window& window : thread.windows) {
      HostInputStep step = {.number = window.number,
                            .duration_ps = window.time.end - window.time.start};
      ForEachPart(thread.input, window.time, [&](const Interval& part) {
        step.input_ps += part.end - part.start;
        step.waited_ps += part.end - part.start - Overlap(work, part);
      });
      if (steps_.size() >= kMaxHostInputSteps && !steps_.contains(step.number)) continue;
      const auto [known, added] = steps_.try_emplace(step.number, step);
      if (!added && known->second.waited_ps < step.waited_ps) known->second = step;
    }
  }

  const Pattern& pattern_;
  const CancelToken& cancel_;
  std::map<int64_t, HostInputStep> steps_;
  std::map<std::string, HostInputEvents> events_;
};

// Takes `left_ms` from parts until there is none left; returns what could not be taken.
void Take(double* part_ms, double* left_ms) {
  const double taken = std::min(*part_ms, *left_ms);
  *part_ms -= taken;
  *left_ms -= taken;
}

void AddToGeneric(double waited_ms, GenericStep* step) {
  const double more_ms =
      std::min(waited_ms - step->InputMs(), std::max(0.0, step->step_ms - step->InputMs()));
  if (more_ms <= 0) return;
  step->host_wait_input_ms += more_ms;
  double left_ms = more_ms;
  for (double* part : {&step->unknown_ms, &step->host_compute_ms, &step->host_prepare_ms,
                       &step->host_compile_ms}) {
    Take(part, &left_ms);
  }
}

void AddToTpu(double waited_ms, analysis::TpuStepDetails* step) {
  const double more_ms = std::min(waited_ms - step->InfeedMs(), step->tc_idle_ms);
  if (more_ms <= 0 || step->StepMs() <= 0) return;
  const double percent = 100.0 * more_ms / step->StepMs();
  step->tc_infeed_ms += more_ms;
  step->tc_idle_ms -= more_ms;
  step->infeed_percent_average += percent;
  step->infeed_percent_minimum += percent;
  step->infeed_percent_maximum += percent;
}

}  // namespace

Result<HostInput> HostInputOf(const ToolQuestion& question, ToolInput& input,
                              std::string_view pattern, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const Pattern names,
                          Pattern::Compile(pattern.empty() ? kInputNames : pattern));
  Collector collector(names, cancel);
  for (const size_t host : question.hosts) {
    const xplane::ProfileFile* const file = input.hosts()[host].file;
    if (file != nullptr) STROBE_RETURN_IF_ERROR(collector.AddHost(*file));
  }
  return std::move(collector).Finish();
}

Result<InputPipelineAnalysis> AnalyzeSteps(const ToolQuestion& question, ToolInput& input,
                                           const analysis::OpStats& stats,
                                           std::span<const analysis::Step> steps,
                                           const CancelToken& cancel, std::string_view pattern,
                                           HostInput* host_input) {
  InputPipelineAnalysis made = AnalyzeInputPipeline(stats, steps);
  if (question.as_xprof) return made;
  STROBE_ASSIGN_OR_RETURN(HostInput found, HostInputOf(question, input, pattern, cancel));
  AddHostInput(found, &made);
  if (host_input != nullptr) *host_input = std::move(found);
  return made;
}

void AddHostInput(const HostInput& input, InputPipelineAnalysis* analysis) {
  if (!input.any()) return;
  const auto waited_ms = [&](int64_t number) {
    const auto step = std::ranges::lower_bound(input.steps, number, {}, &HostInputStep::number);
    if (step == input.steps.end() || step->number != number) return 0.0;
    return static_cast<double>(step->waited_ps) / kPicosPerMilli;
  };
  std::vector<double> percents;
  for (GenericStep& step : analysis->generic_steps) {
    AddToGeneric(waited_ms(step.number), &step);
    percents.push_back(step.step_ms > 0 ? 100.0 * step.InputMs() / step.step_ms : 0);
  }
  for (analysis::TpuStepDetails& step : analysis->tpu_steps) {
    AddToTpu(waited_ms(step.step_number), &step);
    percents.push_back(step.infeed_percent_maximum);
  }
  analysis->input_percent = Summarize(percents);
  analysis->bottleneck = analysis->is_tpu ? JudgeTpuSteps(analysis->tpu_steps)
                                          : JudgeGenericSteps(analysis->generic_steps);
}

}  // namespace strobe::tools
