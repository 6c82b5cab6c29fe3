// Segmented scans on a GPU, against a serial reference: what a simulated device cannot show is whether
// words arrive in the order that the kernels hope for.
#include "kernels/has_device.h"
#include "kernels/segmented_scan_cases.h"

namespace gdelta::segments_test {
namespace {

TEST(SegmentedScanCuda, SegmentsCrossTilesAndBlocks) {
  GDELTA_NEEDS_DEVICE();
  const auto edges = edges_of(17, 16, 1);
  for (const std::uint64_t rows : {edges[2] - 1, edges[2], edges[2] + 1, 2'500'007ul})
    expect_all_segmentations<1, std::uint32_t>(1, rows, edges);
}

TEST(SegmentedScanCuda, HigherOrdersAndTuplesStartAnewToo) {
  GDELTA_NEEDS_DEVICE();
  expect_all_segmentations<2, std::uint32_t>(1, 1'700'000, edges_of(33, 8, 1));
  expect_all_segmentations<2, std::uint32_t>(3, 600'000, edges_of(33, 8, 3));
  expect_all_segmentations<4, std::uint64_t>(2, 500'000, edges_of(13, 11, 2));
}

TEST(SegmentedScanCuda, OtherValuesGoOrderByOrder) {
  GDELTA_NEEDS_DEVICE();
  expect_all_segmentations<3, std::uint16_t>(1, 600'000, {8, 1024});
  expect_any_operator(1, 600'000);
}

/// What compute-sanitizer can take.
TEST(SegmentedScanCudaSmall, SegmentsCrossTilesAndBlocks) {
  GDELTA_NEEDS_DEVICE();
  expect_all_segmentations<1, std::uint32_t>(1, 20'011, edges_of(17, 16, 1));
  expect_all_segmentations<2, std::uint32_t>(3, 7'001, edges_of(33, 8, 3));
  expect_any_operator(3, 3'001);
}

}  // namespace
}  // namespace gdelta::segments_test
