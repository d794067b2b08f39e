// Windows, shardings, device groups and metadata of HLO text.
#include "src/hlo/text_values.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "src/hlo/attribute_text.h"
#include "src/wire/wire_writer.h"

namespace strobe::hlo {
namespace {

using wire::AppendBytesField;
using wire::AppendSignedField;

// "3x3", "1_1x0_0": numbers with x between, parts of each with _ between.
Result<std::vector<std::vector<int64_t>>> ReadTimes(TextCursor* cursor) {
  std::vector<std::vector<int64_t>> all;
  do {
    std::vector<int64_t> parts;
    do {
      STROBE_ASSIGN_OR_RETURN(const int64_t value, cursor->Integer());
      parts.push_back(value);
    } while (cursor->Peek() == '_' && (cursor->Skip(1), true));
    all.push_back(std::move(parts));
  } while (cursor->Peek() == 'x' && (cursor->Skip(1), true));
  return all;
}

struct WindowDimension {
  std::array<int64_t, 8> fields = {0, 1, 1, 0, 0, 1, 1, 0};  // by number; defaults of a text
};

// reshape dimensions and transposition behind "<=".
Status ReadIota(TextCursor* cursor, std::vector<int64_t>* reshape, std::vector<int64_t>* order) {
  STROBE_ASSIGN_OR_RETURN(*reshape, cursor->IntegerList('[', ']'));
  order->clear();
  if (cursor->Take("T")) {
    STROBE_ASSIGN_OR_RETURN(*order, cursor->IntegerList('(', ')'));
    return OkStatus();
  }
  for (size_t i = 0; i < reshape->size(); ++i) order->push_back(static_cast<int64_t>(i));
  return OkStatus();
}

constexpr std::pair<std::string_view, int64_t> kShardingTypes[] = {
    {"replicated", 0}, {"maximal", 1}, {"manual", 4}, {"unknown", 5}, {"unreduced", 6}};

std::optional<int64_t> ShardingType(std::string_view word) {
  for (const auto& [name, type] : kShardingTypes) {
    if (name == word) return type;
  }
  return std::nullopt;
}

Status ReadTiledSharding(TextCursor* cursor, std::string* sharding) {
  constexpr int64_t kOther = 3;
  AppendSignedField(1, kOther, sharding);
  STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, cursor->IntegerList('[', ']'));
  AppendPackedField(3, dimensions, sharding);
  if (cursor->Take("<=")) {
    std::vector<int64_t> reshape;
    std::vector<int64_t> order;
    STROBE_RETURN_IF_ERROR(ReadIota(cursor, &reshape, &order));
    AppendPackedField(9, reshape, sharding);
    AppendPackedField(10, order, sharding);
  } else {
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> devices, cursor->Integers());
    AppendPackedField(4, devices, sharding);
  }
  if (cursor->Take("last_tile_dim_replicate")) AppendSignedField(6, 1, sharding);
  if (cursor->Take("last_tile_dims=")) {
    STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
    std::vector<int64_t> types;
    while (!cursor->Take("}")) {
      if (!types.empty()) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
      STROBE_ASSIGN_OR_RETURN(const std::string_view word, cursor->Name());
      const std::optional<int64_t> type = ShardingType(word);
      if (!type) return cursor->Expected("a kind of sharding");
      types.push_back(*type);
    }
    AppendPackedField(8, types, sharding);
  }
  return OkStatus();
}

// 'axis' or 'axis':(2)4, against the axes that the mesh has.
Status ReadAxisRef(TextCursor* cursor, const std::vector<std::string>& axes, std::string* ref) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("'"));
  const size_t end = cursor->rest().find('\'');
  if (end == std::string_view::npos) return cursor->Expected("the name of an axis");
  const auto axis = std::ranges::find(axes, cursor->rest().substr(0, end));
  if (axis == axes.end()) return cursor->Expected("an axis of the mesh");
  cursor->Skip(end + 1);
  AppendSignedField(1, axis - axes.begin(), ref);
  if (cursor->Take(":(")) {
    STROBE_ASSIGN_OR_RETURN(const int64_t before, cursor->Integer());
    STROBE_RETURN_IF_ERROR(cursor->Expect(")"));
    STROBE_ASSIGN_OR_RETURN(const int64_t size, cursor->Integer());
    std::string part;
    AppendSignedField(1, before, &part);
    AppendSignedField(2, size, &part);
    AppendBytesField(2, part, ref);
  }
  return OkStatus();
}

