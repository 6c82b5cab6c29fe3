// Streams of the adaptive coder: what was coded comes back, and there is one stream of it.
#include <gtest/gtest.h>

#include <random>

#include "codec/coders/adaptive_section.h"
#include "golden/plain_adaptive.h"

namespace gdelta {
namespace {

using Numbers = std::vector<unsigned char>;
using Stream = std::vector<std::byte>;

/// Zigzagged residuals of all sizes up to `most_bits`, most of them small.
Numbers numbers_of(const Column& column, std::size_t tuples, int most_bits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Numbers numbers;
  for (std::size_t i = 0; i < tuples * column.tuple; ++i) {
    const auto bits = static_cast<int>(random() % static_cast<unsigned>(most_bits + 1));
    const std::uint64_t number = bits == 0 ? 0 : random() >> (64 - bits);
    for (int byte = 0; byte < value_bytes(column.type); ++byte)
      numbers.push_back(static_cast<unsigned char>(number >> (8 * byte)));
  }
  return numbers;
}

Stream encoded(const Numbers& numbers, const Column& column) {
  Stream stream;
  encode_adaptive_stream(numbers, column, stream);
  return stream;
}

bool gives(const Stream& stream, const Column& column, const Numbers& numbers) {
  Numbers out(numbers.size());
  return decode_adaptive_stream(
             {reinterpret_cast<const unsigned char*>(stream.data()), stream.size()}, column, out) &&
         out == numbers;
}

std::vector<Column> columns() {
  std::vector<Column> all;
  for (const ValueType type :
       {ValueType::i8, ValueType::u16, ValueType::i24, ValueType::f32, ValueType::u64})
    for (const int tuple : {1, 3, 64})
      all.push_back({type, static_cast<std::uint8_t>(tuple), false});
  return all;
}

TEST(Adaptive, NumbersOfEverySizeComeBack) {
  for (const Column& column : columns())
    for (const int most_bits : {0, 1, 2, 7, value_bits(column.type)})
      for (const std::size_t tuples : {1, 2, 40}) {
        const Numbers numbers = numbers_of(column, tuples, most_bits, tuples);
        EXPECT_TRUE(gives(encoded(numbers, column), column, numbers))
            << value_bits(column.type) << ' ' << most_bits << ' ' << tuples;
      }
}

TEST(Adaptive, StreamsAreThoseOfThePlainEncoder) {
  for (const Column& column : columns())
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Numbers numbers = numbers_of(column, 1 + seed, value_bits(column.type), seed);
      EXPECT_EQ(encoded(numbers, column),
                plain::adaptive_stream(
                    {reinterpret_cast<const std::byte*>(numbers.data()), numbers.size()},
                    static_cast<std::size_t>(value_bytes(column.type)), column.tuple));
    }
}

TEST(Adaptive, NoOtherStreamGivesTheSameNumbers) {
  constexpr Column kColumn{ValueType::i16, 2, false};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Numbers numbers = numbers_of(kColumn, 1 + seed % 9, 16, seed);
    const Stream good = encoded(numbers, kColumn);
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      Stream other = good;
      other[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      EXPECT_FALSE(gives(other, kColumn, numbers)) << seed << ' ' << bit;
    }
    for (std::size_t length = 0; length < good.size(); ++length)
      EXPECT_FALSE(gives(Stream(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)),
                         kColumn, numbers))
          << seed << ' ' << length;
    for (std::size_t more = 1; more < 6; ++more)
      for (const std::byte last : {std::byte{0}, std::byte{1}, std::byte{255}}) {
        Stream longer = good;
        longer.resize(good.size() + more);
        longer.back() = last;
        EXPECT_FALSE(gives(longer, kColumn, numbers)) << seed << ' ' << more;
      }
  }
}

TEST(Adaptive, WhatDecodesIsWhatIsEncoded) {
  constexpr Column kColumn{ValueType::u8, 1, false};
  std::mt19937_64 random(5);
  int decoded = 0;
  for (int i = 0; i < 20000; ++i) {
    Stream stream(1 + random() % 6, std::byte{255});
    for (std::size_t at = random() % 6; at < stream.size(); ++at)
      stream[at] = static_cast<std::byte>(random());
    Numbers numbers(1 + random() % 5);
    if (!decode_adaptive_stream(
            {reinterpret_cast<const unsigned char*>(stream.data()), stream.size()}, kColumn,
            numbers))
      continue;
    ++decoded;
    EXPECT_EQ(encoded(numbers, kColumn), stream);
  }
  EXPECT_GT(decoded, 100);
}

TEST(Adaptive, NumbersThatAreAlwaysTheSameTakeNextToNothing) {
  constexpr Column kColumn{ValueType::u64, 1, false};
  EXPECT_EQ(encoded(numbers_of(kColumn, 30, 0, 0), kColumn), Stream(1));
  EXPECT_LE(encoded(numbers_of(kColumn, 10000, 0, 0), kColumn).size(), 40u);
}

TEST(Adaptive, SectionsAreNoLongerThanTheyMayBe) {
  // Each number is the one that is least expected: a size that has not been there for long.
  for (const Column& column : columns()) {
    const int bits = value_bits(column.type);
    Numbers numbers;
    for (int i = 0; i < 2000 * column.tuple; ++i) {
      const int size = i / column.tuple * 37 % bits;
      const std::uint64_t number = ~std::uint64_t{0} >> (63 - size);
      for (int byte = 0; byte < value_bytes(column.type); ++byte)
        numbers.push_back(static_cast<unsigned char>(number >> (8 * byte)));
    }
    EXPECT_LE(encoded(numbers, column).size(), numbers.size() + 3u * 2000 * column.tuple);
  }
}

}  // namespace
}  // namespace gdelta
