#include "src/hlo/text_attributes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "src/hlo/text_values.h"
#include "src/wire/wire_writer.h"

namespace strobe::hlo {
namespace {

using wire::AppendBytesField;
using wire::AppendSignedField;

constexpr uint32_t kDot = 30, kGather = 33, kSharding = 40, kScatter = 48, kPrecision = 51,
                   kTriangular = 59, kCholesky = 62, kFrontend = 68, kRagged = 90;

struct NamedField {
  std::string_view name;
  uint32_t field;
};

// Whole numbers.
constexpr NamedField kNumbers[] = {{"index", 13},
                                   {"inferred_dimension", 14},
                                   {"iota_dimension", 14},
                                   {"exponent_bits", 18},
                                   {"mantissa_bits", 19},
                                   {"feature_index", 25},
                                   {"channel_id", 26},
                                   {"feature_group_count", 50},
                                   {"batch_group_count", 58},
                                   {"delta", 66},
                                   {"cross_program_prefetch_index", 80},
                                   {"k", 81}};
constexpr NamedField kLists[] = {
    {"dimensions", 14}, {"dynamic_slice_sizes", 20}, {"fft_length", 32}, {"slice_sizes", 34}};
// true or false.
constexpr NamedField kFlags[] = {{"is_host_transfer", 47},
                                 {"constrain_layout", 56},
                                 {"is_stable", 60},
                                 {"custom_call_has_side_effect", 65},
                                 {"indices_are_sorted", 67},
                                 {"unique_indices", 69},
                                 {"use_global_device_ids", 71},
                                 {"largest", 85},
                                 {"is_composite", 89}};
// Words that are kept as they are.
constexpr NamedField kWords[] = {{"kind", 11}, {"direction", 63}, {"type", 72}};
constexpr NamedField kQuoted[] = {{"infeed_config", 27},
                                  {"outfeed_config", 22},
                                  {"custom_call_target", 28},
                                  {"async_execution_thread", 79}};

struct WordNumber {
  std::string_view key;
  uint32_t field;
  std::string_view word;
  int64_t number;
};
// Words that stand for a number.
constexpr WordNumber kEnums[] = {
    {"distribution", 23, "rng_uniform", 1},
    {"distribution", 23, "rng_normal", 2},
    {"algorithm", 70, "rng_default", 0},
    {"algorithm", 70, "rng_three_fry", 1},
    {"algorithm", 70, "rng_philox", 2},
    {"fft_type", 31, "FFT", 0},
    {"fft_type", 31, "IFFT", 1},
    {"fft_type", 31, "RFFT", 2},
    {"fft_type", 31, "IRFFT", 3},
    {"padding_type", 75, "PADDING_VALID", 1},
    {"padding_type", 75, "PADDING_SAME", 2},
    {"schedule", 76, "SCHEDULE_LATEST", 1},
    {"schedule", 76, "SCHEDULE_EARLIEST", 2},
    {"api_version", 77, "API_VERSION_ORIGINAL", 1},
    {"api_version", 77, "API_VERSION_STATUS_RETURNING", 2},
    {"api_version", 77, "API_VERSION_STATUS_RETURNING_UNIFIED", 3},
    {"api_version", 77, "API_VERSION_TYPED_FFI", 4},
};
constexpr std::string_view kDotAlgorithms[] = {
    "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",       "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",  "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32",     "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",       "dot_f64_f64_f64",
    "dot_bf16_bf16_f32_x9"};

// Lists within a message: name, message, field there.
struct GroupField {
  std::string_view name;
  uint32_t group;
  uint32_t field;
};
constexpr GroupField kGroupLists[] = {{"lhs_contracting_dims", kDot, 1},
                                      {"rhs_contracting_dims", kDot, 2},
                                      {"lhs_batch_dims", kDot, 3},
                                      {"rhs_batch_dims", kDot, 4},
                                      {"offset_dims", kGather, 1},
                                      {"collapsed_slice_dims", kGather, 2},
                                      {"start_index_map", kGather, 3},
                                      {"operand_batching_dims", kGather, 5},
                                      {"start_indices_batching_dims", kGather, 6},
                                      {"update_window_dims", kScatter, 1},
                                      {"inserted_window_dims", kScatter, 2},
                                      {"scatter_dims_to_operand_dims", kScatter, 3},
                                      {"input_batching_dims", kScatter, 5},
                                      {"scatter_indices_batching_dims", kScatter, 6},
                                      {"lhs_ragged_dims", kRagged, 2},
                                      {"rhs_group_dims", kRagged, 3}};

template <typename Table>
auto Find(const Table& table, std::string_view name) {
  return std::ranges::find_if(table, [&](const auto& entry) { return entry.name == name; });
}

Result<bool> Truth(TextCursor* cursor) {
  STROBE_ASSIGN_OR_RETURN(const std::string_view word, cursor->Name());
  if (word == "true" || word == "false") return word == "true";
  return cursor->Expected("true or false");
}

Result<double> Real(TextCursor* cursor) {
  size_t size = 0;
  cursor->SkipBlank();
  const std::string_view rest = cursor->rest();
  while (size < rest.size() && (IsNameChar(rest[size]) || rest[size] == '+')) ++size;
  const std::string text(rest.substr(0, size));
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (size == 0 || *end != '\0') return cursor->Expected("a number");
  cursor->Skip(size);
  return value;
}

}  // namespace

Status AttributeReader::Read(TextCursor* cursor) {
  std::string_view last_key;
  while (cursor->Take(",")) {
    cursor->SkipBlank();
    const TextCursor before = *cursor;
    STROBE_ASSIGN_OR_RETURN(const std::string_view key, cursor->Name());
    if (!cursor->Take("=")) {
      // Several computations of one attribute stand without braces.
      if (last_key != "calls") return cursor->Expected("\"=\" behind the name of an attribute");
      *cursor = before;
      STROBE_RETURN_IF_ERROR(ReadNames(cursor, wrapped_ ? &wrapped_calls : &calls));
      continue;
    }
    STROBE_RETURN_IF_ERROR(ReadOne(key, cursor));
    last_key = key;
    any_read_ = true;
  }
  return OkStatus();
}

Status AttributeReader::ReadOne(std::string_view key, TextCursor* cursor) {
  bool known = false;
  STROBE_RETURN_IF_ERROR(ReadCommon(key, cursor, &known));
  if (known) return OkStatus();
  if (IsCallKey(key)) return ReadCalls(key, cursor);
  STROBE_RETURN_IF_ERROR(ReadNumber(key, cursor, &known));
  if (!known) STROBE_RETURN_IF_ERROR(ReadDimensionNumbers(key, cursor, &known));
  if (!known) STROBE_RETURN_IF_ERROR(ReadStructured(key, cursor, &known));
  if (!known) STROBE_RETURN_IF_ERROR(ReadWord(key, cursor, &known));
  if (known) return OkStatus();
  unknown.push_back(key);
  STROBE_ASSIGN_OR_RETURN(const std::string_view value, cursor->Value());
  return value.empty() ? cursor->Expected("a value") : OkStatus();
}

// What every instruction may have.
Status AttributeReader::ReadCommon(std::string_view key, TextCursor* cursor, bool* known) {
  *known = true;
  std::string& own = wrapped_ ? outer_ : record_;
  if (key == "metadata") {
    std::string metadata;
    STROBE_RETURN_IF_ERROR(ReadMetadata(cursor, &metadata));
    AppendBytesField(7, metadata, &own);
  } else if (key == "backend_config") {
    if (cursor->Sees("{")) {
      STROBE_ASSIGN_OR_RETURN(const std::string_view config, cursor->Bracketed());
      AppendBytesField(43, config, &own);
    } else {
      STROBE_ASSIGN_OR_RETURN(const std::string config, cursor->QuotedText());
      AppendBytesField(43, config, &own);
    }
  } else if (key == "sharding") {
    // Of a wrapped instruction's two the first is its own, the last that of the async-start.
    if (has_sharding_) inner_sharding_ = std::move(sharding_);
    has_sharding_ = true;
    sharding_.clear();
    STROBE_RETURN_IF_ERROR(ReadSharding(cursor, max_depth_, &sharding_));
  } else if (key == "frontend_attributes") {
    if (has_frontend_) inner_frontend_ = std::move(frontend_);
    has_frontend_ = true;
    frontend_.clear();
    STROBE_RETURN_IF_ERROR(ReadFrontendAttributes(cursor, &frontend_));
  } else if (key == "control-predecessors") {
    STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
    if (!cursor->Take("}")) {
      STROBE_RETURN_IF_ERROR(ReadNames(cursor, &controls));
      STROBE_RETURN_IF_ERROR(cursor->Expect("}"));
    }
  } else if (key == "output_to_operand_aliasing") {
    // That of the async-start stands before everything else.
    STROBE_RETURN_IF_ERROR(ReadOutputAliasing(cursor, wrapped_ && !any_read_ ? &outer_ : &record_));
  } else {
    *known = false;
  }
  return OkStatus();
}

bool AttributeReader::IsCallKey(std::string_view key) const {
  constexpr std::string_view kKeys[] = {"calls",
                                        "to_apply",
                                        "condition",
                                        "body",
                                        "select",
                                        "scatter",
                                        "true_computation",
                                        "false_computation",
                                        "branch_computations",
                                        "called_computations"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

Status AttributeReader::ReadNames(TextCursor* cursor, std::vector<TextName>* names) {
  do {
    cursor->SkipBlank();
    const TextCursor place = *cursor;
    STROBE_ASSIGN_OR_RETURN(const std::string_view name, cursor->Name());
    names->push_back({name, place});
    TextCursor ahead = *cursor;
    // A comma may begin the next attribute.
    if (!ahead.Take(",")) break;
    const Result<std::string_view> next = ahead.Name();
    if (!next.ok() || ahead.Sees("=")) break;
    cursor->Take(",");
  } while (true);
  return OkStatus();
}

Status AttributeReader::ReadCalls(std::string_view key, TextCursor* cursor) {
  std::vector<TextName> names;
  const bool braces = cursor->Take("{");
  if (!braces || !cursor->Sees("}")) STROBE_RETURN_IF_ERROR(ReadNames(cursor, &names));
  if (braces) STROBE_RETURN_IF_ERROR(cursor->Expect("}"));
  std::vector<TextName>& all = wrapped_ ? wrapped_calls : calls;
  // In the bytes the body of a loop stands before its condition.
  const bool first = key == "body" && all.size() == 1;
  all.insert(first ? all.begin() : all.end(), names.begin(), names.end());
  return OkStatus();
}

Status AttributeReader::ReadNumber(std::string_view key, TextCursor* cursor, bool* known) {
  *known = true;
  if (const auto number = Find(kNumbers, key); number != std::end(kNumbers)) {
    STROBE_ASSIGN_OR_RETURN(const int64_t value, cursor->Integer());
    AppendSignedField(number->field, value, &record_);
  } else if (const auto list = Find(kLists, key); list != std::end(kLists)) {
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> values, cursor->IntegerList('{', '}'));
    AppendPackedField(list->field, values, &record_);
  } else if (const auto flag = Find(kFlags, key); flag != std::end(kFlags)) {
    STROBE_ASSIGN_OR_RETURN(const bool truth, Truth(cursor));
    AppendSignedField(flag->field, truth ? 1 : 0, &record_);
  } else if (key == "epsilon") {
    STROBE_ASSIGN_OR_RETURN(const double value, Real(cursor));
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    wire::AppendTag(24, wire::WireType::kFixed32, &record_);
    for (int i = 0; i < 4; ++i) record_.push_back(static_cast<char>(bits >> (8 * i)));
  } else {
    *known = false;
  }
  return OkStatus();
}

Status AttributeReader::ReadDimensionNumbers(std::string_view key, TextCursor* cursor,
                                             bool* known) {
  *known = true;
  if (const auto list = Find(kGroupLists, key); list != std::end(kGroupLists)) {
    STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> values, cursor->IntegerList('{', '}'));
    AppendPackedField(list->field, values, &groups_[list->group]);
  } else if (key == "index_vector_dim") {
    STROBE_ASSIGN_OR_RETURN(const int64_t value, cursor->Integer());
    AppendSignedField(4, value, &groups_[opcode_ == Opcode::kScatter ? kScatter : kGather]);
  } else if (key == "lower" || key == "left_side" || key == "unit_diagonal") {
    STROBE_ASSIGN_OR_RETURN(const bool truth, Truth(cursor));
    const bool cholesky = opcode_ == Opcode::kCholesky;
    const uint32_t field = cholesky || key == "left_side" ? 1 : key == "lower" ? 2 : 3;
    AppendSignedField(field, truth ? 1 : 0, &groups_[cholesky ? kCholesky : kTriangular]);
  } else if (key == "transpose_a") {
    constexpr std::string_view kNames[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
                                           "ADJOINT"};
    STROBE_ASSIGN_OR_RETURN(const std::string_view word, cursor->Name());
    const auto name = std::ranges::find(kNames, word);
    if (name == std::end(kNames)) return cursor->Expected("a kind of transposition");
    AppendSignedField(4, name - std::begin(kNames), &groups_[kTriangular]);
  } else {
    *known = false;
  }
  return OkStatus();
}

Status AttributeReader::ReadStructured(std::string_view key, TextCursor* cursor, bool* known) {
  *known = true;
  std::string message;
  if (key == "window") {
    STROBE_RETURN_IF_ERROR(ReadWindowText(cursor, &message));
    AppendBytesField(15, message, &record_);
  } else if (key == "dim_labels" || key == "padding") {
    if (key == "padding" && (cursor->Sees(",") || cursor->Sees("\n") || cursor->AtEnd())) {
      AppendBytesField(21, message, &record_);
      return OkStatus();
    }
    STROBE_ASSIGN_OR_RETURN(const std::string_view value, cursor->Value());
    TextCursor part = cursor->Within(value);
    if (key == "padding") {
      STROBE_RETURN_IF_ERROR(ReadPaddingText(&part, &message));
    } else {
      STROBE_RETURN_IF_ERROR(ReadDimensionLabels(&part, &message));
    }
    AppendBytesField(key == "padding" ? 21 : 16, message, &record_);
  } else if (key == "slice") {
    STROBE_RETURN_IF_ERROR(ReadSlices(cursor));
  } else if (key == "operand_precision") {
    STROBE_RETURN_IF_ERROR(ReadPrecision(cursor));
  } else if (key == "replica_groups") {
    STROBE_RETURN_IF_ERROR(ReadDeviceGroups(cursor, &record_));
  } else if (key == "source_target_pairs") {
    STROBE_RETURN_IF_ERROR(ReadSourceTargets(cursor, &record_));
  } else if (key == "parameter_replication") {
    STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
    std::vector<int64_t> flags;
    while (!cursor->Take("}")) {
      if (!flags.empty()) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
      STROBE_ASSIGN_OR_RETURN(const bool truth, Truth(cursor));
      flags.push_back(truth ? 1 : 0);
    }
    AppendPackedField(1, flags, &message);
    AppendBytesField(61, message, &record_);
  } else if (key == "outfeed_shape") {
    STROBE_RETURN_IF_ERROR(ReadShapeText(cursor, max_depth_, &message));
    AppendBytesField(29, message, &record_);
  } else if (key == "operand_layout_constraints") {
    STROBE_RETURN_IF_ERROR(ReadLayoutConstraints(cursor));
  } else if (key == "domain") {
    STROBE_RETURN_IF_ERROR(ReadDomain(cursor));
  } else if (key == "result_accuracy") {
    STROBE_RETURN_IF_ERROR(ReadAccuracy(cursor));
  } else {
    *known = false;
  }
  return OkStatus();
}

Status AttributeReader::ReadWord(std::string_view key, TextCursor* cursor, bool* known) {
  *known = true;
  if (const auto quoted = Find(kQuoted, key); quoted != std::end(kQuoted)) {
    STROBE_ASSIGN_OR_RETURN(const std::string text, cursor->QuotedText());
    const bool thread = key == "async_execution_thread";
    AppendBytesField(quoted->field, text, thread && wrapped_ ? &outer_ : &record_);
    return OkStatus();
  }
  TextCursor ahead = *cursor;
  const Result<std::string_view> word = ahead.Name();
  if (!word.ok()) {
    *known = false;
    return OkStatus();
  }
  if (const auto plain = Find(kWords, key); plain != std::end(kWords)) {
    AppendBytesField(plain->field, *word, &record_);
    *cursor = ahead;
    return OkStatus();
  }
  for (const WordNumber& entry : kEnums) {
    if (entry.key != key || entry.word != *word) continue;
    AppendSignedField(entry.field, entry.number, &record_);
    *cursor = ahead;
    return OkStatus();
  }
  const auto dot = std::ranges::find(kDotAlgorithms, *word);
  if (key == "algorithm" && dot != std::end(kDotAlgorithms)) {
    AppendSignedField(2, dot - std::begin(kDotAlgorithms) + 1, &groups_[kPrecision]);
    *cursor = ahead;
    return OkStatus();
  }
  *known = false;
  return OkStatus();
}

Status AttributeReader::ReadSlices(TextCursor* cursor) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  for (bool first = true; !cursor->Take("}"); first = false) {
    if (!first) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    STROBE_RETURN_IF_ERROR(cursor->Expect("["));
    std::string slice;
    STROBE_ASSIGN_OR_RETURN(const int64_t start, cursor->Integer());
    STROBE_RETURN_IF_ERROR(cursor->Expect(":"));
    STROBE_ASSIGN_OR_RETURN(const int64_t limit, cursor->Integer());
    int64_t stride = 1;
    if (cursor->Take(":")) {
      STROBE_ASSIGN_OR_RETURN(stride, cursor->Integer());
    }
    STROBE_RETURN_IF_ERROR(cursor->Expect("]"));
    AppendSignedField(1, start, &slice);
    AppendSignedField(2, limit, &slice);
    AppendSignedField(3, stride, &slice);
    AppendBytesField(17, slice, &record_);
  }
  return OkStatus();
}

