// Schedules on a GPU.
#include "kernels/choose_schedule_cases.h"
#include "kernels/has_device.h"
#include "kernels/schedules_cases.h"

namespace gdelta::segments_test {
namespace {

TEST(SchedulesCuda, EveryAtomComesOnceWithItsTile) {
  GDELTA_NEEDS_DEVICE();
  for (const std::uint64_t tiles : {1, 33, 200'000}) expect_all_schedules(tiles);
}

/// What compute-sanitizer can take.
TEST(SchedulesCudaSmall, EveryAtomComesOnceWithItsTile) {
  GDELTA_NEEDS_DEVICE();
  expect_all_schedules(6'000);
}

TEST(SchedulesCuda, AChoiceFollowsTheStepsOfWarps) {
  GDELTA_NEEDS_DEVICE();
  for (const std::uint64_t tiles : {1, 33, 200'000}) expect_statistics_and_choice(tiles);
}

TEST(SchedulesCudaSmall, AChoiceFollowsTheStepsOfWarps) {
  GDELTA_NEEDS_DEVICE();
  expect_statistics_and_choice(6'000);
}

}  // namespace
}  // namespace gdelta::segments_test
