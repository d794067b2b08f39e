// Attributes of instructions, opcode by opcode, in the order in which the compiler writes them.
#include <string>

#include "src/hlo/attribute_text.h"
#include "src/hlo/hlo_printer.h"

namespace strobe::hlo {
namespace {

// Field numbers of an instruction.
enum Field : uint32_t {
  kFusionKind = 11,
  kDimensions = 14,
  kWindow = 15,
  kConvolution = 16,
  kSlices = 17,
  kExponentBits = 18,
  kMantissaBits = 19,
  kDynamicSliceSizes = 20,
  kPaddingConfig = 21,
  kOutfeedConfig = 22,
  kDistribution = 23,
  kEpsilon = 24,
  kFeatureIndex = 25,
  kChannelId = 26,
  kInfeedConfig = 27,
  kTarget = 28,
  kOutfeedShape = 29,
  kDot = 30,
  kFftType = 31,
  kFftLength = 32,
  kGather = 33,
  kGatherSizes = 34,
  kSharding = 40,
  kHostTransfer = 47,
  kScatter = 48,
  kReplicaGroups = 49,
  kFeatureGroups = 50,
  kPrecision = 51,
  kDomainEntry = 54,
  kDomainExit = 55,
  kConstrainLayout = 56,
  kOperandShapes = 57,
  kBatchGroups = 58,
  kTriangular = 59,
  kStable = 60,
  kReplication = 61,
  kCholesky = 62,
  kDirection = 63,
  kSideEffect = 65,
  kDelta = 66,
  kSorted = 67,
  kFrontend = 68,
  kUnique = 69,
  kRngAlgorithm = 70,
  kGlobalIds = 71,
  kComparisonType = 72,
  kAliasing = 74,
  kPaddingType = 75,
  kSchedule = 76,
  kApiVersion = 77,
  kAsyncThread = 79,
  kPrefetch = 80,
  kTopK = 81,
  kLargest = 85,
  kComposite = 89,
  kRaggedDot = 90,
  kAccuracy = 91,
};

class AttributeWriter {
 public:
  AttributeWriter(const HloModule& module, uint32_t index, const PrintOptions& options,
                  std::string* out)
      : module_(module),
        index_(index),
        instruction_(module.instruction(index)),
        options_(options),
        record_(instruction_.record),
        out_(out) {}

  void Write() {
    OwnAttributes();
    if (options_.calls) Calls();
    if (record_.Has(kSharding)) AppendSharding(record_.Bytes(kSharding), Key("sharding"));
    std::string frontend;
    if (AppendFrontendAttributes(record_.Bytes(kFrontend), &frontend)) {
      Key("frontend_attributes")->append(frontend);
    }
    if (options_.control_predecessors) ControlPredecessors();
  }

 private:
  std::string* Key(std::string_view name) {
    out_->append(options_.separator).append(name).append("=");
    return out_;
  }
  void Number(std::string_view name, uint32_t field) {
    Key(name)->append(std::to_string(record_.Int(field)));
  }
  void True(std::string_view name, uint32_t field) {
    if (record_.Bool(field)) Key(name)->append("true");
  }
  void List(std::string_view name, const std::vector<int64_t>& values) {
    AppendBraced(values, Key(name));
  }
  void ListUnlessEmpty(std::string_view name, const std::vector<int64_t>& values) {
    if (!values.empty()) List(name, values);
  }
  void Name(std::string_view name) {
    if (options_.percent) out_->push_back('%');
    out_->append(name);
  }

  void OwnAttributes();
  bool WriteCollective();
  bool WriteRare();
  void ConvolutionFields();
  void Precision();
  void Compare();
  void Part(std::string_view name, const std::vector<int64_t>& dimensions, bool always,
            bool* first);
  void Dot(const Message& numbers);
  void Gather();
  void Scatter();
  void Slices();
  void CustomCall();
  void Async();
  void Calls();
  void CallList(std::string_view name, bool braces);
  void ControlPredecessors();
  void Accuracy();