// {'a', 'b'} as fields `number`; "?" in it sets *open.
Status ReadAxes(TextCursor* cursor, const std::vector<std::string>& axes, uint32_t number,
                bool* open, std::string* out) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  for (bool first = true; !cursor->Take("}"); first = false) {
    if (!first) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    if (open != nullptr && cursor->Take("?")) {
      *open = true;
      continue;
    }
    std::string ref;
    STROBE_RETURN_IF_ERROR(ReadAxisRef(cursor, axes, &ref));
    AppendBytesField(number, ref, out);
  }
  return OkStatus();
}

Status ReadMesh(TextCursor* cursor, std::vector<std::string>* axes, std::string* mesh) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("mesh["));
  while (!cursor->Take("]")) {
    if (!axes->empty()) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    STROBE_RETURN_IF_ERROR(cursor->Expect("'"));
    const size_t end = cursor->rest().find('\'');
    if (end == std::string_view::npos) return cursor->Expected("the name of an axis");
    axes->emplace_back(cursor->rest().substr(0, end));
    cursor->Skip(end + 1);
    STROBE_RETURN_IF_ERROR(cursor->Expect("="));
    STROBE_ASSIGN_OR_RETURN(const int64_t size, cursor->Integer());
    std::string axis;
    AppendBytesField(1, axes->back(), &axis);
    AppendSignedField(2, size, &axis);
    AppendBytesField(1, axis, mesh);
  }
  if (cursor->Take(", device_ids=")) {
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> devices, cursor->IntegerList('(', ')'));
    AppendPackedField(2, devices, mesh);
  }
  return OkStatus();
}

Status ReadNamedSharding(TextCursor* cursor, std::string* sharding) {
  std::vector<std::string> axes;
  std::string mesh;
  STROBE_RETURN_IF_ERROR(ReadMesh(cursor, &axes, &mesh));
  std::string named;
  AppendBytesField(2, mesh, &named);
  while (cursor->Take(",")) {
    if (cursor->Take("[")) {
      for (bool first = true; !cursor->Take("]"); first = false) {
        if (!first) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
        std::string dimension;
        bool open = false;
        STROBE_RETURN_IF_ERROR(ReadAxes(cursor, axes, 1, &open, &dimension));
        if (!open) AppendSignedField(2, 1, &dimension);
        AppendBytesField(3, dimension, &named);
      }
    } else if (cursor->Take("replicated=")) {
      STROBE_RETURN_IF_ERROR(ReadAxes(cursor, axes, 4, nullptr, &named));
    } else if (cursor->Take("unreduced=")) {
      STROBE_RETURN_IF_ERROR(ReadAxes(cursor, axes, 5, nullptr, &named));
    } else if (!cursor->Take("replicated")) {
      return cursor->Expected("a part of a sharding");
    }
  }
  AppendBytesField(14, named, sharding);
  return OkStatus();
}

