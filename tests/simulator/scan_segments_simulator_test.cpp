// Segmented scans on the simulated device, against a serial reference.
#include "kernels/segmented_scan_cases.h"

namespace gdelta::segments_test {
namespace {

TEST(SegmentedScanSimulator, FewRowsHaveTheSumsOfTheirSegments) {
  for (const std::uint64_t rows : {0, 1, 2, 32, 33, 545})
    expect_all_segmentations<1, std::uint32_t>(1, rows, {17});
}

TEST(SegmentedScanSimulator, SegmentsCrossTilesAndBlocks) {
  const auto edges = edges_of(17, 16, 1);
  for (const std::uint64_t rows : {edges[2] - 1, edges[2], 13 * edges[2] + 77})
    expect_all_segmentations<1, std::uint32_t>(1, rows, edges);
}

TEST(SegmentedScanSimulator, HigherOrdersStartAnewToo) {
  expect_all_segmentations<2, std::uint32_t>(1, 60'000, edges_of(33, 8, 1));
  expect_all_segmentations<3, std::uint32_t>(1, 20'000, edges_of(33, 8, 1));
}

TEST(SegmentedScanSimulator, LanesOfATupleShareTheirHeads) {
  expect_all_segmentations<2, std::uint32_t>(3, 20'000, edges_of(33, 8, 3));
  expect_all_segmentations<3, std::uint32_t>(5, 12'000, edges_of(33, 8, 5));
  expect_all_segmentations<2, std::uint32_t>(32, 2'500, edges_of(33, 8, 32));
}

TEST(SegmentedScanSimulator, EightByteValuesHaveSumsOfEightBytes) {
  expect_all_segmentations<2, std::uint64_t>(1, 30'000, edges_of(9, 16, 1));
}

TEST(SegmentedScanSimulator, OtherValuesAndTuplesGoOrderByOrder) {
  expect_all_segmentations<3, std::uint16_t>(1, 5'000, {8, 1024});
  expect_all_segmentations<2, std::uint32_t>(40, 100, {8, 24});
}

TEST(SegmentedScanSimulator, AnyOperatorKeepsItsOrder) {
  for (const std::uint64_t rows : {0, 1, 1023, 1024, 1025, 9'000}) expect_any_operator(1, rows);
  expect_any_operator(3, 3'000);
}

TEST(SegmentedScanSimulator, RefusesWhatItCannotDo) {
  const OnDevice<std::uint32_t> values(std::vector<std::uint32_t>(64));
  const OnDevice<unsigned char> scratch(rubbish(1 << 16));
  const auto sums = [&](const SegmentedScan& scan, std::size_t bytes) {
    return segmented_sums<1>(scan, values.data(), values.data(), HeadFlags{values.data()},
                             scratch.data(), bytes, nullptr);
  };
  EXPECT_EQ(sums({7, 2, false, false}, 1 << 16), cudaErrorInvalidValue);
  EXPECT_EQ(sums({8, 0, false, false}, 1 << 16), cudaErrorInvalidValue);
  EXPECT_EQ(sums({65, 65, false, false}, 1 << 16), cudaErrorInvalidValue);
  EXPECT_EQ(sums({8, 1, false, false}, 256), cudaErrorInvalidValue);
  EXPECT_EQ(sums({0, 1, false, false}, 0), cudaSuccess);
}

}  // namespace
}  // namespace gdelta::segments_test
