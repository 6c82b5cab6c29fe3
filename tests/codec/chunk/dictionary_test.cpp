// Columns with dictionaries: what comes back, and which indices are refused.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "codec/chunk/decode_block.h"
#include "codec/chunk/dictionary_cases.h"
#include "codec/stream/map_words.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

/// What `list -v` says of the first column's maps.
std::string map_words_of(const Bytes& block, const Layout& layout) {
  const auto parsed = format::parse_chunk_block(block, 0, layout).value();
  return map_words(std::span(block).subspan(parsed.frame.head_at, parsed.frame.head_bytes),
                   layout.columns[0], parsed.columns[0], parsed.records)
      .values;
}

/// As many threads as asked for, however few cores there are.
class Dictionary : public testing::Test {
 private:
  tbb::global_control allowed_{tbb::global_control::max_allowed_parallelism, 8};
};

/// By one thread and by several.
void expect_looked_up(const LookedUpChunk& chunk, const Layout& layout) {
  for (const int threads : {1, 5}) {
    Workers workers(threads);
    Bytes out(chunk.values.size(), std::byte{0xa5});
    const auto error = decode_block(chunk.block, 0, layout, out, true, workers);
    EXPECT_FALSE(error) << error->to_string();
    EXPECT_TRUE(out == chunk.values) << to_string(layout) << ' ' << chunk.values.size();
  }
}

TEST_F(Dictionary, RestoresEveryTypeByEveryCoder) {
  for (const Coder coder : shrinking_coders())
    for (int type = 0; type < kNumValueTypes; ++type)
      for (const bool big_endian : {false, true})
        for (const std::uint64_t records : {8, 4095, 4096, 40000}) {
          const Layout layout{{{static_cast<ValueType>(type), 3, big_endian}}};
          const LookedUpChunk chunk =
              looked_up_chunk(layout, records, 90, {true, false, true}, coder);
          const auto parsed = format::parse_chunk_block(chunk.block, 0, layout);
          ASSERT_TRUE(parsed) << parsed.error().to_string();
          if (records > 8) {
            EXPECT_GT(parsed->columns[0].table_entries, 0u);
          }
          expect_looked_up(chunk, layout);
        }
}

TEST_F(Dictionary, RestoresTablesThatACoderHasMade) {
  for (const Coder made_by : test::table_coders())
    for (const Coder coder : shrinking_coders())
      for (int type = 0; type < kNumValueTypes; ++type)
        for (const std::uint64_t records : {8, 5000}) {
          const Layout layout{{{static_cast<ValueType>(type), 3, type % 2 == 0}}};
          const LookedUpChunk chunk = looked_up_chunk(layout, records, 90, {true, false, true},
                                                      coder, Workers::alone(), {made_by});
          const auto parsed = format::parse_chunk_block(chunk.block, 0, layout);
          ASSERT_TRUE(parsed) << parsed.error().to_string();
          if (records > 8 && value_bytes(layout.columns[0].type) >= 4) {
            EXPECT_EQ(parsed->columns[0].table_coders, 1u << static_cast<int>(made_by));
          }
          expect_looked_up(chunk, layout);
        }
}

TEST_F(Dictionary, TablesStayInBinsIfNoCoderMakesThemSmaller) {
  const Layout layout{{{ValueType::u64, 2, false}}};
  const auto block = [&](const std::vector<Coder>& coders) {
    Draws draws(5);
    const std::vector<std::int64_t> noise = draws.many_below(200, std::int64_t{1} << 62);
    Bytes values;
    for (std::uint64_t i = 0; i < 4000; ++i) {
      put_value(values, i % 200 * 1000, 8, false);
      put_value(values, static_cast<std::uint64_t>(noise[i % 200]), 8, false);
    }
    ChunkPlan plan;
    plan.columns = {short_pages(Coder::pack, 1)};
    ColumnMaps& maps = plan.maps.emplace_back();
    maps.table_coders = coders;
    for (int lane = 0; lane < 2; ++lane) {
      maps.lanes.push_back({.map = static_cast<std::uint8_t>(ValueMap::dictionary)});
      maps.tables.push_back(
          *table_of_lane({.first = reinterpret_cast<const unsigned char*>(values.data()),
                          .record_bytes = 16,
                          .records = 4000,
                          .column = layout.columns[0]},
                         lane, most_table_entries(4000)));
    }
    return encode_chunk(values, layout, false, plan);
  };
  const Bytes in_bins = block({}), coded = block(test::table_coders());
  const std::string text = map_words_of(coded, layout);
  EXPECT_EQ(text, "by lane: dictionary of 200 by lzma, dictionary of 200");
  EXPECT_LT(coded.size(), in_bins.size() - 150);
}

TEST_F(Dictionary, ThreadsChangeNoByte) {
  const Layout layout{{{ValueType::f64, 2, false}}};
  const LookedUpChunk alone = looked_up_chunk(layout, 50000, 3000, {true, true}, Coder::pack);
  Workers workers(7);
  EXPECT_TRUE(looked_up_chunk(layout, 50000, 3000, {true, true}, Coder::pack, workers).block ==
              alone.block);
}

// The first lane at fault counts, whichever piece its index is in.
TEST_F(Dictionary, RefusesIndicesBeyondTheTableOfTheirLane) {
  const Layout layout{{{ValueType::u32, 2, false}}};
  const DictionaryOfWords words(layout, 30000);
  for (const auto& [record, lane] : {std::pair{0, 0}, {29999, 0}, {0, 1}, {29999, 1}}) {
    const LookedUpChunk bad = words.with_index(static_cast<std::uint64_t>(record), lane, 10);
    EXPECT_FALSE(words.error_of(words.with_index(static_cast<std::uint64_t>(record), lane, 9)));
    for (const int threads : {1, 6}) {
      const auto error = words.error_of(bad, threads);
      ASSERT_TRUE(error) << record << ' ' << lane;
      EXPECT_EQ(error->code, Errc::corrupt);
      EXPECT_EQ(error->byte, words.table_at(bad, lane)) << record << ' ' << lane;
    }
  }
}

}  // namespace
}  // namespace gdelta::test
