#include "src/hlo/attribute_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace strobe::hlo {
namespace {

// Field numbers of a window's dimension.
constexpr uint32_t kSize = 1, kStride = 2, kPadLow = 3, kPadHigh = 4, kWindowDilation = 5,
                   kBaseDilation = 6, kReversal = 7;

void AppendIota(const std::vector<int64_t>& dimensions, const std::vector<int64_t>& reshape,
                const std::vector<int64_t>& transpose, std::string* out) {
  out->push_back('[');
  AppendJoined(dimensions, ",", out);
  out->append("]<=[");
  AppendJoined(reshape, ",", out);
  out->push_back(']');
  if (reshape.size() > 1) {
    out->append("T(");
    AppendJoined(transpose, ",", out);
    out->push_back(')');
  }
}

std::string AxisText(std::string_view axis_ref, const std::vector<std::string_view>& axes) {
  const Message ref(axis_ref);
  const auto index = static_cast<size_t>(ref.Int(1));
  std::string text = "'";
  text.append(index < axes.size() ? Message(axes[index]).Bytes(1) : std::string_view("?"));
  text.push_back('\'');
  if (ref.Has(2)) {
    const Message part(ref.Bytes(2));
    text.append(":(" + std::to_string(part.Int(1)) + ")" + std::to_string(part.Int(2)));
  }
  return text;
}

void AppendAxes(const std::vector<std::string_view>& refs,
                const std::vector<std::string_view>& axes, std::string* out) {
  out->push_back('{');
  for (size_t i = 0; i < refs.size(); ++i) {
    if (i > 0) out->append(", ");
    out->append(AxisText(refs[i], axes));
  }
  out->push_back('}');
}

void AppendMesh(const Message& mesh, std::string* out) {
  out->append("mesh[");
  const auto axes = mesh.All(1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const Message axis(axes[i]);
    if (i > 0) out->push_back(',');
    out->append("'").append(axis.Bytes(1)).append("'=").append(std::to_string(axis.Int(2)));
  }
  out->push_back(']');
  const auto devices = mesh.Ints(2);
  if (!devices.empty()) {
    out->append(", device_ids=(");
    AppendJoined(devices, ",", out);
    out->push_back(')');
  }
}

void AppendNamedSharding(const Message& sharding, std::string* out) {
  const Message mesh(sharding.Bytes(2));
  const auto axes = mesh.All(1);
  out->push_back('{');
  AppendMesh(mesh, out);
  const auto dimensions = sharding.All(3);
  if (dimensions.empty()) {
    out->append(", replicated}");
    return;
  }
  out->append(", [");
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const Message dimension(dimensions[i]);
    if (i > 0) out->append(", ");
    std::string refs;
    AppendAxes(dimension.All(1), axes, &refs);
    if (!dimension.Bool(2)) refs.insert(refs.size() - 1, refs.size() > 2 ? ", ?" : "?");
    out->append(refs);
  }
  out->push_back(']');
  for (const auto& [field, name] : {std::pair<uint32_t, std::string_view>{4, "replicated"},
                                    std::pair<uint32_t, std::string_view>{5, "unreduced"}}) {
    const auto refs = sharding.All(field);
    if (refs.empty()) continue;
    out->append(", ").append(name).append("=");
    AppendAxes(refs, axes, out);
  }
  out->push_back('}');
}

std::string_view SubgroupName(int64_t type) {
  switch (type) {
    case 0:
      return "replicated";
    case 1:
      return "maximal";
    case 4:
      return "manual";
    case 5:
      return "unknown";
    case 6:
      return "unreduced";
    default:
      return "error";
  }
}

void AppendTiles(const Message& sharding, std::string* out) {
  const auto reshape = sharding.Ints(9);
  const auto dimensions = sharding.Ints(3);
  out->append("{devices=");
  if (!reshape.empty()) {
    AppendIota(dimensions, reshape, sharding.Ints(10), out);
  } else {
    out->push_back('[');
    AppendJoined(dimensions, ",", out);
    out->push_back(']');
    AppendJoined(sharding.Ints(4), ",", out);
  }
  if (sharding.Bool(6)) out->append(" last_tile_dim_replicate");
  const auto last = sharding.Ints(8);
  if (!last.empty()) {
    out->append(" last_tile_dims={");
    for (size_t i = 0; i < last.size(); ++i) {
      if (i > 0) out->append(", ");
      out->append(SubgroupName(last[i]));
    }
    out->push_back('}');
  }
}

void AppendGroups(const std::vector<std::string_view>& groups, std::string* out) {
  out->push_back('{');
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendBraced(Message(groups[i]).Ints(1), out);
  }
  out->push_back('}');
}

}  // namespace

void AppendJoined(const std::vector<int64_t>& values, std::string_view separator,
                  std::string* out) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out->append(separator);
    out->append(std::to_string(values[i]));
  }
}

void AppendBraced(const std::vector<int64_t>& values, std::string* out) {
  out->push_back('{');
  AppendJoined(values, ",", out);
  out->push_back('}');
}

