// What is known of GPUs and their kernels from texts and tables.
#include <gtest/gtest.h>

#include "src/analysis/device_peaks.h"
#include "src/analysis/kernel_reports.h"

namespace strobe::analysis {
namespace {

TEST(DevicePeaksTest, AVoltaCoreMultipliesMatrices) {
  const GpuCapabilities volta = {.vendor = "Nvidia",
                                 .name = "",
                                 .compute_major = 7,
                                 .compute_minor = 0,
                                 .cores = 80,
                                 .clock_ghz = 1.53};
  EXPECT_EQ(GpuModelName(volta), "Nvidia GPU (Volta)");
  // 125 TFLOP/s by the data sheet of a V100.
  EXPECT_NEAR(GpuGigaFlopsPerCore(volta) * 80 / 1000, 125, 1);
}

TEST(DevicePeaksTest, UnknownMakersHaveNoPeaks) {
  const GpuCapabilities other = {.vendor = "Other", .name = "x", .cores = 8, .clock_ghz = 1};
  EXPECT_EQ(GpuModelName(other), "");
  EXPECT_EQ(GpuGigaFlopsPerCore(other), 0);
  EXPECT_EQ(GpuSharedMemoryBytesPerCore(other), 0);
}

TEST(KernelReportsTest, DetailsAreReadFromTheirText) {
  KernelReport kernel;
  ParseKernelDetails(
      "regs:32 static_shared:16 dynamic_shared:1024 grid:3,2,1 block:128,1,1 occ_pct:62.5",
      &kernel);
  EXPECT_EQ(kernel.registers_per_thread, 32u);
  EXPECT_EQ(kernel.static_shmem_bytes, 16u);
  EXPECT_EQ(kernel.dynamic_shmem_bytes, 1024u);
  EXPECT_EQ(kernel.grid_dim[0], 3u);
  EXPECT_EQ(kernel.grid_dim[1], 2u);
  EXPECT_EQ(kernel.block_dim[0], 128u);
  EXPECT_EQ(kernel.occupancy_percent, 62.5);
}

TEST(KernelReportsTest, DamagedDetailsAreLeftAsTheyAre) {
  KernelReport kernel;
  ParseKernelDetails("regs:many grid:1 block: occ_pct", &kernel);
  EXPECT_EQ(kernel.registers_per_thread, 0u);
  EXPECT_EQ(kernel.occupancy_percent, 0);
}

TEST(KernelReportsTest, OnlyEinsumsOfTwoOperandsAreProducts) {
  EXPECT_TRUE(IsEinsumEligible("ab,bc->ac"));
  EXPECT_FALSE(IsEinsumEligible("ab->ba"));
  EXPECT_FALSE(IsEinsumEligible("ab,bc,cd->ad"));
  EXPECT_FALSE(IsEinsumEligible("ab,bc"));
}

}  // namespace
}  // namespace strobe::analysis
