// device_encode writes the stream that compress writes at level 1, and device_decode reads it on the
// same CUDA stream without the host.
#ifdef GDELTA_HAS_CUDA
#include <array>
#include <span>
#include <utility>

#include "codec/cuda/device_encode_cases.h"

namespace gdelta::test {
namespace {

void expect_types_and_patterns(bool big_endian, std::span<const Pattern> patterns) {
  for (int type = 0; type < kNumValueTypes; ++type) {
    const Column column{static_cast<ValueType>(type), 3, big_endian};
    for (const Pattern pattern : patterns) {
      const Bytes values = make_values({{column}}, 1100, pattern);
      expect_stream_of_cpu(values, column, 400 * column.bytes(), std::nullopt);
      expect_stream_of_cpu(values, column, 0, type % 9);
    }
  }
}

void expect_lengths(const Column& column) {
  for (const std::uint64_t records : {0, 1, 2, 127, 128, 129, 300, 1025}) {
    const Bytes values = make_values({{column}}, records, Pattern::smooth);
    expect_stream_of_cpu(values, column, 0, std::nullopt, records % 4);
    expect_stream_of_cpu(values, column, 256 * column.bytes(), std::nullopt);
    expect_stream_of_cpu(values, column, 1, 1);
  }
}

// Few launches: these two run under the memory and race checkers as well.
TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForEveryType) {
  GDELTA_NEEDS_GPU();
  const Pattern shapes[] = {Pattern::smooth};
  expect_types_and_patterns(false, shapes);
}

TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForLengthsAtEveryEdge) {
  GDELTA_NEEDS_GPU();
  expect_lengths({ValueType::u8, 5, false});
  expect_lengths({ValueType::f64, 1, false});
}

TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForTilesAtAnyAddress) {
  GDELTA_NEEDS_GPU();
  const std::pair<const char*, std::uint64_t> cases[] = {
      {"u8", 777}, {"i16", 651}, {"i24x2", 519}, {"i32x3", 345}, {"u8x4", 601}, {"f64", 301}};
  for (const auto& [record, chunk_records] : cases) {
    const Column column = parse_record(record).value().columns[0];
    const Bytes values = make_values({{column}}, 2500, Pattern::smooth);
    expect_stream_of_cpu(values, column, chunk_records * column.bytes(), 2);
    expect_stream_of_cpu(values, column, chunk_records * column.bytes(), std::nullopt, 3);
  }
}

// Pages of more than eight kibibytes are put together in two steps, and so are strips of lanes.
TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForLongPages) {
  GDELTA_NEEDS_GPU();
  std::uint32_t random = 1;
  for (const std::uint8_t tuple : {1, 6}) {
    for (const int bytes : {3, 7}) {
      const Column column{bytes > 4 ? ValueType::i64 : ValueType::i32, tuple, false};
      const std::size_t value_bytes = column.bytes() / tuple;
      Bytes values(5000 * column.bytes());
      for (std::size_t at = 0; at < values.size(); ++at)
        if (at % value_bytes < static_cast<std::size_t>(bytes))
          values[at] = static_cast<std::byte>((random = random * 1664525 + 1013904223) >> 24);
      expect_stream_of_cpu(values, column, 0, 0);
    }
  }
}

// Strips of four lanes, and of what is left of the tuple; loads of every width.
TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForWideTuples) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"u8x5", "u8x6", "u8x64", "i16x6", "u16:bex33", "f16x8", "i24x7",
                             "i24x8", "f32x7", "i32x12", "f64x5", "i64x16"}) {
    const Column column = parse_record(record).value().columns[0];
    for (const Coder coder : {Coder::pack, Coder::ans}) {
      for (const std::uint64_t records : {1, 130, 2600}) {
        const Bytes values = make_values({{column}}, records, Pattern::smooth);
        expect_stream_of_cpu(values, column, 1100 * column.bytes(), std::nullopt, records % 8,
                             coder);
        expect_stream_of_cpu(values, column, 0, 3, 0, coder);
      }
      const Bytes equal = make_values({{column}}, 1100, Pattern::equal);
      expect_stream_of_cpu(equal, column, 0, std::nullopt, 0, coder);
      expect_stream_of_cpu(equal, column, 0, 0, 0, coder);
    }
  }
}

