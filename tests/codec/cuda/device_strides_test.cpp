// device_encode takes values less those a stride before where compress does so at level 1, and leaves alone what it leaves.
#ifdef GDELTA_HAS_CUDA
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "codec/chunk/near_lanes.h"
#include "codec/cuda/device_encode_cases.h"
#include "codec/plan/levels.h"
#include "codec/plan/stride_search.h"

namespace gdelta::test {
namespace {

constexpr std::uint64_t kRow = 37;

/// Rows of tuples that repeat but for a little noise; value(number, lane) makes a value of a number.
Bytes rows_of(const Column& column, std::uint64_t records,
              const std::function<std::uint64_t(std::int64_t, int)>& value,
              std::int64_t noise = 3) {
  std::mt19937_64 random(7);
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  };
  std::vector<std::int64_t> row(kRow * column.tuple);
  for (std::int64_t& number : row) number = below(1 << 6);
  Bytes bytes;
  for (std::uint64_t i = 0; i < records; ++i)
    for (int lane = 0; lane < column.tuple; ++lane)
      put_value(
          bytes,
          value(row[i % kRow * column.tuple + static_cast<std::size_t>(lane)] + below(noise), lane),
          value_bytes(column.type), column.big_endian);
  return bytes;
}
std::uint64_t same_number(std::int64_t number, int /*lane*/) {
  return static_cast<std::uint64_t>(number);
}

ColumnInfo strided_column(const Bytes& values, const Column& column, std::uint64_t stride,
                          std::optional<Coder> coder = std::nullopt) {
  EncodeOptions options;
  options.layout = Layout{{column}};
  options.level = 1;
  options.stride = stride;
  options.coder = coder;
  options.device = "cpu";
  return inspect(compress(values, options).value())->chunks.at(0).columns.at(0);
}

/// Whether the first chunk has the stride, which tests are about.
bool has_stride(const Bytes& values, const Column& column, std::uint64_t stride = kRow,
                std::optional<Coder> coder = std::nullopt) {
  return strided_column(values, column, stride, coder).strides ==
         std::vector<std::pair<std::uint64_t, int>>{{stride, 1}};
}

void expect_strided_streams(const Bytes& values, const Column& column,
                            std::uint64_t stride = kRow) {
  const auto bytes = static_cast<std::uint64_t>(column.bytes());
  for (const auto coder :
       {std::optional<Coder>(), std::optional(Coder::pack), std::optional(Coder::ans)}) {
    expect_stream_of_cpu(values, column, 0, std::nullopt, 0, coder, true, stride);
    expect_stream_of_cpu(values, column, 700 * bytes, std::nullopt, 3, coder, true, stride);
    expect_stream_of_cpu(values, column, 0, 3, 0, coder, true, stride);
  }
  expect_stream_of_cpu(values, column, 0, std::nullopt, 0, std::nullopt, false, stride);
}

TEST(DeviceStridesCudaSmall, EveryWidthAndTuple) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u8", "i8x3", "i16", "u16:bex2", "i24x4", "i32", "u32x3", "i32x5",
                             "i64", "u64x2", "i64:bex4", "u8x64"}) {
    const Column column = column_of(record);
    const Bytes values = rows_of(column, 1500, same_number);
    EXPECT_TRUE(has_stride(values, column)) << record;
    EXPECT_TRUE(has_stride(values, column, kRow, Coder::ans)) << record;
    expect_strided_streams(values, column);
  }
}

TEST(DeviceStridesCudaSmall, BehindMapsWithAndWithoutFields) {
  GDELTA_NEEDS_GPU();
  const auto check = [](const char* record, const char* map, const auto& value) {
    const Column column = column_of(record);
    const Bytes values = rows_of(column, 1500, value);
    EXPECT_TRUE(has_stride(values, column)) << record << " " << map;
    EXPECT_NE(strided_column(values, column, kRow).map_words.find(map), std::string::npos)
        << strided_column(values, column, kRow).map_words;
    expect_strided_streams(values, column);
  };
  check("f32", "decimal", [](std::int64_t number, int) -> std::uint64_t {
    return std::bit_cast<std::uint32_t>(static_cast<float>(number + 10000) / 100.0F);
  });
  check("f64x2", "decimal", [](std::int64_t number, int) -> std::uint64_t {
    return std::bit_cast<std::uint64_t>(static_cast<double>(number + 10000) / 1000.0);
  });
  check("i32", "multiple", [](std::int64_t number, int) -> std::uint64_t {
    return static_cast<std::uint32_t>(number * 1001 + 17);
  });
  check("f16", "ordered", [](std::int64_t number, int) -> std::uint64_t {
    const std::int64_t around_zero = number - 32;
    return static_cast<std::uint64_t>(around_zero < 0 ? 0x8000 - around_zero : around_zero);
  });
}