// Inside the braces of a sharding that is no tuple.
Status ReadPlainSharding(TextCursor* cursor, std::string* sharding) {
  if (cursor->Sees("mesh[")) return ReadNamedSharding(cursor, sharding);
  if (cursor->Take("devices=")) {
    STROBE_RETURN_IF_ERROR(ReadTiledSharding(cursor, sharding));
  } else {
    STROBE_ASSIGN_OR_RETURN(const std::string_view word, cursor->Name());
    const std::optional<int64_t> type = ShardingType(word);
    if (!type) return cursor->Expected("a kind of sharding");
    AppendSignedField(1, *type, sharding);
    if (word == "maximal") {
      STROBE_RETURN_IF_ERROR(cursor->Expect("device="));
      STROBE_ASSIGN_OR_RETURN(const int64_t device, cursor->Integer());
      AppendPackedField(4, {device}, sharding);
    }
  }
  const bool like = cursor->Sees("shard_like");
  if (cursor->Take("shard_like") || cursor->Take("shard_as")) {
    STROBE_ASSIGN_OR_RETURN(const int64_t group, cursor->Integer());
    AppendSignedField(11, 1, sharding);
    AppendSignedField(12, group, sharding);
    if (like) AppendSignedField(13, 1, sharding);
  }
  return OkStatus();
}

}  // namespace

Status ReadWindowText(TextCursor* cursor, std::string* window) {
  struct Key {
    std::string_view name;
    uint32_t first;
    uint32_t second;
  };
  constexpr Key kKeys[] = {{"size", 1, 1},       {"stride", 2, 2},     {"pad", 3, 4},
                           {"lhs_dilate", 6, 6}, {"rhs_dilate", 5, 5}, {"rhs_reversal", 7, 7}};
  std::vector<WindowDimension> dimensions;
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  while (!cursor->Take("}")) {
    STROBE_ASSIGN_OR_RETURN(const std::string_view name, cursor->Name());
    const auto key = std::ranges::find(kKeys, name, &Key::name);
    if (key == std::end(kKeys)) return cursor->Expected("size, stride, pad or a dilation");
    STROBE_RETURN_IF_ERROR(cursor->Expect("="));
    STROBE_ASSIGN_OR_RETURN(const auto values, ReadTimes(cursor));
    if (dimensions.size() < values.size()) dimensions.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      dimensions[i].fields[key->first] = values[i].front();
      if (key->second != key->first) dimensions[i].fields[key->second] = values[i].back();
    }
  }
  for (const WindowDimension& dimension : dimensions) {
    std::string message;
    for (uint32_t field = 1; field < dimension.fields.size(); ++field) {
      AppendSignedField(field, dimension.fields[field], &message);
    }
    AppendBytesField(1, message, window);
  }
  return OkStatus();
}

Status ReadDimensionLabels(TextCursor* cursor, std::string* numbers) {
  struct Side {
    char first_letter;
    uint32_t first;
    char second_letter;
    uint32_t second;
    uint32_t spatial;
    std::string_view end;
  };
  constexpr Side kSides[] = {
      {'b', 7, 'f', 8, 11, "_"}, {'i', 3, 'o', 4, 6, "->"}, {'b', 9, 'f', 10, 12, ""}};
  for (const Side& side : kSides) {
    // Each label stands once, and numbers leave no gap: else a place would be named twice or never,
    // and the module would read back as another one.
    int64_t first = -1, second = -1, place = 0;
    std::array<int64_t, 10> places;
    places.fill(-1);
    cursor->SkipBlank();
    for (; !cursor->AtEnd() && cursor->Peek() != '_' && cursor->Peek() != '-'; ++place) {
      const char c = cursor->Peek();
      int64_t* label = c == side.first_letter    ? &first
                       : c == side.second_letter ? &second
                       : c >= '0' && c <= '9'    ? &places[static_cast<size_t>(c - '0')]
                                                 : nullptr;
      if (label == nullptr && c != '?') return cursor->Expected("a label of a dimension");
      if (label != nullptr && *label >= 0)
        return cursor->Expected("each label of a dimension once");
      if (label != nullptr) *label = place;
      cursor->Skip(1);
    }
    if (first < 0 || second < 0) {
      return cursor->Expected(std::string("the labels ") + side.first_letter + " and " +
                              side.second_letter);
    }
    const auto numbered = std::ranges::find(places, -1);
    if (std::any_of(numbered, places.end(), [](int64_t place) { return place >= 0; })) {
      return cursor->Expected("labels numbered from 0 without a gap");
    }
    AppendSignedField(side.first, first, numbers);
    AppendSignedField(side.second, second, numbers);
    AppendPackedField(side.spatial, std::vector<int64_t>(places.begin(), numbered), numbers);
    if (!side.end.empty()) STROBE_RETURN_IF_ERROR(cursor->Expect(side.end));
  }
  return OkStatus();
}

