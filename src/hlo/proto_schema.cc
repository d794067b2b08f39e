// The messages of an HloProto: numbers, names and types of their fields, as the compiler's public
// schema has them. Kept as a text because a table of initialisers would be five times as long and
// no easier to check.
#include "src/hlo/proto_schema.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "src/base/status.h"

namespace strobe::hlo {
namespace {

// "message NAME { NUMBER FIELD TYPE; ... }", "map" for entries of maps, "enum NAME { NUMBER VALUE;
// ... }". A type ends in * when the field is repeated, in ? when it knows whether it was set.
constexpr std::string_view kSchema = R"(
message HloProto { 1 hlo_module HloModuleProto; 3 buffer_assignment BufferAssignmentProto; }
message HloModuleProto { 1 name str; 2 entry_computation_name str; 3 computations
  HloComputationProto*; 4 host_program_shape ProgramShapeProto; 5 id i64; 6 entry_computation_id
  i64; 7 schedule HloScheduleProto; 8 input_output_alias HloInputOutputAliasProto; 10
  cross_program_prefetches CrossProgramPrefetch*; 11 is_dynamic bool; 12 spmd_output_sharding
  OpSharding; 13 profile_info HloModuleProto.ProfileInfo*; 14 spmd_parameters_shardings
  OpSharding*; 15 device_assignment DeviceAssignmentProto; 16 use_auto_spmd_partitioning bool; 17
  stack_frame_index StackFrameIndexProto; 18 buffer_donor HloBufferDonorProto; 19
  frontend_attributes FrontendAttributes; 20 original_value_recovery_table
  OriginalValueRecoveryTableProto; 21 device_type str; 22 payloads bytes*; 23 pjrt_id i64?; 24
  debug_attributes DebugAttributeTableEntryProto*; 25 backend_config bytes; }
message HloComputationProto { 1 name str; 2 instructions HloInstructionProto*; 4 program_shape
  ProgramShapeProto; 5 id i64; 6 root_id i64; 7 is_fusion_computation bool; 8 execution_thread
  str; 9 backend_config bytes; }
message HloInstructionProto { 1 name str; 2 opcode str; 3 shape ShapeProto; 7 metadata OpMetadata;
  8 literal LiteralProto; 9 parameter_number i64; 11 fusion_kind str; 13 tuple_index i64; 14
  dimensions i64*; 15 window Window; 16 convolution_dimension_numbers ConvolutionDimensionNumbers;
  17 slice_dimensions HloInstructionProto.SliceDimensions*; 18 exponent_bits i32; 19 mantissa_bits
  i32; 20 dynamic_slice_sizes i64*; 21 padding_config PaddingConfig; 22 outfeed_config bytes; 23
  distribution RandomDistribution; 24 epsilon f32; 25 feature_index i64; 26 channel_id i64; 27
  infeed_config bytes; 28 custom_call_target str; 29 outfeed_shape ShapeProto; 30
  dot_dimension_numbers DotDimensionNumbers; 31 fft_type FftType; 32 fft_length i64*; 33
  gather_dimension_numbers GatherDimensionNumbers; 34 gather_slice_sizes i64*; 35 id i64; 36
  operand_ids i64*; 37 control_predecessor_ids i64*; 38 called_computation_ids i64*; 40 sharding
  OpSharding; 43 backend_config bytes; 45 all_reduce_id i64; 47 is_host_transfer bool; 48
  scatter_dimension_numbers ScatterDimensionNumbers; 49 replica_groups ReplicaGroup*; 50
  feature_group_count i64; 51 precision_config PrecisionConfig; 52 source_target_pairs
  SourceTarget*; 54 domain_entry_sharding OpSharding; 55 domain_exit_sharding OpSharding; 56
  constrain_layout bool; 57 operand_shapes_with_layout ShapeProto*; 58 batch_group_count i64; 59
  triangular_solve_options TriangularSolveOptions; 60 is_stable bool; 61 parameter_replication
  ParameterReplication; 62 cholesky_options CholeskyOptions; 63 comparison_direction str; 65
  custom_call_has_side_effect bool; 66 delta i64; 67 indices_are_sorted bool; 68
  frontend_attributes FrontendAttributes; 69 unique_indices bool; 70 rng_algorithm
  RandomAlgorithm; 71 use_global_device_ids bool; 72 comparison_type str; 73
  is_cross_program_prefetch bool; 74 output_operand_aliasing OutputOperandAliasing*; 75
  padding_type PaddingType; 76 custom_call_schedule CustomCallSchedule; 77 custom_call_api_version
  CustomCallApiVersion; 79 async_execution_thread str; 80 cross_program_prefetch_index i32?; 81 k
  i64; 82 statistics_viz StatisticsViz; 85 largest bool; 87 collective_device_list
  CollectiveDeviceListProto; 88 original_value OriginalValueProto; 89 is_composite bool; 90
  ragged_dot_dimension_numbers RaggedDotDimensionNumbers; 91 result_accuracy ResultAccuracy; 92
  iota_collective_device_list IotaReplicaGroupListProto; 93 mesh_axes_replica_group_list
  MeshAxesReplicaGroupListProto; 94 is_reverse bool; 95 num_carries i64; 96 is_associative
  TriState; 97 conv_kind ConvolutionKind; 98 sparsity_config SparsityConfig; 99
  backend_config_payload Payload; 100 has_dynamic_root bool; 101 block_scaling_config
  BlockScalingConfig; 102 comparison_order str; 103 shuffle_mode ShuffleMode; }
message ShapeProto { 2 element_type PrimitiveType; 3 dimensions i64*; 4 tuple_shapes ShapeProto*;
  5 layout LayoutProto; 6 is_dynamic_dimension bool*; }
message LayoutProto { 1 minor_to_major i64*; 6 tiles TileProto*; 7 element_size_in_bits i64; 8
  memory_space i64; 9 dim_level_types DimLevelType*; 10 physical_shape ShapeProto; 11
  index_primitive_type PrimitiveType; 12 pointer_primitive_type PrimitiveType; 13 dim_unique
  bool*; 14 dim_ordered bool*; 15 dynamic_shape_metadata_prefix_bytes i64; 16
  tail_padding_alignment_in_elements i64; 17 split_configs SplitConfigProto*; }
message TileProto { 1 dimensions i64*; }
message SplitConfigProto { 1 dimension i64; 2 split_indices i64*; }
message OpMetadata { 1 op_type str; 2 op_name str; 3 source_file str; 4 source_line i32; 5
  profile_type ProfileType*; 8 size_of_generated_code_in_bytes i64; 9
  size_of_memory_working_set_in_bytes i64; 10 profile_info OpMetadata.ProfileInfo; 12
  deduplicated_name str; 15 stack_frame_id i32; 16 scheduling_name str; 17 source_end_line i32; 18
  source_column i32; 19 source_end_column i32; 20 metadata_payload Payload; }
message OpMetadata.ProfileInfo { 1 profile_type ProfileType*; 2 relative_speedup f64; 3
  profile_source ProfileSource; 4 compilation_event CompilationEvent; 5
  profile_generation_strategy ProfileGenerationStrategy; }
message Payload { 1 value bytes?; 2 id i64?; }
message LiteralProto { 1 shape ShapeProto; 2 preds bool*; 3 u8s bytes; 4 s32s i32*; 5 s64s i64*; 6
  u32s u32*; 7 u64s u64*; 8 f32s f32*; 9 f64s f64*; 10 tuple_literals LiteralProto*; 11 f16s
  bytes; 12 c64s f32*; 13 bf16s bytes; 14 sparse_indices i64*; 15 s8s bytes; 16 u16s bytes; 17
  s16s bytes; 18 c128s f64*; 19 f8e5m2s bytes; 20 f8e4m3fns bytes; 21 s4s bytes; 22 u4s bytes; 23
  f8e4m3b11fnuzs bytes; 24 f8e5m2fnuzs bytes; 25 f8e4m3fnuzs bytes; 26 s2s bytes; 27 u2s bytes; 28
  f8e4m3s bytes; 29 f8e3m4s bytes; 30 s1s bytes; 31 u1s bytes; 32 f4e2m1fns bytes; 33 f8e8m0fnus
  bytes; 34 dynamic_sizes i32*; 35 f6e3m2fns bytes; 36 f6e2m3fns bytes; }
message Window { 1 dimensions WindowDimension*; }
message WindowDimension { 1 size i64; 2 stride i64; 3 padding_low i64; 4 padding_high i64; 5
  window_dilation i64; 6 base_dilation i64; 7 window_reversal bool; }
message ConvolutionDimensionNumbers { 3 kernel_input_feature_dimension i64; 4
  kernel_output_feature_dimension i64; 6 kernel_spatial_dimensions i64*; 7 input_batch_dimension
  i64; 8 input_feature_dimension i64; 9 output_batch_dimension i64; 10 output_feature_dimension
  i64; 11 input_spatial_dimensions i64*; 12 output_spatial_dimensions i64*; }
message HloInstructionProto.SliceDimensions { 1 start i64; 2 limit i64; 3 stride i64; }
message PaddingConfig { 1 dimensions PaddingConfig.PaddingConfigDimension*; }
message PaddingConfig.PaddingConfigDimension { 1 edge_padding_low i64; 2 edge_padding_high i64; 3
  interior_padding i64; }
message DotDimensionNumbers { 1 lhs_contracting_dimensions i64*; 2 rhs_contracting_dimensions
  i64*; 3 lhs_batch_dimensions i64*; 4 rhs_batch_dimensions i64*; }
message RaggedDotDimensionNumbers { 1 dot_dimension_numbers DotDimensionNumbers; 2
  lhs_ragged_dimensions i64*; 3 rhs_group_dimensions i64*; }
message GatherDimensionNumbers { 1 offset_dims i64*; 2 collapsed_slice_dims i64*; 3
  start_index_map i64*; 4 index_vector_dim i64; 5 operand_batching_dims i64*; 6
  start_indices_batching_dims i64*; }
message OpSharding { 1 type OpSharding.Type; 2 tile_shape ShapeProto; 3 tile_assignment_dimensions
  i64*; 4 tile_assignment_devices i64*; 5 tuple_shardings OpSharding*; 6
  replicate_on_last_tile_dim bool; 7 metadata OpMetadata*; 8 last_tile_dims OpSharding.Type*; 9
  iota_reshape_dims i64*; 10 iota_transpose_perm i32*; 11 is_shard_group bool; 12 shard_group_id
  i64; 13 shard_group_type OpSharding.ShardGroupType; 14 named_sharding NamedShardingProto; }
message NamedShardingProto { 2 mesh MeshProto; 3 dim_shardings
  NamedShardingProto.DimensionSharding*; 4 replicated_axes AxisRefProto*; 5 unreduced_axes
  AxisRefProto*; 6 metadata OpMetadata*; 7 manual_axes AxisRefProto*; 8 reduction_op
  NamedShardingProto.ReductionOpProto; }
message MeshProto { 1 axes MeshProto.MeshAxis*; 2 device_ids i64*; 3 iota_transform
  MeshProto.IotaTransform; }
message MeshProto.MeshAxis { 1 name str; 2 size i64; }
message MeshProto.IotaTransform { 1 reshape_dims i64*; 2 transpose_perm i64*; }
message NamedShardingProto.DimensionSharding { 1 axes AxisRefProto*; 2 is_closed bool; }
message AxisRefProto { 1 mesh_axis_index i64; 2 sub_axis_info AxisRefProto.SubAxis; }
message AxisRefProto.SubAxis { 1 pre_size i64; 2 size i64; }
message ReplicaGroup { 1 replica_ids i64*; }
message ScatterDimensionNumbers { 1 update_window_dims i64*; 2 inserted_window_dims i64*; 3
  scatter_dims_to_operand_dims i64*; 4 index_vector_dim i64; 5 input_batching_dims i64*; 6
  scatter_indices_batching_dims i64*; }
message PrecisionConfig { 1 operand_precision PrecisionConfig.Precision*; 2 algorithm
  PrecisionConfig.Algorithm; }
message SourceTarget { 1 source i64; 2 target i64; }
message TriangularSolveOptions { 1 left_side bool; 2 lower bool; 3 unit_diagonal bool; 4
  transpose_a TriangularSolveOptions.Transpose; }
message CholeskyOptions { 1 lower bool; }
message ParameterReplication { 1 replicated_at_leaf_buffers bool*; }
message OutputOperandAliasing { 1 output_shape_index i64*; 2 operand_index i64; 3
  operand_shape_index i64*; }
message FrontendAttributes { 1 map FrontendAttributes.MapEntry*; }
map FrontendAttributes.MapEntry { 1 key str; 2 value str; }
message StatisticsViz { 1 stat_index_to_visualize i64; 2 statistics Statistic*; }
message Statistic { 1 stat_name str; 2 stat_val f64; }
message CollectiveDeviceListProto { 1 replica_groups ReplicaGroup*; }
message IotaReplicaGroupListProto { 1 num_replica_groups i64; 2 num_devices_per_group i64; 3
  iota_reshape_dims i64*; 4 iota_transpose_perm i32*; }
message MeshAxesReplicaGroupListProto { 1 mesh MeshProto; 2 axes AxisRefProto*; }
message OriginalValueProto { 1 elements OriginalValueElementProto*; 2 is_synthetic_call bool; 3
  call_hierarchy str?; }
message OriginalValueElementProto { 1 shape_index i64*; 2 original_array OriginalArrayProto; }
message OriginalArrayProto { 1 instruction_name str; 2 shape_index i64*; }
message ResultAccuracy { 1 mode ResultAccuracy.Mode?; 2 tolerance ResultAccuracy.Tolerance; }
message ResultAccuracy.Tolerance { 1 atol f64; 2 rtol f64; 3 ulps i64; }
message SparsityConfig { 1 lhs SparsityConfig.TensorSparsityConfig; 2 rhs
  SparsityConfig.TensorSparsityConfig; }
message SparsityConfig.TensorSparsityConfig { 1 num_non_zero i64; 2 block_size i64; 3 dimension
  i64; 4 stride i64; 5 idx i32; }
message BlockScalingConfig { 1 lhs BlockScalingConfig.TensorBlockScalingConfig; 2 rhs
  BlockScalingConfig.TensorBlockScalingConfig; }
message BlockScalingConfig.TensorBlockScalingConfig { 1 scale_idx i32; 2 zero_idx i32?; 3 strides
  i64*; 4 steps i64*; }
message ShuffleMode { 1 rotate ShuffleMode.Rotate; }
message ShuffleMode.Rotate { 1 shifts i64*; }
message ProgramShapeProto { 1 parameters ShapeProto*; 2 result ShapeProto; 3 parameter_names str*;
  }
message HloScheduleProto { 1 sequences HloScheduleProto.SequencesEntry*; }
map HloScheduleProto.SequencesEntry { 1 key i64; 2 value HloScheduleProto.InstructionSequence; }
message HloScheduleProto.InstructionSequence { 1 instruction_ids i64*; }
message HloInputOutputAliasProto { 1 entries HloInputOutputAliasProto.AliasEntryProto*; }
message HloInputOutputAliasProto.AliasEntryProto { 1 output_shape_index i64*; 2 parameter_number
  i64; 3 parameter_shape_index i64*; 4 kind Kind; }
message HloBufferDonorProto { 1 entries HloBufferDonorProto.BufferDonorEntryProto*; }
message HloBufferDonorProto.BufferDonorEntryProto { 1 parameter_number i64; 2
  parameter_shape_index i64*; }
message CrossProgramPrefetch { 1 parameter i64; 2 index i64*; 3 offset i64; }
message HloModuleProto.ProfileInfo { 1 profile_type HloModuleProto.ProfileType; 2 relative_speedup
  f64; 3 profile_source ProfileSource; 4 compilation_event CompilationEvent; 5 fingerprint str; 6
  profile_generation_strategy ProfileGenerationStrategy; 7 original_changelist i64; 8 changelist
  i64; }
message DeviceAssignmentProto { 1 replica_count i32; 2 computation_count i32; 3
  computation_devices DeviceAssignmentProto.ComputationDevice*; }
message DeviceAssignmentProto.ComputationDevice { 1 replica_device_ids i64*; }
message StackFrameIndexProto { 1 file_names str*; 2 function_names str*; 3 file_locations
  StackFrameIndexProto.FileLocation*; 4 stack_frames StackFrameIndexProto.StackFrame*; }
message StackFrameIndexProto.FileLocation { 1 file_name_id i32; 2 function_name_id i32; 3 line
  i32; 4 column i32; 5 end_line i32; 6 end_column i32; }
message StackFrameIndexProto.StackFrame { 1 file_location_id i32; 2 parent_frame_id i32; }
message OriginalValueRecoveryTableProto { 1 entries OriginalValueRecoveryTableProto.Entry*; }
message OriginalValueRecoveryTableProto.Entry { 1 old_original_array OriginalArrayProto; 2
  new_original_array OriginalArrayProto; 3 recovery_module HloModuleProto; }
message DebugAttributeTableEntryProto { 1 original_array OriginalArrayProto; 2 debug_attributes
  DebugAttributesProto*; }
message DebugAttributesProto { 1 log_mode DebugAttributesProto.DebugLogModeProto; 2 callback_id
  i64; 3 op_id i64; 4 partitioned bool; 5 operands_sharding str; 6 x64_config X64ConfigProto; }
message X64ConfigProto { 1 xprecision_64bit_fragment str; 2 original_log_instruction_name str; 3
  xprecision_64bit_original_type str; }
message BufferAssignmentProto { 1 logical_buffers LogicalBufferProto*; 2 buffer_aliases
  BufferAssignmentProto.BufferAlias*; 3 buffer_allocations BufferAllocationProto*; 4
  heap_simulator_traces HeapSimulatorTrace*; 5 peak_buffers BufferAssignmentProto.PeakBuffers*; }
message LogicalBufferProto { 1 id i64; 2 size i64; 3 defined_at LogicalBufferProto.Location; 4
  color i64; }
message LogicalBufferProto.Location { 2 instruction_name str; 3 shape_index i64*; 4 instruction_id
  i64; }
message BufferAssignmentProto.BufferAlias { 1 source_buffer_id i64; 2 location
  LogicalBufferProto.Location; }
message BufferAllocationProto { 1 index i64; 2 size i64; 3 is_thread_local bool; 5
  is_entry_computation_parameter bool; 6 parameter_number i64; 7 maybe_live_out bool; 8 color i64;
  9 assigned BufferAllocationProto.Assigned*; 10 parameter_shape_index i64*; 11 is_tuple bool; 12
  is_constant bool; 13 is_parameter_aliased_with_output bool; }
message BufferAllocationProto.Assigned { 1 logical_buffer_id i64; 2 offset i64; 3 size i64; 4
  element_type PrimitiveType; }
message HeapSimulatorTrace { 1 events HeapSimulatorTrace.Event*; 2 whole_module_simulation bool; 3
  buffer_allocation_index i64; }
message HeapSimulatorTrace.Event { 1 kind HeapSimulatorTrace.Event.Kind; 2 buffer_id i64; 3
  computation_name str; 4 instruction_name str; 5 share_with_canonical_id i64; }
message BufferAssignmentProto.PeakBuffers { 1 index i64; 2 logical_buffer_ids i64*; }
enum PrimitiveType { 0 PRIMITIVE_TYPE_INVALID; 1 PRED; 30 S1; 26 S2; 21 S4; 2 S8; 3 S16; 4 S32; 5
  S64; 31 U1; 27 U2; 22 U4; 6 U8; 7 U16; 8 U32; 9 U64; 10 F16; 11 F32; 16 BF16; 12 F64; 19 F8E5M2;
  28 F8E4M3; 20 F8E4M3FN; 23 F8E4M3B11FNUZ; 29 F8E3M4; 24 F8E5M2FNUZ; 25 F8E4M3FNUZ; 32 F4E2M1FN;
  33 F8E8M0FNU; 35 F6E3M2FN; 36 F6E2M3FN; 15 C64; 18 C128; 13 TUPLE; 14 OPAQUE_TYPE; 17 TOKEN; 34
  BUFFER; }
enum DimLevelType { 0 DIM_DENSE; 1 DIM_COMPRESSED; 2 DIM_SINGLETON; 3 DIM_LOOSE_COMPRESSED; }
enum ProfileType { 0 INVALID; 1 WINDOW; 2 FLAG; 3 INTEGER; }
enum ProfileSource { 0 PROFILE_SOURCE_UNKNOWN_SOURCE; 1 PROFILE_SOURCE_EMBEDDED; 2
  PROFILE_SOURCE_REMOTE; }
enum CompilationEvent { 0 COMPILATION_EVENT_UNKNOWN_EVENT; 1 COMPILATION_EVENT_FIRST_COMPILATION;
  2 COMPILATION_EVENT_RECOMPILATION; }
enum ProfileGenerationStrategy { 0 PROFILE_GENERATION_STRATEGY_UNKNOWN; 1
  PROFILE_GENERATION_STRATEGY_GA; 2 PROFILE_GENERATION_STRATEGY_FANTA; 3
  PROFILE_GENERATION_STRATEGY_CFO; 4 PROFILE_GENERATION_STRATEGY_EXHAUSTIVE; 5
  PROFILE_GENERATION_STRATEGY_LCM_GNN; 6 PROFILE_GENERATION_STRATEGY_LCM_MOE; }
enum RandomDistribution { 0 RNG_INVALID; 1 RNG_UNIFORM; 2 RNG_NORMAL; }
enum FftType { 0 FFT; 1 IFFT; 2 RFFT; 3 IRFFT; }
enum OpSharding.Type { 0 REPLICATED; 1 MAXIMAL; 2 TUPLE; 3 OTHER; 4 MANUAL; 5 UNKNOWN; 6
  UNREDUCED; }
enum OpSharding.ShardGroupType { 0 AS; 1 LIKE; }
enum NamedShardingProto.ReductionOpProto { 0 SUM; 1 MAX; 2 MIN; }
enum PrecisionConfig.Precision { 0 DEFAULT; 1 HIGH; 2 HIGHEST; }
enum PrecisionConfig.Algorithm { 0 ALG_UNSET; 1 ALG_DOT_ANY_F8_ANY_F8_F32; 2
  ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM; 3 ALG_DOT_F16_F16_F16; 4 ALG_DOT_F16_F16_F32; 5
  ALG_DOT_BF16_BF16_BF16; 6 ALG_DOT_BF16_BF16_F32; 7 ALG_DOT_BF16_BF16_F32_X3; 8
  ALG_DOT_BF16_BF16_F32_X6; 9 ALG_DOT_TF32_TF32_F32; 10 ALG_DOT_TF32_TF32_F32_X3; 11
  ALG_DOT_F32_F32_F32; 12 ALG_DOT_F64_F64_F64; 13 ALG_DOT_BF16_BF16_F32_X9; 14
  ALG_DOT_BF16_BF16_FP8X3; 15 ALG_DOT_BF16_BF16_FP8X4; }
enum TriangularSolveOptions.Transpose { 0 TRANSPOSE_INVALID; 1 NO_TRANSPOSE; 2 TRANSPOSE; 3
  ADJOINT; }
enum CustomCallSchedule { 0 SCHEDULE_NONE; 1 SCHEDULE_LATEST; 2 SCHEDULE_EARLIEST; }
enum RandomAlgorithm { 0 RNG_DEFAULT; 1 RNG_THREE_FRY; 2 RNG_PHILOX; }
enum PaddingType { 0 PADDING_INVALID; 1 PADDING_VALID; 2 PADDING_SAME; }
enum CustomCallApiVersion { 0 API_VERSION_UNSPECIFIED; 1 API_VERSION_ORIGINAL; 2
  API_VERSION_STATUS_RETURNING; 3 API_VERSION_STATUS_RETURNING_UNIFIED; 4 API_VERSION_TYPED_FFI; }
enum ResultAccuracy.Mode { 0 DEFAULT; 1 HIGHEST; }
enum TriState { 0 TRI_STATE_UNSPECIFIED; 1 TRI_STATE_TRUE; 2 TRI_STATE_FALSE; }
enum ConvolutionKind { 0 CONVOLUTION_KIND_UNSET; 1 CONVOLUTION_KIND_FPROP; 2
  CONVOLUTION_KIND_DGRAD; 3 CONVOLUTION_KIND_WGRAD; }
enum Kind { 0 UNDEFINED_ALIAS; 1 MAY_ALIAS; 2 MUST_ALIAS; }
enum HloModuleProto.ProfileType { 0 INVALID; 1 FLAG; 2 FUSION; 3 LAYOUT; 4 DOT; 5 FLAGNET; 6
  SHARDING; 7 SCHEDULE; }
enum DebugAttributesProto.DebugLogModeProto { 0 NONE; 1 DEFAULT; 2 FUSION_DEBUGGER; 3 NO_FUSION; 4
  GUARANTEED; }
enum HeapSimulatorTrace.Event.Kind { 0 ALLOC; 1 FREE; 2 SHARE_WITH; }
)";

// The table is ours: what is wrong with it is a programming error.
class SchemaReader {
 public:
  explicit SchemaReader(std::string_view text) : text_(text) {}

