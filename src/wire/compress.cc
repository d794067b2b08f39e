#include "src/wire/compress.h"

#include <isa-l/igzip_lib.h>
#include <lzma.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

namespace strobe::wire {
namespace {

constexpr size_t kBufferBytes = 256 * 1024;
// ISA-L counts in 32 bits.
constexpr size_t kMaxStepBytes = size_t{1} << 30;
// Windows up to this are what the encoders use unless told otherwise (zstd --long=27, xz -9).
constexpr int kZstdMaxWindowLog = 27;
constexpr uint64_t kXzMemoryBytes = uint64_t{256} << 20;

std::string At(Compression compression, uint64_t offset, uint64_t output_bytes) {
  return std::string(CompressionName(compression)) + " data, offset " + std::to_string(offset) +
         ", after " + std::to_string(output_bytes) + " bytes of text";
}

// What all formats share: the output buffer, limits and the way problems are told.
class Inflater {
 public:
  Inflater(Compression compression, std::string_view input, const InflateLimits& limits,
           const ByteSink& sink, const CancelToken& cancel, std::atomic<uint64_t>* read_bytes)
      : compression_(compression),
        input_(input),
        limits_(limits),
        sink_(sink),
        cancel_(cancel),
        read_bytes_(read_bytes),
        buffer_(new char[kBufferBytes]) {}

  Result<Inflated> Run() {
    Status status;
    switch (compression_) {
      case Compression::kNone:
        status = Copy();
        break;
      case Compression::kGzip:
        status = Gzip();
        break;
      case Compression::kZstd:
        status = Zstd();
        break;
      case Compression::kXz:
        status = Xz();
        break;
    }
    if (!status.ok() && !(damaged_ && done_.output_bytes > 0)) return status;
    done_.partial = !status.ok();
    done_.problem = std::move(status);
    return std::move(done_);
  }

 private:
  // Hands `size` bytes of the buffer to the sink, with `input_bytes` read so far.
  Status Flush(size_t size, uint64_t input_bytes) {
    STROBE_RETURN_IF_ERROR(cancel_.Check());
    if (read_bytes_ != nullptr && input_bytes > done_.input_bytes) {
      *read_bytes_ += input_bytes - done_.input_bytes;
    }
    done_.input_bytes = input_bytes;
    if (size == 0) return OkStatus();
    const uint64_t total = done_.output_bytes + size;
    if (total > limits_.max_output_bytes) {
      return TooLarge("The text is larger than " + std::to_string(limits_.max_output_bytes) +
                      " bytes.");
    }
    if (total > limits_.ratio_floor_bytes && total / limits_.max_ratio > input_bytes) {
      return TooLarge("The text is more than " + std::to_string(limits_.max_ratio) +
                      " times larger than the data it comes from.");
    }
    STROBE_RETURN_IF_ERROR(sink_(std::string_view(buffer_.get(), size)));
    done_.output_bytes = total;
    return OkStatus();
  }

  Status TooLarge(std::string message) const {
    return ResourceExhaustedError("COMPRESS_TOO_LARGE", std::move(message))
        .Where(At(compression_, done_.input_bytes, done_.output_bytes))
        .Hint("If the file is meant to be so large, inflate it by hand and open the result.");
  }

  Status Damaged(std::string_view name, std::string message) {
    damaged_ = true;
    return DataLossError(name, std::move(message))
        .Where(At(compression_, done_.input_bytes, done_.output_bytes))
        .Hint("Copy the file again from where it was made, or capture again.");
  }
  Status Truncated() {
    return Damaged("COMPRESS_TRUNCATED", "The compressed data end before their end mark; " +
                                             std::to_string(input_.size()) + " bytes are there.");
  }
  Status Corrupt(std::string_view what) {
    return Damaged("COMPRESS_CORRUPT",
                   "The compressed data make no sense from here on: " + std::string(what) + ".");
  }

  Status Copy() {
    for (size_t at = 0; at < input_.size();) {
      const size_t size = std::min(kBufferBytes, input_.size() - at);
      std::copy_n(input_.data() + at, size, buffer_.get());
      at += size;
      STROBE_RETURN_IF_ERROR(Flush(size, at));
    }
    return OkStatus();
  }

