// Enumerate, compact, distribute, split and split-and-segment on a GPU, against serial references.
#include "kernels/has_device.h"
#include "kernels/scan_primitives_cases.h"

namespace gdelta::segments_test {
namespace {

TEST(ScanPrimitivesCuda, MoveAndCountWhatIsMarkedInEverySegment) {
  GDELTA_NEEDS_DEVICE();
  for (const std::uint64_t rows : {0, 1, 33, 1024, 700'001}) expect_all_primitives(rows);
}

/// What compute-sanitizer can take.
TEST(ScanPrimitivesCudaSmall, MoveAndCountWhatIsMarkedInEverySegment) {
  GDELTA_NEEDS_DEVICE();
  expect_all_primitives(5'001);
}

}  // namespace
}  // namespace gdelta::segments_test
