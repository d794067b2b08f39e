#include <bit>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/api/xprof_trace.h"
#include "src/base/utf8.h"
#include "src/wire/compress.h"
#include "src/wire/wire_writer.h"

namespace strobe::api {

using tools::TraceView;

namespace {

using Event = TraceView::Event;
using wire::AppendBytesField;
using wire::AppendDoubleField;
using wire::AppendVarint;
using wire::AppendVarintField;

// XProf interns longer names elsewhere, so its tracks of asynchronous events do not see them.
constexpr size_t kLongestTrackName = 32;

// Field numbers of xprof.TraceDataResponse and what is inside.
enum ResponseField : uint32_t {
  kCompleteEvents = 1,
  kCounterEvents = 2,
  kAsyncEvents = 3,
  kMetadata = 4,
  kInternedStrings = 5,
  kDetails = 6,
  kFullStart = 7,
  kFullEnd = 8,
};
enum SeriesField : uint32_t {
  kSeriesMetadata = 1,
  kDeltas = 2,
  kDurations = 3,
  kNameRefs = 4,
  kEventMetadata = 5,
};

// proto3 leaves out what is 0.
void AppendUnlessZero(uint32_t field, uint64_t value, std::string* out) {
  if (value != 0) AppendVarintField(field, value, out);
}

class TracePacker {
 public:
  explicit TracePacker(const TraceView& view) : view_(view), numbers_(view.text_count()) {
    texts_.emplace_back();
  }

  std::string Pack() {
    for (size_t first = 0; first < view_.events.size();) {
      size_t end = first + 1;
      while (end < view_.events.size() && SameTrack(view_.events[first], view_.events[end])) ++end;
      AppendSeries(first, end);
      first = end;
    }
    AppendBytesField(kMetadata, Metadata(), &out_);
    for (const std::string& text : texts_) AppendBytesField(kInternedStrings, text, &out_);
    for (const auto& [name, value] : view_.details) {
      std::string detail;
      AppendBytesField(1, name, &detail);
      AppendUnlessZero(2, value ? 1 : 0, &detail);
      AppendBytesField(kDetails, detail, &out_);
    }
    if (view_.has_span) {
      AppendVarintField(kFullStart, static_cast<uint64_t>(view_.full_start_ps), &out_);
      AppendVarintField(kFullEnd, static_cast<uint64_t>(view_.full_end_ps), &out_);
    }
    return std::move(out_);
  }

 private:
  std::string_view TrackName(const Event& event) const {
    const std::string_view name = view_.Text(event.name);
    return event.kind == TraceView::EventKind::kAsync && name.size() > kLongestTrackName
               ? std::string_view()
               : name;
  }

  bool SameTrack(const Event& a, const Event& b) const {
    if (a.kind != b.kind || a.process != b.process) return false;
    if (a.kind == TraceView::EventKind::kComplete) return a.thread == b.thread;
    return TrackName(a) == TrackName(b);
  }

  uint32_t Intern(std::string_view text) {
    if (text.empty()) return 0;
    const auto [place, is_new] =
        by_text_.emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(ToValidUtf8(text));
    return place->second;
  }
  // The same for a text of the view, without hashing it again.
  uint32_t InternNumber(uint32_t number) {
    if (numbers_[number] == 0) numbers_[number] = Intern(view_.Text(number));
    return numbers_[number];
  }

  std::string EventMetadata(const Event& event) {
    std::string out;
    if (event.kind == TraceView::EventKind::kCounter) {
      if (event.argument_count == 0) return out;
      const TraceView::Argument& value = view_.arguments[event.first_argument];
      if (value.kind == TraceView::Argument::Kind::kDouble) {
        AppendDoubleField(5, value.number, &out);
      } else if (value.kind == TraceView::Argument::Kind::kUint64) {
        AppendVarintField(6, value.unsigned_integer, &out);
      }
      return out;
    }
    if (event.flow != TraceView::FlowDirection::kNone) {
      AppendUnlessZero(1, static_cast<uint32_t>(event.flow_id), &out);
      AppendUnlessZero(2, Intern(TraceView::CategoryName(event.flow_category)), &out);
    }
    if (event.has_group) AppendUnlessZero(3, static_cast<uint32_t>(event.group), &out);
    AppendUnlessZero(4, event.serial, &out);
    return out;
  }

  std::string SeriesMetadata(const Event& event) {
    std::string out;
    AppendUnlessZero(1, event.process, &out);
    if (event.kind == TraceView::EventKind::kComplete) {
      AppendUnlessZero(2, static_cast<uint32_t>(event.thread), &out);
      return out;
    }
    AppendUnlessZero(3, Intern(TrackName(event)), &out);
    if (event.kind == TraceView::EventKind::kCounter && event.argument_count > 0) {
      AppendUnlessZero(4, InternNumber(view_.arguments[event.first_argument].name), &out);
    }
    return out;
  }

  void AppendSeries(size_t first, size_t end) {
    const TraceView::EventKind kind = view_.events[first].kind;
    std::string series;
    AppendBytesField(kSeriesMetadata, SeriesMetadata(view_.events[first]), &series);
    std::string deltas;
    std::string durations;
    std::string names;
    uint64_t last = 0;
    for (size_t i = first; i < end; ++i) {
      const Event& event = view_.events[i];
      const auto start = static_cast<uint64_t>(event.start_ps);
      AppendVarint(start - last, &deltas);
      last = start;
      if (kind != TraceView::EventKind::kCounter) {
        AppendVarint(static_cast<uint64_t>(event.duration_ps), &durations);
      }
      if (kind == TraceView::EventKind::kComplete) AppendVarint(InternNumber(event.name), &names);
    }
    AppendBytesField(kDeltas, deltas, &series);
    if (!durations.empty()) AppendBytesField(kDurations, durations, &series);
    if (!names.empty()) AppendBytesField(kNameRefs, names, &series);
    for (size_t i = first; i < end; ++i) {
      AppendBytesField(kEventMetadata, EventMetadata(view_.events[i]), &series);
    }
    const uint32_t field = kind == TraceView::EventKind::kComplete  ? kCompleteEvents
                           : kind == TraceView::EventKind::kCounter ? kCounterEvents
                                                                    : kAsyncEvents;
    AppendBytesField(field, series, &out_);
  }

  std::string Metadata() const {
    std::string out;
    for (const TraceView::Process& process : view_.processes) {
      std::string one;
      AppendBytesField(1, ToValidUtf8(process.name), &one);
      AppendUnlessZero(2, process.id, &one);
      AppendVarintField(3, process.id, &one);
      for (const TraceView::Thread& thread : process.threads) {
        std::string inner;
        AppendBytesField(1, ToValidUtf8(thread.name), &inner);
        AppendUnlessZero(2, static_cast<uint32_t>(thread.id), &inner);
        AppendVarintField(3, static_cast<uint32_t>(thread.id), &inner);
        AppendBytesField(4, inner, &one);
      }
      AppendBytesField(1, one, &out);
    }
    return out;
  }

  const TraceView& view_;
  std::vector<uint32_t> numbers_;  // of the view's texts; 0: not interned yet
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> by_text_;
  std::string out_;
};

}  // namespace

Result<std::string> XprofTracePacked(const TraceView& view) {
  return wire::ZstdCompress(TracePacker(view).Pack());
}

}  // namespace strobe::api