  Status Gzip();
  Status GzipMember(inflate_state* state, size_t* at);
  Status Zstd();
  Status Xz();

  const Compression compression_;
  const std::string_view input_;
  const InflateLimits& limits_;
  const ByteSink& sink_;
  const CancelToken& cancel_;
  std::atomic<uint64_t>* const read_bytes_;
  const std::unique_ptr<char[]> buffer_;
  Inflated done_;
  bool damaged_ = false;  // the problem lies in the data, not in limits or sink
};

std::string_view IsalErrorText(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "an unknown kind of block";
    case ISAL_INVALID_SYMBOL:
      return "a code that stands for nothing";
    case ISAL_INVALID_LOOKBACK:
      return "a reference to before the beginning";
    case ISAL_INVALID_WRAPPER:
      return "no gzip header";
    case ISAL_UNSUPPORTED_METHOD:
      return "a compression method other than deflate";
    case ISAL_INCORRECT_CHECKSUM:
      return "the checksum differs";
    default:
      return "the decoder refused it";
  }
}

// One member from `*at`; `*at` is behind it afterwards.
Status Inflater::GzipMember(inflate_state* state, size_t* at) {
  isal_inflate_reset(state);
  state->crc_flag = ISAL_GZIP;
  state->avail_in = 0;
  while (state->block_state != ISAL_BLOCK_FINISH) {
    if (state->avail_in == 0) {
      const size_t step = std::min(kMaxStepBytes, input_.size() - *at);
      state->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(input_.data() + *at));
      state->avail_in = static_cast<uint32_t>(step);
      *at += step;
    }
    const uint32_t before = state->avail_in;
    state->next_out = reinterpret_cast<uint8_t*>(buffer_.get());
    state->avail_out = kBufferBytes;
    const int code = isal_inflate(state);
    const size_t made = kBufferBytes - std::min<size_t>(state->avail_out, kBufferBytes);
    // On some damaged input ISA-L counts below zero; nothing it says afterwards can be used.
    const bool counted = state->avail_in <= before;
    STROBE_RETURN_IF_ERROR(Flush(made, counted ? *at - state->avail_in : *at));
    if (code != ISAL_DECOMP_OK) return Corrupt(IsalErrorText(code));
    if (!counted) return Corrupt("the decoder lost its place");
    const bool stuck = made == 0 && state->avail_in == before;
    if (stuck && state->block_state != ISAL_BLOCK_FINISH) {
      if (*at - state->avail_in >= input_.size()) return Truncated();
      if (state->avail_in > 0) return Corrupt("the decoder cannot go on");
    }
  }
  *at -= state->avail_in;
  return OkStatus();
}

Status Inflater::Gzip() {
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  size_t at = 0;
  do {
    STROBE_RETURN_IF_ERROR(GzipMember(state.get(), &at));
    done_.input_bytes = at;
    const std::string_view rest = input_.substr(at);
    // Tapes and block devices pad with zeros; the tools accept them too.
    if (rest.find_first_not_of('\0') == std::string_view::npos) {
      done_.input_bytes = input_.size();
      return OkStatus();
    }
    if (DetectCompression(rest) != Compression::kGzip) {
      return Corrupt("bytes behind the end that are no further gzip member");
    }
  } while (true);
}

Status Inflater::Zstd() {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   &ZSTD_freeDCtx);
  STROBE_CHECK(context != nullptr);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kZstdMaxWindowLog);
  ZSTD_inBuffer in = {input_.data(), input_.size(), 0};
  size_t left = 1;  // 0 exactly at the end of a frame
  while (in.pos < in.size || left != 0) {
    ZSTD_outBuffer out = {buffer_.get(), kBufferBytes, 0};
    const size_t before = in.pos;
    left = ZSTD_decompressStream(context.get(), &out, &in);
    STROBE_RETURN_IF_ERROR(Flush(out.pos, in.pos));
    if (ZSTD_isError(left)) {
      const std::string_view what = ZSTD_getErrorName(left);
      if (what.find("memory") != std::string_view::npos) {
        return TooLarge("The data need a window of more than 128 MiB to inflate.");
      }
      return Corrupt(what);
    }
    const bool stuck = out.pos == 0 && in.pos == before;
    if (stuck && left != 0) return Truncated();
  }
  return OkStatus();
}

