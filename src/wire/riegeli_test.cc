#include "src/wire/riegeli.h"

#include <gtest/gtest.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/base/ids.h"
#include "src/wire/highway_hash.h"
#include "src/wire/wire_writer.h"

namespace strobe::wire {
namespace {

constexpr size_t kBlockBytes = 65536;

std::string Little(uint64_t value) {
  std::string out;
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

// Writes Riegeli files byte by byte, the way the format says it: no arithmetic of the reader.
class FileWriter {
 public:
  FileWriter() { AddChunk('s', "", 0, 0); }

  void AddChunk(char kind, std::string_view data, uint64_t num_records, uint64_t decoded_size) {
    const size_t begin = file_.size();
    std::string header = Little(data.size()) + Little(RiegeliHash(data));
    header += Little((num_records << 8) | static_cast<uint8_t>(kind)) + Little(decoded_size);
    const std::string bytes = Little(RiegeliHash(header)) + header + std::string(data);
    std::vector<size_t> block_headers;
    const auto put = [&](char c) {
      if (file_.size() % kBlockBytes == 0) {
        block_headers.push_back(file_.size());
        file_.append(24, '\0');
      }
      file_.push_back(c);
    };
    for (const char c : bytes) put(c);
    // At least a byte a record, and no end inside or right behind a block header.
    while (file_.size() < begin + num_records) put('\0');
    for (const size_t block : block_headers) {
      const std::string distances = Little(block - begin) + Little(file_.size() - block);
      file_.replace(block, 24, Little(RiegeliHash(distances)) + distances);
    }
  }

  void AddRecords(const std::vector<std::string>& records, char compression = 0) {
    std::string sizes;
    std::string values;
    for (const std::string& record : records) {
      AppendVarint(record.size(), &sizes);
      values += record;
    }
    const std::string packed_sizes = Pack(sizes, compression);
    std::string data(1, compression);
    AppendVarint(packed_sizes.size(), &data);
    data += packed_sizes + Pack(values, compression);
    AddChunk('r', data, records.size(), values.size());
  }

  std::string& file() { return file_; }

 private:
  static std::string Pack(const std::string& bytes, char compression) {
    std::string packed;
    if (compression == 'z') {
      packed.resize(ZSTD_compressBound(bytes.size()));
      packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
    } else if (compression == 's') {
      snappy::Compress(bytes.data(), bytes.size(), &packed);
    } else {
      return bytes;
    }
    std::string out;
    AppendVarint(bytes.size(), &out);
    return out + packed;
  }

  std::string file_;
};

struct Outcome {
  Status status;
  RiegeliSummary summary;
  std::vector<std::string> records;
};

Outcome Read(std::string_view file, const RiegeliLimits& limits = {}) {
  Outcome outcome;
  const RecordSink sink = [&](std::string_view record) {
    outcome.records.emplace_back(record);
    return OkStatus();
  };
  auto result = ReadRiegeli(file, limits, sink, CancelToken());
  outcome.status = result.status();
  if (result.ok()) outcome.summary = *std::move(result);
  return outcome;
}

std::vector<std::string> SomeRecords(size_t count, size_t size, uint64_t seed) {
  SeededRandom random(seed);
  std::vector<std::string> records(count);
  for (std::string& record : records) {
    const size_t length = size == 0 ? 0 : random.Next() % (2 * size);
    for (size_t i = 0; i < length; ++i) record.push_back(static_cast<char>(random.Next() % 7));
  }
  return records;
}

// The first 64 bytes that the format prescribes for every file.
TEST(RiegeliTest, SignatureIsTheOneOfTheFormat) {
  const unsigned char expected[64] = {
      0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f, 0,    0,    0, 0,    0,
      0,    0,    0,    0x40, 0,    0,    0,    0,    0,    0,    0, 0x91, 0xba,
      0xc2, 0x3c, 0x92, 0x87, 0xe1, 0xa9, 0,    0,    0,    0,    0, 0,    0,
      0,    0xe1, 0x9f, 0x13, 0xc0, 0xe9, 0xb1, 0xc3, 0x72, 0x73, 0, 0,    0,
      0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0, 0};
  const std::string_view bytes(reinterpret_cast<const char*>(expected), 64);
  EXPECT_EQ(FileWriter().file(), bytes);
  EXPECT_TRUE(LooksLikeRiegeli(bytes));
  EXPECT_FALSE(LooksLikeRiegeli(bytes.substr(0, 63)));
}

// Published test values of HighwayHash-64 with the key 00 01 .. 1f over 00 01 02 ...
TEST(HighwayHashTest, KnownValues) {
  const std::array<uint64_t, 4> key = {0x0706050403020100ULL, 0x0F0E0D0C0B0A0908ULL,
                                       0x1716151413121110ULL, 0x1F1E1D1C1B1A1918ULL};
  std::string bytes;
  for (int i = 0; i < 64; ++i) bytes.push_back(static_cast<char>(i));
  const std::string_view view = bytes;
  EXPECT_EQ(HighwayHash64(key, view.substr(0, 0)), 0x907A56DE22C26E53ULL);
  EXPECT_EQ(HighwayHash64(key, view.substr(0, 1)), 0x7EAB43AAC7CDDD78ULL);
  EXPECT_EQ(HighwayHash64(key, view.substr(0, 2)), 0xB8D0569AB0B53D62ULL);
  EXPECT_EQ(HighwayHash64(key, view.substr(0, 3)), 0x5C6BEFAB8A463D80ULL);
}

TEST(RiegeliTest, ReadsEveryCompression) {
  for (const char compression : {'\0', 'z', 's'}) {
    FileWriter writer;
    std::vector<std::string> expected;
    for (uint64_t chunk = 0; chunk < 12; ++chunk) {
      const auto records = SomeRecords(chunk * 7, 300 * chunk, chunk);
      writer.AddRecords(records, compression);
      expected.insert(expected.end(), records.begin(), records.end());
    }
    const Outcome outcome = Read(writer.file());
    ASSERT_TRUE(outcome.status.ok()) << outcome.status.ToString();
    EXPECT_TRUE(outcome.summary.damage.empty());
    EXPECT_EQ(outcome.summary.records, expected.size());
    EXPECT_TRUE(outcome.records == expected);
  }
}

// 20 records "record 0;", "record 1;", "record 2;" ... by brotli's own encoder.
TEST(RiegeliTest, ReadsBrotli) {
  const std::string_view sizes_packed("\x03\x01\x80\x09\x09\x09\x03", 7);  // three sizes of 9
  const std::string_view values_packed(
      "\x13\xb3\x00\x00\x04\x36\xe0\x48\x03\xec\xb5\x76\x80\x90\x4e\x24\x93\x4c\x65\x79\x86\x61\x4f"
      "\x2f\x03",
      25);
  std::string data = "b";
  AppendVarint(sizes_packed.size() + 1, &data);
  AppendVarint(3, &data);
  data += sizes_packed;
  AppendVarint(180, &data);
  data += values_packed;
  FileWriter wrong_total;
  wrong_total.AddChunk('r', data, 3, 180);
  // Three sizes of 9 do not cover 180 bytes; the records that are there were given.
  const Outcome outcome = Read(wrong_total.file());
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.records, (std::vector<std::string>{"record 0;", "record 1;", "record 2;"}));
  ASSERT_EQ(outcome.summary.damage.size(), 1u);
  EXPECT_EQ(outcome.summary.damage[0].status.name(), "RIEGELI_CORRUPT");
}

TEST(RiegeliTest, ChunksOfEveryLengthAroundABlock) {
  // The chunk's end, its header and its data meet the block's border at every byte.
  for (size_t size = kBlockBytes - 70; size < kBlockBytes + 30; ++size) {
    FileWriter writer;
    writer.AddRecords({std::string(size - 64, 'a')});
    writer.AddRecords({"second"});
    writer.AddRecords({"third"});
    const Outcome outcome = Read(writer.file());
    ASSERT_TRUE(outcome.status.ok()) << size << outcome.status.ToString();
    ASSERT_TRUE(outcome.summary.damage.empty()) << size;
    ASSERT_EQ(outcome.records.size(), 3u) << size;
    ASSERT_EQ(outcome.records[1], "second");
    ASSERT_EQ(outcome.records[2], "third");
  }
}

TEST(RiegeliTest, ManyEmptyRecordsNeedPadding) {
  for (const size_t count : {size_t{100}, kBlockBytes - 64, kBlockBytes, size_t{80'000}}) {
    FileWriter writer;
    writer.AddRecords(std::vector<std::string>(count));
    writer.AddRecords({"behind"});
    const Outcome outcome = Read(writer.file());
    ASSERT_TRUE(outcome.status.ok()) << count;
    ASSERT_EQ(outcome.records.size(), count + 1);
    EXPECT_EQ(outcome.records.back(), "behind");
  }
}

TEST(RiegeliTest, PaddingMetadataAndFurtherSignaturesArePassedOver) {
  FileWriter writer;
  writer.AddChunk('m', "some metadata", 0, 7);
  writer.AddRecords({"one"});
  writer.AddChunk('p', std::string(100'000, '\0'), 0, 0);
  writer.AddChunk('s', "", 0, 0);
  writer.AddRecords({"two"});
  const Outcome outcome = Read(writer.file());
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_TRUE(outcome.summary.damage.empty());
  EXPECT_EQ(outcome.records, (std::vector<std::string>{"one", "two"}));
}

TEST(RiegeliTest, TransposedChunksAreNamed) {
  FileWriter only;
  only.AddChunk('t', "anything", 5, 100);
  const Outcome nothing = Read(only.file());
  EXPECT_EQ(nothing.status.name(), "RIEGELI_CHUNK_KIND");
  EXPECT_EQ(nothing.status.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(nothing.status.where(), "offset 64");

  FileWriter between;
  between.AddRecords({"one"});
  between.AddChunk('t', "anything", 5, 100);
  between.AddRecords({"two"});
  between.AddRecords({"three"}, 'q');
  const Outcome outcome = Read(between.file());
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.records, (std::vector<std::string>{"one", "two"}));
  ASSERT_EQ(outcome.summary.damage.size(), 2u);
  EXPECT_EQ(outcome.summary.damage[0].status.name(), "RIEGELI_CHUNK_KIND");
  EXPECT_EQ(outcome.summary.damage[1].status.name(), "RIEGELI_CHUNK_KIND");
}

TEST(RiegeliTest, DamagedChunkIsLeftOutAndTheRestRead) {
  FileWriter writer;
  writer.AddRecords({"one"});
  const size_t begin = writer.file().size();
  writer.AddRecords({"two"});
  writer.AddRecords({"three"});
  writer.file()[begin + 44] ^= 1;  // data
  const Outcome outcome = Read(writer.file());
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.records, (std::vector<std::string>{"one", "three"}));
  ASSERT_EQ(outcome.summary.damage.size(), 1u);
  EXPECT_EQ(outcome.summary.damage[0].status.name(), "RIEGELI_CHECKSUM");
  EXPECT_EQ(outcome.summary.damage[0].offset_bytes, begin);
}

TEST(RiegeliTest, DamagedHeaderIsPassedByTheBlocks) {
  FileWriter writer;
  writer.AddRecords({"one"});
  const size_t begin = writer.file().size();
  writer.AddRecords({"lost"});
  writer.AddRecords({std::string(3 * kBlockBytes, 'x')});  // lost too: only its middle is found
  writer.AddRecords({"found"});
  writer.AddRecords({"again"});
  writer.file()[begin + 8] ^= 1;
  const Outcome outcome = Read(writer.file());
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.records, (std::vector<std::string>{"one", "found", "again"}));
  ASSERT_EQ(outcome.summary.damage.size(), 1u);
  EXPECT_EQ(outcome.summary.damage[0].status.name(), "RIEGELI_CHECKSUM");
}

TEST(RiegeliTest, EveryTruncationKeepsTheRecordsBefore) {
  FileWriter writer;
  std::vector<size_t> ends;
  for (const char* record : {"one", "two", "three"}) {
    writer.AddRecords({record});
    ends.push_back(writer.file().size());
  }
  const std::string& file = writer.file();
  for (size_t size = 0; size < file.size(); ++size) {
    const Outcome outcome = Read(std::string_view(file).substr(0, size));
    const size_t expected = static_cast<size_t>(
        std::count_if(ends.begin(), ends.end(), [&](size_t end) { return end <= size; }));
    if (size < 64) {
      ASSERT_EQ(outcome.status.name(), "RIEGELI_NOT_A_FILE") << size;
    } else if (expected == 0 && size > 64) {
      ASSERT_EQ(outcome.status.name(), "RIEGELI_TRUNCATED") << size;
    } else {
      ASSERT_TRUE(outcome.status.ok());
      ASSERT_EQ(outcome.records.size(), expected);
      const bool between = size == 64 || std::find(ends.begin(), ends.end(), size) != ends.end();
      ASSERT_EQ(outcome.summary.damage.size(), between ? 0u : 1u) << size;
    }
  }
}

TEST(RiegeliTest, EveryFlippedByteIsNoticed) {
  FileWriter writer;
  writer.AddRecords({"one", "two"}, 'z');
  writer.AddRecords({"three"}, 's');
  const std::string file = writer.file();
  for (size_t at = 24; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const Outcome outcome = Read(damaged);
    ASSERT_TRUE(!outcome.status.ok() || !outcome.summary.damage.empty()) << at;
  }
}

TEST(RiegeliTest, LimitsStopBombs) {
  FileWriter writer;
  writer.AddRecords({std::string(3'000'000, 'x')}, 'z');
  EXPECT_EQ(Read(writer.file(), {.max_chunk_bytes = 1'000'000}).status.name(), "RIEGELI_TOO_LARGE");
  EXPECT_EQ(Read(writer.file(), {.max_total_bytes = 1'000'000}).status.name(), "RIEGELI_TOO_LARGE");
  EXPECT_EQ(Read(writer.file(), {.max_ratio = 10, .ratio_floor_bytes = 1000}).status.name(),
            "RIEGELI_TOO_LARGE");
  EXPECT_TRUE(Read(writer.file()).status.ok());
}

TEST(RiegeliTest, SinkErrorAndCancellationEndIt) {
  FileWriter writer;
  writer.AddRecords({"one", "two"});
  writer.AddRecords({"three"});
  int calls = 0;
  const RecordSink failing = [&](std::string_view) {
    ++calls;
    return InternalError("STOP", "Stop.");
  };
  EXPECT_EQ(ReadRiegeli(writer.file(), {}, failing, CancelToken()).status().name(), "STOP");
  EXPECT_EQ(calls, 1);
  CancelSource source;
  source.Cancel();
  const auto cancelled =
      ReadRiegeli(writer.file(), {}, [](std::string_view) { return OkStatus(); }, source.token());
  EXPECT_EQ(cancelled.status().name(), "CANCELLED");
}

TEST(RiegeliTest, OtherFilesAreNamed) {
  EXPECT_EQ(Read("").status.name(), "RIEGELI_NOT_A_FILE");
  EXPECT_EQ(Read(std::string(1000, 'x')).status.name(), "RIEGELI_NOT_A_FILE");
}

}  // namespace
}  // namespace strobe::wire
