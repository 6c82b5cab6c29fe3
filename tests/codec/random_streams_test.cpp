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

TEST(RandomStreams, AreTheSameInPortionsAndInParts) {
  for_random_seeds(200, [](std::uint64_t seed) {
    RandomStream made = random_stream(seed, 2000, 6);
    made.offsets.clear();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + made.what());
    const auto stream = compress_stream(made);
    ASSERT_TRUE(stream.has_value()) << stream.error().to_string();
    RandomDraws draws(~seed);
    const std::vector<std::size_t> portions{1 + draws.of_any_length(8),
                                            1 + draws.of_any_length(14)};
    made.options.threads = 1 + static_cast<int>(draws.below(3));
    const auto written = write_stream(made.values, made.options, portions);
    ASSERT_TRUE(written.has_value()) << written.error().to_string();
    EXPECT_TRUE(*written == *stream);
    EXPECT_TRUE(read_stream(source_of(*stream, portions)).value() == made.values);
    const std::uint64_t begin = draws.below(made.values.size() + 1);
    const std::uint64_t end = begin + draws.below(made.values.size() + 1 - begin);
    EXPECT_TRUE(decompress_range(*stream, begin, end, decode_on_cpu()).value() ==
                Bytes(made.values.begin() + static_cast<std::ptrdiff_t>(begin),
                      made.values.begin() + static_cast<std::ptrdiff_t>(end)));
    EXPECT_EQ(inspect(*stream).value().decoded_bytes, made.values.size());
    EXPECT_TRUE(salvage_stream(*stream).values == made.values);
  });
}

TEST(RandomStreams, ThatAreDamagedGiveAnErrorOrTheirValues) {
  for_random_seeds(200, [](std::uint64_t seed) {
    const RandomStream made = random_stream(seed, 600, 8);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + made.what());
    auto stream = compress_stream(made);
    ASSERT_TRUE(stream.has_value()) << stream.error().to_string();
    RandomDraws draws(~seed);
    for (int damage = 0; damage < 8; ++damage) {
      Bytes damaged = *stream;
      if (draws.one_in(4)) {
        damaged.resize(draws.below(damaged.size()));
      } else {
        for (std::uint64_t flips = 1 + draws.below(3); flips > 0; --flips)
          damaged[draws.below(damaged.size())] ^= static_cast<std::byte>(1 + draws.below(255));
      }
      const auto whole = decompress(damaged, decode_on_cpu());
      const auto read = read_stream(source_of(damaged, {7, 500}));
      ASSERT_EQ(whole.has_value(), read.has_value());
      if (whole) {
        EXPECT_TRUE(*whole == made.values && *read == made.values);
      } else {
        EXPECT_EQ(whole.error().to_string(), read.error().to_string());
      }
      (void)salvage_stream(damaged);
    }
  });
}

// Of many values a sample is not all.
TEST(RandomStreams, ThatAreLongComeBack) {
  for_random_seeds(20, [](std::uint64_t seed) {
    RandomStream made = random_stream(~seed, 40000, 7);
    made.options.chunk_bytes = 0;
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
