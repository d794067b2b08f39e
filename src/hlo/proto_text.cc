#include "src/hlo/proto_text.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "src/hlo/attribute_text.h"
#include "src/hlo/message.h"
#include "src/hlo/proto_schema.h"
#include "src/wire/wire_reader.h"

namespace strobe::hlo {
namespace {

using wire::WireField;
using wire::WireReader;
using wire::WireType;

// As few digits as read back the same, of `few` or of `many`.
template <typename Float>
void AppendFloat(Float value, int few, int many, std::string* out) {
  if (std::isnan(value)) {
    out->append("nan");
    return;
  }
  if (std::isinf(value)) {
    out->append(value < 0 ? "-inf" : "inf");
    return;
  }
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.*g", few, static_cast<double>(value));
  if (static_cast<Float>(std::strtod(buffer, nullptr)) != value) {
    std::snprintf(buffer, sizeof(buffer), "%.*g", many, static_cast<double>(value));
  }
  out->append(buffer);
}

class TextWriter {
 public:
  TextWriter(bool unknown_fields, std::string* out) : unknown_fields_(unknown_fields), out_(out) {}

  Status Write(const SchemaMessage* message, std::string_view bytes, int depth);

 private:
  Status Message(const SchemaField* field, std::string_view name, std::string_view bytes,
                 int depth);
  Status MapEntries(const SchemaField& field, std::vector<std::string_view> entries, int depth);
  Status Known(const SchemaField& field, const std::vector<WireField>& fields, int depth);
  Status Unknown(const WireField& field, int depth);
  Status CheckSize() const {
    if (out_->size() <= kMaxProtoTextBytes) return OkStatus();
    return ResourceExhaustedError("HLO_TEXT_TOO_LARGE",
                                  "The module's text is larger than " +
                                      std::to_string(kMaxProtoTextBytes >> 20) + " MiB.")
        .Hint("Take the module as bytes (pb) or as HLO text instead.");
  }
  void Indent(int depth) { out_->append(2 * static_cast<size_t>(depth), ' '); }
  void Scalar(const SchemaField& field, const WireField& value, int depth);
  void PackedScalars(const SchemaField& field, std::string_view bytes, int depth);
  void Value(const SchemaField& field, uint64_t bits, std::string_view text);

  const bool unknown_fields_;
  std::string* out_;
};

void TextWriter::Value(const SchemaField& field, uint64_t bits, std::string_view text) {
  const auto number = static_cast<int64_t>(bits);
  switch (field.type) {
    case SchemaType::kInt32:
      out_->append(std::to_string(static_cast<int32_t>(number)));
      break;
    case SchemaType::kInt64:
      out_->append(std::to_string(number));
      break;
    case SchemaType::kUint32:
      out_->append(std::to_string(static_cast<uint32_t>(bits)));
      break;
    case SchemaType::kUint64:
      out_->append(std::to_string(bits));
      break;
    case SchemaType::kBool:
      out_->append(bits != 0 ? "true" : "false");
      break;
    case SchemaType::kFloat:
      AppendFloat(std::bit_cast<float>(static_cast<uint32_t>(bits)), 6, 9, out_);
      break;
    case SchemaType::kDouble:
      AppendFloat(std::bit_cast<double>(bits), 15, 17, out_);
      break;
    case SchemaType::kEnum: {
      const auto name = field.values->names.find(static_cast<int32_t>(number));
      if (name == field.values->names.end()) {
        out_->append(std::to_string(static_cast<int32_t>(number)));
      } else {
        out_->append(name->second);
      }
      break;
    }
    case SchemaType::kString:
    case SchemaType::kMessage:
      out_->push_back('"');
      AppendEscaped(text, out_);
      out_->push_back('"');
      break;
  }
}

void TextWriter::Scalar(const SchemaField& field, const WireField& value, int depth) {
  const bool is_default =
      field.type == SchemaType::kString ? value.bytes.empty() : value.value == 0;
  if (!field.repeated && !field.presence && is_default) return;
  Indent(depth);
  out_->append(field.name).append(": ");
  Value(field, value.value, value.bytes);
  out_->push_back('\n');
}

void TextWriter::PackedScalars(const SchemaField& field, std::string_view bytes, int depth) {
  const size_t width = field.type == SchemaType::kFloat    ? 4
                       : field.type == SchemaType::kDouble ? 8
                                                           : 0;
  const auto write = [&](uint64_t bits) {
    Indent(depth);
    out_->append(field.name).append(": ");
    Value(field, bits, {});
    out_->push_back('\n');
  };
  if (width == 0) {
    const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
    const uint8_t* const end = at + bytes.size();
    wire::WireError error = wire::WireError::kNone;
    uint64_t bits = 0;
    while (at < end && (at = wire::DecodeVarintBounded(at, end, &bits, &error)) != nullptr) {
      write(bits);
    }
    return;
  }
  for (; bytes.size() >= width; bytes.remove_prefix(width)) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data(), width);
    write(bits);
  }
}

Status TextWriter::Message(const SchemaField* field, std::string_view name, std::string_view bytes,
                           int depth) {
  Indent(depth);
  out_->append(name).append(" {\n");
  STROBE_RETURN_IF_ERROR(Write(field == nullptr ? nullptr : field->message, bytes, depth + 1));
  Indent(depth);
  out_->append("}\n");
  return OkStatus();
}

