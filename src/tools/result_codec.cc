#include "src/tools/result_codec.h"

#include <bit>
#include <cstring>
#include <unordered_map>

#include "src/base/hash.h"

namespace strobe::tools {
namespace {

constexpr std::string_view kMagic = "STRRES\r\n";
// Magic, version (4), length of the body (8), checksum (8).
constexpr size_t kHeadBytes = 8 + 4 + 8 + 8;

enum class CellTag : uint8_t { kEmpty, kText, kNumber, kFalse, kTrue };
constexpr uint8_t kFormattedBit = 0x80;

void AppendFixed(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t ReadFixed(std::string_view bytes, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) {
    value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[static_cast<size_t>(i)])) << (8 * i);
  }
  return value;
}

class Encoder {
 public:
  void Byte(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void Count(uint64_t value) {
    for (; value >= 0x80; value >>= 7) Byte(static_cast<uint8_t>(value | 0x80));
    Byte(static_cast<uint8_t>(value));
  }
  void Number(double value) { AppendFixed(std::bit_cast<uint64_t>(value), 8, &out_); }
  // 0 and the text when it is new, else 1 + its number.
  void Text(std::string_view text) {
    const auto [at, is_new] = texts_.try_emplace(std::string(text), texts_.size());
    if (!is_new) return Count(at->second + 1);
    Count(0);
    Count(text.size());
    out_.append(text);
  }
  void Pairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
    Count(pairs.size());
    for (const auto& [name, text] : pairs) {
      Text(name);
      Text(text);
    }
  }
  void OneCell(const Cell& cell) {
    CellTag tag = CellTag::kEmpty;
    if (std::holds_alternative<std::string>(cell.value)) tag = CellTag::kText;
    if (std::holds_alternative<double>(cell.value)) tag = CellTag::kNumber;
    if (const bool* truth = std::get_if<bool>(&cell.value)) {
      tag = *truth ? CellTag::kTrue : CellTag::kFalse;
    }
    Byte(static_cast<uint8_t>(tag) | (cell.formatted.empty() ? 0 : kFormattedBit));
    if (const auto* text = std::get_if<std::string>(&cell.value)) Text(*text);
    if (const auto* number = std::get_if<double>(&cell.value)) Number(*number);
    if (!cell.formatted.empty()) Text(cell.formatted);
  }
  void Subject(const RowSubject& subject) {
    Byte(subject.empty() ? 0 : 1);
    if (subject.empty()) return;
    Count(subject.hlo_module_id);
    Text(subject.op_name);
    Text(subject.framework_op);
    Count(static_cast<uint64_t>(subject.step));
    Text(subject.host);
    Byte(static_cast<uint8_t>(subject.side));
    Text(subject.launch);
  }
  void OneTable(const Table& table) {
    Text(table.id());
    Text(table.title());
    Count(table.columns().size());
    for (const Column& column : table.columns()) {
      Text(column.id);
      Text(column.label);
      Byte(static_cast<uint8_t>(column.type));
      Text(column.unit);
      Pairs(column.properties);
      Text(column.description);
    }
    Pairs(table.properties());
    Count(table.rows().size());
    for (size_t r = 0; r < table.rows().size(); ++r) {
      for (const Cell& cell : table.rows()[r]) OneCell(cell);
      Subject(table.subjects()[r]);
    }
  }
  bool OneValue(const Value& value, int depth) {
    if (depth > kMaxValueDepth) return false;
    Byte(static_cast<uint8_t>(value.kind()));
    switch (value.kind()) {
      case Value::Kind::kNull:
        return true;
      case Value::Kind::kBool:
      case Value::Kind::kInt32:
      case Value::Kind::kInt64:
      case Value::Kind::kUint64:
        Count(value.uint_value());
        return true;
      case Value::Kind::kDouble:
        Number(value.double_value());
        return true;
      case Value::Kind::kString:
        Text(value.string_value());
        return true;
      case Value::Kind::kList:
      case Value::Kind::kObject:
        break;
    }
    Count(value.items().size());
    for (size_t i = 0; i < value.items().size(); ++i) {
      if (value.kind() == Value::Kind::kObject) Text(value.names()[i]);
      if (!OneValue(value.items()[i], depth + 1)) return false;
    }
    return true;
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
  std::unordered_map<std::string, uint64_t> texts_;
};

// Reads what Encoder wrote. After the first problem everything reads as nothing and ok() is false.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  void Fail() {
    ok_ = false;
    rest_ = {};
  }
  uint8_t Byte() {
    if (rest_.empty()) {
      Fail();
      return 0;
    }
    const auto value = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  uint64_t Count() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }
  // A number of things that take at least one byte each.
  size_t Items() {
    const uint64_t count = Count();
    if (count <= rest_.size()) return count;
    Fail();
    return 0;
  }
  double Number() {
    if (rest_.size() < 8) {
      Fail();
      return 0;
    }
    const auto value = std::bit_cast<double>(ReadFixed(rest_, 8));
    rest_.remove_prefix(8);
    return value;
  }
  std::string Text() {
    const uint64_t known = Count();
    if (known > texts_.size()) Fail();
    if (!ok_) return "";
    if (known > 0) return std::string(texts_[known - 1]);
    const size_t size = Items();
    texts_.push_back(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return std::string(texts_.back());
  }
  bool Flag() {
    const uint8_t value = Byte();
    if (value > 1) Fail();
    return value == 1;
  }
  std::vector<std::pair<std::string, std::string>> Pairs() {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (size_t left = Items(); ok_ && left > 0; --left) {
      std::string name = Text();
      pairs.emplace_back(std::move(name), Text());
    }
    return pairs;
  }
  Cell OneCell() {
    const uint8_t tag = Byte();
    Cell cell;
    switch (static_cast<CellTag>(tag & ~kFormattedBit)) {
      case CellTag::kEmpty:
        break;
      case CellTag::kText:
        cell.value = Text();
        break;
      case CellTag::kNumber:
        cell.value = Number();
        break;
      case CellTag::kFalse:
        cell.value = false;
        break;
      case CellTag::kTrue:
        cell.value = true;
        break;
      default:
        Fail();
    }
    if ((tag & kFormattedBit) != 0) cell.formatted = Text();
    return cell;
  }
  RowSubject Subject() {
    RowSubject subject;
    if (!Flag()) return subject;
    subject.hlo_module_id = Count();
    subject.op_name = Text();
    subject.framework_op = Text();
    subject.step = static_cast<int64_t>(Count());
    subject.host = Text();
    const uint8_t side = Byte();
    if (side > static_cast<uint8_t>(RowSubject::Side::kHost)) ok_ = false;
    subject.side = static_cast<RowSubject::Side>(side);
    subject.launch = Text();
    return subject;
  }
  Table OneTable() {
    const std::string id = Text();
    Table table(id, Text());
    const size_t columns = Items();
    for (size_t c = 0; ok_ && c < columns; ++c) {
      Column column;
      column.id = Text();
      column.label = Text();
      const uint8_t type = Byte();
      if (type > static_cast<uint8_t>(ColumnType::kBoolean)) Fail();
      column.type = static_cast<ColumnType>(type);
      column.unit = Text();
      column.properties = Pairs();
      column.description = Text();
      table.AddColumn(std::move(column));
    }
    for (auto& [name, text] : Pairs()) table.SetProperty(name, std::move(text));
    for (size_t left = Items(); ok_ && left > 0; --left) {
      std::vector<Cell> cells;
      cells.reserve(columns);
      for (size_t c = 0; ok_ && c < columns; ++c) cells.push_back(OneCell());
      RowSubject subject = Subject();
      if (ok_) table.AddRow(std::move(cells), std::move(subject));
    }
    return table;
  }
  Value OneValue(int depth);

 private:
  std::string_view rest_;
  std::vector<std::string_view> texts_;
  bool ok_ = true;
};