Status AttributeReader::ReadPrecision(TextCursor* cursor) {
  constexpr std::string_view kNames[] = {"default", "high", "highest", "packed_nibble"};
  std::vector<int64_t> precisions;
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  while (!cursor->Take("}")) {
    if (!precisions.empty()) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    STROBE_ASSIGN_OR_RETURN(const std::string_view word, cursor->Name());
    const auto name = std::ranges::find(kNames, word);
    if (name == std::end(kNames)) return cursor->Expected("default, high or highest");
    precisions.push_back(name - std::begin(kNames));
  }
  AppendPackedField(1, precisions, &groups_[kPrecision]);
  return OkStatus();
}

Status AttributeReader::ReadLayoutConstraints(TextCursor* cursor) {
  AppendSignedField(56, 1, &record_);
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  for (bool first = true; !cursor->Take("}"); first = false) {
    if (!first) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    std::string shape;
    STROBE_RETURN_IF_ERROR(ReadShapeText(cursor, max_depth_, &shape));
    AppendBytesField(57, shape, &record_);
  }
  return OkStatus();
}

Status AttributeReader::ReadDomain(TextCursor* cursor) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  STROBE_RETURN_IF_ERROR(cursor->Expect("kind=\"sharding\""));
  for (const auto& [name, field] : {std::pair{"entry=", 54u}, std::pair{"exit=", 55u}}) {
    STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    STROBE_RETURN_IF_ERROR(cursor->Expect(name));
    std::string sharding;
    STROBE_RETURN_IF_ERROR(ReadSharding(cursor, max_depth_, &sharding));
    AppendBytesField(field, sharding, &record_);
  }
  return cursor->Expect("}");
}

