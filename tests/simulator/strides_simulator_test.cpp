// Strides undone on a simulated device: every width, few columns and many, lengths around whole tiles, values where
// they stand in records.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/deltas/stride_undo_cuda.h"
#include "simulator/guarded_bytes.h"

namespace gdelta::cuda {
namespace {

using simulator::GuardedBytes;

struct StridedColumn {
  int value_bytes;
  std::uint8_t tuple;
  std::uint32_t records;
  std::uint32_t gap = 0;   // bytes of other columns in a record
  std::uint32_t skew = 0;  // of the first value behind a multiple of 16
  std::vector<TaskStride> links;
  bool big_endian = false;

  std::uint32_t record_bytes() const { return value_bytes * tuple + gap; }
};

std::uint64_t load(const unsigned char* p, int bytes, bool swapped) {
  std::uint64_t value = 0;
  for (int b = 0; b < bytes; ++b)
    value |= static_cast<std::uint64_t>(p[swapped ? bytes - 1 - b : b]) << 8 * b;
  return value;
}

void store(unsigned char* p, int bytes, bool swapped, std::uint64_t value) {
  for (int b = 0; b < bytes; ++b)
    p[swapped ? bytes - 1 - b : b] = static_cast<unsigned char>(value >> 8 * b);
}

/// value[i] += value[i - stride], as stride_undo_cuda.h says it.
void undo(std::vector<unsigned char>& bytes, const StridedColumn& column) {
  const auto at = [&](std::uint64_t record, int lane) {
    return bytes.data() + record * column.record_bytes() + lane * column.value_bytes;
  };
  for (std::size_t link = column.links.size(); link-- > 0;)
    for (std::uint32_t k = 0; k < column.links[link].order; ++k)
      for (std::uint64_t i = column.links[link].stride; i < column.records; ++i)
        for (int lane = 0; lane < column.tuple; ++lane)
          store(at(i, lane), column.value_bytes, false,
                load(at(i, lane), column.value_bytes, false) +
                    load(at(i - column.links[link].stride, lane), column.value_bytes, false));
  for (std::uint64_t i = 0; column.big_endian && i < column.records; ++i)
    for (int lane = 0; lane < column.tuple; ++lane)
      store(at(i, lane), column.value_bytes, true, load(at(i, lane), column.value_bytes, false));
}

/// Alone, so that a team of blocks has the column, and among more tasks than there are processors, so that one block has.
void expect_undone_among(const StridedColumn& column, unsigned num_tasks) {
  SCOPED_TRACE(std::to_string(column.value_bytes) + " bytes x " + std::to_string(column.tuple) +
               ", " + std::to_string(column.records) + " records, stride " +
               std::to_string(column.links[0].stride) + ", " + std::to_string(num_tasks) +
               " tasks");
  std::mt19937_64 random(column.records);
  std::vector<unsigned char> values(
      static_cast<std::size_t>(column.records) * column.record_bytes() - column.gap);
  for (unsigned char& byte : values) byte = static_cast<unsigned char>(random());
  GuardedBytes room(values, column.skew, true);
  std::vector<ColumnTask> tasks(num_tasks);
  ColumnTask& task = tasks.back();
  task.out = room.data();
  task.records = column.records;
  task.record_bytes = column.record_bytes();
  for (std::size_t link = 0; link < column.links.size(); ++link)
    task.strides[link] = column.links[link];
  task.num_strides = static_cast<std::uint8_t>(column.links.size());
  task.value_bytes = static_cast<std::uint8_t>(column.value_bytes);
  task.tuple = column.tuple;
  task.big_endian = column.big_endian;
  task.path = ColumnPath::page_warp;
  ASSERT_EQ(launch_stride_undo(tasks.data(), nullptr, num_tasks, column.links.size() > 1, nullptr),
            cudaSuccess);
  undo(values, column);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), room.data()));
}

void expect_undone(const StridedColumn& column) {
  for (const unsigned num_tasks : {1u, simulator::kMultiprocessors + 0u})
    expect_undone_among(column, num_tasks);
}