// Lane l is the sum of noise taken l mod 4 times.
TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForWideTuplesOfEveryOrder) {
  GDELTA_NEEDS_GPU();
  constexpr std::size_t kRecords = 2300;
  std::uint32_t random = 1;
  for (const std::uint8_t tuple : {5, 8, 31}) {
    std::vector<std::int16_t> lanes(tuple * kRecords);
    std::vector<std::array<std::int16_t, 4>> sums(tuple);
    for (std::size_t at = 0; at < lanes.size(); ++at) {
      const std::size_t lane = at % tuple;
      auto value = static_cast<std::int16_t>((random = random * 1664525 + 1013904223) >> 30);
      for (std::size_t k = 0; k < lane % 4; ++k)
        value = sums[lane][k] = static_cast<std::int16_t>(sums[lane][k] + value);
      lanes[at] = value;
    }
    const auto bytes = std::as_bytes(std::span(lanes));
    const Column column{ValueType::i16, tuple, false};
    const Bytes values(bytes.begin(), bytes.end());
    for (const Coder coder : {Coder::pack, Coder::ans}) {
      expect_stream_of_cpu(values, column, 0, std::nullopt, 0, coder);
      for (int order = 0; order <= kMaxOrder; ++order)
        expect_stream_of_cpu(values, column, 0, order, 0, coder);
    }
  }
}

// Of every width, at offsets of any alignment, tuples that divide no word, and records longer than a stretch that is split at once.
const char* const kMixedRecords[] = {
    "u8,i16",          "i32x3,u16,u8x2,f64", "u8x3,i24x2,i64:be,f32x5",
    "f32,f32,f32,u32", "u16x3,u8x5,u16",     "i64x64,u8,f64x64"};

TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForRecordsOfSeveralColumns) {
  GDELTA_NEEDS_GPU();
  for (const char* record : kMixedRecords) {
    const Layout layout = parse_record(record).value();
    for (const std::uint64_t records : {1, 131, 1500}) {
      const Bytes values = make_values(layout, records, Pattern::smooth);
      expect_stream_of_cpu(values, layout, 0, std::nullopt, records % 16);
      expect_stream_of_cpu(values, layout, 640 * layout.record_bytes(), std::nullopt);
    }
  }
}

TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForRecordsWhateverIsAsked) {
  GDELTA_NEEDS_GPU();
  const Layout layout = parse_record("i32x2,f64,u8").value();
  for (const Pattern pattern : {Pattern::smooth, Pattern::random, Pattern::equal}) {
    const Bytes values = make_values(layout, 1500, pattern);
    const std::uint64_t chunk_bytes = 600 * layout.record_bytes();
    for (const Coder coder : {Coder::pack, Coder::ans}) {
      expect_stream_of_cpu(values, layout, chunk_bytes, std::nullopt, 5, coder);
      expect_stream_of_cpu(values, layout, chunk_bytes, 3, 0, coder, false);
      expect_stream_of_cpu(values, layout, chunk_bytes, std::nullopt, 0, coder, true, 7);
    }
    expect_stream_of_cpu(values, layout, chunk_bytes, std::nullopt, 0, std::nullopt, true,
                         kFindStride);
  }
}

// What is said of columns travels eight at a time.
TEST(DeviceEncodeCudaSmall, WritesTheStreamOfTheCpuForAsManyColumnsAsThereMayBe) {
  GDELTA_NEEDS_GPU();
  for (const std::size_t columns : {9u, 10u, 17u, 64u}) {
    Layout layout;
    for (std::size_t c = 0; c < columns; ++c)
      layout.columns.push_back({c % 3 == 0 ? ValueType::u8 : ValueType::i16, 1, false});
    const Bytes values = make_values(layout, 300, Pattern::smooth);
    expect_stream_of_cpu(values, layout, 200 * layout.record_bytes(), std::nullopt);
  }
}

