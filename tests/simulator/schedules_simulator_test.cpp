// Schedules on the simulated device.
#include "kernels/child_grid_cases.h"
#include "kernels/choose_schedule_cases.h"
#include "kernels/schedules_cases.h"

namespace gdelta::segments_test {
namespace {

TEST(SchedulesSimulator, EveryAtomComesOnceWithItsTile) {
  for (const std::uint64_t tiles : {1, 33, 6'000}) expect_all_schedules(tiles);
}

TEST(SchedulesSimulator, DynamicVirtualWarpsVisitEveryAtomOnce) {
  for (const std::uint64_t tiles : {1, 33, 3'000}) expect_dynamic_virtual_warps(tiles);
}

TEST(SchedulesSimulator, AChoiceFollowsTheStepsOfWarps) {
  for (const std::uint64_t tiles : {1, 33, 3'000}) expect_statistics_and_choice(tiles);
}

}  // namespace
}  // namespace gdelta::segments_test
