// device_encode finds the maps that compress finds at level 1, and leaves alone what it leaves.
#ifdef GDELTA_HAS_CUDA
#include <cmath>
#include <limits>
#include <vector>

#include "codec/cuda/device_encode_cases.h"

namespace gdelta::test {
namespace {

/// Walks of whole numbers over 10^digits, from lane to lane the next of `digits`; -1: no decimals.
Bytes decimal_walks(const Column& column, std::uint64_t records, std::vector<int> digits,
                    std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> numbers(column.tuple, 20000);
  Bytes bytes;
  for (std::uint64_t i = 0; i < records; ++i)
    for (std::size_t lane = 0; lane < column.tuple; ++lane) {
      numbers[lane] += static_cast<std::int64_t>(random() % 61) - 30;
      const int own = digits[lane % digits.size()];
      const auto number = static_cast<double>(numbers[lane]);
      put_float(bytes, column, own < 0 ? std::sqrt(number * 1.37) : number / std::pow(10, own));
    }
  return bytes;
}

/// Puts a value in the place of another.
void set_value(Bytes& bytes, const Column& column, std::uint64_t number, double value) {
  Bytes own;
  put_float(own, column, value);
  std::copy(own.begin(), own.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(number * own.size()));
}

TEST(DeviceMapsCudaSmall, FindsTheDigitsOfEveryTypeAndTuple) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "f64", "f32:be", "f64x2", "f32x3", "f32x5", "f64x64"}) {
    const Column column = column_of(record);
    const Bytes values = decimal_walks(column, 700, {2});
    EXPECT_EQ(maps_at_level_1(values, column, 500 * column.bytes()), Words(2, "decimal /100"))
        << record;
    expect_stream_of_cpu(values, column, 500 * column.bytes(), std::nullopt);
    expect_stream_of_cpu(values, column, 0, 1, 3);
    expect_stream_of_cpu(values, column, 300 * column.bytes(), std::nullopt, 0, Coder::ans);
  }
}

TEST(DeviceMapsCudaSmall, LanesAreFoundOneByOne) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32x3", "f64:bex3"}) {
    const Column column = column_of(record);
    const Bytes values = decimal_walks(column, 900, {1, -1, 3});
    const Words maps = maps_at_level_1(values, column, 0);
    ASSERT_EQ(maps.size(), 1u);
    EXPECT_TRUE(maps[0].find("decimal /10,") != std::string::npos &&
                maps[0].find("decimal /1000") != std::string::npos)
        << maps[0];
    expect_stream_of_cpu(values, column, 0, std::nullopt);
    expect_stream_of_cpu(values, column, 0, 2, 0, Coder::ans);
  }
}

// Of 300 groups a lane's sample has 96: no. 2 is not among them.
TEST(DeviceMapsCudaSmall, ALaneWithAnythingElseKeepsItsValues) {
  GDELTA_NEEDS_GPU();
  for (const double odd : {-0.0, std::numeric_limits<double>::quiet_NaN(), 1.0 / 3, 1e300}) {
    const Column column = column_of("f64x2");
    Bytes values = decimal_walks(column, 128 * 300, {2});
    set_value(values, column, 2 * (2 * 128 + 5) + 1, odd);
    const Words maps = maps_at_level_1(values, column, 0);
    ASSERT_EQ(maps.size(), 1u);
    EXPECT_EQ(maps[0].substr(0, 21), "by lane: decimal /100") << odd;
    expect_stream_of_cpu(values, column, 0, std::nullopt);
    set_value(values, column, 2 * (2 * 128 + 7), odd);
    EXPECT_EQ(maps_at_level_1(values, column, 0)[0].find("decimal"), std::string::npos);
    expect_stream_of_cpu(values, column, 0, std::nullopt);
    expect_stream_of_cpu(values, column, 128 * 100 * column.bytes(), 1, 0, Coder::ans);
  }
}

TEST(DeviceMapsCudaSmall, ChunksThatAreNoDecimalsStandBetweenThoseThatAre) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "f64x2"}) {
    const Column column = column_of(record);
    Bytes values;
    for (const int digits : {1, -1, 4, 0, -1}) {
      const Bytes some = decimal_walks(column, 512, {digits});
      values.insert(values.end(), some.begin(), some.end());
    }
    // The fourth is 7, the last one noise.
    for (std::uint64_t i = 512 * 3; i < 512 * 4; ++i)
      for (int lane = 0; lane < column.tuple; ++lane)
        set_value(values, column, i * column.tuple + static_cast<std::uint64_t>(lane), 7);
    const Bytes noise = make_values({{column}}, 512, Pattern::random);
    std::copy(noise.begin(), noise.end(), values.end() - static_cast<std::ptrdiff_t>(noise.size()));
    for (const auto coder : {std::optional<Coder>(), std::optional(Coder::ans)}) {
      expect_stream_of_cpu(values, column, 512 * column.bytes(), std::nullopt, 0, coder);
      expect_stream_of_cpu(values, column, 384 * column.bytes(), 2, 1, coder);
    }
  }
}

