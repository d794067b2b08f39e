#include "src/analysis/event_forest.h"

#include <algorithm>

#include "src/base/status.h"

namespace strobe::analysis {

uint32_t EventForest::AddLine(Line line) {
  LineData& data = lines_.emplace_back();
  data.groups.assign(line.order.size(), static_cast<int32_t>(kNoGroup));
  data.line = std::move(line);
  return static_cast<uint32_t>(lines_.size() - 1);
}

void EventForest::AddLink(std::vector<Node> producers, std::vector<Node> consumers) {
  if (producers.empty() || consumers.empty()) return;
  const auto link = static_cast<uint32_t>(hubs_.size());
  for (const Node node : producers) lines_[node.line].to.push_back({node.position, link});
  for (const Node node : consumers) lines_[node.line].from.push_back({node.position, link});
  hubs_.push_back({std::move(producers), std::move(consumers), 0});
}

void EventForest::Finish() {
  for (LineData& data : lines_) {
    const auto by_position = [](const Edge& a, const Edge& b) { return a.position < b.position; };
    std::ranges::stable_sort(data.to, by_position);
    std::ranges::stable_sort(data.from, by_position);
    if (data.line.nested) Nest(&data);
  }
}

// An event lies in the last one before it that has not been left. One that does not fit ends what
// it does not fit into, also when it only overlaps.
void EventForest::Nest(LineData* data) {
  const Line& line = data->line;
  const auto count = static_cast<uint32_t>(line.order.size());
  data->parents.assign(count, kNoParent);
  data->ends.resize(count);
  struct Open {
    uint32_t position;
    int64_t start_ps;
    int64_t end_ps;
  };
  std::vector<Open> open;
  auto outside = line.outside.begin();
  for (uint32_t position = 0; position < count; ++position) {
    if (outside != line.outside.end() && *outside == position) {
      data->ends[position] = position + 1;
      ++outside;
      continue;
    }
    const uint32_t event = line.order[position];
    const int64_t start_ps = line.StartOf(event);
    const int64_t end_ps = line.EndOf(event);
    while (!open.empty() && (open.back().start_ps > start_ps || end_ps > open.back().end_ps)) {
      data->ends[open.back().position] = position;
      open.pop_back();
    }
    if (!open.empty()) data->parents[position] = static_cast<int32_t>(open.back().position);
    open.push_back({position, start_ps, end_ps});
  }
  for (const Open& left : open) data->ends[left.position] = count;
}

void EventForest::Spread(LineData* data, uint32_t root, int32_t group,
                         const std::function<void(int32_t)>& met, std::vector<Node>* queue) {
  const uint32_t end = data->line.nested ? data->ends[root] : root + 1;
  auto edge = std::ranges::lower_bound(data->to, root, {}, &Edge::position);
  for (uint32_t position = root; position < end;) {
    if (position != root && data->parents[position] == kNoParent) {
      ++position;  // asynchronous: stands here, belongs to nobody
      continue;
    }
    int32_t& known = data->groups[position];
    if (known >= 0) {
      if (known != group) met(known);
      position = data->line.nested ? data->ends[position] : position + 1;
      continue;
    }
    known = group;
    while (edge != data->to.end() && edge->position < position) ++edge;
    for (; edge != data->to.end() && edge->position == position; ++edge) {
      Hub& hub = hubs_[edge->link];
      if (hub.seen_in == walks_) continue;
      hub.seen_in = walks_;
      queue->insert(queue->end(), hub.consumers.begin(), hub.consumers.end());
    }
    ++position;
  }
}

void EventForest::Propagate(Node root, int32_t group, const std::function<void(int32_t)>& met) {
  ++walks_;
  std::vector<Node> queue = {root};
  while (!queue.empty()) {
    const Node node = queue.back();
    queue.pop_back();
    Spread(&lines_[node.line], node.position, group, met, &queue);
  }
}

bool EventForest::SearchUpwards(Node node, bool include_self,
                                const std::function<bool(Node)>& stop) const {
  std::vector<Node> queue = {node};
  std::unordered_set<uint64_t> seen = {node.key()};
  std::unordered_set<uint32_t> seen_links;
  for (size_t next = 0; next < queue.size(); ++next) {
    const Node at = queue[next];
    if ((next > 0 || include_self) && stop(at)) return true;
    const LineData& data = lines_[at.line];
    if (data.line.nested && data.parents[at.position] != kNoParent) {
      const Node parent = {at.line, static_cast<uint32_t>(data.parents[at.position])};
      if (seen.insert(parent.key()).second) queue.push_back(parent);
    }
    auto edge = std::ranges::lower_bound(data.from, at.position, {}, &Edge::position);
    for (; edge != data.from.end() && edge->position == at.position; ++edge) {
      if (!seen_links.insert(edge->link).second) continue;
      for (const Node producer : hubs_[edge->link].producers) {
        if (seen.insert(producer.key()).second) queue.push_back(producer);
      }
    }
  }
  return false;
}

}  // namespace strobe::analysis
