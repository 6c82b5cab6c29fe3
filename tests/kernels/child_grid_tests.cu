// Schedules whose kernels start grids, on a GPU: a program of its own (see tests/CMakeLists.txt).
#include "kernels/child_grid_cases.h"
#include "kernels/has_device.h"

namespace gdelta::segments_test {
namespace {

TEST(ChildGridsCuda, EveryAtomComesOnceWithItsTile) {
  GDELTA_NEEDS_DEVICE();
  for (const std::uint64_t tiles : {1, 33, 200'000}) expect_dynamic_virtual_warps(tiles);
}

/// What compute-sanitizer can take.
TEST(ChildGridsCudaSmall, EveryAtomComesOnceWithItsTile) {
  GDELTA_NEEDS_DEVICE();
  expect_dynamic_virtual_warps(6'000);
}

}  // namespace
}  // namespace gdelta::segments_test
