// find_layout says what compress takes an input for, and how that is known.
#include "codec/stream/stream_tools.h"
#include "formats/foreign_samples.h"

namespace gdelta::test {
namespace {

/// Two lanes of 16-bit samples that wander apart.
Bytes wandering_pairs(std::size_t pairs) {
  std::mt19937 random(5);
  std::int16_t lanes[2] = {100, -9000};
  Bytes bytes;
  for (std::size_t i = 0; i < pairs; ++i)
    for (std::int16_t& lane : lanes) {
      lane = static_cast<std::int16_t>(lane + static_cast<int>(random() % 32) - 16);
      bytes.push_back(static_cast<std::byte>(lane & 0xff));
      bytes.push_back(static_cast<std::byte>(lane >> 8 & 0xff));
    }
  return bytes;
}

TEST(FindLayout, SaysWhatASampleTellsAndGivingItLeadsToTheSameChunks) {
  const Bytes values = wandering_pairs(20000);
  EncodeOptions options = encode_on_cpu();
  const auto found = find_layout(values, options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->origin, "found");
  EXPECT_EQ(to_string(found->layout), "i16x2");
  const auto searched = compress(values, options);
  options.layout = found->layout;
  const auto given = compress(values, options);
  const auto chunk_of = [](const Bytes& stream) {
    const ChunkInfo chunk = inspect(stream).value().chunks.at(0);
    const auto from = stream.begin() + static_cast<std::ptrdiff_t>(chunk.byte);
    return Bytes(from, from + static_cast<std::ptrdiff_t>(chunk.block_bytes));
  };
  EXPECT_EQ(chunk_of(*given), chunk_of(*searched));
}

TEST(FindLayout, SaysWhatTheHeadOfAFileSays) {
  const Bytes wav = format::wav_file({}, 4000).bytes();
  const auto found = find_layout(wav, encode_on_cpu());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->origin, "wav");
  EXPECT_EQ(to_string(found->layout), "i16x2");
}

TEST(FindLayout, SaysWhatWasGiven) {
  const auto found = find_layout(wandering_pairs(100), encode_on_cpu("f32,u8x4"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->origin, "given");
  EXPECT_EQ(to_string(found->layout), "f32,u8x4");
}

TEST(FindLayout, RefusesOptionsThatCannotBe) {
  EncodeOptions options = encode_on_cpu();
  options.level = 10;
  EXPECT_EQ(find_layout(wandering_pairs(100), options).error().code, Errc::invalid_argument);
  EXPECT_TRUE(find_layout({}, encode_on_cpu()));
}

}  // namespace
}  // namespace gdelta::test
