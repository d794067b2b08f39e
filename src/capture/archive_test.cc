#include "src/capture/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <vector>

#include "src/wire/compress.h"

namespace strobe::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class MapTaker : public ArchiveTaker {
 public:
  Result<bool> Begin(const std::string& path, uint64_t) override {
    path_ = path;
    files[path] = "";
    return true;
  }
  Status Take(std::string_view bytes) override {
    files[path_] += bytes;
    return OkStatus();
  }
  Status End() override { return OkStatus(); }
  std::map<std::string, std::string> files;

 private:
  std::string path_;
};

// ---- a tar by hand

std::string TarHeader(const std::string& name, uint64_t size_bytes, char kind) {
  std::string block(512, '\0');
  name.copy(block.data(), 100);
  const auto octal = [&block](size_t at, size_t digits, uint64_t value) {
    for (size_t i = 0; i < digits; ++i) {
      block[at + digits - 1 - i] = static_cast<char>('0' + (value >> (3 * i) & 7));
    }
  };
  octal(100, 7, 0644);
  octal(124, 11, size_bytes);
  block[156] = kind;
  std::string("ustar\0", 6).copy(block.data() + 257, 6);
  std::string("00").copy(block.data() + 263, 2);
  uint64_t sum = 8 * ' ';
  for (size_t i = 0; i < block.size(); ++i) {
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(block[i]);
  }
  octal(148, 6, sum);
  return block;
}

std::string TarEntry(const std::string& name, const std::string& bytes, char kind = '0') {
  return TarHeader(name, bytes.size(), kind) + bytes +
         std::string((512 - bytes.size() % 512) % 512, '\0');
}

const std::string kTarEnd(1024, '\0');

// ---- a zip by hand

