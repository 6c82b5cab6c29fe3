// Several threads inside one chunk, and sections that planning has made already, change no byte.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "codec/chunk/decode_block.h"
#include "codec/plan/planned_values.h"

namespace gdelta::test {
namespace {

struct ThreadCase {
  const char* record;
  Pattern pattern;
  std::size_t records;
  std::optional<Coder> coder;
};

// Long enough for stretches of pages, of groups and of pieces; frames of planes; tables from counts of
// all threads.
const ThreadCase kCases[] = {
    {.record = "i32", .pattern = Pattern::smooth, .records = 300'001, .coder = Coder::pack},
    {.record = "f32x3", .pattern = Pattern::smooth, .records = 70'000, .coder = {}},
    {.record = "u16:be", .pattern = Pattern::repeated, .records = 200'000, .coder = Coder::zstd},
    {.record = "f64", .pattern = Pattern::special_floats, .records = 65'000, .coder = Coder::zstd},
    {.record = "i24x5,u8,i64", .pattern = Pattern::alternating, .records = 40'000, .coder = {}},
    {.record = "i32x7", .pattern = Pattern::random, .records = 30'000, .coder = Coder::raw},
    {.record = "i32", .pattern = Pattern::smooth, .records = 300'001, .coder = Coder::ans},
    {.record = "u16:bex3", .pattern = Pattern::alternating, .records = 60'000, .coder = Coder::ans},
    {.record = "f64", .pattern = Pattern::special_floats, .records = 65'000, .coder = Coder::ans},
};

Bytes encode_with(Workers& workers, const ThreadCase& c, int level) {
  const Layout layout = layout_of(c.record);
  EncodeSettings settings = at_level(level);
  settings.coder = c.coder;
  const Bytes values = make_values(layout, c.records, c.pattern);
  const ChunkPlan plan = plan_chunk(values, layout, false, settings, workers);
  return encode_chunk(values, layout, false, plan, workers);
}

Bytes encode_alone(const ThreadCase& c) { return encode_with(Workers::alone(), c, 5); }

/// As many threads as asked for, however few cores there are.
class ChunkThreads : public testing::Test {
 private:
  tbb::global_control allowed_{tbb::global_control::max_allowed_parallelism, 8};
};

TEST_F(ChunkThreads, ChangeNoByteOfAChunk) {
  for (const ThreadCase& c : kCases) {
    for (const int level : {1, 5, 9}) {
      const Bytes alone = encode_with(Workers::alone(), c, level);
      for (const int threads : {2, 7}) {
        Workers workers(threads);
        EXPECT_TRUE(encode_with(workers, c, level) == alone)
            << c.record << ", level " << level << ", " << threads << " threads";
      }
    }
  }
}

TEST_F(ChunkThreads, DecodeTheSameValues) {
  for (const ThreadCase& c : kCases) {
    const Layout layout = layout_of(c.record);
    const Bytes values = make_values(layout, c.records, c.pattern);
    const Bytes block = encode_alone(c);
    for (const int threads : {2, 7}) {
      Workers workers(threads);
      Bytes out(values.size());
      EXPECT_FALSE(decode_block(block, 0, layout, out, true, workers)) << c.record;
      EXPECT_TRUE(out == values) << c.record << ", " << threads << " threads";
    }
  }
}

TEST_F(ChunkThreads, NameTheFirstDamagedPageOrFrame) {
  Workers workers(7);
  for (const ThreadCase& c : kCases) {
    const Layout layout = layout_of(c.record);
    const Bytes block = encode_alone(c);
    const auto parsed = format::parse_chunk_block(block, 0, layout).value();
    for (const int first : {0, 1, 50, 97}) {
      Bytes damaged = block;
      for (int percent = first; percent < 100; ++percent)
        damaged[parsed.frame.payload_at() + parsed.frame.payload_bytes * percent / 100] ^=
            std::byte{0xff};
      Bytes out(parsed.records * layout.record_bytes());
      const auto alone = decode_block(damaged, 1000, layout, out, true);
      const auto error = decode_block(damaged, 1000, layout, out, true, workers);
      ASSERT_TRUE(alone && error) << c.record;
      EXPECT_EQ(error->to_string(), alone->to_string()) << c.record << ", from " << first << " %";
    }
  }
}

TEST_F(ChunkThreads, DoNotMixUpChunksThatAreEncodedAtOnce) {
  Workers workers(4);
  std::vector<Bytes> blocks(std::size(kCases));
  workers.for_each(blocks.size(),
                   [&](std::size_t i) { blocks[i] = encode_with(workers, kCases[i], 6); });
  for (std::size_t i = 0; i < blocks.size(); ++i)
    EXPECT_TRUE(blocks[i] == encode_with(Workers::alone(), kCases[i], 6)) << kCases[i].record;
}

TEST_F(ChunkThreads, AnErrorInOneComesOutOfTheLoop) {
  Workers workers(4);
  const auto fail_at = [&](std::size_t failing) {
    workers.for_each(100, [&](std::size_t i) {
      if (i == failing) throw std::bad_alloc();
    });
  };
  EXPECT_THROW(fail_at(0), std::bad_alloc);
  EXPECT_THROW(fail_at(99), std::bad_alloc);
  EXPECT_NO_THROW(fail_at(100));
}

TEST(ChunkPlan, KeepsTheSectionOfATrialThatIsWhatTheEncoderMakes) {
  for (const ThreadCase& c : kCases) {
    const Layout layout = layout_of(c.record);
    const Bytes values = make_values(layout, c.records, c.pattern);
    for (const int level : {3, 6, 7, 9}) {
      EncodeSettings settings = at_level(level);
      settings.coder = c.coder;
      ChunkPlan plan = plan_chunk(values, layout, false, settings);
      const Bytes block = encode_chunk(values, layout, false, plan);
      plan.made.clear();
      EXPECT_TRUE(encode_chunk(values, layout, false, plan) == block) << c.record << ", " << level;
    }
  }
}

TEST(ChunkPlan, NeedsNoSecondCompressionAtTheTopLevel) {
  const Layout layout = layout_of("u16");
  const Bytes values = make_values(layout, 100'000, Pattern::repeated);
  const ChunkPlan plan = plan_chunk(values, layout, false, at_level(9));
  ASSERT_EQ(plan.columns[0].section.coder, Coder::zstd);
  EXPECT_FALSE(plan.made.at(0).bytes.empty());
}

}  // namespace
}  // namespace gdelta::test
