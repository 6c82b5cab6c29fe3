// Ragged streams that are cut, damaged, or ask for much memory.
#include <gtest/gtest.h>

#include "golden/golden_cases.h"
#include "golden/plain_encoder.h"
#include "segment_cases.h"

namespace gdelta::test {
namespace {

struct Whole {
  Segmentation segments{"", {0, 3, 0, 70, 1, 1, 200, 0, 0, 90, 0}};
  Bytes values;
  Bytes stream;

  explicit Whole(const char* record = "u16x2") {
    EncodeOptions options = encode_on_cpu(record);
    options.chunk_bytes = 400;
    values = rising_values(segments, *options.layout);
    stream = compress_segments(segments.offsets(), values, options).value();
  }
};

TEST(SegmentDamage, EveryTruncationIsNoticed) {
  const Whole whole;
  for (std::size_t bytes = 0; bytes < whole.stream.size(); ++bytes) {
    const auto cut = std::span(whole.stream).first(bytes);
    EXPECT_FALSE(decompress_segments(cut, decode_on_cpu())) << bytes;
    EXPECT_FALSE(decompress_segment_range(cut, 0, 11, decode_on_cpu())) << bytes;
  }
}

TEST(SegmentDamage, EveryFlippedBitIsNoticedOrDoesNotMatter) {
  const Whole whole;
  for (std::size_t bit = 0; bit < 8 * whole.stream.size(); ++bit) {
    Bytes stream = whole.stream;
    stream[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto segments = decompress_segments(stream, decode_on_cpu());
    const bool same = segments && segments->offsets == whole.segments.offsets() &&
                      segments->values == whole.values;
    EXPECT_TRUE(!segments || same) << bit;
    const bool is_ignored = bit >= 8 * 5 + 4 && bit < 8 * 6;
    EXPECT_EQ(segments.has_value(), is_ignored) << bit;
    const auto range = decompress_segment_range(stream, 6, 7, decode_on_cpu());
    EXPECT_TRUE(!range || range->offsets == (std::vector<std::uint64_t>{0, 200})) << bit;
  }
}

TEST(SegmentDamage, SalvageGoesOnBehindAChunkThatIsDamaged) {
  Whole whole;
  const auto info = inspect(whole.stream).value();
  ASSERT_GT(info.chunks.size(), 2u);
  const ChunkInfo& second = info.chunks[1];
  for (const std::uint64_t at : {second.byte + 3, second.byte + second.block_bytes - 2}) {
    Bytes stream = whole.stream;
    stream[at] ^= std::byte{1};
    const Salvaged salvaged = salvage_stream(stream);
    EXPECT_EQ(salvaged.report.chunks, info.chunks.size() - 1);
    EXPECT_EQ(salvaged.values.size(), whole.values.size() - second.decoded_bytes);
  }
}

TEST(SegmentDamage, LengthsCountAgainstTheMemoryLimit) {
  std::vector<std::uint64_t> lengths(1 << 22, 0);
  const Bytes stream = plain::StreamBuilder()
                           .layout(parse_record("u8").value())
                           .segments({}, {},
                                     {.lengths = lengths,
                                      .continues = false,
                                      .goes_on = false,
                                      .choice = plain::constant()})
                           .finish(false);
  EXPECT_LT(stream.size(), 100u);
  DecodeOptions options = decode_on_cpu();
  EXPECT_EQ(decompress_segments(stream, options)->offsets.size(), lengths.size() + 1);
  options.memory_limit = 16 << 20;
  EXPECT_EQ(decompress_segments(stream, options).error().code, Errc::memory_limit);
  EXPECT_EQ(decompress(stream, options).error().code, Errc::memory_limit);
}

TEST(SegmentDamage, AnotherStreamInTheMidstOfASegmentIsRefused) {
  const Whole whole;
  const auto info = inspect(whole.stream).value();
  const auto goes_on = std::find_if(info.chunks.begin(), info.chunks.end(),
                                    [](const ChunkInfo& chunk) { return chunk.goes_on; });
  ASSERT_NE(goes_on, info.chunks.end());
  // The block after it is taken away, and the index with it.
  const auto at = static_cast<std::ptrdiff_t>(goes_on->byte + goes_on->block_bytes);
  const auto next = at + static_cast<std::ptrdiff_t>((goes_on + 1)->block_bytes);
  Bytes stream(whole.stream.begin(), whole.stream.begin() + at);
  stream.insert(stream.end(), whole.stream.begin() + next, whole.stream.end());
  const auto got = decompress(stream, decode_on_cpu());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Errc::corrupt);
}

}  // namespace
}  // namespace gdelta::test
