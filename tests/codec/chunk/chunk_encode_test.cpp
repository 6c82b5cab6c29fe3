// What encode_chunk makes of a plan: constant columns, and the frames of zstd.
#include <gtest/gtest.h>

#include "codec/chunk/decode_block.h"
#include "codec/coders/zstd_section.h"
#include "codec/plan/planned_values.h"
#include "formats/gdelta/chunk_block.h"
#include "stages/registry.h"

namespace gdelta::test {
namespace {

struct Encoded {
  Bytes block;
  std::vector<Coder> coders;  // of the columns
};

Encoded encode(const Bytes& values, const Layout& layout, const EncodeSettings& settings) {
  Encoded encoded;
  const ChunkPlan plan = plan_chunk(values, layout, false, settings);
  encoded.block = encode_chunk(values, layout, false, plan);
  const auto parsed = format::parse_chunk_block(encoded.block, 0, layout);
  EXPECT_TRUE(parsed);
  for (const auto& column : parsed->columns) encoded.coders.push_back(column.model.section.coder);
  return encoded;
}

void expect_round_trip(const Bytes& values, const Layout& layout, const Encoded& encoded,
                       const std::string& what) {
  Bytes out(values.size());
  EXPECT_FALSE(decode_block(encoded.block, 0, layout, out, true)) << what;
  EXPECT_TRUE(out == values) << what;
}

TEST(ChunkEncode, AColumnWithOneOtherValueComesBackUnderEveryCoder) {
  for (const char* record : {"u8", "i16", "i24:be", "f32x3", "i64", "i32,u8"}) {
    const Layout layout = layout_of(record);
    const auto record_bytes = static_cast<std::size_t>(layout.record_bytes());
    for (const std::size_t records : {2u, 3u, 129u, 1000u}) {
      for (const std::size_t other : {std::size_t{0}, records / 2, records - 1}) {
        for (const auto coder : coder_choices()) {
          Bytes values = make_values(layout, records, Pattern::equal);
          values[other * record_bytes] ^= std::byte{1};
          EncodeSettings settings = at_level(3);
          settings.coder = coder;
          const Encoded encoded = encode(values, layout, settings);
          const std::string what = std::string(record) + ", " + std::to_string(other) + " of " +
                                   std::to_string(records) + ", " +
                                   (coder ? std::string(coder_name(*coder)) : "any coder");
          EXPECT_NE(encoded.coders[0], Coder::constant) << what;
          expect_round_trip(values, layout, encoded, what);
        }
      }
    }
  }
}

TEST(ChunkEncode, AColumnOfEqualTuplesIsConstantAloneAndInARecord) {
  for (const char* record : {"i32x3", "u8", "f64,i32x3,u8"}) {
    const Layout layout = layout_of(record);
    const Bytes values = make_values(layout, 500, Pattern::equal);
    for (const int level : {1, 5, 9}) {
      const Encoded encoded = encode(values, layout, at_level(level));
      for (const Coder coder : encoded.coders) EXPECT_EQ(coder, Coder::constant) << record;
      expect_round_trip(values, layout, encoded, record);
    }
  }
  // Between columns that are not.
  const Layout layout = layout_of("i32,i16x2,u32");
  Bytes values;
  Draws draws(1);
  for (int i = 0; i < 1000; ++i) {
    put_value(values, static_cast<std::uint64_t>(draws.below(1 << 30)), 4, false);
    put_value(values, 0x12345678, 4, false);
    put_value(values, static_cast<std::uint64_t>(i), 4, false);
  }
  const Encoded encoded = encode(values, layout, at_level(5));
  EXPECT_NE(encoded.coders[0], Coder::constant);
  EXPECT_EQ(encoded.coders[1], Coder::constant);
  EXPECT_NE(encoded.coders[2], Coder::constant);
  expect_round_trip(values, layout, encoded, "constant between others");
}

/// Sentences of words, whose repetitions lie far apart.
Bytes sentences() {
  Draws draws(2);
  std::vector<std::string> words;
  for (int i = 0; i < 3000; ++i) {
    std::string word;
    for (std::int64_t letters = 3 + draws.below(6); letters > 0; --letters)
      word += static_cast<char>('a' + draws.below(26));
    words.push_back(word + ' ');
  }
  Bytes text;
  while (text.size() < 100'000) {
    const auto first = draws.below(2990);
    for (std::int64_t i = first; i < first + 1 + draws.below(6); ++i)
      for (const char c : words[static_cast<std::size_t>(i)])
        text.push_back(static_cast<std::byte>(c));
  }
  return text;
}

TEST(ChunkEncode, FramesAreSmallerAtHigherLevels) {
  const Bytes text = sentences();
  const auto size_at = [&](int level) {
    EncodeSettings settings = at_level(level);
    settings.coder = Coder::zstd;
    return encode(text, byte_layout(), settings).block.size();
  };
  const std::size_t fast = size_at(1), slow = size_at(7), slowest = size_at(9);
  EXPECT_LT(slow, fast * 97 / 100);
  EXPECT_LT(slowest, slow);
}

TEST(ChunkEncode, AFrameIsTheShortestOfThoseTried) {
  const Bytes text = sentences();
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  FrameEncoder frames;
  for (std::size_t at = 0; at + 10000 <= text.size(); at += 10000) {
    std::vector<std::byte> both, slow, fast;
    frames.encode({bytes + at, 10000}, {6, 1}, both);
    frames.encode({bytes + at, 10000}, {6}, slow);
    frames.encode({bytes + at, 10000}, {1}, fast);
    EXPECT_EQ(both.size(), std::min(slow.size(), fast.size())) << at;
  }
}

}  // namespace
}  // namespace gdelta::test
