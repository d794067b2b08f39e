// The allocation timeline: a rectangle a buffer, program time to the right, addresses upwards.
#include <algorithm>
#include <array>
#include <cstdio>
#include <unordered_map>

#include "src/tools/graph_page.h"
#include "src/tools/memory_viewer.h"

namespace strobe::tools {
namespace {

using hlo::BufferBlock;
using hlo::MemoryUse;

// XProf's colours, in its order: buffers of the peak by their place in it, others by a count.
constexpr uint32_t kPalette[] = {
    0xe91e63, 0x2196f3, 0x81c784, 0x4dd0e1, 0x3f51b5, 0xe53935, 0xff9100, 0xb39ddb, 0x90a4ae,
    0x26c6da, 0xad1457, 0x03a9f4, 0x2196f3, 0xc2185b, 0x795548, 0xf9a825, 0x00bfa5, 0x880e4f,
    0xd500f9, 0xce93d8, 0xec407a, 0x4caf50, 0xff8f00, 0xffca28, 0xab47bc, 0x00e5ff, 0xff9800,
    0x40c4ff, 0x1e88e5, 0x9fa8da, 0xbf360c, 0x00b8d4, 0xf57f17, 0x64b5f6, 0xe040fb, 0xffab91,
    0x4caf50, 0x01579b, 0x66bb6a, 0xef9a9a, 0x558b2f, 0xfb8c00, 0xff4081, 0x00e676, 0x388e3c,
    0x424242, 0x6d4c41, 0xc62828, 0x616161, 0x00897b, 0x448aff, 0x0d47a1, 0x607d8b, 0x673ab7,
    0x00c853, 0x2e7d32, 0xffa726, 0x5e35b1, 0xba68c8, 0x8d6e63, 0x00bcd4, 0xff6f00, 0xf4511e,
    0xff1744, 0x9e9e9e, 0xd81b60, 0x4a148c, 0x26a69a, 0x689f38, 0x7b1fa2, 0xb0bec5, 0x304ffe,
    0xf48fb1, 0xffd600, 0xffb74d, 0x8bc34a, 0x303f9f, 0x5d4037, 0x80cbc4, 0xffcc80, 0x00acc1,
    0x3e2723, 0xff5252, 0xff7043, 0xe91e63, 0xea80fc, 0xe65100, 0xd84315, 0x212121, 0xff5722,
    0x1976d2, 0x2962ff, 0xbdbdbd, 0x3949ab, 0x69f0ae, 0xd50000, 0xffd740, 0xc0ca33, 0xff6e40,
    0x00b0ff, 0x2979ff, 0xe64a19, 0x7c4dff, 0x607d8b, 0x009688, 0xffb300, 0xc51162, 0xffc400,
    0x29b6f6, 0x3d5afe, 0x76ff03, 0xcddc39, 0xb388ff, 0x5c6bc0, 0x9e9d24, 0x7cb342, 0xef5350,
    0xfdd835, 0xef6c00, 0x4fc3f7, 0x6200ea, 0x004d40, 0xff8a65, 0xffab00, 0x80deea, 0x0097a7,
    0x7e57c2, 0xff6d00, 0x1565c0, 0x455a64, 0xffc107, 0x4527a0, 0xff5722, 0xf44336, 0xf57c00,
    0x827717, 0xa5d6a7, 0x82b1ff, 0x9c27b0, 0xff80ab, 0xe1bee7, 0x78909c, 0x311b92, 0x00695c,
    0x4e342e, 0x3f51b5, 0x651fff, 0x9e9e9e, 0x81d4fa, 0xf8bbd0, 0xb71c1c, 0x0091ea, 0x673ab7,
    0xa1887f, 0x4db6ac, 0xffa000, 0x6a1b9a, 0x43a047, 0xbcaaa4, 0x546e7a, 0xaeea00, 0xe57373,
    0xffccbc, 0x006064, 0xfbc02d, 0xffeb3b, 0x8bc34a, 0x039be5, 0x8e24aa, 0x80d8ff, 0x009688,
    0x9ccc65, 0x512da8, 0xffc107, 0x757575, 0x0277bd, 0xff3d00, 0x33691e, 0x03a9f4, 0x00838f,
    0xff8a80, 0x283593, 0xf50057, 0x1a237e, 0x90caf9, 0x9c27b0, 0xaa00ff, 0xaed581, 0xafb42b,
    0x9575cd, 0xd32f2f, 0x64dd17, 0xf44336, 0x795548, 0xcddc39, 0xff9e80, 0x7986cb, 0xdd2c00,
    0x0288d1, 0xff9800, 0x263238, 0x00796b, 0x42a5f5, 0x8c9eff, 0x1b5e20, 0xffab40, 0x536dfe,
    0x00bcd4, 0xf06292,
};
constexpr size_t kColors = std::size(kPalette);

constexpr double kCanvas = 4096;       // pixels of the drawing, both ways
constexpr double kPixelsPerInch = 72;  // what DOT measures in
constexpr double kMinPixels = 1;       // smaller blocks are left out

// A block on the canvas; y counts from the allocation's first byte.
struct Place {
  double x = 0, y = 0, width = 0, height = 0;
  bool shown() const { return width >= kMinPixels && height >= kMinPixels; }
};

Place PlaceOf(const BufferBlock& block, const BufferBlock& allocation) {
  const auto ratio = [](int64_t part, int64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole) * kCanvas;
  };
  return {ratio(block.start, allocation.end), ratio(block.offset_bytes, allocation.size_bytes),
          ratio(block.end - block.start, allocation.end),
          ratio(block.size_bytes, allocation.size_bytes)};
}

const std::vector<std::string>& ColorTexts() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> made;
    for (const uint32_t color : kPalette) {
      char buffer[8];
      std::snprintf(buffer, sizeof(buffer), "#%06x", color);
      made.emplace_back(buffer);
    }
    return made;
  }();
  return texts;
}

