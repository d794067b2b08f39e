#include "src/tools/graph_page.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

namespace strobe::tools {
namespace {

using hlo::EdgeKind;
using hlo::GraphEdge;
using hlo::GraphNode;
using hlo::HloGraph;
using hlo::kNone;
using hlo::NodeColor;

constexpr double kLineHeight = 14;
constexpr double kCharWidth = 6.2;  // of the 11 px font below
constexpr double kGapX = 24;
constexpr double kGapY = 40;
constexpr size_t kMaxLineChars = 80;

std::string_view FillOf(NodeColor color) {
  switch (color) {
    case NodeColor::kBrown:
      return "#c9b8b0";
    case NodeColor::kDarkBlue:
      return "#9fc3ee";
    case NodeColor::kDarkGreen:
      return "#9fd4a3";
    case NodeColor::kDarkOrange:
      return "#ffcc80";
    case NodeColor::kDarkRed:
      return "#ef9a9a";
    case NodeColor::kGray:
      return "#d3dadd";
    case NodeColor::kGreen:
      return "#cfe9d0";
    case NodeColor::kOrange:
      return "#ffe4bd";
    case NodeColor::kPurple:
      return "#e3c6e8";
    case NodeColor::kRed:
      return "#ffd3d8";
    case NodeColor::kYellow:
      return "#fff8c9";
    case NodeColor::kWhite:
    case NodeColor::kDashed:
      break;
  }
  return "#ffffff";
}

// The lines of a label without its tags; entities stay, they are the same in SVG.
std::vector<std::string> LinesOf(std::string_view label) {
  std::vector<std::string> lines(1);
  while (!label.empty()) {
    if (label.front() != '<') {
      lines.back().push_back(label.front());
      label.remove_prefix(1);
      continue;
    }
    if (label.starts_with("<br/>")) lines.emplace_back();
    label.remove_prefix(std::min(label.find('>'), label.size() - 1) + 1);
  }
  return lines;
}

struct Box {
  std::vector<std::string> lines;
  size_t layer = 0;
  double middle = 0;  // of what feeds it, for the order
  double x = 0, y = 0, width = 0, height = 0;
};

class Layout {
 public:
  explicit Layout(const HloGraph& graph) : graph_(graph), boxes_(graph.nodes.size()) {}

  std::string Svg() {
    MakeBoxes();
    AssignLayers();
    Place();
    return Draw();
  }

 private:
  void MakeBoxes();
  void AssignLayers();
  void Place();
  std::string Draw() const;
  void DrawClusters(std::string* out) const;
  void DrawNode(size_t index, std::string* out) const;