/// Lanes that follow earlier ones lose those first, and then what stood a row before.
TEST(DeviceStridesCudaSmall, BehindLanesLessOthers) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u8x3", "i32x2", "i16:bex4", "i64x2"}) {
    const Column column = column_of(record);
    std::int64_t leader = 0;
    std::mt19937_64 random(3);
    const Bytes values = rows_of(column, 1500, [&](std::int64_t number, int lane) {
      if (lane == 0) leader = number + static_cast<std::int64_t>(random() % 32);
      return static_cast<std::uint64_t>(lane == 0 ? leader : leader + lane + number % 2);
    });
    EXPECT_NE(strided_column(values, column, kRow).lane_map_words, "") << record;
    expect_strided_streams(values, column);
  }
}

TEST(DeviceStridesCudaSmall, FewValuesBecomeIndicesThatHaveAStride) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("f64");
  const Bytes values = rows_of(
      column, 60000,
      [](std::int64_t number, int) {
        return 0x3ff0000000000000 + static_cast<std::uint64_t>(number) * 0x123456789abcd;
      },
      2);
  EXPECT_TRUE(strided_column(values, column, kRow).dictionaries);
  EXPECT_TRUE(has_stride(values, column));
  expect_stream_of_cpu(values, column, 0, std::nullopt, 0, std::nullopt, true, kRow);
  expect_stream_of_cpu(values, column, 0, std::nullopt, 0, Coder::ans, true, kRow);
}

TEST(DeviceStridesCudaSmall, ItIsLeftWhereItSavesNothingOrIsTooLong) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("i32x2");
  const Bytes rows = rows_of(column, 1500, same_number);
  for (const std::uint64_t stride : {2ull, 36ull, 375ull, 376ull, 1ull << 22}) {
    EXPECT_FALSE(has_stride(rows, column, stride)) << stride;
    expect_strided_streams(rows, column, stride);
  }
  for (const Pattern pattern : kPatterns) {
    const Bytes values = make_values({{column}}, 1100, pattern);
    expect_strided_streams(values, column, 5);
  }
}

/// The last chunk may be too short for the stride, and others just long enough.
TEST(DeviceStridesCudaSmall, ChunksOfEveryLength) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("i16");
  for (const std::uint64_t records : {1, 2, 4 * 37 - 1, 4 * 37, 4 * 37 + 1, 1024 + 148, 1025}) {
    const Bytes values = rows_of(column, records, same_number);
    for (const auto coder : {std::optional<Coder>(), std::optional(Coder::ans)})
      for (const std::uint64_t chunk : {0, 256, 2048})
        expect_stream_of_cpu(values, column, chunk, std::nullopt, 0, coder, true, kRow);
  }
}

TEST(DeviceStridesCudaSmall, LanesLessOthersAreWorthCodingOnlyBehindAStride) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("u8x4");
  const Bytes values = near_lanes([](int) { return true; });
  EXPECT_EQ(strided_column(values, column, 0).coder, Coder::raw);
  EXPECT_EQ(strided_column(values, column, 32).lane_map_words, "lanes 3-1 2-0");
  EXPECT_TRUE(has_stride(values, column, 32));
  expect_strided_streams(values, column, 32);
}

TEST(DeviceStridesCudaSmall, LanesLessOthersThatAreNotWorthCodingHideAStride) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("u8x4");
  const Bytes values = near_lanes([](int lane) { return lane >= 2; });
  EXPECT_EQ(strided_column(values, column, 32).coder, Coder::raw);
  expect_strided_streams(values, column, 32);
}

