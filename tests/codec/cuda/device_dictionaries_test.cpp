// device_encode finds the dictionaries that compress finds at level 1, and leaves alone what it leaves.
#ifdef GDELTA_HAS_CUDA
#include <vector>

#include "codec/cuda/device_encode_cases.h"

namespace gdelta::test {
namespace {

using Table = std::vector<std::uint64_t>;

/// Different values that no map but a dictionary makes short: bits at random, as wide as the type.
Table any_table(const Column& column, std::size_t entries, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Table table(entries);
  for (std::uint64_t& value : table)
    value = random() & (~std::uint64_t{0} >> (64 - value_bits(column.type)));
  std::sort(table.begin(), table.end());
  table.erase(std::unique(table.begin(), table.end()), table.end());
  while (table.size() < entries) table.push_back(table.back() - 1);
  return table;
}

/// Values of the table of each lane in any order, each of them once at least if there are as many records; of an empty table bits at
/// random.
Bytes draws_from(const Column& column, const std::vector<Table>& tables, std::uint64_t records,
                 std::uint64_t seed = 2) {
  std::mt19937_64 random(seed);
  Bytes bytes;
  for (std::uint64_t i = 0; i < records; ++i)
    for (std::size_t lane = 0; lane < column.tuple; ++lane) {
      const Table& table = tables[lane % tables.size()];
      const std::uint64_t any = random();
      std::uint64_t value = any;
      if (!table.empty())
        value = table[i % 8 == 0 && i / 8 < table.size() ? i / 8 : any % table.size()];
      put_value(bytes, value, value_bytes(column.type), column.big_endian);
    }
  return bytes;
}

TEST(DeviceDictionariesCudaSmall, OfEveryTypeAndTuple) {
  GDELTA_NEEDS_GPU();
  for (const char* record :
       {"f32", "f64", "i32", "u32:be", "i64:be", "u64", "f32:bex2", "i64x3", "f32x4"}) {
    const Column column = column_of(record);
    const Bytes values = draws_from(column, {any_table(column, 11)}, 900);
    EXPECT_EQ(maps_at_level_1(values, column, 500 * column.bytes()), Words(2, "dictionary of 11"))
        << record;
    expect_stream_of_cpu(values, column, 500 * column.bytes(), std::nullopt);
    expect_stream_of_cpu(values, column, 0, 1, 3);
    expect_stream_of_cpu(values, column, 300 * column.bytes(), std::nullopt, 0, Coder::ans);
  }
}

TEST(DeviceDictionariesCudaSmall, LanesAreFoundOneByOne) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32x3", "u64:bex3", "i32x4"}) {
    const Column column = column_of(record);
    const Bytes values =
        draws_from(column, {any_table(column, 9), {}, any_table(column, 40, 5)}, 1024);
    const Words maps = maps_at_level_1(values, column);
    ASSERT_EQ(maps.size(), 1u);
    EXPECT_NE(maps[0].find("dictionary of 9,"), std::string::npos) << maps[0];
    EXPECT_NE(maps[0].find("dictionary of 40"), std::string::npos) << maps[0];
    expect_stream_of_cpu(values, column, 0, std::nullopt);
    expect_stream_of_cpu(values, column, 0, 2, 0, Coder::ans);
  }
}

// A lane of decimals beside one of few values, and one that is neither.
TEST(DeviceDictionariesCudaSmall, BesideOtherMaps) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("f64x3");
  const Table table = any_table(column, 30);
  std::mt19937_64 random(4);
  for (const bool odd : {false, true}) {
    Bytes values;
    std::int64_t walk = 5000;
    for (int i = 0; i < 128 * 200; ++i) {
      walk += static_cast<std::int64_t>(random() % 31) - 15;
      // Of 200 groups a lane's sample has 32; a value that is no decimal lies between them.
      const double decimal = odd && i == 2 * 128 + 3 ? 1.0 / 3 : static_cast<double>(walk) / 100;
      put_float(values, column, decimal);
      put_value(values, table[random() % table.size()], 8, false);
      put_value(values, random(), 8, false);
    }
    const Words maps = maps_at_level_1(values, column);
    ASSERT_EQ(maps.size(), 1u);
    EXPECT_EQ(maps[0].find("decimal /100") == std::string::npos, odd) << maps[0];
    EXPECT_NE(maps[0].find("dictionary of 30"), std::string::npos) << maps[0];
    for (const auto coder : {std::optional<Coder>(), std::optional(Coder::ans)})
      expect_stream_of_cpu(values, column, 0, std::nullopt, 0, coder);
  }
}

// As many as a lane may have, and one more.
TEST(DeviceDictionariesCudaSmall, AsManyEntriesAsTheLaneAllows) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "i64"}) {
    const Column column = column_of(record);
    for (const std::size_t entries : {127u, 128u, 129u}) {
      const Bytes values = draws_from(column, {any_table(column, entries)}, 1039);
      // 129 of 1039 values: an eighth of them is 129; of 1031 it is 128.
      EXPECT_EQ(maps_at_level_1(values, column)[0], "dictionary of " + std::to_string(entries));
      expect_stream_of_cpu(values, column, 0, std::nullopt);
      const Bytes shorter = draws_from(column, {any_table(column, entries)}, 1031);
      EXPECT_EQ(maps_at_level_1(shorter, column)[0].find("dictionary") == std::string::npos,
                entries == 129);
      expect_stream_of_cpu(shorter, column, 0, std::nullopt);
    }
  }
}