TEST(DeviceMapsCudaSmall, LengthsAtEveryEdge) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "f64x3"}) {
    const Column column = column_of(record);
    for (const std::uint64_t records : {1, 2, 127, 128, 129, 255, 256, 1025})
      expect_stream_of_cpu(decimal_walks(column, records, {2}), column, 256 * column.bytes(),
                           std::nullopt, records % 5);
  }
}

// Whole numbers that words of 32 bits and doubles just hold, and that they do not; and those that differ too much.
TEST(DeviceMapsCudaSmall, NumbersAtTheLimits) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "f64"}) {
    const Column column = column_of(record);
    for (const double most : {8388608.0, 1048575.0, 2147483520.0, 2147483648.0, 9007199254740991.0,
                              9007199254740992.0, 1e18, 1099511627775.0, 1099511627776.0}) {
      Bytes values;
      for (int i = 0; i < 700; ++i) put_float(values, column, i % 9 == 0 ? most : i % 9);
      expect_stream_of_cpu(values, column, 0, std::nullopt);
      values.clear();
      for (int i = 0; i < 700; ++i) put_float(values, column, i % 2 == 0 ? -most : -most + i % 9);
      expect_stream_of_cpu(values, column, 0, std::nullopt);
    }
  }
}

/// Walks in steps, from lane to lane the next of `steps`; 1: none. They begin where words are about to wrap, or at 1000.
Bytes stepped_walks(const Column& column, std::uint64_t records, std::vector<std::uint64_t> steps,
                    std::uint64_t start = 1000, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> numbers(column.tuple, start);
  Bytes bytes;
  for (std::uint64_t i = 0; i < records; ++i)
    for (std::size_t lane = 0; lane < column.tuple; ++lane) {
      numbers[lane] += steps[lane % steps.size()] * (random() % 61 - 30);
      put_value(bytes, numbers[lane], value_bytes(column.type), column.big_endian);
    }
  return bytes;
}

TEST(DeviceMapsCudaSmall, FindsTheStepsOfIntegers) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "u32x2", "i32:bex3", "i64", "u64x2", "i64:be", "i64x64"}) {
    const Column column = column_of(record);
    const Bytes values = stepped_walks(column, 700, {2000});
    const Words maps = maps_at_level_1(values, column, 500 * column.bytes());
    EXPECT_NE(maps[0].find("multiple 2000"), std::string::npos) << record << maps[0];
    expect_stream_of_cpu(values, column, 500 * column.bytes(), std::nullopt);
    expect_stream_of_cpu(values, column, 0, 1, 3);
    expect_stream_of_cpu(values, column, 300 * column.bytes(), std::nullopt, 0, Coder::ans);
  }
  for (const char* record : {"i16", "u8x2", "i24"}) {  // none are looked for
    const Column column = column_of(record);
    expect_stream_of_cpu(stepped_walks(column, 700, {4}, 0), column, 0, std::nullopt);
  }
}

// Words and products of 32 and 64 bits at their limits, steps that are even and odd, large and without any.
TEST(DeviceMapsCudaSmall, StepsAtTheLimits) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "u32", "i64", "u64"}) {
    const Column column = column_of(record);
    const int bits = value_bits(column.type);
    const std::uint64_t middle = std::uint64_t{1} << (bits - 1);
    for (const std::uint64_t step :
         {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{96}, middle >> 7, (middle >> 7) - 1,
          middle - 1, middle, middle + 1})
      for (const std::uint64_t start : {std::uint64_t{0}, middle, middle - 1, ~std::uint64_t{0}}) {
        std::mt19937_64 random(step);
        Bytes values;
        for (int i = 0; i < 700; ++i)
          put_value(values, start + step * (random() % 7), value_bytes(column.type), false);
        expect_stream_of_cpu(values, column, 0, std::nullopt);
      }
  }
}

TEST(DeviceMapsCudaSmall, FindsStepsOfFloatsThatArePowersOfTwo) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "f64", "f32:bex3", "f64x2"})
    for (const int exponent : {-13, -149, -1022, -1074, 100, 1000}) {
      const Column column = column_of(record);
      if (column.type == ValueType::f32 && (exponent < -149 || exponent > 100)) continue;
      Bytes values;
      std::mt19937_64 random(5);
      for (int i = 0; i < 900 * column.tuple; ++i)
        put_float(values, column,
                  std::ldexp(static_cast<double>(200001 + random() % 64), exponent));
      if (exponent == -13) {
        EXPECT_EQ(maps_at_level_1(values, column, 0)[0].substr(0, 6), "scaled") << record;
      }
      expect_stream_of_cpu(values, column, 0, std::nullopt);
      expect_stream_of_cpu(values, column, 500 * column.bytes(), 1, 0, Coder::ans);
    }
}

