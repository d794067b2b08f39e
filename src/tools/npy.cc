#include "src/tools/npy.h"

#include <charconv>
#include <optional>

namespace strobe::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxDimensions = 32;
constexpr size_t kHeaderAlignmentBytes = 64;

Status Malformed(const std::string& what) {
  return InvalidArgumentError("NPY_MALFORMED", "This is no NumPy file: " + what + ".")
      .Hint("Expected what numpy.save writes.");
}

// The text behind `'key':` in the header, which is a Python dictionary of three entries.
std::optional<std::string_view> ValueOf(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string wanted = quote + std::string(key) + quote;
    const size_t at = header.find(wanted);
    if (at == std::string_view::npos) continue;
    size_t begin = header.find(':', at + wanted.size());
    if (begin == std::string_view::npos) return std::nullopt;
    begin = header.find_first_not_of(' ', begin + 1);
    if (begin == std::string_view::npos) return std::nullopt;
    return header.substr(begin);
  }
  return std::nullopt;
}

Result<std::vector<uint64_t>> ShapeOf(std::string_view text) {
  if (text.empty() || text[0] != '(') return Malformed("its shape is not a tuple");
  std::vector<uint64_t> shape;
  size_t at = 1;
  while (at < text.size() && text[at] != ')') {
    if (text[at] == ' ' || text[at] == ',') {
      ++at;
      continue;
    }
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
    if (error != std::errc() || shape.size() == kMaxDimensions) {
      return Malformed("its shape holds something else than up to " +
                       std::to_string(kMaxDimensions) + " sizes");
    }
    shape.push_back(size);
    at = static_cast<size_t>(end - text.data());
  }
  if (at >= text.size()) return Malformed("its shape does not end");
  return shape;
}

struct TypeCode {
  char code;
  uint32_t size_bytes;
  std::string_view name;
};
constexpr TypeCode kTypeCodes[] = {
    {'b', 1, "bool"},   {'i', 1, "int8"},    {'i', 2, "int16"},   {'i', 4, "int32"},
    {'i', 8, "int64"},  {'u', 1, "uint8"},   {'u', 2, "uint16"},  {'u', 4, "uint32"},
    {'u', 8, "uint64"}, {'f', 2, "float16"}, {'f', 4, "float32"}, {'f', 8, "float64"},
};

Status TypeUnknown(std::string_view text, const NumberFormat* assumed) {
  return InvalidArgumentError(
             "NPY_TYPE_UNKNOWN",
             "Elements of type " + std::string(text.substr(0, 16)) +
                 (assumed == nullptr ? " are not numbers that are known."
                                     : " are not " + std::string(assumed->name) + "."))
      .Hint("For types of accelerators say which, such as --dtype_str bfloat16.");
}

Result<const NumberFormat*> TypeOf(std::string_view text, const NumberFormat* assumed) {
  if (text.size() < 4 || (text[0] != '\'' && text[0] != '"')) return TypeUnknown(text, assumed);
  text = text.substr(1, text.find(text[0], 1) - 1);
  if (text.size() < 2) return TypeUnknown(text, assumed);
  const bool has_order = text[0] == '<' || text[0] == '>' || text[0] == '|' || text[0] == '=';
  const std::string_view bare = has_order ? text.substr(1) : text;
  uint32_t size_bytes = 0;
  const auto parsed = std::from_chars(bare.data() + 1, bare.data() + bare.size(), size_bytes);
  if (parsed.ec != std::errc()) {
    // Newer writers give accelerator types by name.
    const NumberFormat* named = FindNumberFormat(bare);
    if (named != nullptr) return named;
    return TypeUnknown(text, assumed);
  }
  for (const TypeCode& type : kTypeCodes) {
    if (bare[0] == type.code && size_bytes == type.size_bytes) return FindNumberFormat(type.name);
  }
  if ((bare[0] == 'V' || bare[0] == 'f') && assumed != nullptr &&
      assumed->size_bytes == size_bytes) {
    return assumed;
  }
  return TypeUnknown(text, assumed);
}

}  // namespace

uint64_t NpyTensor::BitsAt(uint64_t index) const {
  const uint32_t size = format->size_bytes;
  const char* at = data.data() + index * size;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t place = big_endian ? size - 1 - i : i;
    bits |= static_cast<uint64_t>(static_cast<unsigned char>(at[place])) << (8 * i);
  }
  return bits;
}

Result<NpyTensor> ReadNpy(std::string_view bytes, const NumberFormat* assumed) {
  if (!bytes.starts_with(kMagic) || bytes.size() < 10)
    return Malformed("its first bytes are other ones");
  const auto byte = [&](size_t at) {
    return static_cast<size_t>(static_cast<unsigned char>(bytes[at]));
  };
  const size_t version = byte(6);
  if (version < 1 || version > 3)
    return Malformed("its version is " + std::to_string(version) + ", known are 1 to 3");
  size_t begin = 10;
  size_t header_bytes = byte(8) | byte(9) << 8;
  if (version > 1) {
    if (bytes.size() < 12) return Malformed("it ends within the header");
    header_bytes |= byte(10) << 16 | byte(11) << 24;
    begin = 12;
  }
  if (header_bytes > bytes.size() - begin) return Malformed("it ends within the header");
  const std::string_view header = bytes.substr(begin, header_bytes);
  const std::optional<std::string_view> type = ValueOf(header, "descr");
  const std::optional<std::string_view> order = ValueOf(header, "fortran_order");
  const std::optional<std::string_view> shape = ValueOf(header, "shape");
  if (!type || !order || !shape) return Malformed("its header lacks descr, fortran_order or shape");
  NpyTensor tensor;
  STROBE_ASSIGN_OR_RETURN(tensor.format, TypeOf(*type, assumed));
  STROBE_ASSIGN_OR_RETURN(tensor.shape, ShapeOf(*shape));
  tensor.column_major = order->starts_with("True");
  tensor.big_endian = type->size() > 1 && (*type)[1] == '>';
  tensor.data = bytes.substr(begin + header_bytes);
  const uint64_t held = tensor.data.size() / tensor.format->size_bytes;
  tensor.count = 1;
  for (const uint64_t size : tensor.shape) {
    if (size != 0 && tensor.count > held / size)
      tensor.count = held + 1;  // more than there is
    else
      tensor.count *= size;
  }
  if (tensor.count > held) {
    return DataLossError("NPY_TRUNCATED", "The file ends before its last element: " +
                                              std::to_string(held) + " elements are there.")
        .Hint("Write the tensor again.");
  }
  tensor.data = tensor.data.substr(0, tensor.count * tensor.format->size_bytes);
  return tensor;
}

std::string NpyFile(const NumberFormat& format, std::span<const uint64_t> shape,
                    std::span<const uint64_t> values) {
  std::string type = "|V" + std::to_string(format.size_bytes);
  for (const TypeCode& code : kTypeCodes) {
    if (code.name == format.name) {
      type = (code.size_bytes == 1 ? '|' : '<') + std::string(1, code.code) +
             std::to_string(code.size_bytes);
    }
  }
  std::string sizes;
  for (const uint64_t size : shape) sizes += std::to_string(size) + ",";
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  const size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append((kHeaderAlignmentBytes - unpadded % kHeaderAlignmentBytes) % kHeaderAlignmentBytes,
                ' ');
  header += '\n';
  std::string file(kMagic);
  file += '\x01';
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  for (const uint64_t bits : values) {
    for (uint32_t i = 0; i < format.size_bytes; ++i)
      file += static_cast<char>(bits >> (8 * i) & 0xff);
  }
  return file;
}

}  // namespace strobe::tools