// What is written on a block, and how large: cut to the width, nothing when it is too small.
struct BlockLabel {
  double font = 8;
  std::string text;
};

BlockLabel LabelOf(std::string_view name, const Place& place) {
  constexpr double kMinFont = 8, kMaxFont = 14, kFontPerHeight = 0.6, kCharPerFont = 0.55;
  constexpr double kMargin = 3, kMinHeight = 12;
  constexpr size_t kDots = 3;
  BlockLabel label;
  label.font = std::clamp(place.height * kFontPerHeight, kMinFont, kMaxFont);
  if (place.height < kMinHeight) return label;
  const double room = (place.width - kMargin) / (label.font * kCharPerFont);
  const auto chars = static_cast<size_t>(std::max(room, 0.0));
  if (name.size() <= chars) {
    label.text = name;
  } else if (chars > kDots) {
    label.text = std::string(name.substr(0, chars - kDots)) + "...";
  }
  return label;
}

std::string_view NameOf(const hlo::HloModule& module, const BufferBlock& block) {
  return block.instruction == hlo::kNone ? std::string_view()
                                         : module.instruction(block.instruction).name;
}

std::string TooltipOf(const hlo::HloModule& module, const BufferBlock& block) {
  if (block.id < 0) {
    return "buffer_allocation_id:" + std::to_string(block.allocation) +
           "\nsize:" + std::to_string(block.size_bytes) +
           "\nbuffer_counts:" + std::to_string(block.assigned) + "\n";
  }
  return "buffer_id:" + std::to_string(block.id) +
         "\nhlo_op:" + std::string(NameOf(module, block)) + "\nshape:" + block.shape +
         "\nsize:" + std::to_string(block.size_bytes) +
         "\nunpadded_size:" + std::to_string(block.unpadded_bytes) +
         "\noffset:" + std::to_string(block.offset_bytes) + "\nspan:(" +
         std::to_string(block.start) + "," + std::to_string(block.end) + ")";
}