/// Rows that are like those before them, and less like those before these.
Bytes drifting_rows(const Column& column, std::uint64_t records) {
  std::mt19937_64 random(17);
  std::vector<std::uint64_t> row(kRow * column.tuple);
  for (std::uint64_t& number : row) number = random() % 4096 + 4096;
  Bytes bytes;
  for (std::uint64_t i = 0; i < records * column.tuple; ++i) {
    std::uint64_t& number = row[i % row.size()];
    number += random() % 64 - 32;
    put_value(bytes, number, value_bytes(column.type), column.big_endian);
  }
  return bytes;
}

/// Rows and planes of an array, either of which may be better, and either of which may be too long.
TEST(DeviceStridesCudaSmall, TheBetterOfTwo) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "i16x2", "f64"}) {
    const Column column = column_of(record);
    const Bytes rows = drifting_rows(column, 2000);
    EXPECT_TRUE(has_stride(rows, column, 4 * kRow)) << record;
    const std::uint64_t chunk = 1024 * static_cast<std::uint64_t>(column.bytes());
    for (const auto& [stride, other, better] :
         {std::array{kRow, 4 * kRow, kRow}, std::array{4 * kRow, kRow, kRow},
          std::array{kRow - 1, kRow, kRow}, std::array{kRow, kRow - 1, kRow},
          std::array{kRow, 300ul, kRow}, std::array{300ul, kRow, kRow},
          std::array{kRow - 1, kRow + 1, kRow - 1}}) {  // neither is taken
      for (const auto coder : {std::optional<Coder>(), std::optional(Coder::ans)}) {
        const DeviceRoundTrip of_one =
            encode_and_decode(rows, column, chunk, std::nullopt, 0, coder, true, better);
        const DeviceRoundTrip of_two =
            encode_and_decode(rows, column, chunk, std::nullopt, 0, coder, true, stride, other);
        EXPECT_EQ(of_two.stream, of_one.stream) << record << " " << stride << " " << other;
        EXPECT_EQ(of_two.decoded, rows) << record;
      }
    }
  }
}

TEST(DeviceStridesCudaSmall, AnotherStandsBesideOne) {
  const auto bound_of = [](std::uint64_t stride, std::uint64_t other) {
    DeviceEncode encode;
    encode.layout = {{column_of("i32")}};
    encode.values_bytes = 4000;
    encode.stride = stride;
    encode.other_stride = other;
    return device_encode_bound(encode).has_value();
  };
  EXPECT_TRUE(bound_of(2, 1 << 22));
  EXPECT_FALSE(bound_of(0, 2));
  EXPECT_FALSE(bound_of(kFindStride, 2));
  EXPECT_FALSE(bound_of(2, 1));
  EXPECT_FALSE(bound_of(2, (1 << 22) + 1));
  EXPECT_FALSE(bound_of(2, kFindStride));
}

void expect_found_strides(const Bytes& values, const Column& column) {
  expect_stream_of_cpu(values, column, 0, std::nullopt, 0, std::nullopt, true, kFindStride);
  expect_stream_of_cpu(values, column, 0, 1, 3, Coder::ans, true, kFindStride);
}

/// Whether one is found in the first chunk.
bool finds_stride(const Bytes& values, const Column& column) {
  return strided_column(values, column, kFindStride).strides.size() == 1;
}

TEST(DeviceStridesCudaSmall, FoundInEveryWidthAndTuple) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u8", "i8x3", "i16", "u16:bex2", "i24x4", "i32", "u32x3", "i32x5",
                             "i64", "u64x2", "i64:bex4", "u8x64"}) {
    const Column column = column_of(record);
    const Bytes values = rows_of(column, 1500, same_number);
    EXPECT_TRUE(finds_stride(values, column)) << record;
    expect_found_strides(values, column);
  }
}

TEST(DeviceStridesCudaSmall, FoundBehindMapsAndLanesLessOthers) {
  GDELTA_NEEDS_GPU();
  const auto check = [](const char* record, const auto& value) {
    const Column column = column_of(record);
    const Bytes values = rows_of(column, 3000, value);
    EXPECT_TRUE(finds_stride(values, column)) << record;
    expect_found_strides(values, column);
  };
  check("f32", [](std::int64_t number, int) -> std::uint64_t {
    return std::bit_cast<std::uint32_t>(static_cast<float>(number + 10000) / 100.0F);
  });
  check("f64", [](std::int64_t number, int) -> std::uint64_t {
    return std::bit_cast<std::uint64_t>(std::sqrt(static_cast<double>(number * 1000 + 1)));
  });
  check("i16x3", [leader = std::int64_t{0}](std::int64_t number, int lane) mutable {
    if (lane == 0) leader = number;
    return static_cast<std::uint64_t>(leader + lane * number % 3);
  });
}