TEST(DeviceEncodeCuda, WritesTheStreamOfTheCpuForManyRecordsOfSeveralColumns) {
  GDELTA_NEEDS_GPU();
  for (const char* record : kMixedRecords) {
    const Layout layout = parse_record(record).value();
    for (const Pattern pattern :
         {Pattern::smooth, Pattern::random, Pattern::equal, Pattern::special_floats}) {
      const Bytes values = make_values(layout, 40001, pattern);
      for (const std::optional<Coder> coder : {std::optional<Coder>(), std::optional(Coder::ans)}) {
        expect_stream_of_cpu(values, layout, 0, std::nullopt, 1, coder);
        expect_stream_of_cpu(values, layout, 50000, 2, 0, coder);
      }
    }
  }
}

TEST(DeviceEncodeCuda, WritesTheStreamOfTheCpuForEveryTypeAndShape) {
  GDELTA_NEEDS_GPU();
  for (const bool big_endian : {false, true}) expect_types_and_patterns(big_endian, kPatterns);
}

TEST(DeviceEncodeCuda, WritesTheStreamOfTheCpuForLengthsAtEveryEdgeOfEveryTuple) {
  GDELTA_NEEDS_GPU();
  for (const int tuple : {1, 2, 5, 64}) {
    for (const ValueType type : {ValueType::u8, ValueType::i24, ValueType::i32, ValueType::f64})
      expect_lengths({type, static_cast<std::uint8_t>(tuple), false});
  }
}

TEST(DeviceEncodeCuda, WritesTheStreamOfTheCpuForManyChunksAndEveryOrder) {
  GDELTA_NEEDS_GPU();
  for (const char* record : {"i32x3", "f32x2", "u16", "f64", "u8x7"}) {
    const Column column = parse_record(record).value().columns[0];
    for (const Pattern pattern :
         {Pattern::smooth, Pattern::random, Pattern::equal, Pattern::special_floats}) {
      const Bytes values = make_values({{column}}, 300001, pattern);
      expect_stream_of_cpu(values, column, 0, std::nullopt);
      expect_stream_of_cpu(values, column, 3000, std::nullopt);
      for (int order = 0; order <= kMaxOrder; ++order)
        expect_stream_of_cpu(values, column, 100000, order);
    }
  }
}

TEST(DeviceEncodeCuda, RefusesWhatCannotBe) {
  GDELTA_NEEDS_GPU();
  DeviceEncode encode;
  encode.layout = {{{ValueType::i32, 3, false}}};
  encode.values_bytes = 13;
  EXPECT_EQ(device_encode_bound(encode).error().code, Errc::invalid_argument);
  encode.values_bytes = 12;
  encode.layout.columns.resize(65, Column{});
  EXPECT_EQ(device_encode_table(encode).error().code, Errc::invalid_argument);
  encode.layout.columns.resize(1);
  encode.order = 9;
  EXPECT_EQ(device_encode_bound(encode).error().code, Errc::invalid_argument);
  encode.order = 1;
  encode.chunk_bytes = kMaxChunkBytes + 1;
  EXPECT_EQ(device_encode_scratch_bytes(encode).error().code, Errc::invalid_argument);
  encode.chunk_bytes = 0;
  EXPECT_EQ(device_encode(encode, nullptr).error().code, Errc::invalid_argument);
  const DeviceBytes memory(1 << 16);
  encode.values = encode.stream = encode.table = encode.scratch = memory.data();
  encode.stream_bytes = reinterpret_cast<std::uint64_t*>(memory.data());
  EXPECT_EQ(device_encode(encode, nullptr).error().code, Errc::output_too_small);
  encode.stream_room = 1 << 16;
  EXPECT_EQ(device_encode(encode, nullptr).error().code, Errc::output_too_small);
  encode.scratch_bytes = 1 << 16;
  encode.stream = memory.data() + 1;
  EXPECT_EQ(device_encode(encode, nullptr).error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace gdelta::test
#endif