  const HloGraph& graph_;
  std::vector<Box> boxes_;
  double width_ = 0;
  double height_ = 0;
};

void Layout::MakeBoxes() {
  for (size_t n = 0; n < boxes_.size(); ++n) {
    Box& box = boxes_[n];
    box.lines = LinesOf(graph_.nodes[n].label);
    size_t longest = 1;
    for (std::string& line : box.lines) {
      // A cut must not fall into an entity.
      if (line.size() > kMaxLineChars && line.find('&') == std::string::npos) {
        line.resize(kMaxLineChars);
        line += "...";
      }
      longest = std::max(longest, line.size());
    }
    box.width = 12 + kCharWidth * static_cast<double>(longest);
    box.height = 8 + kLineHeight * static_cast<double>(box.lines.size());
  }
}

void Layout::AssignLayers() {
  std::vector<size_t> waiting(boxes_.size(), 0);
  std::vector<std::vector<uint32_t>> next(boxes_.size());
  for (const GraphEdge& edge : graph_.edges) {
    if (edge.from == edge.to) continue;
    next[edge.from].push_back(edge.to);
    ++waiting[edge.to];
  }
  std::vector<uint32_t> ready;
  for (uint32_t n = 0; n < boxes_.size(); ++n) {
    if (waiting[n] == 0) ready.push_back(n);
  }
  // Nodes on a circle (there is none in a sound module) stay in the first layer.
  for (size_t i = 0; i < ready.size(); ++i) {
    for (const uint32_t to : next[ready[i]]) {
      boxes_[to].layer = std::max(boxes_[to].layer, boxes_[ready[i]].layer + 1);
      if (--waiting[to] == 0) ready.push_back(to);
    }
  }
}

void Layout::Place() {
  size_t layers = 0;
  for (const Box& box : boxes_) layers = std::max(layers, box.layer + 1);
  std::vector<std::vector<uint32_t>> rows(layers);
  for (uint32_t n = 0; n < boxes_.size(); ++n) rows[boxes_[n].layer].push_back(n);
  std::vector<std::vector<uint32_t>> feeds(boxes_.size());
  for (const GraphEdge& edge : graph_.edges) feeds[edge.to].push_back(edge.from);
  double y = kGapY;
  for (std::vector<uint32_t>& row : rows) {
    for (const uint32_t n : row) {
      double sum = 0;
      for (const uint32_t from : feeds[n]) sum += boxes_[from].x;
      const auto count = static_cast<double>(feeds[n].size());
      boxes_[n].middle = count > 0 ? sum / count : 0;
    }
    std::ranges::stable_sort(row, [this](uint32_t a, uint32_t b) {
      const uint32_t left = graph_.nodes[a].cluster;
      const uint32_t right = graph_.nodes[b].cluster;
      return left != right ? left < right : boxes_[a].middle < boxes_[b].middle;
    });
    double x = kGapX;
    double tallest = 0;
    for (const uint32_t n : row) {
      Box& box = boxes_[n];
      x = std::max(x, box.middle - box.width / 2);
      box.x = x + box.width / 2;
      box.y = y;
      x += box.width + kGapX;
      tallest = std::max(tallest, box.height);
    }
    width_ = std::max(width_, x);
    y += tallest + kGapY;
  }
  height_ = y;
}

void AppendRectangle(double x, double y, double width, double height, std::string_view style,
                     std::string* out) {
  char buffer[160];
  std::snprintf(buffer, sizeof(buffer),
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"4\" ", x, y, width,
                height);
  out->append(buffer).append(style).append("/>\n");
}

void AppendText(double x, double y, std::string_view text, std::string_view style,
                std::string* out) {
  char buffer[80];
  std::snprintf(buffer, sizeof(buffer), "<text x=\"%.1f\" y=\"%.1f\" ", x, y);
  out->append(buffer).append(style).append(">").append(text).append("</text>\n");
}

void Layout::DrawClusters(std::string* out) const {
  struct Frame {
    double left = 1e18, top = 1e18, right = -1e18, bottom = -1e18;
  };
  std::map<uint32_t, Frame> frames;
  for (size_t n = 0; n < boxes_.size(); ++n) {
    double margin = 6;
    for (uint32_t c = graph_.nodes[n].cluster; c != kNone; c = graph_.clusters[c].parent) {
      Frame& frame = frames[c];
      const Box& box = boxes_[n];
      frame.left = std::min(frame.left, box.x - box.width / 2 - margin);
      frame.right = std::max(frame.right, box.x + box.width / 2 + margin);
      frame.top = std::min(frame.top, box.y - margin - kLineHeight);
      frame.bottom = std::max(frame.bottom, box.y + box.height + margin);
      margin += 4;
    }
  }
  for (const auto& [cluster, frame] : frames) {
    AppendRectangle(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top,
                    "fill=\"#f3f5f7\" fill-opacity=\"0.6\" stroke=\"#aab4bb\"", out);
    const std::vector<std::string> lines = LinesOf(graph_.clusters[cluster].label);
    AppendText(frame.left + 4, frame.top + kLineHeight - 2, lines.front(), "class=\"cluster\"",
               out);
  }
}

void Layout::DrawNode(size_t index, std::string* out) const {
  const GraphNode& node = graph_.nodes[index];
  const Box& box = boxes_[index];
  std::string style = "fill=\"" + std::string(FillOf(node.color)) + "\" stroke=\"";
  style += node.highlighted ? "#b3261e\" stroke-width=\"2\"" : "#7d8890\"";
  if (node.color == NodeColor::kDashed) style += " stroke-dasharray=\"4 3\"";
  AppendRectangle(box.x - box.width / 2, box.y, box.width, box.height, style, out);
  for (size_t i = 0; i < box.lines.size(); ++i) {
    const double y = box.y + 4 + kLineHeight * (static_cast<double>(i) + 0.8);
    AppendText(box.x, y, box.lines[i], i == 0 ? "class=\"name\"" : "class=\"more\"", out);
  }
}

std::string Layout::Draw() const {
  char head[160];
  std::snprintf(head, sizeof(head),
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\">\n",
                width_, height_);
  std::string out = head;
  out +=
      "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
      "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n";
  DrawClusters(&out);
  for (const GraphEdge& edge : graph_.edges) {
    const Box& from = boxes_[edge.from];
    const Box& to = boxes_[edge.to];
    const double start = from.y + from.height;
    char buffer[240];
    std::snprintf(buffer, sizeof(buffer),
                  "<path class=\"edge\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"%s/>\n",
                  from.x, start, from.x, start + kGapY / 2, to.x, to.y - kGapY / 2, to.x, to.y,
                  edge.kind == EdgeKind::kOperand ? "" : " stroke-dasharray=\"3 3\"");
    out += buffer;
  }
  for (size_t n = 0; n < boxes_.size(); ++n) DrawNode(n, &out);
  out += "</svg>\n";
  return out;
}

}  // namespace

std::string DescriptionPage(std::string_view title, std::string_view body,
                            std::string_view description) {
  std::string page = "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>";
  page.append(title).append("</title>\n<style>\n");
  page +=
      "body { margin: 12px; font: 11px system-ui, sans-serif; }\n"
      "text { font: 11px ui-monospace, monospace; text-anchor: middle; }\n"
      "text.name { font-weight: 600; }\n"
      "text.cluster { text-anchor: start; fill: #55616a; }\n"
      "path.edge { fill: none; stroke: #5f6b73; marker-end: url(#tip); }\n"
      "</style>\n</head>\n<body>\n";
  page.append(body);
  page += "<script type=\"text/plain\" id=\"description\">\nconst data = `";
  // The only text that ends a script element early.
  while (!description.empty()) {
    const size_t at = description.find("</script");
    page.append(description.substr(0, at));
    if (at == std::string_view::npos) break;
    page += "<\\/script";
    description.remove_prefix(at + 8);
  }
  page += "`;\n</script>\n</body>\n</html>\n";
  return page;
}

std::string GraphPage(const HloGraph& graph) {
  std::string body = "<p>" + LinesOf(graph.title).front() + "</p>\n";
  if (graph.nodes.size() > kMaxDrawnNodes) {
    body += "<p>" + std::to_string(graph.nodes.size()) +
            " nodes are too many to draw. Ask for a smaller graph_width, or for format=dot.</p>\n";
  } else {
    body += Layout(graph).Svg();
  }
  return DescriptionPage("HLO graph", body, hlo::DotText(graph));
}

}  // namespace strobe::tools
