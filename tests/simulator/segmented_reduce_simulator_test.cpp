// Segmented reduction on the simulated device, against a serial reference.
#include "kernels/segmented_reduce_cases.h"

namespace gdelta::segments_test {
namespace {

TEST(SegmentedReduceSimulator, ReducesSegmentsOfAnyLengthInOrder) {
  expect_segmented_reduce(3'001);
}

TEST(SegmentedReduceSimulator, JoinsWhatPartsShareOfSegments) {
  expect_shared_segments_reduced<Last>();
  expect_shared_segments_reduced<Summary>();
  expect_shared_segments_reduced<Affine<std::uint64_t>>();
}

TEST(SegmentedReduceSimulator, RefusesTooLittleScratch) {
  expect_segmented_reduce_refuses_little_scratch();
}

}  // namespace
}  // namespace gdelta::segments_test
