// What inspection says of chunks, layouts and models, and the memory that it may take.
#include "codec/stream/stream_tools.h"
#include "golden/plain_encoder.h"
#include "held_memory.h"
#include "mebibyte.h"

namespace gdelta::test {
namespace {

TEST(Inspect, DescribesEveryFieldOfAModel) {
  const Layout layout = parse_record("f32x2,i16,u8").value();
  plain::Choice mapped = plain::linked(Coder::pack, layout.columns[0], {1, 3});
  mapped.model.front.map = ValueMap::ordered;
  mapped.model.section.part_groups = 2;
  const plain::Choice strided = plain::with_stride(
      plain::with_stride(plain::linked(Coder::zstd, layout.columns[1], {2}), 17, 1), 60, 4);
  plain::StreamBuilder builder;
  builder.layout(layout).chunk(random_bytes(300 * layout.record_bytes()),
                               {mapped, strided, plain::raw()});
  const StreamInfo info = inspect(builder.finish()).value();
  ASSERT_EQ(info.chunks.size(), 1u);
  const auto& columns = info.chunks[0].columns;
  ASSERT_EQ(columns.size(), 3u);
  using Orders = std::vector<int>;
  using Strides = std::vector<std::pair<std::uint64_t, int>>;
  EXPECT_EQ(columns[0].coder, Coder::pack);
  EXPECT_EQ(columns[0].map, ValueMap::ordered);
  EXPECT_EQ(columns[0].predictor, Predictor::deltas);
  EXPECT_EQ(columns[0].orders, (Orders{1, 3}));
  EXPECT_EQ(columns[0].strides, Strides{});
  EXPECT_EQ(columns[0].page_groups, 2u);
  EXPECT_EQ(columns[1].coder, Coder::zstd);
  EXPECT_EQ(columns[1].map, ValueMap::none);
  EXPECT_EQ(columns[1].orders, Orders{2});
  EXPECT_EQ(columns[1].strides, (Strides{{17, 1}, {60, 4}}));
  EXPECT_EQ(columns[1].page_groups, 0u);
  EXPECT_EQ(columns[2].coder, Coder::raw);
  EXPECT_EQ(columns[2].predictor, Predictor::none);
  EXPECT_EQ(columns[2].orders, Orders{});
  EXPECT_EQ(columns[2].compressed_bytes, 300u);
}

TEST(Inspect, GivesTheHeadsOfChunks) {
  const Layout layout = parse_record("i32,u8").value();
  plain::Choice packed = plain::linked(Coder::pack, layout.columns[0], {1});
  packed.model.section.part_groups = 1;
  plain::StreamBuilder builder;
  builder.layout(layout);
  for (const std::size_t records : {300, 1})
    builder.chunk(random_bytes(records * layout.record_bytes()), {packed, plain::raw()});
  const Bytes stream = builder.finish();
  const StreamInfo info = inspect(stream).value();
  ASSERT_EQ(info.chunks.size(), 2u);
  for (const ChunkInfo& chunk : info.chunks) {
    // All before the payload, which is the sections of both columns.
    EXPECT_EQ(
        chunk.head.size() + chunk.columns[0].compressed_bytes + chunk.columns[1].compressed_bytes,
        chunk.block_bytes);
    const auto at = stream.begin() + static_cast<std::ptrdiff_t>(chunk.byte);
    EXPECT_TRUE(std::equal(chunk.head.begin(), chunk.head.end(), at));
  }
  const StreamInfo indexed = inspect(stream, {.models = false}).value();
  EXPECT_TRUE(indexed.chunks[0].head.empty());
}

/// What is told of the maps of one column.
ColumnInfo told_of(const char* record, const std::vector<plain::LaneChoice>& maps,
                   const std::vector<plain::StepChoice>& steps = {}) {
  const Layout layout = parse_record(record).value();
  plain::Choice choice = plain::linked(Coder::pack, layout.columns[0], {1});
  if (!maps.empty()) choice = plain::with_maps(choice, maps);
  if (!steps.empty()) choice = plain::with_steps(choice, steps);
  plain::StreamBuilder builder;
  builder.layout(layout).chunk(Bytes(100 * layout.record_bytes()), {choice});
  return inspect(builder.finish()).value().chunks[0].columns[0];
}

TEST(Inspect, SaysWhatMapsNeedToKnow) {
  using plain::decimal, plain::multiple, plain::scaled;
  EXPECT_EQ(told_of("i16", {}).map_words, "");
  EXPECT_EQ(told_of("i16", {}).lane_map_words, "");
  EXPECT_EQ(told_of("f32", {{ValueMap::ordered}}).map_words, "ordered");
  for (const auto& [digits, words] : {std::pair{0, "decimal /1"},
                                      {2, "decimal /100"},
                                      {6, "decimal /1000000"},
                                      {7, "decimal /10^7"},
                                      {22, "decimal /10^22"}})
    EXPECT_EQ(told_of("f64", {decimal(digits)}).map_words, words);
  EXPECT_EQ(told_of("f32x2", {scaled(0.0012207f)}).map_words, "scaled x0.0012207");
  EXPECT_EQ(told_of("f64", {scaled(0.1)}).map_words, "scaled x0.1");
  EXPECT_EQ(told_of("u16", {multiple(200)}).map_words, "multiple 200");
  EXPECT_EQ(told_of("u16", {multiple(200, 65530)}).map_words, "multiple 200 +65530");
  EXPECT_EQ(told_of("i16", {multiple(200, 65530)}).map_words, "multiple 200 -6");
  EXPECT_EQ(told_of("i64", {multiple(200, 7)}).map_words, "multiple 200 +7");
  EXPECT_EQ(told_of("f32x2", {decimal(1), decimal(1)}).map_words, "decimal /10");
  EXPECT_EQ(told_of("f32x2", {decimal(1), decimal(2)}).map_words,
            "by lane: decimal /10, decimal /100");
  const ColumnInfo lanes = told_of("f32x3", {{ValueMap::ordered}, {}, decimal(1)});
  EXPECT_EQ(lanes.map, ValueMap::by_lane);
  EXPECT_EQ(lanes.map_words, "by lane: ordered, none, decimal /10");
  EXPECT_EQ(lanes.lane_map_words, "");
  EXPECT_EQ(told_of("i16x2", {}, {{1, 0, 0}}).lane_map_words, "lanes 1-0");
  const ColumnInfo both = told_of("u24x9", {multiple(3)}, {{8, 0, 1}, {0, 1, 2}, {3, 2, 0}});
  EXPECT_EQ(both.map, ValueMap::multiple);
  EXPECT_EQ(both.map_words, "multiple 3");
  EXPECT_EQ(both.lane_map_words, "lanes 8-0/2 0+1/2 3-2");
}

TEST(Inspect, CountsExceptionsAndTheirBytes) {
  const Layout layout = parse_record("f64,u8").value();
  plain::Choice choice =
      plain::with_maps(plain::linked(Coder::pack, layout.columns[0], {1}), {plain::decimal(2)});
  const auto told = [&] {
    plain::StreamBuilder builder;
    builder.layout(layout).chunk(Bytes(100 * layout.record_bytes()), {choice, plain::raw()});
    return inspect(builder.finish()).value().chunks[0].columns[0];
  };
  const ColumnInfo none = told();
  EXPECT_EQ(none.exceptions, 0u);
  choice.exceptions = {3, 50, 99};
  EXPECT_EQ(told().exceptions, 3u);
  EXPECT_EQ(told().compressed_bytes, none.compressed_bytes + 3 * 12);
}

TEST(Inspect, ReadsAHeadOfAnyLength) {
  const Layout layout = parse_record("u8").value();
  plain::StreamBuilder builder;  // 400 pages of 4 bytes in the head, then a short one
  builder.layout(layout)
      .chunk(random_bytes(400 * 128), {plain::linked(Coder::pack, layout.columns[0], {1})})
      .chunk(random_bytes(9), {plain::raw()});
  const StreamInfo info = inspect(builder.finish()).value();
  ASSERT_EQ(info.chunks.size(), 2u);
  EXPECT_EQ(info.chunks[0].columns[0].coder, Coder::pack);
  EXPECT_EQ(info.chunks[1].columns[0].compressed_bytes, 9u);
}

/// Layouts a, a again, b, a in three streams, the last two without any block of numbers between.
Bytes file_of_layouts() {
  const auto chunk_of = [](plain::StreamBuilder& builder, const char* record) {
    const Layout layout = parse_record(record).value();
    builder.layout(layout).chunk(random_bytes(layout.record_bytes()),
                                 std::vector<plain::Choice>(layout.columns.size()));
  };
  plain::StreamBuilder first, second, third;
  chunk_of(first, "u16");
  chunk_of(first, "u16");
  first.opaque(Bytes(3));
  chunk_of(second, "u16");
  chunk_of(second, "u8x3");
  third.opaque(Bytes(5));
  chunk_of(third, "u16");
  return join({first.finish(), second.finish(), third.finish()});
}

TEST(Inspect, CountsLayoutsWhereTheyChange) {
  const StreamInfo info = inspect(file_of_layouts()).value();
  EXPECT_EQ(info.streams, 3u);
  ASSERT_EQ(info.layouts.size(), 3u);
  EXPECT_EQ(to_string(info.layouts[0]), "u16");
  EXPECT_EQ(to_string(info.layouts[1]), "u8x3");
  EXPECT_EQ(to_string(info.layouts[2]), "u16");
  std::vector<std::size_t> layouts;
  for (const ChunkInfo& chunk : info.chunks)
    if (!chunk.opaque) layouts.push_back(chunk.layout);
  EXPECT_EQ(layouts, (std::vector<std::size_t>{0, 0, 0, 1, 2}));
}

TEST(Inspect, SaysTheSameFromTheIndexesButForModels) {
  const Bytes file = file_of_layouts();
  const StreamInfo walked = inspect(file).value();
  const StreamInfo indexed = inspect(file, {.models = false, .memory_limit = kMiB}).value();
  EXPECT_EQ(indexed.streams, walked.streams);
  EXPECT_EQ(indexed.compressed_bytes, walked.compressed_bytes);
  EXPECT_EQ(indexed.decoded_bytes, walked.decoded_bytes);
  EXPECT_EQ(indexed.layouts, walked.layouts);
  ASSERT_EQ(indexed.chunks.size(), walked.chunks.size());
  for (std::size_t i = 0; i < walked.chunks.size(); ++i) {
    const ChunkInfo& a = indexed.chunks[i];
    const ChunkInfo& b = walked.chunks[i];
    EXPECT_EQ(std::tie(a.number, a.byte, a.block_bytes, a.records, a.decoded_at, a.decoded_bytes,
                       a.opaque, a.layout),
              std::tie(b.number, b.byte, b.block_bytes, b.records, b.decoded_at, b.decoded_bytes,
                       b.opaque, b.layout))
        << i;
    EXPECT_TRUE(a.columns.empty());
  }
}

TEST(Inspect, VisitsChunksUntilTheVisitorFails) {
  const Bytes file = file_of_layouts();
  const ReadAt read_at = [&](std::uint64_t offset,
                             std::span<std::byte> buffer) -> Result<std::size_t> {
    const std::size_t from = std::min<std::size_t>(file.size(), offset);
    const std::size_t count = std::min(buffer.size(), file.size() - from);
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(from), count, buffer.begin());
    return count;
  };
  for (const bool models : {true, false}) {
    std::uint64_t chunks = 0, records = 0, bytes = 0;
    const auto totals =
        visit_chunks(read_at, file.size(),
                     [&](const ChunkInfo& chunk, const Layout& layout) -> Result<void> {
                       EXPECT_EQ(chunk.number, chunks);
                       EXPECT_EQ(chunk.decoded_bytes, chunk.records * layout.record_bytes());
                       ++chunks;
                       records += chunk.opaque ? 0 : chunk.records;
                       bytes += chunk.decoded_bytes;
                       return {};
                     },
                     {.models = models, .memory_limit = kMiB});
    ASSERT_TRUE(totals);
    EXPECT_EQ(totals->chunks, chunks);
    EXPECT_EQ(totals->records, records);
    EXPECT_EQ(totals->decoded_bytes, bytes);
    EXPECT_EQ(totals->streams, 3u);
    EXPECT_EQ(chunks, 7u);

    std::uint64_t visited = 0;
    const auto stopped = visit_chunks(read_at, file.size(),
                                      [&](const ChunkInfo&, const Layout&) -> Result<void> {
                                        if (++visited == 3) return fail(Errc::cancelled, "enough");
                                        return {};
                                      },
                                      {.models = models, .memory_limit = kMiB});
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, Errc::cancelled);
    EXPECT_EQ(visited, 3u);
  }
}