void Append(std::string* out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

std::string Deflated(const std::string& bytes) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct ZipFile {
  std::string name;
  std::string bytes;
  bool deflate = true;
  uint32_t mode = 0100644;
  uint16_t flags = 0;
  int64_t told_size = -1;
};

std::string Zip(const std::vector<ZipFile>& files) {
  std::string out;
  std::string directory;
  for (const ZipFile& file : files) {
    const std::string packed = file.deflate ? Deflated(file.bytes) : file.bytes;
    const uint64_t crc = crc32(0, reinterpret_cast<const unsigned char*>(file.bytes.data()),
                               static_cast<uInt>(file.bytes.size()));
    const uint64_t size =
        file.told_size >= 0 ? static_cast<uint64_t>(file.told_size) : file.bytes.size();
    const size_t at = out.size();
    std::string common;
    Append(&common, file.flags, 2);
    Append(&common, file.deflate ? 8 : 0, 2);
    Append(&common, 0, 4);
    Append(&common, crc, 4);
    Append(&common, packed.size(), 4);
    Append(&common, size, 4);
    Append(&common, file.name.size(), 2);
    out += "PK\x03\x04";
    Append(&out, 20, 2);
    out += common;
    Append(&out, 0, 2);
    out += file.name + packed;
    directory += "PK\x01\x02";
    Append(&directory, 3 << 8 | 20, 2);
    Append(&directory, 20, 2);
    directory += common;
    Append(&directory, 0, 2 + 2 + 2 + 2);
    Append(&directory, static_cast<uint64_t>(file.mode) << 16, 4);
    Append(&directory, at, 4);
    directory += file.name;
  }
  const size_t begin = out.size();
  out += directory + "PK\x05\x06";
  Append(&out, 0, 4);
  Append(&out, files.size(), 2);
  Append(&out, files.size(), 2);
  Append(&out, directory.size(), 4);
  Append(&out, begin, 4);
  Append(&out, 0, 2);
  return out;
}

class ArchiveTest : public ::testing::Test {
 protected:
  Status Read(const std::string& bytes, const ArchiveLimits& limits = {}) {
    taker_.files.clear();
    return ReadArchive(bytes, limits, taker_, {}).status();
  }
  MapTaker taker_;
};

TEST_F(ArchiveTest, TarWithFoldersAndLongNames) {
  const std::string long_name = std::string(150, 'n') + "/" + std::string(80, 'm');
  std::string pax = " path=" + long_name + "\n";
  pax = std::to_string(pax.size() + 3) + pax;
  const std::string tar = TarEntry("s/", "", '5') + TarEntry("./s/a.pb", "hello") +
                          TarEntry("s/empty", "") + TarEntry("x", pax, 'x') +
                          TarEntry("short", "by pax") +
                          TarEntry("././@LongLink", long_name + "2" + std::string(1, '\0'), 'L') +
                          TarEntry("short", "by gnu") + kTarEnd;
  ASSERT_TRUE(Read(tar).ok()) << Read(tar).ToString();
  EXPECT_THAT(taker_.files, ElementsAre(Pair(long_name, "by pax"), Pair(long_name + "2", "by gnu"),
                                        Pair("s/a.pb", "hello"), Pair("s/empty", "")));
  EXPECT_EQ(DetectArchive(tar), ArchiveKind::kTar);
}

TEST_F(ArchiveTest, TarWithinGzip) {
  std::string big(300'000, 'x');
  for (size_t i = 0; i < big.size(); ++i) big[i] = static_cast<char>(i * i >> 7);
  const std::string packed = wire::GzipCompress(TarEntry("s/a.pb", big) + kTarEnd);
  EXPECT_EQ(DetectArchive(packed), ArchiveKind::kTar);
  ASSERT_TRUE(Read(packed).ok()) << Read(packed).ToString();
  EXPECT_TRUE(taker_.files["s/a.pb"] == big);
  EXPECT_EQ(DetectArchive(wire::GzipCompress("a profile, not a tar")), ArchiveKind::kNone);
}

TEST_F(ArchiveTest, ZipStoredAndDeflated) {
  const std::string zip = Zip({{.name = "s/", .bytes = "", .deflate = false, .mode = 0040755},
                               {.name = "s/a.pb", .bytes = std::string(10'000, 'a') + "b"},
                               {.name = "s/b.pb", .bytes = "stored", .deflate = false},
                               {.name = "empty", .bytes = ""}});
  ASSERT_TRUE(Read(zip).ok()) << Read(zip).ToString();
  EXPECT_EQ(taker_.files["s/a.pb"], std::string(10'000, 'a') + "b");
  EXPECT_EQ(taker_.files["s/b.pb"], "stored");
  EXPECT_EQ(taker_.files.size(), 3);
}

TEST_F(ArchiveTest, PathsThatLeadOutAreRefusedInBothFormats) {
  for (const std::string& path :
       {std::string("../up"), std::string("a/../../up"), std::string("/etc/passwd"),
        std::string("a\\..\\up"), std::string("C:/x"), std::string("a\nb"), std::string("..")}) {
    EXPECT_EQ(Read(Zip({{.name = path, .bytes = "x"}})).name(), "ARCHIVE_PATH_UNSAFE") << path;
    EXPECT_EQ(Read(TarEntry(path, "x") + kTarEnd).name(), "ARCHIVE_PATH_UNSAFE") << path;
  }
  EXPECT_EQ(Read(TarEntry("../d/", "", '5') + kTarEnd).name(), "ARCHIVE_PATH_UNSAFE");
}

TEST_F(ArchiveTest, LinksAndDevicesAreRefused) {
  for (const char kind : {'1', '2', '3', '4', '6', 'S'}) {
    EXPECT_EQ(Read(TarEntry("link", "", kind) + kTarEnd).name(), "ARCHIVE_ENTRY_KIND") << kind;
  }
  EXPECT_EQ(Read(Zip({{.name = "l", .bytes = "/etc", .mode = 0120777}})).name(),
            "ARCHIVE_ENTRY_KIND");
}

TEST_F(ArchiveTest, TheSameFileTwiceIsRefused) {
  EXPECT_EQ(Read(Zip({{.name = "a", .bytes = "1"}, {.name = "./a", .bytes = "2"}})).name(),
            "ARCHIVE_PATH_TWICE");
}

TEST_F(ArchiveTest, EncryptedAndStrangePackingIsRefused) {
  EXPECT_EQ(Read(Zip({{.name = "a", .bytes = "1", .flags = 1}})).name(), "ARCHIVE_PACKING_UNKNOWN");
}

TEST_F(ArchiveTest, BombsStopEarly) {
  const std::string zeros(200 << 20, '\0');
  const std::string zip = Zip({{.name = "a.xplane.pb", .bytes = zeros}});
  uint64_t taken = 0;
  struct Counting : ArchiveTaker {
    explicit Counting(uint64_t* total) : total_(total) {}
    Result<bool> Begin(const std::string&, uint64_t) override { return true; }
    Status Take(std::string_view bytes) override {
      *total_ += bytes.size();
      return OkStatus();
    }
    Status End() override { return OkStatus(); }
    uint64_t* total_;
  } taker(&taken);
  EXPECT_EQ(ReadArchive(zip, {}, taker, {}).status().name(), "ARCHIVE_TOO_LARGE");
  EXPECT_LT(taken, 60U << 20);
  const std::string tar = wire::GzipCompress(TarEntry("a.xplane.pb", zeros) + kTarEnd);
  taken = 0;
  EXPECT_EQ(ReadArchive(tar, {}, taker, {}).status().name(), "ARCHIVE_TOO_LARGE");
  EXPECT_LT(taken, 60U << 20);
  EXPECT_EQ(Read(Zip({{.name = "a", .bytes = std::string(5000, 'x')}}), {.max_output_bytes = 1000})
                .name(),
            "ARCHIVE_TOO_LARGE");
  EXPECT_EQ(Read(TarEntry("a", "1") + TarEntry("b", "2") + TarEntry("c", "3") + kTarEnd,
                 {.max_entries = 2})
                .name(),
            "ARCHIVE_TOO_LARGE");
}

TEST_F(ArchiveTest, AFileLargerThanItSaysIsRefused) {
  EXPECT_EQ(Read(Zip({{.name = "a", .bytes = std::string(5000, 'x'), .told_size = 10}})).name(),
            "ARCHIVE_DAMAGED");
}

TEST_F(ArchiveTest, CutAndFlippedArchivesAreErrorsNotCrashes) {
  const std::vector<std::string> wholes = {
      Zip({{.name = "s/a.pb", .bytes = std::string(3000, 'a') + "b"}, {.name = "c", .bytes = "d"}}),
      TarEntry("s/a.pb", std::string(3000, 'a')) + TarEntry("c", "d") + kTarEnd};
  for (const std::string& whole : wholes) {
    for (size_t size = 0; size + 1100 < whole.size(); size += 7) {
      EXPECT_FALSE(Read(whole.substr(0, size)).ok()) << size;
    }
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
      (void)Read(flipped);  // some bits carry nothing; none may crash
    }
  }
  EXPECT_EQ(Read("no archive").name(), "ARCHIVE_NOT_ONE");
  EXPECT_EQ(Read("").name(), "ARCHIVE_NOT_ONE");
}

TEST_F(ArchiveTest, ACancelEndsIt) {
  CancelSource cancel;
  cancel.Cancel();
  EXPECT_EQ(ReadArchive(TarEntry("a", "b") + kTarEnd, {}, taker_, cancel.token()).status().name(),
            "CANCELLED");
}

}  // namespace
}  // namespace strobe::capture
