#include "src/wire/compress.h"

#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "src/base/ids.h"

namespace strobe::wire {
namespace {

// Text that shrinks, but is not all the same.
std::string SomeText(size_t size, uint64_t seed = 1) {
  SeededRandom random(seed);
  std::string text;
  text.reserve(size);
  while (text.size() < size) {
    text += "event " + std::to_string(random.Next() % 100000) + ";";
  }
  text.resize(size);
  return text;
}

std::string Noise(size_t size) {
  SeededRandom random(3);
  std::string noise(size, '\0');
  for (char& c : noise) c = static_cast<char>(random.Next());
  return noise;
}

std::string ZlibGzip(std::string_view text, bool with_header_fields = false) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  gz_header header = {};
  char name[] = "host.xplane.pb";
  char comment[] = "a comment";
  uint8_t extra[] = {1, 2, 3, 4};
  if (with_header_fields) {
    header.name = reinterpret_cast<Bytef*>(name);
    header.comment = reinterpret_cast<Bytef*>(comment);
    header.extra = extra;
    header.extra_len = sizeof(extra);
    header.hcrc = 1;
    EXPECT_EQ(deflateSetHeader(&stream, &header), Z_OK);
  }
  std::string out(deflateBound(&stream, text.size()) + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string ZlibGunzip(std::string_view bytes, size_t size) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(size + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

std::string ZstdFrame(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                   &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const size_t size =
      ZSTD_compress2(context.get(), out.data(), out.size(), text.data(), text.size());
  EXPECT_FALSE(ZSTD_isError(size));
  out.resize(size);
  return out;
}

std::string XzStream(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

std::string Encode(Compression compression, std::string_view text) {
  switch (compression) {
    case Compression::kGzip:
      return ZlibGzip(text);
    case Compression::kZstd:
      return ZstdFrame(text);
    case Compression::kXz:
      return XzStream(text);
    case Compression::kNone:
      break;
  }
  return std::string(text);
}

struct Outcome {
  Status status;
  Inflated inflated;
  std::string text;
};

Outcome Decode(Compression compression, std::string_view bytes,
               const InflateLimits& limits = InflateLimits()) {
  Outcome outcome;
  const ByteSink sink = [&](std::string_view part) {
    outcome.text += part;
    return OkStatus();
  };
  const auto result = Inflate(compression, bytes, limits, sink, CancelToken());
  outcome.status = result.status();
  if (result.ok()) outcome.inflated = *result;
  return outcome;
}

class CompressTest : public testing::TestWithParam<Compression> {};

INSTANTIATE_TEST_SUITE_P(Formats, CompressTest,
                         testing::Values(Compression::kGzip, Compression::kZstd, Compression::kXz),
                         [](const auto& param) {
                           return std::string(CompressionName(param.param));
                         });

TEST_P(CompressTest, GivesTheTextBack) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{256 * 1024},
                            size_t{256 * 1024 + 1}, size_t{600'000}}) {
    for (const std::string& text : {SomeText(size), Noise(size), std::string(size, '\0')}) {
      const std::string bytes = Encode(GetParam(), text);
      EXPECT_EQ(DetectCompression(bytes), GetParam());
      const Outcome outcome = Decode(GetParam(), bytes);
      ASSERT_TRUE(outcome.status.ok()) << outcome.status.ToString();
      EXPECT_FALSE(outcome.inflated.partial) << outcome.inflated.problem.ToString();
      EXPECT_TRUE(outcome.text == text) << size;
      EXPECT_EQ(outcome.inflated.output_bytes, text.size());
      EXPECT_EQ(outcome.inflated.input_bytes, bytes.size());
    }
  }
}

TEST_P(CompressTest, SeveralMembersAreOneText) {
  std::string bytes;
  std::string expected;
  for (uint64_t i = 0; i < 40; ++i) {
    const std::string text = SomeText(i * i * 97, i);
    bytes += Encode(GetParam(), text);
    expected += text;
  }
  const Outcome outcome = Decode(GetParam(), bytes);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.ToString();
  EXPECT_FALSE(outcome.inflated.partial) << outcome.inflated.problem.ToString();
  EXPECT_TRUE(outcome.text == expected);
  EXPECT_EQ(outcome.inflated.input_bytes, bytes.size());
}

TEST_P(CompressTest, EveryTruncationIsNamedAndKeepsAPrefix) {
  const std::string text = SomeText(3000);
  const std::string bytes = Encode(GetParam(), text);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Outcome outcome = Decode(GetParam(), bytes.substr(0, size));
    const Status& problem = outcome.status.ok() ? outcome.inflated.problem : outcome.status;
    ASSERT_EQ(problem.name(), "COMPRESS_TRUNCATED") << size << " " << problem.ToString();
    ASSERT_EQ(problem.code(), StatusCode::kDataLoss);
    ASSERT_NE(problem.where().find("offset"), std::string_view::npos);
    ASSERT_EQ(outcome.status.ok(), !outcome.text.empty());
    ASSERT_EQ(outcome.inflated.partial, outcome.status.ok());
    ASSERT_EQ(text.substr(0, outcome.text.size()), outcome.text);
  }
}

TEST_P(CompressTest, WhatCameBeforeTheCutIsUsable) {
  const std::string text = SomeText(2'000'000);
  const std::string bytes = Encode(GetParam(), text);
  const Outcome outcome = Decode(GetParam(), bytes.substr(0, bytes.size() / 2));
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_TRUE(outcome.inflated.partial);
  EXPECT_EQ(outcome.inflated.problem.name(), "COMPRESS_TRUNCATED");
  EXPECT_GT(outcome.text.size(), 500'000u);
  EXPECT_TRUE(text.substr(0, outcome.text.size()) == outcome.text);
}

TEST_P(CompressTest, EveryFlippedByteIsNoticed) {
  const std::string text = SomeText(2000);
  const std::string bytes = Encode(GetParam(), text);
  int noticed = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const Outcome outcome = Decode(GetParam(), damaged);
    const Status& problem = outcome.status.ok() ? outcome.inflated.problem : outcome.status;
    if (problem.ok()) {
      // Only header bytes that mean nothing (time stamp, system) may change unnoticed.
      ASSERT_TRUE(outcome.text == text) << at;
      ASSERT_LT(at, 20u);
      continue;
    }
    ++noticed;
    ASSERT_TRUE(problem.name() == "COMPRESS_CORRUPT" || problem.name() == "COMPRESS_TRUNCATED" ||
                problem.name() == "COMPRESS_TOO_LARGE")
        << problem.ToString();
  }
  EXPECT_GT(noticed, static_cast<int>(bytes.size()) - 20);
}

TEST_P(CompressTest, GarbageBehindTheEndIsNamed) {
  const std::string text = SomeText(5000);
  const Outcome outcome =
      Decode(GetParam(), Encode(GetParam(), text) + "garbage that is no member");
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_TRUE(outcome.inflated.partial);
  EXPECT_EQ(outcome.inflated.problem.name(), "COMPRESS_CORRUPT");
  EXPECT_EQ(outcome.text, text);
}

TEST_P(CompressTest, OutputLimitStopsABomb) {
  const std::string bytes = Encode(GetParam(), std::string(20'000'000, '\0'));
  const Outcome outcome = Decode(GetParam(), bytes, {.max_output_bytes = 1'000'000});
  EXPECT_EQ(outcome.status.name(), "COMPRESS_TOO_LARGE");
  EXPECT_EQ(outcome.status.code(), StatusCode::kResourceExhausted);
  EXPECT_LE(outcome.text.size(), 1'000'000u);
}

TEST_P(CompressTest, RatioLimitHasAFloor) {
  const std::string bytes = Encode(GetParam(), std::string(20'000'000, '\0'));
  const InflateLimits strict = {.max_ratio = 100, .ratio_floor_bytes = 1'000'000};
  EXPECT_EQ(Decode(GetParam(), bytes, strict).status.name(), "COMPRESS_TOO_LARGE");
  EXPECT_TRUE(Decode(GetParam(), bytes).status.ok());
  const std::string small = Encode(GetParam(), std::string(900'000, '\0'));
  EXPECT_TRUE(Decode(GetParam(), small, strict).status.ok());
}

TEST_P(CompressTest, SinkErrorEndsIt) {
  const std::string bytes = Encode(GetParam(), SomeText(700'000));
  int parts = 0;
  const ByteSink sink = [&](std::string_view) -> Status {
    if (++parts == 2) return ResourceExhaustedError("DISK_FULL", "No space.");
    return OkStatus();
  };
  const auto result = Inflate(GetParam(), bytes, InflateLimits(), sink, CancelToken());
  EXPECT_EQ(result.status().name(), "DISK_FULL");
  EXPECT_EQ(parts, 2);
}

TEST_P(CompressTest, CanBeCancelled) {
  const std::string bytes = Encode(GetParam(), SomeText(700'000));
  CancelSource source;
  int parts = 0;
  const ByteSink sink = [&](std::string_view) {
    ++parts;
    source.Cancel();
    return OkStatus();
  };
  const auto result = Inflate(GetParam(), bytes, InflateLimits(), sink, source.token());
  EXPECT_EQ(result.status().name(), "CANCELLED");
  EXPECT_EQ(parts, 1);
}

TEST_P(CompressTest, PlainTextIsNoneOfThem) {
  EXPECT_EQ(DetectCompression("{\"a\": 1}"), Compression::kNone);
  EXPECT_EQ(DetectCompression(""), Compression::kNone);
  EXPECT_EQ(Decode(GetParam(), "this is plain text, not compressed").status.name(),
            "COMPRESS_CORRUPT");
}

TEST(CompressPlainTest, IsCopied) {
  const std::string text = SomeText(600'000);
  const Outcome outcome = Decode(Compression::kNone, text);
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_TRUE(outcome.text == text);
}

TEST(GzipTest, HeaderFieldsAndTrailingZerosAreFine) {
  const std::string text = SomeText(100'000);
  const Outcome outcome =
      Decode(Compression::kGzip, ZlibGzip(text, true) + ZlibGzip(text) + std::string(512, '\0'));
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_FALSE(outcome.inflated.partial) << outcome.inflated.problem.ToString();
  EXPECT_TRUE(outcome.text == text + text);
}

// Found by the fuzzer: ISA-L answers with more input left than it was given.
TEST(GzipTest, DamageNearTheEndKeepsTheCountsRight) {
  const std::string bytes(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x65\x8f\x31\x0e\x03\x31\x08\x04\xbf\x92"
      "\x27\xc4\xd8\x06\xac\xbc\xc7\x6d\xaa\xe8\xde\x7f\x51\xc4\x6c\x11\x57\x20\x60\x77"
      "\x87\x7d\xed\xf7\xe7\xf1\x7c\xed\x5f\x6d\x55\x47\xd5\xc5\xdc\xab\xb1\x59\x4d\x67"
      "\x5b\xb8\x71\x44\x89\x4b\x47\xc4\x66\x44\x35\x61\xec\x38\x45\xe3",
      76);
  const Outcome outcome = Decode(Compression::kGzip, bytes);
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.inflated.problem.name(), "COMPRESS_CORRUPT");
  EXPECT_EQ(outcome.inflated.output_bytes, outcome.text.size());
  EXPECT_LE(outcome.inflated.input_bytes, bytes.size());
}

TEST(GzipTest, CompressesForAnyReader) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{70'000}, size_t{1'500'000}}) {
    for (const std::string& text : {SomeText(size), Noise(size)}) {
      const std::string bytes = GzipCompress(text);
      EXPECT_TRUE(ZlibGunzip(bytes, text.size()) == text) << size;
      EXPECT_TRUE(Decode(Compression::kGzip, bytes).text == text) << size;
      EXPECT_EQ(bytes, GzipCompress(text));
    }
  }
  const std::string text = SomeText(1'000'000);
  EXPECT_LT(GzipCompress(text).size(), text.size() / 2);
}

TEST(GzipTest, TellsHowMuchItHasReadWhileItGoesOn) {
  const std::string packed = ZlibGzip(SomeText(4 << 20));
  std::atomic<uint64_t> read_bytes = 7;  // grows from what was there: of several files it is a sum
  std::vector<uint64_t> seen;
  const auto done = Inflate(
      Compression::kGzip, packed, InflateLimits(),
      [&](std::string_view) {
        seen.push_back(read_bytes);
        return OkStatus();
      },
      CancelToken(), &read_bytes);
  ASSERT_TRUE(done.ok());
  EXPECT_GT(seen.size(), 4u);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_LT(seen.front(), packed.size() / 2);
  EXPECT_NEAR(static_cast<double>(read_bytes), static_cast<double>(packed.size() + 7), 16);
}

TEST(ZstdTest, WindowBeyondTheLimitIsTooLarge) {
  // A frame header: magic, descriptor without content size, window of 2^(10 + 21) bytes.
  const std::string bytes("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
  EXPECT_EQ(Decode(Compression::kZstd, bytes).status.name(), "COMPRESS_TOO_LARGE");
}

}  // namespace
}  // namespace strobe::wire