Value Decoder::OneValue(int depth) {
  if (depth > kMaxValueDepth) Fail();
  switch (static_cast<Value::Kind>(Byte())) {
    case Value::Kind::kNull:
      return Value::Null();
    case Value::Kind::kBool:
      return Value::Bool(Count() != 0);
    case Value::Kind::kInt32:
      return Value::Int32(static_cast<int64_t>(Count()));
    case Value::Kind::kInt64:
      return Value::Int64(static_cast<int64_t>(Count()));
    case Value::Kind::kUint64:
      return Value::Uint64(Count());
    case Value::Kind::kDouble:
      return Value::Double(Number());
    case Value::Kind::kString:
      return Value::String(Text());
    case Value::Kind::kList: {
      Value list = Value::List();
      for (size_t left = Items(); ok_ && left > 0; --left) list.Add(OneValue(depth + 1));
      return list;
    }
    case Value::Kind::kObject: {
      Value object = Value::Object();
      for (size_t left = Items(); ok_ && left > 0; --left) {
        const std::string name = Text();
        object.AddMember(name, OneValue(depth + 1));
      }
      return object;
    }
  }
  Fail();
  return Value::Null();
}

Status Damaged(std::string what) {
  return DataLossError("RESULT_DAMAGED", "The stored answer is damaged: " + what)
      .Hint("It is computed anew; nothing but the cache is lost.");
}

}  // namespace

