// device_encode finds the lanes less others that compress finds at level 1, and leaves alone what it leaves.
#ifdef GDELTA_HAS_CUDA
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "codec/cuda/device_encode_cases.h"

namespace gdelta::test {
namespace {

/// Lanes walk, and each that has a leader stays near that one: leaders[lane] is its number, or that of the lane itself.
Bytes led_walks(const Column& column, std::uint64_t records, const std::vector<int>& leaders,
                std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> lanes(column.tuple);
  const auto around_zero = [&](std::uint64_t size) {
    return static_cast<std::int64_t>(random() % (2 * size + 1)) - static_cast<std::int64_t>(size);
  };
  Bytes bytes;
  for (std::uint64_t i = 0; i < records; ++i)
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const auto leader = static_cast<std::size_t>(leaders[lane % leaders.size()]);
      lanes[lane] = leader < lane ? lanes[leader] + around_zero(2) : lanes[lane] + around_zero(35);
      put_value(bytes, static_cast<std::uint64_t>(lanes[lane]), value_bytes(column.type),
                column.big_endian);
    }
  return bytes;
}

/// What compress says of the first chunk's maps.
std::string maps_at_level_1(const Bytes& values, const Column& column) {
  EncodeOptions options;
  options.layout = Layout{{column}};
  options.level = 1;
  options.device = "cpu";
  const ColumnInfo info = inspect(compress(values, options).value())->chunks.at(0).columns.at(0);
  return info.map_words + "; " + info.lane_map_words;
}

void expect_streams_of_cpu(const Bytes& values, const Column& column) {
  const auto bytes = static_cast<std::uint64_t>(column.bytes());
  for (const auto coder : {std::optional<Coder>(), std::optional(Coder::ans)}) {
    expect_stream_of_cpu(values, column, 0, std::nullopt, 0, coder);
    expect_stream_of_cpu(values, column, 700 * bytes, std::nullopt, 3, coder);
    for (const int order : {0, 3}) expect_stream_of_cpu(values, column, 0, order, 0, coder);
  }
}

TEST(DeviceStepsCudaSmall, EveryWidthAndNarrowTuple) {
  GDELTA_NEEDS_GPU();
  for (const char* type : {"i8", "u16", "i24", "i32", "u64", "i16:be", "i32:be", "i64:be"})
    for (const char* tuple : {"x2", "x3", "x4"}) {
      const Column column = column_of((std::string(type) + tuple).c_str());
      const Bytes values = led_walks(column, 1500, {0, 0, 1, 1});
      EXPECT_NE(maps_at_level_1(values, column).find("1-0"), std::string::npos) << type << tuple;
      expect_streams_of_cpu(values, column);
    }
}

TEST(DeviceStepsCudaSmall, WideTuplesAreLeftAlone) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i16x5", "i32:bex8", "i64x64"}) {
    const Column column = column_of(record);
    const Bytes values = led_walks(column, 900, {0, 0, 0, 0, 0});
    EXPECT_EQ(maps_at_level_1(values, column).find('-'), std::string::npos) << record;
    expect_streams_of_cpu(values, column);
  }
}

TEST(DeviceStepsCudaSmall, EverySourceOfALane) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i16x4", "i32x4", "i64x4"}) {
    const Column column = column_of(record);
    for (const int source : {0, 1, 2}) {
      const Bytes values = led_walks(column, 2000, {0, 1, 2, source});
      EXPECT_NE(maps_at_level_1(values, column).find("3-" + std::to_string(source)),
                std::string::npos);
      expect_streams_of_cpu(values, column);
    }
    // Each follows the one before.
    expect_streams_of_cpu(led_walks(column, 2000, {0, 0, 1, 2}), column);
    // The same lane again, and all lanes alike.
    expect_streams_of_cpu(led_walks(column, 2000, {0, 0, 0, 0}, 5), column);
  }
}