  std::string_view Word() {
    const size_t from = text_.find_first_not_of(" \n;");
    if (from == std::string_view::npos) return {};
    text_.remove_prefix(from);
    const size_t end = std::min(text_.find_first_of(" \n;"), text_.size());
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end);
    return word;
  }

 private:
  std::string_view text_;
};

uint32_t NumberOf(std::string_view word) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  STROBE_CHECK(error == std::errc() && end == word.data() + word.size());
  return number;
}

bool ScalarOf(std::string_view name, SchemaType* type) {
  constexpr std::pair<std::string_view, SchemaType> kTypes[] = {
      {"i32", SchemaType::kInt32},  {"i64", SchemaType::kInt64},  {"u32", SchemaType::kUint32},
      {"u64", SchemaType::kUint64}, {"bool", SchemaType::kBool},  {"f32", SchemaType::kFloat},
      {"f64", SchemaType::kDouble}, {"str", SchemaType::kString}, {"bytes", SchemaType::kString}};
  for (const auto& [known, scalar] : kTypes) {
    if (known != name) continue;
    *type = scalar;
    return true;
  }
  return false;
}

}  // namespace

const SchemaField* SchemaMessage::Find(uint32_t number) const {
  const auto found = std::ranges::lower_bound(fields, number, {}, &SchemaField::number);
  return found == fields.end() || found->number != number ? nullptr : &*found;
}