// Calls visit(block, place, color) for everything that is shown, allocations first.
template <typename Visit>
void EachShown(const MemoryUse& use, Visit visit) {
  const std::vector<std::string_view> colors = BlockColors(use);
  const BufferBlock* allocation = nullptr;
  for (size_t i = 0; i < use.blocks.size(); ++i) {
    if (use.blocks[i].id < 0) allocation = &use.blocks[i];
    if (allocation == nullptr) continue;
    const Place place = PlaceOf(use.blocks[i], *allocation);
    if (place.shown() || use.blocks[i].id < 0) visit(use.blocks[i], place, colors[i]);
  }
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace

std::vector<std::string_view> BlockColors(const MemoryUse& use) {
  std::unordered_map<int64_t, size_t> peak;
  for (size_t i = 0; i < use.peak.size(); ++i) peak[use.peak[i].id] = i;
  std::vector<std::string_view> colors;
  const BufferBlock* allocation = nullptr;
  size_t next = 1;
  for (const BufferBlock& block : use.blocks) {
    if (block.id < 0) {
      allocation = &block;
      colors.push_back("#ffffff");
      continue;
    }
    const auto at_peak = peak.find(block.id);
    colors.push_back(ColorTexts()[(at_peak == peak.end() ? next : at_peak->second) % kColors]);
    if (allocation != nullptr && PlaceOf(block, *allocation).shown()) ++next;
  }
  return colors;
}

std::string AllocationTimelineDot(const hlo::HloModule& module, const MemoryUse& use) {
  std::string out =
      "graph G {\n epsilon=0.5 \n inputscale=72 \n node [shape=box,style=filled,"
      "fontname=\"Arial\",margin=\"0.02,0.02\"];\n";
  size_t node = 0;
  EachShown(use, [&](const BufferBlock& block, const Place& place, std::string_view color) {
    BlockLabel label{14, {}};
    std::string fill = std::string(color) + "ff";
    if (block.id >= 0) {
      label = LabelOf(NameOf(module, block), place);
      fill = color;
    }
    char buffer[240];
    std::snprintf(buffer, sizeof(buffer),
                  "\", pos=\"%.2f,%.2f!\", width=\"%.4f\", height=\"%.4f\", "
                  "fixedsize=true, color=\"%s\", fontsize=%.1f, label=\"",
                  place.x + place.width / 2, place.y + place.height / 2,
                  place.width / kPixelsPerInch, place.height / kPixelsPerInch, fill.c_str(),
                  label.font);
    out += "\"" + std::to_string(node++) + "\" [tooltip=\"" + TooltipOf(module, block);
    out.append(buffer).append(label.text).append("\"];\n");
  });
  out += "}";
  return out;
}

std::string NoTimelinePage(bool as_xprof) {
  const std::string_view reason =
      as_xprof
          ? "There is no memory activity data to display for this timeline."
          : "The module has no heap activity in this memory space, or no buffer assignment.</p>";
  return "<html><body style=\"font-family: sans-serif; padding: 20px;\"><h2>No memory allocation "
         "timeline available</h2><p>" +
         std::string(reason) + "</body></html>";
}

std::string AllocationTimelinePage(const hlo::HloModule& module, const MemoryUse& use,
                                   bool as_xprof) {
  if (use.blocks.empty()) return NoTimelinePage(as_xprof);
  std::string body =
      "<p>Bytes upwards, program order to the right; point at a block for its buffer.</p>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 4096 4096\" width=\"100%\" "
      "preserveAspectRatio=\"none\" style=\"height:88vh\">\n";
  EachShown(use, [&](const BufferBlock& block, const Place& place, std::string_view color) {
    char buffer[200];
    std::snprintf(buffer, sizeof(buffer),
                  "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                  "fill=\"%s\" stroke=\"#444\">",
                  place.x, kCanvas - place.y - place.height, place.width, place.height,
                  std::string(color).c_str());
    body.append(buffer).append("<title>").append(Escaped(TooltipOf(module, block)));
    body += "</title></rect>\n";
    const BlockLabel label = LabelOf(NameOf(module, block), place);
    if (block.id < 0 || label.text.empty()) return;
    std::snprintf(buffer, sizeof(buffer), "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.1f\">",
                  place.x + place.width / 2, kCanvas - place.y - place.height / 2, label.font);
    body.append(buffer).append(Escaped(label.text)).append("</text>\n");
  });
  body += "</svg>\n";
  return DescriptionPage("Memory allocation timeline", body, AllocationTimelineDot(module, use));
}

}  // namespace strobe::tools
