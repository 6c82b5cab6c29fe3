// Scans of 16-bit floating point on a simulated device: rounded at the end of every order, and nowhere
// else. Values are whole numbers whose sums a float holds exactly, so that the order of additions does
// not matter.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/scan_half_reference.h"
#include "simulator/scan_launch.h"

namespace gdelta::scan {
namespace {

void expect_scans(Type type, Path path, Shape shape, int most) {
  shape.type = type;
  ASSERT_TRUE(can_take(shape, path, 0)) << describe(shape) << " path " << int(path);
  std::mt19937_64 random(shape.count);
  std::vector<std::uint16_t> values(shape.count);
  // Multiples of the coarsest step, so that halves of steps of larger sums are frequent.
  for (std::uint16_t& value : values)
    value = nearest_half(half_format(type), static_cast<int>(random() % (2u * most + 1)) - most);
  std::vector<std::uint16_t> scanned = values;
  ASSERT_EQ(launch_in_place(shape, path, scanned.data()), cudaSuccess) << describe(shape);
  reference_half_scan(shape, values);
  ASSERT_FALSE(::testing::Test::HasFatalFailure());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(scanned[i], values[i]) << describe(shape) << " path " << int(path) << " value " << i;
}

Shape sums(int order, std::uint64_t tuple, std::uint64_t count) {
  Shape shape;
  shape.order = order;
  shape.tuple = tuple;
  shape.count = count;
  return shape;
}

class HalvesOf : public ::testing::TestWithParam<Type> {};
INSTANTIATE_TEST_SUITE_P(ScanSimulator, HalvesOf, ::testing::Values(Type::f16, Type::bf16),
                         [](const auto& type) {
                           return type.param == Type::f16 ? "binary16" : "bfloat16";
                         });

TEST_P(HalvesOf, AreRoundedAtTheEndOfEveryOrderOnEveryPath) {
  for (const Path path : {Path::single, Path::group, Path::cluster, Path::resident}) {
    for (const int order : {1, 2, 3}) {
      // Long lanes of small numbers, whose sums of the next order stay below 2^24.
      expect_scans(GetParam(), path, sums(order, 7, order == 1 ? 900 : 300), order == 1 ? 30 : 3);
      if (path != Path::single)
        expect_scans(GetParam(), path, sums(order, 40, order == 1 ? 20'000 : 1'600), 3);
    }
  }
}

TEST_P(HalvesOf, AreRoundedBetweenOrdersOfColumns) {
  for (const bool backward : {false, true}) {
    Shape walked = sums(2, 100'003, 450'001);
    walked.backward = backward;
    expect_scans(GetParam(), Path::group, walked, 1500);
    Shape tiled = sums(2, 100, 3'050);
    tiled.exclusive = backward;
    expect_scans(GetParam(), Path::group, tiled, 100);
  }
}

TEST_P(HalvesOf, HaveGreatestAndLeast) {
  for (const Operator op : {Operator::max, Operator::min}) {
    for (const Path path : {Path::group, Path::cluster, Path::resident}) {
      Shape shape = sums(2, 3, 20'003);
      shape.op = op;
      expect_scans(GetParam(), path, shape, 2000);
    }
  }
}

}  // namespace
}  // namespace gdelta::scan
