// Segmented reduction on a GPU, against a serial reference.
#include "kernels/has_device.h"
#include "kernels/segmented_reduce_cases.h"

namespace gdelta::segments_test {
namespace {

TEST(SegmentedReduceCuda, ReducesSegmentsOfAnyLengthInOrder) {
  GDELTA_NEEDS_DEVICE();
  expect_segmented_reduce(700'001);
}

TEST(SegmentedReduceCuda, JoinsWhatPartsShareOfSegments) {
  GDELTA_NEEDS_DEVICE();
  expect_shared_segments_reduced<Last>();
  expect_shared_segments_reduced<Affine<std::uint32_t>>();
  expect_shared_segments_reduced<Summary>();
  expect_shared_segments_reduced<Affine<std::uint64_t>>();
}

/// What compute-sanitizer can take.
TEST(SegmentedReduceCudaSmall, ReducesSegmentsOfAnyLengthInOrder) {
  GDELTA_NEEDS_DEVICE();
  expect_segmented_reduce(2'001);
}

}  // namespace
}  // namespace gdelta::segments_test