TEST(StridesSimulator, EveryWidthComesBack) {
  for (const int value_bytes : {1, 2, 3, 4, 8}) {
    for (const std::uint32_t stride : {2u, 5u, 17u, 86u, 200u}) {
      expect_undone({value_bytes, 1, 20'011, 0, 0, {{stride, 1}}});
      expect_undone({value_bytes, 3, 5'003, 0, 0, {{stride, 1}}, true});
    }
  }
}

TEST(StridesSimulator, LengthsAroundATile) {
  // Of 17 columns of four bytes there are 30 stretches of 16 rows in a tile.
  constexpr std::uint32_t kTile = 17 * 30 * 16;
  for (const std::uint32_t tiles : {1u, 2u, 3u})
    for (const std::uint32_t more : {0u, 1u, 16u, 17u, 271u, 272u, 273u})
      for (const std::uint32_t records : {tiles * kTile + more, tiles * kTile - more})
        expect_undone({4, 1, records, 0, 0, {{17, 1}}});
  expect_undone({8, 1, 68, 0, 0, {{17, 1}}});
}

TEST(StridesSimulator, LengthsAroundATileOfATeam) {
  constexpr std::uint32_t kTile = 8 * 17 * 30 * 16;
  for (const std::uint32_t records : {kTile - 1, kTile, kTile + 1, 2 * kTile + 4321})
    expect_undone_among({4, 1, records, 0, 0, {{17, 1}}}, 1);
}

TEST(StridesSimulator, ValuesOfThreeBytesFourAtATime) {
  for (const bool big_endian : {false, true}) {
    for (const std::uint32_t stride : {4u, 24u, 256u, 260u, 600u}) {
      for (const std::uint32_t records : {4u, 5'000u, 20'012u, 20'013u})
        expect_undone({3, 1, records, 0, 0, {{stride, 1}}, big_endian});
      expect_undone({3, 2, 5'002, 0, 0, {{stride, 2}}, big_endian});
      expect_undone({3, 3, 5'000, 0, 2, {{stride, 1}}, big_endian});
    }
    expect_undone({3, 2, 9'000, 0, 4, {{2, 1}, {12, 1}}, big_endian});
  }
}

TEST(StridesSimulator, ManyColumnsWalkAlone) {
  for (const std::uint32_t stride : {256u, 257u, 600u}) {
    expect_undone({4, 1, 4 * stride + 3, 0, 0, {{stride, 1}}});
    expect_undone({2, 2, 40 * stride + 7, 0, 0, {{stride, 2}}});
  }
}

TEST(StridesSimulator, BothLinksOfAColumnTogether) {
  // Rounds have 128 KiB: four tiles of 24 x 16 rows of 7 tuples, or whole groups where each thread walks alone.
  constexpr std::uint32_t kTiles = 4 * 24 * 16 * 7, kGroups = 85 * 128;
  for (const int more : {-1, 0, 1}) {
    expect_undone({4, 3, kTiles + more, 0, 0, {{600, 1}, {7, 1}}, true});
    expect_undone({4, 3, 2 * kGroups + more, 0, 0, {{7, 1}, {600, 1}}, true});
  }
  for (const int value_bytes : {1, 2, 3, 4, 8}) {
    expect_undone({value_bytes, 1, 150'007, 0, 0, {{5, 1}, {1020, 1}}});
    expect_undone({value_bytes, 1, 150'004, 0, 0, {{24, 1}, {8, 1}}, true});
    expect_undone({value_bytes, 2, 40'002, 8, 0, {{300, 1}, {2, 1}}});
  }
  expect_undone({4, 1, 40'000, 0, 4, {{1617, 1}, {49, 1}}});
  expect_undone({4, 1, 40'000, 0, 4, {{2047, 1}, {2, 1}}});  // sums of more than 8 KiB
  expect_undone({4, 1, 40'000, 0, 1, {{24, 1}, {8, 1}}});    // at odd addresses
}

TEST(StridesSimulator, LinksAndOrdersFollowEachOther) {
  expect_undone({4, 1, 9'001, 0, 0, {{9, 2}, {2, 3}}});
  expect_undone({8, 2, 9'001, 0, 0, {{3, 8}, {700, 1}}});
}

TEST(StridesSimulator, ValuesOfRecordsAtAnyAddress) {
  for (const int value_bytes : {2, 3, 4, 8}) {
    expect_undone({value_bytes, 1, 3'001, 5, 0, {{7, 1}}});
    expect_undone({value_bytes, 2, 3'001, 3, 1, {{2, 1}}, true});
    expect_undone({value_bytes, 1, 3'001, 8, 8, {{33, 1}}});
  }
}

}  // namespace
}  // namespace gdelta::cuda
