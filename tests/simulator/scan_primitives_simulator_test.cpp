// Enumerate, compact, distribute, split and split-and-segment on the simulated device, against serial
// references.
#include "kernels/scan_primitives_cases.h"

namespace gdelta::segments_test {
namespace {

TEST(ScanPrimitivesSimulator, MoveAndCountWhatIsMarkedInEverySegment) {
  for (const std::uint64_t rows : {0, 1, 2, 33, 1023, 1025, 2'600}) expect_all_primitives(rows);
}

}  // namespace
}  // namespace gdelta::segments_test
