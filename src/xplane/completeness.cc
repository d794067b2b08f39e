#include "src/xplane/completeness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "src/base/json_writer.h"

namespace strobe::xplane {

namespace {

constexpr size_t kMaxListedTexts = 5;  // of one kind in the reasons; the record has all
constexpr size_t kMaxTextBytes = 300;  // of a text from the file in a reason
constexpr size_t kMaxPlaneNameBytes = 200;

std::string Readable(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return ToValidUtf8(text);
  return ToValidUtf8(text.substr(0, max_bytes)) + "...";
}

// 1234567 -> "1,234,567".
std::string WithCommas(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// "1 event", "2,000 events".
std::string Count(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", WithCommas(count), noun, count == 1 ? "" : "s");
}

// Never negative, and the longest there is when a hostile window is longer than that.
int64_t LengthPs(const ProfileFile::Window& window) {
  if (window.end_ps <= window.start_ps) return 0;
  const uint64_t length_ps =
      static_cast<uint64_t>(window.end_ps) - static_cast<uint64_t>(window.start_ps);
  constexpr int64_t kLongest = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(length_ps, static_cast<uint64_t>(kLongest)));
}

// 1'500'000'000 -> "1.5 ms".
std::string DurationText(int64_t duration_ps) {
  constexpr std::pair<double, std::string_view> kUnits[] = {
      {1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}};
  const auto value = static_cast<double>(duration_ps);
  for (const auto& [unit_ps, name] : kUnits) {
    if (value >= unit_ps) return fmt::format("{:.4g} {}", value / unit_ps, name);
  }
  return "0 s";
}

bool IsDevice(std::string_view plane_name) {
  return plane_name.starts_with("/device:") || plane_name.starts_with("#Chip");
}

// Events of these lines may overlap at will; of all others they follow or nest.
bool IsAsynchronous(const Line& line, const LineColumns& columns) {
  std::string name(columns.display_name.empty() ? line.label() : columns.display_name);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("async") != std::string::npos;
}

// Events of a row that end before `window` or start behind it. Both times ascend within a row.
uint64_t CountBeyond(const LineColumns& line, const LineColumns::Row& row,
                     const ProfileFile::Window& window) {
  const uint32_t end = row.first + row.count;
  uint32_t low = row.first;
  for (uint32_t length = row.count; length > 0;) {
    const uint32_t half = length / 2;
    const uint32_t middle = low + half;
    if (line.start_ps[middle] + line.duration_ps[middle] < window.start_ps) {
      low = middle + 1;
      length -= half + 1;
    } else {
      length = half;
    }
  }
  const auto starts = line.start_ps.subspan(low, end - low);
  const auto behind = std::upper_bound(starts.begin(), starts.end(), window.end_ps);
  return (low - row.first) + static_cast<uint64_t>(starts.end() - behind);
}

void AddLine(const ProfileFile& profile, size_t p, size_t l, HostCompleteness* host) {
  const LineColumns& line = profile.Line(p, l);
  ++host->lines;
  host->events += line.event_count();
  host->line_counts.push_back({.plane = p, .line = l, .events = line.event_count()});
  host->events_out_of_order += line.out_of_order;
  host->events_negative += line.negative;
  host->events_saturated += line.saturated;
  host->events_aggregated += line.aggregated;
  host->events_crowded += line.crowded;
  host->missing_metadata += line.missing_metadata;
  if (!IsAsynchronous(profile.planes()[p].lines[l], line)) {
    host->events_overlapping += line.overlapping;
  }
  if (const auto window = profile.task_window()) {
    const int64_t tolerance_ps = WindowTolerancePs(*window);
    const ProfileFile::Window wide = {window->start_ps - tolerance_ps,
                                      window->end_ps + tolerance_ps};
    for (const LineColumns::Row& row : line.timed_rows()) {
      host->events_beyond_window += CountBeyond(line, row, wide);
    }
  }
}

void FindWindow(const ProfileFile& profile, HostCompleteness* host) {
  host->window = profile.task_window();
  if (host->window) {
    host->window_source = "Task Environment";
    return;
  }
  ProfileFile::Window window = {std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min()};
  for (const LineCount& count : host->line_counts) {
    const LineColumns& line = profile.Line(count.plane, count.line);
    if (line.event_count() == line.aggregated) continue;
    window.start_ps = std::min(window.start_ps, line.first_start_ps);
    window.end_ps = std::max(window.end_ps, line.last_end_ps);
  }
  if (window.start_ps > window.end_ps) return;
  host->window = window;
  host->window_source = "first and last event";
}

// Reasons of one host, each with how bad it is: 0 nothing read, 1 data lost, 2 the profiler's own
// complaints, 3 odd events, 4 for information.
using Reasons = std::vector<std::pair<int, std::string>>;

void AddDamageReasons(const HostCompleteness& host, Reasons* reasons) {
  if (host.open_error) {
    std::string text = fmt::format("{}: {}", host.host, host.open_error->message());
    if (!host.open_error->where().empty()) text += fmt::format(" ({})", host.open_error->where());
    reasons->emplace_back(0, std::move(text));
  }
  for (size_t i = 0; i < host.damage.size(); ++i) {
    if (i == kMaxListedTexts) {
      reasons->emplace_back(
          1, fmt::format("{}: {} in all.", host.host, Count(host.damage.size(), "damaged place")));
      break;
    }
    const Status& status = host.damage[i].status;
    std::string text = fmt::format("{}: {}", host.host, status.message());
    if (!status.where().empty()) text += fmt::format(" ({})", status.where());
    reasons->emplace_back(1, std::move(text));
  }
}

void AddTextReasons(const HostCompleteness& host, Reasons* reasons) {
  const auto add = [&](const std::vector<std::string>& texts, std::string_view kind) {
    for (size_t i = 0; i < std::min(texts.size(), kMaxListedTexts); ++i) {
      reasons->emplace_back(2, fmt::format("{}: the profiler reports {}: {}", host.host, kind,
                                           Readable(texts[i], kMaxTextBytes)));
    }
    if (texts.size() > kMaxListedTexts) {
      reasons->emplace_back(2, fmt::format("{}: the profiler reports {}s of this kind in all: {}.",
                                           host.host, kind, WithCommas(texts.size())));
    }
  };
  add(host.errors, "an error");
  add(host.warnings, "a warning");
}

void AddEventReasons(const HostCompleteness& host, Reasons* reasons) {
  const auto add = [&](int level, uint64_t count, std::string_view noun, std::string_view what) {
    if (count == 0) return;
    reasons->emplace_back(level, fmt::format("{}: {} {}.", host.host, Count(count, noun), what));
  };
  add(3, host.events_saturated, "event", "outside the range of time, clamped to 53 days");
  add(3, host.events_negative, "event", "with a negative duration, taken as 0");
  if (host.window) {
    add(3, host.events_beyond_window, "event",
        fmt::format("more than {} outside the window of {} that the profiler recorded",
                    DurationText(WindowTolerancePs(*host.window)),
                    DurationText(LengthPs(*host.window))));
  }
  add(3, host.events_overlapping, "event",
      "on lines where events can only follow or nest, but that begin inside another and outlive "
      "it");
  add(3, host.missing_metadata, "event", "without a name: the profile has no entry for their id");
  add(3, host.events_crowded, "event", "nested deeper than is shown");
  add(4, host.events_out_of_order, "event", "written out of order, sorted here");
  add(4, host.events_aggregated, "event",
      "that stand for many occurrences and have no place in time");
  for (size_t i = 0; i < host.empty_planes.size(); ++i) {
    if (i == kMaxListedTexts) {
      add(4, host.empty_planes.size(), "plane", "without any event in all");
      break;
    }
    reasons->emplace_back(
        4, fmt::format("{}: the plane {} has no event.", host.host, host.empty_planes[i]));
  }
  if (host.events == 0 && host.planes > 0) {
    reasons->emplace_back(
        3, fmt::format("{}: {}.", host.host,
                       host.damage.empty() ? "no event was recorded; the process may have been idle"
                                           : "no event could be read"));
  }
}

CompletenessState StateOf(const std::vector<HostCompleteness>& hosts) {
  const auto count = [&](CompletenessState state) {
    return static_cast<size_t>(std::count_if(
        hosts.begin(), hosts.end(), [state](const auto& host) { return host.state == state; }));
  };
  if (hosts.empty()) return CompletenessState::kEmpty;
  if (count(CompletenessState::kWriting) > 0) return CompletenessState::kWriting;
  if (count(CompletenessState::kUnread) > 0) return CompletenessState::kUnread;
  if (count(CompletenessState::kComplete) == hosts.size()) return CompletenessState::kComplete;
  const size_t nothing = count(CompletenessState::kDamaged) + count(CompletenessState::kEmpty);
  return nothing == hosts.size() ? CompletenessState::kDamaged : CompletenessState::kPartial;
}

}  // namespace

std::string_view CompletenessStateName(CompletenessState state) {
  switch (state) {
    case CompletenessState::kUnread:
      return "unread";
    case CompletenessState::kComplete:
      return "complete";
    case CompletenessState::kPartial:
      return "partial";
    case CompletenessState::kDamaged:
      return "damaged";
    case CompletenessState::kEmpty:
      return "empty";
    case CompletenessState::kWriting:
      return "writing";
  }
  return "unread";
}

HostCompleteness CheckHost(const SessionFile& file, const ProfileFile& profile,
                           std::string content_hash) {
  HostCompleteness host;
  host.host = file.host;
  host.file = file.path.substr(file.path.find_last_of('/') + 1);
  host.format = FileFormatName(file.format);
  host.size_bytes = file.size_bytes;
  host.content_hash = std::move(content_hash);
  host.planes = profile.planes().size();
  host.errors = profile.errors();
  host.warnings = profile.warnings();
  // Never cancelled, so it cannot fail.
  (void)profile.DecodeAll(CancelToken(), nullptr).ok();
  for (size_t p = 0; p < profile.planes().size(); ++p) {
    const Plane& plane = profile.planes()[p];
    const uint64_t events_before = host.events;
    for (size_t l = 0; l < plane.lines.size(); ++l) AddLine(profile, p, l, &host);
    if (host.events == events_before && (!plane.lines.empty() || IsDevice(plane.name))) {
      host.empty_planes.push_back(Readable(plane.name, kMaxPlaneNameBytes));
    }
  }
  FindWindow(profile, &host);
  host.damage = profile.damage();
  host.readable_bytes = host.damage.empty() ? file.size_bytes : host.damage.front().offset_bytes;
  if (const Status unchanged = profile.source().CheckUnchanged(); !unchanged.ok()) {
    host.damage.push_back({.status = unchanged, .offset_bytes = 0, .plane = "", .line = ""});
  }
  const bool whole = host.damage.empty() && host.errors.empty();
  host.state = whole ? CompletenessState::kComplete : CompletenessState::kPartial;
  return host;
}

HostCompleteness FailedHost(const SessionFile& file, const Status& error) {
  HostCompleteness host;
  host.host = file.host;
  host.file = file.path.substr(file.path.find_last_of('/') + 1);
  host.format = FileFormatName(file.format);
  host.size_bytes = file.size_bytes;
  host.state = CompletenessState::kDamaged;
  host.open_error = error;
  return host;
}

Completeness Combine(std::vector<HostCompleteness> hosts) {
  Completeness record;
  record.state = StateOf(hosts);
  record.hosts_expected_reason = "The profile does not say how many hosts took part.";
  Reasons reasons;
  if (hosts.empty()) reasons.emplace_back(0, "The session has no profile file.");
  for (const HostCompleteness& host : hosts) {
    AddDamageReasons(host, &reasons);
    AddTextReasons(host, &reasons);
    AddEventReasons(host, &reasons);
    if (host.state == CompletenessState::kWriting) {
      reasons.emplace_back(1, fmt::format("{}: the file is still being written.", host.host));
    }
  }
  for (int level = 0; level <= 4; ++level) {
    for (auto& [of_level, text] : reasons) {
      if (of_level == level) record.reasons.push_back(std::move(text));
    }
  }
  record.hosts = std::move(hosts);
  return record;
}

int64_t WindowTolerancePs(const ProfileFile::Window& window) {
  return std::min(kWindowTolerancePs, LengthPs(window) / kWindowPerTolerance);
}

}  // namespace strobe::xplane