  const HloModule& module_;
  const uint32_t index_;
  const Instruction& instruction_;
  const PrintOptions& options_;
  const Message record_;
  std::string* out_;
};

void AttributeWriter::OwnAttributes() {
  switch (instruction_.opcode) {
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
    case Opcode::kConcatenate:
    case Opcode::kReduce:
    case Opcode::kReverse:
    case Opcode::kMap:
    case Opcode::kSetDimensionSize:
    case Opcode::kGetDimensionSize:
      List("dimensions", record_.Ints(kDimensions));
      break;
    case Opcode::kSort:
      List("dimensions", record_.Ints(kDimensions));
      True("is_stable", kStable);
      break;
    case Opcode::kReshape:
      if (record_.Has(kDimensions)) {
        const auto dimensions = record_.Ints(kDimensions);
        if (!dimensions.empty() && dimensions[0] != -1) {
          Key("inferred_dimension")->append(std::to_string(dimensions[0]));
        }
      }
      break;
    case Opcode::kIota: {
      const auto dimensions = record_.Ints(kDimensions);
      Key("iota_dimension")->append(std::to_string(dimensions.empty() ? 0 : dimensions[0]));
      break;
    }
    case Opcode::kGetTupleElement:
      Key("index")->append(std::to_string(instruction_.number));
      break;
    case Opcode::kFusion:
      Key("kind")->append(record_.Bytes(kFusionKind));
      if (record_.Has(kAliasing)) {
        AppendOutputAliasing(record_.All(kAliasing), Key("output_to_operand_aliasing"));
      }
      break;
    case Opcode::kCompare:
      Compare();
      break;
    case Opcode::kConvolution:
      ConvolutionFields();
      Precision();
      break;
    case Opcode::kDot:
      Dot(Message(record_.Bytes(kDot)));
      Precision();
      break;
    case Opcode::kDynamicSlice:
      List("dynamic_slice_sizes", record_.Ints(kDynamicSliceSizes));
      break;
    case Opcode::kSlice:
      Slices();
      break;
    case Opcode::kPad:
      AppendPadding(record_.Bytes(kPaddingConfig), Key("padding"));
      break;
    case Opcode::kGather:
      Gather();
      break;
    case Opcode::kScatter:
      Scatter();
      break;
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      if (record_.Has(kWindow)) AppendWindow(record_.Bytes(kWindow), Key("window"));
      break;
    case Opcode::kCustomCall:
      CustomCall();
      break;
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      Async();
      break;
    default:
      if (!WriteCollective() && !WriteRare()) Accuracy();
      break;
  }
}

bool AttributeWriter::WriteCollective() {
  const Opcode opcode = instruction_.opcode;
  const auto channel = [this] {
    if (record_.Int(kChannelId) > 0) Number("channel_id", kChannelId);
  };
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kReduceScatter:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kRaggedAllToAll:
      channel();
      AppendDeviceGroups(record_, Key("replica_groups"), options_.groups_as_reference);
      True("constrain_layout", kConstrainLayout);
      if (opcode == Opcode::kAllReduce || opcode == Opcode::kAllReduceStart ||
          opcode == Opcode::kReduceScatter) {
        True("use_global_device_ids", kGlobalIds);
      }
      ListUnlessEmpty("dimensions", record_.Ints(kDimensions));
      if (opcode == Opcode::kAllGather || opcode == Opcode::kAllGatherStart) {
        True("use_global_device_ids", kGlobalIds);
      }
      return true;
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      channel();
      AppendSourceTargets(record_, Key("source_target_pairs"));
      return true;
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
      channel();
      True("is_host_transfer", kHostTransfer);
      return true;
    default:
      return false;
  }
}

bool AttributeWriter::WriteRare() {
  const auto flag = [this](const Message& options, std::string_view name, uint32_t field) {
    if (options.Bool(field)) Key(name)->append("true");
  };
  switch (instruction_.opcode) {
    case Opcode::kCopyStart:
      if (record_.Has(kPrefetch)) Number("cross_program_prefetch_index", kPrefetch);
      return true;
    case Opcode::kParameter: {
      const auto flags = Message(record_.Bytes(kReplication)).Ints(1);
      if (flags.empty()) return true;
      Key("parameter_replication")->push_back('{');
      for (size_t i = 0; i < flags.size(); ++i) {
        if (i > 0) out_->push_back(',');
        out_->append(flags[i] != 0 ? "true" : "false");
      }
      out_->push_back('}');
      return true;
    }
    case Opcode::kRng:
      Key("distribution")->append(record_.Int(kDistribution) == 2 ? "rng_normal" : "rng_uniform");
      return true;
    case Opcode::kRngBitGenerator: {
      const int64_t algorithm = record_.Int(kRngAlgorithm);
      Key("algorithm")
          ->append(algorithm == 1   ? "rng_three_fry"
                   : algorithm == 2 ? "rng_philox"
                                    : "rng_default");
      return true;
    }
    case Opcode::kRngGetAndUpdateState:
      Number("delta", kDelta);
      return true;
    case Opcode::kTopK:
      Number("k", kTopK);
      Key("largest")->append(record_.Bool(kLargest) ? "true" : "false");
      return true;
    case Opcode::kInfeed:
    case Opcode::kOutfeed: {
      const bool in = instruction_.opcode == Opcode::kInfeed;
      if (!in && record_.Has(kOutfeedShape)) {
        int64_t budget = 10'000;  // shapes in one outfeed
        const auto shape = ParseShapeMessage(record_.Bytes(kOutfeedShape), &budget);
        if (shape.ok()) AppendShape(*shape, true, Key("outfeed_shape"));
      }
      const std::string_view config = record_.Bytes(in ? kInfeedConfig : kOutfeedConfig);
      if (config.empty()) return true;
      Key(in ? "infeed_config" : "outfeed_config")->push_back('"');
      AppendEscaped(config, out_);
      out_->push_back('"');
      return true;
    }
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining: {
      char buffer[40];
      std::snprintf(buffer, sizeof(buffer), "%.6g", record_.Float(kEpsilon));
      Key("epsilon")->append(buffer);
      Number("feature_index", kFeatureIndex);
      return true;
    }
    case Opcode::kFft: {
      constexpr std::string_view kNames[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
      Key("fft_type")->append(kNames[record_.Int(kFftType) & 3]);
      List("fft_length", record_.Ints(kFftLength));
      return true;
    }
    case Opcode::kReducePrecision:
      Number("exponent_bits", kExponentBits);
      Number("mantissa_bits", kMantissaBits);
      return true;
    case Opcode::kTriangularSolve: {
      const Message options(record_.Bytes(kTriangular));
      constexpr std::string_view kNames[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
                                             "ADJOINT"};
      flag(options, "left_side", 1);
      flag(options, "lower", 2);
      flag(options, "unit_diagonal", 3);
      Key("transpose_a")->append(kNames[options.Int(4) & 3]);
      return true;
    }
    case Opcode::kCholesky:
      flag(Message(record_.Bytes(kCholesky)), "lower", 1);
      return true;
    case Opcode::kDomain:
      Key("domain")->append("{kind=\"sharding\", entry=");
      AppendSharding(record_.Bytes(kDomainEntry), out_);
      out_->append(", exit=");
      AppendSharding(record_.Bytes(kDomainExit), out_);
      out_->push_back('}');
      return true;
    case Opcode::kRaggedDot: {
      const Message numbers(record_.Bytes(kRaggedDot));
      Dot(Message(numbers.Bytes(1)));
      ListUnlessEmpty("lhs_ragged_dims", numbers.Ints(2));
      ListUnlessEmpty("rhs_group_dims", numbers.Ints(3));
      Precision();
      return true;
    }
    default:
      return false;
  }
}

void AttributeWriter::ConvolutionFields() {
  if (!Message(record_.Bytes(kWindow)).All(1).empty()) {
    AppendWindow(record_.Bytes(kWindow), Key("window"));
  }
  if (record_.Has(kConvolution)) {
    AppendDimensionLabels(record_.Bytes(kConvolution), Key("dim_labels"));
  }
  if (record_.Int(kFeatureGroups, 1) > 1) Number("feature_group_count", kFeatureGroups);
  if (record_.Int(kBatchGroups, 1) > 1) Number("batch_group_count", kBatchGroups);
}

void AttributeWriter::Precision() {
  const Message config(record_.Bytes(kPrecision));
  constexpr std::string_view kNames[] = {"default", "high", "highest", "packed_nibble"};
  const auto precisions = config.Ints(1);
  bool all_default = true;
  for (const int64_t precision : precisions) all_default = all_default && precision == 0;
  if (!all_default) {
    Key("operand_precision")->push_back('{');
    for (size_t i = 0; i < precisions.size(); ++i) {
      if (i > 0) out_->push_back(',');
      out_->append(kNames[precisions[i] & 3]);
    }
    out_->push_back('}');
  }
  constexpr std::string_view kAlgorithms[] = {"",
                                              "dot_any_f8_any_f8_f32",
                                              "dot_any_f8_any_f8_f32_fast_accum",
                                              "dot_f16_f16_f16",
                                              "dot_f16_f16_f32",
                                              "dot_bf16_bf16_bf16",
                                              "dot_bf16_bf16_f32",
                                              "dot_bf16_bf16_f32_x3",
                                              "dot_bf16_bf16_f32_x6",
                                              "dot_tf32_tf32_f32",
                                              "dot_tf32_tf32_f32_x3",
                                              "dot_f32_f32_f32",
                                              "dot_f64_f64_f64",
                                              "dot_bf16_bf16_f32_x9"};
  const auto algorithm = static_cast<size_t>(config.Int(2));
  if (algorithm > 0 && algorithm < std::size(kAlgorithms)) {
    Key("algorithm")->append(kAlgorithms[algorithm]);
  }
}

void AttributeWriter::Compare() {
  Key("direction")->append(record_.Bytes(kDirection));
  const std::string_view type = record_.Bytes(kComparisonType);
  const auto operands = module_.operands(index_);
  if (type.empty() || operands.empty()) return;
  const ElementType element = module_.shape_of(operands[0]).type;
  const std::string_view usual = IsFloat(element) || IsComplex(element) ? "FLOAT"
                                 : IsSignedInteger(element)             ? "SIGNED"
                                                                        : "UNSIGNED";
  if (type != usual) Key("type")->append(type);
}

void AttributeWriter::Part(std::string_view name, const std::vector<int64_t>& dimensions,
                           bool always, bool* first) {
  if (dimensions.empty() && !always) return;
  // One attribute with several parts: the separator stands only before the first.
  out_->append(*first ? options_.separator : ", ").append(name).append("=");
  *first = false;
  AppendBraced(dimensions, out_);
}

void AttributeWriter::Dot(const Message& numbers) {
  bool first = true;
  Part("lhs_batch_dims", numbers.Ints(3), false, &first);
  Part("lhs_contracting_dims", numbers.Ints(1), true, &first);
  Part("rhs_batch_dims", numbers.Ints(4), false, &first);
  Part("rhs_contracting_dims", numbers.Ints(2), true, &first);
}

void AttributeWriter::Gather() {
  const Message numbers(record_.Bytes(kGather));
  bool first = true;
  Part("offset_dims", numbers.Ints(1), true, &first);
  Part("collapsed_slice_dims", numbers.Ints(2), true, &first);
  Part("start_index_map", numbers.Ints(3), true, &first);
  Part("operand_batching_dims", numbers.Ints(5), false, &first);
  Part("start_indices_batching_dims", numbers.Ints(6), false, &first);
  out_->append(", index_vector_dim=").append(std::to_string(numbers.Int(4)));
  List("slice_sizes", record_.Ints(kGatherSizes));
  True("indices_are_sorted", kSorted);
}

void AttributeWriter::Scatter() {
  const Message numbers(record_.Bytes(kScatter));
  bool first = true;
  Part("update_window_dims", numbers.Ints(1), true, &first);
  Part("inserted_window_dims", numbers.Ints(2), true, &first);
  Part("scatter_dims_to_operand_dims", numbers.Ints(3), true, &first);
  Part("input_batching_dims", numbers.Ints(5), false, &first);
  Part("scatter_indices_batching_dims", numbers.Ints(6), false, &first);
  out_->append(", index_vector_dim=").append(std::to_string(numbers.Int(4)));
  True("indices_are_sorted", kSorted);
  True("unique_indices", kUnique);
}

void AttributeWriter::Slices() {
  Key("slice")->push_back('{');
  bool first = true;
  for (const std::string_view bytes : record_.All(kSlices)) {
    const Message slice(bytes);
    if (!first) out_->append(", ");
    first = false;
    out_->append("[" + std::to_string(slice.Int(1)) + ":" + std::to_string(slice.Int(2)));
    if (slice.Int(3, 1) != 1) out_->append(":" + std::to_string(slice.Int(3)));
    out_->push_back(']');
  }
  out_->push_back('}');
}

void AttributeWriter::CustomCall() {
  ConvolutionFields();
  Precision();
  Key("custom_call_target")->push_back('"');
  AppendEscaped(record_.Bytes(kTarget), out_);
  out_->push_back('"');
  if (record_.Bool(kConstrainLayout)) {
    Key("operand_layout_constraints")->push_back('{');
    bool first = true;
    int64_t budget = 100'000;  // shapes of the operands of one call
    for (const std::string_view bytes : record_.All(kOperandShapes)) {
      const auto shape = ParseShapeMessage(bytes, &budget);
      if (!shape.ok()) break;
      if (!first) out_->append(", ");
      first = false;
      AppendShape(*shape, true, out_);
    }
    out_->push_back('}');
  }
  True("custom_call_has_side_effect", kSideEffect);
  if (record_.Has(kAliasing)) {
    AppendOutputAliasing(record_.All(kAliasing), Key("output_to_operand_aliasing"));
  }
  constexpr std::string_view kPaddings[] = {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"};
  const int64_t padding = record_.Int(kPaddingType);
  if (padding == 1 || padding == 2) Key("padding_type")->append(kPaddings[padding]);
  constexpr std::string_view kSchedules[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST",
                                             "SCHEDULE_EARLIEST"};
  const int64_t schedule = record_.Int(kSchedule);
  if (schedule == 1 || schedule == 2) Key("schedule")->append(kSchedules[schedule]);
  constexpr std::string_view kVersions[] = {
      "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
      "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
  const int64_t version = record_.Int(kApiVersion);
  if (version > 1 && version < 5) Key("api_version")->append(kVersions[version]);
}

void AttributeWriter::Async() {
  if (record_.Has(kAliasing)) {
    AppendOutputAliasing(record_.All(kAliasing), Key("output_to_operand_aliasing"));
  }
  if (instruction_.opcode != Opcode::kAsyncStart) return;
  const std::string_view thread = record_.Bytes(kAsyncThread);
  if (!thread.empty() && thread != "main") {
    Key("async_execution_thread")->append("\"").append(thread).append("\"");
  }
  const uint32_t wrapped = AsyncWrapped(module_, index_);
  // The attributes are those of the wrapped instruction; one that is async itself would repeat.
  if (wrapped != kNone && !IsAsync(module_.instruction(wrapped).opcode)) {
    AttributeWriter(module_, wrapped, options_, out_).Write();
  }
}

void AttributeWriter::CallList(std::string_view name, bool braces) {
  Key(name);
  if (braces) out_->push_back('{');
  const auto calls = module_.calls(index_);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i > 0) out_->append(", ");
    Name(module_.computation(calls[i]).name);
  }
  if (braces) out_->push_back('}');
}

void AttributeWriter::Calls() {
  const auto calls = module_.calls(index_);
  if (calls.empty()) return;
  const auto one = [&](std::string_view name, size_t i) {
    Key(name);
    Name(module_.computation(calls[i]).name);
  };
  switch (instruction_.opcode) {
    case Opcode::kWhile:
    case Opcode::kSelectAndScatter: {
      const bool loop = instruction_.opcode == Opcode::kWhile;
      if (calls.size() < 2) break;
      // The body stands before the condition in the bytes.
      one(loop ? "condition" : "select", loop ? 1 : 0);
      one(loop ? "body" : "scatter", loop ? 0 : 1);
      break;
    }
    case Opcode::kConditional: {
      const auto operands = module_.operands(index_);
      const bool two_way = !operands.empty() && calls.size() == 2 &&
                           module_.shape_of(operands[0]).type == ElementType::kPred;
      if (two_way) {
        one("true_computation", 0);
        one("false_computation", 1);
      } else {
        CallList("branch_computations", true);
      }
      break;
    }
    case Opcode::kCall:
    case Opcode::kMap:
    case Opcode::kReduceWindow:
    case Opcode::kReduce:
    case Opcode::kAllReduce:
    case Opcode::kReduceScatter:
    case Opcode::kAllReduceStart:
    case Opcode::kScatter:
    case Opcode::kTopK:
    case Opcode::kSort:
    case Opcode::kScan:
      one("to_apply", 0);
      if (record_.Bool(kComposite)) Key("is_composite")->append("true");
      break;
    case Opcode::kCustomCall:
      CallList("called_computations", true);
      break;
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      if (instruction_.opcode == Opcode::kAsyncStart && AsyncWrapped(module_, index_) == kNone) {
        one("calls", 0);
      }
      break;
    default:
      CallList("calls", false);
      break;
  }
}

void AttributeWriter::ControlPredecessors() {
  const auto before = module_.control_predecessors(index_);
  if (before.empty()) return;
  Key("control-predecessors")->push_back('{');
  for (size_t i = 0; i < before.size(); ++i) {
    if (i > 0) out_->append(", ");
    Name(module_.instruction(before[i]).name);
  }
  out_->push_back('}');
}

void AttributeWriter::Accuracy() {
  const Message accuracy(record_.Bytes(kAccuracy));
  if (accuracy.Int(1) == 1) Key("result_accuracy")->append("{mode=highest}");
  if (!accuracy.Has(2)) return;
  const Message tolerance(accuracy.Bytes(2));
  char buffer[120];
  std::snprintf(buffer, sizeof(buffer), "{tolerance={atol=%g, rtol=%g, ulps=%lld}}",
                tolerance.Double(1), tolerance.Double(2), static_cast<long long>(tolerance.Int(3)));
  Key("result_accuracy")->append(buffer);
}

}  // namespace

void AppendAttributes(const HloModule& module, uint32_t instruction, const PrintOptions& options,
                      std::string* out) {
  AttributeWriter(module, instruction, options, out).Write();
}

}  // namespace strobe::hlo
