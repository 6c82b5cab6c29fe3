// Schedules on the simulated device.
#include "kernels/schedules_cases.h"

namespace gdelta::segments_test {
namespace {

TEST(SchedulesSimulator, EveryAtomComesOnceWithItsTile) {
  for (const std::uint64_t tiles : {1, 33, 6'000}) expect_all_schedules(tiles);
}

}  // namespace
}  // namespace gdelta::segments_test
