// Tables expanded and indices looked up on a simulated device: values of every width come back, and what
// is damaged is told by the first lane at fault.
#include <gtest/gtest.h>

#include <random>

#include "codec/cuda/container/undo_dictionaries_cuda.h"
#include "golden/plain_maps.h"
#include "simulator/guarded_bytes.h"

namespace gdelta::cuda {
namespace {

using Bytes = std::vector<std::byte>;
using simulator::GuardedBytes;

constexpr unsigned long long kNoDamage = ~0ull;
constexpr std::uint64_t kTablesAt = 1000;

/// A column of which each second lane has a table.
struct LookedUpColumn {
  Column column;
  std::vector<plain::LaneChoice> lanes;
  Bytes indices, values, tables;

  LookedUpColumn(const Column& of, std::size_t records, std::size_t entries) : column(of) {
    std::mt19937_64 random(entries + records);
    const std::uint64_t mask = ~0ull >> (64 - value_bits(column.type));
    const int w = value_bits(column.type);
    for (int lane = 0; lane < column.tuple; ++lane) {
      plain::LaneChoice& choice = lanes.emplace_back();
      if (lane % 2 == 1) continue;
      choice = plain::dictionary({}, {0, 3, w / 2, w});
      std::uint64_t value = random() & mask;
      for (std::size_t i = 0; i < entries; ++i) {
        choice.table.values.push_back(value);
        value = (value + 1 + (random() & mask) % (1ull << random() % (w / 2))) & mask;
      }
      const Bytes table = plain::detail::table_bytes(choice.table, column);
      tables.insert(tables.end(), table.begin(), table.end());
    }
    for (std::size_t i = 0; i < records; ++i)
      for (const plain::LaneChoice& lane : lanes) {
        const std::uint64_t index = lane.table.values.empty()
                                        ? random() & mask
                                        : random() % lane.table.values.size() & mask;
        append(indices, index);
        append(values, lane.table.values.empty() ? index : lane.table.values[index]);
      }
  }

  void append(Bytes& out, std::uint64_t value) const {
    const int bytes = value_bytes(column.type);
    for (int b = 0; b < bytes; ++b)
      out.push_back(static_cast<std::byte>(value >> 8 * (column.big_endian ? bytes - 1 - b : b)));
  }

  Bytes head() const {
    Bytes head{std::byte{255}};
    const Bytes fields = plain::detail::map_fields(lanes, true, column, 0);
    head.insert(head.end(), fields.begin(), fields.end());
    return head;
  }

  /// What becomes of the indices, and where damage is told.
  std::pair<Bytes, unsigned long long> undo() const {
    const GuardedBytes guarded_head(simulator::unsigned_bytes(head()), 3, true);
    const GuardedBytes coded(simulator::unsigned_bytes(tables), 5, true);
    const GuardedBytes out(simulator::unsigned_bytes(indices), 0, true);
    const GuardedBytes expanded(simulator::unsigned_bytes(Bytes(room())), 0, true);
    ColumnTask task{};
    task.out = out.data();
    task.records = static_cast<std::uint32_t>(indices.size()) / bytes();
    task.record_bytes = bytes();
    task.value_bytes = static_cast<std::uint8_t>(value_bytes(column.type));
    task.tuple = column.tuple;
    task.path = ColumnPath::page_warp;
    const DictionaryTask dictionary{.value_maps = guarded_head.data(),
                                    .coded = coded.data(),
                                    .values = expanded.data(),
                                    .tables_at = kTablesAt,
                                    .type = static_cast<std::uint8_t>(column.type),
                                    .big_endian = column.big_endian,
                                    .looked_up_before = false};
    unsigned long long damaged_at = kNoDamage;
    const UndoDictionariesArgs undo{&task, &dictionary, 1, &damaged_at};
    EXPECT_EQ(launch_expand_tables(undo, indices.size(), nullptr), cudaSuccess);
    EXPECT_EQ(launch_look_up(undo, indices.size(), nullptr), cudaSuccess);
    const auto* const first = reinterpret_cast<const std::byte*>(out.data());
    return {Bytes(first, first + indices.size()), damaged_at};
  }

 private:
  std::uint32_t bytes() const { return static_cast<std::uint32_t>(column.bytes()); }
  std::size_t room() const {
    std::size_t entries = 0;
    for (const plain::LaneChoice& lane : lanes) entries += lane.table.values.size();
    return entries * static_cast<std::size_t>(value_bytes(column.type));
  }
};

TEST(DictionarySimulator, ValuesOfEveryTypeComeBack) {
  for (int type = 0; type < kNumValueTypes; ++type)
    for (const int tuple : {1, 3})
      for (const bool big_endian : {false, true}) {
        const Column column{static_cast<ValueType>(type), static_cast<std::uint8_t>(tuple),
                            big_endian};
        const LookedUpColumn looked_up(column, 700, 40);
        const auto [values, damaged_at] = looked_up.undo();
        EXPECT_TRUE(values == looked_up.values) << type_name(column.type) << ' ' << tuple;
        EXPECT_EQ(damaged_at, kNoDamage) << type_name(column.type);
      }
}

// One entry, and more or fewer than the threads of a block expand at once.
TEST(DictionarySimulator, TablesMayHaveAnyLength) {
  for (const std::size_t entries : {1, 2, 5, 1024, 1025, 1026, 3000}) {
    const LookedUpColumn looked_up({ValueType::f64, 1, false}, 3000, entries);
    const auto [values, damaged_at] = looked_up.undo();
    EXPECT_TRUE(values == looked_up.values) << entries;
    EXPECT_EQ(damaged_at, kNoDamage) << entries;
  }
}

TEST(DictionarySimulator, DamageIsToldByTheFirstLane) {
  LookedUpColumn looked_up({ValueType::u32, 3, false}, 300, 20);
  const std::size_t first_bytes =
      plain::detail::table_bytes(looked_up.lanes[0].table, looked_up.column).size();
  const auto put = [&](std::size_t record, std::size_t lane, std::uint8_t index) {
    looked_up.indices[12 * record + 4 * lane] = std::byte{index};
    return looked_up.undo().second;
  };
  EXPECT_EQ(put(299, 2, 19), kNoDamage);
  EXPECT_EQ(put(299, 2, 20), kTablesAt + first_bytes);
  EXPECT_EQ(put(100, 0, 255), kTablesAt);
  LookedUpColumn of_tables({ValueType::u32, 3, false}, 300, 20);
  of_tables.tables[first_bytes + 4] ^= std::byte{0xff};  // selectors
  EXPECT_EQ(of_tables.undo().second, kTablesAt + first_bytes);
  of_tables.tables[4] ^= std::byte{0xff};
  EXPECT_EQ(of_tables.undo().second, kTablesAt);
}

}  // namespace
}  // namespace gdelta::cuda
