// The codec's GPU tests on simulated devices: those that are small, unless others are asked for.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::GTEST_FLAG(filter) = "*Small*:*Refuses*:*TwoDevices*";
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
