#include "src/wire/parquet_writer.h"

#include <cstring>

#include "src/wire/compress.h"
#include "src/wire/wire_writer.h"

namespace strobe::wire {

// Thrift's compact protocol, as far as Parquet's headers need it.
class ThriftWriter {
 public:
  explicit ThriftWriter(std::string* out) : out_(out) {}

  void Int32(int16_t field, int32_t value) { Integer(field, kInt32, value); }
  void Int64(int16_t field, int64_t value) { Integer(field, kInt64, value); }
  void String(int16_t field, std::string_view text) {
    Field(field, kBinary);
    Bytes(text);
  }
  void BeginStruct(int16_t field) {
    Field(field, kStruct);
    Open();
  }
  void EndStruct() {
    out_->push_back('\0');
    last_ = outer_.back();
    outer_.pop_back();
  }
  void ListOfStructs(int16_t field, size_t count) { List(field, kStruct, count); }
  void ListOfInts(int16_t field, const std::vector<int32_t>& values) {
    List(field, kInt32, values.size());
    for (const int32_t value : values) AppendVarint(ZigZag(value), out_);
  }
  void ListOfOneString(int16_t field, std::string_view text) {
    List(field, kBinary, 1);
    Bytes(text);
  }
  // Of a list: elements have no field header.
  void BeginElement() { Open(); }
  void EndElement() { EndStruct(); }
  void End() { out_->push_back('\0'); }

 private:
  enum Type : uint8_t { kInt32 = 5, kInt64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

  static uint64_t ZigZag(int64_t value) {
    return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  }
  void Open() {
    outer_.push_back(last_);
    last_ = 0;
  }
  // Fields come in ascending order, less than 16 apart: the short form always fits.
  void Field(int16_t field, Type type) {
    const int delta = field - last_;
    STROBE_CHECK(delta > 0 && delta < 16);
    out_->push_back(static_cast<char>((delta << 4) | type));
    last_ = field;
  }
  void Integer(int16_t field, Type type, int64_t value) {
    Field(field, type);
    AppendVarint(ZigZag(value), out_);
  }
  void Bytes(std::string_view text) {
    AppendVarint(text.size(), out_);
    out_->append(text);
  }
  void List(int16_t field, Type element, size_t count) {
    Field(field, kList);
    if (count < 15) {
      out_->push_back(static_cast<char>((count << 4) | element));
    } else {
      out_->push_back(static_cast<char>(0xF0 | element));
      AppendVarint(count, out_);
    }
  }