/// Differences that leave no room in 32 bits lose lower ones, window by window. Values have no common step.
TEST(DeviceStridesCudaSmall, FoundInValuesFarFromEachOther) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("i64");
  for (const int shift : {20, 26, 40, 57}) {
    std::mt19937_64 random(9);
    const Bytes values = rows_of(column, 5000, [&](std::int64_t number, int) {
      return (static_cast<std::uint64_t>(number - 32) << shift) + random() % 50000;
    });
    EXPECT_TRUE(finds_stride(values, column)) << shift;
    EXPECT_EQ(strided_column(values, column, kFindStride).map_words, "") << shift;
    expect_found_strides(values, column);
  }
}

/// Of rows that are 100 or 101 values long a sample and groups may say otherwise: neighbours are looked at, too.
TEST(DeviceStridesCudaSmall, FoundBesideWhatASampleSays) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("i32");
  int beside = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> row(101);
    for (std::uint64_t& value : row) value = random() % (1 << 20);
    Bytes values;
    for (int rows = 0; rows < 90; ++rows) {
      const std::size_t length = 100 + random() % 2;
      for (std::size_t i = 0; i < length; ++i) put_value(values, row[i] + random() % 9, 4, false);
    }
    const auto strides = strided_column(values, column, kFindStride).strides;
    const ColumnBytes bytes{.first = reinterpret_cast<const unsigned char*>(values.data()),
                            .record_bytes = 4,
                            .records = values.size() / 4,
                            .column = column};
    const auto found =
        find_strides({bytes, format::Front{}}, 0, level_policy(kLowestLevel).strides);
    if (!strides.empty() && std::find(found.begin(), found.end(), strides[0].first) == found.end())
      ++beside;
    expect_found_strides(values, column);
  }
  EXPECT_GE(beside, 2);
}

TEST(DeviceStridesCudaSmall, NoneIsFoundInMostOfAllAndShortChunks) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u8", "f32x2", "i64"}) {
    const Column column = column_of(record);
    const auto bytes = static_cast<std::uint64_t>(column.bytes());
    for (const Pattern pattern : kPatterns) {
      const Bytes values = make_values({{column}}, 1100, pattern);
      expect_stream_of_cpu(values, column, 700 * bytes, std::nullopt, 0, std::nullopt, true,
                           kFindStride);
    }
    for (const std::uint64_t records : {1, 11, 12, 13, 15, 16, 40, 129})
      expect_stream_of_cpu(rows_of(column, 500, same_number), column, records * bytes, std::nullopt,
                           0, std::nullopt, true, kFindStride);
  }
}

TEST(DeviceStridesCuda, ManyChunks) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"f32", "i16x2", "u8x3", "i64x2", "i32x8"}) {
    const Column column = column_of(record);
    const Bytes values = rows_of(column, 200001, same_number);
    expect_stream_of_cpu(values, column, 100000, std::nullopt, 0, std::nullopt, true, kRow);
    expect_stream_of_cpu(values, column, 100000, std::nullopt, 0, Coder::ans, true, kRow);
    expect_stream_of_cpu(values, column, 200000, std::nullopt, 0, std::nullopt, true, kFindStride);
  }
}

TEST(DeviceStridesCudaSmall, ImpossibleOnesAreRefused) {
  GDELTA_NEEDS_GPU();
  DeviceEncode encode;
  encode.layout = {{column_of("i32")}};
  encode.values_bytes = 4000;
  for (const std::uint64_t stride : {std::uint64_t{1}, kMaxStride + 1, kFindStride - 1}) {
    encode.stride = stride;
    EXPECT_EQ(device_encode_bound(encode).error().code, Errc::invalid_argument) << stride;
  }
  for (const std::uint64_t stride : {kMaxStride, kFindStride}) {
    encode.stride = stride;
    EXPECT_TRUE(device_encode_bound(encode)) << stride;
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
