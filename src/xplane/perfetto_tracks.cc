#include "src/xplane/perfetto_tracks.h"

#include <algorithm>
#include <bit>
#include <set>

namespace strobe::xplane {
namespace {

constexpr int64_t kMaxTimeNs = int64_t{1} << 62;
constexpr __int128 kMaxPs = static_cast<__int128>(1) << 62;
// Relative times below this fit into picoseconds without a shift.
constexpr int64_t kMaxUnshiftedNs = (int64_t{1} << 61) / 1000;
// Of tracks within tracks; a loop of parents ends there too.
constexpr int kMaxTrackDepth = 64;
constexpr std::string_view kCountersLine = "_counters_";
constexpr std::string_view kLooseTracks = "tracks";

// XFlow: the direction in two bits, the id in 56.
constexpr uint64_t kFlowIn = 1;
constexpr uint64_t kFlowInOut = 3;
constexpr uint64_t kFlowIdMask = (uint64_t{1} << 56) - 1;

int64_t Clamp(__int128 ps) { return static_cast<int64_t>(std::clamp(ps, -kMaxPs, kMaxPs)); }

}  // namespace

PerfettoTracks::Track& PerfettoTracks::TrackOf(uint64_t uuid) {
  const auto found = track_ids_.find(uuid);
  if (found != track_ids_.end()) return tracks_[found->second];
  if (tracks_.size() >= kMaxPerfettoTracks) {
    Count("tracks beyond the limit were put together");
    return tracks_.back();
  }
  track_ids_.emplace(uuid, static_cast<uint32_t>(tracks_.size()));
  uuids_.push_back(uuid);
  return tracks_.emplace_back();
}

void PerfettoTracks::AddArgument(uint32_t name, double value) {
  Push(name, ArgumentType::kDouble, std::bit_cast<uint64_t>(value));
}

void PerfettoTracks::Push(uint32_t name, ArgumentType type, uint64_t bits) {
  if (arguments_.size() >= kMaxPerfettoArguments) return Count("arguments beyond the limit");
  arguments_.push_back({name, type, bits});
}

void PerfettoTracks::DropPending() {
  arguments_.resize(pending_from_);
  while (!flows_.empty() && flows_.back().event == events_.size()) flows_.pop_back();
}

void PerfettoTracks::Add(const Event& event) {
  if (event.time_ns > kMaxTimeNs || event.time_ns < -kMaxTimeNs) {
    Count("events have no usable time and were left out");
    return DropPending();
  }
  if (events_.size() >= kMaxPerfettoEvents) {
    Count("events were left out because the trace has too many");
    return DropPending();
  }
  TrackOf(event.track);
  const auto known = track_ids_.find(event.track);
  Stored stored{.event = event,
                .first_argument = pending_from_,
                .argument_count = static_cast<uint32_t>(arguments_.size() - pending_from_),
                .track = known != track_ids_.end() ? known->second
                                                   : static_cast<uint32_t>(tracks_.size() - 1)};
  pending_from_ = arguments_.size();
  events_.push_back(stored);
  first_ns_ = std::min(first_ns_, event.time_ns);
  last_ns_ = std::max(last_ns_, event.time_ns + std::max<int64_t>(0, event.duration_ns));
}

// Up from the track: the nearest process makes the plane, else the outermost track does.
PerfettoTracks::Place PerfettoTracks::PlaceOf(uint32_t number) const {
  std::vector<uint32_t> way = {number};
  const Track* track = &tracks_[number];
  bool has_pid = track->has_process || track->has_thread;
  for (int depth = 0; depth < kMaxTrackDepth && track->parent != 0 && !track->has_process;
       ++depth) {
    const auto parent = track_ids_.find(track->parent);
    if (parent == track_ids_.end()) break;
    track = &tracks_[parent->second];
    way.push_back(parent->second);
    has_pid = has_pid || track->has_process || track->has_thread;
  }
  Place place;
  if (has_pid) {
    for (const uint32_t step : way) {
      if (tracks_[step].has_process || tracks_[step].has_thread) place.plane_id = tracks_[step].pid;
    }
    const auto name = processes_.find(place.plane_id);
    place.plane = "p" + std::to_string(place.plane_id);
    place.plane_name = name != processes_.end() && !name->second.empty()
                           ? name->second
                           : "process " + std::to_string(place.plane_id);
    if (tracks_[way.back()].has_process) way.pop_back();
  } else if (way.size() > 1) {
    place.plane = "t" + std::to_string(uuids_[way.back()]);
    place.plane_name = tracks_[way.back()].name;
    way.pop_back();
  } else {
    place.plane = kLooseTracks;
    place.plane_name = kLooseTracks;
  }
  for (auto step = way.rbegin(); step != way.rend(); ++step) {
    const Track& part = tracks_[*step];
    std::string name = part.name;
    if (part.has_thread) {
      const auto thread = threads_.find(part.tid);
      if (name.empty() && thread != threads_.end()) name = thread->second;
      if (name.empty()) name = "thread " + std::to_string(part.tid);
      place.line_id = part.tid;
    }
    if (name.empty()) continue;
    place.line_name += (place.line_name.empty() ? "" : " / ") + name;
  }
  if (place.line_name.empty()) place.line_name = place.plane_name;
  return place;
}

std::vector<PerfettoTracks::Item> PerfettoTracks::MatchEnds(const std::vector<uint64_t>& events) {
  std::vector<Item> items;
  std::vector<size_t> open;
  for (const uint64_t index : events) {
    const Event& event = events_[index].event;
    switch (event.type) {
      case kBegin:
        open.push_back(items.size());
        items.push_back({.event = index, .unfinished = true});
        break;
      case kEnd:
        if (open.empty()) {
          Count("events end something that never began and were left out");
          break;
        }
        items[open.back()].duration_ns =
            event.time_ns - events_[items[open.back()].event].event.time_ns;
        items[open.back()].unfinished = false;
        items[open.back()].end = index;
        open.pop_back();
        break;
      case kComplete:
        items.push_back({.event = index, .duration_ns = std::max<int64_t>(0, event.duration_ns)});
        break;
      default:
        items.push_back({.event = index});
    }
  }
  for (const size_t item : open) {
    items[item].duration_ns = last_ns_ - events_[items[item].event].event.time_ns;
  }
  return items;
}

int64_t PerfettoTracks::StartPs(int64_t time_ns) const {
  return Clamp((static_cast<__int128>(time_ns) - shift_ns_) * 1000);
}

void PerfettoTracks::WriteArguments(uint64_t event, PlaneBuilder* plane, StatSink* sink) const {
  const Stored& stored = events_[event];
  for (uint64_t i = 0; i < stored.argument_count; ++i) {
    const Argument& argument = arguments_[stored.first_argument + i];
    const int64_t id = plane->StatId(texts_[argument.name]);
    switch (argument.type) {
      case ArgumentType::kUint:
        sink->AddStat(id, argument.bits);
        break;
      case ArgumentType::kInt:
        sink->AddStat(id, static_cast<int64_t>(argument.bits));
        break;
      case ArgumentType::kDouble:
        sink->AddStat(id, std::bit_cast<double>(argument.bits));
        break;
      case ArgumentType::kText:
        sink->AddStat(id, std::string_view(texts_[argument.bits]));
        break;
    }
  }
}

void PerfettoTracks::WriteLine(const std::vector<uint64_t>& events, const Place& place,
                               int64_t timestamp_ns, PlaneBuilder* plane) {
  LineBuilder& line = plane->AddLine(place.line_id, place.line_name, timestamp_ns);
  for (const Item& item : MatchEnds(events)) {
    const Event& event = events_[item.event].event;
    StatSink& sink =
        line.AddEvent(plane->AddEventMetadata(texts_[event.name]), StartPs(event.time_ns),
                      Clamp(static_cast<__int128>(item.duration_ns) * 1000));
    if (!texts_[event.category].empty()) {
      sink.AddStat(plane->StatId("cat"), std::string_view(texts_[event.category]));
    }
    if (item.unfinished) sink.AddStat(plane->StatId("unfinished"), uint64_t{1});
    WriteArguments(item.event, plane, &sink);
    if (item.end != kNoEnd) WriteArguments(item.end, plane, &sink);
    for (const uint64_t with_flows : {item.event, item.end}) {
      const auto found = flows_of_.find(with_flows);
      if (found == flows_of_.end()) continue;
      for (const auto& [id, ends] : found->second) {
        sink.AddStat(plane->StatId("flow"),
                     (ends ? kFlowIn : kFlowInOut) | ((id & kFlowIdMask) << 2));
      }
    }
  }
}

void PerfettoTracks::WriteCounters(const std::vector<uint32_t>& tracks,
                                   const std::vector<std::vector<uint64_t>>& by_track,
                                   int64_t timestamp_ns, PlaneBuilder* plane) {
  LineBuilder* line = nullptr;
  for (const uint32_t number : tracks) {
    const Track& track = tracks_[number];
    if (!track.is_counter || by_track[number].empty()) continue;
    if (line == nullptr) line = &plane->AddLine(-1, kCountersLine, timestamp_ns);
    const int64_t name = plane->AddEventMetadata(track.name.empty() ? "counter" : track.name);
    double sum = 0;
    for (const uint64_t index : by_track[number]) {
      const Event& event = events_[index].event;
      const double value = event.value * static_cast<double>(track.unit_multiplier);
      sum = track.is_incremental ? sum + value : value;
      line->AddEvent(name, StartPs(event.time_ns), 0).AddStat(plane->StatId("value"), sum);
    }
  }
}

Result<std::string> PerfettoTracks::ToXSpace(int64_t base_unix_ns, const CancelToken& cancel) {
  if (events_.empty()) first_ns_ = last_ns_ = 0;
  const bool wide = first_ns_ < -kMaxUnshiftedNs || last_ns_ > kMaxUnshiftedNs;
  shift_ns_ = base_unix_ns != 0 || wide ? first_ns_ : 0;
  const int64_t timestamp_ns = Clamp(static_cast<__int128>(base_unix_ns) + shift_ns_);
  for (const Flow& flow : flows_) {
    if (flow.event < events_.size()) flows_of_[flow.event].emplace_back(flow.id, flow.ends);
  }
  // Each track's events by time; what is written at one time keeps its order.
  std::vector<std::vector<uint64_t>> by_track(tracks_.size());
  for (uint64_t i = 0; i < events_.size(); ++i) by_track[events_[i].track].push_back(i);
  std::vector<Planned> planes;
  std::map<std::string, size_t> plane_of;
  std::vector<Place> places(tracks_.size());
  for (uint32_t t = 0; t < tracks_.size(); ++t) {
    if (by_track[t].empty()) continue;
    STROBE_RETURN_IF_ERROR(cancel.Check());
    std::ranges::stable_sort(by_track[t], {},
                             [this](uint64_t i) { return events_[i].event.time_ns; });
    places[t] = PlaceOf(t);
    const auto [at, is_new] = plane_of.try_emplace(places[t].plane, planes.size());
    if (is_new) planes.push_back({places[t].plane_name, places[t].plane_id, {}});
    planes[at->second].tracks.push_back(t);
  }
  XSpaceBuilder space;
  for (const Planned& planned : planes) {
    PlaneBuilder& plane = space.AddPlane(planned.name, planned.id);
    int64_t own_id = -2;  // of lines that are no threads
    for (const uint32_t t : planned.tracks) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      if (tracks_[t].is_counter) continue;
      if (!tracks_[t].has_thread) places[t].line_id = own_id--;
      WriteLine(by_track[t], places[t], timestamp_ns, &plane);
    }
    WriteCounters(planned.tracks, by_track, timestamp_ns, &plane);
  }
  for (const auto& [what, count] : left_out_) {
    space.AddWarning(std::to_string(count) + " " + what + ".");
  }
  return space.Serialize();
}

}  // namespace strobe::xplane