  std::string* const out_;
  int16_t last_ = 0;
  std::vector<int16_t> outer_;
};

namespace {

constexpr std::string_view kMagic = "PAR1";
// Numbers of the format's enums.
constexpr int32_t kFormatVersion = 1;
constexpr int32_t kOptional = 1;
constexpr int32_t kConvertedUtf8 = 0;
constexpr int32_t kPlain = 0;
constexpr int32_t kRle = 3;
constexpr int32_t kZstd = 6;
constexpr int32_t kDataPage = 0;
constexpr int16_t kLogicalString = 1;

int32_t PhysicalType(ParquetType type) {
  switch (type) {
    case ParquetType::kBool:
      return 0;
    case ParquetType::kInt64:
      return 2;
    case ParquetType::kDouble:
      return 5;
    case ParquetType::kText:
      break;
  }
  return 6;
}

void AppendLittleEndian32(uint64_t value, std::string* out) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

template <typename T>
void AppendRaw(T value, std::string* out) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out->append(bytes, sizeof(T));
}

// Which cells are there, as runs of equal bits with their length in front.
std::string DefinitionLevels(const std::vector<uint32_t>& runs) {
  std::string levels;
  bool present = true;
  for (const uint32_t run : runs) {
    if (run > 0) {
      AppendVarint(uint64_t{run} << 1, &levels);
      levels.push_back(present ? '\1' : '\0');
    }
    present = !present;
  }
  std::string prefixed;
  AppendLittleEndian32(levels.size(), &prefixed);
  return prefixed + levels;
}

std::string PageHeader(size_t uncompressed_bytes, size_t compressed_bytes, uint64_t cells) {
  std::string header;
  ThriftWriter out(&header);
  out.Int32(1, kDataPage);
  out.Int32(2, static_cast<int32_t>(uncompressed_bytes));
  out.Int32(3, static_cast<int32_t>(compressed_bytes));
  out.BeginStruct(5);
  out.Int32(1, static_cast<int32_t>(cells));
  out.Int32(2, kPlain);
  out.Int32(3, kRle);
  out.Int32(4, kRle);
  out.EndStruct();
  out.End();
  return header;
}

}  // namespace

ParquetWriter::ParquetWriter(std::vector<ParquetColumn> columns, Sink sink)
    : columns_(std::move(columns)), sink_(std::move(sink)), chunks_(columns_.size()) {
  failed_ = Emit(std::string(kMagic));
}

ParquetWriter::Chunk& ParquetWriter::Next(ParquetType type, bool present) {
  STROBE_CHECK(at_ < columns_.size());
  STROBE_CHECK(!present || columns_[at_].type == type);
  Chunk& chunk = chunks_[at_++];
  const bool last_is_present = chunk.runs.size() % 2 == 1;
  if (chunk.runs.empty() && !present) {
    chunk.runs = {0, 1};
  } else if (chunk.runs.empty() || last_is_present != present) {
    chunk.runs.push_back(1);
  } else {
    ++chunk.runs.back();
  }
  ++chunk.page_cells;
  return chunk;
}

void ParquetWriter::Text(std::string_view text) {
  Chunk& chunk = Next(ParquetType::kText, true);
  if (text.size() > kMaxTextBytes) {
    if (failed_.ok()) {
      failed_ = ResourceExhaustedError("PARQUET_VALUE_TOO_LARGE",
                                       "A text of the table is too long for a Parquet file.")
                    .Where(columns_[at_ - 1].name)
                    .Hint("Leave the column out, or ask for CSV.");
    }
    text = {};
  }
  AppendLittleEndian32(text.size(), &chunk.values);
  chunk.values.append(text);
  group_bytes_ += 4 + text.size();
}

void ParquetWriter::Int64(int64_t value) {
  AppendRaw(value, &Next(ParquetType::kInt64, true).values);
  group_bytes_ += sizeof value;
}

void ParquetWriter::Double(double value) {
  AppendRaw(value, &Next(ParquetType::kDouble, true).values);
  group_bytes_ += sizeof value;
}

void ParquetWriter::Bool(bool value) {
  Chunk& chunk = Next(ParquetType::kBool, true);
  const uint64_t bit = chunk.page_truths++ % 8;
  if (bit == 0) {
    chunk.values.push_back('\0');
    ++group_bytes_;
  }
  if (value) chunk.values.back() = static_cast<char>(chunk.values.back() | (1 << bit));
}

void ParquetWriter::Null() { Next(ParquetType::kText, false); }

Status ParquetWriter::EndRow() {
  STROBE_CHECK(at_ == columns_.size());
  at_ = 0;
  if (!failed_.ok()) return failed_;
  ++rows_;
  ++group_rows_;
  for (Chunk& chunk : chunks_) {
    if (chunk.values.size() < kPageBytes) continue;
    failed_ = EndPage(chunk);
    if (!failed_.ok()) return failed_;
  }
  if (group_rows_ < kGroupRows && group_bytes_ < kGroupBytes) return OkStatus();
  return failed_ = EndGroup();
}

Status ParquetWriter::EndPage(Chunk& chunk) {
  if (chunk.page_cells == 0) return OkStatus();
  const std::string page = DefinitionLevels(chunk.runs) + chunk.values;
  STROBE_ASSIGN_OR_RETURN(const std::string compressed, ZstdCompress(page));
  const std::string header = PageHeader(page.size(), compressed.size(), chunk.page_cells);
  chunk.pages += header;
  chunk.pages += compressed;
  chunk.cells += chunk.page_cells;
  chunk.uncompressed_bytes += header.size() + page.size();
  chunk.values.clear();
  chunk.runs.clear();
  chunk.page_cells = 0;
  chunk.page_truths = 0;
  return OkStatus();
}

Status ParquetWriter::EndGroup() {
  if (group_rows_ == 0) return OkStatus();
  if (groups_.size() == kMaxGroups) {
    return ResourceExhaustedError("PARQUET_TOO_MANY_GROUPS",
                                  "The table is too large for one Parquet file.")
        .Where(std::to_string(rows_) + " rows")
        .Hint("Ask for fewer columns or rows.");
  }
  WrittenGroup group{.rows = group_rows_};
  for (Chunk& chunk : chunks_) {
    STROBE_RETURN_IF_ERROR(EndPage(chunk));
    group.chunks.push_back({.offset = offset_,
                            .cells = chunk.cells,
                            .uncompressed_bytes = chunk.uncompressed_bytes,
                            .compressed_bytes = chunk.pages.size()});
    STROBE_RETURN_IF_ERROR(Emit(std::move(chunk.pages)));
    chunk = Chunk{};
  }
  groups_.push_back(std::move(group));
  group_rows_ = 0;
  group_bytes_ = 0;
  return OkStatus();
}

Status ParquetWriter::Emit(std::string bytes) {
  offset_ += bytes.size();
  return sink_(std::move(bytes));
}

void ParquetWriter::AppendSchema(ThriftWriter& out) const {
  out.ListOfStructs(2, columns_.size() + 1);
  out.BeginElement();
  out.String(4, "table");
  out.Int32(5, static_cast<int32_t>(columns_.size()));
  out.EndElement();
  for (const ParquetColumn& column : columns_) {
    out.BeginElement();
    out.Int32(1, PhysicalType(column.type));
    out.Int32(3, kOptional);
    out.String(4, column.name);
    if (column.type == ParquetType::kText) {
      out.Int32(6, kConvertedUtf8);
      out.BeginStruct(10);
      out.BeginStruct(kLogicalString);
      out.EndStruct();
      out.EndStruct();
    }
    out.EndElement();
  }
}

std::string ParquetWriter::Footer(
    const std::vector<std::pair<std::string, std::string>>& metadata) const {
  std::string footer;
  ThriftWriter out(&footer);
  out.Int32(1, kFormatVersion);
  AppendSchema(out);
  out.Int64(3, static_cast<int64_t>(rows_));
  out.ListOfStructs(4, groups_.size());
  for (const WrittenGroup& group : groups_) {
    out.BeginElement();
    out.ListOfStructs(1, group.chunks.size());
    uint64_t bytes = 0;
    for (size_t c = 0; c < group.chunks.size(); ++c) {
      const WrittenChunk& chunk = group.chunks[c];
      bytes += chunk.uncompressed_bytes;
      out.BeginElement();
      out.Int64(2, static_cast<int64_t>(chunk.offset));
      out.BeginStruct(3);
      out.Int32(1, PhysicalType(columns_[c].type));
      out.ListOfInts(2, {kPlain, kRle});
      out.ListOfOneString(3, columns_[c].name);
      out.Int32(4, kZstd);
      out.Int64(5, static_cast<int64_t>(chunk.cells));
      out.Int64(6, static_cast<int64_t>(chunk.uncompressed_bytes));
      out.Int64(7, static_cast<int64_t>(chunk.compressed_bytes));
      out.Int64(9, static_cast<int64_t>(chunk.offset));
      out.EndStruct();
      out.EndElement();
    }
    out.Int64(2, static_cast<int64_t>(bytes));
    out.Int64(3, static_cast<int64_t>(group.rows));
    out.EndElement();
  }
  if (!metadata.empty()) {
    out.ListOfStructs(5, metadata.size());
    for (const auto& [key, value] : metadata) {
      out.BeginElement();
      out.String(1, key);
      out.String(2, value);
      out.EndElement();
    }
  }
  out.String(6, "strobe");
  out.End();
  return footer;
}

Status ParquetWriter::Finish(const std::vector<std::pair<std::string, std::string>>& metadata) {
  STROBE_CHECK(at_ == 0);
  if (!failed_.ok()) return failed_;
  failed_ = EndGroup();
  if (!failed_.ok()) return failed_;
  std::string footer = Footer(metadata);
  const size_t size_bytes = footer.size();
  AppendLittleEndian32(size_bytes, &footer);
  footer += kMagic;
  return failed_ = Emit(std::move(footer));
}

}  // namespace strobe::wire
