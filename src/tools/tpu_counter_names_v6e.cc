// Names and addresses of the hardware counters of TPU v6e (see tpu_counter_names.h for the form).
#include "src/tools/tpu_counter_names.h"

namespace strobe::tools::internal {

extern const std::string_view kV6eCounterTable = R"(
@ vf_chip_tc_tcs_tc_misc_tcs_stats_tcs_stats_counters_ 3257466888
cycles:0 matmul_lmr_bf16_mxu_0:58 matmul_lmr_bf16_mxu_1:59 matmul_lmr_i4_mxu_0:62
matmul_lmr_i4_mxu_1:63 matmul_lmr_i8_mxu_0:60 matmul_lmr_i8_mxu_1:61 matmul_vreg_bf16_mxu_0:50
matmul_vreg_bf16_mxu_1:51 matmul_vreg_f32_mxu_0:48 matmul_vreg_f32_mxu_1:49
matmul_vreg_f8_mxu_0:52 matmul_vreg_f8_mxu_1:53 matmul_vreg_i4_mxu_0:56 matmul_vreg_i4_mxu_1:57
matmul_vreg_i8_mxu_0:54 matmul_vreg_i8_mxu_1:55 matpush_cycles_mxu_0:69 matpush_cycles_mxu_1:70
mxu_busy_0:64 mxu_busy_1:65 mxu_busy_2:66 packed_xlu_0:79 packed_xlu_1:80
rotate_permute_instruction_xlu_0:73 rotate_permute_instruction_xlu_1:74
rotate_permute_set_instruction_xlu_0:75 rotate_permute_set_instruction_xlu_1:76
scalar_alu_instruction_0:10 scalar_alu_instruction_1:11 transpose_xlu_0:77 transpose_xlu_1:78
vector_alu_instruction_0:31 vector_alu_instruction_1:32 vector_alu_instruction_2:33
vector_alu_instruction_3:34 vld_instruction_0:37 vld_instruction_1:38 vst_instruction:35
xlu_busy_0:81 xlu_busy_1:82 xlu_busy_2:83 vpu_valu_fadd_ops_0:211 vpu_valu_fadd_ops_1:212
vpu_valu_fadd_ops_2:213 vpu_valu_fadd_ops_3:214 vpu_valu_fmul_ops_0:215 vpu_valu_fmul_ops_1:216
vpu_valu_fmul_ops_2:217 vpu_valu_fmul_ops_3:218 vpu_valu_misc_ops_0:219 vpu_valu_misc_ops_1:220
vpu_valu_misc_ops_2:221 vpu_valu_misc_ops_3:222 vpu_valu_int_ops_0:223 vpu_valu_int_ops_1:224
vpu_valu_int_ops_2:225 vpu_valu_int_ops_3:226 vpu_valu_fmac_ops_0:227 vpu_valu_fmac_ops_1:228
vpu_valu_fmac_ops_2:229 vpu_valu_fmac_ops_3:230
@ vf_chip_hbm_{}_hbmc_{}_cmn_hi_freq_stats_counters_ 3019980808 0,1,0 0,1,0
=partial_write_req_ps0:4 =partial_write_req_ps1:5 =partial_write_resp_ps0:10
=partial_write_resp_ps1:11 =rd_req_ps0:0 =rd_req_ps1:1 =rd_resp_ps0:6 =rd_resp_ps1:7 =wr_req_ps0:2
=wr_req_ps1:3 =wr_resp_ps0:8 =wr_resp_ps1:9
@ vf_chip_hbm_{}_hbmc_{}_cmn_hi_freq_stats_counters_ 3040952328 0,1,0 10,6,2097152
=partial_write_req_ps0:4 =partial_write_req_ps1:5 =partial_write_resp_ps0:10
=partial_write_resp_ps1:11 =rd_req_ps0:0 =rd_req_ps1:1 =rd_resp_ps0:6 =rd_resp_ps1:7 =wr_req_ps0:2
=wr_req_ps1:3 =wr_resp_ps0:8 =wr_resp_ps1:9
@ vf_chip_hbm_{}_hbmc_{}_cmn_hi_freq_stats_counters_ 3022077960 0,1,0 1,9,2097152
=partial_write_req_ps0:4 =partial_write_req_ps1:5 =partial_write_resp_ps0:10
=partial_write_resp_ps1:11 =rd_req_ps0:0 =rd_req_ps1:1 =rd_resp_ps0:6 =rd_resp_ps1:7 =wr_req_ps0:2
=wr_req_ps1:3 =wr_resp_ps0:8 =wr_resp_ps1:9
@ vf_chip_hbm_{}_hbmc_{}_cmn_hi_freq_stats_counters_ 3053535240 1,1,0 0,1,0
=partial_write_req_ps0:4 =partial_write_req_ps1:5 =partial_write_resp_ps0:10
=partial_write_resp_ps1:11 =rd_req_ps0:0 =rd_req_ps1:1 =rd_resp_ps0:6 =rd_resp_ps1:7 =wr_req_ps0:2
=wr_req_ps1:3 =wr_resp_ps0:8 =wr_resp_ps1:9
@ vf_chip_hbm_{}_hbmc_{}_cmn_hi_freq_stats_counters_ 3074506760 1,1,0 10,6,2097152
=partial_write_req_ps0:4 =partial_write_req_ps1:5 =partial_write_resp_ps0:10
=partial_write_resp_ps1:11 =rd_req_ps0:0 =rd_req_ps1:1 =rd_resp_ps0:6 =rd_resp_ps1:7 =wr_req_ps0:2
=wr_req_ps1:3 =wr_resp_ps0:8 =wr_resp_ps1:9
@ vf_chip_hbm_{}_hbmc_{}_cmn_hi_freq_stats_counters_ 3055632392 1,1,0 1,9,2097152
=partial_write_req_ps0:4 =partial_write_req_ps1:5 =partial_write_resp_ps0:10
=partial_write_resp_ps1:11 =rd_req_ps0:0 =rd_req_ps1:1 =rd_resp_ps0:6 =rd_resp_ps1:7 =wr_req_ps0:2
=wr_req_ps1:3 =wr_resp_ps0:8 =wr_resp_ps1:9
@ vf_chip_oci_icr_perf_counters_fifo_stats_counters_ 2953257136
=bn_rd_req_0_empty_count:4 =bn_rd_req_0_full_count:3 =bn_rd_req_0_insertion_count:0
=bn_rd_req_0_insertion_threshold_count:6 =bn_rd_req_0_threshold_count:2
=bn_rd_req_0_total_occupancy:1 =bn_rd_req_0_total_threshold_occupancy:5
=bn_rd_req_1_empty_count:11 =bn_rd_req_1_full_count:10 =bn_rd_req_1_insertion_count:7
=bn_rd_req_1_insertion_threshold_count:13 =bn_rd_req_1_threshold_count:9
=bn_rd_req_1_total_occupancy:8 =bn_rd_req_1_total_threshold_occupancy:12
=bn_wr_req_0_empty_count:18 =bn_wr_req_0_full_count:17 =bn_wr_req_0_insertion_count:14
=bn_wr_req_0_insertion_threshold_count:20 =bn_wr_req_0_threshold_count:16
=bn_wr_req_0_total_occupancy:15 =bn_wr_req_0_total_threshold_occupancy:19
=bn_wr_req_1_empty_count:25 =bn_wr_req_1_full_count:24 =bn_wr_req_1_insertion_count:21
=bn_wr_req_1_insertion_threshold_count:27 =bn_wr_req_1_threshold_count:23
=bn_wr_req_1_total_occupancy:22 =bn_wr_req_1_total_threshold_occupancy:26
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490185704 0,1,0 0,1,0
tec_scalar_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157224 0,1,0 10,6,2097152
tec_scalar_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492282856 0,1,0 1,9,2097152
tec_scalar_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534225896 1,1,0 0,1,0
tec_scalar_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197416 1,1,0 10,6,2097152
tec_scalar_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323048 1,1,0 1,9,2097152
tec_scalar_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490185720 0,1,0 0,1,0
tec_s0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157240 0,1,0 10,6,2097152
tec_s0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492282872 0,1,0 1,9,2097152
tec_s0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534225912 1,1,0 0,1,0
tec_s0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197432 1,1,0 10,6,2097152
tec_s0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323064 1,1,0 1,9,2097152
tec_s0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490185728 0,1,0 0,1,0
tec_s1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157248 0,1,0 10,6,2097152
tec_s1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492282880 0,1,0 1,9,2097152
tec_s1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534225920 1,1,0 0,1,0
tec_s1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197440 1,1,0 10,6,2097152
tec_s1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323072 1,1,0 1,9,2097152
tec_s1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490185736 0,1,0 0,1,0
tec_smisc_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157256 0,1,0 10,6,2097152
tec_smisc_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492282888 0,1,0 1,9,2097152
tec_smisc_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534225928 1,1,0 0,1,0
tec_smisc_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197448 1,1,0 10,6,2097152
tec_smisc_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323080 1,1,0 1,9,2097152
tec_smisc_instruction:0
@ vf_chip_sc_{}_scs_sc_stats_counters_ 3532193800 0,1,0
cycles:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490185224 0,1,0 0,1,0
cycles:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511156744 0,1,0 10,6,2097152
cycles:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492282376 0,1,0 1,9,2097152
cycles:0
@ vf_chip_sc_{}_scs_sc_stats_counters_ 3576233992 1,1,0
cycles:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534225416 1,1,0 0,1,0
cycles:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555196936 1,1,0 10,6,2097152
cycles:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536322568 1,1,0 1,9,2097152
cycles:0
@ vf_chip_sc_{}_scs_sc_stats_counters_ 3532193808 0,2,44040192
scalar_issue:0
@ vf_chip_sc_{}_scs_sc_stats_counters_ 3532193824 0,2,44040192
s0_instruction:0
@ vf_chip_sc_{}_scs_sc_stats_counters_ 3532193832 0,2,44040192
s1_instruction:0
@ vf_chip_sc_{}_scs_sc_stats_counters_ 3532193840 0,2,44040192
smisc_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490186176 0,1,0 0,1,0
vector_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157696 0,1,0 10,6,2097152
vector_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492283328 0,1,0 1,9,2097152
vector_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534226368 1,1,0 0,1,0
vector_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197888 1,1,0 10,6,2097152
vector_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323520 1,1,0 1,9,2097152
vector_issue:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490186184 0,1,0 0,1,0
v0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157704 0,1,0 10,6,2097152
v0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492283336 0,1,0 1,9,2097152
v0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534226376 1,1,0 0,1,0
v0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197896 1,1,0 10,6,2097152
v0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323528 1,1,0 1,9,2097152
v0_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490186192 0,1,0 0,1,0
v1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157712 0,1,0 10,6,2097152
v1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492283344 0,1,0 1,9,2097152
v1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534226384 1,1,0 0,1,0
v1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197904 1,1,0 10,6,2097152
v1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323536 1,1,0 1,9,2097152
v1_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490186200 0,1,0 0,1,0
v2_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157720 0,1,0 10,6,2097152
v2_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492283352 0,1,0 1,9,2097152
v2_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534226392 1,1,0 0,1,0
v2_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197912 1,1,0 10,6,2097152
v2_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323544 1,1,0 1,9,2097152
v2_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490186208 0,1,0 0,1,0
vld_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157728 0,1,0 10,6,2097152
vld_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492283360 0,1,0 1,9,2097152
vld_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534226400 1,1,0 0,1,0
vld_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197920 1,1,0 10,6,2097152
vld_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323552 1,1,0 1,9,2097152
vld_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490186216 0,1,0 0,1,0
vst_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157736 0,1,0 10,6,2097152
vst_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492283368 0,1,0 1,9,2097152
vst_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534226408 1,1,0 0,1,0
vst_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197928 1,1,0 10,6,2097152
vst_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323560 1,1,0 1,9,2097152
vst_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490186224 0,1,0 0,1,0
vres_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157744 0,1,0 10,6,2097152
vres_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492283376 0,1,0 1,9,2097152
vres_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534226416 1,1,0 0,1,0
vres_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197936 1,1,0 10,6,2097152
vres_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323568 1,1,0 1,9,2097152
vres_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3490186232 0,1,0 0,1,0
vex_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3511157752 0,1,0 10,6,2097152
vex_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3492283384 0,1,0 1,9,2097152
vex_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3534226424 1,1,0 0,1,0
vex_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3555197944 1,1,0 10,6,2097152
vex_instruction:0
@ vf_chip_sc_{}_sct_{}_sc_stats_counters_ 3536323576 1,1,0 1,9,2097152
vex_instruction:0
)";

}  // namespace strobe::tools::internal