Status ReadPaddingText(TextCursor* cursor, std::string* padding_config) {
  cursor->SkipBlank();
  if (cursor->AtEnd()) return OkStatus();
  STROBE_ASSIGN_OR_RETURN(const auto values, ReadTimes(cursor));
  for (const std::vector<int64_t>& parts : values) {
    if (parts.size() < 2 || parts.size() > 3) return cursor->Expected("low_high of a padding");
    std::string dimension;
    for (size_t i = 0; i < parts.size(); ++i) {
      AppendSignedField(static_cast<uint32_t>(i) + 1, parts[i], &dimension);
    }
    AppendBytesField(1, dimension, padding_config);
  }
  return OkStatus();
}

Status ReadSharding(TextCursor* cursor, int depth, std::string* sharding) {
  if (depth <= 0) return cursor->Error("HLO_TEXT_LIMIT", "The sharding nests too deep.");
  constexpr int64_t kTuple = 2;
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  if (cursor->Sees("{") || cursor->Sees("}")) {
    AppendSignedField(1, kTuple, sharding);
    for (bool first = true; !cursor->Take("}"); first = false) {
      if (!first) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
      std::string part;
      STROBE_RETURN_IF_ERROR(ReadSharding(cursor, depth - 1, &part));
      AppendBytesField(5, part, sharding);
    }
    return OkStatus();
  }
  STROBE_RETURN_IF_ERROR(ReadPlainSharding(cursor, sharding));
  return cursor->Expect("}");
}

Status ReadDeviceGroups(TextCursor* cursor, std::string* record) {
  constexpr uint32_t kDeviceList = 87, kIota = 92, kMeshAxes = 93;
  if (cursor->Sees("mesh[")) {
    std::vector<std::string> axes;
    std::string mesh;
    STROBE_RETURN_IF_ERROR(ReadMesh(cursor, &axes, &mesh));
    std::string list;
    AppendBytesField(1, mesh, &list);
    STROBE_RETURN_IF_ERROR(ReadAxes(cursor, axes, 2, nullptr, &list));
    AppendBytesField(kMeshAxes, list, record);
    return OkStatus();
  }
  if (cursor->Sees("[")) {
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, cursor->IntegerList('[', ']'));
    if (sizes.size() != 2) return cursor->Expected("two sizes of device groups");
    STROBE_RETURN_IF_ERROR(cursor->Expect("<="));
    std::vector<int64_t> reshape;
    std::vector<int64_t> order;
    STROBE_RETURN_IF_ERROR(ReadIota(cursor, &reshape, &order));
    std::string iota;
    AppendSignedField(1, sizes[0], &iota);
    AppendSignedField(2, sizes[1], &iota);
    AppendPackedField(3, reshape, &iota);
    AppendPackedField(4, order, &iota);
    AppendBytesField(kIota, iota, record);
    return OkStatus();
  }
  std::string list;
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  for (bool first = true; !cursor->Take("}"); first = false) {
    if (!first) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, cursor->IntegerList('{', '}'));
    std::string group;
    AppendPackedField(1, ids, &group);
    AppendBytesField(1, group, &list);
  }
  AppendBytesField(kDeviceList, list, record);
  return OkStatus();
}

Status ReadSourceTargets(TextCursor* cursor, std::string* record) {
  constexpr uint32_t kPairs = 52;
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  for (bool first = true; !cursor->Take("}"); first = false) {
    if (!first) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, cursor->IntegerList('{', '}'));
    if (ids.size() != 2) return cursor->Expected("a source and a target");
    std::string pair;
    AppendSignedField(1, ids[0], &pair);
    AppendSignedField(2, ids[1], &pair);
    AppendBytesField(kPairs, pair, record);
  }
  return OkStatus();
}