const HloSchema& HloSchema::Get() {
  static const HloSchema schema;
  return schema;
}

HloSchema::HloSchema() {
  std::map<std::string_view, std::vector<std::string_view>> types;
  SchemaReader reader(kSchema);
  for (std::string_view kind = reader.Word(); !kind.empty(); kind = reader.Word()) {
    const std::string_view name = reader.Word();
    STROBE_CHECK(reader.Word() == "{");
    if (kind == "enum") {
      SchemaEnum& values = enums_[name];
      for (std::string_view word = reader.Word(); word != "}"; word = reader.Word()) {
        values.names[NumberOf(word)] = reader.Word();
      }
      continue;
    }
    SchemaMessage& message = messages_[name];
    message.name = name;
    message.map_entry = kind == "map";
    for (std::string_view word = reader.Word(); word != "}"; word = reader.Word()) {
      SchemaField field;
      field.number = NumberOf(word);
      field.name = reader.Word();
      std::string_view type = reader.Word();
      field.repeated = type.ends_with('*');
      field.presence = type.ends_with('?') || message.map_entry;
      if (type.ends_with('*') || type.ends_with('?')) type.remove_suffix(1);
      message.fields.push_back(field);
      types[name].push_back(type);
    }
  }
  for (auto& [name, message] : messages_) {
    for (size_t i = 0; i < message.fields.size(); ++i) {
      SchemaField& field = message.fields[i];
      const std::string_view type = types[name][i];
      if (ScalarOf(type, &field.type)) continue;
      if (const auto values = enums_.find(type); values != enums_.end()) {
        field.type = SchemaType::kEnum;
        field.values = &values->second;
        continue;
      }
      const auto found = messages_.find(type);
      STROBE_CHECK(found != messages_.end());
      field.type = SchemaType::kMessage;
      field.message = &found->second;
    }
  }
  root_ = &messages_.at("HloProto");
}

}  // namespace strobe::hlo