TEST(Inspect, AllAtOnceStaysWithinTheMemoryLimit) {
  GDELTA_NEEDS_COUNTED_MEMORY();
  plain::StreamBuilder builder;
  const Layout layout = parse_record("u8x64,u8x64,u8x64").value();
  builder.layout(layout);
  std::vector<plain::Choice> choices;
  for (const Column& column : layout.columns)
    choices.push_back(plain::linked(Coder::zstd, column, {1}));
  for (int i = 0; i < 3000; ++i) builder.chunk(Bytes(layout.record_bytes()), choices);
  const Bytes file = builder.finish();
  const std::uint64_t needed = peak_of([&] { return inspect(file); });
  std::uint64_t refused = 0;
  for (const std::uint64_t limit : {kMiB, 2 * kMiB, 8 * kMiB}) {
    bool fits = false;
    const std::uint64_t peak = peak_of([&] {
      const auto info = inspect(file, {.models = true, .memory_limit = limit});
      fits = info.has_value();
      if (!fits) {
        EXPECT_EQ(info.error().code, Errc::memory_limit);
      }
      return 0;
    });
    EXPECT_LE(peak, limit + kMiB + kMiB / 2);  // and a window
    refused += !fits;
  }
  EXPECT_GT(needed, 2 * kMiB);
  EXPECT_EQ(refused, 2u);
}

TEST(Inspect, AHeadAboveTheMemoryLimitIsRefused) {
  const Layout layout = parse_record("u8").value();
  plain::StreamBuilder builder;
  builder.layout(layout).chunk(random_bytes(400 * 128),
                               {plain::linked(Coder::pack, layout.columns[0], {1})});
  const auto refused = inspect(builder.finish(), {.models = true, .memory_limit = 1000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::memory_limit);
}

}  // namespace
}  // namespace gdelta::test
