// Blocks for columns and slices: enough for each to have bytes, and no more.
#include "kernels/device/column_grid.h"

#include <gtest/gtest.h>

namespace gdelta::device {
namespace {

constexpr std::uint32_t kMostColumns = 100, kMostSlices = 1000;

dim3 grid_of(std::uint32_t columns, std::uint64_t bytes) {
  return column_grid(columns, kMostColumns, kMostSlices, bytes);
}

TEST(ColumnGrid, OfAShortColumnIsOneBlock) {
  EXPECT_EQ(grid_of(1, 0).y, 1u);
  EXPECT_EQ(grid_of(1, kSliceBytes - 1).y, 1u);
  EXPECT_EQ(grid_of(1, kSliceBytes).y, 2u);
}

TEST(ColumnGrid, OfALongColumnHasAllSlices) {
  EXPECT_EQ(grid_of(1, std::uint64_t{1} << 40).x, 1u);
  EXPECT_EQ(grid_of(1, std::uint64_t{1} << 40).y, kMostSlices);
}

TEST(ColumnGrid, SharesSlicesAmongColumns) {
  EXPECT_EQ(grid_of(10, std::uint64_t{1} << 40).y, kMostSlices / 10);
  const dim3 many = grid_of(100'000, std::uint64_t{1} << 40);
  EXPECT_EQ(many.x, kMostColumns);
  EXPECT_EQ(many.y, 1u);
}

TEST(ColumnGrid, LeavesRoomForColumnsThatAreLongerThanOthers) {
  // Ten columns of 80 slices together: one may have 64 of them.
  EXPECT_EQ(grid_of(10, 80 * kSliceBytes).y, 65u);
  // Never more than if one had all.
  EXPECT_EQ(grid_of(2, 3 * kSliceBytes).y, 4u);
}

}  // namespace
}  // namespace gdelta::device