TEST(DeviceStepsCudaSmall, LanesThatWalkByThemselvesAreLeftAlone) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i16x2", "u8x3", "i32x4", "i64x3", "f32x2"}) {
    const Column column = column_of(record);
    const Bytes values = led_walks(column, 1500, {0, 1, 2, 3});
    EXPECT_EQ(maps_at_level_1(values, column).find('-'), std::string::npos) << record;
    expect_streams_of_cpu(values, column);
  }
}

// Of 300 groups four are looked at first: 0, 75, 150 and 225.
TEST(DeviceStepsCudaSmall, FewGroupsRefuse) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i16x2", "i64x2"})
    for (const std::uint64_t groups : {1, 4}) {
      const Column column = column_of(record);
      std::mt19937_64 random(9);
      Bytes values;
      std::uint64_t lanes[2] = {0, 0};
      for (std::uint64_t i = 0; i < 300 * 128; ++i) {
        const bool walks_alone = i / 128 % 75 == 0 && i / 128 / 75 < groups;
        lanes[0] += random() % 201 - 100;
        lanes[1] = walks_alone ? lanes[1] + random() % 201 - 100 : lanes[0];
        for (const std::uint64_t lane : lanes)
          put_value(values, lane, value_bytes(column.type), column.big_endian);
      }
      EXPECT_EQ(maps_at_level_1(values, column).find("1-0") == std::string::npos, groups == 4);
      expect_stream_of_cpu(values, column, 0, std::nullopt);
      expect_stream_of_cpu(values, column, 0, std::nullopt, 0, Coder::ans);
    }
}

TEST(DeviceStepsCudaSmall, LengthsAtEveryEdge) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i16x2", "i24x3", "i64x2", "i32x4"}) {
    const Column column = column_of(record);
    for (const std::uint64_t records : {1, 2, 127, 128, 129, 255, 256, 1025, 4099})
      expect_stream_of_cpu(led_walks(column, records, {0, 0, 0, 0}), column, 256 * column.bytes(),
                           std::nullopt, records % 5);
  }
}

// Equal tuples, lanes of which one is constant, and noise, which stays as it is.
TEST(DeviceStepsCudaSmall, ConstantAndRawChunks) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i16x2", "u8x4", "i32x3", "i64x2"}) {
    const Column column = column_of(record);
    const auto bytes = static_cast<std::size_t>(value_bytes(column.type));
    Bytes values = led_walks(column, 512, {0, 0});
    const Bytes noise = make_values({{column}}, 512, Pattern::random);
    values.insert(values.end(), noise.begin(), noise.end());
    Bytes alike;
    for (int i = 0; i < 512 * column.tuple; ++i)
      put_value(alike, 77, static_cast<int>(bytes), column.big_endian);
    values.insert(values.end(), alike.begin(), alike.end());
    Bytes twice = noise;  // the second lane is the first, which is noise
    for (std::size_t at = 0; at < twice.size(); at += bytes * column.tuple)
      std::copy_n(twice.begin() + static_cast<std::ptrdiff_t>(at), bytes,
                  twice.begin() + static_cast<std::ptrdiff_t>(at + bytes));
    values.insert(values.end(), twice.begin(), twice.end());
    for (const auto coder : {std::optional<Coder>(), std::optional(Coder::ans)}) {
      expect_stream_of_cpu(values, column, 512 * column.bytes(), std::nullopt, 0, coder);
      expect_stream_of_cpu(values, column, 384 * column.bytes(), 0, 1, coder);
    }
  }
}