void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    switch (c) {
      case '\n':
        out->append("\\n");
        break;
      case '\r':
        out->append("\\r");
        break;
      case '\t':
        out->append("\\t");
        break;
      case '"':
        out->append("\\\"");
        break;
      case '\'':
        out->append("\\'");
        break;
      case '\\':
        out->append("\\\\");
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20 || static_cast<uint8_t>(c) >= 0x7f) {
          char buffer[8];
          std::snprintf(buffer, sizeof(buffer), "\\%03o", static_cast<uint8_t>(c));
          out->append(buffer);
        } else {
          out->push_back(c);
        }
    }
  }
}

bool LooksLikeBraces(std::string_view text) {
  if (text.size() < 2 || text.front() != '{') return false;
  int64_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return i + 1 == text.size();
  }
  return false;
}

void AppendConfigText(std::string_view text, std::string* out) {
  if (LooksLikeBraces(text)) {
    out->append(text);
    return;
  }
  out->push_back('"');
  AppendEscaped(text, out);
  out->push_back('"');
}

void AppendBackendConfig(std::string_view config, std::string* out, bool quoted) {
  constexpr std::string_view kRetired = "\"wait_on_operation_queues\":[],";
  const size_t at = config.find(kRetired);
  if (at != std::string_view::npos && LooksLikeBraces(config)) {
    out->append(config.substr(0, at)).append(config.substr(at + kRetired.size()));
  } else if (quoted) {
    AppendConfigText(config, out);
  } else {
    out->append(config);
  }
}

void AppendWindow(std::string_view window, std::string* out) {
  std::vector<Message> dimensions;
  for (const std::string_view bytes : Message(window).All(1)) dimensions.emplace_back(bytes);
  out->push_back('{');
  bool first = true;
  const auto part = [&](std::string_view name, auto&& shown, auto&& append) {
    if (!std::any_of(dimensions.begin(), dimensions.end(), shown)) return;
    if (!first) out->push_back(' ');
    first = false;
    out->append(name).append("=");
    for (size_t i = 0; i < dimensions.size(); ++i) {
      if (i > 0) out->push_back('x');
      append(dimensions[i]);
    }
  };
  const auto number = [&](uint32_t field) {
    return [out, field](const Message& d) { out->append(std::to_string(d.Int(field))); };
  };
  const auto not_one = [](uint32_t field) {
    return [field](const Message& d) { return d.Int(field) != 1; };
  };
  part("size", [](const Message&) { return true; }, number(kSize));
  part("stride", not_one(kStride), number(kStride));
  part(
      "pad", [](const Message& d) { return d.Int(kPadLow) != 0 || d.Int(kPadHigh) != 0; },
      [&](const Message& d) {
        out->append(std::to_string(d.Int(kPadLow)) + "_" + std::to_string(d.Int(kPadHigh)));
      });
  part("lhs_dilate", not_one(kBaseDilation), number(kBaseDilation));
  part("rhs_dilate", not_one(kWindowDilation), number(kWindowDilation));
  part(
      "rhs_reversal", [](const Message& d) { return d.Bool(kReversal); },
      [&](const Message& d) { out->push_back(d.Bool(kReversal) ? '1' : '0'); });
  out->push_back('}');
}

void AppendDimensionLabels(std::string_view convolution_dimensions, std::string* out) {
  const Message numbers(convolution_dimensions);
  const auto side = [&](uint32_t first, char first_letter, uint32_t second, char second_letter,
                        uint32_t spatial) {
    const auto places = numbers.Ints(spatial);
    std::vector<std::string> labels(places.size() + 2);
    const auto set = [&](int64_t place, std::string label) {
      if (place >= 0 && place < static_cast<int64_t>(labels.size())) {
        labels[static_cast<size_t>(place)] = std::move(label);
      }
    };
    for (size_t i = 0; i < places.size(); ++i) set(places[i], std::to_string(i));
    set(numbers.Int(first), std::string(1, first_letter));
    set(numbers.Int(second), std::string(1, second_letter));
    for (const std::string& label : labels) out->append(label.empty() ? "?" : label);
  };
  side(7, 'b', 8, 'f', 11);
  out->push_back('_');
  side(3, 'i', 4, 'o', 6);
  out->append("->");
  side(9, 'b', 10, 'f', 12);
}

void AppendPadding(std::string_view padding_config, std::string* out) {
  bool first = true;
  const auto dimensions = Message(padding_config).All(1);
  const bool interior = std::any_of(dimensions.begin(), dimensions.end(),
                                    [](std::string_view d) { return Message(d).Int(3) != 0; });
  for (const std::string_view bytes : dimensions) {
    const Message dimension(bytes);
    if (!first) out->push_back('x');
    first = false;
    out->append(std::to_string(dimension.Int(1)) + "_" + std::to_string(dimension.Int(2)));
    if (interior) out->append("_" + std::to_string(dimension.Int(3)));
  }
}