// A few groups are looked at first: 0, 4, 8 and so on of 32. Others have more values than a table may.
TEST(DeviceDictionariesCudaSmall, ManyValuesWhereNobodyLooksFirst) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u32", "f64"}) {
    const Column column = column_of(record);
    const Table few = any_table(column, 10), many = any_table(column, 5 * 128, 8);
    for (const int groups : {3, 5}) {
      Bytes values;
      for (std::size_t i = 0; i < 32 * 128; ++i) {
        const std::size_t group = i / 128, other = group / 4 * 3 + group % 4 - 1;
        const bool is_other = group % 4 != 0 && other < static_cast<std::size_t>(groups);
        put_value(values, is_other ? many[other * 128 + i % 128] : few[i % 10],
                  value_bytes(column.type), false);
      }
      EXPECT_EQ(maps_at_level_1(values, column)[0].find("dictionary") == std::string::npos,
                groups == 5);
      expect_stream_of_cpu(values, column, 0, std::nullopt);
    }
  }
}

// Sets mark empty places by a word that values may have, too; gaps of all lengths; values that hardly differ.
TEST(DeviceDictionariesCudaSmall, ValuesAtTheLimits) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u32", "i32", "u64", "i64", "f32", "f64:be"}) {
    const Column column = column_of(record);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - value_bits(column.type)),
                        top = all ^ all >> 1;
    Table lengths{0, all};
    for (int bit = 0; bit < value_bits(column.type); ++bit)
      lengths.push_back((std::uint64_t{1} << bit) & all);
    for (const Table& table :
         {Table{0, all, 0x1234567, 0x7654321 ^ top}, Table{all, all - 5, all - 0x123456},
          Table{top, top - 1, top + 1, 0x345678}, lengths}) {
      expect_stream_of_cpu(draws_from(column, {table}, 1024), column, 0, std::nullopt);
      expect_stream_of_cpu(draws_from(column, {table}, 512), column, 0, 0, 0, Coder::ans);
    }
  }
}

// Bins of several lengths of gaps reach a little into the next one.
TEST(DeviceDictionariesCudaSmall, GapsThatAreInTheBinBefore) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u32", "i64", "f64"}) {
    const Column column = column_of(record);
    std::mt19937_64 random(6);
    for (const unsigned longest : {12u, 20u})
      for (const std::size_t entries : {60u, 200u, 900u}) {
        Table table{1000};
        while (table.size() < entries)
          table.push_back(table.back() + 1 + (random() >> (63 - random() % longest)));
        const Bytes values = draws_from(column, {table}, 8 * 1024);
        EXPECT_EQ(maps_at_level_1(values, column)[0], "dictionary of " + std::to_string(entries));
        expect_stream_of_cpu(values, column, 0, std::nullopt);
      }
  }
}

TEST(DeviceDictionariesCudaSmall, ChunksWithoutStandBetween) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "u64x2"}) {
    const Column column = column_of(record);
    Bytes values;
    const std::vector<std::vector<Table>> chunks{
        {any_table(column, 20)}, {{}}, {any_table(column, 1)}, {any_table(column, 60, 3)}, {{}}};
    for (const auto& tables : chunks) {
      const Bytes some = draws_from(column, tables, 512);
      values.insert(values.end(), some.begin(), some.end());
    }
    const Words maps = maps_at_level_1(values, column, 512 * column.bytes());
    ASSERT_EQ(maps.size(), 5u);
    EXPECT_EQ(maps[0], "dictionary of 20");
    EXPECT_EQ(maps[3], "dictionary of 60");
    for (const auto coder : {std::optional<Coder>(), std::optional(Coder::ans)}) {
      expect_stream_of_cpu(values, column, 512 * column.bytes(), std::nullopt, 0, coder);
      expect_stream_of_cpu(values, column, 384 * column.bytes(), 1, 1, coder);
    }
  }
}

TEST(DeviceDictionariesCudaSmall, LengthsAtEveryEdge) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "i64x3"}) {
    const Column column = column_of(record);
    for (const std::uint64_t records : {1, 7, 8, 127, 128, 129, 255, 256, 1025})
      expect_stream_of_cpu(draws_from(column, {any_table(column, 7)}, records), column,
                           256 * column.bytes(), std::nullopt, records % 5);
  }
}

// Indices may go on as neighbours do: values of a slow walk through a table.
TEST(DeviceDictionariesCudaSmall, IndicesThatFollowEachOther) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("f64");
  const Table table = any_table(column, 400);
  std::mt19937_64 random(9);
  Bytes values;
  std::size_t at = 200;
  for (int i = 0; i < 128 * 128; ++i) {
    at = std::clamp<std::size_t>(at + random() % 3, 1, 400) - 1;
    put_value(values, table[at], 8, false);
  }
  EncodeOptions options;
  options.layout = Layout{{column}};
  options.level = 1;
  const auto info = inspect(compress(values, options).value()).value();
  EXPECT_EQ(info.chunks[0].columns[0].map_words.substr(0, 10), "dictionary");
  EXPECT_EQ(info.chunks[0].columns[0].orders, std::vector<int>{1});
  for (const auto coder : {std::optional<Coder>(), std::optional(Coder::ans)})
    expect_stream_of_cpu(values, column, 0, std::nullopt, 0, coder);
}

// Tables that shared memory does not hold at once are sorted in tiles.
TEST(DeviceDictionariesCuda, AsManyEntriesAsATableMayHave) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "i64"}) {
    const Column column = column_of(record);
    for (const std::size_t entries : {5000u, 16384u, 16385u}) {
      const Bytes values = draws_from(column, {any_table(column, entries)}, 8 * 17000);
      EXPECT_EQ(
          maps_at_level_1(values, column, values.size())[0].find("dictionary") == std::string::npos,
          entries == 16385);
      expect_stream_of_cpu(values, column, values.size(), std::nullopt);
    }
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
