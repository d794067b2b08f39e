// Writes a table as an Apache Parquet file, row group by row group, into a sink: for exports that
// pandas, Polars, DuckDB and Spark read with their types.
//
//   ParquetWriter writer({{"op", ParquetType::kText}, {"time_ps", ParquetType::kInt64}}, sink);
//   writer.Text("fusion.3");
//   writer.Int64(1200);
//   STROBE_RETURN_IF_ERROR(writer.EndRow());       // cells in the order of the columns
//   STROBE_RETURN_IF_ERROR(writer.Finish({{"unit.time_ps", "ps"}}));
//
// What is written: format version 1; every column optional (definition levels of one bit as RLE),
// no nesting; values PLAIN; data pages of version 1, each one zstd frame; texts with the logical
// type STRING and the converted type UTF8, integers INT64, numbers DOUBLE, truths BOOLEAN; no
// statistics, no dictionary, no column index. Key and value metadata of the file are the caller's.
//
// Errors: PARQUET_VALUE_TOO_LARGE (a text above kMaxTextBytes), PARQUET_TOO_MANY_GROUPS, and
// whatever the sink returns; after an error nothing more is written and the file is not whole.
//
// Cost: about 150 MB/s of values, mostly zstd at level 1. Memory: one row group, so at most
// kGroupBytes and one row, and 100 bytes a column of every group written. Limits: below.
// Little-endian machines. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"

namespace strobe::wire {

enum class ParquetType : uint8_t { kText, kInt64, kDouble, kBool };

struct ParquetColumn {
  std::string name;  // UTF-8
  ParquetType type = ParquetType::kDouble;
};

class ThriftWriter;

class ParquetWriter {
 public:
  // Takes the next part of the file.
  using Sink = std::function<Status(std::string)>;

  // Readers take a group whole: few groups read fast, and ours must fit in memory.
  static constexpr uint64_t kGroupRows = 65'536;
  static constexpr uint64_t kGroupBytes = uint64_t{8} << 20;
  // Pages are the unit of compression.
  static constexpr uint64_t kPageBytes = uint64_t{1} << 20;
  // Far above any name or HLO text; a page's size is a 32-bit number in the format.
  static constexpr uint64_t kMaxTextBytes = uint64_t{64} << 20;
  // The format numbers groups with 16 bits.
  static constexpr uint64_t kMaxGroups = 32'767;

  ParquetWriter(std::vector<ParquetColumn> columns, Sink sink);

  // The next cell of the row; its column must be of that type (our bug otherwise). `text` must be
  // UTF-8.
  void Text(std::string_view text);
  void Int64(int64_t value);
  void Double(double value);
  void Bool(bool value);
  void Null();

  // The row must have a cell for every column.
  [[nodiscard]] Status EndRow();
  // The rest of the rows and the footer. Nothing may be written afterwards.
  [[nodiscard]] Status Finish(
      const std::vector<std::pair<std::string, std::string>>& metadata = {});

  uint64_t rows() const { return rows_; }

 private:
  // One column of the group that is being made.
  struct Chunk {
    std::string values;          // of the page, PLAIN
    std::vector<uint32_t> runs;  // lengths of runs of present and absent cells, present first
    uint64_t page_cells = 0;     // with the absent ones
    uint64_t page_truths = 0;    // of a BOOLEAN page, 8 a byte
    std::string pages;           // finished ones
    uint64_t cells = 0;          // of finished pages
    uint64_t uncompressed_bytes = 0;
  };
  struct WrittenChunk {
    uint64_t offset = 0;
    uint64_t cells = 0;
    uint64_t uncompressed_bytes = 0;
    uint64_t compressed_bytes = 0;
  };
  struct WrittenGroup {
    std::vector<WrittenChunk> chunks = {};
    uint64_t rows = 0;
  };

  Chunk& Next(ParquetType type, bool present);
  Status EndPage(Chunk& chunk);
  Status EndGroup();
  Status Emit(std::string bytes);
  std::string Footer(const std::vector<std::pair<std::string, std::string>>& metadata) const;
  void AppendSchema(ThriftWriter& out) const;

  const std::vector<ParquetColumn> columns_;
  const Sink sink_;
  std::vector<Chunk> chunks_;
  std::vector<WrittenGroup> groups_;
  size_t at_ = 0;  // column of the next cell
  uint64_t rows_ = 0;
  uint64_t group_rows_ = 0;
  uint64_t group_bytes_ = 0;
  uint64_t offset_ = 0;
  Status failed_;
};

}  // namespace strobe::wire