TEST(DeviceStepsCudaSmall, BehindMapsOfLanes) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32x2", "f64:bex3", "f64x4"}) {  // thousandths
    const Column column = column_of(record);
    std::mt19937_64 random(9);
    Bytes values;
    double walk = 20000;
    for (int i = 0; i < 1500; ++i) {
      walk += static_cast<double>(random() % 601) - 300;
      for (int lane = 0; lane < column.tuple; ++lane) {
        const double number = (walk + static_cast<double>(random() % 4)) / 1000;
        put_float(values, column, number);
      }
    }
    const std::string maps = maps_at_level_1(values, column);
    EXPECT_TRUE(maps.find("decimal") != std::string::npos && maps.find("1-0") != std::string::npos)
        << maps;
    expect_streams_of_cpu(values, column);
  }
  for (const char* record : {"i32x2", "i64x3"}) {  // multiples of 500
    const Column column = column_of(record);
    std::mt19937_64 random(9);
    Bytes values;
    std::uint64_t walk = 0;
    for (int i = 0; i < 1500; ++i) {
      walk += 500 * (random() % 300);
      for (int lane = 0; lane < column.tuple; ++lane)
        put_value(values, walk + 500 * (random() % 3), value_bytes(column.type), false);
    }
    const std::string maps = maps_at_level_1(values, column);
    EXPECT_TRUE(maps.find("multiple") != std::string::npos && maps.find("1-0") != std::string::npos)
        << maps;
    expect_streams_of_cpu(values, column);
  }
}

// Numbers too small for a binary step, around zero: those below it follow each other backwards but in their order.
TEST(DeviceStepsCudaSmall, FloatsInOrder) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32x2", "f64x3", "f32:bex4"}) {
    const Column column = column_of(record);
    std::mt19937_64 random(9);
    Bytes values;
    std::int64_t k = 0;
    for (int i = 0; i < 1500; ++i) {
      k += static_cast<std::int64_t>(random() % 81) - 40 - k / 64;
      for (int lane = 0; lane < column.tuple; ++lane) {
        const std::int64_t number = k + static_cast<std::int64_t>(random() % 3);
        const auto size = static_cast<std::uint64_t>(std::abs(number));
        const std::uint64_t sign = std::uint64_t{1} << (value_bits(column.type) - 1);
        put_value(values, number < 0 ? size | sign : size, value_bytes(column.type),
                  column.big_endian);
      }
    }
    EXPECT_EQ(maps_at_level_1(values, column).substr(0, 15), "ordered; lanes ") << record;
    expect_streams_of_cpu(values, column);
  }
}

TEST(DeviceStepsCuda, WritesTheStreamOfTheCpuForManyChunksAndLeaders) {
  GDELTA_NEEDS_GPU();
  std::mt19937_64 random(7);
  const ValueType types[] = {ValueType::i8, ValueType::i16, ValueType::u24, ValueType::i32,
                             ValueType::u64};
  for (int turn = 0; turn < 15; ++turn) {
    const Column column{types[turn % 5], static_cast<std::uint8_t>(2 + random() % 8),
                        turn % 3 == 0};
    std::vector<int> leaders;
    for (int lane = 0; lane < column.tuple; ++lane)
      leaders.push_back(static_cast<int>(random() % static_cast<unsigned>(lane + 1)));
    const Bytes values = led_walks(column, 20000 + random() % 5000, leaders, random());
    expect_stream_of_cpu(values, column, (1000 + random() % 3000) * column.bytes(), std::nullopt,
                         random() % 8);
    expect_stream_of_cpu(values, column, 0, std::nullopt, 0, Coder::ans);
  }
}

TEST(DeviceStepsCudaSmall, NoneAreLookedForIfTheyAreNotWanted) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("i16x2");
  const Bytes values = led_walks(column, 3000, {0, 0});
  DeviceEncode encode;
  encode.layout = {{column}};
  encode.values_bytes = values.size();
  EXPECT_TRUE(device_encode_table(encode)->kinds.maps);
  encode.maps = false;
  EXPECT_FALSE(device_encode_table(encode)->kinds.maps);
  encode.maps = true;
  encode.layout = {{column_of("i16")}};
  EXPECT_FALSE(device_encode_table(encode)->kinds.maps);
  expect_stream_of_cpu(values, column, 0, std::nullopt, 0, std::nullopt, false);
  expect_stream_of_cpu(values, column, 1000, 1, 0, Coder::ans, false);
}

}  // namespace
}  // namespace gdelta::test
#endif
