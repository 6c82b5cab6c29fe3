// explain_chunk: what other ways of coding a chunk would have cost.
#include <cmath>
#include <functional>

#include "codec/stream/stream_tools.h"
#include "gdelta/segment_stream.h"

namespace gdelta::test {
namespace {

constexpr std::size_t kExplainedRecords = 8192;

template <class Value>
void append(Bytes& bytes, Value value) {
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof(value));
}

/// Sums of sums of noise: order 2 leaves the noise.
Bytes integrated_twice(int lanes) {
  std::mt19937 random(3);
  std::vector<std::int32_t> speed(lanes);
  std::vector<std::int32_t> place(lanes);
  Bytes bytes;
  for (std::size_t i = 0; i < kExplainedRecords; ++i)
    for (int lane = 0; lane < lanes; ++lane) {
      speed[lane] += static_cast<std::int32_t>(random() % 16) - 8;
      place[lane] += speed[lane];
      append(bytes, place[lane]);
    }
  return bytes;
}

struct Explained {
  StreamInfo info;
  std::vector<ColumnExplanation> columns;
};

/// Of the one chunk that `values` are compressed into.
Explained explain(const Bytes& values, const EncodeOptions& options) {
  EncodeOptions one_chunk = options;
  one_chunk.chunk_bytes = kMaxChunkBytes;
  const Bytes stream = compress(values, one_chunk).value();
  Explained explained{inspect(stream).value(), {}};
  EXPECT_EQ(explained.info.chunks.size(), 1u);
  auto columns = explain_chunk(values, *options.layout, explained.info.chunks.front());
  EXPECT_TRUE(columns) << columns.error().to_string();
  if (columns) explained.columns = std::move(*columns);
  return explained;
}

const ColumnInfo& cheapest(const ColumnExplanation& column, Coder coder) {
  const ColumnInfo* best = nullptr;
  for (const ColumnInfo& way : column.alternatives)
    if (way.coder == coder && (!best || way.compressed_bytes < best->compressed_bytes)) best = &way;
  return *best;
}

TEST(ExplainChunk, NamesOrderTwoAsTheCheapestWhereItIs) {
  EncodeOptions options = encode_on_cpu("i32");
  options.order = 0;  // coded badly, and asked why
  options.coder = Coder::pack;
  const Explained explained = explain(integrated_twice(1), options);
  ASSERT_EQ(explained.columns.size(), 1u);
  const ColumnInfo& best = cheapest(explained.columns[0], Coder::pack);
  EXPECT_EQ(best.orders, std::vector<int>{2});
  EXPECT_LT(2 * best.compressed_bytes, explained.info.chunks[0].columns[0].compressed_bytes);
}

TEST(ExplainChunk, TheCostOfTheWayThatWasTakenIsWhatWasStored) {
  for (const int order : {0, 1, 3}) {
    EncodeOptions options = encode_on_cpu("i32x3");
    options.order = order;
    options.coder = Coder::pack;
    const Explained explained = explain(integrated_twice(3), options);
    const ColumnInfo& stored = explained.info.chunks[0].columns[0];
    const ColumnExplanation& column = explained.columns[0];
    const ColumnInfo& same = column.alternatives[1 + static_cast<std::size_t>(order)];
    EXPECT_EQ(same.orders, stored.orders);
    EXPECT_EQ(same.predictor, stored.predictor);
    // Pages end at whole bytes and exceptions are padded: less than one per cent.
    EXPECT_NEAR(static_cast<double>(same.compressed_bytes),
                static_cast<double>(stored.compressed_bytes), stored.compressed_bytes * 0.01);
    ASSERT_EQ(column.lane_bits.size(), 3u);
    EXPECT_EQ((column.lane_bits[0] + column.lane_bits[1] + column.lane_bits[2] + 7) / 8,
              same.compressed_bytes);
  }
}

TEST(ExplainChunk, EachLaneHasAnOrderOfItsOwnWhereThatIsCheaper) {
  const Bytes smooth = integrated_twice(1);
  std::mt19937 random(9);
  Bytes values;
  for (std::size_t i = 0; i < kExplainedRecords; ++i) {
    values.insert(values.end(), smooth.begin() + 4 * i, smooth.begin() + 4 * (i + 1));
    append(values, static_cast<std::int32_t>(random() % 1000));
  }
  const Explained explained = explain(values, encode_on_cpu("i32x2"));
  EXPECT_EQ(cheapest(explained.columns[0], Coder::pack).orders, (std::vector<int>{2, 0}));
}

TEST(ExplainChunk, FloatsAreAlsoTriedWithTheOtherMapAndStridesWithoutThem) {
  std::mt19937 random(4);
  Bytes values;
  for (std::size_t i = 0; i < kExplainedRecords; ++i)
    append(values,
           static_cast<float>(std::sin(i * 0.01)) + static_cast<float>(random() % 8) * 1e-6f);
  const Explained floats = explain(values, encode_on_cpu("f32"));
  const ValueMap map = floats.info.chunks[0].columns[0].map;
  const auto has = [](const ColumnExplanation& column, auto condition) {
    return std::any_of(column.alternatives.begin(), column.alternatives.end(), condition);
  };
  EXPECT_TRUE(has(floats.columns[0], [map](const ColumnInfo& way) {
    return way.coder == Coder::pack && way.map != map;
  }));

  std::vector<std::int32_t> row(1000);
  for (std::int32_t& value : row) value = static_cast<std::int32_t>(random() % 100000);
  Bytes image;
  for (std::size_t i = 0; i < 40 * row.size(); ++i)
    append(image, row[i % row.size()] + static_cast<std::int32_t>(random() % 8));
  EncodeOptions pack = encode_on_cpu("i32");
  pack.coder = Coder::pack;
  const Explained rows = explain(image, pack);
  ASSERT_EQ(rows.info.chunks[0].columns[0].strides.size(), 1u);
  EXPECT_FALSE(cheapest(rows.columns[0], Coder::pack).strides.empty());
  EXPECT_TRUE(has(rows.columns[0], [](const ColumnInfo& way) {
    return way.coder == Coder::pack && way.strides.empty();
  }));
}

TEST(ExplainChunk, WhatSymbolsTakeIsWhatTheyTook) {
  EncodeOptions options = encode_on_cpu("i32x3");
  options.coder = Coder::ans;
  options.level = 5;
  const Explained explained = explain(integrated_twice(3), options);
  const ColumnInfo& column = explained.info.chunks[0].columns[0];
  ASSERT_EQ(column.coder, Coder::ans);
  const ColumnInfo& way = cheapest(explained.columns[0], Coder::ans);
  EXPECT_EQ(way.orders, column.orders);
  EXPECT_EQ(way.compressed_bytes, column.compressed_bytes);
}

TEST(ExplainChunk, RepetitionMakesZstdTheCheapest) {
  Bytes values;
  for (std::size_t i = 0; i < kExplainedRecords; ++i)
    append(values, static_cast<std::int32_t>((i % 37) * 2654435761u));
  EncodeOptions options = encode_on_cpu("i32");
  options.level = 2;  // looks for no strides, which would do as well
  const ColumnExplanation column = explain(values, options).columns[0];
  EXPECT_LT(8 * cheapest(column, Coder::zstd).compressed_bytes,
            cheapest(column, Coder::pack).compressed_bytes);
  EXPECT_EQ(cheapest(column, Coder::raw).compressed_bytes, values.size());
}

TEST(ExplainChunk, LanesHaveBitsWhereTheyArePackedAlone) {
  EncodeOptions options = encode_on_cpu("i32x3");
  options.order = 2;
  for (const Coder coder : {Coder::pack, Coder::zstd, Coder::raw}) {
    options.coder = coder;
    const Explained explained = explain(integrated_twice(3), options);
    EXPECT_EQ(explained.columns[0].lane_bits.size(), coder == Coder::pack ? 3u : 0u)
        << coder_name(coder);
    EXPECT_EQ(explained.info.chunks[0].columns[0].orders.empty(), coder == Coder::raw);
  }
}

TEST(ExplainChunk, AConstantColumnHasNothingToGain) {
  const Bytes values(4 * kExplainedRecords, std::byte{7});
  const ColumnExplanation column = explain(values, encode_on_cpu("i32")).columns[0];
  ASSERT_EQ(column.alternatives.size(), 1u);
  EXPECT_EQ(column.alternatives[0].coder, Coder::raw);
}

TEST(ExplainChunk, ColumnsOfRecordsAreToldApart) {
  const Bytes smooth = integrated_twice(1);
  Bytes values;
  for (std::size_t i = 0; i < kExplainedRecords; ++i) {
    values.insert(values.end(), smooth.begin() + 4 * i, smooth.begin() + 4 * (i + 1));
    append(values, std::uint8_t{3});
  }
  const Explained explained = explain(values, encode_on_cpu("i32,u8"));
  ASSERT_EQ(explained.columns.size(), 2u);
  EXPECT_EQ(cheapest(explained.columns[0], Coder::raw).compressed_bytes, 4 * kExplainedRecords);
  EXPECT_EQ(cheapest(explained.columns[1], Coder::raw).compressed_bytes, kExplainedRecords);
}

TEST(ExplainChunk, RefusesWhatDoesNotFit) {
  const Layout layout = parse_record("i32x2").value();
  const Bytes values(80, std::byte{1});
  ChunkInfo chunk;
  chunk.columns.resize(1);
  const auto refused = [&](const Bytes& bytes, const ChunkInfo& said) {
    const auto told = explain_chunk(bytes, layout, said);
    return !told && told.error().code == Errc::invalid_argument;
  };
  EXPECT_FALSE(refused(values, chunk));
  EXPECT_TRUE(refused(Bytes(79), chunk));
  EXPECT_TRUE(refused({}, chunk));
  for (const auto& spoil : std::vector<std::function<void(ColumnInfo&)>>{
           [](ColumnInfo& column) { column.orders = {1}; },
           [](ColumnInfo& column) {
             column.orders = {1, 9};
           },
           [](ColumnInfo& column) {
             column.orders = {1, -1};
           },
           [](ColumnInfo& column) {
             column.strides = {{0, 1}};
           },
           [](ColumnInfo& column) {
             column.strides = {{kMaxStride + 1, 1}};
           },
           [](ColumnInfo& column) {
             column.strides = {{2, 9}};
           },
           [](ColumnInfo& column) {
             column.strides = {{2, 1}, {3, 1}, {4, 1}};
           },
           [](ColumnInfo& column) { column.map = ValueMap::ordered; }}) {
    ChunkInfo spoilt = chunk;
    spoil(spoilt.columns[0]);
    EXPECT_TRUE(refused(values, spoilt));
  }
  chunk.columns.resize(2);
  EXPECT_TRUE(refused(values, chunk));
}

TEST(ExplainChunk, AChunkOfEmptySegmentsHasNoAlternatives) {
  const std::vector<std::uint64_t> offsets(4);
  const EncodeOptions options = encode_on_cpu("i32,u8");
  const Bytes stream = compress_segments(offsets, {}, options).value();
  const StreamInfo info = inspect(stream, {.models = true}).value();
  ASSERT_EQ(info.chunks.size(), 1u);
  const auto columns = explain_chunk({}, *options.layout, info.chunks[0]);
  ASSERT_TRUE(columns) << columns.error().to_string();
  ASSERT_EQ(columns->size(), 2u);
  EXPECT_TRUE(columns->front().alternatives.empty());
}

}  // namespace
}  // namespace gdelta::test