void AppendSharding(std::string_view bytes, std::string* out, int depth) {
  const Message sharding(bytes);
  if (sharding.Has(14)) {
    AppendNamedSharding(Message(sharding.Bytes(14)), out);
    return;
  }
  constexpr int kReplicated = 0, kMaximal = 1, kTuple = 2, kManual = 4, kUnknown = 5,
                kUnreduced = 6;
  switch (sharding.Int(1)) {
    case kTuple: {
      out->push_back('{');
      const auto parts = sharding.All(5);
      for (size_t i = 0; i < parts.size() && depth < kMaxShardingDepth; ++i) {
        if (i > 0) out->append(", ");
        if (i > 0 && i % 5 == 0) out->append("/*index=").append(std::to_string(i)).append("*/");
        AppendSharding(parts[i], out, depth + 1);
      }
      break;
    }
    case kReplicated:
      out->append("{replicated");
      break;
    case kManual:
      out->append("{manual");
      break;
    case kUnknown:
      out->append("{unknown");
      break;
    case kUnreduced:
      out->append("{unreduced");
      break;
    case kMaximal: {
      const auto devices = sharding.Ints(4);
      out->append("{maximal device=");
      out->append(std::to_string(devices.empty() ? 0 : devices[0]));
      break;
    }
    default:
      AppendTiles(sharding, out);
      break;
  }
  if (sharding.Bool(11)) {
    out->append(sharding.Int(13) == 1 ? " shard_like " : " shard_as ");
    out->append(std::to_string(sharding.Int(12)));
  }
  out->push_back('}');
}

void AppendDeviceGroups(const Message& record, std::string* out, bool as_reference) {
  constexpr uint32_t kGroups = 49, kDeviceList = 87, kIota = 92, kMeshAxes = 93;
  if (record.Has(kMeshAxes)) {
    const Message list(record.Bytes(kMeshAxes));
    const Message mesh(list.Bytes(1));
    AppendMesh(mesh, out);
    out->push_back(' ');
    AppendAxes(list.All(2), mesh.All(1), out);
    return;
  }
  const Message device_list(record.Bytes(kDeviceList));
  if (record.Has(kIota) || (device_list.Has(2) && !as_reference)) {
    const Message iota(record.Has(kIota) ? record.Bytes(kIota) : device_list.Bytes(2));
    AppendIota({iota.Int(1), iota.Int(2)}, iota.Ints(3), iota.Ints(4), out);
    return;
  }
  AppendGroups(record.Has(kDeviceList) ? device_list.All(1) : record.All(kGroups), out);
}

void AppendSourceTargets(const Message& record, std::string* out) {
  out->push_back('{');
  bool first = true;
  for (const std::string_view bytes : record.All(52)) {
    const Message pair(bytes);
    if (!first) out->push_back(',');
    first = false;
    AppendBraced({pair.Int(1), pair.Int(2)}, out);
  }
  out->push_back('}');
}

void AppendOutputAliasing(const std::vector<std::string_view>& pairs, std::string* out) {
  out->push_back('{');
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Message pair(pairs[i]);
    if (i > 0) out->append(", ");
    AppendBraced(pair.Ints(1), out);
    out->append(": (").append(std::to_string(pair.Int(2))).append(", ");
    AppendBraced(pair.Ints(3), out);
    out->push_back(')');
  }
  out->push_back('}');
}

bool AppendFrontendAttributes(std::string_view attributes, std::string* out) {
  std::vector<std::pair<std::string_view, std::string_view>> sorted;
  for (const std::string_view bytes : Message(attributes).All(1)) {
    const Message entry(bytes);
    sorted.emplace_back(entry.Bytes(1), entry.Bytes(2));
  }
  if (sorted.empty()) return false;
  std::sort(sorted.begin(), sorted.end());
  out->push_back('{');
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0) out->push_back(',');
    out->append(sorted[i].first).append("=");
    if (LooksLikeBraces(sorted[i].second)) {
      out->append(sorted[i].second);
    } else {
      out->append("\"").append(sorted[i].second).append("\"");
    }
  }
  out->push_back('}');
  return true;
}

bool AppendMetadata(const OpMetadata& metadata, std::string* out) {
  if (metadata.op_type.empty() && metadata.op_name.empty() && metadata.source_file.empty() &&
      metadata.scheduling_name.empty()) {
    return false;
  }
  bool first = true;
  const auto key = [&](std::string_view name) {
    if (!first) out->push_back(' ');
    first = false;
    out->append(name).append("=");
  };
  const auto text = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    key(name);
    out->push_back('"');
    AppendEscaped(value, out);
    out->push_back('"');
  };
  const auto number = [&](std::string_view name, int64_t value) {
    if (value == 0) return;
    key(name);
    out->append(std::to_string(value));
  };
  text("op_type", metadata.op_type);
  text("op_name", metadata.op_name);
  text("source_file", metadata.source_file);
  number("source_line", metadata.source_line);
  number("source_end_line", metadata.source_end_line);
  number("source_column", metadata.source_column);
  number("source_end_column", metadata.source_end_column);
  text("deduplicated_name", metadata.deduplicated_name);
  text("scheduling_name", metadata.scheduling_name);
  number("stack_frame_id", metadata.stack_frame_id);
  return true;
}

}  // namespace strobe::hlo
