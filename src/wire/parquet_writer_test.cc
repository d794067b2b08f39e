#include "src/wire/parquet_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "src/wire/compress.h"

namespace strobe::wire {
namespace {

// A reader of its own for Thrift's compact protocol: what the writer says is held against what
// another eye sees. tests/python/test_parquet.py has pyarrow read the same.
struct Thrift {
  int64_t number = 0;
  std::string text;
  std::vector<Thrift> list;
  std::map<int, Thrift> fields;
  const Thrift& operator[](int field) const { return fields.at(field); }
};

class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}
  Thrift Struct() {
    Thrift made;
    int field = 0;
    for (uint8_t head = Byte(); head != 0; head = Byte()) {
      EXPECT_NE(head >> 4, 0) << "long form is never needed";
      field += head >> 4;
      made.fields[field] = Value(head & 15);
    }
    return made;
  }
  size_t at() const { return at_; }

 private:
  uint8_t Byte() { return static_cast<uint8_t>(bytes_.at(at_++)); }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = Byte();
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  Thrift Value(int type) {
    if (type == 12) return Struct();
    Thrift made;
    if (type == 5 || type == 6) {
      const uint64_t coded = Varint();
      made.number = static_cast<int64_t>(coded >> 1) ^ -static_cast<int64_t>(coded & 1);
    } else if (type == 8) {
      const uint64_t size = Varint();
      made.text = bytes_.substr(at_, size);
      at_ += size;
    } else {
      EXPECT_EQ(type, 9);
      const uint8_t head = Byte();
      const uint64_t count = (head >> 4) == 15 ? Varint() : head >> 4;
      for (uint64_t i = 0; i < count; ++i) made.list.push_back(Value(head & 15));
    }
    return made;
  }

  const std::string_view bytes_;
  size_t at_ = 0;
};

Thrift FooterOf(std::string_view file) {
  EXPECT_EQ(file.substr(0, 4), "PAR1");
  EXPECT_EQ(file.substr(file.size() - 4), "PAR1");
  uint32_t size = 0;
  std::memcpy(&size, file.data() + file.size() - 8, 4);
  return ThriftReader(file.substr(file.size() - 8 - size, size)).Struct();
}

struct Page {
  int64_t cells = 0;
  std::vector<bool> present;
  std::string values;
};

std::vector<Page> PagesOf(std::string_view file, const Thrift& chunk) {
  const Thrift& meta = chunk[3];
  std::string_view left =
      file.substr(static_cast<size_t>(meta[9].number), static_cast<size_t>(meta[7].number));
  std::vector<Page> pages;
  while (!left.empty()) {
    ThriftReader reader(left);
    const Thrift header = reader.Struct();
    const auto size = static_cast<size_t>(header[3].number);
    std::string text;
    const auto keep = [&text](std::string_view part) {
      text += part;
      return OkStatus();
    };
    EXPECT_TRUE(Inflate(Compression::kZstd, left.substr(reader.at(), size), {}, keep, {}).ok());
    EXPECT_EQ(text.size(), static_cast<size_t>(header[2].number));
    left.remove_prefix(reader.at() + size);
    Page page{.cells = header[5][1].number, .present = {}, .values = {}};
    uint32_t levels = 0;
    std::memcpy(&levels, text.data(), 4);
    for (size_t at = 4; at < 4 + levels;) {
      uint64_t run = 0;
      int shift = 0;
      do {
        run |= uint64_t{text[at] & 0x7Fu} << shift;
        shift += 7;
      } while (static_cast<uint8_t>(text[at++]) >= 0x80);
      EXPECT_EQ(run & 1, 0u) << "runs of equal bits only";
      page.present.insert(page.present.end(), run >> 1, text[at++] == 1);
    }
    page.values = text.substr(4 + levels);
    EXPECT_EQ(page.present.size(), static_cast<size_t>(page.cells));
    pages.push_back(std::move(page));
  }
  return pages;
}

class Collector {
 public:
  ParquetWriter::Sink sink() {
    return [this](std::string part) {
      largest_ = std::max(largest_, part.size());
      file_ += part;
      return OkStatus();
    };
  }
  const std::string& file() const { return file_; }
  size_t largest() const { return largest_; }

 private:
  std::string file_;
  size_t largest_ = 0;
};

