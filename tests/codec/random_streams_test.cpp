// Whatever is compressed comes back: values, options and segments drawn from numbers. GDELTA_RANDOM_CASES asks for more
// of them, GDELTA_RANDOM_FIRST for others.
#include "codec/random_streams.h"

#include <gtest/gtest.h>

#include "codec/stream/stream_tools.h"

namespace gdelta::test {
namespace {

TEST(RandomStreams, ComeBack) {
  for_random_seeds(400, [](std::uint64_t seed) {
    const RandomStream made = random_stream(seed, 1000, 9);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + made.what());
    const auto stream = compress_stream(made);
    ASSERT_TRUE(stream.has_value()) << stream.error().to_string();
    const auto back = decompress(*stream, decode_on_cpu());
    ASSERT_TRUE(back.has_value()) << back.error().to_string();
    EXPECT_TRUE(*back == made.values);
    if (made.offsets.empty()) return;
    const auto segments = decompress_segments(*stream, decode_on_cpu());
    ASSERT_TRUE(segments.has_value()) << segments.error().to_string();
    EXPECT_EQ(segments->offsets, made.offsets);
    EXPECT_TRUE(segments->values == made.values);
  });
}

// Of many values a sample is not all.
TEST(RandomStreams, ThatAreLongComeBack) {
  for_random_seeds(20, [](std::uint64_t seed) {
    const RandomStream made = random_stream(~seed, 40000, 7);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + made.what());
    const auto stream = compress_stream(made);
    ASSERT_TRUE(stream.has_value()) << stream.error().to_string();
    const auto back = decompress(*stream, decode_on_cpu(2));
    ASSERT_TRUE(back.has_value()) << back.error().to_string();
    EXPECT_TRUE(*back == made.values);
  });
}

}  // namespace
}  // namespace gdelta::test