Status Inflater::Xz() {
  lzma_stream stream = LZMA_STREAM_INIT;
  STROBE_CHECK(lzma_stream_decoder(&stream, kXzMemoryBytes, LZMA_CONCATENATED) == LZMA_OK);
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> guard(&stream, &lzma_end);
  stream.next_in = reinterpret_cast<const uint8_t*>(input_.data());
  stream.avail_in = input_.size();
  while (true) {
    stream.next_out = reinterpret_cast<uint8_t*>(buffer_.get());
    stream.avail_out = kBufferBytes;
    const lzma_ret code = lzma_code(&stream, LZMA_FINISH);
    STROBE_RETURN_IF_ERROR(Flush(kBufferBytes - stream.avail_out, input_.size() - stream.avail_in));
    switch (code) {
      case LZMA_OK:
        continue;
      case LZMA_STREAM_END:
        return OkStatus();
      case LZMA_BUF_ERROR:
        return Truncated();
      case LZMA_MEMLIMIT_ERROR:
      case LZMA_MEM_ERROR:
        return TooLarge("The data need more than 256 MiB of memory to inflate.");
      case LZMA_FORMAT_ERROR:
        return Corrupt("no xz header");
      case LZMA_OPTIONS_ERROR:
        return Corrupt("options that this version does not know");
      default:
        return Corrupt("the contents or a checksum are wrong");
    }
  }
}

}  // namespace

std::string_view CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "plain";
    case Compression::kGzip:
      return "gzip";
    case Compression::kZstd:
      return "zstd";
    case Compression::kXz:
      return "xz";
  }
  return "unknown";
}

Compression DetectCompression(std::string_view head) {
  if (head.starts_with(std::string_view("\x1f\x8b", 2))) return Compression::kGzip;
  if (head.starts_with(std::string_view("\x28\xb5\x2f\xfd", 4))) return Compression::kZstd;
  if (head.starts_with(std::string_view("\xfd"
                                        "7zXZ\0",
                                        6)))
    return Compression::kXz;
  return Compression::kNone;
}

Result<Inflated> Inflate(Compression compression, std::string_view input,
                         const InflateLimits& limits, const ByteSink& sink,
                         const CancelToken& cancel, std::atomic<uint64_t>* read_bytes) {
  STROBE_CHECK(limits.max_ratio > 0);
  return Inflater(compression, input, limits, sink, cancel, read_bytes).Run();
}

std::string GzipCompress(std::string_view bytes) {
  const auto stream = std::make_unique<isal_zstream>();
  const std::unique_ptr<uint8_t[]> level_buffer(new uint8_t[ISAL_DEF_LVL1_DEFAULT]);
  isal_deflate_init(stream.get());
  stream->level = 1;
  stream->level_buf = level_buffer.get();
  stream->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
  stream->gzip_flag = IGZIP_GZIP;
  std::string out;
  // JSON shrinks to an eighth or so; the string grows when this was too little.
  out.reserve(bytes.size() / 6 + 64);
  const std::unique_ptr<uint8_t[]> buffer(new uint8_t[kBufferBytes]);
  do {
    const size_t step = std::min(kMaxStepBytes, bytes.size());
    stream->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));
    stream->avail_in = static_cast<uint32_t>(step);
    bytes.remove_prefix(step);
    stream->end_of_stream = bytes.empty() ? 1 : 0;
    do {
      stream->next_out = buffer.get();
      stream->avail_out = kBufferBytes;
      STROBE_CHECK(isal_deflate(stream.get()) == COMP_OK);
      out.append(reinterpret_cast<const char*>(buffer.get()), kBufferBytes - stream->avail_out);
    } while (stream->avail_out == 0 || stream->avail_in > 0);
  } while (!bytes.empty());
  STROBE_CHECK(stream->internal_state.state == ZSTATE_END);
  return out;
}

Result<std::string> ZstdCompress(std::string_view bytes) {
  constexpr int kLevel = 1;
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0) {
    return ResourceExhaustedError("COMPRESS_OUT_OF_MEMORY",
                                  "The compressor has no memory for the answer.")
        .Hint("Ask for a shorter part of the trace.");
  }
  out.resize(size);
  return out;
}

}  // namespace strobe::wire