// Of 300 groups a lane's sample has 96: no. 2 is not among them.
TEST(DeviceMapsCudaSmall, LanesOfAnyMapAreLeftAloneOneByOne) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32x3", "i64x3"}) {
    const Column column = column_of(record);
    Bytes values = stepped_walks(column, 128 * 300, {1000, 1, 50});
    expect_stream_of_cpu(values, column, 0, std::nullopt);
    Bytes odd;
    put_value(odd, 12347, value_bytes(column.type), false);
    std::copy(odd.begin(), odd.end(),
              values.begin() + static_cast<std::ptrdiff_t>(3 * (2 * 128 + 5) * odd.size()));
    const Words maps = maps_at_level_1(values, column, 0);
    EXPECT_EQ(maps[0].substr(0, 14), "by lane: none,") << record;
    expect_stream_of_cpu(values, column, 0, std::nullopt);
    expect_stream_of_cpu(values, column, 128 * 100 * column.bytes(), 1, 0, Coder::ans);
  }
  const Column column = column_of("f64x3");  // decimals, powers of two, neither
  Bytes values;
  std::mt19937_64 random(5);
  for (int i = 0; i < 900; ++i) {
    put_float(values, column, static_cast<double>(random() % 999) / 100);
    put_float(values, column, std::ldexp(static_cast<double>(200001 + random() % 64), -30));
    put_float(values, column, std::sqrt(static_cast<double>(random() % 999)));
  }
  EXPECT_EQ(maps_at_level_1(values, column, 0)[0].substr(0, 37),
            "by lane: decimal /100, scaled x9.3132");
  expect_stream_of_cpu(values, column, 0, std::nullopt);
  expect_stream_of_cpu(values, column, 0, std::nullopt, 0, Coder::ans);
}

TEST(DeviceMapsCudaSmall, GroupsThatAreAllAlikeSayNothing) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "i64"}) {
    const Column column = column_of(record);
    Bytes values = stepped_walks(column, 128 * 40, {1000}, 123456000);
    for (std::uint64_t i = 0; i < 128 * 30; ++i) {  // longer than what eight warps see at first
      Bytes seven;
      put_value(seven, 7000, value_bytes(column.type), false);
      std::copy(seven.begin(), seven.end(),
                values.begin() + static_cast<std::ptrdiff_t>(i * seven.size()));
    }
    expect_stream_of_cpu(values, column, 0, std::nullopt);
    expect_stream_of_cpu(Bytes(values.size()), column, 0, std::nullopt);
  }
}

TEST(DeviceMapsCuda, WritesTheStreamOfTheCpuForManyChunksAndDigits) {
  GDELTA_NEEDS_GPU();
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 12; ++turn) {
    const Column column{turn % 2 == 0 ? ValueType::f32 : ValueType::f64,
                        static_cast<std::uint8_t>(1 + random() % 9), turn % 3 == 0};
    std::vector<int> digits(column.tuple);
    for (int& of_lane : digits) of_lane = static_cast<int>(random() % 9) - 1;
    Bytes values = decimal_walks(column, 20000 + random() % 5000, digits, random());
    for (int odd = 0; odd < turn; ++odd)
      set_value(values, column, random() % (values.size() / value_bytes(column.type)), -0.0);
    expect_stream_of_cpu(values, column, (1000 + random() % 3000) * column.bytes(), std::nullopt,
                         random() % 8);
    expect_stream_of_cpu(values, column, 0, std::nullopt, 0, Coder::ans);
  }
}

TEST(DeviceMapsCudaSmall, NoneAreLookedForIfTheyAreNotWanted) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("f32x2");
  const Bytes values = decimal_walks(column, 3000, {2});
  DeviceEncode encode;
  encode.layout = {{column}};
  encode.values_bytes = values.size();
  const auto with = device_encode_scratch_bytes(encode);
  EXPECT_TRUE(device_encode_table(encode)->kinds.maps);
  encode.maps = false;
  EXPECT_GE(*with, *device_encode_scratch_bytes(encode) + values.size());
  EXPECT_FALSE(device_encode_table(encode)->kinds.maps);
  EncodeOptions options;
  options.layout = Layout{{column}};
  options.level = 1;
  options.device = "cpu";
  options.maps = false;
  const auto plain = compress(values, options);
  ASSERT_TRUE(plain);
  EXPECT_FALSE(inspect(*plain)->chunks[0].columns[0].maps_in_a_pass);
  options.maps = true;
  EXPECT_LT(compress(values, options)->size() * 3, plain->size() * 2);
  expect_stream_of_cpu(values, column, 0, std::nullopt, 0, std::nullopt, false);
  expect_stream_of_cpu(values, column, 1000, 1, 0, Coder::ans, false);
}

}  // namespace
}  // namespace gdelta::test
#endif
