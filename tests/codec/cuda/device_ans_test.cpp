// device_encode with ans writes the stream that compress writes at level 1 with the same coder and order, or
// without one.
#ifdef GDELTA_HAS_CUDA
#include <span>

#include "codec/cuda/device_encode_cases.h"

namespace gdelta::test {
namespace {

void expect_ans_of_cpu(const char* record, std::uint64_t records, Pattern pattern,
                       std::uint64_t chunk_records, std::optional<int> order,
                       std::size_t skew = 0) {
  const Column column = column_of(record);
  expect_stream_of_cpu(make_values({{column}}, records, pattern), column,
                       chunk_records * column.bytes(), order, skew, Coder::ans);
}

/// Sums of steps that are large for a while, then small: many tables suit them. `most_bits` of the loudest.
Bytes loud_and_quiet(const Column& column, std::uint64_t records, int most_bits,
                     std::uint64_t stretch, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> sums(column.tuple);
  Bytes out;
  int bits = 0;
  for (std::uint64_t i = 0; i < records; ++i) {
    if (i % stretch == 0) bits = static_cast<int>(random() % (most_bits + 1));
    for (int lane = 0; lane < column.tuple; ++lane) {
      const std::uint64_t steps = bits == 0 ? 0 : random() >> (64 - bits);
      sums[lane] += random() % 2 == 0 ? steps : 0 - steps;
      put_value(out, sums[lane], value_bytes(column.type), column.big_endian);
    }
  }
  return out;
}

void expect_ans_of_cpu(const char* record, std::uint64_t records, int most_bits,
                       std::uint64_t stretch, std::uint64_t chunk_records,
                       std::optional<int> order) {
  const Column column = column_of(record);
  expect_stream_of_cpu(loud_and_quiet(column, records, most_bits, stretch), column,
                       chunk_records * column.bytes(), order, 0, Coder::ans);
}

TEST(DeviceAnsCudaSmall, WritesTheStreamOfTheCpuForEveryType) {
  GDELTA_NEEDS_GPU();
  for (int type = 0; type < kNumValueTypes; ++type) {
    const Column column{static_cast<ValueType>(type), 3, type % 2 == 1};
    expect_stream_of_cpu(make_values({{column}}, 1100, Pattern::smooth), column,
                         400 * column.bytes(), type % 9, 0, Coder::ans);
  }
}

TEST(DeviceAnsCudaSmall, WritesTheStreamOfTheCpuForEveryPattern) {
  GDELTA_NEEDS_GPU();
  for (const Pattern pattern : kPatterns) {
    expect_ans_of_cpu("i32", 3000, pattern, 1200, 1);
    expect_ans_of_cpu("f64x2", 1300, pattern, 1000, 0);
    expect_ans_of_cpu("u8", 5000, pattern, 5000, 2);
  }
}

TEST(DeviceAnsCudaSmall, WritesTheStreamOfTheCpuForLengthsAtEveryEdge) {
  GDELTA_NEEDS_GPU();
  for (const std::uint64_t records : {0, 1, 2, 7, 8, 9, 127, 128, 129, 255, 256, 257, 1025}) {
    expect_ans_of_cpu("i16", records, Pattern::smooth, 2000, 1, records % 4);
    expect_ans_of_cpu("i64x5", records, Pattern::smooth, 256, 1);
  }
  expect_ans_of_cpu("i32", 9, Pattern::random, 1, 0);
}

TEST(DeviceAnsCudaSmall, WritesTheStreamOfTheCpuForManyTables) {
  GDELTA_NEEDS_GPU();
  expect_ans_of_cpu("i32", 9000, 20, 128, 9000, 1);
  expect_ans_of_cpu("i16x2", 6000, 10, 64, 5000, 1);
  expect_ans_of_cpu("i64", 9000, 40, 256, 9000, 1);
}

/// Bytes in three lanes, each of few values or of noise, and now and then another value.
Bytes few_values_and_others(std::uint64_t records, std::uint64_t seed) {
  constexpr int kLanes = 3;
  std::mt19937_64 random(seed);
  bool is_noise[kLanes];
  std::vector<std::uint64_t> few[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    is_noise[lane] = random() % 3 == 2;
    few[lane].resize(1 + random() % 40);
    for (std::uint64_t& value : few[lane]) value = random();
  }
  Bytes out;
  for (std::uint64_t i = 0; i < records; ++i)
    for (int lane = 0; lane < kLanes; ++lane) {
      std::uint64_t value =
          is_noise[lane] ? random() >> 60 : few[lane][random() % few[lane].size()];
      if (random() % 1000 == 0) value = random();
      out.push_back(static_cast<std::byte>(value));
    }
  return out;
}

// Bins of these are joined to one whose offsets would reach beyond the type.
TEST(DeviceAnsCudaSmall, WritesTheStreamOfTheCpuWhereABinHasTheWholeType) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("u8x3");
  for (const std::uint64_t seed : {890, 1711})
    expect_stream_of_cpu(few_values_and_others(5000, seed), column, 1 << 20, 0, 0, Coder::ans);
}

/// Values of which so many are equal, or one is alone, or two in each row of `border` ranks: of their sample nearly every
/// value begins a cell that bins are made of.
Bytes many_cells(std::uint64_t records, std::uint64_t equal, std::uint64_t border) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t value = 0; values.size() < records; value += 1000) {
    values.insert(values.end(), equal, value);
    values.push_back(value += 10);
    if (values.size() % border + 1 == border) values.push_back(value += 10);
  }
  values.resize(records);
  std::shuffle(values.begin(), values.end(), std::mt19937_64(5));
  Bytes out;
  for (const std::uint32_t value : values) put_value(out, value, sizeof value, false);
  return out;
}

