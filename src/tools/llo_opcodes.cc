#include "src/tools/llo_opcodes.h"

#include <algorithm>
#include <iterator>

namespace strobe::tools {
namespace {

struct Opcode {
  uint16_t number;
  char category;  // first letter of its name, as in CategoryName
  char unit;      // as in UnitName
  std::string_view name;
};

std::string_view CategoryName(char category) {
  switch (category) {
    case 'V':
      return "vector";
    case 'L':
      return "load_store";
    case 'M':
      return "matrix";
    case 'X':
      return "crosslane";
    case 'S':
      return "scalar";
    case 'P':
      return "predicate";
    case 'C':
      return "control";
    case 'D':
      return "dma";
    default:
      return "other";
  }
}

std::string_view UnitName(char unit) {
  switch (unit) {
    case 'V':
      return "VALU";
    case 'L':
      return "LOAD_STORE";
    case 'M':
      return "MXU";
    case 'X':
      return "XLU";
    case 'S':
      return "SALU";
    case 'Y':
      return "SYNC";
    case 'C':
      return "SPARSE_CORE";
    case 'D':
      return "DMA";
    default:
      return "OTHER";
  }
}

// By number.
// clang-format off
constexpr Opcode kOpcodes[] = {
    {0, 'O', 'O', "NONE"}, {1, 'C', 'O', "EVENT"}, {2, 'V', 'V', "VECTOR_READ_IAR"},
    {3, 'V', 'V', "VECTOR_SET_IAR_LANE"}, {4, 'V', 'V', "VECTOR_SET_IAR_RAW"},
    {5, 'V', 'V', "VECTOR_SET_IAR_SUBLANE"}, {6, 'C', 'O', "LOG"}, {7, 'C', 'O', "HLO_START"},
    {8, 'C', 'O', "HLO_END"}, {9, 'C', 'Y', "SCHEDULING_BARRIER"},
    {10, 'S', 'S', "SCALAR_TO_VECTOR"}, {11, 'V', 'V', "VECTOR_TO_SCALAR_PUSH"},
    {12, 'C', 'Y', "SYNC_FLAG_TO_SCALAR_PUSH"}, {13, 'C', 'Y', "SYNC_FLAG_DONE_TO_SCALAR_PUSH"},
    {14, 'S', 'S', "SCALAR_V2_SPOP"}, {15, 'V', 'V', "VECTOR_TO_SCALAR_PSEUDO"},
    {16, 'C', 'Y', "SYNC_FLAG_TO_SFRF_PUSH"}, {17, 'C', 'Y', "SYNC_FLAG_DONE_TO_SFRF_PUSH"},
    {18, 'O', 'O', "SFRF_POP"}, {19, 'O', 'O', "DRF_POP"}, {20, 'C', 'S', "SCALAR_FENCE"},
    {21, 'C', 'L', "VECTOR_STORE_FENCE"}, {22, 'S', 'S', "SCALAR_CCF_PUSH"},
    {23, 'S', 'S', "SCALAR_CCF_POP"}, {24, 'S', 'S', "SCALAR_CCF_PUSH_ASYMMETRICAL"},
    {25, 'S', 'S', "SCALAR_CCF_POP_ASYMMETRICAL"}, {26, 'V', 'V', "VECTOR_CCF_PUSH"},
    {27, 'V', 'V', "VECTOR_CCF_POP"}, {28, 'V', 'V', "VECTOR_CCF_PUSH_ASYMMETRICAL"},
    {29, 'V', 'V', "VECTOR_CCF_POP_ASYMMETRICAL"}, {30, 'O', 'O', "MEGACORE_SWAP_CORES_PSEUDO"},
    {31, 'C', 'Y', "CMEM_FENCE"}, {32, 'S', 'S', "SCALAR_READ_CYCLE_START"},
    {33, 'S', 'S', "SCALAR_READ_CYCLE_END"}, {34, 'S', 'S', "SCALAR_EXTRACT_LOW32"},
    {35, 'S', 'S', "SCALAR_EXTRACT_HIGH32"}, {36, 'S', 'S', "SCALAR_READ_CYCLE_HIGH"},
    {37, 'S', 'S', "SCALAR_READ_CYCLE_LOW"}, {38, 'C', 'S', "SCALAR_HALT"},
    {39, 'C', 'S', "SCALAR_HALT_YIELD_CONDITIONAL"}, {40, 'C', 'S', "SCALAR_HALT_ON_ERROR"},
    {41, 'S', 'S', "SCALAR_TYPE_CAST"}, {42, 'O', 'O', "PROGRAM_LAUNCH_SC"},
    {43, 'V', 'V', "VECTOR_TYPE_CAST"}, {44, 'C', 'V', "VECTOR_INTERRUPT"},
    {45, 'O', 'O', "ALLOCATION_ADDRESS"}, {46, 'O', 'O', "PARAMETER_ADDRESS"},
    {47, 'O', 'O', "INT_TO_PTR"}, {48, 'V', 'V', "VECTOR_INT_TO_VECTOR_PTR"},
    {49, 'L', 'X', "VECTOR_LOAD_SUBLANE_SHUFFLE"}, {50, 'L', 'L', "VECTOR_LOAD"},
    {51, 'L', 'L', "VECTOR_LOAD_INDEXED"},
    {54, 'L', 'L', "VECTOR_LOAD_REPLICATE_EVEN_ODD_SUBLANES"}, {55, 'L', 'L', "VECTOR_CMEM_LOAD"},
    {56, 'L', 'L', "VECTOR_CMEM_LOAD_AND_POP"}, {57, 'X', 'X', "VECTOR_PERMUTE"},
    {58, 'X', 'X', "VECTOR_PERMUTE_SUBLANE"}, {59, 'X', 'V', "VECTOR_COMBINE_HIGH"},
    {60, 'X', 'V', "VECTOR_COMBINE_LOW"}, {61, 'X', 'X', "VECTOR_ROTATE"},
    {62, 'X', 'V', "VECTOR_BROADCAST_LANE"}, {63, 'V', 'V', "VECTOR_PRNG"},
    {64, 'V', 'V', "VECTOR_SET_RNG_SEED"}, {65, 'V', 'V', "VECTOR_GET_RNG_SEED"},
    {66, 'L', 'L', "VECTOR_STORE"}, {67, 'L', 'L', "VECTOR_STORE_INDEXED"},
    {68, 'L', 'X', "VECTOR_STORE_SUBLANE_SHUFFLE"}, {69, 'L', 'L', "VECTOR_CMEM_STORE_PSEUDO"},
    {70, 'L', 'L', "VECTOR_CMEM_STORE"}, {71, 'L', 'L', "VECTOR_STORE_INDEXED_MASKED"},
    {72, 'L', 'L', "VECTOR_STORE_MASKED"}, {73, 'L', 'L', "VECTOR_STORE_EVEN_ODD_SUBLANES"},
    {74, 'V', 'V', "VECTOR_NOP"}, {75, 'V', 'V', "VECTOR_CLAMP_GEZ_F32"},
    {76, 'V', 'V', "VECTOR_CLAMP_GEZ_BF16"}, {77, 'V', 'V', "VECTOR_CLAMP_SYMMETRIC_F32"},
    {78, 'V', 'V', "VECTOR_CLAMP_SYMMETRIC_BF16"}, {79, 'V', 'V', "VECTOR_CLAMP_ASYMMETRIC_F32"},
    {80, 'V', 'V', "VECTOR_CLAMP_ASYMMETRIC_BF16"}, {81, 'V', 'V', "VECTOR_CLAMP_SYMMETRIC_S4"},
    {82, 'V', 'V', "VECTOR_REMAP_F32"}, {83, 'V', 'V', "VECTOR_REMAP_BF16"},
    {84, 'V', 'V', "VECTOR_MULTIPLY_ACCUMULATE"}, {85, 'V', 'V', "VECTOR_MUL_SET_ACC"},
    {86, 'V', 'V', "VECTOR_MAX_ABS_F32"}, {87, 'V', 'V', "VECTOR_MAX_ABS_BF16"},
    {88, 'V', 'V', "VECTOR_MAX_ABS_SET_ACC_F32"}, {89, 'V', 'V', "VECTOR_MAX_ABS_SET_ACC_BF16"},
    {105, 'V', 'V', "VECTOR_SET_ACC"}, {106, 'V', 'V', "VECTOR_MOVE_ACC_HIGH"},
    {107, 'V', 'V', "VECTOR_MOVE_ACC_LOW"}, {108, 'V', 'V', "VECTOR_MOVE_EVEN_ACC_LOW"},
    {112, 'S', 'S', "SCALAR_CONVERT_F32_TO_S32_WITH_PROB_ROUNDING"},
    {113, 'S', 'S', "SCALAR_CONVERT_F32_TO_S32"},
    {114, 'S', 'S', "SCALAR_CONVERT_F32_TO_S32_TOWARDS_ZERO_PSEUDO"},
    {115, 'V', 'V', "VECTOR_CONVERT_F32_TO_S32_WITH_PROB_ROUNDING"},
    {116, 'V', 'V', "VECTOR_CONVERT_F32_TO_S32"},
    {117, 'V', 'V', "VECTOR_CONVERT_F32_TO_S32_TOWARDS_ZERO_PSEUDO"},
    {118, 'V', 'V', "VECTOR_CONVERT_F32_TO_F8_E5_M2"},
    {119, 'V', 'V', "VECTOR_CONVERT_F32_TO_F8_E4_M3_FN"},
    {120, 'V', 'V', "VECTOR_CONVERT_F32_TO_F8_E4_M3_B11"},
    {121, 'V', 'V', "VECTOR_CONVERT_F32_TO_HF16"},
    {122, 'V', 'V', "VECTOR_CONVERT_F32_TO_S32_TIES_TO_EVEN_PSEUDO"},
    {123, 'V', 'V', "VECTOR_CONVERT_S8_TO_BF16"}, {124, 'V', 'V', "VECTOR_CONVERT_S4_TO_BF16"},
    {125, 'V', 'V', "VECTOR_CONVERT_U8_TO_BF16"}, {126, 'V', 'V', "VECTOR_CONVERT_U4_TO_BF16"},
    {127, 'V', 'V', "VECTOR_CONVERT_BF16_TO_S8"}, {128, 'V', 'V', "VECTOR_CONVERT_BF16_TO_S4"},
    {129, 'V', 'V', "VECTOR_CONVERT_BF16_TO_U8"}, {130, 'V', 'V', "VECTOR_CONVERT_BF16_TO_U4"},
    {131, 'V', 'V', "VECTOR_CONVERT_EX_MY_TO_E4_M3"},
    {133, 'V', 'V', "VECTOR_CONVERT_EX_MY_TO_E5_M2"},
    {135, 'V', 'V', "VECTOR_CONVERT_F32_TO_E5_M2_STOCHASTIC"},
    {136, 'V', 'V', "VECTOR_CONVERT_F32_TO_E4_M3_STOCHASTIC"},
    {137, 'V', 'V', "VECTOR_CONVERT_F32_TO_IF8_STOCHASTIC"},
    {138, 'V', 'V', "VECTOR_CONVERT_F32_TO_BF16_STOCHASTIC"},
    {139, 'V', 'V', "VECTOR_CONVERT_F32_TO_HF16_STOCHASTIC"},
    {142, 'X', 'X', "VECTOR_MULTI_SUBLANE_ROTATE_TZ"}, {143, 'X', 'X', "VECTOR_SUBLANE_ROTATE_TZ"},
    {144, 'L', 'L', "SCALAR_LOAD"}, {145, 'L', 'L', "SCALAR_STORE"},
    {146, 'C', 'Y', "VECTOR_SYNC_FLAG_ADD"}, {147, 'C', 'Y', "VECTOR_SYNC_FLAG_ADD_REMOTE"},
    {148, 'C', 'Y', "VECTOR_SYNC_FLAG_ADD_DONE"}, {149, 'C', 'Y', "VECTOR_SYNC_FLAG_ADD_NOT_DONE"},
    {150, 'C', 'Y', "VECTOR_SYNC_FLAG_SET"}, {151, 'C', 'Y', "VECTOR_SYNC_FLAG_SET_DONE"},
    {152, 'C', 'Y', "VECTOR_SYNC_FLAG_SET_NOT_DONE"},
    {153, 'C', 'Y', "VECTOR_SYNC_FLAG_SET_REMOTE"},
    {154, 'C', 'Y', "VECTOR_SYNC_FLAG_PUBLIC_ACCESS_SET"}, {155, 'C', 'V', "VECTOR_SET_TRACEMARK"},
    {156, 'C', 'V', "VECTOR_TRACE"}, {157, 'S', 'S', "SCALAR_COMPOSE_U64"},
    {158, 'S', 'S', "SCALAR_ADDRESS_CALCULATION"}, {159, 'C', 'S', "SCALAR_BRANCH_REL"},
    {160, 'C', 'S', "SCALAR_BRANCH_IND"}, {161, 'S', 'S', "SCALAR_SELECT"},
    {162, 'V', 'V', "VECTOR_SELECT"}, {164, 'X', 'X', "VECTOR_SET_PERMUTE_PATTERN"},
    {165, 'V', 'V', "VECTOR_SET_SEGMENT_PATTERN"}, {166, 'M', 'V', "VECTOR_LATCH_LSF"},
    {167, 'M', 'V', "VECTOR_LATCH_LSF_MSK"}, {168, 'M', 'V', "VECTOR_LATCH"},
    {169, 'M', 'V', "VECTOR_LATCH_MSK"}, {170, 'M', 'V', "VECTOR_LATCH1"},
    {171, 'M', 'V', "VECTOR_LATCH1_MSK"}, {172, 'M', 'V', "VECTOR_LATCH2"},
    {173, 'M', 'V', "VECTOR_LATCH2_MSK"}, {174, 'M', 'V', "VECTOR_LATCH3"},
    {175, 'M', 'V', "VECTOR_LATCH3_MSK"}, {178, 'M', 'V', "VECTOR_MATPREP_SUBR"},
    {180, 'M', 'V', "VECTOR_MATPREP_SUBR_MSK"}, {181, 'M', 'V', "VECTOR_MATPREP_MUBR"},
    {182, 'M', 'V', "VECTOR_MATPREP_MUBR_MSK"}, {185, 'M', 'M', "VECTOR_MATMUL"},
    {186, 'M', 'M', "VECTOR_MATMUL_MUBR"}, {187, 'M', 'M', "VECTOR_MATMUL_HIGH"},
    {188, 'M', 'M', "VECTOR_MATMUL_LOW"}, {189, 'M', 'M', "VECTOR_MATMUL_MSK"},
    {190, 'M', 'M', "VECTOR_MATMUL_MUBR_MSK"}, {191, 'M', 'M', "VECTOR_MATMUL_HIGH_MSK"},
    {192, 'M', 'M', "VECTOR_MATMUL_LOW_MSK"}, {193, 'M', 'M', "VECTOR_MATMUL_PACKED"},
    {194, 'M', 'M', "VECTOR_MATMUL_PACKED_MSK"}, {195, 'M', 'M', "VECTOR_MATMUL_LMR"},
    {196, 'X', 'X', "VECTOR_TRANSPOSE"}, {197, 'X', 'X', "VECTOR_TRANSPOSE_BINARY"},
    {198, 'M', 'V', "VECTOR_DONE_WITH_GAINS"}, {199, 'M', 'L', "VECTOR_LOAD_GMR"},
    {200, 'M', 'L', "VECTOR_LOAD_LMR"}, {201, 'M', 'L', "VECTOR_LOAD_LMR_WITH_BF16_CONVERSION"},
    {202, 'C', 'V', "VECTOR_DELAY"}, {203, 'S', 'S', "SCALAR_WEIRD"},
    {204, 'V', 'V', "VECTOR_WEIRD"}, {205, 'P', 'V', "VECTOR_CREATE_SUBLANE_MASK"},
    {206, 'P', 'V', "VECTOR_CREATE_LANE_MASK"}, {207, 'P', 'V', "VECTOR_CREATE_MASK"},
    {208, 'C', 'S', "SCALAR_DELAY"}, {209, 'D', 'D', "DMA_GENERAL"}, {210, 'D', 'D', "DMA"},
    {211, 'D', 'D', "DMA_HBM_TO_VMEM"}, {212, 'D', 'D', "DMA_HBM_TO_VMEM_VSRC_VDST"},
    {213, 'D', 'D', "DMA_HBM_TO_VMEM_VSRC"}, {214, 'D', 'D', "DMA_HBM_TO_VMEM_VDST"},
    {215, 'D', 'D', "DMA_HBM_TO_CMEM"}, {216, 'D', 'D', "DMA_HBM_TO_SMEM"},
    {217, 'D', 'D', "DMA_VMEM_TO_SMEM"}, {218, 'D', 'D', "DMA_HBM_TO_HIB"},
    {219, 'D', 'D', "DMA_HBM_TO_IMEM"}, {220, 'D', 'D', "DMA_VMEM_TO_HBM"},
    {221, 'D', 'D', "DMA_VMEM_TO_HBM_VSRC_VDST"}, {222, 'D', 'D', "DMA_VMEM_TO_HBM_VSRC"},
    {223, 'D', 'D', "DMA_VMEM_TO_HBM_VDST"}, {224, 'D', 'D', "DMA_VMEM_TO_CMEM"},
    {225, 'D', 'D', "DMA_VMEM_TO_VMEM"}, {226, 'D', 'D', "DMA_CMEM_TO_CMEM"},
    {227, 'D', 'D', "DMA_CMEM_TO_HBM"}, {228, 'D', 'D', "DMA_CMEM_TO_VMEM"},
    {229, 'D', 'D', "DMA_CMEM_TO_SMEM"}, {230, 'D', 'D', "DMA_CMEM_TO_HIB"},
    {231, 'D', 'D', "DMA_CMEM_TO_IMEM"}, {232, 'D', 'D', "DMA_SMEM_TO_HBM"},
    {233, 'D', 'D', "DMA_SMEM_TO_CMEM"}, {234, 'D', 'D', "DMA_SMEM_TO_VMEM"},
    {235, 'D', 'D', "DMA_HBM_TO_VMEM_WITH_HIB_UPDATE"},
    {236, 'D', 'D', "DMA_HBM_TO_VMEM_VSRC_VDST_WITH_HIB_UPDATE"},
    {237, 'D', 'D', "DMA_HBM_TO_VMEM_VSRC_WITH_HIB_UPDATE"},
    {238, 'D', 'D', "DMA_HBM_TO_VMEM_VDST_WITH_HIB_UPDATE"}, {239, 'D', 'D', "DMA_HBM_TO_HOST"},
    {240, 'D', 'D', "DMA_HOST_TO_HBM"}, {241, 'D', 'D', "DMA_VMEM_TO_HOST"},
    {242, 'D', 'D', "DMA_SMEM_TO_HOST"}, {243, 'D', 'D', "DMA_HBM_TO_HOST_IOVA"},
    {244, 'D', 'D', "DMA_HOST_IOVA_TO_HBM"}, {245, 'D', 'D', "DMA_VMEM_TO_HOST_IOVA"},
    {246, 'D', 'D', "DMA_SMEM_TO_HOST_IOVA"}, {247, 'D', 'D', "DMA_DONE"},
    {248, 'D', 'D', "DMA_DONE_WAIT"}, {249, 'S', 'S', "SCALAR_CONSTANT_U32"},
    {250, 'S', 'S', "SCALAR_CONSTANT_PACKED_BF16"}, {251, 'S', 'S', "SCALAR_CONSTANT_F32"},
    {252, 'V', 'V', "VECTOR_CONSTANT_U32"}, {253, 'V', 'V', "VECTOR_CONSTANT_PACKED_BF16"},
    {254, 'V', 'V', "VECTOR_CONSTANT_F32"}, {255, 'P', 'S', "PREDICATE_CONSTANT"},
    {256, 'P', 'V', "VECTOR_MASK_CONSTANT"}, {257, 'P', 'V', "VECTOR_MASK_CONSTANT_PACKED"},
    {258, 'V', 'V', "VECTOR_CONSTANT_U64"}, {259, 'P', 'S', "PREDICATE_NEGATE"},
    {260, 'P', 'S', "PREDICATE_MOVE"}, {261, 'P', 'S', "PREDICATE_NAND"},
    {262, 'P', 'S', "PREDICATE_OR"}, {263, 'P', 'S', "PREDICATE_PHI"},
    {264, 'S', 'S', "SCALAR_PHI"}, {265, 'V', 'V', "VECTOR_PHI"},
    {266, 'P', 'V', "VECTOR_MASK_PHI"}, {267, 'O', 'O', "TUPLE"}, {268, 'C', 'O', "INLINED_CALL"},
    {269, 'C', 'O', "CALL"}, {270, 'C', 'O', "INLINED_CALL_OPERAND"},
    {271, 'P', 'S', "PREDICATE_PSEUDO"}, {272, 'S', 'S', "SCALAR_PSEUDO"},
    {273, 'V', 'V', "VECTOR_PSEUDO"}, {274, 'P', 'V', "VECTOR_MASK_PSEUDO"},
    {275, 'X', 'V', "VECTOR_MIN_REDUCE_F32"}, {276, 'X', 'V', "VECTOR_MAX_REDUCE_F32"},
    {277, 'X', 'V', "VECTOR_ADD_REDUCE_F32"}, {278, 'X', 'V', "VECTOR_MAX_INDEX_REDUCE_F32"},
    {279, 'X', 'V', "VECTOR_MIN_INDEX_REDUCE_F32"},
    {280, 'X', 'V', "VECTOR_MAX_SEGMENT_REDUCE_F32"},
    {281, 'X', 'V', "VECTOR_MIN_SEGMENT_REDUCE_F32"},
    {282, 'X', 'V', "VECTOR_ADD_SEGMENT_REDUCE_F32"}, {283, 'X', 'V', "VECTOR_MIN_REDUCE_BF16"},
    {284, 'X', 'V', "VECTOR_MAX_REDUCE_BF16"}, {285, 'X', 'V', "VECTOR_ADD_REDUCE_BF16"},
    {286, 'X', 'V', "VECTOR_MAX_INDEX_REDUCE_BF16"},
    {287, 'X', 'V', "VECTOR_MIN_INDEX_REDUCE_BF16"}, {288, 'V', 'V', "VECTOR_SUBLANE_ID"},
    {289, 'V', 'V', "VECTOR_LANE_ID"}, {290, 'V', 'V', "VECTOR_LANE_SEQUENCE"},
    {291, 'V', 'V', "VECTOR_LANE_SEQUENCE_COMPRESSED_B16"},
    {292, 'V', 'V', "VECTOR_LANE_SEQUENCE_INTERLEAVED_B16"},
    {293, 'S', 'S', "SCALAR_CONVERT_S32_TO_F32"}, {294, 'V', 'V', "VECTOR_CONVERT_S32_TO_F32"},
    {295, 'V', 'V', "VECTOR_UNPACK"}, {296, 'V', 'V', "VECTOR_UNPACK_AND_JOIN_LOWER_B2_TO_B4"},
    {297, 'V', 'V', "VECTOR_UNPACK_AND_JOIN_UPPER_B2_TO_B4"},
    {298, 'V', 'V', "VECTOR_UNPACK_AND_JOIN_LOWER_B4_TO_B8"},
    {299, 'V', 'V', "VECTOR_UNPACK_AND_JOIN_UPPER_B4_TO_B8"},
    {300, 'V', 'V', "VECTOR_UNPACK_EX_MY"}, {302, 'V', 'V', "VECTOR_DYNAMIC_UNPACK"},
    {303, 'V', 'V', "VECTOR_CEIL_F32"}, {304, 'V', 'V', "VECTOR_CEIL_BF16"},
    {305, 'V', 'V', "VECTOR_FLOOR_F32"}, {306, 'V', 'V', "VECTOR_FLOOR_BF16"},
    {307, 'V', 'V', "VECTOR_ROUND_NEAREST_EVEN_PSEUDO"}, {308, 'V', 'V', "VECTOR_ROUND_RTNA_F32"},
    {309, 'V', 'V', "VECTOR_ROUND_RTNA_BF16"}, {310, 'V', 'V', "VECTOR_ROUND_RTNE_F32"},
    {311, 'V', 'V', "VECTOR_ROUND_RTNE_BF16"}, {318, 'V', 'V', "VECTOR_TRUNCATE_F32"},
    {319, 'V', 'V', "VECTOR_TRUNCATE_BF16"}, {320, 'V', 'V', "VECTOR_ADD_S32"},
    {321, 'V', 'V', "VECTOR_ADD_F32"}, {322, 'V', 'V', "VECTOR_ADD_BF16"},
    {323, 'V', 'V', "VECTOR_ADD_F32_BF16_HIGH"}, {324, 'V', 'V', "VECTOR_ADD_F32_BF16_LOW"},
    {325, 'V', 'V', "VECTOR_ADD_S16"}, {326, 'V', 'V', "VECTOR_SUBTRACT_S32"},
    {327, 'V', 'V', "VECTOR_SUBTRACT_F32"}, {328, 'V', 'V', "VECTOR_SUBTRACT_BF16"},
    {329, 'V', 'V', "VECTOR_SUBTRACT_S16"}, {330, 'V', 'V', "VECTOR_COMPOSE_F32"},
    {331, 'V', 'V', "VECTOR_PACK"}, {332, 'V', 'V', "VECTOR_PACK_EX_MY"},
    {333, 'V', 'V', "VECTOR_TANH_F32"}, {334, 'V', 'V', "VECTOR_POW2_F32"},
    {335, 'V', 'V', "VECTOR_RECIPROCAL_F32"}, {336, 'V', 'V', "VECTOR_LOG2_F32"},
    {337, 'V', 'V', "VECTOR_RSQRT_F32"}, {338, 'V', 'V', "VECTOR_SIG_SHFT_F32"},
    {339, 'V', 'V', "VECTOR_SINQ_F32"}, {340, 'V', 'V', "VECTOR_COSQ_F32"},
    {341, 'V', 'V', "VECTOR_ERF_F32"}, {342, 'V', 'V', "VECTOR_PUSH_ERF"},
    {343, 'V', 'V', "VECTOR_TANH_BF16"}, {344, 'V', 'V', "VECTOR_POW2_BF16"},
    {345, 'V', 'V', "VECTOR_RECIPROCAL_BF16"}, {346, 'V', 'V', "VECTOR_LOG2_BF16"},
    {347, 'V', 'V', "VECTOR_RSQRT_BF16"}, {348, 'V', 'V', "VECTOR_SIG_SHFT_BF16"},
    {349, 'V', 'V', "VECTOR_SINQ_BF16"}, {350, 'V', 'V', "VECTOR_COSQ_BF16"},
    {351, 'V', 'V', "VECTOR_ERF_BF16"}, {352, 'V', 'V', "VECTOR_TANH_F32_AND_POP"},
    {353, 'V', 'V', "VECTOR_POW2_F32_AND_POP"}, {354, 'V', 'V', "VECTOR_RECIPROCAL_F32_AND_POP"},
    {355, 'V', 'V', "VECTOR_LOG2_F32_AND_POP"}, {356, 'V', 'V', "VECTOR_RSQRT_F32_AND_POP"},
    {357, 'V', 'V', "VECTOR_SIG_SHFT_F32_AND_POP"}, {358, 'V', 'V', "VECTOR_SINQ_F32_AND_POP"},
    {359, 'V', 'V', "VECTOR_COSQ_F32_AND_POP"}, {360, 'V', 'V', "VECTOR_ERF_F32_AND_POP"},
    {361, 'V', 'V', "VECTOR_PUSH_ERF_AND_POP"}, {362, 'V', 'V', "VECTOR_TANH_BF16_AND_POP"},
    {363, 'V', 'V', "VECTOR_POW2_BF16_AND_POP"}, {364, 'V', 'V', "VECTOR_RECIPROCAL_BF16_AND_POP"},
    {365, 'V', 'V', "VECTOR_LOG2_BF16_AND_POP"}, {366, 'V', 'V', "VECTOR_RSQRT_BF16_AND_POP"},
    {367, 'V', 'V', "VECTOR_SIG_SHFT_BF16_AND_POP"}, {368, 'V', 'V', "VECTOR_SINQ_BF16_AND_POP"},
    {369, 'V', 'V', "VECTOR_COSQ_BF16_AND_POP"}, {370, 'V', 'V', "VECTOR_ERF_BF16_AND_POP"},
    {371, 'V', 'V', "VECTOR_EUP_RESULT"}, {372, 'X', 'V', "VECTOR_XLANE_RESULT"},
    {373, 'X', 'X', "VECTOR_PERMUTE_RESULT"}, {374, 'V', 'V', "VECTOR_CMEM_RESULT"},
    {375, 'M', 'V', "VECTOR_MATRES"}, {377, 'M', 'V', "VECTOR_MATRES_ADD"},
    {378, 'X', 'X', "VECTOR_TRANSPOSE_RESULT"}, {379, 'X', 'X', "VECTOR_TRANSPOSE_CLEAR"},
    {380, 'V', 'V', "VECTOR_POW_F32"}, {381, 'V', 'V', "VECTOR_POW_BF16"},
    {382, 'V', 'V', "VECTOR_MULTIPLY_F32"}, {383, 'V', 'V', "VECTOR_MULTIPLY_U32"},
    {384, 'V', 'V', "VECTOR_MULTIPLY_U16"}, {385, 'V', 'V', "VECTOR_MULTIPLY_BF16"},
    {386, 'V', 'V', "VECTOR_AND_U32"}, {387, 'V', 'V', "VECTOR_AND_NEGATED_U32"},
    {388, 'V', 'V', "VECTOR_OR_U32"}, {389, 'V', 'V', "VECTOR_XOR_U32"},
    {390, 'V', 'V', "VECTOR_PSEUDO_UNPACK"}, {391, 'V', 'V', "VECTOR_PSEUDO_PACK"},
    {392, 'V', 'V', "VECTOR_MULTIPLY_COMPOSE_U64"}, {393, 'V', 'V', "VECTOR_MULTIPLY_U64_LOW32"},
    {394, 'V', 'V', "VECTOR_MULTIPLY_U64_HIGH32"}, {395, 'V', 'V', "VECTOR_EXTRACT_LOW32"},
    {396, 'V', 'V', "VECTOR_EXTRACT_HIGH32"}, {397, 'V', 'V', "VECTOR_COMPARE"},
    {398, 'V', 'V', "VECTOR_NEZ"}, {399, 'V', 'V', "VECTOR_ADD_CARRY_U32"},
    {400, 'V', 'V', "VECTOR_ADD_CARRY_U16"}, {401, 'S', 'S', "SCALAR_COMPARE"},
    {402, 'S', 'S', "SCALAR_ADD_CARRY_U32"}, {403, 'S', 'S', "SCALAR_MULTIPLY_WORD_ADDR"},
    {404, 'S', 'S', "SCALAR_MULTIPLY_U24"}, {405, 'S', 'S', "SCALAR_MULTIPLY_U32"},
    {406, 'S', 'S', "SCALAR_MULTIPLY_F32"}, {407, 'S', 'S', "SCALAR_ADD_F32"},
    {408, 'S', 'S', "SCALAR_ADD_S32"}, {409, 'S', 'S', "SCALAR_SUBTRACT_S32"},
    {410, 'S', 'S', "SCALAR_SUBTRACT_F32"}, {411, 'S', 'S', "SCALAR_BITWISE_AND"},
    {412, 'S', 'S', "SCALAR_BITWISE_OR"}, {413, 'S', 'S', "SCALAR_BITWISE_XOR"},
    {414, 'S', 'S', "SCALAR_DIV_REM_U32"}, {415, 'S', 'S', "SCALAR_DIV_U32_AND_POP"},
    {416, 'S', 'S', "SCALAR_REM_U32_AND_POP"}, {417, 'S', 'S', "SCALAR_MOVE"},
    {418, 'O', 'O', "RELOCATABLE_CONSTANT"}, {419, 'S', 'S', "SCALAR_FLOOR_F32"},
    {420, 'S', 'S', "SCALAR_CEIL_F32"}, {421, 'S', 'S', "SCALAR_COUNT_LEADING_ZEROS"},
    {422, 'V', 'V', "VECTOR_COUNT_LEADING_ZEROS"}, {423, 'V', 'V', "VECTOR_MOVE"},
    {424, 'V', 'V', "VECTOR_POP_COUNT"}, {425, 'V', 'V', "VECTOR_EXTRACT_EXPONENT"},
    {426, 'V', 'V', "VECTOR_EXTRACT_SIGNIFICAND"}, {427, 'V', 'V', "VECTOR_WAIT_LE"},
    {428, 'V', 'V', "VECTOR_WAIT_LT"}, {429, 'V', 'V', "VECTOR_WAIT_GE"},
    {430, 'V', 'V', "VECTOR_WAIT_GT"}, {431, 'V', 'V', "VECTOR_WAIT_EQ"},
    {432, 'V', 'V', "VECTOR_WAIT_NE"}, {433, 'V', 'V', "VECTOR_WAIT_DONE"},
    {434, 'V', 'V', "VECTOR_WAIT_NOT_DONE"}, {435, 'V', 'V', "VECTOR_WAIT_LE_YIELDABLE"},
    {436, 'V', 'V', "VECTOR_WAIT_LT_YIELDABLE"}, {437, 'V', 'V', "VECTOR_WAIT_GE_YIELDABLE"},
    {438, 'V', 'V', "VECTOR_WAIT_GT_YIELDABLE"}, {439, 'V', 'V', "VECTOR_WAIT_EQ_YIELDABLE"},
    {440, 'V', 'V', "VECTOR_WAIT_NE_YIELDABLE"}, {441, 'P', 'V', "VECTOR_MASK_XOR"},
    {442, 'P', 'V', "VECTOR_MASK_OR"}, {443, 'P', 'V', "VECTOR_MASK_AND"},
    {444, 'P', 'V', "VECTOR_MASK_PACK_COMPRESSED_LOW"}, {445, 'P', 'V', "VECTOR_MASK_NEGATE"},
    {446, 'P', 'V', "VECTOR_MASK_MOVE"}, {447, 'V', 'V', "VECTOR_SHIFT_RIGHT_LOGICAL"},
    {448, 'V', 'V', "VECTOR_SHIFT_RIGHT_ARITHMETIC"}, {449, 'V', 'V', "VECTOR_SHIFT_LEFT_LOGICAL"},
    {450, 'V', 'V', "VECTOR_MAXIMUM_F32"}, {451, 'V', 'V', "VECTOR_MAXIMUM_BF16"},
    {452, 'V', 'V', "VECTOR_MAXIMUM_U32"}, {453, 'V', 'V', "VECTOR_MINIMUM_F32"},
    {454, 'V', 'V', "VECTOR_MINIMUM_BF16"}, {455, 'V', 'V', "VECTOR_MINIMUM_U32"},
    {456, 'S', 'S', "SCALAR_SHRL"}, {457, 'S', 'S', "SCALAR_SHRA"}, {458, 'S', 'S', "SCALAR_SHLL"},
    {459, 'S', 'S', "SCALAR_SHLL_ONES"}, {460, 'S', 'S', "SCALAR_MINIMUM_F32"},
    {461, 'S', 'S', "SCALAR_MAXIMUM_F32"}, {462, 'S', 'S', "SCALAR_MINIMUM_U32"},
    {463, 'S', 'S', "SCALAR_MAXIMUM_U32"}, {464, 'O', 'O', "VSETPTSTATE"},
    {465, 'O', 'C', "SPARSE_CORE_SCALAR_WAIT_DONE"}, {466, 'O', 'C', "SPARSE_CORE_SCALAR_SYNC_ADD"},
    {467, 'O', 'C', "SPARSE_CORE_SCALAR_WAIT_INFEED"},
    {468, 'O', 'C', "SPARSE_CORE_SCALAR_WAIT_LT"}, {469, 'O', 'C', "SPARSE_CORE_SCALAR_WAIT_GE"},
    {470, 'O', 'C', "SPARSE_CORE_SCALAR_WAIT_GT"}, {471, 'O', 'C', "SPARSE_CORE_SCALAR_WAIT_EQ"},
    {472, 'O', 'C', "SPARSE_CORE_SCALAR_WAIT_NE"},
    {473, 'O', 'C', "SPARSE_CORE_SCALAR_SYNC_DONE_READ"},
    {474, 'O', 'C', "SPARSE_CORE_SCALAR_SYNC_DONE_WRITE"},
    {475, 'O', 'C', "SPARSE_CORE_SCALAR_SYNC_PUBLIC_ACCESS_READ"},
    {476, 'O', 'C', "SPARSE_CORE_SCALAR_SYNC_PUBLIC_ACCESS_WRITE"},
    {477, 'O', 'C', "SPARSE_CORE_SCALAR_POP"}, {478, 'O', 'C', "SPARSE_CORE_ISSUE_FSM"},
    {479, 'C', 'C', "SPARSE_CORE_SCALAR_FENCE"}, {480, 'O', 'D', "SPARSE_CORE_DMA"},
    {481, 'O', 'C', "SPARSE_CORE_REMOTE_SCALAR_WRITE"},
    {482, 'O', 'C', "SPARSE_CORE_PF_REMOTE_SCALAR_WRITE"},
    {483, 'O', 'C', "SPARSE_CORE_ALLOCATE_REMOTE_BUFFERS"},
    {484, 'O', 'C', "SPARSE_CORE_GLOBAL_SCATTER_IDS"},
    {485, 'O', 'C', "SPARSE_CORE_PF_GLOBAL_SCATTER_IDS"},
    {486, 'O', 'C', "SPARSE_CORE_LOCAL_GATHER"}, {487, 'O', 'C', "SPARSE_CORE_PF_LOCAL_GATHER"},
    {488, 'X', 'C', "SPARSE_CORE_SPARSE_REDUCE"}, {489, 'X', 'C', "SPARSE_CORE_PF_SPARSE_REDUCE"},
    {490, 'O', 'C', "SPARSE_CORE_PF_GLOBAL_SCATTER_GRADIENTS"},
    {491, 'O', 'C', "SPARSE_CORE_GLOBAL_SCATTER_GRADIENTS"},
    {492, 'O', 'C', "SPARSE_CORE_LOCAL_SCATTER_GRADIENTS"},
    {493, 'O', 'C', "SPARSE_CORE_PF_LOCAL_SCATTER_GRADIENTS"},
    {494, 'L', 'C', "SPARSE_CORE_VECTOR_LOAD"},
    {495, 'L', 'C', "SPARSE_CORE_VECTOR_LOAD_IMMEDIATE_OFFSET"},
    {496, 'O', 'C', "SPARSE_CORE_MOVE_SCALAR_REG"}, {497, 'L', 'C', "SPARSE_CORE_VECTOR_STORE"},
    {498, 'C', 'V', "VECTOR_TRACE_ARG"}, {499, 'P', 'V', "VECTOR_MASK_PACK_COMPRESSED_EVEN"},
    {500, 'S', 'S', "SCALAR_MULTIPLY_HIGH_U32"},
    {508, 'S', 'S', "SCALAR_ADD_S32_WITH_OVERFLOW_CHECK"},
    {509, 'S', 'S', "SCALAR_SUBTRACT_S32_WITH_OVERFLOW_CHECK"},
    {510, 'S', 'S', "SCALAR_SHLA_WITH_OVERFLOW_CHECK"},
};
// clang-format on

const Opcode* Find(uint32_t number) {
  const auto* const found = std::ranges::lower_bound(kOpcodes, number, {}, &Opcode::number);
  return found == std::end(kOpcodes) || found->number != number ? nullptr : found;
}

}  // namespace

std::string LloOpcodeName(uint32_t opcode) {
  const Opcode* const known = Find(opcode);
  if (known == nullptr) return "OPCODE_UNKNOWN_" + std::to_string(opcode);
  return "OPCODE_" + std::string(known->name);
}

std::string_view LloCategory(uint32_t opcode) {
  const Opcode* const known = Find(opcode);
  return CategoryName(known == nullptr ? 'O' : known->category);
}

std::string_view LloUnitOf(uint32_t opcode) {
  const Opcode* const known = Find(opcode);
  return UnitName(known == nullptr ? 'O' : known->unit);
}

}  // namespace strobe::tools