TEST(ParquetWriterTest, WritesEveryTypeWithItsAbsentCells) {
  Collector collector;
  ParquetWriter writer({{"name", ParquetType::kText},
                        {"runs", ParquetType::kInt64},
                        {"time", ParquetType::kDouble},
                        {"eager", ParquetType::kBool}},
                       collector.sink());
  writer.Text("fusion");
  writer.Int64(-5);
  writer.Double(1.5);
  writer.Bool(true);
  ASSERT_TRUE(writer.EndRow().ok());
  for (int i = 0; i < 4; ++i) writer.Null();
  ASSERT_TRUE(writer.EndRow().ok());
  writer.Text("");
  writer.Int64(int64_t{1} << 60);
  writer.Null();
  writer.Bool(true);
  ASSERT_TRUE(writer.EndRow().ok());
  ASSERT_TRUE(writer.Finish({{"tool", "hlo_stats"}}).ok());

  const Thrift footer = FooterOf(collector.file());
  EXPECT_EQ(footer[3].number, 3);
  const std::vector<Thrift>& schema = footer[2].list;
  ASSERT_EQ(schema.size(), 5u);
  EXPECT_EQ(schema[0][5].number, 4);
  EXPECT_EQ(schema[1][1].number, 6);
  EXPECT_EQ(schema[1][6].number, 0);             // UTF8
  EXPECT_EQ(schema[1][10].fields.count(1), 1u);  // STRING
  EXPECT_EQ(schema[2][1].number, 2);
  EXPECT_EQ(schema[3][1].number, 5);
  EXPECT_EQ(schema[4][1].number, 0);
  EXPECT_EQ(schema[4][4].text, "eager");
  EXPECT_EQ(footer[5].list[0][2].text, "hlo_stats");
  ASSERT_EQ(footer[4].list.size(), 1u);
  const Thrift& group = footer[4].list[0];
  EXPECT_EQ(group[3].number, 3);
  const std::vector<Thrift>& chunks = group[1].list;
  const auto page = [&](size_t c) { return PagesOf(collector.file(), chunks[c]).at(0); };
  EXPECT_EQ(page(0).present, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(page(0).values, std::string("\6\0\0\0fusion\0\0\0\0", 14));
  int64_t numbers[2];
  ASSERT_EQ(page(1).values.size(), sizeof numbers);
  std::memcpy(numbers, page(1).values.data(), sizeof numbers);
  EXPECT_EQ(numbers[0], -5);
  EXPECT_EQ(numbers[1], int64_t{1} << 60);
  EXPECT_EQ(page(2).present, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(page(3).values, "\3");
}

TEST(ParquetWriterTest, GroupsAndPagesAreBounded) {
  Collector collector;
  ParquetWriter writer({{"n", ParquetType::kInt64}, {"text", ParquetType::kText}},
                       collector.sink());
  const uint64_t rows = ParquetWriter::kGroupRows + 5;
  for (uint64_t i = 0; i < rows; ++i) {
    writer.Int64(static_cast<int64_t>(i));
    if (i % 2 == 0) {
      writer.Text(std::string(300, static_cast<char>('a' + i % 26)));
    } else {
      writer.Null();
    }
    ASSERT_TRUE(writer.EndRow().ok());
  }
  ASSERT_TRUE(writer.Finish().ok());
  const Thrift footer = FooterOf(collector.file());
  uint64_t seen = 0;
  int64_t next = 0;
  EXPECT_GT(footer[4].list.size(), 1u);
  for (const Thrift& group : footer[4].list) {
    seen += static_cast<uint64_t>(group[3].number);
    EXPECT_LE(static_cast<uint64_t>(group[2].number),
              ParquetWriter::kGroupBytes + ParquetWriter::kPageBytes);
    for (const Page& page : PagesOf(collector.file(), group[1].list[0])) {
      EXPECT_LE(page.values.size(), ParquetWriter::kPageBytes);
      for (size_t at = 0; at < page.values.size(); at += 8) {
        int64_t number = 0;
        std::memcpy(&number, page.values.data() + at, 8);
        ASSERT_EQ(number, next++);
      }
    }
  }
  EXPECT_EQ(seen, rows);
  EXPECT_EQ(next, static_cast<int64_t>(rows));
}

TEST(ParquetWriterTest, TablesWithoutRowsOrColumnsAreFiles) {
  Collector empty;
  ASSERT_TRUE(ParquetWriter({{"n", ParquetType::kDouble}}, empty.sink()).Finish().ok());
  EXPECT_EQ(FooterOf(empty.file())[3].number, 0);
  Collector nothing;
  ASSERT_TRUE(ParquetWriter({}, nothing.sink()).Finish().ok());
  EXPECT_EQ(FooterOf(nothing.file())[2].list.size(), 1u);
}

TEST(ParquetWriterTest, ManyColumnsNeedTheLongListForm) {
  Collector collector;
  std::vector<ParquetColumn> columns;
  for (int i = 0; i < 40; ++i) columns.push_back({"c" + std::to_string(i), ParquetType::kBool});
  ParquetWriter writer(columns, collector.sink());
  for (int i = 0; i < 40; ++i) writer.Bool(i % 2 == 0);
  ASSERT_TRUE(writer.EndRow().ok());
  ASSERT_TRUE(writer.Finish().ok());
  const Thrift footer = FooterOf(collector.file());
  EXPECT_EQ(footer[2].list.size(), 41u);
  EXPECT_EQ(footer[4].list[0][1].list.size(), 40u);
}

TEST(ParquetWriterTest, RefusesTextsThatAreTooLongAndStopsWithTheSink) {
  Collector collector;
  ParquetWriter writer({{"text", ParquetType::kText}}, collector.sink());
  writer.Text(std::string(ParquetWriter::kMaxTextBytes + 1, 'x'));
  const Status refused = writer.EndRow();
  EXPECT_EQ(refused.name(), "PARQUET_VALUE_TOO_LARGE");
  EXPECT_EQ(writer.Finish().name(), "PARQUET_VALUE_TOO_LARGE");
  EXPECT_EQ(collector.file(), "PAR1");

  int parts = 0;
  ParquetWriter cut({{"n", ParquetType::kDouble}}, [&parts](std::string) -> Status {
    if (++parts == 1) return OkStatus();
    return CancelledError("GONE", "Nobody listens.");
  });
  cut.Double(1);
  ASSERT_TRUE(cut.EndRow().ok());
  EXPECT_EQ(cut.Finish().name(), "GONE");
  EXPECT_EQ(parts, 2);
}

}  // namespace
}  // namespace strobe::wire