Status ReadOutputAliasing(TextCursor* cursor, std::string* record) {
  constexpr uint32_t kAliasing = 74;
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  for (bool first = true; !cursor->Take("}"); first = false) {
    if (!first) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> output, cursor->IntegerList('{', '}'));
    STROBE_RETURN_IF_ERROR(cursor->Expect(":"));
    STROBE_RETURN_IF_ERROR(cursor->Expect("("));
    STROBE_ASSIGN_OR_RETURN(const int64_t operand, cursor->Integer());
    STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> index, cursor->IntegerList('{', '}'));
    STROBE_RETURN_IF_ERROR(cursor->Expect(")"));
    std::string pair;
    AppendPackedField(1, output, &pair);
    AppendSignedField(2, operand, &pair);
    AppendPackedField(3, index, &pair);
    AppendBytesField(kAliasing, pair, record);
  }
  return OkStatus();
}

Status ReadFrontendAttributes(TextCursor* cursor, std::string* attributes) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  for (bool first = true; !cursor->Take("}"); first = false) {
    if (!first) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    cursor->SkipBlank();
    const size_t size = cursor->rest().find('=');
    if (size == std::string_view::npos || size == 0) return cursor->Expected("a name and \"=\"");
    std::string entry;
    AppendBytesField(1, cursor->rest().substr(0, size), &entry);
    cursor->Skip(size + 1);
    if (cursor->Sees("\"")) {
      // These texts are written without escapes: what ends one is a quote before "," or "}".
      const std::string_view rest = cursor->rest();
      size_t end = 1;
      while (end + 1 < rest.size() &&
             !(rest[end] == '"' && (rest[end + 1] == ',' || rest[end + 1] == '}'))) {
        ++end;
      }
      if (end + 1 >= rest.size()) return cursor->Expected("a text that ends in a quote");
      AppendBytesField(2, rest.substr(1, end - 1), &entry);
      cursor->Skip(end + 1);
    } else {
      STROBE_ASSIGN_OR_RETURN(const std::string_view value, cursor->Bracketed());
      AppendBytesField(2, value, &entry);
    }
    AppendBytesField(1, entry, attributes);
  }
  return OkStatus();
}

Status ReadMetadata(TextCursor* cursor, std::string* metadata) {
  struct Key {
    std::string_view name;
    uint32_t field;
    bool text;
  };
  constexpr Key kKeys[] = {{"op_type", 1, true},
                           {"op_name", 2, true},
                           {"source_file", 3, true},
                           {"source_line", 4, false},
                           {"source_end_line", 17, false},
                           {"source_column", 18, false},
                           {"source_end_column", 19, false},
                           {"deduplicated_name", 12, true},
                           {"scheduling_name", 16, true},
                           {"stack_frame_id", 15, false}};
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  while (!cursor->Take("}")) {
    STROBE_ASSIGN_OR_RETURN(const std::string_view name, cursor->Name());
    STROBE_RETURN_IF_ERROR(cursor->Expect("="));
    const auto key = std::ranges::find(kKeys, name, &Key::name);
    if (cursor->Sees("\"")) {
      STROBE_ASSIGN_OR_RETURN(const std::string text, cursor->QuotedText());
      if (key != std::end(kKeys) && key->text) AppendBytesField(key->field, text, metadata);
    } else if (cursor->Sees("{")) {
      // Of newer compilers: not known here.
      STROBE_ASSIGN_OR_RETURN(const std::string_view part, cursor->Bracketed());
      if (part.empty()) return cursor->Expected("a value");
    } else {
      STROBE_ASSIGN_OR_RETURN(const int64_t value, cursor->Integer());
      if (key != std::end(kKeys) && !key->text) AppendSignedField(key->field, value, metadata);
    }
    cursor->Take(",");
  }
  return OkStatus();
}

}  // namespace strobe::hlo
