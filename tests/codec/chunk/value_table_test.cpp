// Tables of dictionaries: they come back whatever their values, in few bits, and damage is seen.
#include "codec/coders/value_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codec/coders/coder.h"
#include "codec/plan/planned_values.h"
#include "held_memory.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

using Values = std::vector<std::uint64_t>;

const unsigned char* bytes_of(const CodedTable& table) {
  return reinterpret_cast<const unsigned char*>(table.bytes.data());
}

/// Different values of the type, up to `bits` of them set.
Values some_values(ValueType type, std::size_t count, int bits) {
  Draws draws(static_cast<unsigned>(count + static_cast<std::size_t>(bits)));
  DistinctWords words(count);
  for (int tries = 0; tries < 1000 + 4 * static_cast<int>(count); ++tries) {
    const auto drawn = static_cast<std::uint64_t>(draws.below(std::int64_t{1} << 62)) * 5;
    words.add(drawn >> (64 - 1 - tries % bits));
  }
  Values values = words.words();
  sort_as_numbers(values, type);
  return values;
}

TEST(ValueTable, ComesBack) {
  for (int number = 0; number < kNumValueTypes; ++number) {
    const auto type = static_cast<ValueType>(number);
    for (const std::size_t count : {1, 2, 3, 100, 65536})
      for (const int bits : {1, value_bits(type) / 2, value_bits(type)}) {
        const Values values = some_values(type, count, bits);
        const CodedTable table = encode_table(values, type);
        EXPECT_EQ(table.fields.entries, values.size());
        EXPECT_EQ(table.fields.bytes, table.bytes.size());
        const auto decoded = decode_table(table.fields, bytes_of(table), type);
        ASSERT_TRUE(decoded) << type_name(type) << ' ' << count << ' ' << bits;
        EXPECT_EQ(*decoded, values) << type_name(type) << ' ' << count << ' ' << bits;
      }
  }
}

TEST(ValueTable, CodersWhoseRowsSaySoMakeTables) {
  for (int number = 0; number < kNumCoders; ++number) {
    const auto coder = static_cast<Coder>(number);
    EXPECT_EQ(column_coder(coder).tables != nullptr, format::coder_traits(coder).codes_tables);
  }
}

TEST(ValueTable, ComesBackFromEveryCoderThatMakesTables) {
  for (const Coder coder : table_coders())
    for (int number = 0; number < kNumValueTypes; ++number) {
      const auto type = static_cast<ValueType>(number);
      for (const std::size_t count : {1, 2, 100, 65536}) {
        const Values values = some_values(type, count, value_bits(type));
        const CodedTable table = encode_table_by(coder, values, type);
        EXPECT_EQ(table.fields.coder, coder);
        EXPECT_EQ(table.fields.entries, values.size());
        EXPECT_EQ(table.fields.bytes, table.bytes.size());
        EXPECT_LE(table.bytes.size(), format::most_coded_bytes(8 * values.size()));
        const auto decoded = decode_table(table.fields, bytes_of(table), type);
        ASSERT_TRUE(decoded) << type_name(type) << ' ' << count;
        EXPECT_EQ(*decoded, values) << type_name(type) << ' ' << count;
      }
    }
}

TEST(ValueTable, DecodingHoldsNoMoreThanItsScratch) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  const Values values = some_values(ValueType::f64, 65536, 64);
  for (const Coder coder : table_coders()) {
    const CodedTable table = encode_table_by(coder, values, ValueType::f64);
    const std::uint64_t peak =
        peak_of([&] { return decode_table(table.fields, bytes_of(table), ValueType::f64); });
    const std::uint64_t scratch =
        table_scratch(65536, 1u << static_cast<int>(coder), ValueType::f64);
    EXPECT_GT(peak, std::uint64_t{8} * 65536);
    EXPECT_LE(peak, scratch);
    EXPECT_LT(scratch, 2 * peak);
  }
}

TEST(ValueTable, RisesAsNumbersDo) {
  Values integers = {3, 0xffff, 0, 0x8000, 0x7fff};
  sort_as_numbers(integers, ValueType::i16);
  EXPECT_EQ(integers, (Values{0x8000, 0xffff, 0, 3, 0x7fff}));
  sort_as_numbers(integers, ValueType::u16);
  EXPECT_EQ(integers, (Values{0, 3, 0x7fff, 0x8000, 0xffff}));
  Values floats = {0x3f800000, 0xbf800000, 0xc0000000, 0};  // 1, -1, -2, 0
  sort_as_numbers(floats, ValueType::f32);
  EXPECT_EQ(floats, (Values{0xc0000000, 0xbf800000, 0, 0x3f800000}));
}

