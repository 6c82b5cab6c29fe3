// The simulated device itself: what it forbids fails.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "codec/cuda/container/chunk_decode_cuda.h"
#include "simulator/runtime.h"

namespace simulator {
namespace {

bool run_warp_kernel(const std::function<void()>& kernel) {
  Grid grid;
  grid.threads = 32;
  return launch(grid, kernel);
}

TEST(SimulatedDevice, FailsWherePartsOfAWarpMeetInDifferentCalls) {
  EXPECT_FALSE(run_warp_kernel([] {
    if (thread_index() < 8) __shfl_xor_sync(~0u, 1, 1);
    __syncwarp();
  }));
  EXPECT_FALSE(run_warp_kernel([] {
    if (thread_index() < 8) {
      __ballot_sync(~0u, true);
    } else {
      __shfl_sync(~0u, 1, 0);
    }
  }));
  EXPECT_TRUE(run_warp_kernel([] {
    if (thread_index() < 8) __shfl_xor_sync(0xffu, 1, 1);
    __syncwarp();
  }));
}

TEST(SimulatedDeviceDeathTest, StepsBehindAnAllocationEndTheProgram) {
  for (const std::size_t bytes : {256, 512, 4096, 5120}) {
    auto* const data = static_cast<volatile unsigned char*>(allocate(bytes));
    data[bytes - 1] = 1;
    EXPECT_DEATH(static_cast<void>(data[bytes]), "") << bytes;
    EXPECT_TRUE(release(const_cast<unsigned char*>(data)));
  }
  auto* const data = static_cast<unsigned char*>(allocate(21));
  EXPECT_DEATH(
      {
        data[21] = 0;
        release(data);
      },
      "written behind");
  EXPECT_TRUE(release(data));
}

TEST(SimulatedDeviceDeathTest, MemoryThatWasGivenBackIsGone) {
  auto* const data = static_cast<volatile unsigned char*>(allocate(100));
  EXPECT_TRUE(release(const_cast<unsigned char*>(data)));
  EXPECT_FALSE(release(const_cast<unsigned char*>(data)));
  EXPECT_DEATH(static_cast<void>(data[0]), "");
}

TEST(SimulatedDevice, FailsWhereAnAccessEndsBehindAnAllocation) {
  for (const std::size_t bytes : {1, 21, 100, 257, 5001}) {
    auto* const data = static_cast<unsigned char*>(allocate(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 256, 0u);
    EXPECT_TRUE(run_warp_kernel([&] { check_access(data + bytes - 1, 1); })) << bytes;
    EXPECT_FALSE(run_warp_kernel([&] { check_access(data + bytes - 1, 2); })) << bytes;
    EXPECT_FALSE(run_warp_kernel([&] { check_access(data + bytes, 1); })) << bytes;
    EXPECT_TRUE(release(data));
  }
}

TEST(SimulatedDevice, FailsWhereTwoCopiesToOnePlaceAreUnderWay) {
  auto* const from = static_cast<unsigned char*>(allocate(32));
  alignas(16) static unsigned char to[32];
  const auto fails = [&](std::size_t second_at, bool waits) {
    int failures = 0;
    for (int i = 0; i < 40; ++i)  // copies come late in some of them
      failures += !run_warp_kernel([&] {
        if (thread_index() > 0) return;
        copy_later(to, from, 16);
        if (waits) wait_for_all_copies();
        copy_later(to + second_at, from + 16, 16);
        wait_for_all_copies();
      });
    return failures > 0;
  };
  EXPECT_TRUE(fails(0, false));
  EXPECT_TRUE(fails(15, false));
  EXPECT_FALSE(fails(16, false));
  EXPECT_FALSE(fails(0, true));
  EXPECT_TRUE(release(from));
}

TEST(SimulatedDevice, FillsSharedMemoryWithRubbishBeforeEveryLaunch) {
  static thread_local unsigned char shared[5 * 4096 + 100];
  for (int launch = 0; launch < 4; ++launch) {
    std::size_t zeros = 0;
    EXPECT_TRUE(run_warp_kernel([&] {
      if (thread_index() > 0) return;
      zeros = static_cast<std::size_t>(std::count(std::begin(shared), std::end(shared), 0));
      std::fill(std::begin(shared), std::end(shared), 0);
    }));
    EXPECT_EQ(zeros, 0u) << launch;
  }
}

TEST(SimulatedDevice, ChecksEveryAccessOfAKernel) {
  if (!kChecksAccesses) GTEST_SKIP() << "this compiler does not check accesses of kernels";
  constexpr std::uint32_t kTasks = 4;
  void* const counts = allocate(kTasks * sizeof(std::uint32_t));
  std::memset(counts, 0, kTasks * sizeof(std::uint32_t));
  for (const std::uint32_t starts : {kTasks + 1, kTasks}) {
    void* const memory = allocate(starts * sizeof(std::uint64_t));
    gdelta::cuda::CountArgs args{};
    args.counts.warp_pages = args.counts.map_pages = args.counts.block_pages = args.counts.parts =
        static_cast<std::uint32_t*>(counts);
    args.num_tasks = kTasks;
    args.warp_starts = args.map_starts = args.block_starts = args.part_starts =
        static_cast<std::uint64_t*>(memory);
    EXPECT_EQ(gdelta::cuda::launch_count_pages(args, nullptr) == cudaSuccess, starts > kTasks);
    EXPECT_EQ(release(memory), true);
  }
  EXPECT_TRUE(release(counts));
}

}  // namespace
}  // namespace simulator
