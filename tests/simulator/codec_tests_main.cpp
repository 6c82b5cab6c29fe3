// The codec's GPU tests on simulated devices: those that are small, unless others are asked for.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

int main(int argc, char** argv) {
  // What kernels share is each thread's own, all kernels' together, and stands on its stack.
  constexpr std::size_t kStackBytes = 32 << 20;
  const tbb::global_control stack(tbb::global_control::thread_stack_size, kStackBytes);
  ::testing::GTEST_FLAG(filter) = "*Small*:*Refuses*:*TwoDevices*";
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