TEST(ValueTable, NeighboursTakeNoBits) {
  Values values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i;
  EXPECT_EQ(encode_table(values, ValueType::u32).bytes.size(), 4u);
}

// A gap takes its own bits and a selector: nine tenths are of 20 bits, others of 40.
TEST(ValueTable, GapsOfSomeSizesTakeLittleMoreThanTheirBits) {
  Draws draws(3);
  Values values = {0};
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::int64_t size = std::int64_t{1} << (i % 10 == 0 ? 39 : 19);
    values.push_back(values.back() + 1 + static_cast<std::uint64_t>(size + draws.below(size)));
  }
  const std::size_t bits = 2000 * 1 + 1800 * 20 + 200 * 40;
  EXPECT_LE(encode_table(values, ValueType::u64).bytes.size(), bits / 8 + 8 + 2);
}

TEST(ValueTable, DamageThatChangesItsLengthIsSeen) {
  const CodedTable table = encode_table(some_values(ValueType::u64, 500, 64), ValueType::u64);
  const auto decodes = [&](const format::TableFields& fields, const Bytes& bytes) {
    return decode_table(fields, reinterpret_cast<const unsigned char*>(bytes.data()),
                        ValueType::u64)
        .has_value();
  };
  EXPECT_TRUE(decodes(table.fields, table.bytes));
  for (const int more : {-1, 1}) {
    format::TableFields fields = table.fields;
    fields.bytes += static_cast<std::uint32_t>(more);
    Bytes bytes = table.bytes;
    bytes.resize(fields.bytes);
    EXPECT_FALSE(decodes(fields, bytes)) << more;
  }
  format::TableFields wider = table.fields;
  for (std::uint8_t& bits : wider.bin_bits) bits = 64;
  EXPECT_FALSE(decodes(wider, table.bytes));
}

TEST(DistinctWords, NumbersWordsAsTheyCome) {
  DistinctWords words(3);
  for (const std::uint64_t word : {9ull, 0ull, 9ull, ~0ull}) EXPECT_TRUE(words.add(word)) << word;
  EXPECT_FALSE(words.add(5));
  EXPECT_TRUE(words.add(0));
  EXPECT_EQ(words.number_of(9), 0u);
  EXPECT_EQ(words.number_of(0), 1u);
  EXPECT_EQ(words.number_of(~0ull), 2u);
  EXPECT_EQ(words.words(), (Values{9, 0, ~0ull}));
}

TEST(DistinctWords, KeepTheirNumbersWhenThereAreMany) {
  constexpr std::uint64_t kMany = 50000, kStep = 0x100000001;
  DistinctWords words(kMany);
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t i = 0; i < kMany; ++i) ASSERT_TRUE(words.add(i * kStep));
  EXPECT_FALSE(words.add(kMany * kStep));
  ASSERT_EQ(words.words().size(), kMany);
  for (std::uint64_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(words.number_of(i * kStep), i);
    ASSERT_EQ(words.words()[i], i * kStep);
  }
}

TEST(DistinctWords, ManyAtOnceAreThoseOneByOne) {
  const std::vector<std::uint32_t> some = {7, 0, 7, 7, ~0u, 0, 12};
  DistinctWords words(4);
  EXPECT_TRUE(words.add_all(std::span(some)));
  EXPECT_EQ(words.words(), (Values{7, 0, ~0u, 12}));
  const std::vector<std::uint32_t> others = {12, 1, 2};
  EXPECT_FALSE(words.add_all(std::span(others)));
  std::vector<std::uint32_t> numbers = some;
  words.find_numbers(std::span(numbers));
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 0, 0, 2, 1, 3}));
}

TEST(DistinctWords, ManyAtOnceAreFoundBehindOthers) {
  constexpr std::uint64_t kMany = 50000, kStep = 0x100000001;
  std::vector<std::uint64_t> all(kMany);
  for (std::uint64_t i = 0; i < kMany; ++i) all[i] = i * kStep;
  DistinctWords words(kMany);
  for (int round = 0; round < 2; ++round)
    EXPECT_TRUE(words.add_all(std::span<const std::uint64_t>(all)));
  words.find_numbers(std::span(all));
  for (std::uint64_t i = 0; i < kMany; ++i) ASSERT_EQ(all[i], i);
}

}  // namespace
}  // namespace gdelta::test
