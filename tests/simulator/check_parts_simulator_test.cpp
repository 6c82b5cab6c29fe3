// Checks of parts on a simulated device, held against those of the host: every length near the ends of
// rows and steps, every address, alone and between other columns.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/checksum/check_parts_cuda.h"
#include "kernels/checksum/part_check.h"
#include "simulator/guarded_bytes.h"

namespace gdelta::cuda {
namespace {

using simulator::GuardedBytes;

std::vector<unsigned char> noise(std::size_t count) {
  std::vector<unsigned char> bytes(count);
  std::uint32_t random = 1;
  for (unsigned char& byte : bytes)
    byte = static_cast<unsigned char>((random = random * 1664525 + 1013904223) >> 24);
  return bytes;
}

/// The check of the only part of a column of u8, its tuples `step` bytes apart.
std::uint32_t check_of(const std::vector<unsigned char>& values, std::uint32_t tuples,
                       std::uint8_t tuple, std::uint32_t step, std::size_t skew) {
  const GuardedBytes guarded(values, skew, true);
  PackTask task{};
  task.values = guarded.data();
  task.records = tuples;
  task.record_bytes = step;
  task.page_groups = (tuples + 127) / 128;
  task.num_pages = 1;
  task.value_bytes = 1;
  task.tuple = tuple;
  std::uint32_t check = 0;
  EXPECT_EQ(launch_make_checks(
                {.tasks = &task, .num_tasks = 1, .max_parts = 1, .part_checks = &check}, nullptr),
            cudaSuccess);
  return check;
}

TEST(CheckPartsSimulator, EveryLengthAtEveryAddress) {
  for (std::uint32_t bytes = 1; bytes <= 4200; ++bytes) {
    if (bytes > 20 && (bytes + 8) % 128 > 16 && bytes % 41 != 0) continue;
    const std::vector<unsigned char> values = noise(bytes);
    const std::uint32_t expected = part_check(bytes, values.data(), bytes);
    for (std::size_t skew = 0; skew < 16; skew += bytes % 3 + 1)
      ASSERT_EQ(check_of(values, bytes, 1, 1, skew), expected) << bytes << " at " << skew;
  }
}

TEST(CheckPartsSimulator, ColumnsBetweenOthers) {
  for (const std::uint8_t tuple : {1, 2, 3, 4, 7, 64}) {
    for (const std::uint32_t step : {tuple + 1u, tuple + 3u, 100u}) {
      for (const std::uint32_t tuples : {1u, 2u, 31u, 127u, 128u, 129u, 300u}) {
        const std::vector<unsigned char> records = noise((tuples - 1) * step + tuple);
        std::vector<unsigned char> own;
        for (std::uint32_t i = 0; i < tuples; ++i)
          own.insert(own.end(), records.begin() + i * step, records.begin() + i * step + tuple);
        ASSERT_EQ(check_of(records, tuples, tuple, step, 3),
                  part_check(tuples, own.data(), own.size()))
            << int{tuple} << " of " << step << ", " << tuples;
      }
    }
  }
}

}  // namespace
}  // namespace gdelta::cuda