Status AttributeReader::ReadAccuracy(TextCursor* cursor) {
  std::string accuracy;
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  if (cursor->Take("mode=highest")) {
    AppendSignedField(1, 1, &accuracy);
  } else {
    STROBE_RETURN_IF_ERROR(cursor->Expect("tolerance={"));
    std::string tolerance;
    STROBE_RETURN_IF_ERROR(cursor->Expect("atol="));
    STROBE_ASSIGN_OR_RETURN(const double absolute, Real(cursor));
    STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    STROBE_RETURN_IF_ERROR(cursor->Expect("rtol="));
    STROBE_ASSIGN_OR_RETURN(const double relative, Real(cursor));
    STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    STROBE_RETURN_IF_ERROR(cursor->Expect("ulps="));
    STROBE_ASSIGN_OR_RETURN(const int64_t ulps, cursor->Integer());
    STROBE_RETURN_IF_ERROR(cursor->Expect("}"));
    wire::AppendDoubleField(1, absolute, &tolerance);
    wire::AppendDoubleField(2, relative, &tolerance);
    AppendSignedField(3, ulps, &tolerance);
    AppendBytesField(2, tolerance, &accuracy);
  }
  AppendBytesField(91, accuracy, &record_);
  return cursor->Expect("}");
}

std::string AttributeReader::TakeRecord() {
  std::string& own = wrapped_ ? outer_ : record_;
  if (has_sharding_) AppendBytesField(kSharding, sharding_, &own);
  if (has_frontend_) AppendBytesField(kFrontend, frontend_, &own);
  if (wrapped_) return std::move(outer_);
  for (const auto& [field, message] : groups_) {
    if (field == kDot && opcode_ == Opcode::kRaggedDot) continue;
    if (field == kRagged) continue;
    AppendBytesField(field, message, &record_);
  }
  if (opcode_ == Opcode::kRaggedDot) {
    std::string ragged;
    AppendBytesField(1, groups_[kDot], &ragged);
    ragged += groups_[kRagged];
    AppendBytesField(kRagged, ragged, &record_);
  }
  return std::move(record_);
}

std::string AttributeReader::TakeWrappedRecord() {
  for (const auto& [field, message] : groups_) AppendBytesField(field, message, &record_);
  if (!inner_sharding_.empty()) AppendBytesField(kSharding, inner_sharding_, &record_);
  if (!inner_frontend_.empty()) AppendBytesField(kFrontend, inner_frontend_, &record_);
  return std::move(record_);
}

}  // namespace strobe::hlo