Status TextWriter::MapEntries(const SchemaField& field, std::vector<std::string_view> entries,
                              int depth) {
  const bool text = field.message->fields[0].type == SchemaType::kString;
  struct Entry {
    std::string_view text;
    int64_t number;
    std::string_view bytes;
  };
  std::vector<Entry> sorted;
  for (const std::string_view bytes : entries) {
    const hlo::Message entry(bytes);
    sorted.push_back({entry.Bytes(1), entry.Int(1), bytes});
  }
  std::ranges::stable_sort(sorted, [text](const Entry& a, const Entry& b) {
    return text ? a.text < b.text : a.number < b.number;
  });
  for (size_t i = 0; i < sorted.size(); ++i) {
    // Of two with one key the later counts.
    if (i + 1 < sorted.size() && sorted[i].text == sorted[i + 1].text &&
        sorted[i].number == sorted[i + 1].number) {
      continue;
    }
    STROBE_RETURN_IF_ERROR(Message(&field, field.name, sorted[i].bytes, depth));
  }
  return OkStatus();
}

// All occurrences of one field of a message.
Status TextWriter::Known(const SchemaField& field, const std::vector<WireField>& fields,
                         int depth) {
  if (field.type == SchemaType::kMessage) {
    std::vector<std::string_view> parts;
    for (const WireField& part : fields) {
      if (part.type == WireType::kBytes) parts.push_back(part.bytes);
    }
    if (parts.empty()) return OkStatus();
    if (field.message->map_entry) return MapEntries(field, std::move(parts), depth);
    if (field.repeated || parts.size() == 1) {
      for (const std::string_view part : parts) {
        STROBE_RETURN_IF_ERROR(Message(&field, field.name, part, depth));
      }
      return OkStatus();
    }
    // Several occurrences of one message are one message.
    std::string merged;
    for (const std::string_view part : parts) merged.append(part);
    return Message(&field, field.name, merged, depth);
  }
  if (!field.repeated) {
    Scalar(field, fields.back(), depth);
    return OkStatus();
  }
  for (const WireField& part : fields) {
    if (part.type == WireType::kBytes && field.type != SchemaType::kString) {
      PackedScalars(field, part.bytes, depth);
    } else {
      Scalar(field, part, depth);
    }
  }
  return OkStatus();
}

Status TextWriter::Unknown(const WireField& field, int depth) {
  // Bytes that read as a message are shown as one, as far as a few levels.
  constexpr int kMaxUnknownDepth = 10;
  const std::string name = std::to_string(field.number);
  if (field.type == WireType::kBytes) {
    const hlo::Message inner(field.bytes);
    if (!field.bytes.empty() && inner.ok() && depth < kMaxUnknownDepth) {
      return Message(nullptr, name, field.bytes, depth);
    }
  }
  Indent(depth);
  out_->append(name).append(": ");
  char buffer[24];
  switch (field.type) {
    case WireType::kBytes:
      out_->push_back('"');
      AppendEscaped(field.bytes, out_);
      out_->push_back('"');
      break;
    case WireType::kFixed32:
      std::snprintf(buffer, sizeof(buffer), "0x%08x", static_cast<uint32_t>(field.value));
      out_->append(buffer);
      break;
    case WireType::kFixed64:
      std::snprintf(buffer, sizeof(buffer), "0x%016llx",
                    static_cast<unsigned long long>(field.value));
      out_->append(buffer);
      break;
    default:
      out_->append(std::to_string(field.value));
      break;
  }
  out_->push_back('\n');
  return OkStatus();
}

Status TextWriter::Write(const SchemaMessage* message, std::string_view bytes, int depth) {
  if (depth > kMaxProtoTextDepth) {
    return InvalidArgumentError(
               "HLO_TEXT_TOO_DEEP",
               "Expected messages nested at most " + std::to_string(kMaxProtoTextDepth) + " deep.")
        .Hint("The module is damaged, or its shapes nest deeper than any compiler's do.");
  }
  STROBE_RETURN_IF_ERROR(CheckSize());
  std::vector<WireField> fields;
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) fields.push_back(field);
  if (reader.error() != wire::WireError::kNone) {
    return DataLossError("HLO_DAMAGED", "Expected protobuf in a message of the module; " +
                                            std::string(WireErrorText(reader.error())) + ".")
        .Where(std::string(message == nullptr ? "an unknown field" : message->name) + ", offset " +
               std::to_string(reader.error_offset()))
        .Hint("The module is damaged; dump it again.");
  }
  std::ranges::stable_sort(fields, {}, &WireField::number);
  std::vector<WireField> same;
  std::vector<WireField> unknown;
  for (size_t i = 0; i < fields.size();) {
    const SchemaField* known = message == nullptr ? nullptr : message->Find(fields[i].number);
    same.clear();
    const uint32_t number = fields[i].number;
    for (; i < fields.size() && fields[i].number == number; ++i) same.push_back(fields[i]);
    if (known == nullptr) {
      if (unknown_fields_) unknown.insert(unknown.end(), same.begin(), same.end());
    } else {
      STROBE_RETURN_IF_ERROR(Known(*known, same, depth));
    }
  }
  if (message != nullptr && message->map_entry) {
    // What an entry leaves out has its default value.
    for (const SchemaField& part : message->fields) {
      if (std::ranges::find(fields, part.number, &WireField::number) != fields.end()) continue;
      if (part.type == SchemaType::kMessage) {
        STROBE_RETURN_IF_ERROR(Message(&part, part.name, {}, depth));
      } else {
        Scalar(part, WireField{}, depth);
      }
    }
  }
  for (const WireField& part : unknown) STROBE_RETURN_IF_ERROR(Unknown(part, depth));
  return OkStatus();
}

}  // namespace

Result<std::string> HloProtoText(std::string_view hlo_proto, bool unknown_fields) {
  std::string text;
  STROBE_RETURN_IF_ERROR(
      TextWriter(unknown_fields, &text).Write(&HloSchema::Get().root(), hlo_proto, 0));
  return text;
}

}  // namespace strobe::hlo