Result<std::string> EncodeResult(const ToolResult& result) {
  if (result.shape == ToolResult::Shape::kTrace || result.trace != nullptr) {
    return UnimplementedError("RESULT_NOT_STORABLE", "Trace views are not stored.");
  }
  Encoder encoder;
  encoder.Byte(static_cast<uint8_t>(result.shape));
  encoder.Byte(result.partial ? 1 : 0);
  encoder.Text(result.content_type);
  encoder.Text(result.text);
  encoder.Count(result.notices.size());
  for (const Notice& notice : result.notices) {
    encoder.Byte(static_cast<uint8_t>(notice.severity));
    encoder.Text(notice.name);
    encoder.Text(notice.message);
    encoder.Text(notice.hint);
  }
  encoder.Count(result.tables.size());
  for (const Table& table : result.tables) encoder.OneTable(table);
  if (!encoder.OneValue(result.document, 0)) {
    return UnimplementedError("RESULT_NOT_STORABLE", "The tree is too deep to be stored.");
  }
  const std::string body = encoder.Take();
  std::string bytes(kMagic);
  AppendFixed(kResultFormatVersion, 4, &bytes);
  AppendFixed(body.size(), 8, &bytes);
  AppendFixed(Hash64(body), 8, &bytes);
  return bytes + body;
}

Result<ToolResult> DecodeResult(std::string_view bytes) {
  if (bytes.size() < kHeadBytes || !bytes.starts_with(kMagic)) return Damaged("no head.");
  if (ReadFixed(bytes.substr(8), 4) != kResultFormatVersion) {
    return FailedPreconditionError("RESULT_OTHER_VERSION",
                                   "The stored answer was written by another version.");
  }
  const std::string_view body = bytes.substr(kHeadBytes);
  if (ReadFixed(bytes.substr(12), 8) != body.size()) return Damaged("its length differs.");
  if (ReadFixed(bytes.substr(20), 8) != Hash64(body)) return Damaged("its checksum differs.");

  Decoder decoder(body);
  ToolResult result;
  const uint8_t shape = decoder.Byte();
  if (shape >= static_cast<uint8_t>(ToolResult::Shape::kTrace)) return Damaged("unknown shape.");
  result.shape = static_cast<ToolResult::Shape>(shape);
  result.partial = decoder.Flag();
  result.content_type = decoder.Text();
  result.text = decoder.Text();
  for (size_t left = decoder.Items(); decoder.ok() && left > 0; --left) {
    Notice notice;
    const uint8_t severity = decoder.Byte();
    if (severity > static_cast<uint8_t>(Notice::Severity::kError)) decoder.Fail();
    notice.severity = static_cast<Notice::Severity>(severity);
    notice.name = decoder.Text();
    notice.message = decoder.Text();
    notice.hint = decoder.Text();
    result.notices.push_back(std::move(notice));
  }
  for (size_t left = decoder.Items(); decoder.ok() && left > 0; --left) {
    result.tables.push_back(decoder.OneTable());
  }
  result.document = decoder.OneValue(0);
  if (!decoder.ok() || !decoder.at_end()) return Damaged("its body does not read.");
  return result;
}

}  // namespace strobe::tools