TEST(DeviceAnsCudaSmall, WritesTheStreamOfTheCpuForSamplesOfTheMostCells) {
  GDELTA_NEEDS_GPU();
  const Column column = column_of("i32");
  for (const std::uint64_t records : {1023, 1279, 2047, 2048, 4096})
    for (const std::uint64_t equal : {2, 3, 4})
      expect_stream_of_cpu(many_cells(records, equal, 4 * equal), column, 1 << 20, 0, 0,
                           Coder::ans);
}

/// Stretches of one value each, a power of two or the number below it, of either sign.
Bytes powers_and_below(std::uint64_t records, int value_bytes) {
  std::mt19937_64 random(7);
  std::uint64_t value = 0;
  Bytes out;
  for (std::uint64_t i = 0; i < records; ++i) {
    if (i % 32 == 0) {
      value = (std::uint64_t{1} << random() % (8 * value_bytes)) - random() % 2;
      if (random() % 2 == 0) value = ~value;
    }
    put_value(out, value, value_bytes, false);
  }
  return out;
}

// What a residual costs in a table changes there.
TEST(DeviceAnsCudaSmall, WritesTheStreamOfTheCpuForResidualsOnBothSidesOfEachPowerOfTwo) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i16", "i32", "i64"}) {
    const Column column = column_of(record);
    expect_stream_of_cpu(powers_and_below(20000, value_bytes(column.type)), column, 1 << 20, 0, 0,
                         Coder::ans);
  }
}

TEST(DeviceAnsCudaSmall, WritesTheStreamOfTheCpuForPagesOfManyLanes) {
  GDELTA_NEEDS_GPU();
  expect_ans_of_cpu("u8x64", 300, 5, 50, 300, 1);
  expect_ans_of_cpu("i24x7", 500, 12, 100, 400, 2);
}

// Short chunks are tried with the orders of pack, too; the last one may be the only one.
TEST(DeviceAnsCudaSmall, WritesTheStreamOfTheCpuForOrdersThatItChooses) {
  GDELTA_NEEDS_GPU();
  for (const Pattern pattern : {Pattern::smooth, Pattern::repeated, Pattern::special_floats}) {
    expect_ans_of_cpu("f32x2", 1700, pattern, 600, std::nullopt);
    expect_ans_of_cpu("u8x3", 3000, pattern, 3000, std::nullopt);
  }
  expect_ans_of_cpu("i32", 20000, 12, 300, 17000, std::nullopt);
  expect_ans_of_cpu("i64", 3000, 30, 100, 800, std::nullopt);
}

// A sample is not the whole: of the rest some residuals have bins that it did not know.
TEST(DeviceAnsCuda, WritesTheStreamOfTheCpuForManyPages) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32", "u8", "i16x2", "i24x3", "f64", "i32x8", "i64x2", "f32x5"}) {
    const Column column = column_of(record);
    const int most_bits = std::min(8 * value_bytes(column.type) - 4, 30);
    for (const int order : {0, 1, 3}) {
      expect_ans_of_cpu(record, 300001, most_bits, 100, (1 << 20) / column.bytes(), order);
      expect_ans_of_cpu(record, 200001, Pattern::smooth, 100000, order);
    }
    for (const Pattern pattern : kPatterns) {
      expect_ans_of_cpu(record, 70001, pattern, 30000, 1);
      expect_ans_of_cpu(record, 70001, pattern, 30000, std::nullopt);
      expect_ans_of_cpu(record, 70001, pattern, 3000, std::nullopt);
    }
    expect_ans_of_cpu(record, 300001, most_bits, 100, (1 << 20) / column.bytes(), std::nullopt);
  }
}

TEST(DeviceAnsCuda, WritesTheStreamOfTheCpuForChunksOfAnySize) {
  GDELTA_NEEDS_GPU();
  // Chunks of 50 are more than have memory for their cells at once.
  for (const std::uint64_t chunk_records : {50, 100, 1000, 8191, 8192, 16384, 50000, 3000000}) {
    expect_ans_of_cpu("i32", 70001, 12, 1000, chunk_records, 1);
    expect_ans_of_cpu("i64", 70001, 50, 30, chunk_records, 1);
  }
  expect_ans_of_cpu("i32", 3000001, 12, 1000, 3000000, 1);
}

// A chunk that does not look worth packing is packed on trial if that was asked for.
TEST(DeviceAnsCudaSmall, PackThatIsAskedForIsThatOfTheCpu) {
  GDELTA_NEEDS_GPU();
  for (const Pattern pattern : {Pattern::smooth, Pattern::random, Pattern::equal})
    expect_stream_of_cpu(make_values({{column_of("i32x2")}}, 700, pattern), column_of("i32x2"),
                         300 * 8, std::nullopt, 0, Coder::pack);
}

TEST(DeviceAnsCuda, RefusesWhatItDoesNotEncode) {
  GDELTA_NEEDS_GPU();
  DeviceEncode encode;
  encode.layout = {{{ValueType::i32, 1, false}}};
  encode.values_bytes = 16;
  encode.order = 1;
  for (const Coder coder : {Coder::raw, Coder::zstd, Coder::constant}) {
    encode.coder = coder;
    EXPECT_EQ(device_encode_bound(encode).error().code, Errc::invalid_argument);
  }
}

}  // namespace
}  // namespace gdelta::test
#endif
